"""Places in TOML texts: every key and value that `tomllib` knows, and no other, where it stands."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from paramverify.toml_mistakes import Path as KeyPath
from paramverify.toml_mistakes import TomlPlaces

SHIPPED = sorted((ROOT / "cases").rglob("*.toml"))


def flat(data: Any, path: KeyPath = ()) -> dict[KeyPath, Any]:
    """Returns every key of nested data with its value."""
    found: dict[KeyPath, Any] = {path: data} if path else {}
    if isinstance(data, dict):
        for name, value in data.items():
            found |= flat(value, (*path, name))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            found |= flat(value, (*path, number))
    return found


def check(text: str) -> None:
    """Compares the places with what `tomllib` reads, and reads each value again at its place."""
    known, places = flat(tomllib.loads(text)), TomlPlaces.of(text)
    assert places.found.keys() == known.keys()
    plain = text.replace("\r\n", "\n")
    for path, place in places.found.items():
        if place.start >= 0:
            assert tomllib.loads(f"value = {plain[place.start : place.end]}")["value"] == known[path]
        name = path[-1]
        if isinstance(name, str) and name.isidentifier() and name.isascii() and place.start >= 0:
            assert name in plain[place.key : place.start]


@pytest.mark.slow
def test_shipped_files() -> None:
    """The keys and values of every shipped case stand where the scanner says."""
    for path in SHIPPED:
        check(path.read_text(encoding="utf-8"))


NAMES = st.one_of(
    st.sampled_from(["a", "b", "x-1", "7", "é", "a.b", "a b", "", '"', "#", "]"]), st.text(max_size=3)
)
SCALARS = st.one_of(
    st.sampled_from(
        ["1", "-0.5", "1e3", "true", "inf", "0xff", "1979-05-27", "1979-05-27 07:32:00", "07:32:00"]
    ),
    st.text(max_size=6).map(lambda text: json.dumps(text, ensure_ascii=True).replace("\\u007f", "")),
    st.sampled_from(
        ["'''a\n'b'''", "'''\n''a'''''", "''", "'#]'", '""', '"\\" = ["', '"""\n"a\\\n  \n b""""']
    ),
    st.sampled_from(['"""a\\n\\"""b\n"""', '"""""a"""', "'''\r\na\r\nb'''"]),
)
BLANKS = st.sampled_from(["", " ", "\t", " # a = [1]\n ", "\n", "\r\n"])


@st.composite
def keys(draw: st.DrawFn) -> str:
    """A key, bare or in quotes of either kind."""
    name = draw(NAMES)
    if name and name.isascii() and all(c.isalnum() or c in "_-" for c in name):
        return draw(st.sampled_from([name, f'"{name}"', f"'{name}'"]))
    return json.dumps(name)


@st.composite
def values(draw: st.DrawFn, depth: int = 2) -> str:
    """A value: a scalar, a list with comments and line breaks, or a table in one line."""
    kind = draw(st.integers(0, 3)) if depth else 0
    if kind == 2:
        entries = draw(st.lists(values(depth - 1), max_size=3))
        blank = draw(BLANKS)
        end = draw(st.sampled_from(["", ","])) if entries else ""
        return f"[{blank}{f'{blank},{blank}'.join(entries)}{end}{blank}]"
    if kind == 3:
        pairs = draw(st.lists(st.tuples(dotted(), values(depth - 1)), max_size=3))
        return "{" + ", ".join(f"{key} = {value}" for key, value in pairs) + "}"
    return draw(SCALARS)


@st.composite
def dotted(draw: st.DrawFn) -> str:
    """A key of one to three names."""
    dot = draw(st.sampled_from([".", " . "]))
    return dot.join(draw(st.lists(keys(), min_size=1, max_size=3)))


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A text of pairs, headers and headers of arrays; most of them are TOML."""
    lines = []
    for _ in range(draw(st.integers(0, 6))):
        kind = draw(st.integers(0, 4))
        blank = draw(st.sampled_from(["", " ", "\t"]))
        if kind <= 2:
            lines.append(
                f"{blank}{draw(dotted())}{blank}={blank}{draw(values())}{blank}# {draw(keys())}".replace(
                    "\0", ""
                )
            )
        elif kind == 3:
            lines.append(f"{blank}[{blank}{draw(dotted())}{blank}]{blank}")
        else:
            lines.append(f"[[{draw(dotted())}]] # a = 1")
    return draw(st.sampled_from(["\n", "\r\n", "\n\n"])).join(lines)


@pytest.mark.slow
@given(documents())
def test_random_texts(text: str) -> None:
    """The keys and values of random TOML stand where the scanner says."""
    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError):
        return
    check(text)


TEXT = '''title = "a"          # line 1
[a."b.c"]
d = { e = 1, f = [
  2,
  [3,
   4]] }
[[g]]
h.i = 5
[[g]]
[g.j]
k = """
first
second \\
  goes on
third\\nfourth
fifth"""
'''


@pytest.mark.parametrize(
    ("key", "below", "line"),
    [
        ("title", 0, 1),
        ("a.b.c", 0, 2),
        ("a.b.c.d.f", 0, 3),
        ("a.b.c.d.f[0]", 0, 4),
        ("a.b.c.d.f[1][1]", 0, 6),
        ("a.b.c.d.f[1][7]", 0, 5),
        ("g[0].h.i.nothing", 0, 8),
        ("g[1]", 0, 9),
        ("g[1].j", 0, 10),
        ("g[1].j.k", 0, 11),
        ("nothing", 0, 1),
        ("g[1].j.k", 1, 13),
        ("g[1].j.k", 2, 15),
        ("g[1].j.k", 3, 15),
        ("g[1].j.k", 4, 16),
        ("g[1].j.k", 9, 16),
    ],
)
def test_lines(key: str, below: int, line: int) -> None:
    """A key has its line, one that is not there that of its table, and a line of a text has its own."""
    assert TomlPlaces.of(TEXT).line_of(key, below) == line
    assert TomlPlaces.of(TEXT.replace("\n", "\r\n")).line_of(key, below) == line
