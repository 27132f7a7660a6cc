"""Quantifier elimination.

The condition on some parameters under which claims hold for all others, also by corners of boxes.

The condition comes from QEPCAD and is compared with the exact procedures of this package at sample points on
both sides of its boundaries; a contradiction is an error, as between any two backends.

Let f ≥ 0 be claimed for all values of some parameters in a box, with others free. At the corners c of the
closed box this says f(·, c) ≥ 0, by continuity: so these conditions are necessary. Where they are sufficient,
as for an f that is linear in each of the parameters, that is a claim itself: f ≥ 0 wherever all of them hold.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product

from paramverify.algebra.domains import Constraint, Domain, in_words
from paramverify.algebra.polynomials import Polynomial, key, primitive, substitute, variables
from paramverify.algebra.signs import sign_on
from paramverify.answers import End, Open, Proved, Refuted
from paramverify.backends.qepcad import TIME_OVER, Reply, ask
from paramverify.claims import Claim
from paramverify.errors import DisagreementError
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.formats.quantified_questions import (
    AndCondition,
    Condition,
    QuantifiedImplication,
    comparison,
    comparisons,
    in_expressions,
    question,
    samples,
    simplified,
)
from paramverify.formats.refutations import fixed
from paramverify.portfolio.session import Session
from paramverify.simplify.reductions import AT_LEAST_ZERO

CHECKS = 24  # sample points
LINES = 8  # lines through the domain on which they are taken
EFFORT = RemainingWork(boxes=300, coefficients=300_000)  # for one claim at one of them


NOT_ASKED = Open(
    End.GAVE_UP, "QEPCAD was not asked, because of --backends, --strategy or --require-certificates"
)


@dataclass(frozen=True)
class Elimination:
    """The condition on the free parameters, as one object and as text, and how it was found.

    `condition` is equivalent to the claims wherever `assumptions` hold: those parts of the domain that
    mention no other parameter. `checked` is the number of sample points at which both sides were compared.
    """

    condition: Condition
    assumptions: AndCondition
    text: str
    transcript: str
    checked: int


def eliminate(
    claims: Sequence[Claim],
    free: Sequence[str],
    domain: Domain,
    seconds: float = 60.0,
    memory: int = 2 << 30,
) -> Elimination | Open:
    """Returns the condition on the free parameters under which all claims hold for all values of the others.

    At a point of the free parameters that satisfies the assumptions, the condition is true iff every claim
    holds at every point of the domain with these coordinates. Each claim is a question of its own, because a
    small decomposition is built faster; what comes out is then simplified together.

    Raises:
        InputError: a free parameter that does not exist.
        UnsupportedError: the claims mention `exp(q)`.
        DisagreementError: the condition is wrong at a sample point, by an exact computation.
    """
    until = time.monotonic() + seconds
    # An interval for E would make the condition one that suffices, no longer an equivalent one.
    domain = replace(domain, box={n: i for n, i in domain.box.items() if n in domain.ring.parameters})
    different = {key(claim.polynomial): claim.polynomial for claim in claims}
    polynomials = list(different.values())
    questions = [question([polynomial], domain, free) for polynomial in polynomials]
    whole = question(polynomials, domain, free)
    replies: list[Reply] = []
    for about in questions:
        reply = _ask(about, until, memory)
        if isinstance(reply, Open):
            return reply
        replies.append(reply)
    condition = simplified(AndCondition(tuple(reply.condition for reply in replies)))
    transcripts = [reply.transcript for reply in replies]
    if sum(reply.text != "TRUE" for reply in replies) > 1:
        short = _ask(replace(whole, bound=(), hypotheses=(), conclusions=(condition,)), until, memory)
        if isinstance(short, Reply):
            condition = simplified(short.condition)
            transcripts.append(short.transcript)
    checked = check(condition, [Claim(f, domain) for f in polynomials], domain, whole, until)
    given, text = AndCondition(whole.assumptions), in_expressions(condition)
    return Elimination(condition, given, text, "\n".join(transcripts), checked)


def _ask(about: QuantifiedImplication, until: float, memory: int) -> Reply | Open:
    left = until - time.monotonic()
    if left <= 0:
        return Open(End.TIMEOUT, TIME_OVER)
    return ask(about, seconds=left, memory=memory)


def check(
    condition: Condition, claims: Sequence[Claim], domain: Domain, about: QuantifiedImplication, until: float
) -> int:
    """Compares a condition with exact decisions about the claims at sample points; returns how many.

    The points are on both sides of the boundaries of the condition, and on those that are rational. `until`
    is the time (monotonic) at which no more are begun.

    Raises:
        DisagreementError: the condition is true at a point and a claim fails there, or the reverse.
    """
    compared = 0
    for point in islice(_points(condition, about, domain), CHECKS):
        if time.monotonic() > until:
            break
        expected = condition.holds_at(point)
        answers = []
        for claim in claims:
            part = claim
            for name in about.free:
                part = fixed(part, name, point[name])
            answers.append(decide_exactly(part, replace(EFFORT)))
        refuted = any(isinstance(answer, Refuted) for answer in answers)
        if refuted if expected else all(isinstance(answer, Proved) for answer in answers):
            shown = in_words({name: point[name] for name in about.free})
            said = ("holds", "fails") if expected else ("fails", "holds")
            texts = (str(condition), str(answers))
            names = ("qepcad", "built-in")
            raise DisagreementError(f"the condition at {shown}", tuple(zip(names, said, texts, strict=True)))
        compared += refuted or not any(isinstance(answer, Open) for answer in answers)
    return compared


def _points(
    condition: Condition, about: QuantifiedImplication, domain: Domain
) -> Iterator[dict[str, Fraction]]:
    """Yields points that satisfy the assumptions: random ones, and one on each piece of lines through them.

    A line is along an axis; its pieces are those on which no comparison changes, and rational ends of those.
    """
    if not about.free:
        return
    generator = random.Random(0)
    base = dict.fromkeys(domain.ring.names, Fraction(0))  # E is mentioned nowhere
    base.update((name, interval.simplest()) for name, interval in domain.box.items())
    parts = [*comparisons(condition), *about.assumptions]
    given = AndCondition(about.assumptions)
    for line in range(LINES):
        axis = about.free[line % len(about.free)]
        for name in about.free:
            interval, ratio = domain.box[name], Fraction(generator.randint(1, 63), 64)
            base[name] = interval.lower + (interval.upper - interval.lower) * ratio
        others = {name: value for name, value in base.items() if name != axis}
        along = [comparison(substitute(c.polynomial, others), c.relation) for c in parts]
        for value in (base[axis], *samples(along, axis, domain.box[axis])):
            if given.holds_at({**base, axis: value}):
                yield {**base, axis: value}


MAX_VERTICES = 256


def by_vertices(
    claims: Sequence[Claim], free: Sequence[str], domain: Domain, session: Session
) -> Elimination | None:
    """Returns the condition at the vertices, where it is proved to be equivalent to the claims; else None.

    At a point of the free parameters that satisfies the assumptions, the condition is true iff every claim
    holds at every point of the domain with these coordinates.

    Raises:
        InputError: a free parameter that does not exist.
        UnsupportedError: the claims mention `exp(q)`.
        DisagreementError: the condition is wrong at a sample point, by an exact computation.
    """
    domain = replace(domain, box={n: i for n, i in domain.box.items() if n in domain.ring.parameters})
    polynomials = list({key(claim.polynomial): claim.polynomial for claim in claims}.values())
    whole = question(polynomials, domain, free)
    if any(set(variables(c.polynomial)).intersection(whole.bound) for c in domain.constraints):
        return None
    if 2 ** len(whole.bound) > MAX_VERTICES:
        return None
    needed = _at_vertices(polynomials, whole.bound, domain)
    known = tuple(Constraint(g, False, f"{g} >= 0") for g in needed)
    smaller = replace(domain, constraints=(*domain.constraints, *known))
    for polynomial in polynomials:
        if not isinstance(session.decide(Claim(polynomial, smaller)).answer, Proved):
            return None
    condition = simplified(AndCondition(tuple(comparison(g, ">=") for g in needed)))
    checked = check(condition, [Claim(f, domain) for f in polynomials], domain, whole, session.deadline)
    return Elimination(condition, AndCondition(whole.assumptions), in_expressions(condition), "", checked)


def _at_vertices(polynomials: Sequence[Polynomial], bound: Sequence[str], domain: Domain) -> list[Polynomial]:
    """Returns what has to be at least zero at vertices, without what is so on the whole domain."""
    ends = [dict.fromkeys((domain.box[n].lower, domain.box[n].upper)) for n in bound]
    found: dict[str, Polynomial] = {}
    for corner in product(*ends):
        at = dict(zip(bound, corner, strict=True))
        for polynomial in polynomials:
            value = primitive(substitute(polynomial, at))[1]
            if sign_on(value, domain) not in AT_LEAST_ZERO:
                found.setdefault(key(value), value)
    return list(found.values())
