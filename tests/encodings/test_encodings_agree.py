"""The three encodings say the same, of random models and of all cases, and so does brute force.

Whether a sequence and a point satisfy a monolithic formula is computed here term by term with fractions, so
that nothing depends on what a solver can decide within a limit; where Z3 can, it is asked too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache, reduce
from itertools import islice, product
from operator import and_, mul, or_
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import ROOT
from kept_cases import kept
from quick import KINDS, seeds
from random_models import random_model

from paramverify.algebra.polynomials import value_at
from paramverify.claims import Claim
from paramverify.encodings.cone import cone_claims
from paramverify.encodings.monolithic import Unsatisfiable, ViolationFormula, formulas, solve
from paramverify.encodings.sequences import sequence_claims
from paramverify.evidence.witnesses import ExactWitness, evaluate
from paramverify.models.context import sample_points
from paramverify.models.model import Model, need_privacy
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.privacy.cases import PrivacyCase

Word = tuple[str, ...]
Point = Mapping[str, Fraction]
ENCODINGS = (sequence_claims, cone_claims)
SECONDS = 60


class Meaning:
    """The truth of a formula for every sequence at one point, each subterm computed once for each prefix."""

    def __init__(self, formula: ViolationFormula, names: tuple[str, ...], point: Point) -> None:
        self.formula, self.names = formula, names
        self.place = {term.symbol_name(): k for k, term in enumerate(formula.observed)}
        self.point = {term.symbol_name(): point[name] for name, term in formula.parameters.items()}
        self.reach: dict[int, int] = {}
        self.known: dict[tuple[int, tuple[int, ...]], Any] = {}

    def satisfying(self) -> set[Word]:
        """The sequences that satisfy the formula."""
        words = product(range(len(self.names)), repeat=len(self.place))
        return {
            tuple(self.names[o] for o in word) for word in words if self.value(self.formula.formula, word)
        }

    def last(self, term: Any) -> int:
        """How many of the observations a term depends on: the first so many."""
        if term.node_id() not in self.reach:
            own = self.place[term.symbol_name()] + 1 if self.observes(term) else 0
            self.reach[term.node_id()] = max([own, *map(self.last, term.args())])
        return self.reach[term.node_id()]

    def observes(self, term: Any) -> bool:
        return bool(term.is_symbol() and term.symbol_name() in self.place)

    def value(self, term: Any, word: tuple[int, ...]) -> Any:
        key = term.node_id(), word[: self.last(term)]
        if key not in self.known:
            self.known[key] = self.compute(term, word)
        return self.known[key]

    def compute(self, term: Any, word: tuple[int, ...]) -> Any:
        if self.observes(term):
            return word[self.place[term.symbol_name()]]
        if term.is_symbol():
            return self.point[term.symbol_name()]
        if term.is_constant():
            return Fraction(str(term.constant_value()))
        if term.is_ite():
            condition, yes, no = term.args()
            return self.value(yes if self.value(condition, word) else no, word)
        values = [self.value(part, word) for part in term.args()]
        if term.is_plus():
            return sum(values)
        if term.is_times():
            return reduce(mul, values)
        if term.is_and():
            return reduce(and_, values)
        if term.is_or():
            return reduce(or_, values)
        left, right = values
        if term.is_equals():
            return left == right
        if term.is_lt():
            return left < right
        assert term.is_le()
        return left <= right


def exceeding(model: Model, pair: SecretPair, point: Point) -> set[Word]:
    """The sequences with Pr(· | left) > ratio · Pr(· | right) at a point, by the forward recursion."""
    left, right = pair.pi, pair.tau
    masses = [value_at(start.mass, point) for start in (left, right)]
    if not all(masses):
        return set()
    scale = value_at(model.hmm.denominator, point)
    steps = [
        [(s.observation, s.successor, value_at(s.weight, point) / scale) for s in row]
        for row in model.hmm.steps
    ]
    ratio = model.measure.bound_at(pair.distance)
    top, bottom = (value_at(f, point) for f in (ratio.numerator, ratio.denominator))

    def sums(start: InitialDistribution, mass: Fraction) -> dict[Word, Fraction]:
        level = {(): {s: value_at(w, point) / mass for s, w in start.weights.items()}}
        for _ in range(model.lengths[0]):
            grown: dict[Word, dict[int, Fraction]] = {}
            for word, weights in level.items():
                for state, weight in weights.items():
                    for observation, successor, part in steps[state]:
                        row = grown.setdefault((*word, model.hmm.observations[observation]), {})
                        row[successor] = row.get(successor, Fraction(0)) + weight * part
            level = grown
        return {word: sum(weights.values(), Fraction(0)) for word, weights in level.items()}

    likely, unlikely = (sums(start, mass) for start, mass in zip((left, right), masses, strict=True))
    return {word for word, p in likely.items() if p * bottom > top * unlikely.get(word, Fraction(0))}


def directions(model: Model, pairs: list[SecretPair]) -> Iterator[tuple[ViolationFormula, SecretPair]]:
    """Each direction of these pairs with its formula."""
    found = formulas(replace(model, pairs=tuple(pairs)), model.lengths[0])
    for pair in pairs:
        yield next(found), pair
        yield next(found), replace(pair, left=pair.right, right=pair.left, pi=pair.tau, tau=pair.pi)


# --- random models ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(7, quick=4))
def test_random_models(seed: int) -> None:
    """Up to 5 states, 4 observations and length 6: one verdict for each direction, and true witnesses."""
    random = Random(7000 + seed)
    model = random_model(random, random.choice((1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6)))
    if len(model.hmm.observations) ** model.lengths[0] > 1000 and seed % 30:  # few of the largest ones
        model = replace(model, lengths=(4,))
    (pair,) = model.pairs
    few = len(model.hmm.observations) ** model.lengths[0] <= 32
    expected: dict[str, set[Word]] = {}
    for formula, one_way in directions(model, [pair]):
        expected[formula.left] = exceeding(model, one_way, {})
        assert Meaning(formula, model.hmm.observations, {}).satisfying() == expected[formula.left]
        if few:
            answer = solve(model, formula, SECONDS)
            assert isinstance(answer, ExactWitness if expected[formula.left] else Unsatisfiable)
            if isinstance(answer, ExactWitness):
                assert answer.observations in expected[formula.left]
    for encode in ENCODINGS:
        broken = [origin for c in encode(model) if not c.holds_at({}) for origin in c.origins]
        assert {origin.left for origin in broken} == {left for left, words in expected.items() if words}
        for origin in broken:
            assert origin.observations in expected[origin.left]
            assert evaluate(model, origin, {}).exceeds


# --- cases ------------------------------------------------------------------------------------------

FILES = sorted((ROOT / "cases").glob("*.toml"))
CASES = [
    path for path in FILES if path.stem in KINDS and "claim" not in tomllib.loads(path.read_text("utf-8"))
]
MOST = 130  # sequences of one length
PAIRS = 6  # of one case that are compared formula by formula
POINTS = 3
MANY = 50  # outputs, above which one point is tried


def short(model: Model) -> Model:
    """The model for one length: the longest of its own, or up to 5, with few enough sequences."""
    symbols = len(model.hmm.observations)
    longest = max(k for k in (1, 2, 3, 4, 5) if k == 1 or symbols**k <= MOST)
    return replace(model, lengths=(min(longest, max(model.lengths, default=longest)),))


@cache
def prepared(path: Path) -> tuple[PrivacyCase, Model, dict[str, tuple[Claim, ...]]]:
    """A case, its model for one length, and the claims of both encodings."""
    case = kept(path)
    model = short(need_privacy(case.model, "this test"))
    return case, model, {encode.__name__: encode(model) for encode in ENCODINGS}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem, scope="module")
def test_cases(path: Path) -> None:
    """At simple points each sequence satisfies the formula iff it violates the bound iff a claim fails."""
    _, model, claims = prepared(path)
    few = len(model.hmm.observations) > MANY
    points = list(islice(sample_points(model.domain), 1 if few else POINTS))
    chosen = list(model.pairs)
    if len(chosen) > PAIRS:
        chosen = Random(path.stem).sample(chosen, PAIRS)
    broken = [[[c for c in encoded if not c.holds_at(p)] for encoded in claims.values()] for p in points]
    for formula, one_way in directions(model, chosen):
        for point, by_encoding in zip(points, broken, strict=True):
            words = exceeding(model, one_way, point)
            assert Meaning(formula, model.hmm.observations, point).satisfying() == words
            for found in by_encoding:
                origins = [o for c in found for o in c.origins]
                told = {o.observations for o in origins if (o.left, o.right) == (formula.left, formula.right)}
                assert told <= words
                assert not words or found
                if len(model.pairs) == 1:
                    assert bool(told) == bool(words)
