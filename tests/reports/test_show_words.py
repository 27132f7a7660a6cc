"""What `show` prints is what the functions are: LaTeX and factored forms evaluated again; notes on noise."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import sympy
from matplotlib.mathtext import MathTextParser

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
    assert "E &= e^{1/2} \\\\\n" in latex
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
    ("command", "name", "told"),
    [
        ("budget", "noisy-max-3-above", "truncated to 0..2 before the mechanism compares the answers"),
        ("verify", "above-threshold", "the textbook's sparse vector technique"),
        ("verify", "geometric-neighbours", ""),
    ],
)
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


@pytest.mark.parametrize(
    ("case", "named"),
    [("cases/programs/sparse-vector.toml", "input"), ("cases/geometric-contagious-ln2.toml", "secret")],
)
def test_sides_are_inputs_or_secrets(case: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Neighbours are inputs, as Python's `show()` says; what a prior is conditioned on is a secret."""
    assert run(["show", case]) == 0
    assert capsys.readouterr().out.split("\n")[1].split() == [named, "output", "probability"]


# --- which rows, and LaTeX ---------------------------------------------------------------------------


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Runs `show` and returns the exit code, the output and the messages."""
    code = run(["show", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_rows_are_chosen(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--limit` says how many more there are; `--observations` and `--length` choose sequences."""
    path = str(root / "cases" / "geometric-independent.toml")
    code, out, err = called(capsys, path, "--limit", "2", "--json")
    document = json.loads(out)
    assert code == 0
    assert len(document["probabilities"]) == 2
    assert (document["complete"], document["left_out"]) == (False, 4)
    assert "there are 4 more" in err
    whole = json.loads(called(capsys, path, "--json")[1])
    assert (whole["complete"], whole["left_out"]) == (True, 0)
    one = json.loads(called(capsys, path, "--json", "--observations", "1")[1])
    assert one["probabilities"] == [r for r in whole["probabilities"] if r["observations"] == ["1"]]
    assert json.loads(called(capsys, path, "--json", "--length", "1")[1]) == whole
    code, _, err = called(capsys, path, "--length", "2")
    assert (code, "sequences of length 1, not 2" in err) == (2, True)
    assert called(capsys, path, "--length", "1", "--observations", "1")[0] == 2
    assert called(capsys, path, "--observations", "7")[0] == 2


def test_one_length_of_all(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A case about every length shows the sequences of a length that is asked for; their sum is one."""
    path = str(root / "cases" / "survey-memory-all.toml")
    assert called(capsys, path)[0] == 2
    document = json.loads(called(capsys, path, "--length", "2", "--json")[1])
    rows = document["probabilities"]
    assert {len(row["observations"]) for row in rows} == {2}
    names = {str(s) for row in rows for s in re.findall(r"[A-Za-z]\w*", row["formula"])}
    values = {name: sympy.Rational(k, 7) for k, name in enumerate(sorted(names), start=2)}
    for secret in {row["secret"] for row in rows}:
        texts = [row["formula"].replace("^", "**") for row in rows if row["secret"] == secret]
        total = sum(
            sympy.sympify(text, locals={n: sympy.Symbol(n) for n in names}).subs(values) for text in texts
        )
        assert total == 1


ESCAPED = re.compile(r"\\(?:[_%&#${}]|textbackslash\{\}|text(?:less|greater|bar)\{\}|textasciitilde\{\})")


def checked(latex: str) -> int:
    """Checks a table or an alignment in LaTeX, formula by formula, and returns how many there are."""
    comments = [line for line in latex.splitlines() if line.startswith("%")]
    assert any("needs \\usepackage{amsmath" in line for line in comments)
    opened = re.findall(r"\\begin\{(.*?)\}", latex)
    assert sorted(opened) == sorted(re.findall(r"\\end\{(.*?)\}", latex))
    formulas: list[str] = []
    for line in latex.splitlines():
        if line.startswith("%") or line.startswith((r"\begin{", r"\end{")) or "rule" in line[:12]:
            continue
        assert not line.startswith("["), "an argument of the line before"
        if opened[0] == "align*":
            formulas += [part for part in line.removesuffix(r" \\").split("&") if part.strip()]
            continue
        math = re.findall(r"(?<!\\)\$(.*)(?<!\\)\$ *\\\\$", line) or re.findall(r"\$(.*?)\$", line)
        for text in math:
            formulas += text.replace(r"\begin{aligned}[t]", "").replace(r"\end{aligned}", "").split(r"\\ &")
        text = ESCAPED.sub("", re.sub(r"(?<!\\)\$.*(?<!\\)\$", "", line).removesuffix(r" \\"))
        assert not re.search(r"[_^#~<>|]", text.replace("endhead", "")), line
    parser = MathTextParser("path")
    for formula in formulas:
        changed = formula.strip().removeprefix("&").replace(r"\quad", "").replace(r"\text{", r"\mathrm{")
        parser.parse(f"${changed.strip() or '1'}$")
    return len(formulas)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "noisy-max-independent",
        "retransmission-any-channel",
        "geometric-contagious-ln2",
    ],
)
def test_latex_is_complete(name: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """LaTeX of each kind of case: environments are closed, text is escaped, every formula is mathematics."""
    path = root / "cases" / f"{name}.toml"
    code, out, _ = called(capsys, str(path), "--latex")
    assert code == 0
    assert checked(out) > 0
    assert max(map(len, re.split(r"\\\\|&", out))) < 400


def test_names_in_latex(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names have their letters and indices, underscores are escaped, and long formulas are broken."""
    case = tmp_path / "case.toml"
    terms = " + ".join(f"{k}*alpha_1**{k}*rate_max" for k in range(1, 12))
    case.write_text(
        '[parameters]\nalpha_1 = "(0, 1)"\nrate_max = "(0, 1)"\n'
        f'[define]\nfirst_one = "alpha_1*rate_max"\nlong = "{terms}"\n[claim]\nholds = "first_one <= long"\n'
    )
    _, out, _ = called(capsys, str(case), "--latex")
    assert checked(out) > 4
    assert r"\mathit{first\_one} &= \alpha_{1} \, \mathrm{rate}_{\mathrm{max}} \\" in out
    assert r"&\quad {}+" in out
    assert r"\text{claim:}\quad & " in out
