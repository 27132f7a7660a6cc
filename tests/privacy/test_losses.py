"""Kullback-Leibler divergence and zero-concentrated privacy, against decimals of 40 digits at points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from random import Random

import pytest
from set_oracle import Drawn, drawn, points

from paramverify.api import loads
from paramverify.divergences import Average, KLDivergence, ZeroConcentrated
from paramverify.evidence.divergence_witnesses import LossWitness
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.verification import verify
from paramverify.synthesis.least_loss import is_near_loss, least_loss
from paramverify.tables import TomlDocument
from paramverify.verdicts import Holds, Unknown, Violated

ORDERS = [Fraction(n, 8) for n in (9, 10, 12, 16, 20, 24, 32, 48, 80, 160, 400)]
SLACK = Decimal("1e-30")


@pytest.fixture(autouse=True)
def forty_digits() -> Iterator[None]:
    """Decimals have 40 digits."""
    with localcontext() as context:
        context.prec = 40
        yield


def decimal(value: Fraction) -> Decimal:
    """A fraction as a decimal."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def kl(one: Sequence[Fraction], other: Sequence[Fraction]) -> Decimal | None:
    """Σ p·ln(p/q), by its definition; None for infinity."""
    total = Decimal(0)
    for p, q in zip(one, other, strict=True):
        if p and not q:
            return None
        total += decimal(p) * (decimal(p) / decimal(q)).ln() if p else 0
    return total


def renyi(one: Sequence[Fraction], other: Sequence[Fraction], order: Fraction) -> Decimal | None:
    """The divergence of an order above 1, by its definition; None for infinity."""
    total, alpha = Decimal(0), decimal(order)
    for p, q in zip(one, other, strict=True):
        if p and not q:
            return None
        total += decimal(q) * (alpha * (decimal(p) / decimal(q)).ln()).exp() if p else 0
    return total.ln() / (alpha - 1)


def needs(one: Sequence[Fraction], other: Sequence[Fraction]) -> Decimal | None:
    """The largest D_α/α of some orders, and of the limit 1: what ρ is at least."""
    found = [kl(one, other)]
    for order in ORDERS:
        value = renyi(one, other, order)
        found.append(None if value is None else value / decimal(order))
    return None if None in found else max(value for value in found if value is not None)


def model_of(found: Drawn, kind: type[Average], bound: Fraction) -> Model:
    """The model of the package with a bound on a loss."""
    return replace(found.model(Fraction(1), Fraction(1)), measure=kind(bound))


def compare_with_points(seed: int, parameters: int, kind: type[Average]) -> str:
    """Compares one random case at one bound with a grid of points; returns the verdict."""
    random = Random(seed)
    found = drawn(random, parameters)
    measured = kl if kind is KLDivergence else needs
    values = [
        measured(found.shares(side, at), found.shares(1 - side, at))
        for side in (0, 1)
        for at in points(found.names, 20)
    ]
    finite = [value for value in values if value is not None]
    largest = max(finite, default=Decimal(1))
    share = random.choice((Fraction(4, 5), Fraction(19, 20), Fraction(21, 20), Fraction(3, 2), 4))
    bound = max(Fraction(1, 100), Fraction(largest).limit_denominator(10**6) * share)
    case = PrivacyCase(
        TomlDocument({}, digest="0" * 64, path="here.toml"), kind.key, model_of(found, kind, bound)
    )
    report = verify(case, Options(seconds=30))
    if isinstance(report.verdict, Holds):
        assert None not in values
        assert largest <= decimal(bound) + SLACK
    elif isinstance(report.verdict, Violated):
        witness = report.verdict.witness
        assert isinstance(witness, LossWitness)
        side = int(witness.left == "right")
        at = witness.parameters
        shares = found.shares(side, at), found.shares(1 - side, at)
        value = kl(*shares) if witness.order is None else renyi(*shares, witness.order)
        assert (value is None) == (witness.value is None)
        if value is not None and witness.value is not None:
            assert decimal(witness.value[0]) - SLACK <= value <= decimal(witness.value[1]) + SLACK
            assert value > decimal(bound * (witness.order or 1))
    return type(report.verdict).__name__


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("parameters", [0, 1])
@pytest.mark.parametrize("kind", [KLDivergence, ZeroConcentrated])
def test_random_cases(seed: int, parameters: int, kind: type[Average]) -> None:
    """The verdict on a random case is that of the divergences at a grid of points."""
    assert getcontext().prec == 40
    assert compare_with_points(seed, parameters, kind) != Unknown.__name__


