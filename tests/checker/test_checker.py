"""The checker accepts every kind of proof, and rejects mutated, truncated, malformed and misplaced ones."""

from __future__ import annotations

import copy
import hashlib
import json
import random
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from claim_tools import example5, kinds, make, random_claim
from proved_claims import CLAIMS, PROOFS, Json, proof_of

from paramverify.answers import Decision, Proved, Refuted
from paramverify.checker.claim_evidence import (
    Rejected,
    check_claim,
    check_document,
    check_text,
    check_witness,
    digest,
)
from paramverify.checker.proof_rules import RULES
from paramverify.claims import Claim, to_document
from paramverify.evidence import certificates
from paramverify.exact.branching import decide_exactly, solve_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.formats.refutations import refuter
from paramverify.simplify.chain import simplify


def accepts(claim: Claim | Json, proof: Any) -> bool:
    document = to_document(claim) if isinstance(claim, Claim) else claim
    try:
        check_claim(document, proof)
    except Rejected:
        return False
    return True


def evidence(names: list[str]) -> tuple[Json, list[Json]]:
    entries = [certificates.entry(CLAIMS[name], PROOFS[name]) for name in names]
    document = certificates.evidence("test", hashlib.sha256(b"case").hexdigest(), "holds", entries)
    return json.loads(json.dumps(document)), [to_document(CLAIMS[name]) for name in names]


@pytest.mark.parametrize("name", CLAIMS)
def test_proofs_are_accepted(name: str) -> None:
    """A proof of each kind is accepted for its claim, and for no other claim of the list."""
    assert accepts(CLAIMS[name], PROOFS[name])
    for other, claim in CLAIMS.items():
        if other != name and accepts(claim, PROOFS[name]):
            assert PROOFS[name] == PROOFS[other] or claim.digest() != CLAIMS[name].digest()


def test_every_kind_of_proof_is_tested() -> None:
    """The claims of this file have proofs of every kind that the built-ins make."""
    found = set().union(*map(kinds, PROOFS.values()))
    made_elsewhere = {"sum", "lemma", "solver"}
    made_elsewhere |= {"logarithm", "squares", "vanish"}  # test_tied_kernel.py, test_squares_kernel.py
    assert found >= RULES.keys() - made_elsewhere


