"""Claims about a parameter and its exponential: polynomials in x and eps = −ln(x)/step.

The interval of x is cut into cells (`exact.logarithms`), on which the claim is about a polynomial that
is decided as all others. Cells that are left open are cut.

In one variable this ends. Two different irreducible polynomials in x and ln x have no common zero with
0 < x < 1, and an irreducible one with its derivative has none: such a zero would make x and ln x algebraic,
and ln x is transcendental for algebraic x ≠ 1 [Lindemann82]. So each factor has simple zeros, the factors
with odd powers must be without a zero, and then they are bounded away from 0 on each cell that does not reach
0 or 1. At these two ends the leading terms decide, of the series at 1 and of the largest terms at 0.

Cells of x on which a claim with x and eps = −ln(x)/step comes to one about a polynomial.

On a cell eps is replaced by polynomials in x between which it lies. Near x = 0, where eps grows without end,
x is replaced by a small multiple of a power of 1/eps. `checker.tied_variables` has the proofs.

Places where a polynomial in x and eps = −ln(x)/step is negative, looked for with balls of numbers.

A place that is found is one. Where none is found nothing has been said.

Strict claims about x and eps = −ln(x)/step alone: f > 0, as −1 ≥ 0 on the points with −f ≥ 0 (`positive`).

First f ≥ 0 is decided, which always ends in one variable: where it fails, a point says so. Where it holds, f
is zero at most at some points, or tends to zero at an end. A rational zero is a point at which the strict
claim fails. Without one:

- If c·f − 1 ≥ 0 for some c > 0, then −1 = c·(−f) + (c·f − 1) ≥ 0 on the points with −f ≥ 0: there are none.
- Otherwise, as where f tends to 0 at an end, there are cells, on which −f ≥ 0 nowhere. On the last one powers
  of 1 − x > 0 are divided out, and on the first one powers of x > 0 and of 1/eps > 0.

A zero inside at an irrational x or eps is left open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product
from math import ceil, log, log2
from typing import Any

from flint import arb, fmpq, fmpq_poly

from paramverify.algebra.bernstein import Patch, patch, split
from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.algebra.domains import Constraint, Domain, Interval, sign_at, tied_in
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    Unbounded,
    constant_value,
    is_constant,
    rational,
    value_at,
    variables,
)
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import Proof, Token
from paramverify.exact.procedure_outcomes import Outcome, RemainingWork
from paramverify.formats.refutations import Confirm, fails_at
from paramverify.simplify.reductions import live_constraints

ONE, ZERO = Fraction(1), Fraction(0)
MAX_ORDER = 256  # of the zero at x = 1
MAX_POWER, MAX_LEAST = 500, 1_000  # of the bounds near x = 0, as in `checker.tied_variables`


@dataclass(frozen=True, eq=False)
class LogarithmCell:
    """A cell: the claim about a polynomial that shows it, and what its certificate says of it.

    `main` is the variable that is cut.
    """

    claim: Claim
    main: str
    part: Mapping[str, Any]


def _resolved(domain: Domain, tie: Unbounded, x: Interval, t: Interval) -> Domain:
    """Returns the domain with what is tied as a parameter of its own, and other intervals."""
    ring = domain.ring
    unbounded = tuple(replace(u, tied=False) if u == tie else u for u in ring.unbounded)
    free = replace(ring, parameters=(*ring.parameters, tie.name), unbounded=unbounded)
    box = {n: i for n, i in domain.box.items() if n in ring.parameters}
    rest = {n: i for n, i in domain.box.items() if n not in ring.parameters}
    return replace(domain, ring=free, box={**box, tie.variable: x, tie.name: t, **rest})


def between(claim: Claim, tie: Unbounded, ends: tuple[Fraction, Fraction], terms: int) -> LogarithmCell:
    """Returns the claim on a cell [a, b] of x, with eps between two polynomials."""
    a, b = ends
    low, high = (ZERO, ZERO) if b == 1 else _logarithm(1 / b, 32 + 4 * terms)
    ring = claim.domain.ring
    x, r, one = ring.variable(tie.variable), ring.variable(tie.name), ring.number(1)
    v = one - x / rational(b)
    total, power = ring.number(low), one
    for i in range(1, terms):
        power = power * v
        total = total + power / i
    rest = ring.number(high - low) + power * v * rational(b / (terms * a))
    image = (total + r * rest) / rational(tie.step)
    images = [image if n == tie.name else ring.variable(n) for n in ring.names]

    def moved(polynomial: Polynomial) -> Polynomial:
        return polynomial.compose(*images)

    box = claim.domain.box[tie.variable]
    x_in = Interval(a, b, box.lower_closed or a > box.lower, box.upper_closed or b < box.upper or a == b)
    domain = _resolved(claim.domain, tie, x_in, Interval(ZERO, ONE, True, True))
    constraints = tuple(replace(c, polynomial=moved(c.polynomial)) for c in domain.constraints)
    domain = replace(domain, constraints=constraints)
    reduced = replace(claim, polynomial=moved(claim.polynomial), domain=domain)
    part = {"terms": terms, "enclosure": [certificates.text(low), certificates.text(high)]}
    return LogarithmCell(reduced, tie.variable, part)


def near_zero(claim: Claim, tie: Unbounded, b: Fraction, power: int) -> LogarithmCell:
    """Returns the claim on a cell (0, b] of x, in x/(B·u^M) and u = 1/ln(1/x)."""
    least = min(Fraction(int(_logarithm(1 / b, 64)[0] * 8), 8), Fraction(MAX_LEAST))
    bound = Fraction(2) ** (ceil((power * log(least) - float(least)) / log(2)) + 1)  # above least^M / e^least
    ring = claim.domain.ring
    names = list(ring.names)
    u, r = names.index(tie.name), names.index(tie.variable)

    def moved(polynomial: Polynomial) -> Polynomial:
        most = int(polynomial.degrees()[u])
        terms = {}
        for m, c in polynomial.to_dict().items():
            key = [int(e) for e in m]
            x, t = key[r], key[u]
            key[u] = power * x + most - t
            terms[tuple(key)] = c * rational(bound) ** x / rational(tie.step) ** t
        return ring.context.from_dict(terms)

    domain = _resolved(
        claim.domain, tie, Interval(ZERO, ONE, False, True), Interval(ZERO, 1 / least, False, True)
    )
    constraints = tuple(replace(c, polynomial=moved(c.polynomial)) for c in domain.constraints)
    domain = replace(domain, constraints=constraints)
    reduced = replace(claim, polynomial=moved(claim.polynomial), domain=domain)
    text = certificates.text
    return LogarithmCell(reduced, tie.name, {"least": text(least), "power": power, "bound": text(bound)})


def _logarithm(value: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Returns rationals between which ln(value) is, with so many bits."""
    with working_precision(bits + 32):
        ball = arb(fmpq(value.numerator, value.denominator)).log()
        low, high = lower_bound(ball), upper_bound(ball)
    scale = 1 << bits
    return Fraction(low.numerator * scale // low.denominator - 1, scale), Fraction(
        -(-high.numerator * scale // high.denominator) + 1, scale
    )


def order_at_one(polynomial: Polynomial, tie: Unbounded) -> int:
    """Returns the order of the zero at x = 1, in v = 1 − x; `MAX_ORDER` if it is beyond."""
    names = [str(n) for n in polynomial.context().names()]
    x, t = names.index(tie.variable), names.index(tie.name)
    size = 8
    while size <= MAX_ORDER:
        series = fmpq_poly([fmpq(0), *(fmpq(1, i) for i in range(1, size))]) / rational(tie.step)
        total, logs, powers = fmpq_poly(), [fmpq_poly([1])], [fmpq_poly([1])]
        for m, c in polynomial.to_dict().items():
            while len(logs) <= m[t]:
                logs.append(_cut(logs[-1] * series, size))
            while len(powers) <= m[x]:
                powers.append(_cut(powers[-1] * fmpq_poly([1, -1]), size))
            total += c * _cut(powers[int(m[x])] * logs[int(m[t])], size)
        order = next((k for k, c in enumerate(total.coeffs()) if c), None)
        if order is not None:
            return order
        size *= 2
    return MAX_ORDER


def _cut(series: fmpq_poly, size: int) -> fmpq_poly:
    return fmpq_poly(series.coeffs()[:size])


BITS = 192
GRID = 64  # parts of the interval
FAR = 64  # the ends are approached to 2**-FAR of the interval
ROUNDS = 60  # in which a lowest place is enclosed


def negative_place(polynomial: Polynomial, tie: Unbounded, interval: Interval) -> Fraction | None:
    """Returns an x inside the interval where a polynomial in x and eps is negative, if one is found."""
    look = _Look(polynomial, tie)
    width = interval.upper - interval.lower
    shares = {Fraction(j, GRID) for j in range(1, GRID)}
    shares |= {Fraction(1, 2**k) for k in range(7, FAR)} | {1 - Fraction(1, 2**k) for k in range(7, FAR)}
    places = [interval.lower + width * share for share in sorted(shares)]
    with working_precision(BITS):
        values = [look.at(x) for x in places]
        for x, value in zip(places, values, strict=True):
            if value < 0:
                return x
        for k in range(1, len(places) - 1):
            if values[k].mid() <= values[k - 1].mid() and values[k].mid() <= values[k + 1].mid():
                found = look.below(places[k - 1], places[k + 1])
                if found is not None:
                    return found
    return None


class _Look:
    """Values of one polynomial."""

    def __init__(self, polynomial: Polynomial, tie: Unbounded) -> None:
        names = [str(n) for n in polynomial.context().names()]
        x, t = names.index(tie.variable), names.index(tie.name)
        self.terms = [(int(m[x]), int(m[t]), c) for m, c in polynomial.to_dict().items()]
        self.degrees = [max(i for i, _, _ in self.terms), max(j for _, j, _ in self.terms)]
        self.step = tie.step

    def at(self, place: Fraction) -> arb:
        """Returns a ball that contains the value at a rational x in (0, 1]."""
        x = arb(fmpq(place.numerator, place.denominator))
        t = -x.log() * self.step.denominator / self.step.numerator
        powers = [[arb(1)], [arb(1)]]
        for k, value in enumerate((x, t)):
            for _ in range(self.degrees[k]):
                powers[k].append(powers[k][-1] * value)
        return sum((arb(c) * powers[0][i] * powers[1][j] for i, j, c in self.terms), arb(0))

    def below(self, low: Fraction, high: Fraction) -> Fraction | None:
        """Returns a place between two others where the value is negative, if the lowest one there is."""
        for _ in range(ROUNDS):
            inner = [low + (high - low) * Fraction(k, 4) for k in range(5)]
            values = [self.at(x) for x in inner]
            for x, value in zip(inner, values, strict=True):
                if value < 0:
                    return x
            best = min(range(1, 4), key=lambda k: values[k].mid())
            low, high = inner[best - 1], inner[best + 1]
        return None


Decide = Callable[[Claim, Confirm], Outcome]

TRIES = 6  # factors c
FARTHER = 4_096  # between one c and the next one
FARTHEST_STRICT = 60  # of the numbers 2^-k at which g is looked at
BETWEEN = 40  # numbers of (0, 1) at which it is


def solve_strict(
    claim: Claim, tie: Unbounded, confirm: Confirm, decide: Decide, cells: Decide
) -> Outcome | None:
    """Decides that the points of a claim −1 ≥ 0 are none, by one constraint about x and what is tied to it.

    `decide` decides claims f ≥ 0, `cells` claims −1 ≥ 0. None if no constraint settles it.
    """
    if not is_constant(claim.polynomial) or constant_value(claim.polynomial) != -1:
        return None
    for index, constraint in reversed(live_constraints(claim.domain)):
        names = set(variables(constraint.polynomial))
        if tie.name in names <= {tie.name, tie.variable}:
            found = _Strict(claim, tie, confirm, decide, cells, index=index).run()
            if found is not None:
                return found
    return None


@dataclass
class _Strict:
    """One claim −1 ≥ 0 where the polynomial f of one constraint −f ≥ 0 may be positive everywhere."""

    claim: Claim
    tie: Unbounded
    confirm: Confirm
    decide: Decide
    cells: Decide
    index: int

    def __post_init__(self) -> None:
        self.interval = self.claim.domain.box[self.tie.variable]
        self.f = -self.claim.domain.constraints[self.index].polynomial

    def run(self) -> Outcome | None:
        found = self.decide(self._about(self.f), self.confirm)
        if found.proof is None:
            return found if found.point is not None else None
        for x in self._zeros():
            point = {n: box.simplest() for n, box in self.claim.domain.box.items()}
            confirmed = self.confirm({**point, self.tie.variable: x})
            if confirmed is not None:
                return Outcome(point=confirmed)
        proof = self._without_constraint() or self._by_cells()
        return None if proof is None else Outcome(proof=proof)

    def _about(self, polynomial: Polynomial) -> Claim:
        """Returns the claim f ≥ 0 with the other constraints, each of which keeps its number."""
        domain = self.claim.domain
        constraints = list(domain.constraints)
        constraints[self.index] = Constraint(domain.ring.number(1), False, "")
        return Claim(polynomial, replace(domain, constraints=tuple(constraints)))

    def _zeros(self) -> Iterator[Fraction]:
        """Yields the rational x of the interval at which f vanishes: a factor without eps does so there."""
        name = self.tie.variable
        for factor, _ in self.f.factor()[1]:
            if variables(factor) == (name,) and factor.total_degree() == 1:
                x = -value_at(factor, {name: Fraction(0)}) / constant_value(factor.derivative(name))
                if x in self.interval:
                    yield x

    def _without_constraint(self) -> Proof | None:
        """Returns the proof that c·f ≥ 1 for a number c, and so −f ≥ 0 nowhere."""
        factor = self._factor()
        if factor is None:
            return None
        for _ in range(TRIES):
            claim = self._about(self.f * rational(factor) - self.claim.domain.ring.number(1))
            found = self.decide(claim, lambda point: point)
            if found.proof is not None:
                return certificates.constraint(self.index, factor, found.proof)
            if found.point is None:
                break
            factor *= FARTHER
        return None

    def _by_cells(self) -> Proof | None:
        """Returns the proof by cells that the constraint leaves no point of the domain."""
        # The others say nothing here, and stay so that each constraint keeps its number.
        domain = self.claim.domain
        nothing = Constraint(domain.ring.number(1), False, "")
        only = tuple(c if k == self.index else nothing for k, c in enumerate(domain.constraints))
        claim = replace(self.claim, domain=replace(domain, constraints=only))
        return self.cells(claim, lambda point: None).proof

    def _factor(self) -> Fraction | None:
        """Returns a power of two c with c·f ≥ 2 at numbers that are looked at; None where f tends to 0."""
        names, step = self.claim.domain.ring.names, float(self.tie.step)
        x, t = names.index(self.tie.variable), names.index(self.tie.name)
        terms = [(int(m[x]), int(m[t]), float(c)) for m, c in self.f.to_dict().items()]
        if not self.interval.lower and all(power for power, _, _ in terms):
            return None
        if self.interval.upper == 1 and sum(c for _, power, c in terms if not power) == 0:
            return None
        places = [0.5**k for k in range(1, FARTHEST_STRICT)] + [k / BETWEEN for k in range(1, BETWEEN)]
        places = [p for p in places if self.interval.lower <= p <= self.interval.upper]
        least = min((sum(c * p**m * (-log(p) / step) ** n for m, n, c in terms) for p in places), default=1.0)
        return Fraction(2) ** (ceil(-log2(least)) + 1) if least > 0 else Fraction(FARTHER)


Solve = Callable[[Claim, RemainingWork, Confirm, int], Outcome]
Placed = tuple[Fraction, Mapping[str, Any]]  # the lower end of a cell, and its part of a certificate

TERMS = 16  # of the series of a logarithm
LEAVES = 24  # boxes of one cell before it is cut
MAX_DEPTH = 120  # cuts of one cell
SEARCH_FROM = 2  # cuts, before a place where f < 0 is looked for by numbers
MOST_TRIED = 30  # points with one x
FARTHEST = 1_024  # cells go down to 2**-FARTHEST before x is compared with powers of eps


def solve_tied(claim: Claim, work: RemainingWork, confirm: Confirm, solve: Solve) -> Outcome:
    """Decides a claim that mentions what is tied; `solve` decides claims about polynomials."""
    if claim.polynomial.is_zero():  # true everywhere, whatever the constraints say
        return solve(replace(claim, domain=replace(claim.domain, constraints=())), work, confirm, 0)
    names = {*variables(claim.polynomial), *(n for _, c in _live(claim) for n in variables(c))}
    tie = tied_in(claim.domain.ring, claim.polynomial, *(c for _, c in _live(claim)))[0]
    if names <= {tie.name, tie.variable} and not _live(claim) and not _is_point(claim, tie):
        return _Alone(claim, tie, work, confirm, solve).run()
    if not _is_point(claim, tie) and (found := _strictly(claim, tie, work, confirm, solve)):
        return found
    content, factors = claim.polynomial.factor()
    even = [(g, int(m)) for g, m in factors if m % 2 == 0]
    if not even:
        return _Cells(claim, tie, work, confirm, solve).run()
    rest = claim.domain.ring.number(1)
    for g, m in factors:
        rest = rest * g if m % 2 else rest
        even += [(g, int(m) - 1)] if m % 2 and m > 1 else []
    rest = rest if content > 0 else -rest
    found = solve(replace(claim, polynomial=rest), work, confirm, 0)
    if found.proof is None:
        return found
    sign = [] if rest.is_constant() else [(rest, 1, 1, found.proof)]
    size = Fraction(int(abs(content).p), int(abs(content).q))
    if not sign and content < 0:
        return Outcome(reason="the polynomial is the negative of a square")
    return Outcome(proof=certificates.factors(size, [*((g, m, 1, None) for g, m in even), *sign]))


def _strictly(
    claim: Claim, tie: Unbounded, work: RemainingWork, confirm: Confirm, solve: Solve
) -> Outcome | None:
    return solve_strict(
        claim,
        tie,
        confirm,
        lambda part, accept: solve_tied(part, work, accept, solve),
        lambda part, accept: _Cells(part, tie, work, accept, solve).run(),
    )


def _live(claim: Claim) -> list[tuple[int, Polynomial]]:
    return [(k, c.polynomial) for k, c in live_constraints(claim.domain)]


def _is_point(claim: Claim, tie: Unbounded) -> bool:
    return claim.domain.box[tie.variable].is_point


class _Alone:
    """A claim about x and what is tied to it, and nothing else: decided by its irreducible factors."""

    def __init__(
        self, claim: Claim, tie: Unbounded, work: RemainingWork, confirm: Confirm, solve: Solve
    ) -> None:
        self.claim, self.tie, self.work, self.confirm, self.solve = claim, tie, work, confirm, solve

    def run(self) -> Outcome:
        content, factors = self.claim.polynomial.factor()
        odd = [g for g, multiplicity in factors if multiplicity % 2]
        start = self._start(odd)
        signs = [self._sign(g, start) for g in odd]
        if (-1) ** sum(s < 0 for s in signs) * (1 if content > 0 else -1) < 0:
            point = self.confirm(start)
            return (
                Outcome(point=point)
                if point is not None
                else Outcome(reason=("no violating point was confirmed"))
            )
        proofs: dict[str, tuple[int, Proof]] = {}
        for g, sign in zip(odd, signs, strict=True):
            found = self._one_sign(g * sign)
            if found.point is not None:
                return self._between(g, start, found.point)
            if found.proof is None:
                return found
            proofs[str(g)] = sign, found.proof
        if len(factors) == 1 and odd and abs(content) == 1:
            ((_, proof),) = proofs.values()
            return Outcome(proof=proof)
        constant = Fraction(int(fmpq(content).p), int(fmpq(content).q))
        parts = [(g, int(m), *proofs.get(str(g), (1, None))) for g, m in factors]
        return Outcome(proof=certificates.factors(constant, parts))

    def _sign(self, polynomial: Polynomial, point: Point) -> int:
        return sign_at(self.claim.domain, polynomial, point)

    def _start(self, factors: Sequence[Polynomial]) -> Point:
        """Returns a point at which no factor vanishes: each has finitely many rational zeros."""
        interval = self.claim.domain.box[self.tie.variable]
        others = {n: i.simplest() for n, i in self.claim.domain.box.items()}
        k = 2
        while True:
            point = {**others, self.tie.variable: interval.lower + (interval.upper - interval.lower) / k}
            if all(self._sign(g, point) for g in factors):
                return point
            k += 1

    def _one_sign(self, factor: Polynomial) -> Outcome:
        """Decides whether a factor that is positive somewhere is nowhere negative."""

        def confirm(point: Point) -> Point | None:
            full = self._full(point)
            return full if self._sign(factor, full) < 0 else None

        claim = replace(self.claim, polynomial=factor)
        if not tied_in(claim.domain.ring, factor):
            return self.solve(claim, self.work, confirm, 0)
        return _Cells(claim, self.tie, self.work, confirm, self.solve).run()

    def _full(self, point: Point) -> Point:
        return {**{n: i.simplest() for n, i in self.claim.domain.box.items()}, **point}

    def _between(self, factor: Polynomial, start: Point, end: Point) -> Outcome:
        """Returns a point where f < 0, beside the simple zero of a factor between two points."""
        name, interval = self.tie.variable, self.claim.domain.box[self.tie.variable]
        left, right = start, self._full(end)
        sign = self._sign(factor, left)
        while True:
            for point in (left, right):  # one may be an end that is left out, even x = 0
                if point[name] in interval and self._sign(self.claim.polynomial, point) < 0:
                    confirmed = self.confirm(point)
                    if confirmed is not None:
                        return Outcome(point=confirmed)
            middle = {**left, name: (left[name] + right[name]) / 2}
            found = self._sign(factor, middle)
            if not found:
                middle = {**left, name: (2 * left[name] + right[name]) / 3}
                found = self._sign(factor, middle)
            left, right = (middle, right) if found == sign else (left, middle)
            self.work.spend(1)
            if self.work.exhausted:
                return Outcome(reason="the work limit was reached next to a zero")


class _Cells:
    """One search through the cells of x."""

    def __init__(
        self, claim: Claim, tie: Unbounded, work: RemainingWork, confirm: Confirm, solve: Solve
    ) -> None:
        self.claim, self.tie, self.work, self.confirm, self.solve = claim, tie, work, confirm, solve
        names = {*variables(claim.polynomial), *(n for _, c in _live(claim) for n in variables(c))}
        self.alone = names <= {tie.name, tie.variable} and not _live(claim)
        self.searched = False

    def run(self) -> Outcome:
        interval = self.claim.domain.box[self.tie.variable]
        parts: list[Placed] = []  # by lower ends, from the right to the left
        low = interval.lower
        last: Placed | None = None
        if not low:
            found = self._near_zero(interval.upper)
            if isinstance(found, Outcome):
                return found
            low, part = found
            last = ZERO, part
        for a, b in halves(low, interval.upper):
            found_parts = self._cell(a, b, 0)
            if isinstance(found_parts, Outcome):
                return found_parts
            parts += found_parts
        parts += [last] if last else []
        parts = parts[::-1]
        cuts = [a for a, _ in parts[1:]]
        return Outcome(proof=certificates.logarithm(self.tie.name, cuts, [part for _, part in parts]))

    def shown(self, a: Fraction, b: Fraction) -> Outcome:
        """Decides one cell, without cutting it."""
        return self.decided(self._between(a, b, 0))

    def _between(self, a: Fraction, b: Fraction, depth: int) -> LogarithmCell:
        terms = ceil((TERMS + 4 * depth) / -log2(1 - a / b)) if a < b else 1
        terms += order_at_one(self.claim.polynomial, self.tie) if b == 1 and self.alone else 0
        return between(self.claim, self.tie, (a, b), terms)

    def _cell(self, a: Fraction, b: Fraction, depth: int) -> Outcome | list[Placed]:
        """Returns the parts of a cell from the right to the left, or a point, or why it is open."""
        cost = _size(self.claim.polynomial, self.tie, TERMS + 4 * depth) ** 2 // 100
        if 4 * cost > self.work.coefficients:
            return Outcome(reason=self._where(a, b))
        self.work.spend(cost)
        cell = self._between(a, b, depth)
        found = self.decided(cell)
        if found.proof is not None:
            return [(a, {**cell.part, "proof": found.proof})]
        if found.point is not None:
            return found
        for x in dict.fromkeys(((a + b) / 2, a, b)):
            if seen := self._looked(x):
                return seen
        if depth >= SEARCH_FROM and (seen := self._search()):
            return seen
        if depth >= MAX_DEPTH or self.work.exhausted or a == b:
            return Outcome(reason=self._where(a, b))
        middle = (a + b) / 2
        above = self._cell(middle, b, depth + 1)
        if isinstance(above, Outcome):
            return above
        below = self._cell(a, middle, depth + 1)
        return below if isinstance(below, Outcome) else [*above, *below]

    def _where(self, a: Fraction, b: Fraction) -> str:
        tie, f = self.tie, str(self.claim.polynomial)[:200]
        where = f"{tie.variable} in [{a}, {b}] and {tie.name} = -ln({tie.variable})/{tie.step}"
        return f"the work limit was reached for {f} >= 0 with {where}"

    def _search(self) -> Outcome | None:
        """Returns a point that a search by numbers finds; it is made once."""
        if self.searched or not self.alone:
            return None
        self.searched = True
        place = negative_place(self.claim.polynomial, self.tie, self.claim.domain.box[self.tie.variable])
        return self._looked(place) if place is not None else None

    def _looked(self, x: Fraction) -> Outcome | None:
        """Returns a point with this x that refutes the claim; few values of the others are tried."""
        box = self.claim.domain.box
        if x not in box[self.tie.variable]:
            return None
        others = {
            n: i for n, i in box.items() if n != self.tie.variable and n in self.claim.domain.ring.parameters
        }
        values = [[v for v in (i.lower, i.simplest(), i.upper) if v in i] for i in others.values()]
        for choice in islice(product(*values), MOST_TRIED):
            given = {self.tie.variable: x, **dict(zip(others, choice, strict=True))}
            if fails_at(self.claim, given):
                point = self.confirm(given)
                if point is not None:
                    return Outcome(point=point)
        return None

    def decided(self, cell: LogarithmCell) -> Outcome:
        """Decides the claim about a polynomial that a cell has come to."""
        if self.alone:
            form = patch(cell.claim.polynomial, cell.claim.domain.box)
            tokens = self._tree(form, cell.main, cell.claim.domain.box[cell.main])
            return Outcome(proof=certificates.tree(tokens)) if tokens else Outcome()

        def confirm(point: Point) -> Point | None:
            if cell.main == self.tie.name:  # x stands for another number there
                return None
            return self.confirm({n: v for n, v in point.items() if n != self.tie.name})

        return self.solve(cell.claim, self.work.part(LEAVES * 8), confirm, 0)

    def _tree(self, form: Patch, name: str, interval: Interval) -> list[Token] | None:
        """Returns a tree of cuts of one variable with nonnegative coefficients at all leaves, if small."""
        tokens: list[Token] = []
        pending = [(form, interval.lower, interval.upper)]
        leaves = 0
        while pending:
            form, low, high = pending.pop()
            self.work.spend(len(form.entries))
            if min(form.entries) >= 0:
                tokens.append("+")
                continue
            leaves += 1
            if leaves > LEAVES or self.work.exhausted or _fails(form) or name not in form.names:
                return None
            middle = (low + high) / 2
            tokens.append(certificates.cut(name, middle))
            below, above = split(form, name)
            pending += [(above, middle, high), (below, low, middle)]
        return tokens

    def _near_zero(self, top: Fraction) -> Outcome | Placed:
        """Returns b and the part of the cell (0, b], or a point, or why there is none."""
        power = _power(self.claim.polynomial, self.tie)
        if power > MAX_POWER:
            return Outcome(reason=self._where(ZERO, top))
        k = max(4, ceil((power + 1) / log(2)))
        while True:
            b = min(Fraction(1, 2**k), top / 2)
            cell = near_zero(self.claim, self.tie, b, power)
            found = self.decided(cell)
            if found.proof is not None:
                return b, {**cell.part, "proof": found.proof}
            for j in range(1, 17):
                if seen := self._looked(b**j):
                    return seen
            if seen := self._search():
                return seen
            if k >= FARTHEST or self.work.exhausted:
                return Outcome(reason=self._where(ZERO, b))
            k = min(2 * k, FARTHEST)


def shown_between(claim: Claim, tie: Unbounded, ends: tuple[Fraction, Fraction], work: RemainingWork) -> bool:
    """Tells whether a claim about x and what is tied to it is shown on a cell [a, b], a > 0, in one step."""
    cells = _Cells(claim, tie, work, lambda _: None, _nobody)
    return cells.shown(*ends).proof is not None


def shown_near_zero(claim: Claim, tie: Unbounded, b: Fraction, work: RemainingWork) -> bool:
    """Tells whether a claim about x and what is tied to it is shown for 0 < x ≤ b, in one step."""
    power = _power(claim.polynomial, tie)
    if b > Fraction(1, 2 ** max(4, ceil((power + 1) / log(2)))):
        return False
    cells = _Cells(claim, tie, work, lambda _: None, _nobody)
    return cells.decided(near_zero(claim, tie, b, power)).proof is not None


def _nobody(claim: Claim, work: RemainingWork, confirm: Confirm, level: int) -> Outcome:
    return Outcome(reason="a claim about x alone was expected")


def _fails(form: Patch) -> bool:
    """Tells whether the polynomial is negative at a vertex, where cutting cannot help."""
    return any(value < 0 for _, value in form.corners())


def halves(low: Fraction, high: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Yields cells from the right to the left, in which the ends differ by a factor of at most 2."""
    while True:
        next_ = max(low, high / 2)
        yield next_, high
        if next_ == low:
            return
        high = next_


def _power(polynomial: Polynomial, tie: Unbounded) -> int:
    """Returns M such that x·eps^M times the other terms is small beside those with the least power of x."""
    names = [str(n) for n in polynomial.context().names()]
    x, t = names.index(tie.variable), names.index(tie.name)
    monomials = polynomial.monoms()
    least = min(int(m[x]) for m in monomials)
    leading = max(int(m[t]) for m in monomials if int(m[x]) == least)
    return max(1, max(int(m[t]) for m in monomials) - leading + 1)


def _size(polynomial: Polynomial, tie: Unbounded, terms: int) -> int:
    """Returns how many coefficients in x and r the polynomial of a cell has."""
    names, degrees = polynomial.context().names(), [int(d) for d in polynomial.degrees()]
    high = dict(zip(map(str, names), degrees, strict=True))
    return (high[tie.variable] + terms * high[tie.name] + 1) * (high[tie.name] + 1)
