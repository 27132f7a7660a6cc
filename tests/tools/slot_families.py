"""The add-and-swap family of the example motivated by PINQ, as text of a case file, for t slots."""

from __future__ import annotations


def conditions(slots: int, values: int) -> list[str]:
    """Returns rel[0], ..., rel[t] over the fields of the slots, for data domains of so many values.

    rel[j] relates states that are alike in all but slot t − j: there one has a point more (add), or one point
    in place of another (swap).
    """
    found = ["false"]
    for j in range(1, slots + 1):
        k = slots - j
        alike = [f"n{s}_{i} = n{s}_{i}'" for s in range(slots) if s != k for i in range(values)]
        apart = " + ".join(f"abs(n{k}_{i} - n{k}_{i}')" for i in range(values))
        parts = [*alike, f"abs(n{k} - n{k}') <= 1", f"{apart} <= 2"]
        found.append(" & ".join(["responding = responding'", "output = output'", *parts]))
    return found


def case_text(slots: int, points: int, reach: int | None = None, data: tuple[int, ...] = (-1, 1)) -> str:
    """Returns a case whose answers reach far enough for all points, with δ = 2·ln 2 and ε = 2t·ln 2."""
    lines = ",\n".join(f'    "{c}"' for c in conditions(slots, len(data)))
    reach = reach or max(1, slots * points * max(map(abs, data)))
    return f"""
[system]
kind = "slots"
slots = {slots}
points = {points}
data = {list(data)}
queries = ["count", "sum"]
range = {reach}
noise = {{ truncated_geometric = "1/2" }}

[unwinding]
step = "2*ln(2)"
rel = [
{lines},
]

[privacy]
epsilon = "{2 * slots}*ln(2)"
"""
