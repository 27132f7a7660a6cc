"""Strategies: which backends race for a claim, for how long, and when its box is cut; plain data.

A strategy is written `bernstein,z3:2; z3,cvc5-cov,yices:20; bernstein,z3:60/2`: rounds separated by
semicolons, each with its backends, its seconds, and how often the box is halved before (`/2` gives up to
four parts). Options of a backend stand behind its name: `z3(random_seed=1)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from paramverify.backends import taking_part
from paramverify.errors import InputError
from paramverify.processes.attempts import split_names

BUILT_IN = "built-in"  # the exact procedures of this package, in this process, with a small bound on work
MAX_CUTS = 8
NAMES, SECONDS, CUTS = r"((?:[\w., :-]|\([^()]*\))+?)", r"(\d+(?:\.\d+)?|inf)", r"(\d)"
NO_SECONDS = re.compile(r"^\s*:|:\s*(?:[-+.\d]|nan\b)")
STAGE = re.compile(rf"\s*{NAMES}\s*(?::\s*{SECONDS}\s*(?:/\s*{CUTS})?)?\s*")


class BackendGroup(Enum):
    """Those of the backends that say they take part by default, and are installed."""

    ALL = "all"
    PROCEDURES = "procedures"  # the exact ones of this package
    SOLVERS = "solvers"

    def members(self) -> tuple[str, ...]:
        """Returns their names, in the order in which they say they stand."""
        wanted = {
            BackendGroup.ALL: (True, False),
            BackendGroup.PROCEDURES: (True,),
            BackendGroup.SOLVERS: (False,),
        }[self]
        return tuple(found.name for found in taking_part() if found.builtin in wanted)


@dataclass(frozen=True)
class Stage:
    """One round: the box is halved `cuts` times, and the backends race for each part, within `seconds`."""

    backends: tuple[str | BackendGroup, ...]
    seconds: float
    cuts: int = 0

    def names(self) -> tuple[str, ...]:
        """Returns the backends by name, those of groups as they are installed here."""
        listed = ((name,) if isinstance(name, str) else name.members() for name in self.backends)
        return tuple(dict.fromkeys(name for names in listed for name in names))


Strategy = tuple[Stage, ...]

NAMED: dict[str, Strategy] = {
    "default": (
        Stage((BUILT_IN,), 1.0),
        Stage((BackendGroup.ALL,), 24.0),
        Stage((BackendGroup.ALL,), 60.0, 2),
        Stage((BackendGroup.ALL,), float("inf"), 4),
    ),
    "built-in": (Stage((BUILT_IN,), 1.0), Stage((BackendGroup.PROCEDURES,), float("inf"))),
    "solvers": (Stage((BackendGroup.SOLVERS,), 4.0), Stage((BackendGroup.SOLVERS,), float("inf"))),
}


def race_of(backends: tuple[str, ...]) -> Strategy:
    """Returns the strategy in which the named backends race once, with all the time there is."""
    quick = (Stage((BUILT_IN,), 1.0),) if BUILT_IN in backends else ()
    rest = tuple(name for name in backends if name != BUILT_IN)
    return (*quick, Stage(rest, float("inf"))) if rest else quick


def parse_strategy(text: str) -> Strategy:
    """Reads the name of a strategy, or one written out as above.

    Raises:
        InputError: neither.
    """
    if text.strip() in NAMED:
        return NAMED[text.strip()]
    stages = []
    for part in text.split(";"):
        match = STAGE.fullmatch(part)
        if match and NO_SECONDS.search(match[1]):
            match = None  # such as z3:-1, which is no object in a module either
        if not match or (":" not in part and len(text.split(";")) == 1 and "," not in part):
            raise InputError(
                f"unknown strategy {text!r}; choose from {', '.join(NAMED)}, or write, for example, "
                "'bernstein,z3:2; z3,cvc5-cov:20; bernstein,z3:60/2'"
            )
        names = tuple(split_names(match[1]))
        cuts = int(match[3] or 0)
        if cuts > MAX_CUTS:
            raise InputError(f"more than {MAX_CUTS} cuts: write at most {MAX_CUTS}")
        stages.append(Stage(names, float(match[2] or "inf"), cuts))
    return tuple(stages)
