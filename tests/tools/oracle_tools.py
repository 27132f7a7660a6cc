"""Oracles for parts of evidence at points: polynomials, witnesses, sequences, maps, and runs of systems."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random
from typing import Any

Json = dict[str, Any]
Path = tuple[str | int, ...]

INTERVAL = re.compile(r"([\[(])([^, ]+), ([^, ]+)([\])])")
TINY = Fraction(1, 10**25)  # by which the approximation of exp may be wrong


def parts(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yields every value inside JSON data with the way to it."""
    yield path, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from parts(inner, (*path, name))
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            yield from parts(inner, (*path, k))


def put(document: Any, *path: Any) -> Any:
    """Returns a copy in which one part has another value: the way to the part, and at last the value."""
    new = copy.deepcopy(document)
    *steps, last, value = path
    part = new
    for step in steps:
        part = part[step]
    part[last] = value
    return new


# --- the oracle -------------------------------------------------------------------------------------


def value_of(text: str, point: Mapping[str, Fraction]) -> Fraction:
    """Returns the value of a polynomial at a point, by Python's own arithmetic."""
    code = re.sub(r"(?<![A-Za-z0-9_])([0-9]+)", r"F(\1)", text.replace("^", "**"))
    return Fraction(eval(code, {"__builtins__": {}, "F": Fraction}, dict(point)))


def exp(q: Fraction) -> Fraction:
    """Returns exp(q) to within TINY for small q, by Taylor's series."""
    total, term = Fraction(0), Fraction(1)
    for n in range(1, 80):
        total, term = total + term, term * q / n
    return Fraction(round(total * 10**40), 10**40)


def points_of(domain: Json, random: Random, most: int = 12) -> list[dict[str, Fraction]]:
    """Returns rational points of a domain, its closed ends among them."""
    choices: dict[str, list[Fraction]] = {}
    for name, text in domain["box"].items():
        match = INTERVAL.fullmatch(text)
        assert match, text
        low, high = Fraction(match[2]), Fraction(match[3])
        inner = [low + (high - low) * Fraction(k, 16) for k in (1, 4, 5, 8, 11, 15)]
        ends = [low] * (match[1] == "[") + [high] * (match[4] == "]")
        choices[name] = [*ends, *inner, low + (high - low) / 1000, high - (high - low) / 1000]
    if "constant" in domain:
        choices["E"] = [exp(Fraction(domain["constant"]))]
    found = []
    for _ in range(30 * most):
        point = {name: random.choice(values) for name, values in choices.items()}
        if inside(domain, point):
            found.append(point)
        if len(found) == most:
            break
    return found


def inside(domain: Json, point: Mapping[str, Fraction]) -> bool:
    """Whether a point is in a domain."""
    for name, text in domain["box"].items():
        match = INTERVAL.fullmatch(text)
        assert match, text
        low, high, at = Fraction(match[2]), Fraction(match[3]), point[name]
        if name == "E" and "constant" in domain:
            continue
        if not (low < at < high or (at == low and match[1] == "[") or (at == high and match[4] == "]")):
            return False
    values = ((value_of(text, point), relation) for text, relation in domain["constraints"])
    return all(value > 0 or (value == 0 and relation == ">=") for value, relation in values)


def rests_on_solvers(proof: Any, lemmas: Mapping[str, Any]) -> set[str]:
    """Returns the solvers that occur in a proof or in the lemmas that it uses."""
    found: set[str] = set()
    for _, part in parts(proof):
        if isinstance(part, dict) and part.get("kind") == "solver":
            found.add(f"{part['solver']} {part['version']}".strip())
        if isinstance(part, dict) and part.get("kind") == "lemma":
            found |= rests_on_solvers(lemmas[part["name"]], lemmas)
    return found


def near(real: Any) -> Fraction:
    """Returns a number to within TINY; of one with exp the formula is evaluated, and its bounds must hold."""
    if isinstance(real, str):
        return Fraction(real)
    body, _, constant = real["exact"].partition(" with E = ")
    words = re.sub(r"exp\(([^()]*)\)", lambda m: f"({exp(Fraction(m[1]))})", f"{body};{constant}")
    body, _, constant = words.partition(";")
    value = value_of(body, {"E": Fraction(constant.strip("()") or 0)})
    assert Fraction(real["lower"]) - TINY <= value <= Fraction(real["upper"]) + TINY, real
    return value


