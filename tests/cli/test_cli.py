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


@pytest.mark.parametrize("name", list(commands()))
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command explains itself with the words of the overview, and takes --json and --timeout."""
    code, out, _ = call(capsys, name, "--help")
    assert code == 0
    assert commands()[name].split(":")[0].split(",")[0] in " ".join(out.split())
    assert "--json" in out
    assert "--timeout" in out


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


def test_holds(capsys: pytest.CaptureFixture[str]) -> None:
    """A proof is told in a sentence and ends with code 0."""
    code, out, _ = call(capsys, "verify", case("noisy-max-independent"))
    assert code == 0
    told = (
        "private: epsilon = ln(2) for every prior of the case over A, B, C in {0..2} with pA in (0, 1), pB in"
    )
    assert out.startswith(told)
    assert "6 claims proved" in out


def test_violated(capsys: pytest.CaptureFixture[str]) -> None:
    """A violation names prior, output, secrets, both probabilities and the ratio, and ends with code 1."""
    code, out, _ = call(capsys, "verify", case("geometric-contagious-ln2"))
    assert code == 1
    assert "With p = 1/2: output 0 is 4 times as likely under 'healthy' as under 'infected'" in out
    assert "Pr(0 | healthy) = 2/3" in out
    assert "beyond the bound 2" in out


@pytest.mark.parametrize("seconds", ["1e10", "inf", "nan", "0", "-1"])
def test_time_limits_that_no_timer_takes(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A time limit that is no number of seconds is bad usage, not a crash that looks like a violation."""
    for command in ("verify", "budget", "synthesize", "compare"):
        code, out, err = call(capsys, command, case("geometric-independent"), "--timeout", seconds)
        assert (code, out) == (2, "")
        assert "--timeout" in err


def test_verify_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON object has the promised keys with exact numbers as strings."""
    code, out, _ = call(capsys, "verify", case("noisy-max-contagious"), "--json")
    assert code == 1
    document = json.loads(out)
    assert document["status"] == "violated"
    assert {"status", "claims", "seconds", "evidence", "witness"} <= document.keys()
    witness = document["witness"]
    assert witness["parameters"] == {"pA": "1/2", "pB": "1/2", "pC": "1/2"}
    assert witness["ratio"] == "287/107"
    assert witness["probabilities"] == ["287/576", "107/576"]
    assert (witness["secrets"], witness["observations"]) == (["infected", "healthy"], ["1"])


def test_certify_calls_the_published_witness_spurious(capsys: pytest.CaptureFixture[str]) -> None:
    """The published witness of the full version's Example 6.3 has ratio 469/289 and is no violation."""
    point = ("--at", "pA=1/2,pB=1/2", "--at", "pC=0.5")
    code, out, _ = call(capsys, "certify", case("noisy-max-contagious"), "--observations", "3", *point)
    assert code == 0
    assert out.startswith("not a violation")
    assert "469/289" in out


def test_certify_published_sequence_of_above_threshold(capsys: pytest.CaptureFixture[str]) -> None:
    """The published sequence has ratio exactly 20."""
    word = "01⊥,12⊥,12⊥,12⊥,21⊤"
    code, out, _ = call(capsys, "certify", case("above-threshold"), "--observations", word, "--json")
    assert code == 1
    assert json.loads(out)["witness"]["ratio"] == "20"


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


def test_show_prints_table_1(capsys: pytest.CaptureFixture[str]) -> None:
    """Example 4's formulas are printed as in the paper's Table 1, with their factored forms."""
    code, out, _ = call(capsys, "show", case("geometric-independent"))
    assert code == 0
    rows = {tuple(line.split()[:2]): line for line in out.splitlines()}
    assert "(4 - 3*p)/(12 - 6*p)" in rows["somebody", "0"]
    assert "(4 - 3*p)/(12 - 6*p)" in rows["somebody", "1"]
    assert "2/(6 - 3*p)" in rows["somebody", "2"]
    assert "(p^2 - 4*p + 4)/6 = (2 - p)^2/6" in rows["anything", "0"]
    assert "(2*p + 1 - 2*p^2)/6" in rows["anything", "1"]
    assert "(p^2 + 2*p + 1)/6 = (p + 1)^2/6" in rows["anything", "2"]


def test_show_latex(capsys: pytest.CaptureFixture[str]) -> None:
    """The same table as LaTeX."""
    _, out, _ = call(capsys, "show", case("geometric-independent"), "--latex")
    assert r"somebody & 0 & $\frac{4 - 3 p}{6 \left(2 - p\right)}$ \\" in out


def test_show_graph(capsys: pytest.CaptureFixture[str]) -> None:
    """The model as DOT has a node for each state and labelled edges."""
    _, out, _ = call(capsys, "show", case("randomized-response"), "--graph")
    assert out.startswith("digraph")
    assert '"1" -> "1" [label="0: 1 - t\\n1: t"];' in out
    assert out.count("{") == out.count("}")


def test_show_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The same table as one JSON object."""
    _, out, _ = call(capsys, "show", case("geometric-independent"), "--json")
    rows = json.loads(out)["probabilities"]
    assert {
        "secret": "anything",
        "observations": ["2"],
        "formula": "(p^2 + 2*p + 1)/6",
        "factored": "(p + 1)^2/6",
    } in rows


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
