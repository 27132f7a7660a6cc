"""What mechanisms that answer queries share.

Their keys, and which values of an answer are near each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, prod

from paramverify.algebra.expressions import Value
from paramverify.errors import CaseError
from paramverify.models.names import as_value
from paramverify.tables import (
    EXPRESSION,
    TEXT,
    VALUE,
    Either,
    Key,
    Leaf,
    Listed,
    Section,
    at_least_one,
    at_most_one,
    by_name,
    needs,
    one_of,
    whole,
)

MAX_BY = 999_999


QUERIES = Key(
    "queries",
    Either((Listed("a list of expressions", EXPRESSION, least=1), whole(1, 100))),
    "The answers: expressions over the variables of [prior]; with [neighbours], how many answers there are.",
    needed=True,
)
QUERY = Key(
    "query",
    EXPRESSION,
    "The answer: an expression over the variables of [prior]; with [neighbours], leave it out.",
)
LABELS = Key(
    "labels",
    by_name("[mechanism.labels]", "Names for the outputs.", TEXT, "The name of this output.", named="VALUE"),
    "Names for the outputs: for all of them, or for none.",
)

_INPUT = Either((VALUE, Listed("a list of values", VALUE)))
NEIGHBOURS = Section(
    "[neighbours]",
    "The pairs of inputs that are neighbours, for differential privacy.",
    (
        Key("differ", one_of("each", "one"), "Whether every answer may differ, or only one."),
        Key(
            "by",
            Either(
                (whole(0, MAX_BY), Leaf('"any"', {"type": "string", "pattern": "^(any|0|[1-9][0-9]{0,5})$"}))
            ),
            'The largest difference of an answer between neighbours, or "any"; the default is 1, '
            'or "any" for labels and states.',
        ),
        Key(
            "pairs",
            Listed("a list of pairs of inputs", Listed("a pair of inputs", (_INPUT, _INPUT)), least=1),
            "Only these pairs of inputs.",
        ),
        Key("related", TEXT, 'A condition over two inputs x and y, such as "sum(abs(x[i] - y[i])) <= 1".'),
        Key("distance", TEXT, "The distance of two inputs x and y, on which the bound may depend."),
    ),
    rules=(
        at_most_one("differ", "pairs", "related"),
        needs("by", "differ"),
        at_least_one("differ", "pairs", "related", "distance"),
    ),
)


def near_values(values: Sequence[Value], by: int | None) -> list[list[int]]:
    """Returns for the place of each value the places of those that are near it."""
    if by is None:
        return [list(range(len(values)))] * len(values)
    numbers = [_number(v) for v in values]
    return [[k for k, w in enumerate(numbers) if abs(v - w) <= by] for v in numbers]


def near_answers(answers: Sequence[Sequence[Value]], differ: str, by: int | None) -> list[list[list[int]]]:
    """Returns for each answer which values are near each other, as `near_values` does.

    Raises:
        CaseError: no two inputs are near, so nothing would be compared; it says with which `by` they are.
    """
    near = [near_values(values, by) for values in answers]
    if any(len(places) > 1 for places in (p for places in near for p in places)):
        return near
    if all(len(values) < 2 for values in answers):
        raise CaseError("no input has a neighbour, because there is only one input", key="differ")
    example = next(values for values in answers if len(values) > 1)
    far = " and ".join(map(str, sorted(map(_number, example))[:2]))
    reason = (
        f'no input has a neighbour: differ = "{differ}" compares values that differ by at '
        f"most {by}, but {far}, for example, differ by more"
    )
    enough = enough_by(answers)
    mend = f"write by = {enough}, so that values next to each other are neighbours"
    raise CaseError(reason, key="by", mend=mend)


def count_neighbours(near: Sequence[Sequence[Sequence[int]]], differ: str) -> int:
    """Returns the number of unordered pairs of different inputs that are near each other."""
    sizes = [len(places) for places in near]
    close = [sum(map(len, places)) for places in near]
    if differ == "each":
        return (prod(close) - prod(sizes)) // 2
    return sum(prod(sizes[:k]) * (close[k] - sizes[k]) * prod(sizes[k + 1 :]) for k in range(len(near))) // 2


def enough_by(answers: Iterable[Sequence[Value]]) -> str:
    """Returns the least `by`, as it is written, with which values that follow each other are near."""
    ordered = [sorted(map(_number, values)) for values in answers]
    least = max((ceil(b - a) for values in ordered for a, b in pairwise(values)), default=1)
    return str(least) if least <= MAX_BY else '"any"'


def _number(value: Value) -> Fraction:
    number = as_value(value) if isinstance(value, str) else value
    if isinstance(number, str):
        raise CaseError(
            f'labels such as {number!r} have no distance, so `by` cannot be a number; write by = "any"',
            key="by",
        )
    return Fraction(number)


def changes(
    left: tuple[int, ...], near: Sequence[Sequence[Sequence[int]]], differ: str
) -> Iterable[tuple[int, ...]]:
    """Yields the inputs near one; an input is told by the places of its answers among their values."""
    if differ == "each":
        return product(*(near[k][v] for k, v in enumerate(left)))
    return ((*left[:k], w, *left[k + 1 :]) for k, v in enumerate(left) for w in near[k][v])
