"""What is meant by a text that is no expression: other signs for the same thing, other ways to write numbers.

A proposal is made only if it is an expression, which the caller tries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_LENGTH = 300  # characters of a text for which a mend is looked for

_QUOTED = re.compile(r"""('[^']*'|"[^"]*")""")
_NUMBER = r"(\d+(?:\.\d+)?)"
_ATOM = r"(?:\d+(?:\.\d+)?|[A-Za-z]\w*)"
_SIGNS = {
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "×": "*",
    "·": "*",
    "÷": "/",
    "−": "-",
    "–": "-",
    "∧": " and ",
    "∨": " or ",
    "¬": "not ",
    "“": "'",
    "”": "'",
    "‘": "'",
    "’": "'",
}
_RULES = tuple(
    (re.compile(pattern), other)
    for pattern, other in (
        (r"^\s*(?:epsilon|eps|ε|ratio)\s*==?\s*", ""),
        (r"(?<=[\d)])\s*(?=eps\b)", "*"),  # a parameter of this name is likely
        (r"(?<=[\d)])\s*\*?\s*(?:nats?|epsilon)\s*$", ""),
        (rf"^\s*{_NUMBER}\s*\*?\s*bits?\s*$", r"\1*ln(2)"),
        (r"\be\s*(?:\*\*|\^)\s*\(([^()]*)\)", r"exp(\1)"),
        (rf"\be\s*(?:\*\*|\^)\s*(-?\s*{_ATOM})", r"exp(\1)"),
        (r"<>", "!="),
        (r"=<", "<="),
        (r"=>", ">="),
        (r"===?", "=="),
        (r"(?<![<>=!])=(?![=<>])", "=="),
        (r"\s*&&?\s*", " and "),
        (r"\s*\|\|?\s*", " or "),
        (r"!(?!=)\s*", "not "),
        (r"\bAND\b|\bAnd\b", "and"),
        (r"\bOR\b|\bOr\b", "or"),
        (r"\bNOT\b|\bNot\b", "not"),
        (r"\bTrue\b|\bTRUE\b", "true"),
        (r"\bFalse\b|\bFALSE\b", "false"),
        (r"\bis not\b", "!="),
        (r"\bis\b", "=="),
        (r"\^", "**"),
        (r"\blog\s*(?=\()", "ln"),
        (rf"\b(exp|ln|abs)\s+({_ATOM}(?:/\d+)?)(?!\s*\()", r"\1(\2)"),
        (rf"\blog\s+({_ATOM})", r"ln(\1)"),
        (rf"^\s*{_NUMBER}\s*%\s*$", r"\1/100"),
        (rf"(?<![\w.]){_NUMBER}\s*%(?!\s*[\w.(])", r"(\1/100)"),  # before an operand it is a remainder
        (r"(?<![\w.,])(0(?=,)|\d+(?!,\d{3}(?!\d))),(\d+)(?![\w.,])", r"\1.\2"),  # not 1,000
        (r"(?<![\w.])(?!0[xXbBoO])(\d+(?:\.\d+)?)\s*(?=[A-Za-df-z(])(?!and\b|or\b|is\b)", r"\1*"),
        (r"\)\s*\(", ")*("),
        (r"\)\s*(?=[A-Za-z0-9])(?!and\b|or\b)", ")*"),
    )
)


def proposals(text: str) -> Iterator[str]:
    """Yields what may be meant, the least changes first; what stands in quotes stays."""
    if len(text) > MAX_LENGTH:
        return
    plain = "".join(_SIGNS.get(sign, sign) for sign in text)
    if plain != text:
        yield " ".join(plain.split())
    for pattern, other in _RULES:
        changed = _outside_quotes(pattern, other, plain)
        if changed != plain:
            yield changed
    changed = plain
    for pattern, other in _RULES:
        changed = _outside_quotes(pattern, other, changed)
    if changed != plain:
        yield changed
    for bracket in ("(", ")"):
        if text.count("(") != text.count(")"):
            yield f"({text}" if bracket == "(" else f"{text})"


def _outside_quotes(pattern: re.Pattern[str], other: str, text: str) -> str:
    parts = _QUOTED.split(text)
    return "".join(part if k % 2 else pattern.sub(other, part) for k, part in enumerate(parts))
