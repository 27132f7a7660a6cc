"""The mechanisms of the library, run as they are defined: noise is drawn, and the output computed from it.

This shares nothing with the closed formulas of the models but the table of the noise, so comparing the two
tests both. Each is a vectorised black box `(rng, input, size) -> array`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paramverify.errors import InputError, located
from paramverify.models.context import Checks
from paramverify.models.evaluation import Numbers
from paramverify.models.mechanisms.above_threshold import ABOVE, BELOW, END
from paramverify.models.noise import read_noise
from paramverify.statistics.blackbox import BlackBox, BlackBoxSource, Given
from paramverify.statistics.draws import Draws
from paramverify.statistics.experiments import Experiment
from paramverify.statistics.inputs import Subjects
from paramverify.tables import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Noisy:
    """Noise for whole answers, zero entries of its rows left out: entry k of row f stands for
    `values[f][k]`."""

    draws: Draws
    values: tuple[NDArray[np.int64], ...]

    @staticmethod
    def of(rows: list[list[Any]]) -> Noisy:
        """Returns the noise with the given exact probabilities; rows[f][o]: the answer f is released as o."""
        import numpy as np

        kept = [[(o, p) for o, p in enumerate(row) if _positive(p)] for row in rows]
        draws = Draws.of([[p for _, p in row] for row in kept])
        return Noisy(draws, tuple(np.array([o for o, _ in row], dtype=np.int64) for row in kept))

    def released(self, rng: np.random.Generator, answer: int, size: int) -> NDArray[np.int64]:
        """Returns `size` noisy releases of one answer."""
        return self.values[answer][self.draws.row(rng, answer, size)]


def _positive(probability: Any) -> bool:
    return bool(probability > 0 if isinstance(probability, Fraction) else probability.sign() > 0)


@dataclass(frozen=True, eq=False)
class NoisyMax:
    """The index, from 1, of the largest noisy answer; ties go to the first index, or are broken uniformly."""

    noise: Noisy
    ties: str = "uniform"

    def __call__(self, rng: np.random.Generator, given: Given, size: int) -> NDArray[np.int64]:
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
        return index


@dataclass(frozen=True, eq=False)
class Geometric:
    """One whole answer with noise."""

    noise: Noisy

    def __call__(self, rng: np.random.Generator, given: Given, size: int) -> NDArray[np.int64]:
        """Returns `size` outputs."""
        return self.noise.released(rng, int(given[0]), size)


@dataclass(frozen=True, eq=False)
class AboveThreshold:
    """⊥ for each noisy answer below the noisy threshold, then ⊤, then nothing more; the input starts with the
    threshold. Outputs are sequences of one symbol for each answer, filled up with `end`."""

    threshold_noise: Noisy
    query_noise: Noisy

    def __call__(self, rng: np.random.Generator, given: Given, size: int) -> NDArray[np.str_]:
        """Returns `size` output sequences."""
        import numpy as np

        threshold = self.threshold_noise.released(rng, int(given[0]), size)
        length = len(given) - 1
        stop = np.full(size, length)
        for k, answer in enumerate(given[1:]):
            noisy = self.query_noise.released(rng, int(answer), size)
            stop[(stop == length) & (noisy >= threshold)] = k
        words = [[BELOW] * k + [ABOVE] + [END] * (length - k - 1) for k in range(length)]
        outputs: NDArray[np.str_] = np.array([*words, [BELOW] * length])[stop]
        return outputs


def direct(subjects: Subjects, point: Mapping[str, Fraction]) -> Callable[..., Any]:
    """Returns the mechanism of a case as a black box that draws the noise itself, at a parameter point.

    Raises:
        InputError: its kind is none of noisy_max, geometric and above_threshold.
    """
    kind = subjects.table.get("kind")
    numbers = Numbers(subjects.model, point)
    checks = Checks(subjects.model.domain)

    def noise(name: str) -> Noisy:
        rows = read_noise(Table(subjects.table), name, checks).rows
        return Noisy.of([[numbers.function(p) for p in row] for row in rows])

    with located(file=subjects.case.path, key="mechanism"):
        if kind == "noisy_max":
            return NoisyMax(noise("noise"), str(subjects.table.get("ties", "uniform")))
        if kind == "geometric":
            return Geometric(noise("noise"))
        if kind == "above_threshold":
            return AboveThreshold(noise("threshold_noise"), noise("query_noise"))
        raise InputError(f"the noise of {kind!r} is not drawn by itself; sample its model", key="kind")


@dataclass(frozen=True, eq=False)
class DirectSource:
    """Samples from the mechanism of a case by drawing its noise, at the point of each experiment."""

    subjects: Subjects

    def sampler(self, experiment: Experiment, side: int) -> BlackBox:
        """Returns the sampler of one side of an experiment."""
        mechanism = direct(self.subjects, experiment.point)
        return BlackBoxSource(mechanism, self.subjects).sampler(experiment, side)
