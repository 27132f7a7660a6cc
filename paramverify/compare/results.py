"""The file of a comparison's results: one JSON line for each finished attempt, appended as it comes.

A line is written at once and flushed, so a comparison that is killed loses the attempt it was at and no more.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from paramverify import printable
from paramverify.answers import DECIDED, End, Standing
from paramverify.errors import InputError, located
from paramverify.files import open_regular, read_stream

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
        raise TypeError("denies is no truth value")
    for name in ("detail", "transcript"):
        if not isinstance(record[name], str):
            raise TypeError(f"{name} is no text")


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
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._read(self._file)
            except BaseException as error:
                self._file.close()
                if isinstance(error, BlockingIOError):
                    raise InputError("another comparison is writing to this file") from None
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
            raise InputError("this is no file of results of a comparison; give another folder")
        if kept < len(content):
            file.truncate(kept)

    def add(self, record: Record) -> None:
        """Appends the result of one attempt."""
        assert self._file
        self._file.write(printable.json_text(record).encode() + b"\n")
        self._file.flush()
        self.records[identity(record)] = record
