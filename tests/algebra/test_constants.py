"""The constants exp(q), against Python's decimals, which round exp correctly; and budgets made of them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import pytest
from flint import arb, fmpq, fmpq_poly
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import FEW, rationals

from paramverify.algebra import constants
from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.constants import (
    ExpConstant,
    generator,
    lower_bound,
    upper_bound,
)
from paramverify.algebra.expressions import Name, Node, Operation, parse
from paramverify.algebra.polynomials import Ring, to_rational_function
from paramverify.errors import ExpressionError, InputError, LimitError

DIGITS = 200  # more than any enclosure below has


def exponentials() -> st.SearchStrategy[ExpConstant]:
    """Constants exp(q) with 0 < q ≤ 20, of any size of the fraction."""
    return rationals(0, 20, 1000).filter(bool).map(ExpConstant)


def exp(q: Fraction) -> Fraction:
    """Returns exp(q) with a relative error below 10**-190."""
    with localcontext(Context(prec=DIGITS)):
        return Fraction((Decimal(q.numerator) / Decimal(q.denominator)).exp())


@FEW
@given(exponentials(), st.integers(1, 400))
def test_enclosure(constant: ExpConstant, bits: int) -> None:
    """The enclosure contains exp(q) strictly inside, and is at most 2**-bits wide relative to it."""
    low, high = constant.enclosure(bits)
    value = exp(constant.exponent)
    assert low < value < high
    assert high - low <= value / 2**bits


@FEW
@given(exponentials())
def test_finer_enclosures_lie_inside(constant: ExpConstant) -> None:
    """More bits give a narrower enclosure."""
    widths = [high - low for low, high in map(constant.enclosure, (8, 16, 64, 256))]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 4


def test_enclosure_has_small_numbers() -> None:
    """The ends are simple rationals: an enclosure of e within 2**-8 needs two digits."""
    low, high = ExpConstant(Fraction(1)).enclosure(8)
    assert max(low.denominator, high.denominator) < 100


def polynomial(coefficients: Sequence[Fraction]) -> fmpq_poly:
    return fmpq_poly([fmpq(c.numerator, c.denominator) for c in coefficients])


@FEW
@given(exponentials(), st.lists(rationals(), max_size=6))
def test_sign(constant: ExpConstant, coefficients: list[Fraction]) -> None:
    """The sign of a polynomial at exp(q) is that of its value with 200 digits."""
    value, at = Fraction(0), exp(constant.exponent)
    for coefficient in reversed(coefficients):
        value = value * at + coefficient
    assume(abs(value) > Fraction(1, 10**50) or not any(coefficients))
    assert constant.sign(polynomial(coefficients)) == (value > 0) - (value < 0)


@FEW
@given(exponentials(), st.integers(1, 400))
def test_sign_close_to_a_root(constant: ExpConstant, bits: int) -> None:
    """The sign is right at a distance of 2**-bits from a root, where floats see zero."""
    low, high = constant.enclosure(bits)
    assert constant.sign(polynomial([-low, Fraction(1)])) == 1
    assert constant.sign(polynomial([-high, Fraction(1)])) == -1
    assert constant.sign(polynomial([low * high, -low - high, Fraction(1)])) == -1


@pytest.mark.slow
def test_sign_gives_up_at_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closer to a root than the highest precision can tell, the sign is not guessed."""
    monkeypatch.setattr(constants, "MAX_PRECISION", 1 << 12)
    constant = ExpConstant(Fraction(1))
    low, _ = constant.enclosure((1 << 12) + 100)
    with pytest.raises(LimitError, match="undecided"):
        constant.sign(polynomial([-low, Fraction(1)]))


@FEW
@given(st.lists(st.integers(-240, 240).map(lambda n: Fraction(n, 12)), max_size=6))
def test_generator(exponents: list[Fraction]) -> None:
    """Every exponent is a whole multiple of the generator's, and these multiples have no common divisor."""
    constant = generator(exponents)
    if constant is None:
        assert not any(exponents)
        return
    assert constant.exponent > 0
    steps = [q / constant.exponent for q in exponents]
    assert all(step.denominator == 1 for step in steps)
    larger = [[step / divisor for step in steps] for divisor in (2, 3, 5, 7, 11)]
    assert all(any(step.denominator > 1 for step in row) for row in larger)
    assert generator(reversed(exponents)) == constant


@pytest.mark.parametrize(
    ("exponents", "message"),
    [
        ([Fraction(1000), Fraction(1, 1000)], "exponents of exp is too small: more than 10,000 steps"),
        ([Fraction(12, 997), Fraction(1, 1009)], "exponents of exp is too small: more than 10,000 steps"),
        ([Fraction("1.500001"), Fraction(1), Fraction(1, 2)], "1.500001 does not fit the others: use 1.5"),
        ([Fraction("0.1234567"), Fraction(1, 2)], "0.1234567 does not fit the others: use 10/81"),
        ([Fraction(1, 20011), Fraction(1)], "1/20011 does not fit the others: use 0.0001"),
    ],
)
def test_generator_is_bounded(exponents: list[Fraction], message: str) -> None:
    """Exponents that would need huge powers of the generator are refused at once."""
    with pytest.raises(LimitError, match=message):
        generator(exponents)


