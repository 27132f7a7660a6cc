"""Claims: `for every θ in the domain, f(θ) ≥ 0`, each with the place it came from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.constants import GENERATOR, ExpConstant
from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.polynomials import Polynomial, Ring, key
from paramverify.printable import name


@dataclass(frozen=True)
class Origin:
    """Where a claim comes from: the direction of a secret pair, and the observation sequence.

    The claim says `Pr(observations | left) ≤ ratio · Pr(observations | right)`.
    """

    left: str
    right: str
    observations: tuple[str, ...]

    def __str__(self) -> str:
        left, right, *word = map(name, (self.left, self.right, *self.observations))
        return f"{left} against {right}, output {' '.join(word)}"


@dataclass(frozen=True)
class Stated:
    """A comparison that the case file itself claims: its number, counted from 0, and its text."""

    number: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Claim:
    """For every point θ of the domain, polynomial(θ) ≥ 0.

    Several origins may give the same claim; they are merged, and the first one names it. A claim about the
    model itself has none.
    """

    polynomial: Polynomial
    domain: Domain
    origins: tuple[Origin | Stated, ...] = ()

    def text(self) -> str:
        """Returns the canonical text: equal texts are equal claims."""
        return json.dumps(to_document(self), sort_keys=True, separators=(",", ":"))

    def digest(self) -> str:
        """Returns the SHA-256 digest of the canonical text."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    def holds_at(self, point: Mapping[str, Fraction]) -> bool:
        """Tells whether f(θ) ≥ 0 at one point that gives every variable of the ring."""
        from paramverify.algebra.polynomials import value_at

        return value_at(self.polynomial, point) >= 0


def without_enclosure(claim: Claim) -> Claim:
    """Returns the claim about the constant `E` as the number it is, without an interval for it."""
    if claim.domain.constant is None:
        return claim
    box = {name: interval for name, interval in claim.domain.box.items() if name != GENERATOR}
    return replace(claim, domain=replace(claim.domain, box=box))


def to_document(claim: Claim) -> dict[str, Any]:
    """Returns the claim as JSON data: variables, polynomial, box and constraints, numbers as strings."""
    domain = claim.domain
    document: dict[str, Any] = {
        "variables": list(domain.ring.names),
        "polynomial": key(claim.polynomial),
        "box": {name: str(interval) for name, interval in domain.box.items()},
        "constraints": [[key(c.polynomial), ">" if c.strict else ">="] for c in domain.constraints],
    }
    if domain.constant:
        document["constant"] = str(domain.constant.exponent)
    return document


def from_document(document: Mapping[str, Any]) -> Claim:
    """Returns the claim that `to_document` wrote; origins are not kept."""
    names = tuple(document["variables"])
    exponent = document.get("constant")
    constant = ExpConstant(Fraction(exponent)) if exponent else None
    ring = Ring(names[:-1] if constant else names, constant)
    box = {name: _interval(text) for name, text in document["box"].items()}
    constraints = tuple(
        Constraint(ring.parse(text), relation == ">", text) for text, relation in document["constraints"]
    )
    return Claim(ring.parse(document["polynomial"]), Domain(ring, box, constraints))


def _interval(text: str) -> Interval:
    lower, upper = text[1:-1].split(", ")
    return Interval(Fraction(lower), Fraction(upper), text[0] == "[", text[-1] == "]")
