"""What the runs of a program are in the theories, without probabilities.

`proofs/theories/Language.v` says the same in Coq. Here it is asked before a file is written: whether a run
meets an error, which outputs there are, and how many ways.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from paramverify.errors import UnsupportedError
from paramverify.models.programs.runs import Put
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
from paramverify.reports.theorems.program_values import (
    DRAWS,
    MAX_WAYS,
    Data,
    Share,
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
class State:
    """Where a run is: `phase` is "" while it goes on."""

    phase: str
    values: tuple[tuple[str, Data], ...]
    told: tuple[Data, ...]

    @property
    def memory(self) -> dict[str, Data]:
        """The values of variables."""
        return dict(self.values)

    @property
    def key(self) -> object:
        """What tells it apart: True is not 1."""
        return self.phase, tuple((name, kind_of(v)) for name, v in self.values), kind_of(self.told)

    def storing(self, name: str, value: Data) -> State:
        """Returns the state after an assignment."""
        return State(self.phase, tuple({**self.memory, name: value}.items()), self.told)

    def turned(self, phase: str) -> State:
        """Returns the state in another phase."""
        return State(phase, self.values, self.told)


def once(found: Iterable[State]) -> list[State]:
    """Returns each state once."""
    return list({s.key: s for s in found}.values())


@dataclass
class Runs:
    """Follows the runs of a program with these variables.

    `ways` counts them, and `rounds` has the number of tests of each `while`.
    """

    variables: Collection[str]
    ways: int = 0
    rounds: dict[Place, int] = field(default_factory=dict)

    def outputs(self, body: Sequence[Statement], memory: Memory) -> set[tuple[Put, ...]]:
        """Returns all outputs of a program that starts with these values.

        Raises:
            UnsupportedError: a run meets what the theories have no words for, or there are too many.
        """
        start = State("", tuple(memory.items()), ())
        return {tuple(map(put_out, s.told)) for s in self.block(body, start)}

    def block(self, body: Sequence[Statement], start: State) -> list[State]:
        """Returns where statements lead."""
        found = [start]
        for statement in body:
            found = once(new for s in found for new in ([s] if s.phase else self.statement(statement, s)))
        return found

    def statement(self, statement: Statement, s: State) -> Iterator[State]:
        """Yields where one statement leads."""
        match statement:
            case Assign(names, (), Items(items, place), _) if len(names) > 1:
                for given in self.all(items, s, place):
                    after = s
                    for name, value in zip(
                        [*(f"#{n}" for n in names), *names], [*given, *given], strict=True
                    ):
                        after = after.storing(name, value)
                    yield after
            case Assign((name,), (), value, place):
                for found in self.values(value, s, place):
                    yield s.storing(name, found)
            case Assign((name,), (index,), value, place):
                for found, k in self.all((value, index), s, place):
                    yield s.storing(name, self.replaced(s.memory.get(name), k, found, place))
            case If(test, then, otherwise, place):
                for yes in self.tests(test, s, place):
                    yield from self.block(then if yes else otherwise, s)
            case For((name,), values, body, place):
                for listed in self.values(values, s, place):
                    if not isinstance(listed, tuple):
                        raise refused("a loop over something else than a list", place)
                    yield from self.looped(name, listed, body, s)
            case While(test, body, place):
                yield from self.repeated(test, body, s, place)
            case Jump(word, _):
                yield s.turned(word)
            case Output(value, place) | Return(value, place):
                for found in self.values(value, s, place):
                    if is_share(found):
                        raise refused("an output that is no whole number and no label", place)
                    ended = "stop" if isinstance(statement, Return) else ""
                    yield State(ended, s.values, (*s.told, found))
            case _:
                raise refused("several names at once", statement.place)

    def replaced(self, value: Data | None, k: Data, entry: Data, place: Place) -> Data:
        """Returns a list with another entry."""
        if not isinstance(value, tuple) or not isinstance(k, int) or not -len(value) <= k < len(value):
            raise refused("an entry that a list does not have", place)
        k %= len(value)
        return (*value[:k], entry, *value[k + 1 :])

    def looped(self, name: str, listed: Sequence[Data], body: Sequence[Statement], s: State) -> list[State]:
        """Returns where a loop leads."""
        going, done = [s], []
        for value in listed:
            after = [new for g in going for new in self.block(body, g.storing(name, value))]
            going, left = self.sorted(after)
            done += left
        return [*done, *going]

    def repeated(self, test: Node, body: Sequence[Statement], s: State, place: Place) -> list[State]:
        """Returns where a `while` leads."""
        going, done = [s], []
        tests = 0
        while going:
            tests += 1
            if tests > MAX_TESTS:
                raise refused("a loop with too many rounds", place)
            self.rounds[place] = max(self.rounds.get(place, 0), tests)
            inside: list[State] = []
            for g in going:
                for yes in self.tests(test, g, place):
                    inside += self.block(body, g) if yes else []
                    done += [] if yes else [g]
            going, left = self.sorted(inside)
            done += left
        return done

    def sorted(self, found: Sequence[State]) -> tuple[list[State], list[State]]:
        """Returns the runs that go on with a loop, and those that leave it."""
        going = once(s.turned("") for s in found if s.phase in ("", "continue"))
        left = once(s.turned("") if s.phase == "break" else s for s in found if s.phase in ("break", "stop"))
        return going, left

    def tests(self, test: Node, s: State, place: Place) -> list[bool]:
        """Returns which ways a test may go."""
        found = [truth_of(v) for v in self.values(test, s, place)]
        if None in found:
            raise refused("a condition on a number in the parameters", place)
        return list(dict.fromkeys(bool(b) for b in found))

    def values(self, node: Node, s: State, place: Place) -> list[Data]:
        """Returns the values of an expression, each once.

        Raises:
            UnsupportedError: the theories have no words for one.
        """
        try:
            found = self.ways_of(node, s.memory)
        except Wrong as wrong:
            raise refused(str(wrong), place) from None
        return list({kind_of(v): v for v in found}.values())

    def all(self, nodes: Sequence[Node], s: State, place: Place) -> list[tuple[Data, ...]]:
        """Returns the values of several expressions."""
        return list(product(*(self.values(n, s, place) for n in nodes)))

    def ways_of(self, node: Node, memory: Memory) -> list[Data]:
        """Returns the values of an expression, one for each way."""
        match node:
            case Literal(value, _):
                found: list[Data] = [data_of(value)]
            case Variable(name, _):
                if name in self.variables and name not in memory:
                    raise Wrong(f"{name} has no value")
                found = [memory[name] if name in memory else Share(name)]
            case Items(items, _):
                found = [tuple(v) for v in product(*(self.ways_of(n, memory) for n in items))]
            case Choice(table, _):
                shares = list(product(*(self.ways_of(p, memory) for _, p in table)))
                if any(share_of(p) is None for given in shares for p in given):
                    raise Wrong("a probability")
                found = [data_of(v) for _ in shares for v, _ in table]
            case Apply(("and" | "or") as word, (first, *rest), place):
                last = Apply(word, tuple(rest), place) if len(rest) > 1 else rest[0]
                found = []
                for v in self.ways_of(first, memory):
                    decided = needed(truth_of(v)) != (word == "and")
                    found += [v] if decided else self.ways_of(last, memory)
            case Apply("if", (test, yes, no), _):
                found = []
                for v in self.ways_of(test, memory):
                    found += self.ways_of(yes if needed(truth_of(v)) else no, memory)
            case Apply("exp", _, _):
                found = [Share(node)]
            case Apply("clamp", arguments, _) if apart := split_noise(node):
                center, noise = apart
                nodes = (center or Literal(Fraction(0), node.place), noise.arguments[0], *arguments[1:])
                found = [
                    v for given in product(*(self.ways_of(n, memory) for n in nodes)) for v in clamped(given)
                ]
            case Apply(word, arguments, _):
                found = []
                for given in product(*(self.ways_of(n, memory) for n in arguments)):
                    found += drawn(word, given) if word in DRAWS else [applied(word, given)]
            case _:
                raise Wrong("a call")
        self.ways += len(found)
        if self.ways > MAX_WAYS:
            raise UnsupportedError(f"it has more than {MAX_WAYS:,} ways, too many to be followed in Coq")
        return found
