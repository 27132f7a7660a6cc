"""Negative probabilities, weights and bounds: both checkers reject them, or say what is not shown."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from three_checkers import built, differences

from paramverify.kernel.cone_evidence import NOT_SHOWN as NO_WEIGHT
from paramverify.kernel.documents import check_text, verdict_line
from paramverify.kernel.evidence_shapes import SIDE_CONDITION
from paramverify.kernel.loss_evidence import NOT_SHOWN as NO_PROBABILITY

Json = dict[str, Any]
Affine = tuple[Fraction, Fraction]
SOLVER = {"kind": "solver", "solver": "z9", "version": "1"}
PLUS = {"kind": "bernstein", "tree": ["+"]}
ENDS = (Fraction(1, 4), Fraction(3, 4))
ASKED: list[bytes] = []  # all documents of this file


@pytest.fixture(scope="module", autouse=True)
def compared_with_the_proved_checker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """In the end the proved checker is asked: the same answers, and the same lines about signs."""
    yield
    folder = tmp_path_factory.mktemp("asked")
    found, counts = differences(built(), ASKED, folder)
    assert found == []
    assert set(counts) <= {"accepted", "rejected"}
    for data, said in zip(ASKED, asked_lines(folder, len(ASKED)), strict=True):
        own = check_text(data.decode()).lines
        for line in (NO_WEIGHT, NO_PROBABILITY, "nothing is compared: there is no claim"):
            assert (line in own) == (line in said), data


def asked_lines(folder: Path, count: int) -> list[list[str]]:
    """Returns what the proved checker says of each document, line by line."""
    command = [built(), "--json", *(str(folder / f"{k}.json") for k in range(count))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return [json.loads(line)["lines"] for line in done.stdout.splitlines()]


def report(document: Json) -> Any:
    """Returns Python's report on a document, which the proved checker is asked about later."""
    ASKED.append(json.dumps(document).encode())
    return check_text(json.dumps(document))


def text_of(poly: Affine) -> str:
    return f"{poly[0]} + {poly[1]}*t".replace("+ -", "- ")


def document(status: str, about: Json, *statements: Json, **more: Any) -> Json:
    """Evidence with statements about one domain."""
    head = {"format": "paramverify-evidence", "version": 2, "status": status}
    return {**head, "domains": [about], "statements": [*statements], **more}


def signed(kind: str, polynomial: str, proof: Json = PLUS) -> Json:
    return {"kind": kind, "domain": 0, "polynomial": polynomial, "proof": proof}


def domain(constraints: list[list[str]]) -> Json:
    return {"variables": ["t"], "box": {"t": f"[{ENDS[0]}, {ENDS[1]}]"}, "constraints": constraints}


def loss(polys: list[Affine], sign: int, constraints: list[list[str]], obliged: list[str]) -> Json:
    """Evidence that a family has the divergence 0 from itself: true wherever it is a distribution."""
    texts = [text_of((sign * a, sign * b)) for a, b in polys]
    products: list[Any] = [[str(sign), []]]
    for k in range(len(polys)):
        products += [[str(sign), [[k, 1]]]] * 2
    claim = {
        **{"kind": "average", "domain": 0, "of": "kl", "bound": ["1", []]},
        "total": str(sign),
        "outputs": [[text, text] for text in texts],
        "origins": [["a", "b", 1]],
        "factors": [text_of(poly) for poly in polys],
        "products": products,
        "tree": [["+", []]],
    }
    obligations = [signed("obligation", text, SOLVER) for text in obliged]
    return document("holds", domain(constraints), *obligations, claim)


def cone(poly: Affine, constraints: list[list[str]], obliged: list[str], place: int) -> Json:
    """Evidence that two secrets with the same weights have the same sequences; one number is a polynomial."""
    text = text_of(poly)
    weight, mass, top = (text if place == k else "1" for k in range(3))
    start = {"weights": {"0": weight}, "mass": mass}
    model = {
        "states": 1,
        "observations": ["0"],
        "steps": [[0, 0, 0, "1"]],
        "pairs": [["a", "b", start, start]],
        "ratio": [top, text if place == 2 else "1"],
    }
    closed = {"rule": "closed", "rays": [["1"]], "steps": [[{"0": "1"}], [{"0": "1"}]]}
    engine = {"kind": "cone", "domain": 0, "model": model, **closed}
    obligations = [signed("obligation", text, SOLVER) for text in obliged]
    return document("holds", domain(constraints), *obligations, engine)


def ends_of(poly: Affine) -> tuple[Fraction, Fraction]:
    """Returns the least and the largest value of an affine polynomial on the box."""
    found = sorted(poly[0] + poly[1] * end for end in ENDS)
    return found[0], found[1]


def affine(random: Random) -> Affine:
    return Fraction(random.randint(-4, 6), 8), Fraction(random.randint(-6, 6) or 1, 8)


