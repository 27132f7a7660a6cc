"""Case files whose names are chosen by a test, and an oracle for them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction

Rows = Sequence[Sequence[Fraction]]  # rows[s][o] is the probability that state s shows observation o

ODD = (
    *(
        "0",
        "00",
        "1",
        "01",
        "1.0",
        "0.5",
        "1/2",
        "2/4",
        "+1",
        "1_0",
        "10",
        "1e1",
        " 1",
        "1 ",
        "-0",
        "-1",
        "1/1",
    ),
    *(
        "a b",
        "ab",
        "a,b",
        "a",
        "b",
        "(0, 1)",
        "'0'",
        '"q"',
        "_",
        "",
        "true",
        "nan",
        "inf",
        "0x1",
        "1/0",
        "\\",
    ),
    *("\u0663", "3", "\u00b2", "\u00bd", "\uff11", "day 1: a, later b"),
)


def quoted(name: str) -> str:
    """Returns a name as a TOML text or key."""
    return json.dumps(name)


def table(entries: Mapping[str, object]) -> str:
    """Returns an inline table from names to numbers."""
    return "{ " + ", ".join(f'{quoted(n)} = "{p}"' for n, p in entries.items()) + " }"


def explicit(
    states: Sequence[str], seen: Sequence[str], rows: Rows, pairs: Sequence[tuple[int, int]], start: bool
) -> str:
    """Returns a case of one observation of explicit tables, with ratio bound 3.

    With `start` the state comes from a prior variable whose values are the names of the states.
    """
    lines = ["[mechanism]", 'kind = "hmm"']
    lines += [f"states = [{', '.join(map(quoted, states))}]"]
    lines += [f"observations = [{', '.join(map(quoted, seen))}]"]
    if start:
        lines.append('start = "x"')
    lines.append("[mechanism.emissions]")
    for state, row in zip(states, rows, strict=True):
        lines.append(f"{quoted(state)} = {table(dict(zip(seen, row, strict=True)))}")
    if start:
        named = ", ".join(f"{k} = {table({name: 1})}" for k, name in enumerate(states))
        lines += ["[prior]", f"i = {{ uniform = {list(range(len(states)))} }}"]
        lines.append(f'x = {{ given = "i", table = {{ {named} }} }}')
        lines += ["[secrets]", *(f's{k} = "i == {k}"' for k in range(len(states)))]
        lines.append(f"pairs = {[[f's{a}', f's{b}'] for a, b in pairs]}")
    else:
        listed = ", ".join(f"[{quoted(states[a])}, {quoted(states[b])}]" for a, b in pairs)
        lines += ["[neighbours]", f"pairs = [{listed}]"]
    return "\n".join([*lines, "[privacy]", "ratio = 3", ""])


def largest(rows: Rows, pairs: Sequence[tuple[int, int]]) -> Fraction:
    """Returns the largest ratio of the pairs in both directions."""
    return max(max(p / q, q / p) for a, b in pairs for p, q in zip(rows[a], rows[b], strict=True))


def number_of(name: str) -> Fraction | str:
    """Returns the number that a name would be if Python read it, else the name."""
    try:
        return Fraction(name)
    except (ValueError, ZeroDivisionError):
        return name
