"""Both distributions of a direction in one form, as evidence states them.

The total and the numbers of all outputs have no common factor, and the total is primitive with a positive
first coefficient. So equal distributions have equal texts, wherever they come from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from paramverify.algebra.polynomials import Polynomial, key, primitive, rational
from paramverify.encodings.excesses import PairOutcomes, listed_outcomes
from paramverify.models.model import Model


def reduced(found: PairOutcomes) -> PairOutcomes:
    """Returns the same p/total and q/total, without common factors, in the order of their texts."""
    common = found.total
    for p, q in found.outputs:
        for each in (p, q):
            common = common.gcd(each) if each else common
    total = found.total / common
    scale = rational(primitive(total)[0])

    def divided(polynomial: Polynomial) -> Polynomial:
        """Returns a polynomial without the common factor."""
        return polynomial / common / scale

    outputs = sorted(
        ((divided(p), divided(q)) for p, q in found.outputs), key=lambda pair: list(map(key, pair))
    )
    return replace(found, total=total / scale, outputs=tuple(outputs))


def statement(found: PairOutcomes, origins: Iterable[tuple[str, str, int]]) -> dict[str, Any]:
    """Returns a reduced direction as JSON data."""
    return {
        "total": key(found.total),
        "outputs": [[key(p), key(q)] for p, q in found.outputs],
        "origins": [list(origin) for origin in origins],
    }


def listed_statements(model: Model) -> list[dict[str, Any]]:
    """Returns what a model says of all directions, derived forwards and one sequence after the other."""
    return [
        statement(reduced(each), [(each.left, each.right, each.length)])
        for pair in listed_outcomes(model)
        for each in (pair, pair.turned)
    ]
