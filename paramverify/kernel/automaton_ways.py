"""Ways of an automaton that cost more with each repetition, or get much likelier under one stream as ε grows.

**Families** of ways have no largest cost. The document has a way with repeated parts and a chain of samples,
each below the next one in every repetition, whose ends want shifts in the wrong order: each repetition adds
to the cost, so no multiple is enough (see `automaton_costs`).

**Gaps** are about entries of few values. For a stream α let V(α) = min Σ d_k·|x_k − c_k| over samples x in
the order of the way, where c_k is the entry plus the mean; ln Pr_α(way)/ε goes to −V(α) for ε → ∞. So for
each D < V(β) − V(α) and each b there is an ε at which the way is more than exp(D·ε + b) times as likely under
α.

- V(α) is no more than the cost of a point x in this order. Its numbers at the samples that are put out are
  those near which the densities are compared.
- V(β) is no less than a sum of flows. Let low < high be two numbers so that each c_k (of what is put out:
  each x_k) lies at low or below, or at high or above. For a number t between them let U be the samples above
  t: U has with each sample all that lie above it. A sample in U with c_k ≤ low, or outside of U with
  c_k ≥ high, costs d_k for each t; what is put out is never on the wrong side. So U costs as much as any flow
  from samples with c_k ≥ high to samples with c_k ≤ low, upwards in the order and within the rates. What is
  put out costs d_k·|x_k − c_k| besides, and d'_k·|α_k − β_k| if insample' is put out, near α_k plus its mean.

**Examples** are the probabilities of a way for two streams at one ε, computed again. That samples (entries
plus means plus noise) are in the order of the way, and that numbers which are put out lie in an interval, are
linear inequalities; `noise_regions` integrates over them. With x = exp(−step·ε), a probability is a
polynomial in x and ε. If it is a rational number, every number in the place of ε gives it, and it is compared
exactly. Otherwise a number near ε stands there, and twelve digits are compared. The verdict does not rest on
this: it has a proof of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .automaton_costs import links
from .automaton_runs import Machine, RunTransition, first_order, runs_out, walk
from .noise_regions import Region, RegionSums, VariableLaw, limited
from .strict_reading import Rejected, UnreadCase
from .tied_variables import log_bounds, near_log

# --- families ---------------------------------------------------------------------------------------

Place = tuple[int, int, int]  # part, step in it, and repetition: 0 or 1


def check_family(read: Machine, data: Any) -> tuple[Fraction, int]:
    """Returns what so many repetitions cost at least.

    Raises:
        Rejected: the family does not show it.
    """
    parts = [(list(part["steps"]), bool(part["repeated"])) for part in data["parts"]]
    _possible(read, parts)
    chain = [(part, step, copy) for part, step, copy in data["chain"]]
    for part, step, copy in chain:
        inside = 0 <= part < len(parts) and 0 <= step < len(parts[part][0])
        if not inside or copy not in (0, 1):
            raise Rejected("a place of the chain is not in the way")
    period = 1 + max((copy for _, _, copy in chain), default=0)
    gain = _gain(read, parts, chain)
    if gain <= 0 or gain != Fraction(data["gain"]):
        raise Rejected("the repetitions do not cost what the family says")
    one_part = len({part for part, _, _ in chain}) == 1 and parts[chain[0][0]][1]
    if one_part and _in_one(read, parts[chain[0][0]][0], chain):
        return gain, period
    if period != 1:
        raise Rejected("a chain goes from one repetition to the next, and leaves its part")
    for low, high in pairwise(chain):
        if not _below(read, parts, low, high):
            raise Rejected("a sample of the chain is not known to lie below the next one")
    return gain, period


def _possible(read: Machine, parts: list[tuple[list[int], bool]]) -> None:
    """Checks that a run can take the way with any number of repetitions that is large enough.

    A repeated part is walked until what is known does not change any more; from then on it may be repeated.
    """
    order = first_order(read)
    for steps, repeated in parts:
        if not steps:
            raise Rejected("a part of the way is empty")
        seen = set()
        while True:
            seen.add(order)
            for number in steps:
                order = walk(read, order, number)
            if not repeated:
                break
            if order in seen:
                again = order
                for number in steps:
                    again = walk(read, again, number)
                if again != order:
                    raise Rejected("what is known changes with every repetition")
                break


def _gain(read: Machine, parts: list[tuple[list[int], bool]], chain: list[Place]) -> Fraction:
    """Returns what the two ends of the chain cost together, or its only sample."""
    if not chain:
        raise Rejected("there is no chain")
    ends = [read.steps[parts[part][0][step]] for part, step, _ in (chain[0], chain[-1])]
    for end, (part, _, _) in zip(ends, (chain[0], chain[-1]), strict=True):
        if not parts[part][1] and end.output != "insample":
            raise Rejected("an end of the chain is neither repeated nor put out")
    if len(chain) == 1:
        state = read.states[ends[0].source]
        if not parts[chain[0][0]][1] or not state.reads:
            raise Rejected("a sample that is put out is not repeated, or reads nothing")
        return state.rate if ends[0].output == "insample" else read.second_cost(ends[0])
    if chain[0] == chain[-1]:
        raise Rejected("a chain begins where it ends")
    gap = _wish(read, ends[0], 1) - _wish(read, ends[1], -1)
    rates = [read.states[end.source].rate for end in ends if end.output != "insample"]
    return min(rates) * gap if rates and gap > 0 else Fraction(0)


def _wish(read: Machine, step: RunTransition, most: int) -> int:
    return most if read.states[step.source].reads and step.output != "insample" else 0


def _in_one(read: Machine, steps: list[int], chain: list[Place]) -> bool:
    """Tells whether a chain holds within a part, or two repetitions of it that follow each other."""
    twice = [read.steps[number] for number in (*steps, *steps)]
    places = [step + copy * len(steps) for _, step, copy in chain]
    return all(_directly(twice, low, high) for low, high in pairwise(places))


def _directly(way: list[RunTransition], low: int, high: int) -> bool:
    """Tells whether a way compares two samples directly: the later one with the value of the earlier one."""
    start, end = min(low, high), max(low, high)
    if start == end:
        return False
    compared = way[end].below if end == low else way[end].above
    held = compared & way[start].stored
    return any(all(v not in step.stored for step in way[start + 1 : end]) for v in held)


def _below(read: Machine, parts: list[tuple[list[int], bool]], low: Place, high: Place) -> bool:
    """Tells whether one sample lies below another one, in whichever repetition each of them is.

    The earlier one is stored once, and no repetition between them or around the later one stores again.
    """
    starts = [0]
    for steps, _ in parts:
        starts.append(starts[-1] + len(steps))
    way = [read.steps[number] for steps, _ in parts for number in steps]
    places = {place: starts[place[0]] + place[1] for place in (low, high)}
    first, last = sorted((low, high), key=lambda place: places[place])
    start, end = places[first], places[last]
    if start == end or parts[first[0]][1]:
        return False
    around = [read.steps[number] for number in parts[last[0]][0]] if parts[last[0]][1] else []
    compared = way[end].below if last == low else way[end].above
    held = compared & way[start].stored
    between = [*way[start + 1 : end], *around]
    return any(all(v not in step.stored for step in between) for v in held)


# --- gaps -------------------------------------------------------------------------------------------

MOST_TOLD = 20  # values of an entry


@dataclass(frozen=True)
class StreamEntries:
    """What a claim says of streams: the values of an entry, how much it differs, and whether one does."""

    values: Collection[Fraction] | None
    by: Fraction | None
    one: bool

    @property
    def reach(self) -> Fraction:
        """The largest difference of an entry in two streams."""
        if self.values is None:
            if self.by is None:
                raise Rejected("entries that are any numbers have no largest difference")
            return self.by
        apart = {abs(a - b) for a in self.values for b in self.values}
        return max((d for d in apart if self.by is None or d <= self.by), default=Fraction(0))

    @property
    def told(self) -> str:
        """Which streams are compared, in words."""
        many = sorted(set(self.values or ()))
        shown = ", ".join(map(str, many[:MOST_TOLD])) + f", ... ({len(many)} values)" * (
            len(many) > MOST_TOLD
        )
        whose = "" if self.values is None else f" of the values {shown}" if many else " of no value"
        far = "by any number" if self.by is None else f"by {self.by} at most"
        if self.one:
            return f"about streams{whose} in which one entry differs, {far}"
        return f"about streams{whose} whose entries differ {far} each"


ANY = StreamEntries(None, Fraction(1), one=False)


def entries_of(claim: Any) -> StreamEntries:
    """Returns what a claim says of streams; entries are any numbers that differ by 1 if it says nothing."""
    by = claim.get("by", "1")
    if by != "any" and not (by.isascii() and by.isdigit()):
        raise Rejected("entries differ by a whole number, or by any")
    values = [Fraction(v) for v in claim["values"]] if "values" in claim else None
    return StreamEntries(values, None if by == "any" else Fraction(by), claim["differ"] == "one")


def streams_of(read: Machine, data: Any, entries: StreamEntries) -> list[list[Fraction]]:
    """Returns the two streams of a way, which has to be possible; they have to be neighbours."""
    order = first_order(read)
    for number in data["steps"]:
        order = walk(read, order, number)
    streams = [[Fraction(v) for v in stream] for stream in data["streams"]]
    if any(len(stream) != read.entries(data["steps"]) for stream in streams):
        raise Rejected("a stream has one entry for each input of the way")
    if read.whole and any(v.denominator > 1 for stream in streams for v in stream):
        raise Rejected("noise is geometric, and an entry is not a whole number")
    if entries.values is not None and any(v not in entries.values for stream in streams for v in stream):
        raise Rejected("an entry is none of the values")
    apart = [abs(a - b) for a, b in zip(*streams, strict=True)]
    if any(d > entries.reach for d in apart) or (entries.one and sum(d > 0 for d in apart) > 1):
        raise Rejected("the streams are no neighbours")
    return streams


def gap(read: Machine, data: Any, entries: StreamEntries) -> Fraction:
    """Returns a number that V(β) − V(α) is not below."""
    if read.whole:
        raise Rejected("a gap is about noise with densities")
    steps, streams = data["steps"], streams_of(read, data, entries)
    point = [Fraction(x) for x in data["point"]]
    if len(point) != len(steps):
        raise Rejected("a point has one number for each step")
    above = links(read, steps)
    if any(point[low] > point[high] for low, high in above):
        raise Rejected("the point is not in the order of the way")
    (one, other), own = (_centres(read, steps, stream) for stream in streams), list[Fraction]()
    found, left = Fraction(0), iter(zip(*streams, strict=True))
    for k, number in enumerate(steps):
        step = read.steps[number]
        rate, put_out = read.states[step.source].rate, step.output == "insample"
        found -= rate * abs(point[k] - one[k])
        if put_out:
            found += rate * abs(point[k] - other[k])
        own.append(point[k] if put_out else other[k])
        if read.states[step.source].reads:
            a, b = next(left)
            found += read.second_cost(step) * abs(a - b)
    before: Fraction | None = None
    for low_text, high_text, flow in data["levels"]:
        low, high = Fraction(low_text), Fraction(high_text)
        if low >= high or (before is not None and low < before) or any(low < c < high for c in own):
            raise Rejected("levels follow each other, with no centre inside of one")
        found += (high - low) * _flow(read, steps, above, flow, (own, high))
        before = high
    return found


def _centres(read: Machine, steps: Sequence[int], stream: Sequence[Fraction]) -> list[Fraction]:
    left = iter(stream)
    states = [read.states[read.steps[number].source] for number in steps]
    return [state.mean + (next(left) if state.reads else 0) for state in states]


def _flow(
    read: Machine,
    steps: Sequence[int],
    above: set[tuple[int, int]],
    flow: Any,
    wanted: tuple[Sequence[Fraction], Fraction],
) -> Fraction:
    """Returns the value of a flow from samples that want to lie at `high` or above to the others."""
    own, high = wanted
    net = [Fraction(0)] * len(steps)
    for start, end, text in flow:
        amount = Fraction(text)
        if (start, end) not in above or amount < 0:
            raise Rejected("a flow does not follow the order of samples")
        net[start] += amount
        net[end] -= amount
    for place, number in enumerate(steps):
        step = read.steps[number]
        room = None if step.output == "insample" else read.states[step.source].rate
        if (net[place] > 0) is not (own[place] >= high) and net[place]:
            raise Rejected("a flow begins above, and ends below")
        if room is not None and abs(net[place]) > room:
            raise Rejected("a flow is larger than a rate")
    return sum((amount for amount in net if amount > 0), Fraction(0))


# --- examples ---------------------------------------------------------------------------------------

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
