"""Evidence about automata, for `kernel.automaton_checks`: the automaton, and a proof or a family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from paramverify.automata.automaton import GEOMETRIC, Automaton
from paramverify.automata.stored_values import Demands, Graph
from paramverify.automata.stream_cases import StreamCase
from paramverify.automata.stream_costs import Lengths
from paramverify.automata.unbounded_ways import ViolationFamily
from paramverify.automata.way_costs import Closed, Flow, Way
from paramverify.automata.way_programs import Gap
from paramverify.evidence import envelope

NO_GAPS: Mapping[int, Gap] = MappingProxyType({})


def document(
    automaton: Automaton, status: str, title: str, digest: str, parts: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns evidence about an automaton; `parts` are what is claimed, and what shows it."""
    own = {"kind": "automaton", "automaton": machine(automaton), **parts}
    return envelope.document(status, {"case": {"title": title, "digest": digest}}, envelope.statements(own))


def claim(case: StreamCase) -> dict[str, Any]:
    """Returns what a case claims; what is as usual is left out."""
    told: dict[str, Any] = {"multiple": str(case.budget.multiple)} | streams(case)
    if case.budget.plus:
        told["plus"] = str(case.budget.plus)
    return told


def streams(case: StreamCase) -> dict[str, Any]:
    """Returns which streams a case compares; what is as usual is left out."""
    told: dict[str, Any] = {"differ": "one" if case.one else "each"}
    if case.by != 1:
        told["by"] = "any" if case.by is None else str(case.by)
    if case.values is not None:
        told["values"] = [str(value) for value in sorted(set(case.values))]
    return told


def machine(automaton: Automaton) -> dict[str, Any]:
    """Returns an automaton as JSON data.

    `noise` and `strict` are there if ties have a probability, and `late` if it is.
    """
    whole = automaton.noise == GEOMETRIC
    return (
        ({"noise": GEOMETRIC} if whole else {})
        | ({"late": True} if automaton.late else {})
        | {
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
    )


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
        "tables": [_table(table) for table in found],
    }


def _table(table: Closed) -> dict[str, Any]:
    """Returns a table, with the shifts for which it bounds something."""
    costs = {_signs(shifts): str(cost) for shifts, cost in table.costs.items()}
    return {"class": table.node, "variables": list(table.variables), "costs": costs}


def _signs(shifts: Sequence[int]) -> str:
    return "".join("-0+"[shift + 1] for shift in shifts)


def lengths(
    graph: Graph, found: Lengths, *, one: bool = False, ways: bool = True, gaps: Mapping[int, Gap] = NO_GAPS
) -> dict[str, Any]:
    """Returns the budgets of lengths as JSON data, for entries of which each one differs by 1, or `one` does.

    `ways` asks for the ways that need them. `gaps` are those of lengths, for entries of few values.
    """
    data = tables(graph, found.tables, Fraction(0))
    del data["multiple"]
    for table, closed in zip(data["tables"], found.tables, strict=True):
        table["read"] = closed.read
        if one:
            table["differed"] = closed.differed
    budgets: list[dict[str, Any]] = []
    for entry in found.found:
        budgets.append({"length": entry.inputs, "multiple": str(entry.multiple)})
        if ways and entry.way is not None:
            budgets[-1]["least"] = least(entry.way)
        if entry.inputs in gaps:
            budgets[-1]["gap"] = gap(gaps[entry.inputs])
    return data | {"budgets": budgets}


def family(found: ViolationFamily) -> dict[str, Any]:
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
