"""Certificates: proofs of claims as JSON data, and replaying them by the kernel.

A proof is an object with a `kind` and shows `f ≥ 0` on the domain of a claim; the kinds, and why each is a
proof, are listed in `kernel.proof_rules`. Polynomials are written in their canonical text and numbers as
strings, so nothing is lost in JSON. This module only writes; it shares no code with the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.bernstein import Patch, split
from paramverify.algebra.domains import Interval
from paramverify.algebra.polynomials import Point, Polynomial, key, rational
from paramverify.algebra.real_roots import bernstein_coefficients, univariate
from paramverify.answers import Decision, End, Open, Proved
from paramverify.claims import Claim, to_document
from paramverify.errors import DefectError
from paramverify.evidence import envelope
from paramverify.kernel.claim_evidence import check_claim
from paramverify.kernel.strict_reading import Rejected

VERSION = 1  # of the certificate of one claim

Proof = Mapping[str, Any]
Token = str | Sequence[Any] | Proof  # of a Bernstein tree
Side = tuple[str, str, Fraction] | tuple[str, int]  # see `squares`
Squares = Sequence[tuple[Fraction, Polynomial]]  # coefficients that are not negative, and what is squared
SquareTerm = tuple[Sequence[Side], Squares]

CONSTANT: Proof = {"kind": "constant"}
EXPONENTIAL: Proof = {"kind": "exponential"}
POSITIVE: Proof = {"kind": "bernstein", "tree": ["+"]}


def text(value: Fraction | int) -> str:
    """Returns a rational as `24/7`; flint writes numbers of any length."""
    return str(rational(value))


def fixed(variable: str, proof: Proof) -> Proof:
    """A variable whose interval is one point is replaced by it."""
    return {"kind": "fixed", "variable": variable, "proof": proof}


def factors(constant: Fraction, parts: Iterable[tuple[Polynomial, int, int, Proof | None]]) -> Proof:
    """The product of a number and of powers: each a polynomial, its multiplicity, sign and proof of sign."""
    items: list[dict[str, Any]] = []
    for polynomial, multiplicity, sign, proof in parts:
        item: dict[str, Any] = {"factor": key(polynomial), "multiplicity": multiplicity}
        if multiplicity % 2:
            item |= {"sign": "+" if sign > 0 else "-", "proof": proof}
        items.append(item)
    return {"kind": "factors", "constant": text(constant), "factors": items}


def total(parts: Iterable[tuple[Polynomial, Proof]]) -> Proof:
    """The sum of polynomials that are each shown to be at least zero."""
    return {"kind": "sum", "parts": [{"polynomial": key(f), "proof": proof} for f, proof in parts]}


def ends(variable: str, lower: Proof, upper: Proof, concave: Proof | None = None) -> Proof:
    """Linear or concave in a variable: both ends are shown."""
    proof = {"kind": "ends", "variable": variable, "lower": lower, "upper": upper}
    return proof if concave is None else {**proof, "concave": concave}


def monotone(variable: str, end: int, derivative: Proof, proof: Proof) -> Proof:
    """Smallest at the lower (0) or upper (1) end of a variable, by the sign of the derivative."""
    side = ("lower", "upper")[end]
    return {"kind": "monotone", "variable": variable, "end": side, "derivative": derivative, "proof": proof}


def quadratic(variable: str, leading: Proof, last: Proof, discriminant: Proof) -> Proof:
    """Of the form a·x² + b·x + c with a ≥ 0, c ≥ 0 and 4·a·c − b² ≥ 0."""
    return {
        "kind": "quadratic",
        "variable": variable,
        "leading": leading,
        "constant": last,
        "discriminant": discriminant,
    }


def tree(tokens: Sequence[Token]) -> Proof:
    """A tree of cuts in preorder; see `cut`, `outside` and `edge` for its entries, `"+"` is a leaf."""
    return {"kind": "bernstein", "tree": list(tokens)}


def cut(variable: str, at: Fraction) -> Token:
    """An entry of a tree: the box is cut, and the part below comes next."""
    return ["cut", variable, text(at)]


def outside(constraint: int) -> Token:
    """An entry of a tree: a constraint fails everywhere in the box."""
    return ["outside", constraint]


def edge(variable: str, end: int) -> Token:
    """An entry of a tree: monotone in the variable, so go on with the lower (0) or upper (1) face."""
    return [("low", "high")[end], variable]


def convex(point: Point) -> Proof:
    """Convex, and the tangent plane at a rational point is at least zero on the box."""
    return {"kind": "convex", "point": {name: text(value) for name, value in point.items()}}


def convex_algebraic(minimal: str, interval: tuple[Fraction, Fraction], point: Mapping[str, str]) -> Proof:
    """Convex, and zero at a minimum with algebraic coordinates, polynomials in a root t of `minimal`."""
    low, high = interval
    return {
        "kind": "convex",
        "minimal": minimal,
        "interval": [text(low), text(high)],
        "point": dict(point),
    }


def constraint(index: int, factor: Fraction, rest: Proof) -> Proof:
    """A nonnegative multiple of a constraint plus a rest that is shown."""
    return {"kind": "constraint", "constraint": index, "factor": text(factor), "proof": rest}


def divide(index: int, factor: Polynomial, cofactor: Polynomial, sign: int, proof: Proof) -> Proof:
    """A constraint divided by a cofactor that has the given sign on the box."""
    return {
        "kind": "divide",
        "constraint": index,
        "factor": key(factor),
        "cofactor": key(cofactor),
        "sign": "+" if sign > 0 else "-",
        "proof": proof,
    }


def contradiction(first: int, second: int) -> Proof:
    """Two constraints that exclude each other."""
    return {"kind": "contradiction", "constraints": [first, second]}


def stretch(variable: str, index: int, proof: Proof) -> Proof:
    """A constraint that bounds a variable is turned into an interval of a new variable of the same name."""
    return {"kind": "stretch", "variable": variable, "constraint": index, "proof": proof}


def eliminate(variable: str, first: int, second: int, proof: Proof) -> Proof:
    """Two constraints that say what a variable is."""
    return {"kind": "eliminate", "variable": variable, "constraints": [first, second], "proof": proof}


def product(variable: str, powers: Mapping[str, int], reflected: Iterable[str], proof: Proof) -> Proof:
    """A claim about one product of powers of x or 1 − x, which is proved with the variable in its place."""
    known = {"powers": dict(powers), "reflected": sorted(reflected)}
    return {"kind": "product", "variable": variable, **known, "proof": proof}


def blowup(corner: Mapping[str, int], parts: Mapping[str, Proof]) -> Proof:
    """Cones around a vertex, named by the variable that is farthest from it."""
    sides = {name: ("lower", "upper")[end] for name, end in corner.items()}
    return {"kind": "blowup", "corner": sides, "parts": dict(parts)}


def enclose(interval: tuple[Fraction, Fraction], proof: Proof) -> Proof:
    """The constant `E` runs over a rational interval that contains it."""
    return {"kind": "enclose", "interval": [text(end) for end in interval], "proof": proof}


def logarithm(variable: str, cuts: Sequence[Fraction], parts: Sequence[Mapping[str, Any]]) -> Proof:
    """A variable that stands for a logarithm is between polynomials, on cells one after the other."""
    return {"kind": "logarithm", "variable": variable, "cuts": [text(c) for c in cuts], "parts": list(parts)}


def squares(terms: Iterable[SquareTerm], multiplier: Sequence[SquareTerm] = ()) -> Proof:
    """A sum of squares, some times sides; or such a sum is the product of the polynomial and a multiplier.

    A side is ("low", x, a) for x − a, ("high", x, b) for b − x, or ("constraint", index).
    """
    proof: dict[str, Any] = {"kind": "squares", "terms": [_square_term(term) for term in terms]}
    return proof | ({"multiplier": [_square_term(term) for term in multiplier]} if multiplier else {})


def _square_term(term: SquareTerm) -> dict[str, Any]:
    sides, squares = term
    product = [[s if isinstance(s, str | int) else text(s) for s in side] for side in sides]
    return {"product": product, "squares": [[text(c), key(g)] for c, g in squares]}


def vanish(index: int, squares: Squares, proof: Proof) -> Proof:
    """A constraint g ≥ 0 where −g is a sum of squares: what is squared is zero, as two constraints each."""
    return {
        "kind": "vanish",
        "constraint": index,
        "squares": [[text(c), key(g)] for c, g in squares],
        "proof": proof,
    }


def lemma(name: str) -> Proof:
    """The same statement, up to a positive number, is proved under this name in the document."""
    return {"kind": "lemma", "name": name}


def settled(claim: Claim, decision: Decision, kind: str = "claim") -> dict[str, Any]:
    """Returns a claim with the proof that its decision has: a certificate, a solver's word, or none."""
    return entry(claim, decision.proof if isinstance(decision.answer, Proved) else None, kind)


