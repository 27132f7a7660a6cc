"""How plots appear.

Formats, pages, colours, hatching, labels and legends. Needs matplotlib, the extra `plots`.

How all plots look: colours, style, formats; and how to get what draws them.

Colours are those of [OkabeIto08], which the colour-blind can tell apart; markers and line styles say the same
without colour. Needs matplotlib, the extra `plots`.

How pictures of regions look: colours, hatching, legends, headings, and the file.

Colours are those of [OkabeIto08], made lighter where safe and darker where violating, so that the
colour-blind can tell them apart, and in grey too; hatching says the same again.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramverify.algebra.volumes import VolumeShare
from paramverify.errors import InputError
from paramverify.files import replacing
from paramverify.printable import name
from paramverify.reports import formulas
from paramverify.reports.sentences import percent
from paramverify.reports.synthesis_reports import PRIVACY
from paramverify.synthesis.maps import Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paramverify.synthesis.maps import RegionMap

INSTALL = "pip install 'paramverify[plots]'"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
FORMATS = ("svg", "png", "pdf")
DPI = 300
STYLE: Any = {  # some versions of matplotlib type its names, others do not
    "svg.hashsalt": "paramverify",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,  # fonts are embedded, and text can be found
    "savefig.facecolor": "white",  # also on a page that is dark
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def available() -> bool:
    """Tells whether matplotlib is there."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def check_plot(path: Path) -> None:
    """Checks that a picture can be written to such a file, before the work for it is done.

    Raises:
        InputError: another ending than those of `FORMATS`, or matplotlib is missing.
    """
    endings = [f".{kind}" for kind in FORMATS]
    if path.suffix.lower() not in endings:
        told = f"pictures are written as {', '.join(endings[:-1])} or {endings[-1]}"
        raise InputError(told, file=str(path))
    if not available():
        raise InputError(f"matplotlib is missing; to get it: {INSTALL}", file=str(path))


INCHES = {"cm": 1 / 2.54, "mm": 1 / 25.4, "in": 1.0, "pt": 1 / 72}
NARROW, WIDE = 1.5, 60.0  # inches that a picture may be wide
SMALL_PAGE = 4.5  # inches, below which letters are smaller
GENERIC = {"sans": "sans-serif", "sans-serif": "sans-serif", "serif": "serif", "monospace": "monospace"}
METADATA: dict[str, dict[str, Any]] = {  # without dates and random names
    "svg": {"Date": None, "Creator": "paramverify"},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": "paramverify", "Producer": None},
}
_LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*(cm|mm|in|pt)?")


@dataclass(frozen=True)
class Page:
    """What a page asks of a picture: the width in inches, a font and its size in points, or no heading.

    What is None or empty is left to the picture.
    """

    width: float | None = None
    font: str = ""
    size: float | None = None
    heading: bool = True

    def wide(self, usual: float) -> float:
        """Returns the width of a picture in inches that is usually that wide."""
        return self.width or usual

    def style(self) -> dict[str, Any]:
        """Returns the settings of matplotlib for the font.

        Raises:
            InputError: a font that matplotlib does not find.
        """
        found: dict[str, Any] = {}
        if self.size or (self.width and self.width < SMALL_PAGE):
            found["font.size"] = self.size or STYLE["font.size"] - 1
        if self.font:
            family = GENERIC.get(self.font.lower()) or _family(self.font)
            found["font.family"] = [family]
            sets = {"sans-serif": "dejavusans", "serif": "dejavuserif", "STIXGeneral": "stix"}
            found["mathtext.fontset"] = sets.get(family, "custom")
            kinds = {"rm": "", "it": ":italic", "bf": ":bold"}
            found |= {f"mathtext.{kind}": f"{family}{style}" for kind, style in kinds.items()}
        return found


PLAIN = Page()


def inches(given: str) -> float:
    """Returns a width such as `8cm`, `84 mm`, `3.3in` or `240pt` in inches; a bare number is centimetres.

    Raises:
        InputError: another text, or a width at which there is no picture.
    """
    match = _LENGTH.fullmatch(given.strip())
    if not match:
        raise InputError(f"{given!r} is not a width: write 8cm, 84mm, 3.3in or 240pt", key="--width")
    width = float(match[1]) * INCHES[match[2] or "cm"]
    if not NARROW <= width <= WIDE:
        raise InputError(f"a picture is 4 cm to 150 cm wide, not {given}", key="--width")
    return width


def write(
    path: Path, figure: Callable[[], Figure], page: Page = PLAIN, style: Mapping[str, Any] | None = None
) -> None:
    """Makes a figure in the style of the project and writes it, without dates and random names."""
    import matplotlib

    kind = path.suffix.lower().removeprefix(".")
    whole: Any = {**STYLE, **(style or {}), **page.style()}
    with matplotlib.rc_context(whole):
        drawn = figure()
        with replacing(path) as new:
            drawn.savefig(new, format=kind, dpi=DPI, metadata=METADATA[kind])


def _family(font: str) -> str:
    from matplotlib.font_manager import findfont, fontManager

    known = {entry.name.lower(): entry.name for entry in fontManager.ttflist}
    if font.lower() in known:
        findfont(known[font.lower()], fallback_to_default=False)
        return known[font.lower()]
    near = [known[n] for n in sorted(known) if n.startswith(font.lower()[:3])][:5] or ["serif", "sans"]
    raise InputError(
        f"matplotlib finds no font {font!r}; it has, for instance, {', '.join(near)}", key="--font"
    )


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
    lines = [formulas.plain(line) for line in _balanced(name(title, LONGEST_TITLE), width)]
    lines += map(formulas.text, _packed(notes, width))
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


