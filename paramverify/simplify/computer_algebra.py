"""The steps `ideal` and `sympy`: equations among the constraints, and what a computer algebra system finds.

The step `ideal` is about the equations g₁ = 0, …, gₙ = 0 among the constraints:

- a constraint −c·h² ≥ 0 with c > 0 says h = 0, so the ideal becomes closer to its radical;
- f is replaced by its remainder r modulo a Gröbner basis of the ideal ([CoxLOS15] chapter 2). Then
  f = Σ qᵢ·gᵢ + r, so f = r on the domain. A variable that equations define is substituted by this, too.

The step `sympy` is that, and then the split of f into irreducible factors over the rational numbers by sympy.
Claims are polynomials, so there is nothing to cancel in them.

sympy finds the basis, the cofactors qᵢ and the factors. What it finds are identities of polynomials, which
are verified here before they are used, and again by the kernel: proofs use its rules `vanish`, `sum`,
`squares` and `factors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

from flint import fmpq

from paramverify.algebra.domains import Constraint
from paramverify.algebra.polynomials import Polynomial, Ring, fraction, is_constant, primitive, rational
from paramverify.claims import Claim
from paramverify.errors import DefectError
from paramverify.evidence import certificates
from paramverify.evidence.certificates import Proof
from paramverify.simplify.reductions import (
    Guarantee,
    Premise,
    Reduction,
    about,
    constrained,
    factorable,
    live_constraints,
    quotient,
    split_by_factors,
)

if TYPE_CHECKING:
    import sympy

MAX_DEGREE = 30  # of a polynomial that is reduced, in total
# Equations of which a basis is computed, and the product of their degrees (Bézout's bound on common zeros):
# within the first pair a basis takes tenths of a second, and beyond the second one it may take for ever.
FEW = (3, 16)
MANY = (8, 256)


Terms = tuple[tuple[tuple[int, ...], Fraction], ...]  # of a polynomial: exponents, and the coefficient


def ideal_step(claim: Claim, bounds: tuple[int, int] = FEW) -> Reduction | None:
    """A constraint becomes an equation, or f becomes its remainder modulo the equations.

    With more equations than the bounds say, or with higher ones, f stays as it is.
    """
    if claim.domain.ring.tied or is_constant(claim.polynomial):
        return None
    return _vanishing(claim) or _remainder(claim, bounds)


def sympy_step(claim: Claim) -> Reduction | None:
    """The step `ideal` with larger bounds, or f is split into the factors that sympy finds."""
    if claim.domain.ring.tied or is_constant(claim.polynomial):
        return None
    found = ideal_step(claim, MANY) or _factored(claim)
    return found and replace(found, step="sympy")


# --- polynomials there and back ---------------------------------------------------------------------


class _Symbols:
    """The variables of a ring as symbols of sympy, in the same order, with names of their own."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.symbols = _symbols(len(ring.names))

    def there(self, polynomial: Polynomial) -> sympy.Poly:
        return _poly(_terms(polynomial), self.symbols)

    def back(self, found: Any) -> Polynomial:
        """Returns a polynomial of sympy, or an expression, as one of the ring."""
        import sympy

        terms = sympy.Poly(found, *self.symbols, domain=sympy.QQ).terms()
        return self.ring.from_terms({tuple(powers): Fraction(int(c.p), int(c.q)) for powers, c in terms})


def _symbols(count: int) -> Sequence[sympy.Symbol]:
    import sympy

    found: Sequence[sympy.Symbol] = sympy.symbols(f"x:{count}")
    return found


def _poly(terms: Terms, symbols: Sequence[sympy.Symbol]) -> sympy.Poly:
    import sympy

    rational_terms = {m: sympy.Rational(c.numerator, c.denominator) for m, c in terms}
    return sympy.Poly(rational_terms, *symbols, domain=sympy.QQ)


# --- equations --------------------------------------------------------------------------------------


