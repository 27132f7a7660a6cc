"""Every question about a file of every subject: an answer, or one reason why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling_tools import called
from conftest import ROOT

import paramverify
from paramverify.errors import InputError
from paramverify.portfolio.session import Options
from paramverify.subjects.questions import Budget, Explain, Question, Show, Synthesize, Verify
from paramverify.subjects.registry import opened, subjects
from paramverify.subjects.results import Result
from paramverify.subjects.running import run
from paramverify.subjects.subject import CaseFile, NotAsked

CASES = ROOT / "cases"
SCRIPT = "(declare-const x Real)\n(assert (< (* x x) 0))\n(check-sat)\n"
COMPOSED = '[[component]]\nkind = "gaussian"\nsigma = 2\n'
FILES = {
    "automaton": "automata/sparse-vector.dipa",
    "stream": "automata/sparse-vector.toml",
    "interactive": "interactive/slots-0.toml",
    "logic": "logic/survey-coin.toml",
    "claim": "inequalities/amgm-3.toml",
    "privacy": "randomized-response.toml",
}
ASKED: dict[str, Question] = {
    "verify": Verify(),
    "budget": Budget(),
    "explain": Explain(),
    "show": Show(),
    "synthesize": Synthesize(),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file of each subject."""
    folder = tmp_path_factory.mktemp("files")
    found = {name: CASES / path for name, path in FILES.items()}
    for name, file, text in (
        ("script", "square.smt2", SCRIPT),
        ("composition", "releases.toml", COMPOSED),
    ):
        found[name] = folder / file
        found[name].write_text(text)
    return found


def test_each_file_has_its_subject(files: dict[str, Path]) -> None:
    """Each file is read by the subject of its name, and there is a file of each one here."""
    assert {name: opened(CaseFile(path))[0].name for name, path in files.items()} == {n: n for n in files}
    assert {subject.name for subject in subjects()} == set(files)


@pytest.mark.parametrize("question", ASKED)
def test_an_answer_or_one_reason(question: str, files: dict[str, Path]) -> None:
    """`run` answers or refuses; the command and the function of Python say the same words."""
    refused = 0
    for path in files.values():
        subject, file = opened(CaseFile(path))
        against = subject.answers()[type(ASKED[question])]
        if not isinstance(against, NotAsked):
            if (subject.name, question) == ("logic", "budget"):
                with pytest.raises(InputError, match="--delta-for"):  # it needs one of three options
                    run(file, ASKED[question], Options(seconds=20))
            else:
                assert isinstance(run(file, ASKED[question], Options(seconds=20)), Result)
            continue
        refused += 1
        with pytest.raises(InputError, match="does not apply to this case") as error:
            run(file, ASKED[question], Options(seconds=20))
        assert against.reason in str(error.value)
        told = called(question, str(path))
        assert told.code == 2
        assert against.reason in told.err
        if question != "explain" and subject.name not in ("script", "composition"):
            with pytest.raises(InputError) as again:
                getattr(paramverify, question)(paramverify.load(path))
            assert str(again.value) == str(error.value)
    assert refused


def test_commands_with_more_options_say_the_same(files: dict[str, Path]) -> None:
    """`interactive` and `logic` print what `verify` prints of such files, but for times."""
    for name in ("interactive", "logic"):
        own, same = (called(command, str(files[name]), "--json") for command in (name, "verify"))
        assert own.code == same.code
        assert _without_times(own.out) == _without_times(same.out)


def _without_times(text: str) -> list[str]:
    return [line for line in text.splitlines() if '"seconds"' not in line]
