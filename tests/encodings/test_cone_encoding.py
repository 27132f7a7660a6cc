"""The cone encoding: what it keeps is enough and no more, which states are of one side, and its limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from random import Random

import pytest
from random_models import all_probabilities, classical_model, parametric_model, random_model

from paramverify.algebra.polynomials import Polynomial
from paramverify.encodings import cone
from paramverify.encodings.cone import (
    Levels,
    candidates,
    cone_claims,
    distinct,
    has_numbers,
    letters,
    lump,
    matrices,
    weighted,
)
from paramverify.errors import LimitError
from paramverify.models.model import Model

Vector = Sequence[int]


def solved(columns: Sequence[Vector], target: Vector) -> list[Fraction] | None:
    """Returns the only weights with Σ weight·column = target, None if there are none or many (Gauss)."""
    rows = [[Fraction(c[i]) for c in columns] + [Fraction(target[i])] for i in range(len(target))]
    for k in range(len(columns)):
        pivot = next((r for r in range(k, len(rows)) if rows[r][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for r in range(len(rows)):
            if r != k:
                rows[r] = [x - rows[r][k] * y for x, y in zip(rows[r], rows[k], strict=True)]
    if any(row[-1] for row in rows[len(columns) :]):
        return None
    return [rows[k][-1] for k in range(len(columns))]


def in_cone(target: Vector, others: Iterable[Vector]) -> bool:
    """Tells whether a vector is a conic combination of others: of independent ones, by Carathéodory."""
    listed = list(others)
    for size in range(1, len(target) + 1):
        for chosen in combinations(listed, size):
            weights = solved(chosen, target)
            if weights is not None and all(w >= 0 for w in weights):
                return True
    return False


@pytest.mark.parametrize("seed", range(5))
def test_levels_keep_exactly_the_extreme_rays(seed: int) -> None:
    """Nothing that is kept follows from the rest, and everything else follows from what is kept."""
    model = lump(random_model(Random(seed), 1, states=3, symbols=3)).model
    tables = matrices(model.hmm)
    everything: list[tuple[int, ...]] = [(1,) * len(model.hmm.states)]
    for level, length in zip(Levels(tables), range(1, 5), strict=False):
        everything = [
            tuple(sum(w * vector[t] for t, w in row) for row in table)
            for vector in everything
            for table in tables
        ]
        kept = list(level.kept)
        for vector in kept:
            assert not in_cone(vector, [v for v in kept if v != vector])
            assert len(letters(level.kept[vector])) == length
        for vector in set(everything):
            assert not any(vector) or in_cone(vector, kept)


def test_many_old_rays_do_not_hide_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where old rays are not compared again, what is kept still implies everything, on all paths."""
    models = [lump(random_model(Random(seed), 1, states=3, symbols=3)).model for seed in range(12)]
    plain = [kept(model) for model in models]
    monkeypatch.setattr(cone, "RECHECKED", 0)
    for model, before in zip(models, plain, strict=True):
        for few, more in zip(before, kept(model), strict=True):
            assert all(in_cone(vector, few) for vector in more)
            assert all(in_cone(vector, more) for vector in few)


def kept(model: Model) -> list[list[tuple[int, ...]]]:
    levels = zip(Levels(matrices(model.hmm)), range(4), strict=False)
    return [list(level.kept) for level, _ in levels]


def test_vectors_with_many_entries_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors with more entries than the limit are not compared; with as many they are."""
    models = (lump(random_model(Random(seed), 1, states=3, symbols=3)).model for seed in range(100))
    model = next(m for m in models if len(m.hmm.states) == 3 and sum(map(len, kept(m))) < 25)
    before = kept(model)
    monkeypatch.setattr(cone, "MAX_SUPPORT", 3)
    assert kept(model) == before
    monkeypatch.setattr(cone, "MAX_SUPPORT", 2)
    assert sum(map(len, kept(model))) > sum(map(len, before))


def remembered() -> Model:
    """Returns a model of one of three answers that is repeated, each level of which has three rays."""
    stay = [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]
    third = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    return classical_model(stay, stay, third, third[::-1], Fraction(2), (1, 2))


def test_the_number_of_rays_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many rays as the limit are kept, one more is an error."""
    model = remembered()
    monkeypatch.setattr(cone, "MAX_RAYS", 3)
    assert len(next(iter(Levels(matrices(model.hmm)))).kept) == 3
    assert cone_claims(model)
    monkeypatch.setattr(cone, "MAX_RAYS", 2)
    with pytest.raises(LimitError, match="more than 2 extreme rays"):
        cone_claims(model)


