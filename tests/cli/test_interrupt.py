"""Ctrl-C during a verification: exit code 130, and no process is left behind."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hard_cases import HARD
from process_tools import mark, marked


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    """A verification that is interrupted while a solver runs ends with 130 and takes the solver with it."""
    case = tmp_path / "case.toml"
    case.write_text(HARD)
    environment = mark("interrupt")
    command = [sys.executable, "-m", "paramverify", "verify", str(case), "--backends", "cvc5"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while len(marked(environment)) < 4 and time.monotonic() < deadline:  # supervisor, itself, zygote, attempt
        time.sleep(0.05)
    assert len(marked(environment)) >= 4
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130
    assert error.strip().endswith("interrupted")
    while marked(environment) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked(environment) == []


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
