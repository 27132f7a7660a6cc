"""Checks that a way gets much likelier under one of two streams as ε grows: standard library only.

For a stream α let V(α) = min Σ d_k·|x_k − c_k| over samples x in the order of the way, where c_k is the entry
plus the mean; ln Pr_α(way)/ε goes to −V(α) for ε → ∞. So for each D < V(β) − V(α) and each b there is an ε at
which the way is more than exp(D·ε + b) times as likely under α.

**V(α) is no more** than the cost of a point x in this order. Its numbers at the samples that are put out are
those near which the densities are compared.

**V(β) is no less** than a sum of flows. Let low < high be two numbers so that each c_k (of what is put out:
each x_k) lies at low or below, or at high or above. For a number t between them let U be the samples above t:
U has with each sample all that lie above it. A sample in U with c_k ≤ low, or outside of U with c_k ≥ high,
costs d_k for each t; what is put out is never on the wrong side. So U costs as much as any flow from samples
with c_k ≥ high to samples with c_k ≤ low, upwards in the order and within the rates. What is put out costs
d_k·|x_k − c_k| besides, and d'_k·|α_k − β_k| where insample' is put out, near α_k plus its mean.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .automaton_least import links
from .automaton_runs import Machine, first_order, walk
from .strict import Rejected

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
