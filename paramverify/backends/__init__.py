"""Backends: each module of this package may export some as `BACKENDS`.

That is a tuple, or a function that returns one. A module here is a backend; there is nothing to register. It
may be a few lines: see `Backend` for the contract. A backend owns no time, memory or process: the portfolio
runs it in a child process that it may kill at any moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol

from paramverify.answers import Answer
from paramverify.claims import Claim
from paramverify.errors import InputError


class Ability(Enum):
    """What a backend can do."""

    CLAIMS = "closed claims"
    MODELS = "models"  # it gives a point where a claim fails
    QUANTIFIERS = "quantified formulas"  # it eliminates quantifiers, so that some parameters may stay free


DECIDES = frozenset({Ability.CLAIMS, Ability.MODELS})


class Backend(Protocol):
    """What the portfolio needs of a backend.

    `name` is what users type; `builtin` is true for the exact procedures of this package, whose proofs carry
    certificates; `install` is the command or advice for getting it. `description` is one line, `abilities`
    says what it can do.
    Two more attributes are optional: `settings`, a mapping of options that are always set and recorded,
    and `preload`, names of modules that are imported once, before attempts are forked.
    """

    name: str
    builtin: bool
    description: str
    install: str
    abilities: frozenset[Ability]

    def version(self) -> str | None:
        """Returns the version found on this machine, or None where the backend is missing; cheap."""

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Decides one claim.

        `Proved` only if f(θ) ≥ 0 for every θ of the domain (constraints included; `E`, where it occurs, is
        an ordinary variable of the box here). `Refuted` with a rational point near or at a violation; it
        is checked by the caller. Everything else is `Open`, with its end and the raw output kept.
        """


def discover() -> dict[str, Backend]:
    """Returns every backend by name, installed or not: ours in the order of module names, then the user's.

    Raises:
        InputError: a mistake in the user's configuration, or two backends of one name.
    """
    found: dict[str, Backend] = {}
    offers = (
        getattr(import_module(f"{__name__}.{module.name}"), "BACKENDS", ())
        for module in sorted(iter_modules(__path__), key=lambda m: m.name)
    )
    # Functions come last, so that a name that is taken is the user's mistake.
    for offer in sorted(offers, key=callable):
        for backend in offer() if callable(offer) else offer:
            if backend.name in found:
                raise InputError(f"there are two backends called {backend.name!r}")
            found[backend.name] = backend
    return found


def backend(name: str) -> Backend:
    """Returns the backend of that name.

    Raises:
        InputError: there is none.
    """
    known = discover()
    if name not in known:
        raise InputError(f"unknown backend {name!r}; known: {', '.join(known)}")
    return known[name]
