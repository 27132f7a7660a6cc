"""The hidden Markov model of a case as a graph in DOT, for Graphviz."""

from __future__ import annotations

from paramverify import printable
from paramverify.algebra.polynomials import Polynomial, RationalFunction
from paramverify.models.model import Model
from paramverify.reports.formulas import formula


def dot(model: Model) -> str:
    """Returns a digraph: one node for each state, one edge for each pair of states with its steps.

    An edge is labelled `observation: probability`, one line for each observation. Initial distributions are
    dashed edges from a box that names the secret.
    """
    lines = ["digraph model {", "  rankdir=LR;", "  node [shape=ellipse];"]
    nodes: set[str] = set()
    names = [_node(state, nodes) for state in model.hmm.states]
    lines += [f"  {name};" for name in names]
    starts = {name: start for p in model.pairs for name, start in ((p.left, p.pi), (p.right, p.tau))}
    for name, start in starts.items():
        box = _node(f"secret {name}", nodes)
        lines.append(f"  {box} [shape=box, label={printable.dot(name)}];")
        for state, weight in start.weights.items():
            label = _probability(model, weight, start.mass)
            lines.append(f"  {box} -> {names[state]} [style=dashed, label={printable.dot(label)}];")
    for state, row in enumerate(model.hmm.steps):
        edges: dict[int, list[str]] = {}
        for step in row:
            text = _probability(model, step.weight, model.hmm.denominator)
            observation = model.hmm.observations[step.observation]
            edges.setdefault(step.successor, []).append(f"{observation}: {text}")
        for successor, labels in edges.items():
            label = printable.dot("\n".join(labels))
            lines.append(f"  {names[state]} -> {names[successor]} [label={label}];")
    return "\n".join([*lines, "}", ""])


def _probability(model: Model, weight: Polynomial, mass: Polynomial) -> str:
    return formula(RationalFunction.of(weight, mass), model.domain).factored


def _node(name: str, nodes: set[str]) -> str:
    """Returns the quoted name of a new node; a number is added where a node has it, as equal ones are one."""
    number, own = 1, printable.dot(name)
    while own in nodes:
        number += 1
        own = printable.dot(f"{name} ({number})")
    nodes.add(own)
    return own
