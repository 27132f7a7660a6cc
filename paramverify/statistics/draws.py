"""Drawing from many finite distributions at once, with a proved bound on what rounding changes.

A distribution with probabilities p_1..p_k becomes the thresholds t_i = p_1 + ... + p_i, computed exactly and
then rounded to multiples of 2^-64. With U uniform on the multiples of 2^-64 in [0, 1), the entry i with
t_{i-1} <= U < t_i is drawn (inverse of the distribution function).

Rounding. Let V = U + W with W uniform on [0, 2^-64), so that V is uniform on [0, 1); with exact thresholds V
would draw exactly. U and the rounded thresholds draw another entry than V and the exact ones only if V lies
between an exact threshold and its rounding, which are at most 2^-64 apart, and there are k - 1 thresholds.
So one draw has total variation distance at most (k - 1)·2^-64 from the exact distribution, and n draws of at
most k entries together at most n·(k - 1)·2^-64: below 10^-11 for ten million draws of ten entries. Every
p-value and confidence below is exact up to this. Entries of probability zero are never drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paramverify.algebra.reals import Real

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BITS = 64
WIDTH = 256  # bits of the enclosures of irrational probabilities: far below 2^-64 wide


@dataclass(frozen=True, eq=False)
class Draws:
    """Rows of thresholds one after another: row r has the entries offsets[r] .. offsets[r + 1] - 1.

    `thresholds[i]` is 2^64 times the rounded sum of the probabilities of the row up to entry i; the last one
    of each row is not used.
    """

    offsets: NDArray[np.int64]
    thresholds: NDArray[np.uint64]

    @staticmethod
    def of(rows: Sequence[Sequence[Real | Fraction]]) -> Draws:
        """Returns the rows with the given exact probabilities, each of which must sum to one.

        Entries of probability zero must have been left out.
        """
        import numpy as np

        offsets = np.cumsum([0, *(len(row) for row in rows)])
        found: list[int] = []
        for row in rows:
            total: Fraction = Fraction(0)
            for probability in row:
                total += _rational(probability)
                found.append(min(round(total * 2**BITS), 2**BITS - 1))
        return Draws(offsets.astype(np.int64), np.array(found, dtype=np.uint64))

    def document(self) -> dict[str, Any]:
        """Returns the rows as JSON data."""
        return {"offsets": self.offsets.tolist(), "thresholds": self.thresholds.tolist()}

    @staticmethod
    def from_document(document: Mapping[str, Any]) -> Draws:
        """Returns the rows that `document` wrote."""
        import numpy as np

        return Draws(
            np.array(document["offsets"], dtype=np.int64), np.array(document["thresholds"], dtype=np.uint64)
        )

    def entries(self, rng: np.random.Generator, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns for each given row the number of an entry drawn from it, counted over all rows."""
        import numpy as np

        uniform = bits(rng, len(rows))
        low = self.offsets[rows]
        high = self.offsets[rows + 1] - 1
        longest = int((high - low).max(initial=0))
        for _ in range(longest.bit_length()):
            middle = (low + high) // 2
            beyond = (low < high) & (uniform >= self.thresholds[middle])
            high = np.where(beyond, high, middle)
            low = np.where(beyond, middle + 1, low)
        return low

    def row(self, rng: np.random.Generator, row: int, size: int) -> NDArray[np.int64]:
        """Returns `size` draws from one row, as numbers of entries counted from the start of the row."""
        import numpy as np

        start, end = int(self.offsets[row]), int(self.offsets[row + 1])
        inner = self.thresholds[start : end - 1]
        return np.searchsorted(inner, bits(rng, size), side="right").astype(np.int64)


def bits(rng: np.random.Generator, size: int) -> NDArray[np.uint64]:
    """Returns uniform 64-bit integers."""
    import numpy as np

    drawn: Any = rng.integers(0, 2**BITS, size=size, dtype=np.uint64)
    return np.asarray(drawn, dtype=np.uint64)


def _rational(value: Real | Fraction) -> Fraction:
    """Returns a rational within 2^-200 of the value: the sums of a row are then far nearer than 2^-65."""
    if isinstance(value, Fraction):
        return value
    exact = value.rational
    return exact if exact is not None else value.enclosure(WIDTH)[0]
