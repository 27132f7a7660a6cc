"""Cases with a `[claim]`, read a second time: every shipped one agrees, and forged evidence does not."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from calling_tools import called

from paramverify.claims import without_enclosure
from paramverify.encodings.choice import claims_of
from paramverify.evidence import envelope
from paramverify.kernel.strict_reading import UnreadCase
from paramverify.privacy.cases import load
from paramverify.rereader import second_claims
from paramverify.rereader.second_claims import ClaimComparison, LinkRow
from paramverify.rereader.second_comparison import Functional
from paramverify.rereader.second_evidence import Evidence
from paramverify.rereader.second_reading import SecondLook, second_look

F = Fraction
ROOT = Path(__file__).parents[2]
SHIPPED = [p for p in sorted(ROOT.glob("cases/**/*.toml")) if "claim" in tomllib.loads(p.read_text())]
TEXT = """
[parameters]
a = "(0, 1]"
b = "(0, 1]"
[define]
half = "(a + b)/2"
mean = "2*a*b/(a + b)"
[claim]
holds = ["mean <= half", "0 < half <= 1 and a*b > -1/3", "2*half == a + b"]
"""
FALSE = """
[parameters]
a = "[0, 1]"
constraints = ["a <= 3/4"]
[claim]
holds = ["a <= 1", "a/(1 + a) < 2/5"]
"""
Json = dict[str, Any]


def claimed(path: Path, status: str) -> Json:
    """Returns evidence without proofs about all claims of a case, as the kernel would have accepted it."""
    claims = map(without_enclosure, claims_of(load(path).model))
    entries = [
        {"kind": "claim", **envelope.sign(claim), "origins": list(map(str, claim.origins[:3])), "proof": None}
        for claim in claims
    ]
    return json.loads(json.dumps(envelope.document(status, envelope.statements(*entries))))  # type: ignore[no-any-return]


def domain_of(document: Json, statement: Json) -> Json:
    """Returns the domain of a statement, which it gets for itself."""
    document["domains"].append(json.loads(json.dumps(document["domains"][statement["domain"]])))
    statement["domain"] = len(document["domains"]) - 1
    return document["domains"][-1]  # type: ignore[no-any-return]


def looked(document: Json, path: Path) -> SecondLook:
    """Returns what the second reader says."""
    return second_look(document, path.read_text(), None, path.parent)


@pytest.mark.slow
def test_every_shipped_claim_is_read_a_second_time() -> None:
    """The claims of all shipped cases with a `[claim]` agree with what the second reader finds."""
    assert len(SHIPPED) >= 120
    for path in SHIPPED:
        expected = tomllib.loads(path.read_text())["expect"]
        true = expected.get("verdict") == "true" or expected.get("status") == "holds"
        look = looked(claimed(path, "holds" if true else "unknown"), path)
        assert (look.compared, look.agrees) == (True, True), (path, look.line)
        kind = "fixed" if path.stem == "exponential-mean" else "random"  # eps stands beside exp(-eps)
        assert f"{kind} points" in look.line or "a point" in look.line, (path, look.line)


def polynomial(document: Json) -> None:
    document["statements"][0]["polynomial"] += " + 1"


def turned(document: Json) -> None:
    document["statements"][0]["polynomial"] = "-a^2 + 2*a*b - b^2"


def multiplied(document: Json) -> None:
    document["statements"][0]["polynomial"] = "a^3 - 2*a^2*b + a*b^2"


def never_equal(document: Json) -> None:
    """The claim of an identity, which is 0 ≥ 0."""
    document["statements"][-1]["polynomial"] = "a"


def swapped(document: Json) -> None:
    first, second = document["statements"][:2]
    first["origins"], second["origins"] = second["origins"], first["origins"]


def left_out(document: Json) -> None:
    del document["statements"][-1]


def weakened(document: Json) -> None:
    """A strict comparison as one that is not."""
    entry = next(e for e in document["statements"] if e["polynomial"] == "-1")
    text, _ = domain_of(document, entry)["constraints"].pop()
    entry["polynomial"] = " - ".join(f"-{text}".replace("--", "").split(" - "))


def narrowed(document: Json) -> None:
    for domain in document["domains"]:
        domain["box"]["a"] = "(0, 1/2]"


def moved(document: Json) -> None:
    """The last claim alone is about a part of the domain."""
    domain_of(document, document["statements"][-1])["box"]["a"] = "(0, 99/100]"


def more(document: Json) -> None:
    """Every domain has a parameter more."""
    for domain in document["domains"]:
        domain["variables"].append("c")
        domain["box"]["c"] = "(0, 1]"


def renamed(document: Json) -> None:
    document["statements"][0]["origins"] = ["mean < half"]


@pytest.mark.parametrize(
    "forge",
    [
        polynomial,
        turned,
        multiplied,
        never_equal,
        swapped,
        left_out,
        weakened,
        narrowed,
        moved,
        more,
        renamed,
    ],
)
def test_forged_claims_are_noticed(forge: Callable[[Json], None], tmp_path: Path) -> None:
    """Another polynomial, sign, factor, text, relation or box is one that the case does not have."""
    path = tmp_path / "case.toml"
    path.write_text(TEXT)
    document = claimed(path, "holds")
    assert looked(document, path).line.startswith("read a second time: the claims agree with 5 comparisons")
    forge(document)
    look = looked(document, path)
    assert (look.compared, look.agrees) == (True, False), look.line


@pytest.mark.parametrize(
    ("box", "constraint", "claim"),
    [
        ("[0, 1/4]", "", "a <= exp(-1)"),  # multiplied by a power of E
        ("[0, 1/4]", "", "a*exp(-2) < exp(-1) - a*exp(-3)"),
        ("[0, 1]", "", "a**2 <= a*exp(-1)"),
        ("[0, 1]", "a <= 3/4", "a <= a - 1"),  # a difference of −1 that is not strict
        ("[0, 1]", "a <= 3/4", "a < a - 1"),
        ("[0, 1]", "a <= 3/4", "a - 1 < a"),
        ("(0, 1)", "a <= 1/300", "a**2 < 1/1000"),  # a small part of the box
    ],
)
def test_true_evidence_is_not_rejected(box: str, constraint: str, claim: str, tmp_path: Path) -> None:
    """What `verify` writes of a comparison, true or false, agrees with its case."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    limits = f'constraints = ["{constraint}"]' if constraint else ""
    path.write_text(f'[parameters]\na = "{box}"\n{limits}\n[claim]\nholds = "{claim}"\n')
    assert called("verify", str(path), "--evidence", str(evidence)).code in (0, 1)
    look = looked(json.loads(evidence.read_text()), path)
    assert (look.compared, look.agrees) == (True, True), look.line
    assert called("check", str(evidence), "--case", str(path)).code == 0


