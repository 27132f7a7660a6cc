"""Which files a command reads and which it writes: nothing is written over an input, or twice.

What is read is known before any work begins: what the command line names, the files that these case files
name in turn, the configuration of solvers, and plugins. A name may be another one of the same file: links
count as the file. What is written goes beside its place first; see `files.replacing`.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import distributions
from itertools import combinations
from pathlib import Path
from typing import Any, TypeGuard

import click

from paramverify.errors import InputError
from paramverify.files import OPEN_ALREADY
from paramverify.plugins import PREFIX

MOST = 10_000_000  # bytes of a file in which names of others are looked for


class OutputFile(click.Path):
    """A file that is written in the end, when the work may be lost: it is looked at in the beginning."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        _check_writable(path)
        return path


OUTPUT_FILE = OutputFile(dir_okay=False)

_read: set[tuple[int, int]] = set()  # the inputs of the command that runs, by device and number


def keep_inputs(ctx: click.Context) -> None:
    """Refuses a command that would write a file over one that it reads, or two files to one place.

    Raises:
        UsageError: an output file is one of the inputs, or two outputs are one file.
    """
    written: list[tuple[str, Path]] = []
    named: list[str | Path] = []
    folders = False
    for param in ctx.command.params:
        value = ctx.params.get(param.name or "")
        if isinstance(param.type, OutputFile):
            written += [(param.opts[0], value)] if value is not None else []
        elif isinstance(param.type, click.Path) and not param.type.file_okay:
            folders = folders or value is not None  # whose files are looked at when their names are known
        else:
            named += filter(_is_name, value if isinstance(value, (tuple, list)) else [value])
    for (option, path), (other, same) in combinations(written, 2):
        if _identity(path) == _identity(same):
            raise click.UsageError(
                f"{option} and {other} name the same file, {path}: write to two different files"
            )
    _read.clear()
    if written or folders:
        _read.update(number for path in _inputs(named) if (number := _number(path)))
    for _, path in written:
        if _number(path) in _read:
            raise click.UsageError(f"{path} is an input of this command: write to another file")


def check_output(path: Path) -> None:
    """Checks a file that is written, such as one of a folder, when its name is known.

    Raises:
        InputError: the command that runs reads it.
    """
    if _number(path) in _read:
        raise InputError("this file is an input of this command: write to another folder", file=str(path))


def _is_name(value: object) -> TypeGuard[str | Path]:
    return isinstance(value, (str, Path))


def _identity(path: Path) -> object:
    """Returns what two names of one file have in common, also if it is not there yet."""
    return _number(path) or os.path.realpath(path)


def _number(path: str | Path) -> tuple[int, int] | None:
    """Returns the device and the number of a regular file; None for anything else."""
    with suppress(OSError, ValueError):  # what is no file, or no name of one
        if os.path.isfile(path):
            found = os.stat(path)
            return found.st_dev, found.st_ino
    return None


def _inputs(named: Iterable[str | Path]) -> Iterator[str | Path]:
    """Yields all files that are read, and names of others."""
    from paramverify.backends.configured import config_file

    seen: set[tuple[int, int]] = set()
    for name in named:
        for path in _parts(str(name)):
            yield from _with_files(path, seen)
    with suppress(InputError):  # which is told where it is read
        found = config_file()
        yield from [found] if found else []
    yield from _plugins()


def _parts(name: str) -> Iterator[str]:
    """Yields what a word may mean: `case.toml`, `case.toml:times=3`, `file.py:function`, a folder."""
    yield name
    if ":" in name:
        yield name.partition(":")[0]
        yield name.rpartition(":")[0]
    if os.path.isdir(name):
        with suppress(OSError):
            yield from (entry.path for entry in os.scandir(name))


def _with_files(path: str | Path, seen: set[tuple[int, int]]) -> Iterator[str | Path]:
    """Yields a file, and if it is TOML all files that texts in it name, from its folder on."""
    number = _number(path)
    if number is None or number in seen:
        return
    seen.add(number)
    yield path
    if os.path.getsize(path) > MOST:
        return
    with suppress(OSError, ValueError, RecursionError):  # not TOML, or not to be read, which is told later
        data = tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
        folder = os.path.dirname(path)
        for text in set(_texts(data)):
            if "\n" not in text:
                yield from _with_files(os.path.join(folder, text), seen)


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, Sequence):
        for value in data:
            yield from _texts(value)


def _plugins() -> Iterator[str]:
    """Yields where the modules of plugins may be; none of them is imported for it."""
    for point in (point for each in distributions() for point in each.entry_points):
        if point.group.startswith(PREFIX):
            parts = point.module.split(".")
            for folder in sys.path:
                place = os.path.join(folder or ".", *parts)
                yield from (f"{place}.py", os.path.join(place, "__init__.py"))


def _check_writable(path: Path) -> None:
    """Checks that a file can be written; it is not made yet.

    A named pipe is refused: whoever opens it waits for a reader, and no limit of time ends that. A pipe that
    is open already has one: /dev/stdout, and what a shell makes of >(command).

    Raises:
        InputError: its folder does not exist, or may not be written to; or the file itself may not.
    """
    folder = path.parent
    if not folder.is_dir():
        raise InputError(
            f"the folder {str(folder)!r} does not exist: create it, or write elsewhere", file=str(path)
        )
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError("this file cannot be written: write to another one", file=str(path))
    if path.is_fifo() and not str(path).startswith(OPEN_ALREADY):
        raise InputError("this is a named pipe: write to a regular file, or to /dev/stdout", file=str(path))
