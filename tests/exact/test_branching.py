"""Branch and bound: coefficients under cuts, touching zeros, large degrees, and random claims against z3."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from claim_tools import (
    NAMES,
    ask_z3,
    check_witness,
    example5,
    failing_grid_point,
    kinds,
    make,
    random_claim,
    replayed,
)
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import FEW, RING, boxes, grid, points, polynomials

from paramverify.algebra.bernstein import Patch, face, patch, slabs, slope, slope_sign, split
from paramverify.algebra.convexity import is_convex, minimum
from paramverify.algebra.domains import Interval
from paramverify.algebra.number_fields import minimal_polynomial
from paramverify.algebra.polynomials import Polynomial, substitute, value_at, variables
from paramverify.algebra.signs import negative_between
from paramverify.answers import End, Open, Proved, Refuted
from paramverify.backends import backend
from paramverify.claims import Claim, to_document
from paramverify.errors import InputError
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.formats.refutations import fails_at

Box = dict[str, Interval]
TESTS = Path(__file__).parents[1] / "tools"


def coefficients(form: Patch) -> dict[tuple[int, ...], Fraction]:
    """Returns the coefficients by index, the axes in the order of the ring."""
    found = {}
    for index, entry in zip(product(*(range(d + 1) for d in form.degrees)), form.entries, strict=True):
        by_name = dict(zip(form.names, index, strict=True))
        found[tuple(by_name[n] for n in sorted(form.names))] = Fraction(entry, form.scale)
    return found


def decided(claim: Claim, boxes: int = 5000) -> bool:
    """Tells whether a claim holds, after its certificate or its point has been checked."""
    answer = decide_exactly(claim, RemainingWork(boxes))
    if isinstance(answer, Refuted):
        assert fails_at(claim, answer.point)
        return False
    assert isinstance(answer, Proved), answer
    return replayed(answer)


@pytest.mark.slow
@settings(max_examples=15)
@given(polynomials(), boxes(single=False), st.fractions(0, 1, max_denominator=7).filter(lambda r: 0 < r < 1))
def test_cutting_gives_the_coefficients_of_both_parts(f: Polynomial, box: Box, ratio: Fraction) -> None:
    """De Casteljau's coefficients are those computed on the smaller boxes directly."""
    for name in variables(f):
        at = box[name].lower + (box[name].upper - box[name].lower) * ratio
        parts = split(patch(f, box), name, ratio)
        for part, ends in zip(parts, ((box[name].lower, at), (at, box[name].upper)), strict=True):
            direct = patch(f, {**box, name: Interval(*ends, True, True)})
            assert coefficients(part) == coefficients(direct)


@pytest.mark.slow
@settings(max_examples=15)
@given(polynomials(), boxes(single=False))
def test_faces_corners_and_slopes(f: Polynomial, box: Box) -> None:
    """Faces are restrictions, corners are values, and slopes are derivatives on the unit box."""
    form = patch(f, box)
    for ends, entry in form.corners():
        point = {n: (box[n].upper if end else box[n].lower) for n, end in ends.items()}
        rest = substitute(f, point)
        assert rest == rest.context().constant(fmpq(entry, form.scale))
    for name in variables(f):
        assert coefficients(slabs(form, name)[0]) == coefficients(form)
        width = box[name].upper - box[name].lower
        derivative = f.derivative(name)
        for point in grid(box, 2):
            value = value_at(derivative, point) * width
            low, high = (m(slope(form, name).entries) for m in (min, max))
            assert Fraction(low, form.scale) <= value <= Fraction(high, form.scale)
        for end in (0, 1):
            at = box[name].upper if end else box[name].lower
            low = min(face(form, name, end).entries)
            assert all(
                Fraction(low, form.scale) <= value_at(f, {**point, name: at}) for point in grid(box, 2)
            )


