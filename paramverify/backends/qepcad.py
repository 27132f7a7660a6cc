"""QEPCAD, the program: quantifier elimination by partial cylindrical algebraic decomposition.

The method is that of [CollinsHong91], the program that of [Brown03]. Its answer counts only if it printed
nothing beside it. With a warning that the projection may not be valid, or that a delineating polynomial
should be added, it may be wrong.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from paramverify.answers import Answer, End, Open, Proved, Refuted
from paramverify.backends import DECIDES, PRINTED, Ability
from paramverify.backends.programs import Finished, banner, run
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.formats import elimination_scripts
from paramverify.formats.quantified_questions import Condition, QuantifiedImplication, question
from paramverify.formats.refutations import violation_by_condition

FOLDER = "qe"  # an environment variable
CELLS = "8000000"  # words of list memory
NO_PRIMES = "the coefficients are too large for qepcad: it has no prime left to compute with"
NO_POINT = "qepcad says that the claim fails, but no rational point was found"

COLLECTION = re.compile(r"^\*\* \d+ cells, \d+ arrays in \d+ milliseconds\.$", re.MULTILINE)
COMPLAINT = re.compile(
    r"^.*(\berror\b|\bwarning\b|may not be valid|should be added|necessary|sufficient).*$",
    re.IGNORECASE | re.MULTILINE,
)
DOUBT = re.compile(r"may not be valid|should be added|warning", re.IGNORECASE)
FAILURE = re.compile(r"^Failure occurred in:\s*(.*)\nReason for the failure:\s*(.*)$", re.MULTILINE)
ANSWER = re.compile(
    r"(?:(?!Enter a prenex formula:).)*Enter a prenex formula:\s*=+\s*(?:Before Normalization >\s*)+"
    r"An equivalent quantifier-free formula:\s*(?P<formula>\S(?:(?!====).)*?)\s*=+  The End  =+"
    r"[\s-]*\d+ Garbage collections[^\n]*\s*\d+ Cells in AVAIL[^\n]*\s*(?:System time[^\n]*\s*)*-*\s*",
    re.DOTALL,
)


@dataclass(frozen=True)
class Installation:
    """The program, and the folder that it needs to be told by the environment variable `qe`."""

    program: str
    folder: str

    @property
    def environment(self) -> dict[str, str]:
        """What is added to the environment of the program."""
        return {FOLDER: self.folder}


@dataclass(frozen=True)
class Reply:
    """The answer: as text with the names of the parameters, as a condition, and all that was printed."""

    text: str
    condition: Condition
    transcript: str


@dataclass(frozen=True)
class Qepcad:
    """The backend `qepcad`; its option `cells` is the number of words of memory for its lists."""

    name: str = "qepcad"
    builtin: bool = False
    description: str = "QEPCAD, cylindrical algebraic decomposition; also eliminates quantifiers"
    install: str = "pip install passagemath-qepcad, or put qepcad on PATH"
    abilities: frozenset[Ability] = DECIDES | {Ability.QUANTIFIERS}
    place: int = 40
    preload: tuple[str, ...] = PRINTED

    def version(self) -> str | None:
        """Returns the version that the program states, or None without it."""
        found = installation()
        if found is None:
            return None
        match = re.search(
            r"Version (B [\d.]*\d)", banner((found.program, "-v"), tuple(found.environment.items()))
        )
        return match[1] if match else None

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Decides one claim; the proof is the answer TRUE to the question whether it holds everywhere.

        For the answer FALSE a rational point is found coordinate by coordinate and evaluated exactly: the
        program is asked for which values of one parameter there is a violation, and one of them is chosen.

        Raises:
            InputError: an option that is not the number of cells.
        """
        cells = _cells(options)
        reply = ask(question([claim.polynomial], claim.domain), cells)
        if isinstance(reply, Open):
            return reply
        if reply.text == "TRUE":
            return Proved(transcript=reply.transcript)
        if reply.text != "FALSE":
            return Open(End.GAVE_UP, "not the answer to a closed question", reply.transcript)
        transcripts = [reply.transcript]

        def condition(part: QuantifiedImplication) -> Condition | Open:
            found = ask(part, cells)
            transcripts.append(found.transcript)
            return found if isinstance(found, Open) else found.condition

        point = violation_by_condition(claim, condition)
        transcript = "\n".join(transcripts)
        return Open(End.GAVE_UP, NO_POINT, transcript) if point is None else Refuted(point, transcript)


