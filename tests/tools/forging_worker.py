"""What a worker of Dask loads before it begins, so that it answers wrongly, in the way that a file names."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paramverify.tasks import worker

WAY = "PARAMVERIFY_TEST_WAY"  # the file with the way's name; beside it a payload writes which process ran it
honest = worker.perform


class Payload:
    """What runs a command where it is unpickled."""

    def __reduce__(self) -> Any:
        return os.system, (f"echo $PPID >> {os.environ[WAY]}.run",)


class PayloadError(Exception):
    """An error that does."""

    def __reduce__(self) -> Any:
        return os.system, (f"echo $PPID >> {os.environ[WAY]}.run",)


def _decisions(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    """Changes each decision of a reply."""

    def changed(reply: dict[str, Any]) -> Any:
        for result in reply["results"]:
            found = change(result["value"])
            result["value"] = result["value"] if found is None else found
        return json.dumps(reply)

    return changed


def _proof(proof: Any, backend: str = "built-in") -> Callable[[dict[str, Any]], Any]:
    """Proves each claim by a certificate."""
    answer = {
        "answer": "proved",
        "certificate": None if proof is None else {"proof": proof},
        "transcript": "",
    }
    return _decisions(lambda d: d.update(answer=answer, backend=backend))


def _answer(**parts: Any) -> Callable[[dict[str, Any]], Any]:
    return _decisions(lambda d: d.update(answer=parts))


def _raise(error: Exception) -> Any:
    raise error


TRUE = {"kind": "constant"}
SOLVER = {"kind": "solver", "solver": "built-in", "version": "0.1.0", "options": {}, "transcript": ""}
DEEP = json.loads('{"kind": "x", "of": ' * 400 + "1" + "}" * 400)
ERROR = {"kind": "DefectError", "reason": "no"}

# Each makes another answer of the honest one. `word` is how those begin that are a word without a proof.
WAYS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "word of a built-in": _proof(None),
    "word of a solver": _proof(None, "z3"),
    "word in a certificate": _proof(SOLVER),
    "certificate that shows nothing": _proof(TRUE),
    "certificate of no kind": _proof({"kind": "trust me"}),
    "certificate that is a list": _proof([]),
    "certificate that is a number": _proof(7),
    "certificate that is deep": _proof(DEEP),
    "certificate that is a lemma": _proof({"kind": "lemma", "name": "f"}),
    "certificate without a proof": _answer(answer="proved", certificate={}, transcript=""),
    "certificate that is a text": _answer(answer="proved", certificate="proof", transcript=""),
    "refuted at a wrong point": _answer(answer="refuted", point={"x": "1", "y": "1"}, transcript=""),
    "refuted outside": _answer(answer="refuted", point={"x": "-9", "y": "0"}, transcript=""),
    "refuted at no point": _answer(answer="refuted", point={}, transcript=""),
    "refuted at a text": _answer(answer="refuted", point={"x": "__import__"}, transcript=""),
    "refuted by another name": _answer(answer="refuted", point={"os": "1"}, transcript=""),
    "fails at nothing": _answer(answer="open", at={}, end="gave up", detail="", transcript="", denies=True),
    "other answer": _answer(answer="private"),
    "decision that is a number": _decisions(lambda d: 1),
    "decision that is a list": _decisions(lambda d: []),
    "decision without a backend": _decisions(lambda d: d.pop("backend") and None),
    "backend that is a table": _decisions(lambda d: d.update(backend={})),
    "seconds that are none": _decisions(lambda d: d.update(seconds="NaN!")),
    "more keys": lambda reply: json.dumps({**reply, "verdict": "private"}),
    "no results": lambda reply: json.dumps({**reply, "results": []}),
    "too many results": lambda reply: json.dumps({**reply, "results": 2 * reply["results"]}),
    "results that are a text": lambda reply: json.dumps({**reply, "results": "ok"}),
    "neither value nor error": lambda reply: json.dumps({**reply, "results": [{}]}),
    "both value and error": lambda r: json.dumps({**r, "results": [{**r["results"][0], "error": ERROR}]}),
    "defect": lambda reply: json.dumps({**reply, "results": [{"error": ERROR}]}),
    "error that is none": lambda reply: json.dumps({**reply, "results": [{"error": []}]}),
    "disagreement of one": lambda r: json.dumps({**r, "results": [{"error": {"kind": "DisagreementError"}}]}),
    "not a number": lambda reply: json.dumps({**reply, "seconds": float("nan")}),
    "negative time": lambda reply: json.dumps({**reply, "seconds": -1.0}),
    "no JSON": lambda reply: "private",
    "empty": lambda reply: "",
    "a list": lambda reply: "[]",
    "deep": lambda reply: "[" * 100_000,
    "refused": lambda reply: json.dumps({"refused": {"paramverify": "9\u001b[2J"}}),
    "refused by a list": lambda reply: json.dumps({"refused": []}),
    "other type": lambda reply: reply,
    "bytes": lambda reply: b"private",
    "nothing": lambda reply: None,
    "payload": lambda reply: Payload(),
    "payload in a list": lambda reply: [json.dumps(reply), Payload()],
    "payload as an error": lambda reply: _raise(PayloadError("x")),
    "payload in an error": lambda reply: _raise(ValueError(Payload())),
    "error": lambda reply: _raise(ValueError("no")),
    "killed worker": lambda reply: _raise(ValueError("distributed.scheduler KilledWorker x 1")),
    "death": lambda reply: os._exit(1),
}


def perform(text: str) -> Any:
    """Does the batch, and answers as the file says."""
    way = Path(os.environ[WAY]).read_text()
    return WAYS[way](json.loads(honest(text))) if way else honest(text)


def dask_setup(found: object) -> None:
    """Is called by Dask in the worker."""
    del found
    worker.perform = perform
