"""The program that a traced function is: the same law, written in the language of programs.

Choices that follow each other become one, with the products of their probabilities; what follows equal is
written once. Inputs whose trees are equal share them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePath
from typing import Any

from paramverify.tracing.exploring import Branch, Leaf, Tree
from paramverify.tracing.formulas import Formula, Refused
from paramverify.tracing.tracer import Choice, Noise, Place, Step, Test

MOST_LINES = 20_000
MOST_DEPTH = 40  # blocks inside each other; those of `elif` are not counted
MOST_PLACES = 6  # of one line and file that are named
MOST_WIDTH = 60  # characters in front of a comment
MOST_COMMENTED = 50_000  # characters of a program with comments
MOST_WAYS = 16  # of one chain of elif; the language counts each of them as a block inside
ONE = Formula.of(1)
Part = tuple[Any, ...]
NOISE = re.compile(r"\bnoise\d+\b")


@dataclass(frozen=True)
class ProgramLine:
    """A line of a program, and the places in the user's code that it comes from."""

    text: str
    places: tuple[Place, ...]

    def origin(self) -> str:
        """Returns the places in words, such as `survey.py:5, 7`; "" if there are none."""
        files: dict[str, set[int]] = {}
        for place in self.places:
            files.setdefault(PurePath(place.file).name, set()).add(place.line)
        shown = []
        for file, lines in files.items():
            if file.isprintable():
                more = f" and {len(lines) - MOST_PLACES} more" if len(lines) > MOST_PLACES else ""
                shown.append(f"{file}:{', '.join(map(str, sorted(lines)[:MOST_PLACES]))}{more}")
        return "; ".join(shown)


def with_origins(lines: Sequence[ProgramLine]) -> str:
    """Returns the text of a program; comments say where lines come from, if it stays short."""
    widths = (len(line.text) for line in lines if line.places)
    width = max((width for width in widths if width <= MOST_WIDTH), default=0)
    both = [(line.text, line.origin()) for line in lines]
    text = "".join(f"{t:<{width}}  # {origin}\n" if origin else f"{t}\n" for t, origin in both)
    return text if len(text) <= MOST_COMMENTED else "".join(f"{t}\n" for t, _ in both)


@dataclass(eq=False)
class Residual:
    """Trees as parts that are equal exactly if they have one number."""

    parts: list[Part] = field(default_factory=list)
    numbers: dict[Part, int] = field(default_factory=dict)
    uses: list[frozenset[str]] = field(default_factory=list)
    weights: dict[int, tuple[tuple[int, Formula], ...]] = field(default_factory=dict)
    # by the number of a whole tree: the places in the user's code that its parts come from
    places: dict[int, dict[int, set[Place]]] = field(default_factory=dict)
    seen: dict[int, set[Place]] = field(default_factory=dict)  # the same of the tree that is read

    def number(self, part: Part, *places: Place | None) -> int:
        """Returns the number of a part, which comes from these places, too."""
        if part not in self.numbers:
            self.numbers[part] = len(self.parts)
            self.parts.append(part)
            self.uses.append(self._uses(part))
        found = self.numbers[part]
        known = (place for place in places if place is not None and place.file)
        self.seen.setdefault(found, set()).update(known)
        return found

    def whole(self, tree: Tree) -> int:
        """Returns the number of the tree of an input, and keeps the places of its parts."""
        self.seen = {}
        found = self.of(tree)
        kept = self.places.setdefault(found, {})
        for number, places in self.seen.items():
            kept.setdefault(number, set()).update(places)
        return found

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
        places: dict[int, set[Place]] = {}
        pending = [tree]
        while pending:
            here = pending[-1]
            if id(here) in found:
                pending.pop()
            elif isinstance(here, Leaf):
                found[id(here)] = self.number(("leaf", here.text), here.place)
            elif id(here) not in following:
                places[id(here)] = set()
                following[id(here)] = list(_following(here, places[id(here)]))
                pending += [after for after, _ in reversed(following[id(here)])]
            else:
                after = [(found[id(part)], weight) for part, weight in following[id(here)]]
                found[id(here)] = self._joined(here.step, after, places[id(here)])
        return found[id(tree)]

    def _joined(self, step: Step, after: Sequence[tuple[int, Formula]], places: set[Place]) -> int:
        """Returns the number of a step with what follows it; the step comes from these places."""
        first, last = after[0][0], after[-1][0]
        if isinstance(step, Noise):
            # noise that nothing reads is left out
            read = step.name in self.uses[first]
            return self.number(("noise", step.name, step.call, first), *places) if read else first
        if isinstance(step, Test):
            return first if first == last else self.number(("test", step.text, first, last), *places)
        shares: dict[int, Formula] = {}
        for number, weight in after:
            if number in self.weights:
                places |= self.seen[number]
            for inner, share in self._mixed(number):
                product = weight * share
                shares[inner] = shares[inner] + product if inner in shares else product
        return self.mixture(shares, places)

    def _mixed(self, number: int) -> Iterable[tuple[int, Formula]]:
        return self.weights.get(number, ((number, ONE),))

    def mixture(self, shares: Mapping[int, Formula], places: Iterable[Place]) -> int:
        """Returns the number of a choice among parts, which comes from these places."""
        kept = tuple(sorted(((k, w) for k, w in shares.items() if w.above), key=lambda pair: pair[0]))
        if len(kept) == 1:
            return kept[0][0]
        found = self.number(("choice", tuple((k, w.key) for k, w in kept)), *places)
        self.weights[found] = kept
        return found


