"""For which values a Rényi case is private where probabilities vanish: there its claims are not enough.

Let M be the product of all factors of `encodings.moments`, a the parameters of the answer, and q the
others, which are in a box. Where M(a, ·) is no zero polynomial, M(a, q) ≠ 0 for q in a dense subset of it:

- if f(a, q) ≥ 0 for all q, the sum is within the bound at a dense set of q, and so at all of them, because it
  is lower semicontinuous (see `encodings.moments`);
- if f(a, q) < 0 for some q, it is so near it, also where M(a, q) ≠ 0, and there the sum is above the bound.

So f decides there. With one parameter, M(a, ·) = 0 only at zeros of factors in which no other parameter
occurs: these are finitely many, and at each the model with that number is asked. In a map the first argument
holds for a whole cell, with all parameters in a box. A cell where f < 0 is right, too, unless a fraction was
cancelled by a factor in `a` alone: f < 0 where a denominator is zero says that the divergence is infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Polynomial, variables
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import between, isolate, rational_root, univariate
from paramverify.answers import Proved
from paramverify.encodings.choice import chosen, claims_of
from paramverify.encodings.encoding import PossibleZeros
from paramverify.errors import UnsupportedError
from paramverify.models.model import AnyModel, Model, of_privacy
from paramverify.portfolio.session import Session
from paramverify.privacy.verification import decide_with_witness
from paramverify.synthesis.intervals import Partition, Root, StatusInterval, merged
from paramverify.synthesis.maps import Status

REASON = "the probability of an output may be 0 in the domain, where the sum is not a quotient of polynomials"
MEND = "exclude these points, as in (0, 1)"


def checked_zeros(model: AnyModel) -> PossibleZeros:
    """Returns where the claims of a model and its sums may differ: nowhere, if its encoding names none."""
    zeros = chosen(model).zeros
    return zeros(model) if zeros else PossibleZeros()


def check_map(model: AnyModel, axes: Sequence[str]) -> None:
    """Checks that a map of the claims of a model is one of its sums.

    Raises:
        UnsupportedError: a probability may vanish where that is not so.
    """
    found = checked_zeros(model)
    if not found.all:
        return
    if not all(c.strict for c in model.domain.constraints):
        raise UnsupportedError(f"{REASON}: {MEND}, or write the constraints with < or >")
    if any(set(variables(f)) - {GENERATOR} <= set(axes) for f in found.cancelled):
        raise UnsupportedError(f"{REASON}: {MEND}")


def check_condition(model: AnyModel) -> None:
    """Checks that a condition under which claims hold is one for the sums of a model.

    Raises:
        UnsupportedError: a probability may vanish.
    """
    if checked_zeros(model).all:
        raise UnsupportedError(f"{REASON}: {MEND}, or use --region for a map")


def corrected(model: AnyModel, session: Session, found: Partition) -> Partition:
    """Returns the parts of one parameter's interval for the sums of a model, given those for its claims.

    Raises:
        UnsupportedError: a probability may vanish where it is not decided what follows.
    """
    name, zeros = found.parameter, checked_zeros(model).all
    if not zeros:
        return found
    model = of_privacy(model, "synthesize", tied=True, densities=True)
    for constraint in model.domain.constraints:
        if set(variables(constraint.polynomial)) - {name, GENERATOR}:
            raise UnsupportedError(f"{REASON}: {MEND}")
    parts = found.parts
    for value in _values(zeros, model.domain, name):
        if found.status_at(value) is not Status.OUTSIDE:
            parts = _replaced(parts, value, _status(model, session, name, value))
    return replace(found, parts=merged(parts))


def _values(zeros: Sequence[Polynomial], domain: Domain, name: str) -> list[Fraction]:
    """Returns the zeros of the factors that are polynomials in one parameter alone, in its interval."""
    interval, values = domain.box[name], set()
    for factor in zeros:
        if set(variables(factor)) - {GENERATOR} != {name}:
            continue
        if GENERATOR in variables(factor):
            raise UnsupportedError(f"{REASON}: {MEND}")
        for root in isolate(univariate(factor), interval.lower, interval.upper):
            if not root.is_rational:
                raise UnsupportedError(f"{REASON}, at an irrational value of {name}: {MEND}")
            if root.lower in interval:
                values.add(root.lower)
    return sorted(values)


def _status(model: Model, session: Session, name: str, value: Fraction) -> Status:
    """Returns whether the model with a number for one parameter is private."""
    box = {**model.domain.box, name: Interval(value, value, True, True)}
    small = replace(model, domain=replace(model.domain, box=box))
    for claim in claims_of(small):
        decision, witness = decide_with_witness(session, small, claim)
        if witness:
            return Status.VIOLATING
        if not isinstance(decision.answer, Proved):
            raise UnsupportedError(f"{REASON}, and {name} = {value} is not decided: {MEND}")
    return Status.SAFE


def _replaced(parts: Sequence[StatusInterval], value: Fraction, status: Status) -> tuple[StatusInterval, ...]:
    """Returns the parts with another status at one value."""
    pieces: list[StatusInterval] = []
    root = rational_root(value)
    for part in parts:
        if value not in part or part.status is status:
            pieces.append(part)
            continue
        if not _is(part.lower, value):
            pieces.append(_open(part, part.lower, root, lower_closed=part.lower_closed))
        pieces.append(StatusInterval(status, root, root, True, True, sample=value))
        if not _is(part.upper, value):
            pieces.append(_open(part, root, part.upper, upper_closed=part.upper_closed))
    return tuple(pieces)


def _is(root: Root, value: Fraction) -> bool:
    return root.is_rational and root.lower == value


def _open(
    part: StatusInterval, lower: Root, upper: Root, *, lower_closed: bool = False, upper_closed: bool = False
) -> StatusInterval:
    """Returns what is left of a part beside a value, with a sample; which claim fails there is not known."""
    piece = StatusInterval(part.status, lower, upper, lower_closed, upper_closed)
    if part.sample is not None and part.sample in piece:
        return replace(piece, sample=part.sample, claim=part.claim)
    return replace(piece, sample=simplest_between(*between(lower, upper)))
