"""Evidence of a case with a parameter of the domain (0, ∞) fits its case, and is not read a second time."""

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
    """The second reader says that it does not read such a case; it finds no mistake in it."""
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    case.write_text(CASE.format(domain=domain))
    assert called("verify", str(case), "--evidence", str(evidence)).code == 0
    done = called("check", str(evidence), "--case", str(case))
    assert done.code == 0
    assert "not read a second time: a parameter without an upper end" in done.out
    case.write_text(CASE.format(domain=domain).replace('"eps"', '"eps/2"'))
    assert called("check", str(evidence), "--case", str(case)).code == 1
