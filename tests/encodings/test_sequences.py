"""Sequences of observations and witnesses, compared with the definition on small models."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import gcd
from random import Random

import pytest
from random_models import all_probabilities, parametric_model, random_model

from paramverify.algebra.domains import Constraint, Domain, Interval, contains
from paramverify.algebra.polynomials import constant_value
from paramverify.claims import Claim, Origin
from paramverify.encodings import sequences
from paramverify.encodings.encoding import Candidate
from paramverify.encodings.sequences import (
    candidates,
    forward_sum,
    forward_sums,
    probabilities,
    sequence_claims,
    vectors,
)
from paramverify.errors import InputError, LimitError
from paramverify.evidence.divergence_witnesses import directed
from paramverify.evidence.witnesses import evaluate, find_witness, simplest_violation
from paramverify.models.model import Model


def small(seed: int) -> Model:
    """Returns a random model of the lengths 1 and 3; the first one has answers of one side only."""
    if seed == 0:
        same = [["1" if i == j else "0" for j in range(3)] for i in range(3)]
        answers = [["1/2", "1/2", "0", "0"], ["1/2", "0", "1/2", "0"], ["0", "0", "0", "1"]]
        return parametric_model({}, same, answers, ["1", "0", "0"], ["0", "1", "0"], "2", (1, 3))
    return replace(random_model(Random(seed), 1, states=3, symbols=3), lengths=(1, 3))


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_of_sequences(seed: int) -> None:
    """Each possible sequence has its probability under both secrets, and impossible ones are left out."""
    model = small(seed)
    expected = {}
    for word, both in all_probabilities(model).items():
        for name, chance in zip(("left", "right"), both, strict=True):
            if chance:
                expected[word, name] = chance
    found = {}
    for word, name, value in probabilities(model):
        found[word, name] = constant_value(value.numerator) / constant_value(value.denominator)
    assert found == expected
    (pair,) = model.pairs
    for (word, name), chance in expected.items():
        start = pair.pi if name == "left" else pair.tau
        scale = constant_value(start.mass) * constant_value(model.hmm.denominator) ** len(word)
        assert constant_value(forward_sum(model, start, word)) == chance * scale


@pytest.mark.parametrize("seed", range(5))
def test_candidates_are_the_pairs_of_probabilities(seed: int) -> None:
    """The candidates have the ratios of the possible sequences, and each names a sequence with its own."""
    model = small(seed)
    known = all_probabilities(model)
    found: dict[str, set[Fraction | None]] = {"left": set(), "right": set()}
    for candidate in candidates(model):
        left, right = constant_value(candidate.left), constant_value(candidate.right)
        one, two = known[candidate.origin.observations]
        if candidate.origin.left == "right":
            one, two = two, one
        assert left * two == right * one
        assert bool(left) == bool(one)
        assert bool(right) == bool(two)
        assert candidate.is_infinite == (two == 0)
        assert candidate.ratio == (one / two if two else None)
        found[candidate.origin.left].add(candidate.ratio)
    possible = [(one, two) for one, two in known.values() if one or two]
    assert found["left"] == {one / two if two else None for one, two in possible}
    assert found["right"] == {two / one if one else None for one, two in possible}


@pytest.mark.parametrize("seed", range(5))
def test_the_worst_claim_comes_first(seed: int) -> None:
    """Claims come by falling ratio, those without a right side first, and name all their sequences."""
    model = small(seed)
    known = all_probabilities(model)
    ratios = []
    for claim in sequence_claims(model):
        assert claim.origins
        (origin, *_) = claim.origins
        assert isinstance(origin, Origin)
        one, two = known[origin.observations] if origin.left == "left" else known[origin.observations][::-1]
        ratios.append((0, Fraction(0)) if not two else (1, -one / two))
    assert ratios == sorted(ratios)


def test_limits_and_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many vectors as the limit says are listed, and not more; names and lengths must be known."""
    model = replace(small(3), lengths=(1, 2, 3))
    by_length: dict[int, int] = {}
    for word, _ in vectors(model.hmm, model.lengths):
        by_length[len(word)] = by_length.get(len(word), 0) + 1
    most = max(by_length.values())
    monkeypatch.setattr(sequences, "MAX_VECTORS", most)
    assert len(list(vectors(model.hmm, model.lengths))) == sum(by_length.values())
    monkeypatch.setattr(sequences, "MAX_VECTORS", most - 1)
    with pytest.raises(LimitError):
        list(vectors(model.hmm, model.lengths))
    with pytest.raises(InputError, match="cannot be listed"):
        list(vectors(model.hmm, ()))
    with pytest.raises(InputError, match="unknown observation 'z'"):
        forward_sum(model, model.pairs[0].pi, ("z",))


