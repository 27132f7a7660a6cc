"""Terms of claims about sums: their factors, the proof of a sign, and what is at least a term on a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from paramverify.algebra.bernstein import bernstein_form
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import (
    Polynomial,
    constant_value,
    is_constant,
    key,
    rational,
    variables,
)
from paramverify.evidence import certificates
from paramverify.evidence.certificates import CONSTANT, POSITIVE, Proof
from paramverify.simplify.factors import loose_factorisation

DIGITS = 40  # binary digits of the largest value of a factor, rounded up


@dataclass(frozen=True, eq=False)
class TermFactor:
    """An irreducible factor of terms, with its odd multiplicity in one of them."""

    polynomial: Polynomial
    name: str  # its text

    @property
    def line(self) -> str | None:
        """The only variable, where it has one; E is none."""
        names = variables(self.polynomial)
        return names[0] if len(names) == 1 and names[0] != GENERATOR else None


@dataclass(frozen=True, eq=False)
class FactoredTerm:
    """A term as number · ∏ factorᵐ."""

    polynomial: Polynomial
    constant: Fraction
    factors: tuple[tuple[TermFactor, int], ...]

    @staticmethod
    def of(polynomial: Polynomial, known: dict[str, TermFactor]) -> FactoredTerm:
        """Returns the term; equal factors of all terms are one object."""
        if is_constant(polynomial):
            return FactoredTerm(polynomial, constant_value(polynomial), ())
        constant, found = loose_factorisation(polynomial)
        factors = tuple((known.setdefault(key(g), TermFactor(g, key(g))), m) for g, m in found)
        return FactoredTerm(polynomial, constant, factors)

    @property
    def odd(self) -> list[TermFactor]:
        """The factors that the sign depends on."""
        return [factor for factor, power in self.factors if power % 2]


@dataclass(frozen=True)
class KnownSign:
    """A proved sign of a factor on a region: 1 for ≥ 0, -1 for ≤ 0."""

    sign: int
    proof: Proof


def product_of(term: FactoredTerm, signs: Mapping[str, KnownSign]) -> Proof:
    """Returns the proof of the sign of a term from those of its factors."""
    if not term.factors:
        return CONSTANT
    constant = term.constant
    sign = 1 if constant > 0 else -1
    parts: list[tuple[Polynomial, int, int, Proof | None]] = []
    for factor, power in term.factors:
        if power % 2:
            known = signs[factor.name]
            sign *= known.sign
            parts.append((factor.polynomial, power, known.sign, known.proof))
        else:
            parts.append((factor.polynomial, power, 1, None))
    return certificates.factors(constant * sign, parts)


@dataclass(frozen=True, eq=False)
class Majorant:
    """A polynomial u with u ≥ 0 and u ≥ t on a part of the domain, and both proofs: max(0, t) ≤ u there."""

    polynomial: Polynomial
    positive: Proof
    above: Proof


def majorant(term: FactoredTerm, signs: Mapping[str, KnownSign], domain: Domain) -> Majorant | None:
    """Returns what is at least a term with one factor g of unknown sign, on the box of a domain.

    With t = w·(±g), w ≥ 0 and a number m ≥ ±g it is u = m·w: u − t = w·(m ∓ g). None for other terms.
    """
    unknown = [(g, m) for g, m in term.factors if m % 2 and g.name not in signs]
    if len(unknown) != 1 or unknown[0][1] > 1 or unknown[0][0].line is None:
        return None
    factor = unknown[0][0]
    known = [(g, m) for g, m in term.factors if g is not factor]
    sign = 1 if term.constant > 0 else -1
    for g, m in known:
        sign *= signs[g.name].sign if m % 2 else 1
    signed = factor.polynomial * sign
    most = max(_rounded_up(bernstein_form(signed, domain.box).upper), Fraction(0))
    parts = [
        (g.polynomial, m, signs[g.name].sign if m % 2 else 1, signs[g.name].proof if m % 2 else None)
        for g, m in known
    ]
    # t = constant · ∏ known · g, and sign · constant · ∏ known ≥ 0
    rest = term.polynomial / factor.polynomial * sign
    gap = rational(most) - signed
    positive = certificates.factors(term.constant * sign * most, parts) if parts else CONSTANT
    above = certificates.factors(term.constant * sign, [*parts, (gap, 1, 1, POSITIVE)])
    return Majorant(rest * rational(most), positive if most else CONSTANT, above)


def _rounded_up(value: Fraction) -> Fraction:
    """Returns a short number that is at least as large, and nearly equal."""
    if not value:
        return value
    size = value.numerator.bit_length() - value.denominator.bit_length()
    scale = Fraction(2) ** (DIGITS - size)
    return Fraction(ceil(value * scale)) / scale
