"""What the runs of a program are in the theories, without probabilities.

`proofs/theories/Language.v` says the same in Coq. Here it is asked before a file is written: whether a run
meets an error, which outputs there are, and how many ways.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
from paramverify.reports.theorems.programs import refused, split_noise

MAX_WAYS = 20_000  # that are followed in Coq, for all inputs
MAX_TESTS = 1_000  # of a loop
MAX_NUMBER = 10**6  # numbers of programs are small, so that Coq counts with them


@dataclass(frozen=True)
class Share:
    """A number in the parameters, by its expression."""

    text: object


Data = int | bool | str | Share | tuple["Data", ...]
Memory = Mapping[str, Data]


class _Wrong(Exception):
    """A value that there is none of, in the theories."""


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
        return self.phase, tuple((name, _kind(v)) for name, v in self.values), _kind(self.told)

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
        return {tuple(map(_put, s.told)) for s in self.block(body, start)}

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
                    if _is_share(found):
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
        found = [_truth(v) for v in self.values(test, s, place)]
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
        except _Wrong as wrong:
            raise refused(str(wrong), place) from None
        return list({_kind(v): v for v in found}.values())

    def all(self, nodes: Sequence[Node], s: State, place: Place) -> list[tuple[Data, ...]]:
        """Returns the values of several expressions."""
        return list(product(*(self.values(n, s, place) for n in nodes)))

    def ways_of(self, node: Node, memory: Memory) -> list[Data]:
        """Returns the values of an expression, one for each way."""
        match node:
            case Literal(value, _):
                found: list[Data] = [_data(value)]
            case Variable(name, _):
                if name in self.variables and name not in memory:
                    raise _Wrong(f"{name} has no value")
                found = [memory[name] if name in memory else Share(name)]
            case Items(items, _):
                found = [tuple(v) for v in product(*(self.ways_of(n, memory) for n in items))]
            case Choice(table, _):
                shares = list(product(*(self.ways_of(p, memory) for _, p in table)))
                if any(_share(p) is None for given in shares for p in given):
                    raise _Wrong("a probability")
                found = [_data(v) for _ in shares for v, _ in table]
            case Apply(("and" | "or") as word, (first, *rest), place):
                last = Apply(word, tuple(rest), place) if len(rest) > 1 else rest[0]
                found = []
                for v in self.ways_of(first, memory):
                    decided = _needed(_truth(v)) != (word == "and")
                    found += [v] if decided else self.ways_of(last, memory)
            case Apply("if", (test, yes, no), _):
                found = []
                for v in self.ways_of(test, memory):
                    found += self.ways_of(yes if _needed(_truth(v)) else no, memory)
            case Apply("exp", _, _):
                found = [Share(node)]
            case Apply("clamp", arguments, _) if apart := split_noise(node):
                center, noise = apart
                nodes = (center or Literal(Fraction(0), node.place), noise.arguments[0], *arguments[1:])
                found = [
                    v for given in product(*(self.ways_of(n, memory) for n in nodes)) for v in _clamped(given)
                ]
            case Apply(word, arguments, _):
                found = []
                for given in product(*(self.ways_of(n, memory) for n in arguments)):
                    found += _drawn(word, given) if word in _DRAWS else [_applied(word, given)]
            case _:
                raise _Wrong("a call")
        self.ways += len(found)
        if self.ways > MAX_WAYS:
            raise UnsupportedError(f"it has more than {MAX_WAYS:,} ways, too many to be followed in Coq")
        return found


def _kind(value: Data) -> object:
    return tuple(map(_kind, value)) if isinstance(value, tuple) else (type(value).__name__, value)


def _data(value: Fraction | str | bool) -> Data:
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else Share(value)
    return value


def _put(value: Data) -> Put:
    if isinstance(value, tuple):
        return tuple(map(_put, value))
    assert not isinstance(value, Share)
    return Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _is_share(value: Data) -> bool:
    return isinstance(value, Share) or (isinstance(value, tuple) and any(map(_is_share, value)))


def _share(value: Data) -> Share | None:
    if isinstance(value, (bool, int)):
        return Share(int(value))
    return value if isinstance(value, Share) else None


def _truth(value: Data) -> bool | None:
    return None if isinstance(value, Share) else bool(value)


def _needed(found: bool | None) -> bool:
    if found is None:
        raise _Wrong("a condition on a number in the parameters")
    return found


def _whole(value: Data) -> int:
    if not isinstance(value, int):
        raise _Wrong("a whole number is needed here")
    return int(value)


def _list(value: Data) -> tuple[Data, ...]:
    if not isinstance(value, tuple):
        raise _Wrong("a list is needed here")
    return value


def _same(a: Data, b: Data) -> bool:
    if isinstance(a, Share) or isinstance(b, Share):
        raise _Wrong("a comparison of numbers in the parameters")
    if isinstance(a, tuple) and isinstance(b, tuple):
        found = [_same(x, y) for x, y in zip(a, b, strict=False)]
        if len(a) != len(b) and (any(map(_is_share, a)) or any(map(_is_share, b))):
            raise _Wrong("a comparison of numbers in the parameters")
        return len(a) == len(b) and all(found)
    return a == b


_WHOLE: Mapping[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_ORDERS: Mapping[str, Callable[[int, int], bool]] = {
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
}
_DRAWS = ("flip", "uniform", "binomial")


def _applied(word: str, given: Sequence[Data]) -> Data:
    """Applies an operator, as `applied` of the theory does."""
    if word not in ("==", "!=", "<=", ">="):
        word = word.removesuffix("=")
    match word, given:
        case "+", [tuple() as a, tuple() as b]:
            return (*a, *b)
        case "neg", [a]:
            return _applied("-", [0, a])
        case "+" | "-" | "*" | "/" | "**", [a, b]:
            return _arithmetic(word, a, b)
        case "//" | "%", [a, b]:
            x, y = _whole(a), _whole(b)
            if not y:
                raise _Wrong("division by zero")
            return x // y if word == "//" else x % y
        case "==" | "!=", [a, b]:
            return _same(a, b) == (word == "==")
        case "<" | "<=" | ">" | ">=", [a, b]:
            return _ORDERS[word](_whole(a), _whole(b))
        case "not", [a]:
            return not _needed(_truth(a))
        case "in" | "not in", [a, b]:
            found = [_same(a, entry) for entry in _list(b)]
            return any(found) == (word == "in")
        case "index", [a, k]:
            values, at = _list(a), _whole(k)
            if not -len(values) <= at < len(values):
                raise _Wrong("an entry that a list does not have")
            return values[at]
        case "slice", [a, *ends]:
            start, *end = map(_whole, ends)
            return _list(a)[start : end[0]] if end else _list(a)[start:]
        case "len", [a]:
            return len(_list(a))
        case "sum", [a]:
            total: Data = 0
            for entry in _list(a):
                total = _applied("+", [total, entry])
            return total
        case ("min" | "max") as word, _:
            return _extreme(word, _list(given[0]) if len(given) == 1 else given)
        case "clamp", [x, low, high]:
            return _extreme("max", [low, _extreme("min", [high, x])])
        case "abs", [a] if not isinstance(a, bool):
            return abs(_whole(a))
        case "range", _:
            return tuple(range(*map(_whole, given)))
    raise _Wrong(word)


def _arithmetic(word: str, a: Data, b: Data) -> Data:
    if isinstance(a, int) and isinstance(b, int):
        if word in _WHOLE:
            return _small(_WHOLE[word](a, b))
        if word == "/" and b:
            return a // b if a % b == 0 else Share((word, a, b))
        if word == "**" and b >= 0 and (abs(a) <= 1 or b < 64):
            return _small(a**b)
        if word == "**" and b > -64 and a:
            return Share((word, a, b))
        raise _Wrong("division by zero, or a large power")
    first, second = _share(a), _share(b)
    if first is None or second is None or (word == "**" and not (isinstance(b, int) and abs(b) < 64)):
        raise _Wrong(word)
    return Share((word, first.text, second.text))


def _small(value: int) -> int:
    if abs(value) > MAX_NUMBER:
        raise _Wrong("a large number")
    return int(value)


def _extreme(word: str, given: Sequence[Data]) -> int:
    if not given or any(isinstance(v, bool) or not isinstance(v, int) for v in given):
        raise _Wrong(f"{word} of something else than whole numbers")
    values = [int(v) for v in given if isinstance(v, int)]
    return max(values) if word == "max" else min(values)


def _drawn(word: str, given: Sequence[Data]) -> list[Data]:
    if word == "uniform":
        low, high = map(_whole, given)
        if low > high:
            raise _Wrong("a draw of nothing")
        if high - low > MAX_WAYS:
            raise _Wrong("a draw with very many outcomes")
        return list(range(low, high + 1))
    if _share(given[-1]) is None:
        raise _Wrong("a probability")
    if word == "flip":
        return [True, False]
    count = _whole(given[0])
    if not 0 <= count <= MAX_WAYS:
        raise _Wrong("a draw with very many outcomes")
    return list(range(count + 1))


def _clamped(given: Sequence[Data]) -> list[Data]:
    center, ratio, low, high = given
    if _share(ratio) is None or _whole(high) < _whole(low) or _whole(high) - _whole(low) > MAX_WAYS:
        raise _Wrong("clamp")
    if max(abs(_whole(v)) for v in (center, low, high)) > 1_000:
        raise _Wrong("a large number")
    return list(range(_whole(low), _whole(high) + 1))
