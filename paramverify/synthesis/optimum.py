"""The best value of a design parameter: exact from intervals, with certified bounds from a region map."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.real_roots import rational_root
from paramverify.models.parameters import Sense
from paramverify.synthesis.intervals import Partition, Root
from paramverify.synthesis.maps import RegionMap, Status


@dataclass(frozen=True, eq=False)
class Optimum:
    """The supremum (or, to be minimised, the infimum) of a parameter over its safe values.

    `value` is that number where it is known exactly, and `attained` tells whether it is a safe value itself.
    Otherwise it lies between `lower` and `upper`; the one of them that safe values reach or approach is None
    where no safe value was found. `some` are parameters that are not for design and are axes of the map: the
    number is about the best values of these, and not about all.
    """

    parameter: str
    sense: Sense
    value: Root | None = None
    attained: bool | None = None
    lower: Fraction | None = None
    upper: Fraction | None = None
    some: tuple[str, ...] = ()


def optimum_of_parts(found: Partition, sense: Sense) -> Optimum | None:
    """Returns the exact optimum of the parameter over the safe parts; None if no value is safe."""
    safe = found.having(Status.SAFE)
    if not safe:
        return None
    best = safe[-1] if sense == Sense.MAXIMISE else safe[0]
    if sense == Sense.MAXIMISE:
        return Optimum(found.parameter, sense, best.upper, best.upper_closed)
    return Optimum(found.parameter, sense, best.lower, best.lower_closed)


def optimum_of_map(found: RegionMap, parameter: str, sense: Sense) -> Optimum | None:
    """Returns certified bounds of the optimum of one parameter over the safe points; None if there are none.

    All points of a safe cell that are in the domain are safe, so they reach or approach its end where the
    whole cell is in the domain, but for a set without volume; all safe points are in cells that are safe or
    undecided.
    """
    axis = found.parameters.index(parameter)
    whole = [c for c in found.cells if c.status is Status.SAFE and found.inside.has(c.box)]
    safe = [c.box[axis] for c in whole]
    possible = [c.box[axis] for c in found.cells if c.status in (Status.SAFE, Status.UNDECIDED)]
    if not possible:
        return None
    if sense == Sense.MAXIMISE:
        reached = max((high for _, high in safe), default=None)
        return _between(parameter, sense, reached, max(high for _, high in possible))
    reached = min((low for low, _ in safe), default=None)
    return _between(parameter, sense, min(low for low, _ in possible), reached)


def optimum_near(found: Partition, sense: Sense) -> Optimum | None:
    """Returns bounds of the optimum over the safe parts, where some are undecided; None if there is neither.

    It is exact where no undecided part is beyond the safe ones: then it is reached or approached.
    """
    possible = [part for part in found.parts if part.status in (Status.SAFE, Status.UNDECIDED)]
    if not possible:
        return None
    safe = found.having(Status.SAFE)
    ends: tuple[Fraction | None, Fraction | None]
    if sense == Sense.MAXIMISE:
        most, reached = possible[-1].upper, safe[-1].upper if safe else None
        ends = (reached.lower if reached else None), most.upper
    else:
        most, reached = possible[0].lower, safe[0].lower if safe else None
        ends = most.lower, (reached.upper if reached else None)
    value = reached if most is reached else None
    return Optimum(found.parameter, sense, value=value, attained=None, lower=ends[0], upper=ends[1])


def _between(parameter: str, sense: Sense, lower: Fraction | None, upper: Fraction | None) -> Optimum:
    value = rational_root(lower) if lower is not None and lower == upper else None
    return Optimum(parameter, sense, value=value, attained=None, lower=lower, upper=upper)
