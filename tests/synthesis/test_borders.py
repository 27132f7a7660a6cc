"""What larger and smaller ranges say of a least bound, and the multiple of epsilon that is enough."""

from __future__ import annotations

import json
from fractions import Fraction
from math import exp
from pathlib import Path

import pytest

from paramverify import loads
from paramverify.cli.main import run

pytestmark = pytest.mark.usefixtures("ample_share")

CASE = """
[mechanism]
kind = "program"
source = "output({source})"
[mechanism.inputs]
n = {{ values = "{low}..{high}" }}
[neighbours]
differ = "one"
by = "any"
[privacy]
{bound}
"""
GROWS = "n + laplace(10) > 1"
ENDS = "max(0, min(n, 3)) + laplace(3) > 1"
BOUNDS = {
    "pure": "epsilon = 2",
    "sets": "epsilon = 1\ndelta = 1",
    "kl": "kl = 1",
    "zcdp": "zcdp = 1",
    "chi_squared": "chi_squared = 2",
    "renyi": "renyi = { order = 3, epsilon = 1 }",
    "total variation": "total_variation = 1",
}


def case(source: str, bound: str, low: int = 0, high: int = 3) -> str:
    """Returns a case with a range of one input, any two values of which are neighbours."""
    return CASE.format(source=source, bound=bound, low=low, high=high)


def symbolic(source: str, high: int = 3) -> str:
    """Returns a case whose epsilon is eps, for all eps."""
    return '[parameters]\neps = "(0, oo)"\n' + case(source, 'epsilon = "eps"', high=high)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pure", "kl"])
def test_larger_inputs_that_need_more_stand_beside_every_kind_of_bound(name: str) -> None:
    """With the inputs and a witness; the bound found for the larger range is larger indeed."""
    found = loads(case(GROWS, BOUNDS[name])).budget()
    assert "\n  larger inputs need more, such as n in {0..4}: " in str(found)
    assert found.to_dict()["larger"]["inputs"] == "n in {0..4}"
    assert found.to_dict()["larger"]["witness"]
    more = loads(case(GROWS, BOUNDS[name], high=4)).budget()
    assert found.lower is None or float(more.lower) > float(found.upper)


def test_numbers_beyond_floats() -> None:
    """A sum that no float has is a budget as before: other ranges are not looked at."""
    text = case("n + geometric(1/100000)", 'renyi = { order = 100, ratio = "100001" }', high=2)
    found = loads(text.replace('by = "any"', "by = 1")).budget()
    assert str(found).startswith("least renyi of order 100: ")


def test_bounds_for_distances() -> None:
    """Squares are farther apart for each unit of distance, the larger they are."""
    text = case("n*n + laplace(10) > 3", 'epsilon = "distance"')
    text = text.replace('differ = "one"\nby = "any"', 'related = "x != y"\ndistance = "abs(x - y)"')
    assert "\n  larger inputs need more, such as n in {0..4}: " in str(loads(text).budget())


