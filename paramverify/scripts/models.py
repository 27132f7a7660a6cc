"""Models of solvers for the constants of a script, as points that are then evaluated exactly.

Z3 writes an algebraic number as `(root-obj p k)`, the k-th real root of p; cvc5 as a polynomial and an
interval around one of its roots; Yices rounds it to a decimal. All rational forms are read exactly. What
comes of a rounded number is tried: the roots near it of what the assertions compare, and simple rationals. A
point proves nothing until the assertions are evaluated at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

from flint import fmpq_poly, fmpz_poly

from paramverify.algebra.polynomials import rational, substitute, variables
from paramverify.algebra.realroots import RealRoot, isolate, univariate
from paramverify.algebra.simplest import simplest_between
from paramverify.errors import LimitError, UnsupportedError
from paramverify.formats import sexpressions
from paramverify.formats.script_terms import Term, decimal
from paramverify.scripts.cubes import Reading
from paramverify.scripts.evaluation import Number, ScriptPoint

CVC5 = re.compile(r"\(_ real_algebraic_number <([^,<>]*), \(([^,()]*), ([^,()]*)\)>\)")
CVC5_TERM = re.compile(r"\s*\(?\s*(-?\d*)\s*\*?\s*(-?x)?(?:\^(\d+))?\s*\)?\s*\Z")
NUMERAL = re.compile(r"(-?)(\d+(?:\.\d+)?)(\??)\Z")
MAX_DEGREE = 200
MAX_POINTS = 200
NEAR = Fraction(1, 10_000)  # how far, relative to its size, a rounded number may be from what it stands for


@dataclass(frozen=True)
class Rounded:
    """A number of which a decimal near it is known."""

    near: Fraction


Value = Number | Rounded | bool


def read_model(text: str, symbols: Sequence[str]) -> dict[str, Value]:
    """Returns the values in the answer to `(get-value (symbols))`.

    Raises:
        ValueError: it is something else.
        LimitError: a polynomial of a very high degree.
    """
    roots: list[RealRoot] = []

    def kept(match: re.Match[str]) -> str:
        roots.append(_cvc5_root(*match.groups()))
        return f"(root-number {len(roots) - 1})"

    terms = sexpressions.read(CVC5.sub(kept, text))
    if len(terms) != 1 or isinstance(terms[0], str):
        raise ValueError("not a list of symbols and values")
    if len(terms[0]) != len(symbols):
        raise ValueError("not one value for each constant")
    model: dict[str, Value] = {}
    # By their order: some solvers write other names than the script has.
    for symbol, pair in zip(symbols, terms[0], strict=True):
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError("not a list of symbols and values")
        model[symbol] = _value(pair[1], roots)
    return model


def _value(term: sexpressions.Term, roots: Sequence[RealRoot]) -> Value:
    if term in ("true", "false"):
        return term == "true"
    if isinstance(term, str):
        match = NUMERAL.match(term)
        if not match:
            raise ValueError(f"not a number: {term[:40]!r}")
        value = decimal(match[2]) * (-1 if match[1] else 1)
        # Z3 writes 2.0 for 2; other decimals may be exact or rounded, and both are tried.
        whole = not match[3] and (value.denominator == 1)
        return value if whole else Rounded(value)
    head, *rest = term
    if head == "root-number" and len(rest) == 1:
        return roots[int(str(rest[0]))]
    if head == "root-obj" and len(rest) == 2 and isinstance(rest[1], str):
        return _root(_polynomial(rest[0]), int(rest[1]))
    parts = [_value(part, roots) for part in rest]
    if head == "-" and len(parts) == 1:
        return _negative(parts[0])
    numbers = [p.near if isinstance(p, Rounded) else p for p in parts]
    if head == "/" and len(numbers) == 2:
        top, bottom = numbers
        if isinstance(top, Fraction) and isinstance(bottom, Fraction) and bottom:
            return top / bottom
    raise ValueError("a value that is not a number")


def _negative(value: Value) -> Value:
    if isinstance(value, Rounded):
        return Rounded(-value.near)
    if isinstance(value, RealRoot):
        turned = fmpz_poly([c * (-1) ** k for k, c in enumerate(value.factor.coeffs())])
        return RealRoot(turned, value.multiplicity, -value.upper, -value.lower)
    if isinstance(value, bool):
        raise ValueError("a truth value has no sign")
    return -value


def _polynomial(term: sexpressions.Term) -> fmpq_poly:
    """Returns a polynomial in x that Z3 wrote."""
    x = fmpq_poly([0, 1])
    if isinstance(term, str):
        return x if term == "x" else fmpq_poly([rational(decimal(term))])
    head, *rest = term
    if head == "^" and len(rest) == 2 and isinstance(rest[1], str):
        exponent = int(rest[1])
        if exponent > MAX_DEGREE:
            raise LimitError("an algebraic number of a very high degree")
        return _polynomial(rest[0]) ** exponent
    parts = [_polynomial(part) for part in rest]
    if not parts or head not in ("+", "-", "*"):
        raise ValueError("not a polynomial")
    found = parts[0]
    for part in parts[1:]:
        found = found + part if head == "+" else found - part if head == "-" else found * part
    return -found if head == "-" and len(parts) == 1 else found


def _whole(polynomial: fmpq_poly) -> fmpz_poly:
    if polynomial.degree() < 1:
        raise ValueError("a constant has no root")
    if polynomial.degree() > MAX_DEGREE:
        raise LimitError("an algebraic number of a very high degree")
    return polynomial.numer()


def _root(polynomial: fmpq_poly, number: int) -> RealRoot:
    """Returns the real root with this number, counted from 1 in ascending order."""
    found = all_roots(_whole(polynomial))
    if not 1 <= number <= len(found):
        raise ValueError("the polynomial has fewer real roots")
    return found[number - 1]


def all_roots(polynomial: fmpz_poly) -> list[RealRoot]:
    """Returns the real roots of a polynomial that is not constant, in ascending order, each once."""
    numbers = [abs(int(c)) for c in polynomial.coeffs()]
    bound = Fraction(1 + max(numbers) // numbers[-1] + 1)  # Cauchy's bound
    return isolate(polynomial, -bound, bound)


def _cvc5_root(polynomial: str, lower: str, upper: str) -> RealRoot:
    found = fmpq_poly([0])
    for part in re.split(r"\s\+\s", polynomial):
        match = CVC5_TERM.match(part)
        if not match or not (match[1] or match[2]):
            raise ValueError(f"not a polynomial: {polynomial[:60]!r}")
        digits, variable, power = match.groups()
        coefficient = int(digits) if digits not in ("", "-") else int(f"{digits}1")
        if variable and variable[0] == "-":
            coefficient = -coefficient
        exponent = int(power or 1) if variable else 0
        if exponent > MAX_DEGREE:
            raise LimitError("an algebraic number of a very high degree")
        found += fmpq_poly([0] * exponent + [coefficient])
    inside = isolate(_whole(found), Fraction(lower), Fraction(upper))
    if len(inside) != 1:
        raise ValueError("an interval around no root, or several")
    return inside[0]


def points(model: Mapping[str, Value], assertions: Sequence[Term]) -> Iterator[ScriptPoint]:
    """Yields the points that a model may stand for; a model without rounded numbers stands for one."""
    truths = {name: value for name, value in model.items() if isinstance(value, bool)}
    exact: dict[str, Number] = {n: v for n, v in model.items() if isinstance(v, (Fraction, RealRoot))}
    rounded = {name: value.near for name, value in model.items() if isinstance(value, Rounded)}
    if not rounded:
        yield ScriptPoint(exact, truths)
        return
    nearby = _near(rounded, exact, assertions)
    for choice in islice(product(*nearby.values()), MAX_POINTS):
        yield ScriptPoint({**exact, **dict(zip(nearby, choice, strict=True))}, truths)


def _near(
    rounded: Mapping[str, Fraction], known: Mapping[str, Number], assertions: Sequence[Term]
) -> dict[str, list[Number]]:
    """Returns for each rounded number what it may stand for: roots first, then rationals."""
    found: dict[str, list[Number]] = {name: [] for name in rounded}
    try:
        reading = Reading(assertions)
        cubes = reading.cubes()
    except (UnsupportedError, LimitError):
        cubes = ()
    if cubes:
        names = {own: symbol for symbol, own in reading.names.items()}
        at = {reading.names[n]: v for n, v in known.items() if isinstance(v, Fraction) and n in reading.names}
        literals = {name: literal for cube in cubes for name, literal in cube.literals.items()}
        for literal in literals.values():
            f = substitute(literal.polynomial, at)
            occurring = variables(f)
            if len(occurring) == 1 and names[occurring[0]] in rounded:
                symbol = names[occurring[0]]
                value = rounded[symbol]
                away = NEAR * max(Fraction(1), abs(value))
                found[symbol] += isolate(univariate(f), value - away, value + away)
    for name, value in rounded.items():
        found[name] = list({str(root): root for root in found[name]}.values())
        found[name].append(value)
        for bits in (8, 16, 32):
            step = Fraction(1, 2**bits)
            found[name].append(simplest_between(value - step, value + step))
    return found
