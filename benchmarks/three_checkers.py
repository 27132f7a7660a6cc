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

from forging_tools import claim_is_true
from three_checkers import NOT_KNOWN, Answer, by_program, changed, every_kind, in_python

from paramverify.cli.main import run
from paramverify.reports.proved import program

ROOT = Path(__file__).resolve().parents[1]
SMALL = 30_000  # bytes of evidence that is changed
BATCH = 500


def main() -> None:
    """Compares and prints; ends with code 1 where two answers differ or a false claim is accepted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    documents = [*every_kind().values(), *shipped(folder)]
    known = [entry["claim"] for document in documents for entry in document["claims"]]
    counts: Counter[tuple[str, str]] = Counter()
    wrong = 0
    checker, random, left = program(), Random(options.seed), options.documents
    for number, start in enumerate(range(0, options.documents, BATCH)):
        made = list(changed(documents, min(BATCH, left - start), options.seed * 1_000 + number))
        paths = [folder / f"{start + k}.json" for k in range(len(made))]
        for path, data in zip(paths, made, strict=True):
            path.write_bytes(data)
        for path, data, answer in zip(paths, made, by_program(checker, paths), strict=True):
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
    print(f"{sum(counts.values()):,} documents, {wrong} that differ or say something false")
    sys.exit(wrong > 0)


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
