"""What is said of the budgets of an automaton, for each length and for all, in words and as JSON data."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paramverify.algebra.decimals import at_least, rounded
from paramverify.algebra.logarithms import outward
from paramverify.algebra.polynomials import RationalFunction
from paramverify.answers import Standing
from paramverify.automata.automaton import Automaton
from paramverify.automata.chances import Loss
from paramverify.automata.lengths import Length, Lengths
from paramverify.automata.programs import released
from paramverify.automata.verification import Report
from paramverify.checker.strict import counted
from paramverify.reports.automata import between, put_out, stream, times, way_text

DIGITS = 9
LONGEST = 200  # characters of a formula in words


@dataclass(frozen=True, eq=False)
class Budgets:
    """What was found: for every length, for each one that was asked for, and the losses at an ε.

    `asked` are the numbers of inputs; those of which there was no time are not in `lengths`.
    """

    report: Report
    asked: tuple[int, ...]
    lengths: Lengths | None = None
    epsilon: Fraction | None = None
    losses: tuple[Loss | None, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether no smaller multiple is enough for a length: outputs tell the way."""
        return self.report.confused is None

    @property
    def shown(self) -> tuple[Length, ...]:
        """The lengths that were asked for, as far as they were found."""
        found = self.lengths.found if self.lengths else ()
        return tuple(length for length in found if length.inputs in self.asked)

    @property
    def lower(self) -> Fraction:
        """A multiple of ε so that no smaller one is enough for every length."""
        found = self.shown[-1:] if self.exact else ()
        return max([self.report.least, *(length.multiple for length in found)])

    @property
    def complete(self) -> bool:
        """Whether all is exact that was asked for; that no multiple is enough is an exact answer too."""
        every = self.report.multiple in (None, self.lower)
        known = self.exact and every and self.report.standing is not Standing.UNKNOWN
        return known and len(self.shown) == len(self.asked)


def lines(found: Budgets) -> list[str]:
    """Returns the budgets line by line."""
    told = [_every(found)]
    for place, length in enumerate(found.shown):
        told += _length(found, length, found.losses[place] if found.losses else None)
    left = len(found.asked) - len(found.shown)
    if left:
        told.append(f"  {counted(left, 'length')} more: no budget was found in time.")
    if not found.exact:
        told.append("  Note: outputs do not tell the way, so smaller budgets may be enough.")
    return told


def _every(found: Budgets) -> str:
    report = found.report
    if report.standing is Standing.VIOLATED:
        return "streams of every length: no multiple of epsilon is enough, whatever epsilon is."
    if report.multiple is None:
        return "streams of every length: no bound is known."
    at = _at(found, report.multiple)
    if report.multiple == found.lower and found.exact:
        return f"streams of every length: {times(report.multiple)}{at}, and no less is enough."
    if not found.exact or not found.lower:
        return f"streams of every length: {times(report.multiple)}{at} is enough."
    least = f"{times(found.lower)}{_at(found, found.lower)}"
    return f"streams of every length: between {least} and {times(report.multiple)}{at}."


def _at(found: Budgets, multiple: Fraction) -> str:
    return "" if found.epsilon is None else f" = {rounded(multiple * found.epsilon, DIGITS)}"


def _length(found: Budgets, length: Length, loss: Loss | None) -> list[str]:
    automaton = found.report.automaton
    told = [f"  {counted(length.inputs, 'input')}: {times(length.multiple)}{_at(found, length.multiple)}"]
    if length.way is None or not found.exact:
        return told
    told[0] += f", by {way_text(automaton, length.way.steps)}"
    if loss is not None:
        told.append(
            f"    Streams: {stream(loss.chances.streams.first)}; and: {stream(loss.chances.streams.second)}"
        )
        if released(automaton, length.way.steps):
            told.append(f"    {between(automaton)}")
        told.append(
            f"    The loss is at least {at_least(loss.low, DIGITS)}, with {', '.join(loss.chances.meant)}:"
        )
        first, second = map(_short, loss.chances.both)
        told += [f"    ln of {first}", f"    over {second}"]
    return told


def _short(chance: RationalFunction) -> str:
    """Returns a formula; of a long one what it begins with."""
    told = str(chance)
    if len(told) <= LONGEST:
        return told
    begun = told[:LONGEST].rpartition(" ")[0]
    return f"{begun} ... ({len(told):,} characters: --json has them all)"


def document(found: Budgets) -> dict[str, Any]:
    """Returns the budgets as JSON data."""
    report = found.report
    told: dict[str, Any] = {
        "status": report.standing.value,
        "exact": found.complete,
        "multiple": None if report.multiple is None else str(report.multiple),
        "multiple_lower": str(found.lower) if found.exact else None,
        "infinite": report.standing is Standing.VIOLATED,
        "lengths": [_entry(found, place) for place in range(len(found.shown))],
    }
    if found.epsilon is not None:
        told["epsilon"] = str(found.epsilon)
    if report.confused:
        told["confused"] = [report.graph.edges[k].transition for k in report.confused]
    return told


def _entry(found: Budgets, place: int) -> dict[str, Any]:
    length = found.shown[place]
    told: dict[str, Any] = {"inputs": length.inputs, "multiple": str(length.multiple), "tight": found.exact}
    if length.way is not None and found.exact:
        told["way"] = {"steps": list(length.way.steps), "signs": list(length.way.signs)}
    loss = found.losses[place] if found.losses else None
    if loss is not None:
        told["loss"] = _loss(found.report.automaton, loss)
    return told


def _loss(automaton: Automaton, loss: Loss) -> dict[str, Any]:
    told: dict[str, Any] = {
        "streams": [_texts(loss.chances.streams.first), _texts(loss.chances.streams.second)],
        "probabilities": [str(chance) for chance in loss.chances.both],
        "meaning": list(loss.chances.meant),
        "bounds": [_end(loss.low, float("-inf")), _end(loss.high, float("inf"))],
    }
    return told | put_out(automaton, loss.chances.way.steps)


def _end(number: Fraction, towards: float) -> float | None:
    """Returns the float next to a number, seen towards −∞ or ∞; None if it is too large for one."""
    return outward(number, towards) if number < sys.float_info.max else None


def _texts(values: Sequence[Fraction]) -> list[str]:
    return [str(value) for value in values]
