"""Many releases together: δ for ε, ε for δ and the curve, exactly or between bounds that get sharper."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product
from math import ceil, inf, log2
from typing import Any

from flint import arb

from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.composition.answers import BITS, CompositionAnswer, CompositionQuestion, ends
from paramverify.composition.bounds import GUARD, Above, Below, ProvedBounds
from paramverify.composition.convolution import Lower, Side, Upper, power
from paramverify.composition.exactly import ExactMasses, composed
from paramverify.composition.grids import Cells, Grid, cells_of, lattice
from paramverify.composition.losses import Loss, Release, may_be
from paramverify.errors import LimitError

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
    "a component here has subsample, so the neighbours of this case are taken as data with and without "
    "one person; if they replace a record, the number is not about them"
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
            raise LimitError("the losses are too small or too large for a grid")
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
            raise LimitError("the time is over, and no bound was found")

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
