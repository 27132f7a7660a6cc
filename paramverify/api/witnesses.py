"""Witnesses as programs get them: exact numbers that behave as numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.checker.strict_reading import counted

if TYPE_CHECKING:
    from paramverify.evidence import algebraic_witnesses, interval_witnesses, witnesses
    from paramverify.evidence.witnesses import AnyWitness

Chance = ExactNumber | tuple[Fraction, Fraction]
Coordinate = Fraction | ExactNumber


@dataclass(frozen=True)
class Within:
    """Sets of outputs, such as `0..1/8`, with their probabilities under both secrets.

    A probability is exact, or two numbers between which it lies.
    """

    observations: tuple[str, ...]
    probabilities: tuple[Chance, Chance]


@dataclass(frozen=True)
class Witness:
    """A violation, or a candidate, exact: one output that is too likely on one side.

    `left` and `right` are the secrets, or the inputs that are neighbours. `probabilities` are those of
    `observations` under both, at the point `parameters`. `ratio` is the first divided by the second, which
    is infinite where the second is 0; `bound` is the largest ratio that is allowed there. Where an output
    is a place of a density, `densities` is true: then these are densities, and `within` has a set of outputs
    beside it that is too likely, with its probabilities. An irrational coordinate is an `ExactNumber`.
    """

    parameters: Mapping[str, Coordinate]
    left: str | tuple[str, ...]
    right: str | tuple[str, ...]
    observations: tuple[str, ...]
    probabilities: tuple[ExactNumber, ExactNumber]
    ratio: ExactNumber
    bound: ExactNumber
    densities: bool = False
    within: Within | None = None

    def __repr__(self) -> str:
        at = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        sides = f"{self.left!r} against {self.right!r}"
        return f"<Witness: {' '.join(self.observations)}, {sides}, ratio {self.ratio}{at and f', at {at}'}>"


@dataclass(frozen=True)
class Counterexample:
    """A point at which an inequality is false, with the exact values of both sides.

    A coordinate that is no rational number is an `ExactNumber`: there is no rational point then, as a rule.
    """

    parameters: Mapping[str, Coordinate]
    statement: str
    left: ExactNumber
    right: ExactNumber

    def __repr__(self) -> str:
        at = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        return f"<Counterexample: {self.statement} is false{at and f' at {at}'}>"


@dataclass(frozen=True)
class SetWitness:
    """Two exact probabilities of one set of outputs that break an (ε, δ) bound at one prior.

    `probabilities` are those of the set of `outputs` under both secrets. `beyond` is the first minus `bound`
    times the second, which is more than `delta`. Each output is a sequence.
    """

    parameters: Mapping[str, Fraction]
    left: str
    right: str
    outputs: tuple[tuple[str, ...], ...]
    probabilities: tuple[ExactNumber, ExactNumber]
    bound: ExactNumber
    delta: ExactNumber
    beyond: ExactNumber

    def __repr__(self) -> str:
        at = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        sides = f"{self.left!r} against {self.right!r}"
        size = counted(len(self.outputs), "output")
        return f"<SetWitness: {size}, {sides}, beyond {self.beyond}{at and f', at {at}'}>"


@dataclass(frozen=True)
class DivergenceWitness:
    """A divergence of one distribution of outputs from another, above its bound, at one prior.

    `divergence` is the Rényi divergence of the order, rounded; without an order that of Kullback and Leibler.
    Of `renyi`, `moment` is the exact sum Σ Pr(ω|left)^order / Pr(ω|right)^(order−1), or infinity, and `bound`
    is its bound. Of `kl` and `zcdp`, `moment` is None and `bound` is that of the divergence,
    where it is a rational number.
    """

    parameters: Mapping[str, Fraction]
    left: str
    right: str
    order: Fraction | None
    moment: ExactNumber | None
    bound: ExactNumber | None
    divergence: float

    def __repr__(self) -> str:
        at = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        sides = f"{self.left!r} against {self.right!r}"
        return f"<DivergenceWitness: {sides}, divergence {self.divergence:.6g}{at and f', at {at}'}>"


@dataclass(frozen=True)
class EnclosedWitness:
    """One output, or with a `delta` a set of them, that is too likely: balls with proved errors say so.

    Each number is told by two, one below and one above: `probabilities` are those of `outputs` under both
    secrets, and the first is more than `bound` times the second plus `delta`, whatever they are in between.
    """

    left: str
    right: str
    outputs: tuple[str, ...]
    probabilities: tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]
    bound: tuple[Fraction, Fraction]
    delta: tuple[Fraction, Fraction] | None

    def __repr__(self) -> str:
        size = counted(len(self.outputs), "output")
        return f"<EnclosedWitness: {size}, {self.left!r} against {self.right!r}>"


ToldWitness = Witness | SetWitness | DivergenceWitness | EnclosedWitness | Counterexample


def told_witness(found: AnyWitness) -> ToldWitness:
    """Returns a witness of the core with numbers that behave as numbers."""
    from paramverify.evidence import algebraic_witnesses, enclosed_witnesses, witnesses
    from paramverify.evidence.divergence_witnesses import LossWitness, MomentWitness

    if isinstance(found, algebraic_witnesses.AtAlgebraic):
        return _at_algebraic(found)
    if isinstance(found, witnesses.ExactCounterexample):
        sides = ExactNumber(found.left), ExactNumber(found.right)
        return Counterexample(dict(found.parameters), found.stated.text, *sides)
    if isinstance(found, MomentWitness):
        return DivergenceWitness(
            parameters=dict(found.parameters),
            left=found.left,
            right=found.right,
            order=Fraction(found.order) if found.order else None,
            moment=ExactNumber(found.moment),
            bound=ExactNumber(found.bound),
            divergence=float(found.measure.value_near(found.moment)),
        )
    if isinstance(found, LossWitness):
        return DivergenceWitness(
            parameters=dict(found.parameters),
            left=found.left,
            right=found.right,
            order=Fraction(found.order) if found.order else None,
            moment=None,
            bound=ExactNumber(found.bound[0]) if found.bound[0] == found.bound[1] else None,
            divergence=float(sum(found.value) / 2) if found.value else math.inf,
        )
    if isinstance(found, enclosed_witnesses.EnclosureWitness):
        return EnclosedWitness(
            left=found.left,
            right=found.right,
            outputs=found.outputs,
            probabilities=found.probabilities,
            bound=found.bound,
            delta=found.delta,
        )
    if isinstance(found, witnesses.ExactSetWitness):
        return _of_set(found)
    left, right = found.probabilities
    return Witness(
        parameters=dict(found.parameters),
        left=found.left,
        right=found.right,
        observations=tuple(found.observations),
        probabilities=(ExactNumber(left), ExactNumber(right)),
        ratio=ExactNumber(found.ratio),
        bound=ExactNumber(found.bound),
        densities=found.densities,
        within=_within(found.within) if found.within else None,
    )


def _at_algebraic(found: algebraic_witnesses.AtAlgebraic) -> Witness | Counterexample:
    at = {
        name: value if isinstance(value, Fraction) else ExactNumber(value)
        for name, value in found.parameters.items()
    }
    from paramverify.evidence.algebraic_witnesses import AlgebraicCounterexample

    if isinstance(found, AlgebraicCounterexample):
        return Counterexample(
            at, found.stated.text, ExactNumber(found.left.root), ExactNumber(found.right.root)
        )
    left, right = found.probabilities
    return Witness(
        parameters=at,
        left=found.left,
        right=found.right,
        observations=tuple(found.observations),
        probabilities=(ExactNumber(left.root), ExactNumber(right.root)),
        ratio=ExactNumber(found.ratio.root if found.ratio else None),
        bound=ExactNumber(found.bound.root),
    )


def _of_set(found: witnesses.ExactSetWitness) -> SetWitness:
    left, right = found.probabilities
    return SetWitness(
        parameters=dict(found.parameters),
        left=found.left,
        right=found.right,
        outputs=found.outputs,
        probabilities=(ExactNumber(left), ExactNumber(right)),
        bound=ExactNumber(found.bound),
        delta=ExactNumber(found.delta),
        beyond=ExactNumber(found.beyond),
    )


def _within(found: interval_witnesses.OutputSets) -> Within:
    left, right = (p if isinstance(p, tuple) else ExactNumber(p) for p in found.probabilities)
    return Within(found.observations, (left, right))
