"""The program `sample_N` as an automaton of coin flips ([T]), and its distribution in closed form.

N(m, t, p) is the truncated geometric distribution on −m..m around the answer t: o has probability
p^|o−t|/(1+p) if o is −m or m, else (1−p)/(1+p)·p^|o−t|. The program flips one coin for each value: first
upwards from t, then downwards from t − 1. A coin that is flipped for the value k after those before it came
up tails has to come up heads with probability q_k = N(k)/(1 − Σ N(before)); from one value to the next this
is q := p·q/(1−q), since N falls by the factor p. Two values differ:

- at m everything from m upwards is meant, which is q/(1−p): a geometric tail;
- below t − 1 nothing is left but the lower tail, so there q = 1 − p, which q := p·q/(1−q) keeps; what
  would fall below −m becomes −m.

    k, q := t, (1−p)/(1+p)
    while k < m:   flip q: return k;   k, q := k+1, p·q/(1−q)
    flip q/(1−p): return m
    k, q := t−1, 1−p
    while k > −m:  flip q: return k;   k, q := k−1, p·q/(1−q)
    return −m
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from paramverify.algebra.polynomials import RationalFunction
from paramverify.models.systems.weights import Weight

Flip = tuple[int, int, int]  # loop (0 up, 1 the coin at m, 2 down), the value k, steps since its loop began


def start(answer: int, limit: int) -> Flip:
    """Returns the first state of the program for an answer in −limit..limit."""
    return _up(answer, limit, 0)


def flip(state: Flip, answer: int, limit: int, p: RationalFunction) -> Mapping[int | Flip, Weight]:
    """Returns what one flip leads to: a value that is returned, or the next flip."""
    one = p / p
    loop, k, steps = state
    if loop == 2:
        q = one - p
        after: int | Flip = _down(k - 1, limit, steps + 1)
    else:
        q = _bias((one - p) / (one + p), p, steps)
        after = _up(k + 1, limit, steps + 1) if loop == 0 else _down(answer - 1, limit, 0)
        if loop == 1:
            q = q / (one - p)
    return {k: q, after: one - q}


def distribution(answer: int, limit: int, p: RationalFunction) -> dict[int, RationalFunction]:
    """Returns N(limit, answer, p), by its definition."""
    one = p / p
    found: dict[int, RationalFunction] = {}
    for value in range(-limit, limit + 1):
        weight = p ** abs(value - answer) / (one + p)
        found[value] = weight if abs(value) == limit else (one - p) * weight
    return found


def program(
    answer: int, limit: int, p: RationalFunction
) -> Iterable[tuple[Flip, Mapping[int | Flip, Weight]]]:
    """Yields every reachable flip of the program with what it leads to."""
    pending, seen = [start(answer, limit)], {start(answer, limit)}
    while pending:
        state = pending.pop()
        row = flip(state, answer, limit, p)
        yield state, row
        for after in row:
            if not isinstance(after, int) and after not in seen:
                seen.add(after)
                pending.append(after)


def _up(k: int, limit: int, steps: int) -> Flip:
    return (0, k, steps) if k < limit else (1, limit, steps)


def _down(k: int, limit: int, steps: int) -> int | Flip:
    return (2, k, steps) if k > -limit else -limit


def _bias(q: RationalFunction, p: RationalFunction, steps: int) -> RationalFunction:
    one = p / p
    for _ in range(steps):
        q = p * q / (one - q)
    return q
