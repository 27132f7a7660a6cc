"""The plots of a comparison: how many claims are solved in which time, and backends against each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from paramverify.comparison.comparison_subjects import as_it_is
from paramverify.comparison.comparison_summary import (
    BenchmarkProblem,
    ComparisonSummary,
    Configuration,
    MedianRun,
)
from paramverify.files import replacing
from paramverify.reports.pictures.plot_style import COLOURS, DPI, FORMATS, METADATA, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vPX*<>hp"
BEST = "#000000"
MOST_ACROSS = 5  # plots of a grid


def write_plots(comparison: ComparisonSummary, folder: Path) -> list[Path]:
    """Writes all plots of a comparison as SVG, PNG and PDF, and returns the files."""
    import matplotlib

    written: list[Path] = []
    with matplotlib.rc_context(STYLE):
        for name, figure in _figures(comparison):
            for kind in FORMATS:
                path = folder / f"{name}.{kind}"
                with replacing(path) as new:
                    figure.savefig(new, dpi=DPI, bbox_inches="tight", metadata=METADATA[kind])
                written.append(path)
    return written


def _figures(comparison: ComparisonSummary) -> Iterator[tuple[str, Figure]]:
    looks = _looks(comparison)
    for encoding in comparison.encodings():
        if not comparison.best(encoding):
            continue  # simplification left nothing to draw
        ending = re.sub(r"\W+", "-", encoding)
        yield f"cactus-{ending}", cactus_figure(comparison, encoding)
        both = [
            name
            for name in dict.fromkeys(c.backend for c in comparison.runs)
            if all(Configuration(encoding, name, s) in comparison.runs for s in ("off", "on"))
        ]
        if both:
            yield f"scatter-simplification-{ending}", _simplification(comparison, encoding, both, looks)
        chosen = _one_each(comparison, encoding)
        if len(chosen) > 1:
            yield f"scatter-{ending}", _against_each_other(comparison, chosen, looks)


Looks = Mapping[str, tuple[str, str]]


def _looks(comparison: ComparisonSummary) -> Looks:
    """Returns the colour and the marker of each backend, the same in all plots."""
    names = list(dict.fromkeys(c.backend for c in comparison.runs))
    return {n: (COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]) for k, n in enumerate(names)}


def _one_each(comparison: ComparisonSummary, encoding: str) -> list[Configuration]:
    """Returns one configuration of each backend, with simplification where there is one."""
    chosen: dict[str, Configuration] = {}
    for configuration in comparison.runs:
        if configuration.encoding == encoding:
            chosen[configuration.backend] = configuration  # "on" comes after "off"
    return list(chosen.values())


def cactus_figure(comparison: ComparisonSummary, encoding: str, axes: Axes | None = None) -> Figure:
    """Time against the number of claims that are solved within it, each: a quantile plot.

    It is drawn into the axes where these are given.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    axes = axes or Figure(figsize=(7, 4.5)).add_subplot()
    looks = _looks(comparison)
    curves = [
        (
            c.label,
            *looks[c.backend],
            "-" if c.simplification == "on" or as_it_is(encoding) else "--",
            comparison.left(c),
        )
        for c in comparison.runs
        if c.encoding == encoding
    ]
    best = comparison.best(encoding)
    curves.append(("virtual best", BEST, "", ":", best))
    curves.sort(key=lambda curve: (-_solved(curve[4]), sum(r.penalty for r in curve[4].values())))
    for label, colour, marker, style, runs in curves:
        times = sorted(run.penalty for run in runs.values() if run.solved)
        axes.plot(
            range(1, len(times) + 1),
            times,
            label=f"{label} ({len(times)})",
            color=colour,
            linestyle=style,
            linewidth=1.4,
            marker=marker or None,
            markersize=4,
            markevery=max(1, len(times) // 12),
        )
    axes.axhline(comparison.timeout, color="0.6", linewidth=0.8)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlim(0, len(best) + 1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    gone = sum(p.encoding == encoding for p in comparison.settled)
    rest = f" ({gone} more were settled by simplification)" if gone else ""
    axes.set_xlabel(f"claims solved, of {len(best)}{rest}")
    axes.set_ylabel("seconds for each, at most")
    axes.set_title(f"Solved claims by time ({encoding}); the grey line is the limit", fontsize=9)
    axes.grid(color="0.92", linewidth=0.6)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def _solved(runs: Mapping[BenchmarkProblem, MedianRun]) -> int:
    return sum(run.solved for run in runs.values())


def _simplification(
    comparison: ComparisonSummary, encoding: str, names: Sequence[str], looks: Looks
) -> Figure:
    """Each backend on each claim without simplification (across) and with it (up)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 5))
    axes = figure.add_subplot()
    for name in names:
        pair = (Configuration(encoding, name, "off"), Configuration(encoding, name, "on"))
        _points(axes, comparison, pair, looks[name], name)
    _frame(axes, comparison)
    axes.set_xlabel("seconds without simplification")
    axes.set_ylabel("seconds with simplification")
    axes.set_title(f"What simplification does ({encoding})", fontsize=9)
    axes.legend(loc="center left", bbox_to_anchor=(1.06, 0.5), fontsize=8)
    return figure


def _against_each_other(
    comparison: ComparisonSummary, chosen: Sequence[Configuration], looks: Looks
) -> Figure:
    """One small plot for each pair of backends."""
    from matplotlib.figure import Figure

    pairs = list(combinations(chosen, 2))
    down, across = _grid(len(chosen))
    figure = Figure(figsize=(2.9 * across, 2.9 * down), layout="constrained")
    for place, pair in enumerate(pairs, 1):
        axes = figure.add_subplot(down, across, place)
        _points(axes, comparison, pair, (looks[pair[1].backend][0], "o"), "")
        _frame(axes, comparison)
        axes.set_xlabel(f"{pair[0].label} (s)", fontsize=8)
        axes.set_ylabel(f"{pair[1].label} (s)", fontsize=8)
        axes.tick_params(labelsize=7)
    return figure


def _grid(count: int) -> tuple[int, int]:
    """Returns the rows and columns of a grid with a place for each pair of so many, and none left over."""
    sides = (count - 1, count // 2) if count % 2 == 0 else (count, (count - 1) // 2)
    few, many = sorted(sides)
    return (few, many) if many <= MOST_ACROSS else (many, few)


def _points(
    axes: Axes,
    comparison: ComparisonSummary,
    pair: tuple[Configuration, Configuration],
    look: tuple[str, str],
    label: str,
) -> None:
    left, right = (comparison.left(c) for c in pair)
    both = [p for p in left if p in right]
    axes.scatter(
        [left[p].penalty for p in both],
        [right[p].penalty for p in both],
        s=16,
        color=look[0],
        marker=look[1],
        alpha=0.6,
        linewidths=0,
        label=label or None,
        clip_on=False,
        zorder=3,
    )


def _frame(axes: Axes, comparison: ComparisonSummary) -> None:
    """Sets equal logarithmic axes; what is not solved lies beyond the limit, on the grey lines."""
    times = [run.penalty for runs in comparison.runs.values() for run in runs.values()]
    beyond = 2 * comparison.timeout
    ends = (min(times) / 1.5, beyond * 1.3)
    for line in (axes.axhline, axes.axvline):
        line(beyond, color="0.6", linewidth=0.8)
    axes.plot(ends, ends, color="0.8", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_aspect("equal")
    for place, shift, angle in (((ends[0], beyond), (3, -9), 0), ((beyond, ends[0]), (-9, 3), 90)):
        axes.annotate(
            "not solved",
            place,
            xytext=shift,
            textcoords="offset points",
            rotation=angle,
            fontsize=7,
            color="0.4",
        )
