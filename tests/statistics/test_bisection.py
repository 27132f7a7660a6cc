"""Bisection between the bounds of testing: it ends where exact verification says, whatever testing said."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from paramverify.answers import End
from paramverify.cli.main import run
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.privacy.verification import PrivacyReport, verify
from paramverify.reports import sampling_reports as told
from paramverify.statistics import certification
from paramverify.statistics.certification import Bisection, bisect
from paramverify.verdicts import Unknown

CASES = Path(__file__).parents[2] / "cases"
THOUSANDTH = Fraction(1, 1000)


def case(name: str) -> PrivacyCase:
    return load(CASES / f"{name}.toml")


def power(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals around e^ε, by the series with its rest; this shares no code with the package."""
    term, total = Fraction(1), Fraction(0)
    for k in range(1, 60):
        total += term
        term *= epsilon / k
    return total, total + 2 * term


def noisy_max_ratio() -> Fraction:
    """The largest ratio of noisy max on three answers in 0..2 with 1/2-geometric noise, ties uniform."""
    rows = [[Fraction(a, 6) for a in row] for row in ((4, 1, 1), (2, 2, 2), (1, 1, 4))]

    def wins(given: tuple[int, int, int]) -> Fraction:
        total = Fraction(0)
        for x in range(3):
            for y in range(3):
                for z in range(3):
                    top = [x, y, z].count(max(x, y, z))
                    if x == max(x, y, z):
                        total += rows[given[0]][x] * rows[given[1]][y] * rows[given[2]][z] / top
        return total

    return max(
        wins((a, b, c)) / wins((d, e, f))
        for a in range(3) for b in range(3) for c in range(3)
        for d in range(3) for e in range(3) for f in range(3)
        if max(abs(a - d), abs(b - e), abs(c - f)) <= 1
    )  # fmt: skip


@pytest.mark.slow
def test_the_ends_bracket_the_exact_budget() -> None:
    """For noisy max on three answers the ends are those published, and bracket the exact ratio."""
    found = bisect(case("noisy-max-3-above"), (1.21, 1.28), THOUSANDTH, 60)
    assert found.is_found
    assert found.violated is not None
    assert found.holds is not None
    assert (found.violated.epsilon, found.holds.epsilon) == (Fraction(1232, 1000), Fraction(1233, 1000))
    ratio = noisy_max_ratio()
    assert ratio == Fraction(24, 7)
    assert power(found.violated.epsilon)[1] < ratio <= power(found.holds.epsilon)[0]
    assert found.wrong == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "testing", [(None, None), (0.1, 0.2), (3.0, 3.5), (1.2325, 1.2326), (1.25, 1.22), (0.0, None)]
)
def test_wrong_intervals_change_nothing(testing: tuple[float | None, float | None]) -> None:
    """Where testing is wrong at an end, or has none, the result is the same, and the wrong end is told."""
    found = bisect(case("noisy-max-3-above"), testing, THOUSANDTH, 60)
    assert found.is_found
    assert found.violated is not None
    assert found.holds is not None
    assert (found.violated.epsilon, found.holds.epsilon) == (Fraction(1232, 1000), Fraction(1233, 1000))
    left, right = testing
    assert bool(found.wrong) == (
        (left is not None and left >= 1.233) or (right is not None and right <= 1.232)
    )


def test_each_step_is_a_verification_of_a_ratio_next_to_the_budget() -> None:
    """What holds was verified with a ratio of at most e^ε, and what is violated has a witness above e^ε."""
    found = bisect(case("geometric-contagious-ln2"), (1.0, 2.0), Fraction(1, 100), 60)
    assert (found.violated and found.violated.epsilon) == Fraction(138, 100)  # ln 4 = 1.38629...
    for step in found.steps:
        low, high = power(step.epsilon)
        assert step.ratio <= high
        assert high - step.ratio < high / 10**9
        if not step.holds:
            assert step.witness is not None
            assert step.witness.ratio is not None
            assert step.witness.ratio.rational == 4 > low


