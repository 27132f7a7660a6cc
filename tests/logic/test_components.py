"""Decision processes settled component by component, whatever policy is guessed in floating point."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from flint import fmpq
from logic_models import reached
from random_models import random_row

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Ring
from paramverify.logic import reachability
from paramverify.logic.formula_grammar import read_stated
from paramverify.logic.path_automata import Product, compiled
from paramverify.logic.schedulers import node_values
from paramverify.models.chains.markov_chains import ANY, Chain

Choices = list[list[list[Fraction]]]  # state, choice, successor


def knotted(random: Random) -> Choices:
    """States that go round in circles: most choices have few successors, and some stay where they are."""
    size = random.randint(3, 6)
    found: Choices = []
    for _ in range(size - 2):
        rows = []
        for _ in range(random.choice((1, 2, 2, 3))):
            row = [Fraction(0)] * size
            for share, target in zip(random_row(random, 2), random.sample(range(size), 2), strict=True):
                row[target] += share
            rows.append(row)
        found.append(rows)
    stay = [[[Fraction(k == s) for k in range(size)]] for s in (size - 2, size - 1)]
    return [*found, *stay]


def made(choices: Choices) -> Product:
    rows = tuple(
        tuple(tuple((t, fmpq(w.numerator, w.denominator)) for t, w in enumerate(row) if w) for row in found)
        for found in choices
    )
    size = len(choices)
    known = {size - 2: fmpq(0), size - 1: fmpq(1)}
    return Product(tuple((s, 0) for s in range(size)), rows, known, {s: s for s in range(size)})


@pytest.mark.parametrize("guessed", ["floats", "anything", "nothing"])
def test_values_of_knots(guessed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The values are those of the best of all policies, also after a guess that is bad or never leaves."""
    random = Random(5)
    if guessed != "floats":
        monkeypatch.setattr(
            reachability,
            "_guess",
            lambda part, start, largest: (
                None if guessed == "nothing" else [random.randrange(len(found)) for found in part.choices]
            ),
        )
    until = compiled(read_stated("P=? [ F a ]").path, lambda formula: 0)
    chain = Chain(("s",), (ANY,), ((((0, fmpq(1)),),),), (0,), {}, {}, Domain(Ring(), {}))
    loops = 0
    for _ in range(40):
        choices = knotted(random)
        chains = ([dict(enumerate(row)) for row in policy] for policy in product(*choices))
        all_values = [reached(rows, {len(choices) - 1}) for rows in chains]
        for largest, best in ((True, max), (False, min)):
            expected = [best(column) for column in zip(*all_values, strict=True)]
            found = node_values(made(choices), until, largest, chain)
            assert [Fraction(int(v.p), int(v.q)) for v in found] == expected
        loops += any(0 < value < 1 for value in expected)
    assert loops > 5
