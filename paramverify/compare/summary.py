"""What the results of a comparison say: scores, the virtual best backend, disagreements and wrong answers.

A configuration is an encoding, a backend, and simplification on or off. Of several repetitions the median run
counts. PAR-2 is the mean over all claims of the seconds that a configuration needed, where one that was not
solved, or answered wrongly, counts as twice the time limit (the score of the SAT competitions). The
virtual best backend takes, for each claim, the best of all configurations of an encoding.

A claim that simplification settles before a backend is asked is nobody's merit. Such claims are counted on a
line of their own; they are not among the claims of the configurations that simplify first, nor among those
of the virtual best, the contributions and the plots.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from paramverify.answers import DECIDED, Standing
from paramverify.compare.judgement import Judgement, is_wrong, judge
from paramverify.compare.results import Record
from paramverify.compare.subjects import Encoded, Skipped, Subjects, as_it_is

OPEN = {"timeout": "timeout", "memory": "out_of_memory", "gave up": "gave_up"}
FIELDS = (
    *("case", "encoding", "claim", "digest", "origin", "backend", "version", "options", "simplification"),
    *("timeout", "memory_limit", "repeat", "status", "end", "detail", "evidence", "asked", "known"),
    *("wall", "cpu", "memory", "machine", "paramverify"),
)


class Configuration(NamedTuple):
    """What is compared with each other, within an encoding."""

    encoding: str
    backend: str
    simplification: str

    @property
    def label(self) -> str:
        """A short name for plots."""
        if as_it_is(self.encoding):
            return self.backend
        return self.backend if self.simplification == "on" else f"{self.backend}, not simplified"


class BenchmarkProblem(NamedTuple):
    """What is solved or not."""

    case: str
    encoding: str
    claim: int


@dataclass(frozen=True)
class MedianRun:
    """The median run of a configuration on a problem; `penalty` is what it counts for in PAR-2.

    `known` says whether the right answer is known.
    """

    record: Record
    solved: bool
    penalty: float
    wrong: bool = False
    known: bool = False


@dataclass(frozen=True)
class ComparisonSummary:
    """The results of a comparison, and what they say."""

    records: Sequence[Record]
    encoded: Sequence[Encoded]
    skipped: Sequence[Skipped]
    timeout: float
    judgement: Judgement
    runs: Mapping[Configuration, Mapping[BenchmarkProblem, MedianRun]] = field(repr=False)

    @staticmethod
    def of(
        records: Sequence[Record], subjects: Subjects, skipped: Sequence[Skipped], timeout: float
    ) -> ComparisonSummary:
        """Returns what the results say; all have the same time limit.

        Where files state different things of one question, none of them is taken, and that is told.
        """
        expected, contrary = _expected(subjects)
        skipped = [*skipped, *contrary]
        judgement = judge(records, expected, subjects.encoded)
        grouped: dict[Configuration, dict[BenchmarkProblem, list[MedianRun]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for record in records:
            configuration = Configuration(record["encoding"], record["backend"], record["simplification"])
            problem = BenchmarkProblem(record["case"], record["encoding"], record["claim"])
            solved = record["status"] in DECIDED and not is_wrong(record, judgement.known)
            penalty = min(float(record["wall"]), timeout) if solved else 2 * timeout
            wrong = is_wrong(record, judgement.known)
            known = record["digest"] in judgement.known
            grouped[configuration][problem].append(MedianRun(record, solved, penalty, wrong, known))
        runs = {
            c: {p: sorted(found, key=lambda r: r.penalty)[len(found) // 2] for p, found in problems.items()}
            for c, problems in sorted(grouped.items())
        }
        return ComparisonSummary(
            records, subjects.encoded, skipped=skipped, timeout=timeout, judgement=judgement, runs=runs
        )

    def encodings(self) -> list[str]:
        """Returns the encodings that were compared."""
        return list(dict.fromkeys(c.encoding for c in self.runs))

    @cached_property
    def settled(self) -> Mapping[BenchmarkProblem, MedianRun]:
        """The problems that simplification settles before a backend is asked, with the quickest run each."""
        found: dict[BenchmarkProblem, MedianRun] = {}
        for runs in self.runs.values():
            for problem, run in runs.items():
                best = found.get(problem, run)
                if run.solved and not run.record.get("asked", True) and run.penalty <= best.penalty:
                    found[problem] = run
        return found

    def left(self, configuration: Configuration) -> dict[BenchmarkProblem, MedianRun]:
        """Returns the runs of a configuration on the problems that simplification leaves."""
        return {p: run for p, run in self.runs[configuration].items() if p not in self.settled}

    def asked(self, configuration: Configuration) -> dict[BenchmarkProblem, MedianRun]:
        """Returns the runs of a configuration in which its backend had something to decide."""
        simplified = configuration.simplification == "on"
        return self.left(configuration) if simplified else dict(self.runs[configuration])

    def best(self, encoding: str, without: str = "") -> dict[BenchmarkProblem, MedianRun]:
        """Returns the virtual best run of each problem that is left, over all backends but one."""
        best: dict[BenchmarkProblem, MedianRun] = {}
        for configuration in self.runs:
            if configuration.encoding == encoding and configuration.backend != without:
                for problem, run in self.left(configuration).items():
                    if problem not in best or run.penalty < best[problem].penalty:
                        best[problem] = run
        return best


def _expected(subjects: Subjects) -> tuple[dict[str, str], list[Skipped]]:
    """Returns what files say of questions, by digest, and of which of them they contradict each other."""
    stated: dict[str, set[str]] = defaultdict(set)
    for subject in subjects.subjects:
        if subject.expected:
            stated[subject.digest].add(subject.expected)
    contrary = [
        Skipped(
            f"what {subject.case} says of number {subject.number}",
            "another file says the contrary of the same question",
        )
        for subject in subjects.subjects
        if subject.expected and len(stated[subject.digest]) > 1
    ]
    return {digest: found.pop() for digest, found in stated.items() if len(found) == 1}, contrary


# --- scores -----------------------------------------------------------------------------------------


def score(runs: Mapping[BenchmarkProblem, MedianRun]) -> dict[str, Any]:
    """Returns the numbers of one row of the table."""
    records = [run.record for run in runs.values()]
    solved = [run.record for run in runs.values() if run.solved]
    counts: dict[str, int] = {status: sum(r["status"] == status for r in solved) for status in DECIDED}
    unknown = [
        run.record["end"]
        for run in runs.values()
        if run.record["status"] == Standing.UNKNOWN and not run.wrong
    ]
    ends = {name: unknown.count(end) for end, name in OPEN.items()}
    return {
        "claims": len(runs),
        "solved": len(solved),
        **counts,
        **ends,
        "crashed": len(unknown) - sum(ends.values()),
        "wrong": sum(run.wrong for run in runs.values()),
        "par2": round(sum(run.penalty for run in runs.values()) / len(runs), 6) if runs else None,
        "wall": round(sum(r["wall"] for r in records), 6),
        "cpu": round(sum(r["cpu"] for r in records), 6),
        "peak_memory": max((r["memory"] for r in records), default=0),
    }


def summary(comparison: ComparisonSummary) -> dict[str, Any]:
    """Returns the comparison as JSON data; times are seconds, memory is bytes."""
    rows, best_rows, contributions, unsolved, simplified = [], [], [], [], []
    for configuration in comparison.runs:
        rows.append({**configuration._asdict(), **score(comparison.asked(configuration))})
    for encoding in comparison.encodings():
        best = comparison.best(encoding)
        settled = sum(p.encoding == encoding for p in comparison.settled)
        simplified.append({"encoding": encoding, "claims": settled + len(best), "settled": settled})
        best_rows.append({"encoding": encoding, **score(best)})
        unsolved += [p._asdict() for p, run in best.items() if not run.solved]
        names = dict.fromkeys(c.backend for c in comparison.runs if c.encoding == encoding)
        for name in names:
            others = comparison.best(encoding, without=name)
            fastest = [p for p, run in best.items() if run.solved and run.record["backend"] == name]
            only = [p for p in fastest if p not in others or not others[p].solved]
            rest = [others[p].penalty if p in others else 2 * comparison.timeout for p in best]
            if not best:
                continue
            loss = (sum(rest) - sum(run.penalty for run in best.values())) / len(best)
            contributions.append(
                {
                    "encoding": encoding,
                    "backend": name,
                    "fastest": len(fastest),
                    "only": len(only),
                    "alone": [p._asdict() for p in only],
                    "par2_without": round(sum(rest) / len(best), 6),
                    "par2_loss": round(loss, 6),
                }
            )
    first = comparison.records[0]
    return {
        "timeout": comparison.timeout,
        "repeat": max(r["repeat"] for r in comparison.records),
        "attempts": len(comparison.records),
        "paramverify": first["paramverify"],
        "machine": first["machine"],
        "backends": {
            r["backend"]: {"version": r["version"], "options": r["options"]} for r in comparison.records
        },
        "cases": [file.document() for file in comparison.encoded],
        "skipped": [vars(part) for part in comparison.skipped],
        "simplification": simplified,
        "configurations": rows,
        "virtual_best": best_rows,
        "encodings": side_by_side(comparison),
        "contributions": contributions,
        "unsolved": unsolved,
        "disagreements": list(comparison.judgement.disagreements),
        "wrong": list(comparison.judgement.wrong),
    }


def side_by_side(comparison: ComparisonSummary) -> list[dict[str, Any]]:
    """Returns one row for each case and encoding: the claims, and the seconds to make and to decide them.

    Deciding takes the sum of the virtual best's times; it is None where a claim that had to be decided was
    not: all of them where the case holds, and one that is violated otherwise. Then its time counts alone.
    """
    best: dict[tuple[str, str], list[MedianRun]] = defaultdict(list)
    for encoding in comparison.encodings():
        for problem, run in comparison.best(encoding).items():
            best[problem.case, encoding].append(run)
    for problem, run in comparison.settled.items():
        best[problem.case, problem.encoding].append(run)
    rows = []
    for file in comparison.encoded:
        runs = best[file.case, file.encoding]
        solved = [run for run in runs if run.solved]
        refuted = [run.penalty for run in solved if run.record["status"] == Standing.VIOLATED]
        status, seconds = Standing.UNKNOWN, None
        if refuted:
            status, seconds = Standing.VIOLATED, round(min(refuted), 6)
        elif len(solved) == file.claims:
            status, seconds = Standing.HOLDS, round(sum(run.penalty for run in solved), 6)
        rows.append({**file.document(), "status": status, "verdict": file.word(status), "deciding": seconds})
    return rows


def csv_text(records: Iterable[Record]) -> str:
    """Returns the results as CSV, one row for each attempt, mappings written `name=value name=value`."""
    output = io.StringIO()
    writer = csv.DictWriter(output, FIELDS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for record in records:
        flat = {
            name: " ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, Mapping) else value
            for name, value in record.items()
        }
        writer.writerow(flat)
    return output.getvalue()
