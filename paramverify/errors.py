"""Every exception of the package but those of the kernel (`kernel/strict_reading.py`), as one tree.

    ParamverifyError
    ├── InputError (ValueError)          a mistake in what the user gave; exit code 2
    │   ├── ExpressionError              in the text of an expression, with the place
    │   │   └── FinerError               an exponential that the ring of a case has no variable for yet
    │   ├── ProgramError                 in a program, with its line and place
    │   ├── CaseError                    in a case file, with file, key and line
    │   │   ├── OtherCommandError            a case that another command decides
    │   │   └── SyntaxMistake                the file is no TOML, with the place
    │   ├── Mistakes                     several of these at once, in the order of the file
    │   ├── DomainError                  an empty, unbounded or contradictory parameter domain
    │   ├── ModelError                   rows that do not sum to one, negative entries, undefined points
    │   ├── ClusterError                 a cluster that cannot be used
    │   ├── EvidenceError                an evidence file that cannot be read
    │   └── UnsupportedError             something that a format or backend cannot express
    ├── LimitError (RuntimeError)        an input whose size passes a bound of this package; exit code 3
    │   ├── SizeError                    a model or formula for which another way may be tried
    │   ├── TimeLimitError               the time that the user gave is over
    │   ├── ClusterLostError             the scheduler of a cluster is gone
    │   └── UndeterminedError            a formula about another one whose truth is not known
    ├── UndecidedError                   an answer that is asked whether it is true, and is not known
    ├── DisagreementError                two backends gave contradicting answers; never a verdict
    └── DefectError (AssertionError)     an invariant of this package does not hold: please report it

An `InputError` carries the file, the key and the line where the mistake is, filled in on the way up by
`located` and `in_text`, so that the deepest code need not know where its text came from. Mistakes that do not
depend on each other are `gathered` and told together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from types import TracebackType

from paramverify import printable

MOST_TOLD = 250  # mistakes of one input that are shown; behind them stands how many more there are


class ParamverifyError(Exception):
    """The root of all exceptions that this package raises on purpose."""


class InputError(ParamverifyError, ValueError):
    """A mistake in what the user gave: the reason, and where known file, key and line of the file.

    `mend` says what to write instead, where that is known; the reason ends with it. A line is counted from 1,
    and 0 where it is not known.
    """

    def __init__(self, reason: str, *, file: str = "", key: str = "", mend: str = "") -> None:
        super().__init__(reason)
        self.retell(reason, mend)
        self.file = file
        self.key = key
        self.file_line = 0
        self.written = False  # whether the line is one of a case that was written for the file
        self.unknown = ""  # the name that is not known, where that is the mistake
        self.anchored = False  # whether the key is the whole one, wherever the error was found

    def retell(self, reason: str, mend: str = "") -> None:
        """Says the mistake in other words."""
        self.mend = mend
        self.reason = f"{reason}; {mend}" if mend else reason
        self.args = (self.reason,)

    @property
    def parts(self) -> tuple[InputError, ...]:
        """The mistakes that this error tells: itself, or all of several."""
        return (self,)

    @property
    def lines(self) -> list[str]:
        """What is said of each mistake."""
        return [str(self)]

    @property
    def place(self) -> str:
        """The file and the line, as `case.toml:12`, where they are known."""
        if self.written:
            return ": ".join(filter(None, (self.file, self._in_case)))
        if not self.file_line:
            return self.file
        return f"{self.file}:{self.file_line}" if self.file else f"line {self.file_line}"

    @property
    def _in_case(self) -> str:
        line = f", line {self.file_line}" if self.file_line else ""
        return f"in the case that it is read as{line}"

    def __str__(self) -> str:
        place = (printable.escaped(part) for part in (self.place, self.key) if part)
        return ": ".join([*place, *([self.reason] if self.reason else [])])

    def to_dict(self) -> dict[str, str | int | None]:
        """Returns the mistake as JSON data: file, line (null if not known), key, message and mend."""
        line = None if self.written else self.file_line or None
        message = f"{self._in_case}: {self.reason}" if self.written else self.reason
        told = {"file": self.file or None, "line": line, "key": self.key or None, "message": message}
        return {**told, "mend": self.mend or None}


class Mistakes(InputError):
    """Several mistakes that do not depend on each other; see `gathered`. `rest` is a last line."""

    def __init__(self, errors: Iterable[InputError], rest: str = "") -> None:
        self._parts = tuple(part for error in errors for part in error.parts)
        self.rest = rest
        super().__init__(f"{len(self._parts)} mistakes")

    @property
    def parts(self) -> tuple[InputError, ...]:
        """The mistakes, each with its place; in the order of the file where their lines are known."""
        return tuple(sorted(self._parts, key=lambda error: (error.file, error.file_line)))

    @property
    def lines(self) -> list[str]:
        """What is said of each mistake; of very many only the first, and how many more there are."""
        told = [str(part) for part in self.parts[:MOST_TOLD]]
        more = len(self._parts) - len(told)
        return [*told, *([f"and {more:,} more"] if more else []), *([self.rest] if self.rest else [])]

    def __str__(self) -> str:
        return "\n".join(self.lines)


class ExpressionError(InputError):
    """A mistake in an expression; `text` and `column` (from 0) say where, shown under the text."""

    def __init__(self, reason: str, text: str, column: int, mend: str = "") -> None:
        super().__init__(reason, mend=mend)
        self.text = text
        self.column = column
        self.known: frozenset[str] = frozenset()  # what is known, where a name is not

    def __str__(self) -> str:
        return f"{super().__str__()}{_pointed(self.text, self.column)}"


def _pointed(text: str, column: int) -> str:
    """Returns a text and a caret under one of its columns, as two lines more."""
    start = max(0, column - 30)
    shown = text[start : start + 70].replace("\n", " ").replace("\t", " ")
    return f"\n    {shown}\n    {' ' * (column - start)}^"


class FinerError(ExpressionError):
    """exp(exponent · name), or exp(exponent), that is no whole power of what the ring has for it.

    With the exponent 0 it is the name itself, which the ring has no variable for.
    """

    def __init__(self, name: str, exponent: Fraction, text: str = "", column: int = 0) -> None:
        super().__init__("exp of this number is not a power of the case's generator", text, column)
        self.name = name
        self.exponent = exponent

    def at(self, text: str, column: int) -> FinerError:
        """Returns the same error with its place."""
        return FinerError(self.name, self.exponent, text, column)


class ProgramError(InputError):
    """A mistake in a program; `line` (from 1) and `column` (from 0) say where, shown with a caret."""

    def __init__(self, reason: str, text: str, line: int, column: int) -> None:
        super().__init__(reason)
        self.text = text
        self.line = line
        self.column = column

    def __str__(self) -> str:
        lines = self.text.splitlines() or [""]
        line = lines[min(self.line, len(lines)) - 1].replace("\t", " ")
        start = max(0, self.column - 60)
        shown = printable.escaped(line[start : start + 110])
        before = super().__str__().removesuffix(self.reason)
        return f"{before}line {self.line}: {self.reason}\n    {shown}\n    {' ' * (self.column - start)}^"


class CaseError(InputError):
    """A mistake in a case file."""


class OtherCommandError(CaseError):
    """A case that another command decides: what else this command finds wrong in it is not told."""


class SyntaxMistake(CaseError):
    """A file that is no TOML; its `line` and the `column` in it (from 0), shown under the line."""

    def __init__(self, reason: str, line: str, column: int, mend: str = "") -> None:
        super().__init__(reason, mend=mend)
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{super().__str__()}{_pointed(self.line, self.column)}" if self.line else super().__str__()


class DomainError(InputError):
    """A parameter domain that is empty, unbounded or contradictory."""


class ModelError(InputError):
    """Tables that are not a probabilistic model for every parameter point of the domain."""


class ClusterError(InputError):
    """A cluster that cannot be used: none is there, or its versions are not ours."""


class EvidenceError(InputError):
    """An evidence file that cannot be read as evidence."""


class UnsupportedError(InputError):
    """Something that a format or a backend cannot express; it names the term."""


class LimitError(ParamverifyError, RuntimeError):
    """An input that is larger than a stated bound of this package."""


class BesideError(LimitError):
    """An epsilon that does not fit beside other exponents; `sides` are texts of numbers around e^epsilon."""

    def __init__(self, reason: str, sides: tuple[str, str]) -> None:
        super().__init__(reason)
        self.sides = sides


class SizeError(LimitError):
    """A model or formula that is too large for one way to check it; another may be tried."""


class TimeLimitError(LimitError):
    """The time that the user gave is over."""

    def __init__(self, seconds: float, what: str = "") -> None:
        super().__init__(f"the time limit of {seconds:g} s is over{what}")
        self.seconds = seconds

    def during(self, work: str) -> TimeLimitError:
        """Returns the same error with words for what was going on."""
        return TimeLimitError(self.seconds, f", while {work}")


class ClusterLostError(LimitError):
    """A cluster whose scheduler went away during the work; what was done until then is kept."""


class UndeterminedError(LimitError):
    """The truth of a nested formula depends on the parameters, or is not known."""


class UndecidedError(ParamverifyError):
    """A report that is asked whether it is true, and is undecided."""


class DisagreementError(ParamverifyError):
    """Two backends contradict each other on one claim, which `about` names; carries both transcripts."""

    def __init__(self, about: str, answers: tuple[tuple[str, str, str], ...]) -> None:
        names = " and ".join(f"{name} ({answer})" for name, answer, _ in answers)
        super().__init__(f"backends disagree on {about}: {names}")
        self.about = about
        self.answers = answers


class DefectError(ParamverifyError, AssertionError):
    """An invariant of this package does not hold; a defect of ours, never of the user."""


_reading: ContextVar[tuple[str, ...]] = ContextVar("reading", default=())  # keys, from the outside


@contextmanager
def located(*, file: str = "", key: str = "", anchored: bool = False) -> Iterator[None]:
    """Adds file and key to an `InputError` that passes through and has none yet; keys nest with dots.

    An anchored key is the whole one: a program runs while the neighbours are read; its mistakes are its own.
    """
    before = _reading.set((*(() if anchored else _reading.get()), key)) if key else None
    try:
        yield
    except InputError as error:
        for part in (error,) if isinstance(error, FinerError) else error.parts:
            part.file = part.file or file
            if key and not part.anchored:
                part.key = _joined(key, part.key)
            part.anchored = part.anchored or anchored
        raise
    finally:
        if before:
            _reading.reset(before)


def key_that_is_read() -> str:
    """Returns the key at which reading is, by the `located` around it, for what may go wrong later."""
    return _joined(*_reading.get())


def _joined(*keys: str) -> str:
    """Returns keys as one: names follow a dot, and numbers in brackets do not."""
    found = ""
    for key in keys:
        found += f".{key}" if found and key and not key.startswith("[") else key
    return found


@contextmanager
def in_text(file: str, line_of: Callable[[InputError], int]) -> Iterator[None]:
    """Adds the file, and the line where a mistake stands in its text, to errors that have none yet."""
    try:
        with located(file=file):
            yield
    except InputError as error:
        for part in error.parts:
            if part.file == file and not part.file_line:
                part.file_line = line_of(part)
        raise


class Each:
    """Keeps the mistakes of each block that it guards, so that the next block is read too; see `gathered`.

    What could not be read has stand-ins. With `doubtful` parameters, what is wrong with a model, or with a
    formula of one of them, may be only a consequence. So may be that a name is not known, if it is a `broken`
    one. Neither is told then.
    """

    def __init__(self) -> None:
        self.found: list[InputError] = []
        self.doubtful: set[str] = set()
        self.broken: set[str] = set()

    def __enter__(self) -> None:
        """Begins a block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, InputError) or isinstance(error, FinerError):
            return False
        self.keep(error)
        return True

    def keep(self, error: InputError) -> None:
        """Keeps an error, with its whole key."""
        for part in error.parts:
            if not part.anchored:
                part.key = _joined(key_that_is_read(), part.key)
                part.anchored = True
            self.found.append(part)

    def follows(self, part: InputError) -> bool:
        """Whether a mistake may be only a consequence of parameters that could not be read."""
        if not self.doubtful or part.key.startswith("parameters"):
            return False
        text = ""
        if isinstance(part, ExpressionError) and not part.mend and part.reason != "syntax error":
            text = part.text
        elif isinstance(part, ProgramError):
            text = (part.text.splitlines() or [""])[min(part.line, len(part.text.splitlines()) or 1) - 1]
        return isinstance(part, ModelError) or any(re.search(rf"\b{n}\b", text) for n in self.doubtful if n)

    def tell(self) -> None:
        """Raises what was found, if anything."""
        for other in (part for part in self.found if isinstance(part, OtherCommandError)):
            raise other
        told: dict[tuple[str, ...], InputError] = {}
        for part in self.found:
            if not self.follows(part) and part.unknown not in self.broken:
                once = part.unknown and not part.mend.startswith("did you mean")
                told.setdefault((part.unknown,) if once else (part.key, part.file, str(part)), part)
        if len(told or self.found) == 1:
            raise next(iter(told.values() or self.found))
        if self.found:
            raise Mistakes(told.values() or self.found)


@contextmanager
def gathered() -> Iterator[Each]:
    """Gives a guard for blocks that do not depend on each other, and tells all their mistakes in the end.

    with gathered() as each:
        with each:
            ...

    A mistake outside of the guarded blocks is the last one. A limit is not told where there are mistakes.
    """
    each = Each()
    try:
        yield each
    except FinerError:
        raise
    except InputError as error:
        each.keep(error)
    except LimitError:
        each.tell()
        raise
    each.tell()
