"""What solvers are asked, as formulas of PySMT: the one form that all solvers, and files for them, come from.

A claim is asked as its negation, "some point of the domain has f < 0": unsatisfiable means that it holds.
Coefficients are whole numbers (each inequality is multiplied by a positive number), powers are products, and
there are no divisions, so nothing depends on how a solver reads decimals, powers or division by zero.
Variables that occur neither in f nor in a constraint are left out: their intervals are not empty, so this
changes neither answer.

Programs for quantifier elimination are asked a `QuantifiedImplication`, with the quantifiers of PySMT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from paramverify.algebra.domains import Domain, Interval, refuse_ties
from paramverify.algebra.polynomials import Polynomial, primitive, variables
from paramverify.claims import Claim
from paramverify.errors import DefectError, LimitError
from paramverify.formats.quantified_questions import (
    AndCondition,
    Condition,
    NotCondition,
    PolynomialComparison,
    QuantifiedImplication,
    stated_constraints,
)

if TYPE_CHECKING:
    from pysmt.environment import Environment
    from pysmt.fnode import FNode

MAX_FACTORS = 5_000_000  # factors that all products of one polynomial have together


@dataclass(frozen=True)
class SolverFormula:
    """Assertions that hold together, in a PySMT environment of their own.

    `symbols` are those of the variables by their names. `definitions` give names to terms.
    """

    environment: Environment
    symbols: Mapping[str, FNode]
    assertions: Sequence[FNode]
    definitions: Sequence[tuple[FNode, FNode]] = ()

    @property
    def formula(self) -> FNode:
        """All of it as one formula."""
        manager = self.environment.formula_manager
        return manager.And([*(manager.Equals(s, term) for s, term in self.definitions), *self.assertions])


@dataclass(frozen=True)
class QuantifiedFormula:
    """A question as a formula with quantifiers, and what its free parameters are assumed to satisfy."""

    question: FNode
    assumptions: FNode | None


class _Builder:
    """Makes formulas about named real variables in one environment."""

    def __init__(self, names: Mapping[str, str] | Iterable[str]) -> None:
        from pysmt.environment import Environment
        from pysmt.typing import REAL

        written = names if isinstance(names, Mapping) else dict(zip(names, names, strict=True))
        self.environment = Environment()
        self.manager = manager = self.environment.formula_manager
        self.symbols = {name: manager.Symbol(text, REAL) for name, text in written.items()}
        self.relations: dict[str, Callable[[FNode, FNode], FNode]] = {
            "<": manager.LT,
            "<=": manager.LE,
            ">": manager.GT,
            ">=": manager.GE,
            "=": manager.Equals,
            "!=": lambda left, right: manager.Not(manager.Equals(left, right)),
        }

    def number(self, value: int) -> FNode:
        return self.manager.Real(Fraction(value))

    def total(self, terms: Sequence[tuple[int, Sequence[str]]]) -> FNode:
        """Returns a sum of products, each a whole number and its factors."""
        parts = [self.product(*term) for term in terms] or [self.number(0)]
        return self.manager.Plus(parts) if len(parts) > 1 else parts[0]

    def product(self, coefficient: int, factors: Sequence[str]) -> FNode:
        parts = [self.number(coefficient)] if coefficient != 1 or not factors else []
        parts += [self.symbols[name] for name in factors]
        return self.manager.Times(parts) if len(parts) > 1 else parts[0]

    def comparison(self, polynomial: Polynomial, relation: str) -> FNode:
        """Returns the comparison of a polynomial with zero, its constant term moved to the other side."""
        # The content that is divided out is positive, so the relation to zero stays.
        monomials = list(terms(primitive(polynomial)[1]))
        bound = -sum(c for c, factors in monomials if not factors)
        moved = self.total([(c, factors) for c, factors in monomials if factors])
        return self.relations[relation](moved, self.number(bound))

    def inside(self, domain: Domain) -> Iterator[FNode]:
        """Yields the ends of the intervals and the constraints: together they say where the domain is."""
        for name in self.symbols:
            if name not in domain.box:
                raise DefectError(f"the domain has no interval for {name}")
            yield from self.ends(name, domain.box[name])
        for constraint in stated_constraints(domain.constraints):
            yield self.comparison(constraint.polynomial, constraint.relation)

    def ends(self, name: str, interval: Interval) -> Iterator[FNode]:
        """Yields `b·x (relation) a` for each end a/b of the interval."""

        def against(end: Fraction, relation: str) -> FNode:
            return self.relations[relation](
                self.product(end.denominator, (name,)), self.number(end.numerator)
            )

        if interval.is_point:
            yield against(interval.lower, "=")
            return
        yield against(interval.lower, ">=" if interval.lower_closed else ">")
        yield against(interval.upper, "<=" if interval.upper_closed else "<")

    def condition(self, condition: Condition) -> FNode:
        """Returns a condition of comparisons with zero."""
        if isinstance(condition, PolynomialComparison):
            total = self.total(list(terms(condition.polynomial)))
            return self.relations[condition.relation](total, self.number(0))
        if isinstance(condition, NotCondition):
            return self.manager.Not(self.condition(condition.part))
        join = self.manager.And if isinstance(condition, AndCondition) else self.manager.Or
        return join([self.condition(part) for part in condition.parts])


def terms(polynomial: Polynomial) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yields the monomials of a polynomial with whole coefficients: each number with its factors.

    Raises:
        LimitError: there are too many factors.
    """
    if sum(int(power) + 1 for powers in polynomial.monoms() for power in powers) > MAX_FACTORS:
        raise LimitError(f"a polynomial needs more than {MAX_FACTORS} factors to be written with products")
    names = [str(n) for n in polynomial.context().names()]
    for powers, coefficient in polynomial.to_dict().items():
        factors = (name for name, power in zip(names, powers, strict=True) for _ in range(int(power)))
        yield int(coefficient.p), tuple(factors)


