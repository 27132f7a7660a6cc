"""Which backend to start first: a decision tree that was learned from measured attempts.

The tree is data (`order.json`), to be read by people as well: inner nodes compare one feature of a claim with
a number. Leaves have the backends in the order in which they start on claims like that, and the seconds that
each needed. That is not the order of these seconds: the second backend is the one that helps most where the
first fails. It only orders a race, so a
wrong tree changes no verdict. The environment variable `PARAMVERIFY_ORDER` names another tree, or is `off`.
`benchmarks/learn_order.py` learns one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from paramverify.algebra.polynomials import variables
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.files import read_file

OWN = Path(__file__).with_name("order.json")
MAX_BYTES = 1_000_000
FEATURES = ("variables", "degree", "terms", "constraints", "even", "touching")


@dataclass(frozen=True)
class LearnedLeaf:
    """Claims that are alike: how many there were, and who starts first, with the typical seconds of each."""

    claims: int
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class Split:
    """Claims whose `feature` is at most `at`, and the others."""

    feature: str
    at: float
    below: Split | LearnedLeaf
    above: Split | LearnedLeaf


def features(claim: Claim) -> dict[str, float]:
    """Returns what a tree may ask of a claim: one number for each of `FEATURES`.

    These are how many variables occur, the total degree, the number of terms and that of constraints. `even`
    is 1 where all exponents are even, `touching` is 1 where the polynomial vanishes at the origin.
    """
    polynomial = claim.polynomial
    exponents = [tuple(map(int, powers)) for powers in polynomial.monoms()]
    totals = [sum(powers) for powers in exponents]
    numbers = (
        len(variables(polynomial)),
        max(totals, default=0),
        len(totals),
        len(claim.domain.constraints),
        all(power % 2 == 0 for powers in exponents for power in powers),
        min(totals, default=0) > 0,
    )
    return dict(zip(FEATURES, map(float, numbers), strict=True))


def leaf(tree: Split | LearnedLeaf, found: Mapping[str, float]) -> LearnedLeaf:
    """Returns the leaf to which the features of a claim lead."""
    while isinstance(tree, Split):
        tree = tree.below if found[tree.feature] <= tree.at else tree.above
    return tree


def ordered(names: Sequence[str], claim: Claim) -> Sequence[str]:
    """Returns the names in the order of the tree for claims like this one; those it does not know come last.

    Raises:
        InputError: the tree that the user names is none.
    """
    tree = chosen_tree()
    if tree is None:
        return names
    places = {name: place for place, name in enumerate(leaf(tree, features(claim)).seconds)}
    return sorted(names, key=lambda name: places.get(name, len(places)))


def tree_of(data: Any) -> Split | LearnedLeaf:
    """Reads a tree from JSON data.

    Raises:
        InputError: it is none.
    """
    match data:
        case {"claims": int(claims), "seconds": dict(seconds)}:
            if all(isinstance(s, (int, float)) and isinstance(n, str) for n, s in seconds.items()):
                return LearnedLeaf(claims, dict(seconds))
        case {"feature": str(feature), "at": int() | float() as at, "below": below, "above": above}:
            if feature in FEATURES:
                return Split(feature, float(at), tree_of(below), tree_of(above))
    raise InputError(f"not a node of a tree for the order of backends: {str(data)[:100]}")


@cache
def _read(path: Path) -> Split | LearnedLeaf:
    try:
        return tree_of(json.loads(read_file(path, MAX_BYTES, "a tree for the order of backends")))
    except (ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"not JSON, or numbers that are too large: {error}", file=str(path)) from None


def chosen_tree() -> Split | LearnedLeaf | None:
    """Returns the tree that orders races; None where it is switched off.

    Raises:
        InputError: the file that the user names is no tree.
    """
    given = os.environ.get("PARAMVERIFY_ORDER")
    if given == "off":
        return None
    return _read(Path(given) if given else OWN)
