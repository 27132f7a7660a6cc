"""Strict claims with eps beside exp(-eps): limits at ends, points where they fail, and constraints."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import cycle

import pytest
from claim_tools import check_witness, replayed
from tied_claims import known, tied, value
from tools.theorem_tools import case_of

from paramverify.answers import Open, Proved, Refuted, Standing
from paramverify.claims import Claim, positive, to_document
from paramverify.exact.branching import decide_exactly
from paramverify.kernel.documents import check_text
from paramverify.portfolio.session import Options
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import evidence_document


def strictly(claim: Claim) -> Claim:
    """The claim that the polynomial is positive."""
    return positive(claim.polynomial, claim.domain)


def check(claim: Claim, truth: bool) -> None:
    """Checks the answer to the strict claim with the kernel and, if it is a point, with 1,000 bits."""
    strict = strictly(claim)
    answer = decide_exactly(strict)
    if truth:
        assert replayed(answer), answer
        return
    assert isinstance(answer, Refuted), answer
    assert value(claim.polynomial, answer.point["x_eps"], claim.domain.ring.tied[0].step) <= 0
    check_witness(to_document(strict), {n: str(v) for n, v in answer.point.items()})


STRICT = {"a zero": False, "just above": True, "just below": False, "a series": True, "a wrong series": False}


@pytest.mark.parametrize(("kind", "claim", "_"), [*known(11, 12)], ids=lambda part: str(part)[:12])
def test_random_claims(kind: str, claim: Claim, _: bool) -> None:
    """Near misses by 10^-12, zeros and Taylor series get the answers that they are made with."""
    if kind in STRICT:
        check(claim, STRICT[kind])


ENDS = {
    "zero at both ends": ("eps*x_eps", True),
    "zero at both ends, of higher order": ("eps**3*x_eps**2", True),
    "zero at eps = 0": ("eps - 1 + x_eps", True),
    "zero at eps = 0, a power of eps far away": ("1 - x_eps - eps*x_eps", True),
    "zero far away": ("x_eps", True),
    "zero far away, beside a constant": ("x_eps + eps*x_eps", True),
    "bounded away from zero": ("1 + eps*x_eps", True),
    "a maximum just below": ("5413412/10**7 - eps**2*x_eps", True),
    "a maximum just above": ("5413411/10**7 - eps**2*x_eps", False),
    "a maximum well above": ("3/10 - eps*x_eps", False),
    "nothing of a maximum": ("5 - eps*x_eps", True),
    "a rational zero inside": ("(3*x_eps - 1)**2*eps", False),
    "zero everywhere": ("eps - eps", False),
    "a product of all these": ("eps*x_eps*(1 + eps*x_eps)*(1 - x_eps)", True),
    "negative near eps = 0": ("eps/100 - 1 + x_eps", False),
    "negative far away": ("1000 - eps", False),
}


@pytest.mark.parametrize("step", ["1", "1/2"])
@pytest.mark.parametrize("name", ENDS)
def test_ends(name: str, step: str) -> None:
    """A limit at an open end may be zero; a zero inside may not."""
    text, truth = ENDS[name]
    if step == "1" or not {"just", "power"} & {*name.split()}:
        check(tied(text, step), truth)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["(eps - 3)**2"])
def test_irrational_zeros_are_no_proof(text: str) -> None:
    """Where f is zero at a point that is not rational, the strict claim is false: it is never proved."""
    assert not isinstance(decide_exactly(strictly(tied(text))), Proved)


CASES = {
    "eps*exp(-eps) < 0.3": Standing.VIOLATED,
    "eps*exp(-eps) > -1": Standing.HOLDS,
    "eps*exp(-eps) < 5": Standing.HOLDS,
    "eps**2*exp(-eps) < 0.5413411": Standing.VIOLATED,
    "eps*exp(-eps) > 0": Standing.HOLDS,
    "(1 + eps)*exp(-eps) < 1": Standing.HOLDS,
    "p*eps*exp(-eps) < 1": Standing.HOLDS,
}
CONSTRAINTS = ("eps <= 1", "eps > 2", "p < 1/2", "eps*exp(-eps) <= 1/10")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("holds", "constraint"), [*((holds, "") for holds in CASES), *zip(CASES, cycle(CONSTRAINTS))]
)
def test_cases(holds: str, constraint: str) -> None:
    """Cases with and without constraints are decided, and their evidence is accepted."""
    more = f'constraints = ["{constraint}"]\n' if constraint else ""
    text = f'[parameters]\neps = "(0, oo)"\np = "(0, 1)"\n{more}[claim]\nholds = "{holds}"\n'
    case = case_of(text)
    report = verify(case, Options(seconds=30, evidence=5.0))
    if not constraint or CASES[holds] is Standing.HOLDS:
        assert report.status is CASES[holds]
    else:
        assert report.status is not Standing.UNKNOWN
    assert check_text(json.dumps(evidence_document(case, report))).accepted


@pytest.mark.slow
def test_values_of_the_maximum() -> None:
    """Both sides of 4/e^2 are told apart up to 12 digits."""
    digits = Fraction(541341132946, 10**12)
    for claimed, truth in ((digits + Fraction(1, 10**12), True), (digits, False)):
        check(tied(f"{claimed} - eps**2*x_eps"), truth)


def test_another_claim_is_not_taken_for_a_strict_one() -> None:
    """A claim about a constraint that leaves points keeps its points."""
    claim = strictly(tied("-1 - eps*x_eps"))
    assert isinstance(decide_exactly(claim), Refuted)
    assert not isinstance(decide_exactly(strictly(tied("(eps - 1)*x_eps"))), (Proved, Open))
