"""Ctrl-C with a cluster: the command ends soon, and leaves neither a process nor a folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

LONG = """
[parameters]
x = "[0, 1]"
y = "[0, 1]"
z = "[0, 1]"
[claim]
holds = "(x*y*z - 1/3)**4 + (x - y)**6*(y - z)**2 + (x**3 - z**2*y)**4 + 1/10**9 >= 0"
"""


@pytest.mark.parametrize(("after", "times"), [(0.5, 2), (3.0, 1)], ids=["while it starts", "at work"])
def test_nothing_is_left(after: float, times: int, tmp_path: Path) -> None:
    """It ends within the limit of the test, whatever it was doing."""
    case, scratch, here = tmp_path / "case.toml", tmp_path / "scratch", tmp_path / "here"
    case.write_text(LONG)
    scratch.mkdir()
    here.mkdir()
    command = [sys.executable, "-m", "paramverify", "verify", str(case), "--cluster", "local:2"]
    environment = {**os.environ, "TMPDIR": str(scratch), "PARAMVERIFY_HISTORY": "off"}
    environment["DASK_TEMPORARY_DIRECTORY"] = str(scratch)
    process = subprocess.Popen(
        [*command, "--backends", "z3"],
        cwd=here,
        env=environment,
        stdout=-1,
        stderr=-1,
        start_new_session=True,
    )
    time.sleep(after)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    process.communicate(timeout=30)
    assert process.returncode in (
        130,
        -signal.SIGINT,
    )  # before it takes signals over, as any program of Python
    assert not list(here.iterdir())
    assert times > 1 or not list(scratch.iterdir())
    marks = [p for p in Path("/proc").glob("[0-9]*/environ") if _has(p, f"TMPDIR={scratch}")]
    assert not marks


def _has(path: Path, text: str) -> bool:
    try:
        return text.encode() in path.read_bytes()
    except OSError:
        return False
