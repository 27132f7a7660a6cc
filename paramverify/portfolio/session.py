"""A session.

Decides claims one after the other by a strategy, with one time limit for all of them; here or on a
worker.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from random import Random
from types import TracebackType
from typing import Any, NoReturn, TypeVar

from paramverify import backends
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.number_fields import AlgebraicPoint
from paramverify.algebra.polynomials import (
    Polynomial,
    constant_value,
    fraction,
    is_constant,
    key,
    rational,
    substitute,
    value_at,
    variables,
)
from paramverify.algebra.signs import sign_on
from paramverify.answers import Decision, End, FailsAt, Open, Proved, Refuted
from paramverify.backends import discover
from paramverify.claims import Claim, from_document, to_document, without_enclosure, without_unused_ties
from paramverify.errors import DisagreementError, InputError, TimeLimitError
from paramverify.evidence import certificates
from paramverify.evidence.certificates import (
    CONSTANT,
    POSITIVE,
    Proof,
    as_judged,
    from_worker,
    with_certificate,
)
from paramverify.exact.branching import decide_exactly
from paramverify.exact.irrational_violations import (
    EFFORT,
    LITTLE,
    Found,
    algebraic_violation,
    may_fail_at_algebraic,
)
from paramverify.exact.procedure_outcomes import (
    VERSION,
    Outcome,
    RemainingWork,
    answer,
    by_enclosures,
    settle,
)
from paramverify.exact.univariate import IRRATIONAL, fails_without_witness
from paramverify.formats.refutations import Confirm, fails_at, fails_at_algebraic, refuter
from paramverify.portfolio import backend_order
from paramverify.portfolio.backend_order import History, default_path
from paramverify.portfolio.strategies import BUILT_IN, NAMED, Stage, Strategy
from paramverify.processes.attempts import (
    Attempt,
    AttemptLimits,
    called,
    decision_from_document,
    decision_to_document,
    resolve,
    split_name,
)
from paramverify.processes.runner import Runner, is_decided
from paramverify.simplify.reductions import AT_LEAST_ZERO
from paramverify.tasks.tasks import HERE, Executor, Task, in_order
from paramverify.tasks.worker import runner


def check_agreement(claim: Claim, decisions: Iterable[Decision]) -> None:
    """Checks that no two decisions about one claim contradict each other.

    Raises:
        DisagreementError: one backend proved the claim and another refuted it; both transcripts are kept.
    """
    decided = [d for d in decisions if is_decided(d)]
    proofs = [d for d in decided if isinstance(d.answer, Proved)]
    refutations = [d for d in decided if not isinstance(d.answer, Proved)]
    if proofs and refutations:
        answers = tuple(
            (d.backend, "proved" if isinstance(d.answer, Proved) else "refuted", d.answer.transcript)
            for d in (proofs[0], refutations[0])
        )
        about = str(claim.origins[0]) if claim.origins else f"{key(claim.polynomial)[:200]} >= 0"
        raise DisagreementError(f"the claim {about}", answers)


def program(name: str) -> str:
    """Returns what a backend's answers depend on: `cvc5` for `cvc5-cov`, `built-in` for all built-ins."""
    return name if name == BUILT_IN else backends.program(resolve(name), split_name(name)[0])


def confirmation(count: int) -> Callable[[Decision], bool]:
    """Returns an `until` for one race: `count` different programs have decided, or two contradict."""
    seen: dict[str, bool] = {}

    def until(decision: Decision) -> bool:
        if is_decided(decision):
            seen[program(decision.backend)] = isinstance(decision.answer, Proved)
        return len(seen) >= count or len(set(seen.values())) > 1

    return until


INFORMATIVE = (  # the ends of attempts: the last one says most about why a claim is open
    *(End.INTERRUPTED, End.DECIDED, End.DISAGREEMENT, End.UNAVAILABLE),
    *(End.CRASHED, End.MEMORY, End.GAVE_UP, End.TIMEOUT),
)