GAP = 0.1  # inches between two labels


@dataclass(frozen=True)
class PlacedLabel:
    """A label for a place, and where it begins and ends, all along the line in one unit."""

    text: str
    place: float
    left: float
    right: float

    @property
    def middle(self) -> float:
        """The middle of the label."""
        return (self.left + self.right) / 2


def width(told: str, points: float) -> float:
    """Returns the width of a text that is set in the font of the style, in inches; mathematics is parsed."""
    import matplotlib
    from matplotlib.textpath import TextPath

    with matplotlib.rc_context({"text.parse_math": True}):
        return float(TextPath((0, 0), told, size=points).get_extents().width) / 72


def fits(widths: Sequence[float], end: float) -> bool:
    """Tells whether labels of these widths fit side by side between 0 and `end`, in inches."""
    return sum(widths) + GAP * (len(widths) - 1) <= end


def spread(wanted: Sequence[tuple[float, str, float]], end: float) -> list[PlacedLabel]:
    """Returns labels from 0 to `end`, in inches, of places in ascending order, with texts and widths.

    Each stands at its place, or as near to it as the others let it, in the order of the places: leaders do
    not cross, and labels do not meet. Where there is no room for all, every second one is left out.
    """
    gap = GAP
    if not fits([w for _, _, w in wanted], end):
        gap = 0.0
        if sum(w for _, _, w in wanted) > end:
            return spread([*wanted[:-1:2], wanted[-1]], end) if len(wanted) > 2 else []
    lefts: list[float] = []
    free = 0.0
    for place, _, wide in wanted:
        lefts.append(max(place - wide / 2, free))
        free = lefts[-1] + wide + gap
    most = end
    for k in reversed(range(len(wanted))):
        lefts[k] = min(lefts[k], most - wanted[k][2])
        most = lefts[k] - gap
    return [
        PlacedLabel(told, place, left, left + wide)
        for (place, told, wide), left in zip(wanted, lefts, strict=True)
    ]


DIGITS = 1
UNITS = 100 * 10**DIGITS
HANDLE, SPACING = 1.8, 1.4  # lengths in letters


def percents(shares: Mapping[str, VolumeShare]) -> dict[str, str]:
    """Returns shares in percent that add up to 100, by largest remainders; ≈ stands where one was rounded.

    What is less than half a unit is told as a bound, and so is its complement: neither does a little become
    nothing, nor almost all become all. Shares whose bounds differ in the digits are told with their bounds.
    """
    if any((s.upper - s.lower) * UNITS > Fraction(1, 2) for s in shares.values()):
        return {status: percent(share, DIGITS) for status, share in shares.items()}
    exact = {status: (share.lower + share.upper) / 2 * UNITS for status, share in shares.items()}
    units = {status: floor(value) for status, value in exact.items()}
    left = max(0, round(sum(exact.values())) - sum(units.values()))
    for status in sorted(exact, key=lambda s: (units[s] - exact[s], s))[:left]:
        units[status] += 1
    return {status: _told(units[status], exact[status], shares[status].exact) for status in shares}


def _told(units: int, value: Fraction, exact: bool) -> str:
    if exact and value == units:
        return f"{Fraction(units, 10**DIGITS)} %" if units % 10**DIGITS == 0 else f"{_decimal(units)} %"
    if units == 0:
        return f"< {_decimal(1)} %"
    return f"> {_decimal(UNITS - 1)} %" if units == UNITS else f"≈ {_decimal(units)} %"


def _decimal(units: int) -> str:
    return f"{units / 10**DIGITS:.{DIGITS}f}"


def legend(
    figure: Figure,
    shares: Mapping[str, VolumeShare],
    lines: Sequence[Any],
    told: bool = True,
    words: Mapping[Status, str] = PRIVACY,
) -> float:
    """Writes a legend below a figure, and returns its height in inches.

    It has the `words` for each status, with their shares if told, and lines, in as many columns as there is
    room for.
    """
    import matplotlib
    from matplotlib.patches import Patch

    known = percents({s: share for s, share in shares.items() if s != "outside"}) if told else {}
    handles: list[Any] = []
    for status, look in LOOKS.items():
        if status in shares:
            label = f"{words.get(Status(status), 'outside the domain')} {known.get(status, '')}".strip()
            handles.append(Patch(label=label, **paint(look)))
    handles += lines
    points: float = matplotlib.rcParams["font.size"] * 5 / 6
    em = points / 72
    widths = [width(h.get_label(), points) + em * (HANDLE + 0.8) for h in handles]
    columns = next(
        (
            n
            for n in range(len(handles), 1, -1)
            if _across(widths, n, SPACING * em) < figure.get_figwidth() - 0.2
        ),
        1,
    )
    made = figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        fontsize=points,
        columnspacing=SPACING,
        handlelength=HANDLE,
    )
    for entry in made.get_texts():
        entry.set_parse_math(True)
    return -(-len(handles) // columns) * 1.6 * em + em


def _across(widths: Sequence[float], columns: int, space: float) -> float:
    """Returns the width of a legend with so many columns, which it fills one after the other."""
    least, longer = divmod(len(widths), columns)
    total, start = space * (columns - 1), 0
    for column in range(columns):
        rows = least + (column < longer)
        total += max(widths[start : start + rows])
        start += rows
    return total
