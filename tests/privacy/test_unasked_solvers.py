"""Solvers that the user chose and that were not asked: the answer says so, and how to ask them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paramverify import loads
from paramverify.cli.main import run

CASES = Path(__file__).parents[2] / "cases"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[list[str], list[str]]:
    """Returns the notes about who was not asked, and who decided the claims."""
    run(["verify", "--json", *arguments])
    document = json.loads(capsys.readouterr().out)
    decided = {claim.get("backend", "") for claim in document["claims"]}
    return [note for note in document["notes"] if "not asked" in note], sorted(decided)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "choice"),
    [
        ("sample-n-utility.toml", ("--strategy", "z3:5; built-in")),
        ("coarse-noise.toml", ("--backends", "z3")),
    ],
    ids=str,
)
def test_the_hint_makes_it_asked(
    name: str, choice: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no solver was asked the note names those chosen; followed, its hint asks them."""
    case = str(CASES / name)
    (note,), decided = answer(capsys, case, *choice)
    assert note.startswith("z3 was not asked: ")
    assert not any("z3" in who for who in decided)
    assert "--no-simplify" in note
    notes, decided = answer(capsys, case, *choice, "--no-simplify")
    assert notes == []
    assert any("z3" in who for who in decided) or "strategy" in choice[0]
    assert answer(capsys, case)[0] == []
    assert answer(capsys, case, "--backends", "roots")[0] == []


def test_nothing_for_solvers(capsys: pytest.CaptureFixture[str]) -> None:
    """Where there are no claims, no option would help, and none is named."""
    (note,), _ = answer(capsys, str(CASES / "programs/noisy-max-gauss.toml"), "--backends", "z3,cvc5")
    assert note == "z3, cvc5 were not asked: there was no claim for solvers"


@pytest.mark.slow
def test_in_python() -> None:
    """The same note, and the option that it names."""
    case = loads((CASES / "randomized-response.toml").read_text())
    assert any("not asked" in note for note in case.verify(backends="z3").notes)
    found = case.verify(backends="z3", simplify=False)
    assert not any("not asked" in note for note in found.notes)
    assert "on the word of z3" in str(found)


OTHERS = [  # commands, and whether --no-simplify makes them ask the chosen solvers; None if they ask anyway
    (("budget", "coarse-noise.toml"), True),
    (("budget", "divergences/geometric-kl.toml"), False),
    (("interactive", "interactive/unwinding-2-1.toml"), False),
    (("interactive", "interactive/slots-2-symbolic.toml"), None),
    (("logic", "logic/survey.toml"), True),
]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "asks"), OTHERS, ids=[" ".join(command) for command, _ in OTHERS])
def test_other_commands(
    command: tuple[str, ...], asks: bool | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same note in text and JSON; its hint stands only where it helps, and then it does."""

    def noted(*more: str) -> list[str]:
        name, case, *options = command
        run([name, str(CASES / case), *options, *more, "--backends", "z3"])
        text = capsys.readouterr().out
        run([name, str(CASES / case), *options, *more, "--backends", "z3", "--json"])
        document = json.loads(capsys.readouterr().out)
        notes = [note for note in document.get("notes", []) if "not asked" in note]
        told = [line.strip() for line in text.splitlines() if "not asked" in line]
        assert told == [f"Note: {note}." for note in notes]
        return notes

    told = noted()
    assert bool(told) == (asks is not None)
    assert all(("--no-simplify" in note) == asks for note in told)
    if asks:
        assert noted("--no-simplify") == []
