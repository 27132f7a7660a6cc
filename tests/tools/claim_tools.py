"""Claims for tests and benchmarks: from text, at random with a point in the domain, and second opinions."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Constraint, Domain, Interval, parse_interval
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Polynomial, Ring, to_rational_function, value_at
from paramverify.algebra.signs import parse_constraint
from paramverify.answers import Answer, Proved
from paramverify.claims import Claim, Origin
from paramverify.formats.refutations import fails_at
from paramverify.kernel.claim_evidence import check_claim, check_fails, read_claim

NAMES = "pqrs"
RATIOS = tuple(Fraction(1, 6) + Fraction(k, 13) for k in range(10))


def make(
    text: str,
    box: Mapping[str, str] | str = "pq",
    constraints: Sequence[str] = (),
    constant: Fraction | None = None,
) -> Claim:
    """Returns the claim `text ≥ 0`; a box given by names alone is the open unit box."""
    intervals = dict.fromkeys(box, "(0, 1)") if isinstance(box, str) else box
    ring = Ring(tuple(intervals), ExpConstant(constant) if constant else None)
    domain = Domain(ring, {name: parse_interval(interval) for name, interval in intervals.items()})
    found = [c for line in constraints for c in parse_constraint(line, domain)]
    domain = Domain(ring, domain.box, tuple(found))
    value = to_rational_function(parse(text), ring)
    assert value.denominator.is_one()
    return Claim(value.numerator, domain)


def replayed(answer: Answer) -> bool:
    """Tells whether the answer is a proof, after the checker has accepted its certificate as JSON text."""
    if not isinstance(answer, Proved):
        return False
    assert answer.certificate is not None
    document = json.loads(json.dumps(answer.certificate))
    assert check_claim(document["claim"], document["proof"]) == ()
    return True


def check_witness(claim: Any, point: Mapping[str, str]) -> None:
    """Checks with the kernel that a claim, as it is written, fails at a point."""
    check_fails(read_claim(claim), point)


def kinds(proof: Any) -> set[str]:
    """Returns the kinds of proofs, and of entries of trees, that a proof contains."""
    found: set[str] = set()
    if isinstance(proof, dict):
        if "kind" in proof:
            found.add("algebraic" if "minimal" in proof else proof["kind"])
        for part in proof.values():
            found |= kinds(part)
    elif isinstance(proof, list):
        if proof and proof[0] in ("cut", "low", "high", "outside"):
            return {proof[0]}
        for part in proof:
            found |= kinds(part)
    return found


def failing_grid_point(claim: Claim, steps: int = 7) -> dict[str, Fraction] | None:
    """Returns a point of a rational grid at which the claim fails, by exact evaluation."""
    axes = []
    for interval in claim.domain.box.values():
        width = interval.upper - interval.lower
        values = {interval.lower + width * k / steps for k in range(steps + 1)}
        axes.append(sorted(v for v in values if v in interval))
    points = (dict(zip(claim.domain.box, values, strict=True)) for values in product(*axes))
    return next((point for point in points if fails_at(claim, point)), None)


def ask_z3(claim: Claim, milliseconds: int) -> str:
    """Returns sat (the claim fails), unsat (it holds) or unknown, by z3 alone and on the claim as it is."""
    import z3

    numbers = {name: z3.Real(name) for name in claim.domain.ring.names}

    def term(polynomial: Polynomial) -> Any:
        total = z3.RealVal(0)
        for monomial, coefficient in polynomial.to_dict().items():
            part = z3.RealVal(str(coefficient))
            for name, exponent in zip(numbers, monomial, strict=True):
                for _ in range(int(exponent)):
                    part = part * numbers[name]
            total = total + part
        return total

    solver = z3.SolverFor("QF_NRA")
    solver.set("timeout", milliseconds)
    for name, interval in claim.domain.box.items():
        x, low, high = numbers[name], str(interval.lower), str(interval.upper)
        solver.add(x >= low if interval.lower_closed else x > low)
        solver.add(x <= high if interval.upper_closed else x < high)
    for constraint in claim.domain.constraints:
        value = term(constraint.polynomial)
        solver.add(value > 0 if constraint.strict else value >= 0)
    solver.add(term(claim.polynomial) < 0)
    return str(solver.check())


def random_claim(seed: int, variables: int = 4) -> Claim:
    """Returns a claim of degree at most 6 in 1 to 4 variables, of a kind that is often close to the border.

    Kinds: any polynomial; sums of squares, which often touch zero; products; polynomials shifted so that
    their minimum on a coarse grid is zero, or slightly more or less; and ones that vanish on faces of the
    box. A third of the claims has constraints, which hold at some point inside the box.
    """
    rng = random.Random(seed)
    ring = Ring(tuple(NAMES[: rng.randint(1, variables)]))
    box = {name: _interval(rng) for name in ring.names}
    kind = rng.choice(("any", "squares", "product", "shifted", "shifted", "face"))
    f = ring.number(0)

    def small(degree: int, terms: int) -> Polynomial:
        return _polynomial(rng, ring, degree, terms)

    if kind == "any":
        f = small(6, rng.randint(2, 10))
    elif kind == "squares":
        for _ in range(rng.randint(1, 3)):
            f = f + small(rng.randint(1, 3), rng.randint(2, 4)) ** 2 * ring.number(abs(_number(rng)))
        if rng.random() < 0.3:
            f = f + small(2, 2) * ring.number(Fraction(1, 50))
    elif kind == "product":
        f = small(2, 3) * small(2, 3) * small(2, 2)
    elif kind == "face":
        for name, interval in box.items():
            x, low, high = ring.variable(name), ring.number(interval.lower), ring.number(interval.upper)
            f = (
                f
                + (x - low) * (high - x) * small(1, 2) ** 2
                + (x - low) ** rng.randint(1, 2) * small(1, 2) ** 2
            )
    else:
        f = small(rng.randint(2, 4), rng.randint(3, 7))
        choices = [[i.lower + (i.upper - i.lower) * Fraction(k, 6) for k in range(7)] for i in box.values()]
        points = [dict(zip(box, (rng.choice(c) for c in choices), strict=True)) for _ in range(300)]
        shift = min(value_at(f, point) for point in points)
        shift += rng.choice([Fraction(0), Fraction(1, 100), Fraction(1, 10), Fraction(-1, 100), Fraction(-1)])
        f = f - ring.number(shift)
    inside = {n: i.lower + (i.upper - i.lower) * rng.choice(RATIOS) for n, i in box.items()}
    found = []
    for _ in range(rng.randint(1, 2) if rng.random() < 0.33 else 0):
        g = small(rng.choice((1, 1, 1, 2)), rng.randint(2, 3))
        value = value_at(g, inside)
        g = g * ring.number(-1 if value < 0 else 1) + ring.number(1 if value == 0 else 0)
        found.append(Constraint(g, rng.random() < 0.5, ""))
    return Claim(f, Domain(ring, box, tuple(found)))


def _number(rng: random.Random) -> Fraction:
    return Fraction(rng.randint(-9, 9), rng.choice((1, 1, 1, 2, 3, 5)))


def _polynomial(rng: random.Random, ring: Ring, degree: int, terms: int) -> Polynomial:
    found = {}
    for _ in range(terms):
        exponents = [0] * len(ring.names)
        for _ in range(rng.randint(0, degree)):
            exponents[rng.randrange(len(exponents))] += 1
        found[tuple(exponents)] = _number(rng)
    return ring.from_terms(found)


def _interval(rng: random.Random) -> Interval:
    numbers = [Fraction(n) for n in ("0", "1", "1/2", "1/3", "2", "-1", "3/4")]
    low, high = sorted(rng.sample(numbers, 2))
    if rng.random() < 0.05:
        return Interval(low, low, True, True)
    return Interval(low, high, rng.random() < 0.5, rng.random() < 0.5)


def example5() -> list[Claim]:
    """Returns the six claims of noisy max over three independent diseases, computed from the definition.

    Liu, Wang, Zhang, *Verifying Pufferfish Privacy in Hidden Markov Models*, 2022, Example 5: counts are
    binomial(2, p), each gets truncated 1/2-geometric noise on {0, 1, 2}, and the index of the largest is
    released, ties broken uniformly. The count of A is conditioned on {0, 1} on one side and on {1, 2} on the
    other; the ratio is 2.
    """
    noise = [[Fraction(n, 6) for n in row] for row in ((4, 1, 1), (2, 2, 2), (1, 1, 4))]
    ring = Ring(("pA", "pB", "pC"))
    counts = []
    for name in ring.names:
        p = ring.variable(name)
        counts.append([(1 - p) ** 2, 2 * p * (1 - p), p**2])

    def outputs(support: Sequence[int]) -> tuple[Polynomial, list[Polynomial]]:
        sums = [ring.number(0)] * 3
        for values in product(support, range(3), range(3)):
            weight = counts[0][values[0]] * counts[1][values[1]] * counts[2][values[2]]
            for noisy in product(range(3), repeat=3):
                chance = Fraction(1)
                for value, shown in zip(values, noisy, strict=True):
                    chance *= noise[value][shown]
                winners = [k for k in range(3) if noisy[k] == max(noisy)]
                for k in winners:
                    sums[k] = sums[k] + weight * ring.number(chance / len(winners))
        return counts[0][support[0]] + counts[0][support[1]], sums

    mass_left, left = outputs((0, 1))
    mass_right, right = outputs((1, 2))
    domain = Domain(ring, {name: Interval(Fraction(0), Fraction(1)) for name in ring.names})
    claims = []
    for k in range(3):
        f, g = (
            2 * right[k] * mass_left - left[k] * mass_right,
            2 * left[k] * mass_right - right[k] * mass_left,
        )
        claims.append(Claim(f, domain, (Origin("infected", "healthy", (str(k),)),)))
        claims.append(Claim(g, domain, (Origin("healthy", "infected", (str(k),)),)))
    return claims
