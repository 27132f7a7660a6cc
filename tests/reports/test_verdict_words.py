"""What a verdict is said to be about, and what is said of a test and of a difference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paramverify.cli.main import run
from paramverify.kernel.documents import NOT_COMPARED, verdict_line, verdict_of
from paramverify.kernel.ledger import KernelReport
from paramverify.reports import sampling_reports, sentences
from paramverify.reports.evidence_checks import Checked, document, lines

SECRETS = """
[mechanism]
kind = "randomized_response"
query = "x"
coin = "1/2"
[prior]
x = { bernoulli = "P" }
[secrets]
no = "x == 0"
yes = "x == 1"
pairs = [["no", "yes"]]
[privacy]
epsilon = "ln(3)"
"""
NEIGHBOURS = """
[mechanism]
kind = "geometric"
noise = { truncated_geometric = "P", range = 2 }
[neighbours]
differ = "each"
[privacy]
ratio = "1/(P)"
"""
PLAIN, MONOLITHIC = ("verify",), ("verify", "--encoding", "monolithic")
PARAMETER = "[parameters]\nq = "


@pytest.mark.parametrize(
    ("command", "case", "value", "about"),
    [
        (PLAIN, SECRETS, None, "for the prior of the case over x in {0, 1}"),
        (MONOLITHIC, SECRETS, "1/3", "for the prior of the case over x in {0, 1} with q = 1/3"),
        (PLAIN, SECRETS, "(0, 1)", "for every prior of the case over x in {0, 1} with q in (0, 1)"),
        (MONOLITHIC, NEIGHBOURS, None, "for all neighbouring inputs in {0..2}"),
        (PLAIN, NEIGHBOURS, "1/3", "for all neighbouring inputs in {0..2} with q = 1/3"),
        (MONOLITHIC, NEIGHBOURS, "(0, 1)", "for all neighbouring inputs in {0..2} with q in (0, 1)"),
    ],
)
def test_what_a_verdict_is_about(
    command: tuple[str, ...],
    case: str,
    value: str | None,
    about: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Neighbours are named where the case has some, and every prior only where there are several."""
    file = tmp_path / "case.toml"
    parameters = f'{PARAMETER}"{value}"\n' if value else ""
    file.write_text(parameters + case.replace("P", "q" if value else "1/3"), encoding="utf-8")
    assert run([command[0], str(file), *command[1:]]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.split(" for ", 1)[1].split(":")[0].rstrip(".") == about.removeprefix("for ")


ACCEPTED = KernelReport(True, ("the first line",))
FALSE = "witness: the claim (x >= 0) is false there"
BROKEN = {"status": "violated", "lines": ("claim 1 (x + 1 >= 0): open", FALSE)}
OTHERS = "a violation: shown by the witness; 0 other claims proved"
FAMILY = "unwinding family: 33 pairs, 2 steps: proved"
HELD = {"status": "holds", "unit": "comparison", "lines": (FAMILY,)}


@pytest.mark.parametrize(
    ("about", "words"),
    [
        (
            {"status": "region map", "proved": 7, "refuted": 6, "open": 1},
            "a region map: 1 cell where the claims are true, 6 where one is false, 1 undecided; "
            "0 trusted to solvers",
        ),
        (
            {"status": "violated", "unit": "formula", "proved": 3, "trusted": 1, "refuted": 2, "open": 1},
            "a violation: 2 formulas true, 2 false, 1 undecided; 1 trusted to solvers",
        ),
        (
            {"status": "violated", "lines": (FALSE,), "proved": 2},
            "a violation: shown by the witness; 2 other claims proved, 0 trusted to solvers, 0 open",
        ),
        ({"status": "violated", "proved": 1}, "a violation: 1 claim proved, 0 trusted to solvers, 0 open"),
        *(({**BROKEN, "side_condition": c}, "a violation") for c in ("", "c")),
        *(
            ({**BROKEN, name: 1}, f"{OTHERS}, {n} trusted to solvers, {1 - n} open")
            for name, n in (("trusted", 1), ("open", 0))
        ),
        ({"status": "unknown", "open": 1}, "undecided: 0 claims proved, 0 trusted to solvers, 1 open"),
        (HELD, f"private: {FAMILY}"),
        (
            {**HELD, "proved": 1, "trusted": 2},
            "private, on the word of solvers: 1 comparison proved, 2 trusted to solvers, 0 open",
        ),
        ({**HELD, "proved": 1}, "private: 1 comparison proved, 0 trusted to solvers, 0 open"),
    ],
)
def test_check_counts_what_is_shown(about: dict[str, Any], words: str) -> None:
    """Cells and formulas that are false are no proved ones, and a violation is shown by its witness."""
    assert verdict_line(replace(ACCEPTED, **about)) == f"checked: {words}"


def test_claims_alone_are_no_privacy() -> None:
    """What was not compared with a case is true, or false, and neither private nor not."""
    report = replace(ACCEPTED, status="holds", proved=1)
    for claimed, word in ((True, "true"), (False, "the claims are true")):
        line = verdict_line(replace(report, not_compared=NOT_COMPARED["holds"]), claimed)
        assert line.startswith(f"checked as far as it can be without the case: {word}: 1 claim proved")
    assert verdict_of(replace(report, unit="form")) == "true"
    assert verdict_line(report, True).startswith("checked: true: 1 claim proved")


def test_what_is_rejected_shows_nothing() -> None:
    """The line of rejected evidence says of no cell or formula that it is true or false."""
    rejected, counts = KernelReport(False, (), proved=2, refuted=1), "0 trusted to solvers, 0 open"
    assert verdict_line(replace(rejected, status="region map")) == f"REJECTED: 2 cells shown, {counts}"
    assert verdict_line(replace(rejected, unit="formula")) == f"REJECTED: 2 formulas shown, {counts}"
    assert verdict_line(replace(rejected, unit="comparison")) == f"REJECTED: 2 comparisons proved, {counts}"
    none = replace(rejected, unit="comparison", proved=0)
    assert verdict_line(none) == f"REJECTED: 0 comparisons proved, {counts}"


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ((0.5, 2.0), "rejected up to 0.5, p-value above 0.999 first at 2"),
        ((None, 2.0), "nothing rejected, p-value above 0.999 first at 2"),
        ((0.5, None), "rejected up to 0.5, no larger tested value has a p-value above 0.999"),
        ((None, None), "nothing rejected, no tested value has a p-value above 0.999"),
    ],
)
def test_the_interval_of_a_test(ends: tuple[float | None, float | None], told: str) -> None:
    """The line says what the ends are: no p-value is said to be 1."""
    assert sampling_reports.interval_line(ends) == f"interval from testing: {told}"


