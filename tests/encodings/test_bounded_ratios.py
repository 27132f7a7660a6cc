"""Cones of bounded ratios: recomputed from the matrices at points, and sequences counted one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from random_models import parametric_model

from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Polynomial, to_rational_function, value_at
from paramverify.divergences import MaxDivergence
from paramverify.encodings import every_length
from paramverify.encodings.every_length import (
    MARGINS,
    EveryLength,
    closed_rays,
    combinations_of,
    for_every_length,
)
from paramverify.errors import DefectError
from paramverify.models.model import Model

LEFT, RIGHT = ["1", "0"], ["0", "1"]


def changing(low: str = "3/10", high: str = "1/2", ratio: str = "6") -> Model:
    """A person is ill or well, changes with probability p from day to day, and answers truly with 3/4."""
    box = {"p": (Fraction(low), Fraction(high))}
    answers = [["3/4", "1/4"], ["1/4", "3/4"]]
    return parametric_model(box, [["1-p", "p"], ["p", "1-p"]], answers, LEFT, RIGHT, ratio, ())


def kept() -> Model:
    """An answer is drawn on the first day, and shown for ever from the second: states change no more."""
    steps = [["0", "0", "p", "1-p"], ["0", "0", "1-p", "p"], ["0", "0", "1", "0"], ["0", "0", "0", "1"]]
    answers = [["1", "0"], ["1", "0"], ["1", "0"], ["0", "1"]]
    box = {"p": (Fraction(1, 4), Fraction(3, 4))}
    return parametric_model(box, steps, answers, [*LEFT, "0", "0"], [*RIGHT, "0", "0"], "3", ())


def three() -> Model:
    """Three states in a ring, with a parameter in steps and answers; one step is impossible."""
    steps = [["1-p", "p", "0"], ["0", "1-p", "p"], ["1/3", "1/3", "1/3"]]
    answers = [["1/2", "1/2"], ["1/2 + p/9", "1/2 - p/9"], ["2/5", "3/5"]]
    box = {"p": (Fraction(2, 5), Fraction(3, 5))}
    return parametric_model(box, steps, answers, ["1", "0", "0"], ["0", "0", "1"], "20", ())


@pytest.fixture(autouse=True)
def two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prefixes of two observations are enough here."""
    monkeypatch.setattr(every_length, "MAX_DEPTH", 2)


MODELS = {"changing": changing(), "kept": kept(), "three": three()}


def at(polynomial: Polynomial, p: Fraction) -> Fraction:
    return value_at(polynomial, {"p": p})


def tables(model: Model, p: Fraction) -> list[list[list[Fraction]]]:
    """Returns the probabilities to show an observation and move, at a point."""
    size, scale = len(model.hmm.states), at(model.hmm.denominator, p)
    found = [[[Fraction(0)] * size for _ in range(size)] for _ in model.hmm.observations]
    for s, row in enumerate(model.hmm.steps):
        for step in row:
            found[step.observation][s][step.successor] += at(step.weight, p) / scale
    return found


def after(table: list[list[Fraction]], vector: list[Fraction]) -> list[Fraction]:
    return [sum((w * x for w, x in zip(row, vector, strict=True)), Fraction(0)) for row in table]


def grid(model: Model) -> list[Fraction]:
    interval = model.domain.box["p"]
    return [interval.lower + (interval.upper - interval.lower) * Fraction(k, 3) for k in range(4)]


def holds_at(proof: EveryLength, p: Fraction) -> bool:
    return all(at(claim.polynomial, p) >= 0 for claim in proof.claims)


@pytest.mark.parametrize("name", MODELS)
def test_cones_keep_their_vectors(name: str) -> None:
    """Where the claims hold, 1 is in the cone, no step leaves it, and no sequence is beyond the ratio."""
    model = MODELS[name]
    proofs = list(for_every_length(model))
    assert proofs
    assert {proof.depth for proof in proofs} == {1, 2}
    assert len({(proof.depth, proof.normals) for proof in proofs}) == len(proofs)
    for proof in proofs:
        check_at_points(proof)


