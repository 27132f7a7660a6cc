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
MAX_PLACES = 200_000_000  # of four bytes


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
    alike = _model_itself(model, automaton, signatures, starts, chain)
    if alike is not None:
        return alike
    nodes = _Nodes(len(model))
    place = nodes.of(automaton.start)
    first: dict[int, int] = {}
    for state in starts:
        if place[state] < 0:
            place[state] = nodes.add(state, automaton.start)
        first[state] = place[state]
    begins, targets, weights = array("q", [0]), array("i"), array("i")
    known: dict[int, Value] = {}
    states, goals = nodes.states, nodes.goals
    for number, state in enumerate(states):  # grows on the way
        later = automaton.after(goals[number], signatures[state])
        if later in (TRUE_GOAL, FALSE_GOAL):
            known[number] = chain.one if later == TRUE_GOAL else chain.zero
            begins.append(len(targets))
            continue
        found = nodes.of(later)
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


def _model_itself(
    model: FlatRows, automaton: Progression, signatures: Sequence[int], starts: Iterable[int], chain: Chain
) -> FlatProduct | None:
    """Returns the model as its own product, where nothing has to be remembered; else None.

    So it is for `a U b` and `F b` on states: what must hold is the same everywhere until it is settled.
    """
    start = automaton.start
    after = {signature: automaton.after(start, signature) for signature in set(signatures)}
    if not set(after.values()) <= {start, TRUE_GOAL, FALSE_GOAL}:
        return None
    ends = {TRUE_GOAL: chain.one, FALSE_GOAL: chain.zero}
    settled = {signature: ends[goal] for signature, goal in after.items() if goal in ends}
    known = {state: settled[found] for state, found in enumerate(signatures) if found in settled}
    return FlatProduct(model, known, {state: state for state in starts})


class _Nodes:
    """The pairs that were met: node n is the state `states[n]` with the goal `goals[n]`."""

    def __init__(self, size: int) -> None:
        self.states, self.goals = array("i"), array("i")
        self._unmet = array("i", [-1]) * size
        self._places: dict[int, array[int]] = {}

    def of(self, goal: int) -> array[int]:
        """Returns the node of each state with a goal, -1 where there is none so far."""
        found = self._places.get(goal)
        if found is None:
            if len(self._places) * len(self._unmet) > MAX_PLACES:
                raise SizeError(
                    f"model and formula have more than {MAX_PLACES:,} pairs of a state and a goal"
                )
            found = self._places[goal] = array("i", self._unmet)
        return found

    def add(self, state: int, goal: int) -> int:
        """Adds a node, and returns its number."""
        self.states.append(state)
        self.goals.append(goal)
        return len(self.states) - 1


def probabilities(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int], guard: Guard | None
) -> dict[int, Value]:
    """Returns the probability of a path formula without unbounded R from each start, in a Markov chain."""
    made = flat_product(chain, formula, signatures, starts)
    nodes = set(made.starts.values())
    values = solve(made.rows, made.known, chain.zero, chain.one, guard, wanted=nodes)
    return {state: values[node] for state, node in made.starts.items()}
