"""The monolithic encoding: one formula for all sequences of one length, as the published tool writes it.

Algorithm 1 (PufferfishCheck) of [F]. Real variables w_1, ..., w_k stand for the observations, numbered from
0. `Select(w, values)` is a nested if-then-else, and the forward recursion is a term over it. For each secret
pair and direction,

    Σ α_k > c · Σ β_k   and   w_1, ..., w_k ∈ Ω   and   θ in the domain, both secrets possible

is satisfiable iff the model is not private for sequences of that length. A classical state emits by
Select(w, o(s,·)) and moves by p(s,t). Where the move depends on the observation (the general step form of
`models.hmm`), a state is split by what it observes: the entry is Select(w, T_·[s,t]) for each successor t.

This is the reference that other encodings are compared with; it is the slowest of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from io import StringIO
from typing import TYPE_CHECKING

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.polynomials import Polynomial, fraction
from paramverify.claims import Origin
from paramverify.encodings.encoding import NO_SEQUENCES, Encoding, WrittenScript
from paramverify.errors import LimitError, UnsupportedError
from paramverify.evidence.witnesses import ExactWitness, evaluate
from paramverify.formats.smtlib import symbol as smtlib_symbol
from paramverify.models.hmm import HMM
from paramverify.models.model import SETS, AnyModel, Model, need_privacy, refuse_tied
from paramverify.models.priors import InitialDistribution, SecretPair

if TYPE_CHECKING:
    from pysmt.environment import Environment
    from pysmt.fnode import FNode
    from pysmt.solvers.z3 import Z3Solver

MAX_FORMULAS = 1_000
APPROXIMATIONS = (8, 16, 32, 64, 128)  # decimal digits


@dataclass(frozen=True, eq=False)
class ViolationFormula:
    """A formula that some sequence and point satisfy iff they violate one direction of a secret pair.

    It is written over the symbols of `observed`, in their order, and of `parameters`. Where the domain has
    the constant `E`, that is a variable in a rational interval, and only unsatisfiability says something.
    """

    left: str
    right: str
    environment: Environment
    formula: FNode
    observed: tuple[FNode, ...]
    parameters: Mapping[str, FNode]

    @property
    def size(self) -> int:
        """The number of different subterms."""
        seen = {self.formula.node_id()}
        pending = [self.formula]
        while pending:
            for part in pending.pop().args():
                if part.node_id() not in seen:
                    seen.add(part.node_id())
                    pending.append(part)
        return len(seen)


@dataclass(frozen=True)
class Unsatisfiable:
    """The solver says that no sequence and no point violate the bound."""


@dataclass(frozen=True)
class Undecided:
    """The solver gave up, or its model does not stand exact evaluation."""

    reason: str


def formulas(model: Model, length: int) -> Iterator[ViolationFormula]:
    """Yields the formula of each secret pair and direction, each in an environment of its own."""
    for pair in model.pairs:
        yield _formula(model, length, pair)
        yield _formula(model, length, pair.turned)


def script(formula: ViolationFormula) -> str:
    """Returns the formula as an SMT-LIB 2 script that ends with `(check-sat)`.

    Shared subterms are shared there too. A parameter whose name is taken in SMT-LIB gets `!` at its end.
    """
    from pysmt.smtlib.printers import SmtDagPrinter
    from pysmt.typing import REAL

    manager = formula.environment.formula_manager
    kept = {smtlib_symbol(name): term for name, term in formula.parameters.items()}
    renamed = {term: manager.Symbol(name, REAL) for name, term in kept.items() if name != term.symbol_name()}
    text = StringIO()
    SmtDagPrinter(text).printer(formula.environment.substituter.substitute(formula.formula, renamed))
    names = [*kept, *(term.symbol_name() for term in formula.observed)]
    about = f"{formula.left} against {formula.right}, all sequences of length {len(formula.observed)}"
    lines = [
        f"; {' '.join(about.split())}",
        "(set-info :smt-lib-version 2.6)",
        "(set-logic QF_NRA)",
        *(f"(declare-fun {name} () Real)" for name in names),
        f"(assert {text.getvalue()})",
        "(check-sat)",
        "(exit)",
        "",
    ]
    return "\n".join(lines)


def solve(
    model: Model, formula: ViolationFormula, seconds: float
) -> ExactWitness | Unsatisfiable | Undecided:
    """Decides a formula by Z3; a witness is evaluated exactly from the model and exceeds the bound.

    The time limit is Z3's own, so the caller should not rely on it.
    """
    from pysmt.exceptions import PysmtException, SolverReturnedUnknownResultError
    from pysmt.logics import QF_NRA
    from pysmt.solvers.z3 import Z3Solver
    from z3 import Z3Exception

    options = {"timeout": max(1, int(seconds * 1000))}
    try:
        with Z3Solver(formula.environment, QF_NRA, generate_models=True, solver_options=options) as solver:
            solver.add_assertion(formula.formula)
            if not solver.solve():
                return Unsatisfiable()
            return _read_back(model, formula, solver)
    except SolverReturnedUnknownResultError:
        return Undecided("the solver answers unknown")
    except (PysmtException, Z3Exception) as error:
        return Undecided(f"the solver fails: {error}")


def _read_back(model: Model, formula: ViolationFormula, solver: Z3Solver) -> ExactWitness | Undecided:
    """Returns the sequence and point of the solver's model, evaluated by the forward recursion on numbers."""
    import z3

    found = solver.z3.model()

    def value(symbol: FNode, digits: int) -> Fraction:
        term = found.eval(solver.converter.convert(symbol), model_completion=True)
        if isinstance(term, z3.AlgebraicNumRef):
            term = term.approx(digits)
        return Fraction(term.as_string())

    word = tuple(model.hmm.observations[int(value(w, 1))] for w in formula.observed)
    simple = {name: interval.simplest() for name, interval in model.domain.box.items() if name != GENERATOR}
    witness = None
    for digits in APPROXIMATIONS:
        # A violation is an open condition, so it stays one close to an algebraic point.
        point = {**simple, **{n: value(s, digits) for n, s in formula.parameters.items() if n != GENERATOR}}
        if all(point[n] in model.domain.box[n] for n in model.domain.ring.parameters):
            witness = evaluate(model, Origin(formula.left, formula.right, word), point)
            if witness.exceeds:
                return witness
    return Undecided("the solver's model fails exact evaluation")


