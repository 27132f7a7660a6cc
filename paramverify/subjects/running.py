"""`run`: the one way from a file and a question to an answer."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import replace

from paramverify.errors import InputError, UnsupportedError, located
from paramverify.plugins import blamed
from paramverify.portfolio.session import Options
from paramverify.subjects.foreign_results import checked
from paramverify.subjects.kinds import BUILT_IN, Privacy
from paramverify.subjects.questions import Hand, Prove, Question, Sample
from paramverify.subjects.registry import opened
from paramverify.subjects.results import Result
from paramverify.subjects.subject import CaseFile, NotAsked, Subject, Watch

SILENT = Watch()


def reason_against(subject: Subject, question: type[Question]) -> NotAsked | None:
    """Returns why a subject has no answer to a question; None if it has one."""
    found = subject.answers().get(question)
    if isinstance(found, NotAsked):
        return found
    if has_own_engine(subject) and (found is None or question in (Sample, Prove, Hand)):
        return NotAsked(f"{subject.title} has its own engine, which does not answer it")
    return None


def has_own_engine(subject: Subject) -> bool:
    """Tells whether a subject is of another package, and its files are not read as cases of this one."""
    return subject not in BUILT_IN and not isinstance(subject, Privacy)


def check_asked(subject: Subject, question: type[Question], file: CaseFile) -> None:
    """Checks that a question has a meaning for files of a subject.

    Raises:
        InputError: it has none, with the reason; an UnsupportedError if there is something to do instead.
    """
    if against := reason_against(subject, question):
        if against.instead:
            mend = against.instead.format(file=file.path)
            raise UnsupportedError(against.reason, file=str(file.path), mend=mend)
        reason = f"{question.name} does not apply to this case: {against.reason}"
        raise InputError(reason, file=str(file.path))


def declined(
    subject: Subject, question: type[Question], given: Collection[str], options: Options
) -> dict[str, str]:
    """Returns which options that are given a subject does not take for a question, with the reasons.

    With an answer from elsewhere, what the options of the session ask for is given, too.
    """
    if is_foreign(subject, question):
        reasons = (
            Subject.declined(subject, question) if not has_own_engine(subject) else subject.declined(question)
        )
        given = {*given, *_chosen(options)}
    else:
        reasons = subject.declined(question)
    return {name: reasons[name] for name in sorted(given) if name in reasons}


def is_foreign(subject: Subject, question: type[Question]) -> bool:
    """Tells whether the answer to a question is a function of another package."""
    module = str(getattr(subject.answers().get(question), "__module__", ""))
    return subject not in BUILT_IN and not module.startswith("paramverify.")


def _chosen(options: Options) -> set[str]:
    """Returns the options by which a session differs from others."""
    usual = Options()
    chosen = {
        "strategy": options.strategy != usual.strategy,
        "confirm": options.confirm != usual.confirm,
        "require-certificates": options.require_certificates,
    }
    return {name for name, given in chosen.items() if given}


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
        raise InputError(f"{question.name} does not apply to this case", file=str(file.path))
    path, mine = str(file.path), not is_foreign(subject, type(question))
    with file.as_file() if file.written else nullcontext(), located(file=path), blamed(path):
        found = answer(replace(file, reader=subject.read), question, options, watch)
        return found if mine else checked(found, subject, question, options, file)
