"""The kernel on small trees about sets of outputs that are written by hand."""

from __future__ import annotations

from typing import Any

import pytest
from three_checkers import asked_later
from written_evidence import evidence, with_first

from paramverify.kernel.ledger import Demanded, KernelReport
from paramverify.kernel.proof_trees import follow
from paramverify.kernel.strict_reading import Rejected

checked, compared_with_the_proved_checker = asked_later()

POSITIVE = {"kind": "bernstein", "tree": ["+"]}
CONSTANT = {"kind": "constant"}
FIRST: dict[str, Any] = {"kind": "constraint", "constraint": 0, "factor": "1", "proof": CONSTANT}
DOMAIN = {"variables": ["p"], "box": {"p": "[0, 1]"}, "constraints": []}


def test_leaves_are_counted() -> None:
    """A tree in preorder has one leaf for each part that is not cut, and ends with the last of them."""
    for tree, leaves in (("-", 1), ("+--", 2), ("+-+--", 3), ("++-+---", 4)):
        step = lambda part, token: (2 * part, 2 * part + 1) * (token == "+")  # noqa: E731
        assert follow(tree, 1, step) == leaves
        for wrong, told in ((f"{tree}-", "too many leaves"), (tree[:-1], "a leaf of the tree is missing")):
            with pytest.raises(Rejected, match=told):
                follow(wrong, 1, step)


def document(
    tree: list[Any], terms: list[str], room: str = "1", domain: dict[str, Any] = DOMAIN
) -> dict[str, Any]:
    """Evidence that one claim with these terms holds."""
    claim = {"domain": 0, "room": room, "terms": terms, "origins": [["a", "b", 1]]}
    return evidence("holds", [domain], {"kind": "parts", **claim, "tree": tree})


GOOD = [
    # Σ max(0, ·) of p and p - 1 is p, which is at most 1.
    document([["+", 0, POSITIVE], ["-", 1, POSITIVE], POSITIVE], ["p", "p - 1"]),
    # max(0, 2·p - 1) is at most 1: both parts of a cut.
    document([["cut", "p", "1/2"], ["-", 0, POSITIVE], POSITIVE, ["+", 0, POSITIVE], POSITIVE], ["2*p - 1"]),
    # The same by an estimate: max(0, 2·p - 1) is at most p.
    document([["<", 0, "p", POSITIVE, POSITIVE], POSITIVE], ["2*p - 1"]),
    # The same by the sign, where each part has its condition, and the last claims are about all p.
    document(
        [
            ["sign", "2*p - 1"],
            ["+", 0, FIRST],
            ["free"],
            POSITIVE,
            ["-", 0, FIRST],
            ["free"],
            POSITIVE,
        ],
        ["2*p - 1"],
    ),
]


@pytest.mark.parametrize("good", GOOD)
def test_a_tree_is_accepted(good: dict[str, Any]) -> None:
    """Signs, cuts of the box and cuts by signs prove a claim."""
    report = checked(good)
    assert report.accepted, report.lines
    assert (report.proved, report.trusted, report.open, report.status) == (1, 0, 0, "holds")
    assert report.lines == ("claim 1 (every set of outputs): proved",)


