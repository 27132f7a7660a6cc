"""A session: decides claims one after the other by a strategy, with one time limit for all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import Any, NoReturn, TypeVar

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Interval
from paramverify.algebra.polynomials import variables
from paramverify.answers import Decision, End, FailsAt, Open, Proved
from paramverify.backends import discover
from paramverify.claims import Claim, without_enclosure, without_unused_ties
from paramverify.errors import InputError, TimeLimitError
from paramverify.evidence import certificates
from paramverify.evidence.replaying import as_judged, with_certificate
from paramverify.exact.algebraic import EFFORT, LITTLE, algebraic_violation, may_fail_at_algebraic
from paramverify.exact.branching import decide_exactly
from paramverify.exact.lines import IRRATIONAL, fails_without_witness
from paramverify.exact.settling import VERSION, Outcome, RemainingWork, answer, by_enclosures, settle
from paramverify.formats.refutations import Confirm, refuter
from paramverify.portfolio import learned
from paramverify.portfolio.agreement import check_agreement, confirmation, program
from paramverify.portfolio.history import History, default_path
from paramverify.portfolio.neighbours import Neighbours
from paramverify.portfolio.strategies import BUILT_IN, NAMED, Stage, Strategy
from paramverify.portfolio.tallies import INFORMATIVE, Tally, read_race, with_place
from paramverify.portfolio.telling import decide_task, strategy_document
from paramverify.processes.attempts import resolve
from paramverify.processes.runner import Attempt, AttemptLimits, Runner
from paramverify.tasks.tasks import HERE, Executor, Task, in_order

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
    largest value knows so far: a run that is ended by force can tell them. The `executor` decides claims that
    do not depend on each other. `limit` is what is told where the time is over: the limit that the user
    gave, of which some is spent before the session. `evidence` is how many seconds more built-in procedures
    get for a certificate, where a solver has given its word. Without `simplify` backends get claims as they
    are; built-in procedures simplify by themselves. With `require_certificates` a proof that rests on
    anybody's word decides nothing: the claim is open, and the race for it goes on.
    """

    seconds: float = 60.0
    memory: int = 4 << 30
    strategy: Strategy = NAMED["default"]
    confirm: int = 1
    on_decision: Callable[[Claim, Decision], None] | None = field(default=None, compare=False)
    on_bound: Callable[[Any], None] | None = field(default=None, compare=False)
    executor: Executor = field(default=HERE, compare=False)
    limit: float | None = field(default=None, compare=False)
    evidence: float = 0.0
    simplify: bool = True
    require_certificates: bool = False


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
        if not self.options.simplify:
            self._quick = False  # the procedures of this process begin with simplification
            if not self.options.executor.is_here:
                raise InputError("--no-simplify is for claims that are decided here: leave --cluster out")
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
            raise InputError(f"certificates are required, and there is none for {who}")
        self.words[who] = None

    def _decide(self, claim: Claim) -> Decision:
        started = time.monotonic()
        claim = without_unused_ties(without_enclosure(claim))
        first: Decision | None = None
        if self._quick:
            first = Decision(decide_exactly(claim, replace(QUICK)), BUILT_IN, VERSION)
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
            detail = f"{BUILT_IN} proved it, and no other backend confirmed that: {found.answer.detail}"
            return self._counted(replace(found, answer=replace(found.answer, detail=detail)), started)
        confirmed = replace(first, backend=f"{BUILT_IN}, {found.backend}")
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
        plain = self.options.confirm > 1 or not self.options.simplify
        steps = () if plain or claim.domain.ring.tied else None

        own = partial(self._leaf, tally=tally, confirm=confirm)
        leaf = own if confirm > 1 else self._neighbours.before(own, tally.winners)

        def closed(about: Claim) -> Outcome:
            tally.spurious = False
            return settle(about, leaf, refuter(about), steps)

        found = by_enclosures(claim, closed, lambda: tally.spurious)
        if found.proof is not None or found.point is not None:
            if not tally.winners:  # simplification left nothing to decide
                return Decision(answer(claim, found), BUILT_IN, VERSION)
            names = ", ".join(dict.fromkeys(d.backend for d in tally.winners))
            last = tally.winners[-1]
            return Decision(answer(claim, found), names, last.version, dict(last.options))
        if tally.place is not None:
            return with_place(Decision(Open(End.GAVE_UP, IRRATIONAL), BUILT_IN, VERSION), tally.place)
        end = max((end for end, _ in tally.ends), key=INFORMATIVE.index, default=End.GAVE_UP)
        detail = "; ".join(dict.fromkeys(text for _, text in tally.ends)) or found.reason
        asked = dict.fromkeys(name for stage in self._stages for name in stage.names())
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
        names = self.history.ordered(claim, learned.ordered(stage.names(), claim))
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