def test_perfect_privacy_and_no_privacy(tmp_path: Path) -> None:
    """A mechanism without any leak holds with 0; one that shows the answer has no budget."""
    for truth, infinite in (("1/2", False), ("1", True)):
        (tmp_path / "case.toml").write_text(
            f'[mechanism]\nkind = "randomized_response"\ntruth = "{truth}"\n'
            '[neighbours]\ndiffer = "each"\n[privacy]\nratio = 3\n'
        )
        found = bisect(load(tmp_path / "case.toml"), (None, 1.0), THOUSANDTH, 30)
        assert found.is_found
        assert found.infinite is infinite
        assert infinite or (found.holds is not None and found.holds.epsilon == 0 and found.violated is None)


def test_no_budget_over_every_length() -> None:
    """Above threshold of every length grows without limit, which needs no bisection."""
    found = bisect(case("above-threshold-all"), (3.0, 3.5), THOUSANDTH, 30)
    assert found.is_found
    assert found.infinite


def test_what_stays_open_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verification that stays open ends the search; what was proved before is told, and nothing more."""
    steps = 0

    def limited(loaded: PrivacyCase, options: Options) -> PrivacyReport:
        nonlocal steps
        steps += 1
        report = verify(loaded, options)
        return report if steps <= 3 else replace(report, verdict=Unknown(End.TIMEOUT, "the time is over"))

    monkeypatch.setattr(certification, "verify", limited)
    found = bisect(case("noisy-max-3-above"), (1.2, 1.3), THOUSANDTH, 60)
    assert not found.is_found
    assert found.last is not None
    assert [step.holds for step in found.steps] == [False, True, True, None]
    lines = told.bisection_lines(found)
    assert lines[0] == (
        "bisection: not private with epsilon = 1.2, private with epsilon = 1.25; "
        "both are proved (4 verifications)"
    )
    assert "  epsilon = 1.225 stayed undecided: the time is over" in lines
    assert told.bisection_document(found)["status"] == "bounded"


@pytest.mark.slow
def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints the interval of testing and both proved ends, also as JSON; for three answers."""
    arguments = [str(CASES / "noisy-max-3-above.toml"), "--search", "--bisection", "--runs", "5000"]
    assert run(["sample", *arguments]) == 0
    text = capsys.readouterr().out
    assert text.startswith(
        "bisection: not private with epsilon = 1.232, private with epsilon = 1.233; both are proved ("
    )
    assert "testing gave the interval from" in text
    assert "the result does not depend on it" in text
    assert run(["sample", *arguments, "--json", "--precision", "1/10"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["violated"], found["holds"]) == ("found", "6/5", "13/10")
    assert [step["status"] for step in found["steps"][:1]] == ["violated"]


def test_wrong_ends_are_told() -> None:
    """Where verification contradicts testing, the words and the JSON object say at which end."""
    found = bisect(case("noisy-max-3-above"), (1.3, 1.2), Fraction(1, 10), 30)
    lines = told.bisection_lines(found)
    head = "bisection: not private with epsilon = 1.2, private with epsilon = 1.3; both are proved"
    assert lines[0].startswith(head)
    assert "  testing was wrong at its left end: the case is private with epsilon = 1.3." in lines
    assert told.bisection_document(found)["wrong_ends"] == ["13/10", "6/5"]
    empty = Bisection((None, None), THOUSANDTH, None, None, ())
    assert told.bisection_lines(empty)[0] == "bisection: nothing was proved"
    assert not empty.is_found


@pytest.mark.slow
def test_a_budget_that_is_a_multiple_of_the_precision() -> None:
    """The largest ratio of this mechanism is exp(1/2) itself, so it holds with 1/2 exactly."""
    found = bisect(case("discrete-laplace"), (0.49, 0.51), THOUSANDTH, 60)
    assert found.is_found
    assert (found.holds and found.holds.epsilon) == Fraction(1, 2)
