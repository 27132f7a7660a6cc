"""The plugin of pytest: case files with `[expect]` are tests, in projects that ask for it.

Nothing is collected unless `--paramverify` is given, or the configuration of pytest has `paramverify_cases`,
which are patterns of files. Each expectation of a file is one test. The prover is imported when the first of
them is collected.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paramverify.testing.expectations import (
    Expectation,
    Failed,
    UncheckedExpectation,
    WeakerVerdictWarning,
    expectations,
    has_expectations,
)

NEVER = "pyproject.toml"
SECONDS = "60"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option and the keys of the configuration."""
    group = parser.getgroup("paramverify")
    told = "collect case files: *.toml with a table [expect], each expectation as one test"
    group.addoption("--paramverify", action="store_true", default=False, help=told)
    patterns = "case files that are tests: patterns such as cases/*.toml, from the root of the project"
    parser.addini("paramverify_cases", patterns, type="linelist", default=[])
    parser.addini("paramverify_timeout", f"seconds for each of them ({SECONDS})", default=SECONDS)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CollectedCaseFile | None:
    """Collects a case file where that was asked for."""
    if file_path.suffix.lower() != ".toml" or file_path.name == NEVER:
        return None
    named = any(_matches(parent.config, file_path, p) for p in parent.config.getini("paramverify_cases"))
    if not named and not (parent.config.getoption("--paramverify") and has_expectations(file_path)):
        return None
    return CollectedCaseFile.from_parent(parent, path=file_path)


def _seconds(config: pytest.Config) -> float:
    """Returns the time for one test.

    Raises:
        UsageError: the configuration has no such number.
    """
    given = config.getini("paramverify_timeout")
    try:
        found = float(given)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise pytest.UsageError(f"paramverify_timeout: this must be a number of seconds, not {given!r}")
    return found


def _matches(config: pytest.Config, path: Path, pattern: str) -> bool:
    """Tells whether a path below the root of the project is one of a pattern; `**` are any folders."""
    root = config.rootpath
    return path.is_relative_to(root) and path in set(root.glob(pattern))


class CollectedCaseFile(pytest.File):
    """A case file, of which each expectation is a test."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yields a test for each expectation.

        Raises:
            CollectError: the file cannot be read, or expects nothing.
        """
        known: dict[str, Any] = {}
        try:
            found = expectations(self.path)
        except Failed as error:
            raise self.CollectError(str(error)) from None
        for expectation in found:
            yield CaseItem.from_parent(self, name=expectation.name, expectation=expectation, known=known)


class CaseItem(pytest.Item):
    """One expectation of a case file."""

    def __init__(self, *, expectation: Expectation, known: dict[str, Any], **given: Any) -> None:
        super().__init__(**given)
        self.expectation = expectation
        self.known = known

    def runtest(self) -> None:
        """Decides the case, and compares."""
        try:
            self.expectation.check(self.path, _seconds(self.config), self.known)
        except UncheckedExpectation as reason:
            pytest.skip(str(reason))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Returns what was expected and what was found; other errors as pytest shows them."""
        if isinstance(excinfo.value, (Failed, WeakerVerdictWarning)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Returns the file and the name of the test."""
        return self.path, None, f"{self.path.name}: expects {self.name}"
