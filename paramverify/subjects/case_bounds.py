"""The least bounds of cases with a mechanism: of ratios, divergences, and of ε and δ over sets of outputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.domains import check_names
from paramverify.algebra.rationals import at_least
from paramverify.answers import Standing
from paramverify.claims import AllOutputs
from paramverify.errors import InputError
from paramverify.evidence import number_words
from paramverify.models.enclosed_models import EnclosedModel
from paramverify.models.model import SETS, need_privacy
from paramverify.portfolio.obligations import undoubted
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.other_bounds import is_total_variation, load_for_least, load_with_bounds
from paramverify.privacy.sides import measured
from paramverify.reports import budgets, case_budgets, json_documents, sentences
from paramverify.reports.budget_evidence import set_budget_document
from paramverify.subjects.questions import PRECISION, Budget
from paramverify.subjects.results import Result, evidence_with
from paramverify.subjects.subject import CaseFile, Watch
from paramverify.subjects.written_numbers import read_point
from paramverify.synthesis.borders import beyond, border_of
from paramverify.synthesis.case_budget import case_budget
from paramverify.synthesis.least_enclosed import LeastTarget
from paramverify.synthesis.least_sets import is_near, least_bound
from paramverify.synthesis.quotients import RatioBounds
from paramverify.synthesis.set_curve import curve
from paramverify.synthesis.set_needs import NeedKind

CURVE_PRECISION = Fraction(1, 1000)
Evidence = Callable[[Session], dict[str, Any]]


def budget(file: CaseFile, asked: Budget, options: Options, watch: Watch) -> Result:
    """Finds the least bound of what the case measures, or the least δ or ε over sets of outputs."""
    started = time.perf_counter()
    options = replace(options, on_bound=best_bound(watch))
    width = asked.precision or (CURVE_PRECISION if asked.curve else PRECISION)
    with Session(options) as session:
        found = _found(file, asked, session, width, watch)
    return replace(found, seconds=time.perf_counter() - started)


def _found(file: CaseFile, asked: Budget, session: Session, width: Fraction, watch: Watch) -> Result:
    """Reads the case with the bound that is needed, and finds the least one."""
    begun = time.monotonic()
    if asked.curve:
        return _curve(file, asked, session, width, watch)
    case, given = _given(file, asked) if asked.of_sets else (measured(file.content()), {})
    key = "delta"
    if not given and is_total_variation(case):
        key = "total_variation"
        case, given = _given(file, replace(asked, delta_for="0"))
    if isinstance(case.model, EnclosedModel):
        return _enclosed(case, case.model, session, width, given, begun, asked, key)
    if given:
        return _of_sets(file, case, session, width, given, begun, key)
    if case_budgets.is_asked(case):
        return _divergence(file, case, session, width, begun)
    return _ratio(file, case, session, width, begun)


def _evidence(file: CaseFile, session: Session, make: Evidence) -> Callable[[], dict[str, Any]]:
    """Returns what makes the evidence of a bound, from the text that was read."""

    def made(again: Session) -> dict[str, Any]:
        with file.as_file():
            return make(again)

    return evidence_with(session.options, made)


def _ending(enough: bool) -> Standing:
    return Standing.HOLDS if enough else Standing.UNKNOWN


# --- the largest ratio --------------------------------------------------------------------------------


def _ratio(file: CaseFile, case: PrivacyCase, session: Session, width: Fraction, begun: float) -> Result:
    model = case_budgets.model_of(case)
    undoubted(session, model)
    found = case_budget(model, session, width)
    words = tuple(session.words)
    around = beyond(case, found, session.options, begun)
    return Result(
        case_budgets.lines(case, found, words, around),
        case_budgets.document(case, found, words, around),
        ending=_ending(found.is_within(width)),
        notes=tuple(model.notes),
        bounds=(found.ratio, *([found.relative] if found.relative else [])),
        witness=found.ratio.witness,
        found=found,
        evidence=_evidence(file, session, lambda again: case_budgets.evidence(case, found, again)),
    ).remarked(session)


# --- divergences --------------------------------------------------------------------------------------


def _divergence(file: CaseFile, case: PrivacyCase, session: Session, width: Fraction, begun: float) -> Result:
    found = case_budgets.find(case, session, width)
    words, asked = tuple(session.words), case_budgets.least_of(case)
    border = border_of(case, asked.model.measure, found, session.options, begun)
    first, *more = asked.lines(found, words)
    return Result(
        [first, *budgets.border_lines(border), *more],
        asked.document(found, words) | budgets.border_document(border),
        ending=_ending(asked.is_near(found, width)),
        notes=tuple(case.model.notes),
        bounds=(found,),
        witness=asked.witness(found),
        found=found,
        evidence=_evidence(file, session, lambda again: asked.evidence(found, again)),
    ).remarked(session, others=asked.solvers)


# --- probabilities that are enclosed ------------------------------------------------------------------


def _enclosed(
    case: PrivacyCase,
    model: EnclosedModel,
    session: Session,
    width: Fraction,
    given: Mapping[str, str],
    begun: float,
    asked: Budget,
    key: str,
) -> Result:
    if asked.evidence:
        raise InputError(budgets.NO_EVIDENCE, key="--evidence")
    wanted = (
        LeastTarget.DELTA if "epsilon" in given else LeastTarget.RATIO_FOR if given else LeastTarget.RATIO
    )
    found = budgets.find(model, session, width, wanted)
    border = border_of(case, model.measure, found, session.options, begun)
    first, *more = budgets.enclosed_lines(case, model, found, given if key == "delta" else {}, key)
    return Result(
        [first, *budgets.border_lines(border), *more],
        budgets.enclosed_document(case, model, found, given) | budgets.border_document(border),
        ending=_ending(found.is_within(width)),
        notes=tuple(model.notes),
        bounds=(found,),
        found=found,
        no_evidence=budgets.NO_EVIDENCE,
    )


# --- sets of outputs ----------------------------------------------------------------------------------


def _given(file: CaseFile, asked: Budget) -> tuple[PrivacyCase, dict[str, str]]:
    """Reads the case with the bound for which the other one is asked, and returns that bound, too."""
    delta_for, epsilon_for = asked.delta_for, asked.epsilon_for
    with file.as_file():
        case = load_for_least(file.path, delta_for, epsilon_for, file.settings, asked.options)
    return case, {"epsilon": delta_for} if delta_for is not None else {"delta": epsilon_for or ""}


def _of_sets(
    file: CaseFile,
    case: PrivacyCase,
    session: Session,
    width: Fraction,
    given: dict[str, str],
    begun: float,
    key: str,
) -> Result:
    """Finds the least δ for an ε, or the least ε for a δ; `key` is what δ is in [privacy]."""
    (value,) = given.values()
    model = need_privacy(case.model, "budget --delta-for", events=SETS)
    obligations = undoubted(session, model)
    found = least_bound(model, session, width, NeedKind.DELTA if "epsilon" in given else NeedKind.RATIO)
    border = border_of(case, model.measure, found, session.options, begun)
    more, words = sentences.session_words(session.words)
    document = budgets.set_budget_document(model, found, given) | words | json_documents.inputs(case)
    first, *lines = budgets.set_budget_lines(case, model, found, given if key == "delta" else {}, key)
    return Result(
        [first, *budgets.border_lines(border), *lines, *more, *(f"Note: {note}." for note in model.notes)],
        document | budgets.border_document(border) | {"notes": list(model.notes)},
        ending=_ending(is_near(found, width)),
        notes=tuple(model.notes),
        bounds=(found,),
        witness=found.witness if found.witness and found.witness.outputs else None,
        found=found,
        evidence=_evidence(
            file, session, lambda again: set_budget_document(case, found, value, again, obligations)
        ),
    ).remarked(session, others=False)


def _curve(file: CaseFile, asked: Budget, session: Session, width: Fraction, watch: Watch) -> Result:
    """Finds the least δ as a function of ε."""
    point = read_point(asked.at) if asked.at else None
    with file.as_file():
        case = load_with_bounds(file.path, {"ratio": "1", "delta": "1"}, file.settings)
    model = need_privacy(case.model, "budget --curve", events=SETS)
    check_names(model.domain.ring, point or {})
    undoubted(session, model)
    found = curve(model, session, width, point)
    more, words = sentences.session_words(session.words)
    watch.known()
    watch.curve(found.points, case.title)
    about = json_documents.inputs(case) | {"notes": list(model.notes)}
    return Result(
        [
            *budgets.curve_lines(case, model, found, point),
            *more,
            *(f"Note: {note}." for note in model.notes),
        ],
        budgets.curve_document(found) | words | about,
        notes=tuple(model.notes),
        found=found,
    ).remarked(session, others=False)


def best_bound(watch: Watch) -> Callable[[RatioBounds], None]:
    """Returns what keeps the largest lower bound on the ratio, in case that a limit ends the run."""
    best: list[RatioBounds] = []

    def keep(found: RatioBounds) -> None:
        if best and not found.infinite and found.low <= best[0].low:
            return
        best[:] = [found]
        if isinstance(found.origin, AllOutputs):
            return
        outcome = number_words.sequence(found.origin.observations)
        sides = f"under {found.origin.left!r} against {found.origin.right!r}"
        least = "without limit" if found.infinite else f"at least {at_least(found.low, 12)}"
        document: dict[str, Any] = {} if found.infinite else {"ratio_lower": number_words.exact(found.low)}
        document |= {"secrets": [found.origin.left, found.origin.right]}
        watch.found(
            [f"  the ratio is {least}: {outcome} {sides}"],
            document | {"observations": list(found.origin.observations)},
        )

    return keep
