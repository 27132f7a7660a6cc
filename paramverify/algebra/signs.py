"""The sign of a polynomial on a domain or along a segment, and constraints as users write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from fractions import Fraction
from itertools import pairwise, product

from flint import Ordering, fmpq_mpoly_ctx

from paramverify.algebra.bernstein import BernsteinForm, bernstein_form
from paramverify.algebra.domains import RELATIONS, Constraint, Domain, tied_in
from paramverify.algebra.expressions import Expression, Operation, parse
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    RationalFunction,
    constant_value,
    is_constant,
    rational,
    to_rational_function,
    variables,
)
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import between, isolate, rational_root, sign_at, univariate

MAX_COEFFICIENTS = 200_000
MAX_DEGREE = 128  # in one of several variables; the conversion multiplies matrices of this size
MAX_ALONE = 2_000  # degree of a polynomial in one variable


class Sign(Enum):
    """What is proved of f on the whole domain: f > 0, f ≥ 0, f = 0, f ≤ 0 or f < 0."""

    POSITIVE = ">0"
    NONNEGATIVE = ">=0"
    ZERO = "=0"
    NONPOSITIVE = "<=0"
    NEGATIVE = "<0"

    def __neg__(self) -> Sign:
        return _OPPOSITE[self]


_OPPOSITE = {
    Sign.POSITIVE: Sign.NEGATIVE,
    Sign.NONNEGATIVE: Sign.NONPOSITIVE,
    Sign.ZERO: Sign.ZERO,
    Sign.NONPOSITIVE: Sign.NONNEGATIVE,
    Sign.NEGATIVE: Sign.POSITIVE,
}


def sign_on(polynomial: Polynomial, domain: Domain) -> Sign | None:
    """Returns a sign that the polynomial has at every point of the domain, or None if none was proved.

    Constraints are ignored, so the sign holds on the whole box. Exact (never None when there is a sign)
    where every variable occurs with degree at most one.
    """
    if not polynomial:
        return Sign.ZERO
    if is_constant(polynomial):
        return Sign.POSITIVE if constant_value(polynomial) > 0 else Sign.NEGATIVE
    if tied_in(domain.ring, polynomial):
        return None
    size = 1
    for degree in polynomial.degrees():
        size *= int(degree) + 1
    highest = int(max(polynomial.degrees()))
    if highest > MAX_DEGREE // 2 and size == highest + 1:
        found = _by_powers(polynomial, domain)
        if found is not None:
            return found
    if size > MAX_COEFFICIENTS or highest > (MAX_ALONE if size == highest + 1 else MAX_DEGREE):
        return None
    form = bernstein_form(polynomial, domain.box)
    low, high = min(form.entries), max(form.entries)
    if low == high == 0:
        return Sign.ZERO
    if low >= 0:
        return Sign.POSITIVE if low > 0 or _never_zero(form, polynomial, domain) else Sign.NONNEGATIVE
    if high <= 0:
        return Sign.NEGATIVE if high < 0 or _never_zero(form, polynomial, domain) else Sign.NONPOSITIVE
    return None


def _by_powers(polynomial: Polynomial, domain: Domain) -> Sign | None:
    """Returns the sign of a product of powers with few different factors; all in one variable.

    Each factor has coefficients of one sign, so those of the product have one sign, too.
    """
    lead, parts = polynomial.factor_squarefree()
    if sum(int(g.total_degree()) for g, _ in parts) > int(polynomial.total_degree()) // 4:
        return None
    positive, strict = lead > 0, True
    for factor, multiplicity in parts:
        sign = sign_on(factor, domain)
        if sign not in (Sign.POSITIVE, Sign.NONNEGATIVE, Sign.NEGATIVE, Sign.NONPOSITIVE):
            return None
        strict = strict and sign in (Sign.POSITIVE, Sign.NEGATIVE)
        if sign in (Sign.NEGATIVE, Sign.NONPOSITIVE) and multiplicity % 2:
            positive = not positive
    if positive:
        return Sign.POSITIVE if strict else Sign.NONNEGATIVE
    return Sign.NEGATIVE if strict else Sign.NONPOSITIVE


def _never_zero(form: BernsteinForm, polynomial: Polynomial, domain: Domain) -> bool:
    """Tells whether f, all of whose coefficients have one weak sign, vanishes nowhere on the half-open box.

    Every point lies in the relative interior of a face whose fixed variables are at ends that belong to the
    box. There the basis polynomials of that face are positive and all others vanish, so f ≠ 0 iff one of
    the face's coefficients is not zero. A face inside another makes the stronger condition, so it is
    enough to look at faces on which every variable with a closed end is fixed at one.
    """
    choices: list[tuple[int | None, ...]] = []
    for name in variables(polynomial):
        interval = domain.box[name]
        ends: list[int | None] = [0] if interval.lower_closed else []
        ends += [1] if interval.upper_closed and not interval.is_point else []
        choices.append(tuple(ends) or (None,))
    for pattern in product(*choices):
        fixed = {axis: end for axis, end in enumerate(pattern) if end is not None}
        if not any(form.face(fixed)):
            return False
    return True


def parse_constraint(text: str, domain: Domain) -> tuple[Constraint, ...]:
    """Reads `pA + pB <= 1`, a chain `0 < p < q`, or several joined by `and`.

    A denominator is multiplied out only where its sign on the domain is proved.

    Raises:
        ExpressionError: not a comparison of this form, or a denominator whose sign is not proved.
    """
    expression = parse(text)
    return tuple(
        Constraint(polynomial, strict, text)
        for polynomial, strict in comparison_polynomials(expression, domain)
    )


def conjuncts(expression: Expression, reason: str) -> Iterator[Operation]:
    """Yields the comparisons that an expression joins by `and`, in order.

    Raises:
        ExpressionError: anything else, for the given reason.
    """
    pending = [expression.root]
    while pending:
        node = pending.pop(0)
        if isinstance(node, Operation) and node.operator == "and":
            pending = [*node.arguments, *pending]
        elif isinstance(node, Operation) and node.operator in RELATIONS:
            yield node
        else:
            raise expression.error(reason, node)


def comparison_polynomials(
    expression: Expression,
    domain: Domain,
    definitions: Mapping[str, RationalFunction] | None = None,
) -> list[tuple[Polynomial, bool]]:
    """Returns polynomials f with a flag: the comparisons hold iff f > 0 (flag set) or f ≥ 0 for each.

    Raises:
        ExpressionError: not a conjunction of comparisons, or a denominator whose sign is not proved.
    """

    result: list[tuple[Polynomial, bool]] = []
    for node in conjuncts(expression, "a comparison with <, <=, >, >= or == is needed here"):
        left, right = (
            to_rational_function(Expression(expression.text, a), domain.ring, definitions)
            for a in node.arguments
        )
        difference = right - left if node.operator[0] == "<" else left - right
        sign = sign_on(difference.denominator, domain)
        if sign not in (Sign.POSITIVE, Sign.NEGATIVE):
            raise expression.error(f"the denominator {difference.denominator} may vanish in the domain", node)
        numerator = difference.numerator if sign is Sign.POSITIVE else -difference.numerator
        if node.operator == "==":
            result += [(numerator, False), (-numerator, False)]
        else:
            result.append((numerator, node.operator in ("<", ">")))
    return result


def towards(start: Point, target: Point, ratio: Fraction) -> dict[str, Fraction]:
    """Returns the point at this ratio of the way from the start to the target."""
    return {name: value + (target[name] - value) * ratio for name, value in start.items()}


def negative_between(polynomial: Polynomial, start: Point, target: Point) -> Iterator[Mapping[str, Fraction]]:
    """Yields a rational point of each open piece of the segment on which f < 0; none iff f ≥ 0 on all of it.

    Both points give every variable of the ring.
    """
    context = fmpq_mpoly_ctx.get(("t",), Ordering.lex)
    t = context.gen(0)
    names = [str(n) for n in polynomial.context().names()]
    images = [t * rational(target[n] - start[n]) + rational(start[n]) for n in names]
    along = univariate(polynomial.compose(*images, ctx=context))
    if not along:
        return
    first, last = rational_root(Fraction(0)), rational_root(Fraction(1))
    inner = [r for r in isolate(along, Fraction(0), Fraction(1)) if r.lower != r.upper or 0 < r.lower < 1]
    for left, right in pairwise([first, *inner, last]):
        at = simplest_between(*between(left, right))
        if sign_at(along, at) < 0:
            yield towards(start, target, at)
