"""Claims about sums of positive parts.

The domain is cut until the signs of the terms are known on each part.

The domain is cut where the signs change: into boxes, and by the sign of a polynomial g that terms share as a
factor. With one parameter, boxes are cut between the roots of all factors, so this ends. On a part whose
signs are known the sum is that of some set S of terms, and room − Σ_{i∈S} tᵢ is left: a leaf of the tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil

from paramverify.algebra.bernstein import bernstein_form
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.polynomials import (
    Polynomial,
    constant_value,
    in_generator,
    is_constant,
    key,
    rational,
    variables,
)
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import RealRoot, apart, between, isolate, sign_at, univariate
from paramverify.algebra.signs import Sign, sign_on
from paramverify.answers import End, Open
from paramverify.encodings.output_sums import Excess
from paramverify.evidence import certificates
from paramverify.evidence.certificates import CONSTANT, EXPONENTIAL, POSITIVE, Proof, Token, univariate_tree
from paramverify.simplify.reductions import loose_factorisation

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


BITS = 64  # of the enclosure of E where signs are looked for
SPLIT = 4  # factors of unknown sign that are split by their signs at once
MOST_SPLIT = 10  # the same, where cutting has come to its end
MAX_BOXES = 4_000  # cuts of boxes for one claim
MANY = 8  # factors with open signs on a line, from which on terms are estimated before the line is cut

SIGNS = ("+", "-")
ROOMY = (Sign.POSITIVE, Sign.NONNEGATIVE, Sign.ZERO)


@dataclass(frozen=True, eq=False)
class SignRegion:
    """A part of the domain: a box, the constraints of the claim, and conditions on signs after them.

    `open` are the terms whose sign is not known, `kept` is f_S for those that are known to count. `signs` are
    those of the factors, which parts of the region keep.
    """

    domain: Domain
    open: tuple[int, ...]
    kept: Polynomial
    signs: dict[str, KnownSign]


Leaf = Callable[[SignRegion, list[Token]], bool]


def cut_by_signs(
    excess: Excess, at_leaf: Leaf, in_time: Callable[[], None] = lambda: None, *, estimated: bool = False
) -> tuple[Token, ...] | Open | None:
    """Returns a tree, in preorder, whose leaves are parts of the domain on which all signs are known.

    Where the terms may be `estimated`, a leaf may also be a part with room to spare, where polynomials that
    are at least the open terms count instead of these.

    `at_leaf` is called with each of them, and with the tokens so far, to which it adds the leaf; where it
    returns False the search ends, and None is returned. `in_time` is called before each step. All parts
    together are the domain.
    """
    return _CuttingSearch(excess, at_leaf, in_time, estimated).run()


@dataclass(eq=False)
class _CuttingSearch:
    excess: Excess
    at_leaf: Leaf
    in_time: Callable[[], None]
    estimated: bool = False
    factors: dict[str, TermFactor] = field(default_factory=dict)
    boxes: int = 0

    def run(self) -> tuple[Token, ...] | Open | None:
        excess = self.excess
        self.terms = [FactoredTerm.of(t, self.factors) for t in excess.terms]
        self.roots: dict[tuple[str, Interval], list[RealRoot]] = {}
        domain = excess.domain
        if domain.constant:
            box = {n: i for n, i in domain.box.items() if n != GENERATOR}
            domain = replace(domain, box=box)
        tokens: list[Token] = []
        pending = [SignRegion(domain, tuple(range(len(self.terms))), excess.room, {})]
        while pending:
            self.in_time()
            found = self._step(pending.pop(), tokens)
            if not isinstance(found, list):
                return found
            pending += found[::-1]
        return tuple(tokens)

    def _step(self, region: SignRegion, tokens: list[Token]) -> list[SignRegion] | Open | None:
        """Writes what is known of a region, and returns its parts; or why the search ends."""
        region = self._resolved(region, tokens)
        unknown = Counter(
            f.name for i in region.open for f in self.terms[i].odd if f.name not in region.signs
        )
        if not unknown:
            return [] if self.at_leaf(region, tokens) else None
        names = {self.factors[name].line for name in unknown}
        if len(names) == 1 and None not in names:
            left = self._estimated(region, tokens) if self.estimated and len(unknown) >= MANY else None
            if left is not None:
                return [] if self.at_leaf(left, tokens) else None
            return self._on_line(region, [self.factors[name] for name in unknown], tokens)
        if len(unknown) <= SPLIT:
            return self._by_sign(region, unknown.most_common(1)[0][0], tokens)
        axes = {n for name in unknown for n in variables(self.factors[name].polynomial)} - {GENERATOR}
        axes = {n for n in axes if not region.domain.box[n].is_point}
        if axes and self.boxes < MAX_BOXES:
            return self._halves(region, axes, tokens)
        if len(unknown) <= MOST_SPLIT:
            return self._by_sign(region, unknown.most_common(1)[0][0], tokens)
        return Open(End.GAVE_UP, f"{len(unknown)} signs stay open after {self.boxes} cuts")

    # --- signs -------------------------------------------------------------------------------------------

    def _resolved(self, region: SignRegion, tokens: list[Token]) -> SignRegion:
        """Takes over or drops the terms whose sign is known on the region."""
        signs = dict(region.signs)
        kept, still = region.kept, []
        closed = region.domain.enclose(BITS)
        for i in region.open:
            term = self.terms[i]
            for factor in term.odd:
                if factor.name not in signs:
                    found = self._sign(factor, region.domain, closed)
                    if found:
                        signs[factor.name] = found
            if any(f.name not in signs for f in term.odd):
                still.append(i)
                continue
            sign = 1 if term.constant > 0 else -1
            for factor in term.odd:
                sign *= signs[factor.name].sign
            tokens.append([SIGNS[sign < 0], i, product_of(term, signs)])
            if sign > 0:
                kept = kept - term.polynomial
        return SignRegion(region.domain, tuple(still), kept, signs)

    def _sign(self, factor: TermFactor, domain: Domain, closed: Domain) -> KnownSign | None:
        polynomial = factor.polynomial
        names = variables(polynomial)
        if names == (GENERATOR,) and domain.constant:
            return KnownSign(domain.constant.sign(in_generator(polynomial)), EXPONENTIAL)
        sign = sign_on(polynomial, closed)
        if sign is not None:
            proof = POSITIVE
            if GENERATOR in names and domain.constant:
                interval = closed.box[GENERATOR]
                proof = certificates.enclose((interval.lower, interval.upper), POSITIVE)
            return KnownSign(-1 if sign in (Sign.NEGATIVE, Sign.NONPOSITIVE) else 1, proof)
        name = factor.line
        if name is None:
            return None
        interval = domain.box[name]
        if any(not _at_end(root, interval) for root in self._roots(factor, interval)):
            return None
        own = sign_at(univariate(polynomial), (interval.lower + interval.upper) / 2)
        return KnownSign(own, certificates.tree(univariate_tree(polynomial * own, name, interval)))

    def _roots(self, factor: TermFactor, interval: Interval) -> list[RealRoot]:
        place = factor.name, interval
        if place not in self.roots:
            self.roots[place] = isolate(univariate(factor.polynomial), interval.lower, interval.upper)
        return self.roots[place]

    def _estimated(self, region: SignRegion, tokens: list[Token]) -> SignRegion | None:
        """Returns a part with room to spare after each open term is replaced by what is at least the term.

        So a part with many changes of signs need not be cut at all of them, but near a tight place.
        """
        left, more = region.kept, list[Token]()
        for i in region.open:
            found = majorant(self.terms[i], region.signs, region.domain)
            if found is None:
                return None
            left = left - found.polynomial
            more.append(["<", i, key(found.polynomial), found.positive, found.above])
        if sign_on(left, region.domain) not in ROOMY:
            return None
        tokens += more
        return replace(region, open=(), kept=left)

    # --- parts -------------------------------------------------------------------------------------------

    def _on_line(
        self, region: SignRegion, unknown: Sequence[TermFactor], tokens: list[Token]
    ) -> list[SignRegion]:
        """Cuts an interval at a rational root, or between roots; where one root is left, by its factor."""
        name = unknown[0].line
        assert name is not None
        interval = region.domain.box[name]
        found = [(root, f) for f in unknown for root in self._roots(f, interval)]
        roots = [(root, f) for root, f in found if not _at_end(root, interval)]
        exact = next((root for root, _ in roots if root.is_rational), None)
        if exact is not None:
            return self._cut(region, name, exact.lower, tokens)
        if len(roots) == 1:
            return self._by_sign(region, roots[0][1].name, tokens)
        places = apart([root for root, _ in roots])
        middle = len(places) // 2
        return self._cut(region, name, simplest_between(*between(places[middle - 1], places[middle])), tokens)

    def _by_sign(self, region: SignRegion, name: str, tokens: list[Token]) -> list[SignRegion]:
        """Returns the parts where a factor is ≥ 0, and where it is ≤ 0."""
        g = self.factors[name].polynomial
        tokens.append(["sign", name])
        parts = []
        index = len(region.domain.constraints)
        for sign in (1, -1):
            more = Constraint(g * sign, False, f"{g * sign} >= 0")
            domain = replace(region.domain, constraints=(*region.domain.constraints, more))
            known = KnownSign(sign, certificates.constraint(index, Fraction(1), CONSTANT))
            parts.append(replace(region, domain=domain, signs={**region.signs, name: known}))
        return parts

    def _halves(self, region: SignRegion, axes: set[str], tokens: list[Token]) -> list[SignRegion]:
        """Cuts a box in the middle of the axis that is longest, compared with the whole domain."""
        whole, box = self.excess.domain.box, region.domain.box

        def length(name: str) -> Fraction:
            now, before = box[name], whole[name]
            return (now.upper - now.lower) / (before.upper - before.lower)

        name = max(sorted(axes), key=length)
        self.boxes += 1
        return self._cut(region, name, (box[name].lower + box[name].upper) / 2, tokens)

    def _cut(self, region: SignRegion, name: str, at: Fraction, tokens: list[Token]) -> list[SignRegion]:
        tokens.append(certificates.cut(name, at))
        own = region.domain.box[name]
        below = Interval(own.lower, at, own.lower_closed, True)
        above = Interval(at, own.upper, True, own.upper_closed)
        # A tree of cuts is one for its own box; all other proofs of signs are proofs for parts of it, too.
        signs = {n: known for n, known in region.signs.items() if len(known.proof.get("tree", "+")) == 1}
        parts = []
        for piece in (below, above):
            domain = replace(region.domain, box={**region.domain.box, name: piece})
            parts.append(replace(region, domain=domain, signs=signs))
        return parts


def _at_end(root: RealRoot, interval: Interval) -> bool:
    return root.is_rational and root.lower in (interval.lower, interval.upper)
