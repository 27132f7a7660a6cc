"""Tasks: their order, the batches that a worker does, errors as data, and places of clusters."""

from __future__ import annotations

import json
import signal
import socket
import ssl
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from math import inf
from pathlib import Path
from typing import Any, TypeVar

import pytest
from click.testing import CliRunner

from paramverify import errors
from paramverify.cli.verify import command
from paramverify.errors import ClusterError, DisagreementError, InputError, TimeLimitError
from paramverify.tasks import worker
from paramverify.tasks.cluster import Keys, TaskPlace, read_place, security, shake_hands, uninterrupted
from paramverify.tasks.task_distribution import batch_size
from paramverify.tasks.tasks import HERE, Task, TaskResult, busy_task, in_order
from paramverify.tasks.worker import FUNCTIONS, error_from_document, error_to_document, function

T = TypeVar("T")
MEMORY = 1 << 32


def ask(name: str, *documents: Any, **more: Any) -> dict[str, Any]:
    """Gives a batch to `perform` as a cluster does."""
    batch = {
        "versions": worker.versions(),
        "name": name,
        "tasks": documents,
        "seconds": [None] * len(documents),
    }
    found: dict[str, Any] = json.loads(worker.perform(json.dumps(batch | more)))
    return found


class Backwards:
    """Does tasks here, the last one first, and notes how many were given up."""

    is_here, width = False, 1

    def __init__(self) -> None:
        self.left = 0

    def map(self, tasks: Sequence[Task[T]], until: float = inf) -> Generator[TaskResult[T], None, None]:
        self.left = len(tasks)
        for number in reversed(range(len(tasks))):
            value = tasks[number].here()
            self.left -= 1
            yield TaskResult(number, lambda value=value: value)  # type: ignore[misc]


def test_values_come_in_order() -> None:
    """In whatever order tasks end, their values come in the order of the tasks; errors in their place."""
    tasks = [busy_task(k, 0.0) for k in range(5)]
    assert list(in_order(Backwards(), tasks)) == list(in_order(HERE, tasks)) == [0, 1, 2, 3, 4]


def test_the_rest_is_given_up() -> None:
    """Tasks that are done here are done when they are asked for; closing gives up the rest."""
    done: list[int] = []

    def here(number: int) -> int:
        done.append(number)
        return number

    tasks = [Task("busy", lambda k=k: here(k), dict, int, lambda reason: 0) for k in range(5)]  # type: ignore[misc]
    values = in_order(HERE, tasks)
    assert next(values) == 0
    values.close()
    assert done == [0]


def test_a_worker_does_batches() -> None:
    """A batch of tasks gives their values in order; a mistake in one is told, and the others are done."""
    reply = ask("busy", {"number": 3, "seconds": 0}, {"seconds": 0}, {"number": 4, "seconds": 0})
    assert [result.get("value") for result in reply["results"]] == [3, None, 4]
    assert reply["results"][1]["error"]["kind"] == "DefectError"
    assert reply["machine"] == worker.machine()


def test_only_named_functions() -> None:
    """Every function on the list is there; no other can be asked for."""
    for name in FUNCTIONS:
        assert callable(function(name))
    reply = ask("os:system", "true")
    assert reply["results"][0]["error"]["kind"] == "InputError"
    assert "no task is called 'os:system'" in reply["results"][0]["error"]["reason"]


def test_other_versions_are_refused() -> None:
    """A worker does nothing for who has other versions, and says its own; here these are told apart."""
    other = {**worker.versions(), "paramverify": "0.0.1", "code": "abc"}
    refused = ask("busy", {"number": 3, "seconds": 0}, versions=other)
    assert refused == {"refused": worker.versions()}
    worker.check_versions(worker.versions(), "it")
    with pytest.raises(ClusterError, match=r"it has paramverify 0\.0\.1 .*, code abc .*the same versions"):
        worker.check_versions(other, "it")


