"""`adopt(samples=N)`: the counts of what Python returns against the exact law of the program."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import paramverify
from paramverify.api.adopting import _Adoption
from paramverify.api.agreement import FALSE_ALARM, _region, _visible
from paramverify.errors import InputError

RUNS = 1_500


def respond(truth, p):
    return truth if random.random() < p else 1 - truth


def released(x):
    n = x + np.random.laplace(scale=2)
    if n > 3:
        return "large"
    return [x, n, min(2, round(np.random.laplace()))]


def rounded(x):
    if random.random() < 0.3:
        raise ValueError("no")
    return 0.1 + 0.2 + x


def test_counts_agree_with_the_program() -> None:
    """The note names the runs, the tests, and a difference that would have been seen."""
    adopted = paramverify.adopt(
        respond,
        inputs={"truth": {"values": [0, 1]}},
        parameters={"p": "[1/2, 3/4]"},
        epsilon="ln(3)",
        samples=RUNS,
    )
    found = adopted.explored.agreement
    assert (found.runs, found.inputs, found.points, found.comparisons) == (RUNS, 2, 3, 12)
    assert "1,500 runs of the function for each of 2 inputs at each of 3 points" in adopted.to_toml()
    assert adopted.verify().verdict == "private"


@pytest.mark.parametrize(("function", "least"), [(released, 10), (rounded, 4)])
def test_noise_and_exceptions_are_compared(function, least) -> None:
    """Numbers with noise are compared by intervals, floats and exceptions as they are."""
    adopted = paramverify.adopt(function, inputs={"x": {"values": [0, 1]}}, epsilon=1, samples=RUNS)
    assert adopted.explored.agreement.comparisons >= least


@pytest.mark.parametrize(("function", "shown"), [(respond, "0"), (released, "large")])
def test_another_law_is_an_error(function, shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the function does something else in every sixth run, the error names output, share and count."""
    name = "truth" if function is respond else "x"
    run, given = _Adoption.run, {"inputs": {name: {"values": [0, 1]}}, "epsilon": 1, "samples": 6_000}
    calls = iter(range(10**9))

    def other(self, given, point):
        value = run(self, given, point)
        if next(calls) % 6:
            return value
        return 0 if function is respond else "large"

    constants = {"p": 0.75} if function is respond else {}
    monkeypatch.setattr(_Adoption, "run", other)
    with pytest.raises(
        InputError, match=rf"the output {shown} has the probability .* of 6,000 runs"
    ) as caught:
        paramverify.adopt(function, constants=constants, **given)
    assert "do not trust a verdict about this function" in str(caught.value)


@pytest.mark.parametrize("share", [Fraction(1, 3), Fraction(1, 1000), Fraction(999, 1000)])
@pytest.mark.parametrize("runs", [10, 1000])
def test_regions_have_the_stated_errors(share: Fraction, runs: int) -> None:
    """The counts outside are rarer than the level, those inside are not, and 99 % see a difference."""
    p = float(share)
    low, high = _region(p, runs, FALSE_ALARM)
    outside = stats.binom.cdf(low - 1, runs, p), stats.binom.sf(high, runs, p)
    assert max(outside) <= FALSE_ALARM / 2
    inside = stats.binom.cdf(low, runs, p), stats.binom.sf(high - 1, runs, p)
    assert min(inside) > FALSE_ALARM / 2
    visible = _visible(p, low, high, runs)
    for other in (p - visible, p + visible):
        if 0 < other < 1:
            seen = stats.binom.cdf(low - 1, runs, other) + stats.binom.sf(high, runs, other)
            assert seen >= 0.99 - 1e-9
    certain = _region(1.0, runs, FALSE_ALARM)
    assert certain == (runs, runs)
    assert 1 - (1 - _visible(1.0, *certain, runs)) ** runs >= 0.99 - 1e-9
