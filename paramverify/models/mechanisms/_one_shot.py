"""Mechanisms that answer once from their input: a distribution over outputs for each input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paramverify.algebra.expressions import Expression, Value
from paramverify.algebra.polynomials import RationalFunction
from paramverify.models.checks import Checks
from paramverify.models.hmm import HMM, one_shot
from paramverify.models.mechanisms import Input, compare, neighbouring_inputs, show_input
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.tables import Table


@dataclass(frozen=True, eq=False)
class OneShot:
    """A mechanism given by `release`, the distribution over `outputs` for one input."""

    checks: Checks
    queries: tuple[Expression, ...]
    answers: tuple[tuple[Value, ...], ...]
    outputs: tuple[str, ...]
    release: Callable[[Input], Sequence[RationalFunction]]
    default_by: str = "1"

    def build(self, inputs: Sequence[Input]) -> tuple[HMM, list[InitialDistribution]]:
        """Returns the model with one state for each distinct input."""
        order = {given: k for k, given in enumerate(dict.fromkeys(inputs))}
        table = [self.release(given) for given in order]
        hmm = one_shot(self.checks, [show_input(x) for x in order], self.outputs, table)
        one = self.checks.ring.number(1)
        starts = [InitialDistribution.point(k, one) for k in range(len(order))]
        return hmm, [starts[order[given]] for given in inputs]

    def neighbours(self, table: Table) -> tuple[HMM, list[SecretPair]]:
        """Returns the model of all neighbouring inputs that the table describes, and the pairs."""
        return compare(self, neighbouring_inputs(table, self.answers, self.default_by))
