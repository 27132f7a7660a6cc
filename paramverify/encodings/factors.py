"""Irreducible factors of probabilities that may vanish on a domain."""

from __future__ import annotations

from collections.abc import Iterable

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Polynomial, is_constant, key
from paramverify.algebra.signs import Sign, sign_on
from paramverify.errors import LimitError
from paramverify.simplify.factors import factorable, factorisation

NEVER_ZERO = (Sign.POSITIVE, Sign.NEGATIVE)


def vanishing(found: Iterable[Polynomial], domain: Domain) -> tuple[Polynomial, ...]:
    """Returns the irreducible factors that are not known to be without zeros on a domain, each once."""
    different: dict[str, Polynomial] = {}
    for polynomial in {key(f): f for f in found if not is_constant(f)}.values():
        if not factorable(polynomial):
            raise LimitError("a probability is too large a polynomial to be factored")
        different |= {key(factor): factor for factor, _ in factorisation(polynomial)[1]}
    return tuple(f for f in different.values() if sign_on(f, domain) not in NEVER_ZERO)
