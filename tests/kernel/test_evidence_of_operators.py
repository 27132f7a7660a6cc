"""Evidence of every operator of dpCTL* on every kind of model is accepted, beside its case, too."""

from __future__ import annotations

from itertools import cycle, product

import pytest

import paramverify
from paramverify.kernel.documents import engine_of

STATES = {
    "chain with a parameter": """
        [parameters]
        p = "[1/4, 1/2]"
        [model]
        initial = ["s", "z"]
        [states]
        s = { labels = ["a"], to = { t = "p", u = "1 - p" } }
        z = { labels = ["a"], to = { t = "1 - p", u = "p" } }
        """,
    "process": """
        [model]
        kind = "mdp"
        initial = ["s", "z"]
        [states]
        s = { labels = ["a"], to = { x = { t = "1/2", u = "1/2" }, y = { t = "1/4", u = "3/4" } } }
        z = { labels = ["a"], to = { x = { t = "1/4", u = "3/4" }, y = { t = "1/2", u = "1/2" } } }
        """,
    "process with a parameter": """
        [parameters]
        p = "[1/4, 1/2]"
        [model]
        kind = "mdp"
        initial = ["s", "z"]
        [states]
        s = { labels = ["a"], to = { x = { t = "p", u = "1 - p" }, y = { t = "1/4", u = "3/4" } } }
        z = { labels = ["a"], to = { x = { t = "1/4", u = "3/4" }, y = { t = "p", u = "1 - p" } } }
        """,
}
ENDS = """
t = { labels = ["b"] }
u = { labels = ["c"] }
[neighbours]
pairs = [["s", "z"]]
"""
RELATIONS = ("<", "<=", ">", ">=")
COMPARED = [
    f"{word}{relation}{bound} [ F b ]"
    for (word, relation), bound in zip(
        product(("P", "Pmin", "Pmax"), RELATIONS), cycle(("1/8", "7/8", "7/8", "1/8", "7/8")), strict=False
    )
]
NEGATED = [f"a => !{word}{relation}1/8 [ X b ]" for word in ("P", "Pmin", "Pmax") for relation in RELATIONS]
WAYS = ["X b", "F b", "G a", "a U b", "a W b", "b R a", "F<=2 b", "G<=2 a", "a U[1,3] b", "!F b", "X (b | c)"]
PATHS = [f"a => P{relation} [ {path} ]" for relation, path in zip(cycle((">=1/16", "<1/16")), WAYS)]
JOINED = [
    "a | b | c",
    "a & b",
    "!a | P>0 [ F b ]",
    "a <=> (P<1 [ F b ])",
    "P[1/8, 7/8] [ F b ]",
    "a => P(1/8, 7/8) [ F b ]",
    "a => (P>=1/16 [ F b ] ? P<=7/8 [ F b ] : false)",
    "a => P>0 [ F (P>=1 [ F b ]) ]",
    "a => Pmax>0 [ X (Pmin>=1 [ F b ]) ]",
    "true",
    "false",
]
PRIVATE = [
    f"a => D{{{budget}}}[ {path} ]"
    for budget, paths in (
        ("ln(4), 0", ("X b", "F b", "F<=2 b")),
        ("0, 0", ("X b", "F b", "a U b", "G a")),
        ("0, 1/2", ("F<=2 b", "G a")),
        ("0, 1", ("a U b",)),
    )
    for path in paths
]
FAMILIES = [
    "forall k in 1..3: a => P>=1/16 [ F<=k b ]",
    "forall k in 0..3: a => P>=1/16 [ F<=k b ]",
    "forall k in 1..2: a => D{ln(4), 0}[ F<=k b ]",
    "forall k in 1..2: a => D{0, 0}[ F<=k b ]",
]


def case_of(kind: str, formulas: list[str]) -> paramverify.Case:
    """Returns formulas about a model as a case."""
    model = "\n".join(line.strip() for line in (STATES[kind] + ENDS).splitlines())
    lines = [f"f{k} = '{text}'" for k, text in enumerate(formulas)]
    return paramverify.loads("\n".join([model, "[formulas]", *lines]))


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind != "process")) for kind in STATES]
)
def test_own_evidence_is_accepted(kind: str) -> None:
    """Evidence is accepted beside its case; it shows every verdict but some that are about choices."""
    case = case_of(kind, [*COMPARED, *NEGATED, *PATHS, *JOINED, *PRIVATE, *FAMILIES])
    report = paramverify.verify(case, timeout=60)
    evidence = report.evidence()
    said = {entry["name"]: entry["status"] for entry in engine_of(evidence)["formulas"]}
    found = {name: answer["status"] for name, answer in report.document["properties"].items()}
    other = {name for name, status in found.items() if status != said[name]}
    assert not other or (kind.startswith("process") and {said[name] for name in other} == {"unknown"})
    assert {"holds", "violated"} <= {*found.values()}
    checked = paramverify.check(evidence, case)
    assert checked.accepted, (checked.lines[-1], said)
