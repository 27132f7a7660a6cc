"""Verification of losses that are no polynomials (`kl`, `zcdp`), by boxes on which they are enclosed.

Private is said where each direction is proved on boxes that cover the domain (`loss_intervals`); not private
where the divergence at one point, evaluated from the model with proved rounding, is above the bound. A bound
that is reached exactly is neither, and stays open.

Directions of a loss that is no polynomial as tasks: each is proved on boxes of its own.

A worker is told the probabilities of one direction, and the domain. It knows no model: a point that it finds
is evaluated here, from the model.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

from flint import arb, fmpq_poly

from paramverify.algebra.constants import GENERATOR, lower_bound, working_precision
from paramverify.algebra.domains import Domain, Interval, contains, number_at
from paramverify.algebra.polynomials import Polynomial, fraction, key, variables
from paramverify.algebra.reals import Real
from paramverify.answers import End
from paramverify.claims import AllOutputs, Claim, from_document, to_document
from paramverify.divergences import Average, KLDivergence, ZeroConcentrated
from paramverify.encodings.output_sums import PairOutcomes, joint_statement, outcomes, reduced
from paramverify.encodings.point_violations import with_numbers
from paramverify.errors import DefectError, InputError, LimitError, TimeLimitError
from paramverify.evidence import envelope
from paramverify.evidence.divergence_witnesses import (
    BITS,
    Balls,
    Distributions,
    LossWitness,
    MomentWitness,
    ball,
    bound_of,
    compared,
    loss_at,
    model_at,
    pair_of,
)
from paramverify.evidence.witnesses import divergence_at
from paramverify.kernel.claim_evidence import read_domain
from paramverify.kernel.loss_evidence import bound_of as bound_in_evidence
from paramverify.kernel.loss_evidence import check_tree
from paramverify.kernel.strict_reading import Rejected
from paramverify.models.context import sample_points
from paramverify.models.model import Model, divergence_of, is_about
from paramverify.portfolio.session import Session, session_of
from paramverify.privacy.every_length_verification import EveryLengthOutcome
from paramverify.privacy.loss_intervals import EnclosedOutput, Factors, OnBox, excluded, near_order, within
from paramverify.tasks.tasks import Task
from paramverify.verdicts import Holds, Unknown, Violated

# --- losses that are no polynomials, at points: the order that counts, and whether the bound fails ---

ORDERS = [1 + Fraction(2) ** e for e in range(-4, 12)]
CLOSER = 20  # steps towards the order with the largest divergence for it


def broken(
    model: Model, origin: AllOutputs, measure: Average, point: Mapping[str, Fraction]
) -> LossWitness | None:
    """Returns the witness at a point of the domain where a loss is above its bound there, for certain."""
    found = evaluated(model, origin, point)
    if found is None:
        return None
    witness = worst_at(found, measure)
    return witness if witness.exceeds else None


def evaluated(model: Model, origin: AllOutputs, point: Mapping[str, Fraction]) -> Distributions | None:
    """Returns the distributions at a point; None outside of the domain, or where a secret is impossible."""
    if not contains(model.domain, point):
        return None
    try:
        return model_at(model, origin, point, pair_of(model, origin.left, origin.right))
    except InputError:
        return None


def worst_at(found: Distributions, measure: Average) -> LossWitness:
    """Returns the loss at a point; of ZCDP at the order that needs about the largest ρ."""
    for order in _orders(found, measure):
        witness = loss_at(found, measure, order)
        if witness.exceeds:
            break
    return witness


def is_beyond(found: Balls, measure: Average) -> bool:
    """Tells whether the loss of these probabilities is above its bound, for certain."""
    return any(compared(found, measure, order).exceeds for order in _orders(found, measure))


def _orders(found: Balls, measure: Average) -> Iterator[Fraction | None]:
    """Yields the orders at which a loss is compared with its bound; None is for KL, which has none."""
    if not measure.of_orders:
        yield None
    elif found.is_infinite:
        yield Fraction(2)
    else:
        with working_precision(BITS):
            best = worst_order(found, bound_of(measure))
        yield near_order(best, 6)
        yield best


def worst_order(found: Balls, rho: arb) -> Fraction:
    """Returns an order at which D_α/α is about largest; near 1 one at which it is above ρ, if it is at 1.

    D_α ≥ D_1 = KL for α > 1. So if KL > ρ, D_α > ρ·α for all α < KL/ρ.
    """

    def need(order: Fraction) -> float:
        return float(found.renyi(order).mid()) / float(order)

    best = max(ORDERS, key=need)
    low, high = 1 + (best - 1) / 2, 1 + (best - 1) * 2
    for _ in range(CLOSER):
        left, right = low + (high - low) * Fraction(3, 8), low + (high - low) * Fraction(5, 8)
        low, high = (low, right) if need(left) >= need(right) else (left, high)
        low, high = near_order(low), near_order(high)
        if high - low < (best - 1) / 2**24:
            break
    best = max(((low + high) / 2, best), key=need)
    kl = found.kl()
    if kl > rho and not need(best) > float(rho.mid()):
        least = lower_bound(kl / rho)
        return near_order((1 + least) / 2) if least > 1 + Fraction(1, 2**40) else 1 + (least - 1) / 2
    return near_order(best)


# --- loss boxes -------------------------------------------------------------------------------------

MAX_BOXES = 4_000  # of one direction

Point = Mapping[str, Fraction]


@dataclass(frozen=True, eq=False)
class LossDirection:
    """Directions of secret pairs that have the same outputs, reduced, and as products."""

    alike: tuple[AllOutputs, ...]
    found: PairOutcomes
    outputs: tuple[EnclosedOutput, ...]
    factors: Factors

    @property
    def origin(self) -> AllOutputs:
        """The first of them."""
        return self.alike[0]

    @property
    def origins(self) -> list[tuple[str, str, int]]:
        """All of them, as evidence names them; a case may list a pair in both directions."""
        return list(dict.fromkeys((o.left, o.right, o.length) for o in self.alike))

    @property
    def is_equal(self) -> bool:
        """Whether both distributions are the same at every prior."""
        ratios = [output.ratio for output in self.outputs]
        return all(r is not None and not r.powers and r.constant == 1 for r in ratios)

    @property
    def names(self) -> frozenset[str]:
        """The parameters that matter, and `E`."""
        return frozenset(n for f in self.factors.known.values() for n in variables(f))

    def at(self, domain: Domain, point: Point) -> Balls | None:
        """Returns the probabilities at a point of the domain where the secrets are possible, else None."""
        if not contains(domain, point):
            return None
        total, constant = number_at(self.found.total, point), domain.constant
        if Real.of(total, fmpq_poly([1]), constant).sign() <= 0:
            return None
        balls, endless = [], []
        with working_precision(BITS):
            for number, (top, bottom) in enumerate(self.found.at(point)):
                p, q = Real.of(top, total, constant), Real.of(bottom, total, constant)
                if p.sign() and not q.sign():
                    endless.append((number,))
                elif p.sign():
                    balls.append((ball(p), ball(q)))
        return Balls(balls=balls, endless=tuple(endless))


@dataclass(frozen=True, eq=False)
class Covered:
    """What was found of one direction: a tree of boxes that proves it, a point where it fails, or neither."""

    tree: Tree | None = None
    point: Point | None = None
    boxes: int = 0


def directions(model: Model) -> list[LossDirection]:
    """Returns all directions of a model; those with the same distributions come once.

    Raises:
        LimitError: too many sequences, or too large polynomials.
    """
    model = with_numbers(model)
    factors = Factors()
    found: dict[str, LossDirection] = {}
    for pair in outcomes(model):
        for each in (pair, pair.turned):
            own = reduced(each)
            text = str(joint_statement(own, ()))
            origin = AllOutputs(each.left, each.right, length=each.length)
            if text in found:
                found[text] = replace(found[text], alike=(*found[text].alike, origin))
            else:
                found[text] = LossDirection((origin,), own, tuple(factors.outputs(own)), factors)
    return list(found.values())


def cover(
    direction: LossDirection,
    domain: Domain,
    measure: Average,
    in_time: Callable[[], None],
    confirm: Callable[[Point], bool],
    names: frozenset[str] | None = None,
) -> Covered:
    """Proves that a loss is at most its bound on boxes that cover a domain, or finds a point where it is not.

    A point counts where the probabilities of the direction are beyond the bound, and `confirm` agrees. Boxes
    are cut across `names`, the parameters that matter.
    """
    with working_precision(BITS):
        bound = bound_of(measure)
    closed = domain.enclose(96)
    matter = direction.names if names is None else names
    sides = [n for n in closed.box if n in matter and n != GENERATOR and not closed.box[n].is_point]
    root = CoverBox(closed.box)
    pending = deque([root])
    boxes = 0
    while pending:
        in_time()
        part = pending.popleft()
        box = part.box
        boxes += 1
        part.constraint = excluded(closed, box)
        if part.constraint is not None:
            continue
        part.orders = within(OnBox(direction.outputs, direction.factors, box), measure, bound)
        if part.orders is not None:
            continue
        point = {n: (i.lower + i.upper) / 2 for n, i in box.items() if n != GENERATOR}
        found = direction.at(domain, point)
        if found and is_beyond(found, measure) and confirm(point):
            return Covered(point=point, boxes=boxes)
        if not sides or boxes + len(pending) > MAX_BOXES:
            return Covered(boxes=boxes)
        part.cut(_longest(box, sides, closed.box))
        pending.extend(part.halves)
    return Covered(root.tree(), boxes=boxes)


def _longest(box: Mapping[str, Interval], names: list[str], whole: Mapping[str, Interval]) -> str:
    """Returns the side of a box that is longest, compared with the whole."""

    def length(name: str) -> Fraction:
        own, all_ = box[name], whole[name]
        return (own.upper - own.lower) / (all_.upper - all_.lower)

    return max(names, key=length)


# --- evidence of what is proved on boxes: trees of cuts, for `checker.loss_evidence` -----------------

Tree = list[list[Any]]


@dataclass(eq=False)
class CoverBox:
    """A box of a cover: it is outside of the domain, or the orders prove a bound there, or it is cut."""

    box: Mapping[str, Interval]
    constraint: int | None = None
    orders: tuple[Fraction, ...] | None = None
    name: str = ""
    halves: list[CoverBox] = field(default_factory=list)

    def cut(self, name: str) -> None:
        """Cuts the box in two, across a side."""
        own = self.box[name]
        middle = (own.lower + own.upper) / 2
        self.name = name
        for low, high in ((own.lower, middle), (middle, own.upper)):
            self.halves.append(CoverBox({**self.box, name: Interval(low, high, True, True)}))

    def tree(self) -> Tree:
        """Returns the tokens of the whole tree in preorder."""
        tokens: Tree = []
        pending = [self]
        while pending:
            part = pending.pop()
            if part.halves:
                tokens.append(["cut", part.name, str(part.halves[0].box[part.name].upper)])
                pending += reversed(part.halves)
            elif part.constraint is not None:
                tokens.append(["outside", part.constraint])
            elif part.orders is not None:
                tokens.append(["+", [str(order) for order in part.orders]])
            else:
                raise DefectError("a part of a cover is open")
        return tokens


def nothing_apart() -> Tree:
    """Returns the tree that shows two equal distributions to be no distance apart."""
    return [["+", []]]


def about(
    found: PairOutcomes, origins: Sequence[tuple[str, str, int]], domain: Domain, measure: Average
) -> dict[str, Any]:
    """Returns what is said of a reduced direction: that the divergence of its outputs is within its bound."""
    return {
        "domain": envelope.domain_document(domain),
        "of": measure.key,
        "bound": bound_document(measure),
        **joint_statement(found, origins),
    }


def bound_document(measure: Average) -> list[Any]:
    """Returns the bound: a number, and factors of logarithms of numbers."""
    return [str(measure.rational), [[str(factor), str(value)] for factor, value in measure.logarithms]]


def proved(direction: LossDirection, domain: Domain, measure: Average, tree: Tree) -> dict[str, Any]:
    """Returns the statement about a reduced direction: its outputs, also as products, and the tree."""
    found, factors = direction.found, direction.factors
    numbers: dict[str, int] = {}

    def product(polynomial: Polynomial) -> list[Any] | None:
        """Returns a polynomial as a product, None for 0."""
        if not polynomial:
            return None
        constant, powers = factors.factored(polynomial)
        places = [[numbers.setdefault(name, len(numbers)), power] for name, power in powers.items()]
        return [str(fraction(constant)), places]

    products = [product(each) for each in (found.total, *(side for pair in found.outputs for side in pair))]
    own = about(found, direction.origins, domain, measure)
    return {"kind": "average", **own, "factors": list(numbers), "products": products, "tree": tree}


def violation(model: Model, measure: Average, witness: LossWitness) -> dict[str, Any]:
    """Returns the claim that fails at a witness; `reports` adds its numbers."""
    wanted = witness.left, witness.right, witness.length
    for pair in outcomes(model):
        for each in (pair, pair.turned):
            if (each.left, each.right, each.length) == wanted:
                broken = about(reduced(each), [wanted], model.domain, measure)
                return {"witness": {"kind": "average", "claim": broken}}
    raise DefectError("a witness is about secrets that are not compared")


# --- losses -----------------------------------------------------------------------------------------

POINTS = 12  # simple points of the domain at which all directions are evaluated first
TOUCHED = "the bound may be reached exactly, which enclosures cannot decide"


def verify_losses(session: Session, model: Model) -> EveryLengthOutcome:
    """Decides a model whose measure is a loss, and whose obligations are proved."""
    measure = divergence_of(model, Average)
    trees: list[tuple[LossDirection, Tree]] = []
    boxes = 0
    try:
        witness = first_violation(session, model, measure)
        if witness:
            return EveryLengthOutcome(Violated(witness))
        every = directions(model)
        with closing(covers(session, model, every, measure)) as made:
            for direction, found in zip(every, made, strict=True):
                boxes += found.boxes
                if found.witness:
                    return EveryLengthOutcome(Violated(found.witness))
                if found.tree is None:
                    why = found.lost or f"not decided with {found.boxes} boxes; {TOUCHED}"
                    verdict = Unknown(
                        End.CRASHED if found.lost else End.GAVE_UP, f"{direction.origin}: {why}"
                    )
                    return EveryLengthOutcome(verdict, certificate=proofs(model, measure, trees))
                trees.append((direction, found.tree))
    except LimitError as error:
        end = End.TIMEOUT if isinstance(error, TimeLimitError) else End.GAVE_UP
        return EveryLengthOutcome(Unknown(end, str(error)), certificate=proofs(model, measure, trees))
    return EveryLengthOutcome(
        Holds(()), enclosed=(len(every), boxes), certificate=proofs(model, measure, trees)
    )


def proofs(model: Model, measure: Average, trees: Sequence[tuple[LossDirection, Tree]]) -> dict[str, Any]:
    """Returns what is proved of a model as evidence has it, for `kernel.loss_evidence`."""
    return envelope.statements(*(proved(each, model.domain, measure, tree) for each, tree in trees))


def first_violation(session: Session, model: Model, measure: Average) -> LossWitness | None:
    """Returns a simple point of the domain at which a loss is above its bound, if one is found."""
    for point in islice(sample_points(model.domain), POINTS):
        for origin in origins(model):
            session.in_time()
            found = broken(model, origin, measure, point)
            if found:
                return found
    return None


def origins(model: Model) -> Iterator[AllOutputs]:
    """Yields all directions and lengths of a model."""
    for length in model.lengths:
        for pair in model.pairs:
            yield AllOutputs(pair.left, pair.right, length=length)
            yield AllOutputs(pair.right, pair.left, length=length)


def far_apart(model: Model, origin: AllOutputs, point: Mapping[str, Fraction]) -> MomentWitness | LossWitness:
    """Returns how far a direction is apart at a point, for the measure of a model.

    Raises:
        InputError: a point outside of the domain, unknown secrets, or one that is impossible there.
    """
    if not is_about(model, Average):
        return divergence_at(model, origin, point)
    pair = pair_of(model, origin.left, origin.right)
    if not contains(model.domain, point):
        raise InputError(f"this point is not in the domain {model.domain.describe()}")
    own = AllOutputs(pair.left, pair.right, length=origin.length)
    return worst_at(model_at(model, own, point, pair), divergence_of(model, Average))


def holds_at(model: Model, origin: AllOutputs, point: Mapping[str, Fraction]) -> bool:
    """Tells whether the loss of a direction is proved to be within the bound of a model at a point."""
    measure = divergence_of(model, Average)
    box = dict(model.domain.enclose(96).box)
    box |= {n: Interval(v, v, True, True) for n, v in point.items() if n in box}
    with working_precision(BITS):
        bound = bound_of(measure)
    alike = [d for d in directions(model) if origin in d.alike]
    own = (within(OnBox(d.outputs, d.factors, box), measure, bound) for d in alike)
    return bool(alike) and all(orders is not None for orders in own)


def is_within(model: Model, witness: MomentWitness | LossWitness, point: Mapping[str, Fraction]) -> bool:
    """Tells whether the divergence of a witness is proved to be within the bound of a model at its point."""
    if witness.within is not None:
        return witness.within
    return holds_at(model, AllOutputs(witness.left, witness.right, length=witness.length), point)


def at_bound(measure: Average, value: Fraction) -> Average:
    """Returns the measure with a number as its bound."""
    return replace(measure, rational=value, logarithms=())


# --- directions of a loss that is no polynomial as tasks: each is proved on boxes of its own --------

NO_TREE = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True, eq=False)
class DirectionOutcome:
    """What was found of one direction: the boxes that prove it, or the witness of a point, or neither.

    `lost` says why, where every worker that was given the direction died.
    """

    tree: Tree | None = None
    witness: LossWitness | None = None
    boxes: int = 0
    lost: str = ""


def covers(
    session: Session, model: Model, every: Sequence[LossDirection], measure: Average
) -> Generator[DirectionOutcome, None, None]:
    """Yields for each direction whether a loss is at most the bound of a measure on the domain of a model.

    Raises:
        TimeLimitError: the time of the session is over.
    """
    yield from session.each([_task(session, model, direction, measure) for direction in every])


def _task(
    session: Session, model: Model, direction: LossDirection, measure: Average
) -> Task[DirectionOutcome]:
    def at(point: Point) -> LossWitness | None:
        return broken(model, direction.origin, measure, point)

    def here() -> DirectionOutcome:
        found = cover(direction, model.domain, measure, session.in_time, lambda point: at(point) is not None)
        return DirectionOutcome(found.tree, None if found.point is None else at(found.point), found.boxes)

    def asked() -> dict[str, Any]:
        return {**session.told(), **_told(direction, model.domain, measure)}

    def read(told: Mapping[str, Any]) -> DirectionOutcome:
        boxes, point = int(told["boxes"]), told["point"]
        if point is None:
            if told["tree"] is not None:
                _replay(direction, model.domain, measure, told["tree"])
            return DirectionOutcome(told["tree"], boxes=boxes)
        witness = at({name: Fraction(value) for name, value in point.items()})
        return DirectionOutcome(witness=witness, boxes=boxes) if witness else here()

    return Task("loss", here, asked, read, partial(_lost, direction), seconds=session.left)


def _replay(direction: LossDirection, domain: Domain, measure: Average, tree: Tree) -> None:
    """Replays a worker's proof by the kernel.

    Raises:
        ValueError: it does not show the direction.
    """
    statement = proved(direction, domain, measure, tree)
    try:
        check_tree(read_domain(statement["domain"]), statement, bound_in_evidence(statement["bound"])[0])
    except (Rejected, *NO_TREE) as error:
        raise ValueError(f"the checker rejects its proof: {error}") from None


def _lost(direction: LossDirection, reason: str) -> DirectionOutcome:
    return DirectionOutcome(lost=reason)


def _told(direction: LossDirection, domain: Domain, measure: Average) -> dict[str, Any]:
    """Returns a direction, the domain and the measure as JSON data."""
    found = direction.found
    return {
        "domain": to_document(Claim(domain.ring.number(0), domain)),
        "measure": measure.key,
        "bound": bound_document(measure),
        "total": key(found.total),
        "outputs": [[key(p), key(q)] for p, q in found.outputs],
        "names": sorted(direction.names),
    }


def covered(given: Mapping[str, Any]) -> dict[str, Any]:
    """Proves one direction of `covers` on boxes, or finds a point; returns what was found as JSON data."""
    domain = from_document(given["domain"]).domain
    rational, logarithms = given["bound"]
    parts = tuple((Fraction(factor), Fraction(value)) for factor, value in logarithms)
    kind = KLDivergence if given["measure"] == KLDivergence.key else ZeroConcentrated
    measure = kind(Fraction(rational), parts)
    read = domain.ring.parse
    outputs = tuple((read(p), read(q)) for p, q in given["outputs"])
    own, factors = PairOutcomes("", "", length=0, total=read(given["total"]), outputs=outputs), Factors()
    direction = LossDirection((AllOutputs("", "", length=0),), own, tuple(factors.outputs(own)), factors)
    with session_of(given) as session:
        names = frozenset(given["names"])
        found = cover(direction, domain, measure, session.in_time, lambda point: True, names=names)
    point = None if found.point is None else {name: str(value) for name, value in found.point.items()}
    return {"tree": found.tree, "point": point, "boxes": found.boxes}
