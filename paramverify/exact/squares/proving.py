"""Proofs of claims by sums of squares: plans one after the other, each made exact or given up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

from paramverify.algebra.polynomials import Polynomial, constant_value, is_constant, substitute, variables
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import CONSTANT, Proof, SquareTerm
from paramverify.exact.branching import solve_exactly
from paramverify.exact.settling import Outcome, RemainingWork
from paramverify.exact.squares.emptiness import prove_empty
from paramverify.exact.squares.faces import reduced, singular
from paramverify.exact.squares.moving import Back, fewer_variables
from paramverify.exact.squares.plans import everywhere, on_domain, plain
from paramverify.exact.squares.problems import GramProblem, value
from paramverify.exact.squares.rounding import exact_terms
from paramverify.exact.squares.semidefinite import program, solve
from paramverify.formats.refutations import Confirm

ROUNDS = 8  # of facial reduction
SAMPLES = 200
BOXES = 500  # for showing that squares vanish nowhere


def prove(claim: Claim, confirm: Confirm, solver: str = "clarabel") -> Outcome:
    """Returns a proof of the claim by sums of squares, or why none was found.

    It looks at a few points first: where the claim fails there is no proof. `confirm` judges these points.
    """
    for point in _points(claim):
        if value(claim.polynomial, point) < 0 and (found := confirm(point)) is not None:
            return Outcome(point=found)
    proof = _tried(claim, solver)
    return Outcome(proof=proof, reason="" if proof is not None else "no sum of squares was found")


def _points(claim: Claim) -> Iterator[dict[str, Fraction]]:
    """Yields points of the box that satisfy the constraints, as far as those have values at them."""
    draws, domain = Random(1), claim.domain
    origin = dict.fromkeys(domain.ring.names, Fraction(0))
    for _ in range(SAMPLES):
        point = _inside(claim, draws)
        if all(c.holds_at({**origin, **point}) for c in domain.constraints):
            yield point


def _tried(claim: Claim, solver: str) -> Proof | None:
    f = claim.polynomial
    if is_constant(f):
        return prove_empty(
            claim,
            lambda part: None if is_constant(part.polynomial) else _tried(part, solver),
            lambda part: _everywhere(part, solver),
            lambda part: solve_exactly(part, RemainingWork(boxes=BOXES), lambda point: None).proof,
        )
    for slack in slacks(claim):
        proof = _proof(replace(claim, polynomial=f - claim.domain.ring.number(slack)), solver)
        if proof is None:
            continue
        if not slack:
            return proof
        ring = claim.domain.ring
        return certificates.total([(f - ring.number(slack), proof), (ring.number(slack), CONSTANT)])
    return None


def slacks(claim: Claim) -> Iterator[Fraction]:
    """Yields positive constants that f may have to spare, and 0: what is tight has simpler proofs."""
    f = claim.polynomial
    constant = constant_value(substitute(f, dict.fromkeys(variables(f), Fraction(0))))
    if constant > 0 and _seems(f - claim.domain.ring.number(constant), claim, _inside):
        yield constant
    yield Fraction(0)


def _proof(claim: Claim, solver: str) -> Proof | None:
    f, domain = claim.polynomial, claim.domain
    lows = {n: i.lower for n, i in domain.box.items() if i.lower >= 0}
    terms = plain(f, domain.ring, lows)
    if terms is not None:
        return certificates.squares(terms)
    for problem, back in _problems(claim, lows):
        found = solved(problem, solver)
        if found is not None:
            return certificates.squares(_moved(found, back), _moved(problem.multiplier, back))
    return None


def _everywhere(claim: Claim, solver: str) -> list[SquareTerm] | None:
    """Returns terms without sides and without a multiplier, whose sum the polynomial is."""
    f, ring = claim.polynomial, claim.domain.ring
    terms = plain(f, ring, {})
    if terms is not None:
        return terms
    g, back = fewer_variables(f, ring) or (f, _same)
    for problem in everywhere(g, ring, {}):
        found = None if problem.multiplier else solved(problem, solver)
        return None if found is None else _moved(found, back)
    return None


def _moved(terms: Sequence[SquareTerm], back: Back) -> list[SquareTerm]:
    return [(sides, [(c, back(g)) for c, g in squares]) for sides, squares in terms]


def _problems(claim: Claim, lows: dict[str, Fraction]) -> Iterator[tuple[GramProblem, Back]]:
    """Yields problems whose solution proves the claim, each with a substitution to be made in the squares."""
    f, ring = claim.polynomial, claim.domain.ring
    if _seems(f, claim, lambda claim, draws: _around({}, claim, draws)):
        g, back = fewer_variables(f, ring) or (f, _same)
        yield from ((problem, back) for problem in everywhere(g, ring, {}))
    used = {n: a for n, a in lows.items() if n in variables(f)}
    if used and _seems(f, claim, lambda claim, draws: _around(used, claim, draws)):
        yield from ((problem, _same) for problem in everywhere(f, ring, used))
    yield from ((problem, _same) for problem in on_domain(claim, f))


def _same(f: Polynomial) -> Polynomial:
    return f


def solved(problem: GramProblem, solver: str) -> list[SquareTerm] | None:
    """Returns terms whose sum is the target exactly, or None; it looks at smaller faces."""
    for _ in range(ROUNDS):
        equations = program(problem)
        if equations is None:
            return None
        matrices = solve(equations, solver)
        if matrices is None:
            return None
        terms = None if singular(matrices) else exact_terms(problem, matrices)
        smaller = reduced(problem, matrices) if terms is None else None
        if smaller is None:
            return terms or exact_terms(problem, matrices)
        if not smaller.blocks:
            return None
        problem = smaller
    return None


def _seems(f: Polynomial, claim: Claim, draw: Callable[[Claim, Random], dict[str, Fraction]]) -> bool:
    """Tells whether f is at least zero at some random points."""
    draws = Random(1)
    return all(value(f, draw(claim, draws)) >= 0 for _ in range(SAMPLES))


def _inside(claim: Claim, draws: Random) -> dict[str, Fraction]:
    return {
        n: i.lower + (i.upper - i.lower) * Fraction(draws.randrange(17), 16)
        for n, i in claim.domain.box.items()
    }


def _around(lows: dict[str, Fraction], claim: Claim, draws: Random) -> dict[str, Fraction]:
    size = 2 ** draws.randrange(-2, 4)
    point = {n: Fraction(draws.randrange(-32, 33), 16) * Fraction(size) for n in claim.domain.ring.names}
    return {n: abs(v) if n in lows else v for n, v in point.items()}
