"""The mechanisms that [S] tests, as black boxes: right ones, and wrong ones that claim the same budget.

    paramverify sample --mechanism paramverify.statistics.examples:laplace --neighbours 0 1 --epsilon 0.7,1

Each is called as `(rng, given, size)` and returns the outputs of `size` runs on the answers `given`. Its
`epsilon` is the budget that it claims where each answer may differ by 1; for histograms, where one cell may.
The claims of the right ones are theorems about exact real numbers ([DworkRoth14]); what floats do to them is
left out.

The sparse vector technique ([DworkRoth14] section 3.6) answers ⊤ to a query that is above a noisy threshold,
else ⊥, and stops after `most` answers ⊤.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Given = float | Sequence[float]  # a single answer is a number
Rows = list[list[float | str]]

ABOVE, BELOW = "⊤", "⊥"


def _count(given: Given) -> int:
    return len(given) if isinstance(given, Sequence) else 1


def _laplace(rng: np.random.Generator, given: Given, size: int, scale: float) -> NDArray[Any]:
    """Returns the answers with noise of their own, one row for each run."""
    return rng.laplace(0, scale, (size, _count(given))) + given


def laplace(
    rng: np.random.Generator, given: Given, size: int, epsilon: float = 1.0, sensitivity: float = 0
) -> NDArray[Any]:
    """The Laplace mechanism: each answer with noise of the scale sensitivity/ε.

    The sensitivity is the largest sum of the differences of all answers. It is the number of answers if it is
    not given: then each answer may differ by 1.
    """
    return _laplace(rng, given, size, (sensitivity or _count(given)) / epsilon)


def histogram(rng: np.random.Generator, given: Given, size: int, epsilon: float = 1.0) -> NDArray[Any]:
    """All cells of a histogram, of which one differs by 1, with noise of the scale 1/ε."""
    return _laplace(rng, given, size, 1 / epsilon)


def histogram_wrong_scale(
    rng: np.random.Generator, given: Given, size: int, epsilon: float = 1.0
) -> NDArray[Any]:
    """Wrong unless ε is 1: noise of the scale ε, so that the budget is 1/ε."""
    return _laplace(rng, given, size, epsilon)


def noisy_max(rng: np.random.Generator, given: Given, size: int, epsilon: float = 1.0) -> NDArray[Any]:
    """The index, from 1, of the largest answer after Laplace noise of the scale 2/ε."""
    found: NDArray[Any] = _laplace(rng, given, size, 2 / epsilon).argmax(axis=1) + 1
    return found


def noisy_max_exponential(
    rng: np.random.Generator, given: Given, size: int, epsilon: float = 1.0
) -> NDArray[Any]:
    """The index, from 1, of the largest answer after exponential noise of the mean 2/ε."""
    noisy: NDArray[Any] = rng.exponential(2 / epsilon, (size, _count(given))) + given
    found: NDArray[Any] = noisy.argmax(axis=1) + 1
    return found


def noisy_max_value(rng: np.random.Generator, given: Given, size: int, epsilon: float = 1.0) -> NDArray[Any]:
    """Wrong: the largest noisy answer itself in the place of its index."""
    found: NDArray[Any] = _laplace(rng, given, size, 2 / epsilon).max(axis=1)
    return found


def noisy_max_exponential_value(
    rng: np.random.Generator, given: Given, size: int, epsilon: float = 1.0
) -> NDArray[Any]:
    """Wrong: the largest answer after exponential noise itself in the place of its index."""
    noisy: NDArray[Any] = rng.exponential(2 / epsilon, (size, _count(given))) + given
    found: NDArray[Any] = noisy.max(axis=1)
    return found


def sparse_vector(
    rng: np.random.Generator,
    given: Given,
    size: int,
    epsilon: float = 1.0,
    most: int = 1,
    threshold: float = 1.0,
) -> Rows:
    """The sparse vector technique: scales 2/ε for the threshold and 4·most/ε for the answers."""
    noisy, at = _compared(rng, given, size, threshold, scales=(2 / epsilon, 4 * most / epsilon))
    return _stopped(_answers(noisy >= at), most)


def sparse_vector_no_noise(
    rng: np.random.Generator, given: Given, size: int, epsilon: float = 1.0, threshold: float = 1.0
) -> Rows:
    """Wrong (iSVT1): the answers have no noise, and nothing stops it. There is no budget at all."""
    noisy, at = _compared(rng, given, size, threshold, scales=(2 / epsilon, 0))
    return _answers(noisy >= at)


def sparse_vector_no_bound(
    rng: np.random.Generator, given: Given, size: int, epsilon: float = 1.0, threshold: float = 1.0
) -> Rows:
    """Wrong (iSVT2): the noise of the answers does not grow with the number of ⊤, and nothing stops it."""
    noisy, at = _compared(rng, given, size, threshold, scales=(2 / epsilon, 2 / epsilon))
    return _answers(noisy >= at)


def sparse_vector_small_noise(
    rng: np.random.Generator,
    given: Given,
    size: int,
    epsilon: float = 1.0,
    most: int = 1,
    threshold: float = 1.0,
) -> Rows:
    """Wrong (iSVT3): scales 4/ε for the threshold and 4/(3ε) for the answers, whatever `most` is."""
    noisy, at = _compared(rng, given, size, threshold, scales=(4 / epsilon, 4 / (3 * epsilon)))
    return _stopped(_answers(noisy > at), most)


def sparse_vector_value(
    rng: np.random.Generator,
    given: Given,
    size: int,
    epsilon: float = 1.0,
    most: int = 1,
    threshold: float = 1.0,
) -> Rows:
    """Wrong (iSVT4): a noisy answer above the threshold is released itself in the place of ⊤."""
    noisy, at = _compared(rng, given, size, threshold, scales=(2 / epsilon, 2 * most / epsilon))
    above = _answers(noisy > at)
    for row, values in zip(above, noisy.tolist(), strict=True):
        row[:] = [value if label == ABOVE else label for label, value in zip(row, values, strict=True)]
    return _stopped(above, most)


def _compared(
    rng: np.random.Generator, given: Given, size: int, threshold: float, scales: tuple[float, float]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Returns the noisy answers, a row for each run, and the noisy thresholds, a column."""
    at = threshold + rng.laplace(0, scales[0], (size, 1))
    return _laplace(rng, given, size, scales[1]), at


def _answers(above: NDArray[Any]) -> Rows:
    return [[ABOVE if yes else BELOW for yes in row] for row in above.tolist()]


def _stopped(rows: Rows, most: int) -> Rows:
    """Cuts each row after its answer number `most` that is not ⊥."""
    for row in rows:
        seen = 0
        for place, label in enumerate(row):
            seen += label != BELOW
            if seen == most:
                del row[place + 1 :]
                break
    return rows
