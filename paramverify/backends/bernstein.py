"""Branch and bound with exact Bernstein coefficients, for claims in several variables on boxes.

On each box: all coefficients ≥ 0 prove f ≥ 0, a negative one at a vertex is a value of f and refutes it, and
the coefficients of a constraint may show that no point of the domain is inside (J. Garloff, *Convergent
bounds for the range of multivariate polynomials*, 1986; C. Muñoz and A. Narkawicz, *Formalization of Bernstein
polynomials and applications to global optimization*, 2013). What is left is cut, the box with the lowest bound first.

Coefficients converge to f with the square of the width, so boxes where f > 0 end. Near a point where f
touches zero they never do; those are decided by monotony, by convexity with the exact minimum, by cuts at
a rational zero, or by blowing up a vertex where f vanishes to second order; else the box is left open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from heapq import heappop, heappush
from itertools import combinations, count, product

from paramverify.algebra.bernstein import Patch, patch, slope_sign, split
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.convexity import AlgebraicPoint, field_polynomial, is_convex, minimum
from paramverify.algebra.domains import Constraint, Interval
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    is_constant,
    key,
    rational,
    substitute,
    value_at,
    variables,
)
from paramverify.algebra.simplest import simplest_between
from paramverify.backends.roots import decide_univariate, sole_variable
from paramverify.backends.settling import VERSION, Outcome, Work, answer, settle, through
from paramverify.claims import Claim
from paramverify.encodings.refutations import Confirm, refuter
from paramverify.encodings.simplification import live_constraints
from paramverify.errors import DefectError, InputError
from paramverify.evidence import certificates
from paramverify.evidence.certificates import Proof, Token
from paramverify.verdicts import Answer

MAX_STORED = 2_000_000  # coefficients kept in memory by boxes that wait; others are computed again
MAX_ROUNDS = 60  # cuts of each axis, on average, before a box is left open
MAX_LEVEL = 6  # blow-ups inside blow-ups
FIRST_LOOK = 2  # rounds of cuts before the first attempt at special points

BLOWUP_ROUNDS = 4
MAX_PINNED_AXES = 3
ENCLOSURES = (32, 64, 128, 256)  # bits

Solve = Callable[[Claim, Confirm, int], Outcome]
_Pins = tuple[tuple[str, Fraction], ...]


@dataclass(eq=False)
class _Node:
    """A box of the search tree; `tokens` is its part of the certificate, or None while it is open."""

    box: Mapping[str, Interval]
    patch: Patch | None
    constraints: tuple[tuple[int, Patch], ...]
    depth: int
    pins: _Pins = ()
    tokens: list[Token] | None = None
    children: list[_Node] = field(default_factory=list)


class _Search:
    """One run of branch and bound."""

    def __init__(self, claim: Claim, work: Work, confirm: Confirm, solve: Solve, level: int) -> None:
        self.claim, self.work, self.confirm, self.solve, self.level = claim, work, confirm, solve, level
        self.heap: list[tuple[float, int, _Node]] = []
        self.numbers = count()
        self.stored = 0
        self.failures = 0
        self.left: list[_Node] = []
        self.point: Point | None = None

    def run(self) -> Outcome:
        claim = self.claim
        constraints = tuple(
            (k, patch(c.polynomial, claim.domain.box)) for k, c in live_constraints(claim.domain)
        )
        names = {*variables(claim.polynomial), *(n for _, p in constraints for n in p.names)}
        self.axes = tuple(n for n in claim.domain.ring.names if n in names)
        box = {n: i for n, i in claim.domain.box.items() if n in names}
        root = _Node(box, patch(claim.polynomial, box), constraints, 0)
        self._look(root)
        while self.heap and self.point is None and not self.work.exhausted:
            _, _, node = heappop(self.heap)
            self._expand(node)
        if self.point is not None:
            return Outcome(point=self.point)
        waiting = [node for _, _, node in self.heap]
        if self.left or waiting:
            return Outcome(reason=self._describe(waiting))
        return Outcome(proof=certificates.tree(_assembled(root)))

    def _describe(self, waiting: Sequence[_Node]) -> str:
        nodes = [*self.left, *waiting]
        shown = "; ".join(", ".join(f"{n} in {i}" for n, i in node.box.items()) for node in nodes[:3])
        why = "out of work" if waiting else "f seems to touch zero"
        return f"{why} for {key(self.claim.polynomial)[:200]} ≥ 0 in {len(nodes)} boxes, first {shown}"

    def _look(self, node: _Node) -> None:
        """Decides a new box at sight, or puts it into the heap."""
        form = node.patch
        assert form is not None
        self.work.spend(len(form.entries))
        kept = []
        for k, condition in node.constraints:
            strict = self.claim.domain.constraints[k].strict
            low, high = min(condition.entries), max(condition.entries)
            if high < 0 or (strict and high == 0):
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
        if self.stored + len(form.entries) > MAX_STORED:
            node.patch = None
        else:
            self.stored += len(form.entries)
        heappush(self.heap, (low / form.scale, next(self.numbers), node))

    def _corner_fails(self, node: _Node, form: Patch) -> bool:
        """Tells whether a vertex with f < 0 led to a confirmed point."""
        negative = sorted((value, k, ends) for k, (ends, value) in enumerate(form.corners()) if value < 0)
        for _, _, ends in negative if node.constraints else negative[:1]:
            # A constraint may need coordinates that f does not mention: the vertex at their lower ends is tried.
            full = {name: ends.get(name, 0) for name in node.box}
            if all(condition.at_corner(full) >= 0 for _, condition in node.constraints):
                point = {n: (i.upper if full[n] else i.lower) for n, i in node.box.items()}
                if self._try(point):
                    return True
        return False

    def _try(self, point: Point) -> bool:
        """Tells whether a point leads to a confirmed one; after many failures only now and then."""
        if self.failures > 16 and self.failures & (self.failures - 1):
            self.failures += 1
            return False
        self.point = self.confirm(point)
        self.failures += self.point is None
        return self.point is not None

    def _expand(self, node: _Node) -> None:
        """Decides a box in some way, or cuts it."""
        if node.patch is None:
            node.patch = patch(self.claim.polynomial, node.box)
        else:
            self.stored -= len(node.patch.entries)
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
        name = self._axis(node, form)
        self._cut(node, name, (node.box[name].lower + node.box[name].upper) / 2)

    def _axis(self, node: _Node, form: Patch) -> str:
        """Returns the axis to cut: where coefficients vary most on the line through the smallest one."""
        if node.constraints and node.depth % 2:
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

    def _cut(self, node: _Node, name: str, at: Fraction, pins: _Pins = ()) -> None:
        """Cuts a box in two and looks at both parts."""
        form, interval = node.patch, node.box[name]
        assert form is not None
        ratio = (at - interval.lower) / (interval.upper - interval.lower)
        node.patch, node.tokens = None, [certificates.cut(name, at)]
        parts = split(form, name, ratio) if name in form.names else (form, form)
        halves = [(k, split(c, name, ratio) if name in c.names else (c, c)) for k, c in node.constraints]
        for side, ends in enumerate(((interval.lower, at), (at, interval.upper))):
            child = _Node(
                {**node.box, name: Interval(*ends, True, True)},
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
        """Reduces a box on which f is monotone in a variable, and which no constraint restricts, to a face."""
        interval, domain = node.box[name], self.claim.domain
        value = {name: interval.upper if end else interval.lower}
        trivial = Constraint(domain.ring.number(1), False, "")
        constraints = tuple(trivial if name in variables(c.polynomial) else c for c in domain.constraints)
        reduced = replace(domain, box={**domain.box, **node.box}, constraints=constraints)
        claim = replace(self.claim, polynomial=substitute(self.claim.polynomial, value), domain=reduced)
        outcome = self.solve(claim, lambda point: self.confirm({**point, **value}), self.level)
        self._settled(node, outcome, lambda proof: [certificates.edge(name, end), *_inlined(proof)])

    def _special(self, node: _Node, form: Patch, rounds: int) -> bool:
        """Tells whether a box was decided, or cut, by a point where f is smallest or zero."""
        if is_convex(form):
            found = minimum(self.claim.polynomial, node.box)
            if found.below is not None:
                return self._try(found.below)
            if found.tangent is not None or found.zero is not None:
                token = certificates.convex(found.tangent) if found.tangent is not None else None
                node.tokens = [token if token is not None else _algebraic(found.zero)]
                node.patch = None
                return True
        return self._pinned(node, form) or self._blown_up(node, form, 1 if rounds >= BLOWUP_ROUNDS else 2)

    def _pinned(self, node: _Node, form: Patch) -> bool:
        """Tells whether a simple rational point was found where f ≤ 0: it refutes, or the box is cut there."""
        if len(form.names) > MAX_PINNED_AXES:
            return False
        zeros = {name: Fraction(0) for name in self.claim.domain.ring.names}
        choices = []
        for name in form.names:
            interval = node.box[name]
            choices.append((simplest_between(interval.lower, interval.upper), interval.lower, interval.upper))
        for values in product(*choices):
            inside = [
                n for n, value, choice in zip(form.names, values, choices, strict=True) if value == choice[0]
            ]
            point = dict(zip(form.names, values, strict=True))
            value = value_at(self.claim.polynomial, {**zeros, **point}) if inside else Fraction(1)
            if value < 0 and self._try(point):
                return True
            if value == 0:
                pins = [(name, point[name]) for name in inside]
                self._cut(node, *pins[0], tuple(pins[1:]))
                return True
        return False

    def _blown_up(self, node: _Node, form: Patch, order: int) -> bool:
        """Tells whether a vertex or face where f vanishes to this order was blown up, whatever the outcome."""
        if self.level >= MAX_LEVEL:
            return False
        for size in range(2, len(form.names) + 1):
            for axes in combinations(range(len(form.names)), size):
                for ends in product((0, 1), repeat=size):
                    if form.vanishes(dict(zip(axes, ends, strict=True)), order):
                        corner = {form.names[axis]: end for axis, end in zip(axes, ends, strict=True)}
                        self._settled(node, self._cones(node, corner), lambda proof: [proof])
                        return True
        return False

    def _cones(self, node: _Node, corner: Mapping[str, int]) -> Outcome:
        """Decides the claim on each cone around a face: there, one distance is largest, the others fractions of it."""
        domain = self.claim.domain
        ring = domain.ring
        unit = Interval(Fraction(0), Fraction(1), True, True)
        start, way = {}, {}
        for name, end in corner.items():
            interval = node.box[name]
            start[name] = interval.upper if end else interval.lower
            way[name] = (interval.lower - interval.upper) if end else (interval.upper - interval.lower)
        proofs: dict[str, Proof] = {}
        for largest in corner:
            distance = (ring.variable(largest) - ring.number(start[largest])) / rational(way[largest])
            others = [name for name in corner if name != largest]
            images = {
                n: ring.variable(n) * distance * rational(way[n]) + ring.number(start[n]) for n in others
            }
            arguments = [images.get(n, ring.variable(n)) for n in ring.names]
            reduced = replace(
                domain,
                box={**domain.box, **node.box, **dict.fromkeys(others, unit)},
                constraints=tuple(
                    replace(c, polynomial=c.polynomial.compose(*arguments)) for c in domain.constraints
                ),
            )
            claim = replace(self.claim, polynomial=self.claim.polynomial.compose(*arguments), domain=reduced)

            def lift(point: Point, images: Mapping[str, Polynomial] = images) -> Point:
                inside = {n: i.simplest() for n, i in node.box.items()}
                full = {
                    **dict.fromkeys(ring.names, Fraction(0)),
                    **inside,
                    **dict.fromkeys(images, Fraction(1)),
                    **point,
                }
                return {**full, **{name: value_at(image, full) for name, image in images.items()}}

            outcome = self.solve(claim, through(lift, self.confirm), self.level + 1)
            if outcome.proof is None:
                return outcome
            proofs[largest] = outcome.proof
        return Outcome(proof=certificates.blowup(corner, proofs))


def _algebraic(point: AlgebraicPoint | None) -> Proof:
    assert point is not None
    coordinates = {name: key(field_polynomial(image)) for name, image in point.coordinates.items()}
    return certificates.convex_algebraic(key(field_polynomial(point.minimal)), point.interval, coordinates)


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


def search(claim: Claim, work: Work, confirm: Confirm, solve: Solve, level: int = 0) -> Outcome:
    """Decides a claim by branch and bound; `solve` decides the claims with fewer variables that come up."""
    return _Search(claim, work, confirm, solve, level).run()


def solve_exactly(claim: Claim, work: Work, confirm: Confirm, level: int = 0) -> Outcome:
    """Decides a claim by simplification, then real roots or branch and bound for what is left."""

    def leaf(part: Claim, confirm: Confirm) -> Outcome:
        name = sole_variable(part)
        if name is not None:
            return decide_univariate(part, name, confirm)
        if not live_constraints(part.domain) and is_constant(part.polynomial):
            point = confirm({})
            return Outcome(point=point) if point else Outcome(reason="a refutation could not be confirmed")
        return search(part, work, confirm, partial(_solve, work), level)

    return settle(claim, leaf, confirm)


def _solve(work: Work, claim: Claim, confirm: Confirm, level: int) -> Outcome:
    return solve_exactly(claim, work, confirm, level)


def decide_exactly(claim: Claim, work: Work | None = None) -> Answer:
    """Decides a claim with all exact procedures of this package, in this process, within the bounds on work.

    A domain with the constant `E` that is not enclosed yet is enclosed, more and more closely.
    """
    work = work or Work()
    if claim.domain.constant is None or GENERATOR in claim.domain.box:
        return answer(claim, solve_exactly(claim, work, refuter(claim)))
    outcome = Outcome()
    for bits in ENCLOSURES:
        closed = replace(claim, domain=claim.domain.enclose(bits))
        outcome = solve_exactly(closed, work, refuter(closed))
        if outcome.proof is not None:
            interval = closed.domain.box[GENERATOR]
            proof = certificates.enclose((interval.lower, interval.upper), outcome.proof)
            return answer(claim, Outcome(proof=proof))
        if outcome.point is not None:
            break
    return answer(claim, outcome)


@dataclass(frozen=True)
class BernsteinBackend:
    """Branch and bound on Bernstein coefficients, after simplification."""

    name: str = "bernstein"
    builtin: bool = True
    description: str = "branch and bound on exact Bernstein coefficients; options boxes, coefficients"
    install: str = ""

    def version(self) -> str | None:
        """Returns the version of this package."""
        return VERSION

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Decides the claim within the numbers of boxes and of coefficients that the options give.

        Raises:
            InputError: an option that is not a positive whole number.
        """
        return decide_exactly(claim, Work(**{name: _whole(name, text) for name, text in options.items()}))


def _whole(name: str, text: str) -> int:
    if name not in ("boxes", "coefficients") or not text.isdecimal() or not int(text):
        raise InputError(f"{name} = {text}: the options are boxes and coefficients, positive whole numbers")
    return int(text)


BACKENDS = (BernsteinBackend(),)
