"""Checks exact intervals of one parameter p, whose ends are roots of polynomials.

The document holds a domain with one parameter in [L, U], claims f ≥ 0, constraints, factors g, and for each
claim and each constraint a product c·∏ gᵢ^mᵢ that must equal it. Its `breaks` are the roots of the factors in
(L, U), in ascending order: rational ones, and others given by an interval between two rationals. No two of
these intervals meet. All this is about a model whose obligations are proved besides, as claims of their own.

parts      A point is outside if a constraint fails there, safe if all claims hold, else violating.
           Neighbouring pieces of one kind are one part. The parts of the document must be these.
signs      Between two neighbouring breaks each claim has one sign, which a rational point there shows. At a
           break a claim with that factor is zero. Another one has no root in the interval of the break, and
           so the sign of its lower end.
roots      A rational break is a root of its factor. In the interval of another one the Bernstein coefficients
           of the factor have one variation of sign, and it does not vanish at the ends: so there is exactly
           one root (Descartes' rule). Between the breaks of a factor, cut at places where it is not zero, the
           coefficients have no variation: there is no root. So the breaks of a factor are all its roots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from typing import Any

from .evidence_polynomials import Condition, Poly, degree, evaluate, number, parse, whole
from .evidence_shapes import OUTSIDE, SAFE, VIOLATING
from .ledger import Evidence, KernelReport, Statement
from .product_substitution import MAX_DEGREE, sign_at, variations
from .proof_goals import WrittenClaim
from .region_evidence import CELLS, check_stated, read_products
from .strict_reading import Misformed, Rejected

STATUS = "exact intervals"


@dataclass(frozen=True)
class Signed:
    """A polynomial and the numbers of its factors; `strict` tells whether a constraint has to be positive."""

    poly: Poly
    factors: frozenset[int]
    strict: bool = False

    def sign(self, place: Fraction, factor: int | None = None) -> int:
        """Returns the sign at a place, or at the root of a factor that is next to it."""
        value = 0 if factor in self.factors else evaluate(self.poly, [place])
        return (value > 0) - (value < 0)


@dataclass(frozen=True)
class Break:
    """A root of a factor, at a rational or between two; an end of the box has no factor."""

    low: Fraction
    high: Fraction
    factor: int | None = None


@dataclass(frozen=True)
class IntervalPiece:
    """Points between two breaks, given by their numbers; the ends of the box are the first and the last."""

    status: str
    ends: tuple[int, int]
    closed: tuple[bool, bool]

    def document(self) -> dict[str, Any]:
        """Returns the piece as it is written."""
        return {"status": self.status, "ends": [*self.ends], "closed": [*self.closed]}


@dataclass(frozen=True)
class ParameterLine:
    """What a document is about: signed claims and constraints, and all places at which they may vanish."""

    name: str
    claims: list[Signed]
    constraints: list[Signed]
    places: tuple[Break, ...]
    closed: tuple[bool, bool]

    def status(self, place: Fraction, factor: int | None = None) -> str:
        """Returns the status of a place, or of the root of a factor that is next to it."""
        if any(c.sign(place, factor) < c.strict for c in self.constraints):
            return OUTSIDE
        return SAFE if all(c.sign(place, factor) >= 0 for c in self.claims) else VIOLATING

    def pieces(self) -> Iterator[IntervalPiece]:
        """Yields the points and the open intervals between them, in ascending order."""
        last = len(self.places) - 1
        for k, at in enumerate(self.places):
            if 0 < k < last or self.closed[k > 0]:
                yield IntervalPiece(self.status(at.low, at.factor), (k, k), (True, True))
            if k < last:
                middle = (at.high + self.places[k + 1].low) / 2
                yield IntervalPiece(self.status(middle), (k, k + 1), (False, False))

    def parts(self) -> list[IntervalPiece]:
        """Returns the pieces, neighbouring ones of one status as one."""
        parts = []
        for status, pieces in groupby(self.pieces(), key=lambda piece: piece.status):
            own = list(pieces)
            ends, closed = (own[0].ends[0], own[-1].ends[1]), (own[0].closed[0], own[-1].closed[1])
            parts.append(IntervalPiece(status, ends, closed))
        return parts


def show(about: Evidence, statement: Statement) -> KernelReport:
    """Checks exact intervals; `proved` counts the parts.

    Raises:
        Rejected: something is not shown, or they are not about the claims of the case.
    """
    about.untied(statement["domain"])
    check_stated(about, statement, "they are")
    line = read_line(statement, about.domain(statement["domain"]))
    parts = line.parts()
    for k, part in enumerate(parts):
        if statement["parts"][k : k + 1] != [part.document()]:
            raise Misformed("the intervals differ from what the signs of the claims show", "parts", k)
    if len(statement["parts"]) != len(parts):
        raise Rejected("there are more parts than the signs of the claims show")
    lines = tuple(_told(statement, line, part) for part in parts)
    return KernelReport(True, lines, len(parts), status=STATUS, unit="part")


def read_line(document: Any, domain: WrittenClaim) -> ParameterLine:
    """Reads what a statement is about, and checks that its breaks are all roots of its factors.

    Raises:
        Rejected: this is not shown, or a product is another polynomial.
    """
    goal = domain.goal
    if len(goal.names) != 1 or domain.exponent is not None:
        raise Rejected("exact intervals need one parameter, and no constant E")
    name, (low, high) = goal.names[0], goal.box[goal.names[0]]
    factors = [parse(text, goal.names) for text in document["factors"]]
    polys = [(parse(text, goal.names), False) for text in document["claims"]]
    conditions = [*filter(None, goal.conditions)]
    breaks = tuple(
        Break(number(b["between"][0]), number(b["between"][1]), b["factor"]) for b in document["breaks"]
    )
    places = (Break(low, low), *breaks, Break(high, high))
    if any(a.high >= b.low for a, b in pairwise(places)) or any(b.low > b.high for b in breaks):
        raise Rejected("the breaks are not apart from each other and from the ends, in ascending order")
    if any(b.factor not in range(len(factors)) for b in breaks):
        raise Rejected("a break belongs to a factor that does not exist")
    for k, (factor, cuts) in enumerate(zip(factors, document["cuts"], strict=True)):
        _check_roots(factor, (low, high), [b for b in breaks if b.factor == k], [*map(number, cuts)])
    return ParameterLine(
        name,
        _signed(polys, document["products"], factors),
        _signed(conditions, document["constraints"], factors),
        places,
        ((name, 0) not in goal.open, (name, 1) not in goal.open),
    )


def _signed(
    conditions: Sequence[Condition], products: Sequence[Any], factors: Sequence[Poly]
) -> list[Signed]:
    """Returns polynomials with their factors, whose products they must be."""
    powers = read_products(products, [poly for poly, _ in conditions], factors, 1)
    return [
        Signed(poly, frozenset(k for k, _ in own), strict)
        for (poly, strict), (_, own) in zip(conditions, powers, strict=True)
    ]


def _check_roots(
    factor: Poly, ends: tuple[Fraction, Fraction], breaks: Sequence[Break], cuts: Sequence[Fraction]
) -> None:
    """Checks that the breaks of a factor are all its roots between the ends.

    Raises:
        Rejected: that is not shown.
    """
    size = degree(factor, 0)
    if size > MAX_DEGREE:
        raise Rejected("a factor of a too high degree")
    terms = whole(factor)[0]
    outer = [terms.get((k,), 0) for k in range(size + 1)]
    if not all(sign_at(outer, cut) for cut in cuts) or any(a >= b for a, b in pairwise(cuts)):
        raise Rejected("a factor vanishes at a cut, or the cuts do not ascend")
    start = ends[0]
    for at in [*breaks, Break(ends[1], ends[1])]:
        marks = [start, *(cut for cut in cuts if start < cut < at.low), at.low]
        if any(variations(outer, a, b) for a, b in pairwise(marks)):
            raise Rejected("it is not shown that the breaks are all roots")
        start = at.high
    for at in breaks:
        left, right = sign_at(outer, at.low), sign_at(outer, at.high)
        simple = left * right < 0 and variations(outer, at.low, at.high) == 1
        if not (simple if at.low < at.high else size and not left):
            raise Rejected("it is not shown that a factor has one root at a break")


def _told(document: Any, line: ParameterLine, part: IntervalPiece) -> str:
    """Returns a part in words."""
    words = [_place(document, line.places[k]) for k in part.ends]
    if part.ends[0] == part.ends[1]:
        return f"{line.name} = {words[0]}: {CELLS[part.status]}"
    left, right = ("<=" if closed else "<" for closed in part.closed)
    return f"{words[0]} {left} {line.name} {right} {words[1]}: {CELLS[part.status]}"


def _place(document: Any, at: Break) -> str:
    if at.low == at.high:
        return str(at.low)
    assert at.factor is not None
    return f"the root of {document['factors'][at.factor]:.100} between {at.low} and {at.high}"
