"""Verification as the published tool does it: Algorithm 1 of [F], one formula for all sequences of a length.

Each formula is decided by Z3. A model of it is evaluated exactly before it is a violation. That a formula is
unsatisfiable is Z3's word, and nothing that `check` could replay: a verdict that holds says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from paramverify.answers import Decision, End, Open, Proved, Refuted, Standing
from paramverify.backends import backend
from paramverify.encodings.encoding import NO_SEQUENCES
from paramverify.encodings.monolithic import Undecided, Unsatisfiable, ViolationFormula, formulas, solve
from paramverify.errors import InputError, TimeLimitError
from paramverify.evidence.witnesses import ExactWitness
from paramverify.models.model import Model
from paramverify.portfolio.obligations import Proofs, discharge
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.tables import in_case
from paramverify.verdicts import Holds, Unknown, Verdict, Violated, status_of

SOLVER = "z3"


@dataclass(frozen=True)
class SettledFormula:
    """How the formula of one direction of a secret pair was settled, about all sequences of one length."""

    left: str
    right: str
    length: int
    decision: Decision


@dataclass(frozen=True, eq=False)
class FormulaReport:
    """The verdict on a case, and what was said of its formulas until it was found."""

    verdict: Verdict
    solved: tuple[SettledFormula, ...]
    notes: tuple[str, ...]
    seconds: float
    obligations: Proofs = ()

    @property
    def status(self) -> Standing:
        """The word for the verdict."""
        return status_of(self.verdict)


def verify_by_formulas(
    case: PrivacyCase, options: Options | None = None, settled: Callable[[int], None] = lambda count: None
) -> FormulaReport:
    """Decides whether the case is private, by the formulas of Algorithm 1 and Z3.

    `Holds` only if Z3 says of all formulas that they are unsatisfiable and every obligation is proved;
    `Violated` only with a witness that was evaluated exactly from the model. `settled` hears how many
    formulas were found unsatisfiable.

    Raises:
        InputError: the case has a claim of its own, or is about every length; or Z3 is not installed.
        ModelError, DomainError: as for `privacy.verification.verify`.
    """
    started = time.perf_counter()
    model = case.model
    version = backend(SOLVER).version()
    if version is None:
        raise InputError(f"Algorithm 1 is decided by Z3: {backend(SOLVER).install}")
    with Session(options) as session, in_case(case.path, case.text):
        if not isinstance(model, Model):
            raise InputError(NO_SEQUENCES)
        if not model.lengths:
            raise InputError(
                'Algorithm 1 is about sequences of one length: give privacy.length as "1..5", say'
            )
        doubt, obligations = discharge(session, model)
        solved: list[SettledFormula] = []
        verdict: Verdict = Unknown(doubt.end, doubt.detail) if doubt else Holds(())
        if not doubt:
            verdict = _verdict(session, model, version, solved, settled)
    return FormulaReport(verdict, tuple(solved), model.notes, time.perf_counter() - started, obligations)


def _verdict(
    session: Session, model: Model, version: str, solved: list[SettledFormula], settled: Callable[[int], None]
) -> Verdict:
    doubt: Open | None = None
    try:
        for length in model.lengths:
            for formula in formulas(model, length):
                session.in_time()
                found = _solved(session, model, formula, version)
                solved.append(found[0])
                if found[1]:
                    return Violated(found[1])
                answer = found[0].decision.answer
                doubt = answer if doubt is None and isinstance(answer, Open) else doubt
                settled(sum(isinstance(s.decision.answer, Proved) for s in solved))
    except TimeLimitError as error:
        return Unknown(End.TIMEOUT, str(error))
    return Unknown(doubt.end, doubt.detail) if doubt else Holds(tuple(s.decision for s in solved))


def _solved(
    session: Session, model: Model, formula: ViolationFormula, version: str
) -> tuple[SettledFormula, ExactWitness | None]:
    """Returns what Z3 says about a formula, and the witness of a violation."""
    started = time.monotonic()
    found = solve(model, formula, session.deadline - started)
    answer: Proved | Refuted | Open
    witness: ExactWitness | None = None
    match found:
        case Unsatisfiable():
            answer = Proved(transcript="unsat")
        case Undecided():
            late = time.monotonic() >= session.deadline
            answer = Open(End.TIMEOUT if late else End.GAVE_UP, found.reason)
        case _:
            answer, witness = Refuted(found.parameters), found
    seconds = time.monotonic() - started
    decision = Decision(answer, SOLVER, version, {"encoding": "monolithic"}, seconds)
    about = SettledFormula(formula.left, formula.right, len(formula.observed), decision)
    return about, witness
