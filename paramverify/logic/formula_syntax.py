"""The formulas of dpCTL* as data ([L] section 4).

State and path formulas share one tree: `&`, `|` and `!` may join either, and what makes a formula a path
formula is a temporal operator that is not below a `P` or `D`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from fractions import Fraction

from paramverify.algebra.expressions import Expression, RationalConstant
from paramverify.errors import InputError

# Labels that are spelled like these are quoted.
WORDS = frozenset({"X", "F", "G", "U", "W", "R", "P", "D", "Pmin", "Pmax", "true", "false", "forall", "in"})


@dataclass(frozen=True)
class Index:
    """A number of steps: `offset`, or `name + offset` in a family."""

    name: str | None
    offset: int

    def __str__(self) -> str:
        if self.name is None:
            return str(self.offset)
        return self.name if not self.offset else f"{self.name}{self.offset:+d}"


@dataclass(frozen=True)
class Constant:
    """`true` or `false`."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True)
class Label:
    """A label of the model, or what a bare name stands for; `column` is its place in the text."""

    name: str
    column: int = 0
    quoted: bool = False

    def __str__(self) -> str:
        plain = self.name.isidentifier() and self.name not in WORDS
        return self.name if plain else f'"{self.name}"'


@dataclass(frozen=True)
class StateCondition:
    """A comparison of expressions over the state variables."""

    text: str
    expression: Expression

    def __str__(self) -> str:
        return f"({self.text})"


@dataclass(frozen=True)
class Not:
    """Negation; `written` is how a comparison was written that is one, such as `Pmax>=1/2`."""

    inner: Formula
    written: str = ""

    def __str__(self) -> str:
        if self.written and isinstance(self.inner, Probability):
            return f"{self.written} [ {self.inner.path} ]"
        return f"!{self.inner}"


class Junctor(Enum):
    """How the parts of a formula are joined."""

    AND = "&"
    OR = "|"


@dataclass(frozen=True)
class Junction:
    """A conjunction or disjunction; with an `interval` the two bounds of a P, which is written as one."""

    operator: Junctor
    parts: tuple[Formula, ...]
    interval: str = ""

    def __str__(self) -> str:
        first = self.parts[0]
        if self.interval and isinstance(first, Probability):
            return f"P{self.interval} [ {first.path} ]"
        parts = [*map(_enclosed, self.parts[:-1]), str(self.parts[-1])]
        return "(" + f" {self.operator.value} ".join(parts) + ")"


def _enclosed(part: Formula) -> str:
    """Returns a part of a junction, in brackets where it would take what follows as its own."""
    inner = part
    while isinstance(inner, Not) and not inner.written:
        inner = inner.inner
    taking = isinstance(inner, Next) or (isinstance(inner, Until) and inner.is_unary)
    return f"({part})" if taking else str(part)


@dataclass(frozen=True)
class Next:
    """X: the formula holds from the next state on."""

    inner: Formula

    def __str__(self) -> str:
        return f"X {self.inner}"


@dataclass(frozen=True)
class Until:
    """left U[low, high] right, or with `release` its dual left R[low, high] right; no high is infinity.

    A path satisfies U iff for some i from low to high the right side holds from i on, and the left side from
    every j < i on. R is defined by a R b = !(!a U !b). F and G are the cases with `true` and `false`.
    """

    left: Formula
    right: Formula
    low: Index
    high: Index | None
    release: bool = False

    @property
    def is_unary(self) -> bool:
        """Whether it is written with F or G."""
        return self.left == Constant(self.release is False)

    def __str__(self) -> str:
        if self.high is None:
            bound = "" if self.low == Index(None, 0) else f"[{self.low},]"
        elif self.low == self.high:
            bound = f"={self.low}"
        else:
            bound = f"<={self.high}" if self.low == Index(None, 0) else f"[{self.low},{self.high}]"
        if self.is_unary:
            return f"{'G' if self.release else 'F'}{bound} {self.right}"
        return f"({self.left} {'R' if self.release else 'U'}{bound} {self.right})"


class Extreme(StrEnum):
    """Which probability over all schedulers a question or a comparison is about."""

    EACH = "P"  # a comparison holds under every scheduler; a question has one answer where there is no choice
    LEAST = "Pmin"
    LARGEST = "Pmax"


