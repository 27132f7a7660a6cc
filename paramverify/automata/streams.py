"""Stream programs as automata: exactly the same outputs, with the same probabilities.

A turn is the work on one entry of the stream. Its comparisons branch, and all branches are run
(`stream_runs`). What the variables have between two turns is a *head*; there are finitely many, or the
program is refused. A draw in a turn is a state of the automaton, known by the head and by the draws and
the outcomes of comparisons before it. What follows until the next draw is a transition. Its output has the
words that are put out until then, also those at the beginning of the next turn: nothing is drawn in between.
So a way that reads n entries may need the entry n + 1: such an automaton is `late`.

**Outputs tell the way** if from each state no word sequence begins with another one: then the words that
are put out say which transition was taken, one after another. States for which that is not so get one word
for all their transitions, "(not told apart)", so that nothing is said to be violated by them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from paramverify.automata.automaton import SAMPLE, SECOND, Automaton, State, Transition
from paramverify.automata.stream_runs import Segment, StreamTurn
from paramverify.automata.stream_values import Sum, Value
from paramverify.errors import LimitError, ProgramError
from paramverify.models.programs.runs import key
from paramverify.models.programs.streams import Stream
from paramverify.models.programs.syntax import Assign, Place, Statement, every_statement

MAX_HEADS = 2_000
MAX_TURNS = 20_000
NOTHING, CONFUSED = "(nothing)", "(not told apart)"

Head = tuple[tuple[str, Value], ...] | None  # the variables between two turns; None before the stream
Where = tuple[int, tuple[bool, ...], int]  # a head, the comparisons before a draw, and how many draws


@dataclass(frozen=True)
class _OpenTransition:
    """A transition whose states are not numbered yet; no target is the end."""

    source: Where
    target: Where | None
    words: tuple[str, ...]
    segment: Segment


@dataclass(eq=False)
class _Turns:
    """All turns of a program: the heads, and what happens from each."""

    stream: Stream
    parameters: Mapping[str, Value]
    numbers: dict[Hashable, int] = field(default_factory=dict)  # of heads, by `key`: True is not 1
    turns: dict[int, list[StreamTurn]] = field(default_factory=dict)
    gone: dict[str, Place] = field(default_factory=dict)  # variables with an entry, which no later turn has

    def explore(self) -> None:
        """Runs all turns from all heads.

        Raises:
            LimitError: there are too many.
        """
        waiting: list[Head] = [None]
        self.numbers[key(None)] = 0
        count = 0
        for head in waiting:
            found = self.from_head(head)
            self.turns[self.numbers[key(head)]] = found
            count += len(found)
            for turn in found:
                following = turn.left()
                self.gone |= turn.lost()
                if not turn.ended and key(following) not in self.numbers:
                    self.numbers[key(following)] = len(self.numbers)
                    waiting.append(following)
            if len(self.numbers) > MAX_HEADS or count > MAX_TURNS:
                raise LimitError(self.too_many(waiting))

    def too_many(self, heads: Sequence[Head]) -> str:
        """Returns why there are too many turns: the variable that has most values, and its line."""
        values: dict[str, set[Hashable]] = {}
        for head in heads:
            for name, value in head or ():
                values.setdefault(name, set()).add(key(value))
        name = max(values, key=lambda n: len(values[n]), default="")
        assigned = [s for s in every_statement(self.stream.body) if isinstance(s, Assign) and name in s.names]
        if len(self.numbers) <= MAX_HEADS or not assigned:
            reason = f"between two entries the variables have more than {MAX_HEADS:,} values together"
            return f"{reason}, or there are too many comparisons: stop before a count grows without end"
        grows = f"{name} has {len(values[name]):,} values and more; stop before it grows"
        return f"line {assigned[-1].place.line} of the program: {grows}: if {name} == 3: stop"

    def from_head(self, head: Head) -> list[StreamTurn]:
        """Returns the turns from a head, for all outcomes of comparisons."""
        body: Sequence[Statement] = self.stream.setup if head is None else self.stream.body
        entry = "" if head is None else self.stream.name
        pending: list[tuple[bool, ...]] = [()]
        found = []
        while pending:
            given = pending.pop()
            turn = StreamTurn(self.stream.program.text, self.parameters, dict(head or ()), entry, given)
            turn.gone = self.gone
            found.append(turn.run(body, self.stream.place))
            for k in range(len(given), len(turn.decisions)):
                pending.append((*turn.decisions[:k], False))
            if len(found) + len(pending) > MAX_TURNS:
                raise LimitError(
                    f"the comparisons of one entry have more than {MAX_TURNS:,} outcomes together"
                )
        return found

    @property
    def late(self) -> bool:
        """Whether some turn puts out a word, or draws, before it draws its entry."""
        for number, turns in self.turns.items():
            first, *draws = turns[0].segments  # all turns begin alike
            if number and (first.words or (draws and draws[0].draw is not None and not draws[0].draw.reads)):
                return True
        return False

    def beginning(self, number: int) -> tuple[Where | None, tuple[str, ...]]:
        """Returns the first draw from a head, with the words before it; before the stream may be none."""
        turn = self.turns[number][0]  # nothing is compared before a draw: all turns begin alike
        words = tuple(turn.segments[0].words)
        if len(turn.segments) > 1:
            return (number, (), 1), words
        if turn.ended:
            return None, words
        where, more = self.beginning(self.numbers[key(turn.left())])
        return where, (*words, *more)

    def steps(self) -> list[_OpenTransition]:
        """Returns all transitions, each once."""
        found: dict[tuple[Where, tuple[bool, ...]], _OpenTransition] = {}
        for number, turns in sorted(self.turns.items()):
            for turn in turns:
                for k, segment in enumerate(turn.segments[1:], start=2):
                    source = number, tuple(turn.decisions[: segment.before]), k - 1
                    words, target = tuple(segment.words), None
                    last = k == len(turn.segments)
                    until = len(turn.decisions) if last else turn.segments[k].before
                    if not last:
                        target = number, tuple(turn.decisions[:until]), k
                    elif not turn.ended:
                        target, more = self.beginning(self.numbers[key(turn.left())])
                        words = (*words, *more)
                    taken = source, tuple(turn.decisions[segment.before : until])
                    found.setdefault(taken, _OpenTransition(source, target, words, segment))
        return list(found.values())


def translate(stream: Stream, parameters: Mapping[str, Value]) -> Automaton:
    """Returns the automaton of a stream program; `parameters` are those of the case.

    Raises:
        ProgramError: something that no automaton does, with the place and what to write instead.
        LimitError: too many values of the variables.
    """
    turns = _Turns(stream, parameters)
    turns.explore()
    first, _ = turns.beginning(0)
    steps = turns.steps()
    leaving: dict[Where, list[_OpenTransition]] = {} if first is None else {first: []}
    for step in steps:
        leaving.setdefault(step.source, []).append(step)
    leaving = {where: _merged(found) for where, found in leaving.items()}
    steps = [step for found in leaving.values() for step in found]
    number = {where: k for k, where in enumerate(leaving)}
    states = [_state(where, found, stream) for where, found in leaving.items()]
    names = [_name(state.line, states[:k]) for k, state in enumerate(states)]
    states = [replace(s, name=n) for n, s in zip(names, states, strict=True)]
    ends = [State("end", False, Fraction(1), Fraction(0))]
    variables = sorted({v for step in steps for v in (*step.segment.stored, *step.segment.guards)})
    at = {name: k for k, name in enumerate(variables)}
    made = []
    for where, found in leaving.items():
        for step, output in zip(found, _outputs(found, stream), strict=True):
            guards = step.segment.guards
            made.append(
                Transition(
                    number[where],
                    len(states) if step.target is None else number[step.target],
                    output,
                    above=frozenset(at[v] for v, above in guards.items() if above),
                    below=frozenset(at[v] for v, above in guards.items() if not above),
                    stored=frozenset(at[v] for v in step.segment.stored),
                    line=step.segment.place.line,
                )
            )
    return Automaton((*states, *ends), tuple(variables), tuple(made), late=turns.late)


def _merged(steps: Sequence[_OpenTransition]) -> list[_OpenTransition]:
    """Returns transitions in which comparisons are left out that change nothing."""
    found = list(steps)
    while True:
        pairs = ((k, j, _without(found[k], found[j])) for j in range(len(found)) for k in range(j))
        joined = next(((k, j, both) for k, j, both in pairs if both is not None), None)
        if joined is None:
            return found
        k, j, both = joined
        found = [*found[:k], both, *found[k + 1 : j], *found[j + 1 :]]


def _without(one: _OpenTransition, other: _OpenTransition) -> _OpenTransition | None:
    """Returns one transition for two that differ in the outcome of one comparison only; None else."""
    mine, theirs = one.segment, other.segment
    same = (one.target, one.words, mine.stored, mine.second) == (
        other.target,
        other.words,
        theirs.stored,
        theirs.second,
    )
    if not same or mine.guards.keys() != theirs.guards.keys():
        return None
    differing = [name for name, above in mine.guards.items() if theirs.guards[name] is not above]
    if len(differing) != 1:
        return None
    guards = {name: above for name, above in mine.guards.items() if name not in differing}
    return replace(one, segment=replace(mine, guards=guards))


def _name(line: int, before: Sequence[State]) -> str:
    same = sum(state.line == line for state in before)
    return f"line{line}" if not same else f"line{line}_{same + 1}"


def _state(where: Where, found: Sequence[_OpenTransition], stream: Stream) -> State:
    draw, place = found[0].segment.draw, found[0].segment.place
    assert draw is not None
    assert draw.rate is not None
    seconds = {step.segment.second for step in found} - {None}
    if len(seconds) > 1:
        reason = "two branches put out the entry with different noise: use the same scale and mean in both"
        raise ProgramError(reason, stream.program.text, *place)
    second: Sum | None = next(iter(seconds), None)
    pair = None if second is None or second.rate is None else (second.rate, second.mean)
    return State(str(where), draw.reads, draw.rate, draw.mean, second=pair, line=place.line)


def _outputs(found: Sequence[_OpenTransition], stream: Stream) -> list[str]:
    """Returns the output of each transition of a state: its words, or its number."""
    told = [tuple("" if w in (SAMPLE, SECOND) else w for w in step.words) for step in found]
    numbers = [[w for w in step.words if w in (SAMPLE, SECOND)] for step in found]
    begins = any(
        one == other[: len(one)] for k, one in enumerate(told) for j, other in enumerate(told) if j != k
    )
    place = found[0].segment.place
    if any(len(own) > 1 for own in numbers):
        raise ProgramError("two numbers are put out after one draw", stream.program.text, *place)
    if begins and any(numbers):
        reason = (
            "a branch puts out a number, and outputs do not tell which branch it is: put out a word first"
        )
        raise ProgramError(reason, stream.program.text, *place)
    if begins:
        return [CONFUSED] * len(found)
    return [
        own[0] if own else ", ".join(step.words) or NOTHING for step, own in zip(found, numbers, strict=True)
    ]
