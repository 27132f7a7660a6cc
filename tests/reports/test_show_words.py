"""What `show` prints is what the functions are: LaTeX and factored forms evaluated again; notes on noise."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
import sympy

from paramverify.cli.main import run

CASE = """
[parameters]
p = "(0, 1)"
q = "(0, 1)"
[define]
f0 = "p - 2"
f1 = "(p - 2)/(q + 1)"
f2 = "-p*q"
f3 = "1/(2*q + 2)"
f4 = "1/2"
f5 = "(2*p - 3)*(q - 4)/7"
f6 = "p - p"
f7 = "-(p + 1)**2"
f8 = "-1/3"
f9 = "exp(-1/2)*p - 1"
[claim]
holds = "f0 <= 1"
"""

TRUE = (
    *("p - 2", "(p - 2)/(q + 1)", "-p*q", "1/(2*q + 2)", "1/2", "(2*p - 3)*(q - 4)/7", "0"),
    *("-(p + 1)**2", "-1/3", "p/E - 1"),
)


def evaluated(text: str) -> sympy.Expr:
    """The value of an expression of ours or of LaTeX at p = 2/5, q = 3/7, E = 5/3."""
    changed = text.replace("^", "**").replace(r"\left", "").replace(r"\right", "")
    while match := re.search(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", changed):
        changed = changed[: match.start()] + f"(({match[1]})/({match[2]}))" + changed[match.end() :]
    changed = re.sub(r"\{(\d+)\}", r"\1", changed)
    changed = re.sub(r"(?<=[\w)])\s+(?=[\w(])", "*", changed)
    values = {"p": sympy.Rational(2, 5), "q": sympy.Rational(3, 7), "E": sympy.Rational(5, 3)}
    names = {name: sympy.Symbol(name) for name in values}
    return sympy.sympify(changed, locals=names).subs({names[n]: v for n, v in values.items()})


def test_forms_are_the_functions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Expanded, factored and LaTeX form have the value of the function; nothing is multiplied by one."""
    path = tmp_path / "case.toml"
    path.write_text(CASE)
    assert run(["show", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert run(["show", str(path), "--latex"]) == 0
    latex = capsys.readouterr().out
    rows = re.findall(r"\\mathit\{f\d\} &= (.*) \\\\", latex)
    assert len(rows) == len(TRUE) == len(document["definitions"])
    for row, true, forms in zip(rows, TRUE, document["definitions"], strict=True):
        value = evaluated(true)
        assert evaluated(forms["formula"]) == value
        assert evaluated(forms["factored"]) == value
        assert evaluated(row) == value
        assert not re.match(r"1 (\\cdot )?\\frac", row)
    assert r"E &= e^{1/2} \\" in latex
    assert document["E"] == "exp(1/2)"


@pytest.mark.parametrize(
    ("name", "defined"), [("discrete-laplace", True), ("geometric-contagious-ln2", False)]
)
def test_the_constant_is_defined_where_it_occurs(
    name: str, defined: bool, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text, LaTeX and JSON say what E is, and only where it is."""
    path = str(root / "cases" / f"{name}.toml")
    assert run(["show", path]) == 0
    assert ("E = exp(1/2)" in capsys.readouterr().out) == defined
    assert run(["show", path, "--latex"]) == 0
    out = capsys.readouterr().out
    assert ("where $E = e^{1/2}$" in out) == defined
    assert r"1 \cdot" not in out
    assert run(["show", path, "--json"]) == 0
    assert ("E" in json.loads(capsys.readouterr().out)) == defined


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("noisy-max-3-above", "truncated to 0..2 before the answers are compared"),
        ("above-threshold", "the textbook's sparse vector technique"),
        ("geometric-neighbours", ""),
    ],
)
@pytest.mark.parametrize("command", ["show", "verify", "budget"])
def test_truncated_noise_is_told(
    command: str, name: str, told: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where noise is truncated before something is compared, a note beside the answer says so."""
    path = str(root / "cases" / f"{name}.toml")
    run([command, path])
    out = capsys.readouterr().out
    run([command, path, "--json"])
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert ("Note: the noise is truncated" in out) == bool(told)
    assert told in out
    assert any(told in note for note in notes) or not told


def test_a_table_of_noise_is_not_truncated(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Noise that is given row by row is what it is."""
    text = (root / "cases" / "noisy-max-3-above.toml").read_text()
    rows = [[str(Fraction(n, 6)) for n in row] for row in ((4, 1, 1), (2, 2, 2), (1, 1, 4))]
    path = tmp_path / "case.toml"
    path.write_text(text.replace('{ truncated_geometric = "1/2", range = 2 }', f"{{ table = {rows} }}"))
    assert run(["verify", str(path)]) == 0
    assert "truncated" not in capsys.readouterr().out


def test_a_product_is_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Factors add nothing to a single term, and are shown beside a sum."""
    case = tmp_path / "case.toml"
    parameters = '[parameters]\np = "(0, 1)"\nq = "(0, 1)"\n'
    case.write_text(f'{parameters}[define]\nf = "q*p"\ng = "p + p*q"\n[claim]\nholds = "f <= g"\n')
    assert run(["show", str(case)]) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    shown = {line[0]: line[1] for line in lines if line[:1] in (["f"], ["g"])}
    assert shown["f"] in ("p*q", "q*p")
    assert " = " in shown["g"]


def test_checked_lines_have_no_empty_words(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A claim that comes from no comparison is told by its number; a whole number has no denominator."""
    text = (root / "cases" / "randomized-response.toml").read_text(encoding="utf-8")
    text = text.replace('p = "(0, 1)"', 'p = "(0, 1)"\nr = "(0, 1)"\nconstraints = ["p + r < 1"]')
    text = text.replace('record = { bernoulli = "p" }', 'record = { bernoulli = "p + r" }')
    text = text.replace('"[1/2, 1)"', '"2/3"').replace('"t/(1 - t)"', "2")
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    case.write_text(text, encoding="utf-8")
    assert run(["budget", str(case), "--evidence", str(evidence)]) == 0
    capsys.readouterr()
    assert run(["check", str(evidence)]) == 0
    out = capsys.readouterr().out
    assert "()" not in out
    assert "is said to be 2; neither" in out
    assert out.count("claim ") > out.count(" against ")  # the row of the prior is an obligation


@pytest.mark.parametrize(
    ("case", "named"),
    [("cases/programs/sparse-vector.toml", "input"), ("cases/geometric-contagious-ln2.toml", "secret")],
)
def test_sides_are_inputs_or_secrets(case: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Neighbours are inputs, as Python's `show()` says; what a prior is conditioned on is a secret."""
    assert run(["show", case]) == 0
    assert capsys.readouterr().out.split("\n")[1].split() == [named, "output", "probability"]
