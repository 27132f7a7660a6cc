"""Divergences: how the probabilities of outputs under two secrets are compared; see `divergences.forms`."""

from __future__ import annotations

from paramverify.divergences.chi_squared import ChiSquared
from paramverify.divergences.forms import Average, Divergence, Event, PositiveParts, Quotients
from paramverify.divergences.hockey_stick import HockeyStick
from paramverify.divergences.kl import KLDivergence
from paramverify.divergences.max_divergence import DistanceBound, MaxDivergence
from paramverify.divergences.renyi import Renyi
from paramverify.divergences.sums import SumDivergence
from paramverify.divergences.zero_concentrated import ZeroConcentrated

Measure = Quotients | PositiveParts | Average  # the forms, which are closed

__all__ = [
    "Average",
    "ChiSquared",
    "DistanceBound",
    "Divergence",
    "Event",
    "HockeyStick",
    "KLDivergence",
    "MaxDivergence",
    "Measure",
    "PositiveParts",
    "Quotients",
    "Renyi",
    "SumDivergence",
    "ZeroConcentrated",
]
