"""Certified enclosures of path probabilities in large Markov chains, where exact numbers grow too long.

The exact probability of a long chain may have thousands of digits, although a comparison needs a few of them.
So large chains are first solved in ball arithmetic ([Johansson17]): every ball contains the exact number that
it stands for, whatever is rounded. The equations, their order, zeros and ones are those of the exact solver
(`reachability`). A comparison that holds for the worst ends of the balls holds for the exact numbers. One
that does not says nothing, and the exact solver is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from flint import arb, fmpq

from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.logic.flat_products import flat_product
from paramverify.logic.normal_forms import Node
from paramverify.logic.reachability import solve
from paramverify.models.chains.chain import Chain, Value

LARGE = 20_000  # states
BITS = 192


def enclosures(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int]
) -> dict[int, tuple[Value, Value]] | None:
    """Returns rational numbers l ≤ Pr ≤ u for each start, of a formula without unbounded R.

    The chain has no parameters. None where a number came too near to zero to divide by it.
    """
    made = flat_product(chain, formula, signatures, starts)
    with working_precision(BITS):
        one, zero = arb(1), fmpq(0)
        known = {node: one if value else zero for node, value in made.known.items()}
        rows = replace(made.rows, values=tuple(map(arb, made.rows.values)))
        values = solve(rows, known, arb(0), one, wanted=set(made.starts.values()))
        found = {state: values[node] for state, node in made.starts.items()}
        if not all(value.is_finite() for value in found.values()):
            return None
        return {state: (_low(value), _high(value)) for state, value in found.items()}


def _low(value: arb) -> fmpq:
    number = lower_bound(value)
    return max(fmpq(0), fmpq(number.numerator, number.denominator))


def _high(value: arb) -> fmpq:
    number = upper_bound(value)
    return min(fmpq(1), fmpq(number.numerator, number.denominator))
