"""A second reading of arrays: `person[3]`, `sum(person)` and secrets about `person[i]`, as plain names.

The entry `person[3]` becomes the name `person·3`, which no case file can have. Standard library only, and no
code of the first reader.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from ..kernel.strict_reading import UnreadCase
from .second_numbers import meaning
from .second_trees import Evaluator, expression
from .second_values import Entry

Sizes = Mapping[str, tuple[int, ...]]
JOINED = {"any": " or ", "all": " and "}
RUNNING = ("sum", "min", "max", *JOINED)


def without_arrays(data: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a case in which every entry of an array is a variable with a name of its own."""
    prior = data.get("prior", {})
    counts = {
        name: entry["count"] for name, entry in prior.items() if isinstance(entry, dict) and "count" in entry
    }
    if not counts or "mechanism" not in data:
        return dict(data)
    sizes = {name: tuple(c) if isinstance(c, list) else (c,) for name, c in counts.items()}
    entries = [_entries(name, entry, sizes) for name, entry in prior.items()]
    return {
        **data,
        **{part: _everywhere(data[part], sizes) for part in ("define", "mechanism")},
        "prior": {name: entry for each in entries for name, entry in each.items()},
        "secrets": _secrets(data["secrets"], sizes),
    }


def _places(size: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(product(*(range(1, n + 1) for n in size)))


def _plain(name: str, place: tuple[int, ...]) -> str:
    return f"{name}·{'·'.join(map(str, place))}"


def _everywhere(given: Any, sizes: Sizes) -> Any:
    if isinstance(given, dict):
        return {name: _everywhere(value, sizes) for name, value in given.items()}
    if isinstance(given, list):
        return [_everywhere(value, sizes) for value in given]
    return _rewritten(given, sizes, {}) if isinstance(given, str) else given


def _rewritten(text: str, sizes: Sizes, at: Mapping[str, int], runs: bool = False) -> str:
    """Returns a text with plain names; a text that names no array is what it was."""
    if not any(name in text for name in sizes):
        return text
    line = text.strip().replace("\n", " ").replace("\t", " ")
    try:
        tree = expression(line)
    except (ValueError, UnreadCase):
        return text
    changes: list[tuple[ast.expr, str]] = []
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        new = _changed(node, line, sizes, (at, runs))
        if new is None:
            pending.extend(ast.iter_child_nodes(node))
        elif isinstance(node, ast.expr):
            changes.append((node, new))
    for part, new in sorted(changes, key=lambda change: -change[0].col_offset):
        line = line[: part.col_offset] + new + line[part.end_col_offset :]
    return line


def _changed(node: ast.AST, line: str, sizes: Sizes, around: tuple[Mapping[str, int], bool]) -> str | None:
    at, runs = around
    match node:
        case ast.Subscript(ast.Name(name), index) if name in sizes:
            place = _index(index, at)
            if place not in _places(sizes[name]):
                raise ValueError(f"{line!r:.60} has an entry that the array has not")
            return _plain(name, place)
        case ast.Name(name) if runs and name in sizes:
            return _plain(name, tuple(at.values()))
        case ast.Call(ast.Name(name), [part]) if name in RUNNING and (over := _runs_over(part, sizes)):
            text = line[part.col_offset : part.end_col_offset]
            places = [dict(zip("ij", place, strict=False)) for place in _places(sizes[over])]
            return _together(name, [f"({_rewritten(text, sizes, place, runs=True)})" for place in places])
    return None


def _runs_over(tree: ast.expr, sizes: Sizes) -> str | None:
    """Returns an array that an expression names bare, or with a running index."""
    inside: set[int] = set()
    found: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(ast.Name(name) as array, index):
                inside.add(id(array))
                if name in sizes and _is_running(index):
                    found.append(name)
            case ast.Name(name) if name in sizes and id(node) not in inside:
                found.append(name)
    return found[0] if found else None


def _is_running(index: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) for node in ast.walk(index))


