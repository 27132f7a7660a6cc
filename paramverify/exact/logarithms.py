"""Claims in which a parameter stands beside its exponential: polynomials in x and eps = −ln(x)/step.

The interval of x is cut into cells (`exact.logarithm_cells`), on which the claim is about a polynomial that
is decided as all others. Cells that are left open are cut.

In one variable this ends. Two different irreducible polynomials in x and ln x have no common zero with
0 < x < 1, and an irreducible one with its derivative has none: such a zero would make x and ln x algebraic,
and ln x is transcendental for algebraic x ≠ 1 [Lindemann82]. So each factor has simple zeros, the factors
with odd powers must be without a zero, and then they are bounded away from 0 on each cell that does not reach
0 or 1. At these two ends the leading terms decide, of the series at 1 and of the largest terms at 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from math import ceil, log, log2
from typing import Any

from flint import fmpq

from paramverify.algebra.bernstein import Patch, patch, split
from paramverify.algebra.domains import Interval
from paramverify.algebra.exponents import Unbounded
from paramverify.algebra.points import sign_at
from paramverify.algebra.polynomials import Point, Polynomial, variables
from paramverify.algebra.ties import tied_in
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import Proof, Token
from paramverify.exact.logarithm_cells import MAX_POWER, LogarithmCell, between, near_zero, order_at_one
from paramverify.exact.logarithm_search import negative_place
from paramverify.exact.settling import Outcome, RemainingWork
from paramverify.exact.strict_ties import solve_strict
from paramverify.formats.refutations import Confirm, fails_at
from paramverify.simplify.reductions import live_constraints

Solve = Callable[[Claim, RemainingWork, Confirm, int], Outcome]
Placed = tuple[Fraction, Mapping[str, Any]]  # the lower end of a cell, and its part of a certificate

TERMS = 16  # of the series of a logarithm
LEAVES = 24  # boxes of one cell before it is cut
MAX_DEPTH = 120  # cuts of one cell
SEARCH_FROM = 2  # cuts, before a place where f < 0 is looked for by numbers
MOST_TRIED = 30  # points with one x
FARTHEST = 1_024  # cells go down to 2**-FARTHEST before x is compared with powers of eps
ONE, ZERO = Fraction(1), Fraction(0)


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
        return Outcome(reason="the negative of a square")
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
            return Outcome(point=point) if point is not None else Outcome(reason="no point was confirmed")
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
                return Outcome(reason="out of work beside a zero")


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
        return f"out of work for {f} >= 0 with {where}"

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
