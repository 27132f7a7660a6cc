"""Claims and their domains: read, shown by proofs, and refuted at points."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from . import evidence_shapes
from .evidence_polynomials import ONE, Box, Poly, add, constant, number, parse, plus
from .proof_goals import Context, Goal, Tie, WrittenClaim
from .proof_rules import prove
from .rounded_constants import encloses_exp, sign_in_exp, sign_of_logs
from .strict_reading import Rejected, check

Sign = Callable[[Poly], int]  # of a polynomial at a point: -1, 0 or 1
MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError)


def digest(claim: Any) -> str:
    """Returns the SHA-256 digest of a claim's canonical text."""
    text = json.dumps(claim, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_claim(claim: Any) -> WrittenClaim:
    """Reads a claim: variables, polynomial, box, constraints, and the constant where there is one.

    Raises:
        Rejected: it is not a claim.
    """
    check(claim, evidence_shapes.CLAIM)
    names = tuple(claim["variables"])
    if len(set(names)) < len(names) or not all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", n) for n in names):
        raise Rejected("the variables of a claim must have different names")
    box: Box = {}
    ends: set[tuple[str, int]] = set()
    for name, text in claim["box"].items():
        match = re.fullmatch(r"([\[(])([^, ]+), ([^, ]+)([\])])", text)
        if not match or name not in names:
            raise Rejected(f"the interval of {name} is not valid: {text!r:.60}")
        low, high = box[name] = number(match[2]), number(match[3])
        ends |= {(name, side) for side, bracket in enumerate((match[1], match[4])) if bracket in "()"}
        if low > high or (low == high and {(name, 0), (name, 1)} & ends):
            raise Rejected(f"the interval {text} is empty")
    strict = {">": True, ">=": False}
    conditions = tuple((parse(text, names), strict[relation]) for text, relation in claim["constraints"])
    exponent = number(claim["constant"]) if "constant" in claim else None
    ties = _read_ties(claim, names, box)
    if set(names) - box.keys() - {t.name for t in ties} - (set() if exponent is None else {"E"}):
        raise Rejected("a variable of a claim has no interval")
    # exp(0) is rational: it could be an end that is left out.
    within = "E" not in box or (exponent and encloses_exp(exponent, *box["E"]))
    if exponent is not None and not (names[-1:] == ("E",) and within):
        raise Rejected(f"the interval of E is not shown to contain exp({exponent})")
    return WrittenClaim(
        Goal(names, parse(claim["polynomial"], names), box, conditions, frozenset(ends), ties=ties), exponent
    )


def read_domain(domain: Any) -> WrittenClaim:
    """Reads a domain, as the claim that 0 is not negative there.

    Raises:
        Rejected: it is none.
    """
    return read_claim({**domain, "polynomial": "0"})


def _read_ties(claim: Any, names: tuple[str, ...], box: Box) -> tuple[Tie, ...]:
    """Reads which variables stand for the logarithms of which others."""
    ties = tuple(Tie(n, of, number(step)) for n, (of, step) in claim.get("ties", {}).items())
    for tie in ties:
        if tie.name not in names or tie.name in box or tie.variable not in box or tie.step <= 0:
            raise Rejected(f"{tie.name} and {tie.variable} are tied in an unknown way")
        low, high = box[tie.variable]
        if low < 0 or high > 1:
            raise Rejected(f"{tie.name} is a logarithm of numbers beyond (0, 1]")
    if len({t.variable for t in ties}) < len(ties) or "E" in {t.name for t in ties}:
        raise Rejected("two variables are tied to one")
    return ties


def check_claim(claim: Any, proof: Any, lemmas: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """Checks that a proof shows a claim; returns the solvers that it trusts, none if it is replayed in full.

    `lemmas` are proved statements by name that the proof may refer to, as claims.

    Raises:
        Rejected: the proof does not show the claim, or one of them is malformed.
    """
    check(proof, evidence_shapes.proof)
    statement = read_claim(claim)
    known = {name: read_claim(lemma) for name, lemma in (lemmas or {}).items()}
    context = Context(statement.exponent, known)
    replay(statement.goal, proof, context)
    return tuple(sorted(context.trusted))


def replay(goal: Goal, proof: Any, context: Context) -> None:
    """Replays a proof of the form that `evidence_shapes` gives.

    Raises:
        Rejected: it does not show the goal.
    """
    try:
        prove(goal, proof, context)
    except MALFORMED as error:
        raise Rejected(f"malformed proof: {error!r:.200}") from error


def check_fails(claim: WrittenClaim, point: Mapping[str, str]) -> None:
    """Checks that a claim fails at a rational point of its domain; E is the number that it stands for.

    Raises:
        Rejected: it does not fail there, or the point is not in the domain.
    """
    check_fails_at(claim, point.keys(), signs_at(claim, point))


def check_inside(domain: WrittenClaim, point: Mapping[str, str]) -> None:
    """Checks that a point is in the domain of a claim.

    Raises:
        Rejected: it is not, or gives other parameters.
    """
    _check_inside_at(domain, point.keys(), signs_at(domain, point))


def check_fails_at(claim: WrittenClaim, named: Iterable[str], sign: Sign) -> None:
    """Checks that a claim fails at a point of its domain that names some variables, and gives all signs."""
    _check_inside_at(claim, named, sign)
    if sign(claim.goal.poly) >= 0:
        raise Rejected("the claim does not fail at the witness")


def _check_inside_at(domain: WrittenClaim, named: Iterable[str], sign: Sign) -> None:
    goal = domain.goal
    tied = {tie.name for tie in goal.ties} | ({"E"} if domain.exponent is not None else set())
    free = [n for n in goal.names if n not in tied]
    if set(named) != set(free):
        raise Rejected(f"a point must give {', '.join(free) or 'no parameter'}, and nothing else")
    for name, side in product(free, (0, 1)):
        away = sign(plus(goal.variable(name), constant(goal.box[name][side], len(goal.names)), -ONE))
        if (-away if side else away) < ((name, side) in goal.open):
            raise Rejected(f"the witness is outside the domain: {name}")
    for tie in goal.ties:
        if not sign(goal.variable(tie.variable)):
            raise Rejected(f"the witness is outside the domain: {tie.variable} has no logarithm there")
    for poly, strict in filter(None, goal.conditions):
        if sign(poly) < strict:
            raise Rejected("the witness violates a constraint of the domain")


def signs_at(claim: WrittenClaim, point: Mapping[str, str]) -> Sign:
    """Returns what finds the signs of polynomials at a point, which gives what is no constant and not tied.

    With what the point gives, a polynomial is one in E, or in logarithms: it is enclosed until it has a sign.
    """
    goal, ties = claim.goal, {tie.name: tie for tie in claim.goal.ties}
    values = {name: number(text) for name, text in point.items()}

    def sign(poly: Poly) -> int:
        left = left_at(goal, poly, values)
        if not replace(goal, poly=poly, conditions=()).tied:
            return sign_in_exp({sum(powers): c for powers, c in left.items()}, claim.exponent)
        if claim.exponent is not None:
            raise Rejected("a sign with both exp and a logarithm is not decided")
        return sign_of_logs(left, [1 / values[ties[n].variable] for n in goal.names if n not in values])

    return sign


def left_at(goal: Goal, poly: Poly, values: Mapping[str, Fraction]) -> Poly:
    """Returns what a polynomial is at a point: one in the constant, or in logarithms that are tied."""
    ties = {tie.name: tie for tie in goal.ties}
    found: Poly = {}
    for monomial, c in poly.items():
        for name, exponent in zip(goal.names, monomial, strict=True):
            if name in values:
                c *= values[name] ** exponent
            if name in ties:
                c /= ties[name].step ** exponent
        add(found, tuple(e for n, e in zip(goal.names, monomial, strict=True) if n not in values), c)
    return found
