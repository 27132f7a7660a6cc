"""The control states of a program as a graph in DOT, for Graphviz."""

from __future__ import annotations

from collections.abc import Sequence

from paramverify import printable
from paramverify.models.programs.control import END, Control, ControlEdge


def dot(text: str, edges: Sequence[ControlEdge]) -> str:
    """Returns a digraph: a box for each control state, an arrow for each step that some run takes.

    A box has its line of the program, the variables that are still read, and how many noises are alive.
    """
    states = sorted(
        {state for edge in edges for state in (edge.start, edge.end)}, key=lambda s: (s == END, s)
    )
    names = {state: f"s{number}" for number, state in enumerate(states, start=1)}
    lines = ["digraph program {", "  node [shape=box];"]
    lines += [f"  {names[s]} [label={printable.dot(_label(text, s))}];" for s in states]
    labels: dict[tuple[Control, Control], list[str]] = {}
    for edge in edges:
        labels.setdefault((edge.start, edge.end), []).append(edge.label)
    for (start, end), told in labels.items():
        label = printable.dot("\n".join(filter(None, told)))
        shown = f" [label={label}]" if any(told) else ""
        lines.append(f"  {names[start]} -> {names[end]}{shown};")
    return "\n".join([*lines, "}", ""])


def _label(text: str, state: Control) -> str:
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
