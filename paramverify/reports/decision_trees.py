"""Region maps as decision trees for other programs: JSON, or a Python module that imports nothing of ours."""

from __future__ import annotations

import json
from typing import Any

from paramverify.privacy.cases import Case
from paramverify.reports.synthesis import words
from paramverify.synthesis.maps import RegionMap, Status
from paramverify.synthesis.tiling import Cut, tree

FORMAT, VERSION = "paramverify-tree", 1
TREES = (".json", ".py")  # suffixes of files
BESIDE = {Status.OUTSIDE: "outside", Status.MIRRORED: "mirrored"}

MODULE = '''"""{title}: {budget}

verdict(p=..., q=...) says what is proved at a point. Numbers are exact: Fraction, int, or text such as "1/3".
"""

from fractions import Fraction

PARAMETERS = {parameters!r}
BOX = {box!r}  # lower and upper ends
SYMMETRIC = {symmetric!r}  # an order of these values stands for all
NODES = (  # a verdict, or: the number of a parameter, its value, the nodes up to that value and beyond
{nodes}
)


def verdict(**point):
    values = [Fraction(point[name]) for name in PARAMETERS]
    if any(not Fraction(low) <= value <= Fraction(high) for value, (low, high) in zip(values, BOX)):
        return "outside"
    for names in SYMMETRIC:
        places = [PARAMETERS.index(name) for name in names]
        for place, value in zip(places, sorted(values[k] for k in places)):
            values[place] = value
    node = NODES[0]
    while not isinstance(node, str):
        axis, at, below, above = node
        node = NODES[below if values[axis] <= Fraction(at) else above]
    return node
'''


def document(case: Case, found: RegionMap) -> dict[str, Any]:
    """Returns the decision tree of a map as JSON data: nodes, number 0 first, numbers as text."""
    names = {**words(case), **BESIDE}
    nodes: list[Any] = []
    for node in tree(found.box, list(found.cells)):
        if isinstance(node, Cut):
            name = found.parameters[node.axis]
            nodes.append(
                {"parameter": name, "at": str(node.at), "below": node.below, "above": node.above},
            )
        else:
            nodes.append({"verdict": names[node.status]})
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": case.title,
        "budget": str(case.budget),
        "parameters": list(found.parameters),
        "box": [[str(low), str(high)] for low, high in found.box],
        "symmetric": [list(fold) for fold in found.folds],
        "nodes": nodes,
    }


def module(case: Case, found: RegionMap) -> str:
    """Returns the decision tree of a map as a Python module with a function `verdict`."""
    told = document(case, found)
    nodes = [
        repr(node["verdict"])
        if "verdict" in node
        else repr((told["parameters"].index(node["parameter"]), node["at"], node["below"], node["above"]))
        for node in told["nodes"]
    ]
    return MODULE.format(
        title=_plain(told["title"] or ""),
        budget=_plain(told["budget"]),
        parameters=tuple(told["parameters"]),
        box=tuple(map(tuple, told["box"])),
        symmetric=tuple(map(tuple, told["symmetric"])),
        nodes="\n".join(f"    {node}," for node in nodes),
    )


def text(case: Case, found: RegionMap, suffix: str) -> str:
    """Returns the decision tree as the text of a file with this suffix, .py or .json."""
    return module(case, found) if suffix == ".py" else json.dumps(document(case, found), indent=1) + "\n"


def _plain(told: str) -> str:
    """Returns text that may stand in a docstring."""
    return told.replace("\\", "/").replace('"', "'")
