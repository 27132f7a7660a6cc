"""What the program asks the functions that are extracted from Coq, read off a document and its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from coq_batches import Row, point_row, proof_row, root_row, set_point_row, sum_row
from forging_tools import Json
from three_checkers import Answer

from paramverify.checker.claims import FORMAT as CLAIMS_FORMAT
from paramverify.checker.neighbours import MALFORMED
from paramverify.checker.sets import FORMAT as SETS_FORMAT
from paramverify.errors import UnsupportedError

NOT_SHOWN = ": rejected: the proof does not show the claim"
NO_TREE = "rejected: the tree does not show the claim"
NO_WITNESS = "rejected: the claim does not fail at the witness"
WITNESS = re.compile(r"witness: the claim (\(.*\) )?is false there", re.DOTALL)
PROOFS, SUMS, POINTS, SETS = "proofs", "trees", "witnesses", "set witnesses"


@dataclass(frozen=True)
class Question:
    """Rows for Coq, and whether the program accepted all of them."""

    about: str
    rows: tuple[Row, ...]
    accepted: bool


def questions(data: bytes, answer: Answer) -> tuple[list[Question], int]:
    """Returns what the program asked about a document, and how many proofs with lemmas are left out."""
    if not answer.lines or answer.word not in ("accepted", "rejected"):
        return [], 0
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except ValueError:
        return [], 0
    kind = document.get("format") if isinstance(document, dict) else None
    if kind == SETS_FORMAT:
        return [*_proofs(document, answer.lines, "obligation")[0], *_of_sets(document, answer.lines)], 0
    if kind != CLAIMS_FORMAT:
        return [], 0
    found, left_out = _proofs(document, answer.lines, "claim")
    witness = _accepted(answer.lines)
    if witness is not None:
        written = document["witness"]
        claim, place = written["claim"], written.get("algebraic")
        row = root_row(claim, place) if place is not None else point_row(claim, written["parameters"])
        found.append(Question(POINTS, (row,), witness))
    return found, left_out


def _proofs(document: Json, lines: Sequence[str], what: str) -> tuple[list[Question], int]:
    """Returns the claims that the program asked, one by one, and how many refer to lemmas."""
    told = {line.partition(" (")[0].partition(":")[0]: line for line in lines}
    found, left_out = [], 0
    if f"{what} 1" not in told:  # nothing was asked, and the form may be wrong
        return found, left_out
    for k, entry in enumerate(document[f"{what}s"]):
        line = told.get(f"{what} {k + 1}", "")
        if line.endswith((": proved", NOT_SHOWN)):
            try:
                row = proof_row(entry["claim"], entry["proof"])
            except UnsupportedError:
                left_out += 1
            else:
                found.append(Question(PROOFS, (row,), line.endswith(": proved")))
    return found, left_out


def _of_sets(document: Json, lines: Sequence[str]) -> list[Question]:
    """Returns what was asked about sums: of several claims the first one that is not shown ends it."""
    domain, witness = document.get("domain"), _accepted(lines)
    asked = (NO_TREE, NO_WITNESS)
    if not any(line in asked or WITNESS.fullmatch(line) or line.endswith(": proved") for line in lines):
        return []
    rows = []
    for claim in document["claims"]:
        try:
            rows.append(sum_row(domain, claim))
        except MALFORMED:  # nobody came to it
            break
    found = [Question(SUMS, tuple(rows), lines != (NO_TREE,))] if rows else []
    if witness is not None:
        written = document["witness"]
        row = set_point_row(domain, written["claim"], written["parameters"])
        found.append(Question(SETS, (row,), witness))
    return found


def _accepted(lines: Sequence[str]) -> bool | None:
    """Returns whether a witness was accepted; None where none was asked about."""
    if tuple(lines) == (NO_WITNESS,):
        return False
    return True if any(map(WITNESS.fullmatch, lines)) else None
