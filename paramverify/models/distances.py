"""`distance` in `[neighbours]`: how far the inputs of a pair are apart, for bounds that depend on it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

from paramverify import printable
from paramverify.algebra.expressions import Value
from paramverify.errors import CaseError, located
from paramverify.models.conditions import Shape
from paramverify.models.mechanisms import show_input
from paramverify.models.mechanisms._near import enough_by
from paramverify.models.priors import SecretPair
from paramverify.models.relations import Relation, plain, read_condition, read_distance
from paramverify.tables import Table

NAME = "distance"  # what stands for it in `[privacy]`
SHOWN = 8  # distances that are listed in a note


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
            raise CaseError("a parameter has this name too; choose another name for it")
        distance = read_distance(text, shape)
        return [replace(pair, distance=_distance(pair, distance)) for pair in pairs]


def _distance(pair: SecretPair, distance: Relation) -> Fraction:
    if pair.inputs is None:
        raise CaseError(
            "the adversary chooses the answers of this mechanism one by one: they have no distance"
        )
    left, right = map(plain, pair.inputs)
    found, back = distance.number(left, right), distance.number(right, left)
    if found != back:
        raise CaseError(
            f"{found} from {pair.left} to {pair.right}, and {back} back: a distance is the same both ways; "
            "write, for example, the max of both"
        )
    if found < 0:
        raise CaseError(f"{found} from {pair.left} to {pair.right}: a distance is not negative")
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
        f"{have} no neighbour, so the verdict says nothing about {few}{', ...' * (len(alone) > SHOWN)}; "
        f"with by = {enough_by(answers)} values that follow each other are neighbours",
    )


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
    return (f"{pair} of inputs are related one way only, such as {some}; both directions are compared",)
