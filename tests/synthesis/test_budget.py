"""Tight budgets: the papers' numbers, exact algebraic suprema, and comparison with a fine rational grid."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from flint import fmpz_poly
from hypothesis import given
from hypothesis import strategies as st
from strategies import FEW

from paramverify.algebra.domains import contains
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.real_roots import RealRoot, suprema
from paramverify.bounds import INFINITY
from paramverify.claims import Origin
from paramverify.cli.main import run
from paramverify.evidence.witnesses import evaluate
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.every_length_budget import tight_budget_of_every_length
from paramverify.synthesis.quotients import RatioBounds

CASES = Path(__file__).parents[2] / "cases"


def budget(path: Path, relative: bool = False) -> RatioBounds:
    with Session() as session:
        return tight_budget(load(path).model, session, relative=relative)


def rational(found: RatioBounds) -> Fraction:
    assert isinstance(found.value, RealRoot)
    assert found.value.is_rational
    return found.value.lower


def test_symbolic_geometric_mechanism_is_tight() -> None:
    """Relative to its bound 1/alpha the truncated geometric mechanism has ratio exactly 1, and reaches it."""
    found = budget(CASES / "geometric-symbolic-3.toml", relative=True)
    assert (rational(found), found.attained) == (1, True)


EXAMPLE_5_LIKE = """
[parameters]
p = "{p}"
q = "{q}"
[prior]
a = {{ binomial = [2, "p"] }}
b = {{ binomial = [2, "q"] }}
[mechanism]
kind = "noisy_max"
queries = ["a", "b"]
noise = {{ truncated_geometric = "1/2", range = 2 }}
[secrets]
some = "a >= 1"
none = "a == 0"
pairs = [["some", "none"]]
[privacy]
ratio = 2
"""


@pytest.mark.slow
@pytest.mark.parametrize(("p", "q"), [("(0, 1)", "(0, 1)"), ("[1/4, 3/4]", "[1/10, 9/10]")])
def test_two_parameters_against_a_grid(p: str, q: str, tmp_path: Path) -> None:
    """No point of a grid has a larger ratio than the supremum, and some point comes close to it."""
    path = tmp_path / "case.toml"
    path.write_text(EXAMPLE_5_LIKE.format(p=p, q=q))
    found = budget(path)
    case = load(path)
    from paramverify.algebra.polynomials import value_at
    from paramverify.encodings.sequences import candidates

    steps = [Fraction(k, 400) for k in (1, *range(20, 400, 20), 399)]
    points = [
        {"p": x, "q": y}
        for x in [*steps, Fraction(1, 3), Fraction(1, 4), Fraction(3, 4)]
        for y in [*steps, Fraction(1, 10), Fraction(9, 10)]
        if {"p": x, "q": y} in case.model.domain
    ]
    largest = max(
        value_at(c.left, point) / value_at(c.right, point) for c in candidates(case.model) for point in points
    )
    assert found.high is not None
    assert largest <= found.high
    assert largest >= found.low * Fraction(98, 100)
    assert found.value is not None or found.high - found.low <= found.low / 10**9


def test_algebraic_supremum() -> None:
    """The supremum of p(1-p)/(1+p) on (0,1) is 3 - 2√2 at √2 - 1, with its minimal polynomial."""
    found = suprema(fmpz_poly([0, 1, -1]), fmpz_poly([1, 1]), Fraction(0), Fraction(1))
    assert found.value is not None
    assert found.value.factor in (fmpz_poly([1, -6, 1]), fmpz_poly([-1, 6, -1]))
    fine = found.value.refined(Fraction(1, 10**12))
    assert abs(float(fine.lower) - (3 - 2 * 2**0.5)) < 1e-9
    assert abs(float(found.place.refined(Fraction(1, 10**12)).lower) - (2**0.5 - 1)) < 1e-9


@FEW
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any),
    st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any),
)
def test_supremum_is_above_a_grid_and_near_its_maximum(top: list[int], bottom: list[int]) -> None:
    """For random quotients with nonnegative Bernstein coefficients the exact supremum matches a grid."""

    def bernstein(coefficients: list[int]) -> fmpz_poly:
        from math import comb

        degree = len(coefficients) - 1
        x, rest = fmpz_poly([0, 1]), fmpz_poly([1, -1])
        terms = (c * comb(degree, k) * x**k * rest ** (degree - k) for k, c in enumerate(coefficients))
        return sum(terms, fmpz_poly())

    a, b = bernstein(top), bernstein([c + 1 for c in bottom])
    common = a.gcd(b)
    common = common if common(0) > 0 or (not common(0) and common(1) > 0) else -common
    found = suprema(a // common, b // common, Fraction(0), Fraction(1))
    assert found.value is not None
    from flint import fmpq

    grid = [a(fmpq(k, 1000)) / b(fmpq(k, 1000)) for k in range(1, 1000)]
    best = Fraction(int(max(grid).p), int(max(grid).q))
    fine = found.value.refined(Fraction(1, 10**9))
    assert best <= fine.upper
    assert float(best) >= float(fine.lower) * 0.95 - 1e-6


def test_a_missing_upper_bound_is_not_made_up() -> None:
    """Where one candidate's upper bound is not proved, the budget has none, whatever the other's is."""
    from paramverify.synthesis.budget import _larger

    origin = Origin("a", "b", ("x",))
    unproved = RatioBounds("ratio", ExactNumber(3), INFINITY, origin=origin)
    proved = RatioBounds("ratio", ExactNumber(4), ExactNumber(5), origin=origin)
    for found in (_larger(unproved, proved), _larger(proved, unproved)):
        assert (found.low, found.high, found.value) == (4, None, None)
    wide = RatioBounds("ratio", ExactNumber(2), ExactNumber(6), origin=origin)
    assert (_larger(wide, proved).lower, _larger(wide, proved).upper) == (4, 6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha", "constraints"),
    [("1/2", '["p + q <= 1"]'), ("exp(-1/2)", '["p <= q"]')],
)
def test_constraints_and_constants_give_certified_bounds(
    alpha: str, constraints: str, tmp_path: Path
) -> None:
    """With constraints, or with exp(q) beside parameters, the bounds are close and fit a grid."""
    path = tmp_path / "case.toml"
    box = EXAMPLE_5_LIKE.format(p="[1/10, 9/10]", q="[1/10, 9/10]")
    text = box.replace('"1/2", range', f'"{alpha}", range')
    path.write_text(text.replace("[prior]", f"constraints = {constraints}\n[prior]", 1))
    model = load(path).model
    with Session() as session:
        found = tight_budget(model, session, Fraction(1, 10**3))
    assert found.high is not None
    assert found.high - found.low <= found.low / 10**3
    steps = [Fraction(k, 20) for k in range(2, 19)]
    points = [{"p": p, "q": q} for p in steps for q in steps]
    pairs = (("some", "none"), ("none", "some"))
    ratios = [
        float(found_at.ratio)
        for point in points
        if contains(model.domain, point)
        for left, right in pairs
        for output in ("1", "2")
        if (found_at := evaluate(model, Origin(left, right, (output,)), point)).ratio
    ]
    assert max(ratios) <= float(found.high) * (1 + 1e-12)
    assert max(ratios) >= float(found.low) * 0.97


@pytest.mark.slow
def test_bounds_for_every_length() -> None:
    """The bounds are close, above the exact budgets of short sequences, and the lower one has a witness."""
    model = load(CASES / "time-series-2-all.toml").model
    assert isinstance(model, Model)
    with Session(Options(seconds=600)) as session:
        found = tight_budget_of_every_length(model, session, Fraction(1, 10))
        short = tight_budget(replace(model, lengths=(1, 2, 3)), session)
    assert found.high is not None
    assert short.low <= found.high <= found.low * Fraction(112, 100)
    place = {name: root.lower for name, root in found.place.items()}
    ratio = evaluate(model, found.origin, place).ratio
    assert ratio is not None
    assert ratio.rational == found.low


PATIENT = """title = "Two states say x for a while, the other secret's for longer"

