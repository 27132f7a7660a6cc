"""Evidence of kl, zcdp and least divergences: accepted as written, and no part may mean something else."""

from __future__ import annotations

import copy
import json
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pytest
from document_changes import Change, Document, out, put, together

from paramverify.kernel.documents import check_text
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.reports import case_budgets
from paramverify.reports.case_evidence import evidence_document
from paramverify.reports.evidence_checks import Checked, checked

CASES = Path(__file__).parents[2] / "cases" / "divergences"
SURVEY, BELOW = CASES / "survey-zcdp.toml", CASES / "geometric-zcdp-below.toml"
EXPONENTIAL = """
title = "Noise with an exponential, and a constraint"
[parameters]
p = "[1/4, 3/4]"
q = "[1/4, 3/4]"
constraints = ["p + q <= 5/4"]
[prior]
A = { bernoulli = "p" }
B = { bernoulli = "q" }
[mechanism]
kind = "geometric"
query = "A + B"
noise = { truncated_geometric = "exp(-1/2)", range = 2 }
[secrets]
a = "A == 1"
b = "A == 0"
pairs = [["a", "b"]]
[privacy]
"""


def verified(path: Path) -> Document:
    """The evidence of a verdict."""
    case = load(path)
    found: Document = json.loads(json.dumps(evidence_document(case, verify(case, Options(seconds=30)))))
    return found


def least(path: Path, precision: Fraction) -> Document:
    """The evidence of a least bound."""
    case = load(path)
    with Session(Options(seconds=30)) as session:
        found = case_budgets.find(case, session, precision)
        document: Document = json.loads(json.dumps(case_budgets.least_of(case).evidence(found, session)))
    return document


def check(document: Document, path: Path | None) -> Checked:
    """What the checker says, with the case file or without."""
    return checked(json.dumps(document), str(path) if path else None)


