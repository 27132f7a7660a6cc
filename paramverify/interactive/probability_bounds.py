"""Exact comparisons of probabilities and their quotients with powers of a ratio e^δ, on the whole
parameter domain.

For numbers the answer is computed; with the constant E = exp(g) its sign is decided exactly; with parameters
the comparison becomes a claim, which a session decides.

Quotients of probabilities and their products, each value once, so that what is known of it is found again.

Answers to one query that lead on alike are put together here: for two states only the set of the quotients of
their probabilities matters, and of this set the largest. With noise that has a factor for each unit, the
answers below both true answers have one quotient, and so have those above both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cmp_to_key
from math import gcd, prod
from typing import NamedTuple

from flint import fmpq

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    in_generator,
    is_constant,
    primitive,
    variables,
)
from paramverify.answers import Decision, Open, Proved, Refuted
from paramverify.claims import Claim
from paramverify.errors import ModelError
from paramverify.models.context import Checks
from paramverify.models.systems.transition_systems import Weight, as_function, is_number, number_of
from paramverify.portfolio.session import Session


@dataclass
class WeightJudge:
    """Compares weights of one system; remembers the claims that were decided.

    Denominators of probabilities have no zero on the domain, but those of their quotients may: where a
    quotient is not proved to be finite everywhere, nothing about it is proved. Without a session, claims stay
    open. `refuted` collects points at which claims fail, and `open` is why the last open one is open.
    """

    checks: Checks
    session: Session | None = None
    decided: dict[str, tuple[Claim, Decision]] = field(default_factory=dict)
    refuted: list[dict[str, Fraction]] = field(default_factory=list)
    open: str = ""
    _signs: dict[str, int] = field(default_factory=dict)

    def at_most(self, left: Weight, right: Weight, ratio: Weight = 1) -> bool:
        """Tells whether left ≤ ratio·right is proved at every point of the domain.

        With numbers and with E, what is not proved is false; with parameters it may be open.
        """
        if isinstance(left, fmpq) and isinstance(right, fmpq) and isinstance(ratio, (fmpq, int)):
            return bool(left <= ratio * right)
        sides = [self._oriented(fmpq(w) if isinstance(w, int) else w) for w in (left, right, ratio)]
        finite = [side for side in sides if side is not None]
        if len(finite) < 3:
            return False
        (a, ad), (b, bd), (c, cd) = finite
        return self.nonnegative(primitive(c * b * ad - cd * a * bd)[1])

    @property
    def domain(self) -> Domain:
        """The parameter domain."""
        return self.checks.domain

    def oriented(self, weight: Weight) -> tuple[Polynomial, Polynomial]:
        """Returns numerator and denominator of a weight, the denominator positive on the domain.

        Raises:
            ModelError: the denominator is not proved to have no zero there.
        """
        found = self._oriented(weight)
        if found is None:
            raise ModelError(f"the denominator of {weight} may be zero")
        return found

    def positive(self, weight: Weight) -> bool:
        """Tells whether a weight is proved to be positive on the whole domain."""
        sides = self._oriented(weight)
        return sides is not None and bool(sides[0]) and self._sign(sides[0]) > 0

    def _oriented(self, weight: Weight) -> tuple[Polynomial, Polynomial] | None:
        function = as_function(weight, self.domain.ring)
        numerator, denominator = function.numerator, function.denominator
        if denominator.is_one():
            return numerator, denominator
        text = str(denominator)
        if text not in self._signs:
            self._signs[text] = self._sign(denominator)
        sign = self._signs[text]
        return None if not sign else (numerator, denominator) if sign > 0 else (-numerator, -denominator)

    def _sign(self, polynomial: Polynomial) -> int:
        """Returns the sign of a polynomial that is proved to have one everywhere, else 0."""
        checks = Checks(self.domain)
        try:
            positive = checks.positive(polynomial, "a denominator")
        except ModelError:
            return 0
        for obligation in checks.obligations:
            if self.session is None:
                self.checks.obligations.append(obligation)
            elif not self._proved(obligation.claim, f"{positive} > 0"):
                return 0
        return 1 if positive == polynomial else -1

    def nonnegative(self, polynomial: Polynomial) -> bool:
        """Tells whether f ≥ 0 is proved on the whole domain."""
        if is_constant(polynomial):
            return not polynomial or bool(polynomial.leading_coefficient() > 0)
        constant = self.domain.constant
        if constant and set(variables(polynomial)) == {GENERATOR}:
            return constant.sign(in_generator(polynomial)) >= 0
        if self.session is None:
            return False
        return self._proved(Claim(polynomial, self.domain), str(polynomial))

    def _proved(self, claim: Claim, text: str) -> bool:
        assert self.session is not None
        if text not in self.decided:
            decision = self.session.decide(claim)
            self.decided[text] = (claim, decision)
            if isinstance(decision.answer, Refuted):
                self.refuted.append(dict(decision.answer.point))
            if isinstance(decision.answer, Open):
                self.open = decision.answer.detail or decision.answer.end.value
        return isinstance(self.decided[text][1].answer, Proved)


def power(ratio: Weight, exponent: int) -> Weight:
    """Returns ratio^exponent, as a number if it is one."""
    if isinstance(ratio, RationalFunction):
        return number_of(ratio) ** exponent if is_number(ratio) else ratio**exponent
    return ratio**exponent


def plain(function: RationalFunction) -> Weight:
    """Returns a rational function as a number if it is one."""
    return number_of(function) if is_number(function) else function


def roots(ratio: Weight, most: int) -> list[Weight]:
    """Returns the numbers or functions r with r^t = ratio for t = 1, 2, ..., `most`; one for each t."""
    function = ratio if isinstance(ratio, RationalFunction) else None
    if function is None or is_number(function):
        number = fmpq(ratio) if function is None else number_of(function)
        found = [_number_root(number, t) for t in range(1, min(most, _bits(number)) + 1)]
        return [root for root in found if root is not None]
    sides = function.numerator.factor(), function.denominator.factor()
    common = gcd(*(int(exponent) for _, factors in sides for _, exponent in factors))
    scale = fmpq(sides[0][0]) / fmpq(sides[1][0])
    roots_found: list[Weight] = []
    for t in range(1, min(most, common) + 1):
        root = _number_root(scale, t)
        if common % t == 0 and root is not None:
            top, bottom = (
                prod(
                    (f ** (int(e) // t) for f, e in factors), start=function.denominator.context().constant(1)
                )
                for _, factors in sides
            )
            roots_found.append(RationalFunction.of(top * root, bottom))
    return roots_found


def _bits(number: fmpq) -> int:
    return max(int(number.p).bit_length(), int(number.q).bit_length())


def _number_root(number: fmpq, t: int) -> fmpq | None:
    """Returns the t-th root of a positive number if it is rational."""
    if t == 1 or number <= 0:
        return number if t == 1 else None
    root = fmpq(number.p.root(t), number.q.root(t))
    return root if root**t == number else None


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
