"""`verify FOLDER`: all case files in a folder and below, one after the other in one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from paramverify.answers import Standing
from paramverify.cli import _output
from paramverify.cli._answers import Typed, check_options
from paramverify.cli._common import print_json, say, time_limit
from paramverify.cli._exits import STATUS_CODES, Exit, told
from paramverify.cli._settings import settings
from paramverify.errors import InputError, LimitError
from paramverify.portfolio.session import Options
from paramverify.subjects.questions import Verify
from paramverify.subjects.registry import opened
from paramverify.subjects.results import Result
from paramverify.subjects.running import check_asked, run
from paramverify.subjects.subject import CaseFile

ABOUT = ("mechanism", "claim", "system", "model", "states", "automaton")  # one of these makes a file a case
WORST = (Exit.INPUT, Exit.VIOLATED, Exit.UNKNOWN, Exit.HOLDS)


def files_in(folder: Path) -> list[Path]:
    """Returns the case files of a folder, in order.

    Raises:
        InputError: there are none.
    """
    found = [path for path in sorted(folder.rglob("*.toml")) if set(ABOUT) & CaseFile(path).tables.keys()]
    if not found:
        raise InputError("there is no case file (.toml) in this folder", file=str(folder))
    return found


def verify_all(folder: Path, typed: Typed, options: Options) -> int:
    """Decides all cases of a folder, each within the time limit, and prints a line for each.

    Returns:
        The exit code: that of the worst answer, where bad input is worst, then not private, then undecided.
    """
    codes: list[Exit] = []
    answers: list[dict[str, Any]] = []
    for path in files_in(folder):
        try:
            with _limited(typed.timeout):
                result = _answer(path, typed, replace(options, seconds=typed.timeout))
            codes.append(STATUS_CODES[result.ending])
            line, document = result.lines[0], result.document
        except (InputError, LimitError) as error:
            code, word, message = told(error)
            codes.append(code)
            line, document = f"{word}: {message}", {**_standing(word), "reason": message}
        if typed.as_json:
            answers.append({"case": str(path), "answer": document})
        else:
            say(f"{path}: {line}")
    counts = {word: codes.count(code) for word, code in WORDS.items() if code in codes}
    worst = next(code for code in WORST if code in codes)
    if typed.as_json:
        print_json({"cases": answers, "counts": counts})
    else:
        say(f"{len(codes)} cases: {', '.join(f'{count} {word}' for word, count in counts.items())}")
    return worst


def _standing(word: str) -> dict[str, Any]:
    """Returns the status of a case without a result, as the JSON of a single case has it."""
    return {"status": Standing.UNKNOWN, "verdict": word} if word == "undecided" else {"status": word}


WORDS = {
    "private or true": Exit.HOLDS,
    "not private or false": Exit.VIOLATED,
    "undecided": Exit.UNKNOWN,
    "with mistakes": Exit.INPUT,
}


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Gives the case that follows its own time limit."""
    _output.limit_step(seconds)
    with time_limit(seconds, seconds):
        yield


def _answer(path: Path, typed: Typed, options: Options) -> Result:
    subject, file = opened(CaseFile(path, settings()))
    question = Verify()
    check_asked(subject, type(question), file)
    check_options(str(path), subject, type(question), typed.given(), options)
    return run(file, question, options, subject=subject)