def _following(branch: Branch, places: set[Place]) -> Iterator[tuple[Tree, Formula]]:
    """Yields what follows a step, with its probability; choices that follow a choice are one with it.

    The places of the steps that are one are added to `places`.
    """
    pending: list[tuple[Tree | None, Formula]] = [(branch, ONE)]
    while pending:
        tree, share = pending.pop()
        assert tree is not None
        if tree is branch or (
            isinstance(tree, Branch) and isinstance(tree.step, Choice) and isinstance(branch.step, Choice)
        ):
            places.add(tree.step.place)
            weights = tree.step.weights if isinstance(tree.step, Choice) else [ONE] * len(tree.after)
            pending += [(a, share * w) for a, w in zip(tree.after, weights, strict=True)][::-1]
        else:
            yield tree, share


@dataclass(eq=False)
class Writer:
    """Writes parts as lines."""

    residual: Residual
    taken: frozenset[str]  # names that are taken
    lines: list[ProgramLine] = field(default_factory=list)
    picks: int = 0
    root: int = 0  # the tree that is written

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
        part, places = self.residual.parts[number], self.places(number)
        while part[0] == "noise":
            self.line(f"{part[1]} = {part[2]}", depth, places)
            number = part[3]
            part, places = self.residual.parts[number], self.places(number)
        match part[0]:
            case "leaf":
                self.line(f"return {part[1]}", depth, places)
            case "test":
                self.line(f"if {part[1]}:", depth, places)
                self.write(part[2], depth + 1)
                self.line("else:", depth)
                self.write(part[3], depth + 1)
            case _:
                self.choice(number, depth)

    def places(self, number: int) -> set[Place]:
        """Returns the places that a part of the tree that is written comes from."""
        return self.residual.places[self.root].get(number, set())

    def line(self, text: str, depth: int, places: Iterable[Place] = ()) -> None:
        """Writes a line."""
        found = sorted(places, key=lambda place: (place.file, place.line))
        self.lines.append(ProgramLine("    " * depth + text, tuple(found)))

    def choice(self, number: int, depth: int) -> None:
        """Writes a choice."""
        shares, places = self.residual.weights[number], self.places(number)
        if len(shares) == 2:
            self.line(f"if flip({shares[0][1].text}):", depth, places)
            self.write(shares[0][0], depth + 1)
            self.line("else:", depth)
            self.write(shares[1][0], depth + 1)
            return
        values = [self.residual.parts[k] for k, _ in shares]
        texts = [str(v[1]) for v in values if v[0] == "leaf"]
        labels = [re.fullmatch(r"'.*'", t) is not None for t in texts]
        numbers = [re.fullmatch(r"-?\d+|\(-?\d+/\d+\)", t) is not None for t in texts]
        if len(texts) == len(values) and (all(labels) or all(numbers)):
            table = ", ".join(f"{t.strip('()')}: {w.text}" for t, (_, w) in zip(texts, shares, strict=True))
            ends = (self.places(k) for k, _ in shares)
            self.line(f"return choice({{{table}}})", depth, places.union(*ends))
            return
        self.picks += 1
        name = self.free(f"pick{self.picks}")
        table = ", ".join(f"{k}: {w.text}" for k, (_, w) in enumerate(shares))
        self.line(f"{name} = choice({{{table}}})", depth, places)
        tests = [f"{name} == {k}" for k in range(len(shares))]
        self.ways(tests, [partial(self.write, inner) for inner, _ in shares], depth)

    def ways(self, tests: Sequence[str], writes: Sequence[Callable[[int], None]], depth: int) -> None:
        """Writes what follows each test, of which exactly one is true; each `writes` takes the depth."""
        half = len(tests) // 2
        if len(tests) > MOST_WAYS:
            self.line(f"if {' or '.join(tests[:half])}:", depth)
            self.ways(tests[:half], writes[:half], depth + 1)
            self.line("else:", depth)
            self.ways(tests[half:], writes[half:], depth + 1)
            return
        for k, (test, write) in enumerate(zip(tests, writes, strict=True)):
            word = f"if {test}:" if k == 0 else "else:" if k == len(tests) - 1 else f"elif {test}:"
            self.line(word, depth)
            write(depth + 1)

    def free(self, name: str) -> str:
        """Returns a name that is not taken."""
        while name in self.taken:
            name += "_"
        return name

    def inputs(self, places: Sequence[str], rows: Mapping[tuple[str, ...], int], depth: int) -> None:
        """Writes which part belongs to which values of the inputs, given as texts."""
        if len(set(rows.values())) == 1:
            self.root = next(iter(rows.values()))
            self.write(self.root, depth)
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
) -> list[ProgramLine]:
    """Returns the program of trees; `places` are the entries of the inputs, `shown` their values as texts."""
    residual = Residual()
    rows = {shown[given]: residual.whole(tree) for given, tree in trees.items()}
    writer = Writer(residual, frozenset(taken))
    writer.inputs(places, rows, 0)
    return writer.lines


def leaves(trees: Iterable[Tree | None]) -> Iterable[Leaf]:
    """Yields the leaves of trees."""
    pending = list(trees)
    while pending:
        tree = pending.pop()
        if isinstance(tree, Leaf):
            yield tree
        elif tree is not None:
            pending += tree.after
