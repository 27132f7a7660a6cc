"""Witnesses at algebraic points, in words; and algebraic numbers in words."""

from __future__ import annotations

from fractions import Fraction

from flint import fmpz_poly

from paramverify import printable
from paramverify.algebra.decimals import decimal_text, rounded
from paramverify.algebra.number_fields import FieldNumber
from paramverify.algebra.polynomials import rational
from paramverify.algebra.realroots import RealRoot
from paramverify.algebra.reals import show_polynomial
from paramverify.claims import show_sequence
from paramverify.evidence.algebraic import AlgebraicCounterexample, AlgebraicWitness, AtAlgebraic

LONGEST = 60  # characters of a polynomial, or of a rational, before it is left out
SMALL = 12  # digits of coordinates


def number(value: FieldNumber) -> str:
    """Returns a number in words: `3/4 (0.75)`, or `≈ 1.41421 (a root of x^2 - 2)`."""
    if value.rational is None:
        told = _polynomial(value.root.factor)
        return f"≈ {decimal_text(value.middle())}" + (f" (a root of {told})" if told else "")
    exact, decimal = str(rational(value.rational)), rounded(value.rational)
    if len(exact) > LONGEST:
        return decimal
    return exact if value.rational.denominator == 1 else f"{exact} ({decimal})"


def equals(value: FieldNumber) -> str:
    """Returns a number behind its relation sign: `= 1/5`, or `≈ 1.41421 (a root of x^2 - 2)`."""
    told = number(value)
    return told if told.startswith("≈") else f"= {told}"


def place(witness: AtAlgebraic) -> str:
    """Returns the point of a witness: `x ≈ 2.2360679775, y = 1/2`."""
    return ", ".join(
        f"{name} = {rational(value)}"
        if isinstance(value, Fraction)
        else f"{name} ≈ {decimal_text(value.middle(), SMALL)}"
        for name, value in witness.parameters.items()
    )


def roots(witness: AtAlgebraic) -> list[str]:
    """Returns what the irrational coordinates are: each the only zero of a polynomial in an interval."""
    return [
        f"{name} is the only zero of {_polynomial(value.factor) or _degree(value)} "
        f"between {rational(value.lower)} and {rational(value.upper)}"
        for name, value in witness.parameters.items()
        if not isinstance(value, Fraction)
    ]


def witness_lines(witness: AtAlgebraic) -> list[str]:
    """Returns the sentences that tell a witness: the point, and what is false or too large there."""
    if isinstance(witness, AlgebraicCounterexample):
        return [
            f"With {place(witness)}: {witness.stated.text} is {'false' if witness.fails else 'true'}.",
            *roots(witness),
            f"left side {equals(witness.left)}",
            f"right side {equals(witness.right)}",
            f"left - right {equals(witness.difference)}, "
            f"which is {'not ' * witness.fails}{witness.relation} 0",
        ]
    return _leak(witness)


def _leak(witness: AlgebraicWitness) -> list[str]:
    output = " ".join(printable.name(show_sequence([o])) for o in witness.observations)
    left, right = (printable.name(secret) for secret in (witness.left, witness.right))
    far = f" for the distance {witness.distance}" if witness.distance is not None else ""
    what = f"output{'s' * (len(witness.observations) > 1)} {output}"
    verb = "is" if len(witness.observations) == 1 else "are"
    told = f"{number(witness.ratio)} times as likely" if witness.ratio else "infinitely more likely"
    than = "as" if witness.ratio else "than"
    return [
        f"With {place(witness)}: {what} {verb} {told} under '{left}' {than} '{right}'; "
        f"that is {'beyond' if witness.exceeds else 'within'} the bound {number(witness.bound)}{far}.",
        *roots(witness),
        *(
            f"Pr({output} | {secret}) {equals(value)}"
            for secret, value in zip((left, right), witness.probabilities, strict=True)
        ),
    ]


def _polynomial(factor: fmpz_poly) -> str:
    """Returns a polynomial in x, or nothing where it is long."""
    told = show_polynomial(factor, "x").replace(" 1*", " ")
    return told if len(told) <= LONGEST else ""


def _degree(root: RealRoot) -> str:
    return f"a polynomial of degree {root.factor.degree()}"
