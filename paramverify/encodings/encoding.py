"""What an encoding is: a way from a question about a model to claims, or to scripts for a solver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paramverify.algebra.polynomials import Polynomial, constant_value, is_constant, key
from paramverify.claims import Claim, Origin
from paramverify.divergences import Divergence
from paramverify.evidence.certificates import Proof
from paramverify.models.model import AnyModel, Model

NO_SEQUENCES = "the case has a [claim], which has no sequences"


@dataclass(frozen=True, eq=False)
class Candidate:
    """What one observation sequence says about one direction of a secret pair.

    Up to a common positive factor, `left` and `right` are Pr(ω|left) and Pr(ω|right). `distance` is that of
    the pair.
    """

    left: Polynomial
    right: Polynomial
    origin: Origin
    distance: Fraction | None = None

    @property
    def ratio(self) -> Fraction | None:
        """The ratio where it is a number and finite."""
        if is_constant(self.left) and is_constant(self.right) and self.right:
            return constant_value(self.left) / constant_value(self.right)
        return None

    @property
    def is_infinite(self) -> bool:
        """Whether the right side is impossible and the left side is not."""
        return bool(self.left) and not self.right


@dataclass(frozen=True)
class WrittenScript:
    """An SMT-LIB script that is satisfiable iff there is a violation, and what it is about."""

    origin: str
    script: str


@dataclass(frozen=True, eq=False)
class PossibleZeros:
    """Irreducible polynomials that are not known to be without zeros on the domain.

    `denominators` divide common multiples of denominators, `cancelled` what fractions lost in lowest terms.
    """

    denominators: tuple[Polynomial, ...] = ()
    cancelled: tuple[Polynomial, ...] = ()

    @property
    def all(self) -> tuple[Polynomial, ...]:
        """Both, each once."""
        return tuple({key(f): f for f in (*self.denominators, *self.cancelled)}.values())


@dataclass(frozen=True, eq=False)
class Encoding:
    """What a module exports as its `ENCODING`; the model is private iff all claims hold, or no script does.

    `description` is one line. An encoding gives `claims` or `scripts`; both raise an `UnsupportedError` for a
    model that they do not accept, and a `LimitError` where there would be too many.

    `suits` says how well it suits a model where the user has chosen none: the largest number is taken, but
    never 0. With a `form`, models of that divergence alone are asked about. An encoding that suits some gives

    - `candidates`, pairs of probabilities of which one has the largest ratio, at every point of the domain;
    - `again`, each of the claims, derived by another path, which the check of evidence compares with those
      that were proved; or `certificate`, which is the evidence instead where the claims are about some
      sequences only: the document for `checker.cone_evidence` from the claims of the model and their proofs;
    - `zeros`, if the claims hold nearly everywhere on the domain only, and some are about strata of it.
    """

    name: str
    description: str
    claims: Callable[[AnyModel], tuple[Claim, ...]] | None = None
    scripts: Callable[[AnyModel], Iterable[WrittenScript]] | None = None
    suits: Callable[[Any], int] = lambda model: 0
    candidates: Callable[[Model], Iterator[Candidate]] | None = None
    again: Callable[[AnyModel], Iterator[Claim]] | None = None
    certificate: Callable[[Any, Sequence[Claim], Sequence[Proof]], dict[str, Any]] | None = None
    form: type[Divergence] | None = None
    zeros: Callable[[AnyModel], PossibleZeros] | None = None
