"""One run of traced code: the random choices that it meets, taken as they were prescribed.

A run follows a list of alternatives; beyond its end it takes the first one of each choice, or what `beyond`
says. What it met is its `path`. `exploring` runs the code again and again until every alternative has been
taken.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from paramverify.tracing.formulas import Formula, Real, Refused

TRACED = "<traced>"  # how the file name of traced code begins
IMPORTED = "paramverify_user_"  # how the names of modules begin that commands import
MOST_STEPS = 2_000  # choices of one run


@dataclass(frozen=True)
class Place:
    """A place in the user's code: the file, the line, and the function."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else "the function"


@dataclass(frozen=True)
class Choice:
    """A choice among finitely many alternatives with these probabilities."""

    weights: tuple[Formula, ...]
    words: tuple[str, ...]  # what each alternative means, for people
    place: Place

    @property
    def count(self) -> int:
        """How many alternatives follow."""
        return len(self.weights)

    @property
    def key(self) -> tuple[str, ...]:
        """What has to be the same in another run with the same choices before."""
        return ("choice", *(w.key for w in self.weights), *map(str, self.place.__dict__.values()))


@dataclass(frozen=True)
class Test:
    """A comparison of noise with a number: true is the alternative 0."""

    text: str  # in the language of programs
    place: Place
    count = 2

    @property
    def key(self) -> tuple[str, ...]:
        """See `Choice.key`."""
        return ("test", self.text, *map(str, self.place.__dict__.values()))


@dataclass(frozen=True)
class Noise:
    """A draw of noise with a name, by a call in the language of programs."""

    name: str
    call: str
    place: Place
    count = 1

    @property
    def key(self) -> tuple[str, ...]:
        """See `Choice.key`."""
        return ("noise", self.name, self.call)


Step = Choice | Test | Noise


@dataclass(eq=False)
class Tracer:
    """A run of traced code."""

    signs: Callable[[Formula], int]
    prescribed: Sequence[int] = ()
    path: list[Step] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)  # the alternative of each choice and test, in order
    known: dict[str, bool] = field(default_factory=dict)  # tests of this run
    draws: dict[str, tuple[str, Formula]] = field(default_factory=dict)  # noise so far: kind and scale
    # of sums of noise: the cuts between which this run has them; a cut is before or after its number
    ranges: dict[str, list[tuple[Fraction, bool] | None]] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)  # noise that other noise stands for now, and why
    # of noise that was multiplied by a formula: the noise that stands for the product, and the formula
    rescaled: dict[str, tuple[str, Formula]] = field(default_factory=dict)
    of_numpy: bool = False  # whether some float may be one of numpy, which divides by zero
    reads: list[str] = field(default_factory=list)  # notes on how things were read
    returned: Place | None = None  # the last `return` of the function itself, not of one that it calls
    volumes: dict[Any, Formula] = field(default_factory=dict)  # of polytopes of draws, in all runs
    beyond: Callable[[int], int] = lambda count: 0  # which of so many alternatives is not prescribed

    def real(self, value: Fraction | int | Formula) -> Real:
        """Returns an exact number."""
        return Real(value if isinstance(value, Formula) else Formula.of(value), self.signs)

    def refuse(self, reason: str) -> Refused:
        """Returns an error that ends this run, even if the code catches it; see `Refused`."""
        return Refused(reason)

    def here(self) -> Place:
        """Returns the place of the traced code that runs now."""
        frame: Any = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if code.co_filename.startswith(TRACED):
                return Place(code.co_filename.removeprefix(TRACED), frame.f_lineno, code.co_name)
            frame = frame.f_back
        return Place("", 0, "")

    def returns(self) -> None:
        """Keeps the place of the `return` that runs now, if it is one of the function itself."""
        frames: list[Any] = []
        frame: Any = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename.startswith(TRACED):
                frames.append(frame)
            frame = frame.f_back if len(frames) < 2 else None
        if len(frames) == 1:
            self.returned = self.here()

    def _take(self, step: Choice | Test, count: int) -> int:
        k = len(self.taken)
        if len(self.path) >= MOST_STEPS:
            raise self.refuse(
                f"a run makes more than {MOST_STEPS:,} random choices, and a loop may have no bound: write a "
                "loop with a smaller bound, such as for k in range(100)"
            )
        chosen = self.prescribed[k] if k < len(self.prescribed) else self.beyond(count)
        if chosen >= count:
            raise self.refuse("the function behaves differently when it is run again with the same draws")
        self.path.append(step)
        self.taken.append(chosen)
        return chosen

    def choose(self, weights: Sequence[Formula], words: Sequence[str]) -> int:
        """Draws one of several alternatives; those of probability 0 are never drawn."""
        kept = [k for k, weight in enumerate(weights) if weight.above]
        if len(kept) == 1:
            return kept[0]
        if not kept:
            raise ValueError("all probabilities are zero")
        step = Choice(tuple(weights[k] for k in kept), tuple(words[k] for k in kept), self.here())
        return kept[self._take(step, len(kept))]

    def flip(self, p: Formula, words: tuple[str, str]) -> bool:
        """Returns True with probability p, which must be a number from 0 to 1 on the whole domain."""
        if not p.above:
            return False
        if not (Formula.of(1) - p).above:
            return True
        return self.choose((p, Formula.of(1) - p), words) == 0

    def test(self, text: str, opposite: str) -> bool:
        """Returns the outcome of a comparison with noise."""
        for known, wanted in ((text, True), (opposite, False)):
            if known in self.known:
                return self.known[known] is wanted
        found = self._take(Test(text, self.here()), 2) == 0
        self.known[text] = found
        return found

    def noise(self, kind: str, scale: Formula) -> str:
        """Draws noise of the language of programs, and returns its name."""
        name = f"noise{len(self.draws) + 1}"
        self.draws[name] = kind, scale
        self.path.append(Noise(name, f"{kind}({scale.text})", self.here()))
        if len(self.path) >= MOST_STEPS:
            raise self.refuse(f"a run makes more than {MOST_STEPS:,} draws: write a loop with a bound")
        return name

    def note(self, text: str) -> None:
        """Keeps what a reader of the verdict should know of how something was read."""
        if text not in self.reads:
            self.reads.append(text)
