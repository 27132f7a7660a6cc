"""From floats to an exact sum of squares: rounding, projection onto the equations, and L·D·Lᵀ.

The equations are solved for some of the entries exactly. The others are rounded, and these follow. Where the
floats were well inside the cone and the numbers are fine enough, the matrices are still positive semidefinite
([PeyrlParrilo08], who project instead: solving keeps the numbers short).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from flint import fmpq, fmpq_mat

from paramverify.algebra.polynomials import Polynomial, fraction
from paramverify.evidence.certificates import SquareTerm
from paramverify.exact.squares.monomials import Powers
from paramverify.exact.squares.problems import Block, Column, GramProblem

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
