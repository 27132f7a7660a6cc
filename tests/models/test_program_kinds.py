"""Programs and the built-in kinds that do the same: equal probabilities and equal verdicts."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from paramverify.algebra.polynomials import RationalFunction
from paramverify.models.model import Model, need_privacy
from paramverify.models.programs.noise_terms import within, without, zone_of
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify

NOISE = '{ table = [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]] }'
DRAWN = """
def noisy(x):
    if x == 0:
        y = choice({0: 2/3, 1: 1/6, 2: 1/6})
        return y
    if x == 1:
        y = choice({0: 1/3, 1: 1/3, 2: 1/3})
        return y
    y = choice({0: 1/6, 1: 1/6, 2: 2/3})
    return y
"""

PAIRS = {
    "noisy max": (
        f'kind = "noisy_max"\nqueries = 2\nties = "first"\nnoise = {NOISE}',
        f"{DRAWN}\na = noisy(q[0])\nb = noisy(q[1])\nif b > a:\n    output(2)\nelse:\n    output(1)",
        2,
    ),
    "truncated geometric": (
        f'kind = "geometric"\nnoise = {NOISE}',
        f"{DRAWN}\na = noisy(q[0])\noutput(a)",
        1,
    ),
    "clamped noise": (
        'kind = "geometric"\nnoise = { truncated_geometric = "alpha", range = 2 }',
        "output(clamp(q[0] + geometric(alpha), 0, 2))",
        1,
    ),
    "noisy max of clamped noise": (
        'kind = "noisy_max"\nqueries = 2\nties = "uniform"\n'
        'noise = { truncated_geometric = "alpha", range = 2 }',
        "a = clamp(q[0] + geometric(alpha), 0, 2)\nb = clamp(q[1] + geometric(alpha), 0, 2)\n"
        "if b > a or b == a and flip(1/2):\n    output(2)\nelse:\n    output(1)",
        2,
    ),
}


def _load(folder: Path, mechanism: str) -> Model:
    path = folder / "case.toml"
    head = '[parameters]\nalpha = "(0, 1)"\n[mechanism]\n'
    tail = '\n[neighbours]\ndiffer = "each"\n[privacy]\nratio = "1/alpha**2"\n'
    path.write_text(head + mechanism + tail)
    return need_privacy(load(path).model, "this test")


def _program(text: str, length: int) -> str:
    inputs = f'q = {{ length = {length}, values = "0..2" }}'
    return f"kind = \"program\"\nsource = '''\n{text}\n'''\n[mechanism.inputs]\n{inputs}"


def _row(model: Model, state: str) -> dict[str, RationalFunction]:
    """Returns the formula of each output in a state."""
    hmm = model.hmm
    found: dict[str, RationalFunction] = {}
    for step in hmm.steps[hmm.states.index(state)]:
        share = RationalFunction.of(step.weight) / RationalFunction.of(hmm.denominator)
        name = hmm.observations[step.observation]
        found[name] = found[name] + share if name in found else share
    return found


@pytest.mark.parametrize("name", PAIRS)
def test_programs_equal_the_built_in_kinds(name: str, tmp_path: Path) -> None:
    """A program has the same probabilities as the kind that does the same, as formulas in the parameters."""
    kind, text, length = PAIRS[name]
    built_in, written = _load(tmp_path, kind), _load(tmp_path, _program(text, length))
    assert set(built_in.hmm.states) <= set(written.hmm.states)
    for state in built_in.hmm.states:
        assert _row(built_in, state) == _row(written, state)


@pytest.mark.slow
def test_zones_hold_the_points_that_their_bounds_describe() -> None:
    """Closing a zone loses no point, and finds it empty only where it has none."""
    points = [(0, *p) for p in product(range(-4, 5), repeat=3)]
    r = random.Random(1)
    for _ in range(200):
        pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
        bounds = {pair: Fraction(r.randint(-2, 3)) for pair in r.sample(pairs, r.randint(1, 6))}
        bounds |= {(i, 0): Fraction(3) for i in (1, 2, 3)} | {(0, i): Fraction(3) for i in (1, 2, 3)}
        inside = {p for p in points if all(p[i] - p[j] <= c for (i, j), c in bounds.items())}
        zone = zone_of(bounds)
        assert (zone is None) == (not inside)
        if zone is None:
            continue
        assert inside == {p for p in points if all(p[i] - p[j] <= c for (i, j), c in zone)}
        shadow = without(zone, 3)
        below = {p[:3] for p in points if all(p[i] - p[j] <= c for (i, j), c in shadow)}
        assert {p[:3] for p in inside} == below
        more = ((1, 2), Fraction(r.randint(-3, 3)))
        part = within(zone, (more,))
        kept = {p for p in inside if p[1] - p[2] <= more[1]}
        assert (part is None) == (not kept)
        assert part is None or kept == {p for p in points if all(p[i] - p[j] <= c for (i, j), c in part)}


def test_an_unbounded_parameter_is_told_in_words(tmp_path: Path) -> None:
    """The note says what x_eps stands for, and the witness gives eps."""
    text = "if q[0] + laplace(2 / eps) >= 1:\n    output(1)\nelse:\n    output(0)"
    path = tmp_path / "case.toml"
    head, tail = (
        '[parameters]\neps = "(0, oo)"\n[mechanism]\n',
        '\n[neighbours]\ndiffer = "each"\n[privacy]\n',
    )
    path.write_text(f'{head}{_program(text, 1)}{tail}epsilon = "eps/4"\n')
    report = verify(load(path))
    assert "x_eps stands for exp(-eps/4)" in report.notes
    witness = report.verdict.witness
    value = witness.parameters["x_eps"]
    assert witness.meant == {"eps": f"4*ln({1 / value})"}
