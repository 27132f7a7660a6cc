"""Registries: what the modules of a folder offer, and packages that are installed beside this one.

A module in the folder is found by its name. A plugin is a package that states an entry point in the group of
the registry; it names a module that offers what one of ours does. A plugin is code that runs with the user's
rights, and is trusted like this package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from pkgutil import iter_modules
from traceback import walk_tb
from typing import Any

from paramverify.errors import InputError, LimitError, ParamverifyError

PREFIX = "paramverify."  # of the groups


@dataclass(frozen=True)
class Plugin:
    """An entry point: its group and name, the module that it names, and the package that states it."""

    group: str
    name: str
    module: str
    package: str

    def load(self) -> Any:
        """Imports the module. What it prints goes to standard error: standard output is for the answer.

        Raises:
            InputError: that fails; the message names the package.
            LimitError: a limit was met meanwhile, which says nothing of the plugin. MemoryError: likewise.
        """
        try:
            with redirect_stdout(sys.stderr):
                return import_module(self.module)
        except (LimitError, MemoryError):
            raise
        # The code of somebody else may raise anything, and whatever it is, the mistake is not ours.
        except (Exception, SystemExit) as error:
            raise InputError(f"{self.told()} cannot be imported: {_reason(error)}") from error

    def offer(self, name: str) -> Any:
        """Returns what the module exports by that name.

        Raises:
            InputError: it exports no such thing, or cannot be imported.
        """
        module = self.load()
        if not hasattr(module, name):
            raise InputError(f"{self.told()} exports no {name}")
        return getattr(module, name)

    def told(self) -> str:
        """Returns what it is, in words."""
        return f"the plugin {self.name!r} of the package {self.package} ({self.group})"


def owner(module: str) -> str:
    """Returns the plugin that a module belongs to, in words; else the module."""
    for plugin in _plugins(tuple(sys.path)):
        if module == plugin.module or module.startswith(f"{plugin.module}."):
            return plugin.told()
    return f"the module {module}"


def culprit(error: BaseException) -> str:
    """Returns which plugin an error was raised in, or in what that called, with the error; "" for none."""
    for frame, _ in walk_tb(error.__traceback__):
        name = str(frame.f_globals.get("__name__", ""))
        if not name.startswith("paramverify.") and not (told := owner(name)).startswith("the module "):
            return f"{told} fails: {_reason(error)}"
    return ""


@contextmanager
def blamed(file: str) -> Iterator[None]:
    """Says of an error that a plugin fails with which plugin it is, and at which file.

    Raises:
        InputError: instead of what a plugin raised. Errors of this package and of the system stay.
    """
    try:
        yield
    except (ParamverifyError, MemoryError, OSError):
        raise
    except Exception as error:
        if told := culprit(error):
            raise InputError(told, file=file) from error
        raise


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def plugins(group: str) -> tuple[Plugin, ...]:
    """Returns the plugins of a group, by name; nothing is imported."""
    return tuple(plugin for plugin in _plugins(tuple(sys.path)) if plugin.group == group)


@lru_cache
def _modules(path: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the names of the modules of a folder: it is looked through once."""
    return tuple(sorted(m.name for m in iter_modules(path) if not m.name.startswith("_")))


@lru_cache
def _plugins(path: tuple[str, ...]) -> tuple[Plugin, ...]:
    """Returns the plugins of all groups: looking through the installed packages takes some milliseconds."""
    from importlib.metadata import distributions

    del path  # where packages are looked for
    found: dict[tuple[str, str, str], Plugin] = {}
    for package in distributions():
        for point in _entry_points(package):
            if point.group.startswith(PREFIX):
                plugin = Plugin(point.group, point.name, point.value, f"{package.name} {package.version}")
                found.setdefault((point.group, point.name, package.name), plugin)  # the first on the path
    return tuple(sorted(found.values(), key=lambda plugin: (plugin.name, plugin.package)))


def _entry_points(package: Any) -> Iterable[Any]:
    """Returns the entry points of a package; none where it does not state them as one should."""
    try:
        return tuple(package.entry_points)
    except (ValueError, LookupError, AttributeError, TypeError, OSError):
        return ()


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
        return _modules(tuple(import_module(self.package).__path__))

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
    return InputError(f"{plugin.told()} takes a name that exists already: the {what} {name!r}")
