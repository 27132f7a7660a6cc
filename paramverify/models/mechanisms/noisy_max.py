"""`kind = "noisy_max"`: the index (from 1) of the largest of several answers, each with its own noise.

After [DworkRoth14] section 3.3; with truncated geometric noise as in [F] section 2. Ties go to the first
index, or to all maxima uniformly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paramverify.algebra.polynomials import Polynomial, RationalFunction, common_denominator
from paramverify.errors import gathered
from paramverify.models.context import Checks
from paramverify.models.mechanisms import Drawing, Input, Mechanism, read_queries
from paramverify.models.mechanisms._one_shot import OneShot
from paramverify.models.mechanisms._queries import LABELS, QUERIES
from paramverify.models.names import read_labels
from paramverify.models.noise import NOISE, Noise, Releases, read_noise
from paramverify.models.relations import InputPart, Shape
from paramverify.models.worst_pairs import Guess, NoisyMaxima, guesses, largest_ratio, statement
from paramverify.tables import Key, Section, Table, one_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOLD = "Each answer gets independent noise; the output is the number (from 1) of the largest noisy answer."

CHECKED = True  # `read` checks the probabilities
SECTION = Section(
    "noisy_max",
    "Which noisy answer is the largest: its number, from 1.",
    (
        QUERIES,
        Key("noise", NOISE, "The noise that is added to each answer.", needed=True),
        Key(
            "ties",
            one_of("uniform", "first"),
            "Which of several equal largest answers is released: each equally likely, or the first.",
            default="uniform",
        ),
        LABELS,
    ),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisyMax(OneShot):
    """Noisy max, and what it is made of."""

    noise: Noise
    ties: str

    @property
    def shape(self) -> Shape:
        """The answers, as one array."""
        return (InputPart("", len(self.answers)),)

    def drawn(self, at_point: Callable[[Noise], Releases]) -> Drawing:
        """Returns the mechanism with its noise at a parameter point."""
        return LargestIndex(at_point(self.noise), self.ties, self.outputs)

    @property
    def knows_worst_pair(self) -> bool:
        """Whether the noise has numbers only, with as many outputs as answers."""
        return self.noise.is_numeric and self.noise.top == self.noise.range

    def worst_pair(self, differ: str, by: int | None) -> tuple[Input, Input]:
        """Returns the neighbours with the largest ratio, which stand for all.

        Pr(ω | x) is the product over the releases of a sequence, so that pair has the largest ratio for
        sequences of every length: it is within a bound iff all pairs are.

        Raises:
            LimitError: see `worst_pairs`.
        """
        found = largest_ratio(self.noise, len(self.answers), self.ties, differ, by)
        left, right = found.left, found.right
        if left == right:  # no pair has a ratio above 1
            right = (1 - min(left[0], 1), *left[1:])
        return tuple(map(Fraction, left)), tuple(map(Fraction, right))

    def worst_pair_document(self, differ: str, by: int | None, pair: tuple[Input, Input]) -> dict[str, Any]:
        """Returns the statement that a pair has the largest ratio, for `checker.worst_pair_evidence`."""
        left, right = ([int(Fraction(v)) for v in given] for given in pair)
        shown = {"differ": differ, "by": "any" if by is None else str(by), "left": left, "right": right}
        return {**statement(self.noise, len(self.answers), self.ties), **shown}

    def guesses(self, differ: str, by: int | None) -> Iterator[Guess]:
        """Yields guesses which neighbours have the largest ratio, where the noise has parameters."""
        if not self.noise.is_numeric and self.noise.top == self.noise.range:
            about = self.noise, self.checks.domain
            yield from guesses(
                NoisyMaxima(*about, answers=len(self.answers), ties=self.ties, differ=differ, by=by)
            )


@dataclass(frozen=True, eq=False)
class LargestIndex:
    """Draws the noise of each answer; the output that stands for the largest one."""

    noise: Releases
    ties: str
    outputs: tuple[str, ...]

    def __call__(self, rng: np.random.Generator, given: tuple[Any, ...], size: int) -> NDArray[Any]:
        """Returns `size` outputs."""
        import numpy as np

        best = self.noise.released(rng, int(given[0]), size)
        index = np.ones(size, dtype=np.int64)
        tied = np.ones(size, dtype=np.int64)
        for place, answer in enumerate(given[1:], start=2):
            noisy = self.noise.released(rng, int(answer), size)
            wins = noisy > best
            if self.ties == "uniform":
                # The k-th of k tied maxima replaces the one before with probability 1/k: each is kept with
                # 1/k.
                equal = noisy == best
                tied += equal
                tied[wins] = 1
                wins[equal] = rng.integers(0, tied[equal]) == 0
            index[wins] = place
            np.maximum(best, noisy, out=best)
        return np.array(self.outputs)[index - 1]


def read(table: Table, checks: Checks) -> Mechanism:
    """Reads `queries` (expressions with values 0..range, or their number), `noise` and `ties`."""
    with gathered() as each:
        with each:
            queries, count = read_queries(table)
        with each:
            noise = read_noise(table, "noise", checks)
        with each:
            ties = table.choice("ties")
        with each:
            table.get("labels")
            table.close()
    if noise.truncated:
        checks.notes.append(
            f"the noise is truncated to 0..{noise.range} before the mechanism compares "
            "the answers; with unbounded noise, as in the textbook, the ratios may differ"
        )
    values = tuple(Fraction(v) for v in range(noise.range + 1))
    outputs = read_labels(table, [str(k + 1) for k in range(count)])
    release = arg_max(noise, ties, checks)
    return NoisyMax(checks, queries, (values,) * count, outputs, release, noise=noise, ties=ties)


def arg_max(noise: Noise, ties: str, checks: Checks) -> Callable[[Input], list[RationalFunction]]:
    """Returns the function from answers to the distribution of the index of the noisy maximum."""
    ring = checks.ring
    common = common_denominator((p for row in noise.rows for p in row), ring)
    mass = [[p.numerator * (common / p.denominator) for p in row] for row in noise.rows]
    below = [[sum(row[:v], ring.number(0)) for v in range(len(row) + 1)] for row in mass]
    memory: dict[tuple[int, tuple[int, ...]], Polynomial] = {}

    def uniform(first: int, others: tuple[int, ...]) -> Polynomial:
        """Σ_v Pr(first = v) · Σ_k Pr(k others equal v, the rest below) / (k + 1), denominators cleared."""
        if (first, others) not in memory:
            total = ring.number(0)
            for v in range(noise.top + 1):
                tied = [ring.number(1)]  # tied[k]: k others at v, the rest below
                for f in others:
                    lower, equal = below[f][v], mass[f][v]
                    grown = [t * lower for t in tied] + [ring.number(0)]
                    for k, t in enumerate(tied):
                        grown[k + 1] += t * equal
                    tied = grown
                shared = sum(
                    (t * ring.number(Fraction(1, k + 1)) for k, t in enumerate(tied)), ring.number(0)
                )
                total += mass[first][v] * shared
            memory[first, others] = total
        return memory[first, others]

    def first_index(index: int, answers: list[int]) -> Polynomial:
        """Σ_v Pr(answer = v) · Pr(earlier ones below v) · Pr(later ones at most v), denominators cleared."""
        total = ring.number(0)
        for v in range(noise.top + 1):
            term = mass[answers[index]][v]
            for other, f in enumerate(answers):
                if other != index:
                    term *= below[f][v + (other > index)]
            total += term
        return total

    def release(given: Input) -> list[RationalFunction]:
        answers = [int(v) for v in given]
        scale = common ** len(answers)
        if ties == "first":
            parts = [first_index(k, answers) for k in range(len(answers))]
        else:
            parts = [uniform(f, tuple(sorted(answers[:k] + answers[k + 1 :]))) for k, f in enumerate(answers)]
        return [RationalFunction.of(part, scale) for part in parts]

    return release
