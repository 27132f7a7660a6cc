"""Where densities of numbers as outputs break, found by the second reader itself: standard library only.

A run puts out numbers that are linear in its noise. Its densities break only at values that the number has at
vertices: there, as many noises are zero or comparisons have no slack as there are noises. So outputs at these
values are compared, too. Evidence that leaves out a break at which the bound is broken is noticed, and so is
evidence that leaves out all outputs of one form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, islice

from .second_outputs import NumberRange, OutputName, lists_of, plus
from .second_regions import Form, Region, VariableLaw
from .second_values import Entry, NoisyNumber, shown

MOST_NOISES = 4  # of a number, with those that comparisons connect with them
MOST_VERTICES = 500  # that are looked for in one run
MOST_PROBES = 60  # outputs that are compared beyond those of the evidence
SIDES = ("at", "just below", "just above")

Row = tuple[Mapping[int, Fraction], Fraction]  # slopes, and what the sum is


@dataclass
class Breaks:
    """The values at which numbers break, by the numbers; `known` are runs that were looked at.

    `left_out` are outputs that cannot be compared, where outputs of the evidence are no more what is compared
    but others, `probing`.
    """

    found: dict[tuple[tuple[int, Fraction], ...], set[Fraction]] = field(default_factory=dict)
    known: set[object] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)
    probing: bool = False

    def look(
        self, told: Sequence[Entry], run: tuple[Region, Sequence[VariableLaw]], names: Sequence[OutputName]
    ) -> None:
        """Looks for the vertices of one run, and where the numbers of outputs with these names are there."""
        values, lists = lists_of(told)
        for name in names:
            if name.lists != lists:
                continue
            for k, entry in enumerate(name.entries):
                if not isinstance(entry, NumberRange) or not entry.side or entry.low is None:
                    continue
                of = entry.of or ((k + 1, Fraction(1)),)
                number: NoisyNumber | Fraction = Fraction(0)
                for place, slope in of:
                    value = values[place - 1]
                    if isinstance(value, (NoisyNumber, Fraction)):
                        number = plus(number, value, slope)
                if isinstance(number, NoisyNumber):
                    self._vertices(of, number, run[0])

    def _vertices(self, of: tuple[tuple[int, Fraction], ...], number: NoisyNumber, region: Region) -> None:
        key = (of, number.constant, *sorted(number.slopes.items()), frozenset(region.items()))
        if key in self.known:
            return
        self.known.add(key)
        noises = _connected(number, region)
        if len(noises) > MOST_NOISES:
            return
        rows: list[Row] = [({v: Fraction(1)}, Fraction(0)) for v in noises]
        rows += [(dict(form), bound) for form, bound in region.items() if {v for v, _ in form} <= noises]
        for chosen in islice(combinations(rows, len(noises)), MOST_VERTICES):
            at = _solved(chosen)
            if at is not None:
                value = number.constant + sum((s * at[v] for v, s in number.slopes.items()), Fraction(0))
                self.found.setdefault(of, set()).add(value)

    def probes(self, names: Sequence[OutputName], words: Sequence[str]) -> dict[str, OutputName]:
        """Returns outputs at breaks that no name of the evidence is about, by their words."""
        found: dict[str, OutputName] = {}
        known = {(name.lists, name.entries) for name in names}
        for name, text in zip(names, words, strict=True):
            for k, entry in enumerate(name.entries):
                if not isinstance(entry, NumberRange) or not entry.side or entry.low is None:
                    continue
                for place in sorted(self.found.get(entry.of or ((k + 1, Fraction(1)),), ())):
                    for side in SIDES:
                        there = replace(entry, low=place, high=place, side=side)
                        other = replace(name, entries=(*name.entries[:k], there, *name.entries[k + 1 :]))
                        if (other.lists, other.entries) not in known and len(found) < MOST_PROBES:
                            known.add((other.lists, other.entries))
                            found[f"{text}, with value {k + 1} {side} {place}"] = other
        return found


def has_form(told: Sequence[Entry], name: OutputName) -> bool:
    """Tells whether a name may be about an output: the lists, labels and numbers are in the same places."""
    values, lists = lists_of(told)
    return lists == name.lists and all(map(_may_be, values, name.entries))


def _may_be(value: Entry, entry: NumberRange | str) -> bool:
    if isinstance(value, bool) or not isinstance(value, (Fraction, NoisyNumber)):
        return isinstance(entry, str) and shown(value) == entry
    return isinstance(entry, NumberRange) or isinstance(value, NoisyNumber) or shown(value) == entry


def _connected(number: NoisyNumber, region: Mapping[Form, Fraction]) -> set[int]:
    noises = set(number.slopes)
    while True:
        more = {v for form in region for v, _ in form if noises & {w for w, _ in form}} - noises
        if not more:
            return noises
        noises |= more


def _solved(rows: Sequence[Row]) -> Mapping[int, Fraction] | None:
    """Returns the one point at which all rows have no slack; None if there is none, or many."""
    done: dict[int, Row] = {}
    for given in rows:
        row = given
        for v, known in done.items():
            row = _without(v, row, known)
        lead = min(row[0], default=None)
        if lead is None:
            return None
        by = row[0][lead]
        row = {v: s / by for v, s in row[0].items()}, row[1] / by
        done = {v: _without(lead, known, row) for v, known in done.items()} | {lead: row}
    return {v: constant for v, (_, constant) in done.items()}


def _without(v: int, row: Row, other: Row) -> Row:
    """Returns a row from which one noise is taken away by another row, where its slope is 1."""
    by = row[0].get(v, Fraction(0))
    if not by:
        return row
    slopes = {
        w: row[0].get(w, Fraction(0)) - by * other[0].get(w, Fraction(0)) for w in {**row[0], **other[0]}
    }
    return {w: s for w, s in slopes.items() if s}, row[1] - by * other[1]
