"""Evidence about compositions: bounds of δ for ε, or of ε for δ, computed again: standard library only.

`components` are releases, each made `times` times. A way has a pair of distributions that dominates, that is,
has at least the δ of each of its `pairs` for every ε; where it is one of them, it is the only one. With two
ways the first direction of neighbours is composed for itself, and the second one, and the larger δ counts.

Upper bounds are about the dominating pairs: their composition has at least the δ of every adaptive one
[ZhuDW22]. Lower bounds are about one pair of each release, the `choice` of its direction.

`exact` is a number that is reached: all masses are rational, and nothing is rounded. Otherwise each direction
says which grid it needs; see `convolutions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from .claims import KernelReport
from .composing import directions, is_single
from .composition_shapes import COMPOSITION
from .convolutions import LossGrid, LowerMasses, UpperMasses
from .logarithms import UNIT, Ends, exp
from .neighbours import MALFORMED
from .polynomials import number
from .releases import ExactLoss, loss_of
from .strict import Misformed, Rejected, check, counted, plain

FORMAT = "paramverify-composition"
STATUS = "composition"
DIGITS = 30
LEFT = ("releases of cases with their files",)  # what a document alone does not show


# --- what is asked ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeltaBounds:
    """The bounds of δ of all directions, for any ε."""

    above: list[tuple[UpperMasses, LossGrid]]
    below: list[LowerMasses]

    @staticmethod
    def of(document: Mapping[str, Any]) -> DeltaBounds:
        """Returns the bounds on the grids of a document."""
        every = directions(document)
        return DeltaBounds([each.upper() for each in every], [each.lower() for each in every])

    def most(self, epsilon: Ends) -> Fraction:
        """Returns an upper bound of δ."""
        return max(Fraction(side.delta(grid, epsilon), 1 << side.bits) for side, grid in self.above)

    def least(self, epsilon: Ends) -> Fraction:
        """Returns a lower bound of δ."""
        return max(Fraction(side.delta(epsilon), 1 << side.bits) for side in self.below)


@dataclass(frozen=True)
class ListedMasses:
    """The masses of all directions, exactly."""

    masses: list[dict[Fraction, Fraction]]

    def most(self, epsilon: Ends) -> Fraction:
        """Returns an upper bound of δ."""
        return max(exact_delta(each, Fraction(exp(*epsilon)[0], UNIT)) for each in self.masses)

    def least(self, epsilon: Ends) -> Fraction:
        """Returns a lower bound of δ."""
        return max(exact_delta(each, Fraction(exp(*epsilon)[1], UNIT)) for each in self.masses)


def bounds_of(document: Mapping[str, Any]) -> DeltaBounds | ListedMasses:
    """Returns bounds of δ for any ε: on grids, or exactly where a document has no spans."""
    if all(each["spans"] for each in document["directions"]):
        return DeltaBounds.of(document)
    return ListedMasses([each.exactly() for each in directions(document)])


def largest(document: Mapping[str, Any]) -> ExactLoss | None:
    """Returns the largest loss of a composition in any direction, where that of each release is exact."""
    found = []
    for direction in directions(document):
        total = ExactLoss()
        for losses, pairs, times in direction.releases:
            if losses.most is None or not is_single(losses, pairs):
                return None
            own = losses.most.times(times)
            total = ExactLoss(total.rational + own.rational, total.ratio * own.ratio)
        found.append(total)
    best, *others = found
    for other in others:
        known = best.rational == other.rational == 0
        (low, high), (least, most) = best.ends(), other.ends()
        if other != best and not known and low <= most and least <= high:
            return None  # which one is larger is not seen
        if other.ratio > best.ratio if known else least > high:
            best = other
    return best


def _between(loss: ExactLoss) -> tuple[Fraction, Fraction]:
    """Returns bounds of a loss, twice the same where it is rational."""
    if loss.ratio == 1:
        return loss.rational, loss.rational
    low, high = loss.ends()
    return Fraction(low, UNIT), Fraction(high, UNIT)


def epsilon_of(document: Mapping[str, Any]) -> Ends | None:
    """Returns bounds of the ε that is given, if one is; the ratio e^ε of `exact` ones is exact."""
    written = document["question"]
    if ("epsilon" in written) == ("delta" in written):
        raise Misformed("an epsilon or a delta", "question")
    if "epsilon" not in written:
        return None
    loss = loss_of(written["epsilon"])
    if loss.ends()[1] < 0:
        raise Misformed("below 0", "question", "epsilon")
    return loss.ends()


def exact_delta(masses: Mapping[Fraction, Fraction], c: Fraction) -> Fraction:
    """Returns δ for e^ε = c: Σ max(0, P − c·Q)."""
    return sum((p if not r else p * (1 - c / r) for r, p in masses.items() if not r or r > c), Fraction(0))


def exact_ratio(masses: Mapping[Fraction, Fraction], delta: Fraction) -> Fraction | None:
    """Returns the least c ≥ 1 with δ(ln c) ≤ delta; None: there is none.

    δ(c) is the largest P(S) − c·Q(S), and a set of the outputs with the largest P/Q has it.
    """
    p, q, best = masses.get(Fraction(0), Fraction(0)), Fraction(0), Fraction(1)
    if p > delta:
        return None
    for ratio in sorted((r for r in masses if r), reverse=True):
        p, q = p + masses[ratio], q + masses[ratio] / ratio
        best = max(best, (p - delta) / q)
    return best


def check_document(document: Any) -> KernelReport:
    """Checks evidence about a composition: its bounds are computed again.

    Malformed evidence of any kind gives a report that is not accepted.
    """
    try:
        check(document, COMPOSITION)
        about, shown = _check(document)
    except Rejected as error:
        return KernelReport(False, (f"rejected: {error}",))
    except MALFORMED as error:
        return KernelReport(False, (f"rejected: malformed document: {error!r:.200}",))
    left = LEFT if any(map(is_of_case, document["components"])) else ()
    lines = (*about, *shown)
    return KernelReport(True, lines, proved=len(shown), status=STATUS, not_compared=left)


def is_of_case(component: Mapping[str, Any]) -> bool:
    """Tells whether a release comes from a case, or is a table, which may come from anywhere."""
    release = component["ways"][0]["dominating"]
    while release["kind"] in ("sampled", "turned"):
        release = release["of"]
    return "case" in component or release["kind"] == "table"


def _check(document: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Returns what the evidence is about, and what was shown."""
    lines = [
        f"component {n + 1}: {told(each['ways'][0])}, {counted(each['times'], 'time')}"
        for n, each in enumerate(document["components"])
        if each["ways"]
    ]
    name, given = ("epsilon", "delta") if epsilon_of(document) is None else ("delta", "epsilon")
    lines.append(f"asked: the least {name} for {given} = {_value(document['question'][given])}")
    if document["exact"] is not None:
        return lines, [_check_exact(document)]
    return lines, check_bounds(document)


