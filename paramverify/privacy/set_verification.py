"""Verification of (ε, δ) privacy: claims about sums, decided by cutting the domain, and their evidence.

Claims about sums, Σ max(0, tᵢ) ≤ room, decided by cutting the domain until the signs of the tᵢ are known.

For a set S of terms let f_S = room − Σ_{i∈S} tᵢ. The claim holds iff f_S ≥ 0 on the whole domain for every S,
for the sum is the largest Σ_{i∈S} tᵢ. So a part of the domain on which all signs are known needs one
polynomial claim, and this may be claimed of more than that part: where signs are found by a condition g ≥ 0,
the claim is decided without it. A point with f_S < 0 breaks the claim, whatever the signs are there.

Verification of (ε, δ) privacy: claims about sums, decided one after the other, and their evidence.

Private means: for every θ in the domain, every secret pair, both of its directions and every set S of
outputs of one length, `Pr(S | left, θ) ≤ e^ε·Pr(S | right, θ) + δ`, wherever both secrets have positive
probability: Pufferfish privacy ([KiferMachanavajjhala14]) with the comparison of [DworkRoth14]
Definition 2.4, as in [ZhangOC22].
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

from flint import fmpq

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import contains, number_at
from paramverify.algebra.polynomials import Point, Polynomial, fraction, rational
from paramverify.algebra.reals import Real
from paramverify.answers import Decision, End, Open, Proved, Refuted
from paramverify.claims import Claim, Direction, from_document, to_document
from paramverify.encodings.domain_cuts import SignRegion, cut_by_signs
from paramverify.encodings.output_sums import Excess, excesses, statement
from paramverify.errors import DefectError, LimitError, TimeLimitError
from paramverify.evidence import envelope
from paramverify.evidence.certificates import Token, words
from paramverify.evidence.witnesses import ExactSetWitness, find_set_witness
from paramverify.kernel.claim_evidence import read_domain
from paramverify.kernel.set_evidence import check_tree
from paramverify.kernel.strict_reading import Rejected
from paramverify.models.context import sample_points
from paramverify.models.model import Model
from paramverify.portfolio.session import Session, checked, session_of
from paramverify.privacy.every_length_verification import EveryLengthOutcome
from paramverify.processes.attempts import (
    answer_from_document,
    answer_to_document,
    decision_from_document,
    decision_to_document,
)
from paramverify.tasks.tasks import Task
from paramverify.verdicts import Holds, Unknown, Violated

# --- cuts -------------------------------------------------------------------------------------------

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
                    detail = "exact evaluation does not confirm the refutation"
                    self.found = CutOutcome(reason=Open(End.GAVE_UP, detail))
            case Open() as reason:
                self.found = CutOutcome(reason=reason)
        return False


# --- approximate ------------------------------------------------------------------------------------

Progress = Callable[[int, int], None]


def verify_sets(session: Session, model: Model, progress: Progress | None = None) -> EveryLengthOutcome:
    """Decides an (ε, δ) model whose obligations are proved; ends at the first violation."""
    try:
        claims = excesses(model)
        return _decided(session, model, claims, progress)
    except LimitError as error:
        end = End.TIMEOUT if isinstance(error, TimeLimitError) else End.GAVE_UP
        return EveryLengthOutcome(Unknown(end, str(error)))


def _decided(
    session: Session, model: Model, claims: Sequence[Excess], progress: Progress | None
) -> EveryLengthOutcome:
    for claim in claims if len(claims) > 1 else ():  # what is easily seen comes first
        session.in_time()
        point = breaking_sample(claim)
        if point is not None:
            witness = find_set(model, claim, point)
            return EveryLengthOutcome(Violated(witness), (), (), violation_document(claim))
    trees: list[tuple[Excess, Sequence[Token]]] = []
    made: list[tuple[Claim, Decision]] = []
    doubt: tuple[Excess, Open] | None = None
    with closing(decide_excesses(claims, session)) as results:
        for number, (claim, found) in enumerate(zip(claims, results, strict=True), 1):
            made += found.decisions
            if progress:
                progress(number, len(claims))
            if found.point is not None:
                witness = find_set(model, claim, found.point)
                document = violation_document(claim)
                own, decisions = _parts(found.decisions)
                return EveryLengthOutcome(Violated(witness), own, decisions, document)
            if found.tree is not None:
                trees.append((claim, found.tree))
            elif found.reason and not doubt:
                doubt = claim, found.reason
    own, decisions = _parts(made)
    document = proof_document(trees)
    if doubt:
        origin = Direction(*doubt[0].origins[0])
        return EveryLengthOutcome(
            Unknown(doubt[1].end, f"{origin}: {doubt[1].detail}"), own, decisions, document
        )
    return EveryLengthOutcome(Holds(decisions), own, decisions, document)


def _parts(made: Sequence[tuple[Claim, Decision]]) -> tuple[tuple[Claim, ...], tuple[Decision, ...]]:
    return tuple(claim for claim, _ in made), tuple(decision for _, decision in made)


def find_set(model: Model, claim: Excess, point: Point) -> ExactSetWitness:
    """Returns the worst set of outputs at a simple point near one where the claim fails exactly."""
    parameters = {name: Fraction(point[name]) for name in model.domain.ring.parameters}
    # The set that is worst here is too much at more points; the worst one there can only be more.
    direction = Direction(*claim.origins[0])
    broken = Claim(signed(claim, parameters), claim.domain, (direction,))
    witness = find_set_witness(model, broken, direction, parameters)
    if witness is None or not is_broken(claim, witness.parameters):
        raise DefectError("a set of outputs is too likely at a point where the sum is within its bound")
    return witness


# --- evidence ----------------------------------------------------------------------------------------


def proof_document(trees: Sequence[tuple[Excess, Sequence[Token]]]) -> dict[str, Any]:
    """Returns the trees that prove claims about sums, for `kernel.set_evidence`."""
    return envelope.statements(
        *({"kind": "parts", **about(claim), "tree": list(tree)} for claim, tree in trees)
    )


def violation_document(claim: Excess) -> dict[str, Any]:
    """Returns a claim about a sum that fails; `reports` adds the numbers of the witness."""
    return {"witness": {"kind": "set", "claim": about(claim)}}


def about(claim: Excess) -> dict[str, Any]:
    """Returns what a claim about a sum says, on its domain."""
    return {"domain": envelope.domain_document(claim.domain), **statement(claim)}


# --- set spreading ----------------------------------------------------------------------------------

NO_TREE = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def decide_excesses(claims: Sequence[Excess], session: Session) -> Generator[CutOutcome, None, None]:
    """Yields what `decide_excess` finds of each claim, in their order.

    Parameters that are tied to others are not told to other processes: such claims are decided here.

    Raises:
        TimeLimitError: the time of the session is over.
    """
    if any(claim.domain.ring.tied for claim in claims):
        yield from (decide_excess(claim, session) for claim in claims)
    else:
        yield from session.each([_task(claim, session) for claim in claims])


def _task(claim: Excess, session: Session) -> Task[CutOutcome]:
    def document() -> dict[str, Any]:
        domain = to_document(Claim(claim.domain.ring.number(0), claim.domain))
        return {**session.told(), **statement(claim), "domain": domain}

    def read(told: Mapping[str, Any]) -> CutOutcome:
        found = _read(claim, told)
        for about, decision in found.decisions:
            session.heard(about, decision)
        return found

    here = partial(decide_excess, claim, session)
    return Task("sum", here, document, read, _lost, seconds=session.left)


def _lost(reason: str) -> CutOutcome:
    return CutOutcome(reason=Open(End.CRASHED, reason))


def decided_sum(document: Mapping[str, Any]) -> dict[str, Any]:
    """Decides one claim of `decide_excesses`; returns what was found as JSON data."""
    domain = from_document(document["domain"]).domain
    read = domain.ring.parse
    terms = tuple(read(term) for term in document["terms"])
    origins = tuple((str(left), str(right), int(length)) for left, right, length in document["origins"])
    with session_of(document) as session:
        found = decide_excess(Excess(read(document["room"]), terms, domain, origins), session)
    point = None
    if found.point is not None:
        point = {name: str(rational(Fraction(value))) for name, value in found.point.items()}
    return {
        "tree": found.tree,
        "point": point,
        "reason": found.reason and answer_to_document(found.reason),
        "decisions": [
            [to_document(claim), decision_to_document(decision)] for claim, decision in found.decisions
        ],
    }


def _read(claim: Excess, told: Mapping[str, Any]) -> CutOutcome:
    """Returns what a worker found; a point counts where the claim fails here, exactly."""
    tree = told["tree"] and tuple(told["tree"])
    point = told["point"] and {name: fraction(fmpq(value)) for name, value in told["point"].items()}
    said = told["reason"] and answer_from_document(told["reason"])
    reason = said if isinstance(said, Open) else None
    if point is not None and not is_broken(claim, point):
        point, reason = None, Open(End.GAVE_UP, "exact evaluation does not confirm the refutation")
    decisions = []
    for about, decision in told["decisions"]:
        leaf = from_document(about)
        leaf = Claim(leaf.polynomial, leaf.domain, (Direction(*claim.origins[0]),))
        decisions.append((leaf, checked(leaf, decision_from_document(decision))))
    if tree is not None:
        _replay(claim, tree, any(map(words, (decision for _, decision in decisions))))
    return CutOutcome(tree, point, reason, tuple(decisions))


def _replay(claim: Excess, tree: tuple[Any, ...], named: bool) -> None:
    """Replays a worker's proof by the kernel.

    Raises:
        ValueError: it shows something else, or rests on a word that none of its decisions names.
    """
    try:
        domain = read_domain(envelope.domain_document(claim.domain))
        trusted = check_tree(domain, {**statement(claim), "tree": list(tree)})
    except (Rejected, *NO_TREE) as error:
        raise ValueError(f"the checker rejects its proof: {error}") from None
    if trusted and not named:
        raise ValueError("its proof rests on the word of a solver that it does not name")
