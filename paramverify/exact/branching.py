"""Branch and bound with exact Bernstein coefficients, and arguments for boxes on which a polynomial may
touch zero.

On each box: all coefficients ≥ 0 prove f ≥ 0, a negative one at a vertex is a value of f and refutes it, and
the coefficients of a constraint may show that no point of the domain is inside ([Garloff86],
[MunozNarkawicz13]). What is left is cut, the box with the lowest bound first.

Coefficients converge to f with the square of the width, so boxes where f > 0 end. Where f touches zero
cutting may never end: then a variable in which f is monotone is removed, or an argument for touching zeros
applies, or the box is left open.

Boxes on which f may touch zero: arguments that decide them where cutting them up never would.

Each argument looks at a box and returns an outcome for it, or points at which to cut, or None. They are tried
in this order: convexity and the exact minimum; a factor shared with a constraint; a cut at a rational
zero; a square completed in one variable; and cones around a vertex where f vanishes to second order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import combinations, count, product
from math import inf, prod

from paramverify.algebra.bernstein import Patch, patch, slope_sign, split
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.convexity import ROUGH_BITS, is_convex, minimum
from paramverify.algebra.domains import Constraint, Domain, Interval, sign_at, tied_in
from paramverify.algebra.number_fields import FINE_BITS, AlgebraicPoint, field_polynomial
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    constant_value,
    is_constant,
    key,
    primitive,
    rational,
    substitute,
    value_at,
    variables,
)
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.signs import Sign, sign_on
from paramverify.answers import Answer, Refuted
from paramverify.claims import Claim
from paramverify.errors import DefectError
from paramverify.evidence import certificates
from paramverify.evidence.certificates import POSITIVE, Proof, Token
from paramverify.exact.logarithms import solve_tied
from paramverify.exact.procedure_outcomes import (
    Outcome,
    RemainingWork,
    answer,
    by_enclosures,
    settle,
    through,
)
from paramverify.exact.univariate import decide_small
from paramverify.formats.refutations import Confirm, refuter
from paramverify.simplify.reductions import AT_LEAST_ZERO, live_constraints

MAX_LEVEL = 6  # arguments inside arguments
MAX_PINNED_AXES = 3
ATTEMPT_BOXES = 500  # for each try to complete a square
BLOWUP_ROUNDS = 4  # cuts of each axis before a vertex where f vanishes to first order only is blown up

Solve = Callable[[Claim, RemainingWork, Confirm, int], Outcome]
Pins = tuple[tuple[str, Fraction], ...]


@dataclass(frozen=True, eq=False)
class Situation:
    """A claim on one closed box of a search: what is needed to decide it by other means.

    `form` has the coefficients of f on the box, `undecided` the indices of constraints that may cut the box;
    `rounds` counts the cuts of each axis, on average, and `level` the arguments around this one.
    """

    claim: Claim
    box: Mapping[str, Interval]
    form: Patch
    undecided: tuple[int, ...]
    rounds: int
    level: int
    work: RemainingWork
    confirm: Confirm
    solve: Solve

    @property
    def domain(self) -> Domain:
        """The domain of the claim, with the smaller box."""
        return replace(self.claim.domain, box={**self.claim.domain.box, **self.box})


def without(domain: Domain, name: str) -> Domain:
    """Returns the domain without the constraints on a variable; the others keep their indices."""
    trivial = Constraint(domain.ring.number(1), False, "")
    constraints = tuple(trivial if name in variables(c.polynomial) else c for c in domain.constraints)
    return replace(domain, constraints=constraints)


def by_convexity(here: Situation) -> Outcome | None:
    """Where f is convex, its minimum decides the box, if it can be recognised."""
    if not is_convex(here.form):
        return None
    f, precise = here.claim.polynomial, False

    def allowed(bits: int) -> bool:
        nonlocal precise
        if bits == ROUGH_BITS:
            return True
        # Evaluating f a few dozen times at numbers of so many bits, in units of about half a microsecond.
        cost = 40 * len(f) * int(f.total_degree()) * bits * bits // FINE_BITS**2
        affordable = here.work.affords(cost)
        precise = precise or affordable
        return affordable

    found = minimum(f, here.box, allowed)
    if found.below is not None:
        point = here.confirm(found.below)
        return Outcome(point=point) if point is not None else None
    if found.tangent is not None:
        return Outcome(proof=certificates.convex(found.tangent))
    if found.zero is not None:
        return Outcome(proof=_algebraic(found.zero))
    if precise:
        here.work.failed()
    return None


def _algebraic(point: AlgebraicPoint) -> Proof:
    coordinates = {name: key(field_polynomial(image)) for name, image in point.coordinates.items()}
    return certificates.convex_algebraic(key(field_polynomial(point.minimal)), point.interval, coordinates)


def by_shared_factor(here: Situation) -> Outcome | None:
    """With f = h·a, a constraint h·b ≥ 0, and b of one sign on the box: f ≥ 0 if a has the same sign."""
    f, domain = here.claim.polynomial, replace(here.domain, constraints=())
    for k in here.undecided:
        constraint = here.claim.domain.constraints[k].polynomial
        h = primitive(f.gcd(constraint))[1]
        if is_constant(h):
            continue
        a, b = f / h, constraint / h
        found = sign_on(b, domain)
        if found not in (Sign.POSITIVE, Sign.NEGATIVE):
            continue
        sign = 1 if found is Sign.POSITIVE else -1
        if sign_on(a * sign, domain) in AT_LEAST_ZERO:
            # The constraint that `divide` appends says sign·h ≥ 0.
            index = len(here.claim.domain.constraints)
            known = (h, 1, sign, certificates.constraint(index, Fraction(1), certificates.CONSTANT))
            rest = [] if is_constant(a) else [(a, 1, sign, POSITIVE)]
            number = constant_value(a) if is_constant(a) else Fraction(1)
            proof = certificates.factors(number, [known, *rest])
            return Outcome(proof=certificates.divide(k, h, b, sign, proof))
    return None


def by_rational_zero(here: Situation) -> Outcome | Pins | None:
    """The simplest rational point of the box, or of a face, refutes if f < 0; if f = 0, the cut is there."""
    names = here.form.names
    if len(names) > MAX_PINNED_AXES:
        return None
    f = here.claim.polynomial
    origin = dict.fromkeys(here.claim.domain.ring.names, Fraction(0))
    ends = [(here.box[n].lower, here.box[n].upper) for n in names]
    middles = [simplest_between(*pair) for pair in ends]
    for values in product(*((middle, *pair) for middle, pair in zip(middles, ends, strict=True))):
        inside = [n for n, value, middle in zip(names, values, middles, strict=True) if value == middle]
        if not inside:
            continue
        point = dict(zip(names, values, strict=True))
        value = value_at(f, {**origin, **point})
        if value < 0 and (confirmed := here.confirm(point)) is not None:
            return Outcome(point=confirmed)
        if value == 0:
            # A cut helps in those coordinates along which f is not zero throughout.
            rest = {n: {m: v for m, v in point.items() if m != n} for n in inside}
            pins = tuple((n, point[n]) for n in inside if substitute(f, rest[n]))
            if pins:
                return pins
    return None


def by_square(here: Situation) -> Outcome | None:
    """f = a·x² + b·x + c ≥ 0 for all real x if a ≥ 0, c ≥ 0 and 4·a·c − b² ≥ 0.

    This resolves zeros along curves, where the discriminant is often a multiple of a square. It proves, but
    does not refute: x is not any real number.
    """
    f = here.claim.polynomial
    if here.level >= MAX_LEVEL:
        return None
    for name in variables(f):
        second = f.derivative(name).derivative(name)
        if not second or second.derivative(name) or sign_on(second, here.domain) not in AT_LEAST_ZERO:
            continue
        zero = {name: Fraction(0)}
        a, b, c = second / 2, substitute(f.derivative(name), zero), substitute(f, zero)
        work, domain, proofs = here.work.part(ATTEMPT_BOXES), without(here.domain, name), []
        for part in (c, 4 * a * c - b * b):
            outcome = here.solve(Claim(part, domain), work, lambda point: point, here.level + 1)
            if outcome.proof is None:
                break
            proofs.append(outcome.proof)
        else:
            return Outcome(proof=certificates.quadratic(name, POSITIVE, *proofs))
    return None


def by_blowup(here: Situation) -> Outcome | None:
    """Decides the box by cones around a vertex, edge or larger face where f vanishes; see `_cones`.

    Bernstein coefficients there behave as those of the lowest form of f, on however small a box.
    """
    form = here.form
    if here.level >= MAX_LEVEL or all(value for _, value in form.corners()):
        return None
    order = 1 if here.rounds >= BLOWUP_ROUNDS else 2
    for size in range(2, len(form.names) + 1):
        for axes in combinations(range(len(form.names)), size):
            for ends in product((0, 1), repeat=size):
                if form.vanishes(dict(zip(axes, ends, strict=True)), order):
                    return _cones(here, {form.names[a]: end for a, end in zip(axes, ends, strict=True)})
    return None


def _cones(here: Situation, corner: Mapping[str, int]) -> Outcome:
    """Decides a claim on each cone around a face: one distance s is largest there, the others are r·s."""
    ring = here.claim.domain.ring
    start, way = {}, {}
    for name, end in corner.items():
        interval = here.box[name]
        first, last = (interval.upper, interval.lower) if end else (interval.lower, interval.upper)
        start[name], way[name] = first, last - first
    proofs: dict[str, Proof] = {}
    for largest in corner:
        s = (ring.variable(largest) - ring.number(start[largest])) / rational(way[largest])
        images = {
            n: ring.variable(n) * s * rational(way[n]) + ring.number(start[n]) for n in corner if n != largest
        }
        arguments = [images.get(n, ring.variable(n)) for n in ring.names]
        reduced = replace(
            here.domain,
            box={**here.domain.box, **dict.fromkeys(images, Interval(Fraction(0), Fraction(1), True, True))},
            constraints=tuple(
                replace(c, polynomial=c.polynomial.compose(*arguments)) for c in here.claim.domain.constraints
            ),
        )
        claim = replace(here.claim, polynomial=here.claim.polynomial.compose(*arguments), domain=reduced)
        confirm = through(_cone_lift(reduced, images), here.confirm)
        outcome = here.solve(claim, here.work, confirm, here.level + 1)
        if outcome.proof is None:
            return outcome
        proofs[largest] = outcome.proof
    return Outcome(proof=certificates.blowup(corner, proofs))


def _cone_lift(domain: Domain, images: Mapping[str, Polynomial]) -> Callable[[Point], Point]:
    base = {name: interval.simplest() for name, interval in domain.box.items()}

    def lift(point: Point) -> Point:
        full = {**base, **point}
        return {**full, **{name: value_at(image, full) for name, image in images.items()}}

    return lift


MAX_STORED = 2_000_000  # coefficients kept in memory by boxes that wait; others are computed again
MAX_ROUNDS = 60  # cuts of each axis, on average, before a box is left open
FIRST_LOOK = 2  # rounds of cuts before the first attempt at special points
SECOND_THOUGHT = 200  # boxes before a square is completed on the whole box
SQUARE_EVERY, MAX_SQUARES = 3, 20  # rounds, and attempts in all, to complete a square in some variable


@dataclass(eq=False)
class _Node:
    """A box of the search tree; `tokens` is its part of the certificate, or None while it is open."""

    box: Mapping[str, Interval]
    patch: Patch | None
    constraints: tuple[tuple[int, Patch], ...]
    depth: int
    pins: Pins = ()
    tokens: list[Token] | None = None
    children: list[_Node] = field(default_factory=list)


class _BranchAndBound:
    """One run of branch and bound."""

    def __init__(self, claim: Claim, work: RemainingWork, confirm: Confirm, solve: Solve, level: int) -> None:
        self.claim, self.work, self.confirm, self.solve, self.level = claim, work, confirm, solve, level
        self.heap: list[tuple[float, int, _Node]] = []
        self.numbers = count()
        self.stored = 0
        self.failures = 0
        self.squares = 0
        self.looked = 0
        self.left: list[_Node] = []
        self.point: Point | None = None

    def run(self) -> Outcome:
        claim = self.claim
        if not self._affordable(claim.polynomial):
            return Outcome(reason=f"the work limit was reached for {key(claim.polynomial)[:200]} ≥ 0")
        constraints = tuple(  # without one that is too large, more is proved
            (k, patch(c.polynomial, claim.domain.box))
            for k, c in live_constraints(claim.domain)
            if self._affordable(c.polynomial)
        )
        names = {*variables(claim.polynomial), *(n for _, p in constraints for n in p.names)}
        if not names:  # the constraints that would decide this are too large
            return Outcome(reason=f"the work limit was reached for {key(claim.polynomial)[:200]} ≥ 0")
        self.axes = tuple(n for n in claim.domain.ring.names if n in names)
        box = {n: i for n, i in claim.domain.box.items() if n in names}
        root = _Node(box, patch(claim.polynomial, box), constraints, 0)
        self._look(root)
        thought = False
        while self.heap and self.point is None and not self.work.exhausted:
            _, _, node = heappop(self.heap)
            self._expand(node)
            if self.looked >= SECOND_THOUGHT and not thought:
                thought = True
                whole = by_square(self._situation(root, patch(claim.polynomial, box), 0))
                if whole is not None:
                    return whole
        if self.point is not None:
            return Outcome(point=self.point)
        waiting = [node for _, _, node in self.heap]
        if self.left or waiting:
            return Outcome(reason=self._describe(waiting))
        return Outcome(proof=certificates.tree(_assembled(root)))

    def _affordable(self, polynomial: Polynomial) -> bool:
        return prod(int(d) + 1 for d in polynomial.degrees()) <= self.work.coefficients

    def _describe(self, waiting: Sequence[_Node]) -> str:
        nodes = [*self.left, *waiting]
        shown = "; ".join(", ".join(f"{n} in {i}" for n, i in node.box.items()) for node in nodes[:3])
        claim = f"{key(self.claim.polynomial)[:200]} ≥ 0"
        boxes = "1 box" if len(nodes) == 1 else f"{len(nodes)} boxes"
        if waiting:
            return f"the work limit was reached: {claim} is not decided in {boxes}, such as {shown}"
        near = f"where the polynomial is zero or nearly zero: {shown}"
        return f"{claim} is not decided in {boxes}, {near}; other backends may refute it"

    def _look(self, node: _Node) -> None:
        """Decides a new box at sight, or puts it into the heap."""
        form = node.patch
        assert form is not None
        self.work.spend(_size(form))
        self.looked += 1
        kept = []
        for k, condition in node.constraints:
            strict = self.claim.domain.constraints[k].strict
            low, high = min(condition.entries), max(condition.entries)
            if high < 0 or (high == 0 and (strict or condition.never_zero(node.box))):
                node.tokens = [certificates.outside(k)]
                return
            if low < 0 or (strict and low == 0):
                kept.append((k, condition))
        node.constraints = tuple(kept)
        low = min(form.entries)
        if low >= 0:
            node.tokens = ["+"]
            return
        if self._corner_fails(node, form):
            return
        if self.stored + _size(form) > MAX_STORED:
            node.patch = None
        else:
            self.stored += _size(form)
        heappush(self.heap, (_about(low, form.scale), next(self.numbers), node))

    def _corner_fails(self, node: _Node, form: Patch) -> bool:
        """Tells whether a vertex with f < 0 led to a confirmed point."""
        negative = sorted((value, k, ends) for k, (ends, value) in enumerate(form.corners()) if value < 0)
        for _, _, ends in negative if node.constraints else negative[:1]:
            # Constraints may mention coordinates that f does not: the vertex at their lower ends is tried.
            full = {name: ends.get(name, 0) for name in node.box}
            if all(condition.at_corner(full) >= 0 for _, condition in node.constraints):
                point = {n: (i.upper if full[n] else i.lower) for n, i in node.box.items()}
                # Where no constraint is left, the whole box is inside the domain: it is always looked at.
                self.point = self._checked(point) if node.constraints else self.confirm(point)
                if self.point is not None:
                    return True
        return False

    def _checked(self, point: Point) -> Point | None:
        """Returns the confirmed point that a point leads to; after many failures few are looked at."""
        if self.failures > 16 and self.failures & (self.failures - 1):
            self.failures += 1
            return None
        confirmed = self.confirm(point)
        self.failures += confirmed is None
        return confirmed

    def _expand(self, node: _Node) -> None:
        """Decides a box in some way, or cuts it."""
        if node.patch is None:
            node.patch = patch(self.claim.polynomial, node.box)
        else:
            self.stored -= _size(node.patch)
        form = node.patch
        bound = {name for _, condition in node.constraints for name in condition.names}
        for name in form.names:
            if name not in bound and (sign := slope_sign(form, name)):
                self._face(node, name, 0 if sign > 0 else 1)
                return
        if node.pins:
            (name, at), *pins = node.pins
            self._cut(node, name, at, tuple(pins))
            return
        rounds, rest = divmod(node.depth, len(self.axes))
        if rounds >= FIRST_LOOK and not rest and self._special(node, form, rounds):
            return
        if rounds >= MAX_ROUNDS:
            self.left.append(node)
            return
        if not form.names and not node.constraints:
            self.left.append(node)  # f < 0 on a box of the enclosure only: cutting it leads nowhere
            return
        name = self._axis(node, form)
        self._cut(node, name, (node.box[name].lower + node.box[name].upper) / 2)

    def _axis(self, node: _Node, form: Patch) -> str:
        """Returns the axis to cut: where coefficients vary most on the line through the smallest one."""
        if node.constraints and (node.depth % 2 or not form.names):
            _, form = node.constraints[node.depth // 2 % len(node.constraints)]
        place = form.entries.index(min(form.entries))
        best, name, stride = -1, form.names[0], 1
        for axis in range(len(form.names) - 1, -1, -1):
            size = form.degrees[axis] + 1
            start = place - place // stride % size * stride
            line = form.entries[start : start + size * stride : stride]
            spread = max(line) - min(line)
            if spread > best:
                best, name = spread, form.names[axis]
            stride *= size
        return name

    def _cut(self, node: _Node, name: str, at: Fraction, pins: Pins = ()) -> None:
        """Cuts a box in two and looks at both parts."""
        form, interval = node.patch, node.box[name]
        assert form is not None
        ratio = (at - interval.lower) / (interval.upper - interval.lower)
        node.patch, node.tokens = None, [certificates.cut(name, at)]
        parts = split(form, name, ratio) if name in form.names else (form, form)
        halves = [(k, split(c, name, ratio) if name in c.names else (c, c)) for k, c in node.constraints]
        below = Interval(interval.lower, at, interval.lower_closed, True)
        above = Interval(at, interval.upper, True, interval.upper_closed)
        for side, piece in enumerate((below, above)):
            child = _Node(
                {**node.box, name: piece},
                parts[side],
                tuple((k, both[side]) for k, both in halves),
                node.depth + 1,
                pins=pins,
            )
            node.children.append(child)
            self._look(child)
            if self.point is not None:
                return

    def _settled(self, node: _Node, outcome: Outcome, tokens: Callable[[Proof], list[Token]]) -> None:
        """Takes over the outcome of a claim that a box was reduced to."""
        node.patch = None
        if outcome.point is not None:
            self.point = outcome.point
        elif outcome.proof is not None:
            node.tokens = tokens(outcome.proof)
        else:
            self.left.append(node)

    def _face(self, node: _Node, name: str, end: int) -> None:
        """Reduces a box on which f is monotone in a variable that no constraint restricts to a face."""
        interval, domain = node.box[name], self.claim.domain
        value = {name: interval.upper if end else interval.lower}
        reduced = without(replace(domain, box={**domain.box, **node.box}), name)
        claim = replace(self.claim, polynomial=substitute(self.claim.polynomial, value), domain=reduced)
        outcome = self.solve(claim, self.work, lambda point: self._checked({**point, **value}), self.level)
        self._settled(node, outcome, lambda proof: [certificates.edge(name, end), *_inlined(proof)])

    def _special(self, node: _Node, form: Patch, rounds: int) -> bool:
        """Tells whether another argument than cutting decided a box, or said where to cut it."""
        for argument in (by_convexity, by_shared_factor, by_rational_zero, by_square, by_blowup):
            if argument is by_square:
                if (rounds - FIRST_LOOK) % SQUARE_EVERY or self.squares >= MAX_SQUARES:
                    continue
                self.squares += 1
            found = argument(self._situation(node, form, rounds))
            if isinstance(found, Outcome):
                self._settled(node, found, _inlined)
                return True
            if found is not None:
                self._cut(node, *found[0], found[1:])
                return True
        return False

    def _situation(self, node: _Node, form: Patch, rounds: int) -> Situation:
        undecided = tuple(k for k, _ in node.constraints)
        return Situation(
            claim=self.claim,
            box=node.box,
            form=form,
            undecided=undecided,
            rounds=rounds,
            level=self.level,
            work=self.work,
            confirm=self._checked,
            solve=self.solve,
        )


def _about(low: int, scale: int) -> float:
    """Returns a lower bound as a float, which only orders the boxes that wait."""
    try:
        return low / scale
    except OverflowError:
        return -inf


def _size(form: Patch) -> int:
    """Returns the number of coefficients, counted several times where they are large."""
    return len(form.entries) * (1 + form.scale.bit_length() // 1024)


def _inlined(proof: Proof) -> list[Token]:
    """Returns a proof as entries of a tree."""
    return list(proof["tree"]) if proof["kind"] == "bernstein" else [proof]


def _assembled(root: _Node) -> list[Token]:
    """Returns the tokens of a finished tree in preorder."""
    tokens: list[Token] = []
    pending = [root]
    while pending:
        node = pending.pop()
        if node.tokens is None:
            raise DefectError("a box of a finished search is open")
        tokens += node.tokens
        pending += node.children[::-1]
    return tokens


def search(claim: Claim, work: RemainingWork, confirm: Confirm, solve: Solve, level: int = 0) -> Outcome:
    """Decides a claim by branch and bound; `solve` decides the claims with fewer variables that come up."""
    return _BranchAndBound(claim, work, confirm, solve, level).run()


def solve_exactly(claim: Claim, work: RemainingWork, confirm: Confirm, level: int = 0) -> Outcome:
    """Decides a claim by simplification, then real roots or branch and bound for what is left.

    A claim with a parameter beside its exponential comes to claims without such ones first.
    """
    if tied_in(claim.domain.ring, claim.polynomial, *(c.polynomial for c in claim.domain.constraints)):
        return solve_tied(claim, work, confirm, solve_exactly)

    def leaf(part: Claim, confirm: Confirm) -> Outcome:
        small = decide_small(part, confirm)
        return small if small is not None else search(part, work, confirm, solve_exactly, level)

    return settle(claim, leaf, confirm)


def decide_exactly(claim: Claim, work: RemainingWork | None = None) -> Answer:
    """Decides a claim with all exact procedures of this package, in this process, within the bounds on work.

    A domain with the constant `E` that is not enclosed yet is enclosed, more and more closely.
    """
    work = work or RemainingWork()
    if claim.domain.constant is None or GENERATOR in claim.domain.box:
        return answer(claim, solve_exactly(claim, work, refuter(claim)))
    if set(variables(claim.polynomial)) <= {GENERATOR} and not claim.domain.constraints:
        return _number(claim)
    return answer(claim, by_enclosures(claim, lambda closed: solve_exactly(closed, work, refuter(closed))))


def _number(claim: Claim) -> Answer:
    """Decides a claim about a number in which nothing but the constant occurs, by its sign (Lindemann)."""
    simple = {name: interval.simplest() for name, interval in claim.domain.box.items()}
    if sign_at(claim.domain, claim.polynomial, simple) < 0:
        return Refuted(simple)
    return answer(claim, Outcome(proof=certificates.EXPONENTIAL))
