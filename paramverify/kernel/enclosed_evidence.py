"""Checks that no set of outputs of a program is too likely, or that one is, if its noise has no closed form.

The document has, for each input and each output, the ways through the program that put it out: each with its
weight, the noise that it draws, and the region of the noise that takes it. `noise_probabilities` bounds how
likely each way is, so there are p⁺ ≥ Pr(y | left) and q⁻ ≤ Pr(y | right) for each output y. With a bound c
and a number δ ≥ 0, which is 0 if the document has none:

holds      Σ max(0, p⁺ − c·q⁻) ≤ δ over all outputs y, for each direction of each pair. Then no set of outputs
           S has Pr(S | left) > c·Pr(S | right) + δ. An output whose ways are the same under both inputs adds
           nothing if c ≥ 1.
violated   for the outputs of the witness, Σ Pr(y | left) − c·Σ Pr(y | right) > δ, by the other ends.

That these are the ways of the program is not shown by the document: it needs the case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .evidence_polynomials import number
from .ledger import Evidence, KernelReport, Statement
from .noise_probabilities import NoiseLaw, NoisyPath, RegionEnclosures, check_noise
from .rounded_constants import BITS, UNIT, Ends, down, exp, up
from .strict_reading import Misformed, Rejected, plain

MAX_CELLS = 200_000  # of one centre

Rows = Mapping[str, Mapping[str, Ends]]  # bounds of the probabilities, by input and by output


def show(about: Evidence, statement: Statement) -> KernelReport:
    """Checks evidence about enclosed probabilities.

    Raises:
        Rejected: the enclosures do not show it.
    """
    status = about.document["status"]
    if ("witness" in statement) != (status == "violated"):
        raise Misformed("a witness is required with the status violated, and only then", "witness")
    chances = about.rows or rows_of(statement)
    pairs = [tuple(pair) for pair in statement["pairs"]]
    for k, pair in enumerate(pairs):
        if pair[0] == pair[1] or not set(pair) <= chances.keys():
            raise Misformed("a pair must name two of the inputs", "pairs", k)
    bound, delta = _bound(statement["bound"]), number(statement.get("delta", "0"))
    if delta < 0:
        raise Misformed("negative", "delta")
    lines = []
    directions = [each for left, right in pairs for each in ((left, right), (right, left))]
    if status == "holds":
        if not directions:
            raise Rejected("a claim of the case has no proof")
        for left, right in directions:
            told = f"{plain(left)} against {plain(right)}"
            same = {
                name
                for name, ways in statement["inputs"][left].items()
                if bound[0] >= UNIT and statement["inputs"][right].get(name) == ways
            }
            if _excess(chances[left], chances[right], bound, same) > down(delta):
                raise Rejected(f"the enclosures do not show the bound: {told}")
            lines.append(f"{told}: proved")
    elif status == "violated":
        _check_witness(statement["witness"], directions, chances, bound, up(delta))
        lines.append("witness: its outputs are too likely")
    return KernelReport(
        True,
        tuple(lines),
        proved=len(directions) if status == "holds" else 0,
        open=len(directions) if status == "unknown" else 0,
        status=status,
        unit="direction",
    )


def rows_of(statement: Statement) -> Rows:
    """Returns bounds of the probability of each output on each input.

    Raises:
        Rejected: they do not sum to 1, or a region has none.
    """
    cells = statement["cells"]
    if not all(1 <= count <= MAX_CELLS for count in cells):
        raise Misformed("not a number of cells", "cells")
    noise = [NoiseLaw(kind, number(value)) for kind, value in statement["noise"]]
    for each in noise:
        check_noise(each)
    enclosures = RegionEnclosures((cells[0], cells[1]))
    found: dict[str, dict[str, Ends]] = {}
    for name, outputs in statement["inputs"].items():
        row = found.setdefault(name, {})
        for output, ways in outputs.items():
            bounds = [enclosures.chance(_path(way, noise)) for way in ways]
            row[output] = sum(low for low, _ in bounds), min(UNIT, sum(high for _, high in bounds))
        if not sum(low for low, _ in row.values()) <= UNIT <= sum(high for _, high in row.values()):
            raise Misformed("the probabilities of the outputs do not sum to 1", "inputs", name)
    return found


def _path(written: Mapping[str, Any], noise: list[NoiseLaw]) -> NoisyPath:
    weight = number(written["weight"])
    if not 0 < weight <= 1 or not all(0 <= k < len(noise) for k in written["noise"]):
        raise Rejected("a way has weight 0, or lacks its noise")
    drawn = tuple(noise[k] for k in written["noise"])
    region = []
    for slopes, bound in written["region"]:
        form = tuple((v, number(slope)) for v, slope in slopes)
        names = [v for v, _ in form]
        if (
            not names
            or len(set(names)) < len(names)
            or not all(slope and 0 <= v < len(drawn) for v, slope in form)
        ):
            raise Rejected("an inequality uses noise that is not drawn, or no noise")
        region.append((form, number(bound)))
    return NoisyPath(weight, drawn, tuple(region))


def _bound(written: Mapping[str, str]) -> Ends:
    value = number(written["value"])
    if written["of"] == "epsilon":
        return exp(down(value), up(value))
    if value <= 0:
        raise Misformed("not positive", "bound", "value")
    return down(value), up(value)


def _excess(left: Mapping[str, Ends], right: Mapping[str, Ends], bound: Ends, same: set[str]) -> int:
    """Returns a number that Σ max(0, p − c·q) is not above, over all outputs but some."""
    least = {name: (bound[0] * low) >> BITS for name, (low, _) in right.items()}
    return sum(max(0, left[name][1] - least.get(name, 0)) for name in left.keys() - same)


def _check_witness(
    witness: Mapping[str, Any], directions: list[tuple[str, str]], chances: Rows, bound: Ends, delta: int
) -> None:
    (left, right), outputs = witness["secrets"], witness["outputs"]
    if (left, right) not in directions:
        raise Misformed("not a direction of the pairs", "witness", "secrets")
    if not outputs or len(set(outputs)) < len(outputs):
        raise Misformed("no outputs, or one twice", "witness", "outputs")
    if not set(outputs) <= chances[left].keys() | chances[right].keys():
        raise Misformed("not outputs of the program", "witness", "outputs")
    one = sum(chances[left][name][0] for name in outputs if name in chances[left])
    other = sum(chances[right][name][1] for name in outputs if name in chances[right])
    if one + ((-bound[1] * other) >> BITS) <= delta:
        raise Rejected("the enclosures do not show that the witness is beyond the bounds")
