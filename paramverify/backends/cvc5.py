"""cvc5, through PySMT, with and without cylindrical algebraic coverings.

Without: incremental linearisation [Cimatti18]. With: [Abraham21]. `nl-cov` and `nl-ext` are always set
explicitly, because cvc5 would choose for itself.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

from flint import fmpq_poly

from paramverify.algebra.polynomials import rational
from paramverify.answers import Answer, End, Open, Proved
from paramverify.backends import DECIDES, Ability
from paramverify.backends._packages import installed
from paramverify.claims import Claim
from paramverify.formats.refutations import Approximation, Satisfied, Value, decide
from paramverify.formats.solver_formulas import violated

if TYPE_CHECKING:
    import cvc5


@dataclass(frozen=True)
class Cvc5:
    """The backends `cvc5` and `cvc5-cov`; settings and options are named as on its command line."""

    name: str
    description: str
    settings: Mapping[str, str]
    place: int
    program: str = "cvc5"
    builtin: bool = False
    install: str = "pip install cvc5 pysmt"
    abilities: frozenset[Ability] = DECIDES
    preload: tuple[str, ...] = ("pysmt.environment", "pysmt.logics", "pysmt.solvers.cvcfive")

    def version(self) -> str | None:
        """Returns the version of the PyPI package, or None."""
        return installed("pysmt", "cvc5")

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Decides one claim; the proof is cvc5's `unsat`, the refutation is evaluated exactly."""
        settings = {**self.settings, **options}
        return decide(claim, lambda part: _solve(part, settings))

    def run_script(self, text: str) -> str:
        """Returns what cvc5 prints about an SMT-LIB script."""
        import cvc5

        solver = cvc5.Solver()
        symbols = cvc5.SymbolManager(solver)
        parser = cvc5.InputParser(solver, symbols)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "script")
        output = ""
        try:
            while not (command := parser.nextCommand()).isNull():
                output += command.invoke(solver, symbols)
                if command.getCommandName() == "exit":
                    break
        except RuntimeError as error:  # cvc5's own errors
            return f'{output}(error "{error}")\n'
        return output


def _solve(claim: Claim, settings: Mapping[str, str]) -> Proved | Open | Satisfied:
    """Returns a model of the violation with a transcript, or an answer where there is none."""
    from pysmt.exceptions import PysmtException, SolverReturnedUnknownResultError
    from pysmt.logics import QF_NRA
    from pysmt.solvers.cvcfive import CVC5Solver

    encoded = violated(claim)
    try:
        # A solver for this formula only, told so, because cvc5 simplifies more where nothing can follow.
        with CVC5Solver(
            encoded.environment,
            QF_NRA,
            generate_models=True,
            incremental=False,
            solver_options=dict(settings),
        ) as solver:
            solver.add_assertion(encoded.formula)
            try:
                satisfiable = solver.solve()
            except SolverReturnedUnknownResultError:
                return Open(End.GAVE_UP, "unknown", "unknown")
            if not satisfiable:
                return Proved(transcript="unsat")
            # The raw terms, because PySMT knows no algebraic numbers.
            terms = {name: solver.converter.convert(s) for name, s in encoded.symbols.items()}
            values = {name: solver.cvc5.getValue(term) for name, term in terms.items()}
            shown = "\n".join(f"{name} = {term}" for name, term in values.items())
            model: dict[str, Value] = {}
            for name, term in values.items():
                if term.isRealValue():
                    model[name] = Fraction(term.getRealValue())
                elif term.isRealAlgebraicNumber():
                    model[name] = _algebraic(solver.cvc5, term)
                else:
                    return Open(
                        End.GAVE_UP, f"a value that is not a number: {name} = {term}", f"sat\n{shown}"
                    )
            return Satisfied(model, f"sat\n{shown}")
    except (PysmtException, RuntimeError) as error:  # cvc5's own errors are RuntimeErrors
        if "bad_alloc" in str(error):
            raise MemoryError(str(error)) from error
        return Open(End.GAVE_UP, f"error: {error}", str(error))


def _algebraic(solver: cvc5.Solver, term: cvc5.Term) -> Approximation:
    """Returns an approximation of an algebraic number by bisecting its isolating interval.

    The defining polynomial has exactly one root in the interval, at which it changes sign. What comes of
    this is evaluated exactly later: a mistake here may cost an answer but cannot make a wrong one.
    """
    variable = solver.mkVar(solver.getRealSort(), "x")
    polynomial = _polynomial(term.getRealAlgebraicNumberDefiningPolynomial(variable), variable)
    lower = Fraction(term.getRealAlgebraicNumberLowerBound().getRealValue())
    upper = Fraction(term.getRealAlgebraicNumberUpperBound().getRealValue())
    rising = polynomial(rational(lower)) < 0 or polynomial(rational(upper)) > 0

    def approximate(bits: int) -> Fraction:
        low, high = lower, upper
        while high - low > Fraction(1, 2**bits):
            middle = (low + high) / 2
            value = polynomial(rational(middle))
            if value == 0:
                return middle
            if (value < 0) == rising:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    return approximate


def _polynomial(term: cvc5.Term, variable: cvc5.Term) -> fmpq_poly:
    from cvc5 import Kind

    if term == variable:
        return fmpq_poly([0, 1])
    if term.isRealValue():
        return fmpq_poly([rational(Fraction(term.getRealValue()))])
    parts = [_polynomial(part, variable) for part in term]
    if term.getKind() == Kind.ADD:
        return reduce(operator.add, parts)
    if term.getKind() == Kind.MULT:
        return reduce(operator.mul, parts)
    raise RuntimeError(f"not a polynomial: {term}")


BACKENDS = (
    Cvc5("cvc5", "cvc5 with incremental linearisation", {"nl-cov": "false", "nl-ext": "full"}, 50),
    Cvc5("cvc5-cov", "cvc5 with cylindrical algebraic coverings", {"nl-cov": "true", "nl-ext": "light"}, 20),
)
