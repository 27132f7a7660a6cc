"""Claims: `for every θ in the domain, f(θ) ≥ 0`, each with the place it came from."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.constants import GENERATOR, ExpConstant
from paramverify.algebra.domains import Constraint, Domain, Interval, tied_in
from paramverify.algebra.polynomials import Polynomial, Ring, Unbounded, key, value_at


def show_sequence(names: Iterable[str]) -> str:
    """Returns names in one line, with quotes where a name has a blank, a comma or a quote, or is empty.

    Different sequences are shown differently. A name that is a plain word in quotes stays as it is: that word
    is shown without. So does a name that is a label of a program in double quotes: it has its quotes.
    """
    plain = re.compile(r"""[^\s,'"\\]+|'[^\s,'"\\]+'|"([^"\\\n]|\\.)*\"""")
    # `repr` takes single quotes where there is a double one; so double quotes are those of labels alone.
    return " ".join(n if plain.fullmatch(n) else repr(n + '"')[:-2] + "'" for n in names)


@dataclass(frozen=True)
class Origin:
    """Where a claim comes from: the direction of a secret pair, and the observation sequence.

    The claim says `Pr(observations | left) ≤ ratio · Pr(observations | right)`.
    """

    left: str
    right: str
    observations: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.left} against {self.right}, output {show_sequence(self.observations)}"


@dataclass(frozen=True)
class Stated:
    """A comparison that the case file itself claims: its number, counted from 0, and its text."""

    number: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Direction:
    """Where a claim about a sum comes from: the direction of a secret pair, and the length of the sequences.

    The claim says `Pr(S | left) ≤ ratio · Pr(S | right) + delta` of every set S of such sequences.
    """

    left: str
    right: str
    length: int

    def __str__(self) -> str:
        about = "" if self.length == 1 else f" of sequences of length {self.length}"
        return f"{self.left} against {self.right}, every set of outputs{about}"


@dataclass(frozen=True)
class AllOutputs(Origin):
    """Where a claim about a divergence comes from: one direction, and all outputs of one length together."""

    observations: tuple[str, ...] = ()
    length: int = 1

    def __str__(self) -> str:
        about = "" if self.length == 1 else f" of length {self.length}"
        return f"{self.left} against {self.right}, all outputs{about} together"


@dataclass(frozen=True, eq=False)
class Claim:
    """For every point θ of the domain, polynomial(θ) ≥ 0.

    Several origins may give the same claim; they are merged, and the first one names it. A claim about the
    model itself has none.
    """

    polynomial: Polynomial
    domain: Domain
    origins: tuple[Origin | Stated | Direction, ...] = ()

    def text(self) -> str:
        """Returns the canonical text: equal texts are equal claims."""
        return json.dumps(to_document(self), sort_keys=True, separators=(",", ":"))

    def digest(self) -> str:
        """Returns the SHA-256 digest of the canonical text."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    def holds_at(self, point: Mapping[str, Fraction]) -> bool:
        """Tells whether f(θ) ≥ 0 at one point that gives every variable with an interval."""
        from paramverify.algebra.domains import sign_at

        if tied_in(self.domain.ring, self.polynomial):
            return sign_at(self.domain, self.polynomial, point) >= 0
        return value_at(self.polynomial, point) >= 0


def nowhere(domain: Domain, origins: tuple[Origin | Stated, ...] = ()) -> Claim:
    """Returns the claim −1 ≥ 0, which holds iff the domain has no point, and fails at every point of it."""
    return Claim(domain.ring.number(-1), domain, origins)


def positive(
    polynomial: Polynomial, domain: Domain, text: str = "", origins: tuple[Origin | Stated, ...] = ()
) -> Claim:
    """Returns the claim that f > 0 on the domain, as one of the form g ≥ 0.

    f > 0 at every point of D iff no point of D has −f ≥ 0: iff −1 ≥ 0 on the part of D where −f ≥ 0. It fails
    exactly at the points of D with f ≤ 0. `text` says in words what is true on that part.
    """
    rest = Constraint(-polynomial, False, text or f"{polynomial} <= 0")
    return nowhere(replace(domain, constraints=(*domain.constraints, rest)), origins)


def without_enclosure(claim: Claim) -> Claim:
    """Returns the claim about the constant `E` as the number it is, without an interval for it."""
    if claim.domain.constant is None:
        return claim
    box = {name: interval for name, interval in claim.domain.box.items() if name != GENERATOR}
    return replace(claim, domain=replace(claim.domain, box=box))


def without_unused_ties(claim: Claim) -> Claim:
    """Returns the claim in a ring without the tied parameters that it does not mention."""
    domain, ring = claim.domain, claim.domain.ring
    used = tied_in(ring, claim.polynomial, *(c.polynomial for c in domain.constraints))
    if len(used) == len(ring.tied):
        return claim
    unbounded = tuple(replace(u, tied=u in used) for u in ring.unbounded)
    smaller = replace(ring, unbounded=unbounded)
    kept = [k for k, name in enumerate(ring.names) if name in smaller.names]

    def moved(polynomial: Polynomial) -> Polynomial:
        terms = polynomial.to_dict()
        return smaller.context.from_dict({tuple(m[k] for k in kept): c for m, c in terms.items()})

    constraints = tuple(replace(c, polynomial=moved(c.polynomial)) for c in domain.constraints)
    domain = replace(domain, ring=smaller, constraints=constraints)
    return replace(claim, polynomial=moved(claim.polynomial), domain=domain)


def to_document(claim: Claim) -> dict[str, Any]:
    """Returns the claim as JSON data: variables, polynomial, box and constraints, numbers as strings.

    `ties` says of each variable without an interval, such as `eps`, which variable and step it belongs to:
    `{"eps": ["x_eps", "1/4"]}` for eps = −4·ln(x_eps). What is tied and does not occur is left out.
    """
    domain = claim.domain
    ties = tied_in(domain.ring, claim.polynomial, *(c.polynomial for c in domain.constraints))
    unused = {u.name for u in domain.ring.tied} - {u.name for u in ties}
    document: dict[str, Any] = {
        "variables": [name for name in domain.ring.names if name not in unused],
        "polynomial": key(claim.polynomial),
        "box": {name: str(interval) for name, interval in domain.box.items()},
        "constraints": [[key(c.polynomial), ">" if c.strict else ">="] for c in domain.constraints],
    }
    if domain.constant:
        document["constant"] = str(domain.constant.exponent)
    if ties:
        document["ties"] = {u.name: [u.variable, str(u.step)] for u in ties}
    return document


def from_document(document: Mapping[str, Any]) -> Claim:
    """Returns the claim that `to_document` wrote; origins are not kept."""
    names = tuple(document["variables"])
    exponent = document.get("constant")
    constant = ExpConstant(Fraction(exponent)) if exponent else None
    ties = tuple(
        Unbounded(name, variable, Fraction(step), True)
        for name, (variable, step) in document.get("ties", {}).items()
    )
    tied = {u.name for u in ties}
    free = names[:-1] if constant else names
    ring = Ring(tuple(n for n in free if n not in tied), constant, ties)
    box = {name: _interval(text) for name, text in document["box"].items()}
    constraints = tuple(
        Constraint(ring.parse(text), relation == ">", text) for text, relation in document["constraints"]
    )
    return Claim(ring.parse(document["polynomial"]), Domain(ring, box, constraints))


def _interval(text: str) -> Interval:
    lower, upper = text[1:-1].split(", ")
    return Interval(Fraction(lower), Fraction(upper), text[0] == "[", text[-1] == "]")
