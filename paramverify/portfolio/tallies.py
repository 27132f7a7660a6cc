"""What happened to one claim in its races, and what a race says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from paramverify.algebra.number_fields import AlgebraicPoint
from paramverify.answers import Decision, End, FailsAt, Open, Proved, Refuted
from paramverify.claims import Claim
from paramverify.exact.algebraic import Found, algebraic_violation
from paramverify.exact.lines import IRRATIONAL
from paramverify.exact.settling import Outcome
from paramverify.formats.refutations import Confirm
from paramverify.portfolio.agreement import program

INFORMATIVE = (  # the ends of attempts: the last one says most about why a claim is open
    *(End.INTERRUPTED, End.DECIDED, End.DISAGREEMENT, End.UNAVAILABLE),
    *(End.CRASHED, End.MEMORY, End.GAVE_UP, End.TIMEOUT),
)


@dataclass
class Tally:
    """What happened to one claim in its races: who decided parts of it, and why other attempts ended."""

    claim: Claim
    winners: list[Decision] = field(default_factory=list)
    ends: list[tuple[End, str]] = field(default_factory=list)
    spurious: bool = False
    sought: bool = False  # whether algebraic points were looked for
    denied: bool = False  # whether a program said that the claim fails, without a point
    place: Found | None = None

    def look(self) -> None:
        """Looks for an algebraic point at which the claim fails, once."""
        self.sought = True
        self.place = algebraic_violation(self.claim)


def with_place(decision: Decision, found: Found | None) -> Decision:
    """Returns a decision that is open; where the claim fails at a point that was found, that it does."""
    if found is None:
        return decision
    if isinstance(found, AlgebraicPoint):
        return replace(decision, answer=FailsAt(End.GAVE_UP, IRRATIONAL, at=found))
    return replace(decision, answer=Refuted(found))


def read_race(decisions: Sequence[Decision], check: Confirm, tally: Tally, confirm: int) -> Outcome:
    """Returns what a race says: a point that was checked, or a proof by as many backends as are asked for."""
    proved: list[Decision] = []
    for decision in decisions:
        said = decision.answer
        if isinstance(said, Open):
            reason = said.detail or said.end.value
            named = reason.startswith(f"{decision.backend} is missing")
            tally.ends.append((said.end, reason if named else f"{decision.backend}: {reason}"))
        elif isinstance(said, Proved):
            proved.append(decision)
        else:
            point = check(said.point)
            if point is not None:
                tally.winners.append(decision)
                return Outcome(point=point)
            tally.spurious = True
            spurious = f"{decision.backend}: its refutation does not stand exact evaluation"
            tally.ends.append((End.GAVE_UP, spurious))
    if len({program(d.backend) for d in proved}) < confirm:
        if proved:
            names = ", ".join(d.backend for d in proved)
            tally.ends.append(
                (End.GAVE_UP, f"proved by {names} only, {confirm} different programs are needed")
            )
        return Outcome(reason="; ".join(text for _, text in tally.ends))
    tally.winners += proved
    # A certificate that can be replayed is better evidence than a solver's word.
    best = next((d for d in proved if isinstance(d.answer, Proved) and d.answer.certificate), proved[0])
    return Outcome(proof=best.proof)
