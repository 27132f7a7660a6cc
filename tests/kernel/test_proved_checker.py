"""The program that is extracted from Coq says what the checker in Python says, and accepts nothing false."""

from __future__ import annotations

import copy
import inspect
import json
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from claim_documents import claims_of, document, statement
from conftest import ROOT
from engine_documents import engine_document, own, with_own
from oracle_tools import Json, points_of, value_of
from three_checkers import (
    NOT_KNOWN,
    about_a_script,
    agreed,
    built,
    by_program,
    differences,
    every_kind,
    in_python,
    standing_pair,
)

from paramverify.cli.main import run
from paramverify.kernel import evidence_shapes
from paramverify.kernel.documents import RULES, check_text
from paramverify.kernel.ledger import KernelReport
from paramverify.reports import evidence_checks

CASE = ROOT / "cases" / "geometric-contagious-ln4.toml"
LEAK = ROOT / "cases" / "sample-n-runtime.toml"


def evidence_of(case: Path, path: Path) -> Json:
    """Returns the evidence of a case, which is also written to a path."""
    run(["verify", str(case), "--evidence", str(path)])
    found: Json = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    """Evidence with every kind of proof, of two small cases, and a violation."""
    folder = tmp_path_factory.mktemp("evidence")
    made = [evidence_of(case, folder / f"{k}.json") for k, case in enumerate((CASE, LEAK))]
    return [*every_kind().values(), *made]


def test_true_evidence_is_accepted_or_not_known(documents: list[Json], tmp_path: Path) -> None:
    """No document that Python accepts is rejected, and the counts are the same."""
    assert agreed(documents, tmp_path) == {"accepted": len(documents)}


def test_a_sum_that_is_larger_than_its_room_is_never_accepted(tmp_path: Path) -> None:
    """The room is lowered until the sum of max(0, t) is larger at a point: no tree shows that."""
    checker, random, paths = built(), Random(7), list[Path]()
    given = evidence_of(ROOT / "cases" / "approximate" / "geometric-independent.toml", tmp_path / "sets.json")
    for k, claim in enumerate(given["statements"]):
        for point in points_of(given["domains"][claim["domain"]], random, 3):
            total = sum(max(Fraction(0), value_of(term, point)) for term in claim["terms"])
            lowered = value_of(claim["room"], point) - total + Fraction(1, 10**6)
            new = copy.deepcopy(given)
            new["statements"][k]["room"] += f" - {lowered}"
            paths.append(tmp_path / f"{len(paths)}.json")
            paths[-1].write_text(json.dumps(new))
    assert paths
    assert {answer.word for answer in by_program(checker, paths)} == {"rejected"}


def test_no_claim_that_is_false_at_a_point_is_accepted(documents: list[Json], tmp_path: Path) -> None:
    """Claims are lowered until they are false at a point of their domain: no proof of them is accepted."""
    checker, random, paths = built(), Random(5), list[Path]()
    for given in documents:
        for k, claim in enumerate(given["statements"]):
            domain = given["domains"][claim["domain"]]
            points = [] if domain.get("ties") else points_of(domain, random, 3)
            for point in points:
                lowered = value_of(claim["polynomial"], point) + Fraction(1, 10**6)
                new = copy.deepcopy(given)
                new["statements"][k]["polynomial"] += f" - {lowered}" if lowered > 0 else ""
                paths.append(tmp_path / f"{len(paths)}.json")
                paths[-1].write_text(json.dumps(new))
    answers = [answer.word for answer in by_program(checker, paths)]
    assert len(answers) > 40
    assert set(answers) == {"rejected"}


