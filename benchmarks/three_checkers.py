"""Changed evidence to the checkers in Python, extracted from Coq, and inside Coq: they give the same answers.

    python benchmarks/three_checkers.py [--documents 10000] [--seed 1] [--coq] [--folder FOLDER]

The documents are evidence of every kind of proof and of certificate, and of the cases below, with one
part changed, or mangled as text. Document k depends on the seed, on k, and on what is changed. Each one
that is accepted is compared with an oracle at points: it must not say anything false there. With `--coq`
Coq itself is asked by `vm_compute` all that the program asks the functions that are extracted. Of
documents only one part is changed, so most questions come again and again: Coq is asked each of them once.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "tools"))

from asked_in_coq import LATE, UNREAD, Said, answers
from cone_documents import cone_kinds
from three_checkers import (
    NOT_KNOWN,
    Answer,
    about_a_script,
    by_program,
    changed,
    divergence_bound,
    every_kind,
    in_python,
    standing_pair,
)
from truth_oracle import is_true

from paramverify.cli.main import run
from paramverify.kernel.documents import check_text
from paramverify.reports.evidence_checks import program

ROOT = Path(__file__).resolve().parents[1]
BATCH = 200
AT_ONCE = 2000  # questions to one process of Coq
TOLD_AFTER = 1_000  # documents
TOLD = {True: "the same", False: "ANOTHER ANSWER", LATE: "none in time", UNREAD: "too large"}
CASES = (
    *("above-threshold", "above-threshold-figure-3", "blood-test", "coarse-noise", "flu-clique"),
    *("geometric-contagious-ln2", "geometric-contagious-ln4", "geometric-independent-below"),
    *("geometric-markov-chain", "geometric-metric", "geometric-neighbours", "noisy-max-3-below"),
    *("noisy-max-independent", "noisy-max-independent-below", "noisy-max-naive-3-ln2"),
    *("randomized-response", "release-household", "sample-n-runtime", "sample-n-utility", "survey-fresh"),
    *("touching-disc", "programs/noisy-max-half-noise", "programs/numeric-laplace-one-sided"),
    *("approximate/geometric-independent", "approximate/geometric-independent-below"),
    *("approximate/noisy-max-below", "divergences/geometric-renyi", "divergences/geometric-renyi-below"),
    *("survey-memory-all", "time-series-2-all", "time-series-2-day-3-all"),
    "divergences/geometric-zcdp-below",
)
MAPS = (
    *("geometric-independent-below", "randomized-response", "survey-memory"),
    *("noisy-max-contagious", "count-four-rates"),
)
SYSTEMS = (
    *("slots-0", "slots-2-one-value", "slots-2-symbolic", "sample-n", "survey"),
    *(
        "survey-subroutines",
        "unwinding-add-only",
        "sample-n-printed",
        "slots-1-full",
        "slots-2-symbolic-full",
    ),
)
BUDGETS = ("slots-2-one-value", "sample-n", "unwinding-add-only")
SOLVED = ("verify", "synthesize")  # by a choice of backends
LINES = ("flu-clique",)


def main() -> None:
    """Compares and prints; ends with code 1 where two answers differ or something false is accepted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--coq", action="store_true", help="ask Coq itself, too")
    parser.add_argument("--folder", type=Path, help="where evidence that is not changed is kept")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    if options.folder:
        options.folder.mkdir(exist_ok=True, parents=True)
    documents = [*every_kind().values(), *cone_kinds().values()]
    documents += [about_a_script(), standing_pair(), divergence_bound()]
    documents += shipped(options.folder or folder)
    kinds = Counter(document["format"] for document in documents)
    print("made from " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())), flush=True)
    known = {"claims": [e for d in documents for e in d.get("claims", ()) if "claim" in e]}
    counts: Counter[tuple[str, str]] = Counter()
    wrong, coq, digest = 0, InCoq(), hashlib.sha256()
    checker, made = program(), changed(documents, options.documents, options.seed)
    while batch := list(islice(made, BATCH)):
        start = counts.total()
        paths = [folder / f"{start + k}.json" for k in range(len(batch))]
        for path, data in zip(paths, batch, strict=True):
            path.write_bytes(data)
            digest.update(hashlib.sha256(data).digest())
        given = list(by_program(checker, paths, folder / "asked" if options.coq else None))
        if options.coq:
            coq.add(given)
        for path, data, answer in zip(paths, batch, given, strict=True):
            said = in_python(data)
            counts[said.word, answer.word] += 1
            if answer.word == NOT_KNOWN:
                print(
                    f"document {counts.total() - 1} is not known: {answer.lines[-1].replace(str(path), '')}"
                )
            if differs(said, answer) or ("accepted" in (said.word, answer.word) and not true(data, known)):
                wrong += 1
                print(f"{path}: Python says {said}, the program {answer}", flush=True)
            else:
                path.unlink()
        if counts.total() % TOLD_AFTER == 0:
            print(f"{counts.total():,} documents, {wrong + coq.wrong} differ; {coq}", flush=True)
    coq.ask()
    for (said_word, word), count in sorted(counts.items()):
        print(f"Python {said_word}, proved checker {word}: {count:,}")
    coq.tell()
    wrong += coq.wrong
    print(f"{counts.total():,} documents, {wrong} that differ or say something false")
    print(f"SHA-256 of the digests of all documents: {digest.hexdigest()}")
    sys.exit(wrong > 0)


