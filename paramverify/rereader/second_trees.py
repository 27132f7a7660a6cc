"""Expressions and statements on the trees of Python's own parser: what all languages of cases have in common.

Nothing is executed: expressions of a case, conditions over two inputs, programs, and programs over a stream
are evaluated here, node by node. Numbers are fractions with the digits that are written, truth is `bool`.
Each language says in a subclass what its names, calls and comparisons mean.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from itertools import repeat
from typing import TypeVar

from ..kernel.strict_reading import UnreadCase
from .second_values import MAX_SIZE, Entry, calculated, number, plain, whole

Tree = TypeVar("Tree", bound=ast.AST)

MAX_TURNS = 2_000  # of one loop
BUILT_IN = ("len", "sum", "min", "max", "abs", "clamp", "range")
SIGNS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
NOT = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
RELATIONS: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@lru_cache(maxsize=10_000)
def expression(text: str) -> ast.expr:
    """Returns the tree of an expression, whose numbers are fractions.

    Raises:
        ValueError: it is none, or it has a label that is not written as it is.
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, MemoryError, RecursionError):
        raise ValueError(f"{text!r:.60} is not an expression") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            written = str(ast.get_source_segment(text, node))
            if written[1:-1] != node.value:
                raise ValueError(f"the label {written:.60} is not written as it is")
    return _exact(tree, text)


def statements(text: str) -> list[ast.stmt]:
    """Returns the statements of a program, in which numbers are fractions.

    Raises:
        UnreadCase: it is none.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise UnreadCase("the text is not a program") from None
    return _exact(tree, text).body


def stream_loop(body: Sequence[ast.stmt]) -> tuple[str, ast.For, ast.expr] | None:
    """Returns the loop over a stream at the end of a program: the name of its entry, it, and the values."""
    match body[-1:]:
        case [ast.For(ast.Name(entry), ast.Call(ast.Name("stream"), [], [word])) as loop]:
            return (entry, loop, word.value) if word.arg == "values" else None
    return None


def _exact(tree: Tree, text: str) -> Tree:
    """Puts in the place of each number in a tree the fraction that is written there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and not isinstance(node.value, (bool, str)):
            if not isinstance(node.value, (int, float)):
                raise UnreadCase(f"line {node.lineno} has a constant of another kind")
            written = str(node.value)
            if isinstance(node.value, float):
                written = str(ast.get_source_segment(text, node)).replace("_", "")
            node.value = Fraction(written)  # type: ignore[assignment]
    return tree


class Evaluator:
    """Evaluates expressions; a subclass says what names, calls and comparisons are."""

    chooses = False  # whether `a or b` is one of both, as in Python, and not a truth

    def name(self, name: str) -> Entry:
        """Returns what a name means."""
        raise UnreadCase(f"the name {name:.40}")

    def of(self, tree: ast.expr) -> Entry:
        """Returns the value of an expression."""
        match tree:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                return self.name(name)
            case ast.List(items) | ast.Tuple(items):
                return [self.of(item) for item in items]
            case ast.BinOp(left, word, right):
                first = self.of(left)
                return self.calculated(type(word).__name__, first, self.of(right))
            case ast.UnaryOp(ast.Not(), operand):
                return not self.true(operand)
            case ast.UnaryOp(ast.UAdd() | ast.USub() as word, operand):
                sign = "Sub" if isinstance(word, ast.USub) else "Add"
                return self.calculated(sign, Fraction(0), self.of(operand))
            case ast.BoolOp(word, [first, *others]):
                found = self.of(first)
                for other in others:
                    if self.truth(found) is isinstance(word, ast.Or):
                        break
                    found = self.of(other)
                return found if self.chooses else self.truth(found)
            case ast.Compare(left, words, others):
                return self.chain(self.of(left), words, others)
            case ast.IfExp(test, then, otherwise):
                return self.of(then if self.true(test) else otherwise)
            case ast.Subscript(base, ast.Slice(low, high, None)):
                entries = listed(self.of(base))
                ends = [None if end is None else self.index(end) for end in (low, high)]
                return entries[ends[0] : ends[1]]
            case ast.Subscript(base, where):
                return listed(self.of(base))[self.index(where)]
            case ast.Call(ast.Name(name), arguments, []):
                return self.call(name, arguments)
        raise UnreadCase(f"line {tree.lineno} has {type(tree).__name__}")

    def calculated(self, word: str, left: Entry, right: Entry) -> Entry:
        """Returns `left word right`, where the word is the name of a class of `ast`."""
        return calculated(word, left, right)

    def true(self, tree: ast.expr) -> bool:
        """Tells whether a condition is true."""
        return self.truth(self.of(tree))

    def truth(self, value: Entry) -> bool:
        """Tells whether a value counts as true."""
        return plain(value) != 0

    def index(self, where: ast.expr) -> int:
        """Returns the number of an entry."""
        return whole(self.of(where))

    def chain(self, left: Entry, words: Sequence[ast.cmpop], others: Sequence[ast.expr]) -> bool:
        """Compares as Python does: each operand is evaluated once, and only where those before hold."""
        for word, other in zip(words, others, strict=True):
            right = self.of(other)
            if isinstance(word, (ast.In, ast.NotIn)):
                found = any(self.compared("==", left, entry) for entry in listed(right))
                holds = found == isinstance(word, ast.In)
            elif type(word) in SIGNS:
                holds = self.compared(SIGNS[type(word)], left, right)
            else:
                raise UnreadCase(f"a comparison with {type(word).__name__}")
            if not holds:
                return False
            left = right
        return True

    def compared(self, word: str, left: Entry, right: Entry) -> bool:
        """Compares two values."""
        if isinstance(left, list) and isinstance(right, list) and word in ("==", "!="):
            same = len(left) == len(right) and all(map(self.compared, repeat("=="), left, right))
            return same == (word == "==")
        if isinstance(left, (str, list)) or isinstance(right, (str, list)):
            if word not in ("==", "!="):
                raise UnreadCase("an order of labels or lists")
            return (type(left) is type(right) and left == right) == (word == "==")
        one, other = number(left), number(right)
        if not (isinstance(one, Fraction) and isinstance(other, Fraction)):
            one, other = plain(calculated("Sub", one, other)), Fraction(0)
        return RELATIONS[word](one, other)

    def call(self, name: str, arguments: Sequence[ast.expr]) -> Entry:
        """Returns the value of a function of expressions."""
        return self.applied(name, [self.of(argument) for argument in arguments])

    def applied(self, name: str, given: Sequence[Entry]) -> Entry:
        """Returns the value of a function of values."""
        match name, given:
            case "len", [values]:
                return Fraction(len(listed(values)))
            case "sum", [values]:
                total: Entry = Fraction(0)
                for value in listed(values):
                    total = self.calculated("Add", total, value)
                return total
            case "min" | "max", [_, *_]:
                best, *others = listed(given[0]) if len(given) == 1 else given
                for value in others:
                    if not self.compared(">=" if name == "max" else "<=", best, value):
                        best = value
                return best
            case "abs", [value]:
                sign = Fraction(1 if self.compared(">=", value, Fraction(0)) else -1)
                return self.calculated("Mult", sign, value)
            case "clamp", [_, _, _]:
                value, low, high = map(number, given)
                if not self.compared("<=", low, high):
                    raise ValueError("clamp needs lo <= hi")
                if self.compared("<=", value, low):
                    return low
                return high if self.compared(">=", value, high) else value
            case "range", [_, *_]:
                numbers = range(*map(whole, given))
                if len(numbers) > MAX_SIZE:
                    raise UnreadCase("a range that is too long")
                return [Fraction(k) for k in numbers]
        raise UnreadCase(f"the function {name!r:.40}")


