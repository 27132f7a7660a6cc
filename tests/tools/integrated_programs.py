"""Programs with two continuous draws by numeric integration: Python runs the text on each piece."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import pairwise

REACH = 34  # scales of noise after which it is cut off: exp(-34) is 2e-15
NODES = (
    *((0.0950125098376374, 0.1894506104550685), (0.2816035507792589, 0.1826034150449236)),
    *((0.4580167776572274, 0.1691565193950025), (0.6178762444026438, 0.1495959888165767)),
    *((0.7554044083550030, 0.1246289712555339), (0.8656312023878318, 0.0951585116824928)),
    *((0.9445750230732326, 0.0622535239386479), (0.9894009349916499, 0.0271524594117541)),
)  # of Gauss and Legendre, 16 points


class Noise:
    """A density with its distribution function: Laplace, or exponential for one side."""

    def __init__(self, scale: float, two_sided: bool) -> None:
        self.scale = scale
        self.two_sided = two_sided

    def density(self, x: float) -> float:
        if self.two_sided:
            return math.exp(-abs(x) / self.scale) / (2 * self.scale)
        return math.exp(-x / self.scale) / self.scale if x >= 0 else 0.0

    def between(self, low: float, high: float) -> float:
        """Returns the weight of an interval, without loss of digits in the tails."""
        if low < 0 < high:
            return self.between(low, 0) + self.between(0, high)
        if high <= 0:
            if not self.two_sided:
                return 0.0
            return (math.exp(high / self.scale) - math.exp(low / self.scale)) / 2
        share = math.exp(-low / self.scale) - math.exp(-high / self.scale)
        return share / 2 if self.two_sided else share


def integrated(text: str, noise: tuple[Noise, Noise], most: int) -> dict[object, float]:
    """Returns the probability of each output of a program that draws twice.

    Its comparisons are between x, y, their sums and differences, and whole numbers up to `most`.
    """
    code = compile(text, "program", "exec")

    def output_at(x: float, y: float) -> object:
        told: list[object] = []
        drawn = iter((x, y))

        def draw(_: object) -> float:
            return next(drawn)

        words = {"abs": abs, "max": max, "min": min, "laplace": draw, "exponential": draw, "clamp": _clamped}
        exec(code, {"__builtins__": {}, **words, "output": told.append})
        return tuple(told)

    first, second = noise
    found: dict[object, float] = {}
    ends = [k / 2 for k in range(-4 * most, 4 * most + 1)]
    far = REACH * first.scale
    steps = [ends[-1] + first.scale * k for k in range(1, REACH)]
    ends = [e for e in sorted({*ends, *steps, *(-s for s in steps)}) if abs(e) <= far]
    for low, high in pairwise(ends):
        for x, weight in _nodes(low, high):
            share = weight * first.density(x)
            if not share:
                continue
            cuts = {sign * x + c for c in range(-most, most + 1) for sign in (-1, 0, 1)}
            edges = sorted({*cuts, 0.0, -1e3, 1e3})
            for below, above in pairwise(edges):
                what = output_at(x, (below + above) / 2)
                found[what] = found.get(what, 0.0) + share * second.between(below, above)
    return {what: share for what, share in found.items() if share > 1e-14}


def _clamped(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


def _nodes(low: float, high: float) -> Iterator[tuple[float, float]]:
    middle, half = (low + high) / 2, (high - low) / 2
    for node, weight in NODES:
        yield middle + half * node, weight * half
        yield middle - half * node, weight * half


def random_program(seed: int) -> tuple[str, tuple[Noise, Noise], int]:
    """Returns a program of two draws, their noise, and the largest number in it."""
    r = random.Random(seed)
    kinds = [(r.choice([1, 2, 3]), r.random() < 0.7) for _ in range(2)]
    draws = [f"{'laplace' if two else 'exponential'}({scale})" for scale, two in kinds]
    lines = [f"x = {draws[0]}", f"y = {draws[1]}"]

    def condition() -> str:
        c = r.randint(-2, 2)
        word = r.choice(["<", "<=", ">", ">="])
        forms = ["x", "y", "0 - x", "x - y", "y - x", "max(x, y)", "min(x, y)", "abs(x)", "min(x, 1)"]
        return f"{r.choice(forms)} {word} {c}"

    def tree(margin: str, depth: int) -> None:
        if depth == 3 or (depth and r.random() < 0.2):
            lines.append(f"{margin}output({r.randint(0, 3)})")
            return
        test = condition() if r.random() < 0.7 else f"{condition()} {r.choice(['and', 'or'])} {condition()}"
        lines.append(f"{margin}if {test}:")
        tree(margin + "    ", depth + 1)
        lines.append(f"{margin}else:")
        tree(margin + "    ", depth + 1)

    tree("", 0)
    (first, first_two), (second, second_two) = kinds
    return "\n".join(lines), (Noise(first, first_two), Noise(second, second_two)), 2
