"""Path formulas with the number k of a family in the bounds of one operator, in one form.

R, W and G are negations of U and F: a R b = !(!a U !b).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from paramverify.logic.syntax import Constant, Formula, Index, Next, Not, Until, children


@dataclass(frozen=True)
class Shape:
    """X^steps (a U[...] b), or with `negated` the negation; `grows` if k stands in the upper bound alone."""

    steps: int
    until: Until
    negated: bool
    grows: bool


def shape_of(path: Formula, variable: str) -> Shape | None:
    """Reads a path formula with k in the bounds of one operator, whose parts do not mention k."""
    steps, negated = 0, False
    while isinstance(path, (Next, Not)):
        steps, negated = steps + isinstance(path, Next), negated is not isinstance(path, Not)
        path = path.inner
    if not isinstance(path, Until) or mentions(path.left, variable) or mentions(path.right, variable):
        return None
    if path.release:
        path = replace(path, left=_opposite(path.left), right=_opposite(path.right), release=False)
        negated = not negated
    grows = path.low.name is None
    if (path.high.name if path.high else None) != variable and (grows or path.high):
        return None
    return Shape(steps, path, negated, grows)


def _opposite(formula: Formula) -> Formula:
    if isinstance(formula, Constant):
        return Constant(not formula.value)
    return formula.inner if isinstance(formula, Not) else Not(formula)


def later(inner: Formula, shape: Shape) -> Formula:
    """Returns the path formula of a shape with another formula in the place of its U."""
    inner = Not(inner) if shape.negated else inner
    for _ in range(shape.steps):
        inner = Next(inner)
    return inner


def staying(shape: Shape, length: int) -> Until:
    """Returns that the left side of U holds for so many steps, which are one at least."""
    return Until(Constant(False), shape.until.left, Index(None, 0), Index(None, length - 1), True)


def mentions(formula: Formula, variable: str | None) -> bool:
    """Tells whether a number of steps in a formula depends on the variable of its family."""
    if isinstance(formula, Until) and variable in (formula.low.name, formula.high and formula.high.name):
        return True
    return any(mentions(part, variable) for part in children(formula))
