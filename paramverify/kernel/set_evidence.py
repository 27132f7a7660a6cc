"""Evidence about sets of outputs: claims Σ max(0, tᵢ) ≤ room, shown by trees of cuts: standard library only.

Of all sets S of outputs, Pr(S | left) − c·Pr(S | right) is largest for the outputs that are more than c times
as likely under the left secret. So an (ε, δ) claim of one direction says: for every point of the domain,
room − Σ max(0, tᵢ) ≥ 0.

A tree shows that, in preorder. It begins with the whole domain D and the goal f = room with all terms open:

["+", i, proof]   tᵢ ≥ 0 is shown on this part of D: the term counts, f becomes f − tᵢ.
["-", i, proof]   tᵢ ≤ 0 is shown: the term is 0.
["<", i, u, p, q] u ≥ 0 (proof p) and u − tᵢ ≥ 0 (proof q) are shown: max(0, tᵢ) ≤ u, f becomes f − u.
["cut", x, a]     the box is cut at x = a; the part below comes next.
["sign", g]       D is cut by the sign of a polynomial: the part with g ≥ 0 comes next, then that with −g ≥ 0.
                  Each condition is the last constraint of its part.
["free"]          the conditions of cuts by signs are forgotten: what is shown then is about more points.
a proof           no term is open any more, and f ≥ 0 is shown on this part of D.

All parts of a cut together are what was cut, and on each part f is room − Σ max(0, tᵢ) where its conditions
hold, or less. A witness is a point of D where the sum is larger than room, evaluated exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from . import evidence_shapes
from .claim_evidence import KernelReport, check_obligations, check_points, check_witness, read_claim
from .evidence_polynomials import ONE, Poly, number, parse, plus
from .proof_goals import Context, Goal
from .proof_rules import prove
from .rounded_constants import sign_in_exp
from .strict_reading import Misformed, Rejected, check, plain, shown, told_witness
from .witness_numbers import Value, rational, read_value
from .worst_pair_evidence import MALFORMED

FORMAT = "paramverify-sets"


@dataclass(frozen=True)
class DomainPart:
    """A part of the domain, what is to be shown there, and the numbers of the terms that are open."""

    goal: Goal
    open: frozenset[int]


def check_document(
    document: Any, expected: Iterable[Any] | None = None, obligations: Iterable[Any] | None = None
) -> KernelReport:
    """Checks evidence about sets of outputs.

    `expected` are the claims of the case, derived by the caller, each with room, terms and one origin; then
    the evidence must settle all of them. `obligations` are those of the case.

    Malformed evidence of any kind gives a report that is not accepted.
    """
    try:
        check(document, evidence_shapes.SETS)
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
    known = by_origin(expected)
    lines, solvers, settled = list(ledger.lines), set(ledger.solvers), set()
    trusted = 0
    for index, claim in enumerate(document["claims"]):
        names = [tuple(origin) for origin in claim["origins"]]
        for origin in names:
            if origin in settled:
                raise Misformed("this direction was there before", "claims", index, "origins")
            settled.add(origin)
            if known is not None:
                same(claim, known.get(origin), "claims", index)
        if not names:
            raise Misformed("a claim about no direction", "claims", index, "origins")
        words = check_tree(domain, claim)
        solvers |= words
        trusted += bool(words)
        left, right, _ = claim["origins"][0]
        about = "" if known is None else f"{plain(left)} against {plain(right)}, "
        title = f"claim {index + 1} ({about}every set of outputs)"
        who = ", ".join(map(shown, sorted(words)))
        lines.append(f"{title}: trusted to {who}" if words else f"{title}: proved")
    missing = set() if known is None else known.keys() - settled
    if status == "holds" and (missing or not settled):
        raise Rejected("a claim of the case has no proof")
    if status == "unknown" and known is not None and not missing:
        raise Misformed("all claims of the case are proved, so it cannot be 'unknown'", "status")
    if status == "violated":
        lines.append(_check_violation(document, known))
    return KernelReport(
        True,
        tuple(lines),
        proved=ledger.counts["proved"] + len(document["claims"]) - trusted,
        trusted=ledger.counts["trusted"] + trusted,
        open=ledger.counts["open"] + (len(missing) if status == "unknown" else 0),
        status=status,
        solvers=tuple(sorted(solvers)),
    )


def by_origin(expected: list[Any] | None) -> dict[tuple[str, str, int], Any] | None:
    """Returns the claims of a case by their one direction."""
    if expected is None:
        return None
    return {tuple(claim["origins"][0]): claim for claim in expected}


def same(claim: Mapping[str, Any], own: Mapping[str, Any] | None, *place: str | int) -> None:
    """Raises Misformed unless a claim is what the case says of this direction."""
    if own is None:
        raise Misformed("the case compares no such direction", *place, "origins")
    for name in ("room", "terms"):
        if claim[name] != own[name]:
            raise Misformed("the case makes another claim there", *place, name)


def check_tree(domain: Mapping[str, Any], claim: Mapping[str, Any]) -> set[str]:
    """Checks that a tree shows a claim; returns the solvers that it trusts.

    Raises:
        Rejected: it does not.
    """
    return follow_tree(domain, claim, prove)


def follow_tree(
    domain: Mapping[str, Any], claim: Mapping[str, Any], at_leaf: Callable[[Goal, Any, Context], None]
) -> set[str]:
    """Follows a tree; returns the solvers that it trusts.

    `at_leaf` gets each part of the domain, on which no term is open, with its goal: there room −
    Σ max(0, tᵢ) is that polynomial.

    Raises:
        Rejected: the tree is none, or a sign is not shown.
    """
    statement = read_claim({**domain, "polynomial": claim["room"]})
    names = statement.goal.names
    terms = [parse(text, names) for text in claim["terms"]]
    context = Context(statement.exponent)
    base = len(statement.goal.conditions)
    pending = [DomainPart(statement.goal, frozenset(range(len(terms))))]
    for token in claim["tree"]:
        if not pending:
            raise Rejected("the tree has too many leaves")
        part = pending.pop()
        if isinstance(token, dict) or token[0] == "set":
            if part.open:
                raise Rejected("the sign of a term is not shown at a leaf")
            at_leaf(part.goal, token, context)
        elif token[0] in ("+", "-"):
            pending.append(_with_sign(part, token, terms, context))
        elif token[0] == "<":
            pending.append(_estimated(part, token, terms, context))
        elif token[0] == "free":
            kept = part.goal.conditions[:base]
            pending.append(replace(part, goal=replace(part.goal, conditions=kept)))
        else:
            pending += reversed(_parts(part, token, names))
    if pending:
        raise Rejected("a leaf of the tree is missing")
    return context.trusted


def _with_sign(part: DomainPart, token: Any, terms: list[Poly], context: Context) -> DomainPart:
    """Returns the part with a term whose sign is shown."""
    _, index, proof = token
    if index not in part.open:
        raise Rejected(f"term {index} is not open")
    positive = token[0] == "+"
    prove(part.goal.about(plus({}, terms[index], ONE if positive else -ONE)), proof, context)
    goal = part.goal
    if positive:
        goal = goal.about(plus(goal.poly, terms[index], -ONE))
    return DomainPart(goal, part.open - {index})


def _estimated(part: DomainPart, token: Any, terms: list[Poly], context: Context) -> DomainPart:
    """Returns the part with a term that is shown to be at most a polynomial u ≥ 0, which counts instead."""
    _, index, written, positive, above = token
    if index not in part.open:
        raise Rejected(f"term {index} is not open")
    u = parse(written, part.goal.names)
    prove(part.goal.about(u), positive, context)
    prove(part.goal.about(plus(u, terms[index], -ONE)), above, context)
    return DomainPart(part.goal.about(plus(part.goal.poly, u, -ONE)), part.open - {index})


def _parts(part: DomainPart, token: Any, names: tuple[str, ...]) -> list[DomainPart]:
    """Returns both parts of a cut."""
    goal = part.goal
    if token[0] == "cut":
        name, at = token[1], number(token[2])
        goal.axis(name)
        low, high = goal.box[name]
        if not low < at < high:
            raise Rejected(f"the cut of {name} at {at} is not inside")
        return [DomainPart(goal.within(name, side, at), part.open) for side in (0, 1)]
    g = parse(token[1], names)
    signed = (plus({}, g, sign) for sign in (ONE, -ONE))
    return [DomainPart(replace(goal, conditions=(*goal.conditions, (h, False))), part.open) for h in signed]


# --- witnesses ---------------------------------------------------------------------------------------


def _check_violation(document: Any, known: Mapping[tuple[str, str, int], Any] | None) -> str:
    """Checks that a claim fails at the witness, and that its numbers agree with each other."""
    witness = document["witness"]
    claim, domain = witness["claim"], document["domain"]
    left, right = witness["secrets"]
    origin = (left, right, witness["length"])
    if list(origin) not in claim["origins"]:
        raise Misformed("the claim is about other secrets", "witness", "secrets")
    for each in claim["origins"] if known is not None else ():
        same(claim, known.get(tuple(each)) if known else None, "witness", "claim")
    check_witness({**domain, "polynomial": "-1"}, witness["parameters"])  # the point is in the domain
    if not is_broken(domain, claim, witness["parameters"]):
        raise Rejected("the claim does not fail at the witness")
    check_set(witness, number(domain["constant"]) if "constant" in domain else None)
    return told_witness(witness, known is not None)


def is_broken(domain: Mapping[str, Any], claim: Mapping[str, Any], point: Mapping[str, str]) -> bool:
    """Tells exactly whether Σ max(0, tᵢ) > room at a point."""
    statement = read_claim({**domain, "polynomial": "0"})
    names = statement.goal.names
    values = {name: number(text) for name, text in point.items()}

    def at(text: str) -> dict[int, Fraction]:
        """Returns the coefficients in E."""
        found: dict[int, Fraction] = {}
        for x, c in parse(text, names).items():
            power = 0
            for name, exponent in zip(names, x, strict=True):
                if name == "E" and statement.exponent is not None:
                    power = exponent
                else:
                    c *= values[name] ** exponent
            found[power] = found.get(power, Fraction(0)) + c
        return found

    total = {power: -c for power, c in at(claim["room"]).items()}
    for term in map(at, claim["terms"]):
        if sign_in_exp(term, statement.exponent) > 0:
            for power, c in term.items():
                total[power] = total.get(power, Fraction(0)) + c
    return sign_in_exp(total, statement.exponent) > 0


def check_set(witness: Mapping[str, Any], exponent: Fraction | None) -> None:
    """Checks the numbers of a set of outputs against each other.

    Raises:
        Rejected: they contradict each other, or do not say that the set is too likely.
    """
    if witness["secrets"][0] == witness["secrets"][1]:
        raise Misformed("twice the same", "witness", "secrets")
    outputs = [tuple(output) for output in witness["outputs"]]
    if {len(output) for output in outputs} != {witness["length"]}:
        raise Misformed("outputs of another length, or none", "witness", "outputs")
    if len(set(outputs)) < len(outputs):
        raise Misformed("an output is there twice", "witness", "outputs")
    left, right = (_chance(p, exponent, k) for k, p in enumerate(witness["probabilities"]))
    bound, delta, beyond = (read_value(witness[k], exponent, k) for k in ("bound", "delta", "beyond"))
    if bound.sign() <= 0:
        raise Misformed("not positive", "witness", "bound")
    if delta.sign() < 0:
        raise Misformed("negative", "witness", "delta")
    if left.minus(bound.by(right)).minus(beyond).top:
        raise Misformed("not the left probability minus bound times the right one", "witness", "beyond")
    if beyond.minus(delta).sign() <= 0 or witness["exceeds"] is not True:
        raise Misformed("the set is within the bounds", "witness")


def _chance(given: Any, exponent: Fraction | None, k: int) -> Value:
    value = read_value(given, exponent, "probabilities", k)
    if value.sign() < 0 or value.minus(rational(1)).sign() > 0:
        raise Misformed("not between 0 and 1", "witness", "probabilities", k)
    return value
