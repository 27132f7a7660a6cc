"""Automata that read a stream of numbers, and their text form (`.dipa`), as the tool DiPAut of [Chadha23]
takes it.

    (q1:non-input, 1/4, 0): x := insample; output obot; goto q2
    (q2, 1/2, 0): if (insample < x) then output obot; goto q2 elseif (insample >= x) then output otop; goto q3

A state has its name, the rate d and the mean, and where it is used, rate and mean of `insample'` (also
written `insampleprime`). A state that is only gone to ends the run. Guards are tried in order: a transition
is taken if its guard is true and none before it is. The words `noise geometric` before the first state say
that noise is geometric; DiPAut has no such words. The text is data; nothing of it is run.

Automata that read a stream of numbers: states with noise, transitions with guards on stored noisy
values.

In a state with rate d and mean μ, `insample` is x + μ + Lap(1/(d·ε)) for the next number x of the stream; a
state that reads no input has x = 0. `insample'` has a rate and a mean of its own, and the same x. A
transition is taken if insample lies above some stored values and below others. It may store insample, and
it puts out a word, or insample, or insample' ([Chadha21], [Chadha23]: DiP automata).

Noise may be geometric instead: Pr(k) is proportional to exp(-d·ε·|k|) on whole numbers, and so are inputs and
means. Then two samples may be equal, and `<` and `<=` are different.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from paramverify.errors import InputError, LimitError, located
from paramverify.files import read_file

SAMPLE, SECOND = "insample", "insample'"  # outputs that are numbers
LAPLACE, GEOMETRIC = "laplace", "geometric"


@dataclass(frozen=True)
class State:
    """A control state: its name, whether it reads an input, and the rates d > 0 and means of its noise."""

    name: str
    reads: bool
    rate: Fraction
    mean: Fraction
    second: tuple[Fraction, Fraction] | None = None  # rate and mean of insample'
    line: int = 0


@dataclass(frozen=True)
class Transition:
    """A step: taken if insample lies above the stored values of `above` and below those of `below`.

    States and variables are known by their numbers. `stored` are the variables that keep insample. `strict`
    are the variables that insample may not be equal to; None for all, where ties have probability 0. A
    transition that no guard before it leaves anything has a variable above and below.
    """

    source: int
    target: int
    output: str
    above: frozenset[int] = frozenset()
    below: frozenset[int] = frozenset()
    stored: frozenset[int] = frozenset()
    line: int = 0
    strict: frozenset[int] | None = None

    @property
    def apart(self) -> frozenset[int]:
        """The variables that insample is not equal to, if the transition is taken."""
        return self.compared if self.strict is None else self.strict

    @property
    def never(self) -> bool:
        """Whether the guard contradicts itself: no run takes the transition."""
        return not self.above.isdisjoint(self.below & self.apart)

    @property
    def compared(self) -> frozenset[int]:
        """The variables that the guard reads."""
        return self.above | self.below

    @property
    def releases(self) -> bool:
        """Whether insample itself is put out."""
        return self.output == SAMPLE


@dataclass(frozen=True, eq=False)
class Automaton:
    """States, the names of variables, and the transitions in the order of the file.

    A run begins in state 0. It is `late` if it may draw or put out something that belongs to an entry before
    it reads this entry. Then a way may need one entry more than it reads.
    """

    states: tuple[State, ...]
    variables: tuple[str, ...]
    transitions: tuple[Transition, ...]
    noise: str = LAPLACE
    late: bool = False
    leaving: Mapping[int, tuple[int, ...]] = field(init=False)

    def __post_init__(self) -> None:
        leaving: dict[int, list[int]] = {k: [] for k in range(len(self.states))}
        for number, step in enumerate(self.transitions):
            leaving[step.source].append(number)
        object.__setattr__(self, "leaving", {k: tuple(v) for k, v in leaving.items()})

    @property
    def ends(self) -> tuple[State, ...]:
        """The states that no transition leaves. A run ends in those that it reaches (`orders.Graph.ends`)."""
        return tuple(state for k, state in enumerate(self.states) if not self.leaving[k])

    def state_of(self, step: Transition) -> State:
        """Returns the state that a transition leaves."""
        return self.states[step.source]

    def second_rate(self, step: Transition) -> Fraction:
        """Returns what the release of insample' costs for an input that moves by 1: its rate, or 0."""
        state = self.state_of(step)
        if step.output != SECOND or not state.reads or state.second is None:
            return Fraction(0)
        return state.second[0]

    def guard_text(self, step: Transition) -> str:
        """Returns the guard in the words of the file, "true" where there is none."""
        return " && ".join(f"{SAMPLE} {sign} {self.variables[v]}" for sign, v in comparisons(step)) or "true"


