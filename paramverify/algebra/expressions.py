"""Expressions of case files.

Their trees, safe parsing, arrays of variables, defined names, and exact evaluation.

Arrays of variables in expressions: `person[3]`, `person[i-1]`, `sum(person)`, and what an index may be.

The entries of an array are variables of their own, with names such as `person[3]` and `cell[1, 2]`. They are
numbered from 1.

What is meant by a text that is no expression: other signs for the same thing, other ways to write numbers.

A proposal is made only if it is an expression, which the caller tries.

Safe parsing of the expressions in case files.

An expression is data. Its text is parsed with `ast` under a whitelist into a small tree of our own;
nothing is ever executed. Decimals are read from their text as exact rationals. Sizes, exponents and
nesting are bounded, and every mistake points at its place.
"""

from __future__ import annotations

import ast
import keyword
import operator
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import NamedTuple, TypeVar

from paramverify.errors import ExpressionError
from paramverify.spelling import nearest


@dataclass(frozen=True)
class RationalConstant:
    """An exact rational constant."""

    value: Fraction
    column: int


@dataclass(frozen=True)
class Name:
    """A parameter, a variable of the prior or a definition."""

    name: str
    column: int


@dataclass(frozen=True)
class Text:
    """A quoted label, for comparisons such as `disease == 'flu'`."""

    value: str
    column: int


@dataclass(frozen=True)
class Operation:
    """An operator or function applied to arguments; `neg`, `and`, `or`, `not` are operators too."""

    operator: str
    arguments: tuple[Node, ...]
    column: int


Node = RationalConstant | Name | Text | Operation
Value = Fraction | str | bool


