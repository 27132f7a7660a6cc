"""What a run of a program did, event by event, and the words for it."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from paramverify.models.programs.comparing import now
from paramverify.models.programs.measure import Linear
from paramverify.models.programs.syntax import Place
from paramverify.models.programs.values import ProgramState, Value

OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_MARK = "\x00"  # around the number of noise, behind the name of a variable, until the whole run is known
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True)
class TraceEvent:
    """What a run does at a place, in words; `key` is what it has in common with runs on other inputs.

    `starts` tells whether a step starts with it, also in the line of the one before.
    """

    key: Hashable
    place: Place
    words: str = ""
    starts: bool = False


@dataclass(frozen=True)
class BranchEvent(TraceEvent):
    """A branch that a run takes, or does not take."""

    truth: bool = True


@dataclass(frozen=True)
class TurnEvent(TraceEvent):
    """A turn of a loop; its words say what the loop gives."""


@dataclass(frozen=True)
class PartEvent(TraceEvent):
    """The outcome of a part of an expression: no line has it as its own."""


@dataclass(frozen=True)
class DrawEvent(TraceEvent):
    """Noise that a run draws: its number."""

    noise: int = 0


@dataclass(frozen=True)
class _Joined:
    """Noise that stands for the sum of two others."""

    total: int
    parts: tuple[int, int]


def keys_of(trace: Iterable[object]) -> tuple[Hashable, ...]:
    """Returns what a path has in common with one on another input."""
    return tuple(event.key for event in trace if isinstance(event, TraceEvent))


def comparison(text: str, value: Linear, word: str, state: ProgramState, line: int) -> str:
    """Returns `value word 0` in words: noise is told by a variable that has it now, or by its draw."""
    value = _expanded(now(value, state), state)
    known = _variables(state)
    constant = value.constant
    sides: tuple[list[str], list[str]] = ([], [])
    for name, slope in value.slopes:
        label, moved = known.get(name) or (_draw(text, name, state, line), Fraction(0))
        label += f"{_MARK}{name}{_MARK}" if name in known else ""
        constant -= slope * moved
        factor = "" if abs(slope) == 1 else f"{abs(slope)}*"
        sides[slope < 0].append(factor + (f"({label})" if factor and " " in label else label))
    if not sides[0]:
        sides, word, constant = (sides[1], []), _TURNED[word], -constant
    left, right = (
        " + ".join(f"({s})" if len(side) > 1 and " at " in s else s for s in side) for side in sides
    )
    if not right:
        return f"{left} {word} {-constant}"
    if not constant:
        return f"{left} {word} {right}"
    right = f"({right})" if " at " in right and len(sides[1]) == 1 else right
    return f"{left} {word} {right} {'+' if constant < 0 else '-'} {abs(constant)}"


def _expanded(value: Value, state: ProgramState) -> Linear:
    """Returns a number by the noise that was drawn: sums are told by their parts."""
    joined = {e.total: e.parts for e in state.trace if isinstance(e, _Joined)}
    assert isinstance(value, Linear)
    while True:
        total = next((name for name in value.names if name in joined), None)
        if total is None:
            return value
        slope = dict(value.slopes)[total]
        found: Linear | Fraction = Linear(value.slopes, value.constant)
        for part, times in ((total, -slope), *((part, slope) for part in joined[total])):
            one = Linear(((part, Fraction(1)),))
            found = found.plus(one, times) if isinstance(found, Linear) else one.scaled(times)
        assert isinstance(found, Linear)
        value = found


def _variables(state: ProgramState) -> dict[int, tuple[str, Fraction]]:
    """Returns for noise a variable that is it and a number, with the number."""
    found: dict[int, tuple[str, Fraction]] = {}
    pending = [(n, now(v, state)) for n, v in sorted(state.values.items()) if n.isidentifier()]
    while pending:
        name, value = pending.pop(0)
        if isinstance(value, tuple):
            pending += [(f"{name}[{k}]", entry) for k, entry in enumerate(value)]
        elif isinstance(value, Linear) and len(value.slopes) == 1 and value.slopes[0][1] == 1:
            found.setdefault(value.names[0], (name, value.constant))
    return found


def _draw(text: str, noise: int, state: ProgramState, line: int) -> str:
    """Returns the words for noise that no variable has: its call, with the line if that is not this one."""
    drawn = [event for event in state.trace if isinstance(event, DrawEvent)]
    event = next((e for e in drawn if e.noise == noise), None)
    if event is None:
        return "noise"
    call, at = segments(text).get(event.place, "the noise"), event.place.line
    alike = [e for e in drawn if e.place.line == at and segments(text).get(e.place) == call]
    apart = len({e.place for e in alike}) > 1
    if at == line and event is alike[-1] and not apart:
        return call
    return (
        f"{call} at line {at}" if len(alike) == 1 else f"draw {alike.index(event) + 1} of {call} at line {at}"
    )


def settled(words: str, trace: Iterable[object]) -> str:
    """Returns words in which noise that one line draws several times has the turn of its loop, or a number.

    `trace` is that of the whole run. So two draws that one variable has, one after the other, are told apart.
    """
    parts = words.split(_MARK)
    if len(parts) == 1:
        return words
    marks = _turns([event for event in trace if isinstance(event, TraceEvent)])
    return "".join(marks.get(int(part), "") if k % 2 else part for k, part in enumerate(parts))


def _turns(events: Iterable[TraceEvent]) -> dict[int, str]:
    """Returns what tells noise apart from other draws at the same place: `" (i = 1)"` or `" (draw 2)"`."""
    found: dict[Place, list[tuple[int, str]]] = {}
    turn = ""
    for event in events:
        if isinstance(event, TurnEvent):
            turn = event.words
        elif isinstance(event, DrawEvent):
            found.setdefault(event.place, []).append((event.noise, turn))
    marks = {}
    for drawn in found.values():
        turns = [told for _, told in drawn]
        apart = all(turns) and len(set(turns)) == len(turns)
        for number, (noise, told) in enumerate(drawn, start=1):
            if len(drawn) > 1:
                marks[noise] = f" ({told if apart else f'draw {number}'})"
    return marks


def noted(before: ProgramState, after: ProgramState, event: TraceEvent) -> ProgramState:
    """Returns a state with one more event; what was noted on the way to it is left out."""
    joined = []
    for gone, alias in after.aliases.items():
        if gone not in before.aliases:
            slopes = dict(alias.slopes)
            (kept,), (total,) = ([n for n, k in slopes.items() if k == sign] for sign in (-1, 1))
            joined.append(_Joined(total, (gone, kept)))
    return replace(after, trace=(*before.trace, *joined, event))


def last_only(before: ProgramState, after: ProgramState) -> ProgramState:
    """Returns a state whose last event says what the other new ones do."""
    new = after.trace[len(before.trace) :]
    events = [e for e in new if isinstance(e, TraceEvent)]
    kept = [e for e in new if not isinstance(e, TraceEvent)]
    return replace(after, trace=(*before.trace, *kept, *events[-1:]))


@lru_cache(maxsize=8)
def segments(text: str) -> Mapping[Place, str]:
    """Returns the text of each call in a program, by its place."""
    lines = text.split("\n")
    found: dict[Place, str] = {}
    for tree in ast.walk(ast.parse(text)):
        if isinstance(tree, ast.Call):
            column = len(lines[tree.lineno - 1].encode()[: tree.col_offset].decode())
            found[Place(tree.lineno, column)] = " ".join((ast.get_source_segment(text, tree) or "").split())
    return found


def plain(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(plain, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)
