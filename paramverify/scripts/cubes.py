"""Assertions of a script as cubes: conjunctions of comparisons, each made into a claim over a bounded box.

The assertions have a solution iff one of their cubes has. A case distinction (`ite`) of reals is taken apart,
and so is `distinct`. Universal quantifiers and quotients whose denominator is no number are no cubes.

From a cube of a script to a claim over a bounded box, and from a point of that box back.

A cube has no solution iff the claim holds. Linear equations are used up first. Bounds of single variables
become the box. A variable that has none on a side is moved: with lower bound a it is a + t/(1 − t) for t in
[0, 1), with upper bound b it is b − t/(1 − t), and with neither it is t/(1 − t²) for t in (−1, 1): each goes
through all of its values once. The denominators are positive on the box, so they may be multiplied away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.polynomials import (
    MAX_DEGREE,
    Polynomial,
    Ring,
    constant_value,
    fraction,
    is_constant,
    key,
    primitive,
    rational,
    value_at,
    variables,
)
from paramverify.claims import Claim, nowhere
from paramverify.errors import LimitError, UnsupportedError
from paramverify.formats.smtlib_scripts import ScriptTerm, folded

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
Part = tuple[ScriptTerm, bool]  # a term, and whether it is to be true (of reals always so)


def variables_of(terms: Iterable[ScriptTerm]) -> dict[str, None]:
    """Returns the symbols of all real variables that occur, in their order, those of quantifiers included."""
    root = ScriptTerm("and", tuple(terms))
    found: dict[str, None] = {}

    def make(term: ScriptTerm, values: Sequence[None]) -> None:
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

    def __init__(self, terms: Iterable[ScriptTerm]) -> None:
        self.terms = tuple(terms)
        self.names = ring_names(variables_of(self.terms))
        self.ring = Ring(tuple(self.names.values()))

    def cubes(self) -> Cubes:
        """Returns the cubes of which one has a solution iff the terms have one together.

        Raises:
            UnsupportedError: a universal quantifier, or a quotient that is no polynomial.
            LimitError: too many cubes, or too large polynomials.
        """
        found: Any = folded((ScriptTerm("and", self.terms), True), _below, self._made)
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

    def _pieces(self, term: ScriptTerm, values: Sequence[Any]) -> Pieces:
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


MAX_EQUATION_TERMS = 2_000  # of a polynomial after a substitution


@dataclass(frozen=True, eq=False)
class SolvedEquations:
    """What is left of literals, and the variables that were replaced, each by a polynomial in later ones."""

    literals: tuple[CubeLiteral, ...]
    replaced: tuple[tuple[str, Polynomial], ...]

    def lifted(self, values: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Returns the values of all variables, given those of the ones that were not replaced."""
        found = dict(values)
        for name, polynomial in reversed(self.replaced):
            found[name] = value_at(polynomial, found)
        return found


def solved(literals: Sequence[CubeLiteral], ring: Ring) -> SolvedEquations | None:
    """Returns literals that have a solution iff these have; None where they contradict each other.

    Raises:
        LimitError: a polynomial becomes too large.
    """
    rest = list(literals)
    replaced: list[tuple[str, Polynomial]] = []
    while (found := _found(rest)) is not None:
        literal, name, value = found
        replaced.append((name, value))
        images = [value if n == name else ring.variable(n) for n in ring.names]
        left: list[CubeLiteral] = []
        for other in rest:
            if other is literal:
                continue
            f = other.polynomial
            if name in variables(f):
                f = f.compose(*images)
                if len(f) > MAX_EQUATION_TERMS:
                    raise LimitError("a polynomial has too many terms")
            if is_constant(f):
                if not _is_true(constant_value(f), other.relation):
                    return None
                continue
            left.append(CubeLiteral(primitive(f)[1], other.relation))
        rest = left
    return SolvedEquations(tuple({p.name: p for p in rest}.values()), tuple(replaced))


def _is_true(value: Fraction, relation: str) -> bool:
    return {">": value > 0, ">=": value >= 0, "=": value == 0}[relation]


def _found(literals: Sequence[CubeLiteral]) -> tuple[CubeLiteral, str, Polynomial] | None:
    """Returns an equation a·(x − u) = 0 with a number a and u without x, the shortest u; with x and u."""
    best: tuple[CubeLiteral, str, Polynomial] | None = None
    for literal in literals:
        if literal.relation != "=":
            continue
        for name in variables(literal.polynomial):
            slope = literal.polynomial.derivative(name)
            if is_constant(slope) and slope:
                context = literal.polynomial.context()
                x = context.gen([str(n) for n in context.names()].index(name))
                value = x - literal.polynomial / rational(constant_value(slope))
                if best is None or len(value) < len(best[2]):
                    best = literal, name, value
    return best


