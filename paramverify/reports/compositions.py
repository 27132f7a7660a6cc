"""Certified compositions, in words and as JSON data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paramverify import printable
from paramverify.algebra.decimals import at_least, at_most, logarithm, relation
from paramverify.composition.answers import CompositionAnswer, How
from paramverify.composition.bounds import ProvedBounds
from paramverify.composition.composing import Component, Composition
from paramverify.composition.curves import DeltaAtRatio, DeltaCurve
from paramverify.reports import documents, text

DIGITS = 15  # of bounds in JSON: as many as floats have, by which decimals are written
SHOWN = 9  # of bounds in text
LONGEST = 2_000  # digits of an exact number in JSON
LONG = "a rational number"  # that is too long to be written
TAKES = "the adversary may take another pair of inputs at each release"


@dataclass(frozen=True)
class CompositionRequest:
    """What was asked, as it was written: an epsilon or a delta."""

    epsilon: str | None = None
    delta: str | None = None

    @property
    def name(self) -> str:
        """What is looked for."""
        return "delta" if self.epsilon is not None else "epsilon"

    @property
    def given(self) -> str:
        """What is given, in words."""
        return f"epsilon = {self.epsilon}" if self.epsilon is not None else f"delta = {self.delta}"


def lines(composition: Composition, found: CompositionAnswer, asked: CompositionRequest) -> list[str]:
    """Returns what was found, for what was asked."""
    told = f"{_told(found, asked.name)}; with {asked.given} for {_releases(composition)}"
    return [told, *_composed(composition), *_how(found.how)]


def _releases(composition: Composition) -> str:
    return "one release" if composition.times == 1 else f"{composition.times:,} releases"


def _told(found: CompositionAnswer, name: str) -> str:
    between = found.between
    if between.infinite:
        return "no epsilon is enough: for every one some set of outputs breaks the bound"
    if name == "delta" and found.exact is not None:
        return f"delta {_equal(found.exact)}, exactly"
    if name == "epsilon" and found.exact is not None:
        epsilon = f"epsilon ≈ {logarithm(found.exact):.{SHOWN}g}" if found.exact != 1 else "epsilon = 0"
        return f"{epsilon}; exactly, the ratio e^epsilon is {_short(found.exact)}"
    if found.parts is not None:
        parts = " and ".join(f"{side} {_equal(part)}" for side, part in zip("AB", found.parts, strict=True))
        return f"delta {text_between(found)}; exactly, it is A - B*e^epsilon, where {parts}"
    if between.upper is None:
        return f"{name} is at least {at_least(between.lower, SHOWN)}; no upper bound was found"
    return f"{name} {text_between(found)}"


def text_between(found: CompositionAnswer) -> str:
    """Returns the bounds of a number."""
    between = found.between
    assert between.upper is not None
    if between.lower == between.upper and len(str(between.lower)) <= SHOWN:
        return f"= {documents.exact(between.lower)}"
    return f"between {at_least(between.lower, SHOWN)} and {at_most(between.upper, SHOWN)}"


def _equal(value: Fraction) -> str:
    """Returns what a rational is, as the rest of a sentence."""
    told = _short(value)
    return f"is {told}" if told.startswith(LONG) else f"= {told}"


def _short(value: Fraction) -> str:
    """Returns a rational, with a decimal; a long one is told as the decimal alone."""
    told = documents.exact(value)
    if len(told) > text.LONGEST:
        return f"{LONG} {relation(value, SHOWN)}"
    return told if value.denominator == 1 else f"{told} {relation(value, SHOWN)}"


def _composed(composition: Composition) -> list[str]:
    """Returns what was composed, and what that means."""
    told = [
        f"  {printable.name(each.name)}: {each.times:,} time{'s' * (each.times > 1)}"
        for each in composition.components
    ]
    if len(composition.directions) > 1:
        told.append("  neighbours have one person more or less; it is the larger number of both directions")
    worst = "one pair is the worst for each release, for every epsilon"
    if not composition.single:
        worst = "the upper bound is for a pair that dominates all pairs, the lower one for one pair repeated"
    told.append(f"  {TAKES}; {worst}")
    return [*told, *(f"  Note: {note}." for note in composition.notes)]


def _how(how: How | None) -> list[str]:
    if how is None:
        return []
    grid = "all losses are on it" if how.lattice else "finer grids give nearer bounds"
    step = relation(Fraction(float(how.step.ball())))
    return [f"  grid: step {step}, {how.points:,} points, {how.bits} bits; {grid}"]


def curve_lines(composition: Composition, found: DeltaCurve) -> list[str]:
    """Returns the points of a curve."""
    between = "linear in the ratio e^epsilon between these corners" if found.linear else "convex in the ratio"
    told = [f"delta for {_releases(composition)}, {between}:"]
    for point in found.points:
        epsilon = f"≈ {point.epsilon:.6g}" if point.ratio != 1 else "= 0"
        value = f"delta {_equal(point.delta)}" if point.exact else f"delta {text_between(point.found)}"
        told.append(f"  ratio {documents.exact(point.ratio)}, epsilon {epsilon}: {value}")
    how = next((point.found.how for point in found.points if point.found.how), None)
    return [*told, *_composed(composition), *_how(how)]


def document(composition: Composition, found: CompositionAnswer, asked: CompositionRequest) -> dict[str, Any]:
    """Returns the same as JSON data."""
    given = {"epsilon_given": asked.epsilon} if asked.epsilon is not None else {"delta_given": asked.delta}
    known: dict[str, Any] = _bounds(found, asked.name)
    exact = _exact(found.exact)
    if exact is not None:
        known["delta" if asked.name == "delta" else "ratio"] = exact
    elif found.parts is not None and (parts := [_exact(part) for part in found.parts]) and all(parts):
        known["delta"] = f"{parts[0]} - {parts[1]}*exp({asked.epsilon})"
    return {**given, **known, **_common(composition), **_grid(found.how)}


def curve_document(composition: Composition, found: DeltaCurve) -> dict[str, Any]:
    """Returns the points of a curve as JSON data."""
    points = [_point(point) for point in found.points]
    how = next((point.found.how for point in found.points if point.found.how), None)
    return {"curve": points, "linear": found.linear, **_common(composition), **_grid(how)}


def _point(point: DeltaAtRatio) -> dict[str, Any]:
    told = {"ratio": documents.exact(point.ratio), "epsilon": point.epsilon, "exact": point.exact}
    exact = {"delta": known} if (known := _exact(point.found.exact)) is not None else {}
    return told | exact | _bounds(point.found, "delta")


def _bounds(found: CompositionAnswer, name: str) -> dict[str, Any]:
    between = found.between
    if between.infinite:
        return {f"{name}_lower": "infinity", f"{name}_upper": "infinity"}
    upper = "unknown" if between.upper is None else at_most(between.upper, DIGITS)
    return {f"{name}_lower": at_least(between.lower, DIGITS), f"{name}_upper": upper}


def _exact(value: Fraction | None) -> str | None:
    """Returns an exact number, if it is not too long."""
    told = documents.exact(value) if value is not None else ""
    return told if told and len(told) <= LONGEST else None


def _common(composition: Composition) -> dict[str, Any]:
    return {
        "releases": composition.times,
        "components": [_component(each) for each in composition.components],
        "one_pair": composition.single,
        "directions": len(composition.directions),
        "notes": list(composition.notes),
    }


def _component(component: Component) -> dict[str, Any]:
    single = all(way.single for way in component.ways)
    return {"release": component.name, "times": component.times, "one_pair": single}


def _grid(how: How | None) -> dict[str, Any]:
    if how is None:
        return {}
    return {
        "grid": {
            "step": float(how.step.ball()),
            "points": how.points,
            "bits": how.bits,
            "all_losses": how.lattice,
            "passes": how.passes,
        }
    }


def so_far(found: ProvedBounds, asked: CompositionRequest) -> tuple[list[str], dict[str, Any]]:
    """Returns what is known before the end, as lines and as JSON data."""
    known = CompositionAnswer(found)
    return [f"  {_told(known, asked.name)}"], _bounds(known, asked.name)
