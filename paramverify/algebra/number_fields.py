"""Points and numbers in a field Q(α), where α is one real root of an irreducible polynomial: exact.

Every element is a polynomial in α of a lower degree than the minimal polynomial, in one way only ([Cohen93],
chapter 4). So a polynomial vanishes at a point of the field iff its value, reduced modulo the minimal
polynomial, is zero; a value that is not zero has a sign, which a close enough enclosure of α shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor
from typing import Any

from flint import fmpq, fmpq_mat, fmpq_poly, fmpz_mat, fmpz_poly

from paramverify.algebra.polynomials import Polynomial, Ring, fraction, key, rational
from paramverify.algebra.rationals import nearest
from paramverify.algebra.real_roots import RealRoot, bernstein_coefficients, isolate, rational_root, sign_at

FIELD = Ring(("t",))
FINE_BITS = 640  # of approximations from which elements of a field are guessed
MAX_FIELD_DEGREE = 8


@dataclass(frozen=True)
class AlgebraicPoint:
    """Coordinates as polynomials in one root of an irreducible polynomial, the only one in the interval."""

    minimal: fmpz_poly
    interval: tuple[Fraction, Fraction]
    coordinates: Mapping[str, fmpq_poly]

    @property
    def has_root(self) -> bool:
        """Whether the minimal polynomial changes its sign on the interval."""
        low, high = self.interval
        return sign_at(self.minimal, low) * sign_at(self.minimal, high) < 0

    @property
    def is_isolated(self) -> bool:
        """Whether exactly one root of the minimal polynomial is in the interval, and none at its ends."""
        return self.has_root and len(isolate(self.minimal, *self.interval)) == 1

    @cached_property
    def root(self) -> RealRoot:
        """The root α that the coordinates are polynomials in."""
        return RealRoot(self.minimal, 1, *self.interval)

    def value(self, polynomial: Polynomial) -> fmpq_poly:
        """Returns the value of a polynomial at the point, reduced; what the point lacks may not occur."""
        modulus = fmpq_poly(self.minimal)
        names = [str(name) for name in polynomial.context().names()]
        degrees = [int(d) for d in polynomial.degrees()]
        powers: list[list[fmpq_poly]] = []
        for name, degree in zip(names, degrees, strict=True):
            powers.append([fmpq_poly([1])])
            for _ in range(degree):
                powers[-1].append(powers[-1][-1] * self.coordinates[name] % modulus)
        total = fmpq_poly([0])
        for monomial, coefficient in polynomial.to_dict().items():
            term = fmpq_poly([coefficient])
            for k, exponent in enumerate(monomial):
                if exponent:
                    term = term * powers[k][int(exponent)] % modulus
            total += term
        return total

    def number(self, polynomial: Polynomial) -> FieldNumber:
        """Returns the value of a polynomial at the point as a number."""
        return FieldNumber(self.root, self.value(polynomial))

    def sign(self, polynomial: Polynomial) -> int:
        """Returns the sign of a polynomial at the point: -1, 0 or 1."""
        return self.number(polynomial).sign()

    def coordinate(self, name: str) -> FieldNumber:
        """Returns one coordinate as a number."""
        return FieldNumber(self.root, self.coordinates[name])

    def tidied(self) -> AlgebraicPoint:
        """Returns the same point with short ends of an interval that Descartes' rule shows to isolate α."""
        root, bits = self.root, 4
        while True:
            scale = 1 << bits
            close = root.refined(Fraction(1, 2 * scale))
            low, high = (
                Fraction(floor(close.lower * scale), scale),
                Fraction(ceil(close.upper * scale), scale),
            )
            signs = [c > 0 for c in bernstein_coefficients(self.minimal, low, high) if c]
            if (
                sum(a != b for a, b in pairwise(signs)) == 1
                and replace(self, interval=(low, high)).is_isolated
            ):
                return replace(self, interval=(low, high))
            bits *= 2

    def in_words(self) -> str:
        """Returns the point as people read it, such as `p = 1/2, q ≈ 1.41421 (a root of x^2 - 2)`."""
        told = [(name, str(self.coordinate(name).root)) for name in self.coordinates]
        return ", ".join(f"{name} {'' if text.startswith('≈') else '= '}{text}" for name, text in told)