@dataclass
class Tally:
    """What happened to one claim in its races: who decided parts of it, and why other attempts ended."""

    claim: Claim
    winners: list[Decision] = field(default_factory=list)
    ends: list[tuple[End, str]] = field(default_factory=list)
    spurious: bool = False
    sought: bool = False  # whether algebraic points were looked for
    denied: bool = False  # whether a program said that the claim fails, without a point
    derived: int = 0  # how many parts follow from claims that were proved before
    place: Found | None = None

    def look(self) -> None:
        """Looks for an algebraic point at which the claim fails, once."""
        self.sought = True
        self.place = algebraic_violation(self.claim)


def with_place(decision: Decision, found: Found | None) -> Decision:
    """Returns a decision that is open; where the claim fails at a point that was found, that it does."""
    if found is None:
        return decision
    if isinstance(found, AlgebraicPoint):
        return replace(decision, answer=FailsAt(End.GAVE_UP, IRRATIONAL, at=found))
    return replace(decision, answer=Refuted(found))


def read_race(decisions: Sequence[Decision], check: Confirm, tally: Tally, confirm: int) -> Outcome:
    """Returns what a race says: a point that was checked, or a proof by as many backends as are asked for."""
    proved: list[Decision] = []
    for decision in decisions:
        said = decision.answer
        if isinstance(said, Open):
            reason = said.detail or said.end.value
            named = reason.startswith(f"{decision.backend} is missing")
            tally.ends.append((said.end, reason if named else f"{called(decision.backend)}: {reason}"))
        elif isinstance(said, Proved):
            proved.append(decision)
        else:
            point = check(said.point)
            if point is not None:
                tally.winners.append(decision)
                return Outcome(point=point)
            tally.spurious = True
            spurious = f"{called(decision.backend)}: its refutation fails exact evaluation"
            tally.ends.append((End.GAVE_UP, spurious))
    if len({program(d.backend) for d in proved}) < confirm:
        if proved:
            names = ", ".join(called(d.backend) for d in proved)
            same = " (these count as one program)" if len(proved) > 1 else ""
            why = f"{names} proved it{same}, but proofs by {confirm} different programs are required"
            tally.ends.append((End.GAVE_UP, why))
        return Outcome(reason="; ".join(text for _, text in tally.ends))
    tally.winners += proved
    # A certificate that can be replayed is better evidence than a solver's word.
    best = next((d for d in proved if isinstance(d.answer, Proved) and d.answer.certificate), proved[0])
    return Outcome(proof=best.proof)


MAX_KNOWN = 20  # proofs that are remembered
MAX_TERMS = 2_000  # of polynomials that are compared
SAMPLES = 60
WORK = RemainingWork(boxes=60, coefficients=20_000)  # for a claim without its slack

Leaf = Callable[[Claim, Confirm], Outcome]


@dataclass
class Neighbours:
    """The last claims that were proved in a session, with their proofs and who found them."""

    known: deque[tuple[Claim, Proof, Decision]] = field(default_factory=lambda: deque(maxlen=MAX_KNOWN))

    def remember(self, claim: Claim, proof: Proof, decision: Decision) -> None:
        """Keeps a proof for claims that follow from it."""
        if len(claim.polynomial) <= MAX_TERMS and not claim.domain.ring.tied:
            self.known.append((claim, proof, decision))

    def proof_of(self, claim: Claim) -> tuple[Proof, Decision] | None:
        """Returns a proof that g ≥ 0 by f ≥ 0 and g − c·f ≥ 0, with a number c > 0, and who proved f ≥ 0.

        The second one is shown by Bernstein coefficients: it is so where all coefficients are nonnegative and
        the parameters are, too.
        """
        if len(claim.polynomial) > MAX_TERMS or claim.domain.ring.tied or is_constant(claim.polynomial):
            return None
        for other, proof, decision in self.known:
            if not is_constant(other.polynomial) and _same(other.domain, claim.domain):
                c = _quotient(claim.polynomial, other.polynomial)
                part = other.polynomial * rational(c)
                rest = claim.polynomial - part
                if c > 0 and _seems(rest, claim.domain) and sign_on(rest, claim.domain) in AT_LEAST_ZERO:
                    scaled = certificates.factors(c, [(other.polynomial, 1, 1, proof)])
                    shown = CONSTANT if is_constant(rest) else POSITIVE
                    return certificates.total([(part, scaled), (rest, shown)]), decision
        return None

    def before(self, leaf: Leaf, winners: list[Decision], derived: Callable[[Claim, str], None]) -> Leaf:
        """Returns the procedure that tries what is known first, and a claim without its slack.

        Whoever proved what is used is put to the winners; `derived` hears of it, with the reason.
        """

        def decided(claim: Claim, confirm: Confirm) -> Outcome:
            found, why = self.proof_of(claim), "follows from a claim that {} proved before"
            if found is None:
                found, why = _by_tight_claim(claim), "follows from a stronger claim that {} proved"
            if found is not None:
                proof, decision = found
                winners.append(decision)
                derived(claim, why.format(decision.backend))
                return Outcome(proof=proof)
            outcome = leaf(claim, confirm)
            if outcome.proof is not None and winners:
                self.remember(claim, outcome.proof, winners[-1])
            return outcome

        return decided


