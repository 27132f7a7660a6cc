"""Documents of claims: what is counted, repeated, missing or besides; obligations and points."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from paramverify.kernel.claim_evidence import (
    Ledger,
    Rejected,
    check_document,
    check_obligations,
    check_points,
    digest,
)
from paramverify.kernel.strict_reading import Misformed

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


def entry(polynomial: str, proof: Any = PLUS, *origins: str) -> Json:
    found = {"claim": claim(polynomial), "proof": proof}
    return {**found, "origins": list(origins)} if origins else found


def document(*entries: Json, status: str = "holds", **more: Any) -> Json:
    head = {"format": "paramverify-evidence", "version": 1, "status": status}
    return {**head, "case": {"title": "by hand", "digest": "abc"}, "claims": list(entries), **more}


GOOD, ALSO, FALSE = entry("p"), entry("p + 1"), entry("p - 1/2")
WITNESS = {"claim": FALSE["claim"], "parameters": {"p": "1/4"}}


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
    assert check_document(document(GOOD), [turned]).accepted
    assert digest(claim("p", "[0, 1)")) != digest(given)


def test_a_claim_is_entered_once() -> None:
    """The same claim again is refused, with its number and that of the first; nothing is counted twice."""
    report = check_document(document(GOOD, ALSO, GOOD))
    assert first(report) == "rejected: claim 3 is claim 1 again"
    for second in (None, PLUS, SOLVER):
        given = document(entry("p"), entry("p", second), status="unknown")
        assert "claim 2 is claim 1 again" in first(check_document(given))


def test_a_mistaken_polynomial_has_its_place() -> None:
    """A claim that cannot be read is named by the way to it, as the other mistakes of a document are."""
    given = document(GOOD, {**GOOD, "claim": {**GOOD["claim"], "polynomial": "p**2"}})
    assert first(check_document(given)) == "rejected: claims[1].claim: not a whole number: ''"


def test_the_ledger_counts() -> None:
    """Each entry is counted once, as what it is; only what was replayed or is trusted is settled."""
    ledger = Ledger()
    proofs = [PLUS, None, SOLVER, PLUS, None, {"kind": "constant"}, SOLVER, SOLVER]
    for k, proof in enumerate(proofs):
        ledger.enter(k, entry(f"p + {k}", proof))
    assert ledger.counts == {"proved": 2, "open": 2, "trusted": 3, "rejected": 1}
    assert ledger.settled == {digest(claim(f"p + {k}")) for k in (0, 2, 3, 6, 7)}
    assert ledger.solvers == {"z9 1"}
    assert [line.split(":")[0] for line in ledger.lines] == [
        f"claim {k + 1} (p + {k} >= 0)" for k in range(8)
    ]
    for k, how in enumerate(["proved", "open", "trusted", "proved", "open", "rejected", "trusted"]):
        assert ledger.lines[k].split(": ")[1].startswith(how)


def test_what_is_unknown_has_an_open_claim() -> None:
    """When all claims of a case are proved, it is not unknown; without the case nobody can tell."""
    both = document(GOOD, ALSO, status="unknown")
    wanted = [GOOD["claim"], ALSO["claim"]]
    assert check_document(both).accepted
    assert "cannot be 'unknown'" in first(check_document(both, wanted))
    assert check_document(both, [*wanted, FALSE["claim"]]).accepted
    assert check_document(document(GOOD, entry("p + 1", None), status="unknown"), wanted).accepted
    assert check_document(document(GOOD, ALSO), wanted).accepted
    assert check_document(document(status="unknown")).accepted


def test_a_witness_and_the_status_go_together() -> None:
    """A witness beside another status, or a violation without one, is refused."""
    for status, present in product(("holds", "unknown", "violated"), (False, True)):
        given = document(GOOD, status=status, **({"witness": WITNESS} if present else {}))
        report = check_document(given)
        assert report.accepted == (present == (status == "violated"))
        if not report.accepted:
            assert "a witness comes with" in first(report)


def test_obligations_of_a_violated_case() -> None:
    """Where a witness refutes a claim, the obligations among the claims still need their proofs."""
    wanted = [GOOD["claim"], FALSE["claim"]]
    for proof, right in ((PLUS, True), (None, False)):
        given = document(entry("p", proof), status="violated", witness=WITNESS)
        assert check_document(given, wanted, obligations=[]).accepted
        assert check_document(given, wanted, obligations=[GOOD["claim"]]).accepted == right
    given = document(status="violated", witness=WITNESS)
    assert "an obligation of the model" in first(check_document(given, wanted, obligations=[GOOD["claim"]]))


def test_obligations_are_those_of_the_case() -> None:
    """Every obligation is replayed; they are all of the case's, and no others."""
    ledger = check_obligations({"obligations": [GOOD, ALSO]})
    assert (ledger.counts["proved"], ledger.lines) == (
        2,
        ["obligation 1 (p >= 0): proved", "obligation 2 (p + 1 >= 0): proved"],
    )
    assert check_obligations({}).counts == {"proved": 0, "trusted": 0, "open": 0, "rejected": 0}
    for count in range(3):
        given = {"obligations": [GOOD, ALSO][:count]}
        for size in range(3):
            wanted = [GOOD["claim"], ALSO["claim"]][:size]
            if size == count:
                assert len(check_obligations(given, wanted).settled) == count
            else:
                with pytest.raises(Rejected, match="not those of the case"):
                    check_obligations(given, wanted)
    with pytest.raises(Rejected, match="not those of the case"):
        check_obligations({"obligations": [GOOD]}, [ALSO["claim"]])
    with pytest.raises(Rejected, match=r"obligation 2 .*: rejected"):
        check_obligations({"obligations": [GOOD, FALSE]})
    with pytest.raises(Rejected, match="obligation 2 is obligation 1 again"):
        check_obligations({"obligations": [GOOD, GOOD]})


def test_points_are_in_every_domain() -> None:
    """Points of a document are in the domain of each claim with an origin; ends and constraints count."""
    claims = [claim("p", "[0, 1)"), claim("-1", "[0, 1)", ("p - 1/4", ">"))]
    for text, right in (
        ("1/2", True),
        ("1", False),
        ("0", False),
        ("1/4", False),
        ("3", False),
        ("-1", False),
    ):
        given = {"points": [{"p": "1/3"}, {"p": text}]}
        if right:
            check_points(given, claims)
            continue
        with pytest.raises(Misformed) as caught:
            check_points(given, claims)
        assert "points[1]" in str(caught.value)
    check_points({"points": [{"p": "7"}]}, [])
    check_points({}, claims)
    for origins, right in (((), True), (("a",), False)):
        inside, outside = ({"points": [{"p": text}]} for text in ("1/2", "2"))
        assert check_document(document(entry("p", PLUS, *origins), **inside)).accepted
        assert check_document(document(entry("p", PLUS, *origins), **outside)).accepted == right
