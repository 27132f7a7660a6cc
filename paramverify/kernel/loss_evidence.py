"""Evidence about divergences that are no polynomials (`kl`, `zcdp`): standard library only.

A claim is about one direction. P_i = |p_i|/|total| and Q_i = |q_i|/|total| are the probabilities of the
outputs, with polynomials p_i, q_i and total. Both sums of p_i and of q_i are the total. That p_i/total and
q_i/total are nowhere negative is looked at in `cone_models`. Where it is not plain, a line says so, and the
case has to show it. A claim says for every point of the domain where total is not 0

    kl:     Σ P_i·ln(P_i/Q_i) ≤ bound,
    zcdp:   D_α(P‖Q) ≤ bound·α for all real α > 1.

The bound is a number: rational + Σ factor·ln(number). `products` has the total and all p_i and q_i as
products of `factors`, which are multiplied again. A tree in preorder shows the claim; it begins with the box:

["cut", x, a]      the box is cut at x = a; the part below comes next.
["-", k]           all Bernstein coefficients of constraint k are too small: no point of the domain is there.
["+", orders]      the claim is shown on this part by an upper bound of the divergence; see `loss_enclosures`.
                   For kl there are no orders.

A witness is a point of the domain at which the divergence is enclosed, and above its bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

from . import evidence_shapes
from .claim_evidence import KernelReport, check_obligations, check_points, check_witness, read_claim
from .cone_models import Signs, with_constant
from .evidence_polynomials import ONE, Poly, constant, number, parse, plus, power, times
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
from .proof_goals import Goal
from .rounded_constants import UNIT, ln
from .strict_reading import Misformed, Rejected, check, plain, told_witness
from .worst_pair_evidence import MALFORMED

FORMAT = "paramverify-losses"
LARGEST_NOT_SHOWN = "not shown by this document alone: which outputs contribute most"
NOT_SHOWN = "not shown by this document alone: that no probability is negative"

Origin = tuple[str, str, int]


def check_document(
    document: Any, expected: Iterable[Any] | None = None, obligations: Iterable[Any] | None = None
) -> KernelReport:
    """Checks evidence about such divergences.

    `expected` are the claims of the case, derived by the caller, each with total, outputs and one origin;
    then the evidence must settle all of them. `obligations` are those of the case.

    Malformed evidence of any kind gives a report that is not accepted.
    """
    try:
        check(document, evidence_shapes.LOSSES)
        return _check(document, None if expected is None else list(expected), obligations)
    except Rejected as error:
        return KernelReport(False, (f"rejected: {error}",))
    except MALFORMED as error:
        return KernelReport(False, (f"rejected: malformed document: {error!r:.200}",))


def _check(document: Any, expected: list[Any] | None, obligations: Iterable[Any] | None) -> KernelReport:
    status = document["status"]
    if ("witness" in document) != (status == "violated"):
        raise Misformed("a witness comes with the status violated, and only with it", "status")
    ledger = check_obligations(document, obligations)
    domain = document["domain"]
    check_points(document, [{**domain, "polynomial": "0"}])
    known = None if expected is None else {tuple(claim["origins"][0]): claim for claim in expected}
    lines, settled = list(ledger.lines), set()
    signs, shown = Signs(document, domain), True
    names = tuple(domain["variables"])
    bound = bound_of(document["bound"])
    for index, claim in enumerate(document["claims"]):
        for name in map(tuple, claim["origins"]):
            if name in settled:
                raise Misformed("this direction was there before", "claims", index, "origins")
            settled.add(name)
            if known is not None:
                same(claim, known.get(name), "claims", index)
        if not claim["origins"]:
            raise Misformed("a claim about no direction", "claims", index, "origins")
        boxes = check_tree(domain, claim, document["measure"], bound[0])
        shown = check_signs(signs, claim, names) and shown
        left, right, _ = claim["origins"][0]
        about = "" if known is None else f"{plain(left)} against {plain(right)}, "
        what = f"claim {index + 1} ({about}all outputs together)"
        lines.append(f"{what}: proved on {boxes:,} box{'es' * (boxes != 1)}")
    if not shown:
        lines.append(NOT_SHOWN)
    missing = set() if known is None else known.keys() - settled
    if status == "holds" and (missing or not settled):
        raise Rejected("a claim of the case has no proof")
    if status == "unknown" and known is not None and not missing:
        raise Misformed("all claims of the case are proved, so it cannot be 'unknown'", "status")
    if status == "violated":
        _check_violation(document, known, bound)
        lines.append(told_witness(document["witness"], known is not None))
        lines += [LARGEST_NOT_SHOWN] * bool(document["witness"]["largest"])
    return KernelReport(
        True,
        tuple(lines),
        proved=ledger.counts["proved"] + len(document["claims"]),
        trusted=ledger.counts["trusted"],
        open=ledger.counts["open"] + (len(missing) if status == "unknown" else 0),
        status=status,
        solvers=tuple(sorted(ledger.solvers)),
    )


def same(claim: Mapping[str, Any], own: Mapping[str, Any] | None, *place: str | int) -> None:
    """Raises Misformed unless a claim is what the case says of this direction."""
    if own is None:
        raise Misformed("the case compares no such direction", *place, "origins")
    for name in ("total", "outputs"):
        if claim[name] != own[name]:
            raise Misformed("the case makes another claim there", *place, name)


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
        raise Misformed("not at least 0", "bound")
    return low, high


# --- trees -------------------------------------------------------------------------------------------


def goal_of(domain: Mapping[str, Any]) -> Goal:
    """Returns the box of a domain with its conditions; a constant E has an interval that contains it."""
    return with_constant(read_claim({**domain, "polynomial": "0"}))


def check_signs(signs: Signs, claim: Mapping[str, Any], names: Sequence[str]) -> bool:
    """Tells whether the probabilities of a claim, which was checked, are shown never to be negative.

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


