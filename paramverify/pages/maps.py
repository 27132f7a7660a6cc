"""For which values it is private, as a picture that answers: its frame, its first slice, and its data.

The script of the page moves the point and the slice; what it needs is data with exact numbers as texts. The
picture is there without it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, contains
from paramverify.divergences import Event
from paramverify.errors import LimitError, UnsupportedError
from paramverify.models.context import sample_points
from paramverify.models.model import AnyModel
from paramverify.pages import mathml
from paramverify.pages.blanks import COLUMNS, ROWS, blank
from paramverify.pages.drawing import LineStretch, frame_of, line_picture, plane_picture
from paramverify.pages.markup import Element, Part, h
from paramverify.pages.parts import Row, left_out, paragraph, section, table
from paramverify.pages.values import values
from paramverify.pages.work import PageOmission, PrivacyWork
from paramverify.reports import sentences
from paramverify.reports import synthesis_reports as telling
from paramverify.reports.algebraic_numbers import Root, decimal, origin_text, root_text
from paramverify.reports.pictures.ratio_curves import curve_of
from paramverify.reports.synthesis_reports import STANDINGS
from paramverify.synthesis.intervals import StatusInterval
from paramverify.synthesis.maps import Cell, RegionMap, Status
from paramverify.synthesis.safe_values import Intervals, Regions
from paramverify.verdicts import Violated

MOST_CELLS = 40_000
_TOGETHER = "the bound is about all outputs together, and not about one output at a time"
WIDTH = Fraction(1, 10**30)  # of the enclosures of irrational ends
ORDER = (Status.SAFE, Status.VIOLATING, Status.UNDECIDED, Status.OUTSIDE)


@dataclass(frozen=True)
class Interactive:
    """A section of the page, and the data that its script needs, if any."""

    part: Element
    data: Mapping[str, Any] | None = None


def words(status: Status, model: AnyModel) -> str:
    """Returns the word for a region: private, not private, undecided; of an inequality true and false."""
    standing = STANDINGS.get(status)
    return model.word(standing) if standing else "outside the domain"


def region(work: PrivacyWork, number: int) -> Interactive:
    """Returns the map of a case with the values at a point, or what there is of both, in words."""
    model, found = work.case.model, work.values
    parts: list[Part] = []
    data: dict[str, Any] = {}
    start = _start(work)
    try:
        compared = values(model)
    except (LimitError, UnsupportedError) as error:
        reason = str(error) if model.event is Event.OUTPUT else _TOGETHER
        compared, told = {}, left_out("The exact values at a point are left out", reason)
        parts.append(told)
    if start is None or not [b for b in model.domain.box.values() if not b.is_point]:
        start = None if start is None or model.domain.ring.parameters else {}
    match found:
        case PageOmission(reason):
            parts.insert(0, left_out("There is no map", reason))
        case Intervals():
            parts[:0], data["map"] = _line(work, found)
        case Regions():
            parts[:0], data["map"] = _plane(work, found, start)
    if start is None or not compared:
        return Interactive(section("For which values", parts), None)
    data |= compared | {"start": {n: str(v) for n, v in start.items()}, "about": _about(model)}
    panel = _panel(model.domain, number)
    return Interactive(section("For which values", parts, panel, class_="map", id_=f"map-{number}"), data)


def _about(model: AnyModel) -> dict[str, str]:
    return {status.value: words(status, model) for status in ORDER}


def _start(work: PrivacyWork) -> dict[str, Fraction] | None:
    """Returns the point that is shown first: that of the witness, or else a simple one; None for none."""
    domain = work.case.model.domain
    if isinstance(work.report.verdict, Violated):
        told = work.report.verdict.witness.parameters
        point = {name: value for name, value in told.items() if isinstance(value, Fraction)}
        if contains(domain, point):
            return point
    simple = next(sample_points(domain), None)
    return None if simple is None else {n: v for n, v in simple.items() if n != GENERATOR}


# --- one parameter ----------------------------------------------------------------------------------


def _line(work: PrivacyWork, found: Intervals) -> tuple[list[Part], dict[str, Any]]:
    model, partition = work.case.model, found.partition
    domain = model.domain
    curve = curve_of(model, partition.parameter)
    told = _quantified(model, partition.parameter, partition.quantified)
    box = (partition.interval.lower, partition.interval.upper)
    stretches = [LineStretch(p.status, _middle(p.lower), _middle(p.upper)) for p in partition.parts]
    rows: list[list[Part]] = [
        [_interval(piece, domain), h("span", words(piece.status, model), class_=f"word {piece.status}")]
        for piece in partition.parts
    ]
    parts: list[Part] = [
        paragraph(told),
        line_picture(partition.parameter, box, stretches, curve, lambda s: words(s, model)),
        table(f"Values of {partition.parameter}", [h("code", partition.parameter), "verdict"], rows),
    ]
    parts += _best(work, found)
    return parts, {
        "kind": "line",
        "axes": [partition.parameter],
        "parts": [_piece(piece, domain) for piece in partition.parts],
        "frame": frame_of("line", curve is not None),
        "quantified": _ranging(domain, partition.quantified),
    }


def _middle(root: Root) -> Fraction:
    """Returns an end of a part, rounded where it is irrational."""
    near = root.refined(WIDTH)
    return (near.lower + near.upper) / 2


def _stretched(mapped: RegionMap) -> list[LineStretch]:
    """Returns the cells of a map of one parameter, neighbouring ones of one status put together."""
    found: list[LineStretch] = []
    for cell in sorted(mapped.cells, key=lambda cell: cell.box[0]):
        (low, high), status = cell.box[0], cell.status
        if found and found[-1].status is status and found[-1].high == low:
            low = found.pop().low
        found.append(LineStretch(status, low, high))
    return found


def _cut_line(work: PrivacyWork, mapped: RegionMap) -> tuple[list[Part], dict[str, Any]]:
    """Returns the picture of a map of one parameter, and its data: the ends of its parts are rationals."""
    model, (name,) = work.case.model, mapped.parameters
    curve = curve_of(model, name)
    stretches = _stretched(mapped)
    rows: list[Row] = [
        [f"[{s.low}, {s.high}]", h("span", words(s.status, model), class_=f"word {s.status}")]
        for s in stretches
    ]
    parts: list[Part] = [
        paragraph(_quantified(model, name, mapped.quantified)),
        line_picture(name, mapped.box[0], stretches, curve, lambda s: words(s, model)),
        table(f"Values of {name}, within its domain", [h("code", name), "verdict"], rows),
    ]
    return parts, {
        "kind": "line",
        "axes": [name],
        "parts": [
            {
                "status": s.status.value,
                "lower": [str(s.low)] * 2,
                "upper": [str(s.high)] * 2,
                "closed": [True, True],
                "text": f"[{s.low}, {s.high}]",
            }
            for s in stretches
        ],
        "frame": frame_of("line", curve is not None),
        "quantified": _ranging(model.domain, mapped.quantified),
    }


def _interval(piece: StatusInterval, domain: Domain) -> Part:
    ends = [_end(root, domain) for root in (piece.lower, piece.upper)]
    if piece.is_point:
        return ends[0]
    left, right = "(["[piece.lower_closed], ")]"[piece.upper_closed]
    return [left, ends[0], ", ", ends[1], right]


def _end(root: Root, domain: Domain) -> Part:
    shown = mathml.root(root, domain.constant)
    if root.is_rational:
        return shown
    return [shown, f" ≈ {decimal(root)}"] if shown is not None else f"≈ {decimal(root)}, {origin_text(root)}"


def _piece(piece: StatusInterval, domain: Domain) -> dict[str, Any]:
    ends = [root.refined(WIDTH) for root in (piece.lower, piece.upper)]
    lower, upper = ([str(end.lower), str(end.upper)] for end in ends)
    return {
        "status": piece.status.value,
        "lower": lower,
        "upper": upper,
        "closed": [piece.lower_closed, piece.upper_closed],
        "text": _range(piece, domain),
    }


def _range(piece: StatusInterval, domain: Domain) -> str:
    ends = [root_text(root, domain.constant) for root in (piece.lower, piece.upper)]
    if piece.is_point:
        return ends[0]
    return f"{'(['[piece.lower_closed]}{ends[0]}, {ends[1]}{')]'[piece.upper_closed]}"


def _quantified(model: AnyModel, axes: str, quantified: Sequence[str]) -> str:
    domain = model.domain
    ranges = sentences.others(domain, quantified)
    about = f"The picture shows the values of {axes}{sentences.constraints(domain, axes.split(', '))}."
    if not ranges:
        return about
    good, bad = words(Status.SAFE, model), words(Status.VIOLATING, model)
    return f"{about} {good.capitalize()} means: for all {ranges}. {bad.capitalize()} means: not for all."


def _ranging(domain: Domain, names: Sequence[str]) -> list[str]:
    return [name for name in names if not domain.box[name].is_point]


def _best(work: PrivacyWork, found: Intervals | Regions) -> list[Part]:
    domain = work.case.model.domain
    told: list[str] = []
    if found.optimum:
        told.append(telling.optimum_line(found.optimum, domain.constant))
        told += telling.optimum_meaning(found.optimum, domain.ring.unbounded)
    if work.case.design and not found.possible:
        told.append("no value of the design parameters makes it private.")
    return [paragraph(f"{line[:1].upper()}{line[1:]}".strip()) for line in told]


# --- more parameters --------------------------------------------------------------------------------


def _plane(
    work: PrivacyWork, found: Regions, start: Mapping[str, Fraction] | None
) -> tuple[list[Part], dict[str, Any] | None]:
    model, mapped = work.case.model, found.map
    if len(mapped.parameters) == 1:
        parts, drawn = _cut_line(work, mapped)
        return [*parts, _shares(mapped, model), *_best(work, found)], drawn
    cells = [cell for cell in mapped.cells if cell.status is not Status.OUTSIDE]
    if len(cells) > MOST_CELLS:
        reason = f"it has {len(cells):,} cells"
        return [left_out("The map is not drawn", reason), _shares(mapped, model)], None
    shown, others = mapped.parameters[:2], mapped.parameters[2:]
    told = [paragraph(_quantified(model, ", ".join(mapped.parameters), mapped.quantified))]
    if others:
        names = ", ".join(others)
        told.append(paragraph(f"It is a slice at the values of {names} below; the sliders change them."))
    at = start or {n: model.domain.box[n].simplest() for n in mapped.parameters}
    sliced = {n: at[n] for n in others}
    left_blank = blank(model.domain, mapped.parameters, sliced)
    within = sentences.constraints(model.domain)
    if within:
        outside = "Points outside the domain are blank. " if left_blank.constraints else ""
        told.append(paragraph(f"{outside}The verdict on a cell is about its points{within}."))
    if mapped.interrupted:
        told.append(paragraph("The time limit ended the map early, so more of it is undecided."))
    picture = plane_picture(mapped, cells, sliced, lambda s: words(s, model), left_blank)
    data = _cells(mapped, cells) | {
        "kind": "plane",
        "axes": list(shown),
        "others": list(others),
        "frame": frame_of("plane"),
        "quantified": _ranging(model.domain, mapped.quantified),
        "within": within,
        "blank": {"constraints": left_blank.constraints, "columns": COLUMNS, "rows": ROWS},
    }
    return [*told, picture, _shares(mapped, model), *_best(work, found)], data


def _shares(mapped: RegionMap, model: AnyModel) -> Element:
    rows: list[list[Part]] = []
    for status in (Status.SAFE, Status.VIOLATING, Status.UNDECIDED):
        share = mapped.shares[status]
        word = h("span", words(status, model), class_=f"word {status}")
        rows.append([word, sentences.percent(share, 2)])
    return table("Shares of the volume of the domain", ["verdict", "share"], rows)


def _cells(mapped: RegionMap, cells: Sequence[Cell]) -> dict[str, Any]:
    """Returns the cells by the numbers of their ends on each axis, with the claim that decides each."""
    grids = [sorted({end for cell in cells for end in cell.box[k]}) for k in range(len(mapped.parameters))]
    places = [{end: k for k, end in enumerate(grid)} for grid in grids]
    claims: dict[int, int] = {}
    at: dict[str, int] = {}
    listed = []
    for cell in cells:
        ends = [places[k][end] for k, side in enumerate(cell.box) for end in side]
        claim = -1
        if cell.claim is not None and mapped.claims:  # losses are decided without claims
            claim = claims.setdefault(cell.claim, len(claims))
        where = ", ".join(f"{name} = {value}" for name, value in cell.at)
        place = at.setdefault(where, len(at)) if where else -1
        listed.append([ORDER.index(cell.status), *ends, claim, place])
    return {
        "statuses": [status.value for status in ORDER],
        "grids": [[str(end) for end in grid] for grid in grids],
        "cells": listed,
        "claims": [_told(mapped, number) for number in claims],
        "at": list(at),
    }


def _told(mapped: RegionMap, number: int) -> str:
    origins = mapped.claims[number].origins
    return str(origins[0]) if origins else f"claim {number + 1}"


# --- the panel of the point -------------------------------------------------------------------------


def _panel(domain: Domain, number: int) -> Element:
    """Returns the controls of the point, which the script shows, and where it writes the values."""
    rows = []
    for name in domain.ring.parameters:
        if domain.box[name].is_point:
            continue
        own = f"point-{number}-{name}"
        label = h("label", h("code", name), for_=own)
        slider = h("input", type="range", min="0", max="100", step="1", id=own, data_slider=name)
        exact = h("input", type="text", size="12", data_exact=name, aria_label=f"{name}, exactly")
        exact.set("inputmode", "text")
        exact.set("spellcheck", "false")
        exact.set("autocomplete", "off")
        rows.append(h("div", label, slider, exact, class_="control"))
    hint = "Move a slider, or type a number such as 1/3. All values below are computed exactly."
    controls = h("fieldset", h("legend", "A point"), h("p", hint, class_="hint"), rows) if rows else None
    live = h("div", class_="readout", aria_live="polite")
    no_script = h("noscript", h("p", "The values at a point need JavaScript.", class_="left-out"))
    return h("div", controls, live, no_script, class_="panel", hidden=True)
