"""The pictures of two parameters and more: a map of cells with the boundary over it, and slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil
from typing import TYPE_CHECKING, Any

from paramverify.algebra.domains import Interval
from paramverify.algebra.points import in_words
from paramverify.algebra.volumes import VolumeShare
from paramverify.reports import mathematics
from paramverify.reports.pictures.fields import failure_field, steps
from paramverify.reports.pictures.legends import legend, percents
from paramverify.reports.pictures.looks import CURVE, EDGE, LOOKS, heading, paint, shares_of
from paramverify.reports.pictures.outlines import outlines
from paramverify.reports.pictures.pages import PLAIN, Page
from paramverify.synthesis.maps import Status
from paramverify.synthesis.unfolding import Unfolding

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paramverify.synthesis.maps import RegionMap

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
        lines = [mathematics.text(told)] if told else []
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
    return [f"${shown}$" for shown in mathematics.names(regions.parameters).values()]


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
