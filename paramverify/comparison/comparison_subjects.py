"""What a comparison is about: claims or formulas of cases under several encodings, and SMT-LIB scripts.

SMT-LIB 2 scripts in a comparison: one subject for each question, and why a script is left out.

A question asks whether a formula is satisfiable. Scripts that `export` writes say that a violation exists:
`unsat` means that the claim holds, `sat` that it is violated. What only prints is left away before a solver
gets the script, and so is the status that it states, which is for the comparison to know.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from paramverify.answers import DECIDED, Standing
from paramverify.claims import Claim, without_enclosure
from paramverify.encodings import choice
from paramverify.encodings.encoding import Encoding
from paramverify.errors import InputError, LimitError, TimeLimitError, UnsupportedError
from paramverify.formats.smtlib_scripts import read_script
from paramverify.models.model import AnyModel
from paramverify.models.settings import Settings
from paramverify.portfolio.obligations import require_possible
from paramverify.privacy.cases import load

STATUS = {"sat": Standing.VIOLATED, "unsat": Standing.HOLDS}


@dataclass(frozen=True)
class ComparedScript:
    """A question as a script: its text and digest, and its status in the words of claims, or None."""

    text: str
    digest: str
    known: str | None


def read_questions(path: Path) -> list[ComparedScript]:
    """Returns the questions of a script, in their order.

    Raises:
        InputError, LimitError: it is not taken, with the reason and the line.
    """
    checks = read_script(path).checks
    return [ComparedScript(check.script, check.digest, STATUS.get(check.expected or "")) for check in checks]


SCRIPT = "script"  # stands for an encoding where somebody else has encoded


def as_it_is(encoding: str) -> bool:
    """Whether an encoding gives scripts, which are never simplified."""
    known = choice.encodings().get(encoding)
    return encoding == SCRIPT or (known is not None and known.scripts is not None)


@dataclass(frozen=True, eq=False)
class ComparedItem:
    """What is to be decided: a claim or formula of a case under an encoding, or an SMT-LIB script.

    A formula is a script too. `number` counts the claims of a case under one encoding from 1. `expected` is
    holds or violated where the file itself says so, otherwise None.
    """

    case: str
    encoding: str
    number: int
    digest: str
    origin: str
    expected: str | None
    what: Claim | ComparedScript


class FileKind(Enum):
    """What a file is: its verdicts have words of their own."""

    CASE = "case"
    CLAIM = "claim"
    SCRIPT = "script"


@dataclass(frozen=True)
class Encoded:
    """A file under an encoding: how many claims, the seconds that took, the status it expects as a whole.

    All verdicts about the file have the side condition, in words; "" for none. The `kind` of the file says in
    which words.
    """

    case: str
    encoding: str
    claims: int
    seconds: float
    expected: str | None
    side_condition: str = ""
    kind: FileKind = FileKind.CASE

    def document(self) -> dict[str, Any]:
        """Returns all of it as JSON data; a side condition only where there is one."""
        told = {name: value for name, value in vars(self).items() if name != "kind"}
        return {name: value for name, value in told.items() if name != "side_condition" or value}

    def word(self, standing: Standing) -> str:
        """Returns the word for a verdict about the file."""
        return {
            FileKind.CASE: standing.of_case,
            FileKind.CLAIM: standing.of_claim,
            FileKind.SCRIPT: standing.of_script,
        }[self.kind]


@dataclass(frozen=True)
class Skipped:
    """Something that was left out of a comparison, and why."""

    what: str
    reason: str


@dataclass
class Subjects:
    """What the given files contain."""

    subjects: list[ComparedItem] = field(default_factory=list)
    encoded: list[Encoded] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def read_subjects(
    paths: Iterable[str],
    encodings: Sequence[str],
    limited: Callable[[Path], AbstractContextManager[object]] = lambda path: nullcontext(),
    settings: Settings | None = None,
) -> Subjects:
    """Returns what is to be decided in case files, `.smt2` scripts and folders of both.

    A case whose claims are too many or too large is skipped, with the reason; so is a file that `limited`, in
    which it is read, gives no more time. `settings` set values in cases, not in scripts.

    Raises:
        InputError: a mistake in a file, nothing to compare, or two files that have the same name.
        LimitError: there is nothing to compare because the time did not suffice.
    """
    found = Subjects()
    names: dict[str, Path] = {}
    late = False
    for path in _files(paths):
        script = path.suffix == ".smt2"
        name = path.name if script else path.stem
        if name in names:
            if names[name].resolve() == path.resolve():
                continue
            raise InputError(
                f"{names[name]} has the same name, so results would be mixed up: rename one of the files",
                file=str(path),
            )
        names[name] = path
        try:
            with limited(path):
                if script:
                    _add_script(found, name, path)
                else:
                    _add_case(found, name, path, encodings, settings or {})
        except TimeLimitError as error:
            found.skipped.append(Skipped(name, str(error)))
            late = True
    if not found.subjects:
        reasons = "".join(f"; {s.what}: {s.reason}" for s in found.skipped)
        if late:
            raise LimitError(f"there is nothing to compare{reasons}")
        raise InputError(f"there is nothing to compare{reasons}")
    return found


def _files(paths: Iterable[str]) -> Iterator[Path]:
    for path in map(Path, paths):
        if not path.is_dir():
            yield path
            continue
        inside = sorted(p for p in path.iterdir() if p.suffix in (".toml", ".smt2"))
        if not inside:
            raise InputError("this folder has no .toml and no .smt2 file", file=str(path))
        yield from inside


def _add_script(found: Subjects, name: str, path: Path) -> None:
    """Adds the questions of a script; one that is not taken is left out, with the reason."""
    try:
        questions = read_questions(path)
    except TimeLimitError:
        raise
    except (InputError, LimitError) as error:
        reason = f"line {error.file_line}: " if isinstance(error, InputError) and error.file_line else ""
        reason += error.reason if isinstance(error, InputError) else str(error)
        found.skipped.append(Skipped(name, reason))
        return
    for number, script in enumerate(questions, 1):
        found.subjects.append(
            ComparedItem(
                name,
                SCRIPT,
                number=number,
                digest=script.digest,
                origin=str(path),
                expected=script.known,
                what=script,
            )
        )
    alone = questions[0].known if len(questions) == 1 else None
    found.encoded.append(Encoded(name, SCRIPT, len(questions), 0.0, alone, kind=FileKind.SCRIPT))


def _add_case(found: Subjects, name: str, path: Path, encodings: Sequence[str], settings: Settings) -> None:
    case = load(path, settings=settings)
    model = case.model
    require_possible(model)
    status = next((s for s in DECIDED if s == case.expect.get("status")), None)
    if model.every_length:
        found.skipped.append(
            Skipped(name, "the case is about every length, but these encodings need given lengths")
        )
        return
    known = choice.encodings()
    for encoding in encodings or (choice.listing(model).name,):
        started = time.perf_counter()
        try:
            parts = _questions(known[encoding], model)
        except TimeLimitError:
            raise
        except (LimitError, UnsupportedError) as error:
            found.skipped.append(Skipped(f"{name}, encoding {encoding}", str(error)))
            continue
        found.encoded.append(
            Encoded(
                name,
                encoding,
                claims=len(parts),
                seconds=round(time.perf_counter() - started, 4),
                expected=status,
                side_condition=model.side_condition,
                kind=FileKind.CLAIM if model.comparisons else FileKind.CASE,
            )
        )
        # If all hold, each holds; if some are violated, that is known of one only if there is one.
        expected = status if status is Standing.HOLDS or len(parts) == 1 else None
        for number, (origin, what) in enumerate(parts, 1):
            digest = what.digest() if isinstance(what, Claim) else what.digest
            found.subjects.append(
                ComparedItem(
                    name, encoding, number=number, digest=digest, origin=origin, expected=expected, what=what
                )
            )


def _questions(encoding: Encoding, model: AnyModel) -> list[tuple[str, Claim | ComparedScript]]:
    """Returns claims or scripts, each with where it comes from; the case is private iff all hold."""
    if encoding.claims:
        closed = map(without_enclosure, encoding.claims(model))
        return [(str(c.origins[0]) if c.origins else "", c) for c in closed]
    written = encoding.scripts(model) if encoding.scripts else ()
    return [
        (w.origin, ComparedScript(w.script, hashlib.sha256(w.script.encode()).hexdigest(), None))
        for w in written
    ]
