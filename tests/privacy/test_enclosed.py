"""Verdicts by enclosures: proved, refuted, or not told apart; never one for the other."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from calling_tools import called
from enclosed_programs import case_of

from paramverify.answers import Standing
from paramverify.evidence.enclosed_witnesses import EnclosureWitness
from paramverify.privacy.verification import verify
from paramverify.tables import TomlDocument
from paramverify.verdicts import Unknown, Violated

CASES = Path(__file__).resolve().parents[2] / "cases" / "programs"

ABOVE = "output(q[0] + gauss(2) > 0)"


def phi(x: float) -> float:
    """Returns the distribution function of the standard normal distribution."""
    return math.erfc(-x / math.sqrt(2)) / 2


def decided(source: str, privacy: dict[str, Any], values: str = "0..1", **more: Any) -> Standing:
    """Returns the verdict on a program with one answer."""
    return verify(case_of(source, 1, values, privacy=privacy, **more)).status


LARGEST = (1 - phi(0)) / (1 - phi(0.5))  # Pr(False | 0) / Pr(False | 1)


@pytest.mark.parametrize("step", [1e-3, 1e-6, 1e-9, 1e-12])
def test_both_sides_of_a_bound(step: float) -> None:
    """A ratio that is a little above the largest one is proved, one that is a little below is refuted."""
    above, below = (str(Fraction(LARGEST * (1 + sign * step))) for sign in (1, -1))
    assert decided(ABOVE, {"ratio": above}) is Standing.HOLDS
    assert decided(ABOVE, {"ratio": below}) is Standing.VIOLATED


@pytest.mark.parametrize("step", [1e-3, 1e-9])
def test_both_sides_of_a_delta(step: float) -> None:
    """The least delta for ε = 1/10 is a difference of two values of Φ."""
    least = phi(0.5) - math.exp(0.1) * phi(0)  # of the set {True}
    other = (1 - phi(0)) - math.exp(0.1) * (1 - phi(0.5))  # of {False}, the other way around
    worst = max(least, other)
    above, below = (str(Fraction(worst * (1 + sign * step))) for sign in (1, -1))
    assert decided(ABOVE, {"epsilon": "1/10", "delta": above}) is Standing.HOLDS
    assert decided(ABOVE, {"epsilon": "1/10", "delta": below}) is Standing.VIOLATED


EXACT = "if q[0] == 0:\n    output(gauss(1) > 0)\nelse:\n    output(flip(3/8))"


def test_a_bound_that_is_reached_exactly() -> None:
    """1/2 = 4/3 · 3/8: no precision tells that apart, so nothing is said, and the bits are named."""
    report = verify(case_of(EXACT, 1, "0..1", privacy={"ratio": "4/3"}, mechanism={"bits": 60}))
    assert isinstance(report.verdict, Unknown)
    assert "60 bits do not separate" in report.verdict.detail
    assert "write, for example, bits = 120 in [mechanism]" in report.verdict.detail
    assert decided(EXACT, {"ratio": "4/3", "delta": "1/1000"}) is Standing.HOLDS


def test_bits_that_are_needed() -> None:
    """What 16 bits do not tell apart, more bits do."""
    with mpmath.workdps(60):
        close = mpmath.mpf("0.5") / (1 - mpmath.ncdf(mpmath.mpf("0.5"))) * (1 + mpmath.mpf("1e-30"))
        ratio = str(Fraction(mpmath.nstr(close, 50)))
    assert decided(ABOVE, {"ratio": ratio}, mechanism={"bits": 16}) is Standing.UNKNOWN
    assert decided(ABOVE, {"ratio": ratio}, mechanism={"bits": 128}) is Standing.HOLDS


def test_equal_probabilities_need_no_bits() -> None:
    """Outputs that do not depend on the input are private with epsilon 0, though balls overlap."""
    source = "output(gauss(1) > discrete(1))\n".replace("discrete(1)", "gauss(2)")
    assert decided(source + "x = q[0]", {"epsilon": "0"}) is Standing.HOLDS
    assert decided(source + "x = q[0]", {"total_variation": "0"}) is Standing.HOLDS


def test_the_witness_is_certified() -> None:
    """A witness has both probabilities between certified ends, and the bound is beyond all of it."""
    report = verify(case_of(ABOVE, 1, "0..3", privacy={"epsilon": "1/10"}, neighbours={"differ": "one"}))
    assert isinstance(report.verdict, Violated)
    found = report.verdict.witness
    assert isinstance(found, EnclosureWitness)
    (low, high), (least, most) = found.probabilities
    own = {str(n): {"True": phi(n / 2), "False": 1 - phi(n / 2)} for n in range(4)}
    for (below, above), side in (((low, high), found.left), ((least, most), found.right)):
        assert below <= Fraction(own[side][found.outputs[0]]) + Fraction(1, 10**14)
        assert above >= Fraction(own[side][found.outputs[0]]) - Fraction(1, 10**14)
    assert low > found.bound[1] * most


def test_impossible_on_one_side() -> None:
    """An output that is impossible under one input has no budget, and is no violation of a delta above it."""
    source = "if q[0] == 1 and gauss(1) > 2:\n    output(1)\nelse:\n    output(0)"
    assert decided(source, {"epsilon": "100"}) is Standing.VIOLATED
    tail = 1 - phi(2)
    assert decided(source, {"epsilon": "0", "delta": str(Fraction(tail * 1.001))}) is Standing.HOLDS
    assert decided(source, {"epsilon": "0", "delta": str(Fraction(tail * 0.999))}) is Standing.VIOLATED


def test_a_prior_with_numbers() -> None:
    """Secrets under a prior are mixtures of inputs; a prior with a parameter is refused."""
    source = "output(n + gauss(2) > 1)"
    more: dict[str, Any] = {
        "mechanism": {"inputs": {"n": "a + b"}},
        "prior": {"a": {"bernoulli": "1/2"}, "b": {"bernoulli": "1/4"}},
        "secrets": {"one": "a == 1", "none": "a == 0", "pairs": [["one", "none"]]},
    }
    shares = {a: 0.75 * (1 - phi((1 - a) / 2)) + 0.25 * (1 - phi(-a / 2)) for a in (0, 1)}
    ratio = max(shares[1] / shares[0], (1 - shares[0]) / (1 - shares[1]))
    from paramverify.privacy.cases import read_case

    for sign, standing in ((1, Standing.HOLDS), (-1, Standing.VIOLATED)):
        data = {
            "mechanism": {"kind": "program", "source": source, **more["mechanism"]},
            "privacy": {"ratio": str(Fraction(ratio * (1 + sign * 1e-9)))},
            "prior": more["prior"],
            "secrets": more["secrets"],
        }
        assert verify(read_case(TomlDocument(data, path="case.toml"))).status is standing


def test_distances() -> None:
    """Each pair has the bound of its own distance."""
    more = {"neighbours": {"distance": "sum(abs(x[i] - y[i]))"}}
    steps = [(1 - phi((n - 1) / 2)) / (1 - phi(n / 2)) for n in range(1, 4)]
    enough = str(Fraction(math.log(max(steps)) * (1 + 1e-9)))
    assert decided(ABOVE, {"epsilon": f"{enough}*distance"}, "0..3", **more) is Standing.HOLDS
    less = str(Fraction(math.log(max(steps)) * (1 - 1e-9)))
    assert decided(ABOVE, {"epsilon": f"{less}*distance"}, "0..3", **more) is Standing.VIOLATED


def answer(*arguments: str) -> dict[str, Any]:
    """Returns what a command prints as JSON."""
    found: dict[str, Any] = json.loads(called(*arguments, "--json").out)
    return found


@pytest.mark.slow
def test_commands(tmp_path: Path) -> None:
    """The least ratio, delta and epsilon agree with each other; text and JSON say the same."""
    path = str(CASES / "discrete-gauss-threshold.toml")
    told = answer("verify", path)
    assert told["verdict"] == "private"
    assert told["enclosed"] == {"probabilities": 20, "bits": 48}
    least = answer("budget", path, "--delta-for", "1/2")
    low, high = Fraction(least["delta_lower"]), Fraction(least["delta_upper"])
    assert low < high < low * (1 + Fraction(1, 10**9))
    back = answer("budget", path, "--epsilon-for", str(high))
    assert Fraction(back["epsilon_lower"]) <= Fraction(1, 2)
    assert Fraction(back["epsilon_upper"]) >= Fraction(1, 2) - Fraction(1, 10**8)
    weights = {k: math.exp(-k * k / 8) for k in range(-60, 61)}
    table = {
        (entry["secret"], *entry["observations"]): entry["probability"]
        for entry in answer("show", path)["probabilities"]
    }
    for n in range(5):
        many = sum(w for k, w in weights.items() if n + k >= 3) / sum(weights.values())
        ends = table[str(n), "many"]
        assert float(ends["lower"]) - 1e-14 <= many <= float(ends["upper"]) + 1e-14
    for command in (
        ["export", path, "--to", "smtlib2"],
        ["report", path, "-o", str(tmp_path / "page.html")],
        ["synthesize", path],
    ):
        assert "gauss and discrete_gaussian are only enclosed in intervals" in called(*command).err
    assert called("verify", path, "--evidence", str(tmp_path / "e.json")).code == 0
    sampled = answer("sample", path, "--runs", "4000", "--direct", "--audit")
    assert sampled["status"] == "no difference found"
