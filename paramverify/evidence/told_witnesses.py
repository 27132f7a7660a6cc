"""Witnesses as programs get them: exact numbers that behave as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.kernel.strict_reading import counted

Chance = ExactNumber | tuple[Fraction, Fraction]
Coordinate = Fraction | ExactNumber


@dataclass(frozen=True)
class Within:
    """Sets of outputs, such as `0..1/8`, with their probabilities under both secrets.

    A probability is exact, or two numbers between which it lies.
    """

    observations: tuple[str, ...]
    probabilities: tuple[Chance, Chance]


class Told:
    """What all witnesses have."""

    def rows(self) -> list[tuple[str, str]]:
        """Returns the numbers for a small table; none where words say more."""
        return []


@dataclass(frozen=True)
class Witness(Told):
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

    def rows(self) -> list[tuple[str, str]]:
        """Returns the point, the output, both probabilities, the ratio and its bound."""
        at = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        both = zip((self.left, self.right), self.probabilities, strict=True)
        return [
            *([("at", at)] if at else []),
            ("output", " ".join(self.observations)),
            *((f"under {side}", str(p)) for side, p in both),
            ("ratio", str(self.ratio)),
            ("bound", str(self.bound)),
        ]

    def __repr__(self) -> str:
        at = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        sides = f"{self.left!r} against {self.right!r}"
        return f"<Witness: {' '.join(self.observations)}, {sides}, ratio {self.ratio}{at and f', at {at}'}>"


@dataclass(frozen=True)
class Counterexample(Told):
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
class SetWitness(Told):
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
class DivergenceWitness(Told):
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
class EnclosedWitness(Told):
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
