"""The Bernstein form against values on grids, and the signs that are concluded from it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import pytest
from flint import fmpz_mat
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import FEW, NAMES, RING, boxes, grid, polynomials, rationals

from paramverify.algebra.bernstein import bernstein_form, face_indices, rotate
from paramverify.algebra.domains import Domain, Interval, box_domain, parse_interval
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Polynomial, rational, to_rational_function, value_at, variables
from paramverify.algebra.signs import Sign, parse_constraint, sign_on

Box = dict[str, Interval]


def read(text: str) -> Polynomial:
    return to_rational_function(parse(text), RING).numerator


def closed(box: Box) -> Box:
    return {name: Interval(i.lower, i.upper, True, True) for name, i in box.items()}


@pytest.mark.slow
@FEW
@given(
    polynomials(), boxes(), st.fixed_dictionaries(dict.fromkeys(NAMES, st.fractions(0, 1, max_denominator=7)))
)
def test_coefficients_are_those_of_the_bernstein_basis(
    f: Polynomial, box: Box, t: dict[str, Fraction]
) -> None:
    """Summing coefficients times basis polynomials, computed from their definition, gives back f."""
    form = bernstein_form(f, box)
    occurring = variables(f)
    total = Fraction(0)
    for index, entry in zip(product(*(range(d + 1) for d in form.degrees)), form.entries, strict=True):
        basis = Fraction(1)
        for name, degree, i in zip(occurring, form.degrees, index, strict=True):
            basis *= comb(degree, i) * t[name] ** i * (1 - t[name]) ** (degree - i)
        total += basis * Fraction(int(entry), int(form.scale))
    point = {name: i.lower + t[name] * (i.upper - i.lower) for name, i in box.items()}
    assert total == value_at(f, point)


@pytest.mark.slow
@FEW
@given(polynomials(), boxes(), st.sampled_from(NAMES), st.sampled_from([0, 1]))
def test_bounds_on_a_face(f: Polynomial, box: Box, name: str, end: int) -> None:
    """The coefficients on a face bound the values on that face."""
    occurring = variables(f)
    if name not in occurring:
        return
    form = bernstein_form(f, box)
    entries = [int(entry) for entry in form.face({occurring.index(name): end})]
    value = (box[name].lower, box[name].upper)[end]
    on_face = {**closed(box), name: Interval(value, value, True, True)}
    values = [value_at(f, point) * int(form.scale) for point in grid(on_face, 3)]
    assert min(entries) <= min(values)
    assert max(values) <= max(entries)


@FEW
@given(rationals())
def test_constants(number: Fraction) -> None:
    """A polynomial without variables has one coefficient, its value, on any box and even on none."""
    form = bernstein_form(RING.number(number), {})
    assert form.degrees == ()
    assert len(form.entries) == 1
    assert form.lower == form.upper == number
    assert form.face({}) == form.entries


@pytest.mark.slow
@FEW
@given(polynomials(), st.fixed_dictionaries(dict.fromkeys(NAMES, rationals())))
def test_point_intervals(f: Polynomial, point: dict[str, Fraction]) -> None:
    """On a box that is one point both bounds are the value there."""
    form = bernstein_form(f, {name: Interval(v, v, True, True) for name, v in point.items()})
    assert form.lower == form.upper == value_at(f, point)


@FEW
@given(st.lists(st.integers(0, 3), max_size=3), st.data())
def test_face_indices(degrees: list[int], data: st.DataObject) -> None:
    """The positions of a face are those of the index tuples whose fixed entries are 0 or the degree."""
    axes = st.sampled_from(range(len(degrees))) if degrees else st.nothing()
    fixed = data.draw(st.dictionaries(axes, st.sampled_from([0, 1])))
    tuples = list(product(*(range(d + 1) for d in degrees)))
    expected = [
        position
        for position, index in enumerate(tuples)
        if all(index[axis] == end * degrees[axis] for axis, end in fixed.items())
    ]
    assert sorted(face_indices(degrees, fixed)) == expected


def test_rotate() -> None:
    """Applying identities along every axis in turn restores the order of a tensor."""
    entries = list(fmpz_mat(1, 24, list(range(24))).entries())
    turned = entries
    for size in (2, 3, 4):
        identity = fmpz_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
        turned = rotate(identity, turned)
    assert turned == entries


FACTORS = [
    "p",
    "q",
    "1 - p",
    "1 - q",
    "1 + p",
    "p + q",
    "2 - p - q",
    "(p - q)**2",
    "(2*p - 1)**2",
    "1 - p*q",
    "p - q",
    "p*(1 - p) + r",
    "r**2",
    "1 - r",
]


@st.composite
def products(draw: st.DrawFn) -> Polynomial:
    """Products of factors that vanish at ends or on diagonals of the unit box: close calls."""
    f = RING.number(draw(rationals().filter(bool)))
    for factor in draw(st.lists(st.sampled_from(FACTORS), min_size=1, max_size=3)):
        f = f * read(factor)
    return f + draw(st.sampled_from([RING.number(0), RING.number(0), read("p*q*r"), read("q**2")]))


def unit_boxes() -> st.SearchStrategy[Box]:
    """The unit box, halves and ends of it, with any combination of open and closed ends."""
    texts = [f"{a}{ends}{b}" for a in "[(" for ends in ("0, 1", "0, 1/2", "1/2, 1") for b in ")]"]
    return st.fixed_dictionaries(
        dict.fromkeys(NAMES, st.sampled_from([*texts, "0", "1", "1/2"]).map(parse_interval))
    )


HOLDS = {
    Sign.POSITIVE: lambda v: v > 0,
    Sign.NONNEGATIVE: lambda v: v >= 0,
    Sign.ZERO: lambda v: v == 0,
    Sign.NONPOSITIVE: lambda v: v <= 0,
    Sign.NEGATIVE: lambda v: v < 0,
}


@pytest.mark.slow
@FEW
@given(st.one_of(polynomials(), products()), st.one_of(boxes(), unit_boxes()))
@example(read("p"), {name: parse_interval("[0, 1)") for name in NAMES})
@example(read("(p - q)**2"), {name: parse_interval("(0, 1)") for name in NAMES})
@example(
    read("p*(1 - q)"),
    {"p": parse_interval("(0, 1]"), "q": parse_interval("[0, 1)"), "r": parse_interval("0")},
)
def test_a_claimed_sign_is_never_contradicted(f: Polynomial, box: Box) -> None:
    """At every point of a grid that includes the closed ends the polynomial has the claimed sign."""
    sign = sign_on(f, Domain(RING, box))
    if sign is not None:
        assert all(HOLDS[sign](value_at(f, point)) for point in grid(box, 4))


def strongest(values: list[Fraction]) -> Sign | None:
    """Returns the strongest sign that all the values have."""
    order = (Sign.ZERO, Sign.POSITIVE, Sign.NEGATIVE, Sign.NONNEGATIVE, Sign.NONPOSITIVE)
    return next((sign for sign in order if all(map(HOLDS[sign], values))), None)


@pytest.mark.slow
@FEW
@given(
    st.one_of(polynomials(max_degree=1), products().filter(lambda f: max(f.degrees()) <= 1)),
    st.one_of(boxes(), unit_boxes()),
)
def test_the_sign_of_a_multilinear_polynomial_is_exact(f: Polynomial, box: Box) -> None:
    """Where every degree is at most one the strongest sign is found, and None only where the sign changes.

    A multilinear polynomial of one weak sign vanishes inside a face iff it vanishes at the middle of it, so
    closed ends and midpoints decide; and it changes its sign in the box iff it does at the vertices.
    """
    corners = [value_at(f, corner) for corner in Domain(RING, box).corners()]
    weak = strongest(corners)
    expected = None if weak is None else strongest([value_at(f, point) for point in grid(box, 2)])
    assert sign_on(f, Domain(RING, box)) == expected


@pytest.mark.parametrize(
    ("text", "box", "sign"),
    [
        ("p*(1 - p)", "(0, 1)", Sign.POSITIVE),
        ("p*(1 - p)", "[0, 1)", Sign.NONNEGATIVE),
        ("-p*(1 - p)", "(0, 1)", Sign.NEGATIVE),
        ("-p*(1 - p)", "(0, 1]", Sign.NONPOSITIVE),
        ("p + q", "[0, 1]", Sign.NONNEGATIVE),
        ("p + q", "(0, 1]", Sign.POSITIVE),
        ("p - 1/2", "[1/2, 1/2]", Sign.ZERO),
        ("p - p", "(0, 1)", Sign.ZERO),
        ("-7/3", "(0, 1)", Sign.NEGATIVE),
        ("p - q", "(0, 1)", None),
        ("p**2 - p + 1", "[0, 1]", Sign.POSITIVE),
        ("p**2 - p + 1/4", "[0, 1]", None),
    ],
)
def test_sign_on(text: str, box: str, sign: Sign | None) -> None:
    """Signs on open, closed and half-open boxes; a square is beyond this method and gives None."""
    domain = box_domain(RING, dict.fromkeys(NAMES, parse_interval(box)))
    assert sign_on(read(text), domain) is sign


def test_sign_ignores_constraints() -> None:
    """A constraint that would decide the sign is not used: the sign is that on the whole box."""
    box = box_domain(RING, dict.fromkeys(NAMES, parse_interval("(0, 1)")))
    assert sign_on(read("p - q"), Domain(RING, box.box, parse_constraint("p > q", box))) is None


def test_sign_of_a_very_large_polynomial() -> None:
    """Beyond the bounds on the degree and on the number of coefficients no sign is claimed."""
    domain = box_domain(RING, dict.fromkeys(NAMES, parse_interval("[1, 2]")))
    assert sign_on(read("p**70*q**70*r**70"), domain) is None
    assert sign_on(read("p**1000*p**1000*p**1000 + 1"), domain) is None


@pytest.mark.parametrize("box", ["[1, 2]", "(0, 1)", "[-1/3, 1/2]", "[2, 2]"])
@pytest.mark.parametrize("degree", [3, 13, 40])
def test_high_degrees_in_one_variable(degree: int, box: str) -> None:
    """By matrices and by shifts they are Σ_j C(i,j)/C(d,j)·c_j of f(low + width·t), also on a point."""
    interval = parse_interval(box)
    low, width = interval.lower, interval.upper - interval.lower
    numbers = [Fraction((7 * k * k) % 11 - 5, k % 3 + 1) for k in range(degree)] + [Fraction(3, 2)]
    form = bernstein_form(read(" + ".join(f"({c})*p**{k}" for k, c in enumerate(numbers))), {"p": interval})
    powers = [Fraction(0)] * (degree + 1)
    for k, c in enumerate(numbers):
        for j in range(k + 1):
            powers[j] += c * comb(k, j) * low ** (k - j) * width**j
    for i, entry in enumerate(form.entries):
        expected = sum((Fraction(comb(i, j), comb(degree, j)) * powers[j] for j in range(i + 1)), Fraction(0))
        assert Fraction(int(entry), int(form.scale)) == expected


@pytest.mark.parametrize(
    ("text", "box", "sign"),
    [
        ("p**100*(1 - p)**80", "(0, 1)", Sign.POSITIVE),
        ("p**100*(1 - p)**80", "[0, 1)", Sign.NONNEGATIVE),
        ("-p**101*(1 - p)**81", "(0, 1)", Sign.NEGATIVE),
        ("(1 - p)**81*p**100", "[1, 2]", Sign.NONPOSITIVE),
        ("(1 - p)**80*p**100", "(1, 2)", Sign.POSITIVE),
        ("(1 - p)**81*p**100", "(0, 2)", None),
    ],
)
def test_signs_of_powers(text: str, box: str, sign: Sign | None) -> None:
    """A product of high powers has the sign that its few factors give it."""
    assert sign_on(read(text), box_domain(RING, dict.fromkeys(NAMES, parse_interval(box)))) is sign


@pytest.mark.slow
@FEW
@given(polynomials(), boxes(), rationals().filter(bool))
def test_sign_of_multiples(f: Polynomial, box: Box, factor: Fraction) -> None:
    """A positive factor keeps the sign and a negative one turns it."""
    domain = Domain(RING, box)
    sign = sign_on(f, domain)
    multiple = sign_on(f * rational(factor), domain)
    assert multiple is (sign if factor > 0 or sign is None else -sign)
