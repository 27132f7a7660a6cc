"""Claims about what is near a secret, which together prove a case about a large prior, and refute nothing.

See `models.windows` for the statement. The vector of an output ω is K_ω(n + r) for all sums n of the window.
Many outputs and many r have the same one up to a positive factor: of noise that falls by a factor α in each
step it depends on how far ω − r is from the sums of the window, and beyond their ends not even on that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod
from operator import itemgetter

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Polynomial, content_of, is_constant, key, primitive
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim, Origin
from paramverify.divergences import MaxDivergence
from paramverify.encodings.sequences import Vector, steps_by_observation, vectors
from paramverify.models.model import AnyModel, Model, is_about
from paramverify.models.priors import SecretPair
from paramverify.models.windows import Powers, Whole, WindowPair

MAX_CLAIMS = 20_000  # of one window, before equal ones are merged
MAX_ENTRIES = 5_000_000  # of the tables of all outputs

Outputs = Mapping[Powers, Polynomial]  # how likely one output is for each answer, up to a positive factor


@dataclass(frozen=True)
class Window(Origin):
    """Where a claim about a window comes from: one direction of a pair, and how far one looks."""

    observations: tuple[str, ...] = ()
    distance: int = 1

    def __str__(self) -> str:
        return f"{self.left} against {self.right}, with all that is {self.distance} away known"


@dataclass(frozen=True, eq=False)
class Windows:
    """The windows of a case: a model with a prior as a network."""

    model: Model
    whole: Whole

    def claims(self, pair: SecretPair, distance: int) -> list[Claim] | None:
        """Returns claims that prove a pair in both directions if all hold; None for too many.

        There are none either where the window leaves nothing out.
        """
        near = self.whole.near(pair.left, pair.right, distance)
        if near is None or near.all:
            return None
        sums = sorted({n for both in near.tables for own in both for n in own})
        outputs = self._outputs(tuple(sums), near.far)
        if len(near.tables) * len(near.masses) * len(outputs) > MAX_CLAIMS:
            return None
        origins = Window(pair.left, pair.right, (), distance), Window(pair.right, pair.left, (), distance)
        found: dict[str, tuple[Polynomial, dict[Origin, None]]] = {}
        for origin, polynomial in self._stated(near, sums, outputs, origins):
            _, f = primitive(polynomial)
            found.setdefault(key(f), (f, {}))[1][origin] = None
        return [Claim(f, self.model.domain, tuple(own)) for f, own in found.values()]

    def _stated(
        self,
        near: WindowPair,
        sums: Sequence[Powers],
        outputs: Sequence[Sequence[Polynomial]],
        origins: tuple[Origin, Origin],
    ) -> Iterator[tuple[Origin, Polynomial]]:
        """Yields the brackets of `models.windows` for both directions."""
        measure = self.model.ratio_bound()
        zero = self.model.hmm.ring.number(0)
        for first, second in near.tables:
            for vector in outputs:
                a, b = (
                    sum((own[n] * k for n, k in zip(sums, vector, strict=True) if n in own), zero)
                    for own in (first, second)
                )
                if not a and not b:
                    continue
                for p, q in near.masses:
                    yield origins[0], measure.claim(a * q, b * p)
                    yield origins[1], measure.claim(b * p, a * q)

    def _outputs(self, sums: tuple[Powers, ...], far: tuple[Powers, ...]) -> list[list[Polynomial]]:
        """Returns the vectors of all outputs and all sums of what is far, each once up to a factor."""
        polynomials, tables = self._interned
        apart = [self._place(r) for r in far]
        columns = [itemgetter(*(n + r for r in apart), 0) for n in map(self._place, sums)]
        listed: set[tuple[int, ...]] = set()
        for table in tables:
            every = list(zip(*(column(table) for column in columns), strict=True))
            listed.update(every[:-1])  # the last one is there so that each column has two entries
        found: dict[tuple[str, ...], list[Polynomial]] = {}
        for told in sorted(own for own in listed if any(own)):
            vector = _shortened([polynomials[k] for k in told], self.model.domain)
            found.setdefault(tuple(map(key, vector)), vector)
        return list(found.values())

    def _place(self, powers: Powers) -> int:
        """Returns the place of an answer in a table; the place of a sum is the sum of the places."""
        place = 0
        for power, query in zip(powers, self.whole.queries, strict=True):
            place = place * (query.most + 1) + power
        return place

    @cached_property
    def _interned(self) -> tuple[list[Polynomial], list[tuple[int, ...]]]:
        """All different probabilities, the first one 0, and their numbers for each output, by answers."""
        zero = self.model.hmm.ring.number(0)
        polynomials, numbers = [zero], {key(zero): 0}
        known: dict[int, tuple[Polynomial, int]] = {}  # by identity: steps share their weights
        values = [{query.value(p): p for p in range(query.most + 1)} for query in self.whole.queries]
        places = {
            self._place(tuple(own[a] for own, a in zip(values, answers, strict=True))): start.weights
            for answers, start in self.whole.starts.items()
        }
        tables: dict[tuple[int, ...], None] = {}
        for vector in self._vectors():
            table = [0] * self._size
            for place, weights in places.items():
                likely = _likely(weights, vector, zero)
                if id(likely) not in known:
                    number = numbers.setdefault(key(likely), len(polynomials))
                    if number == len(polynomials):
                        polynomials.append(likely)
                    known[id(likely)] = likely, number
                table[place] = known[id(likely)][1]
            tables[tuple(table)] = None
        return polynomials, list(tables)

    @property
    def _size(self) -> int:
        """How many places a table has."""
        return prod(query.most + 1 for query in self.whole.queries)

    def _vectors(self) -> Iterator[Vector]:
        """Yields v_ω for each output sequence ω, up to a positive factor."""
        hmm, lengths = self.model.hmm, self.model.lengths
        if lengths != (1,):
            yield from (vector for _, vector in vectors(hmm, lengths))
            return
        for steps in steps_by_observation(hmm):
            found: dict[int, Polynomial] = {}
            for state, _, weight in steps:
                found[state] = found[state] + weight if state in found else weight
            yield found


def windows_of(model: AnyModel, whole: Whole | None) -> Windows | None:
    """Returns the windows of a model; None where they say nothing about it."""
    if whole is None or not is_about(model, MaxDivergence) or model.every_length or model.whole is not None:
        return None
    if model.hmm.densities or model.hmm.spreads or model.hmm.chosen:
        return None
    one = model.hmm.ring.number(1)
    if any(start.mass != one for start in whole.starts.values()):
        return None
    size = prod(query.most + 1 for query in whole.queries) * len(model.hmm.observations)
    return Windows(model, whole) if size <= MAX_ENTRIES else None


def _likely(weights: Mapping[int, Polynomial], vector: Vector, zero: Polynomial) -> Polynomial:
    if len(weights) == 1:
        ((state, weight),) = weights.items()
        if weight.is_one():
            return vector.get(state, zero)
    return sum((w * vector[s] for s, w in weights.items() if s in vector), zero)


def _shortened(vector: list[Polynomial], domain: Domain) -> list[Polynomial]:
    """Returns a vector of which this one is a multiple, by a factor that is nowhere negative."""
    some = [entry for entry in vector if entry]
    common = reduce(lambda a, b: a.gcd(b), some)
    if not is_constant(common):
        sign = sign_on(common, domain)
        if sign in (Sign.NEGATIVE, Sign.NONPOSITIVE):
            common = -common
        elif sign not in (Sign.POSITIVE, Sign.NONNEGATIVE):
            common = domain.ring.number(1)
        vector = [entry / common for entry in vector]
        some = [entry for entry in vector if entry]
    contents = [content_of(entry) for entry in some]
    top = reduce(lambda a, b: a.gcd(b), (c.p for c in contents))
    bottom = reduce(lambda a, b: a.lcm(b), (c.q for c in contents))
    return [entry * bottom / top for entry in vector]
