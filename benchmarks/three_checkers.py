"""Changed evidence to the checkers in Python, extracted from Coq, and inside Coq: they give the same answers.

    python benchmarks/three_checkers.py [--documents 10000] [--seed 1] [--coq]

The documents are evidence of every kind of proof and of small shipped cases, with one part changed, or
mangled as text. Every claim that is accepted is compared with an oracle at rational points: it must not be
false at one. With `--coq` the claims and proofs that the program reads are also given to `check` inside Coq,
by `vm_compute`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "tools"))

from coq_batches import answers, numbers_of
from forging_tools import claim_is_true
from three_checkers import NOT_KNOWN, Answer, by_program, changed, every_kind, in_python

from paramverify.cli.main import run
from paramverify.errors import UnsupportedError
from paramverify.reports.proved import program

ROOT = Path(__file__).resolve().parents[1]
SMALL = 30_000  # bytes of evidence that is changed
BATCH = 100
LONGEST = 5_000  # characters of a claim and its proof that Coq is asked about
NOT_SHOWN = ": rejected: the proof does not show the claim"
TOLD = {True: "accepts", False: "rejects"}


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
    wrong, in_coq = 0, Counter[tuple[bool, bool]]()
    checker, random, left = program(), Random(options.seed), options.documents
    for number, start in enumerate(range(0, options.documents, BATCH)):
        made = list(changed(documents, min(BATCH, left - start), options.seed * 1_000 + number))
        paths = [folder / f"{start + k}.json" for k in range(len(made))]
        for path, data in zip(paths, made, strict=True):
            path.write_bytes(data)
        given = list(by_program(checker, paths))
        if options.coq:
            in_coq += compared_in_coq(made, given, folder)
        for path, data, answer in zip(paths, made, given, strict=True):
            said = in_python(data)
            counts[said.word, answer.word] += 1
            bad = differs(said, answer) or (answer.word == "accepted" and not true(data, known, random))
            if bad:
                wrong += 1
                print(f"{path}: Python says {said}, the program {answer}")
            else:
                path.unlink()
    for (said, answer), count in sorted(counts.items()):
        print(f"Python {said}, proved checker {answer}: {count:,}")
    for (by_it, coq), count in sorted(in_coq.items()):
        print(f"claims that the program {TOLD[by_it]} and Coq {TOLD[coq]}: {count:,}")
        wrong += count * (by_it != coq)
    print(f"{sum(counts.values()):,} documents, {wrong} that differ or say something false")
    sys.exit(wrong > 0)


def compared_in_coq(
    documents: Sequence[bytes], given: Sequence[Answer], folder: Path
) -> Counter[tuple[bool, bool]]:
    """Returns how often the program and Coq accept proofs of claims, of those that the program looked at."""
    rows, wanted = [], []
    for data, answer in zip(documents, given, strict=True):
        told = {line.partition(" (")[0].partition(":")[0]: line for line in answer.lines}
        entries = json.loads(data.decode("utf-8-sig"))["claims"] if "claim 1" in told else []
        for k, entry in enumerate(entries):
            line = told.get(f"claim {k + 1}", "")
            if not line.endswith((": proved", NOT_SHOWN)):
                continue
            with contextlib.suppress(UnsupportedError):  # lemmas
                row = numbers_of(entry["claim"], entry["proof"])
                if len(row[1]) < LONGEST:
                    rows.append(row)
                    wanted.append(line.endswith(": proved"))
    return Counter(zip(wanted, answers(rows, folder), strict=True))


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
