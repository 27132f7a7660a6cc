"""The JSON that commands print, against docs/json.toml: keys and types; and the tables of the page.

tests/test_shipped_cases.py does the same with what `verify`, `budget`, `interactive`, `explain`, `check` say.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT
from json_formats import COMMON, objects, slug, tables
from json_shapes import PLAIN, SHAPES, mistakes

from paramverify.cli._commands import commands
from paramverify.cli.main import run

LIMITED = "Errors and limits"

RUNS = (
    "explain logic/survey-coin.toml",
    "prove randomized-response.toml -o FOLDER",
    "budget approximate/noisy-max.toml --delta-for 1",
    "budget approximate/geometric-independent.toml --epsilon-for 1/10",
    "budget noisy-max-contagious.toml --delta-for ln(2) --precision 0.01",
    "budget approximate/noisy-max.toml --curve",
    "budget approximate/geometric-independent.toml --curve",
    "certify approximate/geometric-independent-below.toml --at p=1/146",
    "compose gaussian:sigma=2,times=3 laplace:scale=3 --delta-for 1",
    "compose approximate/noisy-max.toml --curve",
    "compose randomized_response:truth=3/4,subsample=1/10,times=2 --epsilon-for 1/100",
    "budget divergences/geometric-chi-squared.toml",
    "budget divergences/survey-zcdp.toml --precision 0.01",
    "certify divergences/geometric-zcdp.toml --at p=1/2",
    "budget geometric-metric.toml",
    "budget interactive/slots-2-symbolic.toml",
    "budget programs/geometric-metric.toml",
    "synthesize geometric-independent-below.toml",
    "synthesize design-geometric-contagious.toml",
    "synthesize geometric-independent-below.toml --near p=1/2",
    "synthesize geometric-independent-below.toml --witness --objective ratio --precision 0.01",
    "synthesize noisy-max-independent-below.toml --parameters pA,pB --coverage 0.5",
    "certify noisy-max-contagious.toml --observations 3 --at pA=1/2,pB=1/2,pC=1/2",
    "show geometric-independent.toml",
    "show blood-test.toml",
    "show programs/sparse-vector.toml --graph",
    "logic logic/survey-coin.toml",
    "logic logic/emptiness.toml",
    "logic logic/survey-coin.toml --epsilon-for 0 --delta-for ln(2)",
    "logic logic/survey.toml --curve",
    "sample noisy-max-naive-3-ln2.toml --runs 1000 --certify",
    "sample approximate/geometric-independent-below.toml --runs 1000 --certify",
    "synthesize approximate/design-geometric.toml",
    "sample geometric-neighbours.toml --audit --direct --runs 2000",
    "verify release-household.toml -D honest=1/2",
    "verify geometric-neighbours.toml --budgets 1/2,ln(2)",
    "show coarse-noise.toml",
    "new",
    "new release",
    "new prior -o FOLDER/prior.toml",
    "cases",
    "cases infection-chain",
    "export noisy-max-independent.toml --to smtlib2 --claim 1",
    "export noisy-max-independent.toml --to smtlib2 -o FOLDER",
    "compare geometric-contagious-ln2.toml --backends z3 --encodings sequences,monolithic -o FOLDER",
    "convert --pure ln(3) --delta-for ln(2) --order 4",
    "convert --zcdp 1/2 --epsilon-for 1/1000",
    "backends",
)


@pytest.mark.slow
@pytest.mark.parametrize("line", RUNS)
def test_json_has_the_keys_of_the_page(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every key that a command prints is on the page, with its type."""
    name, *rest = line.replace("FOLDER", str(tmp_path)).split()
    arguments = [str(ROOT / "cases" / word) if word.endswith(".toml") else word for word in rest]
    run([name, *arguments, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document.get("status") != "error", document
    assert list(mistakes(document, name, name)) == []


@pytest.mark.slow
def test_checked_evidence_has_the_keys_of_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What `check` prints is on the page, with a case and without."""
    case, evidence = str(ROOT / "cases" / "geometric-contagious-ln2.toml"), str(tmp_path / "evidence.json")
    run(["verify", case, "--evidence", evidence])
    capsys.readouterr()
    for more in ([], ["--case", case]):
        run(["check", evidence, *more, "--json"])
        assert list(mistakes(json.loads(capsys.readouterr().out), "check", "check")) == []


def test_a_mistake_in_the_input_has_the_keys_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """An error is one object with the keys of the first table."""
    assert run(["verify", "nowhere.toml", "--json"]) == 2
    assert list(mistakes(json.loads(capsys.readouterr().out), LIMITED, "error")) == []


def test_no_object_and_no_key_stands_twice() -> None:
    """A reader finds each object once, and each key once in it; common keys are those of several objects."""
    made = {part.name: part for part in objects()}
    assert len(made) == len(objects())
    assert len({slug(name) for name in made}) == len(made)
    common = [key for field in made.pop(COMMON).fields for key in field.keys]
    assert len(common) == len(set(common))
    used: Counter[str] = Counter()
    for name, part in made.items():
        listed = [found.key for found in part.common]
        keys = [*listed, *(key for field in part.fields for key in field.keys)]
        assert len(keys) == len(set(keys)), name
        used.update(listed)
    assert set(used) == set(common)
    assert [key for key, times in used.items() if times == 1] == []


def test_every_command_has_an_object() -> None:
    """Each command that prints JSON has an object, and each part that a type names is one, and has keys."""
    without = {name for name in commands() if name not in SHAPES}
    assert without == {"schema"}  # it prints a schema, which is its own description
    parts = {
        part for shape in SHAPES.values() for kind in shape.values() for part in re.split(r" of | or ", kind)
    }
    named = {part for part in parts if part not in PLAIN} - {"list", "map"}
    assert named <= set(SHAPES)
    assert {part.name for part in objects() if not part.heading} <= named
    assert {part.name for part in objects() if part.heading} >= set(commands())


def test_the_page_has_every_key() -> None:
    """The tables have a row for each field, and links lead from types to their objects."""
    page = tables()
    rows = re.findall(r"^\| (`.+?`) \| (.+?) \| (.+) \|$", page, re.MULTILINE)
    fields = [field for part in objects() for field in part.fields]
    assert [re.findall(r"`(.+?)`", keys) for keys, _, _ in rows] == [list(field.keys) for field in fields]
    assert [meaning for _, _, meaning in rows] == [field.meaning for field in fields]
    assert all(field.meaning and "|" not in field.type + field.meaning for field in fields)
    anchors = {slug(name) for name in re.findall(r"^## (.+)$", page, re.MULTILINE)}
    anchors |= set(re.findall(r"\{ #([\w-]+) \}", page))
    assert set(re.findall(r"\]\(#(.+?)\)", page)) <= anchors
    assert r"| `claims` | [claim](#claim)\[\] |" in page
    assert r"| `lower_lines` | exact{}\[\] |" in page


def test_unknown_is_no_exact_number() -> None:
    """The text `unknown` stands only where the page allows it; a flag is no exact number."""
    assert list(mistakes({"ratio_upper": "unknown", "epsilon": "ln(1/p^4)"}, "budget", "b")) == []
    assert len(list(mistakes({"ratio": "unknown"}, "budget", "b"))) == 1
    assert len(list(mistakes({"ratio": True}, "budget", "b"))) == 1
    assert list(mistakes({"exact": True, "value": "3"}, "least", "b")) == []
