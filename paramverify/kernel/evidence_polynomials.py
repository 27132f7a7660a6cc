"""Numbers and polynomials of evidence: Fractions, and dictionaries from exponents to coefficients.

A large product of two polynomials with whole coefficients is computed as one product of long numbers. Each
polynomial is written as a number in a base B, the coefficient of each monomial as one digit: x^i·y^j has the
place i·(m + 1) + j, where m is the largest power of y in the product. So no two monomials of the product
share a place. Each coefficient c of the product has |c| < B/2. With B/2 added at each place all digits are at
least 0 and below B, so they can be read off.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm, prod
from typing import Any

from .strict_reading import Rejected

# --- products ---------------------------------------------------------------------------------------

Whole = Mapping[tuple[int, ...], int]

FEW = 64  # products of two terms, for which packing does not pay
SPARSE = 16  # places for each term: with more most digits are zero


def product(left: Whole, right: Whole) -> dict[tuple[int, ...], int]:
    """Returns the product, without zeros."""
    if not left or not right:
        return {}
    both = zip(zip(*left, strict=True), zip(*right, strict=True), strict=True)
    sizes = [max(x) + max(y) + 1 for x, y in both]
    places = prod(sizes)
    if len(left) * len(right) < FEW or places > SPARSE * (len(left) + len(right)):
        return _by_terms(left, right)
    largest = max(map(abs, left.values())) * max(map(abs, right.values())) * min(len(left), len(right))
    width = largest.bit_length() // 8 + 1  # bytes of a digit: largest < 256**width / 2
    half = 1 << (8 * width - 1)
    bias = int.from_bytes(half.to_bytes(width, "little") * places, "little")
    total = _number(left, sizes, width) * _number(right, sizes, width) + bias
    digits = total.to_bytes(places * width, "little")
    found: dict[tuple[int, ...], int] = {}
    for place, powers in enumerate(itertools.product(*map(range, sizes))):
        value = int.from_bytes(digits[place * width : (place + 1) * width], "little") - half
        if value:
            found[powers] = value
    return found


def _by_terms(left: Whole, right: Whole) -> dict[tuple[int, ...], int]:
    found: dict[tuple[int, ...], int] = {}
    for x, c in left.items():
        for y, d in right.items():
            powers = tuple(map(int.__add__, x, y))
            found[powers] = found.get(powers, 0) + c * d
    return {powers: value for powers, value in found.items() if value}


def _number(poly: Whole, sizes: Sequence[int], width: int) -> int:
    signed = [bytearray(prod(sizes) * width), bytearray(prod(sizes) * width)]
    for powers, value in poly.items():
        place = 0
        for power, size in zip(powers, sizes, strict=True):
            place = place * size + power
        signed[value < 0][place * width : (place + 1) * width] = abs(value).to_bytes(width, "little")
    positive, negative = (int.from_bytes(digits, "little") for digits in signed)
    return positive - negative


# --- polynomials ------------------------------------------------------------------------------------

MAX_COEFFICIENTS = 2_000_000  # of one Bernstein form, or terms of one product
MAX_EXPONENT = 10_000
MAX_DIGITS = 200_000


ONE = Fraction(1)
Poly = dict[tuple[int, ...], Fraction]
Box = dict[str, tuple[Fraction, Fraction]]
Condition = tuple[Poly, bool]


def integer(text: str) -> int:
    """Reads digits; in pieces, since Python bounds the length of one conversion."""
    if not re.fullmatch(r"[0-9]+", text) or len(text) > MAX_DIGITS:
        raise Rejected(f"not a whole number: {text[:40]!r}")
    value = 0
    for start in range(0, len(text), 4000):
        piece = text[start : start + 4000]
        value = value * 10 ** len(piece) + int(piece)
    return value


def number(text: Any) -> Fraction:
    """Reads an exact rational such as `-3/2`."""
    if not isinstance(text, str):
        raise Rejected(f"a number must be a string, not {text!r:.40}")
    top, slash, bottom = text.removeprefix("-").partition("/")
    denominator = integer(bottom) if slash else 1
    if not denominator:
        raise Rejected("a denominator is zero")
    value = Fraction(integer(top), denominator)
    return -value if text.startswith("-") else value


def parse(text: Any, names: Sequence[str]) -> Poly:
    """Reads a polynomial such as `3/2*p^2*q - p + 1`."""
    if not isinstance(text, str):
        raise Rejected(f"a polynomial must be a string, not {text!r:.40}")
    pieces = re.split(r" ([+-]) ", text.removeprefix("-"))
    signs = ["-" if text.startswith("-") else "+", *pieces[1::2]]
    result: Poly = {}
    for sign, term in zip(signs, pieces[::2], strict=True):
        coefficient, exponents = Fraction(1 if sign == "+" else -1), [0] * len(names)
        for part in term.split("*"):
            name, power, exponent = part.partition("^")
            if name in names:
                exponents[names.index(name)] += integer(exponent) if power else 1
                if max(exponents) > MAX_EXPONENT:
                    raise Rejected(f"an exponent is larger than {MAX_EXPONENT}")
            elif part.startswith("-"):
                raise Rejected(f"not a polynomial: {text[:60]!r}")
            else:
                coefficient *= number(part)
        add(result, tuple(exponents), coefficient)
    return result


def add(target: Poly, exponents: tuple[int, ...], coefficient: Fraction) -> None:
    """Adds one term to a polynomial in place."""
    total = target.get(exponents, 0) + coefficient
    if total:
        target[exponents] = Fraction(total)
    else:
        target.pop(exponents, None)


def plus(left: Poly, right: Poly, factor: Fraction = ONE) -> Poly:
    """Returns left + factor·right."""
    result = dict(left)
    for exponents, coefficient in right.items():
        add(result, exponents, coefficient * factor)
    return result


def times(left: Poly, right: Poly) -> Poly:
    """Returns the product, computed with whole numbers."""
    if len(left) * len(right) > 20 * MAX_COEFFICIENTS:
        raise Rejected("a product is too large to be checked")
    (a, p), (b, q) = whole(left), whole(right)
    return {key: Fraction(value, p * q) for key, value in product(a, b).items()}


def power(poly: Poly, exponent: int) -> Poly:
    """Returns a power with an exponent of at least 1, by squaring."""
    if exponent == 1:
        return poly
    half = power(poly, exponent // 2)
    square = times(half, half)
    return times(square, poly) if exponent % 2 else square


def whole(poly: Poly) -> tuple[dict[tuple[int, ...], int], int]:
    """Returns whole coefficients and the positive number they were multiplied by."""
    scale = lcm(*(c.denominator for c in poly.values()))
    return {x: c.numerator * (scale // c.denominator) for x, c in poly.items()}, scale


def constant(value: Fraction, width: int) -> Poly:
    """Returns a number as a polynomial in so many variables."""
    return {(0,) * width: value} if value else {}


def degree(poly: Poly, axis: int) -> int:
    """Returns the degree in one variable."""
    return max((x[axis] for x in poly), default=0)


def derivative(poly: Poly, axis: int) -> Poly:
    """Returns the partial derivative."""
    return {(*x[:axis], x[axis] - 1, *x[axis + 1 :]): c * x[axis] for x, c in poly.items() if x[axis]}


def by_powers(poly: Poly, axis: int) -> dict[int, Poly]:
    """Returns the coefficients of the powers of one variable that occur: polynomials without it."""
    parts: dict[int, Poly] = {}
    for x, c in poly.items():
        parts.setdefault(x[axis], {})[(*x[:axis], 0, *x[axis + 1 :])] = c
    return parts


def compose(poly: Poly, axis: int, image: Poly) -> Poly:
    """Returns the polynomial with one variable replaced by a polynomial, by Horner's rule."""
    parts, result = by_powers(poly, axis), Poly()
    for k in range(degree(poly, axis), -1, -1):
        result = times(result, image) if result else result
        result = plus(result, parts.get(k, {}))
    return result