def test_notes_are_not_said_twice() -> None:
    """A note is left out where the sentence says it already."""
    assert sentences.notes(["a b", "c"], "private; but a b.") == ["Note: c."]


def test_what_is_shown_of_many_lines() -> None:
    """Lines that say the same are cut, with their number; what is open, rejected or said once is not."""
    proved = [f"claim {k}: proved" for k in range(100)]
    told = [
        *proved[:30],
        "claim x: open",
        *proved[30:],
        "witness: the claim is false at p = 1/2",
        "budget: 3",
    ]
    report = replace(ACCEPTED, lines=tuple(told), proved=100, status="unknown")
    shown = lines(Checked(report))
    kept = [*proved[:20], "... and 80 more: proved", "claim x: open", *told[-2:]]
    assert shown[:-1] == kept
    rejected = replace(report, accepted=False, lines=(*told, "claim 101: rejected: it is false"))
    assert lines(Checked(rejected))[:-1] == [*kept, "claim 101: rejected: it is false"]


def test_the_last_line_has_the_number_of_a_budget() -> None:
    """With the case the bound is said where it was compared; a lower bound alone is no budget."""
    for told in (
        "the largest ratio is 3, proved",
        "no upper bound of the ratio is stated here; it is 3 at p = 1",
    ):
        report = replace(ACCEPTED, status="budget", lines=(f"budget: {told}",), proved=1)
        assert verdict_line(report).startswith(f"checked: a budget: {told}: 1 claim proved")
        assert document(Checked(report))["budget"] == told
        alone = verdict_line(replace(report, not_compared=("the bound with the case",)))
        assert alone.startswith("checked as far as it can be without the case: a budget: 1 claim proved")