def check_tree(domain: Mapping[str, Any], claim: Mapping[str, Any], measure: str, bound: Fraction) -> int:
    """Checks that a tree shows a claim; returns the number of its leaves.

    Raises:
        Rejected: it does not.
    """
    goal = goal_of(domain)
    factors = [parse(text, goal.names) for text in claim["factors"]]
    outputs = _outputs(claim, factors, goal)
    pending, leaves = [goal], 0
    for token in claim["tree"]:
        if not pending:
            raise Rejected("the tree has too many leaves")
        part = pending.pop()
        if token[0] == "cut":
            name, at = token[1], number(token[2])
            part.axis(name)
            low, high = part.box[name]
            if not low < at < high:
                raise Rejected(f"the cut of {name} at {at!s:.40} is not inside")
            pending += [part.within(name, 1, at), part.within(name, 0, at)]
            continue
        leaves += 1
        if token[0] == "-":
            poly, strict = part.condition(token[1])
            most = range_of(poly, part)[1]
            if most > 0 or (most == 0 and not strict):
                raise Rejected("a part of the box is not shown to be outside of the domain")
            continue
        if (measure == "kl") and token[1]:
            raise Rejected("kl has no orders")
        orders = None if measure == "kl" else [number(text) for text in token[1]]
        found = BoxOutputs(outputs, [logs_of(*range_of(factor, part)) for factor in factors])
        if not is_below(found, bound, orders):
            raise Rejected("the divergence is not shown to be within its bound on a part of the box")
    if pending:
        raise Rejected("a leaf of the tree is missing")
    return leaves


def _outputs(claim: Mapping[str, Any], factors: list[Poly], goal: Goal) -> list[FactoredOutput]:
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


def distribution(domain: Mapping[str, Any], claim: Mapping[str, Any], point: Any) -> Distribution:
    """Returns the probabilities of the outputs of a claim at a point of the domain.

    Raises:
        Rejected: the point is not there, or the total is 0.
    """
    check_witness({**domain, "polynomial": "-1"}, point)
    statement = read_claim({**domain, "polynomial": "0"})
    texts = [claim["total"], *(text for pair in claim["outputs"] for text in pair)]
    polynomials = [parse(text, statement.goal.names) for text in texts]
    values = {name: number(text) for name, text in point.items()}
    return at_point(polynomials, statement, values)


def _check_violation(
    document: Any, known: Mapping[Any, Any] | None, bound: tuple[Fraction, Fraction]
) -> None:
    """Checks that a claim fails at the witness, and that its numbers agree with it."""
    witness = document["witness"]
    claim = witness["claim"]
    left, right = witness["secrets"]
    if left == right:
        raise Misformed("twice the same", "witness", "secrets")
    if [left, right, witness["length"]] not in claim["origins"]:
        raise Misformed("the claim is about other secrets", "witness", "secrets")
    for each in claim["origins"] if known is not None else ():
        same(claim, known.get(tuple(each)) if known else None, "witness", "claim")
    if witness["measure"] != document["measure"]:
        raise Misformed("the claims are about another measure", "witness", "measure")
    if not witness["exceeds"]:
        raise Misformed("the divergence is within its bound", "witness")
    found = distribution(document["domain"], claim, witness["parameters"])
    check_loss(found, witness, bound)
