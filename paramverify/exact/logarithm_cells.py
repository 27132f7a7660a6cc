"""Cells of x on which a claim with x and eps = −ln(x)/step comes to one about a polynomial.

On a cell eps is replaced by polynomials in x between which it lies. Near x = 0, where eps grows without end,
x is replaced by a small multiple of a power of 1/eps. `checker.ties` has the proofs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, log
from typing import Any

from flint import arb, fmpq, fmpq_poly

from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.exponents import Unbounded
from paramverify.algebra.polynomials import Polynomial, rational
from paramverify.claims import Claim
from paramverify.evidence import certificates

ONE, ZERO = Fraction(1), Fraction(0)
MAX_ORDER = 256  # of the zero at x = 1
MAX_POWER, MAX_LEAST = 500, 1_000  # of the bounds near x = 0, as in `checker.ties`


@dataclass(frozen=True, eq=False)
class LogarithmCell:
    """A cell: the claim about a polynomial that shows it, and what its certificate says of it.

    `main` is the variable that is cut.
    """

    claim: Claim
    main: str
    part: Mapping[str, Any]


def _resolved(domain: Domain, tie: Unbounded, x: Interval, t: Interval) -> Domain:
    """Returns the domain with what is tied as a parameter of its own, and other intervals."""
    ring = domain.ring
    unbounded = tuple(replace(u, tied=False) if u == tie else u for u in ring.unbounded)
    free = replace(ring, parameters=(*ring.parameters, tie.name), unbounded=unbounded)
    box = {n: i for n, i in domain.box.items() if n in ring.parameters}
    rest = {n: i for n, i in domain.box.items() if n not in ring.parameters}
    return replace(domain, ring=free, box={**box, tie.variable: x, tie.name: t, **rest})


def between(claim: Claim, tie: Unbounded, ends: tuple[Fraction, Fraction], terms: int) -> LogarithmCell:
    """Returns the claim on a cell [a, b] of x, with eps between two polynomials."""
    a, b = ends
    low, high = (ZERO, ZERO) if b == 1 else _logarithm(1 / b, 32 + 4 * terms)
    ring = claim.domain.ring
    x, r, one = ring.variable(tie.variable), ring.variable(tie.name), ring.number(1)
    v = one - x / rational(b)
    total, power = ring.number(low), one
    for i in range(1, terms):
        power = power * v
        total = total + power / i
    rest = ring.number(high - low) + power * v * rational(b / (terms * a))
    image = (total + r * rest) / rational(tie.step)
    images = [image if n == tie.name else ring.variable(n) for n in ring.names]

    def moved(polynomial: Polynomial) -> Polynomial:
        return polynomial.compose(*images)

    box = claim.domain.box[tie.variable]
    x_in = Interval(a, b, box.lower_closed or a > box.lower, box.upper_closed or b < box.upper or a == b)
    domain = _resolved(claim.domain, tie, x_in, Interval(ZERO, ONE, True, True))
    constraints = tuple(replace(c, polynomial=moved(c.polynomial)) for c in domain.constraints)
    domain = replace(domain, constraints=constraints)
    reduced = replace(claim, polynomial=moved(claim.polynomial), domain=domain)
    part = {"terms": terms, "enclosure": [certificates.text(low), certificates.text(high)]}
    return LogarithmCell(reduced, tie.variable, part)


def near_zero(claim: Claim, tie: Unbounded, b: Fraction, power: int) -> LogarithmCell:
    """Returns the claim on a cell (0, b] of x, in x/(B·u^M) and u = 1/ln(1/x)."""
    least = min(Fraction(int(_logarithm(1 / b, 64)[0] * 8), 8), Fraction(MAX_LEAST))
    bound = Fraction(2) ** (ceil((power * log(least) - float(least)) / log(2)) + 1)  # above least^M / e^least
    ring = claim.domain.ring
    names = list(ring.names)
    u, r = names.index(tie.name), names.index(tie.variable)

    def moved(polynomial: Polynomial) -> Polynomial:
        most = int(polynomial.degrees()[u])
        terms = {}
        for m, c in polynomial.to_dict().items():
            key = [int(e) for e in m]
            x, t = key[r], key[u]
            key[u] = power * x + most - t
            terms[tuple(key)] = c * rational(bound) ** x / rational(tie.step) ** t
        return ring.context.from_dict(terms)

    domain = _resolved(
        claim.domain, tie, Interval(ZERO, ONE, False, True), Interval(ZERO, 1 / least, False, True)
    )
    constraints = tuple(replace(c, polynomial=moved(c.polynomial)) for c in domain.constraints)
    domain = replace(domain, constraints=constraints)
    reduced = replace(claim, polynomial=moved(claim.polynomial), domain=domain)
    text = certificates.text
    return LogarithmCell(reduced, tie.name, {"least": text(least), "power": power, "bound": text(bound)})


def _logarithm(value: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Returns rationals between which ln(value) is, with so many bits."""
    with working_precision(bits + 32):
        ball = arb(fmpq(value.numerator, value.denominator)).log()
        low, high = lower_bound(ball), upper_bound(ball)
    scale = 1 << bits
    return Fraction(low.numerator * scale // low.denominator - 1, scale), Fraction(
        -(-high.numerator * scale // high.denominator) + 1, scale
    )


def order_at_one(polynomial: Polynomial, tie: Unbounded) -> int:
    """Returns the order of the zero at x = 1, in v = 1 − x; `MAX_ORDER` if it is beyond."""
    names = [str(n) for n in polynomial.context().names()]
    x, t = names.index(tie.variable), names.index(tie.name)
    size = 8
    while size <= MAX_ORDER:
        series = fmpq_poly([fmpq(0), *(fmpq(1, i) for i in range(1, size))]) / rational(tie.step)
        total, logs, powers = fmpq_poly(), [fmpq_poly([1])], [fmpq_poly([1])]
        for m, c in polynomial.to_dict().items():
            while len(logs) <= m[t]:
                logs.append(_cut(logs[-1] * series, size))
            while len(powers) <= m[x]:
                powers.append(_cut(powers[-1] * fmpq_poly([1, -1]), size))
            total += c * _cut(powers[int(m[x])] * logs[int(m[t])], size)
        order = next((k for k, c in enumerate(total.coeffs()) if c), None)
        if order is not None:
            return order
        size *= 2
    return MAX_ORDER


def _cut(series: fmpq_poly, size: int) -> fmpq_poly:
    return fmpq_poly(series.coeffs()[:size])
