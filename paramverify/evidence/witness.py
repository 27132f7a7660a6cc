"""What every witness has: a point, what is compared there, and how it is written.

The classes of witnesses are closed: each says one thing about a case at one point, evaluated outside of every
backend, straight from the model. Whoever prints, writes or checks one asks it, and not what it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paramverify.algebra.domains import in_words
from paramverify.algebra.real_roots import RealRoot
from paramverify.claims import Claim, Origin, Stated
from paramverify.evidence.told_witnesses import ToldWitness
from paramverify.formats.refutations import fails_at


class AnyWitness(ABC):
    """A point at which a bound is broken or reached: what is compared there, and by how much.

    A coordinate is rational, or a root of a polynomial. `meant` has parameters of unbounded domains, and
    numbers of outputs, in words.
    """

    if TYPE_CHECKING:  # fields of each class: here they would be taken for the defaults of those

        @property
        def parameters(self) -> Mapping[str, Fraction | RealRoot]:
            """The coordinates of the point."""

        @property
        def meant(self) -> Mapping[str, str]:
            """The meaning of some of them."""

    @property
    @abstractmethod
    def shown(self) -> bool:
        """Whether it shows a violation; that is decided exactly."""

    @property
    def origin(self) -> Origin | Stated | None:
        """Where the polynomial claim that fails here comes from; None if no such claim does."""
        return None

    @property
    def word(self) -> tuple[str, ...]:
        """The one output sequence that is compared; empty if it is not one."""
        return ()

    @property
    def size(self) -> tuple[bool, Fraction]:
        """How far beyond the bound it is, to compare witnesses: infinitely far, or about so far."""
        return False, Fraction(0)

    @property
    def place(self) -> str:
        """The point in words; unbounded parameters are written for their variables, too."""
        meant = (f"{n} {v}" if v.startswith("≈") else f"{n} = {v}" for n, v in self.meant.items())
        return ", ".join(filter(None, [in_words(self._rational()), *meant]))

    def _rational(self) -> dict[str, Fraction]:
        return {name: value for name, value in self.parameters.items() if isinstance(value, Fraction)}

    def breaks(self, claim: Claim) -> bool:
        """Tells whether a claim fails at the point."""
        return fails_at(claim, self._rational())

    @abstractmethod
    def lines(self) -> list[str]:
        """Returns sentences: the point, and what is too large there."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Returns it as evidence has it: JSON data with exact numbers."""

    def answer(self) -> dict[str, Any]:
        """Returns it as answers have it: as in evidence, with unbounded parameters in words."""
        return self.document() | ({"meaning": dict(self.meant)} if self.meant else {})

    @abstractmethod
    def told(self) -> ToldWitness:
        """Returns it as Python programs get it: numbers behave as numbers."""
