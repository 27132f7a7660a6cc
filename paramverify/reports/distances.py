"""A tight budget where the bound depends on distances, in words and as JSON data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from paramverify.algebra.reals import Real
from paramverify.reports import documents, text
from paramverify.reports.budgets import BudgetStatement, exact_text, growing, outputs_document, ratio_document
from paramverify.synthesis.distance_budget import DistanceBudget, root

SHOWN = 12  # distances that are listed in words


def lines(found: DistanceBudget, statement: BudgetStatement) -> list[str]:
    """Returns the budget in words; the statement is that of the distance that decides it."""
    outcome = text.sequence(statement.origin.observations)
    far = found.largest.distance
    if found.infinite:
        head, *_ = statement.lines()
        head = head if far else f"no budget: inputs at the distance 0 are told apart by {outcome}"
    elif found.is_exact:
        epsilon = found.epsilon.told()
        head = f"tight budget: ratio {_power(found)}, epsilon {epsilon} * distance; {outcome}"
    else:
        epsilon = found.epsilon.told()
        unproved = "" if found.epsilon.high is not None else " (no upper bound was proved)"
        head = f"the least epsilon is {epsilon}{unproved}, times distance; {outcome}"
    where = f"  under {statement.origin.left!r} against {statement.origin.right!r}, at the distance {far}"
    told = [f"distance {p.distance}: ratio {exact_text(p.found)}" for p in found.parts[:SHOWN]]
    more = [f"  and {len(found.parts) - SHOWN} more"] if len(found.parts) > SHOWN else []
    return [head, f"{where}; {statement.reached()}", *(f"  {line}" for line in told), *more]


def _power(found: DistanceBudget) -> str:
    """Returns the ratio as a power of the distance: `2**distance`, or `3**(distance/2)`."""
    far, largest = found.largest.distance, found.largest.found
    rational = largest.lower if largest.lower == largest.upper else None
    base = per_unit(rational, far)
    if base is not None:
        plain = str(base)
        return f"{plain if plain.isdigit() else f'({plain})'}**distance"
    if isinstance(largest.value, Real):
        ratio = largest.value.describe()
    else:
        ratio = str(rational) if rational is not None else exact_text(largest)
    plain = ratio if ratio.isdigit() else f"({ratio})"
    return f"{plain}**distance" if far == 1 else f"{plain}**(distance/{_divisor(far)})"


def _divisor(far: Fraction) -> str:
    return str(far) if far.denominator == 1 else f"({far})"


def per_unit(ratio: Fraction | None, distance: Fraction) -> Fraction | None:
    """Returns the ratio for one unit of distance where it is rational."""
    if ratio is None or not distance:
        return None
    return root(ratio**distance.denominator, distance.numerator)


def document(found: DistanceBudget) -> dict[str, Any]:
    """Returns the budget as JSON data: what decides it, and the largest ratio at each distance."""
    largest = found.largest
    exact = largest.found.lower if largest.found.lower == largest.found.upper else None
    unit = per_unit(exact, largest.distance) if found.is_exact and not found.infinite else None
    listed = []
    for part in found.parts:
        near = growing(part.found)
        entry = {
            "distance": str(part.distance),
            **ratio_document(part.found),
            "attained": part.found.attained,
            **outputs_document(part.found.outputs),
        }
        listed.append(entry | ({"witness": documents.witness(near[-1])} if near else {}))
    return {
        "distance": str(largest.distance),
        "ratio_per_distance": str(unit) if unit is not None else None,
        "epsilon_per_distance": found.epsilon.number() if found.is_exact and not found.infinite else None,
        "epsilon_per_distance_bounds": ["infinity"] * 2 if found.infinite else found.epsilon.bounds(),
        "distances": listed,
    }
