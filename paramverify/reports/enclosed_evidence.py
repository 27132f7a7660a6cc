"""Evidence about enclosed probabilities: the ways through a program, and how fine they have to be cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import arb

from paramverify.algebra.constants import working_precision
from paramverify.algebra.polynomials import RationalFunction, fraction, in_generator
from paramverify.checker import claims as checker
from paramverify.checker import enclosed as kernel
from paramverify.checker.logarithms import UNIT
from paramverify.checker.second_enclosed import read_ways
from paramverify.checker.strict import Rejected, UnreadCase
from paramverify.errors import InputError
from paramverify.evidence.enclosed import EnclosureWitness
from paramverify.models.enclosed import FIRST_BITS, EnclosedModel, EnclosedProbabilities
from paramverify.models.measures import Approximate, Pure
from paramverify.models.programs.densities import number
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.verification import PrivacyReport
from paramverify.verdicts import Violated

CELLS = ((400, 40), (1_600, 120), (6_400, 360), (25_600, 1_000))


def enclosed_document(case: PrivacyCase, model: EnclosedModel, report: PrivacyReport) -> dict[str, Any]:
    """Returns the ways through the program of a case, its bounds, and how fine the kernel has to cut.

    Raises:
        InputError: there is no such evidence.
    """
    document = {
        "format": kernel.FORMAT,
        "version": 1,
        "status": report.status.value,
        **_bounds(model, case),
        **_ways(case),
    }
    if isinstance(report.verdict, Violated) and isinstance(report.verdict.witness, EnclosureWitness):
        found = report.verdict.witness
        document["witness"] = {"secrets": [found.left, found.right], "outputs": list(found.outputs)}
    told = ""
    for cells in CELLS:
        checked = kernel.check_document(document | {"cells": list(cells)})
        if checked.accepted:
            return document | {"cells": list(cells)}
        told = checked.lines[-1]
    raise _none(case, f"the checker does not come to it: {told}")


def check_has_enclosed_evidence(case: PrivacyCase, model: EnclosedModel) -> None:
    """Checks that there may be evidence about enclosed probabilities of a case.

    Raises:
        InputError: there is none.
    """
    _bounds(model, case)
    _ways(case)


def _none(case: PrivacyCase, reason: str) -> InputError:
    return InputError(f"this verdict has no evidence: {reason}", key="mechanism", file=case.path)


def _ways(case: PrivacyCase) -> dict[str, Any]:
    try:
        return read_ways(case.text, Path(case.path).parent, case.settings)[0]
    except UnreadCase as error:
        raise _none(case, f"the checker does not know {error}") from None


def _bounds(model: EnclosedModel, case: PrivacyCase) -> dict[str, Any]:
    """Returns the bound and the delta of a model."""
    measure = model.measure
    if not isinstance(measure, Pure | Approximate) or not model.pairs:
        raise _none(case, "its bound depends on the distance of the inputs, or there are none")
    ratio = model.ratio(model.pairs[0])
    found: dict[str, Any] = {"bound": _bound(ratio, model, case)}
    if isinstance(measure, Approximate):
        delta = _bound(measure.delta, model, case)
        if delta["of"] != "ratio":
            raise _none(case, "its delta has exp")
        found["delta"] = delta["value"]
    return found


def _bound(function: RationalFunction, model: EnclosedModel, case: PrivacyCase) -> dict[str, str]:
    """Returns a number that is rational, or exp of a rational."""
    top, bottom = in_generator(function.numerator), in_generator(function.denominator)
    powers = [[k for k in range(f.degree() + 1) if f[k]] for f in (top, bottom)]
    if any(len(own) != 1 for own in powers) and function.numerator:
        raise _none(case, "its bound is no single power of e")
    if not function.numerator:
        return {"of": "ratio", "value": "0"}
    (high,), (low,) = powers
    factor = fraction(top[high]) / fraction(bottom[low])
    if high == low:
        return {"of": "ratio", "value": str(factor)}
    constant = model.table.functions.ring.constant
    if factor != 1 or constant is None:
        raise _none(case, "its bound is no single power of e")
    return {"of": "epsilon", "value": str((high - low) * constant.exponent)}


def check_enclosed(
    document: Mapping[str, Any], case: PrivacyCase, obligations: list[dict[str, Any]]
) -> checker.KernelReport:
    """Checks evidence about enclosed probabilities, and compares it with the balls of the case itself.

    Raises:
        Rejected: the case has other bounds, inputs, pairs or probabilities.
    """
    model = case.model
    if not isinstance(model, EnclosedModel):
        raise Rejected("the probabilities of the case are not enclosed")
    stated = {name: document[name] for name in ("bound", "delta") if name in document}
    if stated != _bounds(model, case):
        raise Rejected("the case has other bounds")
    pairs = [(pair.left, pair.right) for pair in model.pairs]
    told = [(left, right) for left, right in document["pairs"]]
    if {frozenset(pair) for pair in pairs} != {frozenset(pair) for pair in told}:
        raise Rejected("the case has other pairs")
    rows = kernel.rows_of(document)
    report = kernel.check_document(document, obligations, rows)
    if not report.accepted:
        return report
    count = _compare(rows, model)
    line = f"the bounds of {count} probabilities agree with enclosures of the model"
    return replace(report, lines=(*report.lines, line))


def _compare(rows: kernel.Rows, model: EnclosedModel) -> int:
    """Compares bounds with balls: both contain the probability, so they meet; returns how many there are."""
    known, count = EnclosedProbabilities(model.table, FIRST_BITS), 0
    names = model.table.observations
    starts = {
        name: start for pair in model.pairs for name, start in ((pair.left, pair.pi), (pair.right, pair.tau))
    }
    if starts.keys() != rows.keys():
        raise Rejected("the case has other inputs")
    for name, start in starts.items():
        balls = dict(zip(names, known.under(start), strict=True))
        with working_precision(known.encloser.precision):
            for output in balls.keys() | rows[name].keys():
                low, high = (number(Fraction(end, UNIT)) for end in rows[name].get(output, (0, 0)))
                ball = balls.get(output, arb(0))
                if ball < low or ball > high:
                    raise Rejected(f"another probability of {output!r:.60} under {name!r:.60}")
                count += 1
    return count
