"""Compares evidence with what a second reader finds in the case: standard library only.

Witnesses at algebraic points, for the second reader: rational points that are very near to them.

Probabilities are rational functions of the parameters: they are nearly the same there. This is a comparison
and no proof: the kernel has checked already that the point is in the domain and that the claim fails there.

For a direction (left, right) of a secret pair and a sequence w, the claim f ≥ 0 of the case and the
difference t = bound·Pr(w|right) − Pr(w|left) agree in this sense: f = k·s·t, with a number k > 0 of the
claim, and a function s > 0 of the parameters that all sequences of one length of one pair share (masses and
denominators). So at points of the domain the values of f are those of s·t up to a positive number. That is
what is compared, and:

- points that the second reader finds in the domain are in the domain of the claims, and the other way round;
- where the case is said to hold, t ≥ 0 at the points, and a claim of the evidence agrees with each t;
- each sequence that the evidence names beside a claim is one of the case, and its t agrees with that claim;
- a witness has the point, the names, the probabilities and the bound that the second reader finds;
- a certificate about every length holds a model with these secrets, this bound and these probabilities.

E = exp(q) is replaced by rationals very near to it, or by powers of such: the equations above hold between
functions of E.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from math import gcd, lcm
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..kernel.claim_evidence import read_claim
from ..kernel.evidence_polynomials import evaluate, number, parse
from ..kernel.rounded_constants import exp_bounds
from ..kernel.strict_reading import Rejected, UnreadCase, counted
from ..kernel.witness_numbers import read_place
from .second_definitions import candidates
from .second_matching import (
    Matching,
    both_sided,
    differences,
    distance_text,
    origin,
    possible,
    probabilities,
    scaled,
    some_claim,
)
from .second_numbers import Calculator, Finer
from .second_reader import MAX_WORDS, PointProbabilities, SecondReader
from .second_values import steps_of_ties, without_logarithms
from .second_windows import keep_bound

# --- second algebraic -------------------------------------------------------------------------------

BITS = 400
NEAR = Fraction(1, 10**30)


def near_root(data: Mapping[str, Any]) -> Fraction:
    """Returns a rational that is very near to the root of an algebraic point."""
    place = read_place(data)
    low, high = place.ends
    below = evaluate(place.minimal, [low]) > 0
    while high - low > Fraction(1, 1 << BITS):
        middle = (low + high) / 2
        at = evaluate(place.minimal, [middle])
        if not at:
            return middle
        low, high = (middle, high) if (at > 0) == below else (low, middle)
    return low


def near_point(data: Mapping[str, Any]) -> dict[str, Fraction]:
    """Returns a rational point that is very near to an algebraic point."""
    root = near_root(data)
    return {name: evaluate(parse(text, ("t",)), [root]) for name, text in data["coordinates"].items()}


def near_number(told: Any, data: Mapping[str, Any]) -> Fraction:
    """Returns a rational that is very near to a number of a witness at an algebraic point."""
    return (
        number(told) if isinstance(told, str) else evaluate(parse(told["exact"], ("t",)), [near_root(data)])
    )


def is_near(own: Fraction, told: Fraction) -> bool:
    """Tells whether two numbers agree to thirty digits."""
    return abs(own - told) <= NEAR * (1 + abs(own))


# --- compares evidence with what a second reader finds in the case: standard library only -----------

Word = tuple[str, ...]

POINTS = 4
MAPS = ("paramverify-regions", "paramverify-intervals")
MAX_ROOT = 60
MAX_COMPARED = 200_000  # pairs of a secret pair and a sequence, at one point


class PointwiseComparison:
    """One comparison: `points` with a value for E, and what was found at each."""

    KINDS: tuple[str, ...] = ("paramverify-evidence", "paramverify-cone", *MAPS)

    def __init__(
        self,
        document: Mapping[str, Any],
        content: str,
        bound: Sequence[str] | Mapping[str, Sequence[str]] | None,
        folder: Path | None = None,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.document = document
        self.content, self.folder, self.settings = content, folder, settings
        self.kind = document["format"]
        if self.kind not in self.KINDS:
            raise UnreadCase(f"no second reader knows evidence of the format {self.kind}")
        claim = some_claim(document)
        self.exponent = number(claim["constant"]) if "constant" in claim else None
        self.reader = SecondReader(content, self.exponent, folder, settings)
        self.reader.name_outputs(document.get("outputs", ()))
        claim.setdefault("variables", list(self.reader.intervals))
        ties = steps_of_ties(document)
        self.reader.ties = ties
        self.names = [n for n in claim["variables"] if n not in ties and (n != "E" or self.exponent is None)]
        if ties:
            claim["variables"] = [*dict.fromkeys([*ties, *claim["variables"]])]
            claim["ties"] = {name: [variable, str(step)] for name, (variable, step) in ties.items()}
        if bound is not None:
            self.reader.replace_bound(bound)
        self.bases = self._bases()
        self.claim = claim

    def compare(self) -> str:
        """Compares, and returns what was compared.

        Raises:
            Rejected: a difference was found. Unread: something cannot be compared.
        """
        self._no_delta()
        if self.reader.one_sided != ("side_condition" not in self.document):
            raise Rejected("the side condition is another one")
        loop = self.kind == "paramverify-cone" and self.document["kind"] == "loop"
        more = set(self.names) - self.reader.intervals.keys()
        if more and all(re.fullmatch(r"[wr][1-9]\d?", name) for name in more):
            raise UnreadCase("an output with noise or with a parameter")
        if not loop and set(self.names) != self.reader.intervals.keys():
            raise Rejected(f"the parameters are {', '.join(self.reader.intervals)}")
        if self.kind == "paramverify-cone":
            return self._model(self.document["model"])
        if self.kind == "paramverify-evidence" and self.document["status"] == "violated":
            return self._witness(self.document["witness"])
        near = self._ratios()
        if "box" not in self.claim:
            return near
        self._domain()
        lengths = self.reader.lengths
        if not lengths:
            raise UnreadCase("claims about sequences of every length")
        return self._claims(lengths)

    def _no_delta(self) -> None:
        """Checks that the delta of the case is zero: at points of the domain, and where a witness is."""
        if "delta" not in self.reader.data.get("privacy", {}):
            return
        points = self._points()
        if "witness" in self.document:
            points.append((self._point(self.document["witness"]), self._base(0)))
        if any(self.reader.delta(*point) for point in points):
            raise Rejected("the case has a delta, and this evidence is about outputs one by one")

    def refine(self, exponent: Fraction) -> None:
        """Takes a root of E as the base, so that exp(exponent) is a whole power of it.

        E itself may be too large: a wrong first reader may have had other exponents, a true one fewer.
        """
        known, other = self.reader.exponent or Fraction(0), abs(exponent)
        bottom = lcm(known.denominator, other.denominator)
        self.reader.exponent = Fraction(gcd(int(known * bottom), int(other * bottom)), bottom)
        self.reader.power = int((self.exponent or self.reader.exponent) / self.reader.exponent)
        if self.reader.power > MAX_ROOT:
            raise UnreadCase("the exponents of exp have too small a common divisor")
        self.bases = self._bases()

    def _bases(self) -> list[Fraction]:
        exponent = self.reader.exponent
        if exponent is None:
            return [Fraction(1)]
        if not 0 < exponent <= 50:
            raise UnreadCase("a constant with a large exponent")
        low, high = exp_bounds(exponent, 200)
        near = [(2 * low + high) / 3, (low + 2 * high) / 3]
        # Short numbers near it: the error is far below every difference that matters, 60 digits.
        return [Fraction(round(x * 10**60) + k, 10**60) for k, x in enumerate(near)]

    def _base(self, k: int) -> Fraction:
        return self.bases[k % len(self.bases)]

    def _points(self) -> list[tuple[dict[str, Fraction], Fraction]]:
        found = self.reader.points(self._base(0), POINTS)
        if not found:
            raise UnreadCase("no point of the domain was found")
        if len(found) == 1:  # functions of E are compared at two values of E
            return [(found[0], base) for base in self.bases]
        return [(point, self._base(k)) for k, point in enumerate(found)]

    def _value(self, text: str, point: Mapping[str, Fraction], base: Fraction) -> Fraction:
        names, values = self.claim["variables"], {**point, **self.reader.tied(point)}
        if self.exponent is not None:
            values["E"] = base**self.reader.power
        return evaluate(parse(text, names), [values[name] for name in names])

    def _in_claim(self, point: Mapping[str, Fraction], base: Fraction) -> bool:
        statement = read_claim({"polynomial": "0", **self.claim}).goal
        for name in self.names:
            low, high = statement.box[name]
            value, ends = point[name], statement.open
            if not (
                low < value < high
                or (value == low and (name, 0) not in ends)
                or (value == high and (name, 1) not in ends)
            ):
                return False
        signs = [(self._value(text, point, base), relation) for text, relation in self.claim["constraints"]]
        return all(value > 0 or (value == 0 and relation == ">=") for value, relation in signs)

    def _domain(self) -> None:
        """Compares the domains at points inside, at ends and corners, of both boxes."""
        box = read_claim({"polynomial": "0", **self.claim}).goal.box
        own = {name: (low, high) for name, (low, high, _, _) in self.reader.intervals.items()}
        base = self._base(0)
        for ends in (own, {name: box[name] for name in self.names}):
            inside = candidates({name: (low, high, True, True) for name, (low, high) in ends.items()})
            corners = product(*({low, (low + high) / 2, high} for low, high in ends.values()))
            some = [
                dict(zip(ends, corner, strict=True)) for _, corner in zip(range(200), corners, strict=False)
            ]
            some += [point for _, point in zip(range(40), inside, strict=False)]
            for point in some:
                try:
                    own_domain = self.reader.has(point, base)
                except ZeroDivisionError:
                    continue  # a constraint is not defined there
                if own_domain != self._in_claim(point, base):
                    shown = ", ".join(f"{n} = {v}" for n, v in point.items())
                    raise Rejected(f"only one of both domains has {shown}")

    def _found(self, lengths: Sequence[int]) -> tuple[list[PointProbabilities], list[tuple[str, str]]]:
        points = self._points()
        pairs = self.reader.pairs(*points[0])
        found: list[PointProbabilities] = []
        for point, base in points:
            found.append(self.reader.at(point, base, lengths))
            if len(pairs) * sum(len(w) for w in list(found[-1].words.values())[:1] if w) > MAX_COMPARED:
                raise UnreadCase("there are too many pairs and sequences")
        return found, pairs

    def _claims(self, lengths: list[int]) -> str:
        if lengths != [1] and sum(self._outputs() ** n for n in lengths) > MAX_WORDS:
            raise UnreadCase("there are too many sequences")
        found, pairs = self._found(lengths)
        entries = self.document["claims"]
        regions = self.kind in MAPS
        texts = [entry if regions else entry["claim"]["polynomial"] for entry in entries]
        origins = [[] if regions else entry.get("origins", []) for entry in entries]
        if not regions:
            texts = [t for t, o in zip(texts, origins, strict=True) if o]
            origins = [o for o in origins if o]
        points = self._points()
        values = [tuple(self._value(text, *at) for at in points) for text in texts]
        holds = not regions and self.document["status"] == "holds"
        if "windows" in self.document:
            stated = self.document["windows"]["pairs"]
            return keep_bound(self.reader, found, pairs, points, {(a, b): far for a, b, far in stated})
        matching = Matching(values, origins, complete=regions or holds)
        count = 0
        for left, right in dict.fromkeys(pairs):
            for length in lengths:
                items = dict(differences(found, left, right, length, self.reader.one_sided))
                count += len(items)
                if holds:
                    for item, row in items.items():
                        if any(t is not None and t < 0 for t in row):
                            raise Rejected(f"the bound is broken by {origin(item)}")
                matching.group(items)
        matching.close(pairs)
        if holds and lengths == [1]:
            self._breaks(pairs)
        at = f"{len(points)} points" if len(points) > 1 else "a point"
        return f"{count} comparisons of probabilities at {at} agree with the claims"

    def _breaks(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Checks the bound at breaks of densities that the evidence does not name, at a point."""
        if not self.reader.probe_breaks():
            return
        found = self.reader.at(*self._points()[0], [1])
        left_out = self.reader.breaks.left_out if self.reader.breaks else set()
        for left, right in dict.fromkeys(pairs):
            for item, (t,) in differences([found], left, right, 1, self.reader.one_sided):
                if t is not None and t < 0 and item[2][0] not in left_out:
                    raise Rejected(f"the bound is broken where the evidence names no output: {origin(item)}")

    def _outputs(self) -> int:
        """Returns how many observations there are: those listed, else those of the first two steps."""
        listed = self.reader.data["mechanism"].get("observations")
        found = self.reader.at(*self._points()[0], [1, 2]).words.values()
        return len(listed or {name for words in found for word in words or () for name in word})

    @staticmethod
    def _point(written: Mapping[str, Any]) -> dict[str, Fraction]:
        """Returns the point of a witness, or a rational one that is very near to it."""
        if "algebraic" in written:
            return near_point(written["algebraic"])
        return {name: number(value) for name, value in written["parameters"].items()}

    def _witness(self, written: Mapping[str, Any]) -> str:
        place = written.get("algebraic")
        for base in self.bases:
            point, own = self._probabilities(written, base)
            for value, given in zip(own, [*written["probabilities"], written["bound"]], strict=True):
                same = (
                    is_near(value, near_number(given, place)) if place else value == self._exact(given, base)
                )
                if not same:
                    raise Rejected(f"a number of the witness is {value!s:.60}, not {given!s:.60}")
            if own[0] <= own[2] * own[1]:
                raise Rejected("the witness is within the bound")
            self._beside(written, base)
            if self._value(written["claim"]["polynomial"], point, base) >= 0:
                raise Rejected("the claim of the witness is another one")
        near = " at a rational point very near to it" if place else ""
        return f"the probabilities of the witness agree{near}"

    def _beside(self, written: Mapping[str, Any], base: Fraction) -> None:
        """Compares the probabilities of sets beside places of densities, where they are exact."""
        if "within" not in written:
            return
        told = written["within"]
        if any(isinstance(given, dict) and "exact" not in given for given in told["probabilities"]):
            return
        reader = SecondReader(self.content, self.reader.exponent, self.folder, self.settings)
        reader.power, reader.ties = self.reader.power, self.reader.ties
        reader.steps = {name: number(told["steps"][name]) for name in reader.steps}
        reader.name_outputs(list(dict.fromkeys(told["observations"])), complete=False)
        point = {name: number(value) for name, value in written["parameters"].items()}
        word = tuple(told["observations"])
        try:
            found = reader.at(point, base, [len(word)], set(written["secrets"]), word)
        except Finer:
            raise Rejected("a set beside the place of a density has no exact probability") from None
        own = [(found.words[name] or {}).get(word, Fraction(0)) for name in written["secrets"]]
        if own != [self._exact(given, base) for given in told["probabilities"]]:
            raise Rejected("a set beside the place of a density has other probabilities")
        if own[0] <= found.bound(*written["secrets"]) * own[1]:
            raise Rejected("a set beside the place of a density is within the bound")

    def _ratios(self) -> str:
        """Compares the probabilities of the witnesses of a budget."""
        witnesses = self.document.get("budget", {}).get("witnesses", [])
        for written, base in product(witnesses, self.bases):
            _, own = self._probabilities(written, base)
            if own[:2] != [self._exact(given, base) for given in written["probabilities"]]:
                raise Rejected("a witness of the budget has other probabilities")
        return f"the probabilities of {len(witnesses)} witnesses agree"

    def _probabilities(
        self, written: Mapping[str, Any], base: Fraction
    ) -> tuple[dict[str, Fraction], list[Fraction]]:
        """Returns the point of a witness, and there both probabilities and the bound of the case."""
        point = self._point(written)
        left, right = written["secrets"]
        word = tuple(written["observations"])
        if "algebraic" not in written and not self.reader.has(point, base):
            raise Rejected("the witness is outside of the domain")
        pairs = self.reader.pairs(point, base)
        if not {(left, right), (right, left)} & set(pairs):
            raise Rejected(f"{left!r} and {right!r} are not compared")
        if self.reader.lengths and len(word) not in self.reader.lengths:
            raise Rejected("the sequence has another length")
        found = self.reader.at(point, base, [len(word)], {left, right}, word)
        one, other = found.words[left], found.words[right]
        if one is None or other is None:
            raise Rejected("a secret is impossible at the witness")
        zero = Fraction(0)
        if not self.reader.one_sided and not (one.get(word) and other.get(word)):
            raise Rejected("the sequence of the witness is ignored: it is possible on one side only")
        if written.get("distance") != distance_text(found.distances.get((left, right))):
            raise Rejected("the distance of the inputs is another one")
        return point, [one.get(word, zero), other.get(word, zero), found.bound(left, right)]

    def _exact(self, given: Any, base: Fraction) -> Fraction:
        """Returns an exact number of a document: `24/7`, or a formula in E or exp."""
        text = given["exact"] if isinstance(given, dict) else given
        formula = without_logarithms(text.partition(" with ")[0].replace("^", "**"))
        reader = self.reader
        return Calculator({"E": base**reader.power}, reader.exponent, base).number(formula)

    def _model(self, model: Mapping[str, Any]) -> str:
        """Compares the model of a certificate about many sequences: its names, bound and probabilities."""
        loop = self.document["kind"] == "loop"
        if loop:
            at = {name: number(value) for name, value in self.document["point"].items()}
            if not self.reader.has(at, self._base(0)):
                raise Rejected("the loop is at a point outside of the domain")
            points = [(at, self._base(0))]
        else:
            self._domain()
            points = self._points()
        size, length = len(model["observations"]), 1
        while size ** (length + 1) <= 400 and length < 6:
            length += 1
        lengths = list(range(1, length + 1))
        for point, base in points:
            found = self.reader.at(point, base, lengths)
            own = self.reader.pairs(point, base)
            names = [(left, right) for left, right, _, _ in model["pairs"]]
            if not loop and {frozenset(p) for p in own} != {frozenset(p) for p in names}:
                raise Rejected("other secrets are compared")
            top, bottom = (self._value(text, point, base) for text in model["ratio"])
            if {top} != {bound * bottom for bound in found.bounds.values()} or bottom <= 0:
                raise Rejected("the bound is another one")
            value = partial(self._value, point=point, base=base)
            for secret, other, words in probabilities(model, value, lengths):
                theirs, against = found.words[secret], found.words[other]
                if words is None or theirs is None:
                    continue
                if not self.reader.one_sided and against is not None:
                    theirs = both_sided(theirs, against)
                    words = scaled(words, theirs)
                words = scaled(words, theirs) if self.reader.of_streams else words
                if possible(words) != possible(theirs):
                    raise Rejected(f"the sequences under {secret!r} have other probabilities")
        return f"the probabilities up to length {length} agree at {counted(len(points), 'point')}"
