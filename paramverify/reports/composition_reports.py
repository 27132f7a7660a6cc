"""Certified compositions in words and as JSON data, and their evidence.

Evidence of a composition: its releases as they were understood, grids, and bounds of the kernel.

The bounds are those of the kernel's own arithmetic: it is asked for them when the evidence is written. So
they may differ from the told ones in the last digits, and are true in any case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product
from math import ceil, floor, log2
from typing import Any

from paramverify import printable
from paramverify.algebra.constants import working_precision
from paramverify.algebra.rationals import at_least, at_most, logarithm, relation
from paramverify.composition.case_releases import read_case
from paramverify.composition.composing import (
    BITS,
    CHOICES,
    Component,
    Composition,
    CompositionAnswer,
    CompositionQuestion,
    DeltaAtRatio,
    DeltaCurve,
    DirectedRelease,
    How,
    first_step,
)
from paramverify.composition.loss_grids import Grid, ProvedBounds
from paramverify.composition.release_losses import Release
from paramverify.composition.written_releases import read_components, sampled
from paramverify.errors import InputError
from paramverify.evidence import envelope, number_words
from paramverify.kernel import composition_evidence as kernel
from paramverify.kernel.composition_evidence import MOST_BITS
from paramverify.kernel.documents import check_document, engine_of
from paramverify.kernel.evidence_shapes import BOUNDS
from paramverify.kernel.ledger import KernelReport
from paramverify.kernel.release_losses import ExactLoss
from paramverify.kernel.strict_reading import Rejected, counted
from paramverify.models.settings import NONE, Settings
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.other_bounds import load_with_bounds

DIGITS = 12  # of bounds
ROOM = (Fraction(0), Fraction(1, 10**9), Fraction(1, 10**6), Fraction(1, 10**4), Fraction(1, 100))
SPARE = 30  # bits of what is clipped below the δ that is looked at
FINE = 64  # bits of masses below that
STEP = Fraction(1, 10**4)  # the width for which a first step is chosen
OBLIGATIONS = 60  # seconds for the proofs that tables are probabilities
ENDLESS = "no epsilon is enough, and this answer has no evidence"


def composition_document(
    composition: Composition, found: CompositionAnswer, question: CompositionQuestion
) -> dict[str, Any]:
    """Returns the evidence of an answer.

    Raises:
        InputError: the kernel knows no such release, needs more bits than it has, or no epsilon is enough.
    """
    if found.between.infinite:
        raise InputError(ENDLESS)
    asked: dict[str, Any] = (
        {"epsilon": question.epsilon.document()}
        if question.epsilon is not None
        else {"delta": str(question.delta)}
    )
    document: dict[str, Any] = {
        "kind": "composition",
        "components": [_component(each) for each in composition.components],
        "question": asked,
        "directions": [_exactly(composition, direction) for direction in composition.directions],
        "exact": None if found.exact is None else str(found.exact),
        "lower": None,
        "upper": None,
    }
    if found.exact is not None:
        exact = envelope.document(BOUNDS, envelope.statements(document))
        if check_document(exact).accepted:
            return exact
    document["exact"] = None
    several = any(not way.single for each in composition.components for way in each.ways)
    if found.how is not None or found.parts is None or several:
        every = [_on_grid(composition, direction, found, question) for direction in composition.directions]
        document["directions"] = every
    try:
        bounded = _bounded(document, composition, found, question)
    except Rejected as error:
        raise InputError(f"there is no evidence for this composition: {error}") from None
    return envelope.document(BOUNDS, envelope.statements(bounded))


def _component(component: Component) -> dict[str, Any]:
    ways = [
        {
            "dominating": way.dominating.document(),
            "pairs": [] if way.single else [pair.document() for pair in way.pairs],
        }
        for way in component.ways
    ]
    about = component.ways[0].about
    return {
        "times": component.times,
        "ways": ways,
        **({"case": dict(about)} if about else {}),
    }


def _exactly(composition: Composition, direction: int) -> dict[str, Any]:
    """Returns a direction without a grid, or with the step of which all losses are multiples."""
    root = composition.lattice(direction)
    grid = None
    if root is not None and not root.step.rational and root.step.ratio > 1:
        grid = {"step": root.step.document(), "bits": BITS, "tail": BITS}
    return {"grid": grid, "spans": [], "choice": [0] * len(composition.components)}


def _on_grid(
    composition: Composition, direction: int, found: CompositionAnswer, question: CompositionQuestion
) -> dict[str, Any]:
    """Returns a direction with a grid as fine as that of the answer."""
    known = composition.lattice(direction)
    if found.how is not None:
        step = found.how.step
    else:
        step = known.step if known else first_step(composition, direction, STEP)
    size = question.size(found.between) or Fraction(1, 2**60)
    tail = max(60, ceil(log2(size.denominator) - log2(size.numerator)) + SPARE)
    bits = max(tail + FINE, BITS)
    if bits > MOST_BITS:
        raise InputError(
            "there is no evidence for so small a delta, because the kernel uses 176 bits for masses"
        )
    grid = Grid(step)
    with working_precision(4 * BITS):
        spans = [_span(each.way(direction).dominating, grid, tail) for each in composition.components]
    return {
        "grid": {"step": step.document(), "bits": bits, "tail": tail},
        "spans": spans,
        "choice": [0] * len(composition.components),
    }


def _span(release: Release, grid: Grid, tail: int) -> list[int] | None:
    """Returns from where to where a density is cut."""
    smooth = release.losses(4 * BITS).smooth
    if smooth is None:
        return None
    low, high = smooth.span(tail)
    return [grid.place(low)[0], grid.place(high)[1]]


def _bounded(
    document: dict[str, Any],
    composition: Composition,
    found: CompositionAnswer,
    question: CompositionQuestion,
) -> dict[str, Any]:
    """Returns the document with bounds that the kernel computes, or confirms."""
    if question.delta == 0:
        lower, upper = found.between.lower, found.between.upper
        stated = _stated(document, _down(lower), None if upper is None else _up(upper))
        kernel.check_bounds(stated)
        return stated
    if question.epsilon is not None:
        ends = kernel.epsilon_of(document)
        assert ends is not None
        every = [(kernel.bounds_of(each), each) for each in _choices(document, composition)]
        best, chosen = max(every, key=lambda each: each[0].least(ends))
        return _stated(chosen, _down(best.least(ends)), _up(best.most(ends)))
    assert question.delta is not None
    return _around(document, composition, found, question.delta)


def _around(
    document: dict[str, Any], composition: Composition, found: CompositionAnswer, delta: Fraction
) -> dict[str, Any]:
    """Returns the document with bounds of ε a little outside of those that were found."""
    every = [(kernel.bounds_of(each), each) for each in _choices(document, composition)]
    low, high = found.between.lower, found.between.upper
    upper: Fraction | None = None
    for room in ROOM if high is not None else ():
        assert high is not None
        trial = _up(high * (1 + room) + room / 10**6)
        if every[0][0].most(ExactLoss(trial).ends()) <= delta:
            upper = trial
            break
    for room in ROOM if low else ():
        trial = _down(low * (1 - room))
        for bounds, chosen in every:
            if trial > 0 and bounds.least(ExactLoss(trial).ends()) > delta:
                return _stated(chosen, trial, upper)
    return _stated(document, Fraction(0), upper)


def _choices(document: dict[str, Any], composition: Composition) -> list[dict[str, Any]]:
    """Returns the document with some choices of pairs for the lower bounds; of one pair each there is one."""
    counts = [max(len(way["pairs"]) for way in each["ways"]) or 1 for each in document["components"]]
    found = []
    for chosen in islice(product(*map(range, counts)), CHOICES):
        directions = [{**each, "choice": list(chosen)} for each in document["directions"]]
        found.append({**document, "directions": directions})
    return found


def _stated(document: Mapping[str, Any], lower: Fraction, upper: Fraction | None) -> dict[str, Any]:
    return {**document, "lower": str(lower), "upper": None if upper is None else str(upper)}


def _down(value: Fraction) -> Fraction:
    return Fraction(floor(value * _scale(value))) / _scale(value)


def _up(value: Fraction) -> Fraction:
    return Fraction(ceil(value * _scale(value))) / _scale(value)


def _scale(value: Fraction) -> Fraction:
    """Returns the power of ten that leaves so many digits before the point."""
    if value <= 0:
        return Fraction(1)
    size = floor((log2(value.numerator) - log2(value.denominator)) / log2(10))
    return Fraction(10) ** (DIGITS - 1 - size)


# --- with a case --------------------------------------------------------------------------------------


def check_composition(
    document: Mapping[str, Any], path: str, settings: Settings
) -> tuple[KernelReport, list[dict[str, Any]]]:
    """Checks such evidence against the file of a case; returns the components that are of this case, too.

    Malformed evidence gives a report that is not accepted. A component that sets what the case does not
    have is of another case.

    Raises:
        InputError: a case file that cannot be read.
        LimitError: its tables are not proved to be probabilities.
    """
    report, engine = check_document(document), engine_of(document)
    if not report.accepted or engine is None:
        return report, []
    own: list[dict[str, Any]] = []
    components = [each for each in engine["components"] if "case" in each]
    digests = [_digest(path, each["case"]) for each in components]
    if not any(digests):
        _with_bounds(path, NONE)  # for the mistake of a file that cannot be read
    try:
        for each, digest in zip(components, digests, strict=True):
            if digest == each["case"]["digest"]:
                if not settings.items() <= each["case"].get("set", {}).items():
                    raise Rejected("the component has other parameter values")
                _compare(each, path)
                own.append(each)
        if not own:
            raise Rejected("no component belongs to this case file, or the file was changed")
    except (Rejected, InputError) as error:
        return KernelReport(False, (f"rejected: {error!s:.200}",)), []
    others = sum(map(kernel.is_of_case, engine["components"])) > len(own)
    left = kernel.LEFT if others else ()
    line = f"{counted(len(own), 'component')} derived from the case again"
    return replace(report, lines=(*report.lines, line), not_compared=left), own


def check_releases(
    document: Mapping[str, Any], path: str, settings: Settings
) -> tuple[KernelReport, list[tuple[str, dict[str, Any]]]]:
    """Checks such evidence against a file of releases: all of these are composed, and no others.

    Returns the components that are of cases, each with the path of its case. Malformed evidence gives a
    report that is not accepted.

    Raises:
        InputError: a mistake in the file, or in a case.
        LimitError: tables that are not proved to be probabilities.
    """
    report, engine = check_document(document), engine_of(document)
    if not report.accepted or engine is None:
        return report, []
    paths: list[str] = []
    with Session(Options(seconds=OBLIGATIONS)) as session:

        def read(case: str, values: Settings) -> tuple[DirectedRelease, tuple[str, ...]]:
            paths.append(case)
            return read_case(session, case, {**settings, **values})

        listed = [_component(each) for each in read_components(path, read)]
    stated = engine["components"]
    often, rest = divmod(stated[0]["times"], listed[0]["times"])
    if rest or [{**each, "times": often * each["times"]} for each in listed] != stated:
        return KernelReport(False, ("rejected: the components differ from those of the file",)), []
    if often > 1:
        reason = f"the components are those of the file, each {often:,} times as often"
        return KernelReport(False, (f"rejected: {reason}",)), []
    line = f"{counted(len(listed), 'component')} derived from the file of releases again"
    of_cases = [each for each in stated if "case" in each]
    return replace(report, lines=(*report.lines, line), not_compared=()), list(
        zip(paths, of_cases, strict=True)
    )


def _digest(path: str, component: Mapping[str, Any]) -> str | None:
    """Returns the digest of a case with what a component sets, or None if the case does not have that."""
    try:
        return _with_bounds(path, component.get("set", NONE)).digest
    except InputError:
        return None


def _with_bounds(path: str, given: Settings) -> PrivacyCase:
    return load_with_bounds(path, {"ratio": "1", "delta": "1"}, given)


def _compare(component: Mapping[str, Any], path: str) -> None:
    """Derives the releases of a component again.

    Raises:
        Rejected: the case gives others.
    """
    with Session(Options(seconds=OBLIGATIONS)) as session:
        way, _ = read_case(session, path, component["case"].get("set", {}))
    first, *others = component["ways"]
    ways = sampled(way, Fraction(first["dominating"]["rate"])) if others else (way,)
    again = _component(Component("", component["times"], ways))
    if again["ways"] != component["ways"] or again["case"] != component["case"]:
        raise Rejected("the case yields a different release")


REPORTED_DIGITS = 15  # of bounds in JSON: as many as floats have, by which decimals are written
SHOWN = 9  # of bounds in text
LONGEST = 2_000  # digits of an exact number in JSON
LONG = "a rational number"  # that is too long to be written
TAKES = "the adversary may choose a different pair of inputs at each release"


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
        return "no epsilon is enough: for every epsilon, some set of outputs violates the bound"
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
        return f"= {number_words.exact(between.lower)}"
    return f"between {at_least(between.lower, SHOWN)} and {at_most(between.upper, SHOWN)}"


def _equal(value: Fraction) -> str:
    """Returns what a rational is, as the rest of a sentence."""
    told = _short(value)
    return f"is {told}" if told.startswith(LONG) else f"= {told}"


def _short(value: Fraction) -> str:
    """Returns a rational, with a decimal; a long one is told as the decimal alone."""
    told = number_words.exact(value)
    if len(told) > number_words.LONGEST:
        return f"{LONG} {relation(value, SHOWN)}"
    return told if value.denominator == 1 else f"{told} {relation(value, SHOWN)}"


def _composed(composition: Composition) -> list[str]:
    """Returns what was composed, and what that means."""
    told = [
        f"  {printable.name(each.name)}: {each.times:,} time{'s' * (each.times > 1)}"
        for each in composition.components
    ]
    if len(composition.directions) > 1:
        told.append(
            "  neighbours have one person more or less; the number is the larger one of both directions"
        )
    worst = "one pair is the worst for each release, for every epsilon"
    if not composition.single:
        worst = (
            "no pair of inputs is known to be the worst at each release for every epsilon, so the upper "
            "bound uses an artificial pair that dominates all of them, and the lower bound repeats one real "
            "pair"
        )
    told.append(f"  {TAKES}; {worst}")
    return [*told, *(f"  Note: {note}." for note in composition.notes)]


def _how(how: How | None) -> list[str]:
    if how is None:
        return []
    grid = "all losses are on it" if how.lattice else "finer grids give tighter bounds"
    step = relation(Fraction(float(how.step.ball())))
    return [f"  grid: step {step}, {how.points:,} points, {how.bits} bits; {grid}"]


def curve_lines(composition: Composition, found: DeltaCurve) -> list[str]:
    """Returns the points of a curve."""
    between = "linear in the ratio e^epsilon between these corners" if found.linear else "convex in the ratio"
    told = [f"delta for {_releases(composition)}, {between}:"]
    for point in found.points:
        epsilon = f"≈ {point.epsilon:.6g}" if point.ratio != 1 else "= 0"
        value = f"delta {_equal(point.delta)}" if point.exact else f"delta {text_between(point.found)}"
        told.append(f"  ratio {number_words.exact(point.ratio)}, epsilon {epsilon}: {value}")
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
    told = {"ratio": number_words.exact(point.ratio), "epsilon": point.epsilon, "exact": point.exact}
    exact = {"delta": known} if (known := _exact(point.found.exact)) is not None else {}
    return told | exact | _bounds(point.found, "delta")


def _bounds(found: CompositionAnswer, name: str) -> dict[str, Any]:
    between = found.between
    if between.infinite:
        return {f"{name}_lower": "infinity", f"{name}_upper": "infinity"}
    upper = "unknown" if between.upper is None else at_most(between.upper, REPORTED_DIGITS)
    return {f"{name}_lower": at_least(between.lower, REPORTED_DIGITS), f"{name}_upper": upper}


def _exact(value: Fraction | None) -> str | None:
    """Returns an exact number, if it is not too long."""
    told = number_words.exact(value) if value is not None else ""
    return told if told and len(told) <= LONGEST else None


def _common(composition: Composition) -> dict[str, Any]:
    return {
        "releases": composition.times,
        "components": [_component_document(each) for each in composition.components],
        "one_pair": composition.single,
        "directions": len(composition.directions),
        "notes": list(composition.notes),
    }


def _component_document(component: Component) -> dict[str, Any]:
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
