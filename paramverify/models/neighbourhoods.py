"""Differential privacy over more pairs of neighbouring inputs than can be formed.

A mechanism that perturbs each of n answers on its own has exponentially many inputs. Where it knows the pair
with the largest ratio (`WorstPair`), only that pair is formed, and stands for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paramverify.errors import InputError
from paramverify.models.hmm import HMM
from paramverify.models.mechanisms import Input, Mechanism, WorstPair, compare, read_differ, show_input
from paramverify.models.names import as_value
from paramverify.models.priors import SecretPair
from paramverify.tables import Table

FORMED = 20_000  # ordered pairs of inputs that are formed, one by one


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """All pairs of neighbouring inputs: `differ` is "each" or "one" answer, at most `by` apart.

    `knows` is the same mechanism, which knows their worst pair. `by` None means any distance, `pairs` is the
    number of ordered pairs of inputs that are not equal.
    """

    mechanism: Mechanism
    knows: WorstPair
    differ: str
    by: int | None
    pairs: int

    @property
    def answers(self) -> int:
        """The number of answers."""
        return len(self.mechanism.answers)

    def worst_pair(self) -> tuple[Input, Input]:
        """Returns the neighbours with the largest ratio.

        Raises:
            LimitError: that is too much work.
        """
        return self.knows.worst_pair(self.differ, self.by)

    def document(self, left: str, right: str) -> dict[str, Any]:
        """Returns the statement that a pair, written like `(1, 0, 2)`, has the largest ratio."""
        return self.knows.worst_pair_document(
            self.differ, self.by, (_read_input(left, self), _read_input(right, self))
        )

    def compare(self, left: Input, right: Input) -> tuple[HMM, list[SecretPair]]:
        """Returns the model of two inputs, and the pair."""
        return compare(self.mechanism, [(left, right)])

    def has(self, left: Input, right: Input) -> bool:
        """Tells whether two inputs are neighbours."""
        distances = [abs(_whole(x) - _whole(y)) for x, y in zip(left, right, strict=True)]
        near = self.by is None or max(distances) <= self.by
        return near and (self.differ == "each" or sum(map(bool, distances)) <= 1)


def unformed(mechanism: Mechanism, table: Table) -> Neighbourhood | None:
    """Reads `[neighbours]` where it describes too many pairs to form, of a mechanism that allows for it."""
    if not isinstance(mechanism, WorstPair) or is_listed(table) or not mechanism.knows_worst_pair:
        return None
    differ, by = read_differ(table)
    pairs = count_pairs(mechanism.answers, differ, by)
    return Neighbourhood(mechanism, mechanism, differ, by, pairs) if pairs > FORMED else None


def is_listed(table: Table) -> bool:
    """Tells whether `[neighbours]` says in another way than by `differ` which inputs are neighbours."""
    return "pairs" in table or "related" in table or "distance" in table


def count_pairs(answers: Sequence[Sequence[object]], differ: str, by: int | None) -> int:
    """Returns the number of ordered pairs of neighbours that are not equal, for answers 0..range."""
    total, same = 1, 1
    for values in answers:
        top = len(values) - 1
        step = top if by is None else min(by, top)
        close = sum(min(v + step, top) - max(v - step, 0) + 1 for v in range(top + 1))
        if differ == "each":
            total *= close
        else:
            # One more answer: it is equal on both sides and an earlier one differs, or it differs alone.
            total = total * len(values) + same * (close - len(values))
        same *= len(values)
    return total - same


def read_neighbours(left: str, right: str, neighbourhood: Neighbourhood) -> tuple[Input, Input]:
    """Returns two neighbouring inputs, written like `(1, 0, 2)`.

    Raises:
        InputError: a name that is no input, or inputs that are not neighbours.
    """
    inputs = _read_input(left, neighbourhood), _read_input(right, neighbourhood)
    if not neighbourhood.has(*inputs):
        raise InputError(f"{left} and {right} are not neighbours")
    return inputs


def _read_input(name: str, neighbourhood: Neighbourhood) -> Input:
    values = tuple(
        as_value(part.strip()) for part in name.strip().removeprefix("(").removesuffix(")").split(",")
    )
    known = neighbourhood.mechanism.answers
    if len(values) != len(known) or any(v not in answers for v, answers in zip(values, known, strict=True)):
        example = show_input(tuple(answers[0] for answers in known))
        raise InputError(f"{name!r} is not an input; write for example {example!r}")
    return values


def _whole(value: object) -> int:
    assert isinstance(value, Fraction)
    return int(value)
