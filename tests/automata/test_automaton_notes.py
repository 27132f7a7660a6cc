"""What is told of automata that read nothing, and of outputs that do not tell the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_json_formats import mistakes

from paramverify.cli.main import run

START = "(q1:non-input, 1/2, 0): t := insample; output ostart; goto q2\n"
STEP = "(q2{reads}, 1/4, 0): if (insample < t) then output {low}; goto q2 "
STEP += "elseif (insample >= t) then output {high}; goto {target}\n"
CASE = """
[parameters]
eps = "(0, oo)"
[automaton]
file = "a.dipa"
[neighbours]
differ = "each"
[privacy]
epsilon = "eps"
length = "all"
"""

Decide = Callable[[str], list[tuple[int, str, dict[str, Any]]]]


@pytest.fixture
def told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Decide:
    """What `verify` says of an automaton, and of a case that names it; also as JSON."""

    def decide(text: str) -> list[tuple[int, str, dict[str, Any]]]:
        (tmp_path / "a.dipa").write_text(text)
        (tmp_path / "a.toml").write_text(CASE)
        found = []
        for name, page in (("a.dipa", "verify of an automaton"), ("a.toml", "verify of a stream")):
            code = run(["verify", str(tmp_path / name)])
            out = capsys.readouterr().out
            assert run(["verify", str(tmp_path / name), "--json"]) == code
            document = json.loads(capsys.readouterr().out)
            assert list(mistakes(document, page, name)) == []
            found.append((code, out, document))
        return found

    return decide


def step(reads: bool, low: str, high: str, target: str = "q2") -> str:
    return STEP.format(reads="" if reads else ":non-input", low=low, high=high, target=target)


@pytest.mark.slow
def test_no_state_reads(told: Decide) -> None:
    """Where no state reads, streams make no difference; that is said once, and not where one reads."""
    for code, out, document in told(START + step(False, "a", "b", "q3")):
        assert code == 0
        assert out.count("Note: no state reads an entry, so streams make no difference.") == 1
        assert document["notes"] == ["no state reads an entry, so streams make no difference"]
    for code, out, document in told(START + step(True, "a", "b", "q3")):
        assert (code, "reads an entry" in out, "notes" in document) == (0, False, False)


@pytest.mark.slow
def test_the_same_word(told: Decide) -> None:
    """Both transitions are named with their lines, and another word for one of them decides it."""
    for code, out, _ in told(START + step(True, "a", "a")):
        assert code == 3
        assert "the transitions 1 (line 2) and 2 (line 2) of q2 output the same word, a." in out
        assert "If an observer can distinguish them, give one of them another word." in out
    for code, out, _ in told(START + step(True, "a", "b")):
        assert (code, "another word" in out) == (1, False)


def test_numbers_on_two_ways(told: Decide) -> None:
    """Where both put out numbers, no word is blamed."""
    for _, out, _ in told(START + step(True, "insample", "insample", "q3")):
        assert "of q2 output numbers. So the outputs do not reveal which path the run took" in out
        assert "the same word" not in out


def test_programs_that_are_quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program whose outputs do not tell the way: a word for every entry decides it."""
    path = tmp_path / "case.toml"
    text = CASE.replace(
        '[automaton]\nfile = "a.dipa"', "[mechanism]\nkind = \"program\"\nsource = '''\n{}'''"
    )
    program = 't = laplace(2 / eps)\nfor x in stream(values="real"):\n    if x + laplace(4 / eps) >= t:\n'
    program += '        output("above")\n'
    path.write_text(text.format(program))
    assert run(["verify", str(path)]) == 3
    assert "output a word for every entry, and" in capsys.readouterr().out
    path.write_text(text.format(f'{program}    else:\n        output("below")\n'))
    assert run(["verify", str(path)]) == 1
