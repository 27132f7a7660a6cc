"""Checks that an interactive system is private for a bound, or that it is not, or that the bound is tight.

The document holds the system, with the closures of its hidden states, as `system_models` reads and checks it.
Polynomials whose sign is needed on the domain are shown by the comparisons of the document. Then one of these
is checked:

family    For pairs of terminal states in rel[i]: the same actions are enabled, and for each a bijection of
          the supports of the closures maps to related states in rel[i] with equal probability, or (i > 0) to
          states related in rel[i−1] with probabilities that differ by a factor of at most e^δ. Insertions of
          data points at reachable states stay in rel[t], and 1 ≤ e^δ, with e^{tδ} within the bound ([T]).
          A level of the document is `[x, y, i]`: x and y are in rel[i], and in all later ones.
costs     Classes of states that are bisimilar. C(x, y) ≥ 1 for pairs of classes: the same actions are
          enabled, and for each an injection of supports with ν1(z)·C(z, β(z)) ≤ C(x, y)·ν2(β(z)). Then
          Pr(.|x) ≤ C(x, y)·Pr(.|y), and the C of insertions are within the bound, which is at least 1.

With `partial` systems, all of this assumes that no input comes where it is not accepted. A witness or a loop
(`growth`) shows that the system is not private, and `tight` is a lower bound beside a proof; see
`system_witnesses`. With `tight`, the bound is not that of a case.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any, TypeVar

from .ledger import Evidence, KernelReport, Statement
from .quotient_values import QuotientValues, Value, alike, gathered, same, state_of
from .strict_reading import Misformed, Rejected, counted, shown
from .system_models import SILENT, CheckedSystem, Distribution, Pair, read_system
from .system_witnesses import check_growth, check_tight, check_violation, told_bounds

Entry = TypeVar("Entry")


def show(about: Evidence, statement: Statement) -> KernelReport:
    """Checks that an interactive system is private, or leaks.

    Raises:
        Rejected: that is not shown.
    """
    status = about.document["status"]
    _check_keys(statement, status)
    about.untied(statement["domain"])
    domain = about.domain(statement["domain"])
    if status == "violated":
        witness = statement.get("witness") or statement["growth"]
        if any(about.of("comparison")):
            raise Misformed("a violation needs no comparisons", "witness")
        values = QuotientValues.at(domain, witness["parameters"])
        system = read_system(statement, values)
        if "growth" in statement:
            line = check_growth(system, values, witness)
        else:
            line = check_violation(system, values, values.read(statement["ratio"]), witness)
        assumed = f", assuming that {ASSUMED}" if system.partial else ""
        return KernelReport(True, (line + assumed,), status=status)
    ask, ledger = about.comparisons(statement["domain"])
    values = QuotientValues.on(domain, ask)
    system, ratio = read_system(statement, values), values.read(statement["ratio"])
    lines = [PROOFS[statement["proof"]["kind"]](system, values, ratio, statement["proof"])]
    if "tight" in statement:
        told = statement["tight"]
        if told is not None and "parameters" in told:  # the lower bound is one at this point
            values = QuotientValues.at(domain, told["parameters"])
            system, ratio = read_system(statement, values), values.read(statement["ratio"])
        lines += [check_tight(system, values, ratio, told), told_bounds(statement["ratio"], told)]
        status = "budget"
    lines.append(f"{counted(ledger.proved + ledger.trusted, 'comparison')} with parameters")
    lines += [f"trusted to {shown(name)}" for name in sorted(ledger.solvers)]
    return replace(ledger.report(status, lines), side_condition=ASSUMED if system.partial else "")


ASSUMED = "no input comes where it is not accepted"
SHOWN_BY = {"violated": ({"witness"}, {"growth"}), "holds": ({"proof"}, {"proof", "tight"})}


def _check_keys(statement: Statement, status: str) -> None:
    """Checks that a statement has what goes with what is said of it, and nothing else."""
    if status == "unknown":
        raise Misformed("a document that says 'unknown' has nothing to check", "proof")
    given = {"witness", "growth", "proof", "tight", "reason"} & statement.keys()
    if given not in SHOWN_BY[status]:
        raise Misformed(
            f"{status!r} does not go with {' and '.join(sorted(given)) or 'nothing that shows it'}"
        )


def matched(rows: Iterable[Iterable[Hashable]]) -> bool:
    """Tells whether different choices from each row exist, by augmenting paths."""
    choices = list(map(list, rows))
    owner: dict[Hashable, int] = {}

    def place(row: int, tried: set[Hashable]) -> bool:
        for choice in choices[row]:
            if choice not in tried:
                tried.add(choice)
                if choice not in owner or place(owner[choice], tried):
                    owner[choice] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(choices)))


def _partners(table: Mapping[Pair, Entry], itself: Entry) -> Callable[[int], Mapping[int, Entry]]:
    """Returns what gives the partners of a state or class, with their entries; it is one of its own."""
    found: dict[int, dict[int, Entry]] = {}
    for (x, y), entry in table.items():
        found.setdefault(x, {})[y] = entry
    return lambda x: {**found.get(x, {}), x: itself}


def check_family(system: CheckedSystem, values: QuotientValues, ratio: Value, proof: Any) -> str:
    """Checks an unwinding family and that it covers all insertions; returns what it shows in words."""
    step, steps = values.read(proof["delta"]), proof["steps"]
    if not values.at_most(Fraction(1), step):
        raise Rejected("a step is not shown to be at least one")
    if not 0 <= steps <= 10_000:
        raise Rejected("the number of steps is none")
    levels: dict[Pair, int] = {}
    for x, y, level in proof["levels"]:
        if level < 0:
            raise Rejected("a level is none")
        x, y = state_of(x, system.size), state_of(y, system.size)
        levels[min(x, y), max(x, y)] = level
    partners = _partners({**levels, **{(y, x): level for (x, y), level in levels.items()}}, 0)

    def bijection(
        mu: Distribution, nu: Distribution, level: int, fits: Callable[[Value, Value], bool]
    ) -> bool:
        """Tells whether states that are related in a level can be matched."""
        return matched(
            [r for r, first in partners(s).items() if r in nu and first <= level and fits(w, nu[r])]
            for s, w in mu.items()
        )

    def near(w: Value, v: Value) -> bool:
        return values.at_most(w, step * v) and values.at_most(v, step * w)

    for (x, y), level in levels.items():
        if system.is_hidden(x) or system.is_hidden(y):
            raise Rejected("a pair has a hidden state")
        for action in system.common(x, y):
            mu, nu = system.after(x, action), system.after(y, action)
            if len(mu) != len(nu):
                raise Rejected(f"pair ({x}, {y}), action {action}: the supports have different sizes")
            if not bijection(mu, nu, level, same) and not bijection(mu, nu, level - 1, near):
                raise Rejected(f"pair ({x}, {y}) of level {level}, action {action}: no bijection of supports")
    for state, distribution in system.insertions():
        if not all(
            partners(state).get(s, steps + 1) <= steps for s in distribution
        ):  # never to what does not end
            raise Rejected(f"an insertion at state {state} is not covered")
    if not values.at_most(prod([step] * steps, start=Fraction(1)), ratio):
        raise Rejected("no claim shows that the steps together are within the bound")
    return f"unwinding family: {counted(len(levels), 'pair')}, {counted(steps, 'step')}: proved"


def check_costs(system: CheckedSystem, values: QuotientValues, ratio: Value, proof: Any) -> str:
    """Checks costs of pairs of bisimilar classes against the bound; returns what they show in words."""
    if not values.at_most(Fraction(1), ratio):
        raise Rejected("the bound is not shown to be at least one")
    states = system.reachable()
    classes: dict[int, int] = {SILENT: SILENT}
    for block, members in enumerate(proof["classes"]):
        classes.update({state_of(s, system.size): block for s in members})
    if any(s not in classes for s in states):
        raise Rejected("a state has no class")
    moves: dict[int, dict[int, dict[int, Value]]] = {}
    leader: dict[int, int] = {}
    for state in states:
        own = {
            action: gathered((classes[s], w) for s, w in system.after(state, action).items())
            for action in system.rows[state]
        }
        first = moves.setdefault(classes[state], own)
        other = leader.setdefault(classes[state], state)
        if own.keys() != first.keys() or not all(alike(own[a], first[a]) for a in first):
            raise Rejected(f"states {other} and {state} are not bisimilar")
    costs = {(x, y): values.read(text) for x, y, text in proof["costs"]}
    partners = _partners(costs, Fraction(1))
    for (x, y), cost in costs.items():
        if x == y or not {x, y} <= leader.keys() or not values.at_most(Fraction(1), cost):
            raise Rejected("a cost is below one, or one of a class with itself, or of what is no class")
        for action in system.common(leader[x], leader[y]):
            nu = moves[y][action]
            if not matched(
                [k for k, c in partners(z).items() if k in nu and values.at_most(w * c, cost * nu[k])]
                for z, w in moves[x][action].items()
            ):
                raise Rejected(f"classes ({x}, {y}), action {action}: the cost is too small")
    for state, distribution in system.insertions():
        here = classes[state]
        for there in {classes[s] for s in distribution} - {here}:
            both = (here, there), (there, here)
            if not all(pair in costs and values.at_most(costs[pair], ratio) for pair in both):
                raise Rejected(f"an insertion at state {state} is not within the bound")
    return f"costs: {len(costs)} pairs of classes: proved"


PROOFS = {"family": check_family, "costs": check_costs}
