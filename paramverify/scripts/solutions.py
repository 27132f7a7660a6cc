"""Whether assertions have a solution: cubes as claims for all backends, and the script for its solvers.

`unsat` is said where every cube's claim is proved, or on the word of solvers. `sat` is said only at a point
at which all assertions were evaluated exactly, whoever found it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

from paramverify import printable
from paramverify.algebra.polynomials import is_constant
from paramverify.answers import Decision, End, Proved, Refuted, Standing
from paramverify.backends import script_runner
from paramverify.claims import Claim
from paramverify.errors import DisagreementError, LimitError, UnsupportedError
from paramverify.evidence import certificates
from paramverify.exact.branching import decide_exactly
from paramverify.exact.lines import IRRATIONAL
from paramverify.exact.settling import VERSION
from paramverify.formats.script_writing import quoted
from paramverify.portfolio.agreement import program
from paramverify.portfolio.session import ALONE, QUICK, TURN, Options, Session
from paramverify.portfolio.strategies import BUILT_IN
from paramverify.processes.attempts import resolve
from paramverify.processes.runner import AttemptLimits, Runner
from paramverify.scripts.answers import Answered, SatisfiabilityQuestion, Settled
from paramverify.scripts.asking import script_attempt
from paramverify.scripts.cubes import Cube, Reading
from paramverify.scripts.evaluation import ScriptPoint
from paramverify.scripts.models import points, read_model
from paramverify.scripts.regions import CubeClaim, region

FIRST = 2.0  # seconds for solvers before claims that are harder than the script
LEAST = 0.1  # seconds below which nothing is begun
WIDTH = 2  # solvers side by side
LONGEST = 200  # characters of one reason
NO_TIME = "the time limit was reached"

Truth = Callable[[ScriptPoint], bool | None]  # of the assertions of a question, at a point


@dataclass(frozen=True)
class Means:
    """What may be used for a question: the user's choice, the processes, and the moment at which it ends."""

    options: Options
    runner: Runner
    until: float

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.until - time.monotonic()

    def within(self, seconds: float) -> Means:
        """Returns the same with at most so many seconds from now."""
        return replace(self, until=min(self.until, time.monotonic() + seconds))

    def names(self) -> tuple[str, ...]:
        """Returns the backends of the strategy."""
        return tuple(dict.fromkeys(n for stage in self.options.strategy for n in stage.names()))

    def solvers(self) -> list[str]:
        """Returns those of them that read scripts and are installed."""
        found = [(name, resolve(name)) for name in self.names() if name != BUILT_IN]
        return [name for name, b in found if script_runner(b) and b.version() is not None]


@dataclass(frozen=True)
class _Cell:
    """A cube that is to be decided, with its claim; `point` gives the point of the script for one of that."""

    region: CubeClaim
    point: Callable[[Mapping[str, Fraction]], ScriptPoint]


def solution(question: SatisfiabilityQuestion, truth: Truth, means: Means) -> Answered:
    """Decides whether a question without universal quantifiers has a solution.

    Raises:
        DisagreementError: two programs contradict each other.
    """
    try:
        cells = _cells(question)
    except (UnsupportedError, LimitError) as error:
        return as_it_is(question, truth, means, f"no claims: {error}")
    work = _Work(question, truth, means, cells)
    asked = means.options
    steps: list[Callable[[], Answered | None]] = []
    if BUILT_IN in means.names() and asked.confirm == 1:
        steps.append(work.quickly)
    # Claims in which variables were moved, or that rest on equations, are harder than the script is.
    if not asked.evidence and any(
        cell.region.moved or is_constant(cell.region.claim.polynomial) for cell in cells
    ):
        steps.append(partial(work.by_solvers, FIRST))
    steps += [work.by_backends, partial(work.by_solvers, means.left)]
    for step in steps:
        found = step()
        if found is not None:
            return found
    reasons = dict.fromkeys(printable.name(reason, LONGEST) for reason in work.reasons if reason)
    end = End.TIMEOUT if means.left < LEAST or not reasons else work.end
    return Answered(Standing.UNKNOWN, end=end, reason="; ".join(reasons) or NO_TIME)


def claims_of(question: SatisfiabilityQuestion) -> list[Claim]:
    """Returns claims that all hold iff a question has no solution.

    Raises:
        UnsupportedError, LimitError: there are none.
    """
    return [cell.region.claim for cell in _cells(question)]


