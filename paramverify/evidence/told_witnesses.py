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
    """A violation, or a candidate for one: one output with its exact probabilities under two secrets.

    It is a violation if `ratio` is larger than `bound`.

    Attributes:
        parameters (dict): The values of the parameters; an irrational value is an `ExactNumber`.
        left (text or tuple of texts): The first secret or input.
        right (text or tuple of texts): The second secret, or the neighbour of the first input.
        observations (tuple of texts): The output sequence.
        probabilities (two ExactNumbers): The probabilities of the output under `left` and under `right`.
        ratio (ExactNumber): The first probability divided by the second; infinite if the second is 0.
        bound (ExactNumber): The largest ratio that the case allows at this point.
        densities (bool): Whether the output is a real number; then `probabilities` are densities at this
            number.
        within (object or None): For densities, a set of outputs near the number with a ratio above the bound,
            and the probabilities of this set.
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

    Attributes:
        parameters (dict): The values of the parameters; an irrational value is an `ExactNumber`.
        statement (text): The inequality.
        left (ExactNumber): The value of its left side.
        right (ExactNumber): The value of its right side.
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
    """A set of outputs with its exact probabilities under two secrets, which violate an (ε, δ) bound.

    Attributes:
        parameters (dict): The values of the parameters.
        left (text): The first secret or input.
        right (text): The second secret or input.
        outputs (tuple of sequences): The set of outputs.
        probabilities (two ExactNumbers): The probabilities of the set under `left` and under `right`.
        bound (ExactNumber): e^ε.
        delta (ExactNumber): δ.
        beyond (ExactNumber): The first probability minus `bound` times the second. In a violation, it is more
            than `delta`.
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
    """A point at which the divergence of the outputs under one secret from those under another is too large.

    Attributes:
        parameters (dict): The values of the parameters.
        left (text): The first secret or input.
        right (text): The second secret or input.
        order (Fraction or None): The order of the Rényi divergence; None for the Kullback-Leibler divergence.
        moment (ExactNumber or None): For a bound `renyi`, the exact sum
            Σ Pr(ω | left)^order / Pr(ω | right)^(order−1), which may be infinite; None for `kl` and `zcdp`.
        bound (ExactNumber or None): For a bound `renyi`, the bound on `moment`; otherwise the bound on the
            divergence, if it is rational.
        divergence (float): The divergence, rounded.
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
    """One output, or a set of outputs, whose probabilities violate the bound, proved by enclosures.

    Each number is given by a lower and an upper bound. For all numbers between them, the first probability is
    more than `bound` times the second, plus `delta`.

    Attributes:
        left (text): The first secret or input.
        right (text): The second secret or input.
        outputs (tuple of texts): The output, or the outputs of the set.
        probabilities (two pairs of Fractions): The probabilities under `left` and under `right`.
        bound (pair of Fractions): e^ε.
        delta (pair of Fractions or None): δ, if the case has one.
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
