"""Formulas and chains, read a second time: compared with the first reader, readings by hand, brute force."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from paramverify.evidence import envelope
from paramverify.kernel.strict_reading import UnreadCase
from paramverify.logic.formula_grammar import read_property
from paramverify.logic.logic_cases import load
from paramverify.reports.logic_evidence import LogicEvidence, _asked
from paramverify.rereader import second_formulas
from paramverify.rereader.second_formulas import ChainLook, read_formula
from paramverify.rereader.second_reading import second_look

Json = dict[str, Any]

# --- formulas ---------------------------------------------------------------------------------------


SHOWN = """P>=1/2 [ F a ] & !P<0.3 [ a U<=3 (b | X c) ] | P>0 [ G[1,4] a ]
forall k in 2..9: D{ln(2), 1/(3 + 1)}[ X X (a W<=k b) ]
Pmax>=1/2 [ a R[1,] b ] => (Pmin<1/3 [ F<2 true ] <=> a)
forall k: D{0, 0.5}[ !"a b" U=k+1 ("a b" & F>2 c) ]
P>=1 [ a U b U c ]
forall k in 3..5: D{0, 1}[ true U>k-2 a ] & P>1/2 [ X (a & b & c) ] & (a & b) & c | (a | b) | c
forall k in 3..: P>max(1/3, (1/2)) [ (a W<=k b) & (a R<k - 1 b) & G=k false ]
(a => b => c) | (a <=> b) | P<=1 - (1/4 + 1/8) [ a U !b ] | (a <=> b <=> c)
Pmin>1/2 [ F a ] & Pmin<=1/2 [ G a ] & Pmax<1/2 [ X a ] & Pmax<=1/2 [ X a ]
P>0 [ !X !a ] & P>0 [ (a W[0,2] b) W c ] & P>0 [ "P" R>=2 b1 ] & P>0 [ a U<3 b ]
D{ min(1, 2) , 0 }[ X a ] & P>1/2 [ F>2 P<1/3 [ G<=0 D{0, 1/2}[ a U b ] ] ]"""


def as_written(formula: Any) -> list[Any]:
    """Returns the tree of a formula with the texts of its bounds."""
    subject = LogicEvidence.__new__(LogicEvidence)
    subject.semantics = _Texts()  # type: ignore[assignment]
    subject.weight = lambda text: text  # type: ignore[method-assign, assignment]
    return LogicEvidence.tree(subject, formula)


class _Texts:
    """Gives bounds as they are written."""

    def number(self, expression: Any) -> str:
        return str(expression.text)

    ratio = number


@pytest.mark.slow
def test_formulas_are_read_alike() -> None:
    """Both readers give the same tree; the second one leaves the bounds as they are written."""
    for text in SHOWN.splitlines():
        found = read_property(text)
        tree, family = read_formula(text)
        assert tree == as_written(found.formula), text
        assert family == ({"first": found.first, "last": found.last} if found.variable else None)


def test_extremes_on_a_chain() -> None:
    """Where nothing is chosen, Pmin and Pmax are P."""
    for relation in ("<", "<=", ">", ">="):
        for word in ("P", "Pmin", "Pmax"):
            found, _ = read_formula(f"{word}{relation}1/3 [ F a ]", False)
            assert found == ["P", relation, "1/3", ["until", ["true"], ["label", "a"], 0, None]]


NOT_READ = """;a &;a b;a);(a;(a];P>=1/2 ( a );P>=1/2;P=1/2 [ a ];P in [0, 1] [ a ];a U;P>=1/2 [ a
P>=1/2) [ a ];D{1}[ a ];D{1, 2[ a ];D(1, 2}[ a ];r = 1;r <= 1;1;a';F[1 a;F[1,2 a;F[1 2] a;F<j a;F<=k a
forall k a;forall k in 2: a;forall k: F<=j a"""


@pytest.mark.parametrize("text", re.split("[;\n]", NOT_READ))
def test_texts_that_are_not_read(text: str) -> None:
    """No part of a text is left out, and nothing is guessed."""
    words = "condition over variables" if text in ("r = 1", "r <= 1", "1", "a'") else None
    with pytest.raises((UnreadCase, ValueError), match=words):
        read_formula(text)


# --- cases ------------------------------------------------------------------------------------------

CHAIN = """
[parameters]
p = "(0, 1)"
q = "[0, 1]"
constraints = ["p <= q + 1/2"]
[model]
initial = ["s", "t"]
[states]
s = { set = { r = 0 }, to = { u = "p", v = "1 - p" } }
t = { set = { r = 1 }, to = { u = "q/2", v = "1 - q/2", s = 0 } }
u = { labels = ["hit", "end"], set = { r = 5 } }
v = { labels = ["end"], to = { v = "1" } }
[neighbours]
where = "abs(r - r') <= 1"
[formulas]
first = "D{ln(2), p}[ X hit ]"
other = "P>=p*q/2 [ F<=3 hit ] & P<1/2 [ X X !end ]"
"""
PROCESS = """
[model]
kind = "mdp"
[states]
s = { labels = ["start"], to = { a = { u = "1/2", v = "1/2" }, b = { v = "1" } } }
t = { labels = ["start", "late"], to = { a = { u = "1/4", v = "3/4" }, b = { u = "1" } } }
u = { labels = ["hit"], to = { "*" = { v = 1 } } }
v = { labels = ["late"] }
[neighbours]
labels = ["start"]
[formulas]
each = "forall k in 1..4: D{0.5, 0}[ true U=k+1 hit ]"
most = "Pmax<3/4 [ F hit ]"
"""
STARS = PROCESS.replace('a = { u = "1/2", v = "1/2" }, b = { v = "1" }', '"*" = { u = "1" }')
STARS = STARS.replace('a = { u = "1/4", v = "3/4" }, b = { u = "1" }', '"*" = { v = "1" }')
CHANGES = {  # of a case; those behind == say the same
    CHAIN: """
(0, 1)"->(0, 1]" ;; [0, 1]->[0, 2] ;; q + 1/2->q + 1/3 ;; ["s", "t"]\\n->["t", "s"]\\n
["s", "t"]\\n->["s"]\\n ;; u = "p", v = "1 - p"->u = "p*p", v = "1 - p*p"
"q/2", v = "1 - q/2"->"q/3", v = "1 - q/3" ;; "hit", "end"->"hit"
"end"], to = { v = "1" }->"end", "hit"] ;; "1 - q/2", s = 0->"1/2 - q/2", s = "1/2" ;; <= 1"->< 1"
<= 1"-><= 4" ;; where = "abs(r - r') <= 1"->pairs = [["t", "u"]]
where = "abs(r - r') <= 1"->labels = ["end"] ;; ln(2)->ln(3) ;; ln(2), p->ln(2), q ;; X hit ]->X !hit ]
p*q/2->p*q/3 ;; F<=3->F<3 ;; F<=3->F<=2 ;; P<1/2->P<=1/2 ;; X X !end->X X end
p = "(0, 1)"->p = "(0, 1)"\\nz = "(0, 1)" ;; u = { labels->w = { } \\nu = { labels ;; ==
s = 0 }->s = "0" } ;; "end"], to = { v = "1" }->"end"] ;; "abs(r - r') <= 1"->"!(r != r') | r' - r = 1"
where = "abs(r - r') <= 1"->pairs = [["t", "s"], ["s", "s"]] ;; "p", v = "1 - p"->"2*p/2", v = "1 - p"
""",
    PROCESS: """
