"""Mechanisms that answer once from their input: a distribution over outputs for each input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paramverify.algebra.expressions import Expression, Value
from paramverify.algebra.polynomials import RationalFunction
from paramverify.models.context import Checks
from paramverify.models.hmm import HMM, one_shot
from paramverify.models.mechanisms import Input, compare, neighbouring_inputs, show_input
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.models.relations import shape_of
from paramverify.tables import Table


def repeated(
    checks: Checks, inputs: Sequence[str], outputs: Sequence[str], table: Sequence[Sequence[RationalFunction]]
) -> HMM:
    """Returns the model of a mechanism that answers once and gives the same answer from then on."""
    one = RationalFunction.of(checks.ring.number(1))
    first = [[(o, len(inputs) + o, p) for o, p in enumerate(row)] for row in table]
    later = [[(o, len(inputs) + o, one)] for o in range(len(outputs))]
    states = [*inputs, *(f"always {name}" for name in outputs)]
    return HMM.build(checks, states, outputs, [*first, *later])


@dataclass(frozen=True, eq=False)
class OneShot:
    """A mechanism given by `release`, the distribution over `outputs` for one input.

    Longer sequences are repeated releases, with fresh noise; with `memory` the first output is repeated.
    """

    checks: Checks
    queries: tuple[Expression, ...]
    answers: tuple[tuple[Value, ...], ...]
    outputs: tuple[str, ...]
    release: Callable[[Input], Sequence[RationalFunction]]
    default_by: str = "1"
    memory: bool = False

    def build(self, inputs: Sequence[Input]) -> tuple[HMM, list[InitialDistribution]]:
        """Returns the model with one state for each distinct input."""
        order = {given: k for k, given in enumerate(dict.fromkeys(inputs))}
        table = [self.release(given) for given in order]
        names = [show_input(x) for x in order]
        hmm = (repeated if self.memory else one_shot)(self.checks, names, self.outputs, table)
        one = self.checks.ring.number(1)
        starts = [InitialDistribution.point(k, one) for k in range(len(order))]
        return hmm, [starts[order[given]] for given in inputs]

    def neighbours(self, table: Table) -> tuple[HMM, list[SecretPair]]:
        """Returns the model of all neighbouring inputs that the table describes, and the pairs."""
        shape = shape_of(self, self.answers)
        return compare(self, neighbouring_inputs(table, self.answers, self.default_by, shape))
