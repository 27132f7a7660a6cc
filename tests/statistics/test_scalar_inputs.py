"""An input of one value is handed over as this value, and not as a tuple of one, wherever code is sampled."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import paramverify
from paramverify import flip
from paramverify.cli.main import run
from paramverify.errors import InputError
from paramverify.statistics.black_boxes import alone, read_input
from paramverify.statistics.sampling_runs import Runs

GIVEN: list[Any] = []

NEAR = "[neighbours]\ndiffer = 'each'\nby = 'any'\n[privacy]\nratio = 2\n"
PROGRAM = "[mechanism]\nkind = 'program'\nsource = 'output({})'\n[mechanism.inputs]\n{}\n" + NEAR
PRIOR = (
    "[prior]\na.bernoulli = '1/2'\n[secrets]\nyes = 'a == 1'\nno = 'a == 0'\npairs = [['yes', 'no']]\n"
    "[privacy]\nratio = 2\n[mechanism]\n"
)
NOISE = "noise = { truncated_geometric = '1/2', range = 1 }\n"
CASES: Mapping[str, tuple[str, set[Any]]] = {
    "a number of a program": (PROGRAM.format("n", "n = { values = '0..1' }"), {0, 1}),
    "a fraction": (PROGRAM.format("n", "n = { values = [0, '1/2'] }"), {0, 0.5}),
    "a label": (PROGRAM.format("n", "n = { values = ['no', 'yes'] }"), {"no", "yes"}),
    "labels that look like truth values": (
        PROGRAM.format("n", "n = { values = ['True', 'False'] }"),
        {"True", "False"},
    ),
    "an array of one": (PROGRAM.format("n[0]", "n = { length = 1, values = '0..1' }"), {(0,), (1,)}),
    "an array of two": (
        PROGRAM.format("n[0]", "n = { length = 2, values = '0..1' }"),
        {(0, 0), (0, 1), (1, 0), (1, 1)},
    ),
    "two numbers": (
        PROGRAM.format("n + m", "n = { values = '0..1' }\nm = { values = [5] }"),
        {(0, 5), (1, 5)},
    ),
    "an expression over a prior": (
        PRIOR + "kind = 'program'\nsource = 'output(n)'\n[mechanism.inputs]\nn = 'a'\n",
        {0, 1},
    ),
    "a query": (PRIOR + f"kind = 'geometric'\nquery = 'a'\n{NOISE}", {0, 1}),
    "a list of one query": (PRIOR + f"kind = 'noisy_max'\nqueries = ['a']\n{NOISE}", {(0,), (1,)}),
    "a release": (PRIOR + "kind = 'release'\nquery = 'a'\n", {0, 1}),
}


def record(rng: np.random.Generator, given: Any) -> int:
    """Keeps what it is given."""
    GIVEN.append(given)
    return 0


@pytest.fixture(autouse=True)
def _fresh() -> None:
    GIVEN.clear()


def exact(values: list[Any]) -> set[tuple[type, Any]]:
    """Returns values with their types, so that True is not 1."""
    return {(type(v), v) for v in values}


@pytest.mark.parametrize("name", CASES)
def test_what_code_is_given_for_a_case(name: str) -> None:
    """One value is a value; arrays, lists of queries and several inputs are tuples."""
    text, wanted = CASES[name]
    case = paramverify.loads(text)
    paramverify.sample(case, record, goal="audit", runs=3)
    assert exact(GIVEN) == exact(list(wanted))


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [(("0", "1/2"), (0, 0.5)), (("yes", "no"), ("yes", "no")), (("1,0", "1,1"), ((1, 0), (1, 1)))],
)
def test_what_code_is_given_without_a_case(texts: tuple[str, str], wanted: tuple[Any, Any]) -> None:
    """`--neighbours 0 1` hands over 0 and 1, and `--neighbours 1,0 1,1` tuples."""
    source, (experiment,) = alone(record, [("", read_input(texts[0]), read_input(texts[1]))], 1)
    sampled = Runs(source, 1)
    for side in (0, 1):
        sampled.counts(0, experiment, side, 2)
    assert exact(GIVEN) == exact(list(wanted))


def truth(rng: np.random.Generator, sick: Any) -> bool:
    """Randomised response by the truth value of the input: a tuple of one is true always."""
    return bool(sick) if rng.random() < 0.75 else not bool(sick)


def added(rng: np.random.Generator, sick: Any) -> int:
    """The same by arithmetic."""
    return int(sick + (rng.random() >= 0.75)) % 2


def label(rng: np.random.Generator, sick: Any) -> int:
    """The same by comparing with a number."""
    return int((sick == 1) == (rng.random() < 0.75))


@pytest.mark.parametrize(
    ("code", "released"),
    [
        (truth, "n == 1 if flip(3/4) else n == 0"),
        (added, "n if flip(3/4) else 1 - n"),
        (label, "n if flip(3/4) else 1 - n"),
    ],
)
@pytest.mark.parametrize("wrong", [False])
def test_right_code_is_accepted(
    code: Callable[..., Any], released: str, wrong: bool, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code that uses its input as one value agrees with the model in Python and by the command; wrong code
    does not."""
    text = PROGRAM.format(released, "n = { values = '0..1' }")
    shipped = (lambda rng, n: code(rng, 1 - n)) if wrong else code
    found = paramverify.sample(paramverify.loads(text), shipped, goal="audit", runs=4_000)
    assert found.passes != wrong
    if not wrong:
        (tmp_path / "case.toml").write_text(text)
        name = f"{__name__}:{code.__name__}"
        arguments = [str(tmp_path / "case.toml"), "--mechanism", name, "--audit", "--runs", "4000", "--json"]
        assert run(["sample", *arguments]) == 0
        json.loads(capsys.readouterr().out)


def test_functions_that_are_mechanisms() -> None:
    """The audit of a decorated function hands over what its argument is in a call."""

    @paramverify.mechanism(inputs={"n": {"values": [0, 1]}}, neighbours={"differ": "one"}, ratio=3)
    def answer(n):  # type: ignore[no-untyped-def]
        return n if flip(3 / 4) else 1 - n

    assert answer.audit(added, runs=4_000).passes
    assert answer.audit(runs=4_000).passes
    assert not answer.audit(lambda rng, n: added(rng, 1 - n), runs=4_000).passes


def test_the_message_has_the_value() -> None:
    """What code raises is told with the input as it was given."""

    def fails(rng: np.random.Generator, given: Any) -> Any:
        return given[0]

    case = paramverify.loads(CASES["a number of a program"][0])
    with pytest.raises(InputError, match=r"\(for the input 0\)"):
        paramverify.sample(case, fails, goal="audit", runs=3)
