"""Cases made from 3-SAT formulas: privacy says what a SAT solver says."""

import importlib.util
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from paramverify.encodings import sequences
from paramverify.encodings.cone import cone_claims
from paramverify.encodings.monolithic import Unsatisfiable, formulas, solve
from paramverify.evidence.witnesses import ExactWitness, evaluate


@pytest.fixture(scope="module")
def hard_sat(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("hard_sat", root / "benchmarks" / "hard_sat.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_privacy_is_unsatisfiability(hard_sat: ModuleType, seed: int) -> None:
    """The model is private for ln 4 iff the formula has no solution, and a violation is a solution."""
    random = Random(seed)
    variables = random.randint(3, 6)
    formula = hard_sat.random_formula(random, variables, random.randint(4, 7) * variables)
    model = hard_sat.read_model(formula, variables)
    broken = [claim for claim in cone_claims(model) if not claim.holds_at({})]
    assert bool(broken) == hard_sat.satisfiable(formula)
    for claim in broken:
        for origin in claim.origins:
            assert evaluate(model, origin, {}).exceeds
            assert origin.left == "left"
            assert hard_sat.satisfies(formula, origin.observations)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_printed_reduction_separates_below_four_only(hard_sat: ModuleType, seed: int) -> None:
    """As printed every instance is private for ln 4; with 4 - 1/m privacy is unsatisfiability."""
    random = Random(seed)
    variables = 3
    clauses = random.choice((2, 7, 8, 9, 16))
    formula = hard_sat.random_formula(random, variables, clauses)
    if seed % 2:  # all signs of three variables: no assignment makes all clauses true
        signs = product((1, -1), repeat=3)
        formula = [tuple(s * v for s, v in zip(sign, (1, 2, 3), strict=True)) for sign in signs]
    count = len(formula)
    best = Fraction(0)
    for values in product((True, False), repeat=variables):
        true = sum(any(values[abs(x) - 1] == (x > 0) for x in clause) for clause in formula)
        best = max(best, Fraction(8 * true + 5 * (count - true), 2 * true + 5 * (count - true)))
    for bound in (Fraction(4), 4 - Fraction(1, count)):
        model = hard_sat.read_model(formula, variables, bound)
        found = [c.ratio for c in sequences.candidates(model)]
        assert max(r for r in found if r is not None) == best
        private = all(claim.holds_at({}) for claim in sequences.sequence_claims(model))
        assert private == (bound == 4 or not hard_sat.satisfiable(formula))


def test_the_monolithic_encoding_agrees(hard_sat: ModuleType) -> None:
    """Z3 on one formula for all sequences finds a solution, or shows that there is none."""
    for seed, variables, clauses in ((1, 3, 6), (2, 3, 40)):
        formula = hard_sat.random_formula(Random(seed), variables, clauses)
        model = hard_sat.read_model(formula, variables)
        answers = [solve(model, f, 30) for f in formulas(model, variables)]
        assert isinstance(answers[1], Unsatisfiable)
        assert isinstance(answers[0], ExactWitness if hard_sat.satisfiable(formula) else Unsatisfiable)
