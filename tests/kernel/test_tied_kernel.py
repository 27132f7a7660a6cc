"""Logarithms in the checker: bounds of ln, signs, and proofs about a parameter beside its exponential."""

from __future__ import annotations

import copy
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from claim_tools import check_witness
from tied_claims import tied

from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.polynomials import Ring, Unbounded
from paramverify.answers import Proved
from paramverify.claims import Claim, to_document
from paramverify.exact.branching import decide_exactly
from paramverify.kernel import tied_variables
from paramverify.kernel.claim_evidence import check_claim
from paramverify.kernel.evidence_polynomials import Poly, evaluate
from paramverify.kernel.proof_goals import Context, Goal, Tie
from paramverify.kernel.rounded_constants import (
    PRECISIONS,
    encloses_exp,
    exp_bounds,
    log_bounds,
    sign_in_exp,
    sign_of_logs,
)
from paramverify.kernel.strict_reading import Rejected
from paramverify.kernel.tied_variables import logarithm_rule


@pytest.mark.parametrize("text", ["1", "2", "3/2", "1000000007/3", "20/3", "4/3", "1000001/1000000", "2048"])
@pytest.mark.parametrize("bits", [20, 64])
def test_bounds_of_logarithms(text: str, bits: int) -> None:
    """exp(low) ≤ value ≤ exp(high), by the series of exp, and the bounds are as near as the bits allow."""
    number = Fraction(text)
    low, high = log_bounds(number, bits)
    assert high - low <= Fraction(bits + 40, 2 ** (bits - 6))
    assert low <= 0 or exp_bounds(low, 60)[0] <= number
    assert high == 0 or exp_bounds(high, 60)[1] >= number
    assert 0 <= low <= high


def test_signs_of_logarithms() -> None:
    """ln 2 is between 0.693 and 0.694; 2·ln 2 and ln 4 differ by nothing that bits could show."""
    two = [Fraction(2)]
    assert sign_of_logs({(1,): Fraction(1), (0,): Fraction(-693, 1000)}, two) == 1
    assert sign_of_logs({(1,): Fraction(1), (0,): Fraction(-694, 1000)}, two) == -1
    assert sign_of_logs({}, two) == 0
    assert sign_of_logs({(0,): Fraction(-2)}, two) == -1
    with pytest.raises(Rejected, match="not decided"):
        sign_of_logs({(1, 0): Fraction(2), (0, 1): Fraction(-1)}, [Fraction(2), Fraction(4)])


def _reduced(poly: Poly, cell: tuple[Fraction, Fraction], part: dict[str, Any], step: str) -> Goal:
    """Returns what the rule makes of a goal on the only cell of its interval."""
    box = {"x_eps": cell}
    ties = (Tie("eps", "x_eps", Fraction(step)),)
    found: list[Goal] = []
    proof = {"variable": "eps", "cuts": [], "parts": [{**part, "proof": None}]}
    conditions = (None, (poly, True), (poly, False))
    goal = Goal(("x_eps", "eps"), poly, box, conditions, frozenset({("x_eps", 1)}), ties=ties)
    logarithm_rule(goal, proof, lambda goal, _: found.append(goal), Context())
    (reduced,) = found
    assert not reduced.ties
    assert reduced.conditions == (None, (reduced.poly, True), (reduced.poly, False))
    return reduced


