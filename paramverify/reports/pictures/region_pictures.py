"""Pictures of safe and violating regions: a line for one parameter, a map for two, slices for more.

They need matplotlib, the extra `plots`. The same input gives the same file, whenever it is drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramverify.algebra.domains import Interval, in_words
from paramverify.algebra.volumes import VolumeShare, shares
from paramverify.errors import InputError, located
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import formulas, synthesis_reports
from paramverify.reports import sentences as telling
from paramverify.reports.algebraic_numbers import closed_form
from paramverify.reports.pictures import plot_style
from paramverify.reports.pictures.plot_style import (
    BOUND,
    CURVE,
    EDGE,
    LOOK_STYLE,
    LOOKS,
    PLAIN,
    Page,
    check_plot,
    heading,
    legend,
    paint,
    percents,
    shares_of,
    styled,
    write,
)
from paramverify.reports.pictures.ratio_curves import Curve, curve_of, failure_field, steps
from paramverify.reports.synthesis_reports import PRIVACY
from paramverify.synthesis.intervals import Partition, Root
from paramverify.synthesis.maps import RegionMap, Status, stretches
from paramverify.synthesis.safe_values import ExactCondition, Intervals, Regions
from paramverify.synthesis.tiling import Unfolding

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paramverify.algebra.domains import Domain

Rectangle = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]
Point = tuple[float, float]
Corner = tuple[int, int]


def outlines(rectangles: Sequence[Rectangle]) -> list[list[Point]]:
    """Returns the boundary of a union of rectangles, which touch in their sides only, as closed polygons.

    The union is on the left of every edge: outer polygons run counter-clockwise, holes clockwise, so the
    non-zero winding rule fills the union and nothing else. A polygon names its corners once each, and no
    point inside a straight side.
    """
    # The work is done on the ranks of the coordinates: what touches what depends on their order only.
    xs = sorted({x for side, _ in rectangles for x in side})
    ys = sorted({y for _, side in rectangles for y in side})
    column, row = ({place: k for k, place in enumerate(places)} for places in (xs, ys))
    upright: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by column: where the cover changes
    level: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by row
    for across, up in rectangles:
        left, right = (column[x] for x in across)
        low, high = (row[y] for y in up)
        if left == right or low == high:
            continue
        upright[right] += [(low, 1), (high, -1)]
        upright[left] += [(low, -1), (high, 1)]
        level[low] += [(left, 1), (right, -1)]
        level[high] += [(left, -1), (right, 1)]
    following: dict[Corner, list[Corner]] = defaultdict(list)
    for x, changes in upright.items():
        for start, end in _edges(changes):
            following[x, start].append((x, end))
    for y, changes in level.items():
        for start, end in _edges(changes):
            following[start, y].append((end, y))
    return [[(float(xs[x]), float(ys[y])) for x, y in loop] for loop in _loops(following)]


def _edges(changes: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yields the directed edges on one line: a side that two rectangles share cancels.

    `changes` says how much the sum of directions (1 up or right, -1 down or left) changes where.
    """
    steps: dict[int, int] = defaultdict(int)
    for place, change in changes:
        steps[place] += change
    cover = start = 0
    for place in sorted(place for place, step in steps.items() if step):
        if cover:
            yield (start, place) if cover > 0 else (place, start)
        cover += steps[place]
        start = place


def _loops(following: dict[Corner, list[Corner]]) -> list[list[Corner]]:
    """Joins directed edges into closed polygons; where two meet in a corner, the left turn is taken."""
    loops = []
    for first in sorted(following):
        while following[first]:
            loop = [first]
            before, here = first, following[first].pop()
            while here != first:
                choices = following[here]
                turn = max(range(len(choices)), key=lambda k: _turn(before, here, choices[k]))
                before, here = here, choices.pop(turn)
                loop.append(before)
            loops.append(loop)
    return loops