# --- mutations --------------------------------------------------------------------------------------


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yields every value inside JSON data with the way to it."""
    yield path, node
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def at(node: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        node = node[key]
    return node


def changed(node: Any, path: tuple[Any, ...], value: Any) -> Any:
    result = copy.deepcopy(node)
    at(result, path[:-1])[path[-1]] = value
    return result


def removed(node: Any, path: tuple[Any, ...]) -> Any:
    result = copy.deepcopy(node)
    del at(result, path[:-1])[path[-1]]
    return result


def another_number(text: str, rng: random.Random) -> str:
    """Returns the text with one of its numbers replaced by another one."""
    found = rng.choice(list(re.finditer(r"\d+", text)))
    other = int(found.group()) + rng.choice((1, 2, 10))
    return text[: found.start()] + str(other) + text[found.end() :]


def sure_mutations(name: str) -> Iterator[tuple[str, Json, Json]]:
    """Yields claims with proofs that do not prove them, made from one that does: what was done, claim, proof.

    Each changes something that the proof needs exactly: a factor, a multiplicity, a sign, a leaf, a key. A
    changed claim is another claim, so for these the expected claim is kept.
    """
    claim, proof = to_document(CLAIMS[name]), PROOFS[name]
    for path, value in places(proof):
        last = path[-1] if path else ""
        parent = at(proof, path[:-1]) if path else {}
        if last == "factor" and "multiplicity" in parent:
            yield "factor", claim, changed(proof, path, value + " + 1/97")
        if last == "multiplicity":
            yield "multiplicity", claim, changed(proof, path, value + 1)
        if last == "sign" and "multiplicity" in parent:
            yield "sign", claim, changed(proof, path, {"+": "-", "-": "+"}[value])
        if last == "kind":
            yield "kind", claim, changed(proof, path, value + "s")
        if last == "tree":
            yield "leaf removed", claim, changed(proof, path, value[:-1])
            yield "leaf added", claim, changed(proof, path, [*value, "+"])
            if len(value) > 1:
                yield "first entry removed", claim, changed(proof, path, value[1:])
        if isinstance(value, list) and value[:1] == ["cut"]:
            yield "cut outside", claim, changed(proof, (*path, 2), "7")
            yield "cut of nothing", claim, changed(proof, (*path, 1), "zz")
        if isinstance(value, list) and value[:1] == ["outside"]:
            yield "no such constraint", claim, changed(proof, (*path, 1), 9)
        if last == "interval" and "minimal" in parent:
            yield "no root", claim, changed(proof, path, ["5", "6"])
        if last == "minimal":
            yield "minimal polynomial", claim, changed(proof, path, value + " + 1/7")
        if last == "interval" and parent.get("kind") == "enclose":
            yield "enclosure above", claim, changed(proof, (*path, 0), "17/10")
            yield "enclosure below", claim, changed(proof, (*path, 1), "16/10")
        if path and isinstance(last, str) and last not in ("options", "transcript"):
            yield "key removed", claim, removed(proof, path)
        if path and isinstance(value, dict):
            yield "replaced by nothing", claim, changed(proof, path, {})
            yield "replaced by a text", claim, changed(proof, path, "+ or so")


@pytest.mark.slow
def test_mutated_proofs_are_rejected() -> None:
    """Hundreds of proofs with one part changed, none of which proves the claim any more, are all rejected."""
    rng = random.Random(0)
    rejected: dict[str, int] = {}
    for name in CLAIMS:
        mutations = list(sure_mutations(name))
        for what, claim, proof in rng.sample(mutations, min(len(mutations), 45)):
            assert not accepts(claim, proof), (name, what, proof)
            rejected[what] = rejected.get(what, 0) + 1
    assert sum(rejected.values()) >= 400
    assert len(rejected) >= 14


@pytest.mark.slow
def test_any_changed_number_is_rejected_or_harmless() -> None:
    """With any number of a document changed, it is rejected, or proves the same claims as before.

    A cut may be moved, or a tangent point, and the proof still be one; a changed claim is never accepted.
    """
    rng = random.Random(1)
    rejected = harmless = 0
    for name in CLAIMS:
        document, expected = evidence([name])
        texts = [
            (path, value)
            for path, value in places(document["claims"])
            if isinstance(value, (str, int)) and not isinstance(value, bool) and re.search(r"\d", str(value))
        ]
        for path, value in rng.sample(texts, min(len(texts), 60)):
            other: Any = another_number(value, rng) if isinstance(value, str) else value + 1
            mutated = {**document, "claims": changed(document["claims"], path, other)}
            report = check_document(mutated, expected, document["case"]["digest"])
            if report.accepted:
                harmless += 1
                assert path[1] == "proof", path
            else:
                rejected += 1
    assert rejected >= 200
    assert harmless < rejected


@pytest.mark.slow
def test_claims_made_false_are_rejected() -> None:
    """With the claim itself lowered until it fails, its former proof is rejected, whatever is expected."""
    found = 0
    for name, claim in CLAIMS.items():
        for shift in ("1/1000", "1/10", "5"):
            lower = Claim(claim.polynomial - claim.domain.ring.number(Fraction(shift)), claim.domain)
            if isinstance(decide_exactly(lower, RemainingWork(2000)), Refuted):
                found += 1
                assert not accepts(lower, PROOFS[name]), (name, shift)
    assert found >= 30


@pytest.mark.slow
def test_random_proofs_do_not_fit_shifted_claims() -> None:
    """For random claims that hold, no proof is accepted for the claim lowered to where it fails."""
    tried = 0
    for seed in range(400):
        claim = random_claim(seed, 3)
        outcome = solve_exactly(claim, RemainingWork(2000), refuter(claim))
        lower = Claim(claim.polynomial - claim.domain.ring.number(Fraction(1, 50)), claim.domain)
        if outcome.proof is None or not isinstance(decide_exactly(lower, RemainingWork(500)), Refuted):
            continue
        tried += 1
        assert accepts(claim, json.loads(json.dumps(outcome.proof)))
        assert not accepts(lower, json.loads(json.dumps(outcome.proof))), seed
    assert tried > 50


# --- documents --------------------------------------------------------------------------------------


def test_a_document_is_accepted_for_its_case_only() -> None:
    """All expected claims must be settled, no other one may be there, and the case file must be the same."""
    document, expected = evidence(["factors", "convex", "stretch"])
    right = document["case"]["digest"]
    report = check_document(document, expected, right)
    assert report.accepted
    assert (report.proved, report.trusted, report.open) == (3, 0, 0)
    assert all(line.endswith(": proved") for line in report.lines)
    assert not check_document(document, expected, hashlib.sha256(b"other").hexdigest()).accepted
    assert not check_document(document, expected[:2], right).accepted
    assert not check_document(document, [*expected, to_document(CLAIMS["roots"])], right).accepted
    without = {**document, "claims": document["claims"][:2]}
    assert check_document(without).accepted
    assert not check_document(without, expected).accepted
    unproved = changed(document, ("claims", 0, "proof"), None)
    assert not check_document(unproved).accepted
    assert check_document({**unproved, "status": "unknown"}).open == 1


def test_expected_claims_are_compared_by_their_text() -> None:
    """The digest of a claim in the checker is the one that the rest of the package computes."""
    for claim in CLAIMS.values():
        assert digest(json.loads(json.dumps(to_document(claim)))) == claim.digest()


def test_trusted_solvers_are_named() -> None:
    """A claim that rests on a solver's word is counted apart, also where it is deep inside or in a lemma."""
    claim = make("p**2 - p + 3/10 + q/100")
    word = Decision(Proved(), "z3", "5.4", {"timeout": "60"}).proof
    part = certificates.tree([certificates.cut("p", Fraction(1, 2)), word, "+"])
    assert check_claim(to_document(claim), json.loads(json.dumps(word))) == ("z3 5.4",)
    lemma = {"name": "l", "claim": to_document(claim), "proof": word}
    twice = make("2*p**2 - 2*p + 3/5 + q/50")
    entries = [certificates.entry(claim, part), certificates.entry(twice, certificates.lemma("l"))]
    document = certificates.evidence("t", "0", "holds", entries, lemmas=[lemma])
    report = check_document(json.loads(json.dumps(document)))
    assert report.accepted
    assert (report.proved, report.trusted) == (0, 2)
    assert all("trusted to 'z3 5.4'" in line for line in report.lines)
    assert report.solvers == ("z3 5.4",)
    assert not accepts(claim, {"kind": "solver", "solver": "", "version": "1"})


def test_lemmas_must_fit() -> None:
    """A lemma stands for its claim on a part of its domain, up to a positive number, and not for itself."""
    claim, twice = make("p**2 - p + 3/10"), make("2*p**2 - 2*p + 3/5", {"p": "(1/4, 1/2]", "q": "(0, 1)"})
    wider = make("p**2 - p + 3/10", {"p": "[0, 1]", "q": "(0, 1)"})
    opposite = make("-p**2 + p - 3/10")
    other = make("p**2 - p + 3/10", constant=Fraction(1, 2))
    name = {"kind": "lemma", "name": "l"}
    lemmas = {"l": to_document(claim)}
    check_claim(to_document(claim), name, lemmas)
    check_claim(to_document(twice), name, lemmas)
    for wrong in (wider, opposite, other, make("p**2 - p + 1/3")):
        with pytest.raises(Rejected):
            check_claim(to_document(wrong), name, lemmas)
    with pytest.raises(Rejected):
        check_claim(to_document(make("exp(1/2) - p", constant=Fraction(1, 2))), name, lemmas)
    one = {"l": to_document(make("exp(1/2) - 8/5 + p", constant=Fraction(1, 2)))}
    assert check_claim(one["l"], name, one) == ()
    third = to_document(make("exp(1/2) - 8/5 + p", constant=Fraction(1, 2))) | {"constant": "1/3"}
    with pytest.raises(Rejected):
        check_claim(third, name, one)
    circular = {"name": "l", "claim": to_document(opposite), "proof": name}
    document = certificates.evidence(
        "t", "0", "holds", [certificates.entry(opposite, name)], lemmas=[circular]
    )
    assert not check_document(json.loads(json.dumps(document))).accepted


def test_witnesses_are_evaluated() -> None:
    """A witness is a point of the domain where the claim fails; E is the number itself."""
    claim = make("p*q - 1/8", "pq", ["p <= q"])
    good = {"p": "1/5", "q": "1/2"}
    check_witness(to_document(claim), good)
    for wrong in (
        {"p": "1/2", "q": "1/2"},
        {"p": "1/2", "q": "1/5"},
        {"p": "0", "q": "1/2"},
        {"p": "1/5"},
        {},
    ):
        with pytest.raises(Rejected):
            check_witness(to_document(claim), wrong)
    constant = make("p - exp(1/2)", {"p": "[1, 2]"}, constant=Fraction(1, 2))
    check_witness(to_document(constant), {"p": "1.6487212707".replace("1.", "1") + "/10000000000"})
    with pytest.raises(Rejected):
        check_witness(to_document(constant), {"p": "16487212708/10000000000"})
    violation = certificates.witness(claim, {"p": Fraction(1, 5), "q": Fraction(1, 2)}, {"ratio": "3"})
    document = json.loads(json.dumps(certificates.evidence("t", "0", "violated", [], violation)))
    assert check_document(document, [to_document(claim)]).accepted
    assert not check_document(document, [to_document(CLAIMS["convex"])]).accepted
    assert not check_document(changed(document, ("witness", "parameters", "p"), "1/2")).accepted
    assert not check_document(removed(document, ("witness",))).accepted


@pytest.mark.slow
def test_truncated_and_malformed_text_is_rejected() -> None:
    """Every prefix of a document, and JSON of other shapes, gives a report that does not accept it."""
    document, expected = evidence(["factors", "algebraic"])
    text = json.dumps(document)
    for end in range(0, len(text), 7):
        assert not check_text(text[:end]).accepted
    for other in ("", "null", "[]", "3", '"x"', "{}", "[" * 100_000, '{"format": ' * 5_000, "\ud800", "NaN"):
        report = check_text(other)
        assert not report.accepted
        assert report.lines[0].startswith("rejected")
    for path, value in places(document):
        for junk in (None, [], {}, True, -1, 1.5, "", "1/0", "--1", "p^999999999999", [[[]]]):
            if path and junk != value and type(junk) is not type(value):
                mutated = changed(document, path, junk)
                report = check_document(mutated, expected)
                assert not report.accepted or path[0] == "case" or "origins" in path, path


def test_hostile_numbers_end() -> None:
    """Huge exponents, digits, degrees and depths are refused quickly."""
    claim = to_document(make("p + q"))
    for text in ("p^1000000000", "9" * 300_000, "p^9999*q^9999"):
        assert not accepts({**claim, "polynomial": text}, {"kind": "bernstein", "tree": ["+"]})
    deep: Any = {"kind": "constant"}
    for _ in range(10_000):
        deep = {
            "kind": "monotone",
            "variable": "p",
            "end": "lower",
            "derivative": {"kind": "constant"},
            "proof": deep,
        }
    assert not accepts(claim, deep)


def wrong_steps() -> Iterator[tuple[str, Claim, Json]]:
    """Yields false claims with proofs that would be right if a rule forgot one of its conditions."""
    plus = {"kind": "bernstein", "tree": ["+"]}
    yield (
        "ends of a convex function",
        make("(p - 1/2)**2 - 1/8"),
        {
            "kind": "ends",
            "variable": "p",
            "lower": plus,
            "upper": plus,
            "concave": plus,
        },
    )
    yield (
        "monotone the wrong way",
        make("1/2 - p"),
        {
            "kind": "monotone",
            "variable": "p",
            "end": "lower",
            "derivative": plus,
            "proof": plus,
        },
    )
    yield (
        "tangent of a function that is not convex",
        make("p - p**2 - 1/8"),
        {
            "kind": "convex",
            "point": {"p": "1/2"},
        },
    )
    yield (
        "tangent plane below zero",
        make("p**2 + q**2 - 1/100"),
        {"kind": "convex", "point": {"p": "1/2", "q": "1/2"}},
    )
    yield "tangent point outside", make("(p - 3)**2 - 5"), {"kind": "convex", "point": {"p": "0"}}
    yield (
        "constraint with a negative factor",
        make("q - p", "pq", ["p >= q"]),
        {
            "kind": "constraint",
            "constraint": 0,
            "factor": "-1",
            "proof": {"kind": "constant"},
        },
    )
    yield (
        "contradiction of weak constraints",
        make("p - 2", "pq", ["p >= q", "p <= q"]),
        {
            "kind": "contradiction",
            "constraints": [0, 1],
        },
    )
    yield (
        "outside of a constraint that touches",
        make("p - 2", {"p": "[0, 1]"}, ["p >= 1"]),
        {
            "kind": "bernstein",
            "tree": [["outside", 0]],
        },
    )
    yield (
        "cofactor that vanishes",
        make("q - 1/2", {"p": "[0, 1]", "q": "(0, 1)"}, ["p*(q - 1/2) >= 0"]),
        {
            "kind": "divide",
            "constraint": 0,
            "factor": "q - 1/2",
            "cofactor": "p",
            "sign": "+",
            "proof": {"kind": "constraint", "constraint": 1, "factor": "1", "proof": {"kind": "constant"}},
        },
    )
    yield (
        "stretch by a product",
        make("p*q - 1/2", "pq", ["2*p*q >= p"]),
        {
            "kind": "stretch",
            "variable": "q",
            "constraint": 0,
            "proof": plus,
        },
    )
    yield (
        "equation of one constraint",
        make("p - q - 1/2", "pq", ["p >= q"]),
        {
            "kind": "eliminate",
            "variable": "p",
            "constraints": [0, 0],
            "proof": plus,
        },
    )
    yield (
        "a cone is missing",
        make("p - q"),
        {
            "kind": "blowup",
            "corner": {"p": "lower", "q": "lower"},
            "parts": {"p": plus},
        },
    )
    yield (
        "quadratic with a negative lead",
        make("1/8 - p**2"),
        {
            "kind": "quadratic",
            "variable": "p",
            "leading": plus,
            "constant": plus,
            "discriminant": plus,
        },
    )
    yield (
        "quadratic without its constant",
        make("p*q**2 - p"),
        {
            "kind": "quadratic",
            "variable": "q",
            "leading": plus,
            "constant": plus,
            "discriminant": plus,
        },
    )
    yield "fixed although it is not", make("p - 1/2"), {"kind": "fixed", "variable": "p", "proof": plus}
    yield (
        "an even power of another factor",
        make("p - 1/2"),
        {
            "kind": "factors",
            "constant": "1",
            "factors": [{"factor": "p - 1/2", "multiplicity": 2}],
        },
    )
    yield (
        "a negative constant",
        make("-p"),
        {
            "kind": "factors",
            "constant": "-1",
            "factors": [{"factor": "p", "multiplicity": 1, "sign": "+", "proof": plus}],
        },
    )
    yield (
        "a sum that is another",
        make("p - 1/2"),
        {"kind": "sum", "parts": [{"polynomial": "p", "proof": plus}]},
    )
    yield (
        "enclosure without a constant",
        make("p - 1/2"),
        {"kind": "enclose", "interval": ["1", "2"], "proof": plus},
    )
    yield (
        "a face that is not the smallest",
        make("p - 1/2"),
        {"kind": "bernstein", "tree": [["high", "p"], "+"]},
    )


@pytest.mark.parametrize(
    ("what", "claim", "proof"), [*wrong_steps()], ids=lambda value: value if isinstance(value, str) else ""
)
def test_rules_check_their_conditions(what: str, claim: Claim, proof: Json) -> None:
    """Each rule refuses a step that leaves out one of its conditions and would prove something false."""
    assert isinstance(decide_exactly(claim), Refuted), what
    with pytest.raises(Rejected):
        check_claim(to_document(claim), proof)


def test_claims_that_are_none_are_rejected() -> None:
    """Empty intervals, unknown or missing variables, and wrong enclosures of E make no claim."""
    good = to_document(make("p + q"))
    plus = {"kind": "bernstein", "tree": ["+"]}
    assert accepts(good, plus)
    for key, value in (
        ("box", {"p": "(0, 1)"}),
        ("box", {"p": "(1, 0)", "q": "(0, 1)"}),
        ("box", {"p": "(1, 1]", "q": "(0, 1)"}),
        ("box", {"p": "(0, 1)", "q": "(0, 1)", "r": "(0, 1)"}),
        ("variables", ["p", "p"]),
        ("variables", ["p", "q", "r"]),
        ("polynomial", "p + r"),
        ("polynomial", "p + q +"),
        ("polynomial", "2p"),
        ("polynomial", "p*-1"),
        ("constraints", [["p", "<"]]),
        ("constant", "1/2"),
    ):
        assert not accepts({**good, key: value}, plus), (key, value)
    constant = to_document(make("exp(1/2)", constant=Fraction(1, 2)))
    right = {**constant["box"], "E": "[8/5, 17/10]"}
    assert accepts({**constant, "box": right}, plus)
    for interval in ("[17/10, 18/10]", "[1, 8/5]"):
        assert not accepts({**constant, "box": {**constant["box"], "E": interval}}, plus)


def test_example5_is_checked() -> None:
    """All six certificates of Example 5 are replayed, with and without factoring."""
    for claim in example5():
        assert accepts(claim, proof_of(claim))
        assert accepts(claim, json.loads(json.dumps(simplify(claim, ["factors"]).proof([]))))
