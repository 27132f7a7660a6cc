"""Functions in files, read a second time: values, divisors and constraints are those that the text means."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from itertools import product
from pathlib import Path
from random import Random

import pytest

from paramverify.kernel.strict_reading import UnreadCase
from paramverify.rereader.second_files import FileFunction, files_of

F = Fraction
POINT = {"p": F(2, 7), "q": F(3, 11)}
OPERATORS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
LEAVES = {**POINT, "(p)": POINT["p"], "3": F(3), "-2": F(-2), "5/7": F(5, 7), "-4/3": F(-4, 3)}


def written(folder: Path, result: str, constraints: str = "") -> FileFunction:
    """Returns the function of a file."""
    (folder / "f.rat").write_text(f"$Parameters: p (0,1]; q [1/9, 1)\n$Result: {result}\n{constraints}")
    return FileFunction.read(folder / "f.rat")


def formula(draw: Random, depth: int) -> tuple[str, Fraction, list[Fraction]]:
    """Returns a random formula in prefix form, its value, and what it divides by."""
    if not depth:
        leaf = draw.choice([*LEAVES])
        return leaf, LEAVES[leaf], []
    word = draw.choice([*OPERATORS])
    parts = [formula(draw, draw.randrange(depth)) for _ in range(draw.randint(1 + (word == "/"), 4))]
    first, *rest = [value for _, value, _ in parts]
    divisors = [divisor for _, _, own in parts for divisor in own]
    value = -first if word == "-" and not rest else reduce(OPERATORS[word], rest, first)
    blank = draw.choice([" ", "\n  "])
    return f"({word}{blank}{blank.join(p[0] for p in parts)})", value, divisors + rest * (word == "/")


def test_random_formulas(tmp_path: Path) -> None:
    """A formula has the value that its operators give, from left to right, and names what it divides by."""
    draw, seen = Random(5), 0
    while seen < 200:
        try:
            text, value, divisors = formula(draw, 4)
        except ZeroDivisionError:
            continue
        seen += 1
        found, told = written(tmp_path, text), list[Fraction]()
        assert (found.at(POINT, told), told) == (value, divisors), text
        assert found.at(POINT) == value


CONSTRAINTS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "(not (= p q))": lambda p, q: p != q,
    "(not (< p q 3/4))": lambda p, q: not p < q < F(3, 4),
    "(< p q)": lambda p, q: p < q,
    "(<= (+ p (- 1)) (- q 1))": lambda p, q: p <= q,
    "(> p (* 2 q))": lambda p, q: p > 2 * q,
    "(>= p q)": lambda p, q: p >= q,
    "(= (- p q) 0)": lambda p, q: p == q,
    "(< 1/4 p q)": lambda p, q: F(1, 4) < p < q,
}


def test_constraints(tmp_path: Path) -> None:
    """A point is allowed where every line of both sections is true; a file without sections allows all."""
    grid = [F(k, 8) for k in range(1, 8)]
    points = [(p, q) for p in grid for q in grid]
    for (one, first), (other, second) in product(CONSTRAINTS.items(), repeat=2):
        lines = f"$Well-formed Constraints:\n{one}\n\n$Graph-preserving Constraints:\n{other}\n"
        found = written(tmp_path, "p", lines)
        assert [found.allows({"p": p, "q": q}) for p, q in points] == [
            first(*at) and second(*at) for at in points
        ]
    found = written(tmp_path, "p")
    assert (found.box, found.allows(POINT)) == ({"p": "(0,1]", "q": "[1/9, 1)"}, True)


@pytest.mark.parametrize(
    "text",
    [
        *"r+",
        "",
        "p q",
        "(+ p q",
        "q (+ p",
        "(p + q)",
        "(* p + q)",
        "(+ p q))",
        "(p q)",
        "(+)",
        "p - q",
        "0.5",
    ],
)
def test_other_forms_are_not_taken(text: str, tmp_path: Path) -> None:
    """What is no formula in prefix form has no value."""
    with pytest.raises((UnreadCase, ValueError, IndexError)):
        written(tmp_path, text).at(POINT)


def test_files_of_definitions(tmp_path: Path) -> None:
    """Tables of `[define]` name files in the folder of the case; parameters need intervals there."""
    written(tmp_path, "(- p)")
    define = {"f": {"file": "f.rat"}, "half": "1/2"}
    with pytest.raises(UnreadCase, match="without the folder"):
        files_of({**define}, None)
    found = files_of(define, tmp_path)
    assert ([*found], define, found["f"].at(POINT)) == (["f"], {"half": "1/2"}, F(-2, 7))
    assert files_of(define, None) == {}
    (tmp_path / "f.rat").write_text("$Parameters: p (0,1]; q\n$Result: p")
    with pytest.raises(UnreadCase, match="without intervals"):
        files_of({"f": {"file": "f.rat"}}, tmp_path)
