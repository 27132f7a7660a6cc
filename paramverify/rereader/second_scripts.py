"""A second reading of SMT-LIB scripts: what their assertions say at a point, as fractions.

It shares no code with the first reader. It goes through the commands, keeps what is asserted at each
`(check-sat)`, and evaluates that at numbers and truth values for the constants. Quotients by zero and
quantifiers have no value here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise
from math import prod
from typing import Any

from ..kernel.evidence_polynomials import integer, number
from ..kernel.strict_reading import Rejected, UnreadCase, plain

MAX_STEPS = 1_000_000  # terms that are evaluated at one point
WORD = re.compile(r'(?:\s|;[^\n]*)*(?:([()])|(\|[^|\\]*\|)|("(?:[^"]|"")*")|([^\s()|";]+))')
PRINTS = (
    *("set-logic", "set-info", "set-option", "echo", "get-model", "get-value", "get-info", "get-option"),
    *("get-assignment", "get-assertions", "get-proof", "get-unsat-core", "get-unsat-assumptions"),
)
Tree = Any  # a word, or a list of trees
Value = Fraction | bool


@dataclass
class ScriptLevel:
    """What is known at a level: constants with their sorts, definitions, and assertions."""

    constants: dict[str, str] = field(default_factory=dict)
    defined: dict[str, tuple[list[str], Tree]] = field(default_factory=dict)
    asserted: list[Tree] = field(default_factory=list)

    def copy(self) -> ScriptLevel:
        """Returns a level that knows the same."""
        return ScriptLevel({**self.constants}, {**self.defined}, [*self.asserted])


def trees(text: str) -> Iterator[Tree]:
    """Yields what stands in no brackets."""
    stack: list[list[Tree]] = [[]]
    place, rest = 0, re.compile(r"(?:\s|;[^\n]*)*\Z")
    while not rest.match(text, place):
        found = WORD.match(text, place)
        if not found:
            raise UnreadCase("a character that SMT-LIB does not allow")
        place = found.end()
        bracket, quoted, string, word = found.groups()
        if bracket == "(":
            stack.append([])
        elif bracket:
            if len(stack) < 2:
                raise UnreadCase("brackets that do not match")
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(quoted[1:-1] if quoted and _simple(quoted[1:-1]) else quoted or string or word)
        if len(stack) == 1:
            yield from stack[0]
            stack[0].clear()
    if len(stack) > 1:
        raise UnreadCase("brackets that do not match")


def _simple(name: str) -> bool:
    simple = re.fullmatch(r"[A-Za-z~!@$%^&*_+=<>.?/-][A-Za-z0-9~!@$%^&*_+=<>.?/-]*", name)
    return bool(simple) and name not in ("!", "_", "as", "let", "exists", "forall", "match", "par")


def questions(text: str) -> list[ScriptLevel]:
    """Returns what is known at each `(check-sat)`.

    Raises:
        Unread: a command that is not known here.
    """
    levels, found = [ScriptLevel()], list[ScriptLevel]()
    for command in trees(text):
        if isinstance(command, str) or not command:
            raise UnreadCase("something that is not a command")
        name, *rest = command
        now = levels[-1]
        if name == "exit":
            break
        if name == "push":
            levels += [now.copy() for _ in range(int(rest[0]) if rest else 1)]
        elif name == "pop":
            del levels[len(levels) - (int(rest[0]) if rest else 1) :]
        elif name == "reset-assertions":
            levels = [ScriptLevel()]
        elif name in ("declare-const", "declare-fun"):
            now.constants[rest[0]] = rest[-1]
        elif name in ("define-fun", "define-const"):
            arguments = [argument[0] for argument in rest[1]] if name == "define-fun" else []
            now.defined[rest[0]] = (arguments, rest[-1])
        elif name == "assert":
            now.asserted.append(rest[0])
            now.defined |= {called: ([], tree) for called, tree in _named(rest[0])}
        elif name == "check-sat":
            found.append(now.copy())
        elif name not in PRINTS:
            raise UnreadCase(f"the command {name!s:.40}")
    return found


def _named(tree: Tree) -> Iterator[tuple[str, Tree]]:
    if isinstance(tree, str) or not tree or tree[0] in ("let", "forall", "exists"):
        return
    if tree[0] == "!":
        yield from ((name, tree[1]) for key, name in pairwise(tree) if key == ":named")
    for part in tree:
        yield from _named(part)


def truths(level: ScriptLevel, point: Mapping[str, Value]) -> list[bool]:
    """Returns whether each assertion is true at a point.

    Raises:
        Unread: one has no value there that is known here.
    """
    evaluation = _TermEvaluation(level, point)
    found = [evaluation.value(tree, {}) for tree in level.asserted]
    if not all(isinstance(value, bool) for value in found):
        raise UnreadCase("an assertion that is not a truth value")
    return [bool(value) for value in found]


class _TermEvaluation:
    def __init__(self, level: ScriptLevel, point: Mapping[str, Value]) -> None:
        self.level, self.point, self.steps = level, point, 0

    def value(self, tree: Tree, scope: Mapping[str, Value]) -> Value:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise UnreadCase("terms that are too large")
        if isinstance(tree, str):
            return self._word(tree, scope)
        head, *rest = tree
        if head == "let":
            inner = {name: self.value(part, scope) for name, part in rest[0]}
            return self.value(rest[1], {**scope, **inner})
        if head == "!":
            return self.value(rest[0], scope)
        if head in ("forall", "exists"):
            raise UnreadCase("a quantifier")
        values = [self.value(part, scope) for part in rest]
        if head in self.level.defined:
            names, body = self.level.defined[head]
            return self.value(body, dict(zip(names, values, strict=True)))
        if head not in MEANING:
            raise UnreadCase(f"the function {head!s:.40}")
        return MEANING[head](values)

    def _word(self, word: str, scope: Mapping[str, Value]) -> Value:
        if word in scope:
            return scope[word]
        if word in self.level.constants:
            if word not in self.point:
                raise UnreadCase(f"no value of {word:.40}")
            return self.point[word]
        if word in self.level.defined:
            return self.value(self.level.defined[word][1], {})
        if word in ("true", "false"):
            return word == "true"
        if re.fullmatch(r"[0-9]+(\.[0-9]+)?", word):
            whole, _, decimals = word.partition(".")
            return Fraction(integer(whole + decimals), 10 ** len(decimals))
        raise UnreadCase(f"the word {word:.40}")


def _over(values: Sequence[Any]) -> Fraction:
    found = values[0]
    for value in values[1:]:
        if value == 0:
            raise UnreadCase("a quotient by zero")
        found = found / value
    return Fraction(found)


def _power(values: Sequence[Any]) -> Fraction:
    base, exponent = values
    if exponent.denominator != 1 or not 1 <= exponent <= 1_000:
        raise UnreadCase("a power")
    return Fraction(base ** int(exponent))


def _implied(values: Sequence[Any]) -> bool:
    *before, last = values
    return last or not all(before)


MEANING: dict[str, Callable[[Sequence[Any]], Value]] = {
    "+": lambda v: Fraction(sum(v)),
    "*": lambda v: Fraction(prod(v)),
    "-": lambda v: v[0] - sum(v[1:]) if len(v) > 1 else -v[0],
    "/": _over,
    "^": _power,
    "<": lambda v: all(a < b for a, b in pairwise(v)),
    "<=": lambda v: all(a <= b for a, b in pairwise(v)),
    ">": lambda v: all(a > b for a, b in pairwise(v)),
    ">=": lambda v: all(a >= b for a, b in pairwise(v)),
    "=": lambda v: all(a == b for a, b in pairwise(v)),
    "distinct": lambda v: all(a != b for a, b in combinations(v, 2)),
    "and": all,
    "or": any,
    "not": lambda v: not v[0],
    "=>": _implied,
    "xor": lambda v: sum(v) % 2 == 1,
    "ite": lambda v: v[1] if v[0] else v[2],
}


def check_model(question: Mapping[str, Any], level: ScriptLevel) -> None:
    """Checks that all assertions are true at the model of a question.

    Raises:
        Rejected: one is not, or a constant has no value of its sort.
        Unread: what the assertions say there is not known here.
    """
    point: dict[str, Any] = {}
    for name, value in question["model"].items():
        if level.constants.get(name) != ("Bool" if isinstance(value, bool) else "Real"):
            raise Rejected(f"the script declares no such constant: {plain(name, 60)}")
        point[name] = value if isinstance(value, bool) else Fraction(number(value))
    if not all(truths(level, point)):
        raise Rejected("an assertion is false at the model")