a = { u = "1/4", v = "3/4" }->a = { u = "3/4", v = "1/4" } ;; b = { u = "1" }->b = { v = "1" }
1..4->1..5 ;; 1..4->0..4 ;; "*" = { v = 1 }->a = { v = 1 }, b = { u = 1 }
s = { labels = ["start"->s = { labels = ["start", "late" ;; 1..4->1..
v = { labels = ["late"]->v = { labels = ["start"]
labels = ["start"]\\n[f->labels = ["start", "late"]\\n[f ;; 0.5->1
labels = ["start"]\\n[f->labels = ["late"]\\n[f ;; k+1->k+2 ;; k+1->k ;; Pmax<->Pmin< ;; Pmax<->Pmax<=
k+1->k + 1 ;; kind = "mdp"->kind = "mdp"\\ninitial = ["s"]
a = { u = "1/2", v = "1/2" }, b = { v = "1" }->b = { v = "1" }, a = { u = "1/2", v = "1/2" } ;; ==
"*" = { v = 1 }->b = { v = 1 }, a = { v = "1" } ;; "start", "late"->"late", "start"
""",
}


def document_of(path: Path) -> Json:
    """Returns the model and the formulas of a case as evidence has them, without proofs."""
    case = load(path)
    subject = LogicEvidence(case)
    entries = [_asked(subject, name, found) for name, found in case.properties.items()]
    own = {"kind": "formulas", "domain": subject.domain(), "model": subject.model(), "formulas": entries}
    return json.loads(json.dumps(envelope.document("holds", envelope.statements(own))))  # type: ignore[no-any-return]


@pytest.mark.slow
@pytest.mark.parametrize("text", [CHAIN, PROCESS], ids=["chain", "process"])
def test_a_changed_case_is_noticed(text: str, tmp_path: Path) -> None:
    """Both readers read each changed case alike, and both tell it from the case, or none does."""
    path = tmp_path / "case.toml"
    path.write_text(text)
    document = document_of(path)
    look = second_look(document, text)
    assert look.line.startswith("read a second time: 4 states, their neighbours and 2 formulas agree")
    alike = False
    for change in CHANGES[text].strip().replace("\n", " ;; ").replace("\\n", "\n").split(" ;; "):
        if alike := alike or change == "==":
            continue
        old, new = change.split("->")
        other = text.replace(old, new)
        assert other != text, change
        path.write_text(other)
        found = document_of(path)
        look = second_look(found, other)
        assert (look.compared, look.agrees) == (True, True), (change, look.line)
        look = second_look(document, other)
        assert (look.compared, look.agrees) == (True, alike), (change, look.line)


def forged(key: str, value: Any, *path: Any) -> Callable[[Json], None]:
    """Puts a value in the statement of a document."""

    def change(document: Json) -> None:
        (inner,) = document["statements"]
        for step in path:
            inner = inner[step]
        inner[key] = value

    return change


FORGED: list[tuple[Callable[[Json], None], tuple[bool, bool], str]] = [
    (forged("scheduled", False, "model"), (False, True), "without query schedulers"),
    (forged("states", ["z", "t", "u", "v"], "model"), (True, False), "other states"),
    (forged("actions", ["z"], "model"), (True, False), "other actions"),
    (forged("family", {"first": 0, "last": None}, "formulas", 0), (True, False), "another family"),
    (forged("formula", ["true"], "formulas", 1), (True, False), "something else"),
    (forged("name", "property 1", "formulas", 0), (True, True), "agree"),
    (lambda d: d["domains"][0]["variables"].pop(), (True, False), "the parameters are p, q"),
]


def test_a_forged_model_is_noticed(tmp_path: Path) -> None:
    """Each part of a model and of a formula is compared by itself; formulas may have names of their own."""
    path = tmp_path / "case.toml"
    path.write_text(CHAIN)
    for change, outcome, words in FORGED:
        document = document_of(path)
        change(document)
        look = second_look(document, CHAIN)
        assert ((look.compared, look.agrees), words in look.line) == (outcome, True), (words, look.line)
    look = second_look(document_of(path), CHAIN.replace("(0, 1)", "(0, oo)"))
    assert (look.compared, "without an upper end" in look.line) == (False, True)
    path.write_text(CHAIN.replace("p*q/2 [", "p**40*q/2 ["))
    assert "at 2 random" in second_look(document_of(path), path.read_text()).line
    path.write_text(CHAIN.replace('u = "p", v = "1 - p"', 'u = "p**40", v = "1 - p**40"'))
    assert "at 3 random" in second_look(document_of(path), path.read_text()).line
    path.write_text(STARS)
    assert second_look(document_of(path), STARS).agrees
    survey = Path(__file__).parents[2] / "cases/logic/survey.prism"
    more = '[parameters]\nc = "(0, 1)"\n[neighbours]\nwhere = "1 = 1"\n[formulas]\na = "true"\n'
    path.write_text(f'[model]\nfile = "{survey}"\n{more}')
    assert not second_look(document_of(path), path.read_text()).compared


WHERE = """
[states]
a = { set = { r = 0, t = 1 }, labels = ["u"], to = { b = "1" } }
b = { set = { r = 1, t = 0 } }
c = { set = { r = 2 } }
d = { labels = ["u", "v"] }
e = { set = { r = 2, t = 2 } }
[neighbours]
where = "CONDITION"
[formulas]
f = "P>=0 [ X u ]"
"""
VALUES = [{"r": 0, "t": 1}, {"r": 1, "t": 0}, {"r": 2}, {}, {"r": 2, "t": 2}]
CONDITIONS: list[tuple[str, str, str]] = [  # its meaning in Python, and the names that it asks for
    ("r = r'", "r == R", "r R"),
    ("r == r' & t <= t'", "r == R and t <= T", "r R t T"),
    ("!(r = r')", "r != R", "r R"),
    ("!r = r' & r'>0", "r != R and R > 0", "r R"),
    ("abs(r - r') <= 1 | t > t'", "abs(r - R) <= 1 or t > T", "r R t T"),
    ("r != r'", "r != R", "r R"),
    ("r < t'", "r < T", "r T"),
    ("max(r, t) = r'", "max(r, t) == R", "r t R"),
    ("min(r, r') = 0", "min(r, R) == 0", "r R"),
    ("r = 0 | r = 1 & r' = 2", "r == 0 or r == 1 and R == 2", "r R"),
    ("(r = 0 | r = 1) & r' >= 2", "(r == 0 or r == 1) and R >= 2", "r R"),
    ("r/2 = r' - 1.0", "r / 2 == R - 1", "r R"),
    ("r = 2e0", "r == 2", "r"),
    ("t' = 0", "T == 0", "T"),
    ("1 = 1", "True", ""),
]
UNKNOWN = "(r = 0 => r' = 1);(r = 0 ? 1 : 2) = r';mod(r, 2) = mod(r', 2);floor(r/2) = r';ceil (r/2) = r'"


def test_conditions_on_neighbours(tmp_path: Path) -> None:
    """Pairs that a condition describes, by brute force, for both readers; others are not read."""
    look, path = ChainLook.__new__(ChainLook), tmp_path / "case.toml"
    for condition, meaning, names in CONDITIONS:
        path.write_text(WHERE.replace("CONDITION", condition))
        look.data = tomllib.loads(path.read_text(), parse_float=Decimal)
        expected = set()
        for (s, one), (t, other) in permutations(enumerate(VALUES), 2):
            known = {**one, **{name.upper(): value for name, value in other.items()}}
            if known.keys() >= set(names.split()) and eval(meaning, {}, known):
                expected.add((min(s, t), max(s, t)))
        relation = load(path).relation
        assert {(s, t) for s in range(5) for t in relation[s] if s < t} == expected, condition
        assert look._neighbours(list("abcde"), {}) == expected, condition
    for condition in UNKNOWN.split(";"):
        look.data = tomllib.loads(WHERE.replace("CONDITION", condition))
        with pytest.raises(UnreadCase):
            look._neighbours(list("abcde"), {})


def test_very_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A condition is evaluated for so many pairs of states with its variables, and for no more."""
    look = ChainLook.__new__(ChainLook)
    look.data = tomllib.loads(WHERE.replace("CONDITION", "r = t'"))
    monkeypatch.setattr(second_formulas, "MAX_PAIRS", 4 * 3)
    assert look._neighbours(list("abcde"), {}) == {(0, 1), (2, 4)}
    monkeypatch.setattr(second_formulas, "MAX_PAIRS", 4 * 3 - 1)
    with pytest.raises(UnreadCase, match="very many pairs"):
        look._neighbours(list("abcde"), {})
