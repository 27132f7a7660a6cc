"""Outputs with numbers that carry noise, as finitely many observations.

Sets on which all ratios are the same.

The runs with one form of output have a weight that is a function of the coordinates of the output
(`noisy_numbers`). Coordinates that are independent under every input are told apart one by one: the cells of
a vector are the products of the cells of its parts.

Functions of a number of an output, on an interval without breaks, as polynomials in variables of claims.

Where a density has the number itself beside its exponentials, `s = −ln(y)` stands beside y, for the y of
`models.hmm`. On an interval with two ends let a = 1 − r^L and S = −ln(1 − a), so that y = 1 − a·w. Then

    w·S − w·(1 − w)·(S − a)/y ≤ s ≤ w·S.

The upper bound is the chord: s is convex in w. For the lower one let h(w) be y times what s is beyond it.
Then `h = (a − S·(1 − a))·w² − a·w − y·ln(y)` and h(0) = h'(0) = h(1) = 0. Its second derivative is
`2·(a − S·(1 − a)) − a²/y`. That falls, from `Σ 2·a^k/(k·(k − 1))` over k ≥ 3, which is positive. So h is
convex first and concave afterwards, and h ≥ 0.

So s is the upper bound without a share of what lies between both, and a second variable is that share. A
claim for all shares says more than what is asked: it proves, and refutes nothing. At the ends both bounds are
exact.

Sets of numbers of an output on which the ratio of any two weights is the same: one observation each.

Outputs whose weights under all inputs are proportional tell the same about the input. So a set of them is as
good as each of them: its weight is a sum, and no measure of privacy can tell the difference (the set is a
sufficient statistic).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from math import comb, gcd, lcm, prod

from paramverify.algebra.polynomials import OUTPUTS, SLACKS, Polynomial, RationalFunction, Ring
from paramverify.errors import DefectError, FinerError, SizeError, UnsupportedError
from paramverify.models.hmm import ArithmeticSequence
from paramverify.models.programs import noise_terms as t
from paramverify.models.programs.noise_densities import EXP, Bases
from paramverify.models.programs.noise_terms import (
    NONE,
    ONE,
    ZERO,
    Coefficient,
    Interval,
    NoiseVariable,
    Number,
    Pieces,
    PowerFactor,
    Rate,
    Reals,
    TermKey,
    Terms,
    Zone,
    ends,
    exact,
    times,
)
from paramverify.models.programs.noisy_numbers import NumberForm, filled, fixed, formed, holes
from paramverify.models.programs.noisy_numbers import Row as ReleasedRow
from paramverify.models.programs.run_states import (
    Hole,
    Linear,
    Measure,
    OutputInterval,
    Outputs,
    ProgramState,
    Put,
    Told,
    flat,
    is_density,
    total,
)
from paramverify.models.programs.run_states import key as output_key

Ends = tuple[Number | None, Number | None]

MAX_DEGREE = 64  # in the variable of an output
RESONANT = (
    "beyond all breaks, the density of an output number contains the number both by "
    "itself and in exponentials, with several terms, which is not supported: choose "
    "scales of which none is a sum or difference of others"
)
UNRELATED = (
    "outputs whose probability has terms with unrelated bases are not supported: add "
    "independent noise to each output"
)
STEEP = (
    f"an output number needs a polynomial of a degree above {MAX_DEGREE}: choose scales "
    "that are small multiples of each other"
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
        product = t.plus_terms(product, {TermKey(): share * (calculus.one - base)})
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
                found = t.plus_terms(found, t.product_of_terms({TermKey((), units): part}, s))
            if m < factor.power:
                s = t.product_of_terms(s, place.product)
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
        parts = {"e": Fraction(1)} if base == EXP else _spread_factors(bases.functions[base - 1])
        for what, m in parts.items():
            found[what] = found.get(what, Fraction(0)) + m * Fraction(k)
    return {what: k for what, k in sorted(found.items()) if k}


def _spread_factors(function: RationalFunction) -> dict[str, Fraction]:
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


MAX_POINTS = 1_000  # values of one number that are told apart
SINGLE = 4  # values beyond all breaks that are told apart where the functions have three terms or more
INSIDE = "inside"  # a side: each value between the ends


@dataclass(frozen=True)
class Extent:
    """The values of a coordinate from `low` to `high`; None is infinity.

    With a `side` it is one value, of a continuous coordinate: what is told is the density there, or the limit
    of the density from below or from above. `far above` and `far below` are no value: what is told is the
    coefficient of the leading term, so the ratio is the limit of the ratios. With a `spread` it stands for
    each of the values: which one, a variable of the claims says.
    """

    name: int
    low: Number | None
    high: Number | None
    side: str = ""
    spread: ArithmeticSequence | None = None


Found = tuple[Hashable, Extent, list[Terms]]


@dataclass(frozen=True, eq=False)
class WeightedCell:
    """A set of values of some coordinates, with its weight under each function."""

    extents: tuple[Extent, ...]
    totals: tuple[Terms, ...]


def whole_cells(bases: Bases, functions: Sequence[Pieces], name: int) -> list[WeightedCell]:
    """Returns cells of functions of one whole variable that cover where any is not zero.

    Beyond all breaks, where the functions have two terms, the first value is a cell, and the limit far away:
    see `affine`.

    Raises:
        UnsupportedError: see `spread_on`, for functions that have more terms beyond all breaks.
        SizeError: more than `MAX_POINTS` values between the breaks.
    """
    calculus, noise = bases.calculus, NoiseVariable(name, True, NONE)
    flat = [[(*ends(z), terms) for z, terms in t.flat(calculus, f, noise).items()] for f in functions]
    cuts = [c for f in flat for low, high, _ in f for c in (low, None if high is None else high + 1)]
    known = [int(c) for c in cuts if c is not None]
    first, last = min(known), max(known)
    if last - first > MAX_POINTS:
        raise SizeError(f"an output number has more than {MAX_POINTS:,} distinguishable values")
    found: list[Found] = []
    for low, high in ((None, first - 1), *((k, k) for k in range(first, last)), (last, None)):
        extent = Extent(name, low, high)
        terms = [_terms(f, extent) for f in flat]
        if low is not None and low == high:
            terms = totals = [t.at(calculus, inside, name, low) for inside in terms]
        else:
            totals = [_total(bases, inside, extent, noise) for inside in terms]
        if not any(terms):
            continue
        ratios = ratio(terms)
        if ratios is None and low != high and not affine(_factors(terms)):
            found += _spread_tail(bases, terms, extent)
        elif ratios is None and low != high:
            found += _tail(bases, terms, extent)
        else:
            found.append((object() if ratios is None else ratios, extent, totals))
    return list(_fewer(found))


def real_points(bases: Bases, functions: Sequence[Pieces], name: int, reals: Reals) -> list[WeightedCell]:
    """Returns the places at which densities of one continuous variable have to be compared.

    Between two neighbouring breaks either each density is `c·e^(kv)` or zero: then the logarithm of the ratio
    of two is linear, so the ratio is largest at an end, or in the limit towards it. Or they have two terms
    together, see `affine`. A ratio that is larger than a bound in the limit is so on an interval of outputs,
    which has a positive probability. So the densities at the breaks, from both sides, are enough, and beyond
    all breaks the limit far away. Where they have more terms, all values are compared, see `spreads`.

    Raises:
        UnsupportedError: see `spread_on`.
        SizeError: more than `MAX_POINTS` breaks.
    """
    calculus, noise = bases.calculus, NoiseVariable(name, False, reals)
    flat = [[(*ends(z), terms) for z, terms in t.flat(calculus, f, noise).items()] for f in functions]
    cuts = sorted({c for f in flat for low, high, _ in f for c in (low, high) if c is not None})
    if len(cuts) > MAX_POINTS:
        raise SizeError(f"a density has more than {MAX_POINTS:,} breaks")
    edges: list[Number | None] = [None, *cuts, None]
    parts = [[_terms(f, Extent(name, *pair)) for f in flat] for pair in pairwise(edges)]
    found = []
    for terms, ends_ in zip(parts[1:-1], pairwise(cuts), strict=True):
        single = all(len(inside) <= 1 for inside in terms) and not _powers(terms)
        if not single and not affine(_factors(terms)):
            found.append(_spread(bases, terms, Extent(name, *ends_, INSIDE)))
    for cut, below, above in zip(cuts, parts[:-1], parts[1:], strict=True):
        left, right = ([t.at(calculus, t_, name, cut) for t_ in terms] for terms in (below, above))
        sides = [("at", left)] if left == right else [("just below", left), ("just above", right)]
        found += [WeightedCell((Extent(name, cut, cut, s),), tuple(v)) for s, v in sides if any(v)]
    for terms, extent, side in (
        (parts[0], Extent(name, None, cuts[0], INSIDE), "far below"),
        (parts[-1], Extent(name, cuts[-1], None, INSIDE), "far above"),
    ):
        if not affine(_factors(terms)):
            found.append(_spread(bases, terms, extent))
            continue
        found += [WeightedCell((extent,), totals) for extent, totals in _limits(bases, terms, name, side)]
    return found


def _spread(bases: Bases, terms: Sequence[Terms], extent: Extent, whole: bool = False) -> WeightedCell:
    """Returns the cell that stands for each value of an extent."""
    spread, totals = spread_on(bases, terms, extent.name, (extent.low, extent.high), whole)
    return WeightedCell((replace(extent, spread=spread),), totals)


SEVERAL = (
    "outputs whose probability or density has several terms are not supported: add "
    "independent noise to each output"
)


def _factors(terms: Sequence[Terms]) -> list[PowerFactor]:
    """Returns the different functions of the variable in terms of one variable."""
    return sorted({key.factors[0] if key.factors else PowerFactor(0, 0, ONE) for t in terms for key in t})


def _powers(terms: Sequence[Terms]) -> bool:
    return any(factor.power for factor in _factors(terms))


def affine(factors: Sequence[PowerFactor]) -> bool:
    """Tells whether sums of some functions are affine in a monotone one, up to a common positive factor.

    `a·r^v + b·s^v` is r^v·(a + b·t) with t = (s/r)^v, and `(a + b·v)·r^v` is so with t = v. A claim about two
    such sums is affine in t, too: where it holds at both ends of an interval, or in the limits there, it
    holds between them. With several coordinates it is affine in each.
    """
    if len(factors) > 2:
        return False
    powers = [factor.power for factor in factors]
    same = len({factor.rate for factor in factors}) == 1
    return not any(powers) or (same and sorted(powers) == [0, 1])


def _tail(bases: Bases, terms: Sequence[Terms], extent: Extent) -> Iterator[Found]:
    """Yields the cells beyond all breaks: the first value, and the limit, where there are two terms."""
    name, calculus = extent.name, bases.calculus
    first = extent.high if extent.low is None else extent.low
    assert first is not None
    values = [t.at(calculus, inside, name, first) for inside in terms]
    near: Found = (ratio(values) or object(), Extent(name, first, first), values)
    side = "far below" if extent.low is None else "far above"
    far = [(object(), e, list(totals)) for e, totals in _limits(bases, terms, name, side)]
    yield from [*far, near] if extent.low is None else [near, *far]


def _spread_tail(bases: Bases, terms: Sequence[Terms], extent: Extent) -> Iterator[Found]:
    """Yields the cells beyond all breaks where there are more terms: some values, then all the others."""
    name, calculus = extent.name, bases.calculus
    upwards = extent.high is None
    first, way = (extent.low, 1) if upwards else (extent.high, -1)
    assert first is not None
    near: list[Found] = []
    for k in range(SINGLE):
        value = first + way * k
        values = [t.at(calculus, inside, name, value) for inside in terms]
        near.append((ratio(values) or object(), Extent(name, value, value), values))
    end = first + way * SINGLE
    rest = Extent(name, end, None, INSIDE) if upwards else Extent(name, None, end, INSIDE)
    cell = _spread(bases, terms, rest, whole=True)
    far: Found = (object(), cell.extents[0], list(cell.totals))
    yield from [*near, far] if upwards else [far, *near[::-1]]


def _limits(
    bases: Bases, terms: Sequence[Terms], name: int, side: str
) -> Iterator[tuple[Extent, tuple[Terms, ...]]]:
    """Yields what the ratios of functions of one variable tend to; nothing where they are constant."""
    factors = _factors(terms)
    if len(factors) < 2:
        return
    if not affine(factors):
        raise UnsupportedError(SEVERAL)
    upwards = side == "far above"
    (_, first, low), (_, second, high) = factors
    if first != second:
        power, sign = 1, 1 if upwards else -1
        rate = low
    else:
        power, sign = 0, 1
        falls = bases.small(times(high, low, -1))  # (high/low)^v falls
        rate = low if falls == upwards else high
    leading = [
        {
            TermKey((), key.units): c.times(Fraction(sign))
            for key, c in inside.items()
            if (key.factors[0][1:] if key.factors else (0, ONE)) == (power, rate)
        }
        for inside in terms
    ]
    yield Extent(name, None, None, side), tuple(leading)


def _terms(function: Sequence[Interval], extent: Extent) -> Terms:
    """Returns the terms of a function on an extent that no break cuts."""
    for low, high, terms in function:
        after = low is None or (extent.low is not None and low <= extent.low)
        if after and (high is None or (extent.high is not None and extent.high <= high)):
            return terms
    return {}


def _total(bases: Bases, terms: Terms, extent: Extent, noise: NoiseVariable) -> Terms:
    """Returns the sum of terms over an extent."""
    low = () if extent.low is None else (((ZERO, noise.name), -extent.low),)
    zone: Zone = low if extent.high is None else (*low, ((noise.name, ZERO), extent.high))
    return t.value(t.eliminated(bases.calculus, {zone: terms}, noise, bases.small)) if terms else {}


def ratio(parts: Sequence[Terms]) -> Hashable | None:
    """Returns what tells functions with other ratios apart; None if the ratios are not constant."""
    keys = {key for terms in parts for key in terms}
    found = {_normal([terms.get(key) for terms in parts]) for key in keys}
    return found.pop() if len(found) == 1 else None


def _normal(column: Sequence[Coefficient | None]) -> tuple[str, ...]:
    first = next(c for c in column if c is not None)
    return tuple("" if c is None else (c / first).text for c in column)


def _fewer(found: Sequence[tuple[Hashable, Extent, list[Terms]]]) -> Iterator[WeightedCell]:
    """Yields neighbours with the same ratios as one."""
    kept: tuple[Hashable, Extent, list[Terms]] | None = None
    for ratios, extent, totals in found:
        if kept is not None and kept[0] == ratios and kept[1].high == (extent.low or 0) - 1:
            both: list[Terms] = [t.plus_terms(a, b) for a, b in zip(kept[2], totals, strict=True)]
            kept = ratios, Extent(extent.name, kept[1].low, extent.high), both
            continue
        if kept is not None:
            yield WeightedCell((kept[1],), tuple(kept[2]))
        kept = ratios, extent, totals
    if kept is not None:
        yield WeightedCell((kept[1],), tuple(kept[2]))


TURNED = {
    "just below": "just above",
    "just above": "just below",
    "far below": "far above",
    "far above": "far below",
}


def told(form: NumberForm, extents: Sequence[Extent], places: Sequence[int]) -> dict[int, Put]:
    """Returns for each number of an output its value, or the values that it may have.

    Where a range is not about one number alone, it names the numbers: in `o2 - o1 >= 3`, o2 is the second
    value of the output. `places` are those of the numbers, from 1.
    """
    ranges = {
        e.name - 1: tuple(None if end is None else end + form.parts[e.name - 1] for end in (e.low, e.high))
        for e in extents
    }
    found: dict[int, Put] = {}
    sides = {e.name - 1: e.side for e in extents}
    spreads = {e.name - 1: e.spread for e in extents}
    if not any(sides.values()) and all(low is not None and low == high for low, high in ranges.values()):
        values = [Fraction(ranges[i][0] or 0) for i in range(len(form.whole))]
        for k in form.pivots:
            found[k] = sum((a * v for a, v in zip(form.rows[k], values, strict=True)), Fraction(0))
    else:
        for i, (k, row) in enumerate(shared_out(form)):
            low, high = (None if end is None else Fraction(end) for end in ranges[i])
            found[k] = _between(row, form.pivots, (low, high), (k, places))
            if form.whole[i]:
                found[k] = _on_grid(found[k], row, form.pivots.index(k), form.parts[i])
            if sides[i]:
                found[k] = _beside(found[k], sides[i], row[form.pivots.index(k)] < 0)
            spread = spreads[i]
            if spread is not None:
                found[k] = _spread_label(found[k], spread.moved(form.parts[i]), row[form.pivots.index(k)])
    for k, (row, constant) in enumerate(form.after):
        if k in form.pivots:
            continue
        others = [found[j] for j in form.pivots]
        if all(isinstance(v, Fraction) for v in others):
            plain = (a * v for a, v in zip(row, others, strict=True) if isinstance(v, Fraction))
            found[k] = sum(plain, constant)
        else:
            against = (*(-a for a in row), Fraction(1))
            found[k] = OutputInterval(constant, constant, _sum(against, (*form.pivots, k), places))
    return found


def shared_out(form: NumberForm) -> list[tuple[int, ReleasedRow]]:
    """Returns for each coordinate one of the numbers of the output, and the coordinate by these."""
    found: list[tuple[int, ReleasedRow]] = []
    for row in form.inverse:
        taken = {k for k, _ in found}
        free = [k for k in form.pivots if k not in taken]
        inside = [k for k, a in zip(form.pivots, row, strict=True) if a and k in free]
        found.append(((inside or free)[-1], row))
    return found


def _on_grid(value: Put, row: ReleasedRow, own: int, part: Fraction) -> Put:
    """Returns the words for numbers, or sums of them, that are whole ones plus a part."""
    if not isinstance(value, OutputInterval):
        return value
    return replace(value, grid=(Fraction(1) if value.of else row[own], part))


def _beside(value: Put, side: str, turned: bool) -> Put:
    """Returns the words for a density; with `turned` the number falls where its coordinate rises."""
    known = value if isinstance(value, OutputInterval) else None
    if known is None or not known.of:
        side = TURNED.get(side, side) if turned else side
    if known is not None:
        return replace(known, side=side)
    assert isinstance(value, Fraction)
    return OutputInterval(value, value, side=side)


def _spread_label(value: Put, spread: ArithmeticSequence, slope: Fraction) -> Put:
    """Returns the words for each number between two ends; it is its coordinate divided by the slope."""
    assert isinstance(value, OutputInterval)
    return replace(value, spread=spread if value.of else spread.divided(slope))


def _between(
    row: ReleasedRow,
    pivots: Sequence[int],
    ends: tuple[Fraction | None, Fraction | None],
    where: tuple[int, Sequence[int]],
) -> Put:
    """Returns the values of a number for which a sum is between two ends."""
    place, places = where
    slopes = {k: a for k, a in zip(pivots, row, strict=True) if a}
    low, high = ends
    if slopes.keys() == {place}:
        slope = slopes[place]
        if slope < 0:
            low, high = high, low
        low, high = (None if end is None else end / slope for end in (low, high))
        return low if low is not None and low == high else OutputInterval(low, high)
    return OutputInterval(low, high, _sum(row, pivots, places))


def _sum(row: ReleasedRow, pivots: Sequence[int], places: Sequence[int]) -> tuple[tuple[int, Fraction], ...]:
    """Returns a sum of numbers of the output, by their places."""
    return tuple((places[k], a) for k, a in zip(pivots, row, strict=True) if a)


MAX_CELLS = 20_000  # observations of one form of output


@dataclass(frozen=True, eq=False)
class EndedRuns:
    """Runs that have ended: their output, its numbers with noise, their weight, and their inputs."""

    outputs: Outputs
    released: tuple[Linear, ...]
    measure: Measure
    members: tuple[int, ...]


Row = list[tuple[Outputs, Terms]]  # the observations of one input
Table = list[list[tuple[Outputs, RationalFunction]]]


def without_noise(finished: Mapping[Told, Terms], one: Measure) -> Iterator[EndedRuns]:
    """Yields runs that ended without numbers that carry noise; `one` is a measure of no variables."""
    for (written, agreeing), terms in finished.items():
        yield EndedRuns(written.outputs, (), replace(one, scalar=terms), agreeing.members)


def with_noise(states: Iterable[ProgramState]) -> Iterator[EndedRuns]:
    """Yields runs that ended with numbers that carry noise."""
    for state in states:
        for (written, agreeing), weight in state.runs.items():
            measure = state.measure.weighted(weight)
            yield EndedRuns(written.outputs, state.released, measure, agreeing.members)


def rows_of(ended: Sequence[EndedRuns], count: int) -> list[Row]:
    """Returns the observations of each of so many inputs, with their weights.

    Raises:
        UnsupportedError: outputs that are not covered. SizeError: too many observations.
    """
    rows: list[dict[Hashable, tuple[Outputs, Terms]]] = [{} for _ in range(count)]
    whole = _whole_places(ended)
    forms: dict[Hashable, tuple[Outputs, NumberForm, dict[int, list[Measure]]]] = {}
    shapes: dict[Hashable, Hashable] = {}
    for runs in ended:
        runs = with_points(runs, whole.get(_skeleton(runs.outputs), {}))
        order = holes(runs.outputs)
        if not order:
            what = output_key(runs.outputs)
            for k in runs.members:
                terms = runs.measure.scalar  # many inputs share it
                if what in rows[k]:
                    terms = t.plus_terms(rows[k][what][1], terms)
                rows[k][what] = runs.outputs, terms
            continue
        outputs = filled(runs.outputs, {n: Hole(k) for k, n in enumerate(order)})
        form, measure = formed([runs.released[n] for n in order], runs.measure)
        what = output_key(outputs)
        if shapes.setdefault(what, form.shape) != form.shape:
            raise UnsupportedError(
                "outputs that add noise of different forms at one position are not supported"
            )
        _, _, weights = forms.setdefault((what, form), (outputs, form, {}))
        for k in runs.members:
            weights.setdefault(k, []).append(measure)
    for outputs, form, weights in forms.values():
        for k, observation, terms in _observations(outputs, form, {k: total(m) for k, m in weights.items()}):
            if output_key(observation) in rows[k]:
                raise DefectError(f"two sets of outputs have the same name, {output_key(observation)}")
            rows[k][output_key(observation)] = observation, terms
    return [list(row.values()) for row in rows]


def check_sums(rows: Table, ring: Ring) -> Table:
    """Returns the rows; checks that the probabilities of each input sum to 1, identically; densities do not.

    Raises:
        DefectError: they do not.
    """
    if any(is_density(outputs) for row in rows for outputs, _ in row):
        return rows  # a limit that is zero under one input is left out of its row, which then tells of none
    for row in rows:
        total = RationalFunction.of(ring.number(0))
        for _, share in row:
            total = total + share
        if total != RationalFunction.of(ring.number(1)):
            raise DefectError(f"the probabilities of the outputs sum to {total} instead of 1")
    return rows


def _skeleton(outputs: Outputs) -> Hashable:
    """Returns an output without its numbers: outputs with other ones are never the same."""

    def entry(value: Put) -> Hashable:
        if isinstance(value, tuple):
            return ("list", tuple(map(entry, value)))
        is_number = isinstance(value, (Fraction, Hole))
        return "number" if is_number else output_key(value)

    return tuple(map(entry, outputs))


def _numbers(outputs: Outputs) -> Iterator[Fraction | Hole]:
    """Yields the numbers of an output in their order."""
    return (v for v in flat(outputs) if isinstance(v, (Fraction, Hole)))


def _whole_places(ended: Iterable[EndedRuns]) -> dict[Hashable, dict[int, Fraction]]:
    """Returns for each skeleton the places of numbers at which any runs have whole noise, with its slope."""
    found: dict[Hashable, dict[int, Fraction]] = {}
    for runs in ended:
        for place, number in enumerate(_numbers(runs.outputs)):
            if isinstance(number, Hole):
                slopes = runs.released[number.number].slopes
                if all(runs.measure.whole[name] for name, _ in slopes):
                    places = found.setdefault(_skeleton(runs.outputs), {})
                    places.setdefault(place, abs(slopes[0][1]))
    return found


def with_points(runs: EndedRuns, slopes: Mapping[int, Fraction]) -> EndedRuns:
    """Returns runs whose plain numbers at some places are noise with one value only.

    So they are compared with the numbers with whole noise that others put out there: these may be the same.
    """
    count = -1
    released, measure = runs.released, runs.measure

    def entry(value: Put) -> Put:
        nonlocal count, released, measure
        if isinstance(value, tuple):
            return tuple(map(entry, value))
        if not isinstance(value, (Fraction, Hole)):
            return value
        count += 1
        if isinstance(value, Hole) or count not in slopes:
            return value
        name = measure.fresh
        measure = fixed(name, measure)
        released = (*released, Linear(((name, slopes[count]),), value))
        return Hole(len(released) - 1)

    outputs = tuple(map(entry, runs.outputs))
    return replace(runs, outputs=outputs, released=released, measure=measure)


def _observations(
    outputs: Outputs, form: NumberForm, weights: Mapping[int, Measure]
) -> Iterator[tuple[int, Outputs, Terms]]:
    """Yields (input, observation, weight) for one form of output; no weight is zero."""
    names = range(1, len(form.whole) + 1)
    groups = _groups(names, weights.values())
    functions = {k: [_Function.of(m, g) for g in groups] for k, m in weights.items()}
    cells: list[list[WeightedCell]] = []
    numbers: list[dict[Hashable, int]] = []
    for number, group in enumerate(groups):
        known = {f[number].text: f[number].pieces for f in functions.values()}
        numbers.append({text: k for k, text in enumerate(known)})
        cells.append(_cells(next(iter(weights.values())), form, list(known.values()), group))
    if prod(map(len, cells)) > MAX_CELLS:
        raise SizeError(f"the output numbers need more than {MAX_CELLS:,} observations; output fewer of them")
    places = [k for k, value in enumerate(flat(outputs), start=1) if isinstance(value, Hole)]
    for chosen in product(*cells):
        extents = [e for cell in chosen for e in cell.extents]
        observation = filled(outputs, told(form, extents, places))
        for k, measure in weights.items():
            terms = measure.scalar
            for cell, function, number_of in zip(chosen, functions[k], numbers, strict=True):
                terms = t.product_of_terms(terms, cell.totals[number_of[function.text]]) if terms else terms
            if terms:
                yield k, observation, _per_unit(terms, form.whole.count(False), measure)


def _per_unit(terms: Terms, count: int, measure: Measure) -> Terms:
    """Returns densities of so many continuous numbers without the factor eps that each of them has."""
    if not count or not measure.bases.unit_name:
        return terms
    return {k._replace(units=k.units - count): c for k, c in terms.items()}


@dataclass(frozen=True, eq=False)
class _Function:
    """The part of a measure that is about some coordinates."""

    pieces: Pieces
    text: Hashable

    @staticmethod
    def of(measure: Measure, group: Sequence[int]) -> _Function:
        pieces, _ = measure.joined(group)
        return _Function(pieces, t.pieces_text(pieces))


def _groups(names: Iterable[int], measures: Iterable[Measure]) -> list[tuple[int, ...]]:
    """Returns the coordinates, those together that any measure does not keep apart."""
    groups = [{name} for name in names]
    for measure in measures:
        for factor in measure.factors:
            inside = set(t.names_in(factor))
            touched = [g for g in groups if g & inside]
            if len(touched) > 1:
                groups = [g for g in groups if not g & inside] + [set().union(*touched)]
    return sorted(tuple(sorted(g)) for g in groups)


def _cells(
    measure: Measure, form: NumberForm, functions: Sequence[Pieces], group: tuple[int, ...]
) -> list[WeightedCell]:
    if len(group) > 1:
        reason = "output numbers that depend on each other through a comparison are not supported"
        raise UnsupportedError(reason)
    (name,) = group
    if form.whole[name - 1]:
        return whole_cells(measure.bases, functions, name)
    return real_points(measure.bases, functions, name, measure.reals)
