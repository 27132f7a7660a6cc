"""Numbers and quotients of polynomials as values with signs; distributions and sums of such values.

A value is a Fraction, or a `PolynomialQuotient` whose bottom is a product of polynomials that were shown to
be positive on the domain. So its sign is that of its top. Only sums and products are needed, no divisions.

A distribution is what a step leads to: different states, with values that are nowhere negative and sum to
one. A vector has a value for each of some keys.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from .claim_evidence import check_inside
from .evidence_polynomials import Poly, add, constant, number, parse, plus, times
from .ledger import Ask
from .proof_goals import WrittenClaim
from .rounded_constants import sign_in_exp
from .strict_reading import Rejected

# --- values -----------------------------------------------------------------------------------------

Point = Mapping[str, Fraction]


@dataclass(frozen=True)
class PolynomialQuotient:
    """One polynomial over another that is positive; never zero, and never a number.

    Two are equal if they are written alike; see `same`.
    """

    top: Poly
    bottom: Poly

    def _other(self, value: Value | int) -> tuple[Poly, Poly]:
        if isinstance(value, PolynomialQuotient):
            return value.top, value.bottom
        width = len(next(iter(self.bottom)))
        return constant(Fraction(value), width), constant(Fraction(1), width)

    def __add__(self, other: Value | int) -> Value:
        top, bottom = self._other(other)
        if bottom == self.bottom:
            return made(plus(self.top, top), bottom)
        return made(plus(times(self.top, bottom), times(top, self.bottom)), times(self.bottom, bottom))

    __radd__ = __add__

    def __mul__(self, other: Value | int) -> Value:
        top, bottom = self._other(other)
        return made(times(self.top, top), times(self.bottom, bottom))

    __rmul__ = __mul__

    def __neg__(self) -> Value:
        return PolynomialQuotient({x: -c for x, c in self.top.items()}, self.bottom)

    def __sub__(self, other: Value | int) -> Value:
        return self + (-other)

    def __rsub__(self, other: Value | int) -> Value:
        return -self + other

    def __hash__(self) -> int:
        return hash((frozenset(self.top.items()), frozenset(self.bottom.items())))

    def cleared(self, other: Value | int) -> tuple[Poly, Poly]:
        """Returns this value and another one, both multiplied by both bottoms."""
        top, bottom = self._other(other)
        return times(self.top, bottom), times(top, self.bottom)


Value: TypeAlias = Fraction | PolynomialQuotient


def made(top: Poly, bottom: Poly) -> Value:
    """Returns a quotient; a Fraction where it is a number that shows at once."""
    if not top:
        return Fraction(0)
    if len(bottom) == 1 and not any(next(iter(bottom))):
        (unit, by), *_ = bottom.items()
        if len(top) == 1 and unit in top:
            return top[unit] / by
        return PolynomialQuotient({x: c / by for x, c in top.items()}, {unit: Fraction(1)})
    return PolynomialQuotient(top, bottom)


def same(left: Value, right: Value | int) -> bool:
    """Tells whether two values are the same function."""
    gap = left - right
    return isinstance(gap, Fraction) and not gap


def written(value: Any) -> str:
    """Returns a value as a document writes it, on one line."""
    return value if isinstance(value, str) else f"({value[0]})/({value[1]})"


# --- vectors ----------------------------------------------------------------------------------------

Key = TypeVar("Key", bound=Hashable)
Number = TypeVar("Number", Fraction, Value)


def gathered(entries: Iterable[tuple[Key, Number]]) -> dict[Key, Number]:
    """Returns the sum of the values that come with each key."""
    found: dict[Key, Number] = {}
    for key, value in entries:
        found[key] = found[key] + value if key in found else value
    return found


def spread(
    vector: Mapping[Key, Value], step: Callable[[Key], Iterable[tuple[Key, Value]]]
) -> dict[Key, Value]:
    """Returns what a vector becomes, where each key leads to others with some shares."""
    return gathered((to, value * share) for key, value in vector.items() for to, share in step(key))


def alike(left: Mapping[Key, Value], right: Mapping[Key, Value]) -> bool:
    """Tells whether two vectors have the same keys, with the same values."""
    return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())


# --- what is known of values ------------------------------------------------------------------------


@dataclass
class QuotientValues:
    """Reads values, and knows their signs: on the domain, or at a point where one is given.

    `ask` tells whether a polynomial is shown to be at least (or above) zero.
    """

    names: tuple[str, ...]
    exponent: Fraction | None
    ask: Ask
    point: Point | None = None
    _read: dict[object, Value] = field(default_factory=dict)
    _signs: dict[object, int] = field(default_factory=dict)

    @classmethod
    def on(cls, domain: WrittenClaim, ask: Ask) -> QuotientValues:
        """Returns the values on a domain."""
        return cls(domain.goal.names, domain.exponent, ask)

    @classmethod
    def at(cls, domain: WrittenClaim, parameters: Mapping[str, str]) -> QuotientValues:
        """Returns the values at a point, which has to be one of the domain."""
        check_inside(domain, parameters)
        point = {name: number(text) for name, text in parameters.items()}
        return cls(domain.goal.names, domain.exponent, lambda poly, strict: False, point)

    def read(self, text: Any) -> Value:
        """Reads `"1/3"` or `["p", "p + 1"]`; its bottom has to be positive.

        Raises:
            Rejected: it is not shown to be positive.
        """
        key = text if isinstance(text, str) else tuple(text)
        if key not in self._read:
            parts = [text, "1"] if isinstance(text, str) else text
            top, bottom = (self._at_point(parse(part, self.names)) for part in parts)
            if not self._shown(bottom, strict=True):
                raise Rejected(f"the denominator of {text!r:.80} is not shown to be positive")
            self._read[key] = made(top, bottom)
        return self._read[key]

    def distribution(self, entries: Any, size: int, where: str) -> tuple[tuple[int, Value], ...]:
        """Reads a distribution over states, of which there are so many.

        Raises:
            Rejected: it is none.
        """
        row = tuple((state, self.read(text)) for state, text in entries)
        if not all(0 <= state < size for state, _ in row):
            raise Rejected(f"{where}: a successor is not a state")
        if len(dict(row)) < len(row):
            raise Rejected(f"{where}: a successor is there twice")
        if not same(sum((w for _, w in row), Fraction(0)), 1):
            raise Rejected(f"{where}: the probabilities do not sum to one")
        if not all(self.shows(w) for _, w in row):
            raise Rejected(f"{where}: a probability is not shown to be nonnegative")
        return row

    def _at_point(self, poly: Poly) -> Poly:
        if self.point is None:
            return poly
        found: Poly = {}
        for x, c in poly.items():
            powers = list(x)
            for k, name in enumerate(self.names):
                if name in self.point:
                    c *= self.point[name] ** x[k]
                    powers[k] = 0
            add(found, tuple(powers), c)
        return found

    def _is_number(self, poly: Poly) -> bool:
        """Tells whether no parameter is in a polynomial; the last name may be E, which is a number."""
        free = len(self.names) - (self.exponent is not None)
        return not any(any(x[:free]) for x in poly)

    def _shown(self, poly: Poly, strict: bool) -> bool:
        if not self._is_number(poly):
            return self.ask(poly, strict)
        key = frozenset(poly.items())
        if key not in self._signs:
            axis = None if self.exponent is None else len(self.names) - 1
            powers = {0 if axis is None else x[axis]: c for x, c in poly.items()}
            self._signs[key] = sign_in_exp(powers, self.exponent)
        found = self._signs[key]
        return found > 0 if strict else found >= 0

    def shows(self, value: Value, strict: bool = False) -> bool:
        """Tells whether a value is shown to be at least zero, or above it, everywhere."""
        if isinstance(value, Fraction):
            return value > 0 if strict else value >= 0
        return self._shown(value.top, strict)

    def at_most(self, left: Value, right: Value) -> bool:
        """Tells whether a value is shown to be at most another one, with both bottoms multiplied out."""
        if isinstance(right, PolynomialQuotient):
            high, low = right.cleared(left)
        elif isinstance(left, PolynomialQuotient):
            low, high = left.cleared(right)
        else:
            return left <= right
        return self._shown(plus(high, low, Fraction(-1)), strict=False)

    def truth(self, value: Value, strict: bool) -> bool | None:
        """Tells whether a value is at least (or above) zero everywhere, or nowhere; None if none is shown."""
        if self.shows(value, strict):
            return True
        return False if self.shows(-value, not strict) else None

    def is_number(self, value: Value) -> bool:
        """Tells whether a value has no parameter, so that its sign is known."""
        return isinstance(value, Fraction) or (self._is_number(value.top) and self._is_number(value.bottom))

    def extreme(self, values: Sequence[Value], largest: bool) -> Value:
        """Returns the largest (or smallest) of some numbers; of one value alone that value.

        Raises:
            Rejected: one of several is no number.
        """
        if len(values) > 1 and not all(map(self.is_number, values)):
            raise Rejected("extreme probabilities that depend on parameters")
        best = values[0]
        for value in values[1:]:
            if self.shows(value - best if largest else best - value):
                best = value
        return best


def state_of(value: int, size: int) -> int:
    """Returns the number of a state, of which there are so many.

    Raises:
        Rejected: it is none.
    """
    if not 0 <= value < size:
        raise Rejected(f"{value!r:.40} is not a state")
    return value
