"""The public functions: the same text, JSON and evidence as the commands, for all kinds of cases."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from conftest import ROOT

import paramverify
from paramverify import ExactNumber, Kind, load, loads
from paramverify.cli.main import run
from paramverify.errors import CaseError, InputError, UndecidedError

mpl.use("Agg")

CASES = ROOT / "cases"
LN2 = CASES / "geometric-contagious-ln2.toml"
SLOW = pytest.mark.slow
FEW = [
    "geometric-contagious-ln2.toml",
    "geometric-metric.toml",
    "conditioned-geometric-1.toml",
    "retransmission-bound.toml",
    "survey-memory-all.toml",
    "randomized-response-condition.toml",
    "design-randomized-response.toml",
    "programs/randomized-response-two-coins.toml",
    "interactive/sample-n-printed.toml",
    "logic/survey-coin.toml",
]
TIMES = re.compile(r"\b(in )?\d[\d.e-]* s\b")


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Returns what a command prints on standard output."""
    run(list(words))
    return capsys.readouterr().out


def timeless(value: Any) -> Any:
    """Returns JSON data without the seconds that things took."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if k != "seconds"}
    if isinstance(value, list):
        return [timeless(v) for v in value]
    return value


def same(report: paramverify.Report, capsys: pytest.CaptureFixture[str], *words: str) -> None:
    """Asserts that a report has the text and the JSON of a command."""
    text, shown = answer(capsys, *words), answer(capsys, *words, "--json")
    assert timeless(report.to_dict()) == timeless(json.loads(shown))
    assert TIMES.sub("", str(report)).strip() == TIMES.sub("", text).strip()


def command_of(path: Path) -> str:
    """Returns the command that decides a case file."""
    return {Kind.INTERACTIVE: "interactive", Kind.LOGIC: "logic"}.get(load(path).kind, "verify")


@pytest.mark.slow
@pytest.mark.parametrize("name", [FEW[0], FEW[1], *FEW[5:]])
def test_verify_says_what_the_command_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, JSON and evidence of `verify` are those of the command for the kind of the case."""
    report = load(CASES / name).verify()
    same(report, capsys, command_of(CASES / name), str(CASES / name))
    assert report.to_dict()["verdict"] == report.verdict
    assert report.to_dict()["status"] == report.status


@pytest.mark.parametrize("name", [FEW[1], FEW[8]])
def test_budget_says_what_the_command_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The same for `budget`; its numbers are those of the text."""
    report = load(CASES / name).budget()
    same(report, capsys, "budget", str(CASES / name))
    assert report.ratio == report.lower == report.upper
    assert report.attained is True
    assert report.to_dict()["ratio"] == str(report.ratio)
    assert float(report.epsilon) == pytest.approx(math.log(report.ratio))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("geometric-contagious-ln2.toml", ()),
        ("noisy-max-independent-below.toml", ("--parameters", "pA,pB", "--coverage", "1/4")),
        ("geometric-contagious-ln2.toml", ("--witness",)),
        ("geometric-contagious-ln2.toml", ("--objective", "nearest", "--near", "p=1/5")),
    ],
)
def test_synthesize_says_what_the_command_says(
    name: str, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """The same for `synthesize`, with the options under the same names."""
    given: dict[str, Any] = {}
    if "--witness" in options:
        given["form"] = "witness"
    for option, value in pairwise(options):
        match option:
            case "--parameters":
                given["parameters"] = value.split(",")
            case "--coverage":
                given["coverage"] = Fraction(value)
            case "--objective":
                given["objective"] = value
            case "--near":
                given["near"] = dict([value.split("=")])
    report = load(CASES / name).synthesize(**given)
    same(report, capsys, "synthesize", str(CASES / name), *options)
    assert report.complete
    assert report.form == report.to_dict()["form"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [FEW[0], FEW[3], FEW[7]])
def test_show_says_what_the_command_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The same for `show`, with LaTeX and the graph."""
    report = load(CASES / name).show()
    same(report, capsys, "show", str(CASES / name))
    assert report.latex() == answer(capsys, "show", str(CASES / name), "--latex")
    if name != FEW[3]:
        assert report.graph() == answer(capsys, "show", str(CASES / name), "--graph")


