"""The constants `exp(q)` with rational q, exact.

All `exp(q)` of a case are whole powers of one generator `E = exp(g)`, where g > 0 is the greatest common
divisor of the exponents: the powers are then as small as they can be. `E` is treated as one more
parameter whose domain is a rational enclosure of its value.

By Lindemann's theorem [Lindemann82] `exp(g)` is transcendental for rational g ≠ 0, so a polynomial in `E`
with rational coefficients vanishes only if it is identically zero. Refining the enclosure therefore decides
every sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from math import gcd

from flint import arb, ctx, fmpq, fmpq_poly

from paramverify.algebra.rationals import rounded, simplest_between
from paramverify.errors import InputError, LimitError

GENERATOR = "E"
MAX_EXPONENT = 1_000  # absolute value of q in exp(q)
MAX_POWER = 10_000  # power of the generator that an exp(q) may be
FEW = 100  # steps that a number which is proposed has, if one is near
MAX_PRECISION = 1 << 16  # bits at which sign decisions give up; far beyond any case seen


@dataclass(frozen=True)
class ExpConstant:
    """The real number exp(exponent), for a positive rational exponent."""

    exponent: Fraction

    @property
    def name(self) -> str:
        """The number in words."""
        return f"exp({self.exponent})"

    def enclosure(self, bits: int) -> tuple[Fraction, Fraction]:
        """Returns rationals lo < exp(exponent) < hi, at most 2**-bits apart relative to the value.

        The ends are the simplest rationals that fit, so that a solver gets small numbers.
        """
        return _enclosure(self.exponent, bits)

    def sign(self, polynomial: fmpq_poly) -> int:
        """Returns the sign -1, 0 or 1 of a univariate polynomial at exp(exponent).

        Zero only for the zero polynomial (Lindemann), so doubling the precision ends.

        Raises:
            LimitError: undecided at `MAX_PRECISION` bits.
        """
        return _sign(self, polynomial)

    def at(self) -> arb:
        """Returns a ball that contains the number, at the working precision."""
        return arb(fmpq(self.exponent.numerator, self.exponent.denominator)).exp()

    def ball(self, polynomial: fmpq_poly, bits: int) -> arb:
        """Returns a ball that contains the value of the polynomial at exp(exponent)."""
        return _ball(self, polynomial, bits)


@dataclass(frozen=True)
class LogConstant:
    """The real number ln(base), for a rational base above 1 that is no power of another one.

    It is transcendental by Lindemann's theorem [Lindemann82], so a polynomial in it with rational
    coefficients vanishes only if it is identically zero.
    """

    base: Fraction

    @property
    def name(self) -> str:
        """The number in words."""
        return f"ln({self.base})"

    def sign(self, polynomial: fmpq_poly) -> int:
        """Returns the sign of a polynomial at the number; see `ExpConstant.sign`."""
        return _sign(self, polynomial)

    def at(self) -> arb:
        """Returns a ball that contains the number, at the working precision."""
        return arb(fmpq(self.base.numerator, self.base.denominator)).log()

    def ball(self, polynomial: fmpq_poly, bits: int) -> arb:
        """Returns a ball that contains the value of the polynomial at the number."""
        return _ball(self, polynomial, bits)


Transcendental = ExpConstant | LogConstant


def _sign(constant: Transcendental, polynomial: fmpq_poly) -> int:
    if polynomial.degree() < 1:
        number = polynomial[0]
        return (number > 0) - (number < 0)
    bits = 64
    while bits <= MAX_PRECISION:
        value = constant.ball(polynomial, bits)
        if value > 0:
            return 1
        if value < 0:
            return -1
        bits *= 2
    raise LimitError(f"the sign of a polynomial at {constant.name} is undecided with {MAX_PRECISION} bits")


def _ball(constant: Transcendental, polynomial: fmpq_poly, bits: int) -> arb:
    with working_precision(bits):
        at = constant.at()
        result = arb(0)
        for index in range(int(polynomial.degree()), -1, -1):
            result = result * at + arb(polynomial[index])
        return result


def generator(exponents: Iterable[Fraction]) -> ExpConstant | None:
    """Returns the generator for all exp(q): exp of the greatest common divisor of the nonzero q.

    Raises:
        InputError: an exponent is beyond `MAX_EXPONENT`.
        LimitError: one is too large a multiple of the common divisor.
    """
    numbers = sorted({abs(q) for q in exponents if q})
    if not numbers:
        return None
    if numbers[-1] > MAX_EXPONENT:
        raise InputError(
            f"epsilon and the arguments of exp must be at most {MAX_EXPONENT:,} in absolute value"
        )
    common = _common(numbers)
    if numbers[-1] / common > MAX_POWER:
        reason = (
            f"the greatest common divisor of the exponents of exp is too small: more than {MAX_POWER:,} steps"
        )
        raise LimitError("; ".join((reason, *_fitting(numbers))))
    return ExpConstant(common)


def _common(numbers: Iterable[Fraction]) -> Fraction:
    """Returns the greatest common divisor of positive rationals."""

    def both(a: Fraction, b: Fraction) -> Fraction:
        return Fraction(
            gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator
        )

    return reduce(both, numbers)


def _fitting(numbers: Sequence[Fraction]) -> Iterator[str]:
    """Yields, once at most, which exponent does not fit the others, and a number near it that does."""
    for odd in sorted(numbers, key=lambda q: q.denominator, reverse=True):
        rest = [q for q in numbers if q != odd]
        unit = _common(rest)
        room = max(1, int(MAX_POWER * unit / numbers[-1]))
        shares = [(odd / unit).limit_denominator(min(most, room)) for most in (FEW, MAX_POWER)]
        for near in (unit * share for share in (*shares, Fraction(1, room)) if share):
            if max(*rest, near) / _common([*rest, near]) <= MAX_POWER:
                known = [(q, rounded(q, 15)) for q in (odd, near)]
                own, other = (str(q) if text.startswith("≈") else text for q, text in known)
                yield (
                    f"of epsilon, rates of noise and arguments of exp, {own} does not fit the others: "
                    f"use {other}"
                )
                return


@lru_cache(maxsize=256)
def _enclosure(exponent: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    with working_precision(2 * bits + 64):
        ball = arb(fmpq(exponent.numerator, exponent.denominator)).exp()
        below, above = _exact(ball.lower()), _exact(ball.upper())
    width = below / 2 ** (bits + 2)
    # arb's lower and upper ends are rounded outward, so below <= exp(exponent) <= above; the simplest
    # rationals are taken strictly outside of them.
    low = simplest_between(below - width, below - width / 4)
    return low, simplest_between(above + width / 4, above + width)


def _exact(value: arb) -> Fraction:
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


class working_precision:
    """Sets flint's working precision for a while."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def __enter__(self) -> None:
        self.before = ctx.prec
        ctx.prec = self.bits

    def __exit__(self, *_: object) -> None:
        ctx.prec = self.before


def lower_bound(value: arb) -> Fraction:
    """Returns a rational that is at most every number in the ball."""
    return _exact(value.lower())


def upper_bound(value: arb) -> Fraction:
    """Returns a rational that is at least every number in the ball."""
    return _exact(value.upper())
