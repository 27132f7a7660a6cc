"""A comparison in the forms of others: the scores of SMT-COMP, and results and tables of BenchExec.

A score of SMT-COMP is (errors, correct answers, time), better in this order: fewer, more, less ([Weber19]).
The parallel score counts answers within the wall-clock limit and their wall-clock time; the sequential one
those within so much processor time, and that time. The sat and unsat scores count such answers alone, and the
24 seconds score those within 24 seconds of wall-clock time. BenchExec's result files are those of [Beyer19].
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from paramverify.answers import DECIDED, Standing
from paramverify.comparison.comparison_subjects import as_it_is
from paramverify.comparison.comparison_summary import (
    BenchmarkProblem,
    ComparisonSummary,
    Configuration,
    MedianRun,
)

QUICK = 24.0  # seconds
DOCTYPE = (
    '<!DOCTYPE result PUBLIC "+//IDN sosy-lab.org//DTD BenchExec result 3.0//EN" '
    '"https://www.sosy-lab.org/benchexec/result-3.0.dtd">\n'
)
UNITS = {"cputime": "s", "walltime": "s", "memory": "B"}
COLUMNS = ("status", "category", "cputime", "walltime", "memory")


def smt_comp(comparison: ComparisonSummary) -> list[dict[str, Any]]:
    """Returns the scores of each configuration, the best parallel score of an encoding first."""
    rows = [
        {**configuration._asdict(), **_scores(runs.values(), comparison.timeout)}
        for configuration, runs in comparison.runs.items()
    ]
    return sorted(rows, key=lambda r: (r["encoding"], r["errors"], -r["parallel"], r["parallel_seconds"]))


def _scores(runs: Iterable[MedianRun], timeout: float) -> dict[str, Any]:
    found = list(runs)
    # What is not known to be wrong counts in the competition, whoever else doubts it.
    solved = [run.record for run in found if run.record["status"] in DECIDED and not run.wrong]
    in_time = [r for r in solved if r["wall"] <= timeout]

    def count(accept: Callable[[Mapping[str, Any]], bool], time: str) -> tuple[int, float]:
        chosen = [r[time] for r in solved if accept(r)]
        return len(chosen), round(sum(chosen), 6)

    parallel = count(lambda r: r["wall"] <= timeout, "wall")
    sequential = count(lambda r: r["cpu"] <= timeout, "cpu")
    return {
        "errors": sum(run.wrong for run in found),
        "parallel": parallel[0],
        "parallel_seconds": parallel[1],
        "sequential": sequential[0],
        "sequential_seconds": sequential[1],
        "sat": sum(r["status"] == Standing.VIOLATED for r in in_time),
        "unsat": sum(r["status"] == Standing.HOLDS for r in in_time),
        "within_24": sum(r["wall"] <= QUICK for r in in_time),
    }


# --- BenchExec ----------------------------------------------------------------------------------------


def task_name(problem: BenchmarkProblem) -> str:
    """Returns a name for a problem: the file and, of several, the number of the claim or question."""
    return f"{problem.case}:{problem.claim}"


def _cells(run: MedianRun) -> dict[str, str]:
    """Returns the columns of a run: seconds and bytes with their units, as BenchExec has them."""
    record = run.record
    standing = Standing(record["status"])
    status = standing.of_script if as_it_is(record["encoding"]) else standing.of_claim
    if standing is Standing.UNKNOWN:
        status = {"timeout": "TIMEOUT", "memory": "OUT OF MEMORY", "crashed": "ERROR"}.get(
            record["end"], "unknown"
        )
    category = "wrong" if run.wrong else "correct" if run.solved else "unknown"
    if run.solved and not run.known:
        category = "unknown"
    if status in ("ERROR", "OUT OF MEMORY", "TIMEOUT"):
        category = "error"
    return {
        "status": status,
        "category": category,
        "cputime": f"{record['cpu']:.6f}s",
        "walltime": f"{record['wall']:.6f}s",
        "memory": f"{record['memory']}B",
    }


def result_xml(comparison: ComparisonSummary, configuration: Configuration) -> str:
    """Returns the runs of a configuration as a result file, which `table-generator` of BenchExec reads."""
    runs = comparison.runs[configuration]
    first = next(iter(runs.values())).record
    root = Element(
        "result",
        {
            "benchmarkname": f"paramverify-{configuration.encoding}",
            "tool": configuration.backend,
            "version": str(first["version"]),
            "name": configuration.label,
            "options": " ".join(f"{k}={v}" for k, v in first["options"].items()),
            "timelimit": f"{comparison.timeout:g}s",
            "memlimit": f"{first['memory_limit']}B",
            "generator": f"paramverify {first['paramverify']}",
        },
    )
    columns = SubElement(root, "columns")
    for title in COLUMNS[:1] + COLUMNS[2:]:
        SubElement(columns, "column", {"title": title})
    for problem, run in runs.items():
        entry = SubElement(root, "run", {"name": task_name(problem)})
        for title, value in _cells(run).items():
            SubElement(entry, "column", {"title": title, "value": value})
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{DOCTYPE}{tostring(root, encoding="unicode")}\n'


def table(comparison: ComparisonSummary, encoding: str) -> str:
    """Returns a row for each problem and columns for each configuration, separated by tabs.

    The first three lines are the tools, the run sets and the titles, as in tables of BenchExec.
    """
    chosen = [c for c in comparison.runs if c.encoding == encoding]
    problems = dict.fromkeys(p for c in chosen for p in comparison.runs[c])
    output = io.StringIO()
    writer = csv.writer(output, delimiter="\t", lineterminator="\n")
    writer.writerow(["tool", *(c.backend for c in chosen for _ in COLUMNS)])
    writer.writerow(["run set", *(c.label for c in chosen for _ in COLUMNS)])
    titles = [_title(title) for title in COLUMNS]
    writer.writerow([encoding, *(title for _ in chosen for title in titles)])
    for problem in problems:
        row = [task_name(problem)]
        for configuration in chosen:
            run = comparison.runs[configuration].get(problem)
            cells = _cells(run) if run else {}
            row += [cells.get(title, "").removesuffix(UNITS.get(title, "")) for title in COLUMNS]
        writer.writerow(row)
    return output.getvalue()


def _title(name: str) -> str:
    return f"{name} ({UNITS[name]})" if name in UNITS else name


# --- the numbers behind the plots --------------------------------------------------------------------------


def plot_data(comparison: ComparisonSummary, encoding: str) -> dict[str, str]:
    """Returns the numbers of the plots of an encoding as CSV, by the names of the plots.

    `cactus` has the k-th smallest time of each configuration; `scatter` the time of each problem, empty where
    it was not solved, with and without simplification.
    """
    chosen = [c for c in comparison.runs if c.encoding == encoding]
    best = comparison.best(encoding)
    curves = [("virtual best", best), *((c.label, comparison.left(c)) for c in chosen)]
    cactus = [
        (label, k, f"{seconds:.6f}")
        for label, runs in curves
        for k, seconds in enumerate(sorted(r.penalty for r in runs.values() if r.solved), 1)
    ]
    scatter = [(task_name(problem), *(_time(runs.get(problem)) for _, runs in curves)) for problem in best]
    return {
        "cactus": _csv([("configuration", "solved", "seconds"), *cactus]),
        "scatter": _csv([("problem", *(label for label, _ in curves)), *scatter]),
    }


def _time(run: MedianRun | None) -> str:
    return f"{run.penalty:.6f}" if run and run.solved else ""


def _csv(rows: Iterable[Iterable[object]]) -> str:
    output = io.StringIO()
    csv.writer(output, lineterminator="\n").writerows(rows)
    return output.getvalue()
