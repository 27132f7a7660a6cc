"""The plot of a statistical test: p-values against ε, as in StatDP. Needs matplotlib, the extra `plots`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paramverify import printable
from paramverify.algebra.decimals import percent
from paramverify.reports import mathematics
from paramverify.reports.pictures.looks import heading
from paramverify.reports.pictures.pages import PLAIN, Page, write
from paramverify.reports.pictures.plots import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
    axes.set_title(mathematics.plain(printable.name(curves.title)), fontsize="medium")
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