def _cells(question: SatisfiabilityQuestion) -> list[_Cell]:
    reading = Reading(question.assertions)
    symbols = {own: symbol for symbol, own in reading.names.items()}
    found: list[_Cell] = []
    for cube in reading.cubes():
        made = region(cube, reading.ring)
        if made is not None:
            found.append(_Cell(made, partial(_point, made, cube, symbols, question)))
    return found


def _point(
    made: CubeClaim,
    cube: Cube,
    symbols: Mapping[str, str],
    question: SatisfiabilityQuestion,
    at: Mapping[str, Fraction],
) -> ScriptPoint:
    numbers = {symbols[name]: value for name, value in made.lift(at).items()}
    # What occurs nowhere, or only where nothing depends on it, may have any value.
    return ScriptPoint(
        {**dict.fromkeys(question.reals, Fraction(0)), **numbers},
        {**dict.fromkeys(question.booleans, False), **cube.truths},
    )


@dataclass
class _Words:
    """What solvers have said of a script: the backend and what it printed; for unsat by program."""

    unsat: dict[str, tuple[str, str]] = field(default_factory=dict)
    sat: dict[str, str] = field(default_factory=dict)

    def check_agreement(self, said: str, by: str) -> None:
        """Checks that none of them says the other of sat and unsat.

        Raises:
            DisagreementError: one does.
        """
        for other, text in self.sat.items() if said == "unsat" else self.unsat.values():
            contrary = "sat" if said == "unsat" else "unsat"
            raise DisagreementError("the script", ((by, said, ""), (other, contrary, text)))


@dataclass
class _Work:
    """The cells of a question that are still open, and what is known."""

    question: SatisfiabilityQuestion
    truth: Truth
    means: Means
    waiting: list[_Cell]
    settled: Settled = ()
    end: End = End.GAVE_UP
    irrational: bool = False
    words: _Words = field(default_factory=_Words)

    def __post_init__(self) -> None:
        self.reasons: list[str] = []

    def quickly(self) -> Answered | None:
        """Lets the exact procedures look at each cell, with a small bound on their work.

        Where there are many cells, the others get half of the time.
        """
        part = self.means.within(self.means.left / 2)

        def decide(claim: Claim) -> Decision:
            return Decision(decide_exactly(claim, replace(QUICK)), BUILT_IN, VERSION)

        return self._each(decide, part)

    def by_backends(self) -> Answered | None:
        """Lets the backends race for each cell, with half of the time.

        Where a claim fails at irrational points alone, the other ones are nothing to wait for.
        """
        if self.irrational:
            return None
        part = self.means.within(self.means.left / 2 if self.means.solvers() else self.means.left)
        if part.left < LEAST:
            return None
        with Session(replace(part.options, seconds=part.left), part.runner) as session:
            return self._each(session.decide, part)

    def by_solvers(self, seconds: float) -> Answered | None:
        """Lets those solvers race that read the script as it is."""
        part = self.means.within(min(seconds, self.means.left))
        if not part.solvers() or part.left < LEAST:
            return None
        found = as_it_is(self.question, self.truth, part, words=self.words)
        if found.standing is not Standing.UNKNOWN:
            return found
        self.reasons.append(found.reason)
        self.end = found.end
        return None

    def _each(self, decide: Callable[[Claim], Decision], means: Means) -> Answered | None:
        left: list[_Cell] = []
        for cell in self.waiting:
            if means.left <= 0:
                self.end = End.TIMEOUT
                left.append(cell)
                continue
            made = decide(cell.region.claim)
            if isinstance(made.answer, Proved):
                self.settled += ((cell.region.claim, made),)
                continue
            if isinstance(made.answer, Refuted):
                point = cell.point(made.answer.point)
                if self.truth(point):
                    self.words.check_agreement("sat", made.backend)
                    return Answered(Standing.VIOLATED, point, found_by=(made.backend,))
            else:
                self.end = made.answer.end
                self.irrational = self.irrational or made.answer.detail == IRRATIONAL
                self.reasons.append(made.answer.detail)
            left.append(cell)
        self.waiting = left
        if left:
            return None
        words = (word for _, decision in self.settled for word in certificates.words(decision))
        solvers = tuple(dict.fromkeys(words))
        by = dict.fromkeys(d.backend for _, d in self.settled)
        if solvers:  # a certificate needs nobody's consent
            self.words.check_agreement("unsat", ", ".join(solvers))
        return Answered(Standing.HOLDS, settled=self.settled, solvers=solvers, found_by=tuple(by))


