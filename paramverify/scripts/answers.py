"""What is said of the questions of a script."""

from __future__ import annotations

from dataclasses import dataclass, replace

from paramverify.answers import Decision, End, Standing
from paramverify.claims import Claim
from paramverify.formats.script_reading import Script
from paramverify.formats.script_terms import Term
from paramverify.scripts.evaluation import ScriptPoint

Settled = tuple[tuple[Claim, Decision], ...]


@dataclass(frozen=True)
class SatisfiabilityQuestion:
    """Whether assertions have a solution; the same as a script, and the constants that it declares."""

    assertions: tuple[Term, ...]
    script: str
    reals: tuple[str, ...]
    booleans: tuple[str, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        """All constants."""
        return (*self.reals, *self.booleans)


@dataclass(frozen=True)
class Answered:
    """What is said of one question: sat (violated) at a point, unsat (holds), or unknown and why.

    `settled` are claims that were proved for it, `solvers` those on whose word alone it rests. `reason` says
    why it is unknown, and of an answer what it comes of where that is not obvious.
    """

    standing: Standing
    point: ScriptPoint | None = None
    settled: Settled = ()
    solvers: tuple[str, ...] = ()
    found_by: tuple[str, ...] = ()
    end: End = End.DECIDED
    reason: str = ""
    seconds: float = 0.0

    def resting_on(self, others: tuple[Answered, ...]) -> Answered:
        """Returns the answer with all that others rest on, too."""
        return replace(
            self,
            settled=sum((o.settled for o in others), self.settled),
            solvers=tuple(dict.fromkeys(sum((o.solvers for o in others), self.solvers))),
        )


@dataclass(frozen=True)
class ScriptReport:
    """The answers to the questions of a script, in their order."""

    script: Script
    answers: tuple[Answered, ...]
    seconds: float

    @property
    def standing(self) -> Standing:
        """Unknown if one answer is; otherwise that of the last question, after which the script stands."""
        unknown = any(a.standing is Standing.UNKNOWN for a in self.answers)
        return Standing.UNKNOWN if unknown else self.answers[-1].standing

    @property
    def wrong(self) -> tuple[int, ...]:
        """The numbers of questions to which the script states the other answer than was found."""
        return tuple(
            check.number
            for check, answer in zip(self.script.checks, self.answers, strict=True)
            if check.expected and answer.standing is not Standing.UNKNOWN
            if check.expected != answer.standing.of_script
        )
