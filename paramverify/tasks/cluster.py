"""A cluster by Dask distributed: where it is, the connection, the versions of its workers, and its end.

What goes to a worker is the name of one function (`worker.perform`) and a text. Dask packs both; no function
of ours or of the user is packed itself, and what comes back is a text.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import signal
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from paramverify import printable
from paramverify.errors import ClusterError, ClusterLostError, InputError
from paramverify.tasks.task_distribution import DistributedTasks, answer_of
from paramverify.tasks.tasks import ADDRESSES, Task, TaskResult
from paramverify.tasks.worker import as_versions, check_versions, perform, told_versions

LOCAL = "local"
MOST_LOCAL = 1024  # workers on this machine


@dataclass(frozen=True)
class Keys:
    """Files of TLS: the certificate of whoever signs, this side's certificate, and its key."""

    authority: str
    certificate: str
    key: str


@dataclass(frozen=True)
class TaskPlace:
    """A scheduler at an address, or `workers` processes on this machine that are started for one command.

    `memory` is the limit of each of these processes, in bytes.
    """

    address: str
    workers: int = 0
    keys: Keys | None = None
    memory: int = 0

    @property
    def is_local(self) -> bool:
        """Whether the processes are our own."""
        return self.address == LOCAL

    @property
    def is_secured(self) -> bool:
        """Whether the connection has TLS, with files of the user."""
        return self.address.startswith("tls://")


def read_place(text: str, keys: tuple[str | None, str | None, str | None], memory: int) -> TaskPlace:
    """Reads what `--cluster` says, and the three files of TLS, which are given together.

    Raises:
        InputError: another form, or files that do not go with it.
    """
    given = [file for file in keys if file]
    if len(given) not in (0, 3):
        raise InputError(
            "--cluster-tls-ca, --cluster-tls-cert and --cluster-tls-key belong together: give all three"
        )
    for file in given:
        if not Path(file).is_file():
            raise InputError("there is no such file", file=file)
    match = re.fullmatch(r"local(?::([0-9]{1,9}))?", text)
    if match:
        workers = int(match[1] or os.cpu_count() or 1)
        if not 1 <= workers <= MOST_LOCAL:
            raise InputError(f"--cluster {text}: from 1 to {MOST_LOCAL:,} workers")
        if given:
            raise InputError("--cluster local creates its own keys: leave --cluster-tls-... out")
        return TaskPlace(LOCAL, workers, memory=memory)
    if not re.fullmatch(r"(tcp|tls)://\S+:[0-9]{1,5}", text):
        raise InputError(f"--cluster {text!r:.80}: write {ADDRESSES}")
    if given and not text.startswith("tls://"):
        raise InputError(
            "files for TLS are given, but the address does not begin with tls://: write tls://HOST:8786"
        )
    return TaskPlace(text, keys=Keys(*given) if given else None)


INSTALL = "pip install 'paramverify[cluster]'"
CONNECT = 10.0  # seconds to find the scheduler at first
PATIENCE = 60.0  # seconds in which a scheduler that is lost may come back
ASK = 5.0  # seconds for workers to say their versions
CLOSE = 0.5  # seconds to take leave, of a client and of a cluster of ours
LOOK = 1.0  # seconds between two looks at the number of workers
DEATHS = 1  # of workers that Dask forgives a task, on a cluster of ours
SILENT = logging.CRITICAL + 1

T = TypeVar("T")


