"""Facial reduction: where all solutions are singular, the basis is replaced by a smaller one.

If every solution Q of a problem has Q·v = 0, all squares are of combinations of those w·basis with w·v = 0.
The floats suggest such vectors v: eigenvectors of small eigenvalues, and the values of the basis at zeros
of the target. They are used only where simple rational numbers are near them ([Permenter18]).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.polynomials import rational
from paramverify.exact.squares.problems import Block, GramProblem

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
