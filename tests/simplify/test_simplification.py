"""Simplification: each step reduces as it says, its certificates are accepted, and it can be left out."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from claim_tools import failing_grid_point, make, random_claim

from paramverify.algebra.polynomials import key, variables
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import Proof
from paramverify.exact.branching import solve_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.formats.refutations import fails_at, refuter
from paramverify.kernel.claim_evidence import check_claim
from paramverify.simplify.chain import STEPS, Simplified, simplify


def leaves(tree: Simplified) -> list[str]:
    return [key(leaf.claim.polynomial) for leaf in tree.leaves()]


def proved(claim: Claim) -> Proof:
    outcome = solve_exactly(claim, RemainingWork(), refuter(claim))
    assert outcome.proof is not None, outcome.reason
    return outcome.proof


def accepted(claim: Claim, proof: Proof) -> None:
    document = json.loads(json.dumps(certificates.certificate(claim, proof)))
    assert check_claim(document["claim"], document["proof"]) == ()


def test_fixed_variables_are_replaced() -> None:
    """A parameter with one value disappears from claim and constraints, and comes back in a refutation."""
    claim = make("p*q - 1/4", {"p": "1/3", "q": "(0, 1)"}, ["q >= p"])
    tree = simplify(claim, ["fixed"])
    (leaf,) = tree.leaves()
    assert leaves(tree) == ["1/3*q - 1/4"]
    assert [key(c.polynomial) for c in leaf.claim.domain.constraints] == ["q - 1/3"]
    assert leaf.lift({"q": Fraction(1, 2)})["p"] == Fraction(1, 3)


def test_one_look_at_the_coefficients_can_be_enough() -> None:
    """A claim with nonnegative Bernstein coefficients is proved with no claim left over."""
    claim = make("p*(1-p)*(1 + p*q)")
    tree = simplify(claim)
    assert tree.steps() == ["sign"]
    accepted(claim, tree.proof([]))


def test_factors_of_known_sign_and_squares_are_dropped() -> None:
    """Of p³·(1−p)·(p−q)²·(q²−q+1/3−p/100) only the last factor is left, and the parts prove the whole."""
    claim = make("p**3 * (1-p) * (p-q)**2 * (q**2 - q + 1/3 - p/100)")
    tree = simplify(claim, ["factors"])
    assert leaves(tree) == ["-3*p + 300*q^2 - 300*q + 100"]
    assert tree.exact
    accepted(claim, tree.proof([proved(leaf.claim) for leaf in tree.leaves()]))


def test_factors_of_unknown_sign_become_claims_of_their_own() -> None:
    """Without constraints each irreducible factor must have one sign on the box, that at an inner point."""
    claim = make("(p**2 - p + 1/3) * (3/10 - q + q**2) * (2 - p*q)")
    tree = simplify(claim, ["factors"])
    assert sorted(leaves(tree)) == ["10*q^2 - 10*q + 3", "3*p^2 - 3*p + 1"]
    accepted(claim, tree.proof([proved(leaf.claim) for leaf in tree.leaves()]))


def test_factors_under_a_constraint_keep_to_what_is_proved() -> None:
    """Where constraints may leave only zeros of a square, dropping the square is sound for proof only."""
    claim = make("(p - q)**2 * (p - 1/2)", "pq", ["p <= q", "q <= p"])
    tree = simplify(claim, ["factors"])
    assert tree.steps() == ["factors"]
    assert not tree.exact
    assert not simplify(claim, ["factors"], exact=True).steps()
    assert simplify(claim, ["fixed", "sign", "equations"]).steps() == ["equations", "sign"]


def test_a_factor_that_is_a_constraint_has_a_known_sign() -> None:
    """The constraint 1 − p − q > 0 gives the sign of that factor, with a proof by the constraint."""
    claim = make("(1 - p - q) * (p**2 - p + 1/3 + q/9)", "pq", ["p + q < 1"])
    tree = simplify(claim, ["factors"])
    assert tree.exact
    assert leaves(tree) == ["9*p^2 - 9*p + q + 3"]
    accepted(claim, tree.proof([proved(leaf.claim) for leaf in tree.leaves()]))


def test_content_is_divided_out() -> None:
    """Coefficients become coprime whole numbers."""
    claim = make("4/3*p**2 - 2*p*q + 2/5")
    tree = simplify(claim, ["content"])
    assert leaves(tree) == ["10*p^2 - 15*p*q + 3"]
    accepted(make("4/3*p**2 - 2*p*q + 2"), simplify(make("4/3*p**2 - 2*p*q + 2")).proof([]))


def test_linear_variables_are_decided_at_their_ends() -> None:
    """A variable of degree one is replaced by both ends of its interval."""
    claim = make("p*(q - 1/2)**2 + (1-p)*(q - 1/3)**2", {"p": "(1/4, 1)", "q": "[0, 1]"})
    tree = simplify(claim, ["ends"])
    assert tree.steps() == ["ends"]
    assert len(tree.leaves()) == 2
    assert all(variables(leaf.claim.polynomial) == ("q",) for leaf in tree.leaves())
    accepted(claim, tree.proof([proved(leaf.claim) for leaf in tree.leaves()]))


def test_concave_variables_are_decided_at_their_ends() -> None:
    """So is one in which the second derivative is nowhere positive."""
    claim = make("p*(1-p)*(1+q) + (q - 1/2)**2*p")
    tree = simplify(claim, ["ends"])
    assert "ends" in tree.steps()
    accepted(claim, tree.proof([proved(leaf.claim) for leaf in tree.leaves()]))


def test_monotone_variables_are_decided_at_one_end() -> None:
    """A variable in which f increases is replaced by its lower end, one in which f decreases by its upper."""
    claim = make("p**2*(1+q) - q**3 - 2*q + 3", {"p": "[1/2, 1]", "q": "(0, 1]"})
    tree = simplify(claim, ["monotone"])
    assert leaves(tree) == ["1/2"]
    (leaf,) = tree.leaves()
    assert leaf.lift({}) == {"p": Fraction(1, 2), "q": 1}
    accepted(claim, tree.proof([certificates.CONSTANT]))


def test_constrained_variables_are_not_decided_at_ends() -> None:
    """An end of the interval need not belong to the domain when a constraint mentions the variable."""
    claim = make("p - q", "pq", ["p**2 >= q"])
    assert simplify(claim, ["monotone", "ends"]).steps() == []


@pytest.mark.parametrize(
    "constraints",
    [
        ["p + q + r <= 1"],
        ["p < q", "q < r"],
        ["p >= q**2"],
        ["p <= 1/3", "q >= 1/2*r"],
        ["p + q == 1", "r <= p"],
    ],
    ids=str,
)
def test_linear_constraints_become_intervals(constraints: list[str]) -> None:
    """Simplices, orders, one-sided bounds and equations leave a box without constraints that matter."""
    claim = make("p + q**2 + r**3 + 1/100 - p*q*r", "pqr", constraints)
    tree = simplify(claim, ["sign", "equations", "stretch"])
    assert {"equations", "stretch"} & set(simplify(claim, ["equations", "stretch"]).steps())
    accepted(claim, tree.proof([proved(leaf.claim) for leaf in tree.leaves()]))
    false = make("1/2 - p**2 - q**2 - r", "pqr", constraints)
    outcome = solve_exactly(false, RemainingWork(), refuter(false))
    assert outcome.point is not None
    assert fails_at(false, outcome.point)


def test_contradicting_constraints_prove_everything() -> None:
    """p > q and p < q leave no point, which is a proof."""
    claim = make("p - 2", "pq", ["p > q", "p < q"])
    assert simplify(claim, ["equations"]).leaves() == []
    accepted(claim, proved(claim))


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_each_step_can_be_left_out(name: str) -> None:
    """With one step missing, and with it alone, proofs of what is left make a proof of the claim."""
    for steps in ([name], [other for other in STEPS if other != name]):
        for seed in (*range(11), 25):
            claim = random_claim(seed, 3)
            tree = simplify(claim, steps)
            if name not in steps:
                assert name not in tree.steps()
            outcomes = [solve_exactly(p.claim, RemainingWork(2000), refuter(p.claim)) for p in tree.leaves()]
            proofs = [outcome.proof for outcome in outcomes if outcome.proof is not None]
            if len(proofs) == len(outcomes):
                accepted(claim, tree.proof(proofs))
                assert failing_grid_point(claim, 5) is None


@pytest.mark.slow
def test_exact_steps_lose_no_refutation() -> None:
    """A claim that fails on a grid has a leaf that fails, and its point can be lifted to one of the claim."""
    found = 0
    for seed in range(120):
        claim = random_claim(seed, 3)
        tree = simplify(claim, exact=True)
        if failing_grid_point(claim, 5) is None:
            continue
        found += 1
        assert tree.exact
        outcomes = [
            (leaf, solve_exactly(leaf.claim, RemainingWork(2000), refuter(leaf.claim)))
            for leaf in tree.leaves()
        ]
        points = [leaf.lift(outcome.point) for leaf, outcome in outcomes if outcome.point is not None]
        confirm = refuter(claim)
        assert any(confirm(point) is not None for point in points), seed
    assert found > 20