def responses(kind: type[Average]) -> Model:
    """Randomised response with truth t in [3/5, 3/4]."""
    a, b = (Fraction(3, 5), Fraction(3, 4), "p"), (Fraction(2, 5), Fraction(1, 4), "p")
    one = (Fraction(1), Fraction(1), ""), (Fraction(0), Fraction(0), "")
    found = Drawn(("p",), [[a, b], [b, a]], ([*one], [*one[::-1]]))
    return model_of(found, kind, Fraction(1))


def test_randomised_response_has_its_closed_form() -> None:
    """The least kl is (2t − 1)·ln(t/(1 − t)) at the largest truth t = 3/4: ln(3)/2."""
    with Session(Options(seconds=20)) as session:
        found = least_loss(responses(KLDivergence), session, Fraction(1, 10**6))
    exact = Decimal(3).ln() / 2
    assert found.high is not None
    assert decimal(found.low) - SLACK <= exact <= decimal(found.high)
    assert is_near_loss(found, Fraction(1, 10**6))


@pytest.mark.slow
def test_zcdp_of_randomised_response_is_at_least_kl_and_below_pure() -> None:
    """The least ρ is from KL to ε²/2 ([BunSteinke16] Proposition 1.4), and holds at all orders."""
    with Session(Options(seconds=20)) as session:
        found = least_loss(responses(ZeroConcentrated), session, Fraction(1, 10**4))
    assert found.high is not None
    one, other = [Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]
    for order in ORDERS:
        value = renyi(one, other, order)
        assert value is not None
        assert value / decimal(order) <= decimal(found.high)
    assert Decimal(3).ln() / 2 <= decimal(found.high)
    assert decimal(found.low) <= Decimal(3).ln() ** 2 / 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", [KLDivergence, ZeroConcentrated])
def test_least_losses_stay_where_constraints_hold(kind: type[Average]) -> None:
    """Points that constraints exclude do not count: neither on the way to a maximum, nor at the ends."""
    text = f"""
    [parameters]
    p = "[0, 1]"
    constraints = ["(p - 1/4)**2 * (p - 1/3)**2 <= 0"]
    [mechanism]
    kind = "hmm"
    states = ["no", "yes"]
    observations = ["no", "yes"]
    emissions = {{ no = {{ no = 1 }}, yes = {{ yes = 1 }} }}
    [prior.a]
    no = "1 - p"
    yes = "p"
    [prior.b]
    no = "1/2"
    yes = "1/2"
    [secrets]
    pairs = [["a", "b"]]
    [privacy]
    {kind.key} = "1/2"
    """
    model = loads(text).content.model
    with Session(Options(seconds=20)) as session:
        found = least_loss(model, session, Fraction(1, 100))
    half = [Fraction(1, 2)] * 2
    sides = [[1 - p, p] for p in (Fraction(1, 4), Fraction(1, 3))]
    values = [
        kl(*pair) if kind is KLDivergence else needs(*pair) for p in sides for pair in ((p, half), (half, p))
    ]
    largest = max(value for value in values if value is not None)
    assert not found.infinite
    assert found.witness is not None
    assert found.witness.parameters["p"] == Fraction(1, 4)
    assert decimal(found.low) <= largest * Decimal("1.01")
    assert found.high is None or largest <= decimal(found.high)