@dataclass(frozen=True, eq=False)
class FieldNumber:
    """A real number: a polynomial in α, of a lower degree than the minimal polynomial of α."""

    generator: RealRoot
    image: fmpq_poly

    @property
    def rational(self) -> Fraction | None:
        """The value where it is rational, else None: 1, α, α^2 ... are linearly independent."""
        return fraction(self.image[0]) if self.image.degree() <= 0 else None

    def sign(self) -> int:
        """Returns -1, 0 or 1, decided exactly."""
        if not self.image:
            return 0
        low, high = self.enclosure(1)
        return 1 if low > 0 else -1 if high < 0 else 0

    def enclosure(self, bits: int = 64) -> tuple[Fraction, Fraction]:
        """Returns rationals between which the value lies, at most 2**-bits apart relative to the value."""
        value = self.rational
        if value is not None:
            return value, value
        root = self.generator
        while True:  # it ends: a number that is not rational is not 0
            low, high = _between(self.image, root)
            if high - low <= min(abs(low), abs(high)) / 2**bits and (low > 0) == (high > 0):
                return low, high
            root = root.refined((root.upper - root.lower) / 256)

    def middle(self) -> Fraction:
        """Returns the number if it is rational, otherwise a rational next to it, relative to its size."""
        low, high = self.enclosure()
        return (low + high) / 2

    def __add__(self, other: FieldNumber) -> FieldNumber:
        return FieldNumber(self.generator, self.image + other.image)

    def __sub__(self, other: FieldNumber) -> FieldNumber:
        return FieldNumber(self.generator, self.image - other.image)

    def __mul__(self, other: FieldNumber) -> FieldNumber:
        return FieldNumber(self.generator, self.image * other.image % fmpq_poly(self.generator.factor))

    def __truediv__(self, other: FieldNumber) -> FieldNumber:
        """Divides by a number that is not 0."""
        _, inverse, _ = other.image.xgcd(fmpq_poly(self.generator.factor))
        return self * FieldNumber(self.generator, inverse)

    def __float__(self) -> float:
        return nearest(self.middle())

    @cached_property
    def root(self) -> RealRoot:
        """The number as a root of its own minimal polynomial."""
        value = self.rational
        if value is not None:
            return rational_root(value)
        modulus = fmpq_poly(self.generator.factor)
        size = int(modulus.degree())
        rows, power = [], self.image
        for _ in range(size):
            rows.append([power[k] for k in range(size)])
            power = power * fmpq_poly([0, 1]) % modulus
        # All roots of the characteristic polynomial are conjugates: it is a power of the minimal one.
        factor = fmpz_poly(fmpq_mat(rows).charpoly().numer()).factor()[1][0][0]
        bits = 8
        while True:
            low, high = self.enclosure(bits)
            found = isolate(factor, low, high)
            if len(found) == 1:
                known = AlgebraicPoint(factor, (found[0].lower, found[0].upper), {}).tidied()
                return known.root
            bits *= 2

    def __str__(self) -> str:
        return str(self.root)


def _between(image: fmpq_poly, root: RealRoot) -> tuple[Fraction, Fraction]:
    """Returns ends between which a polynomial lies on the interval of a root, by Horner's rule."""
    low = high = fmpq(0)
    left, right = rational(root.lower), rational(root.upper)
    for k in range(int(image.degree()), -1, -1):
        ends = (low * left, low * right, high * left, high * right)
        low, high = min(ends) + image[k], max(ends) + image[k]
    return fraction(low), fraction(high)


def of_root(root: RealRoot, name: str, others: Mapping[str, Fraction]) -> AlgebraicPoint:
    """Returns the point with one irrational coordinate, and rational ones."""
    images = {n: fmpq_poly([rational(value)]) for n, value in others.items() if n != name}
    return AlgebraicPoint(root.factor, (root.lower, root.upper), {**images, name: fmpq_poly([0, 1])})


def field_polynomial(polynomial: fmpq_poly | fmpz_poly) -> Polynomial:
    """Returns a univariate polynomial as one in the variable t."""
    return FIELD.from_terms({(i,): fraction(polynomial[i]) for i in range(int(polynomial.degree()) + 1)})


