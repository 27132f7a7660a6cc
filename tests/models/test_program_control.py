"""The control states of programs, and the steps between them."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.polynomials import Ring
from paramverify.cli.main import run
from paramverify.models.context import Checks
from paramverify.models.programs.output_intervals import shown_output
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.program_running import END, Control, control_graph
from paramverify.models.programs.run_states import Unread


def steps(text: str) -> set[tuple[Control, Control, str]]:
    """Returns the steps of a program of q in {0, 1}."""
    checks = Checks(box_domain(Ring(("a",)), {"a": Interval(Fraction(0), Fraction(1))}))
    inputs = [(Fraction(0),), (Fraction(1),)]
    edges = control_graph(read_program(text), {"q": Unread(0)}, inputs, shown_output, checks=checks)
    return {(edge.start, edge.end, edge.label) for edge in edges}


def test_a_loop_with_a_noisy_threshold() -> None:
    """The threshold stays alive from turn to turn, and is gone after the last one."""
    start, turn = Control(1), Control(2, ("T",), ("T",), 1)
    test, above = Control(3, ("T", "k"), ("T",), 1), Control(4)
    text = (
        "T = geometric(a)\nfor k in range(3):\n    if q - k >= T:\n        output(1)\n        stop\noutput(0)"
    )
    test = Control(3, ("T",), ("T",), 1)
    assert steps(text) == {
        (start, turn, ""),
        (turn, test, ""),
        (test, above, "true"),
        (test, turn, "false"),
        (test, Control(6), "false"),
        (above, Control(5), "output 1"),
        (Control(5), END, ""),
        (Control(6), END, "output 0"),
    }


def test_functions_and_while_loops() -> None:
    """A function has control states of its own; the noise of its caller stays alive in it."""
    text = "def f(x):\n    return x + 1\nT = geometric(a)\nn = q\nwhile n < 2:\n    n = f(n)\noutput(n > T)"
    found = steps(text)
    assert (Control(6, ("T", "n"), ("T",), 1), Control(2, ("x",), (), 1), "") in found
    assert (Control(2, ("x",), (), 1), Control(5, ("T", "n"), ("T",), 1), "") in found
    assert (Control(5, ("T", "n"), ("T",), 1), Control(7, ("T", "n"), ("T",), 1), "false") in found
    assert {label for _, end, label in found if end == END} == {"output True", "output False"}


def test_impossible_branches_have_no_step() -> None:
    """A branch that no run takes is not there."""
    found = steps("if q > 1:\n    output(1)\n    stop\noutput(0)")
    assert {(s.line, e.line, label) for s, e, label in found} == {(1, 4, "false"), (4, 0, "output 0")}


@pytest.mark.slow
def test_show_prints_the_control_states(capsys: pytest.CaptureFixture[str]) -> None:
    """`show --graph` prints them as a graph in DOT, with the lines of the program."""
    path = "cases/programs/sparse-vector.toml"
    assert run(["show", "--graph", path]) == 0
    text = capsys.readouterr().out
    assert text.startswith("digraph program {")
    assert 'label="line 3: if x + geometric(alpha) >= T:\\nreads T (noisy), x\\nnoise alive: 1"' in text
    assert text.count('[label="true"]') == 1
    assert run(["show", "--graph", "--json", path]) == 0
    assert json.loads(capsys.readouterr().out) == {"graph": text}


def test_a_test_with_calls_has_one_pair_of_labels() -> None:
    """Parts of a test have no labels: the outcome of the test has them, and only that leads on."""
    text = "def even(x):\n    return x % 2 == 0\nif (q > 5) or even(q):\n    output(1)\noutput(0)"
    labelled = {(a.line, b.line, label) for a, b, label in steps(text) if label in ("true", "false")}
    assert labelled == {(3, 4, "true"), (3, 5, "false")}
