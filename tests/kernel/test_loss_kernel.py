"""The kernel of kl and zcdp by itself: outputs are distributions, and a witness tells its own numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paramverify.kernel.documents import check_text

Document = dict[str, Any]


def document(outputs: list[list[str]], bound: str, **more: Any) -> Document:
    """Evidence about outputs with constant probabilities."""
    products = [["1", []], *([text, []] if text != "0" else None for pair in outputs for text in pair)]
    claim = {"total": "1", "outputs": outputs, "origins": [["a", "b", 1]]}
    return {
        "format": "paramverify-losses",
        "version": 1,
        "measure": "kl",
        "bound": [bound, []],
        "domain": {"variables": ["t"], "box": {"t": "[1/2, 3/4]"}, "constraints": []},
        "claims": [{**claim, "factors": [], "products": products, "tree": [["+", []]]}],
        "status": "holds",
        "obligations": [],
        **more,
    }


def violation(outputs: list[list[str]], bound: str, told: str | list[str] | None = None) -> Document:
    """Evidence that outputs are too far apart."""
    claim = {"total": "1", "outputs": outputs, "origins": [["a", "b", 1]]}
    witness = {
        "parameters": {"t": "1/2"},
        "secrets": ["a", "b"],
        "length": 1,
        "measure": "kl",
        "value": "infinity",
        "bound": told or bound,
        "exceeds": True,
        "largest": [],
        "claim": claim,
    }
    return {**document(outputs, bound, status="violated", claims=[]), "witness": witness}


def is_accepted(given: Document) -> bool:
    """Tells whether the kernel accepts a document."""
    return check_text(json.dumps(given)).accepted


def test_two_distributions_are_compared() -> None:
    """KL of (3/4, 1/4) and (1/4, 3/4) is ln(3)/2, which is 0.549306..."""
    outputs = [["3/4", "1/4"], ["1/4", "3/4"]]
    assert is_accepted(document(outputs, "549307/1000000"))
    assert not is_accepted(document(outputs, "549306/1000000"))


# Σ Q·ψ(P/Q) is small for these, and Σ P·ln(P/Q) is not, for P and Q do not sum to 1.
NO_DISTRIBUTIONS: list[list[list[str]]] = [
    [],
    [["2", "1"]],
    [["1", "1/2"]],
    [["1/2", "1"], ["1/2", "1"]],
    [["3/4", "1/4"], ["1/4", "1/4"]],
]


@pytest.mark.parametrize("outputs", NO_DISTRIBUTIONS)
def test_what_does_not_sum_to_one_is_refused(outputs: list[list[str]]) -> None:
    """The bound of a box is one of KL for distributions only."""
    assert not is_accepted(document(outputs, "100"))


def test_a_witness_has_distributions_and_its_bound() -> None:
    """Also where the divergence is infinite."""
    outputs = [["1/2", "0"], ["1/2", "1"]]
    assert is_accepted(violation(outputs, "1/10"))
    assert not is_accepted(violation(outputs, "1/10", "1/5"))
    assert not is_accepted(violation(outputs, "1/10", ["0", "1"]))
    assert not is_accepted(violation([["1/2", "0"], ["1", "1"]], "1/10"))
    assert not is_accepted(violation([["1/2", "0"], ["1/2", "2"]], "1/10"))