def recognised(
    names: Sequence[str], point: Sequence[fmpq], snapped: Sequence[fmpq]
) -> Iterator[AlgebraicPoint]:
    """Yields points of a field that may be near an approximation to FINE_BITS bits: guesses, to be verified.

    `snapped` are the simplest rationals near the coordinates; those that are short are taken.
    """
    irrational = [k for k, r in enumerate(snapped) if int(r.q).bit_length() > FINE_BITS // 8]
    for weights in _weights(irrational):
        t = sum((point[k] * w for k, w in weights), fmpq(0))
        minimal = minimal_polynomial(t)
        if minimal is None:
            continue
        images: list[fmpq_poly] = []
        for k, at in enumerate(point):
            image = in_field(at, t, minimal.degree()) if k in irrational else fmpq_poly([snapped[k]])
            if image is not None:
                images.append(image)
        if len(images) == len(point):
            yield AlgebraicPoint(minimal, _around(t), dict(zip(names, images, strict=True)))


def _weights(places: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Yields combinations of coordinates, as (place, factor), that may generate the field of all of them."""
    yield from ([(k, 1)] for k in places)
    for factors in ((1, 2, 3, 4, 5, 6), (1, -1, 3, -2, 5, 7)):
        if len(places) > 1:
            yield list(zip(places, factors, strict=False))


def _around(value: fmpq) -> tuple[Fraction, Fraction]:
    scale = 1 << (FINE_BITS // 4)
    below = int((value * scale).floor())
    return Fraction(below - 1, scale), Fraction(below + 2, scale)


def minimal_polynomial(value: fmpq) -> fmpz_poly | None:
    """Returns an irreducible polynomial of low degree and height that nearly vanishes at the number, or None.

    After [Lenstra82]: the coefficients are a short vector of a lattice. Only a guess, which the caller
    verifies.
    """
    for degree in range(2, MAX_FIELD_DEGREE + 1):
        relation = _relation([value**k for k in range(degree + 1)])
        if relation is not None and relation[-1]:
            factors = fmpz_poly(relation).factor()[1]
            if len(factors) == 1 and factors[0][1] == 1:
                return factors[0][0]
    return None


def in_field(value: fmpq, generator: fmpq, degree: int) -> fmpq_poly | None:
    """Returns a polynomial in the generator that nearly has the value, or None; a guess too."""
    relation = _relation([*(generator**k for k in range(degree)), value])
    if relation is None or not relation[-1]:
        return None
    return fmpq_poly([fmpq(-c, relation[-1]) for c in relation[:-1]])


def _relation(values: Sequence[fmpq]) -> list[int] | None:
    """Returns small whole numbers whose combination with the values is nearly zero, or None."""
    count = len(values)
    scale = 1 << (FINE_BITS - 32)
    rows = []
    for k, value in enumerate(values):
        rows += [int(i == k) for i in range(count)] + [(value * scale).floor()]
    reduced = fmpz_mat(count, count + 1, rows).lll()
    first = [int(reduced[0, i]) for i in range(count + 1)]
    # A random lattice of this volume has no vector shorter than about scale**(1/count).
    size = max(abs(c).bit_length() for c in first)
    return first[:-1] if size * count * 2 < FINE_BITS else None


def point_document(point: AlgebraicPoint) -> dict[str, Any]:
    """Returns a point as JSON data: the minimal polynomial of t, an interval, and coordinates in t."""
    return {
        "minimal": key(field_polynomial(point.minimal)),
        "interval": [as_text(end) for end in point.interval],
        "coordinates": {name: key(field_polynomial(image)) for name, image in point.coordinates.items()},
    }


def read_point(document: Mapping[str, Any]) -> AlgebraicPoint:
    """Returns the point that `point_document` wrote.

    Raises:
        ValueError: it is something else.
    """
    low, high = map(Fraction, document["interval"])
    given = _read(document["minimal"])
    minimal = fmpz_poly([int(c.p) for c in given.coeffs()])
    whole = given.denom() == 1 and given.degree() > 1
    if not (whole and low < high and [m for _, m in minimal.factor()[1]] == [1]):
        raise ValueError("a minimal polynomial is irreducible, with whole coefficients and an interval")
    images = {name: _read(text) % given for name, text in document["coordinates"].items()}
    return AlgebraicPoint(minimal, (low, high), images)


def _read(text: str) -> fmpq_poly:
    """Returns a polynomial in t, as `key` writes it."""
    found = FIELD.parse(text)
    parts = [fmpq(0)] * (int(found.total_degree()) + 1)
    for (power,), coefficient in found.to_dict().items():
        parts[int(power)] = coefficient
    return fmpq_poly(parts)


def as_text(value: Fraction) -> str:
    """Returns a rational of any length as `24/7`."""
    return str(rational(value))
