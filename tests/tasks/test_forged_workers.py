"""Workers that lie: nothing counts without a replay here or their word, and nothing of theirs runs here."""

from __future__ import annotations

import json
import os
import pickle
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from fractions import Fraction
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import pytest
from cluster_tools import Elsewhere, Processes, wait_for
from distributed.protocol import dumps, to_serialize
from distributed.protocol.serialize import ToPickle
from forging_worker import SOLVER, TRUE, WAY, WAYS

from paramverify.algebra.domains import Domain, parse_interval
from paramverify.algebra.polynomials import Ring
from paramverify.answers import Decision, Proved, Refuted
from paramverify.claims import Claim
from paramverify.cli.main import run
from paramverify.errors import ClusterError
from paramverify.evidence.certificates import words
from paramverify.formats.refutations import fails_at
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.synthesis.spreading import spread_cells
from paramverify.tasks.cluster import Cluster, TaskPlace
from paramverify.tasks.connection import decoded
from paramverify.tasks.tasks import Task, TaskResult
from paramverify.tasks.worker import function

pytestmark = pytest.mark.slow

CASE = """
[parameters]
x = "[0, 1]"
y = "[0, 1]"
[claim]
holds = "(x - y)**2 + (x*y - 1/4)**2 >= 1/1000"
"""  # which is false

TABLE = """
[parameters]
p = "[1/4, 1/2]"
[mechanism]
kind = "hmm"
states = ["a", "b"]
observations = ["x", "y"]
emissions.a = {{ x = "p", y = "1 - p" }}
emissions.b = {{ x = "1/2", y = "1/2" }}
[neighbours]
pairs = [["a", "b"]]
[privacy]
{bound}
"""


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file that names how workers lie."""
    path = tmp_path_factory.mktemp("forged") / "way"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(WAY, str(path))
        path.write_text("")
        yield path


@pytest.fixture(scope="module")
def processes(way: Path) -> Iterator[Processes]:
    """A scheduler and a worker that lies."""
    made = Processes(way.parent, preload="forging_worker")
    try:
        made.work(1)
        wait_for(made.address, 1)
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def cluster(processes: Processes) -> Iterator[Cluster]:
    """A connection to it."""
    with Cluster(TaskPlace(processes.address), lambda line: None) as made:
        yield made


def _claim() -> Claim:
    ring = Ring(("x", "y"))
    domain = Domain(ring, {name: parse_interval("[0, 1]") for name in ring.names})
    return Claim(ring.parse("(x - y)^2 + (x*y - 1/4)^2 - 1/1000"), domain)


def _ran_here(way: Path) -> bool:
    """Tells whether a payload ran in this process; Dask unpickles errors on the worker itself."""
    log = Path(f"{way}.run")
    return log.exists() and str(os.getpid()) in log.read_text().split()


def _decided(cluster: Cluster, claim: Claim) -> Decision:
    with Session(Options(seconds=30.0, executor=cluster)) as session:
        return next(session.decide_each([claim]))


@pytest.mark.parametrize("name", WAYS)
def test_a_lie_is_no_verdict(name: str, way: Path, cluster: Cluster) -> None:
    """A false claim is proved by no lie but on the worker's word; what is malformed is the worker's error."""
    way.write_text(name)
    try:
        found: Decision | ClusterError = _decided(cluster, _claim())
    except ClusterError as error:
        found = error
    finally:
        way.write_text("")
    assert not _ran_here(way)
    if isinstance(found, ClusterError):
        assert "worker" in str(found)
        assert str(found).isprintable()
    elif isinstance(found.answer, Proved):
        assert found.answer.certificate is None
        assert "as a worker says" in words(found)[0]
        assert name.startswith("word")
    elif isinstance(found.answer, Refuted):
        assert fails_at(_claim(), found.answer.point)
    else:
        assert found.answer.detail


def test_an_honest_answer_counts(cluster: Cluster) -> None:
    """Without a lie the claim is refuted."""
    assert isinstance(_decided(cluster, _claim()).answer, Refuted)


@pytest.mark.parametrize(
    ("name", "required"),
    [
        ("word of a built-in", True),
        ("certificate that shows nothing", False),
        ("payload", True),
    ],
)
def test_what_the_command_says(
    name: str,
    required: bool,
    way: Path,
    processes: Processes,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The verdict names the worker's word; else it is undecided or an error, and never a defect."""
    path = tmp_path / "case.toml"
    path.write_text(CASE)
    way.write_text(name)
    given = ["verify", str(path), "--cluster", processes.address, *(["--require-certificates"] * required)]
    try:
        code = run(given)
    finally:
        way.write_text("")
    told = capsys.readouterr()
    if name.startswith("word") and not required:
        assert code == 0
        assert told.out.startswith("true, on the word of built-in 0.1.0 (as a worker says)")
    else:
        assert code in (2, 3)
        assert "true" not in told.out
        assert "worker" in told.out + told.err or "rejects its certificate" in told.out + told.err
    assert not _ran_here(way)


