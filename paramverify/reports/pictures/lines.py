"""The picture of one parameter: a line of safe and violating intervals, and above it the ratio curve."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paramverify.algebra.volumes import VolumeShare
from paramverify.reports import mathematics
from paramverify.reports.pictures import labels
from paramverify.reports.pictures.curves import Curve
from paramverify.reports.pictures.legends import legend
from paramverify.reports.pictures.looks import BOUND, CURVE, EDGE, LOOKS, heading, paint
from paramverify.reports.pictures.pages import PLAIN, Page
from paramverify.synthesis.maps import stretches

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paramverify.synthesis.intervals import Partition, Root
    from paramverify.synthesis.maps import RegionMap, Status

PRECISION = Fraction(1, 10**15)
BAR = 0.3  # inches that the intervals are high


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
    return [Stretch(status, float(low), float(high)) for status, low, high in stretches(regions)]


def line_figure(
    stretches: Sequence[Stretch],
    name: str,
    box: tuple[Fraction, Fraction],
    title: str,
    notes: Sequence[str],
    curve: Curve | None,
    shares: Mapping[str, VolumeShare],
    words: Mapping[Status, str],
    page: Page = PLAIN,
) -> Figure:
    """The line of intervals, and above it the curve against its bound."""
    from matplotlib.figure import Figure

    wide = page.wide(6.4)
    figure = Figure(figsize=(wide, wide), layout="constrained")
    if curve:
        above, line = figure.subplots(2, 1, sharex=True)
        handles = _curve(above, curve, stretches, box)
    else:
        line, handles = figure.add_subplot(), []
    low, high = float(box[0]), float(box[1])
    margin = 0.015 * (high - low)
    line.set_xlim(low - margin, high + margin)
    line_on(line, stretches, name)
    for spine in ("left", "right", "top"):
        line.spines[spine].set_visible(False)
    around = heading(figure, title, notes, page) + legend(figure, shares, handles, words=words)
    below = _label(figure, line, stretches)
    tall = min(2.9, 0.5 * wide) if curve else 0.0
    if curve:
        line.get_subplotspec().get_gridspec().set_height_ratios([tall, below])
    figure.set_figheight(around + tall + below + 0.65)
    return figure


def _label(figure: Figure, line: Axes, stretches: Sequence[Stretch]) -> float:
    """Writes the ends of the intervals below them, with leaders; returns the height of all, in inches."""
    import matplotlib

    points: float = matplotlib.rcParams["font.size"] * 8 / 9
    texts = {p: t for s in stretches for p, t in ((s.lower, s.lower_text), (s.upper, s.upper_text)) if t}
    figure.draw_without_rendering()
    inches = line.get_position().width * figure.get_figwidth()
    left, right = line.get_xlim()
    unit = (right - left) / inches
    places = [(place - left) / unit for place in sorted(texts)]
    told = [mathematics.text(texts[place]) for place in sorted(texts)]
    widths = [labels.width(text, points) for text in told]
    flat = labels.fits(widths, inches)
    thick = 1.3 * points / 72
    placed = labels.spread(
        list(zip(places, told, widths if flat else [thick] * len(told), strict=True)), inches
    )
    straight = all(label.left < label.place < label.right for label in placed)
    gap = (0.05 if straight else 0.16) / BAR
    high = (thick if flat else max(widths) + 0.03) / BAR
    for label in placed:
        middle = left + label.middle * unit
        if not straight:
            ends = [left + label.place * unit, middle]
            line.plot(ends, [-0.5, -0.5 - gap], color=EDGE, linewidth=0.6, gid="leader", zorder=1)
        at = (middle, -0.5 - gap - (high / 2 if flat else 0.03 / BAR))
        stand: Any = {"va": "center"} if flat else {"va": "top", "rotation": 90}
        line.text(*at, label.text, ha="center", fontsize=points, parse_math=True, **stand)
    bottom = gap + high if placed else 0.0
    line.set_ylim(-0.5 - bottom, 0.75)
    return BAR * (1.25 + bottom)


def line_on(axes: Axes, stretches: Sequence[Stretch], name: str) -> None:
    """Draws the line of intervals into axes, without the texts of its ends."""
    for stretch in stretches:
        _stretch(axes, stretch)
    _ends(axes, stretches)
    axes.set_ylim(-0.8, 0.75)
    axes.set_yticks([])
    axes.set_xlabel(mathematics.text(name), parse_math=True)


def _stretch(axes: Axes, stretch: Stretch) -> None:
    from matplotlib.patches import Rectangle

    look = LOOKS[stretch.status]
    width = stretch.upper - stretch.lower
    if width:
        corner = (stretch.lower, -0.5)
        axes.add_patch(Rectangle(corner, width, 1, **paint(look)))


def _ends(axes: Axes, stretches: Sequence[Stretch]) -> None:
    """Marks the ends: in the colour of the interval that has the point; with a white face if none has."""
    ends = {
        (p, c, s.status) for s in stretches for p, c in ((s.lower, s.lower_closed), (s.upper, s.upper_closed))
    }
    for place, closed, status in sorted((e for e in ends if e[1] is not None), key=lambda e: (e[1], e)):
        face = LOOKS[status].mark if closed else "white"
        axes.plot([place], [0], "o", markersize=6, markerfacecolor=face, markeredgecolor="black", zorder=4)


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
        xs,
        bounds,
        color=BOUND,
        linewidth=1.3,
        linestyle=(0, (5, 2)),
        label=mathematics.text(curve.bound_label),
    )
    top = min(max([*finite, *bounds]), 3 * max(bounds))
    bottom = min([*finite, *bounds])
    room = (top - bottom) or abs(top) or 1.0
    axes.set_ylim(bottom - 0.06 * room, top + 0.08 * room)
    axes.set_ylabel(curve.label)
    axes.spines[["top", "right"]].set_visible(False)
    return [line, bound]
