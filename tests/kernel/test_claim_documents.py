"""Documents of claims: what is counted, repeated, missing or besides; obligations and points."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from claim_documents import document, statement

from paramverify.kernel.claim_evidence import digest
from paramverify.kernel.documents import check_document, no_evidence, number_of_budget, says_budget
from paramverify.kernel.evidence_polynomials import parse, times
from paramverify.kernel.evidence_shapes import SIDE_CONDITION, WINDOWED
from paramverify.kernel.ledger import Demanded, Evidence, Lemmas, settle
from paramverify.kernel.strict_reading import Misformed, Rejected

Json = dict[str, Any]
PLUS = {"kind": "bernstein", "tree": ["+"]}
SOLVER = {"kind": "solver", "solver": "z9", "version": "1"}


def claim(polynomial: str, interval: str = "[0, 1]", *constraints: tuple[str, str]) -> Json:
    return {
        "variables": ["p"],
        "box": {"p": interval},
        "constraints": [list(c) for c in constraints],
        "polynomial": polynomial,
    }


def proved(polynomial: str, proof: Any = PLUS, kind: str = "claim", **more: Any) -> Json:
    return statement(claim(polynomial), proof, kind, **more)


GOOD, ALSO, FALSE = proved("p"), proved("p + 1"), proved("p - 1/2")
WITNESS = {"claim": claim("p - 1/2"), "parameters": {"p": "1/4"}}


def first(report: Any) -> str:
    """Returns why a document is refused."""
    assert not report.accepted
    line: str = report.lines[-1]
    return line


def test_claims_are_compared_without_their_order() -> None:
    """The order of keys makes no other claim; any other value does."""
    given = claim("p")
    turned = dict(reversed(given.items()))
    assert list(given) != list(turned)
    assert digest(given) == digest(turned)
    assert check_document(document(GOOD), Demanded([turned])).accepted
    assert digest(claim("p", "[0, 1)")) != digest(given)


def test_a_statement_stands_once() -> None:
    """The same claim again is refused, with its number and that of the first; nothing is counted twice."""
    report = check_document(document(GOOD, ALSO, GOOD))
    assert first(report) == "rejected: claim 3 is claim 1 again"
    for second in (None, PLUS, SOLVER):
        given = document(GOOD, proved("p", second), status="unknown")
        assert "claim 2 is claim 1 again" in first(check_document(given))
    lemmas = [proved(polynomial, PLUS, "lemma", name="a") for polynomial in ("p", "p + 1")]
    assert first(check_document(document(*lemmas, GOOD))) == "rejected: the lemmas must have different names"


def test_a_domain_stands_once() -> None:
    """A domain again, with its keys in another order, is refused; so is a number of none."""
    given = document(GOOD)
    again = [*given["domains"], dict(reversed(given["domains"][0].items()))]
    assert (
        first(check_document({**given, "domains": again}))
        == "rejected: domains[1]: this domain is listed twice"
    )
    given["statements"][0]["domain"] = 1
    assert first(check_document(given)) == "rejected: statements[0].domain: there is no domain number 1"
    given["statements"][0]["domain"] = -1
    assert first(check_document(given)).startswith("rejected: statements[0].domain: must not be negative")
    given = document(GOOD, status="violated", witness=WITNESS)
    given["witness"]["claim"]["domain"] = 1
    assert first(check_document(given)) == "rejected: witness.claim.domain: there is no domain number 1"


def test_another_format_or_version_is_named() -> None:
    """Evidence of an earlier version lacks keys, too: its version, or its format, is what is told."""
    for name, value, known in (("format", "paramverify-cone", "'paramverify-evidence'"), ("version", 1, "2")):
        old = {"format": "paramverify-evidence", "version": 2, "status": "holds", "claims": []} | {
            name: value
        }
        assert first(check_document(old)) == f"rejected: {name}: must be {known}, not {value!r}"
        assert first(check_document(document(GOOD) | {name: value})).startswith(f"rejected: {name}: must be")


def test_a_mistake_has_its_place() -> None:
    """What cannot be read is named by the way to it, as the other mistakes of a document are."""
    given = document(GOOD, proved("p**2"))
    assert first(check_document(given)) == "rejected: statements[1]: not a whole number: ''"
    given = document(GOOD, statement(claim("p", "[1, 0]"), PLUS))
    assert first(check_document(given)) == "rejected: domains[1]: the interval [1, 0] is empty"


def test_the_ledger_counts() -> None:
    """Each claim is counted once, as what it is; only what was replayed or is trusted is settled."""
    proofs = [PLUS, None, SOLVER, PLUS, None, {"kind": "constant"}, SOLVER, {"kind": "constant"}]
    given = document(*(proved(f"p + {k}", proof) for k, proof in enumerate(proofs)))
    ledger = settle(Evidence(given), "claim", Lemmas())
    assert (ledger.proved, ledger.open, ledger.trusted) == (2, 2, 2)
    assert ledger.rejected == ledger.lines[5]
    assert ledger.settled.keys() == {(0, f"p + {k}") for k in (0, 2, 3, 6)}
    assert ledger.solvers == {"z9 1"}
    assert [line.split(":")[0] for line in ledger.lines] == [
        f"claim {k + 1} (p + {k} >= 0)" for k in range(8)
    ]
    for k, how in enumerate(["proved", "open", "trusted", "proved", "open", "rejected", "trusted"]):
        assert ledger.lines[k].split(": ")[1].startswith(how)
    told = {"": "p >= 0", "a": "a", "ab": "a, and another comparison"}
    told |= dict.fromkeys(("abc", "abcd"), "a, and other comparisons")
    for origins, kind, demanded in product(told, ("claim", "obligation"), (None, Demanded())):
        about = Evidence(document(proved("p", PLUS, kind, origins=[*origins])), demanded)
        what = told[origins if demanded and kind == "claim" else ""]
        assert settle(about, kind, Lemmas()).lines == [f"{kind} 1 ({what}): proved"]
    proofs = (PLUS, {**SOLVER, "solver": "z8"})
    beside = [proved(f"p + {k}", proof, "obligation") for k, proof in enumerate(proofs)]
    report = check_document(document(proved("p", SOLVER), ALSO, *beside))
    assert (report.proved, report.trusted, report.solvers) == (2, 2, ("z8 1", "z9 1"))


def test_what_is_unknown_has_an_open_claim() -> None:
    """When all claims of a case are proved, it is not unknown; without the case nobody can tell."""
    both = document(GOOD, ALSO, status="unknown")
    wanted = [claim("p"), claim("p + 1")]
    assert check_document(both).accepted
    assert "must not be 'unknown'" in first(check_document(both, Demanded(wanted)))
    assert check_document(both, Demanded([*wanted, claim("p - 1/2")])).accepted
    half = document(GOOD, proved("p + 1", None), status="unknown")
    assert check_document(half, Demanded(wanted)).accepted
    assert check_document(document(GOOD, ALSO), Demanded(wanted)).accepted


NO_PROOF = "rejected: a claim of the case has no proof"
NO_NUMBER = "the polynomial is not a number that is at least zero"
UNCOMPARED = "nothing is compared: there is no claim"
LAST: list[tuple[str, list[str] | None, bool, str]] = [
    ("", None, False, NO_PROOF),
    ("", [], False, NO_PROOF),
    ("", None, True, UNCOMPARED),
    ("", [], True, UNCOMPARED),
    ("", ["p"], True, f"{NO_PROOF}: p >= 0"),
    ("+", ["p", "p + 1"], False, f"{NO_PROOF}: p + 1 >= 0"),
    ("+", ["p"], False, "claim 1 (p >= 0): proved"),
    ("+", None, True, "claim 1 (p >= 0): proved"),
    ("+?", None, False, NO_PROOF),
    ("?", None, True, NO_PROOF),
    ("-", None, True, NO_PROOF),
    ("+-", None, False, f"claim 2 (p + 1 >= 0): rejected: {NO_NUMBER}"),
]


@pytest.mark.parametrize(("proofs", "wanted", "side", "last"), LAST)
def test_what_a_case_lacks(proofs: str, wanted: list[str] | None, side: bool, last: str) -> None:
    """Claims are proved, open or not proved; without one there is a side condition, or a proof is missing."""
    known = {"+": PLUS, "?": None, "-": {"kind": "constant"}}
    stated = [proved(text, known[how]) for text, how in zip(("p", "p + 1"), proofs, strict=False)]
    given = document(*stated, **({"side_condition": SIDE_CONDITION} if side else {}))
    demanded = None if wanted is None else Demanded([claim(text) for text in wanted])
    report = check_document(given, demanded)
    assert (report.lines[-1], report.accepted) == (last, "rejected" not in last and last != NO_PROOF)
    assert check_document(document(*stated, status="unknown")).lines == report.lines[: len(stated)]


def test_what_is_said_of_a_witness() -> None:
    """Without the case the claim is written out; with the case it is one of these, told by names."""
    given = document(status="violated", witness=WITNESS)
    told = "witness: the claim (p - 1/2 >= 0) is false at p = 1/4"
    assert check_document(given).lines == (told,)
    named = check_document(given, Demanded([claim("p - 1/2")])).lines
    assert named == (told.replace("(p - 1/2 >= 0) ", ""),)
    assert "the case does not make" in first(check_document(given, Demanded([claim("p")])))
    root = {"root_of": "8*p - 1", "lower": "1/9", "upper": "1/7"}
    for more, reason in (
        ({"probabilities": ["1", "0"]}, "'ratio' is missing"),
        ({"parameters": {"p": root}}, "p: must be"),
    ):
        assert reason in first(check_document(document(status="violated", witness=WITNESS | more)))
    for number, stated in enumerate(([FALSE], [GOOD, FALSE]), 1):
        told = f"claim {number} differs from the claims of the case, or has another domain"
        assert first(check_document(document(*stated), Demanded([claim("p")]))) == f"rejected: {told}"
    for status, more in (("unknown", {}), ("violated", {"witness": WITNESS})):
        report = check_document(document(GOOD, status=status, windows=BESIDE["windows"], **more))
        assert "windows can prove claims, but not refute them" in first(report)


def test_a_witness_and_the_status_go_together() -> None:
    """A witness beside another status, or a violation without one, is refused."""
    for status, present in product(("holds", "unknown", "violated"), (False, True)):
        given = document(GOOD, status=status, **({"witness": WITNESS} if present else {}))
        report = check_document(given)
        assert report.accepted == (present == (status == "violated"))
        if not report.accepted:
            assert "a witness is required with the status violated, and only then" in first(report)


def test_obligations_of_a_violated_case() -> None:
    """Where a witness refutes a claim, the obligations among the claims still need their proofs."""
    wanted = [claim("p"), claim("p - 1/2")]
    for proof, right in ((PLUS, True), (None, False)):
        given = document(proved("p", proof), status="violated", witness=WITNESS)
        assert check_document(given, Demanded(wanted, obligations=[])).accepted
        assert check_document(given, Demanded(wanted, obligations=[claim("p")])).accepted == right
    given = document(status="violated", witness=WITNESS)
    report = check_document(given, Demanded(wanted, obligations=[claim("p")]))
    assert "an obligation of the model" in first(report)


def test_obligations_are_those_of_the_case() -> None:
    """Every obligation is replayed; they are all of the case's, and no others."""
    texts = ("p", "p + 1")
    own, wanted = [proved(text, PLUS, "obligation") for text in texts], [claim(text) for text in texts]
    ledger = Evidence(document(*own)).obligations
    assert ledger.proved == 2
    assert ledger.lines == ["obligation 1 (p >= 0): proved", "obligation 2 (p + 1 >= 0): proved"]
    ledger = Evidence(document()).obligations
    assert (ledger.proved, ledger.trusted, ledger.open, ledger.rejected) == (0, 0, 0, "")
    different = "differ from those of the case"
    for count, size in product(range(3), range(3)):
        about = Evidence(document(*own[:count]), Demanded(obligations=wanted[:size]))
        if size == count:
            about.check_obligations()
        else:
            with pytest.raises(Rejected, match=different):
                about.check_obligations()
    with pytest.raises(Rejected, match=different):
        Evidence(document(own[0]), Demanded(obligations=wanted[1:])).check_obligations()
    with pytest.raises(Rejected, match=r"obligation 2 .*: rejected"):
        _ = Evidence(document(own[0], proved("p - 1/2", PLUS, "obligation"))).obligations
    with pytest.raises(Rejected, match="obligation 2 is obligation 1 again"):
        _ = Evidence(document(own[0], own[0])).obligations


