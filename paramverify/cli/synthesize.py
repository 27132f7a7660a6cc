"""`paramverify synthesize CASE`: violating priors, safe regions, and conditions on parameters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from paramverify.algebra.expressions import constant
from paramverify.answers import Decision, Open
from paramverify.claims import Claim
from paramverify.cli import _output
from paramverify.cli._common import (
    OUTPUT_FILE,
    case_argument,
    json_option,
    print_json,
    progress_bar,
    say,
    session_option,
    session_options,
    time_limit,
    timeout_option,
    write_json,
)
from paramverify.cli._exits import Exit
from paramverify.cli._violating import violating_prior
from paramverify.cli.budget import best_bound
from paramverify.errors import InputError, LimitError, UnsupportedError, located
from paramverify.evidence.witnesses import AnyWitness
from paramverify.models.model import Model
from paramverify.portfolio.elimination import eliminate
from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import Case, load
from paramverify.reports import synthesis as telling
from paramverify.reports.evidence import about
from paramverify.reports.pictures.curves import ratio_curve
from paramverify.reports.pictures.regions import check, draw, draw_interval
from paramverify.reports.roots import closed_form
from paramverify.reports.synthesis import Answer
from paramverify.synthesis.intervals import Partition, Root
from paramverify.synthesis.map_documents import to_document as map_document
from paramverify.synthesis.map_files import cell_file
from paramverify.synthesis.maps import Cell, RegionMap, Status
from paramverify.synthesis.optimum import Optimum, optimum_of_map, optimum_of_parts
from paramverify.synthesis.questions import (
    axes_of,
    flat_constraint,
    region_claims,
    witness_in_map,
    witness_of,
)
from paramverify.synthesis.refinement import exact_parts
from paramverify.synthesis.regions import region_map

LISTED = (30, "Find violating priors, safe regions, and design parameters that make a case private.")

DECIDED = (Status.SAFE, Status.VIOLATING, Status.OUTSIDE)


class _Files(NamedTuple):
    """The files that the user named, and what they need.

    `lift` ends the time limit before they are written; `obligations` of the model are part of the evidence.
    """

    state: Path | None
    plot: Path | None
    evidence: Path | None
    lift: Callable[[], None]
    obligations: tuple[tuple[Claim, Decision], ...]


@click.command("synthesize")
@case_argument
@click.option("--witness", is_flag=True, help="A violating prior, or that there is none.")
@click.option("--region", is_flag=True, help="A map of safe, violating and undecided boxes.")
@click.option("--exact", is_flag=True, help="Exact intervals of one parameter; a condition on several.")
@click.option(
    "--objective",
    type=click.Choice(["simplest", "ratio", "nearest"]),
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
    default="0.01",
    show_default=True,
    help="Share of the volume of the domain that a map may leave undecided.",
)
@click.option(
    "--state", type=OUTPUT_FILE, help="Keep the map in this file, and go on where an earlier run ended."
)
@click.option("--plot", type=OUTPUT_FILE, help="Draw the answer (.svg or .png).")
@click.option("--evidence", type=OUTPUT_FILE, help="Write evidence of --witness or --region, to be checked.")
@json_option
@timeout_option
@session_option
def command(
    case: str,
    witness: bool,
    region: bool,
    exact: bool,
    objective: str | None,
    near: tuple[str, ...],
    precision: str,
    parameters: str | None,
    coverage: str,
    state: Path | None,
    plot: Path | None,
    evidence: Path | None,
    as_json: bool,
    timeout: float,
    backends: str | None,
    strategy: str | None,
    confirm: int,
) -> int:
    """Find violating priors, safe regions, and design parameters that make a case private.

    Without a form: exact intervals for one parameter, and a region map for more. Exit code 0 if the answer is
    complete, 1 if --witness found a violating prior or no value of the design parameters is private, 3 if the
    limits did not suffice, 130 if it was interrupted; a map is told as far as it is known then.
    """
    form = _form(
        witness, region, exact=exact, about_prior=bool(objective or near), state=state, evidence=evidence
    )
    _check_plot(form, plot)
    _check_use(form, objective in ("ratio", "nearest") or bool(near))
    tolerance, share = _number("--precision", precision), _number("--coverage", coverage)
    options = replace(session_options(timeout, backends, strategy, confirm), on_bound=best_bound())
    with time_limit(timeout) as lift, Session(options) as session:
        loaded = load(case)
        model = loaded.model
        doubt, obligations = discharge(session, model)
        if doubt:
            raise LimitError(f"the model is in doubt: {doubt.detail}")
        if form == "witness":
            code, document, lines = violating_prior(
                loaded, session, objective=objective, near=near, tolerance=tolerance, evidence=evidence
            )
        else:
            claims = region_claims(model)
            axes = axes_of(loaded, claims, _names(parameters))
            files = _Files(state, plot, evidence, lift, obligations)
            code, document, lines = _answer(
                loaded, claims, axes=axes, session=session, form=form, coverage=share, files=files
            )
    if as_json:
        print_json(document | {"notes": list(model.notes)})
    else:
        for line in [*lines, *(f"Note: {note}." for note in model.notes)]:
            say(line)
    return code


def _form(
    witness: bool, region: bool, exact: bool, about_prior: bool, state: Path | None, evidence: Path | None
) -> str | None:
    """Returns the form of the answer, or None for the one that suits the case.

    Raises:
        UsageError: options that exclude each other.
    """
    given = [n for n, flag in (("witness", witness), ("region", region), ("exact", exact)) if flag]
    if len(given) > 1:
        raise click.UsageError("give one of --witness, --region and --exact")
    if about_prior:
        given = given or ["witness"]
        if given != ["witness"]:
            raise click.UsageError("--objective and --near go with --witness")
    if state:
        given = given or ["region"]
        if given != ["region"]:
            raise click.UsageError("--state goes with --region")
    if evidence:
        given = given or ["region"]
        if given == ["exact"]:
            raise click.UsageError("--evidence goes with --witness and --region")
    return given[0] if given else None


def _check_plot(form: str | None, plot: Path | None) -> None:
    if plot and form == "witness":
        raise click.UsageError("--plot goes with --region and --exact")
    if plot:
        check(plot)


def _check_use(form: str | None, near_best: bool) -> None:
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
    if "parameters" in given and form == "witness":
        raise click.UsageError("--parameters goes with --region and --exact")
    if "coverage" in given and form in ("witness", "exact"):
        raise click.UsageError("--coverage goes with --region")
    if "precision" in given and not near_best:
        raise click.UsageError("--precision goes with --objective ratio and --near")
    if "parameters" in given and not _names(context.params["parameters"]):
        raise click.UsageError("--parameters needs at least one name")


def _names(given: str | None) -> list[str]:
    return [name.strip() for name in (given or "").split(",") if name.strip()]


def _number(option: str, given: str) -> Fraction:
    with located(key=option):
        value = constant(given)
        if not 0 < value < 1:
            raise InputError("a number between 0 and 1 is needed")
        return value


# --- regions and conditions --------------------------------------------------------------------------


def _answer(
    case: Case,
    claims: Sequence[Claim],
    axes: Sequence[str],
    session: Session,
    form: str | None,
    coverage: Fraction,
    files: _Files,
) -> Answer:
    """Returns the intervals, the condition, or the map, whichever was asked for or suits the case."""
    if form != "region" and len(axes) == 1:
        try:
            left = session.deadline - time.monotonic()
            found = exact_parts(claims, case.model.domain, axes[0], left)
        except UnsupportedError:
            if form != "exact":
                return _region(case, claims, axes=axes, session=session, coverage=coverage, files=files)
        else:
            return _parts(case, found, session, files)
    if form == "exact":
        if files.plot:
            raise click.UsageError("--plot needs --region here")
        return _condition(case, claims, axes, session)
    return _region(case, claims, axes=axes, session=session, coverage=coverage, files=files)


def _parts(case: Case, found: Partition, session: Session, files: _Files) -> Answer:
    domain = case.model.domain
    witnesses: dict[int, AnyWitness] = {}
    for number, part in enumerate(found.parts):
        witness = None
        if part.status is Status.VIOLATING:
            witness = witness_of(case.model, session, found, part)
        if witness:
            witnesses[number] = witness
    document = {"form": "exact", **telling.partition_document(found, domain, witnesses)}
    lines = telling.partition_lines(case, found, witnesses)
    best = None
    if case.design and case.design.objective == found.parameter:
        best = optimum_of_parts(found, case.design.sense)
    code = _with_optimum(case, best, bool(found.having(Status.SAFE)), document, lines)
    if files.plot:
        files.lift()
        _draw_parts(case, found, files.plot)
    return code, document, lines


def _with_optimum(
    case: Case, best: Optimum | None, possible: bool, document: dict[str, Any], lines: list[str]
) -> int:
    """Adds the best value of a design parameter to an answer; returns the exit code."""
    if best:
        lines.append(telling.optimum_line(best, case.model.domain.constant))
        document["optimum"] = telling.optimum_document(best, case.model.domain.constant)
    if case.design and not possible:
        lines.append("no value of the design parameters makes it private")
        return Exit.VIOLATED
    return Exit.HOLDS


def _condition(case: Case, claims: Sequence[Claim], axes: Sequence[str], session: Session) -> Answer:
    left = session.deadline - time.monotonic()
    found = eliminate(claims, axes, case.model.domain, left)
    names = ", ".join(axes)
    document: dict[str, Any] = {"form": "exact", "parameters": list(axes)}
    if isinstance(found, Open):
        reason = f"{found.end.value}: {found.detail}"
        lines = [f"no condition on {names} was found: {reason}"]
        return Exit.UNKNOWN, document | {"status": "unknown", "reason": reason}, lines
    lines = [telling.condition_line(case, names, found.text)]
    lines += [f"  by qepcad; compared exactly at {found.checked} points"]
    return Exit.HOLDS, document | {"condition": found.text, "checked": found.checked}, lines


def _region(
    case: Case,
    claims: Sequence[Claim],
    axes: Sequence[str],
    session: Session,
    coverage: Fraction,
    files: _Files,
) -> Answer:
    domain = case.model.domain
    flat = flat_constraint(domain, axes, session)
    if flat:
        reason = f"the parameter domain has no interior, because of {flat}: a map has nothing to show"
        raise InputError(f"{reason}; `verify` decides the case, `--witness` looks for violating priors")
    found, complete = _map(case, claims, axes=axes, session=session, coverage=coverage, state=files.state)
    if files.plot or files.evidence:
        files.lift()
    witness = None if found.stopped else witness_in_map(case.model, session, found)
    document = {"form": "region", **telling.map_document(found, witness)}
    lines = telling.map_lines(case, found, witness)
    if complete:
        document["state"] = "complete"
        lines.append(f"  complete already: all cells are from {files.state}")
    best = None
    if case.design and case.design.objective in found.parameters:
        best = optimum_of_map(found, case.design.objective, case.design.sense)
    possible = found.shares[Status.SAFE].upper > 0 or found.shares[Status.UNDECIDED].upper > 0
    code = _with_optimum(case, best, possible, document, lines)
    if found.stopped:
        if files.plot or files.evidence:
            lines.append("  stopped before the picture and the evidence were written")
        return Exit.INTERRUPTED, document, lines
    if files.plot:
        draw(found, files.plot, title=case.title, budget=case.budget)
    if files.evidence:
        write_json(files.evidence, map_document(found, domain) | about(case, files.obligations))
    done = not found.interrupted and found.share(Status.UNDECIDED) <= coverage
    return code if done else Exit.UNKNOWN, document, lines


def _map(
    case: Case,
    claims: Sequence[Claim],
    axes: Sequence[str],
    session: Session,
    coverage: Fraction,
    state: Path | None,
) -> tuple[RegionMap, bool]:
    """Returns the map, and whether the state file had all of it; on a terminal shows how much is decided."""
    domain = case.model.domain
    whole = _size((domain.box[n].lower, domain.box[n].upper) for n in axes)
    file = cell_file(state, claims, domain, axes) if state else nullcontext(((), None))
    with progress_bar("region") as progress, file as (known, keep):
        sizes = dict.fromkeys(Status, Fraction(0))
        for cell in known:
            sizes[cell.status] += _size(cell.box)
        new = 0

        def on_cell(cell: Cell) -> None:
            nonlocal new
            new += 1
            sizes[cell.status] += _size(cell.box)
            if keep:
                keep(cell)
            shares: dict[Status, float] = {s: float(v / whole) for s, v in sizes.items() if s in DECIDED}
            _output.found(*telling.so_far(case, shares, state))
            progress(int(1000 * sum(shares.values())), 1000)

        # What is open in the end is put together after that, and a witness is looked for.
        left = max(0.0, 0.8 * (session.deadline - time.monotonic()))
        found = region_map(
            claims, domain, axes, coverage, on_cell=on_cell, known=known, session=session, seconds=left
        )
        if keep:  # how the rest was cut saves time when it is gone on with
            old = set(known)
            for cell in found.cells:
                if cell.status is Status.UNDECIDED and cell not in old:
                    keep(cell)
        return found, bool(known) and not new and not found.interrupted


def _size(box: Iterable[tuple[Fraction, Fraction]]) -> Fraction:
    """Returns the volume of a box."""
    return prod((high - low for low, high in box), start=Fraction(1))


def _draw_parts(case: Case, found: Partition, path: Path) -> None:
    domain = case.model.domain
    curve = ratio_curve(case.model, found.parameter) if isinstance(case.model, Model) else None

    def shown(root: Root) -> str | None:
        return closed_form(root, domain.constant)

    draw_interval(found, path, title=case.title, budget=case.budget, curve=curve, text=shown)
