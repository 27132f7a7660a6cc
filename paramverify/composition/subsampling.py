"""Releases of a Poisson sample: each person is in it with the same probability, and without the others."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from paramverify.composition.losses import Atom, Loss, Losses, Masses, Release, Smooth, ball, may_be
from paramverify.composition.mechanisms import MassTable


@dataclass(frozen=True)
class SubsampledRelease:
    """A release of a sample that has each person with probability `rate`; neighbours have one person less.

    Let P and Q be the release with the person in the sample, and without. Then M = (1−rate)·Q + rate·P is
    the release where the person is in the data. This is M against Q. If (P, Q) dominates the release, so do
    these two that of the sample ([ZhuDW22]).
    """

    whole: Release
    rate: Fraction

    def losses(self, bits: int) -> Losses:
        """Returns the loss L' with e^L' = 1 − rate + rate·e^L."""
        found = self.whole.losses(bits)
        exact = found.exact
        if exact is not None:
            mixed = tuple(((1 - self.rate) * q + self.rate * p, q) for p, q in exact)
            return MassTable(tuple(pair for pair in mixed if any(pair))).losses(bits)
        rate = ball(self.rate)
        atoms = [self._atom(atom, rate) for atom in found.atoms]
        only, rest = (rate * found.only[0], arb(0)), 1 - self.rate
        if may_be(found.only[1]) and rest:
            atoms.append(Atom((found.only[1] * ball(rest), found.only[1]), Loss(ratio=rest)))
        elif may_be(found.only[1]):
            only = (only[0], found.only[1])
        above, below = ((_mixed(tail, rate), tail[1]) for tail in (found.above, found.below))
        smooth = found.smooth and _Mixed(found.smooth, self.rate)
        return Losses(tuple(atoms), smooth=smooth, only=only, above=above, below=below)

    def document(self) -> dict[str, Any]:
        """Returns what evidence says of it."""
        return {"kind": "sampled", "of": self.whole.document(), "rate": str(self.rate)}

    def _atom(self, atom: Atom, rate: arb) -> Atom:
        masses = _mixed(atom.masses, rate), atom.masses[1]
        if isinstance(atom.loss, Loss) and (atom.loss == Loss() or self.rate == 1):
            return Atom(masses, atom.loss)
        grown = atom.loss.exponential() if isinstance(atom.loss, Loss) else atom.loss.exp()
        return Atom(masses, (1 - rate + rate * grown).log())


def _mixed(masses: Masses, rate: arb) -> arb:
    """Returns the mass under M."""
    return (1 - rate) * masses[1] + rate * masses[0]


@dataclass(frozen=True)
class _Mixed:
    """The part with a density; L' > l' where L > t with e^t = (e^l' − 1 + rate)/rate."""

    whole: Smooth
    rate: Fraction

    @property
    def bounded(self) -> bool:
        return self.whole.bounded

    @property
    def endless(self) -> tuple[bool, bool]:
        return self.whole.endless[0], False

    def over(self, loss: arb) -> Masses:
        place = self._place(loss)
        return self._masses(self._all() if place is None else self.whole.over(place))

    def under(self, loss: arb) -> Masses:
        place = self._place(loss)
        return (arb(0), arb(0)) if place is None else self._masses(self.whole.under(place))

    def span(self, bits: int) -> tuple[arb, arb]:
        low, high = (self._loss(end) for end in self.whole.span(bits))
        return low, high

    def _masses(self, masses: Masses) -> Masses:
        return _mixed(masses, ball(self.rate)), masses[1]

    def _all(self) -> Masses:
        middle = arb(0)
        one, other = self.whole.over(middle), self.whole.under(middle)
        return one[0] + other[0], one[1] + other[1]

    def _loss(self, loss: arb) -> arb:
        rate = ball(self.rate)
        return (1 - rate + rate * loss.exp()).log()

    def _place(self, loss: arb) -> arb | None:
        """Returns t; None where all losses are larger. It contains all t of the ball."""
        rate = ball(self.rate)
        grown = (loss.exp() - (1 - rate)) / rate
        if grown <= 0:
            return None
        if grown > 0:
            return grown.log()
        return (-1 / arb(0)).union(grown.upper().log())


@dataclass(frozen=True)
class Turned:
    """A release with P and Q exchanged."""

    whole: Release

    def losses(self, bits: int) -> Losses:
        """Returns the loss, which is the negative one."""
        found = self.whole.losses(bits)
        return Losses(
            tuple(atom.turned for atom in found.atoms),
            smooth=found.smooth and _Turned(found.smooth),
            only=_swapped(found.only),
            above=_swapped(found.below),
            below=_swapped(found.above),
        )

    def document(self) -> dict[str, Any]:
        """Returns what evidence says of it."""
        return {"kind": "turned", "of": self.whole.document()}


@dataclass(frozen=True)
class _Turned:
    whole: Smooth

    @property
    def bounded(self) -> bool:
        return self.whole.bounded

    @property
    def endless(self) -> tuple[bool, bool]:
        return self.whole.endless[1], self.whole.endless[0]

    def over(self, loss: arb) -> Masses:
        return _swapped(self.whole.under(-loss))

    def under(self, loss: arb) -> Masses:
        return _swapped(self.whole.over(-loss))

    def span(self, bits: int) -> tuple[arb, arb]:
        low, high = self.whole.span(bits)
        return -high, -low


def _swapped(masses: Masses) -> Masses:
    return masses[1], masses[0]
