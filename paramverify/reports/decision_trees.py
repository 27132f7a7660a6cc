"""Region maps as decision trees for other programs: JSON, or a Python module that imports nothing of ours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from paramverify.algebra.domains import Constraint, Domain
from paramverify.algebra.polynomials import substitute, variables
from paramverify.printable import line
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports.synthesis import words
from paramverify.reports.text import others
from paramverify.synthesis.maps import RegionMap, Status
from paramverify.synthesis.tiling import Cut, tree

FORMAT, VERSION = "paramverify-tree", 1
TREES = (".json", ".py")  # suffixes of files
BESIDE = {Status.OUTSIDE: "outside", Status.MIRRORED: "mirrored"}

MODULE = '''"""{title}: {budget}{quantified}

verdict({named}) says what is proved at a point{besides}, and "outside" where it is not in the domain.
Numbers are exact: Fraction, int, or text such as "1/3".
"""

from fractions import Fraction
from math import prod

PARAMETERS = {parameters!r}
BOX = {box!r}  # lower and upper ends
CLOSED = {closed!r}  # whether these ends belong to the domain
CONSTRAINTS = (  # what is at least 0, or where True stands more than 0: coefficients, exponents of each
{constraints}
)
SYMMETRIC = {symmetric!r}  # an order of these values stands for all
NODES = (  # a verdict, or: the number of a parameter, its value, the nodes up to that value and beyond
{nodes}
)


def within(values):
    for value, ends, closed in zip(values, BOX, CLOSED):
        low, high = map(Fraction, ends)
        if not low <= value <= high or value == low and not closed[0] or value == high and not closed[1]:
            return False
    for strict, terms in CONSTRAINTS:
        total = sum(Fraction(c) * prod(v**e for v, e in zip(values, powers)) for c, powers in terms)
        if total < 0 or strict and total == 0:
            return False
    return True


def verdict(**point):
    values = [Fraction(point[name]) for name in PARAMETERS]
    if not within(values):
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


def document(case: PrivacyCase, found: RegionMap) -> dict[str, Any]:
    """Returns the decision tree of a map as JSON data: nodes, number 0 first, numbers as text.

    Of a constraint on the parameters of the map and on fixed ones there are the terms; any other one is told.
    """
    names, domain = {**words(case), **BESIDE}, case.model.domain
    nodes: list[Any] = []
    for node in tree(found.box, list(found.cells)):
        if isinstance(node, Cut):
            name = found.parameters[node.axis]
            nodes.append(
                {"parameter": name, "at": str(node.at), "below": node.below, "above": node.above},
            )
        else:
            nodes.append({"verdict": names[node.status]})
    intervals = [domain.box[name] for name in found.parameters]
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": case.title,
        "budget": str(case.budget),
        "parameters": list(found.parameters),
        "box": [[str(low), str(high)] for low, high in found.box],
        "closed": [[interval.lower_closed, interval.upper_closed] for interval in intervals],
        "for_all": others(domain, found.quantified),
        "constraints": [
            _constraint(constraint, domain, found.parameters) for constraint in domain.constraints
        ],
        "symmetric": [list(fold) for fold in found.folds],
        "nodes": nodes,
    }


def _constraint(constraint: Constraint, domain: Domain, free: Sequence[str]) -> dict[str, Any]:
    fixed = {name: i.lower for name, i in domain.box.items() if i.is_point and name not in free}
    polynomial = substitute(constraint.polynomial, fixed) if fixed else constraint.polynomial
    if not set(variables(polynomial)) <= set(free):
        return {"text": constraint.text}
    places = [domain.ring.names.index(name) for name in free]
    terms = [
        [str(Fraction(int(c.p), int(c.q))), [int(exponents[k]) for k in places]]
        for exponents, c in polynomial.to_dict().items()
    ]
    return {"text": constraint.text, "strict": constraint.strict, "terms": terms}


def module(case: PrivacyCase, found: RegionMap) -> str:
    """Returns the decision tree of a map as a Python module with a function `verdict`."""
    told = document(case, found)
    nodes = [
        repr(node["verdict"])
        if "verdict" in node
        else repr((told["parameters"].index(node["parameter"]), node["at"], node["below"], node["above"]))
        for node in told["nodes"]
    ]
    counted = [
        (one["strict"], tuple((c, tuple(powers)) for c, powers in one["terms"]))
        for one in told["constraints"]
        if "terms" in one
    ]
    unseen = dict.fromkeys(c["text"] for c in told["constraints"] if "terms" not in c)
    besides = [text for text in unseen if text not in told["for_all"]]
    return MODULE.format(
        title=_plain(told["title"] or ""),
        budget=_plain(told["budget"]),
        quantified=_plain(f", for all {told['for_all']}" if told["for_all"] else ""),
        besides=_plain(f" with {', '.join(besides)}" if besides else ""),
        named=", ".join(f"{name}=..." for name in told["parameters"]),
        parameters=tuple(told["parameters"]),
        box=tuple(map(tuple, told["box"])),
        closed=tuple(map(tuple, told["closed"])),
        constraints="\n".join(f"    {one!r}," for one in counted),
        symmetric=tuple(map(tuple, told["symmetric"])),
        nodes="\n".join(f"    {node}," for node in nodes),
    )


def text(case: PrivacyCase, found: RegionMap, suffix: str) -> str:
    """Returns the decision tree as the text of a file with this suffix, .py or .json."""
    return module(case, found) if suffix == ".py" else json.dumps(document(case, found), indent=1) + "\n"


def _plain(told: str) -> str:
    """Returns text that may stand in a docstring."""
    return line(told).replace("\\", "/").replace('"', "'")