def _by_tight_claim(claim: Claim) -> tuple[Proof, Decision] | None:
    """Returns a proof that the built-in procedures find quickly once the slack is dropped."""
    weaker = without_slack(claim)
    if weaker is None:
        return None
    decision = Decision(decide_exactly(weaker, replace(WORK)), BUILT_IN, VERSION)
    proved = isinstance(decision.answer, Proved)
    return (raised(claim, weaker, decision.proof), decision) if proved else None


def without_slack(claim: Claim) -> Claim | None:
    """Returns the claim without its positive constant, where what is left seems to hold; else None.

    What is tight often has a simpler proof: a form may be one, and the form with a constant is none.
    """
    constant = _constant(claim.polynomial)
    if constant <= 0 or is_constant(claim.polynomial) or claim.domain.ring.tied:
        return None
    rest = claim.polynomial - claim.domain.ring.number(constant)
    return replace(claim, polynomial=rest) if _seems(rest, claim.domain) else None


def raised(claim: Claim, weaker: Claim, proof: Proof) -> Proof:
    """Returns the proof of a claim, given that of the same one without its slack."""
    slack = claim.polynomial - weaker.polynomial
    return certificates.total([(weaker.polynomial, proof), (slack, CONSTANT)])


def _constant(polynomial: Polynomial) -> Fraction:
    return constant_value(substitute(polynomial, dict.fromkeys(variables(polynomial), Fraction(0))))


def _quotient(left: Polynomial, right: Polynomial) -> Fraction:
    """Returns the number that makes the leading terms equal; 0 if their monomials differ."""
    if next(iter(left.monoms())) != next(iter(right.monoms())):
        return Fraction(0)
    return fraction(left.leading_coefficient() / right.leading_coefficient())


def _same(left: Domain, right: Domain) -> bool:
    """Tells whether a proof about one domain is one about the other: they are written in the same way."""
    if left.ring != right.ring or dict(left.box) != dict(right.box):
        return False
    pairs = [[(key(c.polynomial), c.strict) for c in domain.constraints] for domain in (left, right)]
    return pairs[0] == pairs[1]


def _seems(polynomial: Polynomial, domain: Domain) -> bool:
    """Tells whether a polynomial is at least zero at some random points of the box, ends among them."""
    if any(name not in domain.box for name in variables(polynomial)):
        return False
    draws, origin = Random(1), dict.fromkeys(domain.ring.names, Fraction(0))
    for _ in range(SAMPLES):
        point = {
            n: i.lower + (i.upper - i.lower) * Fraction(draws.randrange(9), 8) for n, i in domain.box.items()
        }
        if value_at(polynomial, {**origin, **point}) < 0:
            return False
    return True


def decide_task(
    claim: Claim, here: Callable[[], Decision], told: Callable[[], dict[str, Any]], seconds: float
) -> Task[Decision]:
    """Returns the task to decide a claim in some seconds; `told` gives the options of the session for it."""

    def document() -> dict[str, Any]:
        return {"claim": to_document(claim), **told()}

    def read(told: Mapping[str, Any]) -> Decision:
        return checked(claim, decision_from_document(told))

    def lost(reason: str) -> Decision:
        return Decision(Open(End.CRASHED, reason), "cluster")

    return Task("decide", here, document, read, lost, seconds=seconds)


