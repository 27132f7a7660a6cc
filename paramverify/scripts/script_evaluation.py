"""Assertions of a script at a point, decided exactly, and what is said of the questions of a script.

Assertions at a point whose coordinates are rational or algebraic numbers, decided exactly.

The sign of a polynomial P with whole coefficients at algebraic numbers α₁, ..., αₙ is that of a ball of Arb
that contains P(α) and not 0. If the ball stays around 0, Liouville's inequality decides: with dᵢ the degree
of αᵢ, D their product, eᵢ the degree of P in its i-th variable, L(P) and L(Aᵢ) the sums of the absolute
coefficients of P and of the minimal polynomial of αᵢ, P(α) is 0 or

    |P(α)| ≥ L(P)^(1 − D) · Π L(Aᵢ)^(−eᵢ·D/dᵢ)

([Waldschmidt00], proposition 3.14; the Mahler measure of Aᵢ is at most L(Aᵢ)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

from flint import arb, ctx, fmpq

from paramverify.algebra.polynomials import (
    Polynomial,
    Ring,
    constant_value,
    is_constant,
    primitive,
    rational,
    variables,
)
from paramverify.algebra.real_roots import RealRoot
from paramverify.answers import Decision, End, Standing
from paramverify.claims import Claim
from paramverify.errors import LimitError
from paramverify.formats.smtlib_scripts import Script, ScriptTerm, folded

Number = Fraction | RealRoot
MAX_BITS = 20_000
MAX_TERMS = 20_000
SAFETY = 64  # bits more than the bound needs


@dataclass(frozen=True)
class ScriptPoint:
    """Values of the constants of a script: numbers and truth values, by their symbols."""

    numbers: Mapping[str, Number]
    truths: Mapping[str, bool]

    @property
    def is_rational(self) -> bool:
        """Whether all numbers are rational."""
        return not any(isinstance(n, RealRoot) and not n.is_rational for n in self.numbers.values())

    def rationals(self) -> dict[str, Fraction]:
        """Returns the numbers that are rational."""
        found = {name: exact(value) for name, value in self.numbers.items()}
        return {name: value for name, value in found.items() if isinstance(value, Fraction)}


def exact(value: Number) -> Number:
    """Returns a rational number as a fraction."""
    return value.lower if isinstance(value, RealRoot) and value.is_rational else value


Quotient = tuple[Polynomial, Polynomial]
Known = Quotient | bool | None  # of reals and truth values; None where it is not known


def satisfies(assertions: Sequence[ScriptTerm], point: ScriptPoint) -> bool | None:
    """Tells whether all assertions are true at a point; None where that is not known.

    It is not known of a quotient with denominator 0, of a quantifier, and of a constant without a value.

    Raises:
        LimitError: a sign needs more than so many bits.
    """
    return _ScriptEvaluation(point).value(ScriptTerm("and", tuple(assertions)))


class _ScriptEvaluation:
    def __init__(self, point: ScriptPoint) -> None:
        self.truths = point.truths
        self.rationals = point.rationals()
        self.roots: dict[str, RealRoot] = {}
        for symbol, value in point.numbers.items():
            if isinstance(value, RealRoot) and not value.is_rational:
                self.roots[symbol] = value
        self.names = {symbol: f"x{k}" for k, symbol in enumerate(self.roots, 1)}
        self.ring = Ring(tuple(self.names.values()))
        self.balls = _Balls({self.names[symbol]: root for symbol, root in self.roots.items()})

    def value(self, term: ScriptTerm) -> bool | None:
        found: Known = folded(term, _below, self._made)
        assert found is None or isinstance(found, bool)
        return found

    def _made(self, term: ScriptTerm, values: Sequence[Any]) -> Known:
        match term.operator:
            case "number":
                assert isinstance(term.value, Fraction)
                return self.ring.number(term.value), self.ring.number(1)
            case "real":
                return self._variable(str(term.value))
            case "true" | "false":
                return term.operator == "true"
            case "bool":
                return self.truths.get(str(term.value))
            case "not":
                return None if values[0] is None else not values[0]
            case "and":
                return False if False in values else None if None in values else True
            case "or":
                return True if True in values else None if None in values else False
            case "iff":
                return None if None in values else values[0] is values[1]
            case "forall" | "exists":
                return None
            case "ite":
                return None if values[0] is None else values[1 if values[0] else 2]
        if None in values:
            return None
        if term.operator in ("<", "<=", "="):
            sign = self._sign(_less(*values))
            return {"<": sign < 0, "<=": sign <= 0, "=": sign == 0}[term.operator]
        return self._number(term.operator, values)

    def _variable(self, symbol: str) -> Known:
        if symbol in self.rationals:
            return self.ring.number(self.rationals[symbol]), self.ring.number(1)
        if symbol in self.names:
            return self.ring.variable(self.names[symbol]), self.ring.number(1)
        return None

    def _number(self, operator: str, values: Sequence[Quotient]) -> Known:
        top, bottom = values[0]
        for other, below in values[1:]:
            if operator == "/":
                if self._sign((other, below)) == 0:
                    return None
                top, bottom = top * below, bottom * other
            elif operator == "*":
                top, bottom = top * other, bottom * below
            else:
                top, bottom = top * below + other * bottom, bottom * below
            if is_constant(bottom):
                top, bottom = top / rational(constant_value(bottom)), self.ring.number(1)
            if max(len(top), len(bottom)) > MAX_TERMS:
                raise LimitError("a value has too many terms")
        return top, bottom

    def _sign(self, quotient: Quotient) -> int:
        top, bottom = quotient
        return self.balls.sign(top) * (1 if is_constant(bottom) else self.balls.sign(bottom))


def _below(term: ScriptTerm) -> tuple[ScriptTerm, ...]:
    return () if term.operator in ("forall", "exists") else term.parts


def _less(left: Quotient, right: Quotient) -> Quotient:
    """Returns left − right."""
    return left[0] * right[1] - right[0] * left[1], left[1] * right[1]


class _Balls:
    """Signs of polynomials at algebraic numbers, which are given by the names of the variables."""

    def __init__(self, roots: Mapping[str, RealRoot]) -> None:
        self.roots = dict(roots)
        self.known: dict[str, int] = {}

    def sign(self, polynomial: Polynomial) -> int:
        """Returns −1, 0 or 1.

        Raises:
            LimitError: more than MAX_BITS would be needed.
        """
        if is_constant(polynomial):
            value = constant_value(polynomial)
            return (value > 0) - (value < 0)
        text = str(polynomial)
        if text not in self.known:
            self.known[text] = self._sign(primitive(polynomial)[1])
        return self.known[text]

    def _sign(self, whole: Polynomial) -> int:
        used = variables(whole)
        degrees = dict(zip(map(str, whole.context().names()), map(int, whole.degrees()), strict=True))
        orders = {name: int(self.roots[name].factor.degree()) for name in used}
        all_orders = prod(orders.values())
        least = (all_orders - 1) * _bits(map(int, (c.p for c in whole.coeffs())))
        for name in used:
            factor = self.roots[name].factor
            length = _bits(int(factor[k]) for k in range(orders[name] + 1))
            least += degrees[name] * (all_orders // orders[name]) * length
        bits = 64
        while bits <= MAX_BITS:
            ball = self._ball(whole, used, bits)
            if ball > 0:
                return 1
            if ball < 0:
                return -1
            if ball.abs_upper() < arb(2) ** -least:
                return 0
            bits = min(2 * bits, least + SAFETY) if bits < least else 2 * bits
        raise LimitError("the sign of a polynomial at an algebraic point needs too many bits")

    def _ball(self, whole: Polynomial, used: Sequence[str], bits: int) -> arb:
        """Returns a ball around the value, for roots that are enclosed to about so many bits."""
        names = [str(n) for n in whole.context().names()]
        before, ctx.prec = ctx.prec, bits + SAFETY
        try:
            at: dict[str, arb] = {}
            for name in used:
                self.roots[name] = root = self.roots[name].refined(Fraction(1, 2**bits))
                at[name] = arb(fmpq(root.lower.numerator, root.lower.denominator)).union(
                    arb(fmpq(root.upper.numerator, root.upper.denominator))
                )
            total = arb(0)
            for monomial, coefficient in whole.to_dict().items():
                term = arb(coefficient)
                for name, exponent in zip(names, map(int, monomial), strict=True):
                    if exponent:
                        term *= at[name] ** exponent
                total += term
            return total
        finally:
            ctx.prec = before


def _bits(numbers: Any) -> int:
    """Returns a whole number that is at least the logarithm, to base 2, of the sum of the absolute values."""
    return int(max(1, sum(abs(n) for n in numbers))).bit_length()


Settled = tuple[tuple[Claim, Decision], ...]


@dataclass(frozen=True)
class SatisfiabilityQuestion:
    """Whether assertions have a solution; the same as a script, and the constants that it declares."""

    assertions: tuple[ScriptTerm, ...]
    script: str
    reals: tuple[str, ...]
    booleans: tuple[str, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        """All constants."""
        return (*self.reals, *self.booleans)


@dataclass(frozen=True)
class Answered:
    """What is said of one question: sat (violated) at a point, unsat (holds), or unknown and why.

    `settled` are claims that were proved for it, `solvers` those on whose word alone it rests. `reason` says
    why it is unknown, and of an answer what it comes of where that is not obvious.
    """

    standing: Standing
    point: ScriptPoint | None = None
    settled: Settled = ()
    solvers: tuple[str, ...] = ()
    found_by: tuple[str, ...] = ()
    end: End = End.DECIDED
    reason: str = ""
    seconds: float = 0.0

    def resting_on(self, others: tuple[Answered, ...]) -> Answered:
        """Returns the answer with all that others rest on, too."""
        return replace(
            self,
            settled=sum((o.settled for o in others), self.settled),
            solvers=tuple(dict.fromkeys(sum((o.solvers for o in others), self.solvers))),
        )


@dataclass(frozen=True)
class ScriptReport:
    """The answers to the questions of a script, in their order."""

    script: Script
    answers: tuple[Answered, ...]
    seconds: float

    @property
    def standing(self) -> Standing:
        """Unknown if one answer is; otherwise that of the last question, after which the script stands."""
        unknown = any(a.standing is Standing.UNKNOWN for a in self.answers)
        return Standing.UNKNOWN if unknown else self.answers[-1].standing

    @property
    def wrong(self) -> tuple[int, ...]:
        """The numbers of questions to which the script states the other answer than was found."""
        return tuple(
            check.number
            for check, answer in zip(self.script.checks, self.answers, strict=True)
            if check.expected and answer.standing is not Standing.UNKNOWN
            if check.expected != answer.standing.of_script
        )