class BoundRelation(StrEnum):
    """How a probability compares with a bound."""

    BELOW = "<"
    AT_MOST = "<="
    ABOVE = ">"
    AT_LEAST = ">="

    @property
    def is_lower(self) -> bool:
        """Whether the bound is a lower one."""
        return self in (BoundRelation.ABOVE, BoundRelation.AT_LEAST)

    @property
    def is_strict(self) -> bool:
        """Whether the probability must differ from the bound."""
        return self in (BoundRelation.BELOW, BoundRelation.ABOVE)

    @property
    def opposite(self) -> BoundRelation:
        """The relation that holds where this one does not."""
        return _OPPOSITE[self]


_OPPOSITE = {
    BoundRelation.BELOW: BoundRelation.AT_LEAST,
    BoundRelation.AT_LEAST: BoundRelation.BELOW,
    BoundRelation.ABOVE: BoundRelation.AT_MOST,
    BoundRelation.AT_MOST: BoundRelation.ABOVE,
}


@dataclass(frozen=True)
class Probability:
    """P: the probability of a path formula compares with a bound."""

    comparison: BoundRelation
    bound: Expression
    path: Formula

    def __str__(self) -> str:
        return f"P{self.comparison}{self.bound.text} [ {self.path} ]"


@dataclass(frozen=True)
class Private:
    """D: Pr(s, φ) ≤ e^ε·Pr(t, φ) + δ and the other way around, for every neighbour t of s."""

    epsilon: Expression
    delta: Expression
    path: Formula

    def __str__(self) -> str:
        return f"D{{{self.epsilon.text}, {self.delta.text}}}[ {self.path} ]"


Formula = Constant | Label | StateCondition | Not | Junction | Next | Until | Probability | Private


@dataclass(frozen=True)
class Property:
    """A state formula, or with a `variable` a family of them: one for each whole number from first to last.

    No `last` is infinity.
    """

    formula: Formula
    text: str
    variable: str | None = None
    first: int = 0
    last: int | None = None

    @property
    def indices(self) -> str:
        """The numbers of the family in words."""
        if self.last is None:
            return f"every {self.variable} >= {self.first}"
        return f"{self.variable} = {self.first}..{self.last}"


@dataclass(frozen=True)
class ProbabilityQuestion:
    """`P=? [ path ]`, `Pmin=? [ path ]` or `Pmax=? [ path ]`: a probability is asked for."""

    extreme: Extreme
    path: Formula
    text: str

    @property
    def formula(self) -> Formula:
        """A state formula about the same path."""
        return Probability(
            BoundRelation.AT_LEAST, Expression("0", RationalConstant(Fraction(0), 0)), self.path
        )


def children(formula: Formula) -> tuple[Formula, ...]:
    """Returns the direct parts of a formula."""
    if isinstance(formula, (Not, Next)):
        return (formula.inner,)
    if isinstance(formula, Junction):
        return formula.parts
    if isinstance(formula, Until):
        return (formula.left, formula.right)
    if isinstance(formula, (Probability, Private)):
        return (formula.path,)
    return ()


def parts(formula: Formula) -> Iterator[Formula]:
    """Yields the formula and everything in it."""
    pending = [formula]
    while pending:
        found = pending.pop()
        yield found
        pending.extend(children(found))


def is_state(formula: Formula) -> bool:
    """Tells whether no temporal operator stands outside of `P` and `D`."""
    if isinstance(formula, (Next, Until)):
        return False
    if isinstance(formula, (Probability, Private)):
        return True
    return all(map(is_state, children(formula)))


def instance(formula: Formula, values: Mapping[str, int]) -> Formula:
    """Returns the member of a family in which index variables have values.

    Raises:
        InputError: a number of steps that would be negative.
    """
    if isinstance(formula, Until):
        low = _index(formula.low, values)
        high = None if formula.high is None else _index(formula.high, values)
        inner = instance(formula.left, values), instance(formula.right, values)
        return replace(formula, left=inner[0], right=inner[1], low=low, high=high)
    if isinstance(formula, (Not, Next)):
        return replace(formula, inner=instance(formula.inner, values))
    if isinstance(formula, Junction):
        return replace(formula, parts=tuple(instance(part, values) for part in formula.parts))
    if isinstance(formula, (Probability, Private)):
        return replace(formula, path=instance(formula.path, values))
    return formula


def _index(index: Index, values: Mapping[str, int]) -> Index:
    if index.name is None:
        return index
    number = values[index.name] + index.offset
    if number < 0:
        raise InputError(f"the number of steps {index} is negative for {index.name} = {values[index.name]}")
    return Index(None, number)