def _turn(before: Corner, here: Corner, after: Corner) -> int:
    """Returns 1 for a left turn, 0 for none and -1 for a right turn."""
    cross = (here[0] - before[0]) * (after[1] - here[1]) - (here[1] - before[1]) * (after[0] - here[0])
    return (cross > 0) - (cross < 0)


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
    told = [formulas.text(texts[place]) for place in sorted(texts)]
    widths = [plot_style.width(text, points) for text in told]
    flat = plot_style.fits(widths, inches)
    thick = 1.3 * points / 72
    placed = plot_style.spread(
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
    axes.set_xlabel(formulas.text(name), parse_math=True)


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
        label=formulas.text(curve.bound_label),
    )
    top = min(max([*finite, *bounds]), 3 * max(bounds))
    bottom = min([*finite, *bounds])
    room = (top - bottom) or abs(top) or 1.0
    axes.set_ylim(bottom - 0.06 * room, top + 0.08 * room)
    axes.set_ylabel(curve.label)
    axes.spines[["top", "right"]].set_visible(False)
    return [line, bound]


PLACES = 193  # across and up the field that a boundary curve is drawn from
SLICE_PLACES = 97
MOST_CORNERS = 20_000  # of an outline in an SVG; beyond that, the outline is a bitmap in it
NONE = VolumeShare(Fraction(0), Fraction(0))
LEAST_SLICE = 1.2  # inches that a small map needs
MOST_ACROSS = 4  # small maps
MOST_SLICES = 3  # values of each parameter beyond the second


def slices(regions: RegionMap) -> list[tuple[str, RegionMap]]:
    """Returns maps over the first two parameters, each for fixed values of the others, with their titles.

    The first further parameters take `MOST_SLICES` values each, two of them at most, the others their middle.
    A cell of a slice is the part of a cell of the map with these values, so its status is proved as well.
    """
    choices = []
    for number, (low, high) in enumerate(regions.box[2:]):
        count = 1 if number > 1 else MOST_SLICES * (MOST_SLICES - 1) if len(regions.box) == 3 else MOST_SLICES
        choices.append([low + (high - low) * Fraction(2 * k + 1, 2 * count) for k in range(count)])
    names = regions.parameters[2:]
    unfolding = Unfolding(regions)
    return [
        (in_words(dict(zip(names, values, strict=True))), _slice(regions, values, unfolding))
        for values in product(*choices)
    ]


def _slice(regions: RegionMap, values: Sequence[Fraction], unfolding: Unfolding) -> RegionMap:
    """Returns the map over the first two parameters where the others have these values."""
    names = regions.parameters[2:]
    fixed = {n: Interval(v, v, True, True) for n, v in zip(names, values, strict=True)}
    domains = {id(c.domain): c.domain for c in regions.claims}
    cut = {k: replace(d, box={**d.box, **fixed}) for k, d in domains.items()}

    box = (*regions.box[:2], *((value, value) for value in values))
    return replace(
        regions,
        parameters=regions.parameters[:2],
        box=regions.box[:2],
        claims=tuple(replace(c, domain=cut[id(c.domain)]) for c in regions.claims),
        cells=tuple(replace(cell, box=cell.box[:2]) for cell in unfolding.cells(box)),
        folds=(),
    )


def map_figure(
    regions: RegionMap,
    title: str,
    notes: Sequence[str],
    words: Mapping[Status, str],
    page: Page = PLAIN,
) -> Figure:
    """The map of two parameters, with a legend below it."""
    from matplotlib.figure import Figure

    wide = page.wide(5.4)
    figure = Figure(figsize=(wide, wide), layout="constrained")
    axes = figure.add_subplot()
    drawn = _plane(axes, regions, PLACES)
    _named(axes, regions)
    shares = shares_of(regions) | dict.fromkeys(drawn & {"outside"}, NONE)
    high = heading(figure, title, notes, page) + legend(figure, shares, _boundary_entry(drawn), words=words)
    figure.set_figheight(wide + high - 0.25)
    return figure