HEAD = '{"format": "paramverify-evidence", '
EMPTY = document()
LEAF = {"kind": "bernstein", "tree": ["+"]}
P: Json = {"variables": ["p"], "box": {"p": "[0, 1]"}, "constraints": [], "polynomial": "p"}
STRICT = {
    "a key twice": HEAD + '"format": "paramverify-evidence"}',
    "a float": HEAD + '"version": 2.0}',
    "another version": HEAD + '"version": 1, "status": "holds", "claims": []}',
    "not a number": HEAD + '"version": NaN}',
    "a long number": HEAD + '"version": 1000000000000000000000}',
    "half a character": HEAD + '"status": "\\ud800"}',
    "nested": HEAD + '"x": ' + "[" * 300 + "]" * 300 + "}",
    "nested deeper than is read": HEAD + '"x": ' + "[" * 30_000 + "]" * 30_000 + "}",
    "another key": json.dumps({**EMPTY, "x": 1}),
    "nothing proved": json.dumps(EMPTY),
}
NO_EVIDENCE = (
    *("", "[]", "{}", "{", '{"format": 1}', '{"format": "x"}', "nul", "[1,]", '"\t"', "01", "1 2", "\x00"),
)


def test_text_is_read_as_strictly(tmp_path: Path) -> None:
    """What is no evidence is told apart from what is wrong, and neither is accepted."""
    texts = [*STRICT.values(), *NO_EVIDENCE]
    counts = agreed([text.encode() for text in texts], tmp_path)
    assert counts == {"rejected": len(STRICT), "no evidence": len(NO_EVIDENCE)}


def one(claim: Json, proof: Any = LEAF, **more: Any) -> Json:
    """Returns evidence of one claim."""
    return document(statement(claim, proof, origins=["a"]), **more)


def about_exp(polynomial: str, interval: str, exponent: str, *constraints: str) -> Json:
    """Returns a claim about a parameter and E = exp(exponent), with an interval of E where it has one."""
    box = {"p": "[0, 1]"} | ({"E": interval} if interval else {})
    above = [[constraint, ">="] for constraint in constraints]
    names = {"variables": ["p", "E"], "box": box, "constraints": above, "constant": exponent}
    return {**names, "polynomial": polynomial}


def test_an_interval_of_exp_leaves_nothing_out(tmp_path: Path) -> None:
    """An interval of E contains exp(q), which is rational for q = 0: then an open end could leave it out."""
    outside = {"kind": "bernstein", "tree": [["outside", 0]]}
    made = [one(about_exp("-1", i, "0", "1 - E"), outside) for i in ("(1, 2)", "(1, 2]", "(1, 9)")]
    made += [one(about_exp("-1", i, "0", "E - 1"), outside) for i in ("(0, 1)", "[1/2, 1)")]
    assert agreed(made, tmp_path) == ({"rejected": 5})  # each one is false at E = exp(0) = 1
    ends = ("[1, 1]", "[1, 2]", "[0, 1]", "(2, 3)", "[2, 3]", "[3, 4]")
    rest = [one(about_exp("E", i, q)) for i in ends for q in ("-1", "0", "1", "1001")]
    counts = agreed(rest, tmp_path)
    assert counts == {"accepted": 2, "rejected": len(rest) - 2}


def test_points_where_exp_occurs(tmp_path: Path) -> None:
    """A point does not give E, with an interval or without: all documents get an answer."""
    claims = [about_exp("1 - E*p", interval, "1") for interval in ("[2, 3]", "(2, 3)", "")]
    given: dict[str, Any] = {"status": "violated"}
    made = [one(c, None, **given, witness={"claim": c, "parameters": {"p": "1"}}) for c in claims]
    made += [one(c, None, status="unknown", points=[{"p": "1/2"}]) for c in claims]
    paths = [tmp_path / f"{k}.json" for k in range(len(made) + 1)]
    for path, written in zip(paths, [*made, one(about_exp("E", "[2, 3]", "1"))], strict=True):
        path.write_text(json.dumps(written))
    assert [in_python(path.read_bytes()).word for path in paths] == ["accepted"] * len(paths)
    assert [answer.word for answer in by_program(built(), paths)] == ["accepted"] * len(paths)


