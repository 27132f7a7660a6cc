"""Budgets and intervals where a parameter stands beside its exponential, against numbers of mpmath."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

from paramverify.algebra.real_roots import RealRoot
from paramverify.cli.main import run
from paramverify.errors import InputError
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase, load, read_case
from paramverify.reports.case_budgets import evidence
from paramverify.reports.synthesis_reports import partition_lines
from paramverify.synthesis.case_budget import case_budget
from paramverify.synthesis.intervals import Partition
from paramverify.synthesis.maps import Status
from paramverify.synthesis.safe_values import Intervals, safe_values
from paramverify.tables import TomlDocument

CASES = Path(__file__).parents[2] / "cases"
COMPARED = "x = q[0] + laplace(2/eps)\ny = q[1] + laplace(2/eps)\noutput(x - y > 1)"


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(Options(seconds=60)) as opened:
        yield opened


def inequality(text: str) -> PrivacyCase:
    return read_case(TomlDocument({"parameters": {"eps": "(0, oo)"}, "claim": {"holds": text}}, path="case"))


def program(source: str, epsilon: str, constraints: list[str], values: str = "0..1") -> PrivacyCase:
    data = {
        "parameters": {"eps": "(0, oo)", "constraints": constraints},
        "mechanism": {
            "kind": "program",
            "source": source,
            "inputs": {"q": {"length": 2, "values": values}},
        },
        "neighbours": {"differ": "each"},
        "privacy": {"epsilon": epsilon},
    }
    return read_case(TomlDocument(data, path="case"))


def parts(case: PrivacyCase, session: Session) -> Partition:
    found = safe_values(case, session)
    assert isinstance(found, Intervals)
    return found.partition


def test_intervals_of_a_claim(session: Session) -> None:
    """The ends of the intervals are zeros that mpmath finds too, and the text tells eps there."""
    case = inequality("(1 + eps)*exp(-eps) >= 1/2")
    found = parts(case, session)
    assert [p.status for p in found.parts] == [Status.VIOLATING, Status.SAFE]
    (end,) = {p.upper for p in found.parts[:1]}
    root = mpmath.findroot(lambda e: (1 + e) * mpmath.exp(-e) - 0.5, 1.7)
    small = end.refined(Fraction(1, 10**12))
    assert abs(float(small.lower) - mpmath.exp(-root)) < 1e-11
    told = partition_lines(case, found, {})
    assert any("a root of 2*x_eps*eps + 2*x_eps - 1, where eps ≈ 1.67835" in line for line in told)


def test_algebraic_and_other_ends(session: Session) -> None:
    """Zeros of polynomials in x, in eps and in both stand in their order; double ones change nothing."""
    text = "(eps - 1)*(eps - 3)*(exp(-eps) - 1/50)*(eps*exp(-eps) - 1/100)*(eps - 2)**2 >= 0"
    found = parts(inequality(text), session)
    ends = [float(p.upper.refined(Fraction(1, 10**9)).lower) for p in found.parts[:-1]]
    zeros = [
        1,
        3,
        mpmath.log(50),
        *(mpmath.findroot(lambda e: e * mpmath.exp(-e) - 0.01, s) for s in (0.01, 6.5)),
    ]
    assert ends == pytest.approx(sorted(float(mpmath.exp(-z)) for z in zeros), abs=1e-8)
    assert isinstance(found.parts[1].upper, RealRoot)
    statuses = [p.status for p in found.parts]
    assert statuses == [Status.SAFE, Status.VIOLATING] * 3
    for part in found.parts:
        assert part.sample is not None
        eps = -mpmath.log(mpmath.mpf(part.sample.numerator) / part.sample.denominator)
        value = (eps - 1) * (eps - 3) * (mpmath.exp(-eps) - 0.02) * (eps * mpmath.exp(-eps) - 0.01)
        assert (value > 0) == (part.status is Status.SAFE)


def test_other_parameters_have_no_intervals(session: Session) -> None:
    """With another parameter beside eps the answer says what is not covered."""
    data = {"parameters": {"eps": "(0, oo)", "p": "(0, 1)"}, "claim": {"holds": "exp(-eps) + p*eps >= 1/2"}}
    with pytest.raises(InputError, match="eps occurs both by itself and as exp"):
        safe_values(read_case(TomlDocument(data, path="case")), session)


def largest(eps: float) -> float:
    """Returns the largest ratio of Pr(x - y > 1) and of its complement, for differences 0 and ±1 of q."""

    def above(c: float) -> float:
        share = (1 / 2 + eps * abs(c) / 8) * mpmath.exp(-eps * abs(c) / 2)
        return float(share if c >= 0 else 1 - share)

    rows = {d: above(1 - d) for d in (-1, 0, 1)}
    pairs = [(a, b) for a in rows.values() for b in rows.values()]
    return max(max(a / b, (1 - a) / (1 - b)) for a, b in pairs)


@pytest.mark.slow
def test_a_budget_between_bounds(session: Session) -> None:
    """On eps ≤ 1 the largest ratio is that at eps = 1, which no rational x reaches: the bounds enclose it."""
    case = program(COMPARED, "2*eps", ["eps <= 1"])
    assert isinstance(case.model, Model)
    found = case_budget(case.model, session, Fraction(1, 10**2)).ratio
    assert found.high is not None
    assert found.proof is not None
    assert float(found.low) - 1e-9 <= largest(1) <= float(found.high) + 1e-9
    assert found.high - found.low <= found.low / 10**2


def test_a_budget_without_limit(session: Session) -> None:
    """For all eps the ratio grows without limit; relative to the case's own bound it tends to 1 with eps."""
    case = load(CASES / "programs" / "sparse-vector-laplace-every-epsilon.toml")
    assert isinstance(case.model, Model)
    found = case_budget(case.model, session, Fraction(1, 10**6))
    assert found.ratio.infinite
    assert found.relative is not None
    assert found.relative.upper == found.relative.lower == 1
    assert found.relative.proof is not None
    with pytest.raises(InputError, match="the evidence of a budget does not support"):
        evidence(case, found, session)


@pytest.mark.slow
def test_solvers_cannot_read_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Solvers alone leave such a claim undecided with the reason, and formats refuse it with the term."""
    case = str(CASES / "exponential-mean.toml")
    assert run(["verify", case, "--backends", "z3"]) == 3
    assert "eps occurs beside exp(-eps/2), but z3 supports only polynomials" in capsys.readouterr().out
    for form in ("smtlib2", "qepcad", "redlog"):
        assert run(["export", case, "--to", form, "--claim", "1"]) == 2
        assert "eps occurs together with exp(-eps/2), which is not a polynomial" in capsys.readouterr().err
    leaks = str(CASES / "programs" / "sparse-vector-never-stops-every-epsilon.toml")
    assert run(["export", leaks, "--to", "smtlib2", "--encoding", "monolithic", "--claim", "1"]) == 2
    assert "the monolithic encoding does not support" in capsys.readouterr().err