def listed(value: Entry) -> list[Entry]:
    """Returns a list, and nothing else."""
    if not isinstance(value, list):
        raise UnreadCase("a list is needed")
    return value


# --- statements -------------------------------------------------------------------------------------


class Stop(Exception):
    """The run is over."""


class Leave(Exception):
    """The inner loop is over."""


class GoOn(Exception):
    """The inner loop goes on."""


class Interpreter(Evaluator):
    """Runs statements; a subclass says what it means to store something, and to put something out."""

    chooses = True

    def count(self) -> None:
        """Counts a step, and raises UnreadCase after too many."""
        raise NotImplementedError

    def tell(self, value: Entry) -> None:
        """Puts a value out."""
        raise NotImplementedError

    def store(self, target: ast.expr, value: Entry) -> None:
        """Gives a variable or an entry of a list its value."""
        raise NotImplementedError

    def returned(self, value: Entry | None) -> None:
        """Ends the run, perhaps with an output."""
        if value is not None:
            self.tell(value)
        raise Stop

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Runs statements one after the other."""
        for statement in body:
            self.statement(statement)

    def statement(self, tree: ast.stmt) -> None:
        """Runs a statement."""
        self.count()
        match tree:
            case ast.Expr(ast.Call(ast.Name("output"), [value])):
                self.tell(self.of(value))
            case ast.Expr(ast.Name("stop") | ast.Call(ast.Name("stop"))):
                raise Stop
            case ast.Expr(ast.Constant()) | ast.Pass():
                pass
            case ast.Assign([target], value):
                self.assign(target, self.of(value))
            case ast.AugAssign(target, word, value):
                self.augment(target, type(word).__name__, value)
            case ast.If(test, then, otherwise):
                self.block(then if self.true(test) else otherwise)
            case ast.For(target, values, body):
                with suppress(Leave):
                    for value in listed(self.of(values)):
                        self.assign(target, value)
                        with suppress(GoOn):
                            self.block(body)
            case ast.While(test, body):
                with suppress(Leave):
                    turns = 0
                    while self.true(test):
                        turns += 1
                        if turns > MAX_TURNS:
                            raise UnreadCase(f"a loop of more than {MAX_TURNS:,} turns")
                        with suppress(GoOn):
                            self.block(body)
            case ast.Return(value):
                self.returned(None if value is None else self.of(value))
            case ast.Break():
                raise Leave
            case ast.Continue():
                raise GoOn
            case _:
                raise UnreadCase(f"line {tree.lineno} has {type(tree).__name__}")

    def assign(self, target: ast.expr, value: Entry) -> None:
        """Assigns a value, or the entries of a list to several targets."""
        if not isinstance(target, (ast.Tuple, ast.List)):
            self.store(target, value)
            return
        values = list(listed(value))
        if len(values) != len(target.elts):
            raise ValueError("the numbers of names and values differ")
        for each, entry in zip(target.elts, values, strict=True):
            self.assign(each, entry)

    def augment(self, target: ast.expr, word: str, value: ast.expr) -> None:
        """Changes a variable or an entry, as `target += value` does."""
        before = self.of(target)
        self.store(target, self.calculated(word, before, self.of(value)))
