"""Compares evidence about sets of outputs with what a second reader finds in the case: standard library only.

For a direction (left, right) of a secret pair and a length, e is Σ_w max(0, Pr(w|left) − bound·Pr(w|right)).
The claim room − Σ max(0, tᵢ) ≥ 0 of the case and δ − e ≥ 0 agree in this sense: room = s·δ, Σ max(0, tᵢ) =
s·e and Σ tᵢ = s·(1 − bound), with a function s > 0 of the parameters (masses and denominators). That is what
is compared at points, and:

- points that the second reader finds in the domain are in the domain of the claims, and the other way round;
- where the case is said to hold, e ≤ δ at the points, and each direction and length has its claim;
- at the points in a cell of a map that is said to be private, e ≤ δ; in one that is not, some e > δ;
- a witness has the point, the names, the probabilities and the bounds that the second reader finds.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from . import regions
from .polynomials import number
from .second_look import MAX_COMPARED, PointwiseComparison
from .second_processes import Words
from .second_reader import MAX_WORDS, PointProbabilities
from .sets import FORMAT
from .strict import Rejected, UnreadCase, counted

ZERO = Fraction(0)


class SetLook(PointwiseComparison):
    """One comparison of evidence about sets of outputs."""

    KINDS = (FORMAT, regions.FORMAT)

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
        self._domain()
        self._needs()
        return self._sums(self.reader.lengths)

    def _sums(self, lengths: list[int]) -> str:
        if not lengths or (lengths != [1] and sum(self._outputs() ** n for n in lengths) > MAX_WORDS):
            raise UnreadCase("there are too many sequences")
        entries = self.document["sums" if self.kind == regions.FORMAT else "claims"]
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
