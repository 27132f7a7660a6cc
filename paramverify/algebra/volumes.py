"""How much of a box lies in a parameter domain with constraints: exact, or between certified bounds.

A box on which every constraint holds counts in full, one on which some constraint fails everywhere not at
all. Both are read off Bernstein coefficients. Where one linear constraint cuts the box and all others hold,
the volume is exact: with a_k > 0 (an axis with a_k < 0 is turned around)

    vol {t in [0, 1]^d : a·t ≤ b} = Σ_{v in {0, 1}^d} (-1)^|v| · max(b - a·v, 0)^d / (d! · Π a_k)

([BarrowSmith79]). Every other box is cut in two, the largest first, until what is left is little or the work
is done; that is the distance of the bounds. A set where a polynomial that is not zero vanishes has no volume,
so strict and weak constraints are alike here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count, product
from math import factorial, prod
from typing import TypeVar

from paramverify.algebra.bernstein import bernstein_form
from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.polynomials import Polynomial, is_constant, key, primitive, substitute, variables

Name = TypeVar("Name")
Ends = tuple[Fraction, Fraction]
Box = tuple[Ends, ...]

BITS = 64  # of the enclosure of the constant E
MAX_BOXES = 3_000  # that are looked at besides the given ones
ENOUGH = Fraction(1, 10**6)  # the part of the volume that may stay open
MOST_RANGING = 4  # other parameters of which several values each are tried
MAX_AXES = 8  # of a linear constraint whose volume is found by the formula


@dataclass(frozen=True)
class VolumeShare:
    """A number that lies between two certified bounds; it is exact if they agree."""

    lower: Fraction
    upper: Fraction

    @property
    def exact(self) -> bool:
        """Whether the number is known exactly."""
        return self.lower == self.upper


@dataclass(frozen=True, eq=False)
class Inside:
    """The points over the `free` parameters that are in a domain for some values of all others."""

    free: tuple[str, ...]
    conditions: tuple[Constraint, ...]
    others: Mapping[str, Interval]  # the whole intervals of all other variables that matter
    samples: tuple[Mapping[str, Interval], ...]  # such values of them
    memory: dict[Box, Fraction | None] = field(default_factory=dict)

    @classmethod
    @lru_cache(maxsize=4)  # a growing map is measured again and again
    def of(cls, domain: Domain, free: tuple[str, ...]) -> Inside:
        """Returns it for the constraints of a domain that is not empty."""
        closed = domain.enclose(BITS)
        # Of two that are multiples of each other one is enough, a strict one if there is one.
        fixed = {n: i.lower for n, i in domain.box.items() if i.is_point}
        stated = [replace(c, polynomial=substitute(c.polynomial, fixed)) for c in closed.constraints]
        weak_first = sorted(stated, key=lambda c: c.strict)
        different = {key(primitive(c.polynomial)[1]): c for c in weak_first if not is_constant(c.polynomial)}
        conditions = tuple(different.values())
        used = {name for c in conditions for name in variables(c.polynomial)}
        others = {n: i for n, i in closed.box.items() if n in used and n not in free}
        ranging = [n for n in domain.ring.parameters if n in others and not others[n].is_point]
        places = [[_at(others[n], k) for k in (2, 1, 3)] for n in ranging]
        few = product(*places) if len(ranging) < MOST_RANGING else [tuple(p[0] for p in places)]
        samples = tuple({**others, **dict(zip(ranging, values, strict=True))} for values in few)
        return cls(free, conditions, others, samples)

    def volumes(self, boxes: Sequence[Box]) -> list[VolumeShare]:
        """Returns for each box bounds of the volume of its part in the domain."""
        known = [Fraction(0)] * len(boxes)
        heap: list[tuple[Fraction, int, int, Box]] = []
        numbers, inside, left = count(), Fraction(0), Fraction(0)
        pending = list(enumerate(boxes))
        for _ in range(MAX_BOXES):
            for number, box in pending:
                exact = self._exact(box)
                if exact is None:
                    heappush(heap, (-_volume(box), next(numbers), number, box))
                    left += _volume(box)
                else:
                    known[number] += exact
                    inside += exact
            if not heap or left <= ENOUGH * inside:
                break
            _, _, number, box = heappop(heap)
            left -= _volume(box)
            pending = [(number, half) for half in _halves(box)]
        else:
            for number, box in pending:
                heappush(heap, (-_volume(box), next(numbers), number, box))
        most = list(known)
        for size, _, number, _ in heap:
            most[number] -= size
        return [VolumeShare(low, high) for low, high in zip(known, most, strict=True)]

    def has(self, box: Box) -> bool:
        """Tells whether one look shows that a box is in the domain, but for a set without volume."""
        return self._exact(box) == _volume(box)

    def _exact(self, box: Box) -> Fraction | None:
        if box not in self.memory:
            self.memory[box] = self._look(box)
        return self.memory[box]

    def _look(self, box: Box) -> Fraction | None:
        """Returns the volume of the part of a box in the domain, where one look shows it."""
        sides = {n: Interval(*ends, True, True) for n, ends in zip(self.free, box, strict=True)}
        whole = {**self.others, **sides}
        crossing = []
        for condition in self.conditions:
            low, high = _range(condition, whole)
            # Points where f = 0 have no volume; but with other parameters there may be such values for all.
            null = high == 0 and low < 0 and set(variables(condition.polynomial)) <= set(self.free)
            if high < 0 or null or (condition.strict and high == 0):
                return Fraction(0)
            if low < 0:
                crossing.append(condition)
        if not crossing or any(_all_hold(crossing, {**values, **sides}) for values in self.samples):
            return _volume(box)
        return _below(crossing[0].polynomial, box, self.free) if len(crossing) == 1 else None


def _range(condition: Constraint, box: Mapping[str, Interval]) -> tuple[Fraction, Fraction]:
    form = bernstein_form(condition.polynomial, {n: box[n] for n in variables(condition.polynomial)})
    return form.lower, form.upper


def _all_hold(conditions: Sequence[Constraint], box: Mapping[str, Interval]) -> bool:
    """Tells whether all conditions hold on a box, up to a set without volume where they are strict."""
    ranges = [(c.strict, *_range(c, box)) for c in conditions]
    return all(low >= 0 and (high > 0 or not strict) for strict, low, high in ranges)


def _at(interval: Interval, quarter: int) -> Interval:
    value = interval.lower + (interval.upper - interval.lower) * Fraction(quarter, 4)
    return Interval(value, value, True, True)


def _volume(box: Box) -> Fraction:
    return prod((high - low for low, high in box), start=Fraction(1))


def _halves(box: Box) -> list[Box]:
    """Returns both halves of a box, cut across its longest side."""
    axis = max(range(len(box)), key=lambda k: box[k][1] - box[k][0])
    low, high = box[axis]
    middle = (low + high) / 2
    return [(*box[:axis], ends, *box[axis + 1 :]) for ends in ((low, middle), (middle, high))]


def _below(polynomial: Polynomial, box: Box, free: Sequence[str]) -> Fraction | None:
    """Returns the volume of the part of a box where a linear polynomial is nonnegative; None if it is not."""
    names = variables(polynomial)
    if polynomial.total_degree() > 1 or not set(names) <= set(free) or len(names) > MAX_AXES:
        return None
    every = [str(n) for n in polynomial.context().names()]
    constant, slopes = Fraction(0), dict.fromkeys(names, Fraction(0))
    for monomial, coefficient in polynomial.to_dict().items():
        value = Fraction(int(coefficient.p), int(coefficient.q))
        place = next((k for k, e in enumerate(monomial) if e), None)
        if place is None:
            constant += value
        else:
            slopes[every[place]] = value
    bound, sizes = constant, []  # the condition is Σ sizes·t ≤ bound for t in the unit box
    for name, slope in slopes.items():
        low, high = box[list(free).index(name)]
        bound += slope * (high if slope > 0 else low)
        sizes.append(abs(slope) * (high - low))
    total = Fraction(0)
    for corner in product((0, 1), repeat=len(sizes)):
        rest = bound - sum(s for s, v in zip(sizes, corner, strict=True) if v)
        if rest > 0:
            total += (-1) ** sum(corner) * rest ** len(sizes)
    return total / (factorial(len(sizes)) * prod(sizes)) * _volume(box)


def shares(volumes: Mapping[Name, VolumeShare]) -> dict[Name, VolumeShare]:
    """Returns the shares of disjoint parts in their union, from the volumes of the parts.

    The share v/(v + w) of a part with volume v, all others together with volume w, grows with v and falls
    with w.
    """
    found = {}
    for name, own in volumes.items():
        low = sum((v.lower for n, v in volumes.items() if n != name), Fraction(0))
        high = sum((v.upper for n, v in volumes.items() if n != name), Fraction(0))
        lower = own.lower / (own.lower + high) if own.lower else Fraction(0)
        upper = own.upper / (own.upper + low) if own.upper else Fraction(0)
        found[name] = VolumeShare(lower, upper)
    return found
