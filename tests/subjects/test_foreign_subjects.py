"""Subjects of another package: those of docs/extending.md, installed beside this package."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import warm_processes
from conftest import ROOT

PACKAGE = ROOT / "paramverify"
CODES = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/extending.md").read_text(), re.M | re.S)
CODE = next(code for code in CODES if "WrittenAsCase" in code)
ENGINE = (ROOT / "tests/subjects/tables_of_probabilities.py").read_text()
PARTS = next(code for code in CODES if "(Subject)" in code)
PRIVATE, LEAKS, WRONG = "keep 3/4\nbound 3\n", "keep 4/5\nbound 3\n", "keep 2\nbound 3\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package of the page, installed, and three files of its form."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "surveys.py").write_text(CODE)
    metadata = folder / "surveys-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: surveys\nVersion: 1.0\n")
    entries = "[paramverify.subjects]\nsurvey = surveys\ntable = tables_of_probabilities\n"
    (metadata / "entry_points.txt").write_text(entries)
    (folder / "tables_of_probabilities.py").write_text(ENGINE)
    (folder / "good.table").write_text("bound 3\nyes 3/4 1/4\nno 1/4 3/4\n")
    (folder / "leaks.table").write_text("bound 2\nyes 3/4 0.25\nno 1/4 3/4\n")
    (folder / "endless.table").write_text("bound 2\nyes 1 0\nno 1/4 3/4\n")
    (folder / "wrong.table").write_text("bound 2\nyes 3/4 3/4\n")
    for name, text in (("private", PRIVATE), ("leaks", LEAKS), ("wrong", WRONG)):
        (folder / f"{name}.survey").write_text(text)
    return folder


def call(site: Path, *arguments: str) -> tuple[int, str, str]:
    """Calls the command line, with the package of the page in the path."""
    done = warm_processes.run(["-m", "paramverify", *arguments], site, os.environ, [str(site)])
    return done.returncode, done.stdout, done.stderr


def test_every_question_is_answered(site: Path) -> None:
    """Verdicts, bounds, formulas, maps, evidence and its check with the case, pages and samples are there."""
    code, out, _ = call(site, "verify", "private.survey", "--evidence", "e.json")
    assert (code, out.splitlines()[0][:8]) == (0, "private:")
    code, out, err = call(site, "check", "e.json", "--case", "private.survey")
    assert code == 0, out + err
    assert "read a second time" in out
    assert call(site, "check", "e.json", "--case", "leaks.survey")[0] == 1
    code, out, _ = call(site, "verify", "leaks.survey", "--json")
    assert (code, json.loads(out)["verdict"]) == (1, "not private")
    code, out, _ = call(site, "budget", "leaks.survey", "--json")
    assert (code, json.loads(out)["ratio"]) == (0, "4")
    assert json.loads(call(site, "budget", "leaks.survey", "--json", "--delta-for", "0")[1])["delta"] == "3/5"
    assert "randomized_response" in call(site, "explain", "private.survey")[1]
    assert "4/5" in call(site, "show", "leaks.survey")[1]
    assert call(site, "report", "leaks.survey", "-o", "page.html")[0] == 1
    assert call(site, "sample", "leaks.survey", "--runs", "20000", "--certify")[0] == 1


def test_mistakes_have_the_name_of_the_file(site: Path) -> None:
    """What the reader of the subject says comes with the file; so does what the reader of cases says."""
    code, _, err = call(site, "verify", "wrong.survey")
    assert (code, "wrong.survey" in err) == (2, True)
    (site / "empty.survey").write_text("")
    code, _, err = call(site, "verify", "empty.survey")
    assert (code, "empty.survey" in err, "keep" in err) == (2, True, True)


def test_in_python(site: Path) -> None:
    """`load` reads such a file, and says its kind by the name of the subject."""
    text = (
        "import paramverify as p; c = p.load('leaks.survey'); r = p.verify('private.survey'); "
        "print(c.kind, c.budget().ratio, bool(r), r.kind, p.check(r.evidence(), 'private.survey').accepted)"
    )
    done = warm_processes.run(["-c", text], site, os.environ, [str(site)])
    assert done.stdout == "survey 4 True survey True\n", done.stderr


def test_a_name_is_taken_once(site: Path, tmp_path: Path) -> None:
    """A package whose subject has the name of another one is named, and nothing is answered."""
    (tmp_path / "again.py").write_text(CODE.replace('name = "survey"', 'name = "privacy"'))
    metadata = tmp_path / "again-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: again\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[paramverify.subjects]\nagain = again\n")
    command = ["-m", "paramverify", "verify", "private.survey"]
    done = warm_processes.run(command, site, os.environ, [str(tmp_path)])
    assert done.returncode == 2
    assert "again" in done.stderr
    assert "privacy" in done.stderr


def test_the_engine_of_the_page(site: Path) -> None:
    """The subject with its own engine answers, rejects what it does not know, and names lines."""
    for part in PARTS.replace("\n        ...", "").strip().split("\n\n"):
        assert part.strip("\n") in ENGINE
    for name, code, words in (("good", 0, "private: the largest ratio is 3"), ("leaks", 1, "not private: ")):
        found, out, _ = call(site, "verify", f"{name}.table")
        assert (found, out.startswith(words)) == (code, True)
    assert json.loads(call(site, "verify", "leaks.table", "--json")[1])["verdict"] == "not private"
    assert call(site, "verify", "endless.table")[0] == 1
    assert call(site, "budget", "endless.table")[1] == "ratio = infinity\n"
    assert call(site, "budget", "good.table", "--precision", "1/10")[:2] == (0, "ratio = 3\n")
    code, _, err = call(site, "budget", "good.table", "--delta-for", "1")
    assert (code, "good.table is a table of probabilities: leave --delta-for out" in err) == (2, True)
    code, _, err = call(site, "verify", "wrong.table")
    assert (code, "wrong.table:2: yes: probabilities are" in err) == (2, True)
    code, _, err = call(site, "synthesize", "good.table")
    assert (code, "synthesize does not apply to this case: a table has no parameters" in err) == (2, True)
    _, _, err = call(site, "verify", "good.table", "--evidence", "none.json")
    assert err == "No evidence was written: there is no evidence for tables\n"
    text = "import paramverify as p; print(p.budget('good.table').ratio, bool(p.verify('good.table')))"
    assert warm_processes.run(["-c", text], site, os.environ, [str(site)]).stdout == "3 True\n"
