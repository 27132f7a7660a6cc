"""The portfolio on inequalities from the literature, beside each backend alone and the virtual best of them.

    python benchmarks/literature.py [--limit 20] [--cases] [--results FILE] [FOLDER]

Each claim of each problem in cases/inequalities is given to every backend as it is, and to the portfolio.
With `--cases` the claims of benchmarks/portfolio.py follow. What was measured is kept in FILE, so that an
interrupted run goes on. Prints Markdown for docs/benchmarks.md: what is decided, with what evidence, what is
wrong, and what the portfolio needs beside the virtual best. All attempts have a process that is warm. All
seconds are those of the same clock, from the question to the answer: forking and ending a process is in them.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portfolio import all_claims

from paramverify.answers import Decision, FailsAt, Open, Proved, Refuted
from paramverify.backends import discover
from paramverify.claims import Claim, without_enclosure
from paramverify.encodings.choice import claims_of
from paramverify.evidence.certificates import replayed
from paramverify.kernel.claim_evidence import Rejected
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.processes.attempts import Attempt, AttemptLimits
from paramverify.processes.runner import Runner

ROOT = Path(__file__).parent.parent
OURS = "portfolio"
SHOWN = "portfolio, for evidence"
FACTOR, MORE = 1.2, 0.05  # what the portfolio may need: so many times the virtual best, and seconds more


@dataclass(frozen=True, eq=False)
class Question:
    """A claim, its name, and the verdict that its file expects: true, false, or "" where it does not say."""

    name: str
    claim: Claim
    expected: str


@dataclass(frozen=True)
class Result:
    """What was said about a claim: true, false or nothing; with evidence or by a word; in so many seconds."""

    said: str
    evidence: str
    seconds: float
    by: str = ""


def questions(folder: Path) -> Iterator[Question]:
    """Yields the claims of all cases in a folder; a false case of several claims expects nothing of one."""
    for path in sorted(folder.glob("*.toml")):
        case = load(path)
        claims = claims_of(case.model)
        verdict = str(case.expect.get("verdict", ""))
        known = verdict if verdict == "true" or len(claims) == 1 else ""
        for number, claim in enumerate(claims, 1):
            yield Question(f"{path.stem} {number}", without_enclosure(claim), known)


def result(claim: Claim, decision: Decision, seconds: float) -> Result:
    """Returns what a decision about a claim says; proofs are replayed, points were evaluated exactly."""
    said = decision.answer
    if isinstance(said, (Refuted, FailsAt)):
        return Result("false", "witness", seconds, decision.backend)
    if isinstance(said, Open):
        return Result("", "", seconds)
    assert isinstance(said, Proved)
    evidence = "word"
    if said.certificate is not None:
        try:
            evidence = "word" if replayed(claim, said.certificate) else "certificate"
        except Rejected:
            evidence = "rejected"
    return Result("true", evidence, seconds, decision.backend)


def measure(found: list[Question], limit: float, kept: Path | None) -> dict[tuple[str, str], Result]:
    """Returns the results by question and backend, with those that are there already."""
    results: dict[tuple[str, str], Result] = {}
    if kept and kept.exists():
        for line in kept.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            key = row.pop("name"), row.pop("who")
            results[key] = Result(**row)
    names = [name for name, backend in discover().items() if backend.version() is not None]
    with Runner() as runner:
        runner.warm(names)
        for question in found:
            for who in (*names, OURS, SHOWN):
                if (question.name, who) in results:
                    continue
                started = time.perf_counter()
                if who in (OURS, SHOWN):
                    with Session(Options(seconds=limit, evidence=limit * (who == SHOWN)), runner) as session:
                        decision = session.decide(question.claim)
                else:
                    decision = runner.run(Attempt(who, question.claim), AttemptLimits(limit))
                seconds = time.perf_counter() - started
                # A session takes `E` as the number that it is, whatever encloses it for the backends.
                about = without_enclosure(question.claim) if who in (OURS, SHOWN) else question.claim
                one = result(about, decision, round(min(seconds, limit), 4))
                results[question.name, who] = one
                if kept:
                    with kept.open("a", encoding="utf-8") as file:
                        row = {"name": question.name, "who": who, **vars(one)}
                        file.write(json.dumps(row) + "\n")
    return results


def table(found: list[Question], results: dict[tuple[str, str], Result], limit: float) -> Iterator[str]:
    """Yields the rows: who decided how much, with what evidence, and in what time."""
    names = list(dict.fromkeys(who for _, who in results if who not in (OURS, SHOWN)))
    yield "| who | decided | with evidence | by its word | wrong | alone | total s |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for who in (*names, OURS, SHOWN):
        rows = [(q, results[q.name, who]) for q in found]
        said = [r for _, r in rows if r.said]
        shown = sum(r.evidence in ("certificate", "witness") for r in said)
        wrong = sum(r.evidence == "rejected" or (q.expected not in ("", r.said)) for q, r in rows if r.said)
        alone = sum(
            bool(r.said) and not any(results[q.name, o].said for o in names if o != who) for q, r in rows
        )
        total = sum(r.seconds if r.said else limit for _, r in rows)
        cells = (who, len(said), shown, len(said) - shown, wrong, alone, f"{total:.1f}")
        yield "| " + " | ".join(map(str, cells)) + " |"
    best = [least(q, results, names, limit) for q in found]
    decided = sum(seconds < limit for seconds in best)
    yield f"| virtual best | {decided} | | | | | {sum(best):.1f} |"


def least(
    question: Question, results: dict[tuple[str, str], Result], names: list[str], limit: float
) -> float:
    """Returns the seconds of the fastest backend that decides a claim, or the limit."""
    said = (results[question.name, who] for who in names)
    return min((r.seconds for r in said if r.said), default=limit)


def overhead(found: list[Question], results: dict[tuple[str, str], Result], limit: float) -> Iterator[str]:
    """Yields what the portfolio needs beside the virtual best, and the claims where it needs too much."""
    names = list(dict.fromkeys(who for _, who in results if who not in (OURS, SHOWN)))
    late: list[tuple[float, str]] = []
    for question in found:
        best, ours = least(question, results, names, limit), results[question.name, OURS]
        if best < limit and (not ours.said or ours.seconds > FACTOR * best + MORE):
            seconds = ours.seconds if ours.said else limit
            late.append(
                (seconds - FACTOR * best - MORE, f"{question.name}: {seconds:.3f} s, best {best:.3f} s")
            )
    best = sum(least(question, results, names, limit) for question in found)
    spent = sum(r.seconds if r.said else limit for r in (results[q.name, OURS] for q in found))
    allowed = FACTOR * best + MORE * len(found)
    yield f"The portfolio needs {spent:.1f} s."
    yield f"{FACTOR} times the virtual best and {MORE} s for each claim is {allowed:.1f} s."
    yield f"{len(late)} of {len(found)} claims need more than {FACTOR} times the virtual best and {MORE} s."
    yield from (f"- {told}" for _, told in sorted(late, reverse=True)[:20])
    missed = [q.name for q in found if not results[q.name, OURS].said]
    yield f"Undecided by the portfolio: {', '.join(missed) or 'none'}."


def arguments() -> Any:
    """Returns what the user chose."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "cases" / "inequalities")
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--cases", action="store_true")
    parser.add_argument("--results", type=Path)
    return parser.parse_args()


def main() -> None:
    """Measures and prints."""
    os.environ["PARAMVERIFY_HISTORY"] = "off"
    chosen = arguments()
    parts = [("The literature", list(questions(chosen.folder)))]
    if chosen.cases:
        ours = [Question(f"case {k}", claim, "") for k, claim in enumerate(all_claims(), 1)]
        parts.append(("The conformance table and our cases", ours))
    for title, found in parts:
        results = measure(found, chosen.limit, chosen.results)
        print(f"{title}: {len(found)} claims, limit {chosen.limit:g} s\n")
        print("\n".join(table(found, results, chosen.limit)), end="\n\n")
        print("\n".join(overhead(found, results, chosen.limit)), end="\n\n")


if __name__ == "__main__":
    main()
