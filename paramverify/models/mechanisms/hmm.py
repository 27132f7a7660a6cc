"""`kind = "hmm"`: a hidden Markov model by explicit tables of expressions.

`states`, `observations`, `[mechanism.emissions]` and `[mechanism.transitions]` as in [F] section 2; without
transitions the state stays as it is. `start` is an expression over the prior's variables whose value names
the initial state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paramverify.algebra.expressions import Expression, Value
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, gathered, located
from paramverify.models.context import Checks
from paramverify.models.hmm import HMM
from paramverify.models.mechanisms import Input, Mechanism, compare, neighbouring_inputs
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.tables import EXPRESSION, TEXT, Key, Listed, Section, Table, as_expression, by_name

TOLD = (
    "A hidden Markov model given by tables: in each step, the state emits an output with "
    "the probabilities of its row, and then changes by the transitions."
)

CHECKED = True  # `read` checks the probabilities
NAMES = Listed("a list of texts", TEXT, least=1, distinct=True)
ROW = by_name(
    "[mechanism.emissions.STATE]",
    "A distribution; names that you leave out have probability zero.",
    EXPRESSION,
    "A probability.",
)
EMISSIONS = by_name(
    "[mechanism.emissions]",
    "The distribution of the observation of each state.",
    ROW,
    "The distribution of a state.",
    named="STATE",
)
TRANSITIONS = by_name(
    "[mechanism.transitions]",
    "The distribution of the next state.",
    ROW,
    "The distribution of a state.",
    named="STATE",
)
SECTION = Section(
    "hmm",
    "A hidden Markov model, given state by state; it first emits in its initial state, and then moves.",
    (
        Key("states", NAMES, "The names of the states.", needed=True),
        Key("observations", NAMES, "The possible observations.", needed=True),
        Key("emissions", EMISSIONS, needed=True),
        Key("transitions", TRANSITIONS, "The distribution of the next state; by default, the state stays."),
        Key("start", EXPRESSION, "The initial state: an expression over the variables of [prior]."),
    ),
)

Rows = Mapping[str, Mapping[str, RationalFunction]]


@dataclass(frozen=True, eq=False)
class Explicit:
    """A model given state by state; an input is the initial state."""

    checks: Checks
    queries: tuple[Expression, ...]
    model: HMM
    default_by: str = "any"

    @property
    def answers(self) -> tuple[tuple[Value, ...], ...]:
        """The names of the states: labels, also where they look like numbers."""
        return (self.model.states,)

    def build(self, inputs: Sequence[Input]) -> tuple[HMM, list[InitialDistribution]]:
        """Returns the model, and the initial state of each input."""
        one = self.checks.ring.number(1)
        return self.model, [InitialDistribution.point(self.answers[0].index(x[0]), one) for x in inputs]

    def neighbours(self, table: Table) -> tuple[HMM, list[SecretPair]]:
        """Returns the model, and the pairs of neighbouring initial states."""
        return compare(self, neighbouring_inputs(table, self.answers, self.default_by))


def read(table: Table, checks: Checks) -> Mechanism:
    """Reads the tables and checks that every row is a distribution on the whole domain."""
    with gathered() as each:
        with each:
            states = _names(table, "states")
        with each:
            observations = _names(table, "observations")
    with gathered() as each:
        with each:
            emissions = _rows(table, "emissions", states, observations, checks)
        with each:
            transitions: Rows = {s: {s: RationalFunction.of(checks.ring.number(1))} for s in states}
            if "transitions" in table:
                transitions = _rows(table, "transitions", states, states, checks)
        with each:
            start = (table.expression("start"),) if "start" in table else ()
        with each:
            table.close()
    return Explicit(checks, start, HMM.from_tables(checks, transitions, emissions, observations))


def _names(table: Table, key: str) -> list[str]:
    names = table.texts(key)
    if not names or len(set(names)) != len(names):
        raise CaseError("the list must have at least one name and no name twice", key=key)
    return names


def _rows(table: Table, key: str, states: list[str], columns: list[str], checks: Checks) -> Rows:
    result: dict[str, dict[str, RationalFunction]] = {}
    with table.within(key) as rows, gathered() as each:
        for state in states:
            with each, rows.within(state) as entries:
                result[state] = read_row(entries, columns, checks)
                checks.distribution(result[state], "this row")
        with each:
            rows.close()
    return result


def read_row(entries: Table, columns: Sequence[str], checks: Checks) -> dict[str, RationalFunction]:
    """Reads a table from names to expressions; names left out have probability zero."""
    row: dict[str, RationalFunction] = {}
    with gathered() as each:
        for name in columns:
            if name in entries:
                with each, located(key=name):
                    row[name] = checks.function(as_expression(entries.get(name)))
        with each:
            entries.close()
    return row
