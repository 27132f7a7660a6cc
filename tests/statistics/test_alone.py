"""Black boxes without a case, and the mechanisms of [S] that are shipped as examples."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from scipy import integrate, stats

from paramverify.cli.main import run
from paramverify.errors import InputError
from paramverify.statistics import examples
from paramverify.statistics.black_boxes import alone, is_vectorised, patterns, read_input, with_arguments
from paramverify.statistics.sampling_runs import Runs

SIZE = 10_000
ROOM = "paramverify.statistics.examples:"


def outputs(
    mechanism: Callable[..., Any], given: Sequence[float], **arguments: float
) -> list[tuple[Any, ...]]:
    found = mechanism(np.random.default_rng(7), given, SIZE, **arguments)
    rows = found if isinstance(found, list) else found.tolist()
    return [tuple(row) if isinstance(row, list) else (row,) for row in rows]


def wins(distance: float, scale: float) -> float:
    """The probability that one of two answers beats the other, which is larger, with Laplace noise."""
    return math.exp(-distance / scale) * (0.5 + distance / (4 * scale))


def both_below(threshold: float, answer: float) -> float:
    """The probability that two noisy answers are below a noisy threshold; all centres are equal."""

    def inner(at: float) -> float:
        return float(stats.laplace.pdf(at, scale=threshold) * stats.laplace.cdf(at, scale=answer) ** 2)

    return float(integrate.quad(inner, -math.inf, 0)[0] + integrate.quad(inner, 0, math.inf)[0])


EXACT: list[tuple[Callable[..., Any], tuple[float, ...], dict[str, float], Callable[..., bool], float]] = [
    (examples.laplace, (3,), {"epsilon": 0.5}, lambda x: x <= 3 + 2 * math.log(2), 3 / 4),
    (examples.laplace, (3, 5), {}, lambda x, y: x <= 3 and y >= 5 + 2 * math.log(2), 1 / 8),
    (examples.laplace, (3, 5), {"sensitivity": 1}, lambda x, y: y >= 5 + math.log(2), 1 / 4),
    (examples.histogram, (1, 0), {"epsilon": 2}, lambda x, y: x <= 1 - math.log(2) / 2, 1 / 4),
    (examples.histogram_wrong_scale, (1, 0), {"epsilon": 2}, lambda x, y: x <= 1 - 2 * math.log(2), 1 / 4),
    (examples.noisy_max, (1, 2), {}, lambda k: k == 1, wins(1, 2)),
    (examples.noisy_max_exponential, (1, 2), {}, lambda k: k == 1, math.exp(-1 / 2) / 2),
    (examples.noisy_max_value, (1, 1, 1), {}, lambda x: x <= 1, 1 / 8),
    (examples.noisy_max_exponential_value, (1, 1), {}, lambda x: x <= 1 + 2 * math.log(2), 1 / 4),
    (examples.sparse_vector, (1, 1), {}, lambda *o: o == ("⊥", "⊥"), both_below(2, 4)),
    (examples.sparse_vector, (1, 1), {}, lambda *o: o == ("⊤",), 1 / 2),
    (examples.sparse_vector, (9, 9), {"most": 2, "threshold": -90}, lambda *o: o == ("⊤", "⊤"), 1),
    (examples.sparse_vector_no_noise, (1, 1), {}, lambda *o: o == ("⊤", "⊤"), 1 / 2),
    (examples.sparse_vector_no_noise, (1, 1), {}, lambda *o: o in (("⊤", "⊤"), ("⊥", "⊥")), 1),
    (examples.sparse_vector_no_bound, (1, 1), {}, lambda *o: o == ("⊤", "⊤"), 1 / 3),
    (examples.sparse_vector_small_noise, (1, 1), {}, lambda *o: o == ("⊥", "⊥"), both_below(4, 4 / 3)),
    (examples.sparse_vector_value, (1, 1), {}, lambda *o: o == ("⊥", "⊥"), 1 / 3),
    (examples.sparse_vector_value, (1, 1), {}, lambda *o: o[0] != "⊥" and len(o) == 1, 1 / 2),
]


@pytest.mark.parametrize(("mechanism", "given", "arguments", "event", "probability"), EXACT)
def test_examples_are_what_they_say(
    mechanism: Callable[..., Any],
    given: tuple[float, ...],
    arguments: dict[str, float],
    event: Callable[..., bool],
    probability: float,
) -> None:
    """Each mechanism gives an event with the probability that its definition says, computed here by hand."""
    came = sum(bool(event(*output)) for output in outputs(mechanism, given, **arguments))
    assert stats.binomtest(came, SIZE, probability).pvalue > 1e-4


def sample(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code = run(["sample", "--json", "--seed", "1", "--runs", "8000", *arguments])
    captured = capsys.readouterr()
    return code, json.loads(captured.out) if captured.out else captured.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "left", "right"), [("laplace", "1,1", "2,0"), ("sparse_vector", "1,1,1", "2,2,0")]
)
def test_right_mechanisms_keep_their_budget(
    name: str, left: str, right: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Right mechanisms are not rejected at the budget that they claim, nor at a larger one.

    The other ones, and the wrong ones, are rows of docs/papers.toml: tests/test_papers.py runs them.
    """
    code, found = sample(
        capsys, "--mechanism", ROOM + name, "--neighbours", left, right, "--epsilon", "1,1.5"
    )
    assert (code, found["status"]) == (3, "not rejected")


