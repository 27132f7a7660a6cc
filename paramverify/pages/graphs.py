"""Who depends on whom in a prior, as a small graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paramverify.algebra.expressions import parse
from paramverify.errors import InputError
from paramverify.models.priors import DISTRIBUTIONS
from paramverify.pages.markup import Element, Part, h

MOST = 12  # variables of a graph
WIDTH, HEIGHT, ACROSS, DOWN = 112, 36, 48, 20  # of a node, and the room between nodes
ARC = 34  # height of the edges that go above nodes
LONGEST = 13  # characters of a name in a node


def prior_graph(tables: Mapping[str, Any]) -> Element | None:
    """Returns the graph of the entries of `[prior]`; None where it would say nothing, or too much.

    An entry of a form that is not known here gives no graph at all: one without some edges would be wrong.
    """
    found = parents(tables)
    if found is None or len(found) > MOST or not any(found.values()):
        return None
    return _drawn(found)


def parents(tables: Mapping[str, Any]) -> dict[str, list[str]] | None:
    """Returns the earlier variables on which each variable depends; None where an entry is not known."""
    found: dict[str, list[str]] = {}
    for name, entry in tables.items():
        if isinstance(entry, str | int):
            try:
                names = parse(str(entry)).names()
            except InputError:
                return None
            found[name] = [n for n in found if n in names]
        elif isinstance(entry, dict) and any(kind in entry for kind in DISTRIBUTIONS):
            given = entry.get("given", [])
            listed = [given] if isinstance(given, str) else given
            found[name] = [n for n in found if n in listed]
        else:
            return None
    return found


def _drawn(found: Mapping[str, list[str]]) -> Element:
    depth: dict[str, int] = {}
    for name, above in found.items():
        depth[name] = 1 + max((depth[n] for n in above), default=-1)
    columns: dict[int, list[str]] = {}
    for name, level in depth.items():
        columns.setdefault(level, []).append(name)
    tall = max(map(len, columns.values())) * (HEIGHT + DOWN)
    place = {
        name: (
            level * (WIDTH + ACROSS),
            (tall - len(names) * (HEIGHT + DOWN)) // 2 + k * (HEIGHT + DOWN),
        )
        for level, names in columns.items()
        for k, name in enumerate(names)
    }
    pairs = [(one, name) for name, above in found.items() for one in above]
    edges = [_edge(place[one], place[name], depth[name] - depth[one] > 1) for one, name in pairs]
    room = ARC if any(depth[name] - depth[one] > 1 for one, name in pairs) else 0
    wide = len(columns) * (WIDTH + ACROSS) - ACROSS
    told = "; ".join(f"{name} depends on {', '.join(above)}" for name, above in found.items() if above)
    title = h("title", f"Graph of the prior: {told}")
    nodes = [_node(name, place[name]) for name in found]
    box = f"-2 {-2 - room} {wide + 4} {tall - DOWN + room + 4}"
    picture = h("svg", title, edges, nodes, viewBox=box, role="img", width=wide + 4, class_="graph")
    return h("figure", picture, h("figcaption", "Dependencies between the variables of the prior"))


def _node(name: str, place: tuple[int, int]) -> Element:
    x, y = place
    short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    shape = h("rect", x=x, y=y, width=WIDTH, height=HEIGHT, rx=6)
    return h("g", shape, h("text", short, x=x + WIDTH // 2, y=y + HEIGHT // 2), class_="node")


def _edge(start: tuple[int, int], end: tuple[int, int], is_far: bool) -> Element:
    """Returns a curve with a head from the right side of a node to the left side of one in the next column.

    To one that is farther away it goes from top to top, above what is between.
    """
    if is_far:
        x, u = start[0] + WIDTH // 2, end[0] + WIDTH // 2
        high = min(start[1], end[1]) - ARC
        over = h("path", d=f"M{x} {start[1]}C{x} {high} {u} {high} {u} {end[1] - 7}", class_="edge")
        return h("g", over, h("path", d=f"M{u} {end[1] - 1}l-4 -8h8z", class_="head"))
    (x, y), (u, v) = (start[0] + WIDTH, start[1] + HEIGHT // 2), (end[0] - 1, end[1] + HEIGHT // 2)
    middle = (x + u) // 2
    curve = h("path", d=f"M{x} {y}C{middle} {y} {middle} {v} {u - 6} {v}", class_="edge")
    head: Part = h("path", d=f"M{u} {v}l-8 -4v8z", class_="head")
    return h("g", curve, head)
