"""Checks that one pair of inputs of noisy max has the largest ratio of all neighbours: standard library only.

Each answer is perturbed on its own by `noise`, the index of the largest is released, ties go to the first or
to all alike. The probability of an output depends only on the multisets of the answers on its axes: of the
answers before it, its own, and those behind it (where ties are uniform, of all others). For nonnegative
number r the bound Pr(o|x) ≤ r·Pr(o|y) for all neighbours y of x is Pr(o|x) ≤ r·min Pr(o|y). Where every
answer may change, the minimum is taken over one axis after the other; where one answer may, it is the least
of the minima over single axes. Multisets that differ by at most d in each element are matched in increasing
order: if any matching has all distances at most d, the increasing one has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import prod
from typing import Any

from .claims import KernelReport, Rejected
from .neighbour_shapes import LARGEST
from .polynomials import number
from .standing import check_everywhere, reach
from .strict import check

Axis = tuple[int, ...]
Table = dict[tuple[Axis, ...], Fraction]

MAX_ENTRIES = 2_000_000


MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)


def with_statements(document: Mapping[str, Any], report: KernelReport) -> KernelReport:
    """Returns the report on a document with its side condition, and on the pair that stands for others."""
    report = replace(report, side_condition=document.get("side_condition", ""))
    if not report.accepted or "reduction" not in document:
        return report
    try:
        about = document["reduction"]
        line = check_everywhere(about) if "domain" in about else check_largest(about)
        _check_question(about, document.get("claims", ()))
        return replace(report, lines=(*report.lines, line))
    except Rejected as error:
        line = f"rejected: {error}"
    except MALFORMED as error:
        line = f"rejected: malformed reduction: {error!r:.200}"
    return replace(report, accepted=False, lines=(*report.lines, line))


def _check_question(about: Mapping[str, Any], claims: Sequence[Mapping[str, Any]]) -> None:
    """Checks that the claims are about the pair of a statement, on the domain of the statement."""
    sides = (str(tuple(about[side])) for side in ("left", "right"))
    named = tuple(f"{one} against {other}, output " for one, other in permutations(sides))
    for entry in claims:
        if not all(origin.startswith(named) for origin in entry["origins"]):
            raise Rejected("a claim is about another pair than the one that stands for others")
        domain = about.get("domain", {})
        if any(entry["claim"][key] != value for key, value in domain.items()):
            raise Rejected("a claim is about another domain than the pair that stands for others")


def check_largest(document: Mapping[str, Any]) -> str:
    """Checks the statement, and returns it in words.

    Raises:
        Rejected: another pair has a larger ratio, or the pair is none.
    """
    check(document, LARGEST)
    noise = [[number(p) for p in row] for row in document["noise"]]
    values, n = len(noise), document["answers"]
    ties, differ, by = document["ties"], document["differ"], document["by"]
    left, right = tuple(document["left"]), tuple(document["right"])
    if any(len(row) != values or sum(row) != 1 or min(row) < 0 for row in noise):
        raise Rejected("the noise is no distribution")
    step = reach(by, values)
    _check_pair(left, right, n=n, values=values, differ=differ, step=step)
    best = Fraction(1)  # the ratio of the pair: the largest over outputs and directions
    for output in range(1, n + 1):
        top, bottom = (_probability(_axes(given, output, ties), noise, ties) for given in (left, right))
        if bool(top) != bool(bottom):
            raise Rejected("the ratio is not finite")
        best = max(best, top / bottom, bottom / top) if top else best
    for k in (
        [1] if ties == "uniform" else range(1, n + 1)
    ):  # uniform ties: permuting answers permutes outputs
        _check_output(_table(noise, _sizes(n, k, ties), ties), differ, step, best)
    return f"{left} against {right} has the largest ratio of all neighbours: {best}"


def _check_pair(left: Axis, right: Axis, n: int, values: int, differ: str, step: int) -> None:
    known = all(len(given) == n and all(0 <= v < values for v in given) for given in (left, right))
    changed = [abs(x - y) for x, y in zip(left, right, strict=False) if x != y]
    if not known or any(d > step for d in changed) or (differ == "one" and len(changed) > 1):
        raise Rejected("the pair is no pair of neighbouring inputs")


def _axes(given: Axis, output: int, ties: str) -> tuple[Axis, ...]:
    before, own, after = given[: output - 1], given[output - 1 : output], given[output:]
    return (own, before + after) if ties == "uniform" else (before, own, after)


def _sizes(n: int, output: int, ties: str) -> tuple[int, ...]:
    return (1, n - 1) if ties == "uniform" else (output - 1, 1, n - output)


def _probability(axes: tuple[Axis, ...], noise: list[list[Fraction]], ties: str) -> Fraction:
    """Returns Σ_v Pr(own answer becomes v and wins)."""
    zero = Fraction(0)
    total = zero
    for v in range(len(noise)):
        if ties == "first":
            before, (own,), after = axes
            wins = noise[own][v]
            for f in before:
                wins *= sum(noise[f][:v], zero)
            for f in after:
                wins *= sum(noise[f][: v + 1], zero)
            total += wins
            continue
        (own,), others = axes
        tied = [Fraction(1)]  # by the number of others that are v, the rest below
        for f in others:
            below, equal = sum(noise[f][:v], zero), noise[f][v]
            tied = [a * below + b * equal for a, b in zip([*tied, zero], [zero, *tied], strict=True)]
        total += noise[own][v] * sum((t / (k + 1) for k, t in enumerate(tied)), zero)
    return total


def _table(noise: list[list[Fraction]], sizes: tuple[int, ...], ties: str) -> Table:
    axes = [list(combinations_with_replacement(range(len(noise)), size)) for size in sizes]
    if prod(map(len, axes)) > MAX_ENTRIES:
        raise Rejected("too many classes of inputs to check")
    return {point: _probability(point, noise, ties) for point in product(*axes)}


def _check_output(table: Table, differ: str, step: int, best: Fraction) -> None:
    least = dict(table)
    for axis in range(len(next(iter(table)))):
        near = _near({point[axis] for point in table}, differ, step)
        source = least if differ == "each" else table
        found = {
            point: min(source[(*point[:axis], m, *point[axis + 1 :])] for m in near[point[axis]])
            for point in table
        }
        least = found if differ == "each" else {point: min(found[point], least[point]) for point in table}
    for point, probability in table.items():
        if probability > best * least[point]:
            raise Rejected(f"the answers {point} have a neighbour with a larger ratio")


def _near(multisets: set[Axis], differ: str, step: int) -> dict[Axis, list[Axis]]:
    """Returns the multisets that come of changing each element, or one, by at most the step."""
    if differ == "each":
        return {
            m: [w for w in multisets if all(abs(x - y) <= step for x, y in zip(m, w, strict=True))]
            for m in multisets
        }
    changed = {
        m: {
            tuple(sorted((*m[:k], w, *m[k + 1 :])))
            for k, v in enumerate(m)
            for w in range(v - step, v + step + 1)
        }
        for m in multisets
    }
    return {m: [w for w in found if w in multisets] or [m] for m, found in changed.items()}
