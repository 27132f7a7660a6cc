"""What of the picture of a map is outside of the domain, by its constraints: it is left blank.

A cell at the edge of the domain reaches beyond it. So small blocks are laid over the cells, each where the
middle of the block is outside. The script does the same for other slices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, sign_at
from paramverify.algebra.polynomials import variables

COLUMNS, ROWS = 64, 55


@dataclass(frozen=True)
class Blank:
    """The constraints, by number, that a picture over some parameters can show, and its first slice.

    `runs` are the blocks outside of the domain: the row from the top, the first column, and how many.
    """

    constraints: tuple[int, ...]
    runs: tuple[tuple[int, int, int], ...]


def blank(domain: Domain, names: Sequence[str], at: Mapping[str, Fraction]) -> Blank:
    """Returns what is blank over the first two of these parameters; `at` has values for the others.

    A constraint on a parameter that the map has no axis for cannot be shown. Where all blocks are outside, as
    under an equation, none is.
    """
    fixed = {name for name, side in domain.box.items() if side.is_point}
    seen = {*names, *fixed, GENERATOR}
    shown = tuple(k for k, c in enumerate(domain.constraints) if seen.issuperset(variables(c.polynomial)))
    simple = {name: side.simplest() for name, side in domain.box.items()}

    def outside(row: int, column: int) -> bool:
        shares = (Fraction(2 * column + 1, 2 * COLUMNS), 1 - Fraction(2 * row + 1, 2 * ROWS))
        here = {
            name: domain.box[name].lower + share * (domain.box[name].upper - domain.box[name].lower)
            for name, share in zip(names, shares, strict=False)
        }
        point = {**simple, **at, **here}
        conditions = ((domain.constraints[k].strict, domain.constraints[k].polynomial) for k in shown)
        return any(sign_at(domain, polynomial, point) < strict for strict, polynomial in conditions)

    rows = [[outside(row, column) for column in range(COLUMNS)] for row in range(ROWS)] if shown else []
    if all(all(row) for row in rows):
        return Blank((), ())
    return Blank(shown, tuple(run for number, row in enumerate(rows) for run in _runs(number, row)))


def _runs(number: int, row: Sequence[bool]) -> list[tuple[int, int, int]]:
    found: list[tuple[int, int, int]] = []
    for column, marked in enumerate(row):
        if marked and column and row[column - 1]:
            _, first, count = found.pop()
            found.append((number, first, count + 1))
        elif marked:
            found.append((number, column, 1))
    return found
