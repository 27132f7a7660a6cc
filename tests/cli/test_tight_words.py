"""A bound is called tight only where it is above 1 and the ratio comes near it; (0, oo) is told as such."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from case_texts import program_case

from paramverify.cli.main import run

CASE = program_case(
    "{source}",
    'q = {{ length = 1, values = "0..1" }}',
    'ratio = "{ratio}"',
    parameters='p = "{domain}"',
    title="One answer with noise",
)

COUNT = "return q[0] + geometric(p) >= 1"
ANSWER = "return q[0] == 1 and flip(p) or q[0] == 0 and not flip(p)"

THRESHOLD = program_case(
    "return q[0] + laplace(2/eps) >= 1",
    'q = { length = 1, values = "0..1" }',
    'epsilon = "EPSILON"',
    parameters='eps = "(0, oo)"',
    title="One comparison with noise",
)


def asked(path: Path, content: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, dict[str, Any]]:
    path.write_text(content)
    assert run(["budget", str(path)]) == 0
    out = capsys.readouterr().out
    assert run(["budget", str(path), "--json"]) == 0
    return out, json.loads(capsys.readouterr().out)


ONES = "where both are 1. Whether a smaller multiple of the bound is enough is not decided"
KNOWN = [  # the largest ratio is 1/p for the count, and p/(1 - p) for the answer
    ("(0, 1)", COUNT, "1/p**50", f"comes near the bound only as p → 1, {ONES}", None, "1"),
    ("(0, 1)", COUNT, "1/p", "the bound is tight: reached at p = 1/2, where the bound is 2", True, "2"),
    (
        "(0, 1)",
        COUNT,
        "(1 + p)/p",
        "tight: approached, not reached, as p → 0, where the bound grows",
        True,
        "infinity",
    ),
    ("(0, 1)", COUNT, "(1 + p**9)/p", "tight: approached, not reached, as p → 0, where", True, "infinity"),
    ("(0, 1/2]", COUNT, "1/p**2", "the largest ratio is 0.5 times the bound", False, None),
    ("[1/2, 3/4]", ANSWER, "p**2/(1 - p)**2", f"is the bound only at p = 1/2, {ONES}", None, "1"),
    (
        "[1/2, 3/4]",
        ANSWER,
        "1 + (p - 1/2)*8",
        "the bound is tight: reached at p = 3/4, where the bound is 3",
        True,
        "3",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("domain", "source", "ratio", "words", "tight", "there"), KNOWN)
def test_a_bound_is_tight_only_where_it_is_above_one(
    domain: str,
    source: str,
    ratio: str,
    words: str,
    tight: bool | None,
    there: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A ratio that equals its bound where both are 1 says nothing; text and JSON say the same."""
    text = CASE.format(domain=domain, source=source, ratio=ratio)
    out, document = asked(tmp_path / "case.toml", text, capsys)
    line = next(li for li in out.splitlines() if li.startswith("relative to"))
    assert words in line
    assert ("the bound is tight" in line) == (tight is True)
    assert document["relative"]["tight"] is tight
    assert document["relative"].get("bound_there") == there
    assert (there is not None) == (document["relative"]["ratio"] == "1")


@pytest.mark.parametrize("p", [Fraction(1, 1000), Fraction(1, 3), Fraction(3, 5), Fraction(3, 4)])
def test_the_ratios_that_these_words_rest_on(p: Fraction) -> None:
    """By sums over the noise the count has 1/p; the bounds above are bounds, some with room."""
    tail = (1 - p) / (1 + p) * p / (1 - p)  # Pr(noise >= 1)
    middle = (1 - p) / (1 + p)
    assert max((tail + middle) / tail, (1 - tail) / (1 - tail - middle)) == 1 / p
    assert 1 / p < 1 / p**50
    assert 1 / p < (1 + p**9) / p
    if p >= Fraction(1, 2):
        assert p / (1 - p) <= 1 + (p - Fraction(1, 2)) * 8


@pytest.mark.slow
@pytest.mark.usefixtures("ample_share")
def test_an_unbounded_parameter_is_told_by_its_own_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words say eps → oo and eps in (0, oo); JSON keeps x_eps and says what it means."""
    path = tmp_path / "case.toml"
    out, document = asked(path, THRESHOLD.replace("EPSILON", "eps"), capsys)
    assert "no single number bounds the ratio for all eps: it grows without limit as eps → oo" in out
    assert "not reached, as eps → oo" in out
    assert "only as eps → 0, where both are 1" in out
    assert out.startswith("epsilon = 1/2*eps is enough for all eps, and no smaller multiple of eps is\n")
    assert "; it is not tight\n" in out
    assert "x_eps =" not in out
    assert document["witness"]["parameters"] == {"x_eps": "0"}
    assert document["witness"]["meaning"] == {"eps": "oo"}
    assert document["ratio"] == "infinity"
    assert document["relative"]["tight"] is False
    path.write_text(THRESHOLD.replace("EPSILON", "eps/2"))
    assert run(["verify", str(path)]) == 0
    assert "for all neighbouring q in {0, 1}^1 with eps in (0, oo)." in capsys.readouterr().out


def test_a_ratio_without_limit_at_an_open_end_is_no_impossible_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where it is open whether infinity is reached, words say that the ratio grows."""
    content = THRESHOLD.replace("EPSILON", "eps").replace(">= 1", ">= 1 + laplace(2/eps)")
    out, document = asked(tmp_path / "case.toml", content, capsys)
    assert document["ratio"] == "infinity"
    assert document["attained"] is None
    assert "no single number bounds the ratio for all eps: it grows without limit as eps → oo" in out
    assert "infinitely more likely" not in out


@pytest.mark.slow
@pytest.mark.usefixtures("ample_share")
@pytest.mark.parametrize(
    ("noise", "bound", "first", "least"),
    [
        (
            "laplace(1/eps)",
            "eps",
            "epsilon = eps is enough for all eps, and no smaller multiple of it is",
            True,
        ),
        ("laplace(2/eps)", "eps/2", "epsilon = eps/2 is enough for all eps, and no smaller multiple", True),
        ("laplace(2/eps)", "eps", "epsilon = 1/2*eps is enough for all eps, and no smaller multiple", False),
        ("laplace(1/eps)", "eps/2", "epsilon = 2*(eps/2) is enough for all eps, and no smaller", False),
    ],
)
def test_a_bound_that_was_proved_comes_before_a_ratio_without_limit(
    noise: str, bound: str, first: str, least: bool | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An exactly eps-private count is not told as if there were no budget; nor is a wrong bound as enough."""
    path = tmp_path / "case.toml"
    content = THRESHOLD.replace("laplace(2/eps) >= 1", noise).replace("EPSILON", bound)
    out, document = asked(path, content, capsys)
    assert out.startswith(first)
    assert "no single number bounds the ratio for all eps: it grows without limit as eps → oo" in out
    assert document["relative"]["tight"] is least
    private = run(["verify", str(path)]) == 0
    assert document["relative"]["enough"] is private
    capsys.readouterr()
    page = tmp_path / "page.html"
    run(["report", str(path), str(path), "-o", str(page)])
    assert ("depends on the parameters</td>" in page.read_text()) == private