@pytest.mark.slow
def test_probabilities_that_are_or_may_be_negative() -> None:
    """Affine families that sum to 1, or to -1 with signs turned: the ends of the box say what is right."""
    random, seen = Random(5), set()
    for k in range(60):
        first = [affine(random) for _ in range(random.randint(1, 2))]
        last = 1 - sum((a for a, _ in first), Fraction(0)), -sum((b for _, b in first), Fraction(0))
        polys = [poly for poly in (*first, last) if any(poly)]
        ranges = [ends_of(poly) for poly in polys]
        open_ones = [text_of(p) for p, (low, high) in zip(polys, ranges, strict=True) if low < 0 < high]
        bad = any(high <= 0 for _, high in ranges)
        for constraints, obliged in (([], []), (open_ones, []), ([], open_ones)):
            given = loss(polys, (1, -1)[k % 2], [[text, ">="] for text in constraints], list(obliged))
            if k % 2 and (constraints or obliged):
                continue  # they are about the polynomials that are not turned
            said = report(given)
            silent = not open_ones or constraints or obliged
            seen.add((bad, bool(silent)))
            assert said.accepted == (not bad), given
            assert bad or (NO_PROBABILITY in said.lines) == (not silent)
            assert bad or ("no probability is negative" in verdict_line(said)) == (not silent)
    assert len(seen) == 4


@pytest.mark.slow
@pytest.mark.parametrize("place", range(3))
def test_weights_masses_and_bounds_that_are_or_may_be_negative(place: int) -> None:
    """One polynomial is the weight, the mass or the bound: its values at the ends say what is right."""
    random, seen = Random(place), set()
    for _ in range(30):
        poly = affine(random)
        low, high = ends_of(poly)
        for constraints, obliged in (([], []), ([[text_of(poly), ">="]], []), ([], [text_of(poly)])):
            if high <= 0 and (constraints or obliged):
                continue  # there is no such domain
            said = report(cone(poly, constraints, obliged, place))
            silent = low >= 0 or bool(constraints) or bool(obliged)
            seen.add((high <= 0, silent))
            assert said.accepted == (high > 0)
            assert high <= 0 or (NO_WEIGHT in said.lines) == (not silent)
            assert high <= 0 or ("no weight" in verdict_line(said)) == (not silent)
    assert seen >= {(False, True), (False, False), (True, False)}


def violation(outputs: list[list[str]], secrets: list[str]) -> Json:
    about = {"domain": 0, "of": "kl", "bound": ["1", []]}
    claim = {**about, "total": "1", "outputs": outputs, "origins": [[*secrets, 1]]}
    witness = {
        "kind": "average",
        **{"parameters": {"t": "1/2"}, "secrets": secrets, "length": 1, "measure": "kl", "value": "infinity"},
        **{"bound": "1", "exceeds": True, "largest": [], "claim": claim},
    }
    return document("violated", domain([]), witness=witness)


def test_a_witness_has_no_negative_probability() -> None:
    """Their sizes sum to 1, and still one is negative; and the secrets are two."""
    assert report(violation([["1/2", "0"], ["1/2", "1"]], ["a", "b"])).accepted
    for outputs in ([["1/2", "0"], ["-1/2", "1"]], [["1/2", "0"], ["1/2", "-1"]]):
        assert "negative" in report(violation(outputs, ["a", "b"])).lines[0]
    assert "twice the same" in report(violation([["1/2", "0"], ["1/2", "1"]], ["a", "a"])).lines[0]


def test_certificates_compare_something() -> None:
    """No pair, and a pair of one secret, are no comparison."""
    good = cone((Fraction(1), Fraction(1)), [], [], 0)
    (engine,) = good["statements"]
    pair = engine["model"]["pairs"][0]
    for pairs, reason in (([], "nothing is compared"), ([["a", "a", *pair[2:]]], "twice the same")):
        found = {**engine, "model": {**engine["model"], "pairs": pairs}}
        assert reason in report({**good, "statements": [found]}).lines[0]


def test_a_claim_has_a_direction() -> None:
    """In evidence about divergences, and in evidence about sets of outputs."""
    (average,) = loss([(Fraction(1), Fraction(0))], 1, [], [])["statements"]
    parts = {"kind": "parts", "domain": 0, "room": "1", "terms": [], "tree": [["free"]]}
    for claim in (average, parts):
        given = document("holds", domain([]), {**claim, "origins": []})
        assert "a claim about no direction" in report(given).lines[0]


def test_obligations_of_evidence_are_replayed() -> None:
    """A false one rejects, a true one counts; where there is no claim, both say that nothing is compared."""
    for text, right in (("t", True), ("-t", False)):
        said = report(document("holds", domain([]), signed("obligation", text), signed("claim", "t")))
        assert (said.accepted, said.proved) == (right, 2 if right else 0)
        assert "nothing is compared: there is no claim" not in said.lines
    said = report(document("holds", domain([]), side_condition=SIDE_CONDITION))
    assert said.accepted
    assert said.lines == ("nothing is compared: there is no claim",)
    assert "there is no claim" in verdict_line(said)


def test_no_logarithm_of_zero() -> None:
    """A point at which a variable has no logarithm is outside of the domain."""
    box = {"variables": ["x", "l"], "box": {"x": "[0, 1]"}, "constraints": []}
    about = {**box, "ties": {"l": ["x", "1"]}}
    for at, right in (("0", False), ("1/2", True)):
        claim = {"domain": 0, "polynomial": "l - 100"}
        witness = {"kind": "claim", "claim": claim, "parameters": {"x": at}}
        said = report(document("violated", about, witness=witness))
        assert said.accepted is right
        assert right or "no logarithm" in said.lines[0]
