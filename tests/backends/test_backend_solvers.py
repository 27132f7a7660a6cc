"""Z3 and cvc5 on claims with known verdicts, and the way from algebraic models to rational points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramverify.algebra.domains import box_domain, parse_interval
from paramverify.algebra.polynomials import Ring
from paramverify.algebra.signs import parse_constraint
from paramverify.answers import End, Open, Proved, Refuted
from paramverify.backends import backend
from paramverify.claims import Claim
from paramverify.formats.refutations import Approximation, Satisfied, decide, rounded_violation
from paramverify.processes.attempts import Attempt, AttemptLimits, settings
from paramverify.processes.runner import Runner

SOLVERS = ("z3", "cvc5", "cvc5-cov")
UNIT = {"p": "(0, 1)"}
SQUARE = {"p": "(0, 1)", "q": "(0, 1)"}


@dataclass(frozen=True)
class Known:
    """A claim."""

    polynomial: str
    box: Mapping[str, str]
    constraints: tuple[str, ...] = ()

    def claim(self) -> Claim:
        ring = Ring(tuple(self.box))
        domain = box_domain(ring, {name: parse_interval(text) for name, text in self.box.items()})
        constraints = tuple(c for text in self.constraints for c in parse_constraint(text, domain))
        return Claim(ring.parse(self.polynomial), replace(domain, constraints=constraints))


TABLE = (
    Known("1/4 - p + p^2", UNIT),  # touches zero inside
    Known("1/4 - 1/1000000000 - p + p^2", UNIT),  # misses it
)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as made:
        yield made


@pytest.mark.parametrize("name", SOLVERS)
def test_descriptions(name: str) -> None:
    """Each solver is found by name, with its version; cvc5's are told apart by settings that are recorded."""
    found = backend(name)
    assert found.name == name
    assert not found.builtin
    assert found.version()
    coverings = {"z3": None, "cvc5": "false", "cvc5-cov": "true"}[name]
    assert settings(found, {}).get("nl-cov") == coverings
    assert settings(found, {"nl-cov": "?"})["nl-cov"] == "?"


@pytest.mark.parametrize("name", SOLVERS)
def test_options_reach_the_solver(runner: Runner, name: str) -> None:
    """An option that the solver does not know makes it give up with the reason; one that it knows is used."""
    about = TABLE[1].claim()
    answer = runner.run(Attempt(name, about, {"nonsense": "1"}), AttemptLimits(60)).answer
    assert isinstance(answer, Open)
    assert answer.end is End.GAVE_UP
    assert "nonsense" in answer.detail
    option = {"random_seed": "7"} if name == "z3" else {"seed": "7"}
    decision = runner.run(Attempt(name, about, option), AttemptLimits(60))
    assert isinstance(decision.answer, Refuted)
    assert decision.options.items() >= option.items()


def test_unknown_is_open(runner: Runner) -> None:
    """A solver that says unknown has given up, with its reason."""
    answer = runner.run(Attempt("z3", TABLE[0].claim(), {"rlimit": "1"}), AttemptLimits(60)).answer
    assert isinstance(answer, Open)
    assert answer.end is End.GAVE_UP
    assert answer.detail.startswith("unknown: ")


def root(of: Fraction) -> Approximation:
    """Returns the square root of a number as an approximation that is off by almost what it may be."""

    def approximate(bits: int) -> Fraction:
        scale = 2 ** (bits + 20)
        return Fraction(isqrt(int(of * scale * scale)), scale) + Fraction(9, 10 * 2**bits)

    return approximate


def never(_: Claim) -> Open:
    return Open(End.GAVE_UP)


@given(st.integers(2, 10**9), st.integers(1, 60))
def test_rational_points_near_algebraic_ones(square: int, bits: int) -> None:
    """Between the two sides of a narrow strip around an irrational point a rational one is found."""
    number = Fraction(square, 10**9 + 7)  # never the square of a rational
    width = Fraction(1, 2**bits)
    ring = Ring(("p",))
    strip = ring.variable("p") ** 2 - ring.number(number)
    about = Claim(strip**2 - ring.number(width**2), box_domain(ring, {"p": parse_interval("(0, 2)")}))
    point = rounded_violation(about, {"p": root(number)}, never)
    assert point is not None
    assert abs(point["p"] ** 2 - number) < width


def test_one_coordinate_is_fixed_where_they_depend_on_each_other() -> None:
    """Rounding both coordinates misses a line, so one is fixed and the solver is asked for the other."""
    total = Fraction(1_000_003, 1_000_000)
    about = Known("1/10 - p^3*q", SQUARE, (f"p + q == {total}",)).claim()
    half = root(Fraction(1, 2))
    asked: list[Fraction] = []

    def solve(narrower: Claim) -> Satisfied | Proved:
        fixed = narrower.domain.box["p"]
        assert fixed.is_point
        asked.append(fixed.lower)
        point = {"p": fixed.lower, "q": total - fixed.lower}
        return Proved() if narrower.holds_at(point) else Satisfied({"q": point["q"]}, "")

    point = rounded_violation(about, {"p": half, "q": lambda bits: total - half(bits)}, solve)
    assert asked
    assert point == {"p": asked[-1], "q": total - asked[-1]}
    assert point in about.domain
    assert not about.holds_at(point)


@pytest.mark.slow
def test_model_that_violates_nothing() -> None:
    """A rational model that does not violate the claim is no refutation, also straight from a backend."""
    about = TABLE[0].claim()
    answer = decide(about, lambda _: Satisfied({"p": Fraction(1, 2)}, "sat\np = 1/2"))
    assert isinstance(answer, Open)
    assert answer.transcript == "sat\np = 1/2"
