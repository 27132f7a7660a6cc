"""What the results of a comparison say: who is right, scores, the virtual best backend, and disagreements.

A configuration is an encoding, a backend, and simplification on or off. Of several repetitions the median run
counts. PAR-2 is the mean over all claims of the seconds that a configuration needed, where one that was not
solved, or answered wrongly, counts as twice the time limit (the score of the SAT competitions). The word of a
backend that gave a wrong answer somewhere counts only where something else shows the same. The
virtual best backend takes, for each claim, the best of all configurations of an encoding.

A claim that simplification settles before a backend is asked is nobody's merit. Such claims are counted on a
line of their own; they are not among the claims of the configurations that simplify first, nor among those
of the virtual best, the contributions and the plots. In a `raw` comparison no solver has simplification in
front of it, and the built-in procedures have theirs as a part of them, so every claim counts for everybody.
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
from paramverify.comparison.comparison_results import Record
from paramverify.comparison.comparison_subjects import Encoded, Skipped, Subjects, as_it_is


@dataclass(frozen=True)
class Judgement:
    """What is known of each claim (by digest: status and source), and everything that must not be.

    A disagreement is one claim that some say holds and others say is violated. An answer is wrong that is not
    the known status.
    """

    known: Mapping[str, tuple[str, str]]
    disagreements: tuple[Mapping[str, Any], ...] = ()
    wrong: tuple[Mapping[str, Any], ...] = ()

    @property
    def alarming(self) -> bool:
        """Whether there is a disagreement or a wrong answer."""
        return bool(self.disagreements or self.wrong)


def judge(records: Iterable[Record], expected: Mapping[str, str], encoded: Iterable[Encoded]) -> Judgement:
    """Returns what is known, and who contradicts that or each other; `expected` is by digest.

    A witness that was evaluated exactly, or a certificate that was replayed, makes a status known; otherwise
    what the case says in `[expect]`, or a script in `:status`, does. A case that is expected to be violated
    or that another encoding refutes, is contradicted by answers that all of its claims hold.
    """
    by_digest: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_digest[record["digest"]].append(record)
    known = {digest: (status, "expected") for digest, status in expected.items()}
    disagreements, wrong = [], []
    for digest, group in by_digest.items():
        shown = {r["evidence"]: r["status"] for r in group if r["evidence"] in ("witness", "certificate")}
        for source, status in shown.items():
            known[digest] = (status, source)
        if digest in expected and known[digest][0] != expected[digest]:
            found = f"{known[digest][0]}, by a {known[digest][1]}"
            wrong.append({**_place(group[0]), "known": f"{expected[digest]} (expected)", "said": found})
        if len({said(r) for r in group} & set(DECIDED)) > 1:
            answers: dict[str, list[str]] = {
                s: sorted({_who(r) for r in group if said(r) == s}) for s in DECIDED
            }
            disagreements.append({**_place(group[0]), "digest": digest, **answers})
        told = "{} ({})".format(*known[digest]) if digest in known else "-"
        wrong += [
            {**_place(record), "backend": _who(record), "known": told, "said": _in_words(record)}
            for record in group
            if is_wrong(record, known)
        ]
    wrong += _all_hold(by_digest, encoded)
    return Judgement(known, tuple(disagreements), tuple(wrong))


def said(record: Record) -> str:
    """Returns the status that a backend states: its answer, or that of a `sat` that no point shows."""
    return str(Standing.VIOLATED if record.get("denies") else record["status"])


def is_wrong(record: Record, known: Mapping[str, tuple[str, str]]) -> bool:
    """Tells whether a backend states what is not so, or gives a certificate that the checker rejects."""
    found = known.get(record["digest"])
    stated = said(record)
    return record["evidence"] == "rejected" or (
        found is not None and stated in DECIDED and stated != found[0]
    )


def _in_words(record: Record) -> str:
    if record["evidence"] == "rejected":
        return f"{Standing.HOLDS}, with a certificate that the checker rejects"
    return f"{said(record)}, without a point that shows it" if record.get("denies") else said(record)


def _all_hold(by_digest: Mapping[str, Sequence[Record]], encoded: Iterable[Encoded]) -> list[dict[str, Any]]:
    """Returns the files of which all claims are said to hold, and that are violated after all.

    That is so by what the file expects, or by a claim under another encoding.
    """
    answers: dict[tuple[str, str], dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    violated: dict[str, list[str]] = {}
    for group in by_digest.values():
        for record in group:
            answers[record["case"], record["encoding"]][record["claim"]].add(record["status"])
            if record["status"] == Standing.VIOLATED and record["encoding"] not in violated.setdefault(
                record["case"], []
            ):
                violated[record["case"]].append(record["encoding"])
    wrong = []
    for file in encoded:
        found = answers[file.case, file.encoding]
        sources = ["expected"] if file.expected == Standing.VIOLATED and file.claims > 1 else []
        sources += [f"encoding {name}" for name in violated.get(file.case, ()) if name != file.encoding]
        if len(found) != file.claims or not sources:
            continue
        if all(
            Standing.HOLDS in statuses and Standing.VIOLATED not in statuses for statuses in found.values()
        ):
            by, word = ", ".join(sources), file.word(Standing.VIOLATED)
            known = {"known": f"{Standing.VIOLATED} ({by})", "verdict": word, "by": by}
            said = {"said": f"of each claim: {Standing.HOLDS}"}
            wrong.append({"case": file.case, "encoding": file.encoding, **known, **said})
    return wrong


def _place(record: Record) -> dict[str, Any]:
    return {name: record[name] for name in ("case", "encoding", "claim")}


def _who(record: Record) -> str:
    suffix = ", not simplified" if record["simplification"] == "off" else ""
    return f"{record['backend']} {record['version']}".rstrip() + suffix


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
    """The results of a comparison, and what they say; some are missing if it is not `complete`."""

    records: Sequence[Record]
    encoded: Sequence[Encoded]
    skipped: Sequence[Skipped]
    timeout: float
    judgement: Judgement
    runs: Mapping[Configuration, Mapping[BenchmarkProblem, MedianRun]] = field(repr=False)
    raw: bool = False
    complete: bool = True

    @staticmethod
    def of(
        records: Sequence[Record],
        subjects: Subjects,
        skipped: Sequence[Skipped],
        timeout: float,
        *,
        raw: bool = False,
        complete: bool = True,
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
        unreliable = {r["backend"] for r in records if is_wrong(r, judgement.known)}
        shown = {(r["digest"], r["status"]) for r in records if r["backend"] not in unreliable}
        shown |= {(digest, status) for digest, (status, _) in judgement.known.items()}
        for record in records:
            configuration = Configuration(record["encoding"], record["backend"], record["simplification"])
            problem = BenchmarkProblem(record["case"], record["encoding"], record["claim"])
            wrong = is_wrong(record, judgement.known)
            believed = record["backend"] not in unreliable or record["evidence"] != "word"
            confirmed = believed or (record["digest"], record["status"]) in shown
            solved = record["status"] in DECIDED and not wrong and confirmed
            penalty = min(float(record["wall"]), timeout) if solved else 2 * timeout
            known = record["digest"] in judgement.known
            grouped[configuration][problem].append(MedianRun(record, solved, penalty, wrong, known))
        runs = {
            c: {p: sorted(found, key=lambda r: r.penalty)[len(found) // 2] for p, found in problems.items()}
            for c, problems in sorted(grouped.items())
        }
        return ComparisonSummary(
            records,
            subjects.encoded,
            skipped=skipped,
            timeout=timeout,
            judgement=judgement,
            runs=runs,
            raw=raw,
            complete=complete,
        )

    def encodings(self) -> list[str]:
        """Returns the encodings that were compared."""
        return list(dict.fromkeys(c.encoding for c in self.runs))

    @cached_property
    def settled(self) -> Mapping[BenchmarkProblem, MedianRun]:
        """The problems that simplification settles before a backend is asked, with the quickest run each."""
        found: dict[BenchmarkProblem, MedianRun] = {}
        for runs in () if self.raw else self.runs.values():
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
            "another file states the opposite answer to the same question",
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
        "unconfirmed": sum(
            run.record["status"] in DECIDED and not run.solved and not run.wrong for run in runs.values()
        ),
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
        "complete": comparison.complete,
        "raw": comparison.raw,
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
