"""Settings that all tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# The tools that tests share; some are named on command lines, as users name modules of their own.
sys.path.insert(0, str(ROOT / "tests" / "tools"))

# Deadlines are timings, which say more about the machine than about the code. Under CI the examples are
# always the same ones, so that a failure there can be repeated; elsewhere they are new each time.
settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# What earlier runs took must not change the order in which backends are tried, nor tests fill a user's cache.
os.environ["PARAMVERIFY_HISTORY"] = "off"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turns a skip into a failure under CI, where everything that a test may ask for is installed."""
    report = yield
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which is a failure under CI: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT
