"""Many releases together: δ for ε, ε for δ and the curve, exactly or between bounds that get sharper."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from itertools import islice, pairwise, product
from math import ceil, exp, inf, log, log2, sqrt
from typing import Any

from flint import arb

from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.algebra.rationals import logarithm
from paramverify.composition.loss_grids import (
    GUARD,
    Above,
    Below,
    Cells,
    ExactMasses,
    Grid,
    Lower,
    ProvedBounds,
    Side,
    Upper,
    cells_of,
    composed,
    lattice,
    power,
)
from paramverify.composition.loss_grids import LEAST as LEAST_MASS
from paramverify.composition.release_losses import Loss, Losses, Release, may_be
from paramverify.errors import LimitError

BITS = 128  # of bounds of a logarithm


@dataclass(frozen=True)
class How:
    """How bounds were computed: the step of the grid and the bits of its masses, at the last pass."""

    step: Loss
    bits: int
    points: int
    lattice: bool
    passes: int


@dataclass(frozen=True)
class CompositionAnswer:
    """A number between proved bounds; where it is exact, `exact` is it: δ, or the ratio e^ε of an ε.

    For a δ that is no rational number `parts` has A and B with δ = A − B·e^ε.
    """

    between: ProvedBounds
    exact: Fraction | None = None
    parts: tuple[Fraction, Fraction] | None = None
    how: How | None = None

    def larger(self, other: CompositionAnswer) -> CompositionAnswer:
        """Returns the larger of two numbers of different directions."""
        if self.exact is not None and other.exact is not None:
            return self if self.exact >= other.exact else other
        both = self.between.also(other.between)
        for one in (self, other):
            if one.between == both:
                return one
        return CompositionAnswer(both, how=self.how or other.how)


@dataclass(frozen=True)
class CompositionQuestion:
    """What is asked of a composition: δ for an ε, or ε for a δ."""

    epsilon: Loss | None = None
    delta: Fraction | None = None

    def size(self, found: ProvedBounds | None) -> Fraction:
        """Returns the size of δ that is looked at, roughly; 0 where it is not known yet."""
        if self.delta is not None:
            return self.delta
        if found is None or found.upper is None:
            return Fraction(0)
        return max(found.lower, found.upper**2)  # where nothing is known from below, δ may be far smaller


def ends(value: Loss | arb | None) -> ProvedBounds:
    """Returns a number as bounds; None stands for infinity."""
    if value is None:
        return ProvedBounds(Fraction(0), None)
    with working_precision(BITS):
        found = value.ball() if isinstance(value, Loss) else value
        if isinstance(value, Loss) and value.ratio == 1:
            return ProvedBounds(max(Fraction(0), value.rational), max(Fraction(0), value.rational))
        return ProvedBounds(max(Fraction(0), lower_bound(found)), max(Fraction(0), upper_bound(found)))


MOST_BITS = 4096  # of the enclosure of a ratio
TAIL = 60  # bits of the mass beyond which a density is cut, at first
ROUGH = Fraction(1, 10**6)  # mass beyond which the parts of a density may be longer, at first
LATTICE = 400_000  # points up to which a grid with all losses on it is taken
LONGEST = 100_000  # bits of the ratio of a largest loss
ALONE = 100  # of pairs of one release
CHOICES = 8  # of pairs that are composed for lower bounds


@dataclass(frozen=True)
class DirectedRelease:
    """What one release is, in one direction of neighbours.

    `dominating` has, for each ε, at least the δ of every pair that an adversary may take; `pairs` are some of
    these. Where it is one of them, `pairs` has nothing else. `tight`: at each ε one of the pairs has exactly
    its δ. `about` is what evidence says of the case that it is from.
    """

    dominating: Release
    pairs: tuple[Release, ...]
    tight: bool = True
    about: Mapping[str, Any] | None = field(default=None, compare=False)

    @staticmethod
    def of(release: Release) -> DirectedRelease:
        """Returns the release with one pair."""
        return DirectedRelease(release, (release,))

    @property
    def single(self) -> bool:
        """Whether one pair dominates all."""
        return self.pairs == (self.dominating,)


ONE_MORE = (
    "a component has `subsample`, so the neighbours of this case are interpreted as data with and without "
    "one person; if they replace a record, the result does not apply to them"
)


@dataclass(frozen=True)
class Component:
    """A release that is made `times` times; `ways` are one for both directions of neighbours, or two.

    With two ways the first is that with the person, compared with the release without. `case` is the path of
    a case file, whose pairs are what the file says.
    """

    name: str
    times: int
    ways: tuple[DirectedRelease, ...]
    notes: tuple[str, ...] = ()
    case: str = ""

    @property
    def is_sampled(self) -> bool:
        """Whether it is a release of a sample of the people."""
        return len(self.ways) > 1

    def way(self, direction: int) -> DirectedRelease:
        """Returns what it is in the first or the second direction."""
        return self.ways[direction if len(self.ways) > 1 else 0]


@dataclass(frozen=True)
class Fineness:
    step: Loss
    bits: int = BITS
    tail: int = TAIL
    rough: Fraction = ROUGH


@dataclass(frozen=True)
class GridBounds:
    """Both bounds on one grid."""

    above: Above
    below: tuple[Below, ...]

    def answer(self, question: CompositionQuestion) -> ProvedBounds:
        """Returns bounds of what is asked."""
        if question.epsilon is not None:
            upper = self.above.delta(question.epsilon)
            return ProvedBounds(max(side.delta(question.epsilon) for side in self.below), upper)
        assert question.delta is not None
        most = self.above.epsilon(question.delta)
        near = most if most is not None else Fraction(1)
        found = [side.epsilon(question.delta, near) for side in self.below]
        if None in found:
            return ProvedBounds(Fraction(0), None, infinite=True)
        return ProvedBounds(max(each for each in found if each is not None), most)


@dataclass(eq=False)
class Composition:
    """Several releases, composed: the adversary may take another pair of inputs at each of them.

    `deadline` is when to stop, in the seconds of `time.monotonic`; what is known then is the answer.
    """

    components: tuple[Component, ...]
    deadline: float = inf
    notify: Callable[[ProvedBounds], None] | None = None
    _exact: dict[int, ExactMasses | None] = field(default_factory=dict)

    @property
    def directions(self) -> tuple[int, ...]:
        """The directions of neighbours that differ."""
        return (0, 1) if any(each.is_sampled for each in self.components) else (0,)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the components, and on what neighbours have to be where one of them is of a sample."""
        told = [note for each in self.components for note in each.notes]
        if any(each.is_sampled for each in self.components):
            told += [f"{each.case}: {ONE_MORE}" for each in self.components if each.case]
        return tuple(dict.fromkeys(told))

    @property
    def single(self) -> bool:
        """Whether one pair of each release is the worst for every ε.

        Of one release alone no adversary has to keep to a pair: its δ is that of the dominating pair.
        """
        ways = [way for each in self.components for way in each.ways]
        return all(way.single or (way.tight and self.times == 1) for way in ways)

    @property
    def times(self) -> int:
        """The number of releases."""
        return sum(each.times for each in self.components)

    def exact(self, direction: int) -> ExactMasses | None:
        """Returns the exact composition in a direction, if it is small, rational, and of one pair each."""
        if direction not in self._exact:
            pairs = []
            ways = [(each.way(direction), each.times) for each in self.components]
            for way, times in ways if self.single else ():
                listed = way.dominating.losses(BITS).exact
                pairs.append((listed, times))
            known = [(listed, times) for listed, times in pairs if listed is not None]
            self._exact[direction] = composed(known) if known and len(known) == len(ways) else None
        return self._exact[direction]

    def told(self, direction: int, question: CompositionQuestion) -> CompositionAnswer | None:
        """Returns an answer that needs no grid, if there is one."""
        exact = self.exact(direction)
        known = exactly_answered(exact, question) if exact is not None else None
        return known or self._at_the_end(direction, question)

    # --- where pure privacy says all ----------------------------------------------------------------------

    def _at_the_end(self, direction: int, question: CompositionQuestion) -> CompositionAnswer | None:
        """Answers with the largest loss: δ is 0 from it on, and no smaller ε has δ = 0."""
        if question.epsilon is None and question.delta != 0:
            return None
        with working_precision(BITS):
            ways = [each.way(direction) for each in self.components]
            times = [each.times for each in self.components]
            most = _largest([way.dominating for way in ways], times)
            if question.epsilon is not None:
                at_most = most == question.epsilon or (most is not None and _below(most, question.epsilon))
                return (
                    CompositionAnswer(ProvedBounds(Fraction(0), Fraction(0)), exact=Fraction(0))
                    if at_most
                    else None
                )
            if any(_endless(release) for chosen in self._choices(direction) for release in chosen):
                return CompositionAnswer(ProvedBounds(Fraction(0), None, infinite=True))
            least = max(
                (ends(_largest(list(chosen), times)) for chosen in self._choices(direction)),
                key=lambda both: inf if both.upper is None else both.lower,
            )
        if most is None:
            return CompositionAnswer(ProvedBounds(least.lower, None) if least.upper is not None else least)
        between = ProvedBounds(least.lower, ends(most).upper)
        if self.single and isinstance(most, Loss) and not most.rational:
            return CompositionAnswer(between, exact=most.ratio)
        return CompositionAnswer(between)

    def _choices(self, direction: int) -> Iterable[tuple[Release, ...]]:
        """Returns some choices of one pair for each release."""
        ways = [each.way(direction) for each in self.components]
        pairs = [(way.dominating,) if self.single else way.pairs for way in ways]
        return islice(product(*pairs), CHOICES if self.times > 1 else ALONE)

    # --- bounds on grids ----------------------------------------------------------------------------------

    def bounds(self, direction: int, fine: Fineness) -> GridBounds:
        """Returns bounds on one grid."""
        grid = Grid(fine.step)
        with working_precision(fine.bits + 2 * GUARD + self._scale(fine.step)):
            known: dict[Release, Cells] = {}
            dominating = [each.way(direction).dominating for each in self.components]
            above = self._product(Upper, dominating, fine, known)
            below = [self._product(Lower, chosen, fine, known) for chosen in self._choices(direction)]
        return GridBounds(Above(grid, above), tuple(Below(side) for side in below))

    @staticmethod
    def _scale(step: Loss) -> int:
        """Returns how many bits are lost where masses are divided between the points of a grid."""
        size = float(step.ball())
        if not 0 < size < inf:
            raise LimitError("the privacy losses are too small or too large for a grid")
        return 2 * max(0, ceil(-log2(size)))

    def _product(
        self, side: type[Side], chosen: Sequence[Release], fine: Fineness, known: dict[Release, Cells]
    ) -> Side:
        whole: Side | None = None
        for component, release in zip(self.components, chosen, strict=True):
            self._check()
            if release not in known:
                losses = release.losses(fine.bits)
                known[release] = cells_of(losses, Grid(fine.step), fine.tail, fine.rough)
            part = power(side.of(known[release], fine.bits, fine.tail), component.times, self._check)
            whole = part if whole is None else whole.times(part)
        assert whole is not None
        return whole

    def _check(self) -> None:
        if time.monotonic() > self.deadline:
            raise LimitError("no bound was found within the time limit")

    def lattice(self, direction: int) -> Grid | None:
        """Returns a grid with all losses on it, where it has not too many points."""
        releases = [
            release
            for each in self.components
            for release in (each.way(direction).dominating, *each.way(direction).pairs)
        ]
        with working_precision(BITS):
            listed = [release.losses(BITS) for release in releases]
            grid = lattice(listed)
            if grid is None:
                return None
            widest = [
                each.times * (max(places) - min(places))
                for each in self.components
                if (
                    places := [
                        grid.place(atom.loss)[0] for atom in each.way(direction).dominating.losses(BITS).atoms
                    ]
                )
            ]
        return grid if sum(widest) <= LATTICE else None


def exactly_answered(exact: ExactMasses, question: CompositionQuestion) -> CompositionAnswer | None:
    """Returns the exact answer; of a δ for an ε that is no logarithm, also the two numbers it is made of."""
    if question.delta is not None:
        ratio = exact.ratio(question.delta)
        if ratio is None:
            return CompositionAnswer(ProvedBounds(Fraction(0), None, infinite=True))
        return CompositionAnswer(ends(Loss(ratio=ratio)), exact=ratio)
    assert question.epsilon is not None
    if not question.epsilon.rational:
        value = exact.delta(question.epsilon.ratio)
        return CompositionAnswer(ProvedBounds(value, value), exact=value)
    with working_precision(MOST_BITS):
        grown = question.epsilon.exponential()
        low, high = lower_bound(grown), upper_bound(grown)
    parts = exact.parts(low)
    if parts != exact.parts(high):
        return None
    if not parts[1]:
        return CompositionAnswer(ProvedBounds(parts[0], parts[0]), exact=parts[0])
    return CompositionAnswer(
        ProvedBounds(max(Fraction(0), parts[0] - high * parts[1]), parts[0] - low * parts[1]), parts=parts
    )


def _largest(releases: Sequence[Release], times: Sequence[int]) -> Loss | arb | None:
    """Returns the sum of the largest losses, exactly or as a ball; None where it is infinite or not known."""
    exactly: Loss | None = Loss()
    total = arb(0)
    for release, count in zip(releases, times, strict=True):
        losses = release.losses(BITS)
        beyond = any(map(may_be, (losses.only[0], losses.above[0], losses.below[0])))
        if beyond or not losses.atoms or (losses.smooth is not None and not losses.smooth.bounded):
            return None
        listed = [(a.loss, a.loss.ball() if isinstance(a.loss, Loss) else a.loss) for a in losses.atoms]
        most, size = max(listed, key=lambda each: float(each[1]))
        for _, other in listed:
            size = size.max(other)
        total += size * count
        small = isinstance(most, Loss) and most.ratio.numerator.bit_length() * count <= LONGEST
        clear = small and all(other is most or _below(other, most) for other, _ in listed)
        exactly = exactly.plus(most.times(count)) if exactly and clear and isinstance(most, Loss) else None
    return exactly or total


def _endless(release: Release) -> bool:
    """Tells whether a release is known to have outputs with losses above every number, or infinite ones."""
    losses = release.losses(BITS)
    return bool(losses.only[0] > 0) or (losses.smooth is not None and losses.smooth.endless[0])


def _below(first: Loss | arb, second: Loss | arb) -> bool:
    """Tells whether a number is certainly below another one."""
    one, other = (x.ball() if isinstance(x, Loss) else x for x in (first, second))
    return bool(one < other)


MOST_SEARCH_BITS = 4096  # after the point
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
            self.fine = Fineness(step, tail=BITS - LEAST_MASS if grid else TAIL, rough=rough)
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
        if bits > MOST_SEARCH_BITS:
            return None
        tail = max(tail, bits - LEAST_MASS) if self.on_lattice else tail
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


CORNERS = 200  # up to which the corners are the curve
POINTS = 16
LEAST = Fraction(1, 10**9)  # δ down to which the curve goes
COARSE_CURVE = Fraction(1, 10)
FARTHEST = 20.0  # ε, where no bound of it is known
DIGITS = 10_000  # largest denominator of a ratio


@dataclass(frozen=True)
class DeltaAtRatio:
    """For the ratio e^ε what is known of δ; a point of `reports.pictures.privacy_plots`."""

    ratio: Fraction
    found: CompositionAnswer
    sufficient: bool = False
    searched: str = ""

    @property
    def epsilon(self) -> float:
        """ε rounded."""
        return logarithm(self.ratio)

    @property
    def delta(self) -> Fraction:
        """An upper bound of δ, or δ itself."""
        assert self.found.between.upper is not None
        return self.found.between.upper

    @property
    def exact(self) -> bool:
        """Whether δ is known exactly."""
        return self.found.exact is not None


@dataclass(frozen=True)
class DeltaCurve:
    """Points of the curve from ratio 1 on; `linear`: they are all corners, and exact."""

    points: tuple[DeltaAtRatio, ...]
    linear: bool


def curve(composition: Composition, width: Fraction) -> DeltaCurve:
    """Returns the curve of a composition, down to δ = `LEAST` where it has no last corner."""
    corners = _corners(composition)
    if corners is not None:
        return DeltaCurve(corners, linear=True)
    reach = ask(composition, [CompositionQuestion(delta=LEAST)], COARSE_CURVE)[0].between.upper
    last = min(FARTHEST, float(reach)) if reach else FARTHEST
    ratios = {Fraction(exp(last * k / (POINTS - 1))).limit_denominator(DIGITS) for k in range(POINTS)}
    chosen = sorted({Fraction(1), *(ratio for ratio in ratios if ratio > 1)})
    found = ask(composition, [CompositionQuestion(epsilon=Loss(ratio=ratio)) for ratio in chosen], width)
    return DeltaCurve(tuple(DeltaAtRatio(*pair) for pair in zip(chosen, found, strict=True)), linear=False)


def _corners(composition: Composition) -> tuple[DeltaAtRatio, ...] | None:
    """Returns all corners of an exact composition, if they are few."""
    exact = composition.exact(0) if len(composition.directions) == 1 else None
    listed = exact.corners() if exact is not None and len(exact.outputs) <= CORNERS else None
    if listed is None:
        return None
    return tuple(
        DeltaAtRatio(ratio, CompositionAnswer(ProvedBounds(delta, delta), exact=delta))
        for ratio, delta in listed
    )
