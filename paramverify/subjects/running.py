"""`run`: the one way from a file and a question to an answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from paramverify.errors import InputError, UnsupportedError, located
from paramverify.portfolio.session import Options
from paramverify.subjects.questions import Question
from paramverify.subjects.registry import opened
from paramverify.subjects.results import Result
from paramverify.subjects.subject import CaseFile, NotAsked, Subject, Watch

SILENT = Watch()


def reason_against(subject: Subject, question: type[Question]) -> NotAsked | None:
    """Returns why a subject has no answer to a question; None if it has one."""
    found = subject.answers().get(question)
    return found if isinstance(found, NotAsked) else None


def check_asked(subject: Subject, question: type[Question], file: CaseFile) -> None:
    """Checks that a question has a meaning for files of a subject.

    Raises:
        InputError: it has none, with the reason; an UnsupportedError if there is something to do instead.
    """
    if against := reason_against(subject, question):
        if against.instead:
            mend = against.instead.format(file=file.path)
            raise UnsupportedError(against.reason, file=str(file.path), mend=mend)
        reason = f"{question.name} has no meaning for this case: {against.reason}"
        raise InputError(reason, file=str(file.path))


def declined(subject: Subject, question: type[Question], given: Collection[str]) -> dict[str, str]:
    """Returns which options that are given a subject does not take for a question, with the reasons."""
    reasons = subject.declined(question)
    return {name: reasons[name] for name in sorted(given) if name in reasons}


def run(
    file: CaseFile,
    question: Question,
    options: Options,
    watch: Watch = SILENT,
    subject: Subject | None = None,
) -> Result:
    """Reads a file by its subject and answers a question about it.

    The limits are those of `options`; whoever calls sets an alarm for what is done outside of sessions. With
    a `subject` the file is read by that one, whatever it looks like.

    Raises:
        InputError: a mistake in the file or in the question; a question that the subject has no answer to.
        LimitError: nothing was found within a limit.
        DisagreementError: two solvers contradict each other.
    """
    if subject is None:
        subject, file = opened(file)
    check_asked(subject, type(question), file)
    answer = subject.answers().get(type(question))
    if answer is None or isinstance(answer, NotAsked):
        raise InputError(f"{question.name} has no meaning for this case", file=str(file.path))
    with located(file=str(file.path)):
        return answer(replace(file, reader=subject.read), question, options, watch)