[prior]
s = { categorical = { a = "WEIGHT", b = "1/2 - WEIGHT", c = "1/2" } }

[mechanism]
kind = "hmm"
states = ["a", "b", "c", "d"]
observations = ["x", "y"]
emissions = { a = { x = "1" }, b = { x = "1" }, c = { x = "1" }, d = { y = "1" } }
start = "s"

[mechanism.transitions]
a = { a = "1/4", d = "3/4" }
b = { b = "1/2", d = "1/2" }
c = { c = "9/10", d = "1/10" }
d = { d = "1" }

[secrets]
low = "s == 'a' or s == 'b'"
high = "s == 'c'"
pairs = [["low", "high"]]

[privacy]
ratio = "RATIO"
length = "all"
"""


@pytest.mark.parametrize("ratio", ["2", "1000000000000000"])
def test_evidence_that_there_is_no_budget(
    ratio: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A loop goes beyond every bound, also that of the case, however large; its evidence is accepted."""
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    case.write_text(PATIENT.replace("WEIGHT", "1/5").replace("RATIO", ratio))
    assert run(["budget", str(case), "--evidence", str(evidence)]) == 0
    assert json.loads(evidence.read_text())["status"] == "violated"
    assert run(["check", str(evidence), "--case", str(case)]) == 0
    assert "budget: there is none" in capsys.readouterr().out


@pytest.mark.slow
def test_loops_with_priors_that_are_no_numbers(tmp_path: Path) -> None:
    """Weights with exp are no numbers, though their sum is one: the search for loops leaves them out."""
    case = tmp_path / "case.toml"
    case.write_text(PATIENT.replace("WEIGHT", "exp(1)/10").replace("RATIO", "1000000000000000"))
    assert run(["verify", str(case), "--timeout", "30"]) == 3
