"""Privacy questions whose probabilities are enclosed: programs with noise that has no closed form.

The probabilities are certain numbers; balls with proved errors are all that is known of them, as narrow as
one asks for. There are no parameters, and so there are no claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import ClassVar

from flint import arb

from paramverify.algebra.constants import working_precision
from paramverify.algebra.domains import Domain
from paramverify.algebra.expressions import Value
from paramverify.algebra.polynomials import RationalFunction, fraction, in_generator
from paramverify.divergences import DistanceBound, Event, MaxDivergence, Measure, PositiveParts
from paramverify.errors import DefectError, UnsupportedError
from paramverify.models.context import Checks, Obligation, VerdictWords
from paramverify.models.definitions import RationalComparison
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.models.programs.noise_densities import ball_of
from paramverify.models.programs.noise_enclosures import Encloser, FunctionTable, Share
from paramverify.models.programs.output_intervals import natural, shown_output
from paramverify.models.programs.run_states import Outputs

FIRST_BITS = 48  # of the first enclosures; each later ones have twice as many
MOST_BITS = 192  # unless the case says another number
SIZES = (16, 2_000)  # the least and the greatest number that it may say
BITS = "With gauss or discrete_gaussian: the largest precision of enclosures, in bits."

NO_FORMULAS = "with gauss or discrete_gaussian, probabilities are enclosed in intervals and have no formulas"
NO_PARAMETERS = (
    "with gauss or discrete_gaussian, probabilities are enclosed in intervals instead of "
    "written as formulas, so every parameter needs a fixed value"
)


@dataclass(frozen=True, eq=False)
class EnclosedTable:
    """What comes out of a mechanism for each input: `rows[state][output]` are numbers to be enclosed.

    `inputs` are the inputs that the states are, in their order.
    """

    states: tuple[str, ...]
    observations: tuple[str, ...]
    rows: tuple[Mapping[int, Share], ...]
    functions: FunctionTable = field(repr=False)
    bits: int = MOST_BITS  # as many at most
    inputs: tuple[tuple[Value, ...], ...] = ()

    chosen = False  # no adversary chooses a part of the outputs
    densities = False


class PairsModel:
    """What models of mechanisms have: a measure of how far the outputs of secret pairs are apart."""

    measure: Measure
    comparisons: ClassVar[tuple[RationalComparison, ...]] = ()  # no claims of its own
    definitions: ClassVar[Mapping[str, RationalFunction]] = MappingProxyType({})

    @property
    def event(self) -> Event:
        """What a witness against the bound names."""
        return self.measure.event

    def word(self, standing: VerdictWords) -> str:
        """Returns the word for a verdict: private, not private, undecided."""
        return standing.of_case

    def over(self, described: str, compared: str) -> str:
        """Returns what a verdict is about: what is `compared`, with the domain in words, if it has any."""
        return f"for {compared} with {described}" if described else f"for {compared}"


@dataclass(frozen=True, eq=False)
class EnclosedModel(PairsModel):
    """Privacy of a mechanism without parameters, whose probabilities are enclosed; see `Model`."""

    domain: Domain
    table: EnclosedTable
    pairs: tuple[SecretPair, ...]
    measure: MaxDivergence | DistanceBound | PositiveParts
    obligations: tuple[Obligation, ...] = ()
    notes: tuple[str, ...] = ()
    maybe_empty: Obligation | None = None

    lengths = (1,)
    every_length = False
    wider = False
    side_condition = ""
    nothing_compared = ""
    stands_for = None
    maybe_impossible = ()

    @property
    def outputs(self) -> Sequence[str]:
        """The names of the outputs."""
        return self.table.observations

    @property
    def inputs(self) -> Sequence[tuple[Value, ...]]:
        """The inputs of the mechanism that the states are, in their order."""
        return self.table.inputs


def table_of(
    states: Sequence[str],
    found: Sequence[Sequence[tuple[Outputs, Share]]],
    functions: FunctionTable,
    bits: int,
) -> EnclosedTable:
    """Returns the table of what a program puts out on each of some inputs."""
    rows = [{shown_output(outputs): share for outputs, share in row} for row in found]
    names = sorted({name for row in rows for name in row}, key=natural)
    places = {name: k for k, name in enumerate(names)}
    numbered = tuple({places[name]: share for name, share in row.items()} for row in rows)
    return EnclosedTable(tuple(states), tuple(names), numbered, functions, bits)


def check_numbers(checks: Checks) -> None:
    """Checks that a case has no parameter without a value.

    Raises:
        UnsupportedError: it has one.
    """
    free = [n for n, i in checks.domain.box.items() if not i.is_point and n in checks.ring.parameters]
    free = [*(u.name for u in checks.ring.unbounded), *free]
    if free:
        name = free[0]
        raise UnsupportedError(f'{NO_PARAMETERS}: {name} has an interval; write, for example, {name} = "1/2"')


def bounded(measure: Measure) -> MaxDivergence | DistanceBound | PositiveParts:
    """Returns a measure that compares enclosed probabilities.

    Raises:
        UnsupportedError: it is another one.
    """
    if isinstance(measure, MaxDivergence | DistanceBound | PositiveParts):
        return measure
    reason = (
        "with gauss or discrete_gaussian, probabilities are enclosed in intervals, for which "
        "[privacy] supports epsilon, ratio and delta"
    )
    raise UnsupportedError(f"{reason}, but not {measure.key}", key=f"privacy.{measure.key}")


@dataclass(eq=False)
class EnclosedProbabilities:
    """The probabilities of the outputs of a table as balls of about so many bits, each computed once."""

    table: EnclosedTable
    bits: int
    tick: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.encloser = Encloser(self.table.functions, self.bits, self.tick)
        self.rows: dict[int, list[arb]] = {}
        self.mixed: dict[int, list[arb]] = {}
        self.numbers: dict[int, tuple[RationalFunction, arb]] = {}

    @property
    def count(self) -> int:
        """How many probabilities were enclosed."""
        return sum(len(row) for row in self.rows.values())

    def number(self, function: RationalFunction) -> arb:
        """Returns a ball with a number of the case."""
        if id(function) not in self.numbers:
            ball = ball_of(function, self.table.functions.ring.constant, self.encloser.precision)
            self.numbers[id(function)] = function, ball
        return self.numbers[id(function)][1]

    def exact(self, function: RationalFunction) -> Fraction | None:
        """Returns a number of the case where it is rational, None where `exp` is in it."""
        top, bottom = in_generator(function.numerator), in_generator(function.denominator)
        if top.degree() > 0 or bottom.degree() > 0:
            return None
        return fraction(top[0]) / fraction(bottom[0])

    def given(self, state: int) -> list[arb]:
        """Returns the probability of each output for one input.

        Raises:
            DefectError: they do not sum to 1.
        """
        if state not in self.rows:
            own = self.table.rows[state]
            with working_precision(self.encloser.precision):
                row = [
                    self.encloser.share(own[k]) if k in own else arb(0)
                    for k in range(len(self.table.observations))
                ]
                if not sum(row, arb(0)).contains(1):
                    raise DefectError(
                        f"the probabilities of the outputs for {self.table.states[state]} do not sum to 1"
                    )
            self.rows[state] = row
        return self.rows[state]

    def under(self, start: InitialDistribution) -> list[arb]:
        """Returns the probability of each output where the input is drawn from a distribution."""
        if len(start.weights) == 1:
            return self.given(next(iter(start.weights)))
        if id(start) not in self.mixed:
            rows = [(self.given(state), weight) for state, weight in start.weights.items()]
            with working_precision(self.encloser.precision):
                shares = [self.number(RationalFunction.of(w, start.mass)) for _, w in rows]
                self.mixed[id(start)] = [
                    sum((share * row[k] for share, (row, _) in zip(shares, rows, strict=True)), arb(0))
                    for k in range(len(self.table.observations))
                ]
        return self.mixed[id(start)]


def are_same(table: EnclosedTable, pair: SecretPair, output: int) -> bool:
    """Tells whether an output has the same probability under two inputs, by what that is made of."""
    starts = pair.pi, pair.tau
    if any(len(start.weights) != 1 for start in starts):
        return False
    left, right = (table.rows[next(iter(start.weights))].get(output) for start in starts)
    return left == right


def bits_of(table: EnclosedTable) -> Sequence[int]:
    """Returns the bits of enclosures, one after the other, the last ones as many as the case allows."""
    found = [min(FIRST_BITS, table.bits)]
    while found[-1] < table.bits:
        found.append(min(2 * found[-1], table.bits))
    return found
