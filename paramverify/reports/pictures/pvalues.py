"""The plot of a statistical test: p-values against ε, as in StatDP. Needs matplotlib, the extra `plots`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paramverify import printable
from paramverify.algebra.decimals import percent
from paramverify.reports.pictures.plots import COLOURS, STYLE

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


def write_pvalues(curves: Curves, path: Path) -> None:
    """Writes the plot; the ending of the file says in which format."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        pvalues_figure(curves).savefig(path, dpi=150, bbox_inches="tight", metadata=metadata)


def pvalues_figure(curves: Curves, axes: Axes | None = None) -> Figure:
    """Returns the plot, drawn into the axes where these are given."""
    from matplotlib.figure import Figure

    if axes is None:
        axes = Figure(figsize=(6, 4)).add_subplot()
    axes.plot(curves.epsilons, curves.p, "o-", color=COLOURS[0], markersize=4, label="chosen direction")
    axes.plot(curves.epsilons, curves.reversed, "s:", color=COLOURS[1], markersize=3, label="other direction")
    axes.axhline(curves.level, color="0.6", linewidth=0.8)
    axes.axvline(curves.budget, color="0.2", linestyle="--", linewidth=1, label="budget")
    bound = f"lower bound, {percent(curves.confidence)}"
    if curves.bound > 0:
        axes.axvline(curves.bound, color=COLOURS[2], linestyle="-.", linewidth=1, label=bound)
    axes.set_ylim(-0.03, 1.03)
    axes.set_xlabel("ε")
    axes.set_ylabel("p-value")
    title = f"{printable.name(curves.title)}\nthe grey line is the level {curves.level:g}"
    axes.set_title(title, fontsize=9)
    axes.grid(color="0.92", linewidth=0.6)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure
