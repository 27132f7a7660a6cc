"""Sums of squares in the checker: what is shown by them, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import pytest

from paramverify.kernel import proof_rules
from paramverify.kernel.claim_evidence import check_claim
from paramverify.kernel.strict_reading import Rejected


def _claim(
    polynomial: str, box: dict[str, str], constraints: Sequence[tuple[str, str]] = (), **more: Any
) -> dict[str, Any]:
    listed = [list(c) for c in constraints]
    names = [*box, *more.pop("free", ())]
    return {"variables": names, "polynomial": polynomial, "box": box, "constraints": listed, **more}


def _term(*squares: tuple[str, str], product: Sequence[Sequence[str | int]] = ()) -> dict[str, Any]:
    return {"product": [list(side) for side in product], "squares": [list(s) for s in squares]}


def _proof(*terms: dict[str, Any], multiplier: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    proof: dict[str, Any] = {"kind": "squares", "terms": list(terms)}
    return proof | ({"multiplier": list(multiplier)} if multiplier else {})


XY = {"x": "[-1, 1]", "y": "[-1, 1]"}
UNIT = {"x": "[0, 1]"}
SQUARE = _claim("x^2 - 2*x*y + y^2", XY)
FIRST = _term(("1", "1"), product=[["constraint", 0]])
LOW, HIGH = ["low", "x", "0"], ["high", "x", "1"]

ACCEPTED = {
    "a square": (SQUARE, _proof(_term(("1", "x - y")))),
    "a square everywhere times another": (
        _claim("x^2", XY),
        _proof(_term(("1", "x*y")), multiplier=[_term(("1", "y"))]),
    ),
    "a coefficient that is zero": (SQUARE, _proof(_term(("1", "x - y"), ("0", "x")))),
    "everywhere, whatever the box is": (
        _claim("y^2", {"x": "[0, 0]", "y": "[-1, 1]"}),
        _proof(_term(("1", "x*y")), multiplier=[_term(("1", "x"))]),
    ),
    "a multiplier without what is fixed": (
        _claim("x", {"x": "[0, 1]", "z": "[1, 1]"}),
        _proof(_term(("1", "x")), multiplier=[_term(("1", "1"), product=[LOW])]),
    ),
    "sides of the box": (_claim("x - x^2", UNIT), _proof(_term(("1", "1"), product=[LOW, HIGH]))),
    "a side beyond the box": (
        _claim("x + 1", UNIT),
        _proof(_term(("1", "1"), product=[["low", "x", "-1"]])),
    ),
    "a variable as the multiplier": (
        _claim("x^2", UNIT),
        _proof(_term(("1", "x"), product=[LOW]), multiplier=[_term(("1", "1"), product=[LOW])]),
    ),
    "a constraint": (
        _claim("2 - x - y", XY, [("1 - x^2 - y^2", ">=")]),
        _proof(
            _term(("1/2", "1"), product=[["constraint", 0]]),
            _term(("1/2", "1"), ("1/2", "x - 1"), ("1/2", "y - 1")),
        ),
    ),
    "nowhere, by slack": (
        _claim("-1", XY, [("-x^2 - 1/2", ">=")]),
        _proof(_term(("2", "1"), product=[["constraint", 0]]), _term(("2", "x"))),
    ),
    **{
        f"nowhere, by {name} as the multiplier": (
            _claim("-1", {"x": box}, [(limit, ">=")]),
            _proof(FIRST, multiplier=[_term(("1", "1"), product=[["low", "x", low]])]),
        )
        for name, box, limit, low in (
            ("an end", "(0, 1]", "-x", "0"),
            ("a side", "[0, 1]", "-x - 1/2", "-1/2"),
        )
    },
    "nowhere, by a strict constraint as the multiplier": (
        _claim("-1", {"x": "[0, 1]"}, [("x", ">"), ("-x", ">=")]),
        _proof(
            _term(("1", "1"), product=[["constraint", 1]]),
            multiplier=[_term(("1", "1"), product=[["constraint", 0]])],
        ),
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_identities_are_accepted(name: str) -> None:
    """Identities that show a claim are accepted, and nobody is trusted."""
    assert check_claim(*ACCEPTED[name]) == ()


# Of these the only point is x = 0, where the claim fails.
ZERO = _claim("-1", UNIT, [("-x", ">="), ("1 - x", ">")])

REJECTED = {
    "a constraint in the multiplier alone": (
        ZERO,
        _proof(_term(("1", "1"), product=[LOW]), multiplier=[FIRST]),
        "not shown to be positive",
    ),
    "a multiplier that is positive in its last side only": (
        ZERO,
        _proof(
            _term(("1", "1"), product=[["constraint", 0], ["constraint", 1]]),
            multiplier=[_term(("1", "1"), product=[LOW, ["constraint", 1]])],
        ),
        "not shown to be positive",
    ),
    "a positive number zero times": (
        ZERO,
        _proof(FIRST, multiplier=[_term(("0", "1")), _term(("1", "1"), product=[LOW])]),
        "not shown to be positive",
    ),
    "zero as a positive number": (
        ZERO,
        _proof(FIRST, multiplier=[_term(("1", "0")), _term(("1", "1"), product=[LOW])]),
        "not shown to be positive",
    ),
    "a square of what is fixed as the multiplier": (
        _claim("-1", {"x": "[0, 0]"}),
        _proof(_term(("1", "1"), product=[LOW, ["high", "x", "0"]]), multiplier=[_term(("1", "x"))]),
        "one value only",
    ),
    "the sum of squares differs from the polynomial": (
        SQUARE,
        _proof(_term(("1", "x + y"))),
        "the sum of squares differs from the polynomial",
    ),
    "a perturbed number": (
        SQUARE,
        _proof(_term(("1000001/1000000", "x - y"))),
        "the sum of squares differs from the polynomial",
    ),
    "a negative coefficient": (
        _claim("x^2 - y^2", XY),
        _proof(_term(("1", "x"), ("-1", "y"))),
        "negative",
    ),
    "a side inside the box": (
        _claim("x - 1/2", UNIT),
        _proof(_term(("1", "1"), product=[["low", "x", "1/2"]])),
        "one side",
    ),
    "an upper side inside the box": (
        _claim("-x + 1/2", UNIT),
        _proof(_term(("1", "1"), product=[["high", "x", "1/2"]])),
        "one side",
    ),
    "zero as the multiplier": (
        _claim("-1", XY),
        _proof(_term(), multiplier=[_term()]),
        "not shown to be positive",
    ),
    "a multiplier that is zero on the box": (
        _claim("-1", {"x": "[0, 0]", "y": "[0, 1]"}),
        _proof(
            _term(("1", "1"), product=[["high", "x", "0"]]), multiplier=[_term(("1", "1"), product=[LOW])]
        ),
        "one value only",
    ),
    "a multiplier that is zero where a constraint holds": (
        _claim("-1", UNIT, [("-x", ">=")]),
        _proof(_term(("1", "1"), product=[["constraint", 0]]), multiplier=[_term(("1", "1"), product=[LOW])]),
        "not shown to be positive",
    ),
    "a constraint that may be zero as the multiplier": (
        _claim("-1", UNIT, [("-x", ">="), ("x", ">=")]),
        _proof(
            _term(("1", "1"), product=[["constraint", 0]]),
            multiplier=[_term(("1", "1"), product=[["constraint", 1]])],
        ),
        "not shown to be positive",
    ),
    "a constraint that is not there": (
        _claim("x", UNIT),
        _proof(_term(("1", "1"), product=[["constraint", 0]])),
        "no constraint",
    ),
    "a side of what has no interval": (
        _claim("E", {}, constant="1", free=["E"]),
        _proof(_term(("1", "1"), product=[["low", "E", "0"]])),
        "no variable",
    ),
    "a multiplier with what has no interval": (
        _claim("x", UNIT, constant="1", free=["E"]),
        _proof(_term(("1", "E"), product=[LOW]), multiplier=[_term(("1", "E"))]),
        "no variable",
    ),
    "another word for a side": (
        _claim("x", UNIT),
        _proof(_term(("1", "1"), product=[["left", "x", "0"]])),
        "unknown kind",
    ),
    "a side without its number": (
        _claim("x", UNIT),
        _proof(_term(("1", "1"), product=[["low", "x"]])),
        "a list of 3",
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_what_shows_nothing_is_rejected(name: str) -> None:
    """An identity that is none, or shows something else, is rejected with its reason."""
    claim, proof, reason = REJECTED[name]
    with pytest.raises(Rejected, match=reason):
        check_claim(claim, proof)


def _sides(names: int, times_over: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A claim and a product of x + 1 for so many variables, each so many times."""
    box = {f"x{k}": "[0, 1]" for k in range(names)}
    sides = [["low", name, "-1"] for name in box] * times_over
    return _claim("x0", box), _proof(_term(("1", "1"), product=sides))


