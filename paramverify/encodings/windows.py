"""Claims about what is near a secret, which together prove a case about a large prior, and refute nothing.

See `models.windows` for the statement. The vector of an output ω is K_ω(n + r) for all sums n of the window.
Many outputs and many r have the same one up to a positive factor: of noise that falls by a factor α in each
step it depends on how far ω − r is from the sums of the window, and beyond their ends not even on that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Polynomial, content_of, is_constant, key, primitive
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim, Origin
from paramverify.encodings.sequences import Vector, vectors
from paramverify.models.measures import Pure
from paramverify.models.model import Model
from paramverify.models.priors import SecretPair
from paramverify.models.windows import Near, Powers, Whole

MAX_CLAIMS = 20_000  # of one window, before equal ones are merged

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
        near: Near,
        sums: Sequence[Powers],
        outputs: Sequence[Sequence[Polynomial]],
        origins: tuple[Origin, Origin],
    ) -> Iterator[tuple[Origin, Polynomial]]:
        """Yields the brackets of `models.windows` for both directions."""
        measure = self.model.measure.at(None)
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
        listed: dict[tuple[int, ...], None] = {}
        for table in tables:
            for r in far:
                told = tuple(table.get(tuple(map(int.__add__, n, r)), 0) for n in sums)
                if any(told):
                    listed[told] = None
        found: dict[tuple[str, ...], list[Polynomial]] = {}
        for told in listed:
            vector = _shortened([polynomials[k] for k in told], self.model.domain)
            found.setdefault(tuple(map(key, vector)), vector)
        return list(found.values())

    @cached_property
    def _interned(self) -> tuple[list[Polynomial], list[dict[Powers, int]]]:
        """All different probabilities, the first one 0, and the number of that of each output and answer."""
        zero = self.model.hmm.ring.number(0)
        polynomials, numbers = [zero], {key(zero): 0}
        places = {self._powers(answers): start.weights for answers, start in self.whole.starts.items()}
        tables: list[dict[Powers, int]] = []
        for _, vector in vectors(self.model.hmm, self.model.lengths):
            table: dict[Powers, int] = {}
            for powers, weights in places.items():
                likely = _likely(weights, vector, zero)
                if likely:
                    number = numbers.setdefault(key(likely), len(polynomials))
                    if number == len(polynomials):
                        polynomials.append(likely)
                    table[powers] = number
            tables.append(table)
        return polynomials, tables

    def _powers(self, answers: Sequence[object]) -> Powers:
        return tuple(places[a] for places, a in zip(self._places, answers, strict=True))

    @cached_property
    def _places(self) -> list[dict[object, int]]:
        return [{query.value(p): p for p in range(query.most + 1)} for query in self.whole.queries]


def windows_of(model: Model, whole: Whole | None) -> Windows | None:
    """Returns the windows of a model; None where they say nothing about it."""
    plain = isinstance(model.measure, Pure) and bool(model.lengths) and model.whole is None
    if whole is None or not plain or model.hmm.densities or model.hmm.spreads or model.hmm.chosen:
        return None
    one = model.hmm.ring.number(1)
    if any(start.mass != one for start in whole.starts.values()):
        return None
    return Windows(model, whole)


def _likely(weights: Mapping[int, Polynomial], vector: Vector, zero: Polynomial) -> Polynomial:
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
