"""`budget` and `synthesize`: what is looked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.api.arguments import between
from paramverify.api.clock import Left, clock
from paramverify.api.deciding import no_meaning
from paramverify.api.enclosed import enclosed_budget
from paramverify.api.options import Limits, options_of
from paramverify.api.reading import Bound, Kind, Read
from paramverify.api.results import BudgetReport, SynthesisReport
from paramverify.api.streams import stream_budget
from paramverify.api.values import point_at
from paramverify.api.witnesses import told_witness
from paramverify.errors import InputError, LimitError, located
from paramverify.interactive import certificates
from paramverify.interactive.budgets import tight_budget
from paramverify.interactive.cases import InteractiveCase
from paramverify.models.enclosed import EnclosedModel
from paramverify.models.kinds import AnyModel, need_privacy
from paramverify.portfolio.obligations import Proofs, discharge
from paramverify.portfolio.session import Options, Session
from paramverify.portfolio.unasked import remarked
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.other_bounds import is_total_variation, load_for_least
from paramverify.privacy.sides import measured
from paramverify.reports import (
    borders,
    case_budgets,
    divergence_budgets,
    documents,
    interactive_budgets,
    safe_values,
    set_budgets,
    text,
)
from paramverify.reports.evidence import map_evidence
from paramverify.reports.pictures.drawn import drawing_of
from paramverify.reports.set_budget_evidence import set_budget_document
from paramverify.reports.systems import exact
from paramverify.synthesis.borders import beyond, border_of, larger_for
from paramverify.synthesis.case_budget import case_budget
from paramverify.synthesis.least_divergence import LeastMoment
from paramverify.synthesis.least_sets import least_bound
from paramverify.synthesis.safe_values import EXACT, SUITABLE, AnswerForm, MapOptions, Regions
from paramverify.synthesis.safe_values import safe_values as find_safe_values
from paramverify.synthesis.set_needs import NeedKind
from paramverify.synthesis.suprema import TightBudget
from paramverify.synthesis.violating import Objective, violating_prior

PRECISION = Fraction(1, 10**9)
TOLERANCE = Fraction(1, 10**6)
SHARE = 0.8  # of the time of a budget of an interactive system; building what is told takes some too

NO_BUDGET = {
    Kind.CLAIM: case_budgets.INSTEAD,
    Kind.LOGIC: "its formulas have budgets inside; `paramverify logic` has --delta-for and --epsilon-for",
}
NO_VALUES = {
    Kind.INTERACTIVE: "it is about cases with [mechanism] or [claim]",
    Kind.LOGIC: "it is about cases with [mechanism] or [claim]",
    Kind.STREAM: "the verdict about streams is for every value of the parameter",
    Kind.AUTOMATON: "an automaton has no parameters",
}


def budget_of(
    reading: Callable[[], Read],
    precision: Bound,
    limits: Limits,
    delta_for: Bound | None = None,
    epsilon_for: Bound | None = None,
    *,
    length: int | str | None = None,
    epsilon: Bound | None = None,
) -> BudgetReport:
    """Reads a case and finds its tight budget, or the least δ or ε; see `paramverify.budget`."""
    width, options = between("precision", precision, 1), options_of(limits)
    given = [None if bound is None else str(bound) for bound in (delta_for, epsilon_for)]
    if None not in given:
        raise InputError("give either delta_for or epsilon_for")
    with clock(options) as left:
        return _budget_of(reading(), width, left, given, (length, epsilon))


def _budget_of(
    read: Read,
    width: Fraction,
    left: Left,
    given: list[str | None],
    streams: tuple[int | str | None, Bound | None],
) -> BudgetReport:
    """Finds the budget of what was read, in the time that is left."""
    length, epsilon = streams
    of_streams = read.kind in (Kind.STREAM, Kind.AUTOMATON)
    if not of_streams and (length is not None or epsilon is not None):
        name = "epsilon" if length is None else "length"
        raise InputError("it is for automata, and for cases about streams with Laplace noise", key=name)
    options = left()
    content = measured(read.content) if isinstance(read.content, PrivacyCase) else read.content
    if isinstance(content, PrivacyCase) and is_total_variation(content) and given == [None, None]:
        given[0] = "0"
    with located(file=str(read.path)):
        if given != [None, None]:
            if read.kind is not Kind.PRIVACY:
                raise InputError("delta_for and epsilon_for are for cases with [mechanism] and [privacy]")
            return _least(read, given[0], given[1], width, options)
        if of_streams:
            return stream_budget(read, options, length, epsilon)
        if isinstance(read.content, InteractiveCase):
            return _system(read, read.content, width, options)
        if read.kind is not Kind.PRIVACY:
            raise no_meaning(read, "budget", NO_BUDGET)
        assert isinstance(content, PrivacyCase)
        return _case(read, content, width, options)


def _case(read: Read, case: PrivacyCase, width: Fraction, options: Options) -> BudgetReport:
    started, begun = time.perf_counter(), time.monotonic()
    with Session(options) as session:
        if isinstance(case.model, EnclosedModel):
            return enclosed_budget(read, case, session, width, {})
        if divergence_budgets.is_asked(case):
            return _divergence(read, case, session, width, options=options)
        model = case_budgets.model_of(case)
        _undoubted(session, model)
        found = case_budget(model, session, width)
        words = tuple(session.words)
    around = beyond(case, found, options, begun)
    best, other = found.ratio, found.relative
    told, shown = (
        case_budgets.lines(case, found, words, around),
        case_budgets.document(case, found, words, around),
    )
    told, shown = remarked(session, told, shown)

    def evidence() -> dict[str, Any]:
        with Session(options) as again:
            return case_budgets.evidence(case, found, again)

    return BudgetReport(
        kind=read.kind,
        lines=tuple(told),
        document=shown,
        seconds=time.perf_counter() - started,
        notes=tuple(model.notes),
        lower=_ends(best)[0],
        upper=_ends(best)[1],
        attained=best.attained,
        witness=told_witness(best.witness) if best.witness else None,
        relative=_number(other) if other else None,
        tight=other.beside.tight if other and other.beside else None,
        result=found,
        _evidence=evidence,
    )


def _divergence(
    read: Read, case: PrivacyCase, session: Session, width: Fraction, *, options: Options
) -> BudgetReport:
    """Finds the least bound of a divergence."""
    started, begun = time.perf_counter(), time.monotonic()
    found = divergence_budgets.find(case, session, width)
    words = tuple(session.words)
    border = border_of(case, found, options, begun)
    best = found.sum if isinstance(found, LeastMoment) else None
    first, *more = divergence_budgets.lines(case, found, words)
    shown = divergence_budgets.document(case, found, words) | borders.document(border)
    told, shown = remarked(session, [first, *borders.lines(border), *more], shown, best is not None)

    def evidence() -> dict[str, Any]:
        with Session(options) as again:
            return divergence_budgets.evidence(case, found, again)

    return BudgetReport(
        kind=read.kind,
        lines=tuple(told),
        document=shown,
        seconds=time.perf_counter() - started,
        notes=tuple(case.model.notes),
        attained=best.attained if best else None,
        witness=told_witness(best.witness) if best and best.witness else None,
        result=found,
        _evidence=evidence,
    )


def _least(
    read: Read, delta_for: str | None, epsilon_for: str | None, width: Fraction, options: Options
) -> BudgetReport:
    """Finds the least δ for an ε, or the least ε for a δ."""
    started, begun = time.perf_counter(), time.monotonic()
    kind = NeedKind.RATIO if delta_for is None else NeedKind.DELTA
    with Session(options) as session, read.as_file():
        case = load_for_least(read.path, delta_for, epsilon_for, names=("delta_for", "epsilon_for"))
        if isinstance(case.model, EnclosedModel):
            bounds = {"epsilon": delta_for, "delta": epsilon_for}
            given = {name: bound for name, bound in bounds.items() if bound is not None}
            return enclosed_budget(read, case, session, width, given)
        model = need_privacy(case.model, "this budget", sets=True)
        obligations = _undoubted(session, model)
        found = least_bound(model, session, width, kind)
        border = border_of(case, found, options, begun)
        more, words = text.session_words(session.words)
    name, value = ("epsilon", delta_for) if delta_for is not None else ("delta", epsilon_for or "")
    known = found.infinite or found.value is not None

    def evidence() -> dict[str, Any]:
        with Session(options) as again:
            return set_budget_document(case, found, value, again, obligations)

    upper = found.value if known else found.upper
    first, *told = set_budgets.lines(case, model, found, f"{name} = {value}")
    document = set_budgets.document(model, found, {name: value}) | words | documents.inputs(case)
    document |= borders.document(border) | {"notes": list(model.notes)}
    notes = [f"Note: {note}." for note in model.notes]
    told, document = remarked(session, [first, *borders.lines(border), *told, *more, *notes], document, False)
    return BudgetReport(
        kind=read.kind,
        lines=tuple(told),
        document=document,
        seconds=time.perf_counter() - started,
        notes=tuple(model.notes),
        lower=ExactNumber(found.value if known else found.lower),
        upper=None if upper is None and not found.infinite else ExactNumber(upper),
        attained=found.attained,
        witness=told_witness(found.witness) if found.witness and found.witness.outputs else None,
        of_delta=delta_for is not None,
        result=found,
        _evidence=evidence,
    )


def _undoubted(session: Session, model: AnyModel) -> Proofs:
    """Returns the proofs of the obligations of a model."""
    doubt, obligations = discharge(session, model)
    if doubt:
        raise LimitError(f"the model is in doubt: {doubt.detail}")
    return obligations


def _number(found: TightBudget) -> ExactNumber | None:
    low, high = _ends(found)
    return low if low == high else None


def _ends(found: TightBudget) -> tuple[ExactNumber, ExactNumber]:
    """Returns the bounds, twice the same number where it is known."""
    if found.infinite:
        return ExactNumber(None), ExactNumber(None)
    if found.value is not None:
        return ExactNumber(found.value), ExactNumber(found.value)
    return ExactNumber(found.lower), ExactNumber(found.upper)


def _system(read: Read, case: InteractiveCase, width: Fraction, options: Options) -> BudgetReport:
    found = tight_budget(case, replace(options, seconds=SHARE * options.seconds))
    numbers = [None if w is None else exact(case, w) for w in (found.lower, found.upper)]
    low, high = (None if n is None else ExactNumber(n) for n in numbers)
    if found.boundless:
        low = high = ExactNumber(None)
    elif found.upper is None:
        high = ExactNumber(None)
    return BudgetReport(
        kind=read.kind,
        lines=tuple(interactive_budgets.all_lines(case, found)),
        document=interactive_budgets.document(case, found),
        seconds=found.seconds,
        notes=tuple(case.checks.notes),
        lower=low,
        upper=high,
        attained=found.growth is None if found.boundless else True if found.exact else None,
        result=found,
        _evidence=lambda: certificates.budget_document(case, found, options),
    )


@dataclass(frozen=True)
class SynthesisRequest:
    """What `synthesize` is asked for; see there."""

    form: str | None = None
    parameters: Sequence[str] = ()
    coverage: Bound | None = None
    objective: str | None = None
    near: Mapping[str, Bound] | None = None
    precision: Bound = TOLERANCE


def values_of(reading: Callable[[], Read], asked: SynthesisRequest, limits: Limits) -> SynthesisReport:
    """Reads a case and finds where it is private; see `paramverify.synthesize`."""
    with clock(options_of(limits)) as left:
        return _values_of(reading(), asked, left())


def _values_of(read: Read, asked: SynthesisRequest, options: Options) -> SynthesisReport:
    """Finds where a case that was read is private."""
    if read.kind in NO_VALUES:
        raise no_meaning(read, "synthesize", NO_VALUES)
    form = _form(asked)
    case = read.content
    assert isinstance(case, PrivacyCase)
    started = time.perf_counter()
    with located(file=str(read.path)), Session(options) as session:
        obligations = _undoubted(session, case.model)
        if form == "witness":
            found = _prior(read, case, session, asked, options)
        else:
            found = _map(read, case, session, asked, obligations)
        more, words = text.session_words(session.words)
    notes = [f"Note: {note}." for note in case.model.notes]
    rest = words | documents.side_condition(case.model) | documents.inputs(case)
    rest |= {"notes": list(case.model.notes)}
    told, shown = remarked(session, [*found.lines, *more, *notes], {**found.document, **rest}, others=False)
    return replace(
        found,
        lines=tuple(told),
        document=shown,
        seconds=time.perf_counter() - started,
        notes=tuple(case.model.notes),
    )


def _form(asked: SynthesisRequest) -> str | None:
    forms = ("witness", "region", "exact")
    if asked.form is not None and asked.form not in forms:
        raise InputError(f"must be one of {', '.join(forms)}; not {asked.form!r}", key="form")
    about_prior = asked.objective is not None or asked.near is not None
    if about_prior and asked.form not in (None, "witness"):
        raise InputError("objective and near go with the form witness", key="form")
    if (about_prior or asked.form == "witness") and asked.parameters:
        raise InputError("parameters go with the forms region and exact", key="parameters")
    return "witness" if about_prior else asked.form


def _prior(
    read: Read, case: PrivacyCase, session: Session, asked: SynthesisRequest, options: Options
) -> SynthesisReport:
    near = point_at(asked.near)
    with located(key="objective"):
        known = [o.value for o in Objective]
        if asked.objective is not None and asked.objective not in known:
            raise InputError(f"must be one of {', '.join(known)}; not {asked.objective!r}")
        wanted = Objective(asked.objective or (Objective.NEAREST if near else Objective.SIMPLEST))
        if (wanted is Objective.NEAREST) != bool(near):
            raise InputError("nearest needs near, and the others have no use for it")
    tolerance = between("precision", asked.precision, 1)
    found = violating_prior(case.model, session, wanted, near, tolerance)
    told = safe_values.prior(case, found, wanted)

    def evidence() -> dict[str, Any]:
        with Session(options) as again:
            return safe_values.prior_evidence(case, again, found)

    return SynthesisReport(
        kind=read.kind,
        lines=tuple(told.lines),
        document=told.document,
        seconds=0.0,
        form="witness",
        complete=told.complete,
        witness=told_witness(found.witness) if found.witness else None,
        result=found,
        _evidence=evidence,
    )


def _map(
    read: Read, case: PrivacyCase, session: Session, asked: SynthesisRequest, obligations: Proofs
) -> SynthesisReport:
    forms = {None: SUITABLE, "region": frozenset({AnswerForm.MAP}), "exact": EXACT}[asked.form]
    coverage = None if asked.coverage is None else between("coverage", asked.coverage, 1)
    options = MapOptions(coverage, fold=True)
    found = find_safe_values(case, session, list(asked.parameters), forms, options)
    assert found is not None
    told = safe_values.told(case, found, larger_for(case, found, session))
    evidence = None
    if isinstance(found, Regions):
        cells = found.map

        def evidence() -> dict[str, Any]:
            return map_evidence(case, cells, obligations)

    witness = found.witness if isinstance(found, Regions) else None
    return SynthesisReport(
        kind=read.kind,
        lines=tuple(told.lines),
        document=told.document,
        seconds=0.0,
        form=told.document["form"],
        complete=told.complete,
        witness=told_witness(witness) if witness else None,
        result=found,
        _drawing=drawing_of(case, found),
        _evidence=evidence,
    )
