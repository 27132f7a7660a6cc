"""Compares evidence about divergences with what a second reader finds in the case: standard library only.

Compares evidence about sets of outputs with what a second reader finds in the case: standard library only.

For a direction (left, right) of a secret pair and a length, e is Σ_w max(0, Pr(w|left) − bound·Pr(w|right)).
The claim room − Σ max(0, tᵢ) ≥ 0 of the case and δ − e ≥ 0 agree in this sense: room = s·δ, Σ max(0, tᵢ) =
s·e and Σ tᵢ = s·(1 − bound), with a function s > 0 of the parameters (masses and denominators). That is what
is compared at points, and:

- points that the second reader finds in the domain are in the domain of the claims, and the other way round;
- where the case is said to hold, e ≤ δ at the points, and each direction and length has its claim;
- at the points in a cell of a map that is said to be private, e ≤ δ; in one that is not, some e > δ;
- a witness has the point, the names, the probabilities and the bounds that the second reader finds.

For a direction (left, right) of a secret pair, let S be Σ_w Pr(w|left)^α/Pr(w|right)^(α−1) and B its bound.
The claim f ≥ 0 of the case has f = s·(B − S) with a function s > 0 of the parameters (masses, denominators,
and probabilities on the right). So at points inside of the domain f has the sign of B − S. That is compared,
and:

- points that the second reader finds in the domain are in the domain of the claims, and the other way round;
- where the case is said to hold, S ≤ B at the points, and each direction and length has a claim that agrees;
- a witness has the point, the names, the sum, the probabilities and the bound that the second reader finds.

Compares evidence about `kl` and `zcdp` with what a second reader finds in the case: standard library only.

For a direction (left, right) of a secret pair and a length, a claim has polynomials total, p_i and q_i. At
points inside of the domain the numbers |p_i|/|total| and |q_i|/|total| are compared with the probabilities of
the sequences, where outputs with one quotient are put together. Besides that,

- points that the second reader finds in the domain are in the domain of the claims, and the other way round;
- the bound, which is read again, has the value of that in the evidence;
- where the case is said to hold, each direction has its claim, and the divergence at the points is not above
  the bound: of `zcdp` at some orders;
- a witness has the point, the names, the divergence and the probabilities that the second reader finds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from ..kernel.evidence_polynomials import number
from ..kernel.loss_enclosures import Distribution, is_infinite, value_of
from ..kernel.loss_evidence import bound_of
from ..kernel.rounded_constants import UNIT, ln
from ..kernel.strict_reading import Rejected, UnreadCase, counted
from .second_comparison import MAX_COMPARED, PointwiseComparison
from .second_numbers import Calculator
from .second_processes import Words
from .second_reader import MAX_WORDS, PointProbabilities

# --- second sets ------------------------------------------------------------------------------------

ZERO = Fraction(0)


class SetLook(PointwiseComparison):
    """One comparison of evidence about sets of outputs."""

    KINDS = ("paramverify-sets", "paramverify-regions")

    def _bases(self) -> list[Fraction]:
        """Takes the bounds of a least delta or ratio instead of those of the case, before anything else."""
        stated = self.document.get("budget")
        if stated is not None:
            other, one = ("epsilon", "1") if stated["kind"] == "delta" else ("delta", "1")
            bounds = {other: stated["given"], stated["kind"]: stated["enough"] or one}
            kept = ("epsilon", "ratio", "delta")
            own = {k: v for k, v in self.reader.data["privacy"].items() if k not in kept}
            self.reader.data["privacy"] = {**own, **bounds}
        return super()._bases()

    def compare(self) -> str:
        """Compares, and returns what was compared.

        Raises:
            Rejected: a difference was found. Unread: something cannot be compared.
        """
        if set(self.names) != self.reader.intervals.keys():
            raise Rejected(f"the parameters are {', '.join(self.reader.intervals)}")
        if "delta" not in self.reader.data["privacy"]:
            raise Rejected("the case has no delta")
        if "witness" in self.document:
            return self._set(self.document["witness"])
        if "box" in self.claim:
            self._domain()
        self._needs()
        return self._sums(self.reader.lengths)

    def _sums(self, lengths: list[int]) -> str:
        if not lengths or (lengths != [1] and sum(self._outputs() ** n for n in lengths) > MAX_WORDS):
            raise UnreadCase("there are too many sequences")
        entries = self.document["sums" if self.kind == "paramverify-regions" else "claims"]
        claims = {tuple(o): claim for claim in entries for o in claim["origins"]}
        holds = self.document.get("status") == "holds"
        points = self._points()
        seen: set[tuple[str, str, int]] = set()
        for point, base in points:
            found = self.reader.at(point, base, lengths)
            delta = self._delta(point, base)
            own = dict.fromkeys(self.reader.pairs(point, base))
            if len(own) * max((len(w) for w in found.words.values() if w), default=0) > MAX_COMPARED:
                raise UnreadCase("there are too many pairs and sequences")
            for pair in own:
                for left, right in (pair, pair[::-1]):
                    for length in lengths:
                        seen.add((left, right, length))
                        claim = claims.get((left, right, length))
                        if claim is None and holds:
                            raise Rejected(f"no claim is about {left!r} against {right!r}")
                        excess = _excess(found, left, right, length)
                        if excess is None:
                            continue
                        if holds and excess > delta:
                            raise Rejected(f"the bound is broken by {left!r} against {right!r}")
                        if claim is not None:
                            self._agree(claim, point, base, (delta, excess, 1 - found.bound(left, right)))
        if claims.keys() - seen:
            raise Rejected("the case does not compare a direction of the evidence")
        for point, base in points:
            self._cells(point, base, lengths)
        at = counted(len(points), "point")
        return f"{counted(len(seen), 'sum')} of probabilities at {at} agree with the claims"

    def _cells(self, point: Mapping[str, Fraction], base: Fraction, lengths: list[int]) -> None:
        """Checks what a map says of a point."""
        for cell in self.document.get("cells", ()):
            sides = zip(self.document["free"], cell["box"], strict=True)
            if not all(number(low) <= point[name] <= number(high) for name, (low, high) in sides):
                continue
            at = {**point, **{name: number(value) for name, value in cell.get("at", {}).items()}}
            if cell["status"] == "safe" and self._broken(point, base, lengths):
                raise Rejected("the bounds are broken in a cell that is said to be private")
            inside = cell["status"] == "violating" and self.reader.has(at, base)
            if inside and not self._broken(at, base, lengths):
                raise Rejected("the bounds are kept in a cell that is said not to be private")

    def _broken(self, point: Mapping[str, Fraction], base: Fraction, lengths: list[int]) -> bool:
        """Tells whether some set of outputs is too likely at a point."""
        found, delta = self.reader.at(point, base, lengths), self._delta(point, base)
        pairs = self.reader.pairs(point, base)
        sums = [_excess(found, *way, n) for pair in pairs for way in (pair, pair[::-1]) for n in lengths]
        return any(excess is not None and excess > delta for excess in sums)

    def _delta(self, point: Mapping[str, Fraction], base: Fraction) -> Fraction:
        """Returns the delta of the case at a point."""
        found = self.reader.delta(point, base)
        if not 0 <= found <= 1:
            raise Rejected("delta is no probability")
        return found

    def _agree(
        self,
        claim: Mapping[str, Any],
        point: Mapping[str, Fraction],
        base: Fraction,
        own: tuple[Fraction, Fraction, Fraction],
    ) -> None:
        """Checks that a claim has the sums of its direction at a point, up to one positive number."""
        terms = [self._value(text, point, base) for text in claim["terms"]]
        room = self._value(claim["room"], point, base)
        found = (room, sum((t for t in terms if t > 0), ZERO), sum(terms, ZERO))
        if not any(found) and not any(own):
            return  # every positive number will do
        scale = next((f / o for f, o in zip(found, own, strict=True) if o), ZERO)
        if scale <= 0 or any(f != scale * o for f, o in zip(found, own, strict=True)):
            left, right, _ = claim["origins"][0]
            raise Rejected(f"the claim about {left!r} against {right!r} is another one")

    def _needs(self) -> None:
        """Compares the sets of a least delta or ratio at their points."""
        stated = self.document.get("budget", {"witnesses": []})
        for written, base in product(stated["witnesses"], self.bases):
            _, p, q, (bound, delta) = self._at(written, base)
            if stated["kind"] == "delta":
                delta = p - bound * q
            elif q:
                bound = (p - delta) / q
            else:
                bound = Fraction(1)
            given = [*written["probabilities"], written["bound"], written["delta"], written["beyond"]]
            for value, text in zip((p, q, bound, delta, p - bound * q), given, strict=True):
                if value != self._exact(text, base):
                    raise Rejected(f"a number of the set is {value!s:.60}, not {text!s:.60}")

    def _set(self, written: Mapping[str, Any]) -> str:
        """Compares a set of outputs at its point."""
        left, right = written["secrets"]
        for base in self.bases:
            point, p, q, (bound, delta) = self._at(written, base)
            given = [*written["probabilities"], written["bound"], written["delta"], written["beyond"]]
            for value, text in zip((p, q, bound, delta, p - bound * q), given, strict=True):
                if value != self._exact(text, base):
                    raise Rejected(f"a number of the witness is {value!s:.60}, not {text!s:.60}")
            if p - bound * q <= delta:
                raise Rejected("the set is within the bounds")
            found = self.reader.at(point, base, [written["length"]], {left, right})
            excess = _excess(found, left, right, written["length"]) or ZERO
            self._agree(written["claim"], point, base, (delta, excess, 1 - bound))
        return "the probabilities of the set of outputs agree"

    def _at(
        self, written: Mapping[str, Any], base: Fraction
    ) -> tuple[dict[str, Fraction], Fraction, Fraction, tuple[Fraction, Fraction]]:
        """Returns the point of a set, its two probabilities there, and the bounds of the case."""
        point = {name: number(value) for name, value in written["parameters"].items()}
        left, right = written["secrets"]
        outputs = {tuple(output) for output in written["outputs"]}
        if written["length"] not in self.reader.lengths or {len(o) for o in outputs} != {written["length"]}:
            raise Rejected("the outputs have another length")
        if not self.reader.has(point, base):
            raise Rejected("the witness is outside of the domain")
        if not {(left, right), (right, left)} & set(self.reader.pairs(point, base)):
            raise Rejected(f"{left!r} and {right!r} are not compared")
        found = self.reader.at(point, base, [written["length"]], {left, right})
        one, other = found.words[left], found.words[right]
        if one is None or other is None:
            raise Rejected("a secret is impossible at the witness")
        p, q = (sum((words.get(w, ZERO) for w in outputs), ZERO) for words in (one, other))
        return point, p, q, (found.bound(left, right), self._delta(point, base))


def _excess(found: PointProbabilities, left: str, right: str, length: int) -> Fraction | None:
    """Returns Σ_w max(0, Pr(w|left) − bound·Pr(w|right)); None where a secret is impossible."""
    one, other = found.words[left], found.words[right]
    if one is None or other is None:
        return None
    bound = found.bound(left, right)
    kept: Words = {word: p for word, p in one.items() if len(word) == length}
    return sum((max(ZERO, p - bound * other.get(word, ZERO)) for word, p in kept.items()), ZERO)


# --- second moments ---------------------------------------------------------------------------------

ZERO_TOTAL = Fraction(0)

Direction = tuple[str, str, int]


class MomentLook(PointwiseComparison):
    """One comparison of evidence about divergences of an order."""

    KINDS = ("paramverify-evidence",)

    def compare(self) -> str:
        """Compares, and returns what was compared.

        Raises:
            Rejected: a difference was found. Unread: something cannot be compared.
        """
        if set(self.names) != self.reader.intervals.keys():
            raise Rejected(f"the parameters are {', '.join(self.reader.intervals)}")
        if self.document["status"] == "violated":
            written = self.document["witness"]
            for base in self.bases:
                self._sum_at(written, base)
            return "the sum of the witness agrees"
        witnesses = self.document.get("budget", {}).get("witnesses", [])
        for written, base in product(witnesses, self.bases):
            self._sum_at(written, base, own=False)
        if "box" not in self.claim:
            return f"the sums of {len(witnesses)} witnesses agree"
        self._domain()
        return self._sums(self.reader.lengths)

    def _sums(self, lengths: list[int]) -> str:
        if not lengths or (lengths != [1] and sum(self._outputs() ** n for n in lengths) > MAX_WORDS):
            raise UnreadCase("there are too many sequences")
        points = self._points()
        entries = [
            e
            for e in self.document["claims"]
            if e.get("origins") and e["claim"]["constraints"] == self.claim["constraints"]
        ]
        values = [[self._value(e["claim"]["polynomial"], *at) for at in points] for e in entries]
        signs = [[(v > 0) - (v < 0) for v in row] for row in values]
        own: dict[Direction, list[int]] = {}
        for point, base in points:
            found = self.reader.at(point, base, lengths)
            pairs = dict.fromkeys(self.reader.pairs(point, base))
            if len(pairs) * max((len(w) for w in found.words.values() if w), default=0) > MAX_COMPARED:
                raise UnreadCase("there are too many pairs and sequences")
            for pair, length in product(pairs, lengths):
                for left, right in (pair, pair[::-1]):
                    own.setdefault((left, right, length), []).append(self._sign(found, left, right, length))
        holds = self.document["status"] == "holds"
        for direction, row in own.items():
            if holds:
                self._agree(direction, row, entries, signs)
        known = {text(direction) for direction in own}
        for entry, row in zip(entries, signs, strict=True):
            if not known.issuperset(entry["origins"]):
                raise Rejected("the case does not compare a direction of the evidence")
            for direction in own:
                if text(direction) in entry["origins"] and not _fits(own[direction], row):
                    raise Rejected(
                        f"the claim about {direction[0]!r} against {direction[1]!r} is another one"
                    )
        at = counted(len(points), "point")
        return f"{counted(len(own), 'sum')} of all outputs at {at} agree with the claims"

    def _agree(
        self, direction: Direction, row: list[int], entries: list[Any], signs: list[list[int]]
    ) -> None:
        """Checks that a direction keeps its bound, and has a claim of this sign at all points."""
        left, right, _ = direction
        if min(row) < 0:
            raise Rejected(f"the bound is broken by {left!r} against {right!r}")
        full = [len(e["origins"]) >= 3 for e in entries]  # more origins than are told
        named = [text(direction) in e["origins"] for e in entries]
        if not any((n or f) and _fits(row, found) for n, f, found in zip(named, full, signs, strict=True)):
            raise Rejected(f"no claim is about {left!r} against {right!r}")

    def _sign(self, found: PointProbabilities, left: str, right: str, length: int) -> int:
        """Returns the sign of B − S; 0 where a secret is impossible."""
        total = self._sum(found, left, right, length)
        if total is None:
            return -1
        gap = ZERO_TOTAL if total < 0 else found.bound(left, right) - total
        return (gap > 0) - (gap < 0)

    def _sum(self, found: PointProbabilities, left: str, right: str, length: int) -> Fraction | None:
        """Returns S; None for infinity, and −1 where a secret is impossible."""
        one, other = found.words[left], found.words[right]
        order = self.reader.order
        if one is None or other is None or order is None:
            return Fraction(-1)
        total = ZERO_TOTAL
        for word, p in one.items():
            if len(word) == length and p:
                q = other.get(word, ZERO_TOTAL)
                if not q:
                    return None
                total += p**order / q ** (order - 1)
        return total

    def _sum_at(self, written: Mapping[str, Any], base: Fraction, own: bool = True) -> None:
        """Compares a sum at its point; with `own` it must break the bound of the case."""
        point = {name: number(value) for name, value in written["parameters"].items()}
        left, right = written["secrets"]
        length = written["length"]
        if length not in self.reader.lengths or written["order"] != self.reader.order:
            raise Rejected("the sum is of another order, or about another length")
        if not self.reader.has(point, base):
            raise Rejected("the witness is outside of the domain")
        if not {(left, right), (right, left)} & set(self.reader.pairs(point, base)):
            raise Rejected(f"{left!r} and {right!r} are not compared")
        found = self.reader.at(point, base, [length], {left, right})
        total = self._sum(found, left, right, length)
        if total is not None and total < 0:
            raise Rejected("a secret is impossible at the witness")
        told = written["moment"]
        if (told == "infinity") != (total is None):
            raise Rejected("the sum of the witness is another one")
        if total is not None and total != self._exact(told, base):
            raise Rejected(f"the sum of the witness is {total!s:.60}, not {told!s:.60}")
        one, other = found.words[left] or {}, found.words[right] or {}
        for share in written["largest"]:
            word = tuple(share["output"])
            for words, given in zip((one, other), share["probabilities"], strict=True):
                if words.get(word, ZERO_TOTAL) != self._exact(given, base):
                    raise Rejected("a probability of the witness is another one")
        bound = found.bound(left, right)
        if own and bound != self._exact(written["bound"], base):
            raise Rejected("the bound is another one")
        if own and total is not None and total <= bound:
            raise Rejected("the witness is within the bound")
        if own and self._value(written["claim"]["polynomial"], point, base) >= 0:
            raise Rejected("the claim of the witness is another one")


def text(direction: Direction) -> str:
    """Returns where a claim comes from, as evidence has it."""
    left, right, length = direction
    about = "" if length == 1 else f" of length {length}"
    return f"{left} against {right}, all outputs{about} together"


def _fits(own: list[int], claimed: list[int]) -> bool:
    """Tells whether signs agree; a claim may be 0 where a probability on the right is."""
    return all(a == b or b == 0 for a, b in zip(own, claimed, strict=True))


# --- second losses ----------------------------------------------------------------------------------

ORDERS = [Fraction(n, 16) for n in (17, 24, 32, 64, 256)]
WIDE = Fraction(1, 10**9)  # how much wider the ends of a divergence may be than they have to be
NEAR = Fraction(1, 10**40)  # E is a rational that is nearer to exp(q) than this by far

Ends = tuple[Fraction, Fraction]
Shares = dict[Fraction | None, tuple[Fraction, Fraction]]


class LossLook(PointwiseComparison):
    """One comparison of evidence about such divergences."""

    KINDS = ("paramverify-losses",)

    def compare(self) -> str:
        """Compares, and returns what was compared.

        Raises:
            Rejected: a difference was found. Unread: something cannot be compared.
        """
        if set(self.names) != self.reader.intervals.keys():
            raise Rejected(f"the parameters are {', '.join(self.reader.intervals)}")
        if self.reader.loss is None or self.reader.loss[0] != self.document["measure"]:
            raise Rejected("the case has another measure")
        self._bound()
        if "witness" in self.document:
            for base in self.bases:
                self._again(self.document["witness"], base)
            return "the divergence of the witness agrees"
        if "box" in self.claim:
            self._domain()
        budget = self.document.get("budget", {}).get("witnesses", [])
        for written, base in product(budget, self.bases):
            self._again(written, base, own=False)
        return self._sums(self.reader.lengths)

    def _bound(self) -> None:
        """Compares the bound with that of the case; of a budget with the number that is said to be enough."""
        assert self.reader.loss is not None
        stated = self.document.get("budget")
        if stated is not None and stated["kind"] != self.document["measure"]:
            raise Rejected("the budget is about another measure")
        if stated is not None and stated["enough"] is None:
            return
        told = bound_of(self.document["bound"])
        if stated is not None:
            if told != (number(stated["enough"]), number(stated["enough"])):
                raise Rejected("the bound of the claims is not the number that is said to be enough")
            return
        own = value_between(self.reader.calculator({}, Fraction(1)), self.reader.loss[1])
        if told[1] < own[0] or own[1] < told[0] or own[1] - own[0] > NEAR:
            raise Rejected("the bound is another one")

    def _sums(self, lengths: list[int]) -> str:
        if not lengths or (lengths != [1] and sum(self._outputs() ** n for n in lengths) > MAX_WORDS):
            raise UnreadCase("there are too many sequences")
        claims = {tuple(o): claim for claim in self.document["claims"] for o in claim["origins"]}
        holds = self.document["status"] == "holds"
        seen: set[tuple[str, str, int]] = set()
        points = self._points()
        for point, base in points:
            found = self.reader.at(point, base, lengths)
            pairs = dict.fromkeys(self.reader.pairs(point, base))
            if len(pairs) * max((len(w) for w in found.words.values() if w), default=0) > MAX_COMPARED:
                raise UnreadCase("there are too many pairs and sequences")
            for pair, length in product(pairs, lengths):
                for left, right in (pair, pair[::-1]):
                    seen.add((left, right, length))
                    claim = claims.get((left, right, length))
                    if claim is None and holds:
                        raise Rejected(f"no claim is about {left!r} against {right!r}")
                    own = shares(found, left, right, length)
                    if own is None:
                        continue
                    if holds and self._is_above(own):
                        raise Rejected(f"the bound is broken by {left!r} against {right!r}")
                    if claim is not None and own != self._claimed(claim, point, base):
                        raise Rejected(f"the claim about {left!r} against {right!r} is another one")
        if claims.keys() - seen:
            raise Rejected("the case does not compare a direction of the evidence")
        at = counted(len(points), "point")
        return f"the probabilities of {counted(len(seen), 'direction')} at {at} agree with the claims"

    def _claimed(self, claim: Mapping[str, Any], point: Mapping[str, Fraction], base: Fraction) -> Shares:
        """Returns the probabilities of a claim at a point."""
        total = abs(self._value(claim["total"], point, base))
        if not total:
            raise Rejected("the total of a claim is 0 where both secrets are possible")
        pairs = ((abs(self._value(text, point, base)) / total for text in pair) for pair in claim["outputs"])
        return together((p, q) for p, q in pairs)

    def _is_above(self, own: Shares) -> bool:
        """Tells whether a divergence is above the bound of the evidence for certain."""
        found = distribution(own)
        if is_infinite(found):
            return True
        limit = bound_of(self.document["bound"])[1]
        if self.document["measure"] == "kl":
            return value_of(found, None)[0] > limit + NEAR
        return any(value_of(found, order)[0] > limit * order + NEAR for order in ORDERS)

    def _again(self, written: Mapping[str, Any], base: Fraction, own: bool = True) -> None:
        """Compares a divergence at its point; with `own` it must be above the bound of the case."""
        point = {name: number(value) for name, value in written["parameters"].items()}
        left, right = written["secrets"]
        length = written["length"]
        if length not in self.reader.lengths or written["measure"] != self.document["measure"]:
            raise Rejected("the divergence is another one, or about another length")
        if not self.reader.has(point, base):
            raise Rejected("the witness is outside of the domain")
        if not {(left, right), (right, left)} & set(self.reader.pairs(point, base)):
            raise Rejected(f"{left!r} and {right!r} are not compared")
        found = self.reader.at(point, base, [length], {left, right})
        known = shares(found, left, right, length)
        if known is None:
            raise Rejected("a secret is impossible at the witness")
        if own and known != self._claimed(written["claim"], point, base):
            raise Rejected("the claim of the witness is another one")
        self._divergence(written, distribution(known), own)
        one, other = found.words[left] or {}, found.words[right] or {}
        for share in written["largest"]:
            word = tuple(share["output"])
            for words, given in zip((one, other), share["probabilities"], strict=True):
                if words.get(word, Fraction(0)) != self._exact(given, base):
                    raise Rejected("a probability of the witness is another one")

    def _divergence(self, written: Mapping[str, Any], found: Distribution, own: bool) -> None:
        if (written["value"] == "infinity") != is_infinite(found):
            raise Rejected("the divergence of the witness is another one")
        if written["value"] == "infinity":
            return
        order = number(written["order"]) if "order" in written else None
        value, told = value_of(found, order), [number(end) for end in written["value"]]
        wide = told[1] - told[0] > value[1] - value[0] + WIDE
        if told[1] < told[0] or wide or told[1] < value[0] - NEAR or value[1] + NEAR < told[0]:
            raise Rejected("the divergence of the witness is another one")
        if own and value[1] < bound_of(self.document["bound"])[0] * (order or 1) - NEAR:
            raise Rejected("the witness is within the bound")


def together(pairs: Iterable[tuple[Fraction, Fraction]]) -> Shares:
    """Returns the sums of the probabilities of outputs with one quotient; None stands for division by 0."""
    found: Shares = {}
    for p, q in pairs:
        if p or q:
            quotient = p / q if q else None
            one, other = found.get(quotient, (Fraction(0), Fraction(0)))
            found[quotient] = one + p, other + q
    return found


def shares(found: PointProbabilities, left: str, right: str, length: int) -> Shares | None:
    """Returns how likely the sequences of a length are under two secrets; None where one is impossible."""
    one, other = found.words[left], found.words[right]
    if one is None or other is None:
        return None
    zero = Fraction(0)
    words = [w for w in one.keys() | other.keys() if len(w) == length]
    return together((one.get(w, zero), other.get(w, zero)) for w in words)


def distribution(own: Shares) -> Distribution:
    """Returns probabilities between two equal numbers."""
    return [((p, p), (q, q)) for p, q in own.values()]


def value_between(at: Calculator, given: Any) -> Ends:
    """Returns bounds of an expression: a sum of numbers and of multiples of logarithms of numbers."""
    text, tree = at.parsed(given)
    return _between(at, tree, text)


def _between(at: Calculator, tree: ast.expr, text: str) -> Ends:
    if not any(isinstance(node, ast.Call) and _is_ln(node) for node in ast.walk(tree)):
        value = at.number(ast.get_source_segment(text, tree))
        return value, value
    if isinstance(tree, ast.Call) and _is_ln(tree) and len(tree.args) == 1:
        below, above = ln(at.number(ast.get_source_segment(text, tree.args[0])))
        return Fraction(below, UNIT), Fraction(above, UNIT)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, (ast.USub, ast.UAdd)):
        low, high = _between(at, tree.operand, text)
        return (-high, -low) if isinstance(tree.op, ast.USub) else (low, high)
    if isinstance(tree, ast.BinOp):
        one, other = _between(at, tree.left, text), _between(at, tree.right, text)
        if isinstance(tree.op, ast.Add):
            return one[0] + other[0], one[1] + other[1]
        if isinstance(tree.op, ast.Sub):
            return one[0] - other[1], one[1] - other[0]
        if isinstance(tree.op, ast.Mult):
            ends = [a * b for a in one for b in other]
            return min(ends), max(ends)
        if isinstance(tree.op, ast.Div) and other[0] == other[1]:
            ends = [a / other[0] for a in one]
            return min(ends), max(ends)
    raise UnreadCase(f"the bound {text!r:.60} has another form")


def _is_ln(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "ln"
