"""Automata that read a stream of numbers: states with noise, transitions with guards on stored noisy
values.

In a state with rate d and mean μ, `insample` is x + μ + Lap(1/(d·ε)) for the next number x of the stream; a
state that reads no input has x = 0. `insample'` has a rate and a mean of its own, and the same x. A
transition is taken if insample lies above some stored values and below others. It may store insample, and
it puts out a word, or insample, or insample' ([Chadha21], [Chadha23]: DiP automata).

Noise may be geometric instead: Pr(k) is proportional to exp(-d·ε·|k|) on whole numbers, and so are inputs and
means. Then two samples may be equal, and `<` and `<=` are different.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

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