NOWHERE = {"kind": "bernstein", "tree": [["outside", 0]]}
COMPARED: list[tuple[list[tuple[str, Any]], str]] = [
    ([("p", None), ("p + 1", "-p - 1")], ""),
    ([("p", "-p")], "not shown to fail"),  # it is zero at 0
    ([("p", "-p - 1")], "the negation contains another polynomial"),
    ([("p", None), ("2*p", None)], "statements[1]: this comparison is listed twice"),
    ([("p + 1", "-p - 1"), ("2*p + 2", "-2*p - 2")], "statements[1]: this comparison is listed twice"),
    ([("p + 1", None), ("p + 1", "-p - 1")], ""),
]


@pytest.mark.parametrize(("given", "reason"), COMPARED)
def test_comparisons_decide_signs(given: list[tuple[str, Any]], reason: str) -> None:
    """What is shown to be positive, or at least zero, is so of positive multiples, and of nothing else."""
    own = [
        proved(p, NOWHERE if n else PLUS, "comparison", strict=bool(n), **({"negated": n} if n else {}))
        for p, n in given
    ]
    if reason:
        with pytest.raises(Rejected, match=re.escape(reason)):
            Evidence(document(*own)).comparisons(0)
        return
    ask, ledger = Evidence(document(*own)).comparisons(0)
    assert (ledger.proved, ledger.trusted) == (2, 0)
    strong, weak = ({p for p, negated in given if (negated is None) == kind} for kind in (False, True))
    for text in ("p", "p + 1", "p + 2", "2*p + 1"):
        for factor in (Fraction(1), Fraction(3, 2), Fraction(-1)):
            poly = times(parse(text, "p"), {(0,): factor})
            assert ask(poly, True) == (factor > 0 and text in strong)
            assert ask(poly, False) == (factor > 0 and text in strong | weak)