def _cells(options: Mapping[str, str]) -> str:
    unknown = [name for name in options if name != "cells"]
    cells = options.get("cells", CELLS)
    if unknown or not (cells.isdigit() and cells.isascii()):
        raise InputError(f"qepcad has only the option cells, a number; not {dict(options)}")
    return cells


@lru_cache
def installation() -> Installation | None:
    """Returns where the program is: in its PyPI package, or on PATH."""
    try:
        files = distribution("passagemath-qepcad").files or []
        packaged = [Path(str(f.locate())) for f in files if f.parts[-2:] == ("bin", "qepcad")]
    except PackageNotFoundError:
        packaged = []
    for path in packaged:
        if os.access(path, os.X_OK):
            return Installation(str(path), str(path.parent.parent))
    program = shutil.which("qepcad")
    if program is None:
        return None
    return Installation(program, os.environ.get(FOLDER) or str(Path(program).resolve().parent.parent))


def ask(
    about: QuantifiedImplication, cells: str = CELLS, seconds: float | None = None, memory: int | None = None
) -> Reply | Open:
    """Returns the condition on the free parameters that is equivalent to the question under its assumptions.

    Where the program doubts its own answer, the bound parameters are tried in reverse order too.
    `seconds` and `memory` are limits for callers outside of an attempt.
    """
    found = installation()
    if found is None:
        return Open(End.UNAVAILABLE, f"qepcad is missing; to get it: {Qepcad.install}")
    command = [found.program, "-noecho", f"+N{cells}"]
    if seconds is not None:
        command += ["-t", str(max(1, round(seconds)))]  # it ends by itself even if this process dies
    reply: Reply | Open = Open(End.GAVE_UP)
    for order in dict.fromkeys((about.bound, about.bound[::-1])):
        ordered = replace(about, bound=order)
        text = elimination_scripts.qepcad_script(ordered)
        finished = run(command, text, environment=found.environment, seconds=seconds, memory=memory)
        reply = interpret(finished, ordered)
        if not (isinstance(reply, Open) and DOUBT.search(reply.detail)):
            break
    return reply


TIME_OVER = "the time limit is over"


def interpret(finished: Finished, about: QuantifiedImplication) -> Reply | Open:
    """Returns what the end and the output of the program mean: an equivalent condition, or nothing.

    Nothing may be printed between the formula that it read and the answer but notes of garbage collections.
    """
    output, transcript = finished.output, finished.transcript
    failure = FAILURE.search(output)
    if failure:
        if failure[1].strip() == "TIMEOUT":
            return Open(End.TIMEOUT, TIME_OVER, transcript)
        end = End.CRASHED
        if "Too few cells" in failure[2]:
            end = End.MEMORY
        if "rime list" in failure[2]:
            return Open(End.GAVE_UP, f"{NO_PRIMES} ({failure[1].strip()}: {failure[2].strip()})", transcript)
        return Open(end, f"{failure[1].strip()}: {failure[2].strip()}", transcript)
    complaint = COMPLAINT.search(transcript)
    if complaint:
        return Open(End.GAVE_UP, complaint[0].strip()[:500], transcript)
    cut = finished.failure()
    if cut:
        return cut
    match = ANSWER.fullmatch(COLLECTION.sub("", output))
    if not match:
        return Open(End.GAVE_UP, "the output is not an answer", transcript)
    renamed = about.renamed()
    text = " ".join(match["formula"].split())
    try:
        condition = elimination_scripts.read(text, about.ring, renamed)
    except ValueError as error:
        return Open(End.GAVE_UP, f"the answer cannot be read: {error}", transcript)
    names = {new: name for name, new in renamed.items()}
    return Reply(re.sub(r"\bv\d+\b", lambda m: names[m[0]], text), condition, transcript)


BACKENDS = (Qepcad(),)
