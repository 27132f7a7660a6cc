"""Obligations: what must be so of a model before a verdict about it counts, by one rule for every subject.

First the domain must have a point: else every claim holds, and says nothing. A domain with irrational points
only is a domain all the same: what is proved is true there. Then each secret must be possible somewhere. At
last the obligations of the model are proved, such as that its tables are probabilities: a claim about a model
that is none says nothing either.

A refutation counts when the claim is evaluated exactly at its point, `E` taken as the number it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

from paramverify.algebra.polynomials import is_constant, key
from paramverify.answers import Decision, End, FailsAt, Open, Proved, Refuted
from paramverify.claims import Claim
from paramverify.errors import CaseError, DomainError, LimitError, ModelError
from paramverify.exact.branching import decide_exactly
from paramverify.exact.irrational_violations import algebraic_violation
from paramverify.exact.univariate import fails_without_witness
from paramverify.formats.refutations import fails_at
from paramverify.models.context import Obligation, sample_points, show_point
from paramverify.models.model import AnyModel, OnDomain
from paramverify.models.priors import SecretPair
from paramverify.portfolio.session import Options, Session

SECONDS = 20.0  # for secrets that may be impossible, where a command has no session

Proofs = tuple[tuple[Claim, Decision], ...]


class Scope(OnDomain, Protocol):
    """Whatever is about a domain that may be empty."""

    @property
    def maybe_empty(self) -> Obligation | None:
        """The claim that must be refuted: that the domain is empty."""


@dataclass
class Discharged:
    """The obligations that were proved until now, each once."""

    proved: list[tuple[Claim, Decision]] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)

    def prove(self, session: Session, obligations: Iterable[Obligation]) -> Open | None:
        """Proves claims about a model; returns the first that stays open, with its meaning.

        Raises:
            ModelError: one fails at a point of the domain.
        """
        new: dict[str, Obligation] = {}
        for obligation in obligations:
            name = obligation.claim.text()
            if name not in self._known:
                new.setdefault(name, obligation)
        made = session.decide_each([obligation.claim for obligation in new.values()])
        for (name, obligation), decided in zip(new.items(), made, strict=True):
            decision = evaluated(obligation.claim, decided)
            answer = decision.answer
            if isinstance(answer, Refuted | FailsAt):
                at = answer.at.in_words() if isinstance(answer, FailsAt) else show_point(answer.point)
                raise ModelError(f"{obligation.message} at {at}", key=obligation.key)
            if isinstance(answer, Open):
                return _in_doubt(answer, f"not excluded: {obligation.message} ({answer.detail})")
            self._known.add(name)
            self.proved.append((obligation.claim, decision))
        return None


def discharge(session: Session, subject: AnyModel) -> tuple[Open | None, Proofs]:
    """Discharges all that a subject needs; returns what stays in doubt, and the obligations that were proved.

    A verdict about the subject counts only where nothing stays in doubt.

    Raises:
        DomainError: the domain is empty.
        CaseError: a secret is impossible at every point of the domain.
        ModelError: an obligation fails at a point of the domain.
    """
    doubt = require_point(session, subject) or require_possible(subject, session)
    done = Discharged()
    doubt = doubt or done.prove(session, subject.obligations)
    return doubt, tuple(done.proved)


def undoubted(session: Session, model: AnyModel) -> Proofs:
    """Returns the proofs of the obligations of a model.

    Raises:
        LimitError: one is not proved.
    """
    doubt, obligations = discharge(session, model)
    if doubt:
        raise LimitError(f"the model is in doubt: {doubt.detail}")
    return obligations


def require_point(session: Session, scope: Scope) -> Open | None:
    """Checks that the domain has a point, rational or not; returns what stays open.

    Raises:
        DomainError: it is proved to have none.
    """
    if scope.maybe_empty is None:
        return None
    claim = scope.maybe_empty.claim
    answer = decide(session, claim).answer
    if isinstance(answer, Proved):
        raise DomainError(f"the parameter domain is empty: {scope.domain.describe()}", key="parameters")
    if isinstance(answer, Open) and not _fails_somewhere(answer, claim):
        return _in_doubt(answer, f"no point of the domain was found: {answer.detail}")
    return None


def require_possible(subject: AnyModel, session: Session | None = None) -> Open | None:
    """Checks that each secret has positive probability at a point of the domain; returns what stays open.

    Reading a case settles that already unless its domain has equations that are not solved; so this costs
    nothing for nearly all models.

    Raises:
        CaseError: a secret is proved to be impossible at every point.
    """
    if not subject.maybe_impossible:
        return None
    if session is None:
        with Session(Options(seconds=SECONDS)) as own:
            return require_possible(subject, own)
    for doubtful in subject.maybe_impossible:
        answer = decide(session, doubtful.claim).answer
        if isinstance(answer, Proved):
            raise CaseError(doubtful.message, key="secrets")
        if isinstance(answer, Open) and not _fails_somewhere(answer, doubtful.claim):
            return _in_doubt(answer, f"not excluded: {doubtful.message} ({answer.detail})")
    return None


def _fails_somewhere(answer: Open, claim: Claim) -> bool:
    """Tells whether a claim that no rational point was found for is known to fail at an irrational one."""
    return isinstance(answer, FailsAt) or fails_without_witness(claim)


def decide(session: Session, claim: Claim) -> Decision:
    """Decides a claim about the subject itself; a refutation is checked exactly, like a witness."""
    return evaluated(claim, session.decide(claim))


def evaluated(claim: Claim, decision: Decision) -> Decision:
    """Returns the decision; open where it is a refutation that does not stand exact evaluation."""
    found = decision.answer
    if isinstance(found, Refuted) and not fails_at(claim, found.point):
        return replace(decision, answer=Open(End.GAVE_UP, "the refutation fails exact evaluation"))
    return decision


def _in_doubt(answer: Open, detail: str) -> Open:
    return replace(answer, detail=detail)


# --- the same for evidence: what must be possible for a verdict that holds to say anything ------------------

Need = tuple[Claim, str]  # a claim that must fail at a point of the domain, and what that means


def needs_of(scope: Scope, pairs: Iterable[SecretPair] = ()) -> Iterator[Need]:
    """Yields what must be possible: that the domain has a point, and each secret somewhere in it."""
    if scope.maybe_empty:
        yield scope.maybe_empty.claim, "that the domain has a point"
    seen: set[str] = set()
    for pair in pairs:
        for name, start in ((pair.left, pair.pi), (pair.right, pair.tau)):
            if not is_constant(start.mass) and key(start.mass) not in seen:
                seen.add(key(start.mass))
                yield Claim(-start.mass, scope.domain), f"that the secret {name!r} is possible"


def points_for(scope: Scope, needs: Iterable[Need]) -> list[dict[str, str]]:
    """Returns points of the domain that show what is needed, where simple points do not, for evidence."""
    found: list[dict[str, Fraction]] = []
    for claim, _ in needs:
        if not _at_some(claim, (*found, *sample_points(scope.domain))):
            answer = decide_exactly(claim)
            if isinstance(answer, Refuted):  # evaluated exactly; the checker does it again
                found.append({name: answer.point[name] for name in scope.domain.ring.parameters})
    return [{name: str(value) for name, value in point.items()} for point in found]


def read_points(document: Mapping[str, Any]) -> list[dict[str, Fraction]]:
    """Returns the points of evidence that was checked."""
    return [{name: Fraction(x) for name, x in point.items()} for point in document.get("points", [])]


def unmet(scope: Scope, needs: Iterable[Need], points: Sequence[Mapping[str, Fraction]]) -> str:
    """Returns why something that is needed is not shown, at these points or at simple ones; "" if all is.

    Only where there is no rational point that evidence could have, irrational ones are looked for.
    """
    for claim, meaning in needs:
        known = _at_some(claim, points) or _at_some(claim, sample_points(scope.domain))
        if not known and (isinstance(decide_exactly(claim), Refuted) or not _fails_at_irrational(claim)):
            return f"it is not shown {meaning}"
    return ""


def _fails_at_irrational(claim: Claim) -> bool:
    return fails_without_witness(claim) or algebraic_violation(claim) is not None


def _at_some(claim: Claim, points: Iterable[Mapping[str, Fraction]]) -> bool:
    return any(fails_at(claim, point) for point in points)
