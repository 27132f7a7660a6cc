"""Changes of documents, by which tests make evidence that says something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Document = dict[str, Any]
Change = Callable[[Document], object]


def put(*path: str | int, value: Any) -> Change:
    """Returns what puts a value at a place of a document."""

    def change(document: Document) -> None:
        place: Any = document
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def out(*path: str | int) -> Change:
    """Returns what leaves out a part of a document."""

    def change(document: Document) -> None:
        place: Any = document
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]

    return change


def together(*changes: Change) -> Change:
    """Returns what does all of these."""

    def change(document: Document) -> None:
        for each in changes:
            each(document)

    return change