class _Builder:
    """Builds terms in one environment; equal polynomials become one term."""

    def __init__(self, model: Model, length: int) -> None:
        from pysmt.environment import Environment
        from pysmt.typing import REAL

        self.environment = Environment()
        self.manager = self.environment.formula_manager
        self.model = model
        names = model.domain.ring.names
        self.parameters = {name: self.manager.Symbol(name, REAL) for name in names}
        self.observed = tuple(self.manager.Symbol(f"w!{k + 1}", REAL) for k in range(length))
        self.count = len(model.hmm.observations)

    def number(self, value: Fraction | int) -> FNode:
        return self.manager.Real(Fraction(value))

    def term(self, polynomial: Polynomial) -> FNode:
        """Returns the polynomial as a sum of products."""
        names = self.model.domain.ring.names
        parts = []
        for powers, coefficient in polynomial.to_dict().items():
            factors = [self.number(fraction(coefficient))]
            factors += [
                self.parameters[n] for n, power in zip(names, powers, strict=True) for _ in range(int(power))
            ]
            parts.append(self.manager.Times(factors) if len(factors) > 1 else factors[0])
        return self.sum(parts)

    def sum(self, parts: Sequence[FNode]) -> FNode:
        if not parts:
            return self.number(0)
        return self.manager.Plus(parts) if len(parts) > 1 else parts[0]

    def select(self, observed: FNode, values: Mapping[int, Polynomial]) -> FNode:
        """Returns the value that belongs to the observation, or zero, as nested if-then-else."""
        terms = [self.term(values[o]) if o in values else self.number(0) for o in range(self.count)]
        result = terms[-1]
        for o in range(self.count - 2, -1, -1):
            if terms[o] != result:
                result = self.manager.Ite(self.manager.Equals(observed, self.number(o)), terms[o], result)
        return result

    def forward(self, start: InitialDistribution) -> FNode:
        """Returns Pr(w | start) · mass · denominator^k as a term over the observation variables."""
        alpha = {s: self.term(w) for s, w in start.weights.items() if w}
        emitted, moved = _factors(self.model.hmm)
        for observed in self.observed[:-1]:
            parts: dict[int, list[FNode]] = {}
            for state, weight in alpha.items():
                if state in emitted:
                    here = self.manager.Times(weight, self.select(observed, emitted[state]))
                    for successor, probability in moved[state].items():
                        part = self.manager.Times(here, self.term(probability))
                        parts.setdefault(successor, []).append(part)
                else:
                    for successor, values in _by_successor(self.model.hmm, state).items():
                        part = self.manager.Times(weight, self.select(observed, values))
                        parts.setdefault(successor, []).append(part)
            alpha = {state: self.sum(terms) for state, terms in parts.items()}
        last = self.observed[-1]
        return self.sum(
            [self.manager.Times(w, self.select(last, _emission(self.model.hmm, s))) for s, w in alpha.items()]
        )

    def domain(self) -> list[FNode]:
        """Returns that the parameters are in the domain."""
        manager = self.manager
        domain = self.model.domain if GENERATOR in self.model.domain.box else self.model.domain.enclose(64)
        parts: list[FNode] = []
        for name, interval in domain.box.items():
            symbol = self.parameters[name]
            lower: Callable[[FNode, FNode], FNode] = manager.GE if interval.lower_closed else manager.GT
            upper: Callable[[FNode, FNode], FNode] = manager.LE if interval.upper_closed else manager.LT
            parts += [lower(symbol, self.number(interval.lower)), upper(symbol, self.number(interval.upper))]
        for constraint in domain.constraints:
            compare = manager.GT if constraint.strict else manager.GE
            parts.append(compare(self.term(constraint.polynomial), self.number(0)))
        return parts


