"""The budget of an interactive system, as text and as JSON."""

from __future__ import annotations

from typing import Any

from paramverify.algebra.points import in_words
from paramverify.interactive.budgets import InteractiveBudget
from paramverify.interactive.cases import InteractiveCase
from paramverify.interactive.costs import Costs
from paramverify.models.systems.weights import Weight, is_number, text
from paramverify.reports.roots import root_document, root_text
from paramverify.reports.systems import brief, epsilon, row, shown
from paramverify.reports.text import notes, on_word, words

ASSUMED = "  Assumed of the environment: no input ever comes in a waiting state that does not accept it."


def all_lines(case: InteractiveCase, found: InteractiveBudget) -> list[str]:
    """Returns the budget in words, with what is assumed and the notes."""
    assumed = [ASSUMED] if case.system.partial else []
    return [*lines(case, found), *assumed, *(f"  {line}" for line in notes(case.checks.notes, ""))]


def lines(case: InteractiveCase, found: InteractiveBudget) -> list[str]:
    """Returns the budget in words."""
    at = in_words(found.parameters) or ", ".join(f"{n} = {root_text(r)}" for n, r in found.root.items())
    if found.boundless:
        return [
            f"no budget at all{f', with {at}' if at else ''}: the ratio has no limit.",
            *_growth(case, found),
            *_leak(case, found),
        ]
    at = f" with {at}" if found.somewhere else ""
    everywhere = case.domain.told()
    where = f" for all {everywhere}" if everywhere else ""
    word = on_word([decision for _, decision in (*found.claims, *found.obligations)])
    least = "unknown" if found.lower is None else brief(case, found.lower)
    if found.upper is None:
        head = f"the largest ratio is at least {least}{at or where}; no upper bound was proved"
    elif found.exact:
        value = epsilon(case, found.upper)
        about = "" if value is None else f", epsilon {value.told()}"
        head = f"tight budget{word}: ratio {brief(case, found.upper)}{where}{about}; reached{at}"
    else:
        most = brief(case, found.upper)
        low = f"{least}, reached{at}, and {most}" if found.somewhere else f"{least} and {most}"
        head = f"the largest ratio is between {low}{where}{word}: which it is stays open"
    return [head + ".", *_proof(case, found), *_leak(case, found)]


def _proof(case: InteractiveCase, found: InteractiveBudget) -> list[str]:
    if found.proof is None:
        return []
    if isinstance(found.proof, Costs):
        return ["  From above: steps paid with what they leak."]
    steps = f"{found.proof.steps} step{'s' * (found.proof.steps != 1)}"
    return [f"  From above: an unwinding family, {steps} of ratio {brief(case, found.proof.ratio)}."]


def _leak(case: InteractiveCase, found: InteractiveBudget) -> list[str]:
    if found.leak is None:
        return []
    names = case.system.actions.names
    left, right = (brief(case, p) for p in found.leak.probabilities)
    return [
        f"  inputs   {row(names, found.leak.left)}",
        f"  against  {row(names, found.leak.right)}",
        f"  observed {row(names, found.leak.event.trace)}{', then nothing' * found.leak.event.closed}",
        f"  with probabilities {left} and {right}{', which is 0 there' * bool(found.root)}.",
    ]


def _growth(case: InteractiveCase, found: InteractiveBudget) -> list[str]:
    if found.growth is None:
        return []
    names = case.system.actions.names
    left, right = (brief(case, f) for f in found.growth.factors)
    ratio = brief(case, found.growth.factors[0] / found.growth.factors[1])
    return [
        f"  after    {row(names, found.growth.left)}",
        f"  against  {row(names, found.growth.right)}",
        f"  repeat   {row(names, found.growth.loop)}",
        f"  Each time the probabilities are multiplied by {left} and {right}, so their ratio by {ratio}.",
    ]


def document(case: InteractiveCase, found: InteractiveBudget) -> dict[str, Any]:
    """Returns the budget as JSON data."""
    names = case.system.actions.names
    told: dict[str, Any] = _bounds(case, found)
    told |= {
        "environment": "accepted" if case.system.partial else "any",
        "states": len(case.system.states),
        "seconds": round(found.seconds, 6),
        "notes": list(case.checks.notes),
        "parameters": {
            **{name: str(value) for name, value in found.parameters.items()},
            **{name: root_document(root) for name, root in found.root.items()},
        },
    }
    if found.leak is not None:
        told["witness"] = {
            "inputs": [[names[a] for a in inputs] for inputs in (found.leak.left, found.leak.right)],
            "observations": [names[a] for a in found.leak.event.trace],
            "then_nothing": found.leak.event.closed,
            "probabilities": [text(p) if is_number(p) else shown(case, p) for p in found.leak.probabilities],
        }
    if found.growth is not None:
        told["growth"] = {
            "after": [[names[a] for a in steps] for steps in (found.growth.left, found.growth.right)],
            "repeat": [names[a] for a in found.growth.loop],
            "factors": [shown(case, f) for f in found.growth.factors],
        }
    if case.domain.constant:
        told["constant"] = f"E = exp({case.domain.constant.exponent})"
    return told | words([decision for _, decision in (*found.claims, *found.obligations)])


def _bounds(case: InteractiveCase, found: InteractiveBudget) -> dict[str, Any]:
    def told(weight: Weight | None) -> str:
        return "unknown" if weight is None else shown(case, weight)

    if found.boundless:
        return {"ratio": "infinity", "epsilon": "infinity", "attained": found.growth is None}
    upper = told(found.upper)
    if found.exact and found.upper is not None:
        value = epsilon(case, found.upper)
        shown_as = f"ln({upper})" if value is None else value.number()
        return {"ratio": upper, "epsilon": shown_as, "attained": True, "proved_upper": upper}
    bounds = {"ratio_lower": told(found.lower), "ratio_upper": upper}
    return {**bounds, "epsilon": "unknown", "attained": None, "proved_upper": upper}
