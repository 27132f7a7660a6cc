"""Settings that all tests share."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from paramverify.portfolio.session import Session

ROOT = Path(__file__).resolve().parent.parent

# The tools that tests share (some are named on command lines, as users name modules of their own), and those
# that make the pages of the documentation.
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "docs" / "_site")]

import process_tools  # noqa: E402

QUICK_ROWS = 3  # of each table of parameters

NOT_BUILT = "the proved checker is not built"  # as tests/tools/three_checkers.py says it

# Deadlines are timings, which say more about the machine than about the code. Under CI the examples are
# always the same ones, so that a failure there can be repeated; elsewhere they are new each time.
settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# Where Python was told not to keep compiled modules, each of the hundreds of processes that tests start would
# compile the whole package again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What earlier runs took must not change the order in which backends are tried, nor tests fill a user's cache.
os.environ["PARAMVERIFY_HISTORY"] = "off"
os.environ["PARAMVERIFY_ORDER"] = "off"


@pytest.fixture(autouse=True, scope="session")
def _share() -> float:
    """Leaves no time to the search of larger inputs (up to two seconds a command); returns the usual time."""
    from paramverify.synthesis import borders

    usual, borders.MOST = borders.MOST, 0.0
    return usual


@pytest.fixture
def usual_share(_share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives the search of larger inputs the time that users give it."""
    from paramverify.synthesis import borders

    monkeypatch.setattr(borders, "MOST", _share)


@pytest.fixture
def ample_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives the search of larger inputs time, enough on a busy machine too, in tests about what it finds."""
    from paramverify.synthesis import borders

    for name, value in (("SHARE", 1.0), ("LEAST", 60.0), ("MOST", 60.0)):
        monkeypatch.setattr(borders, name, value)


# A shell that starts a job in the background makes it ignore these signals, and programs inherit that. A
# handler that does nothing keeps this process as deaf as it was, and leaves the default to programs that it
# starts.
for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda number, frame: None)


def pytest_collection_finish() -> None:
    """Takes what collecting has made, which stays to the end, out of the searches for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _no_program_stays() -> Iterator[None]:
    """Ends what a test started by `piped` and left, so that a test that fails does not slow others."""
    yield
    process_tools.end_all()


def pytest_configure(config: pytest.Config) -> None:
    """Lets a quick run try a tenth of the examples for each property."""
    if config.option.markexpr == "not slow":
        settings.register_profile("quick", settings.default, max_examples=10)
        settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Lets a quick run take some rows of a long table, unless marks say which of them are quick."""
    if config.option.markexpr != "not slow":
        return
    rows: dict[str, list[pytest.Item]] = {}
    for item in items:
        rows.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = set()
    for table in rows.values():
        if not any(item.get_closest_marker("slow") for item in table):
            kept = {number * (len(table) - 1) // (QUICK_ROWS - 1) for number in range(QUICK_ROWS)}
            left_out |= {item for number, item in enumerate(table) if number not in kept}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turns a skip into a failure under CI, where everything that a test may ask for is installed.

    Only Coq may be missing there: then `.ci/run` says so, and sets PROOFS_LEFT_OUT.
    """
    report = yield
    left_out = os.environ.get("PROOFS_LEFT_OUT") and NOT_BUILT in str(report.longrepr)
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail") and not left_out:
        report.outcome = "failed"
        report.longrepr = f"skipped, which is a failure under CI: {report.longrepr}"
    return report


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """One session for all claims of a file."""
    from paramverify.portfolio import session

    with session.Session(session.Options(seconds=120)) as found:
        yield found


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT
