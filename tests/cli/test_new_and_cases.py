"""`new` writes cases that work, `cases` lists the shipped ones, and `verify --budgets` takes several."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from calling_tools import called
from conftest import ROOT

from paramverify.cli.cases import SHIPPED
from paramverify.cli.new import kinds
from paramverify.errors import InputError
from paramverify.subjects.written_numbers import split

KINDS = ["prior", "neighbours", "program", "release", "interactive", "logic", "time-series", "inequality"]
COMMAND = {"interactive": "interactive", "logic": "logic"}


def variants(text: str) -> list[tuple[str, str]]:
    """The case with each single line uncommented; a line below `# instead:` replaces the last one above."""
    lines = text.splitlines()
    found = []
    for k, line in enumerate(lines):
        if not line.startswith("#") or line[1:2] in ("", " "):
            continue
        kept = list(lines)
        kept[k] = line[1:]
        if lines[k - 1] == "# instead:":
            above = max(j for j in range(k) if lines[j] and not lines[j].startswith("#"))
            del kept[above]
        found.append((line, "\n".join(kept) + "\n"))
    return found


VARIANTS = [(kind, line, text) for kind in KINDS for line, text in variants(kinds()[kind])]


def test_all_kinds_have_a_template() -> None:
    """Each kind is there, in the list too, and has lines that may be uncommented."""
    assert set(kinds()) == set(KINDS)
    listed = json.loads(called("new", "--json").out)["kinds"]
    assert {entry["kind"] for entry in listed} == set(KINDS)
    assert all(entry["kind"] in called("new").out and entry["about"] for entry in listed)
    assert {kind for kind, _, _ in VARIANTS} >= set(KINDS) - {"interactive"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_case_is_proved_at_once(kind: str, tmp_path: Path) -> None:
    """The file that `new` writes is proved by the command that it names, and never written over."""
    path = tmp_path / "new.toml"
    wrote = called("new", kind, "-o", str(path))
    command = COMMAND.get(kind, "verify")
    assert wrote.code == 0
    assert f"paramverify {command} {path}" in wrote.out
    assert called(command, str(path)).code == 0
    assert called("new", kind).out == kinds()[kind]
    path.write_text("mine")
    refused = called("new", kind, "-o", str(path))
    assert refused.code == 2
    assert "add --force" in refused.err
    assert path.read_text() == "mine"
    assert called("new", kind, "-o", str(path), "--force", "--json").code == 0
    assert path.read_text() != "mine"


@pytest.mark.parametrize(
    ("kind", "line", "text"), VARIANTS, ids=[f"{kind} {line[1:40]}" for kind, line, _ in VARIANTS]
)
def test_each_comment_may_be_uncommented(kind: str, line: str, text: str, tmp_path: Path) -> None:
    """With one more line the case is read, and decided one way or the other."""
    path = tmp_path / "new.toml"
    path.write_text(text)
    found = called(COMMAND.get(kind, "verify"), str(path), "--json")
    assert found.code in (0, 1), (line, found.err)
    assert json.loads(found.out).get("status", "") != "unknown"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["progam"], "did you mean 'program'?"),
        (["-o", "x.toml"], "-o needs a KIND: add one of"),
        (["prior", "-o", "/nowhere/x.toml"], "the folder '/nowhere' does not exist"),
    ],
)
def test_mistakes_of_new(arguments: list[str], words: str) -> None:
    """What is misspelt or missing is told."""
    found = called("new", *arguments)
    assert found.code == 2
    assert words in found.err


@pytest.mark.slow
def test_cases_lists_all_that_are_shipped() -> None:
    """The list has each file of `cases/` once, with its title, its kind and the verdict that it expects."""
    listed = json.loads(called("cases", "--json").out)["cases"]
    paths = {
        p.relative_to(ROOT / "cases").with_suffix("").as_posix(): p for p in (ROOT / "cases").rglob("*.toml")
    }
    assert sorted(entry["name"] for entry in listed) == sorted(paths)
    words = {"holds": "private", "violated": "not private"}
    lines = {line.split()[0]: line for line in called("cases").out.splitlines()}
    for entry in listed:
        data = tomllib.loads(paths[entry["name"]].read_text())
        assert entry["title"] == data.get("title", "")
        assert entry["kind"] in lines[entry["name"]]
        if "mechanism" in data:
            assert entry["kind"] == data["mechanism"]["kind"]
            expect = data["expect"]
            assert entry["verdict"] == (expect.get("verdict") or words[expect["status"]])
        assert entry["verdict"]
    assert next(e for e in listed if e["name"] == "blood-test")["verdict"] == "false"
    assert next(e for e in listed if e["name"] == "logic/survey")["verdict"] == "2 true, 2 false"


@pytest.mark.parametrize("name", ["programs/family", "family", "family.toml"])
def test_a_case_is_printed_as_it_is(name: str) -> None:
    """Its file, with or without the folder and the ending."""
    text = (ROOT / "cases" / "programs" / "family.toml").read_text()
    assert called("cases", name).out == text
    assert json.loads(called("cases", name, "--json").out)["text"] == text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("familly", "did you mean 'family'?"),
        ("survey", "'survey' names several cases: choose one of "),
        ("../setup", "no case has the name"),
    ],
)
def test_cases_that_are_not_there(name: str, words: str) -> None:
    """The nearest one is named, or the several that are meant."""
    found = called("cases", name)
    assert found.code == 2
    assert words in found.err


def test_shipped_is_the_folder_of_cases() -> None:
    """In the sources it is a link, so nothing is there twice."""
    assert SHIPPED.is_symlink()
    assert SHIPPED.resolve() == ROOT / "cases"


CASE = str(ROOT / "cases" / "geometric-neighbours.toml")  # its largest ratio is 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("budgets", "codes"),
    [
        ("ln(2)", [0]),
        ("1,ln(2),2", [0, 0, 0]),
        ("1, 1/2, 0.69", [0, 1, 1]),
        ("ln((1 + 1)),-ln(1/2)", [0, 0]),
        ("0.69,0.7", [1, 0]),
    ],
)
def test_several_budgets(budgets: str, codes: list[int]) -> None:
    """Each has the verdict of the case with this budget, in text and JSON; the exit code is the worst."""
    found = called("verify", CASE, "--budgets", budgets)
    answer = json.loads(called("verify", CASE, "--budgets", budgets, "--json").out)
    assert found.code == max(codes)
    status = {0: "holds", 1: "violated"}
    assert [entry["status"] for entry in answer["budgets"]] == [status[code] for code in codes]
    assert answer["status"] == status[max(codes)]
    for entry, text in zip(answer["budgets"], split(budgets), strict=True):
        assert entry["budget"] == f"epsilon = {text}"
        assert f"epsilon = {text}" in found.out
        assert ("witness" in entry) == (entry["status"] == "violated")


def test_an_undecided_budget_is_worse_than_a_proved_one(tmp_path: Path) -> None:
    """1 comes before 3, and 3 before 0: one that no backend decides makes the code 3."""
    from unittest import mock

    from paramverify.answers import End
    from paramverify.privacy import verification
    from paramverify.subjects import case_answers
    from paramverify.verdicts import Unknown

    def verify(case: object, options: object, **given: object) -> object:
        found = verification.verify(case, options, **given)  # type: ignore[arg-type]
        if case.budget != "epsilon = 2":  # type: ignore[attr-defined]
            return found
        return verification.replace(found, verdict=Unknown(End.TIMEOUT, "the time was over"))

    with mock.patch.object(case_answers, "verify_beyond", verify):
        assert called("verify", CASE, "--budgets", "1,2").code == 3
        assert called("verify", CASE, "--budgets", "2,1/2").code == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--budgets", "1,,2"], "write bounds with commas between them"),
        (["--budgets", "1,lm(2)"], "--budgets lm(2)"),
        (["--budgets", "1,-1"], "below 1"),
        (["--budgets", "1", "--evidence", "x.json"], "--evidence is about one bound"),
        (["--budgets", "1", "--encoding", "monolithic"], "leave --budgets out"),
    ],
)
def test_mistakes_of_budgets(arguments: list[str], words: str, tmp_path: Path) -> None:
    """Each mistake is told before anything is decided."""
    given = [str(tmp_path / a) if a.endswith(".json") else a for a in arguments]
    found = called("verify", CASE, *given)
    assert found.code == 2
    assert words in found.err
    assert not found.out


def test_a_claim_has_no_budgets() -> None:
    """A case of an inequality has none, and says so."""
    found = called("verify", str(ROOT / "cases" / "blood-test.toml"), "--budgets", "1")
    assert found.code == 2
    assert "this case has no budget" in found.err


def test_commas_in_brackets_part_nothing() -> None:
    """Budgets are parted where no bracket is open."""
    assert split("1, min(1, 2),ln(2)") == ["1", "min(1, 2)", "ln(2)"]
    with pytest.raises(InputError):
        split("1,")
