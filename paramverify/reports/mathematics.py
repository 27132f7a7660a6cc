"""Names and expressions as mathematics: in TeX, in the part of it that matplotlib sets itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

LOWER = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"),
    *("nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
)
UPPER = ("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega")
GREEK = frozenset((*LOWER, *UPPER))
OPERATORS = {
    **{"<=": r"\leq ", ">=": r"\geq ", "==": "=", "!=": r"\neq ", "≈": r"\approx "},
    **{"<": "<", ">": ">", ",": r",\ ", ";": r";\ \ "},
}
WORDS = ("for", "all", "and", "or", "bound")
FUNCTIONS = ("ln", "log", "max", "min")
_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|[A-Za-z_]\w*|\*\*|[<>=!]=|[-+*/^(),;<>=\[\]≈])", re.ASCII)
_WORDS = re.compile(rf"(?:[-\d./≈\s]|\b(?!(?:{'|'.join(sorted(GREEK))}|[a-z][A-Z]\w*)\b)[A-Za-z]{{2,}}\b)*")
_NAME = re.compile(r"([A-Za-z]+)_?(\d+)|([A-Za-z]+)_(\w+)|([a-z])([A-Z]\w*)|([A-Za-z]+)", re.ASCII)


def text(told: str) -> str:
    """Returns words and formulas of ours for an artist that parses mathematics.

    What is no formula stays as it is, and so do numbers and words alone.
    """
    found = None if _WORDS.fullmatch(told) else formula(told)
    return plain(told) if found is None else f"${found}$"


def plain(told: str) -> str:
    """Returns a text for an artist that parses mathematics, without any."""
    return told.replace("$", r"\$")


def name(told: str) -> str:
    """Returns the name of a parameter: `alpha`, `pA` and `p_1` are a letter, with an index below it."""
    match = _NAME.fullmatch(told)
    if not match:
        return rf"\mathrm{{{_escaped(told)}}}"
    first, number, second, below, letter, capital, whole = match.groups()
    base, index = first or second or letter or whole, number or below or capital
    if number and len(base) > 1 and base not in GREEK:
        return rf"\mathrm{{{_escaped(told)}}}"
    if not index:
        return _letter(base)
    inner = index if index.isdigit() or len(index) == 1 else rf"\mathrm{{{_escaped(index)}}}"
    return f"{_letter(base)}_{{{inner}}}"


def names(told: Sequence[str]) -> dict[str, str]:
    """Returns names as mathematics; those that would look alike stay as they are, in upright letters."""
    alone = {n: name(n) for n in told}
    seen = list(alone.values())
    return {n: s if seen.count(s) == 1 else rf"\mathrm{{{_escaped(n)}}}" for n, s in alone.items()}


def formula(told: str, among: Sequence[str] = ()) -> str | None:
    """Returns an expression, a condition or words as mathematics, or None where a character is in none.

    `among` are names beside it, which shall not look like those in it.
    """
    tokens: list[str] = []
    place = 0
    while told[place:].strip():
        match = _TOKEN.match(told, place)
        if not match:
            return None
        tokens.append(match[1])
        place = match.end()
    return _set(tokens, names([*dict.fromkeys([*among, *(t for t in tokens if t[0].isalpha())])]))


def _set(tokens: Sequence[str], known: Mapping[str, str]) -> str | None:
    parts: list[str] = []
    place = 0
    while place < len(tokens):
        token, following = tokens[place], tokens[place + 1 : place + 2]
        place += 1
        if (token in ("sqrt", "exp") and following == ["("]) or token in ("^", "**"):
            end = _argument(tokens, place)
            if end is None:
                return None
            bare = tokens[place] == "("
            inner = _set(tokens[place + 1 : end - 1] if bare else tokens[place:end], known)
            if inner is None:
                return None
            parts.append({"sqrt": r"\sqrt", "exp": "e^"}.get(token, "^") + f"{{{inner}}}")
            place = end
        else:
            parts.append(_one(token, following, known))
    return "".join(parts)


def _one(token: str, following: Sequence[str], known: Mapping[str, str]) -> str:
    """Returns a token that stands for itself, before the one that follows."""
    if token in FUNCTIONS:
        return rf"\{token}" + ("" if following == ["("] else " ")
    if token == "*":
        return r"\cdot " if following and following[0][0].isdigit() else r"\,"
    if token == "in":
        return r"\in "
    if token in WORDS:
        before = r"\ " if token in ("and", "or") else ""
        return rf"{before}\mathrm{{{token}}}\ "
    return OPERATORS.get(token) or known.get(token, token)


def _argument(tokens: Sequence[str], start: int) -> int | None:
    """Returns where the argument that starts there ends: a token, or what is in parentheses."""
    depth = 0
    for place in range(start, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[place], 0)
        if depth == 0 and tokens[place] != "-":
            return place + 1
    return None


def _letter(base: str) -> str:
    if base in GREEK:
        return r"\varepsilon" if base == "epsilon" else rf"\{base}"
    return base if len(base) == 1 else rf"\mathrm{{{base}}}"


def _escaped(told: str) -> str:
    return "".join(rf"\{c}" if c in "_$%#&{}" else c for c in told)
