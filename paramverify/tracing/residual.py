"""The program that a traced function is: the same law, written in the language of programs.

Choices that follow each other become one, with the products of their probabilities; what follows equal is
written once. Inputs whose trees are equal share them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from paramverify.tracing.exploring import Branch, Leaf, Tree
from paramverify.tracing.formulas import Formula, Refused
from paramverify.tracing.tracer import Choice, Noise, Step, Test

MOST_LINES = 20_000
MOST_DEPTH = 40  # blocks inside each other; those of `elif` are not counted
MOST_WAYS = 16  # of one chain of elif; the language counts each of them as a block inside
ONE = Formula.of(1)
Part = tuple[Any, ...]
NOISE = re.compile(r"\bnoise\d+\b")


@dataclass(eq=False)
class Residual:
    """Trees as parts that are equal exactly if they have one number."""

    parts: list[Part] = field(default_factory=list)
    numbers: dict[Part, int] = field(default_factory=dict)
    uses: list[frozenset[str]] = field(default_factory=list)
    weights: dict[int, tuple[tuple[int, Formula], ...]] = field(default_factory=dict)

    def number(self, part: Part) -> int:
        """Returns the number of a part."""
        if part not in self.numbers:
            self.numbers[part] = len(self.parts)
            self.parts.append(part)
            self.uses.append(self._uses(part))
        return self.numbers[part]

    def _uses(self, part: Part) -> frozenset[str]:
        """Returns the noise that a part reads and does not draw itself."""
        match part[0]:
            case "leaf":
                return frozenset(NOISE.findall(part[1]))
            case "noise":
                return self.uses[part[3]] - {part[1]}
            case "test":
                return frozenset(NOISE.findall(part[1])) | self.uses[part[2]] | self.uses[part[3]]
        return frozenset().union(*(self.uses[k] for k, _ in part[1]))

    def of(self, tree: Tree) -> int:
        """Returns the number of a tree."""
        found: dict[int, int] = {}  # of trees, by their identity
        following: dict[int, list[tuple[Tree, Formula]]] = {}
        pending = [tree]
        while pending:
            here = pending[-1]
            if id(here) in found:
                pending.pop()
            elif isinstance(here, Leaf):
                found[id(here)] = self.number(("leaf", here.text))
            elif id(here) not in following:
                following[id(here)] = list(_following(here))
                pending += [after for after, _ in reversed(following[id(here)])]
            else:
                after = [(found[id(part)], weight) for part, weight in following[id(here)]]
                found[id(here)] = self._joined(here.step, after)
        return found[id(tree)]

    def _joined(self, step: Step, after: Sequence[tuple[int, Formula]]) -> int:
        """Returns the number of a step with what follows it."""
        first, last = after[0][0], after[-1][0]
        if isinstance(step, Noise):
            # noise that nothing reads is left out
            read = step.name in self.uses[first]
            return self.number(("noise", step.name, step.call, first)) if read else first
        if isinstance(step, Test):
            return first if first == last else self.number(("test", step.text, first, last))
        shares: dict[int, Formula] = {}
        for number, weight in after:
            for inner, share in self._mixed(number):
                product = weight * share
                shares[inner] = shares[inner] + product if inner in shares else product
        return self.mixture(shares)

    def _mixed(self, number: int) -> Iterable[tuple[int, Formula]]:
        return self.weights.get(number, ((number, ONE),))

    def mixture(self, shares: Mapping[int, Formula]) -> int:
        """Returns the number of a choice among parts."""
        kept = tuple(sorted(((k, w) for k, w in shares.items() if w.above), key=lambda pair: pair[0]))
        if len(kept) == 1:
            return kept[0][0]
        found = self.number(("choice", tuple((k, w.key) for k, w in kept)))
        self.weights[found] = kept
        return found


def _following(branch: Branch) -> Iterator[tuple[Tree, Formula]]:
    """Yields what follows a step, with its probability; choices that follow a choice are one with it."""
    pending: list[tuple[Tree | None, Formula]] = [(branch, ONE)]
    while pending:
        tree, share = pending.pop()
        assert tree is not None
        if tree is branch or (
            isinstance(tree, Branch) and isinstance(tree.step, Choice) and isinstance(branch.step, Choice)
        ):
            weights = tree.step.weights if isinstance(tree.step, Choice) else [ONE] * len(tree.after)
            pending += [(a, share * w) for a, w in zip(tree.after, weights, strict=True)][::-1]
        else:
            yield tree, share


@dataclass(eq=False)
class Writer:
    """Writes parts as lines."""

    residual: Residual
    taken: frozenset[str]  # names that are taken
    lines: list[str] = field(default_factory=list)
    picks: int = 0

    def write(self, number: int, depth: int) -> None:
        """Writes a part at a depth.

        Raises:
            Refused: the program is too long or too deep.
        """
        if len(self.lines) > MOST_LINES or depth > MOST_DEPTH:
            raise Refused(
                f"the program of this function has more than {MOST_LINES:,} lines or {MOST_DEPTH} blocks "
                "inside each other: use fewer inputs or fewer draws"
            )
        part, indent = self.residual.parts[number], "    " * depth
        while part[0] == "noise":
            self.lines.append(f"{indent}{part[1]} = {part[2]}")
            number = part[3]
            part = self.residual.parts[number]
        match part[0]:
            case "leaf":
                self.lines.append(f"{indent}return {part[1]}")
            case "test":
                self.lines.append(f"{indent}if {part[1]}:")
                self.write(part[2], depth + 1)
                self.lines.append(f"{indent}else:")
                self.write(part[3], depth + 1)
            case _:
                self.choice(number, depth)

    def choice(self, number: int, depth: int) -> None:
        """Writes a choice."""
        shares, indent = self.residual.weights[number], "    " * depth
        if len(shares) == 2:
            self.lines.append(f"{indent}if flip({shares[0][1].text}):")
            self.write(shares[0][0], depth + 1)
            self.lines.append(f"{indent}else:")
            self.write(shares[1][0], depth + 1)
            return
        values = [self.residual.parts[k] for k, _ in shares]
        texts = [str(v[1]) for v in values if v[0] == "leaf"]
        labels = [re.fullmatch(r"'.*'", t) is not None for t in texts]
        numbers = [re.fullmatch(r"-?\d+|\(-?\d+/\d+\)", t) is not None for t in texts]
        if len(texts) == len(values) and (all(labels) or all(numbers)):
            table = ", ".join(f"{t.strip('()')}: {w.text}" for t, (_, w) in zip(texts, shares, strict=True))
            self.lines.append(f"{indent}return choice({{{table}}})")
            return
        self.picks += 1
        name = self.free(f"pick{self.picks}")
        table = ", ".join(f"{k}: {w.text}" for k, (_, w) in enumerate(shares))
        self.lines.append(f"{indent}{name} = choice({{{table}}})")
        tests = [f"{name} == {k}" for k in range(len(shares))]
        self.ways(tests, [partial(self.write, inner) for inner, _ in shares], depth)

    def ways(self, tests: Sequence[str], writes: Sequence[Callable[[int], None]], depth: int) -> None:
        """Writes what follows each test, of which exactly one is true; each `writes` takes the depth."""
        indent, half = "    " * depth, len(tests) // 2
        if len(tests) > MOST_WAYS:
            self.lines.append(f"{indent}if {' or '.join(tests[:half])}:")
            self.ways(tests[:half], writes[:half], depth + 1)
            self.lines.append(f"{indent}else:")
            self.ways(tests[half:], writes[half:], depth + 1)
            return
        for k, (test, write) in enumerate(zip(tests, writes, strict=True)):
            word = f"if {test}:" if k == 0 else "else:" if k == len(tests) - 1 else f"elif {test}:"
            self.lines.append(f"{indent}{word}")
            write(depth + 1)

    def free(self, name: str) -> str:
        """Returns a name that is not taken."""
        while name in self.taken:
            name += "_"
        return name

    def inputs(self, places: Sequence[str], rows: Mapping[tuple[str, ...], int], depth: int) -> None:
        """Writes which part belongs to which values of the inputs, given as texts."""
        if len(set(rows.values())) == 1:
            self.write(next(iter(rows.values())), depth)
            return
        groups: dict[tuple[tuple[tuple[str, ...], int], ...], list[str]] = {}
        apart: dict[str, dict[tuple[str, ...], int]] = {}
        for values, number in rows.items():
            apart.setdefault(values[0], {})[values[1:]] = number
        for value, rest in apart.items():
            groups.setdefault(tuple(sorted(rest.items())), []).append(value)
        if len(groups) == 1:
            self.inputs(places[1:], dict(next(iter(groups))), depth)
            return
        tests = [" or ".join(f"{places[0]} == {v}" for v in values) for values in groups.values()]
        self.ways(tests, [partial(self.inputs, places[1:], dict(rest)) for rest in groups], depth)


def program_of(
    trees: Mapping[tuple[Any, ...], Tree],
    places: Sequence[str],
    shown: Mapping[tuple[Any, ...], tuple[str, ...]],
    taken: Iterable[str],
) -> str:
    """Returns the program of trees; `places` are the entries of the inputs, `shown` their values as texts."""
    residual = Residual()
    rows = {shown[given]: residual.of(tree) for given, tree in trees.items()}
    writer = Writer(residual, frozenset(taken))
    writer.inputs(places, rows, 0)
    return "\n".join(writer.lines) + "\n"


def leaves(trees: Iterable[Tree | None]) -> Iterable[Leaf]:
    """Yields the leaves of trees."""
    pending = list(trees)
    while pending:
        tree = pending.pop()
        if isinstance(tree, Leaf):
            yield tree
        elif tree is not None:
            pending += tree.after
