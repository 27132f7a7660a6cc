"""Every function of the package with a time limit returns when that is over, wherever the work is."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import pytest
from conftest import ROOT

from paramverify.errors import TimeLimitError
from paramverify.processes.time_limits import alarm

MOST = 60  # seconds within which each ends, started as a process of its own, on a busy machine

DECORATED = """
from paramverify import laplace, mechanism
@mechanism(
    inputs={"q": {"length": 6, "values": "0..2"}}, neighbours={"differ": "each", "by": 2},
    epsilon="eps", parameters={"eps": "(0, oo)"},
)
def noisy(q, eps):
    best = 0
    top = q[0] + laplace(2 / eps)
    for i in range(1, len(q)):
        x = q[i] + laplace(2 / eps)
        if x > top:
            best = i
            top = x
    return best
"""
PATH = """
import paramverify
noisy = {path!r}
"""
CALLS = {
    "verify": {"path": "paramverify.verify(noisy, timeout=1)"},
    "budget": {"decorated": "noisy.budget(timeout=1)"},
    "compose": {"path": "paramverify.compose(noisy, delta_for='1', timeout=1)"},
}
REST = """
import json, signal
try:
    told = str({call}).splitlines()[0]
except paramverify.errors.LimitError as error:
    told = f"limit: {{error}}"
print(json.dumps([told, signal.getitimer(signal.ITIMER_REAL)[0], repr(signal.getsignal(signal.SIGALRM))]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), [(name, form) for name in CALLS for form in CALLS[name]])
def test_a_call_returns_when_its_time_is_over(name: str, form: str, tmp_path: Path) -> None:
    """A program whose inputs are too many to be read in any time ends as undecided, or with a limit."""
    call = CALLS[name][form]
    toml = tmp_path / "noisy.toml"
    first = DECORATED
    if form == "path":
        source = DECORATED.split("def noisy(q, eps):\n")[1]
        toml.write_text(
            '[parameters]\neps = "(0, oo)"\n[mechanism]\nkind = "program"\n'
            f'source = """\n{dedent(source)}"""\n[mechanism.inputs]\nq = {{ length = 6, values = "0..2" }}\n'
            '[neighbours]\ndiffer = "each"\nby = 2\n[privacy]\nepsilon = "eps"\n',
            encoding="utf-8",
        )
        first = PATH.format(path=str(toml))
    script = tmp_path / "script.py"
    script.write_text(
        first + "import paramverify\nimport paramverify.errors\n" + REST.format(call=call), "utf-8"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=MOST, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told, left, handler = json.loads(done.stdout)
    assert "the time limit of 1 s is over" in told
    assert left == 0
    assert "SIG_DFL" in handler


def spin() -> None:
    """Works without end."""
    while True:
        pass


def test_alarms_stand_in_each_other() -> None:
    """The earlier one goes off; the outer one goes on afterwards, also where the inner one was swallowed."""

    def swallowing() -> None:
        with suppress(TimeLimitError), alarm(3, 0.1):
            spin()
        spin()

    with pytest.raises(TimeLimitError, match="of 7 s"), alarm(7, 0.3):
        swallowing()
    with pytest.raises(TimeLimitError, match="of 7 s"), alarm(7, 0.1), alarm(3, 60):
        spin()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.slow
def test_nothing_stays_behind_wherever_an_alarm_goes_off() -> None:
    """Two alarms that end at about one time, and at the end of the work, leave neither timer nor handler."""
    before = signal.getsignal(signal.SIGALRM)
    ended = 0
    for number in range(60):
        outer, inner = 0.011 + number % 7 * 0.0005, 0.011 + number % 5 * 0.0005
        last = time.monotonic() + 0.0105 + number % 11 * 0.0004
        try:
            with alarm(7, outer), alarm(3, inner):
                while time.monotonic() < last:
                    pass
        except TimeLimitError:
            ended += 1
        assert signal.getsignal(signal.SIGALRM) is before
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert 0 < ended < 60


def test_an_alarm_of_the_user_is_kept() -> None:
    """The handler and the timer that were there are there again, and go off."""
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.4)
        with pytest.raises(TimeLimitError), alarm(3, 0.1):
            spin()
        until = time.monotonic() + MOST
        while not rung and time.monotonic() < until:
            pass
        assert rung == [signal.SIGALRM]
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(TimeLimitError), alarm(3, 0.3):
            spin()
        assert rung == [signal.SIGALRM] * 2
        signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
        with pytest.raises(TimeLimitError), alarm(3, 0.35):
            spin()
        assert signal.getitimer(signal.ITIMER_REAL)[1] == pytest.approx(0.1)
        assert len(rung) >= 4
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_other_threads_have_no_alarm() -> None:
    """Outside of the main thread nothing happens, and nothing is left behind."""
    found: list[Callable[..., object] | int | None] = []

    def work() -> None:
        with alarm(1, 0.0):
            time.sleep(0.05)
        found.append(signal.getsignal(signal.SIGALRM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGALRM)]
