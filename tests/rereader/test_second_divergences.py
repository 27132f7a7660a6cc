"""Sums over all outputs, read a second time: true evidence agrees, each change of it does not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import nullcontext
from fractions import Fraction
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any, cast

import pytest
from case_texts import TABLE_CASE
from mpmath import mp, mpf
from written_evidence import evidence

from paramverify.claims import AllOutputs
from paramverify.kernel.strict_reading import Rejected, UnreadCase
from paramverify.rereader.second_divergences import (
    NEAR,
    ORDERS,
    WIDE,
    Averages,
    Moments,
    PositiveParts,
    SumOfOutputs,
    divergence,
    sum_between,
    together,
    value_between,
)
from paramverify.rereader.second_evidence import StatedWitness
from paramverify.rereader.second_measures import as_ratio, loss_of
from paramverify.rereader.second_numbers import Calculator
from paramverify.rereader.second_processes import Words
from paramverify.rereader.second_reader import PointProbabilities
from paramverify.rereader.second_reading import SecondLook, second_look

F = Fraction
mp.prec = 300
Json = dict[str, Any]
Change = tuple[str, Any, str]  # where, what else, and words of the reason

DOMAIN: Json = {"variables": ["p"], "box": {"p": "[1/4, 1/2)"}, "constraints": []}
ABOUT: Json = {"secrets": ["0", "1"], "parameters": {"p": "1/4"}, "length": 1}

# The differences are 4 and 8·p times those of the case.
DELTA = 'ratio = "3/2"\ndelta = "1/8"'
ONE: Json = {"room": "1/2", "terms": ["4*p - 3", "-3*p + 1", "-p"], "origins": [["0", "1", 1]]}
BACK: Json = {
    "room": "p",
    "terms": ["-12*p^2 + 4*p", "4*p^2 - 3*p", "8*p^2 - 5*p"],
    "origins": [["1", "0", 1]],
}
SETS: list[Json] = [{"kind": "parts", "domain": 0, **each} for each in (ONE, BACK)]
SET: Json = {
    **{"kind": "set", **ABOUT, "outputs": [["b"]], "probabilities": ["1/4", "1/8"], "bound": "3/2"},
    **{"delta": "1/20", "beyond": "1/16"},
    "claim": {"domain": 0, "room": "2", "terms": ["40*p - 30", "-30*p + 10", "-10*p"]},
}
# 3 minus the sum of P²/Q, times 8·p·(1 − p) and 4·p·(3 − 4·p).
RENYI = "renyi = { order = 2, ratio = 3 }"
MOMENTS: list[Json] = [
    {"kind": "claim", "domain": 0, "polynomial": text, "origins": [f"{way}, all outputs together"]}
    for text, way in (
        ("16*p^4 - 32*p^3 + 16*p - 1", "0 against 1"),
        ("16*p^4 - 16*p^3 - 40*p^2 + 36*p - 3", "1 against 0"),
    )
]
MOMENT: Json = {
    **{"kind": "claim", **ABOUT, "order": 2, "moment": "31/24", "bound": "5/4"},
    "largest": [{"output": ["c"], "probabilities": ["1/2", "3/8"]}],
    "claim": {"domain": 0, "polynomial": "16*p^4 - 32*p^3 + 14*p^2 + 2*p - 1"},
}
KL = 'kl = "1/100 + ln(2)/4"'
LOSSES: list[Json] = [
    {"kind": "average", "domain": 0, "of": "kl", "bound": ["1/100", [["1/4", "2"]]], "total": total, **each}
    for total, each in (
        ("8", {"outputs": [["8*p", "4"], ["2", "4*p"], ["6 - 8*p", "4 - 4*p"]], "origins": [["0", "1", 1]]}),
        ("-4*p", {"outputs": [["2*p", "4*p^2"], ["2*p^2", "p"], ["2*p - 2*p^2", "3*p - 4*p^2"]]}),
    )
]
LOSSES[1]["origins"] = [["1", "0", 1]]
LOSS: Json = {
    **{"kind": "average", **ABOUT, "measure": "kl", "value": ["0.14384103622", "0.14384103623"]},
    **{"largest": MOMENT["largest"], "claim": {**LOSSES[0], "bound": ["1/8", []]}},
}
SQUARE: Json = {
    **LOSS,
    "measure": "zcdp",
    "order": "2",
    "value": ["0.25593337413", "0.25593337414"],
}
SQUARE["claim"] = {**LOSS["claim"], "of": "zcdp", "bound": ["1/10", []]}


def looked(privacy: str, status: str, *statements: Json, **more: Any) -> SecondLook:
    """Returns what the second reader says."""
    return second_look(
        json.loads(json.dumps(evidence(status, [DOMAIN], *statements, **more))), TABLE_CASE + privacy
    )


def changed(found: Any, way: str, value: Any) -> Any:
    """Returns a copy with another value; a number that is called `more` is one more."""
    copy = json.loads(json.dumps(found))
    *steps, last = (int(step) if step.isdigit() else step for step in way.split("."))
    inner = copy
    for step in steps:
        inner = inner[step]
    inner[last] = value
    return copy


def changes_of(text: str) -> Iterator[Change]:
    """Yields each change of a table: the words of the reason, the places, and what else stands there."""
    for line in text.strip().splitlines():
        words, _, rest = line.partition(": ")
        for each in rest.split(" ;; "):
            way, _, value = each.partition(" ~ ")
            yield way, json.loads(value), words


HOLDS = {
    "sets": (DELTA, SETS, 'ratio = 1\ndelta = "1/10**6"'),
    "renyi": (RENYI, MOMENTS, "renyi = { order = 2, ratio = 1 }"),
    "kl": (KL, LOSSES, 'kl = "1/10**6"'),
}
OTHER_CLAIMS = {
    "sets": """