MAX_VARIABLES = 12
MAX_REGION_TERMS = 5_000  # of a polynomial that is moved
UNIT = Interval(Fraction(0), Fraction(1), True, False)
OPEN_UNIT = Interval(Fraction(0), Fraction(1), False, False)
BOTH = Interval(Fraction(-1), Fraction(1), False, False)


@dataclass(frozen=True)
class RangeEnd:
    """An end of the values of a variable."""

    value: Fraction
    closed: bool


@dataclass(frozen=True, eq=False)
class CubeClaim:
    """A claim that holds iff a cube has no solution; `lift` gives the solution at a point where it fails.

    `moved` says whether variables stand for others, so that the claim is not what the script says.
    """

    claim: Claim
    lift: Callable[[Mapping[str, Fraction]], dict[str, Fraction]]
    moved: bool


def region(cube: Cube, ring: Ring) -> CubeClaim | None:
    """Returns the claim of a cube; None where its bounds alone leave no value to a variable.

    Raises:
        LimitError: too many variables, or too large polynomials.
    """
    plain = solved(tuple(cube.literals.values()), ring)
    bounds = _bounds(plain.literals) if plain else None
    if plain is None or bounds is None:
        return None
    lower, upper, rest = bounds
    literals = list(rest)
    used = {n for literal in literals for n in variables(literal.polynomial)}
    names = tuple(n for n in ring.names if n in used)
    if len(names) > MAX_VARIABLES:
        raise LimitError(f"more than {MAX_VARIABLES} variables")
    small = Ring(names)
    box: dict[str, Interval] = {}
    ways: dict[str, tuple[Polynomial, Polynomial]] = {}  # numerator and denominator of what is moved
    for name in names:
        low, high = lower.get(name), upper.get(name)
        t, one = small.variable(name), small.number(1)
        if low and high:
            box[name] = Interval(low.value, high.value, low.closed, high.closed)
        elif low:
            box[name] = UNIT if low.closed else OPEN_UNIT
            ways[name] = (small.number(low.value) * (one - t) + t, one - t)
        elif high:
            box[name] = UNIT if high.closed else OPEN_UNIT
            ways[name] = (small.number(high.value) * (one - t) - t, one - t)
        else:
            box[name] = BOTH
            ways[name] = (t, one - t * t)
    moved = [replace(p, polynomial=_moved(p.polynomial, small, ways)) for p in literals]
    claim = _claim(moved, small, box)
    simple = {name: _simple(lower.get(name), upper.get(name)) for name in ring.names}

    def lift(point: Mapping[str, Fraction]) -> dict[str, Fraction]:
        found = dict(simple)
        for name in names:
            t = point[name]
            low, high = lower.get(name), upper.get(name)
            if name not in ways:
                found[name] = t
            elif low or high:
                away = t / (1 - t)
                found[name] = low.value + away if low else high.value - away if high else away
            else:
                found[name] = t / (1 - t * t)
        return plain.lifted(found)

    return CubeClaim(claim, lift, bool(ways))


def _simple(low: RangeEnd | None, high: RangeEnd | None) -> Fraction:
    """Returns a value between both ends."""
    if low and high:
        return Interval(low.value, high.value, low.closed, high.closed).simplest()
    if low:
        return low.value + 1
    return high.value - 1 if high else Fraction(0)


def _claim(literals: list[CubeLiteral], ring: Ring, box: Mapping[str, Interval]) -> Claim:
    """Returns the claim that no point of the box satisfies all literals."""
    strict = [p for p in literals if p.relation == ">"]
    # The strict comparison with the largest polynomial is the one that is claimed to be false.
    denied = max(strict, key=lambda p: len(p.polynomial), default=None)
    constraints: list[Constraint] = []
    for literal in literals:
        if literal is denied:
            continue
        f = literal.polynomial
        text = f"{f} {literal.relation} 0".replace("^", "**")
        constraints.append(Constraint(f, literal.relation == ">", text))
        if literal.relation == "=":
            constraints.append(Constraint(-f, False, text))
    domain = Domain(ring, dict(box), tuple(constraints))
    return Claim(-denied.polynomial, domain) if denied else nowhere(domain)


