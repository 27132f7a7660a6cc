"""`paramverify synthesize CASE`: violating priors, safe regions, and conditions on parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import click
from click.core import ParameterSource

from paramverify.answers import Decision
from paramverify.claims import Claim
from paramverify.cli import _output
from paramverify.cli._cluster import cluster_option, executor
from paramverify.cli._common import (
    OUTPUT_FILE,
    case_argument,
    json_option,
    print_answer,
    progress_bar,
    session_option,
    session_options,
    time_limit,
    timeout_option,
    whole,
    write_json,
    write_text,
)
from paramverify.cli._exits import Exit
from paramverify.cli._numbers import share
from paramverify.cli._pictures import Picture, picture_options
from paramverify.cli._settings import settings
from paramverify.cli._violating import witness_answer
from paramverify.cli.budget import best_bound
from paramverify.errors import LimitError
from paramverify.models.model import Model
from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.privacy.larger_ranges import Larger
from paramverify.reports import documents, text
from paramverify.reports import synthesis as telling
from paramverify.reports.decision_trees import TREES
from paramverify.reports.decision_trees import text as tree_text
from paramverify.reports.evidence import map_evidence
from paramverify.reports.interval_evidence import check_has_synthesis_evidence, interval_evidence
from paramverify.reports.pictures.regions import draw, draw_interval
from paramverify.reports.pictures.set_curves import curve_of
from paramverify.reports.roots import closed_form
from paramverify.reports.safe_values import told as safe_values_told
from paramverify.reports.synthesis import Answer
from paramverify.synthesis.borders import larger_for
from paramverify.synthesis.intervals import Partition, Root
from paramverify.synthesis.maps import RegionMap, Status
from paramverify.synthesis.safe_values import (
    EXACT,
    SUITABLE,
    AnswerForm,
    ExactCondition,
    Intervals,
    MapOptions,
    Regions,
    safe_values,
)
from paramverify.synthesis.violating import Objective

LISTED = (30, "Find violating priors, safe regions, and design parameters that make a case private.")


class _Form(Enum):
    """The form of an answer that a user may ask for."""

    WITNESS = "witness"
    REGION = "region"
    EXACT = "exact"


FORMS = {None: SUITABLE, _Form.REGION: frozenset({AnswerForm.MAP}), _Form.EXACT: EXACT}


class _Files(NamedTuple):
    """The files that the user named, and what they need.

    `lift` ends the time limit before they are written; `obligations` of the model are part of the evidence.
    """

    state: Path | None
    plot: Picture | None
    evidence: Path | None
    tree: Path | None
    lift: Callable[[], None]
    obligations: tuple[tuple[Claim, Decision], ...]


@click.command("synthesize")
@case_argument
@click.option("--witness", is_flag=True, help="A violating prior, or that there is none.")
@click.option("--region", is_flag=True, help="A map of safe, violating and undecided boxes.")
@click.option("--exact", is_flag=True, help="Exact intervals of one parameter; a condition on several.")
@click.option(
    "--objective",
    type=click.Choice([objective.value for objective in Objective]),
    help="Which violating prior: a simplest one, that with the largest ratio, or the one nearest to --near.",
)
@click.option("--near", multiple=True, metavar="p=1/2,...", help="A prior to be near to (maximum norm).")
@click.option(
    "--precision",
    default="1e-6",
    show_default=True,
    help="Relative tolerance of the largest ratio and of the distance.",
)
@click.option("--parameters", metavar="NAMES", help="The parameters of the answer; it is for all others.")
@click.option(
    "--coverage",
    help="Share of the volume of the domain that a map may leave undecided; without it 0.01 for one or two "
    "parameters, 0.05 for three, 0.08 for more.",
)
@click.option(
    "--state", type=OUTPUT_FILE, help="Keep the map in this file, and go on where an earlier run ended."
)
@picture_options("Draw the answer (.svg, .png or .pdf).")
@click.option("--evidence", type=OUTPUT_FILE, help="Write evidence of the answer, to be checked.")
@click.option("--tree", type=OUTPUT_FILE, help="Write the map as a decision tree (.json or .py).")
@json_option
@timeout_option
@session_option
@cluster_option
def command(
    case: str,
    witness: bool,
    region: bool,
    exact: bool,
    objective: str | None,
    near: tuple[str, ...],
    precision: str,
    parameters: str | None,
    coverage: str | None,
    state: Path | None,
    plot: Picture | None,
    evidence: Path | None,
    tree: Path | None,
    as_json: bool,
    timeout: float,
    backends: str | None,
    strategy: str | None,
    confirm: int,
) -> int:
    """Find violating priors, safe regions, and design parameters that make a case private.

    Without a form: exact intervals for one parameter, and a region map for more. With --evidence, --state or
    --tree it is a map. Exit code 0 if the answer is complete, 1 if --witness found a violating prior or no
    value of the design parameters is private, 3 if the limits did not suffice, 130 if it was interrupted; a
    map is told as far as it is known then.
    """
    flags = {_Form.WITNESS: witness, _Form.REGION: region, _Form.EXACT: exact}
    form = _form(flags, bool(objective or near), kept={"--state": state, "--tree": tree}, evidence=evidence)
    if plot and form is _Form.WITNESS:
        raise click.UsageError("--plot goes with --region and --exact")
    wanted = Objective(objective) if objective else None
    _check_use(form, wanted in (Objective.RATIO, Objective.NEAREST) or bool(near))
    tolerance, reach = share(precision, "--precision"), _reach(coverage)
    options = session_options(timeout, backends, strategy, confirm)
    options = replace(options, on_bound=best_bound(), executor=executor())
    with time_limit(timeout) as lift, Session(options) as session:
        loaded = load(case, settings=settings())
        model = loaded.model
        doubt, obligations = discharge(session, model)
        if doubt:
            raise LimitError(f"the model is in doubt: {doubt.detail}")
        if form is _Form.WITNESS:
            code, document, lines = witness_answer(
                loaded, session, objective=wanted, near=near, tolerance=tolerance, evidence=evidence
            )
        else:
            if evidence:
                check_has_synthesis_evidence(loaded, form is _Form.EXACT)
            files = _Files(state, plot, evidence, tree, lift=lift, obligations=obligations)
            found = _safe_values(loaded, session, _names(parameters), form=form, coverage=reach, files=files)
            code, document, lines = _told(loaded, found, files, larger_for(loaded, found, session))
        more, words = text.session_words(session.words)
    about = documents.side_condition(model) | documents.inputs(loaded) | {"notes": list(model.notes)}
    notes = [f"Note: {note}." for note in model.notes]
    print_answer(session, [*lines, *more, *notes], document | words | about, as_json, others=False)
    return code


def _form(
    flags: Mapping[_Form, bool], about_prior: bool, kept: Mapping[str, Path | None], evidence: Path | None
) -> _Form | None:
    """Returns the form of the answer, or None for the one that suits the case.

    Raises:
        UsageError: options that exclude each other.
    """
    given = [form for form, flag in flags.items() if flag]
    if len(given) > 1:
        raise click.UsageError("give one of --witness, --region and --exact")
    if about_prior:
        given = given or [_Form.WITNESS]
        if given != [_Form.WITNESS]:
            raise click.UsageError("--objective and --near go with --witness")
    tree = kept["--tree"]
    if tree and tree.suffix not in TREES:
        written = tree.suffix or "a name without one"
        raise click.UsageError(f"--tree writes {' and '.join(TREES)}, not {written}")
    for option in (name for name, path in kept.items() if path):
        given = given or [_Form.REGION]
        if given != [_Form.REGION]:
            raise click.UsageError(f"{option} goes with --region")
    if evidence:
        given = given or [_Form.REGION]
    return given[0] if given else None


def _check_use(form: _Form | None, near_best: bool) -> None:
    """Refuses options that the form of the answer has no use for.

    Raises:
        UsageError: one was given.
    """
    context = click.get_current_context()
    given = {
        name
        for name in ("parameters", "coverage", "precision")
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    if "parameters" in given and form is _Form.WITNESS:
        raise click.UsageError("--parameters goes with --region and --exact")
    if "coverage" in given and form in (_Form.WITNESS, _Form.EXACT):
        raise click.UsageError("--coverage goes with --region")
    if "precision" in given and not near_best:
        raise click.UsageError("--precision goes with --objective ratio and --near")
    if "parameters" in given and not _names(context.params["parameters"]):
        raise click.UsageError("--parameters needs at least one name")


def _reach(coverage: str | None) -> Fraction | None:
    return None if coverage is None else share(coverage, "--coverage")


def _names(given: str | None) -> list[str]:
    return [name.strip() for name in (given or "").split(",") if name.strip()]


# --- safe values -------------------------------------------------------------------------------------


def _safe_values(
    case: PrivacyCase,
    session: Session,
    names: Sequence[str],
    form: _Form | None,
    coverage: Fraction | None,
    files: _Files,
) -> Intervals | ExactCondition | Regions:
    """Returns the intervals, the condition, or the map, whichever was asked for or suits the case."""
    forms = FORMS[form]
    if files.plot:
        forms = forms - {AnswerForm.CONDITION}
    with progress_bar("region") as progress:

        def on_shares(shares: Mapping[Status, float]) -> None:
            _output.found(*telling.so_far(case, shares, files.state))
            progress(int(1000 * sum(shares.values())), 1000)

        def on_map() -> None:
            if files.plot or files.evidence or files.tree:
                files.lift()

        options = MapOptions(coverage, files.state, True, on_shares, on_map)
        found = safe_values(case, session, names, forms, options)
    if found is None:
        raise click.UsageError("--plot needs --region here")
    return found


def _told(
    case: PrivacyCase, found: Intervals | ExactCondition | Regions, files: _Files, larger: Larger | None
) -> Answer:
    """Returns what was found in words, and draws and writes it."""
    answer = safe_values_told(case, found, larger)
    document, lines = answer.document, answer.lines
    code = Exit.HOLDS if answer.complete else Exit.UNKNOWN
    if not answer.possible and answer.complete:
        code = Exit.VIOLATED
    if isinstance(found, Intervals) and files.plot:
        files.lift()
        _draw_parts(case, found.partition, files.plot)
    if isinstance(found, Intervals) and files.evidence:
        files.lift()
        write_json(files.evidence, interval_evidence(case, found.partition, files.obligations))
    if isinstance(found, Regions):
        if found.reused:
            document["state"] = "complete"
            lines.append(f"  complete already: all cells are from {files.state}")
        if found.map.stopped:
            if files.plot or files.evidence or files.tree:
                lines.append("  stopped before the picture, the evidence and the tree were written")
            return Exit.INTERRUPTED, document, lines
        _write_map(case, found.map, files)
    return code, document, lines


def _write_map(case: PrivacyCase, found: RegionMap, files: _Files) -> None:
    """Draws a map, and writes its evidence and its tree."""
    if files.plot:
        with whole():
            draw(
                found,
                files.plot.path,
                page=files.plot.page,
                title=case.title,
                budget=case.budget,
                words=telling.words(case),
            )
    if files.evidence:
        write_json(files.evidence, map_evidence(case, found, files.obligations))
    if files.tree:
        write_text(files.tree, tree_text(case, found, files.tree.suffix))


def _draw_parts(case: PrivacyCase, found: Partition, plot: Picture) -> None:
    domain = case.model.domain
    curve = curve_of(case.model, found.parameter) if isinstance(case.model, Model) else None

    def shown(root: Root) -> str | None:
        return closed_form(root, domain.constant)

    told = {"title": case.title, "budget": case.budget, "words": telling.words(case)}
    draw_interval(found, plot.path, page=plot.page, **told, curve=curve, text=shown)
