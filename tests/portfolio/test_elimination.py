"""Quantifier elimination: conditions on free parameters, compared with exact decisions at rational points."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import FEW, RING, points, polynomials

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Domain, box_domain, parse_interval
from paramverify.algebra.polynomials import Polynomial, Ring, value_at
from paramverify.algebra.signs import parse_constraint
from paramverify.answers import End, Open, Proved, Refuted
from paramverify.backends import backend
from paramverify.backends import qepcad as qepcad_backend
from paramverify.claims import Claim
from paramverify.errors import DisagreementError, InputError, UnsupportedError
from paramverify.exact.branching import decide_exactly
from paramverify.formats.elimination_scripts import read
from paramverify.formats.formula_printers import QepcadPrinter
from paramverify.formats.quantified_questions import (
    AndCondition,
    Condition,
    NotCondition,
    OrCondition,
    PolynomialComparison,
    QuantifiedImplication,
    comparison,
    question,
    samples,
    simplified,
)
from paramverify.formats.refutations import fixed, violation_by_condition
from paramverify.formats.solver_formulas import written
from paramverify.portfolio.quantifier_elimination import Elimination, check, eliminate


@pytest.fixture(scope="module")
def real() -> None:
    """Asks for the real program."""
    if backend("qepcad").version() is None:
        pytest.skip(backend("qepcad").install)


def domain(*constraints: str, **box: str) -> Domain:
    made = box_domain(Ring(tuple(box)), {name: parse_interval(text) for name, text in box.items()})
    return replace(made, constraints=tuple(c for text in constraints for c in parse_constraint(text, made)))


def conditions_of(about: Domain, free: tuple[str, ...], *texts: str) -> Elimination:
    claims = [Claim(about.ring.parse(text), about) for text in texts]
    found = eliminate(claims, free, about)
    assert isinstance(found, Elimination), found
    return found


# --- conditions --------------------------------------------------------------------------------------


def relations() -> st.SearchStrategy[str]:
    return st.sampled_from(["<", "<=", "=", "!=", ">=", ">"])


conditions: st.SearchStrategy[Condition] = st.recursive(
    st.builds(comparison, polynomials(2, 3), relations()),
    lambda parts: st.one_of(
        st.builds(AndCondition, st.lists(parts, max_size=3).map(tuple)),
        st.builds(OrCondition, st.lists(parts, max_size=3).map(tuple)),
        st.builds(NotCondition, parts),
    ),
    max_leaves=5,
)


@FEW
@given(conditions, points())
def test_conditions_survive_simplification_and_text(condition: Condition, point: dict[str, Fraction]) -> None:
    """Simplifying a condition, and writing it for QEPCAD and reading it back, changes its value nowhere."""
    expected = condition.holds_at(point)
    assert simplified(condition).holds_at(point) == expected
    renamed = {name: f"v{k}" for k, name in enumerate(RING.names, 1)}
    text = QepcadPrinter().walk(written(condition, renamed))
    assert read(text, RING, renamed).holds_at(point) == expected


def test_conditions_as_text() -> None:
    """A condition is told in the words of case files, with brackets where they are needed."""
    p, q = RING.variable("p"), RING.variable("q")
    less, same = comparison(2 * p - 4 * q, "<"), comparison(q**2, "=")
    assert (
        str(OrCondition((AndCondition((less, same)), NotCondition(less))))
        == "(p - 2*q < 0 and q**2 = 0) or not p - 2*q < 0"
    )
    assert str(NotCondition(OrCondition((less, same)))) == "not (p - 2*q < 0 or q**2 = 0)"
    assert (str(AndCondition()), str(OrCondition()), str(AndCondition((OrCondition(), less)))) == (
        "true",
        "false",
        "false and p - 2*q < 0",
    )


@pytest.mark.parametrize(
    ("text", "interval", "expected"),
    [
        ("p - 1/2", "(0, 1)", ["1/4", "2/3", "1/2"]),
        ("2*p^2 - 1", "[0, 1]", ["1/2", "3/4", "0", "1"]),
        ("1", "(0, 1)", ["1/2"]),
        ("p", "2/7", ["2/7"]),
        ("p*(p - 1)", "[0, 1)", ["1/2", "0"]),
    ],
)
def test_samples_are_in_every_piece(text: str, interval: str, expected: list[str]) -> None:
    """There is a sample in each piece between zeros, at each rational zero and at each end that belongs."""
    ring = Ring(("p",))
    found = list(samples([comparison(ring.parse(text), "<")], "p", parse_interval(interval)))
    assert len(found) == len(expected)
    assert all(value in parse_interval(interval) for value in found)
    signs = {value_at(ring.parse(text), {"p": value}) > 0 for value in found}
    assert signs == {value_at(ring.parse(text), {"p": Fraction(e)}) > 0 for e in expected}


# --- the real program --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("real")
@pytest.mark.parametrize(
    ("text", "free", "expected"),
    [
        ("q^2 - p*q + p^3 - 1/10", ("p",), "20*p**3 - 5*p**2 - 2 >= 0"),
        ("p - q", ("p",), "false"),
        ("p + q", ("p",), "true"),
        ("p - q", ("p", "q"), "-p + q <= 0"),
        ("p + q", (), "true"),
        ("p + q - 1", (), "false"),
        ("1", ("p",), "true"),
    ],
)
def test_known_conditions(text: str, free: tuple[str, ...], expected: str) -> None:
    """Small eliminations give the conditions that one finds by hand."""
    found = conditions_of(domain(p="(0, 1)", q="(0, 1)"), free, text)
    assert str(found.condition) == expected
    assert "The End" in found.transcript


@pytest.mark.slow
@pytest.mark.usefixtures("real")
def test_several_claims_and_constraints() -> None:
    """The condition is about all claims together, under the constraints on the other parameters."""
    about = domain("q <= p", p="(0, 1)", q="(0, 1)")
    found = conditions_of(about, ("p",), "1/2 - q", "q - p + 3/4", "p*q")
    assert str(found.condition) == "2*p - 1 <= 0"
    assert found.text == "2*p - 1 <= 0"
    assert str(found.assumptions) == "p > 0 and p - 1 < 0"
    assert found.checked > 8
    assert conditions_of(about, ("q",), "1/2 - q", "q").text == "2*q - 1 <= 0"
    fixed_one = domain(p="1/3", q="(0, 1)")
    assert str(conditions_of(fixed_one, ("q",), "p - q").condition) == "3*q - 1 <= 0"


@st.composite
def claims_with_free(draw: st.DrawFn) -> tuple[list[Polynomial], Domain, tuple[str, ...]]:
    """Up to two claims over boxes with open and closed ends, at most one constraint, one or two free."""
    ends = st.sampled_from(["(0, 1)", "[0, 1]", "(-1, 1)", "[-1/2, 1)"])
    made = box_domain(RING, {name: parse_interval(draw(ends)) for name in RING.names})
    constraint = draw(st.sampled_from([(), ("p + q <= 1",), ("p*q >= 1/10",), ("r**2 < p",)]))
    parts = tuple(c for text in constraint for c in parse_constraint(text, made))
    about = draw(st.lists(polynomials(2, 4), min_size=1, max_size=2))
    free = draw(st.sampled_from([("p",), ("q",), ("p", "r"), ("q", "p")]))
    return about, replace(made, constraints=parts), free


@pytest.mark.slow
@pytest.mark.usefixtures("real")
@settings(max_examples=16)
@given(claims_with_free(), st.lists(points(), min_size=3, max_size=3))
def test_random_conditions_agree_with_exact_decisions(
    drawn: tuple[list[Polynomial], Domain, tuple[str, ...]], at: list[dict[str, Fraction]]
) -> None:
    """At random points of the free parameters the condition is true iff the built-ins prove the claims."""
    about, where, free = drawn
    found = eliminate([Claim(f, where) for f in about], free, where, seconds=5)
    if isinstance(found, Open):
        assert found.end in (End.TIMEOUT, End.GAVE_UP, End.MEMORY)  # doubts about its own answer, say
        return
    for point in at:
        if not found.assumptions.holds_at(point):
            continue
        answers = []
        for f in about:
            part = Claim(f, where)
            for name in free:
                part = fixed(part, name, point[name])
            answers.append(decide_exactly(part))
        if found.condition.holds_at(point):
            assert not any(isinstance(answer, Refuted) for answer in answers)
        else:
            assert not all(isinstance(answer, Proved) for answer in answers)


@pytest.mark.usefixtures("real")
def test_mistakes_and_limits() -> None:
    """What cannot be eliminated is an error that names it, and a limit that is over leaves it open."""
    about = domain(p="(0, 1)", q="(0, 1)")
    claim = Claim(about.ring.parse("p - q"), about)
    with pytest.raises(InputError, match="there is no parameter 'z'; choose from p, q"):
        eliminate([claim], ["z"], about)
    assert eliminate([claim], ["p"], about, seconds=0) == Open(End.TIMEOUT, "the time limit is over")
    assert isinstance(eliminate([claim], ["p"], about, memory=1 << 20), Open)
    ring = Ring(("p", "q"), ExpConstant(Fraction(1)))
    enclosed = box_domain(ring, about.box)
    with pytest.raises(UnsupportedError, match=r"exp\(1\) is not an algebraic number"):
        eliminate([Claim(ring.parse("E*p - q"), enclosed)], ["p"], enclosed)
    found = eliminate([Claim(ring.parse("p - q^2"), enclosed)], ["p"], enclosed)
    assert isinstance(found, Elimination)  # E is in the ring only
    assert str(found.condition) == "false"


def test_without_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without QEPCAD there is no elimination, and the answer says how to get it."""
    monkeypatch.setattr(qepcad_backend, "installation", lambda: None)
    about = domain(p="(0, 1)")
    answer = eliminate([Claim(about.ring.parse("p"), about)], ["p"], about)
    assert answer == Open(End.UNAVAILABLE, f"qepcad is missing; to get it: {backend('qepcad').install}")


