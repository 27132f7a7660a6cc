"""What `sample` tells of a case: lines, and a JSON document."""

from __future__ import annotations

from typing import Any

from paramverify.reports import bisection, divergence_sampling, documents, sampling, set_sampling, text
from paramverify.statistics.detection import Detection
from paramverify.statistics.set_detection import SetDetection
from paramverify.statistics.testing import AnyDetection, SamplingGoal, SamplingResult


def detected_lines(found: AnyDetection) -> list[str]:
    """Returns in words what testing alone found."""
    if isinstance(found, SetDetection):
        return set_sampling.lines(found)
    return sampling.lines(found) if isinstance(found, Detection) else divergence_sampling.lines(found)


def detected_document(found: AnyDetection) -> dict[str, Any]:
    """Returns the same as JSON data."""
    if isinstance(found, SetDetection):
        return set_sampling.document(found)
    return sampling.document(found) if isinstance(found, Detection) else divergence_sampling.document(found)


def lines(found: SamplingResult) -> list[str]:
    """Returns in words what testing found, and what was made of it."""
    if found.audit:
        return sampling.audit_lines(found.audit)
    tested = found.detection or found.sets or found.divergence
    assert tested is not None
    told = detected_lines(tested)
    certify, code = found.plan.goal is SamplingGoal.CERTIFY, found.plan.function is not None
    if found.sets:
        known = found.model, found.certified_sets, found.unknown
        return [*(set_sampling.certified_lines(*known, code) if certify else []), *told]
    if found.divergence:
        pairs = found.divergence, found.certified_pairs
        return [*(divergence_sampling.certified_lines(*pairs, code) if certify else []), *told]
    assert found.detection is not None
    if found.plan.goal is None:
        return [*told, "", *sampling.table(found.detection)]
    about = f"  {text.priors(found.model.domain, found.case)}"
    if found.halved:
        first, *more = bisection.lines(found.halved)
        return [first, about, *more, *told]
    if certify:
        return [*sampling.certified_lines(found.model, found.certified, found.unknown, code), *told]
    assert found.tight is not None
    first, *more = sampling.tight_lines(found.tight)
    return [first, about, *more, *told]


def document(found: SamplingResult) -> dict[str, Any]:
    """Returns the same as JSON data."""
    if found.audit:
        return sampling.audit_document(found.audit)
    tested = found.detection or found.sets or found.divergence
    assert tested is not None
    told = detected_document(tested)
    certify = found.plan.goal is SamplingGoal.CERTIFY
    if found.sets:
        known = found.model, found.certified_sets, found.unknown
        return told | (set_sampling.certified_document(*known) if certify else {})
    if found.divergence:
        return told | (divergence_sampling.certified_document(found.certified_pairs) if certify else {})
    about = documents.inputs(found.case)
    if found.halved:
        return told | bisection.document(found.halved) | about
    if certify:
        return told | sampling.certified_document(found.model, found.certified, found.unknown)
    return told | sampling.tight_document(found.tight) | about if found.tight else told
