"""Every shipped case is decided once; all that is said of it is looked at in that run."""

from __future__ import annotations

import tomllib
from pathlib import Path

import looks
import pytest
from quick import LARGE, shipped
from running_texts import agrees_with_running
from shipped_runs import asked, budgets, command_of, kind_of, verdicts


@pytest.mark.parametrize("path", shipped(verdicts(), large=True))
def test_case(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case has the verdict that it expects, in JSON and in words, with evidence that all readers accept."""
    run = asked(path, tmp_path, monkeypatch, command_of(path))
    looks.at_the_verdict(run, run.expected["status"])
    looks.at_the_keys(run)
    looks.at_the_words(run)
    looks.at_the_inputs(run)
    looks.at_the_numbers(run)
    looks.at_the_largest_ratio(run)
    if path.stem not in LARGE:
        looks.at_the_evidence(run)
    looks.at_what_was_understood(run)
    looks.at_the_papers(run)
    if kind_of(path) == "programs":
        agrees_with_running(run)
    if run.command == "interactive":
        looks.at_another_bound(run)


@pytest.mark.parametrize("path", shipped(budgets(), large=True))
def test_budget(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tight budget of a case is the one that it expects, with evidence that all readers accept."""
    run = asked(path, tmp_path, monkeypatch, "budget")
    looks.at_the_budget(run)
    if path.stem not in LARGE:
        looks.at_the_evidence_of_the_budget(run)
    looks.at_the_papers(run)


def test_few_files_are_never_read_a_second_time() -> None:
    """Of all shipped files fourteen are left, each with its reason; runs of cases compare that."""
    names = {path.stem for path in verdicts()}
    assert all(unread <= names for unread in looks.UNREAD.values())
    assert sum(map(len, looks.UNREAD.values())) == 14


@pytest.mark.parametrize("kind", ["plain", "programs", "approximate", "divergences", "stream", "interactive"])
def test_there_are_cases_of_both_verdicts(kind: str) -> None:
    """Of each kind there are cases that hold and cases that do not."""
    read = [tomllib.loads(p.read_text(encoding="utf-8"))["expect"] for p in verdicts() if kind_of(p) == kind]
    words = {"private": "holds", "not private": "violated", "true": "holds", "false": "violated"}
    assert {e.get("status") or words[e["verdict"]] for e in read} == {"holds", "violated"}
