"""`paramverify sample`: what it prints, its exit codes, and its messages."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from paramverify.cli.main import run

CASES = Path(__file__).parents[2] / "cases"


FAST = ("--runs", "20000", "--seed", "1")


def sample(capsys: pytest.CaptureFixture[str], name: str, *arguments: str) -> tuple[int, str, str]:
    code = run(["sample", str(CASES / f"{name}.toml"), *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def document(capsys: pytest.CaptureFixture[str], name: str, *arguments: str) -> tuple[int, Any]:
    code, out, _ = sample(capsys, name, *arguments, "--json")
    return code, json.loads(out)


@pytest.mark.slow
def test_command_tests(capsys: pytest.CaptureFixture[str]) -> None:
    """The command tests the case's budget and others, and never calls a case private."""
    code, out, _ = sample(capsys, "noisy-max-naive-3-ln2", *FAST)
    assert code == 1
    assert out.startswith("rejected by the test: epsilon ≈ 0.693147 (p ")
    assert "tests prove nothing" in out
    code, out, _ = sample(capsys, "noisy-max-naive-3-ln8", *FAST)
    assert code == 3
    assert out.startswith("not rejected by the test: epsilon ≈ 2.07944")
    code, found = document(capsys, "noisy-max-naive-3-ln8", *FAST, "--epsilon", "1.5,2.5")
    assert code == 1
    assert found["status"] == "rejected"
    assert [row["epsilon"] for row in found["tested"]] == [1.5, 2.5]
    assert found["tested"][0]["p"] < 0.05 < found["tested"][1]["p"]
    assert found["lower_bound"]["epsilon"] < math.log(8)


@pytest.mark.slow
def test_command_certifies(capsys: pytest.CaptureFixture[str]) -> None:
    """Candidates are violations with exact probabilities, or spurious, and the exit code says which."""
    code, found = document(capsys, "noisy-max-contagious", *FAST, "--certify", "--at", "pA=1/2,pB=1/2,pC=1/2")
    assert (code, found["status"]) == (1, "violated")
    assert found["witness"]["ratio"] == "287/107"
    for seed in range(10):
        name = "noisy-max-naive-3-ln8"
        code, out, _ = sample(capsys, name, "--runs", "20000", "--seed", str(seed), "--certify")
        assert code == 3
        if "Spurious: output 3" in out:
            break
    assert "exactly 8 times as likely, within 8" in out
    code, out, _ = sample(capsys, "geometric-independent", *FAST, "--certify", "--at", "p=1/2")
    assert code == 3
    assert out.startswith("no candidate, which proves nothing")
    arguments = ("--certify", "--mechanism", "sampled_mechanisms:rounded_laplace", "--epsilon", "0.3")
    code, out, _ = sample(capsys, "geometric-neighbours", *FAST, *arguments)
    assert code == 3
    assert "This is about the model; use --audit to test" in out
    assert "Spurious" not in out
    code, _, error = sample(capsys, "above-threshold", *FAST, "--certify", "--length", "6")
    assert code == 2
    assert "--length must be at most 5, the length of the case, but it is 6" in error


@pytest.mark.slow
def test_command_searches(capsys: pytest.CaptureFixture[str]) -> None:
    """The search prints the exact ratio, and whether it is reached."""
    code, out, _ = sample(capsys, "noisy-max-3-above", *FAST, "--search")
    assert out.startswith("tight budget: ratio 24/7 (≈ 3.42857), epsilon ≈ 1.23214369, proved (")
    code, found = document(capsys, "geometric-independent", *FAST, "--search")
    assert (code, found["status"], found["ratio"], found["attained"]) == (0, "found", "2", False)


@pytest.mark.slow
def test_command_audits(capsys: pytest.CaptureFixture[str]) -> None:
    """An audit tells the input and the output that is farthest off; the exit code is 1, or 0 if none is."""
    arguments = (*FAST, "--audit", "--mechanism")
    code, out, _ = sample(capsys, "geometric-neighbours", *arguments, "sampled_mechanisms:off_by_one")
    assert code == 1
    assert out.startswith("differs from the model: 3 of 3 inputs, 20,000 runs each, level 0.01.")
    code, out, _ = sample(capsys, "geometric-neighbours", *arguments, "sampled_mechanisms:leaking")
    assert "output 7 came" in out
    assert "the model says it is impossible" in out
    code, found = document(capsys, "geometric-neighbours", *arguments, "sampled_mechanisms:geometric")
    assert (code, found["status"]) == (0, "no difference found")
    assert len(found["inputs"]) == 3
    code, _, error = sample(capsys, "geometric-neighbours", "--audit")
    assert code == 2
    assert "add --mechanism or --direct" in error


