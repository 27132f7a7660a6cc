"""Witnesses against formulas of dpCTL*: the formula, its numbers and the claim against each other.

Such a witness is about one parameter point, so its claim has no variable but E = exp(q). It was made as the
numerator times the denominator of V = bound·Pr(there) + δ − Pr(here), or of Pr − bound turned as P demands.
So the claim is V·d² for a polynomial d in E, and V itself where V is a polynomial.
"""

from __future__ import annotations

if __name__ == "__main__":  # this file alone checks nothing: the folder does
    __import__("runpy").run_path(__import__("os").path.split(__file__)[0] or ".", run_name="__main__")

import re
from collections.abc import Mapping
from fractions import Fraction
from math import isqrt
from typing import Any

from .claims import read_claim
from .polynomials import Poly, constant, number, plus, times
from .strict import Misformed
from .values import MAX_POWER, Value, is_true, rational, read_value

DECIMAL = r"[0-9]+(?:\.[0-9]+)?(?:/[0-9]+)?"
KIND = re.compile(r"(D)\s*\{|P(min|max)?\s*(<=|>=|<|>)")
PRIVATE = re.compile(rf"D\s*\{{\s*(?:({DECIMAL})|ln\(\s*({DECIMAL})\s*\))\s*,\s*({DECIMAL})\s*\}}")
PROBABILITY = re.compile(rf"P(?:min|max)?\s*(<=|>=|<|>)\s*({DECIMAL})\s*\[")
SCHEDULERS = {k: f"{w} probability over all schedulers" for k, w in (("min", "least"), ("max", "largest"))}
NOT_COMPARED = "the states, the actions and the probabilities with the model and the path formula"
NOT_PLAIN = "the bound in the formula with the numbers"


def not_compared(witness: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns what no check of a witness against a formula shows, in words."""
    text = witness["formula"]
    plain = PRIVATE.match(text) or PROBABILITY.match(text)
    return (NOT_COMPARED,) if plain else (NOT_COMPARED, NOT_PLAIN)


def check_formula(witness: Mapping[str, Any]) -> None:
    """Checks that a formula, the numbers of its witness, and the claim agree with each other.

    Raises:
        Misformed: they contradict each other, or something is missing.
    """
    text = witness["formula"]
    kind = KIND.match(text)
    if not kind:
        raise Misformed("neither a D nor a P that is compared with a number", "witness", "formula")
    needed = ("probabilities", "secrets", *(("ratio", "bound", "delta") if kind[1] else ()))
    for name in (n for n in needed if n not in witness):
        raise Misformed(f"the key {name!r} is missing", "witness")
    if not kind[1] and "ratio" in witness:
        raise Misformed("its numbers are those of another kind of formula", "witness", "formula")
    exponent = number(witness["claim"]["constant"]) if "constant" in witness["claim"] else None
    left, right = (
        read_value(p, exponent, "probabilities", k) for k, p in enumerate(witness["probabilities"])
    )
    if kind[1]:
        bound, delta = (read_value(witness[name], exponent, name) for name in ("bound", "delta"))
        _check_private(text, bound, delta, exponent)
        value = bound.by(right).minus(left).minus(rational(-1, exponent).by(delta))
    else:
        value = left.minus(right) if kind[3] in (">", ">=") else right.minus(left)
        _check_schedulers(witness, kind[2] or ("min" if kind[3] in (">", ">=") else "max"))
        if is_true(kind[3], left.minus(right).sign()):
            raise Misformed("the probability is within the bound", "witness")
        plain = PROBABILITY.match(text)
        if plain and right.minus(rational(_decimal(plain[2]), exponent)).top:
            raise Misformed("not the bound of the formula", "witness", "probabilities", 1)
    _check_claim(witness["claim"], value)


def _check_schedulers(witness: Mapping[str, Any], which: str) -> None:
    """Checks that a P is about the probability that it compares: `P>=` and `P>` about the least one."""
    if "schedulers" in witness and witness["schedulers"] != SCHEDULERS[which]:
        raise Misformed(f"not {SCHEDULERS[which]!r}, which the formula is about", "witness", "schedulers")


def _check_private(text: str, bound: Value, delta: Value, exponent: Fraction | None) -> None:
    """Compares the numbers in the words of a D, where they are plain, with those of the witness."""
    plain = PRIVATE.match(text)
    if not plain:
        return
    power, ratio, more = plain.groups()
    wanted = rational(_decimal(ratio), exponent) if ratio else _power(_decimal(power), exponent)
    if wanted is None or bound.minus(wanted).top:
        raise Misformed("not that of the formula", "witness", "bound")
    if delta.minus(rational(_decimal(more), exponent)).top:
        raise Misformed("not that of the formula", "witness", "delta")


def _check_claim(claim: Any, value: Value) -> None:
    statement = read_claim(claim)
    if set(statement.goal.names) - {"E"}:
        raise Misformed("a formula fails at one point, so its claim has no parameters", "witness", "claim")
    poly: Poly = {x or (0,): c for x, c in statement.goal.poly.items()}
    if all(x == (0,) for x in value.bottom):
        scaled = times(value.bottom, poly)
        same = not plus(scaled, value.top, Fraction(-1))
    else:
        same = _is_square(times(poly, times(value.top, value.bottom)))
    if not same:
        raise Misformed("not the claim that the numbers make", "witness", "claim")


def _is_square(poly: Poly) -> bool:
    """Tells whether a polynomial in one variable is the square of one: its root, from the top down."""
    if not poly:
        return True
    high = max(poly)[0]
    lead = poly[(high,)]
    first = Fraction(isqrt(abs(lead.numerator)), isqrt(lead.denominator))
    if high % 2 or first * first != lead:
        return False
    half = high // 2
    root: Poly = {(half,): first}
    for power in range(half - 1, -1, -1):
        rest = plus(poly, times(root, root), Fraction(-1))
        coefficient = rest.get((half + power,), Fraction(0)) / (2 * first)
        if coefficient:
            root[(power,)] = coefficient
    return not plus(poly, times(root, root), Fraction(-1))


def _decimal(text: str) -> Fraction:
    top, slash, bottom = text.partition("/")
    if slash and not int(bottom):
        raise Misformed("a denominator is zero", "witness", "formula")
    return Fraction(top) / (int(bottom) if slash else 1)


def _power(epsilon: Fraction, exponent: Fraction | None) -> Value | None:
    """Returns exp(epsilon) for epsilon ≥ 0; None where it is no power of the constant of the claim."""
    if not epsilon:
        return rational(1, exponent)
    power = epsilon / exponent if exponent else Fraction(1, 2)
    if power.denominator != 1 or power > MAX_POWER:
        return None
    return Value({(int(power),): Fraction(1)}, constant(Fraction(1), 1), exponent)
