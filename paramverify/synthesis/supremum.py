"""One search for the ends of a supremum: a proof lowers the upper one, a refutation raises the lower one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar, Generic

from paramverify.algebra.rationals import simplest_between
from paramverify.bounds import NOBODY, Bounds, P, W
from paramverify.portfolio.session import Session


class Functional(ABC, Generic[W, P]):
    """A number for each point of a domain, whose supremum is looked for: what only this one knows.

    Sound: `enough` lowers the upper end only to a bound that is proved for all points, and raises the lower
    end only to a value at a point, or a limit of such values.
    """

    tries: ClassVar[int] = 0  # times that the lower end itself is tried, beside bisection
    most: ClassVar[int | None] = None  # trials
    farthest: ClassVar[Fraction] = Fraction(10) ** 15  # a lower end beyond which the search gives up
    part: ClassVar[Fraction] = Fraction(3, 8)  # of an interval, at both ends, in which no trial is

    @abstractmethod
    def enough(self, best: Bounds[W, P], bound: Fraction) -> Bounds[W, P] | None:
        """Returns what is known after a trial; None if nothing is learned, and the search ends."""

    @abstractmethod
    def is_near(self, best: Bounds[W, P]) -> bool:
        """Tells whether the ends are as near to each other as is wanted."""

    def failed(self, best: Bounds[W, P]) -> Fraction:
        """Returns the number above which trials are worth while."""
        return best.low

    def next(self, best: Bounds[W, P], made: list[Fraction], lower: int) -> Fraction | None:
        """Returns the next trial: twice as far until a bound is enough, then the lower end or a middle.

        Of the trials that were `made`, so many were lower ends.
        """
        low, high = self.failed(best), best.high
        if high is None:
            return 2 * max(low, made[-1])
        if 0 < best.low not in made and lower < self.tries:
            return best.low
        away = (high - low) * self.part
        return simplest_between(low + away, high - away) if low < high else None


def supremum(
    functional: Functional[W, P], session: Session, best: Bounds[W, P], first: Fraction
) -> Bounds[W, P]:
    """Returns bounds inside of those that are known: near to each other, or no trial tells more.

    The session hears of every lower end.
    """
    trial: Fraction | None = first
    made: list[Fraction] = []
    lower = 0
    while trial is not None and not functional.is_near(best) and len(made) != functional.most:
        lower += trial == best.low
        made.append(trial)
        found = functional.enough(best, trial)
        if found is None:
            break
        best = found
        if best.infinite or best.low > functional.farthest:
            break
        if best.origin is not NOBODY:
            session.bound(best.open())
        trial = functional.next(best, made, lower)
    return best
