"""Programs whose continuous noises have equal rates: eps stands beside exp(-eps) in their probabilities."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.encodings.sequences import probabilities
from paramverify.errors import InputError
from paramverify.models.model import Model
from paramverify.privacy.cases import PrivacyCase, read_case
from paramverify.tables import TomlDocument

CASE = {
    "mechanism": {"kind": "program", "inputs": {"q": {"length": 2, "values": "0..1"}}},
    "neighbours": {"differ": "each"},
    "privacy": {"epsilon": "4*eps"},
}


def case(source: str, eps: str = "(0, oo)", **more: object) -> PrivacyCase:
    """Returns a case of a program about q, two numbers that are 0 or 1."""
    mechanism = {**CASE["mechanism"], "source": source}
    return read_case(
        TomlDocument({**CASE, "parameters": {"eps": eps}, "mechanism": mechanism, **more}, path="case")
    )


def chances(source: str, eps: str = "(0, oo)") -> tuple[Ring, dict[tuple[str, str], RationalFunction]]:
    """Returns the ring, and how likely each output is on each input."""
    model = case(source, eps).model
    assert isinstance(model, Model)
    found = {(name, word[0]): f for word, name, f in probabilities(model)}
    return model.domain.ring, found


def test_a_difference_of_two_noises() -> None:
    """Pr(X − Y > c) = (1/2 + λc/4)·e^(−λc) for Laplace noises with one rate λ, here eps/2 and c = 1."""
    ring, found = chances("x = q[0] + laplace(2/eps)\ny = q[1] + laplace(2/eps)\noutput(x - y > 1)")
    (tie,) = ring.tied
    assert tie.step == Fraction(1, 2)
    x, eps = ring.variable("x_eps"), ring.variable("eps")
    assert found["(0, 0)", "True"].numerator / found["(0, 0)", "True"].denominator == x * (1 + eps / 4) / 2
    assert str(found["(1, 0)", "True"]) == "1/2"


def test_a_sum_of_exponential_noises() -> None:
    """Pr(X + Y > c) = (1 + λc)·e^(−λc) for exponential noises with one rate λ, here 3·eps and c = 1 or 2."""
    source = "x = exponential(1/(3*eps))\ny = exponential(1/(3*eps))\noutput(x + y > 1 + q[0])"
    ring, found = chances(source)
    x, eps = ring.variable("x_eps"), ring.variable("eps")
    assert found["(0, 0)", "True"].numerator == x**3 * (1 + 3 * eps)
    assert found["(1, 0)", "True"].numerator == x**6 * (1 + 6 * eps)


PROGRAMS = [
    "T = laplace(2/eps)\nfor x in q:\n    if x + laplace(4/eps) >= T:\n        stop\n    output(0)",
    "c = 2\nx = q[0] + laplace(c/eps)\ny = q[1] + laplace(c/eps)\noutput(x > y)",
    "x = laplace(1/eps)\noutput(abs(x - laplace(1/eps)) > 1 + q[0])",
    "def f(x):\n    return x + laplace(2/eps)\nx = f(q[0])\ny = f(q[1])\noutput(x > y)",
    "T = laplace(2/eps)\nfor x in q:\n    output(x + laplace(2/eps) >= T)",
]


@pytest.mark.slow
@pytest.mark.parametrize("source", PROGRAMS)
def test_every_eps_is_each_number(source: str) -> None:
    """With eps = 3/7 in the formulas for every eps, probabilities are those of the case with that number."""
    ring, every = chances(source)
    number, one = chances(source, "3/7")
    (tie,), constant = ring.tied, number.constant
    assert constant is not None
    power = tie.step * Fraction(3, 7) / constant.exponent
    assert power.denominator == 1
    generator = RationalFunction.of(number.variable("E")) ** -int(power)
    assert every.keys() == one.keys()

    def at(function: RationalFunction) -> RationalFunction:
        total = RationalFunction.of(number.number(0))
        for (i, j), c in function.numerator.to_dict().items():
            value = Fraction(int(c.p), int(c.q)) * Fraction(3, 7) ** int(j)
            total = total + RationalFunction.of(number.number(value)) * generator ** int(i)
        return total

    for key, function in every.items():
        assert function.denominator.is_constant()
        assert at(function) == one[key]


def test_eps_is_a_variable_where_it_is_needed_alone() -> None:
    """Other programs have polynomials in exp(-eps/d) as before, and eps in a probability is one of these."""
    assert not case("output(q[0] + laplace(2/eps) > 0)").model.domain.ring.tied
    assert case("output(flip(eps/(1 + eps)))").model.domain.ring.tied


@pytest.mark.parametrize(
    ("privacy", "what"),
    [
        ({"epsilon": "eps", "delta": "1/100"}, "`delta`"),
        ({"kl": "1"}, "`kl`"),
        ({"epsilon": "eps", "one_sided": "ignored"}, "`one_sided`"),
    ],
)
def test_measures_that_do_not_cover_it(privacy: dict[str, str], what: str) -> None:
    """A measure that needs polynomials says that eps stands beside its exponential, and what to do."""
    with pytest.raises(
        InputError, match=f'{what} does not cover that: give eps a number, such as eps = "1/2"'
    ):
        case(PROGRAMS[1], privacy=privacy)
