"""Branch and bound, step by step: which box and axis come next, when arguments are tried, what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest
from claim_tools import make, replayed

from paramverify.algebra.bernstein import Patch, patch
from paramverify.algebra.domains import Interval
from paramverify.algebra.polynomials import Point
from paramverify.answers import Refuted
from paramverify.claims import Claim
from paramverify.exact import branching
from paramverify.exact.branching import Situation
from paramverify.exact.procedure_outcomes import Outcome, RemainingWork, answer
from paramverify.formats.refutations import fails_at, refuter

CLOSED = "[0, 1]"
HARD = "(p**3 + q**3 - 7/10)**2 * (1 + p*q) + 1/10**4"


def search(claim: Claim, boxes: int = 5000, confirm: Any = None) -> branching._BranchAndBound:
    return branching._BranchAndBound(
        claim, RemainingWork(boxes), confirm or refuter(claim), branching.solve_exactly, 0
    )


def node(claim: Claim, depth: int = 0, constraints: Sequence[str] = ()) -> branching._Node:
    """Returns the whole box of a claim, with more constraints."""
    box = dict(claim.domain.box)
    forms = tuple((k, patch(claim.domain.ring.parse(text), box)) for k, text in enumerate(constraints))
    return branching._Node(box, patch(claim.polynomial, box), forms, depth)


def widest(form: Patch) -> str:
    """Returns the axis along which coefficients vary most on the line through the smallest one."""
    cells = list(product(*(range(d + 1) for d in form.degrees)))
    by_index = dict(zip(cells, form.entries, strict=True))
    place = min(cells, key=lambda cell: by_index[cell])
    spreads = []
    for axis in range(len(form.names)):
        line = [
            v for c, v in by_index.items() if c[:axis] + c[axis + 1 :] == place[:axis] + place[axis + 1 :]
        ]
        spreads.append(max(line) - min(line))
    # Of equal ones the last axis.
    return form.names[max(range(len(spreads)), key=lambda k: (spreads[k], k))]


@pytest.mark.parametrize("seed", range(40))
def test_the_axis_that_is_cut(seed: int) -> None:
    """The axis is chosen by f, and at odd depths by a constraint in turn, where there are some."""
    random = Random(seed)

    def text() -> str:
        terms = [(random.randint(-9, 9), [random.randint(0, 3) for _ in "pqr"]) for _ in range(6)]
        return " + ".join(f"({c})*p^{a}*q^{b}*r^{d}" for c, (a, b, d) in terms) + " + p*q*r"

    ring = make("p*q*r", "pqr").domain.ring
    claim = Claim(ring.parse(text()), make("p", dict.fromkeys("pqr", CLOSED)).domain)
    limits = [text() for _ in range(seed % 4)]
    for depth in range(9):
        here = node(claim, depth, limits)
        assert here.patch is not None
        form = here.patch
        if limits and (depth % 2 or not form.names):
            form = here.constraints[depth // 2 % len(limits)][1]
        assert search(claim)._axis(here, here.patch) == widest(form)


def test_constraints_choose_where_the_claim_has_no_axis() -> None:
    """A claim that is a number is cut where its constraints vary, at every depth."""
    claim = make("-1", dict.fromkeys("pq", CLOSED))
    for depth in range(4):
        here = node(claim, depth, ["3*p - q - 1"])
        assert here.patch is not None
        assert search(claim)._axis(here, here.patch) == "p"
    hidden = make("-1", dict.fromkeys("pq", CLOSED), ["p**2 - p + 1/3 + q*(1 - q)/9 <= 0"])
    outcome = branching.search(hidden, RemainingWork(500), refuter(hidden), branching.solve_exactly)
    assert replayed(answer(hidden, outcome))


def test_points_that_fail_often_are_tried_less_often() -> None:
    """The first seventeen are all tried, later ones when their number is a power of two."""
    tried: list[int] = []
    claim = make("p - 1/2", "p")
    number = 0

    def refuse(point: Point) -> None:
        tried.append(number)

    looking = search(claim, confirm=refuse)
    for attempt in range(150):
        number = attempt
        assert looking._checked({"p": Fraction(1)}) is None
    assert tried == [*range(17), 32, 64, 128]
    sure = search(claim, confirm=lambda point: point)
    assert all(sure._checked({"p": Fraction(1, k)}) == {"p": Fraction(1, k)} for k in range(1, 40))
    assert sure.failures == 0


ARGUMENTS = ("by_convexity", "by_shared_factor", "by_rational_zero", "by_square", "by_blowup")


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Situation]]:
    """Replaces all arguments by ones that say nothing, and notes when they are asked."""
    asked: list[tuple[str, Situation]] = []

    def nothing(name: str) -> Any:
        def argument(here: Situation) -> None:
            asked.append((name, here))

        return argument

    for name in ARGUMENTS:
        monkeypatch.setattr(branching, name, nothing(name))
    return asked


def test_when_arguments_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Squares are completed in each third round from the first one on, and only so many times."""
    asked = recorded(monkeypatch)
    claim = make(HARD, dict.fromkeys("pq", CLOSED))
    looking, here = search(claim), node(claim)
    assert here.patch is not None
    first, every, most = branching.FIRST_LOOK, branching.SQUARE_EVERY, branching.MAX_SQUARES
    squares = 0
    for rounds in range(first, first + every * (most + 3)):
        asked.clear()
        assert not looking._special(here, here.patch, rounds)
        due = (rounds - first) % every == 0 and squares < most
        squares += due
        assert [name for name, _ in asked] == [n for n in ARGUMENTS if due or n != "by_square"]
        assert {situation.rounds for _, situation in asked} == {rounds}
    assert looking.squares == squares == most


