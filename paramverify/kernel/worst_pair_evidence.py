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
from itertools import combinations, combinations_with_replacement, permutations
from itertools import product as pairs_of
from itertools import product as points_of_axes
from math import comb, lcm, prod
from typing import Any

from .evidence_polynomials import Poly, Whole, constant, number, parse, plus, power, product, times
from .ledger import Evidence, Statement
from .proof_goals import Context, WrittenClaim
from .proof_rules import prove
from .strict_reading import Misformed, Rejected

# --- noise of rational numbers ----------------------------------------------------------------------

Axis = tuple[int, ...]
Table = dict[tuple[Axis, ...], Fraction]

MAX_ENTRIES = 2_000_000


def show(about: Evidence, statement: Statement) -> str:
    """Checks that the claims are about a pair that stands for all neighbours; returns that in words.

    Raises:
        Rejected: the pair is none, or it is not shown.
    """
    sides = (str(tuple(statement[side])) for side in ("left", "right"))
    named = tuple(f"{one} against {other}, output " for one, other in permutations(sides))
    for place, claim in about.of("claim"):
        if "origins" not in claim or not all(origin.startswith(named) for origin in claim["origins"]):
            raise Misformed(
                "this is about another pair than the one that stands for others", "statements", place
            )
        if "domain" in statement and not _same_domain(about, claim, statement["domain"]):
            raise Misformed(
                "another domain than that of the pair that stands for others", "statements", place
            )
    if "domain" not in statement:
        return check_largest(statement)
    about.untied(statement["domain"])
    return check_everywhere(statement, about.domain(statement["domain"]))


def _same_domain(about: Evidence, claim: Statement, number: int) -> bool:
    own, wanted = about.written(claim["domain"]), about.written(number)
    return all(own.get(key) == value for key, value in wanted.items())


def check_largest(document: Statement) -> str:
    """Checks the statement, and returns it in words.

    Raises:
        Rejected: another pair has a larger ratio, or the pair is none.
    """
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
        _check_output(_table(noise, _table_sizes(n, k, ties), ties), differ, step, best)
    return f"{left} against {right} has the largest ratio of all neighbours: {best}"


def _check_pair(left: Axis, right: Axis, n: int, values: int, differ: str, step: int) -> None:
    known = all(len(given) == n and all(0 <= v < values for v in given) for given in (left, right))
    changed = [abs(x - y) for x, y in zip(left, right, strict=False) if x != y]
    if not known or any(d > step for d in changed) or (differ == "one" and len(changed) > 1):
        raise Rejected("the pair is no pair of neighbouring inputs")


def _axes(given: Axis, output: int, ties: str) -> tuple[Axis, ...]:
    before, own, after = given[: output - 1], given[output - 1 : output], given[output:]
    return (own, before + after) if ties == "uniform" else (before, own, after)


def _table_sizes(n: int, output: int, ties: str) -> tuple[int, ...]:
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
    return {point: _probability(point, noise, ties) for point in points_of_axes(*axes)}


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


# --- noise with parameters --------------------------------------------------------------------------

Answers = tuple[int, ...]
Class = tuple[Answers, int, Answers]  # the answers before the own one, the own one, those behind it
Need = tuple[Poly, bool]  # to be shown at least zero; above zero if the second is true

MAX_CLASSES = 20_000
ZERO, ONE, MINUS = Fraction(0), Fraction(1), Fraction(-1)


