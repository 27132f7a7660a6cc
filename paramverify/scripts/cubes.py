"""Assertions of a script as cubes: conjunctions of polynomial comparisons, one of which needs a solution.

The assertions have a solution iff one of their cubes has. A case distinction (`ite`) of reals is taken apart,
and so is `distinct`. Universal quantifiers and quotients whose denominator is no number are no cubes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.polynomials import (
    MAX_DEGREE,
    Polynomial,
    Ring,
    constant_value,
    is_constant,
    key,
    primitive,
    rational,
)
from paramverify.errors import LimitError, UnsupportedError
from paramverify.formats.script_terms import Term, folded

MAX_CUBES = 512
MAX_TERMS = 20_000  # of one polynomial
SIMPLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, eq=False)
class CubeLiteral:
    """`polynomial > 0`, `>= 0` or `= 0`."""

    polynomial: Polynomial
    relation: str

    @property
    def name(self) -> tuple[str, str]:
        """Equal names are equal literals."""
        return key(self.polynomial), self.relation


@dataclass(frozen=True)
class Cube:
    """All literals hold, and the truth values are those given."""

    literals: Mapping[tuple[str, str], CubeLiteral]
    truths: Mapping[str, bool]

    def joined(self, other: Cube) -> Cube | None:
        """Returns the conjunction, or None where truth values contradict each other."""
        if any(other.truths.get(name, value) != value for name, value in self.truths.items()):
            return None
        return Cube({**self.literals, **other.literals}, {**self.truths, **other.truths})


Cubes = tuple[Cube, ...]
TRUE = Cube({}, {})
Pieces = tuple[tuple[Cube, Polynomial], ...]  # what a real term is, where each cube holds
Part = tuple[Term, bool]  # a term, and whether it is to be true (of reals always so)


def variables_of(terms: Iterable[Term]) -> dict[str, None]:
    """Returns the symbols of all real variables that occur, in their order, those of quantifiers included."""
    root = Term("and", tuple(terms))
    found: dict[str, None] = {}

    def make(term: Term, values: Sequence[None]) -> None:
        if term.operator == "real":
            found.setdefault(str(term.value))

    folded(root, lambda term: term.parts, make)
    return found


def ring_names(symbols: Iterable[str]) -> dict[str, str]:
    """Returns a name of a parameter for each symbol: the symbol itself where it is one."""
    listed = list(symbols)
    taken = {s for s in listed if SIMPLE.match(s) and s != GENERATOR}
    names: dict[str, str] = {}
    number = 0
    for symbol in listed:
        name = symbol
        while name not in taken:
            number += 1
            if f"v{number}" not in taken:
                name = f"v{number}"
                break
        names[symbol] = name
    return names


class Reading:
    """Makes cubes of terms, over one ring for all of their real variables."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self.terms = tuple(terms)
        self.names = ring_names(variables_of(self.terms))
        self.ring = Ring(tuple(self.names.values()))

    def cubes(self) -> Cubes:
        """Returns the cubes of which one has a solution iff the terms have one together.

        Raises:
            UnsupportedError: a universal quantifier, or a quotient that is no polynomial.
            LimitError: too many cubes, or too large polynomials.
        """
        found: Any = folded((Term("and", self.terms), True), _below, self._made)
        cubes: Cubes = found
        return cubes

    def _made(self, part: Part, values: Sequence[Any]) -> Cubes | Pieces:
        term, wanted = part
        match term.operator:
            case "number" | "real" | "+" | "*" | "/" | "ite":
                return self._pieces(term, values)
            case "true" | "false":
                return (TRUE,) if (term.operator == "true") == wanted else ()
            case "bool":
                return (Cube({}, {str(term.value): wanted}),)
            case "not" | "forall" | "exists":
                inner: Cubes = values[0]
                return inner
            case "<" | "<=" | "=":
                return self._compared(term.operator, wanted, values[0], values[1])
            case "iff":  # both true, or both false; for its negation one of each
                first, second, third, fourth = values
                return _either([_both([first, second]), _both([third, fourth])])
        join = _both if (term.operator == "and") == wanted else _either
        return join(values)

    def _compared(self, relation: str, wanted: bool, left: Pieces, right: Pieces) -> Cubes:
        """Returns the cubes of `left relation right`, or of its negation."""
        found: list[Cubes] = []
        for (one, a), (other, b) in ((x, y) for x in left for y in right):
            guard = one.joined(other)
            if guard is None:
                continue
            if relation == "=":
                ways = [(a - b, "=")] if wanted else [(a - b, ">"), (b - a, ">")]
            elif wanted:
                ways = [(b - a, ">" if relation == "<" else ">=")]
            else:
                ways = [(a - b, ">=" if relation == "<" else ">")]
            found += [_both([(guard,), _literal(*way)]) for way in ways]
        return _either(found)

    def _pieces(self, term: Term, values: Sequence[Any]) -> Pieces:
        match term.operator:
            case "number":
                assert isinstance(term.value, Fraction)
                return ((TRUE, self.ring.number(term.value)),)
            case "real":
                return ((TRUE, self.ring.variable(self.names[str(term.value)])),)
            case "ite":
                yes, no, *ways = values
                found = [
                    (joined, polynomial)
                    for guards, pieces in zip((yes, no), ways, strict=True)
                    for guard in guards
                    for own, polynomial in pieces
                    if (joined := guard.joined(own)) is not None
                ]
                return _few(found)
        made: Pieces = values[0]
        for more in values[1:]:
            made = _few(
                [
                    (joined, _combined(term.operator, a, b))
                    for one, a in made
                    for other, b in more
                    if (joined := one.joined(other)) is not None
                ]
            )
        return made


