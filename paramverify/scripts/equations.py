"""Linear equations of a cube: each gives a variable in terms of the others, and is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.polynomials import (
    Polynomial,
    Ring,
    constant_value,
    is_constant,
    primitive,
    rational,
    value_at,
    variables,
)
from paramverify.errors import LimitError
from paramverify.scripts.cubes import CubeLiteral

MAX_TERMS = 2_000  # of a polynomial after a substitution


@dataclass(frozen=True, eq=False)
class SolvedEquations:
    """What is left of literals, and the variables that were replaced, each by a polynomial in later ones."""

    literals: tuple[CubeLiteral, ...]
    replaced: tuple[tuple[str, Polynomial], ...]

    def lifted(self, values: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Returns the values of all variables, given those of the ones that were not replaced."""
        found = dict(values)
        for name, polynomial in reversed(self.replaced):
            found[name] = value_at(polynomial, found)
        return found


def solved(literals: Sequence[CubeLiteral], ring: Ring) -> SolvedEquations | None:
    """Returns literals that have a solution iff these have; None where they contradict each other.

    Raises:
        LimitError: a polynomial becomes too large.
    """
    rest = list(literals)
    replaced: list[tuple[str, Polynomial]] = []
    while (found := _found(rest)) is not None:
        literal, name, value = found
        replaced.append((name, value))
        images = [value if n == name else ring.variable(n) for n in ring.names]
        left: list[CubeLiteral] = []
        for other in rest:
            if other is literal:
                continue
            f = other.polynomial
            if name in variables(f):
                f = f.compose(*images)
                if len(f) > MAX_TERMS:
                    raise LimitError("a polynomial has too many terms")
            if is_constant(f):
                if not _is_true(constant_value(f), other.relation):
                    return None
                continue
            left.append(CubeLiteral(primitive(f)[1], other.relation))
        rest = left
    return SolvedEquations(tuple({p.name: p for p in rest}.values()), tuple(replaced))


def _is_true(value: Fraction, relation: str) -> bool:
    return {">": value > 0, ">=": value >= 0, "=": value == 0}[relation]


def _found(literals: Sequence[CubeLiteral]) -> tuple[CubeLiteral, str, Polynomial] | None:
    """Returns an equation a·(x − u) = 0 with a number a and u without x, the shortest u; with x and u."""
    best: tuple[CubeLiteral, str, Polynomial] | None = None
    for literal in literals:
        if literal.relation != "=":
            continue
        for name in variables(literal.polynomial):
            slope = literal.polynomial.derivative(name)
            if is_constant(slope) and slope:
                context = literal.polynomial.context()
                x = context.gen([str(n) for n in context.names()].index(name))
                value = x - literal.polynomial / rational(constant_value(slope))
                if best is None or len(value) < len(best[2]):
                    best = literal, name, value
    return best
