"""Probabilities as polynomials in numbers that are enclosed later: totals and values of functions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, NoReturn, TypeVar

from paramverify.algebra.polynomials import Ring
from paramverify.errors import DefectError
from paramverify.models.programs.coefficients import Coefficient

Monomial = tuple[int, ...]  # the numbers of constants, sorted

Thing = TypeVar("Thing", bound=Hashable)


@dataclass(eq=False)
class Numbered(Generic[Thing]):
    """Different things, each with its number, from 0."""

    listed: list[Thing] = field(default_factory=list)
    _places: dict[Thing, int] = field(default_factory=dict)

    def of(self, thing: Thing) -> int:
        """Returns the number of a thing; equal ones have the same."""
        place = self._places.setdefault(thing, len(self.listed))
        if place == len(self.listed):
            self.listed.append(thing)
        return place

    def __getitem__(self, place: int) -> Thing:
        return self.listed[place]


@dataclass(frozen=True, eq=False)
class Share(Coefficient):
    """The number `Σ factor · Π constants` over the monomials.

    It stands where the engine has a coefficient; of the base class only the sign of being zero is used.
    """

    parts: Mapping[Monomial, Fraction] = field(default_factory=dict)

    @staticmethod
    def made(ring: Ring, parts: Mapping[Monomial, Fraction]) -> Share:
        """Returns the number with these monomials."""
        kept = {monomial: factor for monomial, factor in parts.items() if factor}
        return Share(ring, ring.number(int(bool(kept))), (0,) * len(ring.names), None, kept)

    @property
    def text(self) -> str:
        """The same for numbers that are written alike."""
        return str(sorted(self.parts.items()))

    def function(self) -> NoReturn:
        """Not available: the number is enclosed."""
        raise DefectError("a probability that is enclosed has no formula")

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __add__(self, other: Coefficient) -> Share:
        found = dict(self.parts)
        for monomial, factor in parts_of(other).items():
            found[monomial] = found.get(monomial, Fraction(0)) + factor
        return Share.made(self.ring, found)

    def __neg__(self) -> Share:
        return self.times(Fraction(-1))

    def __sub__(self, other: Coefficient) -> Share:
        return self + -other

    def __mul__(self, other: Coefficient) -> Share:
        found: dict[Monomial, Fraction] = {}
        for left, factor in self.parts.items():
            for right, by in parts_of(other).items():
                both = tuple(sorted((*left, *right)))
                found[both] = found.get(both, Fraction(0)) + factor * by
        return Share.made(self.ring, found)

    def times(self, number: Fraction) -> Share:
        """Returns a multiple."""
        return Share.made(self.ring, {m: factor * number for m, factor in self.parts.items()})

    def __truediv__(self, other: Coefficient) -> NoReturn:
        raise DefectError("probabilities that are enclosed are not divided")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Share) and self.parts == other.parts

    __hash__ = None


def parts_of(value: Coefficient) -> Mapping[Monomial, Fraction]:
    """Returns the monomials of a number that is a share."""
    if not isinstance(value, Share):
        raise DefectError("a coefficient of the exact engine came to one that encloses")
    return value.parts
