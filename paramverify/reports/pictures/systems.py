"""The picture of an interactive system as DOT, for Graphviz."""

from __future__ import annotations

from paramverify import printable
from paramverify.models.systems.system import StateKind, System
from paramverify.models.systems.weights import text

SHAPES = {
    StateKind.INPUT: "ellipse",
    StateKind.RESPONSE: "box",
    StateKind.HIDDEN: "point",
    StateKind.STOPPED: "doublecircle",
}
MAX_STATES = 2_000


def dot(system: System) -> str:
    """Returns a digraph: waiting states are ellipses, responding ones boxes, hidden ones points.

    An edge is labelled with the actions, and probabilities other than 1; data points are dashed. Of a large
    system only the first `MAX_STATES` states are drawn, and a comment says so.
    """
    lines = ["digraph system {", "  rankdir=LR;", '  start [shape=none, label=""];']
    shown = min(len(system.states), MAX_STATES)
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