def words(decision: Decision) -> tuple[str, ...]:
    """Returns the programs on whose word a proof rests, with versions; none if nothing is trusted."""
    if not isinstance(decision.answer, Proved):
        return ()
    found: dict[str, None] = {}
    pending: list[object] = [decision.proof]
    while pending:
        part = pending.pop()
        if isinstance(part, Mapping):
            if part.get("kind") == "solver":
                found[f"{part['solver']} {part['version']}".strip()] = None
            pending += part.values()
        elif isinstance(part, (list, tuple)):
            pending += part
    return tuple(found)


def certificate(claim: Claim, proof: Proof) -> dict[str, Any]:
    """Returns the certificate of one claim: the claim in its canonical form, and the proof."""
    return {"version": VERSION, "claim": to_document(claim), "proof": proof}


def entry(claim: Claim, proof: Proof | None, kind: str = "claim") -> dict[str, Any]:
    """Returns the statement of one claim; without a proof it is open."""
    own = envelope.sign(claim)
    return {"kind": kind, **own, "origins": [*dict.fromkeys(map(str, claim.origins))], "proof": proof}


def comparison(claim: Claim, proof: Proof, strict: bool = False) -> dict[str, Any]:
    """Returns the statement of a comparison that an engine needs; the claim is not strict."""
    return {"kind": "comparison", **envelope.sign(claim), "strict": strict, "proof": proof}


