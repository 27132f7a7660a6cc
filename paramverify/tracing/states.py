"""What functions read that is not theirs: globals, closures, defaults, classes. No run may change it."""

from __future__ import annotations

import collections
import sys
import sysconfig
import types
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

from paramverify.tracing.draw_laws import law_of, laws_of
from paramverify.tracing.formulas import Real, Refused

STDLIB = sysconfig.get_paths()["stdlib"]
SITE = ("site-packages", "dist-packages")
MISSING = ("missing",)


class State:
    """The state outside of the functions of one program, as it was when each was first looked at."""

    def __init__(self) -> None:
        self.before: dict[str, Any] = {}
        self.functions: list[FunctionType] = []
        self.kinds: list[type] = []

    def see(self, function: FunctionType) -> None:
        """Remembers the state of a function before its first call."""
        self.functions.append(function)
        for value in [value for *_, value in _read_by(function)]:
            self.see_class(value if isinstance(value, type) else type(value))
        self.check()

    def see_class(self, kind: type) -> None:
        """Remembers the state of a class of the user."""
        if kind in self.kinds or not is_users(kind):
            return
        self.kinds.append(kind)

    def check(self) -> None:
        """Checks that nothing changed since a function was first looked at.

        Raises:
            Refused: it did.
        """
        for k, function in enumerate(self.functions):  # functions of one text have closures of their own
            for place, name, value in _read_by(function):
                if hasattr(value, "__next__"):
                    raise Refused(
                        f"{name} is an iterator outside the function, which a call uses up: make it inside"
                    )
                self._check(f"{k} {function.__module__}.{function.__qualname__}: {place} {name}", name, value)
        for kind in self.kinds:
            self._check(f"{kind.__module__}.{kind.__qualname__}", kind.__name__, kind)

    def _check(self, key: str, name: str, value: Any) -> None:
        found = value if value is MISSING else fingerprint(value)
        if self.before.setdefault(key, found) != found:
            raise Refused(
                f"the function changes {name}, which stands outside of it, so later calls differ from "
                "the first one: pass it as an argument, or make it inside"
            )


def _hidden(function: FunctionType, name: str) -> Refused:
    return Refused(
        f"{function.__qualname__} draws from {name}, but Python or a library calls it, which "
        "paramverify cannot follow: draw in a method that your code calls by its name"
    )


def check_no_draws(function: FunctionType, seen: frozenset[str] = frozenset()) -> None:
    """Checks that a function that runs as it is, and not as traced code, has no random functions.

    Raises:
        Refused: it has one.
    """
    for _, name, value in _read_by(function):
        if law_of(value) is not None or laws_of(value) is not None:
            raise _hidden(function, name)
        if isinstance(value, FunctionType) and name not in seen:
            check_no_draws(value, seen | {name})


def is_library(file: str | None) -> bool:
    """Tells whether a file is one of Python or of an installed package."""
    return file is None or file.startswith(("<", STDLIB)) or any(part in file for part in SITE)


def is_users(kind: type) -> bool:
    """Tells whether a class is the user's, and of no library."""
    module = sys.modules.get(kind.__module__)
    if kind.__module__ == "__main__":
        return True
    return module is not None and not is_library(getattr(module, "__file__", None))


def _read_by(function: FunctionType) -> Iterator[tuple[str, str, Any]]:
    """Yields where a function reads from, by which name, and the value."""
    code = function.__code__
    pending, names = [code], set()
    while pending:
        one = pending.pop()
        names |= set(one.co_names)
        pending += [c for c in one.co_consts if isinstance(c, types.CodeType)]
    for name in sorted(names):
        value = function.__globals__.get(name, MISSING)
        yield "global", name, value
        module = sys.modules.get(name) if value is MISSING else value
        if isinstance(module, ModuleType) and not is_library(getattr(module, "__file__", None)):
            yield from (("module", f"{name}.{k}", v) for k, v in vars(module).items() if k in names)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        if name != "__class__":
            try:
                yield "closure", name, cell.cell_contents
            except ValueError:
                continue
    for k, value in enumerate(function.__defaults__ or ()):
        yield "default", f"the default {k + 1}", value
    for name, value in (function.__kwdefaults__ or {}).items():
        yield "default", f"the default of {name}", value


def fingerprint(value: Any) -> Any:
    """Returns something that changes if a value changes, as far as it is made of plain Python objects."""
    return _fingerprint(value, {}, 0)


def _fingerprint(value: Any, seen: dict[int, int], depth: int) -> Any:
    if value is None or isinstance(value, (bool, int, float, str, bytes, Fraction, complex)):
        return type(value).__name__, value
    if isinstance(value, (ModuleType, types.BuiltinFunctionType, Real)):
        return id(value)
    if id(value) in seen:
        return "again", seen[id(value)]
    if depth > 20:
        return id(value)
    seen[id(value)] = len(seen)
    if isinstance(value, types.MethodType):
        return id(value.__func__), _fingerprint(value.__self__, seen, depth + 1)
    if isinstance(value, (list, tuple, collections.deque, bytearray)):
        return type(value).__name__, id(value), tuple(_fingerprint(v, seen, depth + 1) for v in value)
    if isinstance(value, (set, frozenset)):
        return "set", id(value), frozenset(repr(v) for v in value)
    if isinstance(value, dict):
        pairs = tuple((repr(k), _fingerprint(v, seen, depth + 1)) for k, v in value.items())
        return "dict", id(value), pairs
    if hasattr(value, "tobytes") and hasattr(value, "shape"):
        kept = tuple(value.ravel().tolist()) if value.dtype.kind == "O" else value.tobytes()
        return "array", id(value), value.shape, kept
    if laws_of(value) is not None or (isinstance(value, type) and value.__module__ in ("builtins", "numpy")):
        return id(value)
    inside = sorted(_attributes(value).items(), key=lambda pair: pair[0])
    return id(value), tuple((k, _fingerprint(v, seen, depth + 1)) for k, v in inside)


def _attributes(value: Any) -> dict[str, Any]:
    """Returns the attributes of an object, with those of its class if it is the user's."""
    if isinstance(value, type):
        parts = (
            (f"{one.__qualname__}.{k}", v)
            for one in value.__mro__
            if one is value or is_users(one)
            for k, v in vars(one).items()
        )
        methods = (
            FunctionType,
            staticmethod,
            classmethod,
            property,
            cached_property,
            type,
            types.MemberDescriptorType,
        )
        kept = {k: v for k, v in parts if not isinstance(v, methods)}
        return {k: v for k, v in kept.items() if not k.rpartition(".")[2].startswith(("__", "_abc"))}
    found = {**vars(value)} if hasattr(value, "__dict__") else {}
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                found[name] = getattr(value, name)
    if is_users(type(value)):
        found["the class"] = type(value)
    return found