def test_boxes_are_cut_before_arguments_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first look on, arguments are tried whenever each axis has been cut once more."""
    asked = recorded(monkeypatch)
    claim = make(HARD, dict.fromkeys("pq", CLOSED))
    for depth in range(9):
        looking, here = search(claim), node(claim, depth)
        looking.axes = ("p", "q")
        asked.clear()
        looking.stored = 10**6
        looking._expand(here)
        rounds, rest = divmod(depth, 2)
        assert bool(asked) == (rounds >= branching.FIRST_LOOK and not rest)
        assert len(here.children) == 2
        assert {child.depth for child in here.children} == {depth + 1}
    looking, here = search(claim), node(claim, 2 * branching.MAX_ROUNDS - 1)
    looking.axes = ("p", "q")
    looking._expand(here)
    assert not looking.left
    here = node(claim, 2 * branching.MAX_ROUNDS)
    looking._expand(here)
    assert looking.left == [here]


def test_a_second_thought(monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many boxes a square is completed on the whole box, once; what it finds is the outcome."""
    asked = recorded(monkeypatch)
    monkeypatch.setattr(branching, "FIRST_LOOK", 100)
    claim = make(HARD, dict.fromkeys("pq", CLOSED))
    for thought in (15, 30, 31):
        monkeypatch.setattr(branching, "SECOND_THOUGHT", thought)
        asked.clear()
        looking = search(claim, boxes=thought + 9)
        looks: list[int] = []
        monkeypatch.setattr(
            branching, "by_square", lambda here, found=looks, at=looking: found.append(at.looked)
        )
        assert looking.run().reason
        assert len(looks) == 1
        assert thought <= looks[0] <= thought + 1
        found = Outcome(proof={"kind": "constant"})
        monkeypatch.setattr(branching, "by_square", lambda here, found=found: found)
        assert search(claim, boxes=thought + 9).run() is found
        early = search(claim, boxes=thought - 3)
        assert early.run() is not found