def check_at_points(proof: EveryLength) -> None:
    """Checks at points where the claims hold that the cone is kept, and counts sequences up to length 3."""
    ratio = proof.model.measure.ratio
    for p in grid(proof.model):
        if holds_at(proof, p):
            for vector in [*proof.rays, (1,) * len(proof.states)]:
                assert all(sum(a * b for a, b in zip(n, vector, strict=True)) >= 0 for n in proof.normals)
                full = [Fraction(0)] * len(proof.model.hmm.states)
                for s, x in zip(proof.states, vector, strict=True):
                    full[s] = Fraction(x)
                for table in tables(proof.model, p):
                    moved = after(table, full)
                    for n in proof.normals:
                        assert sum(a * moved[s] for a, s in zip(n, proof.states, strict=True)) >= 0
            bound = at(ratio.numerator, p) / at(ratio.denominator, p)
            (pair,) = proof.model.pairs
            pi, tau = (
                [at(start.weights[s], p) if s in start.weights else Fraction(0) for s in range(len(full))]
                for start in (pair.pi, pair.tau)
            )
            level = [[Fraction(1)] * len(full)]
            for _ in range(3):
                level = [after(table, v) for table in tables(proof.model, p) for v in level]
                for v in level:
                    a, b = (sum(x * y for x, y in zip(w, v, strict=True)) for w in (pi, tau))
                    assert a <= bound * b
                    assert b <= bound * a


@pytest.mark.slow
@pytest.mark.parametrize("name", ["changing", "three"])
def test_bounds_are_as_small_as_their_margin(name: str) -> None:
    """Each bound of a ratio is needed by a step at a point, and at most by its margin larger than that."""
    model = MODELS[name]
    interval = model.domain.box["p"]
    points = [interval.lower, interval.simplest(), interval.upper]
    cones = list(
        dict.fromkeys((p.normals, p.rays, p.states) for p in for_every_length(model) if p.depth == 2)
    )
    assert cones
    widest = max(MARGINS)
    for normals, rays, states in cones:
        bounds = {}
        for n in normals:
            if min(n) < 0:
                (i,), (j,) = ([k for k, x in enumerate(n) if s * x > 0] for s in (-1, 1))
                bounds[i, j] = Fraction(n[j], -n[i])
        needed = dict.fromkeys(bounds, Fraction(1))
        for p, ray in product(points, rays):
            full = [Fraction(0)] * len(model.hmm.states)
            for s, x in zip(states, ray, strict=True):
                full[s] = Fraction(x)
            for table in tables(model, p):
                moved = after(table, full)
                for i, j in bounds:
                    if moved[states[j]]:
                        needed[i, j] = max(needed[i, j], moved[states[i]] / moved[states[j]])
        for pair, bound in bounds.items():
            assert needed[pair] <= bound <= needed[pair] * (1 + widest)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("ratio", ["2", "3", "5"])
def test_small_ratios_are_not_proved(ratio: str, name: str) -> None:
    """With a smaller ratio there are fewer proofs, and those are right: the first answers count too."""
    model = MODELS[name]
    bound = to_rational_function(parse(ratio), model.domain.ring)
    found = list(for_every_length(replace(model, measure=MaxDivergence(bound))))
    assert bool(found) == (name == "three" or (name == "kept" and int(ratio) >= 3))
    for proof in found:
        check_at_points(proof)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_all_claims_are_there(name: str) -> None:
    """They are that no step leaves the cone, and those of shorter sequences and of all before a ray."""
    for proof in for_every_length(MODELS[name]):
        assert not proof.exact
        model = proof.model
        size, (pair,) = len(model.hmm.states), model.pairs
        columns: list[list[Fraction]] = []
        for p in [*grid(model), Fraction(41, 100), Fraction(43, 100)]:
            whole, column = tables(model, p), []
            bound = at(model.measure.ratio.numerator, p) / at(model.measure.ratio.denominator, p)
            pi, tau = (
                [at(start.weights[s], p) if s in start.weights else Fraction(0) for s in range(size)]
                for start in (pair.pi, pair.tau)
            )
            rays = [[Fraction(0)] * size for _ in proof.rays]
            for vector, ray in zip(rays, proof.rays, strict=True):
                for s, x in zip(proof.states, ray, strict=True):
                    vector[s] = Fraction(x)
            for vector, table, normal in product(rays, whole, proof.normals):
                if min(normal) < 0:
                    moved = after(table, vector)
                    column.append(total(normal, [moved[s] for s in proof.states]))
            short = [[Fraction(1)] * size]
            for depth in range(1, proof.depth + 1):
                rays = [after(table, v) for v in rays for table in whole]
                short = [after(table, v) for v in short for table in whole]
                for v in rays if depth == proof.depth else short:
                    a, b = total(pi, v), total(tau, v)
                    column += [bound * b - a, bound * a - b]
            columns.append(column)
        expected = {scaled(row) for row in zip(*columns, strict=True)} - {None}
        points = [*grid(model), Fraction(41, 100), Fraction(43, 100)]
        found = [scaled([at(claim.polynomial, p) for p in points]) for claim in proof.claims]
        assert set(found) == expected
        assert len(found) == len(expected)


