"""The second reader of programs with numbers as outputs: sets, places of densities, and limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from program_budgets import OPTIONS, written

from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import check_with_case, evidence_document
from paramverify.rereader.second_outputs import NumberRange, named
from paramverify.rereader.second_reading import SecondLook, second_look

EPS, ALPHA = 'eps = "(0, oo)"', 'alpha = "(0, 1)"'
ONE = 'x = { values = "0..1" }'
SUMS = "s = 0\nfor x in q:\n    s = s + x + {noise}\n    output(s)"
GAP = 'g = x + geometric(alpha**2) - geometric(alpha)\nif g >= 0:\n    output(g)\n    stop\noutput("below")'
PROGRAMS = {
    "whole": ("for x in q:\n    output(x + geometric(alpha))", 'ratio = "1/alpha**2"', ALPHA),
    "whole sums": (SUMS.format(noise="geometric(alpha)"), 'ratio = "1/alpha**2"', ALPHA),
    "sums": (SUMS.format(noise="laplace(1 / eps)"), 'epsilon = "2 * eps"', EPS),
    "densities": ("for x in q:\n    output(x + laplace(1 / eps))", 'epsilon = "2 * eps"', EPS),
    "number": ("for x in q:\n    output(x + laplace(1))", 'epsilon = "2"', ""),
    "mixed": (
        'if q[0] + laplace(1 / eps) >= 0:\n    output(q[1] + laplace(1 / eps))\nelse:\n    output("below")',
        'epsilon = "2 * eps"',
        EPS,
    ),
    "same noise": (
        "v = geometric(alpha)\noutput(q[0] + v)\noutput([q[0] + v, 'a'])",
        'ratio = "1/alpha"',
        ALPHA,
    ),
    "grid": ("output(q[0] / 2 + 2 * geometric(alpha))", 'ratio = "2"', ALPHA),
    "atoms": ("output(max(0, q[0] + laplace(1 / eps)))", 'epsilon = "eps"', EPS),
}


def read(path: Path) -> tuple[dict[str, Any], SecondLook]:
    """Returns the evidence of a case, and what the second reader says."""
    case = load(path)
    document = json.loads(json.dumps(evidence_document(case, verify(case, OPTIONS))))
    assert check_with_case(document, case).accepted
    return document, again(document, path)


def again(document: Mapping[str, Any], path: Path) -> SecondLook:
    """Returns what the second reader says of evidence."""
    return second_look(document, path.read_text(), None, path.parent)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_with_numbers_are_read_a_second_time(tmp_path: Path, name: str) -> None:
    """The weights that the second reader finds for the named outputs agree with all claims."""
    text, privacy, parameters = PROGRAMS[name]
    document, look = read(written(tmp_path / "case.toml", text, privacy, parameters))
    assert look.compared, look.line
    assert look.agrees, look.line
    assert document["outputs"]


def test_evidence_about_another_program_is_refused(tmp_path: Path) -> None:
    """Twice the noise, or another rule of the gap: then the named outputs have other weights."""
    path = written(tmp_path / "case.toml", GAP, 'ratio = "1/alpha**2"', ALPHA, ONE)
    document, look = read(path)
    assert look.compared, look.line
    assert look.agrees, look.line
    for old, new in (("alpha**2", "alpha**3"), ("g >= 0", "g >= 1"), ("output(g)", "output(g + 1)")):
        other = written(tmp_path / "other.toml", GAP.replace(old, new), 'ratio = "1/alpha**2"', ALPHA, ONE)
        assert not again(document, other).agrees


def test_outputs_that_are_left_out_are_noticed(tmp_path: Path) -> None:
    """The named sets of whole numbers have to be all outputs."""
    text, privacy, parameters = PROGRAMS["whole"]
    path = written(tmp_path / "case.toml", text, privacy, parameters)
    document, _ = read(path)
    less = {**document, "outputs": document["outputs"][1:]}
    assert "not all outputs" in again(less, path).line
    assert not check_with_case(less, load(path)).accepted


def test_a_set_beside_a_density_is_integrated_again(tmp_path: Path) -> None:
    """A wrong probability of the interval of a witness is found by the second reader alone."""
    text, _, parameters = PROGRAMS["sums"]
    path = written(tmp_path / "case.toml", text, 'epsilon = "eps"', parameters)
    document, look = read(path)
    assert look.compared, look.line
    assert look.agrees, look.line
    document["witness"]["within"]["probabilities"][0] = "1/17"
    assert not again(document, path).agrees


def without(document: Mapping[str, Any], outputs: Callable[[str], bool]) -> dict[str, Any]:
    """Returns evidence that says nothing of some outputs."""
    names = [name for name in document["outputs"] if not outputs(name)]
    statements = []
    for entry in document["statements"]:
        origins = [o for o in entry["origins"] if not outputs(o.split("output ")[1].strip("'"))]
        statements += [{**entry, "origins": origins}] if origins else []
    return {**document, "outputs": names, "statements": statements}


BELOW = 'v = laplace(2)\nif v <= x or flip({chance}):\n    output(v)\nelse:\n    output("above")'


def test_breaks_that_the_evidence_leaves_out_are_found(tmp_path: Path) -> None:
    """The bound is broken between 0 and 1 alone: without it the evidence agrees."""
    path = written(tmp_path / "case.toml", BELOW.format(chance="3/4"), 'ratio = "7/4"', "", ONE)
    other = written(tmp_path / "other.toml", BELOW.format(chance="1/2"), 'ratio = "7/4"', "", ONE)
    document, look = read(path)
    assert look.agrees, look.line
    less = without(document, lambda name: name in {"just above 0", "at 1", "just below 1"})
    assert less["outputs"] != document["outputs"]
    assert "names no output" in again(less, other).line
    assert not again(less, other).agrees
    assert again(less, path).agrees  # there the bound holds at these places, too


def test_forms_of_outputs_that_the_evidence_leaves_out_are_found(tmp_path: Path) -> None:
    """Beside places of densities nothing sums to 1, and still each output of the program has to be named."""
    path = written(tmp_path / "case.toml", BELOW.format(chance="3/4"), 'ratio = "7/4"', "", ONE)
    document, _ = read(path)
    look = again(without(document, lambda name: name == "above"), path)
    assert not look.agrees
    assert "names no output of a form" in look.line


def test_names_are_read() -> None:
    """Lists, quotes with commas, sums, and grids."""
    found = named('"a, b", [<= 0, below], o2 - 1/2*o1 just below -3/2, (any number in 1/2 + 2*k), 0..1/8')
    assert found.lists == ".[..]..."
    assert found.entries[0] == '"a, b"'
    assert found.entries[1:3] == (NumberRange(None, 0), "below")  # type: ignore[arg-type]
    place, grid, interval = found.entries[3:]
    assert isinstance(place, NumberRange)
    assert (place.low, place.side, [(k, str(s)) for k, s in place.of]) == (
        -1.5,
        "just below",
        [(2, "1"), (1, "-1/2")],
    )
    assert isinstance(grid, NumberRange)
    assert grid.part == 0.5
    assert isinstance(interval, NumberRange)
    assert (interval.low, interval.high, interval.side) == (0, 0.125, "")


@pytest.mark.parametrize("privacy", ['epsilon = "1"\ndelta = "1/2"', 'kl = "50"'])
def test_measures_of_all_outputs_together_are_read_a_second_time(tmp_path: Path, privacy: str) -> None:
    """Evidence with a delta, or about a divergence, names the sets of numbers, too."""
    text = "output(q[0] + geometric(1/2))"
    document, look = read(written(tmp_path / "case.toml", text, privacy))
    assert document["outputs"]
    assert look.compared, look.line
    assert look.agrees, look.line
