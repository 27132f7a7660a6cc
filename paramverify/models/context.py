"""Checks that tables are probabilities at every point of the parameter domain.

What the sign of Bernstein coefficients settles is settled at once. The rest becomes an `Obligation`: a
claim that the portfolio has to prove before any verdict about the model counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product
from typing import Protocol

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domain_branches import branches
from paramverify.algebra.domains import Domain, in_words, sign_at, tied_in
from paramverify.algebra.expressions import Definitions, Expression
from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    Ring,
    common_denominator,
    in_generator,
    to_rational_function,
    value_at,
    variables,
)
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim, nowhere, positive
from paramverify.errors import Each, LimitError, ModelError, key_that_is_read, located
from paramverify.tables import Table, as_expression


class VerdictWords(Protocol):
    """A verdict that knows its words; see `answers.Standing`."""

    @property
    def of_case(self) -> str:
        """The word for a case: private, not private, undecided."""

    @property
    def of_claim(self) -> str:
        """The word for a claim: true, false, undecided."""


@dataclass(frozen=True, eq=False)
class Obligation:
    """A claim about the model that is still to be proved, what it means when it fails, and its key."""

    claim: Claim
    message: str
    key: str = field(default_factory=key_that_is_read)


@dataclass
class Checks:
    """Evaluates the expressions of a case over its domain, and collects obligations on the way."""

    domain: Domain
    obligations: list[Obligation] = field(default_factory=list)
    _signs: dict[str, Sign | None] = field(default_factory=dict, repr=False)
    notes: list[str] = field(
        default_factory=list
    )  # what a reader of the verdict should know of the mechanism
    definitions: Definitions = field(default_factory=Definitions)  # what `[define]` of the case says
    files: dict[str, str] = field(default_factory=dict)  # texts of the files that the mechanism names, by key
    mistakes: Each = field(default_factory=Each)  # those that were found while the rest is read

    @property
    def ring(self) -> Ring:
        """The ring of the case."""
        return self.domain.ring

    def function(self, expression: Expression) -> RationalFunction:
        """Returns the rational function of an expression, defined at every point of the domain.

        Raises:
            ExpressionError: a mistake in the expression.
            ModelError: its denominator vanishes at a point of the domain.
        """
        value = to_rational_function(expression, self.ring)
        self.positive(value.denominator, f"the denominator of {expression.text}")
        return value

    def named(self, table: Table, name: str) -> RationalFunction:
        """Returns the function of an entry of a table, see `function`; mistakes have its key."""
        with located(key=name):
            return self.function(as_expression(table.need(name)))

    def common_denominator(self, functions: Iterable[RationalFunction]) -> Polynomial:
        """Returns a common multiple of the denominators that is positive on the whole domain."""
        return self.positive(common_denominator(functions, self.ring), "a common denominator")

    def positive(self, polynomial: Polynomial, what: str) -> Polynomial:
        """Returns the polynomial or its negative, whichever is positive on the whole domain.

        Raises:
            ModelError: it vanishes or changes its sign on the domain.
        """
        sign = self._sign(polynomial)
        if sign is Sign.POSITIVE:
            return polynomial
        if sign is Sign.NEGATIVE:
            return -polynomial
        values = [(self._value(polynomial, p), p) for p in sample_points(self.domain)]
        for value, point in values:
            if value == 0:
                raise ModelError(f"{what} is zero at {show_point(point)}")
        if {value > 0 for value, _ in values} == {True, False}:
            raise ModelError(
                f"{what} changes its sign on the domain: restrict [parameters] so that it is always "
                "positive or always negative"
            )
        oriented = polynomial if not values or values[0][0] > 0 else -polynomial
        claim = positive(oriented, self.domain, f"{what} <= 0")
        self.obligations.append(Obligation(claim, f"{what} may be zero or negative"))
        return oriented

    def nonnegative(self, polynomial: Polynomial, what: str, wrong: str = "is negative") -> None:
        """Checks that a polynomial (or a rational function with this sign) is nowhere negative on the domain.

        `wrong` says what is wrong where it is.

        Raises:
            ModelError: it is negative at a point, which the message names.
        """
        sign = self._sign(polynomial)
        if sign in (Sign.POSITIVE, Sign.NONNEGATIVE, Sign.ZERO):
            return
        for point in sample_points(self.domain):
            if self._value(polynomial, point) < 0:
                raise ModelError(f"{what} {wrong} at {show_point(point)}")
        self.obligations.append(Obligation(Claim(polynomial, self.domain), f"{what} {wrong}"))

    def distribution(self, entries: Mapping[str, RationalFunction], what: str) -> None:
        """Checks that the entries are nonnegative on the domain and sum to one identically.

        Raises:
            ModelError: an entry is negative at a point, or the sum is not one; the message says where.
        """
        parts: dict[str, RationalFunction] = {}  # the sums of entries with one denominator
        for name, entry in entries.items():
            self.nonnegative(entry.numerator * entry.denominator, f"{what}: the probability of {name}")
            below = str(entry.denominator)
            above = entry.numerator + parts[below].numerator if below in parts else entry.numerator
            parts[below] = RationalFunction(above, entry.denominator)
        total = RationalFunction.of(self.ring.number(0))
        for part in parts.values():
            total = total + RationalFunction.of(part.numerator, part.denominator)
        if total != RationalFunction.of(self.ring.number(1)):
            raise ModelError(f"{what}: the probabilities sum to {total} instead of 1")

    def _value(self, polynomial: Polynomial, point: Mapping[str, Fraction]) -> Fraction:
        """Returns the value at a point, its sign alone where that is no rational number."""
        if not tied_in(self.ring, polynomial):
            return value_at(polynomial, point)
        with suppress(LimitError):
            return Fraction(sign_at(self.domain, polynomial, point))
        return Fraction(1)  # not known here: what it is about becomes an obligation

    def _sign(self, polynomial: Polynomial) -> Sign | None:
        text = str(polynomial)
        if text not in self._signs:
            self._signs[text] = self._found_sign(polynomial)
        return self._signs[text]

    def _found_sign(self, polynomial: Polynomial) -> Sign | None:
        constant = self.domain.constant
        if constant and set(variables(polynomial)) == {GENERATOR}:
            return Sign.POSITIVE if constant.sign(in_generator(polynomial)) > 0 else Sign.NEGATIVE
        sign = sign_on(polynomial, self.domain)
        if sign is not None or len(polynomial) > 200:
            return sign
        # The sign of a product from the signs of its irreducible factors.
        content, factors = polynomial.factor()
        signs = [sign_on(factor, self.domain) for factor, multiplicity in factors if multiplicity % 2]
        if any(s not in (Sign.POSITIVE, Sign.NEGATIVE) for s in signs):
            return None
        if any(
            sign_on(factor, self.domain) not in (Sign.POSITIVE, Sign.NEGATIVE)
            for factor, multiplicity in factors
            if multiplicity % 2 == 0
        ):
            return None
        negative = (content < 0) ^ (sum(s is Sign.NEGATIVE for s in signs) % 2 == 1)
        return Sign.NEGATIVE if negative else Sign.POSITIVE


def check_domain(domain: Domain) -> Obligation | None:
    """Returns an obligation for a domain that may be empty: its claim must be refuted by a point.

    None if a point of the domain is known already.
    """
    if next(sample_points(domain), None) is not None:
        return None
    return Obligation(
        nowhere(domain),
        "the parameter domain is empty",
    )


def is_somewhere_positive(polynomial: Polynomial, domain: Domain) -> bool | None:
    """Tells whether a polynomial that is nonnegative on the domain is positive at a point; None if not known.

    A polynomial that is not zero has a nonzero value in every box with an inside, so on a branch that is one.
    """
    if domain.constant is None and any(
        sign_at(domain, polynomial, p) > 0 for p in islice(sample_points(domain), 20)
    ):
        return True
    parts = [(branch, branch.restrict(polynomial)) for branch in branches(domain)]
    if not any(rest for _, rest in parts):
        return False
    return True if any(rest and branch.is_box for branch, rest in parts) else None


def sample_points(domain: Domain, most: int = 2_000) -> Iterator[dict[str, Fraction]]:
    """Yields simple rational points of the domain, closed ends included, at most `most` tried."""
    choices: list[list[Fraction]] = []
    for name, interval in domain.box.items():
        width = interval.upper - interval.lower
        steps = [Fraction(n, d) for n, d in ((1, 2), (1, 4), (3, 4), (0, 1), (1, 1), (1, 16), (15, 16))]
        values = [interval.lower + width * s for s in steps]
        if name == GENERATOR or interval.is_point:
            values = values[:1]
        choices.append(list(dict.fromkeys([interval.simplest(), *(v for v in values if v in interval)])))
    for values_ in islice(product(*choices), most):
        point = dict(zip(domain.box, values_, strict=True))
        if point in domain:
            yield point


def show_point(point: Mapping[str, Fraction]) -> str:
    """Returns the parameters of a point in words, or what is meant where there are none."""
    return in_words({name: value for name, value in point.items() if name != GENERATOR}) or "every point"
