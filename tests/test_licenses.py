"""Which extras install software under the GPL, by what is installed here; lowest versions are there."""

from __future__ import annotations

import re
from configparser import ConfigParser
from importlib.metadata import PackageNotFoundError, distribution, requires

import pytest
from conftest import ROOT
from packaging.requirements import Requirement

SETUP = ConfigParser()
SETUP.read(ROOT / "setup.cfg", encoding="utf-8")
EXTRAS = SETUP["options.extras_require"]
GPL = re.compile(r"(?<!L)GPL|GNU (Affero )?General Public", re.IGNORECASE)  # not the Lesser one
UNLISTED = {"bench", "release"}  # for those who work on this repository; the page is for users


def needed(extra: str) -> set[str]:
    """Returns the names of all packages that an extra installs here, those of the package itself with it."""
    found: set[tuple[str, frozenset[str]]] = set()
    asked = [("paramverify", frozenset({extra}))]
    while asked:
        name, extras = asked.pop()
        if (name, extras) in found:
            continue
        found.add((name, extras))
        try:
            lines = requires(name) or []
        except PackageNotFoundError:  # for another system, or an extra that is not installed here
            continue
        for need in map(Requirement, lines):
            if need.marker is None or any(need.marker.evaluate({"extra": one}) for one in (*extras, "")):
                asked.append((need.name, frozenset(need.extras)))
    return {name for name, _ in found}


def is_gpl(name: str) -> bool:
    """Tells whether a package says of itself that it is under the GPL."""
    try:
        told = distribution(name).metadata
    except PackageNotFoundError:
        return False
    licence = " ".join(((told.get_all("License") or [""])[0]).split())[:60]  # some have the whole text there
    classifiers = [line for line in told.get_all("Classifier") or [] if line.startswith("License")]
    return bool(GPL.search(" ".join([*(told.get_all("License-Expression") or []), licence, *classifiers])))


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["none", *sorted(set(EXTRAS) - UNLISTED)])
def test_an_extra_that_installs_software_under_the_gpl_says_so(extra: str) -> None:
    """The table of the first page says of each extra what the packages say that it installs."""
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith(f"| `{extra}`")]
    rows = rows or [line.split("|") for line in page.splitlines() if line.startswith(f"| {extra} |")]
    assert len(rows) == 1
    assert rows[0][3].strip().startswith("**yes**") == any(map(is_gpl, needed(extra)))
    comment = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    named = re.findall(r"^# Software under .*?\n(?!#)", comment, re.MULTILINE | re.DOTALL)[0]
    if extra in ("yices", "qepcad", "storm", "all"):
        assert extra in named
        assert any(map(is_gpl, needed(extra)))


def test_every_dependency_has_a_lowest_version() -> None:
    """`.ci/lowest` installs it."""
    lists = [SETUP["options"]["install_requires"], *EXTRAS.values()]
    for line in {line.strip() for text in lists for line in text.splitlines()} - {""}:
        assert re.fullmatch(r"[A-Za-z0-9-]+(\[[a-z]+\])?>=[0-9][0-9a-z.]*", line), line
