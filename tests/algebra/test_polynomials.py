"""Polynomials and rational functions: arithmetic against values at rational points, and canonical forms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import gcd

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import (
    FEW,
    NAMES,
    RING,
    Token,
    arithmetic,
    points,
    polynomials,
    rational_functions,
    rationals,
    text_of,
)

from paramverify.algebra.constants import ExpConstant, generator
from paramverify.algebra.expressions import evaluate, parse
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    RationalFunction,
    Ring,
    common_denominator,
    constant_value,
    exponents,
    fraction,
    is_constant,
    key,
    primitive,
    rational,
    substitute,
    to_rational_function,
    value_at,
    variables,
)
from paramverify.algebra.rationals import simplest_between
from paramverify.errors import ExpressionError


def value(function: RationalFunction, point: Point) -> Fraction | None:
    """Returns the value of a quotient, or None where the denominator vanishes."""
    below = value_at(function.denominator, point)
    return value_at(function.numerator, point) / below if below else None


def read(text: str, ring: Ring = RING) -> RationalFunction:
    return to_rational_function(parse(text), ring)


@FEW
@given(rationals(-(10**40), 10**40, 10**40))
def test_numbers_pass_through_flint_unchanged(number: Fraction) -> None:
    """A rational comes back from flint as it went in, however large."""
    assert fraction(rational(number)) == number


@FEW
@given(polynomials(), polynomials(), points(), st.integers(0, 4))
def test_ring_operations(f: Polynomial, g: Polynomial, point: Point, n: int) -> None:
    """Sums, products and powers of polynomials have the sums, products and powers of the values."""
    at_f, at_g = value_at(f, point), value_at(g, point)
    assert value_at(f + g, point) == at_f + at_g
    assert value_at(f * g, point) == at_f * at_g
    assert value_at(f**n, point) == at_f**n


@pytest.mark.slow
@FEW
@given(st.dictionaries(st.tuples(*[st.integers(0, 3)] * 3), rationals(), max_size=6), points())
def test_from_terms(terms: dict[tuple[int, ...], Fraction], point: Point) -> None:
    """A polynomial built from exponent vectors has the value of that sum of monomials."""
    expected = Fraction(0)
    for powers, coefficient in terms.items():
        monomial = Fraction(1)
        for name, power in zip(NAMES, powers, strict=True):
            monomial *= point[name] ** power
        expected += coefficient * monomial
    assert value_at(RING.from_terms(terms), point) == expected


@FEW
@given(polynomials(max_degree=12, max_terms=8))
def test_the_canonical_text_is_read_back(f: Polynomial) -> None:
    """The canonical text of a polynomial determines it."""
    assert RING.parse(key(f)) == f


def test_canonical_text_with_names_that_contain_each_other() -> None:
    """Names that are prefixes of each other, and the generator E, survive the canonical text."""
    ring = Ring(("p", "p_1", "p11", "pE"), ExpConstant(Fraction(1, 2)))
    f = ring.number(Fraction(-2, 7))
    for power, name in enumerate(ring.names, start=1):
        f = f * ring.variable(name) ** power + ring.variable(name)
    assert ring.parse(key(f)) == f
    assert variables(f) == ("p", "p_1", "p11", "pE", "E")


@FEW
@given(polynomials(), rationals(-9, 9, 50))
def test_primitive(f: Polynomial, factor: Fraction) -> None:
    """`primitive` gives a positive content, and a polynomial with coprime whole coefficients."""
    content, part = primitive(f * rational(factor))
    assert content > 0
    assert part * rational(content) == f * rational(factor)
    coefficients = [fraction(c) for c in part.coeffs()]
    assert all(c.denominator == 1 for c in coefficients)
    assert gcd(*(c.numerator for c in coefficients)) == (1 if part else 0)


@FEW
@given(polynomials(), points(), st.sets(st.sampled_from(NAMES)))
def test_substitution(f: Polynomial, point: dict[str, Fraction], chosen: set[str]) -> None:
    """Replacing some variables by their values leaves the value unchanged and removes those variables."""
    part = substitute(f, {name: point[name] for name in chosen})
    assert value_at(part, point) == value_at(f, point)
    assert not chosen & set(variables(part))
    if chosen == set(NAMES):
        assert is_constant(part)
        assert constant_value(part) == value_at(f, point)


def test_variables_are_those_that_occur() -> None:
    """A variable that cancels does not occur; the order is that of the ring."""
    assert variables(read("r*p - r*p + q + p**2").numerator) == ("p", "q")
    assert variables(RING.number(3)) == variables(RING.number(0)) == ()
    assert is_constant(RING.number(0))
    assert constant_value(RING.number(0)) == 0


def is_canonical(function: RationalFunction) -> bool:
    """Tells whether it is in lowest terms, with a primitive denominator of positive leading coefficient."""
    below = function.denominator
    coprime = function.numerator.gcd(below).is_one() if function.numerator else below.is_one()
    return bool(coprime and primitive(below) == (Fraction(1), below) and below.leading_coefficient() > 0)


OPERATIONS: list[Callable[..., Fraction]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
]


@pytest.mark.slow
@FEW
@given(rational_functions(), rational_functions(), points(), st.sampled_from(OPERATIONS))
def test_quotients(
    f: RationalFunction, g: RationalFunction, point: Point, operation: Callable[..., RationalFunction]
) -> None:
    """Sums, differences, products and quotients have the right values and are in canonical form."""
    assume(g.numerator)
    result = operation(f, g)
    assert is_canonical(result)
    at_f, at_g = value(f, point), value(g, point)
    assume(at_f is not None and at_g)
    assert value(result, point) == operation(at_f, at_g)


@pytest.mark.slow
@FEW
@given(rational_functions(), st.integers(-3, 3), points())
def test_powers(f: RationalFunction, n: int, point: Point) -> None:
    """Powers, also negative ones, have the powers of the values and are in canonical form."""
    assume(f.numerator)
    assert is_canonical(f**n)
    at_f = value(f, point)
    assume(at_f)
    assert at_f is not None
    assert value(f**n, point) == at_f**n


@pytest.mark.slow
@FEW
@given(rational_functions(), rational_functions())
def test_equal_functions_are_equal(f: RationalFunction, g: RationalFunction) -> None:
    """Two ways to compute one function give equal objects with equal hashes."""
    assert (f + g) - g == f
    if g.numerator:
        assert f * g / g == f
        assert hash(f * g / g) == hash(f)
    assert (f + g) ** 2 == f**2 + f * g + g * f + g**2


def test_division_by_the_zero_function() -> None:
    """Dividing by the zero function, or inverting it, is an error of Python's kind."""
    zero, one = RationalFunction.of(RING.number(0)), RationalFunction.of(RING.number(1))
    with pytest.raises(ZeroDivisionError):
        one / zero
    with pytest.raises(ZeroDivisionError):
        zero**-1
    assert zero**0 == one


