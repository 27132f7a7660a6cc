"""Formulas of dpCTL* as text, from the tree that is checked: standard library only."""

from __future__ import annotations

from typing import Any


def stated(entry: Any) -> str:
    """Returns what a formula of evidence says, and of a family for which numbers."""
    family = entry.get("family")
    if family is None:
        return words(entry["formula"])
    last = "" if family["last"] is None else family["last"]
    return f"forall k in {family['first']}..{last}: {words(entry['formula'])}"


def words(formula: Any) -> str:
    """Returns a formula with all brackets; the number of a family is `k`."""
    kind = formula[0]
    if kind == "label":
        name: str = formula[1].replace('"', "'")
        return f'"{name}"'
    if kind in ("not", "next"):
        return f"{'!' if kind == 'not' else 'X '}{words(formula[1])}"
    if kind in ("and", "or"):
        if not formula[1]:
            return "true" if kind == "and" else "false"
        return f"({(' & ' if kind == 'and' else ' | ').join(map(words, formula[1]))})"
    if kind in ("until", "release"):
        _, left, right, low, high = formula
        if left == ["true" if kind == "until" else "false"]:
            return f"{'F' if kind == 'until' else 'G'}{_steps(low, high)} {words(right)}"
        return f"({words(left)} {'U' if kind == 'until' else 'R'}{_steps(low, high)} {words(right)})"
    if kind == "P":
        return f"P{formula[1]}{_number(formula[2])} [ {words(formula[3])} ]"
    if kind == "D":
        ratio = "0" if formula[1] == "1" else f"ln({_number(formula[1])})"
        return f"D{{{ratio}, {_number(formula[2])}}}[ {words(formula[3])} ]"
    return str(kind)


def _steps(low: Any, high: Any) -> str:
    if high is None:
        return "" if low == 0 else f">={_count(low)}"
    if low == high:
        return f"={_count(low)}"
    return f"<={_count(high)}" if low == 0 else f"[{_count(low)}, {_count(high)}]"


def _count(number: Any) -> str:
    if not isinstance(number, dict):
        return str(number)
    more = number["more"]
    return f"k{more:+}" if more else "k"


def _number(weight: Any) -> str:
    return weight if isinstance(weight, str) else f"({weight[0]})/({weight[1]})"
