"""A second reading of a case, and what it says of evidence that was accepted: standard library only."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..kernel.strict_reading import Rejected, UnreadCase
from . import second_compositions, second_streams
from .second_claims import ClaimComparison
from .second_comparison import Functional, PointwiseComparison
from .second_divergences import Averages, Moments, PositiveParts
from .second_enclosed import compare_enclosed
from .second_evidence import (
    AUTOMATON,
    CLAIMS,
    COMPOSITION,
    CONE,
    ENCLOSED,
    FORMULAS,
    LOSSES,
    SLOTS,
    UNWINDING,
    Evidence,
)
from .second_formulas import ChainLook
from .second_numbers import Finer
from .second_quotients import Quotients, comparison_of
from .second_streams import compare_stream
from .second_systems import SystemComparison, compare_slots

PARTS = (1, 2, 3, 4, 6)  # of the largest step of an exponential
MAX_STEPS = 50  # that are tried for one of these
MISTAKES = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True)
class SecondLook:
    """What the second reader says: in words, and whether it compared at all and found no difference."""

    compared: bool
    agrees: bool
    line: str


def second_look(
    document: Mapping[str, Any],
    content: str,
    bound: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    folder: Path | None = None,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> SecondLook:
    """Compares evidence, which the kernel has accepted, with the case file of this content.

    `bound` is the numerator and the denominator of what stands for the bound of the case in a budget, or
    has both for each distance; `folder` is that of the case file, where the file of a program is looked for,
    and `settings` are the values that `-D` gives.
    """
    evidence = Evidence(document)
    try:
        compared = _compared(evidence, content, bound, folder, settings)
        return SecondLook(True, True, f"read a second time: {compared}")
    except UnreadCase as error:
        # The ways through a program with enclosed probabilities are written by the second reader alone.
        needed = evidence.kind == ENCLOSED
        return SecondLook(False, not needed, f"not read a second time: {error!s:.200}")
    except Rejected as error:
        return SecondLook(True, False, f"the second reading differs: {error!s:.300}")
    except MISTAKES as error:
        return SecondLook(True, False, f"the second reading finds a mistake: {error!s:.200}")


def _compared(
    evidence: Evidence,
    content: str,
    bound: Sequence[str] | Mapping[str, Sequence[str]] | None,
    folder: Path | None,
    settings: Mapping[str, str],
) -> str:
    """Returns what was compared, by the kind of the evidence."""
    kind = evidence.kind
    if kind == SLOTS:
        return compare_slots(evidence, content)
    if kind == UNWINDING:
        return _with_steps(SystemComparison(Quotients(), evidence, content, bound, folder, settings))
    if kind == COMPOSITION:
        return second_compositions.compare(evidence, content, folder)
    if kind == AUTOMATON and evidence.engine.keys() & {"streams", "claim"}:
        return compare_stream(evidence.document, content, folder or Path())
    if kind == AUTOMATON:
        return second_streams.compare(evidence.engine["automaton"], content)
    if kind == ENCLOSED:
        return compare_enclosed(evidence, content, folder, settings)
    if kind == FORMULAS:
        try:
            chain = ChainLook(Quotients(), evidence, content, bound, folder, settings)
        except tomllib.TOMLDecodeError:  # a file of PRISM, whose name is not known here
            raise UnreadCase("models in separate files") from None
        return _with_steps(chain)
    if kind not in (CLAIMS, CONE, LOSSES) and not evidence.is_map and not evidence.about_sums:
        raise UnreadCase(f"no second reader knows evidence of the kind {kind}")
    functional: Functional = Quotients()
    if kind == CLAIMS and "claim" in tomllib.loads(content):
        return _with_steps(ClaimComparison(functional, evidence, content, bound, folder, settings))
    if kind == LOSSES:
        functional = Averages()
    elif evidence.about_sums:
        functional = PositiveParts()
    look = comparison_of(kind)(functional, evidence, content, bound, folder, settings)
    if look.reader.loss is not None and kind != LOSSES:
        raise Rejected("the case is about a divergence, and this evidence is not")
    if look.reader.order is not None:
        if kind != CLAIMS:
            raise UnreadCase(f"no second reader knows evidence of the kind {kind}")
        look.functional = Moments()
    return _with_steps(look)


def _with_steps(look: PointwiseComparison) -> str:
    """Compares, with x_eps = exp(−step·eps) for the largest step that makes powers whole, or a part of it.

    A claim about all x in (0, 1) says the same of x^k. So it does not matter which of these steps agrees.
    """
    for part in PARTS:
        look.reader.take_part(part)
        for _ in range(MAX_STEPS):
            try:
                return look.compare()
            except Finer as error:
                look.refine(error.name, error.exponent)
            except Rejected:
                if not look.reader.steps or part == PARTS[-1]:
                    raise
                break
        else:
            break
    raise UnreadCase("the exponents of a parameter have too small a common divisor")
