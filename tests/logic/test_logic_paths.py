"""Path probabilities: against sums over all paths, against Storm, and against all policies."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random

import pytest
from flint import fmpq
from logic_models import horizon, path_sum, random_chain, random_formula

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.errors import LimitError, UnsupportedError
from paramverify.logic.formula_grammar import read_property
from paramverify.logic.formula_syntax import Constant, Formula, Label, Probability
from paramverify.logic.path_automata import NormalRelease, NormalUntil, unbounded
from paramverify.logic.probability_comparisons import Method, PathEngine, SchedulerChoice
from paramverify.logic.storm_probabilities import ltl_probabilities
from paramverify.models.chains import prism_files
from paramverify.models.chains.markov_chains import ANY, Chain, Value


def engine(chain: Chain, choice: SchedulerChoice = SchedulerChoice.AUTO) -> PathEngine:
    """An engine in which labels are the only state formulas, and junctions of them."""

    def leaf(formula: Formula) -> list[bool]:
        from paramverify.logic.formula_syntax import Junction, Junctor, Not

        def holds(part: Formula, state: int) -> bool:
            if isinstance(part, Label):
                return state in chain.labels[part.name]
            if isinstance(part, Not):
                return not holds(part.inner, state)
            if isinstance(part, Constant):
                return part.value
            assert isinstance(part, Junction)
            found = [holds(p, state) for p in part.parts]
            return all(found) if part.operator is Junctor.AND else any(found)

        return [holds(formula, state) for state in range(len(chain.states))]

    return PathEngine(chain, leaf, None, choice)


def fraction(value: Value) -> Fraction:
    return Fraction(int(value.p), int(value.q))


@cache
def path(text: str) -> Formula:
    formula = read_property(f"P>=0 [ {text} ]").formula
    assert isinstance(formula, Probability)
    return formula.path


def exact(chain: Chain, formula: Formula) -> list[Fraction]:
    (found,) = engine(chain).of(formula, range(len(chain.states)))
    assert found.upper is found.lower
    return [fraction(found.upper[s]) for s in range(len(chain.states))]


@pytest.mark.slow
def test_bounded_formulas_against_all_paths() -> None:
    """On 80 random chains, bounded formulas have the probability that all their paths sum up to."""
    random = Random(7)
    checked = 0
    while checked < 80:
        chain, formula = random_chain(random), random_formula(random, 3)
        if horizon(formula) > 5:
            continue
        assert exact(chain, formula) == [path_sum(chain, formula, s) for s in range(len(chain.states))]
        checked += 1


@pytest.mark.slow
def test_unbounded_formulas_are_limits() -> None:
    """`a U b` and `F b` are reached from below by their bounded variants, which the path sums confirm."""
    random = Random(8)
    for _ in range(30):
        chain = random_chain(random)
        for text in ("a U b", "F b"):
            value = exact(chain, path(text))
            for steps in (50, 200, 800, 3200):
                below = exact(chain, path(text.replace("U", f"U<={steps}").replace("F", f"F<={steps}")))
                assert all(low <= found for low, found in zip(below, value, strict=True))
                if all(found <= low + Fraction(1, 1000) for low, found in zip(below, value, strict=True)):
                    break
            else:
                raise AssertionError(f"{text}: {value} is no limit")


@pytest.mark.slow
@pytest.mark.skipif(not prism_files.available(), reason="Storm is not installed")
def test_storm_says_the_same() -> None:
    """On 80 random chains the built-in engine and Storm's LTL engine give the same exact numbers."""
    random = Random(9)
    checked = general = 0
    while checked < 80:
        chain = random_chain(random, 5)
        formula = random_formula(random, 3, bounded=False)
        own = engine(chain)
        node, leaves = own.compile(formula)
        starts = range(len(chain.states))
        theirs = ltl_probabilities(chain, node, leaves, starts, None)
        if unbounded(node, NormalUntil) and unbounded(node, NormalRelease):
            general += 1
            assert all(0 <= value <= 1 for value in theirs.values())
            continue
        assert own.exact(chain, node, leaves, starts) == theirs
        checked += 1
    assert general > 3


