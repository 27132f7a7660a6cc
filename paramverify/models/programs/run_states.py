"""Sets of runs of a program.

Their weights, the values of variables, outputs and inputs; and sets that become one.

Neither changes what a run does next, so runs that differ in these alone go on together.

The weight of a set of runs: a product of functions of the noise that is still alive.

A `Measure` gives each value of the live noise a density (or probability): `scalar · Π factor`. Noise that no
comparison has joined yet stands in factors of its own, so ten noisy values cost ten small functions.

The values that variables of a program have, and what two runs have in common.

A value is a number, a label, True or False, a list, a number that depends on noise (`Linear`), or an
expression in the parameters of the case (`Symbol`). `DEAD` stands for an entry that nothing reads any more.

States that cannot be told apart become one.

Runs with the same values and the same measure go on together, whatever they have put out or read. Runs of
which the same is told, with the same values and other measures, become runs of the sum of these.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import ceil, floor

from paramverify.algebra.expressions import Node as Tree
from paramverify.errors import DefectError, UnsupportedError
from paramverify.models.hmm import ArithmeticSequence
from paramverify.models.programs import noise_terms as p
from paramverify.models.programs.noise_densities import Bases
from paramverify.models.programs.noise_terms import (
    EVERYWHERE,
    ZERO,
    Bound,
    Coefficient,
    NoiseVariable,
    Number,
    Pieces,
    Reals,
    TermKey,
    Terms,
    Zone,
    exact,
    plus_terms,
)
from paramverify.models.programs.static_analysis import WHOLE, Live

Plain = Fraction | str | bool | tuple["Plain", ...]
Input = tuple[Fraction | str, ...]


@dataclass(frozen=True)
class Hole:
    """A number with noise that was put out: which one of those of the state."""

    number: int

    def __str__(self) -> str:
        return "(a number)"


@dataclass(frozen=True)
class OutputInterval:
    """All numbers of an output from `low` to `high`, None for no end.

    `of` is a sum of values of the output, each by its place from 1 and its slope, if not the number itself.
    With a `side` it is no set: what is told is a density, at one number, or just below or above it, or the
    limit of ratios far below or above. With a `grid` (slope, part) slope·number is a whole number plus part.
    With a `spread` it stands for each number between the ends: which one a variable of the claims says.
    """

    low: Fraction | None
    high: Fraction | None
    of: tuple[tuple[int, Fraction], ...] = ()
    side: str = ""
    grid: tuple[Fraction, Fraction] | None = None
    spread: ArithmeticSequence | None = None

    def __str__(self) -> str:
        name = self.name
        if self.spread is not None:
            return f"{name} {self._spread()}{self._grid()}".strip()
        if self.side:
            place = self._grid() if self.low is None else f" {self.low}"
            return f"{name} {self.side}{place}".strip()
        if self.low is None and self.high is None:
            return f"(any {name or 'number'}{self._grid()})"
        if self.low == self.high:
            return f"{name} = {self.low}".strip()
        if self.low is None or self.high is None:
            word, end = ("<=", self.high) if self.low is None else (">=", self.low)
            return f"{name} {word} {end}".strip()
        return f"{name} {self.low}..{self.high}".strip()

    @property
    def name(self) -> str:
        """The sum of values of the output that it is about; empty for the number itself."""
        return _sum(self.of)

    def _spread(self) -> str:
        """Returns the ends as words: the numbers between them are meant one by one."""
        if self.grid is not None:
            return f"each <= {self.high}" if self.low is None else f"each >= {self.low}"
        if self.low is None or self.high is None:
            return f"below {self.high}" if self.low is None else f"above {self.low}"
        return f"between {self.low} and {self.high}"

    def _grid(self) -> str:
        """Returns words for numbers that are not whole, where no end tells it: k is any whole number."""
        slope, part = self.grid or (Fraction(1), Fraction(0))
        step = 1 / abs(slope)
        factor = "" if step == 1 else f"{step}*"
        return f" in {part / slope % step} + {factor}k" if part else ""

    def holds(self, number: Fraction) -> bool:
        """Tells whether a number is between the ends, and on the grid."""
        if self.side:
            return False
        top, bottom = number.as_integer_ratio()  # samples are looked up by the ten thousand
        for end, sign in ((self.low, 1), (self.high, -1)):
            if end is not None and sign * (top * end.denominator - end.numerator * bottom) < 0:
                return False
        if self.grid is None:
            return True
        (a, b), (c, d) = (part.as_integer_ratio() for part in self.grid)
        return (a * top * d - c * b * bottom) % (b * bottom * d) == 0  # a/b·number - c/d is whole


def _sum(of: tuple[tuple[int, Fraction], ...]) -> str:
    """Returns a sum of values of an output in words, such as `o2 - o1`."""
    text = ""
    for place, slope in sorted(of, key=lambda part: part[1] < 0):
        sign = "- " if slope < 0 else "+ " if text else ""
        factor = "" if abs(slope) == 1 else f"{abs(slope)}*"
        text += f"{' ' * bool(text)}{sign if text else sign.strip()}{factor}o{place}"
    return text


Put = Plain | Hole | OutputInterval | tuple["Put", ...]
Outputs = tuple[Put, ...]


@dataclass(eq=False)
class OutputsSoFar:
    """Outputs so far; equal ones are one object."""

    outputs: Outputs = ()
    _longer: dict[Hashable, OutputsSoFar] = field(default_factory=dict, repr=False)

    def then(self, value: Put) -> OutputsSoFar:
        """Returns these outputs and one more."""
        what = key(value)
        if what not in self._longer:
            self._longer[what] = OutputsSoFar((*self.outputs, value))
        return self._longer[what]


@dataclass(eq=False)
class Agreeing:
    """The inputs that agree with all that was read, by their numbers; equal sets are one object."""

    inputs: Sequence[Input]
    members: tuple[int, ...]
    _known: dict[tuple[int, ...], Agreeing] = field(default_factory=dict, repr=False)
    _parts: dict[int, list[tuple[Fraction | str, Agreeing]]] = field(default_factory=dict, repr=False)

    @staticmethod
    def every(inputs: Sequence[Input]) -> Agreeing:
        """Returns all inputs."""
        return Agreeing(inputs, tuple(range(len(inputs))))

    def by(self, place: int) -> list[tuple[Fraction | str, Agreeing]]:
        """Returns the values at a place, each with the inputs that have it there."""
        if place not in self._parts:
            found: dict[Fraction | str, list[int]] = {}
            for k in self.members:
                found.setdefault(self.inputs[k][place], []).append(k)
            self._parts[place] = [(value, self._part(tuple(members))) for value, members in found.items()]
        return self._parts[place]

    def _part(self, members: tuple[int, ...]) -> Agreeing:
        if len(members) == len(self.members):
            return self
        return self._known.setdefault(members, Agreeing(self.inputs, members, self._known))


Told = tuple[OutputsSoFar, Agreeing]
Runs = Mapping[Told, Terms]  # what is told of runs, with the weight of these


def key(value: object) -> Hashable:
    """Returns what tells plain values apart; True is not 1 here."""
    if isinstance(value, tuple):
        return ("list", tuple(map(key, value)))
    return (type(value).__name__, value)


def flat(outputs: Iterable[Put]) -> Iterator[Put]:
    """Yields the values of an output in their order, those of lists too."""
    for value in outputs:
        if isinstance(value, tuple):
            yield from flat(value)
        else:
            yield value


def holds(observation: Outputs, outputs: Outputs) -> bool:
    """Tells whether plain outputs are in the set of outputs that an observation is."""
    known: list[Put] = []

    def fits(name: Put, value: Put) -> bool:
        if isinstance(name, OutputInterval):
            return isinstance(value, Fraction) and name.holds(meant(name, value))
        if isinstance(name, tuple) and isinstance(value, tuple):
            return len(name) == len(value) and all(map(fits, name, value))
        return type(name) is type(value) and key(name) == key(value)

    def meant(name: OutputInterval, value: Fraction) -> Fraction:
        if not name.of:
            return value
        known.extend(() if known else flat(outputs))
        parts = ((known[place - 1], slope) for place, slope in name.of)
        return sum((v * k for v, k in parts if isinstance(v, Fraction)), Fraction(0))

    return fits(observation, outputs)


def is_density(observation: Outputs) -> bool:
    """Tells whether what is told of an observation is a density, and no probability."""
    return any(isinstance(value, OutputInterval) and bool(value.side) for value in flat(observation))


def spreads_in(observation: Outputs) -> tuple[tuple[str, ArithmeticSequence], ...]:
    """Returns the numbers of an output that variables of the claims stand for, in words such as `o2`."""
    placed = enumerate(flat(observation), start=1)
    found = [
        (k, value) for k, value in placed if isinstance(value, OutputInterval) and value.spread is not None
    ]
    return tuple((value.name or f"o{k}", value.spread) for k, value in found if value.spread is not None)


def read(runs: Runs, place: int) -> Iterable[tuple[Fraction | str, Runs]]:
    """Returns the values of an input at a place, each with the runs that read it."""
    found: dict[Fraction | str, dict[Told, Terms]] = {}
    for (written, agreeing), weight in runs.items():
        for value, part in agreeing.by(place):
            inside = found.setdefault(value, {})
            told = written, part
            inside[told] = plus_terms(inside[told], weight) if told in inside else weight
    return found.items()


def written(runs: Runs, value: Put) -> Runs:
    """Returns the runs after one more output."""
    return {(before.then(value), agreeing): weight for (before, agreeing), weight in runs.items()}


def told_input(runs: Runs) -> str:
    """Returns words about an input of the runs, for messages; none where they are those of all inputs."""
    agreeing = next((agreeing for _, agreeing in runs), None)
    if agreeing is None or len(agreeing.members) == len(agreeing.inputs):
        return ""
    given = agreeing.inputs[agreeing.members[0]]
    return f"; this happens under the input ({', '.join(map(str, given))})"


UNIT_KEY = TermKey()


@dataclass(frozen=True)
class Linear:
    """A number that depends on noise: `constant + Σ slope · v[name]`, no slope zero."""

    slopes: tuple[tuple[int, Fraction], ...]
    constant: Fraction = Fraction(0)

    @staticmethod
    def of(slopes: Mapping[int, Fraction], constant: Fraction) -> Linear | Fraction:
        """Returns the number, a plain one where no noise is left."""
        kept = tuple(sorted((name, k) for name, k in slopes.items() if k))
        return Linear(kept, constant) if kept else constant

    def plus(self, other: Linear | Fraction, times: Fraction = Fraction(1)) -> Linear | Fraction:
        """Returns self + times · other."""
        slopes = dict(self.slopes)
        if isinstance(other, Linear):
            for name, k in other.slopes:
                slopes[name] = slopes.get(name, Fraction(0)) + times * k
            return Linear.of(slopes, self.constant + times * other.constant)
        return Linear.of(slopes, self.constant + times * other)

    def scaled(self, by: Fraction) -> Linear | Fraction:
        """Returns by · self."""
        return Linear.of({name: by * k for name, k in self.slopes}, by * self.constant)

    @property
    def names(self) -> tuple[int, ...]:
        """The noise that it depends on."""
        return tuple(name for name, _ in self.slopes)


@dataclass(frozen=True, eq=False)
class Measure:
    """The weight of a set of runs, by the noise that is alive; `whole` tells which is a whole number."""

    bases: Bases
    scalar: Terms
    factors: tuple[Pieces, ...] = ()
    whole: Mapping[int, bool] = field(default_factory=dict)
    fresh: int = 1

    def times(self, by: Coefficient) -> Measure:
        """Returns the measure with all weights multiplied."""
        return replace(self, scalar=p.scaled_terms(self.scalar, by))

    def weighted(self, by: Terms) -> Measure:
        """Returns the measure with all weights multiplied."""
        return replace(self, scalar=p.product_of_terms(self.scalar, by))

    @property
    def unit(self) -> Terms:
        """The weight one."""
        return {UNIT_KEY: self.bases.calculus.one}

    @property
    def text(self) -> Hashable:
        """What measures with equal factors have in common; the scalar is left out."""
        return frozenset(p.pieces_text(factor) for factor in self.factors)

    def with_noise(self, pieces: Pieces, name: int, whole: bool) -> Measure:
        """Returns the measure with one more, independent variable."""
        return replace(
            self,
            factors=(*self.factors, pieces),
            whole={**self.whole, name: whole},
            fresh=max(self.fresh, name + 1),
        )

    def joined(self, names: Iterable[int]) -> tuple[Pieces, tuple[Pieces, ...]]:
        """Returns the product of the factors that have one of these variables, and the other factors."""
        wanted = set(names)
        inside: Pieces | None = None
        outside = []
        for factor in self.factors:
            if wanted.isdisjoint(p.names_in(factor)):
                outside.append(factor)
            else:
                inside = factor if inside is None else p.product_of_pieces(inside, factor, self.reals)
        one: Pieces = {EVERYWHERE: self.unit}
        return one if inside is None else inside, tuple(outside)

    def restricted(self, bounds: Sequence[tuple[Bound, Number]]) -> Measure | None:
        """Returns the part of the runs in which all bounds hold; None where there are certainly none.

        A comparison of noise from several factors becomes a factor of its own: the one that is gone first is
        then summed out alone.
        """
        names = {name for pair, _ in bounds for name in pair} - {ZERO}
        for k, factor in enumerate(self.factors):
            if names <= set(p.names_in(factor)):
                kept = p.restricted(factor, bounds, self.reals)
                factors = (*self.factors[:k], kept, *self.factors[k + 1 :])
                return replace(self, factors=factors) if kept else None
        part = p.restricted({EVERYWHERE: self.unit}, bounds, self.reals)
        return replace(self, factors=(*self.factors, part)) if part else None

    def without(self, dead: Iterable[int]) -> Measure:
        """Returns the measure of the other variables: these are summed or integrated out."""
        measure = self
        pending = set(dead)
        while pending:
            if measure.is_empty:  # comparisons that exclude each other: nothing is left to sum
                whole = {n: w for n, w in measure.whole.items() if n not in pending}
                return replace(measure, scalar={}, factors=(), whole=whole)
            name = min(pending, key=lambda n: measure._work(n))
            pending.remove(name)
            measure = measure._eliminated(name)
        return measure._gathered()

    def _gathered(self) -> Measure:
        """Returns the measure with one factor for each set of variables."""
        found: dict[frozenset[int], Pieces] = {}
        for factor in self.factors:
            names = frozenset(p.names_in(factor))
            found[names] = p.product_of_pieces(found[names], factor, self.reals) if names in found else factor
        for names, factor in found.items():
            if len(names) == 1 and len(factor) > 1:
                (name,) = names
                found[names] = p.flat(self.bases.calculus, factor, self._noise(name))
        return replace(self, factors=tuple(found.values()))

    @property
    def reals(self) -> Reals:
        """The variables that are no whole numbers."""
        return frozenset(name for name, whole in self.whole.items() if not whole)

    def _noise(self, name: int) -> NoiseVariable:
        return NoiseVariable(name, self.whole[name], self.reals)

    @property
    def is_empty(self) -> bool:
        """Whether no run has this weight."""
        return not self.scalar or not all(self.factors)

    def _work(self, name: int) -> int:
        inside = [f for f in self.factors if name in p.names_in(f)]
        result = 1
        for factor in inside:
            result *= (len(factor) + 1) * self.bases.work(factor, name)
        for _ in {n for f in inside for n in p.names_in(f)}:
            result *= 10
        return result

    def _eliminated(self, name: int) -> Measure:
        inside, outside = self.joined([name])
        rest = p.eliminated(self.bases.calculus, inside, self._noise(name), self.bases.small)
        whole = {n: w for n, w in self.whole.items() if n != name}
        if p.names_in(rest):
            return replace(self, factors=(*outside, rest), whole=whole)
        return replace(
            self, factors=outside, scalar=p.product_of_terms(self.scalar, p.value(rest)), whole=whole
        )

    def summed(self, first: int, second: int) -> tuple[Measure, int, int, int] | None:
        """Returns a measure with v[first] + v[second] as one variable, its number, the replaced, the other.

        The replaced variable has to stand alone in its factor; None where neither does.
        """
        if not self.bases.sums:
            return None
        for gone, kept in ((second, first), (first, second)):
            inside, others = self.joined([gone])
            if p.names_in(inside) == {gone}:  # no comparison has met it: it is in no other factor
                total = self.fresh
                new = p.convolved(self.bases.calculus, inside, gone, (total, kept))
                whole = {n: w for n, w in self.whole.items() if n != gone} | {total: self.whole[gone]}
                return replace(self, factors=(*others, new), whole=whole, fresh=total + 1), total, gone, kept
        return None

    def moved(self, name: int, by: Fraction) -> Measure:
        """Returns the measure of v[name] + by in the place of v[name]."""
        calculus = self.bases.calculus
        return replace(
            self,
            factors=tuple(
                p.moved(calculus, f, name, exact(by)) if name in p.names_in(f) else f for f in self.factors
            ),
        )

    def renamed(self, names: Mapping[int, int]) -> Measure:
        """Returns the measure with other numbers for all its variables, from 1.

        Raises:
            DefectError: a factor has a variable that is not alive, whose number would be that of another one.
        """
        if any(not names.keys() >= set(p.names_in(f)) for f in self.factors):
            raise DefectError("a comparison of noise that is gone was left behind")
        return replace(
            self,
            factors=tuple(p.renamed_pieces(f, names) for f in self.factors),
            whole={names[n]: w for n, w in self.whole.items()},
            fresh=max(names.values(), default=0) + 1,
        )

    def plus(self, other: Measure) -> Measure:
        """Returns the sum of two measures of the same variables."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        mine = {frozenset(p.names_in(f)): f for f in self.factors}
        theirs = {frozenset(p.names_in(f)): f for f in other.factors}
        if mine.keys() == theirs.keys():
            apart = [names for names in mine if mine[names] != theirs[names]]
            if not apart:
                return replace(self, scalar=p.plus_terms(self.scalar, other.scalar))
            if len(apart) == 1:
                (names,) = apart
                total = p.plus_pieces(_by(mine[names], self.scalar), _by(theirs[names], other.scalar))
                kept = tuple(f for n, f in mine.items() if n != names)
                return replace(self, factors=(*kept, total), scalar={UNIT_KEY: self.bases.calculus.one})
        left, right = (m.joined(m.whole)[0] for m in (self, other))
        total = p.plus_pieces(_by(left, self.scalar), _by(right, other.scalar))
        return replace(self, factors=(total,), scalar={UNIT_KEY: self.bases.calculus.one})

    def bounds(self, value: Linear, strict: bool) -> list[tuple[Bound, Number]] | None:
        """Returns the bounds that say `value ≤ 0` (`< 0`), or None where they are no bounds of a zone."""
        slopes = dict(value.slopes)
        if len(slopes) == 1:
            ((name, k),) = slopes.items()
            limit = -value.constant / k
            pair = (name, ZERO) if k > 0 else (ZERO, name)
            return [(pair, self._limit(name, limit if k > 0 else -limit, strict))]
        if len(slopes) == 2:
            (first, k), (second, m) = slopes.items()
            if k == -m and self.whole[first] == self.whole[second]:
                pair = (first, second) if k > 0 else (second, first)
                return [(pair, self._limit(first, -value.constant / abs(k), strict))]
        return None

    def _limit(self, name: int, limit: Fraction, strict: bool) -> Number:
        if not self.whole[name]:
            return exact(limit)  # a set of measure zero is the difference
        return ceil(limit) - 1 if strict else floor(limit)


