"""Z3, through PySMT: nlsat decides QF_NRA ([JovanovicMoura12])."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from flint import fmpq

from paramverify.algebra.polynomials import fraction
from paramverify.answers import Answer, End, Open, Proved
from paramverify.backends import DECIDES
from paramverify.backends._packages import installed
from paramverify.claims import Claim
from paramverify.formats.refutations import Approximation, Satisfied, Value, decide
from paramverify.formats.solver_formulas import violated

if TYPE_CHECKING:
    import z3

GLOBAL = ("timeout", "rlimit", "model", "proof", "unsat_core", "auto_config", "verbose")  # without a module
MEMORY = re.compile("out of memory|memory exceeded|memout")


class Z3:
    """The backend `z3`. Options are those of Z3's solver, such as `random_seed`."""

    name = "z3"
    builtin = False
    description = "Z3's nlsat, a complete procedure for polynomial arithmetic"
    install = "pip install z3-solver pysmt"
    abilities = DECIDES
    place = 10
    preload = ("pysmt.environment", "pysmt.logics", "pysmt.solvers.z3")

    def version(self) -> str | None:
        """Returns the version of the PyPI package, or None."""
        return installed("pysmt", "z3-solver")

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Decides one claim; the proof is Z3's `unsat`, the refutation is evaluated exactly."""
        return decide(claim, lambda part: _solve(part, options))

    def script_option(self, name: str) -> str:
        """Returns what an option of Z3's solver is called in a script: there its module stands before it."""
        return name if "." in name or name in GLOBAL else f"smt.{name}"

    def run_script(self, text: str) -> str:
        """Returns what Z3 prints about an SMT-LIB script."""
        import z3

        context = z3.Context()
        try:
            return str(z3.Z3_eval_smtlib2_string(context.ref(), text))
        except z3.Z3Exception as error:
            return error.value.decode(errors="replace") if isinstance(error.value, bytes) else str(error)


def _solve(claim: Claim, options: Mapping[str, str]) -> Proved | Open | Satisfied:
    """Returns a model of the violation with a transcript, or an answer where there is none."""
    from pysmt.exceptions import PysmtException, SolverReturnedUnknownResultError
    from pysmt.logics import QF_NRA
    from pysmt.solvers.z3 import Z3Solver
    from z3 import Z3Exception

    encoded = violated(claim)
    try:
        settings = {key: _option(value) for key, value in options.items()}
        # A solver for this formula only: nlsat does not work incrementally.
        with Z3Solver(encoded.environment, QF_NRA, generate_models=True, solver_options=settings) as solver:
            solver.add_assertion(encoded.formula)
            try:
                satisfiable = solver.solve()
            except SolverReturnedUnknownResultError:
                reason = str(solver.z3.reason_unknown())
                if MEMORY.search(reason):
                    raise MemoryError(reason) from None
                return Open(End.GAVE_UP, f"unknown: {reason}", "unknown")
            if not satisfiable:
                return Proved(transcript="unsat")
            # The raw terms, because PySMT turns algebraic numbers into truncated decimals.
            raw = solver.z3.model()
            terms = {name: solver.converter.convert(symbol) for name, symbol in encoded.symbols.items()}
            values = {name: raw.eval(term, model_completion=True) for name, term in terms.items()}
            return Satisfied({name: _value(term) for name, term in values.items()}, f"sat\n{raw}")
    except (Z3Exception, PysmtException) as error:
        message = getattr(error, "value", error)  # bytes, where it is Z3's
        text = message.decode(errors="replace") if isinstance(message, bytes) else str(message)
        if MEMORY.search(text):
            raise MemoryError(text) from error
        return Open(End.GAVE_UP, "error: " + text.partition("\n")[0], text)


def _value(term: z3.ExprRef) -> Value:
    import z3

    if isinstance(term, z3.AlgebraicNumRef):
        return _approximation(term)
    if isinstance(term, z3.RatNumRef):
        return _fraction(term)
    raise z3.Z3Exception(f"a value that is not a number: {term}")


def _approximation(number: z3.AlgebraicNumRef) -> Approximation:
    def approximate(bits: int) -> Fraction:
        return _fraction(number.approx(ceil(bits * 0.302)))  # within 10**-digits; log10(2) < 0.302

    return approximate


def _fraction(number: z3.RatNumRef) -> Fraction:
    return fraction(fmpq(number.as_string()))  # through flint, which has no bound on the digits


def _option(text: str) -> Any:
    """Returns an option's value as Z3 wants it: a truth value, a number or a word."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.lstrip("-").isdigit() else text


BACKENDS = (Z3(),)