@pytest.mark.parametrize(
    ("options", "given"),
    [
        pytest.param((), {}, marks=SLOW),
        (("--certify",), {"goal": "certify"}),
        (("--audit", "--direct"), {"goal": "audit", "direct": True}),
        pytest.param(("--epsilon", "1,ln(4)"), {"epsilon": [1, "ln(4)"]}, marks=SLOW),
    ],
)
def test_sample_says_what_the_command_says(
    options: tuple[str, ...], given: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """The same for `sample`, with the same seed."""
    report = load(LN2).sample(runs=2_000, at={"p": "1/2"}, **given)
    same(report, capsys, "sample", str(LN2), "--runs", "2000", "--at", "p=1/2", *options)
    if given.get("goal") == "certify":
        assert report.rejected
        assert report.witness.ratio == 4
    if given.get("goal") == "audit":
        assert report.passes
        assert report.point == {"p": Fraction(1, 2)}


@pytest.mark.slow
@pytest.mark.parametrize("name", [FEW[3], FEW[8], FEW[9]])
def test_evidence_is_that_of_the_command(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`evidence()` is the file that the command writes, and both checkers accept it, with the case too."""
    case, file = load(CASES / name), tmp_path / "evidence.json"
    report = case.verify()
    run([command_of(CASES / name), str(CASES / name), "--evidence", str(file)])
    capsys.readouterr()
    written = json.loads(file.read_text())
    assert timeless(json.loads(json.dumps(report.evidence()))) == timeless(written)
    for given, beside in ((report.evidence(), None), (file, None)):
        found = paramverify.check(given, beside)
        assert found
        assert found.accepted
    if case.kind is not Kind.LOGIC:
        assert paramverify.check(report.evidence(), case)
        same(paramverify.check(file, case), capsys, "check", str(file), "--case", str(CASES / name))


@pytest.mark.slow
def test_evidence_of_budgets_and_maps() -> None:
    """Budgets, violating priors and maps have evidence that is accepted with the case, and changed not."""
    case = load(CASES / "geometric-independent-below.toml")
    for report in (case.budget(), case.synthesize("witness"), case.synthesize("region", coverage="1/5")):
        assert paramverify.check(report.evidence(), case)
        changed = {**report.evidence(), "format": "another"}
        assert not paramverify.check(changed, case)
    other = case.with_(budget=3)
    assert not paramverify.check(case.verify().evidence(), other)
    with pytest.raises(InputError, match="no evidence for this ShowReport"):
        case.show().evidence()


def test_numbers_of_reports_are_numbers() -> None:
    """A witness and a budget compare with numbers of Python."""
    case = load(LN2)
    witness = case.verify().witness
    assert witness.ratio == 4
    assert witness.ratio > witness.bound == 2
    assert witness.probabilities == (Fraction(2, 3), Fraction(1, 6))
    assert witness.parameters == {"p": Fraction(1, 2)}
    budget = case.budget()
    assert (budget.ratio, budget.attained) == (4, True)
    assert budget.epsilon == 2 * ExactNumber.ln(ExactNumber(2))
    assert Fraction(budget.ratio) == Fraction(4)
    assert case.with_(ratio=budget.ratio).verify()
    assert not case.with_(ratio=budget.ratio - Fraction(1, 10**6)).verify()
    assert case.with_(epsilon=budget.epsilon).verify().verdict == "private"


def test_loads_reads_text_with_files_beside_it(tmp_path: Path) -> None:
    """Text is read as a file is; files that it names are beside it; errors name the text."""
    text = LN2.read_text()
    assert loads(text).verify().to_dict()["witness"] == load(LN2).verify().to_dict()["witness"]
    assert loads(text).path == "<text>"
    with pytest.raises(CaseError, match=r"<text>:\d+: privacy.*epsilon"):
        loads(text.replace("epsilon", "epsilom"))
    program = (CASES / "programs" / "randomized-response-two-coins.toml").read_text()
    body = program.partition('source = """')[2].partition('"""')[0]
    assert body
    (tmp_path / "body.py").write_text(body)
    outside = program.replace(f'source = """{body}"""', 'file = "body.py"')
    assert loads(outside, folder=tmp_path).verify().verdict == "private"
    with pytest.raises(CaseError, match=r"body\.py"):
        loads(outside)
    with pytest.raises(InputError, match="use load to read a file"):
        loads(LN2)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [FEW[0], FEW[9]])
def test_with_leaves_the_original_alone(name: str) -> None:
    """A changed case is another one: the original has its text and its verdict as before."""
    case = load(CASES / name)
    before, verdict = case.to_toml(), case.verify().verdict
    other = case.with_(title="Another one")
    assert (case.to_toml(), case.verify().verdict) == (before, verdict)
    assert other.title == "Another one"
    assert case.title != other.title
    assert other.verify().verdict == verdict
    assert loads(other.to_toml(), folder=CASES).title == "Another one"


@pytest.mark.slow
def test_with_changes_what_it_is_asked_for() -> None:
    """Budgets, parameters, lengths and tables, by the rules of the reader."""
    case = load(LN2)
    assert case.verify().verdict == "not private"
    assert case.with_(budget="ln(4)").verify().verdict == "private"
    assert case.with_(ratio=4).bound == "ratio = 4"
    assert case.with_(epsilon=1.5).bound == "epsilon = 1.5"
    assert case.with_(epsilon=Fraction(3, 2)).bound == "epsilon = 3/2"
    assert case.with_(parameters={"p": "1/2"}).budget().ratio == 4
    assert case.with_(parameters={"p": 0.5}).budget().ratio == 4
    wide = case.with_(mechanism={"noise": {"truncated_geometric": "1/4", "range": 2}})
    assert wide.budget().ratio == 16
    system = load(CASES / FEW[8])
    assert system.verify().verdict == "not private"
    assert system.with_(budget="ln(2)").verify().verdict == "private"
    chain = load(CASES / FEW[9])
    assert chain.with_(formulas={"fixed": "D{ln(15), 0}[ X out1 ]"}).verify().formulas["fixed"] != "true"
    assert chain.with_(formulas={"fixed": None}).verify().verdict == "true"
    claim = load(CASES / FEW[3])
    assert claim.with_(claim={"holds": "1 < 0"}).verify().verdict == "false"
    assert "expect" in case.to_toml()
    assert not case.with_(ratio=4).expect


@pytest.mark.parametrize(
    ("name", "given", "reason"),
    [
        (FEW[0], {"parameters": {"q": 1}}, "parameters: there is no parameter 'q'; choose from p"),
        (FEW[0], {"mechansim": {}}, "with_ cannot change this; did you mean 'mechanism'?"),
        (FEW[0], {"budget": 1, "ratio": 2}, "budget and ratio exclude each other: give one of them"),
        (FEW[0], {"budget": -1}, "privacy.epsilon"),
        (FEW[0], {"mechanism": {"nois": 1}}, "mechanism.nois: unknown key; did you mean 'noise'?"),
        (FEW[3], {"budget": 1}, "a claim has no budget"),
        (FEW[9], {"budget": 1}, "formulas have their budgets inside"),
    ],
)
def test_what_with_cannot_change(name: str, given: dict[str, Any], reason: str) -> None:
    """Each mistake is an error that names its place, as the reader's are."""
    with pytest.raises(InputError, match=re.escape(reason)):
        load(CASES / name).with_(**given)


@pytest.mark.parametrize(
    ("name", "ask", "reason"),
    [
        (FEW[3], "budget", "to bound the largest value of a function f"),
        (FEW[9], "budget", "its formulas have budgets inside"),
        (FEW[9], "synthesize", "cases with [mechanism] or [claim]"),
        (FEW[3], "sample", "a claim has no mechanism to sample"),
        (FEW[8], "sample", "sampling is for cases with [mechanism]"),
    ],
)
def test_what_has_no_meaning_for_a_kind(name: str, ask: str, reason: str) -> None:
    """The error names the question, the file and why."""
    with pytest.raises(InputError, match=re.escape(f"{ask} does not apply to this case: ")) as caught:
        getattr(paramverify, ask)(CASES / name)
    assert reason in str(caught.value)
    assert str(CASES / name) in str(caught.value)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"timeout": 0}, "timeout"),
        ({"memory": "much"}, "memory"),
        ({"backends": ["no-such"]}, ""),
        ({"strategy": "no-such"}, "strategy"),
        ({"confirm": 0}, "confirm"),
        ({"seconds": 3}, "seconds"),
    ],
)
def test_limits_that_are_wrong(given: dict[str, Any], key: str) -> None:
    """An error names the argument."""
    with pytest.raises(InputError) as caught:
        load(LN2).with_(ratio=3).verify(**given)
    assert caught.value.key == key


