"""Hidden Markov models with exact, possibly parametric probabilities.

A step of the model observes a symbol and moves to a next state. In the classical form ([F] section 2) a state
s emits ω with probability o(s,ω) and then moves to t with p(s,t), so the step probability is o(s,ω)·p(s,t).
The general form also lets the move depend on the observation, which mechanisms that stop after an output
need.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from paramverify.algebra.domains import Domain
from paramverify.algebra.expressions import Value, parse
from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring
from paramverify.errors import LimitError, ModelError
from paramverify.models.context import Checks
from paramverify.models.spreads import ArithmeticSequence

if TYPE_CHECKING:
    from flint import arb

MAX_STATES = 1_000_000

Spreads = tuple[tuple[str, ArithmeticSequence], ...]  # numbers of an output in words, such as `o2`
Probability = RationalFunction | Fraction | int | str
Set = tuple[Any, ...]  # a set of outputs, as the mechanism has it


class ProbabilityShare(Protocol):
    """A part of the probability of a set of outputs."""

    def function(self) -> RationalFunction:
        """Returns it as a function of the parameters.

        Raises:
            FinerError: the ring has no such function.
        """

    def ball(self, at: Callable[[RationalFunction], arb], unit: Callable[[str], arb]) -> arb:
        """Returns it, enclosed; `at` encloses functions at a point, and `unit` a parameter of (0, ∞)."""


class Densities(Protocol):
    """What knows the sets of outputs beside the places at which a mechanism has densities."""

    def place(self, observation: str) -> Set | None:
        """Returns an observation that is a place of a density, or a limit; None for other ones."""

    def sets(self, place: Set) -> Iterator[Set]:
        """Yields sets of outputs at a place, or on the way to a limit, narrower and narrower."""

    def open_sets(self, place: Set) -> Iterator[Set]:
        """Yields the sets from a place to the next break of a density; there are none at limits."""

    def words(self, outputs: Set) -> str:
        """Returns a set of outputs in words."""

    def parts(self, state: int, outputs: Set) -> Sequence[ProbabilityShare]:
        """Returns what the probability of a set from a state is the sum of.

        Raises:
            UnsupportedError: numbers that depend on each other by a comparison.
        """


@dataclass(frozen=True, eq=False)
class HmmStep:
    """With probability weight / denominator of the model: observe, and move to the next state."""

    observation: int
    successor: int
    weight: Polynomial


@dataclass(frozen=True, eq=False)
class HMM:
    """A hidden Markov model; `steps[s]` lists what may happen in state s.

    The probability of a step is `weight / denominator`, with one denominator for the whole model that is
    positive on the domain of the case. Row s sums to the denominator, identically; or, where an adversary
    chooses part of each observation (`chosen`), the steps that agree with each choice do. It may be less
    where sequences are left out (`models.one_sided`). With `densities` some weights are those of a density at
    an observation: then rows have no such sum, and only the ratios of weights mean something. An observation
    in `spreads` stands for many outputs: variables of the ring say which one is meant, and the spreads what
    the numbers of the output are then. `beside` has probabilities of outputs beside those with densities.
    `inputs` are the inputs of the mechanism that the states are, in their order, where it keeps them.
    """

    ring: Ring
    states: tuple[str, ...]
    observations: tuple[str, ...]
    steps: tuple[tuple[HmmStep, ...], ...]
    denominator: Polynomial
    chosen: bool = False
    densities: bool = False
    beside: Densities | None = None
    spreads: Mapping[str, Spreads] = field(default_factory=dict)
    inputs: tuple[tuple[Value, ...], ...] = ()

    def is_density(self, observation: str) -> bool:
        """Tells whether the weights of an observation are densities, or limits of these."""
        return self.densities and (self.beside is None or self.beside.place(observation) is not None)

    @property
    def wider(self) -> frozenset[str]:
        """The variables whose values mean more than the numbers that are put out.

        What mentions one proves, and refutes nothing.
        """
        named = [spread for spreads in self.spreads.values() for _, spread in spreads]
        return frozenset([s.slack for s in named if s.slack] + [s.variable for s in named if s.whole])

    def check_steps(self, checks: Checks) -> None:
        """Checks that the steps from each state are a distribution: a new mechanism may not have done so.

        Raises:
            ModelError: a probability is negative at a point, or a sum is not one.
        """
        for state, row in zip(self.states, self.steps, strict=True):
            steps: dict[str, RationalFunction] = {}
            for step in row:
                name = f"{self.observations[step.observation]} and then {self.states[step.successor]}"
                share = RationalFunction.of(step.weight, self.denominator)
                steps[name] = steps[name] + share if name in steps else share
            if not self.chosen:
                checks.distribution(steps, f"the steps from {state}")
            for name, share in steps.items():
                checks.nonnegative(share.numerator * share.denominator, f"the step from {state} to {name}")

    @staticmethod
    def build(
        checks: Checks,
        states: Sequence[str],
        observations: Sequence[str],
        rows: Sequence[Iterable[tuple[int, int, RationalFunction]]],
        chosen: bool = False,
    ) -> HMM:
        """Returns the model with the given (observation, successor, probability) rows.

        Rows must be distributions already. Zero probabilities are dropped.

        Raises:
            ModelError: a denominator vanishes on the domain.
        """
        listed = [[entry for entry in row if entry[2].numerator] for row in rows]
        functions = {id(f): f for row in listed for _, _, f in row}  # many entries may share one
        denominator = checks.common_denominator(functions.values())
        weights = {k: f.numerator * (denominator / f.denominator) for k, f in functions.items()}
        steps = tuple(tuple(HmmStep(o, t, weights[id(f)]) for o, t, f in row) for row in listed)
        return HMM(
            checks.ring,
            tuple(states),
            observations=tuple(observations),
            steps=steps,
            denominator=denominator,
            chosen=chosen,
        )

    @staticmethod
    def from_function(
        initial_states: Iterable[Hashable],
        step: Callable[[Hashable], Iterable[tuple[Hashable, Hashable, Probability]]],
        checks: Checks | None = None,
    ) -> HMM:
        """Returns the model of a mechanism written as a step function.

        `step(state)` lists (observation, next state, probability) with probabilities as rationals, texts such
        as `"1-p"` over the parameters of `checks`, or rational functions. Reachable states are explored
        from the initial ones; states and observations are named by `str`.

        Raises:
            ModelError: a row that is negative somewhere or does not sum to one, or two states or
                observations of one name.
            LimitError: more than `MAX_STATES` states.
        """
        checks = checks or Checks(Domain(Ring(), {}))
        order: dict[Hashable, int] = {}
        for state in initial_states:
            order.setdefault(state, len(order))
        observations: dict[Hashable, int] = {}
        rows: list[list[tuple[int, int, RationalFunction]]] = []
        pending = list(order)
        for state in pending:
            row: list[tuple[int, int, RationalFunction]] = []
            for observation, successor, probability in step(state):
                if successor not in order:
                    order[successor] = len(order)
                    pending.append(successor)
                    if len(order) > MAX_STATES:
                        raise LimitError(f"more than {MAX_STATES} reachable states")
                value = _probability(probability, checks)
                row.append((observations.setdefault(observation, len(observations)), order[successor], value))
            checks.distribution({str(k): p for k, (_, _, p) in enumerate(row)}, f"state {state}")
            rows.append(row)
        names = [str(s) for s in order]
        if len(set(names)) != len(names):
            raise ModelError("two states have the same name")
        outputs = [str(o) for o in observations]
        if len(set(outputs)) != len(outputs):
            raise ModelError("two observations have the same name")
        return HMM.build(checks, names, outputs, rows)

    @staticmethod
    def from_tables(
        checks: Checks,
        transitions: Mapping[str, Mapping[str, RationalFunction]],
        emissions: Mapping[str, Mapping[str, RationalFunction]],
        observations: Sequence[str],
    ) -> HMM:
        """Returns the classical model: emit by the state's row of `emissions`, then move by `transitions`."""
        states = list(emissions)
        index = {name: k for k, name in enumerate(states)}
        symbol = {name: k for k, name in enumerate(observations)}
        rows = [
            [
                (symbol[o], index[t], emitted * moved)
                for o, emitted in emissions[s].items()
                for t, moved in transitions[s].items()
            ]
            for s in states
        ]
        return HMM.build(checks, states, observations, rows)


def one_shot(
    checks: Checks,
    inputs: Sequence[str],
    observations: Sequence[str],
    table: Sequence[Sequence[RationalFunction]],
    densities: bool = False,
) -> HMM:
    """Returns the model of a mechanism that answers from a fixed input, with fresh noise every time.

    `table[x][ω]` is the probability of output ω on input x. The state is the input and never changes, so
    longer sequences are repeated releases.
    """
    rows = [[(o, x, p) for o, p in enumerate(row)] for x, row in enumerate(table)]
    return replace(HMM.build(checks, inputs, observations, rows), densities=densities)


def _probability(value: Probability, checks: Checks) -> RationalFunction:
    if isinstance(value, RationalFunction):
        return value
    if isinstance(value, str):
        return checks.function(parse(value))
    return RationalFunction.of(checks.ring.number(Fraction(value)))
