"""From a solver's model, whose values may be algebraic numbers, to a rational point that violates the claim.

A violation `f < 0` is open, so near a violating real point there are rational ones, unless it lies where only
irrational points satisfy the constraints (as in `2·p² = 1`), or where the coordinates depend on each other
(as in `p + q = 1`). For the latter one coordinate is fixed at a rational and the solver asked for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from paramverify.algebra.domains import Interval
from paramverify.algebra.simplest import simplest_between
from paramverify.answers import Answer, End, Open, Proved, Refuted
from paramverify.claims import Claim

# A value is a rational, or a function that approximates a real number to within 2**-bits.
Approximation = Callable[[int], Fraction]
Value = Fraction | Approximation
Assignment = Mapping[str, Value]

PRECISIONS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)  # bits
MAX_CORNERS = 4  # so many irrational coordinates are rounded independently of each other


@dataclass(frozen=True)
class Satisfied:
    """A solver's `sat` for the negated claim: its model, and what it printed."""

    model: Assignment
    transcript: str


Solve = Callable[[Claim], Satisfied | Proved | Open]


def decide(claim: Claim, solve: Solve) -> Answer:
    """Returns a solver's answer, a model of the negated claim turned into a refutation at a rational point.

    Guarantees: the point of a `Refuted` lies in the domain and has f < 0, in exact arithmetic.
    """
    found = solve(claim)
    if not isinstance(found, Satisfied):
        return found
    point = violation(claim, found.model, solve)
    if point is None:
        reason = "the model leads to no rational point that violates the claim"
        return Open(End.GAVE_UP, reason, found.transcript, denies=True)
    return Refuted(point, found.transcript)


def violation(claim: Claim, model: Assignment, solve: Solve) -> dict[str, Fraction] | None:
    """Returns a rational point of the domain with f < 0, evaluated exactly, or None if none was found.

    `model` gives values to the variables that matter; others get the simplest value of their interval.
    """
    whole: Assignment = {n: model.get(n, interval.simplest()) for n, interval in claim.domain.box.items()}
    for point in _near(whole):
        if point in claim.domain and not claim.holds_at(point):
            return point
    name = next((n for n, value in whole.items() if callable(value)), None)
    if name is None:
        return None
    for point in _near({name: whole[name]}):
        if point[name] not in claim.domain.box[name]:
            continue
        fixed = {**claim.domain.box, name: Interval(point[name], point[name], True, True)}
        narrower = replace(claim, domain=replace(claim.domain, box=fixed))
        found = solve(narrower)
        if isinstance(found, Satisfied):
            return violation(narrower, {**found.model, name: point[name]}, solve)
    return None


def _near(model: Assignment) -> Iterator[dict[str, Fraction]]:
    """Yields rational points near the model, ever nearer, rounding each irrational coordinate three ways."""
    exact = {name: value for name, value in model.items() if isinstance(value, Fraction)}
    irrational = {name: value for name, value in model.items() if not isinstance(value, Fraction)}
    if not irrational:
        yield exact
        return
    for bits in PRECISIONS:
        ways = [_rounded(value(bits), Fraction(1, 2**bits)) for value in irrational.values()]
        choices = product(*ways) if len(ways) <= MAX_CORNERS else zip(*ways, strict=True)
        for choice in choices:
            yield exact | dict(zip(irrational, choice, strict=True))


def _rounded(value: Fraction, error: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Returns simple rationals near, below and above every number that is at most `error` from the value."""
    return (
        simplest_between(value - 2 * error, value + 2 * error),
        simplest_between(value - 3 * error, value - error),
        simplest_between(value + error, value + 3 * error),
    )
