"""Evidence about compositions: bounds of δ for ε, or of ε for δ, computed again.

`components` are releases, each made `times` times. A way has a pair of distributions that dominates, that is,
has at least the δ of each of its `pairs` for every ε; where it is one of them, it is the only one. With two
ways the first direction of neighbours is composed for itself, and the second one, and the larger δ counts.

Upper bounds are about the dominating pairs: their composition has at least the δ of every adaptive one
[ZhuDW22]. Lower bounds are about one pair of each release, the `choice` of its direction.

`exact` is a number that is reached: all masses are rational, and nothing is rounded. Otherwise each direction
says which grid it needs; see `convolutions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property, reduce
from math import lcm
from typing import Any

from .convolutions import LossGrid, LowerMasses, UpperMasses, multiplied, power
from .evidence_polynomials import number
from .ledger import Evidence, KernelReport, Statement
from .release_losses import ExactLoss, ReleaseLosses, loss_of, read
from .rounded_constants import BITS, UNIT, Ends, exp
from .strict_reading import Misformed, Rejected, counted, plain

# --- composing --------------------------------------------------------------------------------------

STATUS = "composition"
DIGITS = 30
LENGTH = 60  # of numbers that are told
LEFT = ("releases of cases with their files",)  # what a document alone does not show
MOST_TIMES = 100_000
MOST_PRODUCTS = 100_000  # of outputs that are on no grid
MOST_BITS = BITS - 16  # of masses on a grid


@dataclass(frozen=True)
class ComposedDirection:
    """One direction of neighbours: the releases, how often each is made, and the grid.

    A release is a pair that dominates, and the pairs that it dominates: none if it is the only pair, and
    its numbers are those of the release.
    """

    document: Mapping[str, Any]
    releases: list[tuple[ReleaseLosses, list[ReleaseLosses], int]]

    def upper(self) -> UpperMasses:
        """Returns the composition of the dominating pairs on the grid."""
        grid = self._grid()
        given = zip(self.releases, self.document["spans"], strict=True)
        sides = (
            power(UpperMasses.of(whole, grid, span), n, UpperMasses.times) for (whole, _, n), span in given
        )
        return reduce(UpperMasses.times, sides)

    def lower(self) -> LowerMasses:
        """Returns the composition of the chosen pairs, with labels."""
        grid, sides = self._grid(), []
        given = zip(self.releases, self.document["spans"], self.document["choice"], strict=True)
        for (whole, pairs, times), span, choice in given:
            known = pairs or [whole]
            if not 0 <= choice < len(known):
                raise Misformed("there is no such pair", "choice")
            sides.append(power(LowerMasses.of(known[choice], grid, span), times, LowerMasses.times))
        return reduce(LowerMasses.times, sides)

    @cached_property
    def grid(self) -> LossGrid | None:
        """The grid that the document names, if it does."""
        grid = self.document["grid"]
        return grid and LossGrid(loss_of(grid["step"]), grid["bits"], grid["tail"])

    def _grid(self) -> LossGrid:
        grid = self.grid
        if grid is None:
            raise Misformed("a grid is missing", "grid")
        if not 24 <= grid.bits <= MOST_BITS or grid.tail < 1:
            raise Misformed("too many bits, or too few", "grid", "bits")
        if len(self.document["spans"]) != len(self.releases):
            raise Misformed("there must be one for each component", "spans")
        return grid

    def exactly(self) -> dict[Fraction, Fraction]:
        """Returns the mass under P of each P/Q; 0 stands for outputs that are impossible under Q."""
        found = None if self.grid is None else self._on_grid(self.grid)
        return self._listed() if found is None else found

    def _outputs(self) -> Iterator[tuple[dict[Fraction, Fraction], int]]:
        for losses, pairs, times in self.releases:
            if losses.exact is None or pairs:
                raise Rejected("a release has irrational masses, or several pairs: nothing is exact")
            yield by_ratio(losses.exact), times

    def _on_grid(self, grid: LossGrid) -> dict[Fraction, Fraction] | None:
        """Returns it where all P/Q are whole powers of e^step: by powers of polynomials."""
        row, first, bottom, finite = [1], 0, 1, Fraction(1)
        for outputs, times in self._outputs():
            places = [(grid.exactly(ExactLoss(ratio=ratio)), p) for ratio, p in outputs.items() if ratio]
            known = {place: p for place, p in places if place is not None}
            if len(known) < len(places):
                return None
            scale = lcm(*(p.denominator for p in known.values()))
            least = min(known)
            single = [int(known.get(n, Fraction(0)) * scale) for n in range(least, max(known) + 1)]
            row = multiplied(row, power(single, times, multiplied))
            first, bottom = first + least * times, bottom * scale**times
            finite *= sum(known.values()) ** times
        found = {grid.step.ratio**n: Fraction(mass, bottom) for n, mass in enumerate(row, first) if mass}
        return {**found, **({Fraction(0): 1 - finite} if finite < 1 else {})}

    def _listed(self) -> dict[Fraction, Fraction]:
        together, work = {Fraction(1): Fraction(1)}, 0
        for outputs, times in self._outputs():
            for _ in range(times):
                work += len(together) * len(outputs)
                if work > MOST_PRODUCTS:
                    raise Rejected("the composition has too many outputs")
                grown: dict[Fraction, Fraction] = {}
                for one, p in together.items():
                    for other, share in outputs.items():
                        grown[one * other] = grown.get(one * other, Fraction(0)) + p * share
                together = grown
        return together


# --- reading ------------------------------------------------------------------------------------------


def directions(document: Mapping[str, Any]) -> list[ComposedDirection]:
    """Reads the directions of neighbours.

    Raises:
        Rejected: the releases are none, or a dominating pair does not dominate.
    """
    components = document["components"]
    count = max((len(each["ways"]) for each in components), default=0)
    if count not in (1, 2) or any(not each["ways"] for each in components):
        raise Misformed("no component, or one without a way", "components")
    for n, each in enumerate(components):
        _check_ways(each["ways"], n)
    if len(document["directions"]) != count:
        raise Misformed("there must be as many directions as the components have", "directions")
    return [
        ComposedDirection(written, [_release(each, k, n) for n, each in enumerate(components)])
        for k, written in enumerate(document["directions"])
    ]


def _check_ways(ways: list[Any], n: int) -> None:
    """Checks that two ways are those of a sample, M against Q and Q against M, and that one way is of none.

    In the second one P and Q may be exchanged before, where pairs come in both directions.
    """
    place = "components", n, "ways"
    if len(ways) == 1:
        releases = (ways[0]["dominating"], *ways[0]["pairs"])
        if any(release["kind"] in ("sampled", "turned") for release in releases):
            raise Misformed("a sample must have two directions", *place)
        return
    one, other = ways
    first = one["dominating"]
    if first["kind"] != "sampled":
        raise Misformed("two ways are those of a sample", *place)
    swapped = {**first, "of": {"kind": "turned", "of": first["of"]}} if one["pairs"] else first
    turned = [{"kind": "turned", "of": release} for release in (swapped, *one["pairs"])]
    if [other["dominating"], *other["pairs"]] != turned:
        raise Misformed("the second way is not the opposite direction", *place)
    if any(pair.get("rate") != first["rate"] for pair in one["pairs"]):
        raise Misformed("the pairs belong to another sample", *place)


def _release(component: Any, k: int, n: int) -> tuple[ReleaseLosses, list[ReleaseLosses], int]:
    """Reads the release of a component in a direction."""
    if not 0 < component["times"] <= MOST_TIMES:
        raise Misformed("this is not a number of releases", "components", n, "times")
    way = component["ways"][k % len(component["ways"])]  # one way is that of both directions
    whole, several = read(way["dominating"]), way["pairs"] != [way["dominating"]]
    pairs = [read(pair) for pair in way["pairs"] if several]
    if not all(dominates(whole, pair) for pair in pairs):
        raise Misformed("it does not dominate a pair", "components", n, "ways", "dominating")
    return whole, pairs, component["times"]


def dominates(whole: ReleaseLosses, pair: ReleaseLosses) -> bool:
    """Tells whether one release has at least the δ of another one for every ε, from −∞ on.

    Both δ are convex, piecewise linear functions of c = e^ε from 0 on, so corners are enough, and the end.

    Raises:
        Rejected: a release has masses that are not rational.
    """
    if whole.exact is None or pair.exact is None:
        raise Rejected("several pairs need rational masses")
    one, other = by_ratio(whole.exact), by_ratio(pair.exact)
    return all(exact_delta(one, c) >= exact_delta(other, c) for c in {Fraction(0), *one, *other})


def by_ratio(exact: Iterable[tuple[Fraction, Fraction]]) -> dict[Fraction, Fraction]:
    """Returns the mass under P of each P/Q; 0 stands for outputs that are impossible under Q."""
    return {(p / q if q else Fraction(0)): p for p, q in exact if p}


# --- what is asked ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeltaBounds:
    """For each direction what bounds δ from above and from below, for any ε."""

    above: list[Callable[[Ends], Fraction]]
    below: list[Callable[[Ends], Fraction]]

    def most(self, epsilon: Ends) -> Fraction:
        """Returns an upper bound of δ."""
        return max(delta(epsilon) for delta in self.above)

    def least(self, epsilon: Ends) -> Fraction:
        """Returns a lower bound of δ."""
        return max(delta(epsilon) for delta in self.below)


def bounds_of(document: Mapping[str, Any]) -> DeltaBounds:
    """Returns bounds of δ for any ε: on grids, or exactly where a document has no spans."""
    every = directions(document)
    if all(each["spans"] for each in document["directions"]):
        return DeltaBounds([each.upper().delta for each in every], [each.lower().delta for each in every])
    exact = [each.exactly() for each in every]

    def at(masses: Mapping[Fraction, Fraction], end: int) -> Callable[[Ends], Fraction]:
        return lambda epsilon: exact_delta(masses, Fraction(exp(*epsilon)[end], UNIT))

    return DeltaBounds([at(masses, 0) for masses in exact], [at(masses, 1) for masses in exact])


def largest(document: Mapping[str, Any]) -> ExactLoss | None:
    """Returns the largest loss of a composition in any direction, where that of each release is exact.

    Two directions differ in samples only. The largest loss of a sample, if it is exact, is that of a table:
    so their ratios decide.
    """
    found = []
    for direction in directions(document):
        total = ExactLoss()
        for losses, pairs, times in direction.releases:
            if losses.most is None or pairs:
                return None
            total = total.plus(losses.most.times(times))
        found.append(total)
    return max(found, key=lambda loss: loss.ratio)


def _between(loss: ExactLoss) -> tuple[Fraction, Fraction]:
    """Returns bounds of a loss, twice the same where it is rational."""
    if loss.ratio == 1:
        return loss.rational, loss.rational
    low, high = loss.ends()
    return Fraction(low, UNIT), Fraction(high, UNIT)


def epsilon_of(document: Mapping[str, Any]) -> Ends | None:
    """Returns bounds of the ε that is given, if one is; the ratio e^ε of `exact` ones is exact."""
    written = document["question"]
    if ("epsilon" in written) == ("delta" in written):
        raise Misformed("an epsilon or a delta", "question")
    if "epsilon" not in written:
        return None
    loss = loss_of(written["epsilon"])
    if loss.ends()[1] < 0:
        raise Misformed("below 0", "question", "epsilon")
    return loss.ends()


def exact_delta(masses: Mapping[Fraction, Fraction], c: Fraction) -> Fraction:
    """Returns δ for e^ε = c: Σ max(0, P − c·Q)."""
    return sum((p if not r else p * (1 - c / r) for r, p in masses.items() if not r or r > c), Fraction(0))


def exact_ratio(masses: Mapping[Fraction, Fraction], delta: Fraction) -> Fraction | None:
    """Returns the least c ≥ 1 with δ(ln c) ≤ delta; None: there is none.

    δ(c) is the largest P(S) − c·Q(S), and a set of the outputs with the largest P/Q has it.
    """
    p, q, best = masses.get(Fraction(0), Fraction(0)), Fraction(0), Fraction(1)
    if p > delta:
        return None
    for ratio in sorted((r for r in masses if r), reverse=True):
        p, q = p + masses[ratio], q + masses[ratio] / ratio
        best = max(best, (p - delta) / q)
    return best


def show(about: Evidence, statement: Statement) -> KernelReport:
    """Computes the bounds of a composition again.

    Raises:
        Rejected: they are not what the statement says.
    """
    del about  # everything is in the statement
    told_ = []
    for n, each in enumerate(statement["components"], 1):
        for way in each["ways"][:1]:
            what = told(way["dominating"], max(1, len(way["pairs"])))
            told_.append(f"component {n}: {what}, {counted(each['times'], 'time')}")
    name, given = ("epsilon", "delta") if epsilon_of(statement) is None else ("delta", "epsilon")
    told_.append(f"asked: the least {name} for {given} = {_value(statement['question'][given])}")
    shown = check_bounds(statement) if statement["exact"] is None else [_check_exact(statement)]
    return KernelReport(True, (*told_, *shown), len(shown), status=STATUS, not_compared=left(statement))


def left(statement: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns what a statement alone does not show."""
    return LEFT if any(map(is_of_case, statement["components"])) else ()


