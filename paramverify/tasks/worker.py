"""What a worker of a cluster does: batches of named tasks, plain data in and out.

The text that comes in and the text that goes out are JSON. A worker has one runner for each thread, so that
attempts run in killable processes of its own (see `processes.runner`), which die with it.

The functions that a task may name, and nothing else can be asked of a worker.

Each takes plain data, as `json.loads` gives it, and returns plain data.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import Any

import paramverify
from paramverify import __version__, errors, printable
from paramverify.errors import (
    ClusterError,
    DefectError,
    DisagreementError,
    InputError,
    ParamverifyError,
    TimeLimitError,
)
from paramverify.processes.runner import Runner

FUNCTIONS = {
    "decide": "paramverify.portfolio.session:decided",
    "sum": "paramverify.privacy.set_verification:decided_sum",
    "loss": "paramverify.privacy.loss_verification:covered",
    "attempt": "paramverify.comparison.comparison_runs:attempted",
    "draw": "paramverify.statistics.sampling_runs:drawn",
    "map": "paramverify.synthesis.spreading:mapped",
    "busy": "paramverify.tasks.tasks:busy",
}


def function(name: str) -> Callable[[Any], Any]:
    """Returns the function of that name.

    Raises:
        InputError: there is none.
    """
    if name not in FUNCTIONS:
        raise InputError(f"no task is called {name!r:.80}; there are {', '.join(FUNCTIONS)}")
    module, _, attribute = FUNCTIONS[name].partition(":")
    found: Callable[[Any], Any] = getattr(import_module(module), attribute)
    return found


# Those that are made of one text. A kind that is not here arrives as its nearest ancestor that is.
KINDS: dict[str, type[ParamverifyError]] = {
    kind.__name__: kind
    for kind in (
        errors.InputError,
        errors.DomainError,
        errors.ModelError,
        errors.UnsupportedError,
        errors.LimitError,
        errors.SizeError,
        errors.DefectError,
    )
}


def error_to_document(error: Exception) -> dict[str, Any]:
    """Returns an error as JSON data; one that is not ours is a defect."""
    if isinstance(error, DisagreementError):
        return {"kind": "DisagreementError", "about": error.about, "answers": error.answers}
    if isinstance(error, TimeLimitError):
        what = str(error).removeprefix(str(TimeLimitError(error.seconds)))
        return {"kind": "TimeLimitError", "seconds": error.seconds, "what": what}
    if isinstance(error, MemoryError):
        return {"kind": "LimitError", "reason": "a worker ran out of memory"}
    names = (kind.__name__ for kind in type(error).__mro__)
    kind = next((name for name in names if name in KINDS), "")
    if not kind:
        return {"kind": "DefectError", "reason": f"{type(error).__name__}: {error}"}
    return {"kind": kind, "reason": str(error)}


def error_from_document(document: Mapping[str, Any]) -> ParamverifyError:
    """Returns the error that `error_to_document` wrote."""
    kind = document.get("kind")
    if kind == "DisagreementError":
        answers = tuple((str(a), str(b), str(c)) for a, b, c in document["answers"])
        return DisagreementError(str(document["about"]), answers)
    if kind == "TimeLimitError":
        return TimeLimitError(float(document["seconds"]), str(document["what"]))
    return KINDS.get(str(kind), DefectError)(str(document.get("reason")))


AFTER = 5.0  # seconds that a task may need beyond its limit before its worker is ended
MOST = 1e8  # seconds that a timer takes

_own = threading.local()


def runner() -> Runner:
    """Returns the runner of this thread, which lives as long as the worker."""
    if not hasattr(_own, "runner"):
        _own.runner = Runner()
    found: Runner = _own.runner
    return found


@cache
def versions() -> dict[str, str]:
    """Returns what must be the same on both sides; `code` is a digest of all modules of this package."""
    python = ".".join(platform.python_version_tuple()[:2])
    folder = Path(paramverify.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return {
        "paramverify": __version__,
        "code": digest.hexdigest()[:12],
        "Python": python,
        "distributed": version("distributed"),
    }


def as_versions(found: object) -> dict[str, str]:
    """Returns what another side says of its versions; nothing of what is no text."""
    if not isinstance(found, Mapping):
        return {}
    return {name: printable.name(text, 80) for name, text in found.items() if isinstance(text, str)}


def check_versions(other: Mapping[str, str], who: str) -> None:
    """Refuses who has other versions.

    Raises:
        ClusterError: which differ.
    """
    own = versions()
    different = [
        f"{name} {other.get(name)} (here {own[name]})" for name in own if other.get(name) != own[name]
    ]
    if different:
        raise ClusterError(f"{who} has {', '.join(different)}: install the same versions everywhere")


def told_versions() -> str:
    """Returns the versions as JSON."""
    return json.dumps(versions())


def machine() -> dict[str, Any]:
    """Returns the facts about this machine that times depend on."""
    return {
        "cores": os.cpu_count() or 1,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def perform(text: str) -> str:
    """Does a batch of tasks one after the other, and returns what became of each.

    `{"versions": ours, "name": function, "tasks": [data], "seconds": [limits]}` gives `{"results": [{"value":
    data} or {"error": error}], "seconds": of all, "machine": facts}`, or
    `{"refused": versions}` where the versions of both sides differ.
    """
    sys.set_int_max_str_digits(0)
    batch = json.loads(text)
    own = versions()
    if batch["versions"] != own:
        return json.dumps({"refused": own})
    started = time.monotonic()
    results = []
    for document, seconds in zip(batch["tasks"], batch["seconds"], strict=True):
        with _watch.over(inf if seconds is None else seconds):
            results.append(_done(batch["name"], document))
    return json.dumps({"results": results, "seconds": time.monotonic() - started, "machine": machine()})


def _done(name: str, document: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {"value": function(name)(document)}
    except Exception as error:  # whatever it is, it is told to whoever asked, and the worker goes on
        return {"error": error_to_document(error)}


class _TimeWatch:
    """Ends this process where a task takes longer than it may, though a library does not give control back.

    The system's timer does that with its own signal, whose default is to end the process: no line of Python
    has to run. Tasks of several threads share the timer.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.due: dict[int, float] = {}

    @contextmanager
    def over(self, seconds: float) -> Iterator[None]:
        """Lets the work inside take some seconds, and a few more."""
        thread = threading.get_ident()
        self._set(lambda: self.due.__setitem__(thread, time.monotonic() + seconds + AFTER))
        try:
            yield
        finally:
            self._set(lambda: self.due.pop(thread))

    def _set(self, change: Callable[[], object]) -> None:
        if not hasattr(signal, "setitimer") or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
            change()
            return
        with self.lock:
            change()
            first = min(self.due.values(), default=inf)
            left = 0.0 if first == inf else min(MOST, max(0.001, first - time.monotonic()))
            signal.setitimer(signal.ITIMER_REAL, left)


_watch = _TimeWatch()
