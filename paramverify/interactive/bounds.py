"""Exact comparisons of probabilities with powers of a ratio e^δ, on the whole parameter domain.

For numbers the answer is computed; with the constant E = exp(g) its sign is decided exactly; with parameters
the comparison becomes a claim, which a session decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from flint import fmpq

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    in_generator,
    is_constant,
    primitive,
    variables,
)
from paramverify.claims import Claim
from paramverify.models.checks import Checks
from paramverify.models.interactive.weights import Weight, as_function, is_number, number_of
from paramverify.portfolio.session import Session
from paramverify.verdicts import Decision, Open, Proved, Refuted


@dataclass
class Judge:
    """Compares weights of one system; remembers the claims that were decided.

    Denominators of weights have no zero on the domain; where that is not decided at once, it becomes an
    obligation of `checks`. Without a session, claims stay open. `refuted` collects points at which claims
    fail, and `open` is why the last open one is open.
    """

    checks: Checks
    session: Session | None = None
    decided: dict[str, tuple[Claim, Decision]] = field(default_factory=dict)
    refuted: list[dict[str, Fraction]] = field(default_factory=list)
    open: str = ""
    _signs: dict[str, bool] = field(default_factory=dict)

    def at_most(self, left: Weight, right: Weight, ratio: Weight = 1) -> bool:
        """Tells whether left ≤ ratio·right is proved at every point of the domain.

        With numbers and with E, what is not proved is false; with parameters it may be open.
        """
        if isinstance(left, fmpq) and isinstance(right, fmpq) and isinstance(ratio, (fmpq, int)):
            return bool(left <= ratio * right)
        return self.nonnegative(self.difference(left, right, ratio))

    @property
    def domain(self) -> Domain:
        """The parameter domain."""
        return self.checks.domain

    def oriented(self, weight: Weight) -> tuple[Polynomial, Polynomial]:
        """Returns numerator and denominator of a weight, the denominator positive on the domain."""
        function = as_function(weight, self.domain.ring)
        if function.denominator.is_one():
            return function.numerator, function.denominator
        text = str(function.denominator)
        if text not in self._signs:
            positive = self.checks.positive(function.denominator, "the denominator of a probability")
            self._signs[text] = positive == function.denominator
        if self._signs[text]:
            return function.numerator, function.denominator
        return -function.numerator, -function.denominator

    def difference(self, left: Weight, right: Weight, ratio: Weight = 1) -> Polynomial:
        """Returns a polynomial with the sign of ratio·right − left, cleared of positive denominators."""
        (a, ad), (b, bd), (c, cd) = (
            self.oriented(fmpq(w) if isinstance(w, int) else w) for w in (left, right, ratio)
        )
        return primitive(c * b * ad - cd * a * bd)[1]

    def nonnegative(self, polynomial: Polynomial) -> bool:
        """Tells whether f ≥ 0 is proved on the whole domain."""
        if is_constant(polynomial):
            return not polynomial or bool(polynomial.leading_coefficient() > 0)
        constant = self.domain.constant
        if constant and set(variables(polynomial)) == {GENERATOR}:
            return constant.sign(in_generator(polynomial)) >= 0
        if self.session is None:
            return False
        claim = Claim(polynomial, self.domain)
        text = str(polynomial)
        if text not in self.decided:
            decision = self.session.decide(claim)
            self.decided[text] = (claim, decision)
            if isinstance(decision.answer, Refuted):
                self.refuted.append(dict(decision.answer.point))
            if isinstance(decision.answer, Open):
                self.open = decision.answer.detail or decision.answer.end.value
        return isinstance(self.decided[text][1].answer, Proved)


def power(ratio: Weight, exponent: int) -> Weight:
    """Returns ratio^exponent, as a number if it is one."""
    if isinstance(ratio, RationalFunction):
        return number_of(ratio) ** exponent if is_number(ratio) else ratio**exponent
    return ratio**exponent


def plain(function: RationalFunction) -> Weight:
    """Returns a rational function as a number if it is one."""
    return number_of(function) if is_number(function) else function
