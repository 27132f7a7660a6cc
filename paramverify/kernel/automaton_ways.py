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

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .automaton_costs import compared, flow_value
from .automaton_runs import FIRST, Machine, RunTransition, runs_out, walk
from .noise_regions import ONE, Region, RegionSums, VariableLaw, limited
from .rounded_constants import log_bounds
from .strict_reading import Rejected, UnreadCase

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
    gain = _gain(read, parts, chain)
    period = 1 + max(copy for _, _, copy in chain)
    if gain <= 0 or gain != Fraction(data["gain"]):
        raise Rejected("the repetitions do not cost what the family says")
    if len({part for part, _, _ in chain}) == 1 and parts[chain[0][0]][1]:
        steps, _ = parts[chain[0][0]]
        twice = [read.steps[number] for number in (*steps, *steps)]
        places = [step + copy * len(steps) for _, step, copy in chain]
        if all(_below(twice, low, high) for low, high in pairwise(places)):
            return gain, period
    if period != 1:
        raise Rejected("a chain goes from one repetition to the next, and leaves its part")
    for low, high in pairwise(chain):
        if not _always_below(read, parts, low, high):
            raise Rejected("a sample of the chain is not known to lie below the next one")
    return gain, period


def _possible(read: Machine, parts: list[tuple[list[int], bool]]) -> None:
    """Checks that a run can take the way with any number of repetitions that is large enough.

    A repeated part is walked until what is known does not change any more; from then on it may be repeated.
    """
    order = FIRST
    for steps, repeated in parts:
        if not steps:
            raise Rejected("a part of the way is empty")
        seen = set()
        while order not in seen:
            seen.add(order)
            order = walk(read, order, *steps)
            if not repeated:
                break
        if repeated and walk(read, order, *steps) != order:
            raise Rejected("what is known changes with every repetition")


def _gain(read: Machine, parts: list[tuple[list[int], bool]], chain: list[Place]) -> Fraction:
    """Returns what the two ends of the chain cost together, or its only sample."""
    if not chain:
        raise Rejected("there is no chain")
    ends = [read.steps[parts[part][0][step]] for part, step, _ in (chain[0], chain[-1])]
    for end, (part, _, _) in zip(ends, (chain[0], chain[-1]), strict=True):
        if not parts[part][1] and end.output != "insample":
            raise Rejected("an end of the chain is neither repeated nor output")
    if len(chain) == 1:
        state = read.states[ends[0].source]
        if not parts[chain[0][0]][1] or not state.reads:
            raise Rejected("a sample that is output is not repeated, or reads nothing")
        return state.rate if ends[0].output == "insample" else read.second_cost(ends[0])
    if chain[0] == chain[-1]:
        raise Rejected("a chain begins where it ends")
    gap = _wish(read, ends[0], 1) - _wish(read, ends[1], -1)
    rates = [read.states[end.source].rate for end in ends if end.output != "insample"]
    return min(rates) * gap if rates else Fraction(0)


def _wish(read: Machine, step: RunTransition, most: int) -> int:
    return most if read.states[step.source].reads and step.output != "insample" else 0


def _below(way: list[RunTransition], low: int, high: int, around: Iterable[RunTransition] = ()) -> bool:
    """Tells whether a way compares two samples directly: the later one with the value of the earlier one.

    No step between them or `around` the later one stores another value.
    """
    start, end = min(low, high), max(low, high)
    if start == end:
        return False
    held = (way[end].below if end == low else way[end].above) & way[start].stored
    return bool(held.difference(*(step.stored for step in (*way[start + 1 : end], *around))))


def _always_below(read: Machine, parts: list[tuple[list[int], bool]], low: Place, high: Place) -> bool:
    """Tells whether one sample lies below another one, in whichever repetition each of them is.

    The earlier one is stored once, and no repetition between them or around the later one stores again.
    """
    starts = [sum(len(steps) for steps, _ in parts[:part]) for part, _, _ in (low, high)]
    first, last = sorted((low, high))
    if parts[first[0]][1]:
        return False
    way = [read.steps[number] for steps, _ in parts for number in steps]
    around = [read.steps[number] for number in parts[last[0]][0]] if parts[last[0]][1] else []
    return _below(way, starts[0] + low[1], starts[1] + high[1], around)


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


def entries_of(claim: Any) -> StreamEntries:
    """Returns what a claim says of streams; entries are any numbers that differ by 1 if it says nothing."""
    by = claim.get("by", "1")
    if by != "any" and not (by.isascii() and by.isdigit()):
        raise Rejected("entries differ by a whole number, or by any")
    values = [Fraction(v) for v in claim["values"]] if "values" in claim else None
    return StreamEntries(values, None if by == "any" else Fraction(by), claim.get("differ") == "one")


ANY = entries_of({})


def streams_of(read: Machine, data: Any, entries: StreamEntries) -> list[list[Fraction]]:
    """Returns the two streams of a way, which has to be possible; they have to be neighbours."""
    walk(read, FIRST, *data["steps"])
    streams = [[Fraction(v) for v in stream] for stream in data["streams"]]
    if any(len(stream) != read.entries(data["steps"]) for stream in streams):
        raise Rejected("a stream must have one entry for each input of the way")
    if read.whole and any(v.denominator > 1 for stream in streams for v in stream):
        raise Rejected("noise is geometric, but an entry is not a whole number")
    if entries.values is not None and any(v not in entries.values for stream in streams for v in stream):
        raise Rejected("an entry is not one of the values")
    apart = [abs(a - b) for a, b in zip(*streams, strict=True)]
    if any(d > entries.reach for d in apart) or (entries.one and sum(d > 0 for d in apart) > 1):
        raise Rejected("the streams are not neighbours")
    return streams


