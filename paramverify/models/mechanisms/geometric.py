"""`kind = "geometric"`: one whole-number answer, released with noise."""

from __future__ import annotations

from fractions import Fraction

from paramverify.models.context import Checks
from paramverify.models.mechanisms import Mechanism, read_query
from paramverify.models.mechanisms._one_shot import OneShot
from paramverify.models.noise import read_noise
from paramverify.tables import Table


def read(table: Table, checks: Checks) -> Mechanism:
    """Reads `query` (an expression with values 0..range) and `noise`."""
    noise = read_noise(table, "noise", checks)
    values = tuple(Fraction(v) for v in range(noise.range + 1))
    outputs = tuple(str(v) for v in values)
    return OneShot(checks, read_query(table), (values,), outputs, lambda given: noise.rows[int(given[0])])