@dataclass(frozen=True)
class Expression:
    """A parsed expression with the text it came from."""

    text: str
    root: Node

    def error(self, reason: str, node: Node) -> ExpressionError:
        """Returns an error that points at the node."""
        return ExpressionError(reason, self.text, node.column)

    def nodes(self) -> Iterator[Node]:
        """Yields every node of the tree, the root first."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            if isinstance(node, Operation):
                stack.extend(reversed(node.arguments))

    def names(self) -> dict[str, Node]:
        """Returns the names that occur, each with one of its places."""
        return {node.name: node for node in self.nodes() if isinstance(node, Name)}


INDICES = ("i", "j")
RUNNING = {"sum": "+", "any": "or", "all": "and", "min": "min", "max": "max"}  # what joins all entries

Index = tuple[int, ...]


class IndexMistake(Exception):
    """An index that is none, with the place in the text."""

    def __init__(self, reason: str, column: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.column = column


@dataclass(frozen=True)
class Arrays:
    """The arrays of a case with their sizes, and the numbers that `i` and `j` stand for, if any."""

    sizes: Mapping[str, Index] = field(default_factory=dict)
    at: Mapping[str, int] = field(default_factory=dict)

    def places(self, name: str) -> Iterator[Index]:
        """Yields the indices of an array in their order."""
        return product(*(range(1, size + 1) for size in self.sizes[name]))

    def here(self, name: str, column: int = 0) -> str:
        """Returns the entry of an array at the numbers of `i` and `j`.

        Raises:
            IndexMistake: the array is longer or shorter than the one that the numbers are for.
        """
        place = tuple(self.at[k] for k in INDICES if k in self.at)
        if not self.has(name, place):
            raise IndexMistake(f"{name} has no entry {list(place)}", column)
        return entry(name, place)

    def has(self, name: str, place: Index) -> bool:
        """Tells whether an array has an entry with this index."""
        sizes = self.sizes[name]
        return len(place) == len(sizes) and all(1 <= k <= n for k, n in zip(place, sizes, strict=True))

    def place(self, tree: ast.Subscript) -> Index:
        """Returns the index of `person[i-1]`, also where the array has no such entry.

        Raises:
            IndexMistake: it is no whole number, or not as many numbers as the array has.
        """
        assert isinstance(tree.value, ast.Name)
        parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
        sizes = self.sizes[tree.value.id]
        if len(parts) != len(sizes):
            told = "one index" if len(sizes) == 1 else f"{len(sizes)} indices"
            raise IndexMistake(f"{tree.value.id} needs {told}", tree.col_offset)
        return tuple(self._whole(part) for part in parts)

    def _whole(self, tree: ast.expr) -> int:
        if isinstance(tree, ast.Constant) and type(tree.value) is int:
            return tree.value
        if isinstance(tree, ast.Name) and tree.id in self.at:
            return self.at[tree.id]
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return -self._whole(tree.operand)
        if isinstance(tree, ast.BinOp):
            left, right = self._whole(tree.left), self._whole(tree.right)
            if isinstance(tree.op, (ast.Add, ast.Sub)):
                return left + right if isinstance(tree.op, ast.Add) else left - right
            if isinstance(tree.op, ast.Mult) and abs(left * right) < 10**9:
                return left * right
            if isinstance(tree.op, (ast.FloorDiv, ast.Mod)) and right > 0:
                return left // right if isinstance(tree.op, ast.FloorDiv) else left % right
        reason = "an index must be a whole number; allowed are i, j, + - * // and %"
        if isinstance(tree, ast.Name) and tree.id in INDICES:
            reason = f"{tree.id} has no value here"
        raise IndexMistake(reason, tree.col_offset)


def entry(name: str, place: Index) -> str:
    """Returns the name of an entry: `person[3]`, `cell[1, 2]`."""
    return f"{name}[{', '.join(map(str, place))}]"


def sizes_of(count: object) -> Index | None:
    """Returns the sizes that `count` gives; None where it is no whole number and no list of two."""
    listed = count if isinstance(count, list) else [count]
    sizes = [size for size in listed if isinstance(size, int) and not isinstance(size, bool) and size >= 1]
    return tuple(sizes) if len(sizes) == len(listed) and 1 <= len(listed) <= len(INDICES) else None


def arrays_in(prior: object) -> Arrays:
    """Returns the arrays that the data of `[prior]` describe; what is malformed is told where it is read."""
    tables = prior.items() if isinstance(prior, dict) else ()
    found = {
        str(name): sizes for name, t in tables if isinstance(t, dict) and (sizes := sizes_of(t.get("count")))
    }
    return Arrays(found)


def named_in(tree: ast.AST, arrays: Collection[str], bare: bool) -> list[str]:
    """Returns the arrays that an expression names with a running index, or, with `bare`, without any.

    What stands in `sum(...)` and the like runs by itself and is left out.
    """
    found: list[str] = []
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RUNNING:
            inner = [a for a in node.args if len(node.args) == 1]
            if inner and (named_in(inner[0], arrays, True)):
                continue
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            runs = any(isinstance(n, ast.Name) and n.id in INDICES for n in ast.walk(node.slice))
            if node.value.id in arrays and runs:
                found.append(node.value.id)
            continue
        if bare and isinstance(node, ast.Name) and node.id in arrays:
            found.append(node.id)
        pending.extend(reversed(list(ast.iter_child_nodes(node))))
    return list(dict.fromkeys(found))


_IN_REACH: ContextVar[Arrays | None] = ContextVar("arrays", default=None)


def in_reach() -> Arrays:
    """Returns the arrays of the case that is being read; none outside of `reaching`."""
    return _IN_REACH.get() or Arrays()


@contextmanager
def reaching(arrays: Arrays) -> Iterator[None]:
    """Lets the expressions that are parsed inside name the entries of arrays."""
    token = _IN_REACH.set(arrays)
    try:
        yield
    finally:
        _IN_REACH.reset(token)


def without_entries(names: Iterable[str]) -> list[str]:
    """Returns names in their order, with each array in the place of its entries."""
    return list(dict.fromkeys(name.partition("[")[0] for name in names))


def bound(place: Index) -> Mapping[str, int]:
    """Returns the numbers of `i` and `j` at an index."""
    return dict(zip(INDICES, place, strict=False))


@dataclass(frozen=True, eq=False)
class Named:
    """The expression that a name stands for, with no definition left in it; its nodes and its depth.

    `needs` are the definitions that were in it.
    """

    expression: Expression
    size: int
    depth: int
    needs: frozenset[str]

    @staticmethod
    def of(expression: Expression, needs: Iterable[str]) -> Named:
        """Measures an expression."""
        size = sum(1 for _ in expression.nodes())
        return Named(expression, size, _depth(expression.root), frozenset(needs))

    def at(self, column: int) -> Node:
        """Returns the tree, all of it at the place of the name that it stands for."""
        return _moved(self.expression.root, column)


def _depth(root: Node) -> int:
    depth, level = 0, [root]
    while level:
        depth += 1
        level = [a for node in level if isinstance(node, Operation) for a in node.arguments]
    return depth


def _moved(node: Node, column: int) -> Node:
    if isinstance(node, Operation):
        return Operation(node.operator, tuple(_moved(a, column) for a in node.arguments), column)
    return replace(node, column=column)


@dataclass(frozen=True, eq=False)
class Definitions:
    """What names stand for in one case; `below` are defined later, and `used` have been met."""

    named: Mapping[str, Named] = field(default_factory=dict)
    below: Collection[str] = ()
    used: set[str] = field(default_factory=set)

    def get(self, name: str) -> Named | None:
        """Returns what a name stands for, if anything."""
        found = self.named.get(name)
        if found is not None:
            self.used.update((name, *found.needs))
        return found

    def told(self, text: str) -> str:
        """Returns an expression with what the names in it stand for: `1/c (c = 1/4)`."""
        words = {word for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text) if word in self.named}
        words |= {other for word in words for other in self.named[word].needs}
        shown = ", ".join(f"{n} = {named.expression.text}" for n, named in self.named.items() if n in words)
        return f"{text} ({shown})" if shown else text


_IN_FORCE: ContextVar[Definitions | None] = ContextVar("definitions", default=None)


def in_force() -> Definitions:
    """Returns the definitions of the case that is being read; none outside of `defining`."""
    return _IN_FORCE.get() or Definitions()


@contextmanager
def defining(definitions: Definitions) -> Iterator[None]:
    """Puts definitions in force: for all that is parsed inside, and for nothing else."""
    token = _IN_FORCE.set(definitions)
    try:
        yield
    finally:
        _IN_FORCE.reset(token)


MAX_MENDED_LENGTH = 300  # characters of a text for which a mend is looked for

_QUOTED = re.compile(r"""('[^']*'|"[^"]*")""")
_NUMBER = r"(\d+(?:\.\d+)?)"
_ATOM = r"(?:\d+(?:\.\d+)?|[A-Za-z]\w*)"
_SIGNS = {
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "×": "*",
    "·": "*",
    "÷": "/",
    "−": "-",
    "–": "-",
    "∧": " and ",
    "∨": " or ",
    "¬": "not ",
    "“": "'",
    "”": "'",
    "‘": "'",
    "’": "'",
}
_RULES = tuple(
    (re.compile(pattern), other)
    for pattern, other in (
        (r"^\s*(?:epsilon|eps|ε|ratio)\s*==?\s*", ""),
        (r"(?<=[\d)])\s*(?=eps\b)", "*"),  # a parameter of this name is likely
        (r"(?<=[\d)])\s*\*?\s*(?:nats?|epsilon)\s*$", ""),
        (rf"^\s*{_NUMBER}\s*\*?\s*bits?\s*$", r"\1*ln(2)"),
        (r"\be\s*(?:\*\*|\^)\s*\(([^()]*)\)", r"exp(\1)"),
        (rf"\be\s*(?:\*\*|\^)\s*(-?\s*{_ATOM})", r"exp(\1)"),
        (r"<>", "!="),
        (r"=<", "<="),
        (r"=>", ">="),
        (r"===?", "=="),
        (r"(?<![<>=!])=(?![=<>])", "=="),
        (r"\s*&&?\s*", " and "),
        (r"\s*\|\|?\s*", " or "),
        (r"!(?!=)\s*", "not "),
        (r"\bAND\b|\bAnd\b", "and"),
        (r"\bOR\b|\bOr\b", "or"),
        (r"\bNOT\b|\bNot\b", "not"),
        (r"\bTrue\b|\bTRUE\b", "true"),
        (r"\bFalse\b|\bFALSE\b", "false"),
        (r"\bis not\b", "!="),
        (r"\bis\b", "=="),
        (r"\^", "**"),
        (r"\blog\s*(?=\()", "ln"),
        (rf"\b(exp|ln|abs)\s+({_ATOM}(?:/\d+)?)(?!\s*\()", r"\1(\2)"),
        (rf"\blog\s+({_ATOM})", r"ln(\1)"),
        (rf"^\s*{_NUMBER}\s*%\s*$", r"\1/100"),
        (rf"(?<![\w.]){_NUMBER}\s*%(?!\s*[\w.(])", r"(\1/100)"),  # before an operand it is a remainder
        (r"(?<![\w.,])(0(?=,)|\d+(?!,\d{3}(?!\d))),(\d+)(?![\w.,])", r"\1.\2"),  # not 1,000
        (r"(?<![\w.])(?!0[xXbBoO])(\d+(?:\.\d+)?)\s*(?=[A-Za-df-z(])(?!and\b|or\b|is\b)", r"\1*"),
        (r"\)\s*\(", ")*("),
        (r"\)\s*(?=[A-Za-z0-9])(?!and\b|or\b)", ")*"),
    )
)


