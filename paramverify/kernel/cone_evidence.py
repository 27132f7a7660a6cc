"""Checks certificates about all sequences at once.

The document holds a hidden Markov model: T_ω[s,t] are its steps, π and τ the weights of secrets, M their
masses, c = c_n/c_d the ratio bound. No weight is plainly a negative number; that those with parameters are
nowhere negative on the domain is looked at in `plain_signs`. Where it is not plain, a line says so, and the
case has to show it. For a vector v, F(v) stands for c_n·(τ·v)·M_π − c_d·(π·v)·M_τ, for each secret pair and
direction. The sequence ω is within the bound iff F(v_ω) ≥ 0 with v_ω = T_ω1···T_ωk·1; F is linear. Vectors
have whole numbers as entries, up to a positive factor.

levels   For each length, every T_ω·v with v kept for the length before is kept, or dropped: a nonnegative
         combination of kept ones and of ones before it in the list. So v_ω is such a combination for every
         sequence, and F(v) ≥ 0 is shown for the kept ones of the lengths in question. A combination may
         be larger in states `below`, which only the left secret reaches, and smaller in states `above`,
         which only the right one reaches: F decreases in the former and increases in the latter, and steps
         from other states do not lead there.
closed   T_ω·1 and T_ω·r are nonnegative combinations of rays, and F(r) ≥ 0 is shown for every ray r.
ratios   The cone {v : n·v ≥ 0} contains 1 and has no negative vectors; n·T_ω·r ≥ 0 is shown for its extreme
         rays, so T_ω maps it into itself. All states after `depth` steps are in `states`, where the cone
         lives. F(v_ω) ≥ 0 is shown for shorter sequences, and F(T_w·r) ≥ 0 for those of that length and
         every ray.
loop     Pr(u wⁿ z | left) is at least, Pr(u wⁿ z | right) at most, a multiple of aⁿ and bⁿ, with a > b.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm
from typing import Any

from .claim_evidence import check_inside
from .evidence_polynomials import Poly, constant, number, parse, plus, times
from .ledger import Evidence, KernelReport, Statement
from .plain_signs import Signs, signs_of
from .strict_reading import Misformed, Rejected, counted, shown

NOT_SHOWN = "not shown by this document alone: that no weight, no mass and no side of the bound is negative"
STATUSES = {"levels": "holds", "closed": "holds", "ratios": "holds", "loop": "violated"}


def show(about: Evidence, statement: Statement) -> KernelReport:
    """Checks a certificate about sequences of many lengths.

    Raises:
        Rejected: it shows nothing.
    """
    status = STATUSES[statement["rule"]]
    if about.document["status"] != status:
        raise Misformed(f"a certificate of this kind can only show {status!r}", "status")
    about.untied(statement["domain"])
    model = read_model(statement["model"], about.domain(statement["domain"]).goal.names)
    report = RULES[statement["rule"]](about, statement, model)
    is_shown = check_signs(signs_of(about, statement["domain"]), model)
    return replace(report, lines=report.lines + (() if is_shown else (NOT_SHOWN,)), status=status)


def check_signs(signs: Signs, model: CheckedModel) -> bool:
    """Tells whether weights, masses and sides of the bound of a model are shown never to be negative.

    Raises:
        Rejected: one is nowhere positive, and not 0.
    """
    found = {signs.of(side) for side in model.ratio}
    found |= {signs.of(w) for table in model.tables for row in table.values() for w in row.values()}
    for _, _, *starts in model.pairs:
        found |= {signs.of(poly) for start in starts for poly in (start.mass, *start.weights.values())}
    if -1 in found:
        raise Rejected("a weight, a mass or a side of the bound is negative")
    return 0 not in found


# --- vectors and cones ------------------------------------------------------------------------------

MAX_NORMALS = 40

Vector = tuple[Fraction, ...]


def read_vector(data: Any, size: int) -> tuple[int, ...]:
    """Reads a vector of whole numbers."""
    values = [number(x) for x in data]
    if len(values) != size or any(x.denominator != 1 for x in values):
        raise Rejected("not a vector of whole numbers")
    return tuple(int(x) for x in values)


def combined(
    weights: Mapping[int, Fraction], vectors: Mapping[int, Sequence[int]], size: int
) -> list[Fraction]:
    """Returns Σ λ_k·v_k for λ ≥ 0."""
    if any(w < 0 for w in weights.values()):
        raise Rejected("a combination with a negative weight")
    total = [Fraction(0)] * size
    for k, w in weights.items():
        total = [a + w * x for a, x in zip(total, vectors[k], strict=True)]
    return total


def extreme_rays(normals: Sequence[Sequence[int]], size: int) -> list[Vector]:
    """Returns the extreme rays of a cone {v : n·v ≥ 0} that has other vectors than 0.

    They are those on which normals of rank size − 1 vanish. There is one if and only if the rank of all is at
    least size − 1, and with v also −v if it is not more: then the cone contains a line.
    """
    if not size:
        return []
    if size > 5 or len(normals) > MAX_NORMALS:
        raise Rejected("the cone is too large")
    found: dict[Vector, None] = {}
    for chosen in combinations(normals, size - 1):
        line = minors(chosen)
        sides = {sum(a * x for a, x in zip(n, line, strict=True)) for n in normals}
        scale = max(map(abs, line))
        for sign in (1, -1):
            if scale and all(sign * side >= 0 for side in sides):
                found[tuple(Fraction(sign * x, scale) for x in line)] = None
    if not found or any(tuple(-x for x in ray) in found for ray in found):
        raise Rejected("the cone contains a line")
    return list(found)


def minors(rows: Sequence[Sequence[int]]) -> list[int]:
    """Returns the signed minors of m rows of m + 1 numbers: orthogonal to all, 0 if their rank is less."""
    if not rows:
        return [1]
    found = []
    for k in range(len(rows) + 1):
        first, *others = [(*row[:k], *row[k + 1 :]) for row in rows]
        found.append((-1) ** k * sum(a * b for a, b in zip(first, minors(others), strict=True)))
    return found


# --- models -----------------------------------------------------------------------------------------

MAX_STATES = 100_000
Table = dict[int, dict[int, Poly]]  # by state and successor
PolyVector = dict[int, Poly]


@dataclass(frozen=True)
class Start:
    """A conditioned prior: weights by state, and their mass."""

    weights: PolyVector
    mass: Poly


@dataclass(frozen=True)
class CheckedModel:
    """What the document is about."""

    names: tuple[str, ...]
    states: int
    tables: tuple[Table, ...]
    pairs: tuple[tuple[str, str, Start, Start], ...]
    ratio: tuple[Poly, Poly]


def read_model(data: Any, names: tuple[str, ...]) -> CheckedModel:
    """Reads a model of a statement, with the variables of its domain."""
    states, count = data["states"], len(data["observations"])
    if not 0 < states <= MAX_STATES:
        raise Rejected("the number of states is out of range")
    tables: list[Table] = [{} for _ in range(count)]
    for state, observation, successor, weight in data["steps"]:
        if not all(0 <= k < n for k, n in ((state, states), (observation, count), (successor, states))):
            raise Rejected("a step with an unknown state or observation")
        row = tables[observation].setdefault(state, {})
        row[successor] = plus(row.get(successor, {}), read_weight(weight, names))

    def start(entry: Any) -> Start:
        weights = {int(s): read_weight(w, names) for s, w in entry["weights"].items()}
        if not weights.keys() <= set(range(states)):
            raise Rejected("a prior with an unknown state")
        mass = read_weight(entry["mass"], names)
        if not mass:
            raise Rejected("a secret that is impossible for every prior")
        return Start(weights, mass)

    if not data["pairs"]:
        raise Misformed("nothing is compared", "model", "pairs")
    known: set[frozenset[str]] = set()
    for k, (left, right, *_) in enumerate(data["pairs"]):
        if left == right or {left, right} in known:
            raise Misformed("a pair is listed twice, or both its secrets are the same", "model", "pairs", k)
        known.add(frozenset((left, right)))
    pairs = tuple((left, right, start(pi), start(tau)) for left, right, pi, tau in data["pairs"])
    top, bottom = (read_weight(part, names) for part in data["ratio"])
    if not bottom:
        raise Rejected("the denominator of the bound is zero")
    return CheckedModel(names, states, tuple(tables), pairs, (top, bottom))


def read_weight(text: str, names: Sequence[str]) -> Poly:
    """Reads a weight, which must not be a negative number; of one with parameters that is taken to be so."""
    poly = parse(text, names)
    if not any(map(any, poly)) and any(c < 0 for c in poly.values()):
        raise Rejected(f"a negative weight: {shown(text)}")
    return poly


def bounds(model: CheckedModel, vector: PolyVector, directions: Sequence[int] = (0, 1)) -> Iterator[Poly]:
    """Yields F(v) for every secret pair and the given directions (1: right secret against left one)."""
    top, bottom = model.ratio
    for _, _, pi, tau in model.pairs:
        left, right = times(dot(pi.weights, vector), tau.mass), times(dot(tau.weights, vector), pi.mass)
        for turned in directions:
            a, b = (right, left) if turned else (left, right)
            yield plus(times(top, b), times(bottom, a), Fraction(-1))


def dot(row: PolyVector, vector: PolyVector) -> Poly:
    """Returns Σ_s row(s)·v(s)."""
    total: Poly = {}
    for state, weight in row.items():
        if state in vector:
            total = plus(total, times(weight, vector[state]))
    return total


def apply(table: Table, vector: PolyVector) -> PolyVector:
    """Returns T·v; states with zero are left out."""
    return {state: total for state, row in table.items() if (total := dot(row, vector))}


def lift(model: CheckedModel, vector: Iterable[Fraction | int], states: Iterable[int]) -> PolyVector:
    """Returns a vector of numbers on some states as one of polynomials."""
    width = len(model.names)
    return {s: constant(Fraction(x), width) for s, x in zip(states, vector, strict=True) if x}


def numeric(model: CheckedModel) -> list[list[list[tuple[int, int]]]]:
    """Returns the matrices by rows of (column, whole number), multiplied by one positive number."""
    weights = [w for table in model.tables for row in table.values() for w in row.values()]
    if any(any(map(any, w)) for w in weights):
        raise Rejected("the steps have parameters")
    numbers = [value for w in weights for value in w.values()]
    if any(value < 0 for value in numbers):
        raise Rejected("a step has a negative weight")
    scale = lcm(*(value.denominator for value in numbers))
    zero = (0,) * len(model.names)
    return [
        [[(t, int(w[zero] * scale)) for t, w in table.get(s, {}).items() if w] for s in range(model.states)]
        for table in model.tables
    ]


def moved(matrix: list[list[tuple[int, int]]], vector: Sequence[int]) -> tuple[int, ...]:
    """Returns T·v divided by the greatest common divisor of its entries."""
    found = [sum(w * vector[t] for t, w in row) for row in matrix]
    divisor = gcd(*found) or 1
    return tuple(x // divisor for x in found)


def reached(model: CheckedModel, side: int, turned: int) -> set[int]:
    """Returns the states that secrets of one side reach."""
    found = {s for _, _, pi, tau in model.pairs for s in ((pi, tau)[side ^ turned]).weights}
    pending = list(found)
    while pending:
        state = pending.pop()
        for table in model.tables:
            for successor in table.get(state, {}):
                if successor not in found:
                    found.add(successor)
                    pending.append(successor)
    return found


# --- what is shown by comparisons -------------------------------------------------------------------


def settle(about: Evidence, statement: Statement, wanted: Iterable[Poly]) -> KernelReport:
    """Checks that each polynomial is shown not to be negative on the domain, or is plainly so."""
    ask, ledger = about.comparisons(statement["domain"])
    count = 0
    for poly in wanted:
        count += 1
        trivial = not any(map(any, poly)) and all(c >= 0 for c in poly.values())
        if not trivial and not ask(poly, False):
            raise Rejected("a required claim is not proved")
    claims = ledger.proved + ledger.trusted
    how = "proved or trusted" if ledger.trusted else "proved"
    lines = [f"{how}: {counted(claims, 'claim')}, from which all {count} that are needed follow"]
    return ledger.report("", [*lines, *(f"trusted to {shown(name)}" for name in sorted(ledger.solvers))])


# --- the rules --------------------------------------------------------------------------------------


def levels_rule(about: Evidence, statement: Statement, model: CheckedModel) -> KernelReport:
    """See `levels` above."""
    tables = numeric(model)
    vectors = {k: read_vector(v, model.states) for k, v in enumerate(statement["vectors"])}
    if any(x < 0 for v in vectors.values() for x in v):
        raise Rejected("a vector with a negative entry")
    lengths = set(statement["lengths"])
    if not lengths or min(lengths) < 1:
        raise Rejected("lengths must be positive whole numbers")
    wanted: list[Poly] = []
    directions: set[int] = set()
    for run in statement["runs"]:
        below, above, turns = set(run["below"]), set(run["above"]), run["directions"]
        directions.update(turns)
        for turned in turns:
            left, right = (reached(model, side, turned) for side in (0, 1))
            if below & right or above & left:
                raise Rejected("a state that both secrets reach is not of one side")
        if len(run["levels"]) < max(lengths):
            raise Rejected("a length is missing")
        kept: list[tuple[int, ...]] = [(1,) * model.states]
        for length, level in enumerate(run["levels"], 1):
            settled = {k: vectors[k] for k in level["kept"]}
            following = list(settled.values())
            for k, entry in level["dropped"]:
                total = combined({int(j): number(w) for j, w in entry.items()}, settled, model.states)
                for s, (x, y) in enumerate(zip(vectors[k], total, strict=True)):
                    if not (x == y or (s in below and x <= y) or (s in above and x >= y)):
                        raise Rejected("a vector differs from the combination that it is said to be")
                settled[k] = vectors[k]
            known = set(settled.values())
            for vector in kept:
                for table in tables:
                    found = moved(table, vector)
                    if any(found) and found not in known:
                        raise Rejected(f"a vector of length {length} is missing")
            kept = following
            if length in lengths:
                for vector in kept:
                    wanted += bounds(model, lift(model, vector, range(model.states)), turns)
    if directions != {0, 1}:
        raise Rejected("a direction is missing")
    return settle(about, statement, wanted)


def closed_rule(about: Evidence, statement: Statement, model: CheckedModel) -> KernelReport:
    """See `closed` above."""
    tables = numeric(model)
    rays = {k: read_vector(v, model.states) for k, v in enumerate(statement["rays"])}
    sources = [*rays.values(), (1,) * model.states]
    if len(statement["steps"]) != len(sources):
        raise Rejected("a step is missing")
    for source, row in zip(sources, statement["steps"], strict=True):
        for table, entry in zip(tables, row, strict=True):
            weights = {int(k): number(w) for k, w in entry.items()}
            if combined(weights, rays, model.states) != [*moved(table, source)]:
                raise Rejected("a step leaves the cone")
    every = range(model.states)
    return settle(
        about, statement, (f for ray in rays.values() for f in bounds(model, lift(model, ray, every)))
    )


def ratios_rule(about: Evidence, statement: Statement, model: CheckedModel) -> KernelReport:
    """See `ratios` above."""
    states, depth = statement["states"], statement["depth"]
    if not 1 <= depth <= 20 or len(set(states)) != len(states):
        raise Rejected("the depth or the states are out of range")
    check_tail(model, set(states), depth)
    normals = [read_vector(n, len(states)) for n in statement["normals"]]
    if any(sum(n) < 0 for n in normals):
        raise Rejected("the cone does not contain 1")
    rays = extreme_rays(normals, len(states))
    if any(x < 0 for ray in rays for x in ray):
        raise Rejected("the cone has vectors with negative entries")
    lifted = [lift(model, ray, states) for ray in rays]
    # If a normal is not negative, its product with T_ω·r is not, either.
    sides = [lift(model, normal, states) for normal in normals if min(normal) < 0]
    wanted = [dot(side, apply(table, ray)) for table in model.tables for ray in lifted for side in sides]
    short, long = [lift(model, (1,) * model.states, range(model.states))], lifted
    for length in range(1, depth + 1):
        short = [apply(table, v) for v in short for table in model.tables]
        long = [apply(table, v) for v in long for table in model.tables]
        for vector in short if length < depth else long:
            wanted += bounds(model, vector)
    return settle(about, statement, wanted)


def check_tail(model: CheckedModel, states: set[int], depth: int) -> None:
    """Checks that after so many steps every state is one of these, and that they are not left again."""
    after = {s: {t for table in model.tables for t in table.get(s, {})} for s in range(model.states)}
    if not states <= after.keys() or any(not after[s] <= states for s in states):
        raise Rejected("the states are left by a step")
    here = {s for _, _, pi, tau in model.pairs for start in (pi, tau) for s in start.weights}
    for _ in range(depth):
        here = {t for s in here for t in after[s]}
    if not here <= states:
        raise Rejected("a state is missing after the steps")


def loop_rule(about: Evidence, statement: Statement, model: CheckedModel) -> KernelReport:
    """See `loop` above; the model has numbers only, those at the point."""
    check_inside(about.domain(statement["domain"]), statement["point"])
    if any(about.of("comparison")):
        raise Rejected("a loop needs no comparisons")
    tables = numeric(model)
    left, right = (dict(start) for start in loop_starts(statement, model))
    u, w, z = (statement[name] for name in ("prefix", "loop", "suffix"))
    if not w or not all(0 <= o < len(tables) for o in (*u, *w, *z)):
        raise Rejected("an unknown observation, or no loop")
    left, right = (pushed(tables, start, u) for start in (left, right))
    state, (a, b) = statement["state"], (number(x) for x in statement["rates"])
    bound = {int(s): number(x) for s, x in statement["bounds"].items()}
    after = [Fraction(1)] * model.states
    for observation in reversed(z):
        after = [sum((c * after[t] for t, c in row), Fraction(0)) for row in tables[observation]]
    if pushed(tables, {state: Fraction(1)}, w).get(state, 0) < a:
        raise Rejected("the loop is less likely than it is said to be")
    if not right.keys() <= bound.keys():
        raise Rejected("a state of the other secret has no bound")
    for s, x in bound.items():
        row = pushed(tables, {s: Fraction(1)}, w)
        if not row.keys() <= bound.keys():
            raise Rejected("a state that loops lead to has no bound")
        if after[s] > x or sum((c * bound[t] for t, c in row.items()), Fraction(0)) > b * x:
            raise Rejected("a bound does not hold")
    low = left.get(state, Fraction(0)) * after[state]
    high = sum((c * bound[s] for s, c in right.items()), Fraction(0))
    if not (a > b > 0 and high > 0 and 0 < number(statement["factor"]) <= low / high):
        raise Rejected("the ratio is not shown to grow")
    line = f"the ratio is at least {statement['factor']} * ({a / b})^n after n loops"
    return KernelReport(True, (line,), 1)


def loop_starts(statement: Statement, model: CheckedModel) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
    """Returns both conditioned priors as numbers."""
    one, other = statement["secrets"]
    zero = (0,) * len(model.names)
    for left, right, pi, tau in model.pairs:
        if (one, other) in ((left, right), (right, left)):
            found = []
            for start in (pi, tau) if one == left else (tau, pi):
                polys = [start.mass, *start.weights.values()]
                if any(any(map(any, p)) for p in polys):
                    raise Rejected("a prior has parameters")
                mass = start.mass[zero]  # numbers are read as nonnegative ones, and masses are not zero
                found.append({s: p[zero] / mass for s, p in start.weights.items() if p})
            return found[0], found[1]
    raise Rejected("no such secret pair")


def pushed(
    tables: list[list[list[tuple[int, int]]]], row: Mapping[int, Fraction], word: Sequence[int]
) -> dict[int, Fraction]:
    """Returns row·T_word, without zeros."""
    current = dict(row)
    for observation in word:
        new: dict[int, Fraction] = {}
        for state, weight in current.items():
            for successor, entry in tables[observation][state]:
                new[successor] = new.get(successor, Fraction(0)) + weight * entry
        current = {s: x for s, x in new.items() if x}
    return current


RULES = {"levels": levels_rule, "closed": closed_rule, "ratios": ratios_rule, "loop": loop_rule}
