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
from typing import TYPE_CHECKING, Any

from paramverify.algebra.volumes import VolumeShare
from paramverify.errors import InputError
from paramverify.printable import name
from paramverify.reports import mathematics
from paramverify.reports.pictures.pages import PLAIN, Page
from paramverify.reports.pictures.plots import STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paramverify.synthesis.maps import RegionMap


@dataclass(frozen=True)
class StatusStyle:
    """How a status is drawn: its fill, its hatching, the colour of that, and that of a mark."""

    fill: str
    hatch: str
    lines: str
    mark: str


LOOKS: Mapping[str, StatusStyle] = {  # by the values of synthesis.maps.Status
    "safe": StatusStyle("#9FD0F0", "", "#9FD0F0", "#0072B2"),
    "violating": StatusStyle("#CF6A25", "///", "#E9A675", "#8A3600"),
    "undecided": StatusStyle("#F2E54A", "||", "#C9BC35", "#A89B00"),
    "outside": StatusStyle("#FFFFFF", "xx", "#C8C8C8", "#808080"),
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


def paint(look: StatusStyle) -> dict[str, Any]:
    """Returns the properties of an area: the hatching takes the colour of the edge, which has no width."""
    return {"facecolor": look.fill, "edgecolor": look.lines, "hatch": look.hatch, "linewidth": 0.0}


def heading(figure: Figure, title: str, notes: Sequence[str], page: Page = PLAIN) -> float:
    """Writes the title and the notes above a figure, in lines of about one length; returns their height.

    The height is in inches. A page may want no heading.
    """
    import matplotlib

    points: float = matplotlib.rcParams["font.size"]
    width = int(117 / points * figure.get_figwidth())  # characters
    lines = [mathematics.plain(line) for line in _balanced(name(title, LONGEST_TITLE), width)]
    lines += map(mathematics.text, _packed(notes, width))
    if not lines or not page.heading:
        return 0.0
    figure.suptitle("\n".join(lines), fontsize=points, parse_math=True)
    return (1.35 * len(lines) + 0.5) * points / 72


def _packed(notes: Sequence[str], width: int) -> list[str]:
    """Returns the notes in lines, broken between two notes where that is possible."""
    lines: list[str] = []
    for note in notes:
        told = name(note, LONGEST_TITLE)
        if lines and len(lines[-1]) + len(told) + 2 <= width:
            lines[-1] += f"; {told}"
        else:
            lines += _balanced(told, width)
    return lines


def _balanced(text: str, width: int) -> list[str]:
    lines = textwrap.wrap(text, width)
    narrower = (textwrap.wrap(text, w) for w in range(width - 1, width // 2, -1))
    return [lines, *takewhile(lambda found: len(found) == len(lines), narrower)][-1]


def shares_of(regions: RegionMap) -> dict[str, VolumeShare]:
    """Returns bounds of the share of the domain with each status that occurs, and with undecided."""
    shown = {"undecided", *(cell.status.value for cell in regions.cells)}
    none = VolumeShare(Fraction(0), Fraction(0))
    shares = {status.value: share for status, share in regions.shares.items()}
    return {status: shares.get(status, none) for status in LOOKS if status in shown}
