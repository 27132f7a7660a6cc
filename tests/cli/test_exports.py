"""Exported files: they say what the claims say, and the programs that they are for run them as they are."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from smt_scripts import claims, code, run_cvc5, run_yices, run_z3
from smt_scripts import value as smt_value
from strategies import NAMES, RING, points, polynomials

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Ring, variables
from paramverify.answers import Proved
from paramverify.backends import backend
from paramverify.backends.qepcad import installation
from paramverify.claims import Claim, without_enclosure
from paramverify.cli.main import run
from paramverify.encodings.choice import listed_claims
from paramverify.encodings.sequences import sequence_claims
from paramverify.errors import InputError, UnsupportedError
from paramverify.exact.branching import decide_exactly
from paramverify.formats import elimination_scripts
from paramverify.formats.quantified_questions import AndCondition, Condition, QuantifiedImplication, question
from paramverify.formats.smtlib import script
from paramverify.formats.solver_formulas import occurring
from paramverify.privacy.cases import load

CASES = ROOT / "cases"
SMALL = ("geometric-contagious-ln2", "geometric-independent", "discrete-laplace")


def case(name: str) -> str:
    return str(CASES / f"{name}.toml")


def verdicts(name: str) -> list[bool]:
    """Returns for each claim of a case whether it holds, by the built-in procedures."""
    return [isinstance(decide_exactly(claim), Proved) for claim in sequence_claims(load(case(name)).model)]


def export(folder: Path, *arguments: str) -> list[Path]:
    """Exports into a folder, and returns the files in the order of the claims."""
    assert run(["export", *arguments, "-o", str(folder)]) == 0
    return sorted(folder.iterdir(), key=lambda path: [int(n) for n in re.findall(r"-(\d+)\.", path.name)])


# --- the meaning of the texts ------------------------------------------------------------------------

Drawn = tuple[QuantifiedImplication, Domain, list[Claim]]

several = st.lists(polynomials(3, 4), min_size=1, max_size=3)


@st.composite
def questions(draw: st.DrawFn) -> Drawn:
    """Questions about up to three claims, with some parameters free, and what they are about."""
    domain = draw(claims()).domain
    about = [Claim(f, domain) for f in draw(several)]
    free = draw(st.lists(st.sampled_from(NAMES), unique=True))
    return question([c.polynomial for c in about], domain, free), domain, about


def within(
    domain: Domain, about: QuantifiedImplication, point: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    """Returns the point with any value of its interval for each parameter that is left out."""
    return {n: v if n in about.names else domain.box[n].simplest() for n, v in point.items()}


@pytest.mark.slow
@settings(max_examples=60)
@given(questions(), points())
def test_questions_mean_the_claims(drawn: Drawn, point: dict[str, Fraction]) -> None:
    """At every point, assumptions and hypotheses say where the domain is, conclusions that claims hold."""
    about, domain, parts = drawn
    point = within(domain, about, point)
    assert all(set(variables(c.polynomial)) <= set(about.free) for c in about.assumptions)
    given_ = AndCondition((*about.assumptions, *about.hypotheses))
    assert given_.holds_at(point) == (point in domain)
    assert AndCondition(about.conclusions).holds_at(point) == all(c.holds_at(point) for c in parts)


@pytest.mark.slow
@settings(max_examples=60)
@given(questions(), points())
def test_qepcad_texts_mean_the_questions(drawn: Drawn, point: dict[str, Fraction]) -> None:
    """The formula and the assumptions in a file for QEPCAD, read back, have the values of the question."""
    about, domain, _ = drawn
    point = within(domain, about, point)
    title, names, free, formula, assumed = read_qepcad(
        elimination_scripts.qepcad_script(about, "a [title] of\ntwo lines é")
    )
    renamed = about.renamed()
    assert title.startswith(" a title of; two lines ?; ")
    assert names == (list(renamed.values()) or ["v1"])
    assert free == len(about.free)
    quantified = re.findall(r"\(A (v\d+)\)", formula)
    assert quantified == ([renamed[n] for n in about.bound] if renamed else ["v1"])

    def read(text: str) -> Condition:
        return elimination_scripts.read(text, RING, renamed)

    matrix = re.sub(r"\(A v\d+\)", "", formula)
    hypotheses, arrow, conclusions = "", "", matrix
    if "==>" in matrix:
        hypotheses, arrow, conclusions = matrix[1:-1].partition(" ==> ")
    assert bool(arrow) == bool(about.hypotheses)
    expected = not AndCondition(about.hypotheses).holds_at(point) or AndCondition(about.conclusions).holds_at(
        point
    )
    found = (arrow and not read(hypotheses).holds_at(point)) or read(conclusions).holds_at(point)
    assert found == expected
    assert bool(assumed) == bool(about.assumptions)
    assert (read(assumed).holds_at(point) if assumed else True) == AndCondition(about.assumptions).holds_at(
        point
    )


def read_qepcad(text: str) -> tuple[str, list[str], int, str, str]:
    """Returns description, variables, number of free ones, formula and assumption of a file for QEPCAD."""
    match = re.fullmatch(
        r"\[([^\[\]]*)\]\n\(([^)]*)\)\n(\d+)\n([^.]*)\.\n(?:assume (.*)\n)?finish\n", text, re.DOTALL
    )
    assert match
    assert text.isascii()
    assert max(len(line) for line in text.splitlines()) <= 110
    title, names, free, formula, assumed = match.groups()
    return title, names.split(","), int(free), " ".join(formula.split()), " ".join((assumed or "").split())


@pytest.mark.slow
@settings(max_examples=60)
@given(questions(), points())
def test_redlog_texts_mean_the_questions(drawn: Drawn, point: dict[str, Fraction]) -> None:
    """A file for Redlog is in its grammar, and its formula has the values of the question."""
    about, domain, parts = drawn
    point = within(domain, about, point)
    parsed = read_redlog(elimination_scripts.redlog_script(about, "a title of\ntwo lines é"))
    renamed = about.renamed()
    assert parsed.bound == [renamed[n] for n in about.bound]
    assert parsed.procedure == "rlqe"
    values = {new: point[name] for name, new in renamed.items()}
    expected = point not in domain or all(c.holds_at(point) for c in parts)
    assert parsed.matrix(values) == expected


@dataclass(frozen=True)
class Redlog:
    """What a file for Redlog asks: the variables that `all` binds, the formula, and the procedure."""

    bound: list[str]
    matrix: Callable[[Mapping[str, Fraction]], bool]
    procedure: str


def read_redlog(text: str) -> Redlog:
    """Reads a file by the grammar of REDUCE's statements; a formula is read as Python, which agrees with it.

    Both have `not` before `and` before `or`, and `**`; only `=` and `<>` are written in another way.
    """
    assert text.isascii()
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    statements = [s for s in re.split(r"(?<=[;$])\s+", " ".join(lines).strip()) if s]
    *setting, assignment, call, announced, printed, last = statements
    assert setting == ["load_package redlog;", "rlset r;", "off rlverbose;", "off nat;", "linelength(2**24)$"]
    assert (announced, printed, last) == ('write "answer:"$', "psi;", "quit;")
    procedure = re.fullmatch(r"psi := (rlqe|rlcad) phi\$", call)
    assert procedure
    match = re.fullmatch(r"phi := (?:all\(\{([v\d, ]+)\}, (.*)\)|(.*))\$", assignment)
    assert match
    formula = match[2] or match[3]
    assert re.fullmatch(r"(\*\*|<>|<=|>=|[-+*<>=() ]|\b(and|or|not|v\d+|\d+)\b)*", formula)
    python = compile(re.sub(r"(?<![<>])=", "==", formula).replace("<>", "!="), "redlog", "eval")
    return Redlog(
        re.findall(r"v\d+", match[1] or ""),
        lambda at: bool(eval(python, {"__builtins__": {}}, dict(at))),
        procedure[1],
    )


@pytest.mark.slow
@settings(max_examples=60)
@given(claims(), several, points())
def test_scripts_about_several_claims(
    drawn: Claim, more: Sequence[object], point: dict[str, Fraction]
) -> None:
    """At every point, a script about several claims is true iff the point violates one of them."""
    others = [replace(drawn, polynomial=f) for f in more]
    commands = code(script(drawn, others=others))
    absent = {n: drawn.domain.box[n].simplest() for n in NAMES if n not in occurring(drawn, *others)}
    point = point | absent
    expected = point in drawn.domain and not all(c.holds_at(point) for c in (drawn, *others))
    asserted = [c[1] for c in commands if c[0] == "assert"]
    *inside, violated = asserted
    assert violated[0] == "or"
    found = all(smt_value(t, point) for t in inside) and any(smt_value(t, point) for t in violated[1:])
    assert found == expected


# --- the programs run the files ----------------------------------------------------------------------


def run_qepcad(path: Path) -> str:
    """Runs the real QEPCAD on a file, and returns its answer."""
    found = installation()
    if found is None:
        pytest.skip(backend("qepcad").install)
    done = subprocess.run(
        [found.program, "-noecho", "-t", "60", "+N8000000"],
        input=path.read_text(),
        capture_output=True,
        text=True,
        env=found.environment,
    )
    assert done.returncode == 0, done.stdout
    assert "rror" not in done.stdout
    answer = re.search(r"An equivalent quantifier-free formula:\n\n(.*?)\n\n", done.stdout, re.DOTALL)
    assert answer
    return " ".join(answer[1].split())


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SMALL, "noisy-max-independent", "above-threshold"])
def test_qepcad_runs_its_files(name: str, tmp_path: Path) -> None:
    """QEPCAD runs the files of a case unchanged, and agrees with the built-ins on each claim and on all."""
    expected = verdicts(name)
    each = export(tmp_path / "each", case(name), "--to", "qepcad")
    assert [run_qepcad(path) for path in each] == [str(holds).upper() for holds in expected]
    if name != "noisy-max-independent":  # which needs more memory than that
        (together,) = export(tmp_path / "together", case(name), "--to", "qepcad", "--together")
        assert run_qepcad(together) == str(all(expected)).upper()


def test_qepcad_runs_a_file_with_free_parameters(tmp_path: Path) -> None:
    """With a free parameter, QEPCAD's answer is a condition on it, here that enough answers are lies."""
    path = tmp_path / "case.toml"
    path.write_text(FREE)
    (file,) = export(tmp_path / "files", str(path), "--to", "qepcad", "--together", "--free", "t")
    assert run_qepcad(file) in ("3 v1 - 2 <= 0", "v1 > 0 /\\ 3 v1 - 2 <= 0")


