"""Evidence of a case with a parameter of the domain (0, ∞) fits its case, as the second reader reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling_tools import called

CASE = """
[parameters]
eps = "{domain}"

[mechanism]
kind = "randomized_response"
truth = "exp(eps) / (exp(eps) + 1)"

[neighbours]
differ = "each"
by = "any"

[privacy]
epsilon = "eps"
"""


@pytest.mark.parametrize("domain", ["(0, oo)", "( 0, +inf )", "(0, Infinity)"])
def test_a_parameter_without_an_upper_end(domain: str, tmp_path: Path) -> None:
    """The second reader finds the step of exp(-eps/d) by itself, and the same claims."""
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    case.write_text(CASE.format(domain=domain))
    assert called("verify", str(case), "--evidence", str(evidence)).code == 0
    done = called("check", str(evidence), "--case", str(case))
    assert done.code == 0
    assert "read a second time: 4 comparisons of probabilities at 3 random points agree" in done.out
    assert "not read" not in done.out
    case.write_text(CASE.format(domain=domain).replace('"eps"', '"eps/2"'))
    assert called("check", str(evidence), "--case", str(case)).code == 1
