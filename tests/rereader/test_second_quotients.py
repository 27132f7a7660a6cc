"""Outputs one by one and certificates, read a second time: and changes of what is true."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from fractions import Fraction
from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import pytest
from case_texts import TABLE_CASE
from document_changes import Change, out, put
from engine_documents import engine_document
from written_evidence import evidence

from paramverify.kernel.strict_reading import Rejected
from paramverify.rereader import second_quotients
from paramverify.rereader.second_comparison import Found
from paramverify.rereader.second_evidence import StatedWitness
from paramverify.rereader.second_numbers import Finer
from paramverify.rereader.second_processes import Words
from paramverify.rereader.second_quotients import Quotients
from paramverify.rereader.second_reader import PointProbabilities
from paramverify.rereader.second_reading import SecondLook, second_look

F = Fraction
Json = dict[str, Any]
Changes = list[tuple[Change, str]]

ONE_SIDED = TABLE_CASE.replace('c = "3/4 - p"', 'd = "3/4 - p"') + 'one_sided = "ignored"\n'
FAR = TABLE_CASE.replace("0..1", "0..2").replace("[mechanism.inputs]", '2 = { a = "1" }\n[mechanism.inputs]')
FAR = FAR.replace('differ = "one"', 'distance = "abs(x - y)"') + 'ratio = "1 + distance"'
DOMAIN: Json = {"variables": ["p"], "box": {"p": "[1/4, 1/2)"}, "constraints": []}
CLAIMS = [  # 3·Pr(w|right) − Pr(w|left), each pair of rows times 4·p for one pair, and numbers of their own
    {"kind": "claim", "domain": 0, "polynomial": text, "origins": [way]}
    for text, way in (
        ("-2*p^2 + 3*p", "0 against 1, output a"),
        ("6*p^2 - p", "0 against 1, output b"),
        ("-2*p^2 + 3*p", "0 against 1, output c"),
        ("6*p^2 - p", "1 against 0, output a"),
        ("-2*p^2 + 3*p", "1 against 0, output b"),
        ("-10*p^2 + 7*p", "1 against 0, output c"),
    )
]
WITNESS: Json = {
    **{"kind": "claim", "secrets": ["0", "1"], "parameters": {"p": "1/4"}, "observations": ["b"]},
    **{"probabilities": ["1/4", "1/8"], "bound": "3/2", "claim": {"domain": 0, "polynomial": "3*p - 1"}},
}


def looked(case: str, status: str, *statements: Json, change: Change = dict, **more: Any) -> SecondLook:
    """Returns what the second reader says of a document that may be changed."""
    document = json.loads(json.dumps(evidence(status, [DOMAIN], *statements, **more)))
    change(document)
    return second_look(document, case)


def apart(document: Json) -> None:
    """One of the claims is about a part of the domain."""
    document["statements"][3]["domain"] = 1
    document["domains"].append({**DOMAIN, "box": {"p": "[1/4, 2/5)"}})


ABOUT_OUTPUTS: list[tuple[str, Change, str]] = [
    ("ratio = 3", dict, "read a second time: 6 comparisons of probabilities at 3 random points"),
    ('ratio = 3\ndelta = "p - p"', dict, "read a second time: 6 "),
    ("ratio = 3", lambda d: d.update(status="unknown", statements=CLAIMS[:4]), "read a second time: 6 "),
    ('ratio = 3\ndelta = "p - 1/5"', dict, "has a delta"),
    ("ratio = 1", dict, "the bound is broken"),
    ("ratio = 4", dict, "no claim says"),
    ('ratio = 3\none_sided = "ignored"', dict, "side condition"),
    ("ratio = 3", put("side_condition", value={}), "side condition"),
    ("ratio = 3", out("statements", 5), "no claim says"),
    ("ratio = 3", apart, "only one of both domains has p = "),
    ("ratio = 3", put("statements", 5, "polynomial", value="7*p - 9"), "no claim says"),
    ("ratio = 3", put("statements", 0, "origins", 0, value="0 against 1, output z"), "does not compare"),
]


@pytest.mark.parametrize(("case", "change", "words"), ABOUT_OUTPUTS)
def test_claims_about_outputs(case: str, change: Change, words: str) -> None:
    """Claims agree; a delta, a side condition, another bound or an output that is left out does not."""
    look = looked(TABLE_CASE + case, "holds", *CLAIMS, change=change)
    assert (look.compared, look.agrees, words in look.line) == (True, words.startswith("read"), True), look


def test_claims_of_a_map() -> None:
    """A map has all claims of the case, without words, and no others."""
    texts = [claim["polynomial"] for claim in CLAIMS]
    for claims, agrees in ((texts, True), ([*texts, "p - 1/3"], False), (texts[:5], False)):
        engine = {"kind": "cells", "domain": 0, "claims": claims}
        assert looked(TABLE_CASE + "ratio = 3", "map", engine).agrees is agrees


@pytest.mark.parametrize("left_out", [set(), {"x"}, {"y"}, {"l", "r"}])
def test_outputs_at_breaks_that_are_not_named(left_out: set[str]) -> None:
    """Where a case with numbers as outputs holds, no break breaks the bound, but those that are left out."""
    at, other = ({"p": F(1, 3)}, F(1)), ({"p": F(1, 4)}, F(1))
    for chance, bound, never in ((F(3, 4), 2, False), (F(3, 4), 3, False), (F(3, 4), 0, True)):
        right: Words | None = None if never else {("x",): F(1, 4)}
        masses = PointProbabilities({None: F(bound)}, {"l": {("x",): chance}, "r": right}, {})
        for probes, (holds, is_map, lengths) in product((True, False), OPTIONS):
            reader = SimpleNamespace(
                probe_breaks=lambda probes=probes: probes,
                masses=lambda *given, masses=masses: masses if given == (*at, [1]) else None,
                breaks=SimpleNamespace(left_out=left_out),
                **{"one_sided": True, "lengths": lengths},
            )
            evidence_of = SimpleNamespace(windows=None, holds=holds, is_map=is_map)
            look, quotients = cast(Any, SimpleNamespace(reader=reader, evidence=evidence_of)), Quotients()
            told = Found([at, other], pairs=[("l", "r")], kind="random ")
            looks = probes and (holds, is_map, lengths) == OPTIONS[0]
            if looks and not never and bound == 2 and "x" not in left_out:
                with pytest.raises(Rejected, match="names no output: l against r, output x"):
                    quotients.close(look, told)
            else:
                assert quotients.close(look, told).endswith(f"for each pair{told.missed}")
                alone = quotients.close(look, Found([at], pairs=[("l", "r")]))
                assert alone.endswith("the signs of the claims at a point, and their values are not compared")
                quotients.matching.loose = {("l", "r"), ("r", "l"), ("l", "s")}
                assert quotients.close(look, told).endswith("(for 2 pairs this compares signs only)")


OPTIONS = [
    (True, False, [1]),
    (False, False, [1]),
    (True, True, [1]),
    (True, False, [1, 2]),
    (True, False, [2]),
]


def test_a_bound_that_is_broken_at_one_point() -> None:
    """Where the case is said to hold, one output at one point is enough; a map says of itself where it is."""
    half = {("x",): F(1, 2), ("y",): F(1, 2)}
    never, kept, broken = (
        PointProbabilities(
            {None: F(2)}, {"l": half, "r": chance and {("x",): chance, ("y",): 1 - chance}}, {}
        )
        for chance in (None, F(1, 4), F(1, 5))
    )
    for found in ([never, kept, broken], [broken, kept], [kept, never], [kept]):
        for holds, is_map in ((True, False), (True, True), (False, False)):
            known = SimpleNamespace(windows=None, holds=holds, is_map=is_map)
            look = SimpleNamespace(evidence=known, reader=SimpleNamespace(one_sided=True))
            compare = partial(Quotients().compare, cast(Any, look), cast(Any, SimpleNamespace(masses=found)))
            if broken in found and holds and not is_map:
                with pytest.raises(Rejected, match="broken by l against r, output x"):
                    compare(("l", "r"), 1)
            else:
                compare(("l", "r"), 1)


BROKEN: Changes = [
    (put("probabilities", 0, value="1/3"), "number"),
    (put("probabilities", 1, value="1/3"), "number"),
    (put("bound", value="1"), "number"),
    (put("observations", value=["a"]), "number"),
    (put("observations", value=["b", "b"]), "another length"),
    (put("secrets", value=["0", "2"]), "not compared"),
    (put("secrets", value=["1", "0"]), "number"),
    (put("parameters", "p", value="1/2"), "outside"),
    (put("distance", value="1"), "distance"),
    (put("claim", "polynomial", value="p"), "claim"),
    (put("claim", "polynomial", value="4*p - 1"), "claim"),
]


def test_witnesses_about_an_output() -> None:
    """The numbers of a witness are those of the case, and break its bound, or are those of a budget."""
    case = TABLE_CASE + 'ratio = "3/2"'
    assert looked(case, "violated", witness=WITNESS).agrees
    far = {**WITNESS, "secrets": ["0", "2"], "probabilities": ["1/4", "0"], "bound": "3", "distance": "2"}
    far["claim"] = {"domain": 0, "polynomial": "-1"}
    assert looked(FAR, "violated", witness=far).agrees
    assert "another distance" in looked(FAR, "violated", witness={**far, "distance": "1"}).line
    told = {k: v for k, v in WITNESS.items() if k not in ("claim", "bound")}
    for number, agrees in (("1/8", True), ("1/9", False)):
        told["probabilities"] = ["1/4", number]
        budget = {"kind": "bound", "witnesses": [told]}
        assert looked(TABLE_CASE + "ratio = 3", "bounds", *CLAIMS, budget=budget).agrees is agrees
    within = looked(TABLE_CASE + "ratio = 2", "violated", witness={**WITNESS, "bound": "2"})
    assert "within the bound" in within.line
    at = {**WITNESS, "parameters": {"p": "99/200"}}
    for delta, agrees in (("0", True), ("max(0, p - 49/100)", True), ("max(0, 1/4 + 1/1000 - p)", False)):
        look = looked(case + f'\ndelta = "{delta}"', "violated", witness=WITNESS)
        assert look.agrees is agrees, look.line
    assert "has a delta" in looked(case + '\ndelta = "max(0, p - 49/100)"', "violated", witness=at).line
    half = {**WITNESS, "secrets": ["1", "0"], "observations": ["a"], "probabilities": ["1/2", "1/4"]}
    half["claim"] = {"domain": 0, "polynomial": "3*p - 1"}
    look = looked(ONE_SIDED + 'ratio = "3/2"', "violated", witness=half, side_condition={})
    assert look.agrees, look.line
    for secrets in (["0", "1"], ["1", "0"]):
        never = {**half, "observations": ["c"], "secrets": secrets}
        look = looked(ONE_SIDED + 'ratio = "3/2"', "violated", witness=never, side_condition={})
        assert "one side only" in look.line
    small = case.replace("p = ", 'constraints = ["(p - 1/4)**2 < 1/10**9"]\np = ')
    assert looked(small, "violated", witness=WITNESS).agrees


@pytest.mark.parametrize(("change", "words"), BROKEN)
def test_changed_witnesses(change: Change, words: str) -> None:
    """Whatever a witness about an output says is compared."""
    look = looked(
        TABLE_CASE + 'ratio = "3/2"', "violated", witness=WITNESS, change=lambda d: change(d["witness"])
    )
    assert (look.compared, look.agrees, words in look.line) == (True, False, True), look.line


def test_a_witness_where_no_other_point_is_found() -> None:
    """Without a delta only the point of the witness is looked at: Pr(b) is 1/4 and p/2 there."""
    case = TABLE_CASE.replace("p = ", 'constraints = ["(p - 7/23)**2 < 1/10**40"]\np = ') + 'ratio = "3/2"'
    at = {**WITNESS, "parameters": {"p": "7/23"}, "probabilities": ["1/4", "7/46"]}
    look = looked(case, "violated", witness=at)
    assert (look.compared, look.agrees) == (True, True), look.line


class Beside:
    """Stands for a reader and a comparison of a set beside a place: what is known, and what was asked."""

    def __init__(self, left: str, right: str, bound: int = 2) -> None:
        self.words: dict[str, Words | None] = {"l": {("s",): F(left)}, "r": {("s",): F(right)}}
        self.bound, self.steps, self.names = F(bound), {"e": F(0)}, list[object]()
        self.reader = self

    def __deepcopy__(self, memo: object) -> Beside:
        return self

    def name_outputs(self, names: list[str], complete: bool = True) -> None:
        self.names += [names, complete]

    def masses(self, *given: Any) -> PointProbabilities:
        assert given == ({"p": F(1, 3)}, F(1), [1], {"l", "r"}, ("s",))
        assert (self.steps, self.names) == ({"e": F(1, 7)}, [["s"], False])
        if not self.bound:
            raise Finer("e", F(1))
        return PointProbabilities({None: self.bound}, self.words, {})

    def exact(self, given: Any, base: Fraction) -> Fraction:
        return F(given["exact"] if isinstance(given, dict) else given)


def test_sets_beside_places() -> None:
    """A set has both of its exact probabilities, and they break the bound; others are not compared."""
    rounded = {"low": "1", "high": "2"}
    for told, known, words in (
        (["3/4", {"exact": "1/4"}], Beside("3/4", "1/4"), ""),
        (["3/4", {"exact": "1/5"}], Beside("3/4", "1/4"), "other probabilities"),
        (["3/5", "1/4"], Beside("3/4", "1/4"), "other probabilities"),
        ([rounded, "1/5"], Beside("3/4", "1/4"), ""),
        ([{"exact": "1/5"}, rounded], Beside("3/4", "1/4"), ""),
        (["1/2", "1/4"], Beside("1/2", "1/4"), "within the bound"),
        (["1/4", "3/4"], Beside("1/4", "3/4"), "within the bound"),
        (["3/4", "1/4"], Beside("3/4", "1/4", 0), "no exact probability"),
    ):
        within = {"observations": ["s"], "steps": {"e": "1/7"}, "probabilities": told}
        stated = StatedWitness({"secrets": ["l", "r"], "parameters": {"p": "1/3"}, "within": within})
        with pytest.raises(Rejected, match=words) if words else nullcontext():
            Quotients._beside(cast(Any, known), stated, F(1))


# --- certificates -----------------------------------------------------------------------------------

CHAIN = """
[parameters]
p = "[1/4, 1/2)"
[mechanism]
kind = "hmm"
states = ["a", "b"]
observations = ["x", "y"]
[mechanism.emissions]
a = { x = "p", y = "1-p" }
b = { x = "1/2", y = "1/2" }
[mechanism.transitions]
a = { a = "1/3", b = "2/3" }
b = { b = "1" }
[neighbours]
pairs = [["a", "b"]]
[privacy]
ratio = "4"
length = "all"
"""
ROWS = [(0, 0, "2*p"), (0, 1, "4*p"), (1, 0, "-2*p + 2"), (1, 1, "-4*p + 4")]
MODEL: Json = {
    "observations": ["x", "y"],
    "ratio": ["4*p", "p"],
    "pairs": [["a", "b", {"mass": "p", "weights": {"0": "p"}}, {"mass": "3", "weights": {"1": "3"}}]],
    "steps": [*([0, seen, to, w] for seen, to, w in ROWS), [1, 0, 1, "3"], [1, 1, 1, "3"]],
}
CERTIFICATES: Changes = [
    *[(put("model", "steps", k, 3, value="3/2*p + 1/3"), "other probabilities") for k in range(6)],
    (put("model", "steps", 0, 1, value=1), "other probabilities"),
    (put("model", "steps", 1, 2, value=0), "other probabilities"),
    (put("model", "ratio", 0, value="3*p"), "another bound"),
    (put("model", "ratio", value=["-4", "-1"]), "another bound"),
    (put("model", "ratio", value=["0", "0"]), "another bound"),
    (put("model", "pairs", 0, 1, value="c"), "other secrets"),
    (put("model", "pairs", value=[]), "no pairs"),
    (put("model", "pairs", 0, 2, "mass", value="2*p"), "other probabilities"),
    (put("model", "pairs", 0, 3, "weights", value={"0": "3"}), "other probabilities"),
    (put("model", "pairs", 0, 3, "mass", value="0"), "alone"),
    (put("model", "observations", value=["y", "x"]), "other probabilities"),
    (put("rule", value="loop"), "mistake"),
]


CLOSED = engine_document("cone", domain=DOMAIN, rule="closed", model=MODEL)
LOOP = engine_document("cone", "violated", DOMAIN, rule="loop", model=MODEL, point={"p": "1/3"})


@pytest.mark.parametrize("document", [CLOSED, LOOP], ids=["closed", "loop"])
@pytest.mark.parametrize(("change", "words"), CERTIFICATES)
def test_changed_certificates(change: Change, words: str, document: Json) -> None:
    """A certificate has the secrets, the bound and the probabilities of the case, up to factors."""
    changed = json.loads(json.dumps(document))
    change(changed["statements"][0])
    look = second_look(changed, CHAIN)
    own = document is LOOP and words in ("mistake", "no pairs")  # which say less
    told = own or words.replace("no pairs", "other secrets") in look.line
    assert (look.compared, look.agrees, told) == (True, own, True), look.line


ONLY_X = put("model", "steps", value=[[0, 0, 0, "2"], [0, 0, 1, "4"], *MODEL["steps"][4:]])
CASES_OF_CERTIFICATES: list[tuple[Json, Change, str, str, str]] = [
    (CLOSED, dict, "", "", "read a second time: the probabilities up to length 6 agree at 4 points"),
    (LOOP, dict, "", "", "read a second time: the probabilities up to length 6 agree at 1 point"),
    (LOOP, lambda d: ONLY_X(d["statements"][0]), 'x = "p", y = "1-p"', 'x = "1"', "read a second time"),
    (CLOSED, dict, 'length = "all"', 'length = "all"\ndelta = "1/9"', "has a delta"),
    (CLOSED, dict, 'length = "all"', 'length = "all"\none_sided = "ignored"', "side condition"),
    (LOOP, put("statements", 0, "point", "p", value="3/4"), "", "", "outside the domain"),
    (CLOSED, put("domains", 0, "variables", value=["p", "q"]), "", "", "the parameters are p"),
    (CLOSED, put("domains", 0, "box", "p", value="[1/4, 1/3)"), "", "", "only one of both domains"),
]


@pytest.mark.parametrize(("document", "change", "old", "new", "words"), CASES_OF_CERTIFICATES)
def test_certificates(document: Json, change: Change, old: str, new: str, words: str) -> None:
    """They agree with their case, also where an output is possible on one side only, and with no other."""
    changed = json.loads(json.dumps(document))
    change(changed)
    look = second_look(changed, CHAIN.replace(old, new) if old else CHAIN)
    assert (look.agrees, words in look.line) == (words.startswith("read"), True), look.line


@pytest.mark.parametrize(("size", "length"), [(3, 5), (8, 2), (21, 1), (401, 1)])
def test_lengths_that_are_compared(size: int, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All sequences up to a length of which there are at most 400; with more outputs those of length 1."""
    names = [f"o{k}" for k in range(size)]
    row = ", ".join(f'{name} = "1/{size}"' for name in names)
    text = re.sub(
        r"(?m)^([ab]) = { x.*", rf"\1 = {{ {row} }}", CHAIN.replace('["x", "y"]', json.dumps(names))
    )
    text = text.replace('{ a = "1/3", b = "2/3" }', '{ a = "1" }')
    steps = [[state, k, state, "1"] for state in (0, 1) for k in range(size)]
    document = engine_document("cone", domain=DOMAIN, rule="closed", model={**MODEL, "observations": names})
    document["statements"][0]["model"]["steps"] = steps
    assert f"up to length {length} agree" in second_look(document, text).line
    count = sum(size**n for n in range(1, length + 1))
    for most, compared in ((count, True), (count - 1, False)):
        monkeypatch.setattr(second_quotients, "MAX_COMPARED", most)
        assert second_look(document, text).compared is compared
    monkeypatch.undo()
    steps[0][3] = "2"
    document["statements"][0]["model"]["steps"] = steps
    assert "other probabilities" in second_look(document, text).line