def _together(name: str, parts: list[str]) -> str:
    """Joins what runs over all entries; a sum in halves, so that it is not nested deeply."""
    if name in JOINED:
        return f"({JOINED[name].join(parts)})"
    if name != "sum":
        return f"{name}({', '.join(parts)})"
    while len(parts) > 1:
        pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
        parts = [f"({' + '.join(pair)})" for pair in pairs]
    return parts[0]


def _index(index: ast.expr, at: Mapping[str, int]) -> tuple[int, ...]:
    listed = index.elts if isinstance(index, ast.Tuple) else [index]
    return tuple(_Index(at).index(tree) for tree in listed)


class _Index(Evaluator):
    """What an index says where the running ones have these numbers."""

    def __init__(self, at: Mapping[str, int]) -> None:
        self.at = at

    def name(self, name: str) -> Entry:
        return Fraction(self.at[name])


def _entries(name: str, entry: Any, sizes: Sizes) -> dict[str, Any]:
    if name not in sizes:
        return {name: _entry(entry, sizes, {})}
    each = [(place, dict(zip("ij", place, strict=False))) for place in _places(sizes[name])]
    return {_plain(name, place): _entry(entry, sizes, at) for place, at in each}


def _entry(entry: Any, sizes: Sizes, at: Mapping[str, int]) -> Any:
    """Returns the entry of an array at an index, or one that is no array."""
    if not isinstance(entry, dict):
        return _rewritten(entry, sizes, at) if isinstance(entry, str) else entry
    own = {key: value for key, value in entry.items() if key not in ("count", "first", "outside")}
    own |= {key: _rewritten(own[key], sizes, at) for key in ("around", "like") if key in own}
    if "given" not in own:
        return own
    listed = [own["given"]] if isinstance(own["given"], str) else own["given"]
    parents: list[str | None] = []
    for text in listed:
        try:
            parents.append(_rewritten(text, sizes, at, runs=True))
        except ValueError:
            parents.append(None)
    if None not in parents:
        return {**own, "given": parents}
    if "first" in entry and not any(parents):
        return dict(entry["first"])
    outside = meaning(entry["outside"])
    rows = {}
    for key, row in own["table"].items():
        parts = [key] if len(parents) == 1 else key.split(",")
        if all(p or meaning(part.strip()) == outside for part, p in zip(parts, parents, strict=True)):
            rows[",".join(part.strip() for part, p in zip(parts, parents, strict=True) if p)] = row
    if not any(parents):
        return {"categorical": rows[""]}
    return {**own, "given": [p for p in parents if p], "table": rows}


def _secrets(secrets: Mapping[str, Any], sizes: Sizes) -> dict[str, Any]:
    """Returns the secrets with a copy for each index of those that have one, and the pairs of copies."""
    found: dict[str, Any] = {}
    copies: dict[str, list[tuple[int, ...]]] = {}
    for name, text in [(name, text) for name, text in secrets.items() if name != "pairs"]:
        tree = ast.parse(str(text).strip().replace("\n", " "), mode="eval")
        over = _outside_of_functions(tree, sizes)
        if over is None:
            found[name] = _rewritten(text, sizes, {}) if isinstance(text, str) else text
            continue
        copies[name] = _places(sizes[over])
        for place in copies[name]:
            at = dict(zip("ij", place, strict=False))
            found[f"{name}[{', '.join(map(str, place))}]"] = _rewritten(text, sizes, at)
    pairs: list[list[str]] = []
    for pair in secrets["pairs"]:
        for place in next((copies[name] for name in pair if name in copies), [()]):
            marked = f"[{', '.join(map(str, place))}]"
            pairs.append([name + marked if name in copies else name for name in pair])
    return {**found, "pairs": pairs}


def _outside_of_functions(tree: ast.AST, sizes: Sizes) -> str | None:
    """Returns the first array with a running index that no function runs over."""
    pending = [tree]
    while pending:
        node = pending.pop()
        match node:
            case ast.Subscript(ast.Name(name), index):
                if name in sizes and _is_running(index):
                    return name
            case ast.Call(ast.Name(name), [_]) if name in RUNNING:
                pass
            case _:
                pending.extend(reversed(list(ast.iter_child_nodes(node))))
    return None