def test_numbers_in_two_constants(tmp_path: Path) -> None:
    """exp(1) - ln(3) is not zero: nothing is computed with both as if they were one constant."""
    claim = about_exp("p - 2", "", "1")
    left = {"exact": "E with E = exp(1)", "lower": "2", "upper": "3"}
    right = {"exact": "ln(3)", "lower": "1", "upper": "2"}
    told = {"relation": "<", "fails": True, "left": left, "right": right, "difference": "0"}
    made = [{"claim": claim, "parameters": {"p": "1/2"}, **told, **more} for more in ({}, {"right": left})]
    documents = [one(claim, None, status="violated", witness=witness) for witness in made]
    assert agreed(documents, tmp_path) == {"accepted": 1, "rejected": 1}


def test_polynomials_without_e_beside_an_exponential(tmp_path: Path) -> None:
    """Claims without E beside exp(q): for every q, also a negative one, both give the same answer."""
    proofs = [{"kind": "constant"}, {"kind": "exponential"}, LEAF, {"kind": "fixed", "variable": "p"}]
    claims = [("0", True), ("1/3", True), ("-1/3", False), ("p", True), ("p - 1/2", False)]
    exponents = ("-1/2", "-1000", "-1001", "0", "1/2", "1000", "1001")
    for polynomial, is_true in claims:
        made = [one(about_exp(polynomial, "", q), proof) for q in exponents for proof in proofs]
        found, counts = differences(built(), [json.dumps(d).encode() for d in made], tmp_path)
        assert found == []
        assert (counts.get("accepted", 0) > 0) == is_true, polynomial
    made = [one(about_exp("0", "", q), proofs[0]) for q in exponents]
    counts = {"accepted": len(made)}
    assert agreed(made, tmp_path) == (counts)


def test_a_constant_that_is_one(tmp_path: Path) -> None:
    """E = exp(0) is the number 1 in both, in a proof; an interval of the domain may leave out its end."""
    enclosures = [{"kind": "enclose", "interval": ends, "proof": LEAF} for ends in (["1", "1"], ["1/2", "2"])]
    for polynomial, is_true in (("E - 1/2", True), ("E - 1", True), ("E - 2", False), ("p*E - p", True)):
        about = about_exp(polynomial, "", "0")
        found = agreed([one(about, proof) for proof in ({"kind": "exponential"}, *enclosures)], tmp_path)
        assert (found.get("accepted", 0) > 0) == is_true, polynomial
    assert agreed([one(about_exp("p", "[1, 1]", "0"), LEAF)], tmp_path) == {"rejected": 1}


@pytest.mark.parametrize("box", ["[0, 1]", "[3, 4]", "[2, 3]"])
def test_domains_that_no_statement_is_about(box: str, tmp_path: Path) -> None:
    """Also a domain without a statement, and one of an open claim, has an interval with the number of E."""
    right, beside = one(P), about_exp("E", box, "1")
    domain = {name: value for name, value in beside.items() if name != "polynomial"}
    made = [{**right, "domains": [*right["domains"], domain]}, one(beside, None, status="unknown")]
    assert agreed(made, tmp_path) == {"accepted" if box == "[2, 3]" else "rejected": 2}


def test_origins_that_are_there_twice(tmp_path: Path) -> None:
    """How many comparisons a claim is for is shown, so none is counted twice."""
    made = [document(statement(P, LEAF, origins=origins)) for origins in (["a", "b"], ["a", "b", "a"])]
    assert agreed(made, tmp_path) == {"accepted": 1, "rejected": 1}


