"""Sets of outputs beside the places of densities at which a case is violated, with their probabilities.

A ratio of two densities beyond a bound is no probability yet. On a short interval beside the place the
probabilities have a ratio beyond the bound, too: here such an interval is found, and evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, repeat
from math import log10
from typing import Any

from flint import arb

from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.polynomials import RationalFunction
from paramverify.algebra.reals import Real
from paramverify.errors import FinerError, InputError, LimitError, UnsupportedError
from paramverify.evidence import number_words as words
from paramverify.evidence.number_words import Chance
from paramverify.evidence.told_witnesses import Within
from paramverify.models.hmm import Densities, Set
from paramverify.models.model_evaluation import Numbers
from paramverify.models.priors import InitialDistribution
from paramverify.models.programs.noise_densities import number

MOST_SETS = 400  # that are tried
BITS = 256  # of enclosures
DIGITS = 30  # of the ends of an enclosure

Chances = tuple[Chance, Chance]
Sides = tuple[InitialDistribution, InitialDistribution]


@dataclass(frozen=True, eq=False)
class OutputSets:
    """Sets of outputs beside the places of densities that a witness is about, one set for each observation.

    `observations` are the sets in words, such as `0..1/8`; `probabilities` are those of all sets together,
    under both secrets. The first is more than the bound times the second: that is decided exactly.
    """

    observations: tuple[str, ...]
    probabilities: Chances
    steps: tuple[tuple[str, Fraction], ...] = ()  # x_eps is exp(−step·eps), for each parameter of (0, ∞)

    @property
    def ratio(self) -> Chance | None:
        """The first probability divided by the second one; None stands for infinity."""
        left, right = self.probabilities
        if isinstance(left, Real) and isinstance(right, Real):
            return left / right if right.sign() > 0 else None
        (low, high), (least, most) = map(enclosed, self.probabilities)
        return (low / most, high / least) if least > 0 else None

    def document(self) -> dict[str, Any]:
        """Returns the sets with their probabilities as JSON data."""
        return {
            "observations": list(self.observations),
            "probabilities": [words.chance_document(p) for p in self.probabilities],
            "ratio": words.chance_document(self.ratio),
            **({"steps": {name: words.exact(step) for name, step in self.steps}} if self.steps else {}),
        }

    def told(self) -> Within:
        """Returns them as Python programs get them."""
        left, right = (p if isinstance(p, tuple) else ExactNumber(p) for p in self.probabilities)
        return Within(self.observations, (left, right))


def enclosed(value: Chance) -> tuple[Fraction, Fraction]:
    """Returns two numbers between which a probability lies."""
    return value.enclosure(BITS) if isinstance(value, Real) else value


@dataclass(frozen=True, eq=False)
class DensityWitness:
    """A witness about places of densities: its point, both secrets, its observations, and the bound there."""

    numbers: Numbers
    sides: Sides
    observations: tuple[str, ...]
    bound: Real

    def within(self) -> OutputSets | None:
        """Returns sets of outputs whose ratio is beyond the bound, beside places of densities where it is so.

        None where none of the observations is such a place, or none is found.
        """
        known = self._known
        if known is None:
            return None
        for chosen in islice(self._tried(known.sets), MOST_SETS):
            found = self._probabilities(known, chosen)
            if found is not None and _exceeds(found, self.bound):
                names = zip(self.observations, chosen, strict=True)
                told = tuple(n if s is None else known.words(s) for n, s in names)
                steps = ((u.name, u.step) for u in self.numbers.model.domain.ring.unbounded)
                return OutputSets(told, found, tuple(steps))
        return None

    def reached(self, ratio: Real | None) -> bool | None:
        """Tells whether sets of outputs have the ratio of the densities, if no output has a larger one.

        Between two breaks the ratio of two densities is monotone in each number. So its mean there is the
        largest ratio only if it is constant. None is infinity as a ratio, and not known as an answer.
        """
        known = self._known
        if known is None or any(name in self.numbers.model.hmm.spreads for name in self.observations):
            return None
        doubt = False
        for chosen in self._tried(known.open_sets):
            found = self._probabilities(known, chosen)
            if found is None or not all(isinstance(p, Real) for p in found):
                doubt = True
                continue
            left, right = found
            assert isinstance(left, Real)
            assert isinstance(right, Real)
            if left.sign() > 0 and (right if ratio is None else left - ratio * right).sign() == 0:
                return True
        return None if doubt else False

    @property
    def _known(self) -> Densities | None:
        known = self.numbers.model.hmm.beside
        return known if known and any(known.place(name) for name in self.observations) else None

    def _tried(self, sets: Callable[[Set], Iterator[Set]]) -> Iterator[tuple[Set | None, ...]]:
        """Yields a set for each observation that is a place, all from the first to the last at once."""
        known = self.numbers.model.hmm.beside
        places = [known.place(name) if known else None for name in self.observations]
        return zip(*(repeat(None) if p is None else sets(p) for p in places), strict=False)

    def _probabilities(self, known: Densities, chosen: Sequence[Set | None]) -> Chances | None:
        """Returns how likely these sets are, one after the other, under both secrets.

        They are exact, or where that needs roots of parameters enclosed; None where neither is done.
        """
        try:
            left, right = (
                self._exact(known, start, chosen) or self._ball(known, start, chosen) for start in self.sides
            )
        except (InputError, LimitError, UnsupportedError):
            return None  # the densities say enough, and these are told
        return left, right

    def _exact(
        self, known: Densities, start: InitialDistribution, chosen: Sequence[Set | None]
    ) -> Real | None:
        zero = RationalFunction.of(self.numbers.model.domain.ring.number(0))
        total = zero
        try:
            for state, weight in start.weights.items():
                share = RationalFunction.of(weight, start.mass)
                for name, wanted in zip(self.observations, chosen, strict=True):
                    parts = known.parts(state, wanted) if wanted is not None else ()
                    plain = self._plain(state, name) if wanted is None else zero
                    share = share * sum((p.function() for p in parts), start=plain)
                total = total + share
        except FinerError:
            return None
        return self.numbers.function(total)

    def _ball(
        self, known: Densities, start: InitialDistribution, chosen: Sequence[Set | None]
    ) -> tuple[Fraction, Fraction]:
        with working_precision(BITS):
            total = arb(0)
            for state, weight in start.weights.items():
                share = self._at(RationalFunction.of(weight, start.mass))
                for name, wanted in zip(self.observations, chosen, strict=True):
                    parts = known.parts(state, wanted) if wanted is not None else ()
                    plain = self._at(self._plain(state, name)) if wanted is None else arb(0)
                    share *= sum((p.ball(self._at, self._unit) for p in parts), plain)
                total += share
            return _short(lower_bound(total), -1), _short(upper_bound(total), 1)

    def _plain(self, state: int, name: str) -> RationalFunction:
        """Returns the probability of an output that is no place of a density."""
        hmm = self.numbers.model.hmm
        seen = hmm.observations.index(name)
        weights = [step.weight for step in hmm.steps[state] if step.observation == seen]
        return RationalFunction.of(sum(weights, hmm.ring.number(0)), hmm.denominator)

    def _at(self, function: RationalFunction) -> arb:
        low, high = self.numbers.function(function).enclosure(BITS)
        return number(low).union(number(high))

    def _unit(self, name: str) -> arb:
        """Returns a parameter of the domain (0, oo) at the point; 1 where there is none."""
        if not name:
            return arb(1)
        meant = next(u for u in self.numbers.model.domain.ring.unbounded if u.name == name)
        return -number(Fraction(self.numbers.point[meant.variable])).log() / number(meant.step)


def _exceeds(found: Chances, bound: Real) -> bool:
    """Tells whether the first probability is more than a bound times the second, for certain."""
    left, right = found
    if isinstance(left, Real) and isinstance(right, Real):
        return (left - bound * right).sign() > 0
    return enclosed(left)[0] > bound.enclosure(BITS)[1] * enclosed(right)[1]


def _short(value: Fraction, sign: int) -> Fraction:
    """Returns a decimal that is not above a number, for sign -1, or not below it."""
    if not value:
        return value
    scale = 10 ** (DIGITS + max(0, -_digits(abs(value))))
    return Fraction(-(-value * scale).__floor__() if sign > 0 else (value * scale).__floor__(), scale)


def _digits(value: Fraction) -> int:
    """Returns about the logarithm of a number to the base 10."""
    return int(log10(value.numerator) - log10(value.denominator))