def _by(pieces: Pieces, scalar: Terms) -> dict[Zone, Terms]:
    return {zone: p.product_of_terms(terms, scalar) for zone, terms in pieces.items()}


@dataclass(frozen=True)
class Symbol:
    """An expression in the parameters of the case."""

    tree: Tree


@dataclass(frozen=True)
class Dead:
    """The entry of a list that nothing reads any more."""


DEAD = Dead()


@dataclass(frozen=True)
class Unread:
    """The input at a place, which no run has read yet: it may have any of its values."""

    place: int


Value = Fraction | str | bool | Linear | Symbol | Dead | Unread | tuple["Value", ...]


@dataclass(frozen=True, eq=False)
class ProgramState:
    """Runs that have the same values in all variables, with their weight.

    The weight of runs of which the same is told is `runs[told]` times the measure. `aliases` gives noise that
    was replaced by a difference of others since the statement began. `released` are the numbers with noise
    that were put out: they stay alive. `trace` is what led here, for those who ask for it; it does not keep
    states apart.
    """

    values: Mapping[str, Value]
    runs: Runs
    measure: Measure
    aliases: Mapping[int, Linear]
    trace: tuple[object, ...] = ()
    released: tuple[Linear, ...] = ()

    @property
    def outputs(self) -> Outputs:
        """The outputs so far of the first run: of all runs, where those with others are kept apart."""
        written, _ = next(iter(self.runs))
        return written.outputs

    def releasing(self, value: Linear) -> ProgramState:
        """Returns the state with one more number with noise that was put out."""
        return replace(self, released=(*self.released, value))