class Cluster:
    """Does tasks on the workers of a cluster; a context manager, to be used from one thread.

    `tell` hears in one line each what a user should know: where the cluster is, and what happens to it.
    """

    def __init__(self, place: TaskPlace, tell: Callable[[str], None], patience: float = PATIENCE) -> None:
        self.place, self.tell, self.patience = place, tell, patience
        self._client: Any = None
        self._scratch = ""  # the folder of these processes
        self._own: Any = None  # the cluster of processes that this one has started
        self._workers, self._threads, self._looked = 0, 0, -inf
        self.given = 0  # batches, so far

    # -- the connection

    def __enter__(self) -> Cluster:
        try:
            import_module("cryptography")  # for the keys of a cluster on this machine
            distributed = import_module("distributed")
        except ImportError:
            raise ClusterError(f"--cluster needs distributed: {INSTALL}") from None
        _silence()
        try:
            if self.place.is_local:
                self._start(distributed)
            self._connect(CONNECT)
            self._welcome()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self, distributed: Any) -> None:
        """Starts workers on this machine; connections between them are secured by keys made for it."""
        dask = import_module("dask")
        self._scratch = tempfile.mkdtemp(prefix="paramverify-cluster-")
        settings = {
            "temporary-directory": self._scratch,
            "distributed.scheduler.allowed-failures": DEATHS,
            "distributed.worker.profile.enabled": False,  # what costs time though nobody looks
            "distributed.admin.tick.interval": "500ms",
            "distributed.admin.system-monitor.interval": "2s",
        }
        with dask.config.set(settings), uninterrupted():
            self._own = distributed.LocalCluster(
                n_workers=self.place.workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                protocol="tls://",
                security=distributed.Security.temporary(),
                dashboard_address="127.0.0.1:0",
                memory_limit=self.place.memory or None,
                local_directory=self._scratch,
                silence_logs=SILENT,
            )

    def _connect(self, seconds: float) -> None:
        """Connects to the scheduler.

        Raises:
            ClusterError: there is none, or the files of TLS cannot be used.
        """
        distributed = import_module("distributed")
        connection = import_module("paramverify.tasks.connection")
        options = {"security": security(self.place.keys)} if self.place.is_secured else {}
        where = self.place.address
        if self._own:
            where, options = self._own.scheduler_address, {"security": self._own.security}
        try:
            if self.place.is_secured:
                shake_hands(self.place, options["security"], seconds)
            with uninterrupted():
                self._client = distributed.Client(
                    connection.address(where),
                    timeout=seconds,
                    set_as_default=False,
                    direct_to_workers=False,
                    **options,
                )
        except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
            _silence()  # what connections say to the log comes later
            told = f": {error!s:.200}" if str(error) else ""
            if "reset by peer" in told and not options:
                told += "; if it uses TLS, write an address that begins with tls://"
            raise ClusterError(f"no scheduler answers at {self.place.address}{told}") from None

    def _welcome(self) -> None:
        """Says what was found, and compares versions.

        Raises:
            ClusterError: a worker has another one, or cannot work at all.
        """
        for address, other in self._versions().items():
            if isinstance(other, Exception):
                raise ClusterError(f"a worker cannot load paramverify: {other!s:.200}")
            check_versions(as_versions(answer_of(other)), f"the worker at {address}")
        self._look(now=True)
        board = self._client.dashboard_link
        self.tell(
            f"cluster: {_counted(self._workers, 'worker')}, {_counted(self._threads, 'task')} at a time"
            + (f"; dashboard: {board}" if board else "")
        )
        if not self._workers:
            self.tell("cluster: no worker is connected yet; tasks wait for one")

    def _versions(self) -> Mapping[str, Any]:
        """Returns what the workers say that answer in good time.

        Dask waits long for one that has just died. A worker that is silent here compares versions with each
        batch.
        """

        async def ask() -> Any:
            return await self._client.run(told_versions, on_error="return")

        with suppress(
            OSError, TypeError
        ):  # too late, or the worker is lost, or the scheduler is lost, which is noticed elsewhere
            found = self._client.sync(ask, callback_timeout=ASK)
            return {who: said for who, said in found.items() if not isinstance(said, OSError)}
        return {}

    def close(self) -> None:
        """Leaves the cluster; ends it if it is ours."""
        with uninterrupted():
            self._kill_own()
            for end in filter(None, (self._client, self._own)):
                with suppress(Exception):  # it may be gone already, in any way
                    end.close(timeout=CLOSE)
            if self._own:  # what did not end in good time is not waited for at the end of the program
                atexit.unregister(import_module("distributed.deploy.spec").close_clusters)
            self._client = self._own = None
            if self._scratch:
                shutil.rmtree(self._scratch, ignore_errors=True)
                self._scratch = ""

    def _kill_own(self) -> None:
        """Kills the workers that are ours: nothing of them is to be kept, and one may be in a long call."""
        for nanny in self._own.workers.values() if self._own else ():
            with suppress(Exception):  # it may be gone already, in any way
                nanny.auto_restart = False
                os.kill(nanny.pid, signal.SIGKILL)

    # -- for who hands out tasks

    @property
    def is_here(self) -> bool:
        """That tasks are done elsewhere."""
        return False

    @property
    def width(self) -> int:
        """How many tasks are done at the same time."""
        return max(1, self._threads)

    @property
    def connected(self) -> bool:
        """Whether the scheduler is there, as far as is known."""
        return bool(self._client and self._client.status == "running")

    def submit(self, text: str, heard: Callable[[Any], None]) -> Any:
        """Gives a batch to the scheduler; `heard` is called in another thread when it has ended.

        Raises:
            ConnectionError: the scheduler is lost.
        """
        self._look()
        try:
            future = self._client.submit(perform, text, pure=False)
        except Exception as error:
            if self.connected:
                raise
            raise ConnectionError("the scheduler is lost") from error
        self.given += 1
        future.add_done_callback(heard)
        return future

    def whose(self, future: Any) -> str:
        """Returns which worker the result of a batch is from, as the scheduler says."""
        with suppress(Exception):  # who it was helps people alone
            found = self._client.sync(self._client.scheduler.who_has, keys=[future.key], callback_timeout=ASK)
            return f"the worker at {printable.name(str(found[future.key][0]), 100)}"
        return "a worker"

    def forget(self, futures: Sequence[Any]) -> None:
        """Gives up batches."""
        if futures and self.connected:
            with suppress(Exception):  # the scheduler may go away meanwhile
                self._client.cancel(list(futures), force=True)

    def again(self) -> None:
        """Waits for the scheduler, which is lost, and connects to it once more.

        Raises:
            ClusterLostError: it did not come back in time.
        """
        lost = f"the scheduler at {self.place.address} is lost"
        if self._own:
            raise ClusterLostError(lost)
        self.tell(
            f"cluster: {lost}; finished tasks are kept; waiting {self.patience:g} s for it to come back"
        )
        with suppress(Exception):
            self._client.close(timeout=0.5)
        self._workers = self._threads = 0
        until = time.monotonic() + self.patience
        while True:
            left = until - time.monotonic()
            if left <= 0:
                raise ClusterLostError(f"{lost}: start it again, and then this command")
            try:
                self._connect(min(left, 2.0))
                break
            except ClusterError:
                time.sleep(min(0.2, max(0.0, left)))
        self._welcome()

    def _look(self, now: bool = False) -> None:
        """Looks now and then how many workers there are."""
        if not now and time.monotonic() < self._looked + LOOK:
            return
        with suppress(Exception):  # a scheduler that is lost is noticed elsewhere
            found = self._client.nthreads()
            if self._workers and not found:
                self.tell("cluster: no worker is left; tasks wait for one")
            self._workers, self._threads = len(found), sum(found.values())
        self._looked = time.monotonic()

    def map(self, tasks: Sequence[Task[T]], until: float = inf) -> Generator[TaskResult[T], None, None]:
        """Yields the results as they end; tasks of workers that die are done again."""
        return DistributedTasks(self, tasks).results(until)


