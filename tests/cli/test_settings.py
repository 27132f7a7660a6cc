"""`-D`: what is set is told, decided, and bound to the evidence; no other evidence is accepted for it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from calling_tools import called
from conftest import ROOT

from paramverify.errors import InputError
from paramverify.models.settings import read_settings, settled_digest, with_settings

COIN = """
title = "A coin"

[parameters]
q = "(0, 1)"

[define]
c = "1/4"
total = "x + y"

[prior]
x = { bernoulli = "q" }
y = { bernoulli = "q" }

[mechanism]
kind = "geometric"
query = "total"
noise = { truncated_geometric = "c", range = 2 }

[secrets]
some = "total >= 1"
none = "total == 0"
pairs = [["some", "none"]]

[privacy]
ratio = "1/c**2"
"""
EVERY_LENGTH = """
[parameters]
p = "[1/10, 2/5]"

[mechanism]
kind = "randomized_response"
truth = "1 - p"
memory = true

[neighbours]
differ = "one"

[privacy]
ratio = "9"
length = "all"
"""
PROGRAM = """
[parameters]
eps = "(0, oo)"

[define]
scale = "2/eps"

[mechanism]
kind = "program"
file = "program.py"

[mechanism.inputs]
n = { values = "0..1" }

[neighbours]
differ = "one"

[privacy]
epsilon = "eps"
"""
SOURCE = "if n + laplace(scale) >= 1:\n    output('yes')\nelse:\n    output('no')\n"
SLOTS = (ROOT / "cases" / "interactive" / "slots-2-symbolic.toml").read_text()

# The text of a case, the command that writes evidence, and settings of which each makes another case.
KINDS: dict[str, tuple[str, tuple[str, ...], list[list[str]]]] = {
    "definition": (COIN, ("verify",), [[], ["c=1/10"], ["c=1/2"], ["c=1/10", "q=1/2"]]),
    "interval": (COIN, ("verify",), [[], ["q=[1/10, 1/2]"], ["q=[1/10, 1/3]"], ["q=1/3"]]),
    "not private": (COIN.replace("1/c**2", "2"), ("verify",), [[], ["c=1/10"], ["q=1/2"]]),
    "budget": (COIN, ("budget",), [[], ["c=1/10"], ["q=1/2"]]),
    "map": (
        COIN.replace("1/c**2", "3"),
        ("synthesize", "--region"),
        [[], ["c=1/3"], ["q=[1/10, 1/2]"]],
    ),
    "every length": (EVERY_LENGTH, ("verify",), [[], ["p=1/4"], ["p=[1/5, 1/4]"]]),
    "program": (PROGRAM, ("verify",), [[], ["scale=1/eps"], ["scale=4/eps"]]),
    "interactive": (SLOTS, ("interactive",), [[], ["p=1/2"], ["p=[1/4, 1/2]"]]),
}


def options(settings: list[str]) -> list[str]:
    """The settings as options."""
    return [part for text in settings for part in ("-D", text)]


def checked(evidence: Path, case: Path, settings: list[str]) -> dict[str, Any]:
    """What `check --case` says of evidence, as JSON."""
    found = called("check", str(evidence), "--case", str(case), *options(settings), "--json")
    answer: dict[str, Any] = json.loads(found.out)
    assert found.code == (0 if answer["status"] == "accepted" else 1)
    return answer


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_evidence_is_about_what_was_set(kind: str, tmp_path: Path) -> None:
    """Evidence is accepted with its own settings, and with no other ones nor for the file as written."""
    text, command, several = KINDS[kind]
    path = tmp_path / "case.toml"
    path.write_text(text)
    (tmp_path / "program.py").write_text(SOURCE)
    for number, settings in enumerate(several):
        evidence = tmp_path / f"{number}.json"
        code = called(*command, str(path), *options(settings), "--evidence", str(evidence)).code
        assert code in (0, 1)
        for others in several:
            answer = checked(evidence, path, others)
            assert answer["status"] == ("accepted" if others == settings else "rejected"), (settings, others)
        said = json.loads(evidence.read_text())["case"].get("set", {})
        assert said == read_settings(settings)


def test_forged_evidence_is_rejected(tmp_path: Path) -> None:
    """Whatever is changed of what evidence says of its case: its claims are those of what was decided."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    path.write_text(COIN)
    called("verify", str(path), "-D", "c=1/10", "--evidence", str(evidence))
    document = json.loads(evidence.read_text())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    forged = {
        "nothing is set": ({"digest": document["case"]["digest"]}, []),
        "another value": ({"digest": document["case"]["digest"], "set": {"c": "1/2"}}, ["c=1/2"]),
        "the digest of the file": ({"digest": digest}, []),
        "that of another value": (
            {"digest": settled_digest(digest, {"c": "1/2"}), "set": {"c": "1/2"}},
            ["c=1/2"],
        ),
        "two values": ({"digest": digest, "set": {"c": "1/10", "q": "1/2"}}, ["c=1/10", "q=1/2"]),
    }
    for name, (case, settings) in forged.items():
        evidence.write_text(json.dumps({**document, "case": {"title": "A coin", **case}}))
        assert checked(evidence, path, settings)["status"] == "rejected", name


