"""Proofs by sums of squares.

Semidefinite programs solved in floats, facial reduction, and rounding to exact squares.

Facial reduction: where all solutions are singular, the basis is replaced by a smaller one.

If every solution Q of a problem has Q·v = 0, all squares are of combinations of those w·basis with w·v = 0.
The floats suggest such vectors v: eigenvectors of small eigenvalues, and the values of the basis at zeros
of the target. They are used only where simple rational numbers are near them ([Permenter18]).

From floats to an exact sum of squares: rounding, projection onto the equations, and L·D·Lᵀ.

The equations are solved for some of the entries exactly. The others are rounded, and these follow. Where the
floats were well inside the cone and the numbers are fine enough, the matrices are still positive semidefinite
([PeyrlParrilo08], who project instead: solving keeps the numbers short).

Semidefinite programs in floats, by Clarabel or SCS ([GoulartChen24], [ODonoghueEtAl16]).

What comes out is a hint and no more: whoever uses it verifies an identity exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from random import Random
from typing import Any

from flint import fmpq, fmpq_mat

from paramverify.algebra.polynomials import (
    Polynomial,
    constant_value,
    fraction,
    is_constant,
    rational,
    substitute,
    variables,
)
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import CONSTANT, Proof, SquareTerm
from paramverify.exact.branching import solve_exactly
from paramverify.exact.procedure_outcomes import Outcome, RemainingWork
from paramverify.exact.squares.square_problems import (
    Back,
    Block,
    Column,
    GramProblem,
    Powers,
    everywhere,
    fewer_variables,
    on_domain,
    plain,
    prove_empty,
    value,
)
from paramverify.formats.refutations import Confirm

THRESHOLDS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)  # of eigenvalues, for the largest one
MAX_DENOMINATOR = 60
GAP = 20  # how much larger the next eigenvalue must be
SMALL = 3e-3  # pivots below are none, where others are possible


def reduced(problem: GramProblem, matrices: Sequence[Any]) -> GramProblem | None:
    """Returns the problem on a smaller face that the matrices suggest; None if they suggest none."""
    import numpy

    pairs = list(zip(problem.blocks, matrices, strict=True))
    largest = max(float(numpy.linalg.eigvalsh(matrix)[-1]) for matrix in matrices)
    for threshold in THRESHOLDS:
        blocks = [_reduced(block, matrix, threshold, threshold * largest) for block, matrix in pairs]
        kept = [new if new is not None else old for new, old in zip(blocks, problem.blocks, strict=True)]
        if any(new is not None for new in blocks):
            return replace(problem, blocks=tuple(block for block in kept if block.basis))
    return None


def singular(matrices: Sequence[Any]) -> bool:
    """Tells whether a matrix has an eigenvalue that is clearly small, so that it hardly can be rounded."""
    import numpy

    return any(v[0] < THRESHOLDS[0] * max(v[-1], 1e-3) for v in map(numpy.linalg.eigvalsh, matrices))


def _reduced(block: Block, matrix: Any, threshold: float, least: float) -> Block | None:
    """Returns the block on its face, empty where no eigenvalue reaches the least that counts."""
    import numpy

    values, vectors = numpy.linalg.eigh(matrix)
    if values[-1] < least:
        return replace(block, basis=())
    null = values < threshold * values[-1]
    if not null.any() or abs(values[null]).max() * GAP > values[~null].min():
        return None
    # The vectors are off by about the root of what should be zero, for the least of the others.
    off = (abs(values[null]).max() / values[~null].min()) ** 0.5
    tolerance = min(max(30 * off, 1e-5), 1e-2)
    degrees = [int(u.total_degree()) for u in block.basis]
    low_first = sorted(range(len(degrees)), key=degrees.__getitem__)
    for order in (None, low_first):  # the values of monomials at a zero are simple for the one at 1
        found = _without(block, echelon_form(vectors[:, null].T, order), tolerance)
        if found is not None:
            return found
    return None


def _without(block: Block, echelon: tuple[list[int], Any], tolerance: float) -> Block | None:
    """Returns the block on what is orthogonal to the rows, if they have simple numbers."""
    pivots, rows = echelon
    rest = [k for k in range(len(block.basis)) if k not in pivots]
    relations: dict[int, list[Fraction]] = {}
    for k in rest:
        near = [_simple(float(rows[i, k]), tolerance) for i in range(len(pivots))]
        if any(x is None for x in near):
            return None
        relations[k] = [x for x in near if x is not None]
    basis = []
    for k in rest:
        u = block.basis[k]
        for pivot, c in zip(pivots, relations[k], strict=True):
            if c:
                u = u - block.basis[pivot] * rational(c)
        basis.append(u)
    return replace(block, basis=tuple(basis))


def echelon_form(rows: Any, order: Sequence[int] | None = None) -> tuple[list[int], Any]:
    """Returns pivots, and combinations of the rows with unit vectors there.

    Without an order the largest pivot comes first; else the columns are tried in it.
    """
    import numpy

    rows = numpy.array(rows, dtype=float)
    pivots: list[int] = []
    columns = list(order or [])
    for k in range(len(rows)):
        part = abs(rows[k:])
        i, j = numpy.unravel_index(part.argmax(), part.shape)
        while columns:
            column = columns.pop(0)
            if part[:, column].max() > SMALL:
                i, j = part[:, column].argmax(), column
                break
        rows[[k, k + i]] = rows[[k + i, k]]
        rows[k] /= rows[k, j]
        for other in range(len(rows)):
            if other != k:
                rows[other] -= rows[other, j] * rows[k]
        pivots.append(int(j))
    return pivots, rows


def _simple(value: float, tolerance: float) -> Fraction | None:
    """Returns the simplest rational near a float, if it is a simple one."""
    for denominator in range(1, MAX_DENOMINATOR + 1):
        top = round(value * denominator)
        if abs(value - top / denominator) < tolerance * max(1.0, abs(value)) / denominator**1.5:
            return Fraction(top, denominator)
    return None


BITS = (4, 8, 14, 20, 28, 40)  # of rounded entries, coarse ones first: they make short proofs
MAX_SIZE = 4_000_000  # equations that hang together, times their unknowns


def exact_terms(problem: GramProblem, matrices: Sequence[Any]) -> list[SquareTerm] | None:
    """Returns terms whose sum is the target exactly, near the given matrices; None if there are none."""
    equations = _Equations(problem)
    for bits in BITS:
        entries = equations.nearest(_rounded(matrices, bits))
        if entries is None:
            return None
        terms = _decomposed(problem.blocks, entries)
        if terms is not None:
            return terms
    return None


def _rounded(matrices: Sequence[Any], bits: int) -> list[fmpq]:
    scale = 1 << bits
    return [
        fmpq(round(float(matrix[i, j]) * scale), scale)
        for matrix in matrices
        for j in range(len(matrix))
        for i in range(j + 1)
    ]


class _Equations:
    """The equations of a problem, solved for some unknowns once; in groups that share no unknown."""

    def __init__(self, problem: GramProblem) -> None:
        self.width = problem.entries
        self.solved: list[tuple[int, fmpq, list[tuple[int, fmpq]]]] | None = []
        target: Column = problem.target.to_dict()
        for rows, unknowns in _groups(problem.columns, target):
            found = _eliminated(problem.columns, target, rows, unknowns)
            if found is None or self.solved is None:
                self.solved = None
            else:
                self.solved += found

    def nearest(self, entries: list[fmpq]) -> list[fmpq] | None:
        """Returns a point that satisfies the equations, near one that nearly does; None if none does."""
        if self.solved is None:
            return None
        result = list(entries)
        for pivot, constant, others in self.solved:
            result[pivot] = constant - sum((c * entries[k] for k, c in others), fmpq(0))
        return result


def _eliminated(
    columns: Sequence[Column], target: Column, rows: Sequence[Powers], unknowns: Sequence[int]
) -> list[tuple[int, fmpq, list[tuple[int, fmpq]]]] | None:
    """Returns what some unknowns are, given the others; None if the equations contradict each other."""
    if not unknowns or len(rows) * len(unknowns) > MAX_SIZE:
        return None
    zero, places, width = fmpq(0), {powers: k for k, powers in enumerate(rows)}, len(unknowns)
    entries = [[zero] * width + [target.get(powers, zero)] for powers in rows]
    for k, unknown in enumerate(unknowns):
        for powers, c in columns[unknown].items():
            entries[places[powers]][k] = c
    reduced, rank = fmpq_mat(len(rows), width + 1, [c for row in entries for c in row]).rref()
    result = []
    for row in range(rank):
        line = [reduced[row, k] for k in range(width + 1)]
        pivot = next(k for k, c in enumerate(line) if c)
        if pivot == width:
            return None
        others = [(unknowns[k], line[k]) for k in range(pivot + 1, width) if line[k]]
        result.append((unknowns[pivot], line[width], others))
    return result


def _groups(columns: Sequence[Column], target: Column) -> Iterator[tuple[list[Powers], list[int]]]:
    """Yields monomials with the unknowns that have them: two are together where one unknown has both."""
    leader: dict[Powers, Powers] = {}

    def find(powers: Powers) -> Powers:
        while leader.setdefault(powers, powers) != powers:
            leader[powers] = powers = leader[leader[powers]]
        return powers

    for column in columns:
        first = next(iter(column))
        for other in column:
            leader[find(other)] = find(first)
    for powers in target:
        find(powers)
    groups: dict[Powers, tuple[list[Powers], list[int]]] = {}
    for powers in list(leader):
        groups.setdefault(find(powers), ([], []))[0].append(powers)
    for k, column in enumerate(columns):
        groups[find(next(iter(column)))][1].append(k)
    yield from groups.values()


def _decomposed(blocks: Sequence[Block], entries: Sequence[fmpq]) -> list[SquareTerm] | None:
    terms: list[SquareTerm] = []
    start = 0
    for block in blocks:
        n = len(block.basis)
        rows = [[fmpq(0)] * n for _ in range(n)]
        for j in range(n):
            for i in range(j + 1):
                rows[i][j] = rows[j][i] = entries[start + j * (j + 1) // 2 + i]
        start += block.entries
        squares = squares_of(rows, block.basis)
        if squares is None:
            return None
        if squares:
            terms.append((block.sides, squares))
    return terms


def squares_of(
    rows: list[list[fmpq]], basis: Sequence[Polynomial]
) -> list[tuple[Fraction, Polynomial]] | None:
    """Returns c > 0 and g with Σ c·g² = basisᵀ·Q·basis, by Q = L·D·Lᵀ; None if Q is not semidefinite."""
    rows = [list(row) for row in rows]
    found = []
    for k, pivot in enumerate(basis):
        d = rows[k][k]
        if d < 0 or (not d and any(rows[k][k + 1 :])):
            return None
        if not d:
            continue
        lead = [c / d for c in rows[k]]
        for i in range(k + 1, len(basis)):
            if rows[k][i]:
                for j in range(i, len(basis)):
                    rows[i][j] -= rows[k][i] * lead[j]
                    rows[j][i] = rows[i][j]
        g = pivot
        for j in range(k + 1, len(basis)):
            if lead[j]:
                g = g + basis[j] * lead[j]
        found.append((fraction(d), g))
    return found


DENSE = 4_000_000  # equations times unknowns, up to which dependent equations are left out
FAR = 1e-4  # errors in the equations from which on a solution is none
NONE = ("infeasible", "unbounded", "indeterminate")  # parts of the words for "no solution", of both solvers


@dataclass(frozen=True, eq=False)
class SemidefiniteProgram:
    """Equations A·z = b for the entries of matrices of the given sizes, upper triangles column by column."""

    matrix: Any
    right: Any
    sizes: tuple[int, ...]


def program(problem: GramProblem) -> SemidefiniteProgram | None:
    """Returns the program of a problem; None where an equation has no unknown, and so no solution."""
    import numpy
    from scipy.sparse import csc_matrix

    rows: dict[tuple[int, ...], int] = {}
    values, places, columns = [], [], []
    for column, polynomial in enumerate(problem.columns):
        for powers, coefficient in polynomial.items():
            places.append(rows.setdefault(powers, len(rows)))
            columns.append(column)
            values.append(_float(coefficient))
    target = problem.target.to_dict()
    if any(powers not in rows for powers in target):
        return None
    right = numpy.zeros(len(rows))
    for powers, coefficient in target.items():
        right[rows[powers]] = _float(coefficient)
    shape = (len(rows), problem.entries)
    matrix = csc_matrix((values, (places, columns)), shape=shape)
    return SemidefiniteProgram(matrix, right, tuple(len(block.basis) for block in problem.blocks))


def _float(number: Any) -> float:
    return int(number.p) / int(number.q)


def solve(found: SemidefiniteProgram, solver: str = "clarabel") -> list[Any] | None:
    """Returns semidefinite matrices that nearly satisfy the equations; None if there seem to be none.

    Where there are many solutions, they are inner ones: of the largest rank, up to rounding.
    """
    import numpy
    from scipy.sparse import diags_array

    scale = numpy.array(
        [1.0 if i == j else sqrt(0.5) for n in found.sizes for j in range(n) for i in range(j + 1)]
    )
    largest = numpy.maximum(abs(found.matrix).max(axis=1).toarray().ravel(), 1e-300)
    equations = diags_array(1 / largest) @ found.matrix @ diags_array(scale)
    kept = _independent(equations)
    equations, right = equations[kept], (found.right / largest)[kept]
    unit = abs(right).max(initial=0.0) or 1.0
    run = {"clarabel": _clarabel, "scs": _scs}[solver]
    vector = run(equations, right / unit, found.sizes)
    if vector is None or not numpy.isfinite(vector).all():
        return None
    if abs(equations @ vector - right / unit).max(initial=0.0) > FAR:
        return None
    return _matrices(vector * unit * scale, found.sizes)


def _independent(equations: Any) -> Any:
    """Returns the rows of which the others are combinations: interior points stumble over these."""
    import numpy
    from scipy.linalg import qr

    rows, width = equations.shape
    if rows * width > DENSE or (equations @ equations.T).nnz == rows:  # orthogonal already
        return numpy.arange(rows)
    triangle, order = qr(equations.toarray().T, mode="r", pivoting=True)
    size = abs(numpy.diagonal(triangle))
    return numpy.sort(order[: int((size > 1e-9 * size[0]).sum())])


def _matrices(vector: Any, sizes: Sequence[int]) -> list[Any]:
    import numpy

    result, start = [], 0
    for n in sizes:
        matrix = numpy.zeros((n, n))
        columns, rows = numpy.tril_indices(n)
        matrix[rows, columns] = vector[start : start + len(rows)]
        matrix[columns, rows] = matrix[rows, columns]
        result.append(matrix)
        start += len(rows)
    return result


def _clarabel(equations: Any, right: Any, sizes: Sequence[int]) -> Any:
    import clarabel
    import numpy
    from scipy.sparse import csc_matrix, eye_array, vstack

    rows, width = equations.shape
    matrix = csc_matrix(vstack([equations, -eye_array(width)]))
    cones = [clarabel.ZeroConeT(rows), *(clarabel.PSDTriangleConeT(n) for n in sizes)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    constants = numpy.concatenate([right, numpy.zeros(width)])
    nothing = csc_matrix((width, width))
    data = (nothing, numpy.zeros(width), matrix, constants, cones, settings)
    try:
        solved = clarabel.DefaultSolver(*data).solve()
    except BaseException as error:  # a panic in Rust, such as of its eigenvalues, is no `Exception`
        if type(error).__name__ != "PanicException":
            raise
        return None
    return None if _hopeless(str(solved.status)) else numpy.array(solved.x)


def _scs(equations: Any, right: Any, sizes: Sequence[int]) -> Any:
    import numpy
    import scs
    from scipy.sparse import csc_matrix, eye_array, vstack

    rows, width = equations.shape
    order = []  # SCS wants lower triangles column by column, which are upper triangles row by row
    start = 0
    for n in sizes:
        order += [start + j * (j + 1) // 2 + i for i in range(n) for j in range(i, n)]
        start += n * (n + 1) // 2
    matrix = csc_matrix(vstack([equations, csc_matrix(-eye_array(width))[order]]))
    data = {"A": matrix, "b": numpy.concatenate([right, numpy.zeros(width)]), "c": numpy.zeros(width)}
    cone = {"z": rows, "s": list(sizes)}
    found = scs.SCS(data, cone, verbose=False, eps_abs=1e-9, eps_rel=1e-9, max_iters=20_000).solve()
    return None if _hopeless(found["info"]["status"]) else found["x"]


def _hopeless(status: str) -> bool:
    """Tells whether there is no solution; one of which too little is known may still become an exact one."""
    return any(word in status.lower() for word in NONE)


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
