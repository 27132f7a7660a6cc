"""A second reading of `[mechanism]`: how likely each output is, by brute force over all that may happen.

Standard library only, and no code of the first reader. Everything is a number: see `second_numbers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, TypeVar

from ..kernel.strict_reading import UnreadCase
from .second_numbers import Calculator, Value, meaning
from .second_processes import (
    MAX_WAYS,
    Input,
    Parts,
    Process,
    Repeated,
    State,
    Steps,
    Streamed,
    add,
    queries_of,
)
from .second_programs import InputPlaces, Numeric, outputs_at
from .second_trees import statements, stream_loop

Key = TypeVar("Key")


class TableProcess(Process):
    """`kind = "hmm"`: states are names, never numbers."""

    default_by = "any"

    def __init__(self, table: Mapping[str, Any], at: Calculator) -> None:
        names: list[str] = table["states"]
        outputs: list[str] = table["observations"]
        if any(not isinstance(n, str) for n in (*names, *outputs)) or len(set(names)) < len(names):
            raise ValueError("names that are not different texts")
        self.answers = (names,)
        self.emitted = {s: row(table["emissions"][s], outputs, at) for s in names}
        moves = table.get("transitions")
        self.moved = {s: row(moves[s], names, at) if moves else {s: Fraction(1)} for s in names}

    def start(self, given: Input) -> list[tuple[State, Fraction]]:
        return [(given[0], Fraction(1))]

    def steps(self, state: State) -> Steps:
        return [(o, t, p * q) for o, p in self.emitted[state].items() for t, q in self.moved[state].items()]


class Series(Process):
    """`kind = "time_series"`: a state is (the day, the state on it, the state on the secret's day)."""

    default_by = "any"

    def __init__(self, table: Mapping[str, Any], at: Calculator) -> None:
        names: list[str] = table["states"]
        outputs: list[str] = table.get("observations", names)
        self.answers = (names,)
        self.day = int(table.get("day", 1))
        self.initial = row(table["initial"], names, at)
        self.moved = {s: row(table["transitions"][s], names, at) for s in names}
        if "truth" in table:
            truth = at.number(table["truth"])
            other = (1 - truth) / (len(names) - 1)
            self.emitted = {s: {o: truth if o == s else other for o in names} for s in names}
        else:
            self.emitted = {s: row(table["emissions"][s], outputs, at) for s in names}

    def start(self, given: Input) -> list[tuple[State, Fraction]]:
        wanted = given[0]
        found = [((1, s, wanted), p * self._reach(1, s, wanted)) for s, p in self.initial.items()]
        total = sum((p for _, p in found), Fraction(0))
        if not total:
            raise ZeroDivisionError
        return [(state, p / total) for state, p in found if p]

    def _reach(self, day: int, state: str, wanted: Value) -> Fraction:
        """Returns how likely the wanted state on the secret's day is from a state on an earlier day."""
        ahead = {state: Fraction(1)}
        for _ in range(self.day - day):
            moved: dict[str, Fraction] = {}
            for s, p in ahead.items():
                for t, q in self.moved[s].items():
                    add(moved, t, p * q)
            ahead = moved
        return ahead.get(str(wanted), Fraction(0))

    def steps(self, state: State) -> Steps:
        day, now, wanted = state
        own = self._reach(day, now, wanted)  # is not zero until then
        found: Steps = []
        for o, p in self.emitted[now].items():
            for t, q in self.moved[now].items():
                # Bayes: given the state on the secret's day, the move has this probability.
                share = q * self._reach(day + 1, t, wanted) / own if day < self.day else q
                found.append((o, (min(day + 1, self.day), t, wanted), p * share))
        return found


class AnswerProcess(Process):
    """A mechanism that answers from its input; `memory`: later answers repeat the first."""

    def __init__(
        self,
        answers: tuple[Sequence[Value], ...],
        outputs: Callable[[Input], Mapping[str, Fraction]],
        default_by: Any = 1,
        memory: bool = False,
    ) -> None:
        self.answers = answers
        self.outputs = outputs
        self.default_by = default_by
        self.memory = memory
        self.known: dict[Input, Mapping[str, Fraction]] = {}

    def prepare(self, inputs: Sequence[Input]) -> None:
        if isinstance(self.outputs, Numeric):
            self.outputs.prepare(inputs)

    def steps(self, state: State) -> Steps:
        if isinstance(state, str):  # the first answer
            return [(state, state, Fraction(1))]
        if state not in self.known:
            self.known[state] = self.outputs(state)
        return [(o, o if self.memory else state, p) for o, p in self.known[state].items()]


class Threshold(Process):
    """`kind = "above_threshold"` on the answers of one data set: (threshold, answer, answer, ...)."""

    def __init__(self, table: Mapping[str, Any], at: Calculator) -> None:
        self.noisy = noise(table["threshold_noise"], at)
        self.answer = noise(table["query_noise"], at)
        count = len(table["queries"])
        self.answers = (_numbers(len(self.noisy)), *(_numbers(len(self.answer)) for _ in range(count)))

    def start(self, given: Input) -> list[tuple[State, Fraction]]:
        return [((r, given[1:]), p) for r, p in enumerate(self.noisy[int(given[0])])]

    def steps(self, state: State) -> Steps:
        if state == "end":
            return [("end", "end", Fraction(1))]
        level, left = state
        below = sum(self.answer[int(left[0])][:level], Fraction(0))
        following = (level, left[1:]) if left[1:] else "end"
        return [("⊥", following, below), ("⊤", "end", 1 - below)]


class Chosen(Process):
    """`kind = "above_threshold"` where an adversary chooses both answers; an input is (side, threshold)."""

    def __init__(self, table: Mapping[str, Any], at: Calculator) -> None:
        self.noisy = noise(table["threshold_noise"], at)
        self.answer = noise(table["query_noise"], at)
        self.answers = (_numbers(len(self.answer)),)
        self.joint: set[tuple[int, int]] = set()  # the reader of `[neighbours]` sets it

    def told(self, given: Input) -> str:
        """Returns the name of an input."""
        return f"{('left', 'right')[int(given[0])]} answers, threshold {given[1]}"

    def start(self, given: Input) -> list[tuple[State, Fraction]]:
        side, threshold = given
        return [((side, r), p) for r, p in enumerate(self.noisy[int(threshold)])]

    def steps(self, state: State) -> Steps:
        if state == "end":
            return [("end", "end", Fraction(1))]
        side, level = state
        found: Steps = []
        for pair in self.joint:
            below = sum(self.answer[pair[int(side)]][:level], Fraction(0))
            found += [(f"{pair[0]}{pair[1]}⊥", state, below), (f"{pair[0]}{pair[1]}⊤", "end", 1 - below)]
        return found


def read(table: Mapping[str, Any], at: Calculator) -> Process:
    """Reads `[mechanism]` at a point.

    Raises:
        Unread: a kind that this reader does not know.
    """
    kind, times = table["kind"], table.get("times", 1)
    if times != 1:
        return Repeated(read({k: v for k, v in table.items() if k != "times"}, at), int(times))
    if "labels" in table:
        return _labelled(table, at)
    if kind == "hmm":
        return TableProcess(table, at)
    if kind == "time_series":
        return Series(table, at)
    if kind == "geometric":
        rows = noise(table["noise"], at)
        return AnswerProcess((_numbers(len(rows)),), lambda given: _named(rows[int(given[0])]))
    if kind == "noisy_max":
        rows, count = noise(table["noise"], at), table["queries"]
        count = len(count) if isinstance(count, list) else int(count)
        first = table.get("ties", "uniform") == "first"
        if len(rows[0]) ** count > MAX_WAYS:
            raise UnreadCase("noisy max has too many answers")
        return AnswerProcess((_numbers(len(rows)),) * count, lambda given: _winners(rows, given, first))
    if kind == "randomized_response":
        return _response(table, at)
    if kind == "above_threshold":
        return (Threshold if "queries" in table else Chosen)(table, at)
    if kind == "release":
        return released(table, at)
    if kind == "parts":
        return Parts([(read(part, at), len(queries_of(part))) for part in table["parts"]])
    if kind == "program" and stream_loop(statements(table["source"])):
        return Streamed(table, at)
    if kind == "program":
        return AnswerProcess(tuple(InputPlaces(table["inputs"]).answers), outputs_at(table, at, read))
    raise UnreadCase(f"mechanisms of kind {kind!r:.40}")


def _labelled(table: Mapping[str, Any], at: Calculator) -> Process:
    """Reads a mechanism whose outputs have labels, each one of its own."""
    process = read({key: entry for key, entry in table.items() if key != "labels"}, at)
    labels: Mapping[str, str] = table["labels"]
    if not isinstance(process, AnswerProcess) or len(set(labels.values())) < len(labels):
        raise ValueError("labels that are not for one output each")
    numbered = process.outputs
    process.outputs = lambda given: {labels[name]: p for name, p in numbered(given).items()}
    return process


def released(table: Mapping[str, Any], at: Calculator) -> Process:
    """Reads `kind = "release"`: the value of an expression, perhaps with noise or by a table of chances."""
    names = list(table.get("inputs", {}))
    rows: dict[Value, Mapping[str, Fraction]] | None = None
    if "noise" in table:
        rows = {Fraction(k): _named(chances) for k, chances in enumerate(noise(table["noise"], at))}
    elif "table" in table:
        rows = {
            meaning(value): distribution((str(meaning(o)), at.number(p)) for o, p in given.items())
            for value, given in table["table"].items()
        }
        if len(rows) < len(table["table"]):
            raise ValueError("two rows for one value")

    def outputs(given: Input) -> Mapping[str, Fraction]:
        here = at.knowing(dict(zip(names, given, strict=True))) if names else at
        value = here.value(table["query"]) if names else given[0]
        return {str(value): Fraction(1)} if rows is None else rows[value]

    answers = tuple(InputPlaces(table["inputs"]).answers) if names else () if rows is None else (list(rows),)
    return AnswerProcess(answers, outputs)


def _response(table: Mapping[str, Any], at: Calculator) -> Process:
    values = [meaning(v) for v in table.get("values", [0, 1])]
    size = len(values)
    if len(set(values)) < size:
        raise ValueError("a value occurs twice")
    if "truth" in table:
        truth = at.number(table["truth"])
        other = (1 - truth) / (size - 1)
    else:
        other = (1 - at.number(table["coin"])) / size
        truth = at.number(table["coin"]) + other

    def outputs(given: Input) -> Mapping[str, Fraction]:
        return {str(v): truth if v == given[0] else other for v in values}

    return AnswerProcess((values,), outputs, "any", bool(table.get("memory", False)))


def _winners(rows: list[list[Fraction]], given: Input, first: bool) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {str(k + 1): Fraction(0) for k in range(len(given))}
    for noisy in product(range(len(rows[0])), repeat=len(given)):
        chance = Fraction(1)
        for answer, value in zip(given, noisy, strict=True):
            chance *= rows[int(answer)][value]
        if chance:
            best = [k for k, value in enumerate(noisy) if value == max(noisy)]
            for k in best[:1] if first else best:
                found[str(k + 1)] += chance / (1 if first else len(best))
    return found


def noise(table: Mapping[str, Any], at: Calculator) -> list[list[Fraction]]:
    """Reads noise on 0..range: rows[f][o] is the probability that f becomes o."""
    if "table" in table:
        rows = [[at.number(entry) for entry in given] for given in table["table"]]
    elif "truncated_geometric" not in table:
        raise UnreadCase(f"noise of the form {' and '.join(sorted(table))!r}")
    else:
        alpha, top = at.number(table["truncated_geometric"]), int(table["range"])
        rows = [
            [alpha ** abs(o - f) * (1 if o in (0, top) else 1 - alpha) / (1 + alpha) for o in range(top + 1)]
            for f in range(top + 1)
        ]
    for given in rows:
        check(given)
        if len(given) != len(rows[0]):
            raise ValueError("the rows of the noise have different lengths")
    return rows


def row(table: Mapping[str, Any], names: Sequence[str], at: Calculator) -> dict[str, Fraction]:
    """Reads a distribution over names, looked up by their exact text; those left out have no part in it."""
    for name in table:
        if name not in names:
            raise ValueError(f"{name!r} is not one of the names")
    return distribution((name, at.number(table[name])) for name in names if name in table)


def distribution(rows: Iterable[tuple[Key, Fraction]]) -> dict[Key, Fraction]:
    """Returns a distribution, in which no value occurs twice."""
    listed = list(rows)
    found = dict(listed)
    if len(found) < len(listed):
        raise ValueError("two names of a row are the same value")
    check(list(found.values()))
    return found


def check(chances: Sequence[Fraction]) -> None:
    """Raises a ValueError unless the numbers are a distribution."""
    if sum(chances) != 1 or min(chances) < 0:
        raise ValueError("a row is not a distribution")


def _named(chances: Sequence[Fraction]) -> dict[str, Fraction]:
    return {str(k): p for k, p in enumerate(chances)}


def _numbers(count: int) -> list[Value]:
    return [Fraction(k) for k in range(count)]
