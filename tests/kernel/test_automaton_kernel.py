"""The kernel on evidence about automata: what is true is accepted, and what says more than is true is not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from conftest import ROOT
from engine_documents import own

from paramverify.automata.automaton import parse_automaton, read_automaton
from paramverify.automata.stream_verdicts import verify
from paramverify.kernel.documents import check_text, verdict_line
from paramverify.reports.stream_reports import automaton_evidence_document

CASES = ROOT / "cases" / "automata"
LEAKING = """(q1, 1/4, 0): x := insample; output oa; goto q2
(q2, 1/2, 0): if (insample >= x) then x := insample; output ob; goto q2
  elseif (insample < x) then output oc; goto q3
"""


SHORT = """(q1, 1/2, 0): x := insample; output oa; goto q2
(q2, 1/2, 10): if (insample >= x) then y := insample; output oa; goto q3
(q3, 1/6, 0): if (insample < y && insample >= x) then output oa; goto q4
"""


def evidence(name: str) -> dict[str, Any]:
    """The evidence about a shipped automaton, as it is written to a file."""
    path = CASES / f"{name}.dipa"
    return json.loads(
        json.dumps(automaton_evidence_document(verify(read_automaton(path)), path, path.read_bytes()))
    )


PRIVATE, WRONG, OTHER = (
    evidence("sparse-vector"),
    evidence("sparse-vector-never-stops"),
    evidence("every-number"),
)
TABLES = json.loads(json.dumps(automaton_evidence_document(verify(parse_automaton(SHORT)), CASES, b"")))
PINNED = evidence("numeric-sparse-vector-same-noise")
CYCLE = json.loads(json.dumps(automaton_evidence_document(verify(parse_automaton(LEAKING)), CASES, b"")))
Change = Callable[[dict[str, Any]], Any]


def put(*path: Any) -> Change:
    """Replaces a part of what is said of an automaton: the last entry is the new value."""
    *steps, last, value = path

    def change(about: dict[str, Any]) -> None:
        part: Any = about
        for step in steps:
            part = part[step]
        part[last] = value

    return change


def drop(*path: Any) -> Change:
    """Removes a part of what is said of an automaton."""
    *steps, last = path

    def change(about: dict[str, Any]) -> None:
        part: Any = about
        for step in steps:
            part = part[step]
        del part[last]

    return change


def accepts(document: dict[str, Any]) -> bool:
    """Whether the kernel accepts a document."""
    return check_text(json.dumps(document)).accepted


@pytest.mark.parametrize("document", [PRIVATE, WRONG, OTHER, PINNED, CYCLE, TABLES])
def test_true_evidence(document: dict[str, Any]) -> None:
    """What the package writes is accepted."""
    report = check_text(json.dumps(document))
    assert report.accepted, report.lines
    assert "not compared (give --case): the automaton with the file" in verdict_line(report)


FORGED = {
    "a link that pays nothing": (PRIVATE, lambda d: [link.__setitem__(3, 0) for link in d["proof"]["links"]]),
    "an edge is missing": (PRIVATE, drop("proof", "edges", 1)),
    "no demand on the threshold": (PRIVATE, lambda d: [z.update(bounds=[]) for z in d["proof"]["demands"]]),
    "pairs that go around": (
        PRIVATE,
        lambda d: [z.update(pairs=[[0, 1]], bounds=[[0, 1, 1], [1, -1, -1]]) for z in d["proof"]["demands"]],
    ),
    "the other loop": (PRIVATE, lambda d: d["automaton"]["transitions"][2].update(target=1)),
    "a smaller rate of the threshold": (PRIVATE, put("automaton", "states", 0, "rate", "2")),
    "released": (PRIVATE, put("automaton", "transitions", 2, "output", "insample")),
    "a released threshold": (PRIVATE, put("automaton", "transitions", 0, "output", "insample")),
    "a loop that reads and releases": (PRIVATE, put("automaton", "transitions", 1, "output", "insample")),
    "the chain reversed": (WRONG, lambda d: d["family"]["chain"].reverse()),
    "a chain with a gap": (WRONG, lambda d: d["family"]["chain"].pop(1)),
    "nothing is repeated": (WRONG, lambda d: [p.update(repeated=False) for p in d["family"]["parts"]]),
    "a part that is no cycle": (WRONG, put("family", "parts", 0, "repeated", True)),
    "the loop stops": (WRONG, lambda d: d["automaton"]["transitions"][2].update(target=0)),
    "the same loop twice": (WRONG, lambda d: d["automaton"]["transitions"][2].update(above=[], below=[0])),
    "nothing is read": (WRONG, put("automaton", "states", 1, "reads", False)),
    "the same output twice": (WRONG, put("automaton", "transitions", 2, "output", "obelow")),
    "a word is put out": (OTHER, put("automaton", "transitions", 0, "output", "oword")),
    "a sample that reads nothing is put out": (OTHER, put("automaton", "states", 0, "reads", False)),
    "fresh noise": (
        PINNED,
        lambda d: (
            d["automaton"]["states"][1].update(second=["1/2", "0"]),
            d["automaton"]["transitions"][2].update(output="insample'"),
        ),
    ),
    "a chain of one repetition": (
        CYCLE,
        lambda d: [place.__setitem__(2, 0) for place in d["family"]["chain"]],
    ),
    "a table that bounds nothing": (TABLES, lambda d: d["tables"]["tables"][1].update(costs={})),
    "a larger rate": (TABLES, put("automaton", "states", 1, "rate", "1")),
    "a key too many": (CYCLE, put("more", "1")),
    "another kind": (CYCLE, put("family", "kind", "leak")),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_evidence(name: str) -> None:
    """What says more than is true, or is not of the form, is rejected."""
    document, change = FORGED[name]
    forged = copy.deepcopy(document)
    change(own(forged))
    assert forged != document
    assert not accepts(forged)


def test_the_other_verdict() -> None:
    """A proof shows no violation, and a family no privacy; neither are they bounds of a budget."""
    for document, statuses in ((PRIVATE, ("violated", "bounds")), (WRONG, ("holds", "bounds"))):
        for status in statuses:
            assert not accepts(document | {"status": status})