@pytest.mark.slow
def test_command_with_a_black_box(capsys: pytest.CaptureFixture[str]) -> None:
    """A leaking implementation of a private case is rejected, although its model is private."""
    arguments = (*FAST, "--mechanism", "sampled_mechanisms:laplace", "--epsilon", "0.8")
    code, found = document(capsys, "geometric-neighbours", *arguments)
    assert (code, found["status"]) == (1, "rejected")
    code, found = document(capsys, "geometric-neighbours", *FAST, "--direct", "--epsilon", "0.8")
    assert (code, found["status"]) == (3, "not rejected")


@pytest.mark.slow
def test_plots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The plot has both axes; tests of `logic` write other formats."""
    file = tmp_path / "plot.svg"
    code, _, error = sample(capsys, "geometric-neighbours", *FAST, "--plot", str(file))
    assert code == 3, error
    text = "".join(ElementTree.parse(file).getroot().itertext())
    assert "p-value" in text
    assert "budget" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--plot", "plot.jpg"), "pictures are written as .svg, .png or .pdf"),
        (("--epsilon", "-1"), "a budget must not be negative"),
        (("--epsilon", "1e400"), "a budget must be at most 700 to be tested"),
        (("--epsilon", ","), "no budget is given"),
        (("--mechanism", "a:b", "--direct"), "--mechanism and --direct exclude each other"),
        (("--at", "x=1"), "there is no parameter 'x'"),
        (("--audit", "--direct", "--plot", "a.svg"), "no plot of an audit: leave --plot out"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Mistakes are told before anything is sampled."""
    code, _, error = sample(capsys, "geometric-neighbours", *arguments)
    assert code == 2
    assert message in error


@pytest.mark.slow
def test_parametric_budgets_need_a_point(capsys: pytest.CaptureFixture[str]) -> None:
    """A budget that depends on parameters is a number only at a point."""
    code, _, error = sample(capsys, "geometric-symbolic-2", *FAST)
    assert code == 2
    assert "add --at or --epsilon" in error
    code, out, _ = sample(capsys, "geometric-symbolic-2", *FAST, "--at", "alpha=1/2")
    assert code == 3
    assert "epsilon ≈ 0.693147" in out


@pytest.mark.slow
def test_without_the_extra(tmp_path: Path) -> None:
    """Without numpy, scipy or scikit-learn the command says what to install; others run as before."""
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util\nfind = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *a: None if name == 'sklearn' else find(name, *a)\n"
    )
    command = [sys.executable, "-m", "paramverify", "sample", str(CASES / "geometric-neighbours.toml")]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "sampling needs numpy, scipy and scikit-learn: pip install 'paramverify[stats]'" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_timeout(workers: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The time limit ends runs that would take long, in this process or in others, with exit code 3."""
    arguments = ("--mechanism", "sampled_mechanisms:slow", "--workers", workers, "--timeout", "1")
    code, _, error = sample(capsys, "geometric-neighbours", *arguments)
    assert code == 3
    assert "time limit" in error
    assert not multiprocessing.active_children()


def test_cases_without_privacy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A case that is an inequality of its own has nothing to sample."""
    file = tmp_path / "case.toml"
    file.write_text('[parameters]\np = "(0, 1)"\n[claim]\nholds = "p*(1-p) <= 1/4"\n')
    assert run(["sample", str(file)]) == 2
    assert "sample needs a case about privacy" in capsys.readouterr().err


def test_levels_above_one_half(capsys: pytest.CaptureFixture[str]) -> None:
    """A level that averaged p-values do not keep is refused, with the reason."""
    code, _, error = sample(capsys, "geometric-neighbours", "--level", "0.7")
    assert code == 2
    assert "the test does not keep a larger level" in error


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "end"), [("1", "os._exit(0)"), ("2", "os.abort()")])
def test_a_mechanism_that_ends_the_process(workers: str, end: str, tmp_path: Path) -> None:
    """The end of the process is told as the mechanism's, with exit code 2."""
    (tmp_path / "ends_it.py").write_text(f"import os\ndef f(rng, given, size): {end}\n")
    command = [sys.executable, "-m", "paramverify", "sample", "--mechanism", "ends_it:f", "--neighbours"]
    command += ["0", "1", "--epsilon", "1", "--workers", workers]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the mechanism ended the process" in done.stderr
