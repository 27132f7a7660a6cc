"""What `synthesize` found: lines for people, JSON documents, evidence, and region maps as decision trees."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from paramverify.algebra.budgets import Epsilon
from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Constraint, Domain
from paramverify.algebra.polynomials import Unbounded, substitute, variables
from paramverify.algebra.rationals import at_least, at_most, rounded
from paramverify.algebra.real_roots import RealRoot
from paramverify.algebra.reals import Real
from paramverify.algebra.volumes import VolumeShare
from paramverify.answers import End, Open, Standing
from paramverify.claims import AllOutputs, Claim
from paramverify.encodings.choice import claims_of
from paramverify.errors import InputError, TimeLimitError, UnsupportedError
from paramverify.evidence import number_words
from paramverify.evidence.witness import AnyWitness
from paramverify.formats.quantified_questions import AndCondition, in_expressions, question
from paramverify.kernel.strict_reading import counted
from paramverify.models.parameters import Sense
from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.quantifier_elimination import NOT_ASKED, Elimination, by_vertices, check, eliminate
from paramverify.portfolio.session import Options, Session
from paramverify.printable import line
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.larger_ranges import Larger
from paramverify.privacy.runs import AnyRun, told_run
from paramverify.privacy.verification import PrivacyReport
from paramverify.reports import json_documents, sentences, verdict_reports
from paramverify.reports.algebraic_numbers import closed_form, decimal, origin_text, root_document, root_text
from paramverify.reports.case_evidence import evidence_document, evidence_of
from paramverify.reports.sentences import others, verdict
from paramverify.synthesis.intervals import Partition, Root, StatusInterval, condition_of, parts_where
from paramverify.synthesis.maps import RegionMap, Status, stretches
from paramverify.synthesis.safe_values import (
    AnswerForm,
    ExactCondition,
    Intervals,
    Optimum,
    Regions,
    safe_values,
)
from paramverify.synthesis.tiling import Cut, tree
from paramverify.synthesis.violating import Objective, Violating

Answer = tuple[int, dict[str, Any], list[str]]  # exit code, JSON, lines

STANDINGS = {
    Status.SAFE: Standing.HOLDS,
    Status.VIOLATING: Standing.VIOLATED,
    Status.UNDECIDED: Standing.UNKNOWN,
}
PRIVACY = {status: standing.of_case for status, standing in STANDINGS.items()}
MOST_RANGES = 6  # intervals of one status that are written


def words(case: PrivacyCase) -> Mapping[Status, str]:
    """Returns what a status is called: cases of an inequality are true or false, not private."""
    return {status: case.model.word(standing) for status, standing in STANDINGS.items()}


def _verdict(case: PrivacyCase, status: Status, word: str = "") -> str:
    """Returns the word for a status, on whose word and condition it stands, and what it is about."""
    condition = word + sentences.on_condition(case.model) if status is Status.SAFE else ""
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
        ranges = sentences.others(domain, found.quantified)
        rest = f" and {'some' if part.status is Status.VIOLATING else 'all'} {ranges}" if ranges else ""
        if ranges and part.status is Status.VIOLATING and not part.is_point:
            rest += f" (for each {found.parameter}, at least one)"
        lines.append(f"{_verdict(case, part.status)} for {_place(found.parameter, part, digits)}{rest}")
        if number in witnesses:
            lines.append(f"  {witnesses[number].lines()[0]}")
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
            value = _logarithm(root).negative().per(meant.step).told(6, up=False)
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
            entry["witness"] = witnesses[number].answer()
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


def condition_words(case: PrivacyCase, parameters: Sequence[str], condition: str, place: str = "") -> str:
    """Returns for which parameters, with their ranges and those of others, a condition is true.

    `place` are these values in words, if they are not the ranges with the condition.
    """
    domain = case.model.domain
    names = ", ".join(domain.range_of(name) for name in parameters)
    ranges = sentences.others(domain, [n for n in domain.ring.parameters if n not in parameters])
    own = sentences.constraints(domain) if not ranges else ""
    if condition == "FALSE":
        rest = f" and some {ranges}" if ranges else own
        return f"for every {names}{rest}"
    rest = f" and all {ranges}" if ranges else own and f", where{own.removeprefix(' with')}"
    place = place or f"{names} with {condition}"
    which = f"for every {names}" if condition == "TRUE" else f"exactly for {place}"
    return f"{which}{rest}"


def _place_of(case: PrivacyCase, found: Elimination) -> str:
    """Returns the intervals of one free parameter in which a condition is true; "" if it is about several."""
    domain = case.model.domain
    if len(case.free) > 1 or domain.ring.unbounded or case.free[0] not in domain.box:
        return ""
    (name,) = case.free
    condition = AndCondition((found.condition, found.assumptions))
    parts = parts_where(condition, name, domain.box[name], domain.ring)
    partition = Partition(name, (), domain.box[name], (), parts)
    digits, safe = _digits(partition), partition.having(Status.SAFE)
    if not 0 < len(safe) <= MOST_RANGES:
        return ""
    legend = _legend(replace(partition, parts=safe), domain, digits)
    told = " or ".join(_place(name, part, digits) for part in safe)
    return f"{told} ({'; '.join(legend)})" if legend else told


# --- optimum -----------------------------------------------------------------------------------------


def optimum_line(found: Optimum, constant: ExpConstant | None) -> str:
    """Returns the best value of a design parameter in words."""
    what = f"{'largest' if found.sense == Sense.MAXIMISE else 'smallest'} {found.parameter}"
    if found.some:
        what += f" with the best {' and '.join(found.some)}"
    if found.value is not None:
        reached = {True: "", False: ", approached but not reached", None: ", approached or reached"}
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
    return [f"{what} {_logarithm(found.value).negative().per(Fraction(meant.step)).told(6, up=False)}"]


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


def map_lines(
    case: PrivacyCase, found: RegionMap, witness: AnyWitness | None, instead: str = ""
) -> list[str]:
    """Returns the shares of a region map in words; `instead` says why there are no exact intervals."""
    names = ", ".join(found.parameters)
    cells = sum(1 for _ in found.listed)
    domain = case.model.domain
    ranging = [domain.range_of(n) for n in found.quantified if not domain.box[n].is_point]
    rest = f" for all {', '.join(ranging)}" if ranging else ""
    rest += sentences.constraints(domain)
    over = names if len(found.parameters) == 1 else f"({names})"
    head = f"{case.budget} over {over}{rest}: {counted(cells, 'cell')} in {found.seconds:.2g} s"
    head += sentences.but(case.model)
    where = _places(found, domain)
    lines = [
        head,
        *([f"  {instead}"] if instead else []),
        *(
            f"  symmetric: only {' <= '.join(names)} was cut; all other orders mirror it"
            for names in found.folds
        ),
        *(
            f"  {sentences.percent(found.shares[status], 2):>9} {name}{where.get(status, '')}"
            for status, name in words(case).items()
        ),
    ]
    if found.shares[Status.SAFE].upper == 0 < found.shares[Status.UNDECIDED].upper:
        lines.append("  shares are of the volume: single lines or points in undecided cells may be private")
    if where.get(Status.UNDECIDED) and not found.interrupted:
        nearer = "  a smaller --coverage brings these ends nearer to the exact ones"
        lines.append(nearer if instead else f"{nearer}, which --exact looks for")
    if witness:
        lines.append(f"  {witness.lines()[0]}")
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
        lines.append(f"  the cells are kept in {state}; the same command continues from there")
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
    return document | ({"witness": witness.answer()} if witness else {})


def _share(share: VolumeShare) -> str | dict[str, str]:
    if share.exact:
        return str(share.lower)
    return {"lower": str(share.lower), "upper": str(share.upper)}


# --- violating priors --------------------------------------------------------------------------------


def violating_lines(case: PrivacyCase, found: Violating, run: AnyRun | None = None) -> list[str]:
    """Returns a violating prior in words, with the supremum or the distance where that was asked for.

    `run` is the run of a program behind it.
    """
    if found.witness is None and found.complete:
        where = sentences.priors(case.model.domain, case)
        word = sentences.on_word(found.decisions)
        lines = [f"{_verdict(case, Status.SAFE, word)} {where}; nothing violates it."]
        return lines + ([f"  {_supremum(found)}"] if found.supremum else [])
    if found.witness is None:
        return [f"{_verdict(case, Status.UNDECIDED)}: {found.reason}"]
    told = [*found.witness.lines(), *verdict_reports.run_lines(run)]
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
        value = number_words.number(best.value)
    elif best.high is not None:
        value = f"between {at_least(best.low, 9)} and {at_most(best.high, 9)}"
    else:
        value = f"at least {at_least(best.low, 9)}"
    return f"The largest {what} over all priors is {value}; {reached[best.attained]}."


def _plain(value: Fraction) -> str:
    exact = str(value)
    return exact if len(exact) <= 12 else rounded(value, 9)


def violating_document(case: PrivacyCase, found: Violating, run: AnyRun | None = None) -> dict[str, Any]:
    """Returns a violating prior as JSON, with `status` violated, holds or unknown."""
    undecided = Standing.HOLDS if found.complete else Standing.UNKNOWN
    status = Standing.VIOLATED if found.witness else undecided
    document: dict[str, Any] = json_documents.standing(status, case.model)
    document |= {"complete": found.complete, **sentences.words(found.decisions)}
    if found.reason:
        document["reason"] = found.reason
    if found.witness:
        document["witness"] = found.witness.answer() | verdict_reports.run_document(run)
    best = found.supremum
    if best:
        name = "relative_supremum" if found.relative else "supremum"
        if best.infinite:
            document[name] = "infinity"
        elif isinstance(best.value, RealRoot):
            document[name] = root_document(best.value)
        elif isinstance(best.value, Real):
            document[name] = number_words.real(best.value)
        else:
            upper = str(best.high) if best.high is not None else "unknown"
            document[name] = {"lower": str(best.low), "upper": upper}
        document["attained"] = best.attained
    if found.nearer is not None:
        document |= {"distance_lower": str(found.nearer), "distance": str(found.distance)}
    return document


@dataclass(frozen=True, eq=False)
class AnswerText:
    """An answer in words and as JSON data.

    `complete` tells whether it is what was asked for, `possible` whether some value of design parameters, if
    there are any, is private.
    """

    lines: list[str]
    document: dict[str, Any]
    complete: bool = True
    possible: bool = True


def found_values(
    case: PrivacyCase, found: Intervals | ExactCondition | Regions, larger: Larger | None = None
) -> AnswerText:
    """Returns what was found about the values for which a case is private, and about which inputs.

    It may not be private for `larger` ones.
    """
    answer = _told(case, found)
    about = [f"The answer is about {case.compared(free=True)}."] if case.over else []
    if larger:
        point, *more = larger.witness.lines()
        about += [f"The answer does not hold for larger inputs. Not private for {larger.over}: {point}"]
        about += [f"  {line}" for line in more]
    document = {**answer.document, **json_documents.larger(larger)}
    return replace(answer, lines=[*answer.lines, *about], document=document)


def _told(case: PrivacyCase, found: Intervals | ExactCondition | Regions) -> AnswerText:
    match found:
        case Intervals():
            document = {"form": "exact", **partition_document(case, found.partition, found.witnesses)}
            lines = partition_lines(case, found.partition, found.witnesses)
            return _with_optimum(case, found, AnswerText(lines, document, found.complete))
        case ExactCondition():
            return _condition(case, found)
        case Regions():
            document = {"form": "region", **map_document(case, found.map, found.witness)}
            lines = map_lines(case, found.map, found.witness, found.instead)
            if found.instead:
                document["instead"] = found.instead
            return _with_optimum(case, found, AnswerText(lines, document, found.complete))


def _with_optimum(case: PrivacyCase, found: Intervals | Regions, answer: AnswerText) -> AnswerText:
    """Returns an answer with the best value of a design parameter."""
    lines, document = list(answer.lines), dict(answer.document)
    if found.optimum:
        domain = case.model.domain
        lines.append(optimum_line(found.optimum, domain.constant))
        lines += optimum_meaning(found.optimum, domain.ring.unbounded)
        document["optimum"] = optimum_document(found.optimum, domain.constant)
    possible = not case.design or found.possible
    if not possible:
        lines.append("no value of the design parameters makes the case private")
    return AnswerText(lines, document, answer.complete, possible)


def _condition(case: PrivacyCase, answer: ExactCondition) -> AnswerText:
    found, names = answer.found, ", ".join(answer.parameters)
    document: dict[str, Any] = {"form": "exact", "parameters": list(answer.parameters)}
    if isinstance(found, Open):
        late = found.end is End.TIMEOUT
        reason = found.detail if late else f"{found.end.value}: {found.detail}"
        lines = [
            f"no condition on {names} was found: {reason}",
            f"  Use {'a larger --timeout, ' if late else ''}-D to fix a parameter, or --region for a map.",
        ]
        return AnswerText(
            lines,
            document | json_documents.standing(Standing.UNKNOWN, case.model) | {"reason": reason},
            complete=False,
        )
    points = f"{found.checked} point{'s' * (found.checked != 1)}"
    line = condition_line(case, answer.parameters, found.text)
    document |= {"condition": found.text, "checked": found.checked, **given(case.model.domain)}
    return AnswerText([line, f"  on the word of QEPCAD; compared exactly at {points}"], document)


def prior(case: PrivacyCase, found: Violating, wanted: Objective) -> AnswerText:
    """Returns a violating prior, or that there is none."""
    run = told_run(case, found.witness) if found.witness else None
    document = {"form": "witness", "objective": wanted.value, **violating_document(case, found, run)}
    complete = found.witness is not None or found.complete
    return AnswerText(violating_lines(case, found, run), document, complete)


def prior_evidence(case: PrivacyCase, session: Session, found: Violating) -> dict[str, Any]:
    """Returns the evidence of a violating prior, or of the proof that there is none."""
    _, obligations = discharge(session, case.model)
    said = evidence_of(case).of_prior(session, found)
    return evidence_document(case, PrivacyReport.of(case.model, said, obligations))


FOR_QEPCAD = 0.5  # of the time; the rest is for procedures of this package


def quantified_lines(case: PrivacyCase, seconds: float, qepcad: bool = True) -> dict[str, str]:
    """Returns what is said besides a verdict, each under its name; without `qepcad`, it is not asked.

    Raises:
        InputError: the case has `[quantify]`, and claims from which no parameter can be eliminated.
    """
    found = _quantified_condition(case, seconds, qepcad) if case.free else {}
    if case.design:
        names = ", ".join(case.design.parameters)
        found["design"] = (
            f"the verdict is about every {names}; use `synthesize` to find those that are private"
        )
    return found


def _quantified_condition(case: PrivacyCase, seconds: float, qepcad: bool) -> dict[str, str]:
    """Returns the condition on the free parameters under which the case is private for all others."""
    model = case.model
    if model.every_length:
        raise InputError("[quantify] needs a finite privacy.length")
    claims = claims_of(model)
    if model.comparisons and any(claim.domain is not model.domain for claim in claims):
        raise InputError("[quantify] needs claims with <=, >= or ==, without < and >")
    started = time.monotonic()
    found: Elimination | Open = NOT_ASKED
    if qepcad:
        found = eliminate(claims, case.free, model.domain, seconds * FOR_QEPCAD)
    how = "on the word of QEPCAD"
    if isinstance(found, Open):
        own, how = _without_qepcad(case, claims, max(0.01, seconds - (time.monotonic() - started)))
        if own is None:
            late = found.end is End.TIMEOUT
            why = f"{found.detail}; use a larger --timeout" if late else f"{found.end.value}: {found.detail}"
            return {"condition": f"undecided, {why}"}
        found = own
    points = f"{found.checked} point{'s' * (found.checked != 1)}"
    standing = Standing.VIOLATED if found.text == "FALSE" else Standing.HOLDS
    where = condition_words(case, case.free, found.text, _place_of(case, found))
    told = f"{verdict(standing, model)} {where} ({how}; compared exactly at {points})"
    return {"condition": told}


def _without_qepcad(
    case: PrivacyCase, claims: Sequence[Claim], seconds: float
) -> tuple[Elimination | None, str]:
    """Returns the condition by procedures of this package, and how it was shown to be equivalent."""
    domain = case.model.domain
    with Session(Options(seconds=seconds)) as session:
        try:
            found = by_vertices(claims, case.free, domain, session)
            if found is not None:
                return found, "proved from the ends of the other parameters"
            parts = safe_values(case, session, case.free, {AnswerForm.INTERVALS})
            if not isinstance(parts, Intervals):
                return None, ""
            condition = condition_of(parts.partition, domain.ring)
            if condition is None:
                return None, ""
            polynomials = [claim.polynomial for claim in claims]
            whole = question(polynomials, domain, case.free)
            checked = check(condition, claims, domain, whole, session.deadline)
        except (UnsupportedError, TimeLimitError):
            return None, ""
    given = AndCondition(whole.assumptions)
    return Elimination(condition, given, in_expressions(condition), "", checked), "by exact projection"


FORMAT, VERSION = "paramverify-tree", 1
TREES = (".json", ".py")  # suffixes of files
BESIDE = {Status.OUTSIDE: "outside", Status.MIRRORED: "mirrored"}

MODULE = '''"""{title}: {budget}{quantified}

