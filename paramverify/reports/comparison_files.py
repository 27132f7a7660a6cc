"""The files of a comparison: its summary, tables, results for BenchExec, and plots."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paramverify import printable
from paramverify.comparison import comparison_summary, competition_formats
from paramverify.comparison.comparison_summary import ComparisonSummary
from paramverify.reports.pictures import plot_style

RESULTS = "results.jsonl"  # which is written while attempts are made
Write = Callable[[Path, str], object]


def document_of(made: ComparisonSummary) -> dict[str, Any]:
    """Returns what `summary.json` has, without the names of plots."""
    return comparison_summary.summary(made) | {"smt_comp": competition_formats.smt_comp(made)}


def write_files(made: ComparisonSummary, folder: Path, write: Write) -> tuple[dict[str, Any], list[str]]:
    """Writes CSV, JSON and plots; returns the summary, and what to say about the files."""
    document = document_of(made)
    write(folder / "results.csv", comparison_summary.csv_text(made.records))
    notes = []
    drawn: list[Path] = []
    tables = write_tables(made, folder, write)
    summary = folder / "summary.json"  # first without plots, which take some seconds
    write(summary, printable.json_text(document | {"plots": []}, indent=2) + "\n")
    if not made.complete:
        notes.append("No plots: they are drawn when the comparison has ended.")
    elif plot_style.available():
        from paramverify.reports.pictures.comparison_plots import write_plots

        for kind in ("cactus", "scatter"):  # of an earlier comparison here, perhaps of other backends
            for old in (p for ending in ("svg", "png", "pdf") for p in folder.glob(f"{kind}-*.{ending}")):
                old.unlink()
        drawn = write_plots(made, folder)
    else:
        notes.append(f"No plots: matplotlib is missing; to get it: {plot_style.INSTALL}")
    document["plots"] = [path.name for path in drawn]
    write(summary, printable.json_text(document, indent=2) + "\n")
    shown = [RESULTS, "results.csv", "summary.json", *tables, *(p.name for p in drawn if p.suffix == ".svg")]
    return document, [*notes, f"In {folder}: {', '.join(shown)}{' (and as .png and .pdf)' if drawn else ''}"]


def write_tables(made: ComparisonSummary, folder: Path, write: Write) -> list[str]:
    """Writes results and tables as BenchExec has them, and the numbers of the plots; returns their names.

    Those of an earlier comparison in the folder, perhaps of other backends or encodings, are removed.
    """
    for pattern in ("benchexec/*.results.xml", "table-*.csv", "cactus-*.csv", "scatter-*.csv"):
        for old in folder.glob(pattern):
            old.unlink()
    written: set[str] = set()
    for configuration in made.runs:
        name = re.sub(r"\W+", "-", f"{configuration.encoding}-{configuration.label}")
        while name in written:  # as of z3(seed=1) and z3(seed=-1)
            name += "-"
        written.add(name)
        (folder / "benchexec").mkdir(exist_ok=True)
        text = competition_formats.result_xml(made, configuration)
        write(folder / "benchexec" / f"{name}.results.xml", text)
    names = ["benchexec/"]
    for encoding in made.encodings():
        ending = re.sub(r"\W+", "-", encoding)
        files = {f"table-{ending}.csv": competition_formats.table(made, encoding)}
        files |= {f"{n}-{ending}.csv": t for n, t in competition_formats.plot_data(made, encoding).items()}
        for name, text in files.items():
            write(folder / name, text)
        names += files
    return names