# --- solvers that read scripts --------------------------------------------------------------------------


def as_it_is(
    question: SatisfiabilityQuestion,
    truth: Truth,
    means: Means,
    reason: str = "",
    words: _Words | None = None,
) -> Answered:
    """Lets solvers race for the script itself; a sat counts where the assertions are true at its model.

    `words` are those of earlier races for it, and get those of this one.

    Raises:
        DisagreementError: a solver says unsat, and another one sat.
    """
    names = means.solvers()
    if not names:
        told = "no backend that was chosen reads scripts"
        return Answered(Standing.UNKNOWN, end=End.GAVE_UP, reason="; ".join(filter(None, (reason, told))))
    if means.left < LEAST:
        return Answered(Standing.UNKNOWN, end=End.TIMEOUT, reason=reason or NO_TIME)
    race = _Race(question, truth, means, words or _Words())
    symbols = " ".join(map(quoted, question.symbols))
    attempts = [script_attempt(name, question.script, symbols) for name in names]
    means.runner.warm(names)
    limits = AttemptLimits(means.left, means.options.memory)
    made = means.runner.race(attempts, limits, race.enough, WIDTH, turn=TURN, alone=ALONE)
    for decision in made:
        race.enough(decision)
    return race.result(reason)


class _Race:
    """What solvers say of a script, as they come."""

    def __init__(self, question: SatisfiabilityQuestion, truth: Truth, means: Means, words: _Words) -> None:
        self.question, self.truth = question, truth
        self.confirm = means.options.confirm
        self.certified = means.options.require_certificates
        self.seen: set[int] = set()
        self.unsat, self.said_sat = words.unsat, words.sat
        self.point: tuple[ScriptPoint, str] | None = None
        self.open: list[tuple[End, str]] = []

    def enough(self, decision: Decision) -> bool:
        """Takes a decision, once; tells whether the race is over."""
        if id(decision) not in self.seen:
            self.seen.add(id(decision))
            self._take(decision)
        return self.point is not None or len(self.unsat) >= self.confirm

    def _take(self, decision: Decision) -> None:
        name = decision.options.get("backend", decision.backend)
        said = decision.answer
        if isinstance(said, Proved):
            self.unsat.setdefault(program(name), (name, said.transcript))
        elif isinstance(said, Refuted):
            self.said_sat[name] = said.transcript
            reason = self._evaluated(name, said.transcript)
            if reason:
                self.open.append((End.GAVE_UP, f"{name} says sat: {reason}"))
        elif said.end is not End.INTERRUPTED:
            self.open.append((said.end, f"{name}: {said.detail or said.end.value}"))

    def _evaluated(self, name: str, transcript: str) -> str:
        """Evaluates the assertions at a model; returns why it is none, "" where it is one."""
        answer = transcript.strip().removeprefix("sat").strip()
        if not answer and self.question.symbols:
            return "it gives no model"
        try:
            model = read_model(answer, self.question.symbols) if answer else {}
            unknown = False
            for point in points(model, self.question.assertions):
                value = self.truth(point)
                if value:
                    self.point = point, name
                    return ""
                unknown = unknown or value is None
        except (ValueError, LimitError) as error:
            return f"its model is not read ({error})"
        return "its model cannot be evaluated exactly" if unknown else "its model is none, evaluated exactly"

    def result(self, reason: str) -> Answered:
        """Returns what the race says in the end."""
        if self.unsat and self.said_sat:
            (name, text), (other, sat) = next(iter(self.unsat.values())), next(iter(self.said_sat.items()))
            raise DisagreementError("the script", ((name, "unsat", text), (other, "sat", sat)))
        if self.point is not None:
            return Answered(Standing.VIOLATED, self.point[0], found_by=(self.point[1],))
        names = tuple(name for name, _ in self.unsat.values())
        told = [text for _, text in self.open]
        if names and self.certified:
            told.append(f"unsat on the word of {', '.join(names)}, and a certificate is required")
        elif len(names) >= self.confirm:
            return Answered(Standing.HOLDS, solvers=names, found_by=names)
        elif names:
            told.append(f"unsat by {', '.join(names)} only, {self.confirm} different programs are needed")
        ends = [end for end, _ in self.open]
        end = End.TIMEOUT if End.TIMEOUT in ends else ends[0] if ends else End.GAVE_UP
        return Answered(Standing.UNKNOWN, end=end, reason="; ".join(filter(None, (reason, *told))))
