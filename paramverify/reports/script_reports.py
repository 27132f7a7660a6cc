"""What is said of a script, in words and as JSON data; and evidence, checked against the script."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from paramverify import printable
from paramverify.algebra.polynomials import value_at
from paramverify.answers import Decision, Standing
from paramverify.claims import Claim, to_document
from paramverify.errors import InputError
from paramverify.evidence import certificates, envelope, number_words
from paramverify.formats.smtlib_scripts import Check, Script, ScriptTerm, read_script
from paramverify.kernel.claim_evidence import digest
from paramverify.kernel.documents import check_document as check_evidence
from paramverify.kernel.documents import engine_of
from paramverify.kernel.evidence_shapes import ANSWERS
from paramverify.kernel.ledger import Demanded, Evidence, KernelReport
from paramverify.kernel.strict_reading import Rejected, UnreadCase, counted
from paramverify.reports import algebraic_numbers, json_documents, sentences
from paramverify.rereader.second_reading import MISTAKES, SecondLook
from paramverify.rereader.second_scripts import ScriptLevel, check_model, questions, truths
from paramverify.scripts.cubes import Reading
from paramverify.scripts.script_decisions import has_quantifier, without_quotients
from paramverify.scripts.script_evaluation import (
    Answered,
    Number,
    SatisfiabilityQuestion,
    ScriptPoint,
    ScriptReport,
    satisfies,
)
from paramverify.scripts.script_solutions import claims_of


def lines(report: ScriptReport) -> list[str]:
    """Returns each answer on a line of its own, as solvers print it, with what it rests on below."""
    found: list[str] = []
    for check, answer in zip(report.script.checks, report.answers, strict=True):
        found.append(answer.standing.of_script)
        if len(report.answers) > 1:
            found.append(f"  Question {check.number}, line {check.line}.")
        found += [f"  {line}" for line in _told(answer, check)]
        if check.number in report.wrong:
            found.append(f"  WRONG STATUS: the script states {check.expected}.")
    return found


def _told(answer: Answered, check: Check) -> list[str]:
    took = f"in {answer.seconds:.2g} s"
    who = f": {', '.join(answer.found_by)}" if answer.found_by else ""
    resting = [f"On the word of {', '.join(answer.solvers)}, {took}."] if answer.solvers else []
    many = counted(len(answer.settled), "claim")
    proofs = sentences.backends_used([decision for _, decision in answer.settled])
    if answer.standing is Standing.VIOLATED:
        shown = _shown(answer, check)
        told = [f"{printable.name(symbol)} = {value}" for symbol, value in shown]
        told.append(f"All assertions are true there, evaluated exactly, {took}{who}.")
        return told + [f"{many} proved for it: {proofs}."] * bool(answer.settled) + resting
    if answer.standing is Standing.UNKNOWN:
        return [f"{answer.end.value}: {answer.reason}"]
    told = (
        [f"{answer.reason[:1].upper()}{answer.reason[1:]}, evaluated exactly{who}."] if answer.reason else []
    )
    if answer.settled:
        told.append(f"{many} proved {took}: {proofs}.")
    elif not answer.solvers and not answer.reason:
        told.append(f"No claim was left to prove, {took}.")
    return told + resting


def _shown(answer: Answered, check: Check) -> list[tuple[str, str]]:
    """Returns the values of the constants that the script declares, in its order."""
    assert answer.point is not None
    numbers, truths = answer.point.numbers, answer.point.truths
    found = [(name, _number(numbers[name])) for name in check.reals if name in numbers]
    return found + [(name, str(truths[name]).lower()) for name in check.booleans if name in truths]


def _number(value: Number) -> str:
    return number_words.exact(value) if isinstance(value, Fraction) else algebraic_numbers.root_text(value)


def document(report: ScriptReport) -> dict[str, Any]:
    """Returns the answers as JSON data."""
    pairs = zip(report.script.checks, report.answers, strict=True)
    return {
        **_standing(report.standing),
        "logic": report.script.logic or "ALL",
        "checks": [check_document(check, answer) for check, answer in pairs],
        "wrong": list(report.wrong),
        "seconds": round(report.seconds, 6),
    }


def _standing(standing: Standing) -> dict[str, str]:
    return {"status": standing.value, "verdict": standing.of_script}


def check_document(check: Check, answer: Answered) -> dict[str, Any]:
    """Returns the answer to one question as JSON data."""
    told: dict[str, Any] = {
        "number": check.number,
        "line": check.line,
        **_standing(answer.standing),
        "stated": check.expected,
        "found_by": list(answer.found_by),
        "on_the_word_of": list(answer.solvers),
        "claims": [json_documents.decision(decision) for _, decision in answer.settled],
        "seconds": round(answer.seconds, 6),
    }
    if answer.standing is Standing.VIOLATED and answer.point is not None:
        numbers, truths = answer.point.numbers, answer.point.truths
        told["model"] = {n: _document(numbers[n]) for n in check.reals if n in numbers}
        told["model"] |= {n: truths[n] for n in check.booleans if n in truths}
    if answer.standing is Standing.UNKNOWN:
        told["end"] = answer.end.value
    if answer.reason:
        told["reason"] = answer.reason
    return told


def _document(value: Number) -> str | dict[str, Any]:
    return (
        number_words.exact(value) if isinstance(value, Fraction) else algebraic_numbers.root_document(value)
    )


MEND = "leave out --evidence for the answer alone"
POINTS = 8  # at which each assertion is compared
NOTHING = SecondLook(False, True, "")


def check_has_evidence(script: Script) -> None:
    """Checks that answers to a script have evidence.

    Raises:
        InputError: a question has none, with the reason.
    """
    for check in script.checks:
        reason = ""
        if any(map(has_quantifier, check.assertions)):
            reason = "it has quantifiers, and the claims of these are not derived again"
        elif without_quotients(check.assertions)[1]:
            reason = "it has a quotient whose denominator is not a number"
        if reason:
            raise InputError(f"question {check.number} has no evidence: {reason}", mend=MEND)


def evidence_document(report: ScriptReport) -> dict[str, Any]:
    """Returns the answers as evidence.

    Raises:
        InputError: a model is irrational, which evidence cannot say yet.
    """
    claims: dict[str, dict[str, Any]] = {}
    places: dict[str, int] = {}

    def number(claim: Claim, decision: Decision) -> int:
        """Returns the number of the statement of a claim, which is written once."""
        name = claim.digest()
        claims.setdefault(name, certificates.settled(claim, decision))
        return places.setdefault(name, len(places))

    pairs = zip(report.script.checks, report.answers, strict=True)
    own = {
        "kind": "script",
        "script": {"name": report.script.name, "digest": report.script.digest},
        "questions": [_question(check, answer, number) for check, answer in pairs],
    }
    return envelope.document(ANSWERS, envelope.statements(*claims.values(), own))


def _question(check: Check, answer: Answered, number: Callable[[Claim, Decision], int]) -> dict[str, Any]:
    told: dict[str, Any] = {"status": answer.standing.value, "claims": [], "solvers": []}
    if answer.standing is Standing.HOLDS:
        told["claims"] = list(dict.fromkeys(number(*pair) for pair in answer.settled))
        told["solvers"] = [] if answer.settled else list(answer.solvers)
    elif answer.standing is Standing.VIOLATED:
        assert answer.point is not None
        if not answer.point.is_rational:
            reason = "its model is irrational, and only rational ones are written"
            raise InputError(f"question {check.number} has no evidence: {reason}", mend=MEND)
        numbers = answer.point.rationals()
        told["model"] = {n: str(numbers[n]) for n in check.reals if n in numbers}
        told["model"] |= {n: answer.point.truths[n] for n in check.booleans if n in answer.point.truths}
    return told


def check_with_script(
    document: Mapping[str, Any], path: str, content: str
) -> tuple[KernelReport, SecondLook]:
    """Checks evidence against a script: its claims are derived again, and it is read a second time.

    Raises:
        InputError, LimitError: the script cannot be read.
    """
    engine = engine_of(document)
    if engine is None or engine["kind"] != "script":
        return KernelReport(False, ("rejected: the evidence is about no script",)), NOTHING
    report = check_evidence(document, Demanded())
    if not report.accepted:
        return report, NOTHING
    about = Evidence(document)
    claims = {place: digest(about.full(statement)) for place, statement in about.of("claim")}
    script = read_script(Path(path))
    try:
        if engine["script"]["digest"] != script.digest:
            raise Rejected(envelope.changed(engine["script"], script.digest))
        if len(engine["questions"]) != len(script.checks):
            raise Rejected("the script has another number of questions")
        for check, told in zip(script.checks, engine["questions"], strict=True):
            _compared(check, told, {claims[place] for place in told["claims"]})
    except Rejected as error:
        return KernelReport(False, (f"rejected: {error}",)), NOTHING
    look = _second_look(engine, script, content)
    if look.agrees:
        return replace(report, lines=(*report.lines, look.line)), look
    return replace(report, accepted=False, lines=(*report.lines, f"rejected: {look.line}")), look


def _compared(check: Check, told: Mapping[str, Any], proved: set[str]) -> None:
    """Checks an answer against a question; `proved` are the digests of its claims.

    Raises:
        Rejected: it is no answer to it.
    """
    if told["status"] == Standing.VIOLATED:
        truth = {n: v for n, v in told["model"].items() if isinstance(v, bool)}
        numbers = {n: Fraction(v) for n, v in told["model"].items() if n not in truth}
        if satisfies(check.assertions, ScriptPoint(numbers, truth)) is not True:
            raise Rejected(f"the assertions of question {check.number} are not true at the model")
    if told["status"] != Standing.HOLDS or (told["solvers"] and not told["claims"]):
        return
    question = SatisfiabilityQuestion(check.assertions, check.script, check.reals, check.booleans)
    wanted = {digest(to_document(claim)) for claim in claims_of(question)}
    if proved - wanted:
        raise Rejected(f"question {check.number} does not make a claim of the evidence")
    if wanted - proved:
        raise Rejected(f"a claim of question {check.number} has no proof")


def _second_look(document: Mapping[str, Any], script: Script, content: str) -> SecondLook:
    try:
        levels = questions(content)
        if len(levels) != len(script.checks):
            raise Rejected("it has another number of questions")
        count = 0
        for check, level, told in zip(script.checks, levels, document["questions"], strict=True):
            declared = dict.fromkeys(check.reals, "Real") | dict.fromkeys(check.booleans, "Bool")
            if level.constants != declared or len(level.asserted) != len(check.assertions):
                raise Rejected(f"question {check.number} has other constants or assertions")
            if told["status"] == Standing.VIOLATED:
                check_model(told, level)
            count += _compare_assertions(check, level)
    except UnreadCase as error:
        return SecondLook(False, True, f"not read a second time: {error!s:.200}")
    except Rejected as error:
        return SecondLook(True, False, f"the second reading differs: {error!s:.300}")
    except MISTAKES as error:
        return SecondLook(True, False, f"the second reading finds a mistake: {error!s:.200}")
    return SecondLook(
        True, True, f"read a second time: {counted(count, 'assertion')} at {POINTS} points agree"
    )


def _compare_assertions(check: Check, level: ScriptLevel) -> int:
    """Compares each assertion with its cubes at points; returns how many.

    Raises:
        Rejected: they differ. Unread: one has no value at a point.
    """
    draw = Random(check.script)
    readings = [_truth_of(term) for term in check.assertions]
    for _ in range(POINTS):
        numbers = {n: Fraction(draw.randrange(-24, 25), draw.choice([1, 2, 3, 8])) for n in check.reals}
        truth = {n: draw.random() < 0.5 for n in check.booleans}
        found = truths(level, {**numbers, **truth})
        for k, (value, own) in enumerate(zip(found, readings, strict=True), 1):
            if value is not own(numbers, truth):
                raise Rejected(f"assertion {k} of question {check.number} has other cubes")
    return len(readings)


def _truth_of(term: ScriptTerm) -> Any:
    """Returns a function that tells whether a cube of an assertion holds at numbers and truth values."""
    reading = Reading([term])
    cubes, names = reading.cubes(), reading.names

    def holds(numbers: Mapping[str, Fraction], truth: Mapping[str, bool]) -> bool:
        at = {own: numbers[symbol] for symbol, own in names.items()}
        return any(
            all(truth[n] is wanted for n, wanted in cube.truths.items())
            and all(_is(value_at(p.polynomial, at), p.relation) for p in cube.literals.values())
            for cube in cubes
        )

    return holds


def _is(value: Fraction, relation: str) -> bool:
    return {">": value > 0, ">=": value >= 0, "=": value == 0}[relation]