def security(keys: Keys | None) -> Any:
    """Returns what secures a connection with TLS: these files, or those that the settings of Dask name.

    They are read here, before a client is made: one that fails on them cannot be ended in good time.

    Raises:
        ClusterError: there are none, they do not belong together, or the key has a password.
    """
    distributed = import_module("distributed")
    found = distributed.Security(require_encryption=True)
    if keys:
        found.tls_ca_file, found.tls_client_cert = keys.authority, keys.certificate
        found.tls_client_key = keys.key
    files = (found.tls_ca_file, found.tls_client_cert, found.tls_client_key)
    if not all(files):
        raise ClusterError(
            "an address that begins with tls:// needs files of TLS:"
            " --cluster-tls-ca, --cluster-tls-cert and --cluster-tls-key"
        )

    def password() -> str:
        raise ClusterError(f"the key {keys.key if keys else 'of TLS'} has a password: use a key without one")

    try:
        if not any("\n" in file for file in files):  # Dask takes the text of a file, too
            context = ssl.create_default_context(cafile=files[0])
            context.load_cert_chain(files[1], files[2], password)
        found.get_connection_args("client")
    except ClusterError:
        raise
    except (OSError, ValueError) as error:
        names = ", ".join(file for file in files if "\n" not in file)
        raise ClusterError(f"the files of TLS cannot be used ({names}): {error!s:.200}") from None
    return found


def shake_hands(place: TaskPlace, secured_by: Any, seconds: float) -> None:
    """Begins a connection with TLS and leaves it: what Dask says of one that fails comes late, and in pieces.

    The scheduler speaks first, and only to a certificate that it accepts.

    Raises:
        ClusterError: the other side has no TLS, or one of both does not accept the other's certificate.
        OSError: nobody is there.
    """
    host, _, port = place.address.removeprefix("tls://").rpartition(":")
    context: ssl.SSLContext = secured_by.get_connection_args("client")["ssl_context"]
    try:
        with (
            socket.create_connection((host.strip("[]"), int(port)), timeout=seconds) as plain,
            context.wrap_socket(plain) as connection,
        ):
            connection.recv(1)
    except ssl.SSLError as error:
        reason = error.reason or str(error)
        told = f"the scheduler at {place.address} and this machine do not accept each other's certificates"
        if "WRONG_VERSION" in reason or "EOF" in reason:
            told = f"{place.address} does not use TLS: write an address that begins with tcp://"
        raise ClusterError(f"{told}: {reason}") from None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Lets Ctrl-C wait until the work inside has ended: what Dask has half begun cannot be ended in order."""
    heard: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            raise KeyboardInterrupt


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _silence() -> None:
    """Keeps the log of Dask out of the output: what users should know is told in our words."""
    for name in ("distributed", "tornado", "asyncio", *logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(SILENT)
