"""The hockey-stick divergence: the largest Pr(S | left) − ratio · Pr(S | right) of a set S of outputs.

A bound δ on it is (ε, δ) privacy with ratio = e^ε. With the ratio 1 it is the total variation distance.
"""

from __future__ import annotations

from dataclasses import dataclass

from paramverify.divergences.forms import PositiveParts


@dataclass(frozen=True, eq=False)
class HockeyStick(PositiveParts):
    """(ε, δ) privacy: for every set S of outputs and θ, `Pr(S | left) ≤ ratio · Pr(S | right) + delta`.

    `ratio` is e^ε, positive on the domain, as are both denominators; `delta` is nowhere below 0 or above 1.
    The largest left side minus `ratio · Pr(S | right)` over all sets is Σ_ω max(0, Pr(ω|left) −
    ratio·Pr(ω|right)) ([DworkRoth14] Definition 2.4).
    """
