"""The least delta for an epsilon, and the least epsilon for a delta, of a case: `budget --delta-for`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import click

from paramverify.algebra.points import check_names
from paramverify.cli._common import parse_point, print_answer, time_limit, write_json
from paramverify.cli._enclosed import enclosed_budget
from paramverify.cli._exits import Exit
from paramverify.cli._pictures import Picture
from paramverify.cli._settings import settings
from paramverify.errors import LimitError
from paramverify.models.enclosed import EnclosedModel
from paramverify.models.kinds import need_privacy
from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.other_bounds import load_for_least, load_with_bounds
from paramverify.reports import borders, documents, set_budgets, text
from paramverify.reports.set_budget_evidence import set_budget_document
from paramverify.synthesis.borders import border_of
from paramverify.synthesis.least_sets import least_bound
from paramverify.synthesis.set_curve import curve
from paramverify.synthesis.set_needs import NeedKind


@dataclass(frozen=True)
class SetTarget:
    """What is to be found: the least delta for an epsilon, the least epsilon for a delta, or the curve."""

    delta_for: str | None
    epsilon_for: str | None
    curve: bool
    at: tuple[str, ...]
    plot: Picture | None

    def check(self, evidence: Path | None) -> bool:
        """Checks that options of `budget` go together; returns whether one of them asks for sets."""
        asked = (self.delta_for is not None) + (self.epsilon_for is not None) + self.curve
        if asked > 1:
            raise click.UsageError("give either --delta-for, --epsilon-for or --curve")
        if (self.at or self.plot) and not self.curve:
            raise click.UsageError("--at and --plot belong to --curve")
        if self.curve and evidence is not None:
            raise click.UsageError("there is no evidence of a curve: ask for a point of it with --delta-for")
        return bool(asked)


def set_budget(
    path: str,
    options: Options,
    width: Fraction,
    wanted: SetTarget,
    as_json: bool = False,
    evidence: Path | None = None,
) -> int:
    """Finds one of them and tells it; exit code 3 where it is not known within the precision."""
    if wanted.curve:
        return _curve(path, options, width, wanted, as_json=as_json)
    delta_for, epsilon_for = wanted.delta_for, wanted.epsilon_for
    started = time.monotonic()
    with time_limit(options.limit or options.seconds), Session(options) as session:
        case = load_for_least(path, delta_for, epsilon_for, settings())
        if isinstance(case.model, EnclosedModel):
            given = {"delta": str(epsilon_for)} if delta_for is None else {"epsilon": delta_for}
            return enclosed_budget(case, session, width, given, as_json=as_json, evidence=evidence)
        model = need_privacy(case.model, "budget --delta-for", sets=True)
        doubt, obligations = discharge(session, model)
        if doubt:
            raise LimitError(f"the model is in doubt: {doubt.detail}")
        found = least_bound(model, session, width, NeedKind.RATIO if delta_for is None else NeedKind.DELTA)
        border = border_of(case, found, options, started)
        more, words = text.session_words(session.words)
        name, value = ("epsilon", delta_for) if delta_for is not None else ("delta", epsilon_for)
        assert value is not None
        written = set_budget_document(case, found, value, session, obligations) if evidence else {}
    if evidence:
        write_json(evidence, written, indent=1)
    document = set_budgets.document(model, found, {name: value}) | words | documents.inputs(case)
    document |= borders.document(border) | {"notes": list(model.notes)}
    first, *told = set_budgets.lines(case, model, found, f"{name} = {value}")
    notes = [f"Note: {note}." for note in model.notes]
    lines = [first, *borders.lines(border), *told, *more, *notes]
    print_answer(session, lines, document, as_json, others=False)
    return Exit.HOLDS if found.is_within(width) else Exit.UNKNOWN


def _curve(path: str, options: Options, width: Fraction, wanted: SetTarget, as_json: bool = False) -> int:
    """Finds the least delta as a function of epsilon, tells it and draws it."""
    point = parse_point(wanted.at) if wanted.at else None
    with time_limit(options.limit or options.seconds) as lift, Session(options) as session:
        case = load_with_bounds(path, {"ratio": "1", "delta": "1"}, settings())
        model = need_privacy(case.model, "budget --curve", sets=True)
        check_names(model.domain.ring, point or {})
        doubt, _ = discharge(session, model)
        if doubt:
            raise LimitError(f"the model is in doubt: {doubt.detail}")
        found = curve(model, session, width, point)
        more, words = text.session_words(session.words)
    lift()
    if wanted.plot:
        from paramverify.reports.pictures.deltas import write_curve

        write_curve(found.points, case.title, wanted.plot.path, page=wanted.plot.page)
    about = documents.inputs(case) | {"notes": list(model.notes)}
    told = set_budgets.curve_lines(case, model, found, point)
    notes = [f"Note: {note}." for note in model.notes]
    document = set_budgets.curve_document(found) | words | about
    print_answer(session, [*told, *more, *notes], document, as_json, others=False)
    return Exit.HOLDS
