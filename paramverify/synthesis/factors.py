"""Claims as signs of shared factors, and what is known of a factor on one box.

A claim f ≥ 0 with f = c·∏ gᵢ^mᵢ holds on a box if every gᵢ of odd multiplicity has one weak sign there and
the signs multiply to +; it fails everywhere if they multiply to − and no factor vanishes. Factors that
several claims have in common are enclosed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from paramverify.algebra.bernstein import (
    BITS,
    HALF,
    Enclosure,
    at,
    nowhere_zero,
    reduced,
    restricted,
    rounded,
    split_enclosure,
)
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import key
from paramverify.claims import Claim
from paramverify.simplify.reductions import AT_LEAST_ZERO, NEVER_ZERO
from paramverify.synthesis.products import ClaimFactor, SignFactor, parts_of

Ends = tuple[Fraction, Fraction]

LOW_DEGREES = (2, 4)  # in each variable; tried in this order for an enclosure of fewer entries
MEDIUM, HIGH = 12, 16  # degree of an enclosure in between, for forms of a degree above the second
MANY = 25  # entries of a form that is not exact for which a lower degree is tried again
FEW = 16  # entries for which no enclosure of lower degree is worth its error
GOOD, POOR = 32, 8  # an error is good below 1/32 of the variation of the entries, and poor above 1/8 of it
MAX_BITS = 4096


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
