"""`verify`, `check` and `show` on automata: exit codes, texts and JSON."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import ROOT
from test_json_formats import mistakes

from paramverify.cli.main import run

CASES = ROOT / "cases" / "automata"
SAME = """(q1, 1/4, 0): x := insample; output oa; goto q2
(q2, 1/4, 0): if (insample < x) then output oa; goto q2 elseif (insample >= x) then output oa; goto q2
"""


@pytest.fixture
def same(tmp_path: Path) -> str:
    """An automaton whose outputs do not tell the way."""
    path = tmp_path / "same.dipa"
    path.write_text(SAME)
    return str(path)


def output(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of a command, and what it prints."""
    code = run(arguments)
    return code, capsys.readouterr().out


def test_verdicts(capsys: pytest.CaptureFixture[str], same: str) -> None:
    """The exit code, the text and the JSON say the same, and JSON has the keys of its page."""
    names = {"sparse-vector": (0, "private"), "every-number": (1, "not private"), "": (3, "undecided")}
    for name, (code, word) in names.items():
        path = str(CASES / f"{name}.dipa") if name else same
        found, text = output(["verify", path], capsys)
        assert (found, text.split("\n")[0].split(":")[0].rstrip(".")) == (code, word)
        found, text = output(["verify", path, "--json"], capsys)
        document = json.loads(text)
        assert (found, document["verdict"]) == (code, word)
        assert list(mistakes(document, "verify of an automaton", name)) == []


def test_evidence(capsys: pytest.CaptureFixture[str], tmp_path: Path, same: str) -> None:
    """Evidence is accepted with its file, and with no other one; an undecided automaton has none."""
    path, case = str(tmp_path / "e.json"), str(CASES / "sparse-vector.dipa")
    run(["verify", case, "--evidence", path])
    assert output(["check", path, "--case", case], capsys)[0] == 0
    code, text = output(["check", path, "--case", str(CASES / "two-ranges.dipa")], capsys)
    assert (code, "the evidence belongs to another case file" in text) == (1, True)
    assert run(["verify", same, "--evidence", str(tmp_path / "none.json")]) == 3
    assert not (tmp_path / "none.json").exists()
    forged = json.loads(Path(path).read_text())
    forged["statements"][0]["automaton"]["states"][0]["mean"] = "7"
    Path(path).write_text(json.dumps(forged))
    assert output(["check", path, "--case", case], capsys)[0] == 1


def test_transitions_that_no_run_takes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """They are named by their numbers in the file, with the lines; JSON has these numbers too."""
    path = tmp_path / "a.dipa"
    path.write_text(
        "(q2, 1/4, 0): if (insample < t) then output oa; goto q2\n"
        "  elseif (insample <= t) then output ob; goto q2\n"
        "  elseif (insample >= t) then output oc; goto q3\n"
        "(q1, 1/4, 0): t := insample; output oa; goto q2\n"
        "(q7, 1/4, 0): output oa; goto q7\n"
    )
    assert (
        "  Note: no run takes transitions 1 (line 2), 4 (line 5).\n"
        in output(["verify", str(path)], capsys)[1]
    )
    document = json.loads(output(["verify", str(path), "--json"], capsys)[1])
    assert list(mistakes(document, "verify of an automaton", "n")) == []
    assert (document["never"], document["transitions"], document["way"]["steps"][:2]) == ([1, 4], 5, [3, 0])
    assert "no run takes" not in output(["verify", str(CASES / "two-ranges.dipa")], capsys)[1]


def test_graph(capsys: pytest.CaptureFixture[str]) -> None:
    """The graph has all transitions, and what leaks in red; a private automaton has nothing red."""
    code, text = output(["show", "--graph", str(CASES / "sparse-vector-never-stops.dipa")], capsys)
    assert code == 0
    assert text.count("->") == 4
    assert text.count("style=bold") == 2
    assert text.count("color=red") == 2 * 3
    assert "red" not in output(["show", "--graph", str(CASES / "sparse-vector.dipa")], capsys)[1]
    assert (
        "3 states, 1 variable, 3 transitions"
        in output(["show", str(CASES / "sparse-vector.dipa")], capsys)[1]
    )


def test_multiples(capsys: pytest.CaptureFixture[str], same: str) -> None:
    """Each multiple has its verdict, and what is too small an epsilon, streams and exact probabilities."""
    private, leaking = str(CASES / "sparse-vector.dipa"), str(CASES / "sparse-vector-never-stops.dipa")
    code, text = output(["verify", private, "--budgets", "1,3/2", "--json"], capsys)
    assert (code, [entry["verdict"] for entry in json.loads(text)["budgets"]]) == (0, ["private"] * 2)
    code, text = output(["verify", leaking, "--budgets", "1/2", "--json"], capsys)
    document = json.loads(text)
    assert code == 1
    assert list(mistakes(document, "verify of an automaton", "m")) == []
    example = document["budgets"][0]["example"]
    left, right = (Fraction(chance) for chance in example["witness"]["probabilities"])
    assert left / right > Fraction(example["witness"]["bound"])
    first, second = ([Fraction(x) for x in stream] for stream in example["streams"])
    assert all(abs(x - y) <= 1 for x, y in zip(first, second, strict=True))
    below, above = example["repetitions"] + 1, example["repetitions"]
    x = Fraction(example["witness"]["parameters"]["x_eps"])
    assert example["witness"]["meaning"]["eps"] == f"4*ln({1 / x})"
    chance = integrated(4 * math.log(1 / x), first[:below], first[below:])
    assert (len(first), chance) == (below + above, pytest.approx(float(left), rel=1e-6))
    assert output(["verify", same, "--budgets", "1"], capsys)[0] == 3
    for given in ("-1", "nan", "1/0", "1e99999999"):
        assert run(["verify", leaking, "--budgets", given]) == 2


def integrated(epsilon: float, below: list[Fraction], above: list[Fraction]) -> float:
    """The chance that numbers with noise lie below and above a noisy threshold, by Simpson's rule."""

    def tail(value: float) -> float:  # the chance that the noise of a number is at most this
        return 1 - math.exp(-value * epsilon / 4) / 2 if value > 0 else math.exp(value * epsilon / 4) / 2

    def density(t: float) -> float:
        chance = epsilon / 4 * math.exp(-abs(t) * epsilon / 2)
        return chance * math.prod(tail(t - x) for x in below) * math.prod(1 - tail(t - x) for x in above)

    count, reach = 8000, 40.0
    points = [-reach + 2 * reach * k / count for k in range(count + 1)]
    factors = [1 if k in (0, count) else 4 if k % 2 else 2 for k in range(count + 1)]
    return sum(f * density(t) for f, t in zip(factors, points, strict=True)) * 2 * reach / count / 3


@pytest.mark.parametrize(
    "option",
    ["--evidence e.json --budgets 1", "--backends z3", "--confirm 2", "--encoding monolithic", "-D a=1"],
)
def test_what_is_not_for_automata(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Options for cases are refused with the reason."""
    assert run(["verify", str(CASES / "sparse-vector.dipa"), *option.split()]) == 2
    told = capsys.readouterr().err
    assert "is an automaton" in told or "leave --budgets out" in told
