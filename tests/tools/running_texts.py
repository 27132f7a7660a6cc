"""Programs of the library run as Python: each output has its probability by a sum or an integral."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from cloud_oracle import NODES, REST, SHARES, CloudOracle, Output
from given_oracle import GivenOracle
from shipped_runs import Run, between, witnesses

Row = dict[Output, float]

# Which draws of continuous noise are thresholds: their number, and which they are by number and scale.
THRESHOLDS: dict[str, tuple[int, Callable[[int, float], bool]]] = {
    "sparse-vector-resampled-threshold": (2, lambda k, scale: scale == 8),
    "interval-test": (2, lambda k, scale: k < 2),
    "min-max-interval": (2, lambda k, scale: k < 2),
    "two-intervals-test": (0, lambda k, scale: False),
}
COARSE = ("interval-test", "min-max-interval")  # two nodes are compared: a kink within a step
LARGEST: dict[str, tuple[bool, bool, float]] = {  # the largest or the smallest, two-sided, scale
    "noisy-max-laplace": (True, True, 4),
    "noisy-max-laplace-4": (True, True, 4),
    "noisy-max-half-noise": (True, True, 2),
    "noisy-max-exponential": (True, False, 4),
    "noisy-min-laplace": (False, True, 4),
    "noisy-max-laplace-every-epsilon": (True, True, 0),  # 2/eps
}
VALUES = {  # the scales of the threshold and of the answers, both times eps, and where the value is cut
    "sparse-vector-value-sign": (2, 2, 0),
    "sparse-vector-value-more-noise": (2, 4, -2),
}
BY_HAND = ("two-intervals-test", "sparse-vector-value-leaks", "noisy-max-value-sign", *VALUES)
GROWING = ("sparse-vector-monotone",)  # neighbours of which one has no smaller answer than the other
NUMERIC = "numeric-"  # outputs without number: see tests/models/test_numeric_outputs.py
RELATED = {"related", "distance"}  # neighbours by a formula: see the last tests of test_program_cases.py
DRAWS = {"sparse-vector": 4, "sparse-vector-no-threshold-noise": 3, "noisy-max-first": 3}
DRAWS |= {"noisy-min-first": 3, "noisy-max-strict": 3, "noisy-max-clamped": 3, "sparse-vector-value": 3}
DRAWS |= {"threshold-truncated-noise": 3}
POINTS = {"alpha": ("1/5", "1/8"), "eps": ("1/2", "2"), "f": ("1/4", "3/4"), "r": ("1/10", "1/2")}
POINTS |= {"s": ("1/10", "9/10"), "g": ("1/3",), "p": ("1/3",), "h": ("1/4", "3/4")}


def agrees_with_running(run: Run) -> bool:
    """Checks that neighbours have no larger ratio than a bound that holds; a witness has the ratio it tells.

    Returns whether the text was run: some texts are run by other tests.
    """
    path, data = run.path, run.content
    stem = path.stem
    related = bool(RELATED & set(data.get("neighbours", ()))) and stem not in GROWING
    if stem in BY_HAND or related or stem.startswith(NUMERIC):
        return False
    if "calls" in data["mechanism"] or "length" in data["privacy"]:
        return False  # tests/models/test_program_asks.py runs these texts
    if "gauss" in data["mechanism"].get("source", ""):
        return False  # tests/privacy/test_enclosed.py integrates such programs
    near = 1e-3 if stem in COARSE else 1e-8
    if data["expect"]["status"] == "violated":
        (witness,) = witnesses(run.document)
        meant = witness.get("meaning", {})
        names = {k: number(meant.get(k[2:], v)) for k, v in witness["parameters"].items()}
        names = {k.removeprefix("x_"): v for k, v in names.items()}
        names |= {k: float(Fraction(v)) for k, v in data.get("parameters", {}).items() if v[0] not in "(["}
        left, right = (_secret(path, data, name, names) for name in witness["secrets"])
        told = {", ".join(map(_word, o)): o for o in {*left, *right}}[witness["observations"][0]]
        assert left[told] > _bound(data, names) * right.get(told, 0.0) * (1 + 1e-6)
        for real, row in zip(witness["probabilities"], (left, right), strict=True):
            low, high = between(real)
            assert abs(row.get(told, 0.0) - float(low + high) / 2) < 1e-10
        return True
    for names in _points(data):
        found: dict[str, Row] = {}
        largest = 1.0
        for x, y in _pairs(path, data):
            for name in (x, y):
                if name not in found:
                    found[name] = _secret(path, data, name, names)
            for a, b in ((x, y), (y, x)):
                for o, share in found[a].items():
                    largest = max(largest, share / found[b].get(o, 0.0)) if share > 1e-14 else largest
        assert largest <= _bound(data, names) * (1 + near)
        if data["expect"].get("attained", True) and "ratio" in data["expect"]:
            assert abs(largest / float(Fraction(data["expect"]["ratio"])) - 1) < 1e-8
    return True


def _points(data: Mapping[str, Any]) -> Iterator[dict[str, float]]:
    parameters = data.get("parameters", {})
    values = [POINTS[name] if text[0] in "([" else (text,) for name, text in parameters.items()]
    for point in product(*values):
        yield {name: float(Fraction(v)) for name, v in zip(parameters, point, strict=True)}


def number(text: str) -> float:
    """Returns the value of a term with logarithms."""
    return float(eval(text, {"__builtins__": {}, "ln": math.log, "exp": math.exp}, {}))


def _bound(data: Mapping[str, Any], names: Mapping[str, float]) -> float:
    words = {"__builtins__": {}, "ln": math.log, "exp": math.exp, **names}
    if "epsilon" in data["privacy"]:
        return math.exp(eval(data["privacy"]["epsilon"], words))
    return float(eval(str(data["privacy"]["ratio"]), words))


def _pairs(path: Path, data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns pairs of neighbours: of many, those that differ most."""
    if "secrets" in data:
        return [tuple(pair) for pair in data["secrets"]["pairs"]]
    (given,) = data["mechanism"]["inputs"].values()
    values = given["values"]
    if isinstance(values, str):
        low, high = map(int, values.split(".."))
        values = list(range(low, high + 1))
    inputs = list(product(values, repeat=given.get("length", 1)))
    found = []
    for x, y in product(inputs, inputs):
        apart = [abs(a - b) for a, b in zip(x, y, strict=True)]
        most = 10**9 if data["neighbours"].get("by") == "any" else 1
        one = data["neighbours"].get("differ") == "one"
        if path.stem in GROWING and any(a > b for a, b in zip(x, y, strict=True)):
            continue
        if x < y and max(apart) <= most and (not one or sum(map(bool, apart)) == 1):
            found.append((sum(map(bool, apart)), x, y))
    exact = "ratio" in data["expect"]
    found.sort(key=lambda entry: -entry[0])
    chosen = found if exact or len(found) < 12 else found[:: max(1, len(found) // 8)]
    return [(str(list(x)), str(list(y))) for _, x, y in chosen]


def _secret(path: Path, data: Mapping[str, Any], name: str, names: Mapping[str, float]) -> Row:
    """Returns the distribution of the outputs under a secret: an input, or a condition on the prior."""
    if "secrets" not in data:
        given = [int(v) for v in name.strip("[]()").split(",")]
        return _run(path, data, given, names)
    mixed: dict[Output, float] = {}
    total = 0.0
    for values, weight in _worlds(data["prior"], names):
        if eval(data["secrets"][name], {}, dict(values)) and weight:
            total += weight
            (entry,) = data["mechanism"]["inputs"].values()
            given = [eval(e, {}, dict(values)) for e in (entry if isinstance(entry, list) else [entry])]
            for o, share in _run(path, data, given, names).items():
                mixed[o] = mixed.get(o, 0.0) + weight * share
    return {o: share / total for o, share in mixed.items()}


def _worlds(prior: Mapping[str, Any], names: Mapping[str, float]) -> list[tuple[dict[str, Any], float]]:
    """Returns each value of the variables of a prior with its probability."""
    worlds: list[tuple[dict[str, Any], float]] = [({}, 1.0)]
    for name, entry in prior.items():
        worlds = [
            ({**world, name: value}, weight * share)
            for world, weight in worlds
            for value, share in _distribution(entry, world, names)
        ]
    return worlds


def _distribution(
    entry: Mapping[str, Any], world: Mapping[str, Any], names: Mapping[str, float]
) -> list[tuple[Any, float]]:
    if "bernoulli" in entry:
        return [(1, names[entry["bernoulli"]]), (0, 1 - names[entry["bernoulli"]])]
    row = entry["categorical"] if "categorical" in entry else entry["table"][str(world[entry["given"]])]
    values = {k: float(eval(str(share), {}, dict(names))) for k, share in row.items()}
    return [(int(k) if k.isdigit() else k, share) for k, share in values.items()]


def _run(path: Path, data: Mapping[str, Any], given: list[int], names: Mapping[str, float]) -> Row:
    (name, entry), *_ = data["mechanism"]["inputs"].items()
    array = isinstance(entry, list) or (isinstance(entry, dict) and "length" in entry)
    if path.stem in LARGEST:
        largest, two_sided, scale = LARGEST[path.stem]
        return _largest(given, largest, two_sided, scale or 2 / names["eps"])
    text = data["mechanism"]["source"]
    values = {name: given if array else given[0], "exp": math.exp, **names}
    if "laplace" in text:
        axes, nodes = THRESHOLDS.get(path.stem, (1, lambda k, _: k == 0))
        return GivenOracle(axes, nodes).distribution(text, values)
    rest = 22 if path.stem == "noisy-max-clamped" else REST  # exp(-22) is 3e-10
    return CloudOracle(DRAWS.get(path.stem, 2), rest=rest).distribution(text, values)


def _largest(given: list[int], largest: bool, two_sided: bool, scale: float) -> Row:
    """Returns Pr(i) = ∫ f(x - q_i) Π F(x - q_j) dx, the smallest one by a change of signs."""
    q = [v if largest else -v for v in given]
    ends = np.unique([*range(-4, 5), *(s * (4 + scale * k) for k in range(36) for s in (-1, 1))])
    x = (ends[:-1, None] + np.diff(ends)[:, None] * NODES).ravel()
    weight = (np.diff(ends)[:, None] * SHARES).ravel()

    def below(v: Any) -> Any:
        tail = np.exp(-abs(v) / scale)
        return np.where(v < 0, tail / 2, 1 - tail / 2) if two_sided else np.where(v < 0, 0, 1 - tail)

    def density(v: Any) -> Any:
        tail = np.exp(-abs(v) / scale) / scale
        return tail / 2 if two_sided else np.where(v < 0, 0, tail)

    found: Row = {}
    for i in range(len(q)):
        others = math.prod(below(x - v) for j, v in enumerate(q) if j != i)
        found[(float(i),)] = float((weight * density(x - q[i]) * others).sum())
    assert abs(sum(found.values()) - 1) < 1e-12
    return found


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return str(value[1])
    return value if isinstance(value, str) else str(int(value))