another claim about: 0.room ~ "1" ;; 0.terms.0 ~ "4*p - 2" ;; 0.terms.1 ~ "3*p - 1" ;; 1.terms.1 ~ "-2*p"
no claim: 0.origins.0 ~ ["1", "0", 1]
does not compare: 1.origins ~ [["1", "0", 1], ["0", "2", 1]]
no claim is about '1' against '0': 1.origins ~ []""",
    "renyi": """
another claim about: 0.polynomial ~ "-16*p^4 + 32*p^3 - 16*p + 1" ;; 1.polynomial ~ "p - 1/2"
no claim: 0.origins.0 ~ "0 against 1, all outputs of length 2 together" ;; 1.origins.0 ~ "1 against 2, all"
does not compare: 0.origins ~ ["0 against 1, all outputs together", "0 against 1, all of length 2"]""",
    "kl": """
another claim: 0.total ~ "9" ;; 1.outputs.1.0 ~ "2*p" ;; 1.outputs.2 ~ ["0", "0"]
another claim: 1.origins.0 ~ ["0", "1", 1]
total of a claim is 0: 0.total ~ "0"
no claim is about: 1.origins ~ []
another bound: 0.bound.0 ~ "1/99" ;; 0.bound.1.0.0 ~ "1/5" ;; 0.bound.1.0.1 ~ "3"
another measure: 0.of ~ "zcdp\"""",
}


@pytest.mark.parametrize("kind", HOLDS)
def test_claims_about_all_outputs(kind: str) -> None:
    """Claims with factors of their own agree, changed ones do not, and a bound that is broken is noticed."""
    privacy, statements, less = HOLDS[kind]
    look = looked(privacy, "holds", *statements)
    assert look.agrees, look.line
    assert "2 sums" in look.line or "2 directions" in look.line
    for way, value, words in changes_of(OTHER_CLAIMS[kind]):
        look = looked(privacy, "holds", *changed(statements, way, value))
        assert (look.compared, look.agrees, words in look.line) == (True, False, True), (way, look.line)
    for kept in (statements[:1], statements[1:]):
        assert "no claim is about" in looked(privacy, "holds", *kept).line
        assert looked(privacy, "unknown", *kept).agrees
    assert not looked(less, "holds", *statements).agrees


