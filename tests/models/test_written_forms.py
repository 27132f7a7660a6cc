"""Definitions, shared tables, noise in the prior, releases and labels: against brute force."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from quick import seeds
from written_worlds import truncated, world

from paramverify.models.model import Model
from paramverify.models.model_evaluation import Numbers
from paramverify.privacy.cases import load
from paramverify.rereader.second_reader import SecondReader

F = Fraction
POINTS = [
    {"q": F(1, 2), "a": F(1, 4)},
    {"q": F(1, 7), "a": F(1, 2)},
    {"q": F(8, 9), "a": F(1, 10)},
]


def of_model(model: Model, point: dict[str, Fraction]) -> dict[str, dict[str, Fraction]]:
    """How likely each output is under each secret, by the model of the case."""
    numbers, pair = Numbers(model, point), model.pairs[0]
    found = {}
    for name, start in ((pair.left, pair.pi), (pair.right, pair.tau)):
        shares = {o: numbers.probability(start, (k,)).rational for k, o in enumerate(model.hmm.observations)}
        found[name] = {o: p for o, p in shares.items() if p}
    return found


def possible(probabilities: dict[str, Fraction]) -> dict[str, Fraction]:
    """The outputs that are possible."""
    return {o: p for o, p in probabilities.items() if p}


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(8, 3))
def test_random_worlds(seed: int, tmp_path: Path) -> None:
    """The model, the second reader and brute force find the same probabilities at three points."""
    found = world(seed)
    path = tmp_path / "case.toml"
    path.write_text(found.text)
    case = load(path)
    assert isinstance(case.model, Model)
    second = SecondReader(found.text, None)
    for point in POINTS:
        expected = {name: possible(row) for name, row in found.probabilities(point).items()}
        assert of_model(case.model, point) == expected
        again = second.masses(point, F(1), [1])
        assert {
            n: {o: p for (o,), p in (row or {}).items() if p} for n, row in again.words.items()
        } == expected
        assert again.bounds[None] == Numbers(case.model, point).bound().rational


def test_the_worlds_have_all_forms() -> None:
    """The random cases cover each mechanism, and tables with more outputs than answers and with fewer."""
    texts = [world(seed).text for seed in range(16)]
    kinds = Counter()
    for text in texts:
        kinds["release" if '"release"' in text else "geometric"] += 1
        kinds["labels"] += "labels = " in text
        kinds["table"] += "table = { 1 =" in text
        kinds["noise"] += "noise = { truncated_geometric = " in text
        if "noise = { table" in text:
            row = text.split("noise = { table = [[")[1].split("]")[0]
            kinds["wide" if row.count(",") > 2 else "narrow" if row.count(",") < 2 else "square"] += 1
    assert min(kinds[k] for k in ("release", "geometric", "labels", "table", "noise", "wide", "narrow")) >= 1


def test_truncated_geometric_sums_the_tails() -> None:
    """The oracle's noise is the sum of the tails of noise without ends, to many digits."""
    alpha = F(1, 3)
    for centre in range(4):
        for k in range(4):
            beyond = range(-200, 1) if k == 0 else range(3, 204) if k == 3 else [k]
            mass = sum(((1 - alpha) / (1 + alpha) * alpha ** abs(j - centre) for j in beyond), F(0))
            assert abs(mass - truncated(alpha, centre, 3, k)) < F(1, 10**60)
