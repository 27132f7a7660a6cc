"""Witnesses of a budget: a prior that reaches the ratio, or priors whose ratios grow towards it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.algebra.domain_branches import Branch
from paramverify.algebra.reals import Real
from paramverify.bounds import Place
from paramverify.claims import AllOutputs, Origin
from paramverify.errors import InputError
from paramverify.evidence.witnesses import Evaluated, divergence_at, evaluate
from paramverify.models.model import Model
from paramverify.synthesis.paths import towards
from paramverify.synthesis.proofs import RatioBounds


def rational_point(place: Place) -> dict[str, Fraction] | None:
    """Returns the place as a point, or None where it has an irrational coordinate."""
    if any(not root.is_rational for root in place.values()):
        return None
    return {name: root.lower for name, root in place.items()}


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Evaluates witnesses of a model, whose domain has these parts; `relative` to its own bound, or not.

    A ratio is near to a budget if it differs by at most the `precision`, relatively.
    """

    model: Model
    parts: Sequence[Branch]
    precision: Fraction
    relative: bool

    def at(self, origin: Origin, point: Mapping[str, Fraction]) -> Evaluated | None:
        """Returns the probabilities at a point, completed where it lacks parameters; None without a ratio."""
        box = self.model.domain.box
        full = {n: point.get(n, box[n].simplest()) for n in self.model.domain.ring.parameters}
        try:
            if isinstance(origin, AllOutputs):
                return divergence_at(self.model, origin, full)
            found = evaluate(self.model, origin, full)
        except InputError:
            return None  # outside of the domain, or a secret is impossible there
        return found if found.probabilities[0].sign() > 0 else None

    def ratio(self, witness: Evaluated) -> Real | None:
        """Returns the ratio of a witness, relative to the bound where that was asked for."""
        ratio = witness.ratio
        return ratio / witness.bound if ratio is not None and self.relative else ratio

    def shown(self, best: RatioBounds) -> RatioBounds:
        """Returns the budget with the witness of its lower bound, or a sequence of them."""
        if best.witness is not None:
            return best
        found: list[Evaluated] = []
        point = rational_point(best.place)
        at_place = self.at(best.origin, point) if point is not None else None
        if at_place is not None:
            found.append(at_place)
        if best.infinite or best.value is not None:
            tries = [found, *self._sequences(best)]
            found = max(tries, key=lambda ws: self._nearness(ws, best))
            return replace(best, approached=tuple(found))
        return replace(best, witness=found[-1] if found else None)

    def _sequences(self, best: RatioBounds) -> Iterator[list[Evaluated]]:
        """Yields sequences of witnesses with growing ratios, until one comes near enough."""
        for branch in self.parts:
            for points in towards(branch, best.place):
                found = self._growing(best, points)
                yield found
                if found and self._near(found[-1], best):
                    return

    def _growing(self, best: RatioBounds, points: Iterable[Mapping[str, Fraction]]) -> list[Evaluated]:
        found: list[Evaluated] = []
        for point in points:
            witness = self.at(best.origin, point)
            ratio = self.ratio(witness) if witness else None
            if witness is None or ratio is None:
                continue
            last = self.ratio(found[-1]) if found else None
            if last is None or (ratio - last).sign() > 0:
                found.append(witness)
                if self._near(witness, best):
                    break
        return found

    def _near(self, witness: Evaluated, best: RatioBounds) -> bool:
        ratio = self.ratio(witness)
        if ratio is None:
            return True
        low = ratio.enclosure()[0]
        return low >= 1 / self.precision if best.infinite else low >= (1 - self.precision) * best.low

    def _nearness(self, found: Sequence[Evaluated], best: RatioBounds) -> tuple[bool, Fraction]:
        ratio = self.ratio(found[-1]) if found else None
        return bool(found) and self._near(found[-1], best), ratio.enclosure()[0] if ratio else Fraction(0)