@dataclass(frozen=True)
class _Maxima:
    """Noisy max: the noise, its sums from below, and what is computed once.

    `whole[f][v]` and `least[f][v]` are the noise and its sums times `scale`, with whole coefficients, in one
    more variable z. With it `least + z·whole` counts who is equal to v.
    """

    noise: list[list[Poly]]
    below: list[list[Poly]]
    width: int
    step: int
    uniform: bool
    scale: int
    shares: dict[tuple[int, Answers], Whole] = field(default_factory=dict)
    known: dict[Class, Poly] = field(default_factory=dict)

    @property
    def top(self) -> int:
        return len(self.noise) - 1

    def probability(self, given: Class) -> Poly:
        """Returns Σ_v Pr(own answer becomes v and wins), times a power of the sum of a row."""
        before, own, behind = given
        place = tuple(sorted(before)), own, tuple(sorted(behind))
        if place not in self.known:
            total: dict[tuple[int, ...], Fraction] = {}
            for v in range(self.top + 1):
                won = product(self._counted(own, v, 0), self._lost(v, place[0], place[2]))
                for powers, value in won.items():
                    part = Fraction(value, powers[-1] + 1)  # one of k + 1 that are equal
                    total[powers[:-1]] = total.get(powers[:-1], ZERO) + part
            scale = self.scale ** (len(before) + 1 + len(behind))
            self.known[place] = {powers: value / scale for powers, value in total.items() if value}
        return self.known[place]

    def _lost(self, v: int, before: Answers, behind: Answers) -> Whole:
        """Returns the probability that all others lose to v; the power of z is how many are equal to it."""
        if self.uniform:
            return self._shared(v, behind, 1)
        return product(self._shared(v, before, 0), self._shared(v + 1, behind, 0))

    def _shared(self, v: int, others: Answers, ties: int) -> Whole:
        if not others:
            return {(0,) * (self.width + 1): 1}
        if (v, others) not in self.shares:
            rest, f = self._shared(v, others[:-1], ties), others[-1]
            self.shares[v, others] = product(rest, self._counted(f, v, 1, ties))
        return self.shares[v, others]

    def _counted(self, f: int, v: int, under: int, ties: int = 1) -> Whole:
        """Returns Pr(f becomes v), or with `under` Pr(f becomes less), and z·Pr(f becomes v) if `ties`."""
        parts = [(self.below[f][v], 0)] if under else [(self.noise[f][v], 0)]
        parts += [(self.noise[f][v], 1)] if under and ties else []
        return {
            (*powers, k): (value * self.scale).numerator
            for poly, k in parts
            for powers, value in poly.items()
        }


def check_everywhere(document: Statement, domain: WrittenClaim) -> str:
    """Checks the statement, and returns it in words.

    Raises:
        Rejected: it is not proved, or the pair is none.
    """
    goal, context = domain.goal, Context(domain.exponent)
    noise = [[parse(p, goal.names) for p in row] for row in document["noise"]]
    top, n = len(noise) - 1, document["answers"]
    sums = [_total(row) for row in noise]
    if top < 1 or any(len(row) != top + 1 for row in noise) or any(s != sums[0] for s in sums) or not sums[0]:
        raise Rejected("the noise is no distribution")
    step = reach(document["by"], top)
    below = [[_total(row[:v]) for v in range(top + 2)] for row in noise]
    scale = lcm(*(value.denominator for row in noise for poly in row for value in poly.values()))
    uniform = document["ties"] == "uniform"
    about = _Maxima(noise, below, len(goal.names), step=step, uniform=uniform, scale=scale)
    pair = _read_pair(document, about)
    proofs = iter(document["proofs"])
    for poly, strict in _needs(document, about, n, pair):
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


def reach(by: str, most: int) -> int:
    """Returns the largest change of an answer, at most a number."""
    if by != "any" and not re.fullmatch("[1-9][0-9]{0,8}", by):
        raise Misformed("must be 'any' or the digits of a positive whole number", "by")
    return most if by == "any" else min(int(by), most)


def _total(polys: list[Poly]) -> Poly:
    total: Poly = {}
    for poly in polys:
        total = plus(total, poly)
    return total