def value_key(value: object) -> Hashable:
    """Returns what tells values apart; True is not 1 here."""
    if isinstance(value, tuple):
        return ("list", tuple(map(value_key, value)))
    if isinstance(value, Symbol):
        return ("symbol", str(value.tree))
    return key(value)


def common(state: ProgramState) -> Hashable:
    """Returns what states that can be merged have in common."""
    values = tuple(sorted((name, value_key(value)) for name, value in state.values.items()))
    return (values, state.released, tuple(sorted(state.measure.whole.items())))


def read_value(state: ProgramState, place: int, value: Fraction | str, runs: Runs) -> ProgramState:
    """Returns the runs in which the input at a place has a value."""

    def put(inside: Value) -> Value:
        if isinstance(inside, Unread):
            return value if inside.place == place else inside
        return tuple(put(v) for v in inside) if isinstance(inside, tuple) else inside

    return replace(state, values={name: put(inside) for name, inside in state.values.items()}, runs=runs)


def unread(value: Value) -> list[Unread]:
    """Returns the inputs in a value that were not read yet."""
    if isinstance(value, Unread):
        return [value]
    if isinstance(value, tuple):
        return [found for v in value for found in unread(v)]
    return []


def mapped(value: Value, change: Callable[[Linear], Value]) -> Value:
    """Returns a value with another one for each number that depends on noise."""
    if isinstance(value, Linear):
        return change(value)
    if isinstance(value, tuple):
        return tuple(mapped(v, change) for v in value)
    return value