def proposals(text: str) -> Iterator[str]:
    """Yields what may be meant, the least changes first; what stands in quotes stays."""
    if len(text) > MAX_MENDED_LENGTH:
        return
    plain = "".join(_SIGNS.get(sign, sign) for sign in text)
    if plain != text:
        yield " ".join(plain.split())
    for pattern, other in _RULES:
        changed = _outside_quotes(pattern, other, plain)
        if changed != plain:
            yield changed
    changed = plain
    for pattern, other in _RULES:
        changed = _outside_quotes(pattern, other, changed)
    if changed != plain:
        yield changed
    for bracket in ("(", ")"):
        if text.count("(") != text.count(")"):
            yield f"({text}" if bracket == "(" else f"{text})"


def _outside_quotes(pattern: re.Pattern[str], other: str, text: str) -> str:
    parts = _QUOTED.split(text)
    return "".join(part if k % 2 else pattern.sub(other, part) for k, part in enumerate(parts))


MAX_BITS = 100_000  # size of a number that evaluation may create
LISTED = 20  # known names that a message has

_ORDER: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def evaluate(expression: Expression, values: Mapping[str, Value] | None = None) -> Value:
    """Evaluates an expression exactly where every name has a value.

    Comparisons and connectives give booleans, which count as 0 and 1 in arithmetic. `exp` and `ln` have
    no rational value and are refused here.

    Raises:
        ExpressionError: an unknown name, a label in arithmetic, a division by zero, `exp` or `ln`.
    """
    try:
        return _Evaluation(expression, values or {}).value(expression.root)
    except RecursionError:
        raise ExpressionError("nested too deeply", expression.text, 0) from None


