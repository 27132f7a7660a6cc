"""The shipped cases with Gaussian noise: verdicts by integrals and sums that are written here."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paramverify.models.enclosed_models import EnclosedModel, EnclosedProbabilities
from paramverify.privacy.cases import read_case
from paramverify.tables import TomlDocument

CASES = Path(__file__).resolve().parents[2] / "cases" / "programs"

Row = Mapping[str, float]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)
phi = np.vectorize(lambda x: math.erfc(-x / math.sqrt(2)) / 2)


def gauss(x: Any, sigma: float) -> Any:
    """Returns the density of Gaussian noise."""
    return np.exp(-(x**2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))


def grid(low: float, high: float, width: float) -> tuple[Any, Any]:
    """Returns the nodes and weights of an integral over panels that begin at `low`."""
    ends = np.arange(low, high, width)
    points = (ends[:, None] + width * (NODES[None, :] + 1) / 2).ravel()
    return points, np.tile(WEIGHTS * width / 2, len(ends))


def threshold(n: int) -> Row:
    """A count with discrete Gaussian noise, told up to 3."""
    weights = {k: math.exp(-k * k / 8) for k in range(-80, 81)}
    found: dict[str, float] = {}
    for k, w in weights.items():
        name = "many" if n + k >= 3 else str(max(n + k, 0))
        found[name] = found.get(name, 0) + w / math.fsum(weights.values())
    return found


def noisy_max(*q: int) -> Row:
    """The largest of noisy answers: one integral over the noisy winner."""
    t, w = grid(-48, 48, 4)
    found = {}
    for i, own in enumerate(q):
        others = np.prod([phi((t - x) / 4) for j, x in enumerate(q) if j != i], axis=0)
        found[str(i)] = float((w * gauss(t - own, 4) * others).sum())
    return found


def sparse_vector(*q: int) -> Row:
    """The first answer below a noisy threshold: one integral over the threshold."""
    t, w = grid(-48, 48, 4)
    rest = w * gauss(t, 4)
    found = {}
    for i, x in enumerate(q):
        below = phi((t - x) / 8)
        found[", ".join(["not below"] * i + ["below"])] = float((rest * below).sum())
        rest = rest * (1 - below)
    return found | {", ".join(["not below"] * len(q)): float(rest.sum())}


def two_thresholds(*q: int) -> Row:
    """Between two thresholds with Laplace noise: two integrals, cut where their densities have kinks."""
    (low, one), (high, two) = grid(-160, 160, 16), grid(-159, 161, 16)
    share = np.outer(one * np.exp(-abs(low) / 8) / 16, two * np.exp(-abs(high - 1) / 8) / 16)
    rest, found = share, {}
    for i, x in enumerate(q):
        gap = phi((high - x) / 4)[None, :] - phi((low - x) / 4)[:, None]
        inside = np.where(low[:, None] < high[None, :], gap, 0)
        found[", ".join(["inside"] * i + ["outside"])] = float((rest * (1 - inside)).sum())
        rest = rest * inside
    return found | {", ".join(["inside"] * len(q)): float(rest.sum())}


SHIPPED: dict[str, tuple[Callable[..., Row], int, range, float]] = {
    "discrete-gauss-threshold": (threshold, 1, range(5), 1e-13),
    "noisy-max-gauss": (noisy_max, 3, range(-1, 2), 1e-12),
    "sparse-vector-gauss": (sparse_vector, 3, range(-1, 2), 1e-12),
    "range-mixed": (two_thresholds, 2, range(2), 2e-5),  # the kink at low = high is not cut
}


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_case(name: str) -> None:
    """Each probability is enclosed, and the worst set of outputs gives the verdict of the case."""
    oracle, length, values, error = SHIPPED[name]
    data = tomllib.loads((CASES / f"{name}.toml").read_text())
    model = read_case(TomlDocument(data, path=f"{name}.toml")).model
    assert isinstance(model, EnclosedModel)
    known = EnclosedProbabilities(model.table, 48)
    rows = {given: oracle(*given) for given in product(values, repeat=length)}
    for given, expected in rows.items():
        state = model.table.states.index(str(given[0]) if length == 1 else str(given))
        for observation, ball in zip(model.table.observations, known.given(state), strict=True):
            assert abs(float(ball.mid()) - expected.get(observation, 0)) < error
            assert float(ball.rad()) < 1e-11
    epsilon, delta = (float(Fraction(data["privacy"][key])) for key in ("epsilon", "delta"))
    worst = max(
        math.fsum(max(0, p - math.exp(epsilon) * rows[y].get(k, 0)) for k, p in rows[x].items())
        for x, y in product(rows, repeat=2)
        if all(abs(a - b) <= 1 for a, b in zip(x, y, strict=True))
    )
    assert abs(worst - delta) > 100 * error
    assert (worst <= delta) is (data["expect"]["status"] == "holds")
