"""`paramverify budget CASE` where the case is an interactive system."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from paramverify.algebra.points import in_words
from paramverify.cli import _output
from paramverify.cli._common import print_json, say, time_limit, write_json
from paramverify.cli._exits import Exit
from paramverify.cli._settings import settings
from paramverify.interactive.budgets import InteractiveBudget, tight_budget
from paramverify.interactive.cases import InteractiveCase, load
from paramverify.interactive.certificates import budget_document
from paramverify.interactive.costs import Costs
from paramverify.models.systems.weights import Weight, is_number, text
from paramverify.portfolio.session import Options
from paramverify.reports.roots import root_document, root_text
from paramverify.reports.systems import brief, epsilon, row, shown
from paramverify.reports.text import notes, on_word, words

SHARE = 0.8  # of the time that is left; building what is told takes some too

ASSUMED = "  Assumed of the environment: no input ever comes in a waiting state that does not accept it."


def interactive_budget(
    path: str, options: Options, width: Fraction, as_json: bool, evidence: Path | None
) -> int:
    """Finds and tells the budget of an interactive system; the exit codes are those of `budget`."""
    end = time.monotonic() + options.seconds
    limit = options.limit or options.seconds  # that of the user, and not what is left of it
    with time_limit(limit, options.seconds) as lift:
        case = load(path, _explored, bounded=False, settings=settings())
        share = replace(options, seconds=SHARE * max(end - time.monotonic(), 0.0), limit=limit)
        found = tight_budget(case, share, lambda best: _so_far(case, best))
        if evidence:
            lift()
            write_json(evidence, budget_document(case, found, options))
    if as_json:
        print_json(_document(case, found))
    else:
        assumed = [ASSUMED] if case.system.partial else []
        for line in (*_lines(case, found), *assumed, *(f"  {line}" for line in notes(case.checks.notes, ""))):
            say(line)
    return Exit.HOLDS if found.boundless or found.exact or _near(found, width) else Exit.UNKNOWN


def _explored(done: int, total: int) -> None:
    document = {"stage": "states", "done": done, "total": total}
    _output.found([f"  {done:,} states were explored, and {total:,} were known."], document)


def _so_far(case: InteractiveCase, best: InteractiveBudget) -> None:
    """Keeps the bounds, in case that a limit ends the run."""
    bounds = {"ratio_lower": "unknown", "ratio_upper": "unknown"}
    bounds |= {"ratio_lower": shown(case, best.lower)} if best.lower is not None else {}
    bounds |= {"ratio_upper": shown(case, best.upper)} if best.upper is not None else {}
    words = f"  the largest ratio is at least {bounds['ratio_lower']}"
    most = f", and at most {bounds['ratio_upper']}" if best.upper is not None else ""
    _output.found([f"{words}{most}."], bounds)


def _near(found: InteractiveBudget, width: Fraction) -> bool:
    """Tells whether the bounds are numbers within the precision."""
    bounds = [found.lower, found.upper]
    if not all(b is not None and is_number(b) for b in bounds):
        return False
    low, high = (Fraction(text(b)) for b in bounds)
    return high - low <= width * low


def _lines(case: InteractiveCase, found: InteractiveBudget) -> list[str]:
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
        about = "" if value is None else f", epsilon ≈ {value:.9g}"
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


def _document(case: InteractiveCase, found: InteractiveBudget) -> dict[str, Any]:
    names = case.system.actions.names
    document: dict[str, Any] = _bounds(case, found)
    document |= {
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
        document["witness"] = {
            "inputs": [[names[a] for a in inputs] for inputs in (found.leak.left, found.leak.right)],
            "observations": [names[a] for a in found.leak.event.trace],
            "then_nothing": found.leak.event.closed,
            "probabilities": [text(p) if is_number(p) else shown(case, p) for p in found.leak.probabilities],
        }
    if found.growth is not None:
        document["growth"] = {
            "after": [[names[a] for a in steps] for steps in (found.growth.left, found.growth.right)],
            "repeat": [names[a] for a in found.growth.loop],
            "factors": [shown(case, f) for f in found.growth.factors],
        }
    if case.domain.constant:
        document["constant"] = f"E = exp({case.domain.constant.exponent})"
    return document | words([decision for _, decision in (*found.claims, *found.obligations)])


def _bounds(case: InteractiveCase, found: InteractiveBudget) -> dict[str, Any]:
    def told(weight: Weight | None) -> str:
        return "unknown" if weight is None else shown(case, weight)

    if found.boundless:
        return {"ratio": "infinity", "epsilon": "infinity", "attained": found.growth is None}
    upper = told(found.upper)
    if found.exact and found.upper is not None:
        value = epsilon(case, found.upper)
        shown_as = f"ln({upper})" if value is None else value
        return {"ratio": upper, "epsilon": shown_as, "attained": True, "proved_upper": upper}
    bounds = {"ratio_lower": told(found.lower), "ratio_upper": upper}
    return {**bounds, "epsilon": "unknown", "attained": None, "proved_upper": upper}