def linears(value: Value) -> list[Linear]:
    """Returns the numbers of a value that depend on noise, in their order."""
    if isinstance(value, Linear):
        return [value]
    if isinstance(value, tuple):
        return [found for v in value for found in linears(v)]
    return []


def resolved(value: Linear, aliases: Mapping[int, Linear]) -> Linear | Fraction:
    """Returns a number by the noise that is there now."""
    result: Linear | Fraction = value
    while isinstance(result, Linear):
        name = next((n for n in result.names if n in aliases), None)
        if name is None:
            return result
        k = dict(result.slopes)[name]
        rest = Linear.of({n: c for n, c in result.slopes if n != name}, result.constant)
        result = aliases[name].scaled(k) if not isinstance(rest, Linear) else rest
        if isinstance(rest, Linear):
            result = rest.plus(aliases[name], k)
        elif isinstance(result, Linear):
            result = result.plus(rest)
        else:
            result = result + rest
    return result


def forgotten(values: Mapping[str, Value], live: Live) -> dict[str, Value]:
    """Returns the variables that are still read; entries of lists that are not read become `DEAD`."""
    cells: dict[str, set[int]] = {}
    for name, number in live:
        cells.setdefault(name, set()).add(number)
    found: dict[str, Value] = {}
    for name, value in values.items():
        read = cells.get(name)
        if read is None:
            continue
        if isinstance(value, tuple) and WHOLE not in read:
            value = tuple(v if k in read else DEAD for k, v in enumerate(value))
        found[name] = value
    return found


