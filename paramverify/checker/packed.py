"""Products of polynomials with whole coefficients, large ones as one product of long numbers.

A polynomial is written as a number in a base B, the coefficient of each monomial as one digit: x^i·y^j has
the place i·(m + 1) + j, where m is the largest power of y in the product. So no two monomials of the product
share a place. Each coefficient c of the product has |c| < B/2. With B/2 added at each place all digits are at
least 0 and below B, so they are read off. Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

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
    for place, powers in enumerate(_monomials(sizes)):
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


def _monomials(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yields the powers that stand at each place."""
    if not sizes:
        yield ()
        return
    for power in range(sizes[0]):
        for rest in _monomials(sizes[1:]):
            yield (power, *rest)
