"""Results of a comparison: the file of our own, and CSV files of other tools.

The file of a comparison's results: one JSON line for each finished attempt, appended as it comes.

A line is written at once and flushed, so a comparison that is killed loses the attempt it was at and no more.

Results of other tools, from a CSV file: they stand beside those of backends, on their tool's word.

The first line names the columns: `case` (the file, or its name), `tool`, `status` (sat, unsat, true, false,
holds, violated; all else is no answer), `wall`, `cpu` (seconds; an answer needs one of them, and
it stands for the other where that is left out), and where they are known `claim` (its number, 1 if left out),
`version`, `memory` (bytes).
"""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import time
from collections.abc import Iterable, Mapping
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from paramverify import __version__, printable
from paramverify.answers import DECIDED, End, Standing
from paramverify.comparison.comparison_subjects import ComparedItem, Skipped
from paramverify.errors import InputError, located
from paramverify.files import open_regular, read_file, read_stream

Record = Mapping[str, Any]

# What makes an attempt the same one: all that was chosen, and all that its result may depend on.
IDENTITY = (
    "case",
    "encoding",
    "claim",
    "digest",
    "backend",
    "version",
    "options",
    "simplification",
    "timeout",
    "memory_limit",
    "repeat",
    "machine",
    "paramverify",
)

MAX_BYTES = 1_000_000_000
LOCK_TRIES, LOCK_WAIT = 20, 0.1  # seconds between two of them
BEGINNING = b'{"case": '  # of every file
EVIDENCE = (None, "witness", "certificate", "rejected", "word")
MAX_NUMBER = 1e15  # seconds or bytes
UNFINISHED = (End.UNAVAILABLE.value, End.INTERRUPTED.value)  # such attempts say nothing and are made again


def identity(record: Record) -> str:
    """Returns what identifies the attempt of a record, or of a plan for one."""
    return json.dumps([record[name] for name in IDENTITY], sort_keys=True)


def _check(record: Record) -> None:
    """Checks that what a summary rests on has the right form.

    Raises:
        ValueError, TypeError: it has not. KeyError: something is missing.
    """
    decided = record["end"] == End.DECIDED.value
    if (record["status"] != Standing.UNKNOWN) != decided or End(record["end"]) is End.DISAGREEMENT:
        raise ValueError("the end does not fit the status")
    choices = {"status": (*DECIDED, Standing.UNKNOWN), "evidence": EVIDENCE, "known": (None, *DECIDED)}
    for name, values in choices.items():
        if record[name] not in values:
            raise ValueError(f"{name} is {record[name]!r:.40}")
    for name in ("wall", "cpu", "memory"):
        number = record[name]
        if isinstance(number, bool) or not 0 <= number < MAX_NUMBER:
            raise ValueError(f"{name} is {number!r:.40}")
    if not isinstance(record.get("denies", False), bool):
        raise TypeError("denies is not a truth value")
    for name in ("detail", "transcript"):
        if not isinstance(record[name], str):
            raise TypeError(f"{name} is not a text")


def _lock(file: IO[bytes]) -> None:
    """Locks a file; workers of a comparison that was killed hold it for a moment, until they end.

    Raises:
        BlockingIOError: it stays locked.
    """
    for left in reversed(range(LOCK_TRIES)):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not left:
                raise
            time.sleep(LOCK_WAIT)
        else:
            return


