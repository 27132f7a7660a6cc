"""Answers about a composition from finer and finer grids, until the bounds are near each other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from math import ceil, inf, log, log2, sqrt

from flint import arb

from paramverify.algebra.constants import working_precision
from paramverify.composition.answers import BITS, CompositionAnswer, CompositionQuestion, How
from paramverify.composition.bounds import ProvedBounds
from paramverify.composition.composing import ROUGH, TAIL, Composition, Fineness
from paramverify.composition.convolution import LEAST
from paramverify.composition.losses import Loss, Losses
from paramverify.errors import LimitError

MOST_BITS = 4096  # after the point
COARSE = Fraction(1, 10)  # width of the first pass
PASSES = 12
FAR = 0.5  # relative distance of bounds from which on little is known
PIECES = 200  # of a density, for its variance
SMALL = tuple(sign * 2.0 ** (n / 2) for n in range(-60, 2) for sign in (-1, 1))  # losses near 0
SLOW = 0.9  # of the gap before, above which another grid is of no use


def ask(
    composition: Composition, questions: Sequence[CompositionQuestion], width: Fraction
) -> list[CompositionAnswer]:
    """Returns an answer to each question, within a width relative to its upper bound if time suffices.

    The answers are true of every adversary: the upper bounds of all of them, the lower ones of one.
    """
    searches = [_GridSearch(composition, direction, questions, width) for direction in composition.directions]
    while True:
        floors = [max(each.known(k).lower for each in searches) for k in range(len(questions))]
        open_ones = [each for each in searches if not each.is_done(floors)]
        if not open_ones:
            break
        for search in open_ones:
            search.advance()
        if composition.notify and len(questions) == 1:
            composition.notify(reduce(ProvedBounds.also, (each.known(0) for each in searches)))
    return [
        reduce(CompositionAnswer.larger, (each.told(k) for each in searches)) for k in range(len(questions))
    ]


@dataclass(eq=False)
class _GridSearch:
    """The answers in one direction: on finer and finer grids, where no other way gives them."""

    composition: Composition
    direction: int
    questions: Sequence[CompositionQuestion]
    width: Fraction

    def __post_init__(self) -> None:
        self.answers = [self.composition.told(self.direction, question) for question in self.questions]
        self.passes = 0
        self.gap = inf
        self.ended = all(answer is not None for answer in self.answers)
        if not self.ended:
            grid = self.composition.lattice(self.direction)
            self.on_lattice = grid is not None
            width = max(self.width, COARSE)
            step = grid.step if grid else first_step(self.composition, self.direction, width)
            sizes = [question.delta for question in self.questions if question.delta]
            rough = min(sizes) / 4 if len(sizes) == len(self.questions) else ROUGH
            self.fine = Fineness(step, tail=BITS - LEAST if grid else TAIL, rough=rough)
            self.best: list[ProvedBounds] = []

    def known(self, k: int) -> ProvedBounds:
        """Returns what is known of an answer."""
        answer: CompositionAnswer | None = self.answers[k]
        if answer is not None:
            return answer.between
        return self.best[k] if self.best else ProvedBounds(Fraction(0), None)

    def told(self, k: int) -> CompositionAnswer:
        """Returns an answer as it is told."""
        return self.answers[k] or CompositionAnswer(self.known(k), how=self.how)

    def is_done(self, floors: Sequence[Fraction]) -> bool:
        """Tells whether nothing has to be found: the bounds are near each other, or others are larger."""
        if self.ended:
            return True
        found = [self.known(k) for k in range(len(self.questions))]
        return all(
            each.is_within(self.width) or (each.upper is not None and each.upper <= floor)
            for each, floor in zip(found, floors, strict=True)
        )

    def advance(self) -> None:
        """Makes a pass, and chooses the next one, or ends."""
        started = time.monotonic()
        self.passes += 1
        try:
            bounds = self.composition.bounds(self.direction, self.fine)
        except LimitError:
            if not self.best:
                raise
            self.ended = True
            return
        here = [bounds.answer(question) for question in self.questions]
        self.best = [a.sharper(b) for a, b in zip(self.best, here, strict=True)] if self.best else here
        points = len(bounds.above.side.masses)
        self.how = How(self.fine.step, self.fine.bits, points, lattice=self.on_lattice, passes=self.passes)
        following = self._finer()
        seconds = time.monotonic() - started
        if following is None or self.passes >= PASSES:
            self.ended = True
            return
        more = _ratio(self.fine.step, following.step) * following.bits / self.fine.bits
        self.ended = time.monotonic() + 1.5 * seconds * more > self.composition.deadline
        self.fine = following

    def _finer(self) -> Fineness | None:
        """Returns how to go on: more bits where δ is small, and a smaller step where the bounds are apart."""
        fine = self.fine
        sizes = [q.size(found) for q, found in zip(self.questions, self.best, strict=True)]
        least = min((size for size in sizes if size), default=None)
        if least is None:
            return None
        size = log2(least.denominator) - log2(least.numerator)
        size += log2(self.composition.times) - log2(self.width)
        # Masses under Q are as small as δ·e^(−ε).
        far = max(map(_farthest, self.questions, self.best)) / log(2)
        bits, tail = max(fine.bits, 64 * ceil((size + far + BITS / 2) / 64)), ceil(size) + 8
        if bits > MOST_BITS:
            return None
        tail = max(tail, bits - LEAST) if self.on_lattice else tail
        following = replace(fine, bits=bits, tail=tail, rough=least / 4)
        if self.on_lattice:
            return following if bits > fine.bits or tail > fine.tail else None
        if bits > fine.bits or tail > fine.tail:
            return following  # what was left out says more than the step
        before, gap = self.gap, max(_gap(found) for found in self.best)
        self.gap = gap
        if not self.composition.single and gap > SLOW * before:
            return None  # it is the pairs that are apart
        # The distance falls with the square of the step, once it is small.
        factor = 0.8 * sqrt(float(self.width) / gap) if gap < FAR else 0.25
        return replace(following, step=Loss(simple(fine.step, min(0.8, factor))))


def _farthest(question: CompositionQuestion, found: ProvedBounds) -> float:
    """Returns the ε that is looked at, roughly."""
    if question.epsilon is not None:
        return float(question.epsilon.ball())
    return float(found.upper) if found.upper is not None else 0.0


def first_step(composition: Composition, direction: int, width: Fraction) -> Loss:
    """Returns a step that may be fine enough.

    With variance v of the sum of k losses, the spread of outputs adds about k·h²/6 to v, and labels take
    k·h²/12 away; some standard deviations out this changes δ by about 3·k·h²/v, relatively.
    """
    with working_precision(BITS):
        listed = [(each.way(direction).dominating, each.times) for each in composition.components]
        variance = sum(times * _variance(release.losses(TAIL)) for release, times in listed)
    wanted = sqrt(float(width) * variance / (3 * composition.times)) if 0 < variance < inf else 1.0
    return Loss(simple(Loss(Fraction(1)), wanted))


def simple(step: Loss, factor: float) -> Fraction:
    """Returns a rational with few digits that is about a step times a factor, and not above it."""
    wanted = float(step.ball()) * factor
    shift = ceil(-log2(wanted)) + 6
    return Fraction(max(1, int(wanted * 2.0**shift)), 2**shift) if shift > 0 else Fraction(int(wanted))


def _ratio(first: Loss, second: Loss) -> float:
    return float(first.ball()) / float(second.ball())


def _gap(found: ProvedBounds) -> float:
    return inf if not found.upper else float((found.upper - found.lower) / found.upper)


def _variance(losses: Losses) -> float:
    """Returns the variance of the loss under P, roughly: a choice, and no bound."""
    masses = [(float(a.masses[0]), float(_ball(a.loss))) for a in losses.atoms]
    if losses.smooth is not None:
        low, high = (float(end) for end in losses.smooth.span(TAIL))
        places = sorted({*(low + (high - low) * n / PIECES for n in range(PIECES + 1)), *SMALL})
        tails = [float(losses.smooth.over(arb(x))[0]) for x in places]
        masses += [(a - b, (x + y) / 2) for (x, a), (y, b) in pairwise(zip(places, tails, strict=True))]
    mean = sum(p * x for p, x in masses)
    return sum(p * (x - mean) * (x - mean) for p, x in masses)


def _ball(loss: Loss | arb) -> arb:
    return loss.ball() if isinstance(loss, Loss) else loss
