"""Checks evidence about SMT-LIB scripts: proofs of claims for `unsat`, points for `sat`.

The document alone shows that its claims are true. That they are those of a script, and that the assertions
are true at its points, needs the script: the second reader evaluates them there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import evidence_shapes
from .claim_evidence import KernelReport, Ledger
from .strict_reading import Misformed, Rejected, check, counted, shown

FORMAT, VERSION = "paramverify-script", 1
WORDS = {"holds": "unsat", "violated": "sat", "unknown": "unknown"}


def check_document(document: Any, compared: bool = False) -> KernelReport:
    """Checks a document in itself: its proofs are replayed, and each answer has what it needs.

    `compared` says that its claims are compared with those of the script, which may be none.
    """
    try:
        check(document, evidence_shapes.SCRIPT)
        return _check(document, compared)
    except Rejected as error:
        return KernelReport(False, (f"rejected: {error}",))


def _check(document: Mapping[str, Any], compared: bool) -> KernelReport:
    counts = dict.fromkeys(("proved", "trusted", "open"), 0)
    lines: list[str] = []
    solvers: set[str] = set()
    said: list[str] = []
    for k, question in enumerate(document["questions"]):
        status = question["status"]
        if ("model" in question) != (status == "violated"):
            raise Misformed("a model comes with the status violated, and only with it", "questions", k)
        if status != "holds" and (question["claims"] or question["solvers"]):
            raise Misformed("claims and solvers are for the status holds", "questions", k)
        if status == "holds" and not (question["claims"] or question["solvers"] or compared):
            raise Misformed("no claim shows this unsat: check it beside its script", "questions", k)
        ledger = Ledger()
        for index, entry in enumerate(question["claims"]):
            ledger.enter(index, entry)
        if ledger.counts["rejected"]:
            raise Rejected(next(line for line in ledger.lines if ": rejected: " in line))
        if ledger.counts["open"]:
            raise Misformed("a claim has no proof", "questions", k)
        trusted = ledger.solvers | set(question["solvers"])
        for name in ("proved", "trusted"):
            counts[name] += ledger.counts[name]
        counts["trusted"] += bool(question["solvers"])
        solvers |= trusted
        counts["open"] += status == "unknown"
        more = f", on the word of {', '.join(map(shown, sorted(trusted)))}" if trusted else ""
        proved = f", {counted(len(ledger.settled), 'claim')}" if question["claims"] else ""
        lines.append(f"question {k + 1}: {WORDS[status]}{proved}{more}")
        said.append(WORDS[status])
    return KernelReport(
        True,
        tuple(lines),
        proved=counts["proved"],
        trusted=counts["trusted"],
        open=counts["open"],
        status=", ".join(said),
        solvers=tuple(sorted(solvers)),
    )
