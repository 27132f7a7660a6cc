"""The cone encoding against the enumerating one and brute force, and above threshold at scale."""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from random_models import all_probabilities, largest_ratio, parametric_model, random_model

from paramverify.algebra.cones import combination, combine, extreme_rays
from paramverify.algebra.polynomials import constant_value
from paramverify.encodings import cone, sequences
from paramverify.encodings.cone import Levels, cone_claims, letters, lump, matrices, product
from paramverify.encodings.encoding import Candidate
from paramverify.encodings.sequences import sequence_claims
from paramverify.evidence.witnesses import evaluate
from paramverify.models.model import Model
from paramverify.privacy.cases import load


def worst(found: Iterable[Candidate], left: str) -> Fraction | None:
    numbers = [(constant_value(c.left), constant_value(c.right)) for c in found if c.origin.left == left]
    return largest_ratio(numbers)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_models_agree_with_enumeration_and_brute_force(seed: int) -> None:
    """The cone encoding finds the largest ratio that the enumerating one and brute force find."""
    random = Random(seed)
    for length in (1, 2, 3, 4, 6):
        symbols = 4 if length < 6 else 3
        model = random_model(random, length, symbols=symbols)
        few = list(cone.candidates(model))
        claims = cone_claims(model)
        assert len(claims) <= len(sequence_claims(model))
        private = all(c.holds_at({}) for c in claims)
        assert private == all(c.holds_at({}) for c in sequence_claims(model))
        if not private:
            assert evaluate(model, claims[0].origins[0], {}).exceeds
        for side in ("left", "right"):
            assert worst(few, side) == worst(sequences.candidates(model), side)
        if length <= 4:
            both = list(all_probabilities(model).values())
            assert worst(few, "left") == largest_ratio(both)
            assert worst(few, "right") == largest_ratio([(b, a) for a, b in both])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_what_a_level_drops_is_the_combination_it_records(seed: int) -> None:
    """Every vector of a length is kept, or a recorded combination of vectors that come before it."""
    model = lump(random_model(Random(seed), 1)).model
    tables = matrices(model.hmm)
    previous = [(1,) * len(model.hmm.states)]
    for level, length in zip(Levels(tables), range(1, 6), strict=False):
        settled = set(level.kept)
        for vector, weights in level.dropped:
            assert set(weights) <= settled
            assert combine(dict(enumerate(weights.values())), list(weights)) == vector
            settled.add(vector)
        moved = {product(t, v) for t in tables for v in previous}
        assert {v for v in moved if any(v)} == settled
        assert all(len(letters(word)) == length for word in level.kept.values())
        previous = list(level.kept)


def test_combination_is_exact_where_floats_are_not() -> None:
    """Vectors that agree with a combination up to 1e-30 are told from it."""
    big = 10**30
    columns = [(1, 0, big), (0, 1, big)]
    assert combination((1, 1, 2 * big), columns) == {0: Fraction(1), 1: Fraction(1)}
    assert combination((1, 1, 2 * big + 1), columns) is None
    assert combination((1, 1, 2 * big + 1), columns, above=[2]) is not None
    assert combination((1, 1, 2 * big + 1), columns, below=[2]) is None
    assert combination((1, 1, 2 * big - 1), columns, below=[2]) is not None


def test_extreme_rays_of_a_square_cone() -> None:
    """The cone over a square has its four corners as extreme rays."""
    normals = [(1, 0, 1), (-1, 0, 1), (0, 1, 1), (0, -1, 1)]
    assert set(extreme_rays(normals, 3)) == {(1, 1, 1), (1, -1, 1), (-1, 1, 1), (-1, -1, 1)}


def test_parametric_transitions_give_the_same_claims() -> None:
    """With parametric transitions the claims of the enumerating encoding are made, on fewer states."""
    model = parametric_model(
        {"p": (Fraction(1, 10), Fraction(1, 2))},
        [["1-p", "p", "0"], ["p", "1-p", "0"], ["0", "0", "1"]],
        [["3/4", "1/4"], ["1/4", "3/4"], ["1", "0"]],
        ["1", "0", "0"],
        ["0", "1", "0"],
        "4",
        (3,),
    )
    small = lump(model)
    assert small.classes == (0, 1, None)
    assert {c.text() for c in cone_claims(model)} == {c.text() for c in sequence_claims(model)}


def test_states_that_act_alike_are_merged() -> None:
    """A state that copies another one is merged with it, and probabilities stay."""
    half, rest = Fraction(1, 2), Fraction(0)
    model = random_model(Random(3), 3, states=2, symbols=2)
    twin = parametric_model(
        {},
        [["1/2", "1/4", "1/4"], ["1/3", "1/3", "1/3"], ["1/3", "2/3", "0"]],
        [["1/3", "2/3"], ["3/4", "1/4"], ["3/4", "1/4"]],
        ["1", "0", "0"],
        ["0", str(half), str(half + rest)],
        "2",
        (3,),
    )
    assert len(lump(twin).model.hmm.states) == 2
    assert all_probabilities(twin) == all_probabilities(lump(twin).model)
    assert all_probabilities(model) == all_probabilities(lump(model).model)


@pytest.fixture(scope="module")
def above_threshold(root: Path) -> Model:
    return load(root / "cases" / "above-threshold.toml").model


def test_above_threshold_agrees_with_enumeration(above_threshold: Model) -> None:
    """Up to three answers the largest ratio is that of all sequences, for both sides."""
    model = replace(above_threshold, lengths=(1, 2, 3))
    for side in ("left answers, threshold 2", "right answers, threshold 2"):
        assert worst(cone.candidates(model), side) == worst(sequences.candidates(model), side) == 8


@pytest.mark.slow
def test_above_threshold_grows_as_powers_of_two(above_threshold: Model) -> None:
    """With n answers the largest ratio is exactly 2^n, also for n = 200, and the witness has it."""
    for length in (50, 200):
        model = replace(above_threshold, lengths=(length,))
        top = max((c for c in cone.candidates(model) if c.ratio), key=lambda c: c.ratio or 0)
        assert top.ratio == 2**length
        witness = evaluate(model, top.origin, {})
        assert witness.ratio is not None
        assert witness.ratio.rational == 2**length
