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
    """What every function that decides something takes: limits, and who decides.

    `timeout` is in seconds, for the whole call. `memory` is a size such as `"4GiB"`, or a number of bytes;
    it limits each attempt of a backend. `strategy` and `backends` are as on the command line: `"default"`,
    `"built-in"`, `"solvers"` or rounds such as `"z3,yices:5; cvc5"`, or else names of backends that race.
    With `confirm` = n, n different programs have to prove each claim. With `require_certificates`, nothing is
    proved on the word of a solver: what has no certificate stays undecided. `simplify` is True, False for
    claims as they are, or names of steps such as `"sympy,default"`.
    """

    timeout: float
    memory: str | int
    strategy: str | None
    backends: str | Sequence[str] | None
    confirm: int
    require_certificates: bool
    simplify: bool | str


def options_of(given: Limits) -> Options:
    """Returns the options of a session.

    Raises:
        InputError: a limit, a strategy or a backend that there is not, with its name.
    """
    for name in given:
        if name not in Limits.__annotations__:
            known = ", ".join(Limits.__annotations__)
            raise InputError(f"there is no such option; there are: {known}", key=name)
    backends, strategy = given.get("backends"), given.get("strategy")
    if backends is not None and strategy is not None:
        raise InputError("give either backends or strategy", key="backends")
    with located(key="strategy"):
        chosen = parse_strategy(strategy or "default")
    if backends is not None:
        with located(key="backends"):
            chosen = race_of(names_of("", backends))
    size = memory_of(given.get("memory", MEMORY))
    seconds = float(between("timeout", given.get("timeout", TIMEOUT)))
    confirm = whole("confirm", given.get("confirm", 1), 1)
    return Options(
        seconds=seconds,
        memory=size,
        strategy=chosen,
        confirm=confirm,
        limit=seconds,
        require_certificates=flag("require_certificates", given.get("require_certificates", False)),
        steps=_steps(given.get("simplify", True)),
    )


def names_of(key: str, given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Returns names of backends or encodings, of which a text has several, with commas; none for None."""
    if given is None:
        return ()
    listed = split_names(given) if isinstance(given, str) else [name.strip() for name in given]
    names = tuple(dict.fromkeys(name for name in listed if name))
    if not names:
        raise InputError("at least one name is needed", key=key)
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
        raise InputError(f"True or False is needed, not {value!r:.80}", key=name)
    return value
