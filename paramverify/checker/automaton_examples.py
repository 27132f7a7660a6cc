"""The probabilities of a way for two streams at one ε, computed again: standard library only.

The samples of a way are the entries plus means plus noise. That they are in the order of the way, and that
numbers which are put out lie in an interval, are linear inequalities. `second_sums` integrates over them.
With x = exp(−step·ε), a probability is a polynomial in x and ε. If it is a rational number, every number in
the place of ε gives it, and it is compared exactly. Else a number near ε stands there (`second_ties`), and
twelve digits are compared. The verdict does not rest on this: it has a proof of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .automaton_gaps import StreamEntries, streams_of
from .automaton_least import links
from .automaton_runs import Machine, first_order, runs_out, walk
from .second_regions import Region, VariableLaw, limited
from .second_sums import RegionSums
from .second_ties import near_log
from .strict import Rejected, UnreadCase
from .ties import log_bounds

Pair = tuple[Fraction, Fraction]

NEAR = Fraction(1, 10**12)  # relative
MOST_SAMPLES = 12
MOST_BITS = 1_000_000  # of a power of x
BITS = 128  # of a logarithm


def example(read: Machine, data: Any, entries: StreamEntries, budget: Pair) -> str:
    """Returns what was checked of an example of more than exp(multiple·ε + plus), for a `budget` of both.

    Raises:
        Rejected: the way is not possible, the streams are no neighbours, a probability is another one, or
            both together are within the budget.
    """
    streams = streams_of(read, data, entries)
    told = f"example: {len(data['steps'])} steps, two streams"
    x, step = Fraction(data["at"]), Fraction(data["step"])
    if not 0 < x < 1 or step <= 0:
        raise Rejected("an example is at a number between 0 and 1")
    put_out = sum(read.steps[number].output in ("insample", "insample'") for number in data["steps"])
    if len(data.get("numbers", [0] * put_out)) != put_out:
        raise Rejected("a way puts out another number of numbers")
    if data["output"] == "other":
        _nothing_else(read, data["steps"])
    _exceeds([_certain(said) for said in data["probabilities"]], (x, step), budget)
    try:
        found = [_chance(read, data, stream, (x, step)) for stream in streams]
    except UnreadCase as error:
        return f"{told}: both probabilities are told, and not computed again ({error})"
    for p, said in zip(found, data["probabilities"], strict=True):
        chance = p if data["output"] == "way" else 1 - p
        if not _agrees(chance, said):
            raise Rejected("a probability of the example is another one")
    return f"{told}: both probabilities are computed again"


def _nothing_else(read: Machine, steps: Sequence[int]) -> None:
    """Rejects every output but that of a way, if a run may end on the way: its end is no output."""
    order = first_order(read)
    for number in steps:
        if runs_out(read, order):
            raise Rejected("a run may end on the way of the example, and its end is no output")
        order = walk(read, order, number)


def _told(said: Any) -> Pair:
    """Returns between which numbers a probability is."""
    if said.keys() not in ({"exact"}, {"lower", "upper"}):
        raise Rejected("a probability is one number, or between two")
    low, high = (Fraction(said[name if name in said else "exact"]) for name in ("lower", "upper"))
    if not 0 <= low <= high <= 1 or high - low > NEAR * high:
        raise Rejected("the probabilities of an example are none")
    return low, high


def _certain(said: Any) -> Pair:
    """Returns between which numbers a probability is, if it is near enough to the numbers that are told."""
    low, high = _told(said)
    away = 0 if "exact" in said else 2 * NEAR
    return low * (1 - away), high * (1 + away)


def _exceeds(
    told: Sequence[tuple[Fraction, Fraction]],
    point: tuple[Fraction, Fraction],
    budget: tuple[Fraction, Fraction],
) -> None:
    """Rejects probabilities the first of which may be within the budget of the second."""
    (first, _), (_, second) = told
    if first and not second:
        return
    (x, step), (multiple, plus) = point, budget
    least = log_bounds(first / second, BITS)[0] if first > second else Fraction(0)
    if least <= multiple * log_bounds(1 / x, BITS)[1] / step + plus:
        raise Rejected("the probabilities of the example do not exceed the budget")


def _agrees(chance: Fraction, said: Any) -> bool:
    low, high = _told(said)
    if "exact" in said:
        return chance == low
    return abs(chance - (low + high) / 2) <= NEAR * (low + high) / 2


def _chance(
    read: Machine, data: Any, stream: Sequence[Fraction], point: tuple[Fraction, Fraction]
) -> Fraction:
    """Returns how likely the way is for a stream."""
    steps, (x, step) = data["steps"], point
    if read.whole or len(steps) > MOST_SAMPLES:
        raise UnreadCase("geometric noise" if read.whole else f"more than {MOST_SAMPLES} samples")

    def power(exponent: Fraction) -> Fraction:
        count = -exponent / step
        if count.denominator != 1:
            raise Rejected("a power of x is not whole: the step is another one")
        if abs(count) * max(x.numerator, x.denominator).bit_length() > MOST_BITS:
            raise UnreadCase("numbers that are too large")
        return x ** int(count)

    kinds: list[VariableLaw] = []
    centres: list[Fraction] = []
    between: list[int] = []
    left = iter(stream)
    seconds: list[tuple[Fraction, Fraction]] = []
    for place, number in enumerate(steps):
        state = read.states[read.steps[number].source]
        entry = next(left) if state.reads else Fraction(0)
        kinds.append(VariableLaw(False, True, state.rate))
        centres.append(entry + state.mean)
        if read.steps[number].output == "insample":
            between.append(place)
        if read.steps[number].output == "insample'":
            seconds.append((state.second, entry + state.second_mean))
    for rate, centre in seconds:
        between.append(len(kinds))
        kinds.append(VariableLaw(False, True, rate))
        centres.append(centre)
    region: Region | None = {}
    limits = [({low: 1, high: -1}, centres[high] - centres[low]) for low, high in links(read, steps)]
    if between and "between" not in data:
        raise Rejected("an example with numbers says where they lie")
    for k in between:
        low, high = map(Fraction, data["between"])
        limits += [({k: 1}, high - centres[k]), ({k: -1}, centres[k] - low)]
    for slopes, bound in limits:
        if region is not None:
            region = limited(region, kinds, {v: Fraction(s) for v, s in slopes.items()}, bound, False)
    if region is None:
        return Fraction(0)
    sums = RegionSums(near_log(1 / x) / step, power)
    return sums.number(sums.chance(region, kinds))
