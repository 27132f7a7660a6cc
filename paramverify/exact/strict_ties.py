"""Strict claims about x and eps = −ln(x)/step alone: f > 0, as −1 ≥ 0 on the points with −f ≥ 0 (`positive`).

First f ≥ 0 is decided, which always ends in one variable: where it fails, a point says so. Where it holds, f
is zero at most at some points, or tends to zero at an end. A rational zero is a point at which the strict
claim fails. Without one:

- If c·f − 1 ≥ 0 for some c > 0, then −1 = c·(−f) + (c·f − 1) ≥ 0 on the points with −f ≥ 0: there are none.
- Otherwise, as where f tends to 0 at an end, there are cells, on which −f ≥ 0 nowhere. On the last one powers
  of 1 − x > 0 are divided out, and on the first one powers of x > 0 and of 1/eps > 0.

A zero inside at an irrational x or eps is left open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, log, log2

from paramverify.algebra.domains import Constraint
from paramverify.algebra.exponents import Unbounded
from paramverify.algebra.polynomials import (
    Polynomial,
    constant_value,
    is_constant,
    rational,
    value_at,
    variables,
)
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import Proof
from paramverify.exact.settling import Outcome
from paramverify.formats.refutations import Confirm
from paramverify.simplify.reductions import live_constraints

Decide = Callable[[Claim, Confirm], Outcome]

TRIES = 6  # factors c
FARTHER = 4_096  # between one c and the next one
FARTHEST = 60  # of the numbers 2^-k at which g is looked at
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
        places = [0.5**k for k in range(1, FARTHEST)] + [k / BETWEEN for k in range(1, BETWEEN)]
        places = [p for p in places if self.interval.lower <= p <= self.interval.upper]
        least = min((sum(c * p**m * (-log(p) / step) ** n for m, n, c in terms) for p in places), default=1.0)
        return Fraction(2) ** (ceil(-log2(least)) + 1) if least > 0 else Fraction(FARTHER)
