"""Pairs of neighbouring inputs.

More than can be formed, those to be tried first, and how far they are apart.

The input patterns of [S] Table 2, as used in [F] section 7.2, Table 3. They are heuristics: they order the
work and decide nothing.

Differential privacy over more pairs of neighbouring inputs than can be formed.

A mechanism that perturbs each of n answers on its own has exponentially many inputs. Where it knows the pair
with the largest ratio (`WorstPair`), only that pair is formed, and stands for all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from paramverify import printable
from paramverify.algebra.expressions import Value
from paramverify.errors import CaseError, InputError, located
from paramverify.models.hmm import HMM
from paramverify.models.mechanisms import Input, Mechanism, WorstPair, compare, read_differ, show_input
from paramverify.models.mechanisms._queries import enough_by
from paramverify.models.names import as_value
from paramverify.models.priors import SecretPair
from paramverify.models.relations import Relation, Shape, plain, read_condition, read_distance
from paramverify.tables import Table

NAME = "distance"  # what stands for it in `[privacy]`
SHOWN = 8  # distances that are listed in a note
BY = (
    "inputs in which a value changes by more than 1 are not compared, because [neighbours] has no `by`; "
    'write by = "any" if a value may change by any amount, or by = 1 if this is what you mean'
)
ALONE = "no neighbour, so the verdict does not cover"


def with_distances(
    table: Table, shape: Shape, pairs: Sequence[SecretPair], names: Collection[str]
) -> list[SecretPair]:
    """Returns the pairs with the distances of their inputs, where `[neighbours]` gives one.

    `names` are those of the parameters of the case.

    Raises:
        InputError: a mistake in the expression, a distance that is negative or not the same in both
            directions, or pairs that are no inputs.
    """
    if NAME not in table:
        return list(pairs)
    text = table.text(NAME)
    with located(key=NAME):
        if NAME in names:
            raise CaseError("distance is already the name of a parameter; rename the parameter")
        distance = read_distance(text, shape)
        return [replace(pair, distance=_distance(pair, distance)) for pair in pairs]


def _distance(pair: SecretPair, distance: Relation) -> Fraction:
    if pair.inputs is None:
        raise CaseError(
            "the adversary chooses the answers of this mechanism one by one, so they have no "
            "distance; remove distance"
        )
    left, right = map(plain, pair.inputs)
    found, back = distance.number(left, right), distance.number(right, left)
    if found != back:
        raise CaseError(
            f"the distance is {found} from {pair.left} to {pair.right}, but {back} in the "
            "other direction; make it symmetric, for example by the max of both"
        )
    if found < 0:
        raise CaseError(
            f"the distance is {found} from {pair.left} to {pair.right}, but a distance must not be negative"
        )
    return found


def left_out(
    table: Table, pairs: Sequence[SecretPair], answers: Sequence[Sequence[Value]]
) -> tuple[str, ...]:
    """Returns a note where `differ` makes neighbours of some inputs, and leaves others without any."""
    compared = {given for pair in pairs for given in pair.inputs or ()}
    if "differ" not in table or not compared:
        return ()
    alone = [given for given in product(*answers) if given not in compared]
    if not alone:
        return ()
    few = ", ".join(printable.name(show_input(given)) for given in alone[:SHOWN])
    have = "1 input has" if len(alone) == 1 else f"{len(alone):,} inputs have"
    return (
        f"{have} {ALONE} {few}{', ...' * (len(alone) > SHOWN)}; "
        f"with by = {enough_by(answers)}, values next to each other are neighbours",
    )


def near_by_default(table: Table, mechanism: Mechanism) -> tuple[str, ...]:
    """Returns a note where values may be further apart than neighbours, and the case does not say so."""
    restricts = "differ" in table and table.get("by") is None and getattr(mechanism, "default_by", "1") == "1"
    return (BY,) if restricts and any(len(set(values)) > 2 for values in mechanism.answers) else ()


def in_words(table: Table, pairs: Sequence[SecretPair]) -> tuple[str, ...]:
    """Returns a note with the distances of the pairs, if they have any."""
    found = sorted({pair.distance for pair in pairs if pair.distance is not None})
    if not found:
        return ()
    listed = ", ".join(map(str, found))
    if len(found) > SHOWN:
        listed = f"{len(found):,} values from {found[0]} to {found[-1]}"
    return (f"the distance of two inputs is {' '.join(table.text(NAME).split())}: {listed}",)


def one_way(
    table: Table, shape: Shape, pairs: Sequence[SecretPair], answers: Sequence[Sequence[Value]]
) -> tuple[str, ...]:
    """Returns a note where the condition `related` holds in one direction only for some pairs."""
    if "related" not in table:
        return ()
    with located(key="related"):
        relation = read_condition(table.text("related"), shape)
        inputs = [pair.inputs for pair in pairs if pair.inputs] or list(combinations(product(*answers), 2))
        known = [(x, y, plain(x), plain(y)) for x, y in inputs]
        alone = [(x, y) for x, y, a, b in known if relation.holds(a, b) != relation.holds(b, a)]
    if not alone:
        return ()
    some = f"{show_input(alone[0][0])} and {show_input(alone[0][1])}"
    pair = "1 pair" if len(alone) == 1 else f"{len(alone):,} pairs"
    return (
        (
            f"{pair} of inputs are related in one direction only, such as {some}; paramverify "
            "compares both directions"
        ),
    )


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
        raise InputError(f"{name!r} is not an input; write, for example, {example!r}")
    return values


def _whole(value: object) -> int:
    assert isinstance(value, Fraction)
    return int(value)


Answers = tuple[int, ...]

# Each pattern gives, from the number of answers, how far each answer of the two inputs is from the centre.
PATTERNS: dict[str, Callable[[int], tuple[Answers, Answers]]] = {
    "one above": lambda n: ((0,) * n, (1, *(0,) * (n - 1))),
    "one below": lambda n: ((0,) * n, (-1, *(0,) * (n - 1))),
    "one above, rest below": lambda n: ((0,) * n, (1, *(-1,) * (n - 1))),
    "one below, rest above": lambda n: ((0,) * n, (-1, *(1,) * (n - 1))),
    "half and half": lambda n: ((0,) * n, (*(-1,) * (n // 2), *(1,) * (n - n // 2))),
    "all above": lambda n: ((0,) * n, (1,) * n),
    "all below": lambda n: ((0,) * n, (-1,) * n),
    "X shape": lambda n: (
        (*(1,) * (n // 2), *(0,) * (n - n // 2)),
        (*(0,) * (n // 2), *(1,) * (n - n // 2)),
    ),
}


def pattern_pairs(
    count: int, most: int, centres: Sequence[int] | None = None
) -> Iterator[tuple[str, Answers, Answers]]:
    """Yields (pattern, left, right) for `count` answers in 0..most, without repetition.

    They are around the given centres, or around every one.

    Every answer differs by at most 1. Patterns with a special answer come with it first, and with it last.
    Without others, the centres are tried from the middle of the range outwards.
    """
    outwards = sorted(range(most + 1), key=lambda c: (abs(2 * c - most), c))
    seen: set[tuple[Answers, Answers]] = set()
    for centre in outwards if centres is None else centres:
        for name, shifts in PATTERNS.items():
            for order in (1, -1):
                left, right = (tuple(centre + d for d in side[::order]) for side in shifts(count))
                inside = all(0 <= v <= most for v in (*left, *right))
                if inside and left != right and (left, right) not in seen and (right, left) not in seen:
                    seen.add((left, right))
                    yield name, left, right


def patterned(pairs: Sequence[SecretPair]) -> list[tuple[str, SecretPair]]:
    """Returns the pairs of inputs that have a pattern, with its name, in the order of the patterns.

    Empty where the inputs are not several whole-number answers each, such as `(1, 0, 2)`.
    """
    shape = _shape({name for pair in pairs for name in (pair.left, pair.right)})
    if shape is None:
        return []
    wanted: dict[tuple[str, str], tuple[int, str]] = {}
    for place, (name, left, right) in enumerate(pattern_pairs(*shape)):
        both = _shown(left), _shown(right)
        wanted[both] = wanted[both[::-1]] = place, name
    found = [(*wanted[p.left, p.right], p) for p in pairs if (p.left, p.right) in wanted]
    return [(name, pair) for _, name, pair in sorted(found, key=lambda entry: entry[0])]


def _shape(names: Iterable[str]) -> tuple[int, int] | None:
    """Returns how many answers the inputs have, and the largest answer; None if not all are such inputs."""
    counts: set[int] = set()
    most = 0
    for name in names:
        parts = name[1:-1].split(", ")
        if not (name.startswith("(") and name.endswith(")") and all(part.isdecimal() for part in parts)):
            return None
        counts.add(len(parts))
        most = max(most, *map(int, parts))
    return (counts.pop(), most) if len(counts) == 1 else None


def _shown(answers: Answers) -> str:
    return f"({', '.join(map(str, answers))})"
