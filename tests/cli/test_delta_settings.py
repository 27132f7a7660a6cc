"""Cases with a delta together with `-D`, `[define]`, `--budgets`, releases and labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paramverify.cli.main import run
from paramverify.kernel.documents import kind_of

CASE = """
[define]
d = "1/9"
a = "1"
base = "1/2"

[parameters]
p = "(0, 1)"

[prior]
x = { bernoulli = "p" }
y = { bernoulli = "p" }

[mechanism]
kind = "release"
query = "x + y"
noise = { truncated_geometric = "base", range = 2 }
labels = { 0 = "none", 1 = "one", 2 = "both" }

[secrets]
yes = "x == 1"
no = "x == 0"
pairs = [["yes", "no"]]

[privacy]
ratio = "a"
delta = "d"
"""


@pytest.fixture
def case(tmp_path: Path) -> str:
    """A file with the case."""
    path = tmp_path / "total.toml"
    path.write_text(CASE, encoding="utf-8")
    return str(path)


def test_a_set_of_labels_breaks_the_bound(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Pr(both) is (p + 1)/3 against (p + 1)/6 and needs (p + 1)/6; {one, both} needs it where p is small."""
    assert run(["verify", case]) == 1
    told = capsys.readouterr().out
    assert "not private: ratio = a (a = 1), delta = d (d = 1/9)." in told
    assert "S = {both}" in told
    assert run(["verify", case, "-D", "d=1/3"]) == 0
    told = capsys.readouterr().out
    assert "delta = d (d = 1/3) for every prior of the case" in told
    assert "set by -D, not by the file: d = 1/3" in told


@pytest.mark.slow
@pytest.mark.parametrize(("set_to", "code"), [("d=1/3", 0), ("d=1/100", 1), ("d=p/3 + 1/3", 0), ("a=2", 0)])
def test_evidence_belongs_to_what_was_set(
    set_to: str, code: int, case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The evidence tells it, has another digest than the file, and is taken with the same values only."""
    path = str(tmp_path / "evidence.json")
    assert run(["verify", case, "-D", set_to, "--evidence", path]) == code
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    assert (kind_of(document), document["case"]["set"]) == ("parts", dict([set_to.split("=")]))
    capsys.readouterr()
    assert run(["check", path, "--case", case, "-D", set_to]) == 0
    assert "read a second time: " in capsys.readouterr().out
    assert run(["check", path, "--case", case]) == 1
    assert run(["check", path, "--case", case, "-D", "d=1/2"]) == 1
    document["case"].pop("set")
    Path(path).write_text(json.dumps(document), encoding="utf-8")
    assert run(["check", path, "--case", case]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("zero", ["d=0", "d=p - p"])
def test_a_delta_that_is_set_to_zero_is_none(
    zero: str, case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The case is pure then: its evidence is about outputs one by one, and both readers take it so."""
    path = str(tmp_path / "evidence.json")
    for ratio, code in (("a=2", 0), ("a=1", 1)):
        assert run(["verify", case, "-D", zero, "-D", ratio, "--evidence", path]) == code
        capsys.readouterr()
        assert run(["check", path, "--case", case, "-D", zero, "-D", ratio]) == 0
        assert "read a second time: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("set_to", "words"),
    [
        ("d=3", "delta must be a probability, from 0 to 1, but it is d (d = 3)"),
        ("d=-1/9", "delta must be a probability"),
        ("a=1/2", "epsilon would be negative"),
        ("delta=1/2", "neither a definition nor a parameter"),
        ("d=2*p", "delta"),
    ],
)
def test_settings_that_give_no_bound_are_refused(
    set_to: str, words: str, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A delta is a probability on the whole domain, whoever sets it."""
    assert run(["verify", case, "-D", set_to]) == 2
    assert words in capsys.readouterr().err


def test_each_budget_has_the_delta_of_the_case(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """{both} needs 2/3 - c/3 where p tends to 1: 1/9 is enough from c = 5/3 on."""
    assert run(["verify", case, "--budgets", "1/10,ln(3/2),ln(5/3),1", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["budgets"]
    assert [entry["verdict"] for entry in found] == ["not private", "not private", "private", "private"]
    assert all(entry["budget"].endswith("delta = d (d = 1/9)") for entry in found)
    assert found[0]["witness"]["delta"] == "1/9"
    assert run(["verify", case, "--budgets", "0,1/10", "-D", "d=1/3"]) == 0


def test_other_commands_take_settings(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With base 1/3 the outputs have other probabilities, and least bounds."""
    assert run(["certify", case, "--at", "p=1/2", "--output", "both"]) == 1
    assert run(["certify", case, "--at", "p=1/2", "--output", "both", "-D", "d=1/4"]) == 0
    capsys.readouterr()
    for asked, words in (
        (["--delta-for", "ln(2)"], "least delta 1/4"),
        (["--epsilon-for", "1/10"], "least ratio 13/5"),
        (["--curve", "--at", "p=1/2"], "ratio 3, epsilon ≈ 1.09862: delta 0"),
    ):
        assert run(["budget", case, *asked, "-D", "base=1/3"]) == 0
        told = capsys.readouterr().out
        assert words in told
        assert "Note: set by -D, not by the file: base = 1/3." in told
    assert run(["explain", case, "-D", "d=1/3"]) == 0
    assert "budget: ratio = a (a = 1), delta = d (d = 1/3)" in capsys.readouterr().out


def test_two_ratios_do_not_hide_the_delta(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The mistake is the second bound; delta is a known key."""
    path = Path(case)
    path.write_text(CASE + 'epsilon = "1"\n', encoding="utf-8")
    assert run(["verify", case]) == 2
    told = capsys.readouterr().err
    assert "give either epsilon or ratio" in told
    assert "unknown key" not in told


def test_the_page_speaks_of_sets(case: str, tmp_path: Path) -> None:
    """The question and the verdict of a page are about sets of outputs."""
    page = tmp_path / "page.html"
    assert run(["report", case, "-o", str(page)]) == 1
    told = page.read_text(encoding="utf-8")
    assert "Is every set of outputs at most e^ε times as likely, plus δ" in told
    assert "Pr(S | σ) ≤ e^ε · Pr(S | τ) + δ" in told
    assert "no output" not in told.lower()
