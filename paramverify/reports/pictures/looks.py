"""How pictures of regions look: colours, hatching, legends, headings, and the file.

Colours are those of [OkabeIto08], made lighter where safe and darker where violating, so that the
colour-blind can tell them apart, and in grey too; hatching says the same again.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramverify.algebra.volumes import Share
from paramverify.errors import InputError
from paramverify.printable import name
from paramverify.reports.pictures.plots import STYLE
from paramverify.reports.synthesis import PRIVACY
from paramverify.reports.text import percent
from paramverify.synthesis.maps import Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paramverify.synthesis.maps import RegionMap


@dataclass(frozen=True)
class Look:
    """How a status is drawn: its fill, its hatching and the colour of that."""

    fill: str
    hatch: str
    lines: str


LOOKS: Mapping[str, Look] = {  # by the values of synthesis.maps.Status
    "safe": Look("#8CCBF0", "", "#8CCBF0"),
    "violating": Look("#C24E00", "///", "#DB8A55"),
    "undecided": Look("#F0E442", "||", "#BFB21E"),
    "outside": Look("#FFFFFF", "xx", "#C8C8C8"),
}
CURVE = "#000000"
BOUND = "#6A3D9A"
EDGE = "#808080"
LONGEST_TITLE = 160  # characters above a picture
LOOK_STYLE: Any = {
    "hatch.linewidth": 0.7,
    "axes.spines.top": True,
    "axes.spines.right": True,
    "text.parse_math": False,  # a $ in a title is a $
}


def save(path: Path, figure: Callable[[], Figure]) -> None:
    """Makes a figure in the style of the project and writes it, without dates and random names."""
    import matplotlib

    with matplotlib.rc_context({**STYLE, **LOOK_STYLE}):
        svg = path.suffix.lower() == ".svg"
        metadata: dict[str, Any] = {"Date": None, "Creator": "paramverify"} if svg else {"Software": None}
        figure().savefig(path, dpi=150, metadata=metadata)


def styled(draw: Callable[[Axes | None], Figure]) -> Callable[[Axes | None], Figure]:
    """Returns a drawing in the style of the project, which asks for matplotlib before it draws.

    Raises:
        InputError: (by the drawing) matplotlib is missing.
    """

    def drawn(axes: Axes | None) -> Figure:
        try:
            import matplotlib
        except ImportError:
            raise InputError("pictures need matplotlib: pip install 'paramverify[plots]'") from None
        with matplotlib.rc_context({**STYLE, **LOOK_STYLE}):
            return draw(axes)

    return drawn


def paint(look: Look) -> dict[str, Any]:
    """Returns the properties of an area: the hatching takes the colour of the edge, which has no width."""
    return {"facecolor": look.fill, "edgecolor": look.lines, "hatch": look.hatch, "linewidth": 0.0}


def heading(figure: Figure, title: str, notes: Sequence[str]) -> None:
    """Writes the title and the notes above a figure, each in lines of about one length."""
    width = int(13 * figure.get_figwidth())  # characters of 9 points
    told = "; ".join(name(note, LONGEST_TITLE) for note in notes)
    lines = _balanced(name(title, LONGEST_TITLE), width) + _balanced(told, width)
    if lines:
        figure.set_figheight(figure.get_figheight() + 0.16 * max(0, len(lines) - 2))
        figure.suptitle("\n".join(lines), fontsize=9)


def _balanced(text: str, width: int) -> list[str]:
    lines = textwrap.wrap(text, width)
    narrower = (textwrap.wrap(text, w) for w in range(width - 1, width // 2, -1))
    return [lines, *takewhile(lambda found: len(found) == len(lines), narrower)][-1]


def shares_of(regions: RegionMap) -> dict[str, Share]:
    """Returns bounds of the share of the domain with each status that occurs, and with undecided."""
    shown = {"undecided", *(cell.status.value for cell in regions.cells)}
    none = Share(Fraction(0), Fraction(0))
    shares = {status.value: share for status, share in regions.shares.items()}
    return {status: shares.get(status, none) for status in LOOKS if status in shown}


def legend(
    figure: Figure,
    shares: Mapping[str, Share],
    lines: Sequence[Any],
    columns: int,
    told: bool = True,
    words: Mapping[Status, str] = PRIVACY,
) -> None:
    """Writes a legend below a figure: the `words` for each status, with their shares if told, and lines."""
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for status, look in LOOKS.items():
        if status in shares:
            share = f" {percent(shares[status], 1)}" if told and status != "outside" else ""
            label = f"{words.get(Status(status), 'outside the domain')}{share}"
            handles.append(Patch(label=label, **paint(look)))
    figure.legend(
        handles=[*handles, *lines],
        loc="outside lower center",
        ncols=columns,
        fontsize=8,
        columnspacing=1.4,
        handlelength=1.8,
    )
