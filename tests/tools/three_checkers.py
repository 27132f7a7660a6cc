"""Evidence for the checker in Python and for the program that is extracted from Coq; and changed evidence."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from claim_documents import document, statement
from forger import Json, forgeries
from mangling_tools import mangled
from proved_claims import CLAIMS, PROOFS

from paramverify.claims import to_document
from paramverify.errors import InputError
from paramverify.kernel.documents import check_document, check_text, no_evidence
from paramverify.kernel.ledger import KernelReport
from paramverify.reports.evidence_checks import program

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
    asked: tuple[str, ...] = field(default=(), compare=False)  # of the proved functions


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


def by_program(checker: str, paths: Sequence[Path], asked: Path | None = None) -> Iterator[Answer]:
    """Yields the answers of the extracted program, many files in one call.

    With a file, which is written and read, an answer has all that the proved functions were asked.
    """
    for start in range(0, len(paths), AT_ONCE):
        chosen = [str(path) for path in paths[start : start + AT_ONCE]]
        more = ["--asked", str(asked)] if asked else []
        done = subprocess.run([checker, *more, "--json", *chosen], capture_output=True, check=False)
        lines = done.stdout.decode().split("\n")[:-1]
        assert len(lines) == len(chosen), done.stderr
        questions = asked.read_text().split(".\n") if asked else [""] * (len(chosen) + 1)
        assert len(questions) == len(chosen) + 1
        for line, block in zip(lines, questions, strict=False):
            found = json.loads(line)
            if "error" in found:
                answer = NONE if found["code"] == 2 else Answer(NOT_KNOWN, lines=(found["error"],))
            else:
                counts = (found["proved"], found["trusted"], found["open"])
                answer = Answer(found["answer"], *counts, tuple(found["lines"] + found["not_known"]))
            yield replace(answer, asked=tuple(block.splitlines()))


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


def agreed(documents: Iterable[Json | bytes], folder: Path) -> dict[str, int]:
    """Asserts that both say the same of all documents, and returns how often each answer was given."""
    folder.mkdir(exist_ok=True)
    texts = (d if isinstance(d, bytes) else json.dumps(d).encode() for d in documents)
    found, counts = differences(built(), texts, folder)
    assert not found, "\n".join(found)
    return counts


def asked_later() -> tuple[Callable[[Any], KernelReport], Any]:
    """Returns what checks a document, and a fixture for the file that is named by an assignment in it.

    In the end the fixture asks the extracted program about all documents that were checked: it has to say the
    same.
    """
    documents: list[bytes] = []

    def checked(document: Any, *with_case: Any, **more: Any) -> KernelReport:
        if not with_case and not more:
            documents.append(json.dumps(document).encode())
        return check_document(document, *with_case, **more)

    @pytest.fixture(scope="module", autouse=True)
    def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
        yield
        try:
            checker = program()
        except InputError:  # it is not built
            return
        found, counts = differences(checker, documents, tmp_path_factory.mktemp("asked"))
        assert found == [], "\n".join(found)
        assert counts.get(NOT_KNOWN, 0) < len(documents) / 2

    return checked, compared


def every_kind() -> dict[str, Json]:
    """Returns documents, one for each kind of proof; some kinds come with lemmas."""
    return {name: document(statement(to_document(c), PROOFS[name])) for name, c in CLAIMS.items()}


def about_a_script() -> Json:
    """Returns answers of each kind, with claims of many kinds and the word of a solver."""
    claims = [each["statements"][0] | {"domain": each["domains"][0]} for each in every_kind().values()]
    claims[0]["proof"] = {"kind": "solver", "solver": "z3", "version": "4"}
    model = {"x": "-3/2", "b": True, "y": "0"}
    questions = [
        {"status": "holds", "claims": [*range(1, len(claims))], "solvers": []},
        {"status": "violated", "claims": [], "solvers": [], "model": model},
        {"status": "holds", "claims": [0, 1, 2], "solvers": ["cvc5"]},
        {"status": "unknown", "claims": [], "solvers": []},
    ]
    script = {"name": "all.smt2", "digest": "0" * 64}
    return document(*claims, {"kind": "script", "script": script, "questions": questions}, status="answers")


def standing_pair() -> Json:
    """Returns that a pair of inputs of noisy max has the largest ratio of all neighbours."""
    claim = {"variables": [], "box": {}, "constraints": [], "polynomial": "1"}
    noise = [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]]
    pair = {"left": [1, 1, 1], "right": [0, 2, 2]}
    about = {"noise": noise, "ties": "uniform", "answers": 3, "differ": "each", "by": "1", **pair}
    named = "(1, 1, 1) against (0, 2, 2), output 1"
    return document(statement(claim, {"kind": "constant"}, origins=[named]), reduction=about)


def changed(documents: Sequence[Json], count: int, seed: int) -> Iterator[bytes]:
    """Yields changed documents: parts that say something else, and text that is mangled.

    They depend on the seed and the documents alone.
    """
    random = Random(seed)
    waiting = {k: forgeries(each, Random(f"{seed} {k}"), documents) for k, each in enumerate(documents)}
    for _ in range(count):
        k = random.randrange(len(documents))
        made = None if random.random() < 0.25 else next(waiting[k], None)
        text = json.dumps(documents[k])
        yield mangled(text, random, "json") if made is None else json.dumps(made[1]).encode()
