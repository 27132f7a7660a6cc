"""The step for claims of a high degree that depend on one product of the parameters only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from paramverify.algebra.domains import Interval
from paramverify.algebra.one_product import OneProduct, is_large, one_product
from paramverify.algebra.polynomials import Point, variables
from paramverify.algebra.realroots import sign_at
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import Proof
from paramverify.simplify.reductions import Guarantee, Premise, Reduction, unrestricted

BITS = (64, 256, 1024)  # of a point at which u has nearly the wanted value


def product_step(claim: Claim) -> Reduction | None:
    """A claim f(x) = g(u) with u = ∏ sᵢ^vᵢ, sᵢ = xᵢ or 1 − xᵢ, becomes g(x) ≥ 0 for one of the variables.

    Exact: u is continuous, and the closed box is mapped onto an interval. A point that refutes g is near one
    with a rational x at which g(u) is negative, too.
    """
    polynomial, box = claim.polynomial, claim.domain.box
    if not is_large(polynomial):
        return None
    if claim.domain.ring.tied:
        return None  # a variable that stands for a logarithm of x would move with x
    names = variables(polynomial)
    if not all(map(unrestricted(claim.domain), names)) or any(box[name].is_point for name in names):
        return None
    form = one_product(polynomial)
    if form is None or not form.holds_on(box):
        return None
    name = names[0]
    low, high = form.values({n: (box[n].lower, box[n].upper) for n in names})
    ring = claim.domain.ring
    place = ring.names.index(name)
    outer = ring.from_terms(
        {
            tuple(k * (n == place) for n in range(len(ring.names))): Fraction(int(form.outer[k]))
            for k in range(form.outer.degree() + 1)
            if form.outer[k]
        }
    )
    domain = replace(claim.domain, box={**box, name: Interval(low, high, True, True)})

    def lift(point: Point) -> Point:
        wanted = point[name] if name in point else domain.box[name].simplest()
        return {**point, **_with_value(form, box, wanted)}

    def certify(proofs: Sequence[Proof]) -> Proof:
        return certificates.product(name, form.powers, form.reflected, proofs[0])

    return Reduction(
        "product", Guarantee.EXACT, (Premise(replace(claim, polynomial=outer, domain=domain), lift),), certify
    )


def _with_value(form: OneProduct, box: Mapping[str, Interval], wanted: Fraction) -> Point:
    """Returns a point of the box at which u is nearly the wanted value, on a line between two vertices."""
    found: Point = {}
    for bits in BITS:
        low, high = Fraction(0), Fraction(1)
        for _ in range(bits):
            middle = (low + high) / 2
            found = _on_line(form, box, middle)
            if _value(form, found) < wanted:
                low = middle
            else:
                high = middle
        if sign_at(form.outer, _value(form, found)) < 0:
            break
    return found


def _on_line(form: OneProduct, box: Mapping[str, Interval], share: Fraction) -> Point:
    """Returns the point at a share of the way on which all sᵢ grow."""
    ends = {n: (box[n].lower, box[n].upper) for n in form.powers}
    return {
        n: b + (a - b) * share if n in form.reflected else a + (b - a) * share for n, (a, b) in ends.items()
    }


def _value(form: OneProduct, point: Point) -> Fraction:
    return form.values({n: (x, x) for n, x in point.items()})[0]
