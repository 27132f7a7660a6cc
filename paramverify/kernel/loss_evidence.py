"""Statements about divergences that are no polynomials (`kl`, `zcdp`).

A statement is about one direction. P_i = |p_i|/|total| and Q_i = |q_i|/|total| are the probabilities of the
outputs, with polynomials p_i, q_i and total. Both sums of p_i and of q_i are the total. That p_i/total and
q_i/total are nowhere negative is looked at in `cone_models`. Where it is not plain, a line says so, and the
case has to show it. A claim says for every point of the domain where total is not 0

    kl:     Σ P_i·ln(P_i/Q_i) ≤ bound,
    zcdp:   D_α(P‖Q) ≤ bound·α for all real α > 1.

The bound is a number: rational + Σ factor·ln(number). `products` has the total and all p_i and q_i as
products of `factors`, which are multiplied again. A tree in preorder shows the claim; it begins with the box:

["cut", x, a]      the box is cut at x = a; the part below comes next.
["outside", k]     all Bernstein coefficients of constraint k are too small: no point of the domain is there.
["+", orders]      the claim is shown on this part by an upper bound of the divergence; see `loss_enclosures`.
                   For kl there are no orders.

A witness is a point of the domain at which the divergence is enclosed, and above its bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

from .claim_evidence import check_inside
from .cone_models import Signs, signs_of, with_constant
from .evidence_polynomials import ONE, Poly, constant, number, parse, plus, power, times
from .ledger import Evidence, Followed, Statement
from .loss_enclosures import (
    BoxOutputs,
    Distribution,
    FactoredOutput,
    FactoredProduct,
    at_point,
    check_loss,
    is_below,
    logs_of,
    range_of,
)
from .proof_goals import Goal, WrittenClaim
from .proof_trees import cut
from .proof_trees import follow as follow_steps
from .rounded_constants import UNIT, ln
from .strict_reading import Misformed, Rejected

LARGEST_NOT_SHOWN = "not shown by this document alone: which outputs contribute most"
NOT_SHOWN = "not shown by this document alone: that no probability is negative"


def bound_of(written: Any) -> tuple[Fraction, Fraction]:
    """Returns bounds of a bound: a number, and factors of logarithms of numbers.

    Raises:
        Rejected: it is not shown to be at least 0.
    """
    low = high = number(written[0])
    for factor, text in written[1]:
        ends = [number(factor) * Fraction(end, UNIT) for end in ln(number(text))]
        low, high = low + min(ends), high + max(ends)
    if low < 0:
        raise Rejected("the bound of a claim is not at least 0")
    return low, high


# --- trees -------------------------------------------------------------------------------------------


def check_signs(signs: Signs, claim: Statement, names: Sequence[str]) -> bool:
    """Tells whether the probabilities of a statement, which was checked, are shown never to be negative.

    They are where all have one sign: then the total, which is their sum, has it too.

    Raises:
        Rejected: two have different signs.
    """
    factors = [signs.of(parse(text, names)) for text in claim["factors"]]
    texts = [text for pair in claim["outputs"] for text in pair]
    found = set()
    for text, written in zip(texts, claim["products"][1:], strict=True):
        if written is not None:
            sign = 1 if number(written[0]) > 0 else -1
            for k, exponent in written[1]:
                sign *= factors[k] if exponent % 2 else 1
            found.add(sign or signs.of(parse(text, names)))
    if {1, -1} <= found:
        raise Rejected("a probability is negative")
    return 0 not in found


def follow(about: Evidence, statement: Statement) -> Followed:
    """Checks that the tree of a statement shows it.

    Raises:
        Rejected: it does not, or a probability is negative.
    """
    about.untied(statement["domain"])
    domain = about.domain(statement["domain"])
    boxes = check_tree(domain, statement, bound_of(statement["bound"])[0])
    note = (
        "" if check_signs(signs_of(about, statement["domain"]), statement, domain.goal.names) else NOT_SHOWN
    )
    return Followed((), f"proved on {boxes:,} box{'es' * (boxes != 1)}", note)


def check_tree(domain: WrittenClaim, statement: Statement, bound: Fraction) -> int:
    """Checks that a tree shows a statement on its domain, where its bound is at least a number.

    It returns the number of the leaves.

    Raises:
        Rejected: it does not.
    """
    goal = with_constant(domain)
    factors = [parse(text, goal.names) for text in statement["factors"]]
    outputs = _outputs(statement, factors, goal)
    of_orders = statement["of"] == "zcdp"

    def step(part: Goal, token: Any) -> Iterable[Goal]:
        if token[0] == "cut":
            return cut(part, token[1], token[2])
        if token[0] == "outside":
            poly, strict = part.condition(token[1])
            most = range_of(poly, part)[1]
            if most > 0 or (most == 0 and not strict):
                raise Rejected("a part of the box is not shown to be outside of the domain")
            return ()
        if token[1] and not of_orders:
            raise Rejected("kl has no orders")
        orders = [number(text) for text in token[1]] if of_orders else None
        found = BoxOutputs(outputs, [logs_of(*range_of(factor, part)) for factor in factors])
        if not is_below(found, bound, orders):
            raise Rejected("the divergence is not shown to be within its bound on a part of the box")
        return ()

    return follow_steps(statement["tree"], goal, step)


def _outputs(claim: Statement, factors: list[Poly], goal: Goal) -> list[FactoredOutput]:
    """Returns the probabilities of the outputs as products, which are multiplied again.

    Raises:
        Rejected: they do not sum to 1, or a product is another polynomial, or 0 in the place of the total.
    """
    texts = [claim["total"], *(text for pair in claim["outputs"] for text in pair)]
    if len(texts) != len(claim["products"]):
        raise Rejected("there are products for other outputs")
    polynomials = [parse(text, goal.names) for text in texts]
    for side in (polynomials[1::2], polynomials[2::2]):
        if plus(polynomials[0], reduce(plus, side, {}), -ONE):
            raise Rejected("the probabilities of the outputs do not sum to 1")
    powers: dict[tuple[int, int], Poly] = {}
    found = [
        _product(poly, written, factors, powers)
        for poly, written in zip(polynomials, claim["products"], strict=True)
    ]
    total, *rest = found
    if total is None:
        raise Rejected("the total is 0")
    shares = [None if each is None else each.over(total) for each in rest]
    return [FactoredOutput(p, q) for p, q in zip(shares[::2], shares[1::2], strict=True) if p or q]


def _product(
    poly: Poly, written: Any, factors: list[Poly], powers: dict[tuple[int, int], Poly]
) -> FactoredProduct | None:
    """Returns the size of a polynomial as a product of factors; None for 0."""
    if (written is None) != (not poly):
        raise Rejected("a product is another polynomial")
    if written is None:
        return None
    content = number(written[0])
    if not content:
        raise Rejected("a product is another polynomial")
    total = constant(content, len(next(iter(poly))))
    for k, exponent in written[1]:
        if not 0 <= k < len(factors) or exponent < 1 or exponent > 1000:
            raise Rejected("a product has a factor that is not there")
        if (k, exponent) not in powers:
            powers[k, exponent] = power(factors[k], exponent)
        total = times(total, powers[k, exponent])
    if plus(total, poly, -ONE):
        raise Rejected("a product is another polynomial")
    own: dict[int, int] = {}
    for k, exponent in written[1]:
        own[k] = own.get(k, 0) + exponent
    return FactoredProduct(abs(content), own)


# --- witnesses ---------------------------------------------------------------------------------------


def distribution(domain: WrittenClaim, claim: Statement, point: Mapping[str, str]) -> Distribution:
    """Returns the probabilities of the outputs of a statement at a point of the domain.

    Raises:
        Rejected: the point is not there, or the total is 0.
    """
    check_inside(domain, point)
    texts = [claim["total"], *(text for pair in claim["outputs"] for text in pair)]
    polynomials = [parse(text, domain.goal.names) for text in texts]
    return at_point(polynomials, domain, {name: number(text) for name, text in point.items()})


def refute(about: Evidence, witness: Mapping[str, Any]) -> list[str]:
    """Checks that a statement fails at the witness, and that its numbers agree with it.

    It returns what is not shown.

    Raises:
        Rejected: it does not, or they do not.
    """
    claim = witness["claim"]
    about.untied(claim["domain"])
    if witness["measure"] != claim["of"]:
        raise Misformed("the claims are about another measure", "witness", "measure")
    if not witness["exceeds"]:
        raise Misformed("the divergence is within its bound", "witness")
    found = distribution(about.domain(claim["domain"]), claim, witness["parameters"])
    check_loss(found, witness, bound_of(claim["bound"]))
    return [LARGEST_NOT_SHOWN] * bool(witness["largest"])
