"""The page that a picture is for: width, font, heading; and how a picture becomes a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramverify.errors import InputError
from paramverify.files import replacing
from paramverify.reports.pictures.plots import DPI, STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
        raise InputError(f"{given!r} is no width: write 8cm, 84mm, 3.3in or 240pt", key="--width")
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
