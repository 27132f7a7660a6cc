"""A second reading of a case, and what it says of evidence that was accepted: standard library only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..kernel.ledger import KernelReport
from ..kernel.strict_reading import Rejected, UnreadCase
from . import second_streams
from .old_layout import flat
from .second_comparison import PointwiseComparison
from .second_compositions import compare
from .second_divergences import LossLook, MomentLook, SetLook
from .second_enclosed import compare_enclosed
from .second_formulas import ChainLook
from .second_numbers import Finer
from .second_streams import compare_stream

AUTOMATON, COMPOSITION, ENCLOSED, FORMULAS, LOSSES, SETS, EVERY, UNWINDING = (
    f"paramverify-{name}"
    for name in (
        *("automaton", "composition", "enclosed", "formulas", "losses", "sets", "slots", "unwinding"),
    )
)
ALONE = {  # what has no second reader
    EVERY: "systems with any number of slots",
    UNWINDING: "interactive systems",
}
PARTS = (1, 2, 3, 4, 6)  # of the largest step of an exponential
MAX_STEPS = 50  # that are tried for one of these
MISTAKES = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True)
class SecondLook:
    """What the second reader says: in words, and whether it compared at all and found no difference."""

    compared: bool
    agrees: bool
    line: str


def with_second_look(
    report: KernelReport,
    document: Mapping[str, Any],
    content: str,
    bound: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    folder: Path | None = None,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> tuple[KernelReport, SecondLook]:
    """Returns the report on evidence that was accepted for a case, after a second reading of the case.

    `bound` is the numerator and the denominator of what stands for the bound of the case in a budget, or
    has both for each distance; `folder` is that of the case file, where the file of a program is looked for,
    and `settings` are the values that `-D` gives.
    """
    look = (
        second_look(document, content, bound, folder, settings)
        if report.accepted
        else SecondLook(False, True, "")
    )
    if look.agrees:
        return (replace(report, lines=(*report.lines, look.line)) if look.line else report), look
    return replace(report, accepted=False, lines=(*report.lines, f"rejected: {look.line}")), look


def second_look(
    document: Mapping[str, Any],
    content: str,
    bound: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    folder: Path | None = None,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> SecondLook:
    """Compares evidence with the case file of this content."""
    document = flat(document)
    try:
        if document["format"] == COMPOSITION:
            return SecondLook(True, True, f"read a second time: {compare(document, content, folder)}")
        if document["format"] == AUTOMATON:
            if {"claim", "streams"} & document.keys():
                compared = compare_stream(document, content, folder or Path())
            else:
                compared = second_streams.compare(document["automaton"], content)
            return SecondLook(True, True, f"read a second time: {compared}")
        if document["format"] == ENCLOSED:
            agreed = compare_enclosed(document, content, folder, settings)
            return SecondLook(True, True, f"read a second time: {agreed}")
        if document["format"] == FORMULAS:
            return SecondLook(True, True, f"read a second time: {_formulas(document, content, settings)}")
        if document["format"] in ALONE:
            about = ALONE[document["format"]]
            raise UnreadCase(
                f"there is no second reader for {about}. One reader compared this evidence with the case"
            )
        kind = SetLook if document["format"] == SETS or "sums" in document else PointwiseComparison
        kind = LossLook if document["format"] == LOSSES else kind
        look = kind(document, content, bound, folder, settings)
        if look.reader.loss is not None and kind is not LossLook:
            raise Rejected("the case is about a divergence, and this evidence is not")
        if look.reader.order is not None:
            look = MomentLook(document, content, bound, folder, settings)
        compared = _with_steps(look)
        return SecondLook(True, True, f"read a second time: {compared}")
    except UnreadCase as error:
        # The ways through a program with enclosed probabilities are written by the second reader alone.
        needed = document["format"] == ENCLOSED
        return SecondLook(False, not needed, f"not read a second time: {error!s:.200}")
    except Rejected as error:
        return SecondLook(True, False, f"the second reading differs: {error!s:.300}")
    except MISTAKES as error:
        return SecondLook(True, False, f"the second reading finds a mistake: {error!s:.200}")


def _formulas(document: Mapping[str, Any], content: str, settings: Mapping[str, str]) -> str:
    try:
        return ChainLook(document, content, settings).compare()
    except Finer as error:
        raise UnreadCase(str(error)) from None


def _with_steps(look: PointwiseComparison) -> str:
    """Compares, with x_eps = exp(−step·eps) for the largest step that makes powers whole, or a part of it.

    A claim about all x in (0, 1) says the same of x^k. So it does not matter which of these steps agrees.
    """
    for part in PARTS:
        look.reader.reset_steps()
        for _ in range(MAX_STEPS):
            try:
                return look.compare()
            except Finer as error:
                if error.name:
                    look.reader.refine(error.name, error.exponent, part)
                else:
                    look.refine(error.exponent)
            except Rejected:
                if not look.reader.steps or part == PARTS[-1]:
                    raise
                break
    raise UnreadCase("the exponents of a parameter have too small a common divisor")
