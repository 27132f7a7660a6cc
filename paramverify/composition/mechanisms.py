"""Mechanisms that a release may be of: noise with an infinite range, and randomised response.

All are about two inputs whose answers differ by the sensitivity. The densities of the noises are log-concave,
so the best tests are thresholds, which tell answers that are nearer to each other apart less well: the pair
dominates those with smaller differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

from flint import arb

from paramverify.composition.losses import Atom, Loss, Losses, Masses, ball
from paramverify.errors import LimitError

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
            raise LimitError(f"a sensitivity above {MOST_ATOMS:,} has too many losses")
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
            raise LimitError(f"so wide a discrete Gaussian has more than {MOST_ATOMS:,} outputs")
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
