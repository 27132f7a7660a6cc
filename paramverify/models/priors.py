"""Finite priors as small Bayesian networks with parametric tables, and secrets as predicates.

The assignments of a small prior are listed with their exact weights. A larger one stays a network, from which
the variables are eliminated (`models.networks`). Conditioning on a secret keeps the assignments that satisfy
it and never divides; their total mass goes along instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.algebra.arrays import Arrays, bound, in_reach, reaching
from paramverify.algebra.expressions import Expression, Value
from paramverify.algebra.polynomials import Polynomial, RationalFunction
from paramverify.errors import CaseError, InputError, located
from paramverify.models.context import Checks
from paramverify.models.elimination import Factor
from paramverify.models.equalities import check_labels
from paramverify.models.networks import Answers, Network, Query, truth, valued
from paramverify.models.prior_arrays import check_array, entries_of, names_of
from paramverify.models.prior_entries import Entry, Rows, read_entry, shared
from paramverify.tables import Table, check_name

MAX_ASSIGNMENTS = 1_000  # that are listed

Assignment = tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class InitialDistribution:
    """A distribution over the states of a model: weight(s) / mass, wherever the mass is positive.

    The mass is the sum of the weights, and nonnegative on the domain. Where it is zero the secret has
    probability zero, and the distribution is undefined.
    """

    weights: Mapping[int, Polynomial]
    mass: Polynomial

    @staticmethod
    def point(state: int, one: Polynomial) -> InitialDistribution:
        """Returns the distribution that is in one state for sure."""
        return InitialDistribution({state: one}, one)

    @staticmethod
    def of(weights: Mapping[int, RationalFunction], checks: Checks) -> InitialDistribution:
        """Returns the distribution proportional to nonnegative weights with positive denominators."""
        kept = {s: w for s, w in weights.items() if w.numerator}
        denominator = checks.common_denominator(kept.values())
        # One positive factor for all weights and the mass cancels in every conditioned probability.
        cleared = {s: w.numerator * (denominator / w.denominator) for s, w in kept.items()}
        mass = checks.ring.number(0)
        for weight in cleared.values():
            mass += weight
        return InitialDistribution(cleared, mass)


@dataclass(frozen=True, eq=False)
class SecretPair:
    """Two secrets that must not be told apart, with the conditioned priors `pi` and `tau`.

    Neighbouring inputs of a mechanism have their `inputs`, and their `distance` where the case gives one.
    """

    left: str
    right: str
    pi: InitialDistribution
    tau: InitialDistribution
    inputs: tuple[Assignment, Assignment] | None = None
    distance: Fraction | None = None

    @property
    def turned(self) -> SecretPair:
        """The other direction."""
        inputs = self.inputs and (self.inputs[1], self.inputs[0])
        return replace(self, left=self.right, right=self.left, pi=self.tau, tau=self.pi, inputs=inputs)


@dataclass(frozen=True, eq=False)
class Condition:
    """What a secret says of a prior: the assignments on which it holds with their weights, or factors."""

    weights: Mapping[Assignment, RationalFunction] | None
    evidence: Sequence[Factor] = ()


@dataclass(frozen=True, eq=False)
class Prior:
    """The joint distribution of the prior's variables: a weight for every possible assignment.

    `values` are the values of each variable, also those that only parts of the distribution have. With many
    assignments `weights` is None, and the `network` says the same.
    """

    names: tuple[str, ...]
    weights: Mapping[Assignment, RationalFunction] | None
    values: Mapping[str, Collection[Value]]
    network: Network

    def where(self, secret: Expression) -> Condition:
        """Returns the part of the joint distribution on which the secret holds (weights not rescaled).

        Raises:
            ExpressionError: a mistake in the secret, such as a label that the compared variable never takes.
            LimitError: it is about too many variables at once.
        """
        check_labels(secret, self.values)
        if self.weights is None:
            return Condition(None, self.network.evidence(self.network.known(secret)))
        kept = {
            values: weight
            for values, weight in self.weights.items()
            if truth(secret, dict(zip(self.names, values, strict=True)))
        }
        return Condition(kept)

    def answers(
        self, conditions: Mapping[str, Condition], queries: Sequence[tuple[str, Expression]]
    ) -> dict[str, dict[Answers, RationalFunction]]:
        """Returns the weight of each combination of answers under each condition.

        Weights count up to one positive factor for all. The queries come with their keys in the case file.

        Raises:
            ExpressionError: a mistake in a query.
            LimitError: too many variables depend on each other.
        """
        if self.weights is None:
            evidence = {name: condition.evidence for name, condition in conditions.items()}
            return self.network.weights(evidence, self.counted(queries))
        return {name: self._listed(condition, queries) for name, condition in conditions.items()}

    def counted(self, queries: Sequence[tuple[str, Expression]]) -> list[Query]:
        """Returns the queries as powers, where the assignments are not listed.

        Raises:
            InputError: a mistake in a query. LimitError: one that is too wide.
        """
        listed = []
        for key, query in queries:
            with located(key=key):
                listed.append(self.network.query(query))
        return listed

    def _listed(
        self, condition: Condition, queries: Sequence[tuple[str, Expression]]
    ) -> dict[Answers, RationalFunction]:
        found: dict[Answers, RationalFunction] = {}
        for values, weight in (condition.weights or {}).items():
            if not weight.numerator:
                continue
            assignment = dict(zip(self.names, values, strict=True))
            answers: Answers = ()
            for key, query in queries:
                with located(key=key):
                    answers = (*answers, valued(query, assignment))
            found[answers] = found[answers] + weight if answers in found else weight
        return found


def read_prior(table: Table, checks: Checks) -> Prior:
    """Reads `[prior]`: variables in order, where later entries may refer to earlier ones.

    The checks keep the mistakes: a malformed entry, an unknown name, or a table that is not a distribution.
    Their variables are left out.

    Raises:
        LimitError: a variable depends on too many others at once.
    """
    reader = _PriorReader(checks)
    for name in table:
        before = len(checks.mistakes.found)
        with checks.mistakes, located(key=name):
            reader.read(table, name)
            continue
        own = {name, *names_of(name, in_reach())}
        for part in checks.mistakes.found[before:]:
            if part.unknown in own:  # a mistake about itself follows from no other one
                part.unknown = ""
                if len(own) > 1:
                    part.retell(part.reason, f"write {name}[i-1], say")
        checks.mistakes.broken |= own
    weights = None if reader.is_long else reader.weights
    return Prior(tuple(reader.taken), weights, reader.taken, reader.network)


class _PriorReader:
    """Reads the variables one after the other; their assignments are listed as long as they are few."""

    def __init__(self, checks: Checks) -> None:
        self.checks = checks
        self.network = Network(checks)
        self.weights: dict[Assignment, RationalFunction] = {(): RationalFunction.of(checks.ring.number(1))}
        self.is_long = False
        self.entries: dict[str, Entry] = {}  # those that are not in the network yet
        self.taken: dict[str, Collection[Value]] = {}
        self.written: dict[str, Mapping[str, object]] = {}

    def read(self, table: Table, name: str) -> None:
        check_name(name)
        if name in self.checks.ring.parameters:
            raise CaseError("this name is a parameter already")
        given = table.get(name)
        if isinstance(given, dict) and "count" in given:
            arrays = in_reach()
            check_array(given, [*self.checks.ring.parameters, *table.data])
            alike: dict[object, Entry] = {}
            for place, (own, entry) in zip(arrays.places(name), entries_of(name, given, arrays), strict=True):
                try:
                    with reaching(Arrays(arrays.sizes, bound(place))):
                        self._entry(own, entry, alike=alike)
                except InputError as error:
                    error.retell(f"{own}: {error.reason}")
                    raise
            return
        self._entry(name, given, like="like" in given if isinstance(given, dict) else False)

    def _entry(
        self, name: str, given: object, like: bool = False, alike: dict[object, Entry] | None = None
    ) -> None:
        entry = shared(given, self.written)
        data = entry.data if isinstance(entry, Table) else entry
        rows = self._read(data) if alike is None else self._alike(data, alike)
        if isinstance(entry, Table):
            self.written[name] = entry.data
        weights = None if self.is_long else self._listed(rows)
        if isinstance(rows, Rows) and rows.stray and not like:
            raise rows.stray
        self.entries[name] = rows
        if weights is not None:
            self.weights = weights
            self.taken[name] = dict.fromkeys(values[-1] for values in weights)
        else:
            self.is_long = True
            for other, its in self.entries.items():
                its.join(self.network, other)
            self.entries.clear()
            self.taken[name] = self.network.values_of(name)

    def _read(self, data: object) -> Entry:
        return read_entry(data, self.taken, self.checks)

    def _alike(self, data: object, known: dict[object, Entry]) -> Entry:
        """Reads an entry of an array; one that has the table of an earlier one is not read again."""
        assert isinstance(data, dict)
        given = [name for name in data.get("given", ()) if name in self.taken]
        rest = {key: value for key, value in data.items() if key != "given"}
        key = repr(rest), tuple(tuple(self.taken[name]) for name in given), len(data.get("given", ()))
        found = known.get(key)
        if isinstance(found, Rows) and len(found.given) == len(given):
            return Rows(given, found.rows, found.stray)
        known[key] = self._read(data)
        return known[key]

    def _listed(self, entry: Entry) -> dict[Assignment, RationalFunction] | None:
        """Returns all assignments with one more variable; None where there would be too many."""
        extended: dict[Assignment, RationalFunction] = {}
        for values, weight in self.weights.items():
            for value, probability in entry(dict(zip(self.taken, values, strict=True))).items():
                extended[(*values, value)] = weight * probability
                if len(extended) > MAX_ASSIGNMENTS:
                    return None
        return extended
