"""The limits and solvers that a call may choose, and one clock for the whole call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypedDict

from paramverify.api.values import between, whole
from paramverify.errors import InputError, located
from paramverify.portfolio.session import Options
from paramverify.portfolio.strategies import parse_strategy, race_of
from paramverify.processes.attempts import read_size, split_names
from paramverify.processes.time_limits import alarm
from paramverify.simplify.step_names import parse_steps

# --- one clock for a call of the package: reading, building, and all searches -----------------------

GRACE = 0.25  # seconds that a session may need to end its processes

Left = Callable[[], Options]


@contextmanager
def clock(options: Options) -> Iterator[Left]:
    """Ends what is done inside when the time of a call is over, see `alarm`; gives the options with the rest.

    Raises:
        TimeLimitError: the time is over.
    """
    until = time.monotonic() + options.seconds

    def left() -> Options:
        return replace(options, seconds=max(0.01, until - time.monotonic()))

    with alarm(options.limit or options.seconds, options.seconds + GRACE):
        yield left


# --- options ----------------------------------------------------------------------------------------

TIMEOUT = 60.0
MEMORY = "4GiB"


class Limits(TypedDict, total=False):
    """Limits of a call, and who decides; every function that decides something takes them as arguments."""

    timeout: float
    """number: Stop the whole call after this many seconds of wall-clock time."""
    memory: str | int
    """text or int: Limit the memory of each attempt of a backend: a size such as `"4GiB"`, or bytes."""
    strategy: str | None
    """text: Choose which backends run and for how long: `"default"`, `"built-in"`, `"solvers"`, or rounds
    such as `"z3,yices:5; cvc5"`. Excludes `backends`."""
    backends: str | Sequence[str] | None
    """text or list of texts: Race these backends on each claim, such as `"z3,cvc5"`. Excludes `strategy`."""
    confirm: int
    """int: Require that this many different backends prove each claim."""
    require_certificates: bool
    """bool: Leave a claim undecided if only the word of a solver proves it, without a certificate."""
    simplify: bool | str
    """bool or text: Simplify claims before backends get them (True), do not (False), or use the named steps,
    such as `"sympy,default"`."""


DEFAULTS: Limits = {
    "timeout": TIMEOUT,
    "memory": MEMORY,
    "strategy": None,
    "backends": None,
    "confirm": 1,
    "require_certificates": False,
    "simplify": True,
}


def options_of(given: Limits) -> Options:
    """Returns the options of a session.

    Raises:
        InputError: a limit, a strategy or a backend that there is not, with its name.
    """
    for name in given:
        if name not in DEFAULTS:
            raise InputError(f"this is not an argument; write one of {', '.join(DEFAULTS)}", key=name)
    asked: Limits = {**DEFAULTS, **given}
    backends, strategy = asked["backends"], asked["strategy"]
    if backends is not None and strategy is not None:
        raise InputError("backends and strategy exclude each other: leave one of them out", key="backends")
    with located(key="strategy"):
        chosen = parse_strategy(strategy or "default")
    if backends is not None:
        with located(key="backends"):
            chosen = race_of(names_of("", backends))
    size = memory_of(asked["memory"])
    seconds = float(between("timeout", asked["timeout"]))
    confirm = whole("confirm", asked["confirm"], 1)
    return Options(
        seconds=seconds,
        memory=size,
        strategy=chosen,
        confirm=confirm,
        limit=seconds,
        require_certificates=flag("require_certificates", asked["require_certificates"]),
        steps=_steps(asked["simplify"]),
    )


def names_of(key: str, given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Returns names of backends or encodings, of which a text has several, with commas; none for None."""
    if given is None:
        return ()
    listed = split_names(given) if isinstance(given, str) else [name.strip() for name in given]
    names = tuple(dict.fromkeys(name for name in listed if name))
    if not names:
        raise InputError("no name is given: give at least one", key=key)
    return names


def memory_of(given: str | int) -> int:
    """Returns a size of memory in bytes."""
    with located(key="memory"):
        return read_size(given) if isinstance(given, str) else whole("", given, 10**8)


def _steps(value: object) -> tuple[str, ...] | None:
    """Returns the steps of simplification: True for the default ones, False for none, or names."""
    if isinstance(value, str):
        with located(key="simplify"):
            return parse_steps(value)
    return None if flag("simplify", value) else ()


def flag(name: str, value: object) -> bool:
    """Returns a truth value that is one."""
    if not isinstance(value, bool):
        raise InputError(f"{value!r:.80} is not a truth value: write True or False", key=name)
    return value
