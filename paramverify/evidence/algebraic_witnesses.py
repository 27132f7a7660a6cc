"""Witnesses at algebraic points, evaluated exactly from the model: where no rational point is a witness.

Values at such a point are elements of the number field of its coordinates. What is compared is what
`evidence.witnesses` compares at rational points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flint import fmpq_poly

from paramverify import printable
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.number_fields import (
    AlgebraicPoint,
    FieldNumber,
    as_text,
    field_polynomial,
    point_document,
)
from paramverify.algebra.polynomials import RationalFunction, key, rational
from paramverify.algebra.rationals import decimal_text
from paramverify.algebra.real_roots import RealRoot
from paramverify.claims import AllOutputs, Claim, Origin, Stated
from paramverify.errors import DefectError, InputError
from paramverify.evidence import number_words as words
from paramverify.evidence.divergence_witnesses import pair_of
from paramverify.evidence.told_witnesses import Counterexample, Witness
from paramverify.evidence.witness import AnyWitness
from paramverify.formats.refutations import fails_at_algebraic
from paramverify.models.model import AnyModel, Model, of_privacy
from paramverify.models.model_evaluation import observation_indices
from paramverify.models.priors import InitialDistribution

DIGITS = 12  # of coordinates


class AtAlgebraic(AnyWitness):
    """A witness at a point that has irrational coordinates."""

    if TYPE_CHECKING:  # a field of both classes

        @property
        def point(self) -> AlgebraicPoint:
            """The point."""

    @cached_property
    def parameters(self) -> Mapping[str, Fraction | RealRoot]:
        """The coordinates, each rational or a root of its minimal polynomial."""
        return coordinates(self.point)

    @property
    def place(self) -> str:
        """The point in words: `x ≈ 2.2360679775, y = 1/2`."""
        return ", ".join(
            f"{name} = {rational(value)}"
            if isinstance(value, Fraction)
            else f"{name} ≈ {decimal_text(value.middle(), DIGITS)}"
            for name, value in self.parameters.items()
        )

    def breaks(self, claim: Claim) -> bool:
        """Tells whether a claim fails at the point."""
        return fails_at_algebraic(claim, self.point)

    def _roots(self) -> list[str]:
        """Returns what the irrational coordinates are: each the only zero of a polynomial in an interval."""
        return [
            f"{name} is the only zero of "
            f"{words.root_polynomial(value.factor) or f'a polynomial of degree {value.factor.degree()}'} "
            f"between {rational(value.lower)} and {rational(value.upper)}"
            for name, value in self.parameters.items()
            if not isinstance(value, Fraction)
        ]

    def _at(self) -> dict[str, Any]:
        """Returns the point as JSON data; other numbers are polynomials in the `t` of `algebraic`."""
        return {
            "parameters": {name: coordinate_document(value) for name, value in self.parameters.items()},
            "algebraic": point_document(self.point),
        }

    def _told_at(self) -> dict[str, Fraction | ExactNumber]:
        return {n: v if isinstance(v, Fraction) else ExactNumber(v) for n, v in self.parameters.items()}


@dataclass(frozen=True, eq=False)
class AlgebraicCounterexample(AtAlgebraic):
    """A comparison of a case and the exact values of its two sides, at one algebraic parameter point."""

    point: AlgebraicPoint
    stated: Stated
    relation: str
    left: FieldNumber
    right: FieldNumber
    fails: bool
    meant: Mapping[str, str] = field(default_factory=dict)

    @property
    def difference(self) -> FieldNumber:
        """The left side minus the right side."""
        return self.left - self.right

    @property
    def shown(self) -> bool:
        """Whether the comparison is false."""
        return self.fails

    @property
    def origin(self) -> Stated:
        """The comparison."""
        return self.stated

    def lines(self) -> list[str]:
        """Returns sentences: the point, the comparison, and its sides."""
        return [
            f"With {self.place}: {self.stated.text} is {'false' if self.fails else 'true'}.",
            *self._roots(),
            f"left side {words.root_equals(self.left)}",
            f"right side {words.root_equals(self.right)}",
            f"left - right {words.root_equals(self.difference)}, "
            f"which is {'not ' * self.fails}{self.relation} 0",
        ]

    def document(self) -> dict[str, Any]:
        """Returns it as JSON data."""
        return {
            **self._at(),
            "number": self.stated.number,
            "statement": self.stated.text,
            "relation": self.relation,
            "left": number_document(self.left),
            "right": number_document(self.right),
            "difference": number_document(self.difference),
            "fails": self.fails,
        }

    def told(self) -> Counterexample:
        """Returns it as Python programs get it."""
        sides = ExactNumber(self.left.root), ExactNumber(self.right.root)
        return Counterexample(self._told_at(), self.stated.text, *sides)


@dataclass(frozen=True, eq=False)
class AlgebraicWitness(AtAlgebraic):
    """Two exact probabilities of one output under two secrets, at one algebraic parameter point."""

    point: AlgebraicPoint
    left: str
    right: str
    observations: tuple[str, ...]
    probabilities: tuple[FieldNumber, FieldNumber]
    bound: FieldNumber
    exceeds: bool
    distance: Fraction | None = None
    meant: Mapping[str, str] = field(default_factory=dict)

    @property
    def ratio(self) -> FieldNumber | None:
        """Pr(observations | left) / Pr(observations | right); None stands for infinity."""
        left, right = self.probabilities
        return left / right if right.sign() > 0 else None

    @property
    def shown(self) -> bool:
        """Whether the ratio is beyond the bound."""
        return self.exceeds

    @property
    def origin(self) -> Origin:
        """The output, and the direction in which it is compared."""
        return Origin(self.left, self.right, self.observations)

    @property
    def word(self) -> tuple[str, ...]:
        """The output sequence."""
        return self.observations

    def lines(self) -> list[str]:
        """Returns sentences: the point, secrets, output, probabilities, ratio and bound."""
        output = words.word(self.observations)
        left, right = (printable.name(secret) for secret in (self.left, self.right))
        far = f" for the distance {self.distance}" if self.distance is not None else ""
        what = f"output{'s' * (len(self.observations) > 1)} {output}"
        verb = "is" if len(self.observations) == 1 else "are"
        told = f"{words.root_number(self.ratio)} times as likely" if self.ratio else "infinitely more likely"
        than = "as" if self.ratio else "than"
        return [
            f"With {self.place}: {what} {verb} {told} under '{left}' {than} '{right}', "
            f"which {'exceeds' if self.exceeds else 'is within'} "
            f"the bound {words.root_number(self.bound)}{far}.",
            *self._roots(),
            *(
                f"Pr({output} | {secret}) {words.root_equals(value)}"
                for secret, value in zip((left, right), self.probabilities, strict=True)
            ),
        ]

    def document(self) -> dict[str, Any]:
        """Returns it as JSON data."""
        return {
            **self._at(),
            "secrets": [self.left, self.right],
            "observations": list(self.observations),
            "probabilities": [number_document(p) for p in self.probabilities],
            "ratio": number_document(self.ratio),
            "bound": number_document(self.bound),
            "exceeds": self.exceeds,
            **({"distance": str(self.distance)} if self.distance is not None else {}),
        }

    def told(self) -> Witness:
        """Returns it as Python programs get it."""
        left, right = self.probabilities
        return Witness(
            parameters=self._told_at(),
            left=self.left,
            right=self.right,
            observations=tuple(self.observations),
            probabilities=(ExactNumber(left.root), ExactNumber(right.root)),
            ratio=ExactNumber(self.ratio.root if self.ratio else None),
            bound=ExactNumber(self.bound.root),
        )


def coordinates(point: AlgebraicPoint) -> dict[str, Fraction | RealRoot]:
    """Returns the coordinates of a point, each rational or a root of its minimal polynomial."""
    found: dict[str, Fraction | RealRoot] = {}
    for name in point.coordinates:
        value = point.coordinate(name)
        found[name] = value.root if value.rational is None else value.rational
    return found


def find_algebraic(model: AnyModel, claim: Claim, point: AlgebraicPoint) -> AtAlgebraic | None:
    """Returns the witness at an algebraic point where a claim fails; None where there is none of this kind.

    There are witnesses of comparisons and of single outputs with probabilities.
    """
    origin = claim.origins[0] if claim.origins else None
    if not fails_at_algebraic(claim, point):
        return None
    if isinstance(origin, Stated):
        found = compare_at(model, origin, point)
        if not found.fails:
            raise DefectError("a claim is violated at a point where its comparison is true")
        return found
    if isinstance(origin, AllOutputs) or not isinstance(origin, Origin):
        return None
    model = of_privacy(model, "a witness", tied=True, densities=True)
    if _is_plain(model, origin):
        witness = evaluate(model, origin, point)
        if not witness.exceeds:
            raise DefectError("a claim is violated at a point where the model is within its bound")
        return witness
    return None


def _is_plain(model: Model, origin: Origin) -> bool:
    """Tells whether no parameter means more than itself, and the output has a probability."""
    ring = model.domain.ring
    return not (ring.unbounded or ring.outputs or any(map(model.hmm.is_density, origin.observations)))


def compare_at(model: AnyModel, stated: Stated, point: AlgebraicPoint) -> AlgebraicCounterexample:
    """Returns the exact values of both sides of a comparison at a point.

    Raises:
        InputError: no such comparison, or a point outside of the domain.
    """
    _check_inside(model, point)
    if not 0 <= stated.number < len(model.comparisons):
        raise InputError(f"the case claims {len(model.comparisons)} comparisons only")
    comparison = model.comparisons[stated.number]
    left, right = _function(comparison.left, point), _function(comparison.right, point)
    own = Stated(stated.number, comparison.text)
    fails = not comparison.is_true((left - right).sign())
    return AlgebraicCounterexample(point, own, comparison.relation, left=left, right=right, fails=fails)


def evaluate(model: Model, origin: Origin, point: AlgebraicPoint) -> AlgebraicWitness:
    """Returns the exact probabilities of an output under both secrets at a point.

    Raises:
        InputError: an unknown secret or observation, a point outside of the domain, or a secret that has
            probability zero there.
    """
    _check_inside(model, point)
    if isinstance(origin, AllOutputs) or not _is_plain(model, origin):
        raise InputError("there is no witness of this kind at an algebraic point")
    pair = pair_of(model, origin.left, origin.right)
    for name, start in ((origin.left, pair.pi), (origin.right, pair.tau)):
        if point.sign(start.mass) <= 0:
            raise InputError(f"the secret {name!r} has probability zero at this point")
    word = observation_indices(model, origin.observations)
    left, right = (_probability(model, start, word, point) for start in (pair.pi, pair.tau))
    bound = _function(model.ratio_bound(pair.distance).ratio, point)
    return AlgebraicWitness(
        point,
        origin.left,
        right=origin.right,
        observations=origin.observations,
        probabilities=(left, right),
        bound=bound,
        exceeds=(left - bound * right).sign() > 0,
        distance=model.distance(pair),
    )


def _check_inside(model: AnyModel, point: AlgebraicPoint) -> None:
    nowhere = Claim(model.domain.ring.number(-1), model.domain)
    if not fails_at_algebraic(nowhere, point):
        raise InputError(f"this point is not in the domain {model.domain.describe()}")


def _function(function: RationalFunction, point: AlgebraicPoint) -> FieldNumber:
    return point.number(function.numerator) / point.number(function.denominator)


def _probability(
    model: Model, start: InitialDistribution, word: tuple[int, ...], point: AlgebraicPoint
) -> FieldNumber:
    """Returns Pr(word | start) by the forward recursion of [F] section 2, on numbers."""
    weights = {state: point.number(weight) for state, weight in start.weights.items()}
    for observation in word:
        moved: dict[int, FieldNumber] = {}
        for state, weight in weights.items():
            for step in model.hmm.steps[state]:
                if step.observation == observation:
                    part = weight * point.number(step.weight)
                    known = moved.get(step.successor)
                    moved[step.successor] = part if known is None else known + part
        weights = moved
    total = FieldNumber(point.root, fmpq_poly([0]))
    for weight in weights.values():
        total = total + weight
    scale = point.number(start.mass)
    for _ in word:
        scale = scale * point.number(model.hmm.denominator)
    return total / scale


# --- as JSON data -----------------------------------------------------------------------------------------


def number_document(value: FieldNumber | None) -> str | dict[str, str]:
    """Returns a value: a rational, or a polynomial in t with rationals between which it lies."""
    if value is None:
        return "infinity"
    if value.rational is not None:
        return as_text(value.rational)
    low, high = value.enclosure()
    return {"exact": key(field_polynomial(value.image)), "lower": as_text(low), "upper": as_text(high)}


def coordinate_document(value: Fraction | RealRoot) -> str | dict[str, str]:
    """Returns a coordinate: a rational, or an interval with exactly one root of a polynomial in x."""
    if isinstance(value, Fraction):
        return as_text(value)
    polynomial = key(field_polynomial(value.factor)).replace("t", "x")
    return {"lower": as_text(value.lower), "upper": as_text(value.upper), "root_of": polynomial}