class _Evaluation:
    """Evaluates the nodes of one expression."""

    def __init__(self, expression: Expression, known: Mapping[str, Value]) -> None:
        self.expression = expression
        self.known = known

    def value(self, node: Node) -> Value:
        if isinstance(node, (RationalConstant, Text)):
            return node.value
        if isinstance(node, Name):
            if node.name not in self.known:
                raise unknown_name(self.expression, node, node.name, self.known)
            return self.known[node.name]
        found = self.truth(node)
        return self.arithmetic(node) if found is None else found

    def number(self, node: Node) -> Fraction:
        value = self.value(node)
        if isinstance(value, str):
            raise self.expression.error(f"the label {value!r} is not a number", node)
        return Fraction(value)

    def truth(self, node: Operation) -> bool | None:
        """Returns whether a comparison, or what a connective joins, is true; None of arithmetic."""
        op, args = node.operator, node.arguments
        if op in _ORDER:
            return _ORDER[op](self.number(args[0]), self.number(args[1]))
        if op in ("==", "!="):
            return (self.value(args[0]) == self.value(args[1])) == (op == "==")
        if op == "and":
            return all(self.number(a) != 0 for a in args)
        if op == "or":
            return any(self.number(a) != 0 for a in args)
        if op == "not":
            return self.number(args[0]) == 0
        return None

    def arithmetic(self, node: Operation) -> Fraction:
        op, args = node.operator, node.arguments
        if op == "+":
            total = Fraction(0)
            for argument in args:
                total = self.bounded(node, total + self.number(argument))
            return total
        if op == "*":
            result = Fraction(1)
            for argument in args:
                result = self.bounded(node, result * self.number(argument))
            return result
        if op == "neg":
            return -self.number(args[0])
        if op == "/":
            return self.quotient(node, args[0], args[1])
        if op == "**":
            return self.power(node, self.number(args[0]), int(self.number(args[1])))
        if op in ("min", "max"):
            return (min if op == "min" else max)(self.number(a) for a in args)
        if op == "abs":
            return abs(self.number(args[0]))
        if op in ("floor", "ceil"):
            return Fraction((floor if op == "floor" else ceil)(self.number(args[0])))
        if op == "mod":
            return self.remainder(args[0], args[1])
        if op == "if":
            return self.number(args[1] if self.number(args[0]) else args[2])
        raise self.expression.error(f"{op} is not allowed here, because its value is not rational", node)

    def quotient(self, node: Operation, dividend: Node, divisor: Node) -> Fraction:
        by = self.number(divisor)
        if by == 0:
            raise self.expression.error("division by zero", divisor)
        return self.bounded(node, self.number(dividend) / by)

    def remainder(self, dividend: Node, divisor: Node) -> Fraction:
        number, by = self.number(dividend), self.number(divisor)
        if number.denominator != 1 or by.denominator != 1:
            raise self.expression.error("mod requires whole numbers", dividend)
        if by <= 0:
            raise self.expression.error("the divisor of mod must be at least 1", divisor)
        return number % by

    def power(self, node: Operation, base: Fraction, exponent: int) -> Fraction:
        if base == 0 and exponent < 0:
            raise self.expression.error("division by zero", node)
        bits = max(abs(base.numerator), base.denominator).bit_length()
        if bits * abs(exponent) > MAX_BITS:
            raise self.expression.error("the value is too large", node)
        return base**exponent

    def bounded(self, node: Node, value: Fraction) -> Fraction:
        if max(abs(value.numerator), value.denominator).bit_length() > MAX_BITS:
            raise self.expression.error("the value is too large", node)
        return value


