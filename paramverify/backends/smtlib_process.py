"""Any solver that reads SMT-LIB 2, as a process: the negated claim goes in, `sat` or `unsat` comes out.

A proof is the output `unsat` and nothing else, with exit status 0. For `sat` the values of the variables are
asked for, and lead to a rational point that is evaluated exactly. An error line, another exit status, or
anything else in the output is no answer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from flint import fmpz

from paramverify.algebra.polynomials import fraction
from paramverify.answers import Answer, End, Open, Proved
from paramverify.backends import DECIDES, PRINTED, Ability
from paramverify.backends.programs import Finished, banner, find, run
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.formats.refutations import Approximation, Satisfied, Value, decide
from paramverify.formats.smtlib import script, symbol
from paramverify.formats.smtlib_scripts import Term, plain, read
from paramverify.formats.solver_formulas import occurring

ERROR = re.compile(r'\(\s*error\s+".*')
COMPLAINT = re.compile(r"^.*\berror\b.*$", re.IGNORECASE | re.MULTILINE)
OPTION = re.compile(r"[a-zA-Z][a-zA-Z0-9_.:+-]*\Z")
SETTING = re.compile(r"[a-zA-Z0-9_.+-]+\Z")
SETS_SOMETHING = re.compile(r"-|\w+=|\d+(?:\.\d+)?[smhd]?\Z")  # an option, a variable, or a number
RUNS_OTHERS = re.compile(r"(?:ba|da|k|z)?sh|env|nice|timeout|python[\d.]*|java|node|docker|podman")


@dataclass(frozen=True)
class SmtLibProcess:
    """A backend that is a program.

    `command` is the program with its options; the script comes on standard input. `models` says whether it
    answers `(get-value ...)`, `interactive` whether it answers each command as soon as it has read it, so
    that it can be asked for a model without being run again. `settings` become `(set-option ...)`.
    For `place` see `backends.place`.
    """

    name: str
    command: tuple[str, ...]
    description: str
    install: str
    logic: str = "QF_NRA"
    models: bool = True
    interactive: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    version_option: str = ""
    stated_version: str = "unknown version"
    place: int | None = None
    builtin: bool = False
    preload: tuple[str, ...] = PRINTED

    @property
    def program(self) -> str:
        """The program, by the name of its file up to a hyphen: `yices` for `yices-smt2`, with any options.

        Of what runs other programs, such as a shell, `env` or `timeout`, the program is what it runs.
        """
        first, *rest = self.command
        words = [first, *(word for word in rest if not SETS_SOMETHING.match(word))]
        files = [Path(os.path.realpath(find(word) or word)).name for word in words]
        file = next((name for name in files if not RUNS_OTHERS.fullmatch(name)), files[0])
        return file.partition("-")[0]

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can do."""
        return DECIDES if self.models else frozenset({Ability.CLAIMS})

    def version(self) -> str | None:
        """Returns the version that the program or the user's configuration states, or None without it."""
        program = find(self.command[0])
        if program is None:
            return None
        if not self.version_option:
            return self.stated_version
        match = re.search(r"\d+(\.\d+)+\S*", banner((program, self.version_option)))
        return match[0] if match else None

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Decides one claim; the proof is the solver's `unsat`, the refutation is evaluated exactly.

        Raises:
            InputError: an option that cannot be written in SMT-LIB.
        """
        program = find(self.command[0])
        if program is None:
            return Open(End.UNAVAILABLE, f"{self.name} is missing; to get it: {self.install}")
        command = (program, *self.command[1:])
        options = {**self.settings, **options}
        lines = [f"(set-option :{key} {value})" for key, value in check_options(options)]
        return decide(claim, lambda part: self._solve(part, command, lines))

    def run_script(self, text: str) -> str | Open:
        """Returns what the program prints about an SMT-LIB script, or why that does not count."""
        program = find(self.command[0])
        if program is None:
            return Open(End.UNAVAILABLE, f"there is no program {self.command[0]}")
        finished = run((program, *self.command[1:]), text)
        return finished.failure() or finished.transcript

    def _solve(self, claim: Claim, command: Sequence[str], options: list[str]) -> Satisfied | Proved | Open:
        names = occurring(claim)
        text = script(claim, logic=self.logic)
        if not (self.models and names):
            answer = interpret(run(command, "\n".join([*options, text])), names)
            if isinstance(answer, Satisfied) and names:
                return Open(End.GAVE_UP, "it says sat, but returns no model", answer.transcript, denies=True)
            return answer
        text = "\n".join([*options, "(set-option :produce-models true)", text.removesuffix("(exit)\n")])
        question = f"(get-value ({' '.join(map(symbol, names))}))\n(exit)\n"
        if self.interactive:
            finished = run(command, text, reply=lambda first: question if first.strip() == "sat" else "")
            return interpret(finished, names)
        # An unsatisfiable script must not ask for values: that is an error, and an error voids the answer.
        answer = interpret(run(command, text + "(exit)\n"), ())
        if not isinstance(answer, Satisfied):
            return answer
        again = interpret(run(command, text + question), names)
        if isinstance(again, Proved):
            return Open(End.GAVE_UP, "it says sat, and then unsat", again.transcript)
        return replace(again, denies=True) if isinstance(again, Open) else again


def check_options(options: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns options in their order.

    Raises:
        InputError: one that cannot be written in SMT-LIB.
    """
    for key, value in options.items():
        if not (OPTION.match(key) and SETTING.match(value)):
            raise InputError(f"not an option of an SMT-LIB solver: {key} = {value!r}")
    return list(options.items())


