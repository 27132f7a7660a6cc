"""Loops that show that no budget is enough, and cones that close, in models of which more is known."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from random_models import classical_model, parametric_model, random_row

from paramverify.algebra.polynomials import constant_value
from paramverify.encodings import every_length
from paramverify.encodings.every_length import closed_rays, for_every_length
from paramverify.encodings.unbounded_ratios import Loop, no_budget
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution


def chances(model: Model, word: tuple[int, ...]) -> tuple[Fraction, Fraction]:
    """Returns the probability of a sequence under both priors, by the forward recursion on numbers."""
    (pair,) = model.pairs
    both = []
    for start in (pair.pi, pair.tau):
        mass = constant_value(start.mass)
        weights = {s: constant_value(w) / mass for s, w in start.weights.items()}
        for observation in word:
            moved: dict[int, Fraction] = {}
            for state, weight in weights.items():
                for step in model.hmm.steps[state]:
                    if step.observation == observation:
                        more = weight * constant_value(step.weight) / constant_value(model.hmm.denominator)
                        moved[step.successor] = moved.get(step.successor, Fraction(0)) + more
            weights = moved
        both.append(sum(weights.values(), Fraction(0)))
    return both[0], both[1]


def keeps_its_word(model: Model, loop: Loop) -> bool:
    """Tells whether the ratio is as large as the loop says, for a few numbers of loops."""
    assert loop.growth > 1
    for n in range(5):
        left, right = chances(model, loop.sequence(n))
        if loop.left != model.pairs[0].left:
            left, right = right, left
        if left < right * loop.factor * loop.growth**n:
            return False
    return True


def cycles(size: int, random: Random) -> tuple[Model, list[list[Fraction]]]:
    """Two secrets go around in cycles of their own; states differ in their answers only."""
    count = 2 * size
    steps = []
    for s in range(count):
        first = (s // size) * size
        steps.append([Fraction(int(t == first + (s - first + 1) % size)) for t in range(count)])
    answers = [[w / 4 + Fraction(1, 4) for w in random_row(random, 3)] for _ in range(count)]
    answers = [[w / sum(row) for w in row] for row in answers]
    starts = [[Fraction(int(s == first)) for s in range(count)] for first in (0, size)]
    return classical_model(steps, answers, *starts, Fraction(2), (1,)), answers


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_steepest_loop_around_a_cycle(size: int, seed: int) -> None:
    """Once around, the ratio grows by the product of the ratios of the answers; the largest one is found."""
    model, answers = cycles(size, Random(f"{size} {seed}"))
    best = Fraction(0)
    for word in product(range(3), repeat=size):
        one = two = Fraction(1)
        for k, o in enumerate(word):
            one, two = one * answers[k][o], two * answers[size + k][o]
        best = max(best, one / two, two / one)
    loop = no_budget(model)
    assert loop is not None
    assert len(loop.loop) == size
    assert loop.growth == best
    assert keeps_its_word(model, loop)
    if size == 1:
        assert (loop.prefix, loop.suffix) == ((), ())
        assert loop.factor == 1
    for bound in (Fraction(0), Fraction(1), loop.factor, loop.factor * loop.growth**3, Fraction(1000)):
        n = loop.beyond(bound)
        assert loop.factor * loop.growth**n > bound
        assert n == 0 or loop.factor * loop.growth ** (n - 1) <= bound
    origin = loop.origin(model, 2)
    assert (origin.left, origin.right) == (loop.left, loop.right)
    assert origin.observations == tuple(model.hmm.observations[o] for o in loop.sequence(2))


def test_loops_of_scaled_priors() -> None:
    """Weights and mass of a prior may have a common factor, as those of a conditioned prior have."""
    model, _ = cycles(2, Random(1))
    (pair,) = model.pairs

    def scaled(start: InitialDistribution, factor: int) -> InitialDistribution:
        weights = {s: w * factor for s, w in start.weights.items()}
        return replace(start, weights=weights, mass=start.mass * factor)

    other = replace(model, pairs=(replace(pair, pi=scaled(pair.pi, 3), tau=scaled(pair.tau, 5)),))
    assert no_budget(other) == no_budget(model)
    zero = replace(model, pairs=(replace(pair, pi=scaled(pair.pi, 0), tau=scaled(pair.tau, 0)),))
    assert no_budget(zero) is None


def test_longer_loops_are_not_tried() -> None:
    """A cycle of four states needs a loop of four observations."""
    assert no_budget(cycles(4, Random(0))[0]) is None


def repeated(ratio: str = "3") -> Model:
    """An answer is drawn once, true with 3/4, and given every day; the prior has a parameter."""
    rows = [["0", "0", "3/4", "1/4"], ["0", "0", "1/4", "3/4"], ["0", "0", "1", "0"], ["0", "0", "0", "1"]]
    answers = [["1", "0"], ["1", "0"], ["1", "0"], ["0", "1"]]
    box = {"q": (Fraction(0), Fraction(1))}
    return parametric_model(box, rows, answers, ["q", "1-q", "0", "0"], ["0", "1", "0", "0"], ratio, (1,))


def test_claims_about_rays_name_their_sequences() -> None:
    """The sequence of each ray is named, for both directions."""
    proof = closed_rays(repeated())
    assert proof is not None
    (pair,) = proof.model.pairs
    named = {(o.left, o.right, o.observations) for claim in proof.claims for o in claim.origins}
    words = [tuple(proof.model.hmm.observations[o] for o in word) for word in proof.words]
    ends = ((pair.left, pair.right), (pair.right, pair.left))
    assert named == {(a, b, word) for a, b in ends for word in words}
    assert all(claim.origins for claim in proof.claims)


def test_cones_are_given_up_beyond_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cone closes with as many rays, and entries as long, as the limits say, and not with more."""
    proof = closed_rays(repeated())
    assert proof is not None
    rays, bits = len(proof.rays), max(max(ray) for ray in proof.rays).bit_length()
    for name, value in (("MAX_RAYS", rays), ("MAX_BITS", bits)):
        with monkeypatch.context() as patch:
            patch.setattr(every_length, name, value)
            assert closed_rays(repeated()) is not None
            patch.setattr(every_length, name, value - 1)
            assert closed_rays(repeated()) is None


