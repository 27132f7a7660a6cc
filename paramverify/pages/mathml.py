"""Exact numbers and rational functions as MathML: integer coefficients, positive factors, powers of e.

A power of the generator `E = exp(g)` is written as a power of e, and so is the variable `x_eps = exp(-eps*g)`
of an unbounded parameter: what is written is equal to the function, with the same factors as in its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from xml.etree.ElementTree import fromstring

from flint import fmpq_poly, fmpz

from paramverify.algebra.constants import GENERATOR, ExpConstant, Transcendental
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring
from paramverify.algebra.reals import Real
from paramverify.errors import SizeError
from paramverify.pages.markup import Element, h
from paramverify.reports import algebraic_numbers
from paramverify.reports.formulas import formula, integral, oriented_factors

GREEK = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eps": "ε", "epsilon": "ϵ", "zeta": "ζ"},
    **{"eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "rho": "ρ"},
    **{"sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω"},
}
MINUS, TIMES = "\u2212", "\u2062"  # the invisible sign of a product


def function(found: RationalFunction, domain: Domain) -> Element:
    """Returns a rational function of the domain's ring, factored.

    Raises:
        SizeError: a number of more digits than Python writes.
    """
    text = formula(found, domain).factored
    top, bottom = integral(found)
    if not top:
        return math([h("mn", "0")], text)
    above, minus_above = _product(top, domain)
    below, minus_below = _product(bottom, domain)
    whole = above if bottom.is_one() else [h("mfrac", _row(above), _row(below))]
    if minus_above != minus_below:
        lone = bottom.is_one() and len(above) == 1 and above[0].tag == "mrow"
        whole = [_sign(MINUS), *(_fenced(above) if lone else whole)]
    return math(whole, text)


def real(value: Real) -> Element:
    """Returns an exact number."""
    if value.rational is not None:
        return rational(value.rational)
    top, bottom, constant = value.numerator, value.denominator, value.constant
    assert constant is not None
    scale = top.denom().lcm(bottom.denom())
    parts = [_in_e(p * scale, constant) for p in (top, bottom)]
    text = value.describe()
    if (bottom * scale).is_one():
        return math(parts[0], text)
    return math([h("mfrac", _row(parts[0]), _row(parts[1]))], text)


def rational(value: Fraction) -> Element:
    """Returns a rational number."""
    return math(_number(value), str(value))


def root(found: algebraic_numbers.Root, constant: ExpConstant | None) -> Element | None:
    """Returns an end of an interval in radicals; None where it has no short closed form."""
    if found.is_rational:
        return rational(found.lower)
    text, shown = algebraic_numbers.closed_form(found, constant), algebraic_numbers.mathml(found, constant)
    return None if text is None or shown is None else math([fromstring(shown)], text)


def name(text: str, among: Iterable[str] = ()) -> Element:
    """Returns the symbol of a parameter: α for `alpha`, and an index for the end of `p_1`, `p1` and `pA`.

    Where this would be the symbol of another name, too, it is the name as it is.
    """
    letter, index = _symbol(text)
    if any(other != text and _symbol(other) == (letter, index) for other in among):
        return h("mi", text)
    return (
        h("msub", h("mi", letter), h("mn" if index.isdigit() else "mi", index)) if index else h("mi", letter)
    )


def _symbol(text: str) -> tuple[str, str]:
    """Returns letter and index of a name."""
    match = re.fullmatch(r"([A-Za-z]+?)_?(\d+|(?<=_)[A-Za-z]|[A-Z])?", text)
    if match is None or not (len(match[1]) == 1 or match[1] in GREEK):
        return text, ""
    return GREEK.get(match[1], match[1]), match[2] or ""


def math(parts: list[Element], text: str) -> Element:
    """Returns a formula, with the same as text for whoever cannot see it."""
    return h("math", _row(parts), alttext=text)


def _product(polynomial: Polynomial, domain: Domain) -> tuple[list[Element], bool]:
    """Returns the factors, and whether they multiply to the negative of the polynomial."""
    content, factors, negative = oriented_factors(polynomial, domain)
    alone = content == 1 and len(factors) == 1 and factors[0][1] == 1
    shown: list[Element] = []
    for factor, power in factors:
        many = len(factor) > 1
        base = _sum(factor, domain.ring) if many else _monomial(factor, domain.ring, power)
        if many and not alone:
            base = _fenced(base)
        if many and power > 1:
            base = [h("msup", _row(base), h("mn", str(power)))]
        if shown:
            shown.append(_operator(TIMES))
        shown.append(_row(base))
    if content != 1 or not shown:
        shown = [h("mn", str(content)), *([_operator(TIMES)] if shown else []), *shown]
    return shown, negative


def _sum(polynomial: Polynomial, ring: Ring) -> list[Element]:
    """Returns the terms of a polynomial with integer coefficients, a positive one first."""
    names = [str(n) for n in polynomial.context().names()]
    terms = [(fmpz(c.p), dict(zip(names, map(int, m), strict=True))) for m, c in polynomial.to_dict().items()]
    if terms and terms[0][0] < 0:
        terms.sort(key=lambda term: bool(term[0] < 0))
    shown: list[Element] = []
    for coefficient, powers in terms:
        if shown or coefficient < 0:
            shown.append(_operator(MINUS if coefficient < 0 else "+") if shown else _sign(MINUS))
        shown += _term(abs(int(coefficient)), powers, ring)
    return shown or [h("mn", "0")]


def _term(coefficient: int, powers: dict[str, int], ring: Ring) -> list[Element]:
    parts = [_power(ring, n, e) for n, e in powers.items() if e]
    if coefficient != 1 or not parts:
        parts.insert(0, h("mn", str(coefficient)))
    shown = [parts[0]]
    for part in parts[1:]:
        shown += [_operator(TIMES), part]
    return shown


def _monomial(polynomial: Polynomial, ring: Ring, power: int) -> list[Element]:
    names = [str(n) for n in polynomial.context().names()]
    ((exponents, _),) = polynomial.to_dict().items()
    return _term(1, {n: int(e) * power for n, e in zip(names, exponents, strict=True)}, ring)


def _power(ring: Ring, variable: str, exponent: int) -> Element:
    """Returns a power of a variable of the ring, as a power of e where it stands for one."""
    if variable == GENERATOR and ring.constant:
        return _exp(_inline(ring.constant.exponent * exponent))
    meant = next((u for u in ring.unbounded if u.variable == variable), None)
    if meant:
        factor = meant.step * exponent
        own = [name(meant.name)] if factor == 1 else [*_inline(factor), _operator(TIMES), name(meant.name)]
        return _exp([_sign(MINUS), *own])
    base = name(variable, ring.parameters)
    return base if exponent == 1 else h("msup", base, h("mn", str(exponent)))


def _in_e(polynomial: fmpq_poly, constant: Transcendental) -> list[Element]:
    """Returns a polynomial in a constant with whole coefficients, the highest power first."""
    shown: list[Element] = []
    for power in range(int(polynomial.degree()), -1, -1):
        coefficient = polynomial[power]
        if not coefficient:
            continue
        if shown or coefficient < 0:
            shown.append(_operator(MINUS if coefficient < 0 else "+") if shown else _sign(MINUS))
        size = abs(int(coefficient.p))
        factors = [h("mn", str(size))] if size != 1 or not power else []
        if power:
            factors += [_operator(TIMES)] if factors else []
            factors.append(_raised(constant, power))
        shown += factors
    return shown or [h("mn", "0")]


def _raised(constant: Transcendental, power: int) -> Element:
    if isinstance(constant, ExpConstant):
        return _exp(_inline(constant.exponent * power))
    number = _row([h("mi", "ln"), *_fenced(_inline(constant.base))])
    return number if power == 1 else h("msup", number, h("mn", str(power)))


def _exp(exponent: list[Element]) -> Element:
    is_one = len(exponent) == 1 and exponent[0].text == "1"
    return h("mi", "e") if is_one else h("msup", h("mi", "e"), _row(exponent))


def _inline(value: Fraction) -> list[Element]:
    """Returns a rational number in one line, for exponents."""
    size = [h("mn", str(abs(value.numerator)))]
    if value.denominator != 1:
        size += [h("mo", "/", lspace="0", rspace="0"), h("mn", str(value.denominator))]
    return [_sign(MINUS), *size] if value < 0 else size


def _number(value: Fraction) -> list[Element]:
    try:
        top, bottom = str(abs(value.numerator)), str(value.denominator)
    except ValueError:
        raise SizeError("a number of over 4300 digits is not written") from None
    size = h("mn", top) if value.denominator == 1 else h("mfrac", h("mn", top), h("mn", bottom))
    return [_sign(MINUS), size] if value < 0 else [size]


def _fenced(parts: list[Element]) -> list[Element]:
    return [h("mrow", h("mo", "(", stretchy="false"), parts, h("mo", ")", stretchy="false"))]


def _row(parts: list[Element]) -> Element:
    return parts[0] if len(parts) == 1 else h("mrow", parts)


def _operator(sign: str) -> Element:
    if sign != TIMES:
        return h("mo", sign)
    shown = h("mo", lspace="0.12em", rspace="0.12em")
    shown.text = sign  # which is not seen, and so is not printable
    return shown


def _sign(sign: str) -> Element:
    return h("mo", sign, form="prefix")
