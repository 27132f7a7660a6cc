"""The monolithic encoding, as published, against the enumerating one, the cone encoding and brute force."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from random_models import parametric_model

from paramverify.backends import backend
from paramverify.divergences import MaxDivergence
from paramverify.encodings.monolithic import Unsatisfiable, formulas, script, solve
from paramverify.evidence.witnesses import ExactWitness
from paramverify.models.model import Model
from paramverify.privacy.cases import load
from paramverify.scripts.script_solutions import run_script

SECONDS = 30


def answers(model: Model, length: int) -> list[object]:
    return [solve(model, formula, SECONDS) for formula in formulas(model, length)]


@pytest.mark.parametrize(("low", "private"), [("4/15", True), ("1/10", False)])
def test_parametric_transitions(low: str, private: bool) -> None:
    """A parameter of the transitions is a variable of the formula, and its value is the witness's."""
    model = parametric_model(
        {"p": (Fraction(low), Fraction(1, 2))},
        [["1-p", "p"], ["p", "1-p"]],
        [["3/4", "1/4"], ["1/4", "3/4"]],
        ["1", "0"],
        ["0", "1"],
        "6",
        (2,),
    )
    found = answers(model, 2)
    assert all(isinstance(answer, Unsatisfiable) for answer in found) == private
    for answer in found:
        if isinstance(answer, ExactWitness):
            assert answer.exceeds
            assert Fraction(1, 10) <= answer.parameters["p"] <= Fraction(1, 2)


@pytest.mark.parametrize(("ratio", "private"), [("3", True), ("2", False)])
def test_scripts_say_what_the_formulas_say(ratio: str, private: bool) -> None:
    """Solvers agree on the formula as an SMT-LIB script, also where a parameter's name is taken there."""
    model = parametric_model(
        {"pi": (Fraction(0), Fraction(1)), "q": (Fraction(0), Fraction(1))},
        [["1", "0"], ["0", "1"]],
        [["3/4", "1/4"], ["1/4", "3/4"]],
        ["pi", "0"],
        ["pi*q/2", "pi*(2-q)/2"],
        ratio,
        (1,),
    )
    texts = [script(formula) for formula in formulas(model, 1)]
    for name in ("z3", "cvc5-cov", "yices"):
        said = [run_script(backend(name), text, {}) for text in texts]
        assert {str(answer).strip() for answer in said} <= {"sat", "unsat"}
        assert all(str(answer).strip() == "unsat" for answer in said) == private


def test_parametric_priors_and_impossible_secrets() -> None:
    """At q = 0 one secret is impossible; the formula excludes that point and is decided by the others."""
    pi, tau = ["q", "0"], ["q/2", "q/2"]
    box = {"q": (Fraction(0), Fraction(1))}
    rows = [["1", "0"], ["0", "1"]], [["3/4", "1/4"], ["1/4", "3/4"]]
    for ratio, private in (("2", True), ("4/3", False)):
        found = answers(parametric_model(box, *rows, pi, tau, ratio, (1,)), 1)
        assert all(isinstance(answer, Unsatisfiable) for answer in found) == private


@pytest.mark.slow
def test_above_threshold_in_the_general_step_form(root: Path) -> None:
    """Moves that depend on the observation are selected by successor: 4 holds for two answers, 3 does not."""
    model = load(root / "cases" / "above-threshold.toml").model
    four, three = (replace(model, measure=MaxDivergence.number(model.domain.ring, c)) for c in (4, 3))
    assert all(isinstance(answer, Unsatisfiable) for answer in answers(four, 2))
    witnesses = [answer for answer in answers(three, 2) if isinstance(answer, ExactWitness)]
    assert len(witnesses) == 2
    assert all(w.exceeds for w in witnesses)


def test_formulas_grow_with_the_length_and_not_with_the_number_of_sequences(root: Path) -> None:
    """The term is shared, so its size grows linearly while the sequences grow as powers."""
    model = load(root / "cases" / "above-threshold.toml").model
    sizes = [next(formulas(model, length)).size for length in (2, 3, 4)]
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0] > 0
