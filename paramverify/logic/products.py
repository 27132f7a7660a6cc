"""The product of a model with the automaton of a path formula, in which a scheduler chooses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from paramverify.errors import SizeError
from paramverify.logic.normal_forms import Node
from paramverify.logic.progression import FALSE_GOAL, TRUE_GOAL, Progression
from paramverify.models.chains.chain import Chain, Row, Value

MAX_NODES = 3_000_000


@dataclass(frozen=True, eq=False)
class Product:
    """The pairs of a state and what must hold from it on that are reached from some starts.

    `choices[n]` are the distributions among which a scheduler chooses in node n, one for each action of the
    model; `known` gives the nodes that are settled, with value one or zero. `starts` maps states to their
    nodes.
    """

    nodes: tuple[tuple[int, int], ...]
    choices: tuple[tuple[Row, ...], ...]
    known: Mapping[int, Value]
    starts: Mapping[int, int]


def product(chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int]) -> Product:
    """Returns the product of a model and a path formula in positive normal form.

    Raises:
        SizeError: more than `MAX_NODES` nodes.
    """
    automaton = Progression(formula)
    after = automaton.after
    index: dict[tuple[int, int], int] = {}
    nodes: list[tuple[int, int]] = []
    first: dict[int, int] = {}
    for state in starts:
        first[state] = index.setdefault((state, automaton.start), len(nodes))
        if first[state] == len(nodes):
            nodes.append((state, automaton.start))
    choices: list[tuple[Row, ...]] = []
    known: dict[int, Value] = {}
    for number, (state, goal) in enumerate(nodes):  # grows on the way
        later = after(goal, signatures[state])
        if later in (TRUE_GOAL, FALSE_GOAL):
            known[number] = chain.one if later == TRUE_GOAL else chain.zero
            choices.append(())
            continue
        memory: dict[int, Row] = {}
        found: list[Row] = []
        for row in chain.rows[state]:
            if id(row) not in memory:
                moved: list[tuple[int, Value]] = []
                for successor, weight in row:
                    pair = (successor, later)
                    place = index.get(pair)
                    if place is None:
                        place = index[pair] = len(nodes)
                        nodes.append(pair)
                    moved.append((place, weight))
                memory[id(row)] = tuple(moved)
            found.append(memory[id(row)])
        choices.append(tuple(found))
        if len(nodes) > MAX_NODES:
            raise SizeError(f"the product of model and formula has more than {MAX_NODES:,} nodes")
    return Product(tuple(nodes), tuple(choices), known, first)
