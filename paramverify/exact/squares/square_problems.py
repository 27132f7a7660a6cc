"""Which sums of squares prove a claim: the monomials in them, and the plans, the cheap ones first.

Which monomials may occur in the squares: by the Newton polytope, sign symmetries and diagonal entries.

If f = Σ gᵢ², all monomials of the gᵢ are in one half of the Newton polytope of f ([Reznick78]). A variable
that is at least zero is looked at as a square x = t²: then a sum of squares in t is one in x, times
products of such variables. If flips of signs leave f as it is, Q falls into blocks ([Lofberg09]). Leaving
out too much loses proofs and never makes a wrong one.

Plans: the problems whose solution proves a claim, the cheap ones first.

Everywhere: f is a sum of squares, or becomes one when a power of Σ x² (or of 1 + Σ x²) is multiplied
([Reznick95]). On an orthant: the variables that are at least zero are written as squares, and the
multiplier is a power of their sum ([Polya28]). On the domain: products of the ends of the box and of the
constraints, times sums of squares ([Schmuedgen91], [Putinar93]), for growing degrees.

Claims that a domain is empty, which is how f > 0 is claimed: by slack, or by squares that vanish nowhere.

The claim −1 ≥ 0 on D with a constraint g ≥ 0 holds if −g ≥ δ on the rest of D, for a number δ > 0. Where
there is no such δ, −g may be a sum of squares Σ cᵢ·gᵢ²: then all gᵢ are zero on D, and other procedures may
show that this is nowhere so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import comb
from random import Random

from flint import fmpq, fmpq_mat

from paramverify.algebra.domains import Constraint, Domain
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    Ring,
    fraction,
    is_constant,
    rational,
    variables,
)
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import Proof, Side, SquareTerm
from paramverify.simplify.reductions import live_constraints

Powers = tuple[int, ...]

MAX_CANDIDATES = 6_000
MAX_PROGRAMS = 400  # linear programs, for monomials that no direction excludes
DIRECTIONS = 200


def halves(support: Sequence[Powers]) -> list[Powers]:
    """Returns the e with 2·e in the convex hull of the support, or a few more; none if there are too many."""
    if not support:
        return []
    inside = set(support)
    directions = list(_directions(len(support[0])))
    bounds = [max(_dot(d, s) for s in support) for d in directions]
    found = []
    for count, e in enumerate(_candidates(support)):
        if count > MAX_CANDIDATES:
            return []
        twice = tuple(2 * k for k in e)
        if all(_dot(d, twice) <= bound for d, bound in zip(directions, bounds, strict=True)):
            found.append(e)
    doubtful = [e for e in found if tuple(2 * k for k in e) not in inside]
    if len(doubtful) <= MAX_PROGRAMS:
        out = {e for e in doubtful if not _in_hull(tuple(2 * k for k in e), support)}
        found = [e for e in found if e not in out]
    return found


def _candidates(support: Sequence[Powers]) -> Iterator[Powers]:
    """Yields the e with 2·e in the box of the support, with a total degree that fits."""
    degrees = [sum(s) for s in support]
    least, most = -(-min(degrees) // 2), max(degrees) // 2
    ends = [(-(-min(column) // 2), max(column) // 2) for column in zip(*support, strict=True)]

    def rest(k: int, low: int, high: int) -> Iterator[Powers]:
        if k == len(ends):
            if low <= 0 <= high:
                yield ()
            return
        for e in range(ends[k][0], min(ends[k][1], high) + 1):
            for others in rest(k + 1, low - e, high - e):
                yield (e, *others)

    yield from rest(0, least, most)


def _directions(width: int) -> Iterator[Powers]:
    draws = Random(1)
    for k in range(width):
        for sign in (1, -1):
            yield tuple(sign * (i == k) for i in range(width))
    for i, j in product(range(width), repeat=2):
        if i != j:
            yield tuple((k == i) - (k == j) for k in range(width))
            yield tuple((k == i) + (k == j) for k in range(width))
    for _ in range(DIRECTIONS):
        yield tuple(draws.randrange(-3, 4) for _ in range(width))


def _dot(left: Powers, right: Powers) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _in_hull(point: Powers, support: Sequence[Powers]) -> bool:
    """Tells whether a point seems to be an average of others: nonnegative weights that sum to 1."""
    import clarabel
    import numpy
    from scipy.sparse import csc_matrix

    count, width = len(support), len(point) + 1
    sums = numpy.vstack([numpy.array(support, dtype=float).T, numpy.ones(count)])
    matrix = csc_matrix(numpy.vstack([sums, -numpy.eye(count)]))
    right = numpy.array([*point, 1, *[0] * count], dtype=float)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    cones = [clarabel.ZeroConeT(width), clarabel.NonnegativeConeT(count)]
    data = (csc_matrix((count, count)), numpy.zeros(count), matrix, right, cones, settings)
    solved = clarabel.DefaultSolver(*data).solve()
    return "PrimalInfeasible" not in str(solved.status)


def flips(supports: Sequence[Powers]) -> list[Powers]:
    """Returns generators of the flips of signs that change no monomial: r with r·α even, modulo 2."""
    if not supports:
        return []
    width = len(supports[0])
    reduced: list[tuple[int, list[int]]] = []  # pivot, row
    for row in {tuple(k % 2 for k in s) for s in supports}:
        entries = list(row)
        for pivot, other in reduced:
            if entries[pivot]:
                entries = [a ^ b for a, b in zip(entries, other, strict=True)]
        if any(entries):
            pivot = entries.index(1)
            reduced = [
                (p, [a ^ b for a, b in zip(o, entries, strict=True)] if o[pivot] else o) for p, o in reduced
            ]
            reduced.append((pivot, entries))
    free = [k for k in range(width) if k not in {p for p, _ in reduced}]
    rows = []
    for k in free:
        r = [0] * width
        r[k] = 1
        for pivot, other in reduced:
            r[pivot] = other[k]
        rows.append(tuple(r))
    return rows


def classes(monomials: Sequence[Powers], symmetries: Sequence[Powers]) -> list[list[Powers]]:
    """Returns the monomials in groups that are changed in the same way by all flips."""
    found: dict[Powers, list[Powers]] = {}
    for e in monomials:
        found.setdefault(tuple(_dot(r, e) % 2 for r in symmetries), []).append(e)
    return list(found.values())


def consistent(groups: Sequence[Sequence[Powers]], support: Sequence[Powers]) -> list[list[Powers]]:
    """Returns the groups without those e for which 2·e can come from the square of e only, and is not in f.

    Then the diagonal entry at e is zero, and with it the row.
    """
    known, kept = set(support), [list(group) for group in groups]
    while True:
        mixed = {
            tuple(map(int.__add__, a, b)) for group in kept for k, a in enumerate(group) for b in group[:k]
        }
        size = sum(map(len, kept))
        kept = [[e for e in group if (t := tuple(2 * k for k in e)) in known or t in mixed] for group in kept]
        if sum(map(len, kept)) == size:
            return [group for group in kept if group]


Column = Mapping[tuple[int, ...], fmpq]  # coefficients by monomial


@dataclass(frozen=True, eq=False)
class Block:
    """Squares of combinations of a basis, times a product of sides; `weight` is that product expanded."""

    sides: tuple[Side, ...]
    weight: Polynomial
    basis: tuple[Polynomial, ...]

    @property
    def entries(self) -> int:
        """The number of unknowns: entries of a symmetric matrix, those below the diagonal left out."""
        return len(self.basis) * (len(self.basis) + 1) // 2


@dataclass(frozen=True, eq=False)
class GramProblem:
    """To find positive semidefinite Q with target = Σ weight·(basisᵀ·Q·basis), summed over the blocks.

    `multiplier` are the terms of which the claim's polynomial was multiplied by the sum; none for 1.
    """

    target: Polynomial
    blocks: tuple[Block, ...]
    multiplier: tuple[SquareTerm, ...] = ()

    @cached_property
    def columns(self) -> list[Column]:
        """For each unknown the polynomial by which the sum grows, blocks and then columns in order."""
        result: list[Column] = []
        for block in self.blocks:
            for j, right in enumerate(block.basis):
                product = block.weight * right
                for i, left in enumerate(block.basis[: j + 1]):
                    result.append((product * left * (1 if i == j else 2)).to_dict())
        return result

    @property
    def entries(self) -> int:
        """The number of unknowns."""
        return sum(block.entries for block in self.blocks)


def side_polynomial(ring: Ring, side: Side, constraints: Sequence[Polynomial]) -> Polynomial:
    """Returns x − a, b − x, or the constraint: what is at least zero on the domain."""
    kind, what, *end = side
    if kind == "constraint":
        return constraints[int(what)]
    difference = ring.variable(str(what)) - ring.number(Fraction(end[0]))
    return difference if kind == "low" else -difference


def monomial(ring: Ring, exponents: Sequence[int]) -> Polynomial:
    """Returns the monomial with these exponents."""
    return ring.context.from_dict({tuple(exponents): fmpq(1)})


def exponents_of(polynomial: Polynomial) -> list[tuple[int, ...]]:
    """Returns the exponents of the terms."""
    return [tuple(map(int, x)) for x in polynomial.to_dict()]


def value(polynomial: Polynomial, point: Point) -> Fraction:
    """Returns the value at a point that gives all variables of the ring, those that do not occur as well."""
    names = [str(n) for n in polynomial.context().names()]
    return fraction(polynomial(*(rational(point.get(n, Fraction(0))) for n in names)))


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


DRAWS = 300
SHARES = (Fraction(1, 2), Fraction(1, 16), Fraction(1, 1024))  # of the least value that was seen

Prover = Callable[[Claim], Proof | None]
Squarer = Callable[[Claim], list[SquareTerm] | None]


def prove_empty(claim: Claim, prove: Prover, squares: Squarer, decide: Prover) -> Proof | None:
    """Returns a proof of −c ≥ 0 on a domain, for c > 0; None if none was found.

    `prove` is asked for other polynomials, `squares` for terms whose sum a polynomial is, and `decide` for
    the same claim with equations as further constraints.
    """
    live = [(k, c) for k, c in live_constraints(claim.domain) if not is_constant(c.polynomial)]
    for k, constraint in live[::-1]:  # the one that says f ≤ 0 comes last
        trivial = replace(constraint, polynomial=claim.domain.ring.number(1), strict=False)
        others = (*claim.domain.constraints[:k], trivial, *claim.domain.constraints[k + 1 :])
        rest = replace(claim, domain=replace(claim.domain, constraints=others))
        for slack in _slacks(rest, constraint):
            factor = -_number(claim) / slack
            part = claim.polynomial - constraint.polynomial * rational(factor)
            proof = prove(replace(rest, polynomial=part))
            if proof is not None:
                return certificates.constraint(k, factor, proof)
        proof = _vanishing(claim, k, squares=squares, decide=decide)
        if proof is not None:
            return proof
    return None


def _number(claim: Claim) -> Fraction:
    return value(claim.polynomial, {})


def _slacks(rest: Claim, constraint: Constraint) -> Iterator[Fraction]:
    """Yields numbers below all values of −g that were seen on the rest of the domain, simple ones."""
    draws, least = Random(1), None
    for _ in range(DRAWS):
        point = {
            n: i.lower + (i.upper - i.lower) * Fraction(draws.randrange(33), 32)
            for n, i in rest.domain.box.items()
        }
        if all(
            c.holds_at({**dict.fromkeys(rest.domain.ring.names, Fraction(0)), **point})
            for c in rest.domain.constraints
        ):
            seen = -value(constraint.polynomial, point)
            least = seen if least is None else min(least, seen)
    if least is None or least <= 0:
        return
    for share in SHARES:
        yield (least * share).limit_denominator(max(1, int(4 / (least * share))) * 4)


def _vanishing(claim: Claim, k: int, squares: Squarer, decide: Prover) -> Proof | None:
    constraint = claim.domain.constraints[k]
    terms = squares(replace(claim, polynomial=-constraint.polynomial))
    if terms is None or any(sides for sides, _ in terms):
        return None
    found = [(c, g) for _, squared in terms for c, g in squared if c > 0]
    equations = [Constraint(sign * g, False, "") for _, g in found for sign in (1, -1)]
    domain = replace(claim.domain, constraints=(*claim.domain.constraints, *equations))
    proof = decide(replace(claim, domain=domain))
    return None if proof is None else certificates.vanish(k, found, proof)


Back = Callable[[Polynomial], Polynomial]


def fewer_variables(f: Polynomial, ring: Ring) -> tuple[Polynomial, Back] | None:
    """Returns g and a substitution s with f = g∘s, where g has fewer variables; None if there is none.

    Where v₁, ..., vₖ span the directions with ∂f/∂v = 0, each with a 1 where the others have 0, f(x) is
    f(x − Σ x_p·v_p), and that point has zeros at these places.
    """
    names = variables(f)
    slopes = [f.derivative(name).to_dict() for name in names]
    rows = sorted({powers for slope in slopes for powers in slope})
    if not rows:
        return None
    entries = [slope.get(powers, fmpq(0)) for powers in rows for slope in slopes]
    reduced, rank = fmpq_mat(len(rows), len(names), entries).rref()
    if rank == len(names):
        return None
    leads = [next(k for k in range(len(names)) if reduced[row, k]) for row in range(rank)]
    images = {name: ring.variable(name) for name in ring.names}
    for p, name in enumerate(names):
        if p in leads:
            continue
        images[name] = ring.number(0)
        for row, q in enumerate(leads):  # v_p has −reduced[row, p] at q
            images[names[q]] = images[names[q]] + ring.variable(name) * reduced[row, p]
    kept = {names[q] for q in leads}
    removed = [ring.variable(n) if n in kept else ring.number(0) for n in ring.names]
    arguments = [images[name] for name in ring.names]
    return f.compose(*removed), lambda g: g.compose(*arguments)