def test_a_claim_about_more_than_it_says() -> None:
    """One that lists three directions may be about others, too; one that lists two may not."""
    again = TABLE_CASE.replace("[mechanism.inputs]", "2 = { A }\n3 = { B }\n[mechanism.inputs]").replace(
        "0..1", "0..3"
    )
    again = again.replace('differ = "one"', 'differ = "one"\nby = "any"')
    rows = [re.search(rf"\n{k} = {{(.*)}}", TABLE_CASE) for k in (0, 1)]
    case = again.replace("A", rows[0][1]).replace("B", rows[1][1])  # type: ignore[index]

    def told(count: int) -> SecondLook:
        ways = (["01", "03", "21", "23"], ["10", "12", "30", "32"], ["02", "20", "13", "31"])
        texts = [*(claim["polynomial"] for claim in MOMENTS), "2"]
        claims = [
            {
                **MOMENTS[0],
                "polynomial": f,
                "origins": [f"{a} against {b}, all outputs together" for a, b in each],
            }
            for f, each in zip(texts, (way[:count] for way in ways), strict=True)
        ]
        return second_look(evidence("holds", [DOMAIN], *claims), case + RENYI)

    assert (told(4).agrees, told(3).agrees) == (True, True), told(3).line
    assert "no claim is about" in told(2).line


