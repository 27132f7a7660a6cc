"""The summary of a page: each fact in it is that of `verify --json`, of the case file, or of the checker."""

from __future__ import annotations

import json
import math
import re
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from page_tools import CASES, Page, examined

import paramverify
from paramverify.answers import Standing
from paramverify.cli.main import run
from paramverify.pages.overview import rechecked
from paramverify.pages.page import page
from paramverify.pages.work import PageOptions, PrivacyWork, Recheck, examine
from paramverify.portfolio.session import Options
from paramverify.portfolio.strategies import race_of

WORDS = {"holds": "Yes", "violated": "No", "unknown": "No answer was found"}
SIDED = """
[parameters]
p = "(0, 1)"
[mechanism]
kind = "hmm"
states = ["in", "out"]
observations = ["o", "u", "v"]
[mechanism.emissions]
in = { o = "1-p", u = "p" }
out = { o = "1-p", v = "p" }
[neighbours]
pairs = [["in", "out"]]
[privacy]
ratio = 1
one_sided = "ignored"
"""
NOTHING = SIDED.replace('o = "1-p", ', "").replace('"p" }', "1 }").replace('"o", ', "").replace('"p"', "1")


def summary(path: Path) -> dict[str, str]:
    """Returns the names and texts of the facts in the summary of a page."""
    return facts(Page(page([examined(path)])))


def facts(found: Page) -> dict[str, str]:
    """Returns the names and texts of the first list of facts on a page, which is that of the summary."""
    (section,) = found.having("section", class_="summary")
    after = found.elements[found.elements.index(section) :]
    names = [seen.text for seen in after if seen.tag == "dt"]
    texts = [" ".join(seen.text.split()) for seen in after if seen.tag == "dd"]
    count = names.index("SHA-256 of the case") + 1
    return dict(zip(names[:count], texts[:count], strict=True))