@pytest.mark.parametrize(
    ("tree", "terms", "room", "reason"),
    [
        ([["+", 0, POSITIVE], POSITIVE], ["p", "p - 1"], "1", "the sign of a term is not shown at a leaf"),
        ([["-", 0, POSITIVE], POSITIVE], ["p"], "1", "negative at a leaf"),
        ([["+", 0, POSITIVE], POSITIVE], ["p - 1"], "1", "negative at a leaf"),
        ([["+", 0, POSITIVE], ["+", 0, POSITIVE], POSITIVE], ["p"], "2", "term 0 is not open"),
        ([["+", 1, POSITIVE], POSITIVE], ["p"], "1", "term 1 is not open"),
        ([["+", 0, POSITIVE], POSITIVE], ["p"], "1/2", "negative at a leaf"),
        # An estimate is nowhere below 0, nowhere below its term, of one term that is open, and counts.
        ([["<", 0, "p - 1/2", POSITIVE, POSITIVE], POSITIVE], ["p - 1"], "1", "negative at a leaf"),
        ([["<", 0, "1/2", POSITIVE, POSITIVE], POSITIVE], ["p"], "1", "negative at a leaf"),
        ([["<", 0, "p", POSITIVE, POSITIVE]] * 2 + [POSITIVE], ["p"], "2", "term 0 is not open"),
        ([["<", 1, "p", POSITIVE, POSITIVE], POSITIVE], ["p"], "1", "term 1 is not open"),
        ([["<", 0, "p", POSITIVE, POSITIVE], POSITIVE], ["p"], "1/2", "negative at a leaf"),
        ([["+", 0, POSITIVE], POSITIVE, POSITIVE], ["p"], "1", "the tree has too many leaves"),
        ([["+", 0, POSITIVE]], ["p"], "1", "a leaf of the tree is missing"),
        ([], [], "1", "a leaf of the tree is missing"),
        ([["claim", 0]], [], "1", "a leaf of the tree is no proof"),
        ([["cut", "p", "1/2"], ["+", 0, POSITIVE], POSITIVE], ["p"], "1", "a leaf of the tree is missing"),
        ([["cut", "p", "1"], POSITIVE, POSITIVE], [], "1", "does not lie inside the box"),
        ([["cut", "p", "0"], POSITIVE, POSITIVE], [], "1", "does not lie inside the box"),
        ([["cut", "q", "1/2"], POSITIVE, POSITIVE], [], "1", "there is no variable 'q'"),
        # The parts of a cut are not exchanged, and a condition is that of its own part.
        (
            [["cut", "p", "1/2"], ["+", 0, POSITIVE], POSITIVE, ["-", 0, POSITIVE], POSITIVE],
            ["2*p - 1"],
            "1",
            "negative at a leaf",
        ),
        (
            [["sign", "2*p - 1"], ["-", 0, FIRST], POSITIVE, ["+", 0, FIRST], POSITIVE],
            ["2*p - 1"],
            "1",
            "not a number that is at least zero",
        ),
        (
            [["sign", "2*p - 1"], ["free"], ["+", 0, FIRST], POSITIVE, ["-", 0, FIRST], POSITIVE],
            ["2*p - 1"],
            "1",
            "there is no constraint number 0",
        ),
        # Where both conditions hold, the polynomial is zero: they do not contradict each other.
        (
            [
                ["sign", "2*p - 1"],
                ["sign", "2*p - 1"],
                FIRST,
                {"kind": "contradiction", "constraints": [0, 1]},
                POSITIVE,
            ],
            [],
            "2*p - 1",
            "the constraints do not contradict each other",
        ),
        # What is forgotten on one part is not forgotten on the other, and the claim is about that part.
        ([["sign", "2*p - 1"], POSITIVE, FIRST], [], "1 - 2*p", "negative at a leaf"),
    ],
)
def test_a_tree_with_a_mistake(tree: list[Any], terms: list[str], room: str, reason: str) -> None:
    """Each mistake in a tree is found, and named."""
    report = checked(document(tree, terms, room))
    assert not report.accepted
    assert reason in report.lines[0]


def test_constraints_of_the_domain_are_kept() -> None:
    """`free` forgets conditions of cuts, and not the constraints of the domain."""
    domain = {**DOMAIN, "constraints": [["2*p - 1", ">="]]}
    tree = [["sign", "p - 3/4"], ["free"], FIRST, ["free"], FIRST]
    good = document(tree, [], "2*p - 1", domain)
    assert checked(good).accepted
    assert not checked({**good, "domains": [DOMAIN]}).accepted
    second = {**FIRST, "constraint": 1}
    kept = document([["sign", "p - 3/4"], second, FIRST], [], "p - 3/4", domain)
    assert "not a number" in checked(kept).lines[0]  # the upper part is shown, the lower is not
    tree = [["sign", "p - 3/4"], ["free"], second, FIRST]
    forgotten = document(tree, [], "p - 3/4", domain)
    assert "there is no constraint number 1" in checked(forgotten).lines[0]


def test_trusted_solvers_are_named() -> None:
    """A leaf on the word of a solver is trusted, and named; also the sign of a term."""
    word = {"kind": "solver", "solver": "z3", "version": "4"}
    for tree in ([["+", 0, word], POSITIVE], [["+", 0, POSITIVE], word]):
        report = checked(document(tree, ["p"]))
        assert (report.proved, report.trusted, report.solvers) == (0, 1, ("z3 4",))
        assert report.lines[0].endswith("every set of outputs): trusted to 'z3 4'")


# --- what the case makes ------------------------------------------------------------------------------

CLAIM = {"domain": DOMAIN, "room": "1", "terms": ["p", "p - 1"], "origins": [["a", "b", 1]]}


def compared(given: dict[str, Any], *claims: dict[str, Any]) -> KernelReport:
    """The report on a document of a case that makes these claims."""
    return checked(given, Demanded(directions=claims))