def witness_is_true(witness: Json) -> bool:
    """Whether the claim fails at the point, and the numbers agree with each other."""
    claim = witness["claim"]
    point = {name: Fraction(text) for name, text in witness["parameters"].items()}
    if "constant" in claim:
        point["E"] = exp(Fraction(claim["constant"]))
    if not inside(claim, point) or value_of(claim["polynomial"], point) >= 0:
        return False
    if "probabilities" in witness:
        left, right = map(near, witness["probabilities"])
        if not (0 <= left <= 1 and 0 <= right <= 1):
            return False
        if "ratio" in witness:
            ratio, bound = witness["ratio"], near(witness["bound"])
            if right == 0:
                return bool(ratio == "infinity" and left > 0)
            return abs(near(ratio) * right - left) < Fraction(1, 10**12) and left > bound * right
    if "relation" in witness:
        left, right, difference = (near(witness[k]) for k in ("left", "right", "difference"))
        true = {
            "<": left < right,
            "<=": left <= right,
            ">": left > right,
            ">=": left >= right,
            "==": left == right,
        }
        return abs(left - right - difference) < Fraction(1, 10**12) and not true[witness["relation"]]
    return True


class Chances:
    """The probabilities of sequences in the model of a certificate, at one point, forwards."""

    def __init__(self, model: Json, point: Mapping[str, Fraction]) -> None:
        self.steps: dict[tuple[int, int], list[tuple[int, Fraction]]] = {}
        for state, observation, successor, weight in model["steps"]:
            entry = (successor, value_of(weight, point))
            self.steps.setdefault((state, observation), []).append(entry)
        self.ratio = value_of(model["ratio"][0], point) / value_of(model["ratio"][1], point)
        self.starts = {}
        for left, right, pi, tau in model["pairs"]:
            for name, start in ((left, pi), (right, tau)):
                self.starts[name] = {int(s): value_of(w, point) for s, w in start["weights"].items()}
                mass = value_of(start["mass"], point)
                self.starts[name] = {s: w / mass for s, w in self.starts[name].items()} if mass else {}
        weights = [w for entries in self.steps.values() for _, w in entries]
        weights += [w for start in self.starts.values() for w in start.values()]
        weights += [value_of(part, point) for part in model["ratio"]]
        weights += [value_of(start["mass"], point) for pair in model["pairs"] for start in pair[2:]]
        self.negative = min(weights) < 0
        self.pairs = [(left, right) for left, right, _, _ in model["pairs"]]
        self.observations = range(len(model["observations"]))

    def of(self, name: str, word: tuple[int, ...]) -> Fraction:
        """Returns Pr(word | secret)."""
        here = self.starts[name]
        for observation in word:
            after: dict[int, Fraction] = {}
            for state, weight in here.items():
                for successor, share in self.steps.get((state, observation), []):
                    after[successor] = after.get(successor, Fraction(0)) + weight * share
            here = after
        return sum(here.values(), Fraction(0))

    def within(self, word: tuple[int, ...]) -> bool:
        """Whether a sequence is within the bound, for every pair and direction."""
        for left, right in self.pairs:
            if not (self.starts[left] and self.starts[right]):
                continue  # a secret is impossible at this point
            a, b = self.of(left, word), self.of(right, word)
            if a > self.ratio * b + TINY or b > self.ratio * a + TINY:
                return False
        return True


