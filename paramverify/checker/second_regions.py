"""Regions of noise: conjunctions of linear inequalities, for the second reader of programs.

A region without volume counts as empty as soon as noise with a density takes part. Standard library only, and
no code of the first reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd, lcm

Slopes = Mapping[int, Fraction]  # of variables
Form = tuple[tuple[int, Fraction], ...]  # the same, in order and without a common factor
Region = dict[Form, Fraction]  # each form is at most its bound
Ends = tuple[dict[int, Fraction], Fraction]  # slopes and a constant

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class VariableLaw:
    """The distribution of one variable.

    Whole noise has the weights rate^|v|, other noise the density e^(−rate·unit·|v|), up to a number.
    """

    whole: bool
    two_sided: bool
    rate: Fraction


Kinds = Sequence[VariableLaw]  # of the variables, by their numbers


def limited(region: Region, kinds: Kinds, slopes: Slopes, bound: Fraction, strict: bool) -> Region | None:
    """Returns the part where Σ slope·variable ≤ bound, or < bound; None if it is plainly empty."""
    used = {v: s for v, s in sorted(slopes.items()) if s}
    if not used:
        return region if bound > 0 or (bound == 0 and not strict) else None
    whole = all(kinds[v].whole for v in used)
    if whole:
        by = Fraction(lcm(*(s.denominator for s in used.values())))
        by /= gcd(*(int(s * by) for s in used.values()))
        bound *= by
        bound = Fraction(ceil(bound) - 1 if strict else floor(bound))
    else:
        by = 1 / abs(next(iter(used.values())))
        bound *= by
    form = tuple((v, s * by) for v, s in used.items())
    if form in region and region[form] <= bound:
        return region
    against = region.get(tuple((v, -s) for v, s in form))
    if against is not None and (bound + against < 0 or (not whole and bound + against == 0)):
        return None
    return {**region, form: bound}


def possible(region: Region, kinds: Kinds) -> bool:
    """Tells whether a region has a point, by Fourier and Motzkin; in doubt about whole numbers yes."""
    return _projected(region, kinds, {v for form in region for v, _ in form}) is not None


def ends_of(region: Region, kinds: Kinds, slopes: Slopes) -> tuple[Fraction | None, Fraction | None]:
    """Returns the least and the largest value of Σ slope·variable of whole noise; None: there is none."""
    new = len(kinds)
    kinds = [*kinds, VariableLaw(True, True, ONE)]
    for sign in (1, -1):
        told = {new: Fraction(sign), **{v: -s * sign for v, s in slopes.items()}}
        found = limited(region, kinds, told, ZERO, False)
        if found is None:
            return ONE, ZERO
        region = found
    left = _projected(region, kinds, {v for form in region for v, _ in form} - {new})
    if left is None:
        return ONE, ZERO
    low, high = left.get(((new, -ONE),)), left.get(((new, ONE),))
    return None if low is None else -low, high


def _projected(region: Region, kinds: Kinds, variables: set[int]) -> Region | None:
    """Returns a region without some variables, or None where it is empty."""
    left: Region | None = region
    while variables:
        v = min(variables, key=lambda v: _ways(left or {}, v))
        variables = variables - {v}
        rest, below, above = parted(left or {}, v)
        left = rest
        for low in below:
            for high in above:
                left = _ordered(left, kinds, low, high, not kinds[v].whole)
                if left is None:
                    return None
    return left


def _ways(region: Region, v: int) -> int:
    slopes = [s for form in region for w, s in form if w == v]
    below = sum(s < 0 for s in slopes)
    return below * (len(slopes) - below)


def parted(region: Region, v: int) -> tuple[Region, list[Ends], list[Ends]]:
    """Returns what a region says of other variables, and the lower and the upper ends of one."""
    rest: Region = {}
    ends: tuple[list[Ends], list[Ends]] = ([], [])
    for form, bound in region.items():
        slope = dict(form).get(v)
        if slope is None:
            rest[form] = bound
        else:
            ends[slope > 0].append(({w: -s / slope for w, s in form if w != v}, bound / slope))
    return rest, ends[0], ends[1]


def _ordered(region: Region | None, kinds: Kinds, low: Ends, high: Ends, strict: bool) -> Region | None:
    """Returns the part of a region where one end is at most, or below another."""
    if region is None:
        return None
    slopes = {w: low[0].get(w, ZERO) - high[0].get(w, ZERO) for w in {**low[0], **high[0]}}
    return limited(region, kinds, slopes, high[1] - low[1], strict)


def parts_of(region: Region) -> list[Region]:
    """Returns the parts of a region that share no variable."""
    parts: list[tuple[set[int], Region]] = []
    for form, bound in region.items():
        names = {v for v, _ in form}
        joined: Region = {form: bound}
        apart = []
        for known, part in parts:
            if known & names:
                names |= known
                joined |= part
            else:
                apart.append((known, part))
        parts = [*apart, (names, joined)]
    return [part for _, part in parts]


def meets(region: Region, v: int, left: set[int]) -> tuple[bool, int]:
    """Returns whether a variable has a slope that is not 1 or −1, and how many others it meets."""
    forms = [dict(form) for form in region]
    return (
        any(abs(form.get(v, ONE)) != 1 for form in forms),
        len({w for form in forms if v in form for w in form} & left),
    )


def cut(
    region: Region, kinds: Kinds, ends: tuple[list[Ends], list[Ends]], strict: bool
) -> Iterator[tuple[Region, Ends | None, Ends | None]]:
    """Yields the parts of a region in which one lower and one upper end is the nearest; they are disjoint."""
    for below, low in _nearest(region, kinds, ends[0], 1):
        for part, high in _nearest(below, kinds, ends[1], -1):
            if low is None or high is None:
                yield part, low, high
                continue
            found = _ordered(part, kinds, low, high, strict)
            if found is not None:
                yield found, low, high


def _nearest(
    region: Region, kinds: Kinds, ends: list[Ends], sign: int
) -> Iterator[tuple[Region, Ends | None]]:
    """Yields the parts in which an end is the largest (sign 1) or smallest (−1); the first of equal ones."""
    if not ends:
        yield region, None
    for k, end in enumerate(ends):
        part: Region | None = region
        for j, other in enumerate(ends):
            if j != k:
                pair = (other, end) if sign > 0 else (end, other)
                part = _ordered(part, kinds, *pair, j < k)
        if part is not None:
            yield part, end
