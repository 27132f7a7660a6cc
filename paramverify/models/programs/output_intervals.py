"""Outputs of programs in words, and how likely sets of numbers are as outputs, such as all from 0 to 1/8.

The engine compares places of densities, and limits. A set of outputs beside such a place has a probability,
which is the integral over it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from math import factorial, isfinite

from flint import arb

from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import UnsupportedError
from paramverify.models.context import Checks
from paramverify.models.programs import noise_terms as p
from paramverify.models.programs.expression_values import Evaluator
from paramverify.models.programs.noise_densities import Bases, number
from paramverify.models.programs.noise_terms import (
    ONE,
    ZERO,
    NoiseVariable,
    Number,
    Pieces,
    PowerFactor,
    Terms,
    ends,
    exact,
)
from paramverify.models.programs.noisy_numbers import NumberForm, formed, holes
from paramverify.models.programs.output_cells import (
    EndedRuns,
    shared_out,
    with_noise,
    with_points,
    without_noise,
)
from paramverify.models.programs.program_running import ProgramRun
from paramverify.models.programs.program_syntax import Program
from paramverify.models.programs.run_states import (
    Hole,
    Input,
    Measure,
    OutputInterval,
    Outputs,
    Put,
    Value,
    flat,
    holds,
    is_density,
    key,
)

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_ .-]*[A-Za-z0-9_.-]|[A-Za-z_]")
_PLACE = re.compile(r"(o[\do -]* )?((at|just (below|above)) -?\d+|far (below|above))")  # see `OutputInterval`


def shown_output(outputs: Sequence[Put]) -> str:
    """Returns an output in words; different outputs have different words."""
    return ", ".join(_shown(v) for v in outputs) if outputs else "(no output)"


def in_range(ranges: Mapping[str, Outputs], outputs: Outputs) -> str:
    """Returns the observation that is a set of outputs with these; "" if there is none."""
    return next((name for name, observation in ranges.items() if holds(observation, outputs)), "")


def _value_of_python(value: object) -> Put:
    """Returns a value of an implementation as an output has it."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_value_of_python, value))
    if isinstance(value, (int, float, Fraction)) and not isinstance(value, bool) and isfinite(value):
        return Fraction(value)
    return value if isinstance(value, bool) else str(value)


