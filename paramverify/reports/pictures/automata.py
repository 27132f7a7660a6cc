"""The picture of an automaton over streams as DOT, for Graphviz, with the part of it that leaks."""

from __future__ import annotations

from paramverify import printable
from paramverify.automata.automaton import SAMPLE, Automaton, Transition
from paramverify.automata.violations import ViolationFamily

MAX_STATES = 2_000


def dot(automaton: Automaton, family: ViolationFamily | None = None) -> str:
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