BROKEN = {  # a bound, a witness, and a bound that it just keeps
    "sets": ('ratio = "3/2"\ndelta = "1/20"', SET, 'ratio = "3/2"\ndelta = "1/16"'),
    "renyi": ('renyi = { order = 2, ratio = "5/4" }', MOMENT, 'renyi = { order = 2, ratio = "31/24" }'),
    "kl": ('kl = "1/8"', LOSS, 'kl = "1/6"'),
    "zcdp": ('zcdp = "1/10"', SQUARE, 'zcdp = "13/100"'),
}
OTHER_WITNESSES = {
    "sets": """
number: outputs ~ [["b"], ["a"]] ;; probabilities.0 ~ "1/3" ;; probabilities.1 ~ "1/3" ;; bound ~ "1"
number: delta ~ "1/21" ;; beyond ~ "1/15" ;; secrets ~ ["1", "0"]
another length: outputs ~ [["b", "b"]] ;; outputs ~ []
another claim: claim.room ~ "3" ;; claim.terms.1 ~ "-30*p + 11\"""",
    "renyi": """
another order: order ~ 3
the sum: moment ~ "5/4"
another sum: moment ~ "infinity"
the sum: secrets ~ ["1", "0"]
another bound: bound ~ "6/5"
probability: largest.0.probabilities.0 ~ "1/3" ;; largest.0.output.0 ~ "a"
another claim: claim.polynomial ~ "p" ;; claim.polynomial ~ "p - 1/4\"""",
    "kl": """
another divergence: measure ~ "zcdp"
divergence: value ~ "infinity" ;; value ~ ["0.14384103622", "0.14384103732"] ;; value ~ ["1/7", "1/7"]
divergence: value ~ ["0.14384103621", "0.14384103622"] ;; value ~ ["0.14384103623", "0.14384103624"]
divergence: value ~ ["0.14384103623", "0.14384103622"] ;; value ~ ["1/6", "1/6"]
probability: largest.0.probabilities.1 ~ "1/3"
another claim for the witness: secrets ~ ["1", "0"] ;; claim.outputs.0.0 ~ "7*p"
another bound: claim.bound.0 ~ "1/9\"""",
    "zcdp": """
divergence: order ~ "3" ;; value ~ ["0.14384103622", "0.14384103623"] ;; measure ~ "kl\"""",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_witnesses_about_all_outputs(kind: str) -> None:
    """The numbers of a witness are those of the case, and are beyond its bound and not just at it."""
    privacy, witness, more = BROKEN[kind]
    look = looked(privacy, "violated", witness=witness)
    assert (look.compared, look.agrees) == (True, True), look.line
    for way, value, words in changes_of(OTHER_WITNESSES[kind]):
        look = looked(privacy, "violated", witness=changed(witness, way, value))
        assert (look.compared, look.agrees, words in look.line) == (True, False, True), (way, look.line)
    bound = more.split('"')[-2]
    within = {**witness, "delta": bound} if "delta" in witness else {**witness, "bound": bound}
    if "of" in witness["claim"]:
        within["claim"] = {**witness["claim"], "bound": [bound, []]}
    look = looked(more, "violated", witness=within)
    assert (look.agrees, "within the bound" in look.line) == (False, True), look.line


# --- maps and budgets -------------------------------------------------------------------------------

CELLS = [  # with delta = 1/20 the bounds are broken for p < 3/10, and for p < 4/15 in both directions
    ("1/4", "13/50", "violating", None),
    ("27/100", "29/100", "violating", None),
    ("3/10", "1/2", "safe", None),
    ("1/4", "1/2", "violating", {"p": "29/100"}),
    ("1/4", "1/2", "safe", {"p": "3/10"}),
    ("1/4", "1/2", "unknown", None),
    ("1/2", "3/4", "violating", None),
    ("1/8", "6/25", "safe", None),
    ("2/5", "2/5", "safe", None),
]


def test_cells_of_a_map() -> None:
    """At a point of each cell that is in the domain the bounds are broken, or not, as the cell says."""
    privacy = DELTA.replace("1/8", "1/20")
    sums = [{**SETS[0], "room": "1/5"}, {**SETS[1], "room": "2/5*p"}]

    def mapped(*cells: tuple[str, str, str, Json | None]) -> SecondLook:
        listed = [{"box": [c[:2]], "status": c[2], **({"at": c[3]} if c[3] else {})} for c in cells]
        engine = {"kind": "cells", "domain": 0, "claims": [], "free": ["p"], "cells": listed}
        return looked(privacy, "map", *sums, engine)

    assert mapped(*CELLS).agrees, mapped(*CELLS).line
    for low, high, status, at in CELLS[:5]:
        other = "safe" if status == "violating" else "violating"
        look = mapped(*CELLS[5:], (low, high, other, at))
        assert (look.agrees, f"are {'broken' if other == 'safe' else 'kept'} in" in look.line) == (
            False,
            True,
        )


BUDGETS: list[tuple[str, Json, list[Json], str, Json]] = [  # a case, a budget, its claims, a case, a witness
    (
        *(DELTA, {"kind": "delta", "given": "ln(3/2)", "enough": "1/8"}, SETS),
        *('ratio = "2"\ndelta = "1/9"\nlength = 1', {**SET, "delta": "1/16"}),
    ),
    (
        *(DELTA, {"kind": "ratio", "given": "1/8", "enough": "3/2"}, SETS),
        *('epsilon = "ln(2)"\ndelta = "1/9"', {**SET, "delta": "1/8", "bound": "1", "beyond": "1/8"}),
    ),
    (RENYI, {"kind": "bound", "enough": "3"}, MOMENTS, RENYI, {k: MOMENT[k] for k in MOMENT if k != "bound"}),
    (
        KL,
        {"kind": "kl", "enough": "1/5"},
        [{**each, "bound": ["1/5", []]} for each in LOSSES],
        'kl = "1/9"',
        LOSS,
    ),
]


@pytest.mark.parametrize(("privacy", "budget", "claims", "other", "witness"), BUDGETS)
def test_budgets(privacy: str, budget: Json, claims: list[Json], other: str, witness: Json) -> None:
    """A least bound has claims with itself, not with that of the case, and witnesses with their numbers."""
    for case in (privacy, other):
        look = looked(case, "holds", *claims, budget={**budget, "witnesses": [witness]})
        assert look.agrees, look.line
    key = "probabilities" if "probabilities" in witness else "moment" if "moment" in witness else "value"
    wrong = {**witness, key: ["1/3", "1/3"] if key != "moment" else "1/3"}
    assert not looked(privacy, "holds", *claims, budget={**budget, "witnesses": [witness, wrong]}).agrees
    assert not looked(privacy, "holds", *claims, budget={**budget, "enough": "7"}).agrees or key == "moment"
    if key == "probabilities":
        assert not looked(privacy.partition("delta")[0], "holds", *claims).agrees
        none = [{**each, "room": "0"} for each in claims]
        assert "no delta" in looked('ratio = "3/2"', "unknown", *none).line
    assert looked(privacy, "bounds", budget={**budget, "enough": None, "witnesses": [witness]}).agrees
    if key == "value":
        assert not looked('zcdp = "1/99"', "holds", *claims, budget=budget).agrees


def test_witnesses_without_a_finite_bound() -> None:
    """Where no ratio is enough, 1 stands for it, and other sums are infinite; what is finite is not."""
    only = TABLE_CASE.replace('b = "p/2", c = "1/2 - p/2"', 'c = "1/2"')
    loss = {**LOSSES[0], "bound": ["1/8", []], "outputs": [["8*p", "4"], ["2", "0"], ["6 - 8*p", "4"]]}
    for privacy, endless in (
        ('renyi = { order = 2, ratio = "5/4" }', {**MOMENT, "moment": "infinity", "largest": []}),
        ('kl = "1/8"', {**LOSS, "value": "infinity", "largest": [], "claim": loss}),
    ):
        look = second_look(evidence("violated", [DOMAIN], witness=endless), only + privacy)
        assert look.agrees, look.line
        told = {**endless, **({"moment": "7"} if "moment" in endless else {"value": ["7", "7"]})}
        look = second_look(evidence("violated", [DOMAIN], witness=told), only + privacy)
        assert re.search("another (sum|divergence) for the witness", look.line)
        assert not second_look(evidence("violated", [DOMAIN], witness=endless), TABLE_CASE + privacy).agrees
    case = only + DELTA
    witness = {**SET, "probabilities": ["1/4", "0"], "bound": "1", "delta": "1/8", "beyond": "1/4"}
    for bound, agrees in (("1", True), ("2", False)):
        budget = {"kind": "ratio", "given": "1/8", "enough": None, "witnesses": [{**witness, "bound": bound}]}
        assert second_look(evidence("bounds", [DOMAIN], budget=budget), case).agrees is agrees
    budget = {"kind": "delta", "given": "ln(3/2)", "enough": "1/20"}
    assert looked(DELTA, "violated", witness=SET, budget=budget).agrees


def test_bounds_with_logarithms() -> None:
    """One number may be written in two ways; one that is known too roughly is not compared with any."""

    def bounded(privacy: str, *logarithms: tuple[str, str], **more: Any) -> SecondLook:
        return looked(privacy, "holds", *({**each, "bound": ["0", logarithms]} for each in LOSSES), **more)

    for n, k in product((2, 3, 5, 7), (2, 3)):
        assert bounded(f'kl = "ln({n**k})"', (str(k), str(n))).agrees
        assert bounded(f'kl = "{k}*ln({n})"', ("1", str(n**k))).agrees
        assert not bounded(f'kl = "{k}*ln({n})"', ("1", f"{10**40 * n**k + 1}/{10**40}")).agrees
    far = 10**40
    look = bounded(
        f'kl = "{far}*(ln(2) + ln(3) - ln(6)) + 1"', (f"{far}", "2"), (f"{far}", "3"), (f"-{far}", "6")
    )
    assert "another bound" in look.line
    assert "another measure" in looked("ratio = 3", "holds", *LOSSES).line
    assert "budget is about another" in looked(KL, "holds", *LOSSES, budget={"kind": "zcdp"}).line


# --- what is found at a point -----------------------------------------------------------------------


def near_at(order: int | None = None, delta: str = "0") -> Any:
    """Stands for a comparison at a point at which polynomials are numbers."""
    reader = SimpleNamespace(order=order, delta=lambda *at: F(delta), data={"privacy": {}})
    return SimpleNamespace(reader=reader, value=lambda text, point, base: F(text))


def found(bound: str, left: str, right: str) -> PointProbabilities:
    """What is found of two secrets: probabilities, or nothing of one that is impossible."""
    words: dict[str, Words | None] = {}
    for name, row in (("l", left), ("r", right)):
        words[name] = {(str(k),): F(p) for k, p in enumerate(row.split())} if row else None
    return PointProbabilities({None: F(bound)}, words, {})


WAY, AT = ("l", "r", 1), ({"p": F(1)}, F(1))
MASSES = ["1/2 1/2 0", "1/4 3/4 0", "1/2 1/4 1/4", "0 1 0", ""]


class Numbers(SumOfOutputs[int]):
    """A functional that is a number, or nothing, at each point; it is broken below 0."""

    def stated(self, evidence: Any) -> Any:
        return evidence.claims

    def own(self, look: Any, found: Any, way: object, at: object) -> int | None:
        return found if way == ("l", "r", 1) else None  # type: ignore[no-any-return]

    def is_broken(self, look: Any, own: int) -> bool:
        return own < 0

    def agrees(self, look: Any, claim: Any, own: int, at: object) -> bool:
        return own in claim["values"]

    def merged(self, claim: Any) -> bool:
        return bool(claim["merged"])


def test_each_point_and_each_claim_counts() -> None:
    """All points keep the bound where the case holds, and agree with all claims that name the direction."""
    back = {"values": [], "origins": [["r", "l", 1]], "merged": False}
    for masses, holds, origin, merged in product(
        product((None, -1, 1, 2), repeat=2), (True, False), "lm", (True, False)
    ):
        for values in ([1], [1, 2], [-1, 1, 2]):
            claim = {"values": values, "origins": [[origin, "r", 1]], "merged": merged}
            look = cast(Any, SimpleNamespace(evidence=SimpleNamespace(claims=[claim, back], holds=holds)))
            told = cast(Any, SimpleNamespace(masses=masses, points=[AT, AT]))
            known = [own for own in masses if own is not None]
            fits = {*known} <= {*values}
            wrong = "is broken" if holds and -1 in known else ""
            if origin == "l":
                wrong = wrong or ("" if fits else "another claim about")
            elif holds:
                wrong = wrong or ("" if fits and merged else "no claim")
            numbers = Numbers()
            numbers.start(look, told)
            with pytest.raises(Rejected, match=wrong) if wrong else nullcontext():
                numbers.compare(look, told, ("l", "r"), 1)


def test_a_sum_is_compared_up_to_a_positive_number() -> None:
    """By brute force: room, positive part and whole of a claim are one number times those of the case."""
    sums = PositiveParts()
    scales = {F(a, b) for a in range(1, 7) for b in range(1, 7)}
    for room, *terms in product((0, -1, 1), (0, -1, 1), (0, -1, 2)):
        for own in product((F(0), F(1, 2)), (F(0), F(1)), (F(0), F(-1), F(1))):
            told = (room, sum(t for t in terms if t > 0), sum(terms))
            true = any(told == tuple(s * o for o in own) for s in scales)
            claim = {"room": str(room), "terms": list(map(str, terms))}
            assert sums.agrees(near_at(), claim, own, AT) is true, (claim, own)
    for left, right, bound in product(MASSES[::-1], MASSES[::-1], ("1", "2")):
        excesses = []
        for one, other in ((left, right), (right, left)):
            own_sum = sums.own(near_at(delta="1/8"), found(bound, one, other), WAY, AT)
            if not one or not other:
                assert own_sum is None
                continue
            terms = [F(p) - F(bound) * F(q) for p, q in zip(one.split(), other.split(), strict=True)]
            subsets = (sum(part, F(0)) for k in range(4) for part in combinations(terms, k))
            assert own_sum == (F(1, 8), max(subsets), 1 - F(bound))
            assert sums.is_broken(near_at(), own_sum) == (own_sum[1] > F(1, 8))
            excesses.append(own_sum[1])
        for delta in ("1/8", "1/4", "0"):
            look = near_at(delta=delta)
            look.reader.masses = lambda *given, known=(bound, left, right): found(*known)
            look.reader.lengths, look.reader.pairs = [1], lambda *at: [("l", "r")]
            assert PositiveParts._is_broken(look, AT) == any(e > F(delta) for e in excesses)
    assert not sums.is_broken(near_at(), (F(1, 8), F(1, 8), F(-1)))
    for delta, good in (("0", True), ("1", True), ("3/2", False), ("-1/9", False)):
        with nullcontext() if good else pytest.raises(Rejected, match="not a probability"):
            sums.own(near_at(delta=delta), found("1", "1", "1"), WAY, AT)


def test_signs_of_moments() -> None:
    """The sign of what a bound leaves of Σ P^α/Q^(α−1), which is infinite if Q is 0 and P is not."""
    for order, left, right, k in product((2, 3), MASSES, MASSES, (-1, 0, 1)):
        pairs = list(zip(map(F, left.split()), map(F, right.split()), strict=False))
        endless = any(p and not q for p, q in pairs)
        total = F(0) if endless else sum((p * (p / q) ** (order - 1) for p, q in pairs if p), F(0))
        sums = Moments()
        own = sums.own(near_at(order), found(str(total + F(k, 9)), left, right), WAY, AT)
        assert own == (0 if not left or not right else -1 if endless else k), (order, left, right)
        assert sums.is_broken(near_at(), own) == (own == -1)
        for value in ("-1/9", "0", "1/9"):
            sign = (F(value) > 0) - (F(value) < 0)
            assert sums.agrees(near_at(), {"polynomial": value}, own, AT) == (sign in (0, own))
            assert Moments().agrees(near_at(), {"polynomial": value}, own, AT) == (sign in (0, own))
    assert [Moments().name(("l", "r", n)) for n in (1, 2)] == [
        str(AllOutputs("l", "r", length=n)) for n in (1, 2)
    ]


def test_divergences_beyond_a_bound() -> None:
    """With kl the divergence, with zcdp that of some order above its multiple, against mpmath."""
    sums = Averages()
    assert sums.own(near_at(), found("1", "", "1"), WAY, AT) is None
    for left, right in product(MASSES[:3], repeat=2):
        own = sums.own(near_at(), found("1", left, right), WAY, AT)
        assert own is not None
        pairs = [(F(p), F(q)) for p, q in zip(left.split(), right.split(), strict=True)]
        for sums.measure, bound in product(("kl", "zcdp"), (F(0), F(1, 20), F(1, 8), F(3, 10))):
            sums.bound = (bound - 1, bound)
            if any(p and not q for p, q in pairs):
                assert sums.is_broken(near_at(), own)
                continue
            orders = [mpf(1)] if sums.measure == "kl" else [mpf(n) / 16 for n in (17, 24, 32, 64, 256)]
            values = [divergence_of(pairs, order) / order for order in orders]
            assert sums.is_broken(near_at(), own) == any(v > near(bound) + mpf(10) ** -30 for v in values)
            sums.bound = (F(0), F(repr(max(0.0, float(max(values))))) + F(1, 10**9))
            assert not sums.is_broken(near_at(), own)


# --- numbers ----------------------------------------------------------------------------------------


def near(number: Fraction) -> mpf:
    return mpf(number.numerator) / number.denominator


def divergence_of(pairs: list[tuple[Fraction, Fraction]], a: mpf) -> mpf:
    """Returns the divergence of an order, with 1 that of KL."""
    known = [(near(p), near(q)) for p, q in pairs if p]
    if a == 1:
        return sum((p * mp.log(p / q) for p, q in known), mpf(0))
    return mp.log(sum(p**a * q ** (1 - a) for p, q in known)) / (a - 1)


@pytest.mark.parametrize("order", [None, "17/16", "3/2", "2", "7"])
def test_divergences_are_enclosed(order: str | None) -> None:
    """Both ends are next to the number of mpmath, whatever is put together."""
    for tables in (
        [("1/2", "1/4"), ("1/4", "1/2"), ("1/4", "1/4")],
        [("1/10", "1/5"), ("0", "1/2"), ("3/10", "3/20"), ("2/5", "1/10"), ("1/5", "1/20"), ("0", "0")],
        [("3", "3")],  # whose sum is a whole number, and so nothing is rounded but its logarithm
    ):
        pairs = [(F(p), F(q)) for p, q in tables]
        low, high = divergence(together(pairs), None if order is None else F(order))
        true = divergence_of(pairs, mpf(1) if order is None else near(F(order)))
        assert near(low) <= true <= near(high)
        assert high - low < F(1, 10**40)
    sums = together([(F(1), F(0)), (F(1), F(2)), (F(0), F(3)), (F(2), F(4)), (F(0), F(0)), (F(1), F(0))])
    assert sums == {None: (2, 0), F(1, 2): (3, 6), F(0): (0, 3)}


def test_margins_of_enclosed_numbers() -> None:
    """A number counts as another one, and a bound as broken, beyond a margin and not at it."""
    own, sums, bit = together([(F(1, 2), F(1, 4)), (F(1, 2), F(3, 4))]), Averages(), F(1, 10**80)
    for order in (None, "2", "5/4"):
        low, high = divergence(own, None if order is None else F(order))
        wide = high - low + WIDE
        for told, good in (
            ((high + NEAR, high + NEAR), True),
            ((high + NEAR + bit, high + NEAR + bit), False),
            ((low - NEAR, low - NEAR), True),
            ((low - NEAR - bit, low - NEAR - bit), False),
            ((low - wide / 2, low + wide / 2), True),
            ((low - wide / 2, low + wide / 2 + bit), False),
        ):
            for bound in (high + NEAR, high + NEAR + bit, low):
                sums.bound = (bound / F(order or 1), bound)
                stated = StatedWitness({"value": list(map(str, told)), "order": order})
                wrong = "another divergence" if not good else "within" if bound == high + NEAR + bit else ""
                with pytest.raises(Rejected, match=wrong) if wrong else nullcontext():
                    sums._divergence(stated, own, True)
    for sums.measure, orders in (("kl", [None]), ("zcdp", ORDERS)):
        most = max((divergence(own, order)[0] - NEAR) / (order or 1) for order in orders)
        for bound, broken in ((most, False), (most - bit, True)):
            sums.bound = (F(0), bound)
            assert sums.is_broken(near_at(), own) is broken


@pytest.mark.parametrize(("factor", "start", "words"), [(1, "0", ""), (10**60, "1/10", "bound")])
def test_a_bound_that_is_too_wide(factor: int, start: str, words: str) -> None:
    """A bound that differs by 1/10 is another one, also where its logarithm is not known that well."""
    claims = [{**each, "bound": [start, [[str(factor), "2"]]]} for each in LOSSES]
    look = looked(f'kl = "{factor}*ln(2)"', "holds", *claims)
    assert (look.agrees, words in look.line) == (not words, True), look.line


def test_sums_with_logarithms() -> None:
    """A bound such as 1/3 − 2·ln(5/4) is enclosed, whatever the signs; another form is not read."""
    at = Calculator({}, None, F(1))
    for text, parts in (
        ("1/3 - 2*ln(5/4)", [(None, F(1, 3)), (F(5, 4), F(-2))]),
        ("ln(1/7)/3 + ln(2) - 5", [(F(1, 7), F(1, 3)), (F(2), F(1)), (None, F(-5))]),
        ("7/2", [(None, F(7, 2))]),
    ):
        true = sum((near(f) * (mp.log(near(n)) if n else 1) for n, f in parts), mpf(0))
        for low, high in (value_between(at, text), sum_between(parts)):
            assert near(low) <= true <= near(high)
            assert high - low < F(1, 10**40)
    with pytest.raises((UnreadCase, ValueError)):
        value_between(Calculator({"x_e": F(1, 2)}, None, F(1), {"e": F(1)}), "e + 1")


MEASURES: list[tuple[Json, Json | None, int | None]] = [  # what bounds, as a ratio, and the order of a sum
    (
        {"ratio": 2, "delta": 0, "length": 3, "other": 1},
        {"ratio": 2, "delta": 0, "length": 3, "other": 1},
        None,
    ),
    ({"epsilon": "ln(2)"}, {"epsilon": "ln(2)"}, None),
    ({}, {}, None),
    ({"total_variation": "1/3", "length": 2}, {"length": 2, "ratio": 1, "delta": "1/3"}, None),
    ({"chi_squared": "p - 1/2"}, {"ratio": "1 + (p - 1/2)"}, 2),
    ({"kl": "1/3", "length": 2}, {"length": 2, "ratio": 1}, None),
    ({"zcdp": "1/3", "other": 3}, {"ratio": 1, "other": 3}, None),
    ({"renyi": {"order": 3, "epsilon": "e + 1"}}, {"epsilon": "(2)*(e + 1)"}, 3),
    ({"renyi": {"ratio": "r + 1", "order": 4}, "length": 2}, {"length": 2, "ratio": "(r + 1)**(3)"}, 4),
    ({"renyi": {"ratio": "r", "order": 2}}, {"ratio": "(r)**(1)"}, 2),
    ({"renyi": {"order": "oo", "epsilon": "e"}}, {"epsilon": "e"}, None),
    *[({"renyi": {"order": order, "ratio": 2}}, None, None) for order in (1, True, "2", "3/2", F(5, 2), -2)],
    *[({"kl": 1, **more}, None, None) for more in ({"ratio": 2}, {"epsilon": 2}, {"delta": 0}, {"zcdp": 1})],
    ({"renyi": {"order": 2, "ratio": 2}, "ratio": 2}, None, None),
]


def test_measures() -> None:
    """Each measure as a ratio: with the order α the sum of P^α/Q^(α−1) is bounded by r^(α−1)."""
    for given, ratio, order in MEASURES:
        if ratio is None:
            with pytest.raises(ValueError, match=r"measures|order"):
                as_ratio(given)
        else:
            assert as_ratio(given) == (ratio, order)
    with pytest.raises(UnreadCase, match="the measure other"):
        as_ratio({"other": 1})
    assert [loss_of({"ratio": 1, name: 2}) for name in ("kl", "zcdp", "renyi")] == [
        ("kl", 2),
        ("zcdp", 2),
        None,
    ]
