"""What divergences read of `[privacy]`: their bounds, with what must be true of them on the domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from paramverify.algebra.budgets import read_epsilon, summands
from paramverify.algebra.constants import GENERATOR, working_precision
from paramverify.algebra.domains import Domain
from paramverify.algebra.expressions import (
    Definitions,
    Expression,
    Node,
    Operation,
    RationalConstant,
    evaluate,
)
from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring, constant_value, is_constant
from paramverify.algebra.signs import Sign, sign_on
from paramverify.divergences.forms import Average, PositiveParts, Quotients
from paramverify.divergences.max_divergence import MaxDivergence
from paramverify.divergences.sums import SumDivergence
from paramverify.errors import CaseError, located
from paramverify.tables import EXPRESSION, Key, Table

SIGN_BITS = 256  # with which the sign of a bound is found


class ExpressionChecks(Protocol):
    """Evaluates the expressions of a case over its domain; `models.context.Checks` does so."""

    domain: Domain
    definitions: Definitions

    @property
    def ring(self) -> Ring:
        """The ring of the case."""

    def function(self, expression: Expression) -> RationalFunction:
        """Returns the rational function of an expression, defined at every point of the domain."""

    def positive(self, polynomial: Polynomial, what: str) -> Polynomial:
        """Returns the polynomial or its negative, whichever is positive on the whole domain."""

    def nonnegative(self, polynomial: Polynomial, what: str, wrong: str = "is negative") -> None:
        """Checks that a polynomial is nowhere negative on the domain."""


Stated = tuple[Quotients | PositiveParts | Average, str]  # a divergence with its bound, and that in words


def _no_epsilon(privacy: Table) -> Iterator[Expression]:
    yield from ()


@dataclass(frozen=True)
class DivergenceKind:
    """A divergence in `[privacy]`: its key there, and how its bound is read.

    `read(privacy, checks)` returns the divergence with its bound, and that in words. `epsilons` yields the
    logarithm of the bound of the claims, where the case gives it as an epsilon.
    """

    key: Key
    read: Callable[[Table, ExpressionChecks], Stated]
    epsilons: Callable[[Table], Iterator[Expression]] = _no_epsilon


def sum_kind(divergence: type[SumDivergence], text: str) -> DivergenceKind:
    """Returns a divergence whose bound is one expression, as in `chi_squared = "1/2"`."""
    name = divergence.key

    def read(privacy: Table, checks: ExpressionChecks) -> Stated:
        expression = privacy.expression(name)
        words = in_words(name, expression, checks)
        least = 0 if divergence.less else 1
        bound = read_value(expression, name, checks, least)
        if divergence.less:
            bound = RationalFunction(bound.numerator + bound.denominator, bound.denominator)
        return divergence(bound), words

    return DivergenceKind(Key(name, EXPRESSION, text), read)


def in_words(name: str, expression: Expression, checks: ExpressionChecks) -> str:
    """Returns a bound in words, as it is written."""
    return f"{name} = {checks.definitions.told(expression.text)}"


def read_value(
    expression: Expression, name: str, checks: ExpressionChecks, least: int = 0
) -> RationalFunction:
    """Returns a bound with a positive denominator that is nowhere below the least value of its divergence."""
    with located(key=name):
        value, told = checks.function(expression), checks.definitions.told(expression.text)
        denominator = checks.positive(value.denominator, f"the denominator of {name}")
        numerator = value.numerator if denominator == value.denominator else -value.numerator
        above = numerator - denominator * least
        if is_constant(above) and constant_value(above) < 0:
            raise CaseError(f"the divergence is always at least {least}, but the bound {told} is smaller")
        checks.nonnegative(above, name, "is negative" if not least else f"is less than {least}")
        return RationalFunction(numerator, denominator)


def read_probability(
    expression: Expression, checks: ExpressionChecks, name: str = "delta"
) -> RationalFunction:
    """Returns a bound with a positive denominator, from 0 to 1 on the whole domain."""
    with located(key=name):
        delta, told = checks.function(expression), checks.definitions.told(expression.text)
        denominator = checks.positive(delta.denominator, f"the denominator of {name}")
        numerator = delta.numerator if denominator == delta.denominator else -delta.numerator
        for part in (numerator, denominator - numerator):
            if is_constant(part) and constant_value(part) < 0:
                raise CaseError(f"{name} must be a probability, from 0 to 1, but it is {told}")
        checks.nonnegative(numerator, name)
        checks.nonnegative(denominator - numerator, name, "is larger than 1")
        return RationalFunction(numerator, denominator)


def times(expression: Expression, factor: int) -> Expression:
    """Returns a whole multiple of an expression; places in its text stay."""
    if factor == 1:
        return expression
    number = RationalConstant(Fraction(factor), expression.root.column)
    return Expression(expression.text, Operation("*", (number, expression.root), expression.root.column))


def read_bound(
    expression: Expression, name: str, checks: ExpressionChecks, power: int = 1
) -> tuple[MaxDivergence, str]:
    """Returns the measure of one bound, and the bound in words; `power` is that to which e^ε is raised."""
    with located(key=name):
        if name == "epsilon":
            unbounded = [u.name for u in checks.ring.unbounded]
            fixed = {n: i.lower for n, i in checks.domain.box.items() if i.is_point and n != GENERATOR}
            budget = read_epsilon(times(expression, power), unbounded, fixed)
            if len(budget.logarithms) > 1 or any(factor not in (1, -1) for factor, _ in budget.logarithms):
                for _, argument in budget.logarithms:  # their signs may cancel in the product
                    _positive(checks.function(argument), checks)
            ratio = budget.ratio(checks.ring, checks.function)
        else:
            ratio = checks.function(expression)
        numerator, denominator = _positive(ratio, checks)
        if name == "ratio":
            numerator, denominator = numerator**power, denominator**power
        if sign_on(numerator - denominator, checks.domain) is Sign.NEGATIVE:
            raise CaseError("the ratio bound e^epsilon is below 1, so epsilon would be negative")
        return MaxDivergence(
            RationalFunction(numerator, denominator)
        ), f"{name} = {checks.definitions.told(expression.text)}"


def _positive(ratio: RationalFunction, checks: ExpressionChecks) -> tuple[Polynomial, Polynomial]:
    """Returns the numerator and the denominator of a bound, or of what ln is of, both positive on the domain.

    Raises:
        CaseError: it is zero or negative. ModelError: it vanishes or changes its sign.
    """
    denominator = checks.positive(ratio.denominator, "the denominator of the ratio bound")
    numerator = ratio.numerator if denominator == ratio.denominator else -ratio.numerator
    if not numerator or checks.positive(numerator, "the ratio bound") != numerator:
        raise CaseError("the ratio bound e^epsilon must be positive")
    return numerator, denominator


def read_average(divergence: type[Average], expression: Expression) -> Average:
    """Reads the bound of a loss: a number above 0, which may have logarithms of numbers.

    Raises:
        CaseError: anything else.
    """
    with located(key=divergence.key):
        rational, logarithms = Fraction(0), []
        for factor, node in summands(expression, expression.root, Fraction(1)):
            ln = isinstance(node, Operation) and node.operator == "ln"
            inner = node.arguments[0] if isinstance(node, Operation) and ln else node
            value = evaluate(Expression(expression.text, inner)) if is_number(inner) else None
            if not isinstance(value, Fraction) or (ln and value <= 0):
                raise CaseError('the bound must be a number, such as "1/10" or "ln(2)/4"')
            if ln:
                logarithms.append((factor, value))
            else:
                rational += factor * value
        found = divergence(rational, tuple(logarithms))
        with working_precision(SIGN_BITS):
            if not found.ball() > 0:
                reason = f"{divergence.key} needs a bound above 0, but it is {expression.text}"
                raise CaseError(f'{reason}; to require equal distributions, write total_variation = "0"')
        return found


def is_number(node: Node) -> bool:
    """Tells whether an expression has neither names nor functions."""
    if isinstance(node, Operation):
        return node.operator not in ("ln", "exp") and all(map(is_number, node.arguments))
    return isinstance(node, RationalConstant)
