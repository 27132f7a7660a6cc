"""A second reader of case files, so that `check --case` notices when a case was read as another one.

It reads the names, rows, secrets, neighbours, parameters and the mechanism straight from the TOML. By brute
force it computes, at one rational point, how likely each output is under each secret. It shares no code with
the reader that the claims come from, and is simple rather than fast: standard library only.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import islice, product
from math import gcd, lcm
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..kernel.strict_reading import UnreadCase
from .second_arrays import without_arrays
from .second_definitions import candidates, definitions_of, endless, inside, read_files, set_to
from .second_files import files_of
from .second_measures import as_ratio, loss_of
from .second_mechanisms import Chosen, check, read
from .second_networks import Walk
from .second_numbers import Calculator, Value, interval_of, named
from .second_outputs import Breaks
from .second_outputs import named as named_output
from .second_processes import Input, Process, Streamed, Words, add, queries_of
from .second_programs import NAMED
from .second_relations import distances_of, nearness
from .second_values import near_log

Point = Mapping[str, Fraction]

MAX_INPUTS = 1_000
MAX_WORDS = 5_000  # sequences of all lengths that are listed, about


@dataclass(frozen=True)
class PointProbabilities:
    """A case at one point: the bound e^ε, and for each secret how likely each sequence is.

    A secret that is impossible at the point has None. Where the bound depends on the distance of two inputs,
    there is one for each distance, and `distances` has that of each pair of names.
    """

    bounds: Mapping[Fraction | None, Fraction]
    words: Mapping[str, Words | None]
    distances: Mapping[tuple[str, str], Fraction]

    @property
    def size(self) -> int:
        """How many sequences there are at most under a secret."""
        return max((len(words) for words in self.words.values() if words), default=0)

    def bound(self, left: str, right: str) -> Fraction:
        """Returns the bound for a pair of secrets."""
        return self.bounds[self.distances.get((left, right))]

    def of(self, name: str, word: tuple[str, ...]) -> Fraction:
        """Returns how likely a sequence is under a secret."""
        return (self.words[name] or {}).get(word, Fraction(0))

    def both(self, left: str, right: str, length: int) -> list[tuple[Fraction, Fraction]] | None:
        """Returns how likely each sequence of a length is under two secrets; None if one is impossible."""
        one, other = self.words[left], self.words[right]
        if one is None or other is None:
            return None
        return [(self.of(left, w), self.of(right, w)) for w in {**one, **other} if len(w) == length]


class SecondReader:
    """A case file, read once more; a base stands for exp(`exponent`), and its `power` for E.

    All methods raise Unread for what this reader does not know, and ValueError or another error
    of malformed data for what it takes for a mistake.
    """

    def __init__(
        self,
        content: str,
        exponent: Fraction | None,
        folder: Path | None = None,
        settings: Mapping[str, str] = MappingProxyType({}),
        claimed: bool = False,
    ) -> None:
        self.data = without_arrays(set_to(tomllib.loads(content, parse_float=Decimal), settings))
        self.constant = self.exponent = exponent
        self.replaced: dict[Fraction | None, str] = {}  # bounds by distance, instead of the case's own
        self.power = self.part = 1
        self.of_streams = False  # whether the mechanism reads a stream, whose entries are chosen
        self.breaks: Breaks | None = None  # of a program with numbers as outputs
        self.ties: dict[str, tuple[str, Fraction]] = {}  # parameters beside their exponentials
        if "mechanism" not in self.data and not claimed:
            raise UnreadCase("cases without a mechanism")
        self.files = files_of(self.data["define"], folder)
        self.loss = loss_of(self.data.get("privacy", {}))
        self.data["privacy"], self.order = as_ratio(self.data.get("privacy", {}))
        self.definitions = definitions_of(self.data)
        if not claimed:
            if self.data.get("neighbours", {}).keys() - {"differ", "by", "pairs", "related", "distance"}:
                raise UnreadCase("neighbours that are described in another way")
            read_files(self.data["mechanism"], folder)
        parameters: dict[str, Any] = {
            name: ends for file in self.files.values() for name, ends in file.box.items()
        }
        parameters |= self.data.get("parameters", {})
        self.constraints: list[Any] = parameters.pop("constraints", [])
        self.steps: dict[str, Fraction] = {
            n: Fraction(0) for n, given in parameters.items() if endless(given)
        }
        plain = Calculator({}, None, definitions=self.definitions)
        self.intervals = {
            f"x_{name}" if name in self.steps else name: interval_of(given, plain)
            for name, given in parameters.items()
        }

    def refine(self, name: str, exponent: Fraction) -> None:
        """Makes exp(exponent · name) a whole power of x_name, by the same part of the largest step.

        For the name "" a root of E becomes the base, so that exp(exponent) is a whole power of it. E itself
        may be too large: a wrong first reader may have had other exponents, a true one fewer.
        """
        known = self.steps[name] * self.part if name else self.exponent or Fraction(0)
        bottom = lcm(known.denominator, exponent.denominator)
        step = Fraction(gcd(int(known * bottom), int(exponent * bottom)), bottom)
        if name:
            self.steps[name] = step / self.part
        else:
            self.power = int((self.constant or step) / step)
            self.exponent = step

    def name_outputs(self, names: Sequence[str], complete: bool = True) -> None:
        """Takes the names of the outputs of a program that puts out numbers with noise: all, or some."""
        if names and self.data["mechanism"].get("kind") == "program":
            self.breaks = Breaks() if complete else None
            self.data["mechanism"][NAMED] = {words: named_output(words) for words in names}, self.breaks

    def probe_breaks(self) -> bool:
        """Takes outputs at breaks that the evidence does not name; tells whether there are any."""
        if self.breaks is None:
            return False
        names = self.data["mechanism"][NAMED][0]
        self.breaks = replace(self.breaks, probing=True)
        probes = self.breaks.probes(list(names.values()), list(names))
        self.data["mechanism"][NAMED] = probes, self.breaks
        return bool(probes)

    def take_part(self, part: int) -> None:
        """Takes for each step such a part of the largest one that makes all exponents so far whole."""
        self.steps = {name: step * self.part / part for name, step in self.steps.items()}
        self.part = part

    def replace_bound(self, bound: Sequence[str] | Mapping[str, Sequence[str]]) -> None:
        """Takes a numerator over a denominator instead of the case's own bound, or one for each distance."""
        if isinstance(bound, Mapping):
            self.replaced = {Fraction(d): f"({a})/({b})".replace("^", "**") for d, (a, b) in bound.items()}
            return
        top, bottom = bound
        length = {k: v for k, v in self.data["privacy"].items() if k in ("length", "one_sided")}
        ratio = f"({top})/({bottom})".replace("^", "**")
        self.data["privacy"] = {"ratio": ratio, **length}

    def calculator(self, point: Point, base: Fraction, divisors: list[Fraction] | None = None) -> Calculator:
        """Returns what evaluates expressions at a point; `divisors` gets what is divided by."""
        values: dict[str, Value] = {**point, **self.tied(point)}
        if self.exponent is not None:
            values["E"] = base**self.power
        if point:
            values |= {name: file.at(point, divisors) for name, file in self.files.items()}
        return Calculator(values, self.exponent, base, self.steps, self.definitions, divisors)

    def tied(self, point: Point) -> dict[str, Fraction]:
        """Returns numbers near the parameters that stand beside their exponentials, at a point."""
        return {name: near_log(1 / point[variable]) / step for name, (variable, step) in self.ties.items()}

    def has(self, point: Point, base: Fraction) -> bool:
        """Tells whether a point is in the domain."""
        if point.keys() != self.intervals.keys():
            return False
        if not all(inside(point[name], ends) for name, ends in self.intervals.items()):
            return False
        if not all(file.allows(point) for file in self.files.values()):
            return False
        at = self.calculator(point, base)
        return all(at.number(text) != 0 for text in self.constraints)

    def points(self, base: Fraction, most: int) -> list[dict[str, Fraction]]:
        """Returns points of the domain, inside of it where it has an inside."""
        return list(islice((p for p in candidates(self.intervals) if self.has(p, base)), most))

    @property
    def one_sided(self) -> bool:
        """Whether the case is about sequences too that only one of two secrets allows."""
        given = self.data["privacy"].get("one_sided")
        if given not in (None, "ignored"):
            raise ValueError(f"one_sided = {given!r:.40}")
        return given is None

    def ratio(self, at: Calculator) -> Fraction:
        """Returns the bound e^ε of the case; 1 if it says nothing."""
        privacy = self.data["privacy"]
        return at.number(privacy["ratio"]) if "ratio" in privacy else at.exp_of(privacy.get("epsilon", 0))

    def delta(self, point: Point, base: Fraction) -> Fraction:
        """Returns what the case allows sets of outputs beyond a ratio, at a point; 0 if it says nothing."""
        return self.calculator(point, base).number(self.data["privacy"].get("delta", 0))

    @property
    def lengths(self) -> list[int]:
        """The lengths of the case; none stand for every length."""
        given = self.data["privacy"].get("length", 1)
        if given == "all":
            return []
        if isinstance(given, int):
            return [given]
        first, last = (int(part) for part in given.split(".."))
        return list(range(first, last + 1))

    def masses(
        self,
        point: Point,
        base: Fraction,
        lengths: Sequence[int],
        only: Collection[str] | None = None,
        wanted: Sequence[str] | None = None,
    ) -> PointProbabilities:
        """Returns the bound, and how likely each sequence is under each secret, or under `only` some.

        With a `wanted` sequence, only that is looked at.
        """
        at = self.calculator(point, base)
        process = read(self.data["mechanism"], at)
        known: dict[Input, Words | None] = {}

        def words(given: Input) -> Words | None:
            if given not in known:
                try:
                    known[given] = {w: p for n in lengths for w, p in process.words(given, n, wanted).items()}
                except ZeroDivisionError:
                    known[given] = None
            return known[given]

        secrets: dict[str, dict[Input, Fraction]] = {}
        if "neighbours" in self.data:
            for pair in self._neighbours(process):
                secrets |= {_shown(given, process): {given: Fraction(1)} for given in pair}
        else:
            every = NAMED in self.data["mechanism"]  # whose inputs are looked at together
            secrets = self.under_secrets(process, at, None if every else only)
        process.prepare(list(dict.fromkeys(x for given in secrets.values() for x in given)))
        chosen = secrets if only is None else {name: secrets[name] for name in only}
        far = distances_of(self.data, len(process.answers))
        near = self._neighbours(process) if far else []
        distances = {
            (_shown(a, process), _shown(b, process)): far(a, b)
            for pair in near
            for a, b in (pair, pair[::-1])
            if far
        }
        bounds: dict[Fraction | None, Fraction] = {}
        for distance in set(distances.values()) or [None]:
            if distance in self.replaced:
                bounds[distance] = at.knowing({"E": base}).number(self.replaced[distance])
                continue
            here = at if distance is None else at.knowing({"distance": distance})
            bounds[distance] = self.ratio(here)
        return PointProbabilities(
            bounds, {name: _mixed(given, words) for name, given in chosen.items()}, distances
        )

    def pairs(self, point: Point, base: Fraction) -> list[tuple[str, str]]:
        """Returns the names of the secrets that are compared; both directions count."""
        if "neighbours" not in self.data:
            return [(left, right) for left, right in self.data["secrets"]["pairs"]]
        return [(left, right) for (left, _), (right, _) in self.compared(point, base)]

    def compared(self, point: Point, base: Fraction) -> list[tuple[tuple[str, Input], tuple[str, Input]]]:
        """Returns the neighbours, each input with its name; both directions count."""
        process = read(self.data["mechanism"], self.calculator(point, base))
        pairs = self._neighbours(process)
        return [((_shown(a, process), a), (_shown(b, process), b)) for a, b in pairs]

    def _neighbours(self, process: Process) -> list[tuple[Input, Input]]:
        table, found = self.data["neighbours"], []
        if "pairs" in table:
            for pair in table["pairs"]:
                left, right = (
                    tuple(
                        named(v, known)
                        for v, known in zip(x if isinstance(x, list) else [x], process.answers, strict=True)
                    )
                    for x in pair
                )
                found.append((left, right))
        else:
            listed = list(islice(product(*process.answers), MAX_INPUTS + 1))
            if len(listed) > MAX_INPUTS:
                raise UnreadCase("more neighbours than it lists")
            near = nearness(self.data, len(process.answers), process.default_by)
            for k, left in enumerate(listed):
                found += [(left, right) for right in listed[k + 1 :] if near(left, right)]
        if isinstance(process, Streamed):
            self.of_streams = True
            return process.compared(found, table["differ"])
        if not isinstance(process, Chosen):
            return found
        values = {int(Fraction(v)) for v in process.answers[0]}
        listed_answers = {(int(Fraction(a[0])), int(Fraction(b[0]))) for a, b in found}
        process.joint = {(v, v) for v in values} | listed_answers | {(b, a) for a, b in listed_answers}
        given = self.data["mechanism"]["threshold"]
        thresholds = given if isinstance(given, list) else [given]
        sides = [[(Fraction(side), Fraction(t)) for side in (0, 1)] for t in thresholds]
        return [(left, right) for left, right in sides]

    def under_secrets(
        self, process: Process, at: Calculator, only: Collection[str] | None = None
    ) -> dict[str, dict[Input, Fraction]]:
        """Returns the weights of the inputs under each secret; not divided by their sum."""
        table = self.data["mechanism"]
        names = list(dict.fromkeys(name for pair in self.data["secrets"]["pairs"] for name in pair))
        listed = queries_of(table)
        if not listed:
            states = process.answers[0]
            priors = {name: self.data["prior"][name] for name in names}
            for given in priors.values():
                check([at.number(p) for p in given.values()])
            return {
                n: {(named(s, states, text=True),): at.number(p) for s, p in given.items()}
                for n, given in priors.items()
            }
        found: dict[str, dict[Input, Fraction]] = {name: {} for name in names}
        for name in (n for n in names if only is None or n in only):
            weights = Walk(self.data["prior"], at).weights(self.data["secrets"][name], listed)
            for answers, weight in weights.items():
                add(found[name], as_input(answers, process), weight)
        return found


def as_input(answers: Sequence[Value], process: Process) -> Input:
    """Returns the input of the process that answers mean; a program takes whatever it is given."""
    known = process.answers or [None] * len(answers)
    return tuple(a if k is None else named(a, k) for a, k in zip(answers, known, strict=True))


def _shown(given: Input, process: Process) -> str:
    if isinstance(process, (Chosen, Streamed)):
        return process.told(given)
    if len(given) == 1:
        return str(given[0])
    told = [json.dumps(v, ensure_ascii=False) if {",", '"'} & {*str(v)} else str(v) for v in given]
    return f"({', '.join(told)})"


def _mixed(given: Mapping[Input, Fraction], words: Any) -> Words | None:
    """Returns how likely each sequence is if the input has these weights; None if they sum to nothing."""
    mass = sum(given.values(), Fraction(0))
    if not mass:
        return None
    found: Words = {}
    for each, weight in given.items():
        own = words(each)
        if own is None:
            return None
        for word, chance in own.items():
            found[word] = found.get(word, Fraction(0)) + chance * weight / mass
    return found