FREE = """
[parameters]
p = "(0, 1)"
t = "[1/2, 1)"
[prior]
record = { bernoulli = "p" }
[mechanism]
kind = "randomized_response"
query = "record"
values = [0, 1]
truth = "t"
[secrets]
yes = "record == 1"
no = "record == 0"
pairs = [["yes", "no"]]
[privacy]
ratio = "2"
"""


@pytest.mark.slow
@pytest.mark.parametrize("run_script", [run_z3, run_cvc5, run_yices])
@pytest.mark.parametrize("name", [*SMALL, "above-threshold"])
def test_smt_solvers_run_their_files(name: str, run_script: Callable[[str], str], tmp_path: Path) -> None:
    """Z3, cvc5 and Yices run the files of a case unchanged, and agree with the built-ins."""
    expected = verdicts(name)
    each = export(tmp_path / "each", case(name), "--to", "smtlib2")
    words = {True: "unsat", False: "sat"}
    assert [run_script(path.read_text()) for path in each] == [words[holds] for holds in expected]
    (together,) = export(tmp_path / "together", case(name), "--to", "smtlib2", "--together")
    assert run_script(together.read_text()) == words[all(expected)]


@pytest.mark.parametrize(
    ("name", "holds"), [("bernstein-caprasse", True), ("bernstein-caprasse-false", False)]
)
def test_parts_that_simplification_leaves(name: str, holds: bool, tmp_path: Path) -> None:
    """A part is violated where the claim is, with what was replaced; Z3 finds the parts that are."""
    path = ROOT / "cases" / "inequalities" / f"{name}.toml"
    assert run(["export", str(path), "--to", "smtlib2", "--simplify", "default", "-o", str(tmp_path)]) == 0
    (claim,) = listed_claims(load(str(path)).model)
    texts = [each.read_text(encoding="utf-8") for each in sorted(tmp_path.iterdir())]
    assert [re.findall("part .* of claim 1", text) for text in texts] == [
        [f"part {k} of 4 of claim 1"] for k in range(1, 5)
    ]
    assert all(run_z3(text) == "unsat" for text in texts) is holds
    for text in texts:
        (told,) = re.findall("; replaced, the last one first: (.*)", text)
        replaced = {
            name: Fraction(number) for name, number in (each.split(" = ") for each in told.split("; "))
        }
        asserted = [command[1] for command in code(text) if command[0] == "assert"]
        for z in (Fraction(k, 10) for k in range(-5, 6)):
            violated = all(smt_value(each, {"z": z}) for each in asserted)
            assert violated is not claim.holds_at({**replaced, "z": z})


