"""Programs and the built-in kinds that do the same: equal probabilities and equal verdicts."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from paramverify.models.programs.noise_terms import within, without, zone_of
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify


def _program(text: str, length: int) -> str:
    inputs = f'q = {{ length = {length}, values = "0..2" }}'
    return f"kind = \"program\"\nsource = '''\n{text}\n'''\n[mechanism.inputs]\n{inputs}"


@pytest.mark.slow
def test_zones_hold_the_points_that_their_bounds_describe() -> None:
    """Closing a zone loses no point, and finds it empty only where it has none."""
    points = [(0, *p) for p in product(range(-4, 5), repeat=3)]
    r = random.Random(1)
    for _ in range(90):
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
