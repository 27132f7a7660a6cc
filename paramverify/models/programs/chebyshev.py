"""Integrals of polynomials through values at Chebyshev points, as balls."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb, arb_mat, ctx

from paramverify.models.programs.densities import number

Values = list[arb]


@dataclass(frozen=True, eq=False)
class ChebyshevRule:
    """N Chebyshev points on [−1, 1], and the integrals of polynomials through values there.

    `rows` are the integrals from −1 to each point, the last one that to 1.
    """

    points: Values
    rows: arb_mat


@lru_cache(maxsize=8)
def rule(count: int, bits: int) -> ChebyshevRule:
    """Returns the rule with so many points, as balls of so many bits."""
    assert ctx.prec == bits
    angles = [number(Fraction(2 * k + 1, 2 * count)) * arb.pi() for k in range(count)]
    points = [-angle.cos() for angle in angles]
    # p = Σ' c_m T_m with c_m = 2/N Σ_k p(x_k) T_m(x_k), the first term halved.
    chebyshev = [[(-1) ** m * (angle * m).cos() for angle in angles] for m in range(count)]
    ends = [*points, arb(1)]
    integrals: list[Values] = []
    for x in ends:
        t = [arb(1), x]
        while len(t) <= count:
            t.append(2 * x * t[-1] - t[-2])
        integrals.append([_from_minus_one(m, t) for m in range(count)])
    weights = [[value * (1 if m == 0 else 2) / count for value in row] for m, row in enumerate(chebyshev)]
    return ChebyshevRule(points, arb_mat(integrals) * arb_mat(weights))


def _from_minus_one(m: int, t: Values) -> arb:
    """Returns the integral of T_m from −1 to x, from the values T_k(x)."""
    if m == 0:
        return t[1] + 1
    if m == 1:
        return (t[2] - 1) / 4
    end = t[m + 1] / (2 * (m + 1)) - t[m - 1] / (2 * (m - 1))
    start = arb(1) / (2 * (m + 1)) - arb(1) / (2 * (m - 1))  # with T_k(−1) = (−1)^k
    return end + start if m % 2 == 0 else end - start
