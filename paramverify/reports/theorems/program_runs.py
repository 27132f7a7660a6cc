"""What the runs of a program are in the theories, at one point of the parameters.

`proofs/theories/Language.v` says the same in Coq, for all points. Here it is asked before a file is written:
whether a run meets an error, which outputs there are, how likely each is, and how many ways.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import prod

from paramverify.errors import UnsupportedError
from paramverify.models.programs.syntax import (
    Apply,
    Assign,
    Choice,
    For,
    If,
    Items,
    Jump,
    Literal,
    Node,
    Output,
    Place,
    Return,
    Statement,
    Variable,
    While,
)
from paramverify.models.programs.words import shown_output
from paramverify.reports.theorems.program_values import (
    DRAWS,
    MAX_WAYS,
    Data,
    TheoremNumber,
    Way,
    Wrong,
    applied,
    clamped,
    data_of,
    drawn,
    is_share,
    kind_of,
    needed,
    put_out,
    share_of,
    truth_of,
)
from paramverify.reports.theorems.programs import refused, split_noise

MAX_TESTS = 1_000  # of a loop


Memory = Mapping[str, Data]


@dataclass(frozen=True)
class TheoremState:
    """Where runs are, and how likely they are all together; `phase` is "" while they go on."""

    phase: str
    values: tuple[tuple[str, Data], ...]
    told: tuple[Data, ...]
    weight: Fraction = Fraction(1)

    @property
    def memory(self) -> dict[str, Data]:
        """The values of variables."""
        return dict(self.values)

    @property
    def key(self) -> object:
        """What tells it apart: True is not 1."""
        return self.phase, tuple((name, kind_of(v)) for name, v in self.values), kind_of(self.told)

    def storing(self, name: str, value: Data) -> TheoremState:
        """Returns the state after an assignment."""
        return replace(self, values=tuple({**self.memory, name: value}.items()))

    def turned(self, phase: str) -> TheoremState:
        """Returns the state in another phase."""
        return replace(self, phase=phase)

    def times(self, share: Fraction) -> TheoremState:
        """Returns the state of a part of the runs."""
        return replace(self, weight=self.weight * share)


def once(found: Iterable[TheoremState]) -> list[TheoremState]:
    """Returns each state once, with all its runs."""
    known: dict[object, TheoremState] = {}
    for s in found:
        same = known.get(s.key)
        known[s.key] = replace(same, weight=same.weight + s.weight) if same else s
    return list(known.values())


@dataclass
class TheoremRuns:
    """Follows the runs of a program with these variables.

    `known` are the numbers in the parameters at the point: names, and what has `exp` in it; None for what is
    none. `ways` counts the ways, and `rounds` has the number of tests of each `while`.
    """

    variables: Collection[str]
    known: Callable[[Node], Fraction | None]
    ways: int = 0
    rounds: dict[Place, int] = field(default_factory=dict)

    def outputs(self, body: Sequence[Statement], memory: Memory) -> dict[str, Fraction]:
        """Returns all outputs of a program that starts with these values, in words, and their probabilities.

        Raises:
            UnsupportedError: a run meets what the theories have no words for, or there are too many.
        """
        start = TheoremState("", tuple(memory.items()), ())
        found: dict[str, Fraction] = {}
        for s in self.block(body, start):
            word = shown_output(tuple(map(put_out, s.told)))
            found[word] = found.get(word, Fraction(0)) + s.weight
        return found

    def block(self, body: Sequence[Statement], start: TheoremState) -> list[TheoremState]:
        """Returns where statements lead."""
        found = [start]
        for statement in body:
            found = once(new for s in found for new in ([s] if s.phase else self.statement(statement, s)))
        return found

    def statement(self, statement: Statement, s: TheoremState) -> Iterator[TheoremState]:
        """Yields where one statement leads."""
        match statement:
            case Assign(names, (), Items(items, place), _) if len(names) > 1:
                for given, share in self.all(items, s, place):
                    after = s.times(share)
                    for name, value in zip(
                        [*(f"#{n}" for n in names), *names], [*given, *given], strict=True
                    ):
                        after = after.storing(name, value)
                    yield after
            case Assign((name,), (), value, place):
                for found, share in self.values(value, s, place):
                    yield s.times(share).storing(name, found)
            case Assign((name,), (index,), value, place):
                for (found, k), share in self.all((value, index), s, place):
                    entry = self.replaced(s.memory.get(name), k, found, place)
                    yield s.times(share).storing(name, entry)
            case If(test, then, otherwise, place):
                for yes, share in self.tests(test, s, place):
                    yield from self.block(then if yes else otherwise, s.times(share))
            case For((name,), values, body, place):
                for listed, share in self.values(values, s, place):
                    if not isinstance(listed, tuple):
                        raise refused("a loop over something else than a list", place)
                    yield from self.looped(name, listed, body, s.times(share))
            case While(test, body, place):
                yield from self.repeated(test, body, s, place)
            case Jump(word, _):
                yield s.turned(word)
            case Output(value, place) | Return(value, place):
                for found, share in self.values(value, s, place):
                    if is_share(found):
                        raise refused("an output that is no whole number and no label", place)
                    ended = "stop" if isinstance(statement, Return) else ""
                    yield TheoremState(ended, s.values, (*s.told, found), s.weight * share)
            case _:
                raise refused("several names at once", statement.place)

    def replaced(self, value: Data | None, k: Data, entry: Data, place: Place) -> Data:
        """Returns a list with another entry."""
        if not isinstance(value, tuple) or not isinstance(k, int) or not -len(value) <= k < len(value):
            raise refused("an entry that a list does not have", place)
        k %= len(value)
        return (*value[:k], entry, *value[k + 1 :])

    def looped(
        self, name: str, listed: Sequence[Data], body: Sequence[Statement], s: TheoremState
    ) -> list[TheoremState]:
        """Returns where a loop leads."""
        going, done = [s], []
        for value in listed:
            after = [new for g in going for new in self.block(body, g.storing(name, value))]
            going, left = self.sorted(after)
            done += left
        return [*done, *going]

    def repeated(
        self, test: Node, body: Sequence[Statement], s: TheoremState, place: Place
    ) -> list[TheoremState]:
        """Returns where a `while` leads."""
        going, done = [s], []
        tests = 0
        while going:
            tests += 1
            if tests > MAX_TESTS:
                raise refused("a loop with too many rounds", place)
            self.rounds[place] = max(self.rounds.get(place, 0), tests)
            inside: list[TheoremState] = []
            for g in going:
                for yes, share in self.tests(test, g, place):
                    inside += self.block(body, g.times(share)) if yes else []
                    done += [] if yes else [g.times(share)]
            going, left = self.sorted(inside)
            done += left
        return done

    def sorted(self, found: Sequence[TheoremState]) -> tuple[list[TheoremState], list[TheoremState]]:
        """Returns the runs that go on with a loop, and those that leave it."""
        going = once(s.turned("") for s in found if s.phase in ("", "continue"))
        left = once(s.turned("") if s.phase == "break" else s for s in found if s.phase in ("break", "stop"))
        return going, left

    def tests(self, test: Node, s: TheoremState, place: Place) -> list[tuple[bool, Fraction]]:
        """Returns which ways a test may go."""
        found: dict[bool, Fraction] = {}
        for value, share in self.values(test, s, place):
            yes = truth_of(value)
            if yes is None:
                raise refused("a condition on a number in the parameters", place)
            found[yes] = found.get(yes, Fraction(0)) + share
        return list(found.items())

    def values(self, node: Node, s: TheoremState, place: Place) -> list[Way]:
        """Returns the values of an expression, each once.

        Raises:
            UnsupportedError: the theories have no words for one.
        """
        try:
            ways = self.ways_of(node, s.memory)
        except Wrong as wrong:
            raise refused(str(wrong), place) from None
        found: dict[object, Way] = {}
        for value, share in ways:
            key = kind_of(value)
            found[key] = value, share + (found[key][1] if key in found else 0)
        return list(found.values())

    def all(
        self, nodes: Sequence[Node], s: TheoremState, place: Place
    ) -> list[tuple[tuple[Data, ...], Fraction]]:
        """Returns the values of several expressions."""
        return together(self.values(n, s, place) for n in nodes)

    def ways_of(self, node: Node, memory: Memory) -> list[Way]:
        """Returns the values of an expression, one for each way."""
        match node:
            case Literal(value, _):
                found: list[Way] = [(data_of(value), Fraction(1))]
            case Variable(name, _):
                if name in self.variables and name not in memory:
                    raise Wrong(f"{name} has no value")
                found = [(memory[name] if name in memory else self.share(node), Fraction(1))]
            case Items(items, _):
                found = [(values, share) for values, share in self.given(items, memory)]
            case Choice(table, _):
                found = []
                for probabilities, share in self.given([p for _, p in table], memory):
                    for (outcome, _), p in zip(table, probabilities, strict=True):
                        number = share_of(p)
                        if number is None:
                            raise Wrong("a probability")
                        found.append((data_of(outcome), share * number.value))
            case Apply(("and" | "or") as word, (first, *rest), place):
                last = Apply(word, tuple(rest), place) if len(rest) > 1 else rest[0]
                found = []
                for v, share in self.ways_of(first, memory):
                    decided = needed(truth_of(v)) != (word == "and")
                    found += [(v, share)] if decided else scaled(self.ways_of(last, memory), share)
            case Apply("if", (test, yes, no), _):
                found = []
                for v, share in self.ways_of(test, memory):
                    found += scaled(self.ways_of(yes if needed(truth_of(v)) else no, memory), share)
            case Apply("exp", _, _):
                found = [(self.share(node), Fraction(1))]
            case Apply("clamp", arguments, _) if apart := split_noise(node):
                center, noise = apart
                nodes = (center or Literal(Fraction(0), node.place), noise.arguments[0], *arguments[1:])
                found = []
                for given, share in self.given(nodes, memory):
                    found += scaled(clamped(noise.operator, given), share)
            case Apply(word, arguments, _):
                found = []
                for given, share in self.given(arguments, memory):
                    ways = drawn(word, given) if word in DRAWS else [(applied(word, given), Fraction(1))]
                    found += scaled(ways, share)
            case _:
                raise Wrong("a call")
        self.ways += len(found)
        if self.ways > MAX_WAYS:
            raise UnsupportedError(f"it has more than {MAX_WAYS:,} ways, too many to be followed in Coq")
        return found

    def given(self, nodes: Sequence[Node], memory: Memory) -> list[tuple[tuple[Data, ...], Fraction]]:
        """Returns the values of several expressions, one for each way."""
        return together(self.ways_of(n, memory) for n in nodes)

    def share(self, node: Node) -> TheoremNumber:
        """Returns a number in the parameters."""
        found = self.known(node)
        if found is None:
            raise Wrong(f"{node.name} stands outside of exp" if isinstance(node, Variable) else "exp")
        return TheoremNumber(found)


def together(listed: Iterable[Sequence[Way]]) -> list[tuple[tuple[Data, ...], Fraction]]:
    """Returns the values of several expressions, whose draws are independent."""
    return [
        (tuple(v for v, _ in ways), prod((p for _, p in ways), start=Fraction(1)))
        for ways in product(*listed)
    ]


def scaled(ways: Iterable[Way], share: Fraction) -> list[Way]:
    """Returns ways of a part of the runs."""
    return [(value, p * share) for value, p in ways]
