"""Products of polynomials as products of long numbers, against term by term."""

from fractions import Fraction
from random import Random

import pytest

from paramverify.kernel import evidence_polynomials
from paramverify.kernel.evidence_polynomials import derivative, integer, parse, ratio, times
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
    dense = {(k,): 255 for k in range(9)}
    assert evidence_polynomials.product(dense, {k: -v for k, v in dense.items()}) == {
        k: -v for k, v in by_terms(dense, dense).items()
    }
    assert evidence_polynomials.product({}, dense) == evidence_polynomials.product(dense, {}) == {}


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


def test_ratios_and_derivatives() -> None:
    """A polynomial that is a multiple of another one, and no other; and slopes in each variable."""
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


def test_products_have_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to multiply give one product, and none has more terms than 20 times a limit."""
    monkeypatch.setattr(evidence_polynomials, "MAX_COEFFICIENTS", 3)
    row = {(k,): Fraction(k + 1, 2) for k in range(10)}
    six = {(k,): row[k,] for k in range(6)}
    assert len(times(row, six)) == 15
    with pytest.raises(Rejected, match="too large"):
        times(row, {**six, (7,): Fraction(1)})
