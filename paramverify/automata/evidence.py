"""Evidence about automata, as JSON data: the automaton, and a proof or a family (`checker/automata.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from paramverify.automata.automaton import GEOMETRIC, Automaton
from paramverify.automata.cases import StreamCase
from paramverify.automata.demands import Demands
from paramverify.automata.gaps import Gap
from paramverify.automata.lengths import Lengths
from paramverify.automata.orders import Graph
from paramverify.automata.searching import Closed
from paramverify.automata.violations import Family
from paramverify.automata.ways import Flow, Way

FORMAT, VERSION = "paramverify-automaton", 1


def frame(automaton: Automaton, status: str, title: str, digest: str) -> dict[str, Any]:
    """Returns what all evidence about an automaton begins with."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "status": status,
        "case": {"title": title, "digest": digest},
        "automaton": machine(automaton),
    }


def claim(case: StreamCase) -> dict[str, Any]:
    """Returns what a case claims; what is as usual is left out."""
    told: dict[str, Any] = {"multiple": str(case.budget.multiple), "differ": "one" if case.one else "each"}
    if case.budget.plus:
        told["plus"] = str(case.budget.plus)
    if case.by != 1:
        told["by"] = "any" if case.by is None else str(case.by)
    if case.values is not None:
        told["values"] = [str(value) for value in sorted(set(case.values))]
    return told


def machine(automaton: Automaton) -> dict[str, Any]:
    """Returns an automaton as JSON data; `noise` and `strict` are there if ties have a probability."""
    whole = automaton.noise == GEOMETRIC
    return ({"noise": GEOMETRIC} if whole else {}) | {
        "states": [
            {
                "name": state.name,
                "reads": state.reads,
                "rate": str(state.rate),
                "mean": str(state.mean),
                "second": None if state.second is None else [str(number) for number in state.second],
            }
            for state in automaton.states
        ],
        "variables": list(automaton.variables),
        "transitions": [
            {
                "source": step.source,
                "target": step.target,
                "output": step.output,
                "above": sorted(step.above),
                "below": sorted(step.below),
                "stored": sorted(step.stored),
            }
            | ({"strict": sorted(step.apart)} if whole else {})
            for step in automaton.transitions
        ],
    }


def proof(found: Demands, weight: list[Fraction], multiple: Fraction) -> dict[str, Any]:
    """Returns demands with their weights as a proof that a multiple is enough."""
    graph = found.graph
    return {
        "multiple": str(multiple),
        "classes": [node.state for node in graph.nodes],
        "edges": [[edge.source, edge.target, edge.transition] for edge in graph.edges],
        "demands": [
            {
                "class": node,
                "bounds": [list(entry) for entry in zone.bounds],
                "pairs": sorted(map(list, zone.pairs)),
                "weight": str(weight[number]),
            }
            for number, (node, zone) in enumerate(found.zones)
        ],
        "links": [[link.source, link.target, link.edge, link.level] for link in found.links],
    }


def tables(graph: Graph, found: Sequence[Closed], multiple: Fraction) -> dict[str, Any]:
    """Returns tables that bound the costs of all ways as a proof that a multiple is enough."""
    return {
        "multiple": str(multiple),
        "classes": [node.state for node in graph.nodes],
        "edges": [[edge.source, edge.target, edge.transition] for edge in graph.edges],
        "tables": [
            {
                "class": table.node,
                "variables": list(table.variables),
                "costs": [None if cost is None else str(cost) for cost in table.costs],
            }
            for table in found
        ],
    }


def lengths(graph: Graph, found: Lengths, exact: bool) -> dict[str, Any]:
    """Returns the budgets of lengths as JSON data; if `exact`, with ways that need them."""
    data = tables(graph, found.tables, Fraction(0))
    del data["multiple"]
    for table, closed in zip(data["tables"], found.tables, strict=True):
        table["read"] = closed.read
    budgets: list[dict[str, Any]] = []
    for entry in found.found:
        budgets.append({"length": entry.inputs, "multiple": str(entry.multiple)})
        if exact and entry.way is not None:
            budgets[-1]["least"] = least(entry.way)
    return data | {"budgets": budgets}


def family(found: Family) -> dict[str, Any]:
    """Returns a family of ways as JSON data."""
    return {
        "kind": found.kind,
        "parts": [{"steps": list(part.steps), "repeated": part.repeated} for part in found.parts],
        "chain": [list(place) for place in found.chain],
        "gain": str(found.gain),
    }


def gap(found: Gap) -> dict[str, Any]:
    """Returns two streams of few values, with what shows how much likelier a way gets under the first one."""
    return {
        "steps": list(found.steps),
        "streams": [list(map(str, found.streams.first)), list(map(str, found.streams.second))],
        "point": list(map(str, found.point)),
        "levels": [[str(low), str(high), _flow(flow)] for low, high, flow in found.levels],
    }


def _flow(flow: Flow) -> list[list[Any]]:
    return [[a, b, str(amount)] for (a, b), amount in sorted(flow.items())]


def least(way: Way) -> dict[str, Any]:
    """Returns a way with its differences and flows as JSON data."""
    high, low = map(_flow, way.flows)
    return {"steps": list(way.steps), "signs": list(way.signs), "high": high, "low": low}