def test_the_claims_of_a_case() -> None:
    """All claims of a case must be there, once, and be the same."""
    good = GOOD[0]
    (own,) = good["statements"]
    assert compared(good, CLAIM).accepted
    other = {**CLAIM, "origins": [["b", "a", 1]]}
    wider = {**CLAIM, "domain": {**DOMAIN, "box": {"p": "[0, 2]"}}}
    for expected in ([CLAIM, other], [other], [{**CLAIM, "room": "2"}], [{**CLAIM, "terms": ["p"]}], [wider]):
        assert not compared(good, *expected).accepted
    assert (
        "statements[0].domain: the case has another domain than this claim" in compared(good, wider).lines[0]
    )
    both = with_first(good, origins=[["a", "b", 1], ["b", "a", 1]])
    assert compared(both, CLAIM, other).accepted
    assert not compared(both, CLAIM).accepted
    twice = {**good, "statements": [own, own]}
    assert "statements[1].origins: this direction is listed twice" in checked(twice).lines[0]
    unknown = {**good, "status": "unknown"}
    assert checked(unknown).accepted
    assert compared(unknown, CLAIM, other).open == 1
    assert "must not be 'unknown'" in compared(unknown, CLAIM).lines[0]
    assert checked({**good, "points": [{"p": "1/2"}]}).accepted
    assert not checked({**good, "points": [{"p": "2"}]}).accepted


def test_the_obligations_of_a_case() -> None:
    """What the model of a case needs is proved besides, and counts."""
    needed = {**DOMAIN, "polynomial": "p"}
    entry = {"kind": "obligation", "domain": 0, "polynomial": "p", "proof": POSITIVE}
    more = {**GOOD[0], "statements": [entry, *GOOD[0]["statements"]]}
    demanded = Demanded(directions=[CLAIM], obligations=[needed])
    assert checked(more, demanded).proved == 2
    assert not checked(GOOD[0], demanded).accepted


def test_evidence_without_a_claim() -> None:
    """It says nothing of what the case compares, whatever it says besides."""
    side_condition = "output sequences that are impossible under one of the two secrets are ignored"
    for more in ({}, {"side_condition": side_condition}):
        empty = evidence("holds", [DOMAIN], **more)
        assert "no proof" in compared(empty, CLAIM).lines[0]
        report = compared({**empty, "status": "unknown"}, CLAIM)
        assert (report.accepted, report.status, report.open) == (True, "unknown", 1)
    assert "no proof" in checked(evidence("holds", [DOMAIN])).lines[0]


def test_evidence_about_something_else() -> None:
    """Sums are no claims about the sign of a polynomial, and these are no sums."""
    sign = {"kind": "claim", "domain": 0, "polynomial": "p", "proof": POSITIVE}
    signs = evidence("holds", [DOMAIN], sign)
    claim = {**DOMAIN, "polynomial": "p"}
    assert checked(signs, Demanded(claims=[claim])).accepted
    for given, demanded in (
        (signs, Demanded(directions=[CLAIM])),
        (signs, Demanded(stated=[claim])),
        (GOOD[0], Demanded(claims=[claim])),
        (GOOD[0], Demanded(stated=[claim], directions=[CLAIM])),
    ):
        assert checked(given, demanded).lines == (
            "rejected: the evidence is about something other than the case",
        )
    mixed = {**signs, "statements": [sign, *GOOD[0]["statements"]]}
    assert "statements[0]: this does not belong to a document about parts" in checked(mixed).lines[0]


# --- witnesses -----------------------------------------------------------------------------------------

# Pr(x | a) = p and Pr(x | b) = 1 - p, the ratio 1 and the delta 1/4
EXCESS = {"domain": 0, "room": "1/4", "terms": ["2*p - 1", "1 - 2*p"], "origins": [["a", "b", 1]]}
WITNESS: dict[str, Any] = {
    "kind": "set",
    "claim": EXCESS,
    "parameters": {"p": "3/4"},
    "secrets": ["a", "b"],
    "length": 1,
    "outputs": [["x"]],
    "probabilities": ["3/4", "1/4"],
    "bound": "1",
    "delta": "1/4",
    "beyond": "1/2",
    "exceeds": True,
}


def violation(domain: dict[str, Any] = DOMAIN, **changes: Any) -> dict[str, Any]:
    """The evidence of a violation, with other entries in its witness."""
    return evidence("violated", [domain], witness={**WITNESS, **changes})


BROKEN = violation()


