"""Privacy losses of releases between whole numbers, with proved rounding.

A release is a pair of distributions P and Q of its output; the loss of an output is ln(P/Q). Here it is a
list of atoms with a known loss, a part with a density, and bounds of what is left. All is times 2^BITS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt
from typing import Any

from .evidence_polynomials import number
from .noise_probabilities import above_normal
from .rounded_constants import UNIT, Ends, down, exp, ln, times, up
from .strict_reading import Misformed, Rejected

MOST_ATOMS = 20_000
FAR = 125  # e^(−FAR) is below 2^−180

Between = tuple[Fraction, Fraction]
ONCE: Between = (Fraction(1), Fraction(1))


@dataclass(frozen=True)
class ExactLoss:
    """The number rational + ln(ratio), with a positive ratio."""

    rational: Fraction = Fraction(0)
    ratio: Fraction = Fraction(1)

    def ends(self) -> Ends:
        """Returns bounds."""
        low, high = ln(self.ratio)
        return down(self.rational) + low, up(self.rational) + high

    def exponential(self) -> Between:
        """Returns bounds of e^loss, twice the same where it is rational."""
        if not self.rational:
            return self.ratio, self.ratio
        low, high = exp(*self.ends())
        return Fraction(low, UNIT), Fraction(high, UNIT)

    def times(self, n: int) -> ExactLoss:
        """Returns a whole multiple."""
        return ExactLoss(self.rational * n, self.ratio**n)

    def plus(self, other: ExactLoss) -> ExactLoss:
        """Returns the sum."""
        return ExactLoss(self.rational + other.rational, self.ratio * other.ratio)


@dataclass(frozen=True)
class LossAtom:
    """Outputs with one loss: bounds of their mass under P; `loss` are bounds too where it is not exact."""

    mass: Ends
    loss: ExactLoss | Ends
    other: Ends  # under Q

    def ends(self) -> Ends:
        """Returns bounds of the loss."""
        return self.loss.ends() if isinstance(self.loss, ExactLoss) else self.loss


# Bounds of the masses under P and Q of the outputs of a density with a loss above that between two numbers.
Over = Callable[[Ends], tuple[Ends, Ends]]
NOTHING: tuple[Ends, Ends] = ((0, 0), (0, 0))


@dataclass(frozen=True)
class ReleaseLosses:
    """A release. `exact` are the masses of all outputs, where these are rational.

    `only` bounds the mass P of outputs that are impossible under Q; there are some in exact releases only.
    `above` and `below` bound masses of outputs with losses above and below those of all atoms.
    """

    atoms: tuple[LossAtom, ...] = ()
    over: Over = lambda loss: NOTHING
    whole: tuple[Ends, Ends] = NOTHING  # of the part with a density
    only: Ends = (0, 0)
    above: tuple[int, int] = (0, 0)
    below: tuple[int, int] = (0, 0)
    most: ExactLoss | None = None  # the largest loss, if it is exact, and no other output has a larger one
    exact: tuple[tuple[Fraction, Fraction], ...] | None = field(default=None)


def loss_of(written: Any) -> ExactLoss:
    """Reads a loss: a rational number, and a number whose logarithm is added."""
    rational, ratio = map(number, written)
    if ratio <= 0:
        raise Misformed("not a positive number", "ratio")
    return ExactLoss(rational, ratio)


def read(written: Mapping[str, Any]) -> ReleaseLosses:
    """Reads a release.

    Raises:
        Rejected: it is none.
    """
    return _KINDS[written["kind"]](written)


def _between(value: Fraction) -> Ends:
    return down(value), up(value)


def _positive(written: Mapping[str, Any], name: str) -> Fraction:
    value = number(written[name])
    if value <= 0:
        raise Misformed("not above 0", name)
    return value


def _whole(written: Mapping[str, Any], name: str) -> int:
    value = _positive(written, name)
    if value.denominator != 1 or value > MOST_ATOMS:
        raise Misformed("not a whole number, or too large", name)
    return int(value)


def table(outputs: list[tuple[Fraction, Fraction]]) -> ReleaseLosses:
    """Returns the release of a list of outputs with rational masses.

    Raises:
        Rejected: they are no distributions.
    """
    if any(p < 0 or q < 0 for p, q in outputs) or any(sum(side) != 1 for side in zip(*outputs, strict=True)):
        raise Misformed("not two distributions", "outputs")
    found: dict[Fraction | None, tuple[Fraction, Fraction]] = {}
    for p, q in outputs:
        ratio = p / q if q else None
        one, other = found.get(ratio, (Fraction(0), Fraction(0)))
        found[ratio] = one + p, other + q
    only, _ = found.pop(None, (Fraction(0), Fraction(0)))
    atoms = tuple(LossAtom(_between(p), ExactLoss(ratio=r), _between(q)) for r, (p, q) in found.items() if r)
    most = None if only else ExactLoss(ratio=max(r for r in found if r))
    return ReleaseLosses(atoms, only=_between(only), most=most, exact=(*found.values(), (only, Fraction(0))))


def _table(written: Mapping[str, Any]) -> ReleaseLosses:
    return table([(number(p), number(q)) for p, q in written["outputs"]])


def _weighted(
    outputs: Iterable[tuple[Between, ExactLoss, ExactLoss]], rest: Fraction = Fraction(0)
) -> ReleaseLosses:
    """Returns the release of outputs with weights c·e^x under P and c·e^y under Q, which have the same sum.

    Further outputs with losses above and below all others have a weight of at most `rest` on each side. If
    there are none, the first output has the largest loss.
    """
    weights, losses = [], []
    for share, x, y in outputs:
        ends = x.exponential(), y.exponential()
        weights.append([(share[0] * low, share[1] * high) for low, high in ends])
        losses.append(x.plus(y.times(-1)))
    low, high = (sum((p[k] for p, _ in weights), 2 * rest * k) for k in (0, 1))
    if low == high:
        return table([(p / low, q / low) for (p, _), (q, _) in weights])
    masses = [[(down(least / high), up(most / low)) for least, most in each] for each in weights]
    atoms = tuple(LossAtom(p, loss, q) for (p, q), loss in zip(masses, losses, strict=True))
    more = (up(rest / low),) * 2
    return ReleaseLosses(atoms, above=more, below=more, most=None if rest else losses[0])


def _response(written: Mapping[str, Any]) -> ReleaseLosses:
    """Randomised response: the truth, or one of the other values, each e^step less likely."""
    step, others = loss_of(written["step"]), _whole(written, "values") - 2
    if others < 0 or step.ends()[0] < 0:
        raise Misformed("not a randomised response", "values")
    true, false, rest = ExactLoss(), step.times(-1), (Fraction(others),) * 2
    return _weighted([(ONCE, true, false), (ONCE, false, true), (rest, false, false)])


def _discrete_laplace(written: Mapping[str, Any]) -> ReleaseLosses:
    """Noise with weight a^|x|, a = e^(−step), on whole numbers: losses (2x − s)·step, s is the sensitivity.

    For 0 < x < s the weights are (1 − a)·a^(s−x) and (1 − a)·a^x; all outputs from an end on have one loss.
    """
    step, far = loss_of(written["step"]), _whole(written, "sensitivity")
    if step.ends()[0] <= 0:
        raise Misformed("not above 0", "step")
    low, high = step.times(-1).exponential()
    inner = 1 - high, 1 - low
    return _weighted(
        (ONCE if x in (0, far) else inner, step.times(x - far), step.times(-x)) for x in range(far, -1, -1)
    )


def _discrete_gaussian(written: Mapping[str, Any]) -> ReleaseLosses:
    """Noise with weight w(x) = e^(−x²/(2σ²)) on all whole numbers; the loss at x is (2x − s)·s/(2σ²).

    Σ_(x>n) w(x) ≤ w(n+1)·(1 + r + r² + ...) with r = w(n+2)/w(n+1), for these quotients fall.
    """
    variance, s = _positive(written, "sigma") ** 2, _whole(written, "sensitivity")
    near = 2 + isqrt(int(2 * variance * FAR))
    if 2 * (near + s) > MOST_ATOMS:
        raise Rejected("so wide a discrete Gaussian has too many outputs")

    def power(n: int) -> ExactLoss:
        return ExactLoss(-Fraction(n) / (2 * variance))

    rest = power((near + 1) ** 2).exponential()[1] / (1 - power(2 * near + 3).exponential()[1])
    places = range(-near, near + s + 1)
    return _weighted(((ONCE, power((x - s) ** 2), power(x * x)) for x in places), rest)


def _laplace(written: Mapping[str, Any]) -> ReleaseLosses:
    """Noise with density e^(−|x|/scale)/(2·scale): half of P has the loss m = sensitivity/scale.

    Between them P(L > l) = ½ − ½·e^((l−m)/2) and Q(L > l) = ½·e^(−(l+m)/2) − ½·e^(−m).
    """
    most = _positive(written, "sensitivity") / _positive(written, "scale")
    fall = exp(*_between(-most))
    small = fall[0] >> 1, -(-fall[1] >> 1)
    half = (UNIT >> 1, UNIT >> 1)

    def over(loss: Ends) -> tuple[Ends, Ends]:
        low, high = (min(max(Fraction(x, UNIT), -most), most) for x in loss)
        p = exp(down((low - most) / 2), up((high - most) / 2))
        q = exp(down(-(high + most) / 2), up(-(low + most) / 2))
        return (
            (max(0, (UNIT - p[1]) >> 1), max(0, -(-(UNIT - p[0]) >> 1))),
            (max(0, (q[0] - fall[1]) >> 1), max(0, -(-(q[1] - fall[0]) >> 1))),
        )

    rest = (UNIT - fall[1]) >> 1, -(-(UNIT - fall[0]) >> 1)
    atoms = (LossAtom(half, ExactLoss(most), small), LossAtom(small, ExactLoss(-most), half))
    return ReleaseLosses(atoms, over, whole=(rest, rest), most=ExactLoss(most))


def _gaussian(written: Mapping[str, Any]) -> ReleaseLosses:
    """N(m, 1) against N(0, 1) with m = sensitivity/sigma: the loss at x is m·x − m²/2."""
    mean = _positive(written, "sensitivity") / _positive(written, "sigma")

    def over(loss: Ends) -> tuple[Ends, Ends]:
        low, high = (Fraction(end, UNIT) / mean + mean / 2 for end in loss)
        p = above_normal(high - mean)[0], above_normal(low - mean)[1]
        return p, (above_normal(high)[0], above_normal(low)[1])

    return ReleaseLosses(over=over, whole=((UNIT, UNIT), (UNIT, UNIT)))


def _sampled(written: Mapping[str, Any]) -> ReleaseLosses:
    """M = (1−γ)·Q + γ·P against Q: a loss L of P against Q becomes L' with e^L' = 1 − γ + γ·e^L."""
    rate = _positive(written, "rate")
    if rate > 1:
        raise Misformed("not a probability", "rate")
    found = read(written["of"])
    if found.exact is not None:
        return table([((1 - rate) * q + rate * p, q) for p, q in found.exact])

    def mixed(p: Ends, q: Ends) -> Ends:
        low, high = (times(rate, p[k], bool(k)) + times(1 - rate, q[k], bool(k)) for k in (0, 1))
        return low, high

    def grown(loss: Ends) -> Ends:
        both = [Fraction(end, UNIT) * rate + 1 - rate for end in exp(*loss)]
        return ln(both[0])[0], ln(both[1])[1]

    def over(loss: Ends) -> tuple[Ends, Ends]:
        low, high = ((Fraction(end, UNIT) - 1 + rate) / rate for end in exp(*loss))
        least = found.whole if low <= 0 else found.over((ln(low)[0],) * 2)
        most = found.whole if high <= 0 else found.over((ln(high)[1],) * 2)
        p, q = ((above[0], below[1]) for above, below in zip(most, least, strict=True))
        return mixed(p, q), q

    atoms = tuple(LossAtom(mixed(a.mass, a.other), grown(a.ends()), a.other) for a in found.atoms)
    return ReleaseLosses(
        atoms,
        over,
        whole=(mixed(*found.whole), found.whole[1]),
        above=(mixed(*zip(found.above, found.above, strict=True))[1], found.above[1]),
        below=(mixed(*zip(found.below, found.below, strict=True))[1], found.below[1]),
    )


def _turned(written: Mapping[str, Any]) -> ReleaseLosses:
    """The release with P and Q exchanged."""
    found = read(written["of"])
    if found.exact is not None:
        return table([(q, p) for p, q in found.exact])
    atoms = []
    for atom in found.atoms:
        loss = atom.loss.times(-1) if isinstance(atom.loss, ExactLoss) else (-atom.loss[1], -atom.loss[0])
        atoms.append(LossAtom(atom.other, loss, atom.mass))

    def over(loss: Ends) -> tuple[Ends, Ends]:
        p, q = found.over((-loss[1], -loss[0]))
        return _rest(found.whole[1], q), _rest(found.whole[0], p)

    return ReleaseLosses(
        tuple(atoms),
        over,
        whole=found.whole[::-1],
        above=found.below[::-1],
        below=found.above[::-1],
    )


def _rest(whole: Ends, part: Ends) -> Ends:
    return max(0, whole[0] - part[1]), max(0, whole[1] - part[0])


_KINDS: dict[str, Callable[[Mapping[str, Any]], ReleaseLosses]] = {
    "table": _table,
    "randomized_response": _response,
    "discrete_laplace": _discrete_laplace,
    "discrete_gaussian": _discrete_gaussian,
    "laplace": _laplace,
    "gaussian": _gaussian,
    "sampled": _sampled,
    "turned": _turned,
}