@pytest.mark.skipif(not prism_files.available(), reason="Storm is not installed")
def test_storm_with_parameters() -> None:
    """A rational function from Storm is the one of the built-in engine."""
    ring = Ring(("p", "q"))
    p, q, one = (RationalFunction.of(x) for x in (ring.variable("p"), ring.variable("q"), ring.number(1)))
    zero_one = Interval(Fraction(0), Fraction(1))
    rows = (
        (((1, p), (2, one - p)),),
        (((0, q), (3, one - q)),),
        (((0, p * q), (4, one - p * q)),),
        (((3, one),),),
        (((4, one),),),
    )
    domain = Domain(ring, {"p": zero_one, "q": zero_one})
    chain = Chain(tuple("abcde"), (ANY,), rows, (0,), {"b": frozenset({3})}, {}, domain)
    own = engine(chain)
    for text in ("F b", "X X b", "X F b", "F<=6 b", "G !b"):
        node, leaves = own.compile(path(text))
        theirs = ltl_probabilities(chain, node, leaves, [0, 1, 2], None)
        assert own.exact(chain, node, leaves, [0, 1, 2]) == theirs
    (found,) = own.of(path("F b"), [0])
    assert str(found.upper[0]) == str((p - p * q) / (one - p * q - p * q + p * p * q))


@pytest.mark.slow
@pytest.mark.skipif(not prism_files.available(), reason="Storm is not installed")
def test_recurrence_by_end_components() -> None:
    """`G F a` is to reach a closed component with a state in a, and `F G a` one with such states only."""
    random = Random(14)
    for _ in range(40):
        chain = random_chain(random, 5)
        states = range(len(chain.states))
        reach = {s: {s} for s in states}
        for _ in states:
            for s in states:
                reach[s] |= {t for u in set(reach[s]) for t, _ in chain.rows[u][0]}
        closed = [s for s in states if all(s in reach[t] for t in reach[s])]
        often = frozenset(s for s in closed if reach[s] & chain.labels["a"])
        always = frozenset(s for s in closed if reach[s] <= chain.labels["a"])
        for text, target in (("G F a", often), ("F G a", always)):
            marked = replace(chain, labels={**chain.labels, "b": target})
            assert exact(chain, path(text)) == exact(marked, path("F b"))


