"""Text from users does not move cursors, turn directions or hide where people see it; JSON has it exactly."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramverify import printable
from paramverify.cli.main import run

WILD = "a\x1b[2J\u202eb\u200bc\nholds: private\x07\x85\u2028d"
CASE = """
title = {title}
[parameters]
p = "(0, 1)"
[mechanism]
kind = "hmm"
states = [{one}, "zero"]
observations = [{one}, "no"]
[mechanism.emissions.zero]
no = "1/2"
{one} = "1/2"
[mechanism.emissions.{one}]
no = "p/4"
{one} = "1 - p/4"
[prior.other]
zero = "1"
[prior.{one}]
{one} = "1"
[secrets]
pairs = [[{one}, "other"]]
[privacy]
ratio = "{ratio}"
"""


def quoted(text: str) -> str:
    """A TOML string."""
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text) + '"'


def case(path: Path, name: str = WILD, ratio: str = "2") -> Path:
    """A case with a wild name wherever there is one."""
    path.write_text(CASE.format(title=quoted(name), one=quoted(name), ratio=ratio))
    return path


def wild(text: str) -> list[str]:
    """The characters that a terminal would not show, line breaks aside."""
    return [c for c in text if (c != "\n" and unicodedata.category(c)[0] == "C") or c in "\u2028\u2029"]


@given(st.text(st.characters(codec="utf-8"), max_size=2000))
def test_every_text(text: str) -> None:
    """What is shown has no control or format character, and is short; what is harmless stays as it is."""
    shown = printable.name(text)
    assert not wild(shown)
    assert "\n" not in shown
    assert len(shown) < printable.LONGEST_NAME + 60
    if text.isprintable() and len(text) <= printable.LONGEST_NAME:
        assert shown == text
    assert printable.message(text).count("\n") == text.count("\n")
    assert not wild(printable.latex(text))
    assert not wild(printable.dot(text))


@pytest.mark.parametrize(
    "arguments",
    [
        ["verify"],
        ["budget"],
        ["show"],
        ["show", "--latex"],
        ["show", "--graph"],
        ["synthesize", "--region"],
        ["synthesize", "--witness"],
        ["certify", "--observations", WILD, "--at", "p=1/2"],
        ["certify", "--observations", "no such\x1b", "--at", "p=1/2"],
        ["export", "--to", "smtlib2"],
        ["verify", "--backends", WILD],
    ],
)
def test_every_command(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No command prints a control character of a name, and no name makes a line of its own."""
    path = case(tmp_path / "case.toml")
    run([arguments[0], str(path), *arguments[1:]])
    captured = capsys.readouterr()
    told = captured.out + captured.err
    assert told
    assert wild(told) == []
    assert not any(line.startswith("private:") and "p in" not in line for line in told.splitlines())


def test_json_is_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has the name itself."""
    path = case(tmp_path / "case.toml", ratio="5/4")
    assert run(["verify", str(path), "--json"]) == 1
    assert WILD in json.loads(capsys.readouterr().out)["witness"]["secrets"]
    assert run(["show", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == WILD


@pytest.mark.slow
def test_pictures(tmp_path: Path) -> None:
    """A picture is drawn and well formed, whatever the title is."""
    path = case(tmp_path / "case.toml", name=WILD + "z" * 20_000)
    plot = tmp_path / "map.svg"
    assert run(["synthesize", str(path), "--region", "--plot", str(plot)]) == 0
    root = ElementTree.parse(plot).getroot()
    words = " ".join(element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text"))
    assert wild(words) == []
    assert words.count("z") < 2 * printable.LONGEST_NAME


def test_long_names_are_shortened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A title and a message of 20 kB are some lines."""
    path = case(tmp_path / "case.toml", name="long " * 4_000)
    assert run(["show", str(path)]) == 0
    assert len(capsys.readouterr().out.splitlines()[0]) < 400
    path.write_text('title = "x"\n[mechanism]\nkind = "' + "k" * 20_000 + '"\n[privacy]\nratio = 2\n')
    assert run(["verify", str(path)]) == 2
    assert len(capsys.readouterr().err) < 2 * printable.LONGEST_LINE
