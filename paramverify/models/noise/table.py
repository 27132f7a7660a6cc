"""`{ table = [[...], ...] }`: noise given row by row, one row for each answer."""

from __future__ import annotations

from collections.abc import Sequence

from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, gathered, located
from paramverify.models.context import Checks
from paramverify.models.noise import Noise, NoiseKind, Range
from paramverify.tables import EXPRESSION, Key, Listed, Section, Table, as_expression

TOLD = "the entry of the table in row f and column o"


def table_noise(
    rows: Sequence[Sequence[RationalFunction]], checks: Checks, outputs: int | None = None
) -> Noise:
    """Returns noise given row by row: rows[f][o] is the probability that f is released as o.

    There are so many `outputs`, or as many as row 0 has entries.

    Raises:
        InputError: a row of another length, or one that is no distribution.
    """
    with gathered() as each:
        for f, row in enumerate(rows):
            with each, located(key=f"table[{f}]"):
                if len(row) != (outputs or len(rows[0])):
                    needed = f"{outputs} are needed" if outputs else f"row 0 has {len(rows[0])}"
                    raise CaseError(f"row {f} has {len(row)} entries, but {needed}")
                checks.distribution({str(o): p for o, p in enumerate(row)}, f"row {f} of the noise table")
    return Noise(rows)


def _read(table: Table, checks: Checks, given: Range | None) -> Noise:
    data = table.get("table")
    lists = isinstance(data, list) and all(isinstance(row, list) for row in data)
    if given and not (lists and len(data) == given.limit + 1):
        raise CaseError(
            f"the table needs {given.limit + 1} rows, one for each of the answers {given.told}", key="table"
        )
    if not lists or len(data) < 2:
        raise CaseError("table must be a list of at least two rows", key="table")
    rows: list[list[RationalFunction]] = []
    with gathered() as each:
        for f, row in enumerate(data):
            rows.append([])
            for o, entry in enumerate(row):
                with each, located(key=f"table[{f}][{o}]"):
                    rows[f].append(checks.function(as_expression(entry)))
    return table_noise(rows, checks, given.limit + 1 if given else None)


SECTION = Section(
    "{ table = ... }",
    "Noise as a table of probabilities.",
    (
        Key(
            "table",
            Listed("a list of rows", Listed("a list of expressions", EXPRESSION), least=2),
            "A row for each answer 0, 1, ...: the probabilities of the released values.",
            needed=True,
        ),
    ),
)
NOISE = NoiseKind("table = [[...], ...]", _read, section=SECTION)