def test_nothing_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    """Where simplification proves every claim there is no file; files about all claims stay as they are."""
    path = str(ROOT / "cases" / "geometric-independent.toml")
    assert run(["export", path, "--to", "qepcad", "--simplify", "default"]) == 2
    assert "simplification proves every claim, so there is no file" in capsys.readouterr().err
    assert run(["export", path, "--to", "qepcad", "--simplify", "default", "--claim", "2"]) == 2
    assert "simplification proves claim 2, so there is no file" in capsys.readouterr().err
    assert run(["export", path, "--to", "qepcad", "--simplify", "default", "--together"]) == 2
    tied = str(ROOT / "cases" / "exponential-mean.toml")
    assert run(["export", tied, "--to", "smtlib2", "--simplify", "default", "--claim", "1"]) == 2
    assert "eps occurs together with exp" in capsys.readouterr().err


# --- the command -------------------------------------------------------------------------------------


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    exit_code = run(["export", *arguments])
    captured = capsys.readouterr()
    return exit_code, captured.out, captured.err


@pytest.mark.parametrize(("target", "suffix"), [("smtlib2", "smt2"), ("qepcad", "qepcad"), ("redlog", "red")])
def test_one_file_or_many(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, target: str, suffix: str
) -> None:
    """One file goes to standard output, also as JSON; several go to a folder, named after their claims."""
    name = case("geometric-independent")
    status, text, _ = call(capsys, name, "--to", target, "--claim", "2")
    assert status == 0
    status, out, _ = call(capsys, name, "--to", target, "--claim", "2", "--json")
    (entry,) = json.loads(out)["files"]
    assert (entry["claim"], entry["text"]) == (2, text)
    status, out, _ = call(capsys, name, "--to", target, "-o", str(tmp_path), "--json")
    files = json.loads(out)["files"]
    assert [Path(f["file"]).name for f in files] == [
        f"geometric-independent-{k}.{suffix}" for k in range(1, 7)
    ]
    assert Path(files[1]["file"]).read_text() == text
    status, out, _ = call(capsys, name, "--to", target, "--together", "--json")
    (entry,) = json.loads(out)["files"]
    assert entry["claims"] == 6
    status, out, err = call(capsys, name, "--to", target)
    assert (status, out) == (2, "")
    assert "there are 6 claims, but only one can be printed: add --claim N, --together or -o DIR" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "qepcad", "--claim", "7"], "--claim 7: there are only 6 claims"),
        (["--to", "qepcad", "--together", "--claim", "1"], "--together and --claim exclude each other"),
        (["--to", "smtlib2", "--together", "--free", "p"], "--free needs a format with quantifiers"),
        (["--to", "redlog", "--together", "--free", "z"], "there is no parameter 'z'; choose from p"),
    ],
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    """What cannot be exported is an error that says why."""
    status, out, err = call(capsys, case("geometric-independent"), *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_constants_are_enclosed(capsys: pytest.CaptureFixture[str]) -> None:
    """A constant stands for its enclosure, and each file says what follows from its answer."""
    for target, word in (("smtlib2", "unsat"), ("qepcad", "true"), ("redlog", "true")):
        _, out, _ = call(capsys, case("discrete-laplace"), "--to", target, "--together")
        flat = " ".join(out.split())
        assert f"E encloses exp(1/2): {word} is a proof" in flat


def test_a_constant_without_an_enclosure_is_refused() -> None:
    """exp(q) itself is an error that names it, not an approximation."""
    parts = [without_enclosure(claim) for claim in sequence_claims(load(case("discrete-laplace")).model)]
    asked, domain = [claim.polynomial for claim in parts], parts[0].domain
    with pytest.raises(UnsupportedError, match=r"exp\(1/2\) is not an algebraic number"):
        question(asked, domain)
    with pytest.raises(InputError, match="there is no parameter 'E'"):
        question(asked, domain, ["E"])


def test_names_do_not_matter() -> None:
    """Parameters with names that mean something to a program are renamed."""
    ring = Ring(("E", "A", "e", "all", "v2", "p_1"))
    box = load(case("geometric-independent")).model.domain.box["p"]
    about = question([ring.parse("E + A*e - all^2*v2 - p_1")], Domain(ring, dict.fromkeys(ring.names, box)))
    assert set(about.renamed().values()) == {f"v{k}" for k in range(1, 7)}
    for text in (elimination_scripts.qepcad_script(about), elimination_scripts.redlog_script(about)):
        code_ = "".join(line for line in text.splitlines()[1:] if not line.startswith("%"))
        assert "p_1" not in code_