def test_models_with_some_parameters_have_no_numbers() -> None:
    """One step with a parameter is enough to take the other way."""
    box = {"p": (Fraction(1, 4), Fraction(1, 2))}
    emissions = [["1/2", "1/2"], ["1/3", "2/3"]]
    for transitions, right in (
        ([["1/2", "1/2"], ["p", "1-p"]], False),
        ([["p", "1-p"], ["1/2", "1/2"]], False),
        ([["p", "1-p"], ["p", "1-p"]], False),
        ([["1/4", "3/4"], ["1/2", "1/2"]], True),
    ):
        model = parametric_model(box, transitions, emissions, ["1", "0"], ["0", "1"], "2", (1, 2))
        assert has_numbers(model.hmm) == right
        assert cone_claims(model)


def test_matrices_are_the_steps() -> None:
    """The matrices are the products of transitions and emissions, times one number."""
    for seed in range(10):
        model = random_model(Random(seed), 3, states=3, symbols=3)
        tables = matrices(model.hmm)
        (pair,) = model.pairs
        for word, (left, right) in all_probabilities(model).items():
            vector: Sequence[int] = [1] * len(model.hmm.states)
            for name in reversed(word):
                table = tables[model.hmm.observations.index(name)]
                vector = [sum(w * vector[t] for t, w in row) for row in table]
            found = [
                sum(Fraction(str(w)) * vector[s] for s, w in start.weights.items())
                / Fraction(str(start.mass))
                for start in (pair.pi, pair.tau)
            ]
            assert found[0] * right == found[1] * left
            assert bool(found[0]) == bool(left)


def apart(ratio: Fraction, lengths: tuple[int, ...], bridge: bool = False) -> Model:
    """Returns a model of two secrets with two states each; with `bridge`, the second reaches the first's."""
    half, quarter, none = Fraction(1, 2), Fraction(1, 4), Fraction(0)
    transitions = [
        [half, half, none, none],
        [quarter, 3 * quarter, none, none],
        [none, none, half, half],
        [half if bridge else none, none, quarter, 3 * quarter - (half if bridge else none)],
    ]
    emissions = [
        [half, half],
        [quarter, 3 * quarter],
        [3 * quarter, quarter],
        [Fraction(1, 3), Fraction(2, 3)],
    ]
    starts = [[Fraction(1), none, none, none], [none, none, Fraction(1), none]]
    return classical_model(transitions, emissions, starts[0], starts[1], ratio, lengths)


@pytest.mark.slow
@pytest.mark.parametrize(("bridge", "lengths"), [*product((False, True), ((2,), (1, 3), (4,)))])
def test_states_of_one_side_save_rays_and_lose_nothing(bridge: bool, lengths: tuple[int, ...]) -> None:
    """The largest ratio of each direction is that of all sequences, with states of one side or without."""
    model = apart(Fraction(2), lengths, bridge)
    left, right = cone.sides(model)
    assert left == (frozenset() if bridge else frozenset({0, 1}))
    assert right == frozenset({2, 3})
    turns = [directions for _, directions in cone.runs(model)]
    assert turns == [(False,), (True,)]
    plain = sum(len(level.kept) for level, _ in zip(Levels(matrices(model.hmm)), range(4), strict=False))
    for levels, _ in cone.runs(model):
        assert sum(len(level.kept) for level, _ in zip(levels, range(4), strict=False)) < plain
    both = list(all_probabilities(model).values())
    largest = {"left": max(p / q for p, q in both), "right": max(q / p for p, q in both)}
    found = list(candidates(model))
    for side, expected in largest.items():
        assert max(c.ratio for c in found if c.origin.left == side and c.ratio is not None) == expected
        assert all(
            c.origin.right == ({"left", "right"} - {side}).pop() for c in found if c.origin.left == side
        )
    for candidate in found:
        p, q = all_probabilities(model)[candidate.origin.observations]
        assert candidate.ratio == (p / q if candidate.origin.left == "left" else q / p)
    for ratio in (max(largest.values()), max(largest.values()) - Fraction(1, 1000)):
        holds = all(c.holds_at({}) for c in cone_claims(apart(ratio, lengths, bridge)))
        assert holds == (ratio == max(largest.values()))


