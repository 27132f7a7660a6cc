"""Numbers of witnesses in words and as JSON data: rational, with `E`, algebraic, or enclosed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf

from flint import fmpq_poly, fmpz_poly

from paramverify import printable
from paramverify.algebra.budgets import outward
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.number_fields import FieldNumber
from paramverify.algebra.polynomials import rational
from paramverify.algebra.rationals import at_least, at_most, decimal_text, relation, rounded
from paramverify.algebra.reals import Real, show_polynomial
from paramverify.claims import show_sequence

Ends = tuple[Fraction, Fraction]
Chance = Real | Ends  # exact, or two numbers between which it lies


def word(observations: Sequence[str]) -> str:
    """Returns the names of an observation sequence as a terminal may show them; see `show_sequence`."""
    return " ".join(printable.name(show_sequence([o])) for o in observations)


def sequence(observations: Sequence[str]) -> str:
    """Returns an observation sequence in words."""
    shown = word(observations)
    return f"output {shown}" if len(observations) == 1 else f"outputs {shown}"


MOST_OUTPUTS = 12  # of a set that is told


def outputs(found: Sequence[Sequence[str]]) -> str:
    """Returns a set of outputs in words: the first of them, where there are many."""
    told = ", ".join(word(output) for output in found[:MOST_OUTPUTS])
    more = len(found) - MOST_OUTPUTS
    return f"{{{told}{f', ... and {more} more' if more > 0 else ''}}}"


def enclosed_outputs(names: Sequence[str]) -> str:
    """Returns a set of outputs in words: the first of them, where there are many."""
    more = len(names) - MOST_OUTPUTS
    shown = (f"({n})" if ", " in n else n for n in map(printable.name, names[:MOST_OUTPUTS]))
    listed = ", ".join(shown)
    return f"{{{listed}{f', ... and {more} more' if more > 0 else ''}}}"


# --- in `E` ---


LONGEST = 40  # characters of an exact number before it is shown as a decimal only
_WITH = f" with {GENERATOR} = "


def number(value: Real) -> str:
    """Returns a number in words: `2`, `24/7 (≈ 3.42857)`, `3/4 (0.75)`; a decimal alone if it is long."""
    exact, decimal = exactly(value), _decimal(value)
    if len(exact) > LONGEST:
        return decimal
    if _WITH in exact:
        return f"{decimal}, exactly {exact}"
    return exact if exact.lstrip("-").isdigit() else f"{exact} ({decimal})"


def factor(value: Real) -> str:
    """Returns a number that stands before "times": a decimal where it has no short name of its own."""
    return _decimal(value) if _WITH in exactly(value) else number(value)


def gap(left: str, times: str, right: str) -> str:
    """Returns a probability minus a multiple of another one; `times` is the factor in words."""
    return f"{left} - {right}" if times == "1" else f"{left} - {times} times {right}"


def equals(value: Real) -> str:
    """Returns a number behind its relation sign: `= 1/5 = 0.2`, `= 1/3 ≈ 0.333333`, or `≈ 0.148551`."""
    exact, decimal = exactly(value), _decimal(value)
    decimal = decimal if decimal.startswith("≈") else f"= {decimal}"
    if len(exact) > LONGEST:
        return decimal
    if _WITH in exact:
        return f"{decimal}, exactly {exact}"
    return f"= {exact}" if exact.lstrip("-").isdigit() else f"= {exact} {decimal}"


def _decimal(value: Real) -> str:
    """Returns a number as a decimal, behind `≈` where that is not all of it."""
    middle = value.middle()
    return rounded(middle) if value.rational is not None else f"≈ {decimal_text(middle)}"


def exactly(value: Real) -> str:
    """Returns a number as it is, in `E` with whole coefficients: `(E - 1)/(2*E) with E = exp(1/4)`."""
    told = value.describe()
    if _WITH not in told:
        return told
    top, bottom = value.numerator, value.denominator
    scale = top.denom().lcm(bottom.denom())
    parts = [p * scale for p in (top, bottom)]
    above, below = (show_polynomial(p, GENERATOR) for p in parts)
    if below != "1":
        above = f"({above})" if _terms(parts[0]) > 1 else above
        below = f"({below})" if _terms(parts[1]) > 1 or "*" in below else below
        above = f"{above}/{below}"
    return above + told[told.index(_WITH) :]


def _terms(polynomial: fmpq_poly) -> int:
    return sum(bool(c) for c in polynomial.coeffs())


# --- algebraic ---


LONGEST_ALGEBRAIC = 60  # characters of a polynomial, or of a rational, before it is left out


def root_number(value: FieldNumber) -> str:
    """Returns a number in words: `3/4 (0.75)`, or `≈ 1.41421 (a root of x^2 - 2)`."""
    if value.rational is None:
        told = root_polynomial(value.root.factor)
        return f"≈ {decimal_text(value.middle())}" + (f" (a root of {told})" if told else "")
    exact, decimal = str(rational(value.rational)), rounded(value.rational)
    if len(exact) > LONGEST_ALGEBRAIC:
        return decimal
    return exact if value.rational.denominator == 1 else f"{exact} ({decimal})"


def root_equals(value: FieldNumber) -> str:
    """Returns a number behind its relation sign: `= 1/5`, or `≈ 1.41421 (a root of x^2 - 2)`."""
    told = root_number(value)
    return told if told.startswith("≈") else f"= {told}"


def root_polynomial(factor: fmpz_poly) -> str:
    """Returns a polynomial in x, or nothing where it is long."""
    told = show_polynomial(factor, "x").replace(" 1*", " ")
    return told if len(told) <= LONGEST_ALGEBRAIC else ""


# --- enclosed ---


DIGITS = 9  # of a number that is told


def between(ends: tuple[Fraction, Fraction]) -> str:
    """Returns a number that lies between two others, rounded; behind its relation sign."""
    low, high = ends
    return relation(low, 9) if low == high else f"≈ {decimal_text((low + high) / 2, 9)}"


def chance(value: Chance) -> str:
    """Returns a number behind its relation sign, exact or between two others."""
    return between(value) if isinstance(value, tuple) else equals(value)


def enclosed(value: Ends) -> str:
    """Returns a number between two others, behind its relation sign: `≈ 0.672639577`, or `= 1/2`."""
    return f"= {value[0]}" if value[0] == value[1] else around(value)


def around(value: Ends) -> str:
    """Returns a number between two others; a wide range is told by its ends."""
    low, high = value
    if low == high:
        return str(low)
    middle = decimal_text((low + high) / 2, DIGITS)
    if high - low <= abs(low) / 10**DIGITS:
        return f"≈ {middle}"
    return f"between {at_least(low, DIGITS)} and {at_most(high, DIGITS)}"


def certified(value: Ends) -> str:
    """Returns the same with its certified ends."""
    low, high = value
    if low == high:
        return enclosed(value)
    least, most = (word(end, 15) for word, end in ((at_least, low), (at_most, high)))
    middle = around(value)
    return middle if middle.startswith("between") else f"{middle}, certified between {least} and {most}"


# --- as JSON data ---


def exact(value: Fraction) -> str:
    """Returns a rational of any length as `"24/7"`."""
    return str(rational(value))


def real(value: Real | None) -> str | dict[str, str]:
    """Returns an exact number: a string, or with `E = exp(q)` its formula and rational bounds."""
    if value is None:
        return "infinity"
    if value.rational is not None:
        return str(value)
    low, high = value.enclosure()
    return {"exact": value.describe(), "lower": str(low), "upper": str(high)}


def rounded_ends(ends: tuple[Fraction, Fraction] | None) -> str | list[float]:
    """Returns floats between which a number lies, or infinity."""
    return "infinity" if ends is None else [outward(ends[0], -inf), outward(ends[1], inf)]


def chance_document(value: Chance | None) -> str | dict[str, str]:
    """Returns a number as JSON data, exact or between two others; None stands for infinity."""
    if isinstance(value, tuple):
        low, high = map(exact, value)
        return {"lower": low, "upper": high}
    return real(value)


def ends_document(value: Ends) -> str | dict[str, str]:
    """Returns a number between two others as JSON data."""
    low, high = value
    return str(low) if low == high else {"lower": at_least(low, 30), "upper": at_most(high, 30)}
