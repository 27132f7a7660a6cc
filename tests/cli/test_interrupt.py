"""Ctrl-C during a long search: exit code 130, and what is known is told; see also test_limits.py."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.mark.slow
def test_an_interrupted_map_is_told(tmp_path: Path) -> None:
    """After Ctrl-C a map is told as far as it is known, its cells are kept, and the exit code is 130."""
    case, state = tmp_path / "case.toml", tmp_path / "cells"
    case.write_text(THREE)
    form = ["--region", "--coverage", "0.0001", "--state", str(state)]
    command = [sys.executable, "-m", "paramverify", "synthesize", str(case), *form]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 50
    while time.monotonic() < deadline and not (state.exists() and state.read_text().count("\n") > 20):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=50)
    assert process.returncode == 130
    assert "% true" in out
    assert "interrupted: the rest of the box is undecided" in out
    assert state.read_text().count("\n") > 20
    assert '"undecided"' in state.read_text()


THREE = """
[parameters]
p = "(0, 1)"
q = "(0, 1)"
r = "(0, 1)"

[define]
f = "p**2 + q**2*r - 1/2*r*p - 1/4*r**2 - 1/8"

[claim]
holds = "f >= 0"
"""
