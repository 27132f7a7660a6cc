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

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .claim_evidence import check_inside
from .evidence_polynomials import Poly, number
from .ledger import Ask, Evidence, KernelReport, Statement
from .proof_goals import WrittenClaim
from .rounded_constants import sign_in_exp
from .strict_reading import Misformed, Rejected, counted, shown
from .system_models import (
    SILENT,
    CheckedSystem,
    Pair,
    Weight,
    WeightSigns,
    after,
    check_closures,
    common,
    insertions,
    reachable,
    read_system,
    state_of,
)
from .system_witnesses import check_growth, check_tight, check_violation, told_bounds


def show(about: Evidence, statement: Statement) -> KernelReport:
    """Checks that an interactive system is private, or leaks.

    Raises:
        Rejected: that is not shown.
    """
    status = about.document["status"]
    _check_keys(statement, status)
    about.untied(statement["domain"])
    domain = about.domain(statement["domain"])
    names, exponent = domain.goal.names, domain.exponent
    if status == "violated":
        witness = statement.get("witness") or statement["growth"]
        if any(about.of("comparison")):
            raise Misformed("a violation needs no comparisons", "witness")
        numbers = WeightSigns(names, exponent, _at_point(domain, witness["parameters"]))
        system = read_system(statement["system"], numbers)
        check_closures(system, numbers, statement["closures"])
        if "growth" in statement:
            line = check_growth(system, numbers, witness)
        else:
            line = check_violation(system, numbers, numbers.read(statement["ratio"]), witness)
        return KernelReport(True, (line + _assumed(system),), status=status)
    ask, ledger = about.comparisons(statement["domain"])
    numbers = WeightSigns(names, exponent, ask)
    system = read_system(statement["system"], numbers)
    check_closures(system, numbers, statement["closures"])
    ratio = numbers.read(statement["ratio"])
    line = PROOFS[statement["proof"]["kind"]](system, numbers, ratio, statement["proof"])
    tight = _tight(statement, domain, system, numbers, ratio) if "tight" in statement else []
    count = ledger.proved + ledger.trusted
    lines = [line + _assumed(system), *tight, f"{counted(count, 'comparison')} with parameters"]
    lines += [f"trusted to {shown(name)}" for name in sorted(ledger.solvers)]
    return ledger.report("budget" if tight else status, lines)


def _check_keys(statement: Statement, status: str) -> None:
    """Checks that a statement has what goes with what is said of it, and nothing else."""
    if status == "unknown":
        raise Misformed("there is nothing to check in what says 'unknown'", "proof")
    if "witness" in statement and "growth" in statement:
        raise Misformed("a witness comes without a loop that makes the ratio grow", "growth")
    shows = {"witness": "witness" in statement or "growth" in statement, "proof": "proof" in statement}
    for name, its in (("witness", "violated"), ("proof", "holds")):
        if shows[name] != (status == its):
            raise Misformed(f"a {name} comes with the status {its}, and only with it", name)
    if "tight" in statement and status != "holds":
        raise Misformed("a lower bound comes with the status holds only", "tight")
    if "reason" in statement:
        raise Misformed("a reason comes with the status unknown only", "reason")


def _tight(
    statement: Statement, domain: WrittenClaim, system: CheckedSystem, numbers: WeightSigns, ratio: Weight
) -> list[str]:
    """Checks the lower bound of a budget, on the whole domain or at the point that it names."""
    told = statement["tight"]
    if told is not None and "parameters" in told:
        numbers = WeightSigns(numbers.names, numbers.exponent, _at_point(domain, told["parameters"]))
        system = read_system(statement["system"], numbers)
        check_closures(system, numbers, statement["closures"])
        ratio = numbers.read(statement["ratio"])
    return [check_tight(system, numbers, ratio, told), told_bounds(statement["ratio"], told)]


def _assumed(system: CheckedSystem) -> str:
    return ", assuming that no input comes where it is not accepted" if system.partial else ""


def _at_point(domain: WrittenClaim, parameters: Any) -> Ask:
    """Decides signs at one point, which has to be one of the domain."""
    check_inside(domain, parameters)
    values = {name: number(text) for name, text in parameters.items()}

    def ask(poly: Poly, strict: bool) -> bool:
        coefficients: dict[int, Fraction] = {}
        for x, c in poly.items():
            power = 0
            for name, e in zip(domain.goal.names, x, strict=True):
                if name in values:
                    c *= values[name] ** e
                else:
                    power = e
            coefficients[power] = coefficients.get(power, Fraction(0)) + c
        found = sign_in_exp(coefficients, domain.exponent)
        return found > 0 if strict else found >= 0

    return ask


def _label(system: CheckedSystem, state: int) -> object:
    """Returns what is the same for all states that a state may be related to."""
    if state == SILENT:
        return SILENT
    kind = system.kind(state)
    return next(iter(system.rows[state])) if kind == "response" else kind


def _by_label(system: CheckedSystem, states: Sequence[int]) -> dict[object, list[int]]:
    found: dict[object, list[int]] = {}
    for place, state in enumerate(states):
        found.setdefault(_label(system, state), []).append(place)
    return found


def matched(rows: Sequence[Sequence[int]]) -> bool:
    """Tells whether different choices from each row exist, by augmenting paths."""
    owner: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for choice in rows[row]:
            if choice not in tried:
                tried.add(choice)
                if choice not in owner or place(owner[choice], tried):
                    owner[choice] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(rows)))


