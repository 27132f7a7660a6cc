"""All places that are refused in a function and in what it calls by name, found without running them.

A run ends at the first refused place, so the places behind it are looked for in the text. A call counts if
what its name means is refused with all arguments. It may stand on a way that no run takes; therefore nothing
is refused because of what is found here, but only told beside a refusal.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

from paramverify.tracing.calls import SEED, World, makes_generators
from paramverify.tracing.definitions import MISSING, UNKNOWN, Names, definition
from paramverify.tracing.formulas import Refused
from paramverify.tracing.rewriting import refused_constructs
from paramverify.tracing.states import is_users


def refused_places(function: FunctionType, kind: type | None, world: World) -> list[Refused]:
    """Returns the refused places of a function, or of a method of a class, and of what it calls by name."""
    found: list[Refused] = []
    pending: list[tuple[FunctionType, type | None]] = [(function, kind)]
    seen = set()
    while pending:
        one, kind = pending.pop(0)
        if one in seen or not world.inserted.is_traced(one):
            continue
        seen.add(one)
        found += refused_constructs(one)
        for call, called in _calls(one, kind):
            if reason := _refusal(call, called, world):
                found.append(Refused(reason, one.__code__.co_filename, call.lineno))
            pending += _parts(called)
    return found


def _refusal(call: ast.Call, called: Any, world: World) -> str:
    if makes_generators(called):
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        fixed = any(isinstance(value, ast.Constant) and value.value is not None for value in given)
        return SEED.format(called.__name__) if fixed else ""
    return "" if called is UNKNOWN or called is MISSING else world.inserted.always_refused(called)


def _parts(called: Any) -> Iterator[tuple[FunctionType, type | None]]:
    """Yields the functions that run if something is called, with the classes of methods."""
    if isinstance(called, MethodType):
        owner = called.__self__
        if isinstance(called.__func__, FunctionType):
            yield called.__func__, owner if isinstance(owner, type) else type(owner)
    elif isinstance(called, type):
        for name in ("__new__", "__init__"):
            start = inspect.getattr_static(called, name)
            start = start.__func__ if isinstance(start, staticmethod) else start
            if isinstance(start, FunctionType):
                yield start, called
    elif isinstance(called, FunctionType):
        yield called, None


def _calls(function: FunctionType, kind: type | None) -> Iterator[tuple[ast.Call, Any]]:
    """Yields the calls in a function, with what they call as far as names show it."""
    try:
        text = "".join(inspect.findsource(function)[0])
    except (OSError, TypeError, IndexError):
        return
    tree = definition(text, function.__code__)
    if tree is None:
        return
    names = Names(function, tree)
    first = next((a.arg for a in (*tree.args.posonlyargs, *tree.args.args)), "")

    def meaning(node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return names.meaning(node.id)
        if not isinstance(node, ast.Attribute):
            return UNKNOWN
        if isinstance(node.value, ast.Name) and node.value.id == first and kind is not None:
            return _attribute(kind, node.attr)
        return _attribute(meaning(node.value), node.attr)

    body = tree.body if isinstance(tree.body, list) else [tree.body]
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                yield node, meaning(node.func)


def _attribute(found: Any, name: str) -> Any:
    """Returns an attribute of a module or of an object, for which no code of the user has to run."""
    if isinstance(found, ModuleType):
        return getattr(found, name, UNKNOWN)
    if found is UNKNOWN or found is MISSING:
        return UNKNOWN
    kind = found if isinstance(found, type) else type(found)
    if not is_users(kind):
        of_library = isinstance(found, type) or kind.__module__.startswith(("numpy", "scipy", "random"))
        return getattr(found, name, UNKNOWN) if of_library else UNKNOWN
    method = inspect.getattr_static(kind, name, UNKNOWN)
    if isinstance(method, (staticmethod, classmethod)):
        method = method.__func__
    return MethodType(method, kind) if isinstance(method, FunctionType) else UNKNOWN
