"""Evidence about what is near the secrets of a large prior: which pairs, and their claims derived again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from paramverify.algebra.polynomials import key
from paramverify.checker.shapes import WINDOWED
from paramverify.checker.strict import Misformed, Rejected
from paramverify.claims import Claim, to_document, without_enclosure
from paramverify.encodings.windows import windows_of
from paramverify.models.model import Model
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.window_verification import MAX_DISTANCE


def statement(windows: Sequence[tuple[str, str, int]]) -> dict[str, Any]:
    """Returns the pairs that windows prove, with their distances, and why their claims are enough."""
    return {"statement": WINDOWED, "pairs": [list(own) for own in windows]} if windows else {}


def expected(
    stated: Mapping[str, Any], case: PrivacyCase, told: Mapping[str, set[str]]
) -> tuple[list[dict[str, Any]], Model]:
    """Returns the claims of the windows, derived again, and the model with the pairs that are left.

    For each origin in words that is a key of `told`, the polynomials of its claims are added there.

    Raises:
        Rejected: they are not about pairs of the case, or there are no such windows.
    """
    model = case.model
    windows = windows_of(model, case.whole) if isinstance(model, Model) else None
    if windows is None or not isinstance(model, Model):
        raise Rejected("the case has no windows")
    pairs = {(pair.left, pair.right): pair for pair in model.pairs}
    found: dict[str, Claim] = {}
    for place, (left, right, distance) in enumerate(stated["pairs"]):
        if (left, right) not in pairs:
            raise Misformed("no pair of the case, or one that was there before", "windows", "pairs", place)
        pair = pairs.pop((left, right))
        claims = windows.claims(pair, distance) if 1 <= distance <= MAX_DISTANCE else None
        if claims is None:
            raise Misformed("there is no such window", "windows", "pairs", place)
        for claim in claims:
            found.setdefault(key(claim.polynomial), claim)
            for words in told.keys() & {str(origin) for origin in claim.origins}:
                told[words].add(key(claim.polynomial))
    left_over = replace(model, pairs=tuple(pairs.values()))
    return [to_document(without_enclosure(claim)) for claim in found.values()], left_over
