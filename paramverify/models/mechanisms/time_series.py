"""`kind = "time_series"`: a hidden Markov chain, one state for each day, and a noisy release every day.

The setting of Pufferfish privacy for correlated data ([Song17]): a person's activity or infection over days.
The secret is the state on one day.

Conditioned on X_d = y, the days before d are a Markov chain too, with the bridge transitions
P(x, x')·P^(d−t−1)(x', y) / P^(d−t)(x, y) from day t, and from day d on the chain starts from y.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paramverify.algebra.expressions import Expression, Value
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, gathered, located
from paramverify.models.context import Checks
from paramverify.models.hmm import HMM
from paramverify.models.mechanisms import (
    Input,
    Mechanism,
    compare,
    neighbouring_inputs,
    read_query,
)
from paramverify.models.mechanisms._queries import QUERY
from paramverify.models.mechanisms.hmm import EMISSIONS, TRANSITIONS, read_row
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.tables import EXPRESSION, TEXT, Key, Listed, Section, Table, by_name, exactly_one, whole

TOLD = "A hidden Markov chain over days: each day, the state is released with noise; then it changes."

CHECKED = True  # `read` checks the probabilities

MAX_DAY = 20

SECTION = Section(
    "time_series",
    "A Markov chain: a state and a noisy release each day. The secret is the state on one day.",
    (
        QUERY,
        Key("states", Listed("a list of texts", TEXT, least=2, distinct=True), "The states.", needed=True),
        Key(
            "initial",
            by_name(
                "[mechanism.initial]",
                "The distribution of the state on the first day.",
                EXPRESSION,
                "A probability.",
            ),
            needed=True,
        ),
        Key("transitions", TRANSITIONS, needed=True),
        Key(
            "truth",
            EXPRESSION,
            "The probability of releasing the true state; the other states are equally likely.",
        ),
        Key("emissions", EMISSIONS, "The probability of each release, for each state."),
        Key(
            "observations",
            Listed("a list of texts", TEXT),
            "The possible releases; if left out, these are the states.",
        ),
        Key("day", whole(1, MAX_DAY), "The day whose state is the secret.", default=1),
    ),
    rules=(exactly_one("truth", "emissions"),),
)

Matrix = Sequence[Sequence[RationalFunction]]


@dataclass(frozen=True, eq=False)
class TimeSeries:
    """A chain with `moves`, released by `emissions` from day 1 on; an input is the state on `day`."""

    checks: Checks
    queries: tuple[Expression, ...]
    names: tuple[str, ...]
    observations: tuple[str, ...]
    initial: Sequence[RationalFunction]
    moves: Matrix
    emissions: Matrix
    day: int
    default_by: str = "any"

    @property
    def answers(self) -> tuple[tuple[Value, ...], ...]:
        """The names of the states: labels, also where they look like numbers."""
        return (self.names,)

    def build(self, inputs: Sequence[Input]) -> tuple[HMM, list[InitialDistribution]]:
        """Returns the chain with its bridges to the states of the inputs, and where each input starts."""
        size = len(self.names)
        number: dict[Value, int] = {name: k for k, name in enumerate(self.names)}
        wanted = list(dict.fromkeys(number[x[0]] for x in inputs))
        powers = [_identity(size, self.checks), self.moves]
        while len(powers) < self.day:
            powers.append(_product(powers[-1], self.moves, self.checks))
        # States of the model: the chain's own, then (day, state, state on the secret's day) of bridges.
        bridges = [
            (t, x, y)
            for y in wanted
            for t in range(1, self.day)
            for x in range(size)
            if powers[self.day - t][x][y].numerator
        ]
        place = {bridge: size + k for k, bridge in enumerate(bridges)}
        rows = [self._row(self.moves[x], x, range(size)) for x in range(size)]
        for t, x, y in bridges:
            left = self.day - t
            moves, targets = [], []
            for successor in range(size):
                weight = self.moves[x][successor] * powers[left - 1][successor][y]
                if weight.numerator:
                    moves.append(weight / powers[left][x][y])
                    targets.append(y if left == 1 else place[t + 1, successor, y])
            rows.append(self._row(moves, x, targets))
        names = [*self.names, *(f"day {t}: {self.names[x]}, later {self.names[y]}" for t, x, y in bridges)]
        hmm = HMM.build(self.checks, names, self.observations, rows)
        starts: dict[int, InitialDistribution] = {}
        for y in wanted:
            weights = {x: self.initial[x] * powers[self.day - 1][x][y] for x in range(size)}
            starts[y] = InitialDistribution.of(
                {place.get((1, x, y), x): w for x, w in weights.items() if w.numerator}, self.checks
            )
        return hmm, [starts[number[x[0]]] for x in inputs]

    def neighbours(self, table: Table) -> tuple[HMM, list[SecretPair]]:
        """Returns the model, and the pairs of states on the secret's day."""
        return compare(self, neighbouring_inputs(table, self.answers, self.default_by))

    def _row(
        self, moves: Sequence[RationalFunction], state: int, targets: Sequence[int]
    ) -> list[tuple[int, int, RationalFunction]]:
        return [
            (o, t, emitted * moved)
            for o, emitted in enumerate(self.emissions[state])
            for moved, t in zip(moves, targets, strict=True)
        ]


