"""Secrets that are impossible: everywhere, which is a mistake, or at some priors, which are excluded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import (
    Polynomial,
    constant_value,
    is_constant,
    rational,
    value_at,
    variables,
)
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim
from paramverify.errors import CaseError
from paramverify.models.context import Obligation, is_somewhere_positive
from paramverify.models.priors import SecretPair


def possible(pairs: Sequence[SecretPair], domain: Domain) -> tuple[list[Obligation], list[str]]:
    """Refuses secrets that are impossible everywhere; returns what is in doubt, and what is excluded.

    Each obligation must be refuted: it holds if its secret has probability zero at every point of the domain.

    Raises:
        CaseError: a secret has probability zero at every point.
    """
    doubtful: list[Obligation] = []
    notes: list[str] = []
    signs: dict[int, Sign | None] = {}  # many pairs share their distributions
    for pair in pairs:
        for name, start in ((pair.left, pair.pi), (pair.right, pair.tau)):
            if id(start) not in signs:
                signs[id(start)] = sign_on(start.mass, domain)
            sign = signs[id(start)]
            if sign is Sign.POSITIVE:
                continue
            never = f"the secret {name!r} has probability zero for every prior"
            somewhere = is_somewhere_positive(start.mass, domain)
            if somewhere is False:
                raise CaseError(never, key="secrets")
            if somewhere is None:
                doubtful.append(Obligation(Claim(-start.mass, domain), never))
            notes.extend(_excluded(name, start.mass, domain))
    return doubtful, notes


def _excluded(name: str, mass: Polynomial, domain: Domain) -> Iterator[str]:
    """Yields where a secret has probability zero, in words, if it has so anywhere."""
    zeros = [
        _zeros(factor)
        for factor, _ in mass.factor()[1]
        if sign_on(factor, domain) not in (Sign.POSITIVE, Sign.NEGATIVE) and not _ruled_out(factor, domain)
    ]
    if zeros:
        yield (
            f"priors with {' or '.join(zeros)} are excluded: there {name!r} has probability "
            "zero, and privacy says nothing"
        )


def _ruled_out(factor: Polynomial, domain: Domain) -> bool:
    """Tells whether a constraint says that a factor is nowhere zero: it has it inside, or is below it.

    A constraint is f > 0 or f ≥ 0. Where g ± k·f > 0 for the factor ±g and some k > 0, g is not zero.
    """
    for constraint in domain.constraints:
        f = constraint.polynomial
        if is_constant(f):
            continue
        if constraint.strict and not f % factor:
            return True
        k = abs(Fraction(str(factor.leading_coefficient())) / Fraction(str(f.leading_coefficient())))
        enough = (Sign.POSITIVE, Sign.NONNEGATIVE, Sign.ZERO) if constraint.strict else (Sign.POSITIVE,)
        if any(sign_on(g - f * rational(k), domain) in enough for g in (factor, -factor)):
            return True
    return False


def _zeros(factor: Polynomial) -> str:
    """Returns where an irreducible polynomial vanishes, in words: `p = 1`, or `p + q - 1 = 0`."""
    names = variables(factor)
    if len(names) == 1 and factor.total_degree() == 1:
        slope = constant_value(factor.derivative(names[0]))
        at_zero = value_at(factor, {name: Fraction(0) for name in map(str, factor.context().names())})
        return f"{names[0]} = {-at_zero / slope}"
    return f"{factor} = 0"
