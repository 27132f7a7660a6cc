"""Every exception of the package but those of the kernel (`checker/strict.py`), as one tree.

    ParamverifyError
    ├── InputError (ValueError)          a mistake in what the user gave; exit code 2
    │   ├── ExpressionError              in the text of an expression, with the place
    │   │   └── FinerError               an exponential that the ring of a case has no variable for yet
    │   ├── ProgramError                 in a program, with its line and place
    │   ├── CaseError                    in a case file, with file and key
    │   ├── DomainError                  an empty, unbounded or contradictory parameter domain
    │   ├── ModelError                   rows that do not sum to one, negative entries, undefined points
    │   ├── EvidenceError                an evidence file that cannot be read
    │   └── UnsupportedError             something that a format or backend cannot express
    ├── LimitError (RuntimeError)        an input whose size passes a bound of this package; exit code 3
    │   ├── SizeError                    a model or formula for which another way may be tried
    │   ├── TimeLimitError               the time that the user gave is over
    │   └── UndeterminedError            a formula about another one whose truth is not known
    ├── DisagreementError                two backends gave contradicting answers; never a verdict
    └── DefectError (AssertionError)     an invariant of this package does not hold: please report it

An `InputError` carries the file and the key where the mistake is, filled in on the way up by
`located`, so that the deepest code need not know where its text came from.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from paramverify import printable


class ParamverifyError(Exception):
    """The root of all exceptions that this package raises on purpose."""


class InputError(ParamverifyError, ValueError):
    """A mistake in what the user gave: the reason, and where known the file and the key."""

    def __init__(self, reason: str, *, file: str = "", key: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.file = file
        self.key = key
        self.anchored = False  # whether the key is the whole one, wherever the error was found

    def __str__(self) -> str:
        place = (printable.escaped(part) for part in (self.file, self.key) if part)
        return ": ".join([*place, *([self.reason] if self.reason else [])])


class ExpressionError(InputError):
    """A mistake in an expression; `text` and `column` (from 0) say where, shown under the text."""

    def __init__(self, reason: str, text: str, column: int) -> None:
        super().__init__(reason)
        self.text = text
        self.column = column

    def __str__(self) -> str:
        start = max(0, self.column - 30)
        shown = self.text[start : start + 70].replace("\n", " ")
        pointer = " " * (self.column - start) + "^"
        return f"{super().__str__()}\n    {shown}\n    {pointer}"


class FinerError(ExpressionError):
    """exp(exponent · name), or exp(exponent), that is no whole power of what the ring has for it."""

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


class DomainError(InputError):
    """A parameter domain that is empty, unbounded or contradictory."""


class ModelError(InputError):
    """Tables that are not a probabilistic model for every parameter point of the domain."""


class EvidenceError(InputError):
    """An evidence file that cannot be read as evidence."""


class UnsupportedError(InputError):
    """Something that a format or a backend cannot express; it names the term."""


class LimitError(ParamverifyError, RuntimeError):
    """An input that is larger than a stated bound of this package."""


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


class UndeterminedError(LimitError):
    """The truth of a nested formula depends on the parameters, or is not known."""


class DisagreementError(ParamverifyError):
    """Two backends contradict each other on one claim; carries both transcripts."""

    def __init__(self, claim: str, answers: tuple[tuple[str, str, str], ...]) -> None:
        names = " and ".join(f"{name} ({answer})" for name, answer, _ in answers)
        super().__init__(f"backends disagree on claim {claim}: {names}")
        self.claim = claim
        self.answers = answers


class DefectError(ParamverifyError, AssertionError):
    """An invariant of this package does not hold; a defect of ours, never of the user."""


@contextmanager
def located(*, file: str = "", key: str = "", anchored: bool = False) -> Iterator[None]:
    """Adds file and key to an `InputError` that passes through and has none yet; keys nest with dots.

    An anchored key is the whole one: a program runs while the neighbours are read; its mistakes are its own.
    """
    try:
        yield
    except InputError as error:
        error.file = error.file or file
        if key and not error.anchored:
            error.key = f"{key}.{error.key}" if error.key else key
        error.anchored = error.anchored or anchored
        raise