def _identity(size: int, checks: Checks) -> Matrix:
    return [[RationalFunction.of(checks.ring.number(int(i == j))) for j in range(size)] for i in range(size)]


def _product(left: Matrix, right: Matrix, checks: Checks) -> Matrix:
    zero = RationalFunction.of(checks.ring.number(0))
    return [
        [sum((row[k] * right[k][j] for k in range(len(right))), zero) for j in range(len(right))]
        for row in left
    ]


def read(table: Table, checks: Checks) -> Mechanism:
    """Reads `states`, `initial`, `transitions`, `emissions`, `observations` (else the states), and `day`.

    Instead of `emissions`, `truth = t` releases the state itself with probability t and every other one
    with (1−t)/(k−1), as in randomised response.
    """
    states = table.texts("states")
    if len(states) < 2 or len(set(states)) != len(states):
        raise CaseError("the list must have at least two names and no name twice", key="states")
    observations = table.texts("observations") if "observations" in table else states
    with gathered() as each:
        with each, table.within("initial") as first:
            initial = _full(first, states, checks)
        with each:
            moves = _rows(table, "transitions", states, states, checks)
        with each:
            emissions = _emissions(table, states, observations, checks)
        with each:
            day = table.integer("day")
        with each:
            query = read_query(table)
        with each:
            table.close()
    return TimeSeries(
        checks=checks,
        queries=query,
        names=tuple(states),
        observations=tuple(observations),
        initial=initial,
        moves=moves,
        emissions=emissions,
        day=day,
    )


def _emissions(table: Table, states: Sequence[str], observations: Sequence[str], checks: Checks) -> Matrix:
    if table.either("truth", "emissions") == "truth":
        return _truthful(table, states, observations, checks)
    return _rows(table, "emissions", states, observations, checks)


def _truthful(table: Table, states: Sequence[str], observations: Sequence[str], checks: Checks) -> Matrix:
    if list(observations) != list(states):
        raise CaseError("with truth, the releases are the states; remove observations", key="observations")
    one = RationalFunction.of(checks.ring.number(1))
    truth = checks.named(table, "truth")
    other = (one - truth) / RationalFunction.of(checks.ring.number(len(states) - 1))
    rows = [[truth if s == o else other for o in states] for s in states]
    with located(key="truth"):
        checks.distribution(dict(zip(states, rows[0], strict=True)), "the release of a state")
    return rows


def _rows(table: Table, key: str, states: Sequence[str], columns: Sequence[str], checks: Checks) -> Matrix:
    found = []
    with table.within(key) as rows, gathered() as each:
        for state in states:
            with each, rows.within(state) as row:
                found.append(_full(row, columns, checks))
        with each:
            rows.close()
    return found


def _full(entries: Table, columns: Sequence[str], checks: Checks) -> list[RationalFunction]:
    """Reads a distribution; names left out have probability zero."""
    row: Mapping[str, RationalFunction] = read_row(entries, columns, checks)
    checks.distribution(row, "this row")
    zero = RationalFunction.of(checks.ring.number(0))
    return [row.get(name, zero) for name in columns]
