"""The hypothesis test of StatDP: is an event more likely than ε-privacy allows?

[S] Algorithm 2: of the c1 hits on one side each is kept with probability e^-ε, which leaves c̃1 of them. If
p1 <= e^ε·p2 for the probabilities of the event, then c̃1 is at most as large as c2 in distribution, and
Fisher's exact test of c̃1 against c2 gives a p-value. It is averaged over c̃1, here by its exact
distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

CELLS = 400
SPREAD = 9  # standard deviations of c̃1 that the average covers: what is left out is below 10^-17


@dataclass(frozen=True)
class PValues:
    """`p` tests Pr(event | more) <= e^ε·Pr(event | less); `reversed` the same with the sides exchanged."""

    epsilon: float
    p: float
    reversed: float


def p_value(first: int, second: int, runs: int, epsilon: float) -> float:
    """Returns the averaged p-value for `first` hits on one side and `second` on the other, of `runs` each.

    E[1 − Hypergeom.cdf(c̃1 − 1 | 2n, n, c̃1 + c2)] with c̃1 ~ Binomial(c1, e^-ε), which is Fisher's exact test
    averaged over the thinning. A small value speaks against p1 <= e^ε·p2. ε must not be negative.

    With more than `CELLS` values of c̃1 they are put into cells, and each cell counts with its smallest
    c̃1. The tail falls with c̃1, so the p-value only becomes larger, by some hundredths of itself where it
    is 0.05.
    """
    import numpy as np
    from scipy import stats

    keep = math.exp(-epsilon)
    spread = SPREAD * math.sqrt(first * keep * (1 - keep)) + SPREAD
    low, high = max(0, math.floor(first * keep - spread)), min(first, math.ceil(first * keep + spread))
    kept = np.arange(low, high + 1, 1 + (high - low) // CELLS)
    below = stats.binom.cdf(np.append(kept[1:] - 1, high), first, keep)
    weights = np.diff(below, prepend=0.0)
    tails = stats.hypergeom.sf(kept - 1, 2 * runs, runs, kept + second)
    return float(min(1.0, np.sum(weights * tails) / np.sum(weights)))


def event_test(hits: tuple[int, int], runs: int, epsilon: float) -> PValues:
    """Returns the p-values of an event that came `hits` times on the side where it is taken as more likely,
    and on the other, of `runs` each.

    The event and its direction must have been chosen on other runs. Then rejecting where `p` <= level is
    wrong with probability at most about the level (averaging only draws the p-value towards 1/2).
    """
    first, second = hits
    return PValues(epsilon, p_value(first, second, runs, epsilon), p_value(second, first, runs, epsilon))
