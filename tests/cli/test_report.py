"""`paramverify report`: exit codes, what it prints, and the commands on a page."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from json_shapes import mistakes
from page_tools import CASES, THREE, Page

from paramverify.cli import report
from paramverify.cli.main import run
from paramverify.errors import TimeLimitError
from paramverify.pages import handing
from paramverify.pages.work import Examined, PageOptions, examine

LEAKS = THREE.replace("Two people", "Two other people")
PRIVATE = THREE.replace('ratio = "3"', 'ratio = "16"')


@pytest.mark.slow
def test_the_worst_verdict_is_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two cases on a page give the code of the leaking one, in text and in JSON alike, with digests."""
    for name, text in (("a.toml", PRIVATE), ("b.toml", LEAKS)):
        (tmp_path / name).write_text(text)
    names = [str(tmp_path / name) for name in ("a.toml", "b.toml")]
    target = tmp_path / "page.html"
    assert run(["report", *names, "-o", str(target), "--title", "For the <board>"]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told == [f"private: {names[0]}", f"not private: {names[1]}", f"written: {target}"]
    assert run(["report", *names, "-o", str(target), "--title", "For the <board>", "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert (shown["status"], shown["page"]) == ("violated", str(target))
    assert [case["verdict"] for case in shown["cases"]] == ["private", "not private"]
    assert [case["digest"] for case in shown["cases"]] == [
        hashlib.sha256(text.encode()).hexdigest() for text in (PRIVATE, LEAKS)
    ]
    page = Page(target.read_text())
    assert page.having("h1")[0].text == "For the <board>"
    for number, case in enumerate(shown["cases"], start=1):
        text = page.data(f"evidence-{number}")["text"]
        assert hashlib.sha256(text.encode()).hexdigest() == case["evidence"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--parameters", "z"], "--parameters: there is no parameter 'z'; choose from "),
        (["--coverage", "2"], "--coverage: a number between 0 and 1 is needed"),
        (["-o", "nowhere/page.html"], "the folder 'nowhere' does not exist"),
        (["--backends", ""], "--backends names no backend: give at least one"),
    ],
)
def test_mistakes(options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake is an error that names it, and no page is written."""
    path = tmp_path / "case.toml"
    path.write_text(THREE)
    page = tmp_path / "page.html"
    assert run(["report", str(path), "-o", str(page), *options]) == 2
    assert said in capsys.readouterr().err
    assert not page.exists()


def test_a_limit_leaves_a_page_of_the_finished_cases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the second case meets a limit, the page is about the first one, and the message says so."""
    paths = [tmp_path / name for name in ("first.toml", "second.toml")]
    for path in paths:
        path.write_text(PRIVATE)
    monkeypatch.setattr(report, "examine", lambda case, *rest: _until(str(paths[1]), case, *rest))
    page = tmp_path / "page.html"
    assert run(["report", *map(str, paths), "-o", str(page)]) == 3
    said = capsys.readouterr()
    assert "1 of 2 cases had been examined by then." in said.out
    assert f"The page {page} is about these cases only." in said.out
    assert "first.toml" in page.read_text()
    assert "second.toml" not in page.read_text()


def _until(last: str, case: str, options: PageOptions, seconds: float) -> Examined:
    if case == last:
        raise TimeLimitError(60.0)
    return examine(case, options, seconds)


def test_a_mistake_in_a_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake in one of the cases is told with its place, and no page is written."""
    path = tmp_path / "case.toml"
    path.write_text(THREE.replace("geometric", "gometric", 1))
    assert run(["report", str(path), "-o", str(tmp_path / "page.html")]) == 2
    assert "did you mean 'geometric'?" in capsys.readouterr().err
    assert run(["report", str(CASES / "random-walk.rat"), "-o", str(tmp_path / "page.html")]) == 2
    assert "a page is about a case file, which ends with .toml" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.slow
def test_long_evidence_stands_beside_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence that is too long for the page is a file beside it, with the digest that the page tells."""
    monkeypatch.setattr(handing, "MOST_EMBEDDED", 100)
    path = tmp_path / "case.toml"
    path.write_text(PRIVATE)
    assert run(["report", str(path), "-o", str(tmp_path / "page.html")]) == 0
    page = Page((tmp_path / "page.html").read_text())
    assert not page.having("script", id="evidence-1")
    content = (tmp_path / "case.evidence.json").read_bytes()
    assert page.having("code", class_="digest")[0].text == hashlib.sha256(content).hexdigest()
    told = [seen.text for seen in page.having("p", class_="left-out")]
    assert any("the file case.evidence.json belongs next to this page" in text for text in told)


@pytest.mark.slow
def test_a_comparison_on_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The summary of `compare` becomes a table with its counts; another file is an error."""
    path, summary, target = (tmp_path / name for name in ("case.toml", "compared/summary.json", "page.html"))
    path.write_text(PRIVATE)
    assert run(["compare", str(path), "--backends", "bernstein,roots", "-o", str(summary.parent)]) == 0
    assert run(["report", str(path), "-o", str(target), "--comparison", str(summary)]) == 0
    page = Page(target.read_text())
    (table,) = page.having("table", aria_label="Backends")
    place = page.elements.index(table)
    rows = json.loads(summary.read_text())["configurations"]
    shown = [seen.attributes["data-key"] for seen in page.elements[place:] if "data-key" in seen.attributes]
    width = len(shown) // len(rows)
    told = [
        (line[0], line[1], line[4], Fraction(line[-1])) for line in zip(*[iter(shown)] * width, strict=True)
    ]
    wanted = [(r["encoding"], r["backend"], str(r["solved"]), Fraction(str(r["cpu"]))) for r in rows]
    assert told == wanted
    document = json.loads(summary.read_text())
    (part,) = document["simplification"]
    text = target.read_text()
    assert f"simplification settled {part['settled']} of" in text
    assert f"({part['encoding']}): " in text
    for skipped in document["skipped"]:
        assert f"{skipped['what']}: {skipped['reason']}" in text
    assert "tried every claim" not in text
    capsys.readouterr()
    assert run(["report", str(path), "-o", str(target), "--comparison", str(path)]) == 2
    assert "not a summary.json of `paramverify compare`" in capsys.readouterr().err


@pytest.mark.slow
def test_the_commands_of_a_page_do_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With both files from the page in one folder, its command `check` accepts the evidence of every kind."""
    names = (
        "randomized-response",
        "survey-memory-all",
        "interactive/survey",
        "logic/survey-coin",
        "random-walk",
    )
    monkeypatch.chdir(tmp_path)
    shutil.copy(CASES / "random-walk.rat", tmp_path)
    cases = [str(CASES / f"{name}.toml") for name in names]
    assert run(["report", *cases, "-o", "page.html"]) == 1
    page = Page(Path("page.html").read_text())
    for number in range(1, len(cases) + 1):
        for kind in ("evidence", "case"):
            (button,) = page.having("button", data_save=f"{kind}-{number}")
            text = page.data(f"{kind}-{number}")["text"]
            Path(button.attributes["data-name"]).write_text(text)
    blocks = [seen.text.splitlines() for seen in page.having("pre", aria_label="Commands")]
    with_the_program, alone = blocks[::2], blocks[1::2]
    assert len(with_the_program) == len(alone) == len(cases)
    shutil.copytree(CASES.parent / "paramverify" / "kernel", tmp_path / "kernel")
    for (line,) in alone:
        program, *arguments = shlex.split(line)
        assert program == "python3"
        assert subprocess.run([sys.executable, *arguments], check=False).returncode == 0, line
    for block in with_the_program:
        program, *arguments = shlex.split(block[1])
        assert program == "paramverify"
        assert run(arguments) == 0, block
        assert re.search("^(checked|accepted)", capsys.readouterr().out, re.MULTILINE)


def test_the_json_of_a_page_has_what_verify_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The side condition of a verdict stands beside it, whichever command gives it."""
    path = tmp_path / "case.toml"
    path.write_text(
        """
[mechanism]
kind = "hmm"
states = ["in", "out"]
observations = ["o", "u", "v"]
[mechanism.emissions]
in = { o = "1/2", u = "1/2" }
out = { o = "1/2", v = "1/2" }
[neighbours]
pairs = [["in", "out"]]
[privacy]
ratio = 1
one_sided = "ignored"
"""
    )
    assert run(["verify", str(path), "--json"]) == 0
    verified = json.loads(capsys.readouterr().out)
    assert run(["report", str(path), "-o", str(tmp_path / "page.html"), "--json"]) == 0
    (reported,) = json.loads(capsys.readouterr().out)["cases"]
    for key in ("status", "verdict", "side_condition"):
        assert reported[key] == verified[key]
    assert list(mistakes({"status": "holds", "page": "", "cases": [reported]}, "report", "report")) == []
