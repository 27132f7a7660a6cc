"""The SMT encoding: formula and script say exactly that some point of the domain violates the claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from smt_scripts import claims, code, run_cvc5, run_yices, run_z3, value
from strategies import FEW, points

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import box_domain, parse_interval
from paramverify.algebra.polynomials import Ring
from paramverify.claims import Claim
from paramverify.errors import DefectError, LimitError, UnsupportedError
from paramverify.formats import smtlib, solver_formulas
from paramverify.formats.smtlib import script, symbol
from paramverify.formats.solver_formulas import occurring, violated


def claim(polynomial: str, **box: str) -> Claim:
    ring = Ring(tuple(box))
    return Claim(ring.parse(polynomial), box_domain(ring, {n: parse_interval(t) for n, t in box.items()}))


@pytest.mark.slow
@FEW
@given(claims(), points())
def test_script_means_violation(drawn: Claim, point: dict[str, Fraction]) -> None:
    """At every point the script's assertions are true together iff the point violates the claim."""
    commands = code(script(drawn))
    declared = [c[1] for c in commands if c[0] == "declare-fun"]
    assert declared == list(occurring(drawn))
    absent = {n: i.simplest() for n, i in drawn.domain.box.items() if n not in declared}
    point = point | absent  # what is left out may have any value of its interval
    expected = point in drawn.domain and not drawn.holds_at(point)
    assert all(value(c[1], point) for c in commands if c[0] == "assert") == expected


@pytest.mark.slow
@FEW
@given(claims(), points())
def test_formula_means_violation(drawn: Claim, point: dict[str, Fraction]) -> None:
    """At every point PySMT's formula simplifies to true iff the point violates the claim."""
    encoded = violated(drawn)
    manager = encoded.environment.formula_manager
    values = {s: manager.Real(point[name]) for name, s in encoded.symbols.items()}
    result = encoded.environment.simplifier.simplify(
        encoded.environment.substituter.substitute(encoded.formula, values)
    )
    absent = {n: i.simplest() for n, i in drawn.domain.box.items() if n not in encoded.symbols}
    point = point | absent
    assert result.is_bool_constant()
    assert result.is_true() == (point in drawn.domain and not drawn.holds_at(point))


def test_script_as_text() -> None:
    """A script is as a person would write it: whole numbers, products, the status, and what it is about."""
    about = claim("3/4*p^2 - 1/10*p*q + 1/2", p="(0, 1]", q="[1/3, 0.7)", r="1/2")
    assert script(about, "unsat", "row 3\nof a table").splitlines() == [
        "; row 3",
        "; of a table",
        "; Some point with p in (0, 1], q in [1/3, 7/10), r = 1/2 violates the claim.",
        "(set-info :smt-lib-version 2.6)",
        "(set-logic QF_NRA)",
        "(set-info :status unsat)",
        "(declare-fun p () Real)",
        "(declare-fun q () Real)",
        "(assert (> p 0))",
        "(assert (<= p 1))",
        "(assert (>= (* 3 q) 1))",
        "(assert (< (* 10 q) 7))",
        "(assert (< (+ (* 15 p p) (* (- 2) p q)) (- 10)))",
        "(check-sat)",
        "(exit)",
    ]


def test_constant_in_a_script() -> None:
    """The constant E is a variable between its rational bounds, and a comment says what it encloses."""
    ring = Ring(("p",), ExpConstant(Fraction(1, 2)))
    text = script(Claim(ring.parse("E - p"), box_domain(ring, {"p": parse_interval("(0, 1)")})))
    assert "; E encloses exp(1/2)." in text
    assert "(declare-fun E () Real)" in text
    assert run_z3(text) == "unsat"


RUNS = pytest.mark.parametrize("run", [run_z3, run_cvc5, run_yices])


@RUNS
@pytest.mark.parametrize(
    ("about", "answer"),
    [
        (claim("p - p^2", p="(0, 1)"), "unsat"),
        (claim("p - 1/10^9", p="(0, 1)"), "sat"),
        (claim("p*q", p="[0, 1]", q="(-1/7, 1]"), "sat"),
        (claim("-1", p="(0, 1)"), "sat"),
        (claim("0", p="(0, 1)"), "unsat"),
        (claim("7*p - 2", p="2/7"), "unsat"),
    ],
)
def test_scripts_run_unchanged(run: Callable[[str], str], about: Claim, answer: str) -> None:
    """Z3, cvc5 and Yices accept the scripts as they are and agree with the known answers."""
    assert run(script(about, answer)) == answer


@pytest.mark.slow
@RUNS
def test_every_name_of_a_parameter_can_be_used(run: Callable[[str], str]) -> None:
    """Parameters may have names that mean something in SMT-LIB."""
    for name in (*sorted(smtlib.TAKEN - {"_", "!"}), "E", "x_1", "Real", "check", "max"):
        assert run(script(claim(f"{name} - 1/2", **{name: "(1/2, 1)"}), "unsat")) == "unsat", name
        text = script(claim(f"{name} - 2/3", **{name: "(1/2, 1)"}), "sat")
        assert run(text) == "sat", name
        assert ("stands for the parameter" in text) == (name in smtlib.TAKEN), name


def test_symbols() -> None:
    """Names beyond those of cases are quoted, or refused where SMT-LIB has no way to write them."""
    assert [symbol(n) for n in ("p", "let", "p'", "π", "1")] == ["p", "let!", "|p'|", "|π|", "|1|"]
    for name in ("a|b", "a\\b", "let!", "a\nb"):
        with pytest.raises(UnsupportedError, match="no symbol"):
            symbol(name)


def test_huge_numbers() -> None:
    """Coefficients with thousands of digits are written out in full."""
    digits = "7" * 6_000
    assert f"(* {digits} p)" in script(claim(f"{digits}*p - 1", p="(0, 1)"))


def test_refused_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable without an interval, an unknown status and a formula beyond the bound are errors."""
    about = claim("p*q", p="(0, 1)", q="(0, 1)")
    with pytest.raises(DefectError, match="no interval for q"):
        violated(replace(about, domain=replace(about.domain, box={"p": about.domain.box["p"]})))
    with pytest.raises(DefectError, match="status"):
        script(about, "true")
    monkeypatch.setattr(solver_formulas, "MAX_FACTORS", 100)
    with pytest.raises(LimitError, match="more than 100 factors"):
        script(claim("p^100", p="(0, 1)"))
