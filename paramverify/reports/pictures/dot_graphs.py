"""Automata, hidden Markov models, programs and interactive systems as graphs in DOT, for Graphviz."""

from __future__ import annotations

from collections.abc import Sequence

from paramverify import printable
from paramverify.algebra.polynomials import Polynomial, RationalFunction
from paramverify.automata.automaton import SAMPLE, Automaton, Transition
from paramverify.automata.unbounded_ways import ViolationFamily
from paramverify.models.model import Model
from paramverify.models.programs.program_running import END, Control, ControlEdge
from paramverify.models.systems.transition_systems import StateKind, System, text
from paramverify.reports.formulas import formula

MAX_STATES = 2_000


def automaton_dot(automaton: Automaton, family: ViolationFamily | None = None) -> str:
    """Returns a digraph: states that read an input are ellipses, others boxes, ends are doubled.

    Of a family of ways the transitions are red: bold in the parts that are repeated, dashed in the others.
    """
    lines = ["digraph automaton {", "  rankdir=LR;", '  start [shape=none, label=""];']
    shown = min(len(automaton.states), MAX_STATES)
    if shown < len(automaton.states):
        lines.append(f"  // only the first {shown} of {len(automaton.states)} states are drawn")
    for number, state in enumerate(automaton.states[:shown]):
        ends = not automaton.leaving[number]
        noise = "" if ends else f"\nrate {state.rate}, mean {state.mean}"
        if state.second is not None:
            noise += f"\n{SAMPLE}': rate {state.second[0]}, mean {state.second[1]}"
        shape = "doublecircle" if ends else "ellipse" if state.reads else "box"
        lines.append(f"  s{number} [shape={shape}, label={printable.dot(state.name + noise)}];")
    lines.append("  start -> s0;")
    repeated, once = _marked(family)
    for number, step in enumerate(automaton.transitions):
        if max(step.source, step.target) < shown:
            style = ""
            if number in repeated | once:
                style = ", color=red, fontcolor=red, style=" + ("bold" if number in repeated else "dashed")
            label = printable.dot(_label(automaton, step))
            lines.append(f"  s{step.source} -> s{step.target} [label={label}{style}];")
    return "\n".join([*lines, "}", ""])


def _marked(family: ViolationFamily | None) -> tuple[set[int], set[int]]:
    repeated = {step for part in (family.parts if family else ()) if part.repeated for step in part.steps}
    return repeated, {step for part in (family.parts if family else ()) for step in part.steps} - repeated


def _label(automaton: Automaton, step: Transition) -> str:
    stored = "".join(f"{automaton.variables[v]} := {SAMPLE}\n" for v in sorted(step.stored))
    guard = automaton.guard_text(step)
    return f"{'' if guard == 'true' else guard + chr(10)}{stored}{step.output}"


def model_dot(model: Model) -> str:
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


def program_dot(text: str, edges: Sequence[ControlEdge]) -> str:
    """Returns a digraph: a box for each control state, an arrow for each step that some run takes.

    A box has its line of the program, the variables that are still read, and how many noises are alive.
    """
    states = sorted(
        {state for edge in edges for state in (edge.start, edge.end)}, key=lambda s: (s == END, s)
    )
    names = {state: f"s{number}" for number, state in enumerate(states, start=1)}
    lines = ["digraph program {", "  node [shape=box];"]
    lines += [f"  {names[s]} [label={printable.dot(_state_label(text, s))}];" for s in states]
    labels: dict[tuple[Control, Control], list[str]] = {}
    for edge in edges:
        labels.setdefault((edge.start, edge.end), []).append(edge.label)
    for (start, end), told in labels.items():
        label = printable.dot("\n".join(filter(None, told)))
        shown = f" [label={label}]" if any(told) else ""
        lines.append(f"  {names[start]} -> {names[end]}{shown};")
    return "\n".join([*lines, "}", ""])


def _state_label(text: str, state: Control) -> str:
    if state == END:
        return "end"
    line = text.split("\n")[state.line - 1].strip()
    reads = ", ".join(f"{name} (noisy)" if name in state.noisy else name for name in state.live)
    return "\n".join(
        [
            f"line {state.line}: {line}",
            *([f"reads {reads}"] if reads else []),
            *([f"noise alive: {state.noise}"] if state.noise else []),
        ]
    )


SHAPES = {
    StateKind.INPUT: "ellipse",
    StateKind.RESPONSE: "box",
    StateKind.HIDDEN: "point",
    StateKind.STOPPED: "doublecircle",
}
MAX_SYSTEM_STATES = 2_000


def system_dot(system: System) -> str:
    """Returns a digraph: waiting states are ellipses, responding ones boxes, hidden ones points.

    An edge is labelled with the actions, and probabilities other than 1; data points are dashed. Of a large
    system only the first `MAX_STATES` states are drawn, and a comment says so.
    """
    lines = ["digraph system {", "  rankdir=LR;", '  start [shape=none, label=""];']
    shown = min(len(system.states), MAX_SYSTEM_STATES)
    if shown < len(system.states):
        lines.append(f"  // only the first {shown} of {len(system.states)} states are drawn")
    for state in range(shown):
        label = printable.dot(system.states[state])
        lines.append(f"  s{state} [shape={SHAPES[system.kind(state)]}, label={label}, tooltip={label}];")
    lines.append(f"  start -> s{system.initial};")
    for state in range(shown):
        edges: dict[tuple[int, str], list[str]] = {}
        for action, step in system.rows[state].items():
            style = "dashed" if action in system.actions.points else "solid"
            name = system.actions.names[action]
            for successor, weight in step:
                told = text(weight)
                label = name if told == "1" else f"{name}: {told}"
                if successor < shown:
                    edges.setdefault((successor, style), []).append(label)
        for (successor, style), labels in edges.items():
            lines.append(
                f"  s{state} -> s{successor} [style={style}, label={printable.dot(chr(10).join(labels))}];"
            )
    return "\n".join([*lines, "}", ""])