@pytest.mark.parametrize(
    ("polynomial", "relation"), [("2*p - 1", ">="), ("p - 1", "<"), ("p", "<"), ("1000000*p - 500001", "<=")]
)
def test_a_wrong_condition_is_found_out(polynomial: str, relation: str) -> None:
    """A condition that is wrong somewhere near its boundary contradicts the exact procedures."""
    about = domain(p="(0, 1)", q="(0, 1)")
    claims = [Claim(about.ring.parse("1/2 - p*q"), about)]
    asked = question([c.polynomial for c in claims], about, ["p"])
    later = time.monotonic() + 60
    assert check(PolynomialComparison(about.ring.parse("2*p - 1"), "<="), claims, about, asked, later) > 8
    with pytest.raises(DisagreementError) as caught:
        check(PolynomialComparison(about.ring.parse(polynomial), relation), claims, about, asked, later)
    assert {name for name, _, _ in caught.value.answers} == {"qepcad", "built-in"}


def test_violations_are_found_coordinate_by_coordinate() -> None:
    """With right answers about one parameter at a time, the only rational point of a violation is found."""
    about = domain("p + q == 1", "p**3 == 343/1000", p="(0, 1)", q="(0, 1)")
    claim = Claim(about.ring.parse("p*q - 1/4"), about)
    first = NotCondition(comparison(about.ring.parse("10*p - 7"), "="))
    second = NotCondition(comparison(about.ring.parse("10*q - 3"), "="))

    def ask(part: QuantifiedImplication) -> Condition:
        return first if part.free == ("p",) else second

    assert violation_by_condition(claim, ask) == {"p": Fraction(7, 10), "q": Fraction(3, 10)}
    assert violation_by_condition(claim) is None
    assert violation_by_condition(claim, lambda part: Open(End.GAVE_UP)) is None
    assert violation_by_condition(claim, lambda part: AndCondition()) is None
