"""Products of polynomials as products of long numbers, against term by term."""

from contextlib import nullcontext
from fractions import Fraction
from random import Random

import pytest

from paramverify.kernel import evidence_polynomials
from paramverify.kernel.evidence_polynomials import (
    MAX_EXPONENT,
    check_product,
    compose,
    degree,
    derivative,
    evaluate,
    integer,
    number,
    parse,
    ratio,
    times,
)
from paramverify.kernel.strict_reading import Rejected


def by_terms(
    left: evidence_polynomials.Whole, right: evidence_polynomials.Whole
) -> dict[tuple[int, ...], int]:
    found: dict[tuple[int, ...], int] = {}
    for x, c in left.items():
        for y, d in right.items():
            powers = tuple(a + b for a, b in zip(x, y, strict=True))
            found[powers] = found.get(powers, 0) + c * d
    return {powers: value for powers, value in found.items() if value}


def test_products() -> None:
    """Coefficients of all signs and lengths, at the ends of bytes too, in up to three variables."""
    random = Random(20)
    for _ in range(150):
        width, degree = random.choice([(1, 8), (1, 30), (2, 3), (2, 8), (3, 3)])
        bits = random.choice([1, 7, 8, 9, 63, 64, 200])

        def poly(width: int = width, degree: int = degree, bits: int = bits) -> dict[tuple[int, ...], int]:
            values = ((1 << bits) - 1, -(1 << bits) + 1, -(1 << bits), 1, -1)
            return {
                tuple(random.randint(0, degree) for _ in range(width)): random.choice(values)
                for _ in range(random.randint(1, 30))
            }

        left, right = poly(), poly()
        assert evidence_polynomials.product(left, right) == by_terms(left, right)
    for c in (sign * ((1 << bits) - less) for bits in range(1, 19) for sign in (1, -1) for less in (0, 1)):
        dense, ones = {(k,): c for k in range(8)}, {(k,): 1 for k in range(8)}
        assert evidence_polynomials.product(dense, ones) == by_terms(dense, ones)
    far = {(k, 10_000 * k, 10_000, 10_000 * k): k + 1 for k in range(9)}  # too many digits to be packed
    assert evidence_polynomials.product(far, far) == by_terms(far, far)
    assert evidence_polynomials.product({}, far) == evidence_polynomials.product(far, {}) == {}


def test_long_numbers() -> None:
    """Digits are read in pieces, with zeros anywhere, up to a number of them."""
    for size in (1, 3_999, 4_000, 4_001, 8_001):
        for digits in ("7" * size, "1" + "0" * (size - 1), "0" * (size - 1) + "3"):
            value = 0
            for start in range(0, size, 1_000):
                piece = digits[start : start + 1_000]
                value = value * int("1" + "0" * len(piece)) + int(piece)
            assert integer(digits) == value
    assert integer("1" * evidence_polynomials.MAX_DIGITS) > 0
    for text in ("1" * (evidence_polynomials.MAX_DIGITS + 1), "", "-1", "1.5", "1e3", "\u0661"):
        with pytest.raises(Rejected, match="not a whole number"):
            integer(text)
    for wrong in (None, 1, "1/0", "--1", "1/-2"):
        with pytest.raises(Rejected):
            number(wrong)


def test_exponents_have_a_largest_number() -> None:
    """That of a variable is the sum of those of its powers; what is no text is no polynomial."""
    for text in (f"x^{MAX_EXPONENT}", f"x^{MAX_EXPONENT - 1}*y*x"):
        assert max(map(max, parse(text, "xy"))) == MAX_EXPONENT
        for wrong in (f"x*{text}", f"y + {text}*x", None, 1):
            with pytest.raises(Rejected, match=r"an exponent is larger|must be a string"):
                parse(wrong, "xy")


def test_ratios_and_derivatives() -> None:
    """A polynomial that is a multiple of another one, and no other; slopes, and values of composed ones."""
    for left, right, known in (
        ("2*x + 4*y", "x + 2*y", 2),
        ("-x", "3*x", Fraction(-1, 3)),
        ("2*x + 4*y", "x + y", None),
        ("x", "x + y", None),
        ("x + y", "x", None),
        ("x", "y", None),
        ("0", "x", None),
        ("x", "0", None),
    ):
        assert ratio(parse(left, "xyz"), parse(right, "xyz")) == known
    poly = parse("x^3*y^2*z - 5*y*z^2 + 7*x + 2", "xyz")
    for axis, text in enumerate(("3*x^2*y^2*z + 7", "2*x^3*y*z - 5*z^2", "x^3*y^2 - 10*y*z")):
        assert derivative(poly, axis) == parse(text, "xyz")
        at, image = [Fraction(2), Fraction(-1, 3), Fraction(5)], parse("z^2 - 2*x*y + 3", "xyz")
        put = [*at[:axis], evaluate(image, at), *at[axis + 1 :]]
        assert evaluate(compose(poly, axis, image), at) == evaluate(poly, put)
        assert compose({}, axis, image) == {}
        assert degree({}, axis) == 0


def test_products_of_factors() -> None:
    """A product is the polynomial, of no more factors and powers than this has degrees, and not of zero."""
    factors = [parse(text, "xy") for text in ("0", "x", "x + 1", "2")]
    given: list[tuple[str, int, list[tuple[int, int]], bool]] = [
        ("2*x^2 + 2*x", 2, [(1, 1), (2, 1)], True),
        ("x^2 + 2*x + 1", 1, [(2, 2)], True),
        ("x^2", 1, [(1, 1)], False),
        ("2", 1, [(-1, 1)], False),
        ("2", 1, [(4, 1)], False),
        ("1", 1, [(3, 0)], False),
        ("0", 0, [], False),
        ("0", 1, [(0, 1)], True),
        ("0", 1, [(0, 2)], False),
        ("0", 1, [(0, 1), (1, 1)], True),
        ("0", 1, [(0, 1), (1, 2)], False),
        ("0", 1, [(0, 1), (1, 1), (3, 1)], False),
    ]
    for poly, content, powers, right in given:
        with nullcontext() if right else pytest.raises(Rejected):
            check_product(parse(poly, "xy"), Fraction(content), powers, factors, 2)


def test_products_have_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to multiply give one product, and none has more terms than 20 times a limit."""
    monkeypatch.setattr(evidence_polynomials, "MAX_COEFFICIENTS", 3)
    row = {(k,): Fraction(k + 1, 2) for k in range(10)}
    six = {(k,): row[k,] for k in range(6)}
    assert len(times(row, six)) == 15
    with pytest.raises(Rejected, match="too large"):
        times({(k,): Fraction(1) for k in range(31)}, {(k,): row[k,] for k in range(2)})