@dataclass
class InCoq:
    """What Coq itself says of what the program asked the extracted functions, beside what these said."""

    waiting: list[str] = field(default_factory=list)
    known: dict[str, Said] = field(default_factory=dict)
    counts: Counter[tuple[str, Said]] = field(default_factory=Counter)
    different: Counter[tuple[str, Said]] = field(default_factory=Counter)
    documents: int = 0

    def add(self, given: Sequence[Answer]) -> None:
        """Takes all that the program asked, and asks Coq as soon as that is enough for a process."""
        self.waiting += (question for answer in given for question in answer.asked)
        self.documents += sum(bool(answer.asked) for answer in given)
        if len(self.new()) >= AT_ONCE:
            self.ask()

    def new(self) -> list[str]:
        """Returns the questions of which Coq has said nothing."""
        return [question for question in dict.fromkeys(self.waiting) if question not in self.known]

    def ask(self) -> None:
        """Asks Coq the questions that are new, and counts the answers to all that wait."""
        new = self.new()
        for question, said in zip(new, answers(new), strict=True):
            self.known[question] = said
            self.different[question.partition(" ")[0], said] += 1
            if said is not True:
                print(f"Coq says {TOLD[said]}: {question:.2000}", flush=True)
        self.counts.update((question.partition(" ")[0], self.known[question]) for question in self.waiting)
        self.waiting.clear()

    @property
    def wrong(self) -> int:
        """How often Coq gave another answer."""
        return sum(count for (_, said), count in self.counts.items() if said is False)

    def __str__(self) -> str:
        asked = f"{self.counts.total():,} questions, {len(self.known):,} different ones"
        return f"Coq was asked {asked}, about {self.documents:,} documents"

    def tell(self) -> None:
        """Prints the counts."""
        if self.known:
            print(self)
        for (about, said), count in sorted(self.counts.items(), key=str):
            print(
                f"{about}: Coq says {TOLD[said]}: {count:,} times, {self.different[about, said]:,} different"
            )


def differs(said: Answer, answer: Answer) -> bool:
    """Tells whether both know a document and give different answers."""
    return answer.word != NOT_KNOWN and answer != said


def true(data: bytes, known: dict[str, Any]) -> bool:
    """Tells whether nothing that an accepted document says is false where the oracle tries it."""
    text = data.decode("utf-8-sig")
    try:
        return is_true(json.loads(text), known, check_text(text), Random(hashlib.sha256(data).digest()))
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
        print(f"the oracle fails: {error!r:.200}")
        return False


def shipped(folder: Path) -> list[Any]:
    """Returns evidence of shipped cases and of maps, made by the procedures of the package alone, or kept.

    Raises:
        FileNotFoundError: there is none of a case.
    """
    asked = [
        *(("verify", case, ()) for case in CASES),
        *(("synthesize", case, ("--region", "--coverage", "1/2")) for case in MAPS),
        *(("synthesize", case, ("--exact",)) for case in LINES),
        *(("interactive", f"interactive/{case}", ()) for case in SYSTEMS),
        *(("budget", f"interactive/{case}", ()) for case in BUDGETS),
    ]
    found = []
    for command, case, more in asked:
        path = folder / f"{command}-{case.replace('/', '-')}.evidence"
        words = [command, str(ROOT / "cases" / f"{case}.toml"), *more, "--evidence", str(path)]
        if not path.exists():
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                run([*words, "--timeout", "60", *(("--backends", "built-in") if command in SOLVED else ())])
        found.append(json.loads(path.read_text(encoding="utf-8")))
    return found


if __name__ == "__main__":
    main()
