"""Deciding comparisons of probabilities, one by one or by different parts of a formula, and what comes
nearest to them.

Deciding comparisons of probabilities: exactly where there are no parameters, else as claims of the
portfolio.

Formulas that are true at every parameter point, but by different parts of them at different points.

A state formula is turned into clauses: disjunctions of comparisons f ≥ 0 and f > 0 and of their negations. A
clause l_1 ∨ ... ∨ l_n holds at every point of the domain iff l_n does at every point where l_1, ..., l_{n−1}
fail. That is a claim over a domain with more constraints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from paramverify.algebra.domains import Constraint
from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    constant_value,
    is_constant,
    key,
    primitive,
    rational,
)
from paramverify.answers import Decision, Open, Proved, Refuted
from paramverify.claims import Claim, Origin, positive, without_enclosure
from paramverify.errors import ModelError, UnsupportedError
from paramverify.logic.formula_syntax import Formula, Junction, Junctor, Not, Private, Probability
from paramverify.logic.semantics import ProbabilityComparison, Semantics, Truth, real, sign
from paramverify.models.chains.markov_chains import Chain, Value
from paramverify.models.context import Checks
from paramverify.portfolio.session import Session

MAX_CLAIMS = 300  # claims about numbers that are kept as evidence; all of them are decided
BITS = 64


@dataclass
class Collected:
    """Claims by their polynomial; `count` comparisons gave them, the first of each kind names it."""

    claims: dict[str, Claim] = field(default_factory=dict)
    count: int = 0
    complete: bool = True

    def add(self, polynomial: Polynomial, chain: Chain, origin: Origin) -> Claim:
        """Returns the claim that a polynomial is nonnegative on the domain."""
        _, polynomial = primitive(polynomial)
        name = key(polynomial)
        if name not in self.claims:
            self.claims[name] = Claim(polynomial, chain.domain, (origin,))
        return self.claims[name]


@dataclass
class ExactJudge:
    """Judges comparisons without parameters by exact arithmetic; keeps the first failure of each formula.

    Of the `denied` formulas the opposite is what has to hold: its claims are kept.
    """

    chain: Chain
    denied: frozenset[str] = frozenset()
    collected: Collected = field(default_factory=Collected)
    failures: dict[str, ProbabilityComparison] = field(default_factory=dict)
    _memory: dict[object, Truth] = field(default_factory=dict)
    _bounds: dict[int, tuple[Value, Value, Value] | None] = field(default_factory=dict)
    _formulas: dict[int, object] = field(default_factory=dict)  # kept, so that their ids stay theirs

    def judge(self, comparison: ProbabilityComparison) -> Truth:
        """Returns yes or no."""
        number = id(comparison.formula)
        self._formulas[number] = comparison.formula
        same = (number, _key(comparison.left), _key(comparison.right))
        found = self._memory.get(same)
        if found is None:
            found = self._memory[same] = self._judge(comparison)
        self.collected.count += 1
        if found is Truth.NO:
            self.failures.setdefault(str(comparison.formula), comparison)
        return found

    def _judge(self, comparison: ProbabilityComparison) -> Truth:
        """Decides a comparison; it becomes evidence unless there is very much of that.

        Pr(t) ≥ 0, so with an enclosure of e^ε it holds if it does at the lower end, and fails if it fails at
        the upper end. A nonzero polynomial in `E` is not zero (Lindemann), so a strict comparison needs no
        claim of its own.
        """
        ring = self.chain.domain.ring
        bounds = self._enclosure(comparison)
        if bounds is not None:
            low, high, delta = bounds
            least = low * comparison.right + delta - comparison.left
            most = least if high is low else high * comparison.right + delta - comparison.left
            settled = least >= 0 or most < 0
            if high is low:
                sign_of = int(least > 0) - int(least < 0)
                self._collect(ring.number(sign_of), sign_of, comparison)
                return Truth.YES if sign_of >= 0 else Truth.NO
            if settled and len(self.collected.claims) >= MAX_CLAIMS:
                self.collected.complete = False
                return Truth.YES if least >= 0 else Truth.NO
        difference = comparison.difference(ring)
        found = sign(difference, ring)
        polynomial = difference.numerator
        if sign(RationalFunction.of(difference.denominator), ring) < 0:
            polynomial = -polynomial
        if len(self.collected.claims) < MAX_CLAIMS:
            self._collect(polynomial, found, comparison)
        else:
            self.collected.complete = False
        return Truth.YES if found > 0 or (found == 0 and not comparison.strict) else Truth.NO

    def _collect(self, polynomial: Polynomial, found: int, comparison: ProbabilityComparison) -> None:
        """Keeps a comparison as a claim, unless it is a sufficient condition that fails."""
        if str(comparison.formula) in self.denied:
            self.collected.add(-polynomial, self.chain, comparison.origin(self.chain))
        elif found >= 0 or not comparison.probabilities.method.is_sufficient:
            self.collected.add(polynomial, self.chain, comparison.origin(self.chain))

    def _enclosure(self, comparison: ProbabilityComparison) -> tuple[Value, Value, Value] | None:
        if not (self.chain.numeric and isinstance(comparison.formula, Private)):
            return None
        number = id(comparison.formula)
        if number not in self._bounds:
            self._bounds[number] = _enclosed(comparison, self.chain)
        return self._bounds[number]


def _enclosed(comparison: ProbabilityComparison, chain: Chain) -> tuple[Value, Value, Value] | None:
    """Returns rational bounds of e^ε, and δ."""
    ratio, delta = comparison.ratio, comparison.delta
    if not (is_constant(delta.numerator) and is_constant(delta.denominator)):
        return None
    shift = rational(constant_value(delta.numerator) / constant_value(delta.denominator))
    if is_constant(ratio.numerator) and is_constant(ratio.denominator):
        number = rational(constant_value(ratio.numerator) / constant_value(ratio.denominator))
        return number, number, shift
    constant = chain.domain.constant
    if constant is None or not is_constant(ratio.denominator) or len(ratio.numerator) != 1:
        return None
    low, high = constant.enclosure(BITS)
    power = int(max(ratio.numerator.degrees()))
    factor = ratio.numerator.leading_coefficient() / rational(constant_value(ratio.denominator))
    return factor * rational(low) ** power, factor * rational(high) ** power, shift


def _key(value: Value) -> object:
    return str(value) if isinstance(value, RationalFunction) else value


@dataclass
class ClaimJudge:
    """Judges comparisons at every point of the domain, by the claims of the project.

    A refuted claim leaves its point in `points`. With `negations` a comparison that fails at some point is
    also tried to be refuted at every point. Denominators are cleared under signs that `checks` proves, or
    leaves as obligations.
    """

    chain: Chain
    session: Session
    checks: Checks
    negations: bool
    collected: Collected = field(default_factory=Collected)
    points: list[Mapping[str, Fraction]] = field(default_factory=list)
    reasons: list[Open] = field(default_factory=list)
    decisions: dict[str, Decision] = field(default_factory=dict)
    _signs: dict[str, Polynomial] = field(default_factory=dict)
    _memory: dict[tuple[str, bool], Truth] = field(default_factory=dict)

    def judge(self, comparison: ProbabilityComparison) -> Truth:
        """Returns yes if it is proved at every point, no if the opposite is, else open."""
        polynomial = self.polynomial(comparison)
        same = (key(polynomial), comparison.strict)
        self.collected.count += 1
        if same not in self._memory:
            self._memory[same] = self._judge(polynomial, comparison)
        return self._memory[same]

    def polynomial(self, comparison: ProbabilityComparison) -> Polynomial:
        """Returns a polynomial whose sign is that of the comparison's difference at every point."""
        difference = comparison.difference(self.chain.domain.ring)
        polynomial = difference.numerator
        if self.oriented(difference.denominator) != difference.denominator:
            polynomial = -polynomial
        return primitive(polynomial)[1]

    def guard(self, value: Value) -> None:
        """Demands that a function of the parameters is positive on the whole domain.

        Raises:
            UnsupportedError: it is zero or negative somewhere.
        """
        if not isinstance(value, RationalFunction):
            return
        polynomial = value.numerator * value.denominator
        if is_constant(polynomial) and constant_value(polynomial) > 0:
            return
        try:
            positive = self.oriented(polynomial) == polynomial
        except ModelError as error:
            raise UnsupportedError(
                "an unbounded path formula on a cycle needs probabilities that are positive on the "
                f"whole domain: {error}"
            ) from None
        if not positive:
            raise UnsupportedError(f"{value} is negative on the domain")

    def oriented(self, polynomial: Polynomial) -> Polynomial:
        """Returns the polynomial or its negative, whichever is positive on the domain."""
        name = key(polynomial)
        if name not in self._signs:
            self._signs[name] = self.checks.positive(polynomial, f"{polynomial}")
        return self._signs[name]

    def _judge(self, polynomial: Polynomial, comparison: ProbabilityComparison) -> Truth:
        origins = (comparison.origin(self.chain),)
        claim = self._claim(polynomial, comparison.strict, origins)
        decision = self.session.decide(claim)
        found = decision.answer
        if isinstance(found, Proved):
            name = claim.text()
            self.collected.claims.setdefault(name, claim)
            self.decisions[name] = decision
            return Truth.YES
        if isinstance(found, Refuted):
            self.points.append(found.point)
        elif isinstance(found, Open):
            self.reasons.append(found)
        if self.negations:
            opposite = self._claim(-polynomial, not comparison.strict, origins)
            decision = self.session.decide(opposite)
            if isinstance(decision.answer, Proved):
                self.collected.claims.setdefault(opposite.text(), opposite)
                self.decisions[opposite.text()] = decision
                return Truth.NO
        return Truth.OPEN

    def _claim(self, polynomial: Polynomial, strict: bool, origins: tuple[Origin]) -> Claim:
        """Returns the claim that f ≥ 0, or f > 0, on the whole domain."""
        if strict:
            return without_enclosure(positive(polynomial, self.chain.domain, origins=origins))
        return Claim(polynomial, self.chain.domain, origins)


def nearest(semantics: Semantics, denied: Probability, state: int) -> ProbabilityComparison:
    """Returns the opposite comparison for the scheduler that comes nearest to it.

    `denied` holds under every scheduler, so its opposite, such as `Pmax>=1/2`, is false: for the largest
    probability where it is a lower bound, and else for the least one. The model has no parameters.
    """
    ring = semantics.chain.domain.ring
    asked = replace(denied, comparison=denied.comparison.opposite)
    found = [
        replace(comparison, formula=asked, strict=asked.comparison.is_strict)
        for probabilities in semantics.probabilities(denied, [state])
        for comparison in semantics.of(denied, [state], probabilities)
    ]
    best = found[0]
    for other in found[1:]:
        if (real(other.difference(ring), ring) - real(best.difference(ring), ring)).sign() > 0:
            best = other
    return best


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
