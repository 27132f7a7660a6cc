"""Divergences of packages beside this one: all commands take them, and the kernel has no code of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from three_checkers import built, by_program

from paramverify.cli.main import run
from paramverify.divergences import Renyi
from paramverify.divergences.registry import kinds, measures
from paramverify.reports.case_schema import schema

THRESHOLDS = """
from itertools import accumulate

from paramverify.divergences import SumDivergence
from paramverify.divergences.reading import sum_kind


class Thresholds(SumDivergence):
    key = "thresholds"
    title = "largest ratio over thresholds"

    def sums(self, outputs):
        left, right = zip(*outputs)
        for p, q in zip(accumulate(left), accumulate(right)):
            yield [(p * sum(left), q)]


DIVERGENCE = sum_kind(Thresholds, "The bound of the largest Pr(o <= t | left) / Pr(o <= t | right).")
"""
DOUBLED = """
from paramverify.algebra.polynomials import RationalFunction
from paramverify.divergences import HockeyStick
from paramverify.divergences.reading import DivergenceKind, in_words, read_probability
from paramverify.tables import EXPRESSION, Key


def read(privacy, checks):
    expression = privacy.expression("doubled")
    delta = read_probability(expression, checks, "doubled")
    two = RationalFunction.of(checks.ring.number(2))
    return HockeyStick(two, delta, "doubled"), in_words("doubled", expression, checks)


DIVERGENCE = DivergenceKind(Key("doubled", EXPRESSION, "How much beyond twice as much."), read)
"""
CASE = """
[parameters]
p = "(0, 1)"

[prior]
infected = { binomial = [2, "p"] }

[mechanism]
kind = "geometric"
query = "infected"
noise = { truncated_geometric = "1/2", range = 2 }

[secrets]
somebody = "infected >= 1"
anything = "true"
pairs = [["somebody", "anything"]]

[privacy]
KEY = "BOUND"
"""

Call = Callable[..., str]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs a command with the plugins installed in a folder of the path, and returns what it prints."""
    page = (ROOT / "docs/extending.md").read_text()
    codes = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    (le_cam,) = (found for found in codes if "DIVERGENCE =" in found)
    info = tmp_path / "distances-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: distances\nVersion: 1.0\n")
    points = "le_cam = le_cam_page\nthresholds = thresholds_test\ndoubled = doubled_test\n"
    (info / "entry_points.txt").write_text(f"[paramverify.divergences]\n{points}")
    (tmp_path / "le_cam_page.py").write_text(le_cam)
    (tmp_path / "thresholds_test.py").write_text(THRESHOLDS)
    (tmp_path / "doubled_test.py").write_text(DOUBLED)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def called(*arguments: str, code: int = 0) -> str:
        found = run([*arguments])
        shown = capsys.readouterr()
        assert found == code, shown.out + shown.err
        return shown.out

    return called


def case(key: str, bound: str) -> str:
    """Writes a case with that bound, and returns its name."""
    path = Path(f"{key}-{bound.replace('/', '-')}.toml")
    path.write_text(CASE.replace("KEY", key).replace("BOUND", bound))
    return str(path)


def checked(call: Call, file: str, *command: str, code: int = 0) -> str:
    """Returns what is said of the evidence of a command, with its case; it is also checked without."""
    call(*command, file, "--evidence", "e.json", code=code)
    assert "REJECTED" not in call("check", "e.json")
    return call("check", "e.json", "--case", file)


@pytest.mark.parametrize(
    ("key", "fine", "least", "below"), [("le_cam", "1/5", "1/9", "1/10"), ("thresholds", "2", "2", "3/2")]
)
def test_quotients(call: Call, key: str, fine: str, least: str, below: str) -> None:
    """Verdicts, least bounds, safe values and violating priors have evidence that stands."""
    good, bad = case(key, fine), case(key, below)
    shown = call("verify", good)
    assert f"private: {key} = {fine} for every prior" in shown
    assert f"the divergence {key} is that of the plugin" in shown
    told = checked(call, good, "verify")
    assert f"not read a second time: the measure {key}" in told
    assert f"checked: private ({key} = {fine})" in told
    assert "checked: a violation" in checked(call, bad, "verify", code=1)
    told = call("budget", bad)
    assert f"least {key} {least}" in told
    assert f"the divergence {key} is that of the plugin" in told
    assert "checked: a budget" in checked(call, bad, "budget")
    assert f"private: {key} = {fine} for p in (0, 1)" in call("synthesize", good)
    assert "checked: a region map" in checked(call, good, "synthesize")
    assert "checked: a violation" in checked(call, bad, "synthesize", "--witness", code=1)
    assert "not a violation" in call("certify", good, "--at", "p=1/2")
    call("report", bad, "-o", "page.html", code=1)
    assert key in Path("page.html").read_text()


