"""However much is wrong, and whatever characters it has: what is shown has an end and moves nothing."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from conftest import ROOT

from paramverify.api.cases import loads
from paramverify.cli.main import run
from paramverify.errors import MOST_TOLD, InputError

CASE = (ROOT / "cases" / "geometric-contagious-ln2.toml").read_text(encoding="utf-8")
MOVING = [
    *("\x7f", "\x80", "\x85", "\x9b", "\x9f", "\u061c", "\u200b", "\u200e", "\u200f"),
    *(chr(k) for k in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))),
    *("\u2028", "\u2029", "\ufeff", "\U000e0041"),
]


def with_keys(count: int) -> str:
    """Returns a case with so many keys that are not known, each a mistake."""
    keys = "".join(f"unknown{k} = 1\n" for k in range(count))
    return CASE.replace("[mechanism]\n", f"[mechanism]\n{keys}", 1)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, MOST_TOLD, MOST_TOLD + 1, MOST_TOLD + 750, 5_000])
@pytest.mark.parametrize("command", ["verify", "budget", "show"])
def test_the_lines_about_mistakes_have_an_end(
    command: str, count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first mistakes are shown, and how many more there are; JSON has all of them."""
    path = tmp_path / "case.toml"
    path.write_text(with_keys(count), encoding="utf-8")
    assert run([command, str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == min(count, MOST_TOLD + 1)
    if count > MOST_TOLD:
        assert lines[-1] == f"error: and {count - MOST_TOLD:,} more"
    assert run([command, str(path), "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert len(document["errors"]) == count
    assert len(document["reason"].splitlines()) == len(lines)


def test_the_message_of_an_exception_has_an_end() -> None:
    """It is the same in Python, where the parts of the exception are all there."""
    with pytest.raises(InputError) as caught:
        loads(with_keys(1_000))
    assert str(caught.value).endswith("\nand 750 more")
    assert len(caught.value.parts) == 1_000


@pytest.mark.parametrize("command", ["verify", "budget", "show", "explain"])
def test_no_output_has_a_character_that_moves_others(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A title with them is shown with escapes, in text and in JSON, which still stands for the same title."""
    title = f"a{''.join(MOVING)}b"
    path = tmp_path / "case.toml"
    escaped = "".join(f"\\U{ord(character):08x}" for character in MOVING)
    path.write_text(CASE.replace('title = "', f'title = "a{escaped}b', 1), encoding="utf-8")
    for options in ([], ["--json"]):
        run([command, str(path), *options])
        printed = "".join(capsys.readouterr())
        assert all(line.isprintable() for line in printed.split("\n")), repr(printed)
    if "title" in (document := json.loads(printed)):
        assert document["title"].startswith(title)


@pytest.mark.parametrize("words", ["verify {}", "verify case.toml --{}", "{}", "show -D {}=1"])
def test_no_message_has_a_character_that_moves_others(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """So it is with what is typed: names of files, of options and of commands."""
    for name, options in product((f"a{character}b" for character in MOVING), ([], ["--json"])):
        assert run([*(word.format(name) for word in words.split()), *options]) == 2
        printed = "".join(capsys.readouterr())
        assert all(line.isprintable() for line in printed.split("\n")), repr(printed)


def test_evidence_has_no_character_that_moves_others(tmp_path: Path) -> None:
    """Nor has a file that is written, and it is accepted for its case."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    path.write_text(CASE.replace('title = "', 'title = "\\u202ea\\u009bb', 1), encoding="utf-8")
    assert run(["verify", str(path), "--evidence", str(evidence)]) == 1
    text = evidence.read_text(encoding="utf-8")
    assert all(line.isprintable() for line in text.split("\n"))
    assert "\\u202ea\\u009bb" in text
    assert run(["check", str(evidence), "--case", str(path)]) == 0
