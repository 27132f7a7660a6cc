"""Algebraic numbers as people write them: closed forms by sympy, decimals, and minimal polynomials."""

from __future__ import annotations

import re
from fractions import Fraction
from html import unescape
from typing import Any

from flint import Ordering, fmpq_mpoly_ctx

from paramverify.algebra.constants import GENERATOR, ExpConstant
from paramverify.algebra.polynomials import primitive
from paramverify.algebra.rationals import decimal_text
from paramverify.algebra.real_roots import FieldRoot, RealRoot, coefficients
from paramverify.algebra.reals import show_polynomial
from paramverify.synthesis.projection import TiedRoot

LONGEST = 60  # characters of a closed form
LONGEST_POLYNOMIAL = 90
WIDTH = Fraction(1, 10**15)  # of the enclosures that are shown
VARIABLE = "x"

_NAMED = re.compile(r"&(?!lt;|gt;|amp;|quot;)\w+;")  # entities that HTML has, and XML has not

Root = RealRoot | FieldRoot


def closed_form(root: Root, constant: ExpConstant | None = None) -> str | None:
    """Returns a root in radicals, with exp where the case has it, such as `sqrt(2)/2`; None if it is long."""
    found = _closed(root, constant)
    if found is None:
        return None
    import sympy

    # sympy writes E for exp(1), which is a name of ours.
    text = str(found.xreplace({sympy.E: sympy.Symbol("exp(1)")})).replace("**", "^")
    return text if len(text) <= LONGEST else None


def latex(root: Root, constant: ExpConstant | None = None) -> str | None:
    """Returns the closed form as LaTeX, where there is one."""
    import sympy

    found = _closed(root, constant)
    return None if found is None or closed_form(root, constant) is None else str(sympy.latex(found))


def mathml(root: Root, constant: ExpConstant | None = None) -> str | None:
    """Returns the closed form as presentation MathML, where there is one."""
    import sympy

    found = _closed(root, constant)
    if found is None:
        return None
    shown = str(sympy.printing.mathml(found, printer="presentation")).replace("&ExponentialE;", "e")
    return _NAMED.sub(lambda entity: unescape(entity[0]), shown)


def root_text(root: Root, constant: ExpConstant | None = None) -> str:
    """Returns a root in words: `1/2`, `sqrt(2)/2 (≈ 0.707107)`, or a decimal and its polynomial."""
    if root.is_rational:
        return str(root.lower)
    exact = closed_form(root, constant)
    about = f"≈ {decimal(root)}"
    return f"{exact} ({about})" if exact else f"{about}, {origin_text(root)}"


def decimal(root: Root, digits: int = 6) -> str:
    """Returns a root rounded to so many digits, at most 15."""
    small = root.precise() if isinstance(root, RealRoot) else root.refined(WIDTH)
    return decimal_text((small.lower + small.upper) / 2, digits)


def origin_text(root: Root) -> str:
    """Returns what a root is a root of; of a long polynomial only the degree."""
    polynomial = minimal_polynomial(root)
    if len(polynomial) <= LONGEST_POLYNOMIAL:
        return f"a root of {polynomial}"
    degree = root.factor.degree() if isinstance(root, RealRoot) else root.degree
    return f"a root of an irreducible polynomial of degree {degree}"


def root_document(root: Root, constant: ExpConstant | None = None) -> str | dict[str, Any]:
    """Returns a root as JSON: a rational as text; otherwise its polynomial, and rationals that enclose it."""
    if root.is_rational:
        return str(root.lower)
    small = root.refined(WIDTH)
    document: dict[str, Any] = {
        "minimal_polynomial": minimal_polynomial(root),
        "lower": str(small.lower),
        "upper": str(small.upper),
    }
    if constant is not None and isinstance(root, FieldRoot):
        document["constant"] = f"{GENERATOR} = exp({constant.exponent})"
    exact = closed_form(root, constant)
    return {"exact": exact, **document} if exact else document


def minimal_polynomial(root: Root) -> str:
    """Returns the irreducible polynomial whose root it is, in `x`, and in `E` where exp occurs.

    Where a parameter stands beside its exponential it is a polynomial in both, in their own names.
    """
    if isinstance(root, RealRoot):
        return show_polynomial(root.factor, VARIABLE)
    if isinstance(root, TiedRoot):
        return str(primitive(root.polynomial)[1])
    names = [str(n) for n in root.polynomial.context().names()]
    renamed = fmpq_mpoly_ctx.get(tuple(VARIABLE if n == root.name else n for n in names), Ordering.lex)
    return str(renamed.from_dict(primitive(root.polynomial)[1].to_dict()))


def _closed(root: Root, constant: ExpConstant | None) -> Any:
    """Returns the sympy expression of a root: the one solution in radicals that lies in its interval."""
    import sympy

    if root.is_rational:
        return sympy.Rational(root.lower.numerator, root.lower.denominator)
    if isinstance(root, TiedRoot):
        return None
    x, e = sympy.Symbol("x"), sympy.Symbol(GENERATOR, positive=True)
    if isinstance(root, RealRoot):
        parts = [sympy.Integer(int(c)) for c in root.factor.coeffs()]
    else:
        parts = [_in_generator(c, e) for c in coefficients(root.polynomial, root.name)]
    if len(parts) > 5:
        return None
    solutions = sympy.roots(sum(c * x**k for k, c in enumerate(parts)), x)
    if constant is not None:
        number = sympy.exp(sympy.Rational(constant.exponent.numerator, constant.exponent.denominator))
        solutions = {sympy.powdenest(s, force=True).subs(e, number): m for s, m in solutions.items()}
    small = root.refined(WIDTH)
    total = small.lower + small.upper
    middle = sympy.Rational(total.numerator, 2 * total.denominator)
    near = [s for s in solutions if abs(sympy.N(s - middle, 30)) < 10 * float(WIDTH)]
    # In an irreducible cubic with three real roots the radicals go through complex numbers: of no use.
    return near[0] if len(near) == 1 and not near[0].has(sympy.I) else None


def _in_generator(element: Any, symbol: Any) -> Any:
    import sympy

    terms = element.to_dict().items()
    return sum(
        (sympy.Rational(int(c.p), int(c.q)) * symbol ** int(m[-1]) for m, c in terms), sympy.Integer(0)
    )
