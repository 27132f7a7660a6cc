"""Irrational numbers as exact text that can be read again: `sqrt(19)/10`, `2*exp(1/2) - 1`."""

from __future__ import annotations

from fractions import Fraction
from math import floor, lcm
from typing import Any

from flint import fmpq_poly, fmpz

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.polynomials import fraction
from paramverify.algebra.realroots import RealRoot, isolate
from paramverify.algebra.reals import Real, show_polynomial

LONGEST = 128  # bits of a discriminant whose square factors are looked for


def algebraic_text(root: RealRoot) -> str:
    """Returns an irrational number: `(1 + sqrt(5))/2`, or `root of x^3 - x - 1 between 1 and 2`."""
    if root.factor.degree() == 2:
        found = _quadratic(root)
        if found:
            return found
    low, high = _ends(root)
    polynomial = show_polynomial(root.factor, "x").replace(" 1*", " ")
    return f"root of {polynomial} between {low} and {high}"


def exponential_text(value: Real) -> str:
    """Returns an irrational quotient of polynomials in exp(g), with each power of it as `exp(q)`."""
    if not isinstance(value.constant, ExpConstant):
        return str(value)
    exponent = value.constant.exponent
    top, bottom = value.numerator, value.denominator
    shared = min(_lowest(top), _lowest(bottom))
    if shared == _lowest(bottom) == int(bottom.degree()):  # one term: each exponent of the top minus its own
        return _sum(top / bottom[shared], exponent, shared)
    scale = lcm(*(fraction(c).denominator for p in (top, bottom) for c in p.coeffs()))
    above, below = (_sum(p * scale, exponent, 0) for p in (top, bottom))
    above, below = (f"({part})" if " " in part or "*" in part else part for part in (above, below))
    return f"{above}/{below}"


def _lowest(polynomial: fmpq_poly) -> int:
    return next((k for k, c in enumerate(polynomial.coeffs()) if c), 0)


def _sum(polynomial: fmpq_poly, exponent: Fraction, less: int) -> str:
    terms = []
    for k in range(int(polynomial.degree()), -1, -1):
        factor, power = fraction(polynomial[k]), exponent * (k - less)
        if factor:
            size = abs(factor)
            name = f"exp({power})" if power else ""
            shown = "*".join([*([str(size)] if size != 1 or not name else []), *([name] if name else [])])
            terms += ["-" if factor < 0 else "+", shown]
    first = "-" if terms[0] == "-" else ""
    return first + " ".join(terms[1:])


def _quadratic(root: RealRoot) -> str:
    """Returns a root of a·x² + b·x + c in radicals; nothing where the numbers are too large."""
    c, b, a = (int(root.factor[k]) for k in range(3))
    whole = b * b - 4 * a * c
    if whole.bit_length() > LONGEST:
        return ""
    square, rest = 1, 1
    for prime, power in fmpz(whole).factor():
        square *= int(prime) ** (int(power) // 2)
        rest *= int(prime) ** (int(power) % 2)
    middle, size = Fraction(-b, 2 * a), Fraction(square, 2 * abs(a))
    while root.lower <= middle <= root.upper:
        root = root.halved()
    if root.upper < middle:
        size = -size
    bottom = lcm(middle.denominator, size.denominator)
    first, factor = int(middle * bottom), int(size * bottom)
    radical = f"sqrt({rest})" if abs(factor) == 1 else f"{abs(factor)}*sqrt({rest})"
    if first:
        radical = f"{first} {'-' if factor < 0 else '+'} {radical}"
        return f"({radical})/{bottom}" if bottom != 1 else radical
    radical = f"-{radical}" if factor < 0 else radical
    return f"{radical}/{bottom}" if bottom != 1 else radical


def _ends(root: RealRoot) -> tuple[Fraction, Fraction]:
    """Returns short fractions between which the polynomial has this root and no other."""
    scale = 1
    while True:
        small = root.refined(Fraction(1, 4 * scale))
        low = Fraction(floor(small.lower * scale), scale)
        high = low + Fraction(1, scale)
        while high < small.upper:
            high += Fraction(1, scale)
        if len(isolate(root.factor, low, high)) == 1:
            return low, high
        scale *= 10


def in_sympy(value: Fraction | RealRoot | Real) -> Any:
    """Returns a number as an expression of sympy, exactly."""
    import sympy

    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    if isinstance(value, RealRoot):
        parts = [sympy.Integer(int(c)) for c in value.factor.coeffs()[::-1]]
        bound = max(abs(int(c)) for c in value.factor.coeffs()) + 1  # Cauchy's bound on all roots
        below = isolate(value.factor, Fraction(-bound), value.lower)
        return sympy.rootof(sympy.Poly(parts, sympy.Symbol("x")), len(below))
    assert value.constant is not None
    number = value.constant
    if isinstance(number, ExpConstant):
        generator = sympy.exp(in_sympy(number.exponent))
    else:
        generator = sympy.log(in_sympy(number.base))

    def total(polynomial: fmpq_poly) -> Any:
        terms = (in_sympy(fraction(c)) * generator**k for k, c in enumerate(polynomial.coeffs()))
        return sympy.Add(*terms)

    return total(value.numerator) / total(value.denominator)