def comparisons(step: Transition) -> list[tuple[str, int]]:
    """Returns the comparisons of a guard: a sign, and the variable to the right of it."""
    above, below = (">=", ">"), ("<=", "<")
    if step.strict is None:
        above, below = (">=", ">="), ("<", "<")
    found = [(above[v in step.apart], v) for v in sorted(step.above)]
    return found + [(below[v in step.apart], v) for v in sorted(step.below)]


MAX_BYTES = 10_000_000
MAX_DIGITS = 60
MAX_STATES = 20_000
MAX_TRANSITIONS = 100_000
RESERVED = ("if", "then", "elseif", "goto", "output", "insample", "insampleprime", "Lap")
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
COMPARED = "compare with a stored value: store t := insample in a state before, and write insample < t"
FIRST = {  # what stands where a state should begin, and what to write
    "noise": "noise geometric has to stand before the first state",
    "else": "write elseif (...) then ..., with the comparison that is left",
    "elif": "write elseif (...) then ...",
    "if": "a state has one statement: write elseif (...) for further branches",
}
TOKEN = re.compile(
    r"(?P<blank>[ \t\r]+|\#[^\n]*)|(?P<line>\n)|(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<input>non-input)"
    r"|(?P<name>insample'|[A-Za-z_][A-Za-z_0-9]*)|(?P<sign>:=|<=|>=|&&|[():;,/<>-])"
)


@dataclass(frozen=True, eq=False)
class AutomatonFile:
    """The automaton of a file, which has the name of the file as its title and expects nothing."""

    title: str
    automaton: Automaton

    @property
    def expect(self) -> dict[str, Any]:
        """What the file expects: nothing, because such files have no place for that."""
        return {}


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int
    column: int


class _Mistake(InputError):
    """A mistake in a line of the text, and where it is known in a column."""

    def __init__(self, reason: str, line: int, column: int = 0, mend: str = "") -> None:
        place = f"line {line}, column {column}" if column else f"line {line}"
        super().__init__(f"{place}: {reason}", mend=mend)


def read_automaton(path: Path) -> Automaton:
    """Returns the automaton of a file.

    Raises:
        InputError: it cannot be read, or is no automaton; with the line.
        LimitError: it is too large.
    """
    with located(file=str(path)):
        try:
            text = read_file(path, MAX_BYTES, "an automaton").decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError("not UTF-8 text") from None
        return parse_automaton(text)


def parse_automaton(text: str) -> Automaton:
    """Returns the automaton of a text; see `read_automaton`."""
    return _Parser(list(_tokens(text))).automaton()


def _tokens(text: str) -> Iterator[_Token]:
    place, line, start = 0, 1, 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise _Mistake(f"{text[place]!r} is not expected", line, place - start + 1)
        column, place = place - start + 1, match.end()
        kind = str(match.lastgroup)
        if kind == "line":
            line, start = line + 1, place
        elif kind != "blank":
            yield _Token(kind, match[0], line, column)
    yield _Token("end", "the end of the text", line, place - start + 1)


@dataclass
class _NamedTransition:
    """A transition whose target is still a name."""

    output: str
    target: str
    guard: list[tuple[str, int]]
    stored: frozenset[int]
    line: int


