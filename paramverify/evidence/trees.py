"""Trees of cuts that show the sign of a polynomial in one variable, for `checker.rules`."""

from __future__ import annotations

from paramverify.algebra.bernstein import Patch, split
from paramverify.algebra.domains import Interval
from paramverify.algebra.polynomials import Polynomial
from paramverify.algebra.realroots import bernstein_coefficients, univariate
from paramverify.errors import DefectError
from paramverify.evidence import certificates
from paramverify.evidence.certificates import Token


def univariate_tree(polynomial: Polynomial, name: str, interval: Interval, leaf: Token = "+") -> list[Token]:
    """Returns a tree with f ≥ 0 at the leaves, where f > 0 on the interval but for simple zeros at ends.

    Then the coefficients on short pieces are positive ([Farin02] section 5.7: they converge to f), or zero at
    that end and positive elsewhere, so this ends. The leaf is `+`, or what f > 0 on the interval justifies.
    """
    tokens: list[Token] = []
    integer = univariate(polynomial)
    entries = bernstein_coefficients(integer, interval.lower, interval.upper)
    pending = [(Patch((name,), (integer.degree(),), entries, 1), interval.lower, interval.upper)]
    while pending:
        current, low, high = pending.pop()
        ends = (
            (current.entries[0], interval.lower_closed or low > interval.lower),
            (
                current.entries[-1],
                interval.upper_closed or high < interval.upper,
            ),
        )
        if min(current.entries) >= 0 and (leaf == "+" or all(value or not inside for value, inside in ends)):
            tokens.append(leaf)
            continue
        if current.entries[0] < 0 or current.entries[-1] < 0:
            raise DefectError(f"{polynomial} is negative in {interval}")
        middle = (low + high) / 2
        tokens.append(certificates.cut(name, middle))
        lower, upper = split(current, name)
        pending += [(upper, middle, high), (lower, low, middle)]
    return tokens
