"""Checking a state formula for all parameter points of the domain, and answering questions `P=? [ path ]`.

`holds` only if every comparison that matters is decided exactly or proved as a claim, and every obligation of
the model is proved; `violated` only if the whole formula was evaluated exactly at one parameter point and is
false there. Everything else is unknown, and says what was tried.

Questions `P=? [ path ]`, `Pmin=? [ path ]` and `Pmax=? [ path ]`: probabilities in the initial states.

On a Markov chain there is one probability. On a decision process the least and the largest one over all
schedulers are asked for, which may choose by the whole history; both are reached. With parameters the
probability is a function of them. On a decision process there may be several: at each point of the domain the
answer is the least or the largest of their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import contains
from paramverify.algebra.reals import Real
from paramverify.answers import Decision, End, Open, Proved, Refuted, Standing
from paramverify.claims import Claim
from paramverify.errors import (
    DefectError,
    InputError,
    ModelError,
    SizeError,
    UndeterminedError,
    UnsupportedError,
)
from paramverify.logic.formula_syntax import (
    Extreme,
    Formula,
    Junction,
    Not,
    Private,
    Probability,
    ProbabilityQuestion,
    parts,
)
from paramverify.logic.judges import ClaimJudge, ExactJudge, holds_by_cases, nearest
from paramverify.logic.logic_cases import LogicCase
from paramverify.logic.probability_comparisons import Method, PathProbabilities, SchedulerChoice
from paramverify.logic.semantics import ProbabilityComparison, Semantics, Truth, conjuncts, real
from paramverify.models.chains.markov_chains import Chain, Value
from paramverify.models.context import Checks, Obligation, sample_points
from paramverify.portfolio.obligations import Discharged, Proofs, require_point
from paramverify.portfolio.session import Session
from paramverify.verdicts import Holds, Unknown, Violated, status_of

LARGE = 2_000  # states
FEW = 4
SAMPLES = 40  # points at which a formula that was not proved is evaluated, besides those of refuted claims


@dataclass(frozen=True, eq=False)
class StateWitness:
    """A state that violates the property at a parameter point, with the comparison that fails, if there is
    one.

    `probabilities` are those of the path formula from the state, and from the neighbour for D; for P the
    second is the bound. D fails in both states of a pair, and `state` is the one with the larger probability;
    where the formula was asked about `neighbour`, this is `turned`. `extreme` tells which of the
    probabilities over all schedulers a P about a decision process compares: least, largest, or none. Of the
    `actions` the last `repeated` go on forever. A disjunction is false `because` of a P or D in it.
    """

    parameters: Mapping[str, Fraction]
    state: str
    formula: str
    neighbour: str | None = None
    probabilities: tuple[Real, Real] | None = None
    ratio: Real | None = None
    delta: Real | None = None
    actions: tuple[str, ...] = ()
    repeated: int = 0
    index: int | None = None
    claim: Claim | None = None
    turned: bool = False
    extreme: str = ""
    because: StateWitness | None = None


@dataclass(frozen=True, eq=False)
class FormulaResult:
    """What is known about one state formula.

    `claims` were proved on the way, and `complete` tells whether they are all that the proof needs.
    `argument` says why the members of a family after the `last` that was looked at hold as well.
    """

    verdict: Holds | Violated[StateWitness] | Unknown
    claims: Proofs = ()
    comparisons: int = 0
    methods: tuple[Method, ...] = ()
    complete: bool = True
    argument: str = ""
    last: int | None = None

    @property
    def status(self) -> Standing:
        """The word for the verdict."""
        return status_of(self.verdict)

    @property
    def counterexample(self) -> StateWitness | None:
        """The witness of a violation."""
        return self.verdict.witness if isinstance(self.verdict, Violated) else None

    @property
    def reason(self) -> str:
        """Why it is unknown, or why it holds for more than was looked at."""
        return self.verdict.detail if isinstance(self.verdict, Unknown) else self.argument


@dataclass
class LogicSession:
    """One case under one session; obligations are discharged once."""

    case: LogicCase
    session: Session
    method: SchedulerChoice = SchedulerChoice.AUTO
    discharged: Discharged = field(default_factory=Discharged)
    tried: int = 0  # points at which a formula was evaluated
    undecided: int = 0  # those of them at which that gave neither true nor false

    @property
    def chain(self) -> Chain:
        """The model."""
        return self.case.chain

    @property
    def obligations(self) -> Proofs:
        """The obligations that were proved."""
        return tuple(self.discharged.proved)

    def discharge(self, obligations: Iterable[Obligation]) -> Open | None:
        """Proves claims about the model; returns what stays open.

        Raises:
            ModelError: one fails at a point of the domain.
        """
        return self.discharged.prove(self.session, obligations)

    def prepare(self) -> Open | None:
        """Discharges what the case itself needs: a domain that is not empty, and tables of probabilities.

        Raises:
            DomainError: the domain is empty.
            ModelError: the tables are no probabilities at a point of the domain.
        """
        return require_point(self.session, self.case) or self.discharge(self.chain.obligations)

    def check(self, formula: Formula) -> FormulaResult:
        """Returns whether a state formula holds in every initial state at every point of the domain."""
        try:
            if not self.chain.domain.ring.parameters:
                return self.check_exactly(formula)
            return self.check_claims(formula)
        except UnsupportedError as error:
            return FormulaResult(Unknown(End.UNAVAILABLE, error.reason))
        except (SizeError, UndeterminedError) as error:
            return FormulaResult(Unknown(End.GAVE_UP, str(error)))

    def check_exactly(self, formula: Formula) -> FormulaResult:
        """Checks a formula on a model without parameters; its claims are proved again by the session."""
        stated, denied = _stated(formula)
        judge = ExactJudge(self.chain, denied)
        semantics = Semantics(self.chain, self.case.relation, judge, None, self.method)
        found = semantics.truth(formula, self.chain.initial)
        methods = tuple(semantics.methods)
        if Truth.NO in found.values():
            state = next(s for s, t in found.items() if t is Truth.NO)
            example = _counterexample(
                self.chain, formula, state=state, semantics=semantics, judge=judge, point={}
            )
            return FormulaResult(Violated(example), (), judge.collected.count, methods)
        if Truth.OPEN in found.values():
            state = next(s for s, t in found.items() if t is Truth.OPEN)
            reason = (
                f"the sufficient condition (Prop. 2) fails in state {self.chain.states[state]}, which "
                "decides nothing; no query scheduler that was tried violates the formula"
            )
            reason = "; ".join((reason, *semantics.cuts))
            return FormulaResult(Unknown(End.GAVE_UP, reason), (), judge.collected.count, methods)
        claims: list[tuple[Claim, Decision]] = []
        if not all(map(_conjunctive, stated)):
            # Comparisons that fail may be part of the reason, so they are no claims; all was decided exactly.
            return FormulaResult(Holds(()), (), judge.collected.count, methods, complete=False)
        for claim in judge.collected.claims.values():
            decision = self.session.decide(claim)
            if isinstance(decision.answer, Refuted):
                raise DefectError(f"a number that was found nonnegative is refuted: {claim.polynomial}")
            if isinstance(decision.answer, Proved):
                claims.append((claim, decision))
        complete = judge.collected.complete and len(claims) == len(judge.collected.claims)
        complete &= not {Method.EQUIVALENT, Method.TRIVIAL} & set(methods)
        return _holding(tuple(claims), judge.collected.count, methods, complete)

    def check_claims(self, formula: Formula) -> FormulaResult:
        """Checks a formula for all parameter points by claims, and evaluates it exactly at points."""
        checks = Checks(self.chain.domain)
        judge = ClaimJudge(self.chain, self.session, checks, not _conjunctive(formula))
        semantics = Semantics(self.chain, self.case.relation, judge, judge.guard, self.method)
        reason, end = "", End.GAVE_UP
        try:
            found = semantics.truth(formula, self.chain.initial)
            if judge.negations:
                for state in [s for s, t in found.items() if t is Truth.OPEN]:
                    if not holds_by_cases(semantics, judge, formula, state):
                        break
                    found[state] = Truth.YES
        except (SizeError, UndeterminedError) as error:
            found = {}
            reason = str(error)
        except UnsupportedError as error:
            found, reason, end = {}, error.reason, End.UNAVAILABLE
        methods = tuple(semantics.methods)
        proved = bool(found) and all(t is Truth.YES for t in found.values())
        try:
            doubt = self.discharge(checks.obligations)
        except ModelError as error:  # a cycle that cannot be left somewhere is no mistake in the model
            doubt = Open(End.UNAVAILABLE, str(error))
        if proved and doubt is None:
            claims = tuple((c, judge.decisions[n]) for n, c in judge.collected.claims.items())
            complete = _conjunctive(formula) and not {Method.EQUIVALENT, Method.TRIVIAL} & set(methods)
            return _holding(claims, judge.collected.count, methods, complete)
        if not proved:
            example = self.refute(formula, judge.points)
            if example:
                return FormulaResult(Violated(example), (), judge.collected.count, methods)
        if doubt is not None:
            reason, end = doubt.detail, doubt.end
        elif not reason:
            reason = "; ".join(dict.fromkeys(o.detail for o in judge.reasons)) or self._not_proved()
            reason = "; ".join((reason, *semantics.cuts))
            end = judge.reasons[0].end if judge.reasons else End.GAVE_UP
        return FormulaResult(Unknown(end, reason), (), judge.collected.count, methods)

    def refute(self, formula: Formula, points: Sequence[Mapping[str, Fraction]]) -> StateWitness | None:
        """Evaluates a formula exactly at simple points and at given ones; returns where it is false."""
        # Simple points make simple witnesses; of a large model only few are tried, the known ones first.
        large = len(self.chain.states) > LARGE
        simple = islice(sample_points(self.chain.domain), FEW if large else SAMPLES)
        seen: set[tuple[Fraction, ...]] = set()
        self.tried = self.undecided = 0
        names = self.chain.domain.ring.parameters
        for point in (*points, *simple) if large else (*simple, *points):
            place = {n: v for n, v in point.items() if n != GENERATOR}
            if len(place) < len(names) or tuple(place[n] for n in names) in seen:
                continue
            seen.add(tuple(place[n] for n in names))
            if not contains(self.chain.domain, place):
                continue
            self.tried += 1
            example = self.evaluate(formula, place)
            if example:
                return example
        return None

    def _not_proved(self) -> str:
        """Returns what is known of a formula that was neither proved nor refuted."""
        if not self.tried:
            return "not proved, and there was no point to try"
        if not self.undecided:
            return "not proved, but true at all points that were tried"
        return f"not proved; false at no point that was tried, and open at {self.undecided} of {self.tried}"

    def evaluate(self, formula: Formula, point: Mapping[str, Fraction]) -> StateWitness | None:
        """Evaluates a formula exactly at one point; returns a counterexample if it is false there."""
        chain = self.chain.at(point)
        judge = ExactJudge(chain)
        semantics = Semantics(chain, self.case.relation, judge, None, self.method, values=point)
        try:
            found = semantics.truth(formula, chain.initial)
        except (SizeError, UndeterminedError, UnsupportedError):
            self.undecided += 1
            return None
        state = next((s for s, t in found.items() if t is Truth.NO), None)
        if state is None:
            self.undecided += Truth.OPEN in found.values()
            return None
        return _counterexample(chain, formula, state=state, semantics=semantics, judge=judge, point=point)


def _holding(claims: Proofs, comparisons: int, methods: tuple[Method, ...], complete: bool) -> FormulaResult:
    verdict = Holds(tuple(decision for _, decision in claims))
    return FormulaResult(verdict, claims, comparisons, methods, complete)


def _conjunctive(formula: Formula) -> bool:
    """Tells whether P and D stand in conjunctions only, and not inside of each other."""
    for part in conjuncts(formula):
        inside = part.path if isinstance(part, (Private, Probability)) else part
        if any(isinstance(p, (Private, Probability)) for p in parts(inside)):
            return False
    return True


def _stated(formula: Formula) -> tuple[list[Formula], frozenset[str]]:
    """Returns the conjuncts, of `Pmax>=` and its like the denied formula, and the texts of these."""
    found = conjuncts(formula)
    denied = {part: part.inner for part in found if isinstance(part, Not) and part.written}
    stated = [denied.get(part, part) if isinstance(part, Not) else part for part in found]
    return stated, frozenset(map(str, denied.values()))


def _counterexample(
    chain: Chain,
    formula: Formula,
    state: int,
    semantics: Semantics,
    judge: ExactJudge,
    point: Mapping[str, Fraction],
) -> StateWitness:
    """Returns the failing conjunct in a state, with the comparison that fails where it is a P or D."""
    for part in conjuncts(formula):
        if semantics.truth(part, [state])[state] is not Truth.NO:
            continue
        if isinstance(part, (Private, Probability)):
            found = _failing(semantics, part, state, judge)
            if found is not None:
                return _told(chain, found, state, point)
        if isinstance(part, Not) and part.written and isinstance(part.inner, Probability):
            told = _told(chain, nearest(semantics, part.inner, state), state, point)
            extreme = "least" if part.inner.comparison.is_lower else "largest"
            return replace(told, formula=str(part), extreme=extreme)
        inner = part.parts if isinstance(part, Junction) else ()
        failed = (
            _counterexample(chain, p, state=state, semantics=semantics, judge=judge, point=point)
            for p in inner
            if any(isinstance(deep, (Private, Probability)) for deep in parts(p))
        )
        reasons = (example.because or example for example in failed)
        because = next((example for example in reasons if example.probabilities is not None), None)
        return StateWitness(point, chain.states[state], str(part), because=because)
    raise DefectError("a formula is false and none of its conjuncts is")


def _failing(
    semantics: Semantics, formula: Private | Probability, state: int, judge: ExactJudge
) -> ProbabilityComparison | None:
    """Returns the comparison of a state that fails by most; of periodic words, among the shortest."""
    worst: tuple[Real, ProbabilityComparison] | None = None
    ring = semantics.chain.domain.ring
    for probabilities in _compared(semantics, formula, state):
        longer = worst is not None and len(probabilities.actions) > len(worst[1].probabilities.actions)
        if longer and probabilities.method is Method.PERIODIC:
            break
        for comparison in semantics.of(formula, [state], probabilities):
            if judge.judge(comparison) is Truth.NO:
                gap = real(comparison.difference(ring), ring)
                if worst is None or (gap - worst[0]).sign() < 0:
                    worst = gap, comparison
    return worst[1] if worst else None


def _compared(
    semantics: Semantics, formula: Private | Probability, state: int
) -> Iterable[PathProbabilities]:
    """Returns probabilities that schedulers reach, among them those that fail."""
    try:
        found = list(semantics.probabilities(formula, [state]))
    except UnsupportedError:
        found = []
    if isinstance(formula, Private) and all(p.method is Method.EXTREMES for p in found):
        return semantics.periodic(formula, [state])
    return found


def _extreme(found: ProbabilityComparison) -> str:
    """Returns which probability a P about a decision process compares."""
    if found.probabilities.method is not Method.ALL or not isinstance(found.formula, Probability):
        return ""
    return "least" if found.formula.comparison.is_lower else "largest"


def _told(
    chain: Chain, found: ProbabilityComparison, state: int, point: Mapping[str, Fraction]
) -> StateWitness:
    ring = chain.domain.ring
    difference = found.difference(ring)
    claim = Claim(difference.numerator * difference.denominator, chain.domain, (found.origin(chain),))
    right = found.right if found.right is not None else found.delta
    return StateWitness(
        parameters=point,
        state=chain.states[found.state],
        formula=str(found.formula),
        neighbour=None if found.neighbour is None else chain.states[found.neighbour],
        probabilities=(real(found.left, ring), real(right, ring)),
        ratio=real(found.ratio, ring),
        delta=real(found.delta, ring),
        actions=found.probabilities.actions,
        repeated=found.probabilities.repeated,
        index=None,
        claim=None if found.strict else claim,
        turned=found.state != state,
        extreme=_extreme(found),
    )


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
