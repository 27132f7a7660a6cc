"""Automata that read a stream of numbers: states with noise, transitions with guards on stored noisy
values.

In a state with rate d and mean μ, `insample` is x + μ + Lap(1/(d·ε)) for the next number x of the stream; a
state that reads no input has x = 0. `insample'` has a rate and a mean of its own, and the same x. A
transition is taken if insample lies above some stored values and below others. It may store insample, and
it puts out a word, or insample, or insample' ([Chadha21], [Chadha23]: DiP automata).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

SAMPLE, SECOND = "insample", "insample'"  # outputs that are numbers


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

    States and variables are known by their numbers. `stored` are the variables that keep insample.
    """

    source: int
    target: int
    output: str
    above: frozenset[int] = frozenset()
    below: frozenset[int] = frozenset()
    stored: frozenset[int] = frozenset()
    line: int = 0

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
    """States, the names of variables, and the transitions in the order of the file; state 0 is the first."""

    states: tuple[State, ...]
    variables: tuple[str, ...]
    transitions: tuple[Transition, ...]
    leaving: Mapping[int, tuple[int, ...]] = field(init=False)

    def __post_init__(self) -> None:
        leaving: dict[int, list[int]] = {k: [] for k in range(len(self.states))}
        for number, step in enumerate(self.transitions):
            leaving[step.source].append(number)
        object.__setattr__(self, "leaving", {k: tuple(v) for k, v in leaving.items()})

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
        parts = [f"{SAMPLE} >= {self.variables[v]}" for v in sorted(step.above)]
        parts += [f"{SAMPLE} < {self.variables[v]}" for v in sorted(step.below)]
        return " && ".join(parts) or "true"
