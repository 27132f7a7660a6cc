"""Compares evidence with what a second reader finds in a case at points: standard library only.

For every functional of two distributions (`Functional`) this is done here, once:

- points that the second reader finds in the domain are in the domain of the claims, and the other way round;
- at points of the domain, for each pair, length and direction, the functional compares what the second reader
  finds with what the evidence says;
- a witness has its point in the domain, names that the case compares, and a length of the case; the
  functional compares its numbers.

At an algebraic point probabilities are compared at a rational point that is very near: they are rational
functions of the parameters, so they are nearly the same there. The kernel has checked that the point is in
the domain and that the claim fails there.

E = exp(q) is replaced by rationals very near to it, or by powers of such: the equations hold between
functions of E.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import islice, product
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from ..kernel.rounded_constants import exp_bounds
from ..kernel.strict_reading import Rejected, UnreadCase
from .second_definitions import candidates
from .second_evidence import Evidence, StatedDomain, StatedWitness, polynomial
from .second_numbers import Calculator
from .second_points import BITS, MISSED, MOST_DRAWS, draws, length_of, needed, point_in
from .second_reader import MAX_WORDS, Point, PointProbabilities, SecondReader
from .second_values import without_logarithms

POINTS = 4  # where no random points are drawn
MOST_DEGREE = 40  # of claims that are compared at random points, whose numbers are long
MOST_PAIRS = 4_000  # that are
MOST_DRAWN = 20_000  # pairs of a secret pair and a sequence that are
MAX_ROOT = 60
TERMS, LONG = 200, 10**60  # of exp's series, and the denominator of numbers for E
CORNERS, WITHIN, BESIDE = 200, 40, 5  # points at which domains are compared, and those with some beside ends
MAX_COMPARED = 200_000  # pairs of a secret pair and a sequence, at one point

TOO_DEAR = 1_000  # random points, in place of which fixed ones are taken

Seen = TypeVar("Seen")
At = tuple[dict[str, Fraction], Fraction]  # a point, and a number for E


class Functional:
    """What is compared of two distributions: one bound on them, as the case and as evidence have it."""

    drawn = True  # whether values are compared, and not only signs: random points say most then
    unknown = 0  # positive factors of a claim that are not known
    of_witness = "the probabilities of the witness agree"
    of_budget = "the probabilities of {} witnesses agree"

    def prepare(self, reader: SecondReader, evidence: Evidence) -> None:
        """Changes the bounds of the case to those of the evidence, where it is about others."""

    def check_case(self, look: PointwiseComparison) -> None:
        """Checks that the case is about such a functional."""

    def start(self, look: PointwiseComparison, found: Found) -> None:
        """Reads what the evidence says, before any pair is compared."""

    def compare(self, look: PointwiseComparison, found: Found, pair: tuple[str, str], length: int) -> None:
        """Compares the sequences of one length under two secrets, in both directions, at all points."""
        raise NotImplementedError

    def close(self, look: PointwiseComparison, found: Found) -> str:
        """Checks what is left after all pairs and lengths; returns what was compared."""
        raise NotImplementedError

    def witness(self, look: PointwiseComparison, stated: StatedWitness, base: Fraction, own: bool) -> None:
        """Compares the numbers of a witness; with `own` they must break the bound of the case."""
        raise NotImplementedError


@dataclass(frozen=True)
class Found:
    """Points of a case, and what is found there; `kind` says of some whether they are random or fixed."""

    points: Sequence[At]
    masses: Sequence[PointProbabilities] = ()
    pairs: Sequence[tuple[str, str]] = ()
    kind: str = ""

    @property
    def where(self) -> str:
        """How many points there are, in words."""
        return f"{len(self.points)} {self.kind}points" if len(self.points) > 1 else "a point"

    @property
    def missed(self) -> str:
        """How likely it is that a difference is missed, in words, where that is known."""
        return MISSED if self.kind == "random " and len(self.points) > 1 else ""


class PointwiseComparison:
    """One comparison of evidence with a case."""

    claimed = False  # whether the case has no mechanism
    near = True  # whether numbers for E have to be near it, because signs are compared
    lost = 0  # a logarithm of 1/the share of the box that is in the domain

    def __init__(
        self,
        functional: Functional,
        evidence: Evidence,
        content: str,
        bound: Sequence[str] | Mapping[str, Sequence[str]] | None,
        folder: Path | None = None,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.functional, self.evidence, self.domain = functional, evidence, evidence.domain
        self.exponent = self.domain.exponent
        self.reader = SecondReader(content, self.exponent, folder, settings, self.claimed)
        self.reader.name_outputs(evidence.document.get("outputs", ()))
        self.reader.ties = evidence.ties
        self.names = set(self.domain.parameters if self.domain.known else self.reader.intervals)
        if bound is not None:
            self.reader.replace_bound(bound)
        functional.prepare(self.reader, evidence)
        self.bases = self._bases()

    def compare(self) -> str:
        """Compares, and returns what was compared.

        Raises:
            Rejected: a difference was found. Unread: something cannot be compared.
        """
        self.functional.check_case(self)
        self.check_parameters()
        stated = self.evidence.witness
        if stated is not None:
            for base in self.bases:
                self.functional.witness(self, stated, base, True)
            near = " at a rational point very near to it" if stated.is_algebraic else ""
            return self.functional.of_witness + near
        witnesses = self.evidence.witnesses
        for each, base in product(witnesses, self.bases):
            self.functional.witness(self, each, base, False)
        if not self.domain.known:
            return self.functional.of_budget.format(len(witnesses))
        self.check_domain()
        found = self.found(self.reader.lengths)
        self.functional.start(self, found)
        for pair in found.pairs:
            for length in self.reader.lengths:
                self.functional.compare(self, found, pair, length)
        return self.functional.close(self, found)

    def check_parameters(self) -> None:
        """Compares the names of the parameters."""
        more = self.names - self.reader.intervals.keys()
        if more and all(re.fullmatch(r"[wr][1-9]\d?", name) for name in more):
            raise UnreadCase("an output with noise or with a parameter")
        if self.names != self.reader.intervals.keys():
            raise Rejected(f"the parameters are {', '.join(self.reader.intervals)}")

    # --- points -----------------------------------------------------------------------------------

    def refine(self, name: str, exponent: Fraction) -> None:
        """Makes exp(exponent · name) a whole power, as the reader does."""
        self.reader.refine(name, exponent)
        if self.reader.power > MAX_ROOT:
            raise UnreadCase("the exponents of exp have too small a common divisor")
        self.bases = self._bases()

    def _bases(self) -> list[Fraction]:
        exponent = self.reader.exponent
        if exponent is None:
            return [Fraction(1)]
        if not 0 < exponent <= 50:
            raise UnreadCase("a constant with a large exponent")
        low, high = exp_bounds(exponent, TERMS)
        near = [(2 * low + high) / 3, (low + 2 * high) / 3]
        # Short numbers near it: the error is far below every difference that matters, 60 digits.
        return [Fraction(round(x * LONG) + k, LONG) for k, x in enumerate(near)]

    def points(self) -> list[At]:
        """Returns points of the domain, each with a number for E."""
        found = self.reader.points(self.bases[0], POINTS)
        found = found or [point for point, _ in islice(self.drawn(), POINTS)]
        if not found:
            raise UnreadCase("the second reader found no point of the domain")
        if len(found) == 1:  # functions of E are compared at two values of E
            return [(found[0], base) for base in self.bases]
        return [(point, self.bases[k % len(self.bases)]) for k, point in enumerate(found)]

    def drawn(self) -> Iterator[At]:
        """Yields random points of the domain, each with a number for E; one if there is nothing to draw.

        There are none where a parameter stands beside its exponential: such numbers are not independent.
        """
        if self.reader.ties:
            return
        draw, box, base = draws(self.evidence.document), self.reader.intervals, self.bases[0]
        if self.is_point:
            yield from ((point, base) for point in self.reader.points(base, 1))
            return
        hits = 0
        for tried, point in enumerate((point_in(box, draw) for _ in range(MOST_DRAWS)), 1):
            near = base
            if self.reader.exponent is not None:
                far = draw.randrange(1 << BITS)
                near = base + Fraction(far, LONG) if self.near else 1 + Fraction(far, 1 << BITS)
            if self.reader.has(point, near):
                hits += 1
                self.lost = (tried // hits).bit_length() if tried > hits else 0
                yield point, near

    @property
    def is_point(self) -> bool:
        """Whether the domain is one point, without a number E."""
        ends = self.reader.intervals.values()
        return all(low == high for low, high, _, _ in ends) and self.reader.exponent is None

    def found(self, lengths: Sequence[int]) -> Found:
        """Returns points and probabilities there.

        Raises:
            Unread: there are too many.
        """
        if not lengths:
            raise UnreadCase("claims about sequences of every length")
        if lengths != [1] and sum(self._outputs() ** n for n in lengths) > MAX_WORDS:
            raise UnreadCase("there are too many sequences")
        pairs = list(dict.fromkeys(self.reader.pairs(*self.points()[0])))

        def visit(at: At) -> PointProbabilities:
            found = self.reader.masses(*at, lengths)
            if len(pairs) * found.size > MAX_COMPARED:
                raise UnreadCase("there are too many pairs and sequences")
            return found

        def wanted(found: PointProbabilities) -> int:
            if len(pairs) * found.size > MOST_DRAWN:
                return TOO_DEAR
            values = [p for words in found.words.values() for p in (words or {}).values()]
            degree = 2 * (self.evidence.degree + length_of([*values, *found.bounds.values()]))
            return needed(degree, self.functional.unknown, len(pairs) * (len(values) + 1), self.lost)

        dear = self.evidence.degree > MOST_DEGREE or len(pairs) > MOST_PAIRS
        if dear or not self.functional.drawn:
            known = self.points()
            kind = "fixed " if self.functional.drawn else ""
            return Found(known, list(map(visit, known)), pairs, kind)
        where, masses = self.visited(visit, wanted)
        return replace(where, masses=masses, pairs=pairs)

    def visited(self, visit: Callable[[At], Seen], wanted: Callable[[Seen], int]) -> tuple[Found, list[Seen]]:
        """Visits random points, as many as are `wanted`; else fixed ones, and says so."""
        points: list[At] = []
        found: list[Seen] = []
        for at in self.drawn():
            points.append(at)
            found.append(visit(at))
            count = 1 if self.is_point else wanted(found[0])
            if len(points) >= count:
                return Found(points, kind="random "), found
            if count == TOO_DEAR:
                break
        known = self.points()
        return Found(known, kind="fixed "), [visit(at) for at in known]

    def values_at_random(self, visit: Callable[[At], list[Fraction]], degree: int) -> Found:
        """Visits points, as many as functions of a degree need; gets those that the case has there."""
        return self.visited(
            visit, lambda own: needed(degree + length_of(own), choices=len(own) + 1, lost=self.lost)
        )[0]

    def _outputs(self) -> int:
        """Returns how many observations there are: those listed, else those of the first two steps."""
        listed = self.reader.data["mechanism"].get("observations")
        found = self.reader.masses(*self.points()[0], [1, 2]).words.values()
        return len(listed or {name for words in found for word in words or () for name in word})

    # --- values -----------------------------------------------------------------------------------

    def values(self, point: Point, base: Fraction) -> dict[str, Fraction]:
        """Returns the numbers of all names of the evidence at a point."""
        known = {**point, **self.reader.tied(point)}
        return known if self.exponent is None else {**known, "E": base**self.reader.power}

    def value(self, text: str, point: Point, base: Fraction) -> Fraction:
        """Returns the value of a polynomial of the evidence at a point."""
        return polynomial(text).at(self.values(point, base))

    def exact(self, given: object, base: Fraction) -> Fraction:
        """Returns an exact number of a document: `24/7`, or a formula in E or exp."""
        text = str(given["exact"] if isinstance(given, dict) else given)
        formula = without_logarithms(text.partition(" with ")[0].replace("^", "**"))
        reader = self.reader
        return Calculator({"E": base**reader.power}, reader.exponent, base).number(formula)

    def check_domains(self, domains: Iterable[StatedDomain]) -> None:
        """Compares the domains of all claims with that of the case."""
        listed = list(domains)
        for domain in (one for k, one in enumerate(listed) if one not in listed[:k]):
            if set(domain.parameters) != self.reader.intervals.keys():
                raise Rejected("the claims have other parameters than the case")
            self.check_domain(domain)

    def check_domain(self, domain: StatedDomain | None = None) -> None:
        """Compares the domains at points inside, at ends and corners of both boxes, and near them.

        A constraint on one parameter may be an end of its interval instead, so points near ends count.
        """
        domain = domain or self.domain
        own = {name: ends[:2] for name, ends in self.reader.intervals.items()}
        stated = {name: domain.box[name][:2] for name in own}
        points: list[dict[str, Fraction]] = []
        for box in (own, stated):
            within = candidates({name: (low, high, True, True) for name, (low, high) in box.items()})
            corners = product(*({low, (low + high) / 2, high} for low, high in box.values()))
            points += [dict(zip(box, corner, strict=True)) for corner in islice(corners, CORNERS)]
            points += islice(within, WITHIN)
        base = self.bases[0]
        inside = (p for p in points if domain.has(p, partial(self.values, p, base)))
        for point in list(islice(inside, BESIDE)) if self.reader.constraints else ():
            for name, (low, high) in own.items():
                steps = [(high - low) * Fraction(k, size) for size in (1000, 10**9) for k in (-1, 1)]
                points += [
                    {**point, name: end + step} for end in (low, high, *stated[name]) for step in steps
                ]
        for point in points:
            try:
                own_domain = self.reader.has(point, base)
            except ZeroDivisionError:
                continue  # a constraint is not defined there
            if own_domain != domain.has(point, partial(self.values, point, base)):
                shown = ", ".join(f"{n} = {v}" for n, v in point.items())
                raise Rejected(f"only one of both domains has {shown}")

    # --- witnesses --------------------------------------------------------------------------------

    def at_witness(
        self, stated: StatedWitness, base: Fraction, wanted: tuple[str, ...] | None = None
    ) -> tuple[dict[str, Fraction], PointProbabilities]:
        """Returns the point of a witness, and how likely the sequences of its length are there.

        Raises:
            Rejected: it is outside of the domain, or the case does not compare what it compares.
        """
        point, (left, right) = stated.point, stated.secrets
        if self.reader.lengths and stated.length not in self.reader.lengths:
            raise Rejected("the sequence has another length")
        if not stated.is_algebraic and not self.reader.has(point, base):
            raise Rejected("the witness is outside the domain")
        if not {(left, right), (right, left)} & set(self.reader.pairs(point, base)):
            raise Rejected(f"{left!r} and {right!r} are not compared")
        found = self.reader.masses(point, base, [stated.length], {left, right}, wanted)
        if found.words[left] is None or found.words[right] is None:
            raise Rejected("a secret is impossible at the witness")
        return point, found

    def check_numbers(
        self, own: Iterable[Fraction], told: Iterable[object], base: Fraction, stated: StatedWitness
    ) -> None:
        """Compares numbers with those of a witness."""
        for value, given in zip(own, told, strict=True):
            if stated.is_algebraic:
                same = abs(value - stated.near(given)) <= NEAR * (1 + abs(value))
            else:
                same = value == self.exact(given, base)
            if not same:
                raise Rejected(f"a number of the witness is {value!s:.60}, not {given!s:.60}")

    def check_largest(self, stated: StatedWitness, found: PointProbabilities, base: Fraction) -> None:
        """Compares the probabilities of the sequences that contribute most."""
        for each in stated.get("largest") or ():
            for name, given in zip(stated.secrets, each["probabilities"], strict=True):
                if found.of(name, tuple(each["output"])) != self.exact(given, base):
                    raise Rejected("the evidence has another probability for the witness")


NEAR = Fraction(1, 10**30)  # how near a number has to be to an algebraic one
