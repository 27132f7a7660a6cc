"""Theorems about cases, and what Coq says of them."""

from __future__ import annotations

import shutil
import subprocess
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


def accepts(text: str, folder: Path) -> bool:
    """Tells whether Coq accepts a file."""
    (folder / "case.v").write_text(text)
    command = ["coqc", "-Q", str(THEORIES), "Paramverify", "case.v"]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=300).returncode == 0
