"""Functions of a number of an output, on an interval without breaks, as polynomials in variables of claims.

Where a density has the number itself beside its exponentials, `s = −ln(y)` stands beside y, for the y of
`models.spreads`. On an interval with two ends let a = 1 − r^L and S = −ln(1 − a), so that y = 1 − a·w. Then

    w·S − w·(1 − w)·(S − a)/y ≤ s ≤ w·S.

The upper bound is the chord: s is convex in w. For the lower one let h(w) be y times what s is beyond it.
Then `h = (a − S·(1 − a))·w² − a·w − y·ln(y)` and h(0) = h'(0) = h(1) = 0. Its second derivative is
`2·(a − S·(1 − a)) − a²/y`. That falls, from `Σ 2·a^k/(k·(k − 1))` over k ≥ 3, which is positive. So h is
convex first and concave afterwards, and h ≥ 0.

So s is the upper bound without a share of what lies between both, and a second variable is that share. A
claim for all shares says more than what is asked: it proves, and refutes nothing. At the ends both bounds are
exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import comb, gcd, lcm

from paramverify.algebra.exponents import OUTPUTS, SLACKS
from paramverify.algebra.polynomials import Polynomial, RationalFunction
from paramverify.errors import FinerError, UnsupportedError
from paramverify.models.programs import terms as t
from paramverify.models.programs.bases import EXP, Bases
from paramverify.models.programs.coefficients import Coefficient
from paramverify.models.programs.terms import ONE, PowerFactor, Rate, TermKey, Terms, times
from paramverify.models.programs.zones import Number, exact
from paramverify.models.spreads import ArithmeticSequence

Ends = tuple[Number | None, Number | None]

MAX_DEGREE = 64  # in the variable of an output
RESONANT = (
    "beyond all breaks, the density of a number that is put out has the number itself beside its exponential "
    "and several terms, which is not covered: take scales of which none is a sum or difference of others"
)
UNRELATED = (
    "numbers whose probability has terms with unrelated bases are not covered: give each noise of its own"
)
STEEP = (
    f"a number that is put out needs a polynomial of a degree above {MAX_DEGREE}: "
    "take scales that are small multiples of each other"
)


@dataclass(frozen=True)
class _PowerPlace:
    """Where functions are written: the powers of y, the `product` y·s, and the `most` powers of the number.

    The number is `anchor + way·t`, and `s = slope·unit·t`.
    """

    anchor: Number
    way: int
    ladder: Sequence[Coefficient]
    product: Terms
    slope: Fraction
    most: int


def spread_on(
    bases: Bases, functions: Sequence[Terms], name: int, ends: Ends, whole: bool
) -> tuple[ArithmeticSequence, tuple[Terms, ...]]:
    """Returns functions of `v[name]` between two ends as polynomials, and what their variables mean.

    One positive function is divided out of all of them. With both ends or one: None is infinity.

    Raises:
        FinerError: the ring has no such variable yet, or too few powers.
        UnsupportedError: powers of `v[name]` beyond all breaks; or no rate has all the others as powers.
    """
    low, high = ends
    anchor, way = (high, -1) if low is None else (low, 1)
    assert anchor is not None
    rates = sorted({_factor(key, name).rate for terms in functions for key in terms})
    step, powers = grid(bases, rates)
    if way < 0:
        top = max(powers.values())
        powers = {rate: top - k for rate, k in powers.items()}
    if max(powers.values()) > MAX_DEGREE:
        raise UnsupportedError(STEEP)
    calculus = bases.calculus
    length = None if low is None or high is None else Fraction(high - low)
    base = calculus.value(step, 1 if length is None else exact(length))
    w = _variable(bases, OUTPUTS, "w", name)
    y = w if length is None else calculus.one - (calculus.one - base) * w
    most = max(_factor(key, name).power for terms in functions for key in terms)
    ladder = [calculus.one]
    for _ in range(max(powers.values()) + most):
        ladder.append(ladder[-1] * y)
    product: Terms = {}
    slope = Fraction(0)
    if most:
        slope = _slope(bases, step)
        if length is None or whole:
            raise UnsupportedError(RESONANT)
        share = _variable(bases, SLACKS, "r", name) * w * (calculus.one - w)
        # y·s = (y·w − share)·S + share·a, for S = slope·unit·length
        product = {TermKey((), 1 if bases.unit_name else 0): (y * w - share).times(slope * length)}
        product = t.plus(product, {TermKey(): share * (calculus.one - base)})
    place = _PowerPlace(anchor, way, ladder=ladder, product=product, slope=slope, most=most)
    totals = tuple(_written_at(bases, terms, name, place, powers) for terms in functions)
    spread = ArithmeticSequence(
        f"w{name}",
        base.function(),
        Fraction(anchor),
        way=Fraction(way),
        length=length,
        whole=whole,
        slack=f"r{name}" if most else "",
    )
    return spread, totals


def _written_at(
    bases: Bases, terms: Terms, name: int, place: _PowerPlace, powers: Mapping[Rate, int]
) -> Terms:
    """Returns a function times y^most."""
    found: Terms = {}
    for key, c in terms.items():
        factor = _factor(key, name)
        c = c * bases.calculus.value(factor.rate, place.anchor)
        s: Terms = {TermKey(): bases.calculus.one}  # (y·s)^m
        for m in range(factor.power + 1):
            # (anchor + way·t)^power, with t = s/(slope·unit)
            number = comb(factor.power, m) * Fraction(place.anchor) ** (factor.power - m) * place.way**m
            if number:
                number = number / place.slope**m if m else number
                units = key.units - (m if bases.unit_name else 0)
                part = (c * place.ladder[powers[factor.rate] + place.most - m]).times(number)
                found = t.plus(found, t.product({TermKey((), units): part}, s))
            if m < factor.power:
                s = t.product(s, place.product)
    return found


def _slope(bases: Bases, step: Rate) -> Fraction:
    """Returns −ln(step) in units."""
    ((base, k),) = step
    if base != EXP:
        raise UnsupportedError(RESONANT)
    return -bases.slope(base, k)


def _variable(bases: Bases, kind: str, letter: str, number: int) -> Coefficient:
    """Returns the variable of a kind for a coordinate of an output."""
    name = f"{letter}{number}"
    if name not in bases.ring.outputs:
        raise FinerError(kind, Fraction(number))
    return Coefficient.of(bases.ring, RationalFunction.of(bases.ring.variable(name)))


def _factor(key: TermKey, name: int) -> PowerFactor:
    (factor,) = key.factors or (PowerFactor(name, 0, ONE),)
    return factor


def grid(bases: Bases, rates: Sequence[Rate]) -> tuple[Rate, Mapping[Rate, int]]:
    """Returns a rate r below 1, and for each given one the k ≥ 0 with `rate = common · r^k`; one k is 0.

    Raises:
        UnsupportedError: there is none.
    """
    first = rates[0]
    apart = {rate: times(rate, first, -1) for rate in rates}
    vectors = {rate: _vector(bases, other) for rate, other in apart.items()}
    longest = max(vectors, key=lambda rate: len(vectors[rate]))
    if not vectors[longest]:
        return _plain(bases), dict.fromkeys(rates, 0)
    lead = next(iter(vectors[longest]))
    shares = {rate: v.get(lead, Fraction(0)) / vectors[longest][lead] for rate, v in vectors.items()}
    for rate, vector in vectors.items():
        whole = {what: k * shares[rate] for what, k in vectors[longest].items()}
        if {what: k for what, k in whole.items() if k} != vector:
            raise UnsupportedError(UNRELATED)
    bottom = lcm(*(s.denominator for s in shares.values()))
    common = reduce(gcd, (int(s * bottom) for s in shares.values()))
    unit = Fraction(common, bottom)  # of `longest`: the least power of it that is needed
    numbers = {rate: int(s / unit) for rate, s in shares.items()}
    step = tuple((base, exact(Fraction(k) * unit)) for base, k in apart[longest])
    step = _written(step, apart, numbers)
    if not bases.small(step):
        step, numbers = times(ONE, step, -1), {rate: -k for rate, k in numbers.items()}
    least = min(numbers.values())
    return step, {rate: k - least for rate, k in numbers.items()}


def _plain(bases: Bases) -> Rate:
    """Returns any rate below 1, for functions with one rate."""
    return ((EXP, exact(-1 / bases.step)),) if bases.step else ((1, 1),)


def _written(step: Rate, apart: Mapping[Rate, Rate], numbers: Mapping[Rate, int]) -> Rate:
    """Returns a step whose powers of functions are whole ones, as a product of given rates."""
    if all(base == EXP or Fraction(k).denominator == 1 for base, k in step):
        return step
    total, found = 0, ONE
    for rate, k in numbers.items():  # by the Euclidean algorithm for the greatest common divisor of all k
        a, b, x, y = total, k, found, apart[rate]
        while b:
            a, b, x, y = b, a % b, y, times(x, y, -(a // b))
        total, found = a, x
    return found if total > 0 else times(ONE, found, -1)


def _vector(bases: Bases, rate: Rate) -> dict[str, Fraction]:
    """Returns the exponents of a rate as a product of what is irreducible."""
    found: dict[str, Fraction] = {}
    for base, k in rate:
        parts = {"e": Fraction(1)} if base == EXP else _factors(bases.functions[base - 1])
        for what, m in parts.items():
            found[what] = found.get(what, Fraction(0)) + m * Fraction(k)
    return {what: k for what, k in sorted(found.items()) if k}


def _factors(function: RationalFunction) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}

    def add(polynomial: Polynomial, sign: int) -> None:
        content, factors = polynomial.factor()
        for number, way in ((abs(content.p), sign), (content.q, -sign)):
            for prime, m in number.factor() if number > 1 else ():
                found[str(prime)] = found.get(str(prime), Fraction(0)) + way * int(m)
        for factor, m in factors:
            text = str(min(factor, -factor, key=str))
            found[text] = found.get(text, Fraction(0)) + sign * int(m)

    add(function.numerator, 1)
    add(function.denominator, -1)
    return found
