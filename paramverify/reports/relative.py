"""The largest ratio relative to the bound of a case, in words and as JSON data: is the bound tight?"""

from __future__ import annotations

from typing import Any

from paramverify.algebra.decimals import decimal_text, rounded
from paramverify.models.model import Model
from paramverify.reports import documents, text
from paramverify.reports.budgets import (
    NEAR,
    exact_text,
    outputs_document,
    ratio_document,
    read_by,
    tends,
    where,
)
from paramverify.synthesis.beside import ClosureLimit
from paramverify.synthesis.multiples import Multiple, is_proved, times
from paramverify.synthesis.suprema import TightBudget

ONE = "where both are 1"
SMALLER = "That does not make the bound tight: a smaller one may hold"


def line(model: Model, bound: str, found: TightBudget, known: Multiple | None = None) -> str:
    """Returns in words how near the largest ratio comes to the bound of the case, which is given in words.

    Where a multiple of the bound is `known` to be enough, no smaller bound is proposed.
    """
    told = _told(model, bound, found)
    if known:
        told, _, _ = told.partition(f". {SMALLER}")
        told += "; it is not tight" if known.enough < 1 else ""
    return f"relative to the case's {bound}: {told}"


def enough(bound: str, among: str, found: TightBudget) -> list[str]:
    """Returns in words that the bound of the case, which is given in words, was proved; else nothing."""
    if not _enough(found):
        return []
    least = ", and no smaller multiple of it is" if _tight(found) else ""
    return [f"{bound} is enough for all {among}{least}"]


def multiple(bound: str, among: str, found: Multiple) -> str:
    """Returns in words which multiple of the bound of the case, which is given in words, was proved."""
    name, _, epsilon = bound.partition(" = ")
    what = "it" if found.enough == 1 else epsilon
    rest = f", and no smaller multiple of {what} is" if found.least else ""
    if not found.least and found.fails:
        rest = f", but {times(found.fails, epsilon)} is not"
    return f"{name} = {found.of(epsilon)} is enough for all {among}{rest}"


def document(model: Model, found: TightBudget) -> dict[str, Any]:
    """Returns the same as JSON data.

    `enough` is true where the bound was proved, false where it does not hold, and null where neither is
    known. `tight` is true where the bound was shown to be tight, false where a smaller multiple of it is
    proved or it does not hold, and null where neither is known. `bound_there` is the bound at the `place`
    where the ratio comes near it.
    """
    shown = ratio_document(found) | {"attained": found.attained}
    shown |= {"enough": _enough(found), "tight": _tight(found)}
    shown |= outputs_document(found.outputs)
    if found.beside is None:
        return shown
    near = found.beside
    there = "infinity" if near.grows else None if near.limit is None else documents.real(near.limit)
    return shown | {"place": tends(model, read_by(model, near.place, found.origin)), "bound_there": there}


def _enough(found: TightBudget) -> bool | None:
    if found.infinite or found.lower > 1:
        return False
    return True if is_proved(found) else None


def _tight(found: TightBudget) -> bool | None:
    if found.beside is not None:
        return found.beside.tight
    return (
        False if found.infinite or found.lower > 1 or (found.upper is not None and found.upper < 1) else None
    )


def _told(model: Model, bound: str, found: TightBudget) -> str:
    if found.infinite:
        return "the ratio exceeds the bound without limit"
    if found.beside is not None:
        return _one(model, bound, found, found.beside)
    if found.value is None:
        return f"the largest ratio is {exact_text(found)} times the bound"
    exact = found.lower == found.upper
    size = rounded(found.lower, 12) if exact else f"≈ {decimal_text(found.lower, 12)}"
    return f"the largest ratio is {size} times the bound"


def _one(model: Model, bound: str, found: TightBudget, near: ClosureLimit) -> str:
    """Returns in words what it says of the bound that the ratio comes as near to it as one likes."""
    inside = near.reached or (found.attained and near.place == found.place)
    place = read_by(model, near.place, found.origin)
    at = tends(model, place)
    if inside or not found.outputs:
        at = where(model, place, found.witness)
    if near.tight:
        size = "grows without limit" if near.limit is None else f"is {text.number(near.limit)}"
        reached = "reached" if inside else "approached" if found.outputs else NEAR.removesuffix(",")
        over = {True: "", False: ", not reached,", None: " (whether it is reached is not decided)"}
        rest = "" if inside or not found.outputs else over[found.attained]
        return f"the bound is tight: {reached}{rest}{f' {at}' if at else ''}, where the bound {size}"
    comes = f"the ratio {'is' if inside else 'comes near'} the bound{' only' if near.only else ''}"
    if near.is_one:
        return f"{comes}{f' {at}' if at else ''}, {ONE}. {SMALLER}{_try(model, bound)}"
    return f"the ratio comes as near to the bound as you like{f', {at}' if at else ''}"


def _try(model: Model, bound: str) -> str:
    """Returns which smaller bound to try, where one of the same form is easy to write."""
    name, _, written = bound.partition(" = ")
    if name == "epsilon" and model.domain.ring.unbounded and "distance" not in written:
        plain = written if written.isidentifier() else f"({written})"
        return f', such as epsilon = "{plain}/2"'
    return ""
