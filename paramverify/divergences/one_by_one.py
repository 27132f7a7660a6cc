"""The question about outputs one by one, and what to say where a case compares them otherwise."""

from __future__ import annotations

from fractions import Fraction

from paramverify.divergences.forms import Divergence, Event
from paramverify.divergences.max_divergence import DistanceBound, MaxDivergence
from paramverify.errors import InputError, UnsupportedError

PROBABILITIES = "outputs with probabilities; this program puts out numbers with densities or limits of ratios"
_SETS = "its measure compares sets of outputs, not outputs one by one"
_TOGETHER = "its measure compares all outputs together, not outputs one by one"
_OTHERWISE = {
    Event.SET: (
        f"{_SETS}; `verify` and `synthesize` do so, `budget --delta-for EPSILON` finds the least delta, and "
        "`budget --epsilon-for DELTA` the least epsilon; "
        "a case with epsilon or ratio alone is about outputs one by one"
    ),
    Event.ALL: _TOGETHER,
}
_TAKEN = {Event.ALL: "; `verify`, `certify`, `budget` and `sample` take such a case"}


def ratio_bound(divergence: Divergence, distance: Fraction | None = None) -> MaxDivergence:
    """Returns the bound on each output, for two inputs at a distance.

    Raises:
        UnsupportedError: outputs are not compared one by one; or the bound depends on a distance, and none is
            given.
    """
    if isinstance(divergence, MaxDivergence):
        return divergence
    if not isinstance(divergence, DistanceBound):
        raise refused(divergence)
    if distance is None:
        raise UnsupportedError("the bound of this case depends on the distance of two inputs")
    return divergence.bounds[distance]


def refused(divergence: Divergence) -> UnsupportedError:
    """Returns the error for what compares outputs one by one, where a case does not."""
    key = divergence.key
    has = "a delta" if key == "delta" else key
    why = _OTHERWISE[divergence.event] + _TAKEN.get(divergence.event, "")
    return UnsupportedError(f"this case has {has}, so {why}", key=f"privacy.{key}")


def not_for(divergence: Divergence, what: str) -> InputError:
    """Returns the error for a question that is not about such a divergence; `what` names the question."""
    key = divergence.key
    has = "has one" if key == "delta" else "has it"
    return InputError(
        f"{what} needs no {key}; this case {has}, so {_OTHERWISE[divergence.event]}", key=f"privacy.{key}"
    )
