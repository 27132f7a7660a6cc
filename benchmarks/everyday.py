"""Functions as people write them; `libraries.py` adopts them beside the mechanisms of libraries."""

from __future__ import annotations

import math
import random

import numpy as np


def capped_count(answers: list[int], epsilon: float) -> int:
    """Counts how many said yes, with noise, and keeps the count between 0 and their number."""
    noisy = sum(answers) + round(np.random.laplace(scale=1 / epsilon))
    return min(max(noisy, 0), len(answers))


def suppressed_table(cells: list[int], epsilon: float) -> dict[str, int]:
    """Releases noisy counts of two regions, without those that are small."""
    table = {}
    for region, count in zip(("north", "south"), cells, strict=True):
        noisy = count + round(np.random.laplace(scale=1 / epsilon))
        if noisy >= 2:
            table[region] = noisy
    return table


def capped_table(cells: list[int], epsilon: float) -> dict[str, int]:
    """Releases them with 4 for all counts of 4 or more."""
    table = {}
    for region, count in zip(("north", "south"), cells, strict=True):
        noisy = count + round(np.random.laplace(scale=1 / epsilon))
        if noisy >= 2:
            table[region] = min(noisy, 4)
    return table


def survey(answers: list[bool], epsilon: float) -> list[bool]:
    """Answers each of the questions of one person by randomised response."""
    honest = math.exp(epsilon) / (1 + math.exp(epsilon))
    return [answer if random.random() < honest else not answer for answer in answers]


def clipped_mean(hours: list[int], epsilon: float) -> int:
    """Releases the mean of numbers that are clipped to 0..2, with noise, as a whole number."""
    clipped = [min(max(hour, 0), 2) for hour in hours]
    mean = sum(clipped) / len(clipped)
    return round(mean + np.random.laplace(scale=2 / (len(hours) * epsilon)))


def rejection(count: int, epsilon: float) -> int:
    """Draws noise again until the noisy count is possible."""
    while True:
        noisy = count + round(np.random.laplace(scale=2 / epsilon))
        if 0 <= noisy <= 3:
            return noisy