def cone_is_true(document: Json, random: Random, with_case: bool) -> bool:
    """Whether a certificate is true of short sequences at some points, or of some loops."""
    model = document["model"]
    if document["kind"] == "loop":
        point = {name: Fraction(text) for name, text in document["point"].items()}
        if not inside(model["domain"], point):
            return False
        chances = Chances(model, point)
        one, other = document["secrets"]
        growth = Fraction(document["rates"][0]) / Fraction(document["rates"][1])
        prefix, loop, suffix = (tuple(document[k]) for k in ("prefix", "loop", "suffix"))
        for n in range(6):
            a, b = (chances.of(name, prefix + loop * n + suffix) for name in (one, other))
            if a < b * Fraction(document["factor"]) * growth**n:
                return False
        return growth > 1
    lengths = document["lengths"] if document["kind"] == "levels" else [1, 2, 3]
    for point in points_of(model["domain"], random, 3):
        chances = Chances(model, point)
        if chances.negative and not with_case:
            continue  # it is said that this is not compared
        for length in lengths:
            words = list(product(chances.observations, repeat=min(length, 6)))
            if length > 6:
                words = [tuple(random.choices(chances.observations, k=length)) for _ in range(200)]
            if not all(chances.within(word) for word in words[:250]):
                return False
    return True


def map_is_true(document: Json, random: Random) -> bool:
    """Whether the cells of a region map tile its box, and say what is so at some points of each."""
    domain, free = document["domain"], document["free"]
    whole = Fraction(1)
    for name in free:
        match = INTERVAL.fullmatch(domain["box"][name])
        assert match
        whole *= Fraction(match[3]) - Fraction(match[2])
    covered = Fraction(0)
    for cell in document["cells"]:
        part, volume = dict(domain["box"]), Fraction(1)
        for name, (low, high) in zip(free, cell["box"], strict=True):
            part[name] = f"[{low}, {high}]"
            volume *= Fraction(high) - Fraction(low)
        covered += volume
        for point in points_of({**domain, "box": part}, random, 3):
            if not inside(domain, point):
                continue
            values = [value_of(text, point) for text in document["claims"]]
            if cell["status"] == "outside" or (cell["status"] == "safe" and min(values) < -TINY):
                return False
            if cell["status"] == "violating":
                at = {**point, **{name: Fraction(text) for name, text in cell["at"].items()}}
                if value_of(document["claims"][cell["claim"]], at) >= 0 or not inside(domain, at):
                    return False
    return covered == whole


