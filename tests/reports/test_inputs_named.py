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
from looks import members
from shipped_runs import asked

from paramverify import loads
from paramverify.models.neighbourhoods import BY
from paramverify.privacy.cases import load
from paramverify.privacy.inputs import power_told, values_told
from paramverify.reports import sentences

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


SHOWN = [
    ROOT / "cases" / "noisy-max-independent.toml",
    ROOT / "cases" / "programs" / "exponential-mechanism.toml",
]


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.stem)
def test_every_output_names_them(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets, checked evidence, theorems and pages name the inputs of a case, as `verify` does."""
    over, case = load(path).over, str(path)
    page, folder = tmp_path / "page.html", tmp_path / "theorem"
    for command in ("verify", "budget"):
        with monkeypatch.context() as patch:
            run = asked(path, tmp_path, patch, command)
            _, checked, words = run.checked("--case", case)
        assert f"{over} with" in run.words.out
        assert f"{over} with" in words
        assert run.document["inputs"] == checked["inputs"] == over
    assert printed("prove", case, "-o", str(folder)).code == 0
    assert over in (folder / "case.v").read_text(encoding="utf-8").split("*)")[0]
    printed("report", case, "-o", str(page))
    assert over in page.read_text(encoding="utf-8").split("Summary", 1)[1].replace("&#x27;", "'")


SEQUENCES = {
    "time-series-2": "all neighbouring inputs in {'ill', 'well'} and all output sequences of {}",
    "survey-memory": "every prior of the case over record in {0, 1} and all output sequences of {}",
    "above-threshold": "all neighbouring sequences of {} answers in {0..2}",
    "programs/stream-first-answer": "all neighbouring streams of {} entries in {0, 1}",
}
LENGTHS = {
    2: ("length 2", "2"),
    '"1..3"': ("length 1 to 3", "1 to 3"),
    '"all"': ("any length", "any number of"),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_an_answer_about_sequences_has_their_lengths(name: str, tmp_path: Path) -> None:
    """A proof about some lengths is never told as one about all, whatever is compared."""
    text = (ROOT / "cases" / f"{name}.toml").read_text(encoding="utf-8")
    for length, words in LENGTHS.items():
        path = tmp_path / "case.toml"
        path.write_text(re.sub("(?m)^length = .*$", f"length = {length}", text), encoding="utf-8")
        case = load(path)
        told = SEQUENCES[name].replace("{}", words["output" not in SEQUENCES[name]])
        assert sentences.priors(case.model.domain, case).startswith(f"for {told}")


def test_words_for_sets_of_values() -> None:
    """A range is written for whole numbers without a gap only: what is told has exactly the given members."""
    for chosen in product((False, True), repeat=6):
        values = [k - 2 for k, used in enumerate(chosen) if used]
        if values:
            assert members(values_told(list(map(Fraction, values)))) == set(map(str, values))


SPLIT = [
    "geometric-symbolic-3.toml --region",
    "geometric-independent-below.toml --exact",
    "geometric-independent-below.toml --region",
    "approximate/sparse-vector-map.toml --exact",
]


@pytest.mark.parametrize("given", SPLIT)
def test_answers_of_synthesize_name_them_once(given: str) -> None:
    """Intervals, maps and conditions are about the inputs of the case, in text and in JSON."""
    name, form = given.split()
    path = str(ROOT / "cases" / name)
    over = load(path).over
    told = printed("synthesize", path, form).out
    assert len([line for line in told.splitlines() if over in line]) == 1, told
    assert json.loads(printed("synthesize", path, form, "--json").out)["inputs"] == over
    found = loads(Path(path).read_text(encoding="utf-8")).synthesize(form.removeprefix("--"))
    assert over in str(found)


def test_listed_pairs_are_not_all_neighbours(tmp_path: Path) -> None:
    """Where neighbours are listed, no answer is about all of them, nor about the other inputs."""
    path = tmp_path / "case.toml"
    text = CASE.replace("laplace(1 / eps)", "geometric(exp(-eps))")
    path.write_text(
        text.format(first="q", entry="", inputs="q = { values = '0..4' }", near="pairs = [[0, 1]]", most=1)
    )
    told = "for the listed pair of q in {0..4} with eps in (0, oo)"
    evidence = str(tmp_path / "evidence.json")
    for line in (f"verify {path} --evidence {evidence}", f"budget {path}", f"check {evidence} --case {path}"):
        found = printed(*line.split())
        assert told in found.out, found.out
        assert "all neighbouring" not in found.out
    assert "it covers the listed pair of q" in printed("compose", f"{path}:eps=1", "--delta-for", "1").out


NEAR_BY_DEFAULT = [
    "verify programs/noisy-max-laplace.toml",
    "budget approximate/noisy-max.toml --delta-for 1",
    "budget approximate/noisy-max.toml --curve",
    "show approximate/noisy-max.toml",
]


@pytest.mark.slow
@pytest.mark.parametrize("line", NEAR_BY_DEFAULT)
def test_answers_say_how_far_neighbours_are_apart_by_default(line: str) -> None:
    """Each answer about neighbours has the note that they differ by at most 1 if the case does not say so."""
    command, name, *more = line.split()
    given = [command, str(ROOT / "cases" / name), *more]
    assert printed(*given).out.count(BY) == 1
    assert str(json.loads(printed(*given, "--json").out)["notes"]).count(BY) == 1


def test_sets_that_look_alike_when_shortened_are_not_taken_for_one() -> None:
    """Entries of an array have one set with a power only if they have the same values."""
    sets = [[*range(8), 9, 20], [*range(8), 10, 20]]
    assert values_told(sets[0]) == values_told(sets[1])
    assert "^2" not in power_told(sets, 2)
    assert power_told(sets[:1] * 2, 2).endswith("^2")
