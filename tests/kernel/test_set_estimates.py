"""Terms that are estimated from above in claims about sets: what counts instead is at least the term."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from set_oracle import binomial

from paramverify.kernel.documents import check_text
from paramverify.kernel.evidence_polynomials import evaluate, parse
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import evidence_document
from paramverify.synthesis.least_sets import least_bound
from paramverify.synthesis.set_needs import NeedKind
from paramverify.verdicts import Holds

TEN = Path(__file__).parents[2] / "cases" / "approximate" / "shuffled-among-10.toml"
PEOPLE = 30


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Evidence that thirty shuffled responses are private, with room to spare."""
    path = tmp_path_factory.mktemp("shuffled") / "case.toml"
    path.write_text(TEN.read_text().replace("[9, ", f"[{PEOPLE - 1}, "), encoding="utf-8")
    case = load(path)
    report = verify(case)
    assert isinstance(report.verdict, Holds)
    found: dict[str, Any] = json.loads(json.dumps(evidence_document(case, report)))
    return found


def estimates(document: dict[str, Any]) -> list[tuple[int, int]]:
    """Where the trees of a document have such steps."""
    claims = enumerate(document["statements"])
    return [(k, n) for k, c in claims for n, s in enumerate(c["tree"]) if isinstance(s, list) and s[0] == "<"]


def test_what_counts_is_at_least_the_term(proof: dict[str, Any]) -> None:
    """On the part of a step the polynomial is not below its term, nor below 0, at every rational tried."""
    assert estimates(proof)
    for claim in proof["statements"]:
        boxes, tried = [(Fraction(1, 2), Fraction(4, 5))], 0
        for step in claim["tree"]:
            low, high = boxes[-1]
            if isinstance(step, dict):
                boxes.pop()
            elif step[0] == "cut":
                at = Fraction(step[2])
                boxes[-1:] = [(at, high), (low, at)]
            elif step[0] == "sign":
                boxes.append(boxes[-1])
            elif step[0] == "<":
                for k in range(5):
                    point = [low + (high - low) * Fraction(k, 4)]
                    u, t = (
                        evaluate(parse(text, ["t"]), point) for text in (step[2], claim["terms"][step[1]])
                    )
                    assert u >= max(0, t)
                    tried += 1
        assert not boxes
        assert tried or claim is not proof["statements"][0]


@pytest.mark.slow
def test_forged_estimates_are_refused(proof: dict[str, Any]) -> None:
    """A polynomial that is smaller, another term, or a step that is left out or twice, proves nothing."""
    assert check_text(json.dumps(proof)).accepted
    k, n = estimates(proof)[0]
    step = proof["statements"][k]["tree"][n]
    for forge in (
        [["<", step[1], "0", {"kind": "constant"}, step[4]]],
        [["<", step[1], step[2], step[3], step[3]]],
        [["<", step[1] + 1, *step[2:]]],
        [],
        [step, step],
    ):
        document = copy.deepcopy(proof)
        document["statements"][k]["tree"][n : n + 1] = forge
        assert not check_text(json.dumps(document)).accepted


@pytest.mark.slow
def test_the_least_delta_is_that_of_counts(tmp_path: Path) -> None:
    """The least delta over an interval of truths is that of a convolution of coins at its end."""
    path = tmp_path / "case.toml"
    path.write_text(TEN.read_text().replace("[9, ", f"[{PEOPLE - 1}, "), encoding="utf-8")
    with Session(Options(seconds=30)) as session:
        found = least_bound(load(path).model, session, Fraction(1, 10**9), NeedKind.DELTA)  # type: ignore[arg-type]
    assert found.proof == needed(Fraction(4, 5)) == found.low
    assert all(needed(Fraction(k, 40)) <= found.low for k in range(20, 33))


def needed(t: Fraction) -> Fraction:
    """The least delta for the ratio 5/4 with truth t, by fractions."""
    others = binomial(PEOPLE - 1, 1 - t)
    yes = [t * a + (1 - t) * b for a, b in zip([0, *others], [*others, 0], strict=True)]
    no = [(1 - t) * a + t * b for a, b in zip([0, *others], [*others, 0], strict=True)]
    return max(
        sum((max(Fraction(0), a - Fraction(5, 4) * b) for a, b in zip(p, q, strict=True)), Fraction(0))
        for p, q in ((yes, no), (no, yes))
    )
