"""The measure of privacy: its claims, its witnesses and its budgets mean the same comparison."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from flint import fmpq, fmpq_poly

from paramverify.algebra.polynomials import RationalFunction, Ring, value_at
from paramverify.algebra.reals import Real
from paramverify.divergences import MaxDivergence

RING = Ring(("p", "q"))


def real(value: Fraction) -> Real:
    return Real.of(fmpq_poly([fmpq(value.numerator, value.denominator)]), fmpq_poly([1]), None)


def test_claims_witnesses_and_leaks_agree() -> None:
    """left ≤ ratio · right is the claim at every point, the witness there, and the leak against the bound."""
    random = Random(5)
    left, right = RING.parse("p^2 + q/3"), RING.parse("p*q + 1/7")
    ratio = RationalFunction(RING.parse("1 + p"), RING.parse("2 - q"))
    top, bottom = RING.parse("3"), RING.parse("2")
    own = MaxDivergence(ratio)
    for measure, scale in ((own, Fraction(1)), (own.scaled(top, bottom), Fraction(3, 2))):
        outcomes = set()
        for _ in range(200):
            point = {name: Fraction(random.randint(0, 12), 12) for name in "pq"}
            p, q = point["p"], point["q"]
            more, less = p**2 + q / 3, p * q + Fraction(1, 7)
            bound = scale * (1 + p) / (2 - q)
            within = more <= bound * less
            outcomes.add(within)
            assert (value_at(measure.claim(left, right), point) >= 0) == within
            assert measure.exceeds(real(more), real(less), real(bound)) != within
            found = MaxDivergence.leak(real(more), real(less))
            assert found is not None
            assert found.rational == more / less
        assert outcomes == {True, False}


def test_what_is_impossible_on_the_right_leaks_without_limit() -> None:
    """No number bounds an output that one secret makes impossible."""
    assert MaxDivergence.leak(real(Fraction(1, 5)), real(Fraction(0))) is None


def test_the_bound_as_a_number_and_its_variables() -> None:
    """A number has no variables; a bound with parameters names them; both write themselves for evidence."""
    assert MaxDivergence.number(RING, Fraction(5, 2)).variables == frozenset()
    own = MaxDivergence(RationalFunction(RING.parse("1 + p"), RING.parse("1")))
    assert own.variables == {"p"}
    assert own.document() == {"ratio": ["p + 1", "1"]}
    assert own.map(lambda f: f + f).document() == {"ratio": ["2*p + 2", "2"]}
