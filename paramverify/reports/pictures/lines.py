"""The picture of one parameter: a line of safe and violating intervals, and above it the ratio curve."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paramverify.algebra.volumes import Share
from paramverify.reports.pictures.curves import Curve
from paramverify.reports.pictures.looks import BOUND, CURVE, LOOKS, heading, legend, paint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paramverify.synthesis.intervals import Partition, Root
    from paramverify.synthesis.maps import RegionMap, Status

PRECISION = Fraction(1, 10**15)


@dataclass(frozen=True)
class Stretch:
    """An interval of one parameter with one status, or a point, with its exact ends as texts.

    `lower_closed` and `upper_closed` tell whether the end belongs to it; None where that is not known.
    """

    status: str
    lower: float
    upper: float
    lower_closed: bool | None = None
    upper_closed: bool | None = None
    lower_text: str = ""
    upper_text: str = ""


def stretches_of(partition: Partition, text: Callable[[Root], str | None] | None = None) -> list[Stretch]:
    """Returns the parts of an exact partition, rounded for drawing, with the texts of their ends.

    `text` writes an irrational root exactly, or returns None for one that is shown as a decimal.
    """
    made = []
    for part in partition.parts:
        lower, upper = (_placed(root, text) for root in (part.lower, part.upper))
        made.append(
            Stretch(
                part.status,
                lower[0],
                upper=upper[0],
                lower_closed=part.lower_closed,
                upper_closed=part.upper_closed,
                lower_text=lower[1],
                upper_text=upper[1],
            )
        )
    return made


def _placed(root: Root, text: Callable[[Root], str | None] | None) -> tuple[float, str]:
    if root.is_rational:
        return float(root.lower), str(root.lower)
    small = root.refined(PRECISION)
    place = float((small.lower + small.upper) / 2)
    return place, (text(root) if text else None) or f"≈ {place:.6g}"


def joined(regions: RegionMap) -> list[Stretch]:
    """Returns the cells of a map over one parameter, neighbours of the same status joined."""
    found: list[tuple[str, Fraction, Fraction]] = []
    for cell in sorted(regions.cells, key=lambda c: c.box):
        low, high = cell.box[0]
        if found and found[-1][0] == cell.status and found[-1][2] == low:
            found[-1] = (cell.status, found[-1][1], high)
        else:
            found.append((cell.status, low, high))
    return [Stretch(status, float(low), float(high)) for status, low, high in found]


def line_figure(
    stretches: Sequence[Stretch],
    name: str,
    box: tuple[Fraction, Fraction],
    title: str,
    notes: Sequence[str],
    curve: Curve | None,
    shares: Mapping[str, Share],
    words: Mapping[Status, str],
) -> Figure:
    """The line of intervals, and above it the curve against its bound."""
    from matplotlib.figure import Figure

    low, high = float(box[0]), float(box[1])
    levels = _levels(stretches, low, high)
    below = 0.55 + 0.17 * max(levels.values(), default=0)
    figure = Figure(figsize=(6.4, (3.5 if curve else 0.8) + below), layout="constrained")
    if curve:
        above, line = figure.subplots(2, 1, sharex=True, height_ratios=(2.9, below))
        handles = _curve(above, curve, stretches, box)
    else:
        line, handles = figure.add_subplot(), []
    for stretch in stretches:
        _stretch(line, stretch)
    _ends(line, stretches)
    for (place, text), depth in levels.items():
        line.annotate(
            text,
            (place, -0.5),
            xytext=(0, -9 - 12 * (depth - 1)),
            textcoords="offset points",
            ha="left" if place <= low else "right" if place >= high else "center",
            va="center",
            fontsize=8,
        )
    room = 12 * max(levels.values(), default=0) + 6
    line.set_ylim(-0.5 - room / 20, 0.75)
    line.set_yticks([])
    line.set_xlim(low - 0.015 * (high - low), high + 0.015 * (high - low))
    for spine in ("left", "right", "top"):
        line.spines[spine].set_visible(False)
    line.set_xlabel(name)
    heading(figure, title, notes)
    legend(figure, shares, handles, 5 if len(shares) + len(handles) < 6 else 3, words=words)
    return figure


def line_on(axes: Axes, stretches: Sequence[Stretch], name: str) -> None:
    """Draws the line of intervals into axes of someone else."""
    for stretch in stretches:
        _stretch(axes, stretch)
    _ends(axes, stretches)
    axes.set_ylim(-0.8, 0.75)
    axes.set_yticks([])
    axes.set_xlabel(name)


def _stretch(axes: Axes, stretch: Stretch) -> None:
    from matplotlib.patches import Rectangle

    look = LOOKS[stretch.status]
    width = stretch.upper - stretch.lower
    if width:
        corner = (stretch.lower, -0.5)
        axes.add_patch(Rectangle(corner, width, 1, **paint(look)))


def _ends(axes: Axes, stretches: Sequence[Stretch]) -> None:
    """Marks the ends: filled with the colour of the interval that has the point, hollow where none has it."""
    ends = {
        (p, c, s.status) for s in stretches for p, c in ((s.lower, s.lower_closed), (s.upper, s.upper_closed))
    }
    for place, closed, status in sorted((e for e in ends if e[1] is not None), key=lambda e: (e[1], e)):
        face = LOOKS[status].fill if closed else "white"
        axes.plot([place], [0], "o", markersize=6, markerfacecolor=face, markeredgecolor="black", zorder=4)


def _levels(stretches: Sequence[Stretch], low: float, high: float) -> dict[tuple[float, str], int]:
    """Returns the texts of the ends with their places, each on the highest line that has room for it."""
    texts = {}
    for s in stretches:
        for place, text in ((s.lower, s.lower_text), (s.upper, s.upper_text)):
            if text:
                texts[place] = text
    filled: list[float] = []
    levels = {}
    for place, text in sorted(texts.items()):
        width = 0.0125 * len(text) * (high - low)  # of the characters of 8 points across 6 inches
        left = place if place <= low else place - width if place >= high else place - width / 2
        depth = next((k for k, end in enumerate(filled) if end < left), len(filled))
        filled[depth : depth + 1] = [left + width + 0.02 * (high - low)]
        levels[place, text] = depth + 1
    return levels


def _curve(
    axes: Axes, curve: Curve, stretches: Sequence[Stretch], box: tuple[Fraction, Fraction]
) -> list[Any]:
    """Draws the curve and its bound, on a ground in the colours of the intervals below."""
    found = curve.sample(box, tuple(s.upper for s in stretches))
    finite = [v for _, v, _ in found if v != float("inf")]
    bounds = [b for _, _, b in found]
    for stretch in stretches:
        if stretch.upper > stretch.lower:
            axes.axvspan(stretch.lower, stretch.upper, color=LOOKS[stretch.status].fill, alpha=0.25, lw=0)
    xs = [x for x, _, _ in found]
    (line,) = axes.plot(xs, [v for _, v, _ in found], color=CURVE, linewidth=1.5, label=curve.label)
    (bound,) = axes.plot(
        xs, bounds, color=BOUND, linewidth=1.3, linestyle=(0, (5, 2)), label=curve.bound_label
    )
    top = min(max([*finite, *bounds]), 3 * max(bounds))
    bottom = min([*finite, *bounds])
    room = (top - bottom) or abs(top) or 1.0
    axes.set_ylim(bottom - 0.06 * room, top + 0.08 * room)
    axes.set_ylabel(curve.label)
    axes.spines[["top", "right"]].set_visible(False)
    return [line, bound]
