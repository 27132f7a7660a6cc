"""Loops that show that no budget is enough: what they state is recomputed from the model, state by state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm
from random import Random

import pytest
from random_models import classical_model, random_row

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Domain
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import RationalFunction, Ring, constant_value, to_rational_function
from paramverify.divergences import MaxDivergence
from paramverify.encodings import unbounded_ratios as module
from paramverify.encodings.unbounded_ratios import Loop, no_budget
from paramverify.models.context import Checks
from paramverify.models.hmm import HMM
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution, SecretPair

Rows = list[list[tuple[int, int, str]]]


def stepwise(rows: Rows, pi: list[str], tau: list[str], ring: Ring | None = None) -> Model:
    """Returns a model of (observation, next state, probability) for each state, and one pair of priors."""
    ring = ring or Ring(())
    checks = Checks(Domain(ring, {}).enclose(32))

    def function(text: str) -> RationalFunction:
        return to_rational_function(parse(text), ring)

    table = [[(o, t, function(p)) for o, t, p in row] for row in rows]
    count = 1 + max(o for row in rows for o, _, _ in row)
    states = [f"s{k}" for k in range(len(rows))]
    hmm = HMM.build(checks, states, [f"o{k}" for k in range(count)], table)
    starts = [
        InitialDistribution.of({k: function(w) for k, w in enumerate(ws) if w != "0"}, checks)
        for ws in (pi, tau)
    ]
    pair = SecretPair("left", "right", *starts)
    return Model(checks.domain, hmm, (pair,), MaxDivergence(function("2")), ())


def matrix(model: Model, word: tuple[int, ...]) -> list[list[Fraction]]:
    """Returns T_word, every step times the least number that makes all weights whole."""
    size = len(model.hmm.states)
    weights = [constant_value(step.weight) for row in model.hmm.steps for step in row]
    scale = lcm(*(w.denominator for w in weights))
    found = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    for o in word:
        one = [[Fraction(0)] * size for _ in range(size)]
        for s, row in enumerate(model.hmm.steps):
            for step in row:
                if step.observation == o:
                    one[s][step.successor] += constant_value(step.weight) * scale
        found = [
            [sum((a * one[k][j] for k, a in enumerate(row)), Fraction(0)) for j in range(size)]
            for row in found
        ]
    return found


def check_shown(model: Model, loop: Loop) -> None:
    """Checks the inequalities that show a loop, on the states that the right reaches, and its numbers."""
    (pair,) = [p for p in model.pairs if {p.left, p.right} == {loop.left, loop.right}]
    turned = pair.left != loop.left
    before, turn = matrix(model, loop.prefix), matrix(model, loop.loop)
    after = [sum(row, Fraction(0)) for row in matrix(model, loop.suffix)]
    left, right = (
        [
            sum((constant_value(w) * before[s][t] for s, w in start.weights.items()), Fraction(0))
            / constant_value(start.mass)
            for t in range(len(after))
        ]
        for start in ((pair.tau, pair.pi) if turned else (pair.pi, pair.tau))
    )
    states = {s for s, w in enumerate(right) if w}
    while more := {t for s in states for t, w in enumerate(turn[s]) if w} - states:
        states |= more
    x, (a, b) = dict(loop.bounds), loop.rates
    assert set(x) == states
    assert a == turn[loop.state][loop.state] > b > 0
    for s in states:
        assert x[s] >= after[s]
        assert sum((turn[s][t] * x[t] for t in states), Fraction(0)) <= b * x[s]
    rows = {s: sum(turn[s], Fraction(0)) for s in states}
    if b == max(rows.values()):
        assert set(x.values()) == {max(after[s] for s in states)}
    else:
        assert max(rows.values()) == 0 or max(rows.values()) >= a
        assert 8 * b / a in (4, 5, 6, 7)
        for s in states:
            assert sum((turn[s][t] * x[t] for t in states), Fraction(0)) == b * (x[s] - after[s])
    total = sum((w * x[s] for s, w in enumerate(right) if w), Fraction(0))
    assert loop.factor == left[loop.state] * after[loop.state] / total > 0
    assert loop.growth == a / b


@pytest.mark.parametrize(
    "rate",
    [
        "9/100",
        "44/100",
        "45/100",
        "1/2",
        "9/16",
        "3/5",
        "27/40",
        "3/4",
        "63/80",
        "85/100",
        "86/100",
        "87/100",
    ],
)
def test_eighths_of_the_rate(rate: str) -> None:
    """Where all rows are large, the least of 4, 5, 6 and 7 eighths of the left rate that will do is taken."""
    ratio, size, growth = Fraction(rate) / Fraction(9, 10), 0, None
    while size < 3 and growth is None:
        size += 1
        growth = next((Fraction(8, k) for k in (4, 5, 6, 7) if Fraction(k, 8) > ratio**size), None)
    # States 0 (left) and 1, 2 (right) say o0 until they end; a row of o0 is large through the end.
    rows: Rows = [
        [(0, 0, "9/10"), (0, 3, "1/10")],
        [(0, 1, rate), (0, 2, f"(1 - {rate})/2"), (0, 3, f"(1 - {rate})/2")],
        [(0, 2, f"{rate}/3"), (0, 3, f"1 - {rate}/3")],
        [(1, 3, "1")],
    ]
    for pi, tau in (
        (["1", "0", "0", "0"], ["0", "1", "0", "0"]),
        (["1", "0", "0", "0"], ["0", "1/2", "1/2", "0"]),
    ):
        for turned in (False, True):
            model = stepwise(rows, *((tau, pi) if turned else (pi, tau)))
            loop = no_budget(model)
            assert (None if loop is None else loop.growth) == growth
            if loop is not None:
                assert loop.loop == (0,) * size
                assert (loop.left, loop.right) == (("right", "left") if turned else ("left", "right"))
                check_shown(model, loop)


def test_states_that_the_suffix_excludes() -> None:
    """A state of the right side that never shows the suffix may be as likely as it likes."""
    rows: Rows = [
        [(0, 0, "9/10"), (1, 5, "1/10")],
        [(0, 1, "1")],  # of the right: says o0 for ever
        [(0, 2, "1/4"), (1, 5, "3/4")],
        [(0, 3, "1")],  # of the left: says o0 for ever
        [(0, 4, "3/5"), (1, 5, "2/5")],
        [(2, 5, "1")],
    ]
    pi, tau = ["1/3", "0", "0", "1/3", "1/3", "0"], ["0", "1/2", "1/2", "0", "0", "0"]
    model = stepwise(rows, pi, tau)
    loop = no_budget(model)
    assert loop is not None
    assert (loop.growth, loop.state, loop.suffix) == (2, 0, (1,))
    assert dict(loop.bounds)[1] == 0
    check_shown(model, loop)


def test_a_right_side_that_cannot_loop() -> None:
    """Where no state of the right side says the loop again, half of the rate is a bound."""
    rows: Rows = [[(0, 0, "1/2"), (1, 2, "1/2")], [(0, 2, "1/2"), (1, 2, "1/2")], [(1, 2, "1")]]
    model = stepwise(rows, ["1", "0", "0"], ["0", "1", "0"])
    loop = no_budget(model)
    assert loop is not None
    assert loop.growth == 2
    check_shown(model, loop)
    never: Rows = [[(0, 0, "1/2"), (1, 2, "1/2")], [(1, 2, "1")], [(1, 2, "1")]]
    found = no_budget(stepwise(never, ["1", "0", "0"], ["0", "1", "0"]))
    if found is not None:
        check_shown(stepwise(never, ["1", "0", "0"], ["0", "1", "0"]), found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_loops_of_random_models_are_shown(seed: int) -> None:
    """What a loop states about states, bounds and rates is so; equal rates make no loop."""
    random = Random(f"loops {seed}")
    size, symbols = random.randint(2, 4), random.randint(2, 3)
    steps = [random_row(random, size) for _ in range(size)]
    if seed % 2:
        steps = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    answers = [random_row(random, symbols) for _ in range(size)]
    starts = [random_row(random, size) for _ in range(2)]
    if seed % 3 == 0:
        starts = [[Fraction(int(s == k)) for s in range(size)] for k in (0, 1)]
    model = classical_model(steps, answers, *starts, Fraction(2), (1,))
    loop = no_budget(model)
    if loop is not None:
        check_shown(model, loop)
    if seed % 2 and seed % 3 == 0:
        ratios = [max(a / b, b / a) for a, b in zip(*answers[:2], strict=True) if a and b]
        best = max([r for r in ratios if r > 1], default=None)
        if all(map(all, answers[:2])):
            assert (None if loop is None else loop.growth) == best


def test_priors_that_are_no_numbers() -> None:
    """A weight with exp has no number, also where the sum of weights has one; then nothing is said."""
    rows: Rows = [
        [(0, 0, "1/4"), (0, 3, "3/4")],
        [(0, 1, "1/2"), (0, 3, "1/2")],
        [(0, 2, "9/10"), (0, 3, "1/10")],
        [(1, 3, "1")],
    ]
    ring = Ring((), ExpConstant(Fraction(1)))
    for weights in (["E/10", "1/2 - E/10", "0", "0"], ["E", "1", "0", "0"], ["E", "E", "0", "0"]):
        for turned in (False, True):
            starts = (weights, ["0", "0", "1/2", "0"])
            assert no_budget(with_constant(rows, starts[::-1] if turned else starts, ring)) is None
    numbers = stepwise(rows, ["1/5", "3/10", "0", "0"], ["0", "0", "1/2", "0"])
    loop = no_budget(numbers)
    assert loop is not None
    check_shown(numbers, loop)


def with_constant(rows: Rows, starts: Sequence[list[str]], ring: Ring) -> Model:
    """Returns a model whose priors have weights in E."""
    model = stepwise(rows, ["1", "0", "0", "0"], ["0", "1", "0", "0"], ring)
    (pair,) = model.pairs
    priors = []
    for weights in starts:
        parts = {k: ring.parse(w) for k, w in enumerate(weights) if w != "0"}
        priors.append(InitialDistribution(parts, sum(parts.values(), ring.number(0))))
    return replace(model, pairs=(replace(pair, pi=priors[0], tau=priors[1]),))


def test_limits_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only so many pairs are looked at; the search can be ended between words and within pairs."""
    rows: Rows = [[(0, 0, "3/4"), (1, 0, "1/4")], [(0, 1, "1/4"), (1, 1, "3/4")]]
    model = stepwise(rows, ["1", "0"], ["0", "1"])
    (pair,) = model.pairs
    alike = replace(pair, left="same", tau=pair.pi)
    two = replace(model, pairs=(alike, pair))
    assert no_budget(two) is not None
    monkeypatch.setattr(module, "MAX_PAIRS", 1)
    assert no_budget(two) is None
    assert no_budget(replace(model, pairs=(pair, alike))) is not None
    none = replace(model, pairs=())
    calls: list[int] = []
    assert no_budget(none, lambda: calls.append(1)) is None
    assert len(calls) == 2 + 4 + 8  # words of at most three letters
    calls.clear()
    assert no_budget(replace(model, pairs=(alike,)), lambda: calls.append(1)) is None
    assert len(calls) == (2 + 4 + 8) * (1 + 2 * 3)  # again for both directions and each prefix
