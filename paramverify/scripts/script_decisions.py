"""Deciding scripts: the answer to each `(check-sat)`, with quantifiers and quotients taken apart.

Assertions that speak of all reals, and of no constant, are sentences: one is true iff its negation has no
solution. Where a constant occurs in such an assertion, solvers get the script as it is, and their sat counts
if all assertions are true at its model: with numbers in the places of the constants they are sentences, too.

Quotients whose denominator may be zero: each becomes a constant of its own.

In SMT-LIB `/` is a function of all numbers, of which nothing is known at t/0 but that equal t give equal
quotients. With a constant d for t/q the assertions say the same where `q ≠ 0 and d·q = t, or q = 0`, but for
that last condition; of few constants it is said that equal parts give equal quotients. So without a solution
of these there is none of the others; and a solution is one of both if d is the same for equal numerators
wherever denominators are zero.

Quantifiers of scripts: which assertions say something of all reals, and what they say without it.

An assertion with quantifiers over all reals alone is a sentence where no constant occurs: it is true iff its
negation, which asks for a solution, has none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from paramverify.answers import Standing
from paramverify.errors import UnsupportedError
from paramverify.formats.smtlib_scripts import (
    Check,
    Script,
    ScriptTerm,
    at,
    both,
    either,
    folded,
    negated,
    number,
    written,
)
from paramverify.portfolio.session import Options
from paramverify.processes.runner import Runner
from paramverify.scripts.cubes import variables_of
from paramverify.scripts.script_evaluation import (
    Answered,
    SatisfiabilityQuestion,
    ScriptPoint,
    ScriptReport,
    satisfies,
)
from paramverify.scripts.script_solutions import Means, as_it_is, solution

MAX_QUOTIENTS = 3  # of which it is said that they are equal where their parts are
ZERO = number(0)


@dataclass(frozen=True)
class NamedQuotient:
    """A constant that stands for `top / bottom`; in both, other such constants may stand."""

    symbol: str
    top: ScriptTerm
    bottom: ScriptTerm

    @property
    def constant(self) -> ScriptTerm:
        """The constant."""
        return ScriptTerm("real", (), self.symbol)

    def assertion(self) -> ScriptTerm:
        """Returns what is true of the constant."""
        zero = ScriptTerm("=", (self.bottom, ZERO))
        product = ScriptTerm("=", (ScriptTerm("*", (self.constant, self.bottom)), self.top))
        return either([zero, both([negated(zero), product])])


def without_quotients(
    assertions: Sequence[ScriptTerm],
) -> tuple[tuple[ScriptTerm, ...], tuple[NamedQuotient, ...]]:
    """Returns the assertions with constants in the places of quotients by what is no number, and these.

    Equal quotients have one constant.
    """
    found: list[NamedQuotient] = []
    known: dict[tuple[object, ...], ScriptTerm] = {}  # one object for equal terms

    def make(term: ScriptTerm, parts: Sequence[ScriptTerm]) -> ScriptTerm:
        key = (term.operator, term.value, *map(id, parts))
        if key not in known:
            known[key] = made(term, parts)
        return known[key]

    def made(term: ScriptTerm, parts: Sequence[ScriptTerm]) -> ScriptTerm:
        if not parts:
            return term
        if term.operator == "/" and not _is_number(parts[1]):
            name = f"quotient ({len(found) + 1})"  # no symbol is like this
            found.append(NamedQuotient(name, parts[0], parts[1]))
            return found[-1].constant
        return ScriptTerm(term.operator, tuple(parts), term.value)

    whole = folded(ScriptTerm("and", tuple(assertions)), lambda term: term.parts, make)
    functional = [_same(*pair) for pair in combinations(found, 2)] if len(found) <= MAX_QUOTIENTS else []
    return (*whole.parts, *(q.assertion() for q in found), *functional), tuple(found)


def _same(left: NamedQuotient, right: NamedQuotient) -> ScriptTerm:
    """Returns that equal numerators and denominators give equal quotients."""
    differs = [
        negated(ScriptTerm("=", pair)) for pair in ((left.top, right.top), (left.bottom, right.bottom))
    ]
    return either([*differs, ScriptTerm("=", (left.constant, right.constant))])


def consistent(quotients: Sequence[NamedQuotient], point: ScriptPoint) -> bool | None:
    """Tells whether there is a function `/` with these values; None where that is not known."""
    zero = [q for q in quotients if satisfies([ScriptTerm("=", (q.bottom, ZERO))], point) is not False]
    for left, right in combinations(zero, 2):
        same = ScriptTerm("=", (left.constant, right.constant))
        known = satisfies([either([negated(ScriptTerm("=", (left.top, right.top))), same])], point)
        if not known:
            return known
    return True


def _is_number(term: ScriptTerm) -> bool:
    """Tells whether a term is a number other than zero, built of numbers alone."""
    values: Mapping[str, Fraction] = {}
    known = satisfies([negated(ScriptTerm("=", (term, ZERO)))], ScriptPoint(values, {}))
    return known is True and not _has_constants(term)


def _has_constants(term: ScriptTerm) -> bool:
    def make(part: ScriptTerm, found: Sequence[bool]) -> bool:
        return part.operator in ("real", "bool") or any(found)

    return folded(term, lambda t: t.parts, make)


Part = tuple[ScriptTerm, bool]


def conjuncts(assertions: Sequence[ScriptTerm]) -> Iterator[ScriptTerm]:
    """Yields the parts of the assertions that have to be true together."""
    waiting = list(reversed(assertions))
    while waiting:
        term = waiting.pop()
        if term.operator == "and":
            waiting += reversed(term.parts)
        else:
            yield term


def is_universal(term: ScriptTerm) -> bool:
    """Tells whether a term speaks of all reals, rather than of some or of constants alone.

    Raises:
        UnsupportedError: it does both: its quantifiers alternate.
    """
    kinds = folded((term, True), _below, _kinds)
    if len(kinds) > 1:
        reason = "an assertion mixes universal and existential quantifiers"
        raise UnsupportedError(f"{reason}: only one block of quantifiers is supported")
    return "forall" in kinds


def has_quantifier(term: ScriptTerm) -> bool:
    """Tells whether a quantifier stands in a term."""

    def make(part: ScriptTerm, found: Sequence[bool]) -> bool:
        return part.operator in ("forall", "exists") or any(found)

    return folded(term, lambda t: t.parts, make)


def without_quantifiers(term: ScriptTerm) -> ScriptTerm:
    """Returns the term with the bodies of quantifiers in their places."""

    def make(part: ScriptTerm, parts: Sequence[ScriptTerm]) -> ScriptTerm:
        if part.operator in ("forall", "exists"):
            return parts[0]
        return ScriptTerm(part.operator, tuple(parts), part.value) if parts else part

    return folded(term, lambda t: t.parts, make)


def constants(term: ScriptTerm) -> set[str]:
    """Returns the declared symbols that occur."""

    def make(part: ScriptTerm, found: Sequence[frozenset[str]]) -> frozenset[str]:
        own = frozenset([str(part.value)]) if part.operator in ("real", "bool") else frozenset()
        below = own.union(*found)
        return below - set(part.value) if isinstance(part.value, tuple) else below

    found: frozenset[str] = folded(term, lambda t: t.parts, make)
    return set(found)


def _below(part: Part) -> list[Part]:
    term, wanted = part
    match term.operator:
        case "not":
            return [(term.parts[0], not wanted)]
        case "and" | "or" | "forall" | "exists":
            return [(inner, wanted) for inner in term.parts]
    return [(inner, way) for inner in term.parts for way in (True, False)]


def _kinds(part: Part, found: Sequence[frozenset[str]]) -> frozenset[str]:
    term, wanted = part
    own: frozenset[str] = frozenset()
    if term.operator in ("forall", "exists"):
        own = frozenset(["forall" if (term.operator == "forall") == wanted else "exists"])
    return own.union(*found)


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


def _sentence(term: ScriptTerm, means: Means) -> Answered:
    """Decides the negation of a sentence: the sentence is true iff that has no solution."""
    return _solution(_asking([negated(term)]), means.within(means.left / 2))


def _asking(assertions: Sequence[ScriptTerm]) -> SatisfiabilityQuestion:
    """Returns the question about assertions whose quantifiers say that there is a solution.

    Their variables become constants: where the body is true for some values, so is what has the quantifier,
    and it stands where more truth is never a loss.
    """
    plain = tuple(map(without_quantifiers, assertions))
    reals = tuple(variables_of(plain))
    booleans = tuple(sorted(set().union(*map(constants, plain)) - set(reals)))
    return SatisfiabilityQuestion(plain, written(plain, reals, booleans), reals, booleans)


def true_at(
    assertions: Sequence[ScriptTerm], point: ScriptPoint, means: Means, rests_on: list[Answered]
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
