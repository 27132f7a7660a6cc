"""Every answer about listed inputs names them: in text, JSON, Python, pages, evidence and theorems."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from calling_tools import printed
from conftest import ROOT

from paramverify import loads
from paramverify.models.inequality import Inequality
from paramverify.privacy.cases import load
from paramverify.privacy.inputs import values_told
from paramverify.privacy.verification import Report
from paramverify.reports import verdicts
from paramverify.tables import toml_data
from paramverify.verdicts import Holds

PRIVACY = [
    path
    for path in sorted((ROOT / "cases").rglob("*.toml"))
    if path.parent.name not in ("automata", "logic")  # of other readers
    and {"neighbours", "prior"} & toml_data(path.read_text(encoding="utf-8")).keys()
]


@pytest.mark.parametrize("path", PRIVACY, ids=lambda path: str(path.relative_to(ROOT / "cases")))
def test_no_shipped_verdict_is_without_its_inputs(path: Path) -> None:
    """Where a shipped case lists inputs, "private" names each input with its values, in text and in JSON.

    The values are read here from the tables of the file.
    """
    case = load(path)
    data = toml_data(case.text)
    report = Report(Holds(()), (), (), case.model.domain, (), 0.0)
    told, document = verdicts.lines(report, case)[0], verdicts.document(report, case)
    listed = dict(data["mechanism"].get("inputs", {})) if "neighbours" in data else {}
    for name, given in listed.items():
        power = f"^{given['length']}" if "length" in given else ""
        (values,) = re.findall(rf"\b{name}\b[^{{]*({{[^}}]*}})", told)
        assert f"{values}{power}" in told
        assert document["inputs"] in told
        assert members(values) == {str(v) for v in values_of(given["values"])}, told
    if "neighbours" in data:
        assert "for all neighbouring " in told
        assert " in {" in told
    elif case.prior is not None and not isinstance(case.model, Inequality):
        assert "prior of the case over " in told
        assert all(name in told for name in list(case.prior.names)[:2])


def members(told: str) -> set[str]:
    """Returns what a set in words consists of."""
    if span := re.fullmatch(r"{(-?\d+)\.\.(-?\d+)}", told):
        return {str(k) for k in range(int(span[1]), int(span[2]) + 1)}
    return {entry.strip("'") for entry in told.strip("{}").split(", ")}


def values_of(given: object) -> list[object]:
    """Returns the values that an entry of `[mechanism.inputs]` lists."""
    if isinstance(given, str):
        low, high = map(int, given.split(".."))
        return list(range(low, high + 1))
    assert isinstance(given, list)
    return given


CASE = """
[parameters]
eps = "(0, oo)"
[mechanism]
kind = "program"
source = "return {first}{entry} + laplace(1 / eps)"
[mechanism.inputs]
{inputs}
[neighbours]
{near}
[privacy]
epsilon = "{most} * eps"
"""
NEAR = [
    ("differ = 'one'", 1),
    ("differ = 'each'\nby = 3", 3),
    ("related = 'x != y'", 9),
    ("distance = '1'", 9),
]
LISTED = {
    "q = { length = 2, values = '0..4' }": "q in {0..4}^2",
    "q = { values = '0..4' }": "q in {0..4}",
    "q = { values = '-3..-1' }": "q in {-3..-1}",
    "q = { values = '0..1' }": "q in {0, 1}",
    "q = { length = 1, values = '0..2' }": "q in {0..2}^1",
    "q = { values = [0, 1, 3] }": "q in {0, 1, 3}",
    "q = { values = [2, 0, 1] }": "q in {0..2}",
    "q = { values = [0, '1/2', 1] }": "q in {0, 1/2, 1}",
    "q = { values = '0..2' }\nr = { values = ['yes', 'no'] }": "q in {0..2}, r in {'yes', 'no'}",
    "q = { values = '0..2' }\nr = { values = '0..2' }": "q, r in {0..2}",
    "q = { values = [0, 1, 2, 3, 4, 5, 6, 7, 9] }": "q in {0, 1, 2, 3, 4, 5, 6, ..., 9} (9 values)",
}


@pytest.mark.parametrize("inputs", LISTED)
def test_a_verdict_names_its_inputs(inputs: str) -> None:
    """All sentences about a proof name the inputs as they are listed, with gaps, labels and lengths."""
    near, by = NEAR[0] if "yes" not in inputs else ('differ = "one"\nby = "any"', 2)
    entry = "[0]" if "length" in inputs else ""
    text = CASE.format(first="q", entry=entry, inputs=inputs, near=near, most=by)
    told = f"for all neighbouring {LISTED[inputs]} with eps in (0, oo)"
    report = loads(text).verify(timeout=30)
    assert report.verdict == "private"
    assert told in str(report).splitlines()[0]
    assert told in repr(report)
    assert told in report._repr_html_().replace("&#x27;", "'")
    assert report.to_dict()["inputs"] == LISTED[inputs]


@pytest.mark.parametrize(("near", "by"), NEAR[1:3])
def test_all_ways_to_say_what_neighbours_are(near: str, by: int) -> None:
    """The inputs are named however the neighbours are described."""
    inputs = "q = { length = 2, values = '0..2' }"
    related = near.replace("x != y", "x[0] != y[0]")
    text = CASE.format(first="q", entry="[0]", inputs=inputs, near=related, most=by)
    assert "for all neighbouring q in {0..2}^2" in str(loads(text).verify(timeout=30))


SHOWN = [ROOT / "cases" / name for name in ("programs/noisy-max-laplace.toml", "noisy-max-independent.toml")]


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.stem)
def test_every_output_names_them(path: Path, tmp_path: Path) -> None:
    """Budgets, checked evidence, theorems and pages name the inputs of a case, as `verify` does."""
    over = load(path).over
    evidence, budget = str(tmp_path / "evidence.json"), str(tmp_path / "budget.json")
    page, folder = tmp_path / "page.html", tmp_path / "theorem"
    case = str(path)
    for arguments in (
        ["verify", case, "--evidence", evidence],
        ["budget", case, "--evidence", budget],
        ["check", evidence, "--case", case],
        ["check", budget, "--case", case],
    ):
        assert f"{over} with" in printed(*arguments).out, arguments
        document = json.loads(printed(*[a for a in arguments if a not in ("--evidence", evidence, budget)] if
                                      arguments[0] != "check" else arguments, "--json").out)  # fmt: skip
        assert document["inputs"] == over
    assert printed("prove", case, "-o", str(folder)).code == 0
    assert over in (folder / "case.v").read_text(encoding="utf-8").split("*)")[0]
    printed("report", case, "-o", str(page))
    assert over in page.read_text(encoding="utf-8").split("Verdict", 1)[1].replace("&#x27;", "'")


def test_words_for_sets_of_values() -> None:
    """A range is written for whole numbers without a gap only: what is told has exactly the given members."""
    for chosen in product((False, True), repeat=6):
        values = [k - 2 for k, used in enumerate(chosen) if used]
        if values:
            assert members(values_told(list(map(Fraction, values)))) == set(map(str, values))
