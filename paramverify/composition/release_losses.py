"""The privacy loss of one release.

Of noise with an infinite range, randomised response, and Poisson samples.

All are about two inputs whose answers differ by the sensitivity. The densities of the noises are log-concave,
so the best tests are thresholds, which tell answers that are nearer to each other apart less well: the pair
dominates those with smaller differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, Protocol

from flint import arb, fmpq

from paramverify.errors import LimitError

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
        """Returns what evidence says of it, for `checker.release_losses`.

        Raises:
            InputError: the kernel knows no such release.
        """


MOST_ATOMS = 200_000


@dataclass(frozen=True)
class Gaussian:
    """Normal noise with standard deviation `sigma`; both positive.

    With μ = sensitivity/sigma it is N(μ, 1) against N(0, 1), and the loss at x is μ·x − μ²/2.
    """

    sigma: Fraction
    sensitivity: Fraction = Fraction(1)

    def losses(self, bits: int) -> Losses:
        """Returns the loss; it has a density."""
        del bits
        return Losses(smooth=_Normal(self.sensitivity / self.sigma))

    def document(self) -> dict[str, Any]:
        """Returns what evidence says of it."""
        return {"kind": "gaussian", "sigma": str(self.sigma), "sensitivity": str(self.sensitivity)}


@dataclass(frozen=True)
class _Normal:
    shift: Fraction
    bounded: bool = False
    endless: tuple[bool, bool] = (True, True)

    def over(self, loss: arb) -> Masses:
        x, mean = self._place(loss)
        return _above(x - mean), _above(x)

    def under(self, loss: arb) -> Masses:
        x, mean = self._place(loss)
        return _above(mean - x), _above(-x)

    def span(self, bits: int) -> tuple[arb, arb]:
        far = ball(isqrt(2 * bits) + 1)  # erfc(z/√2) < e^(−z²/2)
        mean = ball(self.shift)
        return -mean * far - mean * mean / 2, mean * far + mean * mean / 2

    def _place(self, loss: arb) -> tuple[arb, arb]:
        mean = ball(self.shift)
        return loss / mean + mean / 2, mean


def _above(x: arb) -> arb:
    """Returns the mass of the standard normal distribution above x."""
    return (x / arb(2).sqrt()).erfc() / 2


@dataclass(frozen=True)
class Laplace:
    """Laplace noise with density e^(−|x|/scale)/(2·scale).

    The loss is at one of its ends ±sensitivity/scale with positive masses, and has a density between them.
    """

    scale: Fraction
    sensitivity: Fraction = Fraction(1)

    def losses(self, bits: int) -> Losses:
        """Returns the loss: two atoms, and the part between them."""
        del bits
        most = self.sensitivity / self.scale
        small = ball(-most).exp() / 2
        high = Atom((arb(1) / 2, small), Loss(most))
        return Losses((high, high.turned), smooth=_BetweenEnds(most))

    def document(self) -> dict[str, Any]:
        """Returns what evidence says of it."""
        return {"kind": "laplace", "scale": str(self.scale), "sensitivity": str(self.sensitivity)}


@dataclass(frozen=True)
class _BetweenEnds:
    """The part with −most < L < most: P(L > l) = ½ − ½·e^((l−most)/2), and Q(L > l) mirrored."""

    most: Fraction
    bounded: bool = True
    endless: tuple[bool, bool] = (False, False)

    def over(self, loss: arb) -> Masses:
        inside, end = self._inside(loss)
        return (1 - ((inside - end) / 2).exp()) / 2, ((-(inside + end) / 2).exp() - (-end).exp()) / 2

    def under(self, loss: arb) -> Masses:
        q, p = self.over(-loss)
        return p, q

    def span(self, bits: int) -> tuple[arb, arb]:
        del bits
        return -ball(self.most), ball(self.most)

    def _inside(self, loss: arb) -> tuple[arb, arb]:
        end = ball(self.most)
        return loss.min(end).max(-end), end


@dataclass(frozen=True)
class DiscreteLaplace:
    """Two-sided geometric noise on all whole numbers: (1−a)/(1+a)·a^|x|; [Ghosh09].

    `step` is −ln a, exactly. The loss has the values (2j − sensitivity)·step for j from 0 to the sensitivity.
    """

    step: Loss
    sensitivity: int = 1

    def losses(self, bits: int) -> Losses:
        """Returns the loss: finitely many atoms, with rational masses where a is rational."""
        del bits
        if self.sensitivity > MOST_ATOMS:
            raise LimitError(f"the sensitivity must be at most {MOST_ATOMS:,}")
        far = self.sensitivity
        return Losses(tuple(self._atom(x) for x in range(far + 1)))

    def document(self) -> dict[str, Any]:
        """Returns what evidence says of it."""
        return {
            "kind": "discrete_laplace",
            "step": self.step.document(),
            "sensitivity": str(self.sensitivity),
        }

    def _atom(self, x: int) -> Atom:
        """Returns the outputs x, with all below 0 or above the sensitivity at these ends."""
        far = self.sensitivity
        loss = self.step.times(2 * x - far)
        if not self.step.rational:
            a = 1 / self.step.ratio
            factor = 1 / (1 + a) if x in (0, far) else (1 - a) / (1 + a)
            return Atom.of(factor * a ** (far - x), factor * a**x)
        fall = self.step.turned.exponential()
        share = 1 / (1 + fall) if x in (0, far) else (1 - fall) / (1 + fall)
        one, other = (self.step.times(-n).exponential() for n in (far - x, x))
        return Atom((share * one, share * other), loss)


@dataclass(frozen=True)
class DiscreteGaussian:
    """Noise x with probability proportional to e^(−x²/(2·sigma²)) on all whole numbers; [CanonneKS20].

    The loss at x is (2x − sensitivity)·sensitivity/(2·sigma²), with the mean of P at the sensitivity.
    """

    sigma: Fraction
    sensitivity: int = 1

    def losses(self, bits: int) -> Losses:
        """Returns the loss: atoms, and outside of them tails with at most 2^−bits of all."""
        variance = self.sigma**2
        far = self.sensitivity + 2 + isqrt(int(2 * variance * bits))
        if 2 * far > MOST_ATOMS:
            raise LimitError(f"sigma is too large: the noise has more than {MOST_ATOMS:,} outputs")
        # Σ_(x>n) e^(−x²/(2σ²)) ≤ e^(−n²/(2σ²))·σ·√(π/2): the sum is below the integral from n on, and
        # ∫_n^∞ e^(−x²/(2σ²)) dx ≤ e^(−n²/(2σ²))·∫_0^∞ e^(−x²/(2σ²)) dx.
        weights = [(ball(-Fraction(x * x) / (2 * variance))).exp() for x in range(far + 1)]
        rest = weights[far - self.sensitivity] * ball(self.sigma) * (arb.pi() / 2).sqrt()
        rest = rest.upper()
        inner = 2 * sum(weights[1:], arb(0)) + weights[0]
        total = inner.union(inner + 2 * rest)
        atoms = []
        for x in range(self.sensitivity - far, far + 1):
            masses = (weights[abs(x - self.sensitivity)] / total, weights[abs(x)] / total)
            loss = Fraction((2 * x - self.sensitivity) * self.sensitivity) / (2 * variance)
            atoms.append(Atom(masses, Loss(loss)))
        tail = (rest / total).upper()
        return Losses(tuple(atoms), above=(tail, tail), below=(tail, tail))

    def document(self) -> dict[str, Any]:
        """Returns what evidence says of it."""
        return {
            "kind": "discrete_gaussian",
            "sigma": str(self.sigma),
            "sensitivity": str(self.sensitivity),
        }


@dataclass(frozen=True)
class MassTable:
    """A pair of distributions with finitely many outputs: rational masses P and Q of each, which sum to 1."""

    outputs: tuple[tuple[Fraction, Fraction], ...]

    def losses(self, bits: int) -> Losses:
        """Returns the loss: atoms, those with one loss as one."""
        del bits
        found: dict[Fraction, tuple[Fraction, Fraction]] = {}
        only = [Fraction(0), Fraction(0)]
        for p, q in self.outputs:
            if p and q:
                one, other = found.get(p / q, (Fraction(0), Fraction(0)))
                found[p / q] = one + p, other + q
            else:
                only = [only[0] + p, only[1] + q]
        atoms = tuple(Atom.of(p, q) for p, q in found.values())
        return Losses(atoms, only=(ball(only[0]), ball(only[1])))

    def document(self) -> dict[str, Any]:
        """Returns what evidence says of it."""
        return {"kind": "table", "outputs": [[str(p), str(q)] for p, q in self.outputs]}


@dataclass(frozen=True)
class Response:
    """Randomised response: the truth, or one of the other values, each `step` less likely in ln; [Warner65].

    Both records are told with loss ±step; the other values have loss 0.
    """

    step: Loss
    values: int = 2

    def losses(self, bits: int) -> Losses:
        """Returns the loss: two atoms, and one of loss 0 where there are other values."""
        del bits
        others = self.values - 2
        if not self.step.rational:
            c = self.step.ratio
            bottom = c + 1 + others
            listed = [(c / bottom, 1 / bottom), (1 / bottom, c / bottom)]
            rest = Fraction(others) / bottom
            return MassTable((*listed, (rest, rest)) if others else tuple(listed)).losses(0)
        large = self.step.exponential()
        total = large + 1 + others
        high = Atom((large / total, 1 / total), self.step)
        middle = [Atom((others / total, others / total), Loss())] if others else []
        return Losses((high, high.turned, *middle))

    def document(self) -> dict[str, Any]:
        """Returns what evidence says of it."""
        return {"kind": "randomized_response", "step": self.step.document(), "values": str(self.values)}


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
