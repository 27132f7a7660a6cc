"""A second reading of cases about streams: the program and the automaton of the evidence, side by side.

The program runs from each state of the automaton that is reached (`second_stream_turns`). Each draw, each
comparison, each stored value and each output has to be that of the automaton. Standard library only, and no
code of the first reader.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from . import second_automata
from .second_numbers import Calculator
from .second_stream_turns import ProgramTurn, StreamProgram, TurnSegment
from .second_stream_values import NUMBERS, Eps
from .second_turns import frozen
from .strict import Rejected, UnreadCase

MAX_PAIRS = 20_000

Place = tuple[Any, tuple[bool, ...], int]  # the variables before a turn, the answers, and the draws until now


def variables(start: dict[str, Any] | None) -> Any:
    """Returns variables as something that can be a key."""
    return None if start is None else tuple(sorted((name, frozen(value)) for name, value in start.items()))


class SideBySide:
    """The automaton of a document, and the program."""

    def __init__(self, program: StreamProgram, data: Any) -> None:
        self.program, self.data = program, data
        self.starts: dict[Any, dict[str, Any] | None] = {}
        self.late = False  # whether a turn draws, or puts out something, before it draws its entry

    def beginning(self, start: dict[str, Any] | None) -> tuple[Place | None, list[str]]:
        """Returns the place of the first draw from a start, and what is put out before it."""
        told: list[str] = []
        for _ in range(2):
            turn = ProgramTurn(self.program, start, ()).go()
            self.starts[variables(start)] = start
            told += turn.segments[0].told
            draws = [segment.kind for segment in turn.segments[1:]]
            if start is not None and (turn.segments[0].told or (draws and not (draws[0] and draws[0].entry))):
                self.late = True
            if len(turn.segments) > 1:
                return (variables(start), (), 1), told
            if turn.over:
                return None, told
            start = turn.after()
        raise Rejected("a turn of the stream draws nothing")

    def compare(self) -> int:
        """Goes through both, and returns how many places of the program were compared.

        Raises:
            Rejected: they differ.
        """
        first, _ = self.beginning(None)
        seen: dict[tuple[int, Place | None], None] = {(0, first): None}
        for state, place in seen_in_order(seen):
            for following in self.at(state, place):
                seen.setdefault(following)
            if len(seen) > MAX_PAIRS:
                raise UnreadCase("a program with too many states")
        if self.data.get("late", False) is not self.late:
            raise Rejected("whether a run draws before it reads an entry is told wrongly")
        return len(seen)

    def at(self, state: int, place: Place | None) -> list[tuple[int, Place | None]]:
        """Compares what happens at a place with the transitions of a state; returns where both go on."""
        data, names = self.data["states"][state], self.data["variables"]
        leaving = [t for t in self.data["transitions"] if t["source"] == state]
        if place is None:
            if leaving:
                raise Rejected(f"the program ends where the automaton is in {data['name']}")
            return []
        found: dict[Any, tuple[TurnSegment, list[str], Place | None]] = {}
        for turn in self.program.turns(self.starts[place[0]], place[1]):
            segment = turn.segments[place[2]]
            until = sum(len(s.guards) for s in turn.segments[: place[2] + 1])
            told = list(segment.told)
            if len(turn.segments) > place[2] + 1:
                target: Place | None = (place[0], tuple(turn.answers[:until]), place[2] + 1)
            elif turn.over:
                target = None
            else:
                target, more = self.beginning(turn.after())
                told += more
            found[tuple(sorted(segment.guards))] = (segment, told, target)
        kinds = {segment.kind for segment, _, _ in found.values()}
        seconds = {segment.second for segment, _, _ in found.values()} - {None}
        if len(kinds) != 1 or len(seconds) > 1:
            raise Rejected("a place of the program draws in two ways")
        kind, second = kinds.pop(), seconds.pop() if seconds else None
        if kind is None or (data["reads"], data["rate"], data["mean"]) != (
            bool(kind.entry),
            str(kind.rates[0]),
            str(kind.number),
        ):
            raise Rejected(f"the automaton draws something else in {data['name']}")
        if data["second"] != (None if second is None else [str(second.rates[0]), str(second.number)]):
            raise Rejected(f"the automaton puts out something else in {data['name']}")
        guards = [
            {**{names[v]: True for v in t["above"]}, **{names[v]: False for v in t["below"]}} for t in leaving
        ]
        divided(guards, data["name"])
        leaves = [[found[leaf] for leaf in found if not contrary(dict(leaf), guard)] for guard in guards]
        outputs = spoken([own[0][1] for own in leaves])
        following = []
        for t, own, output in zip(leaving, leaves, outputs, strict=True):
            segment, told, target = own[0]
            for other, words, end in own[1:]:
                if (other.stored, other.second, words, end) != (segment.stored, segment.second, told, target):
                    raise Rejected(f"the automaton leaves out a comparison in {data['name']}")
            if {names[v] for v in t["stored"]} != segment.stored or t["output"] != output:
                raise Rejected(f"the automaton stores or puts out something else in {data['name']}")
            following.append((t["target"], target))
        return following


def contrary(one: dict[str, bool], other: dict[str, bool]) -> bool:
    """Tells whether two guards say the contrary of one value."""
    return any(other.get(name, above) is not above for name, above in one.items())


def divided(guards: Sequence[dict[str, bool]], name: str) -> None:
    """Checks that of all outcomes of the comparisons each fits one guard.

    No two guards fit together, and a guard of n comparisons fits a share of 2^-n of all outcomes.
    """
    apart = all(contrary(one, other) for k, one in enumerate(guards) for other in guards[:k])
    if not apart or sum(Fraction(1, 2 ** len(guard)) for guard in guards) != 1:
        raise Rejected(f"the automaton compares something else in {name}")


def seen_in_order(seen: dict[tuple[int, Place | None], None]) -> Iterator[tuple[int, Place | None]]:
    """Yields the entries of a dictionary that grows."""
    done = 0
    while done < len(seen):
        for entry in list(seen)[done:]:
            done += 1
            yield entry


def spoken(told: Sequence[Sequence[str]]) -> list[str]:
    """Returns the output of each branch: one and the same where outputs do not tell which one it was."""
    plain = [["" if w in NUMBERS else w for w in words] for words in told]
    apart = all(
        any(a != b for a, b in zip(one, other, strict=False))
        for k, one in enumerate(plain)
        for other in plain[:k]
    )
    numbers = [[w for w in words if w in NUMBERS] for words in told]
    if any(len(n) > 1 for n in numbers) or (not apart and any(numbers)):
        raise Rejected("numbers are put out that do not tell the branch")
    if not apart:
        return ["(not told apart)"] * len(told)
    return [n[0] if n else ", ".join(words) or "(nothing)" for n, words in zip(numbers, told, strict=True)]


def fixed(given: Any) -> Fraction:
    """Returns a parameter that is one number: `1/2`, `[1/2, 1/2]`, or a table with such an `in`."""
    text = str(given.get("in") if isinstance(given, dict) else given).strip()
    ends = text[1:-1].split(",") if text.startswith("[") and text.endswith("]") else [text]
    found = {Fraction(end.strip()) for end in ends}
    if len(found) != 1:
        raise UnreadCase("a parameter that is no number")
    return found.pop()


def claimed(data: Any, constants: dict[str, Any]) -> dict[str, Any]:
    """Returns what a case claims: its budget, and which streams are neighbours."""
    numbers = {name: value for name, value in constants.items() if not isinstance(value, Eps)}
    steps = {name: Fraction(1) for name, value in constants.items() if isinstance(value, Eps)}
    given = data["privacy"]["epsilon"]
    budget = Calculator(numbers, None, Fraction(1), steps=steps).linear(
        given if isinstance(given, str) else str(given)
    )
    multiple = sum((budget.get(name, Fraction(0)) for name in steps), Fraction(0))
    plus, by = budget.get("", Fraction(0)), data["neighbours"].get("by", 1)
    told: dict[str, Any] = {"multiple": str(multiple), "differ": data["neighbours"]["differ"]}
    return told | ({"plus": str(plus)} if plus else {}) | ({"by": str(by)} if str(by) != "1" else {})


def agreed(document: Any, said: dict[str, Any]) -> str:
    """Returns what of a claim agrees with that of a document: of a budget only which streams are compared.

    Raises:
        Rejected: it does not agree.
    """
    about = "streams" if "streams" in document else "claim"
    if about == "streams":
        said = {name: value for name, value in said.items() if name not in ("multiple", "plus")}
    if document.get(about) != said:
        raise Rejected("the evidence is about another budget, or other neighbours")
    return "the streams" if about == "streams" else "the budget"


def entry_values(program: StreamProgram) -> set[Fraction]:
    """Returns the values of an entry of the stream: a list, or a range in words."""
    if isinstance(program.values, ast.Constant):
        low, high = (int(end) for end in str(program.values.value).split(".."))
        return {Fraction(k) for k in range(low, high + 1)}
    listed = ProgramTurn(program, None, ()).of(program.values)
    if not isinstance(listed, list) or not all(isinstance(v, Fraction) for v in listed):
        raise UnreadCase("values of a stream that are no numbers")
    return set(listed)


def compare_stream(document: Any, content: str, folder: Path) -> str:
    """Compares evidence about an automaton with a case file that has a program, or names an automaton.

    Raises:
        Rejected: they differ. Unread: this reader does not know something in the case.
    """
    data = tomllib.loads(content, parse_float=Fraction)
    constants: dict[str, Any] = {}
    for name, value in data["parameters"].items():
        if isinstance(value, str) and value.replace(" ", "") in ("(0,oo)", "(0,inf)"):
            constants[name] = Eps(Fraction(1), 1)
        else:
            constants[name] = fixed(value)
    said = claimed(data, constants)
    if "automaton" in data:
        about = agreed(document, said)
        text = (folder / data["automaton"]["file"]).read_text(encoding="utf-8-sig")
        return f"{about}, {second_automata.compare(document['automaton'], text)}"
    made = data["mechanism"]
    text = made["source"] if "source" in made else (folder / made["file"]).read_text(encoding="utf-8-sig")
    program = StreamProgram(text, constants)
    if not program.any_number:
        said["values"] = [str(value) for value in sorted(entry_values(program))]
    about = agreed(document, said)
    count = SideBySide(program, document["automaton"]).compare()
    return f"the automaton and {about} agree with the program, at {count} places"
