"""Whether the solvers that a user chose were asked anything."""

from __future__ import annotations

from typing import Any

from paramverify.portfolio.session import Session
from paramverify.portfolio.strategies import BUILT_IN, NAMED
from paramverify.processes.attempts import resolve


def unasked(session: Session, claims: int = 1, others: bool = True) -> str:
    """Returns that no solver of those that the user chose was asked about any of so many claims; else "".

    Without `others` only procedures of this package answer this question, whatever is chosen.
    """
    options = session.options
    stages = () if options.strategy == NAMED["default"] else options.strategy
    listed = dict.fromkeys(name for stage in stages for name in stage.names() if name != BUILT_IN)
    names = [name for name in listed if not resolve(name).builtin]
    if session.asked or not names or not options.executor.is_here:  # workers know whom they asked
        return ""
    told = f"{', '.join(names)} {'were' if len(names) > 1 else 'was'} asked nothing"
    if not claims:
        return f"{told}: there was no claim for solvers"
    if not others:
        return f"{told}: built-in procedures were enough"
    if not options.simplify:
        return told
    first = "built-in procedures come first, and were enough"
    return f"{told}: {first}; --no-simplify (simplify=False in Python) leaves them out"


def remarked(
    session: Session, lines: list[str], document: dict[str, Any], others: bool = True
) -> tuple[list[str], dict[str, Any]]:
    """Returns an answer in words and as JSON data with a note, if solvers were asked nothing."""
    note = unasked(session, others=others)
    if not note:
        return lines, document
    return [*lines, f"Note: {note}."], {**document, "notes": [*document.get("notes", ()), note]}
