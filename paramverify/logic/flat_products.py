"""The product of a Markov chain with the automaton of a path formula in arrays, and probabilities in it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from paramverify.errors import SizeError
from paramverify.logic.normal_forms import Node
from paramverify.logic.progression import FALSE_GOAL, TRUE_GOAL, Progression
from paramverify.logic.reachability import Guard, solve
from paramverify.models.chains.chain import Chain, Value
from paramverify.models.chains.flat import FlatRows, flat

MAX_NODES = 20_000_000


@dataclass(frozen=True, eq=False)
class FlatProduct:
    """The pairs of a state and what must hold from it on that are reached from some starts.

    `known` gives the nodes that are settled, with value one or zero, and have no row. `starts` maps states to
    their nodes.
    """

    rows: FlatRows
    known: Mapping[int, Value]
    starts: Mapping[int, int]


def flat_product(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int]
) -> FlatProduct:
    """Returns the product of a Markov chain and a path formula in positive normal form.

    Raises:
        SizeError: more than `MAX_NODES` nodes.
    """
    model = chain.rows if isinstance(chain.rows, FlatRows) else flat(row for (row,) in chain.rows)
    automaton = Progression(formula)
    places: dict[int, array[int]] = {}  # for each goal the nodes of its states, and -1 where there is none
    unmet = array("i", [-1])
    states, goals = array("i"), array("i")
    first: dict[int, int] = {}
    place = places[automaton.start] = unmet * len(model)
    for state in starts:
        if place[state] < 0:
            place[state] = len(states)
            states.append(state)
            goals.append(automaton.start)
        first[state] = place[state]
    begins, targets, weights = array("q", [0]), array("i"), array("i")
    known: dict[int, Value] = {}
    for number, state in enumerate(states):  # grows on the way
        later = automaton.after(goals[number], signatures[state])
        if later in (TRUE_GOAL, FALSE_GOAL):
            known[number] = chain.one if later == TRUE_GOAL else chain.zero
            begins.append(len(targets))
            continue
        found = places.get(later)
        if found is None:
            if len(states) + len(places) * len(model) > MAX_NODES * 10:
                raise SizeError("the product of model and formula has too many pairs of a state and a goal")
            found = places[later] = unmet * len(model)
        out, end = model.begins[state], model.begins[state + 1]
        weights.extend(model.weights[out:end])
        for target in model.targets[out:end]:
            node = found[target]
            if node < 0:
                node = found[target] = len(states)
                states.append(target)
                goals.append(later)
            targets.append(node)
        begins.append(len(targets))
        if len(states) > MAX_NODES:
            raise SizeError(f"the product of model and formula has more than {MAX_NODES:,} nodes")
    return FlatProduct(FlatRows(begins, targets, weights, model.values), known, first)


def probabilities(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int], guard: Guard | None
) -> dict[int, Value]:
    """Returns the probability of a path formula without unbounded R from each start, in a Markov chain."""
    made = flat_product(chain, formula, signatures, starts)
    nodes = set(made.starts.values())
    values = solve(made.rows, made.known, chain.zero, chain.one, guard, nodes)
    return {state: values[node] for state, node in made.starts.items()}
