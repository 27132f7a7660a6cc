"""Backends: each module of this package may export some as `BACKENDS`.

That is a tuple, or a function that returns one. A module here is a backend, and so is one that a plugin
names in the group `paramverify.backends`; there is nothing to register. It may be a few lines: see `Backend`
for the contract. A backend owns no time, memory or process: the portfolio runs it in a child process that it
may kill at any moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Protocol

from paramverify.algebra.domains import tied_in
from paramverify.answers import Answer, End, Open
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.plugins import Plugin, Registry, plugins, taken

REGISTRY = Registry(__name__, "paramverify.backends", "backend")
NEEDED = ("name", "builtin", "description", "install", "abilities", "version", "decide")


class Ability(Enum):
    """What a backend can do."""

    CLAIMS = "closed claims"
    MODELS = "models"  # it gives a point where a claim fails
    QUANTIFIERS = "quantified formulas"  # it eliminates quantifiers, so that some parameters may stay free
    LOGARITHMS = "exponentials"  # it decides claims in which a parameter stands beside its exponential


DECIDES = frozenset({Ability.CLAIMS, Ability.MODELS})
PRINTED = ("paramverify.formats.formula_printers",)  # what backends load that are given a formula as text


class Backend(Protocol):
    """What the portfolio needs of a backend.

    `name` is what users type; `builtin` is true for the exact procedures of this package, whose proofs carry
    certificates; `install` is the command or advice for getting it. `description` is one line, `abilities`
    says what it can do.
    More members are optional. `settings` is a mapping of options that are always set and recorded; `preload`
    are names of modules that are imported once, before attempts are forked. For the others see the functions
    below: `place`, where it stands in the race of the default strategy; `program`, the program whose answers
    its own are; `run_script`, which runs an SMT-LIB script as it is; `certifies`, whether its proofs carry
    certificates.
    """

    name: str
    builtin: bool
    description: str
    install: str
    abilities: frozenset[Ability]

    def version(self) -> str | None:
        """Returns the version found on this machine, or None where the backend is missing; cheap."""

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Decides one claim, about polynomials unless its abilities name more (see `asked`).

        `Proved` only if f(θ) ≥ 0 for every θ of the domain (constraints included; `E`, where it occurs, is
        an ordinary variable of the box here). `Refuted` with a rational point near or at a violation; it
        is checked by the caller. Everything else is `Open`, with its end and the raw output kept.
        """


def asked(found: Backend, claim: Claim, options: Mapping[str, str]) -> Answer:
    """Returns what a backend says of a claim; Open if it is about more than the backend can read."""
    polynomials = (claim.polynomial, *(c.polynomial for c in claim.domain.constraints))
    for tie in tied_in(claim.domain.ring, *polynomials):
        if Ability.LOGARITHMS not in found.abilities:
            reason = f"{tie.name} occurs beside {tie.meaning}, but {found.name} supports only polynomials"
            return Open(End.GAVE_UP, reason)
    return found.decide(claim, options)


def certifies(found: Backend) -> bool:
    """Returns whether the proofs of a backend carry certificates: those of built-in ones do."""
    own: bool = getattr(found, "certifies", found.builtin)
    return own


def place(found: Backend) -> int | None:
    """Returns where a backend stands in the default strategy, smaller places first; None if it takes no part.

    Without a `place` of its own it takes no part: it is asked where the user names it.
    """
    own: int | None = getattr(found, "place", None)
    return own


def program(found: Backend, name: str) -> str:
    """Returns what the answers of the backend that users call by this name depend on.

    Backends with the same `program` are one where different ones are to confirm a claim, and so are all
    built-in procedures. Without a `program` of its own a backend is a program for itself.
    """
    own: str = getattr(found, "program", name)
    return "built-in" if found.builtin else own


def script_runner(found: Backend) -> Callable[[str], str | Open] | None:
    """Returns `run_script`: from an SMT-LIB script to what is printed, or why that is no answer; or None."""
    own: Callable[[str], str | Open] | None = getattr(found, "run_script", None)
    return own


def taking_part() -> tuple[Backend, ...]:
    """Returns the backends that are installed and take part in the default strategy, in their order.

    Raises:
        InputError: see `discover`.
    """
    placed = [(own, found) for found in discover().values() if (own := place(found)) is not None]
    ordered = sorted(placed, key=lambda entry: entry[0])  # the order of discovery where places are equal
    return tuple(found for _, found in ordered if found.version() is not None)


def discover() -> dict[str, Backend]:
    """Returns every backend by name, installed or not: ours by modules, those of plugins, then the user's.

    Raises:
        InputError: a mistake in the user's configuration, a plugin that fails, or two backends of one name.
    """
    found = ours()
    for plugin in plugins(REGISTRY.group):
        for backend in _offered(plugin):
            if backend.name in found or backend.name == "built-in":
                raise taken(plugin, REGISTRY.what, backend.name)
            found[backend.name] = backend
    # Functions come last, so that a name that is taken is the user's mistake.
    for offer in _offers():
        if callable(offer):
            _add(found, offer())
    return found


def _offered(plugin: Plugin) -> Iterable[Backend]:
    """Returns the backends of a plugin, which have all members that are needed.

    Raises:
        InputError: they have not, or the plugin fails.
    """
    offer = plugin.offer("BACKENDS")
    offered = offer() if callable(offer) else offer
    if not isinstance(offered, tuple | list):
        raise InputError(f"{plugin.told()}: BACKENDS is not a tuple of backends")
    for found in offered:
        missing = [name for name in NEEDED if not hasattr(found, name)]
        if missing:
            raise InputError(f"{plugin.told()}: a backend has no {', '.join(missing)}")
        if found.builtin:
            raise InputError(f"{plugin.told()}: the backend {found.name!r} says that it is built in")
        if not isinstance(place(found), int | None):
            raise InputError(f"{plugin.told()}: the place of {found.name!r} is not a whole number")
    return offered


def _offers() -> list[Any]:
    return [getattr(REGISTRY.own_module(name), "BACKENDS", ()) for name in REGISTRY.own()]


def ours() -> dict[str, Backend]:
    """Returns the backends of this package that do not depend on the user's configuration."""
    found: dict[str, Backend] = {}
    for offer in _offers():
        if not callable(offer):
            _add(found, offer)
    return found


def _add(found: dict[str, Backend], backends: Iterable[Backend]) -> None:
    for backend in backends:
        if backend.name in found:
            raise InputError(f"there are two backends called {backend.name!r}")
        found[backend.name] = backend


def backend(name: str) -> Backend:
    """Returns the backend of that name.

    Raises:
        InputError: there is none.
    """
    known = ours()  # the process of an attempt need not look through other packages for one of these
    if name not in known:
        known = discover()
    if name not in known:
        raise InputError(f"unknown backend {name!r}; choose from {', '.join(known)}")
    return known[name]
