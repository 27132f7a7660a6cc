"""Results of the logic and answers to questions about probabilities, as sentences and as JSON documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paramverify.algebra.budgets import Epsilon
from paramverify.algebra.domains import Domain
from paramverify.algebra.domains import in_words as point_in_words
from paramverify.algebra.polynomials import constant_value, is_constant, rational
from paramverify.algebra.rationals import at_least, at_most
from paramverify.algebra.reals import Real
from paramverify.answers import Decision, Standing
from paramverify.claims import Claim, Origin
from paramverify.errors import DefectError
from paramverify.evidence import number_words
from paramverify.logic.formula_budgets import Corner, Least
from paramverify.logic.formula_syntax import Extreme, Private, ProbabilityQuestion, Property, parts
from paramverify.logic.logic_cases import LogicCase
from paramverify.logic.probability_comparisons import Method, in_words
from paramverify.logic.property_checking import FormulaResult, QuestionAnswer, StateWitness
from paramverify.logic.semantics import conjuncts, in_ring, real
from paramverify.models.chains.markov_chains import Value
from paramverify.reports import json_documents, sentences
from paramverify.verdicts import Holds, Unknown, status_of


def formula_lines(
    name: str, found: Property, result: FormulaResult, domain: Domain, obligations: Sequence[Decision] = ()
) -> list[str]:
    """Returns the sentences that tell the result for one property; `obligations` are about the model."""
    where = domain.told()
    holds = isinstance(result.verdict, Holds)
    every = f" for every {where}" if where and holds else ""
    proofs = [*(decision for _, decision in result.claims), *obligations]
    word = sentences.on_word(proofs) if holds else ""
    told = [f"{result.status.of_claim}{word}: {name}: {found.text}{every}"]
    if result.counterexample:
        told += [f"  {line}" for line in counterexample_lines(result.counterexample, found)]
    if result.reason:
        named = found.variable is not None and result.reason.startswith(f"{found.variable} = ")
        told.append(f"  {result.reason if named else result.reason[0].upper() + result.reason[1:]}.")
    if holds and result.methods:
        shown = f"{result.comparisons} comparisons" if result.comparisons != 1 else "1 comparison"
        told.append(f"  {shown}; {'; '.join(m.value for m in result.methods)}.")
    return told


def counterexample_lines(example: StateWitness, found: Property, inner: bool = False) -> list[str]:
    """Returns the sentences that tell a violation; of an `inner` formula the point was told before."""
    at = "" if inner else point_in_words(example.parameters)
    if example.index is not None:
        at = ", ".join(part for part in (f"{found.variable} = {example.index}", at) if part)
    start = f"With {at}: " if at else ""
    if example.probabilities is None:
        shown = (
            found.text if found.variable is None and len(conjuncts(found.formula)) == 1 else example.formula
        )
        because = counterexample_lines(example.because, found, inner=True) if example.because else []
        return [f"{start}{shown} is false in state {example.state}.", *because]
    left, right = example.probabilities
    if example.neighbour is None:
        the, over = (f"the {example.extreme}", " over all schedulers") if example.extreme else ("the", "")
        return [
            f"{start}{example.formula} is false in state {example.state}: {the} probability{over} is "
            f"{number_words.number(left)}."
        ]
    assert example.ratio is not None
    assert example.delta is not None
    schedule = in_words(example.actions, example.repeated)
    under = f" under {schedule}" if schedule else ""
    ratio, delta = number_words.number(example.ratio), number_words.number(example.delta)
    bound = f"{ratio}·{number_words.number(right)} + {delta}"
    states = f"{example.state} with the neighbour {example.neighbour}{under}:"
    if example.turned:
        states = f"{example.neighbour} with the neighbour {example.state}{under}, seen from there:"
    return [
        f"{start}{example.formula} is false in state {states}",
        f"{number_words.number(left)} is more than {bound}.",
    ]


def entry(name: str, found: Property, result: FormulaResult) -> dict[str, Any]:
    """Returns the result for one property as JSON data, with its name."""
    return {"property": name, **_property(found, result)}


def formula_document(
    case: LogicCase,
    results: Mapping[str, FormulaResult],
    status: Standing,
    seconds: float,
    obligations: Sequence[Decision] = (),
) -> dict[str, Any]:
    """Returns all results as JSON data, in the shape of `verify --json`."""
    decisions = [d for r in results.values() for _, d in r.claims]
    claims = [
        {"property": name, "secrets": [_first(c)[0], _first(c)[1]], "observations": _first(c)[2]}
        | json_documents.decision(d)
        for name, r in results.items()
        for c, d in r.claims
    ]
    found: dict[str, Any] = {
        "status": status,
        "verdict": status.of_claim,
        "properties": {n: _property(case.properties[n], r) for n, r in results.items()},
        "claims": claims,
        "seconds": round(seconds, 6),
        "evidence": {"decided_by": sentences.backends_used(decisions)}
        | sentences.words([*decisions, *obligations]),
        "notes": notes(case),
    }
    first = next((r.counterexample for r in results.values() if r.counterexample), None)
    if first:
        found["witness"] = witness(first)
    return found


def notes(case: LogicCase) -> list[str]:
    """Returns what is to be known of the neighbours, where a formula is about them."""
    asked = (part for found in case.properties.values() for part in parts(found.formula))
    return list(case.relation.notes) if any(isinstance(part, Private) for part in asked) else []


def _first(claim: Claim) -> tuple[str, str, list[str]]:
    origin = claim.origins[0]
    if not isinstance(origin, Origin):
        raise DefectError("a claim of the logic is about two states")
    return origin.left, origin.right, list(origin.observations)


def _property(found: Property, result: FormulaResult) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "formula": found.text,
        "status": result.status,
        "verdict": result.status.of_claim,
        "comparisons": result.comparisons,
        "methods": [m.value for m in result.methods],
        "exact": Method.EXTREMES not in result.methods,
    }
    if result.reason:
        entry["reason"] = result.reason
    if isinstance(result.verdict, Unknown):
        entry["end"] = result.verdict.end.value
    if result.counterexample:
        entry["witness"] = witness(result.counterexample)
    return entry


def witness(example: StateWitness) -> dict[str, Any]:
    """Returns a violation as JSON data: parameters, states, formula, both probabilities, ratio and delta."""
    found: dict[str, Any] = {
        "parameters": {name: str(value) for name, value in example.parameters.items()},
        "formula": example.formula,
        "secrets": [example.state, *([example.neighbour] if example.neighbour else [])],
    }
    if example.because is not None:
        found["because"] = witness(example.because)
    if example.index is not None:
        found["index"] = example.index
    if example.actions:
        found["actions"] = list(example.actions)
        if example.repeated:
            found["repeated"] = example.repeated
    if example.extreme:
        found["schedulers"] = f"{example.extreme} probability over all schedulers"
    if example.probabilities is not None:
        left, right = example.probabilities
        found["probabilities"] = [number_words.real(left), number_words.real(right)]
        if example.neighbour is not None:
            found["ratio"] = number_words.real(left / right if right.sign() > 0 else None)
            found["bound"] = number_words.real(example.ratio)
            found["delta"] = number_words.real(example.delta)
    return found


def least(found: Least) -> dict[str, Any]:
    """Returns a least budget as JSON data."""
    entry: dict[str, Any] = {"exact": found.exact, "by_sufficient_condition": found.sufficient}
    if found.infinite:
        entry["value"] = "infinity"
    elif found.value is not None and found.sufficient:
        entry |= {"lower": str(found.lower), "upper": number_words.real(found.value)}
    elif found.value is not None:
        entry["value"] = number_words.real(found.value)
    else:
        upper = str(found.upper) if found.upper is not None else "unknown"
        entry |= {"lower": str(found.lower), "upper": upper}
    entry["secrets"] = [found.origin.left, found.origin.right]
    entry["observations"] = list(found.origin.observations)
    if found.searched:
        entry["searched"] = found.searched
    return entry


def epsilon(found: Least) -> float | str:
    """Returns ε, rounded, for a least ratio, or for its upper bound; `unknown` where there is none."""
    if found.infinite:
        return "infinity"
    if found.value is not None:
        return Epsilon.of(found.value).number()
    return Epsilon.between(found.lower, found.upper).number()


def least_line(name: str, found: Property, least: Least, given: str, what: str) -> str:
    """Returns one sentence about a least budget."""
    if least.infinite:
        told = f"no {what} is enough"
    elif least.value is not None:
        told = f"least {what} {number_words.number(least.value)}"
        if what == "ratio":
            told += f", epsilon {Epsilon.of(least.value).told()}"
    elif least.upper is not None:
        told = f"least {what} between {at_least(least.lower, 9)} and {at_most(least.upper, 9)}"
    else:
        told = f"least {what} is at least {at_least(least.lower, 9)}; no upper bound was proved"
    how = " (by the sufficient condition; less may be enough)" if least.sufficient else ""
    if least.sufficient and least.upper is None:
        told, how = f"no upper bound of the least {what} is known by the sufficient condition", ""
    far = f", looked at {least.searched}" if least.searched else ""
    origin = least.origin
    return (
        f"{name}: with {given}: {told}{how}{far}; "
        f"{origin.left} against {origin.right}, {', '.join(origin.observations)}"
    )


def curve_heading(name: str, corners: Sequence[Corner], linear: bool) -> str:
    """Returns the sentence before the points of a curve; `linear` tells that these are its corners."""
    sufficient = any(corner.sufficient for corner in corners)
    if linear and sufficient:
        between = "is at most these numbers, and lines in the ratio e^epsilon between them"
    elif linear:
        between = "is linear in the ratio e^epsilon between these corners"
    else:
        between = "is convex in the ratio e^epsilon; some points"
    how = " (by the sufficient condition; less may be enough)" if sufficient else ""
    far = f", looked at {corners[-1].searched}" if corners[-1].searched else ""
    return f"{name}: delta {between}{how}{far}"


def corner_lines(corners: Sequence[Corner], linear: bool) -> list[str]:
    """Returns a line for each point of a curve."""
    told: list[str] = []
    for corner in corners:
        relation = "<=" if corner.sufficient else "="
        at = f"(ratio {corner.ratio}): delta {relation}" if linear else "delta <="
        delta = corner.delta if linear else at_most(corner.delta, 6)
        told.append(f"  epsilon {Epsilon.of(corner.ratio).told(6)} {at} {delta}")
    return told


def status(results: Mapping[str, FormulaResult]) -> Standing:
    """Returns the word for all formulas: the first of violated, unknown and holds that one of them has."""
    found = {result.status for result in results.values()}
    return next(s for s in (Standing.VIOLATED, Standing.UNKNOWN, Standing.HOLDS) if s in found)


def all_lines(
    case: LogicCase,
    results: Mapping[str, FormulaResult],
    obligations: Sequence[Decision],
    answers: Mapping[str, Sequence[str]],
) -> list[str]:
    """Returns the results of all formulas in words, with those of questions and the notes."""
    told: list[str] = []
    for name in case.order:
        if name in answers:
            told += answers[name]
        else:
            told += formula_lines(name, case.properties[name], results[name], case.chain.domain, obligations)
    return [*told, *(f"  Note: {note}." for note in notes(case))]


SHOWN = 20  # initial states of which the answer is told in words


def question_lines(
    name: str, question: ProbabilityQuestion, found: QuestionAnswer, domain: Domain
) -> list[str]:
    """Returns the sentences that tell the answer to a question."""
    if found.unknown is not None:
        reason = found.unknown.detail
        return [f"{status_of(found.unknown).of_claim}: {name}: {question.text}", f"  {_capital(reason)}."]
    where = domain.told()
    every = f" for every {where}" if where else ""
    several = len(found.values) > 1
    told = []
    for state, values in found.values[:SHOWN]:
        at = f" in state {state}" if several else ""
        told.append(f"{name}: {question.text}{at}: {_told(question, values, domain)}{every}")
    if len(found.values) > SHOWN:
        told.append(f"  {len(found.values) - SHOWN:,} more initial states: `--json` has all of them.")
    return [*told, f"  {_capital('; '.join(m.value for m in found.methods))}."]


def question_document(question: ProbabilityQuestion, found: QuestionAnswer, domain: Domain) -> dict[str, Any]:
    """Returns the answer to a question as JSON data."""
    entry: dict[str, Any] = {"formula": question.text}
    if found.unknown is not None:
        return entry | {"reason": found.unknown.detail, "end": found.unknown.end.value}
    entry["values"] = [
        {"state": state, **_document(question, values, domain)} for state, values in found.values
    ]
    return entry | {"methods": [m.value for m in found.methods]}


def _told(question: ProbabilityQuestion, values: tuple[Value, ...], domain: Domain) -> str:
    shown = [_number(value, domain) for value in values]
    if len(shown) == 1:
        return shown[0]
    return f"at each point the {_which(question)} of {', '.join(shown)}"


def _number(value: Value, domain: Domain) -> str:
    found = _real(value, domain)
    return str(value).replace("^", "**") if found is None else number_words.number(found)


def _document(question: ProbabilityQuestion, values: tuple[Value, ...], domain: Domain) -> dict[str, Any]:
    if len(values) > 1:
        return {_which(question): [str(value).replace("^", "**") for value in values]}
    (value,) = values
    number = _real(value, domain)
    if number is None:
        return {"function": str(value).replace("^", "**")}
    return {"value": number_words.real(number)}


def _real(value: Value, domain: Domain) -> Real | None:
    """Returns a value that does not depend on the parameters as a number."""
    if domain.ring.parameters:
        function = in_ring(value, domain.ring)
        if not (is_constant(function.numerator) and is_constant(function.denominator)):
            return None
        value = rational(constant_value(function.numerator) / constant_value(function.denominator))
    return real(value, domain.ring)


def _which(question: ProbabilityQuestion) -> str:
    return "least" if question.extreme is Extreme.LEAST else "largest"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
