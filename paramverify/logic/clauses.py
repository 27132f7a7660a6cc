"""Formulas that are true at every parameter point, but by different parts of them at different points.

A state formula is turned into clauses: disjunctions of comparisons f ≥ 0 and f > 0 and of their negations. A
clause l_1 ∨ ... ∨ l_n holds at every point of the domain iff l_n does at every point where l_1, ..., l_{n−1}
fail. That is a claim over a domain with more constraints.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from paramverify.algebra.domains import Constraint
from paramverify.algebra.polynomials import Polynomial
from paramverify.answers import Proved
from paramverify.claims import Claim, Origin, positive, without_enclosure
from paramverify.logic.judges import ClaimJudge
from paramverify.logic.semantics import Semantics, Truth
from paramverify.logic.syntax import Formula, Junction, Junctor, Not, Private, Probability

MAX_CLAUSES = 64
MAX_LITERALS = 6


@dataclass(frozen=True, eq=False)
class PolynomialLiteral:
    """polynomial ≥ 0, or > 0 where strict."""

    polynomial: Polynomial
    strict: bool
    origin: Origin

    def negated(self) -> PolynomialLiteral:
        """Returns the opposite: −polynomial > 0, or ≥ 0 where this is strict."""
        return PolynomialLiteral(-self.polynomial, not self.strict, self.origin)


Clause = tuple[PolynomialLiteral, ...]


def holds_by_cases(semantics: Semantics, judge: ClaimJudge, formula: Formula, state: int) -> bool:
    """Tells whether a formula was proved to hold in a state at every point of the domain."""
    clauses = _clauses(semantics, judge, formula, state, False)
    return clauses is not None and all(_holds(judge, clause) for clause in clauses)


def _clauses(
    semantics: Semantics, judge: ClaimJudge, formula: Formula, state: int, negative: bool
) -> list[Clause] | None:
    """Returns the conjunctive normal form of a formula or of its negation; None if it is too large."""
    if isinstance(formula, Not):
        return _clauses(semantics, judge, formula.inner, state, not negative)
    if isinstance(formula, Junction):
        parts = [_clauses(semantics, judge, part, state, negative) for part in formula.parts]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        if (formula.operator is Junctor.AND) != negative:
            return [clause for part in known for clause in part]
        result: list[Clause] = [()]
        for part in known:
            result = [(*left, *right) for left in result for right in part]
            if len(result) > MAX_CLAUSES or any(len(clause) > MAX_LITERALS for clause in result):
                return None
        return result
    if not isinstance(formula, (Private, Probability)):
        holds = semantics.truth(formula, [state])[state] is Truth.YES
        return [] if holds != negative else [()]
    literals: list[PolynomialLiteral] = []
    for comparison in semantics.comparisons(formula, [state]):
        if comparison.probabilities.method.is_sufficient:
            return None  # sufficient only, so its negation says nothing
        origin = comparison.origin(judge.chain)
        literals.append(PolynomialLiteral(judge.polynomial(comparison), comparison.strict, origin))
    if negative:
        return [tuple(literal.negated() for literal in literals)]
    return [(literal,) for literal in literals]


def _holds(judge: ClaimJudge, clause: Clause) -> bool:
    """Proves a clause: its last literal where all others fail."""
    if not clause or len(clause) > MAX_LITERALS:
        return False
    *others, last = clause
    added = tuple(
        Constraint(c.polynomial, c.strict, f"{c.polynomial} {'>' if c.strict else '>='} 0")
        for c in (literal.negated() for literal in others)
    )
    domain = judge.chain.domain
    domain = replace(domain, constraints=(*domain.constraints, *added))
    claim = Claim(last.polynomial, domain, (last.origin,))
    if last.strict:
        claim = positive(last.polynomial, domain, origins=(last.origin,))
    decision = judge.session.decide(without_enclosure(claim))
    return isinstance(decision.answer, Proved)