class _Lying(Elsewhere):
    """Changes the value of each task."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.change = change

    def map(self, tasks: Sequence[Task[Any]], until: float = inf) -> Generator[TaskResult[Any], None, None]:
        for number, task in enumerate(tasks):
            told = json.loads(json.dumps(function(task.name)(task.document())))
            yield TaskResult(number, partial(task.read, self.change(told)))


def _forged(tree: list[Any]) -> Callable[[Any], Any]:
    """Says that a tree proves it, and no more."""
    return lambda told: {**told, "tree": tree, "point": None, "decisions": [], "witness": None, "boxes": 1}


@pytest.mark.parametrize("tree", [[], [TRUE], [SOLVER], ["box"], [["free"], TRUE]], ids=str)
@pytest.mark.parametrize("measure", ["delta", "kl"])
def test_trees_are_replayed(measure: str, tree: list[Any], tmp_path: Path) -> None:
    """A tree about all outputs together counts after the kernel, and on no word that nobody names."""
    path = tmp_path / "case.toml"
    path.write_text(TABLE.format(bound={"delta": 'ratio = "1"\ndelta = "1/4"', "kl": 'kl = "1/4"'}[measure]))
    with pytest.raises(ValueError, match=r"the checker rejects its proof|does not name"):
        verify(load(str(path)), Options(executor=_Lying(_forged(tree))))


@pytest.mark.parametrize("shift", [Fraction(0), Fraction(1, 100)], ids=["all safe", "elsewhere"])
def test_cells_are_a_word(shift: Fraction) -> None:
    """Cells of workers tile the cell that was given."""
    ring = Ring(("x", "y"))
    domain = Domain(ring, {name: parse_interval("(0, 1)") for name in ring.names})
    claim = Claim(ring.parse("x^2 + y^2 - 3/4*x*y - 1/3"), domain)

    def change(told: Any) -> Any:
        for cell in told:
            cell.update(status="safe", box=[[str(Fraction(a) + shift) for a in side] for side in cell["box"]])
        return told

    def made() -> bool:
        until = time.monotonic() + 60
        return spread_cells(
            [claim],
            domain,
            ["x", "y"],
            Fraction(1, 4000),
            executor=_Lying(change),
            known=(),
            keep=lambda cell: None,
            until=until,
        ).by_workers

    if shift:
        with pytest.raises(ValueError, match="do not partition the given cell"):
            made()
    else:
        assert made()


MARKER: list[int] = []


class _Payload:
    def __reduce__(self) -> Any:
        return MARKER.append, (1,)


@pytest.mark.parametrize(
    "message",
    [
        {"op": "key-in-memory", "key": "k", "type": pickle.dumps(_Payload())},
        {"op": "task-erred", "exception": pickle.dumps(_Payload()), "traceback": pickle.dumps(_Payload())},
        {"op": "task-erred", "exception": to_serialize(_Payload())},
        {"op": "task-erred", "exception": ToPickle(_Payload())},
        {"status": "uncaught-error", "exception": ToPickle(_Payload()), "exception_text": "no"},
        {"status": "OK", "data": {"key": to_serialize(_Payload())}},
        {"op": "event", "event": (1, {"category": pickle.dumps(_Payload())})},
        [ToPickle([_Payload()])],
    ],
    ids=lambda message: str(message)[:30],
)
def test_messages_are_data(message: Any) -> None:
    """What a scheduler packs with pickle stays packed, wherever it is in a message."""
    MARKER.clear()
    found = decoded(list(dumps(message)))
    assert isinstance(found, dict | tuple)
    assert "builtin_function" not in repr(found)
    assert not MARKER
