"""Claims in one variable, decided completely by exact real root isolation.

Between two neighbouring roots of f and of the constraints all signs are constant, so rational sample points
decide the claim. The certificate repeats this with Bernstein coefficients: factors of even multiplicity
are squares, the others have nonnegative coefficients on the pieces of a subdivision, so no root is inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from flint import fmpz_poly

from paramverify.algebra.domains import Interval
from paramverify.algebra.polynomials import Polynomial, constant_value, is_constant, variables
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import RealRoot, between, isolate, rational_root, sign_at, univariate
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import CONSTANT, POSITIVE, Proof, Token, univariate_tree
from paramverify.exact.procedure_outcomes import Outcome
from paramverify.formats.refutations import Confirm
from paramverify.simplify.reductions import factorisation, live_constraints

MAX_DEGREE = 1_000
IRRATIONAL = "it is false at irrational points only, so there is no rational witness"
UNCONFIRMED = "a violating point could not be confirmed"
MULTIPLE = "constraints meet in a multiple root"


def sole_variable(claim: Claim) -> str | None:
    """Returns the variable if the claim and the constraints that matter mention exactly one, or None."""
    names = set(variables(claim.polynomial))
    for _, constraint in live_constraints(claim.domain):
        names.update(variables(constraint.polynomial))
    return names.pop() if len(names) == 1 else None


def decide_small(claim: Claim, confirm: Confirm) -> Outcome | None:
    """Decides a claim that mentions at most one variable; None for others."""
    name = sole_variable(claim)
    if name is not None:
        return decide_univariate(claim, name, confirm)
    if variables(claim.polynomial) or live_constraints(claim.domain):
        return None
    if constant_value(claim.polynomial) >= 0:
        return Outcome(proof=CONSTANT)
    point = confirm({})
    return Outcome(point=point) if point is not None else Outcome(reason=UNCONFIRMED)


def decide_univariate(claim: Claim, name: str, confirm: Confirm) -> Outcome:
    """Decides a claim in the one variable that it mentions: a proof, or a confirmed point.

    Open only where it fails at irrational points only (equations between constraints), where a point cannot
    be confirmed, or for constraints that meet in a multiple root.
    """
    if max(claim.polynomial.degrees()) > MAX_DEGREE:
        return Outcome(reason=f"the degree is larger than {MAX_DEGREE}")
    line = _Line(claim, name)
    failing = line.failing_points()
    for value in failing:
        point = confirm({name: value})
        if point is not None:
            return Outcome(point=point)
    if failing:
        return Outcome(reason=UNCONFIRMED)
    if any(line.failing_roots()):
        return Outcome(reason=IRRATIONAL)
    proof = line.prove()
    return Outcome(proof=proof) if proof else Outcome(reason=MULTIPLE)


def fails_without_witness(claim: Claim) -> bool:
    """Tells whether a claim about one parameter fails at irrational points of its domain only.

    Decided on the claim itself, without any simplification; false also where that is not known.
    """
    parts = (claim.polynomial, *(c.polynomial for c in claim.domain.constraints))
    names = {name for part in parts for name in variables(part)}
    if len(names) != 1 or claim.domain.constant or any(max(p.degrees()) > MAX_DEGREE for p in parts):
        return False
    (name,) = names
    if name not in claim.domain.box:
        return False  # it is tied to another one
    if claim.domain.box[name].lower == claim.domain.box[name].upper:
        return False  # one point, which is rational
    line = _Line(claim, name)
    return not line.failing_points() and any(line.failing_roots())


def failing_places(claim: Claim, name: str) -> tuple[list[Fraction], list[RealRoot]]:
    """Returns rational and irrational values of the only variable at which a claim fails, some of each."""
    if max(claim.polynomial.degrees()) > MAX_DEGREE:
        return [], []
    line = _Line(claim, name)
    return line.failing_points(), list(line.failing_roots())


class _Line:
    """A univariate claim, cut at the roots of its polynomial and of its constraints."""

    def __init__(self, claim: Claim, name: str) -> None:
        self.claim, self.name = claim, name
        self.interval = claim.domain.box[name]
        self.poly = univariate(claim.polynomial)
        self.live = live_constraints(claim.domain)
        self.conditions = {k: univariate(c.polynomial) for k, c in self.live}
        product = fmpz_poly([1])
        for part in (self.poly, *self.conditions.values()):
            if part.degree() > 0:
                product *= part
        self.roots = isolate(product, self.interval.lower, self.interval.upper)

    def _feasible(self, signs: Mapping[int, int]) -> bool:
        return all(signs[k] > 0 or (signs[k] == 0 and not c.strict) for k, c in self.live)

    def _fails_at(self, at: Fraction) -> bool:
        signs = {k: sign_at(g, at) for k, g in self.conditions.items()}
        return sign_at(self.poly, at) < 0 and self._feasible(signs)

    def cells(self) -> list[tuple[Fraction, Fraction]]:
        """Returns a rational interval inside each open cell between neighbouring roots and ends."""
        ends = [rational_root(self.interval.lower), rational_root(self.interval.upper)]
        return [between(a, b) for a, b in pairwise([ends[0], *self.inner_roots(), ends[1]])]

    def inner_roots(self) -> list[RealRoot]:
        """Returns the roots strictly inside the interval, in order."""
        ends = (self.interval.lower, self.interval.upper)
        return [r for r in self.roots if not (r.is_rational and r.lower in ends)]

    def failing_points(self) -> list[Fraction]:
        """Returns simple rationals of the domain where f < 0: of each cell, the widest first, and roots."""
        samples = [(high - low, simplest_between(low, high)) for low, high in self.cells()]
        found = [at for _, at in sorted(samples, reverse=True) if self._fails_at(at)]
        exact = [r.lower for r in self.roots if r.is_rational] + [self.interval.lower, self.interval.upper]
        return found + [at for at in exact if at in self.interval and self._fails_at(at)]

    def failing_roots(self) -> Iterator[RealRoot]:
        """Yields the irrational roots of constraints that belong to the domain, and at which f < 0."""
        for root in self.roots:
            if not root.is_rational:
                signs = {k: sign_at_root(g, root) for k, g in self.conditions.items()}
                if sign_at_root(self.poly, root) < 0 and self._feasible(signs):
                    yield root

    def prove(self) -> Proof | None:
        """Returns a proof of a claim that holds, or None for multiple roots that are not resolved."""
        return self._prove_pieces() if self.live else self._prove_factors()

    def _prove_factors(self) -> Proof:
        """Without constraints, a factor of odd multiplicity has no root inside, where f would change sign."""
        parts: list[tuple[Polynomial, int, int, Proof | None]] = []
        constant, factors = factorisation(self.claim.polynomial)
        inside = self.interval.simplest()
        for factor, multiplicity in factors:
            sign = sign_at(univariate(factor), inside) if multiplicity % 2 else 1
            proof = None
            if multiplicity % 2:
                proof = certificates.tree(univariate_tree(factor * sign, self.name, self.interval))
            parts.append((factor, multiplicity, sign, proof))
        if len(parts) == 1 and parts[0][1:3] == (1, 1) and parts[0][3] is not None:
            return parts[0][3]  # a positive multiple of the factor has the same tree
        return certificates.factors(constant, parts)

    def _prove_pieces(self) -> Proof | None:
        """The interval is cut so that each piece has exactly one root of f and the constraints, or none."""
        first, last = self.interval.lower, self.interval.upper
        inner: list[RealRoot | None] = [*self.inner_roots()]
        around = [next((r for r in self.roots if r.lower == r.upper == end), None) for end in (first, last)]
        cuts, roots = [first], [around[0]]
        for (low, high), root in zip(self.cells(), [*inner, around[1]], strict=True):
            cuts += [low + (high - low) / 3, high - (high - low) / 3]
            roots += [None, root]
        tokens: list[Token] = []
        for (low, high), root in zip(pairwise([*cuts, last]), roots, strict=True):
            piece = self._piece(low, high, root)
            if piece is None:
                return None
            if high != last:
                tokens.append(certificates.cut(self.name, high))
            tokens += piece
        return certificates.tree(tokens)

    def _piece(self, low: Fraction, high: Fraction, root: RealRoot | None) -> list[Token] | None:
        """Returns the tree of a piece that contains at most the given root, for a claim that holds."""
        first, last = low == self.interval.lower, high == self.interval.upper
        interval = Interval(
            low,
            high,
            self.interval.lower_closed or not first,
            self.interval.upper_closed or not last,
        )
        if root and root.is_rational and root.lower not in interval:
            root = None  # an end that does not belong to the domain

        def sign(g: fmpz_poly) -> int:
            return sign_at(g, (low + high) / 2) if root is None else sign_at_root(g, root)

        # A polynomial that is not zero at that place has no zero in the piece at all, but for open ends.
        if sign(self.poly) > 0:
            return univariate_tree(self.claim.polynomial, self.name, interval)
        for k, constraint in self.live:
            if constraint.strict and not self.conditions[k]:
                return [certificates.outside(k)]
            if sign(self.conditions[k]) < 0:
                return univariate_tree(-constraint.polynomial, self.name, interval, certificates.outside(k))
        return self._around(low, high, root) if root else None

    def _around(self, low: Fraction, high: Fraction, root: RealRoot) -> list[Token] | None:
        """Returns the tree of a piece in which f and constraints may share a root.

        The piece is narrowed around the root until every polynomial is ±h^m, up to a factor of one sign.
        """
        domain = self.claim.domain
        h = domain.ring.from_terms(
            {
                tuple(i * (n == self.name) for n in domain.ring.names): Fraction(int(root.factor[i]))
                for i in range(root.factor.degree() + 1)
            }
        )
        divided = {k: _divided(c.polynomial, h) for k, c in self.live if c.polynomial}
        power, rest = _divided(self.claim.polynomial, h)
        once = {k: q for k, (m, q) in divided.items() if m == 1}
        reach = (high - low) / 4
        while True:
            a, b = max(low, root.lower), min(high, root.upper)
            if root.is_rational:
                a, b = max(low, root.lower - reach), min(high, root.upper + reach)
            inside = replace(
                domain, box={**domain.box, self.name: Interval(a, b, True, True)}, constraints=()
            )
            signs = {k: sign_on(q, inside) for k, q in once.items()}
            signs[-1] = sign_on(rest, inside)
            if all(sign in (Sign.POSITIVE, Sign.NEGATIVE) for sign in signs.values()):
                break
            reach, root = reach / 2, root.halved()
        proof = self._shared(h, power, rest, once, signs)
        if proof is None:
            return None
        tokens: list[Token] = []
        for part, ends in ((0, (low, a)), (1, (a, b)), (2, (b, high))):
            if ends[0] < ends[1]:
                piece = [proof] if part == 1 else self._piece(*ends, None)
                if piece is None:
                    return None
                tokens += [*([certificates.cut(self.name, ends[1])] if ends[1] != high else []), *piece]
        return tokens

    def _shared(
        self,
        h: Polynomial,
        power: int,
        rest: Polynomial,
        once: Mapping[int, Polynomial],
        signs: Mapping[int, Sign | None],
    ) -> Proof | None:
        """Returns a proof where f = h^power·rest, and constraints h·k ≥ 0 give the sign of h."""
        strict = {k: c.strict for k, c in self.live}
        by_sign: dict[int, list[int]] = {1: [], -1: []}
        for k in sorted(once, key=lambda k: not strict[k]):
            by_sign[1 if signs[k] is Sign.POSITIVE else -1].append(k)
        new = len(self.claim.domain.constraints)
        direction = 1 if signs[-1] is Sign.POSITIVE else -1
        shown = certificates.factors

        def known(sign: int, index: int) -> tuple[Polynomial, int, int, Proof]:
            return h, 1, sign, certificates.constraint(index, Fraction(1), CONSTANT)

        cofactor = (rest, 1, direction, POSITIVE)
        one = Fraction(1)
        if not is_constant(rest):
            parts = [cofactor]
        else:
            parts, one = [], constant_value(rest)
        if power % 2 == 0 and direction > 0:
            return shown(one, [*([(h, power, 1, None)] if power else []), *parts])
        used = [by_sign[s][0] for s in ((direction,) if power % 2 else (1, -1)) if by_sign[s]]
        if power % 2:
            if not used:
                return None
            squares = [(h, power - 1, 1, None)] if power > 1 else []
            inner = shown(one, [known(direction, new), *squares, *parts])
        elif len(used) < 2:
            return None
        elif power == 0:
            if not any(strict[k] for k in used):
                return None
            inner = certificates.contradiction(new, new + 1)
        else:
            squares = [(h, power - 2, 1, None)] if power > 2 else []
            inner = shown(one, [known(1, new), known(-1, new + 1), *squares, *parts])
        for k in used[::-1]:
            sign = 1 if signs[k] is Sign.POSITIVE else -1
            inner = certificates.divide(k, h, once[k], sign, inner)
        return inner


def sign_at_root(polynomial: fmpz_poly, root: RealRoot) -> int:
    """Returns the sign at one of the isolated roots of a product of which the polynomial is a factor.

    In the interval of a root no other factor of the product has a root.
    """
    if root.is_rational:
        return sign_at(polynomial, root.lower)
    if not polynomial or not polynomial % root.factor:
        return 0
    return sign_at(polynomial, root.lower)


def _divided(polynomial: Polynomial, factor: Polynomial) -> tuple[int, Polynomial]:
    """Returns (m, q) with polynomial = factor^m · q and q not divisible by the factor."""
    power = 0
    while True:
        quotient, remainder = divmod(polynomial, factor)
        if remainder:
            return power, polynomial
        power, polynomial = power + 1, quotient
