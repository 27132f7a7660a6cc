"""The mechanisms of the library, run as they are defined: noise is drawn, and the output computed from it.

This shares nothing with the closed formulas of the models but the table of the noise, so comparing the two
tests both. Each is a vectorised black box `(rng, input, size) -> array`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING, Any

from paramverify.algebra.polynomials import Ring
from paramverify.errors import InputError, located
from paramverify.models.evaluation import Numbers
from paramverify.models.mechanisms import Counting, Drawing, Drawn, Runnable
from paramverify.statistics.blackbox import BlackBox, BlackBoxSource
from paramverify.statistics.draws import Draws
from paramverify.statistics.experiments import Experiment
from paramverify.statistics.inputs import CaseInputs
from paramverify.tables import in_case

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class NoiseRows:
    """Noise for whole answers, zero entries of its rows left out: entry k of row f stands for
    `values[f][k]`."""

    draws: Draws
    values: tuple[NDArray[np.int64], ...]

    @staticmethod
    def of(rows: list[list[Any]]) -> NoiseRows:
        """Returns the noise with the given exact probabilities; rows[f][o]: the answer f is released as o."""
        import numpy as np

        kept = [[(o, p) for o, p in enumerate(row) if _positive(p)] for row in rows]
        draws = Draws.of([[p for _, p in row] for row in kept])
        return NoiseRows(draws, tuple(np.array([o for o, _ in row], dtype=np.int64) for row in kept))

    def released(self, rng: np.random.Generator, answer: int, size: int) -> NDArray[np.int64]:
        """Returns `size` noisy releases of one answer."""
        return self.values[answer][self.draws.row(rng, answer, size)]


def _positive(probability: Any) -> bool:
    return bool(probability > 0 if isinstance(probability, Fraction) else probability.sign() > 0)


def direct(case_inputs: CaseInputs, point: Mapping[str, Fraction]) -> Drawing:
    """Returns the mechanism of a case as a black box that draws the noise itself, at a parameter point.

    Raises:
        InputError: it does not offer that.
    """
    numbers = Numbers(case_inputs.model, point)
    mechanism = case_inputs.mechanism
    if isinstance(mechanism, Drawn):
        return mechanism.drawn(
            lambda noise: NoiseRows.of([[numbers.function(p) for p in row] for row in noise.rows])
        )
    if isinstance(mechanism, Runnable):
        return mechanism.run_at(_numbers(case_inputs.model.domain.ring, point))
    case = case_inputs.case
    with in_case(case.path, case.text), located(key="mechanism"):
        raise InputError(f"the noise of {case.kind!r} is not drawn by itself; sample its model", key="kind")


def _numbers(ring: Ring, point: Mapping[str, Fraction]) -> dict[str, Fraction | float]:
    """Returns the parameters as numbers; those of the domain (0, ∞) are rounded to floats."""
    found: dict[str, Fraction | float] = {name: point[name] for name in ring.parameters}
    for unbounded in ring.unbounded:
        found[unbounded.name] = -log(point[unbounded.variable]) / float(unbounded.step)
    return found


@dataclass(frozen=True, eq=False)
class DirectSource:
    """Samples from the mechanism of a case by drawing its noise, at the point of each experiment."""

    case_inputs: CaseInputs

    def sampler(self, experiment: Experiment, side: int) -> BlackBox:
        """Returns the sampler of one side of an experiment."""
        mechanism = direct(self.case_inputs, experiment.point)
        sampler = BlackBoxSource(mechanism, self.case_inputs).sampler(experiment, side)
        given: Any = tuple(self.case_inputs.inputs(experiment, side))  # our own take tuples, with fractions
        return replace(
            sampler, inputs=given, counts=mechanism.counts if isinstance(mechanism, Counting) else None
        )
