"""Options behind the names of backends, and claims that are given as they are."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Ring
from paramverify.answers import Proved
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.portfolio.session import Options, Session, program
from paramverify.portfolio.strategies import parse_strategy, race_of
from paramverify.processes.attempts import resolve, settings, split_name, split_names

RING = Ring(("x", "y"))


def claim() -> Claim:
    """(x - y)^2 + x*y >= 0 on the open unit square."""
    x, y = RING.variable("x"), RING.variable("y")
    interval = Interval(Fraction(0), Fraction(1))
    return Claim((x - y) ** 2 + x * y, Domain(RING, {"x": interval, "y": interval}))


@pytest.mark.parametrize(
    ("text", "names", "seconds"),
    [
        ("z3(random_seed=1):5; cvc5(seed=2,nl-cov=true),yices:20", ["z3(random_seed=1)"], 5.0),
        ("z3(random_seed=1,a=2),yices", ["z3(random_seed=1,a=2)", "yices"], float("inf")),
        ("bernstein,z3:2", ["bernstein", "z3"], 2.0),
    ],
)
def test_strategies_with_options(text: str, names: list[str], seconds: float) -> None:
    """Commas inside brackets do not separate names, and seconds follow the last bracket."""
    first = parse_strategy(text)[0]
    assert list(first.names()) == names
    assert first.seconds == seconds


def test_names_and_settings() -> None:
    """Options in a name go before those of a backend; two seeds are one program."""
    assert split_names("a, b(x=1,y=2),c") == ["a", "b(x=1,y=2)", "c"]
    assert split_name("b(x=1, y=2)") == ("b", {"x": "1", "y": "2"})
    name = "cvc5-cov(nl-cov=false)"
    assert settings(resolve(name), {}, name) == {"nl-cov": "false", "nl-ext": "light"}
    assert program("z3(random_seed=1)") == program("z3(random_seed=2)") == "z3"
    for wrong in ("z3(seed)", "z3(=1)", "z3(a=b", "z3(a=1,a=2)", "z3()", "z3(a=b c)"):
        with pytest.raises(InputError, match="options of a backend are written like"):
            split_name(wrong)


@pytest.mark.slow
def test_a_race_with_options_and_without_simplification() -> None:
    """The options of the winner are recorded; without simplification its proof is its word alone."""
    options = Options(seconds=20, strategy=race_of(("z3(random_seed=7)",)), steps=())
    with Session(options) as session:
        made = session.decide(claim())
    assert isinstance(made.answer, Proved)
    assert made.backend == "z3(random_seed=7)"
    assert made.options == {"random_seed": "7"}
    assert made.proof["kind"] == "solver"


@pytest.mark.parametrize("text", ["z3:-1", "z3:1e3", ":3", "z3:nan", "z3:.5"])
def test_what_is_no_number_of_seconds(text: str) -> None:
    """What stands behind a colon and is no number of seconds is told as such, not as a missing module."""
    with pytest.raises(InputError, match="unknown strategy"):
        parse_strategy(text)