def growing() -> Model:
    """A model in which all sequences are possible, and longer ones have more vectors."""
    steps = [["1/2", "1/3", "1/6"], ["1/5", "3/5", "1/5"], ["1/7", "2/7", "4/7"]]
    answers = [["1/2", "1/2"], ["1/3", "2/3"], ["3/4", "1/4"]]
    return parametric_model({}, steps, answers, ["1", "0", "0"], ["1/2", "0", "1/2"], "2", (1, 3))


def test_limits_are_those_of_the_longest_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight sequences of length three are listed where eight are allowed; longer ones are not formed."""
    model = growing()
    monkeypatch.setattr(sequences, "MAX_VECTORS", 8)
    assert sorted(len(word) for word, _ in vectors(model.hmm, model.lengths)) == [1] * 2 + [3] * 8
    for start in (model.pairs[0].pi, model.pairs[0].tau):
        assert sorted(map(len, forward_sums(model, start))) == [1] * 2 + [3] * 8
    assert len(list(probabilities(model))) == 20
    monkeypatch.setattr(sequences, "MAX_VECTORS", 7)
    for listed in (vectors(model.hmm, model.lengths), probabilities(model)):
        with pytest.raises(LimitError):
            list(listed)
    with pytest.raises(InputError, match="cannot be listed"):
        forward_sums(replace(model, lengths=()), model.pairs[0].pi)


@pytest.mark.parametrize("seed", range(5))
def test_vectors_are_merged_up_to_a_factor(seed: int) -> None:
    """The entries are coprime whole numbers, and no two vectors of one length are multiples."""
    model = small(seed)
    found: dict[int, set[tuple[Fraction, ...]]] = {}
    for word, vector in vectors(model.hmm, model.lengths):
        entries = [constant_value(vector[s]) if s in vector else 0 for s in range(len(model.hmm.states))]
        assert gcd(*(int(e) for e in entries)) == 1
        assert all(e == int(e) >= 0 for e in entries)
        exact = chances(model, word)
        assert all(a * sum(entries) == b * sum(exact) for a, b in zip(exact, entries, strict=True))
        scaled = tuple(e / sum(exact) for e in exact)
        assert scaled not in found.setdefault(len(word), set())
        found[len(word)].add(scaled)
    for length in model.lengths:
        words = product(range(len(model.hmm.observations)), repeat=length)
        exacts = [chances(model, word) for word in words]
        assert found.get(length, set()) == {tuple(e / sum(v) for e in v) for v in exacts if any(v)}


def chances(model: Model, word: tuple[int, ...]) -> list[Fraction]:
    """Returns, for each state, the sum of the weights of all paths from it that show a sequence."""
    if not word:
        return [Fraction(1)] * len(model.hmm.states)
    after = chances(model, word[1:])
    return [
        sum(
            (constant_value(s.weight) * after[s.successor] for s in row if s.observation == word[0]),
            Fraction(0),
        )
        for row in model.hmm.steps
    ]


def test_equal_pairs_are_compared_once() -> None:
    """Pairs with the same priors give their candidates once; a claim names all that say it."""
    model = growing()
    (pair,) = model.pairs
    twice = replace(model, pairs=(pair, replace(pair, left="other")))
    assert [c.origin for c in candidates(twice)] == [c.origin for c in candidates(model)]
    assert all(not c.is_infinite for c in candidates(model))
    zero = Candidate(pair.pi.mass * 0, pair.pi.mass * 0, Origin("left", "right", ()))
    assert not zero.is_infinite
    assert zero.ratio is None


def test_claims_with_parameters_come_last() -> None:
    """First what has no right side, then numbers, the ratio zero too, then what depends on parameters."""
    model = parametric_model(
        {"q": (Fraction(1, 10), Fraction(7, 10))},
        [["1", "0"], ["0", "1"]],
        [["q", "3/4 - q", "1/4"], ["1/2", "1/2", "0"]],
        ["1", "0"],
        ["0", "1"],
        "2",
        (1,),
    )
    order = [o for claim in sequence_claims(model) for o in claim.origins if isinstance(o, Origin)]
    assert [(o.left, *o.observations) for o in order[:2]] == [("left", "y"), ("right", "y")]
    assert {o.observations for o in order[2:]} == {("w",), ("x",)}
    assert len(order) == 6


def survey(constraints: tuple[str, ...] = ()) -> Model:
    """Left is ill with probability q, right never; answers are true with 3/4. The ratio is to be 2."""
    same = [["1", "0"], ["0", "1"]]
    answers = [["3/4", "1/4"], ["1/4", "3/4"]]
    box = {"q": (Fraction(0), Fraction(9, 10))}
    model = parametric_model(box, same, answers, ["q", "1-q"], ["0", "1"], "2", (1,))
    ring = model.domain.ring
    limits = tuple(Constraint(ring.parse(text), False, text) for text in constraints)
    return replace(model, domain=Domain(ring, model.domain.box, limits))


def test_witnesses_have_the_probabilities_of_the_model() -> None:
    """The probabilities are 1/4 + q/2 and 1/4, or the other way round, and exceed the ratio iff q > 1/2."""
    model = survey()
    yes = model.hmm.observations[0]
    for q in (Fraction(0), Fraction(1, 2), Fraction(51, 100), Fraction(9, 10)):
        witness = evaluate(model, Origin("left", "right", (yes,)), {"q": q})
        assert tuple(p.rational for p in witness.probabilities) == (Fraction(1, 4) + q / 2, Fraction(1, 4))
        assert witness.exceeds == (q > Fraction(1, 2))
        assert witness.bound.rational == 2
        turned = evaluate(model, Origin("right", "left", (yes,)), {"q": q})
        assert turned.probabilities[1].rational == Fraction(1, 4) + q / 2
        assert not turned.exceeds


def test_ratios_without_a_number() -> None:
    """A ratio with a parameter, or with the right side zero, is no number."""
    assert all(candidate.ratio is None for candidate in candidates(survey()))
    model = small(0)
    for name, ratio in ((0, 1), (1, None)):
        witness = evaluate(model, Origin("left", "right", (model.hmm.observations[name],)), {})
        assert (None if witness.ratio is None else witness.ratio.rational) == ratio


def test_strict_constraints_of_points() -> None:
    """A point with a positive value satisfies a strict constraint, one with the value zero does not."""
    model = survey(("q - 1/4",))
    (limit,) = model.domain.constraints
    strict = replace(model, domain=replace(model.domain, constraints=(replace(limit, strict=True),)))
    assert contains(strict.domain, {"q": Fraction(1, 2)})
    assert not contains(strict.domain, {"q": Fraction(1, 4)})
    assert not contains(strict.domain, {"q": Fraction(1, 5)})


def test_points_and_secrets_of_witnesses() -> None:
    """A point must give the parameters and be in the domain; secrets must be compared by the model."""
    model = survey(("q - 1/4",))
    origin = Origin("left", "right", (model.hmm.observations[0],))
    with pytest.raises(InputError, match=r"^no value for q$"):
        evaluate(model, origin, {})
    for q, inside in (("1/4", True), ("1/5", False), ("9/10", True), ("1", False)):
        assert contains(model.domain, {"q": Fraction(q)}) == inside
        if not inside:
            with pytest.raises(InputError, match=r"^this point is not in the domain"):
                evaluate(model, origin, {"q": Fraction(q)})
    pair = model.pairs[0]
    assert directed(model, "right", "left") == (pair.tau, pair.pi)
    assert directed(model, " left", "right") == (pair.pi, pair.tau)
    with pytest.raises(InputError, match=r"the case compares left / right$"):
        directed(model, "left", "left")
    many = replace(model, pairs=(pair,) * 7)
    with pytest.raises(InputError, match=r"compares left / right(, left / right){4} and 2 more$"):
        directed(many, "left", "left")
    with pytest.raises(InputError, match=r"right$"):
        directed(replace(model, pairs=(pair,) * 5), "left", "left")
    blanks = replace(model, pairs=(replace(pair, left="l eft"), replace(pair, left="le ft")))
    with pytest.raises(InputError, match="may be several pairs"):
        directed(blanks, "left", "right")


@pytest.mark.parametrize(
    ("text", "interval", "start", "simple"),
    [
        ("1/2 - q", "0 9/10", "17/20", "3/5"),
        ("q - 1/2", "0 1", "1/3", "0"),
        ("q^2 - 123/100*q + 1891/5000", "0 1", "123/200", "8/13"),
        ("q^2 - 1", "0 1", "1/3", "0"),
    ],
)
def test_simple_points(text: str, interval: str, start: str, simple: str) -> None:
    """The point is the simplest of those that are tried, or the simplest one near the start."""
    model = survey()
    low, high = map(Fraction, interval.split())
    domain = Domain(model.domain.ring, {"q": Interval(low, high, True, True)})
    claim = Claim(domain.ring.parse(text), domain)
    assert simplest_violation(claim, {"q": Fraction(start)}) == {"q": Fraction(simple)}


def test_spurious_points_are_no_witnesses() -> None:
    """A point where the claim holds, or outside of the domain, gives no witness; another one does."""
    model = survey()
    found = 0
    for claim in sequence_claims(model):
        for q in (Fraction(1, 4), Fraction(1, 2), Fraction(7, 10), Fraction(9, 10), Fraction(1)):
            witness = find_witness(model, claim, {"q": q})
            fails = q <= Fraction(9, 10) and not claim.holds_at({"q": q})
            assert (witness is not None) == fails
            if witness is not None:
                found += 1
                assert witness.exceeds
    assert found
