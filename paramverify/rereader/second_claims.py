"""Cases with a `[claim]`, read a second time: comparisons of functions at random points.

A comparison such as `left <= right` is the claim f ≥ 0 with f = k·s·(right − left), where k > 0 is a number
and s > 0 is made of denominators: it is a product of powers of what the case divides by. A strict comparison
is the claim −1 ≥ 0 with the constraint −f ≥ 0 besides. So at points of the domain f/(right − left) is
compared with products of powers of the divisors, up to one number. What is compared besides:

- points that the second reader finds in the domain are in the domain of the claims, and the other way round;
- where the case is said to hold, each comparison has its claim, and is true at the points;
- a witness has the values of both sides that the second reader finds, and its comparison is false there.

Standard library only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import prod

from ..kernel.strict_reading import Rejected, UnreadCase, counted
from .second_comparison import At, Found, PointwiseComparison
from .second_evidence import StatedDomain, Statement, is_merged, polynomial
from .second_numbers import Calculator
from .second_points import length_of, needed
from .second_trees import RELATIONS, SIGNS

MOST_PRODUCTS = 50_000  # of powers of divisors that are tried
POWERS = (0, 1, 2, 3)

Gap = tuple[Fraction, tuple[Fraction, ...]]  # right − left, and what was divided by


@dataclass(frozen=True)
class Link:
    """One comparison of a claim, whose whole text may have several of them."""

    text: str
    left: ast.expr
    relation: str
    right: ast.expr

    @property
    def strict(self) -> bool:
        """Whether it is false where both sides are equal."""
        return self.relation in ("<", ">")

    @property
    def turns(self) -> tuple[bool, ...]:
        """Whether its claims are about left − right, and not right − left: both for an equation."""
        return {"==": (False, True), ">": (True,), ">=": (True,)}.get(self.relation, (False,))


@dataclass(frozen=True)
class LinkRow:
    """What is found of a comparison at all points: right − left, and what was divided by."""

    gaps: tuple[Fraction, ...]
    divisors: tuple[tuple[Fraction, ...], ...]  # a row for each divisor

    def agrees(self, values: Sequence[Fraction], turned: bool) -> bool:
        """Tells whether the values of a polynomial are k·s·gap, or −k·s·gap."""
        own = [-gap if turned else gap for gap in self.gaps]
        if any(bool(v) != bool(gap) for v, gap in zip(values, own, strict=True)):
            return False
        places = [k for k, gap in enumerate(own) if gap]
        shares = [values[k] / own[k] for k in places]
        if not places or shares[0] < 0:
            return not places
        wanted = [share / shares[0] for share in shares]
        rows = [[abs(row[k] / row[places[0]]) for k in places] for row in self.divisors]
        rows = [list(row) for row in dict.fromkeys(map(tuple, rows)) if any(v != 1 for v in row)]
        if len(POWERS) ** len(rows) > MOST_PRODUCTS:
            raise UnreadCase("a claim with very many divisors")
        return any(
            all(
                prod(row[k] ** e for row, e in zip(rows, powers, strict=True)) == w
                for k, w in enumerate(wanted)
            )
            for powers in product(POWERS, repeat=len(rows))
        )


class ClaimComparison(PointwiseComparison):
    """One comparison of evidence about a `[claim]` with its case."""

    claimed = True

    def compare(self) -> str:
        given = self.reader.data["claim"]["holds"]
        links = [
            link for text in ([given] if isinstance(given, str) else given) for link in self._links(text)
        ]
        stated = self.evidence.named
        strict = {link.text for link in links if link.strict}
        if (witness := self.evidence.witness) is not None:
            is_strict = links[witness.get("number")].strict
            self.check_domains([self._domain(witness.get("claim"), is_strict)])
        self.check_domains(self._domain(claim, not strict.isdisjoint(claim["origins"])) for claim in stated)
        found, seen = self.visited(
            lambda at: [self._gap(link, at) for link in links], lambda gaps: self._needed(gaps, len(stated))
        )
        own = [
            LinkRow(tuple(gap for gap, _ in row), tuple(zip(*(d for _, d in row), strict=True)))
            for row in zip(*seen, strict=True)
        ]
        if self.evidence.witness is not None:
            self._fails(links, own, found)
            return f"both sides of the witness and its claim, at {found.where}, agree{found.missed}"
        self._holds(links, own, stated, found)
        agree = "agree with" if len(found.points) > 1 else "have the signs of"
        return f"the claims {agree} {counted(len(links), 'comparison')} at {found.where}{found.missed}"

    def _domain(self, claim: Statement, strict: bool) -> StatedDomain:
        """Returns the domain of a claim, that of a strict one without −f ≥ 0."""
        kept = claim["constraints"][: -1 if strict and _function(claim, True) else None]
        return self.evidence.domain_of({**claim, "constraints": kept})

    def _links(self, text: str) -> Iterator[Link]:
        """Yields the comparisons of a text: a chain, or several joined by `and`."""
        at = Calculator({}, None, Fraction(1), definitions=self.reader.definitions)
        tree = at.parsed(text)
        for part in tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]:
            if not isinstance(part, ast.Compare):
                raise UnreadCase("a claim that is not a comparison")
            for relation, (left, right) in zip(
                part.ops, pairwise([part.left, *part.comparators]), strict=True
            ):
                sign = SIGNS.get(type(relation), "!=")
                if sign == "!=":
                    raise UnreadCase("a claim with another relation")
                yield Link(text, left, sign, right)

    def _gap(self, link: Link, at: At) -> Gap:
        divisors: list[Fraction] = []
        here = self.reader.calculator(*at, divisors)
        return here.number(link.right) - here.number(link.left), tuple(divisors)

    def _needed(self, gaps: Sequence[Gap], claims: int) -> int:
        values = [value for gap, divisors in gaps for value in (gap, *divisors)]
        witness = self.evidence.witness
        stated = [*self.evidence.named, *([witness.get("claim")] if witness else [])]
        texts = [text for claim in stated for strict in (True, False) if (text := _function(claim, strict))]
        stated_degree = max((polynomial(text).degree for text in texts), default=0)
        degree = stated_degree + (1 + max(POWERS)) * length_of(values)
        return needed(degree, 1, MOST_PRODUCTS * (claims + 1), self.lost)

    def _values(self, claim: Statement, strict: bool, found: Found) -> tuple[Fraction, ...] | None:
        """Returns the values of f of a claim f ≥ 0, or f > 0; None if it is none of this form."""
        text = _function(claim, strict)
        if text is None:
            return None
        values = tuple(self.value(text, *at) for at in found.points)
        return tuple(-value for value in values) if strict else values

    def _agrees(self, claim: Statement, link: Link, turned: bool, row: LinkRow, found: Found) -> bool:
        values = self._values(claim, link.strict, found)
        return values is not None and row.agrees(values, turned)

    def _holds(
        self, links: Sequence[Link], own: Sequence[LinkRow], stated: Sequence[Statement], found: Found
    ) -> None:
        both = list(zip(links, own, strict=True))
        for link, row in both if self.evidence.holds else ():
            if not all(RELATIONS[link.relation](-gap, Fraction(0)) for gap in row.gaps):
                raise Rejected(f"{link.text!r:.100} is false at a point")
            for turned in link.turns:
                named = [claim for claim in stated if link.text in claim["origins"] or is_merged(claim)]
                if not any(self._agrees(claim, link, turned, row, found) for claim in named):
                    raise Rejected(f"no claim is about {link.text!r:.100}")
        for claim in stated:
            for text in claim["origins"]:
                about = [(link, row) for link, row in both if link.text == text]
                if not any(
                    self._agrees(claim, link, turned, row, found)
                    for link, row in about
                    for turned in link.turns
                ):
                    raise Rejected(f"the evidence has another claim about {text!r:.100}")

    def _fails(self, links: Sequence[Link], own: Sequence[LinkRow], found: Found) -> None:
        """Compares a witness: its sides, and the claim that is false."""
        stated = self.evidence.witness
        assert stated is not None
        link, row = links[stated.get("number")], own[stated.get("number")]
        if stated.get("statement") != link.text or stated.get("relation") != link.relation:
            raise Rejected("the witness is about another comparison")
        for base in self.bases:
            point = stated.point
            if not stated.is_algebraic and not self.reader.has(point, base):
                raise Rejected("the witness is outside the domain")
            here = self.reader.calculator(point, base)
            left, right = here.number(link.left), here.number(link.right)
            told = [stated.get(name) for name in ("left", "right", "difference")]
            if any(isinstance(number, dict) and "exact" not in number for number in told):
                raise UnreadCase("a witness whose sides are only enclosed")
            self.check_numbers((left, right, left - right), told, base, stated)
            if not stated.is_algebraic and RELATIONS[link.relation](left, right):
                raise Rejected("the comparison of the witness is true there")
        if not any(self._agrees(stated.get("claim"), link, turned, row, found) for turned in link.turns):
            raise Rejected("the evidence has another claim for the witness")


def _function(claim: Statement, strict: bool) -> str | None:
    """Returns f, or −f of a strict claim; None if it has the other form.

    The strict claim is that −1 ≥ 0 at the points with −f ≥ 0.
    """
    if not strict:
        return str(claim["polynomial"])
    text, relation = claim["constraints"][-1] if claim["constraints"] else ("", "")
    return str(text) if claim["polynomial"] == "-1" and relation == ">=" else None
