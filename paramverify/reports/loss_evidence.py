"""Evidence about divergences that are no polynomials (`kl`, `zcdp`): written, and compared with a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.points import contains
from paramverify.checker import claims as checker
from paramverify.checker import losses as kernel
from paramverify.checker.loss_values import WIDE
from paramverify.checker.strict import Misformed
from paramverify.claims import AllOutputs
from paramverify.encodings.together import listed_statements
from paramverify.errors import InputError
from paramverify.evidence.losses import LossWitness, loss_at, model_at
from paramverify.evidence.pairs import pair_of
from paramverify.models.divergences import LossBound, LossKind
from paramverify.models.model import Model
from paramverify.privacy.approximate import domain_document
from paramverify.privacy.loss_proofs import bound_document, document, violation
from paramverify.privacy.verification import PrivacyReport
from paramverify.reports import documents
from paramverify.verdicts import Violated

ROUNDED = ("value", "bound")  # balls with errors; the kernel encloses these by itself


def certificate(model: Model, measure: LossBound, report: PrivacyReport) -> dict[str, Any]:
    """Returns the trees of a report, or its witness with the claim that fails there."""
    if isinstance(report.verdict, Violated) and isinstance(report.verdict.witness, LossWitness):
        found = report.verdict.witness
        made = violation(model, measure, found)
        return {**made, "witness": {**made["witness"], **exact_witness(found)}}
    return dict(report.certificate or document(model.domain, measure, []))


def exact_witness(found: LossWitness) -> dict[str, Any]:
    """Returns a witness with rationals instead of floats."""
    low, high = found.bound
    value = "infinity" if found.value is None else [documents.exact(end) for end in found.value]
    bound = documents.exact(low) if low == high else [documents.exact(low), documents.exact(high)]
    return {**documents.evidence_of(found), "value": value, "bound": bound}


def check_losses(
    written: Mapping[str, Any], model: Model, obligations: list[dict[str, Any]]
) -> checker.KernelReport:
    """Checks claims about losses, each the case's own, derived forwards and one sequence after the other.

    Raises:
        Rejected: the case has another measure, bound or domain, or gives other numbers for the witness.
    """
    measure = model.measure
    if not isinstance(measure, LossBound) or written["measure"] != measure.kind.value:
        raise checker.Rejected("the case has another measure")
    if written["bound"] != bound_document(measure):
        raise Misformed("the case has another bound", "bound")
    if written["domain"] != domain_document(model.domain, model.domain.ring.number(0)):
        raise checker.Rejected("the case has another domain")
    report = kernel.check_document(written, listed_statements(model), obligations)
    if report.accepted and "witness" in written:
        found = again(model, measure, written["witness"])
        if not found.exceeds:
            raise checker.Rejected("the model does not pass its bound at the witness")
        return replace(report, lines=(*report.lines, "witness: evaluated again from the model"))
    return report


def evaluated(
    model: Model,
    measure: LossBound,
    origin: tuple[str, str, int],
    point: Mapping[str, Fraction],
    order: Fraction | None,
) -> LossWitness:
    """Returns a divergence at a point, from the model.

    Raises:
        InputError: unknown secrets, or one that is impossible there.
    """
    left, right, length = origin
    pair = pair_of(model, left, right)
    own = AllOutputs(pair.left, pair.right, length=length)
    return loss_at(model_at(model, own, point, pair), measure, order)


def again(model: Model, measure: LossBound, written: Mapping[str, Any]) -> LossWitness:
    """Evaluates a witness again, from the model; the numbers must agree.

    Raises:
        Rejected: they do not.
    """
    left, right = written["secrets"]
    if written["length"] not in model.lengths:
        raise checker.Rejected("the case is not about sequences of this length")
    point = {name: Fraction(value) for name, value in written["parameters"].items()}
    if point.keys() != set(model.domain.ring.parameters):
        raise Misformed("the case has other parameters", "witness", "parameters")
    order = Fraction(written["order"]) if "order" in written else None
    if (order is None) != (measure.kind is LossKind.KL) or (order is not None and order <= 1):
        raise Misformed("not above 1, or not of this measure", "witness", "order")
    if not contains(model.domain, point):
        raise checker.Rejected("the witness is outside of the domain")
    try:
        found = evaluated(model, measure, (left, right, written["length"]), point, order)
    except InputError as error:
        raise checker.Rejected(f"a witness: {error}") from None
    own = exact_witness(found)
    for name in (own.keys() | written.keys()) - {"claim", *ROUNDED}:
        if written.get(name) != own.get(name):
            raise Misformed("the model gives something else", "witness", name)
    for name in ROUNDED:
        if not _is_near(written[name], own[name]):
            raise Misformed("the model gives something else", "witness", name)
    return found


def _is_near(told: Any, own: Any) -> bool:
    """Tells whether numbers enclose the same as own ones, and as narrowly; both may be "infinity"."""
    if "infinity" in (told, own):
        return bool(told == own)
    both = ([each, each] if isinstance(each, str) else each for each in (told, own))
    (low, high), (least, most) = (map(Fraction, each) for each in both)
    return low <= most and least <= high and high - low <= most - least + WIDE
