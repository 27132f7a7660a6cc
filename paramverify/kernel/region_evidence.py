"""Checks region maps: at which values of the free parameters the claims are true for all other parameters.

A map has a domain, free parameters x (the others, y, are quantified), claims f ≥ 0, factors g, and for each
claim a product c·∏ gᵢ^mᵢ that must equal f. Its cells are closed boxes over the free parameters. The constant
E is a parameter more, whose interval is shown to contain exp(q); it is never cut. The model that the claims
are about has obligations, which are proved besides.

*Sets of outputs.* If the case compares sets of outputs, `parts` statements stand beside the map. They say
Σ max(0, tᵢ) ≤ room, as in `set_evidence`, each with a tree of cuts of the whole domain. A leaf `["claim", k]`
says: no term is open any more, and the goal f = room − Σ of the terms that count is the claim number k of the
map. On that part of the domain room − Σ max(0, tᵢ) is f. So

- at a point where all claims of the map hold, all sums are within their room;
- a claim of the map is room − Σ_{i∈S} tᵢ for a set S of terms: where it fails, the sum is above its room.

The second needs that each claim of the map is at a leaf.

*Symmetric parameters.* Their exchange leaves the claims, the constraints and the box as they are. Then a
point of the domain goes to one at which the parameters of each class ascend, by exchanges, and claims that
hold or fail there hold or fail at the point itself. So a cell at which no point of the interior ascends needs
no proof: the other cells contain all points with different values that ascend, and being closed, all that
ascend.

*Cells.* The box is cut across a free parameter, again and again, until each part is a cell. On each part the
Bernstein coefficients of each factor are kept. Of a factor that depends on one product of powers, the roots
are shown instead (see `product_substitution`). What is shown of a cell depends on its status:

safe       For each claim, the box of y is cut until on each part (times the cell) all Bernstein coefficients
           of each factor of odd multiplicity have one weak sign and the signs multiply to +, or a factor is
           zero, or those of a constraint show that no point of the domain is there. Or another proof of the
           claim on the cell is given, by the rules of `proof_rules`.
outside    The same, with a constraint on each part.
violating  y is fixed at values in its interval. Each constraint in which a y with more than one value occurs
           holds on the whole cell, the signs multiply to −, and no factor vanishes at a point of the cell in
           the box of the domain: some coefficient is not zero on each smallest face that belongs to it.
mirrored   Of two symmetric parameters, the first one is nowhere less than the second.
undecided  Nothing is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

from .claim_evidence import replay
from .direction_statements import Origin, by_origin, check_origins
from .evidence_polynomials import Box, Condition, Poly, check_product, degree, number, parse
from .evidence_shapes import PARTS
from .ledger import Evidence, KernelReport, Multiple, Statement, multiple
from .product_substitution import ByRoots, read_by_roots
from .proof_goals import BernsteinCoefficients, Context, Goal, WrittenClaim, bernstein
from .proof_trees import follow as follow_steps
from .set_evidence import check_tree
from .strict_reading import Misformed, Rejected, counted

Form = BernsteinCoefficients | ByRoots
Cells = list[tuple[tuple[tuple[Fraction, Fraction], ...], Any]]
ZERO = Fraction(0)
Powers = tuple[tuple[int, int], ...]  # of factors, by their numbers

# --- maps -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Map:
    """What a document is about."""

    domain: WrittenClaim
    free: tuple[str, ...]
    quantified: tuple[str, ...]
    claims: tuple[Poly, ...]
    factors: tuple[Poly, ...]
    products: list[tuple[int, Powers]]  # of each claim the sign of the constant, and the powers
    conditions: tuple[Condition, ...]
    by_roots: dict[int, ByRoots]

    @property
    def goal(self) -> Goal:
        """The goal of the domain."""
        return self.domain.goal

    def whole(self) -> MapNode:
        """Returns the whole box."""
        polys = [*self.factors, *(poly for poly, _ in self.conditions)]
        forms = {k: self.by_roots.get(k) or bernstein(self.goal, poly) for k, poly in enumerate(polys)}
        return MapNode(self.goal.box, forms)

    def occurs(self, poly: Poly) -> bool:
        """Tells whether a quantified parameter with more than one value occurs."""
        ranging = [name for name in self.quantified if self.goal.box[name][0] < self.goal.box[name][1]]
        return any(degree(poly, self.goal.names.index(name)) for name in ranging)


@dataclass(frozen=True)
class MapNode:
    """A part of the subdivision: its box, and there the forms of the factors and then of the conditions."""

    box: Box
    forms: dict[int, Form]

    def sides(self, name: str, place: Fraction) -> list[MapNode]:
        """Returns the parts below and above a place inside the interval of a parameter."""
        low, high = self.box[name]
        ratio = (place - low) / (high - low)
        forms = {k: f.cut(name, ratio) if name in f.names else (f, f) for k, f in self.forms.items()}
        return [
            MapNode({**self.box, name: ends}, {k: both[side] for k, both in forms.items()})
            for side, ends in enumerate(((low, place), (place, high)))
        ]


def read_map(document: Any, domain: WrittenClaim) -> Map:
    """Reads the statement of a map on a domain; checks that the products are the claims.

    Raises:
        Rejected: they are not, or something is malformed.
    """
    goal, names = domain.goal, domain.goal.names
    parameters = names[:-1] if domain.exponent is not None else names
    free = tuple(document["free"])
    if not free or len(set(free)) < len(free) or not set(free) <= set(parameters):
        raise Rejected("the free parameters are not parameters")
    if any(goal.box[name][0] == goal.box[name][1] for name in free):
        raise Rejected("a free parameter is fixed")
    factors = tuple(parse(text, names) for text in document["factors"])
    claims = tuple(parse(text, names) for text in document["claims"])
    by_roots: dict[int, ByRoots] = {}
    for entry in document.get("by_roots", ()):
        index = entry["factor"]
        if not 0 <= index < len(factors) or index in by_roots:
            raise Rejected("this is not a factor, or it is listed twice")
        by_roots[index] = read_by_roots(entry, factors[index], names, goal.box)
    return Map(
        domain,
        free,
        tuple(name for name in parameters if name not in free),
        claims,
        factors,
        read_products(document["products"], claims, factors, len(names)),
        tuple(filter(None, goal.conditions)),
        by_roots,
    )


def read_products(
    written: Sequence[Any], polys: Sequence[Poly], factors: Sequence[Poly], width: int
) -> list[tuple[int, Powers]]:
    """Returns the sign of the constant, and the powers of factors, of each product.

    Raises:
        Rejected: one is another polynomial than that in its place.
    """
    found = []
    for poly, entry in zip(polys, written, strict=True):
        content, powers = number(entry["constant"]), tuple((k, exponent) for k, exponent in entry["factors"])
        check_product(poly, content, powers, factors, width)
        found.append((1 if content > 0 else -1, powers))
    return found


def separated(
    box: Sequence[tuple[Fraction, Fraction]], cells: Cells
) -> tuple[int, Fraction, tuple[Cells, Cells]]:
    """Returns an axis, a place on it that no cell straddles, and the cells on both sides.

    All cells are parts of the box, and neither side is without a cell. The middle is tried first.
    """
    for axis, (low, high) in enumerate(box):
        place = (low + high) / 2
        below = [c for c in cells if c[0][axis][1] <= place]
        above = [c for c in cells if place <= c[0][axis][0]]
        if below and above and len(below) + len(above) == len(cells):
            return axis, place, (below, above)
    for axis, (low, high) in enumerate(box):
        ordered = sorted(cells, key=lambda c: c[0][axis])
        reached = low
        for k, cell in enumerate(ordered):
            place = cell[0][axis][0]
            if k and reached <= place < high:
                return axis, place, (ordered[:k], ordered[k:])
            reached = max(reached, cell[0][axis][1])
    raise Rejected("the cells do not tile the box")


# --- sets of outputs --------------------------------------------------------------------------------


def check_covers(about: Evidence, statement: Statement) -> str:
    """Checks the sums of a map and their trees; returns what was shown.

    Raises:
        Rejected: something is not shown, or the case has other sums.
    """
    domain = dict(about.written(statement["domain"]))
    if "constant" in domain:
        domain["box"] = {name: ends for name, ends in domain["box"].items() if name != "E"}
    claims = [parse(text, domain["variables"]) for text in statement["claims"]]
    known = by_origin(about)
    settled: set[Origin] = set()
    seen: set[int] = set()

    def at_claim(goal: Goal, index: int) -> None:
        if not index < len(claims) or goal.poly != claims[index]:
            raise Rejected("a leaf of the tree refers to another claim")
        seen.add(index)

    for place, entry in about.of("parts"):
        if about.written(entry["domain"]) != domain:
            raise Misformed("a sum is on another domain", "statements", place, "domain")
        check_origins(about, entry, settled, known, PARTS, "statements", place)
        trusted = check_tree(about.domain(entry["domain"]), entry, at_claim)
        if trusted:
            raise Rejected(f"a sign is known by a solver only: {', '.join(sorted(trusted))}")
    if known is not None and known.keys() - settled:
        raise Rejected("a claim of the case has no tree")
    if seen != set(range(len(claims))):
        raise Rejected("a claim of the map is not about a set of outputs")
    sums, sets = counted(len(settled), "sum"), counted(len(claims), "set")
    return f"{sums} over all sets of outputs: everywhere one of {sets} is the worst"


# --- symmetric parameters ---------------------------------------------------------------------------


def read_folds(document: Any, found: Map) -> tuple[tuple[str, ...], ...]:
    """Returns the classes of symmetric parameters, all exchanges being checked. No variable is tied here.

    Raises:
        Rejected: an exchange of two neighbours of a class changes the claims, a constraint or the box.
    """
    folds = tuple(tuple(names) for names in document.get("symmetric", ()))
    every = [name for names in folds for name in names]
    if len(set(every)) < len(every) or not set(every) <= set(found.free) or any(len(n) < 2 for n in folds):
        raise Rejected("not classes of different free parameters")
    names = found.goal.names
    claims = {(multiple(poly), False) for poly in found.claims}
    conditions = {(multiple(poly), strict) for poly, strict in found.conditions}
    for fold in folds:
        for first, second in pairwise(fold):
            a, b = names.index(first), names.index(second)
            ends = [{end for end in (0, 1) if (n, end) in found.goal.open} for n in (first, second)]
            alike = found.goal.box[first] == found.goal.box[second] and ends[0] == ends[1]
            if not alike or any(_exchanged(known, a, b) != known for known in (claims, conditions)):
                raise Rejected(f"{first:.40} and {second:.40} are not symmetric")
    return folds


def _exchanged(known: Iterable[tuple[Multiple, bool]], a: int, b: int) -> set[tuple[Multiple, bool]]:
    """Returns polynomials in which two variables have changed places."""

    def moved(x: tuple[int, ...]) -> tuple[int, ...]:
        places = list(x)
        places[a], places[b] = x[b], x[a]
        return tuple(places)

    return {(frozenset((moved(x), c) for x, c in terms), strict) for terms, strict in known}


def check_mirrored(
    box: Sequence[tuple[Fraction, Fraction]], free: Sequence[str], folds: Iterable[Sequence[str]]
) -> None:
    """Checks that symmetric parameters ascend at no point of the interior of a cell.

    Raises:
        Rejected: they may.
    """
    for names in folds:
        for first, second in combinations(names, 2):
            if box[free.index(first)][0] >= box[free.index(second)][1]:
                return
    raise Rejected("a cell mirrors no others")


# --- cells ------------------------------------------------------------------------------------------

STATUS = "region map"
MAX_TOKENS = 100_000
MAX_CELLS = 2_000_000
CELLS = {  # in words
    "safe": "where the claims are true",
    "violating": "where one is false",
    "outside": "outside of the domain",
    "mirrored": "that mirror others",
    "undecided": "undecided",
}


def show(about: Evidence, statement: Statement) -> KernelReport:
    """Checks a region map; `proved` counts the safe and violating cells, `open` the undecided ones.

    Raises:
        Rejected: something is not shown, or the map is not about the claims of the case.
    """
    about.untied(statement["domain"])
    found = read_map(statement, about.domain(statement["domain"]))
    summed = any(about.of("parts"))
    check_stated(about, statement)
    if about.named and (about.demanded.directions is not None) != summed:
        raise Rejected("the case compares sets of outputs, or the map does, but not both")
    folds = read_folds(statement, found)
    counts = _check_cells(statement, found, folds)
    told = {status: words for status, words in CELLS.items() if folds or status != "mirrored"}
    lines = [f"{counted(counts[status], 'cell')} {words}" for status, words in told.items()]
    lines += [f"symmetric: {', '.join(names)}" for names in folds]
    if summed:
        lines.append(check_covers(about, statement))
    proved = counts["safe"] + counts["violating"]
    false = counts["violating"]
    return KernelReport(True, tuple(lines), proved, open=counts["undecided"], status=STATUS, refuted=false)


def _check_cells(document: Any, found: Map, folds: Sequence[Sequence[str]]) -> dict[str, int]:
    """Checks that the cells tile the box and are what they are said to be; returns how many are what."""
    cells: Cells = []
    for entry in document["cells"]:
        box = tuple((number(low), number(high)) for low, high in entry["box"])
        if len(box) != len(found.free) or any(low >= high for low, high in box):
            raise Rejected("a cell is not a box over the free parameters")
        cells.append((box, entry))
    if len(cells) > MAX_CELLS:
        raise Rejected("the map has too many cells")
    counts = dict.fromkeys(CELLS, 0)
    pending = [(found.whole(), cells)]
    while pending:
        node, inside = pending.pop()
        own = tuple(node.box[name] for name in found.free)
        if len(inside) == 1 and inside[0][0] == own:
            entry = inside[0][1]
            status = entry["status"]
            counts[status] += 1
            if status == "safe":
                check_safe(found, node, entry)
            elif status == "outside":
                check_outside(found, node, entry)
            elif status == "violating":
                check_violating(found, node, entry)
            elif status == "mirrored":
                check_mirrored(own, found.free, folds)
            continue
        axis, place, sides = separated(own, inside)
        pending += zip(node.sides(found.free[axis], place), sides, strict=True)
    return counts


def check_stated(about: Evidence, statement: Statement, told: str = "the map is") -> None:
    """Checks that a map is about the claims of the case; the interval of E may differ."""
    claims, domain = about.demanded.stated, about.written(statement["domain"])
    if claims is None:
        return
    if [claim["polynomial"] for claim in claims] != statement["claims"]:
        raise Rejected(f"{told} about other claims")
    for claim in claims:
        box = dict(claim["box"])
        if "constant" in claim and "E" in domain["box"]:
            box["E"] = domain["box"]["E"]
        if {**claim, "box": box} != {**domain, "polynomial": claim["polynomial"]}:
            raise Rejected(f"{told} about another domain")


def nowhere(found: Map, node: MapNode) -> bool:
    """Tells whether the coefficients of a constraint show that it holds nowhere on the box of a part."""
    return any(
        form.weak_sign() in (-1, 0) and (strict or never_zero(found, node, form))
        for form, _, strict in conditions_on(found, node)
    )


def conditions_on(found: Map, node: MapNode) -> Iterator[tuple[Form, Poly, bool]]:
    """Yields the conditions with their forms on a part."""
    for k, (poly, strict) in enumerate(found.conditions, len(found.factors)):
        yield node.forms[k], poly, strict


def check_safe(found: Map, node: MapNode, entry: Any) -> None:
    """Checks that all claims hold on a cell within the domain."""
    cuts = entry.get("cuts", {})
    if cuts is None:
        raise Rejected("it is not shown that a cell is safe")
    proofs = entry.get("proofs", {})
    for index, (sign, powers) in enumerate(found.products):
        if str(index) in proofs:
            check_proof(found, node, found.claims[index], proofs[str(index)])
        else:
            follow(found, node, cuts.get(str(index), ["+"]), sign, powers)


def check_proof(found: Map, node: MapNode, claim: Poly, proof: Any) -> None:
    """Checks a proof that a claim holds on the cell within the domain; E is the number that it stands for."""
    goal, context = found.goal, Context(found.domain.exponent)
    box = {name: ends for name, ends in node.box.items() if name in (*found.free, *found.quantified)}
    ends = frozenset((name, k) for name, k in goal.open if node.box[name][k] == goal.box[name][k])
    replay(replace(goal, poly=claim, box=box, open=ends), proof, context)
    if context.trusted:
        raise Rejected(f"a claim on a cell is proved by a solver only: {', '.join(context.trusted)}")


def check_outside(found: Map, node: MapNode, entry: Any) -> None:
    """Checks that no point of the cell is in the domain."""
    cuts = entry.get("cuts")
    if cuts is None:
        raise Rejected("it is not shown that a cell is outside of the domain")
    follow(found, node, cuts["outside"], -1, ())


def positive(sign: int, powers: Powers, signs: Mapping[int, int | None]) -> bool:
    """Tells whether the signs of the factors make a product that is nowhere negative."""
    if any(signs[index] == 0 for index, _ in powers):
        return True
    for index, power in powers:
        sign *= (signs[index] or 0) ** (power % 2)
    return sign > 0


def follow(found: Map, node: MapNode, tokens: Any, sign: int, powers: Powers) -> None:
    """Checks a subdivision of the box of the quantified parameters."""
    if not 0 < len(tokens) <= MAX_TOKENS:
        raise Rejected("not a list of cuts")

    def step(part: MapNode, token: str) -> Iterable[MapNode]:
        if token == "+":
            signs = {index: part.forms[index].weak_sign() for index, _ in powers}
            if not nowhere(found, part) and not positive(sign, powers, signs):
                raise Rejected("the coefficients on a part of a cell do not show its status")
            return ()
        if token not in found.quantified:
            raise Rejected(f"not a quantified parameter: {token!r:.40}")
        return part.sides(token, sum(part.box[token], ZERO) / 2)

    used = {index for index, _ in powers}
    forms = {k: form for k, form in node.forms.items() if k in used or k >= len(found.factors)}
    follow_steps(tokens, replace(node, forms=forms), step)


def check_violating(found: Map, node: MapNode, entry: Any) -> None:
    """Checks that a claim fails at every point of a cell that is in the domain."""
    goal, index = found.goal, entry["claim"]
    if not 0 <= index < len(found.products):
        raise Rejected("a violating cell has no claim")
    at = {name: number(text) for name, text in entry["at"].items()}
    if at.keys() != set(found.quantified):
        raise Rejected("a violating cell has no values for the quantified parameters")
    for name, value in at.items():
        low, high = goal.box[name]
        excluded = {end for side, end in enumerate((low, high)) if (name, side) in goal.open}
        if not low <= value <= high or value in excluded:
            raise Rejected("a value of a quantified parameter is outside of its interval")
    for form, poly, strict in conditions_on(found, node):
        if found.occurs(poly):
            there = at_values(found, node, poly, form, at)
            if there.weak_sign() not in (0, 1) or (strict and not never_zero(found, node, there)):
                raise Rejected("a constraint is not shown to hold on a violating cell")
    sign, powers = found.products[index]
    for k, power in powers:
        factor = at_values(found, node, found.factors[k], node.forms[k], at)
        known = factor.weak_sign()
        if not known or not never_zero(found, node, factor):
            raise Rejected("a factor may vanish on a violating cell")
        sign *= known ** (power % 2)
    if sign > 0:
        raise Rejected("the signs of the factors make the product positive")


def at_values(found: Map, node: MapNode, poly: Poly, form: Form, at: Mapping[str, Fraction]) -> Form:
    """Returns the form on the cell with the quantified parameters fixed: their intervals are points."""
    if not found.occurs(poly):
        return form
    if isinstance(form, ByRoots):
        return form.at(at)
    points = {name: (value, value) for name, value in at.items()}
    return bernstein(replace(found.goal, box={**node.box, **points}), poly)


def never_zero(found: Map, node: MapNode, form: Form) -> bool:
    """Tells whether a form of one weak sign vanishes nowhere on the cell within the domain's box."""
    if isinstance(form, ByRoots):
        return True
    goal = found.goal
    choices: list[list[int | None]] = []
    for name in form.names:
        own, whole = node.box[name], goal.box[name]
        closed = [side for side in (0, 1) if (name, side) not in goal.open or own[side] != whole[side]]
        choices.append([*closed] or [None])
    for ends in product(*choices):
        face = form
        for name, side in zip(form.names, ends, strict=True):
            if side is not None:
                face = face.end(name, bool(side))
        if not any(face.entries):
            return False
    return True