def changing() -> Model:
    """A person is ill or well, changes with probability p from day to day, and answers truly with 3/4."""
    return parametric_model(
        {"p": (Fraction(3, 10), Fraction(1, 2))},
        [["1-p", "p"], ["p", "1-p"]],
        [["3/4", "1/4"], ["1/4", "3/4"]],
        ["1", "0"],
        ["0", "1"],
        "6",
        (1,),
    )


@pytest.mark.parametrize(
    ("limit", "value", "depths"),
    [
        ("MAX_DEPTH", 1, {1}),
        ("MAX_DEPTH", 2, {1, 2}),
        ("MAX_WORDS", 4, {1, 2}),
        ("MAX_WORDS", 3, {1}),
        ("MAX_WORDS", 6, {1, 2}),
        ("MAX_TAIL", 2, {1, 2, 3, 4}),
        ("MAX_TAIL", 1, set()),
    ],
)
def test_how_deep_proofs_for_every_length_are(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int, depths: set[int]
) -> None:
    """Prefixes are as long, as many, and followed by as many states as the limits say, and not more."""
    monkeypatch.setattr(every_length, limit, value)
    assert {proof.depth for proof in for_every_length(changing())} == depths


def fractions(*rows: str) -> list[list[Fraction]]:
    """Returns a table of numbers."""
    return [[Fraction(part) for part in row.split()] for row in rows]


@pytest.mark.parametrize(
    ("steps", "answers"),
    [
        (("1 0", "0 1"), ("3/5 2/5", "4/5 1/5")),
        (("1 0 0", "0 0 1", "0 0 1"), ("1/4 3/4", "1/2 1/2", "0 1")),
    ],
)
def test_rates_that_double(steps: tuple[str, ...], answers: tuple[str, ...]) -> None:
    """One answer is twice as likely, or ends sooner or later on the right: half of the rate bounds it."""
    starts = [[Fraction(int(s == k)) for s in range(len(steps))] for k in (0, 1)]
    model = classical_model(fractions(*steps), fractions(*answers), *starts, Fraction(2), (1,))
    loop = no_budget(model)
    assert loop is not None
    assert loop.growth == 2
    assert keeps_its_word(model, loop)


def test_cones_live_on_all_states_that_follow() -> None:
    """No step leaves the states of a proof, and all states are among them that follow after its depth."""
    model = parametric_model(
        {"p": (Fraction(1, 4), Fraction(1, 2))},
        [["0", "1", "0", "0"], ["0", "0", "1", "0"], ["0", "0", "0", "1"], ["0", "0", "0", "1"]],
        [["1/2", "1/2"], ["p", "1-p"], ["3/8", "5/8"], ["1-p", "p"]],
        ["1", "0", "0", "0"],
        ["0", "1", "0", "0"],
        "1000",
        (1,),
    )
    found = list(for_every_length(model))
    assert found
    for proof in found:
        steps = proof.model.hmm.steps
        assert {step.successor for s in proof.states for step in steps[s]} <= set(proof.states)
        (pair,) = proof.model.pairs
        reached = {s for start in (pair.pi, pair.tau) for s in start.weights}
        for _ in range(proof.depth):
            reached = {step.successor for s in reached for step in steps[s]}
        assert reached <= set(proof.states)
