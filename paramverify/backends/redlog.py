"""Redlog, where REDUCE is on PATH: virtual substitution, then cylindrical algebraic decomposition.

The program is that of [DolzmannSturm97]. `rlqe` may leave quantifiers, and then `rlcad` is asked. `rlgqe` and
`rlgcad` are never used: what they return holds under conditions only. Neither is `rlhqe`, Hermitian
quantifier elimination: it says `false` of true claims, see benchmarks/elimination.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from paramverify.answers import Answer, End, Open, Proved, Refuted
from paramverify.backends import PRINTED, Ability
from paramverify.backends.programs import Finished, banner, find, run
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.formats.elimination_scripts import PROCEDURES, REDLOG_ANSWER, redlog_script
from paramverify.formats.quantified_questions import question
from paramverify.formats.refutations import violation_by_condition

PROGRAMS = ("redcsl", "redpsl", "redsbcl", "reduce")
REMAIN = "quantifiers remain"
PROMPTS = re.compile(r"^(?:\d+: ?)+", re.MULTILINE)
# REDUCE on any Lisp says which revision it is, or only when it was built.
BANNER = re.compile(
    r"^reduce(?: \((?P<version>[^)\n]*)\))?, ?(?P<built>.*?) ?\.\.\. *$", re.MULTILINE | re.IGNORECASE
)
# The line after which the answer stands; before it there may be banners and notes of procedures.
ANSWER = re.compile(rf"^{REDLOG_ANSWER}\$?\s*$", re.MULTILINE)
FAREWELL = re.compile(r"^\s*(?:Quitting|\*\*\* End of .*)?\s*$", re.IGNORECASE)


class Redlog:
    """The backend `redlog`; with the option `procedure` only `rlqe` or `rlcad` is asked.

    It takes no part in the default strategy: it decides nothing that no other backend does, as measured.
    """

    name = "redlog"
    builtin = False
    description = "Redlog, virtual substitution and cylindrical algebraic decomposition in REDUCE"
    install = (
        f"put REDUCE ({', '.join(PROGRAMS[:-1])} or reduce; https://reduce-algebra.sourceforge.io) on PATH"
    )
    abilities = frozenset({Ability.CLAIMS})
    preload = PRINTED

    def version(self) -> str | None:
        """Returns the version that REDUCE states, or None without it."""
        found = _found()
        return found[1] if found else None

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Decides one claim; the proof is the answer `true` to the question whether it holds everywhere.

        For the answer `false` only simple points are tried, and evaluated exactly.

        Raises:
            InputError: an option.
        """
        asked = _procedures(options)
        found = _found()
        if not found:
            return Open(End.UNAVAILABLE, f"redlog is missing; to get it: {self.install}")
        about = question([claim.polynomial], claim.domain)
        transcripts: list[str] = []
        for procedure in asked:
            finished = run([found[0]], redlog_script(about, procedure=procedure))
            transcripts.append(finished.transcript)
            answer = interpret(finished)
            if isinstance(answer, Open):
                if answer.detail == REMAIN:
                    continue
                return answer
            if answer:
                return Proved(transcript=finished.transcript)
            point = violation_by_condition(claim)
            if point is not None:
                return Refuted(point, finished.transcript)
            reason = "redlog says that the claim fails, but no rational point was found"
            return Open(End.GAVE_UP, reason, finished.transcript)
        return Open(End.GAVE_UP, REMAIN, "\n".join(transcripts))


def _found() -> tuple[str, str] | None:
    """Returns REDUCE and its version; another program may have one of its names."""
    for name in PROGRAMS:
        program = find(name)
        match = BANNER.search(PROMPTS.sub("", banner((program,), (), "quit;\n"))) if program else None
        if program and match:
            return program, match["version"] or match["built"]
    return None


def _procedures(options: Mapping[str, str]) -> tuple[str, ...]:
    chosen = options.get("procedure")
    if options.keys() - {"procedure"} or chosen not in (None, *PROCEDURES):
        raise InputError(
            f"redlog has only the option procedure, {', '.join(PROCEDURES)}; not {dict(options)}"
        )
    return (chosen,) if chosen else PROCEDURES  # one after the other


def interpret(finished: Finished) -> bool | Open:
    """Returns the answer to a closed question, or why there is none.

    After the line that announces it there may be one statement only, `true$` or `false$`.
    """
    failure = finished.failure()
    if failure:
        return failure
    transcript = finished.transcript
    error = re.search(r"^.*(\*\*\*\*\*|\berror\b).*$", transcript, re.MULTILINE | re.IGNORECASE)
    if error:
        return Open(End.GAVE_UP, error[0].strip()[:500], transcript)
    _, *answers = ANSWER.split(PROMPTS.sub("", finished.output))
    lines = answers[0].splitlines() if len(answers) == 1 else ()
    left = "\n".join(line for line in lines if not FAREWELL.match(line)).strip()
    if left in ("true$", "false$"):
        return left == "true$"
    if re.match(r"(ex|all)\b", left) and left.endswith("$"):
        return Open(End.GAVE_UP, REMAIN, transcript)
    return Open(End.GAVE_UP, f"not an answer: {left[:200]!r}", transcript)


BACKENDS = (Redlog(),)