def slices_figure(
    maps: Sequence[tuple[str, RegionMap]],
    title: str,
    notes: Sequence[str],
    shares: dict[str, VolumeShare] | None,
    *,
    words: Mapping[Status, str],
    page: Page = PLAIN,
) -> Figure:
    """Small maps with common axes; the legend has the shares of the whole where there is a whole."""
    import matplotlib
    from matplotlib.figure import Figure

    across = _across(len(maps))
    wide = page.wide(0.6 + 2.5 * across)
    across = min(across, max(1, int(wide / LEAST_SLICE)))
    down = ceil(len(maps) / across)
    figure = Figure(figsize=(wide, wide), layout="constrained")
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    points = matplotlib.rcParams["font.size"]
    drawn: set[str] = set()
    for number, (axes, (told, regions)) in enumerate(zip(grid.flat, maps, strict=False), 1):
        drawn |= _plane(axes, regions, SLICE_PLACES, number)
        own = percents(shares_of(regions))
        known = [f"{words[s]} {own.get(s, '0 %')}" for s in (Status.SAFE, Status.UNDECIDED)]
        lines = [formulas.text(told)] if told else []
        separated = "\n" if wide / across < 1.9 * points / 8 else ", "
        axes.set_title("\n".join([*lines, separated.join(known)]), fontsize=points * 5 / 6, parse_math=True)
        axes.tick_params(labelsize=points * 5 / 6)
    for axes in grid.flat[len(maps) :]:
        axes.remove()
    names = _axis_names(maps[0][1])
    for axes in grid[:, 0]:
        axes.set_ylabel(names[1], parse_math=True)
    for column in range(across):
        lowest = grid[(len(maps) - 1 - column) // across, column]
        lowest.set_xlabel(names[0], parse_math=True)
        lowest.tick_params(labelbottom=True)
    present = {s: NONE for s in LOOKS if any(c.status == s for _, m in maps for c in m.cells)}
    shown = (present if shares is None else shares) | dict.fromkeys(drawn & {"outside"}, NONE)
    entries = _boundary_entry(drawn)
    high = heading(figure, title, notes, page)
    high += legend(figure, shown, entries, told=shares is not None, words=words)
    figure.set_figheight(high + 0.35 + down * ((wide - 0.5) / across + 2.7 * points / 72))
    return figure


def _across(count: int) -> int:
    """Returns how many of so many pictures stand side by side: no row has a hole, where that is possible."""
    if count <= MOST_ACROSS:
        return count if count != MOST_ACROSS else 2
    return next((n for n in (MOST_ACROSS - 1, MOST_ACROSS, 2) if count % n == 0), MOST_ACROSS - 1)


def _axis_names(regions: RegionMap) -> list[str]:
    return [f"${shown}$" for shown in formulas.names(regions.parameters).values()]


def _named(axes: Axes, regions: RegionMap) -> None:
    across, up = _axis_names(regions)
    axes.set_xlabel(across, parse_math=True)
    axes.set_ylabel(up, parse_math=True)


def plane_on(axes: Axes, regions: RegionMap) -> None:
    """Draws a map of two parameters into axes of someone else."""
    _plane(axes, regions, PLACES)
    _named(axes, regions)


def _plane(axes: Axes, regions: RegionMap, places: int, number: int = 1) -> set[str]:
    """Draws the cells, the neighbours of one status as one path, and over them what `_boundary` draws."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    for status, look in LOOKS.items():
        boxes = [(cell.box[0], cell.box[1]) for cell in regions.cells if cell.status == status]
        loops = outlines(boxes)
        if not loops:
            continue
        corners = [[*loop, loop[0]] for loop in loops]
        outline = Outline.make_compound_path(*(Outline(c, closed=True) for c in corners))
        patch = PathPatch(outline, **paint(look))
        patch.set_rasterized(sum(map(len, corners)) > MOST_CORNERS)
        patch.set_gid(f"{status}-{number}")
        axes.add_patch(patch)
    (left, right), (low, high) = ((float(a), float(b)) for a, b in regions.box)
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)
    axes.set_box_aspect(1)
    return _boundary(axes, regions, places, number)


def _boundary(axes: Axes, regions: RegionMap, count: int, number: int) -> set[str]:
    """Draws the curve where the least of the claims vanishes, and covers what is outside of the domain.

    Returns which of the two there are, `boundary` and `outside`.
    """
    import numpy as np

    also: dict[str, list[Fraction]] = {}
    for name, value in dict.fromkeys(pair for cell in regions.cells for pair in cell.at):
        also.setdefault(name, []).append(value)
    places = steps(count)
    few = {name: values[:8] for name, values in also.items()}
    failing, domain = failure_field(regions.claims, regions.parameters, regions.box, places, few)
    x, y = ([float(low + (high - low) * t) for t in places] for low, high in regions.box)
    drawn: set[str] = set()
    if domain.min() < 0:
        look = LOOKS["outside"]
        cover = axes.contourf(x, y, domain, levels=[-2.0, 0.0], colors=look.fill, hatches=[look.hatch])
        cover.set(edgecolor=look.lines, linewidth=0.0, gid=f"cover-{number}")
        drawn.add("outside")
        axes.contour(x, y, domain, levels=[0.0], colors=EDGE, linewidths=0.8)
    failing = np.where(domain < 0, np.nan, failing)
    known = failing[~np.isnan(failing)]
    if not known.size or known.min() >= 0 or known.max() < 0:
        return drawn
    contours = axes.contour(x, y, failing, levels=[0.0], colors=CURVE, linewidths=1.3)
    contours.set_gid(f"boundary-{number}")
    return drawn | {"boundary"}


def _boundary_entry(drawn: set[str]) -> list[Any]:
    from matplotlib.lines import Line2D

    return [Line2D([], [], color=CURVE, linewidth=1.3, label="boundary")] if "boundary" in drawn else []


MOST = 10**300  # absolute value of what is drawn


def map_picture(
    regions: RegionMap,
    *,
    title: str = "",
    budget: str = "",
    curve: Curve | None = None,
    words: Mapping[Status, str] = PRIVACY,
    page: Page = PLAIN,
) -> Callable[[], Figure]:
    """Returns a picture of a region map; the map may be unfinished.

    One parameter gives a line (with `curve` above it), two a map, more several slices of a map, at values of
    the parameters after the second. `budget` is the bound in words, as in `Case`; `words` are those of the
    legend for each status, `page` says how wide the picture is, and the like.

    Raises:
        InputError: the map has no parameters.
    """
    if not regions.parameters:
        raise InputError("a picture needs at least one free parameter")
    _check_size(end for ends in regions.box for end in ends)
    notes = _notes(regions, budget)
    if len(regions.parameters) == 1:
        name, box, found = regions.parameters[0], regions.box[0], shares_of(regions)
        return lambda: line_figure(
            joined(regions),
            name,
            box=box,
            title=title,
            notes=notes,
            curve=curve,
            shares=found,
            words=words,
            page=page,
        )
    if len(regions.parameters) == 2:
        return lambda: map_figure(regions, title, notes, words, page)
    return lambda: slices_figure(slices(regions), title, notes, shares_of(regions), words=words, page=page)


def draw(regions: RegionMap, path: Path, *, page: Page = PLAIN, **told: Any) -> None:
    """Writes `map_picture`, with its arguments, as SVG, PNG or PDF by the ending of the file.

    Raises:
        InputError: another ending, matplotlib is missing, or there is no picture.
    """
    check_plot(path)
    with located(file=str(path)):
        write(path, map_picture(regions, page=page, **told), page, LOOK_STYLE)


def interval_picture(
    partition: Partition,
    *,
    title: str = "",
    budget: str = "",
    curve: Curve | None = None,
    text: Callable[[Root], str | None] | None = None,
    words: Mapping[Status, str] = PRIVACY,
    page: Page = PLAIN,
) -> Callable[[], Figure]:
    """Returns a picture of exact safe and violating intervals of one parameter, with `curve` above it.

    Ends that belong to an interval are filled, those that belong to none are hollow. `text` writes an
    irrational end exactly, or returns None for one that is shown as a decimal.

    Raises:
        InputError: an end that is too large to be drawn.
    """
    _check_size((partition.interval.lower, partition.interval.upper))
    domain = partition.claims[0].domain if partition.claims else None
    notes = _conditions(domain, [partition.parameter], partition.quantified, budget)
    stretches = stretches_of(partition, text)
    box = (partition.interval.lower, partition.interval.upper)
    found = _shares(partition)
    return lambda: line_figure(
        stretches,
        partition.parameter,
        box=box,
        title=title,
        notes=notes,
        curve=curve,
        shares=found,
        words=words,
        page=page,
    )


def draw_interval(partition: Partition, path: Path, *, page: Page = PLAIN, **told: Any) -> None:
    """Writes `interval_picture`, with its arguments, as SVG, PNG or PDF by the ending of the file.

    Raises:
        InputError: another ending, matplotlib is missing, or there is no picture.
    """
    check_plot(path)
    with located(file=str(path)):
        write(path, interval_picture(partition, page=page, **told), page, LOOK_STYLE)


def _shares(partition: Partition) -> dict[str, VolumeShare]:
    """Returns bounds of the share of the domain that has each status; outside of it is only named."""
    none = VolumeShare(Fraction(0), Fraction(0))
    lengths = dict.fromkeys((part.status.value for part in partition.parts), none)
    for part in partition.parts:
        low, high = (root.refined(PRECISION) for root in (part.lower, part.upper))
        own, least = lengths[part.status.value], max(Fraction(0), high.lower - low.upper)
        lengths[part.status.value] = VolumeShare(own.lower + least, own.upper + (high.upper - low.lower))
    outside = {status: none for status in lengths if status == "outside"}
    return shares({s: v for s, v in lengths.items() if s not in outside}) | outside


def draw_slices(
    maps: Sequence[tuple[str, RegionMap]],
    path: Path,
    *,
    title: str = "",
    budget: str = "",
    page: Page = PLAIN,
) -> None:
    """Writes several maps over the same two parameters as one picture, each with its own title.

    Raises:
        InputError: another ending than .svg, .png and .pdf, matplotlib is missing, no maps, or maps
            that are not over two parameters.
    """
    check_plot(path)
    if not maps or any(len(m.parameters) != 2 for _, m in maps):
        raise InputError("slices are maps over two parameters", file=str(path))
    notes = _notes(maps[0][1], budget)
    write(path, lambda: slices_figure(maps, title, notes, None, words=PRIVACY, page=page), page, LOOK_STYLE)


def _check_size(ends: Iterable[Fraction]) -> None:
    """Refuses boxes whose ends are no floats."""
    if any(abs(end) > MOST for end in ends):
        raise InputError("numbers beyond 1e300 cannot be drawn")


def _notes(regions: RegionMap, budget: str) -> list[str]:
    domain = regions.claims[0].domain if regions.claims else None
    notes = _conditions(domain, regions.parameters, regions.quantified, budget)
    return [*notes, "interrupted"] if regions.interrupted else notes


def _conditions(
    domain: Domain | None, free: Sequence[str], quantified: Sequence[str], budget: str
) -> list[str]:
    """Returns what holds for the whole picture: the budget, fixed parameters, and quantified ones."""
    box = domain.box if domain else {}
    fixed = [f"{n} = {i.lower}" for n, i in box.items() if n not in free and i.is_point]
    notes = [budget] if budget else []
    notes += [", ".join(fixed)] if fixed else []
    if domain is None:
        return notes
    ranges = telling.others(domain, [n for n in quantified if n in box])
    own = telling.constraints(domain, free) if not ranges else ""
    return notes + [f"for all {ranges}"] * bool(ranges) + [own.strip()] * bool(own)


Drawing = Callable[["Axes | None"], "Figure"]


def drawing_of(case: PrivacyCase, found: Intervals | ExactCondition | Regions) -> Drawing | None:
    """Returns what draws the answer, into axes where they are given; None for a condition."""
    if isinstance(found, Intervals):
        return styled(lambda axes: _intervals(case, found.partition, axes))
    if isinstance(found, Regions):
        return styled(lambda axes: _map(case, found.map, axes))
    return None


def interval_figure(case: PrivacyCase, found: Partition) -> Callable[[], Figure]:
    """Returns the picture of intervals, with the ratio as a curve above it."""
    curve = curve_of(case.model, found.parameter)
    return interval_picture(
        found,
        title=case.title,
        budget=case.budget,
        curve=curve,
        text=_closed(case),
        words=synthesis_reports.words(case),
    )


def _closed(case: PrivacyCase) -> Callable[[Root], str | None]:
    return lambda root: closed_form(root, case.model.domain.constant)


def _intervals(case: PrivacyCase, found: Partition, axes: Axes | None) -> Figure:
    if axes is None:
        return interval_figure(case, found)()
    line_on(axes, stretches_of(found, _closed(case)), found.parameter)
    return _figure_of(axes)


def _map(case: PrivacyCase, found: RegionMap, axes: Axes | None) -> Figure:
    if axes is None:
        return map_picture(found, title=case.title, budget=case.budget, words=synthesis_reports.words(case))()
    if len(found.parameters) > 2:
        raise InputError("a map of more than two parameters has several pictures: leave ax out")
    if len(found.parameters) == 1:
        line_on(axes, joined(found), found.parameters[0])
    else:
        plane_on(axes, found)
    return _figure_of(axes)


def _figure_of(axes: Axes) -> Figure:
    from matplotlib.figure import Figure

    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure
