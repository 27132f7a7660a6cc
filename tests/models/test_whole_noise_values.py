"""Whole noise that is pinned to few values by comparisons: enclosures against direct sums over all draws."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import mpmath
import pytest
from enclosed_programs import agrees, enclosures

REACH = 14  # of a draw: beyond it there is less than 1e-40 of these noises
DRAWS = {"a": "discrete_gaussian(1)", "b": "discrete_gaussian(2/3)"}

PROGRAMS = {
    "one value is left out": "t = (a >= -x) or a > x\nu = a != a - a\nv = a <= a",
    "few values": "t = -1 <= a and a < 2\nu = a == x\nv = t and a != 1",
    "a tie": "t = a == b + x\nu = a > 0\nv = min(a, b) < x",
    "a tie in a branch": "w = a\nif b - 1 == a + x:\n    w = max(a, b)\nt = w > 1/2\nu = a < b\nv = w == 0",
    "minima": "w = min(a, b) if a >= -1 else b\nt = min(w, b) < x\nu = abs(b) >= x\nv = w != b",
}


def draws() -> Iterator[tuple[int, int, Any]]:
    """Yields both draws with their probability."""
    values = range(-REACH, REACH + 1)
    scales = mpmath.mpf(1), mpmath.mpf(2) / 3
    rows = [[mpmath.exp(-k * k / (2 * s * s)) for k in values] for s in scales]
    whole = mpmath.fsum(rows[0]) * mpmath.fsum(rows[1])
    for (a, p), (b, q) in product(*(list(zip(values, row, strict=True)) for row in rows)):
        yield a, b, p * q / whole


@pytest.mark.parametrize("name", PROGRAMS)
def test_direct_sums(name: str) -> None:
    """The text is run by Python for each pair of draws, and the probabilities are added."""
    text = PROGRAMS[name]
    head = "".join(f"{v} = {noise}\n" for v, noise in DRAWS.items())
    source = f"{head}x = q[0]\n{text}\noutput([t, u, v])"
    code = compile(text, name, "exec")
    found = enclosures(source, [[0], [1]])
    with mpmath.workdps(30):
        for x, row in zip((0, 1), found, strict=True):
            expected: dict[str, Any] = {}
            for a, b, share in draws():
                names: dict[str, Any] = {"a": a, "b": b, "x": x}
                exec(code, {}, names)
                told = str([names[v] for v in "tuv"])
                expected[told] = expected.get(told, 0) + share
            agrees(row, expected, 1e-22)