def checked(claim: Claim, decision: Decision) -> Decision:
    """Returns a worker's decision: a refutation counts where the claim fails here, exactly, as it is said to.

    A proof counts if the kernel accepts it here; without a certificate it is on the word of the worker.
    """
    decision = from_worker(claim, decision)
    said = decision.answer
    wrong = isinstance(said, Refuted) and not fails_at(claim, said.point)
    wrong = wrong or (isinstance(said, FailsAt) and not fails_at_algebraic(claim, said.at))
    if wrong:
        spurious = Open(End.GAVE_UP, "the refutation fails exact evaluation", said.transcript)
        return replace(decision, answer=spurious)
    return decision


def strategy_document(strategy: Strategy) -> list[dict[str, Any]]:
    """Returns a strategy as JSON data; no limit of seconds is null."""
    return [
        {
            "backends": list(stage.names()),
            "seconds": None if stage.seconds == float("inf") else stage.seconds,
            "cuts": stage.cuts,
        }
        for stage in strategy
    ]


def read_strategy(document: list[Mapping[str, Any]]) -> Strategy:
    """Returns the strategy that `strategy_document` wrote."""
    return tuple(
        Stage(
            tuple(stage["backends"]),
            float("inf") if stage["seconds"] is None else float(stage["seconds"]),
            int(stage["cuts"]),
        )
        for stage in document
    )


T = TypeVar("T")

PATIENCE = 0.1  # seconds after the time limit in which decisions of other processes may arrive
QUICK = RemainingWork(
    boxes=60, coefficients=20_000
)  # what built-ins may do in this process: some milliseconds
MORE = 0.2  # of the time of a race, in which a certificate may come after a solver's word
ALONE = 0.75  # seconds in which a race has as many backends as processors; most claims are decided before
TURN = 0.05  # seconds after which one more backend joins then


@dataclass(frozen=True)
class Options:
    """What the user may choose: the strategy, and the limits.

    `seconds` is the wall-clock time for the whole session, `memory` the address space of one attempt in
    bytes. With `confirm` = n > 1, a claim counts as proved only if n different programs say so; all built-ins
    together are one. `on_decision` hears of each decision as it is made, `on_bound` of what a search for a
    largest value knows so far: a run that is ended by force can tell them. `on_race` hears who was asked
    about a claim, and what each of them said; only of races that are held in this process. The `executor`
    decides claims that do not depend on each other. `limit` is what is told where the time is over: the limit
    that the user gave, of which some is spent before the session. `evidence` is how many seconds more
    built-in procedures get for a certificate, where a solver has given its word. `steps` are those of
    simplification before the race, by name: None for the default ones, () for none. Built-in procedures
    simplify by themselves, and come first only where `steps` is None. With `require_certificates` a proof
    that rests on anybody's word decides nothing: the claim is open, and the race for it goes on.
    """

    seconds: float = 60.0
    memory: int = 4 << 30
    strategy: Strategy = NAMED["default"]
    confirm: int = 1
    on_decision: Callable[[Claim, Decision], None] | None = field(default=None, compare=False)
    on_bound: Callable[[Any], None] | None = field(default=None, compare=False)
    on_race: Callable[[Claim | str, Sequence[Decision]], None] | None = field(default=None, compare=False)
    executor: Executor = field(default=HERE, compare=False)
    limit: float | None = field(default=None, compare=False)
    evidence: float = 0.0
    steps: tuple[str, ...] | None = None
    require_certificates: bool = False

    def may_ask(self, backend: str) -> bool:
        """Whether a backend, whose word would count, takes part: it is named, or none was chosen."""
        named = {split_name(name)[0] for stage in self.strategy for name in stage.names()}
        return not self.require_certificates and (self.strategy == NAMED["default"] or backend in named)


