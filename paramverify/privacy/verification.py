"""Verification: from a case to a verdict with its evidence."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import is_constant, key
from paramverify.answers import Decision, End, Open, Proved, Refuted
from paramverify.claims import Claim
from paramverify.encodings import cone_certificates
from paramverify.encodings.choice import claims_of, is_long
from paramverify.encodings.lumping import lump
from paramverify.errors import DomainError, LimitError, ModelError, TimeLimitError, located
from paramverify.evidence.certificates import proof_of
from paramverify.evidence.witnesses import AnyWitness, find_witness, violates
from paramverify.exact.branching import decide_exactly
from paramverify.exact.lines import fails_without_witness
from paramverify.models.context import Obligation, sample_points
from paramverify.models.inequality import Inequality
from paramverify.models.kinds import AnyModel, OnDomain
from paramverify.models.model import Model
from paramverify.models.patterns import patterned
from paramverify.portfolio.possible import require_possible
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.all_lengths import verify_all_lengths
from paramverify.privacy.cases import Case
from paramverify.verdicts import Holds, Unknown, Verdict, Violated

Progress = Callable[[int, int], None]

MANY_PAIRS = 1_000  # secret pairs beyond which those with an input pattern are looked at first


@dataclass(frozen=True, eq=False)
class Report:
    """The verdict on a case, the claims with their decisions so far, and what the user should know.

    `decisions[k]` settles `claims[k]`; there are fewer decisions than claims where a violation ended the run.
    `obligations` are claims about the model itself that were needed besides. `certificate` is a document for
    `checker.cones` where the case is about every length.
    """

    verdict: Verdict
    claims: tuple[Claim, ...]
    decisions: tuple[Decision, ...]
    domain: Domain
    notes: tuple[str, ...]
    seconds: float
    obligations: tuple[tuple[Claim, Decision], ...] = ()
    certificate: dict[str, Any] | None = None


def verify(case: Case, options: Options | None = None, progress: Progress | None = None) -> Report:
    """Decides whether the case is private for every prior of its domain, or its own inequality holds there.

    `Holds` only if every claim and every obligation of the model is proved; `Violated` only with a witness
    that was evaluated exactly from the model. The run ends at the first violation. `progress` is called with
    the number of claims settled and the number of all claims.

    Raises:
        ModelError: an obligation fails: the tables are no probabilities at some point of the domain.
        DomainError: the domain is empty.
    """
    started = time.perf_counter()
    model = case.model
    with Session(options) as session, located(file=case.path):
        doubt, obligations = check_model(session, model)

        def report(
            verdict: Verdict,
            claims: tuple[Claim, ...],
            decisions: Sequence[Decision],
            certificate: dict[str, Any] | None = None,
        ) -> Report:
            seconds = time.perf_counter() - started
            done = tuple(decisions)
            return Report(
                verdict=verdict,
                claims=claims,
                decisions=done,
                domain=model.domain,
                notes=model.notes,
                seconds=seconds,
                obligations=obligations,
                certificate=certificate,
            )

        if doubt:
            return report(doubt, (), [])
        if not isinstance(model, Inequality) and not model.lengths:
            try:
                found = verify_all_lengths(model, session, progress)
            except TimeLimitError as error:
                return report(Unknown(End.TIMEOUT, str(error)), (), [])
            return report(found.verdict, found.claims, found.decisions, found.certificate)
        try:
            for claim in likely_violations(model):
                decision, witness = settle(session, model, claim)
                if witness:
                    return report(Violated(witness), (claim,), [decision])
            claims = claims_of(model)
        except LimitError as error:
            end = End.TIMEOUT if isinstance(error, TimeLimitError) else End.GAVE_UP
            return report(Unknown(end, str(error)), (), [])
        decisions: list[Decision] = []
        for claim in claims:
            decision, witness = settle(session, model, claim)
            decisions.append(decision)
            if progress:
                progress(len(decisions), len(claims))
            if witness:
                return report(Violated(witness), claims, decisions)
        undecided = [
            (d, c) for d, c in zip(decisions, claims, strict=True) if not isinstance(d.answer, Proved)
        ]
        if undecided:
            return report(_unknown(undecided), claims, decisions)
        certificate = None if isinstance(model, Inequality) else levels_certificate(model, claims, decisions)
        return report(Holds(tuple(decisions)), claims, decisions, certificate)


def likely_violations(model: AnyModel) -> Iterator[Claim]:
    """Yields claims that fail, found without deriving all of them, where there are many secret pairs.

    The claims of pairs with an input pattern are evaluated at one point of the domain. This only finds
    violations early: where it yields nothing, nothing has been said.
    """
    if not isinstance(model, Model) or len(model.pairs) <= MANY_PAIRS or is_long(model):
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
    detail = f"{claim.origins[0]}{more}: {decision.backend}: {decision.answer.detail}"
    return Unknown(decision.answer.end, detail)


def settle(session: Session, model: AnyModel, claim: Claim) -> tuple[Decision, AnyWitness | None]:
    """Decides one claim; a refutation comes with its witness, evaluated exactly from the model."""
    decision = session.decide(claim)
    if not isinstance(decision.answer, Refuted):
        return decision, None
    witness = find_witness(model, claim, decision.answer.point)
    if witness:
        return decision, witness
    spurious = Open(End.GAVE_UP, "the refutation does not stand exact evaluation", str(decision.answer))
    return replace(decision, answer=spurious), None


def check_model(
    session: Session, model: AnyModel
) -> tuple[Unknown | None, tuple[tuple[Claim, Decision], ...]]:
    """Discharges the obligations of the model; returns what stays in doubt, and what was proved.

    Raises:
        ModelError: an obligation fails at a point of the domain.
        DomainError: the domain is empty.
        CaseError: a secret is impossible at every point of the domain.
    """
    if model.maybe_empty:
        empty = model.maybe_empty.claim
        answer = _decide(session, model, empty).answer
        if isinstance(answer, Proved):
            raise DomainError(f"the parameter domain is empty: {model.domain.describe()}", key="parameters")
        if isinstance(answer, Open) and not fails_without_witness(empty):  # else it has irrational points
            return Unknown(answer.end, f"no point of the domain was found: {answer.detail}"), ()
    doubt = require_possible(model, session)
    if doubt:
        return Unknown(doubt.end, doubt.detail), ()
    proved: list[tuple[Claim, Decision]] = []
    for obligation in model.obligations:
        decision = _decide(session, model, obligation.claim)
        answer = decision.answer
        if isinstance(answer, Refuted):
            at = ", ".join(f"{k} = {v}" for k, v in answer.point.items() if k in model.domain.ring.parameters)
            raise ModelError(f"{obligation.message} at {at}")
        if isinstance(answer, Open):
            return Unknown(answer.end, f"not excluded: {obligation.message} ({answer.detail})"), tuple(proved)
        proved.append((obligation.claim, decision))
    return None, tuple(proved)


def _decide(session: Session, model: AnyModel, claim: Claim) -> Decision:
    """Decides a claim about the model itself; a refutation is checked exactly, like a witness."""
    decision = session.decide(claim)
    found = decision.answer
    scope = replace(model, domain=claim.domain)
    if isinstance(found, Refuted) and not violates(scope, claim.polynomial, found.point):
        return replace(decision, answer=Open(End.GAVE_UP, "the refutation does not stand exact evaluation"))
    return decision


def levels_certificate(
    model: Model, claims: Sequence[Claim], decisions: Sequence[Decision]
) -> dict[str, Any] | None:
    """Returns the certificate of privacy for many sequences, of whose claims only the rays were proved.

    None if the claims are those of all sequences.
    """
    if not model.lengths or not is_long(model):
        return None
    return cone_certificates.levels(lump(model).model, claims, [proof_of(d) for d in decisions])


# --- what must be possible for a verdict that holds to say anything -----------------------------------

Need = tuple[Claim, str]  # a claim that must fail at a point of the domain, and what that means


class Scope(OnDomain, Protocol):
    """Whatever is about a domain that may be empty."""

    @property
    def maybe_empty(self) -> Obligation | None:
        """The claim that must be refuted: that the domain is empty."""


def needs_of(model: Scope) -> Iterator[Need]:
    """Yields what must be possible: that the domain has a point, and each secret somewhere in it."""
    if model.maybe_empty:
        yield model.maybe_empty.claim, "that the domain has a point"
    seen: set[str] = set()
    for pair in model.pairs if isinstance(model, Model) else ():
        for name, start in ((pair.left, pair.pi), (pair.right, pair.tau)):
            if not is_constant(start.mass) and key(start.mass) not in seen:
                seen.add(key(start.mass))
                yield Claim(-start.mass, model.domain), f"that the secret {name!r} is possible"


def points_for(model: Scope, needs: Iterable[Need]) -> list[dict[str, str]]:
    """Returns points of the domain that show what is needed, where simple points do not, for evidence."""
    found: list[dict[str, Fraction]] = []
    for claim, _ in needs:
        if not _at_some(model, claim, (*found, *sample_points(model.domain))):
            answer = decide_exactly(claim)
            if isinstance(answer, Refuted) and violates(model, claim.polynomial, answer.point):
                found.append({name: answer.point[name] for name in model.domain.ring.parameters})
    return [{name: str(value) for name, value in point.items()} for point in found]


def read_points(document: Mapping[str, Any]) -> list[dict[str, Fraction]]:
    """Returns the points of evidence that was checked."""
    return [{name: Fraction(x) for name, x in point.items()} for point in document.get("points", [])]


def unmet(model: Scope, needs: Iterable[Need], points: Sequence[Mapping[str, Fraction]]) -> str:
    """Returns why something that is needed is not shown, at these points or at simple ones; "" if all is."""
    for claim, meaning in needs:
        known = _at_some(model, claim, points) or _at_some(model, claim, sample_points(model.domain))
        if not known and not fails_without_witness(claim):
            return f"it is not shown {meaning}"
    return ""


def _at_some(model: OnDomain, claim: Claim, points: Iterable[Mapping[str, Fraction]]) -> bool:
    return any(violates(model, claim.polynomial, point) for point in points)
