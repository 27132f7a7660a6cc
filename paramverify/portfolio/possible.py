"""Secrets that may be impossible for every prior: a mistake in the case, and not privacy."""

from __future__ import annotations

from paramverify.answers import Open, Proved
from paramverify.errors import CaseError
from paramverify.exact.lines import fails_without_witness
from paramverify.models.kinds import AnyModel
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session

SECONDS = 20.0


def require_possible(model: AnyModel, session: Session | None = None) -> Open | None:
    """Checks that each secret has positive probability at a point of the domain; returns what stays open.

    Reading a case settles that already unless its domain has equations that are not solved; so this costs
    nothing for nearly all models.

    Raises:
        CaseError: a secret is proved to be impossible at every point.
    """
    if not isinstance(model, Model) or not model.maybe_impossible:
        return None
    if session is None:
        with Session(Options(seconds=SECONDS)) as own:
            return require_possible(model, own)
    for doubtful in model.maybe_impossible:
        answer = session.decide(doubtful.claim).answer
        if isinstance(answer, Proved):
            raise CaseError(doubtful.message, key="secrets")
        if isinstance(answer, Open) and not fails_without_witness(doubtful.claim):
            return Open(answer.end, f"not excluded: {doubtful.message} ({answer.detail})")
    return None
