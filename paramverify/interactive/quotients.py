"""Quotients of probabilities and their products, each value once, so that what is known of it is found again.

Answers to one query that lead on alike are put together here: for two states only the set of the quotients of
their probabilities matters, and of this set the largest. With noise that has a factor for each unit, the
answers below both true answers have one quotient, and so have those above both.
"""

from __future__ import annotations

from functools import cmp_to_key
from typing import NamedTuple

from flint import fmpq

from paramverify.algebra.polynomials import RationalFunction
from paramverify.interactive.bounds import WeightJudge
from paramverify.models.systems.weights import Weight, as_function


class Fan(NamedTuple):
    """A closure with different responses, all of which lead surely to one state: labels, state, weights."""

    labels: tuple[object, ...]
    target: int
    weights: tuple[Weight, ...]
    ids: tuple[int, ...]  # of the weights, which the closures keep


class NumberedQuotients:
    """Numbers 0, 1, ... for values, `values[0]` being 1; comparisons and products are remembered.

    Weights are told apart by their `id`: they belong to closures, or to this object, which keep them.
    """

    def __init__(self, judge: WeightJudge, one: Weight) -> None:
        self.judge = judge
        self.values: list[Weight] = [one]
        self._numbers: dict[Weight, int] = {one: 0}
        self._known: dict[tuple[int, int], int] = {}
        self._products: dict[tuple[int, int], Weight] = {}
        self._compared: dict[tuple[int, int], bool] = {}
        self._largest: dict[frozenset[int], tuple[int, ...]] = {}
        self._order: list[int] = []  # the values that were compared, the least first
        self._ranks: dict[int, int] = {}
        self._finite: dict[int, bool] = {}  # of values: whether they and their inverses are finite
        self._factors: dict[str, bool] = {}  # that cancel in a quotient: whether they have no zero
        self._total = not judge.domain.ring.parameters

    def of(self, left: Weight, right: Weight) -> Weight:
        """Returns left/right as the one object with this value."""
        return self.values[self._number(left, right)]

    def between(self, left: Fan, right: Fan) -> frozenset[int]:
        """Returns the numbers of the quotients of two fans with the same labels, place by place."""
        keys = list(zip(left.ids, right.ids, strict=True))
        found = set(map(self._known.get, keys))
        if None in found:
            weights = zip(left.weights, right.weights, strict=True)
            new = [pair for key, pair in zip(keys, weights, strict=True) if key not in self._known]
            found.update(self._number(*pair) for pair in new)
        return frozenset(number for number in found if number is not None)

    def largest(self, found: frozenset[int]) -> tuple[int, ...]:
        """Returns the numbers of a set that are not known to be below others of it."""
        known = self._largest.get(found)
        if known is None:
            known = (self._greatest(found),) if self._total else tuple(sorted(found))
            self._largest[found] = known
        return known

    def divisible(self, found: frozenset[int]) -> bool:
        """Tells whether quotients and their inverses are proved to be finite at every point of the domain.

        Where a quotient may be 0/0 its sides have to be compared, and not the quotient with a number.
        """
        return self._total or all(map(self._positive, found))

    def comparable(self, left: Weight, right: Weight) -> bool:
        """Tells whether two weights compare as the sides of their quotient, reduced, do.

        They do where the factor that cancels is proved to be positive.
        """
        if self._total:
            return True
        ring = self.judge.domain.ring
        one, other = as_function(left, ring), as_function(right, ring)
        cancelled = one.numerator * other.denominator / (one / other).numerator
        name = str(cancelled)
        if name not in self._factors:
            sides = RationalFunction.of(cancelled), RationalFunction.of(-cancelled)
            self._factors[name] = any(map(self.judge.positive, sides))
        return self._factors[name]

    def _positive(self, number: int) -> bool:
        if number not in self._finite:
            self._finite[number] = self.judge.positive(self.values[number])
        return self._finite[number]

    def times(self, left: Weight, right: Weight) -> Weight:
        """Returns the product of two values that this object gave, as the one object with this value."""
        one = self.values[0]
        if left is one or right is one:
            return right if left is one else left
        key = (id(left), id(right))
        product = self._products.get(key)
        if product is None:
            product = self._products[key] = self.values[self._kept(left * right)]
        return product

    def at_most(self, left: Weight, right: Weight) -> bool:
        """Tells whether left ≤ right is proved, for values that this object gave."""
        if left is right or isinstance(left, fmpq):
            return left is right or self.judge.at_most(left, right)
        key = (id(left), id(right))
        found = self._compared.get(key)
        if found is None:
            found = self._compared[key] = self.judge.at_most(left, right)
        return found

    def _number(self, left: Weight, right: Weight) -> int:
        key = (id(left), id(right))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._kept(_quotient(left, right))
        return found

    def _kept(self, value: Weight) -> int:
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.values)
            self.values.append(value)
        return found

    def _greatest(self, found: frozenset[int]) -> int:
        self._order += [number for number in found if number not in self._ranks]
        if len(self._order) > len(self._ranks):
            self._order.sort(key=cmp_to_key(self._compare))
            self._ranks = {number: place for place, number in enumerate(self._order)}
        return max(found, key=self._ranks.__getitem__)

    def _compare(self, left: int, right: int) -> int:
        if left == right:
            return 0
        return -1 if self.at_most(self.values[left], self.values[right]) else 1


def _quotient(left: Weight, right: Weight) -> Weight:
    if isinstance(left, RationalFunction) and left.denominator == right.denominator:
        return RationalFunction.of(left.numerator, right.numerator)
    return left / right
