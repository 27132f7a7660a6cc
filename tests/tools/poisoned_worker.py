"""What a worker of Dask loads before it begins, so that the task `busy` with the number 13 kills it."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cluster_tools import LOG

from paramverify.tasks.tasks import busy
from paramverify.tasks.worker import FUNCTIONS

UNLUCKY = 13


def deadly(document: Mapping[str, Any]) -> int:
    """Kills this process where the number is unlucky."""
    if document["number"] == UNLUCKY:
        with Path(os.environ[LOG]).open("a") as log:
            log.write(f"{os.getpid()}\n")
        os.kill(os.getpid(), signal.SIGKILL)
    return busy(document)


def dask_setup(worker: object) -> None:
    """Is called by Dask in the worker."""
    del worker
    FUNCTIONS["busy"] = "poisoned_worker:deadly"