@pytest.mark.parametrize("given", [{"delta_for": "1/10"}, {"epsilon_for": "1/10"}])
def test_the_same_of_least_deltas(
    given: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In Python and of the command."""
    text = case(GROWS, BOUNDS["pure"])
    found = loads(text).budget(**given)
    assert "\n  larger inputs need more, such as n in {0..4}: " in str(found)
    path = tmp_path / "case.toml"
    path.write_text(text, encoding="utf-8")
    ((name, value),) = given.items()
    assert run(["budget", str(path), f"--{name.replace('_', '-')}", value, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["larger"] == found.to_dict()["larger"]


@pytest.mark.slow
def test_the_worst_pair_on_the_border_where_larger_inputs_change_nothing() -> None:
    """It is said of the budget, and no note of it is needed beside the verdict: larger ones were proved.

    The bound that is named is at least that of the case, and verified for what is named beside it.
    """
    found = loads(case(ENDS, "epsilon = 2"))
    told = "the worst pair lies on the border of these inputs: less is enough for n in {0..2}; "
    same = ["n in {0..4}", "n in {-1..3}", "n in {0..7}"]
    budget = found.budget()
    border = budget.to_dict()["border"]
    name, _, bound = border["bound"].partition(" = ")
    assert f"\n  {told}ratio = {bound} is enough for {', '.join(same)}, too" in str(budget)
    assert (name, border["less_for"], border["same_for"]) == ("ratio", "n in {0..2}", same)
    least = 2 * exp(2 / 3) - exp(1 / 3)  # between 0 and 3 at the threshold of 1
    assert 0 <= float(Fraction(bound)) - least < 1e-8
    assert loads(case(ENDS, f"ratio = '{bound}'", high=7)).verify().verdict == "private"
    assert "border" not in str(found.verify())


@pytest.mark.slow
@pytest.mark.parametrize("bound", [BOUNDS[name] for name in ("pure", "sets", "zcdp")])
def test_nothing_is_less_than_a_least_bound_of_nothing(bound: str) -> None:
    """Outputs that do not depend on the inputs need the ratio 1, or 0: no smaller range needs less."""
    found = loads(case("uniform(0, 3) > 4 - n*0", bound))
    verdict = found.verify()
    assert verdict.verdict == "private"
    answers = [verdict, *([] if "delta" in bound else [found.budget()])]
    if bound.startswith("epsilon"):
        answers += [found.budget(delta_for="2"), found.budget(epsilon_for="9/10")]
    for answer in answers:
        assert "on the border" not in str(answer)
        assert "larger inputs need" not in str(answer)
        assert "larger inputs have" not in str(answer)


@pytest.mark.slow
def test_a_bound_between_two_multiples_says_nothing_of_those_of_larger_inputs() -> None:
    """The inputs need 31/100 of eps, and larger ones 32/100: 1/3 is named, and is enough, for both."""
    shifts = "(0 if n <= 0 else 10 if n == 1 else 31 if n == 2 else 32)"
    text = symbolic(f"{shifts} + laplace(100/eps) > 40", high=2)
    told = loads(text).budget()
    found = told.to_dict()
    assert found["multiple"]["enough"] == "1/3"
    assert "larger inputs need no more" not in str(told)
    same = found["border"]
    assert same["bound"] == "epsilon = 1/3*eps"
    assert "n in {0..3}" in same["same_for"]
    larger = text.replace('"0..2"', '"0..3"').replace('epsilon = "eps"', 'epsilon = "{}*eps"')
    assert loads(larger.replace("{}", "31/100")).verify().verdict == "not private"
    assert loads(larger.replace("{}", "1/3")).verify().verdict == "private"


@pytest.mark.slow
def test_a_verdict_says_that_larger_inputs_have_a_larger_ratio() -> None:
    """It is private, and the next larger ones are too, but the ratio grows."""
    found = loads(symbolic("n + laplace(10/eps) > 1")).verify()
    assert found.verdict == "private"
    assert "larger inputs have a larger ratio, such as n in {0..4}" in found.notes


@pytest.mark.slow
@pytest.mark.parametrize("text", [case("flip(1/2 if n % 2 == 0 else 1/3)", "epsilon = 1", high=4)])
def test_nothing_is_said_where_the_ends_change_nothing(text: str) -> None:
    """Neither beside the verdict nor beside the budget; a list has no ends, and says nothing either."""
    for each in (text, case(GROWS, "epsilon = 2").replace('"0..3"', "[0, 1, 2, 3]")):
        for told in (str(loads(each).verify()), str(loads(each).budget())):
            assert "larger inputs need" not in told
            assert "larger inputs have" not in told
            assert "on the border" not in told
            assert ("does not cover" in told) == (each == text)  # larger inputs, of which a list has none


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scale", "needed", "enough", "fails"),
    [("3/(2*eps)", "2", "2", "19/10"), ("60/eps", "1/20", "1/10", None)],
)
def test_the_least_multiple_of_epsilon_comes_first(
    scale: str, needed: str, enough: str, fails: str | None
) -> None:
    """A difference of 3 needs 3/scale: that is more than what fails, and at most what is enough."""
    assert Fraction(fails or 0) < Fraction(needed) <= Fraction(enough)
    found = loads(symbolic(f"n + laplace({scale}) > 1")).budget()
    first = str(found).split("\n")[0]
    assert first.startswith(f"epsilon = {enough}*eps is enough for all eps")
    assert found.to_dict()["multiple"] == {"enough": enough, "fails": fails, "least": False}


@pytest.mark.slow
def test_a_multiple_that_is_the_least() -> None:
    """Randomised response with twice the budget that it needs."""
    text = symbolic("n if flip(exp(eps/2)/(1 + exp(eps/2))) else 1 - n", high=1)
    first, *_ = str(loads(text).budget()).split("\n")
    assert first == "epsilon = 1/2*eps is enough for all eps, and no smaller multiple of eps is"
    assert loads(text).budget().to_dict()["multiple"] == {"enough": "1/2", "fails": "4/9", "least": True}
