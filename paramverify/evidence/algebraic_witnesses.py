"""Witnesses at algebraic points, evaluated exactly from the model: where no rational point is a witness.

Values at such a point are elements of the number field of its coordinates. What is compared is what
`evidence.witnesses` compares at rational points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import fmpq_poly

from paramverify.algebra.number_fields import (
    AlgebraicPoint,
    FieldNumber,
    as_text,
    field_polynomial,
    point_document,
)
from paramverify.algebra.polynomials import RationalFunction, key
from paramverify.algebra.real_roots import RealRoot
from paramverify.claims import AllOutputs, Claim, Origin, Stated
from paramverify.divergences import Event
from paramverify.errors import DefectError, InputError
from paramverify.evidence.divergence_witnesses import pair_of
from paramverify.formats.refutations import fails_at_algebraic
from paramverify.models.definitions import Inequality
from paramverify.models.model import AnyModel, Model
from paramverify.models.model_evaluation import observation_indices
from paramverify.models.priors import InitialDistribution


@dataclass(frozen=True, eq=False)
class AlgebraicCounterexample:
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

    @cached_property
    def parameters(self) -> Mapping[str, Fraction | RealRoot]:
        """The coordinates, each rational or a root of its minimal polynomial."""
        return coordinates(self.point)


@dataclass(frozen=True, eq=False)
class AlgebraicWitness:
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

    @cached_property
    def parameters(self) -> Mapping[str, Fraction | RealRoot]:
        """The coordinates, each rational or a root of its minimal polynomial."""
        return coordinates(self.point)


AtAlgebraic = AlgebraicCounterexample | AlgebraicWitness


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
    if isinstance(model, Inequality) and isinstance(origin, Stated):
        found = compare_at(model, origin, point)
        if not found.fails:
            raise DefectError("a claim is violated at a point where its comparison is true")
        return found
    if isinstance(origin, AllOutputs) or not isinstance(origin, Origin):
        return None
    if isinstance(model, Model) and _is_plain(model, origin):
        witness = evaluate(model, origin, point)
        if not witness.exceeds:
            raise DefectError("a claim is violated at a point where the model is within its bound")
        return witness
    return None


def _is_plain(model: Model, origin: Origin) -> bool:
    """Tells whether outputs are compared one by one, and no parameter means more than itself."""
    ring = model.domain.ring
    compared = model.measure.event is Event.OUTPUT
    return compared and not (
        ring.unbounded or ring.outputs or any(map(model.hmm.is_density, origin.observations))
    )


def compare_at(model: Inequality, stated: Stated, point: AlgebraicPoint) -> AlgebraicCounterexample:
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


def document(found: AtAlgebraic) -> dict[str, Any]:
    """Returns a witness as evidence has it; `algebraic` is the point, numbers are polynomials in its t."""
    at = {
        "parameters": {name: coordinate_document(value) for name, value in found.parameters.items()},
        "algebraic": point_document(found.point),
    }
    if isinstance(found, AlgebraicCounterexample):
        return {
            **at,
            "number": found.stated.number,
            "statement": found.stated.text,
            "relation": found.relation,
            "left": number_document(found.left),
            "right": number_document(found.right),
            "difference": number_document(found.difference),
            "fails": found.fails,
        }
    return {
        **at,
        "secrets": [found.left, found.right],
        "observations": list(found.observations),
        "probabilities": [number_document(p) for p in found.probabilities],
        "ratio": number_document(found.ratio),
        "bound": number_document(found.bound),
        "exceeds": found.exceeds,
        **({"distance": str(found.distance)} if found.distance is not None else {}),
    }