@pytest.mark.parametrize("shape", ["ENVELOPE", "WITNESS", "DOMAIN", "CLAIM", "CASE"])
def test_the_program_has_all_keys(shape: str, tmp_path: Path) -> None:
    """No key that Python knows is called unknown: the program may say that it does not know its value."""
    shapes = {
        **{name: getattr(evidence_shapes, name) for name in ("ENVELOPE", "DOMAIN", "CASE")},
        "CLAIM": inspect.getclosurevars(evidence_shapes.STATEMENT).nonlocals["kinds"]["claim"],
        "WITNESS": inspect.getclosurevars(evidence_shapes.WITNESS).nonlocals["kinds"]["claim"],
    }
    keys = list(inspect.getclosurevars(shapes[shape]).nonlocals["known"])
    assert len(keys) > 1
    paths = [tmp_path / f"{key}.json" for key in keys]
    for path, key in zip(paths, keys, strict=True):
        right = one(P)
        witness = {"kind": "claim", "claim": {"domain": 0, "polynomial": "p"}, "parameters": {}}
        with_key = {
            "ENVELOPE": {**right, key: None},
            "WITNESS": {**right, "witness": {**witness, key: None}},
            "DOMAIN": {**right, "domains": [{**right["domains"][0], key: None}]},
            "CLAIM": {**right, "statements": [{**right["statements"][0], key: None}]},
            "CASE": {**right, "case": {"title": "", "digest": "", key: None}},
        }
        path.write_text(json.dumps(with_key[shape]))
    told = [" ".join(answer.lines) for answer in by_program(built(), paths)]
    assert [line for line in told if "this key is unknown" in line] == []


def test_what_does_not_belong_together(tmp_path: Path) -> None:
    """What stands beside an engine, or claims, belongs there; points are in all domains of an engine."""
    script, lemma = about_a_script(), {"kind": "lemma", "name": "l", "domain": 0, "polynomial": "1"}
    others = {
        "windows": {"statement": evidence_shapes.WINDOWED, "pairs": []},
        "reduction": standing_pair()["reduction"],
        "budget": {"kind": "bound", "bound": ["1", "1"], "witnesses": []},
    }
    made = [{**script, name: value} for name, value in others.items()]
    made.append({**script, "statements": [*script["statements"], {**lemma, "proof": {"kind": "constant"}}]})
    made.append({**script, "points": [{}]})
    slots = engine_document("slots", program=dict.fromkeys(("shared", "drops"), False), forms=[[1]], steps=1)
    own(slots)["program"]["deletes"] = True
    about_p = {**slots, "domains": [{name: P[name] for name in ("variables", "box", "constraints")}]}
    made.append({**about_p, "points": [{"p": "2"}]})
    made.append({**one(P), "budget": {"kind": "delta", "given": "1", "enough": None, "witnesses": []}})
    assert agreed(made, tmp_path) == {"rejected": len(made)}
    right = [
        script,
        slots,
        about_p,
        {**about_p, "points": [{"p": "1/2"}]},
        {**one(P), "budget": others["budget"]},
    ]
    assert agreed(right, tmp_path / "right") == {"accepted": len(right)}


WITNESS = {"claim": {**P, "polynomial": "p - 1/2"}, "parameters": {"p": "1/4"}}


def test_points_beside_a_witness(tmp_path: Path) -> None:
    """Points of a document whose only claim is that of its witness are in the domain of that."""
    right, *wrong = ({"p": "1"}, {"zz": "5"}, {}, {"p": "2"}, {"p": "1/4", "zz": "5"})
    made = [document(status="violated", witness=WITNESS, points=[point]) for point in (right, *wrong)]
    assert agreed(made[:1], tmp_path) == {"accepted": 1}
    assert agreed(made[1:], tmp_path / "wrong") == {"rejected": len(wrong)}


def test_true_answers_to_a_script_are_accepted_in_the_same_words(tmp_path: Path) -> None:
    """Both accept, count the same, and say the same of each question."""
    script, path = about_a_script(), tmp_path / "true.json"
    path.write_text(json.dumps(script))
    assert agreed([path.read_bytes()], tmp_path) == {"accepted": 1}
    (answer,) = by_program(built(), [path])
    kinds = len(own(script)["questions"][0]["claims"])
    assert answer.lines == (
        f"question 1: unsat, {kinds} claims",
        "question 2: sat",
        "question 3: unsat, 3 claims, on the word of 'cvc5', 'z3 4'",
        "question 4: unknown",
    )
    assert (answer.proved, answer.trusted, answer.open) == (kinds, 2, 1)


