"""`paramverify synthesize CASE`: violating priors, safe regions, and conditions on parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from fractions import Fraction
from pathlib import Path

import click
from click.core import ParameterSource

from paramverify.cli._answers import Files, Shown, Typed, answered, printed
from paramverify.cli._cluster import cluster_option, executor
from paramverify.cli._common import (
    OUTPUT_FILE,
    case_argument,
    json_option,
    session_option,
    timeout_option,
    whole,
    write_text,
)
from paramverify.cli._exits import Exit
from paramverify.cli._pictures import Picture, picture_options
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import synthesis_reports as telling
from paramverify.reports.algebraic_numbers import closed_form
from paramverify.reports.pictures.ratio_curves import curve_of
from paramverify.reports.pictures.region_pictures import draw, draw_interval
from paramverify.reports.synthesis_reports import TREES
from paramverify.reports.synthesis_reports import text as tree_text
from paramverify.subjects.questions import Synthesize
from paramverify.subjects.results import Result, ValueFacts
from paramverify.subjects.written_numbers import read_point, share
from paramverify.synthesis.intervals import Partition, Root
from paramverify.synthesis.safe_values import Intervals, Regions
from paramverify.synthesis.violating import Objective

LISTED = (210, "Find violating priors, private regions, and design parameters that make a case private.")


class _Form(Enum):
    """The form of an answer that a user may ask for."""

    WITNESS = "witness"
    REGION = "region"
    EXACT = "exact"


@click.command("synthesize")
@case_argument
@click.option("--witness", is_flag=True, help="Find a violating prior, or prove that none exists.")
@click.option("--region", is_flag=True, help="Find a map of private, not private and undecided boxes.")
@click.option(
    "--exact", is_flag=True, help="Find exact intervals of one parameter, or a condition on several."
)
@click.option(
    "--objective",
    type=click.Choice([objective.value for objective in Objective]),
    help="Find a violating prior with small denominators, with the largest ratio, or nearest to --near.",
)
@click.option(
    "--near",
    multiple=True,
    metavar="p=1/2,...",
    help="Find the violating prior nearest to this one (maximum norm).",
)
@click.option(
    "--precision",
    default="1e-6",
    show_default=True,
    help="Set the relative tolerance of the largest ratio, and of the distance to --near.",
)
@click.option(
    "--parameters",
    metavar="NAMES",
    help="State the answer in these parameters, for all values of the others.",
)
@click.option(
    "--coverage",
    help="Leave at most this share of the domain's volume undecided in a map; by default 0.01 for one or two "
    "parameters, 0.05 for three, 0.08 for more.",
)
@click.option(
    "--state",
    type=OUTPUT_FILE,
    help="Save the map in this file, and continue there if an earlier run was stopped.",
)
@picture_options("Draw the answer to this file (.svg, .png or .pdf).")
@click.option(
    "--evidence",
    type=OUTPUT_FILE,
    help="Write the evidence to this file, for `paramverify check`.",
)
@click.option(
    "--tree", type=OUTPUT_FILE, help="Write the map to this file as a decision tree (.json or .py)."
)
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
    """Find violating priors, private regions, and design parameters that make a case private.

    \b
    Example:
      paramverify synthesize case.toml --exact --plot intervals.svg

    By default, the answer is exact intervals for one parameter, and a map for several. With --evidence,
    --state or --tree, it is a map. If a limit or Ctrl-C stops the command, it reports the map as far as it is
    known.

    Exit codes: 0 if the answer is complete; 1 if --witness found a violating prior, or if no value of the
    design parameters makes the case private; 3 if a limit was too small; 130 if you interrupted the command.
    """
    flags = {_Form.WITNESS: witness, _Form.REGION: region, _Form.EXACT: exact}
    form = _form(flags, bool(objective or near), kept={"--state": state, "--tree": tree}, evidence=evidence)
    if plot and form is _Form.WITNESS:
        raise click.UsageError("--plot has no picture of one prior: use it with --region or --exact")
    wanted = Objective(objective) if objective else Objective.NEAREST if near else Objective.SIMPLEST
    _check_use(form, wanted is not Objective.SIMPLEST or bool(near))
    if (wanted is Objective.NEAREST) != bool(near):
        raise click.UsageError(
            f"--objective {wanted.value} does not use --near: leave --near out"
            if near
            else "--objective nearest needs a prior: add --near"
        )
    typed = Typed(as_json, timeout, backends, strategy, confirm)
    tolerance, reach = share(precision, "--precision"), _reach(coverage)
    options = replace(typed.options(), executor=executor())
    question = Synthesize(
        form=form.value if form else None,
        parameters=tuple(_names(parameters)),
        coverage=reach,
        objective=objective,
        near=read_point(near),
        precision=tolerance,
        state=state,
        plot=plot is not None,
        evidence=evidence is not None,
        written=bool(plot or evidence or tree),
    )

    def write(result: Result, watch: Shown) -> None:
        """Draws the answer, and writes its evidence and its tree."""
        if not question.written or result.of(ValueFacts).stopped:
            return
        watch.known()
        if plot:
            _draw(result, plot)
        if evidence and result.evidence:
            watch.evidence(result.evidence())
        if tree:
            write_text(tree, tree_text(_case(result), result.found.map, tree.suffix))

    result = answered(case, question, typed, Files(evidence), options=options, finish=write)
    return printed(result, as_json, Exit.INTERRUPTED if result.of(ValueFacts).stopped else None)


def _case(result: Result) -> PrivacyCase:
    case = result.of(ValueFacts).case
    assert case is not None
    return case


def _draw(result: Result, plot: Picture) -> None:
    """Draws intervals, or a map."""
    case, found = _case(result), result.found
    if isinstance(found, Intervals):
        _draw_parts(case, found.partition, plot)
    if isinstance(found, Regions):
        words = telling.words(case)
        with whole():
            draw(found.map, plot.path, page=plot.page, title=case.title, budget=case.budget, words=words)


def _form(
    flags: Mapping[_Form, bool], about_prior: bool, kept: Mapping[str, Path | None], evidence: Path | None
) -> _Form | None:
    """Returns the form of the answer, or None for the one that suits the case.

    Raises:
        UsageError: options that exclude each other.
    """
    given = [form for form, flag in flags.items() if flag]
    if len(given) > 1:
        raise click.UsageError("--witness, --region and --exact exclude each other: give one of them")
    if about_prior:
        given = given or [_Form.WITNESS]
        if given != [_Form.WITNESS]:
            raise click.UsageError("--objective and --near choose a violating prior: use them with --witness")
    tree = kept["--tree"]
    if tree and tree.suffix not in TREES:
        written = f"the ending {tree.suffix}" if tree.suffix else "a name without an ending"
        raise click.UsageError(f"--tree has {written}: write a name that ends in {' or '.join(TREES)}")
    for option in (name for name, path in kept.items() if path):
        given = given or [_Form.REGION]
        if given != [_Form.REGION]:
            raise click.UsageError(f"{option} is only for maps: use it with --region")
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
        raise click.UsageError("--parameters does not apply to one prior: use it with --region or --exact")
    if "coverage" in given and form in (_Form.WITNESS, _Form.EXACT):
        raise click.UsageError("--coverage applies only to maps: use it with --region")
    if "precision" in given and not near_best:
        raise click.UsageError("--precision has no effect here: use it with --objective ratio or --near")
    if "parameters" in given and not _names(context.params["parameters"]):
        raise click.UsageError("--parameters names nothing: give at least one name")


def _reach(coverage: str | None) -> Fraction | None:
    return None if coverage is None else share(coverage, "--coverage")


def _names(given: str | None) -> list[str]:
    return [name.strip() for name in (given or "").split(",") if name.strip()]


def _draw_parts(case: PrivacyCase, found: Partition, plot: Picture) -> None:
    domain = case.model.domain
    curve = curve_of(case.model, found.parameter)

    def shown(root: Root) -> str | None:
        return closed_form(root, domain.constant)

    told = {"title": case.title, "budget": case.budget, "words": telling.words(case)}
    draw_interval(found, plot.path, page=plot.page, **told, curve=curve, text=shown)
