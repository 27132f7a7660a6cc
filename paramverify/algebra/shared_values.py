"""Rational functions of large expressions, each different subexpression computed once.

Texts that tools write repeat themselves (`(* p p p)` a thousand times over). Here a subexpression is a
number, and an operation on the same numbers gives the number that it gave before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import comb

from flint import fmpq

from paramverify.algebra.evaluation import MAX_BITS
from paramverify.algebra.expressions import MAX_EXPONENT
from paramverify.algebra.polynomials import MAX_DEGREE, MAX_TERMS, Polynomial, RationalFunction, Ring
from paramverify.errors import LimitError

MAX_WORK = 50_000_000  # products of terms, over the whole expression


class SharedValues:
    """The values of subexpressions, by number.

    Every method raises a LimitError where a result would pass the bounds on terms, degree or work, and a
    ZeroDivisionError where a divisor is zero identically.
    """

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.work = 0
        self._values: list[RationalFunction] = []
        self._numbers: dict[tuple[str | int, ...], int] = {}

    def __getitem__(self, number: int) -> RationalFunction:
        return self._values[number]

    def constant(self, value: fmpq) -> int:
        """Returns the number of a constant."""
        key = ("constant", str(value))
        if key not in self._numbers:
            return self._new(key, RationalFunction.of(self.ring.context.constant(value)))
        return self._numbers[key]

    def parameter(self, name: str) -> int:
        """Returns the number of a parameter of the ring."""
        key = ("parameter", name)
        if key not in self._numbers:
            return self._new(key, RationalFunction.of(self.ring.variable(name)))
        return self._numbers[key]

    def total(self, parts: Sequence[int]) -> int:
        """Returns the sum."""
        return parts[0] if len(parts) == 1 else self._once("+", *parts)

    def product(self, parts: Sequence[int]) -> int:
        """Returns the product."""
        return parts[0] if len(parts) == 1 else self._once("*", *parts)

    def negative(self, part: int) -> int:
        """Returns the negative."""
        return self._once("neg", part)

    def quotient(self, above: int, below: int) -> int:
        """Returns the quotient."""
        return self._once("/", above, below)

    def power(self, base: int, exponent: int) -> int:
        """Returns a power; the exponent is not negative."""
        return base if exponent == 1 else self._once("**", base, exponent)

    def _new(self, key: tuple[str | int, ...], value: RationalFunction) -> int:
        self._values.append(value)
        self._numbers[key] = len(self._values) - 1
        return self._numbers[key]

    def _once(self, word: str, *parts: int) -> int:
        known = self._numbers.get((word, *parts))
        return self._new((word, *parts), self._compute(word, parts)) if known is None else known

    def _compute(self, word: str, parts: Sequence[int]) -> RationalFunction:
        if word == "**":
            return self._power(self[parts[0]], parts[1])
        values = [self[part] for part in parts]
        if word == "neg":
            return -values[0]
        if word == "/":
            if not values[1].numerator:
                raise ZeroDivisionError("division by zero")
            inverse = RationalFunction.of(values[1].denominator, values[1].numerator)
            return self._product([values[0], inverse])
        if word == "*":
            return self._product([self._power(self[part], count) for part, count in Counter(parts).items()])
        return self._sum(values)

    def _sum(self, values: Iterable[RationalFunction]) -> RationalFunction:
        """Adds numerators over the same denominator first; then the few different fractions."""
        groups: dict[str, tuple[Polynomial, list[Polynomial]]] = {}
        for value in values:
            below = value.denominator
            name = "1" if below.is_one() else str(below)
            groups.setdefault(name, (below, []))[1].append(value.numerator)
        fractions = [RationalFunction.of(self._added(above), below) for below, above in groups.values()]
        while len(fractions) > 1:
            pairs = []
            for a, b in zip(fractions[::2], fractions[1::2], strict=False):
                self._allow(a.numerator, b.denominator)
                self._allow(b.numerator, a.denominator)
                self._allow(a.denominator, b.denominator)
                pairs.append(a + b)
            fractions = pairs + fractions[len(pairs) * 2 :]
        return fractions[0]

    def _added(self, parts: list[Polynomial]) -> Polynomial:
        """Adds in pairs, so that a term is copied log n times instead of n times."""
        while len(parts) > 1:
            self._spend(sum(map(len, parts)) // 8)
            pairs = [a + b for a, b in zip(parts[::2], parts[1::2], strict=False)]
            parts = pairs + parts[len(pairs) * 2 :]
        return parts[0]

    def _product(self, values: list[RationalFunction]) -> RationalFunction:
        above = self._multiplied([v.numerator for v in values])
        below = self._multiplied([v.denominator for v in values if not v.denominator.is_one()])
        self._allow(above, below)  # what a gcd costs at least
        return RationalFunction.of(above, below)

    def _multiplied(self, parts: list[Polynomial]) -> Polynomial:
        while len(parts) > 1:
            pairs = []
            for a, b in zip(parts[::2], parts[1::2], strict=False):
                self._allow(a, b)
                pairs.append(a * b)
            parts = pairs + parts[len(pairs) * 2 :]
        return parts[0] if parts else self.ring.number(1)

    def _power(self, base: RationalFunction, exponent: int) -> RationalFunction:
        if exponent == 1:
            return base
        for part in (base.numerator, base.denominator):
            terms = len(part)
            bits = max((max(int(c.p).bit_length(), int(c.q).bit_length()) for c in part.coeffs()), default=1)
            degree = max(map(int, part.degrees()), default=0) * exponent
            if degree > MAX_DEGREE or bits * exponent > MAX_BITS:
                raise LimitError("a power is too large to be expanded")
            if terms > 1:
                expected = comb(terms + exponent - 1, exponent) if exponent <= MAX_EXPONENT else MAX_TERMS + 1
                if expected > MAX_TERMS:
                    raise LimitError("a power is too large to be expanded")
                self._spend(expected * terms)
        return base**exponent

    def _allow(self, left: Polynomial, right: Polynomial) -> None:
        """Counts the work of a product, and refuses one that is too large."""
        degrees = (int(a) + int(b) for a, b in zip(left.degrees(), right.degrees(), strict=True))
        if max(degrees, default=0) > MAX_DEGREE:
            raise LimitError(f"the degree in one parameter would pass {MAX_DEGREE:,}")
        self._spend(len(left) * len(right))

    def _spend(self, work: int) -> None:
        self.work += work
        if self.work > MAX_WORK:
            raise LimitError("too large to be expanded into a quotient of polynomials")