def _read_pair(document: Mapping[str, Any], about: _Maxima) -> tuple[Class, Class]:
    """Returns both inputs; the right one is the neighbour of the left one with the least probability."""
    left, right, output, n = (document[k] for k in ("left", "right", "output", "answers"))
    if len(left) != n or len(right) != n or not 1 <= output <= n or (about.uniform and output != 1):
        raise Rejected("the pair is no pair of neighbouring inputs")
    changed = [k for k in range(n) if left[k] != right[k]]
    least = all(right[k] - left[k] == (-about.step if k == output - 1 else about.step) for k in changed)
    number = n if document["differ"] == "each" else 1
    inside = all(0 <= v <= about.top for v in (*left, *right))
    if len(changed) != number or not least or not inside:
        raise Rejected("the pair is no pair of neighbouring inputs")
    first, second = ((tuple(x[: output - 1]), x[output - 1], tuple(x[output:])) for x in (left, right))
    return first, second


def _needs(document: Mapping[str, Any], about: _Maxima, n: int, pair: tuple[Class, Class]) -> Iterator[Need]:
    """Yields what has to be shown, in the order of the proofs."""
    ends, terms = document["how"] == "ends", document["how"] == "terms"
    if ends != (document["differ"] == "one") or (terms and about.uniform):
        raise Misformed("this does not belong to these neighbours and ties", "how")
    bests, bottoms = (about.probability(given) for given in pair)
    for row in about.noise:
        yield from ((poly, False) for poly in row)
    for f in range(about.top):
        for v in range(1, about.top + 1):
            yield plus(about.below[f][v], about.below[f + 1][v], MINUS), False
    yield bests, True

    def compared(x: Poly, y: Poly) -> Need:
        return plus(times(bests, y), times(x, bottoms), MINUS), False

    if terms:
        own, others = _named(document, about)
        yield from _factors(about, own, others)
        yield from (compared(x, y) for x, y in _products(about, n, own, others))
        return
    if ends:
        yield from _orders(about)
    found = _ends(about, n) if ends else _classes(about, n)
    for x, y in ((about.probability(a), about.probability(b)) for a, b in found):
        if ends:
            yield x, True
        yield compared(x, y)


def _sizes(about: _Maxima, n: int) -> Iterator[tuple[int, int]]:
    """Yields the numbers of answers before and behind the own one, for each output that is looked at."""
    yield from [(0, n - 1)] if about.uniform else [(k, n - 1 - k) for k in range(n)]


def _classes(about: _Maxima, n: int) -> Iterator[tuple[Class, Class]]:
    step, free = about.step, about.top - about.step
    several = comb(n - 1 + free, free) if about.uniform else comb(n + 2 * free, 2 * free + 1)
    if (free + 1) * several > MAX_CLASSES:
        raise Rejected("too many classes of inputs to check")
    for before, behind in _sizes(about, n):
        for own in range(step, about.top + 1):
            first = combinations_with_replacement(range(free + 1), before)
            second = list(combinations_with_replacement(range(free + 1), behind))
            for a, b in pairs_of(first, second):
                moved = tuple(f + step for f in a), own - step, tuple(f + step for f in b)
                yield (a, own, b), moved


def _ends(about: _Maxima, n: int) -> Iterator[tuple[Class, Class]]:
    step, top = about.step, about.top
    for before, behind in _sizes(about, n):
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
                rising = times(table[g][s], table[f][u])
                yield plus(rising, times(table[g][u], table[f][s]), MINUS), False


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
                larger = times(table[best][v], table[f + change][v])
                yield plus(larger, times(row[v], table[best + change][v]), MINUS), False


def _products(about: _Maxima, n: int, own: Answers, others: Answers) -> Iterator[tuple[Poly, Poly]]:
    """Yields the products of the factors named and of their neighbours, but for those that are zero."""
    for before, behind in _sizes(about, n):
        for v, f in enumerate(own):
            found = []
            for moved in (0, about.step):
                factors = [about.noise[f - moved][v]]
                factors += [power(about.below[others[v] + moved][v], before)] if before else []
                factors += [power(about.below[others[v + 1] + moved][v + 1], behind)] if behind else []
                total = constant(ONE, about.width)
                for factor in factors:
                    total = times(total, factor)
                found.append(total)
            if found[0]:
                yield found[0], found[1]