def interpret(finished: Finished, names: Sequence[str]) -> Satisfied | Proved | Open:
    """Returns what a program's end and output mean: a proof, a model for the named variables, or nothing.

    The output has to be `unsat`; or `sat`, followed by a list of pairs of a symbol and its value where there
    are variables and values were asked for; or `unknown`.
    """
    failure = finished.failure()
    error = ERROR.search(finished.output) or COMPLAINT.search(finished.errors)
    if failure:
        said = f": {error[0].strip()[:500]}" if error and failure.end is End.CRASHED else ""
        return replace(failure, detail=f"{failure.detail}{said}")
    transcript = finished.transcript
    if error:
        return Open(End.GAVE_UP, error[0].strip()[:500], transcript)
    strange = Open(End.GAVE_UP, f"not an answer: {finished.output.strip()[:200]!r}", transcript)
    try:
        status, *rest = read(finished.output)
    except ValueError:
        return strange
    if status == "unsat" and not rest:
        return Proved(transcript=transcript)
    if status == "unknown" and not rest:
        return Open(End.GAVE_UP, "unknown", transcript)
    if status != "sat" or len(rest) > 1:
        return strange
    try:
        return Satisfied(_model(rest[0], names) if rest else {}, transcript)
    except ValueError as reason:
        return Open(End.GAVE_UP, f"not a model: {reason}", transcript, denies=True)


def _model(term: Term, names: Sequence[str]) -> dict[str, Value]:
    """Returns the value of each variable.

    Raises:
        ValueError: the term is something else.
    """
    wanted = {plain(symbol(name)): name for name in names}
    model: dict[str, Value] = {}
    for pair in term:
        if isinstance(pair, str) or len(pair) != 2 or not isinstance(pair[0], str):
            raise ValueError("not a list of symbols and values")
        if pair[0] not in wanted:
            raise ValueError(f"a value for {pair[0]}, which was not asked for")
        value, exact = _value(pair[1])
        model[wanted[pair[0]]] = value if exact else _around(value)
    if not len(term) == len(model) == len(wanted):
        raise ValueError("not one value for each variable")
    return model


def _around(value: Fraction) -> Approximation:
    return lambda bits: value  # all that is known; what comes of it is evaluated exactly


def _value(term: Term, depth: int = 2) -> tuple[Fraction, bool]:
    """Returns a number, and whether it is exact: with Yices a decimal is an irrational number, rounded.

    Raises:
        ValueError: the term is something else.
    """
    if isinstance(term, str):
        match = re.fullmatch(r"(-?)(\d+)(?:\.(\d+))?", term)
        if match:
            sign, whole, decimals = match.groups(default="")
            # Through flint, which has no bound on the digits.
            value = fraction(fmpz(whole + decimals)) / Fraction(10) ** len(decimals)
            return (-value if sign else value), not decimals
    elif depth and len(term) in (2, 3):
        parts = [_value(part, depth - 1) for part in term[1:]]
        exact = all(flag for _, flag in parts)
        if term[0] == "-" and len(parts) == 1:
            return -parts[0][0], exact
        if term[0] == "/" and len(parts) == 2 and parts[1][0]:
            return parts[0][0] / parts[1][0], exact
    raise ValueError("a value that is not a number")
