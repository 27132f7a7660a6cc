"""Claims as products of factors; a factor of a high degree that depends on one product only, by its roots.

f(x) = g(u) with u = ∏ sᵢ^vᵢ (`one_product`). Let ρ₁ < … < ρₖ be the roots of g between the least and the
largest value of u, all simple. Then f has the sign of ±∏ (u − ρᵢ), a polynomial of a low degree in which the
roots are numbers between rational ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from flint import fmpz_poly

from paramverify.algebra.bernstein import Enclosure, at, enclosure, reduced
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.one_product import OneProduct, Roots, is_large, one_product, roots_inside
from paramverify.algebra.polynomials import (
    Polynomial,
    is_constant,
    primitive,
    rational,
    substitute,
    variables,
)
from paramverify.algebra.real_roots import sign_at
from paramverify.algebra.signs import Sign, sign_on
from paramverify.simplify.reductions import factorable, factorisation

Ends = tuple[Fraction, Fraction]

MOST_ROOTS = 4
MAX_BITS = 4096
ROOT = "_"


@dataclass(frozen=True, eq=False)
class SignFactor:
    """A polynomial of which the sign is wanted.

    `hidden` are variables without an interval to be cut: the numbers that they stand for are enclosed, `E` as
    closely as is needed.
    """

    polynomial: Polynomial
    domain: Domain
    hidden: Mapping[str, Interval] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that occur."""
        return tuple(n for n in variables(self.polynomial) if n != GENERATOR and n not in self.hidden)

    @property
    def degrees(self) -> dict[str, int]:
        """The degree in each parameter that occurs."""
        every = map(str, self.polynomial.context().names())
        found = dict(zip(every, map(int, self.polynomial.degrees()), strict=True))
        return {name: found[name] for name in self.names}

    def enclosed(self, box: Mapping[str, Ends], fixed: Mapping[str, Fraction], bits: int) -> Enclosure:
        """Returns the Bernstein form over the closed box, some parameters fixed, `E` in so many bits.

        Its degree in hidden variables is reduced to zero, the variation in them being part of the error.
        """
        polynomial = substitute(self.polynomial, dict(fixed)) if fixed else self.polynomial
        intervals = {n: Interval(*ends, True, True) for n, ends in box.items()}
        hidden = dict(self.hidden)
        if GENERATOR in variables(polynomial):
            hidden[GENERATOR] = self.domain.enclose(bits).box[GENERATOR]
        if not hidden:
            return enclosure(polynomial, intervals, None if bits >= MAX_BITS else bits)
        form = enclosure(polynomial, intervals | hidden)
        flat = reduced(form, [0 if n in hidden else d for n, d in zip(form.names, form.degrees, strict=True)])
        for name in hidden:
            flat = at(flat, name, Fraction(0)) if name in flat.names else flat
        return flat


@dataclass(frozen=True, eq=False)
class ClaimFactor:
    """A factor of a claim and its multiplicity; `product` and `roots` where it is g(u)."""

    polynomial: Polynomial
    multiplicity: int
    product: OneProduct | None = None
    roots: Roots | None = None

    def sign_on(self, box: Domain) -> Sign | None:
        """Returns the sign on a domain, if it is known."""
        if self.roots is None:
            return sign_on(self.polynomial, box)
        if self.roots.around:
            return None
        return Sign.POSITIVE if self.roots.last > 0 else Sign.NEGATIVE

    def factor(self, domain: Domain) -> SignFactor:
        """Returns what has the sign of the polynomial inside the domain."""
        if self.product is None or self.roots is None:
            return SignFactor(self.polynomial, domain)
        return _by_roots(self.product, self.roots, domain)


def parts_of(polynomial: Polynomial, domain: Domain) -> tuple[Fraction, list[ClaimFactor]]:
    """Returns a constant and factors with multiplicities, whose product the polynomial is."""
    if not polynomial or is_constant(polynomial):
        return Fraction(1), [ClaimFactor(polynomial, 1)]
    if not domain.ring.tied and is_large(polynomial):
        found = _composed(polynomial, domain)
        if found is not None:
            return found
    if not factorable(polynomial):
        return Fraction(1), [ClaimFactor(polynomial, 1)]
    constant, factors = factorisation(polynomial)
    return constant, [ClaimFactor(g, m) for g, m in factors]


def _composed(polynomial: Polynomial, domain: Domain) -> tuple[Fraction, list[ClaimFactor]] | None:
    """Returns the factors where all but simple ones are g(u), and the roots of g are found."""
    ring = domain.ring
    constant, rest = primitive(polynomial)
    simple: list[tuple[Polynomial, int]] = []
    for name in variables(polynomial):
        x = ring.variable(name)
        for zero, line in ((0, x), (1, 1 - x)):
            count = 0
            while not substitute(rest, {name: Fraction(zero)}):
                rest, count = divmod(rest, line)[0], count + 1
            simple += [(line, count)] * bool(count)
    form = one_product(rest)
    if form is None or not form.holds_on(domain.box):
        return None
    values = form.values({n: (domain.box[n].lower, domain.box[n].upper) for n in form.powers})
    outer, inner = form.outer, form.inner(ring)
    for value in values:
        count = 0
        while not sign_at(outer, value):
            outer = outer // fmpz_poly([-value.numerator, value.denominator])
            count += 1
        if count:
            simple.append((rational(value.denominator) * inner - rational(value.numerator), count))
            rest = rest / simple[-1][0] ** count
    roots = roots_inside(outer, *values) if values[0] < values[1] else None
    if roots is None or len(roots.around) > MOST_ROOTS:
        return None
    content, rest = primitive(rest)
    parts = [ClaimFactor(line, count) for line, count in simple]
    return constant * content, [*parts, ClaimFactor(rest, 1, replace(form, outer=outer), roots)]


def _by_roots(form: OneProduct, roots: Roots, domain: Domain) -> SignFactor:
    """Returns ±∏ (u − ρᵢ)."""
    known = domain.ring.names
    names = tuple(f"{ROOT * (1 + max(map(len, known)))}{k}" for k in range(len(roots.around)))
    ring = replace(domain.ring, parameters=(*domain.ring.parameters, *names))
    inner, found = form.inner(ring), ring.number(roots.last)
    for name in names:
        found *= inner - ring.variable(name)
    hidden = {n: Interval(*ends, True, True) for n, ends in zip(names, roots.around, strict=True)}
    return SignFactor(found, domain, hidden)
