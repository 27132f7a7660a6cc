"""Witnesses whose probabilities are enclosed: balls prove that an output, or a set of them, is too likely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb

from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.models.enclosed import Enclosed, Probabilities
from paramverify.models.measures import Approximate
from paramverify.models.priors import SecretPair

Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True, eq=False)
class EnclosedWitness:
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
    def ratio(self) -> Ends | None:
        """Numbers below and above left / right; None stands for infinity."""
        (low, high), (least, most) = self.probabilities
        return (low / most, high / least) if least else None

    @property
    def beyond(self) -> Ends:
        """Numbers below and above left − bound · right."""
        (low, high), (least, most) = self.probabilities
        return low - self.bound[1] * most, high - self.bound[0] * least


def ends(ball: arb) -> Ends:
    """Returns rationals below and above all numbers of a ball."""
    return lower_bound(ball), upper_bound(ball)


def near(value: Ends, bits: int) -> Ends:
    """Returns ends with few digits, that are no narrower; a number that is known stays."""
    low, high = value
    if low == high:
        return value
    scale = 2 ** (2 * bits)
    return Fraction(low * scale // 1, scale), Fraction(-(-high * scale // 1), scale)


def witness_of(
    model: Enclosed, known: Probabilities, pair: SecretPair, chosen: Sequence[int]
) -> EnclosedWitness:
    """Returns how likely a set of outputs is under a pair, as the balls say."""
    sides = known.under(pair.pi), known.under(pair.tau)
    measure = model.measure
    sets = isinstance(measure, Approximate)
    with working_precision(known.encloser.precision):
        sums = [sum((row[k] for k in chosen), arb(0)) for row in sides]
        bound = known.number(model.ratio(pair))
        delta = known.number(measure.delta) if isinstance(measure, Approximate) else arb(0)
        exceeds = bool(sums[0] > bound * sums[1] + delta)
        left, right = (near(ends(s), known.bits) for s in sums)
        return EnclosedWitness(
            pair.left,
            pair.right,
            outputs=tuple(known.table.observations[k] for k in chosen),
            probabilities=(left, right),
            bound=near(ends(bound), known.bits),
            delta=near(ends(delta), known.bits) if sets else None,
            exceeds=exceeds,
            bits=known.bits,
            distance=pair.distance,
        )