def replayed(claim: Claim, certificate: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the solvers that the certificate trusts; none if it shows the claim in full.

    Raises:
        Rejected: the certificate does not show the claim, or has another shape.
    """
    if "proof" not in certificate:
        raise Rejected("a certificate has its proof under the key `proof`")
    try:
        return check_claim(to_document(claim), certificate["proof"])
    except RecursionError:
        raise Rejected("the proof is nested too deeply") from None


def as_judged(claim: Claim, decision: Decision) -> Decision:
    """Returns a decision of a backend that is not built in, as far as its certificate allows.

    One that the kernel accepts stays; one that trusts a solver makes the proof this backend's word; one that
    is rejected makes the decision open.
    """
    said = decision.answer
    if not isinstance(said, Proved) or said.certificate is None:
        return decision
    try:
        trusted = replayed(claim, said.certificate)
    except Rejected as reason:
        detail = f"it says proved, and the checker rejects its certificate: {reason}"
        return replace(decision, answer=Open(End.GAVE_UP, detail, said.transcript))
    return replace(decision, answer=replace(said, certificate=None)) if trusted else decision


def from_worker(claim: Claim, decision: Decision) -> Decision:
    """Returns a decision of a worker, as far as the kernel can replay it here.

    A certificate that the kernel accepts stays. A proof without one is the word of the worker: which solver
    it asked, if any, only the worker knows.
    """
    judged = as_judged(claim, decision)
    if isinstance(judged.answer, Proved) and judged.answer.certificate is None:
        return replace(judged, version=f"{judged.version} (as a worker says)".strip())
    return judged


def with_certificate(decision: Decision) -> Decision:
    """Returns the decision; a proof that rests on anybody's word is open, and says on whose."""
    names = words(decision)
    if not names:
        return decision
    detail = f"proved on the word of {', '.join(names)}, and a certificate is required"
    transcript = decision.answer.transcript
    return replace(decision, answer=Open(End.GAVE_UP, detail, transcript))


def univariate_tree(polynomial: Polynomial, name: str, interval: Interval, leaf: Token = "+") -> list[Token]:
    """Returns a tree with f ≥ 0 at the leaves, where f > 0 on the interval but for simple zeros at ends.

    Then the coefficients on short pieces are positive ([Farin02] section 5.7: they converge to f), or zero at
    that end and positive elsewhere, so this ends. The leaf is `+`, or what f > 0 on the interval justifies.
    """
    tokens: list[Token] = []
    integer = univariate(polynomial)
    entries = bernstein_coefficients(integer, interval.lower, interval.upper)
    pending = [(Patch((name,), (integer.degree(),), entries, 1), interval.lower, interval.upper)]
    while pending:
        current, low, high = pending.pop()
        ends = (
            (current.entries[0], interval.lower_closed or low > interval.lower),
            (
                current.entries[-1],
                interval.upper_closed or high < interval.upper,
            ),
        )
        if min(current.entries) >= 0 and (leaf == "+" or all(value or not inside for value, inside in ends)):
            tokens.append(leaf)
            continue
        if current.entries[0] < 0 or current.entries[-1] < 0:
            raise DefectError(f"{polynomial} is negative in {interval}")
        middle = (low + high) / 2
        tokens.append(cut(name, middle))
        lower, upper = split(current, name)
        pending += [(upper, middle, high), (lower, low, middle)]
    return tokens
