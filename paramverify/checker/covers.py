"""What makes a map of polynomial claims one about sets of outputs: standard library only.

`sums` of a region map are claims Σ max(0, tᵢ) ≤ room, as in `sets`, each with a tree of cuts of the whole
domain. A leaf `["set", k]` says: no term is open any more, and the goal f = room − Σ of the terms that count
is the claim number k of the map. On that part of the domain room − Σ max(0, tᵢ) is f. So

- at a point where all claims of the map hold, all sums are within their room;
- a claim of the map is room − Σ_{i∈S} tᵢ for a set S of terms: where it fails, the sum is above its room.

The second needs that each claim of the map is at a leaf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .goals import Context, Goal
from .polynomials import Poly, parse
from .sets import by_origin, follow_tree, same
from .strict import Misformed, Rejected, counted


def check_covers(document: Mapping[str, Any], expected: Sequence[Any] | None) -> str:
    """Checks the sums of a map and their trees; returns what was shown.

    `expected` are the claims about sums of the case, derived by the caller, each with one origin.

    Raises:
        Rejected: something is not shown, or the case has other sums.
    """
    domain = dict(document["domain"])
    if "constant" in domain:
        domain["box"] = {name: ends for name, ends in domain["box"].items() if name != "E"}
    claims = [parse(text, domain["variables"]) for text in document["claims"]]
    known = by_origin(None if expected is None else list(expected))
    settled: set[tuple[str, str, int]] = set()
    seen: set[int] = set()
    for index, entry in enumerate(document["sums"]):
        for origin in map(tuple, entry["origins"]):
            if origin in settled:
                raise Misformed("this direction was there before", "sums", index, "origins")
            settled.add(origin)
            if known is not None:
                same(entry, known.get(origin), "sums", index)
        seen |= _leaves(domain, entry, claims)
    if known is not None and known.keys() - settled:
        raise Rejected("a claim of the case has no tree")
    if seen != set(range(len(claims))):
        raise Rejected("a claim of the map is about no set of outputs")
    sums, sets = counted(len(settled), "sum"), counted(len(claims), "set")
    return f"{sums} over all sets of outputs: everywhere one of {sets} is the worst"


def _leaves(domain: Mapping[str, Any], entry: Mapping[str, Any], claims: Sequence[Poly]) -> set[int]:
    """Returns the numbers of the claims at the leaves of a tree."""
    seen: set[int] = set()

    def at_leaf(goal: Goal, token: Any, context: Context) -> None:
        if not 0 <= token[1] < len(claims) or goal.poly != claims[token[1]]:
            raise Rejected("a leaf of the tree names another claim")
        seen.add(token[1])

    trusted = follow_tree(domain, entry, at_leaf)
    if trusted:
        raise Rejected(f"a sign is known by a solver only: {', '.join(sorted(trusted))}")
    return seen