def check_family(system: CheckedSystem, numbers: WeightSigns, ratio: Weight, proof: Any) -> str:
    """Checks an unwinding family and that it covers all insertions; returns what it shows in words."""
    step, steps = numbers.read(proof["delta"]), proof["steps"]
    if not numbers.at_most([numbers.one], [step]):
        raise Rejected("a step is not shown to be at least one")
    if not 0 <= steps <= 10_000:
        raise Rejected("the number of steps is none")
    levels: dict[Pair, int] = {}
    for x, y, level in proof["levels"]:
        if level < 0:
            raise Rejected("a level is none")
        x, y = state_of(x, len(system.rows)), state_of(y, len(system.rows))
        levels[(min(x, y), max(x, y))] = level

    def related(x: int, y: int, level: int) -> bool:
        return x == y or levels.get((min(x, y), max(x, y)), level + 1) <= level

    for (x, y), level in levels.items():
        if system.is_hidden(x) or system.is_hidden(y):
            raise Rejected("a pair has a hidden state")
        for action in common(system, x, y):
            mu, nu = after(system, numbers, x, action), after(system, numbers, y, action)
            if len(mu) != len(nu):
                raise Rejected(f"pair ({x}, {y}), action {action}: the supports have different sizes")
            alike = _by_label(system, [r for r, _ in nu])
            near_by = [[(k, *nu[k]) for k in alike.get(_label(system, s), ())] for s, _ in mu]
            same = [
                [k for k, r, v in row if related(s, r, level) and numbers.equal(w, v)]
                for (s, w), row in zip(mu, near_by, strict=True)
            ]
            if matched(same):
                continue
            near = [
                [
                    k
                    for k, r, v in row
                    if related(s, r, level - 1)
                    and numbers.at_most([w], [step, v])
                    and numbers.at_most([v], [step, w])
                ]
                for (s, w), row in zip(mu, near_by, strict=True)
            ]
            if not level or not matched(near):
                raise Rejected(f"pair ({x}, {y}) of level {level}, action {action}: no bijection of supports")
    for state, distribution in insertions(system, numbers):
        if not all(related(state, s, steps) for s, _ in distribution):  # never to what does not end
            raise Rejected(f"an insertion at state {state} is not covered")
    if not numbers.at_most([step] * steps, [ratio]):
        raise Rejected("no claim shows that the steps together are within the bound")
    return f"unwinding family: {counted(len(levels), 'pair')}, {counted(steps, 'step')}: proved"


def check_costs(system: CheckedSystem, numbers: WeightSigns, ratio: Weight, proof: Any) -> str:
    """Checks costs of pairs of bisimilar classes against the bound; returns what they show in words."""
    if not numbers.at_most([numbers.one], [ratio]):
        raise Rejected("the bound is not shown to be at least one")
    states = reachable(system, numbers)
    classes: dict[int, int] = {SILENT: SILENT}
    for block, members in enumerate(proof["classes"]):
        classes.update({state_of(s, len(system.rows)): block for s in members})
    if any(s not in classes for s in states):
        raise Rejected("a state has no class")
    first: dict[int, dict[int, dict[int, Weight]]] = {}
    leader: dict[int, int] = {}
    for state in states:
        moves = {}
        for action in system.rows[state]:
            total: dict[int, list[Weight]] = {}
            for s, w in after(system, numbers, state, action):
                total.setdefault(classes[s], []).append(w)
            moves[action] = {b: ws[0] if len(ws) == 1 else numbers.sum(ws) for b, ws in total.items()}
        block = classes[state]
        if block not in first:
            first[block], leader[block] = moves, state
            continue
        if moves.keys() != first[block].keys() or any(
            moves[a].keys() != other.keys()
            or not all(numbers.equal(moves[a][b], w) for b, w in other.items())
            for a, other in first[block].items()
        ):
            raise Rejected(f"states {leader[block]} and {state} are not bisimilar")
    costs = {(x, y): numbers.read(text) for x, y, text in proof["costs"]}
    for (x, y), cost in costs.items():
        if x == y or not numbers.at_most([numbers.one], [cost]):
            raise Rejected("a cost is below one, or one of a class with itself")
        for action in common(system, leader[x], leader[y]):
            nu = list(first[y][action].items())
            alike = _by_label(system, [leader.get(other, SILENT) for other, _ in nu])
            rows = []
            for z, w in first[x][action].items():
                row = []
                for k in alike.get(_label(system, leader.get(z, SILENT)), ()):
                    other, v = nu[k]
                    left = [w] if z == other else [w, costs[z, other]] if (z, other) in costs else None
                    if left is not None and numbers.at_most(left, [cost, v]):
                        row.append(k)
                rows.append(row)
            if not matched(rows):
                raise Rejected(f"classes ({x}, {y}), action {action}: the cost is too small")
    for state, distribution in insertions(system, numbers):
        here = classes[state]
        for s, _ in distribution:
            there = classes[s]
            if s == SILENT or (
                here != there
                and not all(
                    p in costs and numbers.at_most([costs[p]], [ratio])
                    for p in ((here, there), (there, here))
                )
            ):
                raise Rejected(f"an insertion at state {state} is not within the bound")
    return f"costs: {len(costs)} pairs of classes: proved"


PROOFS = {"family": check_family, "costs": check_costs}
