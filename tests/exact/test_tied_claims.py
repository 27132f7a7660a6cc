"""Claims with a parameter beside its exponential: random ones of known truth, edges, more parameters."""

from __future__ import annotations

import json
from fractions import Fraction

import mpmath
import pytest
from claim_tools import check_witness, kinds, replayed
from tied_claims import known, tied, value
from tools.theorem_tools import case_of

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Interval, sign_in_ring
from paramverify.algebra.polynomials import Ring, Unbounded
from paramverify.answers import Open, Proved, Refuted, Standing
from paramverify.claims import Claim, from_document, to_document, without_unused_ties
from paramverify.errors import LimitError
from paramverify.exact.branching import decide_exactly
from paramverify.exact.logarithms import near_zero
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.exact.univariate import fails_without_witness
from paramverify.kernel.documents import check_text
from paramverify.portfolio.session import Options
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import evidence_document


def step_of(claim: Claim) -> Fraction:
    return claim.domain.ring.tied[0].step


def check(claim: Claim, truth: bool) -> None:
    """Checks the answer with the kernel and, where it is a point, with numbers of 1,000 bits."""
    answer = decide_exactly(claim)
    if truth:
        assert replayed(answer), answer
        return
    assert isinstance(answer, Refuted), answer
    assert value(claim.polynomial, answer.point["x_eps"], step_of(claim)) < 0
    check_witness(to_document(claim), {n: str(v) for n, v in answer.point.items()})


@pytest.mark.parametrize(("kind", "claim", "truth"), [*known(5, 12)], ids=lambda part: str(part)[:12])
def test_random_claims(kind: str, claim: Claim, truth: bool) -> None:
    """Squares, zeros, near misses by 10^-12 and Taylor series get the answers that they are made with."""
    check(claim, truth)


NOTHING_LEFT = ['"1 == 1"', '"eps == eps"', '"eps - eps <= 0"', '["0 <= eps*exp(-eps)", "0 <= eps*0"]']


@pytest.mark.parametrize("holds", NOTHING_LEFT)
@pytest.mark.parametrize("constraint", ["eps <= 1", "eps*exp(-eps) <= 1", "eps < 1"])
def test_nothing_left_beside_a_constraint(holds: str, constraint: str) -> None:
    """A claim about the zero polynomial is proved, whatever constraints say of the parameter itself."""
    text = f'[parameters]\neps = "(0, oo)"\nconstraints = ["{constraint}"]\n[claim]\nholds = {holds}\n'
    case = case_of(text)
    report = verify(case, Options(seconds=30, evidence=2.0))
    assert report.status is Standing.HOLDS
    assert check_text(json.dumps(evidence_document(case, report))).accepted