class _Parser:
    """Goes through the tokens of a text once."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.place = tokens, 0
        self.variables: dict[str, int] = {}
        self.stored: set[int] = set()
        self.noise = LAPLACE

    @property
    def now(self) -> _Token:
        return self.tokens[self.place]

    def unexpected(self, what: str, mend: str = "") -> _Mistake:
        """Returns the error about the next token."""
        token = self.now
        return _Mistake(f"{what} is expected, not {token.text!r}", token.line, token.column, mend)

    def take(self, *texts: str, mend: str = "") -> _Token:
        """Takes one of these tokens."""
        token = self.now
        if token.text not in texts or token.kind == "end":
            raise self.unexpected(" or ".join(texts), mend)
        self.place += 1
        return token

    def has(self, text: str) -> bool:
        """Takes a token if it is there."""
        found = self.now.text == text and self.now.kind != "end"
        self.place += found
        return found

    def name(self, what: str, mend: str = "") -> _Token:
        token = self.now
        if token.kind != "name" or token.text in RESERVED or token.text.endswith("'"):
            raise self.unexpected(what, mend)
        self.place += 1
        return token

    def number(self) -> Fraction:
        sign = -1 if self.has("-") else 1
        token, below = self.digits(), Fraction(1)
        if self.has("/"):
            below = self.digits()
            if not below:
                raise _Mistake("a number is divided by zero", self.now.line)
        return sign * token / below

    def digits(self) -> Fraction:
        token = self.now
        if token.kind != "number" or len(token.text) > MAX_DIGITS:
            reason = f"a number such as 1/4 is expected, not {token.text[:MAX_DIGITS]!r}"
            raise _Mistake(reason, token.line, token.column)
        self.place += 1
        return Fraction(token.text)

    def variable(self, token: _Token) -> int:
        return self.variables.setdefault(token.text, len(self.variables))

    def automaton(self) -> Automaton:
        states: dict[str, State] = {}
        steps: dict[str, list[_NamedTransition]] = {}
        if self.has("noise"):
            self.noise = self.take(LAPLACE, GEOMETRIC).text
        while self.now.kind != "end":
            state = self.state()
            if state.name in states:
                raise _Mistake(f"the state {state.name} is there twice", state.line)
            states[state.name] = state
            steps[state.name] = self.statement(state)
        if not states:
            raise InputError("the text has no state")
        first = "q1" if "q1" in states else next(iter(states))
        order = [first, *(name for name in states if name != first)]
        ends = {
            step.target: step.line for found in steps.values() for step in found if step.target not in states
        }
        every = [states[n] for n in order] + [
            State(n, False, Fraction(1), Fraction(0), line=line) for n, line in ends.items()
        ]
        number = {state.name: k for k, state in enumerate(every)}
        ties = self.noise == GEOMETRIC
        found = [t for name in states for t in _transitions(steps[name], number[name], number, ties)]
        if len(every) > MAX_STATES or len(found) > MAX_TRANSITIONS:
            raise LimitError(f"{len(every):,} states and {len(found):,} transitions are too many")
        self.check_stored(found)
        return Automaton(tuple(every), tuple(self.variables), tuple(found), self.noise)

    def check_stored(self, found: list[Transition]) -> None:
        names = list(self.variables)
        for step in found:
            for variable in sorted(step.compared - self.stored) if not step.never else ():
                raise _Mistake(f"{names[variable]} is compared, and nothing is stored in it", step.line)

    def state(self) -> State:
        line = self.take("(", mend=FIRST.get(self.now.text, "")).line
        name = self.name("the name of a state").text
        reads = True
        if self.has(":"):
            self.take("non-input")
            reads = False
        numbers: list[Fraction] = []
        while not self.has(")"):
            self.take(",")
            numbers.append(self.number())
        if len(numbers) not in (2, 4):
            reason = (
                f"{name} needs a rate and a mean, or four numbers with those of insample', not {len(numbers)}"
            )
            raise _Mistake(reason, line)
        if any(rate <= 0 for rate in numbers[::2]):
            raise _Mistake(f"the rate of {name} must be positive", line)
        if self.noise == GEOMETRIC and any(mean.denominator > 1 for mean in numbers[1::2]):
            raise _Mistake(f"the mean of {name} must be a whole number, as geometric noise is", line)
        self.take(":")
        second = (numbers[2], numbers[3]) if len(numbers) == 4 else None
        return State(name, reads, numbers[0], numbers[1], second=second, line=line)

    def statement(self, state: State) -> list[_NamedTransition]:
        if not self.has("if"):
            return [self.step([], state)]
        found = [self.branch(state)]
        while self.has("elseif"):
            found.append(self.branch(state))
        return found

    def branch(self, state: State) -> _NamedTransition:
        guard: list[tuple[str, int]] = []
        self.take("(", mend="a guard stands in brackets: if (insample < t) then ...")
        while True:
            self.take(SAMPLE, mend=self.turned())
            sign = self.take("<", "<=", ">", ">=").text
            guard.append((sign, self.variable(self.name("a variable", COMPARED))))
            if not self.has("&&"):
                break
        self.take(")")
        self.take("then", mend="write if (...) then output ...; goto ...")
        return self.step(guard, state)

    def step(self, guard: list[tuple[str, int]], state: State) -> _NamedTransition:
        stored: set[int] = set()
        line = self.now.line
        if self.now.text != "output":
            while True:
                stored.add(self.variable(self.name("a variable")))
                self.take(":=")
                self.take(SAMPLE)
                if not self.has(","):
                    break
            self.take(";")
        self.stored |= stored
        self.take("output")
        output = self.output(state)
        self.take(";")
        self.take("goto")
        target = self.name("the name of a state").text
        self.has(";")
        return _NamedTransition(output, target, guard, frozenset(stored), line)

    def turned(self) -> str:
        """Returns what to write for a comparison whose left side is a variable."""
        variable, sign, *_ = self.tokens[self.place :] + self.tokens[-1:]
        if variable.kind != "name" or sign.text not in TURNED:
            return ""
        return f"write insample {TURNED[sign.text]} {variable.text}"

    def output(self, state: State) -> str:
        if self.has(SAMPLE):
            return SAMPLE
        if self.has(SECOND) or self.has("insampleprime"):
            if state.second is None:
                raise _Mistake(f"{state.name} has no rate and no mean for {SECOND}", self.now.line)
            return SECOND
        return self.name("an output").text


def _transitions(
    steps: list[_NamedTransition], source: int, number: dict[str, int], ties: bool
) -> list[Transition]:
    """Returns the transitions of a state, each with what keeps the guards before it from being true.

    A guard of several comparisons is excluded where only one of them does not follow from the later guard. A
    later guard from which all of them follow is never reached: it gets the contrary of one of them, and
    contradicts itself. `ties` tells whether samples may be equal.
    """
    found: list[Transition] = []
    guards: list[_Guard] = []
    for step in steps:
        guard = _Guard(
            {v for sign, v in step.guard if sign[0] == ">"},
            {v for sign, v in step.guard if sign[0] == "<"},
            {v for sign, v in step.guard if not ties or len(sign) == 1},
        )
        for other in guards:
            guard.exclude(other, ties)
        guards.append(guard)
        found.append(
            Transition(
                source,
                number[step.target],
                step.output,
                frozenset(guard.above),
                frozenset(guard.below),
                stored=step.stored,
                line=step.line,
                strict=frozenset(guard.strict) if ties else None,
            )
        )
    return found


@dataclass
class _Guard:
    """Variables that insample lies above and below, and those that it is not equal to."""

    above: set[int]
    below: set[int]
    strict: set[int]

    def exclude(self, other: _Guard, ties: bool) -> None:
        """Adds the contrary of what another guard says more than this one, if that is one comparison."""
        if (self.above | other.above) & (self.below | other.below) & (self.strict | other.strict):
            return
        more = [(v, True) for v in sorted(other.above) if not self.follows(v, self.above, other)]
        more += [(v, False) for v in sorted(other.below) if not self.follows(v, self.below, other)]
        if not more:  # this guard is never true: one comparison and its contrary
            more = [(v, True) for v in sorted(other.above)[:1]] or [
                (v, False) for v in sorted(other.below)[:1]
            ]
        if len(more) > 1:
            return
        for variable, upwards in more:
            (self.below if upwards else self.above).add(variable)
            if not ties or variable not in other.strict:  # the contrary of <= is >, that of < is >=
                self.strict.add(variable)

    def follows(self, variable: int, side: set[int], other: _Guard) -> bool:
        """Tells whether this guard says as much of a variable as the other one."""
        return variable in side and (variable in self.strict or variable not in other.strict)
