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

from ..kernel.evidence_polynomials import number
from ..kernel.strict_reading import Rejected, UnreadCase, counted
from .second_evidence import Evidence
from .second_numbers import Finer
from .second_reader import SecondReader

MOST_PAIRS = 2_000

Release = list[tuple[Fraction, Fraction]]  # how likely each output is, under both secrets


def compare(evidence: Evidence, content: str, folder: Path | None) -> str:
    """Compares components, all of which are of one case file, and returns what was compared.

    Raises:
        Rejected: a difference was found. Unread: something cannot be compared.
    """
    count = 0
    for component in evidence.engine["components"]:
        found = releases(SecondReader(content, None, folder, component["case"].get("set", {})))
        for way in component["ways"]:
            _compare(way, found)
        count += len(found)
    return f"{counted(count, 'pair')} of distributions agree with the components"


def releases(reader: SecondReader) -> list[Release]:
    """Returns the pairs of distributions of a case, in both directions.

    Raises:
        Unread: they are too many, or the case has parameters or several lengths.
    """
    base = Fraction(1)  # not used, because no exponent is given
    points, lengths = reader.points(base, 2), reader.lengths
    if len(points) != 1 or len(lengths) != 1:
        raise UnreadCase("a case with parameters, or with several lengths")
    pairs = dict.fromkeys(reader.pairs(points[0], base))
    if len(pairs) > MOST_PAIRS:
        raise UnreadCase("there are too many pairs")
    reader.data["privacy"] = {"ratio": "1"}  # the bound is not looked at
    try:
        found = reader.masses(points[0], base, lengths)
    except Finer as error:
        raise UnreadCase(str(error)) from None
    listed = []
    for pair in pairs:
        for left, right in (pair, pair[::-1]):
            both = found.both(left, right, lengths[0])
            if both is None:
                raise Rejected("a secret is impossible")
            listed.append(both)
    return listed


def _compare(way: Mapping[str, Any], found: list[Release]) -> None:
    whole = _release(way["dominating"])
    if not all(_dominates(whole, each) for each in found):
        raise Rejected("a pair of the case is not dominated")
    own = [_release(pair) for pair in way["pairs"]] or [whole]
    for pair in own:
        if not any(_dominates(pair, each) and _dominates(each, pair) for each in found):
            raise Rejected("a pair of the evidence is not one of the case")


def _release(release: Mapping[str, Any]) -> Release:
    """Returns what is sampled; pairs come in both directions, so it does not matter which is turned."""
    while release["kind"] in ("sampled", "turned"):
        release = release["of"]
    if release["kind"] != "table":
        raise Rejected("a release of a case is no list of outputs")
    return [(number(p), number(q)) for p, q in release["outputs"]]


def _dominates(whole: Release, pair: Release) -> bool:
    """Tells whether one release has at least the δ of another one for every ε, from −∞ on.

    Both δ are convex, piecewise linear functions of c = e^ε from 0 on, so corners are enough, and the end.
    """
    corners = {p / q for known in (whole, pair) for p, q in known if q} | {Fraction(0)}
    return all(_delta(whole, c) >= _delta(pair, c) for c in corners)


def _delta(release: Release, c: Fraction) -> Fraction:
    return sum((max(Fraction(0), p - c * q) for p, q in release), Fraction(0))