def pruned(state: ProgramState, live: Live) -> ProgramState:
    """Returns a state without what is not read any more; the noise that is gone is summed out."""
    values: dict[str, Value] = {
        name: mapped(value, lambda v: resolved(v, state.aliases))
        for name, value in sorted(forgotten(state.values, live).items())
    }
    released = tuple(v for r in state.released for v in linears(resolved(r, state.aliases)))
    used = {
        name for entry in (*values.values(), released) for value in linears(entry) for name in value.names
    }
    measure = state.measure.without(set(state.measure.whole) - used)
    return replace(state, values=values, measure=measure, aliases={}, released=released)


def settled(state: ProgramState, live: Live) -> ProgramState:
    """Returns a state in its canonical form: what is not read is gone, and the noise is numbered from 1.

    Each variable is moved so that the first value that has it is the variable itself.
    """
    state = pruned(state, live)
    values, measure = state.values, state.measure
    found = [value for entry in (*values.values(), state.released) for value in linears(entry)]
    moves: dict[int, Fraction] = {}
    order: dict[int, int] = {}
    for value in found:
        for name in value.names:
            if name not in order:
                order[name] = len(order) + 1
                ((_, slope), *others) = value.slopes
                if not others and slope == 1:
                    by = value.constant
                    moves[name] = Fraction(by.__floor__()) if measure.whole[name] else by
    for name, by in moves.items():
        if by:
            measure = measure.moved(name, by)

    def renumbered(value: Linear) -> Linear:
        moved = value.constant - sum(k * moves.get(n, Fraction(0)) for n, k in value.slopes)
        return Linear(tuple(sorted((order[n], k) for n, k in value.slopes)), Fraction(moved))

    values = {name: mapped(value, renumbered) for name, value in values.items()}
    released = tuple(map(renumbered, state.released))
    return replace(state, values=values, measure=measure.renamed(order), released=released)


