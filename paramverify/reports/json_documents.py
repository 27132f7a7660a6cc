"""JSON documents: exact numbers as strings such as `"24/7"`."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

from paramverify.algebra.budgets import outward
from paramverify.algebra.polynomials import rational
from paramverify.algebra.reals import Real
from paramverify.answers import Decision, FailsAt, Open, Standing
from paramverify.claims import AllOutputs, Direction, Origin, Stated
from paramverify.evidence import algebraic_witnesses
from paramverify.evidence.algebraic_witnesses import AtAlgebraic
from paramverify.evidence.divergence_witnesses import LossWitness, MomentWitness
from paramverify.evidence.enclosed_witnesses import EnclosureWitness
from paramverify.evidence.interval_witnesses import Chance, OutputSets
from paramverify.evidence.witnesses import AnyWitness, ExactCounterexample, ExactSetWitness
from paramverify.models.model import AnyModel
from paramverify.privacy.larger_ranges import Larger
from paramverify.reports import sentences
from paramverify.verdicts import status_of

if TYPE_CHECKING:
    from paramverify.privacy.cases import PrivacyCase


def exact(value: Fraction) -> str:
    """Returns a rational of any length as `"24/7"`."""
    return str(rational(value))


def real(value: Real | None) -> str | dict[str, str]:
    """Returns an exact number: a string, or with `E = exp(q)` its formula and rational bounds."""
    if value is None:
        return "infinity"
    if value.rational is not None:
        return str(value)
    low, high = value.enclosure()
    return {"exact": value.describe(), "lower": str(low), "upper": str(high)}


def witness(found: AnyWitness) -> dict[str, Any]:
    """Returns a witness as answers have it: as in evidence, with unbounded parameters in words."""
    meaning = found.meant
    if isinstance(found, MomentWitness):
        told = {"divergence": found.measure.value_near(found.moment)}
        return evidence_of(found) | told | ({"meaning": dict(meaning)} if meaning else {})
    return evidence_of(found) | ({"meaning": dict(meaning)} if meaning else {})


def evidence_of(found: AnyWitness) -> dict[str, Any]:
    """Returns a witness as evidence has it: parameters, secrets, observations, probabilities, ratio, bound.

    Of an inequality it is the parameters, the comparison, and the values of its sides; of a set of outputs
    `outputs` are its sequences, and `beyond` is what `delta` would have to be for it. Of a divergence
    `moment` is the sum over all outputs, and `largest` are the outputs that contribute most.
    """
    if isinstance(found, AtAlgebraic):
        return algebraic_witnesses.document(found)
    if isinstance(found, LossWitness | MomentWitness):
        return _together(found)
    if isinstance(found, EnclosureWitness):
        return sentences.witness_document(found)
    if isinstance(found, ExactSetWitness):
        return {
            "parameters": {name: str(value) for name, value in found.parameters.items()},
            "secrets": [found.left, found.right],
            "length": found.length,
            "outputs": [list(word) for word in found.outputs],
            "probabilities": [real(p) for p in found.probabilities],
            "bound": real(found.bound),
            "delta": real(found.delta),
            "beyond": real(found.beyond),
            "exceeds": found.exceeds,
        }
    if isinstance(found, ExactCounterexample):
        return {
            "parameters": {name: str(rational(value)) for name, value in found.parameters.items()},
            "number": found.stated.number,
            "statement": found.stated.text,
            "relation": found.relation,
            "left": real(found.left),
            "right": real(found.right),
            "difference": real(found.difference),
            "fails": found.fails,
        }
    return {
        "parameters": {name: str(value) for name, value in found.parameters.items()},
        "secrets": [found.left, found.right],
        "observations": list(found.observations),
        "probabilities": [real(p) for p in found.probabilities],
        "ratio": real(found.ratio) if found.probabilities[0].sign() > 0 or found.ratio else "undefined",
        "bound": real(found.bound),
        "exceeds": found.exceeds,
        **({"distance": str(found.distance)} if found.distance is not None else {}),
        **({"densities": True} if found.densities else {}),
        **({"within": _within(found.within)} if found.within else {}),
    }


def _within(found: OutputSets) -> dict[str, Any]:
    """Returns sets of outputs with their probabilities: exact, or two numbers between which each lies."""
    return {
        "observations": list(found.observations),
        "probabilities": [_chance(p) for p in found.probabilities],
        "ratio": _chance(found.ratio),
        **({"steps": {name: exact(step) for name, step in found.steps}} if found.steps else {}),
    }


def _chance(value: Chance | None) -> str | dict[str, str]:
    if isinstance(value, tuple):
        low, high = map(exact, value)
        return {"lower": low, "upper": high}
    return real(value)


def _together(found: LossWitness | MomentWitness) -> dict[str, Any]:
    if isinstance(found, LossWitness):
        low, high = found.bound
        return {
            "parameters": {name: str(value) for name, value in found.parameters.items()},
            "secrets": [found.left, found.right],
            "length": found.length,
            "measure": found.kind.key,
            **({"order": exact(found.order)} if found.order is not None else {}),
            "value": between(found.value),
            "bound": exact(low) if low == high else between(found.bound),
            "exceeds": found.exceeds,
            "largest": _largest(found),
        }
    return {
        "parameters": {name: str(value) for name, value in found.parameters.items()},
        "secrets": [found.left, found.right],
        "length": found.length,
        **found.measure.document(),
        "moment": real(found.moment),
        "bound": real(found.bound),
        "exceeds": found.exceeds,
        "largest": _largest(found),
    }


def _largest(found: MomentWitness | LossWitness) -> list[dict[str, Any]]:
    return [
        {"output": list(share.output), "probabilities": [real(p) for p in share.probabilities]}
        for share in found.largest
    ]


def between(ends: tuple[Fraction, Fraction] | None) -> str | list[float]:
    """Returns floats between which a number lies, or infinity."""
    return "infinity" if ends is None else [outward(ends[0], -inf), outward(ends[1], inf)]


def origin(found: Origin | Stated | Direction) -> dict[str, Any]:
    """Returns where a claim comes from: secrets and observations, or the comparison of the case."""
    if isinstance(found, Stated):
        return {"statement": found.text}
    if isinstance(found, AllOutputs):
        return {"secrets": [found.left, found.right], "length": found.length, "about": "all outputs"}
    if isinstance(found, Direction):
        return {"secrets": [found.left, found.right], "length": found.length, "about": "sets of outputs"}
    return {"secrets": [found.left, found.right], "observations": list(found.observations)}


def side_condition(model: AnyModel) -> dict[str, str]:
    """Returns what a verdict about the model is about besides, in words, if there is anything."""
    return {"side_condition": model.side_condition} if model.side_condition else {}


def inputs(case: PrivacyCase) -> dict[str, str]:
    """Returns the inputs that an answer is about, such as `q in {0..4}^2`, if the case lists any."""
    return {"inputs": case.over} if case.over else {}


def standing(status: Standing, model: AnyModel | None = None) -> dict[str, str]:
    """Returns a verdict about a model, or about one claim if there is no model: both of its words."""
    return {"status": status, "verdict": sentences.verdict(status, model) if model else status.of_claim}


def decision(made: Decision) -> dict[str, Any]:
    """Returns how a claim was settled."""
    answer = made.answer
    document: dict[str, Any] = {"backend": made.backend, "seconds": round(made.seconds, 6)}
    if made.version:
        document["version"] = made.version
    if made.options:
        document["options"] = dict(made.options)
    document |= standing(status_of(answer))
    if isinstance(answer, FailsAt):
        document["detail"] = answer.detail
    elif isinstance(answer, Open):
        document |= {"end": answer.end.value, "detail": answer.detail}
    return document


def larger(found: Larger | None) -> dict[str, Any]:
    """Returns a violation among larger inputs than those of a case as JSON data, if one is known."""
    return {"larger": {"inputs": found.over, "witness": witness(found.witness)}} if found else {}
