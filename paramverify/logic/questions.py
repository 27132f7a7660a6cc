"""Questions `P=? [ path ]`, `Pmin=? [ path ]` and `Pmax=? [ path ]`: probabilities in the initial states.

On a Markov chain there is one probability. On a decision process the least and the largest one over all
schedulers are asked for, which may choose by the whole history; both are reached. With parameters the
probability is a function of them. On a decision process there may be several: at each point of the domain the
answer is the least or the largest of their values.
"""

from __future__ import annotations

from dataclasses import dataclass

from paramverify.answers import End
from paramverify.errors import InputError, SizeError, UndeterminedError, UnsupportedError
from paramverify.logic.comparisons import Method, PathProbabilities
from paramverify.logic.judges import ClaimJudge, ExactJudge
from paramverify.logic.numbers import real
from paramverify.logic.semantics import Semantics
from paramverify.logic.syntax import Extreme, ProbabilityQuestion
from paramverify.logic.verification import LogicSession
from paramverify.models.chains.chain import Value
from paramverify.models.context import Checks
from paramverify.verdicts import Unknown


@dataclass(frozen=True, eq=False)
class QuestionAnswer:
    """The answer to a question, by initial state; or why there is none, in `unknown`.

    Several values of one state are functions of the parameters: the least or largest of them is the answer.
    """

    values: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    methods: tuple[Method, ...] = ()
    unknown: Unknown | None = None


def answer(work: LogicSession, question: ProbabilityQuestion) -> QuestionAnswer:
    """Returns the probabilities that a question asks for, exactly.

    Raises:
        InputError: `P=?` about a decision process, where a scheduler decides.
    """
    chain = work.chain
    if question.extreme is Extreme.EACH and chain.is_decision_process:
        raise InputError(
            "P=? has no single answer about a decision process: it depends on the scheduler",
            mend="ask for Pmin=? or Pmax=?",
        )
    checks = Checks(chain.domain)
    parametric = bool(chain.domain.ring.parameters)
    claims = ClaimJudge(chain, work.session, checks, True)
    judge = claims if parametric else ExactJudge(chain)
    guard = claims.guard if parametric else None
    semantics = Semantics(chain, work.case.relation, judge, guard, work.method)
    try:
        largest = question.extreme is not Extreme.LEAST
        found = list(semantics.engine().extreme(question.path, chain.initial, largest))
        doubt = work.discharge(checks.obligations)
    except UnsupportedError as error:
        return QuestionAnswer(unknown=Unknown(End.UNAVAILABLE, error.reason))
    except (SizeError, UndeterminedError) as error:
        return QuestionAnswer(unknown=Unknown(End.GAVE_UP, str(error)))
    if doubt is not None:
        return QuestionAnswer(unknown=Unknown(doubt.end, doubt.detail))
    values = tuple((chain.states[s], _values(work, question, found, s)) for s in chain.initial)
    return QuestionAnswer(values, tuple(dict.fromkeys(p.method for p in found)))


def _values(
    work: LogicSession, question: ProbabilityQuestion, found: list[PathProbabilities], state: int
) -> tuple[Value, ...]:
    """Returns the different values of a state; those without parameters only if one of them is the answer."""
    least = question.extreme is Extreme.LEAST
    sides = [p.lower if least else p.upper for p in found]
    values = [side[state] for side in sides if state in side]
    ring = work.chain.domain.ring
    if ring.parameters:
        return tuple({str(value): value for value in values}.values())
    best = values[0]
    for value in values[1:]:
        sign = (real(value, ring) - real(best, ring)).sign()
        if (sign < 0) if least else (sign > 0):
            best = value
    return (best,)
