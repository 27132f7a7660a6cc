"""Quotients whose denominator may be zero: each becomes a constant of its own.

In SMT-LIB `/` is a function of all numbers, of which nothing is known at t/0 but that equal t give equal
quotients. With a constant d for t/q the assertions say the same where `q ≠ 0 and d·q = t, or q = 0`, but for
that last condition; of few constants it is said that equal parts give equal quotients. So without a solution
of these there is none of the others; and a solution is one of both if d is the same for equal numerators
wherever denominators are zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from paramverify.formats.script_terms import Term, both, either, folded, negated, number
from paramverify.scripts.evaluation import ScriptPoint, satisfies

MAX_PAIRS = 3  # of quotients that are told to be equal where their parts are
ZERO = number(0)


@dataclass(frozen=True)
class NamedQuotient:
    """A constant that stands for `top / bottom`; in both, other such constants may stand."""

    symbol: str
    top: Term
    bottom: Term

    @property
    def constant(self) -> Term:
        """The constant."""
        return Term("real", (), self.symbol)

    def assertion(self) -> Term:
        """Returns what is true of the constant."""
        zero = Term("=", (self.bottom, ZERO))
        product = Term("=", (Term("*", (self.constant, self.bottom)), self.top))
        return either([zero, both([negated(zero), product])])


def without_quotients(assertions: Sequence[Term]) -> tuple[tuple[Term, ...], tuple[NamedQuotient, ...]]:
    """Returns the assertions with constants in the places of quotients by what is no number, and these."""
    found: list[NamedQuotient] = []

    def make(term: Term, parts: Sequence[Term]) -> Term:
        if not parts:
            return term
        if term.operator == "/" and not _is_number(parts[1]):
            found.append(
                NamedQuotient(f"quotient ({len(found) + 1})", parts[0], parts[1])
            )  # no symbol is like this
            return found[-1].constant
        return Term(term.operator, tuple(parts), term.value)

    whole = folded(Term("and", tuple(assertions)), lambda term: term.parts, make)
    pairs = list(combinations(found, 2))
    functional = [_same(*pair) for pair in pairs] if len(pairs) <= MAX_PAIRS else []
    return (*whole.parts, *(q.assertion() for q in found), *functional), tuple(found)


def _same(left: NamedQuotient, right: NamedQuotient) -> Term:
    """Returns that equal numerators and denominators give equal quotients."""
    differs = [negated(Term("=", pair)) for pair in ((left.top, right.top), (left.bottom, right.bottom))]
    return either([*differs, Term("=", (left.constant, right.constant))])


def consistent(quotients: Sequence[NamedQuotient], point: ScriptPoint) -> bool | None:
    """Tells whether there is a function `/` with these values; None where that is not known."""
    zero = [q for q in quotients if satisfies([Term("=", (q.bottom, ZERO))], point) is not False]
    for left, right in combinations(zero, 2):
        same = Term("=", (left.constant, right.constant))
        known = satisfies([either([negated(Term("=", (left.top, right.top))), same])], point)
        if not known:
            return known
    return True


def _is_number(term: Term) -> bool:
    """Tells whether a term is a number other than zero, built of numbers alone."""
    values: Mapping[str, Fraction] = {}
    known = satisfies([negated(Term("=", (term, ZERO)))], ScriptPoint(values, {}))
    return known is True and not _has_constants(term)


def _has_constants(term: Term) -> bool:
    def make(part: Term, found: Sequence[bool]) -> bool:
        return part.operator in ("real", "bool") or any(found)

    return folded(term, lambda t: t.parts, make)
