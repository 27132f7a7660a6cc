"""Parameters of an inequality as real numbers, and exponentials as the powers that proofs are about.

A claim with exp(-eps/2) and exp(-eps) is proved for the variable x_eps = exp(-(eps/2)). They are its powers.
The theorem has them as they are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Interval
from paramverify.algebra.expressions import Expression, Operation
from paramverify.algebra.polynomials import RationalFunction, to_rational_function
from paramverify.reports.theorems.domains import TheoremDomain, fraction_text, in_interval
from paramverify.reports.theorems.words import named


@dataclass(frozen=True)
class Reals:
    """The parameters of a place as real numbers of a theorem, beside functions with names of their own."""

    place: TheoremDomain
    functions: Sequence[str]

    @cached_property
    def own(self) -> dict[str, str]:
        """How names are written: those of variables, of parameters and of functions."""
        unbounded = [u.name for u in self.place.domain.ring.unbounded if not u.tied]
        return named([*self.place.names, *unbounded, *self.functions])

    @cached_property
    def _arguments(self) -> dict[str, str]:
        """The number t of each variable exp(-t) of a parameter of the domain (0, oo)."""
        unbounded = self.place.domain.ring.unbounded
        return {u.variable: f"{fraction_text(u.step)} * {self.own[u.name]}" for u in unbounded}

    @property
    def free(self) -> list[str]:
        """The parameters as they are written."""
        meant = {u.variable: u.name for u in self.place.domain.ring.unbounded}
        return [self.own[meant.get(name, name)] for name in self.place.domain.ring.parameters]

    @property
    def written(self) -> dict[str, str]:
        """What the variables of proofs are, in the words of Coq."""
        found = {name: self.own[name] for name in self.place.names}
        for name, argument in self._arguments.items():
            found[name] = f"exp (- ({argument}))"
        if self.place.domain.constant is not None:
            found[GENERATOR] = self.place.constant
        return found

    @property
    def ranges(self) -> list[str]:
        """The intervals of the parameters, one after the other."""
        found = []
        written, unit = self.written, Interval(Fraction(0), Fraction(1))
        for u in self.place.domain.ring.unbounded:
            found.append(f"0 < {self.own[u.name]}")
        for name, interval in self.place.domain.box.items():
            if name != GENERATOR and (name not in self._arguments or interval != unit):
                found.append(in_interval(written[name], interval))
        return found

    def power(self, exponential: Operation) -> RationalFunction:
        """Returns the product of powers of variables that an exponential is."""
        return to_rational_function(Expression("", exponential), self.place.domain.ring)

    @property
    def tactics(self) -> list[str]:
        """What gives the variables of proofs their names."""
        return [f"  of_exponential ({t})%R {self.own[name]}." for name, t in self._arguments.items()]

    @property
    def values(self) -> str:
        """The variables of proofs, as a list of real numbers."""
        own = {**self.own, GENERATOR: self.written.get(GENERATOR, "")}
        return f"[{'; '.join(own[name] for name in self.place.names)}]"
