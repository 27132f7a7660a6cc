"""Ctrl-C during a verification: exit code 130, and no process is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_evidence import HARD


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    """A verification that is interrupted while a solver runs ends with 130 and takes the solver with it."""
    case = tmp_path / "case.toml"
    case.write_text(HARD)
    mark = f"PARAMVERIFY_TEST_MARK={os.getpid()}"
    environment = {**os.environ, "PARAMVERIFY_TEST_MARK": str(os.getpid())}
    command = [sys.executable, "-m", "paramverify", "verify", str(case), "--backends", "cvc5"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while len(marked(mark)) < 3 and time.monotonic() < deadline:  # itself, the zygote, the attempt
        time.sleep(0.05)
    assert len(marked(mark)) >= 3
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130
    assert error.strip().endswith("interrupted")
    while marked(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked(mark) == []


def marked(mark: str) -> list[int]:
    """Returns the processes that have the mark in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue  # it ended, or belongs to somebody else
    return found
