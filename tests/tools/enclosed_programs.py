"""Programs with Gaussian noise as cases, and their probabilities as balls, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from paramverify.algebra.constants import working_precision
from paramverify.evidence.enclosed_witnesses import ends
from paramverify.models.enclosed_models import EnclosedModel, EnclosedProbabilities
from paramverify.privacy.cases import PrivacyCase, read_case
from paramverify.tables import TomlDocument

BITS = 48


def case_of(source: str, length: int, values: str = "-1..1", **more: Any) -> PrivacyCase:
    """Returns a case about a program with an array q; `more` are tables of the case."""
    inputs = {"q": {"length": length, "values": values}}
    data: dict[str, Any] = {
        "mechanism": {"kind": "program", "source": source, "inputs": inputs},
        "neighbours": {"differ": "each"},
        "privacy": {"epsilon": "1"},
    }
    for name, table in more.items():
        data[name] = {**data[name], **table} if name == "mechanism" else table
    return read_case(TomlDocument(data, path="case.toml"))


def enclosures(
    source: str, inputs: Sequence[Sequence[int]], bits: int = BITS, **more: Any
) -> list[dict[str, tuple[Fraction, Fraction]]]:
    """Returns for each input each output with numbers below and above its probability."""
    others = [x for x in inputs if list(x) != list(inputs[0])] or [[v + 1 for v in inputs[0]]]
    pairs = [[list(inputs[0]), list(x)] for x in others]
    case = case_of(source, len(inputs[0]), "-9..9", neighbours={"pairs": pairs}, **more)
    model = case.model
    assert isinstance(model, EnclosedModel)
    known = EnclosedProbabilities(model.table, bits)
    states = {name: k for k, name in enumerate(model.table.states)}
    found = []
    for given in inputs:
        name = str(given[0]) if len(given) == 1 else f"({', '.join(map(str, given))})"
        row = known.given(states[name])
        with working_precision(known.encloser.precision):
            found.append(dict(zip(model.table.observations, map(ends, row), strict=True)))
    return found


def agrees(found: Mapping[str, tuple[Fraction, Fraction]], expected: Mapping[str, Any], slack: float) -> None:
    """Checks that each number of an oracle, with its own error, is near the ends of its enclosure."""
    assert found.keys() >= expected.keys()
    for name, value in expected.items():
        low, high = found[name]
        assert high - low < Fraction(1, 2 ** (BITS - 8)), name
        assert low - Fraction(slack) <= Fraction(str(value)) <= high + Fraction(slack), (
            name,
            value,
            low,
            high,
        )
