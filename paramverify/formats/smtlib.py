"""Claims for SMT solvers: as a PySMT formula, and as a self-contained SMT-LIB 2 script.

Both say the negation, "some point of the domain has f < 0", in QF_NRA: unsatisfiable means that the claim
holds. Coefficients are integers (each inequality is multiplied by a positive number), powers are products,
and there are no divisions, so nothing depends on how a solver reads decimals, `^` or division by zero.
Variables that occur neither in f nor in a constraint are left out: their intervals are not empty, so this
changes neither answer.

The script follows the SMT-LIB standard, version 2.6 ([Barrett17]), and its theory of reals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from flint import fmpz

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, Interval, refuse_ties
from paramverify.algebra.polynomials import Polynomial, primitive, variables
from paramverify.claims import Claim
from paramverify.errors import DefectError, LimitError, UnsupportedError

if TYPE_CHECKING:
    from pysmt.environment import Environment
    from pysmt.fnode import FNode

MAX_FACTORS = 5_000_000  # factors that all products of one polynomial have together

SIMPLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")  # all names of cases are such
# Reserved words, and names that Z3, cvc5 or Yices do not let a script declare, not even quoted.
RESERVED = """_ ! as let exists forall match par true false and or not xor distinct ite abs div mod divisible
to_real to_int is_int pi exp sin cos tan sqrt BINARY DECIMAL HEXADECIMAL NUMERAL STRING
assert push pop exit reset"""
TAKEN = frozenset(RESERVED.split())


@dataclass(frozen=True)
class IntegerCondition:
    """A comparison of a sum of monomials with an integer; a monomial is an integer and its factors."""

    monomials: tuple[tuple[int, tuple[str, ...]], ...]
    relation: str  # "<", "<=", ">", ">=" or "="
    bound: int


@dataclass(frozen=True)
class PysmtFormula:
    """A formula of PySMT, with the environment that owns it and its symbols by the names of the variables."""

    environment: Environment
    formula: FNode
    symbols: dict[str, FNode]


def formula(claim: Claim) -> PysmtFormula:
    """Returns the negated claim as a PySMT formula, in an environment of its own.

    The formula is satisfiable over the reals iff the claim is violated at some real point of its domain.

    Raises:
        LimitError: a polynomial is too large to be written with products.
    """
    from pysmt.environment import Environment
    from pysmt.typing import REAL

    environment = Environment()
    manager = environment.formula_manager
    symbols = {name: manager.Symbol(name, REAL) for name in occurring(claim)}
    compare: dict[str, Callable[[FNode, FNode], FNode]] = {
        "<": manager.LT,
        "<=": manager.LE,
        ">": manager.GT,
        ">=": manager.GE,
        "=": manager.Equals,
    }

    def term(coefficient: int, factors: tuple[str, ...]) -> FNode:
        parts = [manager.Real(Fraction(coefficient))] if coefficient != 1 else []
        parts += [symbols[name] for name in factors]
        return manager.Times(parts) if len(parts) > 1 else parts[0]

    def assertion(condition: IntegerCondition) -> FNode:
        terms = [term(*monomial) for monomial in condition.monomials] or [manager.Real(0)]
        total = manager.Plus(terms) if len(terms) > 1 else terms[0]
        return compare[condition.relation](total, manager.Real(Fraction(condition.bound)))

    parts = [assertion(condition) for condition in negation(claim)]
    return PysmtFormula(environment, manager.And(parts), symbols)


def script(
    claim: Claim,
    status: str | None = None,
    name: str = "",
    others: Sequence[Claim] = (),
    logic: str = "QF_NRA",
    information: Mapping[str, str] | None = None,
) -> str:
    """Returns the negated claim as an SMT-LIB 2 script that ends with `(check-sat)`.

    With `others`, claims about the same domain, it says that some point violates one of them. `status` is
    `unsat` where the claims are known to hold and `sat` where they are known not to; `name` goes into a
    comment; `information` gives values, as they are written, of other attributes such as `source`. A
    parameter whose name is taken in SMT-LIB gets `!` at its end, as the comments say. The
    constant `E` is a variable here, between the ends of its interval.

    Raises:
        UnsupportedError: a variable whose name cannot be written as a symbol.
        LimitError: a polynomial is too large to be written with products.
    """
    symbols = {n: symbol(n) for n in occurring(claim, *others)}
    lines = [f"; {line}" for line in name.splitlines()]
    where = " ".join(claim.domain.describe().split()) or "no parameters"
    lines.append(f"; Some point with {where} violates {'a' if others else 'the'} claim.")
    if GENERATOR in symbols and claim.domain.constant:
        lines.append(f"; {GENERATOR} encloses exp({claim.domain.constant.exponent}).")
    lines += [f"; {s} stands for the parameter {n}" for n, s in symbols.items() if s == n + "!"]
    lines += ["(set-info :smt-lib-version 2.6)", f"(set-logic {logic})"]
    lines += [f"(set-info :{key} {value})" for key, value in (information or {}).items()]
    if status:
        if status not in ("sat", "unsat", "unknown"):
            raise DefectError(f"no status of SMT-LIB: {status!r}")
        lines.append(f"(set-info :status {status})")
    lines += [f"(declare-fun {s} () Real)" for s in symbols.values()]

    inside = _domain(claim.domain, tuple(symbols))
    lines += [f"(assert {_comparison(condition, symbols)})" for condition in inside]
    violated = "\n  ".join(_comparison(_violation(c), symbols) for c in (claim, *others))
    lines.append(f"(assert (or\n  {violated}))" if others else f"(assert {violated})")
    return "\n".join([*lines, "(check-sat)", "(exit)", ""])


def sum_script(room: Polynomial, terms: Sequence[Polynomial], domain: Domain, name: str = "") -> str:
    """Returns `Σ max(0, tᵢ) > room at some point of the domain` as an SMT-LIB 2 script like `script`.

    Each maximum is an `ite` over a defined function, so that no term is written twice. Symbols are those of
    `script`; the constant `E` is a variable here, between the ends of its interval.

    Raises:
        UnsupportedError: a variable whose name cannot be written as a symbol.
        LimitError: a polynomial is too large to be written with products.
    """
    polynomials = [room, *terms, *(c.polynomial for c in domain.constraints)]
    used = {n for polynomial in polynomials for n in variables(polynomial)}
    symbols = {n: symbol(n) for n in domain.ring.names if n in used}
    scale = lcm(1, *(int(c.q) for p in (room, *terms) for c in p.coeffs()))
    lines = [f"; {line}" for line in name.splitlines()]
    where = " ".join(domain.describe().split()) or "no parameters"
    lines.append(f"; At some point with {where} the positive terms are more than the room.")
    if GENERATOR in symbols and domain.constant:
        lines.append(f"; {GENERATOR} encloses exp({domain.constant.exponent}).")
    lines += [f"; {s} stands for the parameter {n}" for n, s in symbols.items() if s == n + "!"]
    lines += ["(set-info :smt-lib-version 2.6)", "(set-logic QF_NRA)"]
    lines += [f"(declare-fun {s} () Real)" for s in symbols.values()]
    # No name of a parameter, and no symbol for one, has `!` inside.
    own = [f"t!{k}" for k in range(1, len(terms) + 1)]
    for term, text in zip(own, terms, strict=True):
        lines.append(f"(define-fun {term} () Real {_sum(text * scale, symbols)})")
    lines += [f"(assert {_comparison(c, symbols)})" for c in _domain(domain, tuple(symbols))]
    parts = " ".join(f"(ite (> {term} 0) {term} 0)" for term in own)
    total = f"(+ {parts})" if len(own) > 1 else parts or "0"
    lines.append(f"(assert (> {total} {_sum(room * scale, symbols)}))")
    return "\n".join([*lines, "(check-sat)", "(exit)", ""])


def _sum(polynomial: Polynomial, symbols: Mapping[str, str]) -> str:
    """Returns a polynomial with whole coefficients as a term."""
    names = [str(n) for n in polynomial.context().names()]
    if sum(int(power) + 1 for powers in polynomial.monoms() for power in powers) > MAX_FACTORS:
        raise LimitError(f"a polynomial needs more than {MAX_FACTORS} factors to be written with products")
    parts = [
        _product(
            int(c.p), [n for n, power in zip(names, powers, strict=True) for _ in range(int(power))], symbols
        )
        for powers, c in polynomial.to_dict().items()
    ]
    return f"(+ {' '.join(parts)})" if len(parts) > 1 else "".join(parts) or "0"


def _product(coefficient: int, factors: Sequence[str], symbols: Mapping[str, str]) -> str:
    parts = [_numeral(coefficient)] if coefficient != 1 or not factors else []
    parts += [symbols[n] for n in factors]
    return f"(* {' '.join(parts)})" if len(parts) > 1 else parts[0]


def _comparison(condition: IntegerCondition, symbols: Mapping[str, str]) -> str:
    terms = [_product(*monomial, symbols) for monomial in condition.monomials] or ["0"]
    total = f"(+ {' '.join(terms)})" if len(terms) > 1 else terms[0]
    return f"({condition.relation} {total} {_numeral(condition.bound)})"


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


def negation(claim: Claim) -> list[IntegerCondition]:
    """Returns conditions that hold together exactly at the points of the domain with f < 0."""
    return [*_domain(claim.domain, occurring(claim)), _violation(claim)]


def _domain(domain: Domain, names: tuple[str, ...]) -> list[IntegerCondition]:
    """Returns conditions on these variables, and all constraints: together they say where the domain is."""
    conditions: list[IntegerCondition] = []
    for name in names:
        if name not in domain.box:
            raise DefectError(f"the domain has no interval for {name}")
        conditions += _ends(name, domain.box[name])
    for constraint in domain.constraints:
        conditions.append(_condition(constraint.polynomial, ">" if constraint.strict else ">="))
    return conditions


def _violation(claim: Claim) -> IntegerCondition:
    return _condition(claim.polynomial, "<")


def _ends(name: str, interval: Interval) -> Iterator[IntegerCondition]:
    """Yields `b·x (relation) a` for each end a/b of the interval."""

    def against(end: Fraction, relation: str) -> IntegerCondition:
        return IntegerCondition(((end.denominator, (name,)),), relation, end.numerator)

    if interval.is_point:
        yield against(interval.lower, "=")
        return
    yield against(interval.lower, ">=" if interval.lower_closed else ">")
    yield against(interval.upper, "<=" if interval.upper_closed else "<")


def _condition(polynomial: Polynomial, relation: str) -> IntegerCondition:
    """Returns the comparison of a polynomial with zero, its constant term moved to the other side."""
    # The content that is divided out is positive, so the relation to zero stays.
    _, whole = primitive(polynomial)
    if sum(int(power) + 1 for powers in whole.monoms() for power in powers) > MAX_FACTORS:
        raise LimitError(f"a polynomial needs more than {MAX_FACTORS} factors to be written with products")
    names = [str(n) for n in whole.context().names()]
    monomials: list[tuple[int, tuple[str, ...]]] = []
    bound = 0
    for powers, coefficient in whole.to_dict().items():
        factors = [name for name, power in zip(names, powers, strict=True) for _ in range(int(power))]
        if factors:
            monomials.append((int(coefficient.p), tuple(factors)))
        else:
            bound = -int(coefficient.p)
    return IntegerCondition(tuple(monomials), relation, bound)


def _numeral(number: int) -> str:
    digits = str(fmpz(abs(number)))  # which has no bound on the digits
    return digits if number >= 0 else f"(- {digits})"


def symbol(name: str) -> str:
    """Returns the SMT-LIB symbol for a variable: the name itself, quoted, or with `!` where it is taken.

    Raises:
        UnsupportedError: the name has a character that a quoted symbol cannot have.
    """
    if name in TAKEN:
        return name + "!"
    if SIMPLE.match(name):
        return name
    # A name that ends with ! could be taken for one that was given it here.
    if "|" in name or "\\" in name or name.endswith("!") or not name.isprintable():
        raise UnsupportedError(f"SMT-LIB has no symbol for the name {name!r}")
    return f"|{name}|"
