"""Sets of numbers with noise as outputs, and where their densities break, for the second reader of programs.

The evidence names the outputs that were compared, such as `<= 0`, `o2 - o1 at 1` or `far above`. Here a name
is read, and each run of a program gets its weight in it: a probability of a set, a density at a place from
one side, or the coefficient of the leading term far away.

A run puts out numbers that are linear in its noise. Its densities break only at values that the number has at
vertices: there, as many noises are zero or comparisons have no slack as there are noises. So outputs at these
values are compared, too. Evidence that leaves out a break at which the bound is broken is noticed, and so is
evidence that leaves out all outputs of one form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, islice
from math import gcd, lcm
from typing import Any

from ..kernel.noise_regions import (
    ONE,
    ZERO,
    Key,
    Pieces,
    Region,
    RegionSums,
    Terms,
    VariableLaw,
    add_terms,
    limited,
)
from ..kernel.strict_reading import UnreadCase
from .second_values import Entry, NoisyNumber, calculated, shown

# --- second outputs ---------------------------------------------------------------------------------

_NUMBER = r"-?\d+(?:/\d+)?"
_TERM = r"(?:\d+(?:/\d+)?\*)?o\d+"
_SUM = rf"-?{_TERM}(?: [+-] {_TERM})*"
_GRID = rf"(?: in (?P<part>{_NUMBER}) \+ (?:(?P<step>\d+(?:/\d+)?)\*)?k)?"
_FORMS = (
    rf"\(any (?P<of>number|{_SUM}){_GRID}\)",
    rf"(?:(?P<of>{_SUM}) )?(?P<low>{_NUMBER})\.\.(?P<high>{_NUMBER})",
    rf"(?:(?P<of>{_SUM}) )?(?P<word><=|>=|=) (?P<end>{_NUMBER})",
    rf"(?:(?P<of>{_SUM}) )?(?P<side>at|just below|just above) (?P<place>{_NUMBER})",
    rf"(?:(?P<of>{_SUM}) )?(?P<far>far above|far below){_GRID}",
)
Limits = tuple[tuple[int, Fraction], ...]  # power and rate of each number that goes far away


@dataclass(frozen=True)
class NumberRange:
    """Numbers from `low` to `high`, or with a `side` a place; perhaps of a sum of values of the output."""

    low: Fraction | None
    high: Fraction | None
    of: tuple[tuple[int, Fraction], ...] = ()
    side: str = ""
    part: Fraction = ZERO


@dataclass(frozen=True)
class OutputName:
    """The name of an output: for each value a range, or the words of the value; and the lists around them."""

    entries: tuple[NumberRange | str, ...]
    lists: str

    @property
    def is_density(self) -> bool:
        """Whether it is a place of a density, or a limit."""
        return any(isinstance(e, NumberRange) and e.side for e in self.entries)

    @property
    def places(self) -> Iterator[tuple[int, NumberRange, tuple[tuple[int, Fraction], ...]]]:
        """The entries that are places of densities, each with the sum of values that it is about."""
        for k, entry in enumerate(self.entries):
            if isinstance(entry, NumberRange) and entry.side and entry.low is not None:
                yield k, entry, entry.of or ((k + 1, ONE),)


def both(one: OutputName, other: OutputName) -> OutputName | None:
    """Returns the outputs that two names of sets have together; None if they have none by their form.

    Raises:
        UnreadCase: they are about different sums of values.
    """
    if (one.lists, len(one.entries)) != (other.lists, len(other.entries)):
        return None
    found: list[NumberRange | str] = []
    for a, b in zip(map(_range_of, one.entries), map(_range_of, other.entries), strict=True):
        if isinstance(a, str) or isinstance(b, str):
            if a != b:
                return None
            found.append(a)
            continue
        if a.of != b.of:
            raise UnreadCase("it names outputs by different sums of their values")
        lows, highs = (
            [end for end in ends if end is not None] for ends in ((a.low, b.low), (a.high, b.high))
        )
        low, high = max(lows, default=None), min(highs, default=None)
        if a.part != b.part or (low is not None and high is not None and low > high):
            return None
        found.append(replace(a, low=low, high=high))
    return OutputName(tuple(found), one.lists)


def _range_of(entry: NumberRange | str) -> NumberRange | str:
    if isinstance(entry, str) and re.fullmatch(_NUMBER, entry):
        return NumberRange(Fraction(entry), Fraction(entry))
    return entry


def named(name: str) -> OutputName:
    """Reads the name of an output."""
    entries: list[NumberRange | str] = []
    lists, start, quoted = "", 0, False
    name = "" if name == "(no output)" else name
    k = 0
    while k <= len(name):
        char = name[k : k + 1]
        if quoted:
            quoted = char != '"'
            k += 1 + (char == "\\")
            continue
        quoted = char == '"'
        if char in ("", "[", "]", ",") and (char != "," or name[k + 1 : k + 2] == " "):
            text = name[start:k].strip()
            if text:
                entries.append(_entry(text))
                lists += "."
            lists += char if char in ("[", "]") else ""
            start = k + 1
        k += 1
    return OutputName(tuple(entries), lists)


def _entry(text: str) -> NumberRange | str:
    for form in _FORMS:
        found = re.fullmatch(form, text)
        if found is None:
            continue
        got = {key: value for key, value in found.groupdict().items() if value is not None}
        of = _sum(got["of"]) if got.get("of", "number") != "number" else ()
        low, high = got.get("low"), got.get("high")
        if "word" in got:
            low = got["end"] if got["word"] != "<=" else None
            high = got["end"] if got["word"] != ">=" else None
        if "place" in got:
            low = high = got["place"]
        ends = [None if end is None else Fraction(end) for end in (low, high)]
        side = got.get("side") or got.get("far", "")
        return NumberRange(ends[0], ends[1], of, side, Fraction(got.get("part", 0)))
    return text


def _sum(text: str) -> tuple[tuple[int, Fraction], ...]:
    found = []
    for sign, factor, place in re.findall(r"(-?) ?(?:(\d+(?:/\d+)?)\*)?o(\d+)", text):
        found.append((int(place), Fraction(factor or 1) * (-1 if sign else 1)))
    return tuple(found)


def lists_of(told: Sequence[Entry]) -> tuple[list[Entry], str]:
    """Returns the values of an output one after the other, and the lists around them."""
    values: list[Entry] = []
    lists = ""
    for value in told:
        if isinstance(value, list):
            inner, around = lists_of(value)
            values += inner
            lists += f"[{around}]"
        else:
            values.append(value)
            lists += "."
    return values, lists


def weights(
    sums: RegionSums, told: Sequence[Entry], run: tuple[Region, Sequence[VariableLaw]], name: OutputName
) -> dict[Limits, Terms]:
    """Returns the weight of a run in an output, by the powers and rates of the numbers that go far away.

    Raises:
        Unread: something that this reader does not know.
    """
    values, lists = lists_of(told)
    if lists != name.lists:
        return {}
    region: Region | None = run[0]
    kinds = list(run[1])
    sides: list[tuple[NoisyNumber, NumberRange]] = []
    for k, (value, entry) in enumerate(zip(values, name.entries, strict=True)):
        if isinstance(entry, str):
            region = _equal(region, kinds, value, entry)
        else:
            number = _number(values, k, entry)
            if number is None:
                return {}
            if entry.side:
                if not isinstance(number, NoisyNumber):
                    return {}
                sides.append((number, entry))
            else:
                region = _ranged(region, kinds, number, entry)
        if region is None:
            return {}
    assert region is not None
    if not sides:
        return {(): sums.chance(region, kinds)}
    return _Places(sums, kinds, region, sides).found()


def _number(values: Sequence[Entry], k: int, entry: NumberRange) -> NoisyNumber | Fraction | None:
    total: NoisyNumber | Fraction = ZERO
    for place, slope in entry.of or ((k + 1, ONE),):
        value = values[place - 1]
        if not isinstance(value, (Fraction, NoisyNumber)):
            return None
        total = plus(total, value, slope)
    return total


def plus(one: NoisyNumber | Fraction, other: NoisyNumber | Fraction, by: Fraction) -> NoisyNumber | Fraction:
    """Returns one + by·other."""
    found: NoisyNumber | Fraction = calculated("Add", one, calculated("Mult", by, other))
    return found


def _equal(region: Region | None, kinds: Sequence[VariableLaw], value: Entry, words: str) -> Region | None:
    if not isinstance(value, NoisyNumber):
        return region if shown(value) == words else None
    if not re.fullmatch(_NUMBER, words):
        return None
    end = Fraction(words)
    return _ranged(region, kinds, value, NumberRange(end, end)) if _is_whole(value, kinds) else None


def _ranged(
    region: Region | None, kinds: Sequence[VariableLaw], value: NoisyNumber | Fraction, entry: NumberRange
) -> Region | None:
    low, high = entry.low, entry.high
    if not isinstance(value, NoisyNumber):
        inside = (low is None or low <= value) and (high is None or value <= high)
        return region if inside and _on_grid(value, entry, ONE) else None
    if _is_whole(value, kinds) and not _on_grid(value.constant, entry, _step(value)):
        return None
    if low is not None:
        region = limited(region, kinds, {v: -s for v, s in value.slopes.items()}, value.constant - low, False)
    if high is not None:
        region = limited(region, kinds, value.slopes, high - value.constant, False)
    return region


def _is_whole(value: NoisyNumber, kinds: Sequence[VariableLaw]) -> bool:
    found = {kinds[v].whole for v in value.slopes}
    if len(found) > 1:
        raise UnreadCase("whole noise and noise with a density in one number")
    return found == {True}


def _step(value: NoisyNumber) -> Fraction:
    """Returns the step of the grid on which a number with whole noise is."""
    bottom = lcm(*(s.denominator for s in value.slopes.values()))
    return Fraction(gcd(*(int(s * bottom) for s in value.slopes.values())), bottom)


def _on_grid(constant: Fraction, entry: NumberRange, step: Fraction) -> bool:
    end = entry.low if entry.low is not None else entry.high if entry.high is not None else entry.part
    return ((constant - end) / step).denominator == 1


class _Places:
    """Densities of numbers at places: each takes one noise away, and stays as a variable until the end."""

    def __init__(
        self,
        sums: RegionSums,
        kinds: list[VariableLaw],
        region: Region,
        sides: Sequence[tuple[NoisyNumber, NumberRange]],
    ) -> None:
        self.sums, self.kinds = sums, kinds
        self.count = len(kinds)
        self.gone: dict[int, NoisyNumber] = {}
        self.factor = ONE
        self.places: dict[int, NumberRange] = {}
        self.region: Region | None = region
        for number, entry in sides:
            self._add(number, entry)
        if self.region is not None:
            given, self.region = self.region, {}
            for form, bound in given.items():
                self._limit(NoisyNumber(dict(form), ZERO), bound)

    def _add(self, number: NoisyNumber, entry: NumberRange) -> None:
        value = self._rewritten(number)
        own = {v: s for v, s in value.slopes.items() if v < self.count}
        if not own:
            raise UnreadCase("numbers whose densities are not independent")
        whole = {self.kinds[v].whole for v in own}
        v = min(own, key=lambda v: abs(own[v]))
        y = len(self.kinds)
        scale = ONE
        if whole == {True}:
            scale = _step(NoisyNumber(own, ZERO))
            if not _on_grid(value.constant, entry, scale):
                self.region = None
                return
            if abs(own[v]) != scale:
                raise UnreadCase("a sum of whole noise with different factors")
        else:
            self.factor /= abs(own[v]) * self.sums.unit  # densities are told without the factor eps
        self.kinds.append(VariableLaw(whole == {True}, True, ONE))
        self.places[y] = entry
        # value = scale·y + part, so v = (scale·y + part − the rest) / slope
        slopes = {w: -s / own[v] for w, s in value.slopes.items() if w != v} | {y: scale / own[v]}
        taken = NoisyNumber(slopes, ((entry.part if whole == {True} else ZERO) - value.constant) / own[v])
        self.gone = {w: self._put(known, v, taken) for w, known in self.gone.items()} | {v: taken}

    def _put(self, value: NoisyNumber, v: int, taken: NoisyNumber) -> NoisyNumber:
        slope = value.slopes.get(v)
        if not slope:
            return value
        found = plus(
            NoisyNumber({w: s for w, s in value.slopes.items() if w != v}, value.constant), taken, slope
        )
        return found if isinstance(found, NoisyNumber) else NoisyNumber({}, found)

    def _rewritten(self, value: NoisyNumber) -> NoisyNumber:
        for v, taken in self.gone.items():
            value = self._put(value, v, taken)
        return value

    def _limit(self, value: NoisyNumber, bound: Fraction) -> None:
        value = self._rewritten(value)
        if self.region is not None:
            self.region = limited(self.region, self.kinds, value.slopes, bound - value.constant, False)

    def found(self) -> dict[Limits, Terms]:
        """Returns the densities at the places."""
        if self.region is None:
            return {}
        pieces: Pieces = {}
        for region, terms in self._sides(list(self.gone), self.region, {(ZERO, ()): self.factor}):
            add_terms(pieces.setdefault(frozenset(region.items()), {}), terms)
        used = {v for given in pieces for form, _ in given for v, _ in form}
        used |= {v for terms in pieces.values() for _, entries in terms for v, _, _ in entries}
        left = {v for v in used if v < self.count}
        total: dict[Limits, Terms] = {}
        for given, terms in self.sums.without(pieces, left, self.kinds).items():
            if self._holds(dict(given)):
                for key, c in terms.items():
                    where, at, by = self._at(key)
                    add_terms(total.setdefault(where, {}), {at: c * by})
        return total

    def _sides(self, left: list[int], region: Region, terms: Terms) -> Iterator[tuple[Region, Terms]]:
        """Yields the parts where each noise that is gone is on one side of zero, with its density there."""
        if not left:
            yield region, terms
            return
        v, *rest = left
        value = self.gone[v]
        for sign, bound, rate, share in self.sums.density(self.kinds[v]):
            slopes = {w: s * sign for w, s in value.slopes.items()}
            part = limited(region, self.kinds, slopes, bound - sign * value.constant, False)
            if part is not None:
                yield from self._sides(rest, part, self._times(terms, v, (rate, share)))

    def _times(self, terms: Terms, v: int, given: tuple[Fraction, Fraction]) -> Terms:
        """Returns terms times share·rate^w, or share·e^(rate·unit·w), where w stands for a noise."""
        value, (rate, share) = self.gone[v], given
        whole = self.kinds[v].whole
        factor = share * rate ** int(value.constant) if whole else share
        found: Terms = {}
        for (exponent, entries), c in terms.items():
            rates = {w: r for w, _, r in entries}
            for w, s in value.slopes.items():
                known = rates.get(w, ONE if whole else ZERO)
                rates[w] = known * rate ** int(s) if whole else known + rate * s
            kept = tuple((w, 0, r) for w, r in sorted(rates.items()) if r != (ONE if whole else ZERO))
            at = exponent if whole else exponent + rate * value.constant
            add_terms(found, {(at, kept): c * factor})
        return found

    def _holds(self, region: Region) -> bool:
        """Tells whether the places are in a region of the numbers."""
        for form, bound in region.items():
            far = sum((s * _far(self.places[y]) for y, s in form), ZERO)
            if far > 0:
                return False
            if far < 0:
                continue
            value = sum((s * (self.places[y].low or ZERO) for y, s in form), ZERO)
            sides = [(s > 0, _above(self.places[y])) for y, s in form]
            beyond = {up == above for up, above in sides if above is not None}
            if value == bound and beyond == {True, False}:
                raise UnreadCase("densities at the corner of a region")
            if value > bound or (value == bound and True in beyond):
                return False
        return True

    def _at(self, key: Key) -> tuple[Limits, Key, Fraction]:
        """Returns a term at the places: what is left of it far away, and a number."""
        exponent, entries = key
        found = {y: (power, rate) for y, power, rate in entries}
        by, limits = ONE, []
        for y, entry in self.places.items():
            power, rate = found.get(y, (0, ONE if self.kinds[y].whole else ZERO))
            far = _far(entry)
            if far:
                limits.append((power, rate))
                by *= far**power
                continue
            assert entry.low is not None
            by *= entry.low**power
            exponent += rate * entry.low
        return tuple(limits), (exponent, ()), by


def _far(entry: NumberRange) -> int:
    return {"far above": 1, "far below": -1}.get(entry.side, 0)


def _above(entry: NumberRange) -> bool | None:
    return {"just below": False, "just above": True, "at": True}.get(entry.side)


def leading(found: Sequence[Mapping[Limits, Any]], name: OutputName) -> Limits | None:
    """Returns the powers and rates of the terms that are largest far away, of all inputs together."""
    far = [_far(e) for e in name.entries if isinstance(e, NumberRange) and _far(e)]
    keys = {key for weights in found for key in weights}
    if not keys:
        return None
    best = tuple(max({key[k] for key in keys}, key=lambda t: (t[1] * far[k], t[0])) for k in range(len(far)))
    if best not in keys:
        raise UnreadCase("numbers that go far away together")
    return best


# --- second breaks ----------------------------------------------------------------------------------

MOST_NOISES = 4  # of a number, with those that comparisons connect with them
MOST_VERTICES = 500  # that are looked for in one run
MOST_PROBES = 60  # outputs that are compared beyond those of the evidence
SIDES = ("at", "just below", "just above")


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
            for k, entry, of in name.places if name.lists == lists else ():
                number = _number(values, k, entry)
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
        rows = [NoisyNumber({v: ONE}, ZERO) for v in noises]
        rows += [
            NoisyNumber(dict(form), -bound)
            for form, bound in region.items()
            if {v for v, _ in form} <= noises
        ]
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
            for k, entry, of in name.places:
                for place in sorted(self.found.get(of, ())):
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
    if not isinstance(value, (Fraction, NoisyNumber)):
        return shown(value) == entry
    return isinstance(entry, NumberRange) or isinstance(value, NoisyNumber) or shown(value) == entry


def _connected(number: NoisyNumber, region: Region) -> set[int]:
    noises = set(number.slopes)
    while True:
        more = {v for form in region for v, _ in form if noises & {w for w, _ in form}} - noises
        if not more:
            return noises
        noises |= more


def _solved(rows: Sequence[NoisyNumber]) -> Mapping[int, Fraction] | None:
    """Returns the one point at which all of these are 0; None if there is none, or many."""
    done: dict[int, NoisyNumber | Fraction] = {}
    for given in rows:
        row: NoisyNumber | Fraction = given
        for v, known in done.items():
            row = _without(v, row, known)
        if not isinstance(row, NoisyNumber):
            return None
        lead = min(row.slopes)
        row = calculated("Div", row, row.slopes[lead])
        done = {v: _without(lead, known, row) for v, known in done.items()} | {lead: row}
    return {v: -(row.constant if isinstance(row, NoisyNumber) else row) for v, row in done.items()}


def _without(v: int, row: NoisyNumber | Fraction, other: NoisyNumber | Fraction) -> NoisyNumber | Fraction:
    """Returns a row from which one noise is taken away by another row, where its slope is 1."""
    return plus(row, other, -row.slopes.get(v, ZERO)) if isinstance(row, NoisyNumber) else row