def test_a_script_without_a_question(tmp_path: Path) -> None:
    """It shows nothing, with and without claims."""
    script = about_a_script()
    script["statements"][-1]["questions"] = []
    engine = script["statements"][-1:]
    made = [script, {**script, "domains": [], "statements": engine}]
    assert agreed(made, tmp_path) == {"rejected": len(made)}


def test_a_budget_has_a_number_where_claims_hold(tmp_path: Path) -> None:
    """There, and only there; without a number, a witness or a loop nothing is said of a budget."""
    none, some = ({"kind": "bound", "bound": bound, "witnesses": []} for bound in (None, ["1", "1"]))
    bounds = {**none, "bounds": {"1": ["2", "1"]}}
    violated = document(status="violated", witness=WITNESS)
    unknown = document(status="unknown")
    shown, empty = [one(P)], [violated, unknown]
    right = [{**each, "budget": stated} for each in shown for stated in (some, bounds)]
    right += [{**each, "budget": none} for each in empty]
    wrong = [{**each, "budget": stated} for each in empty for stated in (some, bounds)]
    wrong += [{**each, "budget": {**none, **more}} for each in shown for more in ({}, {"bounds": {}})]
    for kind in ("delta", "ratio"):
        about = {"kind": kind, "given": "1", "witnesses": []}
        right.append({**unknown, "budget": {**about, "enough": None}})
        wrong.append({**unknown, "budget": {**about, "enough": "1"}})
    assert agreed(right, tmp_path) == {"accepted": len(right)}
    assert agreed(wrong, tmp_path / "wrong") == {"rejected": len(wrong)}
    told = [check_text(json.dumps(each)).status for each in right]
    assert told == ["budget", "budget", "violated", "unknown", "unknown", "unknown"]


def test_powers_of_a_product_that_no_polynomial_has(tmp_path: Path) -> None:
    """They are rejected at once."""
    given = copy.deepcopy(every_kind()["product"])
    given["statements"][0]["proof"]["powers"]["q"] = 10**17
    assert agreed([given], tmp_path) == {"rejected": 1}


def test_ends_of_an_interval_with_one_point(tmp_path: Path) -> None:
    """There both ends are the point: the way to either proves what is true at it, and nothing else."""
    made, wanted = [], []
    for at in range(-2, 3):
        for way in ("low", "high"):
            for polynomial, value in (("p^2 - 1", at**2 - 1), ("-3*p - 2", -3 * at - 2)):
                claim = {**P, "box": {"p": f"[{at}, {at}]"}, "polynomial": polynomial}
                made.append(json.dumps(one(claim, {"kind": "bernstein", "tree": [[way, "p"], "+"]})).encode())
                wanted.append(value >= 0)
    counts = {"accepted": wanted.count(True), "rejected": wanted.count(False)}
    assert agreed(made, tmp_path) == (counts)


def test_a_wider_enclosure_of_ln_1_is_one(tmp_path: Path) -> None:
    """A cell that ends at 1 may say 0 <= ln(1) <= 1/10^9, and may not say what does not contain 0."""
    claim = {**P, "variables": ["x", "l"], "box": {"x": "[1/2, 1]"}, "ties": {"l": ["x", "1"]}}
    claim["polynomial"] = "l + 1"  # l = -ln(x)

    def enclosed(low: str, high: str) -> Json:
        cell = {"terms": 1, "enclosure": [low, high], "proof": LEAF}
        return one(claim, {"kind": "logarithm", "variable": "l", "cuts": [], "parts": [cell]})

    small = "1/1000000000"
    right = [enclosed(*ends) for ends in (("0", "0"), ("0", small), (f"-{small}", "0"), ("-1", "1"))]
    wrong = [enclosed(*ends) for ends in ((small, "1"), ("-1", f"-{small}"), ("1", "-1"), ("1", "0"))]
    for made, word in ((right, "accepted"), (wrong, "rejected")):
        assert agreed(made, tmp_path) == {word: len(made)}


