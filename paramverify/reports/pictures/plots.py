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
FORMATS = ("svg", "png")
STYLE: Any = {  # some versions of matplotlib type its names, others do not
    "svg.hashsalt": "paramverify",
    "svg.fonttype": "none",
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
    """Raises an InputError if matplotlib is missing or the file's ending is not one of svg and png."""
    if not available():
        raise InputError(f"plots need matplotlib: {INSTALL}", key="--plot")
    if path.suffix.removeprefix(".") not in FORMATS:
        raise InputError(f"a plot is a file .{' or .'.join(FORMATS)}, not {path.name!r}", key="--plot")
