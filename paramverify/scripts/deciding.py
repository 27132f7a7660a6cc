"""Deciding scripts: the answer to each `(check-sat)`, with quantifiers taken apart where that is possible.

Assertions that speak of all reals, and of no constant, are sentences: one is true iff its negation has no
solution. Where a constant occurs in such an assertion, solvers get the script as it is, and their sat counts
if all assertions are true at its model: with numbers in the places of the constants they are sentences, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from paramverify.answers import Standing
from paramverify.formats.script_reading import Check, Script
from paramverify.formats.script_terms import Term, negated
from paramverify.formats.script_writing import at, written
from paramverify.portfolio.session import Options
from paramverify.processes.runner import Runner
from paramverify.scripts.answers import Answered, SatisfiabilityQuestion, ScriptReport
from paramverify.scripts.cubes import variables_of
from paramverify.scripts.evaluation import ScriptPoint, satisfies
from paramverify.scripts.quotients import NamedQuotient, consistent, without_quotients
from paramverify.scripts.solutions import Means, as_it_is, solution
from paramverify.scripts.universal import (
    conjuncts,
    constants,
    has_quantifier,
    is_universal,
    without_quantifiers,
)

RESERVE = 0.5  # seconds for processes to end
FALSE_SENTENCE = "an assertion about all reals is false"


def decide_script(
    script: Script, options: Options, tell: Callable[[Check, Answered], None] = lambda check, answer: None
) -> ScriptReport:
    """Answers the questions of a script; each has an equal share of the time, and `tell` hears of its answer.

    Raises:
        UnsupportedError: quantifiers that alternate.
        DisagreementError: two programs contradict each other.
    """
    started = time.monotonic()
    until = started + options.seconds - min(RESERVE, options.seconds / 10)
    answers: list[Answered] = []
    with Runner() as runner:
        for k, check in enumerate(script.checks):
            now = time.monotonic()
            share = max(0.0, until - now) / (len(script.checks) - k)
            found = answer(check, Means(options, runner, now + share))
            answers.append(replace(found, seconds=time.monotonic() - now))
            tell(check, answers[-1])
    return ScriptReport(script, tuple(answers), time.monotonic() - started)


def answer(check: Check, means: Means) -> Answered:
    """Answers one question.

    Raises:
        UnsupportedError, DisagreementError: see `decide_script`.
    """
    whole = SatisfiabilityQuestion(check.assertions, check.script, check.reals, check.booleans)
    parts = list(conjuncts(check.assertions))
    universal = [term for term in parts if is_universal(term)]
    if not universal:
        question = _asking(parts) if any(map(has_quantifier, parts)) else whole
        plain, quotients = without_quotients(question.assertions)
        if not quotients:
            return _solution(question, means)
        return _solution(_asking(plain), means, quotients)
    true: list[Answered] = []
    doubts: list[Answered] = []
    for term in universal:
        if constants(term):
            continue
        found = _sentence(term, means)
        if found.standing is Standing.VIOLATED:
            return replace(found, standing=Standing.HOLDS, reason=FALSE_SENTENCE)
        (true if found.standing is Standing.HOLDS else doubts).append(found)
    found = _solution(_asking([term for term in parts if not any(term is u for u in universal)]), means)
    if found.standing is Standing.VIOLATED and any(map(constants, universal)):
        at_point: list[Answered] = []
        found = as_it_is(whole, lambda point: true_at(whole.assertions, point, means, at_point), means)
        true, doubts = at_point, []  # at its point all assertions are true
    if found.standing is Standing.VIOLATED and doubts:
        return doubts[0]
    return found.resting_on(tuple(true)) if found.standing is Standing.VIOLATED else found


def _solution(
    question: SatisfiabilityQuestion, means: Means, quotients: Sequence[NamedQuotient] = ()
) -> Answered:
    def truth(point: ScriptPoint) -> bool | None:
        return satisfies(question.assertions, point) and consistent(quotients, point)

    return solution(question, truth, means)


def _sentence(term: Term, means: Means) -> Answered:
    """Decides the negation of a sentence: the sentence is true iff that has no solution."""
    return _solution(_asking([negated(term)]), means.within(means.left / 2))


def _asking(assertions: Sequence[Term]) -> SatisfiabilityQuestion:
    """Returns the question about assertions whose quantifiers say that there is a solution.

    Their variables become constants: where the body is true for some values, so is what has the quantifier,
    and it stands where more truth is never a loss.
    """
    plain = tuple(map(without_quantifiers, assertions))
    reals = tuple(variables_of(plain))
    booleans = tuple(sorted(set().union(*map(constants, plain)) - set(reals)))
    return SatisfiabilityQuestion(plain, written(plain, reals, booleans), reals, booleans)


def true_at(
    assertions: Sequence[Term], point: ScriptPoint, means: Means, rests_on: list[Answered]
) -> bool | None:
    """Tells whether assertions, also with quantifiers, are true at a point; None where that is not known.

    `rests_on` gets what was proved for it, in the place of what it had.
    """
    rests_on.clear()
    value = satisfies(assertions, point)
    if value is not None or not point.is_rational:
        return value
    with Runner() as own:  # the other one may be in the middle of a race
        part = replace(means.within(means.left / 2), runner=own)
        for term in conjuncts([at(t, point.rationals(), point.truths) for t in assertions]):
            known = satisfies([term], point)
            if known is None and has_quantifier(term):
                sentence = is_universal(term)
                found = _sentence(term, part) if sentence else _solution(_asking([term]), part)
                true = Standing.HOLDS if sentence else Standing.VIOLATED
                known = None if found.standing is Standing.UNKNOWN else found.standing is true
                rests_on.append(found)
            if not known:
                return known
    return True