def test_points_are_in_every_domain() -> None:
    """Points of a document are in the domain of each claim with an origin; ends and constraints count."""
    claims = [claim("p", "[0, 1)"), claim("-1", "[0, 1)", ("p - 1/4", ">"))]
    both = [statement(each, PLUS) for each in claims]
    for text, right in (
        ("1/2", True),
        ("1", False),
        ("0", False),
        ("1/4", False),
        ("3", False),
        ("-1", False),
    ):
        about = Evidence(document(*both, points=[{"p": "1/3"}, {"p": text}]))
        if right:
            about.check_points([0, 1])
            continue
        with pytest.raises(Misformed) as caught:
            about.check_points([0, 1])
        assert "points[1]" in str(caught.value)
    Evidence(document(*both, points=[{"p": "7"}])).check_points([])
    Evidence(document(*both)).check_points([0, 1])
    for more, right in (({}, True), ({"origins": ["a"]}, False)):
        inside, outside = ({"points": [{"p": text}]} for text in ("1/2", "2"))
        assert check_document(document(proved("p", **more), **inside)).accepted
        assert check_document(document(proved("p", **more), **outside)).accepted == right


@pytest.mark.parametrize("status", ["holds", "violated"])
@pytest.mark.parametrize("polynomial", ["p + 2", "p + 1", "p"])
def test_obligations_beside_claims_are_none_of_the_case(status: str, polynomial: str) -> None:
    """With a case, what it demands of its model is among the claims: an obligation besides is refused."""
    more: Json = {"witness": WITNESS} if status == "violated" else {}
    wanted = [claim("p"), claim("p + 1")] + ([claim("p - 1/2")] if more else [])
    demanded = Demanded(wanted, obligations=[claim("p + 1")])
    assert check_document(document(GOOD, ALSO, status=status, **more), demanded).accepted
    given = document(GOOD, ALSO, proved(polynomial, PLUS, "obligation"), status=status, **more)
    assert check_document(given).accepted
    report = check_document(given, demanded)
    assert first(report).startswith("rejected: statements[2]: what a case demands of its model")


