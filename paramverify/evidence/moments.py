"""Witnesses against Rényi privacy: the exact sum over all outputs at one point, and who contributes most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf

from flint import fmpq_poly

from paramverify.algebra.exponents import meant
from paramverify.algebra.logarithms import Epsilon
from paramverify.algebra.points import in_words
from paramverify.algebra.reals import Real
from paramverify.evidence.shares import shares_at
from paramverify.models.divergences import Renyi
from paramverify.models.evaluation import Numbers
from paramverify.models.priors import SecretPair

SHOWN = 3  # outputs that contribute most

Word = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Contribution:
    """One output of a sum, with its probabilities under both secrets."""

    output: Word
    probabilities: tuple[Real, Real]


@dataclass(frozen=True, eq=False)
class MomentWitness:
    """Σ_ω Pr(ω|left)^order / Pr(ω|right)^(order−1) over all outputs of one length, at one parameter point.

    None stands for infinity. `exceeds` tells whether it is more than the bound, decided exactly. `largest`
    are the outputs that contribute most, or those that are possible on the left only.
    """

    parameters: Mapping[str, Fraction]
    left: str
    right: str
    length: int
    order: int
    moment: Real | None
    bound: Real
    exceeds: bool
    largest: tuple[Contribution, ...]
    meant: Mapping[str, str] = field(default_factory=dict)  # unbounded parameters, in words

    @property
    def ratio(self) -> Real | None:
        """The sum; None stands for infinity."""
        return self.moment

    @property
    def divergence(self) -> Epsilon | None:
        """The Rényi divergence, enclosed; None stands for infinity."""
        return divergence(self.moment, self.order)

    @property
    def nearness(self) -> float:
        """The sum divided by its bound, rounded."""
        return inf if self.moment is None else float((self.moment / self.bound).middle())

    def __repr__(self) -> str:
        told = "infinity" if self.moment is None else self.moment.describe()
        at = f" at {in_words(self.parameters)}" if self.parameters else ""
        return f"<MomentWitness: order {self.order}, sum {told}, {self.left!r} against {self.right!r}{at}>"


def divergence(moment: Real | None, order: int) -> Epsilon | None:
    """Returns the divergence ln(moment)/(order − 1), enclosed; None stands for infinity."""
    return None if moment is None else Epsilon.of(moment).per(Fraction(order - 1))


def moment_at(
    numbers: Numbers, measure: Renyi, pair: SecretPair, secrets: tuple[str, str], length: int
) -> MomentWitness:
    """Returns the sum of a pair, in its direction, at the point of `numbers`, which is in the domain.

    `pair` may have any names; `secrets` are those that are told.

    Raises:
        InputError: a secret is impossible there.
        LimitError: too many sequences.
    """
    model, order = numbers.model, measure.order
    shares = shares_at(numbers, pair, secrets, length)
    one = fmpq_poly([1])
    terms: list[tuple[fmpq_poly, fmpq_poly, tuple[int, ...]]] = []
    endless = []
    for word, (p, q) in shares.words.items():
        if p and q:
            terms.append((p**order, q ** (order - 1), word))
        elif p:
            endless.append(word)
    moment: Real | None = None
    if not endless:
        scaled = numbers.real(shares.scales[1] ** (order - 1), shares.scales[0] ** order)
        moment = _sum(numbers, terms) * scaled
        most = sorted(terms, key=lambda t: -(numbers.real(t[0], one) / numbers.real(t[1], one)).middle())
        endless = [word for _, _, word in most]
    bound = numbers.function(measure.bound)

    def told(word: tuple[int, ...]) -> Contribution:
        return Contribution(tuple(model.hmm.observations[o] for o in word), shares.probabilities(word))

    return MomentWitness(
        numbers.point,
        *secrets,
        length=length,
        order=order,
        moment=moment,
        bound=bound,
        exceeds=moment is None or (moment - bound).sign() > 0,
        largest=tuple(map(told, endless[:SHOWN])),
        meant=meant(model.domain.ring.unbounded, numbers.point),
    )


def _sum(numbers: Numbers, terms: Sequence[tuple[fmpq_poly, fmpq_poly, tuple[int, ...]]]) -> Real:
    """Returns the sum of quotients with positive denominators; those with one denominator come first."""
    alike: dict[str, tuple[fmpq_poly, fmpq_poly]] = {}
    for top, bottom, _ in terms:
        before = alike.get(str(bottom))
        alike[str(bottom)] = (before[0] + top if before else top), bottom
    parts = [numbers.real(top, bottom) for top, bottom in alike.values()]
    while len(parts) > 1:  # in pairs, so that numbers stay short
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [_plus(a, b) for a, b in pairs] + ([parts[-1]] if len(parts) % 2 else [])
    return parts[0]


def _plus(left: Real, right: Real) -> Real:
    top = left.numerator * right.denominator + right.numerator * left.denominator
    return Real.of(top, left.denominator * right.denominator, left.constant)
