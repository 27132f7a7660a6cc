"""Plots of the curve of δ over ε, and of p-values against ε. Needs matplotlib, the extra `plots`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from paramverify import printable
from paramverify.algebra.rationals import percent
from paramverify.reports import formulas
from paramverify.reports.pictures.plot_style import COLOURS, PLAIN, Page, heading, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 200


class DeltaPoint(Protocol):
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


def write_curve(
    corners: Sequence[DeltaPoint], title: str, path: Path, *, whole: bool = True, page: Page = PLAIN
) -> None:
    """Writes the least δ as a function of ε, as SVG, PNG or PDF by the file's ending.

    A curve that is not `whole` ends at its last point, and the picture says so.
    """
    write(path, lambda: curve_figure(corners, title, whole, page), page)


def curve_figure(corners: Sequence[DeltaPoint], title: str, whole: bool = True, page: Page = PLAIN) -> Figure:
    """Returns the curve as a figure; a corner that is exact is filled, a bound has a white face."""
    from matplotlib.figure import Figure

    wide = page.wide(5)
    figure = Figure(figsize=(wide, 0.7 * wide), layout="constrained")
    axes = figure.add_subplot()
    last = corners[-1].epsilon or float(whole)
    xs = [last * k / POINTS for k in range(POINTS + 1)]
    axes.plot(xs, [_delta(corners, x) for x in xs], color=COLOURS[0])
    for exact in (True, False):
        marks = [c for c in corners if c.exact == exact]
        axes.plot(
            [c.epsilon for c in marks],
            [float(c.delta) for c in marks],
            "o",
            color=COLOURS[1],
            markerfacecolor=COLOURS[1] if exact else "white",
            markersize=4,
            clip_on=False,
        )
    axes.set_xlabel(r"$\varepsilon$" if whole else r"$\varepsilon$ (not known beyond)")
    axes.set_ylabel(_label(corners))
    axes.set_ylim(bottom=0)
    if page.heading:
        heading(figure, title, [])
    return figure


def _label(corners: Sequence[DeltaPoint]) -> str:
    """Returns what the curve shows: the least δ, or only an upper bound of it."""
    far = f", {corners[-1].searched}" if corners[-1].searched else ""
    bound = any(not corner.exact and (corner.sufficient or not far) for corner in corners)
    return f"{'upper bound of' if bound else 'least'} $\\delta${far}"


def _delta(corners: Sequence[DeltaPoint], epsilon: float) -> float:
    """Returns δ at ε: linear in the ratio between corners, constant after the last."""
    ratio = exp(epsilon)
    for first, second in pairwise(corners):
        low, high = float(first.ratio), float(second.ratio)
        if ratio <= high:
            share = (ratio - low) / (high - low) if low < high else 1.0
            return float(first.delta) * (1 - share) + float(second.delta) * share
    return float(corners[-1].delta)


@dataclass(frozen=True)
class Curves:
    """What is plotted: p-values in both directions over ε, the level, the budget, and a lower bound on ε."""

    title: str
    epsilons: Sequence[float]
    p: Sequence[float]
    reversed: Sequence[float]
    level: float
    budget: float
    bound: float
    confidence: float


def write_pvalues(curves: Curves, path: Path, page: Page = PLAIN) -> None:
    """Writes the plot; the ending of the file says in which format."""
    write(path, lambda: pvalues_figure(curves, page=page), page)


def pvalues_figure(curves: Curves, axes: Axes | None = None, page: Page = PLAIN) -> Figure:
    """Returns the plot, drawn into the axes where these are given."""
    from matplotlib.figure import Figure

    if axes is None:
        wide = page.wide(5.4)
        figure = Figure(figsize=(wide, 0.8 * wide), layout="constrained")
        axes = figure.add_subplot()
        _plot(axes, curves)
        figure.legend(loc="outside lower center", fontsize="small", ncols=2)
        if page.heading:
            heading(figure, curves.title, [])
        return figure
    _plot(axes, curves)
    axes.set_title(formulas.plain(printable.name(curves.title)), fontsize="medium")
    axes.legend(fontsize="small")
    found = axes.get_figure(root=True)
    assert isinstance(found, Figure)
    return found


def _plot(axes: Axes, curves: Curves) -> None:
    axes.plot(curves.epsilons, curves.p, "o-", color=COLOURS[0], markersize=4, label="chosen direction")
    axes.plot(
        curves.epsilons,
        curves.reversed,
        "s:",
        color=COLOURS[1],
        markerfacecolor="white",
        markersize=4,
        label="other direction",
    )
    axes.axhline(curves.level, color="0.6", linewidth=0.8, label=f"level {curves.level:g}")
    axes.axvline(curves.budget, color="0.2", linestyle="--", linewidth=1, label="budget")
    bound = f"lower bound, {percent(curves.confidence)}"
    if curves.bound > 0:
        axes.axvline(curves.bound, color=COLOURS[2], linestyle="-.", linewidth=1, label=bound)
    axes.set_ylim(-0.03, 1.03)
    axes.set_xlabel(r"$\varepsilon$")
    axes.set_ylabel("p-value")
    axes.grid(color="0.92", linewidth=0.6)
