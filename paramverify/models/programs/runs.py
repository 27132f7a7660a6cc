"""What is told of runs besides the values of their variables: their outputs, and the inputs that they read.

Neither changes what a run does next, so runs that differ in these alone go on together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from paramverify.models.programs.terms import Terms, plus
from paramverify.models.spreads import ArithmeticSequence

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
            inside[told] = plus(inside[told], weight) if told in inside else weight
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
    return f"; so it is under the input ({', '.join(map(str, given))})"