def is_of_case(component: Mapping[str, Any]) -> bool:
    """Tells whether a release comes from a case, or is a table, which may come from anywhere."""
    release = component["ways"][0]["dominating"]
    while release["kind"] in ("sampled", "turned"):
        release = release["of"]
    return "case" in component or release["kind"] == "table"


def check_bounds(document: Mapping[str, Any]) -> list[str]:
    """Computes bounds again; returns them in words.

    Raises:
        Rejected: they are not shown.
    """
    epsilon = epsilon_of(document)
    name = "delta" if epsilon is not None else "epsilon"
    if document["lower"] is None:
        raise Misformed("a bound is missing", "lower")
    low = number(document["lower"])
    high = None if document["upper"] is None else number(document["upper"])
    if low < 0 or (high is not None and high < low):
        raise Misformed("not bounds", "lower")
    lines = [f"{name} is at least {decimal(low)}: computed again"]
    lines += [] if high is None else [f"{name} is at most {decimal(high)}: computed again"]
    delta = Fraction(0) if epsilon is not None else number(document["question"]["delta"])
    if epsilon is None and not delta:
        most = largest(document)
        is_low = most is not None and low <= _between(most)[0]
        is_high = most is not None and high is not None and _between(most)[1] <= high
        name = "the largest loss"
    else:
        bounds = bounds_of(document)
        if epsilon is not None:
            is_low = not low or bounds.least(epsilon) >= low
            is_high = high is None or bounds.most(epsilon) <= high
        else:  # δ is above the given one before the lower bound, and at most that from the upper one on
            is_low = not low or bounds.least(ExactLoss(low).ends()) > delta
            is_high = high is None or bounds.most(ExactLoss(high).ends()) <= delta
    if not is_low:
        raise Misformed(f"{name} is not shown to be at least this large", "lower")
    if not is_high:
        raise Misformed(f"{name} is not shown to be at most this large", "upper")
    return lines


