"""What `sample` tells of a case: lines, and a JSON document."""

from __future__ import annotations

from typing import Any

from paramverify.reports import bisection, sampling, set_sampling
from paramverify.statistics.testing import Goal, Sampled


def lines(found: Sampled) -> list[str]:
    """Returns in words what testing found, and what was made of it."""
    if found.audit:
        return sampling.audit_lines(found.audit)
    if found.sets:
        certify = found.plan.goal is Goal.CERTIFY
        code = found.plan.function is not None
        known = found.model, found.certified_sets, found.unknown
        return [
            *(set_sampling.certified_lines(*known, code) if certify else []),
            *set_sampling.lines(found.sets),
        ]
    assert found.detection is not None
    told = sampling.lines(found.detection)
    if found.plan.goal is None:
        return [*told, "", *sampling.table(found.detection)]
    if found.halved:
        return [*bisection.lines(found.halved), *told]
    if found.plan.goal is Goal.CERTIFY:
        code = found.plan.function is not None
        return [*sampling.certified_lines(found.model, found.certified, found.unknown, code), *told]
    assert found.tight is not None
    return [*sampling.tight_lines(found.tight), *told]


def document(found: Sampled) -> dict[str, Any]:
    """Returns the same as JSON data."""
    if found.audit:
        return sampling.audit_document(found.audit)
    if found.sets:
        told = set_sampling.document(found.sets)
        if found.plan.goal is Goal.CERTIFY:
            told |= set_sampling.certified_document(found.model, found.certified_sets, found.unknown)
        return told
    assert found.detection is not None
    told = sampling.document(found.detection)
    if found.halved:
        return told | bisection.document(found.halved)
    if found.plan.goal is Goal.CERTIFY:
        return told | sampling.certified_document(found.model, found.certified, found.unknown)
    return told | sampling.tight_document(found.tight) if found.tight else told
