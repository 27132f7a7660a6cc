"""Theorems about cases, and what Coq says of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase, load, read_case
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import evidence_document
from paramverify.reports.theorems.theorem_files import theorem_of
from paramverify.tables import TomlDocument, toml_data

ROOT = Path(__file__).resolve().parents[2]
THEORIES = ROOT / "proofs" / "theories"
BUILT = shutil.which("coqc") is not None and (THEORIES / "Theorems.vo").exists()
needs_coq = pytest.mark.skipif(not BUILT, reason="the theories are not built: make -C proofs")


def written(name: str) -> str:
    """Returns the theorem about a shipped case."""
    return about(load(ROOT / "cases" / f"{name}.toml"))


def about(case: PrivacyCase) -> str:
    """Returns the theorem about a case."""
    report = verify(case, Options(seconds=30, evidence=2.0))
    return theorem_of(case, evidence_document(case, report)).text


def case_of(text: str) -> PrivacyCase:
    """Returns the case that a text says."""
    return read_case(TomlDocument(toml_data(text), text, path="case.toml"))


def refusals(texts: Sequence[str], folder: Path) -> list[str]:
    """Returns where Coq refuses each file: the first line of what it refuses, or nothing if it accepts all.

    One process reads all files, each in a module of its own, and goes on after a mistake. The last line of
    a file prints the axioms, which takes longer than most proofs: here it asks that the theorem is there.
    """
    lines = []
    for k, text in enumerate(texts):
        asking, count = re.subn(r"^Print Assumptions (\w+)\.$", r"Check \1.", text, flags=re.MULTILINE)
        assert count == 1
        lines += [f"Module File{k}.", asking, "Abort All.", f"End File{k}."]
    done = subprocess.run(
        ["coqtop", "-Q", str(THEORIES), "Paramverify"],
        cwd=folder,
        input="\n".join(lines) + "\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=True,
    )
    answers = re.split(r"Interactive Module File\d+ started\n", done.stdout)[1:]
    assert [f"Module File{k} is defined" in said for k, said in enumerate(answers)] == [True] * len(texts)
    found = [re.search(r"(?:^> (.*)\n(?:> .*\n)*)?Error", said, re.MULTILINE) for said in answers]
    return [(mistake[1] or "no line").strip() if mistake else "" for mistake in found]


def accepts(text: str, folder: Path) -> bool:
    """Tells whether Coq accepts a file."""
    return refusals([text], folder) == [""]
