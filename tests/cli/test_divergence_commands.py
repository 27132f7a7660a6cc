"""Every command on cases of divergences: it answers, or refuses with the reason; none takes them as pure."""

from __future__ import annotations

from pathlib import Path

import pytest

from paramverify.cli.main import run

FOLDER = Path(__file__).parents[2] / "cases" / "divergences"
RENYI, ZCDP = (str(FOLDER / f"{name}.toml") for name in ("geometric-renyi", "geometric-zcdp"))

# What is asked, the exit code for renyi and for zcdp, and what is said to both.
ASKED: list[tuple[str, list[str], int, int, str]] = [
    ("verify", ["--evidence", "EVIDENCE"], 0, 0, "private"),
    ("verify", ["--encoding", "monolithic"], 2, 2, "all outputs together"),
    ("verify", ["--budgets", "1,2"], 0, 0, "private: "),
    ("verify", ["--budgets", "1/10,2"], 1, 1, "not private: "),
    ("verify", ["--budgets", "1,-1"], 2, 2, "--budgets -1"),
    ("budget", ["--precision", "1e-2"], 0, 0, "least"),
    ("budget", ["--precision", "1e-2", "--evidence", "EVIDENCE"], 0, 0, "least"),
    ("budget", ["--delta-for", "1"], 0, 0, "least delta 0"),
    ("synthesize", [], 0, 0, ""),
    ("synthesize", ["--witness", "--objective", "ratio"], 0, 2, ""),
    ("synthesize", ["--near", "p=1/2"], 0, 0, "private: "),
    ("synthesize", ["--evidence", "EVIDENCE"], 0, 2, ""),
    ("certify", ["--at", "p=1/2"], 0, 0, "not a violation"),
    ("certify", ["--at", "p=2"], 2, 2, "not in the domain"),
    ("certify", ["--observations", "1", "--at", "p=1/2"], 2, 2, "leave --observations and --output out"),
    ("show", [], 0, 0, "probability"),
    ("show", ["--graph"], 0, 0, "digraph"),
    ("compare", ["--backends", "bernstein"], 0, 2, ""),
    ("export", ["--to", "smtlib2", "--together"], 0, 2, ""),
    ("sample", ["--at", "p=3/5", "--runs", "10000"], 3, 3, "tests prove nothing"),
    ("explain", [], 0, 0, "claims: "),
]


@pytest.mark.parametrize(("name", "options", "renyi", "zcdp", "words"), ASKED)
def test_commands_answer_or_refuse(
    name: str,
    options: list[str],
    renyi: int,
    zcdp: int,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A command either knows divergences, or ends with code 2 and says in one line why not."""
    monkeypatch.chdir(tmp_path)
    given = [str(tmp_path / "evidence.json") if option == "EVIDENCE" else option for option in options]
    for path, code in ((RENYI, renyi), (ZCDP, zcdp)):
        ended = run([name, path, *given])
        told = capfd.readouterr()
        assert ended == code, told
        assert words in told.out + told.err
        if ended == 2 and "Usage" not in told.err:
            assert len(told.err.strip().splitlines()) == 1


def test_evidence_of_a_composition(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`compose` writes evidence of a number, `check` reads it; a curve has none."""
    written = str(tmp_path / "evidence.json")
    asked = ["compose", "randomized_response:truth=3/4,times=3", "--evidence", written]
    assert run([*asked, "--delta-for", "ln(3)"]) == 0
    assert run(["check", written]) == 0
    assert "delta is 3/8, exactly: computed again" in capfd.readouterr().out
    assert run([*asked, "--curve"]) == 2
    assert "cannot prove a whole curve" in capfd.readouterr().err


@pytest.mark.parametrize("noise", ["geometric(1/2)", "gauss(1)"], ids=["exact", "enclosed"])
def test_a_total_variation_is_not_called_a_delta(
    noise: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What stands in [privacy] is named, and not the delta with which it agrees for epsilon = 0."""
    case = tmp_path / "case.toml"
    case.write_text(
        f'[mechanism]\nkind = "program"\nsource = "output(q + {noise} > 0)"\n[mechanism.inputs]\n'
        'q = { values = "0..1" }\n[neighbours]\ndiffer = "each"\n[privacy]\ntotal_variation = "1/100"\n'
    )
    assert run(["verify", str(case)]) == 1
    told = capfd.readouterr().out
    assert "which is more than total_variation" in told
    assert "Pr(S | 0) - Pr(S | 1)" in told
    assert run(["budget", str(case), "--precision", "1e-3"]) == 0
    told += capfd.readouterr().out
    assert "least total_variation" in told
    case.write_text(case.read_text().replace("1/100", "0"))  # which is a bound of ratios for `verify`
    assert run(["budget", str(case), "--precision", "1e-3"]) == 0
    told += capfd.readouterr().out
    assert told.count("least total_variation") == 2
    assert "delta" not in told
    assert "epsilon" not in told


@pytest.mark.parametrize(
    ("bound", "name"), [("total_variation = 1", "total_variation"), ("ratio = 2\ndelta = 1", "delta")]
)
def test_a_bound_that_every_mechanism_keeps_is_told(
    bound: str, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Even what publishes its input is private then."""
    case = tmp_path / "case.toml"
    case.write_text(
        '[mechanism]\nkind = "program"\nsource = "output(q)"\n[mechanism.inputs]\nq = { values = "0..1" }\n'
        f'[neighbours]\ndiffer = "each"\n[privacy]\n{bound}\n'
    )
    assert run(["verify", str(case)]) == 0
    assert f"Note: every mechanism keeps {name} = 1" in capfd.readouterr().out
