"""The proved checker and witnesses against claims with a logarithm; and documents of windows."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import mpmath
from claim_documents import document, statement
from cone_documents import CLOSED
from oracle_tools import Json
from three_checkers import agreed, built, by_program
from tied_claims import BITS, known, tied, value

from paramverify.claims import Claim, to_document
from paramverify.kernel.evidence_shapes import WINDOWED

SMALL = mpmath.mpf(2) ** -300  # what is nearer to 0 is not decided by the bits that checkers take


def violated(claim: Json, parameters: Json) -> Json:
    """Returns a document that says where a claim fails."""
    witness = {"claim": claim, "parameters": parameters}
    return document(statement(claim, None), status="violated", witness=witness)


POINTS = [Fraction(k, 17) for k in (0, 1, 2, 5, 9, 13, 16, 17, 18)] + [
    Fraction(1, 10**9),
    Fraction(999, 1000),
]


def claims_with_truth(seed: int, count: int) -> list[tuple[Claim, Fraction]]:
    """Returns claims about x and eps = -ln(x)/step, true and false ones, with the step of each."""
    found = []
    for _, claim, _ in known(seed, count):
        for _, step in to_document(claim).get("ties", {}).values():  # some claims lose what is tied
            found.append((claim, Fraction(step)))
    return found


def test_a_witness_is_accepted_iff_the_claim_fails_there(tmp_path: Path) -> None:
    """At points of the domain, by values to 1,000 bits; outside of it never. Python says the same."""
    documents, wanted = [], []
    for claim, step in claims_with_truth(4, 20):
        for x in POINTS:
            inside = 0 < x < 1
            at = value(claim.polynomial, x, step) if inside else 1
            if inside and abs(at) < SMALL:
                continue
            documents.append(violated(to_document(claim), {"x_eps": str(x)}))
            wanted.append("accepted" if at < 0 else "rejected")
    counts = agreed(documents, tmp_path)
    paths = [tmp_path / f"{k}.json" for k in range(len(documents))]
    assert [answer.word for answer in by_program(built(), paths)] == wanted
    assert min(counts["accepted"], counts["rejected"]) > 25, counts


def test_two_logarithms_and_constraints(tmp_path: Path) -> None:
    """Claims about two parameters and both logarithms, where a constraint with one is true or false."""
    random, documents, wanted = Random(9), [], []
    names = ["x", "y", "l", "m"]
    box = {"x": "(0, 1]", "y": "(0, 1)"}
    for _ in range(60):
        c = [Fraction(random.randint(-6, 6), random.randint(1, 4)) for _ in range(5)]
        claim = {
            "variables": names,
            "box": box,
            "ties": {"l": ["x", "1/2"], "m": ["y", "3"]},
            "polynomial": f"{c[0]}*l*m + {c[1]}*x*m^2 + {c[2]}*l + {c[3]}*y".replace("+ -", "- "),
            "constraints": [[f"l - m - {abs(c[4])}", random.choice([">", ">="])]],
        }
        x, y = (Fraction(random.randint(1, 8), 9) for _ in range(2))
        with mpmath.workprec(BITS):
            a, b = mpmath.mpf(x.numerator) / x.denominator, mpmath.mpf(y.numerator) / y.denominator
            log, other = -2 * mpmath.log(a), -mpmath.log(b) / 3
            factors = [mpmath.mpf(f.numerator) / f.denominator for f in c]
            at = factors[0] * log * other + factors[1] * a * other**2 + factors[2] * log + factors[3] * b
            inside = log - other - abs(factors[4])
        if min(abs(at), abs(inside)) > SMALL:
            documents.append(violated(claim, {"x": str(x), "y": str(y)}))
            wanted.append("accepted" if at < 0 < inside else "rejected")
    counts = agreed(documents, tmp_path)
    paths = [tmp_path / f"{k}.json" for k in range(len(documents))]
    assert [answer.word for answer in by_program(built(), paths)] == wanted
    assert min(counts.values()) > 5, counts


def test_points_of_a_domain_with_a_logarithm(tmp_path: Path) -> None:
    """Points are checked, too; a sign that no bits decide, and exp beside a logarithm, are refused."""
    claim = to_document(tied("eps", above="eps - 1"))
    unknown = document(statement(claim, None, origins=["a"]), status="unknown")
    inside = [{**unknown, "points": [{"x_eps": x}]} for x in ("1/3", "1/2", "0", "1", "2")]
    # l = 2·m at x = y^2: a sum that is 0, and no enclosure shows it.
    equal: Json = {
        "variables": ["x", "y", "l", "m"],
        "box": {"x": "(0, 1)", "y": "(0, 1)"},
        "ties": {"l": ["x", "1"], "m": ["y", "1"]},
        "polynomial": "-1",
        "constraints": [["l - 2*m", ">="]],
    }
    both = {**claim, "variables": [*claim["variables"], "E"], "constant": "1", "polynomial": "eps - E"}
    made = [*inside, violated(equal, {"x": "1/4", "y": "1/2"}), violated(both, {"x_eps": "1/2"})]
    assert agreed(made, tmp_path) == {"accepted": 1, "rejected": 6}


def test_windows_are_read(tmp_path: Path) -> None:
    """The statement about windows is the one that there is; the claims are replayed as always."""
    claim = {"variables": ["p"], "box": {"p": "[0, 1]"}, "constraints": [], "polynomial": "p"}
    proof = {"kind": "bernstein", "tree": ["+"]}
    one = document(statement(claim, proof, origins=["a"]))
    right = {"statement": WINDOWED, "pairs": [["a", "b", 1]]}
    wrong = [{**right, "statement": WINDOWED[:-1]}, {**right, "pairs": [["a", "b"]]}, {"pairs": []}, None]
    made = [{**one, "windows": windows} for windows in (right, *wrong)]
    made.append(document(statement({**claim, "polynomial": "-p"}, proof), windows=right))
    made.append({**CLOSED, "windows": right})  # which is about another kind of claims
    assert agreed(made, tmp_path) == {"accepted": 1, "rejected": 6}