def largest_is_true(statement: Json) -> bool:
    """Whether a pair of inputs of noisy max has the largest ratio, by trying every pair of neighbours."""
    n, values = statement["answers"], len(statement["noise"])
    noise = [[Fraction(p) for p in row] for row in statement["noise"]]
    by = values if statement["by"] == "any" else int(statement["by"])
    outputs = {x: _outputs(x, noise, statement["ties"]) for x in product(range(values), repeat=n)}

    def ratio(x: tuple[int, ...], y: tuple[int, ...]) -> Fraction:
        pairs = [(a, b) for a, b in zip(outputs[x], outputs[y], strict=True) if a or b]
        return max((a / b if b else Fraction(10**9) for a, b in pairs), default=Fraction(1))

    def alike(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
        changed = [abs(a - b) for a, b in zip(x, y, strict=True) if a != b]
        return all(d <= by for d in changed) and (statement["differ"] == "each" or len(changed) <= 1)

    largest = max(ratio(x, y) for x in outputs for y in outputs if alike(x, y))
    left, right = tuple(statement["left"]), tuple(statement["right"])
    return alike(left, right) and max(ratio(left, right), ratio(right, left)) == largest


def _outputs(given: tuple[int, ...], noise: list[list[Fraction]], ties: str) -> list[Fraction]:
    total = [Fraction(0)] * len(given)
    for noisy in product(range(len(noise)), repeat=len(given)):
        chance = Fraction(1)
        for true, value in zip(given, noisy, strict=True):
            chance *= noise[true][value]
        best = [k for k, value in enumerate(noisy) if value == max(noisy)]
        for k in best if ties == "uniform" else best[:1]:
            total[k] += chance / (len(best) if ties == "uniform" else 1)
    return total


SLACK = Fraction(1, 10**12)  # of probabilities that are rounded after each step


class Runs:
    """What can be seen of an interactive system, at one point, by following its steps."""

    def __init__(self, document: Json, point: Mapping[str, Fraction]) -> None:
        system = document["system"]
        self.data = len(system["data"])
        self.inputs = self.data + len(system["queries"])
        self.hidden = self.inputs + len(system["responses"])
        self.initial = system["initial"]
        self.rows = [
            {action: [(s, _weight(w, point)) for s, w in step] for action, step in row}
            for row in system["rows"]
        ]
        self.ratio = _weight(document["ratio"], point)
        self.seen = cache(self._seen)  # each pair of inputs and trace is met several times

    def _seen(self, inputs: tuple[int, ...], trace: tuple[int, ...]) -> tuple[Fraction, Fraction]:
        """Returns bounds of the chance to see a trace first: hidden steps are followed for a while."""
        here = {(self.initial, 0, 0): Fraction(1)}
        found = Fraction(0)
        for _ in range(40):
            after: dict[tuple[int, int, int], Fraction] = {}
            for (state, taken, seen), weight in here.items():
                if seen == len(trace):
                    found += weight
                    continue
                row = self.rows[state]
                action = next(iter(row), None)
                waits = action is not None and action < self.inputs
                if waits:
                    action = inputs[taken] if taken < len(inputs) and inputs[taken] in row else None
                shown = action is not None and action >= self.data and action < self.hidden
                if action is None or (shown and action != trace[seen]):
                    continue
                for successor, share in row[action]:
                    key = (successor, taken + waits, seen + shown)
                    after[key] = after.get(key, Fraction(0)) + weight * share
            here = {key: Fraction(round(w * 10**20), 10**20) for key, w in after.items()}
            if not here:
                break
        return found, found + sum(here.values(), Fraction(0))

    def within(self) -> bool:
        """Whether short inputs that differ in one data point are within the bound, for short traces."""
        for length in (1, 2, 3):
            for inputs in product(range(self.inputs), repeat=length):
                for place, action in enumerate(inputs):
                    if action >= self.data:
                        continue
                    shorter = inputs[:place] + inputs[place + 1 :]
                    for trace in product(range(self.data, self.hidden), repeat=min(length, 2)):
                        one, other = self.seen(inputs, trace), self.seen(shorter, trace)
                        if one[0] > self.ratio * other[1] + SLACK or other[0] > self.ratio * one[1] + SLACK:
                            return False
        return True


def _weight(weight: Any, point: Mapping[str, Fraction]) -> Fraction:
    top, bottom = (weight, "1") if isinstance(weight, str) else weight
    return value_of(top, point) / value_of(bottom, point)


def system_is_true(document: Json, original: Json, random: Random) -> bool:
    """Whether evidence about an interactive system is as true as before, or true of short inputs."""
    names = ("status", "domain", "system", "ratio", "witness", "tight")
    if all(document.get(name) == original.get(name) for name in names):
        return True
    if document["status"] == "holds":
        tried = points_of(document["domain"], random, 2)
        return all(Runs(document, point).within() for point in tried) and _is_reached(document, tried)
    witness = document["witness"]
    point = {name: Fraction(text) for name, text in witness["parameters"].items()}
    if "constant" in document["domain"]:
        point["E"] = exp(Fraction(document["domain"]["constant"]))
    if not inside(document["domain"], point):
        return False
    runs = Runs(document, point)
    left, right, trace = (tuple(witness[name]) for name in ("left", "right", "trace"))
    one, other = runs.seen(left, trace), runs.seen(right, trace)
    told = [_weight(p, point) for p in witness["probabilities"]]
    same = all(low - SLACK <= t <= high + SLACK for t, (low, high) in zip(told, (one, other), strict=True))
    return told[0] > runs.ratio * told[1] and (same or witness["closed"])


def _is_reached(document: Json, tried: list[dict[str, Fraction]]) -> bool:
    """Whether the observation of a lower bound has the probabilities that are told, where it is tried."""
    told = document.get("tight")
    if told is None:
        return True
    if "parameters" in told:
        own = {name: Fraction(text) for name, text in told["parameters"].items()}
        if "constant" in document["domain"]:
            own["E"] = exp(Fraction(document["domain"]["constant"]))
        if not inside(document["domain"], own):
            return False
        tried = [own]
    for point in tried:
        runs = Runs(document, point)
        for side, chance in zip(("left", "right"), told["probabilities"], strict=True):
            low, high = runs.seen(tuple(told[side]), tuple(told["trace"]))
            if not told["closed"] and not low - SLACK <= _weight(chance, point) <= high + SLACK:
                return False
    return True
