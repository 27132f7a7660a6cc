"""The command line as a user meets it: sentences, JSON, exit codes."""

import json
import re
from pathlib import Path

import pytest

from paramverify.cli._commands import commands
from paramverify.cli.main import run
from paramverify.encodings import sequences

CASES = Path(__file__).parents[2] / "cases"


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def case(name: str) -> str:
    return str(CASES / f"{name}.toml")


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """`paramverify --help` names the commands and the exit codes."""
    code, out, _ = call(capsys, "--help")
    assert code == 0
    assert all(name in out for name in commands())
    codes = "1 not private or false, 2 bad input or usage, 3 undecided, 70 a defect of"
    assert codes in " ".join(out.split())


def test_usage_errors_exit_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown command, a missing argument and an unknown backend are usage errors."""
    for arguments in (
        ["frobnicate"],
        ["verify"],
        ["verify", case("geometric-neighbours"), "--backends", "zz"],
    ):
        code, out, err = call(capsys, *arguments)
        assert code == 2
        assert out == ""
        assert "rror" in err


@pytest.mark.parametrize("seconds", ["1e10", "inf", "nan", "0", "-1"])
def test_time_limits_that_no_timer_takes(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A time limit that is no number of seconds is bad usage, not a crash that looks like a violation."""
    for command in ("verify", "budget", "synthesize", "compare"):
        code, out, err = call(capsys, command, case("geometric-independent"), "--timeout", seconds)
        assert (code, out) == (2, "")
        assert "--timeout" in err


@pytest.mark.parametrize("turned", [False, True])
def test_certify_looks_at_both_directions(turned: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """The order of the secrets changes nothing: the ratio 20 of one direction is a violation in both."""
    word = "01⊥,12⊥,12⊥,12⊥,21⊤"
    secrets = [f"{side} answers, threshold 2" for side in ("left", "right")][:: -1 if turned else 1]
    given = ("certify", case("above-threshold"), "--observations", word, "--secrets", *secrets)
    code, out, _ = call(capsys, *given)
    assert code == 1
    assert out.startswith("violation")
    assert " 20 times as likely" in out
    assert "1/20 (0.05) times as likely" in out
    code, out, _ = call(capsys, *given, "--json")
    found = json.loads(out)
    assert (code, found["status"], found["witness"]["ratio"]) == (1, "violation", "20")
    assert [(d["ratio"], d["exceeds"]) for d in found["directions"]] == [("20", True), ("1/20", False)]
    assert found["directions"][0]["secrets"] == found["directions"][1]["secrets"][::-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--observations", "7", "--at", "p=1/2"], "unknown observation '7'; the mechanism has 0, 1, 2"),
        (["--observations", "0", "--at", "p=2"], "this point is not in the domain p in (0, 1)"),
        (["--observations", "0"], "no value for p"),
        (["--observations", "0", "--at", "r=1/2"], "there is no parameter 'r'"),
        (["--observations", "0", "--at", "p"], "write parameter=value"),
        (["--observations", "0", "--at", "p=1/2,p=1/3"], "p is given twice"),
        (
            ["--observations", "0", "--at", "p=1/2", "--secrets", "a", "b"],
            "no such secret pair: 'a' against 'b'",
        ),
    ],
)
def test_certify_mistakes(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Mistakes in a candidate are named."""
    code, out, err = call(capsys, "certify", case("geometric-contagious-ln2"), *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_show_latex(capsys: pytest.CaptureFixture[str]) -> None:
    """The formulas of the paper's Table 1 as LaTeX."""
    _, out, _ = call(capsys, "show", case("geometric-independent"), "--latex")
    assert r"somebody & 0 & $\frac{4 - 3 p}{6 \left(2 - p\right)}$ \\" in out


def test_show_graph(capsys: pytest.CaptureFixture[str]) -> None:
    """The model as DOT has a node for each state and labelled edges."""
    _, out, _ = call(capsys, "show", case("randomized-response"), "--graph")
    assert out.startswith("digraph")
    assert '"1" -> "1" [label="0: 1 - t\\n1: t"];' in out
    assert out.count("{") == out.count("}")


def test_backends_lists_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    """Every backend is listed with its version."""
    code, out, _ = call(capsys, "backends")
    assert code == 0
    assert re.search(r"^z3 +\d+\.\d+", out, re.MULTILINE)


@pytest.mark.slow
def test_too_many_sequences_is_unknown_not_a_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question that is too large for the enumeration is unknown, with the reason and code 3."""
    monkeypatch.setattr(sequences, "MAX_VECTORS", 1_000)
    rows = "\n".join(f'{s} = {{ x = "{k}/10", y = "{10 - k}/10" }}' for k, s in enumerate("abc", 2))
    moves = "\n".join(f'{s} = {{ a = "p/{k}", b = "1 - p/{k}" }}' for k, s in enumerate("abc", 3))
    path = tmp_path / "case.toml"
    path.write_text(
        f"""
        [parameters]
        p = "(0, 1)"
        [mechanism]
        kind = "hmm"
        states = ["a", "b", "c"]
        observations = ["x", "y"]
        [mechanism.emissions]
        {rows}
        [mechanism.transitions]
        {moves}
        [neighbours]
        differ = "each"
        [privacy]
        epsilon = 30
        length = 20
        """
    )
    code, out, _ = call(capsys, "verify", str(path), "--json")
    document = json.loads(out)
    assert (code, document["status"], document["end"]) == (3, "unknown", "gave up")
    assert "different vectors for sequences of length" in document["reason"]
