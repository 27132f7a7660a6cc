"""Checks that one pair of inputs of noisy max has the largest ratio of all neighbouring inputs.

Noise is added to each answer independently, the index of the largest noisy answer is released, and ties go to
the first index (`first`) or to all alike (`uniform`). Neighbours differ by at most the step `by` in `one`
answer, or in `each`. The probability of an output depends only on the multisets of the answers on its axes:
of the answers before it, its own, and those behind it (with uniform ties, of all others).

*Noise of rational numbers.* For a number r ≥ 0 the bound Pr(o|x) ≤ r·Pr(o|y) for all neighbours y of x is
Pr(o|x) ≤ r·min Pr(o|y), and r is the ratio of the pair. If every answer may change, the minimum is taken over
one axis after the other; if one answer may, it is the least of the minima over single axes. Multisets that
differ by at most d in each element are matched in increasing order: if any matching has all distances at most
d, the increasing one has.

*Noise with parameters.* The noise is a table of polynomials p(f, v) whose rows have one sum T: p(f, v)/T is
the probability that the answer f becomes v. The document has proofs of signs on the domain; which polynomials
they are about is computed here, in this order:

1. No entry is negative, and F(f, v) = Σ p(f, w) over w < v never grows with f. Let H(v) be the probability
   that all other answers lose to the noisy value v: a product of such sums, or with uniform ties the integral
   of Π (F(fᵢ, v) + t·p(fᵢ, v)) over t from 0 to 1. H grows with v and falls if another answer grows. So
   Pr(x) = Σ p(own, v)·H(v) grows with the own answer. Of all neighbours y of x that one has the least whose
   own answer fell by the step b and whose other answers grew by b, up to the ends; if one answer differs,
   whose own answer fell or one other grew. With this y fixed, Pr(x) grows while the own answer grows up to b,
   or others fall to the largest answer less b: an answer that meets an end moves away from it.
2. Pr(x*) > 0 for the pair x*, y*. Then Pr(x)·Pr(y*) ≤ Pr(x*)·Pr(y) says that Pr(x) ≤ r·Pr(y) for each r ≥ 0
   with Pr(x*) ≤ r·Pr(y*).
3. That is shown for all x that are left, in one of three ways:

terms    with ties to the first index, Pr(x) = Σ a(v) and Pr(y) = Σ b(v) with products a, b over the answers.
         For each factor one answer has the largest quotient: p·q' ≤ p'·q for a factor p of a and q of b, and
         p' > 0 and q' of that answer. So the products a', b' of these have a·b' ≤ a'·b. It is shown that
         a'·Pr(y*) ≤ Pr(x*)·b'. So a·Pr(y*) ≤ Pr(x*)·b for each v; if b' = 0, Pr(y*) = 0 since a' > 0.
ends     one answer differs. If a(u)·b(s) ≤ a(s)·b(u) and h'(u)·h(s) ≤ h'(s)·h(u) for all u < s, then
         Σ h·a · Σ h'·b ≤ Σ h'·a · Σ h·b: the difference is the sum over u < s of
         (h'(s)·h(u) − h'(u)·h(s)) · (a(s)·b(u) − a(u)·b(s)). If the own answer differs, a and b are its rows,
         and h moves up with all others: these are largest. If another one differs, b/a is the quotient of its
         sums, which rises, and all the rest is 0. With uniform ties, sums are linear in t between two
         values of v, and the inequalities at the ends give those between. Pr(x) > 0 is shown for each x that
         is left, so that two inequalities of products give a third.
classes  for all multisets of other answers (before the own one and behind it, if the first index wins).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from itertools import combinations, combinations_with_replacement, permutations
from itertools import product as points_of
from math import comb, lcm, prod
from typing import Any

from .evidence_polynomials import Poly, Whole, constant, parse, plus, power, product, times
from .ledger import Evidence, Statement
from .proof_goals import Context, WrittenClaim
from .proof_rules import prove
from .strict_reading import Misformed, Rejected

Answers = tuple[int, ...]
Class = tuple[Answers, int, Answers]  # the answers before the own one, the own one, those behind it
Table = dict[tuple[Answers, ...], Fraction]
Need = tuple[Poly, bool]  # to be shown at least zero; above zero if the second is true

MAX_ENTRIES = 2_000_000
MAX_CLASSES = 20_000
ZERO, ONE, MINUS = Fraction(0), Fraction(1), Fraction(-1)


def show(about: Evidence, statement: Statement) -> str:
    """Checks that the claims are about a pair that stands for all neighbours; returns that in words.

    Raises:
        Rejected: the pair is none, or it is not shown.
    """
    sides = (str(tuple(statement[side])) for side in ("left", "right"))
    named = tuple(f"{one} against {other}, output " for one, other in permutations(sides))
    for place, claim in about.of("claim"):
        if "origins" not in claim or not all(origin.startswith(named) for origin in claim["origins"]):
            raise Misformed("this is about another pair than that of the reduction", "statements", place)
        wanted = about.written(statement["domain"]) if "domain" in statement else {}
        if not wanted.items() <= about.written(claim["domain"]).items():
            raise Misformed("another domain than that of the pair of the reduction", "statements", place)
    if "domain" not in statement:
        return check_largest(statement)
    about.untied(statement["domain"])
    return check_everywhere(statement, about.domain(statement["domain"]))


# --- noisy max --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Maxima:
    """Noisy max: the noise, its sums from below, its inputs, and what is computed once.

    The noise and its sums, times `scale`, have whole coefficients. With one more variable z, `below[f][v] +
    z·noise[f][v]` counts who is equal to v.
    """

    noise: list[list[Poly]]
    below: list[list[Poly]]
    width: int
    step: int
    uniform: bool
    answers: int
    each: bool  # whether every answer may change
    scale: int
    shares: dict[tuple[int, Answers], Whole] = field(default_factory=dict)
    known: dict[Class, Poly] = field(default_factory=dict)

    @property
    def top(self) -> int:
        return len(self.noise) - 1

    def class_of(self, given: Answers, output: int) -> Class:
        """Returns on which axes the answers of an input are, for an output."""
        before, own, behind = given[: output - 1], given[output - 1], given[output:]
        return ((), own, before + behind) if self.uniform else (before, own, behind)

    def sizes(self) -> list[tuple[int, int]]:
        """Returns the numbers of answers before and behind the own one, for each output that is looked at.

        With uniform ties it is one output: who permutes the answers permutes the outputs.
        """
        n = self.answers
        return [(0, n - 1)] if self.uniform else [(k, n - 1 - k) for k in range(n)]

    def probability(self, given: Class) -> Poly:
        """Returns Σ_v Pr(own answer becomes v and wins), times a power of the sum of a row."""
        before, own, behind = given
        place = tuple(sorted(before)), own, tuple(sorted(behind))
        if place not in self.known:
            total: dict[tuple[int, ...], Fraction] = {}
            for v in range(self.top + 1):
                won = product(self._whole(self.noise[own][v]), self._lost(v, place[0], place[2]))
                for powers, value in won.items():
                    part = Fraction(value, powers[-1] + 1)  # one of k + 1 that are equal
                    total[powers[:-1]] = total.get(powers[:-1], ZERO) + part
            scale = self.scale ** (len(before) + 1 + len(behind))
            self.known[place] = {powers: value / scale for powers, value in total.items() if value}
        return self.known[place]

    def chance(self, given: Class) -> Fraction:
        """Returns the probability where the noise has no parameters."""
        return self.probability(given).get((), ZERO)

    def _lost(self, v: int, before: Answers, behind: Answers) -> Whole:
        """Returns the probability that all others lose to v; the power of z is how many are equal to it."""
        if self.uniform:
            return self._shared(v, behind)
        return product(self._shared(v, before), self._shared(v + 1, behind))

    def _shared(self, v: int, others: Answers) -> Whole:
        """Returns the probability that all become less than v, or with uniform ties v too."""
        if not others:
            return {(0,) * (self.width + 1): 1}
        if (v, others) not in self.shares:
            rest, f = self._shared(v, others[:-1]), others[-1]
            equal = [self.noise[f][v]] if self.uniform else []
            self.shares[v, others] = product(rest, self._whole(self.below[f][v], *equal))
        return self.shares[v, others]

    def _whole(self, *parts: Poly) -> Whole:
        """Returns the sum of polynomials times z⁰, z¹, ..., times the scale, which makes it whole."""
        terms = ((k, *term) for k, poly in enumerate(parts) for term in poly.items())
        return {(*powers, k): (value * self.scale).numerator for k, powers, value in terms}


def _read(document: Mapping[str, Any], names: tuple[str, ...]) -> _Maxima:
    """Reads noisy max, with noise in these parameters.

    Raises:
        Rejected: the noise has rows with different sums, or the pair is no pair of neighbours.
    """
    noise = [[parse(p, names) for p in row] for row in document["noise"]]
    zero: Poly = {}
    sums = [reduce(plus, row, zero) for row in noise]
    if any(len(row) != len(noise) for row in noise) or any(s != sums[0] for s in sums) or not any(sums):
        raise Rejected("the noise is no distribution")
    about = _Maxima(
        noise,
        below=[[reduce(plus, row[:v], zero) for v in range(len(row) + 1)] for row in noise],
        width=len(names),
        step=reach(document["by"], len(noise) - 1),
        uniform=document["ties"] == "uniform",
        answers=document["answers"],
        each=document["differ"] == "each",
        scale=lcm(*(value.denominator for row in noise for poly in row for value in poly.values())),
    )
    pair = document["left"], document["right"]
    inside = all(len(given) == about.answers and {*given} <= {*range(len(noise))} for given in pair)
    changes = [abs(x - y) for x, y in zip(*pair, strict=False) if x != y]
    if not inside or max(changes, default=0) > about.step or not (about.each or len(changes) < 2):
        raise Rejected("the pair is not a pair of neighbouring inputs")
    return about


def reach(by: str, most: int) -> int:
    """Returns the largest change of an answer, at most a number."""
    if by != "any" and not re.fullmatch("[1-9][0-9]{0,8}", by):
        raise Misformed("must be 'any' or the digits of a positive whole number", "by")
    return most if by == "any" else min(int(by), most)


# --- noise of rational numbers ----------------------------------------------------------------------


def check_largest(document: Statement) -> str:
    """Checks the statement, and returns it in words.

    Raises:
        Rejected: another pair has a larger ratio, or the pair is none.
    """
    about = _read(document, ())
    if any(poly.get((), ZERO) < 0 for row in about.noise for poly in row) or about.below[0][-1] != {(): ONE}:
        raise Rejected("the noise is no distribution")
    left, right = (tuple(document[side]) for side in ("left", "right"))
    best = ONE  # the ratio of the pair: the largest over outputs and directions
    for output in range(1, about.answers + 1):
        top, bottom = (about.chance(about.class_of(given, output)) for given in (left, right))
        if bool(top) != bool(bottom):
            raise Rejected("the ratio is not finite")
        best = max(best, top / bottom, bottom / top) if top else best
    for before, behind in about.sizes():
        axes = [
            list(combinations_with_replacement(range(about.top + 1), size)) for size in (before, 1, behind)
        ]
        if prod(map(len, axes)) > MAX_ENTRIES:
            raise Rejected("too many classes of inputs to check")
        table: Table = {(a, own, b): about.chance((a, own[0], b)) for a, own, b in points_of(*axes)}
        _check_output(table, about, best)
    return f"{left} against {right} has the largest ratio of all neighbours: {best}"


def _check_output(table: Table, about: _Maxima, best: Fraction) -> None:
    least = dict(table)
    for axis in range(3):
        near = _near({point[axis] for point in table}, about)
        source = least if about.each else table
        found = {
            point: min(source[(*point[:axis], m, *point[axis + 1 :])] for m in near[point[axis]])
            for point in table
        }
        least = found if about.each else {point: min(found[point], least[point]) for point in table}
    for point, probability in table.items():
        if probability > best * least[point]:
            raise Rejected(f"the answers {point} have a neighbour with a larger ratio")


def _near(multisets: set[Answers], about: _Maxima) -> dict[Answers, list[Answers]]:
    """Returns the multisets that come of changing each element, or one, by at most the step."""
    step = about.step
    if about.each:
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
    return {m: list(found & multisets) or [m] for m, found in changed.items()}


# --- noise with parameters --------------------------------------------------------------------------


def check_everywhere(document: Statement, domain: WrittenClaim) -> str:
    """Checks the statement, and returns it in words.

    Raises:
        Rejected: it is not proved, or the pair is none.
    """
    goal, context = domain.goal, Context(domain.exponent)
    about = _read(document, goal.names)
    pair = _read_least(document, about)
    proofs = iter(document["proofs"])
    for poly, strict in _needs(document, about, pair):
        if not poly and not strict:
            continue
        proof = next(proofs, None)
        if proof is None:
            raise Rejected("a proof is missing that the pair has the largest ratio")
        shown = goal.about(poly)
        if strict:  # no point of the domain has −f ≥ 0: there −1 ≥ 0 is shown
            conditions = (*goal.conditions, (plus({}, poly, MINUS), False))
            shown = replace(goal, poly=constant(MINUS, len(goal.names)), conditions=conditions)
        prove(shown, proof, context)
    if next(proofs, None) is not None or context.trusted:
        raise Rejected("there are proofs of something else")
    left, right = (tuple(document[side]) for side in ("left", "right"))
    return f"{left} against {right} has the largest ratio of all neighbours, for all parameters"


def _read_least(document: Mapping[str, Any], about: _Maxima) -> tuple[Class, Class]:
    """Returns both inputs; the right one is the neighbour of the left one with the least probability."""
    left, right, output = document["left"], document["right"], document["output"]
    changes = {k: y - x for k, (x, y) in enumerate(zip(left, right, strict=True), 1) if x != y}
    is_least = all(change == about.step * (-1 if k == output else 1) for k, change in changes.items())
    number = about.answers if about.each else 1
    known = 1 <= output <= (1 if about.uniform else about.answers)
    if not known or len(changes) != number or not is_least:
        raise Rejected("the pair is no pair of neighbouring inputs, or not the worst one of its left input")
    return about.class_of(tuple(left), output), about.class_of(tuple(right), output)


def _needs(document: Mapping[str, Any], about: _Maxima, pair: tuple[Class, Class]) -> Iterator[Need]:
    """Yields what has to be shown, in the order of the proofs."""
    ends, terms = document["how"] == "ends", document["how"] == "terms"
    if ends == about.each or (terms and about.uniform):
        raise Misformed("this does not belong to these neighbours and ties", "how")
    bests, bottoms = (about.probability(given) for given in pair)
    for row in about.noise:
        yield from ((poly, False) for poly in row)
    for f in range(about.top):
        for v in range(1, about.top + 1):
            yield plus(about.below[f][v], about.below[f + 1][v], MINUS), False
    yield bests, True

    if terms:
        own, others = _named(document, about)
        yield from _factors(about, own, others)
        yield from (_above(bests, y, x, bottoms) for x, y in _products(about, own, others))
        return
    if ends:
        yield from _orders(about)
    found = _ends(about) if ends else _classes(about)
    for x, y in ((about.probability(a), about.probability(b)) for a, b in found):
        if ends:
            yield x, True
        yield _above(bests, y, x, bottoms)


def _above(a: Poly, b: Poly, c: Poly, d: Poly) -> Need:
    """Returns that a·b is at least c·d."""
    return plus(times(a, b), times(c, d), MINUS), False


def _classes(about: _Maxima) -> Iterator[tuple[Class, Class]]:
    step, free, n = about.step, about.top - about.step, about.answers
    several = comb(n - 1 + free, free) if about.uniform else comb(n + 2 * free, 2 * free + 1)
    if (free + 1) * several > MAX_CLASSES:
        raise Rejected("too many classes of inputs to check")
    for before, behind in about.sizes():
        for own in range(step, about.top + 1):
            first = combinations_with_replacement(range(free + 1), before)
            second = list(combinations_with_replacement(range(free + 1), behind))
            for a, b in points_of(first, second):
                moved = tuple(f + step for f in a), own - step, tuple(f + step for f in b)
                yield (a, own, b), moved


def _ends(about: _Maxima) -> Iterator[tuple[Class, Class]]:
    step, top = about.step, about.top
    for before, behind in about.sizes():
        most = (top,) * before, (top,) * behind
        for own in range(step, top + 1):
            yield (most[0], own, most[1]), (most[0], own - step, most[1])
        for f in range(top - step + 1):
            if before:
                rest, after = (0,) * (before - 1), (0,) * behind
                yield ((*rest, f), 0, after), ((*rest, f + step), 0, after)
            if behind:
                first, rest = (0,) * before, (0,) * (behind - 1)
                yield (first, 0, (f, *rest)), (first, 0, (f + step, *rest))


def _orders(about: _Maxima) -> Iterator[Need]:
    """Yields that the quotients of two rows rise, of those that `ends` is about."""
    step, top = about.step, about.top
    own = {(f, f + step) for f in range(top - step + 1)} | {(0, f) for f in range(1, top + 1)}
    for table, pairs in ((about.below, own | {(f, top) for f in range(top)}), (about.noise, own)):
        for f, g in sorted(pairs):
            for u, s in combinations(range(len(table[f])), 2):
                yield _above(table[g][s], table[f][u], table[g][u], table[f][s])


def _named(document: Mapping[str, Any], about: _Maxima) -> tuple[Answers, Answers]:
    own, others = tuple(document.get("own", ())), tuple(document.get("others", ()))
    free = about.top - about.step
    if len(own) != about.top + 1 or not all(about.step <= f <= about.top for f in own):
        raise Misformed("must name an answer for each noisy value", "own")
    if len(others) != about.top + 2 or not all(0 <= f <= free for f in others):
        raise Misformed("must name an answer for each noisy value", "others")
    return own, others


def _factors(about: _Maxima, own: Answers, others: Answers) -> Iterator[Need]:
    """Yields that the answers named have the largest quotients; a column of zeros makes all products zero."""
    columns = [(about.noise, v, f, -about.step) for v, f in enumerate(own)]
    columns += [(about.below, v, f, about.step) for v, f in enumerate(others)]
    for table, v, best, change in columns:
        if not any(row[v] for row in table):
            continue
        yield table[best][v], True
        for f, row in enumerate(table):
            if f != best and 0 <= f + change <= about.top:
                yield _above(table[best][v], table[f + change][v], row[v], table[best + change][v])


def _products(about: _Maxima, own: Answers, others: Answers) -> Iterator[tuple[Poly, Poly]]:
    """Yields the products of the factors named and of their neighbours, but for those that are zero."""
    for before, behind in about.sizes():
        for v, f in enumerate(own):
            found = []
            for moved in (0, about.step):
                total = about.noise[f - moved][v]
                for w, count in ((v, before), (v + 1, behind)):
                    total = times(total, power(about.below[others[w] + moved][w], count)) if count else total
                found.append(total)
            if found[0]:
                yield found[0], found[1]
