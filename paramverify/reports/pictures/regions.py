"""Pictures of safe and violating regions: a line for one parameter, a map for two, slices for more.

They need matplotlib, the extra `plots`. The same input gives the same file, whenever it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramverify.algebra.volumes import VolumeShare, shares
from paramverify.errors import InputError, located
from paramverify.reports import text as telling
from paramverify.reports.pictures.curves import Curve
from paramverify.reports.pictures.lines import PRECISION, joined, line_figure, stretches_of
from paramverify.reports.pictures.looks import LOOK_STYLE, shares_of
from paramverify.reports.pictures.pages import PLAIN, Page, write
from paramverify.reports.pictures.planes import map_figure, slices, slices_figure
from paramverify.reports.pictures.plots import check_plot
from paramverify.reports.synthesis import PRIVACY

MOST = 10**300  # absolute value of what is drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from paramverify.algebra.domains import Domain
    from paramverify.synthesis.intervals import Partition, Root
    from paramverify.synthesis.maps import RegionMap, Status


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