def occurring(claim: Claim, *others: Claim) -> tuple[str, ...]:
    """Returns the variables that occur in a polynomial or in a constraint, in the order of the ring.

    Raises:
        UnsupportedError: a parameter stands beside its exponential.
    """
    polynomials = [c.polynomial for c in (claim, *others)]
    polynomials += [c.polynomial for c in claim.domain.constraints]
    refuse_ties(claim.domain.ring, polynomials, "a formula in QF_NRA")
    used = {name for polynomial in polynomials for name in variables(polynomial)}
    return tuple(name for name in claim.domain.ring.names if name in used)


def violated(claim: Claim, *others: Claim) -> SolverFormula:
    """Returns that some point of the domain violates the claim, or one of several about the same domain.

    The formula is satisfiable over the reals iff some claim is violated at some real point of the domain.

    Raises:
        LimitError: a polynomial is too large to be written with products.
        UnsupportedError: a parameter stands beside its exponential.
    """
    build = _Builder(occurring(claim, *others))
    fails = [build.comparison(each.polynomial, "<") for each in (claim, *others)]
    found = build.manager.Or(fails) if others else fails[0]
    return SolverFormula(build.environment, build.symbols, (*build.inside(claim.domain), found))


def exceeded(room: Polynomial, parts: Sequence[Polynomial], domain: Domain) -> SolverFormula:
    """Returns `Σ max(0, tᵢ) > room at some point of the domain`; each tᵢ has a name, and stands once.

    Raises:
        LimitError: a polynomial is too large to be written with products.
    """
    from pysmt.typing import REAL

    polynomials = [room, *parts, *(c.polynomial for c in domain.constraints)]
    used = {n for polynomial in polynomials for n in variables(polynomial)}
    build = _Builder([n for n in domain.ring.names if n in used])
    scale = lcm(1, *(int(c.q) for p in (room, *parts) for c in p.coeffs()))
    manager, zero = build.manager, build.number(0)
    # No name of a parameter has `!` inside.
    own = [manager.Symbol(f"t!{k}", REAL) for k in range(1, len(parts) + 1)]
    definitions = [(s, build.total(list(terms(t * scale)))) for s, t in zip(own, parts, strict=True)]
    maxima = [manager.Ite(manager.GT(s, zero), s, zero) for s in own] or [zero]
    total = manager.Plus(maxima) if len(maxima) > 1 else maxima[0]
    found = manager.GT(total, build.total(list(terms(room * scale))))
    return SolverFormula(build.environment, build.symbols, (*build.inside(domain), found), definitions)


def quantified(question: QuantifiedImplication, *, assumed: bool = False) -> QuantifiedFormula:
    """Returns a question about parameters, under names that every program accepts.

    The assumptions about free parameters are told apart, or with `assumed` they are hypotheses, too: then
    the formula is true where they fail.

    Raises:
        LimitError: a polynomial is too large to be written with products.
    """
    build = _Builder(question.renamed())
    hypotheses = [*(question.assumptions if assumed else ()), *question.hypotheses]
    matrix = build.condition(AndCondition(question.conclusions))
    if hypotheses:
        matrix = build.manager.Implies(build.condition(AndCondition(tuple(hypotheses))), matrix)
    bound = [build.symbols[name] for name in question.bound]
    apart = question.assumptions and not assumed
    return QuantifiedFormula(
        build.manager.ForAll(bound, matrix) if bound else matrix,
        build.condition(AndCondition(question.assumptions)) if apart else None,
    )


def written(condition: Condition, names: Mapping[str, str]) -> FNode:
    """Returns a condition on parameters under other names as a formula."""
    return _Builder(names).condition(condition)
