"""Stand-in backends that misbehave, each in its own way; attempts name them `standin_backends:NAME`."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from flint import fmpz

from paramverify.answers import Answer, End, Open, Proved, Refuted
from paramverify.claims import Claim
from paramverify.errors import UnsupportedError

Decide = Callable[[Claim, Mapping[str, str]], Any]


@dataclass(frozen=True)
class StandIn:
    """A backend that calls a function."""

    act: Decide
    found: str | None = "1.0"
    name: str = "stand-in"
    builtin: bool = False
    description: str = "for tests"
    install: str = "pip install stand-in"

    def version(self) -> str | None:
        return self.found

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        answer: Answer = self.act(claim, options)
        return answer


@StandIn
def prove(claim: Claim, options: Mapping[str, str]) -> Answer:
    return Proved({"kind": "none"}, "I am sure")


@StandIn
def echo(claim: Claim, options: Mapping[str, str]) -> Answer:
    return Open(End.GAVE_UP, f"{claim.text()} {sorted(options.items())}")


@StandIn
def refute(claim: Claim, options: Mapping[str, str]) -> Answer:
    time.sleep(float(options.get("after", "0")))
    point = {name: Fraction(options.get(name, "1/2")) for name in claim.domain.ring.names}
    return Refuted(point, "I found a point")


@StandIn
def refute_nothing(claim: Claim, options: Mapping[str, str]) -> Answer:
    return Refuted({})


@StandIn
def hang(claim: Claim, options: Mapping[str, str]) -> NoReturn:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(60)


@StandIn
def compute(claim: Claim, options: Mapping[str, str]) -> NoReturn:
    while True:
        fmpz(3) ** 1_000_000


@StandIn
def eat_memory(claim: Claim, options: Mapping[str, str]) -> NoReturn:
    kept = []
    while True:
        kept.append(bytearray(1 << 24))


@StandIn
def eat_native_memory(claim: Claim, options: Mapping[str, str]) -> Answer:
    number = fmpz(3) ** (1 << 34)  # about 3 GB; flint aborts the process where it does not get them
    return Open(End.GAVE_UP, f"{number.bit_length()}")


@StandIn
def abort(claim: Claim, options: Mapping[str, str]) -> NoReturn:
    print("something broke", file=sys.stderr)
    os.abort()


@StandIn
def fault(claim: Claim, options: Mapping[str, str]) -> None:
    ctypes.string_at(0)


@StandIn
def leave(claim: Claim, options: Mapping[str, str]) -> NoReturn:
    sys.exit(0)


@StandIn
def fail(claim: Claim, options: Mapping[str, str]) -> NoReturn:
    raise ValueError("this is my mistake")


@StandIn
def refuse(claim: Claim, options: Mapping[str, str]) -> NoReturn:
    raise UnsupportedError("cannot express p**p")


@StandIn
def garbage_out(claim: Claim, options: Mapping[str, str]) -> Answer:
    print('{"answer": "proved", "certificate": null, "transcript": ""}')
    os.write(2, b"\xff\xfe (error) sat\n")
    return Open(End.GAVE_UP, "no idea", "solver said unknown")


@StandIn
def garbage_answer(claim: Claim, options: Mapping[str, str]) -> str:
    return "unsat"


@StandIn
def flood(claim: Claim, options: Mapping[str, str]) -> NoReturn:
    while True:
        os.write(2, b"warning! " * 5_000)


@StandIn
def flood_then_prove(claim: Claim, options: Mapping[str, str]) -> Answer:
    os.write(2, b"the beginning\n")
    for _ in range(1_000):
        os.write(1, b"warning! " * 5_000)
    os.write(2, b"\nthe end\n")
    return Proved()


@StandIn
def late(claim: Claim, options: Mapping[str, str]) -> Answer:
    time.sleep(1.0)
    return Proved()


@StandIn
def leave_processes(claim: Claim, options: Mapping[str, str]) -> Answer:
    """One process in the group, one in a session of its own, and one below it whose parent is gone."""
    sleep = [sys.executable, "-c", "import time; time.sleep(300)"]
    subprocess.Popen(sleep)
    subprocess.Popen(sleep, start_new_session=True)
    daemon = f"import subprocess; subprocess.Popen({sleep!r}, start_new_session=True)"
    subprocess.run([sys.executable, "-c", daemon], check=True)
    if "hang" in options:
        time.sleep(300)
    return Proved()


@StandIn
def leave_files(claim: Claim, options: Mapping[str, str]) -> Answer:
    _, path = tempfile.mkstemp()
    directory = tempfile.mkdtemp()
    if "hang" in options:
        time.sleep(300)
    return Open(End.GAVE_UP, f"{path}\n{directory}")


@StandIn
def tell_limits(claim: Claim, options: Mapping[str, str]) -> Answer:
    core, cpu = resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_CPU)
    leads = os.getpgid(0) == os.getsid(0) == os.getpid()
    return Open(End.GAVE_UP, f"core {core[0]}, cpu {cpu[0]}, leads {leads}, parent {os.getppid()}")


missing = StandIn(lambda claim, options: Proved(), found=None)