class ResultsFile:
    """Results by identity, read once and appended to; a context manager, one process at a time.

    A damaged last line, which a process left that was killed while writing, is dropped from the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: dict[str, Record] = {}
        self._file: IO[bytes] | None = None

    def __enter__(self) -> ResultsFile:
        with located(file=str(self.path)):
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = open_regular(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            except OSError as error:
                raise InputError(error.strerror or "cannot be written") from None
            try:
                _lock(self._file)
                self._read(self._file)
            except BaseException as error:
                self._file.close()
                if isinstance(error, BlockingIOError):
                    raise InputError(
                        "another comparison is writing to this file: wait for it, or choose another folder"
                    ) from None
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()

    def _read(self, file: IO[bytes]) -> None:
        content = read_stream(file, MAX_BYTES, "a file of results")
        complete = content[: content.rfind(b"\n") + 1]
        lines = complete.splitlines(keepends=True)
        kept = 0
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
                _check(record)
                if record["end"] not in UNFINISHED:
                    self.records[identity(record)] = record
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                if number == len(lines):
                    break
                raise InputError(f"line {number} is not a result of a comparison: {error!r:.100}") from None
            kept += len(line)
        if not kept and content[: len(BEGINNING)] != BEGINNING[: len(content)]:
            raise InputError("this is not a results file of a comparison; choose another folder")
        if kept < len(content):
            file.truncate(kept)

    def add(self, record: Record) -> None:
        """Appends the result of one attempt."""
        assert self._file
        self._file.write(printable.json_text(record).encode() + b"\n")
        self._file.flush()
        self.records[identity(record)] = record


MAX_FOREIGN_BYTES = 100_000_000
NEEDED = ("case", "tool", "status")
WORDS = {
    word: standing
    for standing in (Standing.HOLDS, Standing.VIOLATED)
    for word in (standing.value, standing.of_claim, standing.of_script)
}


def read_results(
    path: Path,
    subjects: Iterable[ComparedItem],
    timeout: float,
    memory: int,
    taken: Iterable[str],
    before: Iterable[Record] = (),
) -> tuple[list[Record], list[Skipped]]:
    """Returns the results about these subjects as records, and which rows were about nothing here.

    An answer after the time limit is none: all are judged by the same limit.

    Raises:
        InputError: not such a file, with the line; a tool that has the name of a backend (`taken`); a second
            result of a tool, here or after those of other files (`before`).
    """
    known: dict[tuple[str, int], ComparedItem] = {}
    for subject in subjects:
        known.setdefault((subject.case, subject.number), subject)  # under the first encoding
    records: dict[tuple[str, str, int], Record] = {}
    there = {(r["backend"], r["case"], r["claim"]) for r in before}
    elsewhere = 0
    with located(file=str(path)):
        try:
            text = read_file(path, MAX_FOREIGN_BYTES, "a table of results").decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError("not UTF-8 text") from None
        rows = csv.DictReader(io.StringIO(text, newline=""))
        try:
            missing = [name for name in NEEDED if name not in (rows.fieldnames or ())]
            if missing:
                raise InputError(f"the first line has no column {', '.join(missing)}")
            for row in rows:
                about = _about(row, known)
                if about is None:
                    elsewhere += 1
                    continue
                if row["tool"] in taken or not row["tool"]:
                    raise InputError(
                        f"the tool {row['tool']!r:.40} is the name of a backend, or empty: "
                        "give the tool another name"
                    )
                place = row["tool"], about.case, about.number
                if place in records or place in there:
                    raise InputError(f"a second result of {row['tool']} on {about.case} {about.number}")
                records[place] = _record(row, about, timeout, memory)
        except (ValueError, InputError, csv.Error) as error:
            made = error if isinstance(error, InputError) else InputError(str(error))
            made.file_line = rows.line_num or 1
            raise made from None
    what = f"{elsewhere} {'row' if elsewhere == 1 else 'rows'} of {path.name}"
    told = [Skipped(what, "about cases and claims that are not compared")]
    return list(records.values()), told if elsewhere else []


def _about(row: Mapping[str, Any], known: Mapping[tuple[str, int], ComparedItem]) -> ComparedItem | None:
    """Returns what a row is about: a case by its name or file, a script by its file."""
    name, number = Path(row["case"] or "").name, _claim(row)
    return known.get((name, number)) or known.get((name.removesuffix(".toml"), number))


def _record(row: Mapping[str, Any], subject: ComparedItem, timeout: float, memory: int) -> Record:
    standing = WORDS.get(str(row["status"]).strip().lower(), Standing.UNKNOWN)
    times = {name: _number(row, name) for name in ("wall", "cpu") if (row.get(name) or "").strip()}
    if not times and standing is not Standing.UNKNOWN:
        raise InputError("an answer has no seconds: give wall or cpu, or both")
    wall = times.get("wall", times.get("cpu", 0.0))
    late = wall > timeout
    if late:
        standing = Standing.UNKNOWN
    unknown = End.TIMEOUT if late or "timeout" in str(row["status"]).lower() else End.GAVE_UP
    return {
        "case": subject.case,
        "encoding": subject.encoding,
        "claim": subject.number,
        "digest": subject.digest,
        "origin": subject.origin,
        "backend": row["tool"],
        "version": row.get("version") or "",
        "options": {},
        "simplification": "off",
        "repeat": 1,
        "timeout": timeout,
        "memory_limit": memory,
        "machine": {"elsewhere": True},
        "paramverify": __version__,
        "status": standing.value,
        "end": (unknown if standing is Standing.UNKNOWN else End.DECIDED).value,
        "detail": "" if standing is not Standing.UNKNOWN else str(row["status"] or "")[:200],
        "evidence": None if standing is Standing.UNKNOWN else "word",
        "denies": False,
        "known": subject.expected,
        "asked": True,
        "wall": wall,
        "cpu": times.get("cpu", wall),
        "memory": int(_number(row, "memory")),
        "transcript": "",
    }


def _claim(row: Mapping[str, Any]) -> int:
    number = _number(row, "claim") if (row.get("claim") or "").strip() else 1.0
    if not number.is_integer() or not number:
        raise InputError(f"claim is {row['claim']!r:.40}, which is not a whole number of at least 1")
    return int(number)


def _number(row: Mapping[str, Any], name: str) -> float:
    text = (row.get(name) or "").strip() or "0"
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{name} is {text!r:.40}, which is not a number") from None
    if not isfinite(value) or not 0 <= value < MAX_NUMBER:
        raise InputError(f"{name} is {text!r:.40}")
    return value
