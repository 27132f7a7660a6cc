"""Evidence for the checker in Python and for the program that is extracted from Coq; and changed evidence."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from forging_tools import Json, forged, forgeries
from mangling_tools import mangled
from proved_claims import CLAIMS, PROOFS

from paramverify.checker.documents import check_text, no_evidence
from paramverify.claims import to_document
from paramverify.errors import InputError
from paramverify.reports.proved import program

NOT_KNOWN = "not known"
NOT_BUILT = "the proved checker is not built: run `make -C proofs`"
AT_ONCE = 200  # files in one call of the program


@dataclass(frozen=True)
class Answer:
    """What a checker says of a document: accepted, rejected, no evidence or not known; and the counts."""

    word: str
    proved: int = 0
    trusted: int = 0
    open: int = 0
    lines: tuple[str, ...] = field(default=(), compare=False)  # one for each claim, and others


NONE = Answer("no evidence")


def built() -> str:
    """Returns the path of the program, or skips the test."""
    try:
        return program()
    except InputError:
        pytest.skip(NOT_BUILT)


def in_python(data: bytes) -> Answer:
    """Returns the answer of the checker in Python."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return NONE
    report = check_text(text)
    if not report.accepted and no_evidence(text):
        return NONE
    word = "accepted" if report.accepted else "rejected"
    return Answer(word, report.proved, report.trusted, report.open, report.lines)


def by_program(checker: str, paths: Sequence[Path]) -> Iterator[Answer]:
    """Yields the answers of the extracted program, many files in one call."""
    for start in range(0, len(paths), AT_ONCE):
        chosen = [str(path) for path in paths[start : start + AT_ONCE]]
        done = subprocess.run([checker, "--json", *chosen], capture_output=True, check=False)
        lines = done.stdout.decode().split("\n")[:-1]
        assert len(lines) == len(chosen), done.stderr
        for line in lines:
            found = json.loads(line)
            if "error" in found:
                yield NONE if found["code"] == 2 else Answer(NOT_KNOWN)
            else:
                counts = (found["proved"], found["trusted"], found["open"])
                yield Answer(found["answer"], *counts, tuple(found["lines"]))


def differences(checker: str, documents: Iterable[bytes], folder: Path) -> tuple[list[str], dict[str, int]]:
    """Returns where both know a document and say something else, and how often each answer was given."""
    paths, wanted = [], []
    for k, data in enumerate(documents):
        paths.append(folder / f"{k}.json")
        paths[-1].write_bytes(data)
        wanted.append(in_python(data))
    counts: dict[str, int] = {}
    found = []
    for path, said, answer in zip(paths, wanted, by_program(checker, paths), strict=True):
        counts[answer.word] = counts.get(answer.word, 0) + 1
        if answer.word != NOT_KNOWN and answer != said:
            found.append(f"{path}: Python says {said}, the program {answer}")
    return found, counts


def every_kind() -> dict[str, Json]:
    """Returns documents, one for each kind of proof; some kinds come with lemmas."""
    return {
        name: {
            "format": "paramverify-evidence",
            "version": 1,
            "status": "holds",
            "claims": [{"claim": to_document(claim), "proof": PROOFS[name]}],
        }
        for name, claim in CLAIMS.items()
    }


def changed(documents: Sequence[Json], count: int, seed: int) -> Iterator[bytes]:
    """Yields changed documents: parts that say something else, and text that is mangled.

    Each depends on its number, the seed and the documents alone.
    """
    choices = [forgeries(document) for document in documents]
    for number in range(count):
        random = Random(f"{seed} {number}")
        new: Json | None = None
        while new is None:
            k = random.randrange(len(documents))
            if random.random() < 0.25:
                yield mangled(json.dumps(documents[k]), random, "json")
                break
            new = forged(documents[k], random.choice(choices[k]))
        else:
            yield json.dumps(new).encode()