class Session:
    """Decides claims; a context manager that leaves no process behind.

    First the exact procedures of this package run here, with a small bound on their work. What they leave
    open is simplified, and the backends race for what is left, stage by stage, each in a process that is
    killed at the limit.
    """

    def __init__(
        self, options: Options | None = None, runner: Runner | None = None, history: History | None = None
    ) -> None:
        """Begins a session; a runner that is given is somebody else's, who closes it."""
        self.options = options or Options()
        self.deadline = time.monotonic() + self.options.seconds
        self.history = history or History.load(default_path())
        self.words: dict[str, None] = {}  # programs on whose word proofs of this session rest
        self.asked: set[str] = set()  # backends to which claims were given; in sessions inside of it, too
        self._neighbours = Neighbours()
        self._runner, self._borrowed = runner, runner is not None
        self._quick = any(BUILT_IN in stage.backends for stage in self.options.strategy)
        if self.options.steps is not None:
            self._quick = False  # the procedures of this process begin with simplification of their own
            if not self.options.executor.is_here:
                raise InputError(
                    "--simplify and --no-simplify simplify claims on this machine only: leave --cluster out"
                )
        discover()  # a mistake in the user's configuration is told at once
        self._stages: list[Stage] = []
        for stage in self.options.strategy:
            names = tuple(n for n in stage.names() if n != BUILT_IN)
            for name in names:
                resolve(name)
            if names:
                self._stages.append(replace(stage, backends=names))

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner and not self._borrowed:
            self._runner.close()

    def in_time(self) -> None:
        """Does nothing as long as there is time left; for loops that make no decision.

        Raises:
            TimeLimitError: the time is over.
        """
        if time.monotonic() > self.deadline:
            self._late()

    def _late(self) -> NoReturn:
        raise TimeLimitError(self.options.limit or self.options.seconds)

    def bound(self, found: object) -> None:
        """Tells whoever listens what a search knows so far."""
        if self.options.on_bound:
            self.options.on_bound(found)

    def decide(self, claim: Claim) -> Decision:
        """Returns how the claim was settled, or why it was not.

        A proof is one for the constant `E` as the number it is, and a refutation a point of the domain at
        which the claim fails exactly. The claim is proved by as many different backends as the options say.

        Raises:
            DisagreementError: two backends contradict each other.
        """
        return self.heard(claim, self._decide(claim))

    @property
    def ahead(self) -> int:
        """How many claims are worth being decided before they are asked for; 1 where that saves no time."""
        executor = self.options.executor
        return 1 if executor.is_here else 4 * executor.width

    def decide_each(self, claims: Sequence[Claim]) -> Generator[Decision, None, None]:
        """Yields how each claim was settled, in their order, as `decide` would one after the other.

        They may be decided side by side and before they are asked for. What is not asked for is given up: so
        the decisions that whoever stops early has seen are the same with every executor.

        Raises:
            DisagreementError: two backends contradict each other.
        """
        tasks = [decide_task(claim, partial(self._decide, claim), self.told, self.left) for claim in claims]
        late = Decision(Open(End.TIMEOUT, "the time limit was reached"), "cluster")
        with closing(in_order(self.options.executor, tasks, self.deadline + PATIENCE)) as made:
            for claim in claims:
                yield self.heard(claim, next(made, late))

    def each(self, tasks: Sequence[Task[T]]) -> Generator[T, None, None]:
        """Yields the values of tasks in their order, whoever does them.

        Raises:
            TimeLimitError: the time is over.
        """
        executor, number = self.options.executor, 0
        try:
            with closing(in_order(executor, tasks, self.deadline + PATIENCE)) as made:
                for number, value in enumerate(made, 1):  # noqa: B007
                    yield value
        except TimeLimitError:
            if executor.is_here:
                raise
            self._late()  # a worker knows a part of the time only
        if number < len(tasks):
            self._late()

    @property
    def left(self) -> float:
        """The seconds that are left, at least a little."""
        return max(0.01, self.deadline - time.monotonic())

    def told(self) -> dict[str, Any]:
        """Returns what another process must be told to decide claims as this session does, as JSON data."""
        options = self.options
        return {
            "strategy": strategy_document(options.strategy),
            "confirm": options.confirm,
            "memory": options.memory,
            "seconds": self.left,
            "require_certificates": options.require_certificates,
        }

    def heard(self, claim: Claim, made: Decision) -> Decision:
        """Takes a decision, wherever it was made; returns it, open if a required certificate is missing."""
        if self.options.require_certificates:
            made = with_certificate(made)
        self.words |= dict.fromkeys(certificates.words(made))
        if self.options.on_decision:
            self.options.on_decision(claim, made)
        return made

    def believe(self, who: str) -> None:
        """Takes that parts of the answer rest on the word of somebody, who proved them without a certificate.

        Raises:
            InputError: certificates are required.
        """
        if self.options.require_certificates:
            raise InputError(f"certificates are required, but there is none for {who}")
        self.words[who] = None

    def _decide(self, claim: Claim) -> Decision:
        started = time.monotonic()
        claim = without_unused_ties(without_enclosure(claim))
        first: Decision | None = None
        if self._quick:
            first = Decision(decide_exactly(claim, replace(QUICK)), BUILT_IN, VERSION)
            if self.options.on_race:
                self.options.on_race(claim, [replace(first, seconds=time.monotonic() - started)])
            enough = self.options.confirm == 1 or not isinstance(first.answer, Proved)
            alone = not self._stages or _hopeless(claim, first)
            if isinstance(first.answer, Open):
                first = with_place(first, algebraic_violation(claim, EFFORT if alone else LITTLE))
            known = not isinstance(first.answer, Open) or isinstance(first.answer, FailsAt)
            if (known and enough) or alone:
                return self._counted(first, started)
        found = self._race(claim, self.options.confirm - (first is not None and _decided(first)))
        if first is None or isinstance(first.answer, Open):
            return replace(found, seconds=time.monotonic() - started)
        check_agreement(claim, [first, found])
        if isinstance(found.answer, Open):
            detail = f"{BUILT_IN} proved it, but no other backend confirmed that: {found.answer.detail}"
            return self._counted(replace(found, answer=replace(found.answer, detail=detail)), started)
        versions = f"{first.version}, {found.version}"
        confirmed = replace(first, backend=f"{BUILT_IN}, {found.backend}", version=versions)
        return replace(confirmed, seconds=time.monotonic() - started)

    def _counted(self, decision: Decision, started: float) -> Decision:
        """Returns the decision with its time; open if the options ask for more backends than decided it."""
        decision = replace(decision, seconds=time.monotonic() - started)
        if isinstance(decision.answer, Proved) and self.options.confirm > 1:
            alone = Open(End.GAVE_UP, f"only {decision.backend} proved it; no other backend was asked")
            return replace(decision, answer=alone)
        return decision

    def _race(self, claim: Claim, confirm: int) -> Decision:
        tally = Tally(claim, sought=not may_fail_at_algebraic(claim))
        # A confirmation must not rest on the simplification that it is to confirm; and simplification moves
        # parameters one by one, which is wrong for those that are tied to each other.
        steps = () if self.options.confirm > 1 or claim.domain.ring.tied else self.options.steps

        own = partial(self._leaf, tally=tally, confirm=confirm)

        def derived(part: Claim, why: str) -> None:
            tally.derived += 1
            if self.options.on_race:
                self.options.on_race(part, [Decision(Proved(detail=why), BUILT_IN, VERSION)])

        leaf = own if confirm > 1 else self._neighbours.before(own, tally.winners, derived)

        def closed(about: Claim) -> Outcome:
            tally.spurious = False
            return settle(about, leaf, refuter(about), steps)

        found = by_enclosures(claim, closed, lambda: tally.spurious)
        if found.proof is not None or found.point is not None:
            if not tally.winners:  # simplification left nothing to decide
                return Decision(answer(claim, found), BUILT_IN, VERSION)
            versions = {d.backend: d.version for d in sorted(tally.winners, key=lambda d: d.backend)}
            names = ", ".join(versions)
            if tally.derived == len(tally.winners) and names != BUILT_IN:
                names = f"{BUILT_IN} from a claim of {names}"
            options = dict(tally.winners[-1].options)
            return Decision(answer(claim, found), names, ", ".join(versions.values()), options)
        if tally.place is not None:
            return with_place(Decision(Open(End.GAVE_UP, IRRATIONAL), BUILT_IN, VERSION), tally.place)
        end = max((end for end, _ in tally.ends), key=INFORMATIVE.index, default=End.GAVE_UP)
        asked = dict.fromkeys(name for stage in self._stages for name in stage.names())
        alone = f"{', '.join(map(called, asked))}: {found.reason}"
        detail = "; ".join(dict.fromkeys(text for _, text in tally.ends)) or alone
        return Decision(Open(end, detail), ", ".join(asked))

    def _leaf(self, claim: Claim, check: Confirm, tally: Tally, confirm: int) -> Outcome:
        """Decides a claim that simplification left, by the stages of the strategy."""
        outcome = Outcome(reason="no backend was asked")
        pending = list(self._stages)
        while pending and tally.place is None:
            stage, sought = pending[0], tally.sought
            if not sought and self._quick and stage.seconds == float("inf"):
                tally.look()  # nothing comes after this stage
                continue
            tally.ends.clear()
            until = min(self.deadline, time.monotonic() + stage.seconds)
            outcome = self._part(
                claim, check, tally=tally, stage=stage, cuts=stage.cuts, until=until, confirm=confirm
            )
            if outcome.proof is not None or outcome.point is not None or tally.spurious:
                break
            if until == self.deadline and time.monotonic() >= until:
                break
            if not (tally.denied and not sought):  # then the race was cut short: it begins again
                pending.pop(0)
            if not sought and (self._quick or tally.denied):
                tally.look()
        return outcome

    def _part(
        self,
        claim: Claim,
        check: Confirm,
        tally: Tally,
        stage: Stage,
        cuts: int,
        until: float,
        confirm: int,
    ) -> Outcome:
        """Lets the backends race for a claim, or for both halves of its box (cube and conquer)."""
        if cuts == 0 or claim.domain.ring.tied or not _free(claim):
            return self._attempts(claim, check, tally=tally, stage=stage, until=until, confirm=confirm)
        name = max(_free(claim), key=lambda n: claim.domain.box[n].upper - claim.domain.box[n].lower)
        interval = claim.domain.box[name]
        middle = (interval.lower + interval.upper) / 2
        halves = (
            Interval(interval.lower, middle, interval.lower_closed, True),
            Interval(middle, interval.upper, True, interval.upper_closed),
        )
        proofs: list[certificates.Proof] = []
        for half in halves:
            domain = replace(claim.domain, box={**claim.domain.box, name: half})
            part = replace(claim, domain=domain)
            found = self._part(
                part, check, tally=tally, stage=stage, cuts=cuts - 1, until=until, confirm=confirm
            )
            if found.proof is None:
                return found
            proofs.append(found.proof)
        return Outcome(proof=certificates.tree([certificates.cut(name, middle), *proofs]))

    def _for_evidence(self, seconds: float) -> float:
        """Returns how long a certificate is waited for after a race of so many seconds."""
        return min(max(MORE * seconds, self.options.evidence), self.deadline - time.monotonic())

    def _attempts(
        self, claim: Claim, check: Confirm, tally: Tally, stage: Stage, until: float, confirm: int
    ) -> Outcome:
        left = until - time.monotonic()
        if left <= 0:
            tally.ends.append((End.TIMEOUT, "the time limit was reached"))
            return Outcome(reason="no time was left")
        if self._runner is None:
            self._runner = Runner()
        names = self.history.ordered(claim, backend_order.ordered(stage.names(), claim))
        if self._quick and self.options.confirm > 1:
            names = [name for name in names if program(name) != BUILT_IN]  # they have had their turn
        self.asked.update(names)
        attempts = [Attempt(name, claim) for name in names]
        limits = AttemptLimits(left, self.options.memory)
        width = max(2, os.cpu_count() or 1, confirm)
        enough = confirmation(max(1, confirm))
        # What only confirms may be a word: `heard` looks whether one of them has a certificate.
        certified = self.options.require_certificates and self.options.confirm == 1
        wanted: Callable[[Decision], Decision] = with_certificate if certified else lambda made: made
        judged: dict[int, Decision] = {}  # by what the runner keeps; each certificate is replayed once

        def ended(decision: Decision) -> bool:
            known = judged.setdefault(id(decision), _judged(claim, decision))
            tally.denied |= isinstance(known.answer, Open) and known.answer.denies
            return enough(wanted(known)) or (tally.denied and not tally.sought)

        raced = self._runner.race(
            attempts, limits, ended, width, turn=TURN, alone=ALONE, evidence=self._for_evidence
        )
        decisions = [judged.get(id(decision)) or _judged(claim, decision) for decision in raced]
        self.history.record(claim, decisions)
        if self.options.on_race:
            self.options.on_race(claim, decisions)
        check_agreement(claim, decisions)
        return read_race(list(map(wanted, decisions)), check, tally, max(1, confirm))


