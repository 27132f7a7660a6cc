"""Claims about x and eps = −ln(x)/step, at random and with known answers; and values to 1,000 bits."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath

from paramverify.algebra.domains import Constraint, Interval, box_domain
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Polynomial, Ring, Unbounded, to_rational_function
from paramverify.claims import Claim

BITS = 1_000
UNIT = Interval(Fraction(0), Fraction(1))
TINY = Fraction(1, 10**12)


def ring_with(step: Fraction = Fraction(1), *others: str) -> Ring:
    """Returns a ring with x_eps, other parameters, and eps = −ln(x_eps)/step."""
    return Ring(("x_eps", *others), None, (Unbounded("eps", "x_eps", step, True),))


def tied(text: str, step: str = "1", where: Interval = UNIT, *others: str, above: str = "") -> Claim:
    """Returns the claim `text ≥ 0`, on the part of the domain with `above ≥ 0`."""
    ring = ring_with(Fraction(step), *others)
    domain = box_domain(ring, {"x_eps": where, **dict.fromkeys(others, UNIT)})
    if above:
        condition = to_rational_function(parse(above), ring).numerator
        domain = type(domain)(ring, domain.box, (Constraint(condition, False, f"{above} >= 0"),))
    return Claim(to_rational_function(parse(text), ring).numerator, domain)


def value(polynomial: Polynomial, x: Fraction, step: Fraction) -> Any:
    """Returns the value at x to 1,000 bits, without our arithmetic."""
    with mpmath.workprec(BITS):
        at = mpmath.mpf(x.numerator) / x.denominator
        eps = -mpmath.log(at) * step.denominator / step.numerator
        terms = polynomial.to_dict().items()
        return sum(mpmath.mpf(int(c.p)) / int(c.q) * at ** int(m[0]) * eps ** int(m[1]) for m, c in terms)


def known(seed: int, count: int) -> Iterator[tuple[str, Claim, bool]]:
    """Yields claims with their truth: squares times positive, products with known zeros, near misses."""
    rng = random.Random(seed)
    for number in range(count):
        step = Fraction(rng.randint(1, 3), rng.randint(1, 6))
        ring = ring_with(step)
        x, eps = ring.variable("x_eps"), ring.variable("eps")
        g = ring.number(0)
        for _ in range(3):
            g += rng.choice((-1, 1)) * rng.randint(1, 9) * x ** rng.randint(0, 2) * eps ** rng.randint(0, 1)
        positive = rng.choice([ring.number(1), x, eps, 1 + x * eps, 1 + eps**2, x**3 * (2 - x), x + eps**2])
        away = eps - ring.number(Fraction(rng.randint(1, 40), rng.randint(1, 8)))
        kinds = ("a square", "a zero", "just above", "just below", "a series", "a wrong series")
        kind = kinds[number % len(kinds)]
        order = rng.randint(1, 6)
        term, series = ring.number(1), ring.number(0)
        for k in range(order):
            series += term
            term = term * eps * ring.number(-step / (k + 1))
        alternating = (x - series) * (-1) ** order  # e^(−s) minus its Taylor polynomial has this sign
        f = {
            "a square": g**2 * positive,
            "a zero": (1 + g**2) * away * positive,
            "just above": (g**2 + ring.number(TINY)) * positive,
            "just below": (away**2 * (1 + g**2) - ring.number(TINY)) * positive,
            "a series": alternating,
            "a wrong series": -alternating,
        }[kind]
        truth = kind in ("a square", "just above", "a series")
        yield kind, Claim(f, box_domain(ring, {"x_eps": UNIT})), truth
