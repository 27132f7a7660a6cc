"""Calls of code that the user gave: its mistakes are told as such, and what it prints is no answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress

from paramverify.errors import InputError, ParamverifyError

ENDED = "the mechanism ended the process"

_watch: Callable[[bool], None] | None = None


def watched_by(tell: Callable[[bool], None]) -> None:
    """Sets what is told True before code of the user runs and False after it, in this process."""
    global _watch
    _watch = tell


def reason_of(error: BaseException) -> str:
    """Returns the type and the text of an error that the user's code raised; the text may fail itself."""
    try:
        shown = str(error)
    except BaseException as failed:  # the user's code again
        if isinstance(failed, (KeyboardInterrupt, ParamverifyError)):
            raise
        return f"{type(error).__name__}, and its text cannot be read"
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__


@contextmanager
def users(what: Callable[[str], str]) -> Iterator[None]:
    """Runs code of the user: what it raises becomes an InputError, what it prints goes to standard error.

    `what` makes the reason of the InputError from the error in words. Ctrl-C and the errors of this package
    pass through.
    """
    with _elsewhere():
        if _watch:
            _watch(True)
        try:
            yield
        except (ParamverifyError, KeyboardInterrupt):
            raise
        except BaseException as error:  # whatever the user's code raises is a mistake in what the user gave
            raise InputError(what(reason_of(error)), key="--mechanism") from error
        finally:
            if _watch:
                _watch(False)


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Sends standard output to standard error, also that of libraries and of programs that are started."""
    saved = None
    with suppress(OSError):  # no such stream
        saved = os.dup(1)
        os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if saved is not None:
            for stream in (sys.__stdout__, sys.stderr):
                with suppress(OSError, ValueError, AttributeError):
                    stream.flush()  # type: ignore[union-attr]
            os.dup2(saved, 1)
            os.close(saved)
