"""Terms of SMT-LIB scripts about real numbers: read with their sorts, and what they are built of.

A `Term` is a tree that shares what `let` and `define-fun` name. Quotients stay quotients: in SMT-LIB `t/0` is
a number of which nothing is known, so whoever meets one has to ask what its denominator is. The theory is
that of the reals, [Barrett17]; `(^ t n)` with a whole number n is taken, too, as Z3 and cvc5 do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TypeVar

from flint import fmpz

from paramverify.algebra.polynomials import fraction
from paramverify.errors import InputError, LimitError
from paramverify.formats import sexpressions

NUMBER = re.compile(r"(0|[1-9][0-9]*|0[0-9]+)(?:\.([0-9]+))?\Z")
MAX_DIGITS = 100_000
MAX_POWER = 1_000
MAX_NESTING = 150  # terms inside each other, those of definitions included
MAX_READ = 1_000_000  # terms that are read, those of definitions as often as they are called
WHOLE = ("div", "mod", "abs", "to_int", "is_int", "to_real", "divisible")
ORDER = {"<": ("<", False), "<=": ("<=", False), ">": ("<", True), ">=": ("<=", True)}


@dataclass(frozen=True, eq=False)
class Term:
    """A term: real operators `number real + * / ite`, and those of truth values.

    `number` and `real` have a value, the number or the name; `bool` a name; `forall` and `exists` the names
    that they bind, which no other term has. `<`, `<=` and `=` compare two reals, `iff` two truth values.
    """

    operator: str
    parts: tuple[Term, ...] = ()
    value: Fraction | str | tuple[str, ...] | None = None

    @property
    def is_real(self) -> bool:
        """Whether it is a real number, and no truth value."""
        return self.operator in ("number", "real", "+", "*", "/", "ite")


Sorts = tuple[bool, ...]  # of arguments: True for Real, False for Bool


@dataclass(frozen=True, eq=False)
class Definition:
    """What `define-fun` says of a name: parameters with their sorts, the sort of its value, and its text.

    Without parameters it is a term already.
    """

    names: tuple[str, ...]
    sorts: Sorts
    is_real: bool
    body: sexpressions.Term
    known: Term | None = None


TRUE, FALSE = Term("true"), Term("false")


def number(value: Fraction | int) -> Term:
    """Returns a number as a term."""
    return Term("number", (), Fraction(value))


def negated(term: Term) -> Term:
    """Returns `not term`."""
    return term.parts[0] if term.operator == "not" else Term("not", (term,))


Node = TypeVar("Node", bound=Hashable)
Value = TypeVar("Value")


def folded(
    root: Node, below: Callable[[Node], Iterable[Node]], make: Callable[[Node, Sequence[Value]], Value]
) -> Value:
    """Returns `make(node, values of what is below it)` of the root; each node is made once, by a loop."""
    known: dict[Node, Value] = {}
    waiting: list[tuple[Node, list[Node] | None]] = [(root, None)]
    while waiting:
        node, parts = waiting.pop()
        if node in known:
            continue
        if parts is None:
            parts = list(below(node))
            waiting.append((node, parts))
            waiting += [(part, None) for part in parts]
        else:
            known[node] = make(node, [known[part] for part in parts])
    return known[root]


class Reader:
    """Reads terms over declared symbols; `symbols` has them as terms, `definitions` what is defined."""

    def __init__(self) -> None:
        self.symbols: dict[str, Term] = {}
        self.definitions: dict[str, Definition] = {}
        self.bound = 0  # variables of quantifiers so far
        self.read = 0  # terms so far

    def term(self, words: sexpressions.Term, scope: Mapping[str, Term], depth: int = 0) -> Term:
        """Returns a term in a scope of names that `let`, quantifiers and definitions bind.

        Raises:
            InputError: it is no term, or one about something else than reals and truth values.
            LimitError: it is nested too deeply, or has too many digits.
        """
        while isinstance(words, list) and words[:1] == ["let"]:  # chains of them may be long
            if len(words) != 3 or not isinstance(words[1], list):
                raise InputError("(let ((name term) ...) term) is meant here")
            new = {_name(b): self.term(_pair(b)[1], scope, depth + 1) for b in words[1]}
            if len(new) < len(words[1]):
                raise InputError("let gives two terms one name")
            scope, words = {**scope, **new}, words[2]
        self.read += 1
        if self.read > MAX_READ:
            raise LimitError(f"more than {MAX_READ:,} terms")
        if depth > MAX_NESTING:
            raise LimitError(f"more than {MAX_NESTING} terms inside each other")
        if isinstance(words, str):
            return self._word(words, scope, depth)
        if not words:
            raise InputError("empty brackets are no term")
        head, *rest = words
        if head == "!":
            return self.term(rest[0] if rest else [], scope, depth + 1)
        if head in ("forall", "exists"):
            return self._quantified(str(head), rest, scope, depth)
        if not isinstance(head, str):
            raise InputError(f"a function is meant here, not {_shown(head)}")
        arguments = [self.term(part, scope, depth + 1) for part in rest]
        if head in self.definitions:
            return self._called(head, arguments, depth)
        if head in OPERATORS:
            return OPERATORS[head](arguments)
        if head in WHOLE:
            raise InputError(f"{head} is about whole numbers: only reals are taken")
        raise InputError(f"{head} is no function of reals and truth values that is known")

    def _word(self, word: str, scope: Mapping[str, Term], depth: int) -> Term:
        known = scope.get(word) or self.symbols.get(word)
        if known is not None:
            return known
        if word in self.definitions:
            return self._called(word, [], depth)
        if word in ("true", "false"):
            return TRUE if word == "true" else FALSE
        match = NUMBER.match(word)
        if match:
            return number(decimal(word))
        mend = f"write (- {word[1:]})" if NUMBER.match(word[1:]) and word[0] == "-" else ""
        raise InputError(f"{_shown(word)} is not declared", mend=mend)

    def _called(self, name: str, arguments: Sequence[Term], depth: int) -> Term:
        known = self.definitions[name]
        if known.known is not None and not arguments:
            return known.known
        if tuple(a.is_real for a in arguments) != known.sorts:
            raise InputError(f"{name} is called with other arguments than it is defined for")
        found = self.term(known.body, dict(zip(known.names, arguments, strict=True)), depth + 1)
        if found.is_real != known.is_real:
            raise InputError(f"{name} has another sort than it says")
        return found

    def _quantified(
        self, kind: str, rest: Sequence[sexpressions.Term], scope: Mapping[str, Term], depth: int
    ) -> Term:
        if len(rest) != 2 or not isinstance(rest[0], list) or not rest[0]:
            raise InputError(f"({kind} ((name Real) ...) term) is meant here")
        new: dict[str, Term] = {}
        for entry in rest[0]:
            name, sort = _name(entry), _pair(entry)[1]
            if not is_real_sort(sort):
                raise InputError(f"quantifiers over {_shown(sort)} are not taken: only over reals")
            self.bound += 1
            new[name] = Term("real", (), f"{name} ({self.bound})")  # no symbol is written like this
        body = self.term(rest[1], {**scope, **new}, depth + 1)
        return Term(kind, (_truth(body),), tuple(str(v.value) for v in new.values()))


def is_real_sort(sort: sexpressions.Term) -> bool:
    """Tells whether a sort is Real rather than Bool.

    Raises:
        InputError: it is neither.
    """
    if sort not in ("Real", "Bool"):
        whole = sort == "Int"
        raise InputError(
            f"the sort {_shown(sort)} is not taken"
            + (": whole numbers are another theory than the reals" if whole else ": only Real and Bool are")
        )
    return sort == "Real"


def decimal(word: str) -> Fraction:
    """Returns the number that a numeral or decimal is, exactly.

    Raises:
        LimitError: too many digits.
    """
    whole, _, decimals = word.partition(".")
    if len(word) > MAX_DIGITS:
        raise LimitError(f"a number has more than {MAX_DIGITS:,} digits")
    return fraction(fmpz(whole + decimals)) / Fraction(10) ** len(decimals)


def _pair(words: sexpressions.Term) -> list[sexpressions.Term]:
    if isinstance(words, str) or len(words) != 2:
        raise InputError(f"a name and one thing more are meant, not {_shown(words)}")
    return words


def _name(words: sexpressions.Term) -> str:
    name = _pair(words)[0]
    if not isinstance(name, str):
        raise InputError(f"{_shown(name)} is no name")
    return name


def _shown(words: sexpressions.Term) -> str:
    text = words if isinstance(words, str) else f"({' '.join(_shown(w) for w in words[:4])})"
    return text if len(text) <= 60 else f"{text[:60]}..."


def _truth(term: Term) -> Term:
    if term.is_real:
        raise InputError("a truth value is needed here, not a real number")
    return term


def _real(term: Term) -> Term:
    if not term.is_real:
        raise InputError("a real number is needed here, not a truth value")
    return term


# --- operators --------------------------------------------------------------------------------------

Arguments = Sequence[Term]


def _many(arguments: Arguments, least: int, what: str) -> Arguments:
    if len(arguments) < least:
        raise InputError(f"{what} needs {least} arguments or more")
    return arguments


def total(parts: Arguments) -> Term:
    """Returns a sum."""
    return Term("+", tuple(map(_real, _many(parts, 1, "+"))))


def _times(parts: Arguments) -> Term:
    return Term("*", tuple(map(_real, _many(parts, 1, "*"))))


def minus(parts: Arguments) -> Term:
    """Returns `-a`, or `a - b - ...`."""
    first, *rest = map(_real, _many(parts, 1, "-"))
    turned = [Term("*", (number(-1), part)) for part in (rest or [first])]
    return Term("+", (first, *turned)) if rest else turned[0]


def _over(parts: Arguments) -> Term:
    found, *rest = map(_real, _many(parts, 2, "/"))
    for part in rest:
        found = Term("/", (found, part))
    return found


def _power(parts: Arguments) -> Term:
    base, exponent = map(_real, parts) if len(parts) == 2 else (number(0), number(0))
    n = exponent.value
    if exponent.operator != "number" or not isinstance(n, Fraction) or n.denominator != 1 or n < 1:
        raise InputError("(^ t n) is taken for whole numbers n from 1 on")
    if n > MAX_POWER:
        raise LimitError(f"an exponent above {MAX_POWER:,}")
    return Term("*", (base,) * int(n))


def both(parts: Arguments) -> Term:
    """Returns the conjunction of truth values."""
    return Term("and", tuple(map(_truth, parts)))


def either(parts: Arguments) -> Term:
    """Returns the disjunction of truth values."""
    return Term("or", tuple(map(_truth, parts)))


def _implies(parts: Arguments) -> Term:
    *before, last = map(_truth, _many(parts, 2, "=>"))
    return either([*map(negated, before), last])


def _exclusive(parts: Arguments) -> Term:
    found, *rest = map(_truth, _many(parts, 2, "xor"))
    for part in rest:
        found = negated(Term("iff", (found, part)))
    return found


def _ite(parts: Arguments) -> Term:
    if len(parts) != 3:
        raise InputError("ite needs three arguments")
    condition, yes, no = parts
    _truth(condition)
    if yes.is_real != no.is_real:
        raise InputError("both ways of an ite need the same sort")
    if yes.is_real:
        return Term("ite", (condition, yes, no))
    return either([both([condition, yes]), both([negated(condition), no])])


def _same(left: Term, right: Term) -> Term:
    if left.is_real != right.is_real:
        raise InputError("= compares a real number with a truth value")
    return Term("=" if left.is_real else "iff", (left, right))


def _equal(parts: Arguments) -> Term:
    _many(parts, 2, "=")
    return _chained([_same(a, b) for a, b in pairwise(parts)])


def _distinct(parts: Arguments) -> Term:
    _many(parts, 2, "distinct")
    pairs = [(a, b) for k, a in enumerate(parts) for b in parts[k + 1 :]]
    return _chained([negated(_same(a, b)) for a, b in pairs])


def _chained(links: Arguments) -> Term:
    return links[0] if len(links) == 1 else both(links)


def _compared(relation: str, parts: Arguments) -> Term:
    operator, turned = ORDER[relation]
    reals = [*map(_real, _many(parts, 2, relation))]
    links = [(b, a) if turned else (a, b) for a, b in pairwise(reals)]
    return _chained([Term(operator, link) for link in links])


def _not(parts: Arguments) -> Term:
    if len(parts) != 1:
        raise InputError("not needs one argument")
    return negated(_truth(parts[0]))


OPERATORS: Mapping[str, Callable[[Arguments], Term]] = {
    "+": total,
    "-": minus,
    "*": _times,
    "/": _over,
    "^": _power,
    "and": both,
    "or": either,
    "not": _not,
    "=>": _implies,
    "xor": _exclusive,
    "ite": _ite,
    "=": _equal,
    "distinct": _distinct,
    **{relation: partial(_compared, relation) for relation in ORDER},
}
