"""`paramverify compose COMPONENT...`: certified delta and epsilon of many releases together."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import click

from paramverify.cli import _output
from paramverify.cli._common import (
    OUTPUT_FILE,
    json_option,
    print_json,
    say,
    session_options,
    time_limit,
    timeout_option,
    write_evidence,
)
from paramverify.cli._exits import Exit
from paramverify.cli._pictures import Picture, picture_options
from paramverify.cli._settings import set_option, settings
from paramverify.composition.case_releases import read_case
from paramverify.composition.composing import Component, Composition, DeltaCurve, DirectedRelease, ask, curve
from paramverify.composition.loss_grids import ProvedBounds
from paramverify.composition.written_releases import read_components, read_question, repeated
from paramverify.models.settings import Settings
from paramverify.portfolio.session import Session
from paramverify.reports import composition_reports
from paramverify.subjects.written_numbers import share

LISTED = (310, "Compute certified bounds on epsilon or delta for many releases together.")

WRITE = "Write the evidence to this file, for `paramverify check`."
SHARE = 0.9  # of the time that is left, for computing


@click.command("compose")
@click.argument("components", metavar="COMPONENT...", nargs=-1, required=True)
@click.option(
    "--times", type=click.IntRange(min=1), default=1, metavar="K", help="Compose all components K times."
)
@click.option("--delta-for", metavar="EPSILON", help="Find the least delta for this epsilon.")
@click.option("--epsilon-for", metavar="DELTA", help="Find the least epsilon for this delta.")
@click.option("--curve", "wants_curve", is_flag=True, help="Find the least delta as a function of epsilon.")
@click.option(
    "--precision",
    default="1e-4",
    show_default=True,
    help="Stop when the relative distance between the bounds is at most this, if no exact number is found.",
)
@set_option
@json_option
@timeout_option
@click.option("--evidence", "evidence", type=OUTPUT_FILE, help=WRITE)
@picture_options("Draw the curve of --curve to this file (.svg, .png or .pdf).")
def command(
    components: tuple[str, ...],
    times: int,
    delta_for: str | None,
    epsilon_for: str | None,
    wants_curve: bool,
    precision: str,
    as_json: bool,
    timeout: float,
    evidence: Path | None,
    plot: Picture | None,
) -> int:
    """Compute certified bounds on epsilon or delta for many releases together.

    \b
    Example:
      paramverify compose gaussian:sigma=20,times=10 --delta-for 1

    A COMPONENT is a case file, a kind of noise such as gaussian:sigma=2, or a file that lists components.
    After a colon, add values: the number of releases (times=10, or just 10), the sampling rate
    (subsample=1/100), and values of parameters of the case. The kinds of noise are gaussian, laplace,
    discrete_gaussian, discrete_laplace and randomized_response. The bounds hold for adversaries who choose a
    new pair of neighbouring inputs for each release.

    Exit codes: 0 if the number is exact or within the precision, 3 if not.
    """
    if (delta_for is not None) + (epsilon_for is not None) + wants_curve != 1:
        raise click.UsageError("say what to find: give exactly one of --delta-for, --epsilon-for and --curve")
    if evidence and wants_curve:
        raise click.UsageError(
            "--evidence cannot prove a whole curve: ask for one point of it with --delta-for"
        )
    if plot and not wants_curve:
        raise click.UsageError("--plot is only for a curve: add --curve")
    width = share(precision, "--precision")
    question = (
        None if wants_curve else read_question(delta_for, epsilon_for, ("--delta-for", "--epsilon-for"))
    )
    asked = composition_reports.CompositionRequest(delta_for, epsilon_for)
    options = session_options(timeout, None, None, 1)
    with time_limit(timeout) as lift:
        with Session(options) as session:
            read = [each for text in components for each in _components(text, session, times)]
        composition = Composition(tuple(read), deadline=time.monotonic() + SHARE * _output.remaining(timeout))
        if question is None:
            drawn = curve(composition, width)
            lift()
            return _tell_curve(composition, drawn, width, plot, as_json=as_json)
        composition.notify = _keep(asked)
        found = ask(composition, [question], width)[0]
        lift()
    if evidence:
        from paramverify.reports.composition_reports import composition_document

        write_evidence(evidence, composition_document(composition, found, question))
    if as_json:
        print_json(composition_reports.document(composition, found, asked))
    else:
        for line in composition_reports.lines(composition, found, asked):
            say(line)
    return Exit.HOLDS if found.between.is_within(width) else Exit.UNKNOWN


def _components(text: str, session: Session, times: int) -> list[Component]:
    def read(path: str, values: Settings) -> tuple[DirectedRelease, tuple[str, ...]]:
        return read_case(session, path, {**settings(), **values})

    return [repeated(each, times) for each in read_components(text, read)]


def _keep(asked: composition_reports.CompositionRequest) -> Callable[[ProvedBounds], None]:
    """Returns what keeps the bounds that are known, in case that a limit ends the run."""

    def keep(found: ProvedBounds) -> None:
        _output.found(*composition_reports.so_far(found, asked))

    return keep


def _tell_curve(
    composition: Composition, found: DeltaCurve, width: Fraction, plot: Picture | None, as_json: bool
) -> int:
    if plot:
        from paramverify.reports.pictures.privacy_plots import write_curve

        title = ", ".join(f"{each.name} ({each.times} times)" for each in composition.components)
        write_curve(found.points, title, plot.path, page=plot.page)
    if as_json:
        print_json(composition_reports.curve_document(composition, found))
    else:
        for line in composition_reports.curve_lines(composition, found):
            say(line)
    near = all(point.found.between.is_within(width) for point in found.points)
    return Exit.HOLDS if near else Exit.UNKNOWN
