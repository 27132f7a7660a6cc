"""Large priors: proofs by what is near each secret, and violations at single points, before any exact claim.

Both remove work and decide alone what they can: a window proves a pair for good, and refutes nothing; a point
refutes the case, and proves nothing. What they leave open goes to the claims of the case itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Point, constant_value, is_constant, key
from paramverify.answers import Decision, Proved, Refuted
from paramverify.claims import Claim
from paramverify.encodings.encoding import Candidate
from paramverify.encodings.point_violations import at_point
from paramverify.encodings.sequences import candidates, claim_polynomial
from paramverify.encodings.windows import windows_of
from paramverify.evidence.witnesses import evaluate
from paramverify.exact.procedure_outcomes import VERSION
from paramverify.models.context import sample_points
from paramverify.models.model import Model
from paramverify.models.priors import SecretPair
from paramverify.models.windows import Whole
from paramverify.portfolio.session import Session
from paramverify.portfolio.strategies import BUILT_IN
from paramverify.privacy.every_length_verification import EveryLengthOutcome, stated
from paramverify.verdicts import Violated

MAX_DISTANCE = 12
TRIED = 4  # points of the domain at which all outputs are evaluated
POINTS = 12  # at which claims are looked at before they are decided


@dataclass(frozen=True, eq=False)
class WindowProof:
    """What windows prove of a model: the pairs that are left, and the claims with their decisions.

    `windows` are the pairs that are proved, each with the distance of its window.
    """

    left: tuple[SecretPair, ...]
    claims: tuple[Claim, ...]
    decisions: tuple[Decision, ...]
    distances: tuple[int, ...]
    windows: tuple[tuple[str, str, int], ...] = ()

    @property
    def note(self) -> str:
        """The proof in words."""
        far = max(self.distances, default=0)
        return (
            f"the proof is a bound: what is {far} step{'s' * (far != 1)} away from a secret counts as known; "
            "it does not say how tight the budget is"
        )


def decide_near(session: Session, model: Model, whole: Whole | None) -> WindowProof | None:
    """Decides which pairs of a model are proved by windows of growing size; None where there are none.

    A pair that is not `left` is within the bound in both directions, for every output sequence of the model
    and at every point of the domain.
    """
    windows = windows_of(model, whole)
    if windows is None:
        return None
    left = list(model.pairs)
    known = _Known({}, set(), {})
    distances: list[int] = []
    proved: list[tuple[str, str, int]] = []
    points = _spread(model.domain, POINTS)
    for distance in range(1, MAX_DISTANCE + 1):
        kept: list[SecretPair] = []
        small = False
        for pair in left:
            session.in_time()
            claims = windows.claims(pair, distance)
            small = small or claims is not None
            if claims is None or not known.proves(session, claims, points):
                kept.append(pair)
            else:
                proved.append((pair.left, pair.right, distance))
        if len(kept) < len(left):
            distances.append(distance)
        left = kept
        if not left or not small:
            break
    decisions = tuple(known.proved[name][1] for name in known.used)
    every = tuple(known.used.values())
    return WindowProof(tuple(left), every, decisions, tuple(distances), tuple(proved))


def _spread(domain: Domain, most: int) -> list[Point]:
    """Returns points of the domain, the simplest one first."""
    listed: list[Point] = list(islice(sample_points(domain), 50 * most))
    return listed[:: max(1, len(listed) // most)]


def violation_at_points(
    session: Session, model: Model, pairs: Sequence[SecretPair]
) -> EveryLengthOutcome | None:
    """Returns a violation at one of a few points of the domain; None says nothing.

    All probabilities are numbers there, and the output with the largest ratio becomes the witness.
    """
    for point in _spread(model.domain, TRIED):
        fixed = at_point(replace(model, pairs=tuple(pairs)), point)
        worst: tuple[Fraction, Candidate] | None = None
        for candidate in candidates(fixed):
            session.in_time()
            f = claim_polynomial(fixed, candidate)
            if is_constant(f) and constant_value(f) < 0:
                size = -constant_value(f) / constant_value(candidate.left)
                worst = max(worst or (size, candidate), (size, candidate), key=lambda found: found[0])
        if worst:
            own = {name: point[name] for name in model.domain.ring.parameters}
            origin = worst[1].origin
            witness = evaluate(model, origin, own)
            if witness.exceeds:
                claim = Claim(stated(model, origin), model.domain, (origin,))
                decision = Decision(Refuted(own), BUILT_IN, VERSION)
                return EveryLengthOutcome(Violated(witness), (claim,), (decision,))
    return None


@dataclass
class _Known:
    """The claims that were proved, those that were not, by their polynomials, and those that were of use."""

    proved: dict[str, tuple[Claim, Decision]]
    failed: set[str]
    used: dict[str, Claim]

    def proves(self, session: Session, claims: Sequence[Claim], points: Sequence[Point]) -> bool:
        """Tells whether all claims of a pair hold."""
        named = {key(claim.polynomial): claim for claim in claims}
        if not self.failed.isdisjoint(named):
            return False
        fresh = {name: claim for name, claim in named.items() if name not in self.proved}
        for name, claim in fresh.items():
            if not all(claim.holds_at(point) for point in points):
                self.failed.add(name)
                return False
        for (name, claim), decision in zip(
            fresh.items(), session.decide_each([*fresh.values()]), strict=True
        ):
            if not isinstance(decision.answer, Proved):
                self.failed.add(name)
                return False
            self.proved[name] = claim, decision
        for name, claim in named.items():
            first = self.used.get(name, claim)
            origins = dict.fromkeys((*first.origins, *claim.origins))
            self.used[name] = replace(first, origins=tuple(origins))
        return True