def _judged(claim: Claim, decision: Decision) -> Decision:
    """Returns the decision; where its backend is not built in, the kernel replays its certificate first.

    Built-in procedures write certificates that their own tests replay.
    """
    return decision if resolve(decision.backend).builtin else as_judged(claim, decision)


def _hopeless(claim: Claim, decision: Decision) -> bool:
    """Tells whether a claim fails, and has no rational witness that any backend could find."""
    said = decision.answer
    return isinstance(said, Open) and said.detail == IRRATIONAL and fails_without_witness(claim)


def _free(claim: Claim) -> list[str]:
    """Returns the parameters whose interval can be cut."""
    occurring = variables(claim.polynomial)
    return [n for n in occurring if n != GENERATOR and not claim.domain.box[n].is_point]


def _decided(decision: Decision) -> bool:
    return isinstance(decision.answer, Proved)


@cache
def _history() -> History:
    """Returns the log of attempts of this worker, which is read once."""
    return History.load(default_path())


def session_of(document: Mapping[str, Any]) -> Session:
    """Returns a session with the options of another one, as `Session.told` tells them.

    Raises:
        InputError: a backend that is not one of this installation by its name.
    """
    strategy = read_strategy(document["strategy"])
    for name in (name for stage in strategy for name in stage.names()):
        if ":" in name:
            raise InputError(
                f"{name} is not a backend of the workers, which do not get modules of your "
                "own: leave it or --cluster out"
            )
    options = Options(
        seconds=float(document["seconds"]),
        memory=int(document["memory"]),
        strategy=strategy,
        confirm=int(document["confirm"]),
        require_certificates=document["require_certificates"] is True,
    )
    return Session(options, runner(), _history())


