"""Where a cluster is: as the user writes it, with what its connections are secured by."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from paramverify.errors import InputError

LOCAL = "local"
FORMS = "local, local:4, tcp://host:8786 or tls://host:8786"
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
        raise InputError("--cluster-tls-ca, --cluster-tls-cert and --cluster-tls-key are given together")
    for file in given:
        if not Path(file).is_file():
            raise InputError("there is no such file", file=file)
    match = re.fullmatch(r"local(?::([0-9]{1,9}))?", text)
    if match:
        workers = int(match[1] or os.cpu_count() or 1)
        if not 1 <= workers <= MOST_LOCAL:
            raise InputError(f"--cluster {text}: from 1 to {MOST_LOCAL:,} workers")
        if given:
            raise InputError("--cluster local makes keys of its own: leave --cluster-tls-... out")
        return TaskPlace(LOCAL, workers, memory=memory)
    if not re.fullmatch(r"(tcp|tls)://\S+:[0-9]{1,5}", text):
        raise InputError(f"--cluster {text!r:.80}: write {FORMS}")
    if given and not text.startswith("tls://"):
        raise InputError("files of TLS need an address that begins with tls://")
    return TaskPlace(text, keys=Keys(*given) if given else None)
