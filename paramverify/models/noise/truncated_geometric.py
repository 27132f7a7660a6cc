"""`{ truncated_geometric = alpha, range = n }`: out-of-range values move to the nearest endpoint."""

from __future__ import annotations

from paramverify.algebra.polynomials import RationalFunction
from paramverify.models.context import Checks
from paramverify.models.noise import Noise, NoiseKind, Range
from paramverify.tables import EXPRESSION, Key, Section, Table

TOLD = (
    "(1 - a)/(1 + a) * a**|o - f| for o strictly between 0 and range, and a**|o - f|/(1 "
    "+ a) at both ends, which receive the probability of everything beyond them"
)


def truncated_geometric(alpha: RationalFunction, limit: int, checks: Checks) -> Noise:
    """Returns the truncated α-geometric mechanism on 0..limit.

    The answer f becomes o with probability α^|o−f|/(1+α) if o is 0 or the limit, else (1−α)/(1+α)·α^|o−f|
    ([Ghosh09]; [F] section 2). It is −ln α-differentially private for counting queries.

    Raises:
        ModelError: alpha leaves [0, 1] somewhere on the domain.
    """
    one = RationalFunction.of(checks.ring.number(1))
    rest = one - alpha
    checks.nonnegative(alpha.numerator * alpha.denominator, "alpha of the truncated geometric noise")
    checks.nonnegative(rest.numerator * rest.denominator, "1 - alpha of the truncated geometric noise")
    end = one / (one + alpha)
    inner = rest * end
    powers = [one]
    for _ in range(limit):
        powers.append(powers[-1] * alpha)
    ends, inside = ([share * power for power in powers] for share in (end, inner))  # many entries share one
    rows = [
        [(ends if o in (0, limit) else inside)[abs(o - f)] for o in range(limit + 1)]
        for f in range(limit + 1)
    ]
    return Noise(rows, truncated=True)


def _read(table: Table, checks: Checks, given: Range | None) -> Noise:
    assert given is not None  # it is ranged
    alpha = checks.named(table, "truncated_geometric")
    return truncated_geometric(alpha, given.limit, checks)


SECTION = Section(
    "{ truncated_geometric = ... }",
    "Truncated geometric noise on 0..range: out-of-range values move to the nearest endpoint.",
    (
        Key(
            "truncated_geometric",
            EXPRESSION,
            "The number alpha from 0 (no noise) to 1; a larger alpha means more noise.",
            needed=True,
        ),
    ),
)
NOISE = NoiseKind("truncated_geometric = alpha", _read, ranged=True, section=SECTION)
