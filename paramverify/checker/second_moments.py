"""Compares evidence about divergences with what a second reader finds in the case: standard library only.

For a direction (left, right) of a secret pair, let S be Σ_w Pr(w|left)^α/Pr(w|right)^(α−1) and B its bound.
The claim f ≥ 0 of the case has f = s·(B − S) with a function s > 0 of the parameters (masses, denominators,
and probabilities on the right). So at points inside of the domain f has the sign of B − S. That is compared,
and:

- points that the second reader finds in the domain are in the domain of the claims, and the other way round;
- where the case is said to hold, S ≤ B at the points, and each direction and length has a claim that agrees;
- a witness has the point, the names, the sum, the probabilities and the bound that the second reader finds.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from .claims import FORMAT
from .polynomials import number
from .second_look import MAX_COMPARED, PointwiseComparison
from .second_reader import MAX_WORDS, PointProbabilities
from .strict import Rejected, UnreadCase, counted

ZERO = Fraction(0)

Direction = tuple[str, str, int]


class MomentLook(PointwiseComparison):
    """One comparison of evidence about divergences of an order."""

    KINDS = (FORMAT,)

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
        gap = ZERO if total < 0 else found.bound(left, right) - total
        return (gap > 0) - (gap < 0)

    def _sum(self, found: PointProbabilities, left: str, right: str, length: int) -> Fraction | None:
        """Returns S; None for infinity, and −1 where a secret is impossible."""
        one, other = found.words[left], found.words[right]
        order = self.reader.order
        if one is None or other is None or order is None:
            return Fraction(-1)
        total = ZERO
        for word, p in one.items():
            if len(word) == length and p:
                q = other.get(word, ZERO)
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
                if words.get(word, ZERO) != self._exact(given, base):
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
