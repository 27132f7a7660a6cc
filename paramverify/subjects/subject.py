"""What a subject is: a kind of file, which questions it has answers to, and how it is read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from paramverify.errors import CaseError, InputError, located
from paramverify.files import read_file, standing_for, standing_in
from paramverify.models.settings import Settings
from paramverify.plugins import blamed
from paramverify.portfolio.session import Options
from paramverify.subjects.questions import Question
from paramverify.subjects.results import Result
from paramverify.tables import MAX_BYTES, TomlDocument, decoded, read_document

TEXT_ONLY = (".dipa", ".smt2", ".prism", ".pm", ".nm")  # endings of files that are not TOML


SESSION = frozenset({"D", "backends", "strategy", "confirm", "cluster", "require-certificates"})


class Watch:
    """Who hears what is found while an answer is being made; this one listens to nothing."""

    def progress(self, done: int, total: int) -> None:
        """Hears how far the work is."""

    def found(self, lines: list[str], document: Mapping[str, Any]) -> None:
        """Hears what is known so far, instead of what was known before."""

    def counted(self, line: str) -> None:
        """Hears how far it came, in words: for people only."""

    def entry(self, key: str, entry: Any, *lines: str) -> None:
        """Hears one more entry of a list."""

    def detail(self, key: str, entry: Any) -> None:
        """Hears one more entry of a list, for programs only."""

    def violated(self, word: str) -> None:
        """Hears that it is refuted, which no limit takes back."""

    def evidence(self, document: dict[str, Any] | None) -> None:
        """Hears the evidence of what is known so far."""

    def curve(self, points: Sequence[Any], title: str, name: str = "", *, whole: bool = True) -> None:
        """Hears a curve of δ over ε; `name` tells it from others, and it may be a part only."""

    def known(self) -> None:
        """Hears that the answer is known: what is left is to write it down."""


@dataclass(frozen=True, eq=False)
class CaseFile:
    """A file that questions are about, or the text of one, with what is stated beside it.

    `settings` are the values that take the place of those in the file. `more` is what only the reader of its
    subject knows, such as formulas that are given beside a model. `read` has its
    content where somebody has read it already. `written` says that the text is a case that a subject wrote;
    `reader` is the reader of its subject.
    """

    path: Path
    settings: Settings = field(default_factory=dict)
    text: bytes | None = None
    more: Any = None
    read: Any = None
    written: bool = False
    reader: Callable[[CaseFile], Any] | None = None

    def __post_init__(self) -> None:
        if self.text is None and "::" in str(
            self.path
        ):  # a function of a file of Python, whose case stands in
            object.__setattr__(self, "text", standing_for(self.path))

    def __str__(self) -> str:
        return str(self.path)

    def as_file(self) -> AbstractContextManager[None]:
        """Lets readers find the text under the path, whether there is a file or not; else the file."""
        return self._as_case() if self.written else standing_in(self.path, self.text)

    @contextmanager
    def _as_case(self) -> Iterator[None]:
        """Says of a mistake in the case that a subject wrote that it is not in the file."""
        try:
            with standing_in(self.path, self.text):
                yield
        except InputError as error:
            for part in error.parts:
                known = part.file_line or re.split(r"[.\[]", part.key)[0] in self.tables
                part.written = part.written or (part.file == str(self.path) and bool(known))
            raise

    def read_text(self) -> str:
        """Returns the text of the file, or of what was given as one.

        Raises:
            CaseError: it is no regular file, larger than a case file may be, or not UTF-8.
        """
        with located(file=str(self.path)), standing_in(self.path, self.text):
            content = read_file(self.path, MAX_BYTES, "a file that a subject reads", CaseError)
            return decoded(content)

    @cached_property
    def document(self) -> TomlDocument | None:
        """The tables of the file; None if it is not TOML by its name.

        Raises:
            CaseError: it cannot be read.
        """
        if self.path.suffix in TEXT_ONLY and not self.written:
            return None
        with self.as_file():
            return read_document(self.path)

    @property
    def tables(self) -> Mapping[str, Any]:
        """The tables of the file; none if it cannot be read, which is said where it is read."""
        return self._tables

    @cached_property
    def _tables(self) -> Mapping[str, Any]:
        try:
            return self.document.data if self.document else {}
        except InputError:  # it is kept that there are none: every subject asks
            return {}

    def content(self, read: Callable[[CaseFile], Any] | None = None) -> Any:
        """Returns what is in the file, which is read once, by its subject or by `read`."""
        if self.read is None:
            reader = read or self.reader
            assert reader is not None
            with blamed(str(self.path)), self.as_file():
                object.__setattr__(self, "read", reader(self))
        return self.read


@dataclass(frozen=True)
class NotAsked:
    """Why a subject has no answer to a question, and what to do instead; nothing else says so."""

    reason: str
    instead: str = ""  # with {file} for the path


Answer = Callable[[CaseFile, Any, Options, Watch], Result]
Answers = Mapping[type[Question], Answer | NotAsked]


class Subject(ABC):
    """A kind of file; see `registry.subject_of` for which one answers the questions about a file."""

    name: ClassVar[str]
    title: ClassVar[str]  # what the file is, as in "FILE is an automaton"
    place: ClassVar[int] = 5  # among those of other packages, the least first
    steps: ClassVar[str] = "claims"  # what progress counts
    of_claims: ClassVar[bool] = False  # whether its verdicts are true and false
    tables: ClassVar[Sequence[str]] = ()  # of a file, that a program may change
    own_bounds: ClassVar[str] = ""  # where the bounds are, if they are not in [privacy]

    @abstractmethod
    def reads(self, file: CaseFile) -> bool:
        """Tells whether this is the subject of the file; mistakes in it are left to `read`."""

    @abstractmethod
    def read(self, file: CaseFile) -> Any:
        """Reads the file.

        Raises:
            InputError: any mistake in it, with its place. LimitError: it is too large.
        """

    def as_case(self, file: CaseFile) -> CaseFile:
        """Returns the file that is read in the place of this one: itself, or a case that says the same."""
        return file

    @abstractmethod
    def answers(self) -> Answers:
        """Returns the answer to each question, or why there is none."""

    def declined(self, question: type[Question]) -> Mapping[str, str]:
        """Returns the options of a question that it does not take, with the reasons.

        These are all that there are: who has an engine that knows some of them says so. (For `evidence` it is
        enough that the result has some.)
        """
        options = {
            each.name.replace("_", "-") for each in fields(question) if each.metadata.get("option", True)
        }
        return dict.fromkeys((options | SESSION) - {"evidence"}, "it has its own engine")
