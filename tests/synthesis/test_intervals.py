"""Exact intervals of one parameter: against evaluation at rational points, known roots, and decisions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp, isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import grid, intervals, polynomials

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import (
    Constraint,
    Domain,
    Interval,
    box_domain,
    contains,
    parse_interval,
    sign_at,
)
from paramverify.algebra.polynomials import Polynomial, Ring, value_at
from paramverify.algebra.real_roots import isolate_over, negative_point, number_sign
from paramverify.algebra.signs import parse_constraint
from paramverify.answers import Open, Proved
from paramverify.claims import Claim
from paramverify.errors import InputError, UnsupportedError
from paramverify.exact.branching import decide_exactly
from paramverify.formats.refutations import fixed
from paramverify.synthesis.intervals import Partition, Root
from paramverify.synthesis.maps import Status
from paramverify.synthesis.projection import project

P = Ring(("p",))
PE = Ring(("p",), ExpConstant(Fraction(1, 2)))
AP = Ring(("a", "p"))
APE = Ring(("a", "p"), ExpConstant(Fraction(1, 2)))
HALF = Fraction(1, 2)


def domain(ring: Ring, *constraints: str, **box: str) -> Domain:
    made = box_domain(ring, {name: parse_interval(text) for name, text in box.items()})
    return replace(made, constraints=tuple(c for text in constraints for c in parse_constraint(text, made)))


def claims(about: Domain, *texts: str) -> list[Claim]:
    return [Claim(about.ring.parse(text), about) for text in texts]


def shown(found: Partition) -> list[tuple[str, bool, float, float, bool]]:
    def near(root: Root) -> float:
        return round(float(root.refined(Fraction(1, 10**12)).lower), 9)

    return [
        (p.status.value, p.lower_closed, near(p.lower), near(p.upper), p.upper_closed) for p in found.parts
    ]


def assert_covers_once(found: Partition, points: list[Fraction]) -> None:
    for value in points:
        assert sum(value in part for part in found.parts) == 1, value


# --- one parameter -----------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    st.lists(polynomials(4, 4, P), min_size=1, max_size=3),
    intervals(),
    st.lists(st.tuples(polynomials(2, 3, P), st.booleans()), max_size=2),
)
@settings(max_examples=30)
def test_intervals_against_evaluation(
    polys: list[Polynomial], interval: Interval, extra: list[tuple[Polynomial, bool]]
) -> None:
    """Every rational point lies in exactly one part, which has the status that exact evaluation gives."""
    about = Domain(P, {"p": interval})
    conditions = tuple(Constraint(g, strict, str(g)) for g, strict in extra)
    about = replace(about, constraints=conditions)
    found = project([Claim(f, about) for f in polys], about, "p")
    points = [point["p"] for point in grid(about.box, 24)]
    points += [p.sample for p in found.parts if p.sample is not None]
    assert_covers_once(found, points)
    for value in points:
        point = {"p": value}
        holds = all(value_at(f, point) >= 0 for f in polys)
        expected = (Status.SAFE if holds else Status.VIOLATING) if point in about else Status.OUTSIDE
        assert found.status_at(value) is expected
    for left, right in zip(found.parts, found.parts[1:], strict=False):
        assert left.status is not right.status
        assert left.upper_closed is not right.lower_closed


@pytest.mark.slow
@given(st.lists(polynomials(3, 4, PE), min_size=1, max_size=2), intervals())
@settings(max_examples=25)
def test_intervals_with_exp_against_evaluation(polys: list[Polynomial], interval: Interval) -> None:
    """With exp(1/2) in the coefficients the status is that of exact signs, too."""
    about = box_domain(PE, {"p": interval})
    found = project([Claim(f, about) for f in polys], about, "p")
    points = [point["p"] for point in grid({"p": interval}, 16)]
    points += [p.sample for p in found.parts if p.sample is not None]
    assert_covers_once(found, points)
    for value in points:
        holds = all(sign_at(about, f, {"p": value}) >= 0 for f in polys)
        assert found.status_at(value) is (Status.SAFE if holds else Status.VIOLATING)


def test_isolated_points() -> None:
    """Points at which a claim just holds are parts of their own, rational or not, and so are ends."""
    about = domain(P, p="[0, 2)")
    found = project(claims(about, "-p^5+4*p^3-4*p"), about, "p")  # -p (p² - 2)²
    root = round(2**0.5, 9)
    assert shown(found) == [
        ("safe", True, 0.0, 0.0, True),
        ("violating", False, 0.0, root, False),
        ("safe", True, root, root, True),
        ("violating", False, root, 2.0, False),
    ]
    assert found.parts[2].is_point
    assert found.parts[2].sample is None
    assert found.status_at(Fraction(2)) is Status.OUTSIDE


def test_ends_with_exp() -> None:
    """p² E = 1 has the root exp(-1/4), which is enclosed to any width with a sign change."""
    about = domain(PE, p="(0, 1)")
    found = project(claims(about, "p^2*E-1"), about, "p")
    root = found.parts[0].upper.refined(Fraction(1, 10**30))
    assert root.upper - root.lower <= Fraction(1, 10**30)
    assert isclose(float(root.lower), exp(-1 / 4), rel_tol=1e-15)
    assert sign_at(about, claims(about, "p^2*E-1")[0].polynomial, {"p": root.lower}) < 0
    assert sign_at(about, claims(about, "p^2*E-1")[0].polynomial, {"p": root.upper}) > 0
    assert [p.status for p in found.parts] == [Status.VIOLATING, Status.SAFE]
    assert found.parts[1].lower_closed


def test_a_claim_that_fails_at_one_irrational_point() -> None:
    """Constraints can leave one irrational point only; its status is exact, and it has no sample."""
    about = domain(P, "p**2 == 2", p="[0, 2]")
    found = project(claims(about, "p-3/2"), about, "p")
    assert [p.status for p in found.parts] == [Status.OUTSIDE, Status.VIOLATING, Status.OUTSIDE]
    assert found.parts[1].sample is None


def test_mistakes() -> None:
    """A parameter that does not exist is named."""
    about = domain(AP, a="(0, 1)", p="(0, 1)")
    with pytest.raises(InputError, match="there is no parameter 'q'; choose from a, p"):
        project(claims(about, "a"), about, "q")


# --- one parameter for all values of the others ------------------------------------------------------


def holds_for_all(claim: Claim, value: Fraction) -> bool | None:
    answer = decide_exactly(fixed(claim, "a", value))
    return None if isinstance(answer, Open) else isinstance(answer, Proved)


@pytest.mark.slow
@given(st.lists(polynomials(2, 4, AP), min_size=1, max_size=2), intervals(), intervals())
@settings(max_examples=20)
def test_projection_against_decisions(polys: list[Polynomial], box_a: Interval, box_p: Interval) -> None:
    """At rational values of the free parameter the status is what the exact procedures decide there."""
    about = Domain(AP, {"a": box_a, "p": box_p})
    made = [Claim(f, about) for f in polys]
    found = project(made, about, "a")
    points = [point["a"] for point in grid({"a": box_a}, 8)]
    points += [p.sample for p in found.parts if p.sample is not None]
    points += [p.lower.lower for p in found.parts if p.lower.is_rational and p.lower.lower in box_a]
    assert_covers_once(found, points)
    for value in points:
        answers = [holds_for_all(claim, value) for claim in made]
        if None not in answers:
            assert found.status_at(value) is (Status.SAFE if all(answers) else Status.VIOLATING)


APQ = Ring(("a", "p", "q"))


@pytest.mark.slow
@given(polynomials(2, 4, APQ), intervals(), intervals(), intervals())
@settings(max_examples=20)
def test_reduction_against_decisions(
    poly: Polynomial, box_a: Interval, box_p: Interval, box_q: Interval
) -> None:
    """Where two other parameters come down to one, the status is what the exact procedures decide."""
    about = Domain(APQ, {"a": box_a, "p": box_p, "q": box_q})
    claim = Claim(poly, about)
    try:
        found = project([claim], about, "a")
    except UnsupportedError:
        return
    points = [point["a"] for point in grid({"a": box_a}, 6)]
    points += [p.sample for p in found.parts if p.sample is not None]
    for value in points:
        holds = holds_for_all(claim, value)
        if holds is not None:
            assert found.status_at(value) is (Status.SAFE if holds else Status.VIOLATING)


@pytest.mark.slow
@given(polynomials(2, 4, APE), intervals(), intervals())
@settings(max_examples=16)
def test_projection_with_exp_against_decisions(poly: Polynomial, box_a: Interval, box_p: Interval) -> None:
    """With exp(1/2) in the coefficients the projection is right, too."""
    about = box_domain(APE, {"a": box_a, "p": box_p})
    claim = Claim(poly, about)
    found = project([claim], about, "a")
    for value in [point["a"] for point in grid({"a": box_a}, 5)]:
        holds = holds_for_all(claim, value)
        if holds is not None:
            assert found.status_at(value) is (Status.SAFE if holds else Status.VIOLATING)


def test_isolated_safe_values() -> None:
    """(p - a)² ≥ (a² - 2)² for all p only at a = √2, an irrational value that is decided over its field."""
    about = domain(AP, a="(0, 2)", p="(0, 2)")
    found = project(claims(about, "p^2-2*a*p+a^2-a^4+4*a^2-4"), about, "a")
    root = round(2**0.5, 9)
    assert shown(found) == [
        ("violating", False, 0.0, root, False),
        ("safe", True, root, root, True),
        ("violating", False, root, 2.0, False),
    ]
    # nearly the same, and false at √2 as well
    near = project(claims(about, "p^2-2*a*p+a^2-a^4+4*a^2-4-1/1000000"), about, "a")
    assert [part.status for part in near.parts] == [Status.VIOLATING]


def test_isolated_safe_value_with_exp() -> None:
    """The same over Q(E): (p - a)² ≥ (a² E - 1)² for all p only at a = exp(-1/4)."""
    about = domain(APE, a="(0, 1)", p="(0, 1)")
    found = project(claims(about, "p^2-2*a*p+a^2-a^4*E^2+2*a^2*E-1"), about, "a")
    assert [part.status for part in found.parts] == [Status.VIOLATING, Status.SAFE, Status.VIOLATING]
    assert found.parts[1].is_point
    assert isclose(float(found.parts[1].lower.refined(Fraction(1, 10**12)).lower), exp(-1 / 4))


def test_factors_that_meet() -> None:
    """(p - a)(p - a²) is nowhere negative only where both factors agree: a = 0 and a = 1."""
    about = domain(AP, a="[0, 1]", p="[0, 1]")
    found = project(claims(about, "p^2-a*p-a^2*p+a^3"), about, "a")
    assert shown(found) == [
        ("safe", True, 0.0, 0.0, True),
        ("violating", False, 0.0, 1.0, False),
        ("safe", True, 1.0, 1.0, True),
    ]


def test_linear_parameters_are_replaced_by_ends() -> None:
    """A claim that is linear in all others but one needs no more than two dimensions."""
    ring = Ring(("a", "p", "q", "r"))
    about = domain(ring, a="(0, 1)", p="(0, 1)", q="(0, 1)", r="(0, 1)")
    found = project(claims(about, "a-q*r*p+q*p^2", "1-a*q"), about, "a")
    # q (p² - r p) is smallest at q = r = 1, p = 1/2: there it is -1/4
    assert shown(found) == [("violating", False, 0.0, 0.25, False), ("safe", True, 0.25, 1.0, False)]
    assert found.quantified == ("p", "q", "r")


def test_constraints_on_the_free_parameter() -> None:
    """Constraints on the free parameter leave values out; one on another parameter is refused by name."""
    about = domain(AP, "a**2 < 1/2", a="(0, 1)", p="(0, 1)")
    found = project(claims(about, "a-1/2*p"), about, "a")
    assert [p.status for p in found.parts] == [Status.VIOLATING, Status.SAFE, Status.OUTSIDE]
    about = domain(AP, "a + p <= 1", a="(0, 1)", p="(0, 1)")
    with pytest.raises(UnsupportedError, match=r"the constraint a \+ p <= 1 mentions p"):
        project(claims(about, "a-p"), about, "a")


def test_too_many_parameters() -> None:
    """Two other parameters of higher degree are refused, and named."""
    ring = Ring(("a", "p", "q"))
    about = domain(ring, a="(0, 1)", p="(0, 1)", q="(-1, 1)")
    with pytest.raises(
        UnsupportedError, match="neither linear nor shown to be monotone or concave in p and q"
    ):
        project(claims(about, "a-p^2*q^2+p*q^3"), about, "a")


# --- roots over ordered fields -----------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=40)
@given(polynomials(5, 5, P), intervals(single=False))
def test_negative_point(poly: Polynomial, interval: Interval) -> None:
    """A negative value is found iff there is one, and strictly inside the interval."""
    found = negative_point(poly, "p", interval.lower, interval.upper, number_sign(None))
    open_ = Interval(interval.lower, interval.upper)
    claim = Claim(poly, Domain(P, {"p": open_}))
    assert (found is None) == isinstance(decide_exactly(claim), Proved)
    if found is not None:
        assert found in open_
        assert value_at(poly, {"p": found}) < 0


def test_isolation_with_rational_roots_at_cuts() -> None:
    """Roots at the ends and in the middle of the interval are found as the rationals that they are."""
    product = P.parse("p^3-3/2*p^2+1/2*p")  # p (p - 1/2) (p - 1)
    roots = isolate_over(product, "p", Fraction(0), Fraction(1), number_sign(None))
    assert [(r.lower, r.upper) for r in roots] == [(0, 0), (HALF, HALF), (1, 1)]


def test_domain_membership_agrees() -> None:
    """What is outside of the constraints is outside of the parts that have a verdict."""
    about = domain(PE, "p*exp(1/2) >= 1", p="(0, 1)")
    found = project(claims(about, "p-3/4"), about, "p")
    for k in range(1, 50):
        value = Fraction(k, 50)
        inside = contains(about, {"p": value})
        assert (found.status_at(value) is not Status.OUTSIDE) == inside
