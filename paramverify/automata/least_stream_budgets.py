"""The least budgets of streams: for every length and for single ones, and the losses of streams at an ε.

Let W be the largest cost of the ways (of those that read at most n inputs), for entries that differ by 1 at
most, each or one of them. For entries of any numbers that differ by r at most, r·W·ε is the least budget for
every ε. Entries of few values need no more. That they need as much shows a gap (`way_programs`), for large ε.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction

from paramverify.answers import Standing
from paramverify.automata.automaton import Automaton
from paramverify.automata.stream_cases import ComparedStreams
from paramverify.automata.stream_costs import Length, Lengths, OneReport, by_length, verify_one
from paramverify.automata.stream_verdicts import WIDTH, AutomatonReport, verify, widest_gap, widest_gaps
from paramverify.automata.way_programs import Gap, LossRange, largest, loss_of
from paramverify.errors import InputError, TimeLimitError

FOR_GAPS = 0.25  # of the time that is left
MOST_INPUTS = 1000


@dataclass(frozen=True, eq=False)
class Budgets:
    """What was found: for every length, for each one that was asked for, and the losses at an ε.

    `asked` are the numbers of inputs; those of which nothing is known are not in `lengths`. `gap` and `gaps`
    are about entries of few values: for every length, and for single ones.
    """

    report: AutomatonReport | OneReport
    compared: ComparedStreams
    asked: tuple[int, ...] = ()
    lengths: Lengths | None = None
    epsilon: Fraction | None = None
    gap: Gap | None = None
    gaps: Mapping[int, Gap] = field(default_factory=dict)
    losses: tuple[LossRange | None, ...] = ()

    @property
    def told_apart(self) -> bool:
        """Whether outputs tell the way, or no entry can differ; else a way that costs shows nothing."""
        return self.report.confused is None or not self.compared.reach

    @property
    def multiple(self) -> Fraction | None:
        """A multiple of ε that is enough for every length, if one is known."""
        if not self.compared.reach:
            return Fraction(0)
        found = self.report.multiple
        return None if found is None else found * self.compared.reach

    @property
    def standing(self) -> Standing:
        """Whether some multiple is enough for every length, or none is."""
        if self.multiple is not None:
            return Standing.HOLDS
        if self.compared.values is not None or isinstance(self.report, OneReport):
            return Standing.UNKNOWN
        return self.report.standing

    @property
    def shown(self) -> tuple[Length, ...]:
        """The lengths that were asked for, as far as something is known of them."""
        found = self.lengths.found if self.lengths else ()
        return tuple(length for length in found if length.inputs in self.asked)

    def enough(self, length: Length) -> Fraction:
        """Returns a multiple that is enough for a length."""
        return length.multiple * self.compared.reach

    def least(self, length: Length) -> Fraction:
        """Returns a number so that no multiple below it is enough for a length."""
        if not self.told_apart:
            return Fraction(0)
        if self.compared.values is None:
            return length.least * self.compared.reach
        return self.gaps[length.inputs].size if length.inputs in self.gaps else Fraction(0)

    def is_tight(self, length: Length) -> bool:
        """Tells whether the multiple of a length is known to be the least one."""
        return self.least(length) == self.enough(length)  # nothing is below 0, whatever outputs tell

    @property
    def lower(self) -> Fraction:
        """A number so that no multiple below it is enough for every length."""
        if not self.told_apart:
            return Fraction(0)
        known = [Fraction(0)] if self.gap is None else [self.gap.size]
        if self.compared.values is None:
            known.append(self.report.least * self.compared.reach)
        return max([*known, *map(self.least, self.shown)])

    @property
    def exact(self) -> bool:
        """Whether the multiple for every length is the least one, or none is enough."""
        if self.standing is Standing.VIOLATED:
            return self.told_apart
        return self.multiple == self.lower

    @property
    def all_exact(self) -> bool:
        """Whether all is exact that was found; that no multiple is enough is an exact answer too."""
        return self.exact and all(map(self.is_tight, self.shown))

    @property
    def complete(self) -> bool:
        """Whether all is exact that was asked for."""
        return self.all_exact and len(self.shown) == len(self.asked)


def lengths_of(text: str, key: str) -> tuple[int, ...]:
    """Returns the numbers of inputs that are asked for: `3`, or `1..4`.

    Raises:
        InputError: they are none, or too large.
    """
    match = re.fullmatch(r"\s*([0-9]{1,4})\s*(?:\.\.\s*([0-9]{1,4})\s*)?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if first > last or last > MOST_INPUTS:
        raise InputError(f"lengths such as 3 or 1..4 are needed, up to {MOST_INPUTS}", key=key)
    return tuple(range(first, last + 1))


def find_budgets(
    automaton: Automaton,
    compared: ComparedStreams,
    asked: tuple[int, ...],
    epsilon: Fraction | None,
    until: float,
    *,
    found: Callable[[Budgets], None] = lambda _: None,
) -> Budgets:
    """Returns bounds of the least multiples for every length, and for the lengths that are asked.

    `found` gets what is known as soon as it is. `epsilon` is kept for `with_losses`.

    Raises:
        InputError: a guard reads what has no value, or two guards are true at once.
        LimitError: the automaton is too large.
    """
    report = verify_one(automaton) if compared.one else verify(automaton)
    known = Budgets(report, compared, asked, epsilon=epsilon)
    found(known)
    if compared.values is not None:
        known = replace(known, gap=widest_gap(compared, report, FOR_GAPS * _left(until)))
        found(known)
    if asked and not compared.reach:
        nothing = tuple(Length(n, Fraction(0), None) for n in asked)
        known = replace(known, lengths=Lengths(nothing, ()))
        found(known)
    elif asked:
        share = FOR_GAPS if compared.values is not None else 0
        seconds = (1 - share) * _left(until)
        lengths = by_length(report.graph, asked[-1], seconds, one=compared.one, enough=report.multiple)
        known = replace(known, lengths=_later(lengths) if automaton.late else lengths)
        found(known)
        if compared.values is not None and known.told_apart:
            gaps = widest_gaps(report.graph, compared, known.shown, _left(until))
            known = replace(known, gaps=gaps)
            found(known)
    return known


def _later(known: Lengths) -> Lengths:
    """Returns lengths with the ways of one input less, as an automaton that is late needs the next entry."""
    found = zip(known.found, [None, *(length.way for length in known.found)], strict=False)
    return replace(known, found=tuple(replace(length, way=way) for length, way in found))


def with_losses(found: Budgets, until: float) -> Budgets:
    """Returns the budgets with certified losses of streams at `epsilon`, as far as there is time."""
    if found.epsilon is None or not found.told_apart:
        return found
    losses: list[LossRange | None] = [None] * len(found.shown)
    with suppress(TimeLimitError):  # the budgets are known, and only losses are missing
        for place, length in enumerate(found.shown):
            losses[place] = _loss(found, length, found.epsilon, until)
    return replace(found, losses=tuple(losses))


def _loss(found: Budgets, length: Length, epsilon: Fraction, until: float) -> LossRange | None:
    automaton, gap = found.report.automaton, found.gaps.get(length.inputs)
    if gap is not None:
        return loss_of(automaton, gap, WIDTH, epsilon, until, enough=found.enough(length))
    if length.way is None or found.compared.values is not None:
        return None
    return largest(automaton, length.way, WIDTH, epsilon, until, reach=found.compared.reach)


def _left(until: float) -> float:
    return max(0.0, until - time.monotonic())
