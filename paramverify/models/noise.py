"""Noise on a whole number: what is released when an answer is perturbed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paramverify.algebra.polynomials import RationalFunction, is_constant
from paramverify.errors import CaseError, located
from paramverify.models.context import Checks
from paramverify.tables import Table, as_expression

MAX_RANGE = 1_000


@dataclass(frozen=True, eq=False)
class Noise:
    """`rows[f][o]` is the probability that the answer f in 0..range is released as o in 0..range.

    `truncated` tells that it stands for noise without ends, what lies beyond an end being given to the end.
    """

    rows: Sequence[Sequence[RationalFunction]]
    truncated: bool = False

    @property
    def range(self) -> int:
        """The largest answer."""
        return len(self.rows) - 1

    @property
    def is_numeric(self) -> bool:
        """Whether all probabilities are rational numbers."""
        return all(is_constant(f) for row in self.rows for p in row for f in (p.numerator, p.denominator))


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
    rows = [
        [(end if o in (0, limit) else inner) * powers[abs(o - f)] for o in range(limit + 1)]
        for f in range(limit + 1)
    ]
    return Noise(rows, truncated=True)


def table_noise(rows: Sequence[Sequence[RationalFunction]], checks: Checks) -> Noise:
    """Returns noise given row by row: rows[f][o] is the probability that f is released as o."""
    for f, row in enumerate(rows):
        if len(row) != len(rows):
            raise CaseError(f"row {f} has {len(row)} entries, the table has {len(rows)} rows", key="table")
        checks.distribution({str(o): p for o, p in enumerate(row)}, f"row {f} of the noise table")
    return Noise(rows)


def read_noise(table: Table, name: str, checks: Checks) -> Noise:
    """Reads `{ truncated_geometric = "1/2", range = 2 }` or `{ table = [["2/3", ...], ...] }`."""
    with table.within(name) as inner:
        if "table" in inner:
            noise = table_noise(_matrix(inner.get("table"), checks), checks)
        elif "truncated_geometric" in inner:
            alpha = checks.function(inner.expression("truncated_geometric"))
            noise = truncated_geometric(alpha, inner.integer("range", 1, MAX_RANGE), checks)
        else:
            forms = "{ truncated_geometric = alpha, range = n } or { table = [[...], ...] }"
            raise CaseError(f"noise is {forms}{inner.hint('truncated_geometric', 'table')}")
        inner.close()
        return noise


def _matrix(data: object, checks: Checks) -> list[list[RationalFunction]]:
    if not isinstance(data, list) or not all(isinstance(row, list) for row in data) or len(data) < 2:
        raise CaseError("a list of at least two rows is needed here", key="table")
    rows: list[list[RationalFunction]] = []
    for f, row in enumerate(data):
        with located(key=f"table[{f}]"):
            rows.append([checks.function(as_expression(entry)) for entry in row])
    return rows
