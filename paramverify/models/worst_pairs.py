"""Differential privacy of mechanisms that perturb each answer on its own, without forming pairs of inputs.

The distribution of the noisy answers is a product, so the probability of an output is a sum of products along
the axes (the answers), and the worst neighbour of every input is found by minima along the axes: where
each answer may change, min over y ~ x of f(y) is taken for one answer after the other; where one answer
may change, it is the least of the minima along single axes.

Answers that an output treats alike form one axis: the probability depends on their multiset only. For ties
broken uniformly these are all answers but the one that is named; where the first index wins, those before it
and those after it. So the work is polynomial in the number of answers: 3·C(n+1,2) inputs stand for 3^n.
All numbers are whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import lcm, prod
from typing import Any

from paramverify.algebra.polynomials import constant_value
from paramverify.claims import Origin
from paramverify.errors import LimitError, UnsupportedError
from paramverify.models.noise import Noise

MAX_INPUTS = 2_000_000

Multiset = tuple[int, ...]  # in increasing order


@dataclass(frozen=True)
class LargestRatio:
    """The largest Pr(output | left) / Pr(output | right) over neighbours; `ratio` None stands for infinity.

    It is attained by the two inputs, which are neighbours. The output counts from 1.
    """

    ratio: Fraction | None
    left: tuple[int, ...]
    right: tuple[int, ...]
    output: int
    probabilities: tuple[Fraction, Fraction]

    @property
    def origin(self) -> Origin:
        """The inputs and the output in words."""
        return Origin(_words(self.left), _words(self.right), (str(self.output),))


@dataclass(frozen=True, eq=False)
class _MultisetTable:
    """Probabilities of one output, times `scale`, by the multiset on each axis (first axis slowest).

    `places[k]` are the positions of the answers on axis k.
    """

    output: int
    places: tuple[range, ...]
    axes: tuple[tuple[Multiset, ...], ...]
    entries: list[int]
    scale: int

    def input_at(self, index: int) -> tuple[int, ...]:
        """Returns the answers of an entry, in increasing order on each axis."""
        answers = [0] * sum(map(len, self.places))
        for places, axis in zip(reversed(self.places), reversed(self.axes), strict=True):
            index, k = divmod(index, len(axis))
            for place, value in zip(places, axis[k], strict=True):
                answers[place] = value
        return tuple(answers)


def largest_ratio(noise: Noise, n: int, ties: str, differ: str, by: int | None = 1) -> LargestRatio:
    """Returns the largest ratio of noisy max with n answers, exactly, and where it is attained.

    `ties` is "uniform" or "first"; `differ` says whether "each" answer may differ or "one",
    by at most `by` (None: by anything). For k releases with fresh noise, the largest ratio is the k-th power.

    Raises:
        UnsupportedError: the noise has parameters.
        LimitError: more than `MAX_INPUTS` classes of inputs.
    """
    mass, scale = _numbers(noise)
    # All outputs are alike where ties are broken uniformly: permuting the answers permutes the outputs.
    outputs = range(1, 2) if ties == "uniform" else range(1, n + 1)
    step = noise.range if by is None else min(by, noise.range)
    best: LargestRatio | None = None
    for output in outputs:
        table = _uniform(mass, scale, n) if ties == "uniform" else _first(mass, scale, n, output)
        found = _worst(table, differ, step)
        if best is None or _larger(found.ratio, best.ratio):
            best = found
    assert best is not None
    return best


def statement(noise: Noise, n: int, ties: str) -> dict[str, Any]:
    """Returns what `checker.neighbours` has to know of noisy max with n answers."""
    mass, scale = _numbers(noise)
    return {"noise": [[str(Fraction(p, scale)) for p in row] for row in mass], "ties": ties, "answers": n}


def _larger(left: Fraction | None, right: Fraction | None) -> bool:
    return right is not None and (left is None or left > right)


def _numbers(noise: Noise) -> tuple[list[list[int]], int]:
    """Returns the noise as whole numbers over one denominator."""
    if not noise.is_numeric:
        raise UnsupportedError("the noise has parameters, so its probabilities are no numbers")
    rows = [[constant_value(p.numerator) / constant_value(p.denominator) for p in row] for row in noise.rows]
    scale = lcm(*(p.denominator for row in rows for p in row))
    return [[int(p * scale) for p in row] for row in rows], scale


def _multisets(size: int, values: int) -> tuple[Multiset, ...]:
    return tuple(combinations_with_replacement(range(values), size))


def _check(axes: Iterable[Sequence[Multiset]]) -> None:
    if prod(map(len, axes)) > MAX_INPUTS:
        raise LimitError(f"more than {MAX_INPUTS:,} classes of inputs")


def _uniform(mass: list[list[int]], scale: int, n: int) -> _MultisetTable:
    """Output 1, ties broken uniformly: Σ_v Pr(v | own) · Σ_k Pr(k others at v, the rest below) / (k+1)."""
    values = len(mass)
    axes = (_multisets(1, values), _multisets(n - 1, values))
    _check(axes)
    common = lcm(*range(1, n + 1))
    shares: list[list[int]] = []  # by others, by v
    for others in axes[1]:
        row = []
        for v in range(values):
            tied = [1]  # tied[k]: k others at v, the rest below
            for f in others:
                below, equal = sum(mass[f][:v]), mass[f][v]
                tied = [a * below + b * equal for a, b in zip([*tied, 0], [0, *tied], strict=True)]
            row.append(sum(t * (common // (k + 1)) for k, t in enumerate(tied)))
        shares.append(row)
    entries = [
        sum(p * s for p, s in zip(mass[own], row, strict=True)) for (own,) in axes[0] for row in shares
    ]
    return _MultisetTable(1, (range(1), range(1, n)), axes, entries, scale**n * common)


def _first(mass: list[list[int]], scale: int, n: int, output: int) -> _MultisetTable:
    """An output where the first maximum wins: Σ_v Pr(v | own) · Pr(earlier < v) · Pr(later ≤ v)."""
    values = len(mass)
    axes = (_multisets(output - 1, values), _multisets(1, values), _multisets(n - output, values))
    _check(axes)
    below = [[sum(row[:v]) for v in range(values + 1)] for row in mass]
    earlier = [[prod(below[f][v] for f in m) for v in range(values)] for m in axes[0]]
    later = [[prod(below[f][v + 1] for f in m) for v in range(values)] for m in axes[2]]
    entries = []
    for before in earlier:
        for (own,) in axes[1]:
            joint = [a * p for a, p in zip(before, mass[own], strict=True)]
            entries += [sum(a * b for a, b in zip(joint, after, strict=True)) for after in later]
    places = (range(output - 1), range(output - 1, output), range(output, n))
    return _MultisetTable(output, places, axes, entries, scale**n)


def _worst(table: _MultisetTable, differ: str, by: int) -> LargestRatio:
    """Returns the largest quotient of an entry and the least entry of its neighbours."""
    entries = table.entries
    least = list(range(len(entries)))  # the index of the least neighbour found so far
    stride = len(entries)
    for axis in table.axes:
        stride //= len(axis)
        # min over y ~ x is min over changes on this axis of min over changes on the others.
        near = _each(axis, by) if differ == "each" else _one(axis, by)
        before = least if differ == "each" else list(range(len(entries)))
        after = list(least)
        for start in range(0, len(entries), stride * len(axis)):
            for offset in range(start, start + stride):
                for k, neighbours in enumerate(near):
                    here = offset + k * stride
                    tried = [before[offset + j * stride] for j in neighbours]
                    if differ == "one":
                        tried.append(after[here])
                    after[here] = min(tried, key=entries.__getitem__)
        least = after
    top, at = (-1, 1), 0
    for index, value in enumerate(entries):
        other = entries[least[index]]
        # value/other > top; a positive number over zero is infinity, and above every other.
        if value * top[1] > top[0] * other and value:
            top, at = (value, other), index
        if value and not other:
            break
    value, other = entries[at], entries[least[at]]
    ratio = Fraction(value, other) if other else (None if value else Fraction(0))
    both = Fraction(value, table.scale), Fraction(other, table.scale)
    left, right = table.input_at(at), table.input_at(least[at])
    if differ == "one":
        right = _aligned(left, right, table.places)
    return LargestRatio(ratio, left, right, table.output, both)


def _aligned(left: tuple[int, ...], right: tuple[int, ...], places: Sequence[range]) -> tuple[int, ...]:
    """Returns the right input, permuted on each axis so that it equals the left one but in one place."""
    answers = list(left)
    for axis in places:
        gone = [left[k] for k in axis]
        new: list[int] = []
        for value in (right[k] for k in axis):
            if value in gone:
                gone.remove(value)
            else:
                new.append(value)
        for old, value in zip(gone, new, strict=True):
            answers[left.index(old, axis.start)] = value
    return tuple(answers)


def _each(axis: Sequence[Multiset], by: int) -> list[list[int]]:
    """Returns the multisets that come of changing every element by at most so much.

    If elements can be matched like that, they can be matched in increasing order.
    """
    number = {m: k for k, m in enumerate(axis)}
    return [[number[m] for m in _monotone(multiset, by) if m in number] for multiset in axis]


def _monotone(multiset: Multiset, by: int) -> list[Multiset]:
    """Returns the increasing tuples with entries at most `by` away from those of an increasing one."""
    found: list[Multiset] = [()]
    for value in multiset:
        found = [(*m, w) for m in found for w in range(max(value - by, m[-1] if m else 0, 0), value + by + 1)]
    return found


def _one(axis: Sequence[Multiset], by: int) -> list[list[int]]:
    """Returns the multisets that come of changing one element by at most so much."""
    number = {m: k for k, m in enumerate(axis)}
    near = []
    for multiset in axis:
        changed = {multiset}
        for k, value in enumerate(multiset):
            for w in range(value - by, value + by + 1):
                changed.add(tuple(sorted((*multiset[:k], w, *multiset[k + 1 :]))))
        near.append([number[m] for m in changed if m in number])
    return near


def _words(answers: tuple[int, ...]) -> str:
    return str(answers[0]) if len(answers) == 1 else f"({', '.join(map(str, answers))})"