def _of_python(value: object) -> str:
    """Returns a value of an implementation as an output is shown; floats that are whole are whole numbers."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return _shown(value) if type(value) is str else str(value)


def _shown(value: Put) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, str):
        plain = _WORD.fullmatch(value) and value not in ("True", "False") and not _PLACE.fullmatch(value)
        return value if plain else json.dumps(value)
    return str(value)


def natural(name: str) -> tuple[tuple[int, Fraction, str], ...]:
    """Returns a key by which numbers stand in their order."""
    parts = re.split(r"(-?\d+)", name)
    return tuple((1, Fraction(p), "") if re.fullmatch(r"-?\d+", p) else (0, Fraction(0), p) for p in parts)


@dataclass(frozen=True)
class OutputWords:
    """What an implementation means by its values; `ranges` are the observations that are sets of outputs."""

    ranges: Mapping[str, Outputs]

    def __call__(self, values: Sequence[object], known: Collection[str]) -> str:
        """Returns the output in the words of the model, one of the known ones if it can be.

        Several values are several outputs, or one list; one text may be the words themselves.
        """
        told = tuple(v for v in values if v is not None)
        shown = ", ".join(map(_of_python, told)) or shown_output(())
        readings = [shown, f"[{shown}]", *(v for v in told if isinstance(v, str) and len(told) == 1)]
        if found := next((word for word in readings if word in known), None):
            return found
        plain = tuple(map(_value_of_python, told))
        return in_range(self.ranges, plain) or in_range(self.ranges, (plain,)) or shown


Ends = tuple[Number | None, Number | None]
Alone = tuple[Pieces, NoiseVariable, Ends]  # a function of one number, and between which ends that is

MAX_LARGE = 200  # powers of two that are tried for a limit far away
MOST_SIDES = 4  # numbers of which both sides of a place are tried


@dataclass(frozen=True, eq=False)
class WeightPiece:
    """The weight of some runs in a set: a constant, and for each number a function of it with ends."""

    scalar: Terms
    alone: tuple[Alone, ...]
    bases: Bases

    def function(self) -> RationalFunction:
        """Returns the weight.

        Raises:
            FinerError: an end stands in an exponent that is no whole power of the ring's variable.
        """
        terms = self.scalar
        for pieces, noise, inside in self.alone:
            kept = p.restricted(pieces, _bounds(noise.name, inside), noise.reals)
            total = p.value(p.eliminated(self.bases.calculus, kept, noise, self.bases.small))
            terms = p.product_of_terms(terms, total)
        return self.bases.function(terms)

    def ball(self, at: Callable[[RationalFunction], arb], unit: Callable[[str], arb]) -> arb:
        """Returns the weight, enclosed; `at` encloses functions at a point, and `unit` a parameter."""
        total = self._sum(self.scalar, at, unit)
        for pieces, noise, inside in self.alone:
            kept = p.restricted(pieces, _bounds(noise.name, inside), noise.reals)
            if noise.whole:
                found = p.value(p.eliminated(self.bases.calculus, kept, noise, self.bases.small))
                total *= self._sum(found, at, unit)
                continue
            own = arb(0)
            for zone, terms in kept.items():
                for place, c in terms.items():
                    (factor,) = place.factors or (PowerFactor(noise.name, 0, ONE),)
                    size = at(c.function()) * unit(self.bases.unit_name or "") ** place.units
                    own += size * self._integral(factor, ends(zone), unit)
            total *= own
        return total

    def _sum(self, terms: Terms, at: Callable[[RationalFunction], arb], unit: Callable[[str], arb]) -> arb:
        name = self.bases.unit_name or ""
        return sum((at(c.function()) * unit(name) ** k.units for k, c in terms.items()), arb(0))

    def _integral(self, factor: PowerFactor, inside: Ends, unit: Callable[[str], arb]) -> arb:
        """Returns the integral of v^k·e^(mv): the primitive is e^(mv)·Σ (−1)^(k−j)·k!/j!·v^j/m^(k−j+1)."""
        slope = sum((self.bases.slope(base, exponent) for base, exponent in factor.rate), Fraction(0))
        rate = number(slope) * unit(self.bases.unit_name or "")
        k = factor.power

        def primitive(end: Number) -> arb:
            v = number(Fraction(end))
            if not slope:
                return v ** (k + 1) / (k + 1)
            parts = [
                (-1) ** (k - j) * arb(factorial(k) // factorial(j)) * v**j / rate ** (k - j + 1)
                for j in range(k + 1)
            ]
            return (rate * v).exp() * sum(parts, arb(0))

        low, high = inside
        if (low is None and slope <= 0) or (high is None and slope >= 0):
            raise UnsupportedError("an integral over all values of this noise has no limit term by term")
        above = arb(0) if high is None else primitive(high)
        return above - (arb(0) if low is None else primitive(low))


@dataclass(frozen=True, eq=False)
class IntervalDensities:
    """The sets of outputs of a program beside the places of densities; see `models.hmm.Densities`.

    `inputs` are those of the states of the model, and `ranges` its observations that are sets or places.
    """

    program: Program
    names: Mapping[str, Value]
    inputs: Sequence[Input]
    checks: Checks
    ranges: Mapping[str, Outputs]
    known: dict[int, tuple[list[EndedRuns], Bases]] = field(default_factory=dict)

    def place(self, observation: str) -> Outputs | None:
        """Returns an observation that is a place of a density, or a limit; None for other ones."""
        found = self.ranges.get(observation)
        return found if found is not None and is_density(found) else None

    def sets(self, place: Outputs) -> Iterator[Outputs]:
        """Yields sets of outputs at a place, or on the way to a limit, narrower and narrower."""
        return sets_at(place)

    def open_sets(self, place: Outputs) -> Iterator[Outputs]:
        """Yields the sets from a place to the next break of a density; there are none at limits."""
        known = list(flat(place))
        places = [k for k, v in enumerate(known) if isinstance(v, OutputInterval) and v.side]
        if any(_between(known[k]).low is None for k in places):
            return
        for falls in _sides(known, places):
            yield _replaced(place, {k: self._up_to(k, _between(known[k]), k in falls) for k in places})

    def _up_to(self, k: int, value: OutputInterval, falls: bool) -> OutputInterval:
        """Returns the numbers from a place to the next one, or so far as 1 where there is none."""
        assert value.low is not None
        cuts = {
            other.low
            for outputs in self.ranges.values()
            for other in islice(flat(outputs), k, k + 1)
            if isinstance(other, OutputInterval) and other.of == value.of and other.low is not None
        }
        if falls:
            low = max((c for c in cuts if c < value.low), default=value.low - 1)
            return replace(value, low=low, high=value.low, side="")
        high = min((c for c in cuts if c > value.low), default=value.low + 1)
        return replace(value, low=value.low, high=high, side="")

    def words(self, outputs: Outputs) -> str:
        """Returns a set of outputs in words."""
        return shown_output(outputs)

    def parts(self, state: int, outputs: Outputs) -> list[WeightPiece]:
        """Returns what the probability of a set on the input of a state is the sum of.

        Raises:
            UnsupportedError: numbers that depend on each other by a comparison.
        """
        if state not in self.known:
            run = ProgramRun(self.program, Evaluator.of(self.program, self.checks), (self.inputs[state],))
            run.start(self.names)
            bases = run.evaluator.drawing.bases
            one = Measure(bases, {})
            self.known[state] = [*without_noise(run.finished, one), *with_noise(run.numeric)], bases
        return list(_parts(*self.known[state], outputs))


def _parts(ended: Sequence[EndedRuns], bases: Bases, wanted: Outputs) -> Iterator[WeightPiece]:
    """Yields the weights of runs of one input whose outputs are in a set; `wanted` has no densities."""
    goal = list(flat(wanted))
    for runs in ended:
        runs = _fitted(runs, goal)
        values = list(flat(runs.outputs))
        same = len(values) == len(goal) and _shape(runs.outputs) == _shape(wanted)
        if not same or not all(_may_be(v, w) for v, w in zip(values, goal, strict=True)):
            continue
        order = holes(runs.outputs)
        if not order:
            yield WeightPiece(runs.measure.scalar, (), bases)
            continue
        form, measure = formed([runs.released[n] for n in order], runs.measure)
        inside = _inside(form, [w for v, w in zip(values, goal, strict=True) if isinstance(v, Hole)])
        if inside is not None:
            yield WeightPiece(measure.scalar, tuple(_alone(measure, form, inside)), bases)


def _fitted(runs: EndedRuns, goal: Sequence[Put]) -> EndedRuns:
    """Returns runs whose plain numbers are noise with one value where a set of numbers is wanted."""
    numbers = [w for w in goal if isinstance(w, (Fraction, OutputInterval))]
    slopes = {
        k: 1 / abs(w.grid[0]) if w.grid and not w.of else Fraction(1)
        for k, w in enumerate(numbers)
        if isinstance(w, OutputInterval) and w.grid is not None
    }
    return with_points(runs, slopes)


def _may_be(value: Put, wanted: Put) -> bool:
    if isinstance(value, Hole):
        return isinstance(wanted, (Fraction, OutputInterval))
    if not isinstance(wanted, OutputInterval):
        return key(value) == key(wanted)
    if isinstance(value, Fraction) and wanted.of:
        raise UnsupportedError(
            "outputs that are sums, one of them of a number without noise, are not supported"
        )
    return isinstance(value, Fraction) and wanted.holds(value)


def _shape(outputs: Outputs) -> tuple[object, ...]:
    return tuple(_shape(v) if isinstance(v, tuple) else None for v in outputs)


def _alone(measure: Measure, form: NumberForm, inside: Sequence[Ends]) -> Iterator[Alone]:
    for k, bounds in enumerate(inside):
        pieces, _ = measure.joined([k + 1])
        if set(p.names_in(pieces)) - {k + 1}:
            raise UnsupportedError(
                "output numbers that depend on each other through a comparison are not supported"
            )
        yield pieces, NoiseVariable(k + 1, form.whole[k], measure.reals), bounds


def _inside(form: NumberForm, goal: Sequence[Put]) -> list[Ends] | None:
    """Returns between which ends each coordinate lies where all numbers are as wanted; None: nowhere."""
    found: list[Ends] = []
    for i, (k, row) in enumerate(shared_out(form)):
        inside = _ends(form, goal, (k, row))
        grid = getattr(goal[k], "grid", None)
        if form.whole[i]:
            low, high = (None if end is None else exact(end - form.parts[i]) for end in inside)
            off = any(end is not None and end.denominator > 1 for end in (low, high))
            inside = low, high
            if off or (grid is not None and grid[1] != form.parts[i]):
                return None
        found.append(inside)
    for k, (row, constant) in enumerate(form.after):
        if k not in form.pivots and not _follows(goal, k, form.pivots, (row, constant)):
            return None
    return found


def _ends(form: NumberForm, goal: Sequence[Put], told: tuple[int, Sequence[Fraction]]) -> Ends:
    """Returns between which ends a coordinate lies; `told` is the number that tells it, and it by numbers."""
    k, row = told
    value = goal[k]
    if all(isinstance(goal[j], Fraction) for j in form.pivots):
        at = sum((a * _number(goal[j]) for j, a in zip(form.pivots, row, strict=True)), Fraction(0))
        return at, at
    ends = value if isinstance(value, OutputInterval) else OutputInterval(_number(value), _number(value))
    if ends.of:
        return ends.low, ends.high
    slope = row[form.pivots.index(k)]
    low, high = (None if end is None else end * slope for end in (ends.low, ends.high))
    return (low, high) if slope > 0 else (high, low)


def _follows(
    goal: Sequence[Put], k: int, pivots: Sequence[int], by: tuple[Sequence[Fraction], Fraction]
) -> bool:
    """Tells whether a number that others say is as wanted."""
    row, constant = by
    value = goal[k]
    if isinstance(value, OutputInterval):
        return value.low == value.high == constant
    if not all(isinstance(goal[j], Fraction) for j in pivots):
        return False
    return _number(value) == constant + sum(a * _number(goal[j]) for a, j in zip(row, pivots, strict=True))


def _number(value: Put) -> Fraction:
    assert isinstance(value, Fraction)
    return value


def _bounds(name: int, inside: Ends) -> list[tuple[tuple[int, int], Number]]:
    low, high = inside
    below = [] if low is None else [((ZERO, name), -low)]
    return below if high is None else [*below, ((name, ZERO), high)]


def sets_at(observation: Outputs) -> Iterator[Outputs]:
    """Yields sets of outputs at a place of a density, or on the way to a limit, from wide to narrow.

    The ends are short rationals. Of whole numbers on the way to a limit it is one number. There are none
    where an observation stands for many places.
    """
    known = list(flat(observation))
    places = [k for k, v in enumerate(known) if isinstance(v, OutputInterval) and v.side]
    if any(_between(known[k]).spread is not None for k in places):
        return  # the observation does not say which place is meant
    for step in range(MAX_LARGE):
        for falls in _sides(known, places):
            yield _replaced(observation, {k: _near(_between(known[k]), step, k in falls) for k in places})


def _sides(known: Sequence[Put], places: Sequence[int]) -> Iterator[set[int]]:
    """Yields the places on whose lower sides sets lie: of a density without a jump one side or the other."""
    free = [k for k in places if _between(known[k]).side == "at"][:MOST_SIDES]
    below = {k for k in places if _between(known[k]).side == "just below"}
    for mask in range(2 ** len(free)):
        yield below | {k for n, k in enumerate(free) if mask >> n & 1}


def _between(value: Put) -> OutputInterval:
    assert isinstance(value, OutputInterval)
    return value


def _near(value: OutputInterval, step: int, falls: bool) -> Put:
    width = Fraction(1, 2 ** (step // 2))
    if value.low is not None:
        # Every second set has a distance to the place, which may have a probability of its own.
        near, far = (width / 2 if step % 2 else Fraction(0)), width
        if falls:
            return replace(value, low=value.low - far, high=value.low - near, side="")
        return replace(value, low=value.low + near, high=value.low + far, side="")
    far = Fraction(2**step if value.side == "far above" else -(2**step))
    if value.grid is None:
        return replace(value, low=far, side="") if far > 0 else replace(value, high=far, side="")
    slope, part = value.grid
    far = (far.__floor__() + part) / slope if slope > 0 else (-far.__floor__() + part) / slope
    return replace(value, low=far, high=far, side="") if value.of else far


def _replaced(observation: Outputs, values: Mapping[int, Put]) -> Outputs:
    """Returns an observation with other values at some places, which count those in lists."""
    count = -1

    def entry(value: Put) -> Put:
        nonlocal count
        if isinstance(value, tuple):
            return tuple(map(entry, value))
        count += 1
        return values.get(count, value)

    return tuple(map(entry, observation))
