"""Random conditions over two inputs, each also written as plain Python that says what every sum runs over.

Nothing here comes from the package: Python itself evaluates the second text, with fractions.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Written = tuple[str, str]  # in the language of cases, and in Python


@dataclass(frozen=True)
class Parts:
    """How an input is taken apart: names of arrays with their lengths, and names of single numbers."""

    arrays: tuple[tuple[str, int], ...]
    single: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many values an input has."""
        return sum(n for _, n in self.arrays) + len(self.single)

    def named(self, side: str, values: Sequence[Fraction]) -> dict[str, Any]:
        """Returns the names that Python has for one input: `x_q` for `x.q`."""
        found: dict[str, Any] = {}
        rest = list(values)
        for name, length in self.arrays:
            found[f"{side}_{name}"], rest = rest[:length], rest[length:]
        for name in self.single:
            found[f"{side}_{name}"], rest = rest[0], rest[1:]
        return found


class Conditions:
    """Makes random conditions and numbers over inputs with these parts."""

    def __init__(self, parts: Parts, rng: random.Random) -> None:
        self.parts = parts
        self.rng = rng
        self.alone = len(parts.arrays) + len(parts.single) == 1

    def part(self, side: str, name: str) -> Written:
        """Returns a part of an input."""
        return (side if self.alone and self.rng.random() < 0.7 else f"{side}.{name}"), f"{side}_{name}"

    def atom(self, indices: dict[str, int]) -> Written:
        """Returns an entry, a single value or a small number."""
        side = self.rng.choice("xy")
        fitting = [(i, a) for i, n in indices.items() for a, m in self.parts.arrays if n == m]
        kind = self.rng.random()
        if fitting and kind < 0.7:
            index, array = self.rng.choice(fitting)
            ours, python = self.part(side, array)
            return f"{ours}[{index}]", f"{python}[{index}]"
        if self.parts.single and kind < 0.85:
            return self.part(side, self.rng.choice(self.parts.single))
        if self.parts.arrays and kind < 0.9:
            array, length = self.rng.choice(self.parts.arrays)
            place = self.rng.randrange(length)
            ours, python = self.part(side, array)
            return f"{ours}[{place}]", f"{python}[{place}]"
        number = self.rng.randrange(4)
        return str(number), f"F({number})"

    def number(self, depth: int, indices: dict[str, int]) -> Written:
        """Returns a number."""
        kind = self.rng.randrange(9) if depth else 0
        if kind <= 1:
            return self.atom(indices)
        if kind == 2:
            inner = self.number(depth - 1, indices)
            return f"abs({inner[0]})", f"abs({inner[1]})"
        if kind in (3, 4) and self.parts.arrays:
            word = self.rng.choice(["sum", "min", "max", "count"])
            return self.over(word, depth, indices)
        if kind == 5:
            test = self.condition(depth - 1, indices)
            a, b = (self.number(depth - 1, indices) for _ in range(2))
            return f"({a[0]} if {test[0]} else {b[0]})", f"({a[1]} if {test[1]} else {b[1]})"
        if kind == 6:
            a, b = (self.number(depth - 1, indices) for _ in range(2))
            word = self.rng.choice(["min", "max"])
            return f"{word}({a[0]}, {b[0]})", f"{word}({a[1]}, {b[1]})"
        if kind == 7:
            a, divisor = self.number(depth - 1, indices), self.rng.randrange(1, 4)
            word = self.rng.choice(["//", "%", "/"])
            return f"({a[0]}) {word} {divisor}", f"F(F({a[1]}) {word} F({divisor}))"
        a, b = (self.number(depth - 1, indices) for _ in range(2))
        word = self.rng.choice("+-*")
        return f"({a[0]}) {word} ({b[0]})", f"(({a[1]}) {word} ({b[1]}))"

    def over(self, word: str, depth: int, indices: dict[str, int]) -> Written:
        """Returns what runs over one index or two, each of which stands in it."""
        names = self.rng.sample(["i", "j", "k"], self.rng.choice([1, 1, 2]))
        arrays = [self.rng.choice(self.parts.arrays) for _ in names]
        own = {name: length for name, (_, length) in zip(names, arrays, strict=True)}
        # Inside, only its own indices stand in brackets: others would be its own too.
        terms = [self.part(self.rng.choice("xy"), array) for array, _ in arrays]
        seen = [(f"{t[0]}[{n}]", f"{t[1]}[{n}]") for t, n in zip(terms, names, strict=True)]
        runs = " ".join(f"for {n} in range({own[n]})" for n in names)
        if word in ("sum", "min", "max"):
            more = self.number(max(depth - 1, 0), own)
            ours = " + ".join([*(s[0] for s in seen), f"({more[0]})"])
            python = " + ".join([*(s[1] for s in seen), f"({more[1]})"])
            return f"{word}({ours})", f"{word}({python} {runs})"
        test = self.condition(max(depth - 1, 0), own)
        known = [f"{s} != 7" for s in (a for a, _ in seen)]
        ours = " and ".join([*known, f"({test[0]})"])
        python = " and ".join([*(f"{s} != 7" for _, s in seen), f"({test[1]})"])
        if word == "count":
            return f"count({ours})", f"sum(1 {runs} if {python})"
        return f"{word}({ours})", f"{word}({python} {runs})"

    def condition(self, depth: int, indices: dict[str, int]) -> Written:
        """Returns what is true or false."""
        kind = self.rng.randrange(6) if depth else 0
        if kind == 1 and self.parts.arrays:
            return self.over(self.rng.choice(["all", "any"]), depth, indices)
        if kind == 2:
            inner = self.condition(depth - 1, indices)
            return f"not ({inner[0]})", f"(not ({inner[1]}))"
        if kind == 3:
            a, b = (self.condition(depth - 1, indices) for _ in range(2))
            word = self.rng.choice(["and", "or"])
            return f"({a[0]}) {word} ({b[0]})", f"(({a[1]}) {word} ({b[1]}))"
        if kind == 4:
            a, b, c = (self.number(depth - 1, indices) for _ in range(3))
            return f"{a[0]} <= {b[0]} < {c[0]}", f"{a[1]} <= {b[1]} < {c[1]}"
        if kind == 5 and self.parts.arrays:
            array, _ = self.rng.choice(self.parts.arrays)
            one, other = self.part("x", array), self.part("y", array)
            word = self.rng.choice(["==", "!="])
            return f"{one[0]} {word} {other[0]}", f"({one[1]} {word} {other[1]})"
        a, b = (self.number(max(depth - 1, 0), indices) for _ in range(2))
        word = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"{a[0]} {word} {b[0]}", f"(({a[1]}) {word} ({b[1]}))"


def evaluated(python: str, names: dict[str, Any]) -> Any:
    """Returns what Python says."""
    return eval(python, {"F": Fraction, **names})