def test_a_worker_that_hangs_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past its limit a task ends its process by a signal of the system; before, nothing happens."""
    rung: list[int] = []
    monkeypatch.setattr(worker, "AFTER", 0.02)
    ask("busy", {"number": 1, "seconds": 0}, seconds=[5.0])
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    # The default of the signal ends the process; here a handler stands in for it once the timer is set.
    before = signal.getsignal(signal.SIGALRM)
    assert before is signal.SIG_DFL
    with worker._watch.over(0.01):
        signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
        until = time.monotonic() + 5
        while not rung and time.monotonic() < until:
            time.sleep(0.005)
        signal.signal(signal.SIGALRM, before)
    assert rung == [signal.SIGALRM]


@pytest.mark.parametrize(
    "error",
    [
        errors.InputError("a"),
        errors.LimitError("b"),
        errors.SizeError("c"),
        errors.UnsupportedError("d"),
        errors.DefectError("e"),
        TimeLimitError(3.0),
        TimeLimitError(3.0).during("resting"),
        DisagreementError("f", (("z3", "proved", "x"), ("cvc5", "refuted", "y"))),
    ],
)
def test_errors_arrive_as_they_are(error: errors.ParamverifyError) -> None:
    """An error that went as data is of the same kind, says the same, and has the same parts."""
    found = error_from_document(json.loads(json.dumps(error_to_document(error))))
    assert type(found) is type(error)
    assert str(found) == str(error)
    if isinstance(error, DisagreementError):
        assert isinstance(found, DisagreementError)
        assert found.answers == error.answers


def test_errors_of_others_are_defects() -> None:
    """A kind of ours with more parts arrives as its nearest ancestor, an error of Python as a defect."""
    assert type(error_from_document(error_to_document(errors.CaseError("x", key="k")))) is InputError
    found = error_from_document(error_to_document(KeyError("x")))
    assert isinstance(found, errors.DefectError)
    assert "KeyError" in str(found)


def test_places(tmp_path: Path) -> None:
    """Addresses and files of TLS are read; what does not fit is told with the forms that there are."""
    nothing = (None, None, None)
    assert read_place("local:3", nothing, MEMORY) == TaskPlace("local", 3, memory=MEMORY)
    assert read_place("local", nothing, MEMORY).workers >= 1
    assert read_place("tcp://host:8786", nothing, MEMORY) == TaskPlace("tcp://host:8786")
    files = [str(tmp_path / name) for name in ("ca", "cert", "key")]
    for file in files:
        Path(file).touch()
    keys = (files[0], files[1], files[2])
    assert read_place("tls://host:8786", keys, MEMORY) == TaskPlace("tls://host:8786", keys=Keys(*keys))
    for text in (
        "",
        "host",
        "http://host:1",
        "local:0",
        "local:x",
        "local:99999",
        "local:٣",
        "tcp://host:1 x",
    ):
        with pytest.raises(InputError, match="local"):
            read_place(text, nothing, MEMORY)
    for text, given in (("tcp://h:1", keys), ("local", keys), ("tls://h:1", (*keys[:2], None))):
        with pytest.raises(InputError, match=r"tls"):
            read_place(text, given, MEMORY)
    with pytest.raises(InputError, match="no such file"):
        read_place("tls://h:1", (str(tmp_path / "none"), *keys[1:]), MEMORY)


def _pair(folder: Path, name: str, password: str = "") -> tuple[str, str]:
    """Writes a key and a certificate that it signs itself, and returns both files."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    today = datetime(2024, 1, 1)
    made = x509.CertificateBuilder(subject, subject, key.public_key(), 1, today, today + timedelta(36500))
    locked = serialization.BestAvailableEncryption(password.encode()) if password else None
    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        locked or serialization.NoEncryption(),
    )
    files = folder / f"{name} 1.pem", folder / f"{name} 1.key"
    files[0].write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(text)
    return str(files[0]), str(files[1])


def test_wrong_files_of_tls_are_told_before_a_client_is_made(tmp_path: Path) -> None:
    """No files, an empty one, a key of another certificate, one with a password: each is named at once."""
    (cert, key), (_, other), (locked_cert, locked) = (
        _pair(tmp_path, "me"),
        _pair(tmp_path, "you"),
        _pair(tmp_path, "locked", "secret"),
    )
    empty = tmp_path / "empty.pem"
    empty.touch()
    assert security(Keys(cert, cert, key)).get_connection_args("client")["ssl_context"]
    for keys, said in (
        (None, "needs files of TLS: --cluster-tls-ca"),
        (Keys(str(empty), cert, key), "cannot be used .*empty.pem"),
        (Keys(cert, cert, other), "cannot be used .*you 1.key"),
        (Keys(cert, locked_cert, locked), "^the key .*locked 1.key has a password"),
    ):
        with pytest.raises(ClusterError, match=said):
            security(keys)


def test_a_scheduler_with_other_certificates_is_told(tmp_path: Path) -> None:
    """Both sides must have TLS and accept each other: what does not fit is told at once."""
    me, other = (_pair(tmp_path, name) for name in ("me", "you"))
    own = security(Keys(me[0], *me))
    cases = (
        (me, me[0], None),
        (other, me[0], "do not accept each other's certificates: CERTIFICATE_VERIFY_FAILED"),
        (me, other[0], "do not accept each other's certificates: .*ALERT"),
        (None, "", "does not use TLS: write an address that begins with tcp://"),
    )
    for pair, trusted, said in cases:
        with _Server(pair, trusted) as place:
            if said is None:
                shake_hands(place, own, 5.0)
                continue
            with pytest.raises(ClusterError, match=said):
                shake_hands(place, own, 5.0)


class _Server:
    """Answers one connection as a scheduler does, with TLS or without: it speaks first."""

    def __init__(self, pair: tuple[str, str] | None, trusted: str) -> None:
        self.context: ssl.SSLContext | None = None
        if pair:
            self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=trusted)
            self.context.verify_mode = ssl.CERT_REQUIRED
            self.context.load_cert_chain(*pair)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self._answer)

    def _answer(self) -> None:
        with suppress(OSError):
            found, _ = self.socket.accept()
            with found if self.context is None else self.context.wrap_socket(found, server_side=True) as end:
                end.sendall(b"hello, this is no TLS")

    def __enter__(self) -> TaskPlace:
        self.thread.start()
        return TaskPlace(f"tls://127.0.0.1:{self.socket.getsockname()[1]}")

    def __exit__(self, *error: object) -> None:
        self.thread.join()
        self.socket.close()


def test_ctrl_c_waits_for_what_has_begun() -> None:
    """Work that must not be cut in two ends first; then Ctrl-C is heard, and later ones as before."""
    before, done = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append(1)
        done.append(2)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is before


def test_files_of_tls_need_a_cluster(tmp_path: Path) -> None:
    """Files of TLS without an address are not passed over in silence."""
    found = CliRunner().invoke(command, ["no-case.toml", "--cluster-tls-ca", str(tmp_path / "ca.pem")])
    assert found.exit_code == 2
    assert "--cluster-tls-... needs a cluster: add --cluster" in found.output


def test_sizes_of_batches() -> None:
    """Small tasks go together, more of them where there are many workers; large tasks go alone."""
    assert batch_size(0.001, 100_000, 2) == 200
    assert batch_size(0.05, 200, 2) == 4
    assert batch_size(1.0, 1000, 2) == 1
    assert batch_size(0.01, 80, 2) == 20
    assert batch_size(0.0, 10**9, 2) == 1000
    assert batch_size(0.05, 100_000, 1000) == 141
    assert batch_size(0.05, 10, 1000) == 1
