"""Statements about sets of outputs: Σ max(0, tᵢ) ≤ room, shown by trees of cuts.

Of all sets S of outputs, Pr(S | left) − c·Pr(S | right) is largest for the outputs that are more than c times
as likely under the left secret. So an (ε, δ) claim of one direction says: for every point of the domain,
room − Σ max(0, tᵢ) ≥ 0.

A tree shows that, in preorder. It begins with the whole domain D and the goal f = room with all terms open:

["+", i, proof]   tᵢ ≥ 0 is shown on this part of D: the term counts, f becomes f − tᵢ.
["-", i, proof]   tᵢ ≤ 0 is shown: the term is 0.
["<", i, u, p, q] u ≥ 0 (proof p) and u − tᵢ ≥ 0 (proof q) are shown: max(0, tᵢ) ≤ u, f becomes f − u.
["cut", x, a]     the box is cut at x = a; the part below comes next.
["sign", g]       D is cut by the sign of a polynomial: the part with g ≥ 0 comes next, then that with −g ≥ 0.
                  Each condition is the last constraint of its part.
["free"]          the conditions of cuts by signs are forgotten: what is shown then is about more points.
a proof           no term is open any more, and f ≥ 0 is shown on this part of D.
["claim", k]      in a map of parameters: no term is open any more, and f is the claim number k of the map.

All parts of a cut together are what was cut, and on each part f is room − Σ max(0, tᵢ) where its conditions
hold, or less. A witness is a point of D where the sum is larger than room, evaluated exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .claim_evidence import check_inside, signs_at
from .evidence_polynomials import ONE, Poly, number, parse, plus
from .ledger import Evidence, Followed, Statement
from .proof_goals import Context, Goal, WrittenClaim
from .proof_rules import prove
from .proof_trees import follow as follow_steps
from .strict_reading import Misformed, Rejected
from .witness_numbers import Exponential, read_bound, read_chances, read_value


@dataclass(frozen=True)
class DomainPart:
    """A part of the domain, what is to be shown there, and the numbers of the terms that are open."""

    goal: Goal
    open: frozenset[int]


def follow(about: Evidence, statement: Statement) -> Followed:
    """Checks that the tree of a statement shows it.

    Raises:
        Rejected: it does not.
    """
    about.untied(statement["domain"])
    return Followed(check_tree(about.domain(statement["domain"]), statement))


def check_tree(
    domain: WrittenClaim, statement: Statement, at_claim: Callable[[Goal, int], None] | None = None
) -> set[str]:
    """Checks that a tree shows a statement on its domain; returns the solvers that it trusts.

    In a map of parameters, `at_claim` gets the number at each leaf, and the goal there: its polynomial is
    room − Σ max(0, tᵢ) on that part of the domain.

    Raises:
        Rejected: it does not, or a leaf is one of the other kind.
    """
    names = domain.goal.names
    terms = [parse(text, names) for text in statement["terms"]]
    context = Context(domain.exponent)
    base = len(domain.goal.conditions)

    def step(part: DomainPart, token: Any) -> Iterable[DomainPart]:
        if isinstance(token, dict) or token[0] == "claim":
            if part.open:
                raise Rejected("the sign of a term is not shown at a leaf")
            if isinstance(token, dict) != (at_claim is None):
                raise Rejected("a leaf of the tree is no proof, or names no claim of a map")
            if at_claim is None:
                prove(part.goal, token, context)
            else:
                at_claim(part.goal, token[1])
            return ()
        if token[0] in ("+", "-", "<"):
            return (_counted(part, token, terms, context),)
        goal = part.goal
        if token[0] == "free":
            return (replace(part, goal=replace(goal, conditions=goal.conditions[:base])),)
        if token[0] == "cut":
            return (DomainPart(side, part.open) for side in goal.cut(token[1], number(token[2])))
        g = parse(token[1], names)
        signed = (plus({}, g, sign) for sign in (ONE, -ONE))
        return (replace(part, goal=replace(goal, conditions=(*goal.conditions, (h, False)))) for h in signed)

    whole = domain.goal.about(parse(statement["room"], names))
    follow_steps(statement["tree"], DomainPart(whole, frozenset(range(len(terms)))), step)
    return context.trusted


def _counted(part: DomainPart, token: Any, terms: list[Poly], context: Context) -> DomainPart:
    """Returns the part in which an open term t counts as u, where u ≥ 0 and u − t ≥ 0 are shown.

    For "+" it is t itself, and for "-" it is 0: then one of both is plain.
    """
    kind, index, *proofs = token
    if index not in part.open:
        raise Rejected(f"term {index} is not open")
    t, goal = terms[index], part.goal
    if kind == "<":
        written, *proofs = proofs
    u = parse(written, goal.names) if kind == "<" else t if kind == "+" else {}
    needs = {"+": [u], "-": [plus(u, t, -ONE)], "<": [u, plus(u, t, -ONE)]}
    for poly, proof in zip(needs[kind], proofs, strict=True):
        prove(goal.about(poly), proof, context)
    return DomainPart(goal.about(plus(goal.poly, u, -ONE)), part.open - {index})


# --- witnesses ---------------------------------------------------------------------------------------


def refute(about: Evidence, witness: Mapping[str, Any]) -> list[str]:
    """Checks that the statement of a witness fails at its point, and that its numbers agree with each other.

    Raises:
        Rejected: it does not, or they do not.
    """
    claim = witness["claim"]
    about.untied(claim["domain"])
    domain = about.domain(claim["domain"])
    check_inside(domain, witness["parameters"])
    if not is_broken(domain, claim, witness["parameters"]):
        raise Rejected("the claim does not fail at the witness")
    check_set(witness, domain.exponent)
    return []


def is_broken(domain: WrittenClaim, claim: Statement, point: Mapping[str, str]) -> bool:
    """Tells exactly whether Σ max(0, tᵢ) > room at a point."""
    sign = signs_at(domain, point)
    rest = parse(claim["room"], domain.goal.names)
    for text in claim["terms"]:
        term = parse(text, domain.goal.names)
        if sign(term) > 0:
            rest = plus(rest, term, -ONE)
    return sign(rest) < 0


def check_set(witness: Mapping[str, Any], exponent: Fraction | None) -> None:
    """Checks the numbers of a set of outputs against each other.

    Raises:
        Rejected: they contradict each other, or do not say that the set is too likely.
    """
    outputs = [tuple(output) for output in witness["outputs"]]
    if {len(output) for output in outputs} != {witness["length"]}:
        raise Misformed("outputs have another length, or there are none", "witness", "outputs")
    if len(set(outputs)) < len(outputs):
        raise Misformed("an output is listed twice", "witness", "outputs")
    of = None if exponent is None else Exponential(exponent)
    left, right = read_chances(witness, of)
    bound, delta, beyond = (
        read_bound(witness, of),
        *(read_value(witness[k], of, k) for k in ("delta", "beyond")),
    )
    if delta.sign() < 0:
        raise Misformed("negative", "witness", "delta")
    if left.minus(bound.by(right)).minus(beyond).sign():
        raise Misformed("not the left probability minus bound times the right one", "witness", "beyond")
    if beyond.minus(delta).sign() <= 0 or witness["exceeds"] is not True:
        raise Misformed("the set is within the bounds, so nothing is violated", "witness")
