"""A second reading of programs whose noise has no closed form: their ways, as evidence has them.

The paths of a program are those of `second_runs`: each draws noise, and takes a region of it.

Standard library only, and no code of the first reader. The prover writes the ways that are found here: what
is compared with the first reader is the probability of each output, in `check --case`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..kernel.evidence_polynomials import number
from ..kernel.noise_probabilities import KINDS, WHOLE
from ..kernel.noise_regions import VariableLaw
from ..kernel.strict_reading import Rejected, UnreadCase, counted
from .second_definitions import program_written_out
from .second_numbers import Calculator, Finer
from .second_programs import DrawRules, InputPlaces, parsed
from .second_reader import SecondReader
from .second_runs import ProgramRuns
from .second_values import Entry, plain, shown

ONE_SIDED = ("exponential", "one_sided_geometric")


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
        told = ", ".join(map(shown, runs.told)) or "(no output)"
        way = {"weight": str(runs.weight), "noise": drawn, "region": region}
        self.inputs[name].setdefault(told, []).append(way)


def read_ways(
    content: str, folder: Path | None = None, settings: Mapping[str, str] = MappingProxyType({})
) -> tuple[dict[str, Any], SecondReader, Calculator]:
    """Returns noise, inputs and pairs of a case as evidence has them, and what reads the rest of it.

    Raises:
        Unread: the case, or its program, is beyond this reader.
    """
    reader = SecondReader(content, None, folder, settings)
    table = reader.data["mechanism"]
    if table.get("kind") != "program" or table.get("calls") or "neighbours" not in reader.data:
        raise UnreadCase("enclosed probabilities of another mechanism than one program with neighbours")
    points = reader.points(Fraction(1), 2)
    if len(points) != 1:
        raise UnreadCase("a parameter without a value")
    at = reader.calculator(points[0], Fraction(1))
    body, functions, literals = parsed(program_written_out(table["source"], at.definitions))
    places, draws = InputPlaces(table["inputs"]), NamedDraws(at)
    runs = ProgramRuns(
        body=body,
        functions=functions,
        literals=literals,
        parameters=dict(at.values),
        draw=draws,
        exp=draws.exp,
        sums=draws.sums,
    )
    found = OutputWays()
    pairs = reader.compared(points[0], Fraction(1))
    try:
        for name, given in {name: given for pair in pairs for name, given in pair}.items():
            found.inputs[name] = {}
            for _ in runs.every(partial(places.names, given)):
                found.add(name, runs)
    except Finer:
        raise UnreadCase("exp in a program with noise that has no closed form") from None
    named = [[left, right] for (left, _), (right, _) in pairs]
    return {"noise": found.noise, "inputs": found.inputs, "pairs": named}, reader, at


def compare_enclosed(
    document: Mapping[str, Any], content: str, folder: Path | None, settings: Mapping[str, str]
) -> str:
    """Compares evidence with a case, and returns what was compared.

    Raises:
        Rejected: a difference was found. Unread: something cannot be compared.
    """
    own, reader, at = read_ways(content, folder, settings)
    for name, value in own.items():
        if document[name] != value:
            raise Rejected(f"the case has other {name}")
    privacy = reader.data["privacy"]
    delta = at.number(privacy.get("delta", 0))
    if delta != number(document.get("delta", "0")) or ("delta" in privacy) != ("delta" in document):
        raise Rejected(f"the delta is {delta}")
    stated, value = document["bound"]["of"], number(document["bound"]["value"])
    if stated == "epsilon":
        own_value = at.number(privacy["epsilon"])
    else:
        own_value = at.number(privacy["ratio"]) if "ratio" in privacy else at.exp_of(privacy["epsilon"])
    if own_value != value:
        raise Rejected(f"the {stated} is {own_value}")
    count = sum(len(ways) for outputs in own["inputs"].values() for ways in outputs.values())
    ways = f"{counted(count, 'way')} through the program for {counted(len(own['inputs']), 'input')}"
    return f"{ways} are found again, by the code that writes them in evidence"
