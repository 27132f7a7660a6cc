"""Statements about one direction of two secrets, each shown by a tree of its form.

`parts`: Σ max(0, tᵢ) ≤ room, see `set_evidence`. `average`: a divergence is at most a number, see
`loss_evidence`. The statement of each direction that the case compares must be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import loss_evidence, set_evidence
from .evidence_shapes import AVERAGE, PARTS
from .ledger import Evidence, Followed, KernelReport, Ledger, Statement
from .strict_reading import Misformed, Rejected, plain, told_witness

Origin = tuple[str, str, int]


@dataclass(frozen=True)
class Form:
    """A form of statements: its keys, what a statement compares in words, and what checks one and a witness.

    `refute` checks that the statement of a witness fails at its point, and returns what it does not show.
    """

    keys: frozenset[str]
    compares: str
    follow: Callable[[Evidence, Statement], Followed]
    refute: Callable[[Evidence, Mapping[str, Any]], list[str]]


FORMS = {
    "parts": Form(frozenset(PARTS), "every set of outputs", set_evidence.follow, set_evidence.refute),
    "average": Form(frozenset(AVERAGE), "all outputs together", loss_evidence.follow, loss_evidence.refute),
}


def show(about: Evidence, kind: str) -> KernelReport:
    """Checks the statements of a form, and compares them with those of a case, where these are given.

    Raises:
        Rejected: a tree does not show its statement, one of the case is missing, or the witness refutes none.
    """
    document, form = about.document, FORMS[kind]
    status = document["status"]
    about.check_obligations()
    statements = list(about.of(kind))
    claims = [statement for _, statement in statements]
    claims += [document["witness"]["claim"]] if "witness" in document else []
    for name in ("domain", "of", "bound"):
        if any(claim.get(name) != claims[0].get(name) for claim in claims):
            raise Rejected(f"the statements have different values of {name!r}")
    about.check_points(claim["domain"] for claim in claims)
    known = by_origin(about)
    ledger = Ledger(lines=[*about.obligations.lines])
    settled: set[Origin] = set()
    notes: set[str] = set()
    for number, (place, statement) in enumerate(statements, 1):
        check_origins(about, statement, settled, known, form.keys, "statements", place)
        found = form.follow(about, statement)
        left, right, _ = statement["origins"][0]
        pair = "" if known is None else f"{plain(left)} against {plain(right)}, "
        notes |= {found.note} - {""}
        ledger.enter(f"claim {number} ({pair}{form.compares})", found.solvers, found.shows)
    missing = set() if known is None else known.keys() - settled
    if status == "holds" and (missing or not settled):
        raise Rejected("a claim of the case has no proof")
    if status == "unknown" and known is not None and not missing:
        raise Misformed("all claims of the case are proved, so the status must not be 'unknown'", "status")
    ledger.lines += sorted(notes)
    if status == "violated":
        witness = document["witness"]
        check_secrets(about, witness, known, form.keys)
        more = form.refute(about, witness)
        ledger.lines += [told_witness(witness, known is not None), *more]
    own = about.obligations
    ledger.add(own)
    ledger.open = len(missing) if status == "unknown" else 0
    return ledger.report(status)


def by_origin(about: Evidence) -> dict[Origin, Any] | None:
    """Returns the statements of the case by their one direction; None without a case."""
    demanded = about.demanded.directions
    return None if demanded is None else {tuple(each["origins"][0]): each for each in demanded}


def check_origins(
    about: Evidence,
    statement: Statement,
    settled: set[Origin],
    known: Mapping[Origin, Any] | None,
    keys: Iterable[str],
    *place: str | int,
) -> None:
    """Adds the directions of a statement to those that are settled.

    Raises:
        Rejected: one was there before, or the case says something else of it.
    """
    if not statement["origins"]:
        raise Misformed("a claim names no direction", *place, "origins")
    for origin in map(tuple, statement["origins"]):
        if origin in settled:
            raise Misformed("this direction is listed twice", *place, "origins")
        settled.add(origin)
        if known is not None:
            _same(about, statement, known.get(origin), keys, *place)


def _same(about: Evidence, statement: Statement, own: Any, keys: Iterable[str], *place: str | int) -> None:
    """Raises Misformed unless a statement is what the case says of this direction."""
    if own is None:
        raise Misformed("the case does not compare this direction", *place, "origins")
    if about.written(statement["domain"]) != own["domain"]:
        raise Misformed("the case has another domain than this claim", *place, "domain")
    for name in sorted({*keys} - {"domain", "origins"}):
        if statement[name] != own[name]:
            raise Misformed("the case makes another claim for this direction", *place, name)


def check_secrets(
    about: Evidence,
    witness: Mapping[str, Any],
    known: Mapping[Origin, Any] | None,
    keys: Sequence[str] | frozenset[str],
) -> None:
    """Raises Misformed unless the statement of a witness is about its secrets, and is one of the case."""
    left, right = witness["secrets"]
    claim = witness["claim"]
    if left == right:
        raise Misformed("both secrets are the same", "witness", "secrets")
    if [left, right, witness["length"]] not in claim["origins"]:
        raise Misformed("the claim is about secrets that the case does not compare", "witness", "secrets")
    for origin in claim["origins"] if known is not None else ():
        _same(about, claim, known.get(tuple(origin)) if known else None, keys, "witness", "claim")
