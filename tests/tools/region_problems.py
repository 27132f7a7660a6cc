"""Random problems for region maps, and the exact evaluation of claims at points of their cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, prod
from random import Random

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.polynomials import Polynomial, Ring, constant_value, in_generator, substitute
from paramverify.claims import Claim
from paramverify.synthesis.maps import RegionMap, Status


@dataclass(frozen=True)
class Problem:
    """Claims on one domain, and the free parameters."""

    claims: tuple[Claim, ...]
    domain: Domain
    free: tuple[str, ...]


def wavy(ring: Ring, names: Sequence[str], degree: int, random: Random, size: int = 10) -> Polynomial:
    """A polynomial with random Bernstein coefficients on the unit box, so that it changes its sign often."""
    one, total = ring.number(1), ring.number(0)
    for index in product(range(degree + 1), repeat=len(names)):
        term = ring.number(random.randint(-size, size))
        for name, i in zip(names, index, strict=True):
            x = ring.variable(name)
            term *= comb(degree, i) * x**i * (one - x) ** (degree - i)
        total += term
    return total


def random_problem(random: Random, free: int, quantified: int, constant: bool, constraints: int) -> Problem:
    """Some claims with factors, with random open and closed ends."""
    names = tuple("pqrst"[: free + quantified])
    ring = Ring(names, ExpConstant(Fraction(1, random.randint(2, 5))) if constant else None)
    box = {n: Interval(Fraction(0), Fraction(1), random.random() < 0.5, random.random() < 0.5) for n in names}
    conditions = []
    for k in range(constraints):
        chosen = random.sample(names, min(2, len(names))) if k % 2 == 0 else [random.choice(names)]
        form = wavy(ring, chosen, 1 + k % 2, random, 5)
        conditions.append(Constraint(form, random.random() < 0.5, f"constraint {k}"))
    domain = Domain(ring, box, tuple(conditions))
    claims = []
    for _ in range(random.randint(1, 3)):
        f = wavy(ring, names, random.choice((1, 2, 3, 5) if len(names) < 3 else (1, 2, 3)), random)
        f += ring.number(random.randint(0, 6))
        if constant:
            e = ring.variable("E")
            f = f * (e - 1) + wavy(ring, names[:1], 2, random) * e
        if random.random() < 0.4:
            f *= ring.variable(names[0])
        if random.random() < 0.3:
            f *= (ring.variable(names[-1]) - ring.number(Fraction(1, 3))) ** random.choice((1, 2))
        claims.append(Claim(f, domain))
    return Problem(tuple(claims), domain, names[:free])


def sign(polynomial: Polynomial, point: dict[str, Fraction], domain: Domain) -> int:
    """The exact sign at a point, `E` being the number that it is."""
    value = substitute(polynomial, point)
    if domain.constant:
        return domain.constant.sign(in_generator(value))
    number = constant_value(value)
    return (number > 0) - (number < 0)


def satisfied(domain: Domain, constraints: Sequence[Constraint], point: dict[str, Fraction]) -> bool:
    """Whether the constraints hold at a point, exactly."""
    return all(sign(c.polynomial, point, domain) >= (1 if c.strict else 0) for c in constraints)


def contradictions(found: RegionMap, domain: Domain, random: Random, count: int) -> list[str]:
    """Evaluates the claims at random points of the box, and tells where a cell says something else.

    A random point of a random cell, the cells weighted by their volume, is one of the box; some are moved
    to the boundary of their cell.
    """
    mentioned = {
        c.text: {n for n, d in zip(domain.ring.names, c.polynomial.degrees(), strict=True) if d}
        for c in domain.constraints
    }
    outer = [c for c in domain.constraints if not mentioned[c.text] & set(found.quantified)]
    wrong = []
    for cell in random.choices(found.cells, [float(c.volume) for c in found.cells], k=count):
        steps = [random.choice((0, 16)) if random.random() < 0.1 else random.randint(1, 15) for _ in cell.box]
        x = {
            n: low + (high - low) * Fraction(k, 16)
            for n, (low, high), k in zip(found.parameters, cell.box, steps, strict=True)
        }
        if not all(x[n] in domain.box[n] for n in x) or not satisfied(domain, outer, x):
            continue
        if cell.status is Status.VIOLATING:
            assert cell.claim is not None
            point = {**x, **dict(cell.at)}
            inside = all(value in domain.box[n] for n, value in cell.at)
            inside = inside and satisfied(domain, domain.constraints, point)
            if not inside or sign(found.claims[cell.claim].polynomial, point, domain) >= 0:
                wrong.append(f"{cell} at {point}")
        elif cell.status in (Status.SAFE, Status.OUTSIDE):
            point = {**x, **{n: Fraction(random.randint(1, 31), 32) for n in found.quantified}}
            if not satisfied(domain, domain.constraints, point):
                continue
            fails = any(sign(claim.polynomial, point, domain) < 0 for claim in found.claims)
            if fails or cell.status is Status.OUTSIDE:
                wrong.append(f"{cell} at {point}")
    return wrong


def volume(found: RegionMap) -> Fraction:
    """The volume of the whole box."""
    return prod((high - low for low, high in found.box), start=Fraction(1))
