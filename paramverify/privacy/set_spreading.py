"""Claims about sums as tasks: each is decided by cutting the domain, with claims at the leaves of its own."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from flint import fmpq

from paramverify.algebra.polynomials import fraction, rational
from paramverify.answers import End, Open
from paramverify.checker.set_evidence import check_tree
from paramverify.checker.strict_reading import Rejected
from paramverify.claims import Claim, Direction, from_document, to_document, without_enclosure
from paramverify.encodings.output_sums import Excess, statement
from paramverify.evidence.certificates import words
from paramverify.portfolio.session import Session, checked, session_of
from paramverify.privacy.cuts import CutOutcome, decide_excess, is_broken
from paramverify.processes.attempts import (
    answer_from_document,
    answer_to_document,
    decision_from_document,
    decision_to_document,
)
from paramverify.tasks.tasks import Task

NO_TREE = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def decide_excesses(claims: Sequence[Excess], session: Session) -> Generator[CutOutcome, None, None]:
    """Yields what `decide_excess` finds of each claim, in their order.

    Parameters that are tied to others are not told to other processes: such claims are decided here.

    Raises:
        TimeLimitError: the time of the session is over.
    """
    if any(claim.domain.ring.tied for claim in claims):
        yield from (decide_excess(claim, session) for claim in claims)
    else:
        yield from session.each([_task(claim, session) for claim in claims])


def _task(claim: Excess, session: Session) -> Task[CutOutcome]:
    def document() -> dict[str, Any]:
        domain = to_document(Claim(claim.domain.ring.number(0), claim.domain))
        return {**session.told(), **statement(claim), "domain": domain}

    def read(told: Mapping[str, Any]) -> CutOutcome:
        found = _read(claim, told)
        for about, decision in found.decisions:
            session.heard(about, decision)
        return found

    here = partial(decide_excess, claim, session)
    return Task("sum", here, document, read, _lost, seconds=session.left)


def _lost(reason: str) -> CutOutcome:
    return CutOutcome(reason=Open(End.CRASHED, reason))


def decided_sum(document: Mapping[str, Any]) -> dict[str, Any]:
    """Decides one claim of `decide_excesses`; returns what was found as JSON data."""
    domain = from_document(document["domain"]).domain
    read = domain.ring.parse
    terms = tuple(read(term) for term in document["terms"])
    origins = tuple((str(left), str(right), int(length)) for left, right, length in document["origins"])
    with session_of(document) as session:
        found = decide_excess(Excess(read(document["room"]), terms, domain, origins), session)
    point = None
    if found.point is not None:
        point = {name: str(rational(Fraction(value))) for name, value in found.point.items()}
    return {
        "tree": found.tree,
        "point": point,
        "reason": found.reason and answer_to_document(found.reason),
        "decisions": [
            [to_document(claim), decision_to_document(decision)] for claim, decision in found.decisions
        ],
    }


def _read(claim: Excess, told: Mapping[str, Any]) -> CutOutcome:
    """Returns what a worker found; a point counts where the claim fails here, exactly."""
    tree = told["tree"] and tuple(told["tree"])
    point = told["point"] and {name: fraction(fmpq(value)) for name, value in told["point"].items()}
    said = told["reason"] and answer_from_document(told["reason"])
    reason = said if isinstance(said, Open) else None
    if point is not None and not is_broken(claim, point):
        point, reason = None, Open(End.GAVE_UP, "the refutation does not stand exact evaluation")
    decisions = []
    for about, decision in told["decisions"]:
        leaf = from_document(about)
        leaf = Claim(leaf.polynomial, leaf.domain, (Direction(*claim.origins[0]),))
        decisions.append((leaf, checked(leaf, decision_from_document(decision))))
    if tree is not None:
        _replay(claim, tree, any(map(words, (decision for _, decision in decisions))))
    return CutOutcome(tree, point, reason, tuple(decisions))


def _replay(claim: Excess, tree: tuple[Any, ...], named: bool) -> None:
    """Replays a worker's proof by the kernel.

    Raises:
        ValueError: it shows something else, or rests on a word that none of its decisions names.
    """
    domain = to_document(without_enclosure(Claim(claim.domain.ring.number(0), claim.domain)))
    del domain["polynomial"]
    try:
        trusted = check_tree(domain, {**statement(claim), "tree": list(tree)})
    except (Rejected, *NO_TREE) as error:
        raise ValueError(f"the checker rejects its proof: {error}") from None
    if trusted and not named:
        raise ValueError("its proof rests on the word of a solver that it does not name")