@pytest.mark.slow
@FEW
@given(st.lists(rational_functions(), max_size=4))
def test_common_denominator(functions: list[RationalFunction]) -> None:
    """The common denominator is a multiple of every denominator and divides their product."""
    common = common_denominator(functions, RING)
    product = RING.number(1)
    for function in functions:
        assert not divmod(common, function.denominator)[1]
        product = product * function.denominator
    assert not divmod(product, common)[1]


@FEW
@given(arithmetic(functions=False), points())
def test_expressions_as_functions(tokens: tuple[Token, ...], point: Point) -> None:
    """The rational function of an expression has the expression's value wherever that is defined."""
    expression = parse(text_of(tokens))
    try:
        expected = evaluate(expression, point)
    except ExpressionError as error:
        if error.reason != "division by zero":
            raise
        return
    function = to_rational_function(expression, RING)  # some division is by zero everywhere: no value above
    assert is_canonical(function)
    assert value(function, point) == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("(1-p)**2", "p^2 - 2*p + 1"),
        ("p/p", "1"),
        ("(p**2 - q**2)/(p - q)", "p + q"),
        ("p/(1-p)", "(-p) / (p - 1)"),
        ("1/(2*p) - 1/(3*q)", "(-1/3*p + 1/2*q) / (p*q)"),
        ("0.1 + p*0", "1/10"),
        ("true*p", "p"),
    ],
)
def test_shown(text: str, shown: str) -> None:
    """Functions are reduced to lowest terms before they are shown."""
    assert str(read(text)) == shown


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ("1 + 1/(p - p)", "division by zero", 7),
        ("(p - p)**-1", "division by zero", 1),
        ("1 + s", "unknown name 's'; known here: p, q, r", 4),
        ("p + 'a'", "a label is not a number", 4),
        ("p < q", "< is not allowed here: expressions of parameters support + - * / ** only", 0),
        ("1 + abs(p)", "abs is not allowed here: expressions of parameters support + - * / ** only", 4),
        ("p*ln(2)", "ln is not allowed here: expressions of parameters support + - * / ** only", 2),
        (
            "exp(p)",
            "exp supports numbers, and multiples of parameters with the domain (0, oo), but p is neither",
            4,
        ),
        ("exp('a')", "exp needs a rational number", 0),
        ("2*exp(1/3)", "exp of this number is not a power of the case's generator", 2),
        ("(p + q + r + 1)**200", "the power is too large to be expanded", 1),
        ("(3**900*p)**100", "the power is too large to be expanded", 1),
        ("((p**1000)**10)*p", "the product is too large to be expanded", 2),
        ("(p + q + r + 1)**80*(p + q + 2*r + 1)**80", "the product is too large to be expanded", 1),
        ("(p**1000)**11", "the power is too large to be expanded", 1),
    ],
)
def test_refused(text: str, reason: str, column: int) -> None:
    """What is not a rational function, or too large to be expanded, is refused with reason and place."""
    with pytest.raises(ExpressionError) as caught:
        read(text, Ring(NAMES, ExpConstant(Fraction(1, 2))))
    assert (caught.value.reason, caught.value.column) == (reason, column)


