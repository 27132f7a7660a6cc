"""The shipped cases of divergences, their least bounds by brute force, and what the readers of a case say."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from pathlib import Path

import pytest
from test_divergences import moment

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.api import Case, loads
from paramverify.divergences import MaxDivergence
from paramverify.errors import InputError
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.reports.case_evidence import check_with_case
from paramverify.reports.evidence_checks import with_second_look
from paramverify.synthesis.case_budget import least_moment

FOLDER = Path(__file__).parents[2] / "cases" / "divergences"
LEAST = {"geometric-renyi": "43/8", "geometric-chi-squared": "3/2", "shuffled-renyi": "1055/627"}
GEOMETRIC = (FOLDER / "geometric-renyi.toml").read_text()


def with_measure(text: str) -> Case:
    """The noisy count of two with another `[privacy]`."""
    head = GEOMETRIC[: GEOMETRIC.index("# Pure privacy")]
    return loads(f"{head}\n[privacy]\n{text}\n")


@pytest.mark.parametrize("name", LEAST)
def test_least_sums(name: str) -> None:
    """The largest sum is the exact number that the case is about."""
    case = load(FOLDER / f"{name}.toml")
    assert isinstance(case.model, Model)
    with Session(Options(seconds=60)) as session:
        found = least_moment(case.model, session, Fraction(1, 10**9))
    assert ExactNumber(found.value) == Fraction(LEAST[name])
    assert found.proof is not None


def geometric(p: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """How likely the noisy counts are, if somebody of two is ill, and in all."""
    weights = [comb(2, k) * p**k * (1 - p) ** (2 - k) for k in range(3)]
    noise = [[Fraction(n, 6) for n in row] for row in ((4, 1, 1), (2, 2, 2), (1, 1, 4))]
    rows = [
        [sum(w[k] * noise[k][o] for k in range(3)) / sum(w) for o in range(3)]
        for w in ([0, *weights[1:]], weights)
    ]
    return rows[0], rows[1]


def test_least_sums_are_not_exceeded_at_points() -> None:
    """No prior of a grid has a larger sum than the least bounds, and priors near 0 come near them."""
    for order, least in ((4, Fraction(43, 8)), (2, Fraction(3, 2))):
        values = []
        for k in range(1, 60):
            one, other = geometric(Fraction(k, 60))
            values += [moment(one, other, order), moment(other, one, order)]
        assert all(value is not None and value < least for value in values)
        near = moment(*geometric(Fraction(1, 10**6))[::-1], order)
        assert near is not None
        assert least - near < Fraction(1, 10**4)


def test_infinite_order_is_pure_privacy() -> None:
    """The order oo has the measure and the verdict of pure privacy."""
    case = with_measure('renyi = { order = "oo", epsilon = "ln(2)" }')
    content = case.content
    assert isinstance(content.model.measure, MaxDivergence)
    assert case.verify().verdict == "private"
    assert with_measure('renyi = { order = "oo", ratio = "199/100" }').verify().verdict == "not private"


def test_chi_squared_is_order_two() -> None:
    """χ² ≤ x is the bound 1 + x on the sum of order 2."""
    for x, verdict in (("1/2", "private"), ("49/100", "not private")):
        assert with_measure(f'chi_squared = "{x}"').verify().verdict == verdict
        assert with_measure(f'renyi = {{ order = 2, ratio = "1 + {x}" }}').verify().verdict == verdict


def test_least_bounds_grow_with_the_order() -> None:
    """The least ε does not fall with the order, and stays below that of pure privacy."""
    bounds = []
    for order in (2, 3, 4, 6):
        case = with_measure(f'renyi = {{ order = {order}, ratio = "2" }}').budget()
        bounds.append(case.to_dict()["epsilon"])
    assert bounds == sorted(bounds)
    assert bounds[-1] < 0.6931472


def test_a_bound_with_parameters() -> None:
    """A bound may have parameters: each prior has its own."""
    assert with_measure('renyi = { order = 2, ratio = "3/2 - p/4" }').verify().verdict == "private"
    assert with_measure('chi_squared = "(1 - p)/4"').verify().verdict == "not private"


ISOLATED = """
[parameters]
p = "[0, 1]"
constraints = ["p*(p-1) >= 0"]
[mechanism]
kind = "hmm"
states = ["s", "t"]
observations = ["a", "b", "c"]
[mechanism.transitions]
s = { s = 1 }
t = { t = 1 }
[mechanism.emissions]
s = { a = "1/2 - p*(1-p)/8", b = "1/2", c = "p*(1-p)/8" }
t = { a = "1/10", b = "9/10 - p**3*(1-p)**3", c = "p**3*(1-p)**3" }
[prior.left]
s = 1
[prior.right]
t = 1
[secrets]
pairs = [["left", "right"]]
[privacy]
renyi = { order = 2, ratio = "BOUND" }
"""


@pytest.mark.parametrize(
    ("bound", "verdict"), [("27/10", "not private"), pytest.param("4", "private", marks=pytest.mark.slow)]
)
def test_isolated_points(bound: str, verdict: str) -> None:
    """Where probabilities vanish at points without neighbours, the sum of the others counts: 25/9."""
    text = ISOLATED.replace("BOUND", bound)
    case = loads(text)
    report = case.verify()
    assert report.verdict == verdict
    checked, look = with_second_look(
        check_with_case(report.evidence(), case.content), report.evidence(), text
    )
    assert checked.accepted, (checked.lines, look.line)
    assert look.agrees
    parts = case.synthesize().to_dict()["parts"]
    points = {part["lower"]: part["verdict"] for part in parts if "verdict" in part}
    assert points == dict.fromkeys("01", "private" if bound == "4" else "not private")


def test_an_output_that_one_secret_never_has() -> None:
    """A direction in which an output is impossible on the right has an infinite divergence."""
    text = ISOLATED.replace('constraints = ["p*(p-1) >= 0"]', "").replace("p**3*(1-p)**3", "0")
    found = loads(text.replace("BOUND", "1000")).verify()
    assert found.verdict == "not private"
    assert found.to_dict()["witness"]["moment"] == "infinity"


MISTAKES = [
    ("renyi = { order = 1, ratio = 2 }", "privacy.renyi.order", "write kl"),
    ("renyi = { order = 0, ratio = 2 }", "privacy.renyi.order", "above 1, but it is 0"),
    (
        "renyi = { order = 1.5, ratio = 2 }",
        "privacy.renyi.order",
        "must be a whole number from 2 to 100",
    ),
    ('renyi = { order = 2, epsilon = "ln(2)/3" }', "privacy.renyi.epsilon", "must be a whole number"),
    ('renyi = { order = 2, ratio = "1/2" }', "privacy.renyi.ratio", "below 1"),
    ('zcdp = "1/2"\nratio = 2', "privacy.ratio", "here are zcdp and ratio"),
    ("kl = 0", "privacy.kl", "above 0, but it is 0"),
    ('zcdp = "p"', "privacy.zcdp", "the bound must be a number"),
    ('total_variation = "11/10"', "privacy.total_variation", "from 0 to 1"),
    ('kl = 1\nlength = "all"', "privacy.length", "with kl the lengths are numbers"),
    ('zcdp = 1\none_sided = "ignored"', "privacy.one_sided", "all outputs count"),
]


@pytest.mark.parametrize(("text", "key", "words"), MISTAKES, ids=[m[0].split("\n")[0] for m in MISTAKES])
def test_mistakes(text: str, key: str, words: str) -> None:
    """A mistake is told in one line, with its key and its line."""
    with pytest.raises(InputError) as found:
        with_measure(text)
    error = found.value.parts[0]
    assert error.key == key
    assert words in error.reason
    assert "\n" not in error.reason
    assert error.file_line > 0


@pytest.mark.parametrize("name", ["kl", "zcdp"])
def test_least_losses_at_both_ends(name: str) -> None:
    """The least loss is 0 for equal distributions, and infinite where one secret never has an output."""
    text = ISOLATED.replace('constraints = ["p*(p-1) >= 0"]', "").replace("p**3*(1-p)**3", "0")
    text = text.replace('renyi = { order = 2, ratio = "BOUND" }', f"{name} = 1")
    found = loads(text).budget().to_dict()
    assert found[f"{name}_lower"] == found[f"{name}_upper"] == found["witness"]["value"] == "infinity"
    assert loads(text).verify().verdict == "not private"
    alike = text.replace('t = { a = "1/10", b = "9/10 - 0", c = "0" }', "t = { a = 1, b = 0, c = 0 }")
    alike = alike.replace(
        's = { a = "1/2 - p*(1-p)/8", b = "1/2", c = "p*(1-p)/8" }', "s = { a = 1, b = 0, c = 0 }"
    )
    found = loads(alike).budget().to_dict()
    assert found[f"{name}_lower"] == found[f"{name}_upper"] == 0


ALIKE = """
[parameters]
p = "[1/4, 3/4]"
q = "[0, 1]"
constraints = ["CONSTRAINT"]
[mechanism]
kind = "hmm"
states = ["s", "t"]
observations = ["a", "b"]
[mechanism.transitions]
s = { s = 1 }
t = { t = 1 }
[mechanism.emissions]
s = { a = "p", b = "1 - p" }
t = { a = "q", b = "1 - q" }
[prior.left]
s = 1
[prior.right]
t = 1
[secrets]
pairs = [["left", "right"]]
[privacy]
NAME = 1
"""


@pytest.mark.parametrize(
    ("name", "constraint"),
    [("kl", "p == q"), pytest.param("zcdp", "(p - q)**2 <= 0", marks=pytest.mark.slow)],
)
def test_least_loss_of_distributions_that_constraints_make_equal(name: str, constraint: str) -> None:
    """The least loss is exactly 0 where both distributions are equal on the domain, in text and JSON."""
    report = loads(ALIKE.replace("CONSTRAINT", constraint).replace("NAME", name)).budget()
    found = report.to_dict()
    assert found[f"{name}_lower"] == found[f"{name}_upper"] == 0
    assert found["proved_upper"] == "0"
    assert str(report).startswith(f"least {name}: 0 for every prior")
    with pytest.raises(InputError, match="equal because of constraints"):
        report.evidence()


@pytest.mark.slow
def test_least_loss_of_distributions_that_constraints_leave_apart() -> None:
    """A least loss above 0 is not told as 0 where a constraint ties both distributions."""
    text = ALIKE.replace("CONSTRAINT", "q == p/2").replace("NAME", "kl")
    assert loads(text).budget(precision="1/2", timeout=1).to_dict()["kl_lower"] > 0