verdict({named}) returns what is proved at a point{besides}, or "outside" if it is not in the domain.
Numbers are exact: Fraction, int, or text such as "1/3".
"""

from fractions import Fraction
from math import prod

PARAMETERS = {parameters!r}
BOX = {box!r}  # lower and upper ends
CLOSED = {closed!r}  # whether these ends belong to the domain
CONSTRAINTS = (  # sums that are at least 0, or more than 0 if True: coefficients, each with its exponents
{constraints}
)
SYMMETRIC = {symmetric!r}  # these parameters may be exchanged
NODES = (  # a verdict, or: the number of a parameter, its value, the nodes up to that value and beyond
{nodes}
)


def within(values):
    for value, ends, closed in zip(values, BOX, CLOSED):
        low, high = map(Fraction, ends)
        if not low <= value <= high or value == low and not closed[0] or value == high and not closed[1]:
            return False
    for strict, terms in CONSTRAINTS:
        total = sum(Fraction(c) * prod(v**e for v, e in zip(values, powers)) for c, powers in terms)
        if total < 0 or strict and total == 0:
            return False
    return True


def verdict(**point):
    values = [Fraction(point[name]) for name in PARAMETERS]
    if not within(values):
        return "outside"
    for names in SYMMETRIC:
        places = [PARAMETERS.index(name) for name in names]
        for place, value in zip(places, sorted(values[k] for k in places)):
            values[place] = value
    node = NODES[0]
    while not isinstance(node, str):
        axis, at, below, above = node
        node = NODES[below if values[axis] <= Fraction(at) else above]
    return node
'''


def document(case: PrivacyCase, found: RegionMap) -> dict[str, Any]:
    """Returns the decision tree of a map as JSON data: nodes, number 0 first, numbers as text.

    Of a constraint on the parameters of the map and on fixed ones there are the terms; any other one is told.
    """
    names, domain = {**words(case), **BESIDE}, case.model.domain
    nodes: list[Any] = []
    for node in tree(found.box, list(found.cells)):
        if isinstance(node, Cut):
            name = found.parameters[node.axis]
            nodes.append(
                {"parameter": name, "at": str(node.at), "below": node.below, "above": node.above},
            )
        else:
            nodes.append({"verdict": names[node.status]})
    intervals = [domain.box[name] for name in found.parameters]
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": case.title,
        "budget": str(case.budget),
        "parameters": list(found.parameters),
        "box": [[str(low), str(high)] for low, high in found.box],
        "closed": [[interval.lower_closed, interval.upper_closed] for interval in intervals],
        "for_all": others(domain, found.quantified),
        "constraints": [
            _constraint(constraint, domain, found.parameters) for constraint in domain.constraints
        ],
        "symmetric": [list(fold) for fold in found.folds],
        "nodes": nodes,
    }


def _constraint(constraint: Constraint, domain: Domain, free: Sequence[str]) -> dict[str, Any]:
    fixed = {name: i.lower for name, i in domain.box.items() if i.is_point and name not in free}
    polynomial = substitute(constraint.polynomial, fixed) if fixed else constraint.polynomial
    if not set(variables(polynomial)) <= set(free):
        return {"text": constraint.text}
    places = [domain.ring.names.index(name) for name in free]
    terms = [
        [str(Fraction(int(c.p), int(c.q))), [int(exponents[k]) for k in places]]
        for exponents, c in polynomial.to_dict().items()
    ]
    return {"text": constraint.text, "strict": constraint.strict, "terms": terms}


def module(case: PrivacyCase, found: RegionMap) -> str:
    """Returns the decision tree of a map as a Python module with a function `verdict`."""
    told = document(case, found)
    nodes = [
        repr(node["verdict"])
        if "verdict" in node
        else repr((told["parameters"].index(node["parameter"]), node["at"], node["below"], node["above"]))
        for node in told["nodes"]
    ]
    counted = [
        (one["strict"], tuple((c, tuple(powers)) for c, powers in one["terms"]))
        for one in told["constraints"]
        if "terms" in one
    ]
    unseen = dict.fromkeys(c["text"] for c in told["constraints"] if "terms" not in c)
    besides = [text for text in unseen if text not in told["for_all"]]
    return MODULE.format(
        title=_plain_tree(told["title"] or ""),
        budget=_plain_tree(told["budget"]),
        quantified=_plain_tree(f", for all {told['for_all']}" if told["for_all"] else ""),
        besides=_plain_tree(f" with {', '.join(besides)}" if besides else ""),
        named=", ".join(f"{name}=..." for name in told["parameters"]),
        parameters=tuple(told["parameters"]),
        box=tuple(map(tuple, told["box"])),
        closed=tuple(map(tuple, told["closed"])),
        constraints="\n".join(f"    {one!r}," for one in counted),
        symmetric=tuple(map(tuple, told["symmetric"])),
        nodes="\n".join(f"    {node}," for node in nodes),
    )


def text(case: PrivacyCase, found: RegionMap, suffix: str) -> str:
    """Returns the decision tree as the text of a file with this suffix, .py or .json."""
    return module(case, found) if suffix == ".py" else json.dumps(document(case, found), indent=1) + "\n"


def _plain_tree(told: str) -> str:
    """Returns text that may stand in a docstring."""
    return line(told).replace("\\", "/").replace('"', "'")
