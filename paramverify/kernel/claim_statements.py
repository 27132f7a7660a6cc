"""Claims of a case, each with its proof; or a witness at which one fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import evidence_shapes
from .claim_evidence import check_fails, digest
from .ledger import Evidence, KernelReport, Lemmas, settle
from .strict_reading import Misformed, Rejected, check, statement_of, told_witness
from .witness_numbers import check_numbers, check_place

NO_POINT = "not shown by this document alone: that the domain has a point"


def show(about: Evidence) -> KernelReport:
    """Checks the claims of a document, and compares them with those of a case, where these are given.

    Without a case, what is shown is that the claims are true, or that one is false.

    Raises:
        Rejected: they are not those of the case, or the witness refutes none.
    """
    document, demanded = about.document, about.demanded
    status = document["status"]
    if "windows" in document and status != "holds":
        raise Misformed("windows can prove claims, but not refute them", "windows")
    wanted = None if demanded.claims is None else {digest(claim) for claim in demanded.claims}
    own, names = about.obligations, {}
    for number, (_, statement) in enumerate(about.of("claim"), 1):
        name = names[statement["domain"], statement["polynomial"]] = digest(about.full(statement))
        if wanted is not None and name not in wanted:
            raise Rejected(f"claim {number} differs from the claims of the case, or has another domain")
    if wanted is not None:
        for place, _ in about.of("obligation"):
            reason = "what a case demands of its model is written as claims beside claims"
            raise Misformed(reason, "statements", place)
    ledger = settle(about, "claim", Lemmas.of(about))
    _check_points(about)
    settled = {names[identity] for identity in ledger.settled}
    ledger.lines[:0] = own.lines
    # Only a side condition leaves a case without a claim; whether it does, the case says.
    empty = not settled and not ("side_condition" in document and not names and not wanted)
    missing = ledger.open or empty or (wanted is not None and wanted - settled)
    lacking = status == "holds" and bool(missing)
    if lacking:
        lost = [statement_of(c) for c in demanded.claims or () if digest(c) not in settled]
        ledger.lines.append(
            f"rejected: a claim of the case has no proof{''.join([': ', *lost[:1]] * bool(lost))}"
        )
    elif status == "holds" and not names:
        ledger.lines.append("nothing is compared: there is no claim")
    if status == "unknown" and wanted is not None and not missing:
        raise Misformed("all claims of the case are proved, so the status must not be 'unknown'", "status")
    if status == "violated":
        _check_witness(about, document["witness"], wanted)
        if {digest(claim) for claim in demanded.obligations or ()} - settled:
            raise Rejected("an obligation of the model has no proof")
        named = wanted is not None
        told = {**document["witness"], "claim": about.full(document["witness"]["claim"])}
        ledger.lines.append(told_witness(told, named))
    elif not about.named and _may_be_empty(about) and not lacking and not ledger.rejected:
        ledger.lines.append(NO_POINT)
    ledger.rejected = ledger.rejected or "a claim has no proof" * lacking
    ledger.add(own)
    return ledger.report(status)


def _check_points(about: Evidence) -> None:
    """Checks that points are in the domains of the claims, and of that which a witness refutes.

    A claim −1 ≥ 0 says that there is no point in its domain, so none of the points has to be there.
    """
    claims = [s for _, s in about.of("claim") if s.get("origins")]
    claims += [about.document["witness"]["claim"]] if "witness" in about.document else []
    about.check_points(claim["domain"] for claim in claims if claim["polynomial"] != "-1")


def _check_witness(about: Evidence, witness: Mapping[str, Any], wanted: set[str] | None) -> None:
    """Checks that a claim, which must be one that is wanted, fails at a witness, and its numbers."""
    full, claim = about.full(witness["claim"]), about.claim(witness["claim"])
    if wanted is not None and digest(full) not in wanted:
        raise Rejected("the witness is about a claim that the case does not make")
    if "algebraic" in witness:
        check_place(claim, witness)
    else:
        check(witness["parameters"], evidence_shapes.POINT)
        check_fails(claim, witness["parameters"])
    check_numbers({**{name: value for name, value in witness.items() if name != "kind"}, "claim": full})


def _may_be_empty(about: Evidence) -> bool:
    """Tells whether claims may be true because their constraints contradict each other.

    Points are not checked with a claim −1 ≥ 0: of its constraints one may be what is claimed, see
    `_check_points`.
    """
    pointed = bool(about.document.get("points"))
    return any(
        statement.get("origins")
        and about.written(statement["domain"])["constraints"]
        and (statement["polynomial"] == "-1" or not pointed)
        for _, statement in about.of("claim")
    )
