"""What a bisection between the bounds of testing found, as text and as JSON."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from paramverify.algebra.decimals import decimal_text, rounded
from paramverify.algebra.points import in_words
from paramverify.algebra.reals import Real
from paramverify.answers import Standing
from paramverify.reports import documents, text
from paramverify.statistics.bisection import Bisection, BisectionStep


def lines(found: Bisection) -> list[str]:
    """Returns what bisection proved, and what testing had said."""
    count = len(found.steps)
    tries = f" ({count} verification{'s' * (count != 1)})" if count else ""
    told = [f"bisection: {_head(found)}{tries}"]
    left, right = found.testing
    low = rounded(left) if left is not None else "none"
    high = rounded(right) if right is not None else "none"
    told.append(f"  testing gave the interval from {low} to {high}; the result does not rest on it.")
    for step in found.wrong:
        standing = Standing.HOLDS if step.holds else Standing.VIOLATED
        stands = f"the case is {standing.of_case} with epsilon = {_shown(step.epsilon)}"
        told.append(f"  testing was wrong at its {'left' if step.holds else 'right'} end: {stands}.")
    if found.last:
        told.append(
            f"  epsilon = {_shown(found.last.epsilon)} stayed {Standing.UNKNOWN.of_case}: {found.last.reason}"
        )
    if found.at_most is not None:
        told.append(
            f"  no budget up to {_shown(found.at_most)} was found to hold, and no larger one is tried."
        )
    witness = found.violated.witness if found.violated else None
    if witness:
        if witness.parameters:
            told.append(f"  with {in_words(witness.parameters)}:")
        told += [f"  {line}" for line in text.witness_lines(witness)[1:]]
    return told


def _head(found: Bisection) -> str:
    if found.infinite and not found.steps:
        return "no budget: the ratio grows without limit with longer sequences"
    if found.infinite:
        return "no budget: an output is possible under one secret only"
    parts = []
    if found.violated:
        parts.append(f"{Standing.VIOLATED.of_case} with epsilon = {_shown(found.violated.epsilon)}")
    if found.holds:
        parts.append(f"{Standing.HOLDS.of_case} with epsilon = {_shown(found.holds.epsilon)}")
    if not parts:
        return "nothing was proved"
    return f"{', '.join(parts)}; {'both are proved' if len(parts) == 2 else 'this is proved'}"


def _shown(value: Fraction) -> str:
    """Returns a value of ε exactly where it is a short decimal number, else as a fraction."""
    shown = decimal_text(value, 12)
    return shown if Fraction(shown) == value else str(value)


def document(found: Bisection) -> dict[str, Any]:
    """Returns the bisection as JSON data; the values of ε are exact."""
    witness = found.violated.witness if found.violated else None
    return {
        "status": "found" if found.is_found else "bounded",
        "infinite": found.infinite,
        "violated": str(found.violated.epsilon) if found.violated else None,
        "holds": str(found.holds.epsilon) if found.holds else None,
        "precision": str(found.precision),
        "testing": list(found.testing),
        "wrong_ends": [str(step.epsilon) for step in found.wrong],
        **({"at_most": str(found.at_most)} if found.at_most is not None else {}),
        "steps": [_step(step) for step in found.steps],
        "witness": documents.witness(witness) if witness else None,
    }


def _step(step: BisectionStep) -> dict[str, Any]:
    standing = {True: Standing.HOLDS, False: Standing.VIOLATED, None: Standing.UNKNOWN}[step.holds]
    ratio = step.ratio.describe() if isinstance(step.ratio, Real) else str(step.ratio)
    told = {"epsilon": str(step.epsilon), "status": standing, "verdict": standing.of_case, "ratio": ratio}
    return told | ({"reason": step.reason} if step.reason else {})
