"""Semidefinite programs in floats, by Clarabel or SCS ([GoulartChen24], [ODonoghueEtAl16]).

What comes out is a hint and no more: whoever uses it verifies an identity exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from paramverify.exact.squares.problems import GramProblem

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