@FEW
@given(polynomials(), boxes(single=False))
def test_monotone_variables_are_monotone(f: Polynomial, box: Box) -> None:
    """Where a direction is claimed, values on a grid go that way."""
    form = patch(f, box)
    for name in variables(f):
        direction = slope_sign(form, name)
        for point in grid(box, 3) if direction else []:
            low, high = ({**point, name: end} for end in (box[name].lower, box[name].upper))
            assert direction * (value_at(f, high) - value_at(f, low)) >= 0


@pytest.mark.slow
@FEW
@given(polynomials(2, 6), boxes(single=False), points(), points())
def test_convexity_is_convexity(
    f: Polynomial, box: Box, one: dict[str, Fraction], two: dict[str, Fraction]
) -> None:
    """Where f is said to be convex, it is at most the mean at midpoints, and its minimum is found."""
    if not variables(f) or not is_convex(patch(f, box)):
        return
    one, two = ({n: min(max(v, box[n].lower), box[n].upper) for n, v in p.items()} for p in (one, two))
    middle = {n: (one[n] + two[n]) / 2 for n in box}
    assert 2 * value_at(f, middle) <= value_at(f, one) + value_at(f, two)
    found = minimum(f, {n: box[n] for n in variables(f)})
    if found.below is not None:
        assert value_at(f, {**one, **found.below}) < 0
    if found.tangent is not None or found.zero is not None:
        assert value_at(f, middle) >= 0


def test_minimal_polynomials_are_guessed() -> None:
    """From 640 bits of √2 + ∛(1/3) the polynomial of degree 6 is found; from a random number none is."""
    scale = 10**220
    root2 = fmpq(int((2 * scale**2) ** 1 and _root(2 * scale**2, 2)), scale)
    third = fmpq(_root(scale**3 // 3, 3), scale)
    found = minimal_polynomial(root2 + third)
    assert found is not None
    assert found.degree() == 6
    assert minimal_polynomial(fmpq(int("9173" * 55), scale)) is None


def _root(number: int, k: int) -> int:
    low, high = 0, 1 << (number.bit_length() // k + 1)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**k <= number else (low, middle)
    return low


def test_negative_pieces_of_segments() -> None:
    """The pieces of a segment on which f < 0 are found however short they are."""
    f = RING.variable("p") ** 2 - RING.number(Fraction(1, 2))
    ends = [{"p": Fraction(p), "q": Fraction(0), "r": Fraction(0)} for p in (-2, 2)]
    (point,) = negative_between(f, *ends)
    assert point["p"] ** 2 < Fraction(1, 2)
    g = f * f - RING.number(Fraction(1, 10**20))
    assert len(list(negative_between(g, *ends))) == 2
    assert not list(negative_between(g + RING.number(Fraction(1, 10**20)), *ends))


TOUCHING = {
    "a rational point": ("(p - 1/3)**2 + (q - 2/5)**2*(1 + p)", "pq", "convex"),
    "a rational point, to fourth order": ("(p - 1/3)**4 + (q - 2/5)**2 + p*(q - 2/5)**4", "pq", "cut"),
    "an irrational point": ("(p**2 - 1/2)**2 + (q**2 - 1/3)**2*(1 + p)", "pq", "algebraic"),
    "a point in a cubic field": ("(p**3 - 1/2)**2 + (q - p**2)**2", "pq", "algebraic"),
    "irrational points on a circle": ("(p**2 + q**2 - 1)**2 + (p - 2*q)**2", "pq", "algebraic"),
    "a vertex": ("p**2 - p*q + q**2 + p**3*q", "pq", "convex"),
    "a face, at an irrational point": ("p + p*q*(1-q) + (q**2 - 1/2)**2*(1 + p)", "pq", "factors"),
    "a vertex, to third order": ("p**3 - p**2*q + q**3 + p**4 - p**2*q**2/2", "pq", "blowup"),
    "Motzkin's polynomial": ("p**4*q**2 + p**2*q**4 + 1/27 - p**2*q**2", "pq", "algebraic"),
    "means": ("p**4 + q**4 + r**4 + s**4 - 4*p*q*r*s", "pqrs", "blowup"),
    "a curve": ("(p - q*r)**2 + (q - r**2)**2", "pqr", "quadratic"),
    "a weighted vertex": ("p**2 - p*q**2 + q**4 + p**3", "pq", "blowup"),
    "three variables": ("(p**2 - 1/2)**2 + (q**2 - 1/3)**2 + (r - p*q)**2", "pqr", "algebraic"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOUCHING)
def test_touching_zeros_are_decided(name: str) -> None:
    """Claims that touch zero are proved by the argument made for them, and fail when lowered by 10^-12."""
    text, names, kind = TOUCHING[name]
    answer = decide_exactly(make(text, names), RemainingWork(5000))
    assert replayed(answer), answer
    assert isinstance(answer, Proved)
    assert answer.certificate is not None
    assert kind in kinds(answer.certificate["proof"])
    assert not decided(make(f"{text} - 1/10**12", names))


@pytest.mark.slow
def test_what_is_not_decided_is_open_with_the_boxes() -> None:
    """A zero at an irrational point to fourth order is given up, naming what is left, and does not loop."""
    answer = decide_exactly(make("(p**2 - 1/2)**4 + (q**2 - 1/3)**2"), RemainingWork(5000))
    assert isinstance(answer, Open)
    assert answer.end is End.GAVE_UP
    assert "is not decided in 1 box, where the polynomial is zero or nearly zero: p in" in answer.detail
    assert answer.detail.endswith("; other backends may refute it")


def test_the_work_is_bounded() -> None:
    """With few boxes a hard claim is open, and options are read from text."""
    claim = make("(p**3 + q**3 - 7/10)**2 * (1 + p*q) + 1/10**4")
    solver = backend("bernstein")
    answer = solver.decide(claim, {"boxes": "20"})
    assert isinstance(answer, Open)
    assert "the work limit was reached" in answer.detail
    assert replayed(solver.decide(claim, {"boxes": "5000", "coefficients": "10000000"}))
    assert solver.builtin
    assert solver.version()
    for options in ({"boxes": "-1"}, {"boxes": "many"}, {"time": "3"}):
        with pytest.raises(InputError, match="positive whole numbers"):
            solver.decide(claim, options)


@pytest.mark.parametrize(
    ("text", "constraints", "holds"),
    [
        ("1 - p**2 - q**2 + p*q/10", ["p + q <= 1"], True),
        ("1 - p - q**2", ["p**2 + q**2 <= 1/2"], True),
        ("p*q - 1/10", ["p*q >= 1/9", "p <= q"], True),
        ("p*q - 1/8", ["p*q >= 1/9", "p <= q"], False),
        ("(p - q)*(p + q + 1/7)", ["p**3 >= q**3"], True),
        ("p - q", ["p**2 >= q**2"], True),
        ("3/10 - p*q*(1 - p - q)*8", ["p + q < 1"], True),
        ("29/100 - p*q*(1 - p - q)*8", ["p + q < 1"], False),
        ("p - 2", ["p**2 + q**2 >= 3"], True),
        ("p*(1 - p - q) - q*(1 - p - q)", ["p + q < 1", "q < p"], True),
        ("1 - p - q", ["(1 - p - q) * (p*q + 1/5) >= 0"], True),
    ],
    ids=str,
)
def test_constraints(text: str, constraints: list[str], holds: bool) -> None:
    """Boxes outside of the constraints are discarded, and points that refute satisfy them."""
    assert decided(make(text, "pq", constraints)) == holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("exp(1/2) - 1.64872127", True),
        ("1.64872128 - exp(1/2)", True),
        ("exp(1/2) - 1.64872128", False),
        ("exp(1/2) - 1.6487212707001281468486507", True),
        ("exp(1/2) - 1.6487212707001281468486508", False),
        ("exp(1) * (p + 1) - 2*p - 27/10", True),
        ("exp(1/2) * p - q", False),
        ("(exp(1/2) - 1) * (p - 1/2)**2 + (exp(1/2)*q - 1)**2", True),
    ],
)
def test_the_constant_is_the_number_it_stands_for(text: str, holds: bool) -> None:
    """Enclosures of exp(1/2) are refined until the claim is decided; refutations are for the number."""
    claim = make(text, "pq", constant=Fraction(1, 2))
    answer = decide_exactly(claim)
    if holds:
        assert replayed(answer)
    else:
        assert isinstance(answer, Refuted)
        check_witness(to_document(claim), {n: str(v) for n, v in answer.point.items() if n != "E"})


def test_claims_without_parameters() -> None:
    """A case may have no parameters at all; then a claim is a number."""
    assert decided(make("3", {}))
    assert not decided(make("-3", {}))
    answer = decide_exactly(make("-3", {}))
    assert isinstance(answer, Refuted)
    assert answer.point == {}


def test_example5() -> None:
    """The six claims of Example 5 hold, by one look at the coefficients each."""
    for claim in example5():
        assert decided(claim, boxes=1)


LARGE = """
import resource, sys
sys.path.insert(0, {tests!r})
from fractions import Fraction
from itertools import product
from random import Random
from claim_tools import replayed
from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.polynomials import Ring
from paramverify.exact.branching import decide_exactly
from paramverify.claims import Claim
from paramverify.answers import Proved, Refuted

resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
ring = Ring({names!r})
draws = Random(1)
f = ring.number(0)
gens = [ring.variable(n) for n in ring.names]
basis = [[x**i * (1 - x) ** ({degree} - i) for i in range({degree} + 1)] for x in gens]
weights = [1]
for i in range({degree}):
    weights.append(weights[-1] * ({degree} - i) // (i + 1))
for index in product(range({degree} + 1), repeat=len(ring.names)):
    term = ring.number(draws.randint(-40, 100))
    for k, i in enumerate(index):
        term = term * basis[k][i] * weights[i]
    f += term
box = box_domain(ring, dict.fromkeys(ring.names, Interval(Fraction(0), Fraction(1))))
low, high = Fraction(0), Fraction(40)  # f + 40 has coefficients that are at least zero
for _ in range({steps}):
    middle = (low + high) / 2
    answer = decide_exactly(Claim(f + ring.number(middle), box))
    assert isinstance(answer, (Proved, Refuted)), answer
    low, high = (low, middle) if isinstance(answer, Proved) else (middle, high)
answer = decide_exactly(Claim(f + ring.number(high), box))
assert replayed(answer)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("names", "degree", "steps"), [("pq", 32, 8), ("abcdef", 3, 2)], ids=str)
def test_large_degrees_in_little_memory(names: str, degree: int, steps: int) -> None:
    """Random polynomials of degree (32,32), and 3 in six variables, are decided close to zero below 1 GiB."""
    script = LARGE.format(tests=str(TESTS), names=tuple(names), degree=degree, steps=steps)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]


@pytest.mark.slow
def test_random_claims_agree_with_z3_and_a_grid() -> None:
    """Of 20 random claims nearly all are decided, never against z3 or a grid point."""
    undecided = 0
    for seed in range(1000, 1020):
        claim = random_claim(seed)
        answer = decide_exactly(claim, RemainingWork(2000))
        other = ask_z3(claim, 300)
        if replayed(answer):
            assert other != "sat", seed
            assert failing_grid_point(claim) is None, seed
        elif isinstance(answer, Refuted):
            assert fails_at(claim, answer.point), seed
            assert other != "unsat", seed
        else:
            undecided += 1
    assert undecided <= 2


def test_certificates_name_the_claim() -> None:
    """A certificate carries the canonical document of its claim."""
    claim = make("(p - 1/3)**2 + q", "pq")
    answer = decide_exactly(claim)
    assert isinstance(answer, Proved)
    assert answer.certificate is not None
    assert json.loads(json.dumps(answer.certificate["claim"])) == to_document(claim)
    assert set(NAMES) >= set(answer.certificate["claim"]["variables"])
