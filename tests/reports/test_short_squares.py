"""Sums of squares with short numbers: the sum stays the same, and denominators are shorter."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import pytest

from paramverify.kernel.evidence_polynomials import Poly
from paramverify.reports.theorems.coq_certificates import LONG, Square, denominator, proof_numbers, shorter


def total(squares: Sequence[Square]) -> Poly:
    """Returns the sum of c · h², multiplied out term by term."""
    found: Poly = {}
    for c, h in squares:
        assert c >= 0
        for m, x in h.items():
            for n, y in h.items():
                place = tuple(i + j for i, j in zip(m, n, strict=True))
                found[place] = found.get(place, Fraction(0)) + c * x * y
    return {m: c for m, c in found.items() if c}


def decomposed(random: Random, size: int, free: int) -> list[Square]:
    """Returns squares of linear forms in `size` + `free` unknowns: L·D·Lᵀ of a matrix with short numbers."""
    roots = [[random.randint(-9, 9) for _ in range(size)] for _ in range(size)]
    q = [
        [Fraction(sum(a[i] * a[j] for a in roots) + 20 * (i == j), 64) for j in range(size)]
        for i in range(size)
    ]
    found: list[Square] = []
    for k in range(size):
        row = {i: q[k][i] / q[k][k] for i in range(k, size)}
        for m in range(1, free + 1):  # unknowns that hang on the others
            row[size + m - 1] = sum((c * (i + m) for i, c in row.items() if i < size), Fraction(0))
        unknowns = range(size + free)
        found.append((q[k][k], {tuple(int(i == j) for j in unknowns): c for i, c in row.items() if c}))
        pivot = q[k]
        q = [[x - r[k] * y / pivot[k] for x, y in zip(r, pivot, strict=True)] for r in q]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("free", [0, 2])
def test_the_sum_stays(free: int) -> None:
    """Random matrices, also such that have a kernel: same sum, much shorter denominators."""
    random = Random(3)
    for size in (12, 15):
        given = decomposed(random, size, free)
        assert denominator(given).bit_length() > LONG
        found = shorter(given)
        assert total(found) == total(given)
        assert denominator(found).bit_length() < denominator(given).bit_length() // 3


def test_short_squares_stay() -> None:
    """Squares with short numbers are not changed."""
    given = [
        (Fraction(2, 3), {(1, 0): Fraction(1), (0, 1): Fraction(-1, 2)}),
        (Fraction(1), {(0, 2): Fraction(1)}),
    ]
    assert shorter(given) == given


def test_all_squares_have_one_denominator() -> None:
    """The numbers of a proof: every coefficient over one denominator, also with factors a of sides x − a."""
    proof = {
        "kind": "squares",
        "terms": [
            {"product": [["low", "x", "1/3"]], "squares": [["2/5", "1/2*x + 1"], ["1/7", "y"]]},
            {"product": [], "squares": [["1", "x - 1/4*y"]]},
        ],
    }
    numbers = proof_numbers(proof, ["x", "y"])
    common = 3 * 5 * 7 * 16
    below = common // 3
    first = [0, 0, 1, 3, 2, below // 10, below, 1, 2, 2, 0, 0, 1, 1, 0, below // 7, below, 1, 1, 1, 0, 1]
    second = [0, 1, common // 16, common, 1, 2, -1, 0, 1, 4, 1, 0]
    assert numbers == [20, 2, 1, *first, *second, 0]
