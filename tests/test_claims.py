"""Claims of the form f ≥ 0 that say something else: that f > 0, or that a domain has no point."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Constraint, Domain, contains, parse_interval
from paramverify.algebra.polynomials import Ring, value_at
from paramverify.answers import Proved, Refuted
from paramverify.claims import Origin, nowhere, positive
from paramverify.exact.branching import decide_exactly
from paramverify.formats.refutations import fails_at

RING = Ring(("p",))
DOMAIN = Domain(RING, {"p": parse_interval("[0, 1]")}, (Constraint(RING.parse("p-1/4"), False, "p >= 1/4"),))
COEFFICIENTS = st.lists(st.integers(-4, 4), min_size=3, max_size=3)


@given(COEFFICIENTS, st.fractions(-1, 2, max_denominator=8))
def test_a_strict_claim_fails_where_it_is_not_positive(given: list[int], p: Fraction) -> None:
    """The claim f > 0 fails exactly at the points of the domain with f ≤ 0, zeros included."""
    polynomial = RING.parse("{}*p^2+{}*p+{}".format(*given))
    point = {"p": p}
    claim = positive(polynomial, DOMAIN)
    assert fails_at(claim, point) == (contains(DOMAIN, point) and value_at(polynomial, point) <= 0)


@pytest.mark.parametrize(
    ("text", "holds"),
    [("p", True), ("p-1/8", True), ("p-1/4", False), ("p^2-p+1/4", False), ("p-3/4", False)],
)
def test_strict_claims_are_decided(text: str, holds: bool) -> None:
    """f > 0 is proved where f has no zero in the domain, and refuted where it has one or is negative."""
    assert isinstance(decide_exactly(positive(RING.parse(text), DOMAIN)), Proved if holds else Refuted)


def test_empty_domains() -> None:
    """On a domain without a point everything is positive; that it has none is a claim of its own."""
    empty = Domain(RING, DOMAIN.box, (Constraint(RING.parse("p-2"), False, "p >= 2"),))
    assert isinstance(decide_exactly(positive(RING.parse("-p-1"), empty)), Proved)
    assert isinstance(decide_exactly(nowhere(empty)), Proved)
    assert isinstance(decide_exactly(nowhere(DOMAIN)), Refuted)


def test_what_strict_claims_keep() -> None:
    """The origins stay, the words are those given, and `E` is the number that it stands for."""
    ring = Ring(("p",), ExpConstant(Fraction(1)))
    domain = Domain(ring, {"p": parse_interval("[0, 1]")})
    origin = Origin("a", "b", ("0",))
    claim = positive(ring.parse("E-2-p"), domain, "too large", (origin,))
    assert claim.origins == (origin,)
    assert [c.text for c in claim.domain.constraints] == ["too large"]
    assert fails_at(claim, {"p": Fraction("0.7182818285")})
    assert not fails_at(claim, {"p": Fraction("0.7182818284")})