def test_general_formulas_without_storm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Storm a formula that needs it is refused with a way out."""
    monkeypatch.setattr("paramverify.logic.storm_probabilities.available", lambda: False)
    chain = random_chain(Random(1))
    with pytest.raises(UnsupportedError, match=r"pip install 'paramverify\[storm\]'"):
        list(engine(chain).of(path("G F a"), [0]))


@pytest.mark.slow
def test_action_sequences_against_all_words() -> None:
    """On 100 random decision processes, the extreme differences over all words of actions are found."""
    random = Random(10)
    checked = 0
    while checked < 100:
        chain = random_chain(random, 3, ("l", "h"))
        formula = random_formula(random, 3)
        length = horizon(formula) - 1
        if not 1 <= length <= 4 or len(chain.states) < 2:
            continue
        found = list(engine(chain).of(formula, [0, 1]))
        brute = [
            (path_sum(chain, formula, 0, word), path_sum(chain, formula, 1, word))
            for word in product(range(2), repeat=length)
        ]
        ours = [(fraction(f.upper[0]), fraction(f.upper[1])) for f in found]
        if all(f.method is Method.WORDS for f in found):
            assert set(ours) <= set(brute)
            for c in (Fraction(1), Fraction(2), Fraction(7, 3)):
                assert max(p - c * q for p, q in ours) == max(p - c * q for p, q in brute)
                assert max(q - c * p for p, q in ours) == max(q - c * p for p, q in brute)
            checked += 1


def test_words_are_told() -> None:
    """The word that is told has the probabilities that are told."""
    random = Random(11)
    for _ in range(20):
        chain = random_chain(random, 3, ("l", "h"))
        formula = path("X (a | X (b & X a))")
        for found in engine(chain).of(formula, [0, 1]):
            word = [chain.actions.index(a) for a in found.actions] + [0, 0]
            assert fraction(found.upper[0]) == path_sum(chain, formula, 0, word)


def test_extremes_against_all_policies() -> None:
    """Largest and smallest probabilities of `a U b` are those over all memoryless policies."""
    random = Random(12)
    for _ in range(60):
        chain = random_chain(random, 4, ("l", "h"))
        states = range(len(chain.states))
        (found,) = engine(chain, SchedulerChoice.SUFFICIENT).of(path("a U b"), states)
        assert found.method is Method.EXTREMES
        policies = []
        for choice in product(range(2), repeat=len(chain.states)):
            rows = tuple((chain.rows[s][choice[s]],) for s in states)
            fixed = Chain(chain.states, (ANY,), rows, chain.initial, chain.labels, {}, chain.domain)
            policies.append(exact(fixed, path("a U b")))
        for s in states:
            assert fraction(found.upper[s]) == max(values[s] for values in policies)
            assert fraction(found.lower[s]) == min(values[s] for values in policies)


def test_extremes_of_bounded_formulas_enclose_all_words() -> None:
    """Over all schedulers the extremes are at least those over words of actions."""
    random = Random(13)
    for _ in range(30):
        chain = random_chain(random, 3, ("l", "h"))
        formula = path("X (a & X (b | X a))")
        (wide,) = engine(chain, SchedulerChoice.SUFFICIENT).of(formula, [0])
        words = [path_sum(chain, formula, 0, word) for word in product(range(2), repeat=3)]
        assert fraction(wide.lower[0]) <= min(words)
        assert max(words) <= fraction(wide.upper[0])


def test_exact_method_refuses_unbounded_formulas() -> None:
    """The exact method says what it cannot do on decision processes."""
    chain = random_chain(Random(1), 3, ("l", "h"))
    with pytest.raises(
        UnsupportedError,
        match=r"exact method enumerates action sequences, .* give each U, F, G and R a bound",
    ):
        list(engine(chain, SchedulerChoice.EXACT).of(path("F a"), [0]))
    with pytest.raises(UnsupportedError, match="this one has both; give one of the two kinds bounds"):
        list(engine(chain).of(path("G F a"), [0]))


def test_too_many_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are too many words, auto falls back to the sufficient condition, and says so."""
    monkeypatch.setattr("paramverify.logic.schedulers.MAX_STEPS", 3)
    chain = random_chain(Random(3), 3, ("l", "h"))
    formula = path("X (a | X (b & X (a | X b)))")
    (found,) = engine(chain).of(formula, [0, 1])
    assert found.method is Method.EXTREMES
    with pytest.raises(LimitError, match="action sequences"):
        list(engine(chain, SchedulerChoice.EXACT).of(formula, [0, 1]))


def test_a_state_that_never_leaves() -> None:
    """Loops, unreachable targets and certain ones have the values that they must have."""
    one = fmpq(1)
    half = fmpq(1, 2)
    rows = ((((0, half), (1, half)),), (((1, one),),), (((2, half), (0, half)),), (((3, one),),))
    labels = {"a": frozenset({0}), "b": frozenset({1}), "c": frozenset({3})}
    chain = Chain(tuple("wxyz"), (ANY,), rows, (0,), labels, {}, Domain(Ring(), {}))
    assert exact(chain, path("F b")) == [1, 1, 1, 0]
    assert exact(chain, path("F c")) == [0, 0, 0, 1]
    assert exact(chain, path("G !c")) == [1, 1, 1, 0]
    assert exact(chain, path("F true")) == [1, 1, 1, 1]
    assert exact(chain, path("G<=0 a")) == [1, 0, 0, 0]
