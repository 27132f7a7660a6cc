"""What is asked for: a polynomial as a sum of products, each times a sum of squares in a given basis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import fmpq

from paramverify.algebra.polynomials import Point, Polynomial, Ring, fraction, rational
from paramverify.evidence.certificates import Side, SquareTerm

Column = Mapping[tuple[int, ...], fmpq]  # coefficients by monomial


@dataclass(frozen=True, eq=False)
class Block:
    """Squares of combinations of a basis, times a product of sides; `weight` is that product expanded."""

    sides: tuple[Side, ...]
    weight: Polynomial
    basis: tuple[Polynomial, ...]

    @property
    def entries(self) -> int:
        """The number of unknowns: entries of a symmetric matrix, those below the diagonal left out."""
        return len(self.basis) * (len(self.basis) + 1) // 2


@dataclass(frozen=True, eq=False)
class GramProblem:
    """To find positive semidefinite Q with target = Σ weight·(basisᵀ·Q·basis), summed over the blocks.

    `multiplier` are the terms of which the claim's polynomial was multiplied by the sum; none for 1.
    """

    target: Polynomial
    blocks: tuple[Block, ...]
    multiplier: tuple[SquareTerm, ...] = ()

    @cached_property
    def columns(self) -> list[Column]:
        """For each unknown the polynomial by which the sum grows, blocks and then columns in order."""
        result: list[Column] = []
        for block in self.blocks:
            for j, right in enumerate(block.basis):
                product = block.weight * right
                for i, left in enumerate(block.basis[: j + 1]):
                    result.append((product * left * (1 if i == j else 2)).to_dict())
        return result

    @property
    def entries(self) -> int:
        """The number of unknowns."""
        return sum(block.entries for block in self.blocks)


def side_polynomial(ring: Ring, side: Side, constraints: Sequence[Polynomial]) -> Polynomial:
    """Returns x − a, b − x, or the constraint: what is at least zero on the domain."""
    kind, what, *end = side
    if kind == "constraint":
        return constraints[int(what)]
    difference = ring.variable(str(what)) - ring.number(Fraction(end[0]))
    return difference if kind == "low" else -difference


def monomial(ring: Ring, exponents: Sequence[int]) -> Polynomial:
    """Returns the monomial with these exponents."""
    return ring.context.from_dict({tuple(exponents): fmpq(1)})


def exponents_of(polynomial: Polynomial) -> list[tuple[int, ...]]:
    """Returns the exponents of the terms."""
    return [tuple(map(int, x)) for x in polynomial.to_dict()]


def value(polynomial: Polynomial, point: Point) -> Fraction:
    """Returns the value at a point that gives all variables of the ring, those that do not occur as well."""
    names = [str(n) for n in polynomial.context().names()]
    return fraction(polynomial(*(rational(point.get(n, Fraction(0))) for n in names)))
