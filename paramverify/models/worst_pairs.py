"""The neighbours with the largest ratio, without forming all pairs.

For answers perturbed each on its own, and noisy max.

Differential privacy of mechanisms that perturb each answer on its own, without forming pairs of inputs.

The distribution of the noisy answers is a product, so the probability of an output is a sum of products along
the axes (the answers), and the worst neighbour of every input is found by minima along the axes: where
each answer may change, min over y ~ x of f(y) is taken for one answer after the other; where one answer
may change, it is the least of the minima along single axes.

Answers that an output treats alike form one axis: the probability depends on their multiset only. For ties
broken uniformly these are all answers but the one that is named; where the first index wins, those before it
and those after it. So the work is polynomial in the number of answers: 3·C(n+1,2) inputs stand for 3^n.
All numbers are whole.

The neighbours of noisy max with the largest ratio, where the noise has parameters.

Which pair it is comes from a few points of the domain: a guess. `Guess.needs` lists what proves it, as
signs of polynomials on the whole domain; `checker.worst_pair_evidence` has the proof. In short: let F(f, v)
be the probability that the answer f becomes less than v, and the step b the largest change of one answer.
If F(f, v) never grows with f, the probability that an answer wins never falls where that answer grows or
another one falls. So of all neighbours of x the one with the least is known: the own answer falls by b, the
others grow by b. And x may be taken with an own answer from b and others up to the largest one less b.
Which of these has the largest ratio is shown in one of three ways:

- `classes`: each own answer with each multiset of the others is compared with the pair.
- `terms`, where the first index wins: both probabilities are sums over the noisy value v of the winner, of
  products over the answers. The largest quotient of each factor is found, for each v. The products of these
  are compared with the pair, one for each output and v.
- `ends`, where one answer differs: Pr(x)/Pr(y) is an average of a quotient that rises or falls with v. All
  other answers move its weights in likelihood ratio order, so they are at one end. One class is left for each
  value of the answer that differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement, islice
from math import comb, lcm, prod
from typing import Any, Protocol, runtime_checkable

from paramverify.algebra.domains import Domain, tied_in
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    common_denominator,
    constant_value,
    key,
    value_at,
)
from paramverify.claims import Claim, Origin, to_document, without_enclosure
from paramverify.errors import LimitError, UnsupportedError
from paramverify.models.context import sample_points
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
    """Returns what `checker.worst_pair_evidence` has to know of noisy max with n answers."""
    mass, scale = _numbers(noise)
    return {"noise": [[str(Fraction(p, scale)) for p in row] for row in mass], "ties": ties, "answers": n}


def _larger(left: Fraction | None, right: Fraction | None) -> bool:
    return right is not None and (left is None or left > right)


def _numbers(noise: Noise) -> tuple[list[list[int]], int]:
    """Returns the noise as whole numbers over one denominator."""
    if not noise.is_numeric:
        raise UnsupportedError("the noise has parameters, so its probabilities are not numbers")
    rows = [[constant_value(p.numerator) / constant_value(p.denominator) for p in row] for row in noise.rows]
    scale = lcm(*(p.denominator for row in rows for p in row))
    return [[int(p * scale) for p in row] for row in rows], scale


def _multisets(size: int, values: int) -> tuple[Multiset, ...]:
    return tuple(combinations_with_replacement(range(values), size))


def _check(axes: Iterable[Sequence[Multiset]]) -> None:
    if prod(map(len, axes)) > MAX_INPUTS:
        raise LimitError(f"there are more than {MAX_INPUTS:,} classes of inputs")


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


MAX_CLASSES = 4_000
POINTS = 5  # at which classes are compared, for a guess

Answers = tuple[int, ...]


@dataclass(frozen=True)
class Class:
    """Inputs that an output treats alike: the answers before its own, its own, and those behind.

    Outputs count from 1. `changed` is the place of the one answer that differs, from 0; None where each may.
    """

    output: int
    before: Answers
    own: int
    behind: Answers
    changed: int | None = None

    @property
    def given(self) -> Answers:
        """The answers in their order."""
        return (*self.before, self.own, *self.behind)


@dataclass(frozen=True, eq=False)
class Need:
    """A polynomial that has to be at least zero on the domain, or above zero where it is `strict`."""

    polynomial: Polynomial
    strict: bool = False


@dataclass(frozen=True, eq=False)
class NoisyMaxima:
    """Noisy max with n answers and its neighbours; `by` None means any distance.

    Probabilities are polynomials over one power of a denominator.
    """

    noise: Noise
    domain: Domain
    answers: int
    ties: str
    differ: str
    by: int | None
    _tied: dict[tuple[int, Answers], list[Polynomial]] = field(default_factory=dict, repr=False)
    _won: dict[tuple[int, Answers, Answers], Polynomial] = field(default_factory=dict, repr=False)

    @property
    def top(self) -> int:
        """The largest answer, and the largest noisy one."""
        return self.noise.range

    @property
    def step(self) -> int:
        """The largest change of an answer."""
        return self.top if self.by is None else min(self.by, self.top)

    @property
    def zero(self) -> Polynomial:
        """The number 0."""
        return self.domain.ring.number(0)

    @cached_property
    def masses(self) -> list[list[Polynomial]]:
        """The noise over a common denominator that is positive at a point, row by row."""
        common = common_denominator((p for row in self.noise.rows for p in row), self.domain.ring)
        common *= -1 if value_at(common, next(sample_points(self.domain))) < 0 else 1
        return [[p.numerator * (common / p.denominator) for p in row] for row in self.noise.rows]

    @cached_property
    def below(self) -> list[list[Polynomial]]:
        """`below[f][v]` is the probability that f becomes less than v, over the same denominator."""
        return [[sum(row[:v], self.zero) for v in range(len(row) + 1)] for row in self.masses]

    @property
    def has_logarithms(self) -> bool:
        """Whether the noise or the domain mentions what is tied to a variable."""
        masses = (p for row in self.masses for p in row)
        return bool(tied_in(self.domain.ring, *masses, *(c.polynomial for c in self.domain.constraints)))

    def sizes(self) -> Iterator[tuple[int, int, int]]:
        """Yields each output that is looked at, with the numbers of answers before and behind its own.

        Where ties are uniform all outputs are alike, and all other answers stand behind.
        """
        for output in (1,) if self.ties == "uniform" else range(1, self.answers + 1):
            yield output, output - 1, self.answers - output

    def classes(self) -> Iterator[Class]:
        """Yields the classes where each answer may differ."""
        least = range(self.top - self.step + 1)
        for output, before, behind in self.sizes():
            for own in range(self.step, self.top + 1):
                for first in combinations_with_replacement(least, before):
                    for second in combinations_with_replacement(least, behind):
                        yield Class(output, first, own, second)

    @property
    def count(self) -> int:
        """The number of classes where each answer may differ."""
        free = self.top - self.step
        if self.ties == "uniform":
            return (free + 1) * comb(self.answers - 1 + free, free)
        return (free + 1) * comb(self.answers + 2 * free, 2 * free + 1)

    def alike(self) -> Iterator[Class]:
        """Yields the classes where each answer may differ, and all but the own one are equal."""
        for output, before, behind in self.sizes():
            for own in range(self.step, self.top + 1):
                for f in range(self.top - self.step + 1):
                    yield Class(output, (f,) * before, own, (f,) * behind)

    def ends(self) -> Iterator[Class]:
        """Yields the classes in which one answer differs, and all others are at one end."""
        for output, before, behind in self.sizes():
            for own in range(self.step, self.top + 1):
                yield Class(output, (self.top,) * before, own, (self.top,) * behind, before)
            for f in range(self.top - self.step + 1):
                if before:
                    yield Class(output, (*(0,) * (before - 1), f), 0, (0,) * behind, before - 1)
                if behind:
                    yield Class(output, (0,) * before, 0, (f, *(0,) * (behind - 1)), before + 1)

    def neighbour(self, given: Class) -> Class:
        """Returns the neighbour with the least probability: the own answer falls, the others grow."""
        moved = list(given.given)
        for place in range(len(moved)) if given.changed is None else (given.changed,):
            moved[place] += -self.step if place == given.output - 1 else self.step
        k = given.output
        return Class(k, tuple(moved[: k - 1]), moved[k - 1], tuple(moved[k:]), given.changed)

    def probability(self, given: Class) -> Polynomial:
        """Returns the probability of the output, times a power of the denominator."""
        place = given.own, tuple(sorted(given.before)), tuple(sorted(given.behind))
        if place not in self._won:
            self._won[place] = sum((self._term(*place, v) for v in range(self.top + 1)), self.zero)
        return self._won[place]

    def _term(self, own: int, before: Answers, behind: Answers, v: int) -> Polynomial:
        """Returns the part of the probability where the noisy value of the winner is v."""
        won = self.masses[own][v]
        if self.ties == "first":
            for f in before:
                won *= self.below[f][v]
            for f in behind:
                won *= self.below[f][v + 1]
            return won
        return won * sum((part / (k + 1) for k, part in enumerate(self._shares(v, behind))), self.zero)

    def _shares(self, v: int, others: Answers) -> list[Polynomial]:
        """Returns, by k, the probability that k others become v and the rest less."""
        if not others:
            return [self.domain.ring.number(1)]
        if (v, others) not in self._tied:
            rest, f = self._shares(v, others[:-1]), others[-1]
            lower, equal = self.below[f][v], self.masses[f][v]
            grown = [part * lower for part in rest] + [self.zero]
            for k, part in enumerate(rest):
                grown[k + 1] += part * equal
            self._tied[v, others] = grown
        return self._tied[v, others]

    def ordered(self) -> Iterator[Need]:
        """Yields what says that the noise is nowhere negative, and ordered."""
        for row in self.masses:
            yield from map(Need, row)
        for low, high in zip(self.below[:-1], self.below[1:], strict=True):
            yield from (Need(low[v] - high[v]) for v in range(1, self.top + 1))


@dataclass(frozen=True, eq=False)
class Guess:
    """A pair of neighbours that may have the largest ratio everywhere on the domain, and how that is shown.

    `own` and `others` name the answers with the largest quotients of factors, by the noisy value: of `terms`.
    """

    about: NoisyMaxima
    how: str
    left: Class
    own: Answers = ()
    others: Answers = ()

    @property
    def right(self) -> Class:
        """The other input of the pair."""
        return self.about.neighbour(self.left)

    def needs(self) -> Iterator[Need]:
        """Yields what proves that the pair has the largest ratio, in the order of the checker."""
        about = self.about
        top, bottom = about.probability(self.left), about.probability(self.right)
        yield from about.ordered()
        yield Need(top, True)
        if self.how == "terms":
            yield from self._factors()
            for x, y in self._products():
                yield Need(top * y - x * bottom)
            return
        if self.how == "ends":
            yield from self._orders()
        for given in about.classes() if self.how == "classes" else about.ends():
            x, y = about.probability(given), about.probability(about.neighbour(given))
            if self.how == "ends":
                yield Need(x, True)
            yield Need(top * y - x * bottom)

    def _orders(self) -> Iterator[Need]:
        """Yields what says that answers have likelihood ratios in one order, by u < s."""
        about, step, top = self.about, self.about.step, self.about.top
        near = {(f, f + step) for f in range(top - step + 1)}
        low = {(0, f) for f in range(1, top + 1)}
        high = {(f, top) for f in range(top)}
        for table, pairs in ((about.below, near | low | high), (about.masses, near | low)):
            for f, g in sorted(pairs):
                for u, s in combinations(range(len(table[f])), 2):
                    yield Need(table[g][s] * table[f][u] - table[g][u] * table[f][s])

    def _factors(self) -> Iterator[Need]:
        """Yields what says that the factors named have the largest quotients."""
        about, step = self.about, self.about.step
        columns = [(about.masses, v, own, -step) for v, own in enumerate(self.own)]
        columns += [(about.below, v, f, step) for v, f in enumerate(self.others)]
        for table, v, best, change in columns:
            if not any(row[v] for row in table):
                continue
            yield Need(table[best][v], True)
            for f, row in enumerate(table):
                if f != best and 0 <= f + change <= about.top:
                    yield Need(table[best][v] * table[f + change][v] - row[v] * table[best + change][v])

    def _products(self) -> Iterator[tuple[Polynomial, Polynomial]]:
        """Yields the products with the largest quotients, by output and noisy value, if not zero."""
        about, step = self.about, self.about.step
        for _, before, behind in about.sizes():
            for v, own in enumerate(self.own):
                first, second = self.others[v], self.others[v + 1]
                x, y = (
                    about.masses[own - moved][v]
                    * about.below[first + moved][v] ** before
                    * about.below[second + moved][v + 1] ** behind
                    for moved in (0, step)
                )
                if x:
                    yield x, y

    def document(self, proofs: Sequence[Any]) -> dict[str, Any]:
        """Returns the statement that the pair has the largest ratio, with its proofs, for the checker."""
        about = self.about
        domain = to_document(without_enclosure(Claim(about.zero, about.domain)))
        del domain["polynomial"]
        named = {"own": list(self.own), "others": list(self.others)} if self.how == "terms" else {}
        return {
            "domain": domain,
            "noise": [[key(p) for p in row] for row in about.masses],
            "ties": about.ties,
            "answers": about.answers,
            "differ": about.differ,
            "by": "any" if about.by is None else str(about.by),
            "left": list(self.left.given),
            "right": list(self.right.given),
            "output": self.left.output,
            "how": self.how,
            **named,
            "proofs": list(proofs),
        }


@runtime_checkable
class Guessing(Protocol):
    """What a mechanism may offer: guesses which neighbours have the largest ratio, with what proves it."""

    def guesses(self, differ: str, by: int | None) -> Iterator[Guess]:
        """Yields guesses. `differ` is "each" or "one" answer, by at most `by` (None: by anything)."""


def guesses(about: NoisyMaxima) -> Iterator[Guess]:
    """Yields guesses, none where too many classes are to be compared or logarithms occur."""
    points = list(islice(sample_points(about.domain), POINTS))
    if not about.step or not points or about.has_logarithms:
        return
    if about.differ == "one":
        yield Guess(about, "ends", _largest(about, list(about.ends()), points))
        return
    if about.ties == "first":
        own = _best(about.masses, range(about.step, about.top + 1), -about.step, points[0])
        others = _best(about.below, range(about.top - about.step + 1), about.step, points[0])
        yield Guess(about, "terms", _largest(about, list(about.alike()), points), own, others)
    if about.count <= MAX_CLASSES:
        yield Guess(about, "classes", _largest(about, list(about.classes()), points))


def _largest(about: NoisyMaxima, known: Sequence[Class], points: Sequence[Point]) -> Class:
    """Returns the class that has the largest ratio at most points."""
    wins = dict.fromkeys(known, 0)
    for point in points:

        def ratio(given: Class, point: Point = point) -> tuple[bool, Fraction]:
            x, y = (value_at(about.probability(c), point) for c in (given, about.neighbour(given)))
            return bool(x and not y), x / y if y else x

        wins[max(known, key=ratio)] += 1
    return max(known, key=wins.__getitem__)


def _best(table: Sequence[Sequence[Polynomial]], known: range, change: int, point: Point) -> Answers:
    """Returns, by the noisy value, the answer whose factor has the largest quotient."""

    def best(v: int) -> int:
        def ratio(f: int) -> tuple[bool, Fraction]:
            x, y = value_at(table[f][v], point), value_at(table[f + change][v], point)
            return bool(x and not y), x / y if y else x

        return max(known, key=ratio)

    return tuple(map(best, range(len(table[0]))))
