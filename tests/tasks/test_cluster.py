"""A cluster: a real scheduler and workers; the same results, also where they are killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from cluster_tools import Elsewhere, Processes, wait_for, worker_processes

from paramverify.algebra.domains import Domain, parse_interval
from paramverify.algebra.polynomials import Ring
from paramverify.answers import End, Open
from paramverify.claims import Claim
from paramverify.comparison.comparison_results import ResultsFile
from paramverify.comparison.comparison_runs import CompareOptions, plan, run
from paramverify.comparison.comparison_subjects import read_subjects
from paramverify.errors import ClusterError, ClusterLostError, LimitError
from paramverify.models.model import Model
from paramverify.portfolio import session
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import evidence_document
from paramverify.statistics.samplers import Experiment, ModelSource
from paramverify.statistics.sampling_runs import runs_of
from paramverify.synthesis.maps import Status
from paramverify.synthesis.regions import region_map
from paramverify.synthesis.spreading import spread_cells
from paramverify.tasks.cluster import Cluster, TaskPlace
from paramverify.tasks.tasks import HERE, busy_task

CASES = Path(__file__).parents[2] / "cases"
PROVED, REFUTED = CASES / "noisy-max-independent.toml", CASES / "geometric-contagious-ln2.toml"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """A scheduler and two workers, which die of the task 13 and are started again."""
    made = Processes(tmp_path_factory.mktemp("cluster"), preload="poisoned_worker")
    try:
        made.work(2)
        wait_for(made.address, 2)
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def told() -> list[str]:
    """What the cluster tells its user."""
    return []


@pytest.fixture(scope="module")
def cluster(processes: Processes, told: list[str]) -> Iterator[Cluster]:
    """A connection to it."""
    with Cluster(TaskPlace(processes.address), told.append) as made:
        yield made


def test_it_says_where_it_is(cluster: Cluster, told: list[str]) -> None:
    """The number of workers is told at once."""
    assert told[0].startswith("cluster: 2 workers, 2 tasks at a time")
    assert (cluster.width, cluster.is_here) == (2, False)


@pytest.mark.parametrize("path", [PROVED, REFUTED], ids=lambda path: path.stem)
def test_verdict_and_evidence_are_the_same(cluster: Cluster, path: Path) -> None:
    """A case that is proved, and one that is refuted on the way, have the same decisions and evidence."""
    case = load(str(path))
    alone, spread = verify(case), verify(case, Options(executor=cluster))
    assert [(d.answer, d.backend, d.version) for d in spread.decisions] == [
        (d.answer, d.backend, d.version) for d in alone.decisions
    ]
    assert evidence_document(case, spread) == evidence_document(case, alone)


def test_attempts_of_a_comparison(cluster: Cluster, tmp_path: Path) -> None:
    """Attempts run in processes on the workers, under limits; their results are kept, and not made again."""
    choice = CompareOptions(("bernstein", "z3"), seconds=20.0, beside=True)
    subjects = read_subjects([str(REFUTED)], ())
    attempts, _ = plan(subjects, choice)
    with ResultsFile(tmp_path / "results.jsonl") as results:
        made = run(attempts, choice, results, executor=cluster)
    assert len(made) == len(attempts) == 6
    assert {(r["claim"], r["status"]) for r in made} == {(1, "holds"), (2, "violated")}
    assert all(
        r["memory"] > 1 << 20 and r["ran_on"]["cores"] and r["machine"] == {"cluster": True} for r in made
    )
    with ResultsFile(tmp_path / "results.jsonl") as results:
        assert run(attempts, choice, results, executor=cluster) == made
        assert len(results.path.read_text().splitlines()) == 6


def test_a_killed_worker_loses_nothing(cluster: Cluster, processes: Processes) -> None:
    """Tasks of a worker that is killed are done again, and every result comes once."""
    tasks = [busy_task(100 + k, 0.01) for k in range(60)]
    found = []
    for number, result in enumerate(cluster.map(tasks)):
        found.append(result.get())
        if number == 5:
            os.kill(worker_processes(processes.address)[0], signal.SIGKILL)
    assert sorted(found) == [100 + k for k in range(60)]


def test_a_poisoned_task_is_given_up(cluster: Cluster, processes: Processes) -> None:
    """What kills its worker each time ends as lost after the stated number of deaths; all else is done."""
    tasks = [busy_task(k, 0.0) for k in range(12, 20)]
    results = {result.number: result for result in cluster.map(tasks)}
    assert sorted(results) == list(range(8))
    with pytest.raises(LimitError, match="every worker that was given this task died, 2 times"):
        results[1].get()
    assert [results[k].get() for k in (0, *range(2, 8))] == [12, *range(14, 20)]
    assert len(processes.killed.read_text().split()) == 2


def test_a_map_of_many_parts(cluster: Cluster) -> None:
    """The parts of a map tile its box, are the same whoever makes them, and need no more cutting here."""
    ring = Ring(("x", "y"))
    domain = Domain(ring, {name: parse_interval("(0, 1)") for name in ring.names})
    claim, kept = Claim(ring.parse("x^2 + y^2 - 3/4*x*y - 1/3"), domain), []
    coverage, until = Fraction(1, 60), time.monotonic() + 60
    spread = spread_cells(
        [claim], domain, ["x", "y"], coverage, executor=cluster, known=(), keep=kept.append, until=until
    )
    others = spread_cells(
        [claim], domain, ["x", "y"], coverage, executor=Elsewhere(), known=(), keep=print, until=until
    )
    assert spread.cells == others.cells
    assert len(spread.cells) > 60
    assert sum(cell.volume for cell in spread.cells) == 1
    assert sorted(map(repr, kept)) == sorted(
        repr(c) for c in spread.cells if c.status is not Status.UNDECIDED
    )
    assert spread.map is not None
    assert spread.map.share(Status.UNDECIDED) <= coverage
    found = region_map([claim], domain, ["x", "y"], coverage, known=spread.cells)
    assert sorted(map(repr, found.cells)) == sorted(map(repr, spread.cells))
    for cell in spread.cells[::50]:
        middle = [(low + high) / 2 for low, high in cell.box]
        value = middle[0] ** 2 + middle[1] ** 2 - Fraction(3, 4) * middle[0] * middle[1] - Fraction(1, 3)
        assert cell.status is Status.UNDECIDED or (value >= 0) == (cell.status is Status.SAFE)


def test_seeds_are_the_same(cluster: Cluster) -> None:
    """Runs on workers have the random numbers that they have here."""
    model = load(str(REFUTED)).model
    assert isinstance(model, Model)
    source, point = ModelSource(model), {"p": Fraction(1, 3), "q": Fraction(1, 2)}
    point = {name: point.get(name, Fraction(1, 4)) for name in model.domain.ring.parameters}
    experiment = Experiment(model.pairs[0].left, model.pairs[0].right, point)
    counts = []
    for executor in (HERE, cluster):
        with runs_of(source, 7, executor=executor) as runs:
            counts.append(runs.both(0, experiment, 120_000))
    assert counts[0] == counts[1]
    assert sum(counts[1][0].values()) == 120_000


def test_time_that_is_over(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the time is over first, claims stay open as timeouts, in their order, and all are told."""
    monkeypatch.setattr(session, "PATIENCE", -1.0)
    case = load(str(PROVED))
    found = verify(case, Options(seconds=1e-9, executor=cluster))
    ends = [d.answer.end for d in found.decisions if isinstance(d.answer, Open)]
    assert len(ends) == len(found.claims)
    assert set(ends) == {End.TIMEOUT}


def test_a_killed_scheduler_may_come_back(processes: Processes, cluster: Cluster, told: list[str]) -> None:
    """When it is started again, the work goes on: no result is lost, and none comes twice. Else it ends."""
    tasks = [busy_task(100 + k, 0.01) for k in range(60)]
    found = []
    for number, result in enumerate(cluster.map(tasks)):
        found.append(result.get())
        if number == 10:
            processes.kill_scheduler()
            processes.schedule()
            processes.work(nanny=False)
    assert sorted(found) == [100 + k for k in range(60)]
    assert any(f"the scheduler at {processes.address} is lost" in line for line in told)
    cluster.patience = 0.3
    results = cluster.map(tasks)
    assert next(results).get() in found
    processes.kill_scheduler()
    with pytest.raises(ClusterLostError, match="is lost: start it again, and then this command"):
        list(results)


def test_no_scheduler() -> None:
    """An address at which nobody answers is a mistake in the input."""
    from paramverify.tasks import cluster as module

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CONNECT", 0.3)
        with pytest.raises(ClusterError, match="no scheduler answers at tcp://127"):
            Cluster(TaskPlace("tcp://127.0.0.1:9"), print).__enter__()
