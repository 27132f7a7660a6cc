"""Changed evidence to the checkers in Python, extracted from Coq, and inside Coq: they give the same answers.

    python benchmarks/three_checkers.py [--documents 10000] [--seed 1] [--coq]

The documents are evidence of every kind of proof and of small shipped cases, with one part changed, or
mangled as text. Every claim that is accepted is compared with an oracle at rational points: it must not be
false at one. With `--coq` the claims and proofs that the program reads are also given to `check` inside Coq,
by `vm_compute`. Of documents only one part is changed, so most pairs of a claim and a proof come again and
again: Coq is asked about each of them once.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "tools"))

from coq_batches import Row, answers, numbers_of
from forging_tools import claim_is_true
from three_checkers import NOT_KNOWN, Answer, by_program, changed, every_kind, in_python

from paramverify.cli.main import run
from paramverify.errors import UnsupportedError
from paramverify.reports.proved import program

ROOT = Path(__file__).resolve().parents[1]
SMALL = 30_000  # bytes of evidence that is changed
BATCH = 100
TOLD_AFTER = 1_000  # documents
NOT_SHOWN = ": rejected: the proof does not show the claim"
TOLD = {True: "accepts", False: "rejects", None: "does not end in time on"}


def main() -> None:
    """Compares and prints; ends with code 1 where two answers differ or a false claim is accepted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--coq", action="store_true", help="ask Coq itself, too")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    documents = [*every_kind().values(), *shipped(folder)]
    known = [entry["claim"] for document in documents for entry in document["claims"]]
    counts: Counter[tuple[str, str]] = Counter()
    wrong, coq = 0, InCoq()
    checker, random, left = program(), Random(options.seed), options.documents
    for number, start in enumerate(range(0, options.documents, BATCH)):
        made = list(changed(documents, min(BATCH, left - start), options.seed * 1_000 + number))
        paths = [folder / f"{start + k}.json" for k in range(len(made))]
        for path, data in zip(paths, made, strict=True):
            path.write_bytes(data)
        given = list(by_program(checker, paths))
        if options.coq:
            coq.add(made, given)
        for path, data, answer in zip(paths, made, given, strict=True):
            said = in_python(data)
            counts[said.word, answer.word] += 1
            bad = differs(said, answer) or (answer.word == "accepted" and not true(data, known, random))
            if bad:
                wrong += 1
                print(f"{path}: Python says {said}, the program {answer}")
            else:
                path.unlink()
        if (start + BATCH) % TOLD_AFTER == 0:
            coq.ask()
            print(f"{sum(counts.values()):,} documents, {wrong + coq.wrong} differ; {coq}", flush=True)
    coq.ask()
    for (said, answer), count in sorted(counts.items()):
        print(f"Python {said}, proved checker {answer}: {count:,}")
    coq.tell()
    wrong += coq.wrong
    print(f"{sum(counts.values()):,} documents, {wrong} that differ or say something false")
    sys.exit(wrong > 0)


@dataclass
class InCoq:
    """What Coq itself says of claims and proofs, beside what the program says."""

    waiting: list[tuple[Row, bool]] = field(default_factory=list)
    known: dict[Row, bool | None] = field(default_factory=dict)
    counts: Counter[tuple[bool, bool | None]] = field(default_factory=Counter)

    def add(self, documents: Sequence[bytes], given: Sequence[Answer]) -> None:
        """Takes all claims whose proofs the program looked at."""
        self.waiting += [row for pair in zip(documents, given, strict=True) for row in looked_at(*pair)]

    def ask(self) -> None:
        """Asks Coq about the proofs that are new, and counts the answers about all that wait."""
        new = [row for row in dict(self.waiting) if row not in self.known]
        self.known |= zip(new, answers(new), strict=True)
        for row, said in self.waiting:
            coq = self.known[row]
            self.counts[said, coq] += 1
            if coq is not None and coq is not said:
                print(f"the program {TOLD[said]} what Coq {TOLD[coq]}: {row}", flush=True)
        self.waiting.clear()

    @property
    def wrong(self) -> int:
        """How often both gave an answer, and not the same."""
        return sum(count for (said, coq), count in self.counts.items() if coq is not None and coq is not said)

    def __str__(self) -> str:
        late = sum(answer is None for answer in self.known.values())
        asked = f"{self.counts.total():,} proofs, {len(self.known):,} of them different"
        return f"Coq was asked about {asked}, and {late} took too long"

    def tell(self) -> None:
        """Prints the counts."""
        if self.known:
            print(self)
        for (said, coq), count in self.counts.items():
            print(f"proofs that the program {TOLD[said]} and Coq {TOLD[coq]}: {count:,}")


def looked_at(data: bytes, answer: Answer) -> Iterator[tuple[Row, bool]]:
    """Yields the claims with their proofs that the program looked at, and whether it accepts them."""
    told = {line.partition(" (")[0].partition(":")[0]: line for line in answer.lines}
    if "claim 1" not in told:
        return
    for k, entry in enumerate(json.loads(data.decode("utf-8-sig"))["claims"]):
        line = told.get(f"claim {k + 1}", "")
        if line.endswith((": proved", NOT_SHOWN)):
            with contextlib.suppress(UnsupportedError):  # lemmas
                yield numbers_of(entry["claim"], entry["proof"]), line.endswith(": proved")


def differs(said: Answer, answer: Answer) -> bool:
    """Tells whether both know a document and give different answers."""
    return answer.word != NOT_KNOWN and answer != said


def true(data: bytes, known: Sequence[Any], random: Random) -> bool:
    """Tells whether no claim of a document that was accepted is false at a point that is tried."""
    entries = json.loads(data.decode("utf-8-sig"))["claims"]
    claims = [e["claim"] for e in entries if e["proof"] is not None and not e["claim"].get("ties")]
    trusted = [e["claim"] for e in entries if e["proof"] and e["proof"]["kind"] == "solver"]
    return all(claim_is_true(claim, list(known), random) for claim in claims if claim not in trusted)


def shipped(folder: Path) -> list[Any]:
    """Returns evidence of shipped cases that is small."""
    found = []
    for case in sorted((ROOT / "cases").glob("*.toml")):
        path = folder / "shipped.json"
        path.unlink(missing_ok=True)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run(["verify", str(case), "--evidence", str(path), "--timeout", "2"])
        if path.exists() and path.stat().st_size < SMALL:
            document = json.loads(path.read_text(encoding="utf-8"))
            if document["format"] == "paramverify-evidence":
                found.append(document)
    return found


if __name__ == "__main__":
    main()
