"""What is told of runs besides the values of their variables: their outputs, and the inputs that they read.

Neither changes what a run does next, so runs that differ in these alone go on together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from paramverify.models.programs.terms import Terms, plus

Plain = Fraction | str | bool | tuple["Plain", ...]
Outputs = tuple[Plain, ...]
Input = tuple[Fraction | str, ...]


@dataclass(eq=False)
class Written:
    """Outputs so far; equal ones are one object."""

    outputs: Outputs = ()
    _longer: dict[Hashable, Written] = field(default_factory=dict, repr=False)

    def then(self, value: Plain) -> Written:
        """Returns these outputs and one more."""
        what = key(value)
        if what not in self._longer:
            self._longer[what] = Written((*self.outputs, value))
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


Told = tuple[Written, Agreeing]
Runs = Mapping[Told, Terms]  # what is told of runs, with the weight of these


def key(value: object) -> Hashable:
    """Returns what tells plain values apart; True is not 1 here."""
    if isinstance(value, tuple):
        return ("list", tuple(map(key, value)))
    return (type(value).__name__, value)


def read(runs: Runs, place: int) -> Iterable[tuple[Fraction | str, Runs]]:
    """Returns the values of an input at a place, each with the runs that read it."""
    found: dict[Fraction | str, dict[Told, Terms]] = {}
    for (written, agreeing), weight in runs.items():
        for value, part in agreeing.by(place):
            inside = found.setdefault(value, {})
            told = written, part
            inside[told] = plus(inside[told], weight) if told in inside else weight
    return found.items()


def written(runs: Runs, value: Plain) -> Runs:
    """Returns the runs after one more output."""
    return {(before.then(value), agreeing): weight for (before, agreeing), weight in runs.items()}


def told_input(runs: Runs) -> str:
    """Returns words about an input of the runs, for messages; none where they are those of all inputs."""
    agreeing = next((agreeing for _, agreeing in runs), None)
    if agreeing is None or len(agreeing.members) == len(agreeing.inputs):
        return ""
    given = agreeing.inputs[agreeing.members[0]]
    return f"; so it is under the input ({', '.join(map(str, given))})"
