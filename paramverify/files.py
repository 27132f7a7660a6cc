"""Reading what users name as files: regular files only, and only up to a size that is stated.

A pipe may never send anything, a device may never end. So nothing is waited for: the file is opened without
blocking and looked at before it is read. This is the only way in which the package reads a user's file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import IO

from paramverify.errors import InputError

STANDARD_INPUT = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
CHUNK = 1 << 20

_given: ContextVar[Mapping[str, bytes]] = ContextVar("given", default=MappingProxyType({}))


@contextmanager
def standing_in(path: Path, content: bytes) -> Iterator[None]:
    """Lets `read_file` return this content for a path: text that a program has is read as a file is."""
    token = _given.set({**_given.get(), str(path): content})
    try:
        yield
    finally:
        _given.reset(token)


def open_regular(path: Path, flags: int = os.O_RDONLY, kind: type[InputError] = InputError) -> IO[bytes]:
    """Opens a file, which may be made by the flags, and returns it as an unbuffered stream of bytes.

    Raises:
        InputError: (of the given kind) it cannot be opened, or is no regular file.
    """
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise kind(error.strerror or "cannot be opened") from None
    except ValueError:
        raise kind("not a name of a file") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise kind("this is a directory, not a regular file" if path.is_dir() else "not a regular file")
    writing = {os.O_RDONLY: "rb", os.O_WRONLY: "wb"}.get(flags & os.O_ACCMODE, "r+b")
    return open(descriptor, writing, buffering=0)


def read_stream(stream: IO[bytes], most: int, what: str, kind: type[InputError] = InputError) -> bytes:
    """Returns the rest of a stream.

    Raises:
        InputError: (of the given kind) it has more than `most` bytes, or cannot be read.
    """
    content = bytearray()
    size = os.fstat(stream.fileno()).st_size
    try:
        while size <= most and (data := stream.read(CHUNK)):
            content += data
            size = max(size, len(content))
    except OSError as error:
        raise kind(error.strerror or "cannot be read") from None
    if size > most:
        raise kind(f"{size:,} bytes; {what} has at most {most:,} bytes")
    return bytes(content)


def read_file(
    path: Path, most: int, what: str, kind: type[InputError] = InputError, *, piped: bool = False
) -> bytes:
    """Returns the content of a regular file; `piped`: standard input by its name may be anything.

    Raises:
        InputError: (of the given kind) not a regular file, more than `most` bytes, or cannot be read.
    """
    if str(path) in _given.get():
        content = _given.get()[str(path)]
        if len(content) > most:
            raise kind(f"{len(content):,} bytes; {what} has at most {most:,} bytes")
        return content
    if piped and str(path) in STANDARD_INPUT:
        with open(os.dup(0), "rb", buffering=0) as stream:
            return read_stream(stream, most, what, kind)
    with open_regular(path, kind=kind) as stream:
        return read_stream(stream, most, what, kind)