def test_a_violation_is_accepted() -> None:
    """The sum is evaluated at the point, and the numbers agree with each other."""
    report = checked(BROKEN)
    assert (report.accepted, report.status) == (True, "violated")
    assert report.lines == ("witness: the claim is false at p = 3/4",)
    known = {**EXCESS, "domain": DOMAIN}
    assert compared(BROKEN, known).lines == ("witness: the claim (a against b) is false at p = 3/4",)
    assert not compared(BROKEN, {**known, "room": "1/2"}).accepted
    assert not checked({**BROKEN, "status": "holds"}).accepted
    assert not checked({**GOOD[0], "witness": WITNESS}).accepted
    assert not checked({k: v for k, v in BROKEN.items() if k != "witness"}).accepted


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"parameters": {"p": "5/8"}}, "does not fail at the witness"),  # 1/4 is not more than 1/4
        ({"parameters": {"p": "1/2"}}, "does not fail at the witness"),
        ({"parameters": {"p": "9/8"}}, "outside the domain"),
        ({"parameters": {}}, "a point must give p"),
        ({"secrets": ["b", "a"]}, "the claim is about secrets that the case does not compare"),
        ({"length": 2}, "the claim is about secrets that the case does not compare"),
        ({"outputs": []}, "outputs have another length, or there are none"),
        ({"outputs": [["x", "y"]]}, "outputs have another length, or there are none"),
        ({"outputs": [["x"], ["x"]]}, "an output is listed twice"),
        ({"probabilities": ["5/4", "1/4"]}, "not between 0 and 1"),
        ({"probabilities": ["3/4", "-1/4"]}, "not between 0 and 1"),
        ({"bound": "0", "beyond": "3/4"}, "not positive"),
        ({"delta": "-1"}, "negative"),
        ({"beyond": "3/8"}, "not the left probability minus bound times the right one"),
        ({"bound": "2"}, "not the left probability minus bound times the right one"),
        ({"delta": "1/2"}, "the set is within the bounds, so nothing is violated"),
        ({"exceeds": False}, "the set is within the bounds, so nothing is violated"),
    ],
)
def test_a_forged_violation(changes: dict[str, Any], reason: str) -> None:
    """Each entry of a witness that contradicts another one is found."""
    report = checked(violation(**changes))
    assert not report.accepted
    assert reason in report.lines[0]


def test_extreme_witnesses() -> None:
    """Probabilities 0 and 1, and the delta 0, are numbers like others; two secrets of one name are none."""
    claim = {**EXCESS, "room": "0"}
    changes = {"claim": claim, "parameters": {"p": "1"}, "probabilities": ["1", "0"], "delta": "0"}
    assert checked(violation(**changes, beyond="1")).accepted
    same = {**claim, "origins": [["a", "a", 1]]}
    report = checked(violation(**{**changes, "claim": same}, beyond="1", secrets=["a", "a"]))
    assert "both secrets are the same" in report.lines[0]


def test_a_parameter_called_e() -> None:
    """Without a constant E is a parameter like others; with one, other parameters stay what they are."""
    claim = {**EXCESS, "terms": ["2*E - 1"]}
    domain: dict[str, Any] = {"variables": ["E"], "box": {"E": "[0, 1]"}, "constraints": []}
    assert checked(violation(domain, claim=claim, parameters={"E": "3/4"})).accepted
    assert not checked(violation(domain, claim=claim, parameters={"E": "1/2"})).accepted
    domain = {"variables": ["p", "E"], "box": {"p": "[0, 1]"}, "constraints": [], "constant": "1"}
    claim = {**EXCESS, "room": "1/4*E", "terms": ["2*p*E - E"]}
    assert checked(violation(domain, claim=claim)).accepted
    assert not checked(violation(domain, claim=claim, parameters={"p": "1/2"})).accepted


def test_malformed_documents() -> None:
    """A key more, and a claim about nothing, are rejected."""
    assert not checked({**GOOD[0], "more": 1}).accepted
    assert "a claim names no direction" in checked(with_first(GOOD[0], origins=[])).lines[0]
    report = compared(GOOD[0], {**CLAIM, "origins": [["b", "a", 1]]})
    assert "the case does not compare this direction" in report.lines[0]


def test_a_violation_with_e() -> None:
    """A sum in E = exp(1) is evaluated at the number that E is: (3 - e)/4 is between 1/20 and 1/10."""
    domain = {"variables": ["E"], "box": {}, "constraints": [], "constant": "1"}
    exact = {"exact": "(-1/4)*E + 3/4 with E = exp(1)", "lower": "0", "upper": "1"}
    claim = {**EXCESS, "room": "1/20", "terms": ["3/4 - 1/4*E", "1/4 - 3/4*E"]}
    written = {
        "claim": claim,
        "parameters": {},
        "bound": {"exact": "exp(1)", "lower": "2", "upper": "3"},
        "delta": "1/20",
        "beyond": exact,
    }
    assert checked(violation(domain, **written)).accepted
    assert not checked(violation(domain, **{**written, "claim": {**claim, "room": "1/10"}})).accepted
