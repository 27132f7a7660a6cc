"""The neighbours of noisy max with the largest ratio, where the noise has parameters.

Which pair it is comes from a few points of the domain: a guess. `Guess.needs` lists what proves it, as signs
of polynomials on the whole domain; `checker.standing` has the proof. In short: let F(f, v) be the probability
that the answer f becomes less than v, and the step b the largest change of one answer. If F(f, v) never grows
with f, the probability that an answer wins never falls where that answer grows or another one falls. So of
all neighbours of x the one with the least is known: the own answer falls by b, the others grow by b. And x
may be taken with an own answer from b and others up to the largest one less b. Which of these has the largest
ratio is shown in one of three ways:

- `classes`: each own answer with each multiset of the others is compared with the pair.
- `terms`, where the first index wins: both probabilities are sums over the noisy value v of the winner, of
  products over the answers. The largest quotient of each factor is found, for each v. The products of these
  are compared with the pair, one for each output and v.
- `ends`, where one answer differs: Pr(x)/Pr(y) is an average of a quotient that rises or falls with v. All
  other answers move its weights in likelihood ratio order, so they are at one end. One class is left for each
  value of the answer that differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement, islice
from math import comb
from typing import Any, Protocol, runtime_checkable

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Point, Polynomial, common_denominator, key, value_at
from paramverify.algebra.ties import tied_in
from paramverify.claims import Claim, to_document, without_enclosure
from paramverify.models.context import sample_points
from paramverify.models.noise import Noise

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
