"""Every solver is asked a formula of PySMT: with the formula of another claim it answers about that one."""

from __future__ import annotations

import pytest

from paramverify.algebra.domains import box_domain, parse_interval
from paramverify.algebra.polynomials import Ring
from paramverify.answers import Proved, Refuted
from paramverify.backends import backend
from paramverify.backends import redlog as redlog_backend
from paramverify.backends.programs import Finished
from paramverify.claims import Claim
from paramverify.formats.quantified_questions import question
from paramverify.formats.solver_formulas import quantified, violated

RING = Ring(("p",))
HOLDS, FAILS = (
    Claim(RING.parse(text), box_domain(RING, {"p": parse_interval("(0, 1)")})) for text in ("p", "p - 1/3")
)


@pytest.fixture
def of_another_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives the formula of a claim that holds in the place of every other one."""
    about = question([HOLDS.polynomial], HOLDS.domain)
    for place in ("backends.z3", "backends.cvc5", "formats.smtlib"):
        monkeypatch.setattr(f"paramverify.{place}.violated", lambda *claims: violated(HOLDS))
    monkeypatch.setattr(
        "paramverify.formats.elimination_scripts.quantified", lambda asked, **how: quantified(about, **how)
    )


@pytest.mark.parametrize("name", ["z3", "cvc5", "yices", "qepcad"])
def test_solvers_are_asked_a_formula(name: str, request: pytest.FixtureRequest) -> None:
    """The claim is refuted; with another formula, which is all that the solver sees, it would be proved."""
    solver = backend(name)
    if solver.version() is None:
        pytest.skip(solver.install)
    assert isinstance(solver.decide(FAILS, {}), Refuted)
    request.getfixturevalue("of_another_claim")
    assert isinstance(solver.decide(FAILS, {}), Proved)


def test_redlog_is_asked_a_formula(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What REDUCE reads is the formula; where REDUCE is missing, this is looked at in its input."""
    given: list[str] = []
    monkeypatch.setattr(redlog_backend, "_found", lambda: ("reduce", "any"))
    monkeypatch.setattr(redlog_backend, "run", lambda command, text: given.append(text) or Finished(0, ""))
    backend("redlog").decide(FAILS, {})
    request.getfixturevalue("of_another_claim")
    backend("redlog").decide(FAILS, {})
    formulas = [line for text in given for line in text.splitlines() if line.startswith("phi := ")]
    fails = "v1 <= 0 or v1 - 1 >= 0 or"
    assert formulas == [f"phi := all({{v1}}, {fails} {f})$" for f in ("3*v1 - 1 >= 0", "v1 >= 0")]
