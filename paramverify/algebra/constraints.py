"""Constraints as users write them: comparisons of rational functions, and conjunctions of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from paramverify.algebra.domains import RELATIONS, Constraint, Domain
from paramverify.algebra.expressions import Expression, Operation, parse
from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    to_rational_function,
)
from paramverify.algebra.signs import Sign, sign_on


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