def _vanishing(claim: Claim) -> Reduction | None:
    """A constraint −c·h² ≥ 0 with c > 0 becomes the equation h = 0."""
    known = [c.polynomial for c in claim.domain.constraints]
    for index, constraint in live_constraints(claim.domain):
        if constraint.strict or not factorable(constraint.polynomial):
            continue
        number, found = (-constraint.polynomial).factor_squarefree()
        c = fraction(fmpq(number))
        if c <= 0 or not found or any(power % 2 for _, power in found):
            continue
        root = prod((h ** (power // 2) for h, power in found), start=claim.domain.ring.number(1))
        if root not in known or -root not in known:
            return _as_equation(claim, index, c, root)
    return None


def _as_equation(claim: Claim, index: int, c: Fraction, root: Polynomial) -> Reduction:
    equations = (Constraint(root, False, ""), Constraint(-root, False, ""))
    premise = Premise(constrained(claim, equations), notes=(("with the equation ", root, " = 0"),))

    def certify(proofs: Sequence[Proof]) -> Proof:
        return certificates.vanish(index, [(c, root)], proofs[0])

    return Reduction("ideal", Guarantee.EXACT, (premise,), certify)


def _remainder(claim: Claim, bounds: tuple[int, int]) -> Reduction | None:
    """f becomes its remainder modulo the equations, where that is smaller."""
    equations = _equations(claim)
    generators = [claim.domain.constraints[i].polynomial for i, _, _ in equations]
    most, bezout = bounds
    if not equations or len(equations) > most or int(claim.polynomial.total_degree()) > MAX_DEGREE:
        return None
    if prod(int(g.total_degree()) for g in generators) > bezout:
        return None
    names = _Symbols(claim.domain.ring)
    basis, ring, ideal = _ideal(len(names.symbols), tuple(map(_terms, generators)))
    rest = names.back(basis.reduce(names.there(claim.polynomial).as_expr())[1])
    if _size(rest) >= _size(claim.polynomial):
        return None
    cofactors = [
        names.back(ring.to_sympy(q))
        for q in ideal.in_terms_of_generators(names.there(claim.polynomial - rest).as_expr())
    ]
    multiples = [(q * g, q, e) for q, g, e in zip(cofactors, generators, equations, strict=True) if q]
    if sum((product for product, _, _ in multiples), start=rest) != claim.polynomial:
        raise DefectError(f"sympy returned cofactors that do not reduce {claim.polynomial} to {rest}")
    shown = [(product, certificates.squares(_zero(q, *e))) for product, q, e in multiples]
    return Reduction(
        "ideal",
        Guarantee.EXACT,
        (Premise(about(claim, rest), notes=(("reduced modulo the equations",),)),),
        lambda proofs: certificates.total([*shown, (rest, proofs[0])]),
    )


def _terms(polynomial: Polynomial) -> Terms:
    return tuple((tuple(map(int, m)), fraction(c)) for m, c in polynomial.to_dict().items())


@lru_cache(maxsize=8)  # all claims of a case have the same equations
def _ideal(count: int, generators: tuple[Terms, ...]) -> tuple[Any, Any, Any]:
    """Returns a Gröbner basis of polynomials in so many variables, their ring, and their ideal."""
    import sympy

    symbols = _symbols(count)
    given = [_poly(terms, symbols) for terms in generators]
    basis = sympy.groebner(given, *symbols, order="grevlex", domain=sympy.QQ)
    ring = sympy.QQ.old_poly_ring(*symbols)
    return basis, ring, ring.ideal(*(g.as_expr() for g in given))


def _equations(claim: Claim) -> list[tuple[int, int, Fraction]]:
    """Returns pairs of constraints g ≥ 0 and −m·g ≥ 0 with m > 0, by their numbers, and m."""
    found = []
    constraints = claim.domain.constraints
    for i, first in enumerate(constraints):
        for j in range(i + 1, len(constraints)):
            second = constraints[j]
            if first.strict or second.strict or is_constant(first.polynomial):
                continue
            multiple = quotient(second.polynomial, first.polynomial)
            if multiple < 0:
                found.append((i, j, -multiple))
                break
    return found


def _zero(cofactor: Polynomial, i: int, j: int, m: Fraction) -> Sequence[certificates.SquareTerm]:
    """Returns q·g as a sum of squares times g and −m·g: 4q = (q + 1)² − (q − 1)²."""
    quarter = Fraction(1, 4)
    return [
        ([("constraint", i)], [(quarter, cofactor + 1)]),
        ([("constraint", j)], [(quarter / m, cofactor - 1)]),
    ]


def _size(polynomial: Polynomial) -> tuple[int, int]:
    return int(polynomial.total_degree()) if polynomial else 0, len(polynomial)


# --- factors ----------------------------------------------------------------------------------------


def _factored(claim: Claim) -> Reduction | None:
    import sympy

    if not factorable(claim.polynomial):
        return None
    names = _Symbols(claim.domain.ring)
    number, found = sympy.factor_list(names.there(claim.polynomial))
    constant, parts = Fraction(int(number.p), int(number.q)), []
    for factor, power in found:
        content, own = primitive(names.back(factor))
        constant *= fraction(rational(content)) ** power
        parts.append((own, power))
    whole = prod((g**power for g, power in parts), start=claim.domain.ring.number(1))
    if whole * rational(constant) != claim.polynomial:
        raise DefectError(f"sympy returned factors whose product is not {claim.polynomial}")
    return split_by_factors(claim, constant, parts)
