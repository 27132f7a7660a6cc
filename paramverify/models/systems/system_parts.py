"""Several interactive systems side by side, as one system: its states are tuples of theirs.

A data point goes to every part that knows it, at once; queries, responses and hidden actions belong to one
part and have its name in front. While some part has an output to give, the first of these in the order of the
parts does, and nothing is accepted. So what the analyst sees is what the parts say, one after the other. An
input is accepted where every part that has it accepts it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from paramverify.algebra.polynomials import Ring
from paramverify.errors import ModelError
from paramverify.models.systems.slot_systems import LIMIT, explore
from paramverify.models.systems.transition_systems import Actions, StateKind, System, Weight, Weights
from paramverify.spelling import one_off

MOST_NAMES = 8  # that a note has
JOINED = " & "  # between the states of the parts
Places = tuple[int, ...]  # a state of each part


def shared_points(data: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns notes on which data points of the parts are the same, and which are nearly written so."""
    parts = {
        point: [n for n, points in data.items() if point in points]
        for part in data.values()
        for point in part
    }
    several = [repr(point) for point, names in parts.items() if len(names) > 1]
    told = ", ".join(several if len(several) <= MOST_NAMES else [*several[: MOST_NAMES - 1], "..."])
    word = "goes" if len(several) == 1 else "go"
    notes = [
        f"{told} {word} to more than one part" if several else "every data point goes to at most one part"
    ]
    for one, other in combinations(parts, 2):
        if one_off(one, [other]) and set(parts[one]).isdisjoint(parts[other]) and len(notes) < MOST_NAMES:
            names = f"{one!r} of {parts[one][0]} and {other!r} of {parts[other][0]}"
            notes.append(
                f"the data points {names} are spelt differently, so they are two points: to make them one, "
                "write both alike"
            )
    return notes


def side_by_side(
    parts: Mapping[str, System],
    ring: Ring,
    progress: Callable[[int, int], None] | None = None,
    limit: int = LIMIT,
) -> System:
    """Returns the states of all parts together that runs come to. Fields have the name of the part in front.

    Raises:
        LimitError: more than `limit` states.
        ModelError: two states, actions or fields have one name; no input is accepted although a part waits.
    """
    systems = list(parts.values())
    weights = Weights(ring, all(part.weights.numeric for part in systems))
    actions = Actions(
        tuple(dict.fromkeys(point for part in systems for point in part.actions.data)),
        *(
            tuple(
                f"{name}: {action}" for name, part in parts.items() for action in getattr(part.actions, kind)
            )
            for kind in ("queries", "responses", "hidden")
        ),
    )
    numbers = [{action: n for n, action in enumerate(part.actions.names)} for part in systems]

    def moved(state: Places, steps: Mapping[int, int]) -> dict[Places, Weight] | None:
        """Returns where steps of some parts lead, each by its action; None if one has no such step."""
        found: dict[Places, Weight] = {state: weights.one}
        for part, action in steps.items():
            step = systems[part].rows[state[part]].get(action)
            if step is None:
                return None
            found = {
                (*places[:part], after, *places[part + 1 :]): weight * weights.of(more)
                for places, weight in found.items()
                for after, more in step
            }
        return found

    places: list[Places] = []  # of the states, in the order of their numbers

    def kinds_of(state: Places) -> list[StateKind]:
        return [part.kind(place) for part, place in zip(systems, state, strict=True)]

    def step(state: Places) -> Iterator[tuple[str, Mapping[Places, Weight]]]:
        places.append(state)
        for part, (name, kind) in enumerate(zip(parts, kinds_of(state), strict=True)):
            if kind in (StateKind.RESPONSE, StateKind.HIDDEN):
                (action,) = systems[part].rows[state[part]]
                yield f"{name}: {systems[part].actions.names[action]}", moved(state, {part: action}) or {}
                return
        for point in actions.data:
            knowing = {part: known[point] for part, known in enumerate(numbers) if point in known}
            if (found := moved(state, knowing)) is not None:
                yield point, found
        for part, name in enumerate(parts):
            for query in systems[part].actions.queries:
                if (found := moved(state, {part: numbers[part][query]})) is not None:
                    yield f"{name}: {query}", found

    columns = [f"{name}_{field}" for name, part in parts.items() for field in part.variables]
    if twice := next((name for name in columns if columns.count(name) > 1), None):
        raise ModelError(f"two fields of the parts have the name {twice!r}: rename a part or a field")

    def called(state: Places) -> str:
        return JOINED.join(part.states[place] for part, place in zip(systems, state, strict=True))

    def fields(state: Places) -> dict[str, int]:
        return {
            f"{name}_{field}": value
            for (name, part), place in zip(parts.items(), state, strict=True)
            for field, values in part.variables.items()
            if (value := values[place]) is not None
        }

    found = explore(
        tuple(part.initial for part in systems),
        step,
        actions,
        ring=ring,
        partial=any(part.partial for part in systems),
        limit=limit,
        name=called,
        fields=fields if any(part.variables for part in systems) else None,
        progress=progress,
    )
    for state, row in enumerate(found.rows):
        if not row and any(kind is StateKind.INPUT for kind in kinds_of(places[state])):
            raise ModelError(
                f"state {found.states[state]!r}: a part waits, but another part refuses each of its inputs"
            )
    counts = Counter(found.states)
    if twice := next((name for name in found.states if counts[name] > 1), None):
        raise ModelError(f"two states of the parts together have the name {twice!r}: rename one of a part")
    return found
