"""Witnesses whose probabilities are enclosed: balls prove that an output, or a set of them, is too likely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb

from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import LimitError
from paramverify.models.enclosed_models import EnclosedModel, EnclosedProbabilities
from paramverify.models.priors import SecretPair
from paramverify.models.programs.noise_densities import number

LEAST = Fraction(1, 2**100_000)  # a smaller positive number is told as one between 0 and this

Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True, eq=False)
class EnclosureWitness:
    """Outputs under two secrets, with numbers below and above each probability and bound.

    `exceeds` says that left > bound · right + delta for all numbers between these. Without a delta there is
    one output. `bits` are those of the balls.
    """

    left: str
    right: str
    outputs: tuple[str, ...]
    probabilities: tuple[Ends, Ends]
    bound: Ends
    delta: Ends | None
    exceeds: bool
    bits: int
    distance: Fraction | None = None
    parameters: Mapping[str, Fraction] = field(default_factory=dict)
    meant: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        (low, _), (_, high) = self.probabilities
        shown = f"at least {float(low):.9g}", f"at most {float(high):.9g}"
        sides = f"{shown[0]} under {self.left!r}, {shown[1]} under {self.right!r}"
        return f"<EnclosedWitness: {', '.join(self.outputs)} with probability {sides}>"

    @property
    def ratio(self) -> tuple[Fraction | None, Fraction | None]:
        """Numbers below and above left / right; None stands for infinity, above also for no known number."""
        (low, high), (least, most) = self.probabilities
        return low / most if most else None, high / least if least else None

    @property
    def beyond(self) -> Ends:
        """Numbers below and above left − bound · right."""
        (low, high), (least, most) = self.probabilities
        return low - self.bound[1] * most, high - self.bound[0] * least


def ends(ball: arb) -> Ends:
    """Returns rationals of a sensible size around all numbers of a ball that are not below 0."""
    if ball.is_zero():
        return Fraction(0), Fraction(0)
    least = number(LEAST)
    low = Fraction(0) if not ball > least else lower_bound(ball)
    return low, LEAST if ball < least else upper_bound(ball)


def shares(ball: arb) -> Ends:
    """Returns the same for a probability, so none is above 1."""
    low, high = ends(ball)
    return low, min(high, Fraction(1))


def near(value: Ends, bits: int) -> Ends:
    """Returns ends with about 2·bits binary digits, that are no narrower; a number that is known stays."""
    low, high = value
    if low == high:
        return value
    return _floor(low, 2 * bits), -_floor(-high, 2 * bits)


def _floor(value: Fraction, bits: int) -> Fraction:
    small = max(0, value.denominator.bit_length() - value.numerator.bit_length())
    scale = 2 ** (bits + small)
    return Fraction(value * scale // 1, scale)


def witness_of(
    model: EnclosedModel, known: EnclosedProbabilities, pair: SecretPair, chosen: Sequence[int]
) -> EnclosureWitness:
    """Returns how likely a set of outputs is under a pair, as the balls say.

    Raises:
        LimitError: the probabilities are too small to be told.
    """
    sides = known.under(pair.pi), known.under(pair.tau)
    measure = model.measure
    with working_precision(known.encloser.precision):
        sums = [sum((row[k] for k in chosen), arb(0)) for row in sides]
        bound = known.number(model.ratio(pair))
        delta = known.number(measure.share) if measure.share else arb(0)
        share = _number(known, measure.share) if measure.share else None
        exceeds = bool(sums[0] > bound * sums[1] + delta)
        left, right = (near(shares(s), known.encloser.precision) for s in sums)
        if not left[0]:
            raise LimitError("an output is beyond the bound, but too unlikely for its probability to be told")
        return EnclosureWitness(
            pair.left,
            pair.right,
            outputs=tuple(known.table.observations[k] for k in chosen),
            probabilities=(left, right),
            bound=_number(known, model.ratio(pair)),
            delta=share,
            exceeds=exceeds,
            bits=known.bits,
            distance=pair.distance,
        )


def _number(known: EnclosedProbabilities, function: RationalFunction) -> Ends:
    """Returns numbers below and above a number of the case, which are both it where it is rational."""
    exact = known.exact(function)
    if exact is not None:
        return exact, exact
    return near(ends(known.number(function)), known.encloser.precision)