def _below(part: Part) -> list[Part]:
    term, wanted = part
    match term.operator:
        case "not":
            return [(term.parts[0], not wanted)]
        case "iff":
            left, right = term.parts
            return [(left, True), (right, wanted), (left, False), (right, not wanted)]
        case "ite":
            condition, yes, no = term.parts
            return [(condition, True), (condition, False), (yes, True), (no, True)]
        case "forall" | "exists":
            if (term.operator == "forall") == wanted:
                raise UnsupportedError("there is a quantifier over all reals")
            return [(term.parts[0], wanted)]
    boolean = term.operator in ("and", "or")
    return [(inner, wanted if boolean else True) for inner in term.parts]


def _combined(operator: str, a: Polynomial, b: Polynomial) -> Polynomial:
    if operator == "+":
        return a + b
    if operator == "/":
        if not is_constant(b) or constant_value(b) == 0:
            raise UnsupportedError("there is a quotient whose denominator may be zero")
        return a / rational(constant_value(b))
    if len(a) * len(b) > 50 * MAX_TERMS or _degree(a) + _degree(b) > MAX_DEGREE:
        raise LimitError("a polynomial has too many terms")
    product = a * b
    if len(product) > MAX_TERMS:
        raise LimitError("a polynomial has too many terms")
    return product


def _degree(polynomial: Polynomial) -> int:
    return max(map(int, polynomial.degrees()), default=0)


def _literal(polynomial: Polynomial, relation: str) -> Cubes:
    if is_constant(polynomial):
        value = constant_value(polynomial)
        true = value > 0 or (value == 0 and relation != ">") if relation != "=" else value == 0
        return (TRUE,) if true else ()
    _, whole = primitive(polynomial)
    if relation == "=" and key(-whole) < key(whole):
        whole = -whole
    made = CubeLiteral(whole, relation)
    return (Cube({made.name: made}, {}),)


def _few(pieces: Sequence[tuple[Cube, Polynomial]]) -> Pieces:
    if len(pieces) > MAX_CUBES:
        raise LimitError(f"more than {MAX_CUBES} cases")
    return tuple(pieces)


def _either(parts: Sequence[Cubes]) -> Cubes:
    found: dict[tuple[frozenset[tuple[str, str]], frozenset[tuple[str, bool]]], Cube] = {}
    for cube in (c for cubes in parts for c in cubes):
        found.setdefault((frozenset(cube.literals), frozenset(cube.truths.items())), cube)
    if len(found) > MAX_CUBES:
        raise LimitError(f"more than {MAX_CUBES} cases")
    return tuple(found.values())


def _both(parts: Sequence[Cubes]) -> Cubes:
    found: Cubes = (TRUE,)
    for cubes in sorted(parts, key=len):
        joined = [j for one in found for other in cubes if (j := one.joined(other)) is not None]
        found = _either([tuple(joined)])
    return found
