"""Where a formula of dpCTL* holds: yes for every parameter point, no for every one, or open.

Comparisons of probabilities are judged by a `Judge`: exactly where there are no parameters, else by claims.
`Session` is not needed for the former, which is the path on which violations are evaluated again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Protocol

from flint import fmpq_poly

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.expressions import Expression, evaluate, unknown_name
from paramverify.algebra.polynomials import (
    RationalFunction,
    Ring,
    constant_value,
    in_generator,
    is_constant,
    to_rational_function,
)
from paramverify.algebra.reals import Real
from paramverify.claims import Origin
from paramverify.errors import (
    DefectError,
    InputError,
    SizeError,
    TimeLimitError,
    UndeterminedError,
    UnsupportedError,
    located,
)
from paramverify.logic.formula_syntax import (
    Constant,
    Formula,
    Junction,
    Junctor,
    Label,
    Not,
    Private,
    Probability,
    StateCondition,
    is_state,
    parts,
)
from paramverify.logic.probability_comparisons import (
    Method,
    PathEngine,
    PathProbabilities,
    SchedulerChoice,
    unknown_label,
)
from paramverify.logic.reachability import Guard
from paramverify.logic.schedulers import LONGEST, PeriodicWord
from paramverify.models.chains.markov_chains import Chain, States, Value
from paramverify.models.chains.state_relations import StateRelation


def in_ring(value: Value, ring: Ring) -> RationalFunction:
    """Returns a flint rational or a rational function as a rational function of the ring."""
    if isinstance(value, RationalFunction):
        return value
    return RationalFunction.of(ring.context.constant(value))


def real(value: Value, ring: Ring) -> Real:
    """Returns a value without parameters as an exact real number."""
    if not isinstance(value, RationalFunction):
        return Real.of(fmpq_poly([value]), fmpq_poly([1]), ring.constant)
    top, bottom = in_generator(value.numerator), in_generator(value.denominator)
    if (ring.constant.sign(bottom) if ring.constant else (bottom[0] > 0) - (bottom[0] < 0)) < 0:
        top, bottom = -top, -bottom
    return Real.of(top, bottom, ring.constant)


def sign(value: Value, ring: Ring) -> int:
    """Returns the sign of a value without parameters, exactly."""
    if not isinstance(value, RationalFunction):
        return int(value > 0) - int(value < 0)
    if ring.parameters:
        raise DefectError("the sign of a function of parameters was asked for")
    return real(value, ring).sign()


_TURNED = bytes((1, *bytes(255)))  # 0 becomes 1, and the rest 0


def check_labels(formula: Formula, chain: Chain) -> None:
    """Refuses labels and variables that the model does not have, wherever they stand.

    Raises:
        InputError: with the nearest known name.
    """
    for part in parts(formula):
        if isinstance(part, Label) and part.name not in chain.labels:
            raise unknown_label(part.name, chain)
        if isinstance(part, StateCondition) and part.text not in chain.conditions:
            for name, node in part.expression.names().items():
                if name not in chain.variables:
                    raise unknown_name(part.expression, node, name, chain.variables)
    if not is_state(formula):
        raise InputError("a path formula cannot be checked alone")


def marks(formula: Formula, chain: Chain) -> bytes | None:
    """Returns 1 for each state where a formula holds, else 0; None where the formula has P or D in it."""
    size = len(chain.states)
    if isinstance(formula, Constant):
        return bytes((formula.value,)) * size
    if isinstance(formula, Label):
        if formula.name not in chain.labels:
            raise unknown_label(formula.name, chain)
        return _of_states(chain.labels[formula.name], size)
    if isinstance(formula, StateCondition):
        if formula.text in chain.conditions:
            return _of_states(chain.conditions[formula.text], size)
        return _of_condition(formula, chain)
    if isinstance(formula, Not):
        inner = marks(formula.inner, chain)
        return None if inner is None else inner.translate(_TURNED)
    if not isinstance(formula, Junction):
        return None
    parts = [marks(part, chain) for part in formula.parts]
    known = [int.from_bytes(part, "big") for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    total = known[0]
    for part in known[1:]:
        total = total & part if formula.operator is Junctor.AND else total | part
    return total.to_bytes(size, "big")


def condition_at(formula: StateCondition, chain: Chain, state: int) -> bool:
    """Tells whether a condition on variables holds in a state; false where the state lacks one of them."""
    if formula.text in chain.conditions:
        return state in chain.conditions[formula.text]
    return _holds(formula, tuple(column[state] for column in _columns(formula, chain)))


def _of_states(states: object, size: int) -> bytes:
    if isinstance(states, States):
        return states.marks
    found = bytearray(size)
    assert isinstance(states, (set, frozenset))
    for state in states:
        found[state] = 1
    return bytes(found)


def _of_condition(formula: StateCondition, chain: Chain) -> bytes:
    """Evaluates a condition once for each combination of values that its variables have somewhere."""
    columns = _columns(formula, chain)
    if not columns:
        return bytes((_holds(formula, ()),)) * len(chain.states)
    known: dict[tuple[int | None, ...], bool] = {}
    found = bytearray()
    for values in zip(*columns, strict=True):
        holds = known.get(values)
        if holds is None:
            holds = known[values] = _holds(formula, values)
        found.append(holds)
    return bytes(found)


def _columns(formula: StateCondition, chain: Chain) -> list[Sequence[int | None]]:
    for name, node in formula.expression.names().items():
        if name not in chain.variables:
            raise unknown_name(formula.expression, node, name, chain.variables)
    return [chain.variables[name] for name in formula.expression.names()]


def _holds(formula: StateCondition, values: Sequence[int | None]) -> bool:
    known = {n: Fraction(v) for n, v in zip(formula.expression.names(), values, strict=True) if v is not None}
    return len(known) == len(values) and bool(evaluate(formula.expression, known))


class Truth(Enum):
    """Holds at every parameter point, fails at every one, or neither is known."""

    YES = "yes"
    NO = "no"
    OPEN = "open"


@dataclass(frozen=True, eq=False)
class ProbabilityComparison:
    """Pr(state) ≤ ratio·Pr(neighbour) + delta for D; for P the sign of Pr(state) − bound, turned as needed.

    It demands that `difference` is nonnegative, or positive where `strict`.
    """

    formula: Private | Probability
    state: int
    neighbour: int | None
    left: Value
    right: Value | None
    ratio: RationalFunction
    delta: RationalFunction
    strict: bool
    probabilities: PathProbabilities

    def origin(self, chain: Chain) -> Origin:
        """Returns the comparison in the words of a claim."""
        other = "the bound" if self.neighbour is None else chain.states[self.neighbour]
        words = [str(self.formula.path)]
        if self.probabilities.actions:
            words.append(self.probabilities.schedule.removeprefix("the "))
        return Origin(chain.states[self.state], other, tuple(words))

    @property
    def states(self) -> tuple[int, ...]:
        """The states whose truth depends on it: D is symmetric in state and neighbour."""
        return (self.state,) if self.neighbour is None else (self.state, self.neighbour)

    def difference(self, ring: Ring) -> RationalFunction:
        """Returns what has to be nonnegative."""
        if isinstance(self.formula, Private):
            left, right = in_ring(self.left, ring), in_ring(self.right, ring)
            return self.ratio * right + self.delta - left
        above = in_ring(self.left, ring) - self.delta
        return above if self.formula.comparison.is_lower else -above


class Judge(Protocol):
    """Decides comparisons."""

    def judge(self, comparison: ProbabilityComparison) -> Truth:
        """Returns whether the comparison holds."""
        ...


@dataclass
class Semantics:
    """Evaluates formulas on one model with its neighbourhood."""

    chain: Chain
    relation: StateRelation
    judge: Judge
    guard: Guard | None = None
    method: SchedulerChoice = SchedulerChoice.AUTO
    values: Mapping[str, Fraction] = field(default_factory=dict)  # parameters at a point, for bounds
    methods: dict[Method, None] = field(default_factory=dict)
    cuts: dict[str, None] = field(default_factory=dict)
    _engine: PathEngine | None = None
    _memory: dict[str, dict[int, Truth]] = field(default_factory=dict)
    _apart: list[PeriodicWord] = field(default_factory=list)  # actions after which two neighbours differ
    _bounds: dict[str, RationalFunction] = field(default_factory=dict)

    def truth(self, formula: Formula, states: Iterable[int]) -> dict[int, Truth]:
        """Returns the truth of a state formula at some states."""
        states = list(states)
        if isinstance(formula, Constant):
            return dict.fromkeys(states, _of(formula.value))
        if isinstance(formula, Label):
            if formula.name not in self.chain.labels:
                raise unknown_label(formula.name, self.chain)
            where = self.chain.labels[formula.name]
            return {s: _of(s in where) for s in states}
        if isinstance(formula, StateCondition):
            return {s: _of(condition_at(formula, self.chain, s)) for s in states}
        if isinstance(formula, Not):
            return {s: _NEGATION[t] for s, t in self.truth(formula.inner, states).items()}
        if isinstance(formula, Junction):
            return self._junction(formula, states)
        assert isinstance(formula, (Probability, Private))
        known = self._memory.setdefault(str(formula), {})
        missing = [s for s in dict.fromkeys(states) if s not in known]
        if missing:
            known.update(self._compared(formula, missing))
        return {s: known[s] for s in states}

    def engine(self) -> PathEngine:
        """Returns the engine for path formulas, in which nested state formulas are decided first."""
        if self._engine is None:
            self._engine = PathEngine(self.chain, self._leaf, self.guard, self.method, self.cut)
        return self._engine

    def cut(self, words: str) -> None:
        """Keeps what a limit left out: an answer that is not known tells it."""
        self.cuts[words] = None

    def comparisons(
        self, formula: Private | Probability, states: Sequence[int]
    ) -> Iterable[ProbabilityComparison]:
        """Yields the comparisons that a D or P formula makes at some states."""
        for found in self.probabilities(formula, states):
            self.methods[found.method] = None
            yield from self.of(formula, states, found)

    def probabilities(
        self, formula: Private | Probability, states: Sequence[int]
    ) -> Iterable[PathProbabilities]:
        """Yields what a formula compares: for D under all query schedulers, for P under all schedulers."""
        if isinstance(formula, Private):
            return self.engine().of(formula.path, self._with_neighbours(states))
        return self.engine().extreme(formula.path, states, not formula.comparison.is_lower)

    def periodic(self, formula: Private, states: Sequence[int]) -> Iterable[PathProbabilities]:
        """Yields what a D compares under query schedulers that repeat some actions, short words first.

        Only those that always choose one action, where Prop. 2 alone was asked for, and where a bound has
        parameters, which makes each comparison a claim.
        """
        few = self.method is SchedulerChoice.SUFFICIENT or self.chain.domain.ring.parameters
        longest, starts = 1 if few else LONGEST, self._with_neighbours(states)
        return self.engine().periodic(formula.path, starts, longest, dict.fromkeys(self._apart))

    def _with_neighbours(self, states: Sequence[int]) -> list[int]:
        return [*states, *(t for s in states for t in self.relation[s])]

    def of(
        self, formula: Private | Probability, states: Sequence[int], found: PathProbabilities
    ) -> Iterable[ProbabilityComparison]:
        """Yields the comparisons for given probabilities; those of a D in both directions."""
        ring = self.chain.domain.ring
        one = RationalFunction.of(ring.number(1))
        if isinstance(formula, Probability):
            bound = self.number(formula.bound)
            strict = formula.comparison.is_strict
            side = found.lower if formula.comparison.is_lower else found.upper
            for s in (s for s in states if s in side):
                yield ProbabilityComparison(
                    formula=formula,
                    state=s,
                    neighbour=None,
                    left=side[s],
                    right=None,
                    ratio=one,
                    delta=bound,
                    strict=strict,
                    probabilities=found,
                )
            return
        ratio, delta = self.ratio(formula.epsilon), self.number(formula.delta)
        asked = set(states)
        for s in states:
            for t in self.relation[s]:
                if t < s and t in asked:
                    continue  # D is symmetric, so the pair has been there
                for a, b in ((s, t), (t, s)):
                    yield ProbabilityComparison(
                        formula=formula,
                        state=a,
                        neighbour=b,
                        left=found.upper[a],
                        right=found.lower[b],
                        ratio=ratio,
                        delta=delta,
                        strict=False,
                        probabilities=found,
                    )

    def number(self, expression: Expression) -> RationalFunction:
        """Returns a bound of a formula as a function of the parameters."""
        key = f"n{expression.text}"
        if key not in self._bounds:
            value = self._function(expression)
            self._bounds[key] = value
        return self._bounds[key]

    def ratio(self, epsilon: Expression) -> RationalFunction:
        """Returns e^ε as a function of the parameters."""
        key = f"e{epsilon.text}"
        if key not in self._bounds:
            value = read_epsilon(epsilon).ratio(self.chain.domain.ring, self._function)
            self._bounds[key] = value
        return self._bounds[key]

    def _function(self, expression: Expression) -> RationalFunction:
        ring = self.chain.domain.ring
        known = {name: RationalFunction.of(ring.number(value)) for name, value in self.values.items()}
        with located(key=f"in {expression.text!r}"):
            return to_rational_function(expression, ring, known)

    def _compared(self, formula: Private | Probability, states: Sequence[int]) -> dict[int, Truth]:
        """Judges all comparisons of a formula; a state where one fails for sure is `NO`."""
        result = dict.fromkeys(states, Truth.YES)
        states = self._not_enclosed(formula, states)
        if not states:
            return result
        sufficient = False
        reason: UnsupportedError | None = None
        try:
            for comparison in self.comparisons(formula, states):
                sufficient = comparison.probabilities.method is Method.EXTREMES
                for state in set(comparison.states) & result.keys():
                    if result[state] is Truth.NO:
                        continue
                    found = self.judge.judge(comparison)
                    if found is not Truth.YES:
                        # A sufficient condition that fails says nothing.
                        result[state] = Truth.OPEN if sufficient else _worse(result[state], found)
        except UnsupportedError as error:
            # Prop. 2 needs numbers; equivalence does not.
            if not isinstance(formula, Private) or not self._may_go_on:
                raise
            sufficient, reason = True, error
            if self._at_least_one(self.number(formula.delta)):
                self.methods[Method.TRIVIAL] = None
                return dict.fromkeys(states, Truth.YES)
            result = {s: Truth.OPEN if self.relation[s] else Truth.YES for s in states}
        if isinstance(formula, Private) and sufficient:
            if Truth.OPEN in result.values() and self._may_go_on:
                self._try_equivalence(formula, _open(result), result)
            if Truth.OPEN in result.values() and not (reason and self.chain.domain.ring.parameters):
                self._try_words(formula, _open(result), result)
            if Truth.OPEN in result.values() and reason:
                tried = "equality under all query schedulers was not shown, and for Prop. 2"
                raise UnsupportedError("; ".join((f"{tried}: {reason.reason}", *self.cuts)))
        return result

    def _not_enclosed(self, formula: Private | Probability, states: Sequence[int]) -> Sequence[int]:
        """Returns the states for which enclosures of the probabilities do not prove the formula."""
        starts = self._with_neighbours(states) if isinstance(formula, Private) else states
        found = self.engine().enclosed(formula.path, starts)
        if found is None:
            return states
        judged = [(c.states, self.judge.judge(c)) for c in self.of(formula, states, found)]
        left = {state for both, truth in judged if truth is not Truth.YES for state in both}
        if not left:
            self.methods[Method.ENCLOSED] = None
        return [state for state in states if state in left]

    @staticmethod
    def _at_least_one(delta: RationalFunction) -> bool:
        """Tells whether δ is a number from one on: no probability is more than that."""
        top, bottom = delta.numerator, delta.denominator
        if not (is_constant(top) and is_constant(bottom)):
            return False
        return bool(constant_value(top) / constant_value(bottom) >= 1)

    @property
    def _may_go_on(self) -> bool:
        """Whether more than Prop. 2 may be tried for query schedulers."""
        return self.chain.is_decision_process and self.method is SchedulerChoice.AUTO

    def _try_equivalence(self, formula: Private, states: Sequence[int], result: dict[int, Truth]) -> None:
        """Equal probabilities under every query scheduler satisfy every D, as ε and δ are nonnegative."""
        try:
            automaton = self.engine().automaton(formula.path, self._with_neighbours(states))
            for state in states:
                words = [automaton.difference(state, other) for other in self.relation[state]]
                self._apart += [word for word in words if word is not None]
                if all(word is None for word in words):
                    result[state] = Truth.YES
                    self.methods[Method.EQUIVALENT] = None
        except SizeError as error:
            self.cut(f"{self._equality} was not decided: {error}")
        except TimeLimitError as error:
            raise error.during(f"{self._equality} was being decided") from None

    @property
    def _equality(self) -> str:
        names = self.chain.domain.ring.parameters
        entries = f"functions of {', '.join(names)}" if names else "numbers"
        return f"equivalence of the weighted automata with {entries}"

    def _try_words(self, formula: Private, states: Sequence[int], result: dict[int, Truth]) -> None:
        for found in self.periodic(formula, states):
            for comparison in self.of(formula, states, found):
                for state in set(comparison.states) & set(states):
                    if self.judge.judge(comparison) is Truth.NO:
                        result[state] = Truth.NO
                        self.methods[Method.PERIODIC] = None
            if Truth.OPEN not in result.values():
                return

    def _junction(self, formula: Junction, states: Sequence[int]) -> dict[int, Truth]:
        both = formula.operator is Junctor.AND
        settled = Truth.NO if both else Truth.YES
        result = dict.fromkeys(states, Truth.YES if both else Truth.NO)
        for part in formula.parts:
            rest = [s for s in states if result[s] is not settled]
            for state, found in (self.truth(part, rest) if rest else {}).items():
                if found is settled or (found is Truth.OPEN and result[state] is not settled):
                    result[state] = found
        return result

    def _leaf(self, formula: Formula) -> Sequence[bool]:
        """Returns where a nested state formula holds; it must be settled at every state."""
        known = marks(formula, self.chain)
        if known is not None:
            return memoryview(known).cast("?")
        found = self.truth(formula, range(len(self.chain.states)))
        for state, truth in found.items():
            if truth is Truth.OPEN:
                raise UndeterminedError(
                    f"the truth of {formula} in state {self.chain.states[state]} depends on the "
                    "parameters or is not "
                    "known, and another formula is about it"
                )
        return [found[state] is Truth.YES for state in range(len(self.chain.states))]


def _open(result: Mapping[int, Truth]) -> list[int]:
    return [state for state, truth in result.items() if truth is Truth.OPEN]


def _of(value: bool) -> Truth:
    return Truth.YES if value else Truth.NO


_NEGATION = {Truth.YES: Truth.NO, Truth.NO: Truth.YES, Truth.OPEN: Truth.OPEN}


def _worse(first: Truth, second: Truth) -> Truth:
    return Truth.NO if Truth.NO in (first, second) else Truth.OPEN


def conjuncts(formula: Formula) -> list[Formula]:
    """Returns the state formulas that a conjunction consists of."""
    if isinstance(formula, Junction) and formula.operator is Junctor.AND:
        return [part for inner in formula.parts for part in conjuncts(inner)]
    return [formula]
