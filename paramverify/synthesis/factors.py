"""Claims as products of factors; a factor of a high degree that depends on one product only, by its roots.

f(x) = g(u) with u = ∏ sᵢ^vᵢ (`one_product`). Let ρ₁ < … < ρₖ be the roots of g between the least and the
largest value of u, all simple. Then f has the sign of ±∏ (u − ρᵢ), a polynomial of a low degree in which the
roots are numbers between rational ends.

Claims as signs of shared factors, and what is known of a factor on one box.

A claim f ≥ 0 with f = c·∏ gᵢ^mᵢ holds on a box if every gᵢ of odd multiplicity has one weak sign there and
the signs multiply to +; it fails everywhere if they multiply to − and no factor vanishes. Factors that
several claims have in common are enclosed once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from flint import fmpz_poly

from paramverify.algebra.bernstein import (
    BITS,
    HALF,
    Enclosure,
    at,
    enclosure,
    nowhere_zero,
    reduced,
    restricted,
    rounded,
    split_enclosure,
)
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.one_product import OneProduct, Roots, is_large, one_product, roots_inside
from paramverify.algebra.polynomials import (
    Polynomial,
    is_constant,
    key,
    primitive,
    rational,
    substitute,
    variables,
)
from paramverify.algebra.real_roots import sign_at
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim
from paramverify.simplify.reductions import AT_LEAST_ZERO, NEVER_ZERO, factorable, factorisation

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


LOW_DEGREES = (2, 4)  # in each variable; tried in this order for an enclosure of fewer entries
MEDIUM, HIGH = 12, 16  # degree of an enclosure in between, for forms of a degree above the second
MANY = 25  # entries of a form that is not exact for which a lower degree is tried again
FEW = 16  # entries for which no enclosure of lower degree is worth its error
GOOD, POOR = 32, 8  # an error is good below 1/32 of the variation of the entries, and poor above 1/8 of it


@dataclass(frozen=True, eq=False)
class FactorEnclosure:
    """An enclosure on a box; `better` has a smaller error, on the same box or a larger one."""

    form: Enclosure
    box: dict[str, Ends]
    better: FactorEnclosure | None = None


@dataclass(eq=False)
class FactorState:
    """What is known of a factor on a box over its own parameters, those in `fixed` excepted.

    `form` is an enclosure, perhaps of a low degree; `source` a better one on a box that contains this one,
    or None where there is no better one than the polynomial itself.
    """

    factor: SignFactor
    box: dict[str, Ends]
    form: Enclosure
    source: FactorEnclosure | None = None
    fixed: dict[str, Fraction] = field(default_factory=dict)
    bits: int = BITS
    parts: dict[tuple[str, Fraction], tuple[FactorState, FactorState]] = field(default_factory=dict)

    def split(self, name: str, ratio: Fraction = HALF) -> tuple[FactorState, FactorState]:
        """Returns the states on both sides of a cut, at a ratio of the length; the same ones every time."""
        if name not in self.form.names:
            return self, self
        if (name, ratio) not in self.parts:
            low, high = self.box[name]
            middle = low + (high - low) * ratio
            below, above = (
                FactorState(
                    self.factor,
                    {**self.box, name: ends},
                    form=form,
                    source=self.source,
                    fixed=self.fixed,
                    bits=self.bits,
                )
                for ends, form in zip(
                    ((low, middle), (middle, high)), split_enclosure(self.form, name, ratio), strict=True
                )
            )
            if self.source is None or len(self.form.entries) > MANY:
                below.lighten()
                above.lighten()
            self.parts[name, ratio] = below, above
        return self.parts[name, ratio]

    def lighten(self) -> None:
        """Goes over to an enclosure of a lower degree where its error is small."""
        if max(self.form.degrees, default=0) > HIGH and not self._reduced(MEDIUM, GOOD * GOOD):
            return
        if len(self.form.entries) > FEW:
            for low in LOW_DEGREES:
                if self._reduced(low, GOOD):
                    return

    def _reduced(self, low: int, factor: int) -> bool:
        """Goes over to a degree if the error is small; tells whether the form has that degree now."""
        form = self.form
        degrees = [min(low, d) for d in form.degrees]
        if list(form.degrees) == degrees:
            return True
        trial = reduced(form, degrees)
        if _poor(trial, factor):
            return False
        self.form, self.source = trial, FactorEnclosure(form, self.box, self.source)
        return True

    def sharpen(self) -> bool:
        """Goes back to a better enclosure if the error is poor; tells whether there was a better one."""
        if not _poor(self.form, POOR):
            return False
        if self.source is None and self.bits >= MAX_BITS:
            return False
        while self.source is not None:
            source, self.source = self.source, self.source.better
            ratios = {n: _ratios(self.box[n], source.box[n]) for n in source.form.names}
            self.form = rounded(restricted(source.form, ratios))
            if not _poor(self.form, 2 * POOR):
                self.lighten()
                return True
        while True:
            self.form = self.factor.enclosed(self.box, self.fixed, self.bits)
            if self.bits >= MAX_BITS or not _poor(self.form, 2 * POOR):
                break
            self.bits *= 4
        self.lighten()
        return True

    def sign(self) -> int:
        """Returns 1 if f ≥ 0 on the closed box is proved, -1 if f ≤ 0, otherwise 0."""
        while True:
            if min(self.form.entries) >= self.form.error:
                return 1
            if max(self.form.entries) <= -self.form.error:
                return -1
            if not self.sharpen():
                return 0

    def nonzero(self, form: Enclosure) -> bool:
        """Tells whether f vanishes at no point of the domain, given its form on the box or on a face."""
        if form.lower > 0 or form.upper < 0:
            return True
        if form.error or (min(form.entries) < 0 < max(form.entries)):
            return False
        closed = {}
        for name in form.names:
            interval, (low, high) = self.factor.domain.box[name], self.box[name]
            closed[name] = (
                interval.lower_closed or low > interval.lower,
                interval.upper_closed or high < interval.upper,
            )
        return nowhere_zero(form, closed)

    def pinned(self, name: str, end: int) -> FactorState:
        """Returns the state on the face where the named parameter is at its lower (0) or upper (1) end."""
        box = {n: ends for n, ends in self.box.items() if n != name}
        fixed = {**self.fixed, name: self.box[name][end]}
        return FactorState(
            self.factor,
            box,
            form=at(self.form, name, Fraction(end)),
            source=None,
            fixed=fixed,
            bits=self.bits,
        )


def _poor(form: Enclosure, factor: int) -> bool:
    return factor * form.error > max(form.entries) - min(form.entries)


def _ratios(inner: Ends, outer: Ends) -> Ends:
    width = outer[1] - outer[0]
    return (inner[0] - outer[0]) / width, (inner[1] - outer[0]) / width


@dataclass(frozen=True, eq=False)
class Target:
    """A claim as a sign: f has the sign of `sign` times the `odd` factors where no factor vanishes.

    The numbers are those of factors; `masks` are factors that keep their weak sign but may vanish.
    """

    claim: int
    sign: int
    odd: tuple[int, ...]
    masks: tuple[int, ...] = ()


def targets(claims: Sequence[Claim], domain: Domain) -> tuple[list[Target], list[SignFactor]]:
    """Returns the claims that are not settled on the whole domain, equal ones merged, and their factors."""
    numbers: dict[str, int] = {}
    found: list[SignFactor] = []
    result: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Target] = {}
    box = domain.enclose(128)

    def number(part: ClaimFactor) -> int:
        name = key(part.polynomial)
        if name not in numbers:
            numbers[name] = len(found)
            found.append(part.factor(domain))
        return numbers[name]

    for index, claim in enumerate(claims):
        if not claim.polynomial:
            continue
        odd, masks = [], []
        constant, parts = parts_of(claim.polynomial, domain)
        sign = 1 if constant > 0 else -1
        for part in parts:
            known = part.sign_on(box)
            if part.multiplicity % 2:
                if known is None:
                    odd.append(number(part))
                    continue
                sign *= 1 if known in AT_LEAST_ZERO else -1
            if known not in NEVER_ZERO:
                masks.append(number(part))
        if odd or sign < 0:
            same = sign, tuple(sorted(odd)), tuple(sorted(masks))
            result.setdefault(same, Target(index, *same))
    return list(result.values()), found