def check_bounds(document: Mapping[str, Any]) -> list[str]:
    """Computes bounds again; returns them in words.

    Raises:
        Rejected: they are not shown.
    """
    epsilon = epsilon_of(document)
    name = "delta" if epsilon is not None else "epsilon"
    if document["lower"] is None:
        raise Misformed("a bound is missing", "lower")
    low = number(document["lower"])
    high = None if document["upper"] is None else number(document["upper"])
    if low < 0 or (high is not None and high < low):
        raise Misformed("not bounds", "lower")
    lines = [f"{name} is at least {decimal(low)}: computed again"]
    lines += [] if high is None else [f"{name} is at most {decimal(high)}: computed again"]
    delta = Fraction(0) if epsilon is not None else number(document["question"]["delta"])
    if epsilon is None and not delta:
        most = largest(document)
        ends = None if most is None else _between(most)
        if ends is None or low > ends[0] or high is None:
            raise Misformed("the largest loss is not shown to be so large", "lower")
        if high < ends[1]:
            raise Misformed("the largest loss is not shown to be so small", "upper")
        return lines
    bounds = bounds_of(document)
    if epsilon is not None:
        if low and bounds.least(epsilon) < low:
            raise Misformed("delta is not shown to be so large", "lower")
        if high is not None and bounds.most(epsilon) > high:
            raise Misformed("delta is not shown to be so small", "upper")
    else:
        if low and bounds.least(ExactLoss(low).ends()) <= delta:
            raise Misformed("delta is not shown to be above the given one before", "lower")
        if high is not None and bounds.most(ExactLoss(high).ends()) > delta:
            raise Misformed("delta is not shown to be at most the given one from there", "upper")
    return lines


