"""Cases whose directions are tasks of their own: a cluster gives the same verdicts, evidence and bounds."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cluster_tools import Elsewhere
from set_oracle import drawn

from paramverify.answers import End
from paramverify.divergences import Average, KLDivergence, ZeroConcentrated
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.privacy.loss_verification import covers, directions, verify_losses
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import evidence_document
from paramverify.synthesis.least_loss import least_loss
from paramverify.synthesis.least_sets import least_bound
from paramverify.synthesis.set_needs import NeedKind
from paramverify.tasks import worker
from paramverify.tasks.tasks import TaskResult
from paramverify.verdicts import Unknown

CASES = Path(__file__).parents[2] / "cases"
SHIPPED = {
    "approximate/geometric-contagious": "sum",
    "approximate/noisy-max-independent": "sum",
    "approximate/geometric-independent-below": None,  # a simple point breaks it before there are tasks
    "divergences/geometric-kl": "loss",
    "divergences/survey-zcdp": "loss",
    "survey-memory-all": "decide",
}


class Counting(Elsewhere):
    """Notes the names of what it does."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def map(self, tasks: Any, until: float = 0.0) -> Any:
        self.names += [task.name for task in tasks]
        return super().map(tasks, until)


class Deadly(Elsewhere):
    """Says of each task that all of its workers died."""

    def map(self, tasks: Any, until: float = 0.0) -> Any:
        for number, task in enumerate(tasks):
            yield TaskResult(number, partial(task.lost, "died"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_cases_are_the_same(name: str) -> None:
    """Directions that are decided from plain data have the verdict and the evidence that they have here."""
    case, far = load(str(CASES / f"{name}.toml")), Counting()
    alone, spread = verify(case), verify(case, Options(executor=far))
    assert json.dumps(evidence_document(case, spread)) == json.dumps(evidence_document(case, alone))
    assert (spread.status, spread.enclosed, len(spread.claims)) == (
        alone.status,
        alone.enclosed,
        len(alone.claims),
    )
    assert SHIPPED[name] is None or SHIPPED[name] in far.names


def _loss(seed: int, kind: type[Average]) -> Model:
    """A random mechanism with one parameter; its bound is to be replaced."""
    return replace(drawn(Random(seed), 1).model(Fraction(1), Fraction(1)), measure=kind(Fraction(1)))


@pytest.mark.slow
def test_least_losses_are_the_same() -> None:
    """The least loss, its boxes and their proof are the same where directions are tasks."""
    found = []
    for executor in (Options().executor, Counting()):
        with Session(Options(executor=executor)) as session:
            least = least_loss(_loss(3, KLDivergence), session, Fraction(1, 5))
            found.append((least.low, least.high, least.proof.boxes, [tree for _, tree in least.proof.trees]))
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [KLDivergence, ZeroConcentrated])
def test_points_of_workers_are_evaluated_from_the_model(kind: type[Average]) -> None:
    """Where a direction fails inside of the domain, its witness, and the boxes until then, are the same."""
    model = _loss(8, kind)
    for bound in (Fraction(1, 8), Fraction(1, 32)):
        found = []
        for executor in (Options().executor, Counting()):
            with Session(Options(executor=executor)) as session:
                made = list(covers(session, model, directions(model), kind(bound)))
                found.append([(m.boxes, m.tree, repr(m.witness)) for m in made])
        assert found[0] == found[1]
    assert any("LossWitness" in witness for *_, witness in found[0])


def test_a_point_that_the_model_denies_is_no_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a worker says of a point counts only where the model says so; else the direction is done here."""
    case = load(str(CASES / "divergences/geometric-kl.toml"))
    box = case.model.domain.box
    point = {name: str(interval.simplest()) for name, interval in box.items() if name != "E"}
    false = {"tree": None, "point": point, "boxes": 1}
    monkeypatch.setattr(worker, "function", lambda name: lambda document: false)
    monkeypatch.setattr("cluster_tools.function", worker.function)
    spread = verify(case, Options(executor=Elsewhere()))
    assert json.dumps(evidence_document(case, spread)) == json.dumps(evidence_document(case, verify(case)))


def test_least_bounds_of_sets_are_the_same() -> None:
    """The least δ is the same where its proofs are tasks."""
    model = drawn(Random(5), 1).model(Fraction(1), Fraction(1, 10))
    found = []
    for executor in (Options().executor, Counting()):
        with Session(Options(executor=executor)) as session:
            least = least_bound(model, session, Fraction(1, 100), NeedKind.DELTA)
            found.append((least.low, least.high, least.attained, least.proof))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["approximate/geometric-contagious", "divergences/geometric-kl"])
def test_tasks_that_kill_their_workers_leave_a_case_undecided(name: str) -> None:
    """The verdict is unknown, and says that the workers died; nothing is called private."""
    found = verify(load(str(CASES / f"{name}.toml")), Options(executor=Deadly())).verdict
    assert isinstance(found, Unknown)
    assert found.end is End.CRASHED
    assert "died" in found.detail


def test_the_limit_that_the_user_gave_is_told() -> None:
    """A worker knows a part of the time only; what is told is the limit of the run."""
    with Session(Options(seconds=1e-9, limit=7.0, executor=Elsewhere())) as session:
        model = load(str(CASES / "divergences/geometric-kl.toml")).model
        assert isinstance(model, Model)
        found = verify_losses(session, model).verdict
    assert isinstance(found, Unknown)
    assert found.end is End.TIMEOUT
    assert "7 s" in found.detail
