"""What `proofs/theories/Symbolic.v` computes of a formula: fractions that are not in lowest terms.

So it is known before Coq is asked which polynomials it must know to be positive, and which claims it makes.
Nothing rests on this: where it differs from Coq, Coq rejects the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import gcd

from paramverify.algebra.expressions import Name, Node, Operation, RationalConstant
from paramverify.algebra.polynomials import Polynomial, Ring, constant_value, is_constant
from paramverify.errors import UnsupportedError

MAX_TERMS = 1_500  # of one polynomial
Orient = Callable[[Polynomial, Node], int]  # the sign that a divisor has on the whole domain


@dataclass(frozen=True)
class Unreduced:
    """top / (low · bottom), with whole coefficients, low > 0, and bottom > 0 on the domain."""

    top: Polynomial
    low: int
    bottom: Polynomial


def _checked(fraction: Unreduced) -> Unreduced:
    """Returns a fraction.

    Raises:
        UnsupportedError: it is too large.
    """
    if max(len(fraction.top), len(fraction.bottom)) > MAX_TERMS:
        raise UnsupportedError("a fraction is too large for Coq, which does not bring it to lowest terms")
    return fraction


@dataclass(frozen=True)
class Fractions:
    """Fractions of formulas in a ring; `known` are functions of the case, `orient` is asked of divisors.

    `power` says what an exponential is: powers of variables of the ring.
    """

    ring: Ring
    known: Mapping[str, Unreduced]
    orient: Orient
    power: Callable[[Operation], Node]

    def of(self, node: Node) -> Unreduced:
        """Returns the fraction that Coq computes of a formula."""
        if isinstance(node, RationalConstant):
            top = self._whole(node.value.numerator)
            return (
                top
                if node.value.denominator == 1
                else self._over(top, self._whole(node.value.denominator), node)
            )
        if isinstance(node, Name):
            return self.known[node.name] if node.name in self.known else self._single(node.name)
        assert isinstance(node, Operation)
        first, *rest = node.arguments
        if node.operator == "exp":
            return self.of(self.power(node))
        if node.operator == "neg":
            return self._times(self._whole(-1), self.of(first))
        if node.operator == "**":
            assert isinstance(rest[0], RationalConstant)
            base, found = self.of(first), self._whole(1)
            for _ in range(int(rest[0].value)):
                found = self._times(base, found)
            return found
        found = self.of(first)
        for part in rest:
            if node.operator == "/":
                found = self._over(found, self.of(part), part)
            elif node.operator == "*":
                found = self._times(found, self.of(part))
            elif isinstance(part, Operation) and part.operator == "neg":
                other = self.of(part.arguments[0])
                found = self._plus(found, Unreduced(-other.top, other.low, other.bottom))
            else:
                found = self._plus(found, self.of(part))
        return found

    def gap(self, left: Unreduced, right: Unreduced) -> Polynomial:
        """Returns right − left times positive numbers, as Coq computes it."""
        if left.bottom == right.bottom:
            return left.low * right.top - right.low * left.top
        return left.low * (right.top * left.bottom) - right.low * (left.top * right.bottom)

    def _whole(self, value: int) -> Unreduced:
        return Unreduced(self.ring.number(value), 1, self.ring.number(1))

    def _single(self, name: str) -> Unreduced:
        return Unreduced(self.ring.variable(name), 1, self.ring.number(1))

    def _plus(self, f: Unreduced, g: Unreduced) -> Unreduced:
        common = gcd(f.low, g.low)
        a, b = f.low // common, g.low // common
        if f.bottom == g.bottom:
            return _checked(Unreduced(b * f.top + a * g.top, f.low * b, f.bottom))
        top = b * (f.top * g.bottom) + a * (g.top * f.bottom)
        return _checked(Unreduced(top, f.low * b, f.bottom * g.bottom))

    def _times(self, f: Unreduced, g: Unreduced) -> Unreduced:
        return _checked(Unreduced(f.top * g.top, f.low * g.low, f.bottom * g.bottom))

    def _over(self, f: Unreduced, g: Unreduced, divisor: Node) -> Unreduced:
        """Returns the quotient, with a bottom that is positive."""
        if is_constant(g.top):
            value = int(constant_value(g.top))
            sign, inverse = (1 if value > 0 else -1), self.ring.number(1)
            return self._times(f, Unreduced(sign * g.low * g.bottom, abs(value), inverse))
        sign = self.orient(g.top, divisor)
        return self._times(f, Unreduced(sign * g.low * g.bottom, 1, sign * g.top))