@pytest.mark.parametrize("point", [{"zz": "5"}, {}, {"p": "2"}, {"p": "1/4", "zz": "5"}])
def test_points_beside_a_witness_are_in_its_domain(point: Json) -> None:
    """They have a value for each of its variables, and for nothing else, in its interval."""
    for given, right in (({"p": "1/4"}, True), (point, False)):
        found = check_document(document(status="violated", witness=WITNESS, points=[given]))
        assert found.accepted == right
        assert right or "points[0]" in first(found)


ORIGINS = [["a", "b", 1]]
PARTS = {"kind": "parts", "domain": 0, "room": "1", "terms": [], "origins": ORIGINS, "tree": [["free"]]}
COMPARISON = {"kind": "comparison", "domain": 0, "polynomial": "p", "strict": False, "proof": PLUS}
PROGRAM = {"shared": True, "drops": True, "deletes": True}
SLOTS = {"kind": "slots", "program": PROGRAM, "forms": [], "steps": 1}
NOISY = {"noise": [], "ties": "first", "answers": 2, "differ": "one", "by": "1", "left": [], "right": []}
BESIDE = {
    "windows": {"statement": WINDOWED, "pairs": []},
    "reduction": NOISY,
    "budget": {"kind": "bound", "bound": ["1", "1"], "witnesses": []},
}


