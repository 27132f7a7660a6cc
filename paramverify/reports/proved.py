"""Evidence by the proved checker: the program `paramverify-check`, extracted from the proofs in Coq.

The theorem is in `proofs/`: a claim that the extracted function accepts is true. What the program does not
know it says, and accepts nothing then.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paramverify
from paramverify.answers import Standing
from paramverify.checker import dpctl, intervals
from paramverify.checker.claims import KernelReport
from paramverify.checker.documents import with_missing
from paramverify.checker.strict import counted
from paramverify.errors import DisagreementError, EvidenceError, InputError, LimitError

PROGRAM = "paramverify-check"
PLACE = "PARAMVERIFY_CHECKER"  # the environment variable that names the program
CODES = {"accepted": 0, "rejected": 1, "not known": 3}  # exit codes of its answers
UNITS = {"region map": "cell", intervals.STATUS: "part"}  # what is proved, by the status
NO_EVIDENCE = 2  # the exit code of a text that is none
FORMATS = {
    "automaton": "automata over streams",
    "composition": "compositions",
    "enclosed": "enclosed probabilities",
    "slots": "systems with any number of slots",
}
MEND = (
    f"run `make -C proofs` in a checkout (Debian: apt install coq libcoq-interval libzarith-ocaml-dev "
    f"ocaml-findlib make), or name the program in {PLACE}"
)


@dataclass(frozen=True)
class Replayed:
    """What the program says; `beyond` are the reasons why nothing is accepted or rejected, if any."""

    report: KernelReport
    beyond: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """What it says in one line."""
        found = self.report
        if self.beyond:
            return f"not checked: the proved checker does not know {self.gap}"
        what = counted(found.proved, UNITS.get(found.status, found.unit))
        counts = f"{what} proved, {found.trusted} trusted to solvers, {found.open} open"
        if found.accepted and found.status == Standing.VIOLATED:
            counts = f"a violation: {counts}" if found.proved or found.trusted else "a violation"
        return f"{'accepted' if found.accepted else 'rejected'} by the proved checker: {counts}"

    @property
    def gap(self) -> str:
        """What the program does not know, in words."""
        return "; ".join(dict.fromkeys(_named(reason) for reason in self.beyond))


def _named(reason: str) -> str:
    what = re.sub(r" (is|are) not known to the proved checker$", "", reason)
    name = what.removeprefix("the format 'paramverify-").removesuffix("'")
    return f"{FORMATS[name]} (paramverify-{name})" if name in FORMATS else what


def program() -> str:
    """Returns the path of the program: of the environment variable, of this checkout, or on `PATH`.

    Raises:
        InputError: there is none; the message says how to build it.
    """
    if given := os.environ.get(PLACE):
        if not os.access(given, os.X_OK) or os.path.isdir(given):
            raise InputError(f"{PLACE} names no program: {given}", mend=MEND)
        return given
    built = Path(paramverify.__file__).resolve().parents[1] / "proofs" / PROGRAM
    found = str(built) if os.access(built, os.X_OK) else shutil.which(PROGRAM)
    if found is None:
        raise InputError("the proved checker is not built", mend=MEND)
    return found


def replay(text: str) -> Replayed:
    """Returns what the program says of a document.

    Raises:
        EvidenceError: the text is no evidence of any kind.
        InputError: there is no program.
        LimitError: the program ended without an answer.
    """
    # A text may have halves of characters, which the program refuses as no UTF-8.
    done = subprocess.run(
        [program(), "--json", "-"],
        input=text.encode("utf-8", "surrogatepass"),
        capture_output=True,
        check=False,
    )
    try:
        data = json.loads(done.stdout)
        if "error" not in data:
            return _read(data, done.returncode)
        reason, code = data["error"], data["code"]
    except (ValueError, KeyError, TypeError) as error:
        told = done.stderr.decode("utf-8", "replace").strip()
        raise LimitError(f"the proved checker gave no answer: {told[:200] or error}") from None
    if code == done.returncode == NO_EVIDENCE:
        raise EvidenceError(str(reason).removeprefix("error: -: "))
    raise LimitError(f"the proved checker gave no answer: {str(reason).removeprefix('undecided: -: ')[:200]}")


def _read(data: dict[str, Any], code: int) -> Replayed:
    if CODES[data["answer"]] != code:
        raise ValueError(f"the answer {data['answer']!r:.40} with exit code {code}")
    formulas = data["format"] == dpctl.FORMAT
    report = KernelReport(
        data["answer"] == "accepted",
        tuple(data["lines"]),
        proved=data["proved"],
        trusted=data["trusted"],
        open=data["open"],
        status=data["status"],
        unit="part" if data["status"] == intervals.STATUS else "formula" if formulas else "claim",
        solvers=tuple(data["solvers"]),
        side_condition=data["side_condition"],
    )
    return Replayed(with_missing(report, data["format"]), tuple(data["not_known"]))


def compare(report: KernelReport, replayed: Replayed) -> None:
    """Returns where the program does not contradict the report of the checker in Python.

    Raises:
        DisagreementError: one accepts what the other rejects.
    """
    if replayed.beyond or report.accepted == replayed.report.accepted:
        return
    answers = (("checker in Python", report), ("proved checker", replayed.report))
    raise DisagreementError(
        "of the evidence",
        tuple(
            (name, "accepted" if found.accepted else "rejected", "\n".join(found.lines))
            for name, found in answers
        ),
    )