@pytest.mark.parametrize("exponents", [[Fraction(10) ** 100], [Fraction(1), Fraction(-2001, 2)]])
def test_huge_exponents_are_bad_input(exponents: list[Fraction]) -> None:
    """An exponent that would need huge numbers is the user's mistake, and named."""
    with pytest.raises(InputError, match="epsilon and the arguments of exp must be at most 1,000"):
        generator(exponents)


@pytest.mark.parametrize("text", ["1000000000*ln(2)", "ln(2)*-1001", "ln(3)/(1/2000)"])
def test_logarithms_in_budgets_are_bounded(text: str) -> None:
    """A multiple of a logarithm that would be a huge power is refused."""
    with pytest.raises(ExpressionError, match="the factor of a logarithm must be at most 1000"):
        read_epsilon(parse(text))


@pytest.mark.parametrize(
    ("text", "rational", "logarithms"),
    [
        ("1.372", Fraction(343, 250), []),
        ("ln(2)", Fraction(0), [(1, "2")]),
        ("4*ln(2) - 1/2", Fraction(-1, 2), [(4, "2")]),
        ("-ln(alpha)", Fraction(0), [(-1, "alpha")]),
        ("2*(ln(3) - 2*ln(1 + p)) + 3", Fraction(3), [(2, "3"), (-4, "1 + p")]),
        ("ln(9)/(1/2) + 2**3/4", Fraction(2), [(2, "9")]),
    ],
)
def test_budgets(text: str, rational: Fraction, logarithms: list[tuple[int, str]]) -> None:
    """A budget is a rational number plus whole multiples of logarithms."""
    budget = read_epsilon(parse(text))
    assert budget.rational == rational
    found = [(factor, unplaced(argument.root)) for factor, argument in budget.logarithms]
    assert found == [(factor, unplaced(parse(argument).root)) for factor, argument in logarithms]


def unplaced(node: Node) -> object:
    """Returns a tree without the columns."""
    if isinstance(node, Operation):
        return (node.operator, *map(unplaced, node.arguments))
    return node.name if isinstance(node, Name) else node.value


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        (
            "ln(2)/2",
            "the factor of a logarithm must be a whole number, not 1/2, because e^epsilon would be a root",
            0,
        ),
        (
            "1 + p",
            "epsilon must be a sum of numbers and ln(...); a parameter is allowed only inside ln, "
            'unless its domain is "(0, oo)"; '
            "for a bound b on e^epsilon, write ln(b)",
            4,
        ),
        (
            "ln(2)*ln(3)",
            "epsilon must be a sum of numbers and ln(...); for a bound b on e^epsilon, write ln(b)",
            0,
        ),
        ("2*ln(-2)", "the argument of ln must be above 0", 5),
        ("ln(1/2) + ln(2 - 3) + ln(-4)", "the argument of ln must be above 0", 13),
        (
            "2/ln(3)",
            "epsilon must be a sum of numbers and ln(...); for a bound b on e^epsilon, write ln(b)",
            0,
        ),
        (
            "1 + exp(1)",
            "epsilon must be a sum of numbers and ln(...); for a bound b on e^epsilon, write ln(b)",
            4,
        ),
        ("ln(2)/0", "a factor must be a number, and a divisor must not be 0", 6),
        ("'a'", "epsilon must be a sum of numbers and ln(...); for a bound b on e^epsilon, write ln(b)", 0),
    ],
)
def test_not_a_budget(text: str, reason: str, column: int) -> None:
    """Whatever is not such a sum is refused with its reason and its place."""
    with pytest.raises(ExpressionError) as caught:
        read_epsilon(parse(text))
    assert (caught.value.reason, caught.value.column) == (reason, column)


def test_ratio_of_a_budget() -> None:
    """e^ε is a rational function of the parameters and the generator."""
    ring = Ring(("alpha",), ExpConstant(Fraction(1, 4)))
    budget = read_epsilon(parse("1/2 + 2*ln(3) - ln(alpha)"))
    ratio = budget.ratio(ring, lambda argument: to_rational_function(argument, ring))
    assert ratio == to_rational_function(parse("9*exp(1/2)/alpha"), ring)


@FEW
@given(rationals(-20, 20, 1000))
def test_bounds_of_a_ball(q: Fraction) -> None:
    """The rational bounds of a ball contain its value and do not lose its precision."""
    ball = arb(fmpq(q.numerator, q.denominator)).exp()
    low, high = lower_bound(ball), upper_bound(ball)
    assert low <= exp(q) <= high
    assert high - low < exp(q) / 2**30
