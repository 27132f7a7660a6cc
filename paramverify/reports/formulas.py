"""Names, expressions and rational functions as people write them, in plain text and in TeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import log10
from typing import Any

from flint import fmpz

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, sign_at, tied_in
from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    primitive,
    rational,
    value_at,
    variables,
)
from paramverify.errors import SizeError
from paramverify.models.context import sample_points

LOWER = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"),
    *("nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
)
UPPER = ("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega")
GREEK = frozenset((*LOWER, *UPPER))
OPERATORS = {
    **{"<=": r"\leq ", ">=": r"\geq ", "==": "=", "!=": r"\neq ", "≈": r"\approx "},
    **{"<": "<", ">": ">", ",": r",\ ", ";": r";\ \ "},
}
WORDS = ("for", "all", "and", "or", "bound")
FUNCTIONS = ("ln", "log", "max", "min")
_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|[A-Za-z_]\w*|\*\*|[<>=!]=|[-+*/^(),;<>=\[\]≈])", re.ASCII)
_WORDS = re.compile(rf"(?:[-\d./≈\s]|\b(?!(?:{'|'.join(sorted(GREEK))}|[a-z][A-Z]\w*)\b)[A-Za-z]{{2,}}\b)*")
_NAME = re.compile(r"([A-Za-z]+)_?(\d+)|([A-Za-z]+)_(\w+)|([a-z])([A-Z]\w*)|([A-Za-z]+)", re.ASCII)


def text(told: str) -> str:
    """Returns words and formulas of ours for an artist that parses mathematics.

    What is no formula stays as it is, and so do numbers and words alone.
    """
    found = None if _WORDS.fullmatch(told) else tex_formula(told)
    return plain(told) if found is None else f"${found}$"


def plain(told: str) -> str:
    """Returns a text for an artist that parses mathematics, without any."""
    return told.replace("$", r"\$")


def name(told: str) -> str:
    """Returns the name of a parameter: `alpha`, `pA` and `p_1` are a letter, with an index below it."""
    match = _NAME.fullmatch(told)
    if not match:
        return rf"\mathrm{{{_escaped(told)}}}"
    first, number, second, below, letter, capital, whole = match.groups()
    base, index = first or second or letter or whole, number or below or capital
    if number and len(base) > 1 and base not in GREEK:
        return rf"\mathrm{{{_escaped(told)}}}"
    if not index:
        return _letter(base)
    inner = index if index.isdigit() or len(index) == 1 else rf"\mathrm{{{_escaped(index)}}}"
    return f"{_letter(base)}_{{{inner}}}"


def names(told: Sequence[str]) -> dict[str, str]:
    """Returns names as mathematics; those that would look alike stay as they are, in upright letters."""
    alone = {n: name(n) for n in told}
    seen = list(alone.values())
    return {n: s if seen.count(s) == 1 else rf"\mathrm{{{_escaped(n)}}}" for n, s in alone.items()}


def tex_formula(told: str, among: Sequence[str] = ()) -> str | None:
    """Returns an expression, a condition or words as mathematics, or None where a character is in none.

    `among` are names beside it, which shall not look like those in it.
    """
    tokens: list[str] = []
    place = 0
    while told[place:].strip():
        match = _TOKEN.match(told, place)
        if not match:
            return None
        tokens.append(match[1])
        place = match.end()
    return _set(tokens, names([*dict.fromkeys([*among, *(t for t in tokens if t[0].isalpha())])]))


def _set(tokens: Sequence[str], known: Mapping[str, str]) -> str | None:
    parts: list[str] = []
    place = 0
    while place < len(tokens):
        token, following = tokens[place], tokens[place + 1 : place + 2]
        place += 1
        if (token in ("sqrt", "exp") and following == ["("]) or token in ("^", "**"):
            end = _argument(tokens, place)
            if end is None:
                return None
            bare = tokens[place] == "("
            inner = _set(tokens[place + 1 : end - 1] if bare else tokens[place:end], known)
            if inner is None:
                return None
            parts.append({"sqrt": r"\sqrt", "exp": "e^"}.get(token, "^") + f"{{{inner}}}")
            place = end
        else:
            parts.append(_one(token, following, known))
    return "".join(parts)


def _one(token: str, following: Sequence[str], known: Mapping[str, str]) -> str:
    """Returns a token that stands for itself, before the one that follows."""
    if token in FUNCTIONS:
        return rf"\{token}" + ("" if following == ["("] else " ")
    if token == "*":
        return r"\cdot " if following and following[0][0].isdigit() else r"\,"
    if token == "in":
        return r"\in "
    if token in WORDS:
        before = r"\ " if token in ("and", "or") else ""
        return rf"{before}\mathrm{{{token}}}\ "
    return OPERATORS.get(token) or known.get(token, token)


def _argument(tokens: Sequence[str], start: int) -> int | None:
    """Returns where the argument that starts there ends: a token, or what is in parentheses."""
    depth = 0
    for place in range(start, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[place], 0)
        if depth == 0 and tokens[place] != "-":
            return place + 1
    return None


def _letter(base: str) -> str:
    if base in GREEK:
        return r"\varepsilon" if base == "epsilon" else rf"\{base}"
    return base if len(base) == 1 else rf"\mathrm{{{base}}}"


def _escaped(told: str) -> str:
    return "".join(rf"\{c}" if c in "_$%#&{}" else c for c in told)


LONGEST_LINE = 80  # characters of a formula, as we write them, in a line of LaTeX
MOST_BITS = 14_000  # of a number in a formula: Python writes 4300 digits

_BREAKS = re.compile(r"(?<=[*/])(?=\()|(?= [-+] )")


@dataclass(frozen=True)
class Formula:
    """One rational function in two forms, such as `(p^2 - 4*p + 4)/6` and `(2 - p)^2/6`."""

    expanded: str
    factored: str


def formula(function: RationalFunction, domain: Domain) -> Formula:
    """Returns both forms; factors are oriented to be positive at a point of the domain where that is seen.

    Raises:
        SizeError: a number of more digits than Python writes.
    """
    top, bottom = integral(function)
    bits = max(abs(c.p).bit_length() for c in (*top.coeffs(), *bottom.coeffs()))
    if bits > MOST_BITS:
        raise SizeError(f"a formula with a number of about {round(bits * log10(2))} digits is not written")
    if _negative(bottom, domain):
        top, bottom = -top, -bottom
    return Formula(
        _quotient(_sum(top), len(top) > 1, _sum(bottom), len(bottom) > 1 or not bottom.is_constant()),
        _factored(top, bottom, domain),
    )


def integral(function: RationalFunction) -> tuple[Polynomial, Polynomial]:
    """Returns numerator and denominator with coprime integer coefficients."""
    coefficients = [*function.numerator.coeffs(), *function.denominator.coeffs()]
    scale = reduce(lambda a, b: a.lcm(b), (c.q for c in coefficients), fmpz(1))
    top, bottom = function.numerator * scale, function.denominator * scale
    common = reduce(lambda a, b: a.gcd(b), (c.p for c in (*top.coeffs(), *bottom.coeffs())), fmpz(0))
    return top / common, bottom / common


def latex_lines(function: RationalFunction, domain: Domain) -> list[str]:
    """Returns the factored form as LaTeX: one line, or more where it is long, broken at operators."""
    told = formula(function, domain).factored
    if len(told) <= LONGEST_LINE:
        return [latex(function, domain)]
    pieces = [""]
    for part in _BREAKS.split(told):
        if pieces[-1] and len(pieces[-1]) + len(part) > LONGEST_LINE:
            pieces.append("")
        pieces[-1] += part
    known = [str(name) for name in function.numerator.context().names()]
    lines = [tex_formula(piece, known) for piece in pieces]
    return [
        ("{}" if line.startswith(("+", "-")) and k else "") + line for k, line in enumerate(lines) if line
    ]


def latex(function: RationalFunction, domain: Domain) -> str:
    """Returns the factored form as LaTeX, through sympy."""
    import sympy

    known = names([str(name) for name in function.numerator.context().names()])
    set_as = {sympy.Symbol(name): shown for name, shown in known.items()}

    upright = any(len(shown) > 1 and shown.startswith(r"\mathrm") for shown in known.values())

    def written(expression: Any) -> str:
        between = {"mul_symbol": r" \, "} if upright else {}
        return str(sympy.latex(expression, symbol_names=set_as, **between))

    def convert(polynomial: Polynomial) -> Any:
        symbols = [sympy.Symbol(str(name)) for name in polynomial.context().names()]
        terms = polynomial.to_dict().items()
        powers = ((c, (s ** int(e) for s, e in zip(symbols, m, strict=True))) for m, c in terms)
        return sympy.Add(*(sympy.Mul(sympy.Rational(int(c.p), int(c.q)), *p) for c, p in powers))

    def product(polynomial: Polynomial) -> tuple[Any, bool]:
        content, factors, negative = oriented_factors(polynomial, domain)
        parts = [sympy.Pow(convert(f), m, evaluate=False) if m > 1 else convert(f) for f, m in factors]
        if content != 1 or not parts:
            parts.insert(0, sympy.Integer(content))
        return sympy.Mul(*parts, evaluate=False) if len(parts) > 1 else parts[0], negative

    top, bottom = integral(function)
    if not top:
        return "0"
    (above, minus_above), (below, minus_below) = product(top), product(bottom)
    sign = "" if minus_above == minus_below else "-"
    if below != 1:
        return rf"{sign}\frac{{{written(above)}}}{{{written(below)}}}"
    whole = written(above)
    return rf"-\left({whole}\right)" if sign and isinstance(above, sympy.Add) else sign + whole


def exponent(functions: Iterable[RationalFunction], domain: Domain) -> Fraction | None:
    """Returns g if the constant `E = exp(g)` occurs in one of the functions."""
    if domain.constant is None:
        return None
    used = {n for f in functions for part in (f.numerator, f.denominator) for n in variables(part)}
    return domain.constant.exponent if GENERATOR in used else None


def oriented_factors(
    polynomial: Polynomial, domain: Domain
) -> tuple[int, list[tuple[Polynomial, int]], bool]:
    """Returns (c, [(g, m), ...], s) with polynomial = ±c·∏ g^m, negative iff s, c a positive integer.

    The factors are irreducible and oriented to be positive at a sample point of the domain. The
    coefficients of the polynomial are integers.
    """
    content, factors = polynomial.factor()
    negative = bool(content < 0)
    turned: list[tuple[Polynomial, int]] = []
    for factor, multiplicity in factors:
        scale, whole = primitive(factor)
        content *= rational(scale) ** int(multiplicity)
        if _negative(whole, domain):
            whole = -whole
            negative ^= multiplicity % 2 == 1
        turned.append((whole, int(multiplicity)))
    return int(abs(content).p), turned, negative


def _negative(polynomial: Polynomial, domain: Domain) -> bool:
    for point in sample_points(domain):
        tied = tied_in(domain.ring, polynomial)
        value = sign_at(domain, polynomial, point) if tied else value_at(polynomial, point)
        if value:
            return value < 0
    return False


def _sum(polynomial: Polynomial) -> str:
    """Returns the terms, a positive one first where there is one: `4 - 3*p` rather than `-3*p + 4`."""
    terms = [(fmpz(c.p), _monomial(polynomial, monomial)) for monomial, c in polynomial.to_dict().items()]
    if terms and terms[0][0] < 0:
        terms.sort(key=lambda term: bool(term[0] < 0))
    text = ""
    for coefficient, monomial in terms:
        size = abs(coefficient)
        term = monomial if monomial and size == 1 else f"{size}*{monomial}" if monomial else str(size)
        if text:
            text += f" - {term}" if coefficient < 0 else f" + {term}"
        else:
            text = f"-{term}" if coefficient < 0 else term
    return text or "0"


def _monomial(polynomial: Polynomial, exponents: tuple[int, ...]) -> str:
    names = polynomial.context().names()
    return "*".join(
        str(n) if e == 1 else f"{n}^{e}" for n, e in zip(names, map(int, exponents), strict=True) if e
    )


def _quotient(top: str, top_is_sum: bool, bottom: str, bottom_is_compound: bool) -> str:
    if bottom == "1":
        return top
    over = f"({top})" if top_is_sum else top
    return f"{over}/({bottom})" if bottom_is_compound else f"{over}/{bottom}"


def _factored(top: Polynomial, bottom: Polynomial, domain: Domain) -> str:
    if not top:
        return "0"
    above, sign_above = _product(top, domain)
    below, sign_below = _product(bottom, domain)
    text = "*".join(above) or "1"
    if len(above) == 1 and not below and sign_above == sign_below:
        text = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    if below:
        text += f"/{below[0]}" if len(below) == 1 else f"/({'*'.join(below)})"
    return text if sign_above == sign_below else f"-{text}"


def _product(polynomial: Polynomial, domain: Domain) -> tuple[list[str], bool]:
    """Returns the factors as texts, and whether they multiply to the negative of the polynomial."""
    content, factors, negative = oriented_factors(polynomial, domain)
    texts = [] if content == 1 else [str(content)]
    for factor, multiplicity in factors:
        text = f"({_sum(factor)})" if len(factor) > 1 else _sum(factor)
        texts.append(text if multiplicity == 1 else f"{text}^{multiplicity}")
    return texts, negative
