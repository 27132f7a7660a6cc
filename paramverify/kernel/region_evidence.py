"""Checks region maps: at which values of the free parameters the claims are true for all other parameters.

A map is as `region_maps` reads it: a domain, free parameters x, quantified ones y, claims f ≥ 0 as products
of factors, and cells. It is about a model whose obligations are proved besides, as claims of their own.

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

*Cells.* The box is cut across a free parameter, again and again, until each part is a cell. What is shown of
a cell depends on its status:

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

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

from .claim_evidence import check_claim
from .direction_statements import Origin, by_origin, check_origins
from .evidence_polynomials import Poly, add, number, parse
from .evidence_shapes import PARTS
from .ledger import Evidence, KernelReport, Statement
from .product_substitution import ByRoots
from .proof_goals import BernsteinCoefficients, Context, Goal, bernstein
from .proof_trees import follow as follow_steps
from .region_maps import AnyForm, Cells, Map, MapNode, read_map, separated
from .set_evidence import follow_tree
from .strict_reading import Misformed, Rejected, counted

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

    def at_leaf(goal: Goal, token: Any, context: Context) -> None:
        if isinstance(token, dict) or not token[1] < len(claims) or goal.poly != claims[token[1]]:
            raise Rejected("a leaf of the tree names another claim")
        seen.add(token[1])

    for place, entry in about.of("parts"):
        if about.written(entry["domain"]) != domain:
            raise Misformed("a sum on another domain", "statements", place, "domain")
        check_origins(about, entry, settled, known, PARTS, "statements", place)
        trusted = follow_tree(about.domain(entry["domain"]), entry, at_leaf)
        if trusted:
            raise Rejected(f"a sign is known by a solver only: {', '.join(sorted(trusted))}")
    if known is not None and known.keys() - settled:
        raise Rejected("a claim of the case has no tree")
    if seen != set(range(len(claims))):
        raise Rejected("a claim of the map is about no set of outputs")
    sums, sets = counted(len(settled), "sum"), counted(len(claims), "set")
    return f"{sums} over all sets of outputs: everywhere one of {sets} is the worst"


# --- symmetric parameters ---------------------------------------------------------------------------

Terms = frozenset[tuple[tuple[int, ...], Fraction]]


def read_folds(document: Any, found: Map) -> tuple[tuple[str, ...], ...]:
    """Returns the classes of symmetric parameters, all exchanges being checked.

    Raises:
        Rejected: an exchange of two neighbours of a class changes the claims, a constraint or the box.
    """
    folds = tuple(tuple(names) for names in document.get("symmetric", ()))
    every = [name for names in folds for name in names]
    if len(set(every)) < len(every) or not set(every) <= set(found.free) or any(len(n) < 2 for n in folds):
        raise Rejected("not classes of different free parameters")
    if folds and found.goal.ties:
        raise Rejected("a variable stands for a logarithm, and parameters are symmetric")
    names = found.goal.names
    claims = {(_terms(parse(text, names)), False) for text in found.claims}
    conditions = {(_terms(poly), strict) for poly, strict in found.conditions}
    for fold in folds:
        for first, second in pairwise(fold):
            a, b = names.index(first), names.index(second)
            alike = found.goal.box[first] == found.goal.box[second]
            alike = alike and all(
                ((first, end) in found.goal.open) == ((second, end) in found.goal.open) for end in (0, 1)
            )
            if not alike or any(_exchanged(known, a, b) != known for known in (claims, conditions)):
                raise Rejected(f"{first:.40} and {second:.40} are not symmetric")
    return folds


def _terms(poly: Poly) -> Terms:
    """Returns the terms, divided by the sum of the absolute values of the coefficients."""
    total = sum((abs(c) for c in poly.values()), Fraction(0))
    return frozenset((x, c / total) for x, c in poly.items())


def _exchanged(known: Iterable[tuple[Terms, bool]], a: int, b: int) -> set[tuple[Terms, bool]]:
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
    written = about.untied(statement["domain"])
    found = read_map(statement, about.domain(statement["domain"]), written)
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
        raise Rejected("too many cells")
    forms = tuple(map(found.form, range(len(found.factors))))
    conditions = tuple(bernstein(found.goal, poly) for poly, _ in found.conditions)
    counts = dict.fromkeys(CELLS, 0)
    pending = [(MapNode(dict(found.goal.box), forms, conditions), cells)]
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
        rest = {key: value for key, value in claim.items() if key not in ("polynomial", "box")}
        same = rest == {key: value for key, value in domain.items() if key != "box"}
        box = dict(claim["box"])
        if "constant" in claim and "E" in domain["box"]:
            box["E"] = domain["box"]["E"]
        if not same or box != domain["box"]:
            raise Rejected(f"{told} about another domain")


def nowhere(found: Map, node: MapNode) -> bool:
    """Tells whether the coefficients of a constraint show that it holds nowhere on the box of a part."""
    return any(
        max(form.entries) <= 0 and (strict or never_zero(found, node, form))
        for form, (_, strict) in zip(node.conditions, found.conditions, strict=True)
    )


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


def check_proof(found: Map, node: MapNode, text: Any, proof: Any) -> None:
    """Checks a proof that a claim holds on the cell within the domain; E is the number that it stands for."""
    box = {name: ends for name, ends in found.domain["box"].items() if name in node.box}
    for name in found.free:
        left, right = box[name][0], box[name][-1]
        (low, high), (least, most) = node.box[name], found.goal.box[name]
        box[name] = f"{left if low == least else '['}{low}, {high}{right if high == most else ']'}"
    if "constant" in found.domain:
        box.pop("E", None)
    trusted = check_claim({**found.domain, "box": box, "polynomial": text}, proof)
    if trusted:
        raise Rejected(f"a claim on a cell is proved by a solver only: {', '.join(trusted)}")


def check_outside(found: Map, node: MapNode, entry: Any) -> None:
    """Checks that no point of the cell is in the domain."""
    cuts = entry.get("cuts")
    if cuts is None:
        raise Rejected("it is not shown that a cell is outside of the domain")
    follow(found, node, cuts["outside"], -1, ())


def positive(sign: int, powers: Iterable[tuple[int, int]], signs: Sequence[int | None]) -> bool:
    """Tells whether the signs of the factors make a product that is nowhere negative."""
    odd = [signs[index] for index, power in powers if power % 2]
    if 0 in (signs[index] for index, _ in powers):
        return True
    for known in odd:
        if known is None:
            return False
        sign *= known
    return sign > 0


def follow(found: Map, node: MapNode, tokens: Any, sign: int, powers: Sequence[tuple[int, int]]) -> None:
    """Checks a subdivision of the box of the quantified parameters."""
    if not 0 < len(tokens) <= MAX_TOKENS:
        raise Rejected("not a list of cuts")
    used = sorted({index for index, _ in powers})
    places = {index: place for place, index in enumerate(used)}
    here = [(places[index], power) for index, power in powers]

    def step(part: MapNode, token: str) -> Iterable[MapNode]:
        if token == "+":
            signs = [form.weak_sign() for form in part.forms]
            if not nowhere(found, part) and not positive(sign, here, signs):
                raise Rejected("the coefficients on a part of a cell do not show its status")
            return ()
        if token not in found.quantified:
            raise Rejected(f"not a quantified parameter: {token!r:.40}")
        return part.halves(token)

    follow_steps(tokens, MapNode(node.box, tuple(node.forms[k] for k in used), node.conditions), step)


def check_violating(found: Map, node: MapNode, entry: Any) -> None:
    """Checks that a claim fails at every point of a cell that is in the domain."""
    goal, index = found.goal, entry["claim"]
    if not 0 <= index < len(found.products):
        raise Rejected("a violating cell without a claim")
    at = {name: number(text) for name, text in entry["at"].items()}
    if at.keys() != set(found.quantified):
        raise Rejected("a violating cell without values of the quantified parameters")
    for name, value in at.items():
        low, high = goal.box[name]
        inside = low < value < high
        inside = inside or (value == low and (name, 0) not in goal.open)
        inside = inside or (value == high and (name, 1) not in goal.open)
        if not inside:
            raise Rejected("a value of a quantified parameter is outside of its interval")
    for form, (poly, strict) in zip(node.conditions, found.conditions, strict=True):
        if found.occurs(poly):
            there = at_values(found, node, poly, form, at)
            if min(there.entries) < 0 or (strict and not never_zero(found, node, there)):
                raise Rejected("a constraint is not shown to hold on a violating cell")
    sign, powers = found.products[index]
    for k, power in powers:
        form = at_values(found, node, found.factors[k], node.forms[k], at)
        known = form.weak_sign()
        if not known or not never_zero(found, node, form):
            raise Rejected("a factor may vanish on a violating cell")
        sign *= known if power % 2 else 1
    if sign > 0:
        raise Rejected("the signs of the factors make the product positive")


def at_values(found: Map, node: MapNode, poly: Poly, form: AnyForm, at: Mapping[str, Fraction]) -> AnyForm:
    """Returns the form on the cell with the quantified parameters fixed."""
    if not found.occurs(poly):
        return form
    if isinstance(form, ByRoots):
        return form.at(at)
    names = found.goal.names
    result: Poly = {}
    for x, c in poly.items():
        for name, value in at.items():
            c *= value ** x[names.index(name)]
        add(result, tuple(0 if n in at else e for n, e in zip(names, x, strict=True)), c)
    return bernstein(Goal(names, result, node.box, ()), result)


def never_zero(found: Map, node: MapNode, form: BernsteinCoefficients | ByRoots) -> bool:
    """Tells whether a form of one weak sign vanishes nowhere on the cell within the domain's box."""
    if isinstance(form, ByRoots):
        return True
    goal = found.goal
    choices: list[list[int | None]] = []
    for name in form.names:
        closed: list[int | None] = [
            side
            for side in (0, 1)
            if (name, side) not in goal.open or node.box[name][side] != goal.box[name][side]
        ]
        choices.append(closed or [None])
    for ends in product(*choices):
        face = form
        for name, side in zip(form.names, ends, strict=True):
            if side is not None:
                face = face.end(name, bool(side))
        if not any(face.entries):
            return False
    return True
