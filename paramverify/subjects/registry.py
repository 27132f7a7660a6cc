"""Which subject a file is of: those of this package, and those of packages that are installed beside it.

What ours recognise is theirs. A package states an entry point in the group `paramverify.subjects`, which
names a module that offers `SUBJECT`.
"""

from __future__ import annotations

from functools import cache

from paramverify.errors import InputError
from paramverify.plugins import Plugin, blamed, plugins
from paramverify.subjects.kinds import BUILT_IN, Privacy
from paramverify.subjects.subject import CaseFile, Subject

GROUP = "paramverify.subjects"


def subjects() -> tuple[Subject, ...]:
    """Returns all subjects: those of this package, then those of others by their places.

    Raises:
        InputError: one of another package cannot be used.
    """
    return (*BUILT_IN, *_others())


def _others() -> tuple[Subject, ...]:
    return _foreign(tuple(plugins(GROUP)))


@cache
def _foreign(foreign: tuple[Plugin, ...]) -> tuple[Subject, ...]:
    found: list[Subject] = []
    names = {subject.name for subject in BUILT_IN}
    for plugin in foreign:
        subject = plugin.offer("SUBJECT")
        if not isinstance(subject, Subject):
            raise InputError(f"{plugin.told()}: SUBJECT is no paramverify.subjects.subject.Subject")
        _check(subject, plugin)
        if subject.name in names:
            raise InputError(f"{plugin.told()}: there is a subject {subject.name!r} already")
        names.add(subject.name)
        found.append(subject)
    return tuple(sorted(found, key=lambda subject: subject.place))


def _check(subject: Subject, plugin: Plugin) -> None:
    """Checks that a subject of another package says what it is.

    Raises:
        InputError: its name or title is no text, or its place no number.
    """
    for attribute in ("name", "title"):
        text = getattr(subject, attribute, None)
        if not isinstance(text, str) or not text:
            raise InputError(f"{plugin.told()}: the attribute {attribute} of its SUBJECT must be a text")
    if not isinstance(subject.place, int | float) or subject.place != subject.place:
        raise InputError(f"{plugin.told()}: the attribute place of its SUBJECT must be a number")


def subject_of(file: CaseFile) -> Subject:
    """Returns the subject that reads a file.

    What a subject of this package recognises, by the ending of the file or by a table in it, is its own. Then
    other packages are asked. What nobody recognises is read as a case, which says what is missing.
    """
    for subject in BUILT_IN:
        if _recognises(subject, file):
            return subject
    with blamed(str(file.path)):
        return next((subject for subject in _others() if subject.reads(file)), BUILT_IN[-1])


def _recognises(subject: Subject, file: CaseFile) -> bool:
    if type(subject) is Privacy:  # which reads everything
        return "mechanism" in file.tables
    return subject.reads(file)


def opened(file: CaseFile) -> tuple[Subject, CaseFile]:
    """Returns the subject that reads a file, and the file or the case that is read in its place."""
    subject = subject_of(file)
    with blamed(str(file.path)):
        return subject, subject.as_case(file)


def subject_named(name: str) -> Subject:
    """Returns the subject of a name."""
    return next(subject for subject in subjects() if subject.name == name)