EDGES = {
    "equal at 0": ("x_eps - 1 + eps", True),
    "one order more": ("1 - eps + eps**2/2 - x_eps", True),
    "equal at infinity": ("eps * x_eps", True),
    "nothing left at infinity": ("1 - eps * x_eps", True),
    "false near 0 only": ("100*eps - 1 + x_eps**10", True),
    "false beside 0": ("eps - 1 + x_eps - eps**2/2 + eps**3/7", False),
    "false far away": ("1000 - eps", False),
    "true though eps grows": ("eps**3 - 10*eps**2 + 26*eps + x_eps", True),
    "zero at a rational eps": ("(eps - 3)**2 * (eps + x_eps)", True),
    "zero at a rational x": ("(3*x_eps - 1)**2 * eps", True),
    "two factors change signs": ("(eps - 3) * (x_eps - 1/20)", False),
    "two touch": ("(eps - 3)**2 * (x_eps - 1/20)**2", True),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges(name: str) -> None:
    """Equality at the ends and zeros inside are told from claims that fail."""
    text, truth = EDGES[name]
    check(tied(text), truth)


def test_intervals_of_x() -> None:
    """On a part of the interval a claim may be true that is false elsewhere; ends count as they are."""
    part = Interval(Fraction(1, 4), Fraction(1, 2), True, True)
    check(tied("eps - 1/2", "1", part), True)
    check(tied("eps - 7/10", "1", part), False)
    check(tied("7/5 - eps", "1", part), True)
    point = Interval(Fraction(1, 2), Fraction(1, 2), True, True)
    check(tied("7/10 - eps", "1", point), True)
    check(tied("eps - 7/10", "1", point), False)


MORE = [
    ("p*x_eps + (1 - p)*(1 + eps) - 1 + p*eps", "", True),
    ("p*x_eps - (1 - p)*eps", "", False),
    ("(1 + eps)*x_eps*p + (1 - p)", "", True),
    ("1 - p*eps", "2 - eps", False),
    ("1 + x_eps - p*eps", "1 - eps", True),
    ("eps - p/3", "eps - 1/2", True),
]


@pytest.mark.parametrize(("text", "above", "truth"), MORE)
def test_further_parameters_and_constraints(text: str, above: str, truth: bool) -> None:
    """With a parameter beside eps, and with constraints on eps, claims are proved and refuted as well."""
    claim = tied(text, "1/2", Interval(Fraction(0), Fraction(1)), "p", above=above)
    answer = decide_exactly(claim)
    assert replayed(answer) if truth else isinstance(answer, Refuted), answer


def test_squares_beside_further_parameters() -> None:
    """An even power may vanish along a curve: it is divided out."""
    unit = Interval(Fraction(0), Fraction(1))
    for text, truth in (("(p - eps)**2*(1 - p*x_eps)", True), ("(p - eps)**2*(p - 2*eps)**3", False)):
        answer = decide_exactly(tied(text, "1", unit, "p"))
        assert replayed(answer) if truth else isinstance(answer, Refuted), answer


def test_it_says_where_it_does_not_separate() -> None:
    """Where the work is over there is no answer, and the place that is left is named."""
    answer = decide_exactly(tied("(eps - 3)**2 + 1/10**12"), RemainingWork(3))
    assert isinstance(answer, Open)
    assert "eps = -ln(x_eps)/1" in answer.detail


def test_a_zero_with_another_parameter() -> None:
    """The zero at eps = p = ln(2) has no rational coordinates, and the claim is proved beside it as well."""
    unit = Interval(Fraction(0), Fraction(1))
    assert replayed(decide_exactly(tied("(p - eps)**2 + (2*x_eps - 1)**2", "1", unit, "p")))


def test_claims_without_eps_are_as_before() -> None:
    """A claim of a tied ring that does not mention eps has the text, and the proof, of an untied one."""
    claim = tied("x_eps*(1 - x_eps)")
    assert "ties" not in to_document(claim)
    smaller = without_unused_ties(claim)
    assert smaller.domain.ring.names == ("x_eps",)
    assert smaller.text() == claim.text()
    answer = decide_exactly(smaller)
    assert isinstance(answer, Proved)
    assert answer.certificate is not None
    assert "logarithm" not in kinds(answer.certificate["proof"])


def test_documents_keep_the_tie() -> None:
    """A claim that is read back from its document is the same claim, also about what is tied."""
    claim = tied("eps*p - x_eps", "2/7", Interval(Fraction(0), Fraction(1)), "p", above="3 - eps")
    again = from_document(to_document(claim))
    assert again.text() == claim.text()
    assert again.domain.ring.tied == claim.domain.ring.tied
    assert tied("eps*p - x_eps", "2/5", Interval(Fraction(0), Fraction(1)), "p").digest() != claim.digest()


@pytest.mark.parametrize("where", ["1/731734", "1/10**9"])
def test_a_zero_near_the_end(where: str) -> None:
    """A factor without eps may fail at x = 0, where eps is no number: a point beside its zero is told."""
    check(tied(f"(x_eps - {where})*(eps + 1)"), False)


def test_cells_that_are_very_far() -> None:
    """The bounds near x = 0 are those of the kernel where x is below all floats, and a power above them."""
    claim = tied("1 - eps*x_eps")
    (tie,) = claim.domain.ring.tied
    for k, power in ((1280, 2), (2000, 2), (1000, 120)):
        part = near_zero(claim, tie, Fraction(1, 2**k), power).part
        least, bound = Fraction(part["least"]), Fraction(part["bound"])
        assert power <= least <= 1_000
        most = mpmath.mpf(int(8 * least)) ** power * mpmath.exp(-mpmath.mpf(int(8 * least)) / 8)
        assert 1 <= mpmath.mpf(bound.numerator) / bound.denominator * 8**power / most <= 5


def test_large_powers_are_left_open() -> None:
    """A power that needs more work than there is gets no answer before that work begins."""
    answer = decide_exactly(tied("10**52 - x_eps*eps**20"), RemainingWork(300, 500_000))
    assert isinstance(answer, Open), answer


def test_signs_where_another_constant_does_not_occur() -> None:
    """The sign of a constraint on eps is known beside E and beside another eps that do not occur in it."""
    one, two = (Unbounded(n, f"x_{n}", Fraction(1), True) for n in ("eps", "mu"))
    ring = Ring(("x_eps", "x_mu"), ExpConstant(Fraction(1)), (one, two))
    at = {"x_eps": Fraction(1, 2), "x_mu": Fraction(1, 3)}
    for name, sign in (("eps", -1), ("mu", 1)):
        assert sign_in_ring(ring, ring.variable(name) - 1, at) == sign
    with pytest.raises(LimitError, match="dependent"):
        sign_in_ring(ring, ring.variable("eps") - ring.variable("mu"), at)


def test_a_domain_that_is_one_number() -> None:
    """`eps == 1` holds at no rational x_eps: whether there is a point is not told, and nothing breaks."""
    claim = tied("-1", above="eps - 1")  # half of the equation is enough
    assert not fails_without_witness(claim)
