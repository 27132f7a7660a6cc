"""Files of subjects of other packages, for the commands that read cases by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from paramverify.errors import InputError
from paramverify.subjects.questions import (
    Budget,
    Explain,
    Hand,
    Prove,
    Question,
    Sample,
    Show,
    Synthesize,
    Verify,
)
from paramverify.subjects.registry import opened
from paramverify.subjects.running import check_asked, has_own_engine
from paramverify.subjects.subject import CaseFile, Subject

_ASKED = {question.name for question in (Verify, Budget, Explain, Show, Synthesize)}  # by `subjects.running`
_QUESTIONS: dict[str, type[Question]] = {"sample": Sample, "certify": Sample, "prove": Prove, "report": Hand}


@contextmanager
def as_cases(command: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Lets a command find the text of cases under the paths of files that plugins write as cases.

    Raises:
        InputError: a file is read by an engine of its own, which the command does not ask.
    """
    with ExitStack() as stack:
        for path in _named(options):
            subject, file = opened(CaseFile(path))
            if file.written:
                stack.enter_context(file.as_file())
            elif has_own_engine(subject) and command not in _ASKED:
                _refuse(command, subject, file)
        yield


def _named(options: Mapping[str, Any]) -> Iterator[Path]:
    """Returns the paths of the files that are about cases."""
    if isinstance(case := options.get("case"), str):
        yield Path(case)
    for name in ("cases", "components"):
        for word in options.get(name) or ():
            path = Path(word if name == "cases" else str(word).partition(":")[0])
            if path.is_file():
                yield path


def _refuse(command: str, subject: Subject, file: CaseFile) -> None:
    if question := _QUESTIONS.get(command):
        check_asked(subject, question, file)
    reason = f"{subject.title} has its own engine, which this command does not use"
    raise InputError(f"{command} does not apply to this case: {reason}", file=str(file.path))
