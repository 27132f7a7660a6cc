"""Asking solvers that read scripts: one attempt of a backend on a script, in a process that may be killed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from paramverify import __version__
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Ring
from paramverify.answers import Answer, End, Open, Proved, Refuted
from paramverify.backends import DECIDES, Ability, Backend, script_runner
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.processes.attempts import Attempt, resolve, settings

# A script is no claim; this one, which is violated at the only point of its domain, stands in for it, so
# that the runner's exact check of refutations says nothing about scripts.
NO_CLAIM = Claim(Ring(()).number(-1), Domain(Ring(()), {}))
MODELS = "(set-option :produce-models true)\n"
ANSWERS = ("sat", "unsat", "unknown")


def why_not(backend: Backend) -> str | None:
    """Returns why a backend cannot run scripts, or None where it can."""
    if script_runner(backend):
        return None
    if backend.builtin:
        return "the exact procedures of this package read claims, not SMT-LIB scripts"
    return "it has no way of reading an SMT-LIB script as it is"


def run_script(backend: Backend, text: str, options: Mapping[str, str]) -> str | Open:
    """Returns what a backend prints about a script, or why that does not count.

    Raises:
        InputError: the backend cannot run scripts.
    """
    runner = script_runner(backend)
    if runner is None:
        raise InputError(f"{backend.name}: {why_not(backend)}")
    called: Callable[[str], str] = getattr(backend, "script_option", str)
    return runner(
        "".join(f"(set-option :{called(name)} {value})\n" for name, value in options.items()) + text
    )


def script_attempt(backend: str, text: str, symbols: str = "") -> Attempt:
    """Returns the attempt of a backend on a script with one question.

    `symbols` are those, separated by blanks, whose values are asked for where it says sat.
    """
    options = {"backend": backend, "script": text, "symbols": symbols}
    return Attempt(f"{__name__}:SCRIPT_TRIAL", NO_CLAIM, options)


@dataclass(frozen=True)
class ScriptTrial:
    """Runs an SMT-LIB script with one backend; options `backend`, `script`, its text, and `symbols`.

    `Proved` stands for unsat and `Refuted` for sat, in the solver's own word and nothing more. The transcript
    of `Refuted` is `sat`, and the values of the symbols where some were asked for and came.
    """

    name: str = "script-trial"
    builtin: bool = False
    description: str = "an SMT-LIB script as it is"
    install: str = ""
    abilities: frozenset[Ability] = DECIDES

    def version(self) -> str | None:
        """Returns the version of this package."""
        return __version__

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Runs the script; the claim is `NO_CLAIM`."""
        del claim
        backend, text = resolve(options["backend"]), options["script"]
        own = settings(backend, {}, options["backend"])
        output = run_script(backend, text, own)
        if isinstance(output, Open):
            return output
        word = output.strip()
        if word not in ANSWERS:
            return Open(End.GAVE_UP, "its output is not one answer of SMT-LIB", output)
        if word == "unknown":
            return Open(End.GAVE_UP, "unknown", output)
        if word == "unsat":
            return Proved(transcript=output)
        symbols = options.get("symbols", "")
        if symbols:
            again = run_script(backend, f"{MODELS}{text}(get-value ({symbols}))\n", own)
            if isinstance(again, str) and again.split(maxsplit=1)[:1] == ["sat"]:
                output = again
        return Refuted({}, output)


SCRIPT_TRIAL = ScriptTrial()