def unknown_name(expression: Expression, node: Node, name: str, known: Collection[str]) -> ExpressionError:
    """Returns the error for a name that is not known here, with the nearest one that is."""
    listed = without_entries(known)
    near = nearest(name, listed)
    mend = f"did you mean {near!r}?" if near else ""
    if not near:
        shown = ", ".join(sorted(listed)[:LISTED]) + (", ..." if len(listed) > LISTED else "")
        mend = f"known here: {shown}" if known else "no names are known here"
    if name in INDICES and any("[" in other for other in known):
        mend = f"{name} is the index of an array: use it inside an index, or choose another name"
    error = ExpressionError(f"unknown name {name!r}", expression.text, node.column, mend)
    error.unknown, error.known = name, frozenset(known)
    return error


T = TypeVar("T")

MAX_LENGTH = 20_000  # characters in one expression
MAX_DEPTH = 200  # nested brackets or operators other than chains of + and *
MAX_POWER = 10_000  # absolute value of an exponent
MAX_EXPONENT = 1_000  # absolute value of the exponent of a decimal
MAX_DIGITS = 2_000  # digits of one number
MAX_NODES = 20_000  # nodes that definitions bring into one expression

FUNCTIONS = {"exp": (1, 1), "ln": (1, 1), "abs": (1, 1), "min": (1, None), "max": (1, None)}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
WORDS = frozenset({"true", "false", "and", "or", "not"}) | FUNCTIONS.keys()

_QUOTED_OR_BLANK = re.compile(r"""('[^']*'|"[^"]*")|[\t\n]""")  # what is in quotes is kept as it is
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_EQUALS = {"=": "write == for equality", "=<": "write <=, not =<", "=>": "write >=, not =>"}


def parse(text: str, known: Mapping[str, Fraction] | None = None) -> Expression:
    """Parses an expression of the case format.

    Allowed are numbers, names, quoted labels, `+ - * / **`, comparisons, `and`, `or`, `not`, brackets,
    `true`, `false` and the functions exp, ln, abs, min, max; where the case has arrays also their entries
    and functions of all entries (`algebra.expressions`). A `known` name stands for its number, and one
    that the case defines (`defining`) for its expression.

    Raises:
        ExpressionError: anything else, with what to write instead where that is known; or a bound on size,
            nesting, digits or exponents is passed.
    """
    try:
        return _parse(text, known)
    except ExpressionError as error:
        mend = "" if error.reason.startswith("wrong arguments") else _mend(text, known)
        if not mend:
            raise
        sign = re.match(r"write (\S+)", error.reason)
        if sign and sign[1].rstrip(",") in mend:
            error.retell(f"{error.reason}: {mend}")
            error.mend = f"write {mend}"
        else:
            error.retell("syntax error" if sign else error.reason, f"write {mend}")
        raise


def _mend(text: str, known: Mapping[str, Fraction] | None) -> str:
    """Returns what may be meant by a text that is no expression, and is one."""
    for other in proposals(text):
        try:
            return _parse(other, known).text.strip()
        except ExpressionError:
            continue
    return ""


