"""Attempts: one backend on one claim, with options and limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules

from paramverify import backends
from paramverify.backends import Backend, backend
from paramverify.claims import Claim
from paramverify.errors import InputError

OPTION = re.compile(r"[A-Za-z0-9_.+-]+")
GIBIBYTE = 1 << 30
MEMBERS = ("name", "builtin", "description", "install", "version", "decide")


@dataclass(frozen=True)
class AttemptLimits:
    """What one attempt may use.

    `seconds` is wall-clock time from the start of the attempt's process, or infinity. `memory` is the address
    space, in bytes, that each process of the attempt may take beyond the libraries that are already loaded. A
    process also ends when its own processor time passes `seconds`, rounded up, plus one.
    """

    seconds: float
    memory: int = 2 * GIBIBYTE

    def __post_init__(self) -> None:
        if not (self.seconds > 0 and self.memory > 0):
            raise InputError("limits must be positive")


@dataclass(frozen=True)
class Attempt:
    """One backend on one claim.

    `backend` is the name of a backend of the package, or `module:attribute` for one's own object that
    satisfies the protocol `Backend`; the module must be importable in a fresh process with this one's
    `sys.path`. `options` override the backend's own settings.
    """

    backend: str
    claim: Claim
    options: Mapping[str, str] = field(default_factory=dict)


def split_name(name: str) -> tuple[str, dict[str, str]]:
    """Returns the name of a backend and the options that stand behind it: `z3(random_seed=1)`.

    Raises:
        InputError: the brackets have something else than options.
    """
    base, bracket, inside = name.partition("(")
    if not bracket:
        return name, {}
    parts = [part.partition("=") for part in inside.removesuffix(")").split(",")]
    options = {key.strip(): value.strip() for key, _, value in parts}
    written = all(OPTION.fullmatch(word) for pair in options.items() for word in pair)
    if not inside.endswith(")") or not written or len(options) < len(parts):
        raise InputError(f"options of a backend are written like z3(random_seed=1), not {name!r:.80}")
    return base.strip(), options


def split_names(text: str) -> list[str]:
    """Returns names that are separated by commas, with the options that stand behind them in brackets."""
    return [name.strip() for name in re.split(r",(?![^()]*\))", text) if name.strip()]


def resolve(name: str) -> Backend:
    """Returns the backend of that name, or the object at `module:attribute`.

    Raises:
        InputError: there is none.
    """
    module, colon, attribute = name.partition(":")
    if not colon:
        return backend(split_name(name)[0])
    try:
        found: Backend = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError, TypeError, SyntaxError, SystemExit) as error:
        raise InputError(f"no backend at {name!r}: {error}") from error
    if isinstance(found, type) or any(not hasattr(found, member) for member in MEMBERS):
        raise InputError(f"what is at {name!r} is no backend: one has {', '.join(MEMBERS)}")
    return found


def settings(found: Backend, options: Mapping[str, str], name: str = "") -> dict[str, str]:
    """Returns a backend's own settings, overridden by the options in its name, and then by options.

    Its own are those of the optional attribute `settings`.
    """
    own: Mapping[str, str] = getattr(found, "settings", {})
    return {**own, **split_name(name)[1], **options}


def preloads(name: str, found: Backend) -> list[str]:
    """Returns the modules to import before attempts of a backend are forked.

    A backend names them in an optional attribute `preload`: only modules that are safe to import once and
    share, such as a solver's bindings. The light modules of all backends come first, because finding one by
    name imports them. For a backend outside the package nothing is shared.
    """
    if ":" in name:
        return []
    wanted: tuple[str, ...] = getattr(found, "preload", ())
    return [f"{backends.__name__}.{module.name}" for module in iter_modules(backends.__path__)] + [*wanted]
