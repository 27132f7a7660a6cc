"""Compositions by brute force over all outputs, with fractions: shares no code with the package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from random import Random

Pair = Sequence[tuple[Fraction, Fraction]]  # masses P and Q of each output


def brute_delta(pairs: Iterable[Pair], ratio: Fraction) -> Fraction:
    """Σ max(0, P − ratio·Q) over all outputs of all releases together."""
    return sum(
        (
            max(Fraction(0), prod(p for p, _ in outputs) - ratio * prod(q for _, q in outputs))
            for outputs in product(*pairs)
        ),
        Fraction(0),
    )


def brute_ratio(pairs: Sequence[Pair], delta: Fraction) -> Fraction | None:
    """The least ratio from 1 on with δ ≤ delta, by outputs in the order of P/Q; None if there is none."""
    together = [(prod(p for p, _ in o), prod(q for _, q in o)) for o in product(*pairs)]
    together.sort(key=lambda o: (o[1] != 0, -o[0] / o[1] if o[1] else 0))
    best, p, q = Fraction(1), Fraction(0), Fraction(0)
    for more_p, more_q in together:
        p, q = p + more_p, q + more_q
        if p > delta:
            if not q:
                return None
            best = max(best, (p - delta) / q)
    return best


def turned(pair: Pair) -> list[tuple[Fraction, Fraction]]:
    """The pair with P and Q exchanged."""
    return [(q, p) for p, q in pair]


def mixed(pair: Pair, rate: Fraction) -> list[tuple[Fraction, Fraction]]:
    """(1 − rate)·Q + rate·P against Q."""
    return [((1 - rate) * q + rate * p, q) for p, q in pair]


def random_pair(random: Random, most: int = 4, zeros: bool = True) -> list[tuple[Fraction, Fraction]]:
    """Two random distributions on up to `most` outputs, at times with some that are impossible under one."""
    size = random.randint(2, most)
    least = 0 if zeros and random.random() < 0.4 else 1
    while True:
        rows = [[random.randint(least, 9) for _ in range(size)] for _ in range(2)]
        if all(map(sum, rows)):
            shares = [[Fraction(n, sum(row)) for n in row] for row in rows]
            return [(p, q) for p, q in zip(*shares, strict=True) if p or q]
