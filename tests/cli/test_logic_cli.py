"""`paramverify logic` as a user meets it: sentences, JSON, evidence, exit codes, PRISM files, plots."""

from __future__ import annotations

import json
import re
import signal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from paramverify.algebra.polynomials import RationalFunction
from paramverify.cli.main import run
from paramverify.errors import TimeLimitError
from paramverify.logic import formula_budgets
from paramverify.logic.formula_families import check_property
from paramverify.logic.formula_grammar import read_property
from paramverify.logic.formula_syntax import Property
from paramverify.logic.property_checking import LogicSession
from paramverify.models.chains import prism_files
from paramverify.reports.pictures import privacy_plots

FOLDER = ROOT / "cases" / "logic"
NEIGHBOURS = "s = 0 & s' = 0 & abs(r - r') <= 1"


def call(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = run(["logic", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def without_times(text: str) -> str:
    return re.sub(r"[0-9.e-]+ s\b", "", text)


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, Any]:
    code, out, _ = call(capsys, *arguments, "--json")
    return code, json.loads(out)


def test_violation(capsys: pytest.CaptureFixture[str]) -> None:
    """A violation names state, neighbour, both probabilities and the parameter point; code 1."""
    code, out, _ = call(capsys, FOLDER / "survey-coin.toml", "-p", "D{ln(3), 0}[ X out1 ]")
    assert code == 1
    assert out.startswith("false: property: D{ln(3), 0}[ X out1 ]\n  With c = 3/4: ")
    assert "in state plus with the neighbour minus:" in out
    assert "7/8 (0.875) is more than 3·1/8 (0.125) + 0." in out


def test_json_of_a_violation(capsys: pytest.CaptureFixture[str]) -> None:
    """The witness has parameters, states, formula, both exact probabilities and their ratio."""
    code, found = as_json(capsys, FOLDER / "interactive-survey.toml", "-p", "D{ln(3), 0}[ X out1 ]")
    assert code == 1
    witness = found["witness"]
    assert witness["probabilities"] == ["4/5", "1/5"]
    assert witness["ratio"] == "4"
    assert witness["actions"] == ["H"]
    assert set(witness["secrets"]) == {"plus", "minus"}


@pytest.mark.slow
def test_evidence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Evidence shows what the command says; without the case it says what was not compared."""
    for case, formula, status in (
        ("survey-coin", "D{0, c}[ X out1 ]", "holds"),
        ("survey-coin", "D{0, c/2}[ X out1 ]", "violated"),
        ("survey-coin", "P<1/2 [ X out1 ]", "violated"),
        ("interactive-survey", "P>=9/10 [ X out1 ]", "violated"),
        ("above-threshold-one-pair", "forall k: D{0, 0.17}[ X (bot U=k top) ]", "holds"),
        ("emptiness", "D{1, 1/6}[ F at_B ]", "unknown"),
    ):
        path = tmp_path / "evidence.json"
        _, _, said = call(capsys, FOLDER / f"{case}.toml", "-p", formula, "--evidence", path)
        assert json.loads(path.read_text())["status"] == status
        assert said == ""
        assert run(["check", str(path)]) == 0
        words = {"holds": "the formulas are true: ", "violated": "a violation", "unknown": "undecided: "}
        assert f"without the case: {words[status]}" in capsys.readouterr().out
        assert run(["check", str(path), "--case", str(FOLDER / f"{case}.toml")]) == 0
        capsys.readouterr()


@pytest.mark.slow
def test_sufficient_condition_that_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """Where Prop. 2 fails, the answer is unknown, never violated, and says what was tried; code 3."""
    formula = "D{0, 0.1}[ X (bot U=1 top) ]"
    case = FOLDER / "above-threshold-one-pair.toml"
    code, out, _ = call(capsys, case, "-p", formula, "--method", "sufficient")
    assert code == 3
    assert "The sufficient condition (Prop. 2) fails" in out
    assert call(capsys, case, "-p", formula, "--method", "exact")[0] == 0


@pytest.mark.slow
def test_budgets(capsys: pytest.CaptureFixture[str]) -> None:
    """The least δ and ε are told with the states that need them."""
    formula = "D{0, 1}[ X (out1 & X out1) ]"
    arguments = (FOLDER / "double-survey.toml", "-p", formula, "--delta-for", "0", "--epsilon-for", "0")
    code, out, _ = call(capsys, *arguments)
    assert code == 0
    assert "with epsilon = 0: least delta 1/2 (0.5); plus against minus" in out
    assert "with delta = 0: least ratio 9, epsilon ≈ 2.19722458" in out
    _, found = as_json(capsys, *arguments)
    assert found["budgets"]["property"]["delta"]["value"] == "1/2"
    assert found["budgets"]["property"]["ratio"]["value"] == "9"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_curve_as_plot(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The curve is printed with exact corners, and drawn."""
    case, formula = FOLDER / "double-survey.toml", "D{0, 1}[ X (out1 & X out1) ]"
    for ending in ("svg", "png"):
        path = tmp_path / f"curve.{ending}"
        code, out, _ = call(capsys, case, "-p", formula, "--plot", path)
        assert code == 0
        assert "(ratio 9): delta = 0" in out
        assert path.stat().st_size > 1000
    code, _, said = call(capsys, case, "-p", formula, "--plot", tmp_path / "curve.txt")
    assert code == 2
    assert "pictures are written as .svg, .png or .pdf" in said


@pytest.mark.slow
@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_the_known_part_of_a_curve_is_drawn(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a limit ends the search, curves are drawn as far as they are known; words say which are not."""
    ours, write_curve = formula_budgets.least_delta, privacy_plots.write_curve
    for known in (0, 5, 20, 40):
        asked = []
        limits = []

        def few(work: LogicSession, found: Property, ratio: RationalFunction) -> formula_budgets.Least:
            if len(asked) == known:  # noqa: B023
                raise TimeLimitError(9)
            asked.append(ratio)  # noqa: B023
            return ours(work, found, ratio)

        def drawn(*arguments: Any, **options: Any) -> None:
            limits.append(signal.getitimer(signal.ITIMER_REAL)[0])  # noqa: B023
            write_curve(*arguments, **options)

        monkeypatch.setattr(formula_budgets, "least_delta", few)
        monkeypatch.setattr(privacy_plots, "write_curve", drawn)
        folder = tmp_path / str(known)
        folder.mkdir()
        formulas = ["-p", "D{1/2, 0.1126}[ F out0 ]", "-p", "D{1/2, 0.1125}[ F out1 ]"]
        asks = [FOLDER / "subsampling-majority.toml", *formulas, "--plot", folder / "c.svg"]
        code, out, said = call(capsys, *asks)
        assert code == (3 if known < 34 else 0)
        assert ("the time limit of 9 s is over" in said) == (known < 34)
        assert sum(line.startswith("  epsilon") for line in out.splitlines()) == min(known, 34)
        pictures = [path.read_text() for path in sorted(folder.iterdir())]
        assert len(pictures) == (known + 16) // 17 if known < 34 else 2
        assert all(picture.rstrip().endswith("</svg>") for picture in pictures)
        assert limits == [0.0] * len(pictures)  # the time limit was lifted before
        whole = known // 17
        assert ["not known beyond" in picture for picture in pictures] == [
            k >= whole for k in range(len(pictures))
        ]
        assert out.count("so there is no picture of it") == 2 - len(pictures)
        asked.clear()
        code, found = as_json(capsys, *asks)
        told = found if code == 0 else found.get("so_far", {})
        curves = told["budgets"].values() if code == 0 else told.get("budgets", [])
        assert [len(curve["curve"]) for curve in curves] == [
            n for n in (min(known, 17), min(max(known - 17, 0), 17)) if n
        ]
        assert ["curve_is_whole" in curve for curve in curves] == [k >= whole for k in range(len(pictures))]


@pytest.mark.slow
@pytest.mark.skipif(not prism_files.available(), reason="Storm is not installed")
def test_prism_file(capsys: pytest.CaptureFixture[str]) -> None:
    """A PRISM file with a parameter: proved for every value, also where only Storm can; or with a value."""
    file = FOLDER / "survey.prism"
    inside = ("--parameter", "c=(0, 1)", "--neighbours", NEIGHBOURS)
    assert call(capsys, file, *inside, "-p", "D{ln((1 + c)/(1 - c)), 0}[ X yes ]")[0] == 0
    code, out, _ = call(capsys, file, *inside, "-p", "D{0, c}[ (F yes) & (F G !(s = 2)) ]")
    assert code == 0
    assert "by Storm" in out
    fixed = ("--constant", "c=1/2", "--neighbours", NEIGHBOURS)
    assert call(capsys, file, *fixed, "-p", "D{ln(3), 0}[ X yes ]")[0] == 0
    assert call(capsys, file, *fixed, "-p", "D{ln(2), 0}[ X yes ]")[0] == 1


@pytest.mark.slow
@pytest.mark.skipif(not prism_files.available(), reason="Storm is not installed")
def test_mistakes_with_prism_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Undefined constants, broken files and missing ones are user mistakes; code 2."""
    code, _, said = call(capsys, FOLDER / "survey.prism", "-p", "P>=0 [ X yes ]")
    assert code == 2
    assert "the constant 'c' is not defined" in said
    broken = tmp_path / "broken.prism"
    broken.write_text("dtmc\nmodule x\n")
    code, out, said = call(capsys, broken, "-p", "P>=0 [ X yes ]")
    assert (code, out) == (2, "")
    assert "Storm:" in said
    code, _, said = call(capsys, tmp_path / "none.prism", "-p", "P>=0 [ X yes ]")
    assert code == 2
    assert "No such file" in said
    markov = tmp_path / "ctmc.prism"
    markov.write_text(
        "ctmc\nmodule m\n s : [0..1];\n <> s = 0 -> 2 : (s' = 1);\n <> s = 1 -> true;\nendmodule\n"
    )
    code, _, said = call(capsys, markov, "-p", "P>=0 [ X true ]")
    assert code == 2
    assert "must be a Markov chain (dtmc) or a decision process (mdp)" in said


@pytest.mark.slow
@pytest.mark.skipif(not prism_files.available(), reason="Storm is not installed")
def test_prism_decision_process(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A decision process from PRISM, where actions are shared by both runs."""
    file = tmp_path / "interactive.prism"
    file.write_text(
        """mdp
module survey
  s : [0..2];
  r : [0..1];
  [low] s = 0 & r = 1 -> 3/4 : (s' = 1) + 1/4 : (s' = 2);
  [low] s = 0 & r = 0 -> 1/4 : (s' = 1) + 3/4 : (s' = 2);
  [high] s = 0 & r = 1 -> 4/5 : (s' = 1) + 1/5 : (s' = 2);
  [high] s = 0 & r = 0 -> 1/5 : (s' = 1) + 4/5 : (s' = 2);
  [] s > 0 -> true;
endmodule
init s = 0 endinit
label "yes" = s = 1;
"""
    )
    two = ("--neighbours", NEIGHBOURS)
    assert call(capsys, file, *two, "-p", "D{ln(4), 0}[ X yes ]")[0] == 0
    code, out, _ = call(capsys, file, *two, "-p", "D{ln(3), 0}[ F yes ]")
    assert code == 1
    assert "under the action high in every step" in out
    assert call(capsys, file, *two, "-p", "D{ln(4), 0}[ F yes ]")[0] == 0


def test_without_storm(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Storm, a PRISM file and a general path formula are refused with the way to get it."""
    monkeypatch.setattr("paramverify.models.chains.prism_files.available", lambda: False)
    monkeypatch.setattr("paramverify.logic.storm_probabilities.available", lambda: False)
    code, _, said = call(capsys, FOLDER / "survey.prism", "-p", "P>=0 [ X yes ]")
    assert code == 2
    assert "PRISM files need Storm: pip install 'paramverify[storm]'" in said
    code, out, _ = call(capsys, FOLDER / "survey.toml", "-p", "D{0, 1}[ G F out1 ]")
    assert code == 3
    assert "pip install 'paramverify[storm]'" in out


def test_mistakes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Mistakes are told with file and key, in JSON too; code 2."""
    code, found = as_json(capsys, FOLDER / "survey.toml", "-p", "D{0, 1}[ X ou1 ]")
    assert code == 2
    assert found["status"] == "error"
    assert "did you mean 'out" in found["reason"]
    code, _, said = call(capsys, FOLDER / "survey.toml", "--parameter", "c")
    assert code == 2
    assert "write NAME=VALUE" in said
    code, _, said = call(capsys, tmp_path / "none.toml")
    assert code == 2
    assert "none.toml" in said
    code, _, said = call(capsys, FOLDER / "survey.toml", "-p", "!D{0, 1}[ X out1 ]", "--delta-for", "0")
    assert code == 2
    assert "a budget is found for D formulas" in said


def test_cases_of_the_other_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """`verify` decides a chain; a mechanism given to `logic` is told which command takes it."""
    assert run(["logic", str(FOLDER / "survey.toml")]) == 1
    same = capsys.readouterr().out
    assert run(["verify", str(FOLDER / "survey.toml")]) == 1
    assert without_times(capsys.readouterr().out) == without_times(same)
    code, out, err = call(capsys, ROOT / "cases" / "noisy-max-independent.toml")
    assert (code, out) == (2, "")
    assert "use `paramverify verify`" in err
    code, _, err = call(capsys, ROOT / "cases" / "interactive" / "slots-1-full.toml")
    assert (code, "use `paramverify interactive`" in err) == (2, True)
    assert run(["interactive", str(FOLDER / "survey.toml")]) == 2
    assert "use `paramverify logic`" in capsys.readouterr().err


def test_a_formula_is_shown_as_it_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    """An implication that fails is told in its own words, and P alone needs no words about neighbours."""
    formula = "truth = 1 => P[1/3, 1/3] [ X out1 ]"
    code, out, _ = call(capsys, FOLDER / "double-survey.toml", "-p", formula)
    assert code == 1
    assert f"  {formula} is false in state plus." in out
    assert "neighbour" not in out
    assert str(read_property("D{0, 1}[ a U=0 b ]").formula) == "D{0, 1}[ (a U=0 b) ]"


def test_a_violation_outlives_the_limit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A formula that is violated before the time is over decides the exit code and the status."""
    first = check_property
    seen: list[object] = []

    def one(*arguments: Any) -> Any:
        if seen:
            raise TimeLimitError(1)
        seen.append(arguments)
        return first(*arguments)

    monkeypatch.setattr("paramverify.subjects.formula_answers.check_property", one)
    arguments = (FOLDER / "survey-coin.toml", "-p", "D{ln(3), 0}[ X out1 ]", "-p", "D{0, 1}[ X out1 ]")
    code, out, said = call(capsys, *arguments)
    assert code == 1
    assert said == "stopped: the time limit of 1 s is over. The verdict was known before: false\n"
    assert "7/8 (0.875) is more than 3·1/8" in out
    seen.clear()
    code, found = as_json(capsys, *arguments)
    assert (code, found["status"], found["end"]) == (1, "violated", "timeout")
    assert found["verdict"] == "false"
    assert found["so_far"]["properties"][0]["status"] == "violated"


def test_budgets_of_equal_runs_are_exact_and_those_of_prop_2_are_bounds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Equality gives delta 0 and ratio 1 exactly; Prop. 2 alone never says that its number is the least."""
    case = FOLDER / "equal-copies.toml"
    asked = ("--delta-for", "0", "--epsilon-for", "0")
    for formula in ("D{0, 0}[ F goal ]", "forall k: D{0, 0}[ true U=k goal ]"):
        code, found = as_json(capsys, case, "-p", formula, *asked)
        told = found["budgets"]["property"]
        assert (code, told["delta"]["value"], told["ratio"]["value"]) == (0, "0", "1")
        assert told["delta"]["exact"] is told["ratio"]["exact"] is True
    case = FOLDER / "emptiness.toml"
    code, found = as_json(
        capsys, case, "-p", "D{0, 0}[ F at_B ]", *asked, "--curve", "--method", "sufficient"
    )
    told = found["budgets"]["property"]
    assert told["delta"]["by_sufficient_condition"] is True
    assert told["delta"]["exact"] is told["ratio"]["exact"] is told["curve"][0]["exact"] is False
    assert (code, told["ratio"]["upper"], told["epsilon"]) == (3, "unknown", "unknown")
    _, out, _ = call(capsys, case, "-p", "D{0, 0}[ F at_B ]", "--curve", "--method", "sufficient")
    assert "by the sufficient condition; less may be enough" in out


def test_a_trivial_bound_with_a_parameter(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Delta 1 is enough for every D; what is not shown to be equal says so; its budget is unknown."""
    case = tmp_path / "case.toml"
    case.write_text(
        'title = "two"\n[parameters]\np = "(0, 1)"\n[model]\nkind = "mdp"\ninitial = ["s"]\n[states]\n'
        's = { to = { a = { goal = "p", s = "1 - p" }, b = { s = "1" } } }\n'
        't = { to = { a = { t = "1" }, b = { goal = "p", t = "1 - p" } } }\n'
        'goal = { labels = ["goal"] }\n[neighbours]\npairs = [["s", "t"]]\n'
    )
    assert call(capsys, case, "-p", "D{0, 1}[ F goal ]")[0] == 0
    code, _, said = call(capsys, case, "-p", "D{0, 1}[ F goal ]", "--delta-for", "0")
    assert (code, "the least budget is not known" in said) == (3, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formula", "method", "refused", "instead"),
    [
        ("P<=1 [ G F goal ]", "auto", "unbounded u and f, or unbounded g and r", "P<=1 [ G F<=9 goal ]"),
        ("D{0, 0}[ F G goal ]", "auto", "unbounded u and f, or unbounded g and r", "D{0, 0}[ F G<=9 goal ]"),
        (
            "D{0, 0}[ F goal ]",
            "exact",
            "the exact method enumerates action sequences",
            "D{0, 0}[ F<=9 goal ]",
        ),
        (
            "D{0, 0}[ G goal ]",
            "exact",
            "the exact method enumerates action sequences",
            "D{0, 0}[ G<=9 goal ]",
        ),
    ],
)
def test_what_is_refused(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    formula: str,
    method: str,
    refused: str,
    instead: str,
) -> None:
    """A formula that no engine does is unknown; the words say what it is and what to do, and that works."""
    case = tmp_path / "case.toml"
    case.write_text((FOLDER / "emptiness.toml").read_text().replace("at_B", "goal"))
    code, out, _ = call(capsys, case, "-p", formula, "--method", method)
    assert code == 3
    assert refused in out.lower()
    assert "<=9" in out
    code, _, _ = call(capsys, case, "-p", instead, "--method", method)
    assert code in (0, 1)


WITHOUT_AN_END = """
[parameters]
eps = "{ends}"
[model]
kind = "chain"
[states]
a = {{ to = {{ b = "{share}", c = "1 - ({share})" }} }}
b = {{ labels = ["goal"] }}
[neighbours]
pairs = [["a", "b"]]
[formulas]
f = "P>=0 [ X goal ]"
"""


@pytest.mark.parametrize("share", ["exp(-eps)", "1/2", "1 - exp(-eps/2)/2"])
@pytest.mark.parametrize("ends", ["(0, oo)", "(0, inf)"])
def test_a_parameter_without_an_end(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, share: str, ends: str
) -> None:
    """It is refused for that reason, with and without an exponential; what is told instead works."""
    text = WITHOUT_AN_END.format(ends=ends, share=share) + "[states.c]\n"
    case = tmp_path / "case.toml"
    case.write_text(text)
    code, _, err = call(capsys, case)
    assert code == 2
    assert "parameters.eps: a case with formulas needs finite ends here, not (0, oo)" in err
    assert "put a parameter x with the interval (0, 1) in the place of exp(-eps)" in err
    assert "exp supports" not in err
    text = text.replace(f'eps = "{ends}"', 'x = "(0, 1)"')
    case.write_text(text.replace("exp(-eps)", "x").replace("exp(-eps/2)", "x"))
    assert call(capsys, case)[0] == 0


def test_a_formula_that_the_case_has_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Evidence of a formula of the command line says nothing of those of the case, and `check` says so."""
    case, evidence = str(ROOT / "cases/logic/survey.toml"), str(tmp_path / "evidence.json")
    for asked, told in ((["-p", "D{1, 1}[ X out1 ]"], True), ([], False)):
        assert run(["logic", case, *asked, "--evidence", evidence]) == (0 if asked else 1)
        capsys.readouterr()
        assert run(["check", evidence, "--case", case]) == 0
        out = capsys.readouterr().out
        line = "the case has no property, which was asked beside it; it has additive, pure, too_small, "
        assert (line in out) == told


def test_evidence_of_a_case_with_other_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Evidence with -D is about the case with these values: check wants the same, and says so."""
    path, evidence = str(ROOT / "cases" / "logic" / "survey-coin.toml"), str(tmp_path / "evidence.json")
    given = ["-D", "c=(0, 1/2)"]
    assert run(["logic", path, *given, "--evidence", evidence]) == 0
    assert run(["check", evidence, "--case", path, *given]) == 0
    out = capsys.readouterr().out
    assert ", with -D c = (0, 1/2)\n" in out
    assert "checked: true for every c in (0, 1/2): " in out
    assert run(["check", evidence, "--case", path]) == 1
    assert (
        "the evidence was made with -D c=(0, 1/2): pass the same options to check" in capsys.readouterr().out
    )
