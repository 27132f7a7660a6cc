"""What a worker does for a session elsewhere: it decides one claim, with the same strategy and limits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from paramverify.claims import from_document
from paramverify.errors import InputError
from paramverify.portfolio.history import History, default_path
from paramverify.portfolio.session import Options, Session
from paramverify.portfolio.telling import read_strategy
from paramverify.processes.answers import decision_to_document
from paramverify.tasks.worker import runner


@cache
def _history() -> History:
    """Returns the log of attempts of this worker, which is read once."""
    return History.load(default_path())


def session_of(document: Mapping[str, Any]) -> Session:
    """Returns a session with the options of another one, as `Session.told` tells them.

    Raises:
        InputError: a backend that is not one of this installation by its name.
    """
    strategy = read_strategy(document["strategy"])
    for name in (name for stage in strategy for name in stage.names()):
        if ":" in name:
            raise InputError(f"{name} is no backend of the workers: a module of yours is not sent there")
    options = Options(
        seconds=float(document["seconds"]),
        memory=int(document["memory"]),
        strategy=strategy,
        confirm=int(document["confirm"]),
        require_certificates=document["require_certificates"] is True,
    )
    return Session(options, runner(), _history())


def decided(document: Mapping[str, Any]) -> dict[str, Any]:
    """Decides the claim of a document of `telling.decide_task`; returns the decision as JSON data.

    Raises:
        InputError: a backend that is not one of this installation by its name.
        DisagreementError: two backends contradict each other.
    """
    with session_of(document) as session:
        return decision_to_document(session.decide(from_document(document["claim"])))
