"""Uniform draws that are compared with each other, rounded, or compared after a function was applied.

What is expected is computed by hand: areas of polygons, laws of order statistics and of sums, or cuts. Random
comparisons of several draws are also sampled, by Python itself.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from compared_functions import imported, refusal
from replayed_functions import encoded, read_name

from paramverify.api.adopting import adopt

HEAD = """import math, random
import numpy as np
from random import random as draw


"""
MISTAKE = 1e-9  # probability that sampling rejects a right law
SAMPLES = 20_000


def function_of(body: str, folder: Path, name: str) -> Any:
    """Returns the function `f(x)` or `f(x, p)` with a body."""
    arguments = "x, p" if "p" in body.replace("np.", "").replace("exp", "") else "x"
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return imported(f"{HEAD}def f({arguments}):\n{lines}", folder, name).f


def law(function: Any, parameters: Mapping[str, Any] | None = None, at: Any = None) -> dict[Any, Fraction]:
    """Returns the law that paramverify finds, by outputs."""
    found = adopt(function, inputs={"x": {"values": [0, 1]}}, epsilon=1, parameters=parameters)
    shares = found.probabilities(at=at) if at else found.probabilities()
    return {read_name(name): Fraction(str(share)) for name, share in shares["0"].items()}


def true_share(law: Mapping[Any, Fraction]) -> Fraction:
    """Returns the probability of True."""
    return law.get(encoded(True)[0], Fraction(0))


# --- areas ------------------------------------------------------------------------------------------

Point = tuple[Fraction, Fraction]
Line = tuple[int, int, Fraction]  # a*u + b*v < c


def clipped(polygon: Sequence[Point], line: Line, below: bool) -> list[Point]:
    """Returns the part of a convex polygon on one side of a line."""
    a, b, c = line
    sign = 1 if below else -1
    heights = [sign * (c - a * u - b * v) for u, v in polygon]
    found: list[Point] = []
    for k, (here, height) in enumerate(zip(polygon, heights, strict=True)):
        before, other = polygon[k - 1], heights[k - 1]
        if height * other < 0:
            t = other / (other - height)
            found.append((before[0] + t * (here[0] - before[0]), before[1] + t * (here[1] - before[1])))
        if height >= 0:
            found.append(here)
    return found


def area(polygon: Sequence[Point]) -> Fraction:
    """Returns the area of a polygon, by the shoelace formula."""
    pairs = zip(polygon, [*polygon[1:], *polygon[:1]], strict=True)
    return abs(sum((a[0] * b[1] - a[1] * b[0] for a, b in pairs), Fraction(0))) / 2


SQUARE = [(Fraction(a), Fraction(b)) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]


def cells(lines: Sequence[Line]) -> dict[tuple[bool, ...], Fraction]:
    """Returns the areas of the parts of the unit square between lines."""
    found: dict[tuple[bool, ...], list[Point]] = {(): SQUARE}
    for line in lines:
        found = {
            (*sides, below): clipped(polygon, line, below)
            for sides, polygon in found.items()
            for below in (True, False)
        }
    return {sides: area(polygon) for sides, polygon in found.items() if area(polygon)}


def test_the_areas_are_right() -> None:
    """The oracle knows the triangle, a strip and two triangles that meet."""
    assert cells([(1, -1, Fraction(0))]) == {(True,): Fraction(1, 2), (False,): Fraction(1, 2)}
    assert cells([(1, 0, Fraction(1, 3))])[(True,)] == Fraction(1, 3)
    crossed = cells([(1, -1, Fraction(0)), (1, 1, Fraction(1))])
    assert set(crossed.values()) == {Fraction(1, 4)}
    assert len(crossed) == 4


@pytest.mark.parametrize("seed", range(8))
def test_two_draws_have_the_areas_of_polygons(seed: int, tmp_path: Path) -> None:
    """Comparisons of two draws by lines at random split the square as polygons do."""
    generator = random.Random(seed)
    lines: list[Line] = []
    while len(lines) < 3:
        a, b = generator.randint(-3, 3), generator.randint(-3, 3)
        c = Fraction(generator.randint(-8, 8), generator.randint(1, 4))
        if (a, b) != (0, 0):
            lines.append((a, b, c))
    tests = ", ".join(f"{a} * u + {b} * v < {c.numerator} / {c.denominator}" for a, b, c in lines)
    found = law(function_of(f"u, v = draw(), draw()\nreturn [{tests}]", tmp_path, f"lines{seed}"))
    assert found == {encoded(list(sides))[0]: share for sides, share in cells(lines).items()}, lines


def irwin_hall(count: int, x: Fraction) -> Fraction:
    """Returns the probability that a sum of uniform draws is below a number."""
    terms = ((-1) ** k * math.comb(count, k) * (x - k) ** count for k in range(math.floor(x) + 1))
    return sum(terms, Fraction(0)) / math.factorial(count)


@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_sums(count: int, tmp_path: Path) -> None:
    """Sums of uniform draws have the law of Irwin and Hall."""
    body = f"return sum(draw() for _ in range({count})) < {count} / 3"
    assert true_share(law(function_of(body, tmp_path, f"sum{count}"))) == irwin_hall(
        count, Fraction(count, 3)
    )
    found = law(function_of(f"return int(sum(np.random.rand({count})))", tmp_path, f"whole_sum{count}"))
    for k in range(count):
        share = irwin_hall(count, Fraction(k + 1)) - irwin_hall(count, Fraction(k))
        assert found[encoded(k)[0]] == share


@pytest.mark.parametrize("rank", range(4))
def test_order_statistics(rank: int, tmp_path: Path) -> None:
    """The draw of a rank is below a number if enough draws are."""
    body = f"return sorted([draw() for _ in range(4)])[{rank}] < 0.3"
    p = Fraction(3, 10)
    expected = sum(math.comb(4, k) * p**k * (1 - p) ** (4 - k) for k in range(rank + 1, 5))
    assert true_share(law(function_of(body, tmp_path, f"rank{rank}"))) == expected


def test_orders(tmp_path: Path) -> None:
    """Keys that are drawn sort a list into each order with the same probability."""
    orders = {encoded(list(order))[0]: Fraction(1, 24) for order in permutations([5, 6, 7, 8])}
    body = "return sorted([5, 6, 7, 8], key=lambda _: draw())"
    assert law(function_of(body, tmp_path, "keys")) == orders
    largest = {encoded(k)[0]: Fraction(1, 3) for k in range(3)}
    assert law(function_of("return int(np.argmax(np.random.rand(3)))", tmp_path, "argmax")) == largest


@pytest.mark.parametrize("p", [Fraction(1, 5), Fraction(2, 3)])
def test_parameters_beside_two_draws(p: Fraction, tmp_path: Path) -> None:
    """The larger and the smaller draw, and their difference, are compared with every parameter."""
    bodies = {
        "return max(draw(), draw(), draw()) < p": p**3,
        "return min(draw(), draw()) < p": 1 - (1 - p) ** 2,
        "return draw() + draw() < p": p**2 / 2,
        "return abs(draw() - draw()) < p": 1 - (1 - p) ** 2,
        "u, v = draw(), draw()\nreturn u < p and v < p and u + v < p": p**2 / 2,
        "u, v = draw(), draw()\nreturn p * u < p * v": Fraction(1, 2),
    }
    for k, (body, share) in enumerate(bodies.items()):
        function = function_of(body, tmp_path, f"beside{k}_{p.denominator}")
        assert true_share(law(function, {"p": "(0, 1)"}, {"p": str(p)})) == share, body


def test_a_symbolic_epsilon(tmp_path: Path) -> None:
    """The larger of two draws is below e^ε / (1 + e^ε) with the square of this probability."""
    body = "p = math.exp(epsilon) / (1 + math.exp(epsilon))\nreturn max(draw(), draw()) < p"
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    function = imported(f"{HEAD}def f(x, epsilon):\n{lines}", tmp_path, "two_coins").f
    found = adopt(
        function,
        inputs={"x": {"values": [0, 1]}},
        epsilon="epsilon",
        parameters={"epsilon": "(0, oo)"},
    )
    for epsilon in (0.25, 1.0, 3.0):
        expected = (math.exp(epsilon) / (1 + math.exp(epsilon))) ** 2
        shares: dict[str, Any] = dict(found.probabilities(at={"epsilon": epsilon})["0"])
        assert abs(float(shares["True"]) - expected) < 1e-12


SAMPLED = (
    """a, b, c = draw(), random.uniform(-1, 2), draw()
