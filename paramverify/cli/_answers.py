"""From what the user typed to a printed answer: what the commands that ask a question of a file share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from paramverify.cli import _output
from paramverify.cli._cluster import cluster_wanted
from paramverify.cli._common import print_json, progress_bar, say, session_options, time_limit, write_evidence
from paramverify.cli._exits import STATUS_CODES
from paramverify.cli._pictures import Picture
from paramverify.cli._settings import settings
from paramverify.portfolio.session import Options
from paramverify.subjects.questions import Question
from paramverify.subjects.registry import opened
from paramverify.subjects.results import Result, ShowFacts
from paramverify.subjects.running import check_asked, declined, run
from paramverify.subjects.subject import CaseFile, Subject, Watch


class Typed(NamedTuple):
    """Options of every command that decides something."""

    as_json: bool
    timeout: float
    backends: str | None = None
    strategy: str | None = None
    confirm: int = 1

    def options(self) -> Options:
        """Returns them as those of a session."""
        return session_options(self.timeout, self.backends, self.strategy, self.confirm)

    def given(self) -> set[str]:
        """Returns the names of those that choose who decides, and that the user typed."""
        names: dict[str, Any] = {"backends": self.backends, "strategy": self.strategy}
        names["confirm"] = self.confirm > 1
        names["cluster"] = cluster_wanted()
        return {name for name, value in names.items() if value}


class Files(NamedTuple):
    """Files that the user named for parts of the answer."""

    evidence: Path | None = None
    plot: Picture | None = None


NO_FILES = Files()


class Shown(Watch):
    """Keeps what is found in case that a limit ends the run, shows progress, and writes files."""

    def __init__(
        self, as_json: bool, files: Files, lift: Callable[[], None], progress: Callable[[int, int], None]
    ) -> None:
        self.as_json, self.files, self._lift, self._progress = as_json, files, lift, progress
        self.written: dict[str, Any] | None = None  # the evidence in the file

    def progress(self, done: int, total: int) -> None:
        """Shows how far the work is."""
        self._progress(done, total)

    def found(self, lines: Sequence[str], document: Mapping[str, Any]) -> None:
        """Keeps what is known so far."""
        _output.found(lines, document)

    def counted(self, line: str) -> None:
        """Keeps how far it came, for people."""
        if not self.as_json:
            _output.found([line], {})

    def entry(self, key: str, entry: Any, *lines: str) -> None:
        """Keeps one more entry."""
        _output.add(key, entry, *lines)

    def detail(self, key: str, entry: Any) -> None:
        """Keeps one more entry, for programs."""
        if self.as_json:
            _output.add(key, entry)

    def violated(self, word: str) -> None:
        """Keeps the verdict."""
        _output.violated(word)

    def evidence(self, document: dict[str, Any] | None) -> None:
        """Writes the evidence of what is known, if the user named a file for it."""
        if self.files.evidence and document is not None and document != self.written:
            write_evidence(self.files.evidence, document)
            self.written = document

    def curve(self, points: Sequence[Any], title: str, name: str = "", *, whole: bool = True) -> None:
        """Draws a curve, if the user named a file for it."""
        if self.files.plot:
            from paramverify.reports.pictures.privacy_plots import write_curve

            path = self.files.plot.path
            path = path.with_name(f"{path.stem}-{name}{path.suffix}") if name else path
            write_curve(points, title, path, whole=whole, page=self.files.plot.page)

    def known(self) -> None:
        """Ends the time limit: what is left is to write the answer down."""
        self._lift()


def check_options(
    path: str, subject: Subject, question: type[Question], given: Collection[str], session: Options
) -> None:
    """Checks that options are for files of a subject.

    Raises:
        UsageError: one is not; it says why.
    """
    for name, reason in declined(subject, question, given, session).items():
        option = f"-{name}" if len(name) == 1 else f"--{name}"
        raise click.UsageError(f"{path} is {subject.title}: leave {option} out, {reason}")


def answered(
    path: str,
    question: Question,
    typed: Typed,
    files: Files = NO_FILES,
    *,
    options: Options | None = None,
    more: Any = None,
    subject: Subject | None = None,
    finish: Callable[[Result, Shown], None] | None = None,
) -> Result:
    """Reads a file, answers a question about it within the time limit, and writes the evidence.

    `options` are those of the session, if they are not just what was typed. With a `subject` the file is read
    by that one; `more` is what the user states beside the file. `finish` writes other files than evidence,
    and the evidence with them.
    """
    options = options or typed.options()
    file = CaseFile(Path(path), settings(), more=more)
    with time_limit(typed.timeout) as lift:
        if subject is None:
            subject, file = opened(file)
        given = typed.given() | question.given() | ({"D"} if settings() else set())
        check_asked(subject, type(question), file)
        check_options(path, subject, type(question), given, options)
        with progress_bar(subject.steps) as progress:
            watch = Shown(typed.as_json, files, lift, progress)
            result = run(file, question, options, watch, subject)
        if finish:
            finish(result, watch)
        elif files.evidence and result.evidence:
            lift()
            watch.evidence(result.evidence())
    if files.evidence and not watch.written and not finish:
        click.echo(f"No evidence was written: {result.without_evidence()}", err=True)
    return result


def printed(result: Result, as_json: bool, code: int | None = None) -> int:
    """Prints an answer, and returns the exit code, which is that of its ending if none is given."""
    text = result.of(ShowFacts).text
    if as_json:
        print_json(result.document)
    elif text is not None:
        click.echo(text, nl=False)  # a document of its own: no line is shortened
    for line in () if as_json or text is not None else result.lines:
        say(line)
    for line in result.remarks:
        say(line, err=True)
    return STATUS_CODES[result.ending] if code is None else code
