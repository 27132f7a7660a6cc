"""`paramverify budget CASE`: the tight budget, exact where it can be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import click

from paramverify.algebra.decimals import decimal_text
from paramverify.algebra.expressions import constant
from paramverify.algebra.polynomials import variables
from paramverify.algebra.realroots import RealRoot
from paramverify.cases import load
from paramverify.cli import _output
from paramverify.cli._common import (
    case_argument,
    json_option,
    print_json,
    say,
    session_option,
    session_options,
    time_limit,
    timeout_option,
)
from paramverify.cli._exits import Exit
from paramverify.errors import InputError, LimitError, located
from paramverify.evidence.witnesses import evaluate
from paramverify.models.evaluation import Real, show_polynomial
from paramverify.models.kinds import need_privacy
from paramverify.models.model import Model
from paramverify.portfolio.session import Session
from paramverify.reports import documents, text
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.every_length import tight_budget_of_every_length
from paramverify.synthesis.suprema import TightBudget
from paramverify.verification import check_model

INSTEAD = "for the largest value of a function f, `verify` claims `f <= c` with other numbers c"


@click.command("budget")
@case_argument
@click.option(
    "--precision",
    default="1e-9",
    show_default=True,
    help="Relative distance of the bounds where the ratio is not found exactly.",
)
@json_option
@timeout_option
@session_option
def command(
    case: str,
    precision: str,
    as_json: bool,
    timeout: float,
    backends: str | None,
    strategy: str | None,
    confirm: int,
) -> int:
    """Find the tight budget: the largest ratio over all priors, secrets and outputs.

    If the case's own bound has parameters, the ratio relative to that bound is found as well: it is 1 if
    the bound is tight. Exit code 0 if the ratio is exact or within the precision, 3 if not.
    """
    width = _precision(precision)
    options = replace(session_options(timeout, backends, strategy, confirm), on_bound=best_bound())
    with time_limit(timeout), Session(options) as session:
        loaded = load(case)
        model = need_privacy(loaded.model, "budget", INSTEAD)
        doubt, _ = check_model(session, model)
        if doubt:
            raise LimitError(f"the model is in doubt: {doubt.detail}")
        search = tight_budget if model.lengths else tight_budget_of_every_length
        found = search(model, session, width)
        used = {*variables(model.ratio.numerator), *variables(model.ratio.denominator)}
        parametric = not used.isdisjoint(model.domain.ring.parameters)
        related = search(model, session, width, relative=True) if parametric else None
    results = [found, *([related] if related else [])]
    done = all(r.infinite or (r.upper is not None and r.upper - r.lower <= width * r.lower) for r in results)
    if as_json:
        document = _document(model, found)
        if related:
            document["relative_to"] = loaded.budget
            document["relative"] = ratio_document(related) | {"attained": related.attained}
        print_json(document | {"notes": list(model.notes)})
    else:
        for line in _lines(model, found):
            say(line)
        if related:
            click.echo(f"relative to the case's {loaded.budget}: {_relative(related)}")
        for note in model.notes:
            say(f"Note: {note}.")
    return Exit.HOLDS if done else Exit.UNKNOWN


def best_bound() -> Callable[[TightBudget], None]:
    """Returns what keeps the largest lower bound on the ratio, in case that a limit ends the run."""
    best: list[TightBudget] = []

    def keep(found: TightBudget) -> None:
        if best and not found.infinite and found.lower <= best[0].lower:
            return
        best[:] = [found]
        outcome = text.sequence(found.origin.observations)
        sides = f"under {found.origin.left!r} against {found.origin.right!r}"
        least = "without limit" if found.infinite else f"at least {float(found.lower):.12g}"
        document: dict[str, Any] = {} if found.infinite else {"ratio_lower": str(found.lower)}
        document |= {"secrets": [found.origin.left, found.origin.right]}
        _output.found(
            [f"  the ratio is {least}: {outcome} {sides}"],
            document | {"observations": list(found.origin.observations)},
        )

    return keep


def _precision(given: str) -> Fraction:
    with located(key="--precision"):
        value = constant(given)
        if not 0 < value < 1:
            raise InputError("a number between 0 and 1 is needed")
        return value


def ratio_document(found: TightBudget) -> dict[str, Any]:
    """Returns the ratio, or bounds on it, as JSON data."""
    if found.infinite:
        return {"ratio": "infinity"}
    value = found.value
    if isinstance(value, Real):
        return {"ratio": documents.real(value)}
    if isinstance(value, RealRoot):
        if value.is_rational:
            return {"ratio": str(value.lower)}
        return {
            "ratio": {
                "minimal_polynomial": _polynomial(value),
                "lower": str(value.lower),
                "upper": str(value.upper),
            }
        }
    bounds = {"ratio_lower": str(found.lower)}
    return bounds | {"ratio_upper": str(found.upper) if found.upper is not None else "unknown"}


def _polynomial(root: RealRoot) -> str:
    return show_polynomial(root.factor, "x")


def _epsilon(found: TightBudget) -> float | str:
    value = found.epsilon
    return value if value != float("inf") else "infinity" if found.infinite else "unknown"


def _document(model: Model, found: TightBudget) -> dict[str, Any]:
    witness: dict[str, Any] = {
        "parameters": {name: _coordinate(root) for name, root in found.place.items()},
        "secrets": [found.origin.left, found.origin.right],
        "observations": list(found.origin.observations),
    }
    point = _rational_point(found)
    if found.attained and point is not None:
        witness = documents.witness(evaluate(model, found.origin, point))
    return ratio_document(found) | {
        "epsilon": _epsilon(found),
        "attained": found.attained,
        "witness": witness,
    }


def _coordinate(root: RealRoot) -> str | dict[str, str]:
    if root.is_rational:
        return str(root.lower)
    small = root.refined(Fraction(1, 10**12))
    return {"root_of": _polynomial(root), "lower": str(small.lower), "upper": str(small.upper)}


def _rational_point(found: TightBudget) -> dict[str, Fraction] | None:
    if any(not root.is_rational for root in found.place.values()):
        return None
    return {name: root.lower for name, root in found.place.items()}


def _lines(model: Model, found: TightBudget) -> list[str]:
    place = ", ".join(
        f"{name} = {root.lower}" if root.is_rational else f"{name} ≈ {_middle(root):.6g}"
        for name, root in found.place.items()
    )
    reached = {True: "reached", False: "approached, not reached,", None: "approached or reached"}[
        found.attained
    ]
    where = f" at {place}" if place and model.domain.ring.parameters else ""
    outcome = text.sequence(found.origin.observations)
    if found.infinite and not model.lengths:
        head = f"no budget: the ratio grows without limit with longer sequences, such as {outcome}"
    elif found.infinite:
        head = f"no budget: {outcome} can be infinitely more likely"
    elif found.value is not None:
        head = f"tight budget: ratio {exact_text(found)}, epsilon ≈ {found.epsilon:.9g}; {outcome}"
    elif found.upper is not None:
        low, high = decimal_text(found.lower, 12), decimal_text(found.upper, 12)
        head = f"tight budget: ratio between {low} and {high}, epsilon ≈ {found.epsilon:.9g}; {outcome}"
    else:
        head = f"the ratio is at least {decimal_text(found.lower, 12)} (no upper bound was proved); {outcome}"
    return [
        head,
        f"  under {found.origin.left!r} against {found.origin.right!r}; {reached}{where}".rstrip(","),
    ]


def exact_text(found: TightBudget) -> str:
    """Returns an exact ratio as text."""
    value = found.value
    if isinstance(value, Real):
        return text.number(value)
    assert isinstance(value, RealRoot)
    if value.is_rational:
        exact = str(value.lower)
        return exact if exact.isdigit() else f"{exact} ({decimal_text(value.lower)})"
    return f"{_middle(value):.12g} (a root of {_polynomial(value)})"


def _middle(root: RealRoot) -> float:
    small = root.refined(Fraction(1, 10**15))
    return float((small.lower + small.upper) / 2)


def _relative(found: TightBudget) -> str:
    if found.infinite:
        return "the ratio exceeds the bound without limit"
    if isinstance(found.value, RealRoot) and found.value.lower == found.value.upper == 1:
        return "the bound is tight" + (", it is reached" if found.attained else ", it is not reached")
    return f"the largest ratio is {decimal_text(found.lower, 12)} times the bound"
