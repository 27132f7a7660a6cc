"""Reading what users name as files: regular files only, and only up to a size that is stated; and writing.

A pipe may never send anything, a device may never end. So nothing is waited for: the file is opened without
blocking and looked at before it is read. This is the only way in which the package reads a user's file.

A file is written beside its place first, and has its name when it is whole: see `replacing`.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import IO

from paramverify.errors import InputError

STANDARD_INPUT = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
OPEN_ALREADY = ("/dev/std", "/dev/fd/", "/proc/self/fd/")  # names of descriptors
CHUNK = 1 << 20

_given: ContextVar[Mapping[str, bytes]] = ContextVar("given", default=MappingProxyType({}))


@contextmanager
def standing_in(path: Path, content: bytes | None) -> Iterator[None]:
    """Lets `read_file` return this content for a path: text that a program has is read as a file is.

    Without content it is the file that is read, whatever stood in for it.
    """
    others = {name: text for name, text in _given.get().items() if name != str(path)}
    token = _given.set(others if content is None else {**others, str(path): content})
    try:
        yield
    finally:
        _given.reset(token)


def standing_for(path: Path) -> bytes | None:
    """Returns the content that stands in for a path; None if it is the file that is read."""
    return _given.get().get(str(path))


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


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a name in the same folder for a new file, which takes the place of `path` in the end.

    If the block raises an error, or the new file cannot be stored, the old file stays as it was. A link keeps
    leading to its file. What is no regular file, such as /dev/stdout, is given itself, and so is a file in a
    folder where none can be made.

    Raises:
        OSError: with the name of the file.
    """
    real = Path(os.path.realpath(path))
    try:
        if str(path).startswith(OPEN_ALREADY) or (path.exists() and not path.is_file()):
            yield path
            return
        try:
            descriptor, name = tempfile.mkstemp(path.suffix, ".paramverify-", real.parent)
        except PermissionError:
            if not real.exists():
                raise
            yield path
            return
        try:
            yield Path(name)
            os.fsync(descriptor)
            os.chmod(name, stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o666 & ~_umask())
            os.replace(name, real)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
        finally:
            os.close(descriptor)
    except OSError as error:
        error.filename = str(path)
        raise


def _umask() -> int:
    found = os.umask(0o077)
    os.umask(found)
    return found
