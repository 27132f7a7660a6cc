"""Which subject a file is of: those of this package, and those of packages that are installed beside it.

A package states an entry point in the group `paramverify.subjects`, which names a module that offers
`SUBJECT`.
"""

from __future__ import annotations

from functools import cache

from paramverify.errors import InputError
from paramverify.plugins import plugins
from paramverify.subjects.kinds import BUILT_IN
from paramverify.subjects.subject import CaseFile, Subject

GROUP = "paramverify.subjects"


def subjects() -> tuple[Subject, ...]:
    """Returns all subjects in the order in which they are asked whether a file is theirs.

    Raises:
        InputError: one of another package cannot be used.
    """
    return _sorted(tuple(plugins(GROUP)))


@cache
def _sorted(foreign: tuple) -> tuple[Subject, ...]:  # type: ignore[type-arg]
    found = list(BUILT_IN)
    names = {subject.name for subject in BUILT_IN}
    for plugin in foreign:
        subject = plugin.offer("SUBJECT")
        if not isinstance(subject, Subject):
            raise InputError(f"{plugin.told()}: SUBJECT is no paramverify.subjects.subject.Subject")
        if subject.name in names:
            raise InputError(f"{plugin.told()}: there is a subject {subject.name!r} already")
        names.add(subject.name)
        found.append(subject)
    return tuple(sorted(found, key=lambda subject: subject.place))


def subject_of(file: CaseFile) -> Subject:
    """Returns the subject that reads a file."""
    return next(subject for subject in subjects() if subject.reads(file))


def opened(file: CaseFile) -> tuple[Subject, CaseFile]:
    """Returns the subject that reads a file, and the file or the case that is read in its place."""
    subject = subject_of(file)
    return subject, subject.as_case(file)


def subject_named(name: str) -> Subject:
    """Returns the subject of a name."""
    return next(subject for subject in subjects() if subject.name == name)
