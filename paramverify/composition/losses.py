"""The privacy loss of one release: atoms, a part with a density, and what is left beyond both ends."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from flint import arb, fmpq

Masses = tuple[arb, arb]  # of a set of outputs: under P, and under Q
Exactly = tuple[Fraction, Fraction]

NOTHING: Masses = (arb(0), arb(0))


def ball(value: Fraction | int) -> arb:
    """Returns a ball around a rational number, at flint's working precision."""
    whole = Fraction(value)
    return arb(fmpq(whole.numerator, whole.denominator))


def may_be(mass: arb) -> bool:
    """Tells whether a mass may be above 0: a tiny one has a ball that contains 0, and `!=` then says no."""
    return not mass.is_zero()


@dataclass(frozen=True)
class Loss:
    """The number `rational + ln(ratio)`, with a positive ratio."""

    rational: Fraction = Fraction(0)
    ratio: Fraction = Fraction(1)

    def ball(self) -> arb:
        """Returns a ball around it, at the working precision."""
        found = ball(self.rational)
        return found if self.ratio == 1 else found + ball(self.ratio).log()

    def exponential(self) -> arb:
        """Returns a ball around exp of it."""
        found = ball(self.ratio)
        return found if not self.rational else found * ball(self.rational).exp()

    def document(self) -> list[str]:
        """Returns both numbers as evidence has them."""
        return [str(self.rational), str(self.ratio)]

    def times(self, factor: int) -> Loss:
        """Returns a whole multiple."""
        return Loss(self.rational * factor, self.ratio**factor)

    def plus(self, other: Loss) -> Loss:
        """Returns the sum."""
        return Loss(self.rational + other.rational, self.ratio * other.ratio)

    @property
    def turned(self) -> Loss:
        """The number times −1."""
        return self.times(-1)


ZERO = Loss()


@dataclass(frozen=True)
class Atom:
    """An output, or several with one loss: masses under P and Q, both positive, and ln of their quotient.

    `loss` is a `Loss` where it is known as such, else a ball. `exact` are the masses where they are rational.
    """

    masses: Masses
    loss: Loss | arb
    exact: Exactly | None = None

    @staticmethod
    def of(p: Fraction, q: Fraction) -> Atom:
        """Returns the atom with positive rational masses."""
        return Atom((ball(p), ball(q)), Loss(ratio=p / q), (p, q))

    @property
    def turned(self) -> Atom:
        """The same with P and Q exchanged."""
        loss = self.loss.turned if isinstance(self.loss, Loss) else -self.loss
        return Atom((self.masses[1], self.masses[0]), loss, self.exact and (self.exact[1], self.exact[0]))


class Smooth(Protocol):
    """The part of a release whose loss L has a density, under P and under Q."""

    @property
    def bounded(self) -> bool:
        """Whether all its losses lie between those of atoms of the release."""

    @property
    def endless(self) -> tuple[bool, bool]:
        """Whether it has losses above every number, and below every number."""

    def over(self, loss: arb) -> Masses:
        """Returns the masses of L > loss; no output of this part has exactly this loss."""

    def under(self, loss: arb) -> Masses:
        """Returns the masses of L < loss."""

    def span(self, bits: int) -> tuple[arb, arb]:
        """Returns losses beyond which both masses are small, about 2^−bits: a choice, and no bound."""


@dataclass(frozen=True)
class Losses:
    """The loss of one release, P against Q: all its outputs, with balls at the working precision.

    `only` are the masses under P of outputs that are impossible under Q, and the other way around. Of the
    outputs `above` and `below` only bounds of both masses are known, from above. Their losses are larger than
    those of all atoms, or smaller.
    """

    atoms: tuple[Atom, ...] = ()
    smooth: Smooth | None = None
    only: Masses = NOTHING
    above: Masses = NOTHING
    below: Masses = NOTHING

    @property
    def exact(self) -> tuple[Exactly, ...] | None:
        """All outputs with rational masses, P-only ones with 0 for Q; None where it is no such list."""
        if self.smooth is not None or any(map(may_be, (*self.above, *self.below))):
            return None
        sides = [Fraction(1 - sum(a.exact[side] for a in self.atoms if a.exact)) for side in (0, 1)]
        if not all(a.exact for a in self.atoms):
            return None
        found = [a.exact for a in self.atoms if a.exact]
        return tuple(
            found + [rest for rest in ((sides[0], Fraction(0)), (Fraction(0), sides[1])) if any(rest)]
        )


class Release(Protocol):
    """What P and Q are; `losses` says it at a precision of so many bits."""

    def losses(self, bits: int) -> Losses:
        """Returns the loss with balls that are about 2^−bits wide."""

    def document(self) -> dict[str, Any]:
        """Returns what evidence says of it, for `checker.releases`.

        Raises:
            InputError: the kernel knows no such release.
        """