return [2 * a - b / 3 + c < 0.7, a < c, abs(a - b) < 0.5]""",
    """a, b, c, d = (draw() for _ in range(4))
return [a + b < c + d, max(a, d) < min(b + 0.5, c + 0.5)]""",
    """a, b, c = sorted(draw() for _ in range(3))
return [b - a < c - b, c < 0.9, int(4 * (c - a))]""",
    """a, b = draw(), draw()
return [a < 0.5, 0.0 + round(a - b, 1) if a < b + 0.5 else 9, b < 0.75]""",
    """a, b, c = draw(), draw(), draw()
return [max((a, 0), (2 * b, 1), (3 * c, 2))[1], a < 0.5]""",
    """a, b = draw(), draw()
return [math.sqrt(a) < 0.8, a < b, 1 / a < 3, (a - b) ** 2 < 0.25, round(b, 1) < 0.5]""",
    """u = random.uniform(-1, 2)
return [u ** 2 < 0.25, u ** 3 < -1 / 8, int(4 * abs(u) ** 0.5), math.exp(u) < 1]""",
)


@pytest.mark.parametrize("number", range(len(SAMPLED)))
def test_laws_against_samples(number: int, tmp_path: Path) -> None:
    """Each output is as frequent as it is probable when Python runs the function (Hoeffding)."""
    function = function_of(SAMPLED[number], tmp_path, f"sampled{number}")
    found = law(function)
    assert sum(found.values()) == 1
    random.seed(number)
    counts = Counter(encoded(function(0))[0] for _ in range(SAMPLES))
    assert counts.keys() <= found.keys()
    width = math.sqrt(math.log(2 * len(found) / MISTAKE) / (2 * SAMPLES))
    for output, share in found.items():
        assert abs(counts[output] / SAMPLES - share) < width, output


# --- functions of one draw --------------------------------------------------------------------------

CUTS = {
    "draw() ** 2 < 1 / 4": Fraction(1, 2),
    "(lambda u: u * u < 9 / 16)(draw())": Fraction(3, 4),
    "(lambda u: u * u * u < 1 / 27)(draw())": Fraction(1, 3),
    "(lambda u: 4 * u ** 2 + 1 >= 2)(draw())": Fraction(1, 2),
    "(2 * draw() - 1) ** 2 < 1 / 9": Fraction(1, 3),
    "random.uniform(-1, 2) ** 3 < -1 / 8": Fraction(1, 6),
    "math.sqrt(draw()) < 1 / 3": Fraction(1, 9),
    "draw() ** 0.5 > 1 / 3": Fraction(8, 9),
    "np.sqrt(np.random.rand(2))[1] < 0.5": Fraction(1, 4),
    "1 / draw() > 4": Fraction(1, 4),
    "draw() ** -2 > 16": Fraction(1, 4),
    "math.exp(-draw()) < math.exp(-0.25)": Fraction(3, 4),
    "math.exp(2 * draw()) < math.exp(0.5)": Fraction(1, 4),
    "math.sqrt(math.sqrt(draw())) < 0.5": Fraction(1, 16),
    "(lambda u: math.sqrt(u) < 0.5 and u ** 2 > 1 / 25)(draw())": Fraction(1, 20),
    "draw() ** 2 < 1.5 and math.exp(draw()) < 3 and 1 + draw() ** 2 > 0": Fraction(1),
    "(lambda u: 2 * u ** 2 - u ** 2 < 1 / 4)(draw())": Fraction(1, 2),
    "round(draw(), 1) == 0.3": Fraction(1, 10),
    "round(draw(), 2) == 1": Fraction(1, 200),
    "round(random.uniform(0, 2000), -3) == 1000": Fraction(1, 2),
    "round(draw() ** 2, 0) == 1.0": None,  # a root of 1/2
    "int(3 * math.sqrt(draw())) == 1": Fraction(1, 3),
    "float(np.round(np.random.rand(1), 1)[0]) < 0.5": Fraction(9, 20),
}


@pytest.mark.parametrize("number", range(len(CUTS)))
def test_cuts(number: int, tmp_path: Path) -> None:
    """A comparison of a function of one draw is one of the draw with the point where the function is cut."""
    text, share = list(CUTS.items())[number]
    body = f"return bool({text})"
    if share is None:
        assert "no exact value" in refusal(f"{HEAD}def f(x):\n    {body}\n", tmp_path, f"cut{number}")
    else:
        assert true_share(law(function_of(body, tmp_path, f"cut{number}"))) == share


def test_cuts_at_parameters(tmp_path: Path) -> None:
    """The cut may depend on a parameter."""
    p = Fraction(1, 3)
    bodies = {
        "return math.sqrt(draw()) < p": p**2,
        "return 1 / draw() > 1 / p": p,
        "return math.exp(-draw() / p) < math.exp(-1)": 1 - p,
    }
    for k, (body, share) in enumerate(bodies.items()):
        function = function_of(body, tmp_path, f"at_parameters{k}")
        assert true_share(law(function, {"p": "(0, 1)"}, {"p": str(p)})) == share, body


def test_what_has_no_exact_cut(tmp_path: Path) -> None:
    """What has no exact volume or cut is refused with the reason."""
    refusals = {
        "draw() ** 2 < 1 / 2": "the power (1/2) of that number, which has no exact value",
        "math.exp(-draw()) < 1 / 2": "the logarithm of that number, which has no exact value",
        "(lambda u, v: u * v < 1 / 2)(draw(), draw())": "products of a uniform draw",
        "(lambda u: u + u ** 2 < 1 / 2)(draw())": "sums of",
        "draw() < draw() ** 2": "comparing",
        "(lambda u, v: (u < v, math.log(u) < -1))(draw(), draw())": "before it is compared with other draws",
        "(lambda u, v: (math.floor(-math.log(u)), u < v))(draw(), draw())": "rounded",
        "sorted(draw() for _ in range(9))[0] < 0.5": "more than 6 uniform draws",
        "math.sqrt(draw() - 0.5) < 0.5": "can be negative",
        "draw() + draw()": "an output is a continuous uniform number",
        "draw() ** 2": "an output is a power of a continuous uniform draw",
        "draw() + np.random.laplace() < 1": "uniform draw",
        "math.log(draw() + draw()) < 0": "log",
    }
    for k, (text, reason) in enumerate(refusals.items()):
        found = refusal(f"{HEAD}def f(x):\n    return {text}\n", tmp_path, f"no_cut{k}")
        assert reason in found, (text, found)
