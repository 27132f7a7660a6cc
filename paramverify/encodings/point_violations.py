"""Violations found at single points of the domain, and long sequences with a large ratio that floats lead
to.

Sequences with a large ratio, found by floats: what one secret makes likelier is repeated.

At a point of the domain all probabilities are numbers, and for a prefix w only (π·T_w, τ·T_w) matters, up
to a factor. Two searches extend prefixes: a beam that keeps those from which the largest ratio is a few
observations away, and loops wⁿ whose ratio goes on growing. Floats find a sequence and say nothing about it:
the caller evaluates it exactly from the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, product
from math import inf
from operator import mul

from paramverify.algebra.polynomials import Point, Polynomial, constant_value, is_constant, substitute
from paramverify.claims import Origin
from paramverify.encodings.cone import Word, directed_candidates, has_numbers, letters, lump, matrices, runs
from paramverify.encodings.sequences import claim_polynomial
from paramverify.models.context import sample_points
from paramverify.models.hmm import HMM, HmmStep
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution

MAX_RAYS = 200  # of one length
MAX_POINTS = 25


def find_violation(
    model: Model, most: int = 30, check: Callable[[], None] = lambda: None
) -> tuple[Origin, dict[str, Fraction]] | None:
    """Returns a sequence of at most that length and a point of the domain with a ratio above the bound.

    The parameters are replaced by the numbers of simple points, one after the other, and the cone encoding
    finds the largest ratio at each. Nothing is said by None. The caller evaluates the finding exactly.
    `check` is called all the time, and may raise an error to end the search.
    """
    for point in islice(sample_points(model.domain), MAX_POINTS):
        fixed = at_point(model, point)
        small = lump(fixed).model
        if not has_numbers(small.hmm):
            return None
        directions = runs(small)
        for found in islice(zip(*(levels for levels, _ in directions), strict=True), most):
            check()
            if any(len(level.kept) > MAX_RAYS for level in found):
                break
            for level, (_, turns) in zip(found, directions, strict=True):
                for vector, word in level.kept.items():
                    check()
                    for candidate in directed_candidates(small, vector, word, turns):
                        f = claim_polynomial(small, candidate)
                        if is_constant(f) and constant_value(f) < 0:
                            return candidate.origin, {n: point[n] for n in model.domain.ring.parameters}
    return None


def with_numbers(model: Model) -> Model:
    """Returns the model with parameters that the case fixes replaced by their values; the domain stays."""
    fixed = {
        n: i.lower for n, i in model.domain.box.items() if i.is_point and n in model.domain.ring.parameters
    }
    return at_point(model, fixed) if fixed else model


def at_point(model: Model, point: Point) -> Model:
    """Returns the model with the parameters that a point gives replaced by rationals; the ring stays."""

    def fixed(polynomial: Polynomial) -> Polynomial:
        return substitute(polynomial, {n: point[n] for n in model.domain.ring.parameters if n in point})

    memory: dict[int, InitialDistribution] = {}

    def start(given: InitialDistribution) -> InitialDistribution:
        if id(given) not in memory:
            weights = {s: fixed(w) for s, w in given.weights.items()}
            memory[id(given)] = InitialDistribution(
                {s: w for s, w in weights.items() if w}, fixed(given.mass)
            )
        return memory[id(given)]

    hmm = model.hmm
    steps = tuple(
        tuple(HmmStep(s.observation, s.successor, w) for s in row if (w := fixed(s.weight)))
        for row in hmm.steps
    )
    small = HMM(
        hmm.ring,
        hmm.states,
        observations=hmm.observations,
        steps=steps,
        denominator=fixed(hmm.denominator),
        chosen=hmm.chosen,
    )
    pairs = tuple(replace(p, pi=start(p.pi), tau=start(p.tau)) for p in model.pairs)
    return replace(model, hmm=small, pairs=pairs, measure=model.measure.map(fixed))


BEAM = 24
PATIENCE = 24  # levels of the beam, or loops, without a larger ratio, after which a search ends
MAX_LENGTH = 400
MAX_LOOPS = 60
MAX_FUTURES = 40
MAX_CLIMBING_POINTS = 5
MAX_PAIRS = 50
GROWTH = 1 + 1e-9

Row = list[float]
Table = list[list[tuple[int, float]]]


@dataclass(frozen=True)
class ClimbedPoint:
    """A sequence and a point of the domain with a large ratio, by floats: nothing is known of it."""

    ratio: float
    origin: Origin
    point: Point


def climb(model: Model, check: Callable[[], None] = lambda: None) -> Iterator[ClimbedPoint]:
    """Yields sequences with growing ratios, at simple points of the domain; those of each point come anew.

    `check` is called all the time, and may raise an error to end the search.
    """
    for point in islice(sample_points(model.domain), MAX_CLIMBING_POINTS):
        small = lump(at_point(model, point)).model
        if not has_numbers(small.hmm):
            return
        search = _ClimbingSearch(small, check)
        best = 0.0
        for pair in small.pairs[:MAX_PAIRS]:
            for left, right, one, other in (
                (pair.left, pair.right, pair.pi, pair.tau),
                (pair.right, pair.left, pair.tau, pair.pi),
            ):
                starts = _row(one, search.size), _row(other, search.size)
                if starts[0] is None or starts[1] is None:
                    return  # a weight with `E` is no number
                for ratio, word in search.sequences(starts[0], starts[1]):
                    if word and ratio > best * GROWTH:
                        best = ratio
                        names = tuple(small.hmm.observations[o] for o in word)
                        yield ClimbedPoint(ratio, Origin(left, right, names), point)
                if best == inf:
                    break


def _row(start: InitialDistribution, size: int) -> Row | None:
    if not all(map(is_constant, (start.mass, *start.weights.values()))):
        return None
    mass = constant_value(start.mass)
    row = [0.0] * size
    for state, weight in start.weights.items():
        row[state] = float(constant_value(weight) / mass) if mass else 0.0
    return row


@dataclass
class _ClimbingSearch:
    model: Model
    check: Callable[[], None]
    size: int = 0
    tables: list[Table] = field(default_factory=list)
    futures: list[tuple[tuple[int, ...], Row]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.size = len(self.model.hmm.states)
        exact = matrices(self.model.hmm)
        scale = max((w for table in exact for row in table for _, w in row), default=1)
        self.tables = [[[(t, w / scale) for t, w in row] for row in table] for table in exact]
        count = len(self.tables)
        words = (word for n in range(4) for word in product(range(count), repeat=n))
        for word in islice(words, MAX_FUTURES):
            vector = [1.0] * self.size
            for o in reversed(word):
                vector = [sum(w * vector[t] for t, w in row) for row in self.tables[o]]
            if any(vector):
                self.futures.append((word, vector))

    def sequences(self, left: Row, right: Row) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Yields ratios with their sequences: of the beam, then of loops behind its best prefixes."""
        yield from self._beam(left, right)
        yield from self._loops(left, right)

    def _moved(self, row: Row, observation: int) -> Row:
        found = [0.0] * self.size
        table = self.tables[observation]
        for state, weight in enumerate(row):
            if weight:
                for successor, entry in table[state]:
                    found[successor] += weight * entry
        return found

    def _best(self, left: Row, right: Row) -> tuple[float, tuple[int, ...]]:
        """Returns the largest ratio a few observations later, and these."""
        best: tuple[float, tuple[int, ...]] = (0.0, ())
        for word, vector in self.futures:
            a, b = sum(map(mul, left, vector)), sum(map(mul, right, vector))
            ratio = a / b if b else inf if a else 0.0
            if ratio > best[0]:
                best = ratio, word
        return best

    def _beam(self, left: Row, right: Row) -> Iterator[tuple[float, tuple[int, ...]]]:
        beam: list[tuple[Row, Row, Word]] = [(left, right, ())]  # words backwards
        best, waited = 0.0, 0
        for _ in range(MAX_LENGTH):
            grown: list[tuple[float, tuple[int, ...], Row, Row, Word]] = []
            seen: set[tuple[float, ...]] = set()
            for one, other, word in beam:
                for o in range(len(self.tables)):
                    self.check()
                    a, b = self._moved(one, o), self._moved(other, o)
                    total = sum(b) or sum(a)
                    if not sum(a) or not total:
                        continue
                    a, b = [x / total for x in a], [x / total for x in b]
                    place = tuple(round(x, 9) for x in (*a, *b))
                    if place not in seen:
                        seen.add(place)
                        grown.append((*self._best(a, b), a, b, (o, word)))
            grown.sort(key=lambda entry: -entry[0])
            if not grown:
                return
            waited += 1
            if grown[0][0] > best * GROWTH:
                waited = 0 if grown[0][0] > best * 1.001 else waited
                best = grown[0][0]
                yield best, (*reversed(letters(grown[0][4])), *grown[0][1])
            if waited > PATIENCE or best == inf:
                return
            beam = [(a, b, word) for _, _, a, b, word in grown[:BEAM]]

    def _loops(self, left: Row, right: Row) -> Iterator[tuple[float, tuple[int, ...]]]:
        count = len(self.tables)
        words = [w for n in range(1, 5) for w in product(range(count), repeat=n)]
        for prefix in [(), *((o,) for o in range(min(count, 6)))]:
            for loop in words[:MAX_LOOPS]:
                yield from self._loop(left, right, prefix, loop)

    def _loop(
        self, left: Row, right: Row, prefix: Sequence[int], loop: Sequence[int]
    ) -> Iterator[tuple[float, tuple[int, ...]]]:
        for o in prefix:
            left, right = self._moved(left, o), self._moved(right, o)
        best, waited = 0.0, 0
        for n in range(1, MAX_LENGTH // len(loop)):
            self.check()
            for o in loop:
                left, right = self._moved(left, o), self._moved(right, o)
            total = sum(right) or sum(left)
            if not sum(left) or not total:
                return
            left, right = [x / total for x in left], [x / total for x in right]
            ratio, suffix = self._best(left, right)
            waited = 0 if ratio > best * 1.001 else waited + 1
            if ratio > best:
                best = ratio
                yield ratio, (*prefix, *(o for _ in range(n) for o in loop), *suffix)
            if waited > 4 or ratio == inf:
                return
