"""Compares evidence about `kl` and `zcdp` with what a second reader finds in the case: standard library only.

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

from .logarithms import UNIT, ln
from .loss_values import Distribution, is_infinite, value_of
from .losses import FORMAT, bound_of
from .polynomials import number
from .second_look import MAX_COMPARED, PointwiseComparison
from .second_numbers import Calculator
from .second_reader import MAX_WORDS, PointProbabilities
from .strict import Rejected, UnreadCase, counted

ORDERS = [Fraction(n, 16) for n in (17, 24, 32, 64, 256)]
WIDE = Fraction(1, 10**9)  # how much wider the ends of a divergence may be than they have to be
NEAR = Fraction(1, 10**40)  # E is a rational that is nearer to exp(q) than this by far

Ends = tuple[Fraction, Fraction]
Shares = dict[Fraction | None, tuple[Fraction, Fraction]]


class LossLook(PointwiseComparison):
    """One comparison of evidence about such divergences."""

    KINDS = (FORMAT,)

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
        self._domain()
        budget = self.document.get("budget", {}).get("witnesses", [])
        for written, base in product(budget, self.bases):
            self._again(written, base, own=False)
        return self._sums(self.reader.lengths)

    def _bound(self) -> None:
        """Compares the bound with that of the case; of a budget with the number that is said to be enough."""
        assert self.reader.loss is not None
        told = bound_of(self.document["bound"])
        stated = self.document.get("budget")
        if stated is not None:
            if stated["kind"] != self.document["measure"]:
                raise Rejected("the budget is about another measure")
            enough = stated["enough"]
            if enough is not None and told != (number(enough), number(enough)):
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
