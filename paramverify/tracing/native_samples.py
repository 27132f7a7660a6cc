"""Outputs of the function itself, run by Python, as sets of outputs that a program has, too.

An output without noise is a set of its own. A number with noise is told by the interval between cuts that
it is in; the cuts come from some runs that are not counted.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from paramverify.tracing.exploring import Branch, Leaf, Tree
from paramverify.tracing.formulas import Refused
from paramverify.tracing.native_runs import Value, nearest, outcome, parsed, unknown
from paramverify.tracing.residual import leaves
from paramverify.tracing.tracer import Place, Test

FEW = 40  # runs for each input, from which the cuts come
MOST_CELLS = 64  # of one output
MOST_CUTS = 3  # of one number

Run = Callable[[tuple[Any, ...]], Any]
Where = tuple[int, ...]  # the place of a number in lists
Cell = Any  # a text, a number, an interval, or a tuple of those


class Cells:
    """The sets of outputs, each with a name that is a label in programs."""

    def __init__(self, trees: Mapping[tuple[Any, ...], Tree]) -> None:
        self.trees = trees
        self.known: dict[str, Value] = {}
        for leaf in leaves(trees.values()):
            self.known.setdefault(leaf.text, parsed(leaf.text))
        self.noisy = sorted({where for value in self.known.values() for where in _noisy(value, ())})
        self.cuts: dict[Where, list[Fraction]] = {}
        self.names: dict[Cell, str] = {}
        self._by_text: dict[str, str] = {}

    def learn(self, run: Run, inputs: Iterable[tuple[Any, ...]]) -> None:
        """Chooses cuts."""
        if not self.noisy:
            return
        drawn: dict[Where, list[float]] = {where: [] for where in self.noisy}
        for given, _ in itertools.product(inputs, range(FEW)):
            value = self._matched(_text(run, given), given)
            for where in self.noisy:
                number = _at(value, where)
                if isinstance(number, float) and math.isfinite(number):
                    drawn[where].append(number)
        most = next((k for k in range(MOST_CUTS, 0, -1) if (k + 1) ** len(self.noisy) <= MOST_CELLS), 1)
        for where in self.noisy[: MOST_CELLS.bit_length() - 1]:
            self.cuts[where] = _cuts(sorted(drawn[where]), most)

    def count(self, run: Run, given: tuple[Any, ...], runs: int) -> Counter[str]:
        """Runs the function, and counts how often its output was in each set.

        Raises:
            Refused: Python returns what no run of the trees returns.
        """
        found: Counter[str] = Counter()
        for _ in range(runs):
            text = _text(run, given)
            if text not in self._by_text:
                self._by_text[text] = self._name(self._cell(self._matched(text, given), ()))
            found[self._by_text[text]] += 1
        return found

    def tree(self, tree: Tree | None) -> Tree | None:
        """Returns a tree with the same draws, whose outputs are the names of the sets."""
        if isinstance(tree, Leaf):
            return self._split(tree, ast.parse(tree.text, mode="eval").body, {})
        if tree is None:
            return None
        return Branch(tree.step, [self.tree(after) for after in tree.after])

    def shown(self, name: str) -> str:
        """Returns a set for people."""
        return next(_shown(cell) for cell, known in self.names.items() if known == name)

    def _split(self, leaf: Leaf, tree: ast.expr, placed: Mapping[Where, Cell]) -> Tree:
        """Returns tests for the next number with noise, or the leaf if there is none."""
        value = self.known[leaf.text]
        where = next((w for w in _noisy(value, ()) if w not in placed), None)
        if where is None:
            name = self._name(self._cell(value, (), placed))
            return Leaf(repr(name), "", False, name)
        number: Any = tree
        for k in where:
            number = number.elts[k]
        ends = [None, *self.cuts.get(where, ()), None]
        parts = [self._split(leaf, tree, {**placed, where: pair}) for pair in itertools.pairwise(ends)]
        found = parts.pop()
        for (_, end), part in zip(reversed([*itertools.pairwise(ends)][:-1]), reversed(parts), strict=True):
            found = Branch(Test(f"{ast.unparse(number)} <= ({end})", Place("", 0, "")), [part, found])
        return found

    def _matched(self, text: str, given: tuple[Any, ...]) -> Value:
        """Returns an output as the trees have it: with their numbers, and with what Python drew for noise.

        Raises:
            Refused: the trees do not have it.
        """
        value = parsed(text)
        found = nearest(self.known, value)
        if found is None:
            raise unknown(text, given)
        return _filled(self.known[found], value)

    def _cell(self, value: Value, where: Where, placed: Mapping[Where, Cell] | None = None) -> Cell:
        if isinstance(value, tuple):
            return tuple(self._cell(part, (*where, k), placed) for k, part in enumerate(value))
        if where not in self.noisy or isinstance(value, str):
            return value
        if value is None:
            return (placed or {})[where]
        ends = [None, *self.cuts.get(where, ()), None]
        return next(
            (low, high) for low, high in itertools.pairwise(ends) if high is None or value <= float(high)
        )

    def _name(self, cell: Cell) -> str:
        return self.names.setdefault(cell, f"cell{len(self.names)}")


def _text(run: Run, given: tuple[Any, ...]) -> str:
    text = outcome(run, given)
    if text is None:
        raise Refused("the function uses words of the language of programs, so Python cannot run it")
    return text


def _noisy(value: Value, where: Where) -> list[Where]:
    """Returns the places of numbers with noise."""
    if isinstance(value, tuple):
        return [inner for k, part in enumerate(value) for inner in _noisy(part, (*where, k))]
    return [where] if value is None else []


def _at(value: Value, where: Where) -> Value:
    for k in where:
        if not isinstance(value, tuple) or k >= len(value):
            return None
        value = value[k]
    return value


def _filled(known: Any, value: Any) -> Value:
    if isinstance(known, tuple):
        return tuple(map(_filled, known, value))
    return value if known is None else known  # type: ignore[no-any-return]


def _cuts(numbers: Sequence[float], most: int) -> list[Fraction]:
    """Returns cuts near the quantiles; none is a multiple of a quarter of what the numbers spread over."""
    if not numbers:
        return []
    spread = numbers[3 * len(numbers) // 4] - numbers[len(numbers) // 4]
    unit = Fraction(2) ** math.floor(math.log2(spread / 4)) if spread > 0 else Fraction(1)
    near = [numbers[len(numbers) * (k + 1) // (most + 1)] for k in range(most)]
    return sorted({(math.floor(Fraction(x) / unit) + Fraction(1, 2)) * unit for x in near})


def _shown(cell: Cell) -> str:
    if isinstance(cell, tuple) and len(cell) == 2 and all(e is None or isinstance(e, Fraction) for e in cell):
        low, high = cell
        words = [f"above {float(low):g}"] if low is not None else []
        words += [f"at most {float(high):g}"] if high is not None else []
        return f"a number {' and '.join(words)}" if words else "a number"
    if isinstance(cell, tuple):
        return f"[{', '.join(map(_shown, cell))}]"
    return f"{cell:g}" if isinstance(cell, float) else str(cell)
