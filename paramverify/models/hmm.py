"""Hidden Markov models with exact, possibly parametric probabilities; also where a mechanism answers
several times.

A step of the model observes a symbol and moves to a next state. In the classical form ([F] section 2) a state
s emits ω with probability o(s,ω) and then moves to t with p(s,t), so the step probability is o(s,ω)·p(s,t).
The general form also lets the move depend on the observation, which mechanisms that stop after an output
need.

Numbers of an output that are compared one by one: a variable of the claims says which one is meant.

Between two breaks, and beyond the last one, the densities under all inputs are sums of `c·b^o`. With a base r
in (0, 1) of which all the b are powers, up to a common factor, they are polynomials in `y = r^|o − anchor|`.
Beyond the last break y goes through (0, 1], and the variable w is y. On an interval of the length L it goes
through [r^L, 1], and `y = 1 − w·(1 − r^L)`. So w in [0, 1] says which number is meant, for all parameters;
w = 0 beyond the last break is the limit.

A mechanism that answers several times, with fresh noise, about the same hidden input: `times` of a case.

Given the input, the outputs are independent and alike. So all orders of the same outputs are equally likely
under every input, and how often each output is seen is all that they say: each ratio of two sequences is that
of their counts, and a set of sequences that is worst can be made of whole counts. The model is that of one
release of the counts, which is exact for every measure that compares distributions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import comb, log
from typing import TYPE_CHECKING, Any, Protocol

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.expressions import Value, parse
from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring, value_at
from paramverify.errors import CaseError, LimitError, ModelError, UnsupportedError
from paramverify.models.context import Checks

if TYPE_CHECKING:
    from flint import arb

BITS = 256  # of the enclosure of `E` from which an output is rounded


@dataclass(frozen=True)
class ArithmeticSequence:
    """The numbers `anchor + way·t`: the variable w of a claim stands for t.

    Without a `length` t goes from 0 to infinity, and w = base^t. Else it goes from 0 to `length`, and
    `1 − w·(1 − base) = base^(t/length)`. The base is in (0, 1). Of `whole` numbers t is one, too.
    With a `slack` claims say more: they are about a variable more, which stands for one number that is not
    rational. So they prove, and refute nothing.
    """

    variable: str
    base: RationalFunction
    anchor: Fraction
    way: Fraction = Fraction(1)
    length: Fraction | None = None
    whole: bool = False
    slack: str = ""

    def divided(self, slope: Fraction) -> ArithmeticSequence:
        """Returns the spread of the numbers divided by another one."""
        return replace(self, anchor=self.anchor / slope, way=self.way / slope)

    def moved(self, by: Fraction) -> ArithmeticSequence:
        """Returns the spread of the numbers plus another one."""
        return replace(self, anchor=self.anchor + by)

    def number(self, steps: int) -> Fraction:
        """Returns the number at t = steps."""
        return self.anchor + self.way * steps

    def near(self, ring: Ring, point: Mapping[str, Fraction]) -> float | None:
        """Returns t about where a point has it; None for infinity."""
        w = point[self.variable]
        base = self.base_at(ring, point)
        power = w if self.length is None else 1 - w * (1 - base)
        if not power:
            return None
        return _log(power) / _log(base) * float(self.length or 1)

    def is_whole_at(self, ring: Ring, point: Mapping[str, Fraction]) -> bool:
        """Tells whether a point means a whole number."""
        t = self.near(ring, point)
        return t is not None and point[self.variable] == self.base_at(ring, point) ** round(t)

    def base_at(self, ring: Ring, point: Mapping[str, Fraction]) -> Fraction:
        """Returns the base at a point; about that where it has the number `E`."""
        values = dict(point)
        if ring.constant is not None:
            values[GENERATOR] = ring.constant.enclosure(BITS)[0]
        return value_at(self.base.numerator, values) / value_at(self.base.denominator, values)

    def at(self, ring: Ring, point: Mapping[str, Fraction]) -> str:
        """Returns words for the number that a point means: one that is not whole is rounded."""
        t = self.near(ring, point)
        if t is None:
            return "-oo" if self.way < 0 else "oo"
        if self.whole:
            return str(self.number(round(t)))
        place = float(self.anchor) + float(self.way) * t
        exact = not t or (self.length is not None and point[self.variable] == 1)
        return str(self.anchor + self.way * (self.length or 0 if t else 0)) if exact else f"≈ {place:.6g}"


def _log(value: Fraction) -> float:
    return log(value.numerator) - log(value.denominator)


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
    where sequences are left out (`models.model`). With `densities` some weights are those of a density at
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
                        raise LimitError(f"the model has more than {MAX_STATES} reachable states")
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


MAX_TIMES = 1_000
MAX_COUNTS = 20_000  # different counts from one input


def repeated(hmm: HMM, times: int) -> HMM:
    """Returns the model of the counts of so many outputs; its states are those of the model.

    Raises:
        CaseError: an output changes the state, or an adversary chooses. LimitError: too many counts.
        ModelError: two counts would have one name.
    """
    if hmm.chosen or any(step.successor != s for s, row in enumerate(hmm.steps) for step in row):
        reason = "this mechanism has a state that depends on its earlier outputs, so `times` does not apply"
        raise CaseError(reason, key="times", mend="remove times and give a length in [privacy] instead")
    if hmm.spreads:
        raise UnsupportedError(
            "`times` counts outputs, but the outputs of this mechanism are ranges of numbers, "
            "which cannot be counted"
        )
    names = sorted(range(len(hmm.observations)), key=lambda k: hmm.observations[k])
    place = {observation: k for k, observation in enumerate(names)}
    known: dict[str, int] = {}
    meant: dict[str, tuple[tuple[int, int], ...]] = {}
    rows: list[tuple[HmmStep, ...]] = []
    for s, row in enumerate(hmm.steps):
        weights: dict[int, Polynomial] = {}
        for step in row:
            before = weights.get(step.observation)
            weights[step.observation] = before + step.weight if before is not None else step.weight
        if comb(times + len(weights) - 1, times) > MAX_COUNTS:
            raise LimitError(
                f"{times} answers with {len(weights)} possible outputs have more than "
                f"{MAX_COUNTS:,} different counts; make times smaller"
            )
        ordered = dict(sorted(weights.items(), key=lambda item: place[item[0]]))
        listed = []
        for counts, w in _counted(ordered, times, hmm):
            name = _name(hmm, counts)
            if meant.setdefault(name, counts) != counts:  # of one input, or of two
                raise ModelError(
                    "two counts of outputs have the same name: rename the output that contains a colon"
                )
            listed.append((name, w))
        rows.append(tuple(HmmStep(known.setdefault(name, len(known)), s, w) for name, w in listed))
    bottom = hmm.denominator**times
    found = HMM(hmm.ring, hmm.states, tuple(known), tuple(rows), denominator=bottom)
    return replace(found, densities=hmm.densities, inputs=hmm.inputs)


def _counted(
    weights: Mapping[int, Polynomial], times: int, hmm: HMM
) -> Iterator[tuple[tuple[tuple[int, int], ...], Polynomial]]:
    """Yields how often each output is seen, and the weight: multinomial coefficient times powers."""
    level: list[tuple[tuple[tuple[int, int], ...], int, Polynomial]] = [((), times, hmm.ring.number(1))]
    for k, (observation, weight) in enumerate(weights.items()):
        last = k == len(weights) - 1
        powers = [hmm.ring.number(1)]
        for _ in range(times):
            powers.append(powers[-1] * weight)
        level = [
            ((*counts, (observation, n)) if n else counts, left - n, share * powers[n] * comb(left, n))
            for counts, left, share in level
            for n in ((left,) if last else range(left + 1))
        ]
    yield from ((counts, share) for counts, _, share in level)


def _name(hmm: HMM, counts: tuple[tuple[int, int], ...]) -> str:
    """Returns counts as the name of an output: `0:2 1:1`."""
    return " ".join(f"{hmm.observations[observation]}:{n}" for observation, n in counts)
