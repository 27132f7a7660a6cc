"""Random Markov chains, decision processes and formulas, and what they mean by brute force over paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from random import Random

from flint import fmpq
from random_models import random_row

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Ring
from paramverify.logic.formula_syntax import (
    Constant,
    Formula,
    Index,
    Junction,
    Junctor,
    Label,
    Next,
    Not,
    Until,
)
from paramverify.models.chains.markov_chains import ANY, Chain, Row

LABELS = ("a", "b")


def random_chain(random: Random, states: int = 4, actions: tuple[str, ...] = (ANY,)) -> Chain:
    """A chain or decision process with random rows and labels."""
    size = random.randint(2, states)
    rows = tuple(tuple(_row(random, size) for _ in actions) for _ in range(size))
    labels = {name: frozenset(s for s in range(size) if random.random() < 0.5) for name in LABELS}
    names = tuple(f"s{k}" for k in range(size))
    return Chain(names, actions, rows, tuple(range(size)), labels, {}, Domain(Ring(), {}))


def _row(random: Random, size: int) -> Row:
    return tuple((t, fmpq(p.numerator, p.denominator)) for t, p in enumerate(random_row(random, size)) if p)


def random_formula(random: Random, depth: int, bounded: bool = True, release: bool = True) -> Formula:
    """A path formula over the labels; with `bounded` its truth is known after a few states."""
    if depth == 0 or random.random() < 0.15:
        label = Label(random.choice(LABELS))
        return Not(label) if random.random() < 0.4 else label
    kind = random.choice(("not", "and", "or", "next", "next", "until", "until"))

    def inner() -> Formula:
        return random_formula(random, depth - 1, bounded, release)

    if kind == "not" and release:
        return Not(inner())
    if kind in ("and", "or"):
        return Junction(Junctor.AND if kind == "and" else Junctor.OR, (inner(), inner()))
    if kind == "next":
        return Next(inner())
    low = random.choice((0, 0, 0, 1))
    high = low + random.randint(0, 2) if bounded or random.random() < 0.3 else None
    other = release and random.random() < 0.4
    left = inner() if random.random() < 0.6 else Constant(not other)
    return Until(left, inner(), Index(None, low), None if high is None else Index(None, high), other)


def horizon(formula: Formula) -> int:
    """How many states of a path a bounded formula looks at."""
    if isinstance(formula, Constant):
        return 0
    if isinstance(formula, Label):
        return 1
    if isinstance(formula, Not):
        return horizon(formula.inner)
    if isinstance(formula, Next):
        return 1 + horizon(formula.inner)
    if isinstance(formula, Junction):
        return max(map(horizon, formula.parts))
    assert isinstance(formula, Until)
    assert formula.high is not None
    return formula.high.offset + max(horizon(formula.left), horizon(formula.right))


def satisfies(
    path: Sequence[int], formula: Formula, labels: Mapping[str, frozenset[int]], at: int = 0
) -> bool:
    """The semantics of LTL, word by word, on a path that is long enough."""
    if isinstance(formula, Constant):
        return formula.value
    if isinstance(formula, Label):
        return path[at] in labels[formula.name]
    if isinstance(formula, Not):
        return not satisfies(path, formula.inner, labels, at)
    if isinstance(formula, Next):
        return satisfies(path, formula.inner, labels, at + 1)
    if isinstance(formula, Junction):
        truths = (satisfies(path, part, labels, at) for part in formula.parts)
        return all(truths) if formula.operator is Junctor.AND else any(truths)
    assert isinstance(formula, Until)
    assert formula.high is not None
    if formula.release:
        dual = Until(Not(formula.left), Not(formula.right), formula.low, formula.high)
        return not satisfies(path, dual, labels, at)
    return any(
        satisfies(path, formula.right, labels, at + i)
        and all(satisfies(path, formula.left, labels, at + j) for j in range(i))
        for i in range(formula.low.offset, formula.high.offset + 1)
    )


def path_sum(chain: Chain, formula: Formula, start: int, word: Sequence[int] | None = None) -> Fraction:
    """The sum of the probabilities of all paths that satisfy a bounded formula, under a word of actions."""
    length = max(horizon(formula), 1)
    total = Fraction(0)
    for rest in product(range(len(chain.states)), repeat=length - 1):
        path = (start, *rest)
        weight = Fraction(1)
        for step in range(length - 1):
            row = dict(chain.rows[path[step]][word[step] if word else 0])
            value = row.get(path[step + 1], fmpq(0))
            weight *= Fraction(int(value.p), int(value.q))
        if weight and satisfies(path, formula, chain.labels):
            total += weight
    return total


def moves_of(chain: Chain) -> list[list[list[Fraction]]]:
    """The numbers of a chain as fractions: state, action, successor."""
    size = len(chain.states)
    tables = [[[Fraction(0)] * size for _ in rows] for rows in chain.rows]
    for state, rows in enumerate(chain.rows):
        for action, row in enumerate(rows):
            for successor, weight in row:
                tables[state][action][successor] += Fraction(int(weight.p), int(weight.q))
    return tables


def reached(
    rows: Sequence[Mapping[int, Fraction]], goal: set[int], stay: set[int] | None = None
) -> list[Fraction]:
    """The probability of `stay U goal` from each state: Gauss on all states that can reach the goal."""
    size = len(rows)
    can = set(goal)
    inside = (set(range(size)) if stay is None else stay) - goal
    while more := {s for s in inside - can if any(p and t in can for t, p in rows[s].items())}:
        can |= more
    open_ = sorted(can - goal)
    table = [
        [Fraction(int(s == t)) - rows[s].get(t, Fraction(0)) for t in open_]
        + [sum((p for t, p in rows[s].items() if t in goal), Fraction(0))]
        for s in open_
    ]
    for k in range(len(open_)):
        pivot = next(i for i in range(k, len(open_)) if table[i][k])
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [entry / table[k][k] for entry in table[k]]
        for i in range(len(open_)):
            if i != k and table[i][k]:
                table[i] = [a - table[i][k] * b for a, b in zip(table[i], table[k], strict=True)]
    found = [Fraction(int(s in goal)) for s in range(size)]
    for state, entry in zip(open_, table, strict=True):
        found[state] = entry[-1]
    return found
