"""Witnesses whose probabilities are enclosed: balls prove that an output, or a set of them, is too likely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from flint import arb

from paramverify import printable
from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.algebra.polynomials import RationalFunction
from paramverify.algebra.rationals import at_least
from paramverify.errors import LimitError
from paramverify.evidence import number_words as words
from paramverify.evidence.number_words import Ends
from paramverify.evidence.told_witnesses import EnclosedWitness
from paramverify.evidence.witness import AnyWitness
from paramverify.models.enclosed_models import EnclosedModel, EnclosedProbabilities
from paramverify.models.priors import SecretPair
from paramverify.models.programs.noise_densities import number

LEAST = Fraction(1, 2**100_000)  # a smaller positive number is told as one between 0 and this


@dataclass(frozen=True, eq=False)
class EnclosureWitness(AnyWitness):
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
    key: str = "delta"  # what `delta` is in [privacy]

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

    @property
    def shown(self) -> bool:
        """Whether the outputs are too likely, whatever the numbers are between their ends."""
        return self.exceeds

    def lines(self) -> list[str]:
        """Returns sentences: secrets, outputs, probabilities and bounds."""
        left, right = (printable.name(secret) for secret in (self.left, self.right))
        far = f" for the distance {self.distance}" if self.distance is not None else ""
        if self.delta is None:
            name = printable.name(self.outputs[0])
            return [
                f"output {name} is {self._times(left)} under '{right}', "
                f"which exceeds the bound {words.around(self.bound)}{far}.",
                f"Pr({name} | {left}) {words.certified(self.probabilities[0])}",
                f"Pr({name} | {right}) {words.certified(self.probabilities[1])}",
            ]
        size = len(self.outputs)
        many = f"the set S of {size} output{'s' * (size != 1)}"
        return [
            f"{many} is too likely under '{left}', compared with '{right}'.",
            f"S = {words.enclosed_outputs(self.outputs)}",
            f"Pr(S | {left}) {words.certified(self.probabilities[0])}",
            f"Pr(S | {right}) {words.certified(self.probabilities[1])}",
            f"{words.gap(f'Pr(S | {left})', words.around(self.bound), f'Pr(S | {right})')} "
            f"{words.enclosed(self.beyond)}, which is more than {self.key} {words.enclosed(self.delta)}",
        ]

    def _times(self, left: str) -> str:
        """Returns how much more likely an output is on the left, up to the name of the other side."""
        low, high = self.ratio
        if low is None:
            return f"possible under '{left}' and impossible"
        many = f"at least {at_least(low, words.DIGITS)}" if high is None else words.around((low, high))
        return f"{many} times as likely under '{left}' as"

    def document(self) -> dict[str, Any]:
        """Returns it as JSON data; each number that is not known has `lower` and `upper`."""
        found: dict[str, Any] = {
            "parameters": {},
            "secrets": [self.left, self.right],
            "probabilities": [words.ends_document(p) for p in self.probabilities],
            "bound": words.ends_document(self.bound),
            "exceeds": self.exceeds,
            "bits": self.bits,
        }
        if self.distance is not None:
            found["distance"] = str(self.distance)
        if self.delta is None:
            return found | {"observations": list(self.outputs), "ratio": self._ratio_document()}
        return found | {
            "outputs": [[name] for name in self.outputs],
            "length": 1,
            "delta": words.ends_document(self.delta),
            "beyond": words.ends_document(self.beyond),
        }

    def _ratio_document(self) -> str | dict[str, str]:
        low, high = self.ratio
        if low is None:
            return "infinity"
        if high is None:
            return {"lower": at_least(low, 30), "upper": "unknown"}
        return words.ends_document((low, high))

    def told(self) -> EnclosedWitness:
        """Returns it as Python programs get it."""
        return EnclosedWitness(
            left=self.left,
            right=self.right,
            outputs=self.outputs,
            probabilities=self.probabilities,
            bound=self.bound,
            delta=self.delta,
        )


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
        bound = known.number(model.measure.bound_at(pair.distance))
        delta = known.number(measure.share) if measure.share else arb(0)
        share = _number(known, measure.share) if measure.share else None
        exceeds = bool(sums[0] > bound * sums[1] + delta)
        left, right = (near(shares(s), known.encloser.precision) for s in sums)
        if not left[0]:
            raise LimitError("an output exceeds the bound, but its probability is too small to be printed")
        return EnclosureWitness(
            pair.left,
            pair.right,
            outputs=tuple(known.table.observations[k] for k in chosen),
            probabilities=(left, right),
            bound=_number(known, model.measure.bound_at(pair.distance)),
            delta=share,
            exceeds=exceeds,
            bits=known.bits,
            distance=pair.distance,
            key=measure.key,
        )


def _number(known: EnclosedProbabilities, function: RationalFunction) -> Ends:
    """Returns numbers below and above a number of the case, which are both it where it is rational."""
    exact = known.exact(function)
    if exact is not None:
        return exact, exact
    return near(ends(known.number(function)), known.encloser.precision)
