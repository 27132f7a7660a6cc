"""Every step of simplification on many small claims: z3 decides the claim and its premises, and compares."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from claim_tools import ask_z3, failing_grid_point, make

from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.polynomials import Ring
from paramverify.claims import Claim, to_document
from paramverify.formats.refutations import fails_at, refuter
from paramverify.kernel.claim_evidence import check_claim
from paramverify.simplify import chain
from paramverify.simplify import reductions as factor_step
from paramverify.simplify.chain import STEPS, ends_step, sign_step, simplify, stretch_step
from paramverify.simplify.reductions import (
    Guarantee,
    factorable,
    factorisation,
    live_constraints,
    quotient,
    refuted,
)

TRUSTED = {"kind": "solver", "solver": "z3", "version": ""}
RING = Ring(("p", "q"))
PARTS = [
    *("p", "q", "1 - p", "p - q", "q - p", "2*p - 1", "1 - 2*q", "p + q - 1", "1 - p - q", "p + 1", "-p - 1"),
    *(
        "p^2 - q",
        "q - p^2",
        "p*q - 1/4",
        "q^2 - q + 1/3",
        "p^2 - p + 1/4",
        "p^2 + q^2 - 1",
        "p - 1/3",
        "3*p - q",
    ),
]
LIMITS = [
    "p - q",
    "q - p",
    "2*p - 2*q",
    "p + q - 1",
    "1 - p - q",
    "p - 1",
    "p",
    "q",
    "2*q - 1",
    "q - p^2",
    "p - 2*q",
]
ENDS = [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3)]


def random_claim(random: Random) -> Claim:
    """Returns a product, a sum or a constraint itself, under a few constraints, some of them equations."""
    f = RING.number(random.choice((1, -1, 2, Fraction(-1, 2), Fraction(3, 2))))
    for _ in range(random.choice((0, 1, 1, 2, 2, 3))):
        f = f * RING.parse(random.choice(PARTS)) ** random.choice((1, 1, 1, 2, 3))
    if random.random() < 0.3:
        f = f + RING.parse(random.choice(PARTS))
    box = {}
    for name in RING.names:
        if random.random() < 0.1:
            low = high = random.choice(ENDS)
        else:
            low, high = sorted(random.sample(ENDS, 2))
        closed = (True, True) if low == high else (random.random() < 0.5, random.random() < 0.5)
        box[name] = Interval(low, high, *closed)
    limits = []
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        g = RING.parse(random.choice(LIMITS))
        limits.append(Constraint(g, random.random() < 0.4, ""))
        if random.random() < 0.3:
            limits.append(Constraint(-g * RING.number(random.choice((1, 2))), random.random() < 0.2, ""))
        if random.random() < 0.2:
            f = g * RING.number(random.choice((1, 3, -1)))
    return Claim(f, Domain(RING, box, tuple(limits)))


def holds(claim: Claim) -> bool:
    """Tells whether a claim holds, as z3 says."""
    said = ask_z3(claim, 5000)
    assert said in ("sat", "unsat")
    return said == "unsat"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
def test_steps_say_the_truth(part: int) -> None:
    """Exact steps change no verdict, others prove nothing false; certificates fit, and points come back."""
    random = Random(part)
    applied: Counter[str] = Counter()
    for _ in range(36):
        claim = random_claim(random)
        said = (str(claim.polynomial), claim.domain)
        truth = None
        for name, step in STEPS.items():
            reduction = step(claim)
            if reduction is None:
                continue
            applied[name] += 1
            truth = holds(claim) if truth is None else truth
            premises = [holds(premise.claim) for premise in reduction.premises]
            if reduction.guarantee is Guarantee.EXACT:
                assert all(premises) == truth, (name, said)
            else:
                assert truth or not all(premises), (name, said)
            if all(premises):
                proof = reduction.certify([TRUSTED] * len(premises))
                check_claim(to_document(claim), json.loads(json.dumps(proof)))
            for premise, right in zip(reduction.premises, premises, strict=True):
                point = None if right else failing_grid_point(premise.claim)
                if point is not None and reduction.guarantee is Guarantee.EXACT:
                    found = refuter(claim)(premise.lift(point))
                    assert found is not None, (name, said)
                    assert fails_at(claim, found)
    assert {"sign", "factors", "monotone"} <= applied.keys()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
def test_chains_of_steps_say_the_truth(part: int) -> None:
    """All steps together: the leaves hold iff the claim does, where the chain says that it is exact."""
    random = Random(f"chain {part}")
    exact = 0
    for _ in range(50):
        claim = random_claim(random)
        tree = simplify(claim)
        truth = holds(claim)
        leaves = [holds(leaf.claim) for leaf in tree.leaves()]
        assert truth or not all(leaves), (str(claim.polynomial), claim.domain)
        if tree.exact:
            exact += 1
            assert truth == all(leaves), (str(claim.polynomial), claim.domain)
        if all(leaves):
            check_claim(to_document(claim), json.loads(json.dumps(tree.proof([TRUSTED] * len(leaves)))))
    assert exact > 25


def test_what_a_chain_guarantees() -> None:
    """A chain is exact iff all its steps are; a factor that may be zero is not divided out exactly."""
    both = ["p <= q", "q <= p"]
    claim = make("3*(p - q)**2 * (2*p - 1)", "pq", both)
    tree = simplify(claim, ["content", "factors"])
    assert tree.steps() == ["content", "factors"]
    assert not tree.exact
    closed = {"p": "[0, 1]", "q": "[0, 1]"}
    zero = simplify(make("p*(q - 1/2)", closed, ["p <= 0"]), ["factors"])
    assert zero.steps() == ["factors"]
    assert not zero.exact
    never = simplify(make("(p + 1)*(q - 1/2)", closed, ["p <= 0"]), ["factors"])
    assert never.steps() == ["factors"]
    assert never.exact
    assert simplify(make("-p - 1/2", closed)).steps() == ["sign"]


def test_only_exact_steps_where_they_are_wanted() -> None:
    """With `exact` a chain makes the exact steps, and leaves out those that are only sound for proof."""
    closed = {"p": "[0, 1]", "q": "[0, 1]"}
    never = simplify(make("(p + 1)*(q - 1/2)", closed, ["p <= 0"]), ["factors"], exact=True)
    assert never.steps() == ["factors"]
    zero = make("p*(q - 1/2)", closed, ["p <= 0"])
    assert simplify(zero, ["factors"]).steps() == ["factors"]
    assert simplify(zero, ["factors"], exact=True).steps() == []


def test_factors_of_known_sign_leave_nothing_to_prove() -> None:
    """A product of factors that constraints make nonnegative is proved, even where it may be zero."""
    claim = make("p**2 * (q - p)", {"p": "[0, 1]", "q": "[0, 1]"}, ["q >= p"])
    reduction = factor_step.factor_step(claim)
    assert reduction is not None
    assert reduction.premises == ()
    assert reduction.guarantee is Guarantee.EXACT
    check_claim(to_document(claim), json.loads(json.dumps(reduction.certify([]))))


def test_the_point_that_refutes_is_inside() -> None:
    """Where known factors make the product negative, the point is inside the box, and no factor is zero."""
    sevenths = " * ".join(f"(7*p - {k})**2" for k in range(1, 7))
    for text in ("-(p + 1)**2 * p", "-(2*p - 1)**2 * p", f"-(2*p - 1)**2 * {sevenths} * p"):
        claim = make(text, {"p": "(0, 1)"})
        reduction = factor_step.factor_step(claim)
        assert reduction is not None
        (premise,) = reduction.premises
        assert premise.claim.polynomial == -1
        assert fails_at(claim, premise.lift({}))


def test_constraints_that_leave_no_point() -> None:
    """A constraint that fails on the whole box proves the claim; one that may hold with equality does not."""
    box = {"p": Interval(Fraction(0), Fraction(1), True, True), "q": Interval(Fraction(0), Fraction(1))}
    for text, strict, empty in (
        ("-p - 1", False, True),
        ("-p - 1", True, True),
        ("-p", True, True),
        ("-p", False, False),
        ("0", True, True),
        ("0", False, False),
        ("p - q", True, False),
    ):
        limits = (Constraint(RING.parse("q - p"), False, ""), Constraint(RING.parse(text), strict, ""))
        claim = Claim(RING.parse("p - 2"), Domain(RING, box, limits))
        reduction = chain.empty_step(claim)
        assert (reduction is not None) == empty
        if reduction is not None:
            assert reduction.premises == ()
            assert reduction.guarantee is Guarantee.EXACT
            check_claim(to_document(claim), json.loads(json.dumps(reduction.certify([]))))


def test_equations_that_nothing_solves() -> None:
    """Opposite constraints of which one is strict prove the claim; others replace a linear variable."""
    for first, second, strict, premises in (
        ("p - q", "q - p", (False, True), 0),
        ("p - q", "2*q - 2*p", (True, False), 0),
        ("p - q", "q - p", (False, False), 1),
        ("p^2 - q^2", "q^2 - p^2", (False, False), None),
        ("p - q", "p - q", (False, False), None),
        ("p - q", "q - 2*p", (False, True), None),
    ):
        texts = zip((first, second), strict, strict=True)
        limits = tuple(Constraint(RING.parse(text), hard, "") for text, hard in texts)
        box = {n: Interval(Fraction(0), Fraction(1)) for n in "pq"}
        claim = Claim(RING.parse("p*q - 1"), Domain(RING, box, limits))
        reduction = chain.equation_step(claim)
        assert (None if reduction is None else len(reduction.premises)) == premises
        if reduction is not None:
            proof = reduction.certify([TRUSTED] * len(reduction.premises))
            check_claim(to_document(claim), json.loads(json.dumps(proof)))


def test_constraints_that_always_hold_are_not_live() -> None:
    """A constraint is shown to hold on the box where it is positive, or zero and weak."""
    for text, relation, live in (
        ("p + 1", ">", False),
        ("p + 1", ">=", False),
        ("p", ">=", False),
        ("p", ">", True),
        ("p - 1/2", ">=", True),
        ("-p - 1", ">", True),
        ("-p", ">=", True),
    ):
        claim = make("p", {"p": "[0, 1]", "q": "[0, 1]"}, ["q >= p", f"{text} {relation} 0"])
        assert [k for k, _ in live_constraints(claim.domain)] == ([0, 1] if live else [0])


def test_quotients_of_polynomials() -> None:
    """A multiple is found with its number; polynomials that are none have the quotient 0."""
    f = RING.parse("2*p - 3*q + 1")
    for c in (Fraction(3), Fraction(-1, 2), Fraction(7, 5)):
        assert quotient(f * RING.number(c), f) == c
        assert quotient(f, f * RING.number(c)) == 1 / c
    for other in ("2*p - 3*q", "2*p - 3*q + 2", "p - 3*q + 1", "p", "0"):
        assert quotient(f, RING.parse(other)) == 0


def test_factorisations() -> None:
    """The product of the factors with the constant is the polynomial, and factors are primitive."""
    random = Random(5)
    for _ in range(40):
        f = random_claim(random).polynomial * RING.number(
            Fraction(random.randint(1, 9), random.randint(1, 9))
        )
        constant, factors = factorisation(f)
        product = RING.number(constant)
        for factor, multiplicity in factors:
            product = product * factor**multiplicity
        assert product == f


def test_sizes_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Polynomials as large as the limits are factored or stretched, larger ones are not."""
    f = RING.parse("p^3*q - p")
    for terms, degree, right in ((2, 4, True), (1, 4, False), (2, 3, False)):
        monkeypatch.setattr(factor_step, "MAX_FACTOR_TERMS", terms)
        monkeypatch.setattr(factor_step, "MAX_FACTOR_DEGREE", degree)
        assert factorable(f) == right
        stated = Claim(f, Domain(RING, {n: Interval(Fraction(0), Fraction(1)) for n in "pq"}))
        assert (factor_step.factor_step(stated) is not None) == right
    claim = make("p**2 - q", {"p": "[0, 1]", "q": "[0, 1]"}, ["p <= q**2"])
    size = (2 + 2 * 0 + 1) * (1 + 2 * 2 + 1)  # p' of degree 2, and q of degree 1 + 2·2
    monkeypatch.setattr(chain, "MAX_STRETCHED", size)
    assert stretch_step(claim) is not None
    monkeypatch.setattr(chain, "MAX_STRETCHED", size - 1)
    assert stretch_step(claim) is None