def test_definitions() -> None:
    """Names may stand for functions that were defined before."""
    half = to_rational_function(parse("q/2"), RING)
    assert to_rational_function(parse("f + p"), RING, {"f": half}) == read("q/2 + p")


def test_exponentials_are_powers_of_the_generator() -> None:
    """All exp(q) become whole powers of E = exp(g), where g is the greatest common divisor."""
    texts = [parse(text) for text in ("exp(1/2)*p", "exp(-1/3) + exp(0)", "exp(2/4)**-2")]
    constant = generator(exponents(texts)[""])
    assert constant == ExpConstant(Fraction(1, 6))
    functions = [to_rational_function(text, Ring(("p",), constant)) for text in texts]
    assert [str(f) for f in functions] == ["p*E^3", "(E^2 + 1) / (E^2)", "(1) / (E^6)"]


def test_arguments_of_exp() -> None:
    """Every argument of exp is found, inside other functions and exponents too."""
    expressions = [parse("p + exp(1/2)*exp(-3)"), parse("q"), parse("max(exp(2/3), 1)")]
    assert exponents(expressions) == {"": [Fraction(1, 2), Fraction(-3), Fraction(2, 3)]}
    with pytest.raises(ExpressionError, match="exp needs a rational number"):
        exponents([parse("exp('a')")])


@FEW
@given(rationals(-5, 5, 40), rationals(-5, 5, 40))
def test_simplest_rational(a: Fraction, b: Fraction) -> None:
    """`simplest_between` finds the smallest denominator, and then the smallest absolute numerator."""
    assume(a != b)
    low, high = min(a, b), max(a, b)
    found = simplest_between(low, high)
    assert low < found < high
    for denominator in range(1, found.denominator + 1):
        inside = [
            n for n in range(-5 * denominator, 5 * denominator + 1) if low < Fraction(n, denominator) < high
        ]
        if denominator < found.denominator:
            assert inside == []
        else:
            assert abs(found.numerator) == min(map(abs, inside))


@FEW
@given(rationals(), rationals())
def test_simplest_rational_of_nothing(a: Fraction, b: Fraction) -> None:
    """An empty open interval is refused."""
    with pytest.raises(ValueError, match="no rational strictly between"):
        simplest_between(max(a, b), min(a, b))


@FEW
@given(rationals(-3, 3, 10**30), st.integers(1, 400))
def test_simplest_rational_of_narrow_intervals(low: Fraction, bits: int) -> None:
    """In an open interval of width w lies a rational with a denominator of at most 1/w + 1."""
    high = low + Fraction(1, 2**bits)
    found = simplest_between(low, high)
    assert low < found < high
    assert found.denominator <= 2**bits + 1
