"""Windows of a network: what is near some variables, given the values of a separator that cuts off the rest.

The Markov quilts of [Song17] in exact form. Let a network have factors ≥ 0, and let some
variables, the core, be those of two secrets A and B. The interior N has all variables whose distance from the
core is less than k, where variables of one factor are neighbours; the separator S has those at the distance
k. A factor with a variable of N has all its variables in N ∪ S. The others have none in N. An answer
is a sum of powers: n of addends that touch N, and r of the others. So the joint weight of A and an output is

    w_A(ω) = Σ_s Σ_r far(s, r) · Σ_n near_A(s, n) · K_ω(n + r)      with far(s, r) ≥ 0,

for the secrets touch N only; and the same with B. The mass of A needs the core and its ancestors only, for
the rows of all other variables sum to 1. Cut at another separator, it is

    m_A = Σ_v rest(v) · mass_A(v)                                   with rest(v) ≥ 0.

Here rest(v) may depend on all ancestors beyond the separator, but it is the same for A and B. Hence

    c·w_B(ω)·m_A − w_A(ω)·m_B
      = Σ_{s,r,v} far(s, r)·rest(v)·[c·near_B(s, ω, r)·mass_A(v) − near_A(s, ω, r)·mass_B(v)]

with near_A(s, ω, r) = Σ_n near_A(s, n)·K_ω(n + r). If each bracket is nonnegative at each point of the
domain, then so is each claim `Pr(ω|A) ≤ c·Pr(ω|B)`. The converse is false: brackets that fail say nothing.

The sum over r may have more than can happen with s: then far(s, r) is 0. An answer that never happens has
weight zero under all secrets, so K may be 0 there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product
from math import prod

from flint import fmpq_mpoly_ctx

from paramverify.algebra.polynomials import Polynomial
from paramverify.models.networks import Answers, Factor, Network, Query, Row, by_powers
from paramverify.models.priors import InitialDistribution

MAX_ROWS = 4_096  # combinations of values in one table of a window
MAX_SUMS = 20_000  # of what is far

Powers = tuple[int, ...]  # of each query
Sums = Mapping[Powers, Polynomial]


@dataclass(frozen=True, eq=False)
class WindowPair:
    """What a window says of two secrets A and B.

    `tables` has near_A(s, ·) and near_B(s, ·) for each s, and `masses` mass_A(v) and mass_B(v) for each v.
    `far` are the sums that the other addends may have. The window is `all` if nothing is outside.
    """

    tables: tuple[tuple[Sums, Sums], ...]
    masses: tuple[tuple[Polynomial, Polynomial], ...]
    far: tuple[Powers, ...]
    all: bool


@dataclass(frozen=True, eq=False)
class Whole:
    """A prior as a network, the secrets that are compared, and where a mechanism starts for each answer."""

    network: Network
    secrets: Mapping[str, Sequence[Factor]]
    queries: tuple[Query, ...]
    starts: Mapping[Answers, InitialDistribution]

    @cached_property
    def context(self) -> fmpq_mpoly_ctx:
        """The ring with one more variable for each query."""
        ring = self.network.checks.ring
        return ring.context.append_gens(*(f"answer {k}" for k in range(len(self.queries))))

    @cached_property
    def factors(self) -> Mapping[str, Factor]:
        """The tables of all variables on which secrets or answers depend, each with a positive factor."""
        marked = [mark.scope for query in self.queries for mark in query.marks]
        used = self.network.used([f.scope for own in self.secrets.values() for f in own] + marked)
        return {v.name: self.network.factor(v, self.context) for v in used}

    @cached_property
    def marks(self) -> tuple[tuple[int, Factor, frozenset[int]], ...]:
        """The addends: the number of the query, the powers as a factor, and as numbers."""
        first = len(self.network.checks.ring.names)
        found = []
        for k, query in enumerate(self.queries):
            for mark in query.marks:
                weights = {row: self.context.gen(first + k) ** p for row, p in mark.powers.items()}
                found.append((k, Factor(mark.scope, weights), frozenset(mark.powers.values())))
        return tuple(found)

    def near(self, left: str, right: str, distance: int) -> WindowPair | None:
        """Returns the window of two secrets; None where its tables would be too large."""
        secrets = self._evidence(left), self._evidence(right)
        core = {name for given in secrets for f in given for name in f.scope}
        tables = list(self.factors.values())
        every = [*tables, *(factor for _, factor, _ in self.marks)]
        inside, interior = _window(every, core, distance)
        far = self._sums([k for k in range(len(self.marks)) if k + len(tables) not in inside])
        above = [self.factors[v.name] for v in self.network.used([tuple(core)])]
        upper, between = _window(above, core, distance + 1)
        if far is None:
            return None
        joint = [self._summed([*(every[k] for k in inside), *given], interior) for given in secrets]
        masses = [self._summed([*(above[k] for k in upper), *given], between) for given in secrets]
        if None in joint or None in masses:
            return None
        zero = self.network.checks.ring.number(0)
        none: Powers = (0,) * len(self.queries)
        return WindowPair(
            tuple(_side_by_side(joint, {})),
            tuple((a.get(none, zero), b.get(none, zero)) for a, b in _side_by_side(masses, {})),
            far,
            len(inside) == len(every),
        )

    def _evidence(self, name: str) -> list[Factor]:
        one = self.context.constant(1)
        return [Factor(f.scope, dict.fromkeys(f.weights, one)) for f in self.secrets[name]]

    def _sums(self, others: Sequence[int]) -> tuple[Powers, ...] | None:
        """Returns all sums of the powers of some addends, query by query; None for too many."""
        reached = [1] * len(self.queries)
        for k in others:
            query, _, powers = self.marks[k]
            reached[query] = reduce(int.__or__, (reached[query] << power for power in powers), 0)
        if prod(bits.bit_count() for bits in reached) > MAX_SUMS:
            return None
        listed = [[k for k in range(bits.bit_length()) if bits >> k & 1] for bits in reached]
        return tuple(product(*listed))

    def _summed(self, factors: Sequence[Factor], names: Collection[str]) -> dict[Row, Sums] | None:
        """Returns the sum of a product over some variables, for each combination of values of the others.

        The variables that are left are in the order of their names. None for a table that is too large.
        """
        left = list(factors)
        pending = set(names)
        while pending:
            scopes = {n: {m for f in left if n in f.scope for m in f.scope} for n in sorted(pending)}
            name = min(scopes, key=lambda n: len(scopes[n]))
            pending.remove(name)
            joined = _product([f for f in left if name in f.scope], self.context.constant(1))
            if joined is None:
                return None
            left = [f for f in left if name not in f.scope]
            left.append(joined.onto(scopes[name] - {name}))
        total = _product(left, self.context.constant(1))
        if total is None:
            return None
        order = sorted(range(len(total.scope)), key=total.scope.__getitem__)
        ring = self.network.checks.ring
        return {
            tuple(row[k] for k in order): {
                powers: f.numerator for powers, f in by_powers(w, ring.context, len(ring.names)).items()
            }
            for row, w in total.weights.items()
        }


def _window(
    factors: Sequence[Factor], core: Collection[str], distance: int
) -> tuple[list[int], frozenset[str]]:
    """Returns the numbers of the factors that touch the variables nearer than a distance, and these."""
    touching: dict[str, list[int]] = {}
    for k, factor in enumerate(factors):
        for name in factor.scope:
            touching.setdefault(name, []).append(k)
    interior, edge = set(core), set(core)
    for _ in range(distance - 1):
        edge = {n for name in edge for k in touching.get(name, ()) for n in factors[k].scope} - interior
        interior |= edge
    inside = {k for name in interior for k in touching.get(name, ())}
    return sorted(inside), frozenset(interior)


def _product(factors: Sequence[Factor], one: Polynomial) -> Factor | None:
    """Returns the product; None for a table that is too large."""
    found = Factor((), {(): one})
    for factor in sorted(factors, key=lambda f: f.size):
        found = found * factor
        if len(found.weights) > MAX_ROWS:
            return None
    return found


def _side_by_side(tables: Sequence[Mapping[Row, Sums] | None], none: Sums) -> list[tuple[Sums, Sums]]:
    """Returns the entries of two tables for the same values, once each."""
    first, second = (table or {} for table in tables)
    return [(first.get(row, none), second.get(row, none)) for row in dict.fromkeys([*first, *second])]