def accepted(document: Document, path: Path) -> str:
    """The lines about evidence that is accepted with the case, by the second reader too, and without."""
    found = check(document, path)
    assert found.report.accepted, found.report.lines
    assert found.look is not None
    assert found.look.compared
    assert check_text(json.dumps(document)).accepted
    return "\n".join(found.report.lines)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Case files by their names."""
    folder = tmp_path_factory.mktemp("cases")
    texts = {
        "kl": SURVEY.read_text().replace('zcdp = "3/5"', 'kl = "ln(3)/2 + 1/100"'),
        "exponential": f'{EXPONENTIAL}kl = "ln(2)/5 + 1/100"\n',
        "broken": f'{EXPONENTIAL}kl = "1/200"\n',
        "endless": f'{EXPONENTIAL}kl = "1/200"\n'.replace(
            '{ truncated_geometric = "exp(-1/2)", range = 2 }',
            '{ table = [["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]] }',
        ),
        "equal": f'{EXPONENTIAL}zcdp = "1/200"\n'.replace('"A + B"', '"B"').replace(
            '"exp(-1/2)", range = 2', '"exp(-1/2)", range = 1'
        ),
    }
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text)
    return {name: folder / f"{name}.toml" for name in texts}


@pytest.fixture(scope="module")
def survey() -> Document:
    """Evidence that 3/5 is enough, on boxes with orders."""
    return verified(SURVEY)


@pytest.fixture(scope="module")
def below() -> Document:
    """Evidence that 1/5 is not enough."""
    return verified(BELOW)


@pytest.fixture(scope="module")
def budget() -> Document:
    """Evidence of the least zcdp of the survey."""
    return least(SURVEY, Fraction(1, 100))


@pytest.mark.parametrize("name", ["kl", "exponential", "broken", "endless", "equal"])
def test_true_evidence_is_accepted(files: dict[str, Path], name: str) -> None:
    """Bounds with logarithms, exponentials, constraints, and equal or impossible outputs are replayed."""
    document = verified(files[name])
    told = accepted(document, files[name])
    assert document["status"] == ("violated" if name in ("broken", "endless") else "holds")
    assert ("evaluated again" in told) == (document["status"] == "violated")
    if name == "endless":
        assert document["witness"]["value"] == "infinity"


def test_boxes_have_orders(survey: Document) -> None:
    """The tree of zcdp has boxes with orders, and one on which pure privacy is enough."""
    assert "claim 1 (0 against 1, all outputs together): proved on 4 boxes" in accepted(survey, SURVEY)
    orders = [token[1] for token in survey["statements"][0]["tree"] if token[0] == "+"]
    assert [] in orders
    assert max(map(len, orders)) > 1


TREE = ("statements", 0, "tree")
# What the kernel alone notices, and what only the case shows.
PROOFS: list[Change] = [
    put("statements", 0, "bound", value=["1/2", []]),
    put("statements", 0, "bound", value=["0", [["1/5", "3/2"]]]),
    put(*TREE, value=[]),
    out(*TREE, 0),
    put(*TREE, 0, value=["cut", "t", "3/4"]),
    put(*TREE, 0, value=["cut", "t", "45/64"]),
    put(*TREE, 1, value=["outside", 0]),
    out(*TREE, -1, 1, 0),
    out(*TREE, -1, 1, 1),
    put(*TREE, -1, 1, 0, value="1"),
    put("domains", 0, "box", "t", value="[1/2, 4/5]"),
    put("domains", 0, "box", "t", value="[0, 3/4]"),
    put("statements", 0, "outputs", 0, 0, value="-t + 2"),
    put("statements", 0, "total", value="2"),
    put("statements", 0, "factors", 0, value="t - 2"),
    put("statements", 0, "products", 1, value=["-1/2", [[0, 1]]]),
    put("statements", 0, "of", value="kl"),
    put("statements", 0, "origins", 1, value=["0", "1", 1]),
]
CASE_ONLY: list[Change] = [
    put("statements", 0, "bound", value=["0", [["1", "2"]]]),
    put("domains", 0, "box", "t", value="[1/2, 3/4)"),
    out("statements", 0, "origins", 1),
    put("statements", 0, "origins", 1, value=["1", "0", 2]),
    put("case", "digest", value="0" * 64),
    together(
        put("statements", 0, "outputs", value=[["1/2", "1/2"]] * 2),
        put("statements", 0, "products", value=[["1", []], *[["1/2", []]] * 4]),
        put("statements", 0, "factors", value=[]),
        put("statements", 0, "tree", value=[["+", []]]),
    ),
]


@pytest.mark.parametrize("forge", PROOFS)
def test_forged_proofs_are_refused(survey: Document, forge: Change) -> None:
    """The kernel alone refuses a document whose trees do not show its claims."""
    document = copy.deepcopy(survey)
    forge(document)
    assert document != survey
    assert not check_text(json.dumps(document)).accepted


@pytest.mark.parametrize("forge", CASE_ONLY)
def test_evidence_of_something_else_is_refused(survey: Document, forge: Change) -> None:
    """With the case, only evidence about its claims is accepted."""
    document = copy.deepcopy(survey)
    forge(document)
    assert not check(document, SURVEY).report.accepted


WITNESS: list[Change] = [
    put("witness", "order", value="2"),
    put("witness", "value", 0, value="1/2"),
    put("witness", "value", value="infinity"),
    put("witness", "bound", value="1/10"),
    put("witness", "exceeds", value=False),
    put("witness", "parameters", "p", value="1/2"),
    put("witness", "parameters", "p", value="0"),
    put("witness", "secrets", value=["anything", "somebody"]),
    put("witness", "claim", "total", value="2"),
    put("witness", "claim", "bound", value=["1/4", []]),
]
WITNESS_OF_CASE: list[Change] = [
    put("witness", "claim", "bound", value=["1/10", []]),
    put("witness", "largest", 0, "probabilities", 0, value="1/2"),
    put("domains", 0, "box", "p", value="[0, 1]"),
]


@pytest.mark.slow
@pytest.mark.parametrize("forge", WITNESS)
def test_forged_witnesses_are_refused(below: Document, forge: Change) -> None:
    """The kernel alone encloses the divergence of a witness, and compares it with the bound."""
    document = copy.deepcopy(below)
    forge(document)
    assert not check_text(json.dumps(document)).accepted


@pytest.mark.parametrize("forge", WITNESS_OF_CASE)
def test_witnesses_of_something_else_are_refused(below: Document, forge: Change) -> None:
    """With the case, only its own numbers are accepted."""
    document = copy.deepcopy(below)
    forge(document)
    assert not check(document, BELOW).report.accepted


def test_the_witness_by_decimals(below: Document) -> None:
    """The divergence that the kernel accepts is that of its order, computed with decimals of 40 digits."""
    accepted(below, BELOW)
    written = below["witness"]
    p, order = Fraction(written["parameters"]["p"]), Fraction(written["order"])
    row = [[Fraction(2, 3), Fraction(1, 6), Fraction(1, 6)], [Fraction(1, 3)] * 3]
    row.append(row[0][::-1])
    infected = [(1 - p) ** 2, 2 * p * (1 - p), p**2]
    ill = [Fraction(0), *(w / (1 - infected[0]) for w in infected[1:])]
    sides = [
        [sum(w * r[k] for w, r in zip(prior, row, strict=True)) for k in range(3)]
        for prior in (ill, infected)
    ]
    with localcontext() as context:
        context.prec = 40

        def decimal(value: Fraction) -> Decimal:
            return Decimal(value.numerator) / Decimal(value.denominator)

        total = sum(
            decimal(one) ** decimal(order) * decimal(other) ** decimal(1 - order)
            for one, other in zip(*sides, strict=True)
        )
        value = Decimal(total).ln() / decimal(order - 1)
        low, high = (decimal(Fraction(end)) for end in written["value"])
        assert low - Decimal("1e-30") <= value <= high + Decimal("1e-30")
        assert value > decimal(order / 5)


BUDGET: list[Change] = [
    put("budget", "enough", value="1/2"),
    put("budget", "enough", value=None),
    together(put("budget", "enough", value="1/2"), put("statements", 0, "bound", value=["1/2", []])),
    put("budget", "kind", value="kl"),
    put("budget", "witnesses", 0, "parameters", "t", value="4/5"),
    put("budget", "witnesses", 0, "value", value=["1", "1"]),
    put("budget", "witnesses", 0, "bound", value=["0", "10"]),
    put("budget", "witnesses", 0, "order", value="3"),
    out(*TREE, -1),
]


@pytest.mark.slow
def test_the_least_zcdp(budget: Document) -> None:
    """The number that is enough is replayed, and the point below it is evaluated again."""
    told = accepted(budget, SURVEY)
    number = budget["budget"]["enough"]
    assert f"budget: the least zcdp is at most {number}, proved; it is at least 0.5493061" in told
    assert Decimal(3).ln() / 2 <= Decimal(Fraction(number).numerator) / Fraction(number).denominator


@pytest.mark.parametrize("measure", ["kl", "zcdp"])
def test_no_bound_has_evidence(files: dict[str, Path], tmp_path: Path, measure: str) -> None:
    """Where an output is possible on one side only, no number is enough, and the point is evaluated again."""
    path = tmp_path / "endless.toml"
    path.write_text(files["endless"].read_text().replace("kl =", f"{measure} ="))
    document = least(path, Fraction(1, 100))
    assert document["budget"]["enough"] is None
    assert f"budget: the least {measure} is infinite" in accepted(document, path)


@pytest.mark.parametrize("forge", BUDGET)
def test_forged_least_losses_are_refused(budget: Document, forge: Change) -> None:
    """A budget of which one part means something else is not accepted."""
    document = copy.deepcopy(budget)
    forge(document)
    assert not check(document, SURVEY).report.accepted


MOMENT = CASES / "geometric-chi-squared.toml"
SUMS: list[Change] = [
    put("budget", "bound", value=["7", "5"]),
    put("budget", "witnesses", 0, "moment", value="5/4"),
    put("budget", "witnesses", 0, "order", value=3),
    put("statements", value=[]),
]


@pytest.fixture(scope="module")
def sums() -> Document:
    """Evidence of the least chi squared, which is approached."""
    return least(MOMENT, Fraction(1, 1000))


def test_the_least_chi_squared(sums: Document) -> None:
    """The largest sum is proved as a bound of the claims; sums that come near it are evaluated again."""
    assert "the largest sum of all outputs is at most 3/2 (1.5), proved" in accepted(sums, MOMENT)
    assert sums["budget"]["bound"] == ["3", "2"]


@pytest.mark.parametrize("forge", SUMS)
def test_forged_least_sums_are_refused(sums: Document, forge: Change) -> None:
    """A budget of which one part means something else is not accepted."""
    document = copy.deepcopy(sums)
    forge(document)
    assert document != sums
    assert not check(document, MOMENT).report.accepted