def test_neighbours_are_what_is_run() -> None:
    """The mechanism gets the inputs as numbers and labels, and its outputs keep their lengths."""
    seen = set()

    def record(rng: np.random.Generator, given: tuple[object, ...]) -> list[str]:
        seen.add(given)
        return ["x"] * int(rng.integers(0, 3))

    source, (experiment,) = alone(record, [("", read_input("1, 1/2,yes"), read_input("1,1/2,no"))], 9)
    counts = Runs(source, 1).counts(0, experiment, 1, 200)
    assert seen == {(1, 0.5, "no")}
    assert set(counts) == {(), ("x",), ("x", "x")}
    with pytest.raises(InputError, match="is given twice: --neighbours needs two different inputs"):
        alone(record, [("", read_input("1"), read_input("1.0"))], 9)
    with pytest.raises(InputError, match="an answer is missing"):
        read_input("1,,2")


def test_budgets_with_logarithms(capsys: pytest.CaptureFixture[str]) -> None:
    """A budget is written as in cases: 2*ln(2) + 1/2 is tested as the number that it is."""
    arguments = ("--neighbours", "0", "1", "--epsilon", "2*ln(2) + 1/2", "--runs", "200", "--json")
    assert run(["sample", "--mechanism", f"{ROOM}laplace", *arguments]) in (1, 3)
    (found,) = json.loads(capsys.readouterr().out)["tested"]
    assert found["epsilon"] == pytest.approx(2 * math.log(2) + 0.5)


def test_patterns_of_neighbours() -> None:
    """The patterns differ in one answer or in each, by at most 1; those of two answers are known."""
    each, one = patterns(2, "each"), patterns(2, "one")
    for _, left, right in each:
        assert all(abs(a - b) <= 1 for a, b in zip(left, right, strict=True))  # type: ignore[operator]
    assert all(sum(a != b for a, b in zip(x, y, strict=True)) == 1 for _, x, y in one)
    assert {(x, y) for _, x, y in one} <= {(x, y) for _, x, y in each}
    assert ("all above", (Fraction(1), Fraction(1)), (Fraction(2), Fraction(2))) in each
    assert len(patterns(5, "one")) == 4  # first or last, above or below


def test_arguments_are_given_by_name() -> None:
    """Arguments are numbers or texts; a mechanism with some is still found by its name in other processes."""
    seen = with_arguments(lambda rng, given, **more: more, ["epsilon=1/2", "most=3", "kind=any"])
    assert seen(None, ()) == {"epsilon": 0.5, "most": 3, "kind": "any"}
    for wrong in ("epsilon", "=1", "a b=1", "epsilon="):
        with pytest.raises(InputError, match="NAME=VALUE"):
            with_arguments(examples.laplace, [wrong])
    with pytest.raises(InputError, match="set twice"):
        with_arguments(examples.laplace, ["epsilon=1", "epsilon=2"])


def test_arguments_that_are_missing_are_named() -> None:
    """A function with more arguments than (rng, input, size) is told which of them have to be given."""
    needed = "the function requires 'scale', 'shift': add --argument scale=VALUE --argument shift=VALUE"
    with pytest.raises(InputError, match=needed):
        is_vectorised(lambda rng, given, size, scale, shift: 0)
    with pytest.raises(InputError, match="--argument scale=VALUE"):
        is_vectorised(lambda rng, given, *, scale: 0)
    with pytest.raises(InputError, match="the function must accept"):
        is_vectorised(lambda rng: 0)
    assert is_vectorised(with_arguments(lambda rng, given, size, scale: 0, ["scale=1"]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give a CASE, or --mechanism with --neighbours or --answers"),

        (("--mechanism", f"{ROOM}laplace", "--neighbours", "0", "1"), "there is no budget to test"),
        (("--mechanism", f"{ROOM}laplace", "--answers", "2", "--search"), "need a CASE"),

        (("x.toml", "--neighbours", "0", "1"), "the case defines its neighbours"),

        (("x.toml", "--bisection"), "--bisection is a way to search: add --search"),

        (("x.toml", "--search", "--bisection", "--precision", "2"), "above 0 and at most 1"),

        (("--mechanism", f"{ROOM}laplace", "--neighbours", "0", "--epsilon", "1"),
         "fewer than two inputs: write, for example, --neighbours 0 1"),

        (("--mechanism", "mylap.py:lap", "--neighbours", "0", "1", "--epsilon", "1"), "as in mylap:lap"),
        (("--mechanism", f"{ROOM}laplace", "--neighbours", "0", "1", "--epsilon", "ln(0)"),
         "argument of ln must be positive"),
        ((str(ROOT / "cases" / "above-threshold-figure-3-four.toml"),), "use verify or budget"),
    ],
)  # fmt: skip
def test_mistakes(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What does not go together is told, with exit code 2."""
    assert run(["sample", *arguments, "--runs", "100"]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
