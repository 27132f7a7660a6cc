"""Compares the releases of a composition with what a second reader finds in a case: standard library only.

At the values of the parameters that a component has, it computes how likely each output is under each secret,
by brute force. Then for every pair and direction the dominating release of the evidence has at least its δ
for every ε, and the pairs of the evidence are among these: so both bounds are about the case.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..kernel.composition_evidence import dominates
from ..kernel.release_losses import ReleaseLosses, read, table
from ..kernel.strict_reading import Rejected, UnreadCase, counted
from .second_reader import SecondReader

MOST_PAIRS = 2_000


def compare(document: Mapping[str, Any], content: str, folder: Path | None) -> str:
    """Compares components, all of which are of one case file, and returns what was compared.

    Raises:
        Rejected: a difference was found. Unread: something cannot be compared.
    """
    count = 0
    for component in document["components"]:
        found = releases(SecondReader(content, None, folder, component["case"].get("set", {})))
        for way in component["ways"]:
            _compare(way, found)
        count += len(found)
    return f"{counted(count, 'pair')} of distributions agree with the components"


def releases(reader: SecondReader) -> list[ReleaseLosses]:
    """Returns the pairs of distributions of a case, in both directions.

    Raises:
        Unread: they are too many, or the case has parameters or several lengths.
    """
    points, lengths = reader.points(Fraction(1), 2), reader.lengths
    if len(points) != 1 or len(lengths) != 1:
        raise UnreadCase("a case with parameters, or with several lengths")
    pairs = dict.fromkeys(reader.pairs(points[0], Fraction(1)))
    if len(pairs) > MOST_PAIRS:
        raise UnreadCase("there are too many pairs")
    found = reader.at(points[0], Fraction(1), lengths)
    listed = []
    for pair in pairs:
        for left, right in (pair, pair[::-1]):
            one, other = found.words[left], found.words[right]
            if one is None or other is None:
                raise Rejected("a secret is impossible")
            zero = Fraction(0)
            listed.append(table([(one.get(w, zero), other.get(w, zero)) for w in {**one, **other}]))
    return listed


def _compare(way: Mapping[str, Any], found: list[ReleaseLosses]) -> None:
    whole = read(_inner(way["dominating"]))
    if not all(dominates(whole, each) for each in found):
        raise Rejected("a pair of the case is not dominated")
    own = [read(_inner(pair)) for pair in way["pairs"]] or [whole]
    for pair in own:
        if not any(dominates(pair, each) and dominates(each, pair) for each in found):
            raise Rejected("a pair of the evidence is not one of the case")


def _inner(release: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns what is sampled; pairs come in both directions, so it does not matter which is turned."""
    while release["kind"] in ("sampled", "turned"):
        release = release["of"]
    return release
