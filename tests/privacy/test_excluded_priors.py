"""Priors are told as excluded where a secret is impossible there, and only if the domain has such priors."""

from __future__ import annotations

import pytest

from paramverify.api import loads, verify

CASE = """
[parameters]
a = "(0, 1)"
b = "(0, 1)"
constraints = ["CONSTRAINT"]
[prior]
ann = { categorical = { yes = "a", no = "b", refuse = "1 - a - b" } }
[mechanism]
kind = "randomized_response"
truth = "1/2"
query = "ann"
values = ["yes", "no", "refuse"]
[secrets]
yes = "ann == 'yes'"
refuse = "ann == 'refuse'"
pairs = [["yes", "refuse"]]
[privacy]
epsilon = "ln(4)"
"""


@pytest.mark.parametrize(
    ("constraint", "excluded"),
    [
        ("a + b < 1", False),
        ("a + b <= 1", True),
        ("a + b <= 1/2", False),
        ("2*a + 2*b < 1", False),
        ("a + b < 1 and a < b", False),
        ("a < b and a + b <= 1", True),
        ("(1 - a - b)*(a + 1) > 0", False),
    ],
)
def test_only_priors_of_the_domain_are_told_as_excluded(constraint: str, excluded: bool) -> None:
    """The prior with a + b = 1 is one of the domain, or a constraint leaves it out."""
    case = loads(CASE.replace("CONSTRAINT", constraint))
    assert any("are excluded" in note for note in verify(case).notes) is excluded
