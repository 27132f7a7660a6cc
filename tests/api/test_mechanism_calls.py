"""Decorated functions that call each other: one source is proved, sampled, written as a case and checked."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

import paramverify
from paramverify import flip, mechanism, output
from paramverify.errors import InputError, ProgramError

BIT: dict[str, Any] = {
    "inputs": {"x": {"values": [0, 1]}},
    "parameters": {"p": "(1/2, 1)"},
    "neighbours": {"differ": "one"},
    "ratio": "p/(1 - p)",
}
P = Fraction(3, 4)


def other_one(x):
    return 1 - x


@mechanism(**BIT)
def response(x, p):
    """The truth with probability p."""
    return x if flip(p) else other_one(x)


@mechanism(**BIT)
def twice(x, p):
    """Two answers."""
    output(response(x, p))
    output(response(1 - x, p))


@mechanism(
    inputs={"x": {"values": [0, 1]}, "y": {"values": [0, 1]}},
    parameters={"q": "(1/2, 1)"},
    neighbours={"differ": "one"},
    ratio="3*(q/(1 - q))**3",
)
def adaptive(x, y, q):
    """Asks about y, twice if the answer about x is 1."""
    if response(x, q) == 1:
        a, b = twice(y, q)
        output(a + b)
    else:
        output(response(y, 3 / 4))


def wanted(x: int, y: int) -> dict[str, Fraction]:
    """How likely each output is with q = 3/4, by hand."""
    yes = P if x else 1 - P
    ones = [(P if y else 1 - P), (1 - P if y else P)]
    both, none = ones[0] * ones[1], (1 - ones[0]) * (1 - ones[1])
    about = P if y else 1 - P
    return {
        "0": yes * none + (1 - yes) * (1 - about),
        "1": yes * (1 - both - none) + (1 - yes) * about,
        "2": yes * both,
    }


@pytest.mark.slow
def test_calls_of_mechanisms() -> None:
    """The probabilities are those of all ways; the case file says the same, and evidence fits it."""
    found = adaptive.probabilities(at={"q": "3/4"})
    for x in (0, 1):
        for y in (0, 1):
            assert found[f"({x}, {y})"] == wanted(x, y)
    report = adaptive.verify()
    assert report.verdict == "private"
    written = paramverify.loads(adaptive.to_toml())
    assert written.verify().verdict == "private"
    checked = paramverify.check(report.evidence(), written)
    assert checked.accepted
    assert "read a second time" in str(checked)
    assert "[mechanism.calls.twice]" in adaptive.to_toml()


def test_samples_of_calls() -> None:
    """A call runs what it calls: 4,000 samples are near the probabilities."""
    counts = Counter(adaptive.sample(4_000, 1, 0, q=0.75, seed=3))
    for name, share in wanted(1, 0).items():
        assert abs(counts[int(name),] - 4_000 * float(share)) < 150
    assert adaptive.audit(runs=4_000).passes


def missing_label(x):
    return "label"


def test_mistakes_in_what_is_called() -> None:
    """A mistake in the text of what is called stands in the file of that one."""

    @mechanism(**BIT)
    def wrong(x, p):
        y = response(x, p)
        return y + missing_label(y)

    with pytest.raises(ProgramError, match=r"test_mechanism_calls.py.*line \d+: \+ needs numbers") as found:
        wrong.case()
    assert "y + missing_label(y)" in str(found.value)

    @mechanism(**BIT)
    def calls_wrong(x, p):
        return wrong(x, p)

    with pytest.raises(ProgramError, match=r"test_mechanism_calls.py.*needs numbers") as found:
        calls_wrong.case()
    assert "y + missing_label(y)" in str(found.value)


def test_a_changed_name_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that means another mechanism later is an error of every later use."""
    monkeypatch.setitem(globals(), "response", twice)
    with pytest.raises(InputError, match="response names another function here"):
        adaptive.verify()
    with pytest.raises(InputError, match="response names another function here"):
        adaptive(0, 1, q=0.75)
