"""Verification: from a case to a verdict with its evidence."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paramverify.algebra.domains import Domain
from paramverify.answers import Decision, End, FailsAt, Open, Proved, Refuted, Standing
from paramverify.claims import Claim
from paramverify.divergences import Average, PositiveParts, Quotients
from paramverify.encodings.choice import chosen, claims_of, foreign, is_long, listing
from paramverify.encodings.windows import windows_of
from paramverify.errors import DefectError, DisagreementError, LimitError, TimeLimitError
from paramverify.evidence.algebraic_witnesses import find_algebraic
from paramverify.evidence.witness import AnyWitness
from paramverify.evidence.witnesses import find_witness, has_larger
from paramverify.models.context import sample_points
from paramverify.models.definitions import Inequality
from paramverify.models.enclosed_models import EnclosedModel
from paramverify.models.model import AnyModel, Formal, Model, is_about, need_formulas
from paramverify.models.neighbourhoods import patterned
from paramverify.portfolio.obligations import Proofs, discharge
from paramverify.portfolio.session import Options, Session, unasked
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.enclosed import verify_enclosed
from paramverify.privacy.every_length_verification import (
    EveryLengthOutcome,
    are_many,
    by_every_length,
    verify_all_lengths,
)
from paramverify.privacy.larger_ranges import Larger
from paramverify.privacy.loss_verification import verify_losses
from paramverify.privacy.set_verification import verify_sets
from paramverify.privacy.window_verification import decide_near, violation_at_points
from paramverify.processes.attempts import called
from paramverify.tables import in_case
from paramverify.verdicts import Holds, Unknown, Verdict, Violated, status_of, violating_output

Progress = Callable[[int, int], None]

MANY_PAIRS = 1_000  # secret pairs beyond which those with an input pattern are looked at first


@dataclass(frozen=True, eq=False)
class PrivacyReport:
    """The verdict on a case, the claims with their decisions so far, and what the user should know.

    `decisions[k]` settles `claims[k]`; there are fewer decisions than claims where a violation ended the
    run. `obligations` are claims about the model itself that were needed besides. `certificate` is a
    document for `checker.cone_evidence` where the case is about every length. `enclosed` are the numbers of
    divergences and of boxes on which they are bounded, where there are no claims; `balls` are the numbers
    of probabilities that were enclosed, and of bits. With a `bound` some claims are not those of the case:
    they are about `windows` of a large prior, which prove pairs of secrets, or about sequences of every
    length. `larger` is a violation among larger inputs than those that the case lists.
    """

    verdict: Verdict
    claims: tuple[Claim, ...]
    decisions: tuple[Decision, ...]
    domain: Domain
    notes: tuple[str, ...]
    seconds: float
    obligations: Proofs = ()
    certificate: dict[str, Any] | None = None
    enclosed: tuple[int, int] | None = None
    balls: tuple[int, int] | None = None
    bound: bool = False
    windows: tuple[tuple[str, str, int], ...] = ()
    larger: Larger | None = None

    @staticmethod
    def of(model: AnyModel, found: EveryLengthOutcome, obligations: Proofs) -> PrivacyReport:
        """Returns the report of what was found of a model, of which these obligations are proved."""
        return PrivacyReport(
            verdict=found.verdict,
            claims=found.claims,
            decisions=found.decisions,
            domain=model.domain,
            notes=model.notes,
            seconds=0.0,
            obligations=obligations,
            certificate=found.certificate,
            enclosed=found.enclosed,
            balls=found.balls,
            bound=bool(found.note),
            windows=found.windows,
        )

    @property
    def status(self) -> Standing:
        """The word for the verdict."""
        return status_of(self.verdict)

    @property
    def own_claims(self) -> tuple[Claim, ...]:
        """The claims, which evidence is about: those of the case, or of windows.

        Raises:
            DefectError: they are neither.
        """
        if self.bound and not self.windows:
            raise DefectError("a bound has no evidence: the claims of the case itself are to be decided")
        return self.claims


def verify(
    case: PrivacyCase, options: Options | None = None, progress: Progress | None = None, near: bool = False
) -> PrivacyReport:
    """Decides whether the case is private for every prior of its domain, or its own inequality holds there.

    `Holds` only if every claim and every obligation of the model is proved; `Violated` only with a witness
    that was evaluated exactly from the model. The run ends at the first violation. `progress` is called with
    the number of claims settled and the number of all claims. With `near` a large prior is looked at in
    windows first, which prove a case without its own claims (`privacy.window_verification`).

    Raises:
        ModelError: an obligation fails: the tables are no probabilities at some point of the domain.
        DomainError: the domain is empty.
    """
    started = time.perf_counter()
    model = case.model
    with Session(options) as session, in_case(case.path, case.text):
        doubt, obligations = discharge(session, model)
        if doubt:
            found = EveryLengthOutcome(Unknown(doubt.end, doubt.detail))
        else:
            found = _by_its_model(session, case, progress, near)
        told = (
            found.note,
            empty_bound(model),
            foreign(model),
            unasked(session, len(found.claims)),
            found.weak,
        )
        report = PrivacyReport.of(model, found, obligations)
        notes = (*model.notes, *filter(None, told))
        return replace(report, notes=notes, seconds=time.perf_counter() - started)


def empty_bound(model: AnyModel) -> str:
    """Returns a note if every mechanism keeps the bound of a model: sets of outputs with a delta of 1."""
    measure = None if isinstance(model, Inequality) else model.measure
    share = measure.share if measure else None
    if measure is None or share is None or share.numerator != share.denominator:
        return ""
    return f"every mechanism keeps {measure.key} = 1, as no probability is more than 1"


def _by_its_model(
    session: Session, case: PrivacyCase, progress: Progress | None, near: bool
) -> EveryLengthOutcome:
    """Decides a case whose obligations are proved by the prover of its kind of model."""
    model = case.model
    if isinstance(model, EnclosedModel):
        return verify_enclosed(session, model)
    if is_about(model, Quotients):
        return _of_quotients(session, case, model, progress, near)
    if is_about(model, Average):
        return verify_losses(session, model)
    if is_about(model, PositiveParts):
        return verify_sets(session, model, progress)
    return _of_claims(session, need_formulas(model), progress)


def _of_quotients(
    session: Session, case: PrivacyCase, model: Model, progress: Progress | None, near: bool
) -> EveryLengthOutcome:
    """Decides a model whose divergence makes claims about quotients."""
    try:
        if model.every_length:
            return verify_all_lengths(model, session, progress)
    except TimeLimitError as error:
        return EveryLengthOutcome(Unknown(End.TIMEOUT, str(error)))
    found = _of_large_prior(session, case, model, progress, near)
    found = found or _of_all_claims(session, model, progress, near)
    return replace(found, weak=_weak(model, found))


def _of_large_prior(
    session: Session, case: PrivacyCase, model: Model, progress: Progress | None, near: bool
) -> EveryLengthOutcome | None:
    """Decides a case by windows, if wanted, and points; what they leave open, by its own claims.

    None where it has no windows.
    """
    if not windows_of(model, case.whole):
        return None
    try:
        seen = decide_near(session, model, case.whole if near or session.options.evidence else None)
        if seen is None:
            return violation_at_points(session, model, model.pairs)
        if not seen.left:
            return EveryLengthOutcome(
                Holds(seen.decisions), seen.claims, seen.decisions, note=seen.note, windows=seen.windows
            )
        broken = violation_at_points(session, model, seen.left)
    except TimeLimitError as error:
        return EveryLengthOutcome(Unknown(End.TIMEOUT, str(error)))
    if broken:
        return broken
    rest = _of_all_claims(session, replace(model, pairs=seen.left), progress, near)
    if not isinstance(rest.verdict, Holds) or not seen.claims:
        return rest
    if rest.certificate and session.options.evidence:  # evidence has one kind of proof for all pairs
        return _of_all_claims(session, model, progress, near)
    decisions = (*seen.decisions, *rest.decisions)
    claims = (*seen.claims, *rest.claims)
    return EveryLengthOutcome(Holds(decisions), claims, decisions, note=seen.note, windows=seen.windows)


def _of_long_sequences(session: Session, model: Model, near: bool) -> EveryLengthOutcome | None:
    """Decides a case with too many sequences by those of every length; a proof of that kind is a bound."""
    if not are_many(session, model):
        return None
    found = by_every_length(session, model)
    return None if found and found.note and not near else found


def _of_all_claims(
    session: Session, model: Model, progress: Progress | None, near: bool
) -> EveryLengthOutcome:
    """Decides the claims of a model about sequences, until one of them fails; likely ones come first."""
    longer = max(model.lengths, default=1) > 1
    mend = '; with length = "all" all lengths are decided together' if longer else ""
    try:
        if found := _of_long_sequences(session, model, near):
            return found
        for claim in likely_violations(model):
            decision, witness = decide_with_witness(session, model, claim)
            if witness:
                return EveryLengthOutcome(Violated(witness), (claim,), (decision,))
    except LimitError as error:
        return _ended(error, mend)
    found = _of_claims(session, model, progress, mend)
    if not isinstance(found.verdict, Holds):
        return found
    return replace(found, certificate=levels_certificate(model, found.claims, found.decisions))


def _ended(error: LimitError, mend: str = "") -> EveryLengthOutcome:
    """Returns what a limit leaves: nothing, and why; `mend` says what else to ask."""
    if isinstance(error, TimeLimitError):
        return EveryLengthOutcome(Unknown(End.TIMEOUT, str(error)))
    return EveryLengthOutcome(Unknown(End.GAVE_UP, f"{error}{mend}"))


def _of_claims(
    session: Session, model: Formal, progress: Progress | None, mend: str = ""
) -> EveryLengthOutcome:
    """Decides the claims of a model whose obligations are proved, until one of them fails."""
    try:
        claims = claims_of(model)
    except LimitError as error:
        return _ended(error, mend)
    decisions: list[Decision] = []
    answers = session.decide_each(claims)
    for claim in claims:
        try:
            made = next(answers)
        except DisagreementError as error:
            raise DisagreementError(_numbered(model, claim, len(decisions) + 1), error.answers) from error
        decision, witness = with_witness(model, claim, made)
        decisions.append(decision)
        if progress:
            progress(len(decisions), len(claims))
        if witness:
            return EveryLengthOutcome(Violated(witness), claims, tuple(decisions))
    undecided = [(d, c) for d, c in zip(decisions, claims, strict=True) if not isinstance(d.answer, Proved)]
    if undecided:
        return EveryLengthOutcome(_unknown(undecided), claims, tuple(decisions))
    return EveryLengthOutcome(Holds(tuple(decisions)), claims, tuple(decisions))


def _numbered(model: Formal, claim: Claim, number: int) -> str:
    """Returns a claim in words, with the number that it has for `export`, if it has one there."""
    if chosen(model) is not listing(model):
        return f"the claim {claim.origins[0]}"
    return f"claim {number} ({claim.origins[0]}; `export CASE --claim {number}` writes it)"


def likely_violations(model: Model) -> Iterator[Claim]:
    """Yields claims that fail, found without deriving all of them, where there are many secret pairs.

    The claims of pairs with an input pattern are evaluated at one point of the domain. This only finds
    violations early: where it yields nothing, nothing has been said.
    """
    if len(model.pairs) <= MANY_PAIRS or is_long(model):
        return
    likely = tuple(pair for _, pair in patterned(model.pairs))
    point = next(sample_points(model.domain), None)
    if likely and point is not None:
        for claim in claims_of(replace(model, pairs=likely)):
            if find_witness(model, claim, point):
                yield claim


def _unknown(undecided: list[tuple[Decision, Claim]]) -> Unknown:
    decision, claim = undecided[0]
    assert isinstance(decision.answer, Open)
    more = f" (and {len(undecided) - 1} more)" if len(undecided) > 1 else ""
    said, names = decision.answer.detail, [called(name) for name in decision.backend.split(", ")]
    who = "" if any(said.startswith(name) for name in names) else f"{', '.join(names)}: "
    detail = f"{claim.origins[0]}{more}: {who}{said}"
    return Unknown(decision.answer.end, detail)


def decide_with_witness(
    session: Session, model: AnyModel, claim: Claim
) -> tuple[Decision, AnyWitness | None]:
    """Decides one claim; a refutation comes with its witness, evaluated exactly from the model."""
    return with_witness(model, claim, session.decide(claim))


def with_witness(model: AnyModel, claim: Claim, decision: Decision) -> tuple[Decision, AnyWitness | None]:
    """Returns a decision and, for a refutation, its witness; open if there is none."""
    if isinstance(decision.answer, FailsAt):
        found = find_algebraic(model, claim, decision.answer.at)
        left = Open(End.GAVE_UP, decision.answer.detail)
        return (decision, found) if found else (replace(decision, answer=left), None)
    if not isinstance(decision.answer, Refuted):
        return decision, None
    witness = find_witness(model, claim, decision.answer.point)
    if witness:
        return decision, witness
    spurious = Open(End.GAVE_UP, "exact evaluation does not confirm the refutation", str(decision.answer))
    return replace(decision, answer=spurious), None


def levels_certificate(
    model: AnyModel, claims: Sequence[Claim], decisions: Sequence[Decision]
) -> dict[str, Any] | None:
    """Returns the certificate of privacy for many sequences, of whose claims only the rays were proved.

    None if the claims are those of all sequences.
    """
    write = chosen(model).certificate
    if model.every_length or write is None:
        return None
    return write(model, claims, [d.proof for d in decisions])


def _weak(model: Model, found: EveryLengthOutcome) -> str:
    """Returns that another witness is known to be much worse, and what finds the worst; else ""."""
    witness = violating_output(found.verdict)
    if witness is None or model.measure.distances or not has_larger(model, witness, found.claims):
        return ""
    return "the largest ratio is at least twice that of this witness: `paramverify budget` finds it"