def _moved(
    polynomial: Polynomial, ring: Ring, ways: Mapping[str, tuple[Polynomial, Polynomial]]
) -> Polynomial:
    """Returns the polynomial with what stands for its variables, times a positive polynomial."""
    names = [str(n) for n in polynomial.context().names()]
    degrees = dict(zip(names, map(int, polynomial.degrees()), strict=True))
    found = ring.number(0)
    powers: dict[tuple[str, int], Polynomial] = {}
    for monomial, coefficient in polynomial.to_dict().items():
        term = ring.number(fraction(coefficient))
        for name, exponent in zip(names, map(int, monomial), strict=True):
            if not degrees[name]:
                continue
            if (name, exponent) not in powers:
                if name in ways:
                    top, bottom = ways[name]
                    powers[name, exponent] = top**exponent * bottom ** (degrees[name] - exponent)
                else:
                    powers[name, exponent] = ring.variable(name) ** exponent
            term *= powers[name, exponent]
            if len(term) > MAX_REGION_TERMS:
                raise LimitError("a polynomial has too many terms")
        found += term
    return primitive(found)[1] if found else found


def _bounds(
    literals: Sequence[CubeLiteral],
) -> tuple[dict[str, RangeEnd], dict[str, RangeEnd], list[CubeLiteral]] | None:
    """Returns lower and upper ends of variables, and the literals that say more; None if nothing is left."""
    lower: dict[str, RangeEnd] = {}
    upper: dict[str, RangeEnd] = {}
    rest: list[CubeLiteral] = []
    for literal in literals:
        linear = _linear(literal.polynomial)
        if linear is None:
            rest.append(literal)
            for name, radius in _ball(literal).items():
                _narrow(lower, name, RangeEnd(-radius, True), -1)
                _narrow(upper, name, RangeEnd(radius, True), 1)
            continue
        name, slope, value = linear
        end = RangeEnd(value, literal.relation != ">")
        if literal.relation == "=" or slope > 0:
            _narrow(lower, name, end, -1)
        if literal.relation == "=" or slope < 0:
            _narrow(upper, name, end, 1)
    for name in lower.keys() & upper.keys():
        low, high = lower[name], upper[name]
        if low.value > high.value or (low.value == high.value and not (low.closed and high.closed)):
            return None
    return lower, upper, rest


def _narrow(ends: dict[str, RangeEnd], name: str, end: RangeEnd, side: int) -> None:
    """Keeps the tighter of two ends: the larger lower one (side -1), the smaller upper one (side 1)."""
    old = ends.get(name)
    if old is None or (end.value - old.value) * side < 0 or (end.value == old.value and not end.closed):
        ends[name] = end


def _linear(polynomial: Polynomial) -> tuple[str, Fraction, Fraction] | None:
    """Returns (x, a, v) where the polynomial is a·(x − v)."""
    names = variables(polynomial)
    if len(names) != 1 or int(polynomial.total_degree()) != 1:
        return None
    slope, constant = Fraction(0), Fraction(0)
    for monomial, coefficient in polynomial.to_dict().items():
        if any(monomial):
            slope = fraction(coefficient)
        else:
            constant = fraction(coefficient)
    return names[0], slope, -constant / slope


def _ball(literal: CubeLiteral) -> dict[str, Fraction]:
    """Returns bounds |x| ≤ r from C − Σ cᵢ·mᵢ ≥ 0 with cᵢ > 0 and even powers alone: cᵢ·x^(2k) ≤ C."""
    for sign in (1, -1) if literal.relation == "=" else (1,):
        found: dict[str, Fraction] = {}
        constant = Fraction(0)
        entries = [(m, sign * fraction(c)) for m, c in literal.polynomial.to_dict().items()]
        if any(any(m) and (c > 0 or any(int(e) % 2 for e in m)) for m, c in entries):
            continue
        constant = next((c for m, c in entries if not any(m)), constant)
        if constant <= 0:
            continue  # at most the origin: whoever decides sees that
        names = [str(n) for n in literal.polynomial.context().names()]
        for monomial, c in entries:
            occurring = [(n, int(e)) for n, e in zip(names, monomial, strict=True) if e]
            if len(occurring) == 1:
                name, exponent = occurring[0]
                radius = _root(constant / -c, exponent)
                found[name] = min(found.get(name, radius), radius)
        return found
    return {}


def _root(value: Fraction, exponent: int) -> Fraction:
    """Returns a rational whose power is at least a positive value, and near it for squares."""
    if exponent == 2:
        scaled = value.numerator * value.denominator
        root = isqrt(scaled)
        return Fraction(root + (root * root < scaled), value.denominator)
    return max(Fraction(1), value)