@pytest.mark.slow
@pytest.mark.parametrize("most", [0, 50, 2_000_000])
def test_coefficients_that_are_kept(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more coefficients wait than the limit says, all are counted off, and the outcome is the same."""
    monkeypatch.setattr(branching, "MAX_STORED", most)
    claim = make(HARD, dict.fromkeys("pq", CLOSED))
    looking = search(claim)
    stored: list[int] = []
    expand = looking._expand

    def watched(here: branching._Node) -> None:
        waiting = [n.patch for _, _, n in looking.heap] + [here.patch]
        stored.append(looking.stored)
        assert looking.stored == sum(len(form.entries) for form in waiting if form is not None)
        expand(here)

    monkeypatch.setattr(looking, "_expand", watched)
    outcome = looking.run()
    assert replayed(answer(claim, outcome))
    assert looking.stored == 0
    assert max(stored) <= most
    assert most < 2_000_000 or max(stored) > 100


def test_large_coefficients_count_more() -> None:
    """A coefficient counts once for each 1024 bits of its denominator, and once more."""
    form = patch(make("p*q + p", "pq").polynomial, {n: Interval(Fraction(0), Fraction(1)) for n in "pq"})
    for bits, times in ((1, 1), (1023, 1), (1024, 2), (2047, 2), (2048, 3), (1024 * 1024, 1025)):
        wide = Patch(form.names, form.degrees, form.entries, 2 ** (bits - 1))
        assert branching._size(wide) == len(form.entries) * times


def test_what_is_left_is_told_by_three_boxes() -> None:
    """The reason names how many boxes are left, and the first three of them."""
    claim = make(HARD, dict.fromkeys("pq", CLOSED))
    looking = search(claim, boxes=0)
    boxes = [{"p": Interval(Fraction(k), Fraction(k + 1))} for k in range(5)]
    nodes = [branching._Node(box, None, (), 0) for box in boxes]
    for count in range(1, 6):
        looking.left = nodes[:1]
        told = looking._describe(nodes[1:count])
        assert "; ".join(f"p in ({k}, {k + 1})" for k in range(min(count, 3))) in told
        assert f"is not decided in {count} box{'es' * (count > 1)}, " in told
        assert told.startswith("the work limit was reached: ") == (count > 1)
        assert ("zero or nearly zero" in told and "other backends may refute it" in told) == (count == 1)


def test_vertices_where_the_claim_fails() -> None:
    """The vertex with the least coefficient is tried; with constraints all that satisfy them are."""
    for constraints in ((), ("1 - p",), ("p - q",), ("1 - p - q", "p + q - 1"), ("-1 - p",)):
        points: list[Point] = []

        def refuse(point: Point, points: list[Point] = points) -> None:
            points.append(point)

        claim = make("p*q - p - q - 1 - q/3", dict.fromkeys("pq", CLOSED))
        here = node(claim, 0, constraints)
        looking = search(claim, confirm=refuse)
        assert here.patch is not None
        assert not looking._corner_fails(here, here.patch)
        values = [Fraction(0), Fraction(1)]
        corners = [{"p": p, "q": q} for p, q in product(values, values)]
        ring = claim.domain.ring
        inside = [
            c
            for c in corners
            if fails_at(claim, c)
            and all(not fails_at(Claim(ring.parse(t), claim.domain), c) for t in constraints)
        ]
        if constraints:
            assert len(points) == len(inside)
            assert all(point in inside for point in points)
        else:
            assert points == [{"p": 0, "q": 1}]
        sure = search(claim, confirm=lambda point: point)
        assert sure._corner_fails(here, here.patch) == bool(inside)
        assert (sure.point is not None) == bool(inside)


def test_strict_constraints_that_are_zero() -> None:
    """A strict constraint that is nowhere positive leaves nothing; a weak one that is zero may leave all."""
    for relation, ends, holds in (
        (">", CLOSED, True),
        (">=", CLOSED, False),
        (">", "(0, 1)", True),
        (">=", "(0, 1)", True),
    ):
        claim = make("p - 2", dict.fromkeys("pq", ends), [f"-p*q*(1 + p) {relation} 0"])
        outcome = branching.search(claim, RemainingWork(300), refuter(claim), branching.solve_exactly)
        if holds:
            assert replayed(answer(claim, outcome))
        else:
            assert outcome.point is not None
            assert fails_at(claim, outcome.point)


def test_a_box_that_just_fits_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coefficients are kept up to the limit, which they may reach."""
    claim = make(HARD, dict.fromkeys("pq", CLOSED))
    for more, kept in ((0, True), (-1, False), (1, True)):
        here = node(claim)
        assert here.patch is not None
        size = branching._size(here.patch)
        monkeypatch.setattr(branching, "MAX_STORED", size + more)
        looking = search(claim)
        looking._look(here)
        assert (here.patch is not None) == kept
        assert looking.stored == (size if kept else 0)


def test_numbers_with_the_constant() -> None:
    """A number in E is decided by its sign, zero is not negative, and constraints may leave no point."""
    for text, limits, holds in (
        ("exp(1) - 27/10", [], True),
        ("27/10 - exp(1)", [], False),
        ("0*p", [], True),
        ("exp(1) - exp(1)", [], True),
        ("27/10 - exp(1)", ["p + q >= 3"], True),
        ("27/10 - exp(1)", ["p + q >= 3/2"], False),
        ("exp(1) - 27/10", ["p + q >= 3/2"], True),
    ):
        claim = make(text, dict.fromkeys("pq", CLOSED), limits, constant=Fraction(1))
        found = branching.decide_exactly(claim, RemainingWork(500))
        if holds:
            assert replayed(found)
        else:
            assert isinstance(found, Refuted)
            assert fails_at(claim, found.point)
