"""Definitions, settings, files and domains, read a second time: against Python, which runs the same texts."""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from paramverify.kernel.strict_reading import UnreadCase
from paramverify.rereader import second_definitions
from paramverify.rereader.second_definitions import (
    candidates,
    definitions_of,
    endless,
    inside,
    program_written_out,
    read_files,
    set_to,
    written_out,
)

F = Fraction
DEFINED = {"define": {"half": " 1 - 4", "n": 7, "more": "half*n + n", "name": "'n of half'"}}
VALUES = {"half": -3, "n": 7, "more": -14, "name": "n of half"}
TEXTS = [
    "half*half - n",
    "2*n",
    "-more**2",
    "name == 'n of half'",
    "'half' + \"n\" + name",
    "nn - half",
    "1e3 + n",
]
PROGRAM = """
told = [name]  # n
for k in range(n):
    if k > half and k < n: told.append((k, "n", half*k))
    told = told + [f(n, half)] if k == n - 2 else told
    told.append('''half
    n''')
told.append(more*n)
"""


def test_a_definition_is_its_value() -> None:
    """Expressions and programs do the same with names written out as with variables of these values."""
    found = definitions_of(DEFINED)
    for text in TEXTS:
        written = written_out(text, found)
        assert eval(written, {"nn": 5}) == eval(text, {"nn": 5, **VALUES}), written
    ran: list[Any] = []
    for source, known in ((program_written_out(PROGRAM, found), {}), (PROGRAM, VALUES)):
        names: dict[str, Any] = {"f": lambda *given: given, **known}
        exec(source, names)
        ran.append(names["told"])
    assert ran[0] == ran[1]
    assert written_out("a + b", {"+": "-"}) == program_written_out("a + b", {"+": "-"}) == "a + b"
    assert program_written_out(PROGRAM, found).count("\n") == PROGRAM.count("\n")


def test_texts_that_are_too_long_or_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit is not exceeded, and names are found in programs only."""
    monkeypatch.setattr(second_definitions, "MAX_LENGTH", 9)
    assert written_out("n + n", {"n": "(1)"}) == "(1) + (1)"
    with pytest.raises(UnreadCase, match="too long"):
        written_out("n + n ", {"n": "(1)"})
    for found in (written_out("f(n + n + n", {}), program_written_out("f(n + n + n", {})):
        assert found == "f(n + n + n"  # nothing is written out
    for text in ("f(n", "if n:\n    m\n  k"):
        with pytest.raises(UnreadCase, match="not a program"):
            program_written_out(text, {"n": "(1)"})
    for given in (True, ["1"], {"file": "f"}):
        with pytest.raises(ValueError, match="not defined by an expression"):
            definitions_of({"define": {"n": given}})


def test_settings() -> None:
    """A setting replaces a definition or a parameter of this name, in a copy; constraints are neither."""
    data: dict[str, Any] = {
        "define": {"n": 7, "p": "1"},
        "parameters": {"p": "(0, 1)", "q": "2", "constraints": ["q > 1"]},
    }
    kept = deepcopy(data)
    found = set_to(data, {"n": "8", "p": "3", "q": "5"})
    assert found["define"] == {"n": "8", "p": "3"}
    assert found["parameters"] == {**kept["parameters"], "q": "5"}
    assert data == kept
    assert set_to({}, {}) == {"define": {}, "parameters": {}}
    for name in ("constraints", "r"):
        with pytest.raises(ValueError, match="neither a definition nor a parameter"):
            set_to(data, {name: "1"})


def test_files_of_programs(tmp_path: Path) -> None:
    """Every program has the text of its file, also in parts and calls; another mechanism has none."""
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfoutput(1)\n")
    (tmp_path / "bad.txt").write_bytes(b"\xff")

    def program(**more: Any) -> dict[str, Any]:
        return {"kind": "program", "file": "a.txt", **more}

    called = program(calls={"f": program(), "g": {"kind": "program", "source": "stop"}})
    table: dict[str, Any] = {
        "kind": "parts",
        "parts": [program(), {"kind": "geometric", "file": "none.txt"}, called],
    }
    read_files(table, tmp_path)
    first, other, last = table["parts"]
    for each in (first, last, last["calls"]["f"]):
        assert each["source"] == "output(1)\n"
    assert last["calls"]["g"]["source"] == "stop"
    assert "source" not in other
    read_files({"kind": "program", "source": "stop"}, None)
    for name, folder in (("a.txt", None), ("bad.txt", tmp_path), ("none.txt", tmp_path)):
        with pytest.raises(UnreadCase, match="the file of"):
            read_files(program(file=name), folder)


def test_intervals() -> None:
    """An end belongs to an interval that says so; `(0, oo)` in its spellings has no upper end."""
    low, high = F(1, 3), F(1, 2)
    for with_low, with_high in product((False, True), repeat=2):
        found = [inside(x, (low, high, with_low, with_high)) for x in (F(0), low, F(2, 5), high, F(1))]
        assert found == [False, with_low, True, with_high, False]
    assert all(map(endless, ("(0, oo)", " ( 0,+inf ) ", "(0, Infinity)", "(0, + OO)")))
    assert not any(
        map(
            endless,
            (0, "0, oo", "[0, oo)", "(0, oo]", "(1, oo)", "(0, 1)", "(0, oo", "oo", {"in": "(0, oo)"}),
        )
    )


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_points_of_a_box(size: int) -> None:
    """They are inside: coordinates differ first, then they are alike, then they are near a corner, too."""
    box = {f"p{k}": (F(k), F(k + 2), False, False) for k in range(size)}
    found, each = list(candidates(box)), min(500, 8**size)
    assert len(found) == 16 + 3 * each
    shares = [[(point[name] - low) / 2 for name, (low, *_) in box.items()] for point in found]
    assert all(0 < share < 1 for point in shares for share in point)
    assert all(len({*point}) == min(size, 8) for point in shares[:8])
    assert all(len({*point}) == 1 for point in shares[8:16])
    assert len({*map(tuple, shares[:8])}) == len({*map(tuple, shares[8:16])}) == 8
    assert all({*column} == {*map(F, second_definitions.STEPS)} for column in zip(*shares[:8], strict=True))
    first, second, third = (shares[16 + k * each : 16 + (k + 1) * each] for k in range(3))
    for other, part in ((second, F(1, 3)), (third, F(1, 20))):  # smaller copies, nearer to a corner
        assert other == [[share * part for share in point] for point in first]
    assert len({*map(tuple, first)}) == each
    fixed = {"a": (F(1), F(1), True, True), "b": (F(2), F(2), True, True)}
    assert list(candidates(fixed)) == [{"a": 1, "b": 2}]
    mixed = next(candidates({**fixed, "c": (F(0), F(1), False, False)}))
    assert mixed["a"] == 1
    assert mixed["b"] == 2
    assert 0 < mixed["c"] < 1
