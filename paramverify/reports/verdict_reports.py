"""The verdict on a case in words: its headline, its witness, and the run of a program behind that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paramverify import printable
from paramverify.answers import Decision, Standing
from paramverify.evidence import number_words
from paramverify.kernel.strict_reading import counted
from paramverify.models.mechanisms.program import explains_outputs
from paramverify.models.programs.run_traces import Step
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.runs import AnyRun, FunctionRun, LeftOut, ToldRun, told_run
from paramverify.privacy.verification import PrivacyReport
from paramverify.reports import json_documents, sentences
from paramverify.verdicts import Holds, Violated

MAX_STEPS = 40  # that are shown as lines
WIDEST = 48  # characters of the text of a line, before the words stand nearer


def run_lines(found: AnyRun | None) -> list[str]:
    """Returns the lines that tell a run: a sentence, each step, and what it is under the other secret."""
    if found is None:
        return []
    if isinstance(found, FunctionRun):
        return _function_lines(found)
    if isinstance(found, LeftOut):
        return [f"The run that produces this output is not shown: {found.reason}."]
    left, right = (f"'{printable.name(secret)}'" for secret in (found.left, found.right))
    given = "" if found.given == found.left else f", with the input {printable.name(found.given)}"
    if _is_all(found, 0):
        told = [f"This run produces it under {left}{given}:"]
    else:
        likely = f"with probability {_probability(found, 0)}"
        told = [f"The most likely of the {found.runs:,} runs that produce it under {left}{given}, {likely}:"]
    told += [f"  {line}" for line in _steps(found)]
    if found.parts_at is not None:
        return [*told, *_parting(found, found.steps[found.parts_at], right)]
    if found.probabilities[1].sign() > 0 and _is_all(found, 1):
        return [*told, f"Under {right} the same run produces it, with probability {_probability(found, 1)}."]
    return [*told, f"Under {right} the same run has probability {_probability(found, 1)}."]


def _function_lines(found: FunctionRun) -> list[str]:
    told = [f"In the function {found.function}, this run produces it under '{printable.name(found.left)}':"]
    kept: Sequence[int] = range(len(found.steps))
    if len(kept) > MAX_STEPS:  # the first and the last ones, and where the runs diverge
        half = MAX_STEPS // 2
        kept = sorted({*kept[:half], *kept[-half:], *([] if found.parts_at is None else [found.parts_at])})
    before = -1
    for k in kept:
        step = found.steps[k]
        if k > before + 1:
            told.append(f"  ... {counted(k - before - 1, 'more step')}")
        part = "   <- the runs diverge here" if k == found.parts_at else ""
        told.append(f"  {step.file}:{step.line}: {step.text}  {step.words}{part}".rstrip())
        before = k
    return [*told, f"Under '{printable.name(found.right)}', {found.instead}."]


def _parting(found: ToldRun, step: Step, right: str) -> list[str]:
    """Returns the lines that tell where the run is impossible under the other secret, and what is not."""
    line = f"line {step.line}, `{step.text}`"
    is_possible = found.outputs[1].sign() > 0  # by other runs
    instead = f"the same draws produce output {printable.name(found.instead)}" if found.instead else ""
    if found.other == found.right:
        others = "other runs produce this output" if is_possible else ""
        there = "; ".join(filter(None, [instead, others]))
        told = [f"Under {right} this run is impossible: the runs diverge at {line}."]
        return [*told, f"There, {there}."] if there else told
    others = "; other runs produce the output there" if is_possible else ""
    given = f"The input {printable.name(found.other)} diverges from it at {line}"
    return [f"No input of {right} can have this run{others}.", f"{given}{f': {instead}' if instead else ''}."]


def _is_all(found: ToldRun, side: int) -> bool:
    """Tells whether a secret has the output by this run only."""
    return (found.outputs[side] - found.probabilities[side]).sign() == 0


def _probability(found: ToldRun, side: int) -> str:
    return number_words.equals(found.probabilities[side]).removeprefix("= ")


def _steps(found: ToldRun) -> list[str]:
    shown = found.steps[:MAX_STEPS]
    numbers = max(len(str(step.line)) for step in shown) if shown else 0
    width = min(WIDEST, max((len(step.text) for step in shown), default=0))
    told = []
    for k, step in enumerate(shown):
        words = ", ".join(step.words)
        if step.taken is not None:
            words = f"{str(step.taken).lower()}{': ' * bool(words)}{words}"
        part = "   <- the runs diverge here" if k == found.parts_at else ""
        told.append(f"line {step.line:>{numbers}}  {step.text:<{width}}  {words}{part}".rstrip())
    more = len(found.steps) - len(shown)
    return told + ([f"and {more:,} more steps"] if more else [])


def run_document(found: AnyRun | None) -> dict[str, Any]:
    """Returns the same as JSON data, with all steps: nothing where the case is no program."""
    if found is None:
        return {}
    if isinstance(found, LeftOut):
        return {"run": {"left_out": found.reason}}
    if isinstance(found, FunctionRun):
        return {"run": _function_document(found)}
    told: dict[str, Any] = {
        "input": found.given,
        "probabilities": [number_words.real(p) for p in found.probabilities],
        "runs": found.runs,
        "steps": [_step(step) for step in found.steps],
    }
    if found.parts_at is not None:
        step = found.steps[found.parts_at]
        told["parts_at"] = {"line": step.line, "step": found.parts_at, "input": found.other}
        told["parts_at"] |= {"output": found.instead} if found.instead else {}
    return {"run": told}


def _function_document(found: FunctionRun) -> dict[str, Any]:
    told: dict[str, Any] = {
        "function": found.function,
        "input": found.left,
        "steps": [
            {"file": step.file, "line": step.line, "text": step.text, "what": [step.words]}
            for step in found.steps
        ],
        "instead": found.instead,
    }
    if found.parts_at is not None:
        step = found.steps[found.parts_at]
        told["parts_at"] = {"line": step.line, "step": found.parts_at, "input": found.right}
    return told


def _step(step: Step) -> dict[str, Any]:
    taken = {} if step.taken is None else {"taken": step.taken}
    return {"line": step.line, "text": step.text, "what": list(step.words)} | taken


def lines(report: PrivacyReport, case: PrivacyCase) -> list[str]:
    """Returns the verdict in words, without the notes."""
    first, *more = headline(report, case)
    if isinstance(report.verdict, Violated):
        witness = report.verdict.witness
        more += [*witness.lines(), *run_lines(told_run(case, witness))]
    return [f"{word(report, case)}: {first}", *(f"  {line}" for line in more)]


def word(report: PrivacyReport, case: PrivacyCase) -> str:
    """Returns the verdict in a few words, with what it rests on, and of larger inputs."""
    rests = ""
    if isinstance(report.verdict, Holds):
        rests = sentences.on_word(proofs(report)) + sentences.on_condition(case.model)
    beyond = ", but not for larger inputs" if report.larger else ""
    return f"{sentences.verdict(report.status, case.model)}{rests}{beyond}"


def notes(report: PrivacyReport, case: PrivacyCase) -> list[str]:
    """Returns the notes that the headline does not say already, and that concern what is printed."""
    nameless = isinstance(report.verdict, Holds) and not report.larger
    told = [note for note in report.notes if not (nameless and explains_outputs(note))]
    return [f"  {line}" for line in sentences.notes(told, headline(report, case)[0])]


def remarks(report: PrivacyReport, case: PrivacyCase) -> dict[str, Any]:
    """Returns as JSON data the inputs that the verdict is about and larger ones, the notes, and `-D`."""
    about = {
        **json_documents.inputs(case),
        **json_documents.larger(report.larger),
        "notes": list(report.notes),
    }
    return {**about, **({"set": dict(case.settings)} if case.settings else {})}


def proofs(report: PrivacyReport) -> list[Decision]:
    """Returns all that a proof of the case rests on: the decisions of its claims and of its obligations."""
    return [*report.decisions, *(decision for _, decision in report.obligations)]


def headline(report: PrivacyReport, case: PrivacyCase) -> list[str]:
    """Returns what stands behind the word of the verdict, and what it rests on or why there is none.

    If larger inputs have a violation, it comes between both.
    """
    first, *rest = _headline(report, case)
    if not report.larger:
        return [first, *rest]
    point, *more = report.larger.witness.lines()
    return [first, f"Not private for {report.larger.over}: {point}", *more, *rest]


def _headline(report: PrivacyReport, case: PrivacyCase) -> list[str]:
    verdict = report.verdict
    took = f"in {report.seconds:.2g} s"
    if isinstance(verdict, Holds):
        where = sentences.priors(report.domain, case)
        who = sentences.backends_used(report.decisions)
        count = len(report.claims)
        origins = sum(len(claim.origins) for claim in report.claims)
        merged = f", merged from {origins} comparisons," if origins > count else ""
        claims = f"{count} claim{'s' * (count != 1)}"
        if report.enclosed:
            sums, boxes = report.enclosed
            told = f"{counted(sums, 'divergence')} enclosed on {boxes:,} box{'es' * (boxes != 1)}"
            return [f"{case.budget} {where}.", f"{told} {took}, with proved rounding."]
        if report.balls:
            number, bits = report.balls
            told = f"{number:,} probabilities enclosed with {bits} bits"
            return [f"{case.budget} {where}.", f"{told} {took}, with proved rounding."]
        proved = f"{claims}{merged} proved {took}: {who}." if count else _unclaimed(report, case, took)
        return [f"{case.budget} {where}{sentences.but(case.model)}.", proved]
    if isinstance(verdict, Violated):
        return [f"{case.budget}."]
    return [f"{case.budget}: {verdict.end.value}.", *verdict.detail.split("\n")]


def _unclaimed(report: PrivacyReport, case: PrivacyCase, took: str) -> str:
    if report.certificate and not case.model.nothing_compared:
        return f"One certificate proves all comparisons together, found {took}."
    return f"No claim was left to prove, {took}."


def _enclosed(report: PrivacyReport) -> dict[str, Any]:
    """Returns how many divergences or probabilities were enclosed, where there are no claims."""
    if report.balls:
        return {"enclosed": {"probabilities": report.balls[0], "bits": report.balls[1]}}
    if report.enclosed is None:
        return {}
    return {"enclosed": {"divergences": report.enclosed[0], "boxes": report.enclosed[1]}}


def document(report: PrivacyReport, case: PrivacyCase) -> dict[str, Any]:
    """Returns the verdict as JSON data, with every claim."""
    claims = []
    for number, claim in enumerate(report.claims):
        first = json_documents.origin(claim.origins[0]) if claim.origins else {"about": "the invariant cone"}
        entry: dict[str, Any] = {**first, "merged": len(claim.origins)}
        if number < len(report.decisions):
            entry |= json_documents.decision(report.decisions[number])
        else:
            entry |= {"status": "not tried", "verdict": Standing.UNKNOWN.of_claim}
        claims.append(entry)
    words = sentences.words(proofs(report))
    told: dict[str, Any] = {
        **json_documents.standing(report.status, case.model),
        "claims": claims,
        "seconds": round(report.seconds, 6),
        **_enclosed(report),
        "evidence": {"decided_by": sentences.backends_used(report.decisions), **words},
        **remarks(report, case),
    }
    if isinstance(report.verdict, Violated):
        found = report.verdict.witness
        told["witness"] = found.answer() | run_document(told_run(case, found))
    elif not isinstance(report.verdict, Holds):
        told |= {"end": report.verdict.end.value, "reason": report.verdict.detail}
    return told
