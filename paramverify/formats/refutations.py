"""Exact refutations.

From a solver's model, a nearby point or a condition to a rational point where a claim fails.

A violation `f < 0` is open, so near a violating real point there are rational ones, unless it lies where only
irrational points satisfy the constraints (as in `2·p² = 1`), or where the coordinates depend on each other
(as in `p + q = 1`). For the latter one coordinate is fixed at a rational and the solver asked for the others.

From "the claim fails", without a model, to a rational point where it does.

By eliminating all parameters but one, the values of that one at which there is a violation are known; one of
them is chosen, and the next parameter is treated in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, product

from paramverify.algebra.domains import Constraint, Interval, contains, sign_at
from paramverify.algebra.number_fields import AlgebraicPoint
from paramverify.algebra.polynomials import Point, substitute
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.signs import negative_between, towards
from paramverify.answers import Answer, End, Open, Proved, Refuted
from paramverify.claims import Claim
from paramverify.errors import LimitError
from paramverify.formats.quantified_questions import (
    AndCondition,
    Condition,
    NotCondition,
    OrCondition,
    QuantifiedImplication,
    comparisons,
    question,
    samples,
)

Confirm = Callable[[Point], Point | None]
"""Given a point where the claim at hand fails, returns one where the original claim fails, or None."""

_STEPS_INWARD = (1, 2, 4, 8, 16, 32, 64, 128)  # a point is moved inside by 2**-k of the way
_DIRECTIONS = (Fraction(1, 2), Fraction(3, 7))


def refuter(claim: Claim, accept: Confirm | None = None) -> Confirm:
    """Returns the function that turns a point where f < 0, or nearly so, into one of D where f < 0 exactly.

    A point on an open end, or where a factor that was divided out vanishes, is moved inside: first by simple
    steps, then to where f < 0 on the line. `E` is taken as the number that it stands for. With `accept`, that
    function says instead which point of D, if any, is good enough and what is returned for it.
    """
    box = claim.domain.box
    simple = {name: interval.simplest() for name, interval in box.items()}
    accept = accept or (lambda point: point if fails_at(claim, point) else None)

    def confirm(point: Point) -> Point | None:
        start = {**simple, **point}
        inner = [{n: i.lower + (i.upper - i.lower) * ratio for n, i in box.items()} for ratio in _DIRECTIONS]
        # First only what is outside is moved: constraints may allow nothing else.
        targets = [{n: inner[0][n] if v not in box[n] else v for n, v in start.items()}, *inner]
        moved = (towards(start, target, Fraction(1, 2**k)) for target in targets for k in _STEPS_INWARD)
        lines = () if claim.domain.ring.tied else inner
        crossings = (p for target in lines for p in negative_between(claim.polynomial, start, target))
        found = map(accept, chain([start], moved, crossings))
        # Without parameters the point is empty, and still a point.
        return next((point for point in found if point is not None), None)

    return confirm


def fails_at(claim: Claim, point: Point) -> bool:
    """Tells exactly whether a point is in the domain and f < 0 there, `E` being the number it stands for.

    It is false where that cannot be told: a point that is no witness for sure is none.
    """
    with suppress(LimitError):
        return sign_at(claim.domain, claim.polynomial, point) < 0 and contains(claim.domain, point)
    return False


def fails_at_algebraic(claim: Claim, point: AlgebraicPoint) -> bool:
    """Tells exactly whether an algebraic point is in the domain and f < 0 there; no constant `E` may occur.

    False where the interval of the point does not isolate one root.
    """
    domain = claim.domain
    if domain.constant is not None or domain.ring.tied or not point.is_isolated:
        return False
    if not domain.box.keys() <= point.coordinates.keys():
        return False
    for name, interval in domain.box.items():
        for end, closed, side in (
            (interval.lower, interval.lower_closed, 1),
            (interval.upper, interval.upper_closed, -1),
        ):
            away = side * point.sign(domain.ring.variable(name) - domain.ring.number(end))
            if away < 0 or (away == 0 and not closed):
                return False
    if point.sign(claim.polynomial) >= 0:
        return False
    return all(point.sign(c.polynomial) >= c.strict for c in domain.constraints)


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
    point = rounded_violation(claim, found.model, solve)
    if point is None:
        reason = "the model leads to no rational point that violates the claim"
        return Open(End.GAVE_UP, reason, found.transcript, denies=True)
    return Refuted(point, found.transcript)


def rounded_violation(claim: Claim, model: Assignment, solve: Solve) -> dict[str, Fraction] | None:
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
            return rounded_violation(narrower, {**found.model, name: point[name]}, solve)
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


Ask = Callable[[QuantifiedImplication], Condition | Open]


def violation_by_condition(claim: Claim, ask: Ask | None = None) -> dict[str, Fraction] | None:
    """Returns a rational point of the domain with f < 0, evaluated exactly, or None if none was found.

    `ask` answers questions with one free parameter, rightly or not; with right answers a point is found
    unless only irrational ones violate the claim. Without it only simple points are tried.
    """

    def accept(point: Point) -> Point | None:
        return point if point in claim.domain and not claim.holds_at(point) else None

    easy = refuter(claim, accept)({})
    if easy is not None:
        return dict(easy)
    if ask is None:
        return None
    point = {name: interval.simplest() for name, interval in claim.domain.box.items()}
    part = claim
    for name in question([claim.polynomial], claim.domain).bound:
        about = question([part.polynomial], part.domain, (name,))
        condition: Condition | Open = OrCondition(
            (NotCondition(AndCondition(about.hypotheses)), AndCondition(about.conclusions))
        )
        if about.bound:
            condition = ask(about)
        if isinstance(condition, Open):
            return None
        failing = AndCondition((*about.assumptions, NotCondition(condition)))
        for value in samples(comparisons(failing), name, part.domain.box[name]):
            point[name] = value
            if failing.holds_at(point):
                break
        else:
            return None
        part = fixed(part, name, value)
    return None if accept(point) is None else point


def fixed(claim: Claim, name: str, value: Fraction) -> Claim:
    """Returns the claim at one value of a parameter."""
    domain = claim.domain
    constraints = tuple(
        Constraint(substitute(c.polynomial, {name: value}), c.strict, c.text) for c in domain.constraints
    )
    box = {**domain.box, name: Interval(value, value, True, True)}
    polynomial = substitute(claim.polynomial, {name: value})
    return Claim(polynomial, replace(domain, box=box, constraints=constraints), claim.origins)
