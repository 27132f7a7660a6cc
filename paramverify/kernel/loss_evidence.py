"""Statements about divergences that are no polynomials (`kl`, `zcdp`).

A statement is about one direction. P_i = |p_i|/|total| and Q_i = |q_i|/|total| are the probabilities of the
outputs, with polynomials p_i, q_i and total. Both sums of p_i and of q_i are the total. That p_i/total and
q_i/total are nowhere negative is looked at in `plain_signs`. Where it is not plain, a line says so, and the
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

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import chain
from typing import Any

from .claim_evidence import check_inside
from .evidence_polynomials import ONE, Poly, check_product, number, parse, plus
from .ledger import Evidence, Followed, Statement
from .loss_enclosures import (
    BoxOutputs,
    FactoredOutput,
    FactoredProduct,
    at_point,
    check_loss,
    is_below,
    logs_of,
    range_of,
)
from .plain_signs import Signs, signs_of, with_constant
from .proof_goals import Goal, WrittenClaim, bernstein
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
    found = set()
    for poly, written in zip(polynomials_of(claim, names)[1:], claim["products"][1:], strict=True):
        if written is not None:
            sign = 1 if number(written[0]) > 0 else -1
            for k, exponent in written[1]:
                sign *= factors[k] if exponent % 2 else 1
            found.add(sign or signs.of(poly))
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
    is_shown = check_signs(signs_of(about, statement["domain"]), statement, domain.goal.names)
    return Followed((), f"proved on {boxes:,} box{'es' * (boxes != 1)}", "" if is_shown else NOT_SHOWN)


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
            return part.cut(token[1], number(token[2]))
        if token[0] == "outside":
            poly, strict = part.condition(token[1])
            most = max(bernstein(part, poly).entries)
            if most > 0 or (most == 0 and not strict):
                raise Rejected("a part of the box is not shown to lie outside the domain")
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
    polynomials = polynomials_of(claim, goal.names)
    if len(polynomials) != len(claim["products"]):
        raise Rejected("there are products for other outputs")
    for side in (polynomials[1::2], polynomials[2::2]):
        if plus(polynomials[0], reduce(plus, side, {}), -ONE):
            raise Rejected("the probabilities of the outputs do not sum to 1")
    found: list[FactoredProduct | None] = []
    for poly, written in zip(polynomials, claim["products"], strict=True):
        if (written is None) != (not poly):
            raise Rejected("a product is 0, or is not")
        if written is None:
            found.append(None)
            continue
        content, powers = number(written[0]), written[1]
        check_product(poly, content, powers, factors, len(goal.names))
        own = Counter[int]()
        for k, exponent in powers:
            own[k] += exponent
        found.append(FactoredProduct(abs(content), own))
    total, *rest = found
    if total is None:
        raise Rejected("the total is 0")
    shares = [None if each is None else each.over(total) for each in rest]
    return [(p, q) for p, q in zip(shares[::2], shares[1::2], strict=True) if p or q]


def polynomials_of(claim: Statement, names: Sequence[str]) -> list[Poly]:
    """Returns the total, and both polynomials of each output."""
    return [parse(text, names) for text in (claim["total"], *chain(*claim["outputs"]))]


# --- witnesses ---------------------------------------------------------------------------------------


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
        raise Misformed("the divergence is within its bound, so nothing is violated", "witness")
    domain = about.domain(claim["domain"])
    check_inside(domain, witness["parameters"])
    values = {name: number(text) for name, text in witness["parameters"].items()}
    found = at_point(polynomials_of(claim, domain.goal.names), domain, values)
    check_loss(found, witness, bound_of(claim["bound"]))
    return [LARGEST_NOT_SHOWN] * bool(witness["largest"])