def _parse(text: str, known: Mapping[str, Fraction] | None = None) -> Expression:
    """Parses an expression, see `parse`, without a proposal."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression is longer than {MAX_LENGTH} characters", text[:70], 0)
    stray = re.search(r"[^\x20-\x7e\t\n]|#", text)
    if stray:
        raise ExpressionError(f"unexpected character {stray.group()!r}", text, stray.start())
    digits = re.search(rf"[\d_]{{{MAX_DIGITS + 1}}}", text)
    if digits:
        raise ExpressionError("a number has too many digits", text, digits.start())
    source = _QUOTED_OR_BLANK.sub(lambda match: match[1] or " ", text)
    indent = len(source) - len(source.lstrip())
    _bound_brackets(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python warns of, such as `1if`, is a syntax error here
            tree = ast.parse(source.strip(), mode="eval")
    except SyntaxError as error:
        if source.strip() == "":
            raise ExpressionError("empty expression", text, 0) from None
        # Python gives no offset for a text that ends too early.
        column = indent + (error.offset - 1 if error.offset else len(source.strip()))
        wrong = re.compile(r"(?<![<>=!])=(?!=)[<>]?").search(source, column)
        if wrong and (wrong.start() == column or "instead of '='" in error.msg):
            reason = _EQUALS[wrong.group()]
            raise ExpressionError(reason, text, wrong.start()) from None
        word = _reserved(source)
        if word:
            reason = f"{word.group()} is a reserved word: choose another name"
            raise ExpressionError(reason, text, word.start()) from None
        raise ExpressionError("syntax error", text, min(column, len(text))) from None
    except (RecursionError, MemoryError, ValueError, OverflowError):
        raise ExpressionError("the expression is nested too deeply, or has too many terms", text, 0) from None
    try:
        return Expression(text, _ExpressionReader(text, source, indent, known or {}).node(tree.body, 0))
    except RecursionError:
        raise ExpressionError("nested too deeply", text, 0) from None


def _bound_brackets(source: str) -> None:
    depth = 0
    for column, char in enumerate(source):
        depth += (char in "([{") - (char in ")]}")
        if depth > MAX_DEPTH:
            raise ExpressionError(f"brackets are nested deeper than {MAX_DEPTH}", source, column)


def _reserved(source: str) -> re.Match[str] | None:
    """Returns the first word of Python, outside of quotes, that expressions do not have as a name.

    In `a if b else c` no word is meant as a name.
    """
    words = re.finditer(r"""'[^']*'|"[^"]*"|[A-Za-z_]\w*""", source)
    found = [w for w in words if keyword.iskeyword(w.group()) and w.group() not in WORDS]
    return None if {"if", "else"} <= {w.group() for w in found} else next(iter(found), None)


class LoneNumber(NamedTuple):
    """A number that stands where a condition is meant, and why that is a mistake."""

    tree: ast.expr
    reason: str


def lone_number(tree: ast.BoolOp) -> LoneNumber | None:
    """Returns a number beside a comparison, such as 1 in `x == 0 or 1`, which Python takes as true."""
    compared = next((node for node in ast.walk(tree) if isinstance(node, ast.Compare)), None)
    number = next(filter(_is_number, tree.values), None)
    if compared is None or number is None:
        return None
    meant = ast.unparse(ast.Compare(compared.left, compared.ops[:1], [number]))
    value = (
        "true" if any(node.value for node in ast.walk(number) if isinstance(node, ast.Constant)) else "false"
    )
    reason = f"{ast.unparse(number)} alone is always {value}: did you mean {meant}?"
    return LoneNumber(number, reason)


def _is_number(tree: ast.expr) -> bool:
    """Tells whether a tree is made of numbers and signs alone."""
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.expr)]
    kinds = (ast.Constant, ast.UnaryOp, ast.BinOp)
    numbers = [n.value for n in nodes if isinstance(n, ast.Constant)]
    return all(isinstance(n, kinds) for n in nodes) and all(type(v) in (int, float) for v in numbers)


