"""Releases of a case: the pairs of distributions that its neighbours or secrets give, at one point.

The releases of a composition are independent given the data. So a secret has to be one world: with a prior
over several worlds the releases are about the same hidden world, and do not compose as products.

For each ratio c the largest δ of all pairs is a maximum of lines in c, with exact corners
(`synthesis.set_curve.hull`). That function is the δ of a pair again, which dominates all the others
([ZhuDW22]): its outputs are the segments between the corners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from math import inf, log
from typing import NoReturn

from flint import arb, fmpq_poly

from paramverify.algebra.constants import (
    MAX_PRECISION,
    ExpConstant,
    lower_bound,
    upper_bound,
    working_precision,
)
from paramverify.algebra.domains import contains, number_at
from paramverify.algebra.polynomials import Point
from paramverify.algebra.reals import Real
from paramverify.composition.composing import DirectedRelease
from paramverify.composition.release_losses import Atom, Exactly, Loss, Losses, MassTable, ball
from paramverify.encodings.output_sums import PairOutcomes, outcomes
from paramverify.errors import InputError, located
from paramverify.models.model import SETS, Model, need_privacy
from paramverify.models.priors import InitialDistribution
from paramverify.models.settings import Settings, case_entry
from paramverify.models.settings import told as set_by
from paramverify.portfolio.obligations import undoubted
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.larger_ranges import has_ranges
from paramverify.privacy.other_bounds import load_with_bounds
from paramverify.synthesis.set_curve import hull

PRECISE = 256  # bits of rational bounds of a probability
MANY = (
    "its releases share the same hidden data, so they do not compose as products; instead, use `times` in "
    "[mechanism] with `budget` for several answers, or `parts` for several mechanisms"
)

NOT_RATIONAL = (
    "there is no evidence for a composition of this case, because its probabilities contain exp of numbers; "
    "use a case with rational probabilities, or noise such as laplace:scale=2"
)

Corners = tuple[Exactly, ...]  # (Q, P) of sets of outputs, from (0, ·) to (1, 1)


def read_case(session: Session, path: str, settings: Settings) -> tuple[DirectedRelease, tuple[str, ...]]:
    """Reads one release of a case file, and remarks on it.

    Raises:
        InputError: a mistake in the case, or one that has no pairs of distributions; see `way_of`.
        LimitError: its tables are not proved to be probabilities.
    """
    case = load_with_bounds(path, {"ratio": "1", "delta": "1"}, settings)
    with located(file=path):
        model = need_privacy(case.model, "compose", events=SETS)
        undoubted(session, model)
        way, count = way_of(model)
    way = replace(way, about=case_entry(case.title, case.digest, case.settings))
    told = [] if way.single else [f"none of its {count} pairs is known to be the worst for every epsilon"]
    notes = [note for note in model.notes if note not in set_by(settings)]
    return way, tuple(f"{path}: {note}" for note in (f"it covers {_compared(case)}", *told, *notes))


def _compared(case: PrivacyCase) -> str:
    """Returns what a release compares, with its inputs, and which of them are neighbours."""
    neighbours = case.data.get("neighbours")
    if not isinstance(neighbours, Mapping):
        return case.compared(free=False)
    about = f"{case.compared(free=False)} ({', '.join(f'{k} = {v}' for k, v in neighbours.items())})"
    return f"{about}; larger inputs may need more" if has_ranges(case) else about


def way_of(model: Model) -> tuple[DirectedRelease, int]:
    """Returns one release of a case, with the number of pairs and directions that were looked at.

    Raises:
        InputError: a parameter without a value, a secret of several worlds, or no output to compare.
    """
    if model.hmm.chosen:
        raise InputError("an adversary chooses the answers of this case, so it has no pair of distributions")
    if len(model.lengths) != 1:
        raise InputError("a release must have one length: write one number as privacy.length")
    point = {name: interval.lower for name, interval in model.domain.box.items() if interval.is_point}
    free = [name for name in model.domain.ring.parameters if name not in point]
    for pair in model.pairs if free else ():
        for name, start in ((pair.left, pair.pi), (pair.right, pair.tau)):
            if sum(bool(weight) for weight in start.weights.values()) > 1:
                raise InputError(f"the secret {name!r} has several worlds: {MANY}")
    if free:
        missing = ", ".join(free)
        raise InputError(f"no value for {missing}: write {free[0]}=1/2 after the case and a colon")
    if not contains(model.domain, point):
        raise InputError(f"this point is not in the domain {model.domain.describe()}")
    for pair in model.pairs:
        for name, start in ((pair.left, pair.pi), (pair.right, pair.tau)):
            if not _one_world(model, start, point):
                raise InputError(f"the secret {name!r} has several worlds: {MANY}")
    both = [direction for found in outcomes(model) for direction in (found, found.turned)]
    if model.domain.constant is None:
        return _rational([_shares(each, point) for each in both]), len(both)
    return _with_exponentials([_powers(each, point, model.domain.constant) for each in both]), len(both)


def _one_world(model: Model, start: InitialDistribution, point: Point) -> bool:
    """Tells whether the hidden states are certain: one initial state, and one successor of each."""
    states = {state for state, weight in start.weights.items() if number_at(weight, point)}
    for _ in range(model.lengths[0] - 1):
        if len(states) != 1:
            return False
        (state,) = states
        states = {step.successor for step in model.hmm.steps[state] if number_at(step.weight, point)}
    return len(states) == 1


def _shares(direction: PairOutcomes, point: Point) -> list[Exactly]:
    """Returns the probabilities of the outputs under both secrets."""
    total = _fraction(number_at(direction.total, point))
    if not total:
        raise InputError(f"one of the secrets {direction.left!r} and {direction.right!r} has probability 0")
    found = ((_fraction(number_at(p, point)), _fraction(number_at(q, point))) for p, q in direction.outputs)
    return [(p / total, q / total) for p, q in found]


def _fraction(number: fmpq_poly) -> Fraction:
    return Fraction(int(number[0].p), int(number[0].q))


def _rational(directions: Iterable[Sequence[Exactly]]) -> DirectedRelease:
    found = dict.fromkeys(tuple(hull(sums(outputs))) for outputs in directions)
    return DirectedRelease(*_dominated(found, lambda corners: MassTable(outputs_of(corners))))


def sums(outputs: Iterable[Exactly]) -> list[Exactly]:
    """Returns (Q, P) of the sets of the outputs with the largest P/Q, from none to all."""
    ordered = sorted(outputs, key=lambda o: (o[1] > 0, -o[0] / o[1] if o[1] else 0))
    found = [(Fraction(0), Fraction(0))]
    for p, q in ordered:
        found.append((found[-1][0] + q, found[-1][1] + p))
    return found


def outputs_of(corners: Sequence[Exactly]) -> tuple[Exactly, ...]:
    """Returns the outputs of the pair whose best tests have these corners."""
    segments = tuple((p - r, q - s) for (s, r), (q, p) in pairwise(corners))
    return ((corners[0][1], Fraction(0)), *segments) if corners[0][1] else segments


def _dominated(
    found: Iterable[Corners], release: Callable[[Corners], MassTable]
) -> tuple[MassTable, tuple[MassTable, ...]]:
    """Returns the pair that dominates all, and those pairs that no other one dominates."""
    listed = list(found)
    whole = tuple(hull(corner for corners in listed for corner in corners))
    if whole in listed:
        return release(whole), (release(whole),)
    best: list[Corners] = []
    for corners in listed:
        if not any(tuple(hull((*corners, *other))) == other for other in listed if other is not corners):
            best.append(corners)
    best.sort(key=_divergence, reverse=True)
    return release(whole), tuple(release(corners) for corners in best)


def _divergence(corners: Corners) -> float:
    """Returns the mean loss under P, rounded: how fast many releases tell the two inputs apart."""
    shares = [(float(p), float(q)) for p, q in outputs_of(corners) if p]
    return inf if not all(q for _, q in shares) else sum(p * log(p / q) for p, q in shares)


# --- probabilities with exp of numbers ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PolynomialPair:
    """A pair whose masses P and Q are polynomials in E = exp(g), over `total`; outputs differ in P/Q."""

    outputs: tuple[tuple[fmpq_poly, fmpq_poly], ...]
    total: fmpq_poly
    constant: ExpConstant

    def losses(self, bits: int) -> Losses:
        """Returns the loss; it is known exactly where P/Q is a number times a power of E."""
        total = self._mass(self.total, bits)
        zero = ball(0)
        only, atoms = [zero, zero], []
        for p, q in self.outputs:
            masses = self._mass(p, bits) / total, self._mass(q, bits) / total
            if p and q:
                quotient = Real.of(p, q, self.constant)
                atoms.append(Atom(masses, _loss(quotient) or (masses[0] / masses[1]).log()))
            else:
                only = [only[0] + masses[0], only[1] + masses[1]]
        return Losses(tuple(atoms), only=(only[0], only[1]))

    def document(self) -> NoReturn:
        """Not available: the masses are not rational.

        Raises:
            InputError: always.
        """
        raise InputError(NOT_RATIONAL)

    def _mass(self, mass: fmpq_poly, bits: int) -> arb:
        """Returns a ball around a mass, with so many bits that 0 is only in it if the mass is 0."""
        found = self.constant.ball(mass, bits)
        while mass and found.contains(0) and bits < MAX_PRECISION:
            bits *= 2
            found = self.constant.ball(mass, bits)
        return found

    def name(self) -> tuple[str, ...]:
        """Returns a text that is equal for equal pairs."""
        return tuple(sorted(" ".join(map(self._text, output)) for output in self.outputs))

    def _text(self, mass: fmpq_poly) -> str:
        return str(Real.of(mass, self.total, self.constant))

    def points(self) -> Iterator[Exactly]:
        """Yields (Q, P) of the sets with the largest P/Q: rational numbers, Q from below and P from above."""
        ordered = sorted(self.outputs, key=cmp_to_key(self._compare))
        p, q = fmpq_poly(), fmpq_poly()
        for more_p, more_q in ((p, q), *ordered):
            p, q = p + more_p, q + more_q
            yield max(Fraction(0), self._ends(q)[0]), self._ends(p)[1]

    def _compare(self, first: tuple[fmpq_poly, fmpq_poly], second: tuple[fmpq_poly, fmpq_poly]) -> int:
        return -self.constant.sign(first[0] * second[1] - second[0] * first[1])

    def _ends(self, mass: fmpq_poly) -> tuple[Fraction, Fraction]:
        with working_precision(PRECISE):
            value = self.constant.ball(mass, PRECISE) / self.constant.ball(self.total, PRECISE)
            return lower_bound(value), upper_bound(value)


def _loss(quotient: Real) -> Loss | None:
    """Returns ln of c·E^n with a rational c; None for other numbers."""
    top, bottom = quotient.numerator, quotient.denominator
    if not isinstance(quotient.constant, ExpConstant) or any(
        sum(map(bool, side.coeffs())) != 1 for side in (top, bottom)
    ):
        return None
    power = int(top.degree()) - int(bottom.degree())
    factor = top.leading_coefficient() / bottom.leading_coefficient()
    return Loss(power * quotient.constant.exponent, Fraction(int(factor.p), int(factor.q)))


@dataclass(frozen=True)
class Outward:
    """A pair that dominates others, with masses that are rounded up: they may sum to a little more than 1."""

    corners: Corners

    def losses(self, bits: int) -> Losses:
        """Returns the loss."""
        del bits
        found = [(p, q) for p, q in outputs_of(self.corners) if p > 0]
        atoms = tuple(Atom((ball(p), ball(q)), Loss(ratio=p / q)) for p, q in found if q)
        return Losses(atoms, only=(ball(sum(p for p, q in found if not q)), ball(0)))

    def document(self) -> NoReturn:
        """Not available: the masses are not rational.

        Raises:
            InputError: always.
        """
        raise InputError(NOT_RATIONAL)


def _powers(direction: PairOutcomes, point: Point, constant: ExpConstant) -> PolynomialPair:
    """Returns the probabilities of the outputs, those with one quotient as one."""
    merged: dict[str, tuple[fmpq_poly, fmpq_poly]] = {}
    for output in direction.outputs:
        p, q = (number_at(side, point) for side in output)
        if p or q:
            name = str(Real.of(p, q, constant)) if q else ""
            one, other = merged.get(name, (fmpq_poly(), fmpq_poly()))
            merged[name] = one + p, other + q
    total = number_at(direction.total, point)
    if constant.sign(total) <= 0:
        raise InputError(f"one of the secrets {direction.left!r} and {direction.right!r} has probability 0")
    return PolynomialPair(tuple(merged.values()), total, constant)


def _with_exponentials(directions: Iterable[PolynomialPair]) -> DirectedRelease:
    found = list({each.name(): each for each in directions}.values())
    if len(found) == 1:
        return DirectedRelease.of(found[0])
    whole = tuple(hull(point for each in found for point in each.points()))
    return DirectedRelease(Outward(whole), tuple(found), tight=False)
