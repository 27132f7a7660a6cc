"""From a cube of a script to a claim over a bounded box, and from a point of that box back.

A cube has no solution iff the claim holds. Linear equations are used up first. Bounds of single variables
become the box. A variable that has none on a side is moved: with lower bound a it is a + t/(1 − t) for t in
[0, 1), with upper bound b it is b − t/(1 − t), and with neither it is t/(1 − t²) for t in (−1, 1): each goes
through all of its values once. The denominators are positive on the box, so they may be multiplied away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt

from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.polynomials import Polynomial, Ring, fraction, primitive, variables
from paramverify.claims import Claim, nowhere
from paramverify.errors import LimitError
from paramverify.scripts.cubes import Cube, CubeLiteral
from paramverify.scripts.equations import solved

MAX_VARIABLES = 12
MAX_TERMS = 5_000  # of a polynomial that is moved
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
            if len(term) > MAX_TERMS:
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