class _ExpressionReader:
    """Turns a Python syntax tree into ours and refuses whatever is not on the whitelist."""

    def __init__(self, text: str, source: str, indent: int, known: Mapping[str, Fraction]) -> None:
        self.text = text
        self.known = known
        self.source = source
        self.indent = indent
        self.defined = in_force()
        self.brought = 0  # nodes that definitions and arrays have brought so far
        self.arrays = in_reach()
        self.runs = False  # inside of a function that runs over all entries

    def refuse(self, reason: str, column: int) -> ExpressionError:
        return ExpressionError(reason, self.text, column)

    def node(self, tree: ast.expr, depth: int) -> Node:
        column = self.indent + tree.col_offset
        if depth > MAX_DEPTH:
            raise self.refuse(f"the expression is nested deeper than {MAX_DEPTH}", column)
        if isinstance(tree, ast.Constant):
            return self.constant(tree, column)
        if isinstance(tree, ast.Name):
            return self.name(tree.id, column, depth)
        if isinstance(tree, ast.Subscript):
            return self.entry(tree, column)
        if isinstance(tree, ast.UnaryOp):
            inner = self.node(tree.operand, depth + 1)
            if isinstance(tree.op, ast.UAdd):
                return inner
            if isinstance(tree.op, (ast.USub, ast.Not)):
                return Operation("neg" if isinstance(tree.op, ast.USub) else "not", (inner,), column)
        if isinstance(tree, ast.BinOp) and type(tree.op) in _BINARY:
            return self.chain(tree, depth)
        if isinstance(tree, ast.BoolOp):
            if lone := lone_number(tree):
                raise self.refuse(lone.reason, self.indent + lone.tree.col_offset)
            word = "and" if isinstance(tree.op, ast.And) else "or"
            return Operation(word, tuple(self.node(v, depth + 1) for v in tree.values), column)
        if isinstance(tree, ast.Compare):
            return self.comparison(tree, depth, column)
        if isinstance(tree, ast.Call):
            return self.call(tree, depth, column)
        if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitXor):
            raise self.refuse("write ** for a power, not ^", column)
        what = type(tree.op if isinstance(tree, (ast.BinOp, ast.UnaryOp)) else tree).__name__.lower()
        raise self.refuse(f"not allowed in an expression: {what}", column)

    def constant(self, tree: ast.Constant, column: int) -> Node:
        end = self.indent + (tree.end_col_offset or 0)
        if isinstance(tree.value, str):
            if self.source[column + 1 : end - 1] != tree.value:  # Python reads escapes; a label is itself
                raise self.refuse(
                    "write a label as it is, in one pair of quotes, without a backslash", column
                )
            return Text(tree.value, column)
        return RationalConstant(self.number(self.source[column:end], column), column)

    def number(self, digits: str, column: int) -> Fraction:
        try:
            return exact_decimal(digits)
        except ValueError as error:
            raise self.refuse(str(error), column) from None

    def name(self, name: str, column: int, depth: int) -> Node:
        if name in ("true", "false"):
            return RationalConstant(Fraction(name == "true"), column)
        if not NAME.match(name):
            raise self.refuse(
                f"{name!r} is not a name: use letters, digits and _, starting with a letter", column
            )
        if name in self.known:
            return RationalConstant(self.known[name], column)
        if name in self.arrays.sizes:
            return Name(self.whole_array(name, column), column)
        if name in self.defined.below:
            raise self.refuse(f"{name} is defined further below: move its line above this one", column)
        stands_for = self.defined.get(name)
        if stands_for is None:
            return Name(name, column)
        self.brought += stands_for.size
        if depth + stands_for.depth > MAX_DEPTH or self.brought > MAX_NODES:
            raise self.refuse(
                f"the expression is too long or nested too deeply after {name} is expanded", column
            )
        return stands_for.at(column)

    def entry(self, tree: ast.Subscript, column: int) -> Node:
        """Reads an entry of an array, such as `person[3]`."""
        name = tree.value.id if isinstance(tree.value, ast.Name) else ""
        if name not in self.arrays.sizes:
            mistake = self.refuse(self.no_entry(name), column)
            mistake.unknown = name
            raise mistake
        place = self.indexed(lambda: self.arrays.place(tree))
        if not self.arrays.has(name, place):
            sizes = " and ".join(f"1 to {n}" for n in self.arrays.sizes[name])
            raise self.refuse(f"there is no {entry(name, place)}: its indices are {sizes}", column)
        return Name(entry(name, place), column)

    def no_entry(self, name: str) -> str:
        """Returns what is wrong with `persn[3]`, which is no entry of an array."""
        if not name or not self.arrays.sizes:
            return "not allowed in an expression: subscript"
        near = nearest(name, self.arrays.sizes)
        known = f"did you mean {near}?" if near else f"its arrays are {', '.join(self.arrays.sizes)}"
        return f"{name} is not an array of the prior: {known}"

    def whole_array(self, name: str, column: int) -> str:
        """Returns the entry that the name of an array means where an index runs."""
        if not self.runs:
            raise self.refuse(f"{name} is an array: write {name}[1] for an entry, or sum({name})", column)
        return self.indexed(lambda: self.arrays.here(name, column))

    def indexed(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except IndexMistake as mistake:
            raise self.refuse(mistake.reason, self.indent + mistake.column) from None

    def running(self, tree: ast.Call, over: str, depth: int, column: int) -> Node:
        """Reads `sum(person == 1)` and the like: one operation on the values at all indices."""
        outer, runs = self.arrays, self.runs
        name = tree.func.id if isinstance(tree.func, ast.Name) else ""
        parts: list[Node] = []
        self.runs = True
        for place in outer.places(over):
            self.arrays = Arrays(outer.sizes, bound(place))
            parts.append(self.node(tree.args[0], depth + 1))
            self.brought += sum(1 for _ in Expression(self.text, parts[-1]).nodes())
            if self.brought > MAX_NODES:
                raise self.refuse(f"the expression is too long with all entries of {over}", column)
        self.arrays, self.runs = outer, runs
        return parts[0] if len(parts) == 1 else Operation(RUNNING[name], tuple(parts), column)

    def no_array(self, function: str, tree: ast.Call) -> str:
        """Returns what is wrong with `sum(persons)`: it names no array, or no running index."""
        one = next(iter(self.arrays.sizes))
        names = dict.fromkeys(n.id for t in tree.args for n in ast.walk(t) if isinstance(n, ast.Name))
        unknown = [name for name in names if name not in self.arrays.sizes]
        near = next((found for name in unknown if (found := nearest(name, self.arrays.sizes))), None)
        if near:
            return f"{function} needs an array of the prior: did you mean {near}?"
        return f"{function} takes one expression that names an array, such as {function}({one})"

    def chain(self, tree: ast.BinOp, depth: int) -> Node:
        """Reads a left-nested chain such as a + b - c into one flat sum or product, without recursion."""
        links: list[ast.BinOp] = []
        left: ast.expr = tree
        while isinstance(left, ast.BinOp) and type(left.op) in _BINARY:
            links.append(left)
            left = left.left
        first = self.node(left, depth + 1)
        word, terms = "", [first]
        nested = 0
        for link in reversed(links):
            op = _BINARY[type(link.op)]
            right = self.node(link.right, depth + 1)
            if op == "**":
                self.exponent(right)
            if op == "-":
                op, right = "+", Operation("neg", (right,), right.column)
            if op == word and op in ("+", "*"):
                terms.append(right)
                continue
            if word:
                terms = [Operation(word, tuple(terms), first.column)]
                nested += 1
                if nested + depth > MAX_DEPTH:
                    raise self.refuse(f"the expression is nested deeper than {MAX_DEPTH}", right.column)
            word = op
            terms.append(right)
        return Operation(word, tuple(terms), first.column)

    def exponent(self, node: Node) -> None:
        exponent = Expression(self.text, node)
        value = "" if exponent.names() else evaluate(exponent)
        if not isinstance(value, Fraction) or value.denominator != 1:
            raise self.refuse("an exponent must be a whole number", node.column)
        if abs(value) > MAX_POWER:
            raise self.refuse(f"an exponent must be at most {MAX_POWER:,}", node.column)

    def comparison(self, tree: ast.Compare, depth: int, column: int) -> Node:
        operands = [self.node(t, depth + 1) for t in (tree.left, *tree.comparators)]
        parts: list[Node] = []
        for op, left, right in zip(tree.ops, operands, operands[1:], strict=False):
            if type(op) not in _COMPARE:
                raise self.refuse("this comparison is not allowed: use <, <=, >, >=, == or !=", column)
            parts.append(Operation(_COMPARE[type(op)], (left, right), left.column))
        return parts[0] if len(parts) == 1 else Operation("and", tuple(parts), column)

    def call(self, tree: ast.Call, depth: int, column: int) -> Node:
        name = tree.func.id if isinstance(tree.func, ast.Name) else ""
        over = named_in(tree.args[0], self.arrays.sizes, bare=True) if len(tree.args) == 1 else []
        if name in RUNNING and over and not tree.keywords:
            return self.running(tree, over[0], depth, column)
        if name in RUNNING and name not in FUNCTIONS and self.arrays.sizes:
            raise self.refuse(self.no_array(name, tree), column)
        if name not in FUNCTIONS:
            known = ", ".join(FUNCTIONS)
            mistake = self.refuse(f"not a function of the case format (these are: {known})", column)
            if name in RUNNING and len(tree.args) == 1 and isinstance(tree.args[0], ast.Name):
                mistake.unknown = tree.args[0].id  # an array that could not be read
            raise mistake
        least, most = FUNCTIONS[name]
        count = len(tree.args)
        if tree.keywords or count < least or (most is not None and count > most):
            many = str(least) if most == least else f"{least} to {most}" if most else f"at least {least}"
            raise self.refuse(
                f"{name} takes {many} argument{'s' * (not many.endswith('1'))}, without names", column
            )
        return Operation(name, tuple(self.node(a, depth + 1) for a in tree.args), column)


def exact_decimal(digits: str) -> Fraction:
    """Returns the exact value of a decimal written as text, such as `0.1` or `12e-3`.

    Raises:
        ValueError: not a plain decimal, or larger than the bounds of this module.
    """
    match = re.fullmatch(r"[+-]?(?=\d|\.\d)[\d_]*(?:\.[\d_]*)?(?:[eE]([+-]?\d{1,6}))?", digits.strip())
    if not match:
        raise ValueError(f"not a decimal number: {digits[:40]}")
    if len(digits) > MAX_DIGITS or abs(int(match.group(1) or 0)) > MAX_EXPONENT:
        raise ValueError("a number has too many digits, or too large an exponent")
    return Fraction(digits.replace("_", ""))


def constant(text: str) -> Fraction:
    """Returns the value of an expression without names, such as `1/10` or `0.4`."""
    expression = parse(text)
    value = evaluate(expression)
    if isinstance(value, (str, bool)):
        raise expression.error("a number is needed here", expression.root)
    return value
