"""Text from users as a terminal, a picture or a file for another program may show it.

A case may name itself and its labels as it likes. Characters that move the cursor, turn the direction of
writing or are not seen at all could make an output say what this project does not say, so they are written
as escapes, such as `\\x1b` and `\\u202e`; so is a line break inside of a name. Long text is shortened.
JSON has the exact text, in which the escapes of JSON stand for such characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LONGEST_NAME = 300  # characters of a title, a name or a label
LONGEST_LINE = 4_000  # characters of a line of a message


def escaped(text: str) -> str:
    """Returns the text with every character that is not printable as an escape; blanks stay."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def name(text: str, most: int = LONGEST_NAME) -> str:
    """Returns a title, a name or a label in one line, shortened where it is long."""
    return _shortened(escaped(text), most)


def line(text: str) -> str:
    """Returns one line of an output, shortened where it is very long."""
    return _shortened(escaped(text), LONGEST_LINE)


def message(text: str) -> str:
    """Returns a message line by line: its own line breaks stay."""
    return "\n".join(map(line, text.split("\n")))


def json_text(document: Any, indent: int | None = None) -> str:
    """Returns a document as JSON, with an escape such as `\\u202e` for every character that is not printable.

    Raises:
        ValueError: it has a number that is not finite.
    """
    import json  # here, because it is slow to import

    return _escaped_json(json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False))


def json_lines(document: Mapping[str, Any]) -> str:
    """Returns an object as JSON with one line for each key, and for each entry of a list of objects.

    Raises:
        ValueError: it has a number that is not finite.
    """
    import json

    def line_of(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    def lines_of(value: Any) -> str:
        if not (isinstance(value, list) and value and all(isinstance(entry, Mapping) for entry in value)):
            return line_of(value)
        return "[\n  " + ",\n  ".join(map(line_of, value)) + "\n ]"

    found = (f"{line_of(name)}: {lines_of(value)}" for name, value in document.items())
    return _escaped_json("{\n " + ",\n ".join(found) + "\n}")


def _escaped_json(text: str) -> str:
    import json

    if all(part.isprintable() for part in text.split("\n")):  # line breaks are those of the form
        return text
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def dot(text: str) -> str:
    """Returns a quoted string of DOT; line breaks are those of a label."""
    return '"' + "\\n".join("".join(map(_in_dot, part)) for part in text.split("\n")) + '"'


def _in_dot(character: str) -> str:
    if character == '"':
        return '\\"'
    return escaped(character).replace("\\", "\\\\")


LATEX = {
    **{c: f"\\{c}" for c in "_%&#${}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "[": "{[}", "*": "{*}"},
    **{"⊥": r"$\bot$", "⊤": r"$\top$", "ε": r"$\varepsilon$", "δ": r"$\delta$", "√": r"$\surd$"},
    **{"≤": r"$\leq$", "≥": r"$\geq$", "≠": r"$\neq$", "∞": r"$\infty$", "→": r"$\rightarrow$"},
}


def latex(text: str) -> str:
    """Returns a name as LaTeX text."""
    return "".join(LATEX.get(c, c) for c in name(text))


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most * 2 // 3]} [... {len(text) - most:,} characters ...] {text[-(most // 3) :]}"
