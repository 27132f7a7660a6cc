"""The exit codes of `paramverify`, and the code and words for each way in which a command may fail."""

from __future__ import annotations

import errno
from enum import IntEnum

import click

from paramverify.answers import Standing
from paramverify.errors import DisagreementError, InputError, LimitError
from paramverify.plugins import culprit

# With these the system says that what was to be written could not be, whichever file it is.
_NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE)
_MOST = 300  # characters of an unexpected error that are told


class Exit(IntEnum):
    """What a script may rely on; 70 and 74 are those of BSD's sysexits.h, 130 is the shell's for Ctrl-C."""

    HOLDS = 0  # private or true, accepted, done
    VIOLATED = 1  # not private or false, rejected; of `compare`: answers that disagree or are wrong
    INPUT = 2  # bad input or usage
    UNKNOWN = 3  # undecided, a limit was met, or solvers contradict each other: never a verdict
    DEFECT = 70  # a mistake of paramverify's own
    OUTPUT = 74  # the output could not be written, or the system refused
    INTERRUPTED = 130


STATUS_CODES = {
    Standing.HOLDS: Exit.HOLDS,
    Standing.VIOLATED: Exit.VIOLATED,
    Standing.UNKNOWN: Exit.UNKNOWN,
}
CODES = (
    "0 private or true (for commands such as budget and synthesize: answered), 1 not private or false, "
    "2 bad input or usage, 3 undecided, "
    "70 a defect of paramverify, 74 output not written, 130 interrupted"
)


def told(error: BaseException) -> tuple[Exit, str, str]:
    """Returns the exit code for an error, a word for its kind, and its message."""
    match error:
        case click.ClickException():
            return Exit.INPUT, "error", error.format_message()
        case InputError():
            return Exit.INPUT, "error", str(error)
        case LimitError():
            return Exit.UNKNOWN, "undecided", str(error)
        case MemoryError():
            return (
                Exit.UNKNOWN,
                "undecided",
                "memory ran out: make the input smaller, or use a machine with more memory",
            )
        case DisagreementError():
            transcripts = "\n".join(f"--- {name}: {said}\n{text}" for name, said, text in error.answers)
            return Exit.UNKNOWN, "DISAGREEMENT", f"{error}\n{transcripts}"
        case OSError():
            reason = error.strerror or str(error)
            if error.filename is not None and error.errno not in _NOT_WRITTEN:
                return Exit.INPUT, "error", f"{error.filename}: {reason}"
            return Exit.OUTPUT, "error", f"{error.filename or 'output'}: {reason}"
    plugin = culprit(error)
    return (Exit.INPUT, "error", plugin) if plugin else (Exit.DEFECT, "internal error", _defect(error))


def _defect(error: BaseException) -> str:
    shown = " ".join(str(error).split())
    short = shown if len(shown) <= _MOST else f"{shown[:_MOST]} ..."
    return (
        f"{type(error).__name__}{short and ': '}{short}. This is a defect of paramverify, not of the input; "
        "please report it with the command, its files, and what --debug prints"
    )