@pytest.mark.parametrize(("names", "times_over"), [(1, 257), (1, 5_000), (25, 1)])
def test_long_products_end_at_once(names: int, times_over: int) -> None:
    """A short text with many sides would be a polynomial of 5 000 long numbers, or of 2^25 terms."""
    with pytest.raises(Rejected, match="checked"):
        check_claim(*_sides(names, times_over))


def test_products_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many sides and terms as the limits are multiplied, and no more."""
    claim, proof = _sides(3, 1)
    for name, most in (("MAX_SIDES", 3), ("MAX_PRODUCT", 8)):
        for less in (0, 1):
            monkeypatch.setattr(proof_rules, name, most - less)
            with pytest.raises(
                Rejected, match="checked" if less else "the sum of squares differs from the polynomial"
            ):
                check_claim(claim, proof)
        monkeypatch.undo()


def test_products_that_certificates_have_are_checked() -> None:
    """(x + 1)^40 is a product of 40 sides, and x0·x1·…·x99 one of 100."""
    box = {f"x{k}": "[0, 1]" for k in range(100)}
    sides = [["low", name, "0"] for name in box]
    assert check_claim(_claim("*".join(box), box), _proof(_term(("1", "1"), product=sides))) == ()
    claim, proof = _sides(1, 40)
    power = " + ".join(f"{comb(40, k)}*x0^{k}" for k in range(41))
    assert check_claim({**claim, "polynomial": power}, proof) == ()


def _vanish(claim_constraint: str, squares: list[list[str]]) -> tuple[dict[str, Any], dict[str, Any]]:
    claim = _claim("-1", {"x": "(0, 1)", "y": "(0, 1)"}, [(claim_constraint, ">=")])
    tree = {"kind": "bernstein", "tree": [["outside", 2]]}
    return claim, {"kind": "vanish", "constraint": 0, "squares": squares, "proof": tree}


def test_squares_vanish_together() -> None:
    """−x² − (x − y)² ≥ 0 says x = 0, which an open end excludes; constraint 2 is −x ≥ 0."""
    claim, proof = _vanish("-2*x^2 + 2*x*y - y^2", [["1", "x"], ["1", "x - y"]])
    assert check_claim(claim, proof) == ()
    for squares in ([["1", "x"], ["2", "x - y"]], [["1", "x"]]):
        with pytest.raises(Rejected, match="no sum of squares"):
            check_claim(claim, {**proof, "squares": squares})
    claim, proof = _vanish("-x^2 + y^2", [["1", "x"], ["-1", "y"]])
    with pytest.raises(Rejected, match="not positive"):
        check_claim(claim, proof)
    claim, proof = _vanish("-y^2", [["0", "x"], ["1", "y"]])
    with pytest.raises(Rejected, match="not positive"):
        check_claim(claim, proof)


def test_what_vanishes_is_not_positive() -> None:
    """From −x² ≥ 0 follow x ≥ 0 and −x ≥ 0, which do not contradict each other."""
    claim = _claim("-1", UNIT, [("-x^2", ">=")])
    rest = {"kind": "contradiction", "constraints": [1, 2]}
    with pytest.raises(Rejected, match="do not contradict"):
        check_claim(claim, {"kind": "vanish", "constraint": 0, "squares": [["1", "x"]], "proof": rest})
