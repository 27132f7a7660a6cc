"""The folder of a theorem: its theories are those that it needs, and Coq needs nothing else to check it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from calling_tools import called
from theorem_tools import ROOT, THEORIES, about, case_of, needs_coq

from paramverify.reports.theorems.inequality_theorems import REQUIRE as OF_CLAIMS
from paramverify.reports.theorems.theorem_files import REQUIRE, theorem_files

# Theorems of each kind: a prior, distances, every length, sets of outputs, a program, a claim.
CASES = (
    "randomized-response.toml",
    "geometric-metric.toml",
    "survey-memory-all.toml",
    "approximate/geometric-independent.toml",
    "programs/evenings.toml",
    "inequalities/schur-1.toml",
)
# Names behind a word of Coq that loads files, whatever stands before.
LOADED = re.compile(r"(?:From\s+(\w+)\s+)?Require\s+(?:Import\s+|Export\s+)?([\w.\s]+?)\.(?:\s|$)")
COMES_WITH_COQ = {"Coq", "Paramverify"}


def loaded(text: str) -> dict[str, set[str]]:
    """Returns what a file of Coq loads: names by the library that they come from."""
    text = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
    found: dict[str, set[str]] = {}
    for library, names in LOADED.findall(text):
        found.setdefault(library, set()).update(names.split())
    return found


def check_closed(files: dict[str, str]) -> None:
    """Checks that theories load each other and what comes with Coq, and that the Makefile has them."""
    theories = {Path(name).stem for name in files if name.startswith("theories/")}
    assert theories
    for name, text in files.items():
        if name.endswith(".v"):
            assert loaded(text).keys() <= COMES_WITH_COQ, name
            assert loaded(text).get("Paramverify", set()) <= theories, name
            assert "Coquelicot" not in text, name
    (line,) = (line for line in files["Makefile"].splitlines() if "coq_makefile" in line)
    assert {Path(word).stem for word in line.split() if word.endswith(".v")} == theories


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_folders_are_closed(name: str, tmp_path: Path) -> None:
    """What `prove` writes needs Coq, and no other library; each theory is one that the theorem needs."""
    folder = tmp_path / "out"
    done = called("prove", str(ROOT / "cases" / name), "-o", str(folder))
    assert done.code == 0, done.err
    paths = [path for path in folder.rglob("*") if path.is_file()]
    files = {str(path.relative_to(folder)): path.read_text() for path in paths}
    check_closed(files)
    assert files == theorem_files(files["case.v"], THEORIES)
    used: set[str] = set()
    pending = loaded(files["case.v"])["Paramverify"]
    while pending:
        used |= pending
        pending = {n for k in pending for n in loaded(files[f"theories/{k}.v"]).get("Paramverify", ())} - used
    assert {f"theories/{name}.v" for name in used} == {name for name in files if name.startswith("theories/")}


@pytest.mark.parametrize("line", [REQUIRE, OF_CLAIMS])
def test_most_theories_are_not_needed(line: str) -> None:
    """The theories about other questions, two of which need Coquelicot, stay out."""
    files = theorem_files(line, THEORIES)
    check_closed(files)
    assert len(files) < len([*THEORIES.glob("*.v")]) - 20


@pytest.mark.parametrize("second", ["record == 1", "record >= 1", "not record == 0", "record == 0"])
def test_a_theorem_about_one_secret_says_so(second: str) -> None:
    """Where the two secrets of each pair are one, the head of the theorem says that it says nothing."""
    text = (ROOT / "cases" / "randomized-response.toml").read_text()
    head = about(case_of(text.replace('no = "record == 0"', f'no = "{second}"'))).partition("*)")[0]
    assert ("the two secrets of each pair are the same" in head) == (second != "record == 0")
    assert ("it says nothing about this case" in head) == (second != "record == 0")


@needs_coq
def test_make_checks_the_theorem(tmp_path: Path) -> None:
    """`make` accepts a theorem where no library but Coq's own is found, and rejects a changed one.

    The compiled theories are copied beside their text, so that the test is fast.
    """
    folder = tmp_path / "out"
    assert called("prove", str(ROOT / "cases" / "randomized-response.toml"), "-o", str(folder)).code == 0
    now = time.time()
    for theory in (folder / "theories").glob("*.v"):
        for suffix in (".vo", ".vok", ".vos", ".glob"):
            copy = shutil.copy(THEORIES / f"{theory.stem}{suffix}", folder / "theories")
            os.utime(copy, (now, now))
    alone = {name: value for name, value in os.environ.items() if name not in ("COQPATH", "ROCQPATH")}
    made = subprocess.run(["make", "-C", folder], env=alone, capture_output=True, text=True, timeout=200)
    assert made.returncode == 0, made.stderr
    assert "Axioms:" in made.stdout
    text = (folder / "case.v").read_text()
    (folder / "case.v").write_text(text.replace("Theorem private", "Theorem another"))
    assert subprocess.run(["make", "-C", folder], env=alone, capture_output=True, timeout=200).returncode