def test_strict_claims_are_told_as_what_they_say(tmp_path: Path) -> None:
    """A claim that no point of the domain has its last constraint is told as that by both checkers."""
    path = tmp_path / "evidence.json"
    evidence_of(ROOT / "cases" / "random-walk.toml", path)
    (answer,) = by_program(built(), [path])
    assert answer.lines == in_python(path.read_bytes()).lines
    assert answer.lines[1] == "claim 2 (no point of the domain has -q^24 >= 0): proved"


UNSEEN = "(it sees neither the case nor the model)"


def test_check_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command accepts a violation by the proved checker, with the case too, and rejects another point."""
    built()
    path = tmp_path / "evidence.json"
    given = evidence_of(LEAK, path)
    capsys.readouterr()
    for more in ([], ["--case", str(LEAK)]):
        assert run(["check", str(path), "--verified", *more]) == 0
        out = capsys.readouterr().out
        assert "accepted by the proved checker: a violation" in out
        assert (UNSEEN in out) == bool(more)
        assert "witness: the claim (" in out
        assert out.splitlines()[-1].startswith("checked")
    name = min(given["witness"]["parameters"])
    given["witness"]["parameters"][name] = "1/1000000"
    path.write_text(json.dumps(given))
    assert run(["check", str(path), "--verified"]) == 1
    rejected = capsys.readouterr().out.splitlines()
    assert "REJECTED by the proved checker: " in rejected[-1]
    assert len(rejected) == 1


NOT_LOOKED_INTO = sorted(evidence_checks.KINDS)


def test_other_kinds_are_not_known(tmp_path: Path) -> None:
    """The program says by its name of each engine that it does not know, and knows all others."""
    paths = [tmp_path / f"{kind}.json" for kind in RULES]
    for kind, path in zip(RULES, paths, strict=True):
        path.write_text(json.dumps(engine_document(kind)))
    assert all(in_python(path.read_bytes()).word == "rejected" for path in paths)
    for kind, answer in zip(RULES, by_program(built(), paths), strict=True):
        known = kind not in NOT_LOOKED_INTO
        assert answer.word == ("rejected" if known else NOT_KNOWN), kind
        reason = f"a statement of the kind '{kind}' is not known to the proved checker"
        assert known or answer.lines == (f"not checked: {reason}", reason)


def test_what_is_not_known_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A kind that the program does not know gives exit code 3, no verdict, and the reason."""
    built()
    path = tmp_path / "paths.json"
    path.write_text(json.dumps(engine_document("paths")))
    assert run(["check", str(path), "--verified"]) == 3
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "not checked: the proved checker does not know enclosed probabilities",
        "Without --verified the checker in Python replays it.",
    ]
    assert "accepted" not in out
    assert run(["check", str(path), "--verified", "--json"]) == 3
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert data["status"] == "unknown"
    assert data["proved_checker"]["knows"] is False


