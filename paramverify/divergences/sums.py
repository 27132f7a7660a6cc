"""Divergences that are sums of quotients over all outputs, or the largest of several such sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any, ClassVar, Self, TypeVar

from paramverify.algebra.polynomials import Polynomial, RationalFunction
from paramverify.algebra.rationals import relation
from paramverify.algebra.reals import Real
from paramverify.divergences.forms import Event, Quotients
from paramverify.divergences.masses import MassDivergence

N = TypeVar("N")  # polynomials, or numbers


@dataclass(frozen=True, eq=False)
class SumDivergence(Quotients):
    """A divergence plus `less`, the largest of some `sums` over all outputs, is at most `bound` at every θ.

    `bound` is positive on the domain, and so is its denominator. A subclass says its `key` in `[privacy]`,
    the `title` of the divergence, and `sums`. As a function of the two distributions the divergence has to be
    lower semicontinuous, a quotient 0/0 counts 0, and with `less` it is at least 1.
    """

    bound: RationalFunction
    event = Event.ALL
    largest_told = "sum of all outputs"
    title: ClassVar[str]
    less: ClassVar[int] = 0  # 1 where the divergence itself may be less than 1
    included: ClassVar[bool] = False  # whether `sums` has `less` in it
    stratified: ClassVar[bool] = False  # whether no denominator is 0 where all on the right are possible
    merged: ClassVar[bool] = False  # whether outputs of one ratio may be summed first, which is faster
    processed: ClassVar[bool] = False  # whether no function of the outputs makes it larger: `sample` needs it

    def sums(self, outputs: Sequence[tuple[N, N]]) -> Iterable[Iterable[tuple[N, N]]]:
        """Returns the quotients of each sum, as numerators and denominators.

        `outputs` are both probabilities of each output, all times a positive factor: polynomials, or numbers.
        The sums have the same factor. No denominator is negative.
        """
        raise NotImplementedError

    def quotients(self, outputs: Sequence[tuple[N, N]], total: N) -> Iterator[list[tuple[N, N]]]:
        """Yields the quotients of each sum and `less`; `total` is what each side of the outputs sums to."""
        whole: Any = total
        more = [(whole * self.less, whole**0)] if self.less and not self.included else []
        for each in self.sums(outputs):
            yield [*each, *more]

    def largest(self, masses: Sequence[tuple[N, N]]) -> Any:
        """Returns the largest sum of two finite distributions, in the numbers that they are; or infinity."""
        found: list[Any] = []
        for each in self.sums(masses):
            parts: list[Any] = [(top, bottom) for top, bottom in each if top]
            if not all(bottom for _, bottom in parts):
                return inf
            found.append(sum(top / bottom for top, bottom in parts))
        return max(found)

    def value(self, masses: Sequence[tuple[N, N]]) -> Any:
        """Returns the divergence of two finite distributions: exact for fractions; or infinity."""
        return self.largest(masses)

    def rounded(self, masses: Sequence[tuple[float, float]]) -> float:
        """Returns the divergence of two distributions that are floats, for tests by sampling."""
        return float(self.value(masses))

    @property
    def renyi_order(self) -> int | None:
        """The order of a Rényi divergence; others have none."""
        return None

    @property
    def on_masses(self) -> MassDivergence:
        """The divergence as a function of floats; see `limit`."""
        return MassDivergence(self.key, self.rounded)

    def limit(self, function: Callable[[RationalFunction], Real]) -> float:
        """Returns what `on_masses` may be at a point, where `function` evaluates, rounded."""
        return float(function(self.bound)) - self.less

    # --- its bound --------------------------------------------------------------------------------------

    @property
    def functions(self) -> tuple[RationalFunction, ...]:
        """The bound."""
        return (self.bound,)

    def claim(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Returns f with f(θ) ≥ 0 iff the sum, left/right with right > 0, is within the bound at θ."""
        return right * self.bound.numerator - left * self.bound.denominator

    def bound_at(self, distance: Fraction | None) -> RationalFunction:
        """Returns the bound of the sums: it is the same for all pairs."""
        return self.bound

    def with_bound(self, bound: RationalFunction) -> Self:
        """Returns the divergence with this bound."""
        return replace(self, bound=bound)

    def map_bound(self, change: Callable[[RationalFunction], RationalFunction]) -> Self:
        """Returns the divergence with another bound."""
        return replace(self, bound=change(self.bound))

    # --- in words, and as JSON data -----------------------------------------------------------------------

    @property
    def told(self) -> str:
        """What is bounded, of the outputs under secrets s and t."""
        return f"the {self.title} of the outputs under s from those under t is within the bound"

    @property
    def plus(self) -> str:
        """What the sum has more than the divergence, and its bound more than that of the case, in words."""
        return f" plus {self.less}" if self.less else ""

    def sum_told(self, left: str, right: str, length: int) -> str:
        """Returns in words what is at most the bound; the names are printable."""
        outputs = "all outputs" if length == 1 else f"all sequences of length {length}"
        plus = f",{self.plus}" if self.less else ""
        return f"the {self.title} of '{left}' from '{right}' over {outputs}{plus}"

    def value_told(self, total: Real | None) -> str:
        """Returns the divergence itself in words, where a sum is `total`; None stands for infinity."""
        if total is None:
            return f"the {self.title} is infinite"
        return f"the {self.title} {relation(total.middle() - self.less, 9)}"

    def value_near(self, total: Real | None) -> float | str:
        """Returns the divergence itself, rounded, as JSON data."""
        return "infinity" if total is None else float(total) - self.less

    def document(self) -> dict[str, Any]:
        """Returns what a witness says of its divergence."""
        return {"measure": self.key}

    def of_sum(self, total: Fraction) -> Fraction:
        """Returns the bound as `[privacy]` has it where that of a sum is `total`."""
        return total - self.less

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"
