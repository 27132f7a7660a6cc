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

from .claim_evidence import check_inside
from .evidence_polynomials import ONE, Poly, number, parse, plus
from .ledger import Evidence, Followed, Statement
from .proof_goals import Context, Goal, WrittenClaim
from .proof_rules import prove
from .proof_trees import cut
from .proof_trees import follow as follow_steps
from .rounded_constants import sign_in_exp
from .strict_reading import Misformed, Rejected
from .witness_numbers import Value, rational, read_value


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


def check_tree(domain: WrittenClaim, statement: Statement) -> set[str]:
    """Checks that a tree shows a statement on its domain; returns the solvers that it trusts.

    Raises:
        Rejected: it does not.
    """

    def at_leaf(goal: Goal, token: Any, context: Context) -> None:
        if not isinstance(token, dict):
            raise Rejected("a leaf of the tree is no proof")
        prove(goal, token, context)

    return follow_tree(domain, statement, at_leaf)


def follow_tree(
    domain: WrittenClaim, statement: Statement, at_leaf: Callable[[Goal, Any, Context], None]
) -> set[str]:
    """Follows the tree of a statement; returns the solvers that it trusts.

    `at_leaf` gets each part of the domain, on which no term is open, with its goal: there room −
    Σ max(0, tᵢ) is that polynomial.

    Raises:
        Rejected: the tree is none, or a sign is not shown.
    """
    names = domain.goal.names
    terms = [parse(text, names) for text in statement["terms"]]
    context = Context(domain.exponent)
    base = len(domain.goal.conditions)

    def step(part: DomainPart, token: Any) -> Iterable[DomainPart]:
        if isinstance(token, dict) or token[0] == "claim":
            if part.open:
                raise Rejected("the sign of a term is not shown at a leaf")
            at_leaf(part.goal, token, context)
            return ()
        if token[0] in ("+", "-"):
            return (_with_sign(part, token, terms, context),)
        if token[0] == "<":
            return (_estimated(part, token, terms, context),)
        goal = part.goal
        if token[0] == "free":
            return (replace(part, goal=replace(goal, conditions=goal.conditions[:base])),)
        if token[0] == "cut":
            return (DomainPart(side, part.open) for side in cut(goal, token[1], token[2]))
        g = parse(token[1], names)
        signed = (plus({}, g, sign) for sign in (ONE, -ONE))
        return (replace(part, goal=replace(goal, conditions=(*goal.conditions, (h, False)))) for h in signed)

    whole = domain.goal.about(parse(statement["room"], names))
    follow_steps(statement["tree"], DomainPart(whole, frozenset(range(len(terms)))), step)
    return context.trusted


def _with_sign(part: DomainPart, token: Any, terms: list[Poly], context: Context) -> DomainPart:
    """Returns the part with a term whose sign is shown."""
    _, index, proof = token
    if index not in part.open:
        raise Rejected(f"term {index} is not open")
    positive = token[0] == "+"
    prove(part.goal.about(plus({}, terms[index], ONE if positive else -ONE)), proof, context)
    goal = part.goal
    if positive:
        goal = goal.about(plus(goal.poly, terms[index], -ONE))
    return DomainPart(goal, part.open - {index})


def _estimated(part: DomainPart, token: Any, terms: list[Poly], context: Context) -> DomainPart:
    """Returns the part with a term that is shown to be at most a polynomial u ≥ 0, which counts instead."""
    _, index, written, positive, above = token
    if index not in part.open:
        raise Rejected(f"term {index} is not open")
    u = parse(written, part.goal.names)
    prove(part.goal.about(u), positive, context)
    prove(part.goal.about(plus(u, terms[index], -ONE)), above, context)
    return DomainPart(part.goal.about(plus(part.goal.poly, u, -ONE)), part.open - {index})


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
    names = domain.goal.names
    values = {name: number(text) for name, text in point.items()}

    def at(text: str) -> dict[int, Fraction]:
        """Returns the coefficients in E."""
        found: dict[int, Fraction] = {}
        for x, c in parse(text, names).items():
            power = 0
            for name, exponent in zip(names, x, strict=True):
                if name == "E" and domain.exponent is not None:
                    power = exponent
                else:
                    c *= values[name] ** exponent
            found[power] = found.get(power, Fraction(0)) + c
        return found

    total = {power: -c for power, c in at(claim["room"]).items()}
    for term in map(at, claim["terms"]):
        if sign_in_exp(term, domain.exponent) > 0:
            for power, c in term.items():
                total[power] = total.get(power, Fraction(0)) + c
    return sign_in_exp(total, domain.exponent) > 0


def check_set(witness: Mapping[str, Any], exponent: Fraction | None) -> None:
    """Checks the numbers of a set of outputs against each other.

    Raises:
        Rejected: they contradict each other, or do not say that the set is too likely.
    """
    outputs = [tuple(output) for output in witness["outputs"]]
    if {len(output) for output in outputs} != {witness["length"]}:
        raise Misformed("outputs of another length, or none", "witness", "outputs")
    if len(set(outputs)) < len(outputs):
        raise Misformed("an output is there twice", "witness", "outputs")
    left, right = (_chance(p, exponent, k) for k, p in enumerate(witness["probabilities"]))
    bound, delta, beyond = (read_value(witness[k], exponent, k) for k in ("bound", "delta", "beyond"))
    if bound.sign() <= 0:
        raise Misformed("not positive", "witness", "bound")
    if delta.sign() < 0:
        raise Misformed("negative", "witness", "delta")
    if left.minus(bound.by(right)).minus(beyond).top:
        raise Misformed("not the left probability minus bound times the right one", "witness", "beyond")
    if beyond.minus(delta).sign() <= 0 or witness["exceeds"] is not True:
        raise Misformed("the set is within the bounds", "witness")


def _chance(given: Any, exponent: Fraction | None, k: int) -> Value:
    value = read_value(given, exponent, "probabilities", k)
    if value.sign() < 0 or value.minus(rational(1)).sign() > 0:
        raise Misformed("not between 0 and 1", "witness", "probabilities", k)
    return value
