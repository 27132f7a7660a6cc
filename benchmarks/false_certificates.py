"""Certificates that must not be: claims that are false by a little, at a point that is known.

    python benchmarks/false_certificates.py [--tries 10000] [--asked 10] [--first 0]

Each try draws squares with a common zero, or a form with a Gram matrix that has a kernel; a box; and perhaps
a side or a constraint that is zero there, too. Their sum f is at least zero on the domain. Then f is lowered
by a small number, so that the new claim is false at the zero, which is evaluated here with fractions. Nothing
may prove it: not the exact procedures, not the backend `sos`, which is asked in one of `--asked` tries; and
the kernel may accept neither the certificate of f nor one with perturbed numbers. Prints counts; a false
certificate stops the run.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.polynomials import Polynomial, Ring
from paramverify.answers import Proved
from paramverify.backends.sos import Sos
from paramverify.claims import Claim, to_document
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.kernel.claim_evidence import check_claim
from paramverify.kernel.strict_reading import Rejected

FORGERIES = 6  # of each certificate
Square = tuple[Fraction, Polynomial]  # a coefficient that is not negative, and what is squared


@dataclass(frozen=True)
class Try:
    """A claim that is true, with a proof; the same lowered, which is false, and a point at which it is."""

    true: Claim
    proof: Mapping[str, Any]
    false: Claim
    zero: Mapping[str, Fraction]
    lowered: Fraction


def drawn(draw: Random) -> Try:
    """Returns a try; all numbers are rational."""
    names = ("x", "y", "z")[: draw.choice([1, 2, 2, 3])]
    ring = Ring(names)
    zero = {n: Fraction(draw.randrange(-8, 9), draw.choice([1, 2, 4, 7])) for n in names}
    at_end = draw.choice([None, None, names[0]])
    box = {}
    for name in names:
        low = zero[name] - (0 if name == at_end else Fraction(draw.randrange(1, 8), 2))
        box[name] = Interval(low, zero[name] + Fraction(draw.randrange(1, 8), 2), True, draw.random() < 0.7)
    squares: list[Square] = []
    if draw.random() < 0.5:
        for _ in range(draw.randrange(1, len(names) + 2)):
            g = _polynomial(draw, ring, 2)
            squares.append((Fraction(draw.randrange(1, 30), draw.randrange(1, 12)), _lowered(g, zero)))
    else:
        squares = list(_gram(draw, ring, zero))
    terms = [_term(squares)]
    f = sum((ring.number(c) * g * g for c, g in squares), ring.number(0))
    if at_end:
        g, side = _polynomial(draw, ring, 1), ring.variable(at_end) - ring.number(zero[at_end])
        f += side * g * g
        terms.append(_term([(Fraction(1), g)], ["low", at_end, str(zero[at_end])]))
    constraints: tuple[Constraint, ...] = ()
    if draw.random() < 0.3:
        h, c = _lowered(_polynomial(draw, ring, 2), zero), Fraction(draw.randrange(1, 9), 4)
        constraints = (Constraint(h, False, "as drawn"),)
        f += ring.number(c) * h
        terms.append(_term([(c, ring.number(1))], ["constraint", 0]))
    domain = Domain(ring, box, constraints)
    step = Fraction(1, 10 ** draw.randrange(15))
    g = _polynomial(draw, ring, 1)
    shape = ring.number(1) if draw.random() < 0.5 or not _value(g, zero) else g * g
    false = Claim(f - ring.number(step) * shape, domain)
    return Try(Claim(f, domain), {"kind": "squares", "terms": terms}, false, zero, step)


def _gram(draw: Random, ring: Ring, zero: Mapping[str, Fraction]) -> Iterator[Square]:
    """Yields the squares of a random Gram matrix L·D·Lᵀ over the forms that vanish at the zero."""
    away = [ring.variable(n) - ring.number(zero[n]) for n in ring.names]
    basis = [a * b for k, a in enumerate(away) for b in away[k:]] + away
    draw.shuffle(basis)
    for k in range(min(len(basis), draw.randrange(1, 5))):
        row = basis[k]
        for other in basis[k + 1 :]:
            row += ring.number(Fraction(draw.randrange(-9, 10), draw.randrange(1, 7))) * other
        yield Fraction(draw.randrange(1, 30), draw.randrange(1, 12)), row


def _term(squares: Sequence[Square], *product: Sequence[str | int]) -> dict[str, Any]:
    return {"product": [list(side) for side in product], "squares": [[str(c), str(g)] for c, g in squares]}


def _lowered(f: Polynomial, zero: Mapping[str, Fraction]) -> Polynomial:
    """Returns the polynomial minus its value at a point."""
    return f - Ring(tuple(map(str, f.context().names()))).number(_value(f, zero))


def _polynomial(draw: Random, ring: Ring, degree: int) -> Polynomial:
    found = ring.number(0)
    for _ in range(draw.randrange(1, 5)):
        term = ring.number(Fraction(draw.choice([-1, 1]) * draw.randrange(1, 20), draw.randrange(1, 9)))
        for _ in range(draw.randrange(degree + 1)):
            term *= ring.variable(draw.choice(ring.names))
        found += term
    return found


def _value(f: Polynomial, at: Mapping[str, Fraction]) -> Fraction:
    """Returns the value at a point, term by term."""
    names = [str(n) for n in f.context().names()]
    total = Fraction(0)
    for powers, coefficient in f.to_dict().items():
        term = Fraction(int(coefficient.p), int(coefficient.q))
        for name, power in zip(names, powers, strict=True):
            term *= at[name] ** int(power)
        total += term
    return total


def is_false(claim: Claim, at: Mapping[str, Fraction]) -> bool:
    """Tells whether a point of the domain shows that the claim is false."""
    for name, interval in claim.domain.box.items():
        if not interval.lower <= at[name] <= interval.upper:
            return False
    inside = all(_value(c.polynomial, at) >= 0 for c in claim.domain.constraints)
    return inside and _value(claim.polynomial, at) < 0


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields where the texts of a proof stand, those that name a kind or a side left out."""
    if isinstance(part, str) and path[-1] != "kind" and part not in ("low", "high", "constraint"):
        yield path
    items = part.items() if isinstance(part, Mapping) else enumerate(part) if isinstance(part, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def forged(proof: Any, lowered: Fraction, draw: Random) -> Iterator[Any]:
    """Yields the proof, and such as differ from it in a few numbers or terms."""
    yield proof
    for sign in ("-", ""):
        more = deepcopy(proof)
        for part in _with_terms(more):
            part["terms"].append({"product": [], "squares": [[f"{sign}{lowered}", "1"]]})
        yield more
    emptied = deepcopy(proof)
    for part in _with_terms(emptied):
        part["terms"], part["multiplier"] = [], [{"product": [], "squares": [["0", "1"]]}]
    yield emptied
    for _ in range(FORGERIES - 4):
        other = deepcopy(proof)
        found = list(places(other))
        if not found:
            return
        *path, last = draw.choice(found)
        part = other
        for key in path:
            part = part[key]
        part[last] = _perturbed(part[last], lowered, draw)
        yield other


def _with_terms(proof: Any) -> Iterator[dict[str, Any]]:
    if isinstance(proof, dict):
        if "terms" in proof:
            yield proof
        for inner in proof.values():
            yield from _with_terms(inner)
    elif isinstance(proof, list):
        for inner in proof:
            yield from _with_terms(inner)


def _perturbed(text: str, lowered: Fraction, draw: Random) -> str:
    """Returns a number or polynomial that is another by a little."""
    try:
        number = Fraction(text)
    except ValueError:
        return f"{text} {draw.choice('+-')} {lowered}"
    return str(draw.choice([number + lowered, number - lowered, -number, number * (1 - lowered)]))


def accepted(claim: Claim, proof: Any) -> bool:
    """Tells whether the kernel takes a proof for one of the claim, and trusts nobody."""
    try:
        return check_claim(to_document(claim), json.loads(json.dumps(proof))) == ()
    except Rejected:
        return False


def tried(seed: int, ask: bool) -> Sequence[str]:
    """Returns what happened, in words that are counted; `ask` says whether `sos` is asked, too.

    Raises:
        AssertionError: there is a false certificate.
    """
    draw = Random(seed)
    made = drawn(draw)
    false = made.false
    assert is_false(false, made.zero), seed
    told = ["claims that are false"]
    answers = {"exact procedures": decide_exactly(false, RemainingWork(boxes=100))}
    if ask:
        answers["sos"] = Sos().decide(false, {})
    for name, answer in answers.items():
        assert not isinstance(answer, Proved), (seed, name)
        told.append(f"{name}: {type(answer).__name__.lower()}")
    assert accepted(made.true, made.proof), seed
    told.append("claims that are true, with a certificate")
    for other in forged(made.proof, made.lowered, draw):
        assert not accepted(false, other), (seed, other)
        told.append("forged certificates, all rejected")
    return told


def main() -> None:
    """Tries and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=10_000)
    parser.add_argument("--asked", type=int, default=10, help="sos is asked in one of so many tries")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    started = time.process_time()
    for seed in range(options.first, options.first + options.tries):
        counts.update(tried(seed, seed % options.asked == 0))
    print("| what | how many |\n| --- | --- |")
    for what, number in counts.items():
        print(f"| {what} | {number:,} |")
    print(f"\n{time.process_time() - started:.0f} processor seconds")


if __name__ == "__main__":
    main()
