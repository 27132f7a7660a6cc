"""Numbers that a case gives are told as they are, beside probabilities that are enclosed."""

from __future__ import annotations

import math

import pytest

import paramverify

CASE = """
title = "Is a count with Gaussian noise positive?"
[mechanism]
kind = "program"
source = "return x + {} > 0"
[mechanism.inputs]
x = {{ values = "0..1" }}
[neighbours]
differ = "one"
[privacy]
{}
"""


@pytest.mark.parametrize("noise", ["gauss(1)", "discrete_gaussian(3/2)"])
@pytest.mark.parametrize(
    ("bound", "told", "exact"),
    [
        ('total_variation = "1/20"', "total_variation = 1/20", {"bound": "1", "delta": "1/20"}),
        ('epsilon = "0"\ndelta = "1/7"', "delta = 1/7", {"bound": "1", "delta": "1/7"}),
        ('ratio = "11/10"\ndelta = "1/70"', "delta = 1/70", {"bound": "11/10", "delta": "1/70"}),
        ('epsilon = "ln(11/10)"', "bound 11/10", {"bound": "11/10"}),
        ('epsilon = "1/10"\ndelta = "1/70"', "delta = 1/70", {"delta": "1/70"}),
    ],
)
def test_rational_bounds_are_exact(noise: str, bound: str, told: str, exact: dict[str, str]) -> None:
    """A rational bound is no rounded number, in words or as JSON; what has exp in it is enclosed."""
    report = paramverify.loads(CASE.format(noise, bound)).verify()
    assert report.verdict == "not private"
    assert told in str(report)
    witness = report.document["witness"]
    assert {name: witness[name] for name in exact} == exact
    if "bound" not in exact:
        ends = [float(witness["bound"][end]) for end in ("lower", "upper")]
        assert ends == pytest.approx([math.exp(0.1)] * 2)
