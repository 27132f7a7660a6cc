"""Negative probabilities, weights and bounds: both checkers reject them, or say what is not shown."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from mpmath import mp
from three_checkers import built, differences

from paramverify.kernel.cone_evidence import NOT_SHOWN as NO_WEIGHT
from paramverify.kernel.documents import NOT_COMPARED, check_text, counts_of, verdict_line
from paramverify.kernel.evidence_polynomials import parse
from paramverify.kernel.evidence_shapes import SIDE_CONDITION
from paramverify.kernel.ledger import KernelReport
from paramverify.kernel.loss_evidence import NOT_SHOWN as NO_PROBABILITY
from paramverify.kernel.plain_signs import SMALL, Signs, signs_of, with_constant
from paramverify.kernel.proof_goals import Goal, WrittenClaim
from paramverify.kernel.rounded_constants import UNIT
from paramverify.kernel.strict_reading import Rejected

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
    assert "both secrets are the same" in report(violation([["1/2", "0"], ["1/2", "1"]], ["a", "a"])).lines[0]


def test_certificates_compare_something() -> None:
    """No pair, and a pair of one secret, are no comparison."""
    good = cone((Fraction(1), Fraction(1)), [], [], 0)
    (engine,) = good["statements"]
    pair = engine["model"]["pairs"][0]
    for pairs, reason in (
        ([], "nothing is compared"),
        ([["a", "a", *pair[2:]]], "both its secrets are the same"),
    ):
        found = {**engine, "model": {**engine["model"], "pairs": pairs}}
        assert reason in report({**good, "statements": [found]}).lines[0]


def test_a_claim_has_a_direction() -> None:
    """In evidence about divergences, and in evidence about sets of outputs."""
    (average,) = loss([(Fraction(1), Fraction(0))], 1, [], [])["statements"]
    parts = {"kind": "parts", "domain": 0, "room": "1", "terms": [], "tree": [["free"]]}
    for claim in (average, parts):
        given = document("holds", domain([]), {**claim, "origins": []})
        assert "a claim names no direction" in report(given).lines[0]


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


def test_what_rests_on_solvers_or_is_rejected_is_told_as_that() -> None:
    """Claims that are all trusted are claims, and a rejected document shows nothing by its witness."""
    trusted = KernelReport(
        True, ("claim 1: trusted",), trusted=2, status="holds", not_compared=NOT_COMPARED["holds"]
    )
    assert "the claims are true" in verdict_line(trusted)
    assert "there is no claim" not in verdict_line(trusted)
    witness = ("witness: output 1",)
    assert counts_of(KernelReport(True, witness, status="violated")).startswith("shown by the witness; ")
    assert counts_of(KernelReport(False, witness, status="violated")).startswith("0 claims proved")


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


@pytest.mark.parametrize(
    ("exponent", "right"), [("1", 1), ("1/1000", 1), ("7/3", 1), ("40", 1), ("0", 0), ("-1", 0), ("41", 0)]
)
def test_the_interval_of_the_constant(exponent: str, right: int) -> None:
    """It contains exp(q), for 0 < q ≤ 40 only; for small q it is no wider than one unit of rounding."""
    claim = WrittenClaim(Goal(("t", "E"), {}, {"t": ENDS}, ()), Fraction(exponent))
    if not right:
        with pytest.raises(Rejected, match="out of range"):
            with_constant(claim)
        return
    goal = with_constant(claim)
    low, high = goal.box.pop("E")
    assert goal.box == {"t": ENDS}
    with mp.workprec(600):
        true = mp.exp(mp.mpf(claim.exponent.numerator) / claim.exponent.denominator) * UNIT  # type: ignore[union-attr]
        assert int(low * UNIT) <= true <= int(high * UNIT)
    assert (high - low) * UNIT == 1 or Fraction(exponent) > 3


def signs(goal: Goal, *obliged: tuple[int, str], exponent: str | None = None) -> Signs:
    """Returns what is shown on a domain with the number 2."""
    claim = WrittenClaim(goal, exponent and Fraction(exponent))  # type: ignore[arg-type]
    settled = SimpleNamespace(settled=list(obliged))
    about: Any = SimpleNamespace(domain={2: claim}.get, obligations=settled, kept={})
    found = signs_of(about, 2)
    assert signs_of(about, 2) is found is about.kept[2]
    return found


def test_what_shows_a_sign() -> None:
    """Constraints, what is obliged on the same domain, and Bernstein coefficients; and nothing else does."""
    names = ("t", "l")
    indefinite, other = "t - 1/2", "t^2 - 1/2*t + 1/20"
    goal = Goal(names, {}, {"t": ENDS}, ((parse(indefinite, names), True), None))
    known = signs(goal, (2, other), (1, "l"), (0, "t - 2/5"))
    for text, sign in (
        ("0", 1),
        (indefinite, 1),
        ("4/3*t - 2/3", 1),
        ("-3*t + 3/2", -1),
        ("t - 2/5", 0),
        (other, 1),
        ("-2*t^2 + t - 1/10", -1),
        ("t", 1),
        ("-t", -1),
        ("t - 1/4", 1),
        ("t - 1/3", 0),
        ("t - 3/4", -1),
        ("t + l", 0),
        ("l", 0),
    ):
        for _ in range(2):
            assert known.of(parse(text, names)) == sign, text
    grown = Goal(("t", "E"), {}, {"t": ENDS}, ())
    for exponent, sign in (("1", 1), ("41", 0)):
        assert signs(grown, exponent=exponent).of(parse("E - 2*t", ("t", "E"))) == sign


@pytest.mark.parametrize(
    ("powers", "sign"), [((9, 9, 9), 1), ((10, 9, 9), 0), ((9, 9, 10), 0), ((0, 999, 0), 1)]
)
def test_signs_of_large_polynomials(powers: tuple[int, ...], sign: int) -> None:
    """Up to 1,000 coefficients are looked at."""
    box = dict.fromkeys("xyz", (Fraction(0), Fraction(1)))
    poly = {powers: Fraction(1), (0, 0, 0): Fraction(1)}
    assert SMALL == 1_000
    assert signs(Goal(("x", "y", "z"), {}, box, ())).of(poly) == sign
    assert signs(Goal(("x", "y", "z"), {}, box, ())).of({k: -c for k, c in poly.items()}) == -sign