def test_where_it_is_not_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the program the command says how to build it."""
    path = tmp_path / "evidence.json"
    path.write_text("{}")
    monkeypatch.setenv(evidence_checks.PLACE, str(tmp_path / "none"))
    assert run(["check", str(path), "--verified"]) == 2
    err = capsys.readouterr().err
    assert f"{evidence_checks.PLACE} names no program" in err
    assert "make -C proofs" in err


def test_no_evidence_is_told_with_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message names the file that was given, not the standard input of the program."""
    built()
    path = tmp_path / "empty.json"
    path.write_text("")
    assert run(["check", str(path), "--verified"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {path}: this is not evidence: not JSON")


ANSWER = {"lines": [], "proved": 0, "trusted": 0, "open": 0, "status": "holds", "solvers": [], "kind": ""}
ACCEPTED = json.dumps({**ANSWER, "answer": "accepted", "side_condition": "", "not_known": []})
NO_ANSWERS = (
    *("not json", '{"answer": "accepted"}', "[]", "null", "1", '{"error": "none", "code": 2}'),
    *("'; exit 2; '", f"{ACCEPTED}'; exit 1; '", f"{ACCEPTED}'; exit 2; '"),
)


@pytest.mark.parametrize("words", NO_ANSWERS)
def test_a_program_that_says_something_else_is_not_believed(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is not the whole answer of the program is none."""
    path, program = tmp_path / "evidence.json", tmp_path / "program"
    path.write_text("{}")  # the answer of the program, and its exit code, come first
    program.write_text(f"#!/bin/sh\necho '{words}'\n")
    program.chmod(0o755)
    monkeypatch.setenv(evidence_checks.PLACE, str(program))
    assert run(["check", str(path), "--verified"]) == 3
    assert "the proved checker gave no answer" in capsys.readouterr().err


def test_what_the_case_does_not_say_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The proved checker does not see the case: true claims that are not those of the case are rejected."""
    built()
    path = tmp_path / "evidence.json"
    given = evidence_of(CASE, path)
    claim = claims_of(given)[0]
    claim["origins"] = ["lies", claim["origins"][0]]
    path.write_text(json.dumps(given))
    capsys.readouterr()
    assert run(["check", str(path), "--verified"]) == 0
    assert "lies" not in capsys.readouterr().out
    assert run(["check", str(path), "--verified", "--case", str(CASE)]) == 1
    out = capsys.readouterr().out
    assert "the case has no claim about 'lies'" in out
    line = next(line for line in out.splitlines() if line.startswith("accepted by the proved checker: "))
    assert line.endswith(UNSEEN)
    assert out.splitlines()[-1].startswith("REJECTED: ")


@pytest.mark.parametrize("kind", NOT_LOOKED_INTO)
def test_what_is_not_known_is_said_once(kind: str) -> None:
    """It is named in words, once, with what the checker in Python says if that was asked."""
    reason = f"a statement of the kind '{kind}' is not known to the proved checker"
    replayed = evidence_checks.Replayed(KernelReport(False, (f"not checked: {reason}",)), (reason, reason))
    words = f"the proved checker does not know {evidence_checks.KINDS[kind]}"
    assert evidence_checks.lines(evidence_checks.Checked(replayed.report, replayed=replayed)) == [
        f"not checked: {words}",
        "Without --verified the checker in Python replays it.",
    ]
    accepted = KernelReport(True, ("claim 1: proved",), proved=1)
    assert evidence_checks.lines(evidence_checks.Checked(accepted, replayed=replayed)) == [
        "claim 1: proved",
        f"The checker in Python accepts it. T{words[1:]}",
    ]
    rejected = evidence_checks.lines(
        evidence_checks.Checked(KernelReport(False, ("rejected: no",)), replayed=replayed)
    )
    assert rejected == [f"not checked: {words}", "REJECTED: no"]


def test_a_changed_ratio_of_an_interactive_proof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What no claim shows is not said to be false; both checkers say how many pairs and steps there are."""
    path = tmp_path / "evidence.json"
    case = str(ROOT / "cases" / "interactive" / "slots-2.toml")
    assert run(["interactive", case, "--evidence", str(path)]) == 0
    capsys.readouterr()
    found = []
    for more in ([], ["--verified"]):
        assert run(["check", str(path), *more]) == 0
        lines = capsys.readouterr().out.splitlines()
        found.append([line for line in lines if line.startswith("unwinding family: ")])
    assert found[0] == found[1] != []
    path.write_text(json.dumps(with_own(json.loads(path.read_text()), ratio="101/100")))
    assert run(["check", str(path)]) == 1
    assert "no claim shows that the steps together are within the bound" in capsys.readouterr().out


def test_a_point_without_a_coordinate(tmp_path: Path) -> None:
    """Of a convex polynomial a coordinate that is not written is 0, in both checkers."""
    box = {"p": "[0, 1]", "q": "[0, 1]"}
    about = {"variables": ["p", "q"], "box": box, "constraints": [], "polynomial": "p^2 + q^2 - p + 1/4"}
    points = ({"p": "1/2", "q": "0"}, {"p": "1/2"}, {"q": "0"}, {})
    made = [one(about, {"kind": "convex", "point": point}) for point in points]
    assert [in_python(json.dumps(d).encode()).word for d in made][:2] == ["accepted"] * 2
    agreed(made, tmp_path)
