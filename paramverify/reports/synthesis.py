"""How `synthesize` tells what it found: lines for people, and JSON documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.decimals import at_least, at_most, rounded
from paramverify.algebra.domains import Domain
from paramverify.algebra.exponents import Unbounded
from paramverify.algebra.logarithms import Epsilon
from paramverify.algebra.realroots import RealRoot
from paramverify.algebra.reals import Real
from paramverify.algebra.volumes import VolumeShare
from paramverify.answers import Standing
from paramverify.checker.strict import counted
from paramverify.claims import AllOutputs
from paramverify.evidence.witnesses import AnyWitness
from paramverify.models.design import Sense
from paramverify.models.inequality import Inequality
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.runs import LeftOut, ToldRun
from paramverify.reports import documents, runs, text
from paramverify.reports.roots import closed_form, decimal, origin_text, root_document, root_text
from paramverify.synthesis.intervals import Partition, Root, StatusInterval
from paramverify.synthesis.maps import RegionMap, Status, stretches
from paramverify.synthesis.optimum import Optimum
from paramverify.synthesis.violating import Violating

Answer = tuple[int, dict[str, Any], list[str]]  # exit code, JSON, lines

PRIVACY = {Status.SAFE: "private", Status.VIOLATING: "not private", Status.UNDECIDED: "undecided"}
MOST_RANGES = 6  # intervals of one status that are written
CLAIM = {Status.SAFE: "true", Status.VIOLATING: "false", Status.UNDECIDED: "undecided"}


def words(case: PrivacyCase) -> Mapping[Status, str]:
    """Returns what a status is called: cases of an inequality are true or false, not private."""
    return CLAIM if isinstance(case.model, Inequality) else PRIVACY


def _verdict(case: PrivacyCase, status: Status, word: str = "") -> str:
    """Returns the word for a status, on whose word and condition it stands, and what it is about."""
    condition = word + text.on_condition(case.model) if status is Status.SAFE else ""
    return f"{words(case)[status]}{condition}: {case.budget}"


# --- intervals ---------------------------------------------------------------------------------------


def partition_lines(case: PrivacyCase, found: Partition, witnesses: Mapping[int, AnyWitness]) -> list[str]:
    """Returns the parts in words, each violating one with its witness, and what the irrational ends are."""
    domain = case.model.domain
    lines: list[str] = []
    digits = _digits(found)
    for number, part in enumerate(found.parts):
        if part.status is Status.OUTSIDE:
            continue
        ranges = text.others(domain, found.quantified)
        rest = f" and {'some' if part.status is Status.VIOLATING else 'all'} {ranges}" if ranges else ""
        lines.append(f"{_verdict(case, part.status)} for {_place(found.parameter, part, digits)}{rest}")
        if number in witnesses:
            lines.append(f"  {text.witness_lines(witnesses[number])[0]}")
    return lines + _legend(found, domain, digits)


def _digits(found: Partition) -> int:
    """Returns how many digits tell the ends of the parts apart."""
    ends = [found.parts[0].lower, *(part.upper for part in found.parts if not part.is_point)]
    return next((n for n in (6, 9, 12) if len({_short(r, n) for r in ends}) == len(ends)), 15)


def _place(name: str, part: StatusInterval, digits: int) -> str:
    if part.is_point:
        return f"{name} = {_short(part.lower, digits)}"
    left, right = "(["[part.lower_closed], ")]"[part.upper_closed]
    return f"{name} in {left}{_short(part.lower, digits)}, {_short(part.upper, digits)}{right}"


def _short(root: Root, digits: int = 6) -> str:
    return str(root.lower) if root.is_rational else f"≈ {decimal(root, digits)}"


def _legend(found: Partition, domain: Domain, digits: int) -> list[str]:
    constant = domain.constant
    meant = next((u for u in domain.ring.tied if u.variable == found.parameter), None)
    roots = [root for part in found.parts for root in (part.lower, part.upper) if not root.is_rational]
    ends = {_short(root, digits): root for root in roots}
    lines = []
    for shown, root in ends.items():
        exact = closed_form(root, constant)
        told = f"{exact}, {origin_text(root)}" if exact else origin_text(root)
        if constant is not None and not isinstance(root, RealRoot):
            told += f" with E = exp({constant.exponent})"
        if meant is not None:
            value = _logarithm(root).negative().per(meant.step).told(6)
            told += f", where {meant.name} {value if value.startswith('≈') else f'= {value}'}"
        lines.append(f"{shown} stands for {told}")
    return lines


def partition_document(
    case: PrivacyCase, found: Partition, witnesses: Mapping[int, AnyWitness]
) -> dict[str, Any]:
    """Returns the parts with exact ends; open or closed as in `[lower, upper)`."""
    parts, domain = [], case.model.domain
    for number, part in enumerate(found.parts):
        entry: dict[str, Any] = {
            "status": part.status.value,
            **({} if part.status is Status.OUTSIDE else {"verdict": words(case)[part.status]}),
            "interval": "(["[part.lower_closed] + ", " + ")]"[part.upper_closed],
            "lower": root_document(part.lower, domain.constant),
            "upper": root_document(part.upper, domain.constant),
        }
        if part.sample is not None:
            entry["sample"] = str(part.sample)
        if number in witnesses:
            entry["witness"] = documents.witness(witnesses[number])
        parts.append(entry)
    quantified = {"quantified": list(found.quantified), **given(domain)}
    return {"parameter": found.parameter, **quantified, "parts": parts}


def given(domain: Domain) -> dict[str, list[str]]:
    """Returns the constraints of a domain as JSON data, if there are any."""
    told = list(dict.fromkeys(c.text for c in domain.constraints))
    return {"constraints": told} if told else {}


def condition_line(case: PrivacyCase, parameters: Sequence[str], condition: str) -> str:
    """Returns a verdict with a quantifier-free condition in words; see `condition_words`."""
    status = Status.VIOLATING if condition == "FALSE" else Status.SAFE
    return f"{_verdict(case, status)} {condition_words(case, parameters, condition)}"


def condition_words(case: PrivacyCase, parameters: Sequence[str], condition: str) -> str:
    """Returns for which parameters, with their ranges and those of others, a condition is true."""
    domain = case.model.domain
    names = ", ".join(domain.range_of(name) for name in parameters)
    ranges = text.others(domain, [n for n in domain.ring.parameters if n not in parameters])
    own = text.constraints(domain) if not ranges else ""
    if condition == "FALSE":
        rest = f" and some {ranges}" if ranges else own
        return f"for every {names}{rest}"
    rest = f" and all {ranges}" if ranges else own and f", where{own.removeprefix(' with')}"
    which = f"for every {names}" if condition == "TRUE" else f"exactly for {names} with {condition}"
    return f"{which}{rest}"


# --- optimum -----------------------------------------------------------------------------------------


def optimum_line(found: Optimum, constant: ExpConstant | None) -> str:
    """Returns the best value of a design parameter in words."""
    what = f"{'largest' if found.sense == Sense.MAXIMISE else 'smallest'} {found.parameter}"
    if found.some:
        what += f" with the best {' and '.join(found.some)}"
    if found.value is not None:
        reached = {True: "", False: ", approached and not reached", None: ", approached or reached"}
        exact = closed_form(found.value, constant)
        shown = _short(found.value)
        told = f"{exact} ({shown})" if exact and exact != shown else shown
        return f"{what}: {told}{reached[found.attained]}"
    assert found.lower is not None or found.upper is not None
    if found.lower is None or found.upper is None:
        return f"{what}: no private value was found"
    return f"{what}: between {at_least(found.lower)} and {at_most(found.upper)}, both certified"


def optimum_meaning(found: Optimum, unbounded: Sequence[Unbounded]) -> list[str]:
    """Returns what the best value of x_eps says of eps, a parameter of the domain (0, ∞), in words."""
    meant = next((u for u in unbounded if u.variable == found.parameter), None)
    if meant is None or found.value is None or (found.value.is_rational and found.value.lower == 1):
        return []
    what = f"  so the {'smallest' if found.sense == Sense.MAXIMISE else 'largest'} {meant.name} is"
    if found.value.is_rational:
        value = found.value.lower
        return [f"{what} {meant.at(value)}" if value else f"  so {meant.name} may be as large as you like"]
    return [f"{what} {_logarithm(found.value).negative().per(Fraction(meant.step)).told(6)}"]


def _logarithm(root: Root) -> Epsilon:
    """Returns the logarithm of an irrational number between 0 and 1."""
    if isinstance(root, RealRoot):
        return Epsilon.of(root)
    while root.lower <= 0 or root.upper >= 1:
        root = root.halved()
    small = root.refined(min(root.lower, 1 - root.upper) / 10**15)
    return replace(Epsilon.between(small.lower, small.upper), sharp=True)


def optimum_document(found: Optimum, constant: ExpConstant | None) -> dict[str, Any]:
    """Returns the best value of a design parameter, exact or with bounds."""
    document: dict[str, Any] = {"parameter": found.parameter, "sense": found.sense.value}
    document |= {"for_some": list(found.some)} if found.some else {}
    if found.value is not None:
        return document | {"value": root_document(found.value, constant), "attained": found.attained}
    bounds = {"lower": found.lower, "upper": found.upper}
    return document | {name: str(v) if v is not None else "unknown" for name, v in bounds.items()}


# --- region maps -------------------------------------------------------------------------------------


def map_lines(case: PrivacyCase, found: RegionMap, witness: AnyWitness | None) -> list[str]:
    """Returns the shares of a region map in words."""
    names = ", ".join(found.parameters)
    cells = sum(1 for _ in found.listed)
    domain = case.model.domain
    ranging = [domain.range_of(n) for n in found.quantified if not domain.box[n].is_point]
    rest = f" for all {', '.join(ranging)}" if ranging else ""
    rest += text.constraints(domain)
    over = names if len(found.parameters) == 1 else f"({names})"
    head = f"{case.budget} over {over}{rest}: {counted(cells, 'cell')} in {found.seconds:.2g} s"
    head += text.but(case.model)
    where = _places(found, domain)
    lines = [
        head,
        *(
            f"  symmetric: only {' <= '.join(names)} was cut, all other orders mirror it"
            for names in found.folds
        ),
        *(
            f"  {text.percent(found.shares[status], 2):>9} {name}{where.get(status, '')}"
            for status, name in words(case).items()
        ),
    ]
    if where.get(Status.UNDECIDED) and not found.interrupted:
        lines.append("  a smaller --coverage finds these ends more exactly")
    if witness:
        lines.append(f"  {text.witness_lines(witness)[0]}")
    return lines + (["  interrupted: the rest of the box is undecided"] if found.interrupted else [])


def ranges(found: RegionMap, domain: Domain) -> list[tuple[Status, str]]:
    """Returns the intervals of a map of one parameter, in order, each within the domain."""
    (name,) = found.parameters
    whole = domain.box[name]
    shown = []
    for status, low, high in stretches(found):
        decided = status in (Status.SAFE, Status.VIOLATING)
        left = whole.lower_closed if low == whole.lower else decided
        right = whole.upper_closed if high == whole.upper else decided
        shown.append((status, f"{'(['[left]}{low}, {high}{')]'[right]}"))
    return shown


def _places(found: RegionMap, domain: Domain) -> dict[Status, str]:
    """Returns where each status is on the line of one parameter, after a colon."""
    if len(found.parameters) != 1:
        return {}
    by_status: dict[Status, list[str]] = {}
    for status, interval in ranges(found, domain):
        by_status.setdefault(status, []).append(interval)
    told = {}
    for status, intervals in by_status.items():
        more = f" and {len(intervals) - MOST_RANGES} more" if len(intervals) > MOST_RANGES else ""
        told[status] = f": {found.parameters[0]} in {', '.join(intervals[:MOST_RANGES])}{more}"
    return told


def so_far(
    case: PrivacyCase, shares: Mapping[Status, float], state: Path | None
) -> tuple[list[str], dict[str, Any]]:
    """Returns what is known of a map that a limit ended; shares are of the volume of the box, rounded."""
    named = words(case)
    parts = [f"≈ {100 * share:.2f} % {named.get(s, s.value)}" for s, share in shares.items()]
    lines = [f"  of the box so far: {', '.join(parts)}"]
    document: dict[str, Any] = {
        "form": "region",
        "of_the_box": {s.value: round(share, 6) for s, share in shares.items()},
    }
    if state:
        lines.append(f"  the cells are kept in {state}; the same command goes on from there")
        document["kept_in"] = str(state)
    return lines, document


def map_document(case: PrivacyCase, found: RegionMap, witness: AnyWitness | None) -> dict[str, Any]:
    """Returns a region map: shares of the domain, exact or between bounds, and every cell with its box."""
    cells = []
    for cell in (c for c in found.cells if c.status is not Status.MIRRORED):
        entry: dict[str, Any] = {
            "status": cell.status.value,
            "box": [[str(low), str(high)] for low, high in cell.box],
        }
        if cell.at:
            entry["at"] = {name: str(value) for name, value in cell.at}
        cells.append(entry)
    document: dict[str, Any] = {
        "parameters": list(found.parameters),
        "quantified": list(found.quantified),
        **given(case.model.domain),
        **({"symmetric": [list(names) for names in found.folds]} if found.folds else {}),
        "shares": {status.value: _share(found.shares[status]) for status in PRIVACY},
        "verdicts": {status.value: word for status, word in words(case).items()},
        "interrupted": found.interrupted,
        "seconds": round(found.seconds, 6),
        "cells": cells,
    }
    return document | ({"witness": documents.witness(witness)} if witness else {})


def _share(share: VolumeShare) -> str | dict[str, str]:
    if share.exact:
        return str(share.lower)
    return {"lower": str(share.lower), "upper": str(share.upper)}


# --- violating priors --------------------------------------------------------------------------------


def violating_lines(case: PrivacyCase, found: Violating, run: ToldRun | LeftOut | None = None) -> list[str]:
    """Returns a violating prior in words, with the supremum or the distance where that was asked for.

    `run` is the run of a program behind it.
    """
    if found.witness is None and found.complete:
        domain = case.model.domain
        claimed = isinstance(case.model, Inequality)
        where = text.points(domain) if claimed else text.priors(domain, case)
        word = text.on_word(found.decisions)
        lines = [f"{_verdict(case, Status.SAFE, word)} {where}; nothing violates it."]
        return lines + ([f"  {_supremum(found)}"] if found.supremum else [])
    if found.witness is None:
        return [f"{_verdict(case, Status.UNDECIDED)}: {found.reason}"]
    told = [*text.witness_lines(found.witness), *runs.lines(run)]
    lines = [f"{_verdict(case, Status.VIOLATING)}.", *(f"  {line}" for line in told)]
    if found.supremum:
        lines.append(f"  {_supremum(found)}")
    if found.nearer is not None and found.distance is not None:
        at_least = f"and nothing nearer than {_plain(found.nearer)} violates it"
        lines.append(f"  It is at distance {_plain(found.distance)}, {at_least} (maximum norm).")
    if not found.complete and found.reason:
        lines.append(f"  Note: {found.reason}.")
    return lines


def _supremum(found: Violating) -> str:
    best = found.supremum
    assert best is not None
    name = "sum" if isinstance(best.origin, AllOutputs) else "ratio"
    what = f"{name} divided by the bound" if found.relative else name
    if best.infinite:
        return f"The {what} has no upper bound over all priors."
    reached = {
        True: "reached",
        False: "approached, not reached",
        None: "whether it is reached is not decided",
    }
    if isinstance(best.value, RealRoot):
        value = root_text(best.value)
    elif isinstance(best.value, Real):
        value = text.number(best.value)
    elif best.upper is not None:
        value = f"between {at_least(best.lower, 9)} and {at_most(best.upper, 9)}"
    else:
        value = f"at least {at_least(best.lower, 9)}"
    return f"The largest {what} over all priors is {value}; {reached[best.attained]}."


def _plain(value: Fraction) -> str:
    exact = str(value)
    return exact if len(exact) <= 12 else rounded(value, 9)


def violating_document(
    case: PrivacyCase, found: Violating, run: ToldRun | LeftOut | None = None
) -> dict[str, Any]:
    """Returns a violating prior as JSON, with `status` violated, holds or unknown."""
    undecided = Standing.HOLDS if found.complete else Standing.UNKNOWN
    status = Standing.VIOLATED if found.witness else undecided
    document: dict[str, Any] = documents.standing(status, case.model)
    document |= {"complete": found.complete, **text.words(found.decisions)}
    if found.reason:
        document["reason"] = found.reason
    if found.witness:
        document["witness"] = documents.witness(found.witness) | runs.document(run)
    best = found.supremum
    if best:
        name = "relative_supremum" if found.relative else "supremum"
        if best.infinite:
            document[name] = "infinity"
        elif isinstance(best.value, RealRoot):
            document[name] = root_document(best.value)
        elif isinstance(best.value, Real):
            document[name] = documents.real(best.value)
        else:
            upper = str(best.upper) if best.upper is not None else "unknown"
            document[name] = {"lower": str(best.lower), "upper": upper}
        document["attained"] = best.attained
    if found.nearer is not None:
        document |= {"distance_lower": str(found.nearer), "distance": str(found.distance)}
    return document
