"""Checks evidence about SMT-LIB scripts: proofs of claims for `unsat`, points for `sat`.

The document alone shows that its claims are true. That they are those of a script, and that the assertions
are true at its points, needs the script: the second reader evaluates them there.
"""

from __future__ import annotations

from .ledger import Evidence, KernelReport, Lemmas, Statement, settle
from .strict_reading import Misformed, Rejected, counted, shown

WORDS = {"holds": "unsat", "violated": "sat", "unknown": "unknown"}


def show(about: Evidence, statement: Statement) -> KernelReport:
    """Checks the answers of a script: proofs are replayed, and each answer has what it needs.

    Raises:
        Rejected: a proof fails, or an answer has not what it needs.
    """
    if not statement["questions"]:
        raise Misformed("the script asks no question", "questions")
    ledger = settle(about, "claim", Lemmas())
    if ledger.rejected:
        raise Rejected(ledger.rejected)
    if ledger.open:
        raise Rejected("a claim has no proof")
    claims = dict(about.of("claim"))
    lines: list[str] = []
    said: list[str] = []
    used: set[int] = set()
    trusted = left = 0
    solvers = set(ledger.solvers)
    for k, question in enumerate(statement["questions"]):
        status, own = question["status"], question["claims"]
        if ("model" in question) != (status == "violated"):
            raise Misformed("a model is required with the status violated, and only then", "questions", k)
        if status != "holds" and (own or question["solvers"]):
            raise Misformed("claims and solvers are only allowed with the status holds", "questions", k)
        if status == "holds" and not (own or question["solvers"] or about.named):
            raise Misformed("no claim shows this unsat: check it together with its script", "questions", k)
        if not claims.keys() >= set(own) or len(set(own)) < len(own):
            raise Misformed("not the numbers of different claims", "questions", k, "claims")
        used.update(own)
        names = set(question["solvers"])
        for place in own:
            names |= ledger.settled[claims[place]["domain"], claims[place]["polynomial"]]
        trusted += bool(question["solvers"])
        left += status == "unknown"
        solvers |= names
        more = f", on the word of {', '.join(map(shown, sorted(names)))}" if names else ""
        proved = f", {counted(len(own), 'claim')}" if own else ""
        lines.append(f"question {k + 1}: {WORDS[status]}{proved}{more}")
        said.append(WORDS[status])
    if used != claims.keys():
        raise Rejected("a claim shows no answer")
    return KernelReport(
        True,
        tuple(lines),
        proved=ledger.proved,
        trusted=ledger.trusted + trusted,
        open=left,
        status=", ".join(said),
        solvers=tuple(sorted(solvers)),
    )
