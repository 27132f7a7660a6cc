"""The library of programs: the expected verdicts, and these against running each text as Python."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cloud_oracle import NODES, REST, SHARES, CloudOracle, Output
from given_oracle import GivenOracle
from kept_cases import kept

from paramverify.portfolio.session import Options
from paramverify.privacy.verification import PrivacyReport, verify
from paramverify.verdicts import Holds, Violated

CASES = sorted((Path(__file__).parents[2] / "cases" / "programs").glob("*.toml"))
QUICK = ("sparse-vector-no-query-noise", "noisy-max-value", "family", "exponential-mechanism", "rappor-twice")
SHOWN = [pytest.param(p, id=p.stem, marks=() if p.stem in QUICK else pytest.mark.slow) for p in CASES]
STATUS = {"holds": Holds, "violated": Violated}

Row = dict[Output, float]
Given = tuple[Any, ...]

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
BY_HAND = ("two-intervals-test", "sparse-vector-value-leaks", "noisy-max-value-sign", *VALUES)  # see the last
GROWING = ("sparse-vector-monotone",)  # neighbours of which one has no smaller answer than the other
NUMERIC = "numeric-"  # outputs without number: see tests/models/test_numeric_outputs.py
RELATED = [
    p
    for p in CASES
    if {"related", "distance"} & set(tomllib.loads(p.read_text()).get("neighbours", ()))
    and p.stem not in GROWING
    and not p.stem.startswith(NUMERIC)
]
DRAWS = {"sparse-vector": 4, "sparse-vector-no-threshold-noise": 3, "noisy-max-first": 3}
DRAWS |= {"noisy-min-first": 3, "noisy-max-strict": 3, "noisy-max-clamped": 3, "sparse-vector-value": 3}
DRAWS |= {"threshold-truncated-noise": 3}
POINTS = {"alpha": ("1/5", "1/8"), "eps": ("1/2", "2"), "f": ("1/4", "3/4"), "r": ("1/10", "1/2")}
POINTS |= {"s": ("1/10", "9/10"), "g": ("1/3",), "p": ("1/3",), "h": ("1/4", "3/4")}


@cache
def verified(path: Path) -> PrivacyReport:
    """Returns what the default settings say of a case."""
    return verify(kept(path), Options(seconds=120))


@pytest.mark.parametrize("path", SHOWN, scope="module")
def test_expected_verdict(path: Path) -> None:
    """The verdict is as expected; a ratio that is expected is that of the largest claim."""
    assert isinstance(verified(path).verdict, STATUS[kept(path).expect["status"]])


@pytest.mark.parametrize("path", SHOWN, scope="module")
def test_verdicts_agree_with_running_the_text(path: Path) -> None:
    """No pair of neighbours has a larger ratio than a bound that holds; a witness has the ratio it tells."""
    if path.stem in BY_HAND or path in RELATED or path.stem.startswith(NUMERIC):
        return
    data = tomllib.loads(path.read_text())
    if "calls" in data["mechanism"] or "length" in data["privacy"]:
        return  # tests/models/test_program_asks.py runs these texts
    if "gauss" in data["mechanism"].get("source", ""):
        return  # tests/privacy/test_enclosed.py integrates such programs
    near = 1e-3 if path.stem in COARSE else 1e-8
    if data["expect"]["status"] == "violated":
        witness = verified(path).verdict.witness  # type: ignore[union-attr]
        names = {k: _number(witness.meant.get(k[2:], str(v))) for k, v in witness.parameters.items()}
        names = {k.removeprefix("x_"): v for k, v in names.items()}
        names |= {k: float(Fraction(v)) for k, v in data.get("parameters", {}).items() if v[0] not in "(["}
        left, right = (_secret(path, data, name, names) for name in (witness.left, witness.right))
        told = {", ".join(map(_word, o)): o for o in {*left, *right}}[witness.observations[0]]
        assert left[told] > _bound(data, names) * right.get(told, 0.0) * (1 + 1e-6)
        for real, row in zip(witness.probabilities, (left, right), strict=True):
            low, high = real.enclosure()
            assert abs(row.get(told, 0.0) - float(low + high) / 2) < 1e-10
        return
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


def _points(data: Mapping[str, Any]) -> Iterator[dict[str, float]]:
    parameters = data.get("parameters", {})
    values = [POINTS[name] if text[0] in "([" else (text,) for name, text in parameters.items()]
    for point in product(*values):
        yield {name: float(Fraction(v)) for name, v in zip(parameters, point, strict=True)}


def _number(text: str) -> float:
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


def test_the_leak_of_a_released_value_by_hand() -> None:
    """Pr(below four times, then -1 or less) is a sum over the threshold; its ratio is 32 > 16 at 1/2."""
    a, reach = Fraction(1, 2), 40

    def mass(k: int, ratio: Fraction) -> Fraction:
        return (1 - ratio) / (1 + ratio) * ratio ** abs(k)

    def under(k: int) -> Fraction:
        """Returns Pr(noise < k)."""
        return a ** (1 - k) / (1 + a) if k <= 0 else 1 - a**k / (1 + a)

    def released(x: int) -> float:
        threshold = range(-reach, 0)  # at most -1, for the released value is
        return float(
            sum(mass(t, a * a) * under(t - x) ** 4 * (under(0 - x) - under(t - x)) for t in threshold)
        )

    assert abs(released(0) / released(1) - 32) < 1e-9
    path = next(p for p in CASES if p.stem == "sparse-vector-value-leaks")
    witness = verified(path).verdict.witness  # type: ignore[union-attr]
    assert witness.ratio is not None
    assert witness.ratio.rational == 32
    assert abs(float(witness.probabilities[0].rational) - released(0)) < 1e-12


def test_two_intervals_are_two_independent_tests() -> None:
    """Both inside has the probability of the first times that of the second, by integration."""
    text = (
        "low = laplace(8)\nhigh = 1 + laplace(8)\ny = x + laplace(4)\n"
        "if y >= low and y <= high:\n    output(1)\nelse:\n    output(0)"
    )
    inside = {x: GivenOracle(2, lambda k, _: k < 2).distribution(text, {"x": x})[(1,)] for x in (-1, 0, 1)}
    found = kept(next(p for p in CASES if p.stem == "two-intervals-test")).model
    hmm = found.hmm  # type: ignore[union-attr]
    for k, state in enumerate(hmm.states):
        x, y = map(int, state.strip("()").split(","))
        (step,) = (s for s in hmm.steps[k] if hmm.observations[s.observation] == "in, in")
        constant = found.domain.ring.constant  # type: ignore[union-attr]
        at = math.exp(float(constant.exponent))
        value = _at(step.weight, at) / _at(hmm.denominator, at)
        assert abs(value - inside[x] * inside[y]) < 1e-4


def _at(polynomial: Any, value: float) -> float:
    return sum(int(c.p) / int(c.q) * value ** int(m[-1]) for m, c in polynomial.to_dict().items())


def _clamped(centre: int, alpha: Fraction, low: int, high: int) -> dict[Any, Fraction]:
    """Returns the distribution of clamp(centre + geometric(alpha), low, high)."""
    found = {k: (1 - alpha) / (1 + alpha) * alpha ** abs(k - centre) for k in range(low + 1, high)}
    found[low] = alpha ** (centre - low) / (1 + alpha)
    return found | {high: alpha ** (high - centre) / (1 + alpha)}


def _each(rows: list[dict[Any, Fraction]]) -> dict[Any, Fraction]:
    """Returns the distribution of independent outputs, one after the other."""
    return {
        tuple(k for k, _ in chosen): math.prod(share for _, share in chosen)
        for chosen in product(*(row.items() for row in rows))
    }


def _grouped(x: tuple[Any, ...], a: Fraction) -> dict[Any, Fraction]:
    row = _clamped(x[1], a if x[0] == "small" else a * a, 0, 3)
    return {(x[0], k): share for k, share in row.items()}


def _answers(x: tuple[int, ...], a: Fraction) -> dict[Any, Fraction]:
    kept = 1 / (1 + 2 * a)  # exp(eps) / (exp(eps) + 2) where a = exp(-eps)
    return _each([{v: kept if v == w else (1 - kept) / 2 for v in range(3)} for w in x])


def _apart(x: tuple[int, ...], y: tuple[int, ...]) -> int:
    return sum(abs(v - w) for v, w in zip(x, y, strict=True))


def _near(x: tuple[Any, ...], y: tuple[Any, ...]) -> int | None:
    return 2 if x[0] == y[0] and abs(x[1] - y[1]) <= (1 if x[0] == "large" else 2) else None


# The inputs, the distribution on each, and the exponent of 1/alpha that bounds a pair (None: no neighbours).
BY_FORMULA: dict[str, tuple[list[Any], Callable[..., dict[Any, Fraction]], Callable[..., int | None]]] = {
    "histogram-related": (
        list(product((0, 1), repeat=3)),
        lambda x, a: _each([_clamped(v, a, -1, 2) for v in x]),
        lambda x, y: 1 if _apart(x, y) <= 1 else None,
    ),
    "histogram-moved-record": (
        list(product((0, 1), repeat=3)),
        lambda x, a: _each([_clamped(v, a, -1, 2) for v in x]),
        lambda x, y: 2 if sum(x) == sum(y) and _apart(x, y) == 2 else None,
    ),
    "geometric-metric": (
        list(product(range(3), repeat=2)),
        lambda x, a: _each([_clamped(v, a, 0, 2) for v in x]),
        _apart,
    ),
    "geometric-metric-grid": (
        [(n,) for n in range(6)],
        lambda x, a: _clamped(x[0] // 2 * 2, a, 0, 4),
        _apart,
    ),
    "randomized-response-hamming": (
        list(product(range(3), repeat=3)),
        _answers,
        lambda x, y: sum(v != w for v, w in zip(x, y, strict=True)),
    ),
    "public-group": (list(product(("small", "large"), range(4))), _grouped, _near),
}


@pytest.mark.parametrize("path", RELATED, ids=lambda path: path.stem)
def test_related_inputs_by_formula(path: Path) -> None:
    """The bound of each related pair holds at three alphas, by fractions; or the violated case breaks one."""
    inputs, row, exponent = BY_FORMULA[path.stem]
    broken = False
    for alpha in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        rows = {x: row(x, alpha) for x in inputs}
        assert all(sum(found.values()) == 1 for found in rows.values())
        for x, y in product(inputs, inputs):
            power = exponent(x, y)
            if x != y and power is not None:
                broken |= any(p > rows[y][o] / alpha**power for o, p in rows[x].items())
    assert broken == (tomllib.loads(path.read_text())["expect"]["status"] == "violated")


def _below(x: float, scale: float) -> float:
    """How likely Laplace noise is below a number."""
    return math.exp(x / scale) / 2 if x < 0 else 1 - math.exp(-x / scale) / 2


def _witness(name: str) -> tuple[float, list[list[int]], list[float]]:
    """Returns eps, the two inputs and their probabilities of a witness."""
    path = next(p for p in CASES if p.stem == name)
    witness = verified(path).verdict.witness  # type: ignore[union-attr]
    inputs = [[int(v) for v in text.strip("()").split(",")] for text in (witness.left, witness.right)]
    return (
        _number(witness.meant["eps"]),
        inputs,
        [float(sum(p.enclosure()) / 2) for p in witness.probabilities],
    )


def test_the_sign_of_the_largest_answer_by_hand() -> None:
    """All answers are negative: a product of independent tails."""
    eps, inputs, told = _witness("noisy-max-value-sign")
    for given, share in zip(inputs, told, strict=True):
        assert abs(math.prod(_below(-v, 2 / eps) for v in given) - share) < 1e-12
    assert told[0] > math.exp(eps) * told[1]


@pytest.mark.parametrize("name", VALUES)
def test_the_sign_of_a_released_answer_by_hand(name: str) -> None:
    """An integral over the threshold: answers below it, then one above it whose value is below the cut."""
    threshold, answer, cut = VALUES[name]
    eps, inputs, told = _witness(name)
    a, b, steps = threshold / eps, answer / eps, 100
    for given, share in zip(inputs, told, strict=True):
        *before, last = given

        def density(t: float, before: list[int] = before, last: int = last) -> float:
            least = math.prod(_below(t - v, b) for v in before)
            return math.exp(-abs(t) / a) / (2 * a) * least * (_below(cut - last, b) - _below(t - last, b))

        total = 0.0
        for start in range(-80, cut):  # Simpson's rule, between the places where it is not smooth
            values = [density(start + k / steps) for k in range(steps + 1)]
            total += (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2])) / (
                3 * steps
            )
        assert abs(total / share - 1) < 1e-6
    assert told[0] > math.exp(eps) * told[1]