@pytest.mark.parametrize("bridge", [False, True])
def test_sides_are_those_of_the_secrets(bridge: bool) -> None:
    """With the priors exchanged, the states of the sides are, and each direction has its own levels."""
    model = apart(Fraction(2), (2,), bridge)
    (pair,) = model.pairs
    turned = replace(model, pairs=(replace(pair, pi=pair.tau, tau=pair.pi),))
    assert cone.sides(turned) == cone.sides(model)[::-1]
    assert [directions for _, directions in cone.runs(turned)] == [(False,), (True,)]
    plain = replace(model, pairs=(replace(pair, tau=pair.pi),))
    assert [directions for _, directions in cone.runs(plain)] == [(False, True)]


def test_each_vector_of_some_lengths_comes_once() -> None:
    """Vectors of lengths that are not asked for do not come, those of several lengths come once."""
    model = remembered()
    levels = Levels(matrices(model.hmm))
    assert len(list(distinct(model, levels))) == 3
    for lengths in ((2,), (3,), (1, 3)):
        found = list(distinct(replace(model, lengths=lengths), Levels(matrices(model.hmm))))
        assert {len(letters(word)) for _, word in found} == {min(lengths)}
        assert len(found) == len({vector for vector, _ in found}) == 3


def test_the_worst_claim_is_first() -> None:
    """Infinite ratios come first, then the others by falling ratio."""
    none, half = Fraction(0), Fraction(1, 2)
    stay = [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]
    for left, right in (
        ([half, half, none], [half, none, half]),
        ([Fraction(1, 6), half, Fraction(1, 3)], [half, Fraction(1, 6), Fraction(1, 3)]),
        ([Fraction(1, 10), Fraction(1, 5), Fraction(7, 10)], [Fraction(1, 3)] * 3),
    ):
        model = classical_model(stay, stay, left, right, Fraction(2), (1,))
        known = all_probabilities(model)
        order = []
        for claim in cone_claims(model):
            p, q = known[claim.origins[0].observations]
            p, q = (p, q) if claim.origins[0].left == "left" else (q, p)
            order.append(p / q if q else Fraction(10**9))
        assert order == sorted(order, reverse=True)
        assert len(order) > 1


def test_claims_with_parameters_come_last() -> None:
    """First what has no right side, then numbers, the ratio zero too, then what depends on parameters."""
    anywhere = [["1/3"] * 3] * 3
    answers = [["1/2", "1/2", "0"], ["1/3", "2/3", "0"], ["1/4", "1/4", "1/2"]]
    box = {"q": (Fraction(1, 10), Fraction(9, 10))}
    model = parametric_model(box, anywhere, answers, ["q", "1-q", "0"], ["0", "0", "1"], "2", (1,))
    order = [(o.left, *o.observations) for claim in cone_claims(model) for o in claim.origins]
    assert order[:2] == [("right", "y"), ("left", "y")]
    assert {word for _, *word in map(tuple, order[2:]) for word in word} == {"w", "x"}
    assert len(order) == 6


def test_weighted_sums_with_and_without_memory() -> None:
    """The sum is that of the weights times the entries, also when it is remembered or looked up."""
    same = [["1", "0"], ["0", "1"]]
    box = {"q": (Fraction(0), Fraction(1))}
    model = parametric_model(box, same, same, ["q", "1-q"], ["0", "1"], "2", (1,))
    (pair,) = model.pairs
    ring = model.domain.ring
    for vector in ((0, 3), (2, 0), (5, 7), (0, 0)):
        expected = ring.parse(f"{vector[0]}*q + {vector[1]} - {vector[1]}*q")
        memory: dict[int, Polynomial] = {}
        assert weighted(pair.pi, vector) == expected
        for _ in range(2):
            assert weighted(pair.pi, vector, memory) == expected
            assert weighted(pair.tau, vector, memory) == vector[1]
