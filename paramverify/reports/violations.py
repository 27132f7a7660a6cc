"""The witness of a violation as evidence, and again from the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.number_fields import read_point
from paramverify.algebra.polynomials import primitive
from paramverify.checker import claims as checker
from paramverify.checker.strict import Misformed
from paramverify.claims import AllOutputs, Claim, Origin, Stated, to_document, without_enclosure
from paramverify.encodings.choice import claims_of
from paramverify.encodings.sequences import forward_sum
from paramverify.errors import DefectError
from paramverify.evidence import algebraic, certificates
from paramverify.evidence.algebraic import AlgebraicCounterexample, AtAlgebraic
from paramverify.evidence.enclosed import EnclosureWitness
from paramverify.evidence.losses import LossWitness
from paramverify.evidence.moments import MomentWitness
from paramverify.evidence.pairs import pair_of
from paramverify.evidence.witnesses import (
    AnyWitness,
    ExactCounterexample,
    ExactSetWitness,
    compare_at,
    divergence_at,
    evaluate,
)
from paramverify.formats.refutations import fails_at, fails_at_algebraic
from paramverify.models.divergences import Renyi
from paramverify.models.inequality import Inequality
from paramverify.models.kinds import AnyModel, need_formulas, need_privacy
from paramverify.models.model import Model
from paramverify.reports import documents


def broken_claim(model: AnyModel, found: AnyWitness) -> Claim:
    """Returns the claim that fails at a witness."""
    if isinstance(found, AlgebraicCounterexample):
        stated = (c for c in claims_of(model) if found.stated in c.origins)
        return next(c for c in stated if fails_at_algebraic(c, found.point))
    if isinstance(found, ExactCounterexample):
        failing = (c for c in claims_of(model) if found.stated in c.origins and fails_at(c, found.parameters))
        return without_enclosure(next(failing))
    if isinstance(found, MomentWitness):
        origin = AllOutputs(found.left, found.right, length=found.length)
        failing = (c for c in claims_of(model) if origin in c.origins and fails_at(c, found.parameters))
        return without_enclosure(next(failing))
    if isinstance(found, ExactSetWitness | LossWitness | EnclosureWitness):
        raise DefectError("a set of outputs, a loss or an enclosure breaks no polynomial claim")
    return claim_of(
        need_privacy(model, "this witness", tied=True, densities=True),
        Origin(found.left, found.right, found.observations),
    )


def witness_document(broken: Claim, found: AnyWitness) -> dict[str, Any]:
    """Returns a witness as evidence has it, with the claim that fails there."""
    if isinstance(found, AtAlgebraic):
        return {**algebraic.document(found), "claim": to_document(broken)}
    return certificates.witness(broken, found.parameters, documents.evidence_of(found))


def claim_of(model: Model, origin: Origin) -> Claim:
    """Returns the claim that one sequence of observations makes about one direction of a secret pair."""
    pair = pair_of(model, origin.left, origin.right)
    left, right = (forward_sum(model, start, origin.observations) for start in (pair.pi, pair.tau))
    f = model.measure.at(pair.distance).claim(left * pair.tau.mass, right * pair.pi.mass)
    return without_enclosure(Claim(primitive(f)[1], model.domain, (origin,)))


def recheck_witness(
    document: Mapping[str, Any], model: AnyModel, report: checker.KernelReport
) -> checker.KernelReport:
    """Evaluates the witness of accepted evidence again, from the model; the numbers must agree.

    Raises:
        Rejected: they do not.
    """
    written = document["witness"]
    if "algebraic" in written:
        return _recheck_algebraic(written, model, report)
    point = {name: Fraction(value) for name, value in written["parameters"].items()}
    found: AnyWitness
    model = need_formulas(model, "evidence")
    if isinstance(model, Inequality):
        found = compare_at(model, Stated(int(written["number"]), written["statement"]), point)
        shown = found.fails
    else:
        left, right = written["secrets"]
        if isinstance(model.measure, Renyi):
            if written["length"] not in model.lengths:
                raise checker.Rejected("the case is not about sequences of this length")
            found = divergence_at(model, AllOutputs(left, right, length=written["length"]), point)
        else:
            found = evaluate(model, Origin(left, right, tuple(written["observations"])), point)
        shown = found.exceeds
        if (left, right) != (found.left, found.right):
            raise Misformed("the case has other names for the secrets", "witness", "secrets")
    own = documents.evidence_of(found)
    if not shown:
        raise checker.Rejected("the model does not pass its bound at the witness")
    for name in (own.keys() | written.keys()) - {"parameters", "claim"}:
        if written.get(name) != own.get(name):
            raise Misformed("the model gives something else", "witness", name)
    return replace(report, lines=(*report.lines, "witness: evaluated again from the model"))


def _recheck_algebraic(
    written: Mapping[str, Any], model: AnyModel, report: checker.KernelReport
) -> checker.KernelReport:
    """Evaluates a witness at an algebraic point again, from the model; the numbers must agree.

    Raises:
        Rejected: they do not.
    """
    point = read_point(written["algebraic"])
    found: AtAlgebraic
    if isinstance(model, Inequality):
        found = algebraic.compare_at(model, Stated(int(written["number"]), written["statement"]), point)
        shown = found.fails
    else:
        left, right = written["secrets"]
        model = need_privacy(model, "this witness")
        found = algebraic.evaluate(model, Origin(left, right, tuple(written["observations"])), point)
        shown = found.exceeds
    if not shown:
        raise checker.Rejected("the model does not pass its bound at the witness")
    own = algebraic.document(found)
    for name in (own.keys() | written.keys()) - {"claim"}:
        if written.get(name) != own.get(name):
            raise Misformed("the model gives something else", "witness", name)
    return replace(report, lines=(*report.lines, "witness: evaluated again from the model"))
