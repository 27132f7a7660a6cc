"""How all plots look: colours, style, formats; and how to get what draws them.

Colours are those of [OkabeIto08], which the colour-blind can tell apart; markers and line styles say the same
without colour. Needs matplotlib, the extra `plots`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paramverify.errors import InputError

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
