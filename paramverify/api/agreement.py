"""Whether the function itself, run by Python, has the law of the program that `adopt` made of it.

The function is run many times, and each count of an output is compared with the exact probability by a
binomial test. The tests share one probability of a false alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paramverify.errors import InputError
from paramverify.models.mechanisms import show_input
from paramverify.statistics.learned_attacks import interval
from paramverify.tracing.exploring import Explored, Tree
from paramverify.tracing.native_samples import Cells

FALSE_ALARM = 1e-9  # for all comparisons of a function together
MISSED = 0.01  # probability that a difference of `visible` is not seen

Given = tuple[Any, ...]
Point = dict[str, Fraction]
Law = dict[Given, dict[str, float]]


@dataclass(frozen=True)
class Agreement:
    """What was compared: so many runs for each input at each point, and so many counts.

    A probability that differs by `visible` or more would have been seen with a probability of 99 %.
    """

    runs: int
    inputs: int
    points: int
    comparisons: int
    visible: float

    def note(self) -> str:
        """Returns it in words."""
        at = f" at each of {self.points} points of the parameters" if self.points > 1 else ""
        return (
            f"{self.runs:,} runs of the function for each of {_many(self.inputs, 'input')}{at} agree with "
            f"this law in {_many(self.comparisons, 'exact binomial test')}, which raise a false alarm with a "
            f"probability below {FALSE_ALARM:g}; a probability that differs by {self.visible:.2g} would have "
            "been noticed in 99 % of all cases"
        )

    def document(self) -> dict[str, Any]:
        """Returns it as JSON data."""
        return {
            "runs": self.runs,
            "inputs": self.inputs,
            "points": self.points,
            "comparisons": self.comparisons,
            "false_alarm": FALSE_ALARM,
            "visible": self.visible,
        }


def check(
    explored: Explored,
    law: Callable[[Mapping[Given, Tree], Sequence[Point]], list[Law]],
    run: Callable[[Given, Point], Any],
    points: Sequence[Point],
    runs: int,
) -> None:
    """Runs the function for each input at each point, and notes in `explored` that the counts fit.

    Raises:
        InputError: they do not fit the probabilities, or those cannot be computed.
        Refused: Python returns what no run of the trees returns.
    """
    cells = Cells(explored.trees)
    cells.learn(lambda given: run(given, points[0]), explored.trees)
    cut = {given: cells.tree(tree) for given, tree in explored.trees.items()}
    laws = law({given: tree for given, tree in cut.items() if tree is not None}, points)
    comparisons = sum(len(shares) for found in laws for shares in found.values())
    wrong = FALSE_ALARM / max(1, comparisons)
    visible = 0.0
    for point, found in zip(points, laws, strict=True):
        for given, shares in found.items():
            counts = cells.count(lambda given, point=point: run(given, point), given, runs)  # type: ignore[misc]
            for name in {**shares, **counts}:
                share = shares.get(name, 0.0)
                low, high = _region(share, runs, wrong)
                if not low <= counts[name] <= high:
                    shown = cells.shown(name)
                    raise InputError(_words(given, point, shown, share, counts[name], runs))
                visible = max(visible, _visible(share, low, high, runs))
    explored.agreement = Agreement(runs, len(laws[0]), len(points), comparisons, visible)


def _region(share: float, runs: int, wrong: float) -> tuple[int, int]:
    """Returns the counts that fit a probability: all others together have at most the probability `wrong`."""
    from scipy import stats

    if share in (0.0, 1.0):
        return (0, 0) if share == 0.0 else (runs, runs)
    return int(stats.binom.ppf(wrong / 2, runs, share)), int(stats.binom.isf(wrong / 2, runs, share))


def _visible(share: float, low: int, high: int, runs: int) -> float:
    """Returns a difference from which on another probability leads to a count outside of a region."""
    if low == high:  # of an output that is impossible or certain
        return float(1 - MISSED ** (1 / runs))
    below, above = interval(low, high, runs, MISSED)
    return float(max(share - below, above - share))


def _words(given: Given, point: Point, shown: str, share: float, count: int, runs: int) -> str:
    at = f" with {', '.join(f'{name} = {value}' for name, value in point.items())}" if point else ""
    return (
        f"for the input {show_input(given)}{at}, the output {shown} has the probability {share:.6g} in the "
        f"program, but Python returned it in {count:,} of {runs:,} runs, which happens by chance with a "
        f"probability below {FALSE_ALARM:g}: do not trust a verdict about this function; either its "
        "generator is not fair, or paramverify followed it wrongly, so please report this"
    )


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' * (number != 1)}"
