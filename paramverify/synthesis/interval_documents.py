"""Exact intervals as evidence: a statement that `kernel.interval_evidence` checks by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Polynomial, is_constant, key
from paramverify.algebra.real_roots import apart, isolate, univariate
from paramverify.claims import Claim
from paramverify.errors import DefectError, InputError
from paramverify.evidence import envelope
from paramverify.kernel import interval_evidence as kernel
from paramverify.kernel.claim_evidence import read_domain
from paramverify.kernel.product_substitution import sign_at, variations
from paramverify.simplify.reductions import factorisation
from paramverify.synthesis.intervals import CriticalRoot, Partition, side


def check_can_write(domain: Domain) -> None:
    """Checks that there may be evidence of exact intervals of the only parameter of a domain.

    Raises:
        InputError: there is none.
    """
    if domain.constant is not None or domain.ring.tied:
        reason = "evidence of exact intervals requires polynomials in one parameter, without E"
    elif len(domain.box) != 1:
        names = ", ".join(domain.box)
        reason = f"evidence of exact intervals requires a case with one parameter, but this one has {names}"
        if any(interval.is_point for interval in domain.box.values()):
            reason += " (also those with one value count)"
    elif next(iter(domain.box.values())).is_point:
        reason = "evidence of exact intervals requires an interval, but the parameter has one value"
    else:
        return
    raise InputError(f"{reason}: leave --exact out to get evidence of a region map")


def statement(found: Partition, domain: Domain) -> dict[str, Any]:
    """Returns exact intervals as a statement with all that is needed to check them, numbers as strings.

    Raises:
        InputError: no such evidence is there.
    """
    check_can_write(domain)
    factors: dict[str, Polynomial] = {}
    products = [_product(claim.polynomial, factors) for claim in found.claims]
    constraints = [_product(constraint.polynomial, factors) for constraint in domain.constraints]
    numbers = {text: k for k, text in enumerate(factors)}
    breaks = _breaks(list(factors.values()), found.interval)
    about = envelope.sign(Claim(domain.ring.number(0), domain))["domain"]
    ends = (found.interval.lower, found.interval.upper)
    document: dict[str, Any] = {
        "kind": "line",
        "domain": about,
        "claims": [key(claim.polynomial) for claim in found.claims],
        "factors": list(factors),
        "products": products,
        "constraints": constraints,
        "breaks": [
            {"factor": numbers[key(b.factor)], "between": [str(b.lower), str(b.upper)]} for b in breaks
        ],
        "cuts": [
            list(map(str, _cuts(f, ends, [b for b in breaks if key(b.factor) == text])))
            for text, f in factors.items()
        ],
    }
    line = kernel.read_line(document, read_domain(about))
    parts = line.parts()
    if not _same(found, line, parts):
        raise DefectError("the intervals that were found differ from those that the signs of the claims show")
    return {**document, "parts": [part.document() for part in parts]}


def _product(polynomial: Polynomial, factors: dict[str, Polynomial]) -> dict[str, Any]:
    """Returns the factors of a polynomial by their numbers; adds new ones."""
    if not polynomial or is_constant(polynomial):
        multiple, powers = Fraction(1), [(polynomial, 1)]
    else:
        multiple, powers = factorisation(polynomial)
    entries = []
    for factor, power in powers:
        factors.setdefault(key(factor), factor)
        entries.append([list(factors).index(key(factor)), power])
    return {"constant": str(multiple), "factors": entries}


def _breaks(factors: Sequence[Polynomial], interval: Interval) -> list[CriticalRoot]:
    """Returns the roots inside an interval, apart from each other and from its ends."""
    low, high = interval.lower, interval.upper
    found = []
    for factor in factors:
        if not factor or is_constant(factor):
            continue
        for root in isolate(univariate(factor), low, high):
            at = CriticalRoot(root, factor)
            if at.is_rational and at.lower in (low, high):
                continue
            while not low < at.lower or not at.upper < high:
                at = at.halved()
            found.append(at)
    return apart(found)


def _cuts(
    factor: Polynomial, ends: tuple[Fraction, Fraction], breaks: Sequence[CriticalRoot]
) -> list[Fraction]:
    """Returns places between which, and between the breaks, no coefficients change their sign."""
    if not factor or is_constant(factor):
        return []
    coefficients = list(map(int, univariate(factor).coeffs()))
    starts = [ends[0], *(b.upper for b in breaks)]
    gaps = zip(starts, [*(b.lower for b in breaks), ends[1]], strict=True)
    return [cut for low, high in gaps for cut in _inside(coefficients, low, high)]


def _inside(coefficients: Sequence[int], low: Fraction, high: Fraction) -> Iterator[Fraction]:
    """Yields the cuts of an interval without roots, in ascending order."""
    if not variations(coefficients, low, high):
        return
    middle = (low + high) / 2
    if not sign_at(coefficients, middle):
        raise DefectError("a root was not found")
    yield from _inside(coefficients, low, middle)
    yield middle
    yield from _inside(coefficients, middle, high)


def _same(found: Partition, line: kernel.ParameterLine, parts: Sequence[kernel.IntervalPiece]) -> bool:
    """Tells whether the parts are those that were found: at each of their ends only one root is near."""
    if len(parts) != len(found.parts) or any(a.status == b.status for a, b in pairwise(parts)):
        return False
    for own, part in zip(parts, found.parts, strict=True):
        if own.status != part.status.value or own.closed != (part.lower_closed, part.upper_closed):
            return False
        for k, root in zip(own.ends, (part.lower, part.upper), strict=True):
            if side(line.places[k].low, root) > 0 or side(line.places[k].high, root) < 0:
                return False
    return True
