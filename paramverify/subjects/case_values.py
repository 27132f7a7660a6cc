"""Where cases are private, or claims true: maps, intervals, conditions, and violating priors."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from paramverify.answers import Standing
from paramverify.errors import InputError, located
from paramverify.portfolio.obligations import Proofs, undoubted
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import json_documents, sentences, synthesis_reports
from paramverify.reports.case_evidence import check_has_synthesis_evidence, interval_evidence, map_evidence
from paramverify.reports.pictures.region_pictures import drawing_of
from paramverify.subjects.case_bounds import best_bound
from paramverify.subjects.questions import Synthesize
from paramverify.subjects.results import Result, ValueFacts, evidence_with
from paramverify.subjects.subject import CaseFile, Watch
from paramverify.synthesis.borders import larger_for
from paramverify.synthesis.maps import Status
from paramverify.synthesis.safe_values import EXACT, SUITABLE, AnswerForm, Intervals, MapOptions, Regions
from paramverify.synthesis.safe_values import safe_values as find_safe_values
from paramverify.synthesis.violating import Objective, violating_prior

FORMS = {None: SUITABLE, "region": frozenset({AnswerForm.MAP}), "exact": EXACT}


def synthesize(file: CaseFile, asked: Synthesize, options: Options, watch: Watch) -> Result:
    """Finds where a case is private, or a prior for which it is not.

    It ends well if the answer is complete; badly if a violating prior was found, or no value of the design
    parameters is private.
    """
    started = time.perf_counter()
    options = replace(options, on_bound=best_bound(watch))
    with Session(options) as session:
        case: PrivacyCase = file.content()
        obligations = undoubted(session, case.model)
        if asked.form == "witness":
            found = _prior(case, session, asked, watch)
        else:
            if asked.evidence:
                check_has_synthesis_evidence(case, asked.form == "exact")
            found = _values(case, session, asked, obligations, watch)
        more, words = sentences.session_words(session.words)
    model = case.model
    about = json_documents.side_condition(model) | json_documents.inputs(case) | {"notes": list(model.notes)}
    return replace(
        found,
        lines=[*found.lines, *more, *(f"Note: {note}." for note in model.notes)],
        document=found.document | words | about,
        seconds=time.perf_counter() - started,
        notes=tuple(model.notes),
        no_evidence="of such values",
    ).remarked(session, others=False)


def _prior(case: PrivacyCase, session: Session, asked: Synthesize, watch: Watch) -> Result:
    near = dict(asked.near or {})
    with located(key="objective"):
        wanted = Objective(asked.objective or (Objective.NEAREST if near else Objective.SIMPLEST))
        if (wanted is Objective.NEAREST) != bool(near):
            raise InputError("nearest requires near, and the other questions do not accept it")
    found = violating_prior(case.model, session, wanted, near, asked.precision, progress=watch.progress)
    told = synthesis_reports.prior(case, found, wanted)
    if asked.evidence:
        watch.found(told.lines, told.document)
    unknown = Standing.HOLDS if found.complete else Standing.UNKNOWN
    evidence = lambda again: synthesis_reports.prior_evidence(case, again, found)  # noqa: E731
    return Result(
        told.lines,
        dict(told.document),
        ending=Standing.VIOLATED if found.witness else unknown,
        witness=found.witness,
        found=found,
        evidence=evidence_with(session.options, evidence),
        facts=ValueFacts(case, "witness", told.complete),
    )


def _values(
    case: PrivacyCase, session: Session, asked: Synthesize, obligations: Proofs, watch: Watch
) -> Result:
    forms = FORMS[asked.form]
    if asked.plot:
        forms = forms - {AnswerForm.CONDITION}

    def on_shares(shares: Mapping[Status, float]) -> None:
        watch.found(*synthesis_reports.so_far(case, shares, asked.state))
        watch.progress(int(1000 * sum(shares.values())), 1000)

    options = MapOptions(
        asked.coverage, asked.state, True, on_shares, watch.known if asked.written else _nothing
    )
    found = find_safe_values(case, session, list(asked.parameters), forms, options)
    if found is None:
        raise InputError("--plot needs --region here")
    told = synthesis_reports.found_values(case, found, larger_for(case, found, session))
    ending = Standing.HOLDS if told.complete else Standing.UNKNOWN
    if not told.possible and told.complete:
        ending = Standing.VIOLATED
    evidence: Callable[[], dict[str, Any]] | None = None
    witness = None
    if isinstance(found, Regions):
        cells, witness = found.map, found.witness
        evidence = lambda: map_evidence(case, cells, obligations)  # noqa: E731
    elif isinstance(found, Intervals):
        parts = found.partition
        evidence = lambda: interval_evidence(case, parts, obligations)  # noqa: E731
    lines, document, stopped = list(told.lines), dict(told.document), False
    if isinstance(found, Regions):
        if found.reused:
            document["state"] = "complete"
            lines.append(f"  complete already: all cells are from {asked.state}")
        stopped = found.map.stopped
        if stopped and asked.written:
            lines.append("  stopped before the picture, the evidence and the tree were written")
    return Result(
        lines,
        document,
        ending=ending,
        witness=witness,
        found=found,
        evidence=evidence,
        facts=ValueFacts(case, told.document["form"], told.complete, drawing_of(case, found), stopped),
    )


def _nothing() -> None:
    """Hears that a map is known."""
