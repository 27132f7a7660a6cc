"""Reports as boxes for notebooks: plain HTML with its own style, no script, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

BOX = "border:1px solid #8886;border-radius:4px;padding:.6em .9em;margin:.3em 0;max-width:60em"
WORD = "font-weight:600;border:1px solid currentColor;border-radius:3px;padding:.05em .45em;margin-right:.5em"
CELL = "text-align:left;padding:.1em .9em .1em 0;border:0;background:none"
TEXT = "white-space:pre-wrap;margin:.4em 0 0;background:none"


def box(word: str, lines: Sequence[str], table: Sequence[tuple[str, str]] = ()) -> str:
    """Returns a box: a word for the verdict, the first line, a table, and the rest of the lines.

    Every text is escaped. Colours are those of the page, so that it is readable in light and in dark.
    """
    first, *rest = [escape(line) for line in lines] or [""]
    shown = f'<span style="{WORD}">{escape(word)}</span>' if word else ""
    if word:  # it stands in front already
        first = first.removeprefix(escape(f"{word}: "))
    rows = "".join(
        f'<tr style="background:none"><th scope="row" style="{CELL}">{escape(name)}</th>'
        f'<td style="{CELL}">{escape(value)}</td></tr>'
        for name, value in table
    )
    parts = [
        f"<div>{shown}{first}</div>",
        f'<table style="border-collapse:collapse;margin:.4em 0 0">{rows}</table>' if rows else "",
        f'<pre style="{TEXT}">{"&#10;".join(rest)}</pre>' if rest else "",
    ]
    return f'<div style="{BOX}">{"".join(parts)}</div>'