def gap(read: Machine, data: Any, entries: StreamEntries) -> Fraction:
    """Returns a number that V(β) − V(α) is not below."""
    if read.whole:
        raise Rejected("a gap is about noise with densities")
    steps, streams = data["steps"], streams_of(read, data, entries)
    point = [Fraction(x) for x in data["point"]]
    if len(point) != len(steps):
        raise Rejected("a point has one number for each step")
    if any(point[low] > point[high] for low, high in compared(read, steps)):
        raise Rejected("the point is not in the order of the way")
    one, other = (_entries(read, steps, stream) for stream in streams)
    found, own = Fraction(0), list[Fraction]()
    for number, x, a, b in zip(steps, point, one, other, strict=True):
        step = read.steps[number]
        state = read.states[step.source]
        own.append(x if step.output == "insample" else b + state.mean)
        found += state.rate * (abs(own[-1] - b - state.mean) - abs(x - a - state.mean))
        found += read.second_cost(step) * abs(a - b)
    before: Fraction | None = None
    for low_text, high_text, flow in data["levels"]:
        low, high = Fraction(low_text), Fraction(high_text)
        if low >= high or (before is not None and low < before) or any(low < c < high for c in own):
            raise Rejected("levels follow each other, with no centre inside of one")
        found += (high - low) * flow_value(read, steps, flow, own, (low, high))
        before = high
    return found


def _entries(read: Machine, steps: Sequence[int], stream: Sequence[Fraction]) -> list[Fraction]:
    """Returns the entry that each step of a way reads, 0 where it reads none."""
    left = iter(stream)
    return [next(left) if read.states[read.steps[number].source].reads else Fraction(0) for number in steps]


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
    streams, steps = streams_of(read, data, entries), data["steps"]
    x, step = Fraction(data["at"]), Fraction(data["step"])
    if not 0 < x < 1 or step <= 0:
        raise Rejected("an example is at a number between 0 and 1")
    put_out = sum(read.steps[number].output in ("insample", "insample'") for number in steps)
    if "numbers" in data and len(data["numbers"]) != put_out:
        raise Rejected("a way outputs a different count of numbers")
    if data["output"] == "other" and any(
        runs_out(read, walk(read, FIRST, *steps[:k])) for k in range(len(steps))
    ):
        raise Rejected("a run may end during the way of the example, but its end is not an output")
    told = [_told(said) for said in data["probabilities"]]
    first, second = told[0][0], told[1][1]
    most = budget[0] * log_bounds(1 / x, BITS)[1] / step + budget[1]
    if not first or (second and log_bounds(max(first / second, ONE), BITS)[0] <= most):
        raise Rejected("the probabilities of the example do not exceed the budget")
    begin = f"example: {len(steps)} steps, two streams: both probabilities are"
    try:
        found = [_chance(read, data, stream, (x, step)) for stream in streams]
    except UnreadCase as error:
        return f"{begin} stated, but not computed again ({error})"
    for chance, (low, high) in zip(found, told, strict=True):
        if not low <= (chance if data["output"] == "way" else 1 - chance) <= high:
            raise Rejected("a probability of the example differs from the computed one")
    return f"{begin} computed again"


def _told(said: Any) -> Pair:
    """Returns between which numbers a probability is that is told by one number, or by two that are near."""
    if said.keys() not in ({"exact"}, {"lower", "upper"}):
        raise Rejected("a probability is one number, or between two")
    low, high = (Fraction(said[name if name in said else "exact"]) for name in ("lower", "upper"))
    if not 0 <= low <= high <= 1 or high - low > NEAR * high:
        raise Rejected("the probabilities of an example lie outside [0, 1], or between far bounds")
    near = 0 if "exact" in said else NEAR
    return low * (1 - near), high * (1 + near)


def _chance(read: Machine, data: Any, stream: Sequence[Fraction], point: Pair) -> Fraction:
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

    samples, seconds, between = list[Pair](), list[Pair](), list[int]()  # rates and centres
    for place, entry in enumerate(_entries(read, steps, stream)):
        taken = read.steps[steps[place]]
        state = read.states[taken.source]
        samples.append((state.rate, entry + state.mean))
        if taken.output == "insample":
            between.append(place)
        if taken.output == "insample'":
            seconds.append((state.second, entry + state.second_mean))
    between += range(len(samples), len(samples) + len(seconds))
    if between and "between" not in data:
        raise Rejected("an example with numbers says where they lie")
    kinds = [VariableLaw(False, True, rate) for rate, _ in samples + seconds]
    centres = [centre for _, centre in samples + seconds]
    limits = [({low: ONE, high: -ONE}, centres[high] - centres[low]) for low, high in compared(read, steps)]
    for k in between:
        low, high = map(Fraction, data["between"])
        limits += [({k: ONE}, high - centres[k]), ({k: -ONE}, centres[k] - low)]
    region: Region | None = {}
    for slopes, bound in limits:
        region = limited(region, kinds, slopes, bound, False)
    if region is None:
        return Fraction(0)
    sums = RegionSums(log_bounds(1 / x, BITS)[0] / step, power)
    return sums.number(sums.chance(region, kinds))
