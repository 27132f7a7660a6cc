"""Witnesses against bounds on divergences.

The exact sum over all outputs at one point, or an enclosure of it.

Losses that are no polynomials, at one point: divergences of real order as balls with proved errors.

Probabilities are exact, from the model; logarithms and powers are balls of Arb ([Johansson17]).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cmp_to_key
from math import inf
from typing import Any, ClassVar

from flint import arb, fmpq, fmpq_poly

from paramverify import printable
from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.algebra.domains import in_words
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.polynomials import Point, meant
from paramverify.algebra.reals import Real
from paramverify.claims import AllOutputs
from paramverify.divergences import Average, SumDivergence
from paramverify.errors import InputError
from paramverify.evidence import number_words as words
from paramverify.evidence.told_witnesses import DivergenceWitness
from paramverify.evidence.witness import AnyWitness
from paramverify.models.model import Model
from paramverify.models.model_evaluation import Numbers, probabilities_at
from paramverify.models.priors import InitialDistribution, SecretPair


def directed(model: Model, left: str, right: str) -> tuple[InitialDistribution, InitialDistribution]:
    """Returns the conditioned priors of two secrets that the model compares; see `pair_of`."""
    pair = pair_of(model, left, right)
    return pair.pi, pair.tau


def pair_of(model: Model, left: str, right: str) -> SecretPair:
    """Returns the pair of two secrets that the model compares, in this direction.

    Where no pair has exactly these names, blanks do not count.

    Raises:
        InputError: the model does not compare them.
    """
    for plain in (str, _without_blanks):
        wanted = plain(left), plain(right)
        found = {}
        for pair in model.pairs:
            known = plain(pair.left), plain(pair.right)
            if known == wanted:
                found[pair.left, pair.right] = pair
            elif known == wanted[::-1]:
                found[pair.right, pair.left] = pair.turned
        if len(found) > 1:
            raise InputError(
                f"{left!r} against {right!r} may be several pairs: write the blanks as in the case"
            )
        if found:
            return next(iter(found.values()))
    shown = [(printable.name(p.left), printable.name(p.right)) for p in model.pairs[:5]]
    names = ", ".join(f"{a} / {b}" for a, b in shown)
    more = f" and {len(model.pairs) - 5} more" if len(model.pairs) > 5 else ""
    raise InputError(f"no such secret pair: {left!r} against {right!r}; the case compares {names}{more}")


def _without_blanks(name: str) -> str:
    return name.replace(" ", "")


Indices = tuple[int, ...]  # of observations


@dataclass(frozen=True, eq=False)
class Shares:
    """Both probabilities of each possible sequence, over `scales`, which are positive; in a fixed order."""

    numbers: Numbers
    words: Mapping[Indices, tuple[fmpq_poly, fmpq_poly]]
    scales: tuple[fmpq_poly, fmpq_poly]

    def probabilities(self, word: Indices) -> tuple[Real, Real]:
        """Returns both probabilities of a sequence."""
        (p, q), (left, right) = self.words[word], self.scales
        return self.numbers.real(p, left), self.numbers.real(q, right)


def shares_at(numbers: Numbers, pair: SecretPair, names: tuple[str, str], length: int) -> Shares:
    """Returns the probabilities of all sequences of a length; `names` are those of the secrets that are told.

    By the forward recursion of [F] section 2 on numbers, apart from the encodings.

    Raises:
        InputError: a secret is impossible there.
        LimitError: more than `MAX_SEQUENCES` sequences.
    """
    for name, start in zip(names, (pair.pi, pair.tau), strict=True):
        if numbers.mass(start).sign() <= 0:
            raise InputError(f"the secret {name!r} has probability zero at this point")
    left, right = probabilities_at(numbers, (pair.pi, pair.tau), length)
    zero = fmpq_poly()
    words = {
        word: (left.get(word, zero), right.get(word, zero)) for word in sorted(left.keys() | right.keys())
    }
    scale = numbers.value(numbers.model.hmm.denominator) ** length
    return Shares(numbers, words, (numbers.value(pair.pi.mass) * scale, numbers.value(pair.tau.mass) * scale))


SHOWN = 3  # outputs that contribute most

Word = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Contribution:
    """One output of a sum, with its probabilities under both secrets."""

    output: Word
    probabilities: tuple[Real, Real]

    def line(self, left: str, right: str) -> str:
        """Returns both probabilities in words, under secrets that are safe to print."""
        told, (p, q) = words.word(self.output), self.probabilities
        return f"Pr({told} | {left}) {words.equals(p)}, Pr({told} | {right}) {words.equals(q)}"

    def document(self) -> dict[str, Any]:
        """Returns it as JSON data."""
        return {"output": list(self.output), "probabilities": [words.real(p) for p in self.probabilities]}


@dataclass(frozen=True, eq=False)
class MomentWitness(AnyWitness):
    """The sum of a divergence over all outputs of one length, at one parameter point.

    None stands for infinity. `exceeds` tells whether it is more than the bound, decided exactly. `largest`
    are the outputs that contribute most, or those that are possible on the left only.
    """

    parameters: Mapping[str, Fraction]
    left: str
    right: str
    length: int
    measure: SumDivergence
    moment: Real | None
    bound: Real
    exceeds: bool
    largest: tuple[Contribution, ...]
    meant: Mapping[str, str] = field(default_factory=dict)  # unbounded parameters, in words

    distance: ClassVar[None] = None  # no bound of a sum depends on that of inputs
    reached: ClassVar[bool] = True

    @property
    def within(self) -> bool:
        """Whether the sum is within its bound."""
        return not self.exceeds

    @property
    def ratio(self) -> Real | None:
        """The sum; None stands for infinity."""
        return self.moment

    @property
    def order(self) -> int | None:
        """The order of a Rényi divergence."""
        return self.measure.renyi_order

    @property
    def nearness(self) -> float:
        """The sum divided by its bound, rounded."""
        return inf if self.moment is None else float((self.moment / self.bound).middle())

    @property
    def shown(self) -> bool:
        """Whether the sum is more than its bound."""
        return self.exceeds

    @property
    def origin(self) -> AllOutputs:
        """The direction in which all outputs of a length are compared."""
        return AllOutputs(self.left, self.right, length=self.length)

    @property
    def size(self) -> tuple[bool, Fraction]:
        """The sum: infinite, or a number just below it."""
        return (True, Fraction(0)) if self.moment is None else (False, self.moment.enclosure()[0])

    def lines(self) -> list[str]:
        """Returns sentences: prior, secrets, the sum, its bound, its largest parts."""
        left, right = (printable.name(secret) for secret in (self.left, self.right))
        far = "more" if self.exceeds else "not more"
        return [
            _apart(self, left, right),
            f"{self.measure.sum_told(left, right, self.length)} "
            f"{words.equals(self.moment) if self.moment else 'is infinite'}, "
            f"which is {far} than the bound{self.measure.plus} {words.equals(self.bound)}",
            self.measure.value_told(self.moment),
            *(share.line(left, right) for share in self.largest),
        ]

    def document(self) -> dict[str, Any]:
        """Returns it as JSON data: `moment` is the sum, `largest` are the outputs that contribute most."""
        return {
            "parameters": {name: str(value) for name, value in self.parameters.items()},
            "secrets": [self.left, self.right],
            "length": self.length,
            **self.measure.document(),
            "moment": words.real(self.moment),
            "bound": words.real(self.bound),
            "exceeds": self.exceeds,
            "largest": [share.document() for share in self.largest],
        }

    def answer(self) -> dict[str, Any]:
        """Returns it as answers have it, with the divergence itself, rounded."""
        told = {"divergence": self.measure.value_near(self.moment)}
        return self.document() | told | ({"meaning": dict(self.meant)} if self.meant else {})

    def told(self) -> DivergenceWitness:
        """Returns it as Python programs get it."""
        return DivergenceWitness(
            parameters=dict(self.parameters),
            left=self.left,
            right=self.right,
            order=Fraction(self.order) if self.order else None,
            moment=ExactNumber(self.moment),
            bound=ExactNumber(self.bound),
            divergence=float(self.measure.value_near(self.moment)),
        )

    @property
    def _of(self) -> str:
        return f"order {self.order}" if self.order else self.measure.key

    def __repr__(self) -> str:
        told = "infinity" if self.moment is None else self.moment.describe()
        at = f" at {in_words(self.parameters)}" if self.parameters else ""
        return f"<MomentWitness: {self._of}, sum {told}, {self.left!r} against {self.right!r}{at}>"


def _apart(found: MomentWitness | LossWitness, left: str, right: str) -> str:
    at = f"With {found.place}: " if found.parameters else ""
    far = "too far from" if found.exceeds else "within the bound of"
    return f"{at}the output distribution under '{left}' is {far} that under '{right}'."


def moment_at(
    numbers: Numbers, measure: SumDivergence, pair: SecretPair, secrets: tuple[str, str], length: int
) -> MomentWitness:
    """Returns the sum of a pair, in its direction, at the point of `numbers`, which is in the domain.

    `pair` may have any names; `secrets` are those that are told.

    Raises:
        InputError: a secret is impossible there.
        LimitError: too many sequences.
    """
    model = numbers.model
    shares = shares_at(numbers, pair, secrets, length)
    left, right = shares.scales
    outputs = [(p * right, q * left) for p, q in shares.words.values()]
    sums = [_sum(numbers, each) for each in measure.quotients(outputs, left * right)]
    moment: Real | None = None
    if all(sums):
        whole = numbers.real(fmpq_poly([1]), left * right)
        moment = max((each * whole for each in sums if each), key=_ordered)
    most = _contributing(numbers, measure, shares, outputs, sums)
    bound = numbers.function(measure.bound)

    def told(word: tuple[int, ...]) -> Contribution:
        return Contribution(tuple(model.hmm.observations[o] for o in word), shares.probabilities(word))

    return MomentWitness(
        numbers.point,
        *secrets,
        length=length,
        measure=measure,
        moment=moment,
        bound=bound,
        exceeds=moment is None or (moment - bound).sign() > 0,
        largest=tuple(map(told, most[:SHOWN])),
        meant=meant(model.domain.ring.unbounded, numbers.point),
    )


def _sum(numbers: Numbers, quotients: Iterable[tuple[fmpq_poly, fmpq_poly]]) -> Real | None:
    """Returns the sum of quotients, in which 0/0 counts 0; None stands for infinity.

    Those with one denominator come first.
    """
    alike: dict[str, tuple[fmpq_poly, fmpq_poly]] = {}
    for top, bottom in quotients:
        if not top:
            continue
        if not bottom:
            return None
        before = alike.get(str(bottom))
        alike[str(bottom)] = (before[0] + top if before else top), bottom
    parts = [numbers.real(top, bottom) for top, bottom in alike.values()]
    while len(parts) > 1:  # in pairs, so that numbers stay short
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [_plus(a, b) for a, b in pairs] + ([parts[-1]] if len(parts) % 2 else [])
    return parts[0] if parts else numbers.real(fmpq_poly([0]), fmpq_poly([1]))


def _contributing(
    numbers: Numbers,
    measure: SumDivergence,
    shares: Shares,
    outputs: Sequence[tuple[fmpq_poly, fmpq_poly]],
    sums: Sequence[Real | None],
) -> list[tuple[int, ...]]:
    """Returns the outputs by their quotients in the largest sum, or those whose quotient is infinite.

    The largest comes first. If that sum has not one quotient for each output, those come first whose
    probabilities differ most.
    """
    largest = next((k for k, each in enumerate(sums) if each is None), None)
    if largest is None:
        known = [each for each in sums if each is not None]
        largest = max(range(len(known)), key=lambda k: _ordered(known[k]))
    quotients = list(list(measure.sums(outputs))[largest])
    if len(quotients) != len(outputs):
        one = fmpq_poly([1])
        apart = {
            word: abs(numbers.real(p - q, one).middle())
            for word, (p, q) in zip(shares.words, outputs, strict=True)
        }
        return sorted(apart, key=lambda word: -apart[word])
    both = list(zip(shares.words, quotients, strict=True))
    if endless := [word for word, (top, bottom) in both if top and not bottom]:
        return endless
    weights = {word: numbers.real(top, bottom).middle() for word, (top, bottom) in both if top}
    return sorted(weights, key=lambda word: -weights[word])


_ordered: Callable[[Real], Any] = cmp_to_key(lambda a, b: (a - b).sign())


def _plus(left: Real, right: Real) -> Real:
    top = left.numerator * right.denominator + right.numerator * left.denominator
    return Real.of(top, left.denominator * right.denominator, left.constant)


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


def bound_of(measure: Average) -> arb:
    """Returns a ball with the bound of a loss, at the working precision."""
    return measure.ball()


@dataclass(frozen=True, eq=False)
class LossWitness(AnyWitness):
    """A divergence at one parameter point between two rationals, above its bound.

    Of KL there is no order. Of ZCDP it is the divergence of an `order`, whose bound is order·ρ. None stands
    for infinity. `bound` encloses the bound. `largest` are as in `MomentWitness`.
    """

    parameters: Mapping[str, Fraction]
    left: str
    right: str
    length: int
    kind: type[Average]
    order: Fraction | None
    value: Ends | None
    bound: Ends
    exceeds: bool
    largest: tuple[Contribution, ...]
    meant: Mapping[str, str] = field(default_factory=dict)  # unbounded parameters, in words

    within: ClassVar[None] = None  # balls at the point do not tell whether it is within its bound

    @property
    def nearness(self) -> float:
        """The divergence divided by its bound, rounded."""
        return inf if self.value is None else float(self.value[0]) / float(self.bound[0])

    @property
    def shown(self) -> bool:
        """Whether the divergence is above its bound."""
        return self.exceeds

    def lines(self) -> list[str]:
        """Returns sentences: prior, secrets, the divergence and its bound."""
        left, right = (printable.name(secret) for secret in (self.left, self.right))
        far = "more" if self.exceeds else "not more" if self.value else "perhaps more"
        value = words.between(self.value) if self.value else "is infinite"
        what = "the Kullback-Leibler divergence" if self.order is None else "the Renyi divergence"
        of = "" if self.order is None else f" of order {self.order}"
        bound = "the bound" if self.order is None else "rho times the order"
        return [
            _apart(self, left, right),
            f"{what}{of} {value}, which is {far} than {bound} {words.between(self.bound)}",
            *(share.line(left, right) for share in self.largest),
        ]

    def document(self) -> dict[str, Any]:
        """Returns it as JSON data; numbers that are not known exactly have two around them."""
        low, high = self.bound
        return {
            "parameters": {name: str(value) for name, value in self.parameters.items()},
            "secrets": [self.left, self.right],
            "length": self.length,
            "measure": self.kind.key,
            **({"order": words.exact(self.order)} if self.order is not None else {}),
            "value": words.rounded_ends(self.value),
            "bound": words.exact(low) if low == high else words.rounded_ends(self.bound),
            "exceeds": self.exceeds,
            "largest": [share.document() for share in self.largest],
        }

    def exact_document(self) -> dict[str, Any]:
        """Returns the same with rationals instead of floats."""
        low, high = self.bound
        value = "infinity" if self.value is None else [words.exact(end) for end in self.value]
        bound = words.exact(low) if low == high else [words.exact(low), words.exact(high)]
        return {**self.document(), "value": value, "bound": bound}

    def told(self) -> DivergenceWitness:
        """Returns it as Python programs get it."""
        low, high = self.bound
        return DivergenceWitness(
            parameters=dict(self.parameters),
            left=self.left,
            right=self.right,
            order=Fraction(self.order) if self.order else None,
            moment=None,
            bound=ExactNumber(low) if low == high else None,
            divergence=float(sum(self.value) / 2) if self.value else inf,
        )

    def __repr__(self) -> str:
        told = "infinity" if self.value is None else f"{float(self.value[0]):.9g}"
        at = f" at {in_words(self.parameters)}" if self.parameters else ""
        return f"<LossWitness: {self.kind.key} {told}, {self.left!r} against {self.right!r}{at}>"


@dataclass(frozen=True, eq=False)
class LossComparison:
    """A divergence, None for infinity, and its bound; whether it is above that, for certain."""

    value: arb | None
    bound: arb
    exceeds: bool


def compared(found: Balls, measure: Average, order: Fraction | None) -> LossComparison:
    """Compares a divergence with its bound: of an order above 1, or of Kullback and Leibler without one."""
    with working_precision(BITS):
        bound = bound_of(measure)
        if order is not None:
            bound = bound * number(order)
        value = None
        if not found.is_infinite:
            value = found.kl() if order is None else found.renyi(order)
        return LossComparison(value, bound, value is None or bool(value > bound))


def loss_at(found: Distributions, measure: Average, order: Fraction | None) -> LossWitness:
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
        kind=type(measure),
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
