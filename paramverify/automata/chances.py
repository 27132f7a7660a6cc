"""The exact probability of one way for two streams, as a function of ε, and the loss at a given ε.

The engine for programs has the closed form of the program of the way (`automata.programs`): a quotient of
polynomials in x = exp(−step·ε), and in ε itself where rates are equal. At an ε it is enclosed by balls.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb, fmpq

from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring
from paramverify.automata.automaton import Automaton
from paramverify.automata.budgets import StreamBudget
from paramverify.automata.evaluating import way_case
from paramverify.automata.gaps import Gap
from paramverify.automata.programs import WAY, Streams, streams, with_entry
from paramverify.automata.ways import Way
from paramverify.models.model import Model

BITS = (256, 1024, 4096, 16384, 65536)  # one after another, until a loss is known well enough
KNOWN = Fraction(1, 2**40)  # how wide the bounds of a loss may be, as a part of it
MOST_DEGREE = 10**7  # of polynomials with few terms, which are only evaluated
TIMES = (0, 16, 256)  # how far away from the means the streams are


@dataclass(frozen=True, eq=False)
class Chances:
    """Two streams, and the probabilities of a way under both, in the variables that `meant` explains."""

    way: Way
    streams: Streams
    both: tuple[RationalFunction, RationalFunction]
    ring: Ring

    @property
    def meant(self) -> tuple[str, ...]:
        """What the variables stand for, such as `x_eps = exp(-eps/4)`."""
        return tuple(f"{u.variable} = {u.meaning}" for u in self.ring.unbounded)

    def loss(self, epsilon: Fraction, until: float) -> LossRange | None:
        """Returns how much likelier the way is under the first stream, at an ε; None if it is not likelier.

        None also if the probabilities are so near to 0, or to each other, that no bound is known in time.
        """
        for bits in BITS:
            bounds = _logarithm(self.both, self.ring, epsilon, bits)
            if bounds is not None and (bounds[1] <= 0 or bounds[1] - bounds[0] <= KNOWN * bounds[0]):
                break
            if time.monotonic() > until:
                break
        if bounds is None or bounds[0] <= 0:
            return None
        return LossRange(self, bounds[0], min(bounds[1], self.way.cost * epsilon))


@dataclass(frozen=True, eq=False)
class LossRange:
    """low ≤ ln of the quotient of two probabilities ≤ high, at an ε."""

    chances: Chances
    low: Fraction
    high: Fraction


def chances(automaton: Automaton, way: Way, given: Streams, width: Fraction) -> Chances | None:
    """Returns the exact probabilities of a way for two streams; None if they are beyond the engine."""
    given = with_entry(automaton, way.steps, given)
    case = way_case(automaton, way.steps, [given], StreamBudget(Fraction(1)), width, most=MOST_DEGREE)
    model = None if case is None else case.model
    if not isinstance(model, Model):
        return None
    return Chances(way, given, (_chance(model, 0), _chance(model, 1)), model.domain.ring)


def largest(
    automaton: Automaton,
    way: Way,
    width: Fraction,
    epsilon: Fraction,
    until: float,
    reach: Fraction = Fraction(1),
) -> LossRange | None:
    """Returns the largest loss of streams in the direction of a way's differences that was found.

    Entries that differ do so by `reach`. The loss is a lower bound of the budget at this ε, and comes near to
    it where streams are far away.
    """
    best, costs = None, replace(way, cost=way.cost * reach)
    for times in TIMES:
        if time.monotonic() > until:
            break
        known = chances(automaton, costs, streams(automaton, way, times, reach), width)
        found = None if known is None else known.loss(epsilon, until)
        if found is not None and (best is None or found.low > best.low):
            best = found
    return best


def loss_of(
    automaton: Automaton, gap: Gap, width: Fraction, epsilon: Fraction, until: float, *, enough: Fraction
) -> LossRange | None:
    """Returns the loss of the two streams of a gap at an ε; `enough`·ε is a budget for them."""
    way = Way(gap.steps, (), enough, ({}, {}))
    known = chances(automaton, way, gap.streams, width)
    return None if known is None else known.loss(epsilon, until)


def _chance(model: Model, side: int) -> RationalFunction:
    pair = model.pairs[0]
    start = (pair.pi, pair.tau)[side]
    total = model.hmm.ring.number(0)
    for state, weight in start.weights.items():
        for step in model.hmm.steps[state]:
            if model.hmm.observations[step.observation] == WAY:
                total += weight * step.weight
    return RationalFunction.of(total, start.mass * model.hmm.denominator)


def _logarithm(
    both: tuple[RationalFunction, RationalFunction], ring: Ring, epsilon: Fraction, bits: int
) -> tuple[Fraction, Fraction] | None:
    """Returns bounds of ln of a quotient, computed with so many bits; None if these are too few."""
    with working_precision(bits):
        value = arb(fmpq(epsilon.numerator, epsilon.denominator))
        point: dict[str, arb] = {}
        for known in ring.unbounded:
            step = fmpq(known.step.numerator, known.step.denominator)
            point |= {known.variable: (-value * arb(step)).exp(), known.name: value}
        first, second = (_at(f.numerator, point) / _at(f.denominator, point) for f in both)
        found = (first / second).log()
        return (lower_bound(found), upper_bound(found)) if found.is_finite() else None


def _at(polynomial: Polynomial, point: Mapping[str, arb]) -> arb:
    names, total = polynomial.context().names(), arb(0)
    for powers, factor in polynomial.to_dict().items():
        term = arb(factor)
        for name, power in zip(names, powers, strict=True):
            if power:
                term *= point[str(name)] ** int(power)
        total += term
    return total
