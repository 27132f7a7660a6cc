"""Plans: the problems whose solution proves a claim, the cheap ones first.

Everywhere: f is a sum of squares, or becomes one when a power of Σ x² (or of 1 + Σ x²) is multiplied
([Reznick95]). On an orthant: the variables that are at least zero are written as squares, and the
multiplier is a power of their sum ([Polya28]). On the domain: products of the ends of the box and of the
constraints, times sums of squares ([Schmuedgen91], [Putinar93]), for growing degrees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Polynomial, Ring, variables
from paramverify.claims import Claim
from paramverify.evidence.certificates import Side, SquareTerm
from paramverify.exact.squares.monomials import Powers, classes, consistent, flips, halves
from paramverify.exact.squares.problems import Block, GramProblem, exponents_of, monomial, side_polynomial
from paramverify.simplify.reductions import live_constraints

MAX_ENTRIES = 3_000  # unknowns of one problem
MAX_BASIS = 70  # the largest matrix
MAX_POWER = 2  # of the multiplier
MAX_LEFT_OUT = 4  # variables up to which one may be missing in the multiplier
MAX_LEVELS = 3  # degrees beyond that of the polynomial, in steps of two
MAX_PAIRED = 6  # variables up to which ends of the box are multiplied in pairs


def small(problem: GramProblem) -> bool:
    """Tells whether a problem is small enough to be solved in seconds."""
    if not problem.blocks or max(len(block.basis) for block in problem.blocks) > MAX_BASIS:
        return False
    return problem.entries <= MAX_ENTRIES


def everywhere(f: Polynomial, ring: Ring, at_least_zero: Mapping[str, Fraction]) -> Iterator[GramProblem]:
    """Yields problems that prove f ≥ 0 where the named variables are at least the numbers given for them.

    Those numbers are at least zero. Without any, that is everywhere.
    """
    names = variables(f)
    form = len({sum(e) for e in exponents_of(f)}) == 1
    multipliers: list[tuple[tuple[SquareTerm, ...], Polynomial]] = [((), ring.number(1))]
    multipliers += [_multiplier(names, ring, at_least_zero, power, form) for power in range(1, MAX_POWER + 1)]
    if form and 2 < len(names) <= MAX_LEFT_OUT:
        rests = [tuple(n for n in names if n != left) for left in names]
        multipliers += [_multiplier(rest, ring, at_least_zero, 1, form) for rest in rests]
    for multiplier, factor in multipliers:
        problem = halved(f * factor, ring, at_least_zero, multiplier)
        if problem is not None and small(problem):
            yield problem


def _multiplier(
    names: Sequence[str], ring: Ring, at_least_zero: Mapping[str, Fraction], power: int, form: bool
) -> tuple[tuple[SquareTerm, ...], Polynomial]:
    """Returns a power of a sum: x for variables at least zero, x² for others, and 1 for what is no form."""
    simple = all(name in at_least_zero for name in names) or not form
    linear = {name for name in names if name in at_least_zero and simple}
    summand = {n: ring.variable(n) ** (1 if n in linear else 2) for n in names}
    factor = sum(summand.values(), ring.number(0 if form else 1)) ** power
    terms: list[SquareTerm] = []
    order = ring.names
    for powers, c in factor.to_dict().items():
        odd = [n for n, e in zip(order, powers, strict=True) if e % 2]
        sides: list[Side] = [("low", n, Fraction(0)) for n in odd]
        root = monomial(ring, [int(e) // 2 for e in powers])
        terms.append((sides, [(Fraction(int(c.p), int(c.q)), root)]))
    return tuple(terms), factor


def halved(
    target: Polynomial, ring: Ring, at_least_zero: Mapping[str, Fraction], multiplier: tuple[SquareTerm, ...]
) -> GramProblem | None:
    """Returns the problem by the Newton polytope, with a product of variables before each block."""
    weights = [2 if name in at_least_zero else 1 for name in ring.names]
    support = [tuple(w * k for w, k in zip(weights, e, strict=True)) for e in exponents_of(target)]
    found = halves(support)
    groups = consistent(classes(found, flips(support)), support)
    blocks = []
    for group in groups:
        parity = [e % 2 if w == 2 else 0 for e, w in zip(group[0], weights, strict=True)]
        sides: tuple[Side, ...] = tuple(
            ("low", name, Fraction(0)) for name, odd in zip(ring.names, parity, strict=True) if odd
        )
        basis = [[e // w for e, w in zip(powers, weights, strict=True)] for powers in group]
        weight = monomial(ring, parity)
        blocks.append(Block(sides, weight, tuple(monomial(ring, e) for e in basis)))
    return GramProblem(target, tuple(blocks), multiplier) if blocks else None


@dataclass(frozen=True, eq=False)
class _SideProduct:
    """A product of sides, expanded."""

    sides: tuple[Side, ...]
    polynomial: Polynomial

    @property
    def degree(self) -> int:
        return int(self.polynomial.total_degree())


def on_domain(claim: Claim, f: Polynomial) -> Iterator[GramProblem]:
    """Yields problems that prove f ≥ 0 on the domain, of growing degree."""
    domain = claim.domain
    live = live_constraints(domain)
    names = sorted({*variables(f), *(n for _, c in live for n in variables(c.polynomial))})
    names = [n for n in names if n in domain.box and not domain.box[n].is_point]
    if {*variables(f)} - {*names}:
        return
    ends = {name: _ends(domain, name) for name in names}
    constraints = [_SideProduct((("constraint", k),), c.polynomial) for k, c in live]
    lowest = max([int(f.total_degree()), 2, *(c.degree for c in constraints)])
    for level in range(MAX_LEVELS):
        degree = lowest + lowest % 2 + 2 * level
        for products in _families(domain, names, ends=ends, constraints=constraints, degree=degree):
            problem = _of_degree(f, domain.ring, names=names, products=products, degree=degree)
            if problem is not None and small(problem):
                yield problem


def _ends(domain: Domain, name: str) -> tuple[_SideProduct, _SideProduct]:
    interval = domain.box[name]
    sides: tuple[Side, Side] = (("low", name, interval.lower), ("high", name, interval.upper))
    low, high = (_SideProduct((side,), side_polynomial(domain.ring, side, ())) for side in sides)
    return low, high


def _families(
    domain: Domain,
    names: Sequence[str],
    ends: Mapping[str, tuple[_SideProduct, _SideProduct]],
    constraints: Sequence[_SideProduct],
    degree: int,
) -> Iterator[list[_SideProduct]]:
    """Yields lists of products: x·(1 − x) of each variable first, then single ends, then all pairs."""
    one = _SideProduct((), domain.ring.number(1))
    both = [_times(*ends[name]) for name in names]
    single = [end for name in names for end in ends[name]]
    yield [one, *constraints, *both]
    if len(names) <= MAX_PAIRED:
        pairs = [_times(a, b) for a, b in combinations([*single, *constraints], 2)]
        yield [one, *constraints, *single, *(p for p in pairs if p.degree <= degree)]


def _times(left: _SideProduct, right: _SideProduct) -> _SideProduct:
    return _SideProduct((*left.sides, *right.sides), left.polynomial * right.polynomial)


def _of_degree(
    f: Polynomial, ring: Ring, names: Sequence[str], products: Sequence[_SideProduct], degree: int
) -> GramProblem | None:
    width = len(names)
    total = 0
    for p in products:
        size = comb(width + (degree - p.degree) // 2, width) if p.degree <= degree else 0
        total += size * (size + 1) // 2
    if total > 4 * MAX_ENTRIES or degree < int(f.total_degree()):
        return None
    supports = [*exponents_of(f), *(e for p in products for e in exponents_of(p.polynomial))]
    symmetries = flips(supports)
    axes = [ring.names.index(name) for name in names]
    blocks = []
    for p in products:
        if p.degree > degree:
            continue
        powers = [_spread(e, axes, len(ring.names)) for e in _up_to(width, (degree - p.degree) // 2)]
        for group in classes(powers, symmetries):
            blocks.append(Block(p.sides, p.polynomial, tuple(monomial(ring, e) for e in group)))
    return GramProblem(f, tuple(blocks))


def _up_to(width: int, degree: int) -> Iterator[Powers]:
    if not width:
        yield ()
        return
    for e in range(degree + 1):
        for rest in _up_to(width - 1, degree - e):
            yield (e, *rest)


def _spread(powers: Powers, axes: Sequence[int], width: int) -> Powers:
    result = [0] * width
    for axis, e in zip(axes, powers, strict=True):
        result[axis] = e
    return tuple(result)


def plain(f: Polynomial, ring: Ring, at_least_zero: Mapping[str, Fraction]) -> list[SquareTerm] | None:
    """Returns the terms of f where each is a number ≥ 0 times a square and variables that are ≥ 0."""
    terms: list[SquareTerm] = []
    for powers, c in f.to_dict().items():
        odd = [n for n, e in zip(ring.names, powers, strict=True) if e % 2]
        if c < 0 or any(n not in at_least_zero for n in odd):
            return None
        sides: list[Side] = [("low", n, Fraction(0)) for n in odd]
        root = monomial(ring, [int(e) // 2 for e in powers])
        terms.append((sides, [(Fraction(int(c.p), int(c.q)), root)]))
    return terms
