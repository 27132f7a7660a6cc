"""Random choices and noise: what `flip`, `laplace` and the others do to a set of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb

from paramverify.algebra.expressions import Expression
from paramverify.algebra.polynomials import RationalFunction, Ring, to_rational_function
from paramverify.errors import FinerError, InputError, ProgramError
from paramverify.models.context import Checks
from paramverify.models.programs.arithmetic import tree_of
from paramverify.models.programs.bases import Bases
from paramverify.models.programs.densities import DiscreteGauss, Gauss
from paramverify.models.programs.measure import Linear
from paramverify.models.programs.pieces import Pieces
from paramverify.models.programs.syntax import Apply, Choice, Place
from paramverify.models.programs.values import ProgramState, Symbol, Value

MAX_OUTCOMES = 10_000  # values of a finite random choice

Found = list[tuple[ProgramState, Value]]


@dataclass(frozen=True, eq=False)
class ProgramDrawing:
    """Draws for a program, whose text is for messages; `rates` are the parameters of the domain (0, ∞)."""

    text: str
    checks: Checks
    bases: Bases
    rates: tuple[str, ...]

    def draw(self, node: Apply, given: Sequence[Value], state: ProgramState) -> Found:
        """Returns what a draw leads to.

        Raises:
            ProgramError: arguments that are no parameters of the noise at every point of the domain.
        """
        try:
            match node.operator:
                case "flip":
                    share = self._probability(given[0], "the probability of flip")
                    return self._split(state, [(True, share), (False, self._one - share)])
                case "uniform":
                    return self._uniform(given, state)
                case "binomial":
                    return self._binomial(given, state)
                case "geometric" | "one_sided_geometric":
                    return self._geometric(given[0], node.operator == "geometric", state)
                case "gauss" | "discrete_gaussian":
                    return self._gauss(node.operator, given[0], state)
            return self._laplace(given[0], node.operator == "laplace", state)
        except InputError as error:
            raise self._at(error, node.place) from None

    def choose(self, node: Choice, shares: Sequence[Value], state: ProgramState) -> Found:
        """Returns the values of `choice`."""
        try:
            functions = [self._function(v) for v in shares]
            names = [repr(v) if isinstance(v, str) else str(v) for v, _ in node.table]  # "1" is not 1
            self.checks.distribution(dict(zip(names, functions, strict=True)), "choice")
        except InputError as error:
            raise self._at(error, node.place) from None
        return self._split(state, [(v, f) for (v, _), f in zip(node.table, functions, strict=True)])

    def _at(self, error: InputError, place: Place) -> InputError:
        if isinstance(error, (ProgramError, FinerError)):
            return error
        return ProgramError(error.reason, self.text, *place)

    @property
    def _one(self) -> RationalFunction:
        return RationalFunction.of(self.checks.ring.number(1))

    def _number(self, value: Fraction | int) -> RationalFunction:
        return RationalFunction.of(self.checks.ring.number(value))

    def _split(self, state: ProgramState, outcomes: Sequence[tuple[Value, RationalFunction]]) -> Found:
        return [
            (replace(state, measure=state.measure.times(self.bases.coefficient(share))), value)
            for value, share in outcomes
            if share.numerator
        ]

    def _function(self, value: Value) -> RationalFunction:
        """Returns the rational function of a number or an expression in parameters."""
        if not isinstance(value, (Fraction, Symbol)):
            what = "a number with noise" if isinstance(value, Linear) else "this"
            raise InputError(f"a number or an expression in parameters is needed here; {what} is none")
        return self.checks.function(Expression("the argument", tree_of(value)))

    def _probability(self, value: Value, what: str) -> RationalFunction:
        found = self._function(value)
        if isinstance(value, Fraction) and not 0 <= value <= 1:
            raise InputError(f"{what} is {value}, and not between 0 and 1")
        self.checks.nonnegative(found.numerator * found.denominator, what)
        rest = self._one - found
        self.checks.nonnegative(rest.numerator * rest.denominator, what, "is above 1")
        return found

    def _uniform(self, given: Sequence[Value], state: ProgramState) -> Found:
        low, high = (_whole(v, "uniform") for v in given)
        if low > high:
            raise InputError("uniform needs lo <= hi")
        count = high - low + 1
        if count > MAX_OUTCOMES:
            raise InputError(f"uniform has more than {MAX_OUTCOMES:,} values")
        share = self._number(Fraction(1, count))
        return self._split(state, [(Fraction(v), share) for v in range(low, high + 1)])

    def _binomial(self, given: Sequence[Value], state: ProgramState) -> Found:
        number = _whole(given[0], "binomial")
        if not 0 <= number <= 1_000:
            raise InputError("binomial needs a number of trials from 0 to 1,000")
        p = self._probability(given[1], "the probability of binomial")
        q = self._one - p
        return self._split(
            state,
            [
                (Fraction(k), self._number(comb(number, k)) * p**k * q ** (number - k))
                for k in range(number + 1)
            ],
        )

    def _geometric(self, value: Value, two_sided: bool, state: ProgramState) -> Found:
        alpha = self._function(value)
        what = "the ratio of geometric noise"
        for part, told in ((alpha, what), (self._one - alpha, f"1 minus {what}")):
            if not part.numerator or (
                self.checks.positive(part.numerator * part.denominator, told)
                != part.numerator * part.denominator
            ):
                raise InputError(f"{what} is not between 0 and 1")
        name = state.measure.fresh
        return self._noise(state, name, self.bases.geometric(name, alpha, two_sided), True)

    def _laplace(self, value: Value, two_sided: bool, state: ProgramState) -> Found:
        rate, unit = self.rate(value)
        if self.bases.unit_name is None:
            self.bases.unit_name = unit
        elif self.bases.unit_name != unit:
            words = [f"a multiple of 1/{u}" if u else "a number" for u in (self.bases.unit_name, unit)]
            reason = f"the scales of continuous noise are of one kind: one is {words[0]}, this is {words[1]}"
            raise InputError(reason)
        name = state.measure.fresh
        return self._noise(state, name, self.bases.laplace(name, rate, two_sided), False)

    def _gauss(self, word: str, value: Value, state: ProgramState) -> Found:
        if not isinstance(value, Fraction):
            raise InputError(f"the standard deviation of {word} is a number without noise, such as 3/2")
        if value <= 0:
            raise InputError(f"the standard deviation of {word} is positive")
        name = state.measure.fresh
        density = DiscreteGauss(value) if word == "discrete_gaussian" else Gauss(value)
        return self._noise(state, name, self.bases.enclosed(name, density), density.whole)

    def _noise(self, state: ProgramState, name: int, pieces: Pieces, whole: bool) -> Found:
        measure = state.measure.with_noise(pieces, name, whole)
        return [(replace(state, measure=measure), Linear(((name, Fraction(1)),)))]

    def rate(self, value: Value) -> tuple[Fraction, str]:
        """Returns 1 / scale as a multiple of 1, or of a parameter of the domain (0, ∞), and its name.

        Raises:
            InputError: the scale is no such number.
        """
        if isinstance(value, Fraction):
            if value <= 0:
                raise InputError("the scale of this noise is positive")
            return 1 / value, ""
        if isinstance(value, Symbol):
            for name in self.rates:
                rate = _multiple_of_inverse(value, name)
                if rate is not None:
                    if rate <= 0:
                        raise InputError("the scale of this noise is positive")
                    return rate, name
            hint = (
                f"2 / {self.rates[0]}"
                if self.rates
                else 'a number divided by a parameter such as eps = "(0, oo)"'
            )
            raise InputError(f"the scale of this noise is a number, or {hint}")
        raise InputError("the scale of this noise is a number without noise")


def _multiple_of_inverse(value: Symbol, name: str) -> Fraction | None:
    """Returns k where the value is 1 / (k · name), or None."""
    ring = Ring((name,))
    try:
        found = to_rational_function(Expression("the argument", value.tree), ring)
    except InputError:
        return None
    variable = ring.variable(name)
    product = RationalFunction.of(variable) * found
    if product.numerator.is_constant() and product.denominator.is_constant() and product.numerator:
        scale = product.numerator.leading_coefficient() / product.denominator.leading_coefficient()
        return 1 / Fraction(int(scale.p), int(scale.q))
    return None


def _whole(value: Value, what: str) -> int:
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    raise InputError(f"{what} needs whole numbers: no noise, and no parameter without a value")
