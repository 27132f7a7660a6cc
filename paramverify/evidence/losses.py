"""Losses that are no polynomials, at one point: divergences of real order as balls with proved errors.

Probabilities are exact, from the model; logarithms and powers are balls of Arb ([Johansson17]).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf

from flint import arb, fmpq

from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.algebra.exponents import meant
from paramverify.algebra.points import in_words
from paramverify.algebra.polynomials import Point
from paramverify.algebra.reals import Real
from paramverify.claims import AllOutputs
from paramverify.evidence.moments import SHOWN, Contribution
from paramverify.evidence.shares import shares_at
from paramverify.models.divergences import LossBound, LossKind
from paramverify.models.evaluation import Numbers
from paramverify.models.model import Model
from paramverify.models.priors import SecretPair

BITS = 192  # of balls

Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True, eq=False, kw_only=True)
class Balls:
    """Both probabilities of outputs at a point, as balls.

    `endless` are outputs that are possible on the left only; then every divergence is infinite.
    """

    balls: Sequence[tuple[arb, arb]]
    endless: tuple[tuple[int, ...], ...]

    @property
    def is_infinite(self) -> bool:
        """Tells whether all divergences are infinite."""
        return bool(self.endless)

    def kl(self) -> arb:
        """Returns Σ p·ln(p/q)."""
        total = arb(0)
        for p, q in self.balls:
            total += p * (p / q).log()
        return total

    def excess(self, order: arb) -> arb:
        """Returns Σ p^α·q^(1−α) − 1."""
        total = arb(-1)
        for p, q in self.balls:
            total += p * (p / q) ** (order - 1)
        return total

    def renyi(self, order: Fraction) -> arb:
        """Returns the divergence of an order above 1."""
        alpha = number(order)
        return self.excess(alpha).log1p() / (alpha - 1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Distributions(Balls):
    """Both probabilities of each sequence at a point of a model; proportional outputs are not merged."""

    numbers: Numbers
    secrets: tuple[str, str]
    length: int
    both: Mapping[tuple[int, ...], tuple[Real, Real]]

    def largest(self) -> tuple[Contribution, ...]:
        """Returns the outputs that contribute most, or that are possible on the left only."""
        words = list(self.endless)
        if not words:
            words = sorted(
                (w for w, (p, q) in self.both.items() if p.sign() > 0),
                key=lambda w: -(self.both[w][0].middle() ** 2) / self.both[w][1].middle(),
            )
        names = self.numbers.model.hmm.observations
        return tuple(Contribution(tuple(names[o] for o in w), self.both[w]) for w in words[:SHOWN])


def distributions(numbers: Numbers, pair: SecretPair, secrets: tuple[str, str], length: int) -> Distributions:
    """Returns how likely all sequences of a length are under a pair, at the point of `numbers`.

    Raises:
        InputError: a secret is impossible there.
        LimitError: too many sequences.
    """
    found = shares_at(numbers, pair, secrets, length)
    both, balls, endless = {}, [], []
    for word in found.words:
        p, q = both[word] = found.probabilities(word)
        if p.sign() and not q.sign():
            endless.append(word)
        elif p.sign():
            balls.append((ball(p), ball(q)))
    return Distributions(
        numbers=numbers, secrets=secrets, length=length, both=both, balls=balls, endless=tuple(endless)
    )


def number(value: Fraction) -> arb:
    """Returns a ball with a rational number, at the working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def ball(value: Real) -> arb:
    """Returns a ball with a number, at the working precision."""
    exact = value.rational
    if exact is not None:
        return number(exact)
    assert value.constant is not None
    with working_precision(BITS):
        top, bottom = (value.constant.ball(f, BITS) for f in (value.numerator, value.denominator))
        return top / bottom


def bound_of(measure: LossBound) -> arb:
    """Returns a ball with the bound of a loss, at the working precision."""
    total = number(measure.rational)
    for factor, value in measure.logarithms:
        total += number(value).log() * number(factor)
    return total


@dataclass(frozen=True, eq=False)
class LossWitness:
    """A divergence at one parameter point between two rationals, above its bound.

    Of KL there is no order. Of ZCDP it is the divergence of an `order`, whose bound is order·ρ. None stands
    for infinity. `bound` encloses the bound. `largest` are as in `MomentWitness`.
    """

    parameters: Mapping[str, Fraction]
    left: str
    right: str
    length: int
    kind: LossKind
    order: Fraction | None
    value: Ends | None
    bound: Ends
    exceeds: bool
    largest: tuple[Contribution, ...]
    meant: Mapping[str, str] = field(default_factory=dict)  # unbounded parameters, in words

    @property
    def nearness(self) -> float:
        """The divergence divided by its bound, rounded."""
        return inf if self.value is None else float(self.value[0]) / float(self.bound[0])

    def __repr__(self) -> str:
        told = "infinity" if self.value is None else f"{float(self.value[0]):.9g}"
        at = f" at {in_words(self.parameters)}" if self.parameters else ""
        return f"<LossWitness: {self.kind.value} {told}, {self.left!r} against {self.right!r}{at}>"


@dataclass(frozen=True, eq=False)
class LossComparison:
    """A divergence, None for infinity, and its bound; whether it is above that, for certain."""

    value: arb | None
    bound: arb
    exceeds: bool


def compared(found: Balls, measure: LossBound, order: Fraction | None) -> LossComparison:
    """Compares a divergence with its bound: of an order above 1, or of Kullback and Leibler without one."""
    with working_precision(BITS):
        bound = bound_of(measure)
        if order is not None:
            bound = bound * number(order)
        value = None
        if not found.is_infinite:
            value = found.kl() if order is None else found.renyi(order)
        return LossComparison(value, bound, value is None or bool(value > bound))


def loss_at(found: Distributions, measure: LossBound, order: Fraction | None) -> LossWitness:
    """Returns the divergence at a point, of an order above 1, or of Kullback and Leibler without one."""
    both = compared(found, measure, order)
    exact = measure.rational * (order or 1)
    with working_precision(BITS):
        ends = None if both.value is None else (lower_bound(both.value), upper_bound(both.value))
        bound = (lower_bound(both.bound), upper_bound(both.bound)) if measure.logarithms else (exact, exact)
    left, right = found.secrets
    point: Point = found.numbers.point
    return LossWitness(
        point,
        left,
        right=right,
        length=found.length,
        kind=measure.kind,
        order=order,
        value=ends,
        bound=bound,
        exceeds=both.exceeds,
        largest=found.largest(),
        meant=meant(found.numbers.model.domain.ring.unbounded, point),
    )


def model_at(model: Model, origin: AllOutputs, point: Point, pair: SecretPair) -> Distributions:
    """Returns the distributions of a direction at a point of the domain that gives all parameters."""
    parameters = {name: point[name] for name in model.domain.ring.parameters}
    with working_precision(BITS):
        return distributions(Numbers(model, parameters), pair, (origin.left, origin.right), origin.length)