GAP, TURNED = "a*b + a - b", "-a*b - a + b"


@pytest.mark.parametrize("relation", ["<", "<=", ">", ">=", "=="])
def test_each_relation_has_its_claims(relation: str, tmp_path: Path) -> None:
    """The claims of a comparison are its own, and one of them with the other sign is not."""
    path = tmp_path / "case.toml"
    limits = '[parameters]\na = "(0, 1)"\nb = "(0, 1)"\nconstraints = ["a + b <= 1"]\n'
    path.write_text(f'{limits}[claim]\nholds = "a {relation} b/(1 + b)"\n')
    document = claimed(path, "unknown")
    assert len(document["statements"]) == 1 + (relation == "==")
    assert looked(document, path).agrees
    stated = document["statements"][0]
    strict = relation in ("<", ">")
    place = document["domains"][stated["domain"]]["constraints"][-1] if strict else stated
    key: Any = 0 if strict else "polynomial"
    place[key] = {GAP: TURNED, TURNED: GAP}[place[key]]
    assert looked(document, path).agrees == (relation == "==")  # which has both


FACTORS = [(F(2), F(3), F(5), F(7)), (F(-1, 3), F(2, 7), F(11), F(1, 13))]


@pytest.mark.parametrize("turned", [False, True])
def test_values_up_to_powers_of_divisors(turned: bool) -> None:
    """Values are those of a gap, times a positive number and powers of divisors up to the third."""
    gaps = (F(1, 2), F(-3), F(0), F(5, 7))
    row = LinkRow(gaps, (*FACTORS, (F(4),) * 4))
    for powers in product(range(-1, 6), repeat=2):
        scales = [abs(a) ** powers[0] * abs(b) ** powers[1] * F(9, 4) for a, b in zip(*FACTORS, strict=True)]
        for sign in (1, -1):
            values = [sign * scale * gap for scale, gap in zip(scales, gaps, strict=True)]
            assert row.agrees(values, turned) == (sign == 1 - 2 * turned and set(powers) <= {0, 1, 2, 3})
            assert not row.agrees([*values[:2], F(1), values[3]], turned)  # at a zero of the gap
            assert not row.agrees([F(0), *values[1:]], turned)
    assert not row.agrees([-gap if k else gap for k, gap in enumerate(gaps)], turned)
    nothing = LinkRow((F(0), F(0)), ((F(2), F(3)),))
    assert nothing.agrees([F(0), F(0)], turned)
    assert not nothing.agrees([F(0), F(1)], turned)


