"""The ways through a program whose noise has no closed form, as evidence has them.

The paths of a program are those of the second reader's interpreter: each draws noise, and takes a region of
it. `check --case` compares the probability of each output with what the first reader says, and the ways with
runs of the program at numbers in the place of the noise (`rereader.second_enclosed`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from paramverify.kernel.noise_regions import VariableLaw
from paramverify.kernel.strict_reading import UnreadCase
from paramverify.rereader.second_enclosed import KINDS, ONE_SIDED, WHOLE, program_of
from paramverify.rereader.second_numbers import Finer
from paramverify.rereader.second_programs import DrawRules, InputPlaces, program_text, runs_of
from paramverify.rereader.second_runs import ProgramRuns
from paramverify.rereader.second_values import Entry, plain


@dataclass(frozen=True)
class NumberedNoise(VariableLaw):
    """Noise with its name and its number; the rate says nothing here."""

    kind: str = ""
    number: Fraction = Fraction(0)


class NamedDraws(DrawRules):
    """What draws mean: unbounded noise has a name, and a number."""

    def __call__(self, name: str, given: Sequence[Entry]) -> VariableLaw | Sequence[tuple[Entry, Fraction]]:
        if name not in KINDS or len(given) != 1:
            return super().__call__(name, given)
        value = plain(given[0])
        if value <= 0:
            raise ValueError("the number of noise is not positive")
        return NumberedNoise(name in WHOLE, name not in ONE_SIDED, Fraction(1), name, value)


@dataclass
class OutputWays:
    """The noise that occurs, and for each input the ways to each output, as they are written."""

    noise: list[list[str]] = field(default_factory=list)
    inputs: dict[str, dict[str, list[dict[str, Any]]]] = field(default_factory=dict)

    def add(self, name: str, runs: ProgramRuns) -> None:
        """Adds the run that has just ended."""
        drawn = []
        for kind in runs.kinds:
            assert isinstance(kind, NumberedNoise)
            entry = [kind.kind, str(kind.number)]
            if entry not in self.noise:
                self.noise.append(entry)
            drawn.append(self.noise.index(entry))
        forms = sorted(runs.region.items())
        region = [[[[v, str(slope)] for v, slope in form], str(bound)] for form, bound in forms]
        way = {"weight": str(runs.weight), "noise": drawn, "region": region}
        self.inputs[name].setdefault(runs.words, []).append(way)


def read_ways(
    content: str, folder: Path | None = None, settings: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Returns noise, inputs and pairs of a case as evidence has them.

    Raises:
        Unread: the case, or its program, is beyond this reader.
    """
    reader, point, at = program_of(content, folder, settings)
    table = reader.data["mechanism"]
    places = InputPlaces(table["inputs"])
    runs = runs_of(program_text(table, at), at, NamedDraws(at))
    found = OutputWays()
    pairs = reader.compared(point, Fraction(1))
    try:
        for name, given in {name: given for pair in pairs for name, given in pair}.items():
            found.inputs[name] = {}
            for _ in runs.every(partial(places.names, given)):
                found.add(name, runs)
    except Finer:
        raise UnreadCase("exp in a program with noise that has no closed form") from None
    named = [[left, right] for (left, _), (right, _) in pairs]
    return {"noise": found.noise, "inputs": found.inputs, "pairs": named}
