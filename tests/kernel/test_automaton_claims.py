"""Evidence about one budget of an automaton: each claim that is larger than what is shown is rejected."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from automaton_documents import Data, machine_of, state, step
from conftest import ROOT
from engine_documents import engine_document, own, with_own
from oracle_tools import put

from paramverify.automata.automaton import parse_automaton
from paramverify.automata.stream_verdicts import verify
from paramverify.kernel.documents import check_document, check_text, verdict_line
from paramverify.kernel.ledger import Demanded
from paramverify.reports.stream_reports import automaton_evidence_document

CASES = ROOT / "cases" / "automata"
# reads nothing and stores, then one sample below it again and again
BELOW = machine_of(
    [state(False, "1/2"), state(rate="1/3")], [step(0, 1, "a", stored=[0]), step(1, 1, "b", below=[0])]
)
RELEASED = machine_of([state(rate="1/2"), state()], [step(0, 1, "insample")])
WHOLE = machine_of([state(rate="1/2"), state()], [step(0, 1, "insample", strict=[])])
PROOF = {
    "multiple": "1/2",
    "classes": [0, 1],
    "edges": [[0, 1, 0]],
    "demands": [
        {"class": 0, "bounds": [], "pairs": [], "weight": "1/2"},
        {"class": 1, "bounds": [], "pairs": [], "weight": "0"},
    ],
    "links": [[0, 1, 0, 1]],
}
LEAST = {"steps": [0], "signs": [1], "high": [], "low": []}
TABLE = {"class": 0, "variables": [], "costs": {"": "0"}, "read": 0}
LENGTHS = {
    "classes": [0, 1],
    "edges": [[0, 1, 0]],
    "tables": [TABLE, TABLE | {"class": 1, "costs": {"": "1/2"}, "read": 1}],
    "budgets": [{"length": 0, "multiple": "0"}, {"length": 1, "multiple": "1/2", "least": LEAST}],
}
LOOPS = {
    "classes": [0],
    "edges": [[0, 0, 0]],
    "tables": [TABLE, TABLE | {"costs": {"": "1/2"}, "read": 1}],
    "budgets": [{"length": 1, "multiple": "1/2", "least": LEAST}],
}
GAP = {"steps": [0], "streams": [["0"], ["1"]], "point": ["0"], "levels": []}
FAMILY = {
    "kind": "disclosing cycle",
    "parts": [{"steps": [0], "repeated": True}],
    "chain": [[0, 0, 0]],
    "gain": "1/2",
}


def loop(data: Data) -> Data:
    """The same automaton, whose first transition is a loop."""
    changed = copy.deepcopy(data)
    changed["transitions"][0]["target"] = 0
    return changed


def document(status: str, automaton: Data, **parts: Any) -> Data:
    """A document."""
    return engine_document("automaton", status, automaton=automaton, **parts)


def claim(multiple: str, differ: str = "each", **more: Any) -> Data:
    """A claim."""
    return {"multiple": multiple, "differ": differ} | more


def put_together(*states: Data) -> Data:
    """An automaton whose first state has one transition without a guard, which puts out a word."""
    return machine_of([*states, state(False)], [step(0, 1, "a", stored=[0])])


BOTH = ["0", "1"]
IDLE = machine_of([state(False)], [step(0, 0, "a")])
STAYS = {
    "multiple": "0",
    "classes": [0],
    "edges": [[0, 0, 0]],
    "demands": [{"class": 0, "bounds": [], "pairs": [], "weight": "0"}],
    "links": [[0, 0, 0, 0]],
}
SECOND = machine_of([state(second=["1/7", "0"]), state()], [step(0, 1, "insample'", stored=[0])])
UNUSED = machine_of(
    [state(), state(False)],
    [step(0, 1, "a", stored=[0]), step(1, 1, "b", above=[0], below=[0]), step(1, 1, "c")],
)
EXAMPLE = {
    "steps": [0],
    "streams": [["0"], ["1"]],
    "at": "1/2",
    "step": "1/2",
    "output": "way",
    "between": ["-1", "0"],
    "probabilities": [{"exact": "1/4"}, {"exact": "1/8"}],
}
HOLDS, VIOLATED = ("holds", RELEASED), ("violated", RELEASED)
NOTHING = {"values": ["0", "3"]}
TRUE = {
    "no claim": document(*HOLDS, proof=PROOF),
    "no claim, with a way": document(*HOLDS, proof=PROOF, least=LEAST),
    "no claim, with lengths": document(*HOLDS, proof=PROOF, lengths=LENGTHS),
    "no claim, no budget": document("violated", loop(RELEASED), family=FAMILY),
    "the multiple": document(*HOLDS, claim=claim("1/2"), proof=PROOF),
    "and a number": document(*HOLDS, claim=claim("1/2", plus="1/9"), proof=PROOF),
    "and nothing": document(*HOLDS, claim=claim("1/2", plus="0"), proof=PROOF),
    "entries differ by 2": document(*HOLDS, claim=claim("1", by="2"), proof=PROOF),
    "near entries": document(*HOLDS, claim=claim("1/4", values=["0", "1/2", "5"]), proof=PROOF),
    "entries of any distance": document(*HOLDS, claim=claim("3/2", values=["0", "3"], by="any"), proof=PROOF),
    "whole entries": document("holds", WHOLE, claim=claim("1", values=["0", "2"], by="2"), proof=PROOF),
    "no entry can differ": document(*HOLDS, claim=claim("0", **NOTHING)),
    "by nothing": document(*HOLDS, claim=claim("0", by="0")),
    "no values": document(*HOLDS, claim=claim("0", values=[])),
    "one entry": document(*HOLDS, claim=claim("1/2", "one")),
    "one entry, with a way": document(*HOLDS, claim=claim("1/2", "one"), least=LEAST),
    "a loop": document("holds", IDLE, claim=claim("0"), proof=STAYS),
    "a sample that is not used": document("holds", put_together(state()), claim=claim("0", "one")),
    "only insample'": document("holds", SECOND, claim=claim("1/7", "one")),
    "one entry by 2": document(*HOLDS, claim=claim("1", "one", by="2")),
    "a sample is compared": document("holds", BELOW, claim=claim("1/3", "one")),
    "a guard that is never true compares nothing": document("holds", UNUSED, claim=claim("0", "one")),
    "a way": document(*VIOLATED, claim=claim("49/100"), least=LEAST),
    "a way and a number": document(*VIOLATED, claim=claim("49/100", plus="7"), least=LEAST),
    "a way by 2": document(*VIOLATED, claim=claim("99/100", by="2"), least=LEAST),
    "a way of one entry": document(*VIOLATED, claim=claim("49/100", "one"), least=LEAST),
    "a family": document("violated", loop(RELEASED), claim=claim("70"), family=FAMILY),
    "a family and lengths": document("violated", loop(RELEASED), family=FAMILY, lengths=LOOPS),
    "a way of insample'": document("violated", SECOND, claim=claim("1/8"), least=LEAST),
    "a gap": document(*VIOLATED, claim=claim("49/100", values=BOTH), gap=GAP),
    "a gap of one entry": document(*VIOLATED, claim=claim("0", "one", values=BOTH), gap=GAP),
    "an example": document(*VIOLATED, claim=claim("49/100"), least=LEAST, example=EXAMPLE),
}


@pytest.mark.parametrize("name", [n for n in TRUE if n != "an example"])
def test_what_is_shown(name: str) -> None:
    """What is shown is accepted, with its status and one claim."""
    report = check_document(TRUE[name], Demanded(engine={"automaton": own(TRUE[name])["automaton"]}))
    assert report.accepted, report.lines
    assert (report.status, report.proved) == (TRUE[name]["status"], 1)


def other_numbers(data: Any) -> Iterator[Any]:
    """The data with each number replaced by one that is out of its range or very long, one at a time."""
    if isinstance(data, (dict, list)):
        for key, value in list(data.items() if isinstance(data, dict) else enumerate(data)):
            for other in other_numbers(value):
                data[key] = other
                yield data
            data[key] = value
    elif type(data) is int:
        yield from (99, -1, 10**17)
    elif isinstance(data, str) and (data == "any" or re.fullmatch(r"-?\d+(/\d+)?", data)):
        yield from ("9" * 5000, "1/" + "9" * 5000, "-1", "9" * 4299)


BUDGETS = {
    "lengths": document("bounds", RELEASED, streams={"differ": "each"}, lengths=LENGTHS),
    "a proof by 2": document(
        "bounds", RELEASED, streams={"differ": "each", "by": "2"}, proof=PROOF, least=LEAST, lengths=LENGTHS
    ),
    "gaps": document(
        "bounds",
        RELEASED,
        streams={"differ": "each", "values": BOTH, "by": "any"},
        gap=GAP,
        lengths=LENGTHS | {"budgets": [{"length": 1, "multiple": "1/2", "gap": GAP}]},
    ),
    "a way of any entries": document(
        "bounds", RELEASED, streams={"differ": "each", "values": BOTH}, proof=PROOF, least=LEAST, gap=GAP
    ),
    "nothing can differ": document("bounds", RELEASED, streams={"differ": "one", "values": ["0"]}),
}


@pytest.mark.parametrize("name", [*TRUE, *BUDGETS])
def test_numbers_that_are_out_of_range(name: str) -> None:
    """A number of a document is looked at before it is used: whatever it is, there is a verdict."""
    told = copy.deepcopy((TRUE | BUDGETS)[name])
    assert check_document(told).accepted
    count = 0
    for changed in other_numbers(told):
        report = check_document(changed)
        assert report.accepted or report.lines[0].startswith("rejected: "), report
        count += 1
    assert count >= 8
    assert check_document(told).accepted


STREAMS = [
    ({"differ": "each", "by": "2"}, "about streams whose entries differ by 2 at most each"),
    ({"differ": "one"}, "about streams in which one entry differs, by 1 at most"),
    (
        {"differ": "one", "values": ["1", "0", "1/2"], "by": "any"},
        "about streams of the values 0, 1/2, 1 in which one entry differs, by any number",
    ),
    (
        {"differ": "each", "values": ["0", "3"]},
        "about streams of the values 0, 3 whose entries differ by 1 at most each",
    ),
    (
        {"differ": "each", "values": []},
        "about streams of no value whose entries differ by 1 at most each",
    ),
]


@pytest.mark.parametrize(("streams", "words"), STREAMS)
def test_which_streams_are_told(streams: Data, words: str) -> None:
    """A report says which streams it is about, of a budget and of a claim, and also where nothing differs."""
    least = streams.get("values") in ([], ["0", "3"])
    proof = {} if least or streams["differ"] == "one" else {"proof": PROOF}
    for told in (
        document("bounds", RELEASED, streams=streams, **proof),
        document(*HOLDS, claim=streams | {"multiple": "5"}, **proof),
    ):
        report = check_document(told)
        assert (report.accepted, report.lines[0]) == (True, words), report.lines
        assert "and the streams with the file" in verdict_line(check_text(json.dumps(told)))


def test_ways_beside_few_values() -> None:
    """A way is about entries of any numbers: it is no violation by few values, and the report says so."""
    assert check_document(document(*HOLDS, claim=claim("1/2", values=BOTH), proof=PROOF, gap=GAP)).accepted
    lines = check_document(BUDGETS["a way of any entries"]).lines
    assert [line.endswith(" for entries of any numbers") for line in lines] == [False, False, True, False]
    assert lines[3] == "way: 1 steps: for large epsilon no multiple below 1/2 is enough for two streams"
    for multiple, told in (("1/2", "no less is"), ("1", "no less than 1/2 is")):
        given = put(BUDGETS["lengths"], "statements", 0, "lengths", "budgets", 1, "multiple", multiple)
        assert check_document(given).lines[-1] == f"length 1: {multiple} times epsilon is enough, and {told}"
    assert not check_document(document(*VIOLATED, claim=claim("0", values=BOTH), least=LEAST)).accepted
    assert not check_document(document(*VIOLATED, claim=claim("0", "one", values=BOTH), least=LEAST)).accepted


def change(name: str, **parts: Any) -> Data:
    """A true document with other parts; None leaves one out."""
    return with_own(TRUE[name], **parts)


CLAIMS = {
    "the multiple": [claim("49/100"), claim("-1/2"), claim("1/2", plus="-1/9"), claim("1/2", "one")],
    "entries differ by 2": [claim("99/100", by="2"), claim("1/2", by="3"), claim("1", by="any")],
    "near entries": [claim("24/100", values=["0", "1/2"]), claim("1/4", values=["0", "1"])],
    "entries of any distance": [claim("149/100", values=["0", "3"], by="any"), claim("5", by="x")],
    "whole entries": [claim("9", values=["0", "1/2"]), claim("9", values=["1/3", "1/2", "1"], by="any")],
    "no entry can differ": [claim("0", values=["0", "1"]), claim("1"), claim("-1", **NOTHING)],
    "by nothing": [claim("0"), claim("0", by="-1")],
    "one entry": [claim("49/100", "one"), claim("1", "each"), claim("1/2", "one", by="2")],
    "only insample'": [claim("1/8", "one"), claim("1/7", "one", by="2")],
    "a sample is compared": [claim("33/100", "one")],
    "a way of insample'": [claim("1/7")],
    "a way": [None, claim("1/2"), claim("2"), claim("-1"), claim("0", values=BOTH), claim("0", plus="-1")],
    "a way by 2": [claim("1", by="2"), claim("1/2"), claim("0", by="0"), claim("0", by="any")],
    "a way of one entry": [claim("1/2", "one")],
    "a family": [claim("0", "one"), claim("0", values=BOTH), claim("-1"), claim("0", by="0")],
    "a gap": [claim("1/2", values=BOTH), claim("1", values=BOTH), claim("0"), claim("0", values=["1", "2"])],
}


@pytest.mark.parametrize(
    ("name", "number"), [(name, k) for name, all_of in CLAIMS.items() for k in range(len(all_of))]
)
def test_other_claims(name: str, number: int) -> None:
    """The same proof shows no other claim."""
    assert not check_document(change(name, claim=CLAIMS[name][number])).accepted


OTHER = {"proof": PROOF, "family": FAMILY, "least": LEAST, "lengths": LENGTHS, "gap": GAP, "example": EXAMPLE}
OTHER["tables"] = {k: v for k, v in LENGTHS.items() if k != "budgets"} | {"multiple": "1/2"}
OTHER["tables"] = OTHER["tables"] | {
    "tables": [{k: v for k, v in t.items() if k != "read"} for t in LENGTHS["tables"]]
}
TOO_MUCH = {
    "no claim": "family gap example tables",
    "no claim, no budget": "proof gap example tables least",
    "the multiple": "family gap example tables",
    "no entry can differ": "proof family least lengths gap example tables",
    "one entry": "proof family gap example tables lengths",
    "a way": "proof gap tables lengths",
    "a way of one entry": "proof family gap tables lengths",
    "a family": "proof gap tables least",
    "a gap": "proof family least tables lengths",
}


@pytest.mark.parametrize(
    ("name", "part"), [(n, part) for n, parts in TOO_MUCH.items() for part in parts.split()]
)
def test_parts_that_do_not_belong(name: str, part: str) -> None:
    """A document has the parts of its kind of claim, and no others that would not be checked."""
    report = check_document(change(name, **{part: OTHER[part]}))
    assert not report.accepted
    assert (
        part != "example"
        or "an example is only allowed in evidence that a budget is violated" in report.lines[0]
    )


@pytest.mark.parametrize("name", [n for n in TRUE if "example" not in n])
def test_the_other_status_and_missing_parts(name: str) -> None:
    """What holds is not violated, and the other way round; without its proof nothing is shown."""
    given = TRUE[name]
    other = {"holds": "violated", "violated": "holds"}[given["status"]]
    assert not check_document(given | {"status": other}).accepted
    for part in ("proof", "family", "gap"):
        if part in own(given):
            assert not check_document(change(name, **{part: None})).accepted
    if given["status"] == "violated" and "least" in own(given):
        assert not check_document(change(name, least=None)).accepted
    demanded = Demanded(engine={"automaton": RELEASED if own(given)["automaton"] == BELOW else BELOW})
    assert check_document(given, demanded).lines == (
        "rejected: the evidence has another automaton than the case",
    )


def test_a_class_without_a_demand() -> None:
    """A way may end in every class."""
    ends = PROOF | {"multiple": "0", "links": [], "demands": STAYS["demands"]}
    assert "no demand" in check_document(change("no claim", proof=ends)).lines[0]


IMPOSSIBLE = {"class": 0, "bounds": [[0, 1, 1], [1, -1, -1]], "pairs": [[0, 1]], "weight": "0"}
PROOF_CHANGES: list[tuple[Any, ...]] = [
    *(("links", [[0, 1, 0, 1], link]) for link in ([2, 1, 0, 1], [0, 2, 0, 1], [0, 1, 1, 1], [-2, 1, 0, 1])),
    *(("links", [[0, 1, 0, 1], link]) for link in ([0, -1, 0, 1], [0, 1, -1, 1], [0, 0, 0, 1], [1, 1, 0, 0])),
    *(("edges", [[0, 1, 0], edge]) for edge in ([2, 1, 0], [1, 2, 0], [1, 1, 1], [-1, 0, 0], [1, -1, 0])),
    ("demands", 0, "weight", "49/100"),
    ("demands", 0, "weight", "51/100"),
    ("demands", 1, "weight", "1/100"),
    ("demands", [PROOF["demands"][0], PROOF["demands"][1], IMPOSSIBLE]),
    ("demands", [PROOF["demands"][0], PROOF["demands"][1], PROOF["demands"][1]]),
    ("demands", [*PROOF["demands"], PROOF["demands"][0] | {"weight": "51/100"}]),
    ("multiple", "49/100"),
]


@pytest.mark.parametrize("path", PROOF_CHANGES)
def test_demands(path: tuple[Any, ...]) -> None:
    """Every class, edge, demand and link of a proof is one, and every demand of an edge has its link."""
    alone = change("no claim", automaton=RELEASED | {"variables": ["v0", "v1"]})
    assert check_document(alone).accepted
    report = check_document(put(alone, "statements", 0, "proof", *path))
    assert (report.accepted, "malformed" in report.lines[0]) == (False, False), report.lines


LENGTH_CHANGES: list[tuple[Any, ...]] = [
    ("budgets", 1, "multiple", "49/100"),
    ("budgets", 1, "gap", GAP),
    ("budgets", 1, "length", 0),
    ("budgets", 0, "length", -1),
    ("budgets", 0, "least", LEAST),
    ("budgets", 0, {"length": 0, "multiple": "1/2", "least": LEAST}),
    ("budgets", []),
    ("budgets", [{"length": 1, "multiple": "1/2"}, {"length": 1, "multiple": "1/2"}]),
    ("classes", []),
    ("classes", [1, 1]),
    ("classes", [0, 0]),
    ("edges", []),
    ("edges", 0, 2, -1),
    ("edges", [[0, 1, 0], [0, 0, 0]]),
    *(("edges", [[0, 1, 0], edge]) for edge in ([2, 1, 0], [1, 2, 0], [1, 1, 1], [-1, 1, 0], [1, -1, 0])),
    ("tables", 0, "read", 1),
    ("tables", 0, "class", 1),
    ("tables", 0, "differed", False),
    ("tables", 0, "costs", {"": "-1"}),
    ("tables", 0, {"class": 0, "variables": [0], "costs": dict.fromkeys("-0+", "0"), "read": 0}),
    ("tables", 1, "read", 0),
    ("tables", 1, "read", 2),
    ("tables", 1, {"class": 1, "variables": [0], "costs": dict.fromkeys("-0+", "1/2"), "read": 1}),
]


@pytest.mark.parametrize("path", LENGTH_CHANGES)
def test_lengths(path: tuple[Any, ...]) -> None:
    """Every number of a proof of lengths counts, where there is no other proof."""
    alone = document("bounds", RELEASED, streams={"differ": "each"}, lengths=LENGTHS)
    assert check_document(alone).lines[0] == "about streams whose entries differ by 1 at most each"
    report = check_document(put(alone, "statements", 0, "lengths", *path))
    assert (report.accepted, "malformed" in report.lines[0]) == (False, False), report.lines
    below = put(
        alone, "statements", 0, "lengths", "tables", [*LENGTHS["tables"], TABLE | {"costs": {"": "-1"}}]
    )
    assert check_document(below).accepted
    none = LENGTHS | {"classes": [], "edges": []}
    assert (
        "class 0 is not a class of the first state" in check_document(with_own(alone, lengths=none)).lines[0]
    )


THRICE = machine_of(
    [state(rate=rate) for rate in ("1/2", "1/3", "1", "1")], [step(k, k + 1, "insample") for k in range(3)]
)


def one_table(place: int, cost: str, read: int, differed: bool) -> Data:
    """A table without variables, where one entry differs."""
    return {"class": place, "variables": [], "costs": {"": cost}, "read": read, "differed": differed}


def test_tables_of_one_entry() -> None:
    """The entry that differs may be each one: tables without a difference go on to the next one."""
    tables = [one_table(0, "0", 0, False), one_table(1, "0", 1, False), one_table(1, "1/2", 1, True)]
    tables += [one_table(2, "0", 2, False), one_table(2, "1/2", 2, True)]
    budgets = [{"length": n, "multiple": m} for n, m in ((1, "1/2"), (2, "1/2"), (3, "1"))]
    edges = [[0, 1, 0], [1, 2, 1], [2, 3, 2]]
    lengths = {"classes": [0, 1, 2, 3], "edges": edges, "tables": tables, "budgets": budgets}
    true = document("bounds", THRICE, streams={"differ": "one"}, lengths=lengths)
    assert check_document(true).lines[2:] == tuple(
        f"length {n}: {m} times epsilon is enough" for n, m in ((1, "1/2"), (2, "1/2"), (3, "1"))
    )
    for k in range(5):
        fewer = lengths | {"tables": tables[:k] + tables[k + 1 :]}
        assert not check_document(with_own(true, lengths=fewer)).accepted
    for k, less in enumerate(("49/100", "49/100", "99/100")):
        assert not check_document(
            put(true, "statements", 0, "lengths", "budgets", k, "multiple", less)
        ).accepted
    begun = put(true, "statements", 0, "lengths", "tables", 0, "differed", True)
    assert "no table for the start" in check_document(begun).lines[0]


@pytest.mark.parametrize("side", ["above", "below"])
def test_the_sign_of_one_difference(side: str) -> None:
    """The costlier sign of one difference counts: a sample moves away from the one before it for nothing."""
    data = machine_of(
        [state(False, "1/2"), state(rate="1/3"), state(), state()],
        [step(0, 1, "a", stored=[0]), step(1, 2, "b", **{side: [0]}), step(2, 3, "insample")],
    )
    stored = {"variables": [0], "costs": {"-": "1/2", "0": "0", "+": "1/2"}}
    for cost, right in (("1/3", True), ("33/100", False), ("0", False)):
        tables = [one_table(0, "0", 0, False), one_table(1, "0", 0, False) | stored]
        tables += [one_table(2, "0", 1, False), one_table(2, cost, 1, True)]
        lengths = {"classes": [0, 1, 2, 3], "edges": [[0, 1, 0], [1, 2, 1], [2, 3, 2]], "tables": tables}
        lengths |= {"budgets": [{"length": 1, "multiple": cost}]}
        given = document("bounds", data, streams={"differ": "one"}, lengths=lengths)
        assert check_document(given).accepted == right
        lengths["tables"][1] = one_table(1, "0", 0, False)
        assert "a table lacks a variable" in check_document(with_own(given, lengths=lengths)).lines[0]


def test_budgets_without_parts() -> None:
    """Where one entry differs the automaton alone has a bound; else nothing is shown."""
    shown = check_document(document("bounds", RELEASED, streams={"differ": "one", "by": "3"}))
    assert shown.lines[1:] == ("one entry differs: 3/2 times epsilon is enough, for every length",)
    for alone in ({}, {"least": LEAST}):
        assert not check_document(document("bounds", RELEASED, streams={"differ": "each"}, **alone)).accepted
    grows = document("bounds", loop(RELEASED), streams={"differ": "each", "by": "3"}, family=FAMILY)
    told = "family: each repetition costs 3/2 times epsilon more: no multiple is enough"
    assert check_document(grows).lines[1:] == (told,)
    for part in ({"proof": PROOF}, {"least": LEAST}, {"streams": {"differ": "each", "values": BOTH}}):
        assert not check_document(with_own(grows, **part)).accepted


@pytest.mark.parametrize(("streams", "reach"), [({"by": "2"}, 2), ({"values": ["0", "1/2"]}, Fraction(1, 2))])
def test_lengths_beside_a_proof(streams: Data, reach: Fraction) -> None:
    """A multiple that is enough for every length needs no tables for one, and a smaller one does."""
    for multiple in ("1/8", "1/4", "49/100", "1/2", "1", "2"):
        lengths = LENGTHS | {"tables": [], "budgets": [{"length": 1, "multiple": multiple}]}
        told = document(
            "bounds", RELEASED, streams={"differ": "each", **streams}, proof=PROOF, lengths=lengths
        )
        report = check_document(told)
        assert report.accepted == (Fraction(multiple) >= Fraction(1, 2)), report.lines
        if report.accepted:
            enough = Fraction(multiple) * reach
            assert report.lines[-1] == f"length 1: {enough} times epsilon is enough"


def test_streams_belong_to_budgets() -> None:
    """Evidence about a budget says which streams it is about, and other evidence has a claim or nothing."""
    streams = {"differ": "each"}
    for given in (
        document("bounds", RELEASED, proof=PROOF),
        document("bounds", RELEASED, proof=PROOF, claim=claim("1/2")),
        document("bounds", RELEASED, proof=PROOF, claim=claim("1/2"), streams=streams),
        document(*HOLDS, proof=PROOF, streams=streams),
        document(*HOLDS, proof=PROOF, claim=claim("1/2"), streams=streams),
    ):
        assert "must say which streams are compared" in check_document(given).lines[0]


@pytest.mark.parametrize(
    "name", ["no claim, with a way", "no claim, with lengths", "a way", "a way of one entry", "a gap"]
)
def test_outputs_that_do_not_tell_the_way(name: str) -> None:
    """A way shows nothing about outputs where two ways have the same ones."""
    given = change(name)
    proof = verify(
        parse_automaton(
            "(q1, 1/2, 0): t := insample; output insample; goto q2\n"
            "(q2:non-input, 1, 0): if (insample >= t) then output same; goto q3\n"
            "  elseif (insample < t) then output same; goto q3\n"
        )
    )
    told = own(json.loads(json.dumps(automaton_evidence_document(proof, CASES, b""))))
    if given["status"] == "holds":
        shown = {name: told[name] for name in ("automaton", "proof", "tables") if name in told}
        given = with_own(given, **{"proof": None, **shown})
        assert check_document(with_own(given, least=None, lengths=None)).accepted
    else:
        given = with_own(given, automaton=told["automaton"])
    if "lengths" in own(given):
        lengths = own(given)["lengths"]
        lengths |= {"classes": [0, 1, 2], "edges": [[0, 1, 0], [1, 2, 1], [1, 2, 2]]}
        lengths["tables"] += [TABLE | {"class": 2, "costs": {"": "1/2"}, "read": 1}]
        lengths["tables"][1] |= {"variables": [0], "costs": {"0": "1/2"}}
    report = check_document(given)
    assert "outputs do not show the way" in report.lines[0]
