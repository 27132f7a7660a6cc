"""A session: built-in procedures first, then solvers, with limits that are never verdicts."""

from fractions import Fraction

import pytest

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Ring, to_rational_function
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.portfolio.session import BUILT_IN, Options, Session
from paramverify.verdicts import End, Open, Proved, Refuted

UNIT = Interval(Fraction(0), Fraction(1))


def claim(text: str, constant: Fraction | None = None) -> Claim:
    expression = parse(text)
    names = tuple(sorted(n for n in expression.names() if n != "E"))
    ring = Ring(names, ExpConstant(constant) if constant else None)
    return Claim(
        to_rational_function(expression, ring).numerator, box_domain(ring, dict.fromkeys(names, UNIT))
    )


@pytest.mark.parametrize("backends", [(), (BUILT_IN,), ("z3",), ("cvc5-cov",), ("bernstein", "z3")])
@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("p**2 - p + 1/4", True),
        ("p**2 - p + 1/4 - 1/10**9", False),
        ("p**2 + q**2 - p*q - p/2 - q/2 + 1/4", True),
        ("p**2 + q**2 - p*q - p/2 - q/2 + 1/4 - 1/10**6", False),
        ("p*q*(1 - p)*(1 - q)", True),
    ],
)
def test_answers_do_not_depend_on_the_backend(backends: tuple[str, ...], text: str, holds: bool) -> None:
    """Touching zeros and near misses are decided alike by every choice of backends."""
    with Session(Options(seconds=60, backends=backends)) as session:
        answer = session.decide(claim(text)).answer
    assert isinstance(answer, Proved if holds else Refuted)


def test_time_that_is_over_is_no_verdict() -> None:
    """A solver that gets no time leaves the claim open, as a timeout."""
    with Session(Options(seconds=1e-6, backends=("z3",))) as session:
        answer = session.decide(claim("p**4 + q**4 - p*q + 1/8")).answer
    assert isinstance(answer, Open)
    assert answer.end is End.TIMEOUT


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("exp(1) - 2718281828459045/10**15", True),
        ("2718281828459046/10**15 - exp(1)", True),
        ("exp(1) - 2718281828459046/10**15", False),
        ("exp(1)*(p + 1) - p*exp(1) - exp(1)", True),
        ("exp(1)*p - 2718281828459045/10**15*p**2", True),
    ],
)
@pytest.mark.parametrize("backends", [(), ("z3",)])
def test_constants_are_the_numbers_they_are(backends: tuple[str, ...], text: str, holds: bool) -> None:
    """Claims about exp(1) that differ from it in the sixteenth digit are decided rightly."""
    expression = parse(text)
    names = tuple(sorted(expression.names()))
    ring = Ring(names, ExpConstant(Fraction(1)))
    domain = box_domain(ring, dict.fromkeys(names, UNIT))
    with Session(Options(seconds=60, backends=backends)) as session:
        answer = session.decide(Claim(to_rational_function(expression, ring).numerator, domain)).answer
    assert isinstance(answer, Proved if holds else Refuted)


def test_unknown_backend_is_named() -> None:
    """A backend that does not exist is refused at once, with the names that exist."""
    with pytest.raises(InputError, match="unknown backend 'z4'; known: bernstein"):
        Session(Options(backends=("z4",)))
