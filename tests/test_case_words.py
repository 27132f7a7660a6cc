"""What cases and the README say about secrets, against enumeration with fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.verdicts import Violated

NOISE = [
    [Fraction(n, 6) for n in row] for row in ((4, 1, 1), (2, 2, 2), (1, 1, 4))
]  # 1/2-geometric, truncated to 0..2


def count(given: tuple[int, ...]) -> list[Fraction]:
    """The noisy count of the first number."""
    return NOISE[given[0]]


def largest(given: tuple[int, ...]) -> list[Fraction]:
    """The index of the largest noisy number; ties are broken uniformly."""
    found = [Fraction(0)] * len(given)
    for noisy in product(range(3), repeat=len(given)):
        weight = Fraction(1)
        for answer, value in zip(given, noisy, strict=True):
            weight *= NOISE[answer][value]
        best = [k for k, value in enumerate(noisy) if value == max(noisy)]
        for k in best:
            found[k] += weight / len(best)
    return found


def ratio(
    release: Callable[[tuple[int, ...]], list[Fraction]],
    size: int,
    secrets: tuple[Callable[[int], bool], Callable[[int], bool]],
    p: Fraction,
) -> Fraction:
    """The largest ratio between two secrets about the first number, all numbers binomial with p."""
    share = [(1 - p) ** 2, 2 * p * (1 - p), p * p]
    sides = []
    for secret in secrets:
        total, mass = [Fraction(0)] * 3, Fraction(0)
        for given in product(range(3), repeat=size):
            if secret(given[0]):
                weight = Fraction(1)
                for answer in given:
                    weight *= share[answer]
                mass += weight
                total = [t + weight * v for t, v in zip(total, release(given), strict=True)]
        sides.append([t / mass for t in total])
    return max(max(a / b, b / a) for a, b in zip(*sides, strict=True))


@pytest.mark.parametrize(
    ("name", "release", "size", "other", "label"),
    [
        ("geometric-independent", count, 1, lambda a: True, 'anything = "true"'),
        ("noisy-max-independent", largest, 3, lambda a: a <= 1, 'at_most_one = "A <= 1"'),
    ],
)
def test_somebody_against_nobody_is_another_secret(
    name: str,
    release: Callable[[tuple[int, ...]], list[Fraction]],
    size: int,
    other: Callable[[int], bool],
    label: str,
    root: Path,
    tmp_path: Path,
) -> None:
    """The secrets of the cases keep the ratio 2; against "nobody", as their comments say, they do not."""
    points = [Fraction(k, 16) for k in range(1, 16)]
    assert all(ratio(release, size, (lambda a: a >= 1, other), p) <= 2 for p in points)
    assert any(ratio(release, size, (lambda a: a >= 1, lambda a: a == 0), p) > 2 for p in points)
    text = (root / "cases" / f"{name}.toml").read_text()
    assert label in text
    changed = tmp_path / "nobody.toml"
    secret, variable = label.split(" = ")[0], "sick" if size == 1 else "A"
    changed.write_text(text.replace(label, f'{secret} = "{variable} == 0"'))
    verdict = verify(load(changed)).verdict
    assert isinstance(verdict, Violated)
    (p,) = set(verdict.witness.parameters.values())
    assert ratio(release, size, (lambda a: a >= 1, lambda a: a == 0), p) > 2