def test_limits_are_those_of_the_command_line() -> None:
    """Backends and strategies decide; what nobody proves twice is undecided, and nothing raises."""
    case = load(CASES / "noisy-max-independent.toml")
    assert case.verify(backends=["z3"], memory="2GB").verdict == "private"
    assert case.verify(strategy="built-in", memory=2 * 10**9).verdict == "private"
    hard = case.verify(strategy="built-in", confirm=2)
    assert hard.verdict == "undecided"
    assert hard.reason
    with pytest.raises(UndecidedError, match="neither True nor False"):
        bool(hard)
    with pytest.raises(UndecidedError):
        assert not hard
    assert hard.to_dict()["verdict"] == "undecided"


def test_truth_values() -> None:
    """A verdict is true or false; what has no verdict is neither."""
    case = load(LN2)
    assert not case.verify()
    assert case.with_(budget="ln(4)").verify()
    for report in (case.budget(), case.synthesize(), case.show()):
        with pytest.raises(TypeError, match="has no truth value"):
            bool(report)


class Seen(HTMLParser):
    """Collects the tags and attributes of a page, and checks that tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_notebooks_show_boxes_that_need_nothing() -> None:
    """HTML has no script, no address and no handler; what a case says is escaped in it."""
    case = load(LN2).with_(title='<script>alert("x")</script> & more')
    reports = (case.verify(), case.budget(), case.synthesize(), case.show(), load(CASES / FEW[9]).verify())
    for report in reports:
        page = report._repr_html_()
        seen = Seen()
        seen.feed(page)
        assert not seen.open
        assert seen.tags <= {"div", "span", "table", "tr", "th", "td", "pre"}
        assert seen.attributes <= {"style", "scope"}
        assert "<script" not in page
        assert "url(" not in page
    assert "&lt;script&gt;" in case.show()._repr_html_()
    assert ">not private</span>" in reports[0]._repr_html_()


@pytest.mark.slow
def test_figures() -> None:
    """There are pictures of intervals, maps and tests, as figures of their own or in axes that are given."""
    from matplotlib import pyplot as plt

    line = load(CASES / "geometric-independent-below.toml").synthesize()
    plane = load(CASES / "noisy-max-independent-below.toml").synthesize(
        parameters=["pA", "pB"], coverage="1/4"
    )
    test = load(LN2).sample(runs=1_000, at={"p": "1/2"})
    for report in (line, plane, test):
        figure = report.figure()
        figure.canvas.draw()
        assert figure.axes
        mine, (left, right) = plt.subplots(1, 2)
        assert report.figure(left) is mine
        assert left.has_data()
        assert not right.has_data()
        mine.canvas.draw()
        plt.close(mine)
    with pytest.raises(InputError, match="no picture of this VerifyReport"):
        load(LN2).verify().figure()


def test_mechanisms_have_the_same_reports() -> None:
    """A decorated function is taken by the functions, and its methods give the same."""
    from paramverify import flip

    @paramverify.mechanism(inputs={"n": {"values": [0, 1]}}, neighbours={"differ": "one"}, ratio=3)
    def coin(n):
        """The truth with probability 3/4."""
        return n if flip(3 / 4) else 1 - n

    assert coin.verify().verdict == paramverify.verify(coin).verdict == "private"
    assert paramverify.budget(coin).ratio == coin.budget().ratio == 3
    assert coin.show().to_dict() == paramverify.show(coin).to_dict()
    assert paramverify.check(coin.verify().evidence(), coin)
    assert loads(coin.to_toml()).verify().verdict == "private"
    assert paramverify.sample(coin, coin.__wrapped__ if False else None, runs=500).kind is Kind.PRIVACY


def test_importing_the_package_is_light() -> None:
    """`import paramverify` and its plugin import nothing of the prover, and no library of it."""
    code = (
        "import sys, paramverify, paramverify.testing, paramverify.testing.expectations\n"
        "heavy = {'flint', 'sympy', 'z3', 'numpy', 'click', 'networkx', 'pysmt', 'matplotlib'}\n"
        "print(sorted(heavy & set(sys.modules)),"
        " sorted(m for m in sys.modules if m.startswith('paramverify')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = ["paramverify", "paramverify.testing", "paramverify.testing.expectations"]
    assert done.stdout.strip() == f"[] {modules}"


def test_everything_public_is_there_and_told() -> None:
    """`__all__` and `dir` have the names; each has a docstring, and so has each public method."""
    for name in paramverify.__all__:
        found = getattr(paramverify, name)
        assert name in dir(paramverify)
        assert found.__doc__
        members = vars(found).items() if isinstance(found, type) else ()
        for member, value in members:
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                assert value.__doc__, f"{name}.{member}"