def total(measures: Sequence[Measure]) -> Measure:
    """Returns the sum of measures of the same variables.

    Those that differ in the factor of the same variables only become one with the sum in its place, as long
    as there are any; so `(f + c·g)·(h + d·k)` is found from its four products.
    """
    kept = list(measures)
    for names in sorted({_names(f) for m in kept for f in m.factors}, key=sorted):
        if len(kept) > 1:
            kept = _with_sums(kept, names)
    return reduce(Measure.plus, kept)


def _with_sums(measures: Sequence[Measure], names: frozenset[int]) -> list[Measure]:
    """Returns the measures with those as one that differ in the factor of some variables only."""
    found: dict[Hashable, list[Measure]] = {}
    for number, measure in enumerate(measures):
        others = [f for f in measure.factors if _names(f) != names]
        alone = sum(len(_names(f)) for f in others) + len(names) == len(measure.whole)
        what = frozenset(map(p.pieces_text, others)) if alone and _number(measure) else number
        found.setdefault(what, []).append(measure)
    return [_joined_sum(group, names) for group in found.values()]


def _joined_sum(measures: Sequence[Measure], names: frozenset[int]) -> Measure:
    first, *others = measures
    if not others:
        return first
    number = _number(first)
    assert number is not None
    (known,) = (f for f in first.factors if _names(f) == names)
    for measure in others:
        by = _number(measure)
        assert by is not None
        (more,) = (f for f in measure.factors if _names(f) == names)
        known = p.plus_pieces(known, p.scaled_pieces(more, by / number))
    return replace(first, factors=(*(f for f in first.factors if _names(f) != names), known))


