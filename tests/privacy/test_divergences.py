"""Rényi privacy of cases, against brute force with fractions at points."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from set_oracle import Drawn, drawn, points

from paramverify.algebra.domains import Constraint
from paramverify.algebra.polynomials import RationalFunction
from paramverify.api import loads
from paramverify.divergences import Renyi
from paramverify.errors import LimitError, UnsupportedError
from paramverify.evidence.divergence_witnesses import MomentWitness
from paramverify.kernel.documents import check_text
from paramverify.models.model import Model
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.verification import PrivacyReport, verify
from paramverify.reports.case_evidence import check_with_case, evidence_document
from paramverify.reports.evidence_checks import with_second_look
from paramverify.tables import TomlDocument
from paramverify.verdicts import Holds, Unknown, Violated


def moment(one: Sequence[Fraction], other: Sequence[Fraction], order: int) -> Fraction | None:
    """Σ p^order / q^(order−1), by its definition; None for infinity."""
    total = Fraction(0)
    for p, q in zip(one, other, strict=True):
        if p and not q:
            return None
        total += p**order / q ** (order - 1) if p else 0
    return total


def model_of(found: Drawn, order: int, bound: Fraction) -> Model:
    """The model of the package with a bound on the sum of an order."""
    model = found.model(Fraction(1), Fraction(1))
    number = RationalFunction.of(model.domain.ring.number(bound))
    return replace(model, measure=Renyi(number, order))


def decided(model: Model, seconds: float = 60) -> PrivacyReport:
    """The verdict of the package, whose evidence its kernel accepts, alone and with the case."""
    case = PrivacyCase(TomlDocument({}, digest="0" * 64, path="here.toml"), "renyi", model)
    report = verify(case, Options(seconds=seconds))
    if isinstance(report.verdict, Holds | Violated):
        document = evidence_document(case, report)
        alone, beside = check_text(json.dumps(document)), check_with_case(document, case)
        assert alone.accepted, alone.lines
        assert beside.accepted, beside.lines
        assert beside.status == report.status
    return report


def compare_with_brute_force(seed: int, parameters: int) -> str:
    """Compares one random case at one bound with the sums at a grid of points; returns the verdict."""
    random = Random(seed)
    found, order = drawn(random, parameters), random.choice((2, 2, 3, 4))
    sums = [
        moment(found.shares(side, at), found.shares(1 - side, at), order)
        for side in (0, 1)
        for at in points(found.names)
    ]
    finite = [total for total in sums if total is not None]
    largest = max(finite, default=Fraction(1))
    bound = max(Fraction(1), largest * random.choice((Fraction(49, 50), 1, 1, Fraction(51, 50))))
    report = decided(model_of(found, order, bound))
    if isinstance(report.verdict, Holds):
        assert None not in sums
        assert largest <= bound
    elif isinstance(report.verdict, Violated):
        witness = report.verdict.witness
        assert isinstance(witness, MomentWitness)
        side = int(witness.left == "right")
        at = witness.parameters
        total = moment(found.shares(side, at), found.shares(1 - side, at), order)
        assert (total is None) == (witness.moment is None)
        if total is not None:
            assert witness.moment is not None
            assert witness.moment.rational == total > bound
    return type(report.verdict).__name__


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("parameters", [0, 1, 2])
def test_random_cases(seed: int, parameters: int) -> None:
    """The verdict on a random case is that of the sums at a grid of points."""
    assert compare_with_brute_force(seed, parameters) != Unknown.__name__


@pytest.mark.slow
def test_a_point_beside_an_interval() -> None:
    """On {0} and [1/4, 1/2] both readers agree about the claims of the interval, and p = 0 has its own."""
    text = release("p", "p**2", '"p**2*(p - 1/4) >= 0"') + '[privacy]\nrenyi = { order = 2, ratio = "9/5" }'
    case = loads(text)
    report = case.verify()
    assert report.verdict == "private"
    document = report.evidence()
    checked, look = with_second_look(check_with_case(document, case.content), document, text)
    assert checked.accepted, (checked.lines, look.line)
    assert look.compared


def release(left: str, right: str, constraints: str = "") -> str:
    """A case whose first output has these probabilities under two secrets, for p in [0, 1/2]."""
    return f"""
    [parameters]
    p = "[0, 1/2]"
    constraints = [{constraints}]
    [mechanism]
    kind = "hmm"
    states = ["no", "yes"]
    observations = ["no", "yes"]
    emissions = {{ no = {{ no = 1 }}, yes = {{ yes = 1 }} }}
    [prior.left]
    no = "{left}"
    yes = "1 - ({left})"
    [prior.right]
    no = "{right}"
    yes = "1 - ({right})"
    [secrets]
    pairs = [["left", "right"]]
    """


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_domains_of_points(seed: int) -> None:
    """On a domain of points without neighbours the verdict is that of the sums there, also where q is 0."""
    random = Random(seed)
    found, order = drawn(random, 1 + seed % 2), random.choice((2, 3))
    places = [dict(zip(found.names, at, strict=True)) for at in product((0, 1), repeat=len(found.names))]
    sums = [
        moment(found.shares(side, at), found.shares(1 - side, at), order)
        for side in (0, 1)
        for at in ({name: Fraction(value) for name, value in place.items()} for place in places)
    ]
    finite = [Fraction(1), *(total for total in sums if total is not None)]
    bound = max(finite) * random.choice((1, Fraction(51, 50)))
    model = model_of(found, order, bound)
    ring = model.domain.ring
    gens = [ring.number(1).context().gen(k) for k in range(len(found.names))]
    corners = tuple(Constraint(x * (x - 1), False, f"{x}*({x} - 1) >= 0") for x in gens)
    report = decided(replace(model, domain=replace(model.domain, constraints=corners)))
    assert isinstance(report.verdict, Violated if None in sums else Holds)


@pytest.mark.slow
@pytest.mark.parametrize(("left", "right", "order"), [("p", "p**2", 2), ("p**2", "p**3", 3)])
def test_sums_where_both_probabilities_vanish(left: str, right: str, order: int) -> None:
    """At p = 0 both are 0, and count nothing: a quotient in lowest terms would count its limit."""
    measure = f'[privacy]\nrenyi = {{ order = {order}, ratio = "11/10" }}'
    at_zero = moment([Fraction(0), Fraction(1)], [Fraction(0), Fraction(1)], order)
    assert at_zero == 1
    everywhere = loads(release(left, right) + measure)
    parts = everywhere.synthesize().to_dict()["parts"]
    assert parts[0]["verdict"] == "private"
    assert parts[0]["lower"] == parts[0]["upper"] == "0"
    assert parts[1]["verdict"] == "not private"
    assert "witness" in parts[1]
    with pytest.raises(UnsupportedError, match="may be 0 in the domain"):
        everywhere.synthesize("region")  # a map would say that p = 0 is not private
    assert everywhere.budget().to_dict()["attained"] in (None, True)
    alone = loads(release(left, right, '"p**2 <= 0"') + measure)
    assert alone.verify().verdict == "private"
    with pytest.raises(LimitError, match="may be zero where the constraints hold with ="):
        alone.budget()