def test_a_limit_of_divisors() -> None:
    """Seven divisors are tried, whatever constants and repetitions there are, and not eight."""
    rows = [(F(1), F(k)) for k in (2, 3, 5, 7, 11, 13, 17, 19)]
    constant = (F(3), F(3))
    assert LinkRow((F(1), F(1)), (*rows[:7], constant, rows[0])).agrees([F(1), F(17)], False)
    with pytest.raises(UnreadCase, match="very many divisors"):
        LinkRow((F(1), F(1)), tuple(rows)).agrees([F(1), F(17)], False)


def test_how_many_points_claims_need() -> None:
    """(40 + bits of the choices)/(28 - bits of the degree) points, rounded up, and one more.

    The degree is that of the claims, or of the witness, and 4 times the length of the values, which is 3.
    """
    domain = {"variables": ["a"], "box": {"a": "(0, 1)"}, "constraints": [["a", ">"]]}
    case = '[parameters]\na = "(0, 1)"\n[claim]\nholds = "a < 1"\n'
    gaps = [(F(1, 3), (F(1), F(1, 2**60))), (F(2**40), (F(5),))]
    for degree, claims, count in ((243, 19, 4), (243, 20, 5), (244, 19, 5), (243, 9, 4), (244, 0, 4)):
        for strict, apart in product((True, False), repeat=2):
            power = f"a^{degree}"
            bounds = {**domain, "constraints": [["a", ">"], [power, ">="]]} if strict else domain
            kept: Json = {"kind": "claim", "domain": 0, "polynomial": "a", "origins": ["a < 1"]}
            large = {**kept, "domain": 1, "polynomial": "-1" if strict else power}
            document: Json = {"status": "unknown", "domains": [domain, bounds], "statements": [large, kept]}
            if apart:
                witness = {"kind": "claim", "claim": large, "parameters": {"a": "1/2"}}
                document |= {"status": "violated", "statements": [kept], "witness": witness}
            look = ClaimComparison(Functional(), Evidence(document), case, None)
            assert look._needed(gaps, claims) == count, (degree, claims, strict, apart)


@pytest.mark.parametrize("text", ["not a < 1", "a != 2", "a < 2 or a < 1", "a in [1]", "a"])
def test_claims_of_other_forms(text: str) -> None:
    """What is no chain of comparisons, or several, is not read a second time."""
    domain = {"variables": ["a"], "box": {"a": "(0, 1)"}, "constraints": []}
    claim = {"kind": "claim", "domain": 0, "polynomial": "-a + 1", "origins": [text]}
    document = {"status": "unknown", "domains": [domain], "statements": [claim]}
    look = second_look(document, f'[parameters]\na = "(0, 1)"\n[claim]\nholds = "{text}"\n')
    assert (look.compared, look.agrees) == (False, True), look.line
    assert "a claim that is not a comparison" in look.line or "a claim with another relation" in look.line


def test_a_single_point(tmp_path: Path) -> None:
    """Where no parameter has a choice, signs are compared, and that is said."""
    path = tmp_path / "case.toml"
    path.write_text('[parameters]\na = "1/2"\n[claim]\nholds = "a < 1"\n')
    assert looked(claimed(path, "holds"), path).line.endswith(
        "the claims have the signs of 1 comparison at a point"
    )


@pytest.mark.parametrize(
    ("text", "relation", "count"),
    [("-1", ">=", 1), ("-1", ">=", 2), ("-1", ">", 0), ("0", ">=", 0), ("-a + 1", "", 0)],
)
def test_strict_claims(text: str, relation: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of `a < 1` is −1 ≥ 0 where a ≥ 1, and that of `0 <= a` beside it has all constraints."""
    monkeypatch.setattr(second_claims, "needed", lambda *_: count or 2)
    box, limits = {"variables": ["a"], "box": {"a": "[0, 2]"}}, [["-4*a + 7", ">="]]
    domains = [{**box, "constraints": limits + own} for own in ([], [["a - 1", relation]] * bool(relation))]
    texts = (("a", 0), (text, 1))
    claims = [{"kind": "claim", "domain": k, "polynomial": t, "origins": ["0 <= a < 1"]} for t, k in texts]
    case = '[parameters]\na = "[0, 2]"\nconstraints = ["a <= 7/4"]\n[claim]\nholds = "0 <= a < 1"\n'
    look = second_look({"status": "unknown", "domains": domains, "statements": claims}, case)
    words = ("differs", "have the signs of 2 comparisons at a point", "agree with 2 comparisons at 2 ")
    assert (look.compared, look.agrees, words[count] in look.line) == (True, count > 0, True), look.line


def test_another_case_is_noticed(tmp_path: Path) -> None:
    """Evidence about a case with another number, relation or definition is not about this one."""
    path, other = tmp_path / "case.toml", tmp_path / "other.toml"
    path.write_text(TEXT)
    document = claimed(path, "unknown")
    for old, new in (
        ("-1/3", "-1/4"),
        ("mean <= half", "mean < half"),
        ("(a + b)/2", "(a + b)/2 + 0*a"),
        ("2*a*b/", "2*a*b*b/"),
        ("2*half == ", "2*half >= "),
    ):
        other.write_text(TEXT.replace(old, new))
        assert looked(document, other).agrees == ("0*a" in new), new


@pytest.mark.slow
def test_a_false_claim_has_a_witness_that_is_read_again(tmp_path: Path) -> None:
    """The number of the comparison, its sides, its claim and the point are those of the case."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    path.write_text(FALSE)
    assert called("verify", str(path), "--evidence", str(evidence), "--backends", "built-in").code == 1
    document = json.loads(evidence.read_text())
    assert looked(document, path).line.startswith("read a second time: both sides of the witness")
    changes: list[tuple[str, object]] = [
        ("number", 0),
        ("statement", "a <= 1"),
        ("relation", "<="),
        ("left", "1/2"),
        ("right", "1/3"),
        ("difference", "1"),
        ("parameters", {"a": "4/5"}),
    ]
    for key, value in changes:
        forged = {**document, "witness": {**document["witness"], key: value}}
        assert not looked(forged, path).agrees, key
    forged = json.loads(json.dumps(document))
    domain_of(forged, forged["witness"]["claim"])["constraints"] = [["-4*a + 3", ">="], ["a - 1/2", ">="]]
    assert not looked(forged, path).agrees
    text = FALSE.replace("2/5", "3/5")  # true at the point of the witness
    path.write_text(text)
    assert not looked(document, path).agrees


LIMITS = {"variables": ["a"], "box": {"a": "[0, 1]"}, "constraints": [["-4*a + 3", ">="], ["3*a - 2", ">="]]}
TWICE = {"variables": ["a"], "box": {"a": "[1, 2]"}, "constraints": [["a^2 - 2", ">="], ["a^2 - 2", ">="]]}
ROOT_OF_TWO = {"minimal": "t^2 - 2", "interval": ["1", "2"], "coordinates": {"a": "t"}}
AT_ROOT = {"number": 0, "statement": "a**2 < 2", "algebraic": ROOT_OF_TWO, "right": "2", "difference": "0"}
OTHER_SIDES: list[tuple[Json, str]] = [
    ({}, "both sides of the witness and its claim, at "),
    (
        {"parameters": {"a": "4/5"}, "left": "4/9", "difference": "2/45"},
        "the witness is outside the domain",
    ),
    ({"parameters": {"a": "1/2"}, "left": "1/3", "difference": "-1/15"}, "the witness is true there"),
    (
        {"parameters": {"a": "2/3"}, "left": "2/5", "difference": "0"},
        "both sides of the witness and its claim",
    ),
    ({"left": {"low": "0.42", "high": "0.43"}}, "a witness whose sides are only enclosed"),
    ({"left": {"exact": "3/7"}}, "both sides of the witness and its claim"),
    ({"left": "2/7"}, "a number of the witness is 3/7, not 2/7"),
    ({"statement": "a <= 1"}, "the witness is about another comparison"),
    ({"relation": "<="}, "the witness is about another comparison"),
    ({**AT_ROOT, "left": {"exact": "t^2"}}, "both sides of the witness and its claim"),
    ({**AT_ROOT, "left": {"exact": "t^2 + 1"}}, "a number of the witness is 1"),
]


@pytest.mark.parametrize(("changes", "words"), OTHER_SIDES)
def test_each_thing_that_a_witness_says(changes: Json, words: str) -> None:
    """It is in the domain and false there, but a rational beside an algebraic point need not be."""
    text, at_root = FALSE, "algebraic" in changes
    if at_root:
        text = '[parameters]\na = "[1, 2]"\nconstraints = ["a**2 >= 2"]\n[claim]\nholds = "a**2 < 2"\n'
    witness = {"kind": "claim", "number": 1, "statement": "a/(1 + a) < 2/5", "relation": "<"}
    witness |= {"parameters": {"a": "3/4"}, "left": "3/7", "right": "2/5", "difference": "1/35"}
    witness["claim"] = {"kind": "claim", "domain": 0, "polynomial": "-1", "origins": []}
    domains = [TWICE if at_root else LIMITS]
    document = {"status": "violated", "domains": domains, "statements": [], "witness": {**witness, **changes}}
    assert words in second_look(document, text).line


def test_only_claims_are_compared_with_claims(tmp_path: Path) -> None:
    """Evidence of another kind is not compared with a case that has a claim and no mechanism."""
    path = tmp_path / "case.toml"
    path.write_text('[parameters]\na = "(0, 1)"\n[claim]\nholds = "a <= 1"\n')
    document = claimed(path, "holds")
    document["statements"] = [{**statement, "kind": "average"} for statement in document["statements"]]
    look = looked(document, path)
    assert (look.compared, "cases without a mechanism" in look.line) == (False, True)