def _names(factor: p.Pieces) -> frozenset[int]:
    return frozenset(p.names_in(factor))


def _number(measure: Measure) -> Coefficient | None:
    """Returns the scalar of a measure, if it is a rational function."""
    return measure.scalar[UNIT_KEY] if measure.scalar.keys() == {UNIT_KEY} else None


def fewer(rows: Sequence[Linear], measure: Measure) -> tuple[list[Linear], Measure]:
    """Returns numbers with less noise that have the same distribution, and the measure of that noise.

    Noises that all numbers have as a sum become one. Where the numbers have differences only, such as
    `n - T`, the differences to one noise take the place of the noises, and that one is summed out.
    """
    found = list(rows)
    while True:
        names = sorted({n for r in found for n in r.names})
        columns = {n: tuple(dict(r.slopes).get(n, Fraction(0)) for r in found) for n in names}
        step = _summed(found, measure, columns) or _rebased(found, measure, columns)
        if step is None:
            return found, measure
        found, measure = step


Step = tuple[list[Linear], Measure]


def _summed(
    rows: Sequence[Linear], measure: Measure, columns: Mapping[int, tuple[Fraction, ...]]
) -> Step | None:
    for first, second in combinations(columns, 2):
        if columns[first] != columns[second] or measure.whole[first] != measure.whole[second]:
            continue
        for pair in ((first, second), (second, first)):
            with suppress(UnsupportedError):
                done = measure.summed(*pair)
                if done is not None:
                    after, new, gone, kept = done
                    alias = {gone: Linear(((kept, Fraction(-1)), (new, Fraction(1))))}
                    return _numbers(resolved(r, alias) for r in rows), after.without({kept})
    return None


