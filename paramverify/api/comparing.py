"""`compare`: solvers on the claims of many cases, and on scripts."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path

from paramverify.api.options import flag, memory_of, names_of
from paramverify.api.results import CompareReport
from paramverify.api.values import between, whole
from paramverify.comparison.comparing import Comparison
from paramverify.comparison.comparison_results import ResultsFile
from paramverify.comparison.comparison_runs import CompareOptions, run
from paramverify.errors import InputError
from paramverify.files import replacing
from paramverify.processes.time_limits import alarm
from paramverify.reports import comparison_reports
from paramverify.reports.comparison_files import RESULTS, document_of, write_files
from paramverify.reports.pictures import comparison_plots, plot_style

File = str | PathLike[str]
MAX_JOBS = 256


def compare(
    cases: File | Sequence[File],
    *,
    backends: str | Sequence[str] | None = None,
    encodings: str | Sequence[str] | None = None,
    timeout: float = 10.0,
    memory: str | int = "4GiB",
    repeat: int = 1,
    jobs: int = 1,
    raw: bool = False,
    results: File | Sequence[File] = (),
    output: File | None = None,
) -> CompareReport:
    """Compares backends on the claims of many cases: every backend tries every claim.

    Each backend runs with simplification and without it. Ctrl-C raises `KeyboardInterrupt`; the results until
    then are saved in `output`.

    Args:
        cases (path or list of paths): Case files, SMT-LIB scripts (.smt2), and folders with both.
        backends (text or list of texts): Run these backends; by default all that are installed.
        encodings (text or list of texts): Derive claims by these encodings; by default one that suits each
            case.
        timeout (number): Stop each attempt, and the reading of each file, after this many seconds of
            wall-clock time.
        memory (text or int): Limit the memory of each attempt: a size such as `"4GiB"`, or bytes.
        repeat (int): Make each attempt this many times.
        jobs (int): Run this many attempts in parallel, at most 256; their times are then measured on a busy
            machine.
        raw (bool): Pass claims to solvers unsimplified only, so that every claim counts in the scores.
        results (path or list of paths): Add results of other tools from these CSV files.
        output (path): Write results, tables and plots to this folder. Attempts that have results there are
            not made again.

    Returns:
        A report with `attempts` and `alarming`.

    Raises:
        InputError: A file or an argument has a mistake, or these backends can run nothing of it.
        LimitError: No file could be read within the time limit.

    Examples:
        >>> import paramverify
        >>> report = paramverify.compare("cases/geometric-independent.toml", backends="bernstein,roots")
        >>> report.alarming
        False
    """
    started = time.perf_counter()
    seconds = float(between("timeout", timeout))
    count = whole("jobs", jobs, 1)
    if count > MAX_JOBS:
        raise InputError(f"{count} is too large: give at most {MAX_JOBS}", key="jobs")
    choice = CompareOptions(
        names_of("backends", backends),
        seconds,
        memory_of(memory),
        whole("repeat", repeat, 1),
        jobs=count,
        raw=flag("raw", raw),
    )
    asked = Comparison.of(
        _files(cases),
        choice,
        names_of("encodings", encodings),
        map(Path, _files(results)),
        lambda path: alarm(seconds, seconds),
    )
    with tempfile.TemporaryDirectory() as unkept:
        folder = Path(unkept) if output is None else Path(output)
        with ResultsFile(folder / RESULTS) as kept:
            made = asked.summary(run(asked.attempts, asked.choice, kept))
    notes: list[str] = []
    if output is None:
        document = document_of(made)
    else:
        document, notes = write_files(made, folder, _write)
    drawn = max(made.encodings(), key=lambda name: len(made.best(name)))
    return CompareReport(
        kind="comparison",
        lines=(*comparison_reports.lines(document), *comparison_reports.alarm(made.judgement)),
        document=document,
        seconds=time.perf_counter() - started,
        notes=tuple(notes),
        alarming=made.judgement.alarming,
        attempts=tuple(made.records),
        result=made,
        _drawing=plot_style.styled(lambda axes: comparison_plots.cactus_figure(made, drawn, axes))
        if made.best(drawn)
        else None,
    )


def _files(given: object) -> list[str]:
    """Returns the paths of files and folders, of which there may be one or several."""
    listed = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    found: list[str] = []
    for each in listed:
        if not isinstance(each, (str, PathLike)):
            told = f"{type(each).__module__}.{type(each).__name__}"
            raise InputError(f"{told} is not a path: give the path of a file or folder")
        found.append(fspath(each))
    return found


def _write(path: Path, text: str) -> None:
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8", errors="backslashreplace")