def verified(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Returns the answer of `verify --json`."""
    command = "verify"
    text = path.read_text()
    command = "interactive" if "[system]" in text else "logic" if "[formulas]" in text else command
    run([command, str(path), "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert isinstance(answer, dict)
    return answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind", "wanted"),
    [
        ("geometric-contagious-ln2", "prior", {"epsilon": math.log(2), "e^ε": 2}),
        ("randomized-response", "prior", {}),
        ("programs/sparse-vector-laplace", "neighbours", {"epsilon": 0.5}),
        ("programs/stream-fresh-answers", "neighbours", {"epsilon": math.log(3), "e^ε": 3}),
        ("approximate/geometric-contagious", "prior", {"epsilon": math.log(2), "e^ε": 2, "δ": 1 / 3}),
        ("divergences/geometric-renyi", "prior", {"4": math.log(43 / 8) / 3}),
        ("geometric-every-range", "claim", {}),
        ("interactive/survey", "system", {}),
        ("logic/survey-coin", "formulas", {}),
    ],
)
def test_the_facts_are_those_of_verify(
    name: str, kind: str, wanted: dict[str, float], capsys: pytest.CaptureFixture[str]
) -> None:
    """Answer, bound, inputs, parameters, proofs, re-check, date, version and digest of every kind of case."""
    path = CASES / f"{name}.toml"
    work = examined(path)
    told, answer = facts(Page(page([work]))), verified(path, capsys)
    status = str(answer["status"])
    assert re.match(rf".*\b{WORDS[status]}\b", told["Answer"])
    verdict = answer.get("verdict", {"holds": "true", "violated": "false"}[status])
    if "status" in answer:
        assert told["Answer"].startswith(verdict)
    if kind in ("prior", "neighbours"):
        assert isinstance(work, PrivacyWork)
        assert told["Bound"].startswith(work.case.budget)
        assert told["Inputs"] == answer["inputs"]
        assert ("not part of the question" in told["Priors"]) == (kind == "neighbours")
    shown = {key: float(number) for key, number in re.findall(r"(\w+) [=≈] ([\d.]+)", told.get("Bound", ""))}
    for key, value in wanted.items():
        decimals = [
            float(n) for n in re.findall(rf"{re.escape(key)} (?:= \S+ )?[=≈] ([\d.]+)", told["Bound"])
        ]
        assert any(abs(number - value) < 1e-5 for number in (*decimals, shown.get(key, -1)))
    domain = work.case.model.domain if isinstance(work, PrivacyWork) else work.case.domain
    for parameter in domain.ring.parameters:
        meant = next((u.name for u in domain.ring.unbounded if u.variable == parameter), parameter)
        assert re.search(rf"\b{meant} (in|=|>)", told["Parameters"])
    if status == "holds":
        assert ("no solver has to be trusted" in told["Rests on"]) == (
            not answer["evidence"]["without_certificate"]
        )
        assert answer["evidence"].get("decided_by", "") in told["Rests on"]
    else:
        assert "counterexample" in told["Rests on"]
    assert told["Re-checked"].startswith("accepted by the checker")
    assert "infinit" not in "".join(told.values())
    assert " oo" not in "".join(told.values())
    assert told["Date"] == f"{datetime.now(UTC):%Y-%m-%d} (UTC)"
    assert told["Version"] == f"paramverify {paramverify.__version__}"
    assert told["SHA-256 of the case"] == work.case.digest


@pytest.mark.usefixtures("ample_share")
def test_larger_inputs_are_in_the_answer() -> None:
    """A proof for the listed inputs is not shown as one for larger ones."""
    told = summary(CASES / "programs" / "randomized-response-4.toml")
    assert told["Answer"].startswith("private, but not for larger inputs")
    assert "not true for larger inputs" in told["Answer"]


def test_a_side_condition_is_in_question_and_answer(tmp_path: Path) -> None:
    """What is ignored is said twice, and so is that nothing is left to compare."""
    path = tmp_path / "case.toml"
    path.write_text(SIDED)
    told = summary(path)
    assert "impossible under one of the two secrets are ignored" in told["Question"]
    assert "impossible under one of the two secrets are ignored" in told["Answer"]
    path.write_text(NOTHING)
    assert "so nothing is compared" in summary(path)["Answer"]


def test_a_condition_on_the_environment_is_in_question_and_answer() -> None:
    """A system that is private only in some environments is not shown as private in all."""
    told = summary(CASES / "interactive" / "slots-2-never-full.toml")
    assert "that does not accept it" in told["Question"]
    assert told["Answer"].startswith("private, on a side condition")
    assert "that does not accept it" in told["Answer"]


PRIOR = """
[parameters]
p = "{p}"
t = "[1/2, 3/4]"
[prior]
x = {{ bernoulli = "p" }}
[secrets]
a = "x == 1"
b = "x == 0"
pairs = [["a", "b"]]
[mechanism]
kind = "randomized_response"
query = "x"
values = [0, 1]
truth = "t"
[privacy]
{bound}
"""


@pytest.mark.parametrize(
    ("p", "excluded", "several"),
    [
        ("(0, 1)", [], True),
        ("[0, 1/2]", ["p = 0"], True),
        ("[0, 1]", ["p = 0", "p = 1"], True),
        ("1/3", [], False),
    ],
)
def test_priors_that_are_excluded(tmp_path: Path, p: str, excluded: list[str], several: bool) -> None:
    """Priors that make a secret impossible are excluded; parameters of a mechanism make no other prior."""
    path = tmp_path / "case.toml"
    path.write_text(PRIOR.format(p=p, bound="ratio = 3"))
    told = summary(path)["Priors"]
    assert re.findall(r"Priors with (p = \d) are excluded", told) == excluded
    assert told.startswith("every prior" if several else "the one prior")


def test_inputs_that_have_no_neighbour(tmp_path: Path) -> None:
    """What is shown for all listed inputs is not shown about one that is compared with none."""
    path = tmp_path / "case.toml"
    program = '[mechanism]\nkind = "program"\nsource = "output(q > 2)"\n[mechanism.inputs]\n'
    path.write_text(
        f'{program}q = {{ values = [0, 1, 7] }}\n[neighbours]\ndiffer = "one"\n[privacy]\nratio = 1'
    )
    assert "the verdict does not cover 7" in summary(path)["Inputs"]


@pytest.mark.parametrize(
    ("bound", "least"),
    [
        ("ratio = 3", 1.0986122886),
        ('epsilon = "ln(3)"', 1.0986122886),
        ("epsilon = 1.098612289", 1.098612289),
        ('ratio = "1000000001/1000000000"', 0.9999999995e-9),
    ],
)
def test_an_epsilon_is_not_shown_too_small(tmp_path: Path, bound: str, least: float) -> None:
    """Each decimal of epsilon is enough: a reader who takes it for the bound takes no smaller one."""
    path = tmp_path / "case.toml"
    path.write_text(PRIOR.format(p="1/3", bound=bound))
    shown = re.findall(r"\bepsilon [=≈] ([\d.]+(?:e-?\d+)?)", summary(path)["Bound"])
    assert shown
    assert all(least <= float(number) <= least * (1 + 1e-8) for number in shown)


def test_a_delta_with_parameters(tmp_path: Path) -> None:
    """Epsilon alone is not shown as the bound of a case whose delta depends on parameters."""
    path = tmp_path / "case.toml"
    path.write_text(PRIOR.format(p="1/3", bound='ratio = 2\ndelta = "t/2"'))
    assert "δ depends on the parameters" in summary(path)["Bound"]


def test_undecided_is_no_answer() -> None:
    """An undecided case says that it is neither proved nor refuted, and shows no proof."""
    options = Options(strategy=race_of(("z3",)), steps=(), require_certificates=True)
    wanted = PageOptions(options, None, lambda left: nullcontext())
    found = examine(str(CASES / "noisy-max-3-above.toml"), wanted, 20)
    told = facts(Page(page([found])))
    assert told["Answer"].startswith("undecided No answer was found")
    assert told["Rests on"].startswith("no proof and no counterexample")
    assert "private" not in told["Answer"].replace("Do not treat it as private", "")


def test_the_word_of_a_solver_is_not_checked() -> None:
    """A proof that the checker cannot replay is not shown as one that it checked without a solver."""
    options = Options(strategy=race_of(("z3",)), steps=())
    wanted = PageOptions(options, None, lambda left: nullcontext())
    told = facts(Page(page([examine(str(CASES / "noisy-max-3-above.toml"), wanted, 60)])))
    assert told["Answer"].startswith("private, on the word of z3")
    assert "without a solver" not in told["Re-checked"]
    assert "it did not check what rests on the word of solvers" in told["Re-checked"]


def test_what_the_checker_says() -> None:
    """A rejection, a check without time, and evidence that shows less are never an acceptance."""
    held = Standing.HOLDS
    told = rechecked(Recheck(reason="there was no time"), held)
    assert told == "no; there was no time. Run the commands under Evidence."
    told = rechecked(Recheck(reason="checking did not end within 6 s", late=True), held)
    assert told.endswith("6 s. Use a longer --timeout, or run the commands under Evidence.")
    assert rechecked(Recheck(False, "", "claim 1 fails"), held).startswith("REJECTED by the checker")
    assert "shows less than the answer" in rechecked(Recheck(True, "unknown"), held)
    assert "shows less than the answer" not in rechecked(Recheck(True, "holds"), held)
