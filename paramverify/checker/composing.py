"""The releases of a composition, and their products: on grids, or exactly; standard library only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import lcm
from typing import Any

from .convolutions import LossGrid, LowerMasses, UpperMasses, multiplied, power
from .logarithms import BITS
from .releases import ExactLoss, ReleaseLosses, loss_of, read
from .strict import Misformed, Rejected

MOST_TIMES = 100_000
MOST_PRODUCTS = 100_000  # of outputs that are on no grid
MOST_BITS = BITS - 16  # of masses on a grid


@dataclass(frozen=True)
class ComposedDirection:
    """One direction of neighbours: the releases, how often each is made, and the grid."""

    document: Mapping[str, Any]
    releases: tuple[tuple[ReleaseLosses, tuple[ReleaseLosses, ...], int], ...]

    def upper(self) -> tuple[UpperMasses, LossGrid]:
        """Returns the composition of the dominating pairs on the grid."""
        grid, bits, tail = self._grid()
        spans = self.document["spans"]
        sides = [
            power(UpperMasses.of(losses, grid, span and (span[0], span[1]), bits, tail), times)
            for (losses, _, times), span in zip(self.releases, spans, strict=True)
        ]
        return reduce(UpperMasses.times, sides), grid

    def lower(self) -> LowerMasses:
        """Returns the composition of the chosen pairs, with labels."""
        grid, bits, tail = self._grid()
        given = zip(self.releases, self.document["spans"], self.document["choice"], strict=True)
        sides = []
        for (_, pairs, times), span, choice in given:
            if not 0 <= choice < len(pairs):
                raise Misformed("no such pair", "choice")
            ends = span and (span[0], span[1])
            sides.append(power(LowerMasses.of(pairs[choice], grid, ends, bits, tail), times))
        return reduce(LowerMasses.times, sides)

    def _grid(self) -> tuple[LossGrid, int, int]:
        written = self.document["grid"]
        if written is None:
            raise Misformed("a grid is missing", "grid")
        bits, tail = written["bits"], written["tail"]
        if not 24 <= bits <= MOST_BITS or tail < 1:
            raise Misformed("too many bits, or too few", "grid", "bits")
        if len(self.document["spans"]) != len(self.releases):
            raise Misformed("not one for each component", "spans")
        return LossGrid(loss_of(written["step"])), bits, tail

    def exactly(self) -> dict[Fraction, Fraction]:
        """Returns the mass under P of each P/Q; 0 stands for outputs that are impossible under Q."""
        written = self.document["grid"]
        found = None if written is None else self._on_grid(LossGrid(loss_of(written["step"])))
        return self._listed() if found is None else found

    def _outputs(self) -> Iterator[tuple[dict[Fraction, Fraction], int]]:
        for losses, pairs, times in self.releases:
            if losses.exact is None or not is_single(losses, pairs):
                raise Rejected("a release has no rational masses, or several pairs: nothing is exact")
            yield {(p / q if q else Fraction(0)): p for p, q in losses.exact if p}, times

    def _on_grid(self, grid: LossGrid) -> dict[Fraction, Fraction] | None:
        """Returns it where all P/Q are whole powers of e^step: by powers of polynomials."""
        row, first, bottom, finite = [1], 0, 1, Fraction(1)
        for outputs, times in self._outputs():
            places = {grid.exactly(ExactLoss(ratio=ratio)): p for ratio, p in outputs.items() if ratio}
            if None in places:
                return None
            known = {place: p for place, p in places.items() if place is not None}
            scale = lcm(*(p.denominator for p in known.values()))
            least = min(known)
            single = [int(known.get(n, Fraction(0)) * scale) for n in range(least, max(known) + 1)]
            row = multiplied(row, _power(single, times))
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


def _power(row: list[int], times: int) -> list[int]:
    found = [1]
    while times:
        if times & 1:
            found = multiplied(found, row)
        times >>= 1
        row = multiplied(row, row) if times else row
    return found


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
        raise Misformed("not those of the components", "directions")
    found = []
    for k, written in enumerate(document["directions"]):
        releases = []
        for n, each in enumerate(components):
            if not 0 < each["times"] <= MOST_TIMES:
                raise Misformed("not a number of releases", "components", n, "times")
            way = each["ways"][k if len(each["ways"]) > 1 else 0]
            releases.append((*_way(way, n), each["times"]))
        found.append(ComposedDirection(written, tuple(releases)))
    return found


def _check_ways(ways: list[Any], n: int) -> None:
    """Checks that two ways are those of a sample, M against Q and Q against M, and that one way is of none.

    In the second one P and Q may be exchanged before, where pairs come in both directions.
    """
    place = "components", n, "ways"
    if len(ways) == 1:
        releases = (ways[0]["dominating"], *ways[0]["pairs"])
        if any(release["kind"] in ("sampled", "turned") for release in releases):
            raise Misformed("a sample has two directions", *place)
        return
    one, other = ways
    first, second = one["dominating"], other["dominating"]
    if first["kind"] != "sampled":
        raise Misformed("two ways are those of a sample", *place)
    inner = first["of"]
    swapped = {**first, "of": {"kind": "turned", "of": inner}}
    allowed = [first] if not one["pairs"] else [swapped]
    if second not in [{"kind": "turned", "of": release} for release in allowed]:
        raise Misformed("the second way is not the other direction", *place)
    turned = [{"kind": "turned", "of": pair} for pair in one["pairs"]]
    if other["pairs"] != turned or any(pair.get("rate") != first["rate"] for pair in one["pairs"]):
        raise Misformed("the pairs are not those of the other direction", *place)


def _way(written: Mapping[str, Any], n: int) -> tuple[ReleaseLosses, tuple[ReleaseLosses, ...]]:
    whole = read(written["dominating"])
    if not written["pairs"] or written["pairs"] == [written["dominating"]]:
        return whole, (whole,)
    pairs = tuple(map(read, written["pairs"]))
    if any(not dominates(whole, pair) for pair in pairs):
        raise Misformed("it does not dominate a pair", "components", n, "ways", "dominating")
    return whole, pairs


def is_single(whole: ReleaseLosses, pairs: tuple[ReleaseLosses, ...]) -> bool:
    """Tells whether the pair that dominates is the only one, so that its numbers are those of the release."""
    return len(pairs) == 1 and pairs[0] is whole


def dominates(whole: ReleaseLosses, pair: ReleaseLosses) -> bool:
    """Tells whether one release has at least the δ of another one for every ε, from −∞ on.

    Both δ are convex, piecewise linear functions of c = e^ε from 0 on, so corners are enough, and the end.

    Raises:
        Rejected: a release has masses that are not rational.
    """
    if whole.exact is None or pair.exact is None:
        raise Rejected("several pairs need rational masses")
    known = (whole.exact, pair.exact)
    corners = {p / q for exact in known for p, q in exact if q} | {Fraction(0)}
    return all(delta_of(whole.exact, c) >= delta_of(pair.exact, c) for c in corners)


def delta_of(exact: tuple[tuple[Fraction, Fraction], ...], c: Fraction) -> Fraction:
    """Returns Σ max(0, p − c·q)."""
    return sum((max(Fraction(0), p - c * q) for p, q in exact), Fraction(0))
