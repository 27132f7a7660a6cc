"""A mechanism in Python by itself, without a case: the user says which inputs are neighbours.

[S] section 4 asks the user for the same: how the answers to the queries may differ on two adjacent databases.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from paramverify.algebra.expressions import constant
from paramverify.errors import InputError, located
from paramverify.models.conditions import shape_of
from paramverify.models.mechanisms import Input, show_input
from paramverify.models.names import as_value
from paramverify.models.patterns import pattern_pairs
from paramverify.statistics.blackbox import BlackBox, Given, Mechanism, is_vectorised, plain, plain_answer
from paramverify.statistics.draws import Draws
from paramverify.statistics.experiments import Experiment

MOST_ANSWERS = 1_000
CENTRE, MOST = 1, 2  # answers of the input patterns are 0, 1 and 2


@dataclass(frozen=True, eq=False)
class AloneSource:
    """Samples from a mechanism in Python on inputs that are known by how they are shown."""

    mechanism: Mechanism
    inputs: Mapping[str, Given]

    def sampler(self, experiment: Experiment, side: int) -> BlackBox:
        """Returns the sampler of one side of an experiment; its outputs may have any length."""
        return BlackBox(
            self.mechanism,
            is_vectorised(self.mechanism),
            inputs=(self.inputs[experiment.secret(side)],),
            draws=Draws.of([[Fraction(1)]]),
            length=None,
        )


def alone(
    mechanism: Mechanism, pairs: Sequence[tuple[str, Input, Input]], most: int
) -> tuple[AloneSource, list[Experiment]]:
    """Returns the source, and one experiment for each of at most `most` pairs (pattern, left, right).

    Raises:
        InputError: the two inputs of a pair are the same.
    """
    inputs: dict[str, Given] = {}
    listed = []
    for pattern, left, right in pairs[:most]:
        if left == right:
            raise InputError(f"{show_input(left)} is no neighbour of itself", key="--neighbours")
        for given in (left, right):
            inputs[show_input(given)] = plain(given, shape_of(None, given))
        listed.append(Experiment(show_input(left), show_input(right), {}, pattern=pattern))
    return AloneSource(mechanism, inputs), listed


def read_input(text: str) -> Input:
    """Returns the input that a text such as `1,0,2` or `yes` names: numbers and labels with commas between.

    Raises:
        InputError: an answer without a name.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise InputError(f"an answer is missing in {text!r}; write 1,0,2", key="--neighbours")
    return tuple(as_value(part) for part in parts)


def patterns(answers: int, differ: str) -> list[tuple[str, Input, Input]]:
    """Returns the input patterns for so many answers, of which `each` or only `one` differs, by at most 1.

    Raises:
        InputError: too many answers.
    """
    if answers > MOST_ANSWERS:
        raise InputError(f"at most {MOST_ANSWERS:,} answers", key="--answers")
    found: list[tuple[str, Input, Input]] = []
    for name, left, right in pattern_pairs(answers, MOST, [CENTRE]):
        if differ == "each" or sum(a != b for a, b in zip(left, right, strict=True)) == 1:
            found.append((name, tuple(map(Fraction, left)), tuple(map(Fraction, right))))
    return found


def with_arguments(mechanism: Mechanism, assignments: Sequence[str]) -> Mechanism:
    """Returns the mechanism with arguments such as `epsilon=0.7`, given to it by their names.

    Numbers are exact where they are whole, else floats; everything else is a text.

    Raises:
        InputError: another form, a name that is given twice, or that the function does not know.
    """
    if not assignments:
        return mechanism
    arguments: dict[str, int | float | str] = {}
    for text in assignments:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name.isidentifier() and equals and value):
            raise InputError(f"write NAME=VALUE, for example epsilon=0.7; not {text!r}", key="--argument")
        if not _takes(mechanism, name):
            raise InputError(f"the function has no argument {name!r}", key="--argument")
        if name in arguments:
            raise InputError(f"{name} is given twice", key="--argument")
        arguments[name] = plain_answer(_value(value))
    return partial(mechanism, **arguments)


def _takes(mechanism: Mechanism, name: str) -> bool:
    try:
        known = inspect.signature(mechanism).parameters
    except ValueError:  # it cannot be read, which is told when the mechanism is run
        return True
    return name in known or any(p.kind is p.VAR_KEYWORD for p in known.values())


def _value(text: str) -> Fraction | str:
    if text[0].isalpha():
        return text
    with located(key="--argument"):
        return constant(text)