@pytest.mark.parametrize(("factor", "right"), [("1/7", True), ("1", True), ("3", True), ("-1", False)])
def test_positive_multiples_of_constraints(factor: str, right: bool) -> None:
    """A claim is proved by the constraint that it is a positive multiple of, however small the factor."""
    claim = make(f"{factor}*(p**2 - q)", "pq", ["q >= 1/9", "p**2 >= q"])
    reduction = sign_step(claim)
    assert (reduction is not None) == right
    if reduction is not None:
        assert reduction.premises == ()
        check_claim(to_document(claim), json.loads(json.dumps(reduction.certify([]))))


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_how_many_linear_variables_are_decided_at_their_ends(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many linear variables as the limit says are replaced by their ends, and not more."""
    monkeypatch.setattr(chain, "MAX_LINEAR", most)
    reduction = ends_step(make("p*q*r - p - q - r + 4", "pqr"))
    assert (reduction is not None) == (most >= 3)


def test_points_for_signs_are_inside() -> None:
    """The point that shows signs is inside the box in every coordinate, however many choices it takes."""
    names = tuple(f"x{k}" for k in range(40))
    ring = Ring(names)
    box = {n: Interval(Fraction(1, 3), Fraction(2, 3)) for n in names}
    f = -ring.parse("(x0 - 1/2)^2 * (x0 + 1)")
    for _ in range(6):
        claim = Claim(f, Domain(ring, box))
        reduction = factor_step.factor_step(claim)
        assert reduction is not None
        (premise,) = reduction.premises
        point = premise.lift({})
        assert all(Fraction(1, 3) < point[n] < Fraction(2, 3) for n in names)
        assert fails_at(claim, point)
        f = f * ring.parse(f"(x0 - {point['x0']})^2")


def test_what_refutes_is_not_proved() -> None:
    """The reduction of a false claim has one premise, which is false, and hands its proof on."""
    claim = make("-p", "p")
    reduction = refuted(claim, "sign", {"p": Fraction(1, 2)}, Guarantee.EXACT)
    (premise,) = reduction.premises
    assert premise.claim.polynomial == -1
    assert premise.lift({}) == {"p": Fraction(1, 2)}
    assert reduction.certify([TRUSTED]) == TRUSTED


@pytest.mark.parametrize(
    "text",
    ["p*(2*q - 1)", "p*(1 - p)*(3*q - 1)", "p**2*q*(p - q)**3", "(p - q)*(p - 1/4)", "(1 - q)**2*(q - p**2)"],
)
def test_points_of_factors_come_back(text: str) -> None:
    """Where a factor has the wrong sign, the point that comes back refutes the product, zeros left aside."""
    claim = make(text, {"p": "[0, 1]", "q": "[0, 1]"})
    reduction = factor_step.factor_step(claim)
    assert reduction is not None
    steps = [Fraction(k, 5) for k in range(6)]
    found = 0
    for premise in reduction.premises:
        for p, q in product(steps, steps):
            point = {"p": p, "q": q}
            if fails_at(premise.claim, point):
                found += 1
                assert fails_at(claim, premise.lift(point))
    assert found


def test_products_under_constraints_become_smaller() -> None:
    """Factors of unknown sign stay together under constraints, each once; there is no step if all do."""
    for text, left in (
        ("(p - 1/2)*(q - 1/3)", None),
        ("(p - 1/2)**3*(q - 1/3)", "6*p*q - 2*p - 3*q + 1"),
        ("(p - 1/2)**3*(q - 1/3)**3", "6*p*q - 2*p - 3*q + 1"),
        ("(p + 1)*(p - 1/2)*(q - 1/3)", "6*p*q - 2*p - 3*q + 1"),
        ("-(p - 1/2)*(q - 1/3)**3", "-6*p*q + 2*p + 3*q - 1"),
    ):
        claim = make(text, {"p": "[0, 1]", "q": "[0, 1]"}, ["p**2 + q**2 <= 1"])
        reduction = factor_step.factor_step(claim)
        assert (reduction is None) == (left is None)
        if reduction is not None:
            (premise,) = reduction.premises
            assert str(premise.claim.polynomial) == left


def test_room_that_an_equation_leaves() -> None:
    """What replaces a variable stays in its interval, with an end iff the interval has it."""
    half = Interval(Fraction(0), Fraction(1, 2), True, True)
    for low, high in product((False, True), (False, True)):
        box = {"p": Interval(Fraction(1, 4), Fraction(3, 4), low, high), "q": half}
        limits = tuple(Constraint(RING.parse(t), False, "") for t in ("p - 2*q", "2*q - p"))
        claim = Claim(RING.parse("p - 1"), Domain(RING, box, limits))
        reduction = chain.equation_step(claim)
        assert reduction is not None
        (premise,) = reduction.premises
        for k in range(17):
            q = Fraction(k, 32)
            inside = (2 * q > Fraction(1, 4) or (low and 2 * q == Fraction(1, 4))) and (
                2 * q < Fraction(3, 4) or (high and 2 * q == Fraction(3, 4))
            )
            room = premise.claim.domain.constraints
            assert all(c.holds_at({"p": Fraction(1, 2), "q": q}) for c in room) == inside