def total(weights: Sequence[Fraction | int], vector: Sequence[Fraction]) -> Fraction:
    return sum((w * x for w, x in zip(weights, vector, strict=True)), Fraction(0))


def scaled(values: Sequence[Fraction]) -> tuple[Fraction, ...] | None:
    """Returns values up to a positive factor; None for a number that is not negative."""
    if len(set(values)) == 1 and values[0] >= 0:
        return None
    size = sum(map(abs, values), Fraction(0))
    return tuple(v / size for v in values)


def test_cones_that_are_not_closed_are_a_defect() -> None:
    """Steps are shown to stay in the cone by weights of rays, and without enough rays there are none."""
    proof = closed_rays(kept_numbers())
    assert proof is not None
    assert proof.exact
    weights = combinations_of(proof)
    assert len(weights) == len(proof.rays) + 1
    for k, ray in enumerate([*proof.rays, (1,) * len(proof.states)]):
        for o, table in enumerate(tables(proof.model, Fraction(0))):
            moved = after(table, [Fraction(x) for x in ray])
            found = [Fraction(0)] * len(moved)
            for r, w in weights[k][o].items():
                assert w >= 0
                found = [a + w * x for a, x in zip(found, proof.rays[r], strict=True)]
            assert bool(any(found)) == bool(any(moved))
            assert all(a * sum(found) == b * sum(moved) for a, b in zip(moved, found, strict=True))
    with pytest.raises(DefectError):
        combinations_of(replace(proof, rays=proof.rays[:1]))


def kept_numbers() -> Model:
    """As `kept`, with numbers: the cone of its vectors closes."""
    steps = [["0", "0", "2/3", "1/3"], ["0", "0", "1/3", "2/3"], ["0", "0", "1", "0"], ["0", "0", "0", "1"]]
    answers = [["1", "0"], ["1", "0"], ["1", "0"], ["0", "1"]]
    return parametric_model({}, steps, answers, [*LEFT, "0", "0"], [*RIGHT, "0", "0"], "3", ())


@pytest.mark.parametrize("parametric", [True, False])
def test_the_search_for_cones_can_be_ended(parametric: bool) -> None:
    """The search asks all the time whether it is to go on: in each of its loops."""
    repeated = parametric_model(
        {"q": (Fraction(0), Fraction(1))},
        [["0", "0", "3/4", "1/4"], ["0", "0", "1/4", "3/4"], ["0", "0", "1", "0"], ["0", "0", "0", "1"]],
        [["1", "0"], ["1", "0"], ["1", "0"], ["0", "1"]],
        ["q", "1-q", "0", "0"],
        ["0", "1", "0", "0"],
        "3",
        (),
    )
    model = changing() if parametric else repeated
    calls: list[int] = []
    for _ in for_every_length(model, lambda: calls.append(1)):
        pass
    for limit in {0, 1, len(calls) // 2, len(calls) - 1}:
        left = [limit]

        def stop(left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise KeyError("enough")

        with pytest.raises(KeyError):
            list(for_every_length(model, stop))


@pytest.mark.parametrize(("ratio", "right"), [("2", False), ("3", True), ("4", True)])
def test_claims_that_are_false_numbers(ratio: str, right: bool) -> None:
    """The first answer has the ratio 3 whatever the parameter is: with less there is no proof."""
    model = parametric_model(
        {"p": (Fraction(1, 4), Fraction(3, 4))},
        [["0", "0", "1"], ["0", "0", "1"], ["0", "0", "1"]],
        [["3/4", "1/4"], ["1/4", "3/4"], ["p", "1-p"]],
        ["1", "0", "0"],
        ["0", "1", "0"],
        ratio,
        (),
    )
    assert bool(list(for_every_length(model))) == right


@pytest.mark.slow
def test_all_states_that_follow_are_found() -> None:
    """States that are reached after many steps are in the cone, too."""
    steps = [["1" if t == max(2, min(s + 1, 5)) else "0" for t in range(6)] for s in range(6)]
    answers = [["1/2", "1/2"], ["p", "1-p"], ["3/8", "5/8"], ["1-p", "p"], ["2/5", "3/5"], ["1/2", "1/2"]]
    box = {"p": (Fraction(1, 4), Fraction(1, 2))}
    model = parametric_model(box, steps, answers, ["1", *["0"] * 5], ["0", "1", *["0"] * 4], "1000", ())
    proofs = list(for_every_length(model))
    assert {proof.depth for proof in proofs} == {1, 2}
    for proof in proofs:
        assert len(proof.states) == {1: 4, 2: 3}[proof.depth]
        steps_ = proof.model.hmm.steps
        assert {step.successor for s in proof.states for step in steps_[s]} <= set(proof.states)
