"""Chains and decision processes of evidence, whose rows are shown to be probabilities; and their numbers.

A number is a Fraction, or a `PolynomialQuotient` whose bottom is a product of polynomials that were shown to
be positive on the domain. So its sign is that of its top. Only sums and products are needed, no divisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from .evidence_polynomials import Poly, add, constant, parse, plus, times
from .ledger import Ask
from .strict_reading import Misformed, Rejected
from .system_models import WeightSigns

# --- quotients --------------------------------------------------------------------------------------

Point = Mapping[str, Fraction]


@dataclass(frozen=True, eq=False)
class PolynomialQuotient:
    """One polynomial over another that is positive; never zero, and never a number."""

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

    def __eq__(self, other: object) -> bool:
        """Tells whether both are written alike; see `same`."""
        return isinstance(other, PolynomialQuotient) and (self.top, self.bottom) == (other.top, other.bottom)


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


def same(left: Value, right: Value) -> bool:
    """Tells whether two values are the same function."""
    gap = left - right
    return isinstance(gap, Fraction) and not gap


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

    def _shown(self, poly: Poly, strict: bool) -> bool:
        return WeightSigns(self.names, self.exponent, self.ask).sign(poly, strict)

    def shows(self, value: Value, strict: bool = False) -> bool:
        """Tells whether a value is shown to be at least zero, or above it, everywhere."""
        if isinstance(value, Fraction):
            return value > 0 if strict else value >= 0
        return self._shown(value.top, strict)

    def truth(self, value: Value, strict: bool) -> bool | None:
        """Tells whether a value is at least (or above) zero everywhere, or nowhere; None if none is shown."""
        if self.shows(value, strict):
            return True
        return False if self.shows(-value, not strict) else None

    def is_number(self, value: Value) -> bool:
        """Tells whether a value has no parameter, so that its sign is known."""
        if isinstance(value, Fraction):
            return True
        free = [k for k, name in enumerate(self.names) if name != "E" or self.exponent is None]
        return not any(x[k] for poly in (value.top, value.bottom) for x in poly for k in free)

    def largest(self, values: list[Value]) -> Value:
        """Returns the largest of some numbers."""
        best = values[0]
        for value in values[1:]:
            if self.shows(value - best):
                best = value
        return best


# --- chains -----------------------------------------------------------------------------------------

Row: TypeAlias = tuple[tuple[int, Value], ...]


@dataclass(frozen=True, eq=False)
class CheckedChain:
    """A model: `rows[s][a]` are the successors of state s under action a, without those of probability zero.

    Where it is not `scheduled`, the rows of a state are its choices in any order, and no D is about it.
    Of the neighbours of a state, the state itself is not listed.
    """

    states: tuple[str, ...]
    actions: tuple[str, ...]
    scheduled: bool
    initial: tuple[int, ...]
    rows: tuple[tuple[Row, ...], ...]
    labels: Mapping[str, frozenset[int]]
    neighbours: Mapping[int, tuple[int, ...]]

    @property
    def has_choices(self) -> bool:
        """Whether there is anything to choose."""
        return not self.scheduled or len(self.actions) > 1


def read_chain(data: Any, values: QuotientValues) -> CheckedChain:
    """Reads a model, and checks that all rows are probabilities.

    Raises:
        Rejected: they are not, or names and numbers of states do not fit.
    """
    size = len(data["states"])
    for name in ("states", "actions"):
        if not data[name]:
            raise Misformed("there is none", "model", name)
    if not data["initial"]:
        raise Misformed("there is no initial state", "model")
    steps = [_row(entries, k, size, values) for k, entries in enumerate(data["steps"])]
    if len(data["rows"]) != size:
        raise Misformed("not one entry for each state", "model", "rows")
    for k, row in enumerate(data["rows"]):
        if not row or (data["scheduled"] and len(row) != len(data["actions"])):
            raise Misformed("not one step for each action", "model", "rows", k)
        if max(row) >= len(steps):
            raise Misformed("no such step", "model", "rows", k)
    near: dict[int, set[int]] = {}
    for k, (s, t) in enumerate(data["neighbours"]):
        if not s < t < size:
            raise Misformed("not two states, the first one first", "model", "neighbours", k)
        near.setdefault(s, set()).add(t)
        near.setdefault(t, set()).add(s)
    for place, listed in (("initial", data["initial"]), *data["labels"].items()):
        if any(s >= size for s in listed) or len(set(listed)) < len(listed):
            raise Misformed(f"{place}: not different states", "model")
    return CheckedChain(
        states=tuple(data["states"]),
        actions=tuple(data["actions"]),
        scheduled=data["scheduled"],
        initial=tuple(data["initial"]),
        rows=tuple(tuple(steps[number] for number in row) for row in data["rows"]),
        labels={name: frozenset(states) for name, states in data["labels"].items()},
        neighbours={s: tuple(sorted(ts)) for s, ts in near.items()},
    )


def _row(entries: Any, place: int, size: int, values: QuotientValues) -> Row:
    row = tuple((t, values.read(text)) for t, text in entries)
    if any(t >= size for t, _ in row) or len({t for t, _ in row}) < len(row):
        raise Misformed("not different states", "model", "steps", place)
    if not same(sum((w for _, w in row), Fraction(0)), Fraction(1)):
        raise Rejected(f"model.steps[{place}]: the probabilities do not sum to one")
    if not all(values.shows(w) for _, w in row):
        raise Rejected(f"model.steps[{place}]: a probability is not shown to be nonnegative")
    return tuple((t, w) for t, w in row if w != Fraction(0))
