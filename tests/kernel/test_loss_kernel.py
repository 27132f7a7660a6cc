"""The kernel of kl and zcdp by itself: outputs are distributions, and a witness tells its own numbers."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mpmath import mp
from three_checkers import agreed
from written_evidence import Json, evidence, with_first

from paramverify.kernel.documents import check_text
from paramverify.kernel.loss_evidence import bound_of, check_signs
from paramverify.kernel.strict_reading import Rejected

DOMAIN: Json = {"variables": ["t"], "box": {"t": "[1/2, 3/4]"}, "constraints": []}


def claim(outputs: list[list[str]], bound: str) -> Json:
    """The claim that outputs with constant probabilities are within a bound."""
    stated = {"domain": 0, "of": "kl", "bound": [bound, []], "total": "1", "outputs": outputs}
    return {**stated, "origins": [["a", "b", 1]]}


def document(outputs: list[list[str]], bound: str) -> Json:
    """Evidence that they are."""
    products = [["1", []], *([text, []] if text != "0" else None for pair in outputs for text in pair)]
    shown = {"factors": [], "products": products, "tree": [["+", []]]}
    return evidence("holds", [DOMAIN], {"kind": "average", **claim(outputs, bound), **shown})


def violation(outputs: list[list[str]], bound: str, told: str | list[str] | None = None) -> Json:
    """Evidence that outputs are too far apart."""
    witness = {
        "kind": "average",
        "parameters": {"t": "1/2"},
        "secrets": ["a", "b"],
        "length": 1,
        "measure": "kl",
        "value": "infinity",
        "bound": told or bound,
        "exceeds": True,
        "largest": [],
        "claim": claim(outputs, bound),
    }
    return evidence("violated", [DOMAIN], witness=witness)


def is_accepted(given: Json) -> bool:
    """Tells whether the kernel accepts a document."""
    return check_text(json.dumps(given)).accepted


def test_two_distributions_are_compared() -> None:
    """KL of (3/4, 1/4) and (1/4, 3/4) is ln(3)/2, which is 0.549306..."""
    outputs = [["3/4", "1/4"], ["1/4", "3/4"]]
    assert is_accepted(document(outputs, "549307/1000000"))
    assert not is_accepted(document(outputs, "549306/1000000"))
    assert is_accepted(document([["1/2", "1/2"]] * 2, "0"))
    negative = check_text(json.dumps(document(outputs, "-1/2")))
    assert negative.lines == ("rejected: the bound of a claim is not at least 0",)


NEAR, ORDERS = [["2/3", "1/3"], ["1/3", "2/3"]], ["9/8", "5/4", "3/2", "2"]
SURE = [["1", "1/2"], ["0", "1/2"]]  # KL is ln(2)
TURNED = [["t", "-t + 1"], ["-t + 1", "t"]]  # KL is at most ln(3)/2, and shown to be below 9/10
ONCE = {"factors": ["t", "-t + 1"], "products": [["1", []], *([["1", [[k, 1]]] for k in (0, 1, 1, 0)])]}


@pytest.mark.parametrize(
    ("given", "change", "right"),
    [
        *((document(SURE, bound), {}, right) for bound, right in (("7/10", True), ("69/100", False))),
        (document(TURNED, "9/10"), ONCE, True),
        (document(TURNED, "9/10"), {**ONCE, "products": [["1", []], *[["1", [[0, 1]]]] * 4]}, False),
        (
            document([["2/3", "1/3"], ["1/3", "2/3"]], "1"),
            {"tree": [["+", ["2"]]]},
            False,
        ),  # kl has no orders
        *(  # D_∞ = ln(2) is at most ρ·z for the largest order z
            (document(NEAR, "2/5"), {"of": "zcdp", "tree": [["+", ORDERS[:n]]]}, n == 4) for n in (0, 3, 4)
        ),
    ],
)
def test_trees_of_one_leaf(given: Json, change: Json, right: bool) -> None:
    """A bound of the box is that of all outputs, with their products, and of the orders that are named."""
    report = check_text(json.dumps(with_first(given, **change)))
    assert report.accepted == right, report.lines


# Σ Q·ψ(P/Q) is small for these, and Σ P·ln(P/Q) is not, for P and Q do not sum to 1.
NO_DISTRIBUTIONS: list[list[list[str]]] = [
    [],
    [["2", "1"]],
    [["1", "1/2"]],
    [["1/2", "1"], ["1/2", "1"]],
    [["3/4", "1/4"], ["1/4", "1/4"]],
    [["1/2", "0"], ["1/2", "1"]],  # they do, and KL is infinite
]


@pytest.mark.parametrize("outputs", NO_DISTRIBUTIONS)
def test_what_does_not_sum_to_one_is_refused(outputs: list[list[str]]) -> None:
    """The bound of a box is one of KL for distributions only."""
    assert not is_accepted(document(outputs, "100"))


def test_a_witness_has_distributions_and_its_bound() -> None:
    """Also where the divergence is infinite."""
    outputs = [["1/2", "0"], ["1/2", "1"]]
    assert is_accepted(violation(outputs, "1/10"))
    assert not is_accepted(violation(outputs, "1/10", "1/5"))
    other = violation(outputs, "1/10", "1/5")
    other["witness"] |= {"measure": "zcdp", "order": "2"}
    assert "the claims are about another measure" in check_text(json.dumps(other)).lines[-1]
    other["witness"]["claim"]["of"] = "zcdp"
    assert is_accepted(other)
    assert not is_accepted(violation(outputs, "1/10", ["0", "1"]))
    assert not is_accepted(violation([["1/2", "0"], ["1", "1"]], "1/10"))
    assert not is_accepted(violation([["1/2", "0"], ["1/2", "2"]], "1/10"))


def test_all_claims_have_one_domain_measure_and_bound() -> None:
    """Claims of one document do not differ in these."""
    given = document([["3/4", "1/4"], ["1/4", "3/4"]], "3/5")
    (own,) = given["statements"]
    other = {**own, "origins": [["b", "a", 1]]}
    both = {**given, "domains": [DOMAIN, {**DOMAIN, "box": {"t": "[1/2, 1]"}}]}
    assert is_accepted({**both, "statements": [own, other]})
    for change in ({"bound": ["1", []]}, {"of": "zcdp"}, {"domain": 1}):
        report = check_text(json.dumps({**both, "statements": [own, {**other, **change}]}))
        (name,) = change
        assert report.lines == (f"rejected: the statements have different values of {name!r}",)


def test_probabilities_whose_sign_is_not_plain() -> None:
    """A line says once that the case has to show it; where all have one sign on the box, there is none."""
    first, second = "t^2 - 5/4*t + 2/5", "-t^2 + 5/4*t + 3/5"
    given = document([[first] * 2, [second] * 2], "1/100")
    products = [["1", []], *[["1", [[0, 1]]]] * 2, *[["1", [[1, 1]]]] * 2]
    given = with_first(
        given, factors=[first, second], products=products, tree=[["cut", "t", "5/8"], *[["+", []]] * 2]
    )
    (own,) = given["statements"]
    both = {**given, "statements": [own, {**own, "origins": [["b", "a", 1]]}]}
    missing = "that no probability is negative"
    for found, count in ((given, 1), (both, 2)):
        report = check_text(json.dumps(found))
        assert (report.accepted, report.proved) == (True, count)
        assert [line for line in report.not_compared if line == missing] == [missing]
    plain = check_text(json.dumps(document([["3/4", "1/4"], ["1/4", "3/4"]], "3/5")))
    assert missing not in plain.not_compared


def test_signs_of_probabilities() -> None:
    """All have one sign, from those of their factors x and y, or their own if one of these is not plain."""
    for c, d, n, known in product((1, -2), (1, -2), (1, 2, 3), product((-1, 0, 1), repeat=3)):
        products = [["1", []], [str(c), [[0, n]]], None, [str(d), [[0, 1], [1, 1]]], None]
        about = {"total": "1", "outputs": [["z", "0"], ["z", "0"]]}
        values = c * (1 if n == 2 else known[0]), d * known[0] * known[1]
        found = {(value and value // abs(value)) or known[2] for value in values}
        signs: Any = SimpleNamespace(
            of=lambda poly, known=known: known[next(iter(poly)).index(1)],  # of one of the three names
        )
        given = {"factors": ["x", "y"], "products": products, **about}
        if {1, -1} <= found:
            with pytest.raises(Rejected, match="a probability is negative"):
                check_signs(signs, given, ("x", "y", "z"))
        else:
            assert check_signs(signs, given, ("x", "y", "z")) == (0 not in found)


OUTPUTS = [["3/4", "1/4"], ["1/4", "3/4"]]
LEAST = {"kind": "kl", "enough": "3/5", "witnesses": []}


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        ({**LEAST, "kind": "zcdp"}, "budget.kind: the claims are about another divergence than the case"),
        ({**LEAST, "enough": "1/1000"}, "budget.enough: the claims have another bound than the case"),
        ({**LEAST, "enough": None}, "status: a budget must have a number exactly if the claims hold there"),
    ],
)
def test_a_budget_is_what_its_claims_say(budget: Json, reason: str, tmp_path: Path) -> None:
    """The measure, and the number that is enough, are those of the claims; both checkers say so."""
    right = {**document(OUTPUTS, "3/5"), "budget": LEAST}
    wrong = {**right, "budget": budget}
    report = check_text(json.dumps(right))
    assert report.status == "budget"
    assert "the kl in the claims is said to be 3/5" in " ".join(report.lines)
    empty = check_text(json.dumps(evidence("holds", [DOMAIN], budget=LEAST)))
    assert empty.lines == ("rejected: a claim of the case has no proof",)
    assert check_text(json.dumps(wrong)).lines == (f"rejected: {reason}",)
    assert agreed([right], tmp_path) == {"accepted": 1}
    assert agreed([wrong], tmp_path / "wrong") == {"rejected": 1}


def test_a_budget_beside_a_violation(tmp_path: Path) -> None:
    """A violation shows no number; a budget without one is about the measure of the claim."""
    broken = violation([["1/2", "0"], ["1/2", "1"]], "1/10")
    none = {**LEAST, "enough": None}
    wrong = [{**broken, "budget": stated} for stated in (LEAST, {**none, "kind": "zcdp"})]
    assert agreed([broken, {**broken, "budget": none}], tmp_path) == {"accepted": 2}
    lines = check_text(json.dumps({**broken, "budget": none})).lines
    assert any("the kl in the claims is said to be none" in line for line in lines), lines
    assert agreed(wrong, tmp_path / "wrong") == {"rejected": len(wrong)}


def test_a_witness_knows_no_logarithms(tmp_path: Path) -> None:
    """As statements about a divergence or a sum, the claim of a witness is about no domain with `ties`."""
    broken = violation([["1/2", "0"], ["1/2", "1"]], "1/10")
    tied = {"variables": ["t", "l"], "box": {"t": "[1/2, 3/4]"}, "constraints": [], "ties": {"l": ["t", "1"]}}
    sums = {"domain": 0, "room": "1/4", "terms": ["2*t - 1"], "origins": [["a", "b", 1]]}
    told = {"outputs": [["x"]], "probabilities": ["3/4", "1/4"], "delta": "1/4", "beyond": "1/2"}
    about = {name: broken["witness"][name] for name in ("secrets", "length", "exceeds")}
    place = {"parameters": {"t": "3/4"}, "bound": "1"}
    other = {**broken, "witness": {"kind": "set", "claim": sums, **place, **told, **about}}
    assert agreed([broken, other], tmp_path) == {"accepted": 2}
    plus = {"kind": "bernstein", "tree": ["+"]}
    tree = {"kind": "parts", **sums, "room": "1/2", "tree": [["+", 0, plus], plus]}
    kept = document(OUTPUTS, "3/5"), evidence("holds", [DOMAIN], tree)
    assert agreed(kept, tmp_path / "kept") == {"accepted": 2}
    made = [{**each, "domains": [tied]} for each in (broken, other, *kept)]
    for each in (broken, other):
        point = {**each["witness"]["parameters"], "l": "0"}
        made.append({**each, "domains": [tied], "witness": {**each["witness"], "parameters": point}})
    assert agreed(made, tmp_path / "tied") == {"rejected": len(made)}


@pytest.mark.parametrize(
    "written",
    [
        ["1/3", []],
        ["0", [["1", "2"]]],
        ["2", [["-1", "2"], ["1/3", "5/7"]]],
        ["0", [["-2", "1/3"], ["3", "9"]]],
        [str(-(2**190)), [[str(2**190), "3"]]],
        [str(2**191), [[str(-(2**190)), "3"]]],
    ],
)
def test_bounds_are_enclosed(written: list) -> None:  # type: ignore[type-arg]
    """A number and multiples of logarithms, of all signs: between two near numbers."""
    low, high = bound_of(written)
    with mp.workprec(900):
        true = mp.mpf(Fraction(written[0]).numerator) / Fraction(written[0]).denominator
        for factor, of in written[1]:
            (a, b), (c, d) = (Fraction(text).as_integer_ratio() for text in (factor, of))
            true += mp.mpf(a) / b * (mp.log(c) - mp.log(d))
        ends = [mp.mpf(end.numerator) / end.denominator for end in (low, high)]
    assert ends[0] <= true <= ends[1]
    assert high - low <= Fraction(sum(abs(Fraction(f)) for f, _ in written[1]) * 2**20, 2**192)
    assert (low == high) == (not written[1])


def test_the_least_value_of_a_bound_counts() -> None:
    """KL = 0.549... is not shown to be within a bound that may be 0.5, or more."""
    logarithms = [[str(2**190), "3"]]
    low, high = bound_of([str(2**195), logarithms])
    assert high - low > 1
    for least, right in (("1/2", False), ("3/5", True), ("-1/10", False)):
        bound = [str(2**195 - low + Fraction(least)), logarithms]
        given = with_first(document(OUTPUTS, "1"), bound=bound)
        assert is_accepted(given) == right
        if least == "-1/10":
            with pytest.raises(Rejected, match="not at least 0"):
                bound_of(bound)


@pytest.mark.parametrize(
    ("constraint", "tree", "right"),
    [
        (["t - 3/4", ">="], [["outside", 0]], False),  # 3/4 is a point of the domain
        (["t - 3/4", ">"], [["outside", 0]], True),
        (["t - 4/5", ">="], [["outside", 0]], True),
        (["t - 7/10", ">"], [["outside", 0]], False),
        (["3*t - 2", ">="], [["outside", 0]], False),  # its coefficients are whole numbers: -2 and 1
        (["t - 7/10", ">"], [["cut", "t", "7/10"], ["outside", 0], ["+", []]], False),
        (["t - 4/5", ">="], [["outside", 1]], False),
        (["t - 4/5", ">="], [["outside", -1]], False),
    ],
)
def test_parts_outside_of_the_domain(constraint: list[str], tree: Json, right: bool) -> None:
    """Nothing has to be shown where a constraint holds nowhere; the end of the box belongs to it."""
    given = with_first(document(OUTPUTS, "1/1000"), tree=tree)
    assert is_accepted({**given, "domains": [{**DOMAIN, "constraints": [constraint]}]}) is right


def test_powers_of_negative_factors_and_totals_of_zero() -> None:
    """An even power is not negative, a total of 0 shows nothing, and a witness is a point of its domain."""
    square, rest = "t^2 - 2*t + 1", "-t^2 + 2*t"
    products = [["1", []], *[["1", [[0, 2]]]] * 2, *[["1", [[1, 1]]]] * 2]
    given = with_first(document([[square] * 2, [rest] * 2], "1"), factors=["t - 1", rest], products=products)
    report = check_text(json.dumps(given))
    assert report.accepted
    assert "that no probability is negative" not in report.not_compared
    none = with_first(document([["0", "0"]], "1"), total="0", products=[None] * 3)
    assert not is_accepted(none)
    broken = violation([["1/2", "0"], ["1/2", "1"]], "1/10")
    for at, right in (("3/4", True), ("4/5", False)):
        assert is_accepted({**broken, "witness": {**broken["witness"], "parameters": {"t": at}}}) == right