def test_sampling_needs_a_divergence_that_does_not_grow(call: Call) -> None:
    """Events give lower bounds only of a divergence that no function of the outputs makes larger."""
    options = ("--at", "p=1/1000", "--runs", "4000", "--seed", "1")
    found = json.loads(call("sample", case("le_cam", "1/20"), *options, "--json", code=1))
    assert found["status"] == "rejected"
    call("sample", case("thresholds", "3/2"), *options, code=2)
    assert call("sample", case("thresholds", "3/2"), *options, "--audit", "--direct")


def test_sets_of_outputs(call: Call) -> None:
    """A hockey-stick divergence by another name has the claims about sums, and their evidence."""
    good, bad = case("doubled", "1/5"), case("doubled", "1/1000000")
    told = checked(call, good, "verify")
    assert "not read a second time: the measure doubled" in told
    assert "checked: private (doubled = 1/5)" in told
    call("verify", bad)
    assert "private: doubled" in call("synthesize", good)


def test_its_key_is_known(call: Call) -> None:
    """The key stands in the schema, takes the place of other bounds, and has no bound beside it."""
    assert {"le_cam", "thresholds", "doubled"} < kinds().keys() & {*measures()}
    both = Path(case("le_cam", "1/5"))
    both.write_text(both.read_text() + 'ratio = "2"\n')
    call("verify", str(both), code=2)
    assert "largest Pr(o <= t" in json.dumps(schema())


def test_values_are_exact(call: Call) -> None:
    """The divergence of two distributions is exact for fractions, and infinite where a quotient is."""
    one = [(Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 2), Fraction(3, 4))]
    from le_cam_page import LeCam  # type: ignore[import-not-found]

    unbounded: Any = None
    assert LeCam(unbounded).value(one) == Fraction(1, 2) * (Fraction(1, 12) + Fraction(1, 20))
    assert Renyi(unbounded, 2).value([(1.0, 0.0), (0.0, 1.0)]) == float("inf")


SLIPS = {  # bodies of a class, and what is said of them
    "`merged` is set": "less, merged = 1, True\n    def sums(self, o):\n"
    "        whole = sum(p for p, q in o)\n        yield [((p - q) ** 2, whole) for p, q in o]",
    "also be a factor of the sums": "less = 1\n    def sums(self, o):\n        yield [(p, q) for p, q in o]",
    "yields no sum": "less = 1\n    def sums(self, o):\n        return []",
    "without `less = 1`": "def sums(self, o):\n        yield [((p - q) ** 2, q) for p, q in o]",
    "`processed` is set": "less, processed = 1, True\n    def sums(self, o):\n"
    "        whole = sum(p for p, q in o)\n        yield [(p * q, whole) for p, q in o]",
}


@pytest.mark.parametrize("reason", SLIPS)
def test_what_it_declares_is_tried(
    call: Call, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A word about the sums that is not so is an error of the package, whatever the case says."""
    code = (tmp_path / "thresholds_test.py").read_text()
    head, tail = code.split("    def sums")[0], code[code.index("\n\nDIVERGENCE") :]
    name = f"slip_{[*SLIPS].index(reason)}"
    (tmp_path / f"{name}.py").write_text(f"{head}    {SLIPS[reason]}\n{tail}".replace("thresholds", name))
    info = tmp_path / "slips-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slips\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[paramverify.divergences]\n{name} = {name}\n")
    found = subprocess.run(
        [sys.executable, "-m", "paramverify", "verify", case(name, "1")],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, reason in found.stderr) == (2, True), found.stderr


def test_outputs_that_contribute_most_are_its_own(call: Call, tmp_path: Path) -> None:
    """A witness names the outputs with the largest quotients of the sum, or those that are infinite."""
    table = """[mechanism]
kind = "release"
query = "x"
inputs = { x = { values = [0, 1] } }
[mechanism.table]
0 = { a = "TOP", b = "REST" }
1 = { a = "1/10", b = "9/10" }
[neighbours]
related = "x != y"
[privacy]
le_cam = "1/1000"
"""
    for top, rest in (("1/2", "1/2"), ("0", "1")):
        Path("table.toml").write_text(table.replace("TOP", top).replace("REST", rest))
        witness = json.loads(call("verify", "table.toml", "--json", code=1))["witness"]
        assert witness["largest"][0]["output"] == ["a"]  # (p - q)**2/(p + q) is larger there


def test_the_proved_checker_says_the_same(call: Call) -> None:
    """Evidence of a plugin's divergence is accepted by the program of Coq, with its witness and without."""
    program = built()
    for command, bound, code in (("verify", "1/5", 0), ("verify", "1/10", 1), ("budget", "1/5", 0)):
        call(command, case("le_cam", bound), "--evidence", "e.json", code=code)
        (answer,) = by_program(program, [Path("e.json")])
        assert answer.word == "accepted", answer.lines
