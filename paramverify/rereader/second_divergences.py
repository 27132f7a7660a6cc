"""Bounds on sums over all outputs, compared with what a second reader finds: standard library only.

Each is a functional of a direction (left, right) of a secret pair and a length. A claim of the evidence names
its directions; where the case is said to hold, each direction has a claim, and the functional of what the
second reader finds is within the bound. What is compared of a claim depends on the functional:

- sets: let e be Σ_w max(0, Pr(w|left) − bound·Pr(w|right)). The claim room − Σ max(0, tᵢ) ≥ 0 and δ − e ≥ 0
  have room = s·δ, Σ max(0, tᵢ) = s·e and Σ tᵢ = s·(1 − bound), with a function s > 0 of the parameters
  (masses and denominators). At a random point in a cell of a map that is said to be private, e ≤ δ; in one
  that is not, some e > δ at such a point with the cell's own values of the other parameters.
- an order α: let S be Σ_w Pr(w|left)^α/Pr(w|right)^(α−1) and B its bound. The claim f ≥ 0 has f = s·(B − S)
  with s > 0 (masses, denominators, and probabilities on the right), so f has the sign of B − S.
- `kl` and `zcdp`: a claim has polynomials total, p_i and q_i. The numbers |p_i|/|total| and |q_i|/|total| are
  the probabilities of the sequences, where outputs with one quotient are put together.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Generic, TypeVar

from ..kernel.evidence_polynomials import number
from ..kernel.rounded_constants import UNIT, exp, ln
from ..kernel.strict_reading import Rejected, UnreadCase, counted
from .second_comparison import At, Found, Functional, PointwiseComparison
from .second_evidence import LOSSES, SETS, Evidence, StatedWitness, Statement, is_merged, origins, point_of
from .second_numbers import Calculator, of_logarithm
from .second_points import draws, point_in
from .second_reader import PointProbabilities, SecondReader

ZERO = Fraction(0)
ORDERS = [Fraction(n, 16) for n in (17, 24, 32, 64, 256)]
MOST_CELLS = 100  # of a map, each looked at in one point
WIDE = Fraction(1, 10**9)  # how much wider the ends of a divergence may be than they have to be
NEAR = Fraction(1, 10**40)  # E is a rational that is nearer to exp(q) than this by far

Own = TypeVar("Own")  # what is found of a direction at a point
Ends = tuple[Fraction, Fraction]
Triple = tuple[Fraction, Fraction, Fraction]  # δ, the sum, and 1 − bound
Direction = tuple[str, str, int]  # left, right, length
Shares = dict[Fraction | None, tuple[Fraction, Fraction]]


class SumOfOutputs(Functional, Generic[Own]):
    """A functional with one number for each direction and length."""

    missed = False  # whether the chance of a difference is known
    counted = ("{} of probabilities", "sum")  # what is counted, in words

    def __init__(self) -> None:
        self.seen: set[Direction] = set()
        self.known: list[tuple[Statement, list[object]]] = []
        self.signs: dict[tuple[object, ...], int] = {}  # of claims at points, where these are compared

    def stated(self, evidence: Evidence) -> Iterable[Statement]:
        """Returns the claims, whose origins are directions."""
        raise NotImplementedError

    def name(self, direction: Direction) -> object:
        """Returns a direction as claims have it."""
        return direction

    def merged(self, claim: Statement) -> bool:
        """Whether a claim may be about more directions than it names."""
        del claim
        return False

    def own(self, look: PointwiseComparison, found: PointProbabilities, way: Direction, at: At) -> Own | None:
        """Returns what is found of a direction at a point; None where nothing is compared."""
        raise NotImplementedError

    def is_broken(self, look: PointwiseComparison, own: Own) -> bool:
        """Tells whether it is beyond the bound."""
        raise NotImplementedError

    def agrees(self, look: PointwiseComparison, claim: Statement, own: Own, at: At) -> bool:
        """Tells whether a claim says the same at a point."""
        raise NotImplementedError

    def start(self, look: PointwiseComparison, found: Found) -> None:
        """Reads the claims."""
        del found
        self.known = [(claim, origins(claim)) for claim in self.stated(look.evidence)]

    def compare(self, look: PointwiseComparison, found: Found, pair: tuple[str, str], length: int) -> None:
        """Compares both directions with their claims."""
        for left, right in (pair, pair[::-1]):
            way = (left, right, length)
            self.seen.add(way)
            each = zip(found.masses, found.points, strict=True)
            values = [(self.own(look, masses, way, at), at) for masses, at in each]
            rows: list[tuple[Own, At]] = [(own, at) for own, at in values if own is not None]
            if look.evidence.holds and any(self.is_broken(look, own) for own, _ in rows):
                raise Rejected(f"the bound is broken by {left!r} against {right!r}")

            def fits(claim: Statement, known: list[tuple[Own, At]] = rows) -> bool:
                return all(self.agrees(look, claim, own, at) for own, at in known)

            named = [claim for claim, names in self.known if self.name(way) in names]
            if not all(map(fits, named)):
                raise Rejected(f"the evidence has another claim about {left!r} against {right!r}")
            others = (claim for claim, _ in self.known if self.merged(claim))
            if look.evidence.holds and not named and not any(map(fits, others)):
                raise Rejected(f"no claim is about {left!r} against {right!r}")

    def close(self, look: PointwiseComparison, found: Found) -> str:
        """Checks that claims are about directions of the case."""
        del look
        known = set(map(self.name, self.seen))
        if any(not known.issuperset(names) for _, names in self.known):
            raise Rejected("the case does not compare a direction of the evidence")
        words, what = self.counted
        missed = found.missed if self.missed else ""
        said = words.format(counted(len(self.seen), what))
        return f"{said} at {found.where} agree with the claims{missed}"


# --- sets of outputs --------------------------------------------------------------------------------


class PositiveParts(SumOfOutputs[Triple]):
    """Σ max(0, Pr(w|left) − bound·Pr(w|right)), which is at most δ."""

    of_witness = "the probabilities of the set of outputs agree"

    def prepare(self, reader: SecondReader, evidence: Evidence) -> None:
        stated = evidence.budget
        if stated is not None:
            other = "epsilon" if stated["kind"] == "delta" else "delta"
            bounds = {other: stated["given"], stated["kind"]: stated["enough"] or "1"}
            kept = ("epsilon", "ratio", "delta")
            own = {k: v for k, v in reader.data["privacy"].items() if k not in kept}
            reader.data["privacy"] = {**own, **bounds}

    def check_case(self, look: PointwiseComparison) -> None:
        if "delta" not in look.reader.data["privacy"]:
            raise Rejected("the case has no delta")

    def stated(self, evidence: Evidence) -> Iterable[Statement]:
        return evidence.stated(SETS)

    def own(
        self, look: PointwiseComparison, found: PointProbabilities, way: Direction, at: At
    ) -> Triple | None:
        excess = _excess(found, way)
        return None if excess is None else (_delta(look, at), excess, 1 - found.bound(*way[:2]))

    def is_broken(self, look: PointwiseComparison, own: Triple) -> bool:
        return own[1] > own[0]

    def agrees(self, look: PointwiseComparison, claim: Statement, own: Triple, at: At) -> bool:
        terms = [look.value(text, *at) for text in claim["terms"]]
        room = look.value(claim["room"], *at)
        found = (room, sum((t for t in terms if t > 0), ZERO), sum(terms, ZERO))
        if not any(found) and not any(own):
            return True  # every positive number will do
        scale = next((f / o for f, o in zip(found, own, strict=True) if o), ZERO)
        return scale > 0 and all(f == scale * o for f, o in zip(found, own, strict=True))

    def close(self, look: PointwiseComparison, found: Found) -> str:
        line, draw = super().close(look, found), draws(look.evidence.document)
        cells = look.evidence.engine.get("cells", [])
        for cell in draw.sample(cells, min(len(cells), MOST_CELLS)):
            sides = zip(look.evidence.engine["free"], cell["box"], strict=True)
            box = {name: (number(low), number(high), True, True) for name, (low, high) in sides}
            inner = point_in({**look.reader.intervals, **box}, draw)
            at = (inner | point_of(cell.get("at", {})), look.bases[0])
            if cell["status"] not in ("safe", "violating") or not look.reader.has(*at):
                continue
            if self._is_broken(look, at) is (cell["status"] == "safe"):
                told = "broken in a cell that is said to be private"
                if cell["status"] == "violating":
                    told = "kept in a cell that is said not to be private"
                raise Rejected(f"the bounds are {told}")
        return line

    @staticmethod
    def _is_broken(look: PointwiseComparison, at: At) -> bool:
        """Tells whether some set of outputs is too likely at a point."""
        found, delta = look.reader.masses(*at, look.reader.lengths), _delta(look, at)
        ways = [
            (*way, n)
            for a, b in look.reader.pairs(*at)
            for way in ((a, b), (b, a))
            for n in look.reader.lengths
        ]
        sums = (_excess(found, way) for way in ways)
        return any(excess is not None and excess > delta for excess in sums)

    def witness(self, look: PointwiseComparison, stated: StatedWitness, base: Fraction, own: bool) -> None:
        point, found = look.at_witness(stated, base)
        left, right = stated.secrets
        outputs = {tuple(output) for output in stated.get("outputs")}
        if {len(output) for output in outputs} != {stated.length}:
            raise Rejected("the outputs have another length")
        p, q = (sum((found.of(name, w) for w in outputs), ZERO) for name in (left, right))
        bound, delta = found.bound(left, right), _delta(look, (point, base))
        if not own and (budget := look.evidence.budget):
            if budget["kind"] == "delta":
                delta = p - bound * q
            else:
                bound = (p - delta) / q if q else Fraction(1)
        told = [*stated.get("probabilities"), *(stated.get(name) for name in ("bound", "delta", "beyond"))]
        look.check_numbers((p, q, bound, delta, p - bound * q), told, base, stated)
        if not own:
            return
        if p - bound * q <= delta:
            raise Rejected("the set is within the bounds")
        excess = _excess(found, (left, right, stated.length)) or ZERO
        if not self.agrees(look, stated.get("claim"), (delta, excess, 1 - bound), (point, base)):
            raise Rejected(f"the evidence has another claim about {left!r} against {right!r}")


def _delta(look: PointwiseComparison, at: At) -> Fraction:
    """Returns the delta of the case at a point."""
    found = look.reader.delta(*at)
    if not 0 <= found <= 1:
        raise Rejected("delta is not a probability")
    return found


def _excess(found: PointProbabilities, way: Direction) -> Fraction | None:
    """Returns Σ_w max(0, Pr(w|left) − bound·Pr(w|right)); None where a secret is impossible."""
    pairs, bound = found.both(*way), found.bound(*way[:2])
    return None if pairs is None else sum((max(ZERO, p - bound * q) for p, q in pairs), ZERO)


# --- divergences of an order ------------------------------------------------------------------------


class Moments(SumOfOutputs[int]):
    """Σ_w Pr(w|left)^α/Pr(w|right)^(α−1), compared by the sign of what its bound leaves."""

    of_witness = "the sum of the witness agrees"
    of_budget = "the sums of {} witnesses agree"
    drawn = False
    counted = ("{} of all outputs", "sum")

    def stated(self, evidence: Evidence) -> Iterable[Statement]:
        return evidence.signs_everywhere

    def name(self, direction: Direction) -> object:
        left, right, length = direction
        about = "" if length == 1 else f" of length {length}"
        return f"{left} against {right}, all outputs{about} together"

    def merged(self, claim: Statement) -> bool:
        return is_merged(claim)

    def own(self, look: PointwiseComparison, found: PointProbabilities, way: Direction, at: At) -> int | None:
        pairs = found.both(*way)
        total = ZERO if pairs is None else self._sum(look, pairs)
        gap = found.bound(*way[:2]) - total if pairs is not None and total is not None else ZERO
        return -1 if total is None else (gap > 0) - (gap < 0)

    def is_broken(self, look: PointwiseComparison, own: int) -> bool:
        return own < 0

    def agrees(self, look: PointwiseComparison, claim: Statement, own: int, at: At) -> bool:
        key = (claim["polynomial"], *at[0].values(), at[1])
        if key not in self.signs:
            value = look.value(claim["polynomial"], *at)
            self.signs[key] = (value > 0) - (value < 0)
        return self.signs[key] in (0, own)

    @staticmethod
    def _sum(look: PointwiseComparison, pairs: Iterable[tuple[Fraction, Fraction]]) -> Fraction | None:
        """Returns S; None for infinity."""
        order, total = look.reader.order or 1, ZERO
        for p, q in pairs:
            if p and not q:
                return None
            total += p**order / q ** (order - 1) if p else ZERO
        return total

    def witness(self, look: PointwiseComparison, stated: StatedWitness, base: Fraction, own: bool) -> None:
        if stated.get("order") != look.reader.order:
            raise Rejected("the sum is of another order, or about another length")
        point, found = look.at_witness(stated, base)
        total = self._sum(look, found.both(*stated.secrets, stated.length) or ())
        told = stated.get("moment")
        if (told == "infinity") != (total is None):
            raise Rejected("the evidence has another sum for the witness")
        if total is not None and total != look.exact(told, base):
            raise Rejected(f"the sum of the witness is {total!s:.60}, not {told!s:.60}")
        look.check_largest(stated, found, base)
        if not own:
            return
        bound = found.bound(*stated.secrets)
        if bound != look.exact(stated.get("bound"), base):
            raise Rejected("the evidence has another bound")
        if total is not None and total <= bound:
            raise Rejected("the witness is within the bound")
        if look.value(stated.get("claim")["polynomial"], point, base) >= 0:
            raise Rejected("the evidence has another claim for the witness")


# --- averages with logarithms -----------------------------------------------------------------------


class Averages(SumOfOutputs[Shares]):
    """`kl` and `zcdp`, compared by the probabilities of the outputs."""

    of_witness = "the divergence of the witness agrees"
    missed = True
    counted = ("the probabilities of {}", "direction")
    measure = ""
    bound: Ends = (ZERO, ZERO)

    def check_case(self, look: PointwiseComparison) -> None:
        loss, budget, stated = look.reader.loss, look.evidence.budget, look.evidence.about_all
        self.measure = str(stated["of"] if stated else budget and budget["kind"])
        if loss is None or loss[0] != self.measure:
            raise Rejected("the case has another measure")
        if budget and budget["kind"] != self.measure:
            raise Rejected("the budget is about another measure")
        if budget and budget["enough"] is None:
            return
        start, logarithms = stated["bound"]
        parts = [(number(text), number(factor)) for factor, text in logarithms]
        self.bound = told = sum_between([(None, number(start)), *parts])
        if budget:
            if told != (Fraction(budget["enough"]), Fraction(budget["enough"])):
                raise Rejected("the bound of the claims is not the number that is said to be enough")
            return
        own = value_between(look.reader.calculator({}, Fraction(1)), loss[1])
        if told[1] < own[0] or own[1] < told[0] or own[1] - own[0] > NEAR:
            raise Rejected("the evidence has another bound")

    def stated(self, evidence: Evidence) -> Iterable[Statement]:
        return evidence.stated(LOSSES)

    def own(
        self, look: PointwiseComparison, found: PointProbabilities, way: Direction, at: At
    ) -> Shares | None:
        pairs = found.both(*way)
        return None if pairs is None else together(pairs)

    def is_broken(self, look: PointwiseComparison, own: Shares) -> bool:
        if None in own:
            return True
        limit = self.bound[1]
        if self.measure == "kl":
            return divergence(own, None)[0] > limit + NEAR
        return any(divergence(own, order)[0] > limit * order + NEAR for order in ORDERS)

    def agrees(self, look: PointwiseComparison, claim: Statement, own: Shares, at: At) -> bool:
        total = abs(look.value(claim["total"], *at))
        if not total:
            raise Rejected("the total of a claim is 0 where both secrets are possible")
        pairs = ((abs(look.value(text, *at)) / total for text in pair) for pair in claim["outputs"])
        return own == together((p, q) for p, q in pairs)

    def witness(self, look: PointwiseComparison, stated: StatedWitness, base: Fraction, own: bool) -> None:
        if stated.get("measure") != self.measure:
            raise Rejected("the evidence has another divergence, or one for another length")
        point, found = look.at_witness(stated, base)
        known = together(found.both(*stated.secrets, stated.length) or ())
        if own and not self.agrees(look, stated.get("claim"), known, (point, base)):
            raise Rejected("the evidence has another claim for the witness")
        self._divergence(stated, known, own)
        look.check_largest(stated, found, base)

    def _divergence(self, stated: StatedWitness, known: Shares, own: bool) -> None:
        told = stated.get("value")
        if (told == "infinity") != (None in known):
            raise Rejected("the evidence has another divergence for the witness")
        if told == "infinity":
            return
        order = None if stated.get("order") is None else Fraction(stated.get("order"))
        value, ends = divergence(known, order), [Fraction(end) for end in told]
        wide = ends[1] - ends[0] > value[1] - value[0] + WIDE
        if ends[1] < ends[0] or wide or ends[1] < value[0] - NEAR or value[1] + NEAR < ends[0]:
            raise Rejected("the evidence has another divergence for the witness")
        if own and value[1] < self.bound[0] * (order or 1) - NEAR:
            raise Rejected("the witness is within the bound")


def together(pairs: Iterable[tuple[Fraction, Fraction]]) -> Shares:
    """Returns the sums of the probabilities of outputs with one quotient; None stands for division by 0."""
    found: Shares = {}
    for p, q in pairs:
        if p or q:
            quotient = p / q if q else None
            one, other = found.get(quotient, (ZERO, ZERO))
            found[quotient] = one + p, other + q
    return found


def divergence(own: Shares, order: Fraction | None) -> Ends:
    """Returns bounds of a finite divergence: of an order above 1, without one of KL.

    With r = p/q it is Σ p·ln r, and ln(Σ q·r^α)/(α − 1).
    """
    low = high = ZERO
    for quotient, (p, q) in own.items():
        if not quotient:
            continue
        ends = ln(quotient)
        if order is not None:
            below, above = (order * end for end in ends)
            ends = exp(below.numerator // below.denominator, -(-above.numerator // above.denominator))
        factor = p if order is None else q
        low, high = low + factor * ends[0], high + factor * ends[1]
    if order is None:
        return low / UNIT, high / UNIT
    return Fraction(ln(low / UNIT)[0], UNIT) / (order - 1), Fraction(ln(high / UNIT)[1], UNIT) / (order - 1)


def value_between(at: Calculator, given: Any) -> Ends:
    """Returns bounds of an expression: a sum of numbers and of multiples of logarithms of numbers."""
    factors = at.linear(given)
    if not all(of_logarithm(name) for name in factors if name):
        raise UnreadCase(f"the bound {given!r:.60} has another form")
    return sum_between((of_logarithm(name), factor) for name, factor in factors.items())


def sum_between(parts: Iterable[tuple[Fraction | None, Fraction]]) -> Ends:
    """Returns bounds of a sum of numbers, each perhaps times a logarithm of the number before it."""
    low = high = ZERO
    for logarithm, factor in parts:
        ends = [factor * Fraction(end, UNIT) for end in ln(logarithm)] if logarithm else [factor]
        low, high = low + min(ends), high + max(ends)
    return low, high