def _formula(model: Model, length: int, pair: SecretPair) -> ViolationFormula:
    builder = _Builder(model, length)
    manager = builder.manager
    ratio = model.ratio_bound(pair.distance).ratio
    top, bottom = (builder.term(f) for f in (ratio.numerator, ratio.denominator))
    masses = [builder.term(start.mass) for start in (pair.pi, pair.tau)]
    likely = manager.Times(bottom, builder.forward(pair.pi), masses[1])
    unlikely = manager.Times(top, builder.forward(pair.tau), masses[0])
    choices = [
        manager.Or([manager.Equals(w, builder.number(o)) for o in range(builder.count)])
        for w in builder.observed
    ]
    possible = [manager.GT(mass, builder.number(0)) for mass in masses]
    whole = manager.And([manager.GT(likely, unlikely), *choices, *builder.domain(), *possible])
    return ViolationFormula(
        pair.left,
        pair.right,
        environment=builder.environment,
        formula=whole,
        observed=builder.observed,
        parameters=builder.parameters,
    )


def _emission(hmm: HMM, state: int) -> dict[int, Polynomial]:
    """Returns Σ_t T_ω[s,t] by observation ω."""
    found: dict[int, Polynomial] = {}
    for step in hmm.steps[state]:
        known = found.get(step.observation)
        found[step.observation] = step.weight if known is None else known + step.weight
    return found


def _by_successor(hmm: HMM, state: int) -> dict[int, dict[int, Polynomial]]:
    """Returns T_ω[s,t] by successor t and observation ω."""
    found: dict[int, dict[int, Polynomial]] = {}
    for step in hmm.steps[state]:
        row = found.setdefault(step.successor, {})
        known = row.get(step.observation)
        row[step.observation] = step.weight if known is None else known + step.weight
    return found


def _factors(
    hmm: HMM,
) -> tuple[dict[int, dict[int, Polynomial]], dict[int, dict[int, Polynomial]]]:
    """Returns o(s,·) and p(s,·) of the states that are classical: T_ω[s,t] = o(s,ω)·p(s,t).

    Only states whose moves p(s,t) are polynomials; for others the general form is used.
    """
    emitted: dict[int, dict[int, Polynomial]] = {}
    moved: dict[int, dict[int, Polynomial]] = {}
    for state in range(len(hmm.states)):
        emission = _emission(hmm, state)
        if not emission:
            continue  # no step is left (`models.model`): the general form is empty too
        rows = _by_successor(hmm, state)
        first = min(emission)
        moves: dict[int, Polynomial] = {}
        for successor, values in rows.items():
            quotient, rest = divmod(values.get(first, emission[first] * 0), emission[first])
            if rest or any(quotient * emission[o] != values.get(o, quotient * 0) for o in emission):
                break
            if quotient:
                moves[successor] = quotient
        else:
            emitted[state], moved[state] = emission, moves
    return emitted, moved


def _scripts(model: AnyModel) -> Iterator[WrittenScript]:
    if model.comparisons:
        raise UnsupportedError(NO_SEQUENCES)
    refuse_tied(model, "the monolithic encoding")
    model = need_privacy(model, "a script", events=SETS)
    if model.domain.constant:
        raise UnsupportedError("a script cannot name the constant E, and sat says nothing about an interval")
    count = 2 * len(model.pairs) * len(model.lengths)
    if count > MAX_FORMULAS:
        raise LimitError(f"{count:,} formulas, more than {MAX_FORMULAS:,}")
    for length in model.lengths:
        for formula in formulas(model, length):
            yield WrittenScript(f"{formula.left} against {formula.right}, length {length}", script(formula))


ENCODING = Encoding(
    "monolithic",
    "one formula for each secret pair, direction and length, as the published tool writes it",
    scripts=_scripts,
)
