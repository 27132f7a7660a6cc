"""The curve of δ over ε of a composition: its corners where it is exact, else points with both bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp

from paramverify.algebra.decimals import logarithm
from paramverify.composition.answers import CompositionAnswer, CompositionQuestion
from paramverify.composition.bounds import ProvedBounds
from paramverify.composition.composing import Composition
from paramverify.composition.losses import Loss
from paramverify.composition.searching import ask

CORNERS = 200  # up to which the corners are the curve
POINTS = 16
LEAST = Fraction(1, 10**9)  # δ down to which the curve goes
COARSE = Fraction(1, 10)
FARTHEST = 20.0  # ε, where no bound of it is known
DIGITS = 10_000  # largest denominator of a ratio


@dataclass(frozen=True)
class DeltaAtRatio:
    """For the ratio e^ε what is known of δ; a point of `reports.pictures.deltas`."""

    ratio: Fraction
    found: CompositionAnswer
    sufficient: bool = False
    searched: str = ""

    @property
    def epsilon(self) -> float:
        """ε rounded."""
        return logarithm(self.ratio)

    @property
    def delta(self) -> Fraction:
        """An upper bound of δ, or δ itself."""
        assert self.found.between.upper is not None
        return self.found.between.upper

    @property
    def exact(self) -> bool:
        """Whether δ is known exactly."""
        return self.found.exact is not None


@dataclass(frozen=True)
class DeltaCurve:
    """Points of the curve from ratio 1 on; `linear`: they are all corners, and exact."""

    points: tuple[DeltaAtRatio, ...]
    linear: bool


def curve(composition: Composition, width: Fraction) -> DeltaCurve:
    """Returns the curve of a composition, down to δ = `LEAST` where it has no last corner."""
    corners = _corners(composition)
    if corners is not None:
        return DeltaCurve(corners, linear=True)
    reach = ask(composition, [CompositionQuestion(delta=LEAST)], COARSE)[0].between.upper
    last = min(FARTHEST, float(reach)) if reach else FARTHEST
    ratios = {Fraction(exp(last * k / (POINTS - 1))).limit_denominator(DIGITS) for k in range(POINTS)}
    chosen = sorted({Fraction(1), *(ratio for ratio in ratios if ratio > 1)})
    found = ask(composition, [CompositionQuestion(epsilon=Loss(ratio=ratio)) for ratio in chosen], width)
    return DeltaCurve(tuple(DeltaAtRatio(*pair) for pair in zip(chosen, found, strict=True)), linear=False)


def _corners(composition: Composition) -> tuple[DeltaAtRatio, ...] | None:
    """Returns all corners of an exact composition, if they are few."""
    exact = composition.exact(0) if len(composition.directions) == 1 else None
    listed = exact.corners() if exact is not None and len(exact.outputs) <= CORNERS else None
    if listed is None:
        return None
    return tuple(
        DeltaAtRatio(ratio, CompositionAnswer(ProvedBounds(delta, delta), exact=delta))
        for ratio, delta in listed
    )