def test_the_second_reader_notices_other_settings(tmp_path: Path) -> None:
    """The second reader sets by itself: with other settings than the first reader it finds other numbers."""
    from paramverify.rereader.second_reading import second_look

    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    path.write_text(COIN)
    called("verify", str(path), "-D", "c=1/10", "--evidence", str(evidence))
    document = json.loads(evidence.read_text())
    assert second_look(document, COIN, settings={"c": "1/10"}).agrees
    for others in ({}, {"c": "1/2"}, {"c": "1/10", "total": "x"}, {"c": "1/10", "q": "[1/10, 1/2]"}):
        look = second_look(document, COIN, settings=others)
        assert look.compared, others
        assert not look.agrees, others


def test_verdicts_tell_what_was_set(tmp_path: Path) -> None:
    """Text and JSON of each command say it, and numbers have one spelling."""
    path = tmp_path / "case.toml"
    path.write_text(COIN)
    words = "set by -D, not by the file: c = 1/10"
    for command in ("verify", "budget", "synthesize"):
        assert words in called(command, str(path), "-D", "c=0.1").out
        assert words in json.loads(called(command, str(path), "-D", "c = 1/10", "--json").out)["notes"]
    assert json.loads(called("verify", str(path), "-D", "c=0.10", "--json").out)["set"] == {"c": "1/10"}
    shown = called("show", str(path), "-D", "c=1/10", "-D", "q=1/2", "--json").out
    assert json.loads(shown) != json.loads(called("show", str(path), "--json").out)


def test_a_comparison_and_a_page_are_about_what_was_set(tmp_path: Path) -> None:
    """`compare` asks about the claims with the value, and a page repeats it in its command."""
    path = tmp_path / "case.toml"
    path.write_text(COIN)
    asked = ("compare", str(path), "--backends", "z3", "--json")
    digests = []
    for given in ((), ("-D", "c=1/10")):
        folder = tmp_path / f"made{len(given)}"
        called(*asked, *given, "-o", str(folder))
        lines = (folder / "results.jsonl").read_text().splitlines()
        digests.append({json.loads(line)["digest"] for line in lines})
    assert digests[0]
    assert digests[1]
    assert digests[0] != digests[1]
    page = tmp_path / "page.html"
    called("report", str(path), "-D", "c=1/10", "-o", str(page))
    assert "-D c=1/10" in page.read_text()
    assert "et by -D, not by the file: c = 1/10" in page.read_text()