@pytest.mark.parametrize(
    ("a", "b", "terms", "step"), [("1/2", "1", 3, "1"), ("1/3", "3/4", 5, "1/2"), ("1/9", "1/8", 1, "3")]
)
def test_the_logarithm_is_between_the_polynomials(
    a: str, b: str, terms: int, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a cell −ln(x)/step is at least the polynomial with r = 0, and at most that with r = 1."""
    monkeypatch.setattr(tied_variables, "MAX_TERMS", terms)
    low, high = Fraction(a), Fraction(b)
    near = log_bounds(1 / high, 40) if high < 1 else (Fraction(0), Fraction(0))
    part = {"terms": terms, "enclosure": [str(end) for end in near]}
    goal = _reduced({(0, 1): Fraction(1)}, (low, high), part, step)
    assert goal.box == {"x_eps": (low, high), "eps": (0, 1)}
    for k in range(6):
        x = low + (high - low) * k / 5
        below, above = (evaluate(goal.poly, [x, Fraction(r)]) * Fraction(step) for r in (0, 1))
        # The two are as near as the terms allow, and exp of them is on both sides of 1/x.
        assert exp_bounds(below, 30)[0] <= 1 / x <= exp_bounds(above, 30)[1] or below == above == 0 == 1 - x
        assert above - below <= (1 - x / high) ** terms * high / low + Fraction(1, 2**30)


@pytest.mark.parametrize(
    ("b", "least", "power", "step"), [("1/64", "4", 2, "1"), ("1/1000", "6.5", 6, "1/3")]
)
def test_x_is_a_small_multiple_of_a_power(b: str, least: str, power: int, step: str) -> None:
    """With r = x/(B·u^M) ≤ 1 and u = 1/ln(1/x) the new polynomial is u^m times the old one."""
    bound = Fraction(int(float(least) ** power * 2.718281828 ** -float(least) * 1000) + 1, 1000)
    poly = {(1, 2): Fraction(3), (0, 1): Fraction(-2), (4, 0): Fraction(5), (0, 3): Fraction(1, 7)}
    part = {"least": str(Fraction(least)), "power": power, "bound": str(bound)}
    goal = _reduced(poly, (Fraction(0), Fraction(b)), part, step)
    assert goal.box == {"x_eps": (0, 1), "eps": (0, 1 / Fraction(least))}
    for k in (1, 3, 20):
        x = Fraction(b) / k
        t = log_bounds(1 / x, 200)[0]  # near ln(1/x): the equation holds for every t
        u = 1 / t
        r = x / (bound * u**power)
        assert 0 < u <= 1 / Fraction(least)
        assert 0 < r <= 1
        assert evaluate(goal.poly, [r, u]) == u**3 * evaluate(poly, [x, t / Fraction(step)])


def test_ends_that_belong_to_no_cell_are_left_out() -> None:
    """An end that the domain leaves out stays out for the cell that has it, and no other."""
    claim = tied("0*eps - 1", above="-eps")  # no x below 1 has eps ≤ 0
    answer = decide_exactly(claim)
    assert isinstance(answer, Proved)
    assert answer.certificate is not None
    document = copy.deepcopy(answer.certificate)
    check_claim(document["claim"], document["proof"])
    document["claim"]["box"]["x_eps"] = "(0, 1]"
    with pytest.raises(Rejected, match="not shown to fail"):
        check_claim(document["claim"], document["proof"])


CLAIM = tied("x_eps - 1 + eps", "1/2")


@pytest.fixture(scope="module")
def proved() -> tuple[Any, Any]:
    """A claim and its proof, as documents."""
    answer = decide_exactly(CLAIM)
    assert isinstance(answer, Proved)
    assert answer.certificate is not None
    check_claim(answer.certificate["claim"], answer.certificate["proof"])
    return answer.certificate["claim"], answer.certificate["proof"]


def _cell(proof: Any, key: str) -> Any:
    return next(part for part in proof["parts"] if key in part)


Change = Callable[[Any, Any], object]
FORGED: dict[str, tuple[Change, str]] = {
    "a cell is missing": (lambda c, p: p["parts"].pop(), "do not follow"),
    "a cut is missing": (lambda c, p: p["cuts"].pop(), "do not follow"),
    "cuts go down": (lambda c, p: p["cuts"].reverse(), "do not follow"),
    "another variable": (lambda c, p: p.update(variable="x_eps"), "no variable"),
    "no bits of ln(b) at all": (
        lambda c, p: p["parts"][1].update(enclosure=["0", "0"]),
        "not shown to be in the interval",
    ),
    "ln(1) above 0": (lambda c, p: p["parts"][-1].update(enclosure=["1/100", "1/50"]), "is 0"),
    "no terms": (lambda c, p: p["parts"][-1].update(terms=0), "number of terms"),
    "a cell at 0 with terms": (
        lambda c, p: p["parts"].__setitem__(0, {**p["parts"][1]}),
        "a cell that ends at 0",
    ),
    "x is smaller than shown": (lambda c, p: _cell(p, "power").update(bound="1/1000000"), "as small"),
    "ln(1/x) is larger than shown": (lambda c, p: _cell(p, "power").update(least="500"), "as large"),
    "a power beyond the fall": (lambda c, p: _cell(p, "power").update(power=40), "no bounds"),
    "the claim is another one": (
        lambda c, p: c.update(polynomial="x_eps - 1 + 4/9*eps"),
        "negative",
    ),
    "another step": (lambda c, p: c.update(ties={"eps": ["x_eps", "3"]}), "negative"),
    "tied to itself": (lambda c, p: c.update(ties={"eps": ["eps", "1/2"]}), "tied in an unknown way"),
    "no tie": (lambda c, p: c.pop("ties"), "no interval"),
    "beyond (0, 1]": (lambda c, p: c["box"].update(x_eps="(0, 2)"), "beyond"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_proofs(name: str, proved: tuple[Any, Any]) -> None:
    """Each change that makes a step of the proof wrong is noticed."""
    claim, proof = copy.deepcopy(proved)
    change, why = FORGED[name]
    change(claim, proof)
    with pytest.raises(Rejected, match=why):
        check_claim(claim, proof)


def test_a_proof_is_for_its_claim_alone(proved: tuple[Any, Any]) -> None:
    """The proof of a true claim does not show a false one, whatever it is."""
    _, proof = proved
    for text in ("x_eps - 1 + eps - eps**2/8", "1 - x_eps - eps", "eps - 1"):
        with pytest.raises(Rejected):
            check_claim(to_document(tied(text, "1/2")), proof)


OTHER_KINDS = [
    {"kind": "monotone", "variable": "x_eps", "end": "upper", "derivative": {}, "proof": {}},
    {"kind": "ends", "variable": "x_eps", "lower": {"kind": "constant"}, "upper": {"kind": "constant"}},
    {"kind": "bernstein", "tree": ["+"]},
    {"kind": "fixed", "variable": "x_eps", "proof": {"kind": "constant"}},
    {"kind": "quadratic", "variable": "x_eps", "leading": {}, "constant": {}, "discriminant": {}},
    {"kind": "convex", "point": {"x_eps": "1/2"}},
    {"kind": "stretch", "variable": "x_eps", "constraint": 0, "proof": {}},
    {"kind": "eliminate", "variable": "x_eps", "constraints": [0, 1], "proof": {}},
    {"kind": "blowup", "corner": {"x_eps": "lower", "p": "lower"}, "parts": {}},
]


@pytest.mark.parametrize("proof", OTHER_KINDS, ids=lambda proof: proof["kind"])
def test_no_other_rule_moves_x_alone(proof: dict[str, Any]) -> None:
    """Rules that move x and keep eps are refused: where x goes, eps goes, too."""
    from paramverify.kernel.claim_evidence import read_claim
    from paramverify.kernel.proof_rules import prove

    for claim in (CLAIM, tied("x_eps - 1", "1/2", above="1 - eps")):
        goal = read_claim(to_document(claim)).goal
        with pytest.raises(Rejected, match="cannot be about a logarithm"):
            prove(goal, proof, Context())


def test_witnesses() -> None:
    """A rational x refutes a claim iff f < 0 there for eps = −ln(x)/step, and eps itself has no value."""
    claim = to_document(tied("1 - eps", "1/2"))
    check_witness(claim, {"x_eps": "1/2"})  # eps = 2·ln 2 = 1.386…
    with pytest.raises(Rejected, match="does not fail"):
        check_witness(claim, {"x_eps": "2/3"})  # eps = 0.810…
    with pytest.raises(Rejected, match="must give x_eps"):
        check_witness(claim, {"x_eps": "1/2", "eps": "2"})
    bounded = to_document(tied("1 - eps", "1/2", above="4/3 - eps"))
    with pytest.raises(Rejected, match="constraint"):
        check_witness(bounded, {"x_eps": "1/2"})
    check_witness(bounded, {"x_eps": "6/11"})  # eps = 1.212…


def test_a_cut_belongs_to_its_cells() -> None:
    """A point at a cut is in both cells beside it: a constraint that holds there alone excludes neither."""
    claim = to_document(tied("-eps", "1", Interval(Fraction(1, 4), Fraction(1)), above="-(2*x_eps - 1)**2"))
    tree = {"kind": "bernstein", "tree": [["outside", 0]]}
    near = [str(end) for end in log_bounds(Fraction(2), 40)]
    parts = [
        {"terms": 4, "enclosure": near, "proof": tree},
        {"terms": 4, "enclosure": ["0", "0"], "proof": tree},
    ]
    with pytest.raises(Rejected, match="not shown to fail"):
        check_claim(claim, {"kind": "logarithm", "variable": "eps", "cuts": ["1/2"], "parts": parts})


def test_an_interval_beside_the_logarithm() -> None:
    """An interval that lies in the bounds of few bits, and does not contain ln(2), is no enclosure."""
    low, high = log_bounds(Fraction(2), 200)
    claim = to_document(tied("eps", "1", Interval(Fraction(1, 4), Fraction(1, 2))))
    tiny = Fraction(1, 2**70)
    tree = {"kind": "bernstein", "tree": ["+"]}

    def proof(first: Fraction, last: Fraction) -> dict[str, Any]:
        part = {"terms": 4, "enclosure": [str(first), str(last)], "proof": tree}
        return {"kind": "logarithm", "variable": "eps", "cuts": [], "parts": [part]}

    check_claim(claim, proof(low - tiny, high + tiny))
    for ends in ((high + tiny, high + 2 * tiny), (low - 2 * tiny, low - tiny)):
        with pytest.raises(Rejected, match="not shown to be in the interval"):
            check_claim(claim, proof(*ends))


@pytest.mark.slow
def test_two_tied_parameters() -> None:
    """One is replaced after the other; in between no rule may move the variable of the other one."""
    first, second = (Unbounded(n, f"x_{n}", Fraction(1), True) for n in ("eps", "rho"))
    ring = Ring(("x_eps", "x_rho"), None, (first, second))
    eps, rho, x = ring.variable("eps"), ring.variable("rho"), ring.variable("x_rho")
    part = Interval(Fraction(1, 4), Fraction(1, 2))
    domain = box_domain(ring, {"x_eps": part, "x_rho": part})
    answer = decide_exactly(Claim(eps * rho - x / 2, domain))
    assert isinstance(answer, Proved)
    assert answer.certificate is not None
    claim, proof = answer.certificate["claim"], answer.certificate["proof"]
    check_claim(claim, proof)
    plus = {"kind": "constant"}
    moved = {"kind": "monotone", "variable": "x_rho", "end": "upper", "derivative": plus, "proof": plus}
    forged = copy.deepcopy(proof)
    forged["parts"][0]["proof"] = moved
    with pytest.raises(Rejected, match="cannot be about a logarithm"):
        check_claim(claim, forged)
    false = decide_exactly(Claim(eps * rho - x, domain))
    assert not isinstance(false, Proved)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, ""),
        ({"bound": "1/10000"}, "as small"),
        ({"bound": "73/1000"}, "as small"),  # 16·e^(−4)/4 < it: 4·2 is not 4^2
        ({"bound": "146/1000"}, "as small"),
        ({"bound": "293/1000"}, "as small"),  # 16·e^(−4) = 0.29305...
        ({"bound": "294/1000"}, ""),
        ({"least": "4.2"}, "number"),
        ({"least": "21/5"}, "as large"),  # ln 64 = 4.1588...
        ({"least": "104/25", "bound": "1"}, "as large"),
        ({"least": str(log_bounds(Fraction(64), 400)[1]), "bound": "1"}, "as large"),
        ({"least": "4158/1000", "bound": "1"}, ""),
        ({"least": "0", "power": 0, "bound": "1"}, "no bounds"),
        ({"least": "1/2", "power": 0, "bound": "61/100"}, ""),  # e^(−1/2) = 0.6065...
        ({"least": "1/2", "power": 0, "bound": "60/100"}, "as small"),
        ({"power": -1}, "no bounds"),
        ({"power": 4, "bound": "469/100"}, ""),  # 256·e^(−4) = 4.6888...
        ({"power": 4, "bound": "468/100"}, "as small"),
        ({"power": 5, "bound": "1000"}, "no bounds"),
        ({"least": "1001", "bound": "1"}, "no bounds"),
        ({"least": "1000", "power": 500, "bound": "1"}, "as large"),
        ({"least": str(log_bounds(Fraction(64), PRECISIONS[1])[0]), "bound": "1"}, ""),
        ({"least": str(log_bounds(Fraction(64), PRECISIONS[2])[0]), "bound": "1"}, "as large"),
        ({"bound": str(16 / exp_bounds(Fraction(4), 28)[0])}, ""),
        ({"bound": str(16 / exp_bounds(Fraction(4), 29)[0])}, "as small"),
        ({"power": 501, "least": "600", "bound": "1"}, "no bounds"),
    ],
)
def test_how_small_x_is_near_zero(change: dict[str, Any], reason: str) -> None:
    """On (0, 1/64] x is at most B·u^M for B = T^M·e^(−T), and for no less; M ≤ T ≤ ln 64."""
    part = {"least": "4", "power": 2, "bound": "3/10", **change}
    cell = (Fraction(0), Fraction(1, 64))
    if reason:
        with pytest.raises(Rejected, match=reason):
            _reduced({(1, 0): Fraction(1)}, cell, part, "1")
        return
    goal = _reduced({(1, 0): Fraction(1)}, cell, part, "1")
    assert goal.poly == {(1, part["power"]): Fraction(part["bound"])}
    assert goal.open == {("x_eps", 0), ("eps", 0)}
    for end in (Fraction(0), Fraction(1)):
        with pytest.raises(Rejected, match="no bounds"):
            _reduced({(1, 0): Fraction(1)}, (Fraction(0), end), part, "1")
    for low, high in ((Fraction(-1, 4), Fraction(1, 2)), (Fraction(1, 2), Fraction(2))):
        with pytest.raises(Rejected, match="in \\(0, 1\\] only"):
            _reduced({(1, 0): Fraction(1)}, (low, high), part, "1")


def test_signs_of_polynomials_that_are_nearly_zero() -> None:
    """In two logarithms, with numbers that differ from the value by 2^-75 or less: more bits are taken."""
    two, five = log_bounds(Fraction(2), 400)[0], log_bounds(Fraction(5, 3), 400)[0]
    for powers in ((1, 1), (2, 1), (0, 3), (3, 2)):
        for factor in (Fraction(1), Fraction(-7, 3)):
            value = factor * two ** powers[0] * five ** powers[1]
            for bits in (20, 75, 90, 200):
                for sign in (1, -1):
                    near = Fraction(round(value * 2**bits) - 2 * sign, 2**bits)
                    poly = {powers: factor, (0, 0): -near}
                    assert sign_of_logs(poly, [Fraction(2), Fraction(5, 3)]) == sign


def test_cells_without_length_and_numbers_of_constants() -> None:
    """A cut at an end is none, but for an interval of one number; exponents are up to 1000."""
    near = [str(end) for end in log_bounds(Fraction(2), 60)]
    for low, cuts, right in (
        ("1/2", [], True),
        ("1/2", ["1/2"], True),
        ("1/4", ["1/2"], False),
        ("1/4", [], True),
    ):
        goal = Goal(
            ("x", "l"), {}, {"x": (Fraction(low), Fraction(1, 2))}, (), ties=(Tie("l", "x", Fraction(1)),)
        )
        parts = [{"terms": 2, "enclosure": near, "proof": None}] * (len(cuts) + 1)
        proof = {"variable": "l", "cuts": cuts, "parts": parts}
        if right:
            logarithm_rule(goal, proof, lambda *_: None, Context())
            continue
        with pytest.raises(Rejected, match="do not follow"):
            logarithm_rule(goal, proof, lambda *_: None, Context())
    for exponent, sign in (("0", -1), ("1/10", -1), ("1", 1), ("1000", 1), ("1001", 0), ("-1", 0), (None, 0)):
        number = exponent and Fraction(exponent)
        for constant, own in (({1: Fraction(1), 0: Fraction(-2)}, sign), ({0: Fraction(-3)}, -1)):
            if own:
                assert sign_in_exp(constant, number) == own  # type: ignore[arg-type]
                continue
            with pytest.raises(Rejected, match="out of range"):
                sign_in_exp(constant, number)  # type: ignore[arg-type]
    assert encloses_exp(Fraction(0), Fraction(1), Fraction(1))
    assert encloses_exp(Fraction(3), Fraction(20), Fraction(21))
    assert not encloses_exp(Fraction(3), Fraction(21), Fraction(22))
    for q in (Fraction(1), Fraction(5), Fraction(19, 2)):  # few terms: as many as the geometric series needs
        below, above = exp_bounds(q, 1)
        low, high = exp_bounds(q, 200)
        assert 0 < below <= low <= high <= above