@pytest.mark.parametrize(
    ("statements", "place", "about"),
    [
        ([PARTS], 0, "parts"),
        ([COMPARISON], 1, "claims"),
        ([SLOTS], 0, "slots"),
        ([PARTS, SLOTS], 0, "slots"),
    ],
)
def test_statements_of_one_kind_stand_together(statements: list[Json], place: int, about: str) -> None:
    """A document is about one thing: a statement of another kind is none of it."""
    given = document(GOOD)
    report = check_document({**given, "statements": [*given["statements"], *statements]})
    line = f"statements[{place}]: this does not belong to a document about {about}"
    assert first(report) == f"rejected: {line}"
    twice = check_document({**given, "statements": [SLOTS, SLOTS]})
    assert first(twice) == "rejected: statements[1]: a document must have exactly one engine"
    engine = {**document(status="holds", witness=WITNESS), "statements": [SLOTS]}
    assert "witness: the statement of an engine must contain its own witness" in first(check_document(engine))
    other = check_document({**given, "statements": [SLOTS]}, Demanded(engine={"domain": given["domains"][0]}))
    assert first(other) == "rejected: the evidence has another domain than the case"
    other = check_document(document(status="violated", witness=WITNESS), Demanded(directions=[]))
    assert first(other) == "rejected: the evidence is about something other than the case"
    given = {**document(status="violated", witness=WITNESS), "statements": [PARTS]}
    assert first(check_document(given)) == "rejected: witness: this does not belong to a document about parts"


def test_what_is_no_evidence() -> None:
    """The reason is told, but for what says that it is some."""
    form = "it has no `format` such as 'paramverify-evidence'"
    reasons = {"[1]": "it must be an object, not a list", "{}": form, '{"format": 3}': form}
    for text, why in {**reasons, '{"format": "other"}': form}.items():
        assert no_evidence(text) == f"this is not evidence: {why}"
    assert no_evidence("{").startswith("this is not evidence: not JSON: Expecting property name")
    assert no_evidence("[" * 100_000) == no_evidence('{"format": "paramverify-cone"}') == ""


def test_what_a_budget_says() -> None:
    """A number, a witness, or that there is none, which an engine shows."""
    for stated, statements, number, says in (
        *(({"enough": "2"}, [], "2", True), ({"bound": ["2", "1"]}, [], ["2", "1"], True)),
        *(({"enough": None, "witnesses": [{}]}, [], None, True), ({"bound": None}, [SLOTS], None, True)),
        ({"bound": None}, [GOOD], None, False),
    ):
        given = {"statements": statements, "budget": {"witnesses": [], **stated}}
        assert (number_of_budget(given), says_budget(given)) == (number, says)


@pytest.mark.parametrize("name", BESIDE)
def test_what_is_said_of_claims_stands_beside_claims(name: str) -> None:
    """Windows, a pair that stands for all neighbours and a bound belong to claims, and to nothing else."""
    for statements, kind in (([PARTS], "parts"), ([SLOTS], "slots")):
        report = check_document({**document(GOOD), "statements": statements, name: BESIDE[name]})
        assert first(report) == f"rejected: {name}: this does not belong to a document about {kind}"
    assert "no proof" in first(check_document(document(FALSE) | {"reduction": NOISY}))


@pytest.mark.parametrize("status", ["map", "bounds", "answers"])
def test_a_status_is_one_of_its_kind(status: str) -> None:
    """Claims are no map, no bounds of a number, and no answers; slots are not violated."""
    verdicts = "'holds' or 'violated' or 'unknown' in a document about claims"
    assert first(check_document(document(GOOD, status=status))) == f"rejected: status: must be {verdicts}"
    report = check_document({**document(status=status), "statements": [SLOTS]})
    assert first(report) == "rejected: status: must be 'holds' in a document about slots"