def test_a_parameter_that_is_set_is_known(tmp_path: Path) -> None:
    """The case with `-D` is the case in which the value is written."""
    path, written = tmp_path / "a" / "case.toml", tmp_path / "b" / "case.toml"
    path.parent.mkdir()
    written.parent.mkdir()
    path.write_text(COIN)
    written.write_text(COIN.replace('"(0, 1)"', '"1/2"').replace('"1/4"', '"1/10"'))
    for command in (["budget"], ["show"], ["export", "--to", "smtlib2", "--together"]):
        both = [
            called(*command, str(p), *o).out
            for p, o in ((path, ["-D", "q=1/2", "-D", "c=1/10"]), (written, []))
        ]
        told = "Note: set by -D, not by the file: q = 1/2, c = 1/10.\n"
        assert both[0].replace(told, "") == both[1]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            ["d=1"],
            (
                "case.toml: -D: 'd' is neither a definition nor a parameter of the file; choose from 'c', "
                "'total', 'q'"
            ),
        ),
        (["cc=1"], "did you mean 'c'?"),
        (["c"], "-D needs name=value, for example -D c=1/10, not 'c'"),
        (["c="], "-D needs name=value, for example -D c=1/10"),
        (["c=1", "c=2"], "-D c is given twice"),
        (["constraints=1"], "'constraints' is neither a definition nor a parameter of the file"),
        (["c=1 +"], "case.toml: -D c: syntax error"),
        (["q=z"], "case.toml: -D q: unknown name 'z'"),
        (["q=(0, 2)"], "negative"),
        (["q=2"], "negative"),
    ],
)
def test_mistakes_in_settings(settings: list[str], words: str, tmp_path: Path) -> None:
    """A name that is not there, a text without a value and a value that is none are errors that say so."""
    path = tmp_path / "case.toml"
    path.write_text(COIN)
    found = called("verify", str(path), *options(settings))
    assert found.code == 2
    assert words in found.err


def test_check_needs_a_case_for_settings(tmp_path: Path) -> None:
    """`check -D` without a case is an error, and evidence alone is checked as before."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    path.write_text(COIN)
    called("verify", str(path), "-D", "c=1/10", "--evidence", str(evidence))
    assert called("check", str(evidence)).code == 0
    assert "add --case" in called("check", str(evidence), "-D", "c=1/10").err


def test_one_value_has_one_spelling() -> None:
    """Numbers and the ends of intervals are written in lowest terms; other texts keep their words."""
    given = ["a= 0.10", "b=[ 0.1,2/4 )", "c=(0,oo)", "d=x  +  1", "e=min(1, x)", "f='a  b'"]
    assert read_settings(given) == {
        **{"a": "1/10", "b": "[1/10, 1/2)", "c": "(0, oo)"},
        **{"d": "x  +  1", "e": "min(1, x)", "f": "'a  b'"},
    }


def test_a_map_without_its_case_is_about_its_domain(tmp_path: Path) -> None:
    """A map in which nothing tells the case is accepted for its own domain at most."""
    path, evidence = tmp_path / "case.toml", tmp_path / "map.json"
    path.write_text(COIN.replace("1/c**2", "3"))
    called("synthesize", str(path), "--region", "-D", "q=[1/10, 1/2]", "--evidence", str(evidence))
    document = json.loads(evidence.read_text())
    del document["case"]
    evidence.write_text(json.dumps(document))
    for settings in ([], ["q=[1/10, 1/3]"], ["c=1/3"]):
        assert checked(evidence, path, settings)["status"] == "rejected"


def test_a_design_parameter_gets_an_interval_or_a_value() -> None:
    """With an interval it is still to be chosen; with a number it is chosen."""
    data = {"parameters": {"a": {"in": "(0, 1)", "design": True}, "b": "[0, 1]"}}
    assert with_settings(data, {"a": "[1/4, 1/2]"})["parameters"]["a"] == {"in": "[1/4, 1/2]", "design": True}
    assert with_settings(data, {"a": "1/4"})["parameters"]["a"] == "1/4"
    assert data["parameters"]["a"] == {"in": "(0, 1)", "design": True}
    with pytest.raises(InputError):
        with_settings({}, {"a": "1"})


def test_digests_differ() -> None:
    """Every set of settings has a digest of its own, in any order; none has that of the file."""
    several = [{}, {"a": "1"}, {"a": "2"}, {"b": "1"}, {"a": "1", "b": "1"}, {"a": "1\n-D b=1"}]
    assert len({settled_digest("0" * 64, s) for s in several}) == len(several)
    assert settled_digest("x", {"a": "1", "b": "2"}) == settled_digest("x", {"b": "2", "a": "1"})
    assert settled_digest("x", {}) == "x"


def test_explain_tells_definitions_and_what_was_set(tmp_path: Path) -> None:
    """`explain` has the definitions with what was set, and knows the variables that they read."""
    path = str(ROOT / "cases" / "release-household.toml")
    found = json.loads(called("explain", path, "-D", "q=1/3", "--json").out)
    assert found["definitions"] == {"somebody": "john + kin >= 1"}
    assert found["parameters"]["q"] == "1/3"
    assert found["notes"][0] == "set by -D, not by the file: q = 1/3"
    assert found["warnings"] == []
