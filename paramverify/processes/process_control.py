"""What the operating system offers to keep hold of processes.

Groups, sessions and limits are POSIX. That a process dies with its parent, and that the orphans below a
process come to it instead of to `init`, are Linux only; elsewhere those functions do nothing and say so.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class ProcessEnd:
    """How a process ended: return code (negative for a signal), processor seconds, peak memory in bytes."""

    code: int
    cpu: float
    memory: int


def die_with_parent(parent: int) -> bool:
    """Asks for SIGKILL when the parent thread dies; ends at once if the given parent is gone already."""
    done = _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    return done


def adopt_orphans() -> bool:
    """Makes every process below this one a child of this one when its own parent dies."""
    return _prctl(PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, argument: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    return bool(ctypes.CDLL(None).prctl(option, argument, 0, 0, 0) == 0)


def kill_tree(leader: int) -> None:
    """Kills a child that has not been reaped, and its process group.

    Since the child is not reaped, its number still belongs to it, so nobody else is hit. The child itself
    is named too because it may not have come to open its own session yet.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.kill(leader, signal.SIGKILL)
    kill_group(leader)


def spent_below(leader: int) -> float:
    """Returns the processor seconds of the other processes of a child's group, as far as the system tells.

    A child that is killed has not waited for them, so they are not in what `reap` says. The times are rounded
    down to ticks of the system.
    """
    ticks, found = os.sysconf("SC_CLK_TCK"), 0
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == leader:
                continue
            with suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()  # the name of a program may have blanks
                if int(fields[2]) == leader:
                    found += sum(map(int, fields[11:15]))
    return found / ticks


def kill_group(leader: int) -> None:
    """Kills what is left of a process group; its number is not given away while it has a member."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def reap(leader: int) -> ProcessEnd | None:
    """Returns how a child ended, after killing what is left of its group; None while it is running."""
    if hasattr(os, "waitid"):
        if os.waitid(os.P_PID, leader, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return None
        kill_tree(leader)
    done, status, usage = os.wait4(leader, os.WNOHANG)
    if not done:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return ProcessEnd(
        os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit
    )


def kill_strays(known: Collection[int], patience: float = 1.0) -> None:
    """Kills and reaps every child of this process that is not known, until there is none.

    With `adopt_orphans` in force, these are the processes that left the group of an attempt that has ended. A
    killed one hands its own children to us, hence the rounds; `patience` bounds them, in seconds.
    """
    until = time.monotonic() + patience
    while strays := [pid for pid in _children() if pid not in known]:
        for pid in strays:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if time.monotonic() > until:
            return
        time.sleep(0.0005)


def _children() -> list[int]:
    """Returns the children of this single-threaded process; none where the system does not tell."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as listing:
            return [int(pid) for pid in listing.read().split()]
    except FileNotFoundError:
        return []


def limit(memory: int, cpu: int) -> None:
    """Limits this process, and those it starts, to some memory beyond what is mapped now and some seconds.

    `memory` is address space in bytes. `cpu` is processor time; past it comes SIGXCPU, one second later
    SIGKILL. No core files are written.
    """
    _lower(resource.RLIMIT_CORE, 0, 0)
    _lower(resource.RLIMIT_CPU, cpu, cpu + 1)
    bound = _mapped() + memory
    _lower(resource.RLIMIT_AS, bound, bound)


def _mapped() -> int:
    try:
        with open("/proc/self/statm", "rb") as sizes:
            return int(sizes.read().split()[0]) * resource.getpagesize()
    except FileNotFoundError:
        return 0


def _lower(kind: int, soft: int, hard: int) -> None:
    """Sets a limit, or leaves it where the one in force is lower."""
    present_soft, present_hard = resource.getrlimit(kind)
    new_hard = hard if present_hard == resource.RLIM_INFINITY else min(hard, present_hard)
    new_soft = soft if present_soft == resource.RLIM_INFINITY else min(soft, present_soft)
    with suppress(ValueError, OSError):  # macOS refuses some limits
        resource.setrlimit(kind, (min(new_soft, new_hard), new_hard))
