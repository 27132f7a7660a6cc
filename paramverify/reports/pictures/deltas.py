"""The curve of δ over ε as a plot. Needs matplotlib, the extra `plots`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import exp
from pathlib import Path
from typing import Protocol

from paramverify import printable
from paramverify.reports.pictures.plots import COLOURS, STYLE

POINTS = 200


class Point(Protocol):
    """A point of a curve: the least δ at a ratio e^ε, and how it is known."""

    @property
    def ratio(self) -> Fraction:
        """e^ε."""

    @property
    def delta(self) -> Fraction:
        """The least δ, or an upper bound of it."""

    @property
    def epsilon(self) -> float:
        """ε rounded."""

    @property
    def exact(self) -> bool:
        """Whether δ is the least one."""

    @property
    def sufficient(self) -> bool:
        """Whether δ is from a sufficient condition."""

    @property
    def searched(self) -> str:
        """How far was looked."""


def write_curve(corners: Sequence[Point], title: str, path: Path, *, whole: bool = True) -> None:
    """Writes the least δ as a function of ε, as SVG or PNG by the file's ending.

    A curve that is not `whole` ends at its last point, and the picture says so.
    """
    import matplotlib
    from matplotlib.figure import Figure

    kind = path.suffix.removeprefix(".")
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5, 3.5))
        axes = figure.add_subplot()
        last = corners[-1].epsilon or float(whole)
        xs = [last * k / POINTS for k in range(POINTS + 1)]
        axes.plot(xs, [_delta(corners, x) for x in xs], color=COLOURS[0])
        axes.plot(
            [c.epsilon for c in corners],
            [float(c.delta) for c in corners],
            "o",
            color=COLOURS[1],
            markersize=4,
        )
        axes.set_xlabel("epsilon" if whole else "epsilon (not known beyond)")
        axes.set_ylabel(_label(corners))
        axes.set_ylim(bottom=0)
        axes.set_title(printable.escaped(title if len(title) <= 70 else f"{title[:67]}..."), fontsize=9)
        metadata = {"Date": None} if kind == "svg" else {}
        figure.savefig(path, dpi=150, bbox_inches="tight", metadata=metadata)


def _label(corners: Sequence[Point]) -> str:
    """Returns what the curve shows: the least δ, or only an upper bound of it."""
    far = f", {corners[-1].searched}" if corners[-1].searched else ""
    bound = any(not corner.exact and (corner.sufficient or not far) for corner in corners)
    return f"{'upper bound of delta' if bound else 'least delta'}{far}"


def _delta(corners: Sequence[Point], epsilon: float) -> float:
    """Returns δ at ε: linear in the ratio between corners, constant after the last."""
    ratio = exp(epsilon)
    for first, second in pairwise(corners):
        low, high = float(first.ratio), float(second.ratio)
        if ratio <= high:
            share = (ratio - low) / (high - low) if low < high else 1.0
            return float(first.delta) * (1 - share) + float(second.delta) * share
    return float(corners[-1].delta)
