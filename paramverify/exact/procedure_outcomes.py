"""What the built-in backends share: outcomes, bounds on work, and simplification first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from paramverify import __version__
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.polynomials import Point, key
from paramverify.answers import Answer, End, Open, Proved, Refuted
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import Proof
from paramverify.formats.refutations import Confirm
from paramverify.simplify.chain import simplify

VERSION: str = __version__
ENCLOSURES = (32, 64, 128, 256)  # bits


@dataclass(frozen=True)
class Outcome:
    """A proof; or a point of the original domain at which the original claim fails; or why it is open."""

    proof: Proof | None = None
    point: Point | None = None
    reason: str = ""


@dataclass
class RemainingWork:
    """Work that may still be done: boxes that are looked at, and Bernstein coefficients that are computed.

    A part of it may be set apart for an attempt; what the attempt spends is spent of the whole too.
    `failures` is how many times a minimum may be computed precisely and still not be recognised.
    """

    boxes: int = 20_000
    coefficients: int = 20_000_000
    failures: int = 3
    whole: RemainingWork | None = None

    def spend(self, coefficients: int) -> None:
        """Counts one box with so many coefficients."""
        self.boxes -= 1
        self.coefficients -= coefficients
        if self.whole:
            self.whole.spend(coefficients)

    def affords(self, coefficients: int) -> bool:
        """Counts work that is worth so many coefficients, if there is still several times as much."""
        if self.failures <= 0 or 4 * coefficients > self.coefficients:
            return False
        self.coefficients -= coefficients
        return self.whole is None or self.whole.affords(coefficients)

    def failed(self) -> None:
        """Counts a minimum that was not recognised."""
        self.failures -= 1
        if self.whole:
            self.whole.failed()

    def part(self, boxes: int) -> RemainingWork:
        """Returns a part of the work with at most so many boxes."""
        return RemainingWork(min(boxes, self.boxes), self.coefficients, self.failures, self)

    @property
    def exhausted(self) -> bool:
        """Whether no work is left."""
        return self.boxes <= 0 or self.coefficients <= 0 or (self.whole is not None and self.whole.exhausted)


def settle(
    claim: Claim,
    decide: Callable[[Claim, Confirm], Outcome],
    confirm: Confirm,
    steps: Sequence[str] | None = None,
) -> Outcome:
    """Decides a claim by simplifying it and deciding the claims that are left.

    Where a step was sound for proof only and the proof failed, exact steps alone are tried.
    """
    reasons: list[str] = []
    for exact in (False, True):
        tree = simplify(claim, steps, exact)
        reasons, proofs = [], []
        known: dict[tuple[str, int], Proof] = {}
        for leaf in tree.leaves():
            identity = (key(leaf.claim.polynomial), id(leaf.claim.domain))
            if identity not in known:
                outcome = decide(leaf.claim, through(leaf.lift, confirm))
                if outcome.point is not None:
                    return outcome
                if outcome.proof is None:
                    reasons.append(outcome.reason)
                    continue
                known[identity] = outcome.proof
            proofs.append(known[identity])
        if not reasons:
            return Outcome(proof=tree.proof(proofs))
        if tree.exact:
            break
    return Outcome(reason="; ".join(dict.fromkeys(reasons)))


def by_enclosures(
    claim: Claim, decide: Callable[[Claim], Outcome], closer: Callable[[], bool] = lambda: True
) -> Outcome:
    """Decides a claim about the constant `E` by claims in which `E` is a parameter between rationals.

    What is proved for every value of an enclosure is true for `E`, which lies in it. A point has to be one at
    which the claim fails for `E` itself: `decide` finds points by `refuter`. Where there is neither, a closer
    enclosure comes next, as long as `closer` says that it may help. A claim without `E` is decided once.
    """
    found = Outcome()
    for bits in ENCLOSURES if claim.domain.constant else (0,):
        closed = replace(claim, domain=claim.domain.enclose(bits))
        found = decide(closed)
        if found.proof is not None and claim.domain.constant:
            interval = closed.domain.box[GENERATOR]
            found = Outcome(proof=certificates.enclose((interval.lower, interval.upper), found.proof))
        if found.proof is not None or found.point is not None or not closer():
            break
    return found


def through(lift: Callable[[Point], Point], confirm: Confirm) -> Confirm:
    """Returns the confirmation for a claim that another one was reduced to."""
    return lambda point: confirm(lift(point))


def answer(claim: Claim, outcome: Outcome) -> Answer:
    """Returns the outcome for a claim as a backend's answer."""
    if outcome.proof is not None:
        return Proved(certificates.certificate(claim, outcome.proof))
    if outcome.point is not None:
        return Refuted(outcome.point)
    return Open(End.GAVE_UP, outcome.reason)