def _check_exact(document: Mapping[str, Any]) -> str:
    stated = number(document["exact"])
    if (document["lower"], document["upper"]) != (None, None):
        raise Misformed("a number must be either exact or enclosed by bounds", "lower")
    if _is_largest(document, stated):
        name = "delta" if "epsilon" in document["question"] else "the ratio e^epsilon"
        return f"{name} is {plain(document['exact'], LENGTH)}, exactly: the largest loss"
    every = [each.exactly() for each in directions(document)]
    if "epsilon" in document["question"]:
        loss = loss_of(document["question"]["epsilon"])
        if loss.rational:
            raise Misformed("an epsilon that is no logarithm of a rational is never exact", "exact")
        if max(exact_delta(masses, loss.ratio) for masses in every) != stated:
            raise Misformed("delta differs from the computed value", "exact")
        return f"delta is {plain(document['exact'], LENGTH)}, exactly: computed again"
    delta = number(document["question"]["delta"])
    ratios = [exact_ratio(masses, delta) for masses in every]
    if None in ratios or max(r for r in ratios if r is not None) != stated:
        raise Misformed("the ratio e^epsilon differs from the computed value", "exact")
    return f"the ratio e^epsilon is {plain(document['exact'], LENGTH)}, exactly: computed again"


def _is_largest(document: Mapping[str, Any], stated: Fraction) -> bool:
    """Tells whether the largest loss shows a number: from it on δ is 0, and before it δ is above 0."""
    most = largest(document)
    if most is None:
        return False
    if "epsilon" in document["question"]:
        loss = loss_of(document["question"]["epsilon"])
        return not stated and (loss == most or most.ends()[1] <= loss.ends()[0])
    return not number(document["question"]["delta"]) and not most.rational and most.ratio == stated


def decimal(value: Fraction) -> str:
    """Returns a number as a decimal, where it is one of few digits; else as a fraction."""
    with localcontext() as context:
        context.prec = DIGITS
        found = Decimal(value.numerator) / Decimal(value.denominator)
    exact = Fraction(found) == value
    return str(found.normalize()).lower() if exact else plain(str(value), LENGTH)


def told(release: Mapping[str, Any], pairs: int) -> str:
    """Returns what a release is, in words."""
    if release["kind"] == "table":
        return f"a table of {counted(len(release['outputs']), 'output')}, for {counted(pairs, 'pair')}"
    if release["kind"] in ("sampled", "turned"):
        how = f"of a sample with rate {release['rate']}" if "rate" in release else "turned"
        return f"{told(release['of'], 1)}, {how}"
    values = (f"{k} = {_value(v)}" for k, v in release.items() if k != "kind")
    return f"{release['kind']} with {', '.join(values)}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return plain(value, LENGTH)
    rational, ratio = value
    parts = [rational] * (rational != "0") + [f"ln({ratio})"] * (ratio != "1")
    return plain(" + ".join(parts) or "0", LENGTH)