def evaluate(poly: Poly, values: Sequence[Fraction]) -> Fraction:
    """Returns the value at a point."""
    total = Fraction(0)
    for x, c in poly.items():
        for value, exponent in zip(values, x, strict=True):
            c *= value**exponent
        total += c
    return total


def ratio(left: Poly, right: Poly) -> Fraction | None:
    """Returns c with left = c·right, for polynomials that are not zero; None if there is none."""
    if left.keys() != right.keys():
        return None
    quotients = {left[x] / right[x] for x in left}
    return quotients.pop() if len(quotients) == 1 else None


def check_product(
    poly: Poly, content: Fraction, powers: Sequence[tuple[int, int]], factors: Sequence[Poly], width: int
) -> None:
    """Raises Rejected unless a polynomial is content·∏ fᵢ^m, for the (i, m) in `powers`, with content ≠ 0."""
    if not content:
        raise Rejected("a product with the constant zero")
    total = constant(content, width)
    # A factor with a variable has a degree, so the degrees bound how often factors are multiplied.
    most = 1 + sum(degree(poly, axis) for axis in range(width))
    for index, exponent in powers:
        if not 0 <= index < len(factors) or exponent < 1:
            raise Rejected("not a factor and its multiplicity")
        if exponent > (most if any(map(any, factors[index])) else 1) or len(powers) > most + 1:
            raise Rejected("the product of the factors differs from the polynomial")
        total = times(total, power(factors[index], exponent))
    if total != poly:
        raise Rejected("the product of the factors differs from the polynomial")
