"""Verification of (ε, δ) privacy: claims about sums, decided one after the other, and their evidence.

Private means: for every θ in the domain, every secret pair, both of its directions and every set S of
outputs of one length, `Pr(S | left, θ) ≤ e^ε·Pr(S | right, θ) + δ`, wherever both secrets have positive
probability: Pufferfish privacy ([KiferMachanavajjhala14]) with the comparison of [DworkRoth14]
Definition 2.4, as in [ZhangOC22].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from fractions import Fraction
from typing import Any

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Point, Polynomial
from paramverify.answers import Decision, End, Open
from paramverify.claims import Claim, Direction, to_document, without_enclosure
from paramverify.encodings.output_sums import Excess, excesses, statement
from paramverify.errors import DefectError, LimitError, TimeLimitError
from paramverify.evidence.certificates import Token
from paramverify.evidence.witnesses import ExactSetWitness, find_violation
from paramverify.models.model import Model
from paramverify.portfolio.session import Session
from paramverify.privacy.cuts import breaking_sample, is_broken, signed
from paramverify.privacy.every_length_verification import EveryLengthOutcome
from paramverify.privacy.set_spreading import decide_excesses
from paramverify.verdicts import Holds, Unknown, Violated

FORMAT, VERSION = "paramverify-sets", 1

Progress = Callable[[int, int], None]


def verify_sets(session: Session, model: Model, progress: Progress | None = None) -> EveryLengthOutcome:
    """Decides an (ε, δ) model whose obligations are proved; ends at the first violation."""
    try:
        claims = excesses(model)
        return _decided(session, model, claims, progress)
    except LimitError as error:
        end = End.TIMEOUT if isinstance(error, TimeLimitError) else End.GAVE_UP
        return EveryLengthOutcome(Unknown(end, str(error)))


def _decided(
    session: Session, model: Model, claims: Sequence[Excess], progress: Progress | None
) -> EveryLengthOutcome:
    for claim in claims if len(claims) > 1 else ():  # what is easily seen comes first
        session.in_time()
        point = breaking_sample(claim)
        if point is not None:
            witness = find_set(model, claim, point)
            return EveryLengthOutcome(Violated(witness), (), (), violation_document(claim, witness))
    trees: list[tuple[Excess, Sequence[Token]]] = []
    made: list[tuple[Claim, Decision]] = []
    doubt: tuple[Excess, Open] | None = None
    with closing(decide_excesses(claims, session)) as results:
        for number, (claim, found) in enumerate(zip(claims, results, strict=True), 1):
            made += found.decisions
            if progress:
                progress(number, len(claims))
            if found.point is not None:
                witness = find_set(model, claim, found.point)
                document = violation_document(claim, witness)
                own, decisions = _parts(found.decisions)
                return EveryLengthOutcome(Violated(witness), own, decisions, document)
            if found.tree is not None:
                trees.append((claim, found.tree))
            elif found.reason and not doubt:
                doubt = claim, found.reason
    own, decisions = _parts(made)
    document = proof_document(trees, model.domain)
    if doubt:
        origin = Direction(*doubt[0].origins[0])
        return EveryLengthOutcome(
            Unknown(doubt[1].end, f"{origin}: {doubt[1].detail}"), own, decisions, document
        )
    return EveryLengthOutcome(Holds(decisions), own, decisions, document)


def _parts(made: Sequence[tuple[Claim, Decision]]) -> tuple[tuple[Claim, ...], tuple[Decision, ...]]:
    return tuple(claim for claim, _ in made), tuple(decision for _, decision in made)


def find_set(model: Model, claim: Excess, point: Point) -> ExactSetWitness:
    """Returns the worst set of outputs at a simple point near one where the claim fails exactly."""
    parameters = {name: Fraction(point[name]) for name in model.domain.ring.parameters}
    # The set that is worst here is too much at more points; the worst one there can only be more.
    broken = Claim(signed(claim, parameters), claim.domain, (Direction(*claim.origins[0]),))
    witness = find_violation(model, broken, parameters)
    if not isinstance(witness, ExactSetWitness) or not is_broken(claim, witness.parameters):
        raise DefectError("a set of outputs is too likely at a point where the sum is within its bound")
    return witness


# --- evidence ----------------------------------------------------------------------------------------


def domain_document(domain: Domain, zero: Polynomial) -> dict[str, Any]:
    """Returns a domain as JSON data; the constant `E` has no interval."""
    document = to_document(without_enclosure(Claim(zero, domain)))
    del document["polynomial"]
    return document


def proof_document(trees: Sequence[tuple[Excess, Sequence[Token]]], domain: Domain) -> dict[str, Any]:
    """Returns the trees that prove claims about sums, for `checker.set_evidence`."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "domain": domain_document(domain, domain.ring.number(0)),
        "claims": [{**statement(claim), "tree": list(tree)} for claim, tree in trees],
    }


def violation_document(claim: Excess, witness: ExactSetWitness) -> dict[str, Any]:
    """Returns a claim about a sum that fails, and the point; `reports` adds the numbers of the witness."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "domain": domain_document(claim.domain, claim.room),
        "claims": [],
        "witness": {"claim": statement(claim)},
    }
