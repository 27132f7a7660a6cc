"""Parts of a domain on which the same probabilities are zero.

Let G be the irreducible factors of the probabilities on the right that may vanish on a domain D. Where none
of them is 0, all these probabilities are positive. On D with g = 0, for one g of G, an output whose q has the
factor g is impossible on the right: so it must be on the left, and does not count. The other outputs are
looked at in the same way there. Every point of D where both secrets are possible is found like that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from paramverify.algebra.domains import Constraint, Domain
from paramverify.algebra.polynomials import Polynomial, variables
from paramverify.encodings.excesses import PairOutcomes
from paramverify.encodings.factors import vanishing
from paramverify.errors import LimitError

MAX_STRATA = 64  # of one direction


@dataclass(frozen=True, eq=False)
class Stratum:
    """A part of a domain with the outputs that count there.

    `positive` is a square that is not zero exactly where no probability of them on the right is zero.
    `nothing` are probabilities that must be 0 there.
    """

    found: PairOutcomes
    domain: Domain
    positive: Polynomial
    nothing: tuple[Polynomial, ...]


def strata(found: PairOutcomes, domain: Domain) -> Iterator[Stratum]:
    """Yields the strata of a direction.

    Raises:
        LimitError: more than `MAX_STRATA`.
    """
    pending: list[tuple[PairOutcomes, Domain, tuple[Polynomial, ...], tuple[Polynomial, ...]]]
    pending = [(found, domain, (), ())]
    for _ in range(MAX_STRATA):
        if not pending:
            return
        own, part, zero, nothing = pending.pop()
        factors = [
            g
            for g in vanishing((q for _, q in own.outputs if q), domain)
            if not any(_apart(g, h) for h in zero)
        ]
        positive = own.total * 0 + 1
        for g in factors:
            positive = positive * g * g
        yield Stratum(own, part, positive, nothing)
        for g in factors:
            kept = tuple((p, q) for p, q in own.outputs if not q or q % g)
            gone = tuple(p for p, q in own.outputs if q and not q % g and p and p % g)
            flat = (Constraint(g, False, f"{g} >= 0"), Constraint(-g, False, f"{g} <= 0"))
            inner = replace(part, constraints=(*part.constraints, *flat))
            pending.append((replace(own, outputs=kept), inner, (*zero, g), gone))
    raise LimitError("the probabilities of too many outputs may be zero where the constraints hold with =")


def _apart(one: Polynomial, other: Polynomial) -> bool:
    """Tells whether two irreducible polynomials are known to have no zero in common."""
    return one != other and len(set(variables(one)) | set(variables(other))) == 1
