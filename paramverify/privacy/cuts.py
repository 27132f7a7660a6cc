"""Claims about sums, Σ max(0, tᵢ) ≤ room, decided by cutting the domain until the signs of the tᵢ are known.

For a set S of terms let f_S = room − Σ_{i∈S} tᵢ. The claim holds iff f_S ≥ 0 on the whole domain for every S,
for the sum is the largest Σ_{i∈S} tᵢ. So a part of the domain on which all signs are known needs one
polynomial claim, and this may be claimed of more than that part: where signs are found by a condition g ≥ 0,
the claim is decided without it. A point with f_S < 0 breaks the claim, whatever the signs are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import contains, number_at
from paramverify.algebra.polynomials import Point, Polynomial
from paramverify.algebra.reals import Real
from paramverify.answers import Decision, End, Open, Proved, Refuted
from paramverify.claims import Claim, Direction
from paramverify.encodings.domain_cuts import SignRegion, cut_by_signs
from paramverify.encodings.output_sums import Excess
from paramverify.evidence.certificates import Token
from paramverify.models.context import sample_points
from paramverify.portfolio.session import Session

MAX_WORK = 4_000  # terms that are evaluated at sample points


@dataclass(frozen=True, eq=False)
class CutOutcome:
    """What was found of a claim about a sum: the tree of a proof, a point, or why it is open.

    `decisions` are those of the polynomial claims at the leaves.
    """

    tree: tuple[Token, ...] | None = None
    point: Point | None = None
    reason: Open | None = None
    decisions: tuple[tuple[Claim, Decision], ...] = ()


def decide_excess(excess: Excess, session: Session) -> CutOutcome:
    """Decides a claim about a sum; a point is one of the domain at which it fails exactly.

    Raises:
        TimeLimitError: the time of the session is over.
    """
    point = breaking_sample(excess)
    if point is not None:
        return CutOutcome(point=point)
    leaves = _CutLeaves(excess, session)
    tree = cut_by_signs(excess, leaves.decide, session.in_time, estimated=True)
    found = leaves.found
    if isinstance(tree, Open):
        found = CutOutcome(reason=tree)
    elif tree is not None:
        found = CutOutcome(tree=tree)
    return replace(found, decisions=tuple(leaves.decisions.values()))


def breaking_sample(excess: Excess) -> Point | None:
    """Returns a simple point of the domain at which a claim about a sum fails, if one is found."""
    return next((point for point in _samples(excess) if is_broken(excess, point)), None)


def is_broken(excess: Excess, point: Point) -> bool:
    """Tells exactly whether Σ max(0, tᵢ) > room at a point of the domain, `E` being the number it is."""
    if not contains(excess.domain, point):
        return False
    total = -number_at(excess.room, point)
    constant = excess.domain.constant
    one = total * 0 + 1
    for term in excess.terms:
        value = number_at(term, point)
        if Real.of(value, one, constant).sign() > 0:
            total += value
    return Real.of(total, one, constant).sign() > 0


def signed(excess: Excess, point: Point) -> Polynomial:
    """Returns f_S for the set S of the terms that are positive at a point."""
    total, constant = excess.room, excess.domain.constant
    for term in excess.terms:
        value = number_at(term, point)
        if Real.of(value, value * 0 + 1, constant).sign() > 0:
            total = total - term
    return total


def _samples(excess: Excess) -> Iterator[Point]:
    most = max(2, MAX_WORK // max(1, sum(map(len, excess.terms))))
    return islice(sample_points(excess.domain), min(most, 40))


@dataclass(eq=False)
class _CutLeaves:
    """Decides the polynomial claims of parts whose signs are all known; `found` is why the search ends."""

    excess: Excess
    session: Session
    decisions: dict[str, tuple[Claim, Decision]] = field(default_factory=dict)
    found: CutOutcome = field(default_factory=CutOutcome)

    def decide(self, region: SignRegion, tokens: list[Token]) -> bool:
        """Adds the proof of f_S ≥ 0; false where there is none."""
        domain, base = region.domain, len(self.excess.domain.constraints)
        if len(domain.constraints) > base:
            tokens.append(["free"])
            domain = replace(domain, constraints=domain.constraints[:base])
        claim = Claim(region.kept, domain, (Direction(*self.excess.origins[0]),))
        name = claim.text()
        if name not in self.decisions:
            self.decisions[name] = claim, self.session.decide(claim)
        _, decision = self.decisions[name]
        match decision.answer:
            case Proved():
                tokens.append(decision.proof)
                return True
            case Refuted(point=point):
                at = {n: v for n, v in point.items() if n != GENERATOR}
                if is_broken(self.excess, at):
                    self.found = CutOutcome(point=at)
                else:
                    detail = "the refutation does not stand exact evaluation"
                    self.found = CutOutcome(reason=Open(End.GAVE_UP, detail))
            case Open() as reason:
                self.found = CutOutcome(reason=reason)
        return False
