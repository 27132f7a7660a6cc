"""Looking for a violating prior: sampling at one parameter point says where to sample next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from paramverify.algebra.points import contains
from paramverify.errors import InputError
from paramverify.evidence.pairs import directed
from paramverify.models.evaluation import Numbers
from paramverify.models.model import Model
from paramverify.statistics.detection import NO_EVENT, SELECT, Settings
from paramverify.statistics.experiments import Experiment
from paramverify.statistics.runs import Runs
from paramverify.statistics.search_space import candidates

ROUNDS = 8

Score = TypeVar("Score", float, tuple[float, float])


def guided(
    runs: Runs,
    model: Model,
    start: Sequence[Experiment],
    settings: Settings,
    fixed: Mapping[str, Fraction],
    rounds: int = ROUNDS,
) -> list[Experiment]:
    """Returns the experiments and more of them, nearer and nearer to where the ratio seems largest.

    From the experiment with the largest ratio one parameter at a time is moved half of the way to either end
    of its interval, and the best of these experiments is the next start, until none is better. Parameters
    that are `fixed` stay. Only runs for selection are made, so that tests on fresh runs stay valid.

    Raises:
        InputError: no event came often enough to be tested.
    """

    def largest(experiment: Experiment) -> float | None:
        counts = runs.both(SELECT, experiment, settings.select)
        return max((c.lower for c in candidates(experiment, counts)), default=None)

    return towards(model, start, largest, fixed, rounds)


def towards(
    model: Model,
    start: Sequence[Experiment],
    score: Callable[[Experiment], Score | None],
    fixed: Mapping[str, Fraction],
    rounds: int = ROUNDS,
) -> list[Experiment]:
    """Returns the experiments and more of them, nearer and nearer to where the score seems largest.

    Raises:
        InputError: no experiment has a score.
    """
    found = list(start)
    first = [(value, e) for e in start if (value := score(e)) is not None]
    if not first:
        raise InputError(NO_EVENT)
    best = max(first, key=_value)
    for _ in range(rounds):
        nearby = [replace(best[1], point=point) for point in _nearby(model, best[1], fixed)]
        found += nearby
        tried = [(value, e) for e in nearby if (value := score(e)) is not None]
        following = max(tried, key=_value, default=best)
        if following[0] <= best[0]:
            break
        best = following
    return found


def _value(scored: tuple[Score, Experiment]) -> Score:
    return scored[0]


def _nearby(
    model: Model, experiment: Experiment, fixed: Mapping[str, Fraction]
) -> Iterator[dict[str, Fraction]]:
    starts = directed(model, experiment.left, experiment.right)
    for name in model.domain.ring.parameters:
        interval = model.domain.box[name]
        if name in fixed or interval.is_point:
            continue
        for end in (interval.lower, interval.upper):
            point = {**experiment.point, name: (experiment.point[name] + end) / 2}
            if point[name] == experiment.point[name] or not contains(model.domain, point):
                continue
            numbers = Numbers(model, point)
            if all(numbers.mass(side).sign() > 0 for side in starts):
                yield point
