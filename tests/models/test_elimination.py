"""Large priors: elimination against enumeration with fractions, arrays, and the errors of both."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest
from random_networks import POINT, World, world

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Ring, value_at
from paramverify.checker.second_networks import Walk
from paramverify.checker.second_numbers import Calculator
from paramverify.models import networks, priors
from paramverify.models.context import Checks
from paramverify.models.prior_keys import PRIOR
from paramverify.tables import Table

Shares = dict[str, dict[tuple[Any, ...], Fraction]]


def checks() -> Checks:
    """Returns an empty case with the parameters of the random priors."""
    inside = Interval(Fraction(1, 10), Fraction(9, 10))
    return Checks(Domain(Ring(tuple(POINT)), dict.fromkeys(POINT, inside)))


def eliminated(made: World) -> Shares:
    """Returns the weights of the answers under each secret as the package has them, at the point."""
    found = checks()
    prior = priors.read_prior(Table(made.prior, PRIOR), found)
    found.mistakes.tell()
    conditions = {name: prior.where(parse(text)) for name, text in made.secrets.items()}
    assert prior.weights is None
    answers = prior.answers(conditions, [("queries", parse(query)) for query in made.queries])
    return {
        name: {
            given: value_at(w.numerator, POINT) / value_at(w.denominator, POINT) for given, w in own.items()
        }
        for name, own in answers.items()
    }


def scaled(shares: Shares) -> Shares:
    """Returns weights over the mass of all secrets, without those that are zero."""
    mass = sum((w for own in shares.values() for w in own.values()), Fraction(0))
    return {name: {a: w / mass for a, w in own.items() if w} for name, own in shares.items()}


@pytest.mark.parametrize("seed", range(30))
def test_elimination_is_enumeration(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both secrets of a random network have the answers with the weights that all assignments give."""
    monkeypatch.setattr(priors, "MAX_ASSIGNMENTS", 0)
    monkeypatch.setattr(networks, "LOCAL", (2, 6, 256)[seed % 3])
    made = world(Random(seed))
    assert scaled(eliminated(made)) == scaled(made.expected())


@pytest.mark.parametrize("seed", range(30))
def test_second_way_is_enumeration(seed: int) -> None:
    """The walk of the second reader gives the same shares, secret by secret."""
    made = world(Random(seed))
    here = Calculator(dict(POINT), None, Fraction(1))
    for name, text in made.secrets.items():
        found = {name: Walk(made.prior, here).weights(text, made.queries)}
        assert scaled(found) == scaled({name: made.expected()[name]})
