"""The program `sample_N` of [T] A.2, line by line, as an automaton of coin flips, and its distribution.

N(m, t, p) is noise n for an answer t in −m..m: it has probability p^|n|/(1+p) if t+n is −m or m, and else
(1−p)/(1+p)·p^|n| where −m < t+n < m. The program depends only on the distances of the answer from the two
ends, `down` = m + t and `up` = m − t:

    02 if flip(p/(1+p)):
    03     if flip(p^(down−1)): return −down
    06     q := (p−1)/(p^(down−1)−1)                     as printed: (p−1)/(p^down−p)
    07     for n := −1; n > −down+1; n−−:
    08         if flip(q): return n
    10         q := p·q/(1−q)
    11     return −down+1
       else:
    13     if flip(p^up): return up
    16     q := (p−1)·p^t/(p^m−p^t), which is (p−1)/(p^up−1)
    17     for n := 0; n < up−1; n++:
    18         if flip(q): return n
    20         q := p·q/(1−q)
    21     return up−1

Line 06 as printed is 1/p times what it must be. It matters where its loop runs, which is for down ≥ 3. At
down = 0 line 03 flips a coin with the probability 1/p, which is read as one that comes up heads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from paramverify.algebra.polynomials import RationalFunction
from paramverify.models.systems.weights import Weight


class Flip(NamedTuple):
    """The coin that is flipped next: the line of the program, and the noise n that a loop is at."""

    line: int
    noise: int

    def __str__(self) -> str:
        return f"line {self.line:02}" + (f", n = {self.noise}" if self.line in (8, 18) else "")


START = Flip(2, 0)

Flips = Mapping[
    Flip, Mapping[int | Flip, Weight]
]  # what a coin leads to: noise, which is returned, or a coin


def program(down: int, up: int, p: RationalFunction, printed: bool = False) -> Flips:
    """Returns what each coin leads to; with `printed`, line 06 is as it is printed.

    `down` and `up` are the distances of the answer from the least and the largest answer.
    """
    one = p / p
    heads = p / (one + p)
    below = _ends(p ** (down - 1) if down > 1 else one, -down, _loop(8, -1, -down + 1))
    above = _ends(p**up, up, _loop(18, 0, up - 1))
    found: dict[Flip, Mapping[int | Flip, Weight]] = {
        START: {Flip(3, 0): heads, Flip(13, 0): one - heads},
        Flip(3, 0): below,
        Flip(13, 0): above,
    }
    if down > 2:
        q = (one - p) / (one - p ** (down - 1))
        found.update(_flips(8, -1, -down + 1, q / p if printed else q, p))
    if up > 1:
        found.update(_flips(18, 0, up - 1, (one - p) / (one - p**up), p))
    return found


def distribution(down: int, up: int, p: RationalFunction) -> dict[int, RationalFunction]:
    """Returns N(m, t, p), by its definition; `down` and `up` are as for `program`."""
    one = p / p
    found: dict[int, RationalFunction] = {}
    for noise in range(-down, up + 1):
        weight = p ** abs(noise) / (one + p)
        found[noise] = weight if noise in (-down, up) else (one - p) * weight
    return found


def _ends(heads: RationalFunction, noise: int, after: int | Flip) -> Mapping[int | Flip, Weight]:
    one = heads / heads
    return {noise: one} if heads == one else {noise: heads, after: one - heads}


def _loop(line: int, noise: int, last: int) -> int | Flip:
    """Returns the coin of a loop at n, or what is returned where the loop has ended."""
    return last if (noise <= last if line == 8 else noise >= last) else Flip(line, noise)


def _flips(
    line: int, first: int, last: int, q: RationalFunction, p: RationalFunction
) -> Iterator[tuple[Flip, Mapping[int | Flip, Weight]]]:
    one = p / p
    for noise in range(first, last, 1 if first < last else -1):
        after = _loop(line, noise + (1 if first < last else -1), last)
        yield Flip(line, noise), {noise: q, after: one - q}
        q = p * q / (one - q)
