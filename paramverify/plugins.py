"""Registries: what the modules of a folder offer, and packages that are installed beside this one.

A module in the folder is found by its name. A plugin is a package that states an entry point in the group of
the registry; it names a module that offers what one of ours does. A plugin is code that runs with the user's
rights, and is trusted like this package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from paramverify.errors import InputError

# What importing a module of somebody else may raise, in one way or another.
FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    SystemExit,
)


@dataclass(frozen=True)
class Plugin:
    """An entry point: its group and name, the module that it names, and the package that states it."""

    group: str
    name: str
    module: str
    package: str

    def load(self) -> Any:
        """Imports the module.

        Raises:
            InputError: that fails; the message names the package.
        """
        try:
            return import_module(self.module)
        except FAILURES as error:
            reason = f"{type(error).__name__}: {error}"
            raise InputError(f"{self.told()} cannot be imported: {reason}") from error

    def told(self) -> str:
        """Returns what it is, in words."""
        return f"the plugin {self.name!r} of the package {self.package} ({self.group})"


def plugins(group: str) -> tuple[Plugin, ...]:
    """Returns the plugins of a group, by name; nothing is imported."""
    return _plugins(group, tuple(sys.path))


@lru_cache
def _plugins(group: str, path: tuple[str, ...]) -> tuple[Plugin, ...]:
    from importlib.metadata import entry_points

    del path  # where packages are looked for
    found = set()
    for point in entry_points(group=group):
        package = f"{point.dist.name} {point.dist.version}" if point.dist else "of no name"
        found.add(Plugin(group, point.name, point.value, package))
    return tuple(sorted(found, key=lambda plugin: (plugin.name, plugin.package)))


@dataclass(frozen=True)
class Registry:
    """The modules of a folder of this package, and those of plugins; `what` is the word for one of them.

    A module whose name starts with an underscore is no entry.
    """

    package: str
    group: str
    what: str

    def own(self) -> tuple[str, ...]:
        """Returns the names of the modules of the folder, in their order; nothing is imported."""
        path: Iterable[str] = import_module(self.package).__path__
        return tuple(sorted(m.name for m in iter_modules(path) if not m.name.startswith("_")))

    def own_module(self, name: str) -> Any:
        """Imports one of the modules of the folder."""
        return import_module(f"{self.package}.{name}")

    def names(self) -> tuple[str, ...]:
        """Returns all names, those of plugins last; no plugin is imported, and nothing is checked."""
        return tuple(dict.fromkeys((*self.own(), *(plugin.name for plugin in plugins(self.group)))))

    def module(self, name: str) -> Any:
        """Returns the module of that name.

        Raises:
            InputError: a plugin that cannot be imported, or that takes a name that exists.
            LookupError: there is none.
        """
        return self.loaders()[name]()

    def loaders(self) -> Mapping[str, Callable[[], Any]]:
        """Returns what imports each module, by name; plugins come last.

        Raises:
            InputError: a plugin takes a name that exists.
        """
        found: dict[str, Callable[[], Any]] = {name: partial(self.own_module, name) for name in self.own()}
        for plugin in plugins(self.group):
            if plugin.name in found:
                raise taken(plugin, self.what, plugin.name)
            found[plugin.name] = plugin.load
        return found


def taken(plugin: Plugin, what: str, name: str) -> InputError:
    """Returns the error for a plugin that takes a name that exists."""
    return InputError(f"{plugin.told()} takes a name that exists: there is a {what} called {name!r} already")
