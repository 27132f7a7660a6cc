"""`paramverify report CASE...`: a page about cases, to be handed over."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from paramverify.answers import Standing
from paramverify.cli import _output
from paramverify.cli._common import (
    OUTPUT_FILE,
    functions_as_cases,
    json_option,
    print_json,
    progress_bar,
    say,
    session_option,
    session_options,
    time_limit,
    timeout_option,
    write_text,
)
from paramverify.cli._exits import STATUS_CODES
from paramverify.cli._settings import set_option, settings
from paramverify.errors import LimitError
from paramverify.pages.comparison import read_summary
from paramverify.pages.handing import beside
from paramverify.pages.page import page
from paramverify.pages.summary import word
from paramverify.pages.work import Examined, PageOptions, PrivacyWork, examine
from paramverify.reports import json_documents, sentences
from paramverify.subjects.written_numbers import share

LISTED = (410, "Write a web page about cases, with question, verdict, map and evidence.")

ORDER = (Standing.VIOLATED, Standing.UNKNOWN, Standing.HOLDS)


@click.command("report")
@click.argument(
    "cases", metavar="CASE...", nargs=-1, required=True, type=click.Path(), callback=functions_as_cases
)
@click.option(
    "--output", "-o", "output", type=OUTPUT_FILE, required=True, help="Write the page to this .html file."
)
@set_option
@click.option("--title", default="", metavar="TEXT", help="Set the title of the page.")
@click.option(
    "--parameters",
    default="",
    metavar="NAMES",
    help="Draw the map over these parameters; it covers all values of the others.",
)
@click.option(
    "--coverage",
    help="Leave at most this share of the domain undecided in a map; by default 0.02 for one or two "
    "parameters, 0.05 for three, 0.08 for more.",
)
@click.option(
    "--comparison",
    type=click.Path(),
    metavar="FILE",
    help="Add the table of backends from this summary.json, which `compare` writes.",
)
@json_option
@timeout_option
@session_option
def command(
    cases: tuple[str, ...],
    output: Path,
    title: str,
    parameters: str,
    coverage: str | None,
    comparison: str | None,
    as_json: bool,
    timeout: float,
    backends: str | None,
    strategy: str | None,
    confirm: int,
) -> int:
    """Write a web page about cases, with question, verdict, map and evidence.

    \b
    Example:
      paramverify report case.toml -o report.html

    The page is one file, works without a network, and contains the evidence and the case files. Evidence of
    more than 8 million characters is written to a separate file next to the page. The cases share the time of
    --timeout; if a limit ends the run, the page is about the cases that were examined by then.

    The exit code is that of the worst verdict; not private (1) is worse than undecided (3).
    """
    if output.suffix.lower() not in (".html", ".htm") and (output.is_file() or not output.exists()):
        raise click.UsageError(
            f"the name {output} does not end in .html: write {output.with_suffix('.html')}"
        )
    options = session_options(timeout, backends, strategy, confirm)
    wanted = None if coverage is None else share(coverage, "--coverage")
    axes = tuple(name.strip() for name in parameters.split(",") if name.strip())
    compared = None if comparison is None else read_summary(Path(comparison))
    until = time.monotonic() + options.seconds
    found: list[Examined] = []

    def write() -> None:
        with time_limit(timeout) as lift:
            lift()
            write_text(output, page(found, title, compared))
            for name, text in beside(found).items():
                write_text(output.parent / name, text)

    def remember(*more: str) -> None:
        told = f"  {len(found)} of {len(cases)} cases had been examined by then."
        _output.found([told, *more], {"cases": [_document(work) for work in found]})

    with progress_bar("cases") as progress:
        for number, case in enumerate(cases):
            seconds = (until - time.monotonic()) / (len(cases) - number)
            limits = PageOptions(options, wanted, lambda left: time_limit(timeout, left), axes, settings())
            try:
                found.append(examine(case, limits, max(0.01, seconds)))
            except LimitError:
                if found:
                    write()
                    remember(f"  The page {output} is about these cases only.")
                raise
            remember()
            progress(number + 1, len(cases))
    write()
    status = next(s for s in ORDER if any(work.standing is s for work in found))
    if as_json:
        print_json({"status": status, "page": str(output), "cases": [_document(work) for work in found]})
        return STATUS_CODES[status]
    for work in found:
        say(f"{word(work)}: {work.source.path}")
    say(f"written: {output}")
    return STATUS_CODES[status]


def _document(work: Examined) -> dict[str, Any]:
    """Returns the verdict on a case as JSON data, as `verify` has it, and the digests of what was written."""
    digests = {"digest": work.case.digest, "evidence": work.evidence.digest}
    told = {"case": work.source.path, "status": work.standing}
    if not isinstance(work, PrivacyWork):
        return {**told, "verdict": word(work), **digests}
    verdict = sentences.verdict(work.standing, work.case.model)
    more = json_documents.side_condition(work.case.model) | json_documents.larger(work.report.larger)
    return {**told, "verdict": verdict, **digests, **more}