def _check_exact(document: Mapping[str, Any]) -> str:
    stated = number(document["exact"])
    if (document["lower"], document["upper"]) != (None, None):
        raise Misformed("a number is exact, or between bounds", "lower")
    if _is_largest(document, stated):
        name = "delta" if "epsilon" in document["question"] else "the ratio e^epsilon"
        return f"{name} is {plain(document['exact'], 60)}, exactly: the largest loss"
    every = [each.exactly() for each in directions(document)]
    if "epsilon" in document["question"]:
        loss = loss_of(document["question"]["epsilon"])
        if loss.rational:
            raise Misformed("for an epsilon that is no logarithm of a rational nothing is exact", "exact")
        if max(exact_delta(masses, loss.ratio) for masses in every) != stated:
            raise Misformed("delta is another number", "exact")
        return f"delta is {plain(document['exact'], 60)}, exactly: computed again"
    delta = number(document["question"]["delta"])
    ratios = [exact_ratio(masses, delta) for masses in every]
    if None in ratios or max(r for r in ratios if r is not None) != stated:
        raise Misformed("the ratio e^epsilon is another number", "exact")
    return f"the ratio e^epsilon is {plain(document['exact'], 60)}, exactly: computed again"


def _is_largest(document: Mapping[str, Any], stated: Fraction) -> bool:
    """Tells whether the largest loss shows a number: from it on δ is 0, and before it δ is above 0."""
    most = largest(document)
    if most is None:
        return False
    if "epsilon" in document["question"]:
        loss = loss_of(document["question"]["epsilon"])
        return not stated and (loss == most or most.ends()[1] <= loss.ends()[0])
    return not number(document["question"]["delta"]) and not most.rational and most.ratio == stated


def rate_of(component: Mapping[str, Any]) -> Fraction:
    """Returns the rate of the sample that a component is about, which is the same in all its releases.

    Raises:
        Rejected: it is about none.
    """
    release = component["ways"][0]["dominating"]
    if release["kind"] != "sampled":
        raise Rejected("two ways are those of a sample")
    return number(release["rate"])


def decimal(value: Fraction) -> str:
    """Returns a number as a decimal, where it is one of few digits; else as a fraction."""
    with localcontext() as context:
        context.prec = DIGITS
        found = Decimal(value.numerator) / Decimal(value.denominator)
    exact = Fraction(found) == value
    return str(found.normalize()).lower() if exact else plain(str(value), 60)


def told(way: Mapping[str, Any]) -> str:
    """Returns what a release is, in words."""
    release = way["dominating"]
    if release["kind"] == "table":
        pairs = max(1, len(way["pairs"]))
        return f"a table of {counted(len(release['outputs']), 'output')}, for {counted(pairs, 'pair')}"
    if release["kind"] in ("sampled", "turned"):
        inner = told({"dominating": release["of"], "pairs": []})
        return (
            f"{inner}, of a sample with rate {release['rate']}" if "rate" in release else f"{inner}, turned"
        )
    values = (f"{k} = {_value(v)}" for k, v in release.items() if k != "kind")
    return f"{release['kind']} with {', '.join(values)}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return plain(value, 60)
    rational, ratio = value
    parts = [rational] * (rational != "0") + [f"ln({ratio})"] * (ratio != "1")
    return plain(" + ".join(parts) or "0", 60)