def _rebased(
    rows: Sequence[Linear], measure: Measure, columns: Mapping[int, tuple[Fraction, ...]]
) -> Step | None:
    for name in columns:
        own = _connected(measure, name)
        for other in columns:
            inside = own | _connected(measure, other)
            alike = len({measure.whole[n] for n in inside}) == 1
            none = all(not sum(columns[n][k] for n in inside) for k in range(len(rows)))
            if alike and none and len(inside) > 1:
                joined, outside = measure.joined(inside)
                new = p.rebased(joined, name)
                left = [Linear.of({n: k for n, k in r.slopes if n != name}, r.constant) for r in rows]
                return _numbers(left), replace(measure, factors=(*outside, new)).without({name})
    return None


def turned(rows: Sequence[Linear], measure: Measure) -> Step:
    """Returns the numbers with noise that each number adds where it was subtracted, if that is alone."""
    found = list(rows)
    for name in sorted({n for r in rows for n in r.names}):
        first = next(dict(r.slopes)[name] for r in found if name in r.names)
        inside, outside = measure.joined([name])
        if first < 0 and p.names_in(inside) == {name}:
            measure = replace(measure, factors=(*outside, p.rebased(inside, name)))
            found = [
                Linear(tuple((n, -k if n == name else k) for n, k in r.slopes), r.constant) for r in found
            ]
    return found, measure


def _connected(measure: Measure, name: int) -> frozenset[int]:
    """Returns the variables that factors connect with one."""
    found, more = frozenset[int](), frozenset({name})
    while more != found:
        found = more
        more = found.union(*(n for n in map(_names, measure.factors) if n & found))
    return found


def _numbers(values: Iterable[Linear | Fraction]) -> list[Linear]:
    found = []
    for value in values:
        assert isinstance(value, Linear)  # a number keeps its noise
        found.append(value)
    return found


def merged(states: Sequence[ProgramState]) -> list[ProgramState]:
    """Returns the states with those that cannot be told apart as one."""
    groups: dict[Hashable, list[ProgramState]] = {}
    for state in states:
        if state.runs and not state.measure.is_empty:
            groups.setdefault(common(state), []).append(state)
    return [state for group in groups.values() for state in _united(group)]


def _united(states: list[ProgramState]) -> list[ProgramState]:
    """Returns states with the same values, no two of them with the same measure or with runs in common."""
    bundles = _bundled(states)
    where: dict[Told, list[int]] = {}
    for k, state in enumerate(bundles):
        for told in state.runs:
            where.setdefault(told, []).append(k)
    if len(where) == sum(len(state.runs) for state in bundles):
        return bundles
    alike: dict[Hashable, list[Told]] = {}  # runs with weights in the same states, and the same ones
    for told, numbers in where.items():
        weights = [(k, p.terms_text(bundles[k].runs[told])) for k in numbers[1:] and numbers]
        alike.setdefault(tuple(weights) or numbers[0], []).append(told)
    found: list[ProgramState] = []
    for all_told in alike.values():
        first, *others = where[all_told[0]]
        runs = {told: bundles[first].runs[told] for told in all_told}
        if others:
            total = bundles[first].measure.weighted(runs[all_told[0]])
            for k in others:
                total = total.plus(bundles[k].measure.weighted(bundles[k].runs[all_told[0]]))
            found.append(replace(bundles[first], measure=total, runs=dict.fromkeys(all_told, total.unit)))
        else:
            found.append(replace(bundles[first], runs=runs))
    return _bundled([state for state in found if not state.measure.is_empty])


def _bundled(states: list[ProgramState]) -> list[ProgramState]:
    """Returns the states with those that have the same measure, but for a factor, as one."""
    if len(states) < 2:
        return states
    same: dict[Hashable, list[ProgramState]] = {}
    for state in states:
        same.setdefault(state.measure.text, []).append(state)
    return [state for group in same.values() if (state := _bundle(group)).runs]


def _bundle(states: list[ProgramState]) -> ProgramState:
    first, *others = states
    if not others:
        return first
    scalar = first.measure.scalar
    apart = any(state.measure.scalar != scalar for state in others)
    runs: dict[Told, Terms] = {}
    for state in states:
        products: dict[int, Terms] = {}
        for told, weight in state.runs.items():
            if apart:
                if id(weight) not in products:
                    products[id(weight)] = p.product_of_terms(weight, state.measure.scalar)
                weight = products[id(weight)]
            runs[told] = p.plus_terms(runs[told], weight) if told in runs else weight
    measure = replace(first.measure, scalar=first.measure.unit) if apart else first.measure
    return replace(first, runs={told: weight for told, weight in runs.items() if weight}, measure=measure)