def decided(document: Mapping[str, Any]) -> dict[str, Any]:
    """Decides the claim of a document of `decide_task`; returns the decision as JSON data.

    Raises:
        InputError: a backend that is not one of this installation by its name.
        DisagreementError: two backends contradict each other.
    """
    with session_of(document) as session:
        return decision_to_document(session.decide(from_document(document["claim"])))


def unasked(session: Session, claims: int = 1, others: bool = True) -> str:
    """Returns that no solver of those that the user chose was asked about any of so many claims; else "".

    Without `others` only procedures of this package answer this question, whatever is chosen.
    """
    options = session.options
    stages = () if options.strategy == NAMED["default"] else options.strategy
    listed = dict.fromkeys(name for stage in stages for name in stage.names() if name != BUILT_IN)
    names = [name for name in listed if not resolve(name).builtin]
    if session.asked or not names or not options.executor.is_here:  # workers know whom they asked
        return ""
    told = f"{', '.join(names)} {'were' if len(names) > 1 else 'was'} not asked"
    if not claims:
        return f"{told}: there was no claim for solvers"
    if not others:
        return f"{told}: built-in procedures were enough"
    if options.steps is not None:
        return told
    first = "built-in procedures come first, and were enough"
    return f"{told}: {first}; --no-simplify (simplify=False in Python) leaves them out"
