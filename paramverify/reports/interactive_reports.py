"""The verdict on an interactive system and its budget, in words and as JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from paramverify.algebra.budgets import Epsilon
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import in_words
from paramverify.algebra.polynomials import RationalFunction, fraction, in_generator, variables
from paramverify.algebra.rationals import rounded
from paramverify.algebra.reals import Real
from paramverify.interactive.probability_bounds import power
from paramverify.interactive.step_costs import Costs
from paramverify.interactive.system_cases import InteractiveCase
from paramverify.interactive.system_verification import InteractiveBudget, Noninterference
from paramverify.interactive.unwinding_families import Failure
from paramverify.models.systems.transition_systems import (
    Weight,
    as_function,
    is_number,
    is_zero,
    number_of,
    text,
)
from paramverify.reports.algebraic_numbers import root_document, root_text
from paramverify.reports.formulas import formula
from paramverify.reports.sentences import notes, on_word, words
from paramverify.verdicts import Holds, Unknown, Violated

LONG = 40  # inputs or outputs that are told in words
DIGITS = 40  # characters of a number that is told exactly


def row(names: Sequence[str], actions: Sequence[int]) -> str:
    """Returns inputs or an observation in words; a very long one is shortened in the middle."""
    words = [names[a] for a in actions]
    if len(words) > LONG:
        half = LONG // 2
        words = [*words[:half], f"... ({len(words) - 2 * half} more) ...", *words[-half:]]
    return ", ".join(words) or "nothing"


def brief(case: InteractiveCase, weight: Weight) -> str:
    """Returns a weight for readers: as `shown`, but a number with very many digits only about."""
    exact = shown(case, weight)
    if not is_number(weight) or len(exact) <= DIGITS:
        return exact
    value = fraction(weight if not isinstance(weight, RationalFunction) else number_of(weight))
    return rounded(Fraction(value.numerator, value.denominator))


def shown(case: InteractiveCase, weight: Weight) -> str:
    """Returns a number or a function; with the constant E a power of it, or else a decimal."""
    if is_number(weight):
        return text(weight)
    function = as_function(weight, case.domain.ring)
    constant = case.domain.constant
    used = {*variables(function.numerator), *variables(function.denominator)}
    if constant is None or used != {GENERATOR}:
        return formula(function, case.domain).factored
    top, bottom = in_generator(function.numerator), in_generator(function.denominator)
    exponent = int(top.degree()) - int(bottom.degree())
    if function == RationalFunction.of(case.domain.ring.variable(GENERATOR)) ** exponent:
        return f"exp({exponent * constant.exponent})"
    value = constant.ball(top, 128) / constant.ball(bottom, 128)
    return f"≈ {float(value.mid()):.6g}"


def epsilon(case: InteractiveCase, ratio: Weight) -> Epsilon | None:
    """Returns ln of a ratio; None for a function of parameters."""
    value = exact(case, ratio)
    return None if value is None else Epsilon.of(value)


def exact(case: InteractiveCase, weight: Weight) -> Real | None:
    """Returns a weight as an exact number; None for a function of parameters."""
    function = as_function(weight, case.domain.ring)
    used = {*variables(function.numerator), *variables(function.denominator)}
    if not used <= {GENERATOR}:
        return None
    top, bottom = in_generator(function.numerator), in_generator(function.denominator)
    constant = case.domain.constant
    negative = constant.sign(bottom) < 0 if constant else bottom[0] < 0
    return Real.of(-top if negative else top, -bottom if negative else bottom, constant)


CONDITION = "no input arrives in a waiting state that does not accept it"
ASSUMED = f"  Assumed of the environment: {CONDITION}."


def all_verdict_lines(case: InteractiveCase, report: Noninterference) -> list[str]:
    """Returns the verdict in words, with the notes."""
    return [*verdict_lines(case, report), *(f"  {line}" for line in notes(remarks(case, report), ""))]


def on_condition(case: InteractiveCase) -> str:
    """Returns that an answer has a side condition, as an addition to its first word."""
    return ", on a side condition" if case.system.partial else ""


def remarks(case: InteractiveCase, report: Noninterference) -> list[str]:
    """Returns the notes about the case and its verdict."""
    return [*case.checks.notes, *([report.unasked] if report.unasked else [])]


def verdict_lines(case: InteractiveCase, report: Noninterference) -> list[str]:
    """Returns the verdict in words, without the notes."""
    pairs = f"{report.pairs:,} pair{'s' * (report.pairs != 1)}"
    size = f"{len(case.system.states):,} states, {pairs}, {report.seconds:.2g} s"
    everywhere = case.domain.told()
    where = f" for all {everywhere}" if everywhere else ""
    assumed = [ASSUMED] if case.system.partial else []
    if isinstance(report.verdict, Violated):
        return [
            f"{report.status.of_case}: no differential noninterference with {case.budget} ({size}).",
            *_witness(case, report),
            *_failure(report),
            *assumed,
        ]
    if isinstance(report.verdict, Unknown):
        first = f"{report.status.of_case}: differential noninterference with {case.budget} ({size})."
        return [first, f"  {report.reason}", *_failure(report), *assumed]
    word = on_word([decision for _, decision in (*report.claims, *report.obligations)])
    lines = [
        f"{report.status.of_case}{word}{on_condition(case)}: differential noninterference with "
        f"{case.budget}{where} ({size})."
    ]
    family, costs = report.family, report.costs
    if family:
        steps = f"{family.steps} step{'s' * (family.steps != 1)}"
        total = shown(case, power(family.ratio, family.steps))
        whose = "Unwinding family of the case" if case.given else "Unwinding family"
        lines.append(f"  {whose}: {steps} of ratio {shown(case, family.ratio)}, together {total}.")
    else:
        lines += _failure(report) or ["  No unwinding family within the bound was found."]
    if costs and costs.ratio is not None:
        lines.append(f"  Each step charged what it leaks: ratio {shown(case, costs.ratio)}.")
    if case.subroutines:
        lines += [
            f"  Subroutine: the hidden step of {s.state!r} is replaced by an automaton with {s.states} "
            f"step{'s' * (s.states != 1)} that ends alike."
            for s in case.subroutines
        ]
    return lines + assumed


def several(case: InteractiveCase, report: Noninterference, points: int) -> dict[str, Any]:
    """Returns what a bound for one data point says about several ([T], Proposition 13)."""
    if not isinstance(report.verdict, Holds):
        reason = "Nothing follows for several data points: the bound is not proved for one."
        return {"count": points, "ratio": None, "statement": reason}
    ratio = shown(case, power(report.bound, points))
    between = ", and let the environment give every sequence in between" if case.system.partial else ""
    statement = (
        f"Up to {points} data points (Proposition 13): let at most {points} insertions of data points make"
        f" the inputs w and w' equal{between}. Then Pr(S | w) <= {ratio} * Pr(S | w') for every set S of"
        " observable traces."
    )
    return {"count": points, "ratio": ratio, "statement": statement}


def _failure(report: Noninterference) -> list[str]:
    """Returns where the family of the case fails, in words."""
    return [f"  The unwinding family of the case fails: {report.failure.reason}."] if report.failure else []


def _witness(case: InteractiveCase, report: Noninterference) -> list[str]:
    found = report.refutation
    assert found is not None
    names = case.system.actions.names
    at = in_words(report.parameters)
    left, right = found.probabilities
    ratio = "the ratio is infinite" if is_zero(right) else f"ratio {brief(case, left / right)}"
    nothing = ", then nothing" if found.event.closed else ""
    return [
        *([f"  With {at}:"] if at else []),
        f"  inputs   {row(names, found.left)}",
        f"  against  {row(names, found.right)}",
        f"  observed {row(names, found.event.trace)}{nothing}",
        f"  with probabilities {brief(case, left)} and {brief(case, right)}: {ratio},"
        f" which exceeds the bound {brief(case, report.bound)}.",
    ]


def verdict_document(case: InteractiveCase, report: Noninterference) -> dict[str, Any]:
    """Returns the verdict as JSON data."""
    family, costs = report.family, report.costs
    constant = case.domain.constant
    told: dict[str, Any] = {
        "status": report.status,
        "verdict": report.status.of_case,
        "environment": "accepted" if case.system.partial else "any",
        **({"side_condition": CONDITION} if case.system.partial else {}),
        "states": len(case.system.states),
        "pairs": report.pairs,
        "claims": len(report.claims) + len(report.obligations),
        "seconds": round(report.seconds, 6),
        "notes": remarks(case, report),
        "evidence": {
            "family": family
            and {
                "ratio": shown(case, family.ratio),
                "steps": family.steps,
                "total": shown(case, power(family.ratio, family.steps)),
            },
            "costs": None if costs is None or costs.ratio is None else {"total": shown(case, costs.ratio)},
        },
    }
    if case.given:
        failure = report.failure
        told["evidence"]["given"] = {
            "accepted": failure is None,
            **({} if failure is None else _failed(case, failure)),
        }
    if case.subroutines:
        told["subroutines"] = [{"state": s.state, "states": s.states} for s in case.subroutines]
    told["evidence"] |= words([decision for _, decision in (*report.claims, *report.obligations)])
    if constant:
        told["constant"] = f"E = exp({constant.exponent})"
    names = case.system.actions.names
    found = report.refutation
    if found is not None:
        left, right = found.probabilities
        told["witness"] = {
            "parameters": {name: str(value) for name, value in report.parameters.items()},
            "inputs": [[names[a] for a in found.left], [names[a] for a in found.right]],
            "observations": [names[a] for a in found.event.trace],
            "then_nothing": found.event.closed,
            "probabilities": [text(left), text(right)],
            "ratio": None if is_zero(right) else text(left / right),
        }
    elif isinstance(report.verdict, Unknown):
        told["reason"] = report.reason
    return told


def _failed(case: InteractiveCase, failure: Failure) -> dict[str, Any]:
    names, actions = case.system.states, case.system.actions.names
    return {
        "reason": failure.reason,
        "level": failure.level,
        "pair": [names[s] for s in failure.pair] if failure.pair else None,
        "action": None if failure.action is None else actions[failure.action],
    }


def all_budget_lines(case: InteractiveCase, found: InteractiveBudget) -> list[str]:
    """Returns the budget in words, with what is assumed and the notes."""
    assumed = [ASSUMED] if case.system.partial else []
    return [*budget_lines(case, found), *assumed, *(f"  {line}" for line in notes(case.checks.notes, ""))]


def budget_lines(case: InteractiveCase, found: InteractiveBudget) -> list[str]:
    """Returns the budget in words."""
    at = in_words(found.parameters) or ", ".join(f"{n} = {root_text(r)}" for n, r in found.root.items())
    if found.boundless:
        return [
            f"no budget{f', with {at}' if at else ''}: the ratio has no limit.",
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
        rests = word + on_condition(case)
        head = f"tight budget{rests}: ratio {brief(case, found.upper)}{where}{about}; reached{at}"
    else:
        most = brief(case, found.upper)
        low = f"{least}, reached{at}, and {most}" if found.somewhere else f"{least} and {most}"
        head = f"the largest ratio is between {low}{where}{word}{on_condition(case)}, and undecided"
    return [head + ".", *_proof(case, found), *_leak(case, found)]


def _proof(case: InteractiveCase, found: InteractiveBudget) -> list[str]:
    if found.proof is None:
        return []
    if isinstance(found.proof, Costs):
        return ["  Upper bound: each step charged what it leaks."]
    steps = f"{found.proof.steps} step{'s' * (found.proof.steps != 1)}"
    return [f"  Upper bound: an unwinding family, {steps} of ratio {brief(case, found.proof.ratio)}."]


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


def budget_document(case: InteractiveCase, found: InteractiveBudget) -> dict[str, Any]:
    """Returns the budget as JSON data."""
    names = case.system.actions.names
    told: dict[str, Any] = _bounds(case, found)
    told |= {
        "environment": "accepted" if case.system.partial else "any",
        **({"side_condition": CONDITION} if case.system.partial else {}),
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
