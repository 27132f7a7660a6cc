"""Probabilities of programs with Gaussian noise: enclosures against integrals and sums that share no code."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from enclosed_programs import agrees, case_of, enclosures

from paramverify.errors import InputError
from paramverify.models.enclosed_models import EnclosedModel

mpmath.mp.dps = 30
INF = mpmath.inf
SMALL = 1e-22  # error of the oracles

Function = Callable[[Any], Any]


def density(kind: str, scale: Fraction) -> Function:
    """Returns the density of a noise."""
    s = mpmath.mpf(scale.numerator) / scale.denominator
    return {
        "gauss": lambda x: mpmath.npdf(x, 0, s),
        "laplace": lambda x: mpmath.exp(-abs(x) / s) / (2 * s),
        "exponential": lambda x: mpmath.exp(-x / s) / s if x >= 0 else mpmath.mpf(0),
    }[kind]


def below(kind: str, scale: Fraction) -> Function:
    """Returns the distribution function of a noise."""
    s = mpmath.mpf(scale.numerator) / scale.denominator
    return {
        "gauss": lambda x: mpmath.ncdf(x, 0, s),
        "laplace": lambda x: mpmath.exp(x / s) / 2 if x < 0 else 1 - mpmath.exp(-x / s) / 2,
        "exponential": lambda x: 1 - mpmath.exp(-x / s) if x >= 0 else mpmath.mpf(0),
    }[kind]


def integral(f: Function, cuts: set[int], scale: Fraction) -> Any:
    """Returns the integral of a function with kinks at whole numbers, far out on both sides."""
    far = float(scale) * 60
    ends = sorted({-far, far, *(c + far * k / 6 for k in range(-5, 6) for c in (0.5,)), *cuts})
    return mpmath.quad(f, ends)


@pytest.mark.slow
def test_one_comparison() -> None:
    """Pr(N1 + c > N2) is Φ(c/√(σ1² + σ2²)), with three ways to write it, and ties have no weight."""
    for sign in (">", ">="):
        source = f"if q[0] + gauss(3/2) {sign} gauss(2):\n    output(1)\nelse:\n    output(0)"
        rows = enclosures(source, [[c] for c in (0, 1, -3, 7)])
        for c, row in zip((0, 1, -3, 7), rows, strict=True):
            expected = mpmath.ncdf(c / mpmath.mpf("2.5"))
            agrees(row, {"1": expected, "0": 1 - expected}, SMALL)


def test_orthants() -> None:
    """Orthants of normal vectors: 1/3! by symmetry, and 1/4 + asin(ρ)/2π for two correlated ones."""
    order = "x = q[0] + gauss(2)\ny = q[0] + gauss(2)\nz = q[0] + gauss(2)\n"
    order += 'if x < y and y < z:\n    output("yes")\nelse:\n    output("no")'
    agrees(enclosures(order, [[0]])[0], {"yes": Fraction(1, 6).numerator / mpmath.mpf(6)}, SMALL)
    same = "T = gauss(3)\na = q[0] + gauss(1) > T\nb = gauss(2) > T\noutput([a, b])"
    rho = 9 / mpmath.sqrt((9 + 1) * (9 + 4))
    both = mpmath.mpf(1) / 4 + mpmath.asin(rho) / (2 * mpmath.pi)
    half = mpmath.mpf(1) / 2 - both
    expected = {"[True, True]": both, "[False, False]": both, "[True, False]": half, "[False, True]": half}
    agrees(enclosures(same, [[0]])[0], expected, SMALL)


SVT = "T = {}({})\nfor x in q:\n    if x + {}({}) {} T:\n        output(1)\n        stop\n    output(0)"


def sparse_vector(
    noise: tuple[str, Fraction], query: tuple[str, Fraction], given: list[int]
) -> dict[str, Any]:
    """Returns the probabilities of sparse vector by one integral over the threshold for each output."""
    own, cdf = density(*noise), below(*query)
    cuts = {0, *given}
    found = {}
    for k in range(len(given) + 1):
        stops = k < len(given)

        def f(t: Any, k: int = k, stops: bool = stops) -> Any:
            value = own(t) * (cdf(t - given[k]) if stops else 1)
            for x in given[:k]:
                value *= 1 - cdf(t - x)
            return value

        found[", ".join(["0"] * k + ["1"] * stops)] = integral(f, cuts, max(noise[1], query[1]))
    return found


KINDS = [("gauss", "gauss"), ("laplace", "gauss"), ("gauss", "laplace"), ("exponential", "gauss")]


@pytest.mark.slow
@pytest.mark.parametrize(("threshold", "query"), KINDS)
def test_sparse_vector(threshold: str, query: str) -> None:
    """Gaussian, Laplace and exponential noise go together, with kinks where they are."""
    rng = random.Random(f"{threshold} {query}")
    own, other = (Fraction(rng.randint(1, 9), rng.randint(1, 3)) for _ in range(2))
    given = [rng.randint(-2, 2) for _ in range(2)]
    source = SVT.format(threshold, own, query, other, rng.choice(("<", "<=")))
    with mpmath.workdps(15):
        expected = sparse_vector((threshold, own), (query, other), given)
    agrees(enclosures(source, [given])[0], expected, 1e-13)


@pytest.mark.slow
def test_running_minimum_and_maximum() -> None:
    """The next value lies between the minimum and the maximum: Pr is 1 − Pr(largest) − Pr(smallest)."""
    source = "hi = q[0] + gauss(4)\nlo = hi\nfor i in range(1, 3):\n    v = q[i] + gauss(4)\n"
    source += "    hi = max(hi, v)\n    lo = min(lo, v)\nv = q[3] + gauss(4)\nif v > lo and v < hi:\n"
    source += "    output(1)\nelse:\n    output(0)"
    for given in ([1, -1, 0, 2],):

        def f(t: Any, given: list[int] = given) -> Any:
            sides = [mpmath.ncdf((t - x) / 4) for x in given[:3]]
            up, down = mpmath.fprod(sides), mpmath.fprod(1 - s for s in sides)
            return mpmath.npdf(t, given[3], 4) * (1 - up - down)

        with mpmath.workdps(15):
            expected = integral(f, set(), Fraction(4))
        agrees(enclosures(source, [given])[0], {"1": expected, "0": 1 - expected}, 1e-13)


@pytest.mark.slow
def test_two_thresholds() -> None:
    """Both noisy thresholds stay alive: nested integrals over the two of them."""
    source = "low = gauss(2)\nhigh = 1 + gauss(2)\nfor x in q:\n    v = x + gauss(1)\n"
    source += "    if v > low and v < high:\n        output(1)\n    else:\n        output(0)"
    nodes, weights = np.polynomial.legendre.leggauss(150)
    phi = np.vectorize(lambda x: math.erfc(-x / math.sqrt(2)) / 2)
    low, gap = 20 * nodes[:, None], 20 * (nodes[None, :] + 1)  # high = low + gap, where low < high
    high = low + gap
    share = np.exp(-(low**2) / 8 - (high - 1) ** 2 / 8) / (8 * math.pi) * (400 * np.outer(weights, weights))
    first, second = phi(high - 1) - phi(low - 1), phi(high) - phi(low)
    both, one = (float(f) for f in ((share * first * second).sum(), (share * first).sum()))
    agrees(enclosures(source, [[1, 0]])[0], {"1, 1": both, "1, 0": one - both}, 1e-11)


def discrete(sigma: Fraction) -> dict[int, Any]:
    """Returns the probabilities of discrete Gaussian noise, far beyond what counts."""
    twice = 2 * mpmath.mpf(sigma.numerator) ** 2 / sigma.denominator**2
    weights = {k: mpmath.exp(-k * k / twice) for k in range(-60, 61)}
    total = mpmath.fsum(weights.values())
    return {k: w / total for k, w in weights.items()}


@pytest.mark.parametrize("word", ["<", "<=", ">", "==", "!="])
def test_ties_of_whole_noise(word: str) -> None:
    """Discrete Gaussian and geometric noise are compared with their ties, by direct sums."""
    source = f"T = discrete_gaussian(3/2)\nfor x in q:\n    if x + geometric(1/3) {word} T:\n"
    source += "        output(1)\n    else:\n        output(0)"
    holds = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, "==": int.__eq__, "!=": int.__ne__}[word]
    given = [1, -1]
    thresholds = discrete(Fraction(3, 2))
    geometric = {k: mpmath.mpf(1) / 2 / mpmath.mpf(3) ** abs(k) for k in range(-70, 71)}
    expected: dict[str, Any] = {f"{a}, {b}": mpmath.mpf(0) for a, b in product((0, 1), repeat=2)}
    for t, share in thresholds.items():
        yes = [mpmath.fsum(p for k, p in geometric.items() if holds(x + k, t)) for x in given]
        for a, b in product((0, 1), repeat=2):
            both = (yes[0] if a else 1 - yes[0]) * (yes[1] if b else 1 - yes[1])
            expected[f"{a}, {b}"] += share * both
    agrees(enclosures(source, [given])[0], expected, SMALL)


def test_released_discrete_noise() -> None:
    """Discrete Gaussian noise is released inside of clamp, and reused noise is not taken for fresh noise."""
    source = "z = discrete_gaussian(2)\noutput(clamp(q[0] + z, -1, 2))\noutput(z >= 0)"
    shares = discrete(Fraction(2))
    expected: dict[str, Any] = {}
    for k, p in shares.items():
        name = f"{min(max(1 + k, -1), 2)}, {k >= 0}"
        expected[name] = expected.get(name, 0) + p
    agrees(enclosures(source, [[1]])[0], expected, SMALL)


def test_single_values_of_whole_noise() -> None:
    """Noise whose single values were told apart is still compared with other noise."""
    source = "z = discrete_gaussian(2)\ny = z == 1 or z == 2 or z > 4\nw = discrete_gaussian(1)\n"
    source += "output([y, w + q[0] > z])"
    expected: dict[str, Any] = {}
    for (z, p), (w, r) in product(discrete(Fraction(2)).items(), discrete(Fraction(1)).items()):
        name = f"[{z in (1, 2) or z > 4}, {w + 1 > z}]"
        expected[name] = expected.get(name, 0) + p * r
    agrees(enclosures(source, [[1]])[0], expected, SMALL)


def test_one_noise_twice() -> None:
    """Two comparisons of one noise are not independent, and a noise equals itself."""
    source = "z = gauss(1)\noutput([z > q[0], z > 0, z >= z])"
    one = mpmath.ncdf(1)
    expected = {"[True, True, True]": 1 - one, "[False, True, True]": one - 0.5, "[False, False, True]": 0.5}
    (found,) = enclosures(source, [[1]])
    agrees(found, expected, SMALL)
    assert found.keys() == expected.keys()


@pytest.mark.slow
def test_more_bits_are_narrower() -> None:
    """Enclosures of more bits lie within their error of those of fewer, and are narrower."""
    source = SVT.format("gauss", 4, "laplace", 3, "<")
    wide, narrow = (enclosures(source, [[0, 1, 0]], bits=bits)[0] for bits in (24, 120))
    for name, (low, high) in narrow.items():
        assert high - low < Fraction(1, 2**112)
        assert wide[name][0] <= low <= high <= wide[name][1]


REFUSED = {
    "if gauss(1) + gauss(2) > q[0]:\n    output(1)\noutput(0)": r"write gauss\(c\) with c",
    "if 2 * gauss(1) > gauss(1):\n    output(1)\noutput(0)": "several noisy numbers",
    "if gauss(1) > discrete_gaussian(1):\n    output(1)\noutput(0)": "several noisy numbers",
    "output(q[0] + gauss(1))": "which a program with gauss or discrete_gaussian cannot output",
    "output(gauss(0) > 1)": "the standard deviation of gauss must be positive",
    "output(gauss(gauss(1)) > 1)": "the standard deviation of gauss must be a number",
    "output(discrete_gaussian(-1) > 1)": "the standard deviation of discrete_gaussian must be positive",
}


@pytest.mark.parametrize(("source", "reason"), REFUSED.items())
def test_refusals(source: str, reason: str) -> None:
    """What is not covered is refused with its reason."""
    with pytest.raises(InputError, match=reason):
        case_of(source, 1)


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "a parameter": ({"parameters": {"eps": "(0, oo)"}}, "eps has an interval; write, for example"),
    "an interval": ({"parameters": {"p": "(0, 1)"}}, "p has an interval"),
    "kl": ({"privacy": {"kl": "1"}}, "supports epsilon, ratio and delta, but not kl"),
    "a length": ({"privacy": {"epsilon": "1", "length": "1..2"}}, "has one output"),
    "times": ({"mechanism": {"times": 2}}, "counts of outputs need formulas"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_needs_formulas(name: str) -> None:
    """Parameters, other measures, sequences and counts are refused in one line."""
    more, reason = OTHERS[name]
    with pytest.raises(InputError, match=reason):
        case_of("output(q[0] + gauss(1) > 0)", 1, **more)


def test_equal_inputs_share_constants() -> None:
    """Sparse vector on many inputs has few constants: they depend on how often each answer was seen."""
    model = case_of(SVT.format("gauss", 4, "gauss", 8, "<"), 4).model
    assert isinstance(model, EnclosedModel)
    shares = {share.text for row in model.table.rows for share in row.values()}
    assert len(model.table.rows) == 81
    assert len(shares) == 3 + 9 + 18 + 30 + 15  # where it stops, by the multiset of the answers before
