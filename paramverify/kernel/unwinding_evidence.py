"""Checks evidence about interactive systems: standard library, and the checker of single claims.

The document holds the system: for each state the actions that it enables, each with a distribution. Inputs
are data points and queries, outputs responses and hidden actions. What is checked:

system    At most one output is enabled where one is, and otherwise all inputs (or, with `partial`, some).
          Probabilities are nonnegative and sum to one.
closures  For hidden states, group by group, where they end: ν(h) = Σ p(h, k)·ν(k). A group that leads to
          itself has numbers h ≥ 0 with h = 1 + Q·h, bounds of the expected number of steps in it, so it is
          left almost surely and the equations have one solution. A group that leads nowhere else never ends
          (⊥, -1).
family    For pairs of terminal states in rel[i]: the same actions are enabled, and for each a bijection of
          the supports of the closures maps to related states in rel[i] with equal probability, or (i > 0) to
          states related in rel[i−1] with probabilities that differ by a factor of at most e^δ. Insertions of
          data points at reachable states stay in rel[t], and 1 ≤ e^δ, with e^{tδ} within the bound.
          ([T])
costs     Classes of states that are bisimilar. C(x, y) ≥ 1 for pairs of classes: the same actions are
          enabled, and for each an injection of supports with ν1(z)·C(z, β(z)) ≤ C(x, y)·ν2(β(z)). Then
          Pr(.|x) ≤ C(x, y)·Pr(.|y), and the C of insertions are within the bound, which is at least 1.
witness   Two input sequences that differ in one inserted data point, and an observation whose probabilities,
          computed forwards at a point of the domain, exceed the bound.

tight, growth: lower bounds of budgets, in `system_witnesses`. With `tight` the bound is not that of a case.

Polynomials whose sign is needed on the domain are proved by the claims of the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd
from typing import Any

from . import evidence_shapes
from .claim_evidence import (
    KernelReport,
    Rejected,
    check_claim,
    check_obligations,
    check_points,
    check_witness,
    read_claim,
)
from .evidence_polynomials import Poly, number, parse, plus, whole
from .rounded_constants import sign_in_exp
from .strict_reading import Misformed, check, counted, shown
from .system_models import (
    SILENT,
    Ask,
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

FORMAT, VERSION = "paramverify-unwinding", 1
MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError)


def check_document(document: Any, expected: Any = None, ask: Ask | None = None) -> KernelReport:
    """Checks a document; `expected`, if given, is what its system and bound must be, derived from the case.

    `ask` decides signs in place of the claims of the document. Malformed documents of any kind give a report
    that is not accepted.
    """
    try:
        check(document, evidence_shapes.UNWINDING)
        if expected is not None and any(document[name] != value for name, value in expected.items()):
            raise Rejected("the evidence is about another system or another bound")
        return _check(document, ask)
    except Rejected as error:
        return KernelReport(False, (f"rejected: {error}",))
    except MALFORMED as error:
        return KernelReport(False, (f"rejected: malformed evidence: {error!r:.200}",))


def _check(document: Any, ask: Ask | None) -> KernelReport:
    domain = document["domain"]
    about = read_claim({**domain, "polynomial": "0"})
    names, exponent = about.goal.names, about.exponent
    status = document["status"]
    if status == "unknown":
        raise Misformed("there is nothing to check in what says 'unknown'", "status")
    if "witness" in document and "growth" in document:
        raise Misformed("a witness comes without a loop that makes the ratio grow", "growth")
    shows = {"witness": "witness" in document or "growth" in document, "proof": "proof" in document}
    for name, its in (("witness", "violated"), ("proof", "holds")):
        if shows[name] != (status == its):
            raise Misformed(f"a {name} comes with the status {its}, and only with it", "status")
    if "tight" in document and status != "holds":
        raise Misformed("a lower bound comes with the status holds only", "status")
    if "reason" in document:
        raise Misformed("a reason comes with the status unknown only", "reason")
    own = check_obligations(document)
    check_points(document, [domain])
    if status == "violated":
        witness = document.get("witness") or document["growth"]
        if document.get("claims"):
            raise Misformed("a violation needs no comparisons", "claims")
        numbers = WeightSigns(names, exponent, _at_point(domain, witness["parameters"]))
        system = read_system(document["system"], numbers)
        check_closures(system, numbers, document["closures"])
        if "growth" in document:
            line = check_growth(system, numbers, witness)
        else:
            line = check_violation(system, numbers, numbers.read(document["ratio"]), witness)
        counts = own.counts["proved"], own.counts["trusted"]
        own_lines = (line + _assumed(system), *own.lines)
        return KernelReport(True, own_lines, *counts, status="violated", solvers=tuple(sorted(own.solvers)))
    claims = document.get("claims", [])
    words: list[tuple[str, ...]] = []
    numbers = WeightSigns(names, exponent, ask or replayed_signs(domain, claims, words))
    system = read_system(document["system"], numbers)
    check_closures(system, numbers, document["closures"])
    kind = document["proof"]["kind"]
    ratio = numbers.read(document["ratio"])
    line = PROOFS[kind](system, numbers, ratio, document["proof"])
    tight = _tight(document, system, numbers, ratio) if "tight" in document else []
    count = len(claims)
    trusted = sum(map(bool, words))
    solvers = sorted(own.solvers.union(*words))
    lines = (line + _assumed(system), *tight, f"{counted(count, 'comparison')} with parameters", *own.lines)
    lines += tuple(f"trusted to {shown(name)}" for name in solvers)
    return KernelReport(
        True,
        lines,
        count - trusted + own.counts["proved"],
        trusted + own.counts["trusted"],
        status="budget" if tight else "holds",
        solvers=tuple(solvers),
    )


def _tight(document: Any, system: CheckedSystem, numbers: WeightSigns, ratio: Weight) -> list[str]:
    """Checks the lower bound of a budget, on the whole domain or at the point that it names."""
    told = document["tight"]
    if told is not None and "parameters" in told:
        numbers = WeightSigns(
            numbers.names, numbers.exponent, _at_point(document["domain"], told["parameters"])
        )
        system = read_system(document["system"], numbers)
        check_closures(system, numbers, document["closures"])
        ratio = numbers.read(document["ratio"])
    return [check_tight(system, numbers, ratio, told), told_bounds(document["ratio"], told)]


def _assumed(system: CheckedSystem) -> str:
    return ", assuming that no input comes where it is not accepted" if system.partial else ""


def replayed_signs(domain: Any, claims: Any, words: list[tuple[str, ...]]) -> Ask:
    """Replays the claims of the document; a sign is shown if it is one of them.

    `words` gets the solvers that each claim rests on.
    """
    names = domain["variables"]
    weak: set[object] = set()
    strong: set[object] = set()
    for place, entry in enumerate(claims):
        if ("negated" in entry) != entry["strict"]:
            raise Misformed("the negative comes with a strict comparison", "claims", place)
        claim = {**domain, "polynomial": entry["polynomial"]}
        poly = parse(entry["polynomial"], names)
        if entry["strict"]:
            # f > 0 if −1 ≥ 0 holds on what is left of the domain with −f ≥ 0.
            negated = [entry["negated"], ">="]
            if plus(poly, parse(entry["negated"], names)):
                raise Rejected("the negative of a polynomial is another one")
            claim |= {"polynomial": "-1", "constraints": [*domain["constraints"], negated]}
        words.append(check_claim(claim, entry["proof"]))
        known = strong if entry["strict"] else weak
        if _key(poly) in known:
            raise Misformed("the same comparison again", "claims", place)
        known.add(_key(poly))

    def ask(poly: Poly, strict: bool) -> bool:
        return _key(poly) in strong or (not strict and _key(poly) in weak)

    return ask


def _key(poly: Poly) -> object:
    """Returns what is the same for all positive multiples of a polynomial."""
    coefficients, _ = whole(poly)
    common = gcd(*coefficients.values())
    return frozenset((x, c // common) for x, c in coefficients.items())


def _at_point(domain: Any, parameters: Any) -> Ask:
    """Decides signs at one point, which has to be one of the domain."""
    names = tuple(domain["variables"])
    # The claim −1 ≥ 0 fails wherever it is asked for: what is checked is that the point is in the domain.
    check_witness({**domain, "polynomial": "-1"}, parameters)
    values = {name: number(text) for name, text in parameters.items()}

    def ask(poly: Poly, strict: bool) -> bool:
        coefficients: dict[int, Fraction] = {}
        for x, c in poly.items():
            power = 0
            for name, e in zip(names, x, strict=True):
                if name in values:
                    c *= values[name] ** e
                else:
                    power = e
            coefficients[power] = coefficients.get(power, Fraction(0)) + c
        exponent = number(domain["constant"]) if "constant" in domain else None
        found = sign_in_exp(coefficients, exponent)
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
