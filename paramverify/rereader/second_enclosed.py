"""Evidence about programs whose noise has no closed form, compared with runs of the program.

The evidence has the ways through a program: for each input and output the noise that is drawn, the region of
it that takes the way, and the weight of finite draws. The prover finds them by going through the program with
noise as variables. Here the program runs with numbers in the place of its noise. At each of many numbers, and
for each input, the weights of the ways that contain these numbers have to be those of the runs, output by
output. The numbers are drawn at random, also near the bounds of regions. That is a test of the ways; their
probabilities are the kernel's. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from ..kernel.evidence_polynomials import number
from ..kernel.strict_reading import Rejected, UnreadCase, counted
from .second_evidence import Evidence
from .second_numbers import Calculator, Finer
from .second_points import draws
from .second_programs import DrawRules, InputPlaces, program_text, runs_of
from .second_reader import Point, SecondReader
from .second_values import Entry, plain

WHOLE = ("geometric", "one_sided_geometric", "discrete_gaussian")
KINDS = ("gauss", "laplace", "exponential", *WHOLE)
ONE_SIDED = ("exponential", "one_sided_geometric")
MOST_RUNS = 2_000  # of the program, for all inputs together
NUMBERS = (20, 200)  # at least and at most so many numbers are taken for an input
FINE = 1 << 20  # the denominator of these numbers
RANGES = tuple((-wide * FINE, wide * FINE) for wide in (1, 3, 12))  # of their numerators

Kind = tuple[str, str]  # of noise: its name, and its number
Weights = dict[str, Fraction]  # of outputs


@dataclass(frozen=True)
class Way:
    """A way through the program: the noise that is drawn, its region, and what is put out."""

    noise: tuple[Kind, ...]
    region: tuple[tuple[tuple[tuple[int, Fraction], ...], Fraction], ...]  # sums of noise, and their bounds
    output: str
    weight: Fraction


def ways_of(engine: Mapping[str, Any], name: str) -> list[Way]:
    """Returns the ways of an input."""
    kinds = [(kind, value) for kind, value in engine["noise"]]
    return [
        Way(
            tuple(kinds[k] for k in way["noise"]),
            tuple((tuple((v, number(s)) for v, s in form), number(bound)) for form, bound in way["region"]),
            output,
            number(way["weight"]),
        )
        for output, listed in engine["inputs"][name].items()
        for way in listed
    ]


class DrawnNoise(DrawRules):
    """What draws mean: unbounded noise is a number, the same for all runs."""

    def __init__(self, at: Calculator, draw: Random, near: Sequence[Fraction]) -> None:
        super().__init__(at)
        self.random, self.near = draw, near
        self.known: dict[tuple[int, Kind], Fraction] = {}
        self.drawn: list[Kind] = []  # in the run that goes on

    def __call__(self, name: str, given: Sequence[Entry]) -> Any:
        if name not in KINDS or len(given) != 1:
            return super().__call__(name, given)
        self.drawn.append((name, str(plain(given[0]))))
        return [(self.at_place(len(self.drawn) - 1, self.drawn[-1]), Fraction(1))]

    def at_place(self, place: int, kind: Kind) -> Fraction:
        """Returns the number of a draw, by its place in a run."""
        if (place, kind) not in self.known:
            self.known[place, kind] = self._number(kind[0])
        return self.known[place, kind]

    def _number(self, name: str) -> Fraction:
        found = Fraction(self.random.randint(*self.random.choice(RANGES)), FINE)
        if self.near and self.random.random() < 0.5:
            found = self.random.choice(self.near) + found / 8
        found = Fraction(round(found)) if name in WHOLE else found
        return abs(found) if name in ONE_SIDED else found


def program_of(
    content: str, folder: Path | None = None, settings: Mapping[str, str] = MappingProxyType({})
) -> tuple[SecondReader, Point, Calculator]:
    """Returns what reads a case whose mechanism is one program with neighbours, and its only point.

    Raises:
        Unread: the case is another one.
    """
    reader = SecondReader(content, None, folder, settings)
    table = reader.data["mechanism"]
    if table.get("kind") != "program" or table.get("calls") or "neighbours" not in reader.data:
        raise UnreadCase("enclosed probabilities of another mechanism than one program with neighbours")
    points = reader.points(Fraction(1), 2)
    if len(points) != 1:
        raise UnreadCase("a parameter without a value")
    return reader, points[0], reader.calculator(points[0], Fraction(1))


def compare_enclosed(
    evidence: Evidence, content: str, folder: Path | None, settings: Mapping[str, str]
) -> str:
    """Compares evidence with a case, and returns what was compared.

    Raises:
        Rejected: a difference was found. Unread: something cannot be compared.
    """
    reader, point, at = program_of(content, folder, settings)
    pairs = reader.compared(point, Fraction(1))
    if [[left, right] for (left, _), (right, _) in pairs] != evidence.engine["pairs"]:
        raise Rejected("the case has other pairs")
    inputs = {name: given for pair in pairs for name, given in pair}
    if list(inputs) != list(evidence.engine["inputs"]):
        raise Rejected("the case has other inputs")
    _bounds(evidence, reader, at)
    table, draw = reader.data["mechanism"], draws(evidence.document)
    text = program_text(table, at)
    places, taken, met = InputPlaces(table["inputs"]), 0, set[tuple[str, int]]()
    try:
        for name, given in inputs.items():
            ways = ways_of(evidence.engine, name)
            near = [bound for way in ways for form, bound in way.region if len(form) == 1]
            runs = 0
            for k in range(NUMBERS[1]):
                if k >= NUMBERS[0] and runs > MOST_RUNS // len(inputs):
                    break
                noise = DrawnNoise(at, draw, near)
                program = runs_of(text, at, noise)
                own: dict[tuple[Kind, ...], Weights] = {}
                for _ in program.every(partial(places.names, given)):
                    found = own.setdefault(tuple(noise.drawn), {})
                    found[program.words] = found.get(program.words, Fraction(0)) + program.weight
                    noise.drawn, runs = [], runs + 1
                taken += 1
                weights, those = _weights(ways, noise)
                met |= {(name, k) for k in those}
                if own != weights:
                    raise Rejected(f"a run for {name!r:.60} takes another way")
    except Finer:
        raise UnreadCase("exp in a program with noise that has no closed form") from None
    every = counted(sum(map(len, (ways_of(evidence.engine, name) for name in inputs))), "way")
    where = f"{taken} random numbers for its noise, which meet {len(met)} of them"
    return f"{every} through the program agree with its runs at {where}"


def _weights(ways: Sequence[Way], noise: DrawnNoise) -> tuple[dict[tuple[Kind, ...], Weights], list[int]]:
    """Returns the weights of the outputs whose ways contain the numbers of the noise, and which ways."""
    found: dict[tuple[Kind, ...], Weights] = {}
    met = []
    for place, way in enumerate(ways):
        values = [noise.at_place(k, kind) for k, kind in enumerate(way.noise)]
        if all(sum(slope * values[v] for v, slope in form) <= bound for form, bound in way.region):
            own = found.setdefault(way.noise, {})
            own[way.output] = own.get(way.output, Fraction(0)) + way.weight
            met.append(place)
    return found, met


def _bounds(evidence: Evidence, reader: SecondReader, at: Calculator) -> None:
    """Compares the bound and the delta."""
    privacy = reader.data["privacy"]
    delta = at.number(privacy.get("delta", 0))
    bound, told = evidence.engine["bound"], evidence.engine.get("delta")
    if delta != number(told or "0") or ("delta" in privacy) != (told is not None):
        raise Rejected(f"the delta is {delta}")
    own = at.number(privacy["epsilon"]) if bound["of"] == "epsilon" else reader.ratio(at)
    if own != number(bound["value"]):
        raise Rejected(f"the {bound['of']} is {own}")
